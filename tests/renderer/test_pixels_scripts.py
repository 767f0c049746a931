"""Text that shows in pictures of a page only because its scripts are off while it is pictured counts as hidden."""

from functools import partial
from typing import Any

import pytest

import domsieve
from domsieve.analysis.columns.hiding import Hiding
from domsieve.options import CaptureOptions
from domsieve.renderer.page.pixels._css_text import uncommented, unescaped
from domsieve.snapshot.page import Snapshot
from tests.renderer.bad_server import send
from tests.renderer.conftest import Studio
from tests.renderer.test_hidden_text import judged
from tests.renderer.test_pixels import clear_picture, pictured, show

pytestmark = pytest.mark.browser
__all__ = ["clear_picture"]  # a fixture

_WORDS = "seven words that a reader can read"
_PALE = "background:url(/clear.gif);color:#fff"  # on white, which layout cannot know
_LAYER = "position:absolute;left:0;top:0;width:100%;height:100%;border:0"
_BOX = "<div style='position:relative'><p>{{}}</p>{}</div>"
_NONE = "@media (scripting: none)"
_SHEET = f"{_NONE} {{ .x {{ color: #000 !important }} }}"
_ESCAPED = "\\53 cript\\69ng"
_PLAIN = f"<p class=x style='{_PALE}'>{{}}</p>"
_TREE = "host.attachShadow({ mode: 'closed' })"


def _picture(colour: str) -> str:
    return (
        "data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 width=%22900%22 height=%2260%22%3E"
        f"%3Crect width=%22900%22 height=%2260%22 fill=%22{colour}%22/%3E%3C/svg%3E"
    )


def _drawing(inner: str) -> str:
    return f"<svg style='{_LAYER}' viewBox='0 0 9 9' preserveAspectRatio=none>{inner}</svg>"


