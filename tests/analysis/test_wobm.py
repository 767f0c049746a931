"""Web object block mining: the worked examples, lists of many shapes, and its plain twin."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domsieve.analysis.records._regions import Pairs, edit_measure, group_pairs, neighbours
from domsieve.analysis.records._tag_tree import TagTree
from domsieve.analysis.records.result import Records
from domsieve.analysis.records.wobm import WebObjectBlocks
from domsieve.errors import UsageError
from domsieve.snapshot.page import Snapshot
from tests.analysis import plain_regions
from tests.analysis.contract import body

R = "<tr><td></td><td></td></tr>"
A = "<tr><td></td><img></tr>"
B = "<tr><td></td><td></td><td></td><td></td></tr>"


def nested(tags: str) -> str:
    """Return elements, each inside the one before."""
    names = tags.lower().split()
    return "".join(f"<{name}>" for name in names) + "".join(f"</{name}>" for name in reversed(names))


def flat(tags: str) -> str:
    """Return the first element around all others."""
    first, *rest = tags.lower().split()
    return f"<{first}>" + "".join(f"<{name}></{name}>" for name in rest) + f"</{first}>"


def regions(html: str, *, parent: str, **parameters: Any) -> list[tuple[int, int, int]]:
    """Return (length, first, covered) of all regions below `parent` elements, nothing pruned."""
    page = body(html)
    options: dict[str, Any] = {"max_length": 3, "threshold": 0.15, "record_threshold": None, "main_share": 0}
    records = WebObjectBlocks(**{**options, "min_fields": 0, "max_link_share": 1, **parameters}).transform(
        page
    )
    return [
        (length, first, covered) for tag, length, first, covered in described(page, records) if tag == parent
    ]


def described(page: Snapshot, records: Records) -> list[tuple[str, int, int, int]]:
    """Return tag of the parent, length, first sibling and siblings covered of each region, first of all being 1."""
    found = []
    for region, parent in enumerate(records.parent.tolist()):
        children = np.flatnonzero((page.parent == parent) & (page.kind == 1))
        start, stop = records.span[region]
        covered = int(((children >= start) & (children < stop)).sum())
        first = int((children < start).sum()) + 1
        found.append((page.tag_name(parent), int(records.length[region]), first, covered))
    return found


def texts(page: Snapshot, records: Records) -> list[str]:
    """Return the words of each record."""
    return [
        " ".join(page.text_of(n).strip() for a, b in records.pieces_of(i) for n in range(a, b)).split()[0]
        for i in range(len(records))
    ]


@pytest.mark.parametrize(("n", "longest", "number"), [(10, 3, 21), (5, 3, 6), (4, 2, 4), (20, 10, 100)])
def test_e1_combinations(n: int, longest: int, number: int) -> None:
    seen: list[tuple[int, int, int]] = []

    def measure(pairs: Pairs) -> Any:
        seen.extend(zip(pairs.a.tolist(), pairs.c.tolist(), pairs.d.tolist(), strict=True))
        return np.zeros(pairs.a.size)

    tree = TagTree.of(body("<p></p>" * n))
    neighbours(tree, measure, longest)
    assert len(seen) == number
    expected = [(i, i + j, i + 2 * j) for j in range(1, longest + 1) for i in range(1, n - 2 * j + 2)]
    assert seen == expected
    if n == 10:
        assert {(1, 4, 7), (4, 7, 10), (2, 5, 8), (5, 8, 11), (3, 6, 9)} == {
            s for s in seen if s[1] - s[0] == 3
        }


@pytest.mark.parametrize(
    ("one", "other", "distance", "total", "mean"),
    [
        (nested("TR TD A"), nested("TR TD"), 1, 0.2, 0.4),
        (nested("TR TD"), nested("TR TD"), 0, 0, 0),
        (flat("DIV IMG A SPAN SPAN"), flat("DIV IMG A SPAN"), 1, 0.111111, 0.222222),
        (flat("DIV IMG A SPAN"), flat("DIV A IMG SPAN"), 2, 0.25, 0.5),
        (flat("TR TD TD TD"), flat("TR TD"), 2, 0.333333, 0.666667),
        (nested("LI A"), nested("TR TD"), 2, 0.5, 1.0),
    ],
)
def test_e2_normalised_edit_distance(one: str, other: str, distance: int, total: float, mean: float) -> None:
    tree = TagTree.of(body(one + other))
    first = int(tree.first[0])
    pairs = group_pairs(tree, [(first, first + 1)], [(first + 1, first + 2)])
    assert edit_measure(tree, threshold=1.0)(pairs)[0] == pytest.approx(total, abs=1e-6)
    assert edit_measure(tree, threshold=2.0, mean=True)(pairs)[0] == pytest.approx(mean, abs=1e-6)
    assert (
        plain_regions.edit_distance(list(tree.text[1 : tree.end[1]]), list(tree.text[tree.end[1] :]))
        == distance
    )


def test_e3_regions() -> None:
    assert regions(f"<table>{R * 6}</table>", parent="table") == [(1, 1, 6)]
    assert regions(f"<table>{(A + B) * 3}</table>", parent="table") == [(2, 1, 6)]
    assert regions(f"<table>{(A + B) * 3}</table>", parent="table", max_length=2) == [(2, 1, 6)]
    assert regions(f"<table>{(A + B) * 3}</table>", parent="table", max_length=1) == []
    products = [flat(f"DIV IMG A {spans}") for spans in ("SPAN SPAN", "SPAN", "SPAN SPAN")]
    assert regions(f"<main>{''.join(products)}</main>", parent="main") == [(1, 1, 3)]


def test_e4_pruning() -> None:
    menu = "<ul>" + "<li><a href=/>home</a></li>" * 5 + "</ul>"
    product = "<div><img><a href=/>thing</a><span>5</span><span>new</span></div>"
    links = "<div>" + "<a href=/>far</a>" * 3 + "</div>"
    miner = WebObjectBlocks.of_mode("paper")
    page = body(f"<section>{menu}</section><main>{product * 3}</main><footer>{links * 3}</footer>")
    records = miner.transform(page)
    assert described(page, records) == [("main", 1, 1, 3)]
    assert records.numbers["fields"].tolist() == [4]
    assert records.numbers["link_share"].tolist() == pytest.approx([0.2])
    everything = WebObjectBlocks(**{**miner.get_params(), "min_fields": 0, "max_link_share": 1}).transform(
        page
    )
    assert everything.numbers["fields"].tolist() == [1, 4, 3]
    assert everything.numbers["link_share"].tolist() == pytest.approx([0.5, 0.2, 0.75])


def test_e5_overlap() -> None:
    html = "<table>" + "<tr><td><b>a</b>b<i>c</i></td><td><b>a</b>b<i>c</i></td></tr>" * 4 + "</table>"
    page = body(html)
    records = WebObjectBlocks.of_mode("paper").transform(page)
    assert described(page, records) == [("table", 1, 1, 4)]
    assert len(records) == 4


def card(word: str, *, tag: str = "div") -> str:
    return f"<{tag}><img><a href=/{word}>{word}</a><p>some text about it</p><span>5</span></{tag}>"


WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def test_records_in_rows() -> None:
    page = body("<main>" + "".join(map(card, WORDS)) + "</main>")
    for miner in (WebObjectBlocks(), WebObjectBlocks.of_mode("paper")):
        assert texts(page, miner.transform(page)) == WORDS


def test_records_in_columns() -> None:
    rows = ["<tr>" + "".join(card(w, tag="td") for w in WORDS[i : i + 3]) + "</tr>" for i in (0, 3, 6)]
    page = body("<table>" + "".join(rows) + "</table>")
    assert texts(page, WebObjectBlocks().transform(page)) == WORDS
    assert texts(page, WebObjectBlocks.of_mode("paper").transform(page)) == ["one", "four", "seven"]


def test_nested_lists_are_parts_of_their_records() -> None:
    replies = "<ul>" + "<li><b>me</b> <i>agreed</i> quite so</li>" * 2 + "</ul>"
    threads = [f"<li><a href=/>{w}</a> <p>by someone</p><p>long ago</p>{replies}</li>" for w in WORDS]
    page = body("<ul>" + "".join(threads) + "</ul>")
    records = WebObjectBlocks().transform(page)
    assert texts(page, records) == WORDS
    assert records.parent.size == 1


def test_a_list_split_by_adverts_is_one_list() -> None:
    advert = "<aside><h2>buy</h2><form><input><input><button>now</button></form></aside>"
    cards = list(map(card, WORDS))
    page = body(
        "<main>" + "".join(cards[:4]) + advert + "".join(cards[4:5]) + advert + "".join(cards[5:]) + "</main>"
    )
    records = WebObjectBlocks().transform(page)
    assert texts(page, records) == WORDS
    assert records.parent.size == 1
    assert texts(page, WebObjectBlocks.of_mode("paper").transform(page)) == [w for w in WORDS if w != "five"]


def test_a_list_in_two_parents_is_reported_whole() -> None:
    cards = list(map(card, WORDS))
    page = body(f"<main>{''.join(cards[:7])}</main><hr><h2>more</h2><main>{''.join(cards[7:])}</main>")
    assert texts(page, WebObjectBlocks(main_share=0.9).transform(page)) == WORDS


def test_the_last_record_needs_no_rule() -> None:
    page = body("<main>" + "<hr>".join(map(card, WORDS)) + "</main>")
    assert texts(page, WebObjectBlocks().transform(page)) == WORDS
    assert texts(page, WebObjectBlocks.of_mode("paper").transform(page)) == WORDS[:-1]


def test_records_that_differ_are_not_taken_in_pairs() -> None:
    more = [0, 0, 3, 0, 3, 0, 0, 0]  # each pair is like the next one, not each record
    odd = [
        f"<p><a href=/>{w}</a><b>x</b>{'<i>y</i>' * n}some text</p>"
        for w, n in zip(WORDS, more, strict=False)
    ]
    page = body("<main>" + "".join(odd) + "</main>")
    assert WebObjectBlocks(threshold=0.3, record_threshold=None).transform(page).length.tolist() == [2]
    found = WebObjectBlocks(threshold=0.3, record_threshold=0.5).transform(page)
    assert texts(page, found) == WORDS[:8]


def test_a_record_has_the_text_behind_it() -> None:
    page = body(
        "<main>" + "".join(f"<hr><a href=/{w}>{w}</a><b>by me</b> about {w}" for w in WORDS) + "</main>"
    )
    records = WebObjectBlocks().transform(page)
    assert texts(page, records) == WORDS
    assert [page.text_of(b - 1) for ((_, b),) in map(records.pieces_of, range(9))] == [
        f" about {w}" for w in WORDS
    ]
    lines = body("<main>" + "".join(f"{w} <a href=/{w}>{w}</a> <b>by me</b><br>" for w in WORDS) + "</main>")
    records = WebObjectBlocks().transform(lines)
    assert [lines.tag_name(b - 1) for ((_, b),) in map(records.pieces_of, range(9))] == ["br"] * 9


def test_what_is_not_kept_is_not_mined() -> None:
    page = body(
        "<main>" + "".join(map(card, WORDS)) + "</main><section>" + "".join(map(card, WORDS)) + "</section>"
    )
    other = next(n for n in range(len(page)) if page.tag_name(n) == "section")
    kept = np.arange(len(page)) < other
    miner = WebObjectBlocks()
    assert len(miner.transform(page)) == 18
    assert texts(page, miner.on(page, kept=kept)) == WORDS


def test_shadow_roots_and_frames_are_looked_through_and_what_is_not_shown_is_left_out() -> None:
    cards = "".join(map(card, WORDS))
    hidden = "".join(f"<div style='display:none'><p>{card('never')}</p></div>" for _ in WORDS)
    for around in (
        "<main><x-shadow-root>{}</x-shadow-root></main>",
        "<iframe><x-document>{}</x-document></iframe>",
    ):
        page = body(around.format(cards) + f"<section>{hidden}</section>", producer="rendered")
        assert texts(page, WebObjectBlocks(main_share=0).transform(page)) == WORDS


@pytest.mark.parametrize(
    "parameters", [{"max_length": 0}, {"norm": "max"}, {"main_share": 2}, {"threshold": -1}, {"max_gap": -1}]
)
def test_bad_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        WebObjectBlocks(**parameters).transform(body(""))
    with pytest.raises(UsageError):
        WebObjectBlocks.of_mode("other")  # type: ignore[arg-type]


trees = st.recursive(
    st.tuples(st.sampled_from("abcd"), st.just(())),
    lambda inner: st.tuples(st.sampled_from("abcd"), st.lists(inner, max_size=7).map(tuple)),
    max_leaves=25,
)


def wobm_regions(tree: plain_regions.Tree, **parameters: Any) -> list[tuple[str, int, int, int]]:
    page = body(plain_regions.html(tree))
    miner = WebObjectBlocks(**parameters, min_fields=0, max_link_share=1, record_threshold=None, main_share=0)
    return described(page, miner.transform(page))


@settings(max_examples=150, deadline=None)
@given(trees, st.sampled_from([0.0, 0.15, 0.3]), st.integers(1, 4))
def test_regions_are_those_of_the_plain_form(
    tree: plain_regions.Tree, threshold: float, longest: int
) -> None:
    tree = ("x", (tree,))
    alike = plain_regions.Alike("sum", threshold)
    expected = [found[1:] for found in plain_regions.wobm(tree, alike, longest)]
    found = [region[1:] for region in wobm_regions(tree, threshold=threshold, max_length=longest)]
    assert found == expected
    mean = wobm_regions(tree, threshold=2 * threshold, max_length=longest, norm="mean")
    assert [region[1:] for region in mean] == expected
