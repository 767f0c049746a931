"""A batch of pages as columns, the names of its tags and attributes, and results kept per page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag, auto
from functools import wraps
from threading import local
from typing import Any, TypeVar
from weakref import ref

import numpy as np
from numpy.typing import ArrayLike, NDArray

from domsieve.analysis.columns.hash import U64, hashes_of, span_hashes, string_hashes
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.snapshot.strings import StringTable

T = TypeVar("T")


class _LastPage(local):
    """The page that this thread worked on last, and the results by function."""

    def __init__(self) -> None:
        self.page: Callable[[], Snapshot | None] = lambda: None
        self.results: dict[Callable[[Snapshot], Any], Any] = {}


_LAST_PAGE = _LastPage()


def cached_per_page(make: Callable[[Snapshot], T]) -> Callable[[Snapshot], T]:
    """Cache the result of a function of a page until it is called with another page.

    An array that the function returns becomes read-only. Exceptions are not cached.
    """

    @wraps(make)
    def shared(page: Snapshot) -> T:
        if _LAST_PAGE.page() is not page:
            fresh: dict[Callable[[Snapshot], Any], Any] = {}
            _LAST_PAGE.results = fresh
            # Drop the columns together with the page.
            _LAST_PAGE.page = ref(page, lambda _: fresh.clear())
        results = _LAST_PAGE.results
        if make not in results:
            value = make(page)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            results[make] = value
        result: T = results[make]
        return result

    return shared


class TagIs(IntFlag):
    """Classes of tags, as bits."""

    NEVER_SHOWN = auto()
    HTML = auto()
    BODY = auto()
    BREAK = auto()
    INLINE = auto()
    BLOCK = auto()
    ANCHOR = auto()
    LINK = auto()  # has an address: a, area
    IMAGE = auto()
    CONTROL = auto()
    FRAME = auto()
    CONTAINER = auto()  # a content block to the entropy method
    HEADING = auto()


class AttributeIs(IntFlag):
    """Classes of attribute names, as bits."""

    HIDDEN = auto()
    STYLE = auto()
    CLASS = auto()
    PRESENTATIONAL = auto()
    WORDS = auto()  # its value is text
    HREF = auto()
    SRC = auto()
    TYPE = auto()
    NAME = auto()
    ALT = auto()
    LANG = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The bits of each known name.

    Parameters
    ----------
    key : hashes of the names, ascending.
    bits : the bits of each name.
    """

    key: U64
    bits: NDArray[np.uint16]

    @classmethod
    def of(cls, sets: Mapping[int, str]) -> "Vocabulary":
        """Return a vocabulary from the names in each class.

        Parameters
        ----------
        sets : by bit, its names, separated by spaces.
        """
        bits: dict[str, int] = {}
        for bit, names in sets.items():
            for name in names.split():
                bits[name] = bits.get(name, 0) | bit
        hashes = hashes_of(list(bits))
        order = np.argsort(hashes)
        return cls(hashes[order], np.array(list(bits.values()), np.uint16)[order])

    def look_up(self, hashes: U64) -> NDArray[np.uint16]:
        """Return the bits of the names with these hashes; 0 for unknown names."""
        at = np.minimum(np.searchsorted(self.key, hashes), self.key.size - 1)
        return np.where(self.key[at] == hashes, self.bits[at], np.uint16(0))


TAGS = Vocabulary.of(
    {
        TagIs.NEVER_SHOWN: "annotation annotation-xml datalist head noscript script style template title",
        TagIs.HTML: "html",
        TagIs.BODY: "body",
        TagIs.BREAK: "br wbr",
        TagIs.INLINE: (
            "abbr acronym b bdi bdo big cite code del dfn em font i ins kbd mark nobr q s samp small span strike "
            "strong sub sup tt u var"
        ),
        TagIs.BLOCK: (
            "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption "
            "figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr iframe legend li main menu nav ol p pre search "
            "section summary table tbody td tfoot th thead tr ul"
        ),
        TagIs.ANCHOR: "a",
        TagIs.LINK: "a area",
        TagIs.IMAGE: "img",
        TagIs.CONTROL: "button input select textarea",
        TagIs.FRAME: "iframe",
        TagIs.CONTAINER: "div table",
        TagIs.HEADING: "h1 h2 h3 h4 h5 h6",
    }
)
ATTRIBUTES = Vocabulary.of(
    {
        AttributeIs.HIDDEN: "hidden",
        AttributeIs.STYLE: "style",
        AttributeIs.CLASS: "class",
        AttributeIs.PRESENTATIONAL: (
            "align background bgcolor border cellpadding cellspacing class color colspan face height hspace "
            "nowrap rowspan size style valign vspace width"
        ),
        AttributeIs.WORDS: "alt title",
        AttributeIs.HREF: "href",
        AttributeIs.SRC: "src",
        AttributeIs.TYPE: "type",
        AttributeIs.NAME: "name",
        AttributeIs.ALT: "alt",
        AttributeIs.LANG: "lang",
    }
)


