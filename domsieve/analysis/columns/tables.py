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
    fixed : columns (R,) by name, whose values depend only on the key.
    sums : int64 columns (R,) by name, which are added when tables are merged.
    """

    key: U64
    fixed: Mapping[str, Column]
    sums: Mapping[str, Ints]

    def __len__(self) -> int:
        return self.key.size

    @property
    def nbytes(self) -> int:
        """Number of bytes in all columns."""
        return self.key.nbytes + sum(c.nbytes for c in (*self.fixed.values(), *self.sums.values()))

    def find(self, keys: U64) -> Ints:
        """Return the row of each key; -1 for unknown keys."""
        if not len(self):
            return np.full(keys.shape, -1, np.int64)
        at = np.minimum(np.searchsorted(self.key, keys), len(self) - 1)
        return np.where(self.key[at] == keys, at, -1)


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """R rows in G groups of equal key.

    Parameters
    ----------
    key : uint64 (G,), unique and ascending.
    order : int64 (R,), the rows by group: group g has the rows ``order[first[g]:first[g + 1]]``.
    first : int64 (G + 1,), where each group starts in `order`.
    """

    key: U64
    order: Ints
    first: Ints

    @property
    def sample(self) -> Ints:
        """One row of each group, shape (G,)."""
        return self.order[self.first[:-1]]

    @property
    def code(self) -> Ints:
        """The index of each row's group, shape (R,)."""
        code = np.empty(self.order.size, np.int64)
        code[self.order] = self._group_in_order()
        return code

    def sum(self, column: Column) -> Ints:
        """Return the sum of `column` (R,) over each group, shape (G,)."""
        return stretch_sums(column[self.order], self.first)

    def cells(self, column: Column, bound: int) -> tuple[Ints, Ints]:
        """Count how often each value of `column` occurs in each group.

        Parameters
        ----------
        column : (R,), from 0 to ``bound - 1``.

        Returns
        -------
        counts, first : group g has the counts ``counts[first[g]:first[g + 1]]``; values that do not occur are left
            out.
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
    """Group rows by key, in O(R log R).

    Parameters
    ----------
    key : (R,), the key of each row.
    nearly_sorted : the keys consist of a few ascending runs, which a stable sort exploits.
    """
    order = np.argsort(key, kind="stable" if nearly_sorted else "quicksort")
    ordered = key[order]
    fresh = np.ones(key.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    start = np.flatnonzero(fresh)
    return Grouping(ordered[start], order, np.append(start, key.size))


def stable_order(ranks: NDArray[Any]) -> Ints:
    """Return the stable sorting order of `ranks`, which are from 0 to their number minus 1."""
    bits = ranks.size.bit_length()
    # Sorting numbers that contain their own index is several times as fast as a stable argsort.
    keys = (ranks.astype(np.int64) << bits) | np.arange(ranks.size)
    keys.sort()
    return keys & ((1 << bits) - 1)


def sorted_set(values: Ints) -> Ints:
    """Return the distinct `values`, ascending; many times as fast as ``np.unique``, which uses a hash table."""
    values = np.sort(values)
    fresh = np.ones(values.size, np.bool_)
    np.not_equal(values[1:], values[:-1], out=fresh[1:])
    return values[fresh]


def ranges(start: Ints, size: Ints) -> tuple[Ints, Ints]:
    """Return the numbers in all ranges ``start[i] .. start[i] + size[i] - 1``, and the i of each number."""
    which = np.repeat(np.arange(size.size), size)
    before = np.cumsum(size) - size
    return np.arange(which.size) + (start - before)[which], which


def stretch_sums(values: Column, first: Ints) -> Ints:
    """Return the sum of each slice ``values[first[i]:first[i + 1]]``; slices must not be empty."""
    return np.add.reduceat(values, first[:-1], dtype=np.int64) if values.size else np.zeros(0, np.int64)


def merged(tables: Sequence[Table]) -> Table:
    """Return the sum of one or more tables with the same columns."""
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
    """Return a table from rows whose keys may repeat: sums of equal keys are added.

    Parameters
    ----------
    key, fixed, sums : columns (R,), as in `Table`.
    nearly_sorted : see `grouping`.
    """
    groups = grouping(key, nearly_sorted=nearly_sorted)
    sample = groups.sample
    return Table(
        groups.key, {n: c[sample] for n, c in fixed.items()}, {n: groups.sum(c) for n, c in sums.items()}
    )


_MOST = 1 << 62  # so that no sum over a column overflows


@dataclass(frozen=True, slots=True)
class TableForm:
    """The schema of a table.

    Parameters
    ----------
    fixed : numpy type strings of the fixed columns by name, such as ``"<u8"``.
    sums : names of the columns of sums, which must not be negative.
    key_of : the two fixed columns that the key is the combined hash of; None if the key is something else.
    """

    fixed: Mapping[str, str]
    sums: tuple[str, ...] = ()
    key_of: tuple[str, str] | None = None

    def check(self, name: str, table: object) -> None:
        """Raise an error unless a table has this schema.

        Parameters
        ----------
        name : the table's name, for messages.
        table : the value to check.

        Raises
        ------
        TypeError : `table` is not a `Table`.
        ValueError : it has other columns, unsorted rows, impossible sums or keys that do not match its rows.
        """
        if not isinstance(table, Table):
            raise TypeError(f"{name} is not a table")
        types = {"key": table.key.dtype.str, **_types(table.fixed), **_types(table.sums)}
        if (
            types != {"key": "<u8", **self.fixed, **dict.fromkeys(self.sums, "<i8")}
            or table.fixed.keys() != self.fixed.keys()
        ):
            raise ValueError(f"{name} has the wrong columns")
        if (table.key[1:] <= table.key[:-1]).any():
            raise ValueError(f"{name} has unsorted or duplicate rows")
        for column in table.sums.values():
            if column.size and (int(column.min()) < 0 or int(column.max()) > _MOST // column.size):
                raise ValueError(f"{name} has impossible sums")
        if self.key_of and (table.key != combine(*(table.fixed[part] for part in self.key_of))).any():
            raise ValueError(f"{name} has keys that do not match its rows")


def check_known(name: str, keys: U64, table: Table) -> None:
    """Raise an error unless `table` has a row for each of the `keys`.

    Parameters
    ----------
    name : the table that the keys come from, for messages.

    Raises
    ------
    ValueError : a row is missing.
    """
    if (table.find(keys) < 0).any():
        raise ValueError(f"{name} refers to rows that do not exist")


def _types(columns: Mapping[str, np.ndarray[tuple[int], np.dtype[np.generic]]]) -> dict[str, str]:
    return {name: column.dtype.newbyteorder("<").str for name, column in columns.items()}
