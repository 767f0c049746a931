"""Which nodes a reader of the page can see, and why others are hidden."""

import re
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from enum import IntEnum
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import (
    F64,
    AttributeIs,
    Batch,
    Bools,
    Ints,
    TagIs,
    below,
    cached_per_page,
    distinct,
    page_batch,
)
from domsieve.analysis.columns.hash import hash_of
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.columns.panels import opened_panels
from domsieve.budget import check, spending
from domsieve.snapshot.page import Kind, Snapshot

NO_CONTENT = frozenset(["head", "script", "style", "noscript", "template"])
_BLANKS = " \t\n\r\f"


def in_body(batch: Batch, left_out: AbstractSet[str] = NO_CONTENT) -> NDArray[np.bool_]:
    """Return which of N nodes are in the body or frameset of the page.

    Parameters
    ----------
    batch : one page.
    left_out : tags whose elements are not counted as part of the body, nor anything inside them. Pseudo-elements
        never are.
    """
    page = batch.pages[0]
    tags = page.tags.to_list()
    excluded = np.array([name in left_out for name in tags])[page.tag] & batch.elements()
    inside = ~below(excluded | (page.kind == Kind.PSEUDO), batch.end)
    roots = np.flatnonzero((page.parent == 0) & batch.elements())
    tops = np.flatnonzero(np.isin(page.parent, roots) & batch.elements())
    body = next((int(node) for node in tops if tags[page.tag[node]] in {"body", "frameset"}), 0)
    inside[:body] = False
    inside[page.end[body] :] = False
    return inside


def worded(page: Snapshot) -> NDArray[np.bool_]:
    """Return which of N nodes are text with more than ASCII white space; a no-break space counts as text."""
    text = page.kind == Kind.TEXT
    has_words = np.zeros(len(page), np.bool_)
    has_words[text] = [bool(t.strip(_BLANKS)) for t in page.strings.take(page.text[text].tolist())]
    return has_words


_HIDDEN_VALUE = hash_of("hidden")
_HIDING = re.compile(r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))", re.IGNORECASE)


@cached_per_page
def shown_nodes(page: Snapshot) -> NDArray[np.bool_]:
    """Return which of the N nodes of one page are shown; see `visible_nodes`."""
    return visible_nodes(page_batch(page))


@cached_per_page
def never_shown(page: Snapshot) -> NDArray[np.bool_]:
    """Return which of the N nodes are in elements such as ``script`` or ``head``, which browsers do not show.

    A node that a style sheet shows nevertheless, such as a visible ``title``, is not one of them.
    """
    batch = page_batch(page)
    return below((batch.tag_is & TagIs.NEVER_SHOWN) != 0, batch.end) & (page.style < 0)


def visible_nodes(batch: Batch) -> NDArray[np.bool_]:
    """Return which of the N nodes are shown.

    On a rendered page a text is shown if it has a box and computed ``visibility: visible``, and an element if it or a
    descendant has a box (``display: contents``). On a raw page a node is shown unless it or an ancestor is of a tag
    that is never shown, has the ``hidden`` attribute, is a hidden input, or is hidden by inline CSS. A panel that a
    visible control opens counts as shown, see `panels`.
    """
    layouts = [page.has_layout for page in batch.pages]
    if all(layouts):
        return np.concatenate([_rendered(page) for page in batch.pages])
    hidden = (batch.tag_is & TagIs.NEVER_SHOWN) != 0
    by_attribute = np.zeros_like(hidden)
    by_attribute[_hidden_by_attribute(batch)] = True
    shown = ~below(hidden | by_attribute, batch.end)
    is_opened = False
    for page, a, b in zip(batch.pages, batch.first[:-1], batch.first[1:], strict=True):
        if not page.has_layout and by_attribute[a:b].any():
            panels = opened_panels(page, np.flatnonzero(by_attribute[a:b]), shown[a:b])
            by_attribute[a + panels] = False
            is_opened |= panels.size > 0
    if is_opened:
        shown = ~below(hidden | by_attribute, batch.end)
    for page, a, b in zip(batch.pages, batch.first[:-1], batch.first[1:], strict=True):
        if page.has_layout:
            shown[a:b] = _rendered(page)
    return shown


