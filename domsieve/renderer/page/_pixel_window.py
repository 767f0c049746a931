"""Which texts may be seen in some places of the window only, since something stays in it while the page is scrolled.

A text that is over or under such a box or background is looked for in several places of the window.
"""

import numpy as np

from domsieve.renderer.page._pixel_parts import F64, Bools, Ints, meet, px
from domsieve.renderer.page._pixel_scene import Scene

# A ground, and a sticky box that may lie over a text wherever that is, has at least this share of the height of the
# window, or of the box that it scrolls in. Half of the letters that pass over a ground are painted later. Guesses.
_LEAST_OF_WINDOW, _LEAST_LATER = 0.4, 0.5
# So many of the largest sticky boxes are looked at. With more that may cover text, so may be all of it.
_MOST_STICKY, _MOST_COVERING = 200, 20
# The elements around a sticky box with these values of ``display`` do not keep it in their box.
_NOT_AROUND = frozenset(("", "inline", "contents", "table-row", "table-row-group", "table-header-group"))
# A background of one of these is that of the page.
_OF_PAGE = frozenset({"html", "body"})


def grounds_of(scene: Scene, window: F64) -> Bools:
    """Return which of the fixed boxes of a page are grounds, below the texts that pass over them.

    They are those with a negative ``z-index``, and those below most of the letters that may pass over them, if they
    are together so high that a text may never leave them.

    Parameters
    ----------
    window : the width and the height of the window in px.
    """
    document = scene.capture.documents[0]
    paint = np.full(scene.ids.size, -1)
    entries = np.array(document.layout.node_index, np.intp)[::-1]
    paint[entries] = np.array(document.layout.paint_orders)[::-1]
    reach = _reach(scene)
    is_behind = np.array(
        [scene.style(node, "z-index")[0].startswith("-") for node in scene.fixed.tolist()], np.bool_
    )
    is_below, spans = np.zeros(scene.fixed.size, np.bool_), np.zeros((scene.fixed.size, 2))
    for number, node in enumerate(scene.fixed.tolist()):
        inside = _inside(scene, node)
        parts = _over(scene, node, reach[node]) & ~inside[scene.owner] & scene.shows[scene.owner]
        letters = scene.letters[parts]
        later = letters[paint[scene.owner[parts]] > paint[inside].max()].sum()
        is_below[number] = letters.size and later >= _LEAST_LATER * letters.sum()
        spans[number] = np.clip(reach[node, 1::2], 0, window[1])
    is_below &= spans[:, 1] > spans[:, 0]
    return np.asarray(is_behind | (is_below & (_covered(spans[is_below]) >= _LEAST_OF_WINDOW * window[1])))


def covering(scene: Scene, window: F64) -> Ints:
    """Return the sticky boxes that may lie over some text wherever this is scrolled to.

    Parameters
    ----------
    window : the width and the height of the window in px.
    """
    reach = _reach(scene)
    sticky = scene.sticky[np.argsort(reach[scene.sticky, 1] - reach[scene.sticky, 3], kind="stable")][
        :_MOST_STICKY
    ]
    ports = [scene.port_around(node) for node in sticky.tolist()]
    heights = np.array([window[1] if port is None else port[3] - port[1] for port in ports])
    spans = np.array(
        [_stuck(scene, node, high) for node, high in zip(sticky.tolist(), heights.tolist(), strict=True)]
    ).reshape(-1, 2)
    above = np.array([-1 if port is None else round(port[1]) for port in ports])
    found: list[int] = []
    for number, node in enumerate(sticky.tolist()):
        same = spans[(above == above[number]) & (spans[:, 1] > spans[:, 0])]
        is_high = spans[number, 1] > spans[number, 0] and _covered(same) >= _LEAST_OF_WINDOW * heights[number]
        if is_high and (len(found) >= _MOST_COVERING or _passing(scene, node, reach[node]).any()):
            found.append(node)
    return np.array(found, np.intp)


