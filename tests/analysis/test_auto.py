"""The learned cleaner: figures by hand, trees against a walk, choices against all others, and pages."""

import os
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from domsieve.analysis.auto.cleaner import (
    AutoCleaner,
    BlockEvidence,
    choose,
    choose_balanced,
    with_alike,
    with_site,
)
from domsieve.analysis.auto.context_features import MeasuredBlocks
from domsieve.analysis.auto.model import (
    LEAVES,
    UNIT,
    AutoModel,
    BoostedTrees,
    Calibration,
    probabilities,
    read_model,
    shipped_model,
    write_model,
)
from domsieve.analysis.auto.tokens import BUCKETS, TOKEN_UNIT, TokenWeights, tokens_of
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.columns.words import Characters, CharIs
from domsieve.analysis.writers.text import write_text
from domsieve.errors import UsageError
from domsieve.renderer.html_parser.parser import parse_html
from tests.analysis.contract import ARTICLE, SENTENCE, body, site

NO_TOKENS = TokenWeights(np.zeros(BUCKETS, np.int16), np.zeros(BUCKETS, np.int16))


def measured(html: str) -> MeasuredBlocks:
    page = body(html)
    return MeasuredBlocks.of(page, page_blocks(page))


def figures(html: str) -> dict[str, list[float]]:
    """Return all figures of the blocks of a page by name, those of tokens without weights."""
    blocks = measured(html)
    groups = BlockEvidence.of(blocks).weighed(NO_TOKENS)
    flat = {name: column for group in groups.values() for name, column in group.items()}
    assert len(flat) == sum(map(len, groups.values()))
    return {name: np.broadcast_to(column, (len(blocks),)).tolist() for name, column in flat.items()}


class TestCharacters:
    def test_words_are_runs_of_letters_and_digits_or_single_ideographs(self) -> None:
        texts = ["Hello World_1, it's", "中文字 and か", "", "𠀀b", "\ud800 x"]
        assert Characters.of(texts).words.tolist() == [4, 5, 0, 2, 1]

    def test_kinds_are_counted_by_text(self) -> None:
        chars = Characters.of(["Ab, C. 12", "", "£5 »ÄÖ"])
        assert chars.having(CharIs.UPPER).tolist() == [2, 0, 2]
        assert chars.having(CharIs.DIGIT).tolist() == [2, 0, 1]
        assert chars.having(CharIs.MARK).tolist() == [2, 0, 0]
        assert chars.having(CharIs.MONEY).tolist() == [0, 0, 1]

    def test_years_are_words_of_four_digits(self) -> None:
        assert Characters.of(["in 1999 and 2026", "12026 or 1800", "1850, 2099."]).years().tolist() == [
            2,
            0,
            1,
        ]

    def test_words_hash_the_same_in_any_case(self) -> None:
        first, second, third = Characters.of(["Straße straße strasse"]).hashes().tolist()
        assert first == second != third


def test_names_have_words_and_parts() -> None:
    assert tokens_of("articleBody related-posts") == (
        *("articlebody", "related-posts", "article", "body", "related", "posts"),
    )
    assert tokens_of("nav") == ("nav",)
    assert tokens_of("") == ()


