"""The pixel oracle sees what people see: of texts judged by eye, and on pages whose text is easily missed."""

import asyncio

import numpy as np
import pytest

from tests.renderer.pixel_jury import Judgement, sitting
from tests.renderer.pixel_oracle import Sight
from tests.renderer.readable_texts import TEXTS, page

pytestmark = pytest.mark.browser

# Of the texts that are near the limit; today none is judged differently.
MOST_WRONG = 3
_TALL = "<div style='height:3000px'></div>"
_LAYER = "position:absolute;inset:0"
SEEN = {
    "plain": "<p>{}</p>",
    "below the fold": f"{_TALL}<p>{{}}</p>",
    "far to the right": "<p style='position:absolute;left:5000px;white-space:nowrap'>{}</p>",
    "in a box that scrolls": f"<div style='overflow:auto;height:60px'>{_TALL}<p>{{}}</p></div>",
    "in a box that scrolls sideways": "<div style='overflow:auto;width:200px;white-space:nowrap'>"
    "<span style='margin-left:4000px'>{}</span></div>",
    "in a box that scrolls in another": f"<div style='overflow:auto;height:90px'>{_TALL}"
    f"<div style='overflow:auto;height:60px'>{_TALL}<p>{{}}</p></div></div>",
    "fixed": f"<p style='position:fixed;top:40px'>{{}}</p>{_TALL}",
    "under a fixed box": f"<p>{{}}</p><div style='position:fixed;inset:0;background:#fff'></div>{_TALL}",
    "under a sticky box": "<div><div style='position:sticky;top:0;height:30px;background:#fff'></div>"
    f"<p>{{}}</p></div>{_TALL}",
    "on a locked page": f"<style>html,body{{overflow:hidden;height:100%}}</style>{_TALL}<p>{{}}</p>",
    "fading in": "<style>@keyframes in{from{opacity:0}}p{animation:in 60s}</style><p>{}</p>",
    "waiting for the scroll": f"{_TALL}<p style='opacity:0'>{{}}</p><script>const p = document.querySelector('p');"
    "new IntersectionObserver(([e]) => { if (e.isIntersecting) p.style.opacity = 1 }).observe(p)</script>",
    "rendered on demand": f"{_TALL}<section style='content-visibility:auto'><p>{{}}</p></section>",
    "in a closed shadow root": "<div id=a></div><script>a.attachShadow({mode: 'closed'}).innerHTML = '<p>{}</p>'"
    "</script>",
    "in a frame": '<iframe width=900 height=60 srcdoc="<p>{}</p>"></iframe>',
    "in a frame that scrolls": f'<iframe width=900 height=60 srcdoc="{_TALL}<p>{{}}</p>"></iframe>',
    "of SVG": "<svg width=900 height=40><text y=20>{}</text></svg>",
    "only by its shadow": "<p style='color:transparent;text-shadow:0 0 0 #000'>{}</p>",
    "only by its shadow, aside": "<p style='color:#fff;text-shadow:2px 20px 0 #000'>{}</p>",
    "only by its outline": "<p style='font-size:30px;"
    "-webkit-text-fill-color:#0000;-webkit-text-stroke:1px #000'>{}</p>",
    "cut out of a gradient": "<p style='background:linear-gradient(red,blue);"
    "background-clip:text;color:#0000'>{}</p>",
    "enlarged": "<p style='font-size:1px;zoom:16'>{}</p>",
    "upright": "<p style='writing-mode:vertical-rl;height:700px'>{}</p>",
    "in capitals": "<p style='text-transform:uppercase'>{}</p>",
    "white on a later box": f"<div style='position:relative;z-index:0'><p style='color:#fff'>{{}}</p>"
    f"<div style='{_LAYER};background:#000;z-index:-1'></div></div>",
}
UNSEEN = {
    "not rendered": "<p style='display:none'>{}</p>",
    "transparent": "<p style='opacity:0'>{}</p>",
    "filtered": "<p style='filter:opacity(0)'>{}</p>",
    "masked": "<p style='mask-image:linear-gradient(#0000,#0000)'>{}</p>",
    "clipped": "<p style='clip-path:polygon(0 0,0 0,0 0)'>{}</p>",
    "left of the page": "<p style='position:absolute;left:-9999px'>{}</p>",
    "outside the window for ever": f"<p style='position:fixed;top:5000px'>{{}}</p>{_TALL}",
    "in a box too small to scroll": "<div style='overflow:auto;width:3px;height:3px'><p>{}</p></div>",
    "where a box does not scroll": "<div style='overflow:auto;height:60px;width:300px;position:relative'>"
    "<p style='position:absolute;left:-900px;width:400px'>{}</p></div>",
    "under a gradient": f"<div style='position:relative'><p>{{}}</p>"
    f"<div style='{_LAYER};background:linear-gradient(#fff,#fff)'></div></div>",
    "under an equal text": "<div style='position:relative;background:#fff'><p style='margin:0'>{}</p>"
    f"<p style='{_LAYER};margin:0;background:#fff'>other words that cover the sentence, seen themselves</p></div>",
    "white": "<p style='color:color(srgb 1 1 1)'>{}</p>",
    "white, underlined in black": "<p style='color:#fff;text-decoration:underline 3px #000'>{}</p>",
    "white, in an underlined box": "<div style='text-decoration:underline 3px'><b style='color:#fff'>{}</b></div>",
    "black, under a thick line": "<p style='text-decoration:line-through #c00 30px'>{}</p>",
    "white, under a line of its shadow": "<p style='color:#fff;text-shadow:0 0 #fff;"
    "text-decoration:line-through #fff 30px'>{}</p>",
    "white, with a line of its stroke": "<p style='-webkit-text-fill-color:#fff;color:#000;"
    "-webkit-text-stroke:.1px #fff;background:#fff;text-decoration:line-through 3px'>{}</p>",
    "white in SVG": "<svg width=900 height=40><text y=20 fill=white>{}</text></svg>",
    "for browsers without scripts": "<noscript>{}</noscript>",
    "with its back to the reader": "<p style='transform:rotateY(180deg);backface-visibility:hidden'>{}</p>",
    "in a transparent frame": '<iframe width=900 height=60 style="opacity:0" srcdoc="<p>{}</p>"></iframe>',
}
# These change the whole page, or need a page of their own to be changed by.
ALONE = (
    "fixed",
    "under a fixed box",
    "on a locked page",
    "fading in",
    "waiting for the scroll",
    "outside the window for ever",
)
# A spinner of letters that never stops, next to a text that is hidden.
_MOVING = """<style>@keyframes spin { to { transform: rotate(1turn) } } i { display: inline-block;
animation: spin 1s infinite }</style><i>turning</i><p style="opacity:0">{}</p>"""


