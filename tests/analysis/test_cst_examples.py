"""Worked examples of the compressed structure tree, to 1e-6."""

import numpy as np
import pytest

from domsieve.analysis.columns.batch import Batch
from domsieve.analysis.trees._alignment import locate
from domsieve.analysis.trees._forest import build_forest, word_features
from domsieve.analysis.trees.cst import CompressedStructureTree, path_importance, word_weight
from domsieve.snapshot.page import Producer, Snapshot
from domsieve.types import StyleLevel
from tests.analysis.pages import page

TOLERANCE = 1e-6


def learn(*bodies: str, **changes: object) -> tuple[CompressedStructureTree, list[Snapshot]]:
    """Learn pages in paper mode; every element without element children is a leaf."""
    pages = [page(f"<html><body>{body}</body></html>") for body in bodies]
    parameters = {"leaf_height": 0, **changes}
    return CompressedStructureTree.of_mode("paper", **parameters).fit(pages), pages


def number(
    model: CompressedStructureTree, snapshot: Snapshot, name: str, tag: str, occurrence: int = 0
) -> float:
    """Return a number of the element node that an element of a page falls on."""
    nodes = [i for i in range(len(snapshot)) if snapshot.tag_name(i) == tag]
    return float(model.transform(snapshot).numbers[name][nodes[occurrence]])


def weights(model: CompressedStructureTree, snapshot: Snapshot) -> dict[str, float]:
    """Return the weights of the words of a page that are not 0."""
    row = model.weigh([snapshot])
    return dict(zip(model.get_feature_names_out()[row.indices].tolist(), row.data.tolist(), strict=True))


def test_e1_figure_2() -> None:
    """Two pages whose bodies differ in style: the body is fully important, and all below it."""
    model, pages = learn("<p>a</p><div><p>b</p></div>", "<p>a</p><img>")
    figures, depth = model.figures_, model.merged_tree_.elements.fixed["depth"]
    assert (figures.node[depth == 0], figures.path[depth == 0]) == (0, 0)
    assert number(model, pages[0], "node_importance", "body") == pytest.approx(1, abs=TOLERANCE)
    assert number(model, pages[0], "path_importance", "body") == pytest.approx(1, abs=TOLERANCE)
    assert figures.path[depth > 0] == pytest.approx(np.ones((depth > 0).sum()), abs=TOLERANCE)


FIGURE_1 = (
    '<table width="800" height="200"><tr><td>x</td></tr></table>',
    '<img width="800">',
    '<table bgcolor="red">',
)


def body_style(parts: tuple[str, ...], producer: Producer, level: StyleLevel) -> int:
    batch = Batch.of([page(f"<html><body>{''.join(parts)}</table></body></html>", producer=producer)])
    forest = build_forest(batch, level=level, flatten_inline=False, leaf_height=0)
    return int(locate(forest, runs="exact", siblings="style").style[forest.levels[1]])


@pytest.mark.parametrize(
    ("other", "in_source", "in_browser"),
    [
        (FIGURE_1, True, True),
        (FIGURE_1[1:2] + FIGURE_1[:1] + FIGURE_1[2:], False, False),
        (FIGURE_1[1:], False, False),
        ((FIGURE_1[0].replace("800", "799"), *FIGURE_1[1:]), False, True),
    ],
    ids=["equal", "swapped", "dropped", "another width"],
)
def test_e2_equality_of_styles(other: tuple[str, ...], in_source: bool, in_browser: bool) -> None:
    assert (body_style(FIGURE_1, "raw", "html") == body_style(other, "raw", "html")) is in_source
    equal = body_style(FIGURE_1, "rendered", "layout") == body_style(other, "rendered", "layout")
    assert equal is in_browser


@pytest.mark.parametrize(
    ("nodes", "paths"),
    [((0.0, 0.2, 0.5), (0, 0.2, 0.6)), ((0.0, 0.292, 0.1), (0, 0.292, 0.3628)), ((0, 0, 0), (0, 0, 0))],
)
def test_e3_path_chain(nodes: tuple[float, ...], paths: tuple[float, ...]) -> None:
    """The formula, on a tree whose node importances are put in place of its own."""
    model, _ = learn(*("<div><div><p>a</p></div></div>",) * 2)
    tree = model.tree_
    depth = tree.elements.fixed["depth"]
    wanted = np.zeros(len(tree.elements))
    for level, value in enumerate(nodes):
        wanted[depth == level] = value
    found = path_importance(tree, wanted)
    for level, value in enumerate(paths):
        assert found[depth == level] == pytest.approx([value], abs=TOLERANCE)