def in_closed_panels(page: Snapshot) -> NDArray[np.bool_]:
    """Return which of the N nodes count as shown only because a visible control opens their panel."""
    batch = page_batch(page)
    closed = np.zeros(len(page), np.bool_)
    if not page.has_layout:
        closed[_hidden_by_attribute(batch)] = True
    return below(closed, batch.end) & shown_nodes(page)


def _rendered(page: Snapshot) -> NDArray[np.bool_]:
    shown = page.rendered()
    if "visibility" in page.style_names and page.styles.size:
        row = page.styles[:, page.style_names.index("visibility")]
        seen = np.array([page.strings[v] == "visible" for v in np.unique(row).tolist()])
        if not seen.all():
            by_row = seen[np.unique(row, return_inverse=True)[1]]
            text = page.kind == Kind.TEXT
            shown[text] &= by_row[page.style[text]] & (page.style[text] >= 0)
    return shown


def _hidden_by_attribute(batch: Batch) -> NDArray[np.int64]:
    """Return the nodes that an attribute hides, in no order and possibly more than once."""
    hidden = (batch.attr_is & AttributeIs.HIDDEN) != 0
    typed = np.flatnonzero(batch.attr_is & AttributeIs.TYPE)
    hidden[typed[batch.hashes(batch.attr_value[typed]) == _HIDDEN_VALUE]] = True
    styled = np.flatnonzero(batch.attr_is & AttributeIs.STYLE)
    values, which = distinct(batch.attr_value[styled], len(batch.strings))
    hides = np.array([bool(_HIDING.search(text)) for text in batch.texts(values)], np.bool_)
    hidden[styled[hides[which]]] = True
    nodes: NDArray[np.int64] = batch.attr_owner[hidden]
    return nodes


class Hiding(IntEnum):
    """Why a text cannot be seen. If there are several reasons, the first counts."""

    NONE = 0
    NO_BOX = 1
    INVISIBLE = 2
    NO_SIZE = 3
    TRANSPARENT = 4
    CLIPPED = 5
    OFF_SCREEN = 6
    SAME_COLOUR = 7
    COVERED = 8


HIDING_REASONS = (
    "",
    "hidden: not rendered",
    "hidden: visibility",
    "hidden: no size",
    "hidden: transparent",
    "hidden: clipped",
    "hidden: off screen",
    "hidden: colour of its ground",
    "hidden: covered",
)

_EVERYWHERE = np.array([-np.inf, -np.inf, np.inf, np.inf])
_NOWHERE = np.array([0.0, 0.0, 0.0, 0.0])
# The limits were chosen by hand. With them 47 of 50 texts marked as hidden could not be seen (docs/hidden-text.md).
_LEAST_PX = 1.0  # boxes and letters up to this size show nothing
_LEAST_OPACITY = 0.05
_SAME_COLOUR = 6  # largest difference of a channel, of 255, that counts as the same colour
# Guesses that bound the work: texts are compared with boxes in up to 64 horizontal bands of at least 128 texts.
_BANDS, _FEWEST_IN_BAND, _MOST_COVERS = 64, 128, 2_000
_WHITE = np.array([255.0, 255.0, 255.0])
_UNKNOWN = (np.nan, np.nan, np.nan, 0.5)  # an unknown colour: neither opaque nor transparent
_POSITIONS = {"static": 0, "relative": 1, "absolute": 2, "fixed": 3, "sticky": 4}
_CUTS, _SCROLLS = 1, 2
_NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")
_EMPTY_SHAPE = re.compile(
    r"circle\(0(?:px|%)?(?: at .*)?\)|ellipse\(0.*\)|inset\((?:5\d|[6-9]\d|100)(?:\.\d+)?%.*\)"
)


@cached_per_page
def hidden_texts(page: Snapshot) -> NDArray[np.uint8]:
    """Return the `Hiding` of each of the N nodes; `Hiding.NONE` for nodes that are not text with words.

    Takes O(N log N), and up to 2,000 boxes are compared with each text.
    """
    with spending("visibility", page.provenance.url):
        return _hidden(page)


