"""What a person cannot see of a page in Chrome is found, with the reason, and what can be seen is left alone."""

import numpy as np
import pytest

from domsieve.analysis.columns.hiding import Hiding, hidden_texts
from domsieve.snapshot.page import Kind, Snapshot
from tests.renderer.conftest import Studio

pytestmark = pytest.mark.browser

_LAYER = "position:absolute;left:0;top:0;width:100%;height:100%"
HIDDEN = {
    Hiding.NO_BOX: [
        "<p style='display:none'>{}</p>",
        "<details><summary>-</summary><p>{}</p></details>",
        "<p hidden>{}</p>",
        "<div style='content-visibility:hidden'><p>{}</p></div>",
    ],
    Hiding.INVISIBLE: ["<p style='visibility:hidden'>{}</p>", "<svg><defs><text y=20>{}</text></defs></svg>"],
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
        "<div style='overflow:hidden;height:0'><p>{}</p></div>",
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
    ],
    Hiding.COVERED: [
        f"<div style='position:relative'><p>{{}}</p><div style='{_LAYER};background:#eee'></div></div>",
        f"<div style='position:relative'><p>{{}}</p><img src='/pixel.png' style='{_LAYER};background:#eee'>"
        "</div>",
        "<div style='position:relative;height:30px;background:#ffe'>"
        "<p style='position:relative;z-index:-1'>{}</p></div>",
        f"<div style='position:relative'><p>{{}}</p>"
        f"<div style='{_LAYER};background:linear-gradient(#fff,#eee)'></div></div>",
        "<div style='position:relative;height:30px;overflow:hidden'><p style='margin:0'>{}</p>"
        "<div style='position:absolute;left:0;top:0;border:600px solid #fff'></div></div>",
    ],
    Hiding.UNREADABLE: [
        "<p style='font-size:2px'>{}</p>",
        "<p style='filter:blur(40px)'>{}</p>",
        "<p style='line-height:0;width:.8em;word-break:break-all'>{}</p>",
        "<p style='letter-spacing:9999px'>{}</p>",
        "<div style='zoom:1.2'><p style='zoom:.1'>{}</p></div>",
    ],
}
SEEN = [
    "<p style='mix-blend-mode:screen'>{}</p>",
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
    "<p style='opacity:.5'>{}</p>",
    "<div style='overflow:hidden;height:20px'>{}</div>",
    "<div style='overflow:auto;height:20px'><p style='margin-top:300px'>{}</p></div>",
    "<div style='overflow:hidden;height:60px'><div style='overflow:scroll;height:50px'><p style='margin-top:99px'>{}"
    "</p></div></div>",
    "<div style='height:10px;overflow:hidden'><p style='position:absolute;top:200px'>{}</p></div>",
    "<p style='position:absolute;top:9000px'>{}</p>",
    "<div style='background:#000'><p style='color:#fff'>{}</p></div>",
    "<div style='background:url(x.png)'><p style='color:#fff'>{}</p></div>",
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


def judged(page: Snapshot) -> dict[str, Hiding]:
    """Return what is said of each text of the page, by the text."""
    reason = hidden_texts(page)
    texts = np.flatnonzero(page.kind == Kind.TEXT)
    return {page.text_of(node).strip(): Hiding(reason[node]) for node in texts.tolist()}


@pytest.mark.parametrize("reason", HIDDEN, ids=lambda reason: reason.name)
def test_hidden_text_is_found_with_its_reason(studio: Studio, reason: Hiding) -> None:
    for number, html in enumerate(HIDDEN[reason]):
        word = f"word{number}"
        page = studio.show(f"<body><p>before</p>{html.format(word)}<p>after</p>").snapshot
        assert {text: hiding for text, hiding in judged(page).items() if hiding} == {word: reason}, html


@pytest.mark.parametrize("html", SEEN)
def test_what_can_be_seen_is_left_alone(studio: Studio, html: str) -> None:
    page = studio.show(f"<body>{html.format('word')}").snapshot
    assert judged(page)["word"] == Hiding.NONE


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
