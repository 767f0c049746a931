"""The Snapshot: one page as columns in document order, the contract between renderer and analysis."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from domsieve.errors import InvalidSnapshotError
from domsieve.notebook import Line, box
from domsieve.snapshot.cut import Cut, CutKind
from domsieve.snapshot.strings import StringTable

JSON_LD = "json-ld"
"""The attribute of a ``script`` element that holds its text."""

LONGEST_JSON_LD = 1_000_000
"""The most characters of one such text; a longer one is not kept."""


def is_json_ld(script_type: str) -> bool:
    """Return whether the attribute ``type`` of a script says that it is JSON-LD."""
    return script_type[:100].partition(";")[0].strip().lower() == "application/ld+json"


Producer = Literal["rendered", "raw", "unscripted"]
Scalar = str | int | float | bool | None

# Raised when the columns made of a page change.
CAPTURE_VERSION = 3
"""Raised when equal pages would be captured in another way; the store finds captures of this version only."""


class Kind(IntEnum):
    """What a node is; the numbers are those of the DOM where it has one."""

    ELEMENT = 1
    TEXT = 3
    DOCUMENT = 9  # the page's own (node 0) or a frame's, below its frame element
    SHADOW_ROOT = 11
    PSEUDO = 64  # ::before, ::after, ::marker ...; its generated text is a TEXT child


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where a Snapshot came from and how far it is to be trusted.

    Parameters
    ----------
    url : address asked for, as the caller gave it (a file's name for pages from disk).
    final_url : address reached; the base of relative links unless the page has a ``base`` element.
    producer : ``"rendered"`` (computed CSS, boxes), ``"raw"`` (parsed source, no layout) or ``"unscripted"``: the
        raw source with computed CSS and boxes, as a browser shows it when no script runs.
    status : HTTP status of the main response; None when there was none.
    content_type : Content-Type header of the main response, empty when there was none.
    encoding : character encoding the source was read with, empty when unknown.
    captured_at : UTC time, ISO 8601 with seconds.
    capture_version : version of the code that turned the page into columns, see `CAPTURE_VERSION`.
    browser : product and version, such as ``"HeadlessChrome/156.0.8078.79"``; empty for raw pages.
    build : ``"headless-shell"`` or ``"full"``: their text widths differ; empty for raw pages.
    driver : what carried the messages to the browser, ``"playwright"`` or ``"pipe"``; captures are the same. Empty
        for raw pages, and for captures of versions that had one driver.
    options : every option that shaped the capture.
    site : name the page is stored under, empty outside a store.
    source_digest : hash of the raw source bytes in the store, empty when they were not kept.
    extras : hashes of what the store keeps beside the page, by name.
    complete : whether the page was captured whole.
    reasons : what was cut and why, empty exactly when `complete`; `cuts` has their kinds.
    timings_ms : wall milliseconds per stage.
    requests, transferred_bytes : what the page loaded.
    refused : hosts and ports that it asked for and may not reach, with the reason; in alphabetical order.
    """

    url: str
    final_url: str
    producer: Producer
    status: int | None = None
    content_type: str = ""
    encoding: str = ""
    captured_at: str = ""
    capture_version: int = CAPTURE_VERSION
    browser: str = ""
    build: str = ""
    driver: str = ""
    options: dict[str, Scalar] = {}
    site: str = ""
    source_digest: str = ""
    extras: dict[str, str] = {}
    complete: bool = True
    reasons: tuple[str, ...] = ()
    timings_ms: dict[str, float] = {}
    requests: int = 0
    transferred_bytes: int = 0
    refused: tuple[str, ...] = ()

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """The reasons as kinds and details."""
        return tuple(map(Cut.parse, self.reasons))

    def was_cut_by(self, kind: CutKind) -> bool:
        """Return whether a cut of this kind is among the reasons."""
        return any(cut.kind == kind for cut in self.cuts)


