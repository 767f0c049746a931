"""Text is hidden if animations turn it over or swap it so fast that nobody can read it, or hide it in a minute."""

import pytest

import domsieve
from domsieve.analysis.columns.hiding import Hiding
from domsieve.snapshot.page import Snapshot
from tests.renderer.conftest import Studio
from tests.renderer.test_hidden_text import judged
from tests.renderer.test_pixels import pictured, show

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
    "one of several in turn by the class of a drawing": "<style>p[class] { margin: 0; position: absolute; top: 60px; "
    "visibility: hidden } svg:has(.a) ~ .a, svg:has(.b) ~ .b, svg:has(.c) ~ .c { visibility: visible }</style>"
    "<svg height=1><rect><animate attributeName=class values=a;b;c calcMode=discrete dur=.06s "
    "repeatCount=indefinite /></rect></svg><p class=a>{}</p><p class=b>other letters in their place</p>"
    "<p class=c>{}, here too</p>",
    "thrown after many texts": "<style>@keyframes k { 25% { translate: 130px 90px } 50% { translate: 40px 170px } "
    f"75% {{ translate: 170px 30px }} }} p {{ animation: k .12s steps(1) infinite }}</style>{'<i>.</i>' * 3100}"
    "<p>{}</p>",
    "thrown about in lines that stay": "<style>@keyframes k { 0% { text-indent: 0 } 20% { text-indent: 300px } 40% { "
    "text-indent: 110px } 60% { text-indent: 390px } 80% { text-indent: 200px } } p { width: 500px; text-align: "
    "justify; animation: k .1s steps(1) infinite }</style><p>{}, {}</p>",
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
_IN_EACH_TURN = (
    "<style>@property --on {{ syntax: '<integer>'; inherits: true; initial-value: 0 }} @keyframes w {{ 5% {{ "
    "--on: 1 }} }} @keyframes s {{ 0% {{ opacity: 0 }} 50% {{ opacity: 1 }} }} @keyframes f {{ to {{ opacity: 1 }} }}"
    " div {{ position: relative; animation: w 40s infinite step-end }} p {{ margin: 0; animation: s 40s infinite "
    "step-end }} i {{ position: absolute; inset: 0; background: #fff; opacity: 0; {} }} @container style(--on: 1) {{ "
    "i {{ {} }} }}</style><div><p>{{}}</p><i></i></div>"
)
# What drawings show or hide within a few seconds counts as it is then, and what animations begin in their turns, too.
_COVERED = (
    "<div style='position:relative'><p>{}</p><i style='position:absolute;inset:0;background:#fff'></i></div>"
)
_UNDER_DRAWING = (
    "<div id=h style='position:relative'><p>{{}}</p><svg style='position:absolute;inset:0' width=900 height=60>"
    "<rect width=900 height=60 fill=#fff opacity=0><set attributeName=opacity to=1 {} /></rect></svg></div>"
)
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
    "under what begins in each turn before it comes": _IN_EACH_TURN.format(
        "", "animation: f 8s steps(1, end) forwards"
    ),
    "under what goes on in each turn before it comes": _IN_EACH_TURN.format(
        "animation: f 8s steps(1, end) forwards paused", "animation-play-state: running"
    ),
    "under what begins by the old name of a wheel": _UNDER_DRAWING.format("begin=h.mousewheel"),
    "under what begins when a picture fails": _UNDER_DRAWING.format("begin=i.error")
    + "<img id=i src=none.png width=1 height=1 loading=lazy style='position:absolute;top:3000px'>",
    "under what begins when a box comes near": _UNDER_DRAWING.format(
        "begin=i.contentvisibilityautostatechange end=1.5s;i.click"
    )
    + "<div style='height:3000px'></div><div id=i style='content-visibility:auto'>box</div>",
    "under what begins when a sound has ended": _UNDER_DRAWING.format("begin=i.ended")
    + "<audio id=i></audio>",
    "white after what a drawing changes for a while": "<style>p { transition: color 0s 9999s } svg:has(.b) ~ p "
    "{ color: #fff; transition: none }</style><svg height=1><rect><set attributeName=class to=b begin=5s dur=20s />"
    "</rect></svg><p>{}</p>",
    "white after what an endless animation changes for a while": "<style>@keyframes k { 0%, 30% { --x: 0 } "
    "31%, 75% { --x: 1 } 76%, to { --x: 0 } } body { animation: k 40s infinite } b { transition: color 0s 9999s } "
    "@container style(--x: 1) { b { color: #fff; transition: none } }</style><b>{}</b>",
    "in each turn under what a drawing shows": "<style>@keyframes k { 50%, to { opacity: 0 } } p { animation: "
    "k 40s steps(1) infinite }</style><div style='position:relative'><p>{}</p><svg style='position:absolute;inset:0' "
    "width=900 height=60><rect width=900 height=60 fill=#fff><animate attributeName=display values=inline;none "
    "calcMode=discrete dur=40s repeatCount=indefinite /></rect></svg></div>",
    "in each turn under what ends some day": "<style>@keyframes k { 50%, to { opacity: 0 } } p { animation: "
    "k 40s steps(1) infinite } @keyframes l { 50%, 99.9% { opacity: 0 } to { opacity: 1 } } i { animation: "
    f"l 40s steps(1) 10 forwards }}</style>{_COVERED}",
    "under what comes in a box of which an animation says the display": "<style>@keyframes d { from, to { display: "
    "block } } div { animation: d 4s infinite } @keyframes k { from, 90% { opacity: 0 } } i { animation: "
    f"k 20s forwards }}</style>{_COVERED}",
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
_STEP = "@keyframes k {{ 0%, {0}% {{ {1} }} {0}1%, 100% {{ {2} }} }}"
_GOES = f"<style>{_STEP.format(0.2, 'opacity: 1', 'opacity: 0')} p {{ animation: k 1000s both }}</style>"
_SLOW_STEP = "linear(0, 0 .2%, 1 .21%, 1)"
_STARTS_LATER = (
    "<p id=m>{}</p><script>{ const one = m.animate({ opacity: [%s] }, { duration: 100, fill: 'both' });"
    "one.startTime = document.timeline.currentTime + 9000 }</script>"
)
_RUNS_BACKWARDS = (
    "<p id=m>{}</p><script>{ const one = m.animate({ opacity: [%s] }, { duration: 100, delay: 3000, fill: 'both' });"
    "one.reverse(); one.currentTime = 12000 }</script>"
)
_CHAIN = (
    "<style>@keyframes a {{ to {{ {} }} }} @keyframes out {{ to {{ opacity: 0 }} }} "
    "@keyframes in {{ from {{ opacity: 0 }} }} div {{ width: 800px; animation: a {} both }} "
    "section {{ container-type: inline-size }} @container {} {{ p {{ animation: {} }} }}</style>"
    "<div><section><p>{{}}</p></section></div>"
)
# What animations show or hide within a minute counts as it is then, also if they go on for longer.
GONE_LATER = {
    "by a step of a long animation": f"{_GOES}<p>{{}}</p>",
    "by a step of one of 70 seconds": f"<style>{_STEP.format(70.0, 'opacity: 1', 'opacity: 0')} "
    "p { animation: k 70s both }</style><p>{}</p>",
    "by a long animation that began before": f"<style>{_STEP.format(90.9, 'opacity: 1', 'opacity: 0')} "
    "p { animation: k 1000s -900s both }</style><p>{}</p>",
    "by a long animation that repeats": _GOES.replace("both", "infinite") + "<p>{}</p>",
    "by a long animation that repeats twice": f"<style>{_STEP.format(8.0, 'opacity: 1', 'opacity: 0')} "
    "p { animation: k 90s 2 }</style><p>{}</p>",
    "by visibility": f"<style>{_STEP.format(0.2, 'visibility: visible', 'visibility: hidden')} "
    "p { animation: k 1000s both }</style><p>{}</p>",
    "by a shape": f"<style>{_STEP.format(0.2, 'clip-path: none', 'clip-path: inset(0 100% 0 0)')} "
    "p { animation: k 1000s both }</style><p>{}</p>",
    "by its display": f"<style>{_STEP.format(0.2, 'display: block', 'display: none')} "
    "p { animation: k 1000s both }</style><p>{}</p>",
    "by an easing": "<style>@keyframes k { from { opacity: 1 } to { opacity: 0 } } "
    f"p {{ animation: k 1000s both {_SLOW_STEP} }}</style><p>{{}}</p>",
    "by a transition": f"<style>p {{ transition: opacity 1000s {_SLOW_STEP}; opacity: 0 }} "
    "@starting-style { p { opacity: 1 } }</style><p>{}</p>",
    "under a cover": f"<style>{_STEP.format(0.2, 'opacity: 0', 'opacity: 1')} i {{ animation: k 1000s both }}"
    f"</style>{_COVERED}",
    "under a cover that waits for a reader": f"<style>{_STEP.format(1.0, 'opacity: 0', 'opacity: 1')} i {{ "
    "animation: k 100s both; timeline-trigger: --t view(); animation-trigger: --t play-forwards }</style>"
    f"<div style='height:1500px'></div>{_COVERED}",
    "in a frame": f"<iframe width=900 srcdoc='{_GOES}<p>{{}}</p>'></iframe>",
    "in a shadow tree": f"<div><template shadowrootmode=open>{_GOES}<p>{{}}</p></template></div>",
    "in a box that is skipped": f"{_GOES}<style>section {{ content-visibility: auto }}</style>"
    "<div style='height:3000px'></div><section><p>{}</p></section>",
    "by a script": "<p id=m>{}</p><script>m.animate([{ opacity: 1 }, { opacity: 1, offset: .002 }, { opacity: 0, "
    "offset: .0021 }, { opacity: 0 }], { duration: 1e6, fill: 'both' })</script>",
    "by a script that lets it start later": _STARTS_LATER % "1, 0",
    "by a script that lets it run backwards": _RUNS_BACKWARDS % "0, 1",
    "by what begins when a style has changed": _CHAIN.format(
        "--on: 1", "8s", "style(--on: 1)", "out 1s 8s both"
    ),
    "by what begins when a style changes late": _CHAIN.format(
        "--on: 1", "40s", "style(--on: 1)", "out 1s 8s both"
    ),
    "by what begins when a box has changed": _CHAIN.format(
        "width: 400px", "9s steps(1, end)", "(width < 600px)", "out 1s 9s both"
    ),
    "by what begins last of three": "<style>@property --a { syntax: '<integer>'; inherits: true; initial-value: 0 } "
    "@property --b { syntax: '<integer>'; inherits: true; initial-value: 0 } @keyframes a { to { --a: 1 } } "
    "@keyframes b { to { --b: 1 } } @keyframes c { to { opacity: 0 } } div { animation: a 9s steps(1, end) both } "
    "@container style(--a: 1) { section { animation: b 9s 9s steps(1, end) both } } @container style(--b: 1) { "
    "p { animation: c 1s 9s both } }</style><div><section><p>{}</p></section></div>",
    "by what begins in the middle of a long one": "<style>@keyframes a { 0%, 1% { --on: 0 } 1.01%, 100% { --on: 1 } "
    "} @keyframes out { to { opacity: 0 } } div { animation: a 1000s both } @container style(--on: 1) { "
    "p { animation: out 1s 9s both } }</style><div><p>{}</p></div>",
    "by a transition that is inherited": "<style>@keyframes a { to { color: #fff } } div { animation: a .1s 9s "
    "both } p { transition: color 1s 9s }</style><div><p>{}</p></div>",
    "by a transition in a box that has changed": "<style>@keyframes a { to { width: 400px } } div { width: 800px; "
    "animation: a 6s steps(1, end) both } section { container-type: inline-size } p { transition: opacity .1s .1s } "
    "@container (width < 600px) { p { opacity: 0 } }</style><div><section><p>{}</p></section></div>",
    "by what begins beside many that end": _CHAIN.format("--on: 1", "8s", "style(--on: 1)", "out 1s 8s both")
    + "<style>@keyframes b { to { left: 1px } } i { animation: b 1s }</style>"
    + "".join(f"<i style='animation-delay:{at / 2}s'></i>" for at in range(1, 100)),
    "by what repeats after a while": "<style>@keyframes k { from, to { opacity: 0 } } "
    "p { animation: k 1s 9s infinite }</style><p>{}</p>",
}
COME_LATER = {
    "by a step of a long animation": f"<style>{_STEP.format(0.9, 'opacity: 0', 'opacity: 1')} "
    "p { animation: k 1000s both }</style><p>{}</p>",
    "slowly": "<style>@keyframes k { from { opacity: 0 } } p { animation: k 90s }</style><p>{}</p>",
    "by a transition": f"<style>p {{ transition: opacity 1000s {_SLOW_STEP}; opacity: 1 }} "
    "@starting-style { p { opacity: 0 } }</style><p>{}</p>",
    "under a cover that goes": f"<style>{_STEP.format(0.2, 'opacity: 1', 'opacity: 0')} i {{ animation: k 1000s both "
    f"}}</style>{_COVERED}",
    "by a script that lets it start later": _STARTS_LATER % "0, 1",
    "by a script that lets it run backwards": _RUNS_BACKWARDS % "1, 0",
    "by what begins when a box has changed": _CHAIN.format(
        "width: 400px", "30s steps(1, end)", "(width < 600px)", "in 1s 9s both"
    ),
    "before what begins after the minute": _CHAIN.format(
        "width: 400px", "30s steps(1, end)", "(width < 600px)", "out 1s 50s both"
    ),
    "slowly going": "<style>@keyframes k { to { opacity: 0 } } p { animation: k 300s }</style><p>{}</p>",
    "on a picture that comes nearer": "<style>@keyframes k { to { transform: scale(1.3) } } div { background: "
    "linear-gradient(#123, #345); position: absolute; inset: 0; animation: k 60s infinite alternate } p { position: "
    "relative; color: #fff; top: 60px }</style><section style='position:relative;overflow:hidden;height:200px'><div>"
    "</div><p>{}</p></section>",
    "beside a bar that fills": "<style>@keyframes k { from { width: 0 } } i { display: block; height: 20px; "
    "background: #08f; animation: k 120s linear }</style><i></i><p>{}</p>",
    "in turn, after a while": "<style>@keyframes k { 0%, 33% { opacity: 1 } 34%, 100% { opacity: 0 } } b { position: "
    "absolute; opacity: 0; animation: k 12s infinite } b + b { animation-delay: 4s } "
    "b + b + b { animation-delay: 8s }</style><b>one quote</b><b>two quotes</b><b>{}</b>",
    "in a line that repeats many times": "<style>@keyframes k { from { translate: 500px } to { translate: -100% } } "
    "b { display: inline-block; animation: k 20s linear 999 }</style><div style='width:500px;overflow:hidden;"
    "white-space:nowrap'><b>{}</b></div>",
}


