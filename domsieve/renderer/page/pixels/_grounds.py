"""What is behind letters: whether they are lost in a rough ground, or in ink of their own colour."""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page.pixels._parts import F64, Bools

# Letters are lost if neighbouring pixels of their ground differ by more than this share of what the letters
# change, and what these make darker and lighter nearly cancels out, in each channel. Measured: 1.2 to 2.5 and up
# to .6 for letters on noise; up to .85 for captions with outlines on two photographs.
_LEAST_NOISE, _LEAST_ONE_WAY = 0.9, 0.5
# They are also lost if neighbouring pixels differ more, and the picture with letters does not correlate with them.
# Measured: 1.3 to 3 and .1 to .5 for letters that noise hides, which all are darker or lighter than it; at most 1.0
# for white, black, yellow and shaded captions on three photographs in two sizes each.
_MOST_NOISE, _LEAST_IN_NOISE = 1.2, 0.45
# And they are, if neighbouring pixels differ less, both ways cancel out, and there is nearly no such correlation.
# Measured: .58 to .9 and up to .2 for letters that are filled with the noise of their ground, or invert it.
_SOME_NOISE, _LEAST_IN_SOME = 0.3, 0.25
# Of red, green and blue, what readers see as light (Rec. 601). Letters that only change blue are lost in noise of red
# and green: of these three, that in place of blue must have the noise.
_LIGHT = (0.299, 0.587, 0.114)
_COLOURS, _WITHOUT_BLUE = [0, 1, 2], [0, 1, 3]
# Letters cannot be told from other ink of their colour if more than this share of their own ink is on it, it has at
# least so many of the edges that they have, and so much of it, as a share of their own, is at most a pixel beside
# them, on a ground that is even elsewhere, in more than this share of the pixels. Measured: .34 to .71, .53 to 1.9,
# .47 to .97 and .41 to .7 for the value of a field, the text of a missing picture, hatching and shadows of another
# text in the place of a text. Captions on photographs have up to .31 of the edges.
_UNDER, _LEAST_EDGES, _BESIDE, _LEAST_EVEN = 0.3, 0.5, 0.4, 0.3
# A pixel has ink if it is so far from the ground to the colour of the letters. There is a stroke where this is more
# than so much of what the letters have; an area must be nearer to their colour, or letters can be read on it.
_LEAST_INK, _STROKE, _AREA = 0.16, 0.6, 0.6
# Where letters change their ground by more than this, they must stand out from what is up to two pixels beside them
# by this share of the change.
_LEAST_CHANGE, _LEAST_OUT, _NEARLY_ALL = 6, 0.2, 85
# So must their outline, by this share, from what is so near. Measured: .14 to .57 for letters that are filled with a
# ground of coloured squares, on letters of the opposite colours; .92 and up for those that can be read.
_LEAST_STEP, _BESIDE_PX = 0.6, 3
# Where what is around letters differs in itself by more than the first share of the change in so few pixels, half of
# their outline must stand out by the second share of it. Measured: 0 for nearly all letters that are filled with
# their ground, on pale letters of their shape; .57 and up for letters among copies of them, and behind others.
_ROUGH, _LEAST_USUAL = 0.5, 0.3
# Pixels that are farther from the line between both colours than this share of it have another colour.
_OTHER_COLOUR = 0.35
# Colours that differ by less than this (of 255) are one; pixels are sorted by colours of so many levels.
_ONE_COLOUR, _LEVELS = 12, 8


def is_noise(ground: NDArray[np.uint8], whole: NDArray[np.uint8], differs: Bools, inks: F64 | None) -> bool:
    """Return whether letters are lost in the noise of their ground.

    Parameters
    ----------
    ground, whole : a box of the picture without letters, and with them (height, width, 3).
    differs : the pixels that letters change (height, width).
    inks : those of all letters there (height, width, 3), 0 to 1; None if they are not known.
    """
    behind, seen = (
        np.append(one, (one @ np.array(_LIGHT))[..., None], axis=2)
        for one in (ground.astype(np.float64), whole)
    )
    change = (seen - behind)[differs]
    grain = np.abs(np.diff(behind, axis=1)).mean(axis=(0, 1))  # of each channel
    size, way = np.abs(change).mean(axis=0), np.abs(change.mean(axis=0))
    is_both_ways = way <= _LEAST_ONE_WAY * size
    for some in _COLOURS, _WITHOUT_BLUE:
        if is_both_ways[some].all() and (grain >= _LEAST_NOISE * size)[some].all():
            return True
        if inks is None:
            continue
        if (grain >= _MOST_NOISE * size)[some].all():
            least = _LEAST_IN_NOISE
        elif is_both_ways[some].all() and (grain >= _SOME_NOISE * size)[some].all():
            least = _LEAST_IN_SOME
        else:
            continue
        if _likeness(seen[..., some], inks.max(axis=2)) < least:
            return True
    return False


