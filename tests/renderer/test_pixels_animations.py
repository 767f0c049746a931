"""Text that animations turn over or swap so fast that nobody can read it is hidden, and what they hide soon."""

import pytest

import domsieve
from tests.renderer.conftest import Studio
from tests.renderer.test_pixels import show

pytestmark = pytest.mark.browser
_WORDS = "seven words that a reader can read"
_RUNS = "animation: k .1s steps(1) infinite; width: max-content"
_MIRRORS = "@keyframes k { 50%, 100% { transform: scaleX(-1) } }"
_IN_TURN = (
    "<style>@keyframes k {{ 33%, 100% {{ {} }} }} p {{ --t: {}s; animation: k var(--t) steps(1) infinite; "
    "margin: 0; position: absolute; top: 60px; animation-delay: calc(var(--t) * var(--d, 0) / -3) }} .b {{ --d: 1 }} "
    ".c {{ --d: 2 }}</style>"
    "<p>{{}}</p><p class=b>other letters in their place</p><p class=c>{{}}, here too</p>"
)
UNREAD = {
    "mirrored": f"<style>{_MIRRORS} p {{ {_RUNS} }}</style><p>{{}}</p>",
    "turned over with a box": "<style>@keyframes k { to { rotate: y 360deg } } div { width: max-content; "
    "animation: k .15s linear infinite }</style><div><p>{}</p></div>",
    "skewed to and fro": "<style>@keyframes k { 0% { transform: skewX(60deg) } 50%, 100% { transform: skewX("
    f"-60deg) }} }} p {{ {_RUNS} }}</style><p>{{}}</p>",
    "turned by a property of the page": "<style>@property --a { syntax: '<angle>'; inherits: true; "
    f"initial-value: 0deg }} @keyframes k {{ 50%, 100% {{ --a: 180deg }} }} div {{ {_RUNS} }} "
    "p { rotate: var(--a) }</style><div><p>{}</p></div>",
    "thrown by more than its small letters": "<style>@keyframes k { 0% { translate: 0 } 25% { translate: 14px 3px } "
    "50% { translate: 4px 12px } 75% { translate: 12px 12px } } p { animation: k .1s steps(1) infinite; font-size: "
    "10px }</style><p>{}</p>",
    "mirrored among many animations": f"<style>{_MIRRORS} p {{ {_RUNS} }} @keyframes l {{ to {{ left: 1px }} }} "
    f"i {{ animation: l 9s infinite }}</style>{'<i></i>' * 300}<p>{{}}</p>",
    "mirrored for a minute": f"<style>{_MIRRORS} p {{ animation: k .1s steps(1) 599; width: max-content }}</style>"
    "<p>{}</p>",
    "in a drawing that is mirrored": f"<style>{_MIRRORS} svg {{ {_RUNS} }}</style>"
    "<svg width=500 height=50><text x=10 y=30>{}</text></svg>",
    "turned in a drawing": "<svg width=500 height=50><text x=10 y=30>{}<animateTransform attributeName=transform "
    "type=rotate values='0 150 25;180 150 25' dur=.1s calcMode=discrete repeatCount=indefinite /></text></svg>",
    "in a frame that is mirrored": f"<style>{_MIRRORS} iframe {{ {_RUNS} }}</style><iframe width=600 "
    "srcdoc='<p>{}</p>'></iframe>",
    "in a frame in a box that is thrown": "<style>@keyframes k { 25% { translate: 130px 90px } 50% { translate: 40px "
    "170px } 75% { translate: 170px 30px } } div { animation: k .12s steps(1) infinite }</style><div><iframe "
    "width=600 srcdoc='<p>{}</p>'></iframe></div>",
    "one of several in turn": _IN_TURN.format("opacity: 0", 0.09),
    "one of several in turn that are cut": _IN_TURN.format("clip-path: inset(0 0 100% 0)", 0.09),
    "one of several in turn that are not visible": _IN_TURN.format("visibility: hidden", 0.09),
    "one of several in turn that are white": _IN_TURN.format("color: #fff", 0.09),
}
READ = {
    "blinking": "<style>@keyframes k { 50% { opacity: 0 } } p { animation: k .1s infinite }</style><p>{}</p>",
    "one of several in turn": _IN_TURN.format("opacity: 0", 9),
    "under copies of itself that flicker": "<style>@keyframes k { 0% { clip-path: inset(40% 0 61% 0) } "
    f"50% {{ clip-path: inset(90% 0 1% 0) }} }} p {{ margin: 0 }} .f {{ {_RUNS}; position: absolute; top: 0; "
    "left: 1px }</style><div style='position:relative'><p>{}</p><p class=f>{}</p></div>",
    "shivering": "<style>@keyframes k { 50% { translate: 3px 2px } } p { animation: k .1s infinite }</style>"
    "<p>{}</p>",
    "swinging": "<style>@keyframes k { 0% { rotate: -5deg } 100% { rotate: 5deg } } p { width: max-content; "
    "animation: k .2s infinite alternate }</style><p>{}</p>",
    "turned over slowly": "<style>@keyframes k { 40%, 60% { rotate: x 180deg } 90%, 100% { rotate: x 360deg } } "
    "p { animation: k 9s linear infinite }</style><p>{}</p>",
    "in a frame that sways": "<style>@keyframes k { 50% { translate: 9px } } iframe { animation: k 2s infinite }"
    "</style><iframe width=600 srcdoc='<p>{}</p>'></iframe>",
    "in a line that nothing turns": f"<style>{_MIRRORS} b {{ {_RUNS} }}</style><p><b>{{}}</b></p>",
    "beside a spinner": "<style>@keyframes k { to { rotate: 360deg } } i { display: inline-block; border: 9px dotted"
    "; animation: k .1s linear infinite }</style><p><i></i> {}</p>",
}
# What drawings show or hide within a few seconds counts as it is then.
GONE = {
    "under what a drawing shows": "<div style='position:relative'><p>{}</p><svg style='position:absolute;inset:0' "
    "width=900 height=60><rect width=900 height=60 fill=#fff opacity=0><set attributeName=opacity to=1 begin=4s />"
    "</rect></svg></div>",
    "cut by what a drawing changes": "<svg width=0 height=0><clipPath id=c><rect width=900 height=90>"
    "<set attributeName=width to=0 begin=4s /></rect></clipPath></svg><p style='clip-path:url(#c)'>{}</p>",
    "in a frame under what a drawing shows": "<iframe width=900 srcdoc='<p>{}</p><svg "
    "style=position:absolute;inset:0 width=900 height=60><rect width=900 height=60 fill=#fff opacity=0>"
    "<set attributeName=opacity to=1 begin=4s /></rect></svg>'></iframe>",
    "white after a transition that a drawing begins": "<style>p { transition: color 3s } svg:has(.b) ~ p "
    "{ color: #fff }</style><svg height=1><rect><set attributeName=class to=b begin=4s /></rect></svg><p>{}</p>",
}
COME = {
    "in a drawing": "<svg width=900 height=60><text y=20 opacity=0>{}<animate attributeName=opacity from=0 to=1 "
    "begin=2s dur=2s fill=freeze /></text></svg>",
    "under what a drawing takes away": "<div style='position:relative'><p>{}</p><svg "
    "style='position:absolute;inset:0' width=900 height=60><rect width=900 height=60 fill=#fff>"
    "<set attributeName=visibility to=hidden begin=4s /></rect></svg></div>",
    "beside an element that is no drawing": "<p>{}</p><script>document.body.append(document.createElement('svg'))"
    "</script>",
}


def _kept(studio: Studio, html: str) -> list[str]:
    page = show(studio, f"<p style='position:static;animation:none'>before</p>{html.replace('{}', _WORDS)}")
    return str(domsieve.clean(page, method="none", hidden="pixels").text).split()


@pytest.mark.parametrize("way", UNREAD)
def test_text_that_changes_too_fast_to_be_read_is_hidden(studio: Studio, way: str) -> None:
    kept = _kept(studio, UNREAD[way])
    assert "before" in kept
    assert not {*kept} & {*_WORDS.split()}


@pytest.mark.parametrize("way", READ)
def test_text_that_changes_and_can_be_read_is_seen(studio: Studio, way: str) -> None:
    assert " ".join(_kept(studio, READ[way])).count(_WORDS)


@pytest.mark.parametrize("way", GONE)
def test_text_that_drawings_hide_soon_is_hidden(studio: Studio, way: str) -> None:
    kept = _kept(studio, GONE[way])
    assert "before" in kept
    assert not {*kept} & {*_WORDS.split()}


@pytest.mark.parametrize("way", COME)
def test_text_that_drawings_show_soon_is_seen(studio: Studio, way: str) -> None:
    assert " ".join(_kept(studio, COME[way])).count(_WORDS)
