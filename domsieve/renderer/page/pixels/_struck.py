"""Lines through letters in a picture: how much of the letters is in lines of their own colour, all lines together."""

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page.pixels._boxes import Boxes, chunks
from domsieve.renderer.page.pixels._letters import INKS
from domsieve.renderer.page.pixels._parts import F64, Bools, Ints
from domsieve.snapshot.contrast import WEIGHTS, contrast

# Letters are looked at in the size of the page if so much of their contrast in a reduced picture is in rows
# that show less than the next share of what they should. Guesses, of which more only cost time.
_DOUBTFUL, _LEAST_SHOWN = 0.12, 0.6
# A row is in a line if the paper of it is this near to the colour of the letters, but for so much of it; more
# than the last share of the rows must be far from that. Measured: .06 for letters in outlines, .18 for three lines.
_LINE, _GAPS, _LEAST_PAPER = 0.6, 0.25, 0.1
# What has less ink than this is paper, which must be so far (of 255) from the colour of letters; what has more than
# the last share of the darkest ink has this colour.
_PAPER, _LEAST_FAR, _CORE = 0.1, 24, 0.7
# Of letters in one colour, pixels differ by less than this from it in the mean.
_ONE_COLOUR = 24.0
# Letters cannot be read if more than the first share of their ink is in lines; or if more than the last is, and more
# than the second in the mean of their line of text. Found by eye, on letters of 12 and 16 px: .45 to .55 in the mean
# for lines of 1 px and others under which they can be read, .57 to .8 where they hardly can.
_MOST_STRUCK, _MOST_IN_LINE, _LEAST_STRUCK = 0.63, 0.565, 0.45


def may_be_struck(
    picture: NDArray[np.uint8], drawn: NDArray[np.uint8], inks: Ints, edges: Ints, is_level: Bools
) -> Bools:
    """Return in which of some boxes (n, 4) lines may cover much of the letters.

    Parameters
    ----------
    picture, drawn : the picture (height, width, 3), and the letters in each ink (height, width, INKS).
    inks, edges, is_level : of each box the ink of its letters (n,), its edges, and whether its lines are level (n,).
    """
    found = np.zeros(len(edges), np.bool_)
    for chunk in chunks(edges):
        boxes = Boxes(edges[chunk], picture.shape[1], is_level[chunk])
        shown = (picture.reshape(-1, 3)[boxes.index] * WEIGHTS).astype(np.float64)
        own = drawn.reshape(-1, INKS)[boxes.index, boxes.by_pixel(inks[chunk][boxes.box])].astype(np.float64)
        low, high = (of.reduceat(shown, boxes.rows, axis=0) for of in (np.minimum, np.maximum))
        least, most = (
            of.reduceat(one, boxes.first, axis=0)[boxes.box]
            for of, one in ((np.minimum, low), (np.maximum, high))
        )
        span, whole = (high - low).max(axis=1), (most - least).max(axis=1)
        ink = np.maximum.reduceat(own, boxes.rows) - np.minimum.reduceat(own, boxes.rows)
        peak = np.maximum(np.maximum.reduceat(ink, boxes.first)[boxes.box], 1)
        spread = boxes.by_row(own**2) - boxes.by_row(own) ** 2 / boxes.along
        is_low = span * peak < _LEAST_SHOWN * ink * whole
        total = np.maximum(boxes.by_box(spread), 1)
        found[chunk] = boxes.by_box(np.where(is_low, spread, 0)) > _DOUBTFUL * total
    return found


def are_struck(shares: F64, line: Ints) -> Bools:
    """Return which words cannot be read, given their `struck_share` and the line of text of each (n,)."""
    number, count = np.unique(line, return_inverse=True, return_counts=True)[1:]
    mean = np.bincount(number, shares) / count
    return np.asarray((shares > _MOST_STRUCK) | ((shares > _LEAST_STRUCK) & (mean[number] > _MOST_IN_LINE)))


def struck_share(picture: NDArray[np.uint8], drawn: NDArray[np.uint8], said: F64) -> float:
    """Return which share of the ink of letters is in lines of their colour.

    Parameters
    ----------
    picture, drawn : a box of a picture in the size of the page (height, width, 3), and its letters (height, width).
    said : red, green and blue of the letters by their styles (3,), NaN if not known.
    """
    ink = drawn / 255
    paper = ink < _PAPER
    if not drawn.any() or not paper.any() or (colour := _colour(picture, ink, said)) is None:
        return 0.0
    far = contrast(picture.astype(np.float64), colour)
    # Where letters are cut, what is beyond says nothing of their ground.
    core = ink > _CORE * ink.max()
    shown = np.flatnonzero(np.where(core, far, 0).sum(axis=1) < _ONE_COLOUR * core.sum(axis=1))
    if not shown.size:
        return 0.0
    paper[: shown[0]] = paper[shown[-1] + 1 :] = False
    if not paper.any():
        return 0.0
    most = float(np.percentile(far[paper], 90))
    if most < _LEAST_FAR:
        return 0.0
    near = np.where(paper, 1 - far / most, np.nan)
    rows, columns = (_are_lines(one) for one in (near, near.T))
    return float(ink[rows[:, None] | columns].sum() / ink.sum())


def _are_lines(near: F64) -> Bools:
    """Return which rows of paper are near to the colour of letters nearly everywhere; NaN is no paper.

    Where few rows are far from it nearly everywhere, this is no paper, but what is around letters in outlines.
    """
    count = np.count_nonzero(~np.isnan(near), axis=1)
    values, row = np.sort(near, axis=1), np.arange(len(near))  # with NaN at the end
    least, most = (
        values[row, np.minimum((share * count).astype(np.intp), values.shape[1] - 1)]
        for share in (_GAPS, 1 - _GAPS)
    )
    is_far = np.count_nonzero(most < 1 - _LINE) > _LEAST_PAPER * np.count_nonzero(count)
    return np.asarray((least > _LINE) & is_far)


def _colour(picture: NDArray[np.uint8], ink: F64, said: F64) -> F64 | None:
    """Return the colour of letters: what styles say if they have it, else that of most; None if not clear."""
    core = picture[ink > _CORE * ink.max()].astype(np.float64)
    if np.percentile(contrast(core, said), 10) < _ONE_COLOUR:  # not if it is NaN
        return said
    found = np.median(core, axis=0)
    return found if contrast(core, found).mean() < _ONE_COLOUR else None
