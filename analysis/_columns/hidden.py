"""Which texts of a rendered page a person cannot see, and why: what feeds planted instructions to language models.

Every test errs on the side of visible: what scrolling can bring up is visible, what a fixed box covers for the moment
is, and so is text whose ground is unknown (pictures, half-transparent layers). Text that a click would bring up, such
as a closed menu, is hidden. Raw pages have no boxes; of them only what tags and attributes hide is known.
"""

import re
from collections.abc import Iterator
from enum import IntEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from analysis._columns.batch import Batch, Bools, Ints, below
from analysis._columns.names import TagIs
from analysis._columns.visible import visible_nodes
from snapshot import Kind, Snapshot

F64 = NDArray[np.float64]


class Hiding(IntEnum):
    """Why a text cannot be seen; of several reasons the first."""

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
_LEAST_PX = 1.0  # what has no more than this in width, height or letter size shows nothing
_LEAST_OPACITY = 0.05
_SAME_COLOUR = 6  # greatest difference of a channel, of 255, that nobody sees
_BANDS, _MOST_COVERS = 64, 2_000
_WHITE = np.array([255.0, 255.0, 255.0])
_PICTURES = frozenset(["canvas", "embed", "iframe", "img", "object", "picture", "svg", "video"])
_OPAQUE_PICTURES = frozenset(["img", "video"])
_NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")
_EMPTY_SHAPE = re.compile(
    r"circle\(0(?:px|%)?(?: at .*)?\)|ellipse\(0.*\)|inset\((?:5\d|[6-9]\d|100)(?:\.\d+)?%.*\)"
)


def hidden_texts(page: Snapshot) -> NDArray[np.uint8]:
    """Return for each of the N nodes a `Hiding`; other nodes than texts with a word are `Hiding.NONE`.

    O(N) per level of the page for what is inherited, O(N log N) for what covers what.
    """
    batch = Batch.of([page])
    text = np.flatnonzero(page.kind == Kind.TEXT)
    worded = np.array(
        [not t.isspace() and bool(t) for t in page.strings.take(page.text[text].tolist())], np.bool_
    )
    text = text[worded]
    reason = np.zeros(len(page), np.uint8)
    never = below((batch.tag_is & TagIs.NEVER_SHOWN) != 0, batch.end)
    text = text[~never[text]]
    if not page.has_layout:
        reason[text[~visible_nodes(batch)[text]]] = Hiding.NO_BOX
        return reason
    reason[text[page.style[text] < 0]] = Hiding.NO_BOX
    text = text[page.style[text] >= 0]
    if text.size:
        reason[text] = _Scene(page).judge(text)
    return reason


