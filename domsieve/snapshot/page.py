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
"""Name of the attribute that holds the text of a ``script`` element."""

PIXELS = "pixels"
"""One of `Snapshot.style_names` where pictures of the page were taken: what they say of a text, ``"seen"``,
``"unseen"`` or ``"unsure"``, and of all other nodes ``""``."""

MOMENTS = "moments"
"""One of `Snapshot.style_names` where animations bring texts in view only at some moments: how a node differs at
these, see `domsieve.snapshot.moments`, or ``""``."""

UNPICTURED = "unpictured"
"""What is said of texts of which there are no pictures, because these failed; then layout alone decides."""

LONGEST_JSON_LD = 1_000_000
"""Maximum length of one JSON-LD text in characters; longer ones are dropped."""


def is_json_ld(script_type: str) -> bool:
    """Return whether `script_type`, the ``type`` attribute of a script, is that of JSON-LD."""
    return script_type[:100].partition(";")[0].strip().lower() == "application/ld+json"


_LONGEST_VALIDATOR = 1_000


def validator(value: str) -> str:
    """Return an ETag or Last-Modified header as it can be sent back; empty if it cannot."""
    value = value.strip()
    return value if len(value) <= _LONGEST_VALIDATOR and value.isascii() and value.isprintable() else ""


Producer = Literal["rendered", "raw", "unscripted"]
Scalar = str | int | float | bool | None

CAPTURE_VERSION = 3
"""Increased whenever the same page would give other columns; the store finds captures of this version only."""


class Kind(IntEnum):
    """Type of a node; the numbers are those of the DOM where it defines one."""

    ELEMENT = 1
    TEXT = 3
    DOCUMENT = 9  # the page's own (node 0) or a frame's, below its frame element
    SHADOW_ROOT = 11
    PSEUDO = 64  # ::before, ::after, ::marker ...; its generated text is a TEXT child


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where a Snapshot comes from, how it was captured, and whether it is complete.

    Parameters
    ----------
    url : requested address, as the caller gave it (the name of the file for pages from disk).
    final_url : address after redirects; the base of relative links unless the page has a ``base`` element.
    producer : ``"rendered"``: the DOM of the browser, with computed CSS and boxes. ``"raw"``: the parsed source,
        without layout. ``"unscripted"``: the source in a browser that runs no scripts, with computed CSS and boxes.
    status : HTTP status of the main response, None without a response.
    content_type : Content-Type header of the main response, empty without one.
    encoding : character encoding that the source was decoded with, empty if unknown.
    captured_at : UTC time of the capture, ISO 8601 with seconds.
    capture_version : `CAPTURE_VERSION` of the program that captured the page.
    browser : product and version, such as ``"HeadlessChrome/156.0.8078.79"``; empty for raw pages.
    build : ``"headless-shell"`` or ``"full"``, whose text widths differ; empty for raw pages.
    driver : ``"playwright"`` or ``"pipe"``, which give the same captures; empty for raw pages and in captures of
        versions that had a single driver.
    options : all options that affect the capture, by name.
    site : name of the site that the page is stored under, empty outside a store.
    source_digest : hash of the raw source in the store, empty if the source was not stored.
    extras : hashes of further files that the store holds for this page, by name, such as a screenshot.
    complete : the page was captured completely.
    reasons : what was cut and why; empty exactly if `complete`. `cuts` parses them.
    timings_ms : wall-clock milliseconds per stage.
    requests, transferred_bytes : number and total size of the network requests of the page.
    etag, last_modified : validators of the main response, empty without any.
    refused : hosts and ports that the page requested and the egress guard refused, with the reason; sorted.
    missing_pictures : addresses of pictures that servers do not have (HTTP 204, 404 or 410), sorted, before redirects
        and without fragments; the first 200 of at most 1,000 characters.
    reason : why the page was rendered, or why it was only fetched; empty if there was no choice.
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
    etag: str = ""
    last_modified: str = ""
    refused: tuple[str, ...] = ()
    missing_pictures: tuple[str, ...] = ()
    reason: str = ""

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """The parsed `reasons`."""
        return tuple(map(Cut.parse, self.reasons))

    def was_cut_by(self, kind: CutKind) -> bool:
        """Return whether one of the `reasons` is a cut of this kind."""
        return any(cut.kind == kind for cut in self.cuts)


