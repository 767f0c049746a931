"""Entropy of tf-idf weights: worked examples, options, a plain twin."""

import math
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from Stemmer import Stemmer
from stopwordsiso import langs

from domsieve.analysis.cleaning.entropy import LANGUAGES, EntropyFilter, entropies, noise_scores
from domsieve.analysis.writers.text import write_text
from domsieve.errors import UsageError
from domsieve.snapshot.page import Kind, Snapshot
from tests.analysis.pages import page

TOLERANCE = 1e-6


def bits(*weights: float) -> float:
    return float(entropies(np.zeros(len(weights), np.int64), np.array(weights, np.float64), 1)[0][0])


def unit(*weights: float) -> float:
    return float(entropies(np.zeros(len(weights), np.int64), np.array(weights, np.float64), 1)[1][0])


def body(*parts: str, lang: str = "") -> Snapshot:
    return page(f"<html lang='{lang}'><body>{''.join(parts)}</body></html>")


def alone(snapshot: Snapshot, **parameters: Any) -> EntropyFilter:
    """Return the filter that has learned one page alone."""
    return EntropyFilter(**parameters).fit([snapshot])


@pytest.mark.parametrize(
    ("weights", "in_bits", "in_unit"),
    [
        ((1, 1), 1, 1),
        ((1, 1, 1, 1), 2, 1),
        ((3, 1), 0.811278, 0.811278),
        ((2, 1, 1), 1.5, 0.946395),
        ((5,), 0, 0),
        ((9, 1), 0.468996, 0.468996),
        ((0.95, 0.05), 0.286397, 0.286397),
        ((0, 0), 0, 0),
    ],
)
def test_e1_entropy_of_weights(weights: tuple[float, ...], in_bits: float, in_unit: float) -> None:
    assert bits(*weights) == pytest.approx(in_bits, abs=TOLERANCE)
    assert unit(*weights) == pytest.approx(in_unit, abs=TOLERANCE)
    assert math.copysign(1, bits(*weights)) == 1, "never -0.0"


def test_e2_tf_idf() -> None:
    """Four pages; A twice on the first page alone, B once on two pages, C three times on all."""
    texts = ("aaa aaa bbb ccc ccc ccc", "bbb ccc", "ccc", "ccc")
    pages = [body(f"<div>{text}</div>") for text in texts]
    model = EntropyFilter().fit(pages)
    assert model.counts_.terms.sums["pages"].tolist().count(4) == 1
    assert bits(2.772589, 0.693147, 0) == pytest.approx(0.721928, abs=TOLERANCE)
    assert bits(4, 1, 0) == pytest.approx(0.721928, abs=TOLERANCE)
    assert model.blocks(pages[0]).entropy == pytest.approx([0.721928], abs=TOLERANCE)


# One page as its own documents: each word below stands in one block of two, so that all idf are equal.
OTHER = "<div>" + "other words here" + "</div>"


@pytest.mark.parametrize(
    ("texts", "entropy", "noise"),
    [
        (("aa bb", "cc cc cc cc cc", "dd dd dd ee"), 0.603759, False),
        (("cc cc cc cc cc", "dd dd dd dd dd dd dd dd dd ee"), 0.234498, True),
    ],
)
def test_e3_block(texts: tuple[str, ...], entropy: float, noise: bool) -> None:
    snapshot = body("<div>", *(f"<p>{text}</p>" for text in texts), "</div>", OTHER)
    found = alone(snapshot).blocks(snapshot)
    assert found.nodes[0] == len(texts)
    assert found.entropy[0] == pytest.approx(entropy, abs=TOLERANCE)
    assert found.total[0] == pytest.approx(entropy * len(texts), abs=1e-5)
    assert found.noise[0] == noise


