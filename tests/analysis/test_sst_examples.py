"""Worked examples of the site style tree, to 1e-6."""

import math

import numpy as np
import pytest

from domsieve.analysis.trees._importance import entropy, node_importance, simplified
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.snapshot.page import Snapshot
from tests.analysis.pages import page

TOLERANCE = 1e-6


def learn(*bodies: str, **changes: object) -> tuple[SiteStyleTree, list[Snapshot]]:
    """Learn pages in paper mode; every element without element children is a leaf."""
    pages = [page(f"<html><body>{body}</body></html>") for body in bodies]
    parameters = {"leaf_height": 0, "merge_similarity": None, **changes}
    return SiteStyleTree.of_mode("paper", **parameters).fit(pages), pages


def composite(model: SiteStyleTree, snapshot: Snapshot, tag: str, occurrence: int = 0) -> float:
    """Return CompImp of the element node that an element of a page falls on."""
    verdict = model.transform(snapshot)
    nodes = [i for i in range(len(snapshot)) if snapshot.tag_name(i) == tag]
    return float(verdict.numbers["importance"][nodes[occurrence]])


def root_composite(model: SiteStyleTree) -> float:
    return float(model.figures_.composite[model.tree_.elements.fixed["depth"] == 0][0])


def body_row(model: SiteStyleTree) -> int:
    return int(np.flatnonzero(model.tree_.elements.fixed["depth"] == 1)[0])


@pytest.mark.parametrize(
    ("counts", "pages", "expected"),
    [
        ((35, 25, 15, 25), 100, 0.292096),
        ((100,), 100, 0.0),
        ((2, 1, 1), 4, 0.75),
        ((1, 1), 2, 1.0),
        ((3, 1), 4, 0.405639),
        ((250, 250), 500, 0.111535),
        ((1,), 1, 1.0),
    ],
)
def test_e1_node_importance(counts: tuple[int, ...], pages: int, expected: float) -> None:
    weight = np.array(counts, np.float64)
    owner = np.zeros(len(counts), np.int64)
    found = node_importance(weight, np.array([weight.sum()]), owner, np.array([float(pages)]))
    assert found[0] == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize(
    ("texts", "changes", "expected"),
    [
        (("a1 a2 a3", "a1 a3", "a1", "a1"), {}, 0.5),
        (("home cart",) * 4, {}, 0.0),
        (("x x x", "x", "y y", "y y"), {}, 0.547181),
        (("x x x", "x", "y y", "y y"), {"presence": True}, 0.5),
    ],
)
def test_e2_leaves(texts: tuple[str, ...], changes: dict[str, object], expected: float) -> None:
    model, pages = learn(*(f"<p>{text}</p>" for text in texts), **changes)
    assert composite(model, pages[0], "p") == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize(
    ("b_texts", "b", "body", "root"),
    [
        (("b1", "b2", "b3"), 1.0, 0.583321, 0.524989),
        (("all b1", "all b2", "all"), 0.666667, 0.482071, 0.433864),
    ],
)
def test_e3_composite_of_two_styles(b_texts: tuple[str, ...], b: float, body: float, root: float) -> None:
    model, pages = learn(*(f"<h1>a1 a2</h1><p>{text}</p>" for text in b_texts), "<h2>c</h2>")
    assert composite(model, pages[0], "h1") == pytest.approx(0.0, abs=TOLERANCE)
    assert composite(model, pages[0], "p") == pytest.approx(b, abs=TOLERANCE)
    assert composite(model, pages[3], "h2") == pytest.approx(1.0, abs=TOLERANCE)
    assert composite(model, pages[0], "body") == pytest.approx(body, abs=TOLERANCE)
    assert root_composite(model) == pytest.approx(root, abs=TOLERANCE)
    assert model.figures_.node[body_row(model)] == pytest.approx(0.405639, abs=TOLERANCE)


NAV, FOOT = "<nav>home cart help</nav>", "<footer>legal imprint{}</footer>"


def full_run() -> tuple[SiteStyleTree, list[Snapshot]]:
    mains = ("<p>u the</p>", "<p>v the</p>", "<p>w the</p>", '<p>z</p><img src="a.gif">')
    feet = (" year", " year", "", "")
    return learn(
        *(f"{NAV}<main>{m}</main>{FOOT.format(f)}" for m, f in zip(mains, feet, strict=True)), threshold=0.2
    )


def test_e4_importances_of_a_full_run() -> None:
    model, pages = full_run()
    expected = {"nav": 0.0, "footer": 0.166667, "p": 0.75, "main": 0.735196, "body": 0.270559}
    for tag, value in expected.items():
        assert composite(model, pages[0], tag) == pytest.approx(value, abs=TOLERANCE), tag
    assert root_composite(model) == pytest.approx(0.243503, abs=TOLERANCE)
    assert composite(model, pages[3], "p") == 1.0
    assert composite(model, pages[3], "img") == 1.0


def test_e4_marks_of_a_full_run() -> None:
    model, _ = full_run()
    figures, depth = model.figures_, model.tree_.elements.fixed["depth"]
    assert not figures.noisy[depth < 2].any()
    assert not figures.meaningful[depth < 2].any()
    second = np.flatnonzero(depth == 2)
    assert sorted(zip(figures.noisy[second], figures.meaningful[second], strict=True)) == [
        (False, True),  # main
        (True, False),  # nav and footer
        (True, False),
    ]
    assert figures.meaningful[depth == 3].all()


