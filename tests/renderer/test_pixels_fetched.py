"""What pictures say of texts while the page is still loading: nothing that arrives late shows hidden text."""

import base64
import io
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler

import pytest
from PIL import Image

from domsieve.analysis.columns.hiding import Hiding
from domsieve.options import Budget, CaptureOptions
from domsieve.snapshot.page import Snapshot
from tests.renderer.bad_server import send, start
from tests.renderer.conftest import Studio
from tests.renderer.test_hidden_text import judged

pytestmark = pytest.mark.browser

_WORDS = "seven words that a reader can read"
_PICTURE = "<img {} style='position:absolute;left:0;top:0;width:100%;height:100%'>"
_BOX = "<div style='position:relative'><p style='{}'>{}</p>{}</div>"


def _show(studio: Studio, body: str) -> dict[str, Hiding]:
    return studio.runner.run(_shown(studio, body))


async def _shown(studio: Studio, body: str) -> dict[str, Hiding]:
    """Return what is said of each text of a page, which may be rendered while others are."""
    html = f"<!doctype html><body><p>before</p>{body}"
    return judged(await studio.shown(html, CaptureOptions(pixels=True)))


def _square(colour: str) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (900, 60), colour).save(file, "PNG")
    return file.getvalue()


def _inline(colour: str) -> str:
    """Return a picture as an address; each test needs one of its own: what was loaded once is there at once."""
    return f"data:image/png;base64,{base64.b64encode(_square(colour)).decode()}"


@pytest.fixture(scope="module")
def colours(studio: Studio) -> None:
    """Serve pictures of one colour each."""
    for colour in ("white", "black"):
        studio.server.pages[f"/{colour}.png"] = partial(
            send, body=_square(colour), headers={"Content-Type": "image/png"}
        )


_FAR = "<div style='height:9000px'></div>"
_OVER = "position:relative;z-index:1;color:#fff;margin:0"
_IN_FRAME = '<iframe style="border:0;width:900px;height:60px" srcdoc="<body style=margin:0>{}"></iframe>'
_IN_SHADOW = "<div><template shadowrootmode=open>{}</template></div>"
_SKIPPED = "<section style='content-visibility:auto'>{}</section>"
_IN_CLOSED = _IN_SHADOW.replace("open", "closed")
_IN_SANDBOX = _IN_FRAME.replace("iframe style", "iframe sandbox style")
_UNSIZED = "<img loading=lazy src=/{}.png style='position:absolute;left:0;top:0;width:100%'>"
_BLANK = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
_BY_SCRIPT = """{}<script>for (const one of document.querySelectorAll("[data-src]")) new IntersectionObserver(
    ([{{ isIntersecting }}]) => {{ if (isIntersecting) one.src = one.dataset.src; }}).observe(one)</script>"""
_VIDEO = _PICTURE.replace("<img {}", "<video loading=lazy poster=/{}.png")
_VIDEO = _VIDEO.replace("'>", ";object-fit:fill'></video>")


async def _show_near(studio: Studio, where: str, lazy: str) -> dict[str, Hiding]:
    caption = _BOX.format(_OVER, f"caption of {_WORDS}", lazy.format("black"))
    covered = _BOX.format("margin:0", _WORDS, lazy.format("white"))
    return await _shown(studio, _FAR + where.format(covered) + _FAR + where.format(caption) + _FAR)


@pytest.mark.ahead(job=_show_near)
@pytest.mark.usefixtures("colours")
@pytest.mark.parametrize(
    ("where", "lazy"),
    [
        ("{}", _PICTURE.format("loading=lazy src=/{}.png")),
        ("{}", _UNSIZED),
        ("{}", _VIDEO),
        (_IN_SHADOW, _PICTURE.format("loading=lazy src=/{}.png")),
        (_SKIPPED, _PICTURE.format("loading=lazy src=/{}.png")),
        (_IN_FRAME, _PICTURE.format("loading=lazy src=/{}.png")),
        (_IN_CLOSED, _UNSIZED),
        (_IN_SANDBOX, _PICTURE.format("loading=lazy src=/{}.png")),
        (_BY_SCRIPT, _PICTURE.format(f"src={_BLANK} data-src=/{{}}.png")),
    ],
    ids=["plain", "unsized", "poster", "tree", "skipped", "frame", "closed tree", "sandbox", "script"],
)
def test_a_picture_that_loads_only_when_a_reader_comes_near_covers_text(
    ahead: dict[str, Hiding], where: str, lazy: str
) -> None:
    assert ahead == {"before": Hiding.NONE, _WORDS: Hiding.UNSEEN, f"caption of {_WORDS}": Hiding.NONE}