class _Scene:
    """What the boxes of a page inherit from those around them."""

    def __init__(self, page: Snapshot) -> None:
        self.page = page
        self.rows = _Rows(page)
        n = len(page)
        x, y, width, height = page.box.astype(np.float64).T
        self.rect = np.stack((x, y, x + width, y + height), axis=1)
        self.clip = np.tile(_EVERYWHERE, (n, 1))  # of what stands in the flow of a node
        self.clip_placed = self.clip.copy()  # of its absolutely positioned descendants
        self.own_clip = self.clip.copy()
        self.opacity = np.ones(n)
        self.moves = np.zeros(n, np.bool_)
        self.ground = np.tile(_WHITE, (n, 1))  # NaN where it is unknown
        self.cut_to_text = np.zeros(n, np.bool_)
        for nodes in _levels(page):
            self._inherit(nodes)

    def _inherit(self, nodes: Ints) -> None:
        page, rows = self.page, self.rows
        row = page.style[nodes]
        boxed = row >= 0
        above = np.maximum(page.parent[nodes], 0)
        position = np.where(boxed, rows.position[row], "static")
        fixed, placed = position == "fixed", position == "absolute"
        own = np.where(placed[:, None], self.clip_placed[above], self.clip[above])
        own[fixed] = _EVERYWHERE
        self.own_clip[nodes] = own
        inner = own.copy()
        inside = boxed & ~np.isin(page.tag[nodes], rows.roots)  # what these two do, the window does
        cuts = inside & rows.cuts[row]
        inner[cuts] = _common(own[cuts], self.rect[nodes[cuts]])
        # What scrolls can bring up all it holds, as long as it shows itself.
        scrolls = inside & rows.scrolls[row]
        seen = _is_seen(_common(own, self.rect[nodes]))
        inner[scrolls] = np.where(seen[scrolls, None], _EVERYWHERE, _NOWHERE)
        inner[boxed & rows.shapeless[row]] = _NOWHERE
        self.clip[nodes] = inner
        keeps = ((position != "static") | (boxed & rows.shapeless[row]))[:, None]
        self.clip_placed[nodes] = np.where(keeps, inner, self.clip_placed[above])
        self.opacity[nodes] = self.opacity[above] * np.where(boxed, rows.opacity[row], 1.0)
        self.moves[nodes] = self.moves[above] | fixed | (position == "sticky")
        alpha = np.where(boxed, rows.ground[row, 3], 0.0)[:, None]
        ground = np.where(alpha == 1, rows.ground[row, :3], np.where(alpha == 0, self.ground[above], np.nan))
        self.ground[nodes] = np.where((boxed & rows.picture[row])[:, None], np.nan, ground)
        self.cut_to_text[nodes] = self.cut_to_text[above] | (boxed & rows.cut_to_text[row])

    def judge(self, text: Ints) -> NDArray[np.uint8]:
        """Return why each of these texts with a box cannot be seen."""
        page, rows = self.page, self.rows
        row, above = page.style[text], page.parent[text]
        rect = self.rect[text]
        size = np.minimum(rect[:, 2] - rect[:, 0], rect[:, 3] - rect[:, 1])
        ink = rows.ink[row]
        see_through = (ink[:, 3] < _LEAST_OPACITY) & ~self.cut_to_text[text]
        same = np.abs(ink[:, :3] - self.ground[above]).max(axis=1) <= _SAME_COLOUR  # NaN is not
        same &= ~self.cut_to_text[text]
        same[same] = ~self._stands_on_other(text[same])
        tests = (
            ~rows.seen[row],
            (size <= _LEAST_PX) | (rows.letter_px[row] <= _LEAST_PX),
            see_through | (self.opacity[above] < _LEAST_OPACITY),
            ~_is_seen(_common(self.clip[above], rect)),
            (rect[:, 2] <= 0) | (rect[:, 3] <= 0),
            same,
            self._is_covered(text),
        )
        return np.select(tests, [np.uint8(h) for h in list(Hiding)[2:]], np.uint8(Hiding.NONE))

    def _painted(self, painted: Bools) -> Ints:
        boxed = np.flatnonzero((self.page.style >= 0) & (self.page.kind != Kind.TEXT))
        boxed = boxed[painted[boxed] & self.rows.seen[self.page.style[boxed]]]
        found: Ints = boxed[_is_seen(_common(self.own_clip[boxed], self.rect[boxed]))]
        return found

    def _stands_on_other(self, text: Ints) -> Bools:
        """Return which texts stand on a box that is not around them and may give them another ground."""
        if not text.size:
            return np.zeros(0, np.bool_)
        page, rows = self.page, self.rows
        painted = (rows.ground[page.style, 3] > 0) | rows.picture[page.style]
        boxes = self._painted(painted | np.isin(page.tag, rows.pictures))
        found = np.zeros(text.size, np.bool_)
        middle = (self.rect[text, :2] + self.rect[text, 2:]) / 2
        middle = np.concatenate((middle, middle), axis=1)
        for at, over in self._bands(middle, boxes):
            node, box = text[at][:, None], boxes[over][None]
            around = (box < node) & (page.end[box] > node)
            found[at] = (_holds(self.rect[box], middle[at][:, None]) & ~around).any(axis=1)
        return found

    def _is_covered(self, text: Ints) -> Bools:
        """Return which texts lie wholly under one opaque box that is painted later and does not move."""
        page, rows = self.page, self.rows
        opaque = (rows.ground[page.style, 3] == 1) | np.isin(page.tag, rows.opaque_pictures)
        boxes = self._painted(opaque & ~self.moves & (self.opacity > 1 - _LEAST_OPACITY) & ~self.cut_to_text)
        covers = _common(self.own_clip[boxes], self.rect[boxes])
        found = np.zeros(text.size, np.bool_)
        for at, over in self._bands(self.rect[text], boxes):
            later = page.paint[boxes[over]][None] > page.paint[text[at]][:, None]
            found[at] = (later & _holds(covers[over][None], self.rect[text[at]][:, None])).any(axis=1)
        return found

    def _bands(self, rect: F64, boxes: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Yield rows of `rect` that are near each other, with those of `boxes` that reach their tops.

        Of more than 2,000 the largest, so that a page made for it does not take quadratic time.
        """
        if not boxes.size or not len(rect):
            return
        order = np.argsort(rect[:, 1], kind="stable")
        top, bottom = self.rect[boxes, 1], self.rect[boxes, 3]
        area = (self.rect[boxes, 2] - self.rect[boxes, 0]) * (bottom - top)
        for at in np.array_split(order, min(_BANDS, order.size)):
            first, last = rect[at[0], 1], rect[at[-1], 1]
            over = np.flatnonzero((top <= last) & (bottom >= first))
            if over.size > _MOST_COVERS:
                over = np.sort(over[np.argsort(-area[over], kind="stable")[:_MOST_COVERS]])
            if over.size:
                yield at, over


class _Rows:
    """What the S style rows of a page say, each array (S, ...); of properties not captured, the initial value."""

    def __init__(self, page: Snapshot) -> None:
        def values(name: str, initial: str) -> list[str]:
            if name not in page.style_names:
                return [initial] * max(len(page.styles), 1)
            return page.strings.take(page.styles[:, page.style_names.index(name)].tolist()) or [initial]

        self.position = np.array(values("position", "static"))
        self.seen = np.array(values("visibility", "visible")) == "visible"
        self.opacity = np.array([_number(v, 1.0) for v in values("opacity", "1")])
        self.letter_px = np.array([_number(v, 16.0) for v in values("font-size", "16px")])
        self.ink = np.array([_colour(v) for v in values("color", "rgb(0, 0, 0)")])
        self.ground = np.array([_colour(v) for v in values("background-color", "rgba(0, 0, 0, 0)")])
        self.picture = np.array(values("background-image", "none")) != "none"
        self.cut_to_text = np.array(values("background-clip", "border-box")) == "text"
        overflow = np.array([values("overflow-x", "visible"), values("overflow-y", "visible")])
        self.cuts: Bools = np.asarray(np.isin(overflow, ("hidden", "clip")).any(axis=0))
        self.scrolls: Bools = np.asarray(np.isin(overflow, ("auto", "scroll")).any(axis=0))
        # The older property concerns positioned boxes only.
        placed = np.isin(self.position, ("absolute", "fixed"))
        self.shapeless = np.array([bool(_EMPTY_SHAPE.match(v)) for v in values("clip-path", "none")])
        self.shapeless |= placed & np.array([_is_empty(v) for v in values("clip", "auto")])
        tags = page.tags.to_list()
        self.roots = [i for i, name in enumerate(tags) if name in {"html", "body"}]
        self.pictures = [i for i, name in enumerate(tags) if name in _PICTURES]
        self.opaque_pictures = [i for i, name in enumerate(tags) if name in _OPAQUE_PICTURES]


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
    """Return the common part of rectangles (n, 4) of edges left, top, right, bottom; without a box, nothing."""
    found = np.concatenate(
        (np.maximum(first[:, :2], second[:, :2]), np.minimum(first[:, 2:], second[:, 2:])), 1
    )
    return np.where(np.isnan(found), 0.0, found)


def _is_seen(rect: F64) -> Bools:
    return np.asarray(((rect[:, 2:] - rect[:, :2]) > _LEAST_PX).all(axis=1))


def _holds(outer: F64, inner: F64) -> Bools:
    """Return which rectangles of `outer` hold those of `inner`, but for half a pixel."""
    begins = outer[..., :2] <= inner[..., :2] + 0.5
    ends = outer[..., 2:] >= inner[..., 2:] - 0.5
    return np.asarray((begins & ends).all(axis=-1))


def _number(value: str, otherwise: float) -> float:
    found = _NUMBER.match(value)
    return float(found[0]) if found else otherwise


def _colour(value: str) -> tuple[float, float, float, float]:
    """Return red, green, blue of 255 and alpha of 1; colours of other spaces are unknown."""
    channels = [float(number) for number in _NUMBER.findall(value)]
    if not value.startswith("rgb") or len(channels) not in {3, 4}:
        return (np.nan, np.nan, np.nan, 0.5)
    red, green, blue, alpha = (*channels, 1.0)[:4]
    return (red, green, blue, alpha)


def _is_empty(rect: str) -> bool:
    """Return whether a value of the property clip leaves nothing to see."""
    edges = [float(number) for number in _NUMBER.findall(rect)] if "auto" not in rect else []
    return len(edges) == 4 and (edges[2] - edges[0] <= _LEAST_PX or edges[1] - edges[3] <= _LEAST_PX)
