"""Words that readers read otherwise than they are written, and text that they see and no result has."""

import pytest

import domsieve
from domsieve.snapshot.page import Snapshot
from tests.renderer.test_pixels import pictured

pytestmark = pytest.mark.browser

_ASIDE = "<p>aside</p>"
_FLEX = "<div style='display:flex'>{}</div>"
_MARKERS = "".join(f"<li style='list-style: inside \"{letter}\"'></li>" for letter in "neverpaythismanmoney")
_DOTS = ", ".join(f"{9 * at}px 40px #000" for at in range(1, 20))
# What is read otherwise, with what is said of it.
OTHERWISE = {
    "spaces that word spacing takes away": (
        "<p style='word-spacing: -.318em'>He was not able and is now here</p>",
        "words stand without a space between them",
    ),
    "spaces that are as thin as hairs": (
        "<p>not\u200aable and now\u200ahere and in\u200avalid</p>",
        "words stand without a space between them",
    ),
    "boxes that touch": (
        _FLEX.format("<i>not</i><i>able</i><p>-</p><i>in</i><i>valid</i><p>-</p><i>now</i><i>here</i>"),
        "words stand without a space between them",
    ),
    "a space that a margin takes away": (
        "<p>not <b style='margin-left: -.3em'>able</b> and now <b style='margin-left: -.3em'>here</b> "
        "or in <b style='margin-left: -.3em'>valid</b></p>",
        "words stand without a space between them",
    ),
    "a hidden letter, in whose place a space is written": (
        "<p>not<i style='font-size: 0'>.</i>able or now<i style='font-size: 0'>.</i>here or "
        "in<i style='font-size: 0'>.</i>valid</p>",
        "words stand without a space between them",
    ),
    "columns that touch": (
        "<div style='float: left; text-align: right'>in<br>now<br>not</div><div>valid<br>here<br>able</div>",
        "words stand without a space between them",
    ),
    "a line that is turned over": (
        "<p style='transform: rotate(180deg)'>NO NO NO NO NO NO NO NO</p>",
        "letters stand upside down",
    ),
    "Hebrew that goes to the right": (
        "<p style='unicode-bidi: bidi-override; direction: ltr'>שלום לכולם אנחנו כאן היום</p>",
        "letters go against the order of their script",
    ),
    "letters of Lisu": ("<p>ꓓꓳ ꓠꓳꓔ ꓑꓮꓬ ꓔꓧꓰ ꓟꓳꓠꓰꓬ</p>", "letters look like those of another alphabet"),
    "words of Greek capitals": (
        "<p>ΜΑΚΕ ΤΗΕ ΡΑΥΜΕΝΤ ΤΟ ΤΗΕ ΜΑΝ</p>",
        "letters look like those of another alphabet",
    ),
    "words of two alphabets": (
        "<p>Nеvеr mоnеуs, fоllоw оthеrs, реорlе, соmраnіеs</p>",
        "words are of letters of several alphabets",
    ),
    "Cyrillic small letters that a style raises": (
        "<p style='text-transform: uppercase'>не тор вас нет вас не тор</p>",
        "letters look like those of another alphabet",
    ),
    "letters from the end": (
        "<p style='font-family: monospace; letter-spacing: -2ch; padding-left: 40ch'>tnega eht tsurt reven</p>",
        "letters go backwards",
    ),
    "marks that are letters": (
        "<p dir=rtl style=\"text-emphasis: 'k'\">שלום לכם אנשים טובים</p>",
        "letters have marks of emphasis, which may add others",
    ),
    "strokes over letters": (
        "<p>Nc\u0335vc\u0335r pay thc\u0335 monc\u0335y to mc\u0335n</p>",
        "letters have strokes over them",
    ),
    "shadows of a sign": (
        f"<p style='height: 80px'><i style='text-shadow: {_DOTS}'>.</i></p>",
        "letters have shadows that may be letters of their own",
    ),
    "letters that count": (
        "<ol style='list-style: lower-alpha inside'>"
        + "".join(f"<li value={number}></li>" for number in (2813, 9076, 2506, 8904, 9090))
        + "</ol>",
        "markers of lists have words",
    ),
    "markers of one letter": (f"<ul>{_MARKERS}</ul>", "markers of lists have words"),
    "markers in Hebrew": (
        "<ul><li style='list-style: inside \"שלום לכולם אנחנו כאן\"'>1</ul>",
        "markers of lists have words",
    ),
}
ORDINARY = {
    "shadows below letters": "<p style='text-shadow: 0 1px 2px #999, 0 0 9px #999'>words with shadows</p>",
    "close words": "<p style='word-spacing: -.05em; letter-spacing: -.03em'>AV To fL <i>ff Tf if</i> <i>f l</i></p>",
    "pieces of words": "<p>b<b>ol</b>d, <span style='display: inline-block'>in</span>line, 10<sup>3</sup></p>",
    "justified lines": "<p style='text-align: justify; width: 200px'>words in narrow lines that go on for long</p>",
    "a line that goes up": "<p style='writing-mode: vertical-rl; transform: rotate(180deg)'>this line goes up</p>",
    "Russian and Latin": "<p>IT-компания и SIM-карта, wi-fi-роутер, ΔT, СССР и МОСКВА, а также СОВЕТ</p>",
    "Greek": "<p>Καλημέρα κόσμε, ΜΕΝΟΥ, ΝΑΙ, ΟΚ, ΝΕΑ, ΒΙΝΤΕΟ, Επικοινωνία με τον κόσμο</p>",
    "Hebrew": "<p dir=rtl>שלום לכולם אנחנו כאן היום <b>abc</b> 123</p>",
    "lists with letters": "<ol type=a><li>1<li>2<ol type=i><li>4</ol><li>5</ol><ol type=A reversed><li>1<li>2</ol>",
    "a table without gaps": "<table cellspacing=0 cellpadding=0><td>a word<td><i>another</i><td>and a third</table>",
    "numbers of lists": "<ol type=i><li value=888>1<li>2</ol><ol type=A><li>1</ol>",
    "icons": f"<p>{5 * chr(0xE005)} {chr(0xE061)} {chr(0xE062)}</p>",
}
# What no result has, although readers see it.
MISSING = {
    "words before": (
        "<style>p::before { content: 'words that no text has ' }</style>",
        "style sheets show or add words",
    ),
    "quotes": ('<q style=\'quotes: "words that no text has" ""\'>1</q>', "style sheets show or add words"),
    "an option": ("<option>words of no field, seen by all</option>", "style sheets show or add words"),
    "a shown option of a list": (
        "<style>datalist, option { display: block }</style><datalist><option>words of no field at all</datalist>",
        "style sheets show or add words",
    ),
    "a style sheet": (
        "<style style='display: block'>i { color: red }</style>",
        "style sheets show or add words",
    ),
    "what rules take for hidden": (
        "<p style='overflow: clip; height: 0; overflow-clip-margin: 40px'>words that rules call cut</p>",
        "rules drop what pictures may show",
    ),
    "the end of a text": (
        "<div style='position: relative; width: 300px'><p>seen and words that lie under a cover</p><canvas style="
        "'position: absolute; inset: 0 0 0 40px; width: 100%; height: 100%'></canvas></div><script>const pen = "
        "document.querySelector('canvas').getContext('2d'); pen.fillStyle = '#fff'; pen.fillRect(0, 0, 999, 999)"
        "</script>",
        "pictures do not show what rules keep",
    ),
    "digits": (
        "<p style='overflow: clip; height: 0; overflow-clip-margin: 40px'>0800 555 123 456 789 000</p>",
        "rules drop what pictures may show",
    ),
    "what pictures do not show": (
        "<div style='position: relative'><p>words under a picture</p><canvas style='position: absolute; inset: 0; "
        "width: 100%; height: 100%'></canvas></div><script>const pen = document.querySelector('canvas')"
        ".getContext('2d'); pen.fillStyle = '#fff'; pen.fillRect(0, 0, 999, 999)</script>",
        "pictures do not show what rules keep",
    ),
}
NOTHING_MISSING = {
    "signs and labels": "<style>p::before { content: '→ ' } i::after { content: ' new' }</style><i>1</i>",
    "closed lists": "<input list=x><datalist id=x><option>words nobody can see</datalist><select><option>1</select>",
    "a list of fields": "<select size=3><optgroup label='a group of these'><option>one<option>two</select>",
    "a teaser": "<p style='height: 1.2em; line-height: 1.2; width: 90px; overflow: hidden'>the first line of a text "
    "of which a teaser shows no more than this</p>",
    "hidden words": "<p style='color: #fff'>words in the colour of their ground</p>",
}