@pytest.mark.usefixtures("colours")
def test_the_shadow_of_a_lazy_picture_covers_text(studio: Studio) -> None:
    style = "position:absolute;left:0;top:500px;width:900px;height:60px;filter:drop-shadow(0 -500px #fff)"
    shadow = f"<div style='{style}'>{_PICTURE.format('loading=lazy src=/black.png')}</div>"
    assert _show(studio, _FAR + _BOX.format("margin:0", _WORDS, shadow) + _FAR)[_WORDS]


_LAZY = "<img loading=lazy src=/white.png style='position:absolute;left:0;top:-9px;{}'>"
_IN_CORNER = "width:1px;height:1px;object-fit:none;object-position:0 0"
_FRAME = (
    "<iframe style='position:absolute;top:-9px;border:0;{}' srcdoc=\"<style>body{{margin:0}}</style>"
    "<img loading=lazy src=/white.png style='{}'>\"></iframe>"
)
# Before these come, they meet no text.
GROWING = {
    "a poster beyond its box": f"<video loading=lazy poster=/white.png style='position:absolute;top:-9px;left:0;"
    f"overflow:visible;{_IN_CORNER}'></video>",
    "beyond a box that is cut farther out": _LAZY.format(
        f"overflow:clip;overflow-clip-margin:content-box 900px;{_IN_CORNER}"
    ),
    "of a calculated size": _LAZY.format(
        "width:calc-size(auto,size);height:calc-size(auto,size);padding:1px"
    ),
    "of its least size": _LAZY.format("width:1px;height:1px;min-width:max-content;min-height:max-content"),
    "that the page would scroll past": _LAZY.format(
        "width:1px;height:1px;min-width:max-content;min-height:max-content;scroll-margin:90000px"
    ),
    "that another one shows": "<style>.q { display: none; width: 100%; height: 60px } @container (max-width: 890px) "
    "{ .q { display: block } }</style><div style='position:absolute;left:0;top:-9px;width:900px;display:flex'><div "
    "style='flex:1;min-width:0;height:60px;container-type:inline-size'><img class=q loading=lazy src=/white.png>"
    "</div><img loading=lazy src=/white.png style='height:60px'></div>",
    "as wide as a box that is as wide as it": "<div style='position:absolute;left:-9px;top:0;width:max-content'>"
    "<img loading=lazy src=/white.png style='display:block;width:100%;height:60px;min-width:1px'></div>",
    "beyond a box that is cut on the other side": _LAZY.format(
        "width:10px;height:60px;object-fit:none;object-position:0 0;overflow-x:visible;overflow-y:clip"
    ),
    "in a frame that is enlarged": _FRAME.format(
        "left:0;width:100px;height:20px;transform:scale(9,3);transform-origin:0 0", "width:100px;height:20px"
    ),
    "in a frame with room": _FRAME.format(
        "left:-700px;width:900px;height:60px;padding-left:700px", "width:900px;height:60px"
    ),
    "blurred beyond its box": 16 * _LAZY.format("margin-top:-51px;width:900px;height:60px;filter:blur(40px)"),
}


@pytest.mark.usefixtures("colours")
@pytest.mark.parametrize("way", GROWING)
def test_a_lazy_picture_that_covers_text_only_when_it_comes_is_awaited(studio: Studio, way: str) -> None:
    assert _show(studio, _FAR + _BOX.format("margin:0", _WORDS, GROWING[way]) + _FAR)[_WORDS]


@pytest.mark.usefixtures("colours")
def test_a_lazy_picture_that_no_reader_can_scroll_to_pushes_nothing_into_view(studio: Studio) -> None:
    lazy = "<img loading=lazy src=/black.png style='display:block;min-width:1px;position:relative;{}:9000px'>"
    box = "<div style='overflow-y:clip;height:24px'>{}<p style='margin:-60px 0 0'>{}</p></div>"
    inner = box.format(lazy.format("top"), _WORDS)
    assert _show(studio, f"<div style='overflow:hidden;height:24px'>{inner}</div>")[_WORDS]
    cut = "<style>html { overflow-x: hidden }</style>"
    assert _show(studio, cut + box.format(lazy.format("left"), _WORDS))[_WORDS]


# The cover leaves the text as soon as the picture makes the box higher.
_PUSHING = (
    "<div style='position:relative;width:900px;padding-top:40px'><p style='position:absolute;top:0;margin:0'>{}</p>{}"
    "<div style='position:absolute;left:0;bottom:0;width:900px;height:60px;background:#fff'></div></div>"
)
_ROW = (
    "<div tabindex=-1 style='display:flex;overflow-x:auto;overflow-y:hidden;width:900px;min-height:20px;"
    "scrollbar-width:none;{}'><div style='flex:none;width:9000px'></div><img loading=lazy src={}></div>"
)