@dataclass(frozen=True, slots=True, eq=False, repr=False, weakref_slot=True)
class Snapshot:
    """One page as columns in document order. All arrays are read-only; node 0 is the document.

    Parameters
    ----------
    parent : int32 (N,), index of the parent, which is always less than the node's own index; -1 for node 0.
    end : int32 (N,), one past the last node of the subtree, so ``range(i, end[i])`` is the subtree of node i.
    kind : uint8 (N,), values of `Kind`.
    tag : int32 (N,), ids into `tags`.
    text : int32 (N,), ids into `strings` for text nodes, -1 for all others.
    style : int32 (N,), rows of `styles`, -1 for nodes without a layout box (always -1 in raw pages).
    box : float32 (N, 4), x, y, width and height in CSS px from the top left corner of the page; NaN without a box.
    paint : int32 (N,), paint order (larger numbers are painted later), -1 without a box.
    attr_start : int32 (N + 1,), the attributes of node i are ``attr_start[i]:attr_start[i + 1]``.
    attr_name, attr_value : int32 (A,), ids into `strings`, in source order; names are lower case.
    tags : tag names in lower case; also ``#text``, ``#document``, ``#shadow-root``, ``::before``, …
    strings : texts, attribute names and values, and style values.
    style_names : the K property names of `styles`, such as ``"display"``.
    styles : int32 (S, K), ids into `strings`: computed values as Chrome serialises them.
    provenance : where the page comes from and how it was captured.

    Raises
    ------
    InvalidSnapshotError : the columns do not describe a page; the message names the invalid column.
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
        """Memory of all columns and strings, in bytes."""
        arrays = [getattr(self, name) for name in _DTYPES]
        arrays += [array for table in (self.tags, self.strings) for array in (table.blob, table.offsets)]
        return sum(array.nbytes for array in arrays)

    @property
    def has_layout(self) -> bool:
        """Whether the page has boxes and computed styles; False for raw pages."""
        return self.provenance.producer != "raw"

    def boxed(self) -> NDArray[np.bool_]:
        """Return bool (N,): the node has a layout box of its own."""
        return self.style >= 0

    def rendered(self) -> NDArray[np.bool_]:
        """Return bool (N,): the node or one of its descendants has a layout box.

        An element without a box is ``display: contents`` if a descendant has one, otherwise it is not rendered. All
        values are False for raw pages.
        """
        before = np.concatenate(([0], np.cumsum(self.style >= 0)))
        return before[self.end] > before[:-1]

    def tag_name(self, node: int) -> str:
        """Return the tag name of `node`."""
        return self.tags[int(self.tag[node])]

    def text_of(self, node: int) -> str:
        """Return the text of `node`, empty unless it is a text node."""
        return self.strings[int(self.text[node])] if self.text[node] >= 0 else ""

    def attributes(self, node: int) -> dict[str, str]:
        """Return the attributes of `node`, by name."""
        span = slice(int(self.attr_start[node]), int(self.attr_start[node + 1]))
        names = self.strings.take(self.attr_name[span].tolist())
        return dict(zip(names, self.strings.take(self.attr_value[span].tolist()), strict=True))

    def computed_style(self, node: int) -> dict[str, str]:
        """Return the computed style of `node`, by property name; empty for nodes without a box."""
        if self.style[node] < 0:
            return {}
        values = self.strings.take(self.styles[self.style[node]].tolist())
        return dict(zip(self.style_names, values, strict=True))

    def digest(self) -> str:
        """Return a hash of all columns as 32 hex digits; the provenance is not part of it."""
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


# Elements inside a line of text; in a notebook every other tag starts a new line.
_INLINE_NAMES = """
a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt
u var wbr
"""
_INLINE = frozenset(_INLINE_NAMES.split())
_HIDDEN = frozenset(("head", "noscript", "script", "style", "template", "title"))


def _title_and_lines(page: Snapshot) -> tuple[str, list[str]]:
    """Return the title (may be empty) and the visible lines; in raw pages, the lines of the body."""
    parent, names = page.parent.tolist(), page.tags.to_list()
    tags = [names[tag] for tag in page.tag.tolist()]
    visible = page.rendered()
    if not page.has_layout:
        visible[:] = True
        for node, tag in enumerate(tags):
            if tag in _HIDDEN:
                visible[node : page.end[node]] = False
    title = ""
    lines: list[str] = []
    last = -1
    for node in np.flatnonzero(page.kind == _TEXT).tolist():
        text, block = page.text_of(node), parent[node]
        if tags[block] == "title" and tags[parent[block]] == "head":
            title = title or _flat(text)
        if not text.strip() or not visible[node]:
            continue
        while block > 0 and tags[block] in _INLINE:
            block = parent[block]
        if block == last:
            lines[-1] += text
        else:
            lines.append(text)
        last = block
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
# As int, because comparing an array with a member of an enumeration takes several times as long.
_DOCUMENT, _TEXT = int(Kind.DOCUMENT), int(Kind.TEXT)
_IS_KIND = np.isin(np.arange(256), [*Kind])
_FOUR_NANS = np.uint32(0x01010101)  # the bytes of four numpy True, read as one number


def _validate(page: Snapshot) -> None:
    """Check every column in O(N + A), so that algorithms can trust every Snapshot.

    This runs for every page that is read, so each check is a single pass: ids are compared as unsigned numbers, where
    negative ones become huge.
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
        raise _bad("kind", "has unknown values")
    strings = len(page.strings)
    _within("tag", page.tag, 0, len(page.tags))
    _within("text", page.text, -1, strings)
    if ((page.text >= 0) != (page.kind == _TEXT)).any():
        raise _bad("text", "must be set for text nodes and for no others")
    _within("style", page.style, -1, len(page.styles))
    _within("styles", page.styles, 0, strings)
    bare = page.style < 0
    if (np.isnan(page.box, order="C").view(np.uint32)[:, 0] != bare * _FOUR_NANS).any():
        raise _bad("box", "and column 'style' disagree on which nodes have layout")
    if np.isinf(page.box).any():
        raise _bad("box", "has infinite values")
    if (page.paint[bare] != -1).any():
        raise _bad("paint", "is set for nodes without layout")
    starts = page.attr_start
    if starts[0] != 0 or starts[-1] != a or (starts[1:] < starts[:-1]).any():
        raise _bad("attr_start", "does not divide the attributes into one range per node")
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
        raise _bad(name, f"has ids outside {low}..{high - 1}")


def _bad(column: str, what: str) -> InvalidSnapshotError:
    return InvalidSnapshotError(f"Column '{column}' {what}; capture the page again.")


def subtree_ends(parent: Sequence[int]) -> NDArray[np.int32]:
    """Return the column `end` for a column `parent` of N nodes in document order, int32 (N,), in O(N)."""
    end = list(range(1, len(parent) + 1))
    for node in range(len(parent) - 1, 0, -1):
        above = parent[node]
        if end[above] < end[node]:
            end[above] = end[node]
    return np.array(end, np.int32)
