"""The network that tells which letter a drawing shows."""

import base64
import string
from pathlib import Path

import numpy as np
import pytest

from domsieve.renderer.page.pixels._glyphs import NAMES, SIDE, likelihoods, named

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("PIL")
_FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"


def _drawings(file: str, letters: str, slant: float = 0.0) -> list[str]:
    """Return a drawing of each letter in a font, set aslant."""
    from PIL import Image, ImageDraw, ImageFont

    font, found = ImageFont.truetype(_FONTS / file, 26), []
    for letter in letters:
        paper = Image.new("L", (SIDE, SIDE))
        ImageDraw.Draw(paper).text((SIDE / 2, SIDE / 2), letter, font=font, fill=255, anchor="mm")
        way = (1, slant, -slant * SIDE / 2, 0, 1, 0)
        paper = paper.transform(paper.size, Image.Transform.AFFINE, way, Image.Resampling.BILINEAR)
        found.append(base64.b64encode(paper.tobytes()).decode())
    return found


@pytest.mark.parametrize("slant", [0.0, 0.2])
@pytest.mark.parametrize("file", ["DejaVuSans.ttf", "DejaVuSerif-Bold.ttf", "STIXGeneral.ttf", "cmss10.ttf"])
def test_letters_show_themselves_and_no_others(file: str, slant: float) -> None:
    letters = string.ascii_letters + string.digits
    drawn = _drawings(file, letters, slant)
    assert np.count_nonzero(likelihoods(letters.lower(), drawn) < 0.02) <= 1
    others = string.ascii_lowercase[7:] + string.ascii_lowercase[:7]
    found = likelihoods(others, drawn[:26])
    assert np.count_nonzero(found < 0.02) >= 23


@pytest.mark.parametrize("alphabet", ["аждилтщыя", "αβδθλπσφψ"])
def test_letters_of_other_alphabets_show_themselves_too(alphabet: str) -> None:
    drawn = _drawings("DejaVuSans.ttf", alphabet)
    assert likelihoods(alphabet, drawn).min() > 0.1
    assert np.count_nonzero(likelihoods(alphabet[3:] + alphabet[:3], drawn) < 0.02) == len(alphabet)
    assert likelihoods("ao", _drawings("DejaVuSans.ttf", "аο")).min() > 0.5  # which look like these


def test_letters_that_look_alike_in_one_form_do_not_in_all() -> None:
    # An italic т is an m, a small γ nearly a y; their capitals are not.
    assert likelihoods("youm", _drawings("DejaVuSans.ttf", "ΓΔИТ")).max() < 0.02
    assert likelihoods("рmкч", _drawings("DejaVuSans.ttf", "pмkЧ")).min() > 0.2


def test_specks_make_no_other_letters() -> None:
    chance = np.random.default_rng(4)
    letters = "uantkseo"
    specked = []
    for one in _drawings("DejaVuSans-Bold.ttf", letters):
        ink = np.frombuffer(base64.b64decode(one), np.uint8).reshape(SIDE, SIDE).copy()
        rows, columns = np.nonzero(ink)
        ink[rows.min() - 4 : rows.min() - 2, columns.min() : columns.min() + 2] = 255
        some = chance.choice(rows.size, 30, replace=False)
        ink[rows[some], columns[some]] = 255 - ink[rows[some], columns[some]]
        specked.append(base64.b64encode(ink.tobytes()).decode())
    others = np.array([likelihoods(name * len(letters), specked) for name in NAMES[:26]])
    is_own = np.array([[name == letter for letter in letters] for name in NAMES[:26]])
    # An n is an h without its stem, a t is nearly an i.
    assert np.count_nonzero(others[~is_own] >= 0.25) <= 2


@pytest.mark.parametrize(
    ("letter", "name"),
    [
        *(("A", "a"), ("é", "e"), ("ą", "a"), ("ł", "l"), ("ɍ", "r"), ("ᴅ", "d")),
        *(("Ａ", "a"), ("①", ""), ("½", ""), ("Ж", "ж"), ("й", "и"), ("ə", "")),
        *(("ά", "α"), ("中", ""), ("ﬁ", ""), ("İ", "i")),
    ],
)
def test_letters_are_named_without_what_stands_on_them(letter: str, name: str) -> None:
    assert named(letter) == name


def test_other_drawings_show_no_letter() -> None:
    assert likelihoods("", []).size == 0
    nothing, full = (base64.b64encode(bytes([level]) * SIDE * SIDE).decode() for level in (0, 255))
    assert likelihoods("ax", [nothing, full]).tolist() == [0.0, pytest.approx(0.0, abs=0.02)]
