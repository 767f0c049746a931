"""Raw source against rendered page: which nodes are the same, what became of each block, whose words they are."""

import json
import random
import re
import unicodedata
from collections import Counter
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.compare.compared_blocks import CHANGES
from domsieve.analysis.compare.comparison import Comparison, Overlap, TwoLoads, compare_loads, compare_page
from domsieve.analysis.compare.node_matching import NOT_MATCHED, match_nodes
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from tests.analysis.pages import page as laid_out

URL = "http://a.example/"


def page(html: str) -> Snapshot:
    return parse_html(f"<!doctype html><body>{html}".encode(), url=URL)


def compare(raw: str, rendered: str, *responses: tuple[str, str]) -> Comparison:
    sides, keep = (page(raw), page(rendered)), NoCleaning().transform
    data = [{"url": url, "status": 200, "bytes": len(body), "text": body} for url, body in responses]
    return compare_page(*sides, raw_verdict=keep(sides[0]), verdict=keep(sides[1]), data=data)


def changes(raw: str, rendered: str) -> list[tuple[str, str]]:
    return [(block.change, block.text) for block in compare(raw, rendered).blocks]


def count(text: str) -> Counter[str]:
    """Count words on its own, by characters."""
    blank = "".join(c if c.isalnum() else " " for c in unicodedata.normalize("NFKC", text).lower())
    return Counter(blank.split())


def test_a_closed_panel_is_hidden_in_both_versions() -> None:
    body = "<body><p>seen</p><button aria-controls=p>Show</button><div id=p {}>secret plan</div></body>"
    raw, rendered = (
        page(body.format("hidden")),
        laid_out(body.format("style='display:none'"), producer="rendered"),
    )
    keep = NoCleaning().transform
    result = compare_page(raw, rendered, raw_verdict=keep(raw), verdict=keep(rendered))
    assert [(block.change, block.text) for block in result.blocks] == [
        ("in source", "seen"),
        ("in source", "Show"),
        ("hidden", "secret plan"),
    ]
    assert (result.raw.words, result.raw.cleaned_words) == (2, 2)
    assert result.content_of_raw.precision == result.content_of_raw.recall == 1


class TestMatching:
    def test_equal_pages_match_node_by_node(self) -> None:
        one = page("<ul><li>a<li>a<li><b>a</b> b</ul><p>a<p>a<hr><hr>")
        assert match_nodes(one, one).tolist() == list(range(len(one)))

    def test_nothing_but_the_frame_matches_without_likeness(self) -> None:
        raw, rendered = page("<div id=app></div>"), page("<div id=root><p>text</div>")
        found = match_nodes(raw, rendered)
        assert [rendered.tag_name(n) for n in np.flatnonzero(found != NOT_MATCHED).tolist()] == [
            "#document",
            "html",
            "body",
        ]

    def test_an_element_put_in_front_shifts_nothing(self) -> None:
        texts = "".join(f"<p>paragraph number {i}</p>" for i in range(9))
        raw, rendered = page(texts), page("<p>first of all</p>" + texts)
        found = match_nodes(raw, rendered)
        missing = [rendered.text_of(n) for n in range(len(rendered)) if found[n] == NOT_MATCHED]
        assert missing == ["", "first of all"]

    @settings(deadline=None)  # processor time is not the test's alone
    @given(st.integers(0, 10_000))
    def test_a_match_is_one_to_one_of_equal_kind_and_the_same_twice(self, seed: int) -> None:
        rng = random.Random(seed)
        raw, rendered = page(scramble(rng)), page(scramble(rng))
        found = match_nodes(raw, rendered)
        assert found.tolist() == match_nodes(raw, rendered).tolist()
        matched = np.flatnonzero(found != NOT_MATCHED)
        assert np.unique(found[matched]).size == matched.size
        assert found[0] == 0
        assert [rendered.tag_name(n) for n in matched.tolist()] == [
            raw.tag_name(n) for n in found[matched].tolist()
        ]

    @pytest.mark.parametrize("html", ["<p>a</p>" * 40_000, "<div>" * 200 + "<p>a<b>c</b>" * 9_000])
    def test_large_pages_of_equal_parts_are_matched(self, html: str) -> None:
        # Each part is like all others; comparing all of them with each other would take hours.
        raw, rendered = page(html), page(html + "<p>end</p>" + html[:60_000])
        found = match_nodes(raw, rendered)
        assert (found != NOT_MATCHED).sum() == len(raw)


def scramble(rng: random.Random, depth: int = 4) -> str:
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(["a", "b c", "long text of words", "<hr>"])
    tag = rng.choice(["div", "p", "section", "div id=x"])
    inner = "".join(scramble(rng, depth - 1) for _ in range(rng.randrange(5)))
    return f"<{tag}>{inner}</{tag.split()[0]}>"


