"""How the weights of block features are learned: labels of blocks from reviewed texts, and a logistic regression."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis import FEATURES, FeatureWeights, block_features, page_blocks
from domsieve.evaluation.corpora.wcxb_pages import Half, ReviewedPage
from domsieve.evaluation.measures.oracles import WordBlocks, best_choice
from domsieve.evaluation.measures.word_scores import count_words
from domsieve.renderer import parse_html

REGULARISATION = 0.1
FOLDS = 5


@dataclass(frozen=True, slots=True, eq=False)
class LabelledBlocks:
    """The B visible blocks of a page.

    Parameters
    ----------
    domain, half : of the page.
    figures : float (B, F), those of `FEATURES`.
    content : bool (B,), the blocks of the best choice: those that together give the highest word F1.
    words : the words of the blocks and of the truth.
    """

    domain: str
    half: Half
    figures: NDArray[np.float64]
    content: NDArray[np.bool_]
    words: WordBlocks


def label_blocks(page: ReviewedPage) -> LabelledBlocks:
    """Return the visible blocks of a page with their labels."""
    snapshot = parse_html(page.source, url=page.name, encoding="utf-8")
    blocks = page_blocks(snapshot)
    seen = np.flatnonzero(blocks.hidden == 0)
    counted: list[Counter[str]] = [count_words(blocks.text[block]) for block in seen.tolist()]
    words = WordBlocks.of(counted, count_words(page.truth))
    none, every = np.zeros(seen.size, np.bool_), np.ones(seen.size, np.bool_)
    content = best_choice(words, always=none, perhaps=every)
    return LabelledBlocks(page.domain, page.half, block_features(snapshot, blocks)[seen], content, words)


def learn_weights(pages: Sequence[LabelledBlocks]) -> FeatureWeights:
    """Return the weights learned from the blocks of pages.

    A block counts by the square root of its words over the fourth root of those of its page: long blocks matter
    more than short ones, and long pages not much more than short ones.
    """
    figures = np.concatenate([page.figures for page in pages])
    content = np.concatenate([page.content for page in pages])
    counts = [page.words.size / np.sqrt(max(int(page.words.size.sum()), 1)) for page in pages]
    # Loaded on use: every task of every experiment runs in a process of its own, and few learn anything.
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(C=REGULARISATION, max_iter=1000))
    model.fit(figures, content, logisticregression__sample_weight=np.sqrt(np.concatenate(counts)))
    scaler, regression = model[0], model[1]
    weights = regression.coef_[0] / scaler.scale_
    bias = float(regression.intercept_[0] - weights @ scaler.mean_)
    return FeatureWeights(
        round(bias, 6), {name: float(f"{w:.6g}") for name, w in zip(FEATURES, weights, strict=True)}
    )


def fold_of(domain: str) -> int:
    """Return the part of the cross-validation that a domain belongs to, from 0 to `FOLDS` - 1."""
    return hashlib.sha256(domain.encode()).digest()[1] % FOLDS
