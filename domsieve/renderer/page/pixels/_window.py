"""Which texts may be seen in some places of the window only, since something stays in it while the page is scrolled.

A text that is over or under such a box or background is looked for in several places of the window.
"""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from domsieve.renderer.page.pixels._parts import (
    ANYWHERE_PX,
    F64,
    OUTWARDS,
    Bools,
    Ints,
    drawn_px,
    meet,
    px,
    shadow_px,
)
from domsieve.renderer.page.pixels._scene import Scene

if TYPE_CHECKING:
    from PIL.Image import Image

# Grounds have together at least this share of the height of the window. Half of the letters that pass over one are
# painted later. Guesses.
_LEAST_OF_WINDOW, _LEAST_LATER = 0.4, 0.5
# The elements around a sticky box with these values of ``display`` do not keep it in their box.
_NOT_AROUND = frozenset(("", "inline", "contents", "table-row", "table-row-group", "table-header-group"))
# Properties with which an element cuts a fixed box in it, and their values if it does not.
_CUTTING = ("clip-path", "clip", "mask-image", "-webkit-mask-box-image-source")
_UNCUT = frozenset(("", "none", "auto"))
# A background of one of these is that of the page.
_OF_PAGE = frozenset({"html", "body"})


@dataclass
class Shot:
    """What is pictured in one place of the window.

    Attributes
    ----------
    here : the parts (B,).
    window : what the window shows: left, top, right and bottom in px of the page.
    clip : the part of it that is pictured.
    without : the picture without letters, if it was taken before.
    """

    here: Bools
    window: F64
    clip: F64
    without: "asyncio.Task[Image] | None" = None


def grounds_of(scene: Scene, stays: Bools, window: F64, way: float) -> Bools:
    """Return which of the fixed boxes of a page are grounds, below the texts that pass over them.

    They are those that an element around them cuts, those with a negative ``z-index``, those below most of the
    letters that may never leave them, as the page does not scroll so far, or as they stick or scroll in a box, and
    those below most of the letters that may pass over them, if they are together so high that a text may never leave
    them. Letters in grounds count, those in other fixed boxes do not.

    Parameters
    ----------
    stays : which of the fixed boxes stay where they are.
    window : the width and the height of the window in px.
    way : how far the page can be scrolled down, in px.
    """
    nodes, order, lingers = scene.fixed, scene.paint_order[scene.owner], _Lingering(scene, way)
    reach = _painted(scene, nodes)
    spans = np.clip(reach[nodes][:, 1::2], 0, window[1])
    found = np.array([_stays_behind(scene, node) for node in nodes.tolist()], np.bool_)
    while True:
        apart = _within(scene, nodes[stays & ~found])
        is_behind, is_below = found.copy(), spans[:, 1] > spans[:, 0]
        for number, node in enumerate(nodes.tolist()):
            parts = _over(scene, node, reach[node]) & scene.shows[scene.owner] & ~apart
            parts &= ~_within(scene, np.array([node]))
            later = order > scene.paint_order[node]
            is_behind[number] |= _are_most(scene, parts & lingers.over(reach[node]), later)
            is_below[number] &= _are_most(scene, parts, later)
        is_behind |= is_below & (_covered(spans[is_below]) >= _LEAST_OF_WINDOW * window[1])
        if (is_behind == found).all():
            return found
        found = is_behind


def over_fixed(scene: Scene, nodes: Ints, window: F64, way: float) -> list[tuple[Bools, list[int]]]:
    """Return the parts (B,) that may never leave some fixed boxes, which are painted before them.

    Those after the same boxes are together, with these. See `grounds_of` for the parameters.
    """
    reach, order, lingers = _painted(scene, nodes), scene.paint_order[scene.owner], _Lingering(scene, way)
    nodes = nodes[np.argsort(scene.paint_order[nodes])]
    spans = np.clip(reach[nodes][:, 1::2], 0, window[1])
    found, known = [], np.zeros(scene.owner.size, np.bool_)
    for last in range(nodes.size, 0, -1):
        before = nodes[:last].tolist()
        own = ~known & (order > scene.paint_order[before[-1]])
        known |= own
        are_high = _covered(spans[:last]) >= _LEAST_OF_WINDOW * window[1]
        over = [_over(scene, one, reach[one]) & (are_high | lingers.over(reach[one])) for one in before]
        found.append((own & np.logical_or.reduce(over), before))
    return found