class TestFigures:
    def test_of_a_block_are_those_counted_by_hand(self) -> None:
        found = figures("<nav><a href=/>Home page</a> | now</nav><p>One, TWO: 3 words of 1999.</p>")
        assert found["words"] == [3, 6]
        assert found["link share"] == [2 / 3, 0]
        assert found["in nav"] == [1, 0]
        assert found["is p"] == [0, 1]
        assert found["arrows"] == [1, 0]
        assert found["years"] == [0, 1]
        assert found["ends a sentence"] == [0, 1]
        assert found["words before"] == [0, 1 / 7]
        assert found["+1: words"][0] == 6
        assert np.isnan(found["+1: words"][1])
        assert found["page words"] == [9, 9]

    def test_ideographs_are_five_eighths_of_a_word(self) -> None:
        assert figures("<p>中文字中文字中文</p>")["words"] == [5]

    def test_of_elements_above_are_sums_over_what_they_hold(self) -> None:
        found = figures(
            "<div><section><p>a b</p><p>c d <a href=/>e</a></p></section><p>f</p></div><p>g h</p>"
        )
        assert found["0 above: words"] == [2, 2, 1, 2]
        assert found["1 above: words"] == [4, 4, 5, 7]
        assert found["2 above: words"] == [5, 5, 7, 7]
        assert found["1 above: link share"][0] == pytest.approx(1 / 5)
        assert found["0 above: alike beside"] == [1, 1, 0, 0]

    def test_distances_are_from_headings_and_the_longest_text(self) -> None:
        found = figures(f"<p>x</p><h1>Title</h1><p>{SENTENCE}</p><h2>More</h2><p>y</p>")
        assert found["blocks from h1"] == [-1, 0, 1, 2, 3]
        assert found["level of heading"][1:] == [1, 1, 2, 2]
        assert found["blocks from longest"] == [-2, -1, 0, 1, 2]
        assert found["long before"] == [5, 5, 0, 1, 2]
        assert found["long after"] == [2, 1, 0, 5, 5]

    def test_a_page_without_a_heading_or_a_long_text_has_figures(self) -> None:
        found = figures("<p>x</p>")
        assert np.isnan(found["blocks from h1"]).all()
        assert np.isnan(found["levels to long"]).all()

    def test_of_the_head_are_shares_of_neighbouring_words(self) -> None:
        page = parse_html(
            b"<head><title>Mill news</title><meta name=Description content='The old mill turns'>"
            b"<meta property=og:type content=product>"
            b'<script type=application/ld+json>{"@type" : "NewsArticle", "name": "x"}</script></head>'
            b"<body><p>Home</p><div><p>The old mill turns slowly</p></div></body>",
            url="https://a.example/",
        )
        blocks = MeasuredBlocks.of(page, page_blocks(page))
        found = BlockEvidence.of(blocks).figures["head"]
        lists = {name: np.broadcast_to(column, (len(blocks),)).tolist() for name, column in found.items()}
        assert lists["share of description"] == [0, 1]
        assert lists["levels to description"] == [1, 0]
        assert lists["blocks from description"] == [-1, 0]
        assert lists["1 above: share of description"] == [1, 1]
        assert lists["page says article"] == [1, 1]
        assert lists["page says product"] == [1, 1]
        assert lists["page says forum"] == [0, 0]

    def test_a_head_that_says_nothing_is_missing_and_not_0(self) -> None:
        found = figures("<p>x</p>")
        assert np.isnan(found["share of description"]).all()
        assert np.isnan(found["page says article"]).all()

    def test_blocks_are_alike_by_path_and_classes(self) -> None:
        found = figures("<p class=a>a b</p><p class=a>c d e f</p><p class=b>g</p>")
        assert found["blocks alike"] == [2, 2, 1]
        assert found["words alike"] == [6 / 7, 6 / 7, 1 / 7]

    def test_tokens_add_up_along_the_elements_around(self) -> None:
        blocks = measured("<div class=related><p class=teaser>one</p></div><p>two</p>")
        tokens = BlockEvidence.of(blocks).tokens
        weights = np.zeros(BUCKETS, np.int16)
        names = tokens.names()
        weights[names.bucket] = TOKEN_UNIT
        found = tokens.figures(TokenWeights(weights, NO_TOKENS.texts))["names"]
        assert np.asarray(found["names"]).tolist() == [4 * TOKEN_UNIT, 0]
        assert np.asarray(found["names far"]).tolist() == [2 * TOKEN_UNIT, 0]
        assert np.asarray(names.scores(weights, 2)).tolist() == [4 * TOKEN_UNIT, 0]


def walked(trees: BoostedTrees, tree: int, column: NDArray[np.float32]) -> int:
    """Return the leaf that a block ends in, question by question: the first that no answer has struck out."""
    gone = 0
    for figure, threshold, less, struck in zip(
        *(
            part[:, tree].tolist()
            for part in (trees.figure, trees.threshold, trees.missing_is_less, trees.struck)
        ),
        strict=True,
    ):
        value = float(column[figure])
        if not (less if np.isnan(value) else value <= threshold):
            gone |= struck
    return next(leaf for leaf in range(LEAVES) if not gone >> leaf & 1)


