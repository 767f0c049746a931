"""Which texts may be seen in some places of the window only, since something stays in it while the page is scrolled.

A text that is over or under such a box or background is looked for in several places of the window.
"""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from domsieve.renderer.page.pixels._parts import (
    F64,
    Bools,
    Ints,
    meet,
)
from domsieve.renderer.page.pixels._scene import Scene

if TYPE_CHECKING:
    from PIL.Image import Image

# What is lower than this share of the window leaves the texts that pass over it. A guess.
_LEAST_OF_WINDOW = 0.4
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


def grounds_of(scene: Scene) -> Bools:
    """Return which of the fixed boxes of a page cover no text that leaves them when the page is scrolled.

    They are those that are painted before all texts of the page, and those that an element around them cuts.
    """
    texts = scene.shows[scene.owner] & ~_within(scene, scene.fixed)
    first = scene.paint_order[scene.owner[texts]].min(initial=np.iinfo(np.intp).max)
    cuts = [cutting(scene, node) >= 0 for node in scene.fixed.tolist()]
    return np.asarray((_orders(scene, scene.fixed) < first) | np.array(cuts, np.bool_))


def over_fixed(scene: Scene, nodes: Ints) -> list[tuple[Bools, list[int]]]:
    """Return the parts (B,) of the page that are painted after some fixed boxes, so that these may be behind them.

    Those after the same boxes are together, with these.
    """
    order, orders = scene.paint_order[scene.owner], _orders(scene, nodes)
    nodes, orders = nodes[np.argsort(orders, kind="stable")], np.sort(orders)
    found, known = [], scene.fixed_box >= 0
    for last in range(nodes.size, 0, -1):
        own = ~known & (order > orders[last - 1])
        known |= own
        found.append((own, nodes[:last].tolist()))
    return found


def _orders(scene: Scene, nodes: Ints) -> F64:
    """Return when some boxes are painted, by the numbers of `Tree.paint_order`.

    Captures number what has a negative ``z-index`` after the content of the stacking context that it is in, but it is
    painted before that.
    """
    below = np.array([one.startswith("-") for one in scene.column["z-index"]])[scene.font_of] & scene.is_boxed
    placed = np.array([one not in {"static", ""} for one in scene.column["position"]])[scene.font_of]
    lines_up = np.array(["flex" in one or "grid" in one for one in scene.column["display"]])[scene.font_of]
    below &= placed | lines_up[np.maximum(scene.parent, 0)]
    order, found = scene.paint_order, scene.paint_order[nodes].astype(np.float64)
    for number in np.flatnonzero((below | scene.below(below))[nodes]).tolist():
        around = [int(nodes[number])]
        while (parent := int(scene.parent[around[-1]])) >= 0 and around[-1] not in scene.on_top:
            around.append(parent)
        for at in (at for at, node in enumerate(around) if below[node] and node not in scene.on_top):
            context = (order[node] for node in around[at:] if 0 <= order[node] < order[around[at]])
            found[number] = min(found[number], next(context, 0) - 0.5)
    return found


def with_grounds(scene: Scene, fixed: dict[int, Any], root: int) -> list[Any]:
    """Return the handles of one of the `fixed` boxes and of those painted before its texts, which may be behind them.

    If `root` is none of them, return nothing.
    """
    if root not in fixed:
        return []
    orders = dict(zip(fixed, _orders(scene, np.array([*fixed], np.intp)).tolist(), strict=True))
    last = scene.paint_order[scene.owner[scene.fixed_box == root]].max(initial=-1)
    return [
        handle for node, handle in fixed.items() if node == root or orders[node] <= max(orders[root], last)
    ]


def in_window(scene: Scene, window: F64, grounds: Ints) -> Bools:
    """Return which parts of texts (B,) may be seen in some places of the window only.

    Those under sticky boxes are not among them: see `under_floats`.

    Parameters
    ----------
    window : the width and the height of the window in px.
    grounds : the fixed boxes that may be behind the texts.
    """
    found = np.full(scene.owner.size, grounds.size > 0)
    # What is in a box that is pictured apart is hidden with it, and what is low leaves texts as they are scrolled.
    floating = scene.floating[scene.fixed_of[scene.floating] < 0]
    for reach in reach_of(scene)[floating]:
        if reach[3] - reach[1] >= _LEAST_OF_WINDOW * window[1]:
            beside = scene.box[:, 2] > scene.window_wide  # what is scrolled to the side may come anywhere
            found |= beside | ((scene.box[:, 0] < reach[2]) & (scene.box[:, 2] > reach[0]))
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


def _within(scene: Scene, nodes: Ints) -> Bools:
    """Return which parts (B,) are in some boxes."""
    found = np.zeros(scene.ids.size, np.bool_)
    found[nodes] = True
    return np.asarray((found | scene.below(found))[scene.owner])


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