def test_e4_simplified_tree_ends_at_the_marks() -> None:
    model, _ = full_run()
    kept = simplified(model.tree_, model.figures_)
    assert sorted(model.tree_.elements.fixed["depth"][kept]) == [
        0,
        1,
        2,
        2,
        2,
    ]  # root, body, nav, main, footer


def test_e4_mapping_keeps_main_without_locally_noisy_words() -> None:
    model, pages = full_run()
    assert model.content_words(pages[0]) == ["u"]
    verdict = model.transform(pages[0])
    kept = {pages[0].tag_name(int(i)) for i in np.flatnonzero(verdict.kept)} - {"#document", "html", "body"}
    assert kept == {"main", "p", "#text"}


def test_e4_a_page_without_matching_style_is_returned_whole() -> None:
    model, _ = full_run()
    other = page(f"<html><body>{NAV}<main><p>n</p></main><aside>ad</aside>{FOOT.format('')}</body></html>")
    assert model.content_words(other) == ["home", "cart", "help", "n", "ad", "legal", "imprint"]


LINKS = "home help cart login faq map"


@pytest.mark.parametrize(
    ("second", "merges"), [(LINKS + " jobs", True), ("home help cart login faq u{i}", False)]
)
def test_e5_characteristic_features_decide_on_merging(second: str, merges: bool) -> None:
    bodies = [f"<nav>{LINKS}</nav><p>x{i}</p>" for i in range(10)]
    bodies += [f"<nav>{second.format(i=i)}</nav><div>y{i}</div>" for i in range(10)]
    model, pages = learn(*bodies, merge_similarity=0.85)
    nav = next(i for i in range(len(pages[0])) if pages[0].tag_name(i) == "nav")
    both = [float(model.transform(p).numbers["pages"][nav]) for p in (pages[0], pages[-1])]
    assert both == ([20.0, 20.0] if merges else [10.0, 10.0])


@pytest.mark.parametrize(("similarity", "body"), [(None, 0.507384), (0.85, 0.406134)])
def test_e5_effect_of_merging(similarity: float | None, body: float) -> None:
    texts = ("u the", "v the", "w the")
    model, pages = learn(
        *(f"<nav>home</nav><p>{text}</p>" for text in texts),
        "<nav>home</nav><div>y</div>",
        merge_similarity=similarity,
    )
    assert composite(model, pages[0], "body") == pytest.approx(body, abs=TOLERANCE)
    assert composite(model, pages[3], "nav") == (1.0 if similarity is None else 0.0)


def test_e6_attenuation_along_a_chain() -> None:
    model, pages = learn(*(f"<div><div><div><p>{text}</p></div></div></div>" for text in ("a x", "a")))
    assert composite(model, pages[0], "p") == pytest.approx(0.5, abs=TOLERANCE)
    chain = [composite(model, pages[0], "div", i) for i in (2, 1, 0)]
    assert [*chain, composite(model, pages[0], "body")] == pytest.approx(
        [0.45, 0.405, 0.3645, 0.32805], abs=TOLERANCE
    )


def test_e6_four_styles() -> None:
    bodies = []
    for style, (count, unique) in enumerate(((35, 1), (25, 2), (15, 3), (25, 4))):
        for i in range(count):
            words = [f"w{style}x{i}x{k}" if k < unique else "same" for k in range(5)]
            bodies.append("".join(f"<p align=s{style}k{k}>{word}</p>" for k, word in enumerate(words)))
    model, pages = learn(*bodies)
    assert model.figures_.node[body_row(model)] == pytest.approx(0.292096, abs=TOLERANCE)
    assert composite(model, pages[0], "body") == pytest.approx(0.402258, abs=TOLERANCE)


@pytest.mark.parametrize(("runs", "expected"), [("exact", 0.75), ("collapse", 0.0)])
def test_e7_lists(runs: str, expected: float) -> None:
    model, _ = learn(*(f"<ul>{'<li>x</li>' * n}</ul>" for n in (5, 5, 7, 9)), runs=runs)
    elements = model.tree_.elements
    ul = np.flatnonzero(elements.fixed["depth"] == 2)
    assert ul.size == 1
    assert model.figures_.node[ul[0]] == pytest.approx(expected, abs=TOLERANCE)


def test_e8_leaf_and_internal_forms() -> None:
    inner = "".join(f"<h{k}>{{}}</h{k}>" for k in range(1, 6))
    pages = [inner.format(f"u{i}", f"v{i}", "s", "s", "s") for i in range(3)]
    model, snapshots = learn(*(f"<section>{p}</section>" for p in (*pages, "alone")))
    assert composite(model, snapshots[0], "section") == pytest.approx(0.522571, abs=TOLERANCE)


def test_e9_running_sums() -> None:
    three = 3 * math.log(3)
    total = np.array([4.0, 4.0, 5.0])
    log_total = np.array([three, 0.0, 5 * math.log(5)])
    assert log_total[2] == pytest.approx(8.047190, abs=TOLERANCE)
    found = entropy(total, log_total, np.array([4.0, 4.0, 4.0]))
    assert found == pytest.approx([0.405639, 1.0, 0.0], abs=TOLERANCE)


def test_meaning_of_the_threshold_for_500_pages() -> None:
    """Section 9.3: a leaf on x of 500 pages equally has importance 1 - log_500 x."""
    pages = np.array([2.0, 250.0, 144.0])
    assert 1 - entropy(pages, np.zeros(3), np.full(3, 500.0)) == pytest.approx([0.888, 0.112, 0.2], abs=5e-4)
