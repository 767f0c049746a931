"""The pixels in many boxes of a picture at once: loops over single boxes take most of the time of a large page."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page.pixels._parts import F64, OUTWARDS, Bools, Ints

# Around texts that are pictured apart, for what reaches beyond their boxes, and to see whether it moves.
_MARGIN_PX = 40.0
# So many pixels are worked on at once: a guess that fits the caches of processors.
_MOST_AT_ONCE = 200_000
# Less than the first share of the size of letters is no space between words, nor is less than the second between
# pieces of so few letters, which headings may have apart.
_NO_SPACE, _APART, _FEW = 0.17, 0.3, 3
# Pieces of a word are not lower than others by more than this, in sizes. A guess.
_SAME_ROW = 0.5


class Boxes:
    """The pixels of some boxes, one row after another, and one box after another.

    Rows go along the letters: downwards in lines that are not level.

    Parameters
    ----------
    edges : left, top, right and bottom of each box (n, 4); none is empty.
    width : of the picture.
    is_level : (n,), the boxes with level lines.
    steps : (n,), of each box, every so many pixels and rows are taken; None for all.

    Attributes
    ----------
    index : (P,), the number of each pixel in the picture.
    rows : (R,), the number of the first pixel of each row.
    box, along, row, across : of each row (R,) its box, its length, its number in the box, and how many that has.
    first : (n,), the number of the first row of each box.
    """

    def __init__(self, edges: Ints, width: int, is_level: Bools, steps: Ints | None = None) -> None:
        every = np.ones((len(edges), 1), np.intp) if steps is None else steps[:, None]
        size = -(-(edges[:, 2:] - edges[:, :2]) // every)
        strides = every * np.array([1, width])
        turned = ~is_level
        size[turned], strides[turned] = size[turned, ::-1], strides[turned, ::-1]
        (along, across), (step, down) = size.T, strides.T
        self.first = np.cumsum(across) - across
        self.box = box = np.repeat(np.arange(len(edges)), across)
        self.row = np.arange(box.size) - self.first[box]
        self.along, self.across = along[box], across[box]
        self.rows = np.cumsum(self.along) - self.along
        start = (edges[:, 0] + edges[:, 1] * width)[box] + self.row * down[box] - self.rows * step[box]
        self.index = np.repeat(start, self.along)
        self.index += np.arange(self.index.size) * np.repeat(step[box], self.along)

    def by_pixel(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values of the rows (R,) for each pixel (P,)."""
        return np.repeat(values, self.along)

    def by_row(self, values: NDArray[Any]) -> F64:
        """Return the sum of the values of the pixels (P,) of each row (R,)."""
        return np.asarray(np.add.reduceat(values, self.rows, dtype=np.float64))

    def by_box(self, values: NDArray[Any]) -> F64:
        """Return the sum of the values of the rows (R,) of each box (n,)."""
        return np.asarray(np.add.reduceat(values, self.first, dtype=np.float64))


def chunks(edges: Ints) -> Iterator[Ints]:
    """Yield the numbers of the boxes (n, 4) of which so many are worked on at once; empty ones are left out."""
    size = np.maximum(edges[:, 2:] - edges[:, :2], 0).prod(axis=1)
    boxes = np.flatnonzero(size)
    chunk = np.cumsum(size[boxes]) // _MOST_AT_ONCE
    if boxes.size:
        yield from np.split(boxes, np.flatnonzero(np.diff(chunk)) + 1)


def area(edges: NDArray[Any]) -> NDArray[Any]:
    """Return the areas of boxes (B, 4), given by left, top, right and bottom."""
    size = np.maximum(edges[:, 2:] - edges[:, :2], 0)
    return np.asarray(size[:, 0] * size[:, 1])


def sums(values: NDArray[np.uint8], edges: Ints) -> F64:
    """Return the sum of the pixels (height, width) in each of some boxes (n, 4), which are inside of the picture."""
    corners = np.zeros((values.shape[0] + 1, values.shape[1] + 1))
    corners[1:, 1:] = values.cumsum(axis=0, dtype=np.float64).cumsum(axis=1)
    left, top, right, bottom = edges.T
    found = corners[bottom, right] - corners[top, right] - corners[bottom, left] + corners[top, left]
    return np.asarray(found)


