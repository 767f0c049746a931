"""Additive tables: rows of unique 64-bit keys whose integer columns add up when tables are merged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Ints
from domsieve.analysis.columns.hash import U64, combine

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
    sums: Mapping[str, Ints]

    def __len__(self) -> int:
        return self.key.size

    @property
    def nbytes(self) -> int:
        """Bytes held by all columns."""
        return self.key.nbytes + sum(c.nbytes for c in (*self.fixed.values(), *self.sums.values()))

    def find(self, keys: U64) -> Ints:
        """Return the row of each key, -1 where there is none."""
        if not len(self):
            return np.full(keys.shape, -1, np.int64)
        at = np.minimum(np.searchsorted(self.key, keys), len(self) - 1)
        return np.where(self.key[at] == keys, at, -1)


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """R rows in G groups of equal key, groups in ascending order of `key`.

    Parameters
    ----------
    key : uint64 (G,), unique.
    order : int64 (R,), the rows of group g are ``order[first[g]:first[g + 1]]``.
    first : int64 (G + 1,).
    """

    key: U64
    order: Ints
    first: Ints

    @property
    def sample(self) -> Ints:
        """A row of each group, shape (G,)."""
        return self.order[self.first[:-1]]

    @property
    def code(self) -> Ints:
        """The group of each row, shape (R,)."""
        code = np.empty(self.order.size, np.int64)
        code[self.order] = self._group_in_order()
        return code

    def sum(self, column: Column) -> Ints:
        """Return the sum of `column` (R,) over each group, shape (G,)."""
        return stretch_sums(column[self.order], self.first)

    def cells(self, column: Column, bound: int) -> tuple[Ints, Ints]:
        """Return how often each value of `column` (R,), all below `bound`, stands in each group.

        Counts are given group by group, values that do not occur left out: those of group g are
        ``counts[first[g]:first[g + 1]]`` of the result (counts, first).
        """
        pair = self._group_in_order() * bound
        pair += column[self.order]
        pair.sort()
        start = np.flatnonzero(np.diff(pair, prepend=-1))
        counts = np.diff(start, append=pair.size)
        return counts, np.searchsorted(start, self.first)

    def _group_in_order(self) -> Ints:
        return np.repeat(np.arange(self.key.size), np.diff(self.first))


def grouping(key: U64, *, nearly_sorted: bool = False) -> Grouping:
    """Return the groups of equal keys; O(R log R), less if the keys consist of few ascending runs."""
    order = np.argsort(key, kind="stable" if nearly_sorted else "quicksort")
    ordered = key[order]
    fresh = np.ones(key.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    start = np.flatnonzero(fresh)
    return Grouping(ordered[start], order, np.append(start, key.size))


def stable_order(ranks: NDArray[Any]) -> Ints:
    """Return the order that sorts `ranks`, at least 0 and below their number, and keeps equal ones in place."""
    bits = ranks.size.bit_length()
    # Sorting numbers that hold their own index is several times as quick as a stable argsort.
    keys = (ranks.astype(np.int64) << bits) | np.arange(ranks.size)
    keys.sort()
    return keys & ((1 << bits) - 1)


def sorted_set(values: Ints) -> Ints:
    """Return the distinct `values`, ascending; many times as quick as numpy's own way over a hash table."""
    values = np.sort(values)
    fresh = np.ones(values.size, np.bool_)
    np.not_equal(values[1:], values[:-1], out=fresh[1:])
    return values[fresh]


def ranges(start: Ints, size: Ints) -> tuple[Ints, Ints]:
    """Return the numbers of the ranges ``start[i] .. start[i] + size[i] - 1``, and the i of each number."""
    which = np.repeat(np.arange(size.size), size)
    before = np.cumsum(size) - size
    return np.arange(which.size) + (start - before)[which], which


def stretch_sums(values: Column, first: Ints) -> Ints:
    """Return the sum of each stretch ``values[first[i]:first[i + 1]]``; none is empty."""
    return np.add.reduceat(values, first[:-1], dtype=np.int64) if values.size else np.zeros(0, np.int64)


def merged(tables: Sequence[Table]) -> Table:
    """Return one table with the rows of all; at least one table, all with the same columns."""
    if len(tables) == 1:
        return tables[0]
    first = tables[0]
    return grouped(
        np.concatenate([t.key for t in tables]),
        {n: np.concatenate([t.fixed[n] for t in tables]) for n in first.fixed},
        {n: np.concatenate([t.sums[n] for t in tables]) for n in first.sums},
        nearly_sorted=True,
    )


def grouped(
    key: U64, fixed: Mapping[str, Column], sums: Mapping[str, Ints], *, nearly_sorted: bool = False
) -> Table:
    """Return the table of rows that may share keys: sums added, fixed columns taken from any row."""
    groups = grouping(key, nearly_sorted=nearly_sorted)
    sample = groups.sample
    return Table(
        groups.key, {n: c[sample] for n, c in fixed.items()}, {n: groups.sum(c) for n, c in sums.items()}
    )


_MOST = 1 << 62  # so that no sum over a column overflows


@dataclass(frozen=True, slots=True)
class TableForm:
    """The form of a table.

    Parameters
    ----------
    fixed : types of its fixed columns by name, as numpy writes them.
    sums : names of its sums, at least 0 each.
    key_of : the two fixed columns whose pairs its keys stand for; None where its keys stand for something else.
    """

    fixed: Mapping[str, str]
    sums: tuple[str, ...] = ()
    key_of: tuple[str, str] | None = None

    def check(self, name: str, table: object) -> None:
        """Do nothing where a table has this form; `name` is its own, for messages.

        Raises
        ------
        ValueError, TypeError : it has another one.
        """
        if not isinstance(table, Table):
            raise TypeError(f"{name} is no table")
        types = {"key": table.key.dtype.str, **_types(table.fixed), **_types(table.sums)}
        if (
            types != {"key": "<u8", **self.fixed, **dict.fromkeys(self.sums, "<i8")}
            or table.fixed.keys() != self.fixed.keys()
        ):
            raise ValueError(f"{name} has other columns")
        if (table.key[1:] <= table.key[:-1]).any():
            raise ValueError(f"{name} has rows out of order")
        for column in table.sums.values():
            if column.size and (int(column.min()) < 0 or int(column.max()) > _MOST // column.size):
                raise ValueError(f"{name} has sums that cannot be")
        if self.key_of and (table.key != combine(*(table.fixed[part] for part in self.key_of))).any():
            raise ValueError(f"{name} has keys that are not those of its rows")


def check_known(name: str, keys: U64, table: Table) -> None:
    """Do nothing where a table has a row for each of the `keys` of another one, which is called `name`.

    Raises
    ------
    ValueError : it lacks one.
    """
    if (table.find(keys) < 0).any():
        raise ValueError(f"{name} names what is not there")


def _types(columns: Mapping[str, np.ndarray[tuple[int], np.dtype[np.generic]]]) -> dict[str, str]:
    return {name: column.dtype.newbyteorder("<").str for name, column in columns.items()}
