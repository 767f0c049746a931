"""Texts in fonts of the page that draw other letters than these have."""

import io
import itertools
import random
import string
import struct
from collections.abc import Callable, Mapping
from functools import partial
from itertools import accumulate
from pathlib import Path

import matplotlib as mpl
import pytest
from fontTools.colorLib.builder import buildCOLR, buildCPAL
from fontTools.feaLib.builder import addOpenTypeFeaturesFromString
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont, newTable
from fontTools.ttLib.tables._f_v_a_r import Axis
from fontTools.ttLib.tables.DefaultTable import DefaultTable
from fontTools.varLib.featureVars import addFeatureVariations
from PIL import Image, ImageDraw, ImageFont

from domsieve.analysis.columns.hiding import Hiding
from tests.renderer.bad_server import send
from tests.renderer.conftest import Studio
from tests.renderer.test_hidden_text import judged
from tests.renderer.test_pixels import show

pytestmark = pytest.mark.browser

_WORDS = "Zebra quick harbour lanterns whisper beyond seven frozen rivers"
_FONTS = Path(mpl.get_data_path(), "fonts", "ttf")


def _saved(font: TTFont) -> bytes:
    file = io.BytesIO()
    font.save(file)
    return file.getvalue()


def _swapped(name: str, drawn_as: Mapping[str, str]) -> bytes:
    """Return a font in which some letters are drawn as others."""
    font = TTFont(_FONTS / name)
    for table in font["cmap"].tables:
        forms = dict(table.cmap)
        table.cmap.update(
            {ord(one): forms[ord(other)] for one, other in drawn_as.items() if ord(other) in forms}
        )
    return _saved(font)


def _shifted(letters: str) -> dict[str, str]:
    """Return each of some letters with the one that is seven places later."""
    return dict(zip(letters, letters[7:] + letters[:7], strict=True))


def _judged(studio: Studio, fonts: Mapping[str, bytes], html: str) -> Mapping[str, Hiding]:
    """Return how each text of a page is judged that loads some fonts; each is for the class of its name."""
    for name, font in fonts.items():
        studio.server.pages[f"/{name}.ttf"] = partial(send, body=font, headers={"Content-Type": "font/ttf"})
    faces = "".join(
        f"@font-face {{ font-family: {name}; src: url(/{name}.ttf) }} .{name} {{ font-family: {name} }}"
        for name in fonts
    )
    return judged(show(studio, f"<style>{faces}</style>{html}"))


@pytest.mark.parametrize("name", ["STIXGeneral.ttf", "DejaVuSans.ttf", "cmss10.ttf"])
def test_text_in_a_font_that_draws_other_letters_is_not_seen(studio: Studio, name: str) -> None:
    swapped = _shifted(string.ascii_lowercase) | _shifted(string.ascii_uppercase)
    fonts = {"plain": _swapped(name, {}), "swapped": _swapped(name, swapped)}
    html = f"<p class=plain>plain {_WORDS}</p><p class=swapped>{_WORDS}</p>"
    html += f"<p class=swapped style='text-transform:uppercase'>capital {_WORDS}</p>"
    assert _judged(studio, fonts, html) == {
        f"plain {_WORDS}": Hiding.NONE,
        _WORDS: Hiding.UNSEEN,
        f"capital {_WORDS}": Hiding.UNSEEN,
    }


@pytest.mark.parametrize("sign", ["|", "\u16a0"])
def test_letters_under_noise_that_a_later_one_paints_are_not_read(studio: Studio, sign: str) -> None:
    font, pen, chance = TTFont(_FONTS / "DejaVuSans.ttf"), TTGlyphPen(None), random.Random(5)
    name, step = font.getGlyphOrder()[50], 300
    for column, row in itertools.product(range(-90, 0), range(7)):
        if chance.random() < 0.5:
            x, y = column * step, (row - 2) * step
            pen.moveTo((x, y))
            for corner in ((x, y + step), (x + step, y + step), (x + step, y)):
                pen.lineTo(corner)
            pen.closePath()
    font["glyf"][name], font["hmtx"][name] = pen.glyph(), (0, -90 * step)
    for table in font["cmap"].tables:
        if table.isUnicode():
            table.cmap[ord(sign)] = name
    words = "Zebra quick harbour"
    html = f"<p class=noisy style='margin-left:300px'>{words}{sign}</p><p class=noisy>{words}</p>"
    said = _judged(studio, {"noisy": _saved(font)}, html)
    assert said == {f"{words}{sign}": Hiding.UNSEEN, words: Hiding.NONE}


