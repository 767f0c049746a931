"""Text that animations bring in view at some moments is seen, by rules and in pictures, and no other text."""

import asyncio

import pytest

import domsieve
from domsieve.renderer.page._moments import Moments
from domsieve.snapshot.page import MOMENTS, Snapshot
from tests.renderer.conftest import Studio
from tests.renderer.test_pixels import clear_picture, show, shown

pytestmark = pytest.mark.browser
__all__ = ["clear_picture"]  # a fixture

_WORDS = "seven words that a reader can read"
_MORE = "<div style='height:900px'></div>"
_LAYER = "position:absolute;inset:0"
_FADES = "@keyframes k { 0%, 100% { opacity: 0 } 10%, 90% { opacity: 1 } } p { opacity: 0 }"


def _ticker(begin: str, end: str, animation: str, *, box: str = "", line: str = "", more: str = "") -> str:
    """Return a line that goes from one place to another in a box that cuts it."""
    return (
        f"<style>@keyframes k {{ from {{ translate: {begin} }} to {{ translate: {end} }} }}</style><div style="
        f"'position:relative;width:500px;overflow:hidden;white-space:nowrap;{box}'><div style='display:inline-block;"
        f"animation:k {animation};{line}'><b style='display:inline-block;overflow:hidden'>{{}}</b></div>{more}</div>"
    )


def _changing(first: str, second: str, easing: str = "linear", *, more: str = "") -> str:
    """Return a text that has one look, and then for half of the time another one."""
    keys = f"0%, 40% {{ {first} }} 50%, 100% {{ {second} }}"
    return (
        f"<style>@keyframes k {{ {keys} }}</style><p style='animation:k 8s {easing} infinite;{more}'>{{}}</p>"
    )


def _in_turn(keys: str, count: int, style: str) -> str:
    """Return texts of which each is shown for 3 seconds, in one place; all have waited for their turn at first."""
    delays = "".join(f"<i style='animation-delay:{3 * at}s'>quote {at}, one</i>" for at in range(count - 1))
    return (
        f"<style>@keyframes k {{ {keys} }} i {{ animation: k {3 * count}s infinite; {_LAYER}; {style} }}</style>"
        f"<div style='position:relative;height:30px'>{delays}"
        f"<i style='animation-delay:{3 * count - 3}s'>{{}}</i></div>"
    )


def _section(style: str, content: str) -> str:
    """Return a section that stays in the window while it is scrolled past, which is the timeline --s."""
    return (
        "<style>section { height: 400vh; view-timeline: --s } section > div { position: sticky; top: 0; "
        f"height: 100vh; overflow: hidden; background: #123; color: #fff }} {style}</style>{_MORE}<section><div>"
        f"{content}</div></section>{_MORE}"
    )


_CAPTIONS = (
    f"{_FADES} p {{ position: absolute; top: 40vh; animation: k linear both; animation-timeline: --s }}"
    + "".join(
        f" p:nth-of-type({at + 1}) {{ animation-range: contain {33 * at}% contain {33 * at + 33}% }}"
        for at in range(3)
    )
)
_TRACK = (
    "nav { display: flex; width: 400vw; animation: k linear both; %s } nav p { width: 100vw; padding: 40px; "
    "margin: 0; box-sizing: border-box } @keyframes k { to { transform: translateX(-300vw) } }"
)
_PANELS = "<nav><p>one panel</p><p>two panels</p><p>three panels</p><p>{}</p></nav>"
_CUBE = (
    "<style>@keyframes k {{ 0%, 40% {{ transform: none }} 50%, 90% {{ transform: {} }} }} i {{ position: absolute; "
    "inset: 0; backface-visibility: hidden; transform: translateZ(30px) }} i + i {{ transform: rotateX(90deg) "
    "translateZ(30px) }} div {{ height: 60px }} div div {{ position: relative; transform-style: preserve-3d; "
    "animation: k 8s infinite }}</style><div style='perspective:800px'><div><i>before</i><i>{{}}</i></div></div>"
)


def _covered(way: str, cover: str = "i") -> str:
    """Return a page with a text under a cover that an animation moves `way` and back."""
    return (
        f"<style>@keyframes k {{ 0%, 50% {{ translate: none }} 60%, 90% {{ translate: {way} }} }} div {{ position: "
        f"relative; overflow: hidden }} {cover} {{ content: ''; {_LAYER}; background: #fff; animation: k 9s infinite "
        "}</style><div><p>{}</p><i></i></div>"
    )