def test_e4_terms_of_all_pages_are_noise() -> None:
    pages = [body("<div>home cart help</div>", f"<div>story number{i} of today{i}</div>") for i in range(4)]
    model = EntropyFilter().fit(pages)
    found = model.blocks(pages[0])
    assert (found.entropy[0], found.noise.tolist()) == (0, [True, False])
    assert write_text(pages[0], model.transform(pages[0])).split() == ["story", "number0", "of", "today0"]


def test_e5_limit() -> None:
    assert bits(1, 1, 1, 1, 1) == pytest.approx(2.321928, abs=TOLERANCE)


def test_a_block_at_the_threshold_is_kept() -> None:
    snapshot = body("<div><p>aa bb</p><p>cc</p></div>", OTHER)
    assert alone(snapshot).blocks(snapshot).entropy[0] == 0.5
    assert not alone(snapshot).blocks(snapshot).noise[0]


def test_nested_blocks_are_judged_by_their_own_nodes() -> None:
    snapshot = body("<div>aa bb<div>cc cc</div><table><tr><td>dd ee ff gg</td></tr></table></div>", OTHER)
    own = alone(snapshot).blocks(snapshot)
    assert own.nodes.tolist() == [1, 1, 1, 1]
    assert own.entropy[:3].tolist() == [1, 0, 2]
    subtree = alone(snapshot, aggregate="subtree").blocks(snapshot)
    assert [snapshot.tag_name(int(node)) for node in subtree.node] == ["body", "div", "div", "table", "div"]
    assert subtree.nodes.tolist() == [4, 3, 1, 1, 1]
    assert subtree.entropy[1:4].tolist() == [1, 0, 2]
    assert "cc" not in write_text(snapshot, alone(snapshot).transform(snapshot))


def test_terms_of_links_and_images() -> None:
    """Section 8.6: a link has the words of its texts, an image its alternative text and file name."""
    snapshot = body(
        '<div><a href="/zz">aa <b>bb</b></a> cc <img alt="dd" src="/x/ee-ff.png?gg"></div>', OTHER
    )
    found = alone(snapshot).blocks(snapshot)
    assert found.nodes[0] == 3
    assert found.total[0] == pytest.approx(1 + 0 + math.log2(3), abs=TOLERANCE)


def test_nodes_without_terms_count_when_asked() -> None:
    snapshot = body('<div>aa bb<img src=""></div>', OTHER)
    assert alone(snapshot).blocks(snapshot).nodes[0] == 1
    assert alone(snapshot, count_empty=True).blocks(snapshot).entropy[0] == 0.5


@pytest.mark.parametrize(
    ("lang", "text", "terms"),
    [("en-GB", "the running runs", 1), ("", "the running runs", 3), ("de", "die Häuser und das Haus", 1)],
)
def test_stop_words_and_stems_of_the_language_of_the_page(lang: str, text: str, terms: int) -> None:
    counts = EntropyFilter().fit([body(f"<p>{text}</p>", lang=lang)]).counts_
    assert len(counts.terms) == terms
    plain = EntropyFilter(language="none").fit([body(f"<p>{text}</p>", lang=lang)]).counts_
    assert len(plain.terms) == len(set(text.split()))


def test_unit_form_and_scores() -> None:
    snapshot = body("<div>" + "aa " * 9 + "bb</div>", OTHER)
    found = alone(snapshot, h_norm="unit").blocks(snapshot)
    assert found.entropy == pytest.approx([0.468996, 1], abs=TOLERANCE)
    verdict = alone(snapshot).transform(snapshot)
    assert verdict.score.max() == 1
    node = next(i for i in range(len(snapshot)) if "aa" in snapshot.text_of(i))
    assert verdict.score[node] == pytest.approx(0.468996, abs=TOLERANCE)
    assert verdict.reasons[verdict.reason[node]] == "few or common words"


def test_precision_and_recall_against_labels() -> None:
    detected = np.array([True, True, True, False, False])
    noise = np.array([True, True, False, True, False])
    scores = noise_scores(detected, noise)
    assert [scores.precision, scores.recall] == pytest.approx([2 / 3, 2 / 3])
    nothing = noise_scores(np.zeros(2, np.bool_), np.zeros(2, np.bool_))
    assert (nothing.precision, nothing.recall) == (1, 1)