_TINY = (
    "<style>@font-face { font-family: tiny; src: local('DejaVu Sans'); unicode-range: U+61-7A, U+2070-20CF; "
    "size-adjust: 1% }</style><p style='font-family:tiny,\"DejaVu Sans\"'>"
)


@pytest.mark.parametrize(
    "words", ["ROMEwipe OSLOthe BERNmail", "1984.ship 1990.her", "10.sell 20.each", "SENDⁿⁿⁿⁿ MOREⁿⁿⁿⁿ"]
)
def test_no_letters_vouch_for_those_that_a_font_draws_tiny(studio: Studio, words: str) -> None:
    said = _judged(studio, {}, f"{_TINY}{words}</p><p>ROME OSLO</p>")
    assert said == {words: Hiding.UNSEEN, "ROME OSLO": Hiding.NONE}


def test_other_letters_in_a_font_for_each_are_not_seen(studio: Studio) -> None:
    swapped = _shifted(string.ascii_lowercase)
    fonts = {f"of-{one}": _swapped("STIXGeneral.ttf", {one: other}) for one, other in swapped.items()}
    letters = "".join(f"<span class=of-{one}>{one}</span>" for one in "quicklanternswhisperbeyondseven")
    said = _judged(studio, fonts, f"<p>{_WORDS}</p><p>{letters}</p>")
    assert said[_WORDS] == Hiding.NONE
    hidden = [said[one] == Hiding.UNSEEN for one in swapped if one in said]
    assert sum(hidden) > 0.6 * len(hidden)


def test_letters_of_other_alphabets_that_are_drawn_as_latin_ones_are_not_seen(studio: Studio) -> None:
    words = "зебра быстро шепчет за семью замерзшими реками"
    latin = dict(zip("абвгдежзийклмнопрстуфхцчшщъыьэюя", string.ascii_lowercase + "bdfhkm", strict=True))
    fonts = {"plain": _swapped("DejaVuSerif.ttf", {}), "drawn": _swapped("DejaVuSerif.ttf", latin)}
    said = _judged(studio, fonts, f"<p class=plain>вот {words}</p><p class=drawn>{words}</p>")
    assert said == {f"вот {words}": Hiding.NONE, words: Hiding.UNSEEN}


def test_letters_that_become_others_beside_each_other_are_not_seen(studio: Studio) -> None:
    font = TTFont(_FONTS / "DejaVuSans.ttf")
    steps = " ".join(f"sub {one} by {other};" for one, other in _shifted(string.ascii_lowercase).items())
    letters = " ".join(string.ascii_letters)
    rule = f"lookup S {{ {steps} }} S; feature calt {{ sub [{letters}] [{letters}]' lookup S; }} calt;"
    addOpenTypeFeaturesFromString(font, rule)
    fonts = {"plain": _swapped("DejaVuSans.ttf", {}), "swapped": _saved(font)}
    html = f"<p class=plain>plain {_WORDS}</p><p class=swapped>{_WORDS}</p>"
    assert _judged(studio, fonts, html) == {f"plain {_WORDS}": Hiding.NONE, _WORDS: Hiding.UNSEEN}


def test_few_letters_that_look_like_others_do_not_hide_text(studio: Studio) -> None:
    fonts = {"odd": _swapped("DejaVuSans.ttf", {"1": "7", "s": "z", "i": "j", "p": "q"})}
    texts = ["$1,117.71 of 1,111.11", "Mississippi", "11/11/2011 11:11"]
    html = "".join(f"<p class=odd>{text}</p>" for text in [_WORDS, *texts])
    assert _judged(studio, fonts, html) == dict.fromkeys([_WORDS, *texts], Hiding.NONE)


def _with_feature(tag: str, letters: str) -> bytes:
    """Return a font of which a feature draws some letters as others, of another width."""
    font = TTFont(_FONTS / "DejaVuSans.ttf")
    names = font.getBestCmap()
    steps = " ".join(
        f"sub {names[ord(one)]} by {names[ord(other)]};" for one, other in _shifted(letters).items()
    )
    addOpenTypeFeaturesFromString(font, f"feature {tag} {{ {steps} }} {tag};")
    return _saved(font)


@pytest.mark.parametrize("style", ["font-variant-numeric:lining-nums", 'font-feature-settings:"lnum"'])
def test_digits_that_a_feature_of_the_font_chooses_are_seen(studio: Studio, style: str) -> None:
    fonts = {
        "digits": _with_feature("lnum", "0123456789abcdefghij"),
        "letters": _with_feature("lnum", string.ascii_lowercase),
    }
    html = f"<p class=digits style='{style}'>1,107.72</p><p class=letters style='{style}'>{_WORDS}</p>"
    assert _judged(studio, fonts, html) == {"1,107.72": Hiding.NONE, _WORDS: Hiding.UNSEEN}


