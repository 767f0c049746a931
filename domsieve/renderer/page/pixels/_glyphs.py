"""How likely a drawing shows a Latin letter or a digit, by a small network that has seen many fonts."""

import base64
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from string import ascii_lowercase, digits

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page.pixels._parts import F64

NAMES = ascii_lowercase + digits
"""What a drawing may be, capitals as small letters; the network knows of one thing more, all other drawings."""
SIDE = 40
"""Drawings are so wide and so high, in pixels."""
# They are compared in this many rows and columns. What is wider or narrower than the second for its height, or the
# third, stays so. What is less than the last, of 255, is no ink; letters are set upright, but for this slant.
_CELL, _WIDE, _LEAST_INK, _MOST_SLANT = 16, 2.5, 40, 0.6
_FILE = Path(__file__).with_name("glyphs.npz")


def likelihoods(letters: str, encoded: Sequence[str]) -> F64:
    """Return how likely it is that each drawing of a letter shows it (n,), from 0 to 1; 0 if nothing is drawn.

    Parameters
    ----------
    letters : the letters (n), of which each is in `NAMES` or its capital is.
    encoded : the drawings, of `SIDE` rows of as many bytes each, in base64.
    """
    found = np.zeros(len(letters))
    inks = [np.frombuffer(base64.b64decode(one), np.uint8).reshape(SIDE, SIDE) for one in encoded]
    prepared = [features(one) for one in inks]
    drawn = [at for at, one in enumerate(prepared) if one is not None]
    if drawn:
        values = np.array([prepared[at] for at in drawn], np.float64)
        *hidden, last = _layers()
        for weights, bias in hidden:
            values = np.maximum(values @ weights + bias, 0)
        scores = values @ last[0] + last[1]
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        own = [NAMES.index(letters[at].lower()) for at in drawn]
        found[drawn] = shares[np.arange(len(drawn)), own]
    return found


def features(ink: NDArray[np.uint8]) -> NDArray[np.float32] | None:
    """Return what the network is told of a drawing (height, width): its pixels, set upright, its shape and its slant.

    None if nothing is drawn.
    """
    from PIL import Image  # loaded on use: only this mode needs it

    if (place := _around(ink)) is None:
        return None
    left, top, right, bottom = place
    own = ink[top:bottom, left:right].astype(np.float64)
    height, width = own.shape
    y, x = np.mgrid[:height, :width]
    middle_y, middle_x = ((own * axis).sum() / own.sum() for axis in (y, x))
    spread = (own * (y - middle_y) ** 2).sum()
    slant = (own * (y - middle_y) * (x - middle_x)).sum() / spread if spread else 0.0
    slant = float(np.clip(slant, -_MOST_SLANT, _MOST_SLANT))
    beside = int(np.ceil(abs(slant) * height)) + 1
    paper = Image.new("L", (width + 2 * beside, height))
    paper.paste(Image.fromarray(own.astype(np.uint8)), (beside, 0))
    way = (1, slant, -slant * middle_y, 0, 1, 0)
    paper = paper.transform(paper.size, Image.Transform.AFFINE, way, Image.Resampling.BILINEAR)
    if (place := _around(np.asarray(paper))) is None:
        return None
    paper = paper.crop(place)
    shape = paper.width / paper.height
    across, down = (max(round(_CELL * min(share * _WIDE, 1.0)), 1) for share in (shape, 1 / shape))
    paper = paper.resize((across, down), Image.Resampling.BOX)
    cell = np.zeros((_CELL, _CELL), np.float32)
    row, column = (_CELL - down) // 2, (_CELL - across) // 2
    cell[row : row + down, column : column + across] = np.asarray(paper) / 255
    return np.append(cell, np.array([np.clip(np.log(shape), -2, 2), slant], np.float32))


def _around(ink: NDArray[np.uint8]) -> tuple[int, int, int, int] | None:
    """Return the left, top, right and bottom of what is drawn, None for nothing."""
    rows, columns = (np.flatnonzero((ink > _LEAST_INK).any(axis=axis)) for axis in (1, 0))
    if not rows.size:
        return None
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


@cache
def _layers() -> list[tuple[F64, F64]]:
    """Return the weights and the bias of each layer of the network."""
    with np.load(_FILE, allow_pickle=False) as found:
        numbers = [found[name].astype(np.float64) for name in found.files]
    return [*zip(numbers[::2], numbers[1::2], strict=True)]
