"""Whether the letters of a page look like themselves, as readers see them.

Fonts may have other letters for some that are beside others, in other elements or after spaces, in some sizes, or by
features; and strokes, signs, shadows and lines may make others of them. So each letter is drawn alone in its place,
and so are others of its font that look like it; the picture must look like the first, and less like these.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page.pixels._boxes import fill, neighbours
from domsieve.renderer.page.pixels._parts import F64, OUTWARDS, Bools, Ints

# Letters are at most so many pixels from where they should be, and around each is a margin. Those that look so much
# like themselves are looked for no farther on. Words may be farther off, with all of their letters: else a letter
# could be found where the next one is. Lines that are justified, and letters of some sizes, begin between pixels.
_SHIFTS, _MARGIN, _EQUAL = [(down, aside) for down in (0, -1, 1) for aside in (0, -1, 1)], 1, 0.98
_QUARTERS = [(down, aside / 4) for down in (0, -1, 1) for aside in (0, -1, 1, -2, 2, -3, 3, -4, 4)]
_FARTHER = [(down, aside) for down in range(-2, 3) for aside in range(-6, 7)]
# Small letters of a font are apart if so much of the height of their boxes is between them. They touch if no white
# pixel is between them, and they are by the second nearer: kerning takes less. Letters stand in a row if none is
# lower than another by the third.
_LEAST_FREE, _MOST_KERNED, _SAME_ROW, _TOUCHING_PX = 0.03, 0.085, 0.4, 0.5
# Drawings of two letters that are more alike than this are the same for readers.
_SAME = 0.99
# A letter is none, or another one, if it looks less than this like itself, or by the second more like that. Measured
# on 37,000 words of 12 real pages, also in fonts of the page: 1.0 for nearly all letters, and less than .93 for one
# in two words of a page at most.
_LEAST_OWN, _MORE_LIKE = 0.93, 0.005

# Browsers may draw letters so many pixels from where they are drawn alone, and a little bolder.
_NEAR_PX = 2

Pixels = NDArray[np.float32]


def are_others(own: F64, other: F64) -> Bools:
    """Return which letters (n,) look like none, or like others of their font; see `likenesses_apart`."""
    return np.asarray((own >= 0) & ((own < _LEAST_OWN) | (other > own + _MORE_LIKE)))


def touching(boxes: F64, inks: F64) -> Ints:
    """Return the letters that touch the next one though their font keeps them apart: c and l are a d, r and n an m.

    Parameters
    ----------
    boxes : left, top, right and bottom of each letter in pixels (n, 4).
    inks : of each where its ink begins and ends along its line, how much of its width it leaves free before and
        behind, and how far down it stands (n, 5).
    """
    found = np.zeros(len(boxes), np.bool_)
    size = boxes[:, 3] - boxes[:, 1]
    for one, other in neighbours(inks[:, 0], inks[:, 4], size, _SAME_ROW):
        is_beside = (inks[one, 1] > inks[one, 0]) & (inks[other, 1] > inks[other, 0])
        is_beside &= inks[one, 0] < inks[other, 0]
        free, gap = inks[one, 3] + inks[other, 2], inks[other, 0] - inks[one, 1]
        touches = is_beside & (free >= _LEAST_FREE * size[one]) & (gap < _TOUCHING_PX)
        touches &= free - gap >= _MOST_KERNED * size[one]
        found[one[touches]] = found[other[touches]] = True
    return np.flatnonzero(found)


def near_ink(ink: Bools, moved: Ints, boxes: F64) -> Bools:
    """Return which pixels (height, width) are near the ink of letters, or in boxes (n, 4) in pixels.

    Parameters
    ----------
    ink : the letters where they are drawn alone (height, width).
    moved : of some letters left, top, right and bottom in pixels there, and how far, downwards and to the right, they
        are from there (n, 6).
    """
    from scipy.ndimage import maximum_filter  # loaded on use: only this mode needs it

    high, wide = ink.shape
    here = ink.copy()
    for x, y, right, bottom, down, aside in moved.tolist():
        x, y = max(x, -aside, 0), max(y, -down, 0)
        right, bottom = min(right, wide, wide - aside), min(bottom, high, high - down)
        if x < right and y < bottom:
            here[y + down : bottom + down, x + aside : right + aside] |= ink[y:bottom, x:right]
    found = np.asarray(maximum_filter(here, 2 * _NEAR_PX + 1))
    fill(found, np.rint(boxes + _NEAR_PX * OUTWARDS))
    return found


def likenesses_apart(
    levels: NDArray[np.uint8], drawn: NDArray[np.uint8], edges: Ints, counts: Ints, part: Ints
) -> tuple[F64, F64, Ints]:
    """Return how much each letter (n,) of a picture looks like itself, and like the other one that is most like it.

    These are correlations, -1 for letters beyond the picture, and the second for those without others. Also return
    how far, downwards and to the right (n, 2), letters are from where they are drawn alone.

    Parameters
    ----------
    levels : by how much each pixel of the picture differs without letters (height, width).
    drawn : each letter alone, and others in its place (height, width, V).
    edges : left, top, right and bottom of each letter in pixels (n, 4).
    counts : how many others there are of it (n,), less than V.
    part : the part that each is of (n,); those of one are as far beside their places.
    """
    moves, all_ = np.zeros((len(edges), 2), np.intp), np.ones(len(edges), np.bool_)
    own, other = _likenesses(levels, drawn, edges, counts, all_, moves)
    low = np.isin(part, part[(own >= 0) & (own < _LEAST_OWN)])
    if low.any():
        moves[low] = _moves(levels, drawn, edges, low, part)[low]
        again = _likenesses(levels, drawn, edges, counts, low, moves, _QUARTERS)
        own[low], other[low] = again[0][low], again[1][low]
    return own, other, moves


def _likenesses(
    levels: NDArray[np.uint8],
    drawn: NDArray[np.uint8],
    edges: Ints,
    counts: Ints,
    chosen: Bools,
    moves: Ints,
    shifts: Sequence[tuple[int, float]] = _SHIFTS,
) -> tuple[F64, F64]:
    """See `likenesses_apart`; the chosen letters are so far from their places, downwards and to the right (n, 2)."""
    own, other = np.full((2, len(edges)), -1.0)
    versions = np.arange(drawn.shape[2])
    for some, seen_at, letters in _equal_boxes(levels, drawn, edges, chosen, moves):
        even, best = _even(letters), np.zeros((some.size, versions.size))
        due = np.arange(some.size)
        for shift in shifts:
            best[due] = np.maximum(
                best[due], np.einsum("nyx,nyxv->nv", _even(seen_at(*shift, due)), even[due])
            )
            due = due[best[due, 0] < _EQUAL]
        is_same = (even * even[..., :1]).sum(axis=(1, 2)) >= _SAME
        is_other = (versions > 0) & (versions <= counts[some, None]) & ~is_same
        own[some], other[some] = best[:, 0], np.where(is_other, best, -1).max(axis=1)
    return own, other


def _moves(
    levels: NDArray[np.uint8], drawn: NDArray[np.uint8], edges: Ints, chosen: Bools, part: Ints
) -> Ints:
    """Return how far, downwards and to the right (n, 2), the letters of each part look most like themselves."""
    like = np.zeros((len(edges), len(_FARTHER)))
    for some, seen_at, letters in _equal_boxes(
        levels, drawn, edges, chosen, np.zeros((len(edges), 2), np.intp)
    ):
        even, all_ = _even(letters[..., :1])[..., 0], np.arange(some.size)
        for number, shift in enumerate(_FARTHER):
            like[some, number] = (_even(seen_at(*shift, all_)) * even).sum(axis=(1, 2))
    found = np.zeros((part.max() + 1, len(_FARTHER)))
    np.add.at(found, part[chosen], like[chosen])
    return np.asarray(np.array(_FARTHER)[found.argmax(axis=1)][part])


def _equal_boxes(
    levels: NDArray[np.uint8], drawn: NDArray[np.uint8], edges: Ints, chosen: Bools, moves: Ints
) -> Iterator[tuple[Ints, Callable[[int, float, Ints], Pixels], Pixels]]:
    """Yield the numbers of letters whose boxes have one size, what the picture shows there, and their drawings.

    The letters are so far from their places, downwards and to the right (n, 2).
    """
    around = 2 * _MARGIN + max(abs(step) for shift in _FARTHER for step in shift)
    shown = np.pad(levels, around).astype(np.float32)
    letters = np.pad(drawn, ((_MARGIN, _MARGIN), (_MARGIN, _MARGIN), (0, 0))).astype(np.float32)
    edges = np.clip(edges, 0, np.tile(levels.shape[::-1], 2))
    begin, size = edges[:, :2], edges[:, 2:] - edges[:, :2] + 2 * _MARGIN
    inside = chosen & (size > 2 * _MARGIN).all(axis=1)
    for wide, high in np.unique(size[inside], axis=0).tolist():
        some = np.flatnonzero(inside & (size == [wide, high]).all(axis=1))
        y, x = begin[some, 1, None] + np.arange(high), begin[some, 0, None] + np.arange(wide)

        def seen_at(
            down: int, aside: float, at: Ints, y: Ints = y + moves[some, :1], x: Ints = x + moves[some, 1:]
        ) -> Pixels:
            away = around - _MARGIN
            rows, columns = (y[at] + away + down)[:, :, None], (x[at] + away)[:, None]
            before, after = (shown[rows, columns + int(way(aside))] for way in (np.floor, np.ceil))
            return np.asarray(before + (aside - np.floor(aside)) * (after - before))

        yield some, seen_at, letters[y[:, :, None], x[:, None]]


def _even(pixels: Pixels) -> Pixels:
    """Return pictures (n, height, width, ...) with a mean of 0 and a power of 1 each; those of one level are 0."""
    even = pixels - pixels.mean(axis=(1, 2), keepdims=True)
    power = np.sqrt((even**2).sum(axis=(1, 2), keepdims=True))
    return np.asarray(np.divide(even, power, out=np.zeros_like(even), where=power > 1))