Bools = NDArray[np.bool_]
F64 = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """P pages with N nodes and A attributes in total. Node, string and tag ids continue from page to page.

    Columns that are not listed here are those of `Snapshot`.

    Parameters
    ----------
    first : (P + 1,), the first node of each page, then N.
    page : (N,), the page of each node.
    parent : (N,), -1 for the document node of each page.
    attr_owner : (A,), the node of each attribute.
    string_first : (P + 1,), the first string id of each page, then the number of strings.
    tag_hash : the hash of each entry of `tags`.
    tag_is : (N,), bits of `TagIs`; 0 for nodes that are not elements.
    attr_is : (A,), bits of `AttributeIs`.
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
    string_first: Ints
    tag_hash: U64
    tag_is: NDArray[np.uint16]
    attr_is: NDArray[np.uint16]

    @classmethod
    def of(cls, pages: Sequence[Snapshot]) -> "Batch":
        """Return the batch of one or more pages."""
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
        """Return which of the N nodes are elements; documents, shadow roots, texts and pseudo-elements are not."""
        return np.equal(self.kind, Kind.ELEMENT)

    @property
    def string_hash(self) -> U64:
        """The hash of each string; computed again on each access."""
        return string_hashes(self.strings)

    def hashes(self, strings: Ints) -> U64:
        """Return the hash of each string id, in the shape of `strings`."""
        ids, which = distinct(strings, len(self.strings))
        return _hashes(self.strings, ids)[which]

    def texts(self, strings: Ints) -> list[str]:
        """Return the text of each string id."""
        data, offsets = self.strings.blob.tobytes(), self.strings.offsets
        spans = zip(offsets[strings].tolist(), offsets[strings + 1].tolist(), strict=True)
        return [str(data[a:b], "utf-8", "replace") for a, b in spans]


@cached_per_page
def page_batch(page: Snapshot) -> Batch:
    """Return a batch of this page alone."""
    return Batch.of([page])


def below(roots: Bools, end: Ints) -> Bools:
    """Return which of the N nodes are one of the marked `roots` (N,) or inside one of them."""
    steps = np.zeros(roots.size + 1, np.int32)
    steps[:-1] = roots
    np.subtract.at(steps, end[roots], 1)
    return np.greater(np.cumsum(steps[:-1], dtype=np.int32), 0)


def prune(kept: Bools, end: NDArray[Any]) -> Bools:
    """Return which of N nodes are `kept` (N,) or an ancestor of a kept node (Algorithm 5 of the TPS paper).

    Parameters
    ----------
    kept : the nodes to keep.
    end : (N,), the page's column: the subtree of node i is ``i .. end[i] - 1``.
    """
    before = np.concatenate(([0], np.cumsum(kept)))
    return np.asarray(before[end] > before[:-1])


def nearest(batch: Batch, kept: Bools) -> Ints:
    """Return the nearest proper ancestor in `kept` (N,) of each node; -1 for the document nodes of pages.

    The document nodes must be kept.
    """
    up = batch.parent.copy()
    passed = ~kept
    todo = np.flatnonzero(passed & (batch.kind != Kind.TEXT))
    # Pointer doubling: each round skips twice as many ancestors as the one before.
    while (todo := todo[passed[up[todo]]]).size:
        up[todo] = up[up[todo]]
    up = np.where(passed[batch.parent], up[batch.parent], batch.parent)
    up[batch.first[:-1]] = -1
    return up


def surrounded(batch: Batch, content: Bools, idle: Bools) -> Bools:
    """Return which nodes are `content` (N,), an ancestor of content, or an `idle` (N,) child of such an ancestor.

    Idle nodes, such as line breaks, have neither children nor content, so they are kept with their parent.
    """
    before = np.concatenate(([0], np.cumsum(content, dtype=np.int32)))
    kept = before[batch.end] > before[:-1]
    alone = np.flatnonzero(idle & (batch.parent >= 0))
    kept[alone] = kept[batch.parent[alone]]
    return np.asarray(kept)


def counted_before(column: ArrayLike) -> Ints:
    """Return the sum of all entries before each one, then the total.

    Parameters
    ----------
    column : (n,) of integers or Booleans; the result has n + 1 entries.
    """
    return np.concatenate(([0], np.cumsum(column, dtype=np.int64)))


def distinct(ids: Ints | NDArray[np.int32], size: int) -> tuple[Ints, Ints]:
    """Return the distinct `ids` in ascending order, and the position of each id among them.

    Like ``np.unique(ids, return_inverse=True)`` in linear time, for ids from 0 to ``size - 1``.
    """
    used = np.zeros(size, np.bool_)
    used[ids] = True
    unique = np.flatnonzero(used)
    rank = np.empty(size, np.int64)
    rank[unique] = np.arange(unique.size)
    return unique, rank[ids]


def painted(start: Ints, stop: Ints, value: NDArray[Any], *, size: int, ground: int) -> NDArray[Any]:
    """Return an array that is ``value[i]`` in ``start[i]:stop[i]`` and `ground` elsewhere.

    Parameters
    ----------
    start, stop : ascending ranges that do not overlap.
    value : the value of each range.
    size : length of the result.
    ground : the value outside of all ranges.
    """
    edges = np.zeros(2 * start.size + 2, np.int64)
    edges[1:-1:2], edges[2:-1:2], edges[-1] = start, stop, size
    colours = np.full(2 * start.size + 1, ground, value.dtype)
    colours[1::2] = value
    return np.repeat(colours, np.diff(edges))


def _shifted(columns: list[NDArray[np.int32]], first: Ints, sizes: Sequence[int] | Ints) -> Ints:
    """Return the columns joined, with each page's first id added to its own."""
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
    """Return the bits of `AttributeIs` of each attribute."""
    ids, which = distinct(attr_name, len(strings))
    return ATTRIBUTES.look_up(_hashes(strings, ids))[which]
