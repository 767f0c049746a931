"""Pictures of a page say which of its texts can be seen, whatever the page does against it."""

import asyncio
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from domsieve.analysis.columns.hiding import Hiding
from domsieve.options import CaptureOptions
from domsieve.renderer.page import pixels
from domsieve.snapshot.page import PIXELS, Kind, Snapshot
from tests.renderer.conftest import Studio
from tests.renderer.test_hidden_text import HIDDEN, SEEN, judged

pytestmark = pytest.mark.browser

_OPTIONS = CaptureOptions(pixels=True)
_WORDS = "seven words that a reader can read"
_LAYER = "position:absolute;left:0;top:0;width:100%;height:100%"
# Layout cannot know that these are hidden.
ONLY_PICTURES = [
    "<div style='background:#000'><p style='background:url(/none.png)'>{}</p></div>",
    f"<div style='position:relative'><p>{{}}</p><canvas id=c style='{_LAYER}'></canvas></div>"
    "<script>c.getContext('2d').fillRect(0, 0, 9999, 9999)</script>",
    "<div style='position:relative;overflow:hidden'><p>{}</p>"
    "<div style='position:absolute;left:-50px;top:0;width:9px;height:9px;box-shadow:0 0 0 999px #fff'></div></div>",
    f"<div style='position:relative'><p>{{}}</p><svg style='{_LAYER}' viewBox='0 0 9 9' preserveAspectRatio=none>"
    "<path d='M0 0h9v9h-9z' fill=#eee /></svg></div>",
]


def sights(page: Snapshot) -> dict[str, str]:
    """Return what pictures say of each text of a page, by the text."""
    assert page.style_names[-1] == PIXELS
    texts = np.flatnonzero((page.kind == Kind.TEXT) & (page.style >= 0)).tolist()
    return {page.text_of(node).strip(): page.computed_style(node)[PIXELS] for node in texts}


def show(studio: Studio, body: str, **options: Any) -> Snapshot:
    """Return a page with pictures."""
    return studio.show(f"<!doctype html><body>{body}", replace(_OPTIONS, **options)).snapshot


@pytest.mark.parametrize("number", range(len(ONLY_PICTURES)))
def test_what_layout_cannot_know_is_found(studio: Studio, number: int) -> None:
    html = f"<p>before</p>{ONLY_PICTURES[number].format(_WORDS)}<p>after</p>"
    said = judged(show(studio, html))
    assert {said["before"], said["after"]} == {Hiding.NONE}
    assert said[_WORDS] == Hiding.UNSEEN
    assert judged(studio.show(html).snapshot)[_WORDS] == Hiding.NONE


@pytest.mark.parametrize("reason", HIDDEN, ids=lambda reason: reason.name)
def test_what_layout_finds_is_found(studio: Studio, reason: Hiding) -> None:
    for html in HIDDEN[reason]:
        if any(one in html for one in ("opacity:.15", "opacity:.3'", "#7f7f7f")):
            continue  # too close to the limit for pictures of half the size
        said = judged(show(studio, f"<p>before</p>{html.format(_WORDS)}<p>after</p>"))
        assert {text for text, hiding in said.items() if hiding} == {_WORDS}, html


def test_what_can_be_seen_is_seen(studio: Studio) -> None:
    for html in SEEN:
        if "url(x.png)" in html or "/pixel.png" in html:
            continue  # the picture is missing or white, which layout cannot know
        assert judged(show(studio, html.format(_WORDS)))[_WORDS] == Hiding.NONE, html


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
        "<p style='opacity:0;animation:in 1s 99s forwards'>comes later</p>"
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
            f"<p style='{place};color:#fff'>{_WORDS}, white</p><p style='{place}'>{_WORDS}, black</p>"
            f"<p style='{place};color:#fff;text-shadow:0 0 2px #fff'>{_WORDS}, with a shadow</p>",
        )
    )
    assert said[f"{_WORDS}, white"] == "unseen"
    assert said[f"{_WORDS}, black"] == "seen"
    # No highlight changes its shadow alone, so layout decides.
    assert said[f"{_WORDS}, with a shadow"] == "unsure"


def test_the_page_notices_nothing_and_is_restored(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    studio.server.pages["/noticed"] = ""
    html = """<div style='position:fixed;top:0'>fixed</div><div id=box style='height:50px;overflow:auto'><p>text</p>
        <div style='height:500px'></div><p>far below</p></div><style>html { overflow: hidden }</style>
        <p id=late>late</p><script>
        const see = () => [...document.querySelectorAll("*")].map((e) => e.getAttribute("style")).join()
          + document.adoptedStyleSheets.length + CSS.highlights.size + box.scrollTop + scrollY + innerHeight;
        const before = see();
        const tell = (what) => fetch("/noticed?" + what);
        new MutationObserver((all) => tell("mutation-" + all[0].type)).observe(document.documentElement,
          { attributes: true, subtree: true, childList: true, characterData: true });
        new ResizeObserver(() => see() === before || tell("resize")).observe(box);
        box.onscroll = onscroll = () => tell("scroll");
        onresize = () => tell("window");
        setInterval(() => see() === before || tell("change"), 5);
        </script>"""
    asked: list[str] = []
    monkeypatch.setattr(studio, "see", asked.append)
    page = studio.show(f"<!doctype html><body>{html}", replace(_OPTIONS, screenshot=True)).snapshot
    assert sights(page)["far below"] == "seen"
    # The page lives on while its screenshot is taken, which changes the window.
    assert {url.partition("?")[2] for url in asked if "noticed" in url} <= {"window", "resize"}


def test_a_page_that_moves_is_not_judged_where_it_moves(studio: Studio) -> None:
    moving = (
        "<div style='position:relative;width:600px;height:60px'>"
        "<svg width=600 height=60 style='position:absolute;inset:0'><rect width=600 height=60 fill=#fff>"
        "<animate attributeName=fill values='#fff;#000;#f00;#0f0' dur=.1s calcMode=discrete repeatCount=indefinite />"
        f"</rect></svg><p style='position:relative;color:#fff'>{_WORDS}</p></div>"
    )
    said = sights(show(studio, f"{moving}<p>still</p>"))
    assert said["still"] == "seen"
    assert said[_WORDS] in {"unsure", "seen"}  # never hidden for what it was at one moment


def test_a_look_that_fails_leaves_all_to_layout(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    async def late(*_: Any) -> None:
        await asyncio.sleep(0)
        raise TimeoutError

    monkeypatch.setattr(pixels._Page, "look", late)
    page = show(studio, f"<p>{_WORDS}</p><p style='color:#fff'>white</p>")
    assert sights(page) == {_WORDS: "unsure", "white": "unsure"}
    assert judged(page) == {_WORDS: Hiding.NONE, "white": Hiding.SAME_COLOUR}


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