def _with_capitals_swapped() -> bytes:
    return _swapped("DejaVuSans.ttf", _shifted(string.ascii_uppercase))


# On the axis of `_with_optical_sizes`, from the size of 40 px in the middle down to 8 px.
_OPSZ_16_002 = (16.002 - 40) / (40 - 8)


def _with_optical_sizes(below: float = -0.3) -> bytes:
    """Return a font that draws other letters in small sizes, below a value of the axis ``opsz`` from -1 to 0."""
    font = TTFont(_FONTS / "DejaVuSans.ttf")
    names = font.getBestCmap()
    axis = Axis()
    axis.axisTag, axis.axisNameID = "opsz", font["name"].addName("size")
    axis.minValue, axis.defaultValue, axis.maxValue = 8, 40, 144
    font["fvar"], font["gvar"] = newTable("fvar"), newTable("gvar")
    font["fvar"].axes = [axis]
    font["gvar"].version, font["gvar"].reserved = 1, 0
    font["OS/2"].usMaxContext = 1
    font["gvar"].variations = {name: [] for name in font.getGlyphOrder()}
    forms = {names[ord(one)]: names[ord(other)] for one, other in _shifted(string.ascii_lowercase).items()}
    addFeatureVariations(font, [([{"opsz": (-1, below)}], forms)])
    return _saved(font)


def _with_letters_on_each_other() -> bytes:
    font = TTFont(_FONTS / "DejaVuSans.ttf")
    del font["GPOS"]
    names = [font.getBestCmap()[ord(letter)] for letter in string.ascii_lowercase]
    addOpenTypeFeaturesFromString(
        font, f"feature kern {{ @all = [{' '.join(names)}]; pos @all -800 @all; }} kern;"
    )
    return _saved(font)


def _with_letters_put_right_by_ligatures() -> bytes:
    """Return a font that draws other letters where ligatures are off."""
    font = TTFont(io.BytesIO(_swapped("DejaVuSans.ttf", forms := _shifted(string.ascii_lowercase))))
    del font["GSUB"]
    names = TTFont(_FONTS / "DejaVuSans.ttf").getBestCmap()
    steps = " ".join(f"sub {names[ord(other)]} by {names[ord(one)]};" for one, other in forms.items())
    addOpenTypeFeaturesFromString(font, f"feature liga {{ {steps} }} liga;")
    return _saved(font)


def _with_other_letters_but_in_turkish() -> bytes:
    """Return a font that draws other letters, but honest ones in the language of the page."""
    font = TTFont(_FONTS / "DejaVuSans.ttf")
    names = font.getBestCmap()
    steps = " ".join(
        f"sub {names[ord(one)]} by {names[ord(other)]};"
        for one, other in _shifted(string.ascii_lowercase).items()
    )
    systems = "languagesystem latn dflt; languagesystem latn TRK;"
    rule = f"lookup S {{ {steps} }} S; feature calt {{ script latn; lookup S; language TRK exclude_dflt; }} calt;"
    addOpenTypeFeaturesFromString(font, systems + rule)
    return _saved(font)


@pytest.mark.parametrize(
    ("font", "style"),
    [
        (_with_optical_sizes, "p { font-size: 16px }"),
        (partial(_with_feature, "smcp", string.ascii_lowercase), "p { font-variant-caps: small-caps }"),
        (_with_capitals_swapped, "p { font-variant-caps: small-caps }"),
        (_with_capitals_swapped, "p::first-line { text-transform: uppercase }"),
        (_with_capitals_swapped, "p::first-line { font-variant-caps: small-caps }"),
        (partial(_with_optical_sizes, _OPSZ_16_002), "p { font-size: 15.998px }"),
        (_with_letters_on_each_other, ""),
        (_with_other_letters_but_in_turkish, ""),
        (_with_letters_put_right_by_ligatures, "p { letter-spacing: 0.5px }"),
        (_with_letters_put_right_by_ligatures, "p { text-rendering: optimizeSpeed }"),
    ],
)
def test_other_letters_in_some_styles_of_a_font_are_not_seen(
    studio: Studio, font: Callable[[], bytes], style: str
) -> None:
    html = f"<style>{style}</style><p class=odd lang=en>{_WORDS}</p><p class=plain>plain {_WORDS}</p>"
    html += "<script>document.documentElement.lang = 'tr'</script>"
    fonts = {"odd": font(), "plain": _swapped("DejaVuSans.ttf", {})}
    assert _judged(studio, fonts, html) == {_WORDS: Hiding.UNSEEN, f"plain {_WORDS}": Hiding.NONE}


