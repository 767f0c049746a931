"""What a site model has counted, as plain values for MessagePack: in model files and in pickles.

Tables become columns with their types; nothing in them is code. Imports the tables.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from domsieve.analysis.columns.tables import Table

_TYPES = frozenset(["<u8", "<i8", "<i4", "|b1"])
_MOST_PAGES = 1 << 40


def packed_counts(counts: Any) -> dict[str, Any]:
    """Return the fields of counts, a frozen dataclass, as plain values."""
    return {field.name: _pack(getattr(counts, field.name)) for field in fields(counts)}


def unpacked_counts(make: Callable[..., Any], packed: dict[str, Any]) -> Any:
    """Return the counts that `packed_counts` was given.

    Parameters
    ----------
    make : their class, whose `check` refuses those that cannot be.
    packed : their fields, from MessagePack.

    Raises
    ------
    ValueError, TypeError, KeyError, AttributeError : they are none.
    """
    counts = make(**{name: _unpack(value) for name, value in packed.items()})
    if type(counts.pages) is not int or not 0 < counts.pages <= _MOST_PAGES:
        raise ValueError("a number of pages that cannot be")
    counts.check()
    return counts


def _pack(value: Any) -> Any:
    """Return a field of counts as MessagePack knows it: a table as a map, all else as it is."""
    if not isinstance(value, Table):
        return value
    return {
        "key": _bytes(value.key),
        "fixed": {name: _bytes(column) for name, column in value.fixed.items()},
        "sums": {name: _bytes(column) for name, column in value.sums.items()},
    }


def _unpack(packed: Any) -> Any:
    if isinstance(packed, list):
        return tuple(packed)
    if not isinstance(packed, dict):
        return packed
    table = Table(
        _array(packed["key"]),
        {name: _array(column) for name, column in packed["fixed"].items()},
        {name: _array(column) for name, column in packed["sums"].items()},
    )
    if any(column.shape != table.key.shape for column in (*table.fixed.values(), *table.sums.values())):
        raise ValueError("columns of different length")
    return table


def _bytes(column: np.ndarray[Any, Any]) -> tuple[str, bytes]:
    column = column.astype(column.dtype.newbyteorder("<"), copy=False)
    return column.dtype.str, column.tobytes()


def _array(packed: tuple[str, bytes]) -> np.ndarray[Any, Any]:
    kind, data = packed
    if kind not in _TYPES:
        raise ValueError(f"a column of type {kind}")
    return np.frombuffer(data, kind)
