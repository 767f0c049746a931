"""What a page shows only where no reader is counts as hidden: at the top of it, or while no worker answers."""

import pytest

import domsieve
from domsieve.options import CaptureOptions
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.pixels import unsure_texts
from tests.renderer.conftest import Studio
from tests.renderer.test_pixels import clear_picture, pictured, show

pytestmark = pytest.mark.browser
__all__ = ["clear_picture"]  # a fixture

_WORDS = "seven words that a reader can read"
_LAYER = "position:absolute;left:0;top:0;width:100%;height:100%;border:0"
_TALL = "<div style='height:3000px'></div>"
_HELD = (
    f"<div style='transform:scale(1)'><p>{{}}</p><div style='{_LAYER};position:fixed;"
    "background:linear-gradient(#fff 99%,#fffffe)'></div></div>"
)
_WHITE = "linear-gradient(#fff 99%,#fffffe)"
_ON_BLACK = "body::before { content: ''; position: fixed; inset: 0; z-index: -1; background: #000 }"
_FADED = (
    f"<style>i {{{{ {_LAYER}; background: {_WHITE}; {{}} }}}} i.x {{{{ opacity: 0 {{}} }}}}</style>"
    "<div style='position:relative'><p>{{}}</p><i></i></div><script>{{ const [i] = "
    "document.getElementsByTagName('i'); i.offsetTop; i.className = 'x'; i.offsetTop; {} }}</script>"
)
_ATTACHED = (
    "#x {{ position: relative; color: {}; z-index: 0 }} #x::before {{ content: ''; position: absolute; inset: 0; "
    "z-index: {}; background: linear-gradient(90deg,{} 10%,transparent 10%) fixed 0 0/4000vw 100vh }}"
)
_TREE = "<template shadowrootmode={}>"
_LOW_BOX = "<div style='height:60px;overflow:auto;scrollbar-width:none'"
# What takes all of the room that a box shows.
_ON_TOP = (
    "<style>.l {{ position: sticky; display: block; top: 0; width: 100%; height: 60px; margin-bottom: -60px; "
    f"border: 0 }}}}</style>{_LOW_BOX}>{{}}<div style='height:300px'></div><p>{{{{}}}}</p></div>"
)
_WHITE_PICTURE = (
    "background:url(data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22%3E%3Crect%20width=%229999%22"
    "%20height=%229999%22%20fill=%22white%22/%3E%3C/svg%3E)"
)
COVERED = {
    **{
        f"a fixed {name} in a box with {what}": "<style>html, body { height: 100%; margin: 0; overflow: hidden } "
        "@keyframes k { from, to { translate: none } }</style><div style='height:100%;overflow:auto'>"
        f"<div style='{style};height:60px'><p>{{}}</p><{name} style='position:fixed;left:0;top:0;width:900px;"
        f"height:60px;{_WHITE_PICTURE}'></{name}></div>{_TALL}</div>"
        for name, what, style in (
            ("svg", "a transform", "transform:translateX(0)"),
            ("math", "a transform", "transform:translateX(0)"),
            ("svg", "a transform that may come", "will-change:-webkit-Transform"),
            ("svg", "a way to go that may come", "will-change:offset"),
            ("svg", "a place on a way", "offset-position:9px 9px"),
            ("svg", "an animation that moves nothing", "animation:k 9s infinite"),
        )
    },
    "a picture that only a script scrolls to": "<style>html { overflow-x: hidden }</style><div style='position:"
    "relative;width:3000px;height:60px'><p style='position:sticky;left:1000px;width:900px;margin:0'>{}</p>"
    f"<div style='position:absolute;left:1000px;top:0;width:900px;height:60px;{_WHITE_PICTURE}'></div></div>{_TALL}",
    "a picture as high as a fixed body leaves room": "<style>body { margin: 0; position: fixed; left: 0; top: 0; "
    "width: 900px; height: 3000px; padding-top: 100px; box-sizing: content-box }</style><p style='margin:0'>{}</p>"
    f"<div style='position:absolute;top:99px;width:900px;height:calc(100% - 3010px);{_WHITE_PICTURE}'></div>",
    "a shadow of what moves when the page is released": "<style>html, body { overflow: hidden } body { margin: 0; "
    "position: relative }</style><p style='margin:0;height:40px'></p><p style='margin:0 0 600px;height:40px'>{}</p>"
    "<p style='position:absolute;top:2000px'>far</p><div style='position:absolute;left:0;bottom:20px;width:900px;"
    "height:40px;background:#fff;filter:drop-shadow(0 -580px 0 #fff) drop-shadow(0 -40px 0 #fff)'></div>",
    "a fixed svg in a marquee": "<style>html, body { height: 100%; margin: 0; overflow: hidden }</style><div style="
    "'height:100%;overflow:auto'><marquee scrollamount=0 behavior=slide style='height:60px'><p>{}</p><svg style='"
    f"position:fixed;left:0;top:0;width:900px;height:60px;{_WHITE_PICTURE}'></svg></marquee>{_TALL}</div>",
    "a script that comes in view": "<style>@keyframes k { from { display: none } } script { display: block; "
    "position: absolute; top: 0; background: #fff; animation: k 2s step-end }</style><div style='position:relative'>"
    "<p style='margin:0'>{}</p><script type=text/plain>roses and lilies that grow here in the garden all the year"
    "</script></div>",
    "a box that only a script brings from below another one": "<div style='position:relative;width:1000px;"
    "height:200px'><div style='height:200px;overflow:hidden auto'><div style='width:3000px;height:190px'><div "
    "tabindex=-1 style='position:relative;left:700px;width:280px;height:170px;overflow-y:auto'><div style='height:"
    "600px'></div><p>{}</p></div></div></div><div style='position:absolute;left:690px;top:0;width:310px;"
    "height:200px'></div></div>",
    "a fixed pseudo-element behind it": f"<style>{_ON_BLACK}</style>{_TALL}<p>{{}}</p>",
    "a fixed box of which only the top is ever in the window": "<div style='position:fixed;left:0;top:0;"
    "width:100%;height:400vh;z-index:-1;background:linear-gradient(#000 26%,#fff 26%)'></div>"
    f"{_TALL}<p>{{}}</p>",
    "a fixed background that is far wider": f"<style>{_ATTACHED.format('#000', 1, '#fff')}</style>"
    f"{_TALL}<div id=x>{{}}</div>{_TALL}",
    "a sticky box without height": f"{_TALL}<p>{{}}</p><div style='height:800px'></div>"
    "<div style='position:sticky;bottom:0;height:0'><div style='position:absolute;bottom:0;width:100%;"
    f"height:100vh;background:{_WHITE}'></div></div>",
    "sticky boxes that cover the window together": "".join(
        f"<div style='position:sticky;top:{at}vh;height:39vh;background:{_WHITE};z-index:1'></div>"
        for at in (0, 33, 66)
    )
    + f"{_TALL}<p>{{}}</p>{_TALL}",
    "the last of many sticky boxes": f"{'<i style=position:sticky></i>' * 60}<div style='position:sticky;top:0;"
    f"height:100vh;background:{_WHITE};z-index:1'></div>{_TALL}<p>{{}}</p>{_TALL}",
    "a sticky box that stays at the side": "<div style='width:6000px;height:900px'><div style='position:sticky;"
    f"left:0;width:100vw;height:60px;margin-bottom:-60px;z-index:1;background:{_WHITE}'></div>"
    "<p style='padding-left:3500px;margin:0;height:60px'>{}</p></div>",
    "a low sticky box with a large shadow": "<div style='position:sticky;top:1px;height:1px;z-index:1;"
    f"box-shadow:0 50vh 0 100vw #fff'></div>{_TALL}<p>{{}}</p>{_TALL}",
    "sticky text that is pushed under a bar": f"<div style='position:sticky;top:0;height:15vh;background:{_WHITE};"
    f"z-index:1'></div><div style='margin-top:-15vh'>{_TALL}<p style='position:sticky;bottom:88vh;margin:0;"
    f"height:30px'>{{}}</p></div>{_TALL}",
    "what the browser puts into an element": "<style>progress::-webkit-progress-bar { position: fixed; "
    "inset: 0; background: #000; z-index: -1 } progress { appearance: none }</style><progress></progress>"
    f"{_TALL}<p>{{}}</p>",
    "a slider of a control": "<style>input, ::-webkit-slider-runnable-track { appearance: none; position: static } "
    "::-webkit-slider-thumb { appearance: none; position: fixed; left: 0; top: 0; width: 100vw; height: 900px; "
    f"background: #000; z-index: -1 }}</style><input type=range>{_TALL}<p>{{}}</p>",
    "sticky boxes in a box that scrolls": "<div style='height:400px;overflow:auto'>"
    + "".join(
        f"<div style='position:sticky;top:{at}px;height:156px;margin-bottom:-156px;background:{_WHITE};z-index:2'>"
        "</div>"
        for at in (0, 140, 270)
    )
    + f"{_TALL}<p>{{}}</p>{_TALL}</div>",
    "a fixed box on a page that snaps": "<style>html { scroll-snap-type: y mandatory } section { height: 100vh; "
    f"scroll-snap-align: start }}</style><section>{_HELD}</section><section>next</section>",
    "a fixed box on a page that cannot be scrolled": f"<style>html {{ overflow: clip }}</style>{_HELD}",
    "a fixed box in a sticky one": "<div style='height:300px'><div style='position:sticky;top:40px;height:290px'>"
    f"{_HELD}</div></div>{_TALL}",
    "a transition of what is important": _FADED.format(
        "opacity: 1 !important; transition: opacity 1e5s", "!important", ""
    ),
    "a transition that a script pauses": _FADED.format(
        "transition: opacity 1s", "", "i.getAnimations()[0].pause()"
    ),
    "a view transition that does not end": "<style>::view-transition-group(*) { animation-duration: 9999s } "
    "::view-transition-old(*), ::view-transition-new(*) { opacity: 0; animation: none }</style><p>{}</p>"
    "<script>document.startViewTransition(() => document.body.append('x'))</script>",
    "strips that are finer than pixels": "<div style='position:relative'><p style='margin:0;line-height:20px'>{}</p>"
    + "".join(
        f"<div style='position:absolute;left:0;top:{at}px;width:100%;height:1px;background:{_WHITE}'></div>"
        for at in range(20)
    )
    + "</div>",
    "strips of a drawing": "<div style='position:relative'><p style='margin:0;line-height:20px'>{}</p>"
    f"<svg style='{_LAYER}' stroke='#fff'>"
    + "".join(f"<path d='M0 {at}.5H900'/>" for at in range(20))
    + "</svg></div>",
    "strips of shadows": "<div style='position:relative'><p style='margin:0;line-height:20px'>{}</p>"
    "<i style='position:absolute;left:0;top:0;width:100%;height:1px;background:#fff;box-shadow:"
    + ",".join(f"0 {at}px rgb(255 255 255/.995)" for at in range(1, 20))
    + "'></i></div>",
    "lines between rows": "<div style='position:relative'><p style='margin:0;line-height:20px'>{}</p><div style="
    f"'{_LAYER};display:grid;row-gap:1px;row-rule:1px solid #fff'>{'<i></i>' * 20}</div></div>",
    "a box that contains its layers": f"{_TALL}<div style='position:relative'>"
    "<section style='content-visibility:auto'>"
    f"<p style='position:relative;z-index:2'>{{}}</p></section><i style='{_LAYER};z-index:1;background:{_WHITE}'></i>"
    f"</div>{_TALL}",
    "an inline box that contains nothing": "<div style='background:#fff'><b style='content-visibility:auto'>"
    "<i style='position:relative;z-index:-1'>{}</i></b></div>",
    "a row that contains nothing": "<div style='background:#fff'><table><tr style='content-visibility:auto'><td>"
    "<i style='position:relative;z-index:-1'>{}</i></table></div>",
    "a body that keeps its scrolling": "<style>body { content-visibility: auto; overflow: hidden; height: 150px }"
    "</style><p style='margin-top:200px'>{}</p>",
    "a body that keeps its ground": "<style>html { content-visibility: auto } body { background: #000; color: #fff; "
    "height: 60px }</style><div style='height:200px'></div><p>{}</p>",
    "a backdrop on the page": "<style>#d { margin: 0; position: absolute; left: 0; top: 3000px; width: 1px } "
    "#d::backdrop { position: absolute; inset: 3030px 0 auto; height: 120px; background: #fff }</style>"
    f"{_TALL}<p>{{}}</p>{_TALL}<div id=d popover=manual></div><script>d.showPopover()</script>",
    "a large caret": "<div style='position:relative'><p style='margin:0'>{}</p><textarea id=e style='"
    f"{_LAYER};padding:0;background:none;font:20px monospace;letter-spacing:880px;caret-color:#fff;caret-shape:block;"
    "color:transparent'>a</textarea></div><script>e.focus(); e.setSelectionRange(0, 0)</script>",
    "a box in a box that keeps the wheel": "<div style='height:60px;overflow:auto;scrollbar-width:none'><div style="
    "'height:60px;overflow:auto;scrollbar-width:none;overscroll-behavior:contain'><div style='height:300px'></div>"
    "</div><p>{}</p></div>",
    "a slotted layer over a box that scrolls": f"<div style='position:relative'>{_TREE.format('closed')}{_LOW_BOX}>"
    f"<div style='height:300px'></div><p>{{}}</p></div><slot></slot></template><i style='{_LAYER}'></i></div>",
    "what a host paints over a box that scrolls": "<style>#x { position: relative } #x::after { content: ''; "
    f"position: absolute; inset: 0 }}</style><div id=x>{_TREE.format('open')}{_LOW_BOX}>word"
    "<div style='height:300px'></div><p>{}</p></div></template>word</div>",
    "a layer in a box that does not scroll it": f"<div style='position:relative'>{_LOW_BOX}><i style='{_LAYER}'></i>"
    "<div style='height:300px'></div><p>{}</p></div></div>",
    "a frame in a box that keeps the wheel": _ON_TOP.format(
        '<iframe class=l srcdoc="<style>html { overscroll-behavior: none }</style>"></iframe>'
    ),
    "a box in a sandboxed frame that keeps the wheel": _ON_TOP.format(
        "<iframe class=l sandbox style='height:3000px;margin-bottom:-3000px' srcdoc=\"<div style='overflow:auto;"
        "position:absolute;inset:0 0 auto;height:80px;overscroll-behavior:none'></div>\"></iframe>"
    ),
    "a box in a shadow tree that keeps the wheel": _ON_TOP.format(
        f"<div class=l>{_TREE.format('closed')}<div style='height:60px;overflow:auto;overscroll-behavior:contain'>"
        "<slot></slot></div></template><div style='height:300px'></div></div>"
    ),
    "a box in a box that never comes to its end": _ON_TOP.format(
        "<div class=l style='overflow:auto'><div style='height:9000000px'></div></div>"
    ),
    "the side of a fixed body that scrolls": "<style>body { position: fixed; inset: 0; width: 2600px; "
    f"overflow: auto }}</style><p style='margin-left:1400px'>{{}}</p>{_TALL}<p>more</p>",
    "a box that is inert by its style": "<div style='height:60px;overflow:auto;interactivity:inert'><a href=#x>.</a>"
    "<div style='height:300px'></div><p>{}</p></div>",
    "a fixed box that an element over it cuts": "<div style='position:relative'><p>{}</p><div style='"
    "position:absolute;inset:0;clip-path:inset(0)'>"
    "<div style='position:fixed;inset:0;background:#fff'></div></div></div>" + _TALL,
    "a video that a worker feeds": "<div style='position:relative'><p>{}</p><video id=v style='"
    "position:absolute;left:0;top:0;width:100%;height:100%'></video></div>"
    "<script>v.srcObject = new MediaStream()</script>",
    "a cover in a frame that is scrolled": "<iframe style='width:900px;height:60px' srcdoc=\"<style>html { overflow: "
    "hidden }</style><p style='margin:0;height:60px'>{}</p><div style='height:300px'></div><script>scrollTo(0, 70)"
    '</script>"></iframe>',
    "letters over a picture of themselves": "<div style='position:relative;font:bold 30px sans-serif'><svg width=900 "
    "height=40 style='position:absolute;left:0;top:0'><text y=30>{}</text></svg><p style='margin:0;position:relative;"
    "color:#fff;-webkit-text-stroke:4px #fff'>{}</p></div>",
    "a drawing that is fixed in a box that holds it": "<style>body { width: 4000px; height: 500px }</style><p "
    "style='position:absolute;left:2000px'>{}</p><div style='transform:translate(0)'><svg width=900 height=500 "
    "style='position:fixed;left:1900px;top:0'><foreignObject width=900 height=500><canvas width=900 height=500 "
    "style='background:#fff'></canvas></foreignObject></svg></div>",
    "the cut of a body that ends far below the window": "<style>html { overflow: auto; min-height: 5000px } body { "
    "overflow: hidden; height: 2500px; position: relative } p { position: absolute; top: 2600px }</style><p>{}</p>",
    "text that is thrown about": "<style>@keyframes k { to { translate: 0 90px } } p { animation: k 0.04s infinite "
    "alternate }</style><p>{}</p>",
    "text that is thrown about by several boxes": "<style>@keyframes k { from { translate: -15px -15px } "
    "to { translate: 15px 15px } } div { animation: k .05s linear infinite alternate }</style><div>"
    "<div style='animation-duration:.07s'><div style='animation-duration:.03s'>"
    "<div style='animation-duration:.09s'><p>{}</p></div></div></div></div>",
    "text that is thrown about by what is above it": "<style>@keyframes k { from { height: 0 } "
    "to { height: 200px } }</style><div style='animation:k .1s linear infinite alternate'></div><p>{}</p>",
    "text that is thrown about for very long": "<style>@keyframes k { to { translate: 0 200px } }</style>"
    "<p style='animation:k .1s linear 100000 alternate'>{}</p>",
    "drawn text that is thrown about": "<svg width=900 height=300><text x=10 y=40>{}<animate attributeName=y "
    "values='40;240;40' dur=.1s repeatCount=indefinite /></text></svg>",
    "letters that are stretched": "<div style='transform:scaleX(30);transform-origin:0 0;width:300px'>{}</div>",
    "a fixed box that is low, but has a shadow": "<div style='position:fixed;top:50vh;height:1px;width:100%;"
    "background:#000;box-shadow:0 0 0 100vw #000'></div>"
    f"<div style='position:relative'>{_TALL}<p>{{}}</p>{_TALL}</div>",
    "a canvas that is laid out late": f"{_TALL}<div style='position:relative'><p>{{}}</p>"
    "<div style='position:absolute;inset:0;content-visibility:auto'><canvas width=900 height=60></canvas>"
    "<script>{ const pen = document.currentScript.previousSibling.getContext('2d'); pen.fillStyle = '#fff'; "
    f"pen.fillRect(0, 0, 900, 60) }}</script></div></div>{_TALL}",
}
_LINES = "a line of a text\n" * 60
_SCALED = (
    "<svg width=900 height=600 viewBox='0 0 600 400'><text x=20 y=20 style='font:14px sans-serif;{}'>{{}}"
    "</text></svg>"
)
IN_SIGHT = {
    "under a fixed box that is behind another text": "<p style='height:60px'>{}</p><div style='position:fixed;left:0;"
    "right:0;top:0;height:99px;background:#eee'></div><p style='position:relative;z-index:1'>a text before it</p>",
    "a box in a slot of a box that scrolls": "<div><template shadowrootmode=open><div style='overflow:auto;height:"
    "150px'><div style='height:600px'></div><slot></slot></div></template><div style='overflow:auto;height:90px'>"
    "<div style='height:600px'></div><p>{}</p></div></div>",
    **{
        f"{what} that is skipped": f"<style>html, body, {what} {{ content-visibility: auto }}</style>"
        f"{_TALL}{html}{_TALL}"
        for what, html in (
            ("section", "<section style='contain-intrinsic-height:100px'><p>{}</p></section>"),
            ("li", "<ul><li>{}<li>more</ul>"),
            ("td", "<table><tr><td>{}</table>"),
            ("svg", "<svg width=900 height=40><text y=20>{}</text></svg>"),
            ("*", "<table><tr><td><b>{}</b></table>"),
        )
    },
    "in a frame whose body is skipped": f"{_TALL}<iframe style='width:900px;height:60px' srcdoc='<body style="
    f"content-visibility:auto>{{}}'></iframe>{_TALL}",
    **{
        f"{where}, with white space that is left out": html.replace("{}", _WORDS.replace(" ", "\n  "))
        for where, html in (
            ("in a button", "<button>{}</button>"),
            ("in columns", "<p style='columns:2'>{}</p>"),
            ("down the page", "<p style='writing-mode:vertical-rl;height:8em'>{}</p>"),
            ("up the page", "<p style='writing-mode:sideways-lr;height:8em'>{}</p>"),
        )
    },
    "gradient letters with a shadow that reaches the next line": "<h1 style='width:5em;font:900 90px sans-serif;"
    "background:linear-gradient(90deg,#0ff,#f0f);background-clip:text;color:transparent;"
    "filter:drop-shadow(0 4px 8px #0004)'>{}</h1>",
    "at the end of a long text in columns": "<p style='columns:4;width:1200px'>"
    f"{'more words of a text ' * 40}{{}}</p>",
    "a pale title behind a heading": "<div style='position:relative'><b style='position:absolute;left:0;top:0;width:"
    "100%;font:900 90px/1 sans-serif;color:#eee'>{}</b><h2 style='position:relative;font-size:40px'>a heading"
    "</h2><p style='position:relative'>more words of a text</p></div>",
    "dark letters that a dark footer cuts": "<footer style='background:#000;color:#333;overflow:hidden;height:38px'>"
    "<div style='font:900 40px/1 sans-serif;white-space:nowrap'>{}</div></footer>",
    "in a scaled drawing in a frame": f'<iframe width=900 height=600 srcdoc="{_SCALED.format("")}"></iframe>',
    "down a scaled drawing": _SCALED.format("writing-mode:vertical-rl"),
    "a fixed pseudo-element behind it": f"<style>{_ON_BLACK}</style>{_TALL}<p style='color:#fff'>{{}}</p>{_TALL}",
    "a fixed background": f"<style>{_ATTACHED.format('#fff', -1, '#000')}</style>{_TALL}<div id=x>{{}}</div>{_TALL}",
    "a fixed panel that a section shows": "<style>section { height: 100vh; clip-path: inset(0) } "
    "div { position: fixed; inset: 0; color: #fff; padding: 200px }</style><section><div style='background:#036'>one"
    "</div></section><section><div style='background:#630'>{}</div></section><section></section>",
    "a fixed ground that a section shows": "<style>section { height: 100vh; clip-path: inset(0); color: #fff } "
    "i { position: fixed; inset: 0 } p { position: relative; padding: 200px }</style><section><i style="
    "'background:#036'></i><p>one</p></section><section><i style='background:#063'></i><p>{}</p></section>",
    "under the sticky head of a table that scrolls": "<style>th { position: sticky; top: 0; height: 60px; "
    "background: #fff } td { height: 30px }</style><div style='height:200px;overflow:auto'><table><tr><th>head"
    f"{'<tr><td>row' * 9}<tr><td>{{}}{'<tr><td>row' * 9}</table></div>",
    "in a box that scrolls and stays in the window": "<div style='display:flex'><div style='position:sticky;top:0;"
    f"height:90vh;width:400px;flex:none;overflow:auto'>{_TALL}<p>{{}}</p></div><div>{_TALL}{_TALL}</div></div>",
    "in a frame with a sticky head": f"{_TALL}<iframe style='height:200px' srcdoc=\"<div style='position:sticky;"
    "top:0;height:60px;background:#eee'>head</div><p style='margin-top:400px'>{}</p>\"></iframe>",
    "after many texts in columns": f"<div style='columns:9'>{'<b>a</b> ' * 3100}<p>{{}}</p></div>",
    "after many texts with shadows": f"<div style='text-shadow:0 1px 0 #fff'>{'<b>a</b> ' * 2100}<p>{{}}</p></div>",
    "far down in a sticky box": "<div style='display:flex'><div style='position:sticky;top:0;align-self:start;"
    f"height:1400px'><p style='margin-top:1200px'>{{}}</p></div>{_TALL}</div>{_TALL}",
    "far down in a sticky box in a box that scrolls": "<div style='height:400px;overflow:auto'>"
    "<div style='display:flex'><div style='position:sticky;top:0;align-self:start;height:900px'>"
    "<p style='margin-top:800px'>{}</p></div>"
    f"{_TALL}</div></div>",
    "in a fixed body that scrolls": "<style>html { overflow: hidden } body { position: fixed; inset: 0; "
    f"overflow: auto }}</style>{_TALL}<p>{{}}</p>",
    "in a box that shows the texts of a host": f"<div style='white-space:pre-line'>{_TREE.format('open')}{_LOW_BOX}>"
    f"<slot></slot></div></template>{_LINES}{{}}</div>",
    "in a box that shows the elements of a host": f"<div>{_TREE.format('closed')}{_LOW_BOX}><slot></slot></div>"
    "</template><div style='height:300px'></div><p>{}</p></div>",
    "in a box that scrolls a layer of its own": "<style>.l { position: absolute; inset: 0 0 -400px }</style>"
    f"<div>{_TREE.format('open')}{_LOW_BOX[:-1]};position:relative'><slot></slot></div></template>"
    "<i class=l></i><div style='height:300px'></div><p>{}</p></div>",
    "in a box with a frame that keeps no wheel": _ON_TOP.format(
        '<iframe class=l sandbox srcdoc="<style>html { overscroll-behavior-x: none } div { height: 900px }</style>'
        '<div>a</div>"></iframe>'
    ),
    "in a box with another that keeps what goes to the side": _ON_TOP.format(
        "<div class=l style='overflow:auto;overscroll-behavior-x:contain'><div style='width:3000px'>a</div></div>"
    ),
    "in a fixed body that scrolls and is too wide": "<style>body { position: fixed; inset: 0; width: 2600px; "
    f"overflow: auto }}</style>{_TALL}<p>{{}}</p>",
    "on a page that has snapped": "<style>html { scroll-snap-type: y mandatory } section { height: 100vh; "
    "scroll-snap-align: start }</style><section>one</section><section>{}</section>",
    "scrolled to by a script": f"<p>{{}}</p>{_TALL}<p id=x>end</p><script>x.scrollIntoView()</script>",
    "scrolled to by a fragment": f"<p>{{}}</p>{_TALL}<p id=x>end</p><script>location.hash = 'x'</script>",
    "selected": "<p id=x>{}</p><script>getSelection().selectAllChildren(x)</script>",
    "in a box with sections as high as the window": "<div style='height:100vh;overflow:auto'>"
    "<section style='height:100vh'>one</section><section style='height:100vh'>{}</section></div><p>more</p>",
    "a layer that is farther and scrolls at another pace": "<style>.x { height: 600px; overflow: hidden auto; "
    "perspective: 1px } .g { position: relative; height: 600px; transform-style: preserve-3d } "
    ".b { position: absolute; inset: 0; transform: translateZ(-1px) scale(2) }</style><div class=x>"
    "<div class=g></div><div class=g></div><div class=g><p class=b>{}</p></div><div class=g></div></div>",
    "in a box that scrolls and is drawn smaller": "<div style='transform:scale(.7);width:650px'><div style='overflow:"
    f"auto;height:200px'>{_TALL}<p>{{}}</p></div></div>",
    "in a box that scrolls and is zoomed": f"<div style='zoom:.8'><div style='overflow:auto;height:200px'>{_TALL}"
    "<p>{}</p></div></div>",
    "to the left": "<script>document.documentElement.dir = 'rtl'</script><p>{}</p>"
    "<div style='width:1500px'>wide</div>",
    "revealed at the end": f"<div style='position:fixed;bottom:0;z-index:-1'>{{}}</div><div style='position:relative;"
    f"background:{_WHITE};margin-bottom:100px;height:3000px'></div>",
    "a ground with text behind it": "<div style='position:fixed;inset:0;background:#000;color:#fff'>a name</div>"
    f"<div style='position:relative;color:#fff'>{_TALL}<p>{{}}</p></div>",
    "a dialog over it": "<dialog id=d>ask</dialog><style>::backdrop { background: #fff }</style>"
    "<p>{}</p><script>d.showModal()</script>",
    "a bar over the edge of its box": "<div style='position:relative;height:300px'><div style='height:300px;"
    f"overflow:auto'>{_TALL}<p>{{}}</p>{_TALL}</div><div style='position:absolute;top:0;left:0;width:100%;"
    f"height:60px;background:{_WHITE}'>bar</div></div>",
    "the lower end of a sticky card": "<style>.c { position: sticky; top: 0; height: 100vh; color: #fff }</style>"
    "<div class=c style='background:#036'>one</div><div class=c style='background:#630'>"
    "<div style='height:85vh'></div><p>{}</p></div><div class=c style='background:#063'>three</div>",
    "a sticky column beside it": "<div style='display:flex'><div style='position:sticky;top:0;height:100vh;"
    f"width:300px;background:{_WHITE}'>menu</div><div>{_TALL}<p>{{}}</p>{_TALL}</div></div>",
    "a sticky head over it": f"<div style='position:sticky;top:0;height:60vh;background:{_WHITE}'>head</div>"
    f"{_TALL}<p>{{}}</p>{_TALL}",
    "a tall sticky box with it": "<div style='position:sticky;top:0;height:90vh'><div style='height:80vh'></div>"
    f"<p>{{}}</p></div>{_TALL}<p style='margin-left:10px'>other words</p>{_TALL}",
}
_SCROLLING = "<div style='position:relative;width:{}px'><div style='overflow:auto;{}'>{}</div>{}</div>"
_ROWS = "".join(f"<p>line{number} some words</p>" for number in range(14))
# Boxes that scroll and are covered in part, with the words that nothing brings from under the covers.
PARTLY_FREE = {
    "a table with a sticky head and column": (
        "<style>div { overflow: auto; height: 240px; width: 400px } td, th { padding: 6px 20px; "
        "white-space: nowrap } "
        f"thead th {{ position: sticky; top: 0; background: {_WHITE} }} th:first-child {{ position: sticky; left: 0; "
        f"background: {_WHITE}; z-index: 1 }}</style><div><table><thead><tr>"
        + "".join(f"<th>Column head{number} words" for number in range(5))
        + "<tbody>"
        + "".join(
            f"<tr><th>Row head{row} words" + "".join(f"<td>cell{row}.{column} words" for column in range(4))
            for row in range(12)
        )
        + "</table></div>",
        [],
    ),
    "a bar over its lower part": (
        _SCROLLING.format(
            600,
            "height:200px",
            _ROWS,
            "<div style='position:absolute;left:0;right:0;bottom:0;height:120px;background:#fff'></div>",
        ),
        ["line11", "line12", "line13"],
    ),
    "a sticky foot": (
        _SCROLLING.format(
            600,
            "height:200px",
            f"{_ROWS}<div style='position:sticky;bottom:0;background:#fff;height:80px'></div>",
            "",
        ),
        [],
    ),
    "a pane over its right part": (
        _SCROLLING.format(
            700,
            "display:flex",
            "".join(f"<p style='flex:0 0 360px'>card{number} with its words</p>" for number in range(7))
            + "<p style='flex:0 0 360px'></p>",
            "<div style='position:absolute;right:0;top:0;bottom:0;width:300px;background:#fff'></div>",
        ),
        [],
    ),
}
_LOW = f"<p>top</p>{_TALL}<p>{{}}</p>"
# Pages and frames without a doctype, of which other elements are scrolled: the page, and what is in its frame.
QUIRKS = {
    "a page": (_LOW, ""),
    "a frame": ("<iframe src=/inner width=800 height=90></iframe>", _LOW),
    "a frame of a page with a doctype": (
        "<!doctype html><iframe src=/inner width=800 height=90></iframe>",
        _LOW,
    ),
    "a sandboxed frame": ("<iframe sandbox src=/inner width=800 height=90></iframe>", _LOW),
    "a frameset": ("<frameset rows=20%,*><frame src=/inner><frame src=/none></frameset>", _LOW),
    "a box in a frame": (
        f"{_TALL}<iframe src=/inner width=800 height=250></iframe>",
        f"<div style='height:900px'></div><div style='height:200px;overflow:auto'>{_LOW}</div>",
    ),
    "a low body": (
        "<style>html { overflow: hidden } body { overflow: auto; height: 300px }</style>"
        "<p style='margin-bottom:350px'>top</p><p>{}</p>",
        "",
    ),
    "a body of a page that scrolls": (
        "<style>html { overflow: auto } body { overflow: auto; height: 300px; "
        f"margin-top: 1200px }}</style>{_LOW}",
        "",
    ),
    "a body of a frame that scrolls": (
        "<iframe src=/inner width=800 height=190></iframe>",
        "<style>html { overflow: "
        f"auto }} body {{ overflow: auto; height: 300px; margin-top: 1200px }}</style>{_LOW}",
    ),
}
# It clears its canvas when it hears nothing more from the page.
_WORKER = f"""<body style="margin:0"><canvas id=c style="{_LAYER}"></canvas><script>
    const canvas = c.transferControlToOffscreen();
    const worker = new Worker(URL.createObjectURL(new Blob([`let pen, heard;
      onmessage = (event) => {{ if (event.data) pen = event.data.getContext("2d"); heard = performance.now() }};
      setInterval(() => pen?.[performance.now() - heard < 40 ? "fillRect" : "clearRect"](0, 0, 999, 999), 20)`])));
    worker.postMessage(canvas, [canvas]);
    setInterval(() => worker.postMessage(0), 5)</script>"""
