"""MDR: the worked examples, and its plain twin."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domsieve.analysis.records._regions import edit_measure, group_pairs, neighbours, tree_measure
from domsieve.analysis.records._tag_tree import TagTree, TreeMatcher
from domsieve.analysis.records.mdr import DataRegionMiner
from domsieve.errors import UsageError
from tests.analysis import plain_regions
from tests.analysis.contract import body
from tests.analysis.test_wobm import described, trees

H1, HR, P = "<h1></h1>", "<hr>", "<p></p>"
R = "<tr><td></td><td></td></tr>"
A = "<tr><td></td><img></tr>"
B = "<tr><td></td><td></td><td></td><td></td></tr>"


def regions(html: str, **parameters: Any) -> list[tuple[int, int, int]]:
    """Return (length, first, covered) of the regions among the children of one element."""
    page = body(f"<main>{html}</main>")
    found = described(page, DataRegionMiner(**parameters).transform(page))
    return [(length, first, covered) for tag, length, first, covered in found if tag == "main"]


def count(html: str) -> int:
    return len(DataRegionMiner().transform(body(html)))


def test_b9_1() -> None:
    assert regions(H1 + R * 3) == [(1, 2, 3)]


def test_b9_2() -> None:
    html = H1 + R * 3 + HR + R * 2
    assert regions(html, max_length=1) == [(1, 2, 3), (1, 6, 2)]
    assert regions(html, max_length=2) == [(1, 2, 3), (1, 6, 2)]
    assert regions(html) == [(3, 1, 6)]
    tree = TagTree.of(body(html))
    distance = neighbours(tree, edit_measure(tree, threshold=0.3, mean=True), 3)[2][tree.first[0]]
    assert distance == pytest.approx(0.285714, abs=1e-6)


def test_b9_3() -> None:
    assert regions((A + B) * 3) == [(2, 1, 6)]
    assert regions((A + B) * 3, max_length=1) == []
    tree = TagTree.of(body(A + B))
    first = int(tree.first[0])
    pair = group_pairs(tree, [(first, first + 1)], [(first + 1, first + 2)])
    assert edit_measure(tree, threshold=2, mean=True)(pair)[0] == pytest.approx(0.75, abs=1e-6)


def test_b9_4() -> None:
    assert regions(R * 6) == [(1, 1, 6)]
    assert regions(R * 5) == [(1, 1, 5)]


def test_b9_5() -> None:
    assert regions(R + HR + R + HR + R) == [(2, 1, 4)]


def test_b9_6() -> None:
    assert regions(H1 + A + B + A + B + P) == [(3, 1, 6)]


def test_b9_7_records() -> None:
    assert count("<ul>" + "<li><a></a></li>" * 5 + "</ul>") == 5
    assert count("<table>" + "<tr><td></td><td></td></tr>" * 3 + "</table>") == 3
    card = "<div><img><p></p></div>"
    assert count("<div>" + f"<div>{card * 4}</div>" * 3 + "</div>") == 12
    pictures = "<tr>" + "<td><img></td>" * 3 + "</tr>"
    words = "<tr>" + "<td><a></a></td>" * 3 + "</tr>"
    page = body("<table>" + (pictures + words) * 2 + "</table>")
    records = DataRegionMiner().transform(page)
    assert described(page, records) == [("table", 2, 1, 4)]
    assert [len(records.pieces_of(i)) for i in range(len(records))] == [2] * 6
    names = [[page.tag_name(n) for a, b in records.pieces_of(i) for n in range(a, b)] for i in range(6)]
    assert names == [["td", "img", "td", "a"]] * 6


def test_records_outside_a_region_are_added() -> None:
    card = "<div><img><p></p><p></p></div>"
    row, rest = f"<div>{card * 4}</div>", f"<div><h1></h1><h2></h2><h3></h3><h4></h4>{card}</div>"
    records = DataRegionMiner(max_length=1).transform(body(f"<main>{rest}{row * 3}<hr></main>"))
    assert len(records) == 13


def test_tables_of_the_tree_kind_are_alike_where_the_strings_are_not() -> None:
    deep = "<div><p><b><i></i></b></p></div>"
    flat = "<div><p></p><b></b><i></i></div>"
    assert regions(deep + flat, similarity="edit") == [(1, 1, 2)]
    assert regions(deep + flat, similarity="tree") == []


def test_whole_records_are_cut_into_the_shorter_groups_they_hold() -> None:
    page = body("<main>" + (A + A + B + A) * 2 + "</main>")
    assert len(DataRegionMiner(max_length=4, records="whole").transform(page)) == 8
    leaves = body("<main>" + "<p></p>" * 3 + "<div>" + "<p><b></b></p>" * 2 + "</div></main>")
    assert len(DataRegionMiner(max_length=1, records="whole").transform(leaves)) == 2


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_length": 0},
        {"records": "all"},
        {"similarity": "none"},
        {"threshold": -1},
        {"similarity": "tree", "threshold": 2},
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        DataRegionMiner(**parameters).transform(body(""))


@settings(max_examples=150, deadline=None)
@given(
    trees,
    st.sampled_from([("mean", 0.3), ("mean", 0.6), ("tree", 0.8), ("tree", 0.5)]),
    st.integers(1, 4),
)
def test_regions_are_those_of_the_plain_form(
    tree: plain_regions.Tree, kind: tuple[str, float], longest: int
) -> None:
    tree = ("x", (tree,))
    page = body(plain_regions.html(tree))
    miner = DataRegionMiner(
        similarity="tree" if kind[0] == "tree" else "edit", threshold=kind[1], max_length=longest
    )
    found = [region[1:] for region in described(page, miner.transform(page))]
    assert found == [region[1:] for region in plain_regions.mdr(tree, plain_regions.Alike(*kind), longest)]


@settings(max_examples=150, deadline=None)
@given(st.lists(trees, min_size=2, max_size=5), st.data())
def test_matching_is_that_of_the_plain_form(siblings: list[plain_regions.Tree], data: st.DataObject) -> None:
    tree = TagTree.of(body("".join(map(plain_regions.html, siblings))))
    cut = data.draw(st.integers(1, len(siblings) - 1))
    tops = tree.child[tree.first[0] : tree.first[1]]
    middle = int(tops[cut])
    expected = plain_regions.forest_matching(tuple(siblings[:cut]), tuple(siblings[cut:]))
    assert TreeMatcher(tree).matches((1, middle), (middle, len(tree))) == expected
    pairs = group_pairs(
        tree,
        [(int(tree.first[0]), int(tree.first[0]) + cut)],
        [(int(tree.first[0]) + cut, int(tree.first[1]))],
    )
    similarity = 1 - tree_measure(tree, threshold=0.01)(pairs)[0]
    larger = max(middle - 1, len(tree) - middle)
    assert similarity == pytest.approx(expected / larger) if expected else not np.isfinite(similarity)