def under_grounds(scene: Scene, grounds: Ints) -> list[tuple[Bools, list[int]]]:
    """Return the parts (B,) that may pass under some grounds, which are none but for other texts.

    Those under the same grounds are together, with these.
    """
    reach, order, found = _painted(scene, grounds), scene.paint_order[scene.owner], []
    nodes = grounds[np.argsort(scene.paint_order[grounds])].tolist()
    nodes = [node for node in nodes if not _stays_behind(scene, node)]
    known = np.zeros(scene.owner.size, np.bool_)
    for first, node in enumerate(nodes):
        own = ~known & (order < scene.paint_order[node])
        known |= own
        over = [_over(scene, one, reach[one]) for one in nodes[first:]]
        found.append((own & np.logical_or.reduce(over), nodes[first:]))
    return found


def with_grounds(scene: Scene, fixed: dict[int, Any], root: int) -> list[Any]:
    """Return the handles of one of the `fixed` boxes and of those painted before it, which may be its ground.

    If `root` is none of them, return nothing.
    """
    paint = scene.paint_order
    return [handle for node, handle in fixed.items() if root in fixed and paint[node] <= paint[root]]


def in_window(scene: Scene, window: F64, grounds: Ints) -> Bools:
    """Return which parts of texts (B,) may be seen in some places of the window only.

    Those under sticky boxes are not among them: see `under_floats`.

    Parameters
    ----------
    window : the width and the height of the window in px.
    grounds : the fixed boxes behind the texts.
    """
    reach = _painted(scene, grounds)
    found = np.zeros(scene.owner.size, np.bool_)
    # What is in a box that is pictured apart is hidden with it, and what is low leaves texts as they are scrolled.
    floating = scene.floating[scene.fixed_of[scene.floating] < 0]
    floating = floating[reach[floating, 3] - reach[floating, 1] >= _LEAST_OF_WINDOW * window[1]]
    for node in (*grounds.tolist(), *floating.tolist()):
        found |= _over(scene, node, reach[node])
    for node in scene.attached.tolist():
        if scene.names[node] in _OF_PAGE:
            found[:] = True
        found |= meet(scene.box, scene.bounds[node])
    return found


def under_floats(scene: Scene, reach: F64, parts: Ints) -> Ints:
    """Return those of some parts that a float covers where it is now, but maybe not where the page is scrolled to.

    Parameters
    ----------
    reach : left, top, right and bottom of each of `Places.floats` where it was at first, with all below it (F, 4).
    """
    boxes = scene.in_view()[0][parts]
    found = np.zeros(parts.size, np.bool_)
    for place in scene.places_of(reach)[scene.floats_with_page()]:
        found |= meet(boxes, place)
    return parts[found]


def way_of(scene: Scene, node: int) -> tuple[float, float]:
    """Return how far a sticky box may go to the right and down in the box around it, in px."""
    around = int(scene.parent[node])
    while around >= 0 and scene.style(around, "display")[0] in _NOT_AROUND:
        around = int(scene.parent[around])
    room = scene.bounds[around, 2:] - scene.bounds[node, 2:] if around >= 0 else np.zeros(2)
    x, y = np.nan_to_num(np.maximum(room, 0.0)).tolist()
    return x, y


def cutting(scene: Scene, node: int) -> int:
    """Return the nearest element around a fixed box that shows it only where it is itself, -1 for none."""
    while (node := int(scene.parent[node])) >= 0:
        if not _UNCUT.issuperset(scene.style(node, *_CUTTING)):
            return node
    return -1


def _stays_behind(scene: Scene, node: int) -> bool:
    """Return whether a fixed box is a ground by its styles, whatever texts pass over it."""
    return scene.style(node, "z-index")[0].startswith("-") or cutting(scene, node) >= 0


def _within(scene: Scene, nodes: Ints) -> Bools:
    """Return which parts (B,) are in some boxes."""
    found = np.zeros(scene.ids.size, np.bool_)
    found[nodes] = True
    return np.asarray((found | scene.below(found))[scene.owner])


