"""Cut a page into blocks: text between the starts and ends of block elements.

Unlike the blocks of the JSON evidence, these do not depend on a verdict, so that methods can be compared on them.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import F64, Ints, cached_per_page, distinct
from domsieve.analysis.columns.flow import BREAK, CELL, NONE, SPACE, boundaries, text_flow
from domsieve.analysis.columns.hash import U64, combine, hashes_of
from domsieve.analysis.columns.hiding import hidden_texts
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.columns.tables import grouping
from domsieve.analysis.columns.visible import never_shown
from domsieve.analysis.columns.words import folded
from domsieve.budget import check, spending
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.strings import StringTable

_SPACES = re.compile(r"[ \t\n\r\f]+")
_MOST_STEPS = 16  # a guess: long enough to tell the blocks of real pages apart
# Operators of formulas that draw nothing: they part no block, although they have no size.
_OPERATORS = frozenset("\u2061\u2062\u2063\u2064")


@dataclass(frozen=True, eq=False)
class PageBlocks:
    """The B blocks of a page in document order, made of its M text nodes with words.

    Parameters
    ----------
    text : the text of each block, with white space collapsed.
    start, end : int64 (B,), the text is in the nodes ``start .. end - 1``.
    around : int64 (B,), the innermost block element or table cell around all of each block.
    box : float64 (B, 4), x, y, width and height in CSS px around its texts; NaN without layout.
    hidden : uint8 (B,), a `Hiding`.
    node : int64 (M,), the text nodes with words.
    block : int64 (M,), the block of each text node.
    voice : int64 (B,), the longest text node of each block, which represents it.
    parent, tag, tags : columns of the page, for paths.
    """

    text: list[str]
    start: Ints
    end: Ints
    around: Ints
    box: F64
    hidden: NDArray[np.uint8]
    node: Ints
    block: Ints
    voice: Ints
    parent: NDArray[np.int32]
    tag: NDArray[np.int32]
    tags: StringTable

    def __len__(self) -> int:
        return len(self.text)

    @cached_property
    def said(self) -> list[str]:
        """The folded words of each block, separated by single spaces; see `words.fold`."""
        return folded(self.text)

    @cached_property
    def words(self) -> Ints:
        """The number of words, separated by white space, in each block; int64 (B,)."""
        return np.array([len(text.split()) for text in self.text], np.int64)

    @cached_property
    def key(self) -> U64:
        """A hash of the folded words, equal for blocks with the same text; 0 without a letter; uint64 (B,)."""
        keys = hashes_of(self.said).astype(np.uint64)
        keys[[not any(map(str.isalpha, text)) for text in self.said]] = 0
        return keys

    @cached_property
    def path(self) -> list[str]:
        """The tags from the root down to `around`, separated by ``/``, for each block; at most the last 16."""
        steps = _Steps(self.parent.tolist(), self.tag.tolist(), self.tags.to_list())
        return [steps.path(node) for node in self.around.tolist()]

    def path_codes(self, blocks: Ints) -> Ints:
        """Return a number for each of these blocks, from 0 on, equal for blocks with the same `path`."""
        node, which = distinct(self.around[blocks], self.parent.size)
        code = np.zeros(node.size, np.uint64)
        for _ in range(_MOST_STEPS):
            if not node.any():
                break
            code = combine(code, np.where(node > 0, self.tag[node], -1).astype(np.uint64))
            node = np.maximum(self.parent[node], 0)
        return grouping(combine(code, (node > 0).astype(np.uint64))[which]).code


@cached_per_page
def page_blocks(page: Snapshot) -> PageBlocks:
    """Return the blocks of a page, in O(N).

    A block ends where a block element or a table cell starts or ends, and where visible text meets hidden text.
    """
    with spending("blocks", page.provenance.url):
        return _blocks(page)


def _blocks(page: Snapshot) -> PageBlocks:
    texts = page_texts(page)
    worded = np.zeros(len(page), np.bool_)
    worded[texts.node[~texts.is_blank]] = True
    worded[texts.node[[text in _OPERATORS for text in texts.text]]] = False
    worded &= ~never_shown(page)
    around = boundaries(page)
    flow = text_flow(page, worded, around)
    hidden = hidden_texts(page)
    at = np.flatnonzero(worded[flow.node])
    node, gap = flow.node[at], np.zeros(0, np.uint8)
    if at.size:
        # Preformatted white space counts as one space.
        after_last = np.concatenate(([0], at[:-1] + 1))
        gap = np.maximum.reduceat(flow.gap, after_last)
        gap[(gap == NONE) & (after_last < at)] = SPACE
    fresh = (gap == CELL) | (gap > BREAK)
    fresh[1:] |= hidden[node[1:]] != hidden[node[:-1]]
    block = np.cumsum(fresh) - 1
    first = np.append(np.flatnonzero(fresh), node.size)
    pieces = [_flat(text) for text in texts.of(node)]
    joints = ["\n" if kind == BREAK else " " if kind != NONE else "" for kind in gap.tolist()]
    # Most blocks have one text, so it is worth its own branch.
    joined = [
        pieces[a].strip()
        if b - a == 1
        else "".join(j + p for j, p in zip(joints[a:b], pieces[a:b], strict=True)).strip()
        for a, b in pairwise(first.tolist())
    ]
    size = np.array([len(piece) for piece in pieces], np.int64)
    by_size = np.lexsort((-size, block))
    start, end = node[first[:-1]], node[first[1:] - 1] + 1
    return PageBlocks(
        text=joined,
        start=start,
        end=end,
        around=_around(page, start, end, around >= CELL),
        box=box_around(page.box[node].astype(np.float64), first),
        hidden=hidden[start],
        node=node,
        block=block,
        voice=node[by_size[first[:-1]]],
        parent=page.parent,
        tag=page.tag,
        tags=page.tags,
    )


def _flat(text: str) -> str:
    # Most texts need no change. A printable text has no ASCII white space other than spaces.
    return text if "  " not in text and text.isprintable() else _SPACES.sub(" ", text)


def box_around(box: F64, first: Ints) -> F64:
    """Return the bounding box of each group ``box[first[i]:first[i + 1]]``, ignoring boxes that are NaN.

    Parameters
    ----------
    box : (n, 4), x, y, width and height.
    first : (g + 1,), where each group starts.
    """
    if first.size < 2:
        return np.zeros((0, 4))
    left, top, right, bottom = box[:, 0], box[:, 1], box[:, 0] + box[:, 2], box[:, 1] + box[:, 3]
    low = [np.fmin.reduceat(edge, first[:-1]) for edge in (left, top)]
    high = [np.fmax.reduceat(edge, first[:-1]) for edge in (right, bottom)]
    return np.stack((*low, high[0] - low[0], high[1] - low[1]), axis=1)


def _around(page: Snapshot, start: Ints, end: Ints, wide: NDArray[np.bool_]) -> Ints:
    """Return the innermost `wide` (N,) element that contains all of each block."""
    around = page.parent[start].astype(np.int64)
    todo = np.arange(start.size)
    while todo.size:
        check()
        at = around[todo]
        todo = todo[(at > 0) & ((page.end[at] < end[todo]) | ~wide[at])]
        around[todo] = page.parent[around[todo]]
    return around


class _Steps:
    """Paths of tags from the root down to elements of a page, shortened to the last steps."""

    def __init__(self, parent: list[int], tag: list[int], names: list[str]) -> None:
        self._parent, self._tag, self._names = parent, tag, names
        self._known: dict[int, tuple[str, ...]] = {}
        self._paths: dict[int, str] = {}

    def path(self, node: int) -> str:
        if node not in self._paths:
            steps = self._steps(node)
            self._paths[node] = "/".join(steps if len(steps) <= _MOST_STEPS else ("…", *steps[-_MOST_STEPS:]))
        return self._paths[node]

    def _steps(self, node: int) -> tuple[str, ...]:
        """Return the last steps, and one more if the path is longer."""
        known, above = self._known, []
        while node > 0 and node not in known:
            check()
            above.append(node)
            node = self._parent[node]
        steps = known[node] if node > 0 else ()
        for below in reversed(above):
            steps = (*steps[-_MOST_STEPS:], self._names[self._tag[below]])
            known[below] = steps
        return steps
