"""JSON-LD is kept where no method and no writer sees it."""

import numpy as np

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.registry import PAGE_METHODS, page_cleaner
from domsieve.analysis.writers.html import write_html
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.analysis.writers.text import write_text
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import JSON_LD, LONGEST_JSON_LD, Snapshot, is_json_ld

SCRIPT = '<script type="Application/LD+JSON; charset=utf-8">{"a": "<b>"}</script>'
BODY = f"<h1>Rain</h1>{'<p>It rained in the hills, and it went on for days, as it does.</p>' * 9}"


def page(script: str) -> Snapshot:
    return parse_html(f"<head>{script}</head><body>{BODY}</body>".encode(), url="page")


def kept(snapshot: Snapshot) -> list[str]:
    nodes = [node for node in range(len(snapshot)) if snapshot.tag_name(node) == "script"]
    return [value for node in nodes if (value := snapshot.attributes(node).get(JSON_LD))]


def test_its_text_is_an_attribute_of_its_script() -> None:
    assert kept(page(SCRIPT)) == ['{"a": "<b>"}']
    assert kept(page("<script>var a</script><script type=text/json>{}</script>")) == []
    assert kept(page(f"<script type=application/ld+json>{'a' * (LONGEST_JSON_LD + 1)}</script>")) == []


def test_types_are_read_as_browsers_read_them() -> None:
    assert is_json_ld(" application/LD+json ;profile=x")
    assert not is_json_ld("application/json")
    assert not is_json_ld("")


def test_nothing_of_a_page_changes() -> None:
    with_it, without = page(SCRIPT), page(SCRIPT.replace("Application/LD+JSON; charset=utf-8", "text/x"))
    assert len(with_it) == len(without)
    for name in ("parent", "end", "kind", "tag"):
        assert np.array_equal(getattr(with_it, name), getattr(without, name))
    for method in PAGE_METHODS:
        first, second = (page_cleaner(method)(snapshot) for snapshot in (with_it, without))
        assert np.array_equal(first.kept, second.kept)
        assert np.array_equal(first.score, second.score)
    for write in (write_text, write_markdown, write_html):
        assert write(with_it, NoCleaning().transform(with_it)) == write(
            without, NoCleaning().transform(without)
        )