def test_other_letters_in_a_language_that_is_named_like_a_keyword_are_not_seen(studio: Studio) -> None:
    html = f"<p class=odd lang=inherit>{_WORDS}</p><script>document.documentElement.lang = 'tr'</script>"
    assert [*_judged(studio, {"odd": _with_other_letters_but_in_turkish()}, html).values()] == [Hiding.UNSEEN]


def _with_words(forms: Mapping[str, str], *, wide: bool = True, feature: str = "liga") -> bytes:
    """Return a font of which a feature draws each of some words as another one; its letters may have no width."""
    font = TTFont(_FONTS / "DejaVuSans.ttf")
    del font["GSUB"]
    names, order = font.getBestCmap(), font.getGlyphOrder()
    rules = []
    for number, (word, drawn) in enumerate(forms.items()):
        pen, x = TTGlyphPen(font.getGlyphSet()), 0
        for letter in drawn:
            pen.addComponent(names[ord(letter)], (1, 0, 0, 1, x, 0))
            x += font["hmtx"][names[ord(letter)]][0]
        order.append(name := f"word{number}")
        font["glyf"][name], font["hmtx"][name] = pen.glyph(), (x, 0)
        rules.append(f"sub {' '.join(names[ord(letter)] for letter in word)} by {name};")
    font.setGlyphOrder(order)
    addOpenTypeFeaturesFromString(font, f"feature {feature} {{ {' '.join(rules)} }} {feature};")
    if not wide:
        for letter in string.ascii_lowercase:
            font["hmtx"][names[ord(letter)]] = 0, font["hmtx"][names[ord(letter)]][1]
    return _saved(font)


_SHORT = {
    "send": "violets",
    "money": "geraniums",
    "right": "carnations",
    "away": "primrose",
    "today": "chicory",
}


def test_short_words_of_their_own_that_a_font_draws_as_others_are_not_seen(studio: Studio) -> None:
    spans = "".join(f"<span>{word}</span>" for word in _SHORT)
    said = _judged(studio, {"odd": _with_words(_SHORT)}, f"<p class=odd>{spans}</p><p>today as well</p>")
    assert said == {**dict.fromkeys(_SHORT, Hiding.UNSEEN), "today as well": Hiding.NONE}


def test_letters_without_width_that_a_feature_draws_as_words_are_not_seen(studio: Studio) -> None:
    spans = "".join(f"<span>{word}</span>" for word in _SHORT)
    fonts = {"odd": _with_words(_SHORT, wide=False, feature="ss01")}
    said = _judged(
        studio, fonts, f"<p class=odd style='font-feature-settings:\"ss01\"'>{spans}</p><p>more</p>"
    )
    assert said == {**dict.fromkeys(_SHORT, Hiding.UNSEEN), "more": Hiding.NONE}


def test_words_with_dots_that_a_font_draws_as_others_are_not_seen(studio: Studio) -> None:
    words = {"ḍẹḷẹṭẹ": "violets", "ṭḥẹṃ": "carnations"}
    said = _judged(studio, {"odd": _with_words(words)}, f"<p class=odd>{' '.join(words)}</p><p>more</p>")
    assert said == {" ".join(words): Hiding.UNSEEN, "more": Hiding.NONE}


def test_few_swapped_letters_in_each_of_many_fonts_are_not_seen(studio: Studio) -> None:
    swapped = [*_shifted(string.ascii_lowercase).items()]
    fonts = {f"part{at}": _swapped("STIXGeneral.ttf", dict(swapped[at : at + 4])) for at in range(0, 26, 4)}
    others = [
        "".join(letter for letter in _WORDS.lower() if letter not in dict(swapped[at : at + 4]))
        for at in range(0, 26, 4)
    ]
    honest = "".join(f"<p class={name}>{text}</p>" for name, text in zip(fonts, others, strict=True))
    place = {letter: f"part{at - at % 4}" for at, (letter, _) in enumerate(swapped)}
    letters = "".join(
        f"<b class={place[one]} style='font-weight:400'>{one}</b>" for one in "quicklanternswhisper"
    )
    said = _judged(studio, fonts, f"{honest}<p>{letters}</p>")
    assert all(said[text] == Hiding.NONE for text in others)
    hidden = [said[one] == Hiding.UNSEEN for one in {*"quicklanternswhisper"}]
    assert sum(hidden) > 0.6 * len(hidden)


