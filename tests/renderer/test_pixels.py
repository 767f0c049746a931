"""Pictures of a page say which of its texts can be seen, whatever the page does against it."""

import asyncio
import base64
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from PIL import Image

import domsieve
from domsieve.analysis.columns.hiding import Hiding
from domsieve.options import CaptureOptions
from domsieve.renderer.page import capture
from domsieve.renderer.page.pixels import look as looking
from domsieve.snapshot.page import PIXELS, Kind, Snapshot
from tests.renderer.bad_server import send
from tests.renderer.conftest import BUDGET, Studio
from tests.renderer.test_hidden_text import HIDDEN, SEEN, judged

pytestmark = pytest.mark.browser

_OPTIONS = CaptureOptions(pixels=True)
_WORDS = "seven words that a reader can read"
_CLEAR = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
_LAYER = "position:absolute;left:0;top:0;width:100%;height:100%"
# Layout cannot know that these are hidden.
ONLY_PICTURES = [
    "<div style='background:#000'><p style='background:url(/clear.gif)'>{}</p></div>",
    "<div style='background:#000'><p style='color:#00001e;background:url(/clear.gif)'>{}</p></div>",
    f"<div style='position:relative'><p>{{}}</p><canvas id=c style='{_LAYER}'></canvas></div>"
    "<script>c.getContext('2d').fillRect(0, 0, 9999, 9999)</script>",
    f"<div style='position:relative'><p>{{}}</p><svg style='{_LAYER}' viewBox='0 0 9 9' preserveAspectRatio=none>"
    "<path d='M0 0h9v9h-9z' fill=#eee /></svg></div>",
    "<style>#x {{ position: relative; z-index: 0 }} #x::first-line {{ color: #fff }} #x::before {{ content: ''; "
    "position: absolute; inset: 0; z-index: -1; background: contrast-color(currentcolor) }}</style><p id=x>{}</p>",
    # Small letters need more contrast than large ones.
    f"<div style='position:relative;font-size:4.4px'><p>{{}}</p><canvas id=c style='{_LAYER};opacity:0.9'></canvas>"
    "</div>"
    "<script>{{ const pen = c.getContext('2d'); pen.fillStyle = '#fff'; pen.fillRect(0, 0, 9999, 9999) }}</script>",
    "<div style='perspective:100px'><p style='transform:translateZ(-506px);color:#ccc'>{}</p></div>",
    "<style>#y::first-line {{ font-size: 4.2px; color: #ddd }}</style><p id=y>{}</p>",
    # This covers all in the size of the page, and nothing in half of it.
    f"<div style='position:relative'><p>{{}}</p><svg style='{_LAYER}' shape-rendering=crispEdges fill=#fff>"
    f"<path d='{''.join(f'M0 {one}.35H900v.3H0Z' for one in range(60))}' /></svg></div>",
    # A server may answer with nothing where these go to, so they stay.
    "<meta http-equiv=refresh content=20><style>@keyframes a {{ to {{ opacity: 0 }} }}</style>"
    "<p style='animation: a 1s 30s forwards'>{}</p>",
    "<meta http-equiv=refresh content=20><svg><text y=20>{}<set attributeName=opacity to=0 begin=30s /></text></svg>",
]