def counts(mask: Bools, edges: Ints) -> F64:
    """Return how many pixels of a mask are in each of some boxes (B, 4)."""
    found = np.zeros(len(edges))
    for box in np.flatnonzero(area(edges)).tolist():
        x, y, right, bottom = edges[box].tolist()
        found[box] = np.count_nonzero(mask[y:bottom, x:right])
    return found


def fill(mask: Bools, edges: F64 | Ints) -> None:
    """Set the pixels of a mask (height, width) in some boxes (n, 4), as far as these are in it."""
    within = np.clip(edges, 0, np.tile(mask.shape[::-1], 2)).astype(np.intp)
    for x, y, right, bottom in within.tolist():
        mask[y:bottom, x:right] = True


def around_all(boxes: F64) -> F64:
    """Return what is around boxes (n, 4), with a margin."""
    edges = np.concatenate((boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)))
    return np.asarray(np.rint(edges) + _MARGIN_PX * OUTWARDS)


def lines_around(edges: Ints, line: Ints, count: int) -> Ints:
    """Return the edges of lines (L, 4), given the edges of their parts (B, 4) and the line of each (B,)."""
    found = np.zeros((count, 4), np.intp)
    found[:, :2] = np.iinfo(np.int32).max
    np.minimum.at(found[:, :2], line, edges[:, :2])
    np.maximum.at(found[:, 2:], line, edges[:, 2:])
    return found


def words_of(boxes: F64, sizes: F64, said: Sequence[str], owner: Ints) -> Ints:
    """Return the number of the word of each of some boxes of parts (n, 4): in a row, with nothing between letters.

    Parameters
    ----------
    sizes : of the letters of each.
    said, owner : what each says, and the text that it is of: these are of several ones.
    """
    begins, ends = ([one[at : at + 1 or None].isalnum() for one in said] for at in (0, -1))
    from scipy.sparse import coo_array  # loaded on use: only this mode needs it
    from scipy.sparse.csgraph import connected_components

    middle, high = (boxes[:, 1] + boxes[:, 3]) / 2, boxes[:, 3] - boxes[:, 1]
    order = np.lexsort((boxes[:, 0], np.rint(middle)))
    pairs = [(order[:-1], order[1:]), *neighbours(boxes[:, 0], middle, sizes, _SAME_ROW)]
    one, other = (np.concatenate(side) for side in zip(*pairs, strict=True))
    is_beside = np.abs(middle[one] - middle[other]) <= high[one] / 2
    is_beside &= np.array(ends, np.bool_)[one] & np.array(begins, np.bool_)[other]
    is_beside &= owner[one] != owner[other]
    are_few = np.array([len(piece) <= _FEW for piece in said], np.bool_)
    most = np.where(are_few[one] & are_few[other], _APART, _NO_SPACE)
    is_beside &= np.abs(boxes[other, 0] - boxes[one, 2]) <= most * sizes[one]
    one, other = one[is_beside], other[is_beside]
    links = coo_array((np.ones(one.size, np.bool_), (one, other)), shape=(len(boxes), len(boxes)))
    return np.asarray(connected_components(links, directed=False)[1], np.intp)


def neighbours(begin: F64, down: F64, size: F64, share: float) -> Iterator[tuple[Ints, Ints]]:
    """Yield pairs of boxes that are next to each other in rows of boxes of about one size.

    They may be a little larger or smaller, and higher or lower. A pair may come several times.

    Parameters
    ----------
    begin, down : where each begins along its row, and how far down it stands (n,).
    size : how high each is (n,).
    share : boxes that are farther down by this share of their size are in another row.
    """
    doublings = np.log2(np.maximum(size, 1))
    for larger in (0.0, 0.5):
        for doubling in np.unique(np.floor(doublings + larger)):
            some = np.flatnonzero(np.floor(doublings + larger) == doubling)
            place = down[some] / max(share * np.median(size[some]), 1)
            for lower in (0.0, 0.5):
                row = np.floor(place + lower)
                order = np.lexsort((begin[some], row))
                is_same = row[order[:-1]] == row[order[1:]]
                yield some[order[:-1]][is_same], some[order[1:]][is_same]
