"""Rectangles, as rows of left, top, right and bottom edges in CSS px."""

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools


def intersection(first: F64, second: F64) -> F64:
    """Return what rectangles (n, 4) have in common; empty where one of them is missing (NaN)."""
    edges = np.concatenate(
        (np.maximum(first[:, :2], second[:, :2]), np.minimum(first[:, 2:], second[:, 2:])), 1
    )
    return np.where(np.isnan(edges), 0.0, edges)


def is_larger(rect: F64, least: F64 | float) -> Bools:
    """Return which rectangles (n, 4) are wider and higher than `least`: one number, (n,), or (n, 2)."""
    least = np.asarray(least)
    size = rect[:, 2:] - rect[:, :2]
    return np.asarray((size > (least[:, None] if least.ndim == 1 else least)).all(axis=1))


def contains(outer: F64, inner: F64) -> Bools:
    """Return which rectangles of `outer` contain those of `inner`, with half a pixel of tolerance."""
    begins = outer[..., :2] <= inner[..., :2] + 0.5
    ends = outer[..., 2:] >= inner[..., 2:] - 0.5
    return np.asarray((begins & ends).all(axis=-1))


def grown(rect: F64, by: F64 | float) -> F64:
    """Return rectangles (..., 4) with each edge moved outwards by `by` px."""
    by = np.asarray(by, np.float64)[..., None]
    return rect + np.concatenate((-by, -by, by, by), axis=-1)


def share_in(rect: F64, inner: F64) -> F64:
    """Return which share of the area of each `inner` (n, 4) is in `rect` (n, 4)."""
    common = intersection(rect, inner)
    areas = [np.maximum(one[:, 2:] - one[:, :2], 0.0).prod(axis=1) for one in (common, inner)]
    return np.asarray(areas[0] / np.maximum(areas[1], 1e-9))


def samples(rect: F64, across: int, down: int) -> F64:
    """Return points (n, across * down, 2) that are evenly spread over rectangles (n, 4)."""
    x, y = ((np.arange(count) + 0.5) / count for count in (across, down))
    shares = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    return rect[:, None, :2] + shares * (rect[:, None, 2:] - rect[:, None, :2])


def unturned(rect: F64, plane: F64) -> F64:
    """Return half the width and height (n, 2) of boxes before matrices (n, 2, 2) turned them.

    Parameters
    ----------
    rect : the rectangles around the turned boxes (n, 4), which are |a| w + |c| h wide and |b| w + |d| h high. Where
        that has no single solution, as at 45 degrees, the result is NaN.
    """
    half, shares = (rect[:, 2:] - rect[:, :2]) / 2, np.abs(plane)
    area = np.linalg.det(shares)
    clear = np.abs(area) > 0.05
    divisor = np.where(clear, area, 1.0)
    width = (shares[:, 1, 1] * half[:, 0] - shares[:, 0, 1] * half[:, 1]) / divisor
    height = (shares[:, 0, 0] * half[:, 1] - shares[:, 1, 0] * half[:, 0]) / divisor
    return np.where(clear[:, None], np.maximum(np.stack((width, height), axis=1), 0.0), np.nan)
