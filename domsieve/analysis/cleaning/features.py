"""Block features: a page method that weighs what a block of text and its surroundings look like.

A logistic regression over the figures of `block_features` gives each block the probability that it is content. Its
weights were learned on labelled pages of many sites and kinds; `evaluation/` holds how, and says by how much weights
learned again differ from those beside this file. Imports the columns, the figures and the Verdict.
"""

from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from domsieve.analysis.cleaning.block_features import FEATURES, block_features
from domsieve.analysis.cleaning.floating import floating_nodes
from domsieve.analysis.columns.batch import F64, page_batch, surrounded
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.columns.visible import shown_nodes
from domsieve.analysis.estimator import PageEstimator, Share
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot import Kind, Snapshot

_REASONS = (
    "not visible",
    "looks like boilerplate",
    "looks like content",
    "around content",
    "nothing here looks like content",
    "floats over the page",
)
_HIDDEN, _BOILERPLATE, _CONTENT, _AROUND, _UNLIKE, _FLOATS = range(len(_REASONS))
_SHOWN = {"words": "words", "link_share": "link share", "words_around": "4 above: words"}


class FeatureWeights(msgspec.Struct, frozen=True):
    """The weights of a logistic regression over the figures of a block.

    Parameters
    ----------
    bias : the log-odds of content when all figures are 0.
    weights : what one unit of each figure adds to them, by its name, in the order of `FEATURES`.
    """

    bias: float
    weights: dict[str, float]


class BlockFeatures(PageEstimator[Verdict]):
    """Keeps the blocks of a page that look like content, from this page alone.

    Of a rendered page, what stays in place while the page is scrolled (``position: fixed``) is no content, unless it
    holds half of the words: consent boxes and bars read like content, and the weights know no boxes.

    The score of a text is the probability of its block. Numbers of a text: ``words`` and ``link_share`` of its block,
    ``words_around``, those outside links in the element four levels above it.

    Parameters
    ----------
    threshold : in [0, 1], the least probability of a block that is kept; where no block has it, all visible text is
        kept, since a page unlike those that were learned from is likelier than one without content. Adding a block
        raises the F1 of a page when more than half of that F1 of it is content, so less than 0.5 is best.
    """

    name = "features"
    paper = None

    def __init__(self, *, threshold: Share = 0.35) -> None:
        self.threshold = threshold

    def _result(self, page: Snapshot) -> Verdict:
        blocks = page_blocks(page)
        figures = block_features(page, blocks)
        likely = content_probabilities(figures)
        batch = page_batch(page)
        visible = shown_nodes(page)
        text, block = blocks.node, blocks.block
        score = np.zeros(len(page), np.float32)
        score[text] = likely[block]
        content = np.zeros(len(page), np.bool_)
        floating = floating_nodes(page, visible)
        content[text] = visible[text] & ~floating[text] & (score[text] >= self.threshold)
        like_content = bool(content.any())
        if not like_content:
            content[text] = visible[text] & ~floating[text]
        reason = np.where(visible, _BOILERPLATE, _HIDDEN).astype(np.uint8)
        childless = visible & (page.end == np.arange(1, len(page) + 1)) & (page.kind == Kind.ELEMENT)
        whole = surrounded(batch, content, childless)
        reason[floating & visible] = _FLOATS
        reason[whole] = _AROUND
        reason[content] = _CONTENT if like_content else _UNLIKE
        score[~visible] = 0
        score[whole & ~content] = 1
        numbers = {}
        for name, feature in _SHOWN.items():
            column = figures[:, FEATURES.index(feature)]
            column = column if feature == "link share" else np.expm1(column)
            numbers[name] = np.full(len(page), np.nan, np.float32)
            numbers[name][text] = column[block]
        return Verdict(self.name, whole, score, reason, _REASONS, numbers, self.scalars())


def content_probabilities(figures: F64, weights: FeatureWeights | None = None) -> F64:
    """Return the probability (B,) of content for the figures (B, F) of blocks; by default by the shipped weights."""
    weights = weights or _weights()
    logit = figures @ np.array([weights.weights[name] for name in FEATURES]) + weights.bias
    with np.errstate(over="ignore"):  # a word of a megabyte is no content, to any digit
        return np.asarray(1 / (1 + np.exp(-logit)))


@cache
def _weights() -> FeatureWeights:
    """Return the weights that come with the program."""
    return msgspec.json.decode(
        Path(__file__).with_name("feature_weights.json").read_bytes(), type=FeatureWeights
    )