def _after_text(html: str) -> str:
    return f"<p style='position:static;animation:none'>before</p>{html.replace('{}', _WORDS)}"


def _kept(page: Snapshot) -> list[str]:
    return str(domsieve.clean(page, method="none", hidden="pixels").text).split()


@pictured(lambda way: _after_text(UNREAD[way]))
@pytest.mark.parametrize("way", UNREAD)
def test_text_that_changes_too_fast_to_be_read_is_hidden(ahead: Snapshot, way: str) -> None:
    kept = _kept(ahead)
    assert "before" in kept
    assert not {*kept} & {*_WORDS.split()}


@pictured(lambda way: _after_text(READ[way]))
@pytest.mark.parametrize("way", READ)
def test_text_that_changes_and_can_be_read_is_seen(ahead: Snapshot, way: str) -> None:
    assert " ".join(_kept(ahead)).count(_WORDS)


@pictured(lambda way: _after_text(GONE[way]))
@pytest.mark.parametrize("way", GONE)
def test_text_that_is_hidden_soon_or_in_each_turn_is_hidden(ahead: Snapshot, way: str) -> None:
    kept = _kept(ahead)
    assert "before" in kept
    assert not {*kept} & {*_WORDS.split()}


@pictured(lambda way: _after_text(COME[way]))
@pytest.mark.parametrize("way", COME)
def test_text_that_drawings_show_soon_is_seen(ahead: Snapshot, way: str) -> None:
    assert " ".join(_kept(ahead)).count(_WORDS)