FRAMES = [
    f"<iframe src=/worker style='{_LAYER}'></iframe>",
    f"<object type=text/html data=/worker style='{_LAYER}'></object>",
    f"<embed type=text/html src=/worker style='{_LAYER}'>",
]


_EVENTS = "animations of drawings wait for events, or change what is elsewhere"
_LOCKED = "styles follow the size of a page that is locked"
_LOCK = "<style>html, body { height: 100vh; margin: 0; overflow: hidden }</style>"
# Pictures show these, but no reader may come to see them.
DOUBTED = {
    "a locked page whose size is asked for": (
        _LOCKED,
        f"{_LOCK}<style>body {{ container-type: size; box-sizing: border-box }} @container (height < 99vh) {{ p {{ "
        f"color: #fff }} }}</style><p>{{}}</p>{_TALL}{_TALL}",
    ),
    "the focus in a closed tree": (
        "the focus cannot be put back to where it was",
        "<div id=x></div><script>{ const inner = document.createElement('b'); inner.tabIndex = -1; x.attachShadow({ "
        "mode: 'closed' }).append(inner); inner.focus() }</script><div style='height:50px;overflow:auto;"
        "pointer-events:none'><a href=/>a link</a><p style='margin-top:99px'>more</p></div><p>{}</p>",
    ),
    "a cover comes back with an event": (
        _EVENTS,
        "<div id=i style='position:relative'><p>{}</p><svg style='position:absolute;inset:0' width=900 "
        "height=60><rect width=900 height=60 fill=#fff><set attributeName=display to=none end=i.wheel "
        "/></rect></svg></div>",
    ),
    "a drawing changes another one": (
        _EVENTS,
        "<svg width=9 height=9><animate href=#i attributeName=x values=9;90 dur=9s repeatCount=indefinite "
        "/></svg><svg width=500 height=50><rect id=i x=9 width=9 height=9 /></svg><p>{}</p>",
    ),
    "a wheel changes a number first": (
        "a wheel changes a number field, which has the focus",
        "<input type=number value=9 min=1 max=5 autofocus><p>{}</p>",
    ),
    "a size query follows an animation": (
        "styles may follow sizes that animations change",
        "<style>@keyframes k { to { width: 90px } } div { animation: k 40s infinite; container-type: inline-size } "
        "@container (width < 50px) { i { color: #fff } }</style><div><i>.</i></div><p>{}</p>",
    ),
    "a style query follows an animation": (
        "hardly any page has style()",
        "<style>@keyframes k { to { --x: 1 } } div { animation: k 40s infinite } @container/**/style(--x: 2) { p { "
        "color: #fff } }</style><div><p>{}</p></div>",
    ),
    "a drawing changes its class": (
        _EVENTS,
        "<svg height=1><rect><animate attributeName=class values=a;b dur=9s repeatCount=indefinite /></rect></svg>"
        "<p>{}</p>",
    ),
}


