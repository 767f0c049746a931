"""Turn the answer of ``DOMSnapshot.captureSnapshot`` into the columns of a Snapshot.

What Chrome gives, found by probing version 156: nodes of each document in depth-first order of the flat tree
(closed shadow trees included, slotted children below their slot), all pseudo-elements before the other
children, frames as further documents, -1 for the empty string, several layout entries for one pseudo-element
of which the first is its box and the later ones its text, styles for texts too (those of the parent).

Imports the Snapshot only; no browser is needed.
"""

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import TypedDict

import msgspec
import numpy as np
from numpy.typing import NDArray

from snapshot import Interner, Kind, StringTable, subtree_ends

_CDATA = 4
_TEXTS = (Kind.TEXT, _CDATA)
_NO_BOX = (float("nan"),) * 4
# Their text is no content. The analysis wants the elements as such.
_CODE = frozenset({"script", "style"})
# Inputs whose current value is not what a reader sees, or must not be kept.
_UNREAD_INPUTS = frozenset(
    {"button", "checkbox", "file", "hidden", "image", "password", "radio", "reset", "submit"}
)


class _Sparse(msgspec.Struct):
    index: list[int]
    value: list[int]


class _Nodes(msgspec.Struct, rename="camel"):
    parent_index: list[int]
    node_type: list[int]
    node_name: list[int]
    node_value: list[int]
    attributes: list[list[int]]
    text_value: _Sparse
    input_value: _Sparse
    content_document_index: _Sparse
    pseudo_type: _Sparse


class _Layout(msgspec.Struct, rename="camel"):
    node_index: list[int]
    styles: list[list[int]]
    bounds: list[list[float]]
    text: list[int]
    paint_orders: list[int]


class _Document(msgspec.Struct, rename="camel"):
    document_url: int = msgspec.field(name="documentURL")
    encoding_name: int
    nodes: _Nodes
    layout: _Layout


class Capture(msgspec.Struct):
    """The part of the answer that is read."""

    documents: list[_Document]
    strings: list[str]

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
    """Return the columns of a page of which nothing but its document node is known."""
    return _Draft(1, ["#document"]).columns([0], style_names)


def convert(capture: Capture, style_names: tuple[str, ...], *, max_nodes: int) -> tuple[Columns, bool]:
    """Return the columns of a captured page, and whether nodes after the first `max_nodes` were cut off.

    Dropped are comments, doctypes, texts of ``script`` and ``style``, white space without a box, and
    ``::first-letter``, whose text its parent has too. Time and memory are linear in nodes and strings.
    """
    sizes = [len(document.nodes.node_type) for document in capture.documents]
    starts = list(accumulate(sizes, initial=0))
    draft = _Draft(starts.pop(), capture.strings)
    for document, start in zip(capture.documents, starts, strict=True):
        draft.add_nodes(document.nodes, start, starts)
    for document, start in zip(capture.documents, starts, strict=True):
        draft.add_layout(document.layout, start)
    order = draft.reading_order()
    return draft.columns(order[:max_nodes], style_names), len(order) > max_nodes


