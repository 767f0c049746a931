"""Train the network that tells letters of fonts apart: `python tools/train_glyphs.py FOLDER...`.

The folders hold fonts (``*.woff2``, ``*.ttf``, ``*.otf``), one folder below them for each family. A fifth of the
families is left out at first, to say how good the network is on fonts that it has not seen. What is written has seen
all. The shipped one was trained on the families in ``glyph_families.txt``, as the npm packages of Fontsource have
them: their Latin, extended Latin, Cyrillic and Greek files, weights 400, also italic, and 700.

A page could have a font whose letters are made to deceive the network. So it also learns letters with specks and
holes, and, of half of the drawings, the change that would deceive it most: Madry et al., "Towards Deep Learning
Models Resistant to Adversarial Attacks", ICLR 2018, equation 2.1, with changes of bounded power.
"""

import io
import itertools
import multiprocessing
import random
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from fontTools.ttLib import TTFont, TTLibError
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from sklearn.cluster import KMeans

from domsieve.renderer.page.pixels import _glyphs
from domsieve.renderer.page.pixels._glyphs import (
    NAMES,
    SIDE,
    distances,
    farther,
    features,
    forms,
    forms_of,
    named,
)

_ENDINGS = {".woff2", ".ttf", ".otf"}
# What is no letter: signs, letters of no alphabet here, and two letters beside each other.
_OTHERS = "!?&@#%*+=<>§¶$£€ßæþðµ∞√∂∆±÷×«»†‡©®¼½¾ÆŒœəɛɔŋжأבगก中"
_PAIRS, _SIZE_PX, _INK, _SIGNS = 12, 60, 30, "!?&@#%*+=<>§¶$£€«»†‡©®"
_LAST, _MOST_CHANGED = "\u1fff", 80
_HIDDEN, _ROUNDS, _BATCH, _RATE, _DECAY = 256, 24, 512, 1.5e-3, 1e-4
# The most that is changed of a drawing to deceive the network, as the root of the sum of squares of its pixels, and
# in so many steps.
_POWER, _STEPS = 1.5, 3
_HELD_OUT = 5
# So many forms of each letter are kept, to compare drawings with them.
_FORMS = 56
# Letters look alike if the network says one by so much of drawings of the other, or forms of it are as often nearest.
_ALIKE = 0.08

Drawings = NDArray[np.float32]
Row = tuple[str, int, bool, Drawings]
Network = list[Drawings]


