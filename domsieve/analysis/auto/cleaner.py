"""The learned cleaner: features of blocks, one model over them, and the decision which blocks to keep."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.auto.block_features import Row, block_figures, described_figures, likeness_of
from domsieve.analysis.auto.context_features import Around, MeasuredBlocks
from domsieve.analysis.auto.model import UNIT, AutoModel, probabilities, shipped_model
from domsieve.analysis.auto.tokens import NameTokens, PageTokens, TokenWeights
from domsieve.analysis.columns.batch import (
    F64,
    Batch,
    Bools,
    Ints,
    below,
    counted_before,
    page_batch,
    surrounded,
)
from domsieve.analysis.columns.flow import by_style_row
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.columns.page_columns import attributes_of, page_texts
from domsieve.analysis.columns.visible import shown_nodes
from domsieve.analysis.registry import MIN_SITE_PAGES
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.trees.style_tree import StyleTree, is_of_style, merge_trees
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.types import Favor, StyleLevel

if TYPE_CHECKING:
    from domsieve.analysis.trees.sst import SiteStyleTree

_LONG_COUNTS = 0.6
"""How far beta² is below 1 on a page with nothing but long blocks."""


class Choice(NamedTuple):
    """The choice of blocks.

    Parameters
    ----------
    kept : bool (B,), which blocks to keep.
    expected : the expected F-beta, in [0, 1].
    threshold : the probability above which blocks are kept, in [0, 1].
    """

    kept: Bools
    expected: float
    threshold: float


def choose(probability: F64, words: F64, *, beta: float = 1.0) -> Choice:
    """Return the set of blocks with the highest expected F-beta, in O(B log B).

    Parameters
    ----------
    probability : (B,), the probability that each block is content, in [0, 1].
    words : (B,), the number of words of each block. If no block has words, the choice is empty with value 0.
    beta : weight of recall compared with precision, above 0.
    """
    weight = 1 + beta**2
    order = np.argsort(-probability, kind="stable")
    true = np.cumsum((probability * words)[order])
    size = np.cumsum(words[order])
    if not size.size or size[-1] <= 0 or true[-1] <= 0:
        return Choice(np.zeros(probability.size, np.bool_), 0.0, 1.0)
    # The best choice is a prefix of the blocks sorted by probability, so all prefixes are tried.
    expected = weight * true / (size + beta**2 * true[-1])
    best = int(np.argmax(expected))
    kept = np.zeros(probability.size, np.bool_)
    kept[order[: best + 1]] = True
    return Choice(kept, float(expected[best]), float(expected[best]) / weight)


def choose_balanced(probability: F64, words: F64, long: Bools) -> Choice:
    """Return the default choice of blocks, with the expected F1 of the choice for beta 1.

    The larger the share of long blocks in the likely content, the more precision is favoured: an article loses
    little with a doubtful block, but lists, shops and pages of offers consist of doubtful blocks.

    Parameters
    ----------
    probability, words : (B,), as for `choose`.
    long : bool (B,), which blocks are long texts outside of links.
    """
    first = choose(probability, words)
    likely = probability * words * first.kept
    whole = _sum(likely)
    if whole <= 0:
        return first
    beta = sqrt(1 - _LONG_COUNTS * _sum(likely * long) / whole)
    return choose(probability, words, beta=beta)._replace(expected=first.expected)


_MOST_FLOATING = (
    0.5  # a guess: a fixed box with half of the words or more is the page itself, such as an app's frame
)


def floating_nodes(page: Snapshot, visible: Bools) -> Bools:
    """Return which of the N nodes are in a box with ``position: fixed`` that has less than half of the page's words.

    Parameters
    ----------
    visible : (N,), the nodes whose words count.
    """
    roots = np.zeros(len(page), np.bool_)
    by_row = by_style_row(page, "position", lambda value: value == "fixed")
    if by_row is None:
        return roots
    fixed = np.flatnonzero((page.kind == Kind.ELEMENT) & (page.style >= 0) & (by_row[page.style] > 0))
    if not fixed.size:
        return roots
    texts = page_texts(page)
    words = np.zeros(len(page), np.int64)
    words[texts.node] = texts.words
    before = counted_before(words * visible)
    small = fixed[before[page.end[fixed]] - before[fixed] < _MOST_FLOATING * before[-1]]
    roots[small] = True
    return below(roots, page.end.astype(np.int64))


Groups = dict[str, dict[str, Row]]


@dataclass(frozen=True, slots=True, eq=False)
class BlockEvidence:
    """The ancestors, features and tokens of the B blocks of a page."""

    around: Around
    figures: Groups
    tokens: PageTokens

    @classmethod
    def of(cls, blocks: MeasuredBlocks) -> "BlockEvidence":
        """Return the evidence on the blocks of a page, which must have at least one."""
        around, attributes = Around.of(blocks), attributes_of(blocks.page)
        names = NameTokens.of(blocks.page, attributes, around.any_of(len(blocks.page)))
        likeness = likeness_of(blocks, around, attributes)
        figures = block_figures(blocks, around, attributes, likeness)
        figures["head"] = dict(described_figures(blocks, around, attributes))
        return cls(around, figures, PageTokens.of(blocks, around, names, likeness))

    def weighed(self, weights: TokenWeights) -> Groups:
        """Return all features by group and name, each (B,) or one number for all blocks."""
        return self.figures | self.tokens.figures(weights)


TREE_ODDS, TREE_MIDDLE = 3.0, 0.6
"""The score of a site's style tree adds ``TREE_ODDS * (score - TREE_MIDDLE)`` to the log-odds of a block.