@pytest.mark.usefixtures("colours")
@pytest.mark.parametrize("is_inline", [False, True])
@pytest.mark.parametrize(
    ("row", "is_open"),
    [
        (_ROW.format("", "{}"), True),
        (
            f"<div style='height:70px;overflow:auto'>{_ROW.format('top:90px;position:relative', '{}')}</div>",
            True,
        ),
        (_ROW.format("visibility:hidden", "{}"), False),
        (_ROW.format("clip-path:inset(50%)", "{}"), False),
        (_ROW.format("transform:rotateX(180deg);backface-visibility:hidden", "{}"), False),
        (f"<div style='overflow:auto'>{_ROW.format('top:-100px;position:relative', '{}')}</div>", False),
        (_ROW.format("height:4px;min-height:0", "{}"), False),
    ],
)
def test_only_a_box_that_a_pointer_meets_is_scrolled(
    studio: Studio, row: str, *, is_open: bool, is_inline: bool
) -> None:
    address = _inline(f"#{len(row):06x}") if is_inline else "/black.png"
    said = _show(studio, _PUSHING.format(_WORDS, row.format(address)) + _FAR)
    assert (said[_WORDS] == Hiding.NONE) is is_open


@pytest.mark.usefixtures("colours")
def test_where_no_reader_can_scroll_to_no_picture_in_a_closed_tree_comes(studio: Studio) -> None:
    lazy = (
        "<img loading=lazy src=/black.png style='position:relative;left:9000px;display:block;min-width:1px'>"
    )
    locked = "<style>html { overflow-x: hidden }</style>"
    said = _show(
        studio,
        locked + _PUSHING.format(_WORDS, f"<div style='min-height:20px'>{_IN_CLOSED.format(lazy)}</div>"),
    )
    assert said[_WORDS]


@pytest.mark.usefixtures("colours")
def test_lazy_pictures_come_from_the_top_of_the_page(studio: Studio) -> None:
    lazy = "<img loading=lazy src={} style='display:block'>"
    last = "<div style='order:1;flex:none;width:300px;padding-top:12000px;min-height:20px'>{}</div>"
    first = (
        "<div style='flex:none;padding:5000px 0 0 600px'>{}</div>"  # which leaves no room for the other one
    )
    both = last.format(lazy.format(_inline("#f00"))) + first.format(lazy.format("/black.png"))
    said = _show(
        studio,
        "<div style='position:relative;width:900px;padding-top:40px'>"
        f"<p style='position:absolute;top:0;margin:0'>{_WORDS}</p>"
        f"<div style='display:flex;align-items:start;overflow:clip;width:900px'>{both}</div>"
        "<div style='position:absolute;left:0;bottom:12000px;width:900px;height:60px;background:#fff'></div></div>",
    )
    assert said[_WORDS]


@pytest.mark.usefixtures("colours")
def test_captions_of_many_lazy_pictures_are_seen(studio: Studio) -> None:
    lazy = _PICTURE.format("loading=lazy src=/black.png")
    card = "<div style='position:relative;height:200px'>{}<h3 style='" + _OVER + "'>caption {}</h3></div>"
    said = _show(studio, "".join(card.format(lazy, number) for number in range(45)))
    assert said == dict.fromkeys(["before", *(f"caption {number}" for number in range(45))], Hiding.NONE)


@pytest.mark.usefixtures("colours")
def test_a_box_is_not_left_where_lazy_pictures_in_it_are(studio: Studio) -> None:
    slide = "<div style='position:relative;flex:none;width:4000px;height:60px'>{}</div>"
    lazy = _PICTURE.format("loading=lazy src=/black.png")
    slides = slide.format(_WORDS) + slide.format(f"later{lazy}")
    said = _show(studio, f"<div style='display:flex;overflow:hidden;width:900px'>{slides}</div>")
    assert said[_WORDS] is Hiding.NONE


@pytest.mark.usefixtures("colours")
def test_a_lazy_frame_in_a_sandbox_covers_text(studio: Studio) -> None:
    style = "position:absolute;left:0;top:0;width:100%;height:100%;border:0"
    frame = f"<iframe loading=lazy sandbox src=/frame style='{style}'></iframe>"
    white = b"<!doctype html><body style='background:url(/white.png)'>"
    studio.server.pages["/frame"] = partial(send, body=white, headers={"Content-Type": "text/html"})
    said = _show(studio, _FAR + _BOX.format("", _WORDS, frame) + _FAR)
    assert said[_WORDS] is not Hiding.NONE


_LATE = "<div style='position:absolute;inset:0;background:url(/late-{}.png)'></div>"
_FADING = "<div style='position:absolute;inset:0;animation:{} 2s both'></div>"
_FADES = """<style>@keyframes to-black {{ from {{ background: #fff }} to {{ background: #000 }} }}
    @keyframes to-white {{ from {{ background: #fff0 }} to {{ background: #fff }} }}</style>{}"""
