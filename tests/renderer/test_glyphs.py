"""The network that tells which letter a drawing shows."""

import base64
import string
from pathlib import Path

import numpy as np
import pytest

from domsieve.renderer.page.pixels._glyphs import SIDE, likelihoods

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
    assert np.count_nonzero(likelihoods(letters, drawn) < 0.02) <= 1
    others = string.ascii_lowercase[7:] + string.ascii_lowercase[:7]
    found = likelihoods(others, drawn[:26])
    assert np.count_nonzero(found < 0.02) >= 23


def test_other_drawings_show_no_letter() -> None:
    assert likelihoods("", []).size == 0
    nothing, full = (base64.b64encode(bytes([level]) * SIDE * SIDE).decode() for level in (0, 255))
    assert likelihoods("aX", [nothing, full]).tolist() == [0.0, pytest.approx(0.0, abs=0.02)]
