"""How far apart colours are for the eyes of readers: rules and pictures compare the same."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

WEIGHTS = (0.5, 1.0, 0.2)
"""What a difference of red, green and blue counts.

Red and blue have .30 and .10 of the luminance of green (WCAG 2.2, "relative luminance"), but colours of equal
luminance can be told apart, too. So this is a guess between these numbers and 1: #ffc on white, which can be read,
differs by more than greys that cannot, and #000026 on black by less.
"""

LEAST_CONTRAST = 8.0
"""The largest `contrast` of a letter and its ground that nobody can read, of 255 after opacity."""
FAINT_PX = 7.0
"""Smaller letters must be farther from it, see `least_contrast`."""
# Found by eye, on pictures of sizes from 3.5 to 8 px in nine greys on white. Between them, limits are in between.
_FAINT_SIZES, _FAINT_CONTRASTS = (4.0, 5.0, 6.0, FAINT_PX), (48.0, 32.0, 16.0, LEAST_CONTRAST)


def least_contrast(size_px: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far from their ground, of 255, letters of some sizes may be that cannot be read."""
    return np.interp(size_px, _FAINT_SIZES, _FAINT_CONTRASTS)


def contrast(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.float64]:
    """Return how far apart colours (..., 3) are, as levels of grey from 0 to 255; NaN for unknown ones."""
    return np.asarray((np.abs(first - second) * WEIGHTS).max(axis=-1))
