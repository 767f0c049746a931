"""Letters of a page that look more like others of their font than like themselves."""

from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter, ImageFont

import domsieve
from domsieve.renderer.page.pixels._apart import are_others, likenesses_apart, touching
from domsieve.renderer.page.pixels._boxes import words_of
from domsieve.renderer.page.pixels._strokes import Words
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
_SANS = "<p style='font: 24px DejaVu Sans'>"


def _styled(said: str, letter: str, style: str) -> str:
    """Return a text of which a letter has a style of its own."""
    return _SANS + said.replace(letter, f"<span style='{style}'>{letter}</span>") + "</p>"


_NINE = "then nine vets seen worn in an inn"
_LOAN = "call our loan line now or lose all coins"
_BARS = "".join("-" if one in "cl" else " " for one in _LOAN)
_GENERATED = "{ content: '|'; position: absolute; font: bold .76em/1 DejaVu Sans; right: -.2em; top: .2em }"
_ROOM = "letter-spacing: -.09em; margin-right: .1em; position: relative"
_LOW = (
    "@font-face { font-family: low; src: local('DejaVu Sans'); ascent-override: 57%; descent-override: 0% }"
)
_UPRIGHT = "linear-gradient(#000, #000) .08em {}/.09em {} no-repeat"


def _in_colours(said: str) -> str:
    """Return words of which the first letters are white, and each n has a black stroke above it, on grey."""
    words = [f"<b style='font-weight: 400; color: #fff'>{one[0]}</b>{one[1:]}" for one in said.split()]
    stroke = _UPRIGHT.format(".25em", ".35em")
    return f"<div style='background: #666'>{_styled(' '.join(words), 'n', f'background: {stroke}')}</div>"


STROKES = {
    "signs": _styled("no lions on lone lanes in an inn", "n", "position: relative").replace(
        "n</span>",
        "n<i style='position: absolute; left: 2px; top: 4px; font: 20px/1 DejaVu Sans; transform: "
        "scale(.15, .6); transform-origin: 0 0'>█</i></span>",
    ),
    "shadows": _styled(_NINE, "n", "text-shadow: .367em 0 0; margin-right: .367em"),
    "filters": _styled(_NINE, "n", "filter: drop-shadow(.367em 0 0 #000); margin-right: .367em"),
    "lines": _styled(
        "lies lie low lest cars lap",
        "l",
        "text-decoration: underline; text-decoration-skip-ink: none; text-underline-offset: -.55em",
    ),
    "signs of another text": f"<div style='position: relative; font: 20px/70px DejaVu Sans Mono; white-space: pre'>"
    f"{_LOAN}<pre style='position: absolute; left: 0; top: -.22em; margin: 0; font: inherit'>{_BARS}\n Roses"
    "</pre></div>",
    "generated signs": f"<style>span::after {_GENERATED}</style>"
    + _styled("some clocks close soon on a cold moon", "o", _ROOM),
    "pale generated signs": f"<style>span::after {_GENERATED} span::after {{ color: #444 }}</style>"
    + _styled("some clocks close soon on a cold moon", "o", _ROOM),
    "strokes of letters": "<div style='-webkit-text-stroke: .8px #000'>"
    + _styled("clean clowns close clocks", "c", "letter-spacing: -.115em").replace("24px", "32px")
    + "</div>",
    "large letters": _styled(
        "clean clowns close clocks", "c", "letter-spacing: -.158em; position: relative; top: 5px"
    ).replace("24px", "80px")
    + f"<p style='font-size: 10px'>{'many small letters below them ' * 20}</p>",
    "fonts with low boxes": f"<style>{_LOW}</style>"
    + _styled(_NINE, "n", f"padding: .4em 0; background: {_UPRIGHT.format('.15em', '.3em')}").replace(
        "DejaVu Sans", "low"
    ),
    "borders, in fonts with low boxes": f"<style>{_LOW}</style>"
    + _styled(
        "some clocks close soon on a cold moon",
        "o",
        "letter-spacing: -.09em; border-right: .08em solid; padding-right: .035em; margin-right: .04em",
    ).replace("DejaVu Sans", "low"),
    "letters in several colours": _in_colours(_NINE),
    "bold letters": _styled(_NINE, "n", f"background: {_UPRIGHT.format('.05em', '.35em')}")
    .replace("24px", "bold 10px")
    .replace(".09em", "2px"),
    "parts of letters of another text": f"<div style='position: relative; font: 20px/70px DejaVu Sans Mono'>{_LOAN}"
    + "".join(
        f"<b style='position: absolute; left: {0.602 * at + 0.42:.3f}em; top: -.41em; font: bold 9px/70px DejaVu "
        "Sans'>l</b>"
        for at, one in enumerate(_LOAN)
        if one in "noc"
    )
    + "</div>",
    "pieces that are a little lower": _styled(
        "close your clinic and clear your clients now", "l", "position: relative; top: 2px"
    ).replace("c<", "<span style='letter-spacing: -.17em'>c</span><"),
    "words that show by their shadow only": "<style>i { position: relative; left: -2000px } "
    "u { text-decoration: none; text-shadow: 2000px 0 0 #000 }</style>"
    + _SANS.replace("font", "word-spacing: 2em; font")
    + "We <i><u>never hope that you</u></i> pay <i><u>good</u></i> all <i><u>birds in</u></i> our <i><u>trees they "
    "bring you</u></i> money</p>",
    "a mirror": f"<div style='transform: scaleY(-1)'>{_SANS}pull down bob cold pool clown pound cod</p></div>",
    "letters beside": _styled("clean clowns close clocks", "c", "letter-spacing: -.17em"),
    "letters beside, in a turned line": f"<div style='transform: rotate(.02deg)'>"
    f"{_styled('clean clowns close clocks', 'c', 'letter-spacing: -.17em')}</div>",
}


