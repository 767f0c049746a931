"""How likely a drawing shows a Latin, Cyrillic or Greek letter or a digit, as a small network says."""

import base64
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from string import ascii_lowercase, digits
from typing import Any
from unicodedata import combining, decomposition, name, normalize

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page.pixels._parts import F64, Bools

NAMES = ascii_lowercase + digits + "абвгдежзиклмнопрстуфхцчшщъыьэюяєіјѕґђћљњџ" + "αβγδεζηθικλμνξοπρςστυφχψω"
"""What a drawing may be, capitals as small letters; the network knows of one thing more, all other drawings."""
SIDE = 40
"""Drawings are so wide and so high, in pixels."""
# They are compared in this many rows and columns. What is wider or narrower than the second for its height, or the
# third, stays so. What is less than the last, of 255, is no ink; letters are set upright, but for this slant.
_CELL, _WIDE, _LEAST_INK, _MOST_SLANT = 16, 2.5, 40, 0.6
_FILE = Path(__file__).with_name("glyphs.npz")
# Letters with strokes and hooks have no decomposition in Unicode; nor have small capitals, which are Latin ones.
_CHANGED = re.compile(r"LATIN (?:(?:SMALL|CAPITAL) LETTER|LETTER SMALL CAPITAL) ([A-Z])(?: WITH [A-Z ]+)?")
_SAME = ("<font>", "<wide>", "<super>", "<sub>")
# A network can be deceived by specks that readers hardly see. So the forms of letters are compared, too, blurred and
# in half of the rows and columns: one that is farther from its own than from others, by the first number, is no more
# likely than the second, and by the third, not at all.
_BLUR, _FARTHER, _LIKELY, _FAR = 1.0, 1.2, 0.2, 1.3
# Half of how far letters are mostly from forms of theirs: how much farther those of bars are says little.
_NEAR = 0.5
# A form of one letter is one of another, too, if it looks like that letter and is no farther from a form of it: the
# Cyrillic т looks like m if it is italic, and not if it is a capital. Of all forms, 19 in 20 are nearer to the next.
_SAME_FORM = 1.3


def named(letter: str) -> str:
    """Return which of `NAMES` a letter is, without its accents, strokes and hooks; "" for another letter."""
    if decomposition(letter).startswith(_SAME):
        letter = normalize("NFKD", letter)
    plain, *accents = [*normalize("NFD", letter.lower())]
    if plain not in NAMES and (found := _CHANGED.fullmatch(name(plain, ""))):
        plain = found[1].lower()
    return plain if plain in NAMES and all(map(combining, accents)) else ""


def likelihoods(letters: str, encoded: Sequence[str]) -> F64:
    """Return how likely it is that each drawing of a letter shows it (n,), from 0 to 1; 0 if nothing is drawn.

    What looks alike, such as the Latin a and the Cyrillic one, counts as the same.

    Parameters
    ----------
    letters : the letters (n), of which each is in `NAMES`.
    encoded : the drawings, of `SIDE` rows of as many bytes each, in base64.
    """
    found = np.zeros(len(letters))
    inks = [np.frombuffer(base64.b64decode(one), np.uint8).reshape(SIDE, SIDE) for one in encoded]
    prepared = [features(one) for one in inks]
    drawn = [at for at, one in enumerate(prepared) if one is not None]
    if drawn:
        values = np.array([prepared[at] for at in drawn], np.float64)
        alike, known, is_form, first, first_bias, last, last_bias = _network()
        scores = np.maximum(values @ first + first_bias, 0) @ last + last_bias
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        names = np.array([NAMES.index(letters[at]) for at in drawn])
        likely = np.minimum((shares * alike[names]).sum(axis=1), 1)
        times = farther(values, names, known, is_form)
        likely[times > _FARTHER] = np.minimum(likely[times > _FARTHER], _LIKELY)
        found[drawn] = np.where(times > _FAR, 0, likely)
    return found


def forms(values: NDArray[Any]) -> F64:
    """Return the blurred forms of drawings (n, F), given by their `features`."""
    rows = np.arange(_CELL)
    weights = np.exp(-((rows[:, None] - rows) ** 2) / (2 * _BLUR**2))
    half = (weights / weights.sum(axis=1, keepdims=True)).reshape(-1, 2, _CELL).mean(axis=1)
    pixels = np.asarray(values[:, : _CELL**2], np.float64).reshape(-1, _CELL, _CELL)
    return np.asarray(half @ pixels @ half.T).reshape(len(values), -1)


def distances(values: NDArray[Any], known: NDArray[Any]) -> F64:
    """Return how far drawings, given by their `features`, are from the forms (K, M, F) of each name (n, K, M)."""
    own, all_ = forms(values), known.reshape(-1, known.shape[-1]).astype(np.float64)
    squares = (own**2).sum(axis=1)[:, None] + (all_**2).sum(axis=1) - 2 * own @ all_.T
    return np.asarray(np.sqrt(np.maximum(squares, 1e-9)).reshape(len(own), *known.shape[:2]))


def farther(values: NDArray[Any], names: NDArray[np.intp], known: NDArray[Any], is_form: Bools) -> F64:
    """Return how many times as far drawings are from forms of their own names as from all others (n,).

    Parameters
    ----------
    values, names : the `features` of the drawings, and the number of the name of each.
    known, is_form : the forms (K, M, F), and which of them show each name (K, K, M), see `forms_of`.
    """
    found = np.empty(len(values))
    for number in np.unique(names):
        is_own = names == number
        near = distances(values[is_own], known)
        own, others = (near[:, forms].min(axis=1) for forms in (is_form[number], ~is_form[number]))
        found[is_own] = (own + _NEAR) / (others + _NEAR)
    return found


def forms_of(alike: NDArray[Any], known: NDArray[Any]) -> Bools:
    """Return which forms (K, M, F) show each name (K, K, M).

    These are its own, and those like them of names that look like it (K, K + 1).
    """
    found = np.zeros((len(known), *known.shape[:2]), np.bool_)
    for own, other in np.argwhere(alike[:, : len(known)]):
        apart = np.linalg.norm(known[other][:, None] - known[own], axis=2)
        found[own, other] = apart.min(axis=1) <= _SAME_FORM
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
def _network() -> list[NDArray[Any]]:
    """Return which of `NAMES` look like each (K, K + 1), all forms, those of each, and the layers of the network."""
    with np.load(_FILE, allow_pickle=False) as found:
        alike, known, *layers = (found[name].astype(np.float64) for name in found.files)
    return [alike, known, forms_of(alike, known), *layers]