_LATE = "@keyframes a { 0%, 90% { display: none } to { display: block } } noscript, canvas { animation: a 8s both }"
# These ask whether scripts are on. Readers, whose scripts are, see none of the texts.
ASKING = {
    "a media query": f"<style>{_SHEET}</style>{_PLAIN}",
    "a query in escapes": f"<style>{_SHEET.replace('scripting', _ESCAPED)}</style>{_PLAIN}",
    "a rule that a script inserts": f"<style id=s></style>{_PLAIN}<script>s.sheet.insertRule('{_SHEET}')</script>",
    "an adopted sheet": f"{_PLAIN}<script>{{ const one = new CSSStyleSheet(); one.replaceSync('{_SHEET}');"
    " document.adoptedStyleSheets = [one] }</script>",
    "a sheet of another origin": f"<link rel=stylesheet href='data:text/css,{_SHEET}'>{_PLAIN}",
    "the media of a sheet": f"<style media='(scripting: none)'>.x {{ color: #000 !important }}</style>{_PLAIN}",
    "a value": f"<p style='{_PALE};color:if(media(scripting: none): #000; else: #fff)'>{{}}</p>",
    "a value in a property": "<style>:root { --c: if(media(scripting: enabled): #fff; else: #000) }</style>"
    f"<p style='{_PALE};color:var(--c)'>{{}}</p>",
    "a closed tree": "<div id=host></div>"
    f"<script>{_TREE}.innerHTML = `<style>{_SHEET}</style>{_PLAIN}`</script>",
    "a cover in a closed tree": _BOX.format(f"<div id=host style='{_LAYER}'></div>")
    + f"<script>{_TREE}.innerHTML = `<style>{_NONE} {{ div {{ display: none }} }}</style>"
    f"<div style='{_LAYER};background:url(\"{_picture('white')}\")'></div>`</script>",
    "a frame": f'<iframe width=600 height=60 srcdoc="<style>{_SHEET}</style>{_PLAIN}"></iframe>',
    "a frame without text": _BOX.format(
        f"<iframe style='{_LAYER}' srcdoc='<style>body {{ background: #fff }}"
        f"{_NONE} {{ body {{ background: none }} }}</style>'></iframe>"
    ),
    "the source of a picture": _BOX.format(
        f"<picture><source media='(scripting: none)' srcset='{_picture('none')}'>"
        f"<img src='{_picture('white')}' style='{_LAYER}'></picture>"
    ),
    "the place of a picture in its box": _BOX.format(
        f"<img src='{_picture('white')}' style='{_LAYER};object-fit:fill'>"
    )
    + f"<style>{_NONE} {{ img {{ object-position: -3000px 0 }} }}</style>",
    "a gradient of SVG": _BOX.format(
        _drawing(
            "<linearGradient id=g><stop stop-color=#fff /></linearGradient><path d='M0 0h9v9h-9z' fill='url(#g)' />"
        )
    )
    + f"<style>{_NONE} {{ stop {{ stop-opacity: 0 }} }}</style>",
    "the first line": "<style>.x::first-line { color: #fff }"
    f"{_NONE} {{ .x::first-line {{ color: #000 }} }}</style>"
    f"<p class=x style='{_PALE}'>{{}}</p>",
    "a highlight": f"<style>::highlight(a) {{ color: #fff }} {_NONE} {{ ::highlight(a) {{ color: #000 }} }}</style>"
    f"<p id=x style='{_PALE}'>{{}}</p><script>{{ const range = new Range(); range.selectNodeContents(x);"
    " CSS.highlights.set('a', new Highlight(range)) }</script>",
    "a font": "<style>@media (scripting) { @font-face { font-family: drawn; src: url(/empty.ttf) } }"
    f"{_NONE} {{ @font-face {{ font-family: drawn; src: url(/full.ttf) }} }} #x {{ font-family: drawn }}</style>"
    "<p id=x>{}</p>",
    "a box that goes where scripts are off": "<div style='background:url(/clear.gif)'><p id=x style='color:#fff'>{}"
    f"</p></div><style>{_NONE} {{ #x {{ display: none }} }}</style>",
    "the media of a sheet that a script makes": _PLAIN
    + "<script>{ const one = new CSSStyleSheet({ media: '(scripting: none)' }); one"
    ".replaceSync('.x { color: #000 !important }'); document.adoptedStyleSheets = [one] }</script>",
    "the media of a sheet that a script changes": f"<style id=s>.x {{ color: #000 !important }}</style>{_PLAIN}"
    "<script>s.sheet.media.mediaText = '(scripting: none)'</script>",
    "a form that stands in for the list of sheets": f"<form name=styleSheets></form><style id=s>.x {{ color: #000 "
    f"!important }}</style>{_PLAIN}<script>s.sheet.media.mediaText = '(scripting: none)'</script>",
    "what no computed style has": f"<style>{_NONE} {{ ::selection {{ color: #000 }} }}</style>{_PLAIN}",
    "a script that notices that it was off": f"<style>{_SHEET}</style>{_PLAIN}"
    "<script>matchMedia('(scripting: none)').onchange = () =>"
    " document.querySelector('.x').style.setProperty('color', '#000', 'important')</script>",
}
# A drawing over a text, from which what is for browsers without scripts pushes it away.
_OVER = (
    "<style>noscript { display: block; height: 60px } "
    "svg { display: block; margin-top: -30px; position: relative }</style>"
)
_WHITE = (
    "<svg width=900 height=30 viewBox=0,0,9,9 preserveAspectRatio=none><path d=M0,0H9V9H0Z fill=white></path>"
    "</svg>"
)
_PUSHED = f"<template shadowrootmode={{tree}}>{_OVER}<noscript>x</noscript>{_WHITE}</template>"
_BESIDE = "<p style=height:30px;margin:0>{{}}</p><div>{}</div>"
_UNDER_DRAWING = f"{_OVER}<p style=height:30px;margin:0>{{}}</p><noscript>x</noscript>{_WHITE}"
# Readers, whose scripts are on, see none of these.
WAYS = {
    "an element for browsers without scripts in a tree that an animation shows": "<div><template "
    f"shadowrootmode=open><style>{_LATE}</style><noscript>{{}}</noscript></template></div>",
    "what is in a canvas that an animation shows": f"<style>{_LATE}</style><canvas>{{}}</canvas>",
    "such an element that a sheet shows": "<style>body noscript { display: block !important; transition: "
    "display 1000s allow-discrete }</style><noscript>{}</noscript>",
    "such an element in a closed tree": _BESIDE.format(_PUSHED.replace("{tree}", "closed")),
    "such an element in a frame": f"<iframe width=900 height=90 srcdoc='{_UNDER_DRAWING}'></iframe>",
    "such an element in a tree of a frame": "<iframe width=900 height=90 srcdoc='"
    + _BESIDE.format(_PUSHED.replace("{tree}", "open"))
    + "'></iframe>",
}
# Browsers show these, or readers may run no scripts where they are.
NOSCRIPT = {
    "shown by its style": "<noscript style='display:block !important'>{}</noscript>",
    "pushing another element": "<div style='overflow:hidden;height:24px'><noscript style='display:block !important;"
    "height:30px'>x</noscript><p style='margin:-30px 0 0'>{}</p></div>",
    "without a box of its own": "<style>noscript { display: contents }</style><div style='position:relative'>"
    "<p>{}</p><div id=host></div></div><script>{ const one = document.createElement('noscript'); one.append("
    f"document.createElement('b')); one.firstChild.style = `{_LAYER};background:url(\"{_picture('white')}\")`; "
    "host.append(one) }</script>",
    "in a frame that runs no scripts": f"<iframe sandbox width=900 height=90 srcdoc='{_UNDER_DRAWING}'></iframe>",
    "in such a frame of the same origin": "<iframe sandbox=allow-same-origin width=900 height=90 srcdoc='"
    f"{_UNDER_DRAWING}'></iframe>",
}