# The page knows of the pictures, and takes a canvas away that covers text otherwise.
_COVERED = (
    f"<div style='position:relative'><p>{{}}</p><canvas style='{_LAYER}'></canvas></div>"
    "<script>{ const c = document.querySelector('canvas').getContext('2d');"
    "c.fillStyle = '#fff'; c.fillRect(0, 0, 999, 999) }</script>"
)
_FIXED = "<div id=fixed style='position:fixed;right:0;bottom:0'>fixed</div>"
_FADE = "<style>@keyframes a { 50%, 100% { opacity: 0 } }"
KNOWING = {
    "attributes of fixed boxes": _FIXED
    + "<style>body:has([style*=opacity]) canvas { display: none }</style>",
    "attributes of a locked page": "<style>html, body { overflow: hidden; height: 100% }"
    "html[style] canvas, html:has(body[style]) canvas { display: none }</style>",
    "an endless animation": _FADE + "canvas { animation: a 1e7s forwards }</style>",
    "a late animation": _FADE + "canvas { animation: a 1s 1e6s forwards }</style>",
    "a paused animation": _FADE + "canvas { animation: a 1s forwards paused }</style>",
    "a property that an animation sets": "<style>"
    "@property --x { syntax: '<integer>'; inherits: true; initial-value: 0 }"
    "@keyframes a { to { --x: 1 } } body { animation: a 1e6s forwards }"
    "@container style(--x: 1) { canvas { display: none } }</style>",
    "the background of all": "<style>html { background-clip: text; background-color: #fff }</style>",
    "a canvas drawn anew": "<style>@keyframes a { to { display: block } } canvas { animation: a 4s 1s }</style>",
    "a transition": "<style>p { transition: all 1e5s !important; text-shadow: 0 0 0 #000 }</style>",
    "a shadow that stays": "<style>p { text-shadow: 0 0 3px #000 }</style><script>addEventListener('load', () =>"
    "document.querySelector('div p').style.setProperty('text-shadow', '0 0 3px #000', 'important'))</script>",
}
_PALE = "color:#fff;background:url(/clear.gif)"  # on white, which layout cannot know
_AT = f"margin:0;position:absolute;z-index:-1;left:0;top:60px;{_PALE}"
_BARS = "I" * 90
_DOT = "<text y=10 font-size=14 fill=#ddd>W</text>"
# Something else changes with the letters, or the page is not as readers find it.
_PICTURED_WORDS = (
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='900' height='60'>"
    "<rect width='900' height='60' fill='%23fff'/><rect width='900' height='9' fill='%23000'/>"
    "<text y='40' style='font:bold 30px serif' fill='%23f4f4f4'>{}</text></svg>"
)
DECOYS = {
    "letters of the colour of the ground on a picture of them": f'<div style="height:60px;background:url(&quot;'
    f'{_PICTURED_WORDS}&quot;)"><p style="margin:0;font:bold 30px/60px serif;color:#fff;'
    '-webkit-text-stroke:2px #fff">{}</p></div>',
    "letters of the colour of the ground on letters of the same shape": "<div style='height:30px;"
    "background:linear-gradient(90deg,#fff 98%,#eee)'><p style='position:absolute;margin:0'>{}</p>"
    "<p style='position:absolute;margin:0;color:#fff;-webkit-text-stroke:2px #fff'>{}</p></div>",
    "a far shadow": f"<p style='{_AT}'>{{}}</p><p style='margin:0;filter:drop-shadow(0 60px 0 #eee)'>{_BARS}</p>",
    "a reflection": f"<p style='{_AT}'>{{}}</p><p style='margin:0;-webkit-box-reflect:below 40px'>{_BARS}</p>",
    "a filter that moves letters": "<svg width=0 height=0><filter id=f y=-10 height=30><feOffset dy=60 result=a />"
    "<feMerge><feMergeNode in=a /><feMergeNode in=SourceGraphic /></feMerge></filter></svg>"
    f"<p style='{_AT}'>{{}}</p><p style='margin:0;filter:url(#f)'>{_BARS}</p>",
    "letters of SVG that are used again": f"<p style='{_AT}'>{{}}</p><svg width=900 height=90 style='display:block'>"
    f"<text id=d y=20 fill=#888>{_BARS}</text><use href=#d y=55 /></svg>",
    "a pattern of letters": f"<div style='position:relative'><p>{{}}</p><svg style='{_LAYER}'>"
    f"<pattern id=g width=10 height=10 patternUnits=userSpaceOnUse><rect width=10 height=10 fill=#fff />{_DOT}"
    "</pattern>"
    "<rect width=2000 height=200 fill='url(#g)' /></svg></div>",
    "a list marker": f"<p style='{_AT}'>{{}}</p><ul style='margin:0;padding:0;list-style:inside \"IIIIIIII\";"
    f"text-shadow:{','.join(f'{x}px 60px #ddd' for x in range(0, 400, 20))}'><li></ul>",
    "a form field": f"<p style='{_AT}'>{{}}</p><input value='{_BARS}' style='position:absolute;left:0;top:58px;"
    "width:600px;border:0;background:none;color:transparent;text-shadow:0 0 #ccc'>",
    "an animation after another": f"<p style='{_PALE};animation:a 4s forwards,b 1e6s 4s forwards'>{{}}</p><style>"
    "@keyframes a { 0%, 99% { color: #fff } to { color: #000 } } @keyframes b { 0%, to { color: #fff } }</style>",
    "an animation that never ends": f"<p id=m style='{_PALE};animation:a 4s forwards'>{{}}</p><style>"
    "@keyframes a { 0%, 99% { color: #fff } to { color: #000 } }</style><script>setInterval(() => {"
    "m.style.animation = 'none'; m.offsetTop; m.style.animation = 'a 4s forwards' }, 1500)</script>",
    "a transition that a script begins anew": f"<p id=m style='{_PALE}'>{{}}</p><script>const again = () => {{ "
    "m.style.transition = 'none'; m.style.color = '#fff'; m.offsetTop; m.style.transition = 'color 4s step-end'; "
    "m.style.color = '#000' }; again(); setInterval(again, 1500)</script>",
    "a transition that never ends": f"<p id=m style='{_PALE};transition:color 1e6s'>{{}}</p>"
    "<script>m.offsetTop; m.style.color = '#000'</script>",
    "a sticky text": "<div style='position:relative;height:500px'><p style='position:sticky;top:300px'>"
    "{}</p><canvas style='position:absolute;left:0;top:200px;width:100%;height:200px'></canvas></div>"
    "<script>{ const c = document.querySelector('canvas').getContext('2d'); c.fillStyle = '#fff';"
    " c.fillRect(0, 0, 999, 999) }</script>",
    "a transition that begins with the pictures": "<style>mo { color: rgba(120,120,120,.04) } @layer a { mo {"
    "transition: color 1e5s -5e4s cubic-bezier(.5,50,.5,50) !important } }</style>"
    "<div style='background:url(/clear.gif)'><math><mo>{}</mo></math></div>",
    "a cover of letters that are shown anew": "<style>div::before { content: '"
    + 60 * "█"
    + "'; position: absolute;"
    "left: 0; top: -2px; color: #fff; letter-spacing: -1px; z-index: 2; font-size: 20px } @layer a { div::before {"
    "transition: -webkit-text-fill-color 1000s -500s linear !important } }</style>"
    "<div style='position:relative'><p style='margin:0'>{}</p></div>",
    "a narrow slit": f"<div style='position:relative'><p>{{}}</p>"
    f"<div style='{_LAYER};background:linear-gradient(#fff 60%, #fff0 60%)'></div></div>",
    "a slit over a few letters each": "<div style='position:relative'><p>"
    + "".join(f"<i>{_WORDS[at : at + 2]}</i>" for at in range(0, len(_WORDS), 2))
    + f"</p><div style='{_LAYER};background:linear-gradient(#fff 66%, #fff0 66% 71%, #fff 71%)'></div></div>",
}
_TALL = "<div style='height:3000px'></div>"
_SCROLLER = (
    "<style>.around {{ position: relative }} .box {{ height: 120px; overflow: auto; scrollbar-width: none }} {style}"
    "</style><div class=around><div class=box>{inside}<p style='height:1500px'>down</p><p>{{}}</p>"
    "<p style='height:900px'></p></div>{over}</div>"
)
_STICKING = "a box that something sticks over on the way"
# A reader cannot scroll to the words, or no further than a little.
LOCKED = {
    "a box under its pseudo-element": _SCROLLER.format(
        style=".box::before { content: ''; position: fixed; inset: 0 }", inside="", over=""
    ),
    **{
        f"a box under {what}{where}": before
        + _SCROLLER.format(
            style=f".x {{ appearance: none }} {part} {{ position: absolute; inset: 0; width: auto; height: auto }}",
            inside=inside,
            over="",
        )
        + after
        for where, before, after in (
            ("", "", ""),
            (
                " in a frame far below",
                f'{_TALL}<iframe style="height:200px;width:600px" srcdoc="',
                '"></iframe>',
            ),
        )
        for what, part, inside in (
            ("a part of a field", ".x::file-selector-button", "<input type=file disabled class=x>"),
            ("a part of a bar", ".x::-webkit-progress-inner-element", "<progress class=x></progress>"),
        )
    },
    "a box in a frame under a fixed box": '<iframe style="height:200px;width:600px" srcdoc="'
    + _SCROLLER.format(style="", inside="<i style='position:fixed;inset:0'></i>", over="")
    + '"></iframe>',
    "a box under a very high one": _SCROLLER.format(
        style=".over { position: sticky; top: 0; height: 120px; overflow: auto } .over div { height: 900000px }",
        inside="<div class=over><div></div></div>",
        over="",
    ),
    _STICKING: _SCROLLER.format(
        style=".over { position: sticky; top: 0; height: 120px; overflow: auto; overscroll-behavior: contain }"
        ".over p { height: 200px } .box { overflow-anchor: none }",
        inside="<p style='height:300px'>shown</p><div class=over><p></p></div>",
        over="",
    ),
}


# A worker clears the canvas when it hears nothing more from the page.
DECOYS["a canvas that a worker draws"] = f"""<div style='position:relative'><p>{{}}</p>
    <canvas id=c style='{_LAYER}'></canvas></div><script>
    const canvas = c.transferControlToOffscreen();
    const worker = new Worker(URL.createObjectURL(new Blob([`let pen, heard;
      onmessage = (event) => {{ pen ??= event.data.getContext("2d"); heard = performance.now() }};
      setInterval(() => pen?.[performance.now() - heard < 40 ? "fillRect" : "clearRect"](0, 0, 999, 999), 20)`])));
    worker.postMessage(canvas, [canvas]);
    setInterval(() => worker.postMessage(0), 5)</script>"""