def _drawn(own: Image.Image) -> Drawings | None:
    """Return what the network is told of a letter, in the size of the drawings of pages."""
    scale = _INK / max(own.size)
    own = own.resize([max(round(side * scale), 1) for side in own.size], Image.Resampling.BOX)
    paper = Image.new("L", (SIDE, SIDE))
    paper.paste(own, ((SIDE - own.width) // 2, (SIDE - own.height) // 2))
    return features(np.asarray(paper))


def _specked(own: Image.Image, chance: random.Random) -> Image.Image:
    """Return a letter with dots beside it, or specks and holes in it."""
    big = max(own.size)
    has_dots = chance.random() < 0.6
    for _ in range(chance.choice((1, 1, 2)) if has_dots else 0):
        size, gap = max(round(big * chance.uniform(0.05, 0.16)), 1), round(big * chance.uniform(0, 0.4))
        is_first, is_across = chance.random() < 0.5, chance.random() < 0.3
        turned = own.transpose(Image.Transpose.TRANSPOSE) if is_across else own
        wide, high = turned.size
        paper = Image.new("L", (wide, high + gap + size))
        paper.paste(turned, (0, gap + size if is_first else 0))
        x, y = chance.randrange(max(wide - size, 0) + 1), 0 if is_first else high + gap
        paper.paste(255, (x, y, x + size, y + size))
        own = paper.transpose(Image.Transpose.TRANSPOSE) if is_across else paper
    if not has_dots or chance.random() < 0.5:
        ink, unit, most_holes = np.array(own), big / 30, chance.random()
        for _ in range(chance.randrange(3, 50)):
            high, wide = (max(round(unit * chance.choice((1, 1, 2))), 1) for _ in range(2))
            y, x = (
                chance.randrange(max(all_ - one, 0) + 1)
                for all_, one in zip(ink.shape, (high, wide), strict=True)
            )
            part = ink[y : y + high, x : x + wide]
            part[:] = 0 if part.mean() > 127 or chance.random() < most_holes else 255
        own = Image.fromarray(ink) if ink.any() else own
    return own.crop(own.getbbox())


def _rows(job: tuple[str, Path]) -> list[Row]:
    """Return the letters of a font of a family, each with the number of its name, and whether it is changed."""
    family, path = job
    try:
        font = TTFont(path)
        font.flavor, known = None, font.getBestCmap()
        font.save(plain := io.BytesIO())
        drawing = ImageFont.truetype(io.BytesIO(plain.getvalue()), _SIZE_PX)
    except (TTLibError, OSError):
        return []
    chance = random.Random(zlib.crc32(path.name.encode()))
    letters = {one: name for number in known if (one := chr(number)) <= _LAST and (name := named(one))}
    own = [one for one in letters if one.lower() in NAMES]
    changed = sorted(letters.keys() - {*own})
    texts = [*own, *chance.sample(changed, min(len(changed), _MOST_CHANGED))]
    texts += [one for one in _OTHERS if ord(one) in known]
    if own:
        texts += ["".join(chance.choices(own, k=2)) for _ in range(_PAIRS)]
    found = []
    for text in texts:
        number = NAMES.index(letters[text]) if text in letters else len(NAMES)
        paper = Image.new("L", (4 * _SIZE_PX, 4 * _SIZE_PX))
        ImageDraw.Draw(paper).text((_SIZE_PX, _SIZE_PX), text, font=drawing, fill=255)
        if not (box := paper.getbbox()):
            continue
        plain_one = paper.crop(box)
        for picture, is_changed in ((plain_one, False), (_specked(plain_one, chance), True)):
            if (values := _drawn(picture)) is not None:
                found.append((family, number, is_changed, values))
    return found


def _fonts(folders: list[Path]) -> Iterator[tuple[str, Path]]:
    for family in sorted(itertools.chain.from_iterable(folder.iterdir() for folder in folders)):
        for path in sorted(family.rglob("*")):
            if path.suffix in _ENDINGS:
                yield family.name, path


def _shares(network: Network, values: Drawings) -> tuple[Drawings, Drawings]:
    """Return what the hidden layer says of some drawings (n, H), and how likely they show each name (n, K)."""
    first, first_bias, last, last_bias = network
    hidden = np.maximum(values @ first + first_bias, 0)
    scores = hidden @ last + last_bias
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return hidden, shares / shares.sum(axis=1, keepdims=True)


def _deceiving(network: Network, values: Drawings, numbers: NDArray[np.intp], power: float) -> Drawings:
    """Return drawings changed so that they deceive the network, by as much as they may be."""
    first, _, last, _ = network
    found, ways = values.copy(), np.arange(len(values))
    for _ in range(_STEPS):
        hidden, errors = _shares(network, found)
        errors[ways, numbers] -= 1
        slope = (((errors @ last.T) * (hidden > 0)) @ first.T)[:, :-2]
        slope /= np.sqrt((slope**2).sum(axis=1, keepdims=True)) + 1e-9
        way = found[:, :-2] - values[:, :-2] + 1.5 * power / _STEPS * slope
        way *= np.minimum(power / (np.sqrt((way**2).sum(axis=1, keepdims=True)) + 1e-9), 1)
        found[:, :-2] = np.clip(values[:, :-2] + way, 0, 1)
    return found


def _trained(values: Drawings, numbers: NDArray[np.intp]) -> Network:
    """Return a network of two layers, trained by Adam on drawings as they are and on ones that deceive it."""
    chance = np.random.default_rng(0)
    sizes = values.shape[1], _HIDDEN, len(NAMES) + 1
    network = []
    for wide, high in itertools.pairwise(sizes):
        network += [
            chance.normal(0, np.sqrt(2 / wide), (wide, high)).astype(np.float32),
            np.zeros(high, np.float32),
        ]
    means, powers = [np.zeros_like(one) for one in network], [np.zeros_like(one) for one in network]
    steps = _ROUNDS * (len(values) // _BATCH)
    step = 0
    for number in range(_ROUNDS):
        lost = 0.0
        for some in np.array_split(chance.permutation(len(values)), len(values) // _BATCH):
            step += 1
            own, names = values[some], numbers[some]
            half, power = len(own) // 2, _POWER * min(2 * step / steps, 1)
            own = np.concatenate([own[:half], _deceiving(network, own[half:], names[half:], power)])
            hidden, errors = _shares(network, own)
            lost -= float(np.log(errors[np.arange(len(own)), names] + 1e-9).mean())
            errors[np.arange(len(own)), names] -= 1
            errors /= len(own)
            back = (errors @ network[2].T) * (hidden > 0)
            slopes = [own.T @ back, back.sum(axis=0), hidden.T @ errors, errors.sum(axis=0)]
            rate = _RATE * (0.02 + 0.98 * (1 + np.cos(np.pi * step / steps)) / 2)
            for one, slope, mean, mean_power in zip(network, slopes, means, powers, strict=True):
                mean += 0.1 * (slope - mean)
                mean_power += 0.001 * (slope**2 - mean_power)
                way = mean / (1 - 0.9**step) / (np.sqrt(mean_power / (1 - 0.999**step)) + 1e-8)
                one -= rate * (way + _DECAY * one)
        print(f"round {number + 1}: {lost * _BATCH / len(values):.3f}", file=sys.stderr, flush=True)
    return network


def _alike(
    network: Network, known: Drawings, values: Drawings, numbers: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return which names look like each (K, K + 1): drawings of either are taken for the other."""
    count = len(NAMES)
    nearest = np.eye(count, count + 1)[distances(values, known).min(axis=2).argmin(axis=1)]
    found = np.zeros((count, count + 1), np.bool_)
    for said in (_shares(network, values)[1], nearest):
        found |= np.array([said[numbers == one].mean(axis=0) for one in range(count)]) >= _ALIKE
    found[:, :count] |= found[:, :count].T | np.eye(count, dtype=np.bool_)
    found[:, count] = False
    return found


def _known(values: Drawings, numbers: NDArray[np.intp]) -> Drawings:
    """Return forms of each name (K, M, F) near which those of all its drawings are."""
    found = []
    for number in range(len(NAMES)):
        own = forms(values[numbers == number])
        found.append(KMeans(_FORMS, n_init=1, max_iter=20, random_state=0).fit(own).cluster_centers_)
    return np.array(found, np.float32)


def main() -> None:
    """Train the network, print how good it is, and write it."""
    rows: list[Row] = []
    with multiprocessing.Pool() as pool:
        for some in pool.imap(_rows, _fonts([*map(Path, sys.argv[1:])]), 4):
            rows += some
    families, numbers = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    is_changed, values = np.array([row[2] for row in rows]), np.array([row[3] for row in rows])
    names = np.unique(families)
    held = np.isin(families, np.random.default_rng(1).permutation(names)[::_HELD_OUT])
    network = _trained(values[~held], numbers[~held])
    known = _known(values[~held & ~is_changed], numbers[~held & ~is_changed])
    plain = held & ~is_changed & (numbers < len(NAMES))
    alike = _alike(network, known, values[plain], numbers[plain])
    is_form = forms_of(alike, known)
    print(f"{names.size} families, {len(rows):,} drawings; letters of those left out:")
    for said, some in (("as they are", held & ~is_changed), ("with specks", held & is_changed)):
        own = np.flatnonzero(some & (numbers < len(NAMES)))
        as_others = (numbers[own] + np.random.default_rng(2).integers(1, len(NAMES), own.size)) % len(NAMES)
        is_other = ~alike[numbers[own], as_others]
        shares = _shares(network, values[own])[1]
        for asked, some_names, which in (
            ("themselves", numbers[own], np.ones_like(is_other)),
            ("others", as_others, is_other),
        ):
            is_own = alike[some_names]
            likely = (shares * is_own).sum(axis=1)[which]
            times = farther(values[own], some_names, known, is_form)[which]
            print(
                f"{said}, as {asked}:",
                *(f"{(likely < least).mean():.4f} below {least}," for least in (0.02, 0.1, 0.25, 0.5)),
                *(f"{(times > least).mean():.4f} farther by {least}," for least in (1, 1.1, 1.2, 1.3, 1.5)),
            )
    for name, others in zip(NAMES, alike, strict=True):
        print(
            name,
            *(other for other, is_like in zip(NAMES, others[:-1], strict=True) if is_like and other != name),
        )
    network, known = _trained(values, numbers), _known(values[~is_changed], numbers[~is_changed])
    np.savez_compressed(
        _glyphs._FILE,
        alike,
        np.round(known, 2).astype(np.float16),
        *(one.astype(np.float16) for one in network),
    )
    print(f"{_glyphs._FILE}: {_glyphs._FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