_TELL = """<script>
    const tell = ({ type }) => said.textContent += type;
    for (const type of ["scroll", "animationstart", "animationend"]) addEventListener(type, tell, true);
    document.addEventListener("contentvisibilityautostatechange", (event) => event.skipped || tell(event), true);
    const inner = new ResizeObserver(() => document.querySelector("section > *")?.checkVisibility(
      { contentVisibilityAuto: true }) && tell({ type: "size" }));
    for (const one of document.querySelectorAll("section, section *")) inner.observe(one);
    </script>"""


async def _show_begun(studio: Studio, where: str, black: str, white: str) -> dict[str, Hiding]:
    def late(handler: BaseHTTPRequestHandler, colour: str) -> None:
        time.sleep(0.5)
        send(handler, body=_square(colour), headers={"Content-Type": "image/png"})

    for colour in ("black", "white"):
        studio.server.pages[f"/late-{colour}.png"] = partial(late, colour=colour)
    where = where.replace("{}", _FADES, 1)
    caption = where.format(_BOX.format(_OVER, f"caption of {_WORDS}", black))
    covered = where.format(_BOX.format("margin:0", _WORDS, white))
    return await _shown(studio, "<p id=said>nothing</p>" + _FAR + caption + _FAR + covered + _FAR + _TELL)


@pytest.mark.ahead(job=_show_begun)
@pytest.mark.parametrize(
    ("where", "black", "white"),
    [
        (_SKIPPED, _LATE.format("black"), _LATE.format("white")),
        (_SKIPPED.format(_IN_SHADOW), _LATE.format("black"), _LATE.format("white")),
        (_SKIPPED.format(_IN_CLOSED), _LATE.format("black"), _LATE.format("white")),
        (_SKIPPED, _FADING.format("to-black"), _FADING.format("to-white")),
        (_SKIPPED.format(_IN_SHADOW), _FADING.format("to-black"), _FADING.format("to-white")),
        (_IN_SHADOW.format(_SKIPPED), _FADING.format("to-black"), _FADING.format("to-white")),
        (_IN_FRAME.format(_SKIPPED), _FADING.format("to-black"), _FADING.format("to-white")),
    ],
    ids=["picture", "shadow tree", "closed tree", "animation", "fade in a tree", "fade of a tree", "frame"],
)
def test_what_begins_when_a_box_comes_near_has_its_time(
    ahead: dict[str, Hiding], where: str, black: str, white: str
) -> None:
    said = ahead
    seen = dict.fromkeys(["before", "nothing", f"caption of {_WORDS}"], Hiding.NONE)
    assert said.pop(_WORDS)
    assert said == seen


@pytest.fixture
def never(studio: Studio) -> Iterator[str]:
    """Return the address of a picture that does not come."""
    end = threading.Event()

    def wait(_: BaseHTTPRequestHandler) -> None:
        end.wait()

    studio.server.pages["/never.png"] = wait
    yield "/never.png"
    end.set()


_ASKED_LATE = {
    "the picture of a box": "<style>@keyframes k {{ to {{ background-image: url({}) }} }}</style>"
    "<i style='position:absolute;inset:0;animation:k 1s 28s forwards'></i>",
    "a picture in turns": "<style>@keyframes k {{ 0%, 40% {{ background-image: none }} 41%, 100% {{ "
    "background-image: url({}) }} }} @keyframes t {{ 0%, 75% {{ visibility: hidden }} 76%, 100% {{ visibility: "
    "visible }} }} p.t {{ animation: t 40s infinite }}</style><i style='position:absolute;inset:0;animation:k 40s "
    "infinite'></i>",
    "a filter": "<style>@keyframes k {{ to {{ filter: url({}#f) }} }} p.t {{ animation: k 1s 28s forwards }}</style>",
    "the picture of a drawing": "<svg style='position:absolute;left:0;top:0;width:100%;height:100%'><image width=900 "
    "height=60><set attributeName=href to='{}' begin=28s /></image></svg>",
}


@pytest.mark.parametrize("way", _ASKED_LATE)
def test_nothing_is_known_under_what_is_asked_for_late_and_does_not_come(
    studio: Studio, never: str, way: str
) -> None:
    late = "<style>@keyframes s { from { visibility: hidden } } .t { animation: s 1s 45s step-end backwards }</style>"
    text = f"<p class=t>{_WORDS}</p>"
    cover = _ASKED_LATE[way].format(never)
    assert _show(studio, f"{late}<div style='position:relative'>{text}{cover}</div>")[_WORDS] == Hiding.UNSEEN
    none = _ASKED_LATE[way].format("")
    assert _show(studio, f"{late}<div style='position:relative'>{text}{none}</div>")[_WORDS] == Hiding.NONE


