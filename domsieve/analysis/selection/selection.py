"""Select or drop parts of pages by CSS selectors, before any method works on them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from domsieve.analysis.columns.batch import below, counted_before, prune
from domsieve.analysis.columns.tables import ranges
from domsieve.analysis.selection._selectors import Bools, Matcher, Selector, parse_selectors, parts_of
from domsieve.budget import spending
from domsieve.errors import ContentError, UsageError
from domsieve.snapshot.page import Snapshot

# Guesses, far above what people write: each part takes milliseconds on a large page.
_MOST_CHARACTERS = 20_000
_MOST_PARTS = 500
_NODE_COLUMNS = ("kind", "tag", "text", "style", "box", "paint")


@dataclass(frozen=True, slots=True)
class Selection:
    """The parts of a page to work on.

    Parameters
    ----------
    select : CSS selectors; only matching elements with everything inside them are kept, and the page's head. Empty
        for the whole page.
    drop : CSS selectors of elements to remove with everything inside them, even if `select` matches.

    Raises
    ------
    UsageError : a selector is invalid, or needs something that a stored page does not have, such as ``:hover``; or
        `select` or `drop` has more than 20,000 characters or 500 simple selectors, such as ``.a``.
    """

    select: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    _select: list[Selector] = field(init=False, repr=False, compare=False)
    _drop: list[Selector] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("select", "drop"):
            given: tuple[str, ...] = getattr(self, name)
            if sum(map(len, given)) > _MOST_CHARACTERS:
                raise UsageError(f"{name} has more than {_MOST_CHARACTERS:,} characters.", parameter=name)
            parsed = [one for css in given for one in parse_selectors(css, parameter=name)]
            if sum(parts_of(one.parsed_tree) for one in parsed) > _MOST_PARTS:
                raise UsageError(f"{name} has more than {_MOST_PARTS} simple selectors.", parameter=name)
            object.__setattr__(self, f"_{name}", parsed)

    def __bool__(self) -> bool:
        return bool(self.select or self.drop)

    def of(self, page: Snapshot) -> Snapshot:
        """Return the page with only the selected parts, in O(N) for each part of a selector.

        Ancestors of these parts are kept as elements without other content, so that the parts keep their place.

        Raises
        ------
        ContentError : `select` does not match any element.
        BudgetError : the page has exceeded its budget.
        """
        with spending("select", page.provenance.url):
            return self._of(page)

    def _of(self, page: Snapshot) -> Snapshot:
        matcher = Matcher(page)
        inside = np.ones(len(page), np.bool_)
        if self._select:
            matches = matcher.matches(self._select)
            if not matches.any():
                raise ContentError(
                    f"Nothing on the page matches {_listed(self.select)}.", url=page.provenance.url
                )
            inside = below(matches | _heads(page), page.end.astype(np.int64))
        if self._drop:
            inside &= ~below(matcher.matches(self._drop), page.end.astype(np.int64))
        inside[0] = True
        kept = prune(inside, page.end)
        return page if kept.all() else _cut_out(page, kept)


def _listed(selectors: Sequence[str]) -> str:
    return ", ".join(map(repr, selectors))


def _heads(page: Snapshot) -> Bools:
    """Return the head of the page, which has its title and other metadata, as marks (N,)."""
    is_head = np.array([name == "head" for name in page.tags], np.bool_)[page.tag]
    marks = np.zeros(len(page), np.bool_)
    marks[np.flatnonzero(is_head)[:1]] = True
    return marks


def _cut_out(page: Snapshot, kept: Bools) -> Snapshot:
    """Return a page with only the kept nodes; ancestors of kept nodes must be kept."""
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