def some_trees(seed: int, trees: int = 60, most: int = 6) -> BoostedTrees:
    chance = np.random.default_rng(seed)
    shape = most, trees
    leaf = chance.integers(-UNIT, UNIT, (trees, LEAVES)).astype(np.int32)
    return BoostedTrees(
        figure=chance.integers(0, 4, shape).astype(np.int16),
        threshold=chance.normal(size=shape).astype(np.float32),
        missing_is_less=chance.random(shape) < 0.5,
        struck=chance.integers(0, 1 << (LEAVES - 1), shape).astype(np.uint16),
        leaf=leaf,
        shares=np.stack((leaf // 2, -leaf, 2 * leaf - leaf // 2)),
        bias=123,
    )


class TestTrees:
    def test_leaves_are_those_of_a_walk(self) -> None:
        trees = some_trees(1)
        table = np.random.default_rng(2).normal(size=(4, 30)).astype(np.float32)
        table[np.random.default_rng(3).random(table.shape) < 0.2] = np.nan
        table[trees.figure[0, 0], 0] = trees.threshold[0, 0]
        found = trees.leaves(table)
        for tree in range(len(trees.leaf)):
            assert found[tree].tolist() == [walked(trees, tree, table[:, b]) for b in range(30)]

    def test_log_odds_are_sums_of_leaves_and_of_the_shares_of_groups(self) -> None:
        trees = some_trees(4)
        leaves = trees.leaves(np.zeros((4, 3), np.float32))
        odds = trees.log_odds(leaves)
        assert odds.tolist() == [
            123 + sum(int(trees.leaf[t, leaf]) for t, leaf in enumerate(column))
            for column in leaves.T.tolist()
        ]
        shares = trees.shares_of(leaves)
        assert (shares.sum(axis=0) + 123 == odds).all()
        assert (shares[1] == 123 - odds).all()

    def test_no_block_has_no_leaf(self) -> None:
        assert some_trees(5).leaves(np.zeros((4, 0), np.float32)).shape == (60, 0)


def test_a_model_comes_back_as_it_was() -> None:
    weights = np.zeros(BUCKETS, np.int16)
    weights[[0, 5, BUCKETS - 1]] = 3, -7, 9
    calibration = Calibration(np.array([0.1, 0.9]), np.array([0.2, 0.8]), 1.5)
    model = AutoModel(("a", "b"), ("x", "y"), TokenWeights(weights, -weights), some_trees(6), calibration)
    data = write_model(model)
    again = read_model(data)
    assert write_model(again) == data
    assert (again.tokens.names == weights).all()
    assert (again.figures, again.groups) == (("a", "b"), ("x", "y"))
    assert again.calibration.single_gain == 1.5
    assert [again.calibration.f1(value, single_share=1) for value in (0, 1)] == [0.2, 0.8]


class TestCalibration:
    straight = Calibration(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 2.0)

    @given(st.floats(0, 1))
    def test_texts_with_spaces_follow_the_curve_alone(self, promised: float) -> None:
        assert self.straight.f1(promised, single_share=0) == promised

    def test_more_is_expected_of_scripts_without_spaces(self) -> None:
        assert self.straight.f1(0.5, single_share=0.5) == pytest.approx(2 / 3)
        assert self.straight.f1(0.5, single_share=1) == pytest.approx(3 / 4)

    @given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
    def test_what_is_expected_never_falls(self, first: float, second: float, share: float) -> None:
        low, high = (self.straight.f1(one, single_share=share) for one in sorted((first, second)))
        assert 0 <= low <= high + 1e-12 <= 1 + 1e-12


@pytest.mark.parametrize(
    ("html", "share"),
    [("<p>one two</p>", 0), ("<p>漢字漢字 one</p>", 2.5 / 3.5), ("<p>漢字</p>", 1), ("", 0)],
)
def test_share_of_characters_of_scripts_without_spaces(html: str, share: float) -> None:
    page = body(html)
    assert MeasuredBlocks.of(page, page_blocks(page)).single_share == pytest.approx(share)


class TestChoice:
    @given(
        st.lists(st.tuples(st.floats(0, 1), st.integers(1, 40)), min_size=1, max_size=7),
        st.sampled_from((0.5, 1.0, 2.0)),
    )
    def test_no_other_choice_is_expected_to_be_better(
        self, blocks: list[tuple[float, int]], beta: float
    ) -> None:
        likely, words = (np.array(column, np.float64) for column in zip(*blocks, strict=True))
        true = float((likely * words).sum())

        def expected(kept: tuple[int, ...]) -> float:
            held = list(kept)
            weight = 1 + beta**2
            return weight * float((likely * words)[held].sum()) / (float(words[held].sum()) + beta**2 * true)

        choice = choose(likely, words, beta=beta)
        every = [
            kept for size in range(1, len(blocks) + 1) for kept in combinations(range(len(blocks)), size)
        ]
        best = max(map(expected, every)) if true else 0.0
        assert choice.expected == pytest.approx(best, abs=1e-9)
        if true:
            assert (likely[choice.kept] >= choice.threshold - 1e-9).all()
            assert (likely[~choice.kept] <= choice.threshold + 1e-9).all()
            assert expected(tuple(np.flatnonzero(choice.kept).tolist())) == pytest.approx(best, abs=1e-9)

    def test_long_text_is_chosen_with_more_precision(self) -> None:
        likely, words = np.array([0.9, 0.8, 0.5]), np.array([40.0, 40.0, 10.0])
        short, long = (np.full(3, value) for value in (False, True))
        by_default = choose_balanced(likely, words, short)
        assert by_default.kept.tolist() == choose(likely, words).kept.tolist() == [True, True, True]
        precise = choose_balanced(likely, words, long)
        assert precise.kept.tolist() == [True, True, False]
        assert precise.expected == by_default.expected
        assert by_default.threshold < 0.5 < precise.threshold < 0.8
        assert not choose_balanced(np.zeros(3), words, long).kept.any()

    def test_nothing_is_chosen_of_nothing(self) -> None:
        assert choose(np.zeros(0), np.zeros(0)).expected == 0
        assert not choose(np.zeros(2), np.ones(2)).kept.any()


def test_probabilities_are_those_of_log_odds() -> None:
    assert probabilities(np.array([0, 3 * UNIT, -3 * UNIT])).tolist() == pytest.approx(
        [0.5, 0.952574, 0.047426], abs=1e-6
    )
    assert probabilities(np.array([-(10**12), 10**12])).tolist() == pytest.approx([0, 1])


def test_alike_blocks_draw_each_other_to_their_mean() -> None:
    odds, words = np.array([2 * UNIT, -2 * UNIT, UNIT]), np.array([9.0, 1.0, 5.0])
    found = with_alike(odds, words, np.array([0, 0, 1]))
    mean = (3 * 2 - 1 * 2) / 4  # weights are square roots of words
    assert found.tolist() == [
        round((0.4 * 2 + 0.6 * mean) * UNIT),
        round((-0.4 * 2 + 0.6 * mean) * UNIT),
        UNIT,
    ]
    assert with_alike(odds[:0], words[:0], np.zeros(0, np.int64)).size == 0


def test_a_block_that_the_tree_keeps_loses_half_by_its_low_score() -> None:
    odds, words = np.array([0, 0, -4 * UNIT]), np.ones(3)
    score = np.array([0.4, 0.4, 0.4], np.float32)
    kept, dropped, unlikely = with_site(odds, words, np.array([True, False, True]), score)
    assert kept == pytest.approx(dropped / 2, abs=1)
    assert unlikely < dropped


def test_the_page_counts_beside_the_score_of_the_tree_by_how_far_they_agree() -> None:
    sure = np.array([40 * UNIT, -40 * UNIT])
    words, score = np.array([10.0, 10.0]), np.array([0.75, 0.25], np.float32)
    agreeing, opposed = np.array([True, False]), np.array([False, True])
    found = with_site(sure, words, agreeing, score, tree_odds=2, tree_middle=0.5)
    assert found.tolist() == [40.5 * UNIT, -40.5 * UNIT]
    # Where the page expects nothing of what the tree keeps, the tree alone is asked.
    found = with_site(sure, words, opposed, score, tree_odds=2, tree_middle=0.5)
    assert found.tolist() == [0.5 * UNIT, -0.5 * UNIT]
    half = with_site(sure, words, np.array([True, True]), score, tree_odds=0)
    assert half.tolist() == pytest.approx([(2 / 3) ** 2 * 40 * UNIT, -((2 / 3) ** 2) * 40 * UNIT], abs=1)
    none = np.zeros(0)
    assert with_site(none.astype(np.int64), none, none.astype(np.bool_), none.astype(np.float32)).size == 0


class TestCleaner:
    def test_keeps_the_article_of_a_single_page(self) -> None:
        page = body(ARTICLE)
        verdict = AutoCleaner().transform(page)
        text = write_text(page, verdict)
        assert "The mill was built in 1804" in text
        assert "rights reserved" not in text
        assert "Rivers" not in text
        assert verdict.expected_f1 is not None
        assert 0.5 < verdict.expected_f1 <= 1

    def test_numbers_of_groups_are_the_log_odds_without_the_bias(self) -> None:
        page = body(ARTICLE)
        verdict = AutoCleaner().transform(page)
        text = np.flatnonzero(~np.isnan(verdict.numbers["words"]))
        likely = np.clip(verdict.score[text].astype(np.float64), 1e-6, 1 - 1e-6)
        groups = sum(verdict.numbers[f"by_{name}"][text] for name in (*shipped_model().groups, "alike"))
        odds = groups + shipped_model().trees.bias / UNIT
        assert np.log(likely / (1 - likely)) == pytest.approx(odds, abs=0.02)
        assert "by_site" not in verdict.numbers

    def test_few_pages_of_a_site_are_judged_by_themselves(self) -> None:
        pages = site(4)
        alone = [AutoCleaner().transform(page) for page in pages]
        together = AutoCleaner().fit(pages).transform(pages)
        assert all((a.kept == b.kept).all() for a, b in zip(alone, together, strict=True))

    def test_the_style_tree_of_a_site_is_asked(self) -> None:
        pages = site(8)
        verdict = AutoCleaner().fit(pages).transform(pages[0])
        said = verdict.numbers["by_site"]
        assert (said[~np.isnan(said)] != 0).all()
        assert "about us" not in write_text(pages[0], verdict)

    def test_precision_keeps_less_and_recall_more(self) -> None:
        for page in (body(ARTICLE), *site(2)):
            less, some, more = (
                AutoCleaner(favor=favor).transform(page).kept for favor in ("precision", "balance", "recall")
            )
            assert (less <= some).all()
            assert (some <= more).all()

    def test_says_the_same_of_a_page_whatever_is_favoured(self) -> None:
        page = body(ARTICLE)
        assert (
            AutoCleaner(favor="precision").transform(page).expected_f1
            == AutoCleaner(favor="recall").transform(page).expected_f1
        )

    @pytest.mark.parametrize("html", ["", "<p hidden>x</p>", "<p>?!</p>", "<p>x</p>", "<img src=a.png>"])
    def test_pages_with_next_to_nothing(self, html: str) -> None:
        verdict = AutoCleaner().transform(body(html))
        assert verdict.expected_f1 is not None

    def test_what_floats_over_a_rendered_page_is_no_content(self) -> None:
        box = f"<div style='position: fixed'><p>{SENTENCE.replace('mill', 'cookie')}</p></div>"
        page = body(ARTICLE + box, producer="rendered")
        assert "cookie" not in write_text(page, AutoCleaner(favor="recall").transform(page))

    def test_a_wrong_word_is_refused_with_the_choices(self) -> None:
        with pytest.raises(UsageError, match="'balance', 'precision' or 'recall'"):
            AutoCleaner(favor="precison").transform(body("<p>x</p>"))  # type: ignore[arg-type]


def test_every_figure_of_the_shipped_model_is_there() -> None:
    known = figures(ARTICLE)
    assert set(shipped_model().figures) == set(known)


def test_the_shipped_model_is_small() -> None:
    assert len(write_model(shipped_model())) <= 1_500_000


_SCRIPT = """
import sys, hashlib
from domsieve.analysis.auto.cleaner import AutoCleaner
from domsieve.analysis.writers.evidence import write_json
from tests.analysis.contract import site
pages = site(6)
model = AutoCleaner().fit(pages)
said = [write_json(page, cleaner.transform(page)) for page in pages for cleaner in (model, AutoCleaner())]
print(hashlib.sha256("".join(said).encode()).hexdigest())
"""


def test_processes_with_other_seeds_and_other_instructions_say_the_same() -> None:
    said = set()
    for settings in (
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "2", "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F"},
        {"PYTHONHASHSEED": "3", "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
    ):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _SCRIPT],
            env={**os.environ, **settings, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        said.add(done.stdout)
    assert len(said) == 1