def is_overlaid(ground: NDArray[np.uint8], whole: NDArray[np.uint8], ink: F64) -> bool:
    """Return whether other ink of the colour of some letters is in their place.

    Parameters
    ----------
    ground, whole : see `is_noise`.
    ink : that of the letters (height, width), 0 to 1.
    """
    under, beside, edges = _overlay(ground, whole, ink)
    return under > _UNDER and beside > _BESIDE and edges > _LEAST_EDGES


def lie_on_ink(ground: NDArray[np.uint8], whole: NDArray[np.uint8], ink: F64) -> bool:
    """Return whether much of the ink of letters is on other ink of their colour, see `is_overlaid`."""
    return _overlay(ground, whole, ink)[0] > _UNDER


def _overlay(ground: NDArray[np.uint8], whole: NDArray[np.uint8], ink: F64) -> tuple[float, float, float]:
    """Return how much ink of letters is on other ink of their colour, and the latter beside them and its edges.

    All are shares of the ink and the edges of the letters; for the parameters see `is_overlaid`.
    """
    behind, share = ground.astype(np.float64), ink[..., None]
    power = (ink**2).sum()
    if not power:
        return 0.0, 0.0, 0.0
    # Letters put their colour over the ground, in the share of their ink.
    colour = ((whole - (1 - share) * behind) * share).sum(axis=(0, 1)) / power
    colour = np.clip(colour, 0, 255)
    far = np.abs(behind - colour).max(axis=2)
    if far.max() < _ONE_COLOUR:
        return 0.0, 0.0, 0.0
    is_far = far > far.max() / 2
    sorted_ = behind[is_far] // _LEVELS @ np.array([1, 2**8, 2**16])
    _, number, count = np.unique(sorted_, return_inverse=True, return_counts=True)
    if count.max() < _LEAST_EVEN * far.size:
        return 0.0, 0.0, 0.0
    even = behind[is_far][number == count.argmax()].mean(axis=0)
    way = colour - even
    other = np.clip((behind - even) @ way / (way @ way), 0, 1)
    beside = np.linalg.norm(behind - even - other[..., None] * way, axis=2)
    other[beside > _OTHER_COLOUR * np.linalg.norm(way)] = 0
    is_area = around_each(other, np.minimum) >= 0.8 * other
    strokes = other >= np.where(is_area, _AREA, _STROKE * np.percentile(ink, 95))
    is_ink = (other > _LEAST_INK) & around_each(strokes, np.maximum)
    total, beside = ink.sum(), np.where(is_ink, other, 0) * (1 - ink)
    return (
        float(ink[is_ink].sum() / total),
        float(beside[around_each(ink, np.maximum) > _LEAST_INK].sum() / total),
        _edges(other) / max(_edges(ink), 1.0),
    )


def blends_in(ground: NDArray[np.uint8], whole: NDArray[np.uint8], ink: F64) -> bool:
    """Return whether some letters make what is behind them like what is around them, as on letters of the same shape.

    Parameters
    ----------
    ground, whole, ink : see `is_overlaid`.
    """
    change = whole.astype(np.float64) - ground
    near = around_each(around_each(ink, np.maximum), np.maximum) > _LEAST_INK
    is_letter = (ink > ink.max() / 2) & (np.abs(change).max(axis=2) > _LEAST_CHANGE)
    is_beside = near & (ink < _LEAST_INK)
    if not (is_letter.any() and is_beside.any()):
        return False
    # What stands in front of some letters changes their mean, and lines that touch letters what is beside most of
    # them. Each row has its own mean, as lines may be in the ground, too.
    mean = np.where(near, ink, 0).sum(axis=1) / np.maximum(near.sum(axis=1), 1)
    weights = np.where(near, ink - mean[:, None], 0).ravel()
    of, changed = weights @ change.reshape(-1, 3), change[is_letter]

    def is_alike(apart: F64, out: F64, most: F64) -> bool:
        return _is_small(out, most) and _is_small(weights @ apart.reshape(-1, 3), of)

    apart = whole - np.median(whole[is_beside], axis=0)
    if is_alike(apart, np.median(apart[is_letter], axis=0), np.median(changed, axis=0)):
        return True
    # In bands, letters are like what is beside them in their row or column only, then nearly all of them.
    most = np.median(np.abs(changed), axis=0)
    beside = np.where(is_beside[..., None], whole, np.nan)
    for axis in (0, 1):
        apart = np.asarray(whole - np.nan_to_num(_medians(beside, axis)), np.float64)
        if is_alike(apart, np.percentile(np.abs(apart[is_letter]), _NEARLY_ALL, axis=0), most):
            return True
    # On other grounds, there is no step at their outline. Strokes around letters may be like their ground.
    size = np.abs(change).max(axis=2)
    is_filled, is_same = is_letter & (size > most.max() / 2), is_beside & (size <= _LEAST_CHANGE)
    step, usual, rough = _steps(whole, is_filled, is_same)
    is_lost = (rough > _ROUGH * most).any() and usual.max() < _LEAST_USUAL * most.max()
    return bool(is_lost or step.max() < _LEAST_STEP * most.max())


