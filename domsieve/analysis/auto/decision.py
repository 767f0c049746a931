"""Which blocks to keep, by their probabilities: those that together are expected to have the highest F-beta.

With F the best value there is, a block raises it exactly when its probability is above F / (1 + beta²) (Dinkelbach's
method; Ye, Chai, Lee, Chieu: ICML 2012). beta below 1 favours precision, above 1 recall.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools

_RUNNING_COUNTS = 0.78
"""How far beta² falls below 1 on a page that is all running text; chosen on pages that nothing was learned from."""


class Choice(NamedTuple):
    """The blocks that are kept, bool (B,); and the expected F-beta, in [0, 1]."""

    kept: Bools
    expected: float


def choose(probability: F64, words: F64, *, beta: float = 1.0) -> Choice:
    """Return the best choice of B blocks by the probability of each, and its words; O(B log B).

    Nothing is chosen, and expected to be nothing, where no block has a word.
    """
    weight = 1 + beta**2
    order = np.argsort(-probability, kind="stable")
    true = np.cumsum((probability * words)[order])
    size = np.cumsum(words[order])
    if not size.size or size[-1] <= 0 or true[-1] <= 0:
        return Choice(np.zeros(probability.size, np.bool_), 0.0)
    # The best choice is a beginning of the blocks in the order of their probability, so all of them are tried.
    expected = weight * true / (size + beta**2 * true[-1])
    best = int(np.argmax(expected))
    kept = np.zeros(probability.size, np.bool_)
    kept[order[: best + 1]] = True
    return Choice(kept, float(expected[best]))


def choose_balanced(probability: F64, words: F64, running: Bools) -> Choice:
    """Return the choice of B blocks by default, and the F1 that is expected of the best one.

    The more of what is likely content is running text, the more precision is favoured: an article loses little with a
    doubtful block, while a list, a shop or a page of offers is made of doubtful blocks.

    Parameters
    ----------
    running : bool (B,), long paragraphs.
    """
    first = choose(probability, words)
    # Sums one by one, so that the processor has no say in the order.
    likely = np.cumsum(
        np.stack((probability * words * first.kept, probability * words * first.kept * running)), axis=1
    )
    if not likely.size or likely[0, -1] <= 0:
        return first
    share = float(likely[1, -1] / likely[0, -1])
    return Choice(choose(probability, words, beta=sqrt(1 - _RUNNING_COUNTS * share)).kept, first.expected)
