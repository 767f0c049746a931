"""What was cut from a page is kept as text and read as a kind."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domsieve.snapshot.cut import Cut, CutKind
from domsieve.snapshot.page import Provenance


def made(*reasons: str) -> Provenance:
    return Provenance(url="", final_url="", producer="rendered", complete=not reasons, reasons=reasons)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("time: 20 s are used up while waiting for the server", "time"),
        ("crash: the page's process ended", "crash"),
        ("memory: the page's process held more than 300 MB", "memory"),
        ("nodes: 300,000, of which the first 200,000 were kept", "nodes"),
        ("document: it broke off (net::ERR_CONTENT_LENGTH_MISMATCH)", "document"),
        ("capture: Target closed: time: 1", "capture"),
        ("The HTML parser gave up in line 3: Excessive depth in document.", "other"),
        ("Of a tag only the first 1000 attributes were read.", "other"),
        ("weather: of a program that is newer than this one", "other"),
        ("time", "other"),
        ("other: text", "other"),
        ("", "other"),
    ],
)
def test_reasons_of_stored_pages_have_a_kind(text: str, kind: CutKind) -> None:
    cut = Cut.parse(text)
    assert (cut.kind, str(cut)) == (kind, text)


@given(st.text())
def test_every_text_is_kept_as_it_was(text: str) -> None:
    assert str(Cut.parse(text)) == text


@given(st.sampled_from(get_args(CutKind)), st.text())
def test_what_is_written_is_read_as_the_same_kind(kind: CutKind, detail: str) -> None:
    if kind != "other":
        assert Cut.parse(str(Cut(kind, detail))) == Cut(kind, detail)


def test_a_page_tells_by_what_it_was_cut() -> None:
    page = made("frames: the budget of 2 is used up", "nodes: the first 5 were kept")
    assert [cut.kind for cut in page.cuts] == ["frames", "nodes"]
    assert page.was_cut_by("nodes")
    assert not page.was_cut_by("time")
    assert made().cuts == ()
