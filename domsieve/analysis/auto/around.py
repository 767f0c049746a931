"""The elements around the blocks of a page, level by level, and what they hold.

Imports the measured blocks.
"""

from dataclasses import dataclass

import numpy as np

from domsieve.analysis.auto.measured import MeasuredBlocks
from domsieve.analysis.columns.batch import F64, Bools, Ints

MOST_LEVELS = 48


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """The L levels of elements around B blocks; the root stands for all levels above it.

    Parameters
    ----------
    node : int64 (L, B), ``node[0]`` is the innermost element around all of each block, the rest their parents.
    first, last : int64 (L, B), those elements hold the blocks ``first .. last - 1``.
    depth : int64 (B,), how many elements stand above the innermost one, at most L.
    """

    node: Ints
    first: Ints
    last: Ints
    depth: Ints

    @classmethod
    def of(cls, blocks: MeasuredBlocks) -> "Around":
        """Return the elements around the blocks of a page, `MOST_LEVELS` of them at most; O(L * B)."""
        parent = blocks.page.parent
        levels = [blocks.around]
        while len(levels) < MOST_LEVELS and levels[-1].any():
            levels.append(np.maximum(parent[levels[-1]], 0).astype(np.int64))
        node = np.stack(levels)
        first = np.searchsorted(blocks.start, node)
        last = np.searchsorted(blocks.start, blocks.page.end[node])
        return cls(node, first, last, np.count_nonzero(node, axis=0))

    def any_of(self, nodes: int) -> Bools:
        """Return which of the `nodes` of the page are among them."""
        found = np.zeros(nodes, np.bool_)
        found[self.node.ravel()] = True
        return found

    def level(self, wanted: int) -> int:
        """Return the level, or the last there is."""
        return min(wanted, len(self.node) - 1)

    def held(self, before: F64, level: int) -> F64:
        """Return the sum over what the elements of a level hold, from sums (B + 1,) over the blocks before each."""
        level = self.level(level)
        return np.asarray(before[self.last[level]] - before[self.first[level]])

    def levels_to(self, other: Ints) -> Ints:
        """Return how many levels above each block the element lies that holds the block `other` (B,) as well."""
        holds = (self.first <= other) & (self.last > other)
        return np.where(holds.any(axis=0), holds.argmax(axis=0), len(self.node))