# Elements whose content may be larger than their box; browsers cut it off, if no style lets it show.
_REPLACED = frozenset({"img", "video", "canvas", "object", "embed"})


class _Lingering:
    """Which parts may never leave a place of the window, as far as the page can be scrolled (`way`, in px)."""

    def __init__(self, scene: Scene, way: float) -> None:
        edges, inside = scene.box[:, 1::2].copy(), scene.scroller >= 0
        around: list[int] = []  # the outermost box that scrolls, of each
        for scroller in scene.scrollers:
            around.append(around[scroller.outer] if scroller.outer >= 0 else scroller.node)
        boxes = scene.bounds[around].reshape(-1, 4)[:, 1::2]
        edges[inside] = boxes[scene.scroller[inside]]  # what scrolls in a box may be anywhere in it
        self._top, self._bottom = edges[:, 0], edges[:, 1] - way
        self._is_sticky = _within(scene, scene.sticky)

    def over(self, place: F64) -> Bools:
        """Return those (B,) that may never leave a place, given by its left, top, right and bottom."""
        return np.asarray(self._is_sticky | ((self._top < place[3]) & (self._bottom > place[1])))


def _are_most(scene: Scene, parts: Bools, later: Bools) -> bool:
    """Return whether there are some parts, and at least half of their letters are in those that are `later`."""
    letters = scene.letters[parts].sum()
    return bool(letters and scene.letters[parts & later].sum() >= _LEAST_LATER * letters)


def _covered(spans: F64) -> float:
    """Return the length of the union of intervals (n, 2)."""
    covered, last = 0.0, -np.inf
    for begin, end in sorted(spans.tolist()):
        covered += max(end - max(begin, last), 0.0)
        last = max(last, end)
    return covered


def reach_of(scene: Scene) -> F64:
    """Return left, top, right and bottom of what shows of each node and of all below it (N, 4), else infinite."""
    begin, end = np.full((2, scene.ids.size, 2), np.inf)
    with np.errstate(invalid="ignore"):
        boxed = scene.shows & (scene.bounds[:, 2:] > scene.bounds[:, :2]).all(axis=1)
    begin[boxed], end[boxed] = scene.bounds[boxed, :2], -scene.bounds[boxed, 2:]
    for nodes in scene.levels[:0:-1]:
        for edges in (begin, end):
            np.minimum.at(edges, scene.parent[nodes], edges[nodes])
    return np.concatenate((begin, -end), axis=1)


def _painted(scene: Scene, nodes: Ints) -> F64:
    """Return what `reach_of` does, with all that some nodes and what is in them paint around their boxes."""
    reach = reach_of(scene)
    for node in nodes.tolist():
        inside = np.flatnonzero(_inside(scene, node))
        _, first = np.unique(scene.font_of[inside], return_index=True)  # one of each style
        reach[node] += OUTWARDS * max(_beyond(scene, one) for one in inside[first].tolist())
    return reach


def _beyond(scene: Scene, node: int) -> float:
    """Return how far a node paints around its box, in px: shadows, outlines, pictures of borders and filters."""
    shadow, outline, border, effect, overflow = scene.style(
        node, "box-shadow", "outline", "border-image", "filter", "overflow-x"
    )
    if scene.names[node] in _REPLACED and overflow == "visible":
        return ANYWHERE_PX
    outset = border.rpartition("/")[2] if border.count("/") > 1 else ""
    lengths = [px(one) for one in outset.split() if one.endswith("px")]
    return max(shadow_px(shadow, 4), shadow_px(outline, 4), drawn_px(effect, ""), *lengths, 0.0)


def _inside(scene: Scene, node: int) -> Bools:
    """Return the nodes (N,) that a node and all below it are."""
    found = scene.below_one(node)
    found[node] = True
    return found


def _over(scene: Scene, node: int, reach: F64) -> Bools:
    """Return the parts (B,) that may pass over a box which stays in the window."""
    beside = scene.box[:, 2] > scene.window_wide  # what is scrolled to the side may come anywhere
    found = (scene.fixed_box < 0) & (beside | ((scene.box[:, 0] < reach[2]) & (scene.box[:, 2] > reach[0])))
    if (around := cutting(scene, node)) >= 0:
        found &= meet(scene.box, scene.bounds[around])
    return np.asarray(found)
