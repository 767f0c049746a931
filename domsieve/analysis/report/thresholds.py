"""Help to choose the threshold of a site style tree: what each value keeps, and the widest gap between blocks.

The authors of the method (Yi, Liu, Li; KDD 2003) chose thresholds by inspecting pages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.page_blocks import PageBlocks, page_blocks
from domsieve.analysis.report.view import DROPPED, judge
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.budget import spending_on_site
from domsieve.snapshot.page import Snapshot

LOW, HIGH, STEPS = 0.05, 0.4, 8
_EXAMPLES = 2


@dataclass(frozen=True, slots=True)
class ThresholdStep:
    """What one threshold keeps.

    Parameters
    ----------
    threshold : blocks with at most this importance are noise; in [0, 1].
    words, blocks : numbers of kept visible words and blocks.
    border : texts of the largest blocks that this threshold drops and the next lower one keeps.
    """

    threshold: float
    words: int
    blocks: int
    border: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThresholdHelp:
    """What thresholds between `LOW` and `HIGH` keep.

    Parameters
    ----------
    pages, words, blocks : numbers of pages, visible words and visible blocks.
    used : threshold of the model, NaN without pages.
    steps : results by threshold, ascending.
    gap : the widest range between `LOW` and `HIGH` that contains no block's importance; the first of equal ones.
    proposed : middle of the gap, where a small change of the threshold changes nothing.
    """

    pages: int
    words: int
    blocks: int
    used: float
    steps: tuple[ThresholdStep, ...]
    gap: tuple[float, float]
    proposed: float


def threshold_help(model: SiteStyleTree, pages: Sequence[Snapshot]) -> ThresholdHelp:
    """Return what different thresholds keep of some pages.

    Parameters
    ----------
    model : a fitted site style tree.
    pages : pages of the site, which need not be among those that the model learned from.

    Raises
    ------
    ModelError : the model is not fitted, or was fitted to pages of another producer.
    """
    with spending_on_site("explain", pages=len(pages)):
        return _help(model, pages)


def _help(model: SiteStyleTree, pages: Sequence[Snapshot]) -> ThresholdHelp:
    found = [page_blocks(page) for page in pages]
    scores = np.concatenate(
        [np.zeros(0), *(_scores(model, page, blocks) for page, blocks in zip(pages, found, strict=True))]
    )
    used: Any = [model.transform(page).parameters["threshold"] for page in pages[:1]]
    before: list[NDArray[np.bool_]] = []
    steps: list[ThresholdStep] = []
    for threshold in np.linspace(LOW, HIGH, STEPS).round(4).tolist():
        twin = type(model)(**model.get_params()).set_params(threshold=threshold)
        twin.restore(model.counts_, style=model.style_)
        kept = [
            (judge(blocks, twin.transform(page)).state != DROPPED) & (blocks.hidden == 0)
            for page, blocks in zip(pages, found, strict=True)
        ]
        lost = [was & ~now for was, now in zip(before or kept, kept, strict=True)]
        steps.append(
            ThresholdStep(
                threshold,
                sum(int(blocks.words[of_page].sum()) for blocks, of_page in zip(found, kept, strict=True)),
                sum(int(of_page.sum()) for of_page in kept),
                _largest(found, lost),
            )
        )
        before = kept
    gap = _widest_gap(scores)
    return ThresholdHelp(
        pages=len(pages),
        words=sum(int(blocks.words[blocks.hidden == 0].sum()) for blocks in found),
        blocks=sum(int((blocks.hidden == 0).sum()) for blocks in found),
        used=float(used[0]) if used else float("nan"),
        steps=tuple(steps),
        gap=gap,
        proposed=round(sum(gap) / 2, 4),
    )


def _scores(model: SiteStyleTree, page: Snapshot, blocks: PageBlocks) -> NDArray[np.float64]:
    score = judge(blocks, model.transform(page)).score.astype(np.float64)
    return np.asarray(score[blocks.hidden == 0])


def _largest(found: Sequence[PageBlocks], lost: Sequence[NDArray[np.bool_]]) -> tuple[str, ...]:
    """Return the texts of the lost blocks with the most words, each text once."""
    texts = {
        blocks.text[i]: int(blocks.words[i])
        for blocks, of_page in zip(found, lost, strict=True)
        for i in np.flatnonzero(of_page).tolist()
    }
    return tuple(sorted(texts, key=lambda text: (-texts[text], text))[:_EXAMPLES])


def _widest_gap(scores: NDArray[np.float64]) -> tuple[float, float]:
    inside = np.unique(scores[(scores > LOW) & (scores < HIGH)]).tolist()
    low, high = max(pairwise([LOW, *inside, HIGH]), key=lambda pair: round(pair[1] - pair[0], 9))
    return round(low, 4), round(high, 4)