COMES = {
    "a text under a cover that goes and comes back": _covered("100%"),
    "a text under a cover without an element": _covered("0 100%", "div::after"),
    "a ticker": _ticker("500px", "-100%", "9s linear infinite", box="background:#123;color:#fff"),
    "a ticker that goes back": _ticker("-100%", "500px", "2s 1s linear infinite alternate both"),
    "a ticker at the edge of the window": _ticker(
        "100vw", "-100%", "9s linear infinite", box="position:fixed;bottom:0;left:0;width:100%"
    )
    + _MORE,
    "a ticker of one long text": _ticker("500px", "-100%", "20s linear infinite").replace(
        "{}", "some news and more of it " * 12 + "{}"
    ),
    "quotes in turn": "<style>@keyframes k { 0%, 40%, 100% { opacity: 0 } 5%, 35% { opacity: 1 } } i { opacity: 0; "
    f"animation: k 9s infinite; {_LAYER} }} i + i {{ animation-delay: 3s }} i + i + i {{ animation-delay: 6s }}"
    "</style><div style='position:relative;height:30px'><i>one quote</i><i>two quotes</i><i>{}</i></div>",
    "quotes in turn that are cut": _in_turn(
        "5%, 30% { clip-path: inset(0) } 33%, 100% { clip-path: inset(0 0 0 100%) }",
        3,
        "clip-path: inset(0 100% 0 0)",
    ),
    "quotes in turn on top of each other": _in_turn(
        "0%, 33% { z-index: 2 } 34%, 100% { z-index: 0 }", 3, "background: #fff"
    ),
    "ten quotes in turn": _in_turn(
        "0% { opacity: 0 } 1%, 9% { opacity: 1 } 10%, 100% { opacity: 0 }", 10, "opacity: 0"
    ),
    "quotes in turn that are not visible": _in_turn(
        "0%, 33% { visibility: visible } 34%, 100% { visibility: hidden }", 3, "visibility: hidden"
    ),
    "quotes in turn that are transparent": _in_turn(
        "0%, 30% { color: #000 } 33%, 97% { color: #0000 }", 3, "color: #0000"
    ),
    "a text that blinks": "<style>@keyframes k { from, to { color: transparent } 50% { color: #000 } }</style>"
    "<p style='animation:k 1s step-end infinite'>{}</p>",
    "a text that is out of sight half of the time": "<style>@keyframes k { 50% { visibility: hidden } }</style>"
    "<p style='animation:k 1s step-end infinite'>{}</p>",
    "a filter in turn": "<style>@keyframes k { 0%, 50% { filter: opacity(0) } 60%, 90% { filter: opacity(1) } }"
    "</style><p style='animation:k 9s infinite'>{}</p>",
    "a shape in turn": "<style>@keyframes k { 0%, 50% { clip-path: inset(0 100% 0 0) } "
    "60%, 90% { clip-path: inset(0) } }</style><p style='animation:k 9s infinite'>{}</p>",
    "slides in turn on top of each other": "<style>@keyframes k { 0%, 30% { z-index: 3 } 34%, 100% { z-index: 1 } } "
    f"i {{ background: #eee; animation: k 9s infinite; {_LAYER} }} i:nth-of-type(2) {{ animation-delay: -3s }} "
    "i:nth-of-type(3) { animation-delay: -6s } b { position: absolute; z-index: 2; inset: 0; background: #fff } "
    "</style><div style='position:relative;height:30px'><b></b><i>one slide</i><i>{}</i><i>three slides</i></div>",
    "a text that turns until it is in view": "<style>@keyframes k { to { rotate: 1turn } } div { position: relative; "
    "width: 700px; height: 300px; overflow: hidden } b { position: absolute; left: 350px; top: 300px; width: 0; "
    "height: 0; animation: k 8s -1s linear infinite } i { position: absolute; left: -60px; top: -280px; "
    "width: 160px } i + i { rotate: 180deg; left: -100px; top: 250px }</style><div><b><i>one text</i><i>{}</i></b>"
    "</div>",
    "a text that grows from nothing": _changing("scale: 0", "scale: 1", "step-end"),
    "a text that is tiny at first": _changing("transform: scale(.05)", "transform: none"),
    "a text in a font that grows": _changing("font-size: 0", "font-size: 30px"),
    "a text that is tilted when it comes": _changing(
        "transform: translateX(-600px)", "transform: translateX(60px) rotate(10deg)", more="width:300px"
    ),
    "the back of a card": "<style>@keyframes k { 0%, 40% { transform: rotateY(0) } "
    "50%, 90% { transform: rotateY(180deg) } } i { position: absolute; inset: 0; backface-visibility: hidden } "
    "i + i { transform: rotateY(180deg) }</style><div style='position:relative;height:50px;"
    "transform-style:preserve-3d;animation:k 8s infinite'><i>one side</i><i>{}</i></div>",
    "a side of a cube that turns": _CUBE.format("rotateX(-90deg)"),
    "an animation of a script": "<p id=x style='opacity:0'>{}</p><script>x.animate({ opacity: [0, 1] }, "
    "{ duration: 3000, iterations: Infinity, easing: 'steps(2)' })</script>",
    "captions in turn": _section(_CAPTIONS, "<p>one caption</p><p>two captions</p><p>{}</p>"),
    "panels at the side": _section(_TRACK % "animation-timeline: --s; animation-range: contain", _PANELS),
    "a text that grows while it is scrolled past": _section(
        "@keyframes k { 0%, 30% { font-size: 2px; translate: -900px } 50%, 100% { font-size: 30px } } "
        "p { position: absolute; top: 40vh; "
        "animation: k linear both; animation-timeline: --s; animation-range: contain }",
        "<p>{}</p>",
    ),
    "panels that follow the page": _section(_TRACK % "animation-timeline: scroll(root)", _PANELS),
}
NEVER_COMES = {
    "a text that is taken away before it has faded in": "<style>@keyframes k { from { opacity: 0 } } @keyframes d { "
    "90% { display: block } 95%, 100% { display: none } } div { animation: d 10s infinite step-end } "
    "p { animation: k 20s step-end both }</style><div><p>{}</p></div>",
    "a text under a cover that only trembles": _covered("4px"),
    "a ticker that stays away": _ticker("-3000px", "-2000px", "1s linear infinite"),
    "a ticker that stands": _ticker("-3000px", "0px", "1s linear infinite paused"),
    "a ticker that waits for days": _ticker("-3000px", "0px", "1s 1e6s linear infinite both"),
    "a ticker that takes days": _ticker("-3000px", "0px", "1e6s linear infinite"),
    "a ticker under a cover": _ticker(
        "-3000px", "0px", "2s linear infinite", more=f"<div style='{_LAYER};background:#eee'></div>"
    ),
    "a slide that is never on top": "<style>@keyframes k { 50% { z-index: 1 } } i { position: absolute; inset: 0; "
    "background: #eee; animation: k 1s step-end infinite } b { position: absolute; z-index: 2; inset: 0; "
    "background: #fff }</style><div style='position:relative;height:30px'><b></b><i>{}</i></div>",
    "a ticker in the colour of its ground": _ticker(
        "-3000px", "0px", "2s linear infinite", box="background:#123", line="color:#123"
    ),
    "a ticker in a clipped box": _ticker("-3000px", "0px", "2s linear infinite", box="clip-path:inset(50%)"),
    "a wink": "<style>@keyframes k { 0%, 96%, 97%, 100% { opacity: 0 } 96.5% { opacity: 1 } }</style>"
    "<p style='animation:k 60s infinite'>{}</p>",
    "a text that is always flat": _changing("scale: .05", "scale: 1 .05"),
    "a side of a cube that is edge-on all the time": _CUBE.format("rotateY(-90deg)"),
    "nothing but transparent": "<style>@keyframes k { to { opacity: 0 } }</style>"
    "<p style='opacity:0;animation:k 1s infinite'>{}</p>",
    "a box that nobody can scroll": f"<style>{_FADES} p {{ position: sticky; top: 0; animation: k linear both; "
    "animation-timeline: --s; animation-range: exit } section { height: 900px; view-timeline: --s }</style>"
    "<div style='height:200px;overflow:hidden'><section><p>{}</p></section></div>",
    "the end of the page": f"<style>{_FADES} p {{ animation: k linear both; animation-timeline: --s; "
    "animation-range: exit 50% exit 100% } section { height: 300px; view-timeline: --s }</style>"
    f"{_MORE}<section><p>{{}}</p></section>",
    "a text that goes away in the window, beside one that comes": _section(
        f"{_FADES} p {{ animation: k linear both; animation-timeline: --s; animation-range: contain 60% contain }}"
        " h2 { animation: h linear both; animation-timeline: view() } @keyframes h { 20%, 80% { opacity: 0 } }",
        "<p>before</p>",
    )
    + f"<h2>{{}}</h2>{_MORE}",
    "a cover that comes with it": _section(
        f"{_FADES} p {{ animation: k linear both; animation-timeline: --s; "
        f"animation-range: contain 50% contain 100% }} b {{ {_LAYER}; background: #123; animation: c linear both; "
        "animation-timeline: scroll(root) } "
        "@keyframes c { 0% { transform: translateY(-300vh) } 50%, 100% { transform: none } }",
        "<p>{}</p><b></b>",
    ),
}