@pytest.mark.parametrize("first", ["\u0561", "\u05d0", "\u10d0"])
def test_letters_that_a_font_draws_as_those_of_another_script_are_not_seen(
    studio: Studio, first: str
) -> None:
    drawn = {letter: chr(ord(first) + at) for at, letter in enumerate(string.ascii_lowercase)}
    words = _WORDS.lower()
    said = _judged(studio, {"odd": _swapped("DejaVuSans.ttf", drawn)}, f"<p class=odd>{words}</p><p>more</p>")
    assert said == {words: Hiding.UNSEEN, "more": Hiding.NONE}


def test_swapped_letters_are_found_in_a_font_of_which_many_are_used(studio: Studio) -> None:
    font = _swapped("DejaVuSans.ttf", _shifted(string.ascii_lowercase))
    many = " ".join(filter(str.isalnum, map(chr, range(0xC0, 0x590))))
    said = _judged(studio, {"odd": font}, f"<p class=odd>{many}</p><p class=odd>{_WORDS}</p>")
    assert said[_WORDS] == Hiding.UNSEEN


def _moved(letters: str, *, right: float = 0.0, wide: float = 1.0, high: float = 1.0) -> bytes:
    """Return a font that draws letters beside their place, in ems, in less width than they need, and lower."""
    font = TTFont(_FONTS / "DejaVuSans.ttf")
    names, em = font.getBestCmap(), font["head"].unitsPerEm
    for name in {names[ord(letter)] for letter in letters}:
        glyph, (advance, bearing) = font["glyf"][name], font["hmtx"][name]
        pen = TTGlyphPen(None)
        glyph.draw(TransformPen(pen, (1, 0, 0, high, right * em, 0)), font["glyf"])
        font["glyf"][name] = pen.glyph()
        font["hmtx"][name] = round(advance * wide), bearing + round(right * em)
    return _saved(font)


def _with_painted(sign: str, left: float, right: float, low: int = -200, high: int = 1600) -> bytes:
    """Return a font in which a sign is an area, between two places beside it in ems, and two heights in units."""
    font = TTFont(_FONTS / "DejaVuSans.ttf")
    em = font["head"].unitsPerEm
    pen = TTGlyphPen(None)
    pen.moveTo((round(left * em), low))
    for x, y in (left, high), (right, high), (right, low):
        pen.lineTo((round(x * em), y))
    pen.closePath()
    name = font.getBestCmap()[ord(sign)]
    font["glyf"][name] = pen.glyph()
    font["hmtx"][name] = font["hmtx"][name][0], round(left * em)
    return _saved(font)


@pytest.mark.parametrize(
    ("font", "html"),
    [
        (_moved(string.ascii_letters, wide=0.25), "{}"),
        (_moved(string.ascii_lowercase[::2], right=0.9), "{}"),
        (_with_painted("\xa0", -9, 0), "{}\xa0"),
        (_with_painted("\xa0", -0.7, 0), "{}\xa0"),
        (_with_painted(",", -9, 0), "{},"),
        (_with_painted("\u0301", -0.7, 0), "{}\u0301"),
        (_with_painted("\u0301", -0.3, 0), "{}\u0301"),
        (_with_painted("\u2014", -0.6, 1), "{}\u2014"),
    ],
)
def test_letters_that_a_font_draws_beside_or_under_others_are_not_seen(
    studio: Studio, font: bytes, html: str
) -> None:
    said = _judged(
        studio,
        {"odd": font, "even": _swapped("DejaVuSans.ttf", {})},
        "".join(f"<p class={name}>{html.format(f'{name} {_WORDS}')}</p>" for name in ("odd", "even")),
    )
    hidden, shown = said.values()
    assert hidden
    assert not shown


def test_letters_that_a_font_draws_as_others_after_a_space_are_not_seen(studio: Studio) -> None:
    font = TTFont(_FONTS / "DejaVuSans.ttf")
    letters, others = (
        " ".join(font.getBestCmap()[ord(one)] for one in some)
        for some in (string.ascii_lowercase, string.ascii_lowercase[13:] + string.ascii_lowercase[:13])
    )
    addOpenTypeFeaturesFromString(
        font,
        f"@before = [{font.getBestCmap()[0xA0]} {letters} {others}]; @letters = [{letters}]; "
        f"lookup other {{ sub @letters by [{others}]; }} other; "
        "feature calt { sub @before @letters' lookup other; } calt;",
    )
    html = f"<p class=odd>\xa0{_WORDS.replace(' ', chr(0x2003))}</p>"
    assert [*_judged(studio, {"odd": _saved(font)}, html).values()] == [Hiding.UNSEEN]