_FILTER = "<svg width=0 height=0><filter id=f>{}</filter></svg>"
_SHADOW = (
    "<feGaussianBlur in=SourceAlpha stdDeviation=3 />"
    "<feMerge><feMergeNode /><feMergeNode in=SourceGraphic /></feMerge>"
)
_BLOT = ",".join(f"{x}px {y}px #000" for x in range(-4, 5, 2) for y in range(-4, 5, 2))
_IN_PILE = "<span style='position:absolute;left:{}px;color:{}'>{}</span>"
_PILE = "<div style='position:relative;height:40px'>{}</div>"
# Painted, but nobody can read it.
_PATH = "<svg width=900 height=90><path id=d d='{}' fill=none /><text><textPath href=#d>{{}}</textPath></text></svg>"
UNREADABLE = [
    _PATH.format("".join(f"M{14 * (7 * at % 60)} 20h11" for at in range(60))),
    "<p style='font-family:monospace;letter-spacing:1em;word-spacing:-6em'>{}</p>",
    "<p style='-webkit-text-security:disc'>{}</p>",
    "<p style='text-decoration:line-through 1em'>{}</p>",
    "<p style='font-size:14px;text-decoration:line-through .4em #c00'>{}</p>",
    "<p style='font-size:14px;text-decoration:line-through .32em #000e'>{}</p>",
    "<p style='font-size:14px;text-decoration:line-through double .25em'>{}</p>",
    "<p style='font-size:14px;text-decoration:line-through wavy .3em'>{}</p>",
    "<s style='text-decoration:line-through 5px'><s style='text-decoration:line-through 9px'>{}</s></s>",
    "<div style='filter:blur(4px)'><div style='filter:blur(4px)'><p style='filter:blur(4px)'>{}</p></div></div>",
    "<p style='transform:scaleX(.12)'>{}</p>",
    "<p style='transform:scaleY(.15)'>{}</p>",
    "<p style='letter-spacing:-.46em;font-family:monospace'>{}</p>",
    f"{_FILTER.format('<feGaussianBlur stdDeviation=6 />')}<p style='filter:url(#f)'>{{}}</p>",
    f"{_FILTER.format('<feTurbulence baseFrequency=.1 /><feDisplacementMap in=SourceGraphic scale=60 />')}"
    "<p style='filter:url(#f)'>{}</p>",
    *(
        f"{_FILTER.format(f'<feMorphology operator={way} />')}<p style='filter:url(#f)'>{{}}</p>"
        for way in ("erode radius=2", "dilate radius=4", "dilate radius=20,0")
    ),
    "<div style='position:relative'><p>{}</p>"
    "<div style='position:absolute;inset:0;backdrop-filter:contrast(1.01) blur(7px)'></div></div>",
    "<p style='transform:skewX(70deg)'>{}</p>",
    "<p style='-webkit-text-stroke:7px #000'>{}</p>",
    f"<p style='text-shadow:{_BLOT}'>{{}}</p>",
    "<svg width=900 height=30><text y=20 textLength=8>{}</text></svg>",
    "<p style='rotate:1deg;transform:scaleY(.14)'>{}</p>",
    "<div style='rotate:90deg;width:300px'><p style='rotate:y 84deg'>{}</p></div>",
    _PILE.format(
        "".join(
            _IN_PILE.format(9, "#0006", text)
            for text in (
                "another text of seven words that is here",
                "a third one that lies on both of these",
                "{}",
            )
        )
    ),
    "<div style='background:url(\"data:image/svg+xml,<svg xmlns=%22http://www.w3.org/2000/svg%22><rect y=%225%22 "
    "width=%22900%22 height=%222%22/><rect y=%2233%22 width=%22900%22 height=%223%22/><text y=%2229%22 font-family="
    '%22sans-serif%22 font-weight=%22bold%22 font-size=%2224%22>{0}</text></svg>");'
    "transform:perspective(2000px) rotateX(10deg)'><p "
    "style='margin:0;font:bold 24px/40px sans-serif;color:#fff;-webkit-text-stroke:4px #fff'>{0}</p></div>",
]
# This looks like it, but can be read.
READABLE = [
    f"{_FILTER.format('<feDiffuseLighting><feDistantLight elevation=90 /></feDiffuseLighting>')}"
    "<p style='filter:url(#f)'>{}</p>",
    _PATH.format("M9 20h150M9 50h150"),
    f"{_FILTER.format(_SHADOW)}<p style='filter:url(#f)'>{{}}</p>",
    f"{_FILTER.format('<feColorMatrix type=saturate values=0 />')}<p style='filter:url(#f)'>{{}}</p>",
    "<p style='filter:blur(1px)'>{}</p>",
    "<p style='text-shadow:0 0 6px #000'>{}</p>",
    "<p style='color:#fff;text-shadow:1px 0 #000,-1px 0 #000,0 1px #000,0 -1px #000'>{}</p>",
    "<p style='color:#fff;font-size:30px;-webkit-text-stroke:1px #000'>{}</p>",
    "<p style='color:#fff;-webkit-text-stroke:7px #000;paint-order:stroke'>{}</p>",
    "<svg width=900 height=30><text y=20 textLength=600>{}</text></svg>",
    "<p style='transform:skewX(60deg)'>{}</p>",
    "<p style='rotate:1deg;transform:scaleY(.5)'>{}</p>",
    _PILE.format(
        "".join(_IN_PILE.format(at, color, "{0}") for at, color in ((7, "red"), (9, "blue"), (8, "#000")))
    ),
    _PILE.format(
        _IN_PILE.format(9, "#000", "a text")
        + _IN_PILE.format(70, "red", "{}")
        + _IN_PILE.format(500, "red", "third")
    ),
    *(
        f"<div style='position:relative'><div style='overflow:auto;height:40px'>{first}<div style='height:9em'></div>"
        f"<p>{{}}</p></div><div style='position:{position};inset:0 0 {bottom}'></div></div>"
        for first, position, bottom in (
            ("<a href=#>a link</a>", "absolute", "0"),
            ("text", "fixed", "0"),
            ("text", "absolute", "20px"),
        )
    ),
    "<main inert><div style='overflow:auto;height:40px'>text<div style='height:9em'></div><p>{}</p></div></main>"
    "<dialog id=d>a dialog</dialog><script>d.showModal()</script>",
    "<div style='height:40px;overflow:auto;pointer-events:none'><p style='pointer-events:auto;position:sticky;top:0'>"
    "-</p><p style='margin-top:300px'>{}</p></div>",
]
_LINE = "overflow:hidden;white-space:nowrap;width:480px"
_DARK = (
    '"data:image/svg+xml,<svg xmlns=%27http://www.w3.org/2000/svg%27>'
    '<rect width=%279999%27 height=%279999%27 /></svg>"'
)
_FILLED = (
    "<canvas style='position:{};top:0;left:0;width:100%;height:100vh;z-index:{}'></canvas><script>{{"
    " const c = document.querySelector('canvas').getContext('2d'); c.fillRect(0, 0, 999, 999) }}</script>"
)
_PASSING = "<div style='position:relative;z-index:1'><div style='height:1500px'></div>{}</div>"
# Grounds that stay in the window while white text passes over them, which layout does not know.
PASSED = {
    "a fixed canvas behind the page": _FILLED.format("fixed", -1) + _PASSING,
    "a fixed canvas under the text": _FILLED.format("fixed", 0) + _PASSING,
    "a sticky canvas": "<div>" + _FILLED.format("sticky", 0) + _PASSING + "</div>",
    "a background": f"<div style='background:url({_DARK}) fixed'><div style='height:1500px'></div>{{}}</div>",
    "a background of the page": f"<style>body {{ background: url({_DARK}) 0 0/100vw 100vh no-repeat fixed }}"
    "</style>" + _PASSING,
}
# A box cuts the last words of a line, which are not always those at the right.
REVERSED = {
    "mirrored": f"<div style='{_LINE}'><p style='display:inline-block;margin-left:-500px;scale:-1 1'>{{}}</p></div>",
    "turned by half": f"<div style='{_LINE};direction:rtl'><p style='display:inline-block;direction:ltr;"
    "transform:rotate(180deg)'>{}</p></div>",
    "turned by a quarter": "<div style='overflow:hidden;height:480px'><p style='writing-mode:vertical-rl;"
    "white-space:nowrap;margin:0'>{}</p></div>",
    "an override of styles": f"<p style='{_LINE};direction:rtl;unicode-bidi:bidi-override'>{{}}</p>",
    "an override around": f"<p style='{_LINE};direction:rtl'><bdo dir=rtl><b>{{}}</b></bdo></p>",
    "an override of characters": f"<p style='{_LINE};direction:rtl'>&#x202e;{{}}&#x202c;</p>",
}
_DOTS = (
    np.random.default_rng(1)
    .choice(np.array([0, 255], np.uint8), (2, 64, 256))
    .repeat(2, axis=1)
    .repeat(2, axis=2)
)
_CLEAR_LAYER = "<div style='position:absolute;inset:0'></div>"
# Nobody can scroll to it.
BEYOND_REACH = [
    "<div style='position:relative'><div tabindex=-1 style='overflow:auto;height:40px'>text in sight"
    f"<div style='height:400px'></div><p>{{}}</p></div>{_CLEAR_LAYER}</div>",
    "<div style='position:relative'><div tabindex=-1 style='overflow:auto;height:40px'><a>text</a>"
    "<svg><a></a><defs><a href='#'>of</a></defs></svg><video><a href='#'>a</a></video><select><option>box</select>"
    f"<div style='height:400px'></div><p>{{}}</p></div>{_CLEAR_LAYER}</div>",
    "<div style='position:relative'><div tabindex=-1 style='overflow:auto;height:40px'>text in sight<button style="
    "'position:fixed;right:0'>-</button><select size=2 tabindex=-1><option tabindex=0>-</select>"
    f"<div style='height:400px'></div><p>{{}}</p></div>{_CLEAR_LAYER}</div>",
    "<div style='position:relative'><iframe height=3000 srcdoc='text in sight<div tabindex=-1 style=\"position:"
    "absolute;top:2500px;height:40px;overflow:auto\">text<div style=height:400px></div><p>{}</p></div>'></iframe>"
    "<i style='position:absolute;inset:2400px 0 0'></i></div>",
    "<div inert style='overflow:auto;height:40px'><a href=#>see</a><div style='height:9em'></div><p>{}</p></div>",
    "<div style='height:3000px'></div><div style='position:relative'><iframe height=60 srcdoc='text in sight"
    f"<div style=height:300px></div><p>{{}}</p>'></iframe>{_CLEAR_LAYER}</div>",
    "<div style='overflow:auto;height:80px;position:relative'><p style='position:absolute;top:-60px'>{}</p>"
    "<div style='height:400px'></div></div>",
    "<div style='overflow:hidden auto;height:80px;width:300px;position:relative'>"
    "<p style='position:absolute;left:700px;width:600px'>{}</p><div style='height:400px'></div></div>",
    "<iframe width=300 height=60 scrolling=no srcdoc='<div style=height:300px></div><p>{}</p>'></iframe>",
    "<iframe width=300 height=60 srcdoc='<style>body { overflow: hidden }</style>"
    "<div style=height:300px></div><p>{}</p>'></iframe>",
    "<style>html { overflow-x: hidden }</style><p style='position:absolute;left:1500px;width:600px'>{}</p>",
    "<div style='height:40px;overflow:auto;pointer-events:none'><p>-</p><p style='margin-top:300px'>{}</p></div>",
    "<iframe width=300 height=60 style='pointer-events:none'"
    " srcdoc='<div style=height:300px></div><p>{}</p>'></iframe>",
]
# More than there is, and then some hidden text.
_WHITE = "<p style='color:#fff;background:url(/clear.gif) #fff'>{}</p>"
MANY = (
    [
        *(f"<div style='position:fixed;right:{i * 20}px;bottom:0'>f{i}</div>" for i in range(45)),
        "<div style='position:fixed;left:0;top:90px;background:#000'>" + _WHITE + "</div>",
    ],
    [
        *("<iframe width=40 height=30 srcdoc='<p>f</p>'></iframe>" for _ in range(22)),
        f"<iframe width=500 srcdoc=\"<body style='background:#000'>{_WHITE}\"></iframe>",
    ],
    [
        *(
            "<div style='display:inline-block;overflow:auto;width:40px;height:30px'><p style='height:90px'>s</div>"
            for _ in range(62)
        ),
        f"<div style='overflow:auto;height:30px;background:#000'><p>-</p>{_WHITE}</div>",
    ],
    [f"<div style='height:70000px;background:#000'></div><div style='background:#000'>{_WHITE}</div>"],
)