class TestBlocks:
    def test_each_change_has_its_name(self) -> None:
        raw = (
            "<h1>Kept heading</h1><p id=a>loading</p><ul><li>one<li>two<li>three</ul>"
            "<p id=gone>Enable scripts please</p><p id=never hidden>unseen</p>"
        )
        rendered = (
            "<h1>Kept heading</h1><p id=a>loaded now</p><ul><li>three<li>one<li>two</ul>"
            "<section><p>Drawn by script</p></section><p id=never hidden>unseen</p>"
        )
        found = changes(raw, rendered)
        assert found == [
            ("in source", "Kept heading"),
            ("changed", "loaded now"),
            ("moved", "three"),
            ("in source", "one"),
            ("in source", "two"),
            ("created", "Drawn by script"),
            ("hidden", "unseen"),
            ("removed", "Enable scripts please"),
        ]
        assert {change for change, _ in found} == set(CHANGES)

    def test_text_that_a_script_shows_is_changed(self) -> None:
        assert changes("<p hidden>shown later</p>", "<p>shown later</p>") == [("changed", "shown later")]

    def test_text_in_another_element_is_found_again(self) -> None:
        found = changes("<div id=a><p>some words here</p></div><p>end", "<p>end</p><b>some words here</b>")
        assert Counter(change for change, _ in found) == {"in source": 1, "moved": 1}

    def test_words_of_neighbouring_links_stay_apart(self) -> None:
        links = "<a>one</a> <a>two</a>\n<a>th<b>ree</b></a>"
        assert changes(links, links) == [("in source", "one two three")]

    def test_blocks_say_where_they_are_on_either_side(self) -> None:
        raw, rendered = "<p>one</p><p>two</p>", "<p>two</p><p>new one of three</p>"
        sides = page(raw), page(rendered)
        for block in compare(raw, rendered).blocks:
            for side, span in zip(sides, (block.raw, block.rendered), strict=True):
                if span is not None and (side is sides[1] or block.change == "in source"):
                    assert "".join(side.text_of(n) for n in range(*span)).strip() == block.text

    @settings(deadline=None)  # processor time is not the test's alone
    @given(st.integers(0, 10_000))
    def test_every_block_of_either_side_is_told_once(self, seed: int) -> None:
        rng = random.Random(seed)
        raw, rendered = scramble(rng), scramble(rng)
        result = compare(raw, rendered)
        for side, text in (("rendered", rendered), ("raw", raw)):
            spans = [span for block in result.blocks if (span := getattr(block, side)) is not None]
            blocks = page_blocks(page(text))
            assert sorted(spans) == list(zip(blocks.start.tolist(), blocks.end.tolist(), strict=True))


class TestWords:
    RAW = "<nav>Home About</nav><p>Loading data …</p>"
    RENDERED = "<nav>Home About</nav><h1>Owls</h1><p>Owls’ pellets, 12 of them: Ünï.</p><img src=x><a href=y>More</a>"

    def test_figures_equal_a_count_of_our_own(self) -> None:
        result = compare(self.RAW, self.RENDERED)
        raw, rendered = (count(re.sub(r"<[^>]*>", " ", text)) for text in (self.RAW, self.RENDERED))
        both = sum(min(raw[word], rendered[word]) for word in raw)
        assert result.visible == Overlap(wanted=sum(rendered.values()), found_in=sum(raw.values()), both=both)
        assert result.content == result.visible
        assert result.content_of_raw == Overlap(wanted=4, found_in=10, both=both)
        assert result.visible.recall == both / 10
        assert result.visible.precision == both / 4
        assert (result.rendered.links, result.rendered.images, result.raw.links) == (1, 1, 0)
        assert result.raw.records is None
        assert not result.styled

    def test_no_words_lack_nothing(self) -> None:
        result = compare("", "")
        assert (result.visible.recall, result.visible.precision) == (1.0, 1.0)

    def test_responses_are_credited_with_what_only_they_brought(self) -> None:
        data = json.dumps(
            {"title": "Owls", "text": "<p>Owls pellets", "n": [12, None, True], "Home": "About"}
        )
        result = compare(
            self.RAW,
            self.RENDERED,
            ("/other", '"nothing of it"'),
            ("/data", data),
            ("/part", "<b>More</b> and Owls"),
            ("/broken", '{"Owls": '),
        )
        assert [(entry.url, entry.words, entry.delivered) for entry in result.data] == [
            ("/data", 5, 4),
            ("/part", 3, 2),
            ("/other", 3, 1),
            ("/broken", 1, 1),
        ]


def differing(other: str, rendered: str) -> list[tuple[str, int, str, str]]:
    blocks = compare_loads(page(other), page(rendered)).blocks
    return [(block.seen, block.words, block.text, block.other_text) for block in blocks]


