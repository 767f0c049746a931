"""The texts of an open page and where they are: what `domsieve.renderer.page.pixels` pictures and counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page._convert import Capture, _Document, _Layout, _Nodes, _Sparse
from domsieve.snapshot.page import Kind

F64 = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

# Beyond these numbers, texts are judged by layout.
_MOST_FIXED, _MOST_SCROLLERS, _MOST_STICKY = 12, 60, 60
_PROPERTIES = frozenset(
    (
        "font-size",
        "overflow-x",
        "overflow-y",
        "filter",
        "position",
        "background-clip",
        "text-shadow",
        "z-index",
    )
)
_SVG_TEXT = frozenset({"text", "tspan", "textpath"})
# The pixels of a letter, in parts of the square of its size, are about .035 + .55 px / size in a picture of half the
# size: measured on black letters on white in three fonts and ten sizes. Texts of ordinary words are within a third of
# it. A line of text is 1.15 times as high as its letters.
_INK, _INK_OF_EDGES, _LINE_HEIGHT = 0.035, 0.55, 1.15
# Boxes of turned and enlarged letters say little about their size.
_MOST_ENLARGED = 1.5
# Scroll bars take room from the content of a frame.
_FRAME_PX = 20.0


class _PixelNodes(_Nodes, rename="camel", kw_only=True):
    backend_node_id: list[int]
    shadow_root_type: _Sparse = msgspec.field(default_factory=_Sparse)


class _PixelLayout(_Layout, rename="camel", kw_only=True):
    client_rects: list[list[float]]
    scroll_rects: list[list[float]]


class _TextBoxes(msgspec.Struct, rename="camel"):
    layout_index: list[int]
    bounds: list[list[float]]
    start: list[int]
    length: list[int]


class _PixelDocument(_Document, kw_only=True):
    nodes: _PixelNodes
    layout: _PixelLayout
    frame_id: int = msgspec.field(name="frameId")
    text_boxes: _TextBoxes = msgspec.field(name="textBoxes")
    content_width: float = msgspec.field(name="contentWidth", default=0.0)
    content_height: float = msgspec.field(name="contentHeight", default=0.0)


class PixelCapture(Capture, kw_only=True):
    """A capture with the boxes of texts and of what scrolls, and with the browser's ids of nodes."""

    documents: list[_PixelDocument]  # type: ignore[assignment]  # of which all are such


@dataclass(slots=True)
class Scroller:
    """A box that scrolls.

    Parameters
    ----------
    node : the element to scroll.
    outer : number of the scroller around it, -1 for none.
    port : left, top, right and bottom of what it shows, in CSS px of the page before anything is scrolled.
    start, end : left and top offset before anything is scrolled, and the largest ones.
    at : left and top offset now.
    """

    node: int
    outer: int
    port: F64
    start: F64
    end: F64
    at: F64 = field(default_factory=lambda: np.zeros(2))