@pytest.fixture(autouse=True)
def clear_picture(studio: Studio) -> None:
    """Serve a transparent picture, of which layout knows nothing."""
    headers = {"Content-Type": "image/gif"}
    studio.server.pages["/clear.gif"] = lambda handler: send(handler, _CLEAR, headers=headers)


def sights(page: Snapshot) -> dict[str, str]:
    """Return what pictures say of each text of a page, by the text."""
    assert page.style_names[-1] == PIXELS
    texts = np.flatnonzero((page.kind == Kind.TEXT) & (page.style >= 0)).tolist()
    return {page.text_of(node).strip(): page.computed_style(node)[PIXELS] for node in texts}


def show(studio: Studio, body: str, **options: Any) -> Snapshot:
    """Return a page with pictures."""
    return studio.show(f"<!doctype html><body>{body}", replace(_OPTIONS, **options)).snapshot


async def shown(studio: Studio, body: str) -> Snapshot:
    """Return a page with pictures, which may be rendered while others are."""
    return await studio.shown(f"<!doctype html><body>{body}", _OPTIONS)


def pictured(body: Callable[..., str]) -> pytest.MarkDecorator:
    """Mark a test whose fixture ``ahead`` is the page with this body, by its parameters, with pictures."""
    return pytest.mark.ahead(job=lambda studio, **parameters: shown(studio, body(**parameters)))


def show_all(studio: Studio, bodies: Iterable[str]) -> list[Snapshot]:
    """Return pages with pictures, several of which are rendered at the same time."""
    return studio.show_all((f"<!doctype html><body>{body}" for body in bodies), _OPTIONS)


@pytest.mark.parametrize("number", range(len(ONLY_PICTURES)))
def test_what_layout_cannot_know_is_found(studio: Studio, number: int) -> None:
    html = f"<p>before</p>{ONLY_PICTURES[number].format(_WORDS)}<p>after</p>"
    said = judged(show(studio, html))
    assert {said["before"], said["after"]} == {Hiding.NONE}
    assert said[_WORDS] == Hiding.UNSEEN
    assert judged(studio.show(html).snapshot)[_WORDS] == Hiding.NONE


@pictured(lambda way: f"<p>before</p>{KNOWING[way]}{_COVERED}".replace("{}", _WORDS))
@pytest.mark.parametrize("way", KNOWING)
def test_a_page_that_knows_of_the_pictures_gains_nothing(ahead: Snapshot, way: str) -> None:
    said = judged(ahead)
    assert (said["before"], said[_WORDS]) == (Hiding.NONE, Hiding.UNSEEN)