class TestTwoLoads:
    STAYS = "<h1>A page</h1><p>that stays as it is</p>"

    def test_adverts_times_and_tokens_differ_and_nothing_else_does(self) -> None:
        other = f"<div id=ad>Buy boots</div>{self.STAYS}<p>Seen at <b>12:33</b> today</p><p>Request 9f3a</p>"
        rendered = (
            f"<div id=ad>Buy hats now</div>{self.STAYS}<p>Seen at <b>12:34</b> today</p><p>Request 77c1</p>"
        )
        assert differing(other, rendered) == [
            ("both", 3, "Buy hats now", "Buy boots"),
            ("both", 2, "Seen at 12:34 today", "Seen at 12:33 today"),
            ("both", 2, "Request 77c1", "Request 9f3a"),
        ]

    def test_text_of_one_load_differs_on_that_side(self) -> None:
        assert differing(self.STAYS, f"{self.STAYS}<aside>Buy boots</aside>") == [
            ("rendered", 2, "Buy boots", "")
        ]
        assert differing(f"<aside>Buy boots</aside>{self.STAYS}", self.STAYS) == [
            ("other", 2, "", "Buy boots")
        ]

    def test_text_that_moved_or_cannot_be_seen_does_not_differ(self) -> None:
        entries = ["<li>one two</li>", "<li>three four</li>", "<li>five six</li>"]
        assert differing("".join(entries), "".join(reversed(entries))) == []
        assert differing("<p hidden>token 1</p>", "<p hidden>token 2</p>") == []

    def test_text_that_one_load_hides_differs(self) -> None:
        shown, hidden = "<p>Sale ends soon</p>", "<p hidden>Sale ends soon</p>"
        assert differing(hidden, shown) == [("rendered", 3, "Sale ends soon", "")]
        assert differing(shown, hidden) == [("other", 3, "", "Sale ends soon")]

    def test_what_a_load_lacks_that_was_cut_does_not_differ(self) -> None:
        whole = page(f"{self.STAYS}<p>Request 77c1</p><p>The end</p>")
        part = page("<h1>A page</h1><p>Request 9f3a</p>")
        origin = structs.replace(part.provenance, complete=False, reasons=("time: used up",))
        cut = replace(part, provenance=origin)
        for other, rendered in ((cut, whole), (whole, cut)):
            assert [block.seen for block in compare_loads(other, rendered).blocks] == ["both"]
        both_cut = replace(whole, provenance=origin)
        assert {block.seen for block in compare_loads(both_cut, cut).blocks} == {"both", "other"}

    def test_the_nodes_of_both_loads_are_named(self) -> None:
        other, rendered = f"{self.STAYS}<p>Request 9f3a</p>", f"<hr>{self.STAYS}<p>Request 77c1</p>"
        (block,) = compare_loads(page(other), page(rendered)).blocks
        for html, span in ((other, block.other), (rendered, block.rendered)):
            assert span is not None
            assert "".join(map(page(html).text_of, range(*span))).startswith("Request")

    def test_a_comparison_has_them_only_where_there_are_two(self) -> None:
        side, keep = page(self.STAYS), NoCleaning().transform
        once = compare(self.STAYS, self.STAYS)
        twice = compare_page(side, side, raw_verdict=keep(side), verdict=keep(side), other=side)
        words = count("A page that stays as it is").total()
        assert twice.loads == TwoLoads(visible=Overlap(wanted=words, found_in=words, both=words), blocks=[])
        assert set(msgspec.to_builtins(twice)) - set(msgspec.to_builtins(once)) == {"loads"}

    def test_content_is_without_texts_that_rotate_and_with_those_that_hold_a_time(self) -> None:
        time = "<p>The paragraph that a reader came for, as it stood at {} o'clock.</p>"
        rendered = page(f"<div id=ad>Buy hats now</div>{self.STAYS}{time.format(12)}<p>New today</p>")
        other = page(f"<div id=ad>Buy boots</div>{self.STAYS}{time.format(11)}")
        keep = NoCleaning().transform
        once, twice = (
            compare_page(other, rendered, raw_verdict=keep(other), verdict=keep(rendered), other=load)
            for load in (None, other)
        )
        assert once.rendered.cleaned.splitlines() == [
            "Buy hats now",
            "A page",
            "that stays as it is",
            "The paragraph that a reader came for, as it stood at 12 o'clock.",
            "New today",
        ]
        assert twice.rendered.cleaned.splitlines() == once.rendered.cleaned.splitlines()[1:-1]
        assert twice.content.wanted == once.content.wanted - 5
        assert (twice.visible, twice.blocks) == (once.visible, once.blocks)
        assert (twice.raw, twice.content_of_raw) == (once.raw, once.content_of_raw)

    @settings(deadline=None)  # processor time is not the test's alone
    @given(st.integers(0, 10_000))
    def test_no_word_that_only_one_load_has_is_lost(self, seed: int) -> None:
        rng = random.Random(seed)
        one, two = scramble(rng), scramble(rng)
        for other, rendered in ((one, two), (two, one)):
            result = compare_loads(page(other), page(rendered))
            lost = result.visible.wanted + result.visible.found_in - 2 * result.visible.both
            assert sum(block.words for block in result.blocks) >= lost
            assert all(block.words for block in result.blocks)
