"""Parts of pages that a caller chooses or leaves out by CSS selectors, before any method sees the page.

Imports columns, the Snapshot and the errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from domsieve.analysis.columns.batch import below, counted_before, prune
from domsieve.analysis.columns.tables import ranges
from domsieve.analysis.selection.selectors import Bools, Matcher, Selector, parse_selectors
from domsieve.errors import ContentError
from domsieve.snapshot.page import Snapshot

_NODE_COLUMNS = ("kind", "tag", "text", "style", "box", "paint")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which parts of a page are worked on.

    Parameters
    ----------
    select : CSS selectors; only what one of them matches stays, with all inside, beside the head of the page. None
        leaves the page whole.
    drop : CSS selectors of what goes, with all inside, even where `select` matches.

    Raises
    ------
    UsageError : one is no CSS selector, or asks for what a stored page cannot say.
    """

    select: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    _select: list[Selector] = field(init=False, repr=False, compare=False)
    _drop: list[Selector] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("select", "drop"):
            parsed = [one for css in getattr(self, name) for one in parse_selectors(css, parameter=name)]
            object.__setattr__(self, f"_{name}", parsed)

    def __bool__(self) -> bool:
        return bool(self.select or self.drop)

    def of(self, page: Snapshot) -> Snapshot:
        """Return the page with the parts that are chosen; O(N) for each part of a selector.

        What stands around them stays as elements without further content, so that they keep their place.

        Raises
        ------
        ContentError : `select` matches nothing.
        """
        matcher = Matcher(page)
        inside = np.ones(len(page), np.bool_)
        if self._select:
            found = matcher.matches(self._select)
            if not found.any():
                raise ContentError(
                    f"Nothing on the page matches {_listed(self.select)}.", url=page.provenance.url
                )
            inside = below(found | _heads(page), page.end.astype(np.int64))
        if self._drop:
            inside &= ~below(matcher.matches(self._drop), page.end.astype(np.int64))
        inside[0] = True
        kept = prune(inside, page.end)
        return page if kept.all() else _cut_out(page, kept)


def _listed(selectors: Sequence[str]) -> str:
    return ", ".join(map(repr, selectors))


def _heads(page: Snapshot) -> Bools:
    """Return the head of the page, which says what it is about."""
    is_head = np.array([name == "head" for name in page.tags], np.bool_)[page.tag]
    marks = np.zeros(len(page), np.bool_)
    marks[np.flatnonzero(is_head)[:1]] = True
    return marks


def _cut_out(page: Snapshot, kept: Bools) -> Snapshot:
    """Return a page of some of its nodes, with each of which all above it is kept."""
    nodes = np.flatnonzero(kept)
    before = counted_before(kept)
    columns: dict[str, Any] = {name: getattr(page, name)[nodes] for name in _NODE_COLUMNS}
    columns["parent"] = before[page.parent[nodes]].astype(np.int32)
    columns["parent"][0] = -1
    columns["end"] = before[page.end[nodes]].astype(np.int32)
    starts = page.attr_start.astype(np.int64)
    sizes = np.diff(starts)[nodes]
    columns["attr_start"] = counted_before(sizes).astype(np.int32)
    attributes, _ = ranges(starts[nodes], sizes)
    columns["attr_name"], columns["attr_value"] = page.attr_name[attributes], page.attr_value[attributes]
    return replace(page, **columns)
