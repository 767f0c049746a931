"""The extractors that ours stand beside: each finds the content of a small page, and none stops an experiment."""

import logging

import pytest

from experiments.systems.peers import ALL_TEXT, PEERS, extract

SENTENCE = (
    "The river rises in the hills above the town and, as everybody here knows, it floods in April, when the snow "
    "of the winter melts, so that those who live by the water have learned to put what they have out of its way."
)
PAGE = f"""<!DOCTYPE html><html lang="en"><head><title>A river</title></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/map">Map of the menu</a></li></ul></nav>
<article><h1>A river</h1>{"".join(f"<p>{SENTENCE} That was part {n} of the story.</p>" for n in range(8))}</article>
<footer><a href="/imprint">Imprint</a></footer></body></html>"""
MODULES = {
    "trafilatura": "trafilatura",
    "readability-lxml": "readability",
    "readability-lxml, html_text": "html_text",
    "jusText": "justext",
    "boilerpy3": "boilerpy3",
}


@pytest.mark.parametrize("name", PEERS)
class TestPeer:
    def test_finds_the_content(self, name: str) -> None:
        pytest.importorskip(MODULES.get(name, "resiliparse"))
        found = extract(PEERS[name], PAGE)
        assert not found.failed
        assert found.text.count(SENTENCE) == 8
        assert ("Map of the menu" in found.text) == (name in {ALL_TEXT, "boilerpy3"})
        assert found.seconds > 0

    def test_makes_text_of_an_empty_page_too(self, name: str) -> None:
        pytest.importorskip(MODULES.get(name, "resiliparse"))
        assert extract(PEERS[name], "<html><body></body></html>").text.strip() == ""


def test_a_peer_that_raises_gives_no_text_and_is_counted() -> None:
    def broken(html: str) -> str:
        raise RecursionError(html)

    found = extract(broken, PAGE)
    assert (found.text, found.failed) == ("", True)


def test_a_peer_logs_nothing_and_others_do_again_afterwards(caplog: pytest.LogCaptureFixture) -> None:
    def noisy(html: str) -> str:
        logging.getLogger("peer").error("dreadful page")
        return html

    assert extract(noisy, PAGE).text == PAGE
    assert caplog.records == []
    logging.getLogger("peer").error("heard")
    assert [record.message for record in caplog.records] == ["heard"]
