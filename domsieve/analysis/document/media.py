"""Keep the pictures, videos and sounds that are within kept text."""

from dataclasses import replace

import numpy as np

from domsieve.analysis.columns.batch import Bools, Ints, prune
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.columns.page_columns import MEDIA, attributes_of, has_tag
from domsieve.analysis.columns.visible import never_shown, shown_nodes
from domsieve.analysis.document.document_tree import document_of
from domsieve.analysis.verdict import Verdict
from domsieve.budget import spending
from domsieve.snapshot.page import Snapshot

MEDIA_REASON = "a picture or player within kept text"
_SMALLEST_PX = 48  # a guess: smaller pictures are icons, faces and pixels that count visits


def with_media(page: Snapshot, verdict: Verdict) -> Verdict:
    """Return the verdict with the pictures, videos and sounds kept that have kept text right before and after them.

    Pictures are mostly in elements without text, which no method keeps by itself. Those under 48 px, as far as boxes
    and attributes tell, stay as they are, and so do verdicts of method ``"none"``, of mode ``"paper"`` and of the
    complement of a region.

    Raises
    ------
    BudgetError : the page has used its budget.
    """
    if not verdict.may_be_refined or not verdict.kept.any():
        return verdict
    with spending("media", page.provenance.url):
        node = np.flatnonzero(has_tag(page, *MEDIA) & ~verdict.kept)
        node = node[_is_within(page, node, verdict.kept)]
        node = node[shown_nodes(page)[node] & ~_is_small(page, node)]
        if not node.size:
            return verdict
        new = np.zeros(len(page), np.bool_)
        for first in node.tolist():
            new[first : page.end[first]] = True
        new &= ~never_shown(page)
        kept = verdict.kept | prune(new, page.end)
        reason = verdict.reason.copy()
        reason[kept & ~verdict.kept] = len(verdict.reasons)
    return replace(verdict, kept=kept, reason=reason, reasons=(*verdict.reasons, MEDIA_REASON))


def _is_within(page: Snapshot, node: Ints, kept: Bools) -> Bools:
    """Return which elements have no visible text, and are between two kept blocks without another one between."""
    document = document_of(page)
    start, is_kept = page_blocks(page).start[document.number], kept[document.voice]
    after = np.searchsorted(start, node)
    found = (after > 0) & (after < start.size) & (np.searchsorted(start, page.end[node]) == after)
    found[found] = is_kept[after[found] - 1] & is_kept[after[found]]
    return np.asarray(found)


def _is_small(page: Snapshot, node: Ints) -> Bools:
    width, height = page.box[node, 2:].T
    small = (width < _SMALLEST_PX) | (height < _SMALLEST_PX)  # NaN is not
    attributes = attributes_of(page)
    for name in ("width", "height"):
        sizes = attributes.found(name, _pixels)
        small |= np.array([sizes.get(one, _SMALLEST_PX) < _SMALLEST_PX for one in node.tolist()], np.bool_)
    return np.asarray(small)


def _pixels(value: str) -> int | None:
    digits = value.strip().removesuffix("px")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 6 else None