@dataclass(frozen=True, slots=True, eq=False, repr=False, weakref_slot=True)
class Snapshot:
    """One page. All arrays are read-only; node 0 is the document.

    Parameters
    ----------
    parent : int32 (N,), parent of each node, -1 for node 0, else less than the node's own index.
    end : int32 (N,), one past the last node of the subtree, so ``range(i, end[i])`` is the subtree of i.
    kind : uint8 (N,), values of `Kind`.
    tag : int32 (N,), ids into `tags`.
    text : int32 (N,), ids into `strings` for text nodes, -1 elsewhere.
    style : int32 (N,), rows of `styles`, -1 for nodes without layout (always -1 in raw pages).
    box : float32 (N, 4), x, y, width, height in CSS px from the page's top left corner; NaN without layout.
    paint : int32 (N,), paint order (larger is painted later), -1 without layout.
    attr_start : int32 (N + 1,), attributes of node i are ``attr_start[i]:attr_start[i + 1]``.
    attr_name, attr_value : int32 (A,), ids into `strings`; names in lower case, in source order.
    tags : StringTable of tag names in lower case; ``#text``, ``#document``, ``#shadow-root``, ``::before``.
    strings : StringTable of texts, attribute names and values, and style values.
    style_names : the K property names of `styles`, such as ``"display"``.
    styles : int32 (S, K), ids into `strings`, computed values as Chrome serialises them.
    provenance : where the page came from.

    Raises
    ------
    InvalidSnapshotError : the columns do not describe a page; the message names the bad one.
    """

    parent: NDArray[np.int32]
    end: NDArray[np.int32]
    kind: NDArray[np.uint8]
    tag: NDArray[np.int32]
    text: NDArray[np.int32]
    style: NDArray[np.int32]
    box: NDArray[np.float32]
    paint: NDArray[np.int32]
    attr_start: NDArray[np.int32]
    attr_name: NDArray[np.int32]
    attr_value: NDArray[np.int32]
    tags: StringTable
    strings: StringTable
    style_names: tuple[str, ...]
    styles: NDArray[np.int32]
    provenance: Provenance

    def __post_init__(self) -> None:
        _validate(self)
        for name in _DTYPES:
            getattr(self, name).flags.writeable = False

    def __len__(self) -> int:
        return self.parent.size

    def __repr__(self) -> str:
        return f"<Snapshot {self.provenance.url!r} {', '.join(self._facts())}>"

    def _repr_html_(self) -> str:
        origin = self.provenance
        title, lines = _title_and_lines(self)
        address = [origin.url] if title and origin.url else []
        facts = [*address, *self._facts(), *(f"cut: {reason}" for reason in origin.reasons)]
        return box(title or origin.url or "Snapshot", facts, [Line(line) for line in lines])

    def _facts(self) -> list[str]:
        origin = self.provenance
        return [origin.producer, f"{len(self):,} nodes", "complete" if origin.complete else "incomplete"]

    @property
    def nbytes(self) -> int:
        """Bytes that the columns and strings hold."""
        arrays = [getattr(self, name) for name in _DTYPES]
        arrays += [array for table in (self.tags, self.strings) for array in (table.blob, table.offsets)]
        return sum(array.nbytes for array in arrays)

    @property
    def has_layout(self) -> bool:
        """Whether boxes and computed styles were captured."""
        return self.provenance.producer != "raw"

    def boxed(self) -> NDArray[np.bool_]:
        """Return, for each of the N nodes, whether it has a layout box of its own."""
        return self.style >= 0

    def rendered(self) -> NDArray[np.bool_]:
        """Return, for each of the N nodes, whether it or a descendant has a layout box.

        An element without a box whose descendant has one is ``display: contents``; without such a descendant
        it is not rendered. All False for raw pages.
        """
        before = np.concatenate(([0], np.cumsum(self.style >= 0)))
        return before[self.end] > before[:-1]

    def tag_name(self, node: int) -> str:
        """Return the tag name of `node`."""
        return self.tags[int(self.tag[node])]

    def text_of(self, node: int) -> str:
        """Return the text of one text node, empty for other nodes."""
        return self.strings[int(self.text[node])] if self.text[node] >= 0 else ""

    def attributes(self, node: int) -> dict[str, str]:
        """Return the attributes of `node` by name."""
        span = slice(int(self.attr_start[node]), int(self.attr_start[node + 1]))
        names = self.strings.take(self.attr_name[span].tolist())
        return dict(zip(names, self.strings.take(self.attr_value[span].tolist()), strict=True))

    def computed_style(self, node: int) -> dict[str, str]:
        """Return the computed style of `node` by property name, empty without layout."""
        if self.style[node] < 0:
            return {}
        values = self.strings.take(self.styles[self.style[node]].tolist())
        return dict(zip(self.style_names, values, strict=True))

    def digest(self) -> str:
        """Return 32 hex digits over all columns: equal for pages of equal content, whenever captured."""
        state = hashlib.blake2b(digest_size=16)
        for column in fields(self):
            value: Any = getattr(self, column.name)
            if isinstance(value, StringTable):
                state.update(value.offsets.tobytes())
                state.update(value.blob.tobytes())
            elif isinstance(value, np.ndarray):
                state.update(value.tobytes())
            elif isinstance(value, tuple):
                state.update("\0".join(value).encode())
        return state.hexdigest()


