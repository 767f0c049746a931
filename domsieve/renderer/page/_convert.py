"""Convert the result of ``DOMSnapshot.captureSnapshot`` to the columns of a Snapshot.

The format, as observed in Chrome 156: The nodes of each document are in depth-first order of the flat tree, including
closed shadow trees, with slotted children below their slot, and all pseudo-elements before the other children. Frames
are separate documents. -1 is the empty string. A pseudo-element has several layout entries: the first is its box, the
others are its text. Texts have the styles of their parents.
"""

from collections.abc import Iterable
from itertools import accumulate, chain
from typing import Any, TypedDict

import msgspec
import numpy as np
from numpy.typing import NDArray

from domsieve.budget import check, spending
from domsieve.renderer.page._tag_names import OF_DOCUMENT, looks_like_xml, strays_of, tag_of, tags_in_xml
from domsieve.snapshot.page import JSON_LD, LONGEST_JSON_LD, Kind, is_json_ld, subtree_ends
from domsieve.snapshot.strings import Interner, StringTable

_NOTHING, CDATA = 0, 4
_NEAR = 9  # texts; a guess that bounds the work: of these, those before a first letter are blank
_FURTHEST = np.finfo(np.float32).max
# So alike are the ratios of two sizes if a transform makes them, and so far from 1.
_ALIKE = 0.03
# Their text is not content, but the analysis needs the elements.
_CODE = frozenset({"script", "style"})
# Inputs whose value is not visible to readers, or must not be stored.
_UNREAD_INPUTS = frozenset(
    {"button", "checkbox", "file", "hidden", "image", "password", "radio", "reset", "submit"}
)


class _Sparse(msgspec.Struct):
    index: list[int] = []
    value: list[int] = []


class _Nodes(msgspec.Struct, rename="camel"):
    parent_index: list[int]
    node_type: list[int]
    node_name: list[int]
    node_value: list[int]
    attributes: list[list[int]]
    text_value: _Sparse = msgspec.field(default_factory=_Sparse)
    input_value: _Sparse = msgspec.field(default_factory=_Sparse)
    content_document_index: _Sparse = msgspec.field(default_factory=_Sparse)
    pseudo_type: _Sparse = msgspec.field(default_factory=_Sparse)
    shadow_root_type: _Sparse = msgspec.field(default_factory=_Sparse)


class _Layout(msgspec.Struct, rename="camel"):
    node_index: list[int]
    styles: list[msgspec.Raw]  # few rows differ, so each is parsed once
    bounds: list[list[float]]
    text: list[int]
    paint_orders: list[int]


class _Document(msgspec.Struct, rename="camel"):
    document_url: int = msgspec.field(name="documentURL")
    encoding_name: int
    nodes: _Nodes
    layout: _Layout
    frame_id: int = msgspec.field(name="frameId", default=-1)

    def tags_in_xml(self, strings: list[str], xml: frozenset[str] | None) -> list[str]:
        """Return the tags of its nodes if it is XML; see `Capture`."""
        nodes = self.nodes
        if xml is None or self.frame_id < 0:
            is_xml = looks_like_xml(nodes.node_name, nodes.node_type, strings)
        else:
            is_xml = strings[self.frame_id] in xml
        if not is_xml:
            return []
        return tags_in_xml(nodes.node_name, nodes.node_type, nodes.parent_index, nodes.attributes, strings)


class Capture(msgspec.Struct):
    """The part of the result that is used, and what was added to it.

    Attributes
    ----------
    added : properties that were added to the computed ones of each node.
    xml : the ids of the frames whose documents are XML; None if that is not known.
    """

    documents: list[_Document]
    strings: list[str]
    added: tuple[str, ...] = ()
    xml: frozenset[str] | None = None

    @property
    def url(self) -> str:
        """The address of the page when it was captured."""
        return self.strings[self.documents[0].document_url]

    @property
    def encoding(self) -> str:
        """The character encoding of the page."""
        number = self.documents[0].encoding_name
        return self.strings[number] if number >= 0 else ""


class Columns(TypedDict):
    """The arguments of `Snapshot` except its provenance."""

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