Chosen on whole sites that the boosted trees had not learned from, with 5 to 40 known pages each (experiment
``auto``).
"""
_MAYBE_CONTENT, _SPARED = 0.3, 0.5  # chosen on the same sites
_BETA = {"precision": 0.5, "recall": 2.0}
_REASONS = (
    "not visible",
    "looks like boilerplate",
    "looks like content",
    "around content",
    "floats over the page",
)
_HIDDEN, _BOILERPLATE, _CONTENT, _AROUND, _FLOATS = range(len(_REASONS))
_LEAST_WORDS = 0.125  # words are counted in eighths; avoids a division by 0


class AutoCleaner(SiteModel[StyleTree]):
    """Learned cleaner: keeps blocks that look like content, from features of the page and, if known, of its site.

    Unlike the other site methods it also works on a page alone: the site counts if at least `MIN_SITE_PAGES` of its
    pages were learned. On a rendered page, boxes that stay in place while the page scrolls (``position: fixed``) are
    dropped, unless they have half of the words.

    The score of a text is the probability that its block is content. The numbers are ``words`` and ``link_share`` of
    the block, and how much each group of features adds to the log-odds of content: ``by_text``, ``by_place``,
    ``by_surroundings``, ``by_names``, ``by_words``, ``by_page``, ``by_head``, ``by_alike`` for the blocks with the
    same path and classes, and ``by_site`` for a known site.

    Parameters
    ----------
    favor : ``"precision"`` keeps less and ``"recall"`` keeps more text, with the highest expected F-beta for a beta
        of 0.5 and 2. The default, ``"balance"``, uses a beta of 1, and less on pages with much long text.
    style : presentation style of the site's style tree; ``"auto"`` is ``"layout"`` for rendered pages and ``"html"``
        for raw ones.
    """

    name = "auto"
    paper = None
    counts = StyleTree
    joined = merge_trees

    def __init__(self, *, favor: Favor = "balance", style: StyleLevel | Literal["auto"] = "auto") -> None:
        self.favor = favor
        self.style = style

    def model(self) -> AutoModel:
        """Return the learned model; experiments replace it."""
        return shipped_model()

    def facts(self) -> dict[str, int]:
        """Return the size of the style tree."""
        return self._style_tree(self.counts_).facts()

    def _learns(self, counts: StyleTree, style: StyleLevel | None) -> bool:
        return is_of_style(self.style, style) and counts.contents is None and not counts.words

    def _count(self, batch: Batch) -> StyleTree:
        tree = self._tree()
        tree.style_ = self.style_
        tree.partial_fit(batch.pages)
        self.style_ = tree.style_
        return tree.tree_

    def _tree(self) -> "SiteStyleTree":
        # A page that is cleaned alone needs no tree, and starts sooner without.
        from domsieve.analysis.trees.sst import SiteStyleTree

        return SiteStyleTree(style=self.style)

    def _style_tree(self, counts: StyleTree) -> "SiteStyleTree":
        tree = self._tree()
        tree.restore(counts, style=self.style_)
        return tree

    def _verdicts(self, batch: Batch) -> list[Verdict]:
        if self.learned < MIN_SITE_PAGES:
            return [self._verdict(page, None) for page in batch.pages]
        counts = self.counts_
        tree = self._derived((id(counts), self.style), lambda: self._style_tree(counts))
        return [self._verdict(*pair) for pair in zip(batch.pages, tree.transform(batch.pages), strict=True)]

    def _verdict(self, page: Snapshot, by_tree: Verdict | None) -> Verdict:
        model = self.model()
        blocks = MeasuredBlocks.of(page, page_blocks(page))
        odds, groups = np.zeros(len(blocks), np.int64), dict[str, Ints]()
        if len(blocks):
            evidence = BlockEvidence.of(blocks)
            figures = evidence.weighed(model.tokens)
            leaves = model.trees.leaves(model.table(figures, len(blocks)))
            alone = model.trees.log_odds(leaves)
            odds = with_alike(alone, blocks.words, evidence.tokens.likeness)
            groups = dict(zip(model.groups, model.trees.shares_of(leaves), strict=True))
            groups["alike"] = odds - alone
        if by_tree is not None:
            together = with_site(odds, blocks.words, by_tree.kept[blocks.voice], by_tree.score[blocks.voice])
            groups["site"], odds = together - odds, together
        verdict = self._by_log_odds(page, blocks, odds, groups)
        return verdict if by_tree is None else replace(verdict, known_share=by_tree.known_share)

    def floating(self, page: Snapshot, visible: Bools) -> Bools:
        """Return which of the N nodes are in a box that stays in place while the page scrolls."""
        return floating_nodes(page, visible)

    def _by_log_odds(
        self, page: Snapshot, blocks: MeasuredBlocks, odds: Ints, groups: Mapping[str, Ints]
    ) -> Verdict:
        """Return the verdict from the log-odds of the blocks, and what each group of features adds to them."""
        batch = page_batch(page)
        visible = shown_nodes(page)
        floating = self.floating(page, visible)
        likely = np.where(floating[blocks.voice], 0.0, probabilities(odds))
        balanced = choose_balanced(likely, blocks.words, blocks.long)
        beta = _BETA.get(self.favor)
        choice = balanced if beta is None else choose(likely, blocks.words, beta=beta)
        content = np.zeros(len(page), np.bool_)
        content[blocks.piece] = choice.kept[blocks.block]
        childless = visible & (page.end == np.arange(1, len(page) + 1)) & (page.kind == Kind.ELEMENT)
        kept = surrounded(batch, content, childless)
        reason = np.where(visible, _BOILERPLATE, _HIDDEN).astype(np.uint8)
        reason[floating & visible] = _FLOATS
        reason[kept] = _AROUND
        reason[content] = _CONTENT
        score = np.where(kept, np.float32(1), np.float32(0))
        score[blocks.piece] = likely[blocks.block]
        score[~visible] = 0
        columns: dict[str, F64] = {
            "words": blocks.words,
            "link_share": blocks.linked / np.maximum(blocks.words, _LEAST_WORDS),
            **{f"by_{name}": added / UNIT for name, added in groups.items()},
        }
        numbers = {}
        for name, column in columns.items():
            numbers[name] = np.full(len(page), np.nan, np.float32)
            numbers[name][blocks.piece] = column[blocks.block]
        return Verdict(
            self.name,
            kept,
            score,
            reason,
            _REASONS,
            numbers,
            self.scalars(),
            threshold=choice.threshold,
            expected_f1=self.model().calibration.f1(balanced.expected, single_share=blocks.single_share),
        )


ALIKE = 0.6
"""Weight of the mean of alike blocks in the log-odds of a block. From .4 to .85, little changes."""


def with_alike(odds: Ints, words: F64, likeness: Ints) -> Ints:
    """Return the log-odds of blocks, drawn towards the mean of the blocks like each, in units of 1/`UNIT`.

    The paragraphs of an article, or the rows of a table, are content together or not at all.

    Parameters
    ----------
    odds : (B,), the log-odds of each block by itself, in units of 1/`UNIT`.
    words : (B,), the number of words of each block; in the mean, a block counts with the square root of it.
    likeness : int64 (B,), from 0 on, equal for blocks with the same path and classes; see `likeness_of`.
    """
    weight = np.sqrt(np.maximum(words, _LEAST_WORDS))
    mean = np.bincount(likeness, weight * odds) / np.bincount(likeness, weight)
    return np.rint((1 - ALIKE) * odds + ALIKE * mean[likeness]).astype(np.int64)


def with_site(
    odds: Ints,
    words: F64,
    keeps: Bools,
    score: NDArray[np.float32],
    *,
    tree_odds: float = TREE_ODDS,
    tree_middle: float = TREE_MIDDLE,
) -> Ints:
    """Return the log-odds of blocks after combining them with the style tree of their site, in units of 1/`UNIT`.

    The log-odds of the page are multiplied by how far they agree with the tree: the square of the F1 that they expect
    of the tree's choice. If they disagree, the site is usually of a kind that the boosted trees have not seen.

    A low score counts half for blocks that the tree keeps all the same and that may be content by the page: what a
    reference says on every page, such as "Methods", is content there.

    Parameters
    ----------
    odds : (B,), the log-odds from the page alone, in units of 1/`UNIT`.
    words : (B,), the number of words of each block.
    keeps, score : (B,), whether the style tree keeps each block, and its score in [0, 1].
    tree_odds, tree_middle : see `TREE_ODDS`.
    """
    probability = probabilities(odds)
    true = probability * words
    common, kept, whole = (_sum(column) for column in (true[keeps], words[keeps], true))
    agreed = 2 * common / (kept + whole) if common > 0 else 0.0
    by_tree = tree_odds * (score.astype(np.float64) - tree_middle)
    by_tree[keeps & (by_tree < 0) & (probability >= _MAYBE_CONTENT)] *= _SPARED
    return np.rint(agreed**2 * odds + UNIT * by_tree).astype(np.int64)


def _sum(column: F64) -> float:
    # cumsum adds one by one; the order of np.sum, and so its rounding, depends on the processor.
    return float(np.cumsum(column)[-1]) if column.size else 0.0