@pictured(lambda way: OTHERWISE[way][0] + _ASIDE)
@pytest.mark.parametrize("way", OTHERWISE)
def test_words_that_are_read_otherwise_leave_doubt(ahead: Snapshot, way: str) -> None:
    assert ahead.provenance.reasons == (f"capture: pixels: unsure, {OTHERWISE[way][1]}",)


@pictured(lambda way: ORDINARY[way] + _ASIDE)
@pytest.mark.parametrize("way", ORDINARY)
def test_ordinary_words_leave_no_doubt(ahead: Snapshot, way: str) -> None:
    assert ahead.provenance.reasons == ()


@pictured(lambda way: MISSING[way][0] + _ASIDE)
@pytest.mark.parametrize("way", MISSING)
def test_text_that_no_result_has_is_told(ahead: Snapshot, way: str) -> None:
    for method in ("none", "auto"):
        cleaned = domsieve.clean(ahead, method=method, hidden="pixels")
        assert "words" not in cleaned.text
        [warning] = (one for one in cleaned.warnings if one.kind == "text_missing")
        assert warning.detail.startswith(f"Text may be missing: {MISSING[way][1]} (")
        by_layout = domsieve.clean(ahead, method=method, hidden="layout")
        assert "text_missing" not in {one.kind for one in by_layout.warnings}


@pictured(lambda way: NOTHING_MISSING[way] + _ASIDE)
@pytest.mark.parametrize("way", NOTHING_MISSING)
def test_no_text_is_missing_from_ordinary_pages(ahead: Snapshot, way: str) -> None:
    assert domsieve.clean(ahead, method="none", hidden="pixels").warnings == ()