def document_only(style_names: tuple[str, ...]) -> Columns:
    """Return the columns of a page with only a document node."""
    nodes = _Nodes([-1], [Kind.DOCUMENT], [0], [-1], [[]])
    document = _Document(0, 0, nodes, _Layout([], [], [], [], []))
    return convert(Capture([document], ["#document"]), style_names, max_nodes=1)[0]


def convert(capture: Capture, style_names: tuple[str, ...], *, max_nodes: int) -> tuple[Columns, bool]:
    """Return the columns of a captured page, and whether nodes after the first `max_nodes` were cut off.

    Comments, doctypes, texts of ``script`` and ``style``, white space without a box, and ``::first-letter`` (whose
    text is also in its parent) are dropped. The text of JSON-LD becomes an attribute of its script. Time and memory
    are linear in nodes and strings.
    """
    with spending("convert"):
        draft = _Draft(capture)
        for number in range(len(capture.documents)):
            check()
            draft.add_layout(number)
        draft.add_generated_texts()
        draft.add_json_ld()
        order = draft.reading_order()
        order = order[draft.is_kept()[order]]
        return draft.columns(order[:max_nodes], style_names), order.size > max_nodes


class _Draft:
    """Columns over the nodes of all documents, numbered one document after another."""

    def __init__(self, capture: Capture) -> None:
        self.strings = capture.strings
        self.ids = dict(zip(self.strings, range(len(self.strings)), strict=True))
        self.documents = capture.documents
        all_nodes = [document.nodes for document in self.documents]
        self.starts = [*accumulate((len(nodes.node_type) for nodes in all_nodes), initial=0)]
        self.kind = _joined(nodes.node_type for nodes in all_nodes)
        self.name = _joined(nodes.node_name for nodes in all_nodes)
        self.is_xml = np.zeros(self.kind.size, np.bool_)
        for document, start in zip(self.documents, self.starts, strict=False):
            if tags := document.tags_in_xml(self.strings, capture.xml):
                self.name[start : start + len(tags)] = [self._number(tag) for tag in tags]
                self.is_xml[start : start + len(tags)] = True
        self.in_shadow = np.zeros(self.kind.size, np.bool_)
        self.value = _joined(nodes.node_value for nodes in all_nodes)
        self.parent = _joined(nodes.parent_index for nodes in all_nodes)
        self.attributes = [*chain.from_iterable(nodes.attributes for nodes in all_nodes)]
        self.style = np.full(self.kind.size, -1, np.int32)
        self.paint = np.full(self.kind.size, -1, np.int32)
        self.box = np.full((self.kind.size, 4), np.nan)
        self.rows: dict[bytes, int] = {}
        self.generated: dict[int, tuple[str, int, NDArray[np.float64], int]] = {}
        self.frames: list[list[tuple[int, int]]] = []  # per document: frame element, number of its document
        for nodes, start in zip(all_nodes, self.starts, strict=False):
            self.parent[start + 1 : start + len(nodes.node_type)] += start
            self.kind[[start + node for node in nodes.pseudo_type.index]] = Kind.PSEUDO
            self.in_shadow[[start + node for node in nodes.shadow_root_type.index]] = True
            inner = nodes.content_document_index
            self.frames.append(
                [(start + i, number) for i, number in zip(inner.index, inner.value, strict=True)]
            )
            for fields in (nodes.input_value, nodes.text_value):
                for node, text in zip(fields.index, fields.value, strict=True):
                    self._set_value(start + node, text)
        self.kind[self._is_named("::first-letter")] = _NOTHING
        for frame, number in chain.from_iterable(self.frames):
            self.parent[self.starts[number]] = frame

    def _set_value(self, node: int, value: int) -> None:
        """Set the attribute ``value`` of a form field to its current value."""
        flat = self.attributes[node]
        named = {
            self.strings[name].lower(): number for name, number in zip(flat[::2], flat[1::2], strict=True)
        }
        if self._string(named.get("type", -1)).lower() in _UNREAD_INPUTS:
            return
        named["value"] = value
        self.attributes[node] = [
            *chain.from_iterable((self._number(name), number) for name, number in named.items())
        ]

    def _string(self, number: int) -> str:
        return self.strings[number] if number >= 0 else ""

    def _number(self, text: str) -> int:
        """Return the id of a string; add it if the page does not have it."""
        number = self.ids.setdefault(text, len(self.strings))
        if number == len(self.strings):
            self.strings.append(text)
        return number

    def add_layout(self, number: int) -> None:
        """Add styles and boxes to the nodes of a document; its parent document must be done already."""
        layout, start = self.documents[number].layout, self.starts[number]
        owner = int(self.parent[start])
        if not layout.bounds or (owner >= 0 and self.style[owner] < 0):
            return  # nothing is displayed, or nothing of the frame
        node = np.array(layout.node_index, np.intp) + start
        style = np.array([self._row(bytes(row)) for row in layout.styles], np.int32)
        box = np.array(layout.bounds)
        if owner >= 0:
            # Centred in the frame element: border and padding are assumed to be equal on opposite sides.
            box *= _scale(self.box[owner, 2:], box[0, 2:])
            box[:, :2] += self.box[owner, :2] + (self.box[owner, 2:] - box[0, 2:]) / 2
        paint = np.array(layout.paint_orders, np.int32)
        text = np.array(layout.text, np.int32)
        is_generated = (text >= 0) & (self.kind[node] == Kind.PSEUDO)
        for entry in np.flatnonzero(is_generated).tolist():
            pseudo, words = int(node[entry]), self.strings[text[entry]]
            if before := self.generated.get(pseudo):
                self.generated[pseudo] = (before[0] + words, *before[1:])
            else:
                self.generated[pseudo] = words, int(style[entry]), box[entry], int(paint[entry])
        entries = np.flatnonzero(~is_generated & (style >= 0))
        shown, first = np.unique(node[entries], return_index=True)
        entries = entries[first]
        self.style[shown], self.box[shown], self.paint[shown] = style[entries], box[entries], paint[entries]
        letters = (text >= 0) & (self.kind[node] == _NOTHING) & self._is_named("::first-letter")[node]
        own_kind = self.kind[start : self.starts[number + 1]]
        texts = start + np.flatnonzero(own_kind == Kind.TEXT) if letters.any() else node[:0]
        for entry in np.flatnonzero(letters).tolist():
            # A text that is all in the first letter has an empty box of its own, or one of white space.
            at = int(np.searchsorted(texts, node[entry]))
            near = ((own, self._string(int(self.value[own]))) for own in texts[at : at + _NEAR].tolist())
            own, words = next((one for one in near if not one[1].isspace()), (0, ""))
            if own and words.strip().casefold() == self.strings[text[entry]].strip().casefold():
                self.style[own], self.box[own], self.paint[own] = style[entry], box[entry], paint[entry]

    def _row(self, row: bytes) -> int:
        return self.rows.setdefault(row, len(self.rows)) if row != b"[]" else -1

    def add_generated_texts(self) -> None:
        """Add the text of each pseudo-element as a node after all others."""
        if not self.generated:
            return
        texts, styles, boxes, paints = zip(*self.generated.values(), strict=True)
        count = len(texts)
        self.parent = np.append(self.parent, [*self.generated])
        self.kind = np.append(self.kind, [Kind.TEXT] * count)
        self.name = np.append(self.name, [self._number("#text")] * count)
        self.is_xml, self.in_shadow = (
            np.append(one, np.zeros(count, np.bool_)) for one in (self.is_xml, self.in_shadow)
        )
        self.value = np.append(self.value, [self._number(text) for text in texts])
        self.style = np.append(self.style, np.array(styles, np.int32))
        self.paint = np.append(self.paint, np.array(paints, np.int32))
        self.box = np.concatenate((self.box, boxes))
        self.attributes += [[]] * count

    def add_json_ld(self) -> None:
        """Add the text of each JSON-LD script to its attributes."""
        is_script = self._is_named("script") & (self.kind == Kind.ELEMENT)
        texts: dict[int, list[str]] = {}
        for node in np.flatnonzero(is_script).tolist():
            flat = self.attributes[node]
            for name, value in zip(flat[::2], flat[1::2], strict=True):
                if self.strings[name].lower() == "type" and is_json_ld(self._string(value)):
                    texts[node] = []
        inside = (self.kind == Kind.TEXT) & np.isin(self.parent, [*texts])
        for text in np.flatnonzero(inside).tolist():
            texts[int(self.parent[text])].append(self._string(int(self.value[text])))
        for node, parts in texts.items():
            if (said := "".join(parts)).strip() and len(said) <= LONGEST_JSON_LD:
                pair = [self._number(JSON_LD), self._number(said)]
                self.attributes[node] = [*self.attributes[node], *pair]

    def is_kept(self) -> NDArray[np.bool_]:
        """Return for each node whether it is kept; children of dropped nodes are dropped, too."""
        is_text = (self.kind == Kind.TEXT) | (self.kind == CDATA)
        kept: NDArray[np.bool_] = is_text | np.isin(self.kind, (Kind.ELEMENT, Kind.PSEUDO, Kind.DOCUMENT))
        kept &= ~(is_text & self._is_named(*_CODE)[self.parent])
        # A line break between two elements of preformatted text has only a height.
        takes_room = self.box[:, 3] > 0
        unseen = np.flatnonzero(kept & is_text & ~takes_room)
        kept[unseen] = [bool(self._string(text).strip()) for text in self.value[unseen].tolist()]
        return kept

    def _is_named(self, *names: str) -> NDArray[np.bool_]:
        distinct, inverse = np.unique(self.name, return_inverse=True)
        hits = np.array([self._string(name).lower() in names for name in distinct.tolist()], np.bool_)
        return np.take(hits, inverse)

    def reading_order(self) -> NDArray[np.intp]:
        """Return the numbers of all nodes in depth-first order.

        Chrome's order is almost the same. The text of a pseudo-element is moved after it. ``::after`` and the
        document of a frame are moved after the last node of the subtree that contains them, deeper ones first, with
        the ``::marker`` that they may have.
        """
        is_after = self._is_named("::after") & (self.kind == Kind.PSEUDO)
        texts = np.arange(self.starts[-1], self.kind.size)
        return self._order(0, is_after, texts)

    def _order(
        self, number: int, is_after: NDArray[np.bool_], generated: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """Return the reading order of a document including those in its frames."""
        start, stop = self.starts[number], self.starts[number + 1]
        inner = {self.starts[document]: document for _, document in self.frames[number]}
        nodes = np.concatenate((np.arange(start, stop), np.array([*inner], np.intp)))
        above = self.parent[nodes]
        goes_last = np.append(is_after[start:stop], np.ones(len(inner), np.bool_))
        end = subtree_ends(self.documents[number].nodes.parent_index) + start
        place = nodes.astype(np.float64)
        deeper = (above[goes_last] - start) / (4 * (stop - start))
        place[goes_last] = end[above[goes_last] - start] - 0.5 - deeper
        inside = np.flatnonzero(is_after[self.parent[start + 1 : stop]]) + 1
        place[inside] = place[above[inside] - start] + 1 / (8 * (stop - start))
        texts = generated[(self.parent[generated] >= start) & (self.parent[generated] < stop)]
        pseudo = self.parent[texts] - start
        behind = np.repeat([0, 1], [nodes.size, texts.size])
        order = np.lexsort((behind, np.append(place, place[pseudo])))
        nodes = np.append(nodes, texts)[order]
        cuts = np.flatnonzero(np.isin(nodes, [*inner]))
        parts = np.split(nodes, cuts)
        return np.concatenate(
            parts[:1]
            + [
                np.append(self._order(inner[int(part[0])], is_after, generated), part[1:])
                for part in parts[1:]
            ]
        )

    def columns(self, order: NDArray[np.intp], style_names: tuple[str, ...]) -> Columns:
        """Return the columns of the nodes in `order`, which is a reading order or the beginning of one."""
        place = np.full(self.kind.size, -1, np.int32)
        place[order] = np.arange(order.size, dtype=np.int32)
        parent = place[self.parent[order]]
        parent[0] = -1
        kind = self.kind[order].astype(np.uint8)
        kind[kind == CDATA] = Kind.TEXT
        text = self._without_gaps(self.value[order])
        text[kind != Kind.TEXT] = -1
        tag, tags = self._tags(order, parent, kind)
        attributes = [self.attributes[node] for node in order.tolist()]
        pairs = np.fromiter(chain.from_iterable(attributes), np.int32).reshape(-1, 2)
        attr_name, attr_value = self._in_lower_case(pairs[:, 0]), self._without_gaps(pairs[:, 1])
        rows, style = _renumbered(self.style[order])
        distinct = [msgspec.json.decode(row) for row in self.rows]
        table = np.array([distinct[row] for row in rows.tolist()], np.int32).reshape(-1, len(style_names))
        cells = self._without_gaps(table.ravel())
        used, ids = _renumbered(np.concatenate((text, attr_name, attr_value, cells)))
        text, attr_name, attr_value, cells = np.split(
            ids, np.cumsum((text.size, attr_name.size, attr_value.size))
        )
        return Columns(
            parent=parent,
            end=subtree_ends(parent.tolist()),
            kind=kind,
            tag=tag,
            text=text,
            style=style,
            # Transforms can move an edge beyond the range of a column.
            box=np.clip(self.box[order], -_FURTHEST, _FURTHEST).astype(np.float32),
            paint=self.paint[order],
            attr_start=np.cumsum([0, *map(len, attributes)], dtype=np.int32) // np.int32(2),
            attr_name=attr_name,
            attr_value=attr_value,
            tags=tags,
            strings=StringTable.from_strings([self.strings[number] for number in used.tolist()]),
            style_names=style_names,
            styles=cells.reshape(table.shape),
        )

    def _tags(
        self, order: NDArray[np.intp], parent: NDArray[np.int32], kind: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int32], StringTable]:
        """Return the number of the tag of each node, and the tags.

        Those of elements that do not say what HTML elements of their name say have a colon.
        """
        distinct, name = np.unique(2 * self.name[order] + self.is_xml[order], return_inverse=True)
        found = [
            self.strings[number] if in_xml else tag_of(self.strings[number])
            for number, in_xml in (divmod(one, 2) for one in distinct.tolist())
        ]
        is_strange = self.in_shadow[order] & np.isin(found, OF_DOCUMENT)[name]
        is_strange |= strays_of(np.isin(found, ["html"])[name], np.isin(found, ["body"])[name], parent, kind)
        distinct, name = np.unique(2 * name + is_strange, return_inverse=True)
        tags = Interner()
        numbers = [tags(":" * (one % 2) + found[one // 2]) for one in distinct.tolist()]
        return np.array(numbers, np.int32)[name], tags.table()

    def _without_gaps(self, ids: NDArray[Any]) -> NDArray[np.int32]:
        """Return `ids` with the id of the empty string instead of -1."""
        return np.where(ids < 0, self._number(""), ids).astype(np.int32)

    def _in_lower_case(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        distinct, inverse = np.unique(ids, return_inverse=True)
        lower = [self._number(self.strings[number].lower()) for number in distinct.tolist()]
        return np.array(lower, np.int32)[inverse]


def _scale(outer: NDArray[np.float64], inner: NDArray[np.float64]) -> float:
    """Return by how much transforms scale what is in a frame, of which the sizes (2,) of element and page are given.

    Captures have the page unscaled. Borders and paddings make the sizes differ, too, but rarely in one proportion.
    """
    if not (inner > 0).all():
        return 1.0
    across, down = (outer / inner).tolist()
    is_scaled = across > 0 and abs(down / across - 1) < _ALIKE < abs(across - 1)
    return float(across) if is_scaled else 1.0


def _joined(columns: Iterable[list[int]]) -> NDArray[np.intp]:
    return np.fromiter(chain.from_iterable(columns), np.intp)


def _renumbered(ids: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """Return the distinct ids in ascending order, and `ids` as positions among them; -1 stays."""
    used = np.zeros(int(ids.max(initial=-1)) + 2, np.bool_)
    used[ids] = True
    used[-1] = False
    place = np.cumsum(used, dtype=np.int32) - np.int32(1)
    place[-1] = -1
    return np.flatnonzero(used), place[ids]
