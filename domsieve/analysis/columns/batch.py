"""Several pages side by side in one set of columns, so that one numpy call serves them all.

The unit of work of every site method: calls cost microseconds each, so they are made per batch, not per page.
Imports the Snapshot, the hashes and the names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from domsieve.analysis.columns.hash import U64, span_hashes, string_hashes
from domsieve.analysis.columns.names import ATTRIBUTES, TAGS
from domsieve.analysis.columns.per_page import once_per_page
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.snapshot.strings import StringTable

Bools = NDArray[np.bool_]
F64 = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """P pages of together N nodes; node ids, string ids and tag ids run on from page to page.

    Columns are those of Snapshot. `first` (P + 1,) holds the first node of each page; `page` (N,) the page of
    each node; `parent` is -1 for the document node of each page. `tag_is` (N,) and `attr_is` (A,) hold the bits
    of `TagIs` and `AttributeIs`; those of nodes that are no elements are 0. `attr_owner` (A,) is the node of
    each attribute.
    """

    pages: tuple[Snapshot, ...]
    first: Ints
    page: NDArray[np.int32]
    parent: Ints
    end: Ints
    kind: NDArray[np.uint8]
    tag: Ints
    text: Ints
    attr_owner: Ints
    attr_name: Ints
    attr_value: Ints
    tags: StringTable
    strings: StringTable
    string_first: Ints  # (P + 1,), first string id of each page
    tag_hash: U64  # of each entry of `tags`
    tag_is: NDArray[np.uint16]
    attr_is: NDArray[np.uint16]

    @classmethod
    def of(cls, pages: Sequence[Snapshot]) -> "Batch":
        """Return the pages side by side; at least one page."""
        first = counted_before([len(p) for p in pages])
        tags, tag_first = _concatenate([p.tags for p in pages])
        strings, string_first = _concatenate([p.strings for p in pages])
        sizes, attr_sizes = np.diff(first), [p.attr_name.size for p in pages]
        kind = np.concatenate([p.kind for p in pages])
        parent = _shifted([p.parent for p in pages], first, sizes)
        parent[first[:-1]] = -1
        tag = _shifted([p.tag for p in pages], tag_first, sizes)
        text = _shifted([p.text for p in pages], string_first, sizes)
        text[kind != Kind.TEXT] = -1
        tag_hash = string_hashes(tags)
        tag_is = TAGS.look_up(tag_hash)[tag]
        tag_is[kind != Kind.ELEMENT] = 0
        attr_name = _shifted([p.attr_name for p in pages], string_first, attr_sizes)
        attr_counts = np.concatenate([np.diff(p.attr_start) for p in pages])
        return cls(
            pages=tuple(pages),
            first=first,
            page=np.repeat(np.arange(len(pages), dtype=np.int32), sizes),
            parent=parent,
            end=_shifted([p.end for p in pages], first, sizes),
            kind=kind,
            tag=tag,
            text=text,
            attr_owner=np.repeat(np.arange(kind.size), attr_counts),
            attr_name=attr_name,
            attr_value=_shifted([p.attr_value for p in pages], string_first, attr_sizes),
            tags=tags,
            strings=strings,
            string_first=string_first,
            tag_hash=tag_hash,
            tag_is=tag_is,
            attr_is=_names(strings, attr_name),
        )

    def elements(self) -> Bools:
        """Return which nodes are elements (documents, shadow roots, texts and pseudo-elements are not)."""
        return np.equal(self.kind, Kind.ELEMENT)

    @property
    def string_hash(self) -> U64:
        """The hash of each string, computed on each call."""
        return string_hashes(self.strings)

    def hashes(self, strings: Ints) -> U64:
        """Return the hash of each of these strings, shape as `strings`."""
        ids, which = distinct(strings, len(self.strings))
        return _hashes(self.strings, ids)[which]

    def texts(self, strings: Ints) -> list[str]:
        """Return these strings."""
        data, offsets = self.strings.blob.tobytes(), self.strings.offsets
        spans = zip(offsets[strings].tolist(), offsets[strings + 1].tolist(), strict=True)
        return [str(data[a:b], "utf-8", "replace") for a, b in spans]


@once_per_page
def page_batch(page: Snapshot) -> Batch:
    """Return a page alone as a batch."""
    return Batch.of([page])


def below(roots: Bools, end: Ints) -> Bools:
    """Return which of the N nodes lie in a subtree whose root is marked, roots included."""
    steps = np.zeros(roots.size + 1, np.int32)
    steps[:-1] = roots
    np.subtract.at(steps, end[roots], 1)
    return np.greater(np.cumsum(steps[:-1], dtype=np.int32), 0)


def prune(kept: Bools, end: NDArray[Any]) -> Bools:
    """Return which of N nodes stay: those `kept`, and all above one of them (TPS, Algorithm 5).

    `end` (N,) is the column of that name: the subtree of node i is ``i .. end[i]``.
    """
    before = np.concatenate(([0], np.cumsum(kept)))
    return np.asarray(before[end] > before[:-1])


def nearest(batch: Batch, kept: Bools) -> Ints:
    """Return the nearest kept proper ancestor of each node, -1 for documents of pages, which are kept."""
    up = batch.parent.copy()
    passed = ~kept
    todo = np.flatnonzero(passed & (batch.kind != Kind.TEXT))
    # Pointer doubling: each round passes twice as many unwrapped ancestors as the last.
    while (todo := todo[passed[up[todo]]]).size:
        up[todo] = up[up[todo]]
    up = np.where(passed[batch.parent], up[batch.parent], batch.parent)
    up[batch.first[:-1]] = -1
    return up


def surrounded(batch: Batch, content: Bools, idle: Bools) -> Bools:
    """Return the nodes of `content` (N,), all that stands above them, and what is `idle` (N,) amid them.

    Idle nodes have no children and no content, such as line breaks, and go with the node around them.
    """
    before = np.concatenate(([0], np.cumsum(content, dtype=np.int32)))
    kept = before[batch.end] > before[:-1]
    alone = np.flatnonzero(idle & (batch.parent >= 0))
    kept[alone] = kept[batch.parent[alone]]
    return np.asarray(kept)


def counted_before(column: ArrayLike) -> Ints:
    """Return the sum before each entry of a column of whole numbers or marks, and of all: one entry more."""
    return np.concatenate(([0], np.cumsum(column, dtype=np.int64)))


def distinct(ids: Ints | NDArray[np.int32], size: int) -> tuple[Ints, Ints]:
    """Return the distinct `ids`, all below `size`, in ascending order, and which of them each id is."""
    used = np.zeros(size, np.bool_)
    used[ids] = True
    found = np.flatnonzero(used)
    rank = np.empty(size, np.int64)
    rank[found] = np.arange(found.size)
    return found, rank[ids]


def painted(start: Ints, stop: Ints, value: NDArray[Any], *, size: int, ground: int) -> NDArray[Any]:
    """Return `size` entries that are ``value[i]`` in ``start[i]:stop[i]`` and `ground` elsewhere.

    The stretches are in order and do not overlap.
    """
    edges = np.zeros(2 * start.size + 2, np.int64)
    edges[1:-1:2], edges[2:-1:2], edges[-1] = start, stop, size
    colours = np.full(2 * start.size + 1, ground, value.dtype)
    colours[1::2] = value
    return np.repeat(colours, np.diff(edges))


def _shifted(columns: list[NDArray[np.int32]], first: Ints, sizes: Sequence[int] | Ints) -> Ints:
    """Return the columns one behind the other, each raised by the first id of its page."""
    whole = np.repeat(first[:-1], sizes)
    whole += np.concatenate(columns)
    return whole


def _concatenate(tables: list[StringTable]) -> tuple[StringTable, Ints]:
    first = counted_before([len(t) for t in tables])
    blobs = counted_before([t.blob.size for t in tables])
    offsets = [t.offsets[:-1] + b for t, b in zip(tables, blobs[:-1], strict=True)]
    joined = np.concatenate([*offsets, blobs[-1:]]).astype(np.int32)
    return StringTable(np.concatenate([t.blob for t in tables]), joined), first


def _hashes(table: StringTable, ids: Ints) -> U64:
    return span_hashes(
        table.blob, table.offsets[ids].astype(np.int64), table.offsets[ids + 1].astype(np.int64)
    )


def _names(strings: StringTable, attr_name: Ints) -> NDArray[np.uint16]:
    """Return the bits of each attribute name."""
    ids, which = distinct(attr_name, len(strings))
    return ATTRIBUTES.look_up(_hashes(strings, ids))[which]