@pytest.mark.parametrize(
    ("head", "style", "is_seen"),
    [
        ("<link rel=stylesheet href={}>", "", False),
        ("<link rel=stylesheet fetchpriority=low href={}>", "", False),
        ("<link rel=preload as=style fetchpriority=low href={0}><link rel=stylesheet href={0}>", "", False),
        ("<script async blocking=render src={}></script>", "", False),
        ("<script async src={}></script>", "", True),
        ("<link rel=stylesheet media=print href={}>", "", True),
        ("<link rel='alternate stylesheet' title=x href={}>", "", True),
        (
            "<link rel='alternate stylesheet' title=x href={}><meta http-equiv=default-style content=x>",
            "",
            False,
        ),
        ("<link rel=prefetch href={}>", "", True),
        ("", "clip-path: url({}#a)", False),
    ],
)
def test_nothing_is_seen_while_browsers_do_not_paint(
    studio: Studio, never: str, head: str, style: str, *, is_seen: bool
) -> None:
    html = f"<head>{head.format(never)}</head><body><p style='{style.format(never)}'>{_WORDS}</p>"
    said = judged(studio.show(html, CaptureOptions(pixels=True)).snapshot)
    assert (said[_WORDS] == Hiding.NONE) == is_seen


async def _show_late(studio: Studio, body: str, **_: bool) -> tuple[tuple[str, ...], Hiding]:
    def wait(_: BaseHTTPRequestHandler) -> None:
        time.sleep(20)

    studio.server.pages["/waits"] = wait
    html = f"<!doctype html><body><p>{_WORDS}</p>{body}"
    snapshot = await studio.shown(html, CaptureOptions(pixels=True))
    return snapshot.provenance.reasons, judged(snapshot)[_WORDS]


@pytest.mark.ahead(job=_show_late)
@pytest.mark.parametrize(
    ("body", "is_known"),
    [
        ("<img src=/waits>", False),
        ("<img src=/waits width=300>", False),
        ("<img srcset='/waits 2x, /waits?1 1x' sizes=300px style='width:100%'>", False),
        ("<img loading=lazy src=/waits>", False),
        ("<input type=image src=/waits>", False),
        ("<video src=/waits></video>", False),
        ("<video><source src=/waits></video>", False),
        ("<style>i::before { content: url(/waits) }</style><i></i>", False),
        ("<div><template shadowrootmode=closed><img src=/waits></template></div>", False),
        ("<iframe srcdoc='<img src=/waits>'></iframe>", False),
        ("<div style='display:inline-block'><img src=/waits style='width:100%;height:50px'></div>", False),
        ("<img src=/waits width=300 height=100 style='position:sticky;bottom:0'>", False),
        ("<div style='position:sticky;bottom:0;background:url(/waits)'>a bar at the end</div>", False),
        ("<img src=/waits width=300 height=100>", True),
        ("<img src=/waits width=300 height=100 style='max-width:100%;height:auto'>", True),
        ("<img src=/waits style='width:300px;aspect-ratio:3/2'>", True),
        ("<img src=/waits style='position:absolute;top:90px;width:50%;height:50%'>", True),
        ("<img src=/waits?1 width=1 height=1><img src=/waits?2 style='display:none'>", True),
        ("<div style='background:url(/waits)'>1</div>", True),
        ("<video src=/waits style='width:300px;height:200px'></video>", True),
        ("<video preload=none src=/waits></video>", True),
        ("<video src=/nowhere></video><img src=/nowhere>", True),
        ("<img src=http://[><video src=http://[></video><svg><image href=http://[ /></svg>", True),
        (
            "<div style='width:9px;overflow:clip'><img loading=lazy src=/x style='margin-left:9000px'></div>",
            True,
        ),
    ],
)
def test_pictures_that_may_grow_or_move_when_they_come_leave_texts_unsure(
    ahead: tuple[tuple[str, ...], Hiding], body: str, *, is_known: bool
) -> None:
    reasons, hiding = ahead
    assert hiding is Hiding.NONE, body
    said = "capture: pixels: unsure, pictures are missing that may cover or move texts"
    assert reasons == (() if is_known else (said,)), body


def test_what_has_not_come_when_time_is_up_is_unsure(studio: Studio, never: str) -> None:
    html = f"<object data={never}?1>{_WORDS}</object><iframe src={never}?2></iframe>"
    page = studio.show(html, CaptureOptions(pixels=True), Budget(time=timedelta(seconds=3)))
    assert not page.snapshot.provenance.complete
    assert judged(page.snapshot)[_WORDS]