@pictured(lambda way: f"<div style='position:relative'>{DECOYS[way]}</div><p>after</p>".replace("{}", _WORDS))
@pytest.mark.parametrize("way", DECOYS)
def test_what_changes_with_letters_does_not_show_them(ahead: Snapshot, way: str) -> None:
    kept = str(domsieve.clean(ahead, method="none", hidden="pixels").text).split()
    assert "after" in kept
    assert not {*kept} & {*_WORDS.split()}


def test_digits_that_no_canvas_draws_are_seen_unless_only_strips_of_them_are(studio: Studio) -> None:
    strips = "repeating-linear-gradient(#fff 0 9px, transparent 9px 11px)"
    numbers = "4711 0815 1111 3456"
    html = f"""<body style='font: 20px sans-serif; font-variant-numeric: tabular-nums'><p>{numbers}</p>
        <p style='font: 100 11px sans-serif; color: #888'>{numbers[::-1]}</p>
        <div style='position: relative'><p>{numbers} 7</p><div style='{_LAYER}; background: {strips}'></div></div>"""
    said = judged(show(studio, html))
    assert (said[numbers], said[numbers[::-1]]) == (Hiding.NONE, Hiding.NONE)
    assert said[f"{numbers} 7"] == Hiding.UNSEEN


def test_words_that_are_compared_as_a_whole_must_show_whole(studio: Studio) -> None:
    words = "אל תשלמו לאיש הזה כסף לעולם"
    cover = f"<canvas style='{_LAYER}; height: 60%; width: 100%'></canvas>"
    html = f"""<body style='font: 20px/1 sans-serif'><p dir=rtl>{words}</p>
        <div style='position: relative'><p dir=rtl>{words} גדול</p>{cover}</div><script>
        const pen = document.querySelector("canvas").getContext("2d");
        pen.fillStyle = "#fff"; pen.fillRect(0, 0, 900, 900)
        </script>"""
    said = judged(show(studio, html))
    assert (said[words], said[f"{words} גדול"]) == (Hiding.NONE, Hiding.UNSEEN)


def test_what_shows_once_a_page_is_released_is_unsure(studio: Studio) -> None:
    mask = "mask: linear-gradient(#000 50%, #0000 0) 0 100% / 100% 600px repeat; mask-clip: no-clip"
    html = f"""<style>html, body {{ overflow: hidden }} body {{ margin: 0; position: relative; {mask} }}
        div {{ float: left; height: 300px; width: 800px }} i {{ position: absolute; top: 0; height: 2000px }}</style>
        <div><p>{_WORDS}</p></div><i></i>"""
    assert judged(show(studio, html))[_WORDS] == Hiding.UNSEEN


@pictured(lambda way: f"<p>before</p>{LOCKED[way]}".replace("{}", _WORDS))
@pytest.mark.parametrize("way", LOCKED)
def test_what_no_reader_can_scroll_to_is_not_seen(ahead: Snapshot, way: str) -> None:
    said = judged(ahead)
    assert said["before"] == Hiding.NONE
    # This box is tried scrolled by chance: where nothing is over it then, this is found later, and leaves doubt.
    is_found_late = "not seen on the page as it is" in str(ahead.provenance.reasons)
    assert said[_WORDS] == Hiding.UNSEEN or (way == _STICKING and is_found_late)


def test_what_shows_only_while_scripts_are_off_is_hidden(studio: Studio) -> None:
    for hides, shows in (("display:none", "display:block"), ("left:-9999px", "left:9px")):
        style = f"p + p {{ position: absolute; {hides} }} @media (scripting: none) {{ p + p {{ {shows} }} }}"
        said = judged(show(studio, f"<style>{style}</style><p>before</p><p>{_WORDS}</p>"))
        assert not said["before"]
        assert said[_WORDS], hides


@pictured(lambda number: f"<p>before</p>{UNREADABLE[number].format(_WORDS)}<p>after</p>")
@pytest.mark.parametrize("number", range(len(UNREADABLE)))
def test_what_is_painted_but_cannot_be_read_is_not_seen(ahead: Snapshot, number: int) -> None:
    said = judged(ahead)
    assert said[_WORDS]
    assert {said["before"], said["after"]} == {Hiding.NONE}


_BIG = "font:bold 30px sans-serif"


def _noise(number: int) -> str:
    file = io.BytesIO()
    Image.fromarray(_DOTS[number]).save(file, "PNG")
    return f"url(data:image/png;base64,{base64.b64encode(file.getvalue()).decode()})"


def test_letters_that_are_lost_in_a_ground_of_noise_are_not_seen(studio: Studio) -> None:
    cut = f"background:{_noise(1)};background-clip:text;color:transparent"
    fine = f"{_noise(0)} 0 0/256px 64px"
    blended = (
        "multiply;color:#bbb",
        "difference;color:#333",
        "screen;color:#444",
        f"difference;{_BIG};color:#fff",
    )
    for ground, letters in (
        *((_noise(0), cut), (fine, "color:#777"), (fine, "color:#0004")),
        *((fine, f"mix-blend-mode:{mode}") for mode in blended),
    ):
        assert judged(
            show(studio, f"<p style='background:{ground}'><span style='{letters}'>{_WORDS}</span></p>")
        )[_WORDS], letters
    halves = "linear-gradient(90deg,#000 0 15px,#fff 0 30px) 0 0/30px"
    for ground, letters in (_noise(0), "color:#f00"), (halves, "color:#fff;mix-blend-mode:difference"):
        html = f"<p style='background:{ground}'><span style='{letters};{_BIG}'>{_WORDS}</span></p>"
        assert not judged(show(studio, html))[_WORDS], letters


def _squares(words: str = "") -> str:
    colours = np.random.default_rng(3).choice([60, 195], (4, 70, 3))

    def of(row: int, column: int, *, is_other: bool) -> str:
        colour = 255 - colours[row, column] if is_other else colours[row, column]
        place = f"x='{12 * column}' y='{12 * row}' width='12' height='12'"
        return f"<rect {place} fill='rgb{(*colour.tolist(),)}'/>"

    def ground(is_other: bool) -> str:
        cells = "".join(of(*cell, is_other=is_other) for cell in np.ndindex(4, 70))
        return f"<g shape-rendering='crispEdges'>{cells}</g>"

    text = f"<text y='34' style='font:bold 28px sans-serif;fill:#0002'>{_WORDS}</text>"
    opposite = f"<clipPath id='t'>{text}</clipPath><g clip-path='url(#t)'>{ground(True)}</g>"
    over = {"": "", "opposite": opposite, "pale": text}[words]
    size = "width='840' height='48'"
    drawing = f"<svg xmlns='http://www.w3.org/2000/svg' {size}>{ground(False)}{over}</svg>"
    return f"url(data:image/svg+xml;base64,{base64.b64encode(drawing.encode()).decode()})"


def test_letters_that_are_filled_with_their_ground_are_not_seen(studio: Studio) -> None:
    style = (
        f"background:{_squares()};background-clip:text;-webkit-text-stroke:3px transparent;color:transparent"
    )
    for letters, words, most in (
        (style, "opposite", 0),
        (style, "pale", 2),
        ("color:#fff", "", 7),
        ("color:#000", "", 7),
    ):
        page = show(
            studio,
            f"<div style='font:bold 28px/48px sans-serif;width:840px;background:{_squares(words)}'>"
            f"<span style='display:block;{letters}'>{_WORDS}</span></div>",
        )
        kept = str(domsieve.clean(page, method="none", hidden="pixels").text).split()
        assert len(kept) <= most, words
        assert bool(words) or kept == _WORDS.split(), letters


