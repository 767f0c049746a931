"""Which blocks to keep, by their probabilities: those that together are expected to have the highest F-beta.

With F the best value there is, a block raises it exactly when its probability is above F / (1 + beta²) (Dinkelbach's
method; Ye, Chai, Lee, Chieu: ICML 2012). beta below 1 favours precision, above 1 recall.
"""

from typing import NamedTuple

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools

_ROUNDS = 60


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
