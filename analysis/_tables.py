"""Additive tables: rows of unique 64-bit key whose integer columns add up when tables are merged.

All that a site model knows lies in such tables, so models of parts of a site merge into the model of the whole,
in any order and to the last bit: sums are integers, and what is not a sum is a function of the key.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis._hash import U64

Column = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """R rows in ascending order of `key`.

    Parameters
    ----------
    key : uint64 (R,), unique.
    fixed : columns that the key determines.
    sums : int64 columns that add up.
    """

    key: U64
    fixed: Mapping[str, Column]
    sums: Mapping[str, NDArray[np.int64]]

    def __len__(self) -> int:
        return self.key.size

    @property
    def nbytes(self) -> int:
        """Bytes held by all columns."""
        return self.key.nbytes + sum(c.nbytes for c in (*self.fixed.values(), *self.sums.values()))

    def find(self, keys: U64) -> NDArray[np.int64]:
        """Return the row of each key, -1 where there is none."""
        if not len(self):
            return np.full(keys.shape, -1, np.int64)
        at = np.minimum(np.searchsorted(self.key, keys), len(self) - 1)
        return np.where(self.key[at] == keys, at, -1)


def grouped(key: U64, fixed: Mapping[str, Column], sums: Mapping[str, NDArray[np.int64]]) -> Table:
    """Return the table of rows that may share keys: sums added, fixed columns taken from any row; O(R log R)."""
    order = np.argsort(key)
    ordered = key[order]
    fresh = np.ones(key.size, np.bool_)
    fresh[1:] = ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(fresh)
    if starts.size == key.size:
        return Table(ordered, {n: c[order] for n, c in fixed.items()}, {n: c[order] for n, c in sums.items()})
    return Table(
        ordered[starts],
        {n: c[order[starts]] for n, c in fixed.items()},
        {n: np.add.reduceat(c[order], starts) if key.size else c for n, c in sums.items()},
    )


def merged(tables: Sequence[Table]) -> Table:
    """Return one table with the rows of all; at least one table, all with the same columns."""
    if len(tables) == 1:
        return tables[0]
    first = tables[0]
    return grouped(
        np.concatenate([t.key for t in tables]),
        {n: np.concatenate([t.fixed[n] for t in tables]) for n in first.fixed},
        {n: np.concatenate([t.sums[n] for t in tables]) for n in first.sums},
    )