def in_window(scene: Scene, window: F64, grounds: Ints, sticky: Ints) -> tuple[Bools, Bools]:
    """Return which parts of texts (B,) may be seen in some places of the window only, and which of them move with it.

    Parameters
    ----------
    window : the width and the height of the window in px.
    grounds : the fixed boxes behind the texts.
    sticky : those of `covering`, which are left where they are.
    """
    reach = _reach(scene)
    found, moves = np.zeros((2, scene.owner.size), np.bool_)
    # What is in a box that is pictured apart is hidden with it, and what is low leaves texts as they are scrolled.
    floating = scene.floating[scene.fixed_of[scene.floating] < 0]
    floating = floating[reach[floating, 3] - reach[floating, 1] >= _LEAST_OF_WINDOW * window[1]]
    for node in (*grounds.tolist(), *floating.tolist()):
        found |= _over(scene, node, reach[node])
        moves |= _inside(scene, node)[scene.owner]
    for node in sticky.tolist():
        moves |= _inside(scene, node)[scene.owner]
        if sticky.size <= _MOST_COVERING:
            found |= _passing(scene, node, reach[node])
        else:
            found[:] = True
    for node in scene.attached.tolist():
        if scene.names[node] in _OF_PAGE:
            found[:] = True
        found |= meet(scene.box, scene.bounds[node])
    return found | moves, moves


def cutting(scene: Scene, node: int) -> int:
    """Return the nearest element around a fixed box that shows it only where it is itself, -1 for none."""
    while (node := int(scene.parent[node])) >= 0:
        if scene.style(node, "clip-path")[0] not in ("", "none"):
            return node
    return -1


def _covered(spans: F64) -> float:
    """Return the length of the union of intervals (n, 2)."""
    covered, last = 0.0, -np.inf
    for begin, end in sorted(spans.tolist()):
        covered += max(end - max(begin, last), 0.0)
        last = max(last, end)
    return covered


def _stuck(scene: Scene, node: int, height: float) -> tuple[float, float]:
    """Return from where to where a sticky box may be, with all in it, in what it scrolls in, of a height in px."""
    own, boxes = scene.bounds[node], scene.bounds[_inside(scene, node) & scene.shows]
    boxes = boxes[(boxes[:, 2:] > boxes[:, :2]).all(axis=1)]
    top, bottom = scene.style(node, "top", "bottom")
    if top == bottom == "auto":
        return 0.0, 0.0
    begin = px(top) - own[1] if top != "auto" else height - px(bottom) - own[3]
    spans = np.clip(boxes[:, 1::2] + begin, 0, height)
    spans = spans[spans[:, 1] > spans[:, 0]]
    return (float(spans[:, 0].min()), float(spans[:, 1].max())) if len(spans) else (0.0, 0.0)


def _reach(scene: Scene) -> F64:
    """Return left, top, right and bottom of what shows of each node and of all below it (N, 4), else infinite."""
    begin, end = np.full((2, scene.ids.size, 2), np.inf)
    with np.errstate(invalid="ignore"):
        boxed = scene.shows & (scene.bounds[:, 2:] > scene.bounds[:, :2]).all(axis=1)
    begin[boxed], end[boxed] = scene.bounds[boxed, :2], -scene.bounds[boxed, 2:]
    for nodes in scene.levels[:0:-1]:
        for edges in (begin, end):
            np.minimum.at(edges, scene.parent[nodes], edges[nodes])
    return np.concatenate((begin, -end), axis=1)


def _inside(scene: Scene, node: int) -> Bools:
    """Return the nodes (N,) that a node and all below it are."""
    found = scene.below_one(node)
    found[node] = True
    return found


def _over(scene: Scene, node: int, reach: F64) -> Bools:
    """Return the parts (B,) that may pass over a box which stays in the window."""
    found = (scene.fixed_box < 0) & (scene.box[:, 0] < reach[2]) & (scene.box[:, 2] > reach[0])
    if (around := cutting(scene, node)) >= 0:
        found &= meet(scene.box, scene.bounds[around])
    return np.asarray(found)


def _passing(scene: Scene, node: int, reach: F64) -> Bools:
    """Return the parts (B,) that a sticky box may pass, which goes down or up in the box around it."""
    around = int(scene.parent[node])
    while around >= 0 and scene.style(around, "display")[0] in _NOT_AROUND:
        around = int(scene.parent[around])
    begin, end = reach[:2].copy(), reach[2:].copy()
    if around >= 0:
        if scene.style(node, "bottom") != ["auto"]:
            begin[1] = np.fmin(begin[1], scene.bounds[around, 1])
        end[1] = np.fmax(end[1], scene.bounds[around, 3])
    if any(around == one.node for one in scene.scrollers):  # what scrolls in it goes on beyond its edges
        begin[1], end[1] = -np.inf, np.inf
    found = meet(scene.box, np.append(begin, end))
    found &= scene.document_of[scene.owner] == scene.document_of[node]
    return np.asarray(found & ~_inside(scene, node)[scene.owner])
