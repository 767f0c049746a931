"""Texts that lie under the marks that emphasise another text (``text-emphasis``)."""

import re
from collections.abc import Sequence

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools, Ints, below
from domsieve.analysis.columns.css_values import NO_COLOUR, colour
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.columns.paint_styles import USUAL_LINE
from domsieve.analysis.columns.scene import Scene
from domsieve.budget import check
from domsieve.snapshot.contrast import contrast

# Where marks above a text begin and end, in sizes of its letters, from the top of these: blocks, and letters. Others,
# such as dots and circles, are too small to hide letters. Found by eye; marks below are likewise.
_BLOCK, _LETTER = (-0.5, 0.1), (-0.37, 0.03)
_MARK = re.compile(r"[\"'](?:([\u2580-\u259f])|\w)")
# They cover a line if they take so much of its middle half, and of its width.
_MOST_OF_MIDDLE, _MOST_OF_WIDTH, _ONE_LINE = 0.6, 0.6, 1.9
_COLOUR = re.compile(r"(?:rgb|color|lab|lch|oklab|oklch)a?\([^()]{0,200}\)$")
# Marks of about the colour of letters hide them from below, too; those that are more transparent hide nothing.
_ALMOST, _LEAST_ALPHA = 64.0, 0.7
_MOST_MARKED = 1_000  # texts; a guess
# Of several lines, marks hide so many. So high are lines where marks have room, in sizes of letters.
_MOST_OF_LINES, _ROOMY, _MOST_LINES, _LEAST_PX = 0.7, 2.2, 50, 1e-3


def are_under_marks(scene: Scene, text: Ints, letter: F64, ink: F64) -> Bools:
    """Return which texts have a line that marks of other texts cover, or mix with.

    Parameters
    ----------
    text : texts with boxes.
    letter, ink : the size of their letters in px, and their colour (n, 4).
    """
    page, node, found = scene.page, scene.node, np.zeros(text.size, np.bool_)
    number, said = node.numbers("text-emphasis", "none")
    marks = [_MARK.match(one) for one in said]
    if not any(marks):
        return found
    is_large = np.array([one is not None for one in marks])
    is_block = [one is not None and bool(one[1]) for one in marks]
    is_over = node.each("text-emphasis-position", "over", lambda value: "under" not in value)
    level = node.is_level
    colours = np.array([colour(of[0]) if (of := _COLOUR.search(one)) else NO_COLOUR for one in said])
    every = page_texts(page)
    marked = every.node[is_large[number[every.node]] & ~every.is_blank]
    marked = marked[(page.style[marked] >= 0) & node.seen[marked] & level[marked]]
    above, rect = page.parent[text].astype(np.int64), scene.rect[text]
    size = np.maximum(rect[:, 2:] - rect[:, :2], 1e-9)
    lines = _lines(size[:, 1], letter, node.line_px[text])
    usable = (lines >= 1) & level[text]
    is_behind = below(node.is_behind, page.end.astype(np.int64))  # before what it is in, whatever its number
    for one in marked[:_MOST_MARKED].tolist():
        check()
        around = int(page.parent[one])
        mark = colours[number[one]]
        if mark[3] * scene.opacity[around] < _LEAST_ALPHA:
            continue
        left, top, right, bottom = scene.rect[one].tolist()
        high = float(node.letter_px[one])
        first, last = (high * share for share in (_BLOCK if is_block[number[one]] else _LETTER))
        line = float(node.line_px[one])
        # Marks that have no room between lines move these apart; how far is not known.
        count = 1 + round((bottom - top - USUAL_LINE * high) / line) if line >= _ROOMY * high else 1
        begin, end = (top + first, top + last) if is_over[one] else (bottom - last, bottom - first)
        way = line if is_over[one] else -line
        bands = [(begin, end)] + [
            (begin + way * at, end + way * at) for at in range(1, min(count, _MOST_LINES))
        ]
        width = np.minimum(rect[:, 2], right) - np.maximum(rect[:, 0], left)
        meets = usable & (width >= _MOST_OF_WIDTH * size[:, 0]) & (text != one)
        meets &= (rect[:, 1] < max(bands)[1]) & (rect[:, 3] > min(bands)[0])
        meets &= scene.mover[around] == scene.mover[above]
        for place in np.flatnonzero(meets & ~found).tolist():
            covered = _covered(rect[place], int(lines[place]), float(node.line_px[text[place]]), bands)
            meets[place] = covered >= _MOST_OF_LINES * lines[place]
        is_later = (page.paint[above] < page.paint[around]) | (
            (page.paint[above] == page.paint[around]) & (text < one)
        )
        is_later = np.where(is_behind[text] == is_behind[one], is_later, is_behind[text])
        found |= meets & (is_later | (contrast(ink[:, :3], mark[:3]) <= _ALMOST))
    return found


def _lines(height: F64, letter: F64, line: F64) -> F64:
    """Return how many lines texts of some heights have; 0 if it is not known."""
    count = 1 + np.round((height - USUAL_LINE * letter) / np.maximum(line, _LEAST_PX))
    count[~np.isfinite(line) | (count > _MOST_LINES)] = 0
    return np.asarray(np.where(height <= _ONE_LINE * letter, 1.0, np.maximum(count, 0)))


def _covered(rect: F64, count: int, line: float, bands: Sequence[tuple[float, float]]) -> int:
    """Return how many of the lines of a text have a middle half that bands of marks cover."""
    _, top, _, bottom = rect.tolist()
    high = (bottom - top) - (line * (count - 1) if count > 1 else 0)
    covered = 0
    for at in range(count):
        first = top + (line * at if at else 0) + high / 4
        shown = sum(max(min(first + high / 2, end) - max(first, begin), 0) for begin, end in bands)
        covered += shown >= _MOST_OF_MIDDLE * high / 2
    return covered
