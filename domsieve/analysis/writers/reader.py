"""Nodes and attributes of a page for writers that look for single ones.

Imports the Snapshot and parts of the HTML writer.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from domsieve.analysis.writers.html import Source
from domsieve.snapshot import Snapshot

Found = TypeVar("Found")


class Reader(Source):
    """The columns of a page as lists, and its addresses."""

    def given(self, node: int) -> dict[str, str]:
        """Return the attributes of `node`; of two of one name the first counts, as in browsers."""
        found: dict[str, str] = {}
        for name, value in self.attributes(node):
            found.setdefault(name, value)
        return found

    def address(self, node: int, value: str, *, linked: bool = False) -> str:
        """Return an address in an attribute of `node` made absolute, empty when it must not be written."""
        return (value and self._addresses.absolute(node, value, linked=linked)) or ""


class AttributeIndex:
    """The attributes of a page by name; each distinct value is tested once."""

    def __init__(self, page: Snapshot) -> None:
        self._strings = page.strings
        self._owner = np.repeat(np.arange(len(page)), np.diff(page.attr_start))
        self._name, self._value = page.attr_name, page.attr_value
        names = np.unique(self._name).tolist()
        self._ids = dict(zip(page.strings.take(names), names, strict=True))

    def found(self, name: str, test: Callable[[str], Found | None]) -> dict[int, Found]:
        """Return by node what `test` makes of the attribute's value, where it is not None."""
        if name not in self._ids:
            return {}
        at = np.flatnonzero(self._name == self._ids[name])
        ids = np.unique(self._value[at]).tolist()
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
