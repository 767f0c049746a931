"""Choose which blocks to keep from their probabilities: the set with the highest expected F-beta.

If F is the best possible value, keeping a block increases it exactly if its probability is above F / (1 + beta²)
(Dinkelbach's method; Ye, Chai, Lee, Chieu: Optimizing F-measure, ICML 2012). A beta below 1 favours precision, one
above 1 recall.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools

_RUNNING_COUNTS = 0.78
"""How far beta² is below 1 on a page with nothing but running text; fitted on the development pages of WCXB."""


class Choice(NamedTuple):
    """Which blocks to keep, bool (B,), and the expected F-beta, in [0, 1]."""

    kept: Bools
    expected: float


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
        return Choice(np.zeros(probability.size, np.bool_), 0.0)
    # The best choice is a prefix of the blocks sorted by probability, so all prefixes are tried.
    expected = weight * true / (size + beta**2 * true[-1])
    best = int(np.argmax(expected))
    kept = np.zeros(probability.size, np.bool_)
    kept[order[: best + 1]] = True
    return Choice(kept, float(expected[best]))


def choose_balanced(probability: F64, words: F64, running: Bools) -> Choice:
    """Return the default choice of blocks, with the expected F1 of the choice for beta 1.

    The larger the share of running text in the likely content, the more precision is favoured: an article loses
    little with a doubtful block, but lists, shops and pages of offers consist of doubtful blocks.

    Parameters
    ----------
    probability, words : (B,), as for `choose`.
    running : bool (B,), which blocks are long paragraphs.
    """
    first = choose(probability, words)
    # cumsum adds one by one; the order of np.sum, and so its rounding, depends on the processor.
    likely = np.cumsum(
        np.stack((probability * words * first.kept, probability * words * first.kept * running)), axis=1
    )
    if not likely.size or likely[0, -1] <= 0:
        return first
    share = float(likely[1, -1] / likely[0, -1])
    return Choice(choose(probability, words, beta=sqrt(1 - _RUNNING_COUNTS * share)).kept, first.expected)