@pytest.mark.parametrize(("host", "is_seen"), [("127.0.0.1:5432", False), ("127.0.0.1:4567", True)])
def test_nothing_is_seen_if_a_style_sheet_was_refused_that_readers_may_have(
    studio: Studio, host: str, *, is_seen: bool
) -> None:
    html = f"<link rel=stylesheet href=http://{host}/style.css><body><p>{_WORDS}</p>"
    said = judged(studio.show(html, CaptureOptions(pixels=True)).snapshot)
    assert (said[_WORDS] == Hiding.NONE) == is_seen


@pytest.fixture
def part(studio: Studio) -> Iterator[str]:
    """Return the address of a picture of which only a part comes."""
    end, data = threading.Event(), _square("white")

    def begin(handler: BaseHTTPRequestHandler) -> None:
        start(handler, {"Content-Type": "image/png", "Content-Length": str(len(data))})
        handler.wfile.write(data[:40])
        end.wait()

    studio.server.pages["/part.png"] = begin
    yield "/part.png"
    end.set()


_GROUND = "background:url({})"
_FIRST = "<style>.first::before{{content:'';position:absolute;inset:0;" + _GROUND + "}}</style>"


@pytest.mark.usefixtures("colours")
def test_only_under_a_picture_of_which_a_part_has_come_nothing_is_known(studio: Studio, part: str) -> None:
    covers = [
        _PICTURE.format("src={}"),
        "<div style='position:absolute;inset:0;" + _GROUND + "'></div>",
        "<img src={} width=9 height=9>" + _FIRST + "<div class=first></div>",
        _IN_CLOSED.format(_PICTURE.format("src={}")),
        _PICTURE.format("src=/white.png srcset='{} 2x, {} 1x'"),
        "<svg style='position:absolute;inset:0' width=900 height=20><image href={} width=900 height=20 /></svg>",
    ]
    boxes = [
        f"<p>shown {number}</p>" + _BOX.format("margin:0", f"covered {number}", cover.format(part, part))
        for number, cover in enumerate(covers)
    ]
    elsewhere = "<img loading=lazy src=/black.png width=90 height=60>"
    said = _show(studio, "".join(boxes) + _FAR + elsewhere)
    assert [text for text, hiding in said.items() if hiding] == [f"covered {n}" for n in range(len(covers))]


def test_nothing_is_known_under_what_has_not_begun_to_come(studio: Studio, never: str) -> None:
    beacon = f"<script>new Image().src = '{never}?count'</script>"
    covers = [
        _PICTURE.format(f"src={never}"),
        f"<div style='position:absolute;inset:0;{_GROUND.format(never)}'></div>",
        f"<iframe src={never}?frame style='position:absolute;inset:0;width:100%;height:100%'></iframe>",
        f"<iframe sandbox src={never}?box style='position:absolute;inset:0;width:100%;height:100%'></iframe>",
        f"<object data={never}?object style='position:absolute;inset:0;width:100%;height:100%'></object>",
        f"<div style='position:absolute;left:0;top:0;content:url({never});width:900px;height:20px'></div>",
        _PICTURE.format(f"src={never}#a"),
        f"<div style='position:absolute;inset:0;{_GROUND.format(never + '?ground#a')}'></div>",
        _PICTURE.replace("<img", "<input type=image").format(f"src=' \n{never}?input '"),
    ]
    boxes = [
        f"<p>shown {number}</p>" + _BOX.format("margin:0", f"covered {number}", cover)
        for number, cover in enumerate(covers)
    ]
    said = _show(studio, "".join(boxes) + beacon)
    assert [text for text, hiding in said.items() if hiding] == [f"covered {n}" for n in range(len(covers))]


