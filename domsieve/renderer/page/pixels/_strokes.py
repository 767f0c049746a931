"""Strokes beside letters, which make others of them: an l becomes a t, and an n an h."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page.pixels._boxes import area, fill, lines_around
from domsieve.renderer.page.pixels._parts import F64, OUTWARDS, Bools, Ints

# In a ground, strokes are narrower than the first, in sizes of the letters. They are nearer to the colour of these
# than the ground around them by the second, of what letters change, and are so much in all, in squares of this size.
# Measured: .009 for a hairline through an l, .017 for an n that becomes an h.
_NARROW, _LEAST_STROKE, _LEAST_STROKES = 0.25, 0.35, 0.004
# Lines through a whole word, by so much of it, are no strokes of its letters; they may have gaps that are so much
# wider than letters in them, in sizes, on both sides, if more than the next share of the word is beside these. So are
# lines that leave hardly anything free between letters. At its upper and lower edges, so much says nothing.
_WHOLE_LINE, _GAP, _LEAST_FREE, _NEARLY_ALL, _EDGE = 0.85, 0.2, 0.1, 0.95, 0.1
# Of what has this share of the most contrast, the colour is that of the letters.
_FULL = 0.8
BESIDE = 0.5
"""So far beside a word, in sizes, something may make another one of it."""
# Lines of a word are where so much of a row has ink, of letters or not.
_LEAST_LINE = 0.6
# What differs by less than the first, of 255, is no ink, unless letters are as pale; none is paler than the second.
_CLEAR, _FAINT = 40.0, 12
# Lines may be so far beyond boxes to the left, above, to the right and below, in the height of these, and have so
# much ink, with gaps or dots.
_LINES, _LEAST_OF_LINE = np.array([0.6, 0.0, 0.6, 0.3]), 0.4
# Letters of 8 px are so high, in px; a guess.
_LEAST_HIGH = 4


class _Word(NamedTuple):
    """A word: its edges in pixels, those of its parts, and the size of its letters in pixels."""

    box: Sequence[int]
    of_parts: Sequence[Sequence[int]]
    size: float


class Words:
    """The words of some parts of texts.

    Parameters
    ----------
    parts : the parts (B,).
    word : the number of the word of each part (B,): letters may be in elements of their own.
    edges : left, top, right and bottom of each part in pixels of pictures (B, 4).
    size_of : tells how large the letters of parts are, in pixels.
    """

    def __init__(self, parts: Bools, word: Ints, edges: Ints, size_of: Callable[[Ints], F64]) -> None:
        self._parts, self._word, self._edges, self._size_of = parts, word, edges, size_of

    def among_strokes(self, ground: NDArray[Any], whole: NDArray[Any]) -> Bools:
        """Return on which of the parts (B,) the ground has strokes that may make other letters of theirs.

        Parameters
        ----------
        ground, whole : pictures without and with letters (height, width, 3).
        """
        return self._those(number for number, one in self._in(whole) if _has_strokes(one, ground, whole))

    def among_other_ink(self, levels: NDArray[np.uint8], known: Bools, lined: Bools) -> Bools:
        """Return beside which of the parts (B,) is ink that no letter has which is drawn alone.

        Fonts can paint it beside some letters, and so can marks.

        Parameters
        ----------
        levels : by how much each pixel differs without letters (height, width).
        known : the pixels near ink that is known (height, width).
        lined : the parts (B,) that may have lines: what is in their boxes is not beside others.
        """
        with_lines, beside = {*self._word[lined].tolist()}, known.copy()
        fill(beside, self._edges[lined])
        self._put_lines(beside, levels > _CLEAR, lined)
        return self._those(
            number
            for number, word in self._in(levels)
            if _has_other_ink(
                word, levels, known if number in with_lines else beside, has_lines=number in with_lines
            )
        )

    def count_other_ink(self, levels: NDArray[np.uint8], known: Bools, lined: Bools, beside: F64) -> int:
        """Return how many pixels have ink that no letter has which is drawn alone, see `among_other_ink`.

        Pieces that are lower than letters do not count: the lines of links leave such below signs.

        Parameters
        ----------
        lined : the parts (B,) that are seen and may have lines: these are longer than words, and may be below them.
        beside : how far around each part (B, 4) marks and shadows of it may be, in the height of its box; NaN for
            parts that have none, or are not seen.
        """
        known, boxes = known.copy(), self._edges.astype(np.float64)
        high = (boxes[:, 3] - boxes[:, 1])[:, None]
        around = boxes + high * beside * OUTWARDS
        fill(known, np.rint(around[~np.isnan(around[:, 0])]))
        peaks = _peaks(levels, np.maximum(self._edges[self._parts], 0).tolist())
        least = min((_LEAST_STROKE * peak for peak in peaks if peak > _FAINT), default=_CLEAR)
        inked = levels > min(least, _CLEAR)
        self._put_lines(known, inked, lined)
        other = inked & ~known
        if not other.any():
            return 0
        from scipy.ndimage import find_objects, label  # loaded on use: only this mode needs it

        pieces, _ = label(other, np.ones((3, 3)))
        are_high = [rows.stop - rows.start >= _LEAST_HIGH for rows, _ in find_objects(pieces)]
        return int(np.bincount(pieces.ravel())[1:][are_high].sum())

    def _put_lines(self, known: Bools, inked: Bools, lined: Bools) -> None:
        """Add the lines of some parts (B,) to the pixels that are known; `inked` are all that have ink."""
        boxes = self._edges[lined].astype(np.float64)
        boxes += (boxes[:, 3] - boxes[:, 1])[:, None] * _LINES * OUTWARDS
        boxes = np.clip(np.rint(boxes), 0, np.tile(known.shape[::-1], 2))
        for x, y, right, bottom in boxes.astype(np.intp).tolist():
            if x < right and y < bottom:
                rows = inked[y:bottom, x:right].mean(axis=1) > _LEAST_OF_LINE
                known[y:bottom, x:right][rows] = True

    def _those(self, numbers: Iterable[int]) -> Bools:
        """Return the parts (B,) of words with some numbers."""
        return np.asarray(self._parts & np.isin(self._word, [*numbers]))

    def _in(self, picture: NDArray[Any]) -> Iterator[tuple[int, _Word]]:
        """Yield the words that are in a picture, with their numbers."""
        edges = np.clip(self._edges, 0, np.tile(picture.shape[1::-1], 2))
        some = np.flatnonzero(np.isin(self._word, self._word[self._parts]) & (area(edges) > 0))
        numbers, number = np.unique(self._word[some], return_inverse=True)
        boxes, sizes = lines_around(edges[some], number, numbers.size), np.zeros(numbers.size)
        np.maximum.at(sizes, number, self._size_of(some))
        order = np.argsort(number, kind="stable")
        own = np.split(edges[some][order], np.cumsum(np.bincount(number))[:-1])
        found = zip(numbers.tolist(), boxes.tolist(), own, sizes.tolist(), strict=True)
        for one, box, of_parts, size in found if numbers.size else ():
            yield one, _Word(box, of_parts.tolist(), size)


def _has_strokes(word: _Word, ground: NDArray[Any], whole: NDArray[Any]) -> bool:
    """See `Words.among_strokes`, for one word."""
    left, top, right, bottom = word.box
    narrow = math.ceil(_NARROW * word.size) + 1  # what is as broad as this is left
    x, y = max(left - narrow, 0), max(top - narrow, 0)
    behind = ground[y : bottom + narrow, x : right + narrow].astype(np.float64)
    if np.ptp(behind, axis=(0, 1)).max() <= 1:
        return False
    change = whole[top:bottom, left:right] - ground[top:bottom, left:right].astype(np.float64)
    inside = np.s_[top - y : bottom - y, left - x : right - x]
    # Each part may have its own colour.
    ways = set[tuple[float, ...]]()
    for begin, upper, end, lower in word.of_parts:
        own = change[upper - top : lower - top, begin - left : end - left]
        if own.size and own.any():
            most = np.abs(own).max(axis=2)
            ways.add(tuple(own[most >= _FULL * most.max()].mean(axis=0).tolist()))
    power = np.abs(change).max(axis=2)
    return any(
        _is_much(_strokes(behind, np.array(way), narrow)[inside], power > power.max() / 2, word.size)
        for way in ways
    )


def _strokes(behind: F64, way: F64, narrow: int) -> F64:
    """Return how much of a stroke each pixel (height, width) of a ground is, 0 to 1.

    Parameters
    ----------
    behind : the ground (height, width, 3).
    way : what letters change (3,).
    narrow : how broad strokes are at most, in pixels.
    """
    from scipy.ndimage import grey_opening  # loaded on use: only this mode needs it

    ink = behind @ way / max(float(way @ way), 1.0)
    return np.asarray(ink - grey_opening(ink, size=(narrow, narrow)))


def _peaks(levels: NDArray[np.uint8], boxes: Sequence[Sequence[int]]) -> list[int]:
    """Return the highest level in each of some boxes, given by their edges in pixels; 0 for empty ones."""
    return [int(levels[y:low, x:end].max(initial=0)) for x, y, end, low in boxes]


def _has_other_ink(word: _Word, levels: NDArray[np.uint8], known: Bools, *, has_lines: bool) -> bool:
    """See `Words.among_other_ink`, for one word."""
    left, top, right, bottom = word.box
    beside = round(BESIDE * word.size)
    near = np.s_[top:bottom, max(left - beside, 0) : right + beside]
    # Other letters may be as pale as the palest of the word.
    most = max(min(filter(None, _peaks(levels, word.of_parts)), default=0), 1)
    ink = np.where(known[near], 0.0, levels[near] / most)
    if has_lines:
        along = (levels[top:bottom, left:right] > _LEAST_STROKE * most).mean(axis=1)
        ink[along > _LEAST_LINE] = 0
    return _is_much(ink, known[near], word.size, gap=0)


def _is_much(strokes: F64, is_letter: Bools, size: float, *, gap: float = _GAP) -> bool:
    """Return whether strokes may make other letters of those of a word.

    Parameters
    ----------
    strokes : how much of a stroke each pixel of the word is (height, width).
    is_letter : the pixels of its letters (height, width).
    size : of these, in pixels.
    gap : see `_GAP`.
    """
    from scipy.ndimage import maximum_filter1d  # loaded on use: only this mode needs it

    strokes = np.where(strokes > _LEAST_STROKE, np.minimum(strokes, 1.0), 0.0)
    columns = np.flatnonzero(is_letter.any(axis=0))
    if not columns.size or not strokes.any():
        return False
    is_free = ~maximum_filter1d(is_letter, 2 * round(gap * size) + 1, axis=1)
    is_free[:, : columns[0]] = is_free[:, columns[-1] + 1 :] = False
    along, free = (np.count_nonzero(one, axis=1) for one in (is_free & (strokes > 0), is_free))
    wide = strokes.shape[1]
    strokes[(along > _WHOLE_LINE * free) & (free > _LEAST_FREE * wide)] = 0
    strokes[np.count_nonzero(is_letter | (strokes > 0), axis=1) > _NEARLY_ALL * wide] = 0
    strokes[:, np.count_nonzero(strokes, axis=0) > _WHOLE_LINE * len(strokes)] = 0
    edge = round(_EDGE * size)
    return bool(strokes[edge : len(strokes) - edge].sum() > _LEAST_STROKES * size**2)
