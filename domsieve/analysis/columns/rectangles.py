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