def _steps(picture: NDArray[np.uint8], inner: Bools, outer: Bools) -> F64:
    """Return by how much inner pixels differ from the next outer ones: mean and median of each channel (3, 3).

    Also return by how much outer ones differ on the mean from others that are as far away. Without outer ones that
    are near, the difference is infinite.
    """
    values = picture.astype(np.float64)
    rough, found = np.zeros(3), [np.empty((0, 3))]
    outer = outer.copy()
    outer[:_BESIDE_PX] = outer[-_BESIDE_PX:] = False
    outer[:, :_BESIDE_PX] = outer[:, -_BESIDE_PX:] = False
    for axis, way in itertools.product((0, 1), (1, -1)):
        left = inner.copy()
        for far in range(1, _BESIDE_PX + 1):
            beside = np.roll(outer, way * far, axis)
            apart = np.abs(values - np.roll(values, way * far, axis))
            here = left & beside
            if (both := outer & beside).any():
                rough += np.count_nonzero(here) * apart[both].mean(axis=0)
            found.append(apart[here])
            left &= ~here
    steps = np.concatenate(found)
    if not len(steps):
        return np.array([[np.inf] * 3, [np.inf] * 3, [0.0] * 3])
    return np.array([steps.mean(axis=0), np.median(steps, axis=0), rough / len(steps)])


def _is_small(out: F64, of: F64) -> bool:
    """Return whether letters stand out from what is beside them by too little of what they change (3,)."""
    return bool(np.abs(out).max() < _LEAST_OUT * np.abs(of).max())


def _medians(values: F64, axis: int) -> F64:
    """Return the median of each row or column in place of its values (height, width, 3); NaN counts for nothing."""
    count = np.count_nonzero(~np.isnan(values), axis=axis, keepdims=True)
    medians = np.take_along_axis(np.sort(values, axis=axis), count // 2 * (count > 0), axis=axis)
    return np.broadcast_to(medians, values.shape)


def steps_of(grey: NDArray[np.uint8], least: int) -> tuple[Bools, Bools]:
    """Return where pixels differ by more than `least` from the next one in their row, and in their row or column."""

    def apart(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> Bools:
        return np.asarray(np.maximum(first, second) - np.minimum(first, second) > least)

    rough, steps = np.zeros((2, *grey.shape), np.bool_)
    rough[:, 1:] = apart(grey[:, 1:], grey[:, :-1])
    steps[1:] = apart(grey[1:], grey[:-1])
    return rough, rough | steps


def around_each(values: NDArray[Any], choose: np.ufunc) -> NDArray[Any]:
    """Return the largest or smallest value around each pixel, and in it."""
    padded = np.pad(values, 1, mode="edge")
    rows = choose(choose(padded[:-2], padded[1:-1]), padded[2:])
    return np.asarray(choose(choose(rows[:, :-2], rows[:, 1:-1]), rows[:, 2:]))


def _edges(values: F64) -> float:
    """Return how much neighbouring pixels differ in all."""
    return float(sum(np.abs(np.diff(values, axis=axis)).sum() for axis in (0, 1)))


def _likeness(picture: F64, ink: F64) -> float:
    """Return the largest correlation of a channel of a picture (h, w, 3) with the ink of letters (h, w)."""
    values = np.append(picture.reshape(-1, 3).T, ink.reshape(1, -1), axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.nan_to_num(np.abs(np.asarray(np.corrcoef(values))[3, :3])).max())