@pictured(lambda way: f"<h1>before</h1>{GONE_LATER[way].replace('{}', _WORDS)}")
@pytest.mark.parametrize("way", GONE_LATER)
def test_text_that_goes_within_a_minute_is_hidden(ahead: Snapshot, way: str) -> None:
    for how in ("layout", "pixels"):
        assert {*domsieve.clean(ahead, method="none", hidden=how).text.split()} == {"before"}, how


@pictured(lambda way: f"<h1>before</h1>{COME_LATER[way].replace('{}', _WORDS)}")
@pytest.mark.parametrize("way", COME_LATER)
def test_text_that_is_there_after_a_minute_is_seen(ahead: Snapshot, way: str) -> None:
    for how in ("layout", "pixels"):
        assert _WORDS in domsieve.clean(ahead, method="none", hidden=how).text, how


_CANVAS = (
    "<style>@keyframes k {{ to {{ opacity: 0 }} }} canvas {{ position: absolute; left: 0; top: 0; animation: k "
    "0.2s forwards }} i {{ content-visibility: auto }}</style><div style='position:relative'><p>{}</p><canvas id=c "
    "width=900 height=60></canvas></div><script>{{ const pen = c.getContext('2d'); pen.fillStyle = '#fff'; "
    "pen.fillRect(0, 0, 900, 60); {} }}</script>"
)


def test_a_canvas_whose_animation_ends_as_it_would_anew_is_laid_out_anew(studio: Studio) -> None:
    page = show(studio, _CANVAS.format(_WORDS, ""))
    assert not page.provenance.reasons
    assert judged(page)[_WORDS] == Hiding.NONE
