"""Pictures and players within kept text are kept, and no others."""

import numpy as np
import pytest

from domsieve.analysis.document.media import MEDIA_REASON, with_media
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.analysis.writers.text import write_text
from tests.analysis.contract import SENTENCE
from tests.analysis.test_document import WORDS, keeping, page

PICTURE = "<figure><img src=/a.png alt=oven></figure>"


def markdown(body: str, *wanted: str) -> str:
    snapshot = page(body)
    return write_markdown(snapshot, with_media(snapshot, keeping(snapshot, *wanted)))


@pytest.mark.parametrize(
    "media",
    [
        PICTURE,
        "<p><img src=/a.png alt=oven></p>",
        "<div><picture><source srcset=/b.webp><img src=/a.png alt=oven></picture></div>",
        "<p><iframe title=oven src=https://www.youtube.com/embed/abc></iframe></p>",
        "<div><video src=/a.mp4 title=oven></video></div>",
    ],
)
def test_media_between_kept_texts_are_kept(media: str) -> None:
    body = f"<p>{WORDS}</p>{media}<p>{SENTENCE}</p>"
    assert "[oven](" in markdown(body, "Wipe", "The mill")
    assert "oven](" not in markdown(body, "Wipe")


def test_media_of_dropped_text_stay_out() -> None:
    body = f"<p>{WORDS}</p><aside>Shop {PICTURE}</aside><p>{SENTENCE}</p>{PICTURE}"
    assert "oven](" not in markdown(body, "Wipe", "The mill")


@pytest.mark.parametrize("size", ["width=1 height=1", "width=24px", "style='display:none'"])
def test_icons_and_hidden_pictures_stay_out(size: str) -> None:
    body = f"<p>{WORDS}</p><p><img src=/a.png alt=oven {size}></p><p>{SENTENCE}</p>"
    assert "oven](" not in markdown(body, "Wipe", "The mill")


def test_what_no_browser_shows_in_media_stays_out() -> None:
    inside = "<title>xone</title><datalist>xtwo</datalist><math><annotation>xthree</annotation></math>"
    body = f"<p>{WORDS}</p><video src=/a.mp4 title=oven>{inside}</video><p>{SENTENCE}</p>"
    snapshot = page(body)
    verdict = with_media(snapshot, keeping(snapshot, "Wipe", "The mill"))
    written = write_markdown(snapshot, verdict) + write_text(snapshot, verdict)
    assert "[oven](" in written
    assert not any(word in written for word in ("xone", "xtwo", "xthree"))


def test_what_is_kept_has_a_reason() -> None:
    snapshot = page(f"<p>{WORDS}</p>{PICTURE}<p>{SENTENCE}</p>")
    verdict = keeping(snapshot, "Wipe", "The mill")
    found = with_media(snapshot, verdict)
    new = np.flatnonzero(found.kept & ~verdict.kept).tolist()
    assert [snapshot.tag_name(node) for node in new] == ["figure", "img"]
    assert {found.reasons[found.reason[node]] for node in new} == {MEDIA_REASON}


def test_methods_as_published_are_left_alone() -> None:
    snapshot = page(f"<p>{WORDS}</p>{PICTURE}<p>{SENTENCE}</p>")
    verdict = keeping(snapshot, "Wipe", "The mill", mode="paper")
    assert with_media(snapshot, verdict) is verdict