class _Draft:
    """The columns of all documents one after another, as lists; reading order comes last."""

    def __init__(self, size: int, strings: list[str]) -> None:
        self.strings = strings
        self.ids = dict(zip(strings, range(len(strings)), strict=True))
        self.parent = [-1] * size
        self.kind: list[int] = [Kind.DOCUMENT] * size
        self.name = [0] * size
        self.value = [-1] * size
        self.attributes: list[list[int]] = [[]] * size
        self.style = [-1] * size
        self.box: list[Sequence[float]] = [_NO_BOX] * size
        self.paint = [-1] * size
        self.rows: dict[tuple[int, ...], int] = {}

    def add_nodes(self, nodes: _Nodes, start: int, starts: list[int]) -> None:
        """Add the nodes of the document that starts at `start`; `starts` are those of all documents."""
        stop = start + len(nodes.node_type)
        # The parent of the document node itself was set by the document around it, if there is one.
        self.parent[start + 1 : stop] = [start + above for above in nodes.parent_index[1:]]
        self.kind[start:stop] = nodes.node_type
        self.name[start:stop] = nodes.node_name
        self.value[start:stop] = nodes.node_value
        self.attributes[start:stop] = nodes.attributes
        for node in nodes.pseudo_type.index:
            self.kind[start + node] = Kind.PSEUDO
        frames = nodes.content_document_index
        for node, document in zip(frames.index, frames.value, strict=True):
            self.parent[starts[document]] = start + node
        for fields in (nodes.input_value, nodes.text_value):
            for node, text in zip(fields.index, fields.value, strict=True):
                self._set_value(start + node, text)

    def _set_value(self, node: int, value: int) -> None:
        """Put what a field holds now into its attribute ``value``."""
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
        """Return the id of `text`, which is added when the page has no such string."""
        number = self.ids.setdefault(text, len(self.strings))
        if number == len(self.strings):
            self.strings.append(text)
        return number

    def add_layout(self, layout: _Layout, start: int) -> None:
        """Add styles and boxes to the nodes of the document that starts at `start`."""
        owner = self.parent[start]
        if owner >= 0 and self.style[owner] < 0:
            return  # a frame that is not shown
        across, down = self._origin(owner, layout)
        entries = zip(
            layout.node_index, layout.styles, layout.bounds, layout.text, layout.paint_orders, strict=True
        )
        generated: dict[int, int] = {}
        for index, row, (x, y, width, height), text, paint in entries:
            if not row:  # the document itself
                continue
            node = start + index
            if text >= 0 and self.kind[node] == Kind.PSEUDO:
                if before := generated.get(node):
                    self.value[before] = self._number(self._string(self.value[before]) + self.strings[text])
                    continue
                generated[node] = node = self._append_text(node, text)
            if self.style[node] < 0:
                self.style[node] = self.rows.setdefault(tuple(row), len(self.rows))
                self.box[node] = (x + across, y + down, width, height)
                self.paint[node] = paint

    def _origin(self, owner: int, layout: _Layout) -> tuple[float, float]:
        """Return where a document lies in the page: in the middle of its frame element.

        The frame's border and padding are taken as equal on opposite sides.
        """
        if owner < 0 or not layout.bounds:
            return 0.0, 0.0
        x, y, width, height = self.box[owner]
        _, _, inner_width, inner_height = layout.bounds[0]
        return x + (width - inner_width) / 2, y + (height - inner_height) / 2

    def _append_text(self, parent: int, text: int) -> int:
        self.parent.append(parent)
        self.kind.append(Kind.TEXT)
        self.name.append(self._number("#text"))
        self.value.append(text)
        self.attributes.append([])
        self.style.append(-1)
        self.box.append(_NO_BOX)
        self.paint.append(-1)
        return len(self.parent) - 1

    def reading_order(self) -> list[int]:
        """Return the numbers of the nodes that are kept: depth first, ``::after`` behind its siblings."""
        tag = {name: self.strings[name].lower() for name in set(self.name)}
        children: list[list[int]] = [[] for _ in self.parent]
        last = []
        for node, (above, kind, name) in enumerate(zip(self.parent, self.kind, self.name, strict=True)):
            if above < 0:  # the page, or a document of no frame
                continue
            if kind in _TEXTS:
                if tag[self.name[above]] in _CODE or self._is_blank(node):
                    continue
            elif kind == Kind.PSEUDO:
                if tag[name] == "::after":
                    last.append(node)
                if tag[name] in ("::after", "::first-letter"):
                    continue
            elif kind not in (Kind.ELEMENT, Kind.DOCUMENT):
                continue
            children[above].append(node)
        for node in last:
            children[self.parent[node]].append(node)
        order, stack = [], [0]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(reversed(children[node]))
        return order

    def _is_blank(self, node: int) -> bool:
        """Return whether a text is white space that takes no room."""
        _, _, width, height = self.box[node]
        return not width * height > 0 and not self._string(self.value[node]).strip()

    def columns(self, order: list[int], style_names: tuple[str, ...]) -> Columns:
        """Return the columns of the nodes in `order`: a reading order or the beginning of one."""
        nodes = np.array(order, np.intp)
        place = np.full(len(self.parent), -1, np.int32)
        place[nodes] = np.arange(nodes.size, dtype=np.int32)
        above = np.array(self.parent, np.intp)[nodes]
        parent = np.where(above < 0, np.int32(-1), place[above])
        kind = np.array(self.kind, np.uint8)[nodes]
        kind[kind == _CDATA] = Kind.TEXT
        text = self._without_gaps(np.array(self.value, np.int32)[nodes])
        text[kind != Kind.TEXT] = -1
        tags = Interner()
        tag_of_name = {name: tags(self.strings[name].lower()) for name in dict.fromkeys(self.name)}
        attributes = [self.attributes[node] for node in order]
        pairs = np.fromiter(chain.from_iterable(attributes), np.int32).reshape(-1, 2)
        names, values = self._in_lower_case(pairs[:, 0]), self._without_gaps(pairs[:, 1])
        rows, style = _renumbered(np.array(self.style, np.int32)[nodes])
        table = np.array([*self.rows], np.int32).reshape(-1, len(style_names))[rows]
        cells = self._without_gaps(table.ravel())
        used, ids = _renumbered(np.concatenate((text, names, values, cells)))
        text, names, values, cells = np.split(ids, np.cumsum((text.size, names.size, values.size)))
        return Columns(
            parent=parent,
            end=subtree_ends(parent.tolist()),
            kind=kind,
            tag=np.array([tag_of_name[self.name[node]] for node in order], np.int32),
            text=text,
            style=style,
            box=np.array([self.box[node] for node in order], np.float32),
            paint=np.array(self.paint, np.int32)[nodes],
            attr_start=np.cumsum([0, *(len(flat) // 2 for flat in attributes)], dtype=np.int32),
            attr_name=names,
            attr_value=values,
            tags=tags.table(),
            strings=StringTable.from_strings([self.strings[number] for number in used.tolist()]),
            style_names=style_names,
            styles=cells.reshape(table.shape),
        )

    def _without_gaps(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return `ids` with the empty string's own id instead of -1."""
        return np.where(ids < 0, np.int32(self._number("")), ids)

    def _in_lower_case(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        distinct, inverse = np.unique(ids, return_inverse=True)
        lower = [self._number(self.strings[number].lower()) for number in distinct.tolist()]
        return np.array(lower, np.int32)[inverse]


def _renumbered(ids: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """Return the distinct ids in ascending order, and `ids` as places among them; -1 stays."""
    used = np.zeros(int(ids.max(initial=-1)) + 2, np.bool_)
    used[ids] = True
    used[-1] = False
    place = np.cumsum(used, dtype=np.int32) - np.int32(1)
    place[-1] = -1
    return np.flatnonzero(used), place[ids]
