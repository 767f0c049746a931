"""What leaves doubt in pictures: styles that hardly any page has, and letters that may be taken for others."""

import pytest

import domsieve
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.pixels import unsure_texts
from tests.renderer.conftest import Studio
from tests.renderer.test_pixels import pictured, show

pytestmark = pytest.mark.browser

_WORDS = "seven words that a reader can read"
# Styles that hardly any page has, and what is said of them.
RARE = {
    "a property": ("<style>p { corner-shape: bevel }</style>", "corner-shape"),
    "with a prefix": ("<style>p { -webkit-box-reflect: below }</style>", "box-reflect"),
    "in capitals, with an escape": (r"<style>p { ANCHOR-N\61ME: --a }</style>", "anchor-name"),
    "with a comment": (
        "<style>p { corner-/**/shape/**/: bevel; corner-shape/**/: bevel }</style>",
        "corner-shape",
    ),
    "that does not apply": (
        "<style>@media print { i:hover { reading-flow: flex-flow } }</style>",
        "reading-flow",
    ),
    "of an element": ("<i style='font-size-adjust: .75'></i>", "font-size-adjust"),
    "of an animation of a script": (
        "<script>document.body.animate({ borderShape: ['none', 'none'] }, 9e5)</script>",
        "border-shape",
    ),
    "in a sheet that a script makes": (
        "<script>const made = new CSSStyleSheet(); made.replaceSync('p { initial-letter: 2 }'); "
        "document.adoptedStyleSheets = [made]</script>",
        "initial-letter",
    ),
    "in a frame": (
        "<iframe srcdoc='<style>p { animation-timeline: scroll() }</style>'></iframe>",
        "animation-timeline",
    ),
    "a pseudo-class": ("<style>a:interest-source { color: red }</style>", ":interest-source"),
    "a pseudo-element": ("<style>p::search-text { color: red }</style>", "::search-text"),
    "an at-rule": ("<style>@counter-style a { system: cyclic; symbols: '-' }</style>", "@counter-style"),
    "key frames": ("<style>@keyframes k { to { display: none } }</style>", "display in @keyframes"),
    "a function": ("<style>@container style(--x: 1) { p { color: red } }</style>", "style()"),
}
# What may show something else when a reader scrolls.
_FOLLOWS = "animate({ opacity: [1, 0.9] }, "
FOLLOWING = {
    "an animation": "<style>@keyframes k { to { opacity: .5 } } i { animation: k linear; animation-timeline: "
    "scroll() }</style><i>.</i>",
    "an animation in a closed tree": "<div></div><script>document.querySelector('div').attachShadow({ mode: "
    "'closed' }).innerHTML = '<style>@keyframes k { to { opacity: .5 } } i { animation: k; animation-timeline: "
    "view() }</style><i>.</i>'</script>",
    "an animation of a script": f"<script>document.body.{_FOLLOWS}{{ timeline: new ScrollTimeline() }})</script>",
    "one that it has paused": f"<i>.</i><script>document.querySelector('i').{_FOLLOWS}9e9).pause()</script>",
    "an animation that waits": "<style>@keyframes k { to { opacity: .5 } } i { animation: k 9s both; "
    "timeline-trigger: --t view(); animation-trigger: --t play-forwards }</style><div style='height:3000px'></div>"
    "<i>.</i>",
    "a state": "<style>html { container-type: scroll-state } @container scroll-state(scrollable: top) { i { "
    "opacity: 0 } }</style>",
    "a link to what is in view": "<style>a:/**/target-current { color: red }</style>",
    "a place of an anchor": "<style>b { position: absolute; top: anc\\68or(--a bottom) }</style>",
    "an area beside an anchor, in a frame": "<iframe srcdoc='<style>b { position-area: top }</style>'></iframe>",
}
_ORDINARY = """
@import url(/none.css) print; @charset "utf-8"; @namespace svg url(http://www.w3.org/2000/svg);
@layer base { :root { --x: 1; color-scheme: light dark } } @page { margin: 0 }
@font-face { font-family: none; src: local(none); font-display: swap; unicode-range: U+26 }
@keyframes spin { to { transform: rotate(360deg) } } @supports (display: grid) and (not (-webkit-hyphens: none)) {
.row { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem } }
@container (min-width: 90px) { .row { order: 1 } } @property --y { syntax: "*"; inherits: false }
.btn:not(:disabled):hover::after, a:focus-visible, li:nth-child(2n + 1), :where(.x) ::placeholder {
-webkit-appearance: none; -webkit-mask: none; -moz-osx-font-smoothing: grayscale; *zoom: 1; mask: none; clip: auto;
filter: progid:DXImageTransform.Microsoft.gradient(startColorstr='#80000000'); transition: color .2s ease-in-out;
background: no-repeat url(data:image/gif;base64,R0lGODlhAQABAAAAACw=); inset: auto; speak: none }
"""
_BOX = (
    "<div style='position:relative;width:900px;height:60px'>"
    "<p style='font:{}/30px {};position:absolute;left:10px;top:9px;margin:0'>"
)
_SCRIPT = """</p></div><script>
const [box, own] = document.querySelectorAll("div, div p");
const made = document.createElement("canvas");
const pen = made.getContext("2d");
made.width = 900;
made.height = 60;
let seed = 7;
const random = () => (seed = seed * 16807 % 2147483647) / 2147483647;
const dot = (x, y, width, height, grey) => {
  pen.fillStyle = `rgb(${grey}, ${grey}, ${grey})`;
  pen.fillRect(x, y, width, height);
};
const each = (width, height, paint) => {
  for (let y = 0; y < 60; y += height) for (let x = 0; x < 900; x += width) paint(x, y);
};
PAINT
box.style.backgroundImage = `url(${made.toDataURL()})`;
</script>"""
_STROKES = """
dot(0, 0, 900, 60, 255);
pen.font = getComputedStyle(own).font;
const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = pen.measureText("x");
const write = (text, colour) => {
  pen.fillStyle = colour;
  pen.fillText(text, 10, 9 + Math.round(15 + (up - down) / 2));
};
for (const text of ["jungle quality moths fog doctor time", "emit rotcod gof shtom ytilauq elgnuj"]) {
  write(text, "#000");
}
for (let i = 0; i < 3; i++) write("WORDS", "#fff");
"""
_FINE = """
each(2, 2, (x, y) => {
  const way = random() < 0.5;
  for (const [i, j] of [[0, 0], [1, 0], [0, 1], [1, 1]]) dot(x + i, y + j, 1, 1, (i !== j) === way ? 3 : 253);
});
"""
_STREAKS = """
for (let y = 0; y < 60; y += 2) {
  const [begin, grey] = [random() * 9, 110 + 80 * random()];
  for (let x = 0; x < 900; x++) dot(x, y, 1, 2, grey + 60 * Math.sin(begin + x / 4 + Math.sin(x / 37)));
}
"""
_DARK = "each(3, 3, (x, y) => dot(x, y, 3, 3, 90 * random()));"
_BESIDE = ",".join(
    f"{x}px {y}px #0002"
    for x, y in ((3, 1), (-4, 2), (5, -3), (-6, -1), (1, 6), (-2, -5), (7, 4), (-3, 4), (6, 0))
)


