"""Texts that several lines of their colour cover, each too thin to do so alone: underlines, boxes and outlines."""

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools, Ints
from domsieve.analysis.columns.covers import Covers
from domsieve.analysis.columns.css_shapes import NOWHERE
from domsieve.analysis.columns.rectangles import is_larger
from domsieve.analysis.columns.scene import Scene
from domsieve.budget import check
from domsieve.snapshot.contrast import contrast

# Letters cannot be read if underlines, and a line through them, take so much of the part from their feet to a little
# above small letters, in sizes. Found by eye, on letters of 16 px: .6 to .7 of it where they can hardly be read.
_ZONE, _MOST_OF_ZONE = 0.6, 0.6
# Nor if boxes take so much of the height of a line, which is 1.15 sizes: letters have no ink at its top and bottom.
_MOST_OF_LINE = 0.55
# Boxes are lines if each is lower than this share of a letter, goes through so much of a text, and has its colour,
# about.
_HIGHEST, _LEAST_WIDE, _MOST_CONTRAST, _LEAST_ALPHA = 0.6, 0.8, 32.0, 0.9
# Lines of a text are no farther apart than this, in sizes: else boxes may lie between them.
_ONE_LINE, _MOST_PITCH = 1.9, 1.7
# Bounds of the work: guesses.
_MOST_LINES, _MOST_BOXES, _HIGHEST_PX = 32, 2_000, 40.0


def are_lined(scene: Scene, covers: Covers, text: Ints, letter: F64, ink: F64) -> Bools:
    """Return which texts lines of their colour cover so much that they cannot be read.

    Parameters
    ----------
    text : texts that can be seen.
    letter, ink : the size of their letters in px, and their colour (n, 4).
    """
    return _are_underlined(scene, text, ink) | _are_between_boxes(scene, covers, text, letter, ink)


def _are_underlined(scene: Scene, text: Ints, ink: F64) -> Bools:
    """Return which texts underlines of several elements cover, together with a line through them."""
    node, first = scene.node, scene.line_of[scene.page.parent[text]]
    found = np.zeros(text.size, np.bool_)
    several = (first >= 0) & (scene.next_line[np.maximum(first, 0)] >= 0) & ~node.is_skipped[text]
    for at in np.flatnonzero(several).tolist():
        check()
        size, one, spans, through = float(node.letter_px[text[at]]), int(first[at]), list[list[float]](), 0.0
        for _ in range(_MOST_LINES):
            if one < 0:
                break
            if node.letter_px[one] == size and _is_near(ink[at], node.bar[one]):
                spans += node.under[one].reshape(-1, 2).tolist()
                through = max(through, float(node.through[one]))
            one = int(scene.next_line[one])
        under = np.clip(np.array(spans).reshape(-1, 2), -_ZONE, 0.0)
        found[at] = through + _union(under) >= _MOST_OF_ZONE * _ZONE
    return found


def _is_near(ink: F64, line: F64) -> bool:
    return bool(contrast(ink[:3], line) <= _MOST_CONTRAST)


def _are_between_boxes(scene: Scene, covers: Covers, text: Ints, letter: F64, ink: F64) -> Bools:
    """Return which texts low boxes cover that are behind them or over them."""
    node, page, patches = scene.node, scene.page, scene.patches
    rect, above = scene.rect[text], page.parent[text].astype(np.int64)
    found = np.zeros(text.size, np.bool_)
    box, patch, edges = _low_boxes(scene, covers)
    if not box.size:
        return found
    is_short = rect[:, 3] - rect[:, 1] <= _ONE_LINE * letter
    is_close = ~np.isfinite(node.line_px[text]) | (node.line_px[text] <= _MOST_PITCH * letter)
    usable = (is_short | is_close) & ~scene.is_turned(above) & (scene.effect_of[above] < 0)
    owner = scene.ground_of[above]
    ground = covers.ground_turns(owner)
    spans: dict[int, list[tuple[float, float]]] = {}
    for number in range(box.size):
        check()
        one, low = int(box[number]), edges[number]
        at = covers.patch[patch[number]]
        shared = np.minimum(rect, low)[:, 2:] - np.maximum(rect, low)[:, :2]
        size = np.maximum(rect[:, 2:] - rect[:, :2], 1e-9)
        meets = usable & (shared[:, 1] > 0) & (shared[:, 0] >= _LEAST_WIDE * size[:, 0])
        meets &= low[3] - low[1] <= _HIGHEST * letter
        is_around = (one < text) & (page.end[one] > text)
        meets &= ~is_around | patches.is_top[at]
        meets &= is_around | (covers.begins[patch[number]] >= ground)
        meets &= (scene.mover[one] == scene.mover[above]) & (
            covers.scroller[patch[number]] == scene.scroller_of[above]
        )
        meets &= contrast(ink[:, :3], covers.colour[at, :3]) <= _MOST_CONTRAST
        for place in np.flatnonzero(meets).tolist():
            begin, end = max(low[1], rect[place, 1]), min(low[3], rect[place, 3])
            spans.setdefault(place, []).append((float(begin), float(end)))
    for place, lines in spans.items():
        high = float(rect[place, 3] - rect[place, 1])
        found[place] = _union(np.array(lines)) >= _MOST_OF_LINE * high
    at = np.flatnonzero(found)
    if at.size:  # another box between them may hide the lines
        others = np.ones(len(page), np.bool_)
        others[box] = False
        found[at] = covers.behind(text[at], owner[at], others)[:, 0] < 0
    return found


def _low_boxes(scene: Scene, covers: Covers) -> tuple[Ints, Ints, F64]:
    """Return the boxes, the numbers among the covers, and the edges (n, 4) of what is opaque, low and wide."""
    patches, patch = scene.patches, covers.patch
    colour = covers.colour[patch]
    opaque = (colour[:, 3] >= _LEAST_ALPHA) & ~np.isnan(colour).any(axis=1) & ~scene.is_odd[covers.of]
    opaque &= ~scene.cut_to_text[covers.of] & (scene.effect_of[covers.of] < 0) & ~scene.is_turned(covers.of)
    outer, hole = covers.clip, patches.hole[patch]
    # Of rings, the upper and the lower side count.
    is_ring = is_larger(hole, 0.0) & (hole != NOWHERE).any(axis=1)
    upper, lower = outer.copy(), outer.copy()
    upper[is_ring, 3] = np.minimum(outer[is_ring, 3], hole[is_ring, 1])
    lower[is_ring, 1] = np.maximum(outer[is_ring, 1], hole[is_ring, 3])
    number = np.arange(patch.size)
    numbers, edges = np.concatenate((number, number[is_ring])), np.concatenate((upper, lower[is_ring]))
    width, height = (edges[:, 2:] - edges[:, :2]).T
    usable = np.flatnonzero(opaque[numbers] & (height > 0) & (height <= _HIGHEST_PX) & (width > height))
    usable = usable[np.argsort(-width[usable], kind="stable")[:_MOST_BOXES]]
    return covers.of[numbers[usable]], numbers[usable], edges[usable]


def _union(spans: F64) -> float:
    """Return how long some spans (n, 2) are together; what several have counts once."""
    total, reached = 0.0, -np.inf
    for begin, end in spans[np.argsort(spans[:, 0], kind="stable")].tolist():
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total