@pictured(lambda way: COVERED[way].replace("{}", _WORDS))
@pytest.mark.parametrize("way", COVERED)
def test_what_is_covered_wherever_it_is_in_the_window_is_hidden(ahead: Snapshot, way: str) -> None:
    assert not {*str(domsieve.clean(ahead, method="none", hidden="pixels").text).split()} & {*_WORDS.split()}


_DARK = (
    "<style>body { background: #000; margin: 0 } p { color: #fff; margin: 9px }"
    " dialog { background: none }</style>"
)
_STRIP = f"position:fixed;left:0;right:0;height:200px;{_WHITE_PICTURE}"
# White letters in front of something white, which is all that readers ever see behind them; the page is black.
ON_WHITE = {
    "a low box that is fixed behind a text of a page that does not scroll": f"<div style='{_STRIP};bottom:0'></div>"
    "<p style='position:absolute;bottom:40px;z-index:1'>{}</p>",
    "such a box behind a frame": f"<div style='{_STRIP};bottom:0'></div><iframe style='position:absolute;bottom:40px;"
    "z-index:1;border:0' srcdoc='<p style=color:#fff>{}'></iframe>",
    "a fixed box behind a text that is fixed, too": f"<div style='{_STRIP};top:0'></div>"
    "<p style='position:fixed;top:60px'>{}</p>",
    "a fixed box behind a fixed one that scrolls": f"<div style='{_STRIP};top:0'></div><div style='position:fixed;"
    "top:60px;height:80px;width:900px;overflow:auto'><div style='height:300px'></div><p>{}</p></div>",
    "what is behind a dialog": f"<style>::backdrop {{ {_WHITE_PICTURE} }}</style><dialog><p>{{}}</p></dialog><script>"
    "document.querySelector('dialog').showModal()</script>",
    "such a box behind a text that sticks": f"<div style='{_STRIP};top:0'></div><p style='position:sticky;"
    f"top:60px;margin-top:60px'>{{}}</p>{_TALL}{_TALL}",
    "such a box behind the end of a box that scrolls": "<style>body { height: 100vh; overflow: hidden }</style>"
    f"<div style='{_STRIP};bottom:0'></div><div style='position:relative;height:100vh;overflow:auto'>{_TALL}"
    "<p style='padding:20px'>{}</p></div>",
    "such a box that lies over other texts": f"<p style='height:200px;color:#bbb'>{'other letters ' * 40}</p>"
    f"<div style='{_STRIP};top:0'></div><p style='position:absolute;top:60px;z-index:1'>{{}}</p>",
    "a dialog in a fixed box": f"<style>::backdrop {{ {_WHITE_PICTURE} }}</style><div style='position:fixed'><dialog>"
    "<p>{}</p></dialog></div><script>document.querySelector('dialog').showModal()</script>",
    "what is behind a dialog that goes with the page": "<style>::backdrop { background: #fff } dialog { position: "
    "absolute }</style><dialog><p>{}</p></dialog><script>document.querySelector('dialog').showModal()</script>",
    **{
        f"what a low fixed box paints beyond it: {what}": f"<div style='position:fixed;left:0;width:900px;{style}'>"
        f"{inside}</div><p style='position:relative;z-index:1;margin-top:120px'>{{}}</p>"
        for what, style, inside in (
            (
                "a border",
                "top:500px;height:9px;border:1px solid;border-image:linear-gradient(#fff,#fff) 1 fill/1px/450",
                "",
            ),
            ("strokes", "top:400px;font:20px monospace;color:#fff;-webkit-text-stroke:500px #fff", "|" * 80),
            ("an overline", "top:500px;color:transparent;text-decoration:overline 900px #fff", "x" * 99),
            (
                "enlarged",
                "top:450px;height:9px",
                "<div style='height:9px;box-shadow:0 0 0 50px #fff;transform:scaleY(8);transform-origin:0 0'></div>",
            ),
        )
    },
    "a fixed box below what is around it": "<div style='position:relative;z-index:-1'><div style='position:fixed;"
    f"inset:60px 0 auto;height:80px;{_WHITE_PICTURE}'></div></div><p style='position:absolute;top:80px'>{{}}</p>",
    "a bar at the end of the window": f"<div style='{_STRIP};bottom:0'></div>{_TALL}<p style='position:relative;"
    "z-index:1'>{}</p>",
    "a low bar beside what sticks": "<style>body { padding-top: 200px } .s { position: sticky; top: 0; height: 0; "
    "z-index: 3; margin-top: -200px } .s i { position: absolute; left: 0; right: 0; background: #000 }</style><div "
    "class=s><i style='top:0;height:100px'></i><i style='top:300px;height:9in'></i></div>"
    f"<div style='{_STRIP};top:100px'></div>{_TALL}<p style='position:relative;z-index:1'>{{}}</p>{_TALL}",
    "what is behind a dialog with an order without effect": "<style>::backdrop { background: #fff } dialog { "
    "z-index: -1 }</style><dialog><p>{}</p></dialog><script>document.querySelector('dialog').showModal()</script>",
    "what is behind a dialog that another element cuts": "<style>::backdrop { background: #fff }</style><div style='"
    "clip-path:inset(0)'><dialog><p>{}</p></dialog></div><script>document.querySelector('dialog').showModal()</script>",
    "a box that a script keeps behind it": "<div style='position:fixed;inset:0 0 auto;height:99px;z-index:3;"
    f"{_WHITE_PICTURE}'></div>"
    "<p id=p style='position:relative'>{}</p><script>const one = p.animate([{ zIndex: 5 }, { zIndex: 1 }], { "
    "duration: 1500, easing: 'steps(1, end)', fill: 'forwards' }); setInterval(() => { one.currentTime = 0 }, 5)"
    "</script>",
    "a fixed box behind one whose order has no effect": f"<div style='{_STRIP};top:0'></div><div style='"
    "position:relative;z-index:0'><div style='z-index:-1'><p style='position:fixed;top:60px'>{}</p></div></div>",
    "what is behind a dialog in a frame": "<iframe width=900 height=300 srcdoc='<style>body { background: #000 } p { "
    "color: #fff; position: absolute } ::backdrop { background: #fff }</style><p>{}</p><dialog>more</dialog><script>"
    "document.querySelector(`dialog`).showModal()</script>'></iframe>",
}