@pytest.mark.parametrize(("h", "f", "weight"), [(0.5, 3, 0.9), (0.0, 1, 0.6), (1.0, 9, 0.0)])
def test_e4_weights_on_a_chain(h: float, f: int, weight: float) -> None:
    assert f * word_weight(np.array([0.6]), np.array([h])) == pytest.approx([weight], abs=TOLERANCE)


def leaf_of_four() -> tuple[CompressedStructureTree, list[Snapshot]]:
    """Return a leaf on four tag nodes below a body of two equal styles."""
    texts = ("canon canon price zoom", "price zoom", "price", "price")
    return learn(*(f"<p>{t}</p>" + "<hr>" * (i % 2) for i, t in enumerate(texts)))


def test_e5_leaf_and_its_importance() -> None:
    model, pages = leaf_of_four()
    h = dict(
        zip(
            model.merged_tree_.features.fixed["feature"].tolist(),
            model.figures_.feature.tolist(),
            strict=True,
        )
    )
    assert [h[w] for w in word_features(["canon", "price", "zoom"]).tolist()] == pytest.approx(
        [0, 1, 0.5], abs=TOLERANCE
    )
    assert number(model, pages[0], "node_importance", "body") == pytest.approx(0.5, abs=TOLERANCE)
    assert number(model, pages[0], "node_importance", "p") == pytest.approx(0.5, abs=TOLERANCE)
    assert number(model, pages[0], "path_importance", "p") == pytest.approx(0.75, abs=TOLERANCE)


def test_e5_weights() -> None:
    model, pages = leaf_of_four()
    assert weights(model, pages[0]) == pytest.approx({"canon": 1.5, "zoom": 0.375}, abs=TOLERANCE)
    sums = model.weigh(pages).sum(axis=1)
    assert sums.A1.tolist() == pytest.approx([1.875, 0.375, 0, 0], abs=TOLERANCE)
    assert number(model, pages[0], "weight", "p") == pytest.approx(1.875, abs=TOLERANCE)


def same_as_sst() -> tuple[CompressedStructureTree, list[Snapshot]]:
    """Return the pages of the full run of the site style tree; `the` stands five times on the first."""
    mains = [
        "<p>u u the the the the the</p>",
        "<p>v the the the the the</p>",
        "<p>w the the the the the</p>",
        '<p>z</p><img src="a.gif">',
    ]
    feet = (" year", " year", "", "")
    return learn(
        *(
            f"<nav>home cart help</nav><main>{m}</main><footer>legal imprint{f}</footer>"
            for m, f in zip(mains, feet, strict=True)
        )
    )


def test_e6_importances() -> None:
    model, pages = same_as_sst()
    expected = {"main": 0.405639, "p": 0.75, "nav": 0.0, "footer": 0.166667}
    for tag, value in expected.items():
        assert number(model, pages[0], "node_importance", tag) == pytest.approx(value, abs=TOLERANCE), tag
    expected = {"main": 0.405639, "p": 0.851410, "nav": 0.0, "footer": 0.166667}
    for tag, value in expected.items():
        assert number(model, pages[0], "path_importance", tag) == pytest.approx(value, abs=TOLERANCE), tag


def test_e6_weights() -> None:
    model, pages = same_as_sst()
    assert weights(model, pages[0]) == pytest.approx({"u": 1.702820, "year": 0.083333}, abs=TOLERANCE)


LINKS = "home help cart login faq map"


@pytest.mark.parametrize(
    ("second", "merges"), [(LINKS + " jobs", True), ("home help cart login faq u{i}", False)]
)
def test_e7_merging(second: str, merges: bool) -> None:
    bodies = [f"<nav>{LINKS}</nav><p>x{i}</p>" for i in range(10)]
    bodies += [f"<nav>{second.format(i=i)}</nav><div>y{i}</div>" for i in range(10)]
    model, _ = learn(*bodies)
    units = sorted(model.tree_.elements.sums["units"].tolist())
    merged = model.merged_tree_.elements.sums["units"].tolist()
    assert units == [10, 10, 10, 10, 20, 20]
    assert sorted(merged) == ([10, 10, 20, 20, 20] if merges else units)


def test_e7_siblings_of_one_style_merge_too() -> None:
    """Section 8.6: tag nodes are the unit, so there may be more of them than pages."""
    model, _ = learn(*(f"<p>same words</p><p>same words</p><div>x{i}</div>" for i in range(3)))
    assert sorted(model.merged_tree_.elements.sums["units"].tolist()) == [3, 3, 3, 6]
