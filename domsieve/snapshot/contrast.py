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


def contrast(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.float64]:
    """Return how far apart colours (..., 3) are, as levels of grey from 0 to 255; NaN for unknown ones."""
    return np.asarray((np.abs(first - second) * WEIGHTS).max(axis=-1))
