"""The longest chain of like neighbouring groups among siblings, as WOBM takes it. Imports the regions."""

from collections.abc import Callable, Sequence

import numpy as np

from domsieve.analysis.columns.batch import F64
from domsieve.analysis.records.regions import Block, chain_lengths


class Chains:
    """The chains of like groups of one page.

    Parameters
    ----------
    near : distances of neighbouring groups by length, as `neighbours` gives them.
    """

    def __init__(self, near: Sequence[F64]) -> None:
        runs = np.stack([chain_lengths(np.isfinite(distance), j) for j, distance in enumerate(near, 1)])
        covered = np.where(runs > 0, (runs + 1) * np.arange(1, len(near) + 1)[:, None], 0)
        best = covered.argmax(0)  # of equal ones the shortest groups, principle 2
        self._covered = covered[best, np.arange(best.size)]
        self._length = best + 1
        self._rank = self._covered * (len(near) + 1) - self._length

    def among(self, low: int, high: int) -> Callable[[int], Block | None]:
        """Return what tells, for the siblings of one parent at positions `low` to `high`, the chain to take next.

        Given a position, it is the chain that covers most of the siblings from there on; of chains that cover the
        same, the shorter groups win, then the smaller start. None where there is none.
        """
        backwards = self._rank[low:high][::-1]
        best = np.maximum.accumulate(backwards)
        at = np.maximum.accumulate(np.where(backwards == best, np.arange(best.size), 0))
        chosen = (high - 1 - at)[::-1]

        def longest(position: int) -> Block | None:
            if position >= high or not self._covered[start := int(chosen[position - low])]:
                return None
            return Block.adjacent(int(self._length[start]), start, int(self._covered[start]))

        return longest
