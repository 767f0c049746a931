"""The attributes of a page by name. Imports the Snapshot."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from domsieve.analysis.columns.batch import Ints, distinct
from domsieve.analysis.columns.shared import once_per_page
from domsieve.snapshot import Snapshot

Found = TypeVar("Found")


@once_per_page
def attributes_of(page: Snapshot) -> "AttributeIndex":
    """Return the attributes of a page."""
    return AttributeIndex(page)


class AttributeIndex:
    """Finds the nodes of a page with an attribute; each distinct value is read once."""

    def __init__(self, page: Snapshot) -> None:
        self._strings = page.strings
        self._owner = np.repeat(np.arange(len(page)), np.diff(page.attr_start))
        self._name, self._value = page.attr_name, page.attr_value
        names = distinct(self._name, len(page.strings))[0].tolist()
        self._ids = dict(zip(page.strings.take(names), names, strict=True))

    def nodes(self, name: str) -> Ints:
        """Return the nodes with an attribute of this name, ascending."""
        return self._owner[self._at(name)]

    def values(self, name: str) -> tuple[Ints, list[str]]:
        """Return `nodes(name)` and the attribute's value for each of them."""
        at = self._at(name)
        ids, which = distinct(self._value[at], len(self._strings))
        values = self._strings.take(ids.tolist())
        return self._owner[at], [values[i] for i in which.tolist()]

    def strings(self, *names: str) -> tuple[Ints, Ints]:
        """Return the nodes with an attribute of one of the names, ascending, and the string ids of their values."""
        wanted = np.zeros(len(self._strings), np.bool_)
        wanted[[self._ids[name] for name in names if name in self._ids]] = True
        at = np.flatnonzero(wanted[self._name])
        return self._owner[at], self._value[at].astype(np.int64)

    def found(self, name: str, test: Callable[[str], Found | None]) -> dict[int, Found]:
        """Return by node what `test` makes of the attribute's value, where it is not None."""
        at = self._at(name)
        ids = distinct(self._value[at], len(self._strings))[0].tolist()
        passed = {
            i: found
            for i, value in zip(ids, self._strings.take(ids), strict=True)
            if (found := test(value)) is not None
        }
        if not passed:
            return {}
        at = at[np.isin(self._value[at], list(passed))]
        nodes, values = self._owner[at].tolist(), self._value[at].tolist()
        return {node: passed[value] for node, value in zip(nodes, values, strict=True)}

    def _at(self, name: str) -> Ints:
        return np.flatnonzero(self._name == self._ids.get(name, -1))
