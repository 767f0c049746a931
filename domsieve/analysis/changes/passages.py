"""Passages of a version of a page, and the changes between two versions."""

from collections.abc import Container
from typing import Literal

import msgspec

from domsieve.analysis.writers.chunks import passage_id

ChangeKind = Literal["added", "edited", "removed", "moved"]


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A passage of a version of a page.

    Parameters
    ----------
    id : its id, which stays when the passage is edited or moves; empty before one is assigned.
    headings : headings above it, from the top level down to its own.
    fragment : id of its section in the page; empty if there is none.
    text : Markdown, including the headings directly above the passage.
    volatile : ranges of its words (see `words_in`) that are known to change from load to load, ascending.
    gaps : places between its words where text is known to come and go: k is the place before word k.
    """

    id: str = ""
    headings: tuple[str, ...] = ()
    fragment: str = ""
    text: str
    volatile: tuple[tuple[int, int], ...] = ()
    gaps: tuple[int, ...] = ()


class PassageChange(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that was added, edited, removed or moved.

    Parameters
    ----------
    kind : ``"edited"`` also if the passage moved as well.
    id : the id of the passage.
    headings : the headings above it, in the new version unless it was removed.
    fragment : id of its section in the page; empty if there is none.
    old, new : its text before and after; None where it is not there.
    """

    kind: ChangeKind
    id: str
    headings: tuple[str, ...]
    fragment: str = ""
    old: str | None = None
    new: str | None = None


def change_of(kind: ChangeKind, *, old: Passage | None, new: Passage | None) -> PassageChange:
    """Return the change from one version of a passage to the other; at least one is not None."""
    shown = new or old
    assert shown is not None
    return PassageChange(
        kind=kind,
        id=(old or shown).id,
        headings=shown.headings,
        fragment=shown.fragment,
        old=old.text if old else None,
        new=new.text if new else None,
    )


def new_id(address: str, text: str, taken: Container[str] = ()) -> str:
    """Return the id of a passage that is seen for the first time: a hash of the address of its page and its text.

    Parameters
    ----------
    address : address of the page.
    text : text of the passage.
    taken : ids of other passages of the page, for equal texts.
    """
    number = 0
    while (found := passage_id(address, text, before=number)) in taken:
        number += 1
    return found
