"""Pictures, players and frames that nobody can see are not written, and neither are their descriptions and titles."""

import re
from functools import partial

import pytest

from domsieve.analysis.columns.hiding import HIDING_REASONS, Hiding, hidden_media
from domsieve.analysis.registry import page_cleaner
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.html import write_html
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.analysis.writers.references import images_of
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.postprocess import judged
from domsieve.types import HiddenText
from tests.analysis.contract import SENTENCE
from tests.renderer.bad_server import send
from tests.renderer.conftest import Studio

pytestmark = pytest.mark.browser

_BOX = "width:300px;height:150px;"
PICTURE = f"<img src={{base}}/red.png alt='word word' style='{_BOX}{{style}}'>"
FRAME = f"<iframe src={{base}}/empty title='word word' style='{_BOX}{{style}}'></iframe>"
PLAYERS = [
    f"<video controls src=/a.mp4 title='word word' style='{_BOX}{{style}}'></video>",
    "<audio controls src=/a.mp3 title='word word' style='{style}'></audio>",
    f"<lite-youtube videoid=abc playlabel='word word' style='display:block;{_BOX}{{style}}'></lite-youtube>",
]
_COVER = "<div style='position:absolute;inset:0;background:#fff'></div>"
HIDDEN = {
    "display:none": Hiding.NO_BOX,
    "visibility:hidden": Hiding.INVISIBLE,
    "position:absolute;left:-9999px": Hiding.OFF_SCREEN,
    "position:absolute;clip:rect(0,0,0,0)": Hiding.CLIPPED,
    "clip-path:inset(50%)": Hiding.CLIPPED,
}
# Pictures may be still to come.
HIDDEN_PLAYERS = {
    "width:1px;height:1px": Hiding.NO_SIZE,
    "opacity:0": Hiding.TRANSPARENT,
    "filter:opacity(0)": Hiding.TRANSPARENT,
}
SEEN = ["", "opacity:.5", "position:relative;left:40px", "border-radius:50%", "filter:grayscale(1)"]


def shown(studio: Studio, media: str, style: str, *, cover: str = "") -> Snapshot:
    """Return a page with media of this style between two sentences."""
    media = media.format(base=studio.server.url("").rstrip("/"), style=style)
    return studio.show(
        f"<body><article><h1>Ovens</h1><p>{SENTENCE}</p><div style='position:relative'>{media}{cover}</div>"
        f"<p>{SENTENCE} {SENTENCE}</p></article>"
    ).snapshot


def written(page: Snapshot, hidden: HiddenText = "layout") -> str:
    """Return all that is written of the page in formats that have descriptions and titles."""
    verdict = judged(page, page_cleaner("none"), hidden=hidden, may_change=False)
    images = " ".join(image.alt for image in images_of(page, verdict))
    return f"{write_markdown(page, verdict)} {write_html(page, verdict)} {images}"


@pytest.mark.parametrize("media", [PICTURE, *PLAYERS])
def test_descriptions_of_what_nobody_can_see_are_not_written(studio: Studio, media: str) -> None:
    ways = HIDDEN if media == PICTURE else HIDDEN | HIDDEN_PLAYERS
    for style, reason in ways.items():
        page = shown(studio, media, style)
        assert Hiding(hidden_media(page).max()) == reason, style
        assert "word word" not in written(page), style
    for style in SEEN:
        page = shown(studio, media, style)
        assert not hidden_media(page).any(), style
        assert "word word" in written(page), style
    covered = shown(studio, media, "", cover=_COVER)
    assert Hiding(hidden_media(covered).max()) == Hiding.COVERED
    assert "word word" not in written(covered)


def test_pictures_that_may_be_still_to_come_are_written(studio: Studio) -> None:
    for style in HIDDEN_PLAYERS:
        assert "word word" in written(shown(studio, PICTURE, style)), style


def test_frames_are_judged_as_players(studio: Studio) -> None:
    for style, reason in (HIDDEN | HIDDEN_PLAYERS).items():
        assert Hiding(hidden_media(shown(studio, FRAME, style)).max()) == reason, style
    assert not hidden_media(shown(studio, FRAME, "")).any()


def test_reasons_count_for_media_and_keep_leaves_them(studio: Studio) -> None:
    page = shown(studio, PLAYERS[0], "visibility:hidden")
    verdict = judged(page, page_cleaner("none"), hidden="layout", may_change=False)
    assert verdict.decided_by([HIDING_REASONS[Hiding.INVISIBLE]]).sum() == 1
    assert "word word" in written(page, "keep")


UNSHOWN = [
    "<p title=Ant>one</p>",
    "<p><img src=/red.png alt=one title=Ant width=90 height=90></p>",
    "<iframe srcdoc='<title>Ant</title><p>one two'></iframe>",
    "<svg><title>Ant</title><text y=20>one</text></svg>",
    "<div><template shadowrootmode=open><title>Ant</title><p>one</p></template></div>",
    "<svg><base href=/Ant/ /></svg><a href=one>one</a>",
    "<div><template shadowrootmode=open><base href=/Ant/><p>one</p></template></div><a href=one>one</a>",
    "<iframe src=/Ant/ srcdoc='<a href=one>one</a>'></iframe>",
    "<iframe src='https://www.youtube.com/embed/Ant' title=Ant srcdoc=one></iframe>",
    f"<title>{'words of a title ' * 20} Ant</title>",
    "<math><video src=/v.mp4 title=Ant style='display:block;width:50px;height:50px'><mi>one</mi></video></math>",
    "<lite-youtube videoid=abc title=Ant style='display:contents'>one</lite-youtube>",
]


