"""Train the network that tells letters of fonts apart: `python tools/train_glyphs.py FOLDER...`.

The folders hold fonts with Latin letters (``*.woff2``, ``*.ttf``, ``*.otf``), one folder below them for each family.
A fifth of the families is left out at first, to say how good the network is on fonts that it has not seen. What is
written has seen all. The shipped one was trained on the Latin files of the families in ``glyph_families.txt``, as the
npm packages of Fontsource have them, weights 400 and 700.
"""

import io
import itertools
import multiprocessing
import random
import string
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from fontTools.ttLib import TTFont, TTLibError
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from sklearn.neural_network import MLPClassifier

from domsieve.renderer.page.pixels import _glyphs
from domsieve.renderer.page.pixels._glyphs import NAMES, SIDE, features

_ENDINGS = {".woff2", ".ttf", ".otf"}
# What is no letter: signs, letters of other alphabets, and two letters beside each other.
_OTHERS = "!?&@#%*+=<>§¶$£€ßæøþðµ∞√∂∆±÷×«»†‡©®¼½¾ÆØŒœŁł"
_PAIRS, _SIZE_PX, _INK = 12, 60, 30
# Two layers of so many.
_HIDDEN, _ROUNDS = (128,), 60
_HELD_OUT = 5

Row = tuple[str, int, NDArray[np.float32]]


def _drawn(font: ImageFont.FreeTypeFont, text: str) -> NDArray[np.float32] | None:
    """Return what the network is told of a text in a font, drawn in the size of the drawings of pages."""
    paper = Image.new("L", (4 * _SIZE_PX, 4 * _SIZE_PX))
    ImageDraw.Draw(paper).text((_SIZE_PX, _SIZE_PX), text, font=font, fill=255)
    if not (box := paper.getbbox()):
        return None
    own = paper.crop(box)
    scale = _INK / max(own.size)
    own = own.resize([max(round(side * scale), 1) for side in own.size], Image.Resampling.BOX)
    paper = Image.new("L", (SIDE, SIDE))
    paper.paste(own, ((SIDE - own.width) // 2, (SIDE - own.height) // 2))
    return features(np.asarray(paper))


def _rows(job: tuple[str, Path]) -> list[Row]:
    """Return the letters of a font of a family, each with the number of its name."""
    family, path = job
    try:
        font = TTFont(path)
        font.flavor, known = None, font.getBestCmap()
        font.save(plain := io.BytesIO())
        drawing = ImageFont.truetype(io.BytesIO(plain.getvalue()), _SIZE_PX)
    except (TTLibError, OSError):
        return []
    chance = random.Random(zlib.crc32(path.name.encode()))
    pairs = ["".join(chance.choices(string.ascii_letters, k=2)) for _ in range(_PAIRS)]
    texts = [one for one in string.ascii_letters + string.digits + _OTHERS if ord(one) in known] + pairs
    found = []
    for text in texts:
        name = text.lower()
        number = NAMES.index(name) if len(name) == 1 and name in NAMES else len(NAMES)
        if (values := _drawn(drawing, text)) is not None:
            found.append((family, number, values))
    return found


def _fonts(folders: list[Path]) -> Iterator[tuple[str, Path]]:
    for family in sorted(itertools.chain.from_iterable(folder.iterdir() for folder in folders)):
        for path in sorted(family.rglob("*")):
            if path.suffix in _ENDINGS:
                yield family.name, path


def _trained(values: NDArray[np.float32], numbers: NDArray[np.intp]) -> MLPClassifier:
    network = MLPClassifier(
        _HIDDEN, max_iter=_ROUNDS, early_stopping=True, random_state=0, alpha=3e-3, batch_size=256
    )
    return network.fit(values, numbers)


def main() -> None:
    """Train the network, print how good it is, and write it."""
    rows: list[Row] = []
    with multiprocessing.Pool() as pool:
        for some in pool.imap(_rows, _fonts([*map(Path, sys.argv[1:])]), 4):
            rows += some
    families, numbers = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    values = np.array([row[2] for row in rows])
    names = np.unique(families)
    held = np.isin(families, np.random.default_rng(1).permutation(names)[::_HELD_OUT])
    shares = _trained(values[~held], numbers[~held]).predict_proba(values[held])
    own, letters = shares[np.arange(len(shares)), numbers[held]], numbers[held] < len(NAMES)
    print(f"{names.size} families, {len(rows):,} drawings; letters of those left out:")
    print(f"recognized: {(shares.argmax(axis=1) == numbers[held])[letters].mean():.4f}")
    for least in (0.01, 0.02, 0.05, 0.2):
        print(f"below {least}: {(own[letters] < least).mean():.4f}")
    network = _trained(values, numbers)
    layers = itertools.chain.from_iterable(zip(network.coefs_, network.intercepts_, strict=True))
    np.savez_compressed(_glyphs._FILE, *(one.astype(np.float16) for one in layers))
    print(f"{_glyphs._FILE}: {_glyphs._FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