class Scene:
    """The texts of a page and what is around them. Nodes are numbered through all documents of the capture.

    Parameters
    ----------
    capture : the capture of the page.
    names : its computed properties.

    Attributes
    ----------
    ids : (N,), the browser's ids of the nodes.
    parent : (N,), the node above each, in frames that of the frame; -1 for the document of the page.
    document_of : (N,), the number of the document of each node.
    unsure : (N,), the nodes in backgrounds that are cut to letters, which no highlight makes transparent.
    alone : (N,), the texts that can be made transparent apart from all others.
    spreads : (N,), the texts that are seen outside of their boxes, too: shadows and blurs.
    fixed : the fixed boxes; after `keep_fixed` the outermost that stay where they are when the page is scrolled.
    sticky : the sticky boxes.
    fixed_of : (N,), the fixed box around a node, -1 for none.
    owner, box, ink : the text node of each box (B,), its edges in CSS px of the page before anything is scrolled
        (B, 4), and how many pixels of a picture would differ if its letters were black on white (B,).
    scroller : (B,), the number of the innermost of `scrollers` around each box, -1 for none.
    """

    def __init__(self, capture: PixelCapture, names: Sequence[str]) -> None:
        self.capture = capture
        nodes = [document.nodes for document in capture.documents]
        self._starts = np.cumsum([0, *(len(one.node_type) for one in nodes)])
        self.parent = _joined(one.parent_index for one in nodes)
        self.document_of = np.repeat(np.arange(len(nodes)), np.diff(self._starts))
        for one, start in zip(nodes, self._starts, strict=False):
            self.parent[start + 1 : start + len(one.node_type)] += start
            inner = one.content_document_index
            for frame, number in zip(inner.index, inner.value, strict=True):
                self.parent[self._starts[number]] = start + frame
        self._kind = _joined(one.node_type for one in nodes)
        self.ids = _joined(one.backend_node_id for one in nodes)
        self._names = [capture.strings[name].lower() for name in _joined(one.node_name for one in nodes)]
        self._levels = _levels(self.parent)
        self._read_styles(names)
        self.place(capture)

    def _read_styles(self, names: Sequence[str]) -> None:
        strings, rows = self.capture.strings, dict[bytes, int]()
        row = np.full(self._kind.size, -1)
        for document, start in zip(self.capture.documents, self._starts, strict=False):
            layout = document.layout
            # Of several entries of a node, the first counts.
            for node, raw in zip(reversed(layout.node_index), reversed(layout.styles), strict=True):
                row[start + node] = rows.setdefault(bytes(raw), len(rows))
        table = [msgspec.json.decode(raw) or [-1] * len(names) for raw in rows]
        column = {
            name: [strings[values[number]] if values[number] >= 0 else "" for values in table] + [""]
            for number, name in enumerate(names)
            if name in _PROPERTIES
        }

        def has(name: str, *values: str) -> Bools:
            return np.asarray(np.array([value in values for value in column[name]])[row])

        self._is_boxed = row >= 0
        self._font_px = np.array([_px(value) for value in column["font-size"]])[row]
        self._scrolls = has("overflow-x", "auto", "scroll") | has("overflow-y", "auto", "scroll")
        on_page = self.document_of == 0
        is_element = (self._kind == Kind.ELEMENT) & np.array([":" not in name for name in self._names])
        # What is behind the page covers nothing, and may be the ground of its text.
        is_behind = np.array([value.startswith("-") for value in column["z-index"]])[row]
        self.fixed = np.flatnonzero(has("position", "fixed") & on_page & is_element & ~is_behind)
        self.fixed_of = np.full(row.size, -1)
        self.sticky = np.flatnonzero(has("position", "sticky") & is_element)[:_MOST_STICKY]
        is_root = np.array([name == "html" for name in self._names]) & on_page
        # If the root has an overflow of its own, that of the body is not the window's.
        self._body_scrolls = bool(
            (is_root & ~(has("overflow-x", "visible") & has("overflow-y", "visible"))).any()
        )
        is_cut = np.array(["text" in value for value in column["background-clip"]])[row]
        self.unsure = self._below(is_cut)
        self.alone = has("text-shadow", "none", "")
        blurs = np.array(["blur(" in value or "shadow(" in value for value in column["filter"]])[row]
        self.spreads = ~self.alone | self._below(blurs)
        self.alone &= ~np.array([name in _SVG_TEXT for name in self._names])[np.maximum(self.parent, 0)]

    def keep_fixed(self, stays: Bools) -> None:
        """Tell which of the `fixed` boxes stay where they are when the page is scrolled; the outermost are kept."""
        is_fixed = np.zeros(self.ids.size, np.bool_)
        is_fixed[self.fixed[stays]] = True
        is_fixed &= ~self._below(is_fixed)
        self.fixed = np.flatnonzero(is_fixed)
        self.fixed_of = self._inherited(np.where(is_fixed, np.arange(is_fixed.size), -1))
        self.unsure |= np.isin(self.fixed_of, self.fixed[_MOST_FIXED:])

    def place(self, capture: PixelCapture, contents: Mapping[int, F64] = MappingProxyType({})) -> None:
        """Read where everything is from a capture; from a later one, after the page was stilled.

        Parameters
        ----------
        capture : the capture.
        contents : where the contents of frame elements are: their corners (4, 2) in CSS px, by node.

        Raises
        ------
        ValueError : the page has changed its structure.
        """
        for before, after in zip(self.capture.documents, capture.documents, strict=True):
            if before.nodes.backend_node_id != after.nodes.backend_node_id:
                raise ValueError("The page has changed its structure.")
        self.scrollers: list[Scroller] = []
        self._scroller_of = np.full(self._kind.size, -1)
        bounds = np.full((self._kind.size, 4), np.nan)
        boxes, owners, letters = [np.zeros((0, 4))], [np.zeros(0, np.intp)], [np.zeros(0)]
        for number, document in enumerate(capture.documents):
            start, layout, text = int(self._starts[number]), document.layout, document.text_boxes
            frame = int(self.parent[start])
            if not layout.bounds or (frame >= 0 and not self._is_boxed[frame]):
                continue
            own = np.array(layout.bounds)
            offset = np.zeros(2)
            if frame >= 0:
                offset = self._frame_offset(frame, number, bounds, own, contents)
            own[:, :2] += offset
            node = np.array(layout.node_index, np.intp) + start
            bounds[node[::-1]] = own[::-1]
            self._add_scrollers(document, node, own, frame)
            if text.bounds:
                places = np.array(text.bounds)
                places[:, :2] += offset
                boxes.append(_edges(places))
                owners.append(node[text.layout_index])
                letters.append(_letters(capture, number))
        owner, box, count = np.concatenate(owners), np.concatenate(boxes), np.concatenate(letters)
        is_text = (self._kind[owner] == Kind.TEXT) & (count > 0)
        self.owner, self.box = owner[is_text], box[is_text]
        size = (self.box[:, 3] - self.box[:, 1]) / _LINE_HEIGHT
        size = np.clip(size, 0, _MOST_ENLARGED * self._font_px[self.owner])
        self.ink = count[is_text] * (_INK * size**2 + _INK_OF_EDGES * size)
        self.scroller = self._inherited(self._scroller_of)[self.owner]

    def _frame_offset(
        self, frame: int, number: int, bounds: F64, own: F64, contents: Mapping[int, F64]
    ) -> F64:
        """Return where the document of a frame begins; its texts are unsure if it is not drawn as large as it is."""
        corners = contents.get(frame)
        if corners is None:  # in the middle of its element, as in other captures
            return np.asarray(bounds[frame, :2] + (bounds[frame, 2:] - own[0, 2:]) / 2)
        plain = corners[0] + np.array([[0, 0], [own[0, 2], 0], own[0, 2:], [0, own[0, 3]]])
        if np.abs(corners - plain).max() > _FRAME_PX:
            self.unsure[self._starts[number] : self._starts[number + 1]] = True
        return np.asarray(corners[0])

    @property
    def fixed_box(self) -> Ints:
        """The fixed box around each box (B,), -1 for none."""
        return np.asarray(self.fixed_of[self.owner])

    @property
    def frames(self) -> list[int]:
        """The elements with the frames of this page, but not those of frames in it."""
        return [int(self.parent[start]) for start in self._starts[1:-1] if self.parent[start] >= 0]

    def _add_scrollers(self, document: _PixelDocument, node: Ints, bounds: F64, frame: int) -> None:
        """Add the boxes of a document that scroll and show at least a letter; a frame scrolls its document."""
        layout = document.layout
        roots = [one for one in node.tolist() if self._names[one] == "html"]
        if frame >= 0 and roots:
            whole = [0.0, 0.0, document.content_width, document.content_height]
            self._add_scroller(roots[0], frame, bounds[0], whole)
        for entry in np.flatnonzero(self._scrolls[node]).tolist():
            one, client, whole = int(node[entry]), layout.client_rects[entry], layout.scroll_rects[entry]
            is_window = frame < 0 and self._names[one] in (
                ("html",) if self._body_scrolls else ("html", "body")
            )
            if client and whole and not is_window:
                port = np.array([*(bounds[entry, :2] + client[:2]), *client[2:]])
                self._add_scroller(one, int(self.parent[one]), port, whole)

    def _add_scroller(self, node: int, above: int, port: F64, whole: Sequence[float]) -> None:
        """Add a scroller if anything of it does not fit: `port` and `whole` are x, y, width and height."""
        offset, size = np.array(whole[:2]), np.array(whole[2:])
        if (size <= port[2:] + 1).all() or port[2:].min() < max(self._font_px[node], 1.0):
            return
        if self._scroller_of[node] >= 0:
            return
        if len(self.scrollers) == _MOST_SCROLLERS:
            self.unsure[self._below_one(node)] = True
            return
        while above >= 0 and self._scroller_of[above] < 0:
            above = int(self.parent[above])
        outer = int(self._scroller_of[above]) if above >= 0 else -1
        self._scroller_of[node] = len(self.scrollers)
        end = np.maximum(size - port[2:], 0)
        self.scrollers.append(Scroller(node, outer, _edges(port[None])[0], offset, end, offset.copy()))

    # ---- what is in view

    def in_view(self) -> tuple[F64, F64]:
        """Return where all boxes are now (B, 4), and how much of each is in the boxes that it scrolls in (B,).

        The share is of what fits into these at once.
        """
        count = len(self.scrollers)
        moved = np.zeros((count + 1, 2))  # the last for boxes that do not scroll
        port = np.tile([-np.inf, -np.inf, np.inf, np.inf], (count + 1, 1))
        for number, one in enumerate(self.scrollers):
            before = moved[one.outer]
            own = one.port - np.tile(before, 2)
            port[number] = common(own, port[one.outer])
            moved[number] = before + one.at - one.start
        box = self.box - np.tile(moved[self.scroller], 2)
        part = common(box, port[self.scroller])
        whole, seen = box[:, 2:] - box[:, :2], np.maximum(part[:, 2:] - part[:, :2], 0)
        room = np.array([one.port[2:] - one.port[:2] for one in self.scrollers] + [[np.inf, np.inf]])
        fits = np.minimum(whole, room[self.scroller])
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.nan_to_num((seen / fits).prod(axis=1), nan=1.0, posinf=1.0)
        return part, share

    def scroll_to(self, box: int) -> list[Scroller]:
        """Scroll to a box; return the scrollers that it is in, the outermost first, with their new offsets."""
        found: list[Scroller] = []
        target, number = self.box[box, :2], int(self.scroller[box])
        while number >= 0:
            one = self.scrollers[number]
            one.at = np.clip(one.start + target - one.port[:2] - 1, 0, one.end)
            found.append(one)
            target, number = target - (one.at - one.start), one.outer
        return found[::-1]

    def port_of(self, box: int) -> F64:
        """Return what the outermost box shows that a box scrolls in."""
        number = int(self.scroller[box])
        while self.scrollers[number].outer >= 0:
            number = self.scrollers[number].outer
        return self.scrollers[number].port

    def has_closed_trees(self) -> bool:
        """Return whether any node is in a closed shadow tree."""
        types = (one.nodes.shadow_root_type.value for one in self.capture.documents)
        return any(self.capture.strings[name] == "closed" for name in chain.from_iterable(types))

    # ---- the tree

    def _below(self, marked: Bools) -> Bools:
        """Return which nodes have a marked ancestor."""
        found = np.zeros_like(marked)
        for nodes in self._levels[1:]:
            above = self.parent[nodes]
            found[nodes] = found[above] | marked[above]
        return found

    def _below_one(self, node: int) -> Bools:
        marked = np.zeros(self.ids.size, np.bool_)
        marked[node] = True
        return self._below(marked)

    def _inherited(self, values: Ints) -> Ints:
        """Return the value of each node, or if that is -1, of the nearest node above with another."""
        found = values.copy()
        for nodes in self._levels[1:]:
            found[nodes] = np.where(found[nodes] < 0, found[self.parent[nodes]], found[nodes])
        return found