@pytest.mark.parametrize("html", UNSHOWN)
def test_titles_that_a_page_does_not_show_are_not_written(studio: Studio, html: str) -> None:
    page = studio.show(
        f"<body><article><h1>Ovens</h1><p>{SENTENCE}</p>{html}<p>{SENTENCE}</p></article>"
    ).snapshot
    verdict = judged(page, page_cleaner("none"), hidden="layout", may_change=False)
    assert "Ant" not in write_html(page, verdict) + write_markdown(page, verdict)


_PLAYERS = (
    "<{0}video src='/v.mp4' title='Ant' style='display:block;width:50px;height:50px'>words</{0}video>"
    "<{0}img src='/a.png' alt='Ant'/><{0}iframe src='https://www.youtube.com/embed/x' title='Ant'/>"
    "<{0}lite-youtube videoid='abc' title='Ant' style='display:block;width:50px;height:50px'>words</{0}lite-youtube>"
)
_XHTML = "http://www.w3.org/1999/xhtml"
_MATHML = "http://www.w3.org/1998/Math/MathML"
UNSHOWN_XML = {
    "another language": f"<q xmlns='urn:x'>{_PLAYERS.format('')}</q>",
    "MathML": f"<math xmlns='{_MATHML}'>{_PLAYERS.format('')}</math>",
    "a prefix": f"<q xmlns:m='{_MATHML}'>{_PLAYERS.format('m:')}</q>",
    "no language": f"<q xmlns=''>{_PLAYERS.format('')}</q>",
    "capitals": re.sub("</?[a-z-]+", lambda name: name[0].upper(), _PLAYERS.format("")),
}


def _judged_xhtml(studio: Studio, source: str) -> tuple[Snapshot, Verdict]:
    studio.server.pages["/page.xhtml"] = partial(
        send, body=source.encode(), headers={"Content-Type": "application/xhtml+xml"}
    )
    page = studio.render("/page.xhtml").snapshot
    return page, judged(page, page_cleaner("none"), hidden="layout", may_change=False)


@pytest.mark.parametrize("way", UNSHOWN_XML)
@pytest.mark.parametrize("root", ["html", "HTML"])
def test_names_in_xml_mean_what_their_language_says(studio: Studio, way: str, root: str) -> None:
    body = f"<p>{SENTENCE}</p>{UNSHOWN_XML[way]}<script xmlns='urn:x'>let</script><p>{SENTENCE}</p>"
    page = f"<{root} xmlns='{_XHTML}'><body>{body}</body></{root}>"
    shown, verdict = _judged_xhtml(studio, page)
    result = write_html(shown, verdict) + write_markdown(shown, verdict)
    assert "Ant" not in result
    assert result.count("words") == 4
    assert result.count("let") == 2


def test_names_in_xml_may_have_a_prefix_of_html(studio: Studio) -> None:
    body = f"<q><h:p>{SENTENCE}</h:p>{_PLAYERS.format('h:')}<h:p>{SENTENCE}</h:p></q>"
    page = f"<h:html xmlns:h='{_XHTML}' xmlns='urn:x'><h:body>{body}</h:body></h:html>"
    shown, verdict = _judged_xhtml(studio, page)
    assert write_markdown(shown, verdict).count("[Ant](") == 4


def test_the_title_of_a_page_is_that_of_html(studio: Studio) -> None:
    space = "http://www.w3.org/1999/xhtml"
    titles = "<x:title>Ant</x:title><title xmlns='urn:x'>Bee</title><TITLE>Cat</TITLE>"
    titles += "<s:title xmlns:s='http://www.w3.org/2000/svg'>Elk</s:title>"
    titles += "<s:svg xmlns:s='http://www.w3.org/2000/svg'><s:title>Fox</s:title></s:svg>"
    titles += "<y xmlns='urn:y'><h:title>Ovens<b>Dog</b></h:title></y><h:title>Gnu</h:title>"
    page = f"""<html xmlns="{space}" xmlns:h="{space}" xmlns:x="urn:x">
        <head>{titles}</head><body><p>{SENTENCE}</p></body></html>"""
    shown, verdict = _judged_xhtml(studio, page)
    assert "<title>Ovens</title>" in write_html(shown, verdict)


@pytest.mark.parametrize(
    "first",
    [
        "<svg><foreignObject>{}</foreignObject></svg>",
        "<svg><desc>{}</desc></svg>",
        "<math><mtext>{}</mtext></math>",
        "<math><annotation-xml encoding=TEXT/html>{}</annotation-xml></math>",
        "<math><annotation-xml><svg><foreignObject>{}</foreignObject></svg></annotation-xml></math>",
        "<svg><title>Bee</title></svg>{}",
        "<svg><title>{}</title></svg>",
        "<math><title>Bee</title><annotation-xml><title>Cat</title></annotation-xml></math>{}",
        "<math><mi><svg><title>Bee</title></svg></mi></math>{}",
        "<iframe srcdoc='<title>Bee</title>'></iframe>{}",
    ],
)
def test_the_title_of_a_page_is_the_first_of_html(studio: Studio, first: str) -> None:
    html = f"<!doctype html><body>{first.format('<title>Ant</title>')}<title>Dog</title><p>{SENTENCE}</p>"
    shown = studio.show(html).snapshot
    assert "<title>Ant</title>" in write_html(
        shown, judged(shown, page_cleaner("none"), hidden="layout", may_change=False)
    )