@pytest.mark.browser
@pytest.mark.parametrize("way", WAYS)
def test_other_letters_of_a_font_leave_doubt(studio: Studio, way: str) -> None:
    page = _page(studio, WAYS[way], odd=True)
    is_kept = _WORDS.replace(" ", "") in domsieve.clean(page, method="none", hidden="pixels").text.replace(
        " ", ""
    )
    assert not is_kept or "capture: pixels: unsure, letters look like others" in str(
        [*map(str, page.provenance.reasons)]
    )


@pytest.mark.browser
@pytest.mark.parametrize("way", STROKES)
def test_strokes_that_make_other_letters_leave_doubt(studio: Studio, way: str) -> None:
    page = show(studio, f"<p>before</p>{STROKES[way]}<p>after</p>")
    assert "capture: pixels: unsure, letters" in str([*map(str, page.provenance.reasons)])


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


def _compared(shown: str, said: str, others: str, away: int = 0) -> tuple[list[float], list[float]]:
    """Return how much letters look like what is said, and like others, so many pixels beside their places."""
    levels = np.roll(_drawn(shown), away, axis=1)
    drawn = np.stack([_drawn(said), _drawn(others)], axis=2)
    edges = np.array([[32 * at + 8, 4, 32 * at + 24, 28] for at in range(len(said))])
    counts, part = np.ones(len(said), np.intp), np.zeros(len(said), np.intp)
    own, other, _ = likenesses_apart(levels, drawn, edges, counts, part)
    return own.round(3).tolist(), other.round(3).tolist()


def test_a_letter_looks_most_like_itself() -> None:
    own, other = _compared("hneo", "hneo", "nhce")
    assert own == [1, 1, 1, 1]
    assert max(other) < 0.95
    own, other = _compared("nhce", "hneo", "nhce")
    assert other == [1, 1, 1, 1]
    assert max(own) < 0.95


def test_words_may_be_beside_their_place_as_a_whole() -> None:
    assert _compared("hneo", "hneo", "nhce", away=5)[0] == [1, 1, 1, 1]
    # No letter is looked for where the next one is.
    assert max(_compared("hn", "nh", "hn", away=5)[0]) < 0.93


def test_strokes_in_the_ground_make_other_letters() -> None:
    levels = _drawn("n").copy()
    levels[7:19, 11:13] = 0  # black with and without letters: an h
    found = likenesses_apart(
        levels,
        _drawn("n")[..., None],
        np.array([[8, 4, 24, 28]]),
        np.zeros(1, np.intp),
        np.zeros(1, np.intp),
    )
    assert found[0][0] < 0.9


def test_pieces_of_a_word_may_be_lower_than_others() -> None:
    boxes = np.array([[0, 0, 10, 20], [10, 3, 20, 23], [20, 1, 30, 21], [36, 0, 46, 20], [46, 15, 56, 35]])
    words = words_of(boxes.astype(np.float64), np.full(5, 16.0), ["c", "l", "ose", "now", "x"], np.arange(5))
    assert len({*words[:3].tolist()}) == 1
    assert len({*words.tolist()}) == 3


def test_ink_of_no_text_is_counted_but_for_lines_and_shadows() -> None:
    levels = np.zeros((60, 200), np.uint8)
    levels[20:30, 40:60] = 200  # letters
    levels[34:38, 32:68] = 200  # a line below them
    levels[20:30, 100:120] = 200  # what nobody knows
    levels[40:43, 100:120] = 200  # too low for letters
    known = np.zeros_like(levels, dtype=np.bool_)
    known[18:32, 38:62] = True
    words = Words(
        np.ones(1, np.bool_),
        np.zeros(1, np.intp),
        np.array([[40, 16, 60, 34]]),
        lambda parts: np.full(parts.size, 16.0),
    )
    none, nothing = np.zeros(1, np.bool_), np.full((1, 4), np.nan)
    assert words.count_other_ink(levels, known, ~none, nothing) == 200
    assert words.count_other_ink(levels, known, none, np.full((1, 4), 0.2)) == 232
    assert words.count_other_ink(levels, known, none, nothing) == 344


