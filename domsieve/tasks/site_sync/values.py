"""The values of a run: changes of pages, and what became of every page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from domsieve.analysis.changes.passages import PassageChange
from domsieve.errors import DomsieveError

PageChangeKind = Literal["added", "changed", "gone", "moved"]
KIND_NAMES: Mapping[PageChangeKind, str] = {
    "added": "New",
    "changed": "Changed",
    "moved": "Moved",
    "gone": "Gone",
}
"""What pages and feeds call each kind, in their order."""


class PageChange(msgspec.Struct, frozen=True, kw_only=True):
    """A page that was added, changed, moved or gone: a line of ``changes.jsonl``.

    Parameters
    ----------
    run : number of the run that found it, from 1.
    at : UTC time of the run, ISO 8601.
    kind : what happened to the page.
    url : address of the page; of one that moved, the new one.
    title : the first heading of its content; empty if it has none.
    file : its file in the folder.
    was : its address before it moved; empty otherwise.
    passages : its passages that were added, edited, removed or moved; all of them for pages that were added or are
        gone.
    """

    run: int
    at: str
    kind: PageChangeKind
    url: str
    file: str
    title: str = ""
    was: str = ""
    passages: tuple[PassageChange, ...] = ()


@dataclass(frozen=True, slots=True)
class SyncedPage:
    """A page without changes.

    Parameters
    ----------
    url : address of the page.
    file : its file in the folder.
    """

    url: str
    file: str


@dataclass(frozen=True, slots=True)
class FailedPage:
    """A page that could not be loaded or cleaned; its file stays as it was.

    Parameters
    ----------
    url : address of the page.
    error : why it failed.
    """

    url: str
    error: DomsieveError


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncResult:
    """What a run has found.

    Parameters
    ----------
    run : the number of the run, from 1. In the first run, all pages are added.
    changes : the changes, by address.
    unchanged : pages without changes.
    failed : pages that could not be loaded or cleaned.
    kept : files that a user edited or added, and that were therefore neither written nor removed.
    layout_changed : whether the site has a new layout, and was learned anew.
    is_complete : whether all pages were visited; False if a limit was reached.
    limit : which limit of the service ended the visit, in a sentence; empty for none.
    """

    run: int
    changes: Sequence[PageChange] = ()
    unchanged: Sequence[SyncedPage] = ()
    failed: Sequence[FailedPage] = ()
    kept: Sequence[str] = field(default=())
    layout_changed: bool = False
    is_complete: bool = True
    limit: str = ""

    @property
    def added(self) -> list[PageChange]:
        """Pages that were not there before."""
        return self._of("added")

    @property
    def changed(self) -> list[PageChange]:
        """Pages whose content changed."""
        return self._of("changed")

    @property
    def moved(self) -> list[PageChange]:
        """Pages with a new address."""
        return self._of("moved")

    @property
    def gone(self) -> list[PageChange]:
        """Pages that are no longer there."""
        return self._of("gone")

    def _of(self, kind: PageChangeKind) -> list[PageChange]:
        return [change for change in self.changes if change.kind == kind]
