"""Pictures as the browser encodes them, and the ink of letters in them."""

import base64
import io
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from domsieve.snapshot.contrast import WEIGHTS

if TYPE_CHECKING:
    from PIL.Image import Image

SCALE = 0.5
"""Size of the pictures that are compared over that of the page."""
FINE = round(1 / SCALE)
"""How many times the size of a picture of the page is reduced."""


def ink_of(pictures: Sequence[str], size: tuple[int, int]) -> "Image":
    """Return the letters in each ink of pictures of some size, coloured on black."""
    from PIL import Image, ImageChops

    paper = Image.new("RGB", size)
    for encoded in pictures:
        own = Image.new("RGB", size)
        own.paste(picture_of(encoded))
        paper = ImageChops.lighter(paper, own)
    return paper


def reduced(picture: "Image") -> NDArray[np.uint8]:
    """Return the pixels of a picture (height, width, 3) in the size in which pictures are compared."""
    return np.asarray(picture.reduce(FINE))


def shifted(picture: "Image") -> list[NDArray[np.uint8]]:
    """Return the pixels of a reduced picture, see `reduced`, with all shifts by less than one of them."""
    width, height = picture.size
    return [reduced(picture.crop((x, y, x + width, y + height))) for x in range(FINE) for y in range(FINE)]


def picture_of(encoded: str, reduced: int = 1) -> "Image":
    """Return a picture, reduced so many times."""
    from PIL import Image  # loaded on use: only this mode needs it

    with Image.open(io.BytesIO(base64.b64decode(encoded)), formats=["PNG"]) as image:
        return image.convert("RGB").reduce(reduced)


def levels_of(first: "Image", second: "Image") -> NDArray[np.uint8]:
    """Return how far apart each pixel (height, width) of two pictures is, see `contrast`."""
    from PIL import ImageChops

    return _weighed(ImageChops.difference(first, second))


def steady_levels(first: "Sequence[Image]", second: "Sequence[Image]") -> NDArray[np.uint8]:
    """Return how far apart each pixel (height, width) is at least in two groups of pictures, see `levels_of`."""
    from PIL import ImageChops

    lightest, darkest = (
        [reduce(way, pictures) for pictures in (first, second)]
        for way in (ImageChops.lighter, ImageChops.darker)
    )
    return _weighed(
        ImageChops.lighter(
            ImageChops.subtract(darkest[0], lightest[1]), ImageChops.subtract(darkest[1], lightest[0])
        )
    )


def _weighed(difference: "Image") -> NDArray[np.uint8]:
    """Return the largest channel of each pixel (height, width) of a difference, by `WEIGHTS`."""
    from PIL import ImageChops

    channels = zip(difference.split(), WEIGHTS, strict=True)
    weighed = (one.point([round(weight * level) for level in range(256)]) for one, weight in channels)
    return np.asarray(reduce(ImageChops.lighter, weighed))