def test_letters_touch_that_their_font_keeps_apart() -> None:
    boxes = np.array([[0, 0, 10, 20], [10, 0, 14, 20], [40, 0, 50, 20], [49, 0, 54, 20], [60, 0, 70, 20]])
    inks = np.array(
        [[1, 9, 2, 2.0, 9], [8.5, 12, 2, 2, 9], [41, 49, 2, 2, 9], [49.5, 53, 2, 2, 9], [61, 69, 2, 2, 9]]
    )
    assert sorted(touching(boxes.astype(np.float64), inks)) == [0, 1]
    inks[:2, 2:4] = 0  # it does not
    assert not touching(boxes.astype(np.float64), inks).size


def test_letters_that_are_the_same_are_no_others() -> None:
    assert _compared("l", "l", "l") == ([1.0], [-1.0])


def test_what_is_beyond_the_picture_is_not_compared() -> None:
    levels, edges = np.zeros((9, 9), np.uint8), np.array([[-9, 0, -4, 4], [2, 9, 6, 14]])
    counts, part = np.ones(2, np.intp), np.zeros(2, np.intp)
    found = likenesses_apart(levels, np.zeros((9, 9, 2), np.uint8), edges, counts, part)
    assert [one.tolist() for one in found[:2]] == [[-1, -1], [-1, -1]]


def test_letters_are_others_or_none_by_what_they_look_like() -> None:
    own, other = np.array([[0.95, 0.99], [1, 0.9], [0.95, 0.9], [0.99, 0.99], [0.9, 0.1], [-1, -1]]).T
    assert are_others(own, other).tolist() == [True, False, False, False, True, False]


def _among(ground: NDArray[np.uint8]) -> bool:
    """Return whether a ground (32, 96) has strokes beside the letters "non", of two elements."""
    whole = np.minimum(ground, 255 - _drawn("non"))
    edges, both, word = (
        np.array([[8, 4, 60, 28], [60, 4, 92, 28]]),
        np.ones(2, np.bool_),
        np.zeros(2, np.intp),
    )
    pictures = (np.repeat(one[..., None], 3, axis=2) for one in (ground, whole))
    found = Words(both, word, edges, lambda parts: np.full(parts.size, 16.0)).among_strokes(*pictures)
    assert found[0] == found[1]
    return bool(found[0])


def test_ink_that_no_letter_has_may_make_other_letters() -> None:
    letters = _drawn("non")
    stroke, line = letters.copy(), letters.copy()
    stroke[8:13, 75:77] = 255
    line[26:28] = 255  # below all of the word
    known = np.array(Image.fromarray(letters).filter(ImageFilter.MaxFilter(5))) > 0
    words = Words(
        np.ones(1, np.bool_),
        np.zeros(1, np.intp),
        np.array([[8, 4, 92, 30]]),
        lambda parts: np.full(parts.size, 16.0),
    )
    for lined in (False, True):
        has_lines = np.array([lined])
        assert words.among_other_ink(stroke, known, has_lines)[0]
        assert not any(words.among_other_ink(one, known, has_lines)[0] for one in (letters, line))


@pytest.mark.browser
def test_what_rules_drop_and_pictures_show_takes_what_is_beside_it(studio: Studio) -> None:
    style = "backdrop-filter: invert(1); color: #eee"  # rules take the ground for white
    page = show(
        studio,
        f"<p>before</p><p style='margin: 250px 0; {style}'>We shall <b style='color: #fff'>never let them</b> "
        "pay all our money</p><p>after</p>",
    )
    text = domsieve.clean(page, method="none", hidden="pixels").text
    assert "before" in text
    assert "after" in text
    assert "pay all our money" not in text


@pytest.mark.browser
def test_letters_may_be_read_in_several_pictures(studio: Studio) -> None:
    text = "noteverywordofalongline" * 20
    page = show(studio, f"<p>before</p><p style='font: 20px DejaVu Sans'>{text}</p>")
    assert not page.provenance.reasons
    assert text in domsieve.clean(page, method="none", hidden="pixels").text


def test_strokes_of_the_ground_may_make_other_letters() -> None:
    white = np.full((32, 96), 255, np.uint8)
    ascender, line, box, shade = (white.copy() for _ in range(4))
    ascender[8:13, 75:77] = 0  # of the second n
    line[24:26] = 0  # below all of the word
    box[:, :40] = 100
    shade[:] = np.linspace(255, 100, 96).astype(np.uint8)
    assert _among(ascender)
    assert not any(map(_among, (white, line, box, shade)))