def _on(size: str, font: str, paint: str) -> str:
    return f"{_BOX.format(size, font)}WORDS{_SCRIPT}".replace("PAINT", paint)


UNCLEAR = {
    "strokes that make other letters of them": _on("14px", "monospace", _STROKES),
    "noise of single pixels": _on("13px", "sans-serif;color:#0003", _FINE),
    "streaks along the lines": _on("12px", "sans-serif;color:#0002", _STREAKS),
    "many shadows around pale letters": f"<p style='font-size:20px;color:#0002;text-shadow:{_BESIDE}'>WORDS</p>",
}
LATE = {
    "an animation that others begin anew": "<style>@keyframes d { from { width: 0 } } @keyframes k { from { "
    "opacity: 0 } } div { animation: d 15s infinite } p { animation: k 0.1s 20s both }</style>"
    "<div></div><p>WORDS</p>",
    "a transition": "<style>@keyframes d { from { width: 0 } } div { animation: d 15s infinite } p { transition: "
    "opacity 0.1s 20s }</style><div></div><p>WORDS</p>",
}
_ENDLESS = "@keyframes d { from { width: 0 } } div { animation: d 15s infinite }"
LATE |= {
    "an animation that leaves nothing": f"<style>{_ENDLESS} @keyframes k {{ from, to {{ opacity: 0 }} }} p {{ "
    "animation: k 20s }</style><div></div><p>WORDS</p>",
    "one that a script has made slow": f"<style>{_ENDLESS}</style><div></div><p id=p>WORDS</p><script>p.animate({{ "
    "opacity: [0, 0] }, { duration: 4000, fill: 'both' }).playbackRate = 0.1</script>",
}
LATE["in a frame"] = f'<iframe srcdoc="{LATE["an animation that leaves nothing"]}"></iframe><p>{_WORDS}</p>'
UNCOMPARED = {
    "a drawing that turns them": f"<svg width=900 height=60><text y=30 rotate='0 0 9'>{_WORDS}</text></svg>",
    "a drawing that gives its length": f"<svg width=900 height=60><text y=30 textLength=440>{_WORDS}</text></svg>",
}
CLEAR = {
    "ordinary styles": f"<style>{_ORDINARY}</style><p style='color:red;--own:x'>WORDS</p>",
    "a smooth ground": "<p style='color:#fff;background:linear-gradient(90deg,#024,#48c)'>WORDS</p>",
    "a shadow": "<p style='font-size:22px;text-shadow:1px 1px 2px #999;"
    "background:linear-gradient(#fff,#bcd)'>WORDS</p>",
    "chapters that are laid out late": "<p>WORDS</p><div style='height:4000px'></div><section style='"
    "content-visibility:auto'><p>a chapter</p></section>",
    "lines": "<p style='background:linear-gradient(#fff,#bcd)'><u>WORDS</u></p>",
    "a caption on dark noise": _on("bold 20px", "sans-serif;color:#fff", _DARK),
}


