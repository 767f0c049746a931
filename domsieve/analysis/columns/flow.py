"""How the text of a page flows into lines: what stands between two neighbouring text nodes.

A reader sees a new line where a block starts or ends, and columns where table cells do. With layout the
computed ``display`` says what is a block; without it the tag does. Each kind of boundary is one cumulative
count over the nodes, so the gaps of all text nodes come from a few array operations. Imports the Snapshot.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import below, prune
from domsieve.snapshot import Kind, Snapshot

# What stands between two text nodes, or what an element puts around itself; the larger number wins.
NONE, SPACE, CELL, BREAK, BLOCK = range(5)


def word_set(text: str) -> frozenset[str]:
    """Return the words of `text`, parted by white space."""
    return frozenset(text.split())


_BY_TAG = {
    **dict.fromkeys(
        word_set(
            "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset "
            "figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html iframe legend "
            "li listing main menu nav ol optgroup option p plaintext pre search section summary table tbody "
            "tfoot thead title tr ul xmp"
        ),
        BLOCK,
    ),
    **dict.fromkeys(word_set("audio button input meter object progress select textarea video"), SPACE),
    **dict.fromkeys(("td", "th"), CELL),
    "br": BREAK,
}
_BY_DISPLAY = {
    **dict.fromkeys(
        word_set("contents inline none ruby ruby-base ruby-text table-column table-column-group"), NONE
    ),
    **dict.fromkeys(word_set("inline-block inline-flex inline-grid inline-table"), SPACE),
    "table-cell": CELL,
}
_PRE_TAGS = frozenset(["pre", "listing", "plaintext", "xmp"])
_SILENT_TAGS = frozenset(["input", "textarea"])  # what a form control holds is a value and not text
_TOUCHING_PX = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """M text nodes in document order.

    Parameters
    ----------
    node : int (M,), the text nodes.
    gap : uint8 (M,), NONE to BLOCK: what stands before each of them; BLOCK before the first.
    pre : bool (M,), whether white space of the text counts.
    """

    node: NDArray[np.int64]
    gap: NDArray[np.uint8]
    pre: NDArray[np.bool_]


def boundaries(page: Snapshot) -> NDArray[np.uint8]:
    """Return for each of N nodes what it puts around itself, NONE to BLOCK; NONE unless it is an element."""
    by_tag = np.array([_BY_TAG.get(name, NONE) for name in page.tags.to_list()], np.uint8)
    around = by_tag[page.tag]
    by_row = by_style_row(page, "display", lambda value: _BY_DISPLAY.get(value, BLOCK))
    if by_row is not None:
        boxed = page.style >= 0
        # What is not rendered at all goes by its tags; without a box above one that has, it is no box.
        around = np.where(boxed & (around != BREAK), by_row[page.style], around * (boxed | ~page.rendered()))
    around[page.kind != Kind.ELEMENT] = NONE
    return around


def text_flow(page: Snapshot, chosen: NDArray[np.bool_], around: NDArray[np.uint8]) -> Flow:
    """Return how the `chosen` (N,) text nodes flow; generated content and values of controls never do."""
    chosen = chosen & (page.kind == Kind.TEXT) & ~_silent(page)
    node = np.flatnonzero(chosen)
    if page.has_layout:
        around = np.where(page.rendered() | prune(chosen, page.end), around, NONE)
    gap = np.full(node.size, BLOCK, np.uint8)
    between = gap[1:]
    between[:] = NONE
    if (boxes := _crossed(around == SPACE, page, node)).any():
        between[boxes & ~_touching(page, node) if page.has_layout else boxes] = SPACE
    for kind in (CELL, BREAK, BLOCK):
        between[_crossed(around == kind, page, node)] = kind
    return Flow(node, gap, _preformatted(page, node))


def _crossed(marked: NDArray[np.bool_], page: Snapshot, node: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether a marked element starts or ends between each two of the M nodes, shape (M - 1,)."""
    start = np.flatnonzero(marked)
    if not start.size:
        return np.zeros(max(node.size - 1, 0), np.bool_)
    events = np.bincount(np.concatenate((start, page.end[start])), minlength=len(page) + 1)
    crossed: NDArray[np.bool_] = np.diff(np.cumsum(events)[node]) > 0
    return crossed


def _touching(page: Snapshot, node: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each two neighbours stand side by side without room for a space, shape (M - 1,)."""
    x, y, width, height = page.box[node].T
    apart_x = np.maximum(x[1:] - (x + width)[:-1], x[:-1] - (x + width)[1:])
    apart_y = np.maximum(y[1:] - (y + height)[:-1], y[:-1] - (y + height)[1:])
    touching: NDArray[np.bool_] = (apart_x < _TOUCHING_PX) & (apart_y < 0)
    return touching


def _silent(page: Snapshot) -> NDArray[np.bool_]:
    silent = page.kind == Kind.PSEUDO
    tags = page.tags.to_list()
    if not _SILENT_TAGS.isdisjoint(tags):
        silent |= np.array([name in _SILENT_TAGS for name in tags])[page.tag]
    return below(silent, page.end.astype(np.int64)) if silent.any() else silent


def _preformatted(page: Snapshot, node: NDArray[np.int64]) -> NDArray[np.bool_]:
    by_row = by_style_row(page, "white-space", lambda value: "pre" in value or "break-spaces" in value)
    if by_row is not None:
        return (by_row[page.style[node]] > 0) & (page.style[node] >= 0)
    tags = np.array([name in _PRE_TAGS for name in page.tags.to_list()])
    marked = tags[page.tag]
    return below(marked, page.end.astype(np.int64))[node] if marked.any() else marked[node]


def by_style_row(page: Snapshot, name: str, value: Callable[[str], int]) -> NDArray[np.uint8] | None:
    """Return a number for each of the S style rows, from one property; None when the page has none of it."""
    if not page.styles.size or name not in page.style_names:
        return None
    ids = page.styles[:, page.style_names.index(name)].tolist()
    known = {i: value(page.strings[i]) for i in dict.fromkeys(ids)}
    return np.array([known[i] for i in ids], np.uint8)