def _letters(capture: PixelCapture, number: int) -> F64:
    """Return how many letters each text box of a document has."""
    document = capture.documents[number]
    text, layout = document.text_boxes, document.layout
    parts = (
        capture.strings[layout.text[entry]][first : first + length] if layout.text[entry] >= 0 else ""
        for entry, first, length in zip(text.layout_index, text.start, text.length, strict=True)
    )
    return np.array([len("".join(part.split())) for part in parts], np.float64)


def _edges(boxes: F64) -> F64:
    """Return left, top, right and bottom of boxes (B, 4), given by x, y, width and height."""
    return np.concatenate((boxes[:, :2], boxes[:, :2] + boxes[:, 2:]), axis=1)


def _px(value: str) -> float:
    return float(value[:-2]) if value.endswith("px") else 0.0


def _joined(columns: Any) -> Ints:
    return np.fromiter(chain.from_iterable(columns), np.intp)


def _levels(parent: Ints) -> list[Ints]:
    """Return the nodes of each depth; a parent may come after its child, as a frame does before its document."""
    level = np.flatnonzero(parent < 0)
    levels = []
    order = np.argsort(parent, kind="stable")
    first = np.searchsorted(parent[order], np.arange(parent.size + 1))
    while level.size:
        levels.append(level)
        spans = [order[first[node] : first[node + 1]] for node in level.tolist()]
        level = np.concatenate(spans) if spans else level[:0]
    return levels


def common(first: F64, second: F64) -> F64:
    """Return what rectangles (..., 4) have in common, given by left, top, right and bottom."""
    begin, end = np.maximum(first[..., :2], second[..., :2]), np.minimum(first[..., 2:], second[..., 2:])
    return np.concatenate((begin, end), axis=-1)