def _coloured(*colours: tuple[float, ...]) -> bytes:
    """Return a font in which each letter is in one colour, below another one in the second colour."""
    font, forms = TTFont(_FONTS / "DejaVuSans.ttf"), _shifted(string.ascii_lowercase)
    names = font.getBestCmap()
    layers = {names[ord(one)]: [(names[ord(one)], 0), (f"red.{one}", 1)] for one in forms}
    order = font.getGlyphOrder()
    for one, other in forms.items():
        order.append(f"red.{one}")
        for table in ("glyf", "hmtx"):
            font[table][f"red.{one}"] = font[table][names[ord(other)]]
    font.setGlyphOrder(order)
    font["COLR"] = buildCOLR(layers)
    font["CPAL"] = buildCPAL([colours])
    return _saved(font)


def _with_others_beside(name: str, letters: str, others: str, features: str = "") -> bytes:
    """Return a font that draws some letters as others where any letter is beside them."""
    font = TTFont(_FONTS / name)
    del font["GSUB"]
    names = font.getBestCmap()
    all_ = " ".join(names[ord(one)] for one in string.ascii_lowercase)
    pairs = zip(letters, others, strict=True)
    rules = " ".join(f"sub {names[ord(one)]} by {names[ord(other)]};" for one, other in pairs)
    addOpenTypeFeaturesFromString(
        font,
        f"@any = [{all_}]; lookup other {{ {rules} }} other; "
        f"feature calt {{ sub @any' lookup other @any; sub @any @any' lookup other; }} calt; {features}",
    )
    return _saved(font)


def _specked() -> bytes:
    """Return a font that draws other letters, each with a speck far above it."""
    font = TTFont(io.BytesIO(_swapped("DejaVuSans.ttf", _shifted(string.ascii_lowercase))))
    for name in {font.getBestCmap()[ord(one)] for one in string.ascii_lowercase}:
        pen = TTGlyphPen(font.getGlyphSet())
        pen.addComponent(font.getBestCmap()[ord(".")], (0.2, 0, 0, 0.2, 300, 3000))
        recording = DecomposingRecordingPen(font.getGlyphSet())
        font["glyf"][name].draw(recording, font["glyf"])
        dot = DecomposingRecordingPen(font.getGlyphSet())
        pen.glyph().draw(dot, font["glyf"])
        whole = TTGlyphPen(None)
        recording.replay(whole)
        dot.replay(whole)
        font["glyf"][name] = whole.glyph()
    return _saved(font)