# Texts on either side of any other tag stand in different lines, for the eye in a notebook.
_INLINE_NAMES = """
a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt
u var wbr
"""
_INLINE = frozenset(_INLINE_NAMES.split())
_NOT_SHOWN = frozenset(("head", "noscript", "script", "style", "template", "title"))


def _title_and_lines(page: Snapshot) -> tuple[str, list[str]]:
    """Return the title, empty without one, and the texts: those with layout, or of raw pages those of the body."""
    parent, names = page.parent.tolist(), page.tags.to_list()
    tags = [names[tag] for tag in page.tag.tolist()]
    shown = page.rendered()
    if not page.has_layout:
        shown[:] = True
        for node, tag in enumerate(tags):
            if tag in _NOT_SHOWN:
                shown[node : page.end[node]] = False
    title = ""
    lines: list[str] = []
    last = -1
    for node in np.flatnonzero(page.kind == _TEXT).tolist():
        text, around = page.text_of(node), parent[node]
        if tags[around] == "title" and tags[parent[around]] == "head":
            title = title or _flat(text)
        if not text.strip() or not shown[node]:
            continue
        while around > 0 and tags[around] in _INLINE:
            around = parent[around]
        if around == last:
            lines[-1] += text
        else:
            lines.append(text)
        last = around
    return title, [_flat(line) for line in lines]


def _flat(text: str) -> str:
    return " ".join(text.split())


_DTYPES = {
    "parent": np.dtype(np.int32),
    "end": np.dtype(np.int32),
    "kind": np.dtype(np.uint8),
    "tag": np.dtype(np.int32),
    "text": np.dtype(np.int32),
    "style": np.dtype(np.int32),
    "box": np.dtype(np.float32),
    "paint": np.dtype(np.int32),
    "attr_start": np.dtype(np.int32),
    "attr_name": np.dtype(np.int32),
    "attr_value": np.dtype(np.int32),
    "styles": np.dtype(np.int32),
}
# Comparing an array with a member of an enumeration takes several times as long.
_DOCUMENT, _TEXT = int(Kind.DOCUMENT), int(Kind.TEXT)
_IS_KIND = np.isin(np.arange(256), [*Kind])
_FOUR_NANS = np.uint32(0x01010101)  # what four True of numpy look like