def _reasons(page: Snapshot) -> list[str]:
    return [str(reason) for reason in page.provenance.reasons]


@pictured(lambda way: f"{RARE[way][0]}<p>{_WORDS}</p>")
@pytest.mark.parametrize("way", RARE)
def test_a_page_with_styles_that_hardly_any_has_is_left_to_layout(ahead: Snapshot, way: str) -> None:
    assert _reasons(ahead) == [f"capture: pixels: unsure, hardly any page has {RARE[way][1]}"]
    assert unsure_texts(ahead)
    assert _WORDS in domsieve.clean(ahead, method="none", hidden="pixels").text


@pictured(lambda way: f"{FOLLOWING[way]}<p>{_WORDS}</p><div style='height:3000px'></div>")
@pytest.mark.parametrize("way", FOLLOWING)
def test_a_page_that_follows_the_scrolling_is_not_pictured(ahead: Snapshot, way: str) -> None:
    said = "capture: pixels: unsure, no pictures of the page: styles or animations may follow the scrolling"
    assert _reasons(ahead) == [said]
    assert _WORDS in domsieve.clean(ahead, method="none", hidden="pixels").text


@pictured(lambda way: UNCLEAR[way].replace("WORDS", _WORDS))
@pytest.mark.parametrize("way", UNCLEAR)
def test_letters_that_may_be_taken_for_others_leave_doubt(ahead: Snapshot, way: str) -> None:
    is_kept = _WORDS in domsieve.clean(ahead, method="none", hidden="pixels").text
    assert not is_kept or _reasons(ahead)[0].startswith("capture: pixels: unsure, letters ")


@pictured(lambda way: LATE[way].replace("WORDS", _WORDS))
@pytest.mark.parametrize("way", LATE)
def test_what_ends_late_while_something_else_goes_on_leaves_doubt(ahead: Snapshot, way: str) -> None:
    assert _reasons(ahead) == ["capture: pixels: unsure, animations end late, while others go on"]