def sentence(name: str) -> str:
    """Return a sentence that stands in one place only."""
    return f"A planted sentence ({name}) of several words, for nobody"


@pytest.fixture(scope="module")
def judgements() -> dict[str, list[Judgement]]:
    """Return the judgements of all pages, by page."""
    cases = {name: html.replace("{}", sentence(name)) for name, html in {**SEEN, **UNSEEN}.items()}
    together = "".join(
        f"<section style='position:relative;margin:9px'>{html}</section>"
        for name, html in cases.items()
        if name not in ALONE
    )
    pages = {"texts": page(), "empty": "<!doctype html>", "moving": _MOVING.replace("{}", sentence("moving"))}
    pages |= {name: f"<!doctype html><body>{cases[name]}" for name in ALONE}
    pages["together"] = f"<!doctype html><body>{together}"

    async def run() -> dict[str, list[Judgement]]:
        async with sitting() as jury:
            return {name: await jury.judge(html) for name, html in pages.items()}

    return asyncio.run(run())


def sights(judgements: dict[str, list[Judgement]], name: str) -> list[Sight]:
    """Return what is said of the sentence of this name."""
    return [
        judgement.sight
        for on_page in judgements.values()
        for judgement in on_page
        if judgement.sight.text == sentence(name)
    ]


def test_texts_judged_by_eye_are_judged_the_same(judgements: dict[str, list[Judgement]]) -> None:
    found = [judgement.sight for judgement in judgements["texts"]]
    pairs = [*zip(TEXTS, found, strict=True)]
    wrong = [(text.looks, sight.is_doubtful) for text, sight in pairs if sight.is_seen != text.is_readable]
    assert all(is_doubtful for _, is_doubtful in wrong), wrong
    assert len(wrong) <= MOST_WRONG, wrong


@pytest.mark.parametrize("name", SEEN)
def test_text_that_readers_see_is_seen(judgements: dict[str, list[Judgement]], name: str) -> None:
    assert [sight.is_seen for sight in sights(judgements, name)] == [True]


@pytest.mark.parametrize("name", UNSEEN)
def test_text_that_no_reader_sees_is_not(judgements: dict[str, list[Judgement]], name: str) -> None:
    assert not any(sight.is_seen for sight in sights(judgements, name))


@pytest.mark.parametrize("name", [*SEEN, *UNSEEN])
def test_both_ways_of_changing_letters_say_the_same(
    judgements: dict[str, list[Judgement]], name: str
) -> None:
    assert all(sight.ways_agree is not False for sight in sights(judgements, name))


def test_what_moves_is_not_taken_for_text(judgements: dict[str, list[Judgement]]) -> None:
    assert [sight.is_seen for sight in sights(judgements, "moving")] == [False]


def test_an_empty_page_has_no_runs(judgements: dict[str, list[Judgement]]) -> None:
    assert judgements["empty"] == []


def test_shares_are_of_the_ink() -> None:
    levels = np.zeros(256, np.int64)
    levels[[5, 100, 200]] = 10, 20, 30
    sight = Sight(
        text="a",
        letter_px=16.0,
        changed={"blank": levels // 2},
        ink={"blank": levels.astype(np.float64)},
        is_judged=True,
    )
    assert sight.share("blank", 100) == sight.share("blank", 8) == 0.5
    assert sight.share("swap") is None
    assert sight.is_seen


def test_a_swap_that_no_font_shows_says_nothing() -> None:
    ink = np.zeros(256, np.float64)
    ink[255] = 10
    counts = ink.astype(np.int64)
    sight = Sight(
        text="日本",
        letter_px=16.0,
        changed={"blank": counts, "swap": 0 * counts},
        ink={"blank": ink, "swap": 0 * ink},
        is_judged=True,
    )
    assert sight.share("swap") is None
    assert sight.is_seen