@pictured(lambda way: _DARK + "<p>before</p>" + ON_WHITE[way].replace("{}", _WORDS))
@pytest.mark.parametrize("way", ON_WHITE)
def test_the_ground_of_a_text_stays_behind_it(ahead: Snapshot, way: str) -> None:
    kept = str(domsieve.clean(ahead, method="none", hidden="pixels").text).split()
    assert not {*kept} & {*_WORDS.split()}


@pictured(lambda way: IN_SIGHT[way].replace("{}", _WORDS))
@pytest.mark.parametrize("way", IN_SIGHT)
def test_what_is_in_sight_somewhere_in_the_window_is_seen(ahead: Snapshot, way: str) -> None:
    assert _WORDS in domsieve.clean(ahead, method="none", hidden="pixels").text


@pictured(lambda way: f"<p>before</p>{DOUBTED[way][1]}".replace("{}", _WORDS))
@pytest.mark.parametrize("way", DOUBTED)
def test_what_a_reader_may_not_come_to_see_is_left_to_layout(ahead: Snapshot, way: str) -> None:
    said = f"capture: pixels: unsure, {DOUBTED[way][0]}"
    assert [str(reason) for reason in ahead.provenance.reasons] == [said]
    assert unsure_texts(ahead)
    assert _WORDS in domsieve.clean(ahead, method="none", hidden="pixels").text