def _kept(page: Any) -> set[str]:
    return {*str(domsieve.clean(page, method="none", hidden="pixels").text).split()}


@pictured(lambda way: "<p>before</p>" + WAYS[way].replace("{}", _WORDS))
@pytest.mark.parametrize("way", WAYS)
def test_what_shows_only_while_scripts_are_off_is_hidden(ahead: Snapshot, way: str) -> None:
    # Some have key frames with `display`.
    said = {str(reason).partition("unsure, ")[2].partition("\n")[0] for reason in ahead.provenance.reasons}
    assert said <= {
        "hardly any page has display in @keyframes",
        "animations change which elements are shown",
        "no pictures of the page: Error: A canvas cannot be laid out anew.",
    }
    assert not _kept(ahead) & {*_WORDS.split()}


@pictured(lambda way: "<p>before</p>" + ASKING[way].replace("{}", _WORDS))
@pytest.mark.parametrize("way", ASKING)
def test_a_page_that_asks_whether_scripts_are_on_is_judged_by_layout(ahead: Snapshot, way: str) -> None:
    (reason,) = ahead.provenance.reasons
    assert reason.startswith(
        "capture: pixels: unsure, no pictures of the page: style sheets ask whether scripts"
    )
    assert "before" in _kept(ahead)


@pictured(lambda way: "<p>before</p>" + NOSCRIPT[way].replace("{}", _WORDS))
@pytest.mark.parametrize("way", NOSCRIPT)
def test_a_page_that_may_show_what_is_for_browsers_without_scripts_is_marked(
    ahead: Snapshot, way: str
) -> None:
    (reason,) = ahead.provenance.reasons
    assert reason == "capture: pixels: unsure, the page may show what is for browsers without scripts"
    assert "before" in _kept(ahead)


def test_a_page_that_may_run_no_scripts_is_seen_as_readers_see_it(studio: Studio) -> None:
    html = "<!doctype html><p>before</p>" + _UNDER_DRAWING.replace("{}", _WORDS)
    headers = {"Content-Security-Policy": "sandbox", "Content-Type": "text/html"}
    studio.server.pages["/apart"] = partial(send, body=html.encode(), headers=headers)
    page = studio.render("/apart", CaptureOptions(pixels=True)).snapshot
    assert not page.provenance.reasons
    assert _kept(page) >= {"before", *_WORDS.split()}


def test_other_words_do_not_ask_whether_scripts_are_on(studio: Studio) -> None:
    html = f"""<style>.scripting {{ color: #333 }}</style>
        <img alt='scripting (a picture)' src=/clear.gif><p class=scripting>{_WORDS}</p><a href=/scripting>link</a>"""
    page = show(studio, html)
    assert page.provenance.complete
    assert {judged(page)[one] for one in (_WORDS, "link")} == {Hiding.NONE}


_WORKLET = """<style>.c::after {{ content: ''; position: absolute; inset: 0 }} {}</style>{}<script>
    CSS.paintWorklet.addModule(URL.createObjectURL(new Blob([`let k = 0; registerPaint("c", class {{ paint(x, g) {{
    if (k++ == 0) {{ x.fillStyle = "#fff"; x.fillRect(0, 0, g.width, g.height) }} }} }})`],
    {{ type: "text/javascript" }})))</script>"""
