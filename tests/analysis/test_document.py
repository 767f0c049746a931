"""Headings go with their sections, lists and tables are kept as a whole, and nothing else changes."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import domsieve
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.document.document_tree import DocumentTree
from domsieve.analysis.document.joint_choice import CAUSES, choose_together, parts_in_text, with_structure
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from tests.analysis.contract import SENTENCE

WORDS = "Wipe the walls of the oven with a soft cloth while they are still warm, and let them dry before you bake. "


def page(body: str) -> Snapshot:
    return parse_html(f"<title>Oven</title><body>{body}</body>".encode(), url="https://example.org/")


def keeping(snapshot: Snapshot, *wanted: str, **parameters: Any) -> Verdict:
    """Return a verdict that keeps the texts that begin with one of the wanted ones, and what is around them."""
    content = np.array(
        [
            snapshot.text[node] >= 0 and snapshot.text_of(node).strip().startswith(wanted)
            for node in range(len(snapshot))
        ],
        np.bool_,
    )
    kept = content.copy()
    for node in np.flatnonzero(content).tolist():
        while node > 0:
            node = int(snapshot.parent[node])
            kept[node] = True
    reason = np.zeros(len(snapshot), np.uint8)
    return Verdict("sst", kept, content.astype(np.float32), reason, ("judged",), parameters=parameters)


def tree_of(snapshot: Snapshot) -> tuple[DocumentTree, list[str]]:
    blocks = page_blocks(snapshot)
    return DocumentTree.of(snapshot, blocks.start, blocks.end, blocks.words), blocks.text


def sections(snapshot: Snapshot) -> list[tuple[str, int, list[str]]]:
    """Return the text and level of each heading, and the texts of its section."""
    tree, texts = tree_of(snapshot)
    return [
        (" ".join(texts[first:last]), level, texts[last:end])
        for (first, last), level, end in zip(
            tree.heading.tolist(), tree.level.tolist(), tree.section.tolist(), strict=True
        )
    ]


class TestTree:
    def test_a_section_ends_at_the_next_heading_of_its_level(self) -> None:
        found = sections(page("<h1>A</h1>a<h2>B</h2>b<h3>C</h3>c<h2>D</h2>d"))
        assert found == [
            ("A", 1, ["a", "B", "b", "C", "c", "D", "d"]),
            ("B", 2, ["b", "C", "c"]),
            ("C", 3, ["c"]),
            ("D", 2, ["d"]),
        ]

    def test_a_section_ends_with_the_element_that_it_heads(self) -> None:
        found = sections(
            page("<aside><h2>Links</h2><p>one</aside><article><h2>News</h2><p>two</article><p>three")
        )
        assert found == [("Links", 2, ["one"]), ("News", 2, ["two"])]

    def test_a_header_stands_above_its_section(self) -> None:
        found = sections(page("<article><header><h1>News</h1></header><p>two</p></article><p>three</p>"))
        assert found == [("News", 1, ["two"])]

    def test_the_box_of_a_title_is_no_section(self) -> None:
        body = f"<section><h1>Oven</h1><p>By Ann</p></section><section><p>{WORDS * 2}</p></section>"
        ((_, _, below),) = sections(page(f"<main>{body}</main>"))
        assert below == ["By Ann", (WORDS * 2).strip()]
        alone = page(f"<section><h1>Oven</h1><p>{WORDS * 2}</p></section><section><p>b</p></section>")
        assert sections(alone)[0][2] == [(WORDS * 2).strip()]

    def test_a_term_without_definition_heads_nothing(self) -> None:
        assert sections(page("<dl><dt>a<dd>b<dt>c</dl><p>d</p>")) == [("a", 8, ["b"]), ("c", 8, [])]

    def test_other_headings_than_h1_to_h6(self) -> None:
        found = sections(
            page(
                "<div role=heading aria-level=3>A</div>a<div role=heading>B</div>b"
                "<details><summary>C</summary>c</details><dl><dt>D<dd>d<dt>E<dd>e</dl>"
            )
        )
        assert [(text, level) for text, level, _ in found] == [
            ("A", 3),
            ("B", 2),
            ("C", 7),
            ("D", 8),
            ("E", 8),
        ]
        assert found[3][2] == ["d"]

    def test_a_long_text_is_no_heading(self) -> None:
        assert sections(page(f"<h2>{SENTENCE * 3}</h2><p>text</p>")) == []

    def test_lists_of_sections_and_of_posts_are_no_parts(self) -> None:
        post = f"<li>{SENTENCE * 3}</li>"
        tree, texts = tree_of(
            page(
                f"<ul><li>one<li>two</ul><ul><li><h3>Head</h3>text</ul><ol>{post * 3}</ol><dl><dt>a<dd>b</dl>"
            )
        )
        assert [texts[first:last] for first, last in tree.group.tolist()] == [["one", "two"], ["a", "b"]]


class TestChoice:
    def test_a_heading_goes_with_its_section(self) -> None:
        snapshot = page(f"<h2>Installation</h2><p>{WORDS}</p><h2>Cleaning</h2><p>{SENTENCE}</p>")
        found = with_structure(snapshot, keeping(snapshot, "Wipe", "Cleaning"))
        assert write_markdown(snapshot, found).split("\n")[0] == "## Installation"
        assert "Cleaning" not in write_markdown(snapshot, found)
        node = [snapshot.text_of(n) for n in range(len(snapshot))].index("Installation")
        assert found.reasons[found.reason[node]] == "heading of kept text"
        assert found.numbers["by_structure"][node] == 1
        assert np.count_nonzero(~np.isnan(found.numbers["by_structure"])) == 2

    def test_a_heading_stays_with_the_list_right_below(self) -> None:
        body = f"<div><h3>Contact</h3><ul><li>Call<li>Write</ul></div><div><p>{WORDS * 5}</p></div>"
        tree, texts = tree_of(page(body))
        kept = np.array([text in {"Call", "Write"} for text in texts])
        words = np.array([len(text.split()) for text in texts], np.float64)
        assert choose_together(tree, words, kept).kept.tolist() == [True, True, True, False]

    def test_a_heading_goes_with_text_that_repeats(self) -> None:
        tree, _ = tree_of(page(f"<h3>Door</h3><p>{WORDS}</p>"))
        words, kept, sure = np.array([1.0, 20.0]), np.array([True, False]), np.full(2, 0.9)
        assert choose_together(tree, words, kept, sure).kept.any()
        assert not choose_together(tree, words, kept, sure, gone=~kept).kept.any()

    def test_a_short_section_that_the_site_repeats_stays_with_its_heading(self) -> None:
        body = f"<p>{WORDS}</p><h3>Exceptions</h3><p>none at all</p><h3>Notes</h3><p>{WORDS}</p>"
        tree, texts = tree_of(page(body))
        words = np.array([len(text.split()) for text in texts], np.float64)
        kept = np.array([text != "none at all" for text in texts])
        probability = np.where(kept, 0.8, 0.3)
        assert choose_together(tree, words, kept, probability).kept.tolist() == kept.tolist()
        choice = choose_together(tree, words, kept, probability, by_site=True)
        assert choice.kept.all()
        assert choice.cause.tolist() == [0, 0, 1 + CAUSES.index("section of kept heading"), 0, 0]
        unlikely = np.where(kept, 0.8, 0.1)
        assert choose_together(tree, words, kept, unlikely, by_site=True).kept.tolist() == kept.tolist()
        for lost in ([0], [3, 4]):
            kept[lost], probability[lost] = False, 0.01
            assert not choose_together(tree, words, kept, probability, by_site=True).kept[2]
            kept[lost], probability[lost] = True, 0.8

    def test_a_table_is_kept_whole_and_a_half_of_it_is_not_lost(self) -> None:
        rows = "".join(f"<tr><td>part {n}</td><td>{n} mm</td></tr>" for n in range(6))
        snapshot = page(f"<p>{WORDS}</p><table>{rows}</table>")
        found = write_markdown(
            snapshot, with_structure(snapshot, keeping(snapshot, "Wipe", "part", "0", "1", "2"))
        )
        assert "5 mm" in found
        less = write_markdown(snapshot, with_structure(snapshot, keeping(snapshot, "Wipe", "part 1")))
        assert "5 mm" not in less

    def test_a_post_among_names_and_numbers_keeps_no_list(self) -> None:
        names = "".join(f"<li>member {n}</li>" for n in range(6))
        snapshot = page(f"<ul><li>{WORDS}</li>{names}</ul>")
        assert with_structure(snapshot, (verdict := keeping(snapshot, "Wipe"))) is verdict

    def test_images_and_line_breaks_go_with_the_text_around_them(self) -> None:
        snapshot = page(
            f"<h2><img alt=stove src=a.png>Oven</h2><p>{WORDS}</p><h2><img src=b.png>Lid</h2><p>no</p>"
        )
        found = with_structure(snapshot, keeping(snapshot, "Wipe", "Lid"))
        names = [snapshot.tag_name(n) for n in range(len(snapshot))]
        images = [n for n, name in enumerate(names) if name == "img"]
        assert found.kept[images].tolist() == [True, False]

    def test_what_looks_like_content_or_boilerplate_by_itself_stays_so(self) -> None:
        snapshot = page("<h2>Oven</h2><p>one</p><h2>Lid</h2><p>two</p>")
        tree, _ = tree_of(snapshot)
        words, kept = np.ones(4), np.array([False, True, True, False])
        probability = np.array([0.01, 0.9, 0.6, 0.1])
        assert choose_together(tree, words, kept).kept.tolist() == [True, True, False, False]
        assert choose_together(tree, words, kept, probability).kept.tolist() == kept.tolist()

    def test_a_text_that_repeats_is_kept_once(self) -> None:
        snapshot = page(f"<p>{WORDS}</p><p>{SENTENCE}</p><div class=phone><p>{WORDS}</p></div>")
        found = with_structure(snapshot, keeping(snapshot, "Wipe", "The mill"))
        assert write_markdown(snapshot, found).count("Wipe") == 1
        assert write_markdown(snapshot, found).startswith("Wipe")
        assert found.reasons[found.reason[snapshot.text >= 0][-1]] == "repeats kept text"

    def test_a_reference_may_say_the_same_under_other_headings(self) -> None:
        body = "".join(f"<h3>fn {name}</h3><p>{WORDS}</p>" for name in ("open", "close"))
        snapshot = page(body)
        verdict = keeping(snapshot, "Wipe", "fn")
        assert with_structure(snapshot, verdict) is verdict
        same = page(body.replace("close", "open"))
        found = with_structure(same, keeping(same, "Wipe", "fn"))
        assert write_markdown(same, found).count("Wipe") == 1

    @pytest.mark.parametrize("tag", ["pre", "li", "td"])
    def test_lists_code_and_tables_may_repeat(self, tag: str) -> None:
        outer = {"pre": "<div>", "li": "<ul>", "td": "<table><tr>"}[tag]
        snapshot = page(f"{outer}<{tag}>{WORDS}</{tag}><{tag}>{WORDS}</{tag}>")
        verdict = keeping(snapshot, "Wipe")
        assert with_structure(snapshot, verdict) is verdict

    def test_a_table_within_kept_text_is_kept(self) -> None:
        rows = "".join(f"<tr><td>part {n}</td><td>{n} mm</td></tr>" for n in range(6))
        snapshot = page(f"<div><p>{WORDS * 4}</p><table>{rows}</table><p>{SENTENCE * 4}</p></div>")
        tree, texts = tree_of(snapshot)
        words = np.array([len(text.split()) for text in texts], np.float64)
        kept = words > 2
        for likely, found in ((0.2, True), (0.1, False)):
            probability = np.where(kept, 0.9, likely)
            assert parts_in_text(tree, words, kept, probability).tolist() == [found]
            in_text = parts_in_text(tree, words, kept, probability)
            choice = choose_together(tree, words, kept, probability, in_text)
            assert choice.kept.all() == found
            assert (choice.cause[~kept] == (1 + CAUSES.index("within kept text")) * found).all()
        assert not parts_in_text(tree, words, kept & (np.arange(kept.size) > 0), probability).any()

    def test_parts_that_look_alike_are_kept_together(self) -> None:
        author = "<dl class=author><dt>Posts</dt><dd>12</dd></dl>"
        post = f"<div><p>{WORDS * 4}</p></div>"
        tree, texts = tree_of(page(f"<main>{f'{post}{author}' * 4}</main>"))
        words = np.array([len(text.split()) for text in texts], np.float64)
        kept = words > 1
        for likely, found in (([0.1, 0.1, 0.1, 0.3], 0), ([0.1, 0.1, 0.3, 0.3], 2)):
            probability = np.repeat(likely, 3) * ~kept + 0.9 * kept
            assert parts_in_text(tree, words, kept, probability).sum() == found

    def test_quotes_and_single_items_within_kept_text_are_no_data(self) -> None:
        body = "<blockquote><p>a</p><p>b</p></blockquote><ul><li>one</ul><pre>c</pre><ol><li>a<li>b</ol>"
        tree, texts = tree_of(page(body))
        data = [texts[first:last] for first, last in tree.group[tree.is_data].tolist()]
        assert data == [["c"], ["a", "b"]]

    def test_a_heading_of_headings_goes_with_them(self) -> None:
        snapshot = page("<h2>Traits</h2><h3>Send</h3><h3>Sync</h3><h2>Notes</h2><p>text</p>")
        tree, texts = tree_of(snapshot)
        kept = np.array([text in {"Send", "Sync"} for text in texts])
        choice = choose_together(tree, np.ones(len(texts)), kept)
        assert [text for text, one in zip(texts, choice.kept, strict=True) if one] == [
            "Traits",
            "Send",
            "Sync",
        ]

    def test_the_line_of_a_closed_part_goes_with_it(self) -> None:
        for after in ("", "<p>after</p>"):
            closed = "<details><summary>Returns</summary><p hidden>a</p></details>"
            snapshot = page(f"<p>text</p>{closed}{after}")
            blocks = page_blocks(snapshot)
            shown = blocks.hidden == 0
            words, every = np.ones(int(shown.sum())), np.ones(int(shown.sum()), np.bool_)
            tree = DocumentTree.of(snapshot, blocks.start[shown], blocks.end[shown], words)
            wanted = [True, False, True][: words.size]
            assert choose_together(tree, words, every).kept.tolist() == wanted
            assert choose_together(tree, words, every, np.full(words.size, 0.9)).kept.tolist() == wanted

    def test_closed_questions_stay(self) -> None:
        tree, texts = tree_of(page("<details><summary>Why?</summary></details>" * 3))
        assert choose_together(tree, np.ones(3), np.ones(3, np.bool_), np.ones(3)).kept.all()
        assert texts == ["Why?"] * 3

    def test_related_pages_after_the_end_go_with_their_heading(self) -> None:
        cards = "".join(
            f"<li><a href=/{n}>Mill number {n}</a><p>Teaser {n} says more of it.</p></li>" for n in "abc"
        )
        body = f"<p>{SENTENCE * 5}</p><section class=related><h2>Read next</h2><ul>{cards}</ul></section>"
        snapshot = page(body)
        verdict = keeping(snapshot, "The mill", "Read next", "Mill number", "Teaser")
        found = with_structure(snapshot, verdict)
        assert write_markdown(snapshot, found).split() == (SENTENCE * 5).split()
        before = page(body.replace("<p>The", f"<p>{WORDS}</p><p>The", 1) + f"<p>{SENTENCE * 2}</p>")
        kept = with_structure(
            before, keeping(before, "The mill", "Wipe", "Read next", "Mill number", "Teaser")
        )
        assert "Teaser b" in write_markdown(before, kept)

    def test_related_pages_with_summaries_of_their_own_are_no_end(self) -> None:
        cards = "".join(f"<li><a href=/{n}>Mill {n}</a><p>Teaser {n}: {WORDS}</p></li>" for n in "abc")
        body = f"<p>{SENTENCE * 9}</p><section><h2>Read next</h2><ul>{cards}</ul></section>"
        snapshot = page(body)
        found = with_structure(snapshot, keeping(snapshot, "The mill", "Read next", "Mill", "Teaser"))
        assert write_markdown(snapshot, found).split() == (SENTENCE * 9).split()

    @pytest.mark.parametrize(
        ("head", "classes", "url", "kept"),
        [
            ("", ("entry-content", "comment-content"), "https://example.org/2026/oven", False),
            ("", ("post-body", "post-body"), "https://example.org/2026/oven", True),
            ("", ("entry-content", "comment-content"), "https://example.org/forum/12", True),
            (
                '<script type="application/ld+json">{"@type": "QAPage"}</script>',
                ("entry-content", "comment-content"),
                "https://example.org/2026/oven",
                True,
            ),
        ],
    )
    def test_comments_on_an_article_go_and_posts_of_a_forum_stay(
        self, head: str, classes: tuple[str, str], url: str, *, kept: bool
    ) -> None:
        article, comment = (f"<div class={name}><p>{{}}</p></div>" for name in classes)
        replies = "".join(f"<li>{comment.format(f'Reply {n}: {WORDS}')}</li>" for n in "abc")
        source = f"<head>{head}</head><body>{article.format(SENTENCE * 9)}<ol class=comments>{replies}</ol>"
        snapshot = parse_html(source.encode(), url=url)
        found = with_structure(snapshot, keeping(snapshot, "The mill", "Reply"))
        assert ("Reply b" in write_markdown(snapshot, found)) is kept
        if not kept:
            node = [snapshot.text_of(n)[:7] for n in range(len(snapshot))].index("Reply a")
            assert found.reasons[found.reason[node]] == "readers' comments on an article"

    @pytest.mark.parametrize("parameters", [{"mode": "paper"}, {"complement": True}])
    def test_methods_as_published_are_left_alone(self, parameters: dict[str, Any]) -> None:
        snapshot = page(f"<h2>Oven</h2><p>{WORDS}</p>")
        verdict = keeping(snapshot, "Wipe", **parameters)
        assert with_structure(snapshot, verdict) is verdict
        none = replace(keeping(snapshot, "Wipe"), method="none")
        assert with_structure(snapshot, none) is none

    @given(st.text(alphabet="hpultdi()", max_size=60), st.integers(0, 2**16))
    def test_any_page_keeps_its_texts_within_kept_elements(self, shape: str, bits: int) -> None:
        snapshot = page(body_of(shape))
        texts = [snapshot.text_of(n).strip() for n in range(len(snapshot)) if snapshot.text[n] >= 0]
        wanted = [text for n, text in enumerate(texts) if text and bits >> (n % 16) & 1]
        verdict = keeping(snapshot, *(wanted or ["-"]))
        found = with_structure(snapshot, verdict)
        inner = np.flatnonzero(found.kept)[1:]
        assert found.kept[snapshot.parent[inner]].all()
        changed = np.flatnonzero((found.kept != verdict.kept) & (snapshot.text >= 0) & (snapshot.kind == 3))
        assert {found.reasons[found.reason[n]] for n in changed.tolist()} <= set(CAUSES)
        assert with_structure(snapshot, verdict).kept.tobytes() == found.kept.tobytes()


TAGS = {"h": "h2", "p": "p", "u": "ul", "l": "li", "t": "table", "d": "td", "i": "article"}


def body_of(shape: str) -> str:
    """Return a page of nested elements: letters open them, ``)`` closes the last, and each begins with a text."""
    written, is_open = [], []
    for number, letter in enumerate(shape):
        if letter in TAGS:
            is_open.append(TAGS[letter])
            written.append(f"<{TAGS[letter]}>word{number} ")
        elif letter == ")" and is_open:
            written.append(f"</{is_open.pop()}>")
    return "".join(written)


OVEN = (
    "<nav><a href=/>Home</a> <a href=/shop>Shop</a></nav>"
    f"<main><h1>Guide to the oven</h1><p>{WORDS * 3}</p><h2>Installation</h2><p>{SENTENCE * 3}</p>"
    f"<h2>Cleaning</h2><p>{WORDS * 2}</p><h3>The door</h3><p>{WORDS}</p></main>"
    "<footer><p>© 2026 All rights reserved</p></footer>"
)


def test_a_manual_keeps_all_its_headings() -> None:
    result = domsieve.clean(f"<title>Guide to the oven</title><body>{OVEN}</body>")
    lines = [line for line in result.markdown.splitlines() if line.startswith("#")]
    assert lines == ["# Guide to the oven", "## Installation", "## Cleaning", "### The door"]
    paths = [json.loads(line)["headings"] for line in result.write("chunks").splitlines()]
    assert paths[-1] == ["Guide to the oven", "Cleaning", "The door"]


def test_many_headings_and_nested_lists_cost_in_proportion() -> None:
    deep = page("<ul><li>a" * 4_000 + f"<p>{WORDS}</p>")
    wide = page("<h2>a</h2><p>b</p>" * 20_000)
    for snapshot in (deep, wide):
        tree, texts = tree_of(snapshot)
        assert choose_together(tree, np.ones(len(texts)), np.ones(len(texts), np.bool_)).kept.all()