def _hidden(page: Snapshot) -> NDArray[np.uint8]:
    texts = page_texts(page)
    text = texts.node[~texts.is_blank]
    reason = np.zeros(len(page), np.uint8)
    text = text[~never_shown(page)[text]]
    if not page.has_layout:
        reason[text[~shown_nodes(page)[text]]] = Hiding.NO_BOX
        return reason
    reason[text[page.style[text] < 0]] = Hiding.NO_BOX
    text = text[page.style[text] >= 0]
    if text.size:
        reason[text] = _Scene(page).judge(text)
    return reason


class _Scene:
    """The computed styles of a page, and what each node inherits: clipping, opacity and background."""

    def __init__(self, page: Snapshot) -> None:
        self.page = page
        self.node = _Styles(page)
        n = len(page)
        x, y, width, height = page.box.astype(np.float64).T
        self.rect = np.stack((x, y, x + width, y + height), axis=1)
        self.clip = np.tile(_EVERYWHERE, (n, 1))  # applies to the normal flow inside a node
        self.clip_placed = self.clip.copy()  # applies to its absolutely positioned descendants
        self.own_clip = self.clip.copy()
        self.opacity = np.ones(n)
        self.moves = np.zeros(n, np.bool_)
        self.ground = np.tile(_WHITE, (n, 1))  # NaN where it is unknown
        self.cut_to_text = np.zeros(n, np.bool_)
        for nodes in _levels(page):
            check()
            self._inherit(nodes)

    def _inherit(self, nodes: Ints) -> None:
        page, node = self.page, self.node
        above = np.maximum(page.parent[nodes], 0)
        fixed, placed = node.fixed[nodes], node.absolute[nodes]
        own = np.where(placed[:, None], self.clip_placed[above], self.clip[above])
        own[fixed] = _EVERYWHERE
        self.own_clip[nodes] = own
        inner = own.copy()
        cuts, scrolls, shapeless = node.cuts[nodes], node.scrolls[nodes], node.shapeless[nodes]
        inner[cuts] = _common(own[cuts], self.rect[nodes[cuts]])
        # All content of a scrolling box can be seen if the box itself can.
        seen = _is_seen(_common(own[scrolls], self.rect[nodes[scrolls]]))
        inner[scrolls] = np.where(seen[:, None], _EVERYWHERE, _NOWHERE)
        inner[shapeless] = _NOWHERE
        self.clip[nodes] = inner
        self.clip_placed[nodes] = np.where(node.holds_placed[nodes, None], inner, self.clip_placed[above])
        self.opacity[nodes] = self.opacity[above] * node.opacity[nodes]
        self.moves[nodes] = self.moves[above] | node.moves[nodes]
        ground, alpha = node.ground[nodes], node.ground[nodes, 3:]
        self.ground[nodes] = np.where(
            alpha == 1, ground[:, :3], np.where(alpha == 0, self.ground[above], np.nan)
        )
        self.cut_to_text[nodes] = self.cut_to_text[above] | node.cut_to_text[nodes]

    def judge(self, text: Ints) -> NDArray[np.uint8]:
        """Return the `Hiding` of each of these texts, which have boxes."""
        node, above = self.node, self.page.parent[text]
        rect, ink = self.rect[text], node.ink[text]
        size = np.minimum(rect[:, 2] - rect[:, 0], rect[:, 3] - rect[:, 1])
        see_through = (ink[:, 3] < _LEAST_OPACITY) & ~self.cut_to_text[text]
        same = np.abs(ink[:, :3] - self.ground[above]).max(axis=1) <= _SAME_COLOUR  # NaN is not
        same &= ~self.cut_to_text[text]
        same[same] = ~self._stands_on_other(text[same])
        tests = (
            ~node.seen[text],
            (size <= _LEAST_PX) | (node.letter_px[text] <= _LEAST_PX),
            see_through | (self.opacity[above] < _LEAST_OPACITY),
            ~_is_seen(_common(self.clip[above], rect)),
            (rect[:, 2] <= 0) | (rect[:, 3] <= 0),
            same,
            self._is_covered(text),
        )
        return np.select(tests, [np.uint8(h) for h in list(Hiding)[2:]], np.uint8(Hiding.NONE))

    def _painted(self, painted: Bools) -> Ints:
        """Return those of the `painted` (N,) nodes whose boxes can be seen."""
        page = self.page
        boxed = np.flatnonzero(painted & self.node.seen & (page.style >= 0) & (page.kind != Kind.TEXT))
        visible: Ints = boxed[_is_seen(_common(self.own_clip[boxed], self.rect[boxed]))]
        return visible

    def _stands_on_other(self, text: Ints) -> Bools:
        """Return which texts lie over a box that is not their ancestor and may give them another background."""
        stands = np.zeros(text.size, np.bool_)
        if not text.size:
            return stands
        boxes = self._painted((self.node.ground[:, 3] > 0) | self.node.is_picture)
        middle = (self.rect[text, :2] + self.rect[text, 2:]) / 2
        middle = np.concatenate((middle, middle), axis=1)
        for at, over in self._bands(middle, boxes):
            node, box = text[at][:, None], boxes[over][None]
            around = (box < node) & (self.page.end[box] > node)
            stands[at] = (_holds(self.rect[box], middle[at][:, None]) & ~around).any(axis=1)
        return stands

    def _is_covered(self, text: Ints) -> Bools:
        """Return which texts are completely under one opaque box that is painted later and scrolls with the page."""
        paint = self.page.paint
        solid = self.node.is_opaque & ~self.moves & (self.opacity > 1 - _LEAST_OPACITY) & ~self.cut_to_text
        boxes = self._painted(solid & (paint > paint[text].min()))
        covers = _common(self.own_clip[boxes], self.rect[boxes])
        covered = np.zeros(text.size, np.bool_)
        for at, over in self._bands(self.rect[text], boxes):
            later = paint[boxes[over]][None] > paint[text[at]][:, None]
            covered[at] = (later & _holds(covers[over][None], self.rect[text[at]][:, None])).any(axis=1)
        return covered

    def _bands(self, rect: F64, boxes: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Yield groups of rows of `rect` with similar tops, each with the `boxes` that reach those tops.

        Each group gets at most the 2,000 largest boxes, so that no page can cause quadratic time.
        """
        if not boxes.size or not len(rect):
            return
        order = np.argsort(rect[:, 1], kind="stable")
        top, bottom = self.rect[boxes, 1], self.rect[boxes, 3]
        area = (self.rect[boxes, 2] - self.rect[boxes, 0]) * (bottom - top)
        for at in np.array_split(order, min(_BANDS, 1 + order.size // _FEWEST_IN_BAND)):
            check()
            first, last = rect[at[0], 1], rect[at[-1], 1]
            over = np.flatnonzero((top <= last) & (bottom >= first))
            if over.size > _MOST_COVERS:
                over = np.sort(over[np.argsort(-area[over], kind="stable")[:_MOST_COVERS]])
            if over.size:
                yield at, over


class _Styles:
    """Computed styles of the N nodes, each array (N, ...); CSS initial values for what was not captured."""

    def __init__(self, page: Snapshot) -> None:
        self._page = page
        position = self._each("position", "static", lambda value: _POSITIONS.get(value, 0))
        self.absolute, self.fixed = position == _POSITIONS["absolute"], position == _POSITIONS["fixed"]
        self.moves = self.fixed | (position == _POSITIONS["sticky"])
        self.seen = self._each("visibility", "visible", lambda value: value == "visible")
        self.opacity = self._each("opacity", "1", lambda value: _clamp(_number(value, 1.0), 1.0))
        self.letter_px = self._each("font-size", "16px", lambda value: _number(value, 16.0))
        self.ink = self._each("color", "rgb(0, 0, 0)", _colour)
        self.ground = self._each("background-color", "rgba(0, 0, 0, 0)", _colour)
        picture = self._each("background-image", "none", lambda value: value != "none")
        self.ground[picture] = _UNKNOWN
        self.cut_to_text = self._each("background-clip", "border-box", lambda value: value == "text")
        across, down = (self._each(f"overflow-{axis}", "visible", _overflow) for axis in "xy")
        # Overflow of the root and the body applies to the window, which scrolls.
        inside = ~self._is_tag("html", "body")
        self.cuts: Bools = inside & ((across == _CUTS) | (down == _CUTS))
        self.scrolls: Bools = inside & ((across == _SCROLLS) | (down == _SCROLLS))
        self.shapeless = self._each("clip-path", "none", lambda value: bool(_EMPTY_SHAPE.match(value)))
        # The older property `clip` applies to positioned boxes only.
        self.shapeless |= (self.absolute | self.fixed) & self._each("clip", "auto", _is_empty)
        self.holds_placed = (position > 0) | self.shapeless
        self.is_picture = self._is_tag(
            "canvas", "embed", "iframe", "img", "object", "picture", "svg", "video"
        )
        # Pictures do not count: they may be transparent or missing.
        self.is_opaque = self.ground[:, 3] == 1

    def _each(self, name: str, initial: str, read: Callable[[str], Any]) -> NDArray[Any]:
        """Return ``read(value)`` of a property for each node; `read` is called once for each distinct value."""
        page = self._page
        known = name in page.style_names
        column = page.styles[:, page.style_names.index(name)] if known else np.zeros(0, np.int32)
        value, of_row = np.unique(column, return_inverse=True)
        read_values = np.array([*map(read, page.strings.take(value.tolist())), read(initial)])
        row = np.append(of_row if known else np.zeros(len(page.styles), np.intp), value.size)
        of_node: NDArray[Any] = read_values[
            row[page.style]
        ]  # -1 (no style) is the last row, the initial value
        return of_node

    def _is_tag(self, *names: str) -> Bools:
        tags = np.array([tag in names for tag in self._page.tags.to_list()], np.bool_)
        return tags[self._page.tag]


def _levels(page: Snapshot) -> Iterator[Ints]:
    """Yield the nodes of each depth, from the children of the document down."""
    steps = np.zeros(len(page) + 1, np.int64)
    steps[1:] += 1
    np.subtract.at(steps, page.end, 1)
    depth = np.cumsum(steps[:-1])
    order = np.argsort(depth, kind="stable")
    cuts = np.searchsorted(depth[order], np.arange(1, int(depth.max(initial=0)) + 2))
    for first, last in pairwise(cuts):
        yield order[first:last]


def _common(first: F64, second: F64) -> F64:
    """Return the intersection of rectangles (n, 4) with edges left, top, right, bottom; empty for missing boxes."""
    common = np.concatenate(
        (np.maximum(first[:, :2], second[:, :2]), np.minimum(first[:, 2:], second[:, 2:])), 1
    )
    return np.where(np.isnan(common), 0.0, common)


def _is_seen(rect: F64) -> Bools:
    return np.asarray(((rect[:, 2:] - rect[:, :2]) > _LEAST_PX).all(axis=1))


def _holds(outer: F64, inner: F64) -> Bools:
    """Return which rectangles of `outer` contain those of `inner`, with half a pixel of tolerance."""
    begins = outer[..., :2] <= inner[..., :2] + 0.5
    ends = outer[..., 2:] >= inner[..., 2:] - 0.5
    return np.asarray((begins & ends).all(axis=-1))


def _number(value: str, default: float) -> float:
    match = _NUMBER.match(value)
    return float(match[0]) if match else default


def _clamp(number: float, most: float) -> float:
    """Return `number` limited to 0 .. `most`, as CSS does."""
    return min(max(number, 0.0), most)


def _overflow(value: str) -> int:
    return _CUTS if value in {"hidden", "clip"} else _SCROLLS if value in {"auto", "scroll"} else 0


def _colour(value: str) -> tuple[float, float, float, float]:
    """Return red, green and blue from 0 to 255, and alpha from 0 to 1; `_UNKNOWN` for colours not in RGB."""
    channels = [float(number) for number in _NUMBER.findall(value)]
    if not value.startswith("rgb") or len(channels) not in {3, 4}:
        return _UNKNOWN
    red, green, blue, alpha = (*channels, 1.0)[:4]
    return _clamp(red, 255.0), _clamp(green, 255.0), _clamp(blue, 255.0), _clamp(alpha, 1.0)


def _is_empty(rect: str) -> bool:
    """Return whether a value of the property ``clip`` hides everything."""
    edges = [float(number) for number in _NUMBER.findall(rect)] if "auto" not in rect else []
    return len(edges) == 4 and (edges[2] - edges[0] <= _LEAST_PX or edges[1] - edges[3] <= _LEAST_PX)