def _with_bitmaps(drawn_as: Mapping[str, str], size_px: int) -> bytes:
    """Return a font that has pictures of other letters in one size, 8 bits for each pixel (tables CBLC and CBDT)."""
    path = _FONTS / "DejaVuSansMono.ttf"
    font, shown = TTFont(path), ImageFont.truetype(str(path), size_px)
    order, names = font.getGlyphOrder(), font.getBestCmap()
    glyphs = {}
    for letter, other in drawn_as.items():
        left, top, right, bottom = map(round, shown.getbbox(other, anchor="ls"))
        picture = Image.new("L", (right - left, bottom - top))
        ImageDraw.Draw(picture).text((-left, -top), other, fill=255, font=shown, anchor="ls")
        head = struct.pack(
            ">BBbbB", picture.height, picture.width, left, -top, round(shown.getlength(letter))
        )
        glyphs[order.index(names[ord(letter)])] = head + picture.tobytes()
    first, last = min(glyphs), max(glyphs)
    pictures = [glyphs.get(number, b"") for number in range(first, last + 1)]
    ends = [0, *accumulate(map(len, pictures))]
    table = struct.pack(">HHIHHI", first, last, 8, 1, 1, 4) + struct.pack(f">{len(ends)}I", *ends)
    line = struct.pack(">bbBbbbbbbbbb", size_px, -size_px // 4, size_px, *[0] * 9)
    sizes = struct.pack(">IIII", 56, len(table), 1, 0) + 2 * line
    sizes += struct.pack(">HHBBBb", first, last, size_px, size_px, 8, 1)
    tables = {
        "CBLC": struct.pack(">II", 0x30000, 1) + sizes + table,
        "CBDT": b"\0\3\0\0" + b"".join(pictures),
    }
    for tag, data in tables.items():
        font[tag] = DefaultTable(tag)
        font[tag].data = data
    return _saved(font)


# The last letter of what is drawn is very wide.
_LYING_WIDTHS = "feature kern { ignore pos @any' @any; pos @any' 30000; } kern;"
_FEW = [dict(zip(one, one[1:] + one[:1], strict=True)) for one in ("eou", "rst", "cdm", "bkp", "vxz")]


@pytest.mark.parametrize(
    ("fonts", "style"),
    [
        ([_coloured((0, 0, 0, 0.02), (1, 0, 0, 1))], ""),
        ([_coloured((0, 0, 0, 1), (0, 1, 0, 1))], "background:#000;color:#0f0"),
        ([_with_others_beside("DejaVuSansMono.ttf", "thepoldnyubg", "lbobdtqhvnpq")], ""),
        ([_specked()], ""),
        ([_moved(string.ascii_lowercase, wide=0.55)], ""),
        ([_moved(string.ascii_lowercase, high=0.5)], ""),
        ([_with_others_beside("DejaVuSans.ttf", "aeiorn", "oaezmh", _LYING_WIDTHS)], ""),
        ([_with_words({one: one[::-1] for one in _WORDS.split()})], ""),
        (
            [_with_words({one: one[::-1] for one in _WORDS.split()}, feature="hlig")],
            "font-variant-ligatures:historical-ligatures",
        ),
        ([_swapped("DejaVuSans.ttf", one) for one in _FEW], ""),
        ([_with_words({one: one[::-1] for one in _WORDS.split()})], "letter-spacing:0%"),
        ([_swapped("DejaVuSans.ttf", {})], "letter-spacing:0.015px"),
        ([_with_bitmaps(_shifted(string.ascii_lowercase), 20)], "font-size:20px"),
        ([_with_painted("\u2026", 0, 1)], ""),
    ],
    ids=[
        *("colours", "colours of the ground", "letters like others"),
        *("specks", "letters that lie on each other", "low letters", "widths that lie"),
        *("ligatures", "variants"),
        *("few letters in each of several fonts", "no space between letters", "hardly any"),
        *("pictures for one size", "dots"),
    ],
)
def test_fonts_that_may_draw_other_letters_leave_doubt(
    studio: Studio, fonts: list[bytes], style: str
) -> None:
    faces = ""
    for number, font in enumerate(fonts):
        studio.server.pages[f"/{number}.ttf"] = partial(send, body=font, headers={"Content-Type": "font/ttf"})
        faces += f"@font-face {{ font-family: f{number}; src: url(/{number}.ttf) }}"
    words = "".join(
        f"<span style='font-family:f{number % len(fonts)};{style}'>{word}</span> "
        for number, word in enumerate(_WORDS.split())
    )
    others = "".join(
        f"<p style='font-family:f{number}'>ABC DEF GHI JKL MNO PQR STU VWX YZ 0123456789</p>"
        for number in range(len(fonts))
    )
    page = show(studio, f"<style>{faces}</style><p>{words}</p>{others}")
    said = tuple(f"capture: pixels: unsure, {one} " for one in ("fonts draw letters", "letters", "a font"))
    assert str(page.provenance.reasons[:1]).startswith(said, 2) or judged(page).get(
        _WORDS.split(maxsplit=1)[0]
    )


def test_two_letters_that_become_others_in_each_of_several_frames_leave_doubt(studio: Studio) -> None:
    frames = []
    for number, drawn_as in enumerate(({"s": "x", "e": "k"}, {"n": "z", "v": "m"}, {"w": "g", "d": "f"})):
        body = _swapped("DejaVuSans.ttf", drawn_as)
        studio.server.pages[f"/{number}.ttf"] = partial(send, body=body, headers={"Content-Type": "font/ttf"})
        face = (
            f"<style>@font-face {{ font-family: f; src: url(/{number}.ttf) }} p {{ font-family: f }}</style>"
        )
        frames.append(f'<iframe srcdoc="{face}<p>{_WORDS}</p>"></iframe>')
    page = show(studio, "".join(frames))
    said = "capture: pixels: unsure, fonts draw letters in other ways than those for reading"
    assert [str(one) for one in page.provenance.reasons] == [said]


def test_letters_with_accents_that_become_others_leave_doubt(studio: Studio) -> None:
    said = "capture: pixels: unsure, fonts draw letters in other ways than those for reading"
    face = "<style>@font-face { font-family: f; src: url(/accents.ttf) } p { font-family: f }</style>"
    for drawn_as, reasons in (({}, []), (dict(zip("éáóń", "áóéŕ", strict=True)), [said])):
        body = _swapped("DejaVuSans.ttf", drawn_as)
        studio.server.pages["/accents.ttf"] = partial(send, body=body, headers={"Content-Type": "font/ttf"})
        page = show(studio, f"{face}<p>séńd áĺĺ thé móńéý tó thém tódáý</p>")
        assert [str(one) for one in page.provenance.reasons] == reasons


def test_marks_of_a_font_on_letters_leave_doubt(studio: Studio) -> None:
    font = (_FONTS / "DejaVuSans.ttf").read_bytes()
    studio.server.pages["/marks.ttf"] = partial(send, body=font, headers={"Content-Type": "font/ttf"})
    face = "<style>@font-face { font-family: f; src: url(/marks.ttf) } p { font-family: f }</style>"
    said = "capture: pixels: unsure, fonts draw letters in other ways than those for reading"
    for text, reasons in (
        ("ca\u0301fe\u0301 ", []),
        ("p\u0323a\u0323y ", [said]),
        ("p\ufe00a\ufe00y ", [said]),
    ):
        page = show(studio, f"{face}<p>{text * 9}</p>")
        assert [str(one) for one in page.provenance.reasons] == reasons


@pytest.mark.parametrize(
    ("sign", "text"), [("-", "so-sue us-or use-us"), ("\u0301", "n\u0301ow o\u0301ne can\u0301")]
)
def test_signs_of_a_font_that_black_out_words_leave_doubt(studio: Studio, sign: str, text: str) -> None:
    body = _with_painted(sign, -0.4, 0.6, 100, 900)
    studio.server.pages["/signs.ttf"] = partial(send, body=body, headers={"Content-Type": "font/ttf"})
    face = "<style>@font-face { font-family: f; src: url(/signs.ttf) } p { font-family: f }</style>"
    page = show(studio, f"{face}<p>{f'{text} ' * 4}</p>")
    said = "capture: pixels: unsure, fonts draw letters in other ways than those for reading"
    assert [str(one) for one in page.provenance.reasons] == [said] or all(judged(page).values())


def test_signs_that_a_font_moves_over_the_word_before_leave_doubt(studio: Studio) -> None:
    font = TTFont(io.BytesIO(_with_painted(".", 0.0, 2.0, 100, 1500)))
    names = font.getBestCmap()
    letters = " ".join(names[ord(one)] for one in string.ascii_lowercase)
    font["hmtx"][names[ord(".")]] = 2 * font["head"].unitsPerEm, 0
    rule = f"feature kern {{ pos [{letters}] {names[ord('.')]}' <-4096 0 -4096 0>; }} kern;"
    del font["GPOS"]
    addOpenTypeFeaturesFromString(font, rule)
    body = _saved(font)
    studio.server.pages["/signs.ttf"] = partial(send, body=body, headers={"Content-Type": "font/ttf"})
    face = "<style>@font-face { font-family: f; src: url(/signs.ttf) } p { font-family: f }</style>"
    page = show(studio, f"{face}<p>{'send. your. money. ' * 4}</p>")
    assert page.provenance.reasons or all(judged(page).values())


def test_letters_beyond_the_lines_of_their_font_leave_doubt(studio: Studio) -> None:
    font = _swapped("DejaVuSans.ttf", {})
    studio.server.pages["/odd.ttf"] = partial(send, body=font, headers={"Content-Type": "font/ttf"})
    face = "@font-face { font-family: odd; src: url(/odd.ttf); ascent-override: 7%; descent-override: 2% }"
    page = show(studio, f"<style>{face} p {{ font: 52px odd }}</style><p>{_WORDS}</p>")
    assert str(page.provenance.reasons[0]).startswith("capture: pixels: unsure, letters ")


@pytest.mark.parametrize(("name", "used"), [("Odd", "oDD"), (r"a\22 b", r"A\22 B"), ("sun", "ſun")])
def test_other_letters_in_a_font_whose_name_is_written_otherwise_are_not_seen(
    studio: Studio, name: str, used: str
) -> None:
    headers = {"Content-Type": "font/ttf"}
    studio.server.pages["/odd.ttf"] = partial(send, body=_with_capitals_swapped(), headers=headers)
    style = f"@font-face {{ font-family: {name}; src: url(/odd.ttf) }} p {{ font-family: {used} }}"
    text = _WORDS.upper()
    page = show(studio, f"<style>{style}</style><p>{text}</p><div>PLAIN {text}</div>")
    assert judged(page) == {text: Hiding.UNSEEN, f"PLAIN {text}": Hiding.NONE}