def test_captions_of_pictures_with_many_details_are_seen(studio: Studio) -> None:
    steps = np.random.default_rng(2).normal(0, 9, (100, 300, 3)).cumsum(axis=1) + 128
    file = io.BytesIO()
    Image.fromarray(np.clip(steps, 0, 255).astype(np.uint8)).resize((900, 300)).save(file, "PNG")
    ground = f"url(data:image/png;base64,{base64.b64encode(file.getvalue()).decode()})"
    outlined = f"{_BIG};color:#fff;-webkit-text-stroke:3px #000;paint-order:stroke"
    for style in ("color:#fff", "color:#000", "color:#fff;text-shadow:1px 1px 3px #000", outlined):
        html = f"<div style='background:{ground};height:300px;{style}'>{_WORDS}</div>"
        assert not judged(show(studio, html))[_WORDS]
    html = f"<div style='background:linear-gradient(#000,#222);height:300px;{outlined}'>{_WORDS}</div>"
    assert not judged(show(studio, html))[_WORDS]


@pictured(lambda number: READABLE[number].format(_WORDS))
@pytest.mark.parametrize("number", range(len(READABLE)))
def test_what_can_be_read_in_spite_of_filters_is_seen(ahead: Snapshot, number: int) -> None:
    assert judged(ahead)[_WORDS] == Hiding.NONE


