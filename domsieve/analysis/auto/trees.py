"""Boosted trees as arrays: what they say of many blocks at once, and what each group of figures adds to it.

The sum over the trees is one of whole numbers, so that it does not depend on the machine. A tree is not walked: each
of its questions is asked of all blocks, and strikes out the leaves that the answer leaves behind; the first leaf that
is left is the one a walk would end in (QuickScorer: Lucchese et al., SIGIR 2015). Imports only the columns.
"""

from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import F64, Ints

LEAVES = 16
UNIT = 1 << 16
"""Values of leaves are in this part of a logit."""
_HALF = 32
_SIGN = 1 << (_HALF - 1)
_MOST = 700.0  # what exp() bears


@dataclass(frozen=True, slots=True, eq=False)
class BoostedTrees:
    """T trees of at most `LEAVES` leaves over F figures, with K questions each.

    Leaves are numbered from left to right. A question is whether a figure is at most a threshold; if not, the leaves
    on its left are struck out. What is missing counts as less than everything, or as more. Trees with fewer questions
    ask for what is always so.

    Parameters
    ----------
    figure : int16 (K, T), the figure that each question is about.
    threshold : float32 (K, T).
    missing_is_less : bool (K, T), where a figure that is NaN belongs.
    struck : uint16 (K, T), the leaves that are struck out when the answer is no, as bits; never the last leaf.
    leaf : int32 (T, LEAVES), what each leaf adds to the log-odds of content, in `UNIT`.
    shares : int32 (G, T, LEAVES), how much of that each of G groups of figures has brought.
    bias : the log-odds before the first tree, in `UNIT`.
    """

    figure: NDArray[np.int16]
    threshold: NDArray[np.float32]
    missing_is_less: NDArray[np.bool_]
    struck: NDArray[np.uint16]
    leaf: NDArray[np.int32]
    shares: NDArray[np.int32]
    bias: int

    def leaves(self, figures: NDArray[np.float32]) -> Ints:
        """Return in which leaf of each tree each block ends, (T, B), from its figures (F, B)."""
        missing = np.isnan(figures)
        # Each figure twice: with what is missing above all thresholds, and below.
        both = np.concatenate((np.where(missing, np.inf, figures), np.where(missing, -np.inf, figures)))
        row = self.figure.astype(np.int64) + self.missing_is_less * len(figures)
        shape = self.leaf.shape[0], figures.shape[1]
        gone, told, no = np.zeros(shape, np.uint16), np.empty(shape, np.uint16), np.empty(shape, np.bool_)
        value = np.empty(shape, np.float32)
        for asked, threshold, struck in zip(row, self.threshold, self.struck, strict=True):
            both.take(asked, axis=0, out=value, mode="clip")  # without a mode numpy copies once more
            np.greater(value, threshold[:, None], out=no)
            np.multiply(no, struck[:, None], out=told)
            gone |= told
        # The lowest bit that is not set is the one that adding 1 sets.
        lowest = ~gone & (gone + np.uint16(1))
        return np.frexp(lowest.astype(np.float32))[1].astype(np.int64) - 1

    def log_odds(self, leaves: Ints) -> Ints:
        """Return the log-odds (B,) of content, in `UNIT`, of blocks that end in these leaves (T, B)."""
        values = self.leaf.ravel().take(leaves + self._first())
        return np.asarray(self.bias + values.sum(axis=0, dtype=np.int64))

    def shares_of(self, leaves: Ints) -> Ints:
        """Return what each group of figures adds to these log-odds, (G, B), in `UNIT`."""
        at = leaves + self._first()
        shares = self.shares.reshape(len(self.shares), -1).astype(np.int64)
        if len(shares) % 2:
            shares = np.concatenate((shares, np.zeros_like(shares[:1])))
        # Two groups in the halves of one number, since it is the look-ups that cost.
        sums = np.stack([pair.take(at).sum(axis=0) for pair in (shares[::2] << _HALF) + shares[1::2]])
        second = ((sums + _SIGN) & (2 * _SIGN - 1)) - _SIGN
        both = np.stack(((sums - second) >> _HALF, second), axis=1)
        return both.reshape(len(shares), -1)[: len(self.shares)]

    def _first(self) -> Ints:
        return np.arange(0, self.leaf.size, LEAVES)[:, None]


def probabilities(log_odds: Ints) -> F64:
    """Return the probabilities of log-odds in `UNIT`, to the same bit on every processor."""
    return 1 / (1 + np.array([exp(min(-x / UNIT, _MOST)) for x in log_odds.tolist()], np.float64))
