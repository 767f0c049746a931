"""Letters of a page that look more like others of their font than like themselves."""

from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

import domsieve
from domsieve.renderer.page.pixels._apart import likenesses_apart, parts_of_others
from domsieve.snapshot.page import Snapshot
from tests.renderer.bad_server import send
from tests.renderer.conftest import Studio
from tests.renderer.test_pixels import show
from tests.renderer.test_pixels_fonts import _FONTS, _with_others_beside

_WORDS = "the people do not need help you only need to obey the good people"
_LETTERS, _OTHERS = "thepoldnyubvgq", "lbobdtqhvnpygq"


def _page(studio: Studio, html: str, *, odd: bool) -> Snapshot:
    """Return a page with pictures in a font that draws some letters as others beside any, or in an ordinary one."""
    font = (
        _with_others_beside("DejaVuSansMono.ttf", _LETTERS, _OTHERS)
        if odd
        else (_FONTS / "DejaVuSansMono.ttf").read_bytes()
    )
    studio.server.pages["/apart.ttf"] = partial(send, body=font, headers={"Content-Type": "font/ttf"})
    face = "@font-face { font-family: apart; src: url(/apart.ttf) }"
    return show(studio, f"<style>{face} .odd {{ font: 20px apart }}</style><p>before</p>{html}")


# Where the browser joins letters of several elements, or along a path, and a canvas does not.
_PIECES = "".join(f"<b style='font-weight: 400'>{one}</b>" for one in _WORDS)
WAYS = {
    "in elements": f"<p class=odd>{_PIECES}</p>",
    "with lines": f"<p class=odd style='text-decoration: underline'>{_PIECES}</p>",
    "along a path": "<svg width=1200 height=60><path id=p d='M0 40h1200' fill=none></path><text class=odd>"
    f"<textPath href='#p'>{_WORDS}</textPath></text></svg>",
}


@pytest.mark.browser
@pytest.mark.parametrize("way", WAYS)
def test_other_letters_of_a_font_leave_doubt(studio: Studio, way: str) -> None:
    page = _page(studio, WAYS[way], odd=True)
    is_kept = _WORDS.replace(" ", "") in domsieve.clean(page, method="none", hidden="pixels").text.replace(
        " ", ""
    )
    assert not is_kept or "capture: pixels: unsure, fonts draw" in str([*map(str, page.provenance.reasons)])


@pytest.mark.browser
@pytest.mark.parametrize("way", [one for one in WAYS if "path" not in one])
def test_its_own_letters_leave_none(studio: Studio, way: str) -> None:
    page = _page(studio, WAYS[way], odd=False)
    assert not page.provenance.reasons
    text = domsieve.clean(page, method="none", hidden="pixels").text
    assert _WORDS.replace(" ", "") in text.replace(" ", "")


def _drawn(letters: str, size_px: int = 16) -> NDArray[np.uint8]:
    """Return each of some letters in a picture (32, 32 n)."""
    font = ImageFont.truetype(str(_FONTS / "DejaVuSans.ttf"), size_px)
    paper = Image.new("L", (32 * len(letters), 32))
    for at, letter in enumerate(letters):
        ImageDraw.Draw(paper).text((32 * at + 10, 6), letter, font=font, fill=255)
    return np.asarray(paper)


def _compared(
    shown: str, said: str, others: str, change: NDArray[np.uint8] | int = 0
) -> tuple[list[float], list[float]]:
    levels = np.maximum(_drawn(shown), change).astype(np.uint8)
    drawn = np.stack([_drawn(said), _drawn(others)], axis=2)
    edges = np.array([[32 * at + 8, 4, 32 * at + 24, 28] for at in range(len(said))])
    own, other = likenesses_apart(levels, drawn, edges, np.ones(len(said), np.intp))
    return own.round(3).tolist(), other.round(3).tolist()


def test_a_letter_looks_most_like_itself() -> None:
    own, other = _compared("hneo", "hneo", "nhce")
    assert own == [1, 1, 1, 1]
    assert max(other) < 0.95
    own, other = _compared("nhce", "hneo", "nhce")
    assert other == [1, 1, 1, 1]
    assert max(own) < 0.95


def test_lines_under_and_through_letters_say_nothing() -> None:
    line = np.zeros((32, 64), np.uint8)
    line[[15, 23]] = 255
    own, other = _compared("hn", "hn", "nh", line)
    assert min(own) > 0.95
    assert max(other) < 0.95
    assert _compared("hn", "hn", "nh", np.full((32, 64), 255, np.uint8))[0] == [0, 0]


def test_letters_that_are_the_same_are_no_others() -> None:
    assert _compared("l", "l", "l") == ([1.0], [-1.0])


def test_what_is_beyond_the_picture_is_not_compared() -> None:
    levels, edges = np.zeros((9, 9), np.uint8), np.array([[-9, 0, -4, 4], [2, 9, 6, 14]])
    found = likenesses_apart(levels, np.zeros((9, 9, 2), np.uint8), edges, np.ones(2, np.intp))
    assert [one.tolist() for one in found] == [[-1, -1], [-1, -1]]


def test_a_part_shows_others_if_a_fifth_of_its_letters_do_or_are_none() -> None:
    letters = [
        *(
            (0, 0.99, 0.9),
            (0, 0.99, 0.9),
            (0, 0.99, 0.9),
            (0, 0.9, 0.99),
        ),  # one of four looks more like another one
        *((1, 0.95, 0.9), (1, 0.99, 0.99)),
        *((2, 0.4, 0.1), (2, 1, 0.9)),  # one is none
        *((3, 0.8, 0.95), (3, 1, 0.9)),  # single ones are changed by ligatures
        *((4, 0.8, 0.95), (4, 0.7, 0.85)),
        *((5, 0.99, 0.995), *[(5, 1, 0.9)] * 5),  # less than a fifth
        (6, -1, -1),
    ]
    part, own, other = np.array(letters).T
    found = parts_of_others(own, other, part.astype(np.intp), 8)
    assert np.flatnonzero(found).tolist() == [0, 2, 4]