def _validate(page: Snapshot) -> None:
    """Check every column in O(N + A); a Snapshot that exists may be trusted by all algorithms.

    Done for every page that is read, so each check is one pass: ids are compared as unsigned numbers, where
    negative ones are huge.
    """
    for name, dtype in _DTYPES.items():
        if getattr(page, name).dtype != dtype:
            raise _bad(name, f"has type {getattr(page, name).dtype} instead of {dtype}")
    n, a = page.parent.size, page.attr_name.size
    shapes = {
        **dict.fromkeys(("parent", "end", "kind", "tag", "text", "style", "paint"), (n,)),
        "box": (n, 4),
        "attr_start": (n + 1,),
        "attr_name": (a,),
        "attr_value": (a,),
        "styles": (len(page.styles), len(page.style_names)),
    }
    for name, shape in shapes.items():
        if getattr(page, name).shape != shape:
            raise _bad(name, f"has shape {getattr(page, name).shape} instead of {shape}")
    _validate_tree(page.parent, page.end)
    if page.kind[0] != _DOCUMENT:
        raise _bad("kind", "does not start with a document")
    if not _IS_KIND[page.kind].all():
        raise _bad("kind", "holds numbers that are no kind of node")
    strings = len(page.strings)
    _within("tag", page.tag, 0, len(page.tags))
    _within("text", page.text, -1, strings)
    if ((page.text >= 0) != (page.kind == _TEXT)).any():
        raise _bad("text", "is set on other nodes than the text nodes")
    _within("style", page.style, -1, len(page.styles))
    _within("styles", page.styles, 0, strings)
    bare = page.style < 0
    if (np.isnan(page.box, order="C").view(np.uint32)[:, 0] != bare * _FOUR_NANS).any():
        raise _bad("box", "and column 'style' disagree on which nodes have layout")
    if np.isinf(page.box).any():
        raise _bad("box", "has an edge beyond all numbers")
    if (page.paint[bare] != -1).any():
        raise _bad("paint", "is set on nodes without layout")
    starts = page.attr_start
    if starts[0] != 0 or starts[-1] != a or (starts[1:] < starts[:-1]).any():
        raise _bad("attr_start", "does not cut the attributes into one run per node")
    _within("attr_name", page.attr_name, 0, strings)
    _within("attr_value", page.attr_value, 0, strings)
    if page.provenance.complete != (not page.provenance.reasons):
        raise _bad("provenance", "must give reasons exactly when the page is incomplete")


def _validate_tree(parent: NDArray[np.int32], end: NDArray[np.int32]) -> None:
    n = parent.size
    if not n:
        raise _bad("parent", "is empty: a page has at least its document node")
    here = np.arange(n, dtype=np.int32)
    above = parent[1:]
    if parent[0] != -1 or (above.view(np.uint32) >= here[1:].view(np.uint32)).any():
        raise _bad("parent", "must be -1 for node 0 and an earlier node for all others")
    if end[0] != n or (end <= here).any() or (end[1:] > end[above]).any():
        raise _bad("end", "does not nest subtrees inside their parents")
    # Nested intervals whose lengths add up are exactly the subtrees of a preorder.
    sizes = (end - here).astype(np.float64)
    if (np.bincount(above, weights=sizes[1:], minlength=n) != sizes - 1).any():
        raise _bad("end", "disagrees with column 'parent' on the size of a subtree")


def _within(name: str, ids: NDArray[np.int32], low: int, high: int) -> None:
    shifted = ids - np.int32(low) if low else ids
    if ids.size and int(shifted.view(np.uint32).max()) >= high - low:
        raise _bad(name, f"holds ids outside {low}..{high - 1}")


def _bad(column: str, what: str) -> InvalidSnapshotError:
    return InvalidSnapshotError(f"Column '{column}' {what}; the page must be captured again.")


def subtree_ends(parent: Sequence[int]) -> NDArray[np.int32]:
    """Return the column `end` that belongs to the column `parent` of N nodes in document order, in O(N)."""
    end = list(range(1, len(parent) + 1))
    for node in range(len(parent) - 1, 0, -1):
        above = parent[node]
        if end[above] < end[node]:
            end[above] = end[node]
    return np.array(end, np.int32)
