"""Whether the letters of a page look like themselves, as readers see them.

Fonts may have other letters for some that are beside others, in other elements or after spaces, in some sizes, or by
features; and strokes, signs, shadows and lines may make others of them. So each letter is drawn alone in its place,
and so are others of its font that look like it; the picture must look like the first, and less like these.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page.pixels._images import levels_above, levels_of
from domsieve.renderer.page.pixels._parts import F64, Bools, Ints

if TYPE_CHECKING:
    from PIL.Image import Image

# Letters are at most so many pixels from where they should be, and around each is a margin. Those that look so much
# like themselves are looked for no farther on. Words may be farther off, with all of their letters: else a letter
# could be found where the next one is. Lines that are justified may begin at half a pixel.
_SHIFTS, _MARGIN, _EQUAL = [(down, aside) for down in (0, -1, 1) for aside in (0, -1, 1)], 1, 0.98
_HALVES = [(down, aside / 2) for down in (0, -1, 1) for aside in (0, -1, 1, -2, 2)]
_FARTHER = [(down, aside) for down in range(-2, 3) for aside in range(-6, 7)]
# Small letters of a font are apart if so much of the height of their boxes is between them, and touch if they overlap
# and are by the second nearer: kerning takes less. Letters stand in a row if none is lower than another by the third.
_LEAST_FREE, _MOST_KERNED, _SAME_ROW = 0.03, 0.085, 0.4
# A ground whose levels differ by no more than this, of 255, makes no strokes.
_EVEN = 12
# Drawings of two letters that are more alike than this are the same for readers.
_SAME = 0.99
# A letter is another one if it looks at least so much like that, and by the second more than like itself, or if it
# looks like itself and by the third more like that; it is none if it looks less than the fourth like itself. A part
# shows others if there is one of these in it, or if so many of its letters look less like themselves: kerning and
# ligatures change single ones, and small letters are a little off where they begin between pixels.
_LEAST_CLEAR, _MORE_IF_CLEAR, _MORE_LIKE, _LEAST_OWN = 0.95, 0.05, 0.005, 0.65
_LEAST_LIKE, _MOST_UNLIKE, _LEAST_NEAR, _MOST_FAR = 0.93, 0.34, 0.88, 0.24

Pixels = NDArray[np.float32]


def parts_of_others(own: F64, other: F64, is_even: Bools, part: Ints, count: int) -> Bools:
    """Return which of so many parts show other letters of their font, or what is no letter, by their letters (n,).

    Parameters
    ----------
    own, other, is_even : see `likenesses_apart`.
    part : the part of each letter.
    """
    is_compared = own >= 0
    is_clear = is_compared & (own < _LEAST_OWN) | (other > own + _MORE_LIKE) & (own >= _LEAST_LIKE)
    is_clear |= (other >= _LEAST_CLEAR) & (other > own + _MORE_IF_CLEAR)
    is_far = is_compared & (own < _LEAST_NEAR)
    is_clear |= is_far & ~is_even  # one stroke may make another word
    # Edges of boxes near letters make some of them less like themselves.
    is_unlike = is_compared & (((own < _LEAST_LIKE) & is_even) | (other > own + _MORE_LIKE))
    compared, clear, unlike, far = (
        np.bincount(part, one, count) for one in (is_compared, is_clear, is_unlike, is_far)
    )
    return np.asarray((clear > 0) | (unlike > _MOST_UNLIKE * compared) | (far > _MOST_FAR * compared))


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
    row = inks[:, 4] / np.maximum(_SAME_ROW * np.median(size), 1) if size.size else size
    for offset in (0.0, 0.5):  # letters in a row may be a little higher or lower
        order = np.lexsort((inks[:, 0], np.floor(row + offset)))
        one, other = order[:-1], order[1:]
        is_beside = (inks[one, 1] > inks[one, 0]) & (inks[other, 1] > inks[other, 0])
        is_beside &= np.floor(row + offset)[one] == np.floor(row + offset)[other]
        is_beside &= inks[one, 0] < inks[other, 0]
        free, gap = inks[one, 3] + inks[other, 2], inks[other, 0] - inks[one, 1]
        touches = is_beside & (free >= _LEAST_FREE * size[one]) & (gap < 0)
        touches &= free - gap >= _MOST_KERNED * size[one]
        found[one[touches]] = found[other[touches]] = True
    return np.flatnonzero(found)


def likenesses_apart(
    pictures: "tuple[Image, Image]", drawn: NDArray[np.uint8], edges: Ints, counts: Ints, part: Ints
) -> tuple[F64, F64, Bools]:
    """Return how much each letter (n,) of a picture looks like itself, and like the other one that is most like it.

    The last array says whether the ground behind its part is even. The others are correlations, -1 for letters beyond
    the picture, and the second for those without others.

    Parameters
    ----------
    pictures : the picture without letters, and with them.
    drawn : each letter alone, and others in its place (height, width, V).
    edges : left, top, right and bottom of each letter in pixels (n, 4).
    counts : how many others there are of it (n,), less than V.
    part : the part that each is of (n,); those of one are as far beside their places.
    """
    levels, is_even = _levels_seen(*pictures, edges, part)
    moves, all_ = np.zeros((len(edges), 2), np.intp), np.ones(len(edges), np.bool_)
    own, other = _likenesses(levels, drawn, edges, counts, all_, moves)
    low = np.isin(part, part[(own >= 0) & (own < _LEAST_LIKE)])
    if low.any():
        moves[low] = _moves(levels, drawn, edges, low, part)[low]
        again = _likenesses(levels, drawn, edges, counts, low, moves, _HALVES)
        own[low], other[low] = again[0][low], again[1][low]
    return own, other, is_even


def _levels_seen(first: "Image", second: "Image", edges: Ints, part: Ints) -> tuple[NDArray[np.uint8], Bools]:
    """Return how far each pixel (height, width) of the second picture is from what is behind its letters.

    That is the first picture where it is even, else its median behind each part: strokes there make other letters.
    The second array says which letters (n,) have an even ground.
    """
    is_even = np.ones(part.size, np.bool_)
    levels, ground = levels_of(first, second).copy(), np.asarray(first)
    edges = np.clip(edges, 0, np.tile(first.size, 2))
    for one in np.unique(part).tolist():
        own = edges[part == one]
        (left, top), (right, bottom) = own[:, :2].min(axis=0).tolist(), own[:, 2:].max(axis=0).tolist()
        inside = np.s_[top:bottom, left:right]
        if right > left and bottom > top and np.ptp(ground[inside], axis=(0, 1)).max() > _EVEN:
            is_even[part == one] = False
            level = np.median(ground[inside], axis=(0, 1)).astype(np.intp).tolist()
            levels[inside] = levels_above(second.crop((left, top, right, bottom)), tuple(level))
    return levels, is_even


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
            return np.asarray(before if aside == int(aside) else (before + after) / 2)

        yield some, seen_at, letters[y[:, :, None], x[:, None]]


def _even(pixels: Pixels) -> Pixels:
    """Return pictures (n, height, width, ...) with a mean of 0 and a power of 1 each; those of one level are 0."""
    even = pixels - pixels.mean(axis=(1, 2), keepdims=True)
    power = np.sqrt((even**2).sum(axis=(1, 2), keepdims=True))
    return np.asarray(np.divide(even, power, out=np.zeros_like(even), where=power > 1))