@pytest.mark.parametrize("lang", ["", "xx", "日本", "ja", "sr", "NB", "en\0x", "english"])
def test_a_page_may_claim_any_language(lang: str) -> None:
    snapshot = body("<p>some words of a page</p>", lang=lang)
    assert alone(snapshot).blocks(snapshot).nodes.tolist() == [1]


def test_languages_of_the_libraries_are_known() -> None:
    for code in LANGUAGES:
        counts = EntropyFilter(language=code).fit([body("<p>word</p>")]).counts_
        assert len(counts.terms) <= 1
    for code in LANGUAGES - langs():
        Stemmer(code)


def test_parameters_out_of_range_are_refused() -> None:
    with pytest.raises(UsageError, match="language is 'xx'; it may be 'auto', 'none' or"):
        EntropyFilter(language="xx").fit([body("<p>x</p>")])
    with pytest.raises(UsageError, match="threshold is -1"):
        EntropyFilter(threshold=-1).fit([body("<p>x</p>")])


def plain(pages: list[Snapshot], index: int) -> dict[int, float]:
    """Entropy of each block of a page, texts alone, pages as documents."""

    def words(snapshot: Snapshot, node: int) -> list[str]:
        return re.findall(r"\w+", snapshot.text_of(node))

    df = Counter(w for p in pages for w in {w for i in range(len(p)) for w in words(p, i)})
    snapshot, found = pages[index], dict[int, list[float]]()
    for node in range(len(snapshot)):
        if snapshot.kind[node] != Kind.TEXT or not words(snapshot, node):
            continue
        block = int(snapshot.parent[node])
        while snapshot.tag_name(block) not in {"div", "table", "body"}:
            block = int(snapshot.parent[block])
        weights = [tf * math.log(len(pages) / df[w]) for w, tf in Counter(words(snapshot, node)).items()]
        total = sum(weights)
        h = -sum(w / total * math.log2(w / total) for w in weights if w > 0) if total else 0.0
        found.setdefault(block, []).append(h)
    return {block: sum(values) / len(values) for block, values in sorted(found.items())}


def trees(depth: int) -> st.SearchStrategy[str]:
    leaf = st.sampled_from(["<p>aa bb bb</p>", "cc <i>dd aa</i>", "<p>ee</p>", "<p></p>"])
    if not depth:
        return leaf
    inner = st.lists(trees(depth - 1), max_size=3).map("".join)
    tag = st.sampled_from(["div", "table", "ul"])
    return st.one_of(leaf, st.builds(lambda t, x: f"<{t}>{x}</{t}>", tag, inner))


@given(st.lists(trees(3), min_size=2, max_size=4))
@settings(deadline=None, max_examples=60)
def test_blocks_agree_with_their_plain_twin(bodies: list[str]) -> None:
    pages = [body(text) for text in bodies]
    model = EntropyFilter().fit(pages)
    for index, snapshot in enumerate(pages):
        found = model.blocks(snapshot)
        expected = plain(pages, index)
        assert found.node.tolist() == list(expected)
        assert found.entropy == pytest.approx(list(expected.values()), abs=1e-9)


def test_merge_of_parts_equals_the_whole() -> None:
    pages = [body(f"<div>word{i} and common</div><div>menu</div>") for i in range(6)]
    whole = EntropyFilter().fit(pages)
    merged = EntropyFilter().fit(pages[4:]).merge(EntropyFilter().fit(pages[:4]))
    for first, second in ((whole, merged), (whole, EntropyFilter().fit(pages[::-1]))):
        assert first.counts_.terms.key.tolist() == second.counts_.terms.key.tolist()
        assert first.counts_.terms.sums["pages"].tolist() == second.counts_.terms.sums["pages"].tolist()
        assert first.counts_.pages == second.counts_.pages