_IN_BOX = (
    "<div class=c style='position:relative'><p>{{}}</p><div style='position:absolute;inset:0;{}'></div></div>"
)
PAINTED = {
    "a background": ("", _IN_BOX.format("background:paint(c)")),
    "a set of pictures": ("", _IN_BOX.format("background:image-set(paint(c) 1x)")),
    "a variable": ("div { --x: paint(c) }", _IN_BOX.format("background:var(--x)")),
    "a border": ("", _IN_BOX.format("border:9px solid;border-image:paint(c) 9 fill")),
    "a pseudo-element": (".c::after { background: paint(c) }", _IN_BOX.format("")),
    "below": ("", "<div style='height:1500px'></div>" + _IN_BOX.format("background:paint(c)")),
    "a mask": ("", "<p style='mask:paint(c)'>{}</p>"),
    "a mask of a border": ("", "<p style='-webkit-mask-box-image:paint(c)'>{}</p>"),
    "a mask of a reflection": ("", "<p style='-webkit-box-reflect:below 0 paint(c)'>{}</p>"),
    "behind the text": ("", "<p style='background:paint(c)'>{}</p>"),
    "far shadow": (
        "",
        "<p>{}</p><div style='height:60px;margin-top:400px;background:paint(c);"
        "filter:drop-shadow(0 -440px #fff)'></div>",
    ),
}


@pictured(lambda way: _WORKLET.format(PAINTED[way][0], PAINTED[way][1].replace("{}", _WORDS)))
@pytest.mark.parametrize("way", PAINTED)
def test_what_meets_a_paint_worklet_is_hidden(ahead: Snapshot, way: str) -> None:
    assert "hardly any page has" in str(ahead.provenance.reasons[0])
    assert not _kept(ahead) & {*_WORDS.split()}


def test_what_is_beside_a_paint_worklet_is_seen(studio: Studio) -> None:
    body = f"""<p>{_WORDS}</p><div style='height:200px'></div><div style='height:40px;background:paint(c)'></div>
        <div style='height:100px'></div><p title='paint(c)'>paint(c)</p>
        <div style='position:fixed;top:0;right:0;width:300px;height:20px;background:paint(c)'></div>"""
    said = judged(show(studio, _WORKLET.format("", body)))
    assert {said[_WORDS], said["paint(c)"]} == {Hiding.NONE}


def test_no_server_delays_the_reading_of_style_sheets(studio: Studio) -> None:
    """Sheets that must not be kept are loaded once more when they are read."""
    asked = []

    def sheet(handler: Any) -> None:
        asked.append(handler.path)
        if len(asked) == 1:
            send(handler, _SHEET.encode(), headers={"Content-Type": "text/css", "Cache-Control": "no-store"})
        else:
            studio.server.stopped.wait()

    studio.server.pages["/once.css"] = sheet
    page = show(studio, f"<link rel=stylesheet href=/once.css><p>before</p>{_PLAIN}".replace("{}", _WORDS))
    assert not page.provenance.complete
    assert asked == ["/once.css"] * 2


@pytest.mark.parametrize(
    ("css", "plain"),
    [
        ("a\\62 c", "abc"),
        ("\\000061b", "ab"),
        ("\\61\r\nb", "ab"),
        ("\\g\\-", "g-"),
        ("\\110000\\ffffff", "\U0010ffff\U0010ffff"),
        ("a\\", "a\\"),
    ],
)
def test_escapes_of_css_are_read(css: str, plain: str) -> None:
    assert unescaped(css) == plain


@pytest.mark.parametrize(
    ("css", "plain"),
    [
        ("a:/**/b { content: '/*' } c:/* d /* e */f", "a:b { content: '/*' } c:f"),
        ('"\\"/*" /*a*/b', '"\\"/*" b'),
        ("'not closed /*\n/*a*/b", "'not closed /*\nb"),
        ("URL(a/*b) /*c*/d url( '/*)' /*e*/)f", "URL(a/*b) d url( '/*)' )f"),
        (r"\/*a*/b \"/*c*/d", r"\/*a*/b \"d"),
        ("a /* b", "a "),
    ],
)
def test_comments_of_style_sheets_are_taken_out(css: str, plain: str) -> None:
    assert uncommented(css) == plain