@pytest.mark.parametrize(
    ("html", "said"),
    [
        (
            "<svg><set /></svg><script>document.querySelector('svg').setCurrentTime(100)</script>",
            "a script has set the clock",
        ),
        (
            "<meta http-equiv=refresh content='30;url=#x'><canvas></canvas>",
            "a canvas may lose its picture as the page",
        ),
        (
            "<meta http-equiv=refresh content='50;url=/none'><svg><rect><set attributeName=x to=9 begin=25s /></rect>"
            "</svg>",
            "the page goes elsewhere while animations go on",
        ),
        (
            "<style>@keyframes k { 50% { --shown: inline-block } } canvas { display: var(--shown, block); animation: "
            "k 1s infinite }</style><canvas></canvas>",
            "a canvas may lose its picture as animations",
        ),
        (
            "<svg><foreignObject width=90 height=90><canvas></canvas></foreignObject><rect width=9 height=9><set "
            "attributeName=opacity to=0 begin=8s /></rect></svg>",
            "a canvas may lose its picture as animations",
        ),
        (
            "<svg><rect width=9 height=9><set attributeName=display to=none begin=9s /></rect></svg>",
            "animations change which elements are shown",
        ),
        (
            f"<style>{_ENDLESS}</style><div></div><svg><rect width=9 height=9><animate attributeName=opacity "
            "values='0;1' dur=1s repeatCount=indefinite /></rect></svg>",
            "drawings and styles are animated",
        ),
        (
            f'<style>{_ENDLESS}</style><div></div><iframe srcdoc="<style>{_ENDLESS}</style><div></div>"></iframe>',
            "several documents are animated",
        ),
        (
            "<i>1</i><b>2</b><u>3</u><script>const [old, young] = ['i', 'b'].map((name) => document"
            ".querySelector(name).animate({ opacity: [1, 0.9] }, { duration: 500, iterations: Infinity })); "
            "old.currentTime = 9e6; setInterval(() => { young.currentTime %= 500 }, 200); document"
            ".querySelector('u').animate({ opacity: "
            "[1, 0.9] }, 1e6)</script>",
            "animations have begun again",
        ),
        (
            "<b>1</b><script>const one = document.querySelector('b').animate({ opacity: [1, 0.9] }, 1e9); "
            "one.currentTime = 5e8; one.playbackRate = -1</script>",
            "animations run backwards",
        ),
        (
            "<style>@keyframes k { from { filter: none } } i { animation: k 9s infinite }</style><i>1</i><canvas>"
            "</canvas>",
            "a canvas may lose its picture as animations",
        ),
        (
            "<b>1</b><u>2</u><script>const young = document.querySelector('b').animate({ opacity: [1, 0.9] }, 6000); "
            "setInterval(() => { young.currentTime = 0 }, 200); document.querySelector('u').animate({ opacity: "
            "[1, 0.9] }, 20000)</script>",
            "animations have begun again",
        ),
        (
            "<b>1</b><svg><rect width=9 height=9><set attributeName=opacity to=0 begin=20s /></rect></svg><script>"
            "const young = document.querySelector('b').animate({ opacity: [1, 0.9] }, 4900); setInterval(() => { "
            "young.currentTime = 0 }, 200)</script>",
            "animations have begun again",
        ),
        (
            "<svg><rect width=9 height=9><animate attributeName=opacity values='0;1' dur=1s repeatCount=indefinite />"
            "</rect></svg>" + '<iframe srcdoc="<svg><rect width=9 height=9><animate attributeName=opacity '
            "values='0;1' dur=1s repeatCount=indefinite /></rect></svg>\"></iframe>",
            "several documents are animated",
        ),
        (
            f"<style>{_ENDLESS}</style><div></div><svg style='display:none'><filter id=f><feFlood><animate "
            "attributeName=flood-opacity values='0;1' dur=1s repeatCount=indefinite /></feFlood></filter></svg>",
            "drawings and styles are animated",
        ),
        (
            "<style>@keyframes k { 50% { visibility: hidden } } div { animation: k 3s infinite } i { transition: "
            "all 1s }</style><div><i>1</i></div>",
            "transitions follow animations",
        ),
        (
            "<style>@keyframes k { 50% { visibility: hidden } } div { animation: k 3s infinite } div::before { "
            "content: 'b'; transition: visibility 1s }</style><div>1</div>",
            "transitions follow animations",
        ),
        (
            "<style>@keyframes k { 50% { translate: 40px } } div { animation: k .1s infinite }</style><div>thrown "
            "<img src=data:, width=9 height=9></div>",
            "what animations throw about may cover texts",
        ),
        (
            f"<style>{_ENDLESS} @keyframes k {{ from {{ visibility: visible }} }} b {{ visibility: hidden; "
            "animation: k .8s } b * { transition: visibility 4.9s }</style><div></div><b><i><u>1</u></i></b>",
            "animations ",  # end late, or have begun again
        ),
        (
            f"<style>{_ENDLESS}</style><div></div><b>1</b><script>document.querySelector('b').animate({{ width: "
            "['9px', '10px'] }, 4900).playbackRate = 0.3</script>",
            "animations end late, while others go on",
        ),
        (
            "<meta http-equiv=refresh content='1;url=javascript:0'><style>@keyframes k { from { opacity: 0 } } i { "
            "animation: k 12s }</style><i>1</i>",
            "the page goes elsewhere while animations go on",
        ),
        (
            "<div style='width:99px;height:99px;overflow:auto'><a href=#a>a</a><p style='margin-top:900px'>words "
            "far below</p></div><div style='position:absolute;inset:0;height:150px'></div><svg><rect><set "
            "attributeName=opacity to=0 begin='a.focusin' /></rect></svg>",
            "animations of drawings wait for keys or the focus",
        ),
        ("<style>p::first-line { font-feature-settings: 'ss01' }</style>", ""),
        (
            "<svg><switch><g systemLanguage='en'></g></switch></svg>",
            "drawings choose what they show by the languages",
        ),
        ("<style>p { hyphenate-character: 'ow' }</style>", "hardly any page has hyphenate-character"),
        ("<style>p { hyphens: auto }</style>", ""),
        ("<style>i { transition: opacity 0s 90s }</style><i>1</i>", "transitions are so slow"),
        (
            "<style>i::before { content: ''; transition: opacity 20s 20s }</style><i>1</i>",
            "transitions are so slow",
        ),
        ("<style>i { transition: opacity 9s }</style><i>1</i>", ""),
        ("<i style='offset-path: url(#p)'>1</i>", "drawings are drawn in other ones"),
        (
            "<div style='content-visibility: hidden'><svg><linearGradient id=g /></svg></div><svg>"
            "<path fill='url(#g)' /></svg>",
            "what is never shown takes part",
        ),
        (
            "<details><svg><mask id=m /></svg></details><p style='mask: url(#m)'>1</p>",
            "what is never shown takes part",
        ),
        ("<svg style='display: none'><mask id=m /></svg><svg><path mask='url(#m)' /></svg>", ""),
        (
            "<style>@layer a { p { color: red !important } }</style><p>1</p>",
            "hardly any page has important styles",
        ),
        (
            "<style>@layer b; p { color: red !important } @layer a { i { width: 9px !important } }</style><p>1</p>",
            "",
        ),
        ("<p id=p>1</p><script>getSelection().selectAllChildren(p)</script>", "text is selected"),
        (
            f"<svg><text y=20><a style='fill: #000 !important'>{_WORDS}</a></text></svg>",
            "letters cannot be made transparent",
        ),
        (
            "<iframe sandbox srcdoc='<svg><filter><feImage href=#a /></filter></svg>'></iframe>",
            "drawings are drawn",
        ),
        (
            "<style>@keyframes k { 0%, 99% { left: 0 } } div { position: relative; left: -9000px; "
            "margin-top: 9000px; animation: k 3s step-end }</style><div><img loading=lazy src=late.png width=9 "
            "height=9></div>",
            "there are more lazy pictures than can be waited for",
        ),
        ("<b>1</b><script>CSS.highlights.set('x', new Highlight())</script>", "highlights of a script"),
        (f"<p style=\"text-emphasis: '\u25cf'\">{_WORDS}</p>", "letters have marks of emphasis"),
        ("<p style=\"text-emphasis: '\u25cf'\">+</p>", "signs have marks of emphasis"),
        ("<ol><li style='list-style-type: \"words that are no text\"'>1</ol>", "markers of lists have words"),
        (
            # Letters of formulas.
            f"<ol><li style='list-style-type: \"{''.join(map(chr, range(0x1D5BA, 0x1D5CA)))}\"'>1</ol>",
            "markers of lists have words",
        ),
        ("<ol type=i><li value=888>1<li>2</ol>", ""),
        (
            f"<p style='position: fixed; left: -900px; text-shadow: 900px 0 #000'>{_WORDS}</p>",
            "letters show by their shadows alone",
        ),
        (
            f"<p style='position: absolute; top: 3000px; left: -900px; text-shadow: 900px 0 #000'>{_WORDS}</p>",
            "letters show by their shadows alone",
        ),
        (
            f"<p style='-webkit-mask: linear-gradient(red, red) text; background: red'>{_WORDS}</p>",
            "masks are cut to letters",
        ),
        (
            f"<p>{_WORDS}<b style='color: transparent; background: red !important; background-clip: text !important; "
            f"opacity: 1 !important'>{_WORDS}</b></p>",
            "letters cannot be made transparent",
        ),
        (f"<p style='position: fixed; left: -900px; text-shadow: 1px 1px #000'>{_WORDS}</p>", ""),
        (
            "<style>.a { margin-top: 9000px; content-visibility: auto }</style><div><template shadowrootmode=open>"
            "<style>.a { margin-top: 9000px; content-visibility: auto }</style><div class=a><slot name=s></slot>"
            "</div></template><svg slot=s><filter id=f></filter></svg></div><svg><feImage href='#f' /></svg>",
            "what the browser skips far from the window takes part in drawings",
        ),
        (
            "<style>.a { margin-top: 9000px; content-visibility: auto }</style><div class=a><svg><mask id=m></mask>"
            "<path mask='url(#m)' /></svg></div>",
            "",
        ),
        (
            '<iframe srcdoc="<style>p { margin-top: 9000px; content-visibility: auto }</style><p>1</p>"></iframe>',
            "frames or closed trees have boxes that the browser skips",
        ),
        (
            "<style>@keyframes k { 0%, 100% { overflow: auto } } div { height: 60px; overflow: hidden; animation: "
            "k 2.5s } b { display: block; height: 9000px }</style><div tabindex=-1><b></b><img loading=lazy "
            "src=late.png width=9 height=9></div>",
            "there are more lazy pictures than can be waited for",
        ),
        (
            "<img loading=lazy src=late.png width=9 height=9 style='position: absolute; top: 120000px'>",
            "there are more lazy pictures than can be waited for, or hardly a reader gets there",
        ),
    ],
)
def test_what_a_script_or_a_fragment_may_change_leaves_doubt(studio: Studio, html: str, said: str) -> None:
    reasons = _reasons(show(studio, f"{html}<p>{_WORDS}</p>"))
    assert [one.startswith(f"capture: pixels: unsure, {said}") for one in reasons] == [True] * bool(said)


def test_a_canvas_that_a_worker_draws_leaves_doubt(studio: Studio) -> None:
    page = show(
        studio, f"<canvas id=c></canvas><script>c.transferControlToOffscreen()</script><p>{_WORDS}</p>"
    )
    said = "capture: pixels: unsure, a canvas or a video may show something else at any time"
    assert _reasons(page) == [said]


@pictured(lambda way: UNCOMPARED[way])
@pytest.mark.parametrize("way", UNCOMPARED)
def test_letters_that_are_not_compared_with_their_font_leave_doubt(ahead: Snapshot, way: str) -> None:
    reason = str(*_reasons(ahead))
    # More of them may be compared, and look like others.
    assert reason.startswith("capture: pixels: unsure, letters")


@pictured(lambda way: CLEAR[way].replace("WORDS", _WORDS))
@pytest.mark.parametrize("way", CLEAR)
def test_clear_letters_and_ordinary_styles_leave_no_doubt(ahead: Snapshot, way: str) -> None:
    assert not _reasons(ahead)
    assert _WORDS in domsieve.clean(ahead, method="none", hidden="pixels").text