async def _shown(studio: Studio, way: str) -> Snapshot:
    html = COMES[way] if way in COMES else NEVER_COMES[way]
    return await shown(studio, f"<h1>before</h1>{html}".replace("{}", _WORDS))


def test_a_page_is_captured_as_it_was_when_its_moments_were_sought(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = Moments.find

    async def find_slowly(self: Moments, *, limit_s: float) -> None:
        await find(self, limit_s=limit_s)
        await asyncio.sleep(0.5)  # half of a turn

    monkeypatch.setattr(Moments, "find", find_slowly)
    for _ in range(4):
        page = studio.runner.run(_shown(studio, "a text that is out of sight half of the time"))
        assert _WORDS in domsieve.clean(page, method="none").text


@pytest.mark.ahead(job=_shown)
@pytest.mark.parametrize("way", COMES)
def test_what_animations_bring_in_view_is_seen(studio: Studio, ahead: Snapshot, way: str) -> None:
    # Moments are drawn by chance, and pictures may miss a text that changes its shape in one of many looks.
    for left in (1, 0):
        page = ahead if left else studio.runner.run(_shown(studio, way))
        kept = {how: domsieve.clean(page, method="none", hidden=how).text for how in ("layout", "pixels")}
        assert _WORDS in kept["layout"]
        if _WORDS in kept["pixels"]:
            return
        assert left


@pytest.mark.ahead(job=_shown)
@pytest.mark.parametrize("way", NEVER_COMES)
def test_what_animations_never_bring_in_view_is_hidden(ahead: Snapshot, way: str) -> None:
    for how in ("layout", "pixels"):
        assert {*domsieve.clean(ahead, method="none", hidden=how).text.split()} == {"before"}, how


def test_each_of_nineteen_slides_in_turn_is_seen(studio: Studio) -> None:
    # Of more, one may be in view between two of the 40 moments that are tried, which are by chance.
    style = (
        "@keyframes k { 0%, 5.25%, 100% { opacity: 0 } 0.1%, 5.15% { opacity: 1 } } div { position: relative } "
        "p { position: absolute; animation: k 38s infinite both }"
    )
    slides = "".join(f"<p style='animation-delay:{2 * at}s'>slide{at} in turn</p>" for at in range(19))
    page = show(studio, f"<!doctype html><style>{style}</style><div>{slides}</div>")
    for how in ("layout", "pixels"):
        kept = domsieve.clean(page, method="none", hidden=how).text.split()
        assert [at for at in range(19) if f"slide{at}" not in kept] == [], how


def test_letters_that_turn_and_grow_are_compared_with_their_shape(studio: Studio) -> None:
    dots = "mask:radial-gradient(#000 1px,transparent 1.2px) 0 0/6px 6px"
    text = _changing("scale: .05; rotate: 40deg", "scale: 1", more=dots).replace("{}", _WORDS)
    page = show(studio, f"<h1>before</h1>{text}")
    assert domsieve.clean(page, method="none", hidden="pixels").text.split() == ["before"]


def test_only_pages_with_such_texts_have_moments(studio: Studio) -> None:
    page = studio.show(COMES["a ticker"].replace("{}", _WORDS)).snapshot
    (said,) = (
        page.computed_style(node)[MOMENTS] for node in range(len(page)) if page.text_of(node) == _WORDS
    )
    assert said
    still = "<style>@keyframes k { to { opacity: 0.5 } } p { animation: k 1s infinite alternate }</style>"
    assert MOMENTS not in studio.show(f"{still}<p>{_WORDS}</p>").snapshot.style_names