@pytest.mark.parametrize(
    "part",
    [
        "<svg style='position:absolute;left:0;top:0;width:100%;height:100%'><filter id=f x=0 y=0 width=1 height=1>"
        "<feImage href={} preserveAspectRatio=none /></filter><rect width=900 height=60 filter=url(#f) /></svg>",
        "<style>i::first-line {{ background: url({}) }}</style><i style='position:absolute;inset:0;"
        "color:transparent'>MMMMMMMM</i>",
        "<style>input::file-selector-button {{ background: url({}) }}</style><input type=file>",
        "<style>i {{ color: red; &::first-line {{ @media screen {{ background: url({0}) }} }} }}</style><i style='"
        "position:absolute;inset:0;color:transparent'>MMMMMMMM</i><img src={0} width=9 height=9>",
        "<img src={} width=900 height=60 style='position:absolute;left:0;top:200px;filter:drop-shadow(0 -200px 0 "
        "#fff)'>",
        "<i style='position:absolute;left:950px;width:10px;height:10px;border-image:url({}) 20 fill / 10px / 5px 5px "
        "60px 900px'></i>",
        "<svg style='position:absolute;left:0;top:900px'><mask id=m maskContentUnits=objectBoundingBox><image href={}"
        " width=1 height=1 /></mask></svg><svg style='position:absolute;left:0;top:0;width:100%;height:100%'><rect "
        "width=900 height=60 fill=#fff mask=url(#m) /></svg>",
        "<svg style='position:absolute;left:950px'><image id=m href={} width=900 height=60 /></svg><svg style='"
        "position:absolute;left:0;top:0;width:100%;height:100%'><use href=#m /></svg>",
        "<ul style='position:absolute;top:0;left:600px;list-style:outside url({})'><li>more</ul>",
        "<iframe src={}?frame style='position:absolute;inset:0;width:100%;height:100%'></iframe><base href=/more/>",
        "<iframe src='{}?a b' style='position:absolute;inset:0;width:100%;height:100%'></iframe>",
        "<object data='{}?a b' type=text/html style='position:absolute;inset:0;width:100%;height:100%'></object>",
    ],
)
def test_nothing_is_known_where_something_may_show_that_has_not_come(
    studio: Studio, never: str, part: str
) -> None:
    assert _show(studio, _BOX.format("margin:0", _WORDS, part.format(never)))[_WORDS] == Hiding.UNSEEN


@pytest.mark.parametrize("where", ["{}", _IN_CLOSED, _IN_SANDBOX])
def test_under_a_lazy_picture_that_does_not_come_nothing_is_known(
    studio: Studio, never: str, where: str
) -> None:
    text = _BOX.format("margin:0", _WORDS, _PICTURE.format(f"loading=lazy src={never}"))
    assert _show(studio, _FAR + where.format(text))[_WORDS]


@pytest.mark.usefixtures("colours")
@pytest.mark.parametrize("around", ["{}", "<div style='height:300px;overflow:auto'>{}</div>"])
def test_a_lazy_picture_that_stays_in_the_window_covers_text(studio: Studio, around: str) -> None:
    cover = (
        "<img loading=lazy src=/white.png style='position:sticky;top:0;z-index:2;width:100%;height:100vh'>"
    )
    text = f"<div style='height:3000px'></div><p>{_WORDS}</p>"
    said = _show(studio, around.format(f"{_FAR}<section>{cover}{text}{_FAR}</section>"))
    assert said == {"before": Hiding.NONE, _WORDS: Hiding.UNSEEN}


@pytest.mark.usefixtures("colours")
def test_a_lazy_picture_is_where_chapters_leave_it_that_are_laid_out_late(studio: Studio) -> None:
    chapter = "<section style='content-visibility:auto;contain-intrinsic-size:1px 100px'>{}</section>"
    chapter = chapter.format("<p>chapter</p><div style='height:500px'></div>")
    lazy = "<img loading=lazy src=/black.png width=800 height=600>"
    with_picture = f"<p>{_WORDS}</p><div style='height:150px'></div>" + lazy + "<p>after</p>"
    said = _show(studio, _FAR + chapter + with_picture)
    assert said == dict.fromkeys(("before", "chapter", _WORDS, "after"), Hiding.NONE)


def test_a_text_counts_as_under_a_late_picture_that_has_moved_since(studio: Studio, never: str) -> None:
    stays = "<p style='position:absolute;left:20px;top:9950px'>stays</p>"
    # It shrinks to its description when loading is stopped.
    fails = f"<div><img src={never}?1 width=800 height=500 alt=fails></div>"
    late = f"<img loading=lazy src={never}?2 width=800 height=500>"
    assert _show(studio, stays + _FAR + fails + late)["stays"]


@pytest.mark.parametrize(
    "closed",
    [
        "<details><summary style='list-style:none'>more</summary>{}</details>",
        "<p>more</p><div hidden=until-found>{}</div>",
        "<p>more</p><div style='content-visibility:hidden'>{}</div>",
    ],
)
def test_what_is_folded_away_is_not_laid_out_and_covers_nothing(
    studio: Studio, never: str, closed: str
) -> None:
    lazy = f"<img loading=lazy src={never} width=400 height=400>"
    far = "<div style='height:9000px'></div>"
    said = _show(studio, far + lazy + closed.format(f"{lazy}<p>folded</p>") + f"<p>{_WORDS}</p>")
    seen = dict.fromkeys(("before", "more", _WORDS), Hiding.NONE)
    assert said == {**seen, "folded": Hiding.NO_BOX}