def test_text_in_a_font_of_equal_letters_is_not_seen(studio: Studio) -> None:
    studio.server.pages["/one.ttf"] = lambda handler: send(
        handler, _font_of_one_form(), headers={"Content-Type": "font/ttf"}
    )
    many = Path(mpl.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf").read_bytes()
    studio.server.pages["/many.ttf"] = lambda handler: send(
        handler, many, headers={"Content-Type": "font/ttf"}
    )
    faces = "".join(
        f"@font-face {{ font-family: {name}; src: url(/{name}.ttf) }} .{name} {{ font-family: {name} }}"
        for name in ("one", "many")
    )
    said = judged(
        show(studio, f"<style>{faces}</style><p class=one>{_WORDS}</p><p class=many>many {_WORDS}</p>")
    )
    assert said == {_WORDS: Hiding.UNSEEN, f"many {_WORDS}": Hiding.NONE}


def _font_of_one_form() -> bytes:
    """Return a font that draws all letters alike."""
    return built_font(
        {".notdef": (), "form": ((100, 700), (480, 30))}, {ord("a") + at: "form" for at in range(26)}
    )


def built_font(bars: Mapping[str, Sequence[tuple[int, int]]], characters: Mapping[int, str]) -> bytes:
    """Return a font: of each letter form the right and upper ends of its bars, and the form of each character."""
    builder = FontBuilder(1000)
    builder.setupGlyphOrder([*bars])
    builder.setupCharacterMap(dict(characters))
    outlines = {}
    for name, ends in bars.items():
        pen = TTGlyphPen(None)
        for right, top in ends:
            for step, point in enumerate(((60, 0), (60, top), (right, top), (right, 0))):
                (pen.lineTo if step else pen.moveTo)(point)
            pen.closePath()
        outlines[name] = pen.glyph()
    builder.setupGlyf(outlines)
    builder.setupHorizontalMetrics(dict.fromkeys(outlines, (520, 60)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Drawn", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    file = io.BytesIO()
    builder.save(file)
    return file.getvalue()


_BY_KEYS = (
    "<div style='overflow:auto;height:60px'><a href=#>see</a><div style='height:400px'></div><p>{}</p></div>"
)


@pytest.mark.parametrize("inner", [_BY_KEYS, f'<iframe srcdoc="{_BY_KEYS}"></iframe>'])
def test_what_keys_scroll_to_under_something_clear_is_seen(studio: Studio, inner: str) -> None:
    page = show(studio, f"<div style='position:relative'>{inner.format(_WORDS)}{_CLEAR_LAYER}</div>")
    assert _WORDS in domsieve.clean(page, method="none", hidden="pixels").text


@pictured(lambda number: f"<p>before</p>{BEYOND_REACH[number]}".replace("{}", _WORDS))
@pytest.mark.parametrize("number", range(len(BEYOND_REACH)))
def test_what_nobody_can_scroll_to_is_not_seen(ahead: Snapshot, number: int) -> None:
    said = judged(ahead)
    assert said[_WORDS]
    assert said["before"] == Hiding.NONE


@pictured(lambda number: "<p>before</p>" + "".join(MANY[number]).replace("{}", _WORDS))
@pytest.mark.parametrize("number", range(len(MANY)))
def test_no_number_of_boxes_brings_hidden_text_through(ahead: Snapshot, number: int) -> None:
    said = judged(ahead)
    assert (said["before"], said[_WORDS]) == (Hiding.NONE, Hiding.UNSEEN)


def test_text_is_cut_to_what_is_seen(studio: Studio) -> None:
    begin = (
        "The first line of this text can be read by everybody who opens the page, and it is long enough for"
    )
    end = "a second one that is below the edge of its box, where nobody sees that it goes on and on and on"
    for style in (
        "overflow:hidden;height:20px;line-height:20px;width:640px",
        "overflow:hidden;white-space:nowrap;width:640px",
        "overflow:hidden;white-space:nowrap;width:640px;text-overflow:ellipsis",
    ):
        page = show(studio, f"<p>before</p><div style='{style}'>{begin} {end}</div><p>after</p>")
        result = domsieve.clean(page, method="none", hidden="pixels")
        text = str(result.text)
        assert "who opens the page" in text, style
        assert "that is below the edge of its box" not in text, style
        assert domsieve.clean(page, method="none").text.count("on and on") == 1
        assert result.snapshot is not None


_PALE_AND_DARK = f"<p style='color:#fff'>{_WORDS}</p><p style='color:#000'>dark {_WORDS}</p>"


@pictured(lambda way: PASSED[way].replace("{}", _PALE_AND_DARK))
@pytest.mark.parametrize("way", PASSED)
def test_text_is_seen_on_grounds_that_stay_in_the_window(ahead: Snapshot, way: str) -> None:
    said = sights(ahead)
    assert said[_WORDS] == "seen"
    assert said[f"dark {_WORDS}"] == "unseen"


def test_text_on_a_ground_that_cannot_be_spread_is_unsure(studio: Studio) -> None:
    for style in ("scale: 1 !important", "background-attachment: fixed !important"):
        body = (
            f"<style>canvas {{ {style} }} div {{ background: url({_DARK}) fixed }}</style>"
            + _FILLED.format("fixed", -1)
            + f"<div style='{style};height:2000px'><p style='padding-top:1500px'>{_WORDS}</p></div>"
        )
        assert sights(show(studio, body))[_WORDS] in {"unsure", "unseen"}, style


@pytest.mark.parametrize("way", REVERSED)
def test_what_is_cut_is_not_what_shows_whichever_way_the_letters_go(studio: Studio, way: str) -> None:
    begin = "The first of these words can be read by everybody who opens the page"
    end = "and those at its end are cut off by the edge of the box that they are in"
    page = show(studio, f"<p>before</p>{REVERSED[way].format(f'{begin}, {end}')}<p>after</p>")
    text = str(domsieve.clean(page, method="none", hidden="pixels").text)
    assert "can be read by everybody" in text  # the edge may cut the word before
    assert "off by the edge of" not in text


@pytest.mark.parametrize("reason", HIDDEN, ids=lambda reason: reason.name)
def test_what_layout_finds_is_found(studio: Studio, reason: Hiding) -> None:
    limits = "opacity:.15", "opacity:.3'", "#7f7f7f"  # too close to them for pictures of half the size
    ways = [html for html in HIDDEN[reason] if not any(one in html for one in limits)]
    pages = show_all(studio, (f"<p>before</p>{html.format(_WORDS)}<p>after</p>" for html in ways))
    for html, page in zip(ways, pages, strict=True):
        assert {text for text, hiding in judged(page).items() if hiding} == {_WORDS}, html


def test_what_can_be_seen_is_seen(studio: Studio) -> None:
    others = (
        *("url(x.png)", "/pixel.png"),  # the picture is missing or white, which layout cannot know
        "height:8px;background:#fff",  # the upper half of the letters, which is too close to the limit
    )
    ways = [html for html in SEEN if not any(one in html for one in others)]
    for html, page in zip(ways, show_all(studio, (html.format(_WORDS) for html in ways)), strict=True):
        assert judged(page)[_WORDS] == Hiding.NONE, html


def test_text_that_a_reader_can_bring_in_view_is_seen(studio: Studio) -> None:
    lines = "".join(f"<p>line {number}</p>" for number in range(40))
    deep = (
        "<div style='height:200px;overflow:auto'><div style='height:900px'></div>"
        "<pre style='width:300px;overflow-x:auto'>" + "a wide line of code " * 9 + "</pre><p>deep</p></div>"
    )
    page = show(
        studio,
        "<div style='position:fixed;inset:0;background:#fff'><p>consent</p></div>"
        "<p>under the box</p>"
        "<div style='position:fixed;right:0;bottom:0'><p>corner</p></div>"
        f"<div style='height:90px;overflow-y:scroll'>{lines}</div>"
        f"<div style='height:150px;overflow:auto'>{deep}</div>"
        "<p style='opacity:0;animation:in 1s 3s forwards'>comes later</p>"
        "<style>@keyframes in { to { opacity: 1 } }</style>"
        "<iframe srcdoc='<div style=height:900px></div><p>end of the frame</p>'></iframe>"
        "<div id=host></div><script>host.attachShadow({ mode: 'closed' }).innerHTML = '<p>closed tree</p>'</script>"
        "<div style='height:3000px'></div><p>last</p>"
        "<style>html, body { overflow: hidden; height: 100% }</style>",
    )
    said = sights(page)
    expected = [
        "consent",
        "under the box",
        "corner",
        "deep",
        "comes later",
        "end of the frame",
        "closed tree",
        "last",
    ]
    expected += [f"line {number}" for number in range(40)]
    assert {text: said[text] for text in expected} == dict.fromkeys(expected, "seen")


def test_a_ground_that_stays_behind_the_page_is_left(studio: Studio) -> None:
    ground = "<div style='position:fixed;inset:0;z-index:-1;background:#024'></div>"
    ground += "<math style='position:fixed;right:0;bottom:0'><mi>x</mi></math>"
    ground += "<style>body::before{content:'';position:fixed;left:0;bottom:0}</style>"
    assert sights(show(studio, f"{ground}<p style='color:#fff'>{_WORDS}</p>"))[_WORDS] == "seen"


def test_hidden_text_in_what_scrolls_or_stays_is_not_seen(studio: Studio) -> None:
    white = "<p style='color:#fff'>{}</p>"
    said = sights(
        show(
            studio,
            f"<div style='height:90px;overflow:auto'><div style='height:900px'></div>{white.format('one')}</div>"
            f"<div style='position:fixed;left:0;bottom:0;background:#fff'>{white.format('two')}</div>"
            f'<iframe srcdoc="{white.format("three")}"></iframe>'
            f"<div style='overflow:scroll;width:2px;height:2px'><p>four</p></div>",
        )
    )
    assert said == {"one": "unseen", "two": "unseen", "three": "unseen", "four": "unseen"}


def test_texts_on_top_of_each_other_are_told_apart(studio: Studio) -> None:
    place = "position:absolute;left:20px;top:20px"
    said = sights(
        show(
            studio,
            f"<p style='{place};color:#fff;text-shadow:0 0 2px #fff'>{_WORDS}, with a shadow</p>"
            f"<p style='{place};color:#fff'>{_WORDS}, white</p><p style='{place}'>{_WORDS}, black</p>",
        )
    )
    assert said[f"{_WORDS}, white"] == "unseen"
    assert said[f"{_WORDS}, black"] == "seen"
    assert said[f"{_WORDS}, with a shadow"] == "unseen"


def test_slanted_texts_on_top_of_each_other_are_not_seen(studio: Studio) -> None:
    place = "position:absolute;left:20px;top:60px;margin:0;transform-origin:0 0;transform:rotate(20deg)"
    others = (
        "quebec hammers brown gumbo and more jam",
        "vexing buzzy jumbo hymns or quart bed",
        "zest gowns kayak by wizened old shops",
    )
    heap = "".join(
        f"<p style='{place};color:{colour}'>{words}</p>"
        for words, colour in zip((*others, _WORDS), ("#e00", "#090", "#00e", "#777"), strict=True)
    )
    beside = "<div style='transform:rotate(20deg);margin:300px'><p>one of these</p><p>another one</p></div>"
    kept = domsieve.clean(show(studio, heap + beside), method="none", hidden="pixels").text
    assert not {*_WORDS.split()} & {*kept.split()}
    assert kept.endswith("one of these\nanother one\n")


def test_two_exact_copies_of_a_text_in_one_place_are_seen(studio: Studio) -> None:
    row = "<div style='position:relative;height:40px;font-size:24px'>{}</div>"
    place, gradient = (
        "position:absolute;left:0;top:0",
        "background:linear-gradient(90deg,red,blue);-webkit-background-clip:text;color:transparent",
    )
    copies = "<span style='{}'>{}</span>" * 2
    rows = (
        row.format(copies.format(place, _WORDS, place, _WORDS)),
        row.format(copies.format(f"{place};{gradient}", _WORDS, f"{place};{gradient}", _WORDS)),
        # In the shadow of another line, each has to be looked at alone.
        row.format(f"<span style='{place};top:-20px;filter:blur(8px)'>a glow</span>")
        + row.format(copies.format(place, _WORDS, place, _WORDS)),
        row.format(
            f"<span style='{place};color:#fff'>other things</span>"
            + copies.format(place, _WORDS, place, _WORDS)
        ),
    )
    for html in rows:
        text = domsieve.clean(show(studio, html), method="none", hidden="pixels").text
        assert _WORDS in text, html
        assert "other" not in text, html


@pytest.mark.parametrize("style", ["", "@media (scripting: none) { i { color: red } }"])
def test_the_page_notices_nothing_and_is_restored(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, style: str
) -> None:
    studio.server.pages["/noticed"] = ""
    html = """<div style='position:fixed;top:0'>fixed</div><div id=box style='height:50px;overflow:auto'><p>text</p>
        <div style='height:500px'></div><p>far below</p></div><style>html { overflow: hidden }</style>
        <p id=late>late</p><script>
        const see = () => [...document.querySelectorAll("*")].map((e) => e.getAttribute("style")).join()
          + document.adoptedStyleSheets.length + CSS.highlights.size + box.scrollTop + scrollY;
        const before = see();
        const tell = (what) => fetch("/noticed?" + what);
        new MutationObserver((all) => tell("mutation-" + all[0].type)).observe(document.documentElement,
          { attributes: true, subtree: true, childList: true, characterData: true });
        new ResizeObserver(() => see() === before || tell("resize")).observe(box);
        box.onscroll = onscroll = () => tell("scroll");
        onresize = () => tell("window");
        onblur = onfocus = document.onfreeze = document.onresume = document.onvisibilitychange = () => tell("state");
        setInterval(() => document.visibilityState === "visible" && document.hasFocus() || tell("unseen"), 5);
        setInterval(() => see() === before || tell("change"), 5);
        </script>"""
    asked: list[str] = []
    monkeypatch.setattr(studio, "see", asked.append)
    page = show(studio, f"<style>{style}</style>{html}", screenshot=True)
    assert sights(page)["far below"] == ("unpictured" if style else "seen")
    # The page lives on while its screenshot is taken, which changes the window.
    assert {url.partition("?")[2] for url in asked if "noticed" in url} <= {"window", "resize"}


def test_text_is_told_from_what_moves(studio: Studio) -> None:
    def flicker(*colours: str) -> str:
        first, *others = (Image.new("RGB", (60, 60), colour) for colour in colours)
        file = io.BytesIO()
        first.save(file, "GIF", save_all=True, append_images=others, duration=30, loop=0)
        address = f"data:image/gif;base64,{base64.b64encode(file.getvalue()).decode()}"
        return f"<img src='{address}' style='position:absolute;left:0;top:0;width:600px;height:60px'>"

    box = "<div style='position:relative;width:600px;height:60px'>{}</div>"
    exactly = flicker("#fff", "#e8e8e8", "#fff", "#f0f0f0").replace("height:60px", "height:1lh")
    assert judged(show(studio, box.format(f"<p style='margin:0'>{_WORDS}</p>{exactly}")))[_WORDS]
    on_top = box.format(
        flicker("#400", "#040", "#004") + f"<p style='position:relative;color:#fff'>{_WORDS}</p>"
    )
    below = box.format(f"<p>below</p>{flicker('#fff', '#000', '#f00', '#0f0')}")
    # Its ground is another one in each picture, so that its letters may be in doubt, and with them all of the page.
    assert sights(show(studio, on_top))[_WORDS] in {"seen", "unpictured"}
    said = sights(show(studio, f"{below}<p>still</p>"))
    assert said["still"] == "seen"
    assert said["below"] in {"unsure", "unseen"}


def test_where_pictures_fail_layout_decides_and_the_page_says_so(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(*_: Any, **__: Any) -> None:
        await asyncio.sleep(0)
        raise TimeoutError

    monkeypatch.setattr(looking._Page, "look", late)
    page = show(studio, f"<p>{_WORDS}</p><p style='color:#fff'>white</p>")
    assert [reason[:37] for reason in page.provenance.reasons] == ["capture: pixels: unsure, no pictures "]
    assert judged(page) == {_WORDS: Hiding.NONE, "white": Hiding.SAME_COLOUR}
    result = domsieve.clean(page, method="none", hidden="pixels")
    assert (result.text, result.unsure_texts, result.complete) == (_WORDS + "\n", 2, False)
    assert domsieve.clean(page, method="none").unsure_texts == 0


def test_nothing_is_seen_for_sure_where_the_end_of_the_page_was_cut_off(studio: Studio) -> None:
    box = f"<div style='position:relative'>{{}}<canvas style='{_LAYER};background:#fff'></canvas></div>"
    html = f"<p>{_WORDS}</p>{box.format('<p>covered</p>')}" + box.format("<p>late</p>" + "<!---->" * 1000)
    page = studio.show(f"<!doctype html><body>{html}", _OPTIONS, replace(BUDGET, nodes=1000)).snapshot
    assert [reason[:5] for reason in page.provenance.reasons] == ["nodes"]
    assert sights(page) == {_WORDS: "unpictured", "covered": "unseen", "late": "unsure"}
    result = domsieve.clean(page, method="none", hidden="pixels")
    assert (result.text, result.unsure_texts) == (f"{_WORDS}\n", 2)


def test_what_was_looked_at_counts_if_the_time_ends_before(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(*_: Any, **__: Any) -> None:
        raise TimeoutError

    monkeypatch.setattr(looking._Page, "scroll", late)
    cover = "<canvas style='position:absolute;inset:0;width:100%;height:100%'></canvas><script>{"
    cover += "const c = document.querySelector('canvas').getContext('2d'); c.fillStyle = '#fff'; "
    cover += "c.fillRect(0, 0, 900, 900) }</script>"
    html = f"<p>{_WORDS}</p><div style='position:relative'><p>covered</p>{cover}</div>"
    page = show(studio, f"{html}<div style='overflow:auto;height:30px'><p>one<p>two<p>three</div>")
    assert [reason[:37] for reason in page.provenance.reasons] == ["capture: pixels: unsure, no pictures "]
    said = judged(page)
    assert said.pop("covered") == Hiding.UNSEEN
    assert {*said.values()} == {Hiding.NONE}
    assert domsieve.clean(page, method="none", hidden="pixels").unsure_texts == 3


def test_pictures_and_what_follows_take_no_longer_than_is_left(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: Any, **__: Any) -> None:
        await asyncio.Event().wait()

    limits: list[float] = []
    look = looking.look

    async def noted(*values: Any, limit_s: float, **named: Any) -> Any:
        limits.append(limit_s)
        return await look(*values, limit_s=0.2, **named)

    monkeypatch.setattr(looking._Page, "restore", never)
    monkeypatch.setattr(capture, "look", noted)
    page = show(studio, f"<p>{_WORDS}</p>")
    assert judged(page) == {_WORDS: Hiding.NONE}
    assert limits[0] < BUDGET.time.total_seconds()


def test_no_text_of_a_frame_without_scripts_is_lost(studio: Studio) -> None:
    frame = "<iframe sandbox srcdoc='<p>more<noscript>no scripts</noscript>'></iframe>"
    page = show(studio, f"<p>{_WORDS}</p>{frame}")
    assert {judged(page)[one] for one in (_WORDS, "more")} == {Hiding.NONE}
    (reason,) = page.provenance.reasons
    assert reason == "capture: pixels: unsure, the page may show what is for browsers without scripts"


def test_the_capture_is_the_same_but_for_what_pictures_say(studio: Studio) -> None:
    html = (
        "<!doctype html><body><noscript>no scripts</noscript><p>one</p><div style='overflow:auto;height:30px'>"
        "<p>two<p>three</div>"
    )
    plain, pictured = studio.show(html).snapshot, studio.show(html, _OPTIONS).snapshot
    for column in ("parent", "kind", "box", "paint", "attr_start"):
        assert np.array_equal(getattr(plain, column), getattr(pictured, column), equal_nan=column == "box"), (
            column
        )
    nodes = range(len(plain))
    assert [plain.text_of(node) for node in nodes] == [pictured.text_of(node) for node in nodes]
    for node in nodes:
        said = pictured.computed_style(node)
        said.pop(PIXELS, None)
        assert said == plain.computed_style(node)
    assert plain.provenance.options == {
        name: value for name, value in pictured.provenance.options.items() if name != PIXELS
    }
