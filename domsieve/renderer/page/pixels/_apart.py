"""Whether letters of a page look more like others of their font than like themselves.

A font of a page may have other letters for some that are beside others, in other elements or after spaces, in some
sizes, or by features that only pages turn on. What is drawn apart, as lines, may have them, too, or not know of them.
So each letter is drawn alone in its place, and then other letters are that look like it; the picture must look most
like the first.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page.pixels._parts import F64, Bools, Ints

# Letters are at most so many pixels from where they should be, and around each is a margin. Lines may be a little
# off: a letter that does not look like itself at all is looked for farther on.
_SHIFTS, _MARGIN = [(down, aside) for down in (-1, 0, 1) for aside in (-1, 0, 1)], 1
_FARTHER = [(down, aside) for down in range(-2, 3) for aside in range(-6, 7)]
# Drawings of two letters that are more alike than this are the same for readers.
_SAME = 0.99
# Rows in which no letter has more ink than this, of 255, are left out, and so are lines through letters: rows in
# which so much more of the width than the letter takes is almost as dark as the darkest pixel.
_LEAST_INK, _DARK, _MORE = 32, 0.8, 0.5
# A letter is another one if it looks so much like that, and by so much more than like itself, or less like that, and
# by the third more; and it is none if it looks less than the fourth like itself. A part shows others if so much of
# its letters are others or none, and so many. One is enough if it is none, or looks like itself by the last, too, as
# kerning and ligatures change single ones. Measured on 24 real pages in web fonts: up to 8 of 11,000 letters of one
# are in such parts.
_LEAST_LIKE, _MORE_LIKE, _MORE_IF_UNLIKE, _LEAST_OWN, _LEAST_CLEAR = 0.9, 0.005, 0.1, 0.65, 0.85
_MOST_WRONG, _FEWEST = 0.2, 2

Pixels = NDArray[np.float32]


def parts_of_others(own: F64, other: F64, part: Ints, count: int) -> Bools:
    """Return which of so many parts show other letters of their font, or what is no letter, by their letters (n,).

    Parameters
    ----------
    own, other : see `likenesses_apart`.
    part : the part of each letter.
    """
    is_compared, is_none = own >= 0, (own >= 0) & (own < _LEAST_OWN)
    is_other = is_compared & (other > own + np.where(other >= _LEAST_LIKE, _MORE_LIKE, _MORE_IF_UNLIKE))
    compared, wrong, clear = (
        np.bincount(part, one, count)
        for one in (is_compared, is_other | is_none, is_none | (is_other & (own >= _LEAST_CLEAR)))
    )
    are_many = (clear > 0) | (wrong >= np.clip(compared, 1, _FEWEST))
    return np.asarray(are_many & (wrong >= _MOST_WRONG * compared))


def likenesses_apart(
    levels: NDArray[np.uint8], drawn: NDArray[np.uint8], edges: Ints, counts: Ints
) -> tuple[F64, F64]:
    """Return how much each letter (n,) of a picture looks like itself, and like the other one that is most like it.

    Both are correlations, -1 for letters that are not compared: those without others, and beyond the picture.

    Parameters
    ----------
    levels : how much each pixel of the picture differs without letters (height, width).
    drawn : each letter alone, and others in its place (height, width, V).
    edges : left, top, right and bottom of each letter in pixels (n, 4).
    counts : how many others there are of it (n,), less than V.
    """
    own, other = np.full((2, len(edges)), -1.0)
    versions = drawn.shape[2]
    for some, seen_at, letters in _equal_boxes(levels, drawn, edges, counts > 0):
        best = _most_like(seen_at, letters, _SHIFTS)
        low = np.flatnonzero(best[:, 0] < _LEAST_LIKE)
        if low.size:
            best[low] = _most_like(
                lambda *shift, low=low, at=seen_at: at(*shift)[low], letters[low], _FARTHER
            )
        even = _even(letters, np.ones(letters.shape[:2], np.bool_))
        is_same = (even * even[..., :1]).sum(axis=(1, 2)) >= _SAME
        is_other = (np.arange(versions) > 0) & (np.arange(versions) <= counts[some, None]) & ~is_same
        own[some], other[some] = best[:, 0], np.where(is_other, best, -1).max(axis=1)
    return own, other


def _most_like(
    seen_at: Callable[[int, int], Pixels], letters: Pixels, shifts: Sequence[tuple[int, int]]
) -> F64:
    """Return how much a picture looks like each version of some letters at most (n, V); see `_equal_boxes`."""
    ink = letters > _LEAST_INK
    has_ink, share = ink.any(axis=(2, 3)), ink[..., 0].mean(axis=2)
    found = np.zeros((len(letters), letters.shape[3]))
    for shift in shifts:
        seen = seen_at(*shift)
        is_dark = seen > _DARK * seen.max(axis=(1, 2), keepdims=True)
        rows = has_ink & (is_dark.mean(axis=2) <= share + _MORE)
        found = np.maximum(found, (_even(seen[..., None], rows) * _even(letters, rows)).sum(axis=(1, 2)))
    return found


def _equal_boxes(
    levels: NDArray[np.uint8], drawn: NDArray[np.uint8], edges: Ints, chosen: Bools
) -> Iterator[tuple[Ints, Callable[[int, int], Pixels], Pixels]]:
    """Yield the numbers of letters whose boxes have one size, what the picture shows there, and their drawings."""
    around = _MARGIN + max(abs(step) for shift in _FARTHER for step in shift)
    shown = np.pad(levels, around).astype(np.float32)
    letters = np.pad(drawn, ((_MARGIN, _MARGIN), (_MARGIN, _MARGIN), (0, 0))).astype(np.float32)
    edges = np.clip(edges, 0, np.tile(levels.shape[::-1], 2))
    begin, size = edges[:, :2], edges[:, 2:] - edges[:, :2] + 2 * _MARGIN
    inside = chosen & (size > 2 * _MARGIN).all(axis=1)
    for wide, high in np.unique(size[inside], axis=0).tolist():
        some = np.flatnonzero(inside & (size == [wide, high]).all(axis=1))
        y, x = begin[some, 1, None] + np.arange(high), begin[some, 0, None] + np.arange(wide)

        def seen_at(down: int, aside: int, y: Ints = y, x: Ints = x) -> Pixels:
            away = around - _MARGIN
            return np.asarray(shown[(y + away + down)[:, :, None], (x + away + aside)[:, None]])

        yield some, seen_at, letters[y[:, :, None], x[:, None]]


def _even(pixels: Pixels, rows: Bools) -> Pixels:
    """Return pictures (n, height, width, V) with a mean of 0 and a power of 1 each in some rows (n, height).

    Other rows, and pictures of one level, are 0.
    """
    inside = rows[:, :, None, None]
    count = np.maximum(rows.sum(axis=1) * pixels.shape[2], 1)[:, None, None, None]
    even = np.where(inside, pixels - (pixels * inside).sum(axis=(1, 2), keepdims=True) / count, 0)
    power = np.sqrt((even**2).sum(axis=(1, 2), keepdims=True))
    return np.asarray(np.divide(even, power, out=np.zeros_like(even), where=power > 1))
