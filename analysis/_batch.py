"""Several pages side by side in one set of columns, so that one numpy call serves them all.

The unit of work of every site method: calls cost microseconds each, so they are made per batch, not per page.
Imports the Snapshot and the hashes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis._hash import U64, string_hashes
from snapshot import Kind, Snapshot, StringTable


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """P pages of together N nodes; node ids, string ids and tag ids run on from page to page.

    Columns are those of Snapshot. `first` (P + 1,) holds the first node of each page; `page` (N,) the page of
    each node; `parent` is -1 for the document node of each page.
    """

    pages: tuple[Snapshot, ...]
    first: NDArray[np.int64]
    page: NDArray[np.int32]
    parent: NDArray[np.int64]
    end: NDArray[np.int64]
    kind: NDArray[np.uint8]
    tag: NDArray[np.int64]
    text: NDArray[np.int64]
    attr_start: NDArray[np.int64]
    attr_name: NDArray[np.int64]
    attr_value: NDArray[np.int64]
    tags: StringTable
    strings: StringTable
    string_first: NDArray[np.int64]  # (P + 1,), first string id of each page
    tag_hash: U64  # of each entry of `tags`
    string_hash: U64  # of each entry of `strings`

    @classmethod
    def of(cls, pages: Sequence[Snapshot]) -> "Batch":
        """Return the pages side by side; at least one page."""
        first = _starts([len(p) for p in pages])
        tags, tag_first = _concatenate([p.tags for p in pages])
        strings, string_first = _concatenate([p.strings for p in pages])
        attr_first = _starts([p.attr_name.size for p in pages])
        sizes = np.diff(first)
        nodes, tag_base = np.repeat(first[:-1], sizes), np.repeat(tag_first[:-1], sizes)
        string_base = np.repeat(string_first[:-1], sizes)
        attr_base = np.repeat(string_first[:-1], np.diff(attr_first))
        parent = np.concatenate([p.parent for p in pages])
        text = np.concatenate([p.text for p in pages])
        return cls(
            pages=tuple(pages),
            first=first,
            page=np.repeat(np.arange(len(pages), dtype=np.int32), sizes),
            parent=np.where(parent < 0, -1, parent + nodes),
            end=np.concatenate([p.end for p in pages]) + nodes,
            kind=np.concatenate([p.kind for p in pages]),
            tag=np.concatenate([p.tag for p in pages]) + tag_base,
            text=np.where(text < 0, -1, text + string_base),
            attr_start=np.concatenate(
                [p.attr_start[:-1] + a for p, a in zip(pages, attr_first[:-1], strict=True)]
                + [attr_first[-1:]]
            ),
            attr_name=np.concatenate([p.attr_name for p in pages]) + attr_base,
            attr_value=np.concatenate([p.attr_value for p in pages]) + attr_base,
            tags=tags,
            strings=strings,
            string_first=string_first,
            tag_hash=string_hashes(tags),
            string_hash=string_hashes(strings),
        )

    @property
    def attr_owner(self) -> NDArray[np.int64]:
        """The node of each attribute, shape (A,)."""
        return np.repeat(np.arange(self.kind.size), np.diff(self.attr_start))

    def elements(self) -> NDArray[np.bool_]:
        """Return which nodes are elements (documents, shadow roots, texts and pseudo-elements are not)."""
        return np.equal(self.kind, Kind.ELEMENT)

    def split(self, column: NDArray[np.generic]) -> list[NDArray[np.generic]]:
        """Return a column over all nodes as one array per page."""
        return [column[a:b] for a, b in zip(self.first[:-1], self.first[1:], strict=True)]


def below(roots: NDArray[np.bool_], end: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of the N nodes lie in a subtree whose root is marked, roots included."""
    steps = roots.astype(np.int64)
    steps = np.append(steps, 0)
    np.subtract.at(steps, end[roots], 1)
    return np.greater(np.cumsum(steps[:-1]), 0)


def _starts(sizes: list[int]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def _concatenate(tables: list[StringTable]) -> tuple[StringTable, NDArray[np.int64]]:
    first = _starts([len(t) for t in tables])
    blobs = _starts([t.blob.size for t in tables])
    offsets = [t.offsets[:-1] + b for t, b in zip(tables, blobs[:-1], strict=True)]
    joined = np.concatenate([*offsets, blobs[-1:]]).astype(np.int32)
    return StringTable(np.concatenate([t.blob for t in tables]), joined), first