def test_a_picture_that_is_sent_again_and_again_covers_text(studio: Studio) -> None:
    end = threading.Event()

    def parts(handler: BaseHTTPRequestHandler) -> None:
        start(handler, {"Content-Type": "multipart/x-mixed-replace; boundary=B"})
        data = _square("white")
        head = b"\r\n--B\r\nContent-Type: image/png\r\nContent-Length: %d\r\n\r\n" % len(data)
        while not end.wait(0.05):
            handler.wfile.write(head + data)

    studio.server.pages["/parts"] = parts
    try:
        assert _show(studio, _BOX.format("", _WORDS, _PICTURE.format("src=/parts")))[_WORDS]
    finally:
        end.set()


_WHITE = "position:absolute;left:0;top:0;width:900px;height:60px"
_SHUFFLED = " ".join(str(9 * (7 * at % 60)) for at in range(60))
_XML = {
    "a section of characters": "<div style='position:relative'><![CDATA[{}]]>"
    f"<img src='/white.png' style='{_WHITE}'/></div>",
    "letters of a drawing with a prefix": f"<s:svg><s:text y='20' x='{_SHUFFLED}'>{{}}</s:text></s:svg>",
}
_XHTML = """<html xmlns='http://www.w3.org/1999/xhtml' xmlns:s='http://www.w3.org/2000/svg'><body><p>before</p>{}</body></html>"""


@pytest.mark.usefixtures("colours")
@pytest.mark.parametrize("way", _XML)
def test_pages_of_xml_are_judged_alike(studio: Studio, way: str) -> None:
    said = judged(_of_xml(studio, _XHTML.format(_XML[way].format(_WORDS))))
    assert not said["before"]
    assert said[_WORDS]


def _of_xml(studio: Studio, source: str) -> Snapshot:
    headers = {"Content-Type": "application/xhtml+xml"}
    studio.server.pages["/page.xhtml"] = partial(send, body=source.encode(), headers=headers)
    return studio.render("/page.xhtml", CaptureOptions(pixels=True)).snapshot


def test_a_page_of_xml_that_asks_whether_scripts_are_on_is_judged_by_layout(studio: Studio) -> None:
    sheet = b".x { color: #000 !important }"
    studio.server.pages["/asking.css"] = partial(send, body=sheet, headers={"Content-Type": "text/css"})
    source = _XHTML.format(f"<p class='x'>{_WORDS}</p>")
    page = _of_xml(studio, f"<?xml-stylesheet href='/asking.css' media='(scripting: none)'?>{source}")
    assert [reason.rpartition(": ")[2] for reason in page.provenance.reasons] == [
        "style sheets ask whether scripts are on"
    ]


def test_sheets_that_no_server_has_ask_nothing(studio: Studio) -> None:
    gone = studio.server.url("/gone.css").replace(
        "127.0.0.1", "localhost"
    )  # another origin, of whose sheets no rules can be read
    sheets = f"<link rel=stylesheet href={gone}><style>@import '{gone}';</style>"
    page = studio.show(f"{sheets}<p>{_WORDS}</p>", CaptureOptions(pixels=True)).snapshot
    assert page.provenance.complete
    assert not judged(page)[_WORDS]


_COMES = f"""<style>.x {{ visibility: hidden; animation: k 0s 30s forwards }} @keyframes k {{
    to {{ visibility: visible }} }}</style><p>before</p><p class=x>{_WORDS}</p>"""
_GOES = f"<style>#x:target ~ p {{ display: none }}</style><h1>before</h1><i id=x></i><p>{_WORDS}</p>"


@pytest.mark.parametrize("source", [_COMES, _GOES, "<h1>before</h1><iframe src=/inner></iframe>"])
def test_pages_begin_anew_by_their_headers(studio: Studio, source: str) -> None:
    pages, kind = studio.server.pages, {"Content-Type": "text/html"}
    pages["/plain"] = _COMES
    pages["/inner"] = partial(send, body=_COMES.encode(), headers={**kind, "Refresh": "20"})
    pages["/page"] = partial(send, body=source.encode(), headers={**kind, "Refresh": "40; url=#x"})
    said = judged(studio.render("/page", CaptureOptions(pixels=True)).snapshot)
    assert not said["before"]
    assert said[_WORDS] if source != _COMES else not said[_WORDS]
    assert not judged(studio.render("/plain", CaptureOptions(pixels=True)).snapshot)[_WORDS]


def test_a_frame_with_the_address_of_the_page_does_not_keep_it(studio: Studio) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        headers = {"Refresh": "20"} if handler.headers["Sec-Fetch-Dest"] == "document" else {}
        source = f"{_COMES}<iframe src=/twice></iframe>"
        send(handler, source.encode(), headers={"Content-Type": "text/html", **headers})

    studio.server.pages["/twice"] = answer
    found = judged(studio.render("/twice", CaptureOptions(pixels=True)).snapshot)
    assert found[_WORDS]
