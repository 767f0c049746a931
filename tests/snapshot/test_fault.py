"""What is certainly wrong with a page, decided from the page alone."""

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

from domsieve.errors import ContentError, NavigationError, PageError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.cut import Cut
from domsieve.snapshot.fault import check_fault, fault_of
from domsieve.snapshot.page import Snapshot
from tests.snapshot.pages import made_up

TEXT = "<title>T</title><p>Words that stand there.</p>"


def page(html: str = TEXT, **origin: Any) -> Snapshot:
    """Return a page of these facts."""
    parsed = parse_html(html.encode(), url="http://example.org/")
    provenance = msgspec.structs.replace(parsed.provenance, **origin)
    return replace(parsed, provenance=provenance)


def cut(kind: Any, detail: str) -> dict[str, Any]:
    """Return the facts of a page that was cut."""
    return {"complete": False, "reasons": (str(Cut(kind, detail)),)}


def reason(snapshot: Snapshot) -> str | None:
    """Return why a page counts as failed."""
    fault = fault_of(snapshot)
    return fault.reason if fault else None


@pytest.mark.parametrize("status", [None, 200, 203, 304, 399])
def test_pages_with_text_are_none(status: int | None) -> None:
    assert reason(page(status=status, content_type="text/html; charset=utf-8")) is None


@pytest.mark.parametrize(
    ("status", "says", "retry"),
    [
        (400, "HTTP 400 (Bad Request)", False),
        (404, "HTTP 404 (Not Found)", False),
        (429, "HTTP 429 (Too Many Requests)", True),
        (500, "HTTP 500 (Internal Server Error)", True),
        (599, "HTTP 599.", False),
    ],
)
def test_errors_of_the_server(status: int, says: str, retry: bool) -> None:
    fault = fault_of(page(status=status))
    assert fault
    assert fault.reason == "status"
    assert says in fault.detail
    assert fault.retry is retry


@pytest.mark.parametrize(
    "kind", ["application/pdf", "image/png", "text/plain; charset=utf-8", "APPLICATION/JSON"]
)
def test_content_that_is_no_html(kind: str) -> None:
    assert reason(page(content_type=kind)) == "type"


@pytest.mark.parametrize("kind", ["", "text/html", "Application/XHTML+XML; charset=x", "charset=utf-8"])
def test_content_types_of_pages(kind: str) -> None:
    assert reason(page(content_type=kind)) is None


def test_downloads_are_no_html() -> None:
    facts = cut("download", "a file of type application/zip, not loaded")
    fault = fault_of(page("", **facts))
    assert fault
    assert fault.reason == "type"
    assert "application/zip" in fault.detail


@pytest.mark.parametrize(
    "html",
    [
        "",
        " \n",
        "<title>Title alone</title>",
        "<template><p>Later</p></template><style>p { color: red }</style>",
    ],
)
def test_documents_without_text_or_picture_are_empty(html: str) -> None:
    assert reason(page(html)) == "empty"


@pytest.mark.parametrize(
    "html",
    [
        "<img src=a.png>",
        "<frameset><frame src=a></frameset>",
        "<p></p><svg></svg>",
        "<p hidden>text</p>",
        "<noscript>text</noscript>",
        "<script>text()</script>",
        "<my-app></my-app>",
        "1",
    ],
)
def test_documents_with_little_are_not(html: str) -> None:
    assert reason(page(html)) is None


def test_pages_cut_before_any_text_stood_there() -> None:
    facts = cut("time", "20 s are used up while waiting for the server")
    fault = fault_of(page("<img src=a.png>", **facts))
    assert fault
    assert fault.reason == "cut"
    assert "20 s are used up" in fault.detail
    assert fault.retry
    assert fault.timed_out
    broken = fault_of(page("", **cut("document", "it broke off")))
    assert broken
    assert not broken.timed_out


def test_pages_cut_with_text_are_pages() -> None:
    assert reason(page(**cut("time", "20 s are used up while loading"))) is None


def test_text_that_had_no_place_yet_does_not_stand_there() -> None:
    whole = made_up(1, 60)
    facts = cut("time", "20 s")
    bare = replace(
        whole,
        style=np.full(len(whole), -1, np.int32),
        box=np.full((len(whole), 4), np.nan, np.float32),
        paint=np.full(len(whole), -1, np.int32),
    )
    for snapshot, expected in ((whole, None), (bare, "cut")):
        origin = msgspec.structs.replace(snapshot.provenance, **facts)
        assert reason(replace(snapshot, provenance=origin)) == expected


@pytest.mark.parametrize(
    "text",
    ["%PDF-1.7 4 0 obj", "\x89PNG" + "\x80\x81a" * 40, "\ufffd" * 80 + "words in another encoding"],
)
def test_data_that_a_server_calls_a_page(text: str) -> None:
    assert reason(page(f"<p>{text}</p>")) == "binary"


@pytest.mark.parametrize(
    "text", ["na\ufffdve caf\ufffd " * 10, "\ufffd" * 9, "\u0627\u0644\u0639 " * 40, "你好" * 40]
)
def test_text_in_which_some_is_lost_is_text(text: str) -> None:
    assert reason(page(f"<p>{text}</p>")) is None


def test_a_fault_becomes_the_error_of_its_kind() -> None:
    with pytest.raises(ContentError) as status:
        check_fault(page(status=503))
    assert (status.value.reason, status.value.retry, status.value.url) == (
        "status",
        True,
        "http://example.org/",
    )
    with pytest.raises(NavigationError) as late:
        check_fault(page("", **cut("time", "1 s")))
    assert (late.value.reason, late.value.timed_out) == ("cut", True)
    assert check_fault(page()) is not None
    assert PageError("other").reason is None
