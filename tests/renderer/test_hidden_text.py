"""What a person cannot see of a page in Chrome is found, with the reason, and what can be seen is left alone."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from domsieve.analysis.columns.hiding import Hiding, hidden_texts
from domsieve.snapshot.page import Kind, Snapshot
from tests.renderer.bad_server import DOT, send
from tests.renderer.conftest import Studio

pytestmark = pytest.mark.browser

_LAYER = "position:absolute;left:0;top:0;width:100%;height:100%"
# A head that cuts, and a body beside it that scrolls; a script moves the head along with it.
_HEAD = (
    "<div style='width:500px'><div style='overflow:hidden'><table style='width:900px;table-layout:fixed'><tr><th>one"
    "<th>two<th>{}</table></div><div style='overflow:auto'><table style='width:900px;table-layout:fixed'>"
)
HIDDEN = {
    Hiding.NO_BOX: [
        "<p style='display:none'>{}</p>",
        "<details><summary>-</summary><p>{}</p></details>",
        "<p hidden>{}</p>",
        "<div style='content-visibility:hidden'><p>{}</p></div>",
    ],
    Hiding.INVISIBLE: [
        "<p style='visibility:hidden'>{}</p>",
        "<svg><defs><text y=20>{}</text></defs></svg>",
        "<object style='visibility:hidden' data='data:text/html,<p style=\"visibility:visible\">{}</p>'></object>",
    ],
    Hiding.NO_SIZE: [
        "<p style='font-size:0'>{}</p>",
        "<p style='font-size:1px'>{}</p>",
        "<p style='letter-spacing:-1em'>{}</p>",
        "<p style='transform:skew(90deg)'>{}</p>",
    ],
    Hiding.TRANSPARENT: [
        "<div style='opacity:0'><p>{}</p></div>",
        "<p style='color:rgba(0,0,0,0)'>{}</p>",
        "<p style='color:transparent'>{}</p>",
        "<div style='opacity:.15'><div style='opacity:.2'>{}</div></div>",
        "<p style='-webkit-text-fill-color:transparent'>{}</p>",
        "<p style='filter:opacity(0)'>{}</p>",
        "<div style='filter:opacity(1%)'><p>{}</p></div>",
        "<div style='opacity:.3'><p style='color:rgba(0,0,0,.09)'>{}</p></div>",
        "<svg><text y=20 fill=none>{}</text></svg>",
        "<svg><text y=20 fill-opacity=0>{}</text></svg>",
    ],
    Hiding.CLIPPED: [
        _HEAD + "<tr><td>1<td>2</table></div></div>",
        "<div style='overflow:hidden;height:0'><p>{}</p></div>",
        # Boxes that scroll, but show no whole letter.
        "<div style='font-size:1px;width:3px;height:40px;overflow:auto;white-space:nowrap'>"
        "<p style='font-size:16px'>{}</p></div>",
        "<div style='font-size:1px;width:90px;height:5px;overflow:auto'>"
        "<p style='font-size:16px;margin:0'>{}</p></div>",
        "<div style='overflow:clip;width:0;height:20px'><p>{}</p></div>",
        "<span style='position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)'>{}</span>",
        "<p style='clip-path:inset(50%)'>{}</p>",
        "<p style='clip-path:circle(0)'>{}</p>",
        "<div style='overflow:hidden;height:20px;width:200px;text-indent:300px;white-space:nowrap'>{}</div>",
        "<div style='position:relative;overflow:hidden;height:20px'>"
        "<p style='position:absolute;top:40px'>{}</p></div>",
        "<div style='overflow:hidden;height:0'><div style='overflow:auto;height:50px'>{}</div></div>",
        "<p style='clip-path:polygon(0 0,0 0,0 0)'>{}</p>",
        "<p style='clip-path:polygon(0 0,1px 0,0 1px)'>{}</p>",
        "<p style='clip-path:inset(0 0 9999px 0)'>{}</p>",
        "<p style='clip-path:inset(0 100% 0 0)'>{}</p>",
        "<p style='clip-path:rect(0 0 0 0)'>{}</p>",
        "<p style='clip-path:xywh(0 0 0 0)'>{}</p>",
        "<p style=\"clip-path:path('M0 0')\">{}</p>",
        "<p style='clip-path:circle(10px at -500px -500px)'>{}</p>",
        "<svg width=0 height=0><clipPath id=c></clipPath></svg><p style='clip-path:url(#c)'>{}</p>",
        "<p style='height:2px;overflow:hidden'>{}</p>",
        "<p style='height:2px;overflow:auto'>{}</p>",
        # No reader can scroll these.
        "<div style='height:40px;overflow:auto;pointer-events:none'><p>-</p><p style='margin-top:300px'>{}</p></div>",
        "<iframe width=300 height=60 style='pointer-events:none'"
        " srcdoc='<div style=height:300px></div><p>{}</p>'></iframe>",
        "<div inert><div style='height:40px;overflow:auto'><p>-</p><p style='margin-top:300px'>{}</p></div></div>",
        "<div style='width:3px;height:3px;overflow:scroll'><p>{}</p></div>",
        "<p style='height:0;contain:paint'>{}</p>",
        "<p style='height:0;contain:strict'>{}</p>",
        "<p style='transform:rotateY(180deg);backface-visibility:hidden'>{}</p>",
        "<p style='mask-image:linear-gradient(transparent,transparent)'>{}</p>",
        "<p style='-webkit-mask:linear-gradient(transparent,transparent)'>{}</p>",
        "<p style='mask:linear-gradient(#000,#000) no-repeat;mask-size:0 0'>{}</p>",
        "<div style='mask-image:linear-gradient(transparent,transparent)'><p>{}</p></div>",
        "<svg><mask id=m></mask><text mask='url(#m)' y=20>{}</text></svg>",
        "<div style='line-height:0'><p style='mask:linear-gradient(#000,#000)'>{}</p></div>",
    ],
    Hiding.OFF_SCREEN: [
        "<p style='position:absolute;left:-9999px'>{}</p>",
        "<p style='position:absolute;top:-500px'>{}</p>",
        "<p style='text-indent:-9999px'>{}</p>",
        "<p style='position:fixed;left:5000px;top:0'>{}</p>",
        "<div style='position:fixed;top:3000px'><p>{}</p></div>",
    ],
    Hiding.SAME_COLOUR: [
        "<p style='color:white'>{}</p>",
        "<div style='background:#222'><p style='color:#232323'>{}</p></div>",
        "<div style='background:#000'><p style='color:#000026'>{}</p></div>",
        "<p style='color:#ffffe0'>{}</p>",
        "<p style='color:#f2ffff'>{}</p>",
        "<div style='background:url(x.png)'><div style='background:#fff'><b style='color:#fff'>{}</b></div></div>",
        "<p style='-webkit-text-fill-color:white'>{}</p>",
        "<p style='color:color(srgb 1 1 1)'>{}</p>",
        "<p style='color:oklch(1 0 0)'>{}</p>",
        "<p style='color:lab(100 0 0)'>{}</p>",
        "<p style='color:color-mix(in srgb,white,white)'>{}</p>",
        "<p style='background:linear-gradient(#fff,#fff);color:#fff'>{}</p>",
        "<p style='background:rgba(255,255,255,.99);color:#fff'>{}</p>",
        "<p style='background:#fff;background-clip:text;color:transparent'>{}</p>",
        "<p style='background:linear-gradient(#fff,#fff);background-clip:text;color:transparent'>{}</p>",
        "<p style='filter:brightness(100) invert(1)'>{}</p>",
        "<p style='filter:brightness(0);background:#000'>{}</p>",
        "<div style='background:#fff'><p style='mix-blend-mode:screen'>{}</p></div>",
        "<div style='background:#fff'><p style='mix-blend-mode:lighten'>{}</p></div>",
        "<div style='background:#000'><p style='mix-blend-mode:multiply;text-shadow:0 0 2px #fff'>{}</p></div>",
        f"<div style='position:relative;height:60px;background:#000'><div style='{_LAYER};background:#eef'></div>"
        "<div style='mix-blend-mode:screen'><p>{}</p></div></div>",
        "<div style='background:#000'><p style='transform:translateY(-4px)'>{}</p></div>",
        "<svg><text y=20 fill=white>{}</text></svg>",
        "<div style='position:relative'>"
        "<img src='/pixel.png' style='position:absolute;width:300px;height:40px;opacity:0'>"
        "<p style='color:#fff;position:relative'>{}</p></div>",
        "<div style='background:#777'><p style='color:#7f7f7f'>{}</p></div>",
        "<div style='filter:drop-shadow(0 0 2px #00f)'><p style='background:#000'>{}</p></div>",
    ],
    Hiding.COVERED: [
        "<div style='position:relative;overflow:hidden'><p>{}</p><div style='position:absolute;left:-50px;top:0;"
        "width:9px;height:9px;box-shadow:0 0 0 999px #fff'></div></div>",
        f"<div style='position:relative'><p>{{}}</p><div style='{_LAYER};background:#eee'></div></div>",
        f"<div style='position:relative'><p>{{}}</p><img src='/pixel.png' style='{_LAYER};background:#eee'>"
        "</div>",
        "<div style='position:relative;height:30px;background:#ffe'>"
        "<p style='position:relative;z-index:-1'>{}</p></div>",
        f"<div style='position:relative'><p>{{}}</p>"
        f"<div style='{_LAYER};background:linear-gradient(#fff,#eee)'></div></div>",
        "<div style='position:relative;height:30px;overflow:hidden'><p style='margin:0'>{}</p>"
        "<div style='position:absolute;left:0;top:0;border:600px solid #fff'></div></div>",
        "<div style='position:relative'><p style='margin-left:-30px'>{}</p>"
        "<div style='position:absolute;inset:0 0 0 -8px;background:#eee'></div></div>",
        "<div style='position:relative;z-index:0'><p>{}</p>"
        f"<div style='{_LAYER};background:#eef;mix-blend-mode:lighten'></div></div>",
    ],
    Hiding.UNREADABLE: [
        *(
            f"<p style='font-size:2px;will-change:{one};scale:8;transform-origin:0 0'>{{}}</p>"
            for one in ("rotate", "translate", "scale", "perspective")
        ),
        "<p style='font-size:2px;will-change:transform;transform:scale(8);transform-origin:0 0'>{}</p>",
        "<p style='font-size:2px'>{}</p>",
        "<p style='filter:blur(40px)'>{}</p>",
        "<p style='line-height:0;width:.8em;word-break:break-all'>{}</p>",
        "<p style='letter-spacing:9999px'>{}</p>",
        "<div style='zoom:1.2'><p style='zoom:.1'>{}</p></div>",
    ],
}
SEEN = [
    _HEAD + "<tr><td>1<td>2<td>3</table></div></div>",
    "<p style='mix-blend-mode:screen'>{}</p>",
    "<div style='background:#fff'><div style='transform-style:preserve-3d'>"
    "<p style='mix-blend-mode:screen'>{}</p></div></div>",
    "<div style='text-decoration:line-through #fff 60px'><svg><text y=20>{}</text></svg></div>",
    "<p style='color:#fff;background:#000;background-clip:text'>{}</p>",
    "<div style='filter:drop-shadow(0 0 2px #00f)'><p style='background:#0008;color:#000'>{}</p></div>",
    "<div style='position:relative;background:#000'><div style='position:absolute;top:0;width:100%;height:8px;"
    "background:#fff'></div><p style='position:relative;margin:0'>{}</p></div>",
    "<div style='position:relative'><p>{}</p>"
    f"<div style='{_LAYER};background:#eef;mix-blend-mode:darken'></div></div>",
    "<b style='transform:scale(0)'>{}</b>",
    f"<div style='position:relative;z-index:0'><div style='{_LAYER};background:#003;z-index:-1'></div>"
    "<p style='color:#fff'>{}</p></div>",
    "<style>.a{{position:relative;isolation:isolate}}.a::before{{content:'';position:absolute;inset:0;z-index:-1;"
    "background:#000}}</style><p class=a style='color:#fff'>{}</p>",
    "<p style='content-visibility:auto;margin-top:9000px'>{}</p>",
    "<p style='color:#fff;text-shadow:0 0 1px #000'>{}</p>",
    "<p style='color:transparent;text-shadow:0 0 0 #000'>{}</p>",
    "<p style='color:transparent;-webkit-text-fill-color:#000'>{}</p>",
    "<p style='color:#fff;-webkit-text-stroke:1px #000'>{}</p>",
    "<div style='color:#fff'><svg><text y=20 fill=black>{}</text></svg></div>",
    "<svg><text y=20 fill=none stroke=black>{}</text></svg>",
    "<p style='font-size:1px;zoom:16'>{}</p>",
    "<p style='font-size:1px;transform:scale(14);transform-origin:0 0'>{}</p>",
    "<p style='font-size:7px;will-change:transform;transform:scale(2);transform-origin:0 0'>{}</p>",
    "<p style='line-height:0'>{}</p>",
    "<p style='background:linear-gradient(#000,#000) 0 100%/100% 1px no-repeat'>{}</p>",
    "<div style='filter:invert(1);background:#fff'><p>{}</p></div>",
    "<p style='filter:grayscale(1);color:#800'>{}</p>",
    "<p style='color:oklch(.6 .2 30)'>{}</p>",
    "<p style='mask-image:linear-gradient(#000,transparent)'>{}</p>",
    "<p style='transform:scaleX(-1)'>{}</p>",
    "<p style='position:fixed;bottom:0'>{}</p>",
    "<div style='position:fixed;top:0;bottom:0;overflow:auto'><p style='margin-top:3000px'>{}</p></div>",
    "<p style='opacity:.1'>{}</p>",
    "<p>{}</p>",
    "<p style='color:#eee'>{}</p>",
    "<div style='background:#000'><p style='color:#00e'>{}</p></div>",
    "<div style='background:#000080'><p style='color:#00e'>{}</p></div>",
    "<div style='background:#400'><p style='color:#f00'>{}</p></div>",
    "<p style='color:#ffffc0'>{}</p>",
    "<p style='opacity:.5'>{}</p>",
    "<div style='overflow:hidden;height:20px'>{}</div>",
    "<div style='overflow:auto;height:20px'><p style='margin-top:300px'>{}</p></div>",
    "<div style='overflow:hidden;height:60px'><div style='overflow:scroll;height:50px'><p style='margin-top:99px'>{}"
    "</p></div></div>",
    "<div style='height:10px;overflow:hidden'><p style='position:absolute;top:200px'>{}</p></div>",
    "<p style='position:absolute;top:9000px'>{}</p>",
    "<div style='background:#000'><p style='color:#fff'>{}</p></div>",
    "<div style='background:url(/pixel.png)'><p style='color:#fff'>{}</p></div>",
    "<div style='background:linear-gradient(#000,#222)'><p style='color:#fff'>{}</p></div>",
    "<div style='position:relative'><img src='/pixel.png' style='width:300px;height:60px'>"
    "<p style='position:absolute;top:0;color:#fff'>{}</p></div>",
    f"<div style='position:relative'><div style='{_LAYER};background:#123'></div>"
    "<p style='position:relative;color:#fff'>{}</p></div>",
    "<p style='background:linear-gradient(red,blue);background-clip:text;color:transparent'>{}</p>",
    f"<div style='position:relative'><p>{{}}</p><div style='{_LAYER};background:#eee8'></div></div>",
    "<div style='visibility:hidden'><p style='visibility:visible'>{}</p></div>",
    "<div style='display:contents'><p>{}</p></div>",
    "<p style='clip-path:inset(10% 0)'>{}</p>",
    "<p style='clip:rect(0,0,0,0)'>{}</p>",
    "<div style='position:relative'><p>{}</p>"
    "<div style='position:fixed;inset:0;background:#eee;opacity:1'></div></div>",
    "<details open><summary>-</summary><p>{}</p></details>",
    "<header style='position:sticky;top:0;background:#fff'>menu</header><p>{}</p><div style='height:3000px'></div>",
    "<div style='height:100px'><header style='position:fixed;top:0;width:100%;height:90px;background:#fff'>menu"
    "</header><p>{}</p></div>",
    "<div style='background:#111'><img src='/pixel.png' style='position:absolute;width:300px;height:90px'>"
    "<p style='position:absolute;color:#111'>{}</p></div>",
    f"<div style='position:relative'><p>{{}}</p><img alt='view' src='/missing.png' style='{_LAYER}'></div>",
    "<button>{}</button>",
    "<table><tr><td>{}</td></tr></table>",
]
_NESTED = "text-decoration:underline {} #000;text-underline-offset:{}px;text-decoration-skip-ink:none"
_BEHIND = "position:absolute;z-index:-1;left:0;top:{}px;width:600px;{}"


def _nested(width: str, offsets: Sequence[int]) -> str:
    """Return a text in so many underlines, one in the other."""
    return (
        "".join(f"<u style='{_NESTED.format(width, at)}'>" for at in offsets) + "{}" + "</u>" * len(offsets)
    )


def _behind(style: str, tops: Iterable[int], *, text: str = "") -> str:
    """Return a text on so many boxes of a style."""
    boxes = "".join(f"<div style='{_BEHIND.format(at, style)}'></div>" for at in tops)
    return f"<div style='position:relative;z-index:0;font-size:16px'>{boxes}<p style='margin:0;{text}'>{{}}</p></div>"


_BAR = "text-decoration:underline 1.5em;text-underline-offset:-1.1em;text-decoration-skip-ink:none"
# What hides more than one text of a page, or can only be told from properties of the whole page, is alone in it.
_CUT_PAST = (
    "<div style='height:2000px'></div><div style='height:400px;clip-path:polygon({})'>"
    "<div style='position:fixed;bottom:0;height:400px;width:100%;background:#def'><p>{{}}</p></div></div>"
)
WAYS = {
    Hiding.TRANSPARENT: [
        "<style>.a::first-line{{color:transparent}}</style><p class=a>{}</p>",
        "<style>.a::first-line{{background:#000}}</style><p class=a>{}</p>",
        "<p style='filter:hue-rotate(0deg) opacity(0)'>{}</p>",
        "<p style='filter:opacity(0) hue-rotate(90deg)'>{}</p>",
        "<svg><text y=20 fill=none stroke=#000 stroke-opacity=0>{}</text></svg>",
        "<svg><text y=20 fill=none stroke=#000 stroke-width=0>{}</text></svg>",
        "<svg><text y=20 fill='url(#nope)'>{}</text></svg>",
        "<svg><linearGradient id=g><stop stop-opacity=0 /><stop offset=1 stop-color='#0000' /></linearGradient>"
        "<text y=20 fill='url(#g)'>{}</text></svg>",
        "<svg><radialGradient id=g><stop style='stop-opacity:0%' /></radialGradient><linearGradient id=h href=#g />"
        "<text y=20 fill='url(#h)'>{}</text></svg>",
        "<p style='color:transparent;text-shadow:0 0 40px #000'>{}</p>",
    ],
    Hiding.SAME_COLOUR: [
        "<div style='position:fixed;inset:0 0 auto;height:90px;z-index:-1;background:#000'></div>"
        "<div style='height:1500px'></div><p style='color:#fff'>{}</p>",
        "<div style='position:fixed;inset:0;z-index:-1;background:#fff'></div><div style='height:1500px'></div>"
        "<p style='color:#fff'>{}</p>",
        "<div style='position:fixed;inset:0;z-index:-1;background:#000'></div><div style='height:1500px'></div>"
        "<p style='color:#fff;background:#fff'>{}</p>",
        "<div><div style='position:sticky;top:0;height:100vh;background:#000'></div></div>"
        "<div style='height:1500px'></div><p style='color:#fff'>{}</p>",
        "<div style='height:100vh;overflow:auto'><div style='position:sticky;top:0;height:100vh;background:#000'>"
        "</div><div style='height:1500px'></div></div><p style='color:#fff'>{}</p>",
        "<style>.a::first-line{{color:#fff}}</style><p class=a>{}</p>",
        "<style>.a{{color:#fff;display:table}}.a::first-line{{color:#000}}</style><p class=a>{}</p>",
        "<style>.a{{color:#fff;display:flex}}.a::first-line{{color:#000}}</style><p class=a>{}</p>",
        "<style>.a{{background:contrast-color(currentcolor)}}.a::first-line{{color:#fff}}</style><p class=a>{}</p>",
        "<p style='color:color(rec2020 1 1 1)'>{}</p>",
        "<p style='color:color(a98-rgb 1 1 1)'>{}</p>",
        "<p style='color:color(prophoto-rgb 1 1 1)'>{}</p>",
        "<p style='color:color(display-p3-linear 1 1 1)'>{}</p>",
        "<p style='color:#fff;filter:hue-rotate(90deg)'>{}</p>",
        "<p style='color:#fff;filter:drop-shadow(0 0 1px #fff)'>{}</p>",
        "<div style='background:#000'><p style='mix-blend-mode:overlay;color:#fff'>{}</p></div>",
        "<div style='background:#fff'><p style='mix-blend-mode:overlay;color:#000'>{}</p></div>",
        "<div style='background:#000'><p style='mix-blend-mode:color-dodge;color:#fff'>{}</p></div>",
        "<div style='background:#888'><p style='mix-blend-mode:color-dodge;color:#000'>{}</p></div>",
        "<div style='background:#888'><p style='mix-blend-mode:color-burn;color:#fff'>{}</p></div>",
        "<div style='background:#fff'><p style='mix-blend-mode:hue;color:#000'>{}</p></div>",
        "<div style='background:#fff'><p style='mix-blend-mode:hue;color:#888'>{}</p></div>",
        "<div style='background:#fff'><p style='mix-blend-mode:saturation;color:#f00'>{}</p></div>",
        "<div style='background:#fff'><p style='mix-blend-mode:color;color:#f00'>{}</p></div>",
        "<div style='background:#fff'><p style='mix-blend-mode:difference;color:#000'>{}</p></div>",
        "<div style='background:#888'><p style='mix-blend-mode:exclusion;color:#000'>{}</p></div>",
        "<div style='background:#c44'><p style='mix-blend-mode:hard-light;color:#808080'>{}</p></div>",
        "<div style='background:#888'><p style='mix-blend-mode:soft-light;color:#808080'>{}</p></div>",
        "<div style='background:#fff'><p style='mix-blend-mode:plus-lighter;color:#000'>{}</p></div>",
        "<div style='background:#fff'><p style='mix-blend-mode:color-burn;color:#000'>{}</p></div>",
        "<div style='background:#888'><p style='mix-blend-mode:multiply;color:#fff'>{}</p></div>",
        "<div style='background:#888'><p style='mix-blend-mode:color;color:#888'>{}</p></div>",
        "<p style='-webkit-text-stroke:20px #fff'>{}</p>",
        "<svg><text y=20 stroke=#fff stroke-width=20>{}</text></svg>",
        "<p style='background:linear-gradient(#000,#000) no-repeat 0 -9999px;color:#fff'>{}</p>",
        "<p style='background:linear-gradient(#000,#000) no-repeat 0 0/0 0;color:#fff'>{}</p>",
        "<p style='background:linear-gradient(#000,#000) no-repeat 100% 0/10px 10px;color:#fff'>{}</p>",
        "<p style='background:url(/pixel.png) no-repeat -9999px 0/10px 10px;color:#fff'>{}</p>",
        "<p style='background:#000;background-clip:content-box;padding:0;color:#fff;height:0'>{}</p>",
        "<div style='background:#000;height:0'><p style='color:#fff;margin:0'>{}</p></div>",
        "<div style='background:#000;height:9px;width:9px'><p style='color:#fff;margin:0;white-space:nowr"
        "ap'>{}</p></div>",
        "<div style='position:fixed;top:0;left:0;width:600px;height:100px;background:#fff'><p style='colo"
        "r:#fff'>{}</p></div>",
        "<table style='empty-cells:hide;border-collapse:separate'><tr><td style='background:#000;position"
        ":relative;width:600px;height:30px'><p style='position:absolute;color:#fff;margin:0;top:0'>{}</p>"
        "</td></tr></table>",
        "<style>html{{color-scheme:dark}}</style><p style='color:#121212'>{}</p>",
        "<meta name=color-scheme content='only dark'><p style='color:#121212'>{}</p>",
        "<meta name=color-scheme content='dark light'><p style='color:#fff'>{}</p>",
        "<iframe srcdoc='<meta name=color-scheme content=dark>'></iframe><p style='color:#fff'>{}</p>",
        "<style>html{{background:#000}}</style><p style='color:#000'>{}</p>",
        "<style>body{{background:#000;color:#fff;height:50px}}</style><p style='color:#000;position:absol"
        "ute;top:500px'>{}</p>",
        "<svg width=600 height=40><rect width=600 height=40 fill='#123'/><text y=20 fill='#123'>{}</text>"
        "</svg>",
        "<svg><linearGradient id=g><stop stop-color=white /><stop offset=1 stop-color=#fefefe /></linearGradient>"
        "<text y=20 fill='url(#g)'>{}</text></svg>",
        "<p style='background:linear-gradient(#fff,#fefefe);color:#fff'>{}</p>",
        "<p style='background:conic-gradient(#fff,#fff);color:#fff'>{}</p>",
        "<p style='background:repeating-linear-gradient(#fff,#fff 5px);color:#fff'>{}</p>",
        "<p style='background:linear-gradient(#fff,#fff),url(/pixel.png);color:#fff'>{}</p>",
        "<p style='background:linear-gradient(color-mix(in oklab,#fff,#fff),white);color:#fff'>{}</p>",
        "<p style='background:#fff linear-gradient(#000,#000);background-blend-mode:screen;color:#fff'>{}"
        "</p>",
        "<p style='background:image-set(linear-gradient(#fff,#fff) 1x);color:#fff'>{}</p>",
        "<p style='color:#fff;text-shadow:-9999px 0 #000'>{}</p>",
        "<p style='color:#fff;text-shadow:0 0 400px #000'>{}</p>",
        "<style>@keyframes z{{from{{color:#fff}}to{{color:#fff}}</style><p style='animation:z 1s infinite"
        "'>{}</p>",
        "<p style='background:linear-gradient(#fff,#f1f1f1);color:#f8f8f8'>{}</p>",
        "<p style='background:linear-gradient(rgba(255,255,255,.2),transparent 90%,#fff);color:#fff'>{}</p>",
        "<style>body{{background:linear-gradient(#fff,#f1f1f1);color:#f8f8f8}}</style><p>{}</p>",
        "<p style='background:#fff;background-clip:content-box;padding:30px;color:#fff'>{}</p>",
        "<div style='background:#000;background-clip:padding-box;border-left:300px solid transparent'>"
        "<p style='margin-left:-290px;color:#fff;width:200px'>{}</p></div>",
    ],
    Hiding.NO_SIZE: [
        "<style>.a::first-line{{font-size:1px}}</style><p class=a>{}</p>",
        "<p style='rotate:y 90deg'>{}</p>",
        "<p style='scale:.01'>{}</p>",
        "<b style='display:inline-block;transform:scale(.02)'>{}</b>",
        "<p style='transform:rotateX(88deg)'>{}</p>",
    ],
    Hiding.COVERED: [
        "<div style='position:relative'><p>{}</p><script type=text/plain "
        f"style='display:block;{_LAYER};height:auto;background:#fff'>roses and lilies</script></div>",
        "<div style='position:relative'><p>{}</p><b style='content-visibility:hidden'><script type=text/plain "
        f"style='display:block;{_LAYER};height:auto;background:#fff'>roses and lilies</script></b></div>",
        f"<div style='position:relative'><p>{{}}</p><details style='{_LAYER}'><b></b><summary style='display:block;"
        "background:#fff'><script type=text/plain style='display:block'>roses</script></summary></details></div>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
        "ight:100%;background:rgba(255,255,255,.99)'></div></div>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
        "ight:100%;background:rgba(255,255,255,.9)'></div><div style='position:absolute;left:0;top:0;widt"
        "h:100%;height:100%;background:rgba(255,255,255,.9)'></div></div>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
        "ight:100%;width:50%;background:#fff'></div><div style='position:absolute;left:0;top:0;width:100%"
        ";height:100%;left:50%;width:50%;background:#fff'></div></div>",
        "<div style='position:relative;height:40px'><p style='margin:0'>{}</p><div style='position:absolu"
        "te;left:0;top:0;width:100%;height:100%;height:10px;background:#fff'></div><div style='position:a"
        "bsolute;left:0;top:0;width:100%;height:100%;top:10px;height:30px;background:#fff'></div></div>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
        "ight:100%;border:40px solid transparent;box-sizing:border-box;border-image:linear-gradient(#fff,"
        "#fff) 1 fill'></div></div>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
        "ight:100%;border-image:linear-gradient(#fff,#fff) 1 fill/100px/0'></div></div>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:200px;top:20px;width:"
        "1px;height:1px;outline:600px solid #fff'></div></div>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
        "ight:100%;outline:300px solid #fff;outline-offset:-300px'></div></div>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
        "ight:100%;box-shadow:inset 0 0 0 1000px #fff'></div></div>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:200px;top:20px;width:"
        "1px;height:1px;box-shadow:0 0 0 600px #fff'></div></div>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:-2000px;top:0;width:1"
        "000px;height:60px;box-shadow:2000px 0 0 0 #fff'></div></div>",
        "<p style='text-decoration:line-through #fff 60px'>{}</p>",
        "<p style='text-decoration:overline line-through 60px'>{}</p>",
        "<p style='text-decoration:line-through 150%'>{}</p>",
        # Several lines of the colour of the letters, each too thin to cover them.
        _nested("3px", (-12, -8, -4)),
        _nested("2px", (-12, -9, -6, -3)),
        _nested("double 1px", (-9, -6, -3, 0)),
        "<s style='text-decoration-thickness:4px'>" + _nested("3px", (-10, -3)) + "</s>",
        _behind("height:3px;background:#000", range(3, 20, 4)),
        _behind("border-top:3px solid #000", range(3, 20, 4)),
        _behind("height:1px;outline:2px solid #000", range(0, 20, 6)),
        _behind("height:1px;border:solid #000;border-width:2px 0", range(0, 20, 6)),
        _behind("height:3px;background:#000;z-index:1", range(3, 20, 4)),
        _behind("height:3px;background:#a00", range(3, 20, 4), text="color:#a00"),
        f"<p style='{_BAR}'>{{}}</p>",
        f"<div style='{_BAR};text-decoration-color:oklch(0 0 0)'><b style='color:#000'>{{}}</b></div>",
        "<div style='text-decoration:line-through #fff 60px'><p>{}</p></div>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
        "ight:100%;backdrop-filter:blur(30px)'></div></div>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
        "ight:100%;backdrop-filter:contrast(0)'></div></div>",
        "<div style='position:fixed;top:0;left:0;width:600px;height:100px'><p>{}</p><div style='position:"
        "absolute;left:0;top:0;width:100%;height:100%;background:#eee'></div></div>",
        "<div style='position:relative'><p>{}</p><svg style='position:absolute;left:0;top:0;width:100%;he"
        "ight:100%'><rect width='100%' height='100%' fill='#eee'/></svg></div>",
        "<svg width=600 height=40><text y=20>{}</text><rect width=600 height=40 fill='#fff'/></svg>",
        "<svg width=600 height=40><text y=20>{}</text><line y1=15 x2=600 y2=15 stroke=#fff stroke-width=40 /></svg>",
        f"<div style='position:relative'><p>{{}}</p><iframe style='{_LAYER};border:0' "
        "srcdoc=\"<body style='background:#fff'>\"></iframe></div>",
        "<svg width=600 height=40><linearGradient id=g><stop stop-color=#fff /></linearGradient><text y=20>{}</text>"
        "<rect width=600 height=40 fill='url(#g)'/></svg>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
        "ight:100%;background:#fff;border-radius:3px'></div></div>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
        "ight:100%;background:#fff;visibility:hidden'><i style='visibility:visible;display:block;backgrou"
        "nd:#fff;height:100%'></i></div></div>",
        "<style>.m{{list-style:none}}.m::before{{content:'';position:absolute;inset:0;background:#fff}}</"
        "style><ul style='position:relative'><li class=m>{}</ul>",
        "<style>.q{{position:relative}}.q::after{{content:'';position:absolute;inset:0;background:#fff}}<"
        "/style><p class=q>{}</p>",
        "<p>{}</p><dialog id=d style='width:100vw;height:100vh;max-width:none;max-height:none;inset:0;bac"
        "kground:#fff;border:0'></dialog><script>d.show()</script>",
        "<table style='position:relative'><tr><td>{}<div style='position:absolute;inset:0;background:#fff"
        "'></div></td></tr></table>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
        "ight:100%;background:#fff;mix-blend-mode:lighten'></div></div>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
        "ight:100%;background:#fff;mix-blend-mode:screen'></div></div>",
        "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
        "ight:100%;background:#fff;filter:brightness(1)'></div></div>",
        "<div style='position:relative'><p>{}</p><div style='opacity:.995'><div style='position:absolute;"
        "left:0;top:0;width:100%;height:100%;background:#fff'></div></div></div>",
        "<div style='position:relative;height:30px'><p style='margin:0'>{}</p><p style='margin-top:-20px;"
        "background:#fff;position:relative'>Another line of text that covers it and is long enough for it"
        " all</p></div>",
        "<div style='position:relative;overflow:hidden'><p style='margin:0;width:200px'>{}</p>"
        "<div style='position:absolute;left:0;top:0;border:600px double #fff'></div></div>",
        "<div style='position:relative;overflow:hidden'><p style='margin:0;width:200px'>{}</p>"
        "<div style='position:absolute;left:-500px;top:-500px;border:600px double #fff'></div></div>",
        "<div style='position:relative;overflow:hidden'><p style='margin:0;width:200px'>{}</p>"
        "<div style='position:absolute;left:0;top:0;border:600px ridge #fff'></div></div>",
    ],
    Hiding.CLIPPED: [
        "<ul><li style='content-visibility:auto;height:24px'><p style='margin:60px 0 0'>{}</p></li></ul>",
        "<div style='overflow:hidden;height:1.5em'><script type=text/plain style='display:contents'>roses "
        "and lilies</script><p>{}</p></div>",
        _CUT_PAST.format("0 0,100% 0,0 0"),
        _CUT_PAST.format("0 0,100% 0,100% 2px,0 2px").replace("clip-path", "margin-top:-9px;clip-path"),
        "<p style='mask:linear-gradient(#000,#000) no-repeat 0 -9999px'>{}</p>",
        "<p style='mask:linear-gradient(#000,#000) no-repeat 0 0/2px 2px'>{}</p>",
        "<p style='mask:linear-gradient(#000,#000) luminance'>{}</p>",
        "<p style='mask:linear-gradient(#000,#000),linear-gradient(#000,#000);mask-composite:exclude'>{}</p>",
        "<p style='-webkit-mask-box-image:linear-gradient(transparent,transparent)'>{}</p>",
        "<p style='mask:linear-gradient(transparent,transparent),linear-gradient(transparent,transparent)"
        "'>{}</p>",
        "<svg width=0 height=0><mask id=m><rect width=900 height=900 fill=black /></mask></svg><p style='"
        "mask:url(#m)'>{}</p>",
        "<svg><mask id=m><g></g></mask><text mask='url(#m)' y=20>{}</text></svg>",
        "<p style='clip-path:polygon(0 0,100% 100%,0 0)'>{}</p>",
        "<p style='clip-path:polygon(0 0,100% 100%,99% 100%)'>{}</p>",
        "<p style='clip-path:polygon(evenodd,0 0,100% 0,100% 100%,0 100%,0 0,0 0,100% 0,100% 100%,0 100%,"
        "0 0)'>{}</p>",
        "<p style='clip-path:path(\"M0 0H900Z\")'>{}</p>",
        "<p style='clip-path:path(\"M0 0L1 1L2 2Z\")'>{}</p>",
        "<p style='clip-path:path(\"M-90 -90h50v50h-50Z\")'>{}</p>",
        "<p style='clip-path:path(\"M0 0h1v1h-1z\")'>{}</p>",
        "<p style='clip-path:inset(calc(50% - 0px))'>{}</p>",
        "<p style='clip-path:inset(calc(100% - 1px) 0 0 0)'>{}</p>",
        "<p style='clip-path:circle(calc(1px + 0%))'>{}</p>",
        "<p style='clip-path:inset(max(50%,10px))'>{}</p>",
        "<p style='position:absolute;clip:rect(calc(1px*0),0,0,0)'>{}</p>",
        "<p style='position:absolute;clip:rect(-20px,500px,-10px,0)'>{}</p>",
        "<p style='position:absolute;clip:rect(auto,0,auto,auto)'>{}</p>",
        "<p style='position:absolute;clip:rect(900px,auto,auto,auto)'>{}</p>",
        "<p style='clip-path:shape(from 0 0,line to 1px 0,line to 0 1px,close)'>{}</p>",
        "<svg width=0 height=0><clipPath id=c><rect width=0 height=0 /></clipPath></svg><p style='clip-pa"
        "th:url(#c)'>{}</p>",
        "<p style='clip-path:circle(closest-side at 0 0)'>{}</p>",
        "<p style='clip-path:circle(at 0 0)'>{}</p>",
        "<div style='transform-style:preserve-3d;transform:rotateY(180deg)'><p style='backface-visibility"
        ":hidden'>{}</p></div>",
        "<p style='rotate:y 180deg;backface-visibility:hidden'>{}</p>",
        "<div style='perspective:100px'><p style='transform:translateZ(150px)'>{}</p></div>",
        "<p style='transform:perspective(100px) translateZ(150px)'>{}</p>",
        "<svg width=300 height=20 viewBox='0 0 300 20'><text y=90>{}</text></svg>",
    ],
    Hiding.UNREADABLE: [
        "<p style='scale:.02 1'>{}</p>",
        "<div style='width:1px;line-height:60px'><b style='font-size:2px'>{}</b></div>",
        "<p style='-webkit-text-security:disc'>{}</p>",
        "<p style='font-size:4px;font-variant:all-small-caps'>{}</p>",
        "<p style='font-size:4px;color:#ddd'>{}</p>",
        "<p style='font-size:5px;color:#e4e4e4'>{}</p>",
        "<p style='font-size:6px;opacity:.05'>{}</p>",
        "<div style='background:#000'><p style='font-size:10px;scale:.5;color:#171717'>{}</p></div>",
        "<p style='font-size:4px;font-variant:small-caps'>{}</p>",
        "<p style='font-size:4px;text-transform:uppercase;letter-spacing:-.6px'>{}</p>",
        "<p style='transform:scaleX(.03);transform-origin:0 0'>{}</p>",
    ],
    Hiding.OFF_SCREEN: [
        "<div style='container-type:size;height:3000px'><div style='height:2000px'></div><p style='positi"
        "on:fixed;top:1900px'>{}</p></div>",
    ],
}
SEEN_TOO = [
    "<div style='height:40px;overflow:auto;pointer-events:none'><p style='pointer-events:auto'>-</p>"
    "<p style='margin-top:300px'>{}</p></div>",
    "<main inert><div style='overflow:auto;height:40px'>text<div style='height:9em'></div><p>{}</p></div></main>"
    "<dialog id=d>a dialog</dialog><script>d.showModal()</script>",
    "<p style='pointer-events:none'>{}</p>",
    # Triangles and tabs of slanted borders.
    "<div style='position:relative;width:0;height:0;border-top:80px solid #c00;border-right:80px solid transparent'>"
    "<b style='position:absolute;left:2px;top:-75px;color:#fff;font-size:12px'>{}</b></div>",
    "<div style='height:0;width:200px;border-bottom:50px solid #555;border-left:20px solid transparent;color:#fff'>"
    "<p style='margin:0;line-height:50px'>{}</p></div>",
    # A shape that comes to a fixed box when the page is scrolled to its end.
    _CUT_PAST.format("0 0,100% 0,100% 100%,0 100%"),
    # Lines that end beside the letters or have gaps, and frames that are clear, hidden or have a padding there.
    "<svg width=600 height=40><text x=99 y=20>{}</text><line x1=300 y1=9 x2=600 y2=9 stroke=#fff "
    "stroke-width=500 /></svg>",
    "<svg width=600 height=40><text y=20>{}</text><line y1=15 x2=600 y2=15 stroke=#fff stroke-width=40 "
    "stroke-dasharray='1 30' /></svg>",
    f"<div style='position:relative'><p>{{}}</p><iframe style='{_LAYER};visibility:hidden' "
    "srcdoc=\"<body style='background:#fff'>\"></iframe></div>",
    f"<div style='position:relative'><p>{{}}</p><iframe style='{_LAYER};border:0;padding:90px;background:none' "
    "srcdoc=\"<body style='background:#fff'>\"></iframe></div>",
    # What a box scrolls is not over or behind a text that is beside the box.
    "<div style='height:60px;overflow:auto'><div style='height:3000px;background:#fff;position:relative'></div></div>"
    "<p>{}</p>",
    "<iframe style='position:relative;height:60px' srcdoc=\"<html style='background:#fff'><body><div "
    "style='height:3000px'>\"></iframe><p>{}</p>",
    "<div style='background:#123'><div style='height:60px;overflow:auto'><div style='height:3000px;background:#fff;"
    "position:relative'></div></div><p style='position:relative;z-index:1;color:#fff'>{}</p></div>",
    # Shapes of drawings that are only defined, or in groups without display, and the caption of a table.
    "<svg width=800 height=60><defs><clipPath id=c><rect width=800 height=60 /></clipPath></defs>"
    "<text y=30>{}</text></svg>",
    "<svg width=800 height=60><text y=30>{}</text><clipPath id=c><rect width=800 height=60 fill=white />"
    "</clipPath></svg>",
    "<svg width=800 height=60><text y=30>{}</text><g style='display:none'><rect width=800 height=60 fill=white /></g>"
    "</svg>",
    "<body style='background:#036'><table style='background:#fff'><caption style='color:#fff'>{}</caption><td>one",
    "<svg width=900 height=300 viewBox='0 0 9 3'><text x=.1 y=1 font-size=.25>{}</text></svg>",
    # Boxes that a script has scrolled, and one that has snapped.
    "<div id=s style='height:60px;overflow:auto'><p>{}</p><p style='height:900px'>more</p></div>"
    "<script>s.scrollTop = 1e6</script>",
    "<div id=s style='width:300px;overflow:auto;white-space:nowrap'>{} <b style='padding-left:900px'>more</b></div>"
    "<script>s.scrollLeft = 1e6</script>",
    "<style>html {{ overflow: hidden }} body {{ height: 100vh; overflow: auto; scroll-snap-type: y mandatory }} "
    "section {{ height: 100vh; scroll-snap-align: start }}</style><div style='margin-top:-9px'>{}</div>"
    "<section>more</section>",
    "<marquee scrolldelay=9999>{}</marquee>",
    # A page that a script has locked.
    "<style>body {{ position: fixed; top: -500px; width: 100% }}</style><p>{}</p><p style='height:3000px'>more</p>",
    "<p style='background:linear-gradient(#fff,#e8e8e8);color:#fff'>{}</p>",
    "<div style='background:#123'><p style='background:linear-gradient(#fff0,#fff);color:#fff'>{}</p></div>",
    "<p style='background:linear-gradient(in oklch longer hue,#f66,#f66);color:#f66'>{}</p>",
    "<p style='background:#123;background-clip:content-box;padding:30px;color:#fff'>{}</p>",
    "<div style='background:#000;background-clip:padding-box;border-left:300px solid transparent'>"
    "<p style='color:#fff;width:200px'>{}</p></div>",
    "<div style='position:relative'><p style='width:200px'>{}</p><div style='position:absolute;left:0;top:0;"
    "height:60px;background:#eee;background-clip:padding-box;border-left:300px solid transparent'></div></div>",
    "<div style='position:relative;overflow:hidden'><p style='margin:0;width:200px'>{}</p>"
    "<div style='position:absolute;left:-300px;top:-300px;border:600px double #fff'></div></div>",
    "<div style='position:fixed;inset:0;z-index:-1;background:#000'></div><div style='height:1500px'></div>"
    "<p style='color:#fff'>{}</p>",
    "<div style='position:fixed;inset:0'><img src=/pixel.png width=100% height=100%></div>"
    "<div style='position:relative;height:1500px'></div><p style='position:relative;color:#fff'>{}</p>",
    "<div><div style='position:sticky;top:0;height:100vh;background:#000'></div><div style='position:relative'>"
    "<div style='height:1500px'></div><p style='color:#fff'>{}</p></div></div>",
    "<div style='height:100vh;overflow:auto'><div style='position:sticky;top:0;height:100vh;margin-bottom:-100vh;"
    "background:#000'></div><div style='position:relative'><div style='height:1500px'></div>"
    "<p style='color:#fff'>{}</p></div></div>",
    "<svg width=0 height=0><filter id=f></filter></svg><p style='filter:url(#f)'>{}</p>",
    "<div style='background:#888'><p style='mix-blend-mode:plus-darker;color:#fff'>{}</p></div>",
    "<p style='clip-path:inset(0 round 0 0 0 0)'>{}</p>",
    "<!doctype html><html dir=rtl><body><div style='width:3000px'><p style='text-align:left'>{}</p></div>",
    "<!doctype html><html><body dir=rtl><div style='width:3000px'><p style='text-align:left'>{}</p></div>",
    "<!doctype html><html style='writing-mode:vertical-rl'><body><div style='width:3000px'></div><p>{}</p>",
    "<!doctype html><body style='writing-mode:vertical-rl'><div style='width:3000px'></div><p>{}</p>",
    "<div style='display:flex;flex-direction:column-reverse;height:200px;overflow:auto'><p style='fle"
    "x:none'>last</p><div style='height:3000px;flex:none'></div><p style='flex:none'>{}</p></div>",
    "<div style='display:flex;flex-direction:column-reverse;height:200px;overflow:auto'><div style='f"
    "lex:none'><p>{}</p><div style='height:3000px;flex:none'></div><p>last</p></div></div>",
    "<div dir=rtl style='width:300px;overflow:auto'><div style='width:3000px;text-align:left'>{}</div></div>",
    "<!doctype html><html style='display:flex;flex-direction:column-reverse'><body><p>{}</p><div styl"
    "e='height:3000px'></div></body>",
    "<div style='transform:translateX(0)'><div style='height:2000px'></div><p style='position:fixed;t"
    "op:1900px'>{}</p></div>",
    "<div style='filter:grayscale(1)'><div style='height:2000px'></div><p style='position:fixed;top:1"
    "900px'>{}</p></div>",
    "<div style='will-change:transform'><div style='height:2000px'></div><p style='position:fixed;top"
    ":1900px'>{}</p></div>",
    "<div style='contain:layout'><div style='height:2000px'></div><p style='position:fixed;top:1900px"
    "'>{}</p></div>",
    "<div style='translate:1px'><div style='height:2000px'></div><p style='position:fixed;top:1900px'"
    ">{}</p></div>",
    "<style>html{{color-scheme:dark}}</style><p>{}</p>",
    "<style>html{{color-scheme:dark}}</style><p style='color:#fff'>{}</p>",
    "<meta name=color-scheme content=dark><p style='color:#fff'>{}</p>",
    "<style>:root{{color-scheme:light}}</style><iframe style='color-scheme:light' srcdoc='<style>:roo"
    't{{color-scheme:dark}}</style><p style="color:#fff">{}</p>\'></iframe>',
    "<svg width=600 height=40><rect width=600 height=40 fill='#123'/><text y=20 fill='#fff'>{}</text></svg>",
    "<svg><linearGradient id=g><stop stop-color=#fff /><stop offset=1 stop-color=red /></linearGradient>"
    "<text y=20 fill='url(#g)'>{}</text></svg>",
    "<style>.a {{stop-color:red}}</style><svg><linearGradient id=g><stop stop-color=#fff class=a /></linearGradient>"
    "<text y=20 fill='url(#g)'>{}</text></svg>",
    "<svg><radialGradient id=g><stop stop-color=white><set attributeName=stop-color to=red></stop></radialGradient>"
    "<text y=20 fill='url(#g)'>{}</text></svg>",
    "<svg width=600 height=40><path d='M0 0h600v40h-600z' fill='#123'/><text y=20 fill='#fff'>{}</tex"
    "t></svg>",
    "<p style='box-shadow:inset 0 0 0 1000px #123;color:#fff'>{}</p>",
    "<div style='position:relative;z-index:0'><div style='position:absolute;left:0;top:20px;width:1px"
    ";height:1px;box-shadow:0 0 0 600px #123;z-index:-1'></div><p style='color:#fff'>{}</p></div>",
    "<p style='border:1px solid;border-image:linear-gradient(#123,#123) 1 fill;color:#fff'>{}</p>",
    "<div style='color:#fff'>{}<i style='position:relative;outline:600px solid #123;z-index:-1'></i></div>",
    "<table><tr style='background:#123'><td style='color:#fff'>{}</td></tr></table>",
    "<table><colgroup><col style='background:#123'></colgroup><tr><td style='color:#fff'>{}</td></tr>"
    "</table>",
    "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
    "ight:100%;background:#eee;clip-path:inset(0 0 100% 0)'></div></div>",
    "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
    "ight:100%;background:#eee;clip-path:circle(5px at 0 0)'></div></div>",
    "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
    "ight:100%;background:#eee;mask:linear-gradient(transparent,transparent)'></div></div>",
    "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
    "ight:100%;background:#eee;mask:linear-gradient(90deg,transparent 90%,#000)'></div></div>",
    "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
    "ight:100%;background:#fff;mix-blend-mode:multiply'></div></div>",
    "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
    "ight:100%;background:#fff;mix-blend-mode:darken'></div></div>",
    "<div style='position:relative;width:600px;height:600px'><p style='position:absolute;left:0;top:0"
    ";margin:0;width:150px'>{}</p><div style='position:absolute;inset:0;background:#eee;border-radius"
    ":50%'></div></div>",
    "<div style='position:relative;height:300px;width:600px'><p style='position:absolute;left:0;top:0"
    ";margin:0;width:150px'>{}</p><div style='position:absolute;left:250px;top:0;width:80px;height:70"
    "0px;background:#eee;transform:rotate(45deg)'></div></div>",
    "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
    "ight:100%;clip-path:inset(0 0 100% 0)'><div style='position:absolute;left:0;top:0;width:100%;hei"
    "ght:100%;background:#eee'></div></div></div>",
    "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
    "ight:100%;mix-blend-mode:multiply'><div style='position:absolute;left:0;top:0;width:100%;height:"
    "100%;background:#fff'></div></div></div>",
    "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
    "ight:100%;background:#eee;background-clip:content-box;padding-top:100px;height:0;box-sizing:bord"
    "er-box'></div></div>",
    "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
    "ight:100%;background:#eee;background-clip:text'></div></div>",
    "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
    "ight:100%;background:linear-gradient(#eee,#eee) no-repeat 0 0/10px 10px'></div></div>",
    "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
    "ight:100%;background:linear-gradient(#eee,#eee) no-repeat 0 -900px'></div></div>",
    "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
    "ight:100%;background:#eee;transform:rotateY(180deg);backface-visibility:hidden'></div></div>",
    "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
    "ight:100%;background:#eee;filter:opacity(.5)'></div></div>",
    "<svg width=0 height=0><filter id=f><feColorMatrix values='0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
    "0'/></filter></svg><div style='position:relative'><p>{}</p><div style='position:absolute;left:0;"
    "top:0;width:100%;height:100%;background:#eee;filter:url(#f)'></div></div>",
    "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
    "ight:100%;background:#eee;transform:scale(1,.01)'></div></div>",
    "<div style='position:relative;height:60px'><p style='margin:0'>{}</p><div style='position:absolu"
    "te;left:0;top:0;width:0;height:0;border-left:1300px solid transparent;border-top:60px solid tran"
    "sparent'></div></div>",
    "<div style='position:relative'><p>{}</p><table style='position:absolute;inset:0;width:100%;heigh"
    "t:60px;empty-cells:hide;border-collapse:separate'><tr><td style='background:#eee'></td></tr></ta"
    "ble></div>",
    "<div style='position:relative;width:300px'><p style='position:absolute;margin:0;left:0;top:0'>{}"
    "</p><div style='position:relative'><span style='background:#eee'>a<br><br>b</span></div></div>",
    "<style>.a{{color:#fff}}.a::first-line{{color:#000}}</style><p class=a>{}</p>",
    "<style>.a{{background:currentcolor}}.a::first-line{{color:#fff}}</style><p class=a>{}</p>",
    "<script type=text/plain style='display:block;position:relative;background:#fff'>line</script><p>{}</p>",
    "<p style='filter:hue-rotate(90deg);color:#c00'>{}</p>",
    "<p style='color:#fff;filter:drop-shadow(0 0 1px #000)'>{}</p>",
    "<div style='background:#fff;isolation:isolate'><p style='mix-blend-mode:difference;color:#fff'>{"
    "}</p></div>",
    "<style>body{{background:#123}}</style><p style='mix-blend-mode:difference;color:#fff'>{}</p>",
    "<p style='clip-path:polygon(0 0,100% 0,98% 100%,0 100%)'>{}</p>",
    "<p style='clip-path:path(\"M0 0h900v60h-900z\")'>{}</p>",
    "<p style='clip-path:shape(from 0 0,line to 100% 0,line to 100% 100%,line to 0 100%,close)'>{}</p>",
    "<p style='clip-path:inset(calc(10% - 1px) 0)'>{}</p>",
    "<p style='mask:linear-gradient(#000 60%,transparent)'>{}</p>",
    "<svg width=0 height=0><mask id=m><rect width=900 height=900 fill=white /></mask></svg><p style='"
    "mask:url(#m)'>{}</p>",
    "<p style='-webkit-text-stroke:.5px #fff'>{}</p>",
    "<svg><text y=20 stroke=#fff stroke-width=6 paint-order=stroke>{}</text></svg>",
    "<p style='text-decoration:line-through'>{}</p>",
    # Lines, but not so many, or not in the letters.
    _nested("1px", (-12, -8, -4)),
    _nested("3px", (2, 6, 10)),
    _nested("3px", (-12, -8, -4)).replace("#000", "#fc0"),
    _nested("3px", (-12, -8, -4)).replace("skip-ink:none", "skip-ink:auto"),
    _nested("3px", (-4, -4, -4, -4)),
    "<u><u><u><u><s><s><s><s>{}</s></s></s></s></u></u></u></u>",
    "<p style='text-decoration:underline overline line-through double'>{}</p>",
    _behind("height:1px;background:#000", range(0, 100, 20)),
    _behind("height:1px;background:#000", range(3, 20, 4)),
    _behind("height:3px;background:#fe8", range(3, 20, 4)),
    _behind("height:3px;background:#000", range(3, 20, 4), text="color:#fff;background:#333"),
    _behind("height:8px;background:#000", range(-8, 90, 32), text="line-height:32px;width:3ch"),
    "<table border=1 style='border-collapse:collapse;font:11px/11px sans-serif'>"
    "<tr><td style='padding:0'>{}</td></tr><tr><td>-</td></tr></table>",
    "<hr style='margin:0;border:3px solid'><p style='margin:0'>{}</p><hr style='margin:0;border:3px solid'>",
    "<p><span style='outline:1px solid #000'>{}</span></p>",
    "<p style='text-decoration:line-through red 2px'>{}</p>",
    "<p style='text-decoration:line-through dotted 60px'>{}</p>",
    f"<p style='{_BAR};text-decoration-skip-ink:auto'>{{}}</p>",
    f"<p style='{_BAR};text-decoration-color:oklch(.9 .2 99)'>{{}}</p>",
    f"<p style='{_BAR};text-underline-offset:.2em'>{{}}</p>",
    f"<p style='{_BAR};text-decoration-thickness:.4em'>{{}}</p>",
    f"<p style='{_BAR}'><b style='color:#fff'>{{}}</b></p>",
    "<p style='text-decoration:underline #fc0 30px'>{}</p>",
    "<div style='position:relative'><p>{}</p><div style='position:absolute;left:0;top:0;width:100%;he"
    "ight:100%;backdrop-filter:saturate(1.2)'></div></div>",
    "<div style='perspective:500px'><p style='transform:translateZ(50px);margin:0 200px'>{}</p></div>",
    "<div style='transform-style:preserve-3d;transform:rotateY(180deg)'><p style='backface-visibility"
    ":hidden;transform:rotateY(180deg)'>{}</p></div>",
    "<div style='transform-style:preserve-3d;rotate:y 180deg'><p style='backface-visibility:hidden;ro"
    "tate:y 180deg'>{}</p></div>",
    "<p style='font-size:1px;scale:14;transform-origin:0 0'>{}</p>",
    "<p style='font-size:6px;font-variant:all-small-caps'>{}</p>",
    "<p style='font-size:4px;color:#bbb'>{}</p>",
    "<p style='font-size:6px;color:#ddd'>{}</p>",
    "<p style='font-size:8px;color:#f0f0f0'>{}</p>",
    "<p style='font-size:5px;color:#e4e4e4;background:#888'>{}</p>",
    "<p style='font-size:5px;text-transform:uppercase;font-variant:small-caps'>{}</p>",
    "<p style='letter-spacing:-.05em'>{}</p>",
    "<p>{}</p><div style='position:fixed;inset:0;background:#eee'>consent</div>",
    "<div style='position:sticky;top:0'><p>{}</p></div><div style='height:3000px'></div>",
    "<div style='display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical;overflow:hidden"
    ";width:120px'>{}</div>",
    "<style>html{{background:#000}}body{{height:20px}}</style><p style='color:#fff;position:absolute;"
    "top:500px'>{}</p>",
    "<style>body{{background:#000;height:20px}}</style><p style='color:#fff;position:absolute;top:500"
    "px'>{}</p>",
    "<ul><li style='content-visibility:auto;margin-top:9000px'><p style='margin:60px 0 0'>{}</p></li></ul>",
    "<meta name=color-scheme content='only dark'><p style='color:#fff'>{}</p>",
    "<meta name=color-scheme content='dark;'><meta name=color-scheme content='foo dark'><p style='color:#fff'>{}</p>",
    "<meta name=color-scheme content='dark light'><p style='color:#121212'>{}</p>",
    "<iframe srcdoc='<meta name=color-scheme content=dark>'></iframe><p style='color:#121212'>{}</p>",
    "<iframe srcdoc='<meta name=color-scheme content=dark><p style=\"color:#fff\">{}</p>'></iframe>",
]


def judged(page: Snapshot) -> dict[str, Hiding]:
    """Return what is said of each text of the page, by the text."""
    reason = hidden_texts(page)
    texts = np.flatnonzero(page.kind == Kind.TEXT)
    return {page.text_of(node).strip(): Hiding(reason[node]) for node in texts.tolist()}


@pytest.mark.parametrize("reason", HIDDEN, ids=lambda reason: reason.name)
def test_hidden_text_is_found_with_its_reason(studio: Studio, reason: Hiding) -> None:
    bodies = [html.format(f"word{number}") for number, html in enumerate(HIDDEN[reason])]
    pages = studio.show_all(f"<body><p>before</p>{body}<p>after</p>" for body in bodies)
    for number, page in enumerate(pages):
        found = {text: hiding for text, hiding in judged(page).items() if hiding}
        assert found == {f"word{number}": reason}, bodies[number]


_MORE = "<p style='height:900px'>more</p>"
# Fixed bodies, and boxes with content near the window only, which captures change.
MOVED = {
    Hiding.CLIPPED: [
        "<style>html {{ height: 400px; clip-path: inset(0) }} body {{ margin: 0; position: fixed; top: 400px; "
        "height: 300px; "
        "overflow: auto }}</style><p>{}</p>" + _MORE,
        "<style>body {{ margin: 0; position: fixed; top: 0; right: -700px; width: 700px; height: 900px }}</style><p>"
        "{}</p>",
        "<div style='content-visibility:auto;height:40px;overflow:visible !important'><p style='position:absolute;"
        "top:300px'>{}</p></div>",
    ],
    Hiding.COVERED: [
        "<style>html::before {{ content: ''; position: absolute; inset: 0 0 auto; height: 900px; background: #fff; "
        "z-index: 5 }} html {{ padding-top: 1000px }} body {{ position: fixed; top: 0; height: 850px }}</style><p>"
        "{}</p>",
        "<style>.q {{ content-visibility: auto }} .q i {{ counter-increment: k 5 }} @counter-style s {{ system: "
        "fixed 0; symbols: '' a a a a M }} p {{ position: absolute; top: 105px }} .w {{ position: absolute; top: "
        "100px }} .w::before {{ display: block; content: counter(k, s); font-size: 100px; color: transparent "
        "}}</style><div class=q><i>i</i></div><p>{}</p><div class=w><div style='width:900px;height:60px;"
        "background:#fff'></div></div>",
        "<p style='position:absolute;top:255px;left:40px;margin:0'>{}</p><div style='position:absolute;top:0;"
        "font-size:0;line-height:0'><b style='content-visibility:auto;display:inline-block;width:10px;height:300px;"
        "font-size:16px;line-height:20px'>x</b><b style='display:inline-block;width:900px;height:60px;"
        "background:#fff'></b></div>",
        "<div style='content-visibility:auto;height:20px;display:block !important'>more<i style='float:left;"
        "width:1000px;height:200px'></i></div><div style='display:flow-root;width:900px;height:60px;background:#fff;"
        "position:relative;z-index:1'></div><p style='position:absolute;top:30px;margin:0'>{}</p>",
    ],
}


@pytest.mark.parametrize("reason", MOVED, ids=lambda reason: reason.name)
def test_what_captures_change_hides_what_it_hid(studio: Studio, reason: Hiding) -> None:
    pages = studio.show_all(html.format("word word") for html in MOVED[reason])
    found = {html: judged(page).get("word word") for html, page in zip(MOVED[reason], pages, strict=True)}
    assert found == dict.fromkeys(MOVED[reason], reason)


@pytest.mark.parametrize("reason", WAYS, ids=lambda reason: reason.name)
def test_ways_to_hide_a_text_are_found(studio: Studio, reason: Hiding) -> None:
    pages = studio.show_all(html.format("word word") for html in WAYS[reason])
    found = {html: judged(page).get("word word") for html, page in zip(WAYS[reason], pages, strict=True)}
    assert found == dict.fromkeys(WAYS[reason], reason)


@pytest.mark.ahead(job=lambda studio, html: studio.shown(f"<body>{html.format('word')}"))
@pytest.mark.parametrize("html", SEEN + SEEN_TOO)
def test_what_can_be_seen_is_left_alone(ahead: Snapshot, html: str) -> None:
    assert judged(ahead)["word"] == Hiding.NONE


def test_a_cover_over_a_scroll_box_hides_all_that_it_scrolls_but_what_is_above_it(studio: Studio) -> None:
    scrolls = "<div style='height:100px;overflow:auto;width:400px;position:static'>{}</div>"
    frame = '<iframe style="height:100px;width:400px" srcdoc="{}"></iframe>'
    deep = "<p>first</p><div style=height:300px></div><p>deep</p>"
    over = "<div style='position:absolute;inset:0;background:#fff'></div>"
    above = deep.replace("<p>", "<p style='position:relative;z-index:1'>")
    half = over.replace("inset:0", "left:0;top:0;height:60px;width:100%")
    tall, low = "<div style=height:300px></div>", half.replace("top:0", "top:45px")
    wide = "<div style='display:flex;width:900px'>{}</div>"
    sideways = wide.format("<p style='width:250px'>one</p><p style='width:400px'>deep</p><p>end</p>")
    pane = over.replace("inset:0", "left:200px;top:0;height:100px;width:200px")
    own = f"{deep}<div style='position:relative;top:-300px;height:100px;background:#eee'></div>"
    cases = (
        (scrolls.format(deep), over, Hiding.COVERED),
        (frame.format(deep), over, Hiding.COVERED),
        (scrolls.format(above), over, Hiding.NONE),
        (scrolls.format(deep), half, Hiding.NONE),
        (frame.format(deep), half, Hiding.NONE),
        (scrolls.format(own), "", Hiding.NONE),
        (scrolls.format(sideways), pane, Hiding.NONE),
        (scrolls.replace("auto", "hidden auto").format(sideways), pane, Hiding.COVERED),
        # In view, but under a cover from which it can be scrolled away, or not.
        (scrolls.format(f"<p>one</p><p>deep</p>{tall}<p>end</p>"), low, Hiding.NONE),
        (scrolls.format("<p>one</p><p>deep</p>"), low, Hiding.COVERED),
    )
    bodies = (f"<body><div style='position:relative'>{html}{cover}</div>" for html, cover, _ in cases)
    for page, (html, cover, expected) in zip(studio.show_all(bodies), cases, strict=True):
        assert judged(page)["deep"] == expected, html + cover


def test_a_locked_body_hides_nothing_below_the_fold(studio: Studio) -> None:
    page = studio.show(
        "<html style='overflow:hidden;height:100%'><body style='overflow:hidden;height:100%'>"
        "<div style='height:3000px'></div><p>word</p>"
    ).snapshot
    assert judged(page)["word"] == Hiding.NONE


def test_chapters_that_are_skipped_until_they_are_scrolled_to_are_shown(studio: Studio) -> None:
    chapter = (
        "<section style='content-visibility:auto'><p style='content-visibility:auto'>word{}</p></section>"
    )
    fields = "".join(f"<input name={name}>" for name in ("children", "shadowRoot", "animate"))
    page = studio.show(
        "<div style='height:3000px'></div>"
        + "".join(map(chapter.format, range(9)))
        + f"<form style='content-visibility:auto'>{fields}<p>last</p></form>"
        + "<div id=host><p>slotted</p></div><script>host.attachShadow({mode: 'open'}).innerHTML ="
        " '<div style=content-visibility:auto><slot></slot></div>'</script>"
    ).snapshot
    said = judged(page)
    assert [said[f"word{number}"] for number in range(9)] == [Hiding.NONE] * 9
    assert said["last"] == said["slotted"] == Hiding.NONE


def test_hidden_frames_hide_what_they_hold(studio: Studio) -> None:
    page = studio.show("<iframe style='visibility:hidden' srcdoc='<p>word</p>'></iframe>").snapshot
    assert judged(page)["word"] == Hiding.INVISIBLE


def test_frames_hide_what_they_hold(studio: Studio) -> None:
    studio.server.pages["/inner"] = "<p>seen</p><p style='color:#fff'>white</p>"
    page = studio.show("<iframe src=/inner></iframe><iframe src=/inner style='opacity:0'></iframe>").snapshot
    texts = np.flatnonzero(page.kind == Kind.TEXT)
    found = [(page.text_of(n), Hiding(hidden_texts(page)[n]).name) for n in texts.tolist()]
    assert [f for f in found if f[0].strip()] == [
        ("seen", "NONE"),
        ("white", "SAME_COLOUR"),
        ("seen", "TRANSPARENT"),
        ("white", "TRANSPARENT"),
    ]


def test_a_text_that_is_all_in_its_first_letter_is_judged_by_it(studio: Studio) -> None:
    style = "<style>p::first-letter { font-size: 60px; float: left } .no::first-letter { color: #fff }"
    page = studio.show(f"{style}</style><p>V</p><p class=no>H</p>").snapshot
    texts = {page.text_of(node): int(hidden_texts(page)[node]) for node in range(len(page))}
    assert texts["V"] == Hiding.NONE
    assert texts["H"] == Hiding.SAME_COLOUR


def test_the_top_of_a_scaled_frame_is_kept(studio: Studio) -> None:
    frame = "<iframe style='width:800px;height:300px' srcdoc='<h1>end</h1><p>more</p>'></iframe>"
    page = studio.show(f"<div style='transform:scale(.5);transform-origin:0 0'>{frame}</div>").snapshot
    reasons = {page.text_of(node): int(hidden_texts(page)[node]) for node in range(len(page))}
    assert (reasons["end"], reasons["more"]) == (Hiding.NONE, Hiding.NONE)


def test_what_a_frame_scrolls_to_is_kept(studio: Studio) -> None:
    high = "<div style='height:600px'></div><p>end</p>"
    after = "<div style='position:relative;background:#def;height:900px'>after</div>"

    def reason(frame: str) -> int:
        page = studio.show(f"<div style='margin-left:300px'>{frame}</div>{after}").snapshot
        return max(int(hidden_texts(page)[node]) for node in range(len(page)) if page.text_of(node) == "end")

    assert reason(f'<iframe srcdoc="{high}"></iframe>') == Hiding.NONE
    assert reason(f'<iframe scrolling=no srcdoc="{high}"></iframe>') == Hiding.CLIPPED
    assert (
        reason(f'<iframe srcdoc="<style>body {{ overflow: hidden }}</style>{high}"></iframe>')
        == Hiding.CLIPPED
    )
    away = "<p style='position:absolute;left:-200px'>end</p>"
    own = "<style>html {{ overflow: hidden; height: 100% }} body {{ overflow: {}; height: 100% }}</style>"
    for overflow, expected in (("auto", Hiding.NONE), ("hidden", Hiding.CLIPPED)):
        assert reason(f'<iframe srcdoc="{own.format(overflow)}{high}"></iframe>') == expected
    assert reason(f'<iframe srcdoc="{away}"></iframe>') == Hiding.CLIPPED
    box = f"<div style='overflow:auto;height:90px'>{high}</div>"
    assert reason(box) == Hiding.NONE


_DEEP = "<div style='position:absolute;inset:0;background:#9cf;transform:translateZ({}px) scale({})'></div>"
_ROOM = "<div style='position:relative;transform-style:preserve-3d;height:300px'>"


def test_a_layer_that_is_farther_covers_only_what_it_stays_over(studio: Studio) -> None:
    box = "<div style='height:450px;overflow:hidden auto;perspective:1px'>{}</div>"
    far, low = f"{_ROOM}{_DEEP.format(-1, 2)}", "<div style='height:900px'></div><p>end</p>"
    nearer = "<p style='transform:translateZ(-2px) scale(3)'>word</p>"
    cases = (
        # The layer of the next group is over it before the box is scrolled.
        (f"{far}<p style='margin-top:230px'>word</p></div>{far}</div>{low}", Hiding.NONE),
        (f"{_ROOM}<p>word</p>{_DEEP.format(-1, 2)}</div>{low}", Hiding.NONE),
        (f"{_ROOM}<p>word</p>{_DEEP.format(0, 1)}</div>{low}", Hiding.COVERED),
        (f"{_ROOM}{nearer}{_DEEP.format(-1, 2)}</div>", Hiding.COVERED),
    )
    pages = studio.show_all(f"<!doctype html><body>{box.format(html)}" for html, _ in cases)
    for page, (html, expected) in zip(pages, cases, strict=True):
        assert judged(page)["word"] == expected, html


# A picture that the server has, with white or dark text on it, and the same where the server has no such picture.
ON_PICTURES = [
    "<div style='background:url({})'><p style='color:#fff'>word</p></div>",
    "<div style='background:url({}#top) no-repeat,linear-gradient(#fff,#fff)'><p style='color:#fff'>word</p></div>",
    "<div style='position:relative'><img src='{}' style='width:300px;height:60px'>"
    "<p style='position:absolute;top:0;color:#fff'>word</p></div>",
]


@pytest.mark.parametrize("html", ON_PICTURES)
def test_pictures_that_the_server_does_not_have_are_nothing(studio: Studio, html: str) -> None:
    there = studio.show(f"<body>{html.format('/pixel.png')}").snapshot
    assert (judged(there)["word"], there.provenance.missing_pictures) == (Hiding.NONE, ())
    away = studio.show(f"<body>{html.format('/away.png')}").snapshot
    assert judged(away)["word"] == Hiding.SAME_COLOUR
    assert away.provenance.missing_pictures == (studio.server.url("/away.png"),)
    # Captures of versions that did not know.
    silent = replace(away, provenance=structs.replace(away.provenance, missing_pictures=()))
    assert judged(silent)["word"] == Hiding.NONE


def test_masks_whose_picture_is_missing_hide_all(studio: Studio) -> None:
    mask = "<body><p style='mask-image:url({})'>word</p>"
    assert judged(studio.show(mask.format("/pixel.png")).snapshot)["word"] == Hiding.NONE
    assert judged(studio.show(mask.format("/away.png")).snapshot)["word"] == Hiding.CLIPPED


def test_pictures_that_are_only_unreachable_may_be_there_for_a_reader(studio: Studio) -> None:
    html = "<body><div style='background:url({})'><p style='color:#fff'>word</p></div>"
    studio.server.pages["/broken.png"] = lambda handler: send(handler, b"", status=503)
    for address in ("/broken.png", "http://127.0.0.1:1/x.png"):
        page = studio.show(html.format(address)).snapshot
        assert (judged(page)["word"], page.provenance.missing_pictures) == (Hiding.NONE, ()), address


def test_a_picture_that_comes_with_an_error_is_there(studio: Studio) -> None:
    studio.server.pages["/odd.png"] = lambda handler: send(
        handler, DOT, status=404, headers={"Content-Type": "image/png"}
    )
    page = studio.show("<body><div style='background:url(/odd.png)'><p style='color:#fff'>word</p></div>")
    assert judged(page.snapshot)["word"] == Hiding.NONE


_FADE = (
    "<style>@keyframes in {{ from {{ opacity: 0 }} to {{ opacity: 1 }} }} @keyframes out {{ to {{ opacity: 0 }} }} "
    "@keyframes away {{ to {{ visibility: hidden; opacity: 0 }} }} p {{ opacity: 0 }}</style>"
)
_BY_TARGET = "<style>#x:target~p{{opacity:1}}p{{opacity:0}}</style><i id=x></i><p>{}</p>"
FADES_IN = [
    "<meta http-equiv=refresh content='99;url=#x'><style>#x:target~p{{opacity:0}}</style><i id=x></i><p>{}</p>",
    "<meta http-equiv=refresh content='20;url=#x'>" + _BY_TARGET,
    "<meta http-equiv=refresh content=50>" + _FADE + "<p style='animation:in 1s 9s forwards'>{}</p>",
    "<meta http-equiv=refresh content='x; y'>" + _FADE + "<p style='animation:in 1s 9s forwards'>{}</p>",
    _FADE + "<p style='animation:in 4s forwards'>{}</p>",
    _FADE + "<p style='animation:in 2s 2s both'>{}</p>",
    _FADE + "<p style='animation:in 1s 50s both'>{}</p>",
    _FADE + "<p style='animation:in 4s 3 forwards'>{}</p>",
    _FADE + "<p style='opacity:1;animation:in 4s'>{}</p>",
    _FADE + "<p id=m style='transition:opacity 4s'>{}</p><script>m.offsetTop; m.style.opacity = 1</script>",
    _FADE
    + "<p id=m>{}</p><script>m.animate({{ opacity: 1 }}, {{ duration: 4000, fill: 'forwards' }})</script>",
    _FADE + "<div style='position:relative'><b>{}</b><div style='position:absolute;inset:0;background:#fff;"
    "animation:away 1s 3s forwards'></div></div>",
    "<iframe srcdoc='<style>@keyframes in {{ from {{ opacity: 0 }} }}</style>"
    '<p style="animation:in 4s">{}</p>\'></iframe>',
    _FADE
    + "<div style='height:3000px'></div><p style='animation:in linear both;animation-timeline:view()'>{}</p>",
    _FADE + "<div style='height:3000px'></div><p style='animation:in linear forwards,out linear both;"
    "animation-timeline:view();animation-range:entry,exit'>{}</p>",
    "<div id=h style='margin-top:3000px'></div><script>h.attachShadow({{ mode: 'open' }}).innerHTML = `<style>"
    "@keyframes in {{ from {{ opacity: 0 }} to {{ opacity: 0 }} 50% {{ opacity: 1 }} }}</style>"
    "<p style='animation:in linear both;animation-timeline:view()'>{}</p>`</script>",
    "<svg><text y=20 opacity=0>{}<set attributeName=opacity to=1 begin=4s /></text></svg>",
    "<svg><text y=20 opacity=0>{}<animate attributeName=opacity from=0 to=1 begin=2s dur=2s fill=freeze /></text>"
    "<rect width=9 height=9><animate attributeName=y values=0;9 dur=1s repeatCount=indefinite /></rect></svg>",
    "<iframe srcdoc='<svg><text y=20 opacity=0>{}<set attributeName=opacity to=1 begin=4s /></text></svg>'></iframe>",
    "<svg><text y=20>{}<set attributeName=opacity to=0 begin=click /></text></svg>",
    "<style>p {{ color: #fff; transition: color 3s }} svg:has(.b) ~ p {{ color: #000 }}</style>"
    "<svg height=1><rect><set attributeName=class to=b begin=4s /></rect></svg><p>{}</p>",
]
FADES_OUT = [
    "<meta http-equiv=refresh content=20><iframe srcdoc='<style>@keyframes in {{ to {{ opacity: 1 }} }} p {{"
    "opacity: 0; animation: in 1s 39s forwards }}</style><p>{}</p>'></iframe>",
    "<meta http-equiv=refresh content='20#x'>" + _BY_TARGET,
    "<meta http-equiv=refresh content='\u00a09;url=#x'>" + _BY_TARGET,
    f'<iframe sandbox=allow-same-origin srcdoc="<meta http-equiv=refresh content=9;url=about:srcdoc#x>{_BY_TARGET}">'
    "</iframe>",
    "<meta http-equiv=refresh content='20;url=#x'><style>#x:target~p{{opacity:0}}</style><i id=x></i><p>{}</p>",
    "<meta http-equiv=Refresh content='0; #x'><style>#x:target~p{{opacity:0}}</style><i id=x></i><p>{}</p>",
    "<iframe srcdoc=\"<meta http-equiv=refresh content='9,URL=&quot;about:srcdoc#x&quot;'><style>#x:target~p"
    '{{opacity:0}}</style><i id=x></i><p>{}</p>"></iframe>',
    "<meta http-equiv=refresh content='&#11;20&#8195;'>"
    + _FADE
    + "<p style='animation:in 1s 30s forwards'>{}</p>",
    "<meta http-equiv=refresh content=20>" + _FADE + "<p style='animation:in 1s 30s forwards'>{}</p>",
    "<meta http-equiv=refresh content=20><svg><text y=20 opacity=0>{}"
    "<set attributeName=opacity to=1 begin=30s /></text></svg>",
    _FADE + "<p style='animation:in 4s'>{}</p>",
    _FADE + "<p style='animation:in 1e6s 1s both'>{}</p>",
    _FADE + "<p style='animation:in 1s 1000s forwards'>{}</p>",
    _FADE + "<p style='animation:in 4s forwards paused'>{}</p>",
    _FADE + "<p style='animation:in 1s forwards,out 1s 3s forwards'>{}</p>",
    _FADE + "<p style='opacity:1;animation:out 4s forwards'>{}</p>",
    _FADE + "<p style='opacity:1;animation:out 1s 6s forwards'>{}</p>",
    _FADE + "<p style='opacity:1;animation:out 9s 3 forwards'>{}</p>",
    "<style>p {{ opacity:0;transition:opacity 1s 9s;@starting-style {{ opacity:1 }} }}</style><p>{}</p>",
    _FADE + "<p id=m style='opacity:1;transition:opacity 4s'>{}</p>"
    "<script>m.offsetTop; m.style.opacity = 0</script>",
    "<svg><text y=20>{}<animate attributeName=opacity to=0 begin=2s dur=2s fill=freeze /></text></svg>",
    "<svg><text y=20>{}<set id=a attributeName=x to=1 begin=1s dur=1s />"
    "<set attributeName=opacity to=0 begin=a.end+2s /></text></svg>",
    "<svg><rect id=a><animate id=b attributeName=x values=0;9 dur=9s repeatCount=indefinite /></rect>"
    "<text y=20>{}<set id=c attributeName=y to=21 begin=b.repeat(2) dur=1s />"
    "<set attributeName=opacity to=0 begin=c.endEvent /></text></svg>",
    _FADE + "<svg><rect id=a style='animation:in 9s infinite' /><text y=20>{}"
    "<set attributeName=opacity to=0 begin=a.animationiteration+9s /></text></svg>",
    "<svg><text id=a y=20>{}<set attributeName=opacity to=0 begin=a.wheel /></text></svg>",
    "<svg><text y=20 opacity=0>{}<set attributeName=opacity to=1 begin=1000s /></text></svg>",
    "<svg><text y=20 opacity=0>{}<set attributeName=opacity to=1 begin=1s dur=3s /></text></svg>",
    "<svg><svg><text y=20>{}<set attributeName=opacity to=0 begin=4s /></text></svg></svg>",
    "<svg><text y=20>{}<set attributeName=opacity to=0 begin=40s /></text></svg>",
    "<svg id=m><text y=20 opacity=0>{}<set attributeName=opacity to=1 begin=4s /></text></svg>"
    "<script>m.pauseAnimations()</script>",
    "<div id=h></div><script>h.attachShadow({{ mode: 'open' }}).innerHTML = '<svg><text y=20>{}"
    "<set attributeName=opacity to=0 begin=4s /></text></svg>'</script>",
]


def test_animations_count_as_they_end_if_that_is_soon(studio: Studio) -> None:
    """No animation has an end that a busy machine could miss: 4 s are soon, and 1,000 s are not."""
    for expected, fades in ((Hiding.NONE, FADES_IN), (Hiding.TRANSPARENT, FADES_OUT)):
        pages = studio.show_all(f"<body>{html.format('word')}" for html in fades)
        found = {html: judged(page)["word"] for html, page in zip(fades, pages, strict=True)}
        assert found == dict.fromkeys(fades, expected)


# Words that are long enough to tell, and how they are set: on top of each other, or close, but each for itself.
_LINE = "written by people who can be read"
_APART = " ".join(str(9 * at) for at in range(len(_LINE)))
PILED = [
    "<p style='letter-spacing:-.38em'>{}</p>",
    "<p style='letter-spacing:-.46em;font-family:monospace'>{}</p>",
    f"<svg><text y=20 x='{'9 ' * len(_LINE)}'>{{}}</text></svg>",
    "<p style='letter-spacing:-.4em;zoom:.5;font-size:40px'>{}</p>",
]
CLOSE = [
    f"<p style='columns:4;width:1200px'>{'{0} ' * 20}</p>",
    "<p style='letter-spacing:-.2em'>{}</p>",
    "<p style='letter-spacing:-.3em;font-family:monospace'>{}</p>",
    f"<svg width=600><text y=20 x='{_APART}'>{{}}</text></svg>",
    "<p style='zoom:.3;font-size:50px'>{}</p>",
    "<p style='transform:scaleX(.3);font-size:50px'>{}</p>",
    "<p style='writing-mode:vertical-rl'>{}</p>",
    "<p style='width:20px;word-break:break-all'>{}</p>",
    "<p style='letter-spacing:-.1em'>illicit filling, still ill: all fit</p>",
]


def _tell_apart(
    studio: Studio, unread: list[str], read: list[str], reason: Hiding = Hiding.UNREADABLE
) -> None:
    for expected, ways in ((reason, unread), (Hiding.NONE, read)):
        pages = studio.show_all(f"<body>{html.format(_LINE)}" for html in ways)
        found = {html: [*judged(page).values()][-1] for html, page in zip(ways, pages, strict=True)}
        assert found == dict.fromkeys(ways, expected)


def test_letters_on_top_of_each_other_cannot_be_read(studio: Studio) -> None:
    _tell_apart(studio, PILED, CLOSE)


_TOP = "position:absolute;left:0;top:0;margin:0"
_SPACED = "<div style='position:relative;letter-spacing:1em;font:15px monospace;white-space:nowrap'>"
LAID = [
    # The letters of one are between those of the other.
    f"{_SPACED}<p style='margin:0'>a line of other words, one more</p><p style='{_TOP};left:.9em'>{{}}</p></div>",
    "<style>b::after {{ content: 'a line of other words, one more'; position: absolute; left: .9em }}</style>"
    f"{_SPACED}<b>{{}}</b></div>",
    f"{_SPACED}<p style='margin:0'>a line of other words, one more</p>"
    "<p style='margin:-1.2em 0 0 .8em'>{}</p></div>",
    f"{_SPACED}<p style='text-shadow:5.6em 0 #000'>{{}}</p></div>",
    "<div style='display:grid'><b style='grid-area:1/1'>a line of other words, one more</b>"
    "<b style='grid-area:1/1'>{}</b></div>",
    f"<div style='position:relative;height:9em'><p style='{_TOP}'>a line of other words, one more</p>"
    f"<p style='{_TOP};color:#222'>{{}}</p></div>",
    "<p style='margin:0;line-height:20px'>a line of other words, one more</p>"
    "<p style='margin:0;line-height:20px;position:relative;top:-20px'>{}</p>",
]
UNLAID = [
    "<p style='letter-spacing:.5em;text-shadow:2px 2px #888'>{}</p>",
    f"<div style='position:relative'><iframe style='{_LAYER}' srcdoc='<p>one'></iframe><p>{{}}</p></div>",
    # One is transparent, clipped, of another colour, size or place, has a ground, or is as long as half of the other.
    *(
        f"<div style='position:relative;height:9em'><p style='{_TOP};{style}'>a line of other words, one more</p>"
        f"<p style='{_TOP}'>{{}}</p></div>"
        for style in (
            "opacity:0",
            "opacity:.3",
            "visibility:hidden",
            "clip-path:inset(50%)",
            "color:#aaa",
            "font-size:10px",
            "top:9px",
            "left:120px;white-space:nowrap",
            "background:#fff8",
            "width:8em",
        )
    ),
    f"<div style='position:relative;height:9em'><p style='{_TOP}'>{{0}}</p><p style='{_TOP}'>{{0}}</p></div>",
    f"<div style='position:relative;height:9em'><p style='{_TOP}'>a line of other words, one more</p>"
    f"<img src=/pixel.png width=900 height=60 style='{_TOP}'><p style='{_TOP}'>{{}}</p></div>",
    f"<p style='margin:0'>{{}}</p><p style='{_TOP.replace('absolute', 'fixed')};left:8px;top:8px'>a line of other "
    "words</p><p style='height:3000px'>",
    "<div style='display:grid'><b style='grid-area:1/1'>a line of other words, one more</b><b style='grid-area:1/1;"
    "backdrop-filter:blur(4px)'>{}</b></div>",
    "<div style='display:grid'><b style='grid-area:1/1'>a line of other words, one more</b><b style='grid-area:1/1;"
    "background:#fff'>{}</b></div>",
    # Boxes that are too low for their text, as in pages without their style sheets.
    "<div style='height:0'>a line of other words, one more</div><div>{}</div>",
    "<div style='width:200px'><i style='float:left;position:relative'>a line of other words, one more</i>{}</div>",
]


def test_texts_on_top_of_each_other_cannot_be_read(studio: Studio) -> None:
    _tell_apart(studio, LAID, UNLAID)


# Letters that style sheets put between others, so that these are no words.
_PIECES = "".join(f"<i>{_LINE[at : at + 2]}</i>" for at in range(0, len(_LINE), 2))
INFIXED = [
    f"<style>{rule}</style><p>{_PIECES}</p>"
    for rule in ("i::after { content: 'xq' }", "i::before { content: 'o' } i::after { content: 'eb' }")
]
BESIDE = [
    *(f"<style>i::after {{ content: '{text}' }}</style><p>{_PIECES}</p>" for text in (" xq ", "·")),
    "<style>li { display: inline; margin-left: 9px } li::before { content: 'home' }</style>"
    f"<ul>{''.join(f'<li>{word}</li>' for word in _LINE.split())}</ul>",
]


def test_letters_of_style_sheets_inside_of_words_hide_these(studio: Studio) -> None:
    for html, reason in (
        *((one, Hiding.UNREADABLE) for one in INFIXED),
        *((one, Hiding.NONE) for one in BESIDE),
    ):
        said = judged(studio.show(f"<body>{html}").snapshot)
        own = [text for text in said if text in _LINE and len(text) > 1 and " " not in text]
        assert {said[text] for text in own} == {reason}, html


FAR_LINES = [
    f"<p style='width:5em;line-height:{height}'>{{}}</p>"
    for height in ("400px", "5000px", "40em", "40px;zoom:10")
]
FAR_LINES.append(
    "<style>@font-face {{ font-family: f; src: local('DejaVu Sans'), local('Liberation Sans'); "
    "line-gap-override: 3000% }}</style><p style='width:2em;font-family:f'>{}</p>"
)
NEAR_LINES = [
    "<p style='width:5em;line-height:4em'>{}</p>",
    "<p style='width:5em;line-height:300px'>{}</p>",
    "<p style='width:5em;line-height:500px;zoom:.5'>{}</p>",
    "<p style='line-height:400px'>{}</p>",
    "<p style='width:20em;line-height:400px'>{}</p>",
]


def test_lines_of_single_words_that_are_far_apart_cannot_be_read(studio: Studio) -> None:
    _tell_apart(studio, FAR_LINES, NEAR_LINES)


FAR = [
    "<p style='font-size:600px;line-height:1;margin:0'>{}</p>",
    "<p style='font-size:600px;line-height:1;white-space:nowrap'>{}</p>",
    "<p style='transform:scale(40);transform-origin:0 0'>{}</p>",
    "<div style='zoom:10'><p style='zoom:4'>{}</p></div>",
    "<p style='font-size:1500px;word-break:break-all'>{}</p>",
    "<p style='width:1ch;word-break:break-all;line-height:300px'>{}</p>",
    "<p style='writing-mode:vertical-rl;height:1ch;word-break:break-all;line-height:300px'>{}</p>",
    "<p style='letter-spacing:140px;white-space:nowrap'>{}</p>",
    "<svg width=9000><text y=20 textLength=8900>{}</text></svg>",
    "<p style='letter-spacing:600px'>{}</p>",
    "<p style='letter-spacing:400px'><b><i>{}</i></b></p>",
    "<p style='width:10px;word-break:break-all;line-height:1;transform:scale(60);transform-origin:0 0'>{}</p>",
    "<p style='width:10px;word-break:break-all;line-height:1;transform:scale(250,9);transform-origin:0 0'>{}</p>",
]
BANNERS = [
    "<p style='font-size:500px'>{}</p>",
    "<p style='width:9000px'>" + "{0} " * 90 + "</p>",
    "<p style='font-size:1000px'>Five!</p>",
    "<p style='font-size:700px'>Eleven here</p>",
    "<svg viewBox='0 0 40000 2000' width=800><text y=1500 font-size=1400>{}</text></svg>",
    "<div style='transform:scale(.05);transform-origin:0 0'><p style='font-size:1000px;width:99em'>{}</p></div>",
    "<div style='zoom:.05'><p style='font-size:1000px;width:99em'>{}</p></div>",
    "<div style='zoom:10'><p style='zoom:.5;width:99em'>{}</p></div>",
    "<p style='zoom:100;font-size:1px'>{}</p>",
    "<p style='width:1ch;word-break:break-all'>{}</p>",
    "<p style='width:1.2em;word-break:break-all;line-height:3'>{}</p>",
    "<p style='writing-mode:vertical-rl;text-orientation:upright;letter-spacing:2em'>{}</p>",
    "<p style='width:1ch;line-height:300px'>{}</p>",
    "<p style='letter-spacing:140px'>{}</p>",
    "<p style='text-indent:2000px'>{}</p>",
    "<svg width=1200><text y=20 textLength=1200>read this</text></svg>",
    f"<pre>one {' ' * 600} two</pre>",
    f"<pre>1{chr(10) * 120}2</pre>",
]


_ANGLES = "90 180 270 45 135 200 300 110 " * 5
TURNED = [
    f"<svg width=600><text y=20 rotate='{_ANGLES}'>{{}}</text></svg>",
    f"<svg width=600><text y=20 rotate=1>we read <tspan rotate='{_ANGLES}'>{{}}</tspan></text></svg>",
    f"<svg width=600><text y=20 rotate='{'0, 180, ' * 20}'>we <tspan>{{}}</tspan></text></svg>",
]
_STEPS = " ".join(str(at * 7 % 40 * 12) for at in range(40))
SHUFFLED = [
    f"<svg width=600><text y=20 x='{_STEPS}'>{{}}</text></svg>",
    f"<svg width=600><text y=20 x='{_STEPS}'>we read <tspan>{{}}</tspan></text></svg>",
    f"<svg width=600><text y=20 x=100 dx='{'0 90 -90 ' * 14}'>{{}}</text></svg>",
]
IN_ORDER = [
    f"<svg width=600><text y=20 x='{_APART}'>{{}}</text></svg>",
    f"<svg width=600><text y=20 x='{' '.join(str(500 - 9 * at) for at in range(40))}'>{{}}</text></svg>",
    f"<svg width=600><text y=20 dx='{'1 -1 ' * 20}'>{{}}</text></svg>",
    "<svg width=600 height=300><text x='{}' y='{}'>{{}}</text></svg>".format(
        *(" ".join(str(round(150 + 140 * of(at / 6))) for at in range(36)) for of in (math.cos, math.sin))
    ),
    "<svg width=600 height=200><text y='20 20 20 20 20 40 40 40 40 40 60 60 60 60 60 80 80 80 80 80' "
    "x='0 9 18 27 36 0 9 18 27 36 0 9 18 27 36 0 9 18 27 36'>{}</text></svg>",
]


def test_letters_in_another_order_than_that_of_the_text_cannot_be_read(studio: Studio) -> None:
    _tell_apart(studio, SHUFFLED, IN_ORDER)


def _placed(*places: tuple[float, float], text: str = "{}") -> str:
    x, y = (" ".join(f"{number:.1f}" for number in numbers) for numbers in zip(*places, strict=True))
    return f"<svg width=900 height=400><text font-size=16 x='{x}' y='{y}'>{text}</text></svg>"


def _tspans(*places: tuple[str, str]) -> str:
    spans = " ".join(f"<tspan x='{x}'>{word}</tspan>" for x, word in places)
    return f"<svg width=900 height=60><text y=20>{spans}</text></svg>"


_ALL = range(len(_LINE))
SCATTERED = [
    _placed(*((20 + at // 7 * 14, 30 + at % 7 * 26) for at in _ALL)),
    _placed(*((20 + at * 17 % 48 * 12, 30 + at % 9 * 20) for at in _ALL)),
    _placed(*((20 + at % 2 * 24 + at // 2, 20 + 5 * at) for at in _ALL)),
    _placed(*((20 + at * 8, 60 + at % 2 * 50) for at in _ALL)),
    _tspans(("20 50 40 30", "obey"), ("100 130 120 110", "this"), ("180 210 180 210 180 210", "secret")),
    _tspans(*((str(20 + at * 7 % 33 * 12), letter) for at, letter in enumerate(_LINE) if letter != " ")),
    _tspans(*((str(20 + (at + 1 - at % 2 * 2) * 12), letter) for at, letter in enumerate(_LINE))),
]
SCATTERED += [
    SCATTERED[-2].replace("<tspan", f"<tspan {style}>xxxx</tspan><tspan")
    for style in ("visibility=hidden", "display=none")
]
GATHERED = [
    _placed(*((20 + at * 9, 150 + 100 * math.sin(at / 3)) for at in _ALL)),
    _placed(*((20 + at * 9, 100 + at % 2 * 10) for at in _ALL)),
    _placed(*((100 - 30 * math.cos(at / 3), 20 + 9 * at) for at in _ALL)),
    _placed(*((200 + 4 * at * math.cos(at / 3), 200 + 4 * at * math.sin(at / 3)) for at in range(9, 42))),
    _placed(*((20, 20 + 18 * at) for at in range(12)), text="read upright"),
    _placed(*((40 - at // 6 * 20, 20 + 20 * at % 120) for at in range(18)), text="国" * 18),
    _placed(*((20 + at % 11 * 9, 20 + at // 11 * 14) for at in _ALL)),
    _placed(*((20 + at % 11 * 40, 20 + at // 11 * 40) for at in _ALL)),
    _placed(*((500 - at % 11 * 9, 20 + at // 11 * 14) for at in _ALL), text="\u05d0\u05d1\u05d2 " * 8),
    _tspans(*((str(20 + at * 80), f"{at * 5}") for at in range(10))),
    _tspans(("20 29 38 47", "read"), ("60 69 78", "the"), ("100 100 109 118 118 127", "c\u02c7ap\u02c7ek")),
    "<svg width=900 height=200><text>"
    + "".join(f"<tspan x={at % 3 * 90} y={20 + at // 3 * 20}>cell {at}</tspan>" for at in range(12))
    + "</text></svg>",
    "<svg width=900 height=200><text>"
    + "".join(f"<tspan x={at // 6 * 40} y={20 + at % 6 * 20}>{at}</tspan>" for at in range(18))
    + "</text></svg>",
]


_DOWN = " ".join(str(20 + at % 3 * 20) for at in _ALL)
_ASIDE = " ".join(str(10 + at // 3 * 14) for at in _ALL)
_IN_PLACE = " ".join(str(10 + at * 14) for at in _ALL)
CHANGED = [
    f"<svg width=900><text y=20>{{}}<set attributeName=x to='{_STEPS}' begin={begin} /></text></svg>"
    for begin in ("15s", "0:09", "900ms", "b.end", "click;4s")
] + [
    f"<svg width=900><text id=t y=20>{{}}</text><set href='#t' attributeName=x to='{_ASIDE}' />"
    f"<animate href='#t' attributeName=y values='20;{_DOWN}' dur=1s fill=freeze /></svg>",
    f"<svg width=900><text y=20>{{}}<set attributeName=rotate to='{_ANGLES}' begin=3s /></text></svg>",
]
UNCHANGED = [
    f"<svg width=900><text y=20>{{}}<set attributeName=x to='{_STEPS}' begin={begin} /></text></svg>"
    for begin in ("click", "indefinite", "2min", "1:30", "1h")
] + [
    f"<svg width=900><text y=20>{{}}<animate attributeName=x to='{_STEPS}' dur=1s /></text></svg>",
    f"<svg width=900><text y=20 x='{_STEPS}'>{{}}<animate attributeName=x values='5;{_IN_PLACE}' dur=1s "
    "fill=freeze /></text></svg>",
]


_BROKEN = "word-break:break-all;font-family:monospace;"
IN_PIECES = [
    *(
        f"<p style='{_BROKEN}width:600px;columns:{one}'>{{}}</p>"
        for one in ("1ch;height:2lh", "2ch;height:3lh")
    ),
    f"<div style='{_BROKEN}width:400px;columns:3ch;height:1lh;column-gap:0;direction:rtl'><p>{{}}</p></div>",
    *(
        f"<p style='{_BROKEN}writing-mode:vertical-{way};{style}'>{{}}</p>"
        for way, style in (
            ("rl", "text-orientation:upright;height:3em;line-height:.8"),
            ("lr", "text-orientation:upright;height:5em;line-height:.8;letter-spacing:.5em"),
            ("rl", "height:2ch"),
        )
    ),
    f"<p style='{_BROKEN}letter-spacing:1ch;line-height:0;text-indent:1ch;width:68ch'>{{0}} {{0}}</p>",
]
IN_WORDS = [
    "<p style='columns:6em;width:600px'>{}</p>",
    "<div style='columns:6em;width:600px;height:3lh'><p>We say that this is <b>{}</b></p></div>",
    f"<p style='{_BROKEN}columns:2 1ch;width:600px'>{{}}</p>",
    f"<p style='{_BROKEN}width:1ch'>{{}}</p>",
    "<p style='columns:1em;width:600px;height:3lh'>日本語の文章を縦に書く</p>",
    "<p style='writing-mode:vertical-rl;height:3em'>日本語の文章を縦に書く</p>",
    "<p style='writing-mode:vertical-rl;height:4em'>{}</p>",
    "<p style='writing-mode:vertical-rl;text-orientation:upright;height:3em'>I am as we are in it to do so</p>",
    "<p style='letter-spacing:1ch;line-height:0'>a title in one line</p>",
]


def test_words_in_pieces_that_stand_side_by_side_cannot_be_read(studio: Studio) -> None:
    _tell_apart(studio, IN_PIECES, IN_WORDS)


def test_letters_that_animations_scatter_cannot_be_read(studio: Studio) -> None:
    _tell_apart(studio, CHANGED, UNCHANGED)


def test_letters_of_drawings_that_are_scattered_cannot_be_read(studio: Studio) -> None:
    _tell_apart(studio, SCATTERED, GATHERED)


def _marked(marks: str, line: str = _LINE) -> str:
    return "<p>" + "".join(letter + marks * letter.isalpha() for letter in line)


_HIGH, _LOW = "\u0300\u0301\u0302\u0303\u0304\u0306", "\u0316\u0323\u0324\u0325\u0326\u0330"
MARKED = [
    _marked("\u0489\u0488\u20dd\u20de\u20e0" * 2),
    _marked("\u20dd\u20de\u20df\u20e0"),
    _marked("\u0338\u0336\u20e5\u20d2\u0337"),
    _marked((_HIGH + _LOW) * 2),
    _marked("\u0e31\u0e34\u0e38\u0e48"),
    f"<p>{_LINE} {_LINE} {_LINE} " + _marked("\u20dd" * 10)[3:],
]
UNMARKED = [
    _marked("\u0302\u0301"),
    _marked("\u20dd"),
    _marked("\u0336"),
    _marked("\u0335\u0338"),
    _marked(_HIGH[:2] + _LOW[:2]),
    f"<p>{_LINE} {_LINE} {_LINE} " + _marked("\u20dd" * 10, "zalgo")[3:],
    "<p>\u05d1\u05bc\u05b0\u05e8\u05b5\u05d0\u05e9\u05b4\u05c1\u0596\u05d9\u05ea "
    "\u05d1\u05bc\u05b8\u05e8\u05b8\u05a3\u05d0",
    "<p>\u0628\u0650\u0633\u0652\u0645\u0650 \u0627\u0644\u0644\u0651\u0670\u0647\u0650",
    "<p>\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48 \u0e01\u0e33\u0e25\u0e31\u0e07",
    "<p>\u0f66\u0f92\u0fb2\u0f7c\u0f84 \u0f67\u0fab\u0fa8\u0fb3\u0fba\u0f82",
    "<p>\u1019\u103c\u103d\u103e\u1031\u102c\u1000\u103a",
]


def test_letters_under_many_marks_cannot_be_read(studio: Studio) -> None:
    _tell_apart(studio, MARKED, UNMARKED)


def _under_marks(
    mark: str,
    style: str = "margin-top:-10px",
    line: str = "Many other words are set over it",
    below: str = "",
) -> str:
    upper = f"margin:0;font-size:32px;line-height:1;position:absolute;top:20px;text-emphasis:{mark};{style}"
    return (
        f"<div style='position:relative'><p style='margin:0;line-height:20px;{below}'>{{}}</p>"
        f"<p style='{upper}'>{line}</p></div>"
    )


UNDER_MARKS = [
    _under_marks('"█" #fff'),
    _under_marks('"M" #000', "top:13px;margin-top:-10px"),
    _under_marks('"█" #fff;color:#0000'),
    _under_marks('"█" #fff', below="position:relative;z-index:-1"),
    _under_marks('"█" #fff;text-emphasis-position:under', "top:-32px"),
    _under_marks(
        '"█" #fff',
        "top:25px;width:200px;line-height:75px",
        below="width:130px;line-height:75px",
    ),
]
BESIDE_MARKS = [
    _under_marks('"█" #fff', "margin-top:14px"),
    _under_marks("dot #000"),
    _under_marks('"M" #000'),
    _under_marks("filled circle #fff;color:#0000"),
    _under_marks('"■" #fff;color:#0000'),
    _under_marks('"•" #fff'),
    _under_marks('"█" #fff4'),
    _under_marks('"█" #fff', line="Many"),
    _under_marks('"█" #fff', below="width:130px;line-height:30px"),
    _under_marks('"█" #fff', "top:60px;width:200px;line-height:75px", below="width:130px;line-height:75px"),
    _under_marks(
        '"█" #fff', "top:25px;width:200px;line-height:75px", "Many", below="width:90px;line-height:75px"
    ),
    _under_marks('"█" #fff', "z-index:-1"),
    "<p style='text-emphasis:filled circle #c00'>{}</p>",
]


def test_letters_under_the_marks_of_another_text_are_covered(studio: Studio) -> None:
    for expected, ways in ((Hiding.COVERED, UNDER_MARKS), (Hiding.NONE, BESIDE_MARKS)):
        pages = studio.show_all(f"<body>{html.format(_LINE)}" for html in ways)
        found = {html: judged(page).get(_LINE) for html, page in zip(ways, pages, strict=True)}
        assert found == dict.fromkeys(ways, expected)


COPIED = [
    "<p style='text-shadow:4px 0 #000,-4px 0 #000'>{}</p>",
    "<p style='font-size:40px;text-shadow:14px 1px 1px #222,-12px 0 #111'>{}</p>",
    "<p style='color:#0000;text-shadow:0 0 #000,5px 0 #000,-5px 0 #000'>{}</p>",
    "<p style='filter:drop-shadow(5px 0 #000) drop-shadow(-5px 0 #000)'>{}</p>",
    "<div style='filter:drop-shadow(5px 0 #000)'><p style='text-shadow:-5px 0 #000'>{}</p></div>",
    "<div style='filter:drop-shadow(5px 0 #000)'><p style='filter:drop-shadow(-4px 1px #111)'>{}</p></div>",
]
ALONE = [
    "<p style='color:#0000;text-shadow:0 0 #000,5px 0 #000'>{}</p>",
    "<p style='text-shadow:1px 0 #000,-1px 0 #000'>{}</p>",
    "<p style='text-shadow:4px 0 6px #000,-4px 0 6px #000'>{}</p>",
    "<p style='text-shadow:4px 0 #bbb,-4px 0 #bbb'>{}</p>",
    "<p style='text-shadow:0 1px #fff,4px 4px #000'>{}</p>",
    "<p style='filter:drop-shadow(5px 0 #000)'>{}</p>",
    "<p style='filter:drop-shadow(1px 1px #000) drop-shadow(-1px -1px #000)'>{}</p>",
    "<p style='filter:drop-shadow(5px 0 #000) drop-shadow(-5px 0 #000);background:#eee'>{}</p>",
    "<p style='filter:drop-shadow(5px 0 4px #000) drop-shadow(-5px 0 4px #000)'>{}</p>",
]


def test_letters_among_sharp_shadows_of_their_own_cannot_be_read(studio: Studio) -> None:
    _tell_apart(studio, COPIED, ALONE)


SYMBOLS = [
    *(
        f"<p style='font-family:{name}'>{{}}</p>"
        for name in (
            "wingdings",
            '"Wingdings 2",serif',
            "Webdings",
            "Symbol",
            '"Zapf Dingbats"',
            "Marlett,Arial",
        )
    ),
    "<font face=Symbol><b><i>{}</i></b></font>",
]
NO_SYMBOLS = [
    "<p style='font-family:Arial,Wingdings'>{}</p>",
    "<p style='font-family:\"Segoe UI Symbol\"'>{}</p>",
    "<p style='font-family:Symbola,Symbol'>{}</p>",
    "<p style='font-family:Symbol'><span style='font-family:serif'>{}</span></p>",
    "<p style='font-family:Symbol'>слова на другом языке</p>",
    "<p style='font-family:Symbol'>\N{BULLET} 123</p>",
]


def test_letters_in_fonts_of_symbols_cannot_be_read(studio: Studio) -> None:
    _tell_apart(studio, SYMBOLS, NO_SYMBOLS)


UPRIGHT = [
    "<svg width=600><text y=20 rotate=20>{}</text></svg>",
    f"<svg width=600><text y=20 rotate='{' '.join(str(3 * at) for at in range(34))}'>{{}}</text></svg>",
    f"<svg width=600><text y=20 rotate='{'15 -15 ' * 20}'>{{}}</text></svg>",
    f"<svg width=600><text y=20 rotate='{_ANGLES}'>we <tspan rotate=0>{{}}</tspan></text></svg>",
    "<svg width=600><text y=20 rotate='0 0 180 0'>{}</text></svg>",
    "<svg width=600><text y=20 rotate='1e999 -1e999 x'>{}</text></svg>",
]


def test_letters_that_are_turned_each_another_way_cannot_be_read(studio: Studio) -> None:
    _tell_apart(studio, TURNED, UPRIGHT)


_WORDS = _LINE.split()
SPREAD = [
    *(
        f"<p style='white-space:{mode}'>{between.join(_WORDS)}</p>"
        for mode, between in (
            ("pre", "\n" * 40),
            ("pre", " " * 500),
            ("pre", "\n" * 20 + " " * 90),
            ("pre-line", "\n" * 40),
            ("pre-wrap", "\n" * 40),
            ("break-spaces", " " * 20_000),
            ("nowrap", "\u00a0" * 500),
            ("nowrap", "\u2003" * 100),
            ("normal", "\u2003" * 3000),
            ("normal", "<br>" * 40),
            ("normal", "<i><br></i>" * 40),
            ("nowrap", "<i style='display:inline-block;width:2000px'></i>"),
            ("nowrap", "<b style='padding-left:2000px'></b>"),
        )
    ),
    f"<p style='writing-mode:vertical-rl;white-space:pre'>{(chr(10) * 60).join(_WORDS)}</p>",
    f"<div style='background:linear-gradient(red,#fff)'>{('<br>' * 40).join(_WORDS)}</div>",
]
GATHERED_AGAIN = [
    *(
        f"<p style='white-space:{mode}'>{between.join(_WORDS)}</p>"
        for mode, between in (
            ("pre", "\n" * 9),
            ("pre", " " * 40),
            ("pre-wrap", " " * 2000),
            ("pre-line", " " * 2000),
            ("normal", " " * 2000 + "\n" * 200),
            ("normal", "\u2003" * 40),
            ("normal", "<br>" * 9),
            ("normal", "<br>" * 12 + "<img src=/pixel.png width=9 height=200>" + "<br>" * 15),
            ("normal", "<hr>" * 40),
        )
    ),
    f"<pre>{(' ' * 500).join(_WORDS[:3])}</pre>",
    f"<pre>{(chr(10) * 60).join([_LINE] * 6)}</pre>",
    f"<pre>{' ' * 9000}{_LINE}{chr(10) * 900}</pre>",
    f"<p>{('<br>' * 60).join([_LINE] * 6)}</p>",
    # A column of labels beside what they are for, and slides.
    f"<table><td>{('<br>' * 40).join(_WORDS)}<td>{('<br>' * 3).join([_LINE] * 80)}</table>",
    *("".join(f"<p style='margin-top:{px}'>{one}</p>" for one in _WORDS) for px in ("90vh", "200vh")),
]


def test_words_that_are_very_far_apart_cannot_be_read(studio: Studio) -> None:
    _tell_apart(studio, SPREAD, GATHERED_AGAIN)


def test_letters_that_are_far_apart_for_several_windows_cannot_be_read(studio: Studio) -> None:
    _tell_apart(studio, FAR, BANNERS)


_FOLD, _UNFOLD = "style='visibility:collapse'", "visibility:visible"
FOLDED = [
    f"<table><tr><td>one<tr {_FOLD}><td><b style='{_UNFOLD}'>{{}}</b></table>",
    f"<table><tr><td>one<tbody {_FOLD}><tr style='{_UNFOLD}'><td>{{}}</table>",
    f"<table><tr><td>one<td>two<colgroup {_FOLD}></colgroup></table><table><colgroup {_FOLD}><col></colgroup>"
    "<tr><td>{}<td></table>",
    f"<table><col><col {_FOLD}><tr><td><td>{{}}</table>",
    f"<table dir=rtl><col><col {_FOLD}><tr><td>one<td>{{}}</table>",
]
UNFOLDED = [
    f"<table><tr><td>one<tr {_FOLD}><td><b style='{_UNFOLD};position:relative'>{{}}</b></table>",
    f"<table><tr><td>one<tr {_FOLD}><td><div style='{_UNFOLD};opacity:.9'>{{}}</div></table>",
    f"<table><tr><td>one<tr {_FOLD}><td><div style='{_UNFOLD};overflow:auto'>{{}}</div></table>",
    f"<div {_FOLD}><b style='{_UNFOLD}'>{{}}</b></div>",
    f"<table><tr><td {_FOLD}><b style='{_UNFOLD}'>{{}}</b></table>",
    f"<table><col><col {_FOLD}><col><tr><td>one<td>two<td>{{}}</table>",
    f"<table><col><col {_FOLD}><tr><td>one<td><div style='position:relative'>{{}}</div></table>",
    f"<table><tr {_FOLD}><td>one<tr><td>{{}}</table>",
    f"<table><tr {_FOLD}><td><i style='{_UNFOLD};float:left'>{{}}</i><tr><td>one</table>",
    f"<table><tr {_FOLD}><td><i style='{_UNFOLD};contain:layout;display:block'>{{}}</i><tr><td>one</table>",
    f"<table><tr {_FOLD}><td><i style='{_UNFOLD};view-transition-name:a;display:block'>{{}}</i></table>",
    f"<table style='border-spacing:0;table-layout:fixed;width:9px'><col style='width:0'><col {_FOLD}><col><tr>"
    "<td style='padding:0;white-space:nowrap'>{}<td>x<td></table>",
]


def test_collapsed_rows_and_columns_paint_nothing_but_boxes_that_are_painted_apart(studio: Studio) -> None:
    _tell_apart(studio, FOLDED, UNFOLDED, Hiding.INVISIBLE)


CLIP = "<svg width=0 height=0><clipPath id=c{}>{}</clipPath></svg><p style='width:300px;clip-path:url(#c)'>word</p>"
CUT_BY_DRAWINGS = [
    ("", "<rect width=2 height=2 />"),
    ("", "<circle cx=900 cy=900 r=20 />"),
    ("", "<ellipse cx=0 cy=0 rx=3 ry=2 />"),
    ("", "<polygon points='400,0 500,0 500,50' /><rect x=900 width=9 height=9 />"),
    ("", "<path d='M400 0 L500 0 L500 50 Z' />"),
    (" clipPathUnits=objectBoundingBox", "<rect x=.5 width=.5 height=1 />"),
]
LEFT_BY_DRAWINGS = [
    ("", "<rect width=200 height=200 />"),
    ("", "<circle cx=0 cy=0 r=90 />"),
    ("", "<path d='M0 0 L500 0 L500 50 L0 50 Z' />"),
    (" clipPathUnits=objectBoundingBox", "<rect width=1 height=1 />"),
    ("", "<rect width=2 height=2 transform='scale(200)' />"),
    ("", "<rect width=2 height=2 style='width:200px;height:200px' />"),
    ("", "<style>rect { width: 200px; height: 200px }</style><rect />"),
    ("", "<rect width=2 height=2 /><text y=20>WWWWWWWWW</text>"),
]


def test_clip_paths_of_svg_cut_as_shapes_of_css(studio: Studio) -> None:
    for expected, clips in ((Hiding.CLIPPED, CUT_BY_DRAWINGS), (Hiding.NONE, LEFT_BY_DRAWINGS)):
        pages = studio.show_all(f"<body>{CLIP.format(*clip)}" for clip in clips)
        found = {clip: judged(page)["word"] for clip, page in zip(clips, pages, strict=True)}
        assert found == dict.fromkeys(clips, expected)