@pictured(lambda way: PARTLY_FREE[way][0])
@pytest.mark.parametrize("way", PARTLY_FREE)
def test_what_a_box_brings_to_where_it_is_free_is_seen(ahead: Snapshot, way: str) -> None:
    whole, kept = (
        domsieve.clean(ahead, method="none", hidden=how).text.split() for how in ("keep", "pixels")
    )
    assert [word for word in whole if word not in kept] == PARTLY_FREE[way][1]


@pytest.mark.parametrize("way", QUIRKS)
def test_what_a_page_without_a_doctype_scrolls_to_is_seen(studio: Studio, way: str) -> None:
    page, inner = (html.replace("{}", _WORDS) for html in QUIRKS[way])
    studio.server.pages["/inner"] = inner
    found = studio.show(page, CaptureOptions(pixels=True)).snapshot
    assert _WORDS in domsieve.clean(found, method="none", hidden="pixels").text


@pytest.mark.parametrize("how", ["<object data='{}'></object>", "<iframe src='{}'></iframe>"])
def test_drawings_with_text_in_frames_do_not_keep_pictures_from_being_taken(studio: Studio, how: str) -> None:
    drawing = (
        "data:image/svg+xml,<svg xmlns=%22http://www.w3.org/2000/svg%22><text y=%2220%22>a sign</text></svg>"
    )
    page = show(studio, f"<p>{_WORDS}</p>{how.format(drawing)}")
    assert page.provenance.complete
    text = domsieve.clean(page, method="none", hidden="pixels").text
    assert _WORDS in text
    assert "a sign" in text


@pytest.mark.parametrize("frame", FRAMES)
def test_what_a_worker_covers_in_a_frame_is_hidden(studio: Studio, frame: str) -> None:
    studio.server.pages["/worker"] = f"<!doctype html>{_WORKER}"
    page = show(studio, f"<p>before</p><div style='position:relative'><p>{_WORDS}</p>{frame}</div>")
    kept = str(domsieve.clean(page, method="none", hidden="pixels").text).split()
    assert kept == ["before"]
