"""Columns that several steps read are made once a page, and quick ways agree with their plain twins."""

import gc
import random
import threading
import weakref

import numpy as np
import pytest

from domsieve.analysis.columns import links, words
from domsieve.analysis.columns.batch import cached_per_page
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.columns.visible import shown_nodes
from domsieve.analysis.columns.words import _ALIKE, _TESTS, CharIs, kinds_of
from domsieve.analysis.writers import _markdown_inline as markdown_inline
from domsieve.analysis.writers._markdown_inline import Inline, Mark
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot

ROUNDS = 3_000


def page(text: str = "Bees") -> Snapshot:
    return parse_html(f"<p>{text}</p>".encode(), url="https://bees.example/")


def test_it_is_made_once_for_a_page_and_anew_for_the_next() -> None:
    made: list[Snapshot] = []

    @cached_per_page
    def count(snapshot: Snapshot) -> int:
        made.append(snapshot)
        return len(made)

    first, second = page(), page()
    assert [count(one) for one in (first, first, second, second, first)] == [1, 1, 2, 2, 3]


def test_what_fails_is_not_kept() -> None:
    calls: list[int] = []

    @cached_per_page
    def fail(_: Snapshot) -> None:
        calls.append(1)
        raise ValueError("too much")

    snapshot = page()
    for _ in range(2):
        with pytest.raises(ValueError, match="too much"):
            fail(snapshot)
    assert len(calls) == 2


def test_nobody_changes_what_others_read() -> None:
    with pytest.raises(ValueError, match="read-only"):
        shown_nodes(page())[0] = False


def test_threads_hold_a_page_each() -> None:
    made: list[int] = []

    @cached_per_page
    def who(_: Snapshot) -> int:
        made.append(threading.get_ident())
        return made[-1]

    snapshot = page()
    own = who(snapshot)
    other: list[int] = []
    thread = threading.Thread(target=lambda: other.append(who(snapshot)))
    thread.start()
    thread.join()
    assert other != [own]
    assert who(snapshot) == own
    assert len(made) == 2


def test_nothing_is_held_of_a_page_that_is_gone() -> None:
    class Large:
        pass

    @cached_per_page
    def large(_: Snapshot) -> Large:
        return Large()

    snapshot = page()
    held = weakref.ref(large(snapshot))
    assert held() is not None
    del snapshot
    gc.collect()
    assert held() is None


def test_texts_are_those_of_the_nodes() -> None:
    snapshot = parse_html(b"<p>One <b>two</b> <i> </i>three</p>", url="https://bees.example/")
    texts = page_texts(snapshot)
    assert texts.text == [snapshot.text_of(node) for node in texts.node.tolist()]
    assert texts.is_blank.tolist() == [not text.strip() for text in texts.text]
    assert texts.of(texts.node[::2]) == texts.text[::2]
    assert np.array_equal(texts.rank[texts.node], np.arange(texts.node.size))


def test_plain_addresses_are_joined_as_others_are() -> None:
    draw = random.Random(5)
    parts = [
        *"/?#;:@&_- ",
        "a",
        "b.c",
        "..",
        ".",
        "x=1",
        "http://",
        "https://",
        "h.de",
        "H.de",
        "%20",
        "//",
        "é",
    ]
    bases = (
        "http://a.b/c/d?e#f",
        "https://A.b:80/",
        "",
        "file:///x/y",
        "http://[bad/",
        "mailto:x",
        "http://ü.de/x",
    )
    for base in bases:
        known = links.Addresses(parse_html(b"<a href=x>", url=base))
        for _ in range(ROUNDS):
            value = "".join(draw.choices(parts, k=draw.randrange(7)))
            for linked, schemes in ((True, links._LINKED), (False, links._LOADED)):
                expected = links._absolute(value, base if base.startswith("http") else "", schemes)
                assert known.absolute(2, value, linked=linked) == expected, (base, value)


def test_ascii_is_folded_as_other_text_is() -> None:
    draw = random.Random(5)
    for _ in range(ROUNDS):
        text = "".join(chr(draw.randrange(128)) for _ in range(draw.randrange(8)))
        assert words.fold(text) == words._GAPS.sub(" ", text.lower())


def test_plain_lines_of_markdown_are_written_as_others_are(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(5)
    texts = [
        "bees",
        "wow!",
        " and ",
        "# no",
        "1. no",
        "[x]",
        "a*b*",
        "-",
        "> no",
        "back\\slash",
        "<b>",
        "é",
        "",
    ]

    def lines(seed: int) -> list[str]:
        draw.seed(seed)
        inline = Inline()
        for _ in range(draw.randrange(6)):
            match draw.randrange(6):
                case 0:
                    mark = Mark(draw.choice(["a", "kbd", "strong", "sub"]), "https://bees.example/")
                    inline.open(mark)
                    inline.text(draw.choice(texts))
                    inline.close(mark)
                case 1:
                    inline.raw(draw.choice(["![a](b)", "[^1]", "$x$"]))
                case 2:
                    inline.code(draw.choice(texts), 1)
                case 3:
                    inline.line_break()
                case _:
                    inline.text(draw.choice(texts))
        return inline.lines(escape_starts=draw.random() < 0.5)

    quick = [lines(seed) for seed in range(ROUNDS)]
    monkeypatch.setattr(markdown_inline, "_is_plain", lambda _: False)
    assert quick == [lines(seed) for seed in range(ROUNDS)]


def test_stretches_of_one_kind_are_what_each_character_in_them_is() -> None:
    for first, last, kind in _ALIKE:
        for character in map(chr, range(first, last + 1)):
            assert sum(bit for bit, test in _TESTS.items() if test(character)) == kind
    assert kinds_of("가A_").tolist() == [CharIs.WORD, CharIs.WORD | CharIs.UPPER, CharIs.WORD]


def test_blocks_have_equal_codes_where_their_paths_are_equal() -> None:
    draw = random.Random(7)
    for _ in range(20):
        names = [draw.choice(("div", "section", "ul", "b", "td")) for _ in range(draw.randrange(1, 60))]
        source = "".join(f"<{name}>bee {place}<p>hive</p>" for place, name in enumerate(names))
        blocks = page_blocks(parse_html(source.encode(), url="https://bees.example/"))
        wanted = np.arange(len(blocks))[draw.randrange(3) :]
        codes = blocks.path_codes(wanted).tolist()
        paths = [blocks.path[block] for block in wanted.tolist()]
        assert len(set(codes)) == max(codes) + 1 == len(set(paths)) == len({*zip(codes, paths, strict=True)})
