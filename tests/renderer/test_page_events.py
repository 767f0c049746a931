"""When a page counts as busy, and what ends its loading, by events alone."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from domsieve.options import Budget
from domsieve.renderer._limits import Timeouts
from domsieve.renderer.page._page_events import PageEvents, allows_scripts

PAGE = {"id": "F", "loaderId": "L"}


class Tape:
    """Plays events to a watch whose clock it holds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **budget: Any) -> None:
        self.time = 100.0
        self.cuts = 0
        loop = asyncio.new_event_loop()
        monkeypatch.setattr(asyncio, "get_running_loop", lambda: loop)
        monkeypatch.setattr(loop, "time", lambda: self.time)
        self.watch = PageEvents(Budget(**budget), self.count_cut, Timeouts())
        loop.close()

    def count_cut(self) -> None:
        self.cuts += 1

    def play(self, event: str, **params: Any) -> None:
        self.watch.handlers[event](params)

    def request(self, number: str, kind: str, url: str = "http://a.test/") -> None:
        self.play("Network.requestWillBeSent", requestId=number, request={"url": url}, type=kind)

    def finish(self, number: str) -> None:
        self.play("Network.loadingFinished", requestId=number, encodedDataLength=10.0)

    def open(self) -> None:
        self.request("L", "Document")
        self.play("Page.frameNavigated", frame=PAGE)
        self.finish("L")
        self.play("Page.loadEventFired")


@pytest.fixture
def tape(monkeypatch: pytest.MonkeyPatch) -> Tape:
    return Tape(monkeypatch, requests=20, received_bytes=1000, frames=2, time=timedelta(seconds=1))


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        ("", True),
        ("script-src 'none'; report-uri /sandbox", True),
        ("sandbox", False),
        ("default-src *;  SandBox allow-forms", False),
        ("sandbox allow-scripts, img-src *", True),
        ("sandbox allow-Scripts\nsandbox allow-forms", False),
        ("sandbox allow-scripts; sandbox", True),
    ],
)
def test_scripts_run_unless_a_sandbox_forbids_it(policies: str, expected: bool) -> None:
    assert allows_scripts(policies) == expected


def test_nothing_counts_before_the_page_is_loaded_or_long_interactive(tape: Tape) -> None:
    assert tape.watch.busy_for() == float("inf")
    tape.play("Page.frameNavigated", frame=PAGE)
    assert tape.watch.busy_for() == float("inf")
    tape.play("Page.domContentEventFired")
    assert tape.watch.busy_for() == 3.0
    tape.time += 3.0
    assert tape.watch.busy_for() == 0.0


@pytest.mark.parametrize("kind", ["Document", "Script", "Stylesheet", "XHR", "Fetch"])
def test_a_request_counts_for_two_seconds(tape: Tape, kind: str) -> None:
    tape.open()
    tape.request("1", kind)
    assert tape.watch.busy_for() == 2.0
    tape.time += 1.5
    assert tape.watch.busy_for() == 0.5
    tape.time += 1.0
    assert tape.watch.busy_for() == 0.0


@pytest.mark.parametrize("kind", ["Script", "Stylesheet"])
def test_what_draws_a_page_is_waited_for_when_its_answer_has_begun(tape: Tape, kind: str) -> None:
    tape.play("Page.frameNavigated", frame=PAGE)
    tape.play("Page.domContentEventFired")
    assert not tape.watch.is_undrawn()
    for number in "12":
        tape.request(number, kind)
    tape.request("3", "Image")
    response = {"url": "http://a.test/", "status": 200, "mimeType": "text/javascript", "headers": {}}
    tape.play("Network.responseReceived", requestId="1", loaderId="L", type=kind, response=response)
    tape.time += 10.0
    assert tape.watch.is_undrawn(), "however long it takes"
    tape.finish("1")
    assert not tape.watch.is_undrawn(), "the other may never be answered"
    assert tape.watch.drawing_at == tape.time
    tape.request("4", kind)
    assert tape.watch.is_undrawn()
    tape.play("Page.loadEventFired")
    assert not tape.watch.is_undrawn(), "what comes then is not what the page is made of"
    tape.time += 1.0
    tape.finish("4")
    assert tape.watch.drawing_at == tape.time - 1.0


@pytest.mark.parametrize("kind", ["Image", "Font", "Media", "EventSource", "WebSocket", "Other"])
def test_what_brings_no_content_does_not_count(tape: Tape, kind: str) -> None:
    tape.open()
    tape.request("1", kind)
    assert tape.watch.busy_for() == 0.0
    assert tape.watch.idle_s() == 0.0


def test_data_that_came_count_for_300_milliseconds_but_not_from_the_fourth_call_on(tape: Tape) -> None:
    tape.open()
    for number in "123":
        tape.request(number, "Fetch")
        tape.finish(number)
        assert tape.watch.busy_for() == pytest.approx(0.3)
    tape.time += 1.0
    tape.request("4", "Fetch")
    assert tape.watch.busy_for() == 0.0
    tape.finish("4")
    assert tape.watch.busy_for() == 0.0
    tape.request("5", "Fetch", "http://a.test/other")
    assert tape.watch.busy_for() == 2.0


def test_another_document_starts_anew(tape: Tape) -> None:
    tape.open()
    tape.request("1", "Fetch")
    tape.play("Page.frameNavigated", frame={**PAGE, "loaderId": "M"})
    assert tape.watch.busy_for() == float("inf")
    tape.play("Page.loadEventFired")
    assert tape.watch.busy_for() == 0.0
    tape.play("Page.frameNavigated", frame={"id": "G", "parentId": "F", "loaderId": "N"})
    assert tape.watch.loader_id == "M"


def test_budgets_cut_once_with_the_first_reason(tape: Tape) -> None:
    tape.play("Network.dataReceived", requestId="of the page before", dataLength=5000)
    tape.request("0", "Image")
    tape.play("Network.dataReceived", requestId="0", dataLength=1000)
    assert tape.cuts == 0
    tape.play("Network.dataReceived", requestId="0", dataLength=1)
    for number in range(1, 22):
        tape.request(str(number), "Image")
    assert tape.cuts == 1
    assert str(tape.watch.cut_by) == "bytes: the budget of 1,000 is used up"


def test_data_urls_are_no_requests(tape: Tape) -> None:
    for number in range(30):
        tape.request(str(number), "Image", "data:image/gif;base64,")
    assert tape.watch.requests == 0


def test_frames_are_counted_per_document(tape: Tape) -> None:
    for loader in "LM":
        tape.play("Page.frameNavigated", frame={**PAGE, "loaderId": loader})
        tape.play("Page.frameAttached")
        tape.play("Page.frameAttached")
    assert tape.cuts == 0
    tape.play("Page.frameAttached")
    assert str(tape.watch.cut_by) == "frames: the budget of 2 is used up"


def test_main_response_is_that_of_the_document(tape: Tape) -> None:
    for request, status in (("L", 200), ("image", 404)):
        answer = {"url": "u", "status": status, "mimeType": "text/html", "headers": {"Content-TYPE": "t"}}
        tape.play("Network.responseReceived", requestId=request, loaderId="L", response=answer)
    response = tape.watch.response("L")
    assert (response.status, response.content_type) == (200, "t")
    assert tape.watch.response("unknown").status is None


def test_frames_are_late_that_get_a_document_after_loading_was_stopped(tape: Tape) -> None:
    tape.open()
    frame = {"id": "F", "parentId": "P", "loaderId": "M", "url": "http://a.test/frame"}
    tape.play("Page.frameNavigated", frame=frame)
    assert not tape.watch.has_late_frames
    tape.watch.give_up()
    tape.play("Page.frameNavigated", frame={**frame, "unreachableUrl": "http://a.test/frame"})
    assert not tape.watch.has_late_frames
    tape.play("Page.frameNavigated", frame=frame)
    assert tape.watch.has_late_frames


def test_pictures_are_late_that_are_asked_for_after_loading_was_stopped(tape: Tape) -> None:
    tape.open()
    tape.request("1", "Image")
    assert not tape.watch.has_late_pictures
    tape.watch.give_up()
    tape.request("2", "Image")
    assert tape.watch.has_late_pictures


def test_a_document_that_breaks_off_ends_the_loading(tape: Tape) -> None:
    tape.request("L", "Document")
    tape.play("Page.frameNavigated", frame=PAGE)
    tape.play("Network.loadingFailed", requestId="other", errorText="net::ERR_FAILED")
    tape.play("Network.loadingFailed", requestId="L", errorText="net::ERR_ABORTED", canceled=True)
    assert tape.cuts == 0
    tape.play("Network.loadingFailed", requestId="L", errorText="net::ERR_CONTENT_LENGTH_MISMATCH")
    assert str(tape.watch.cut_by) == "document: it broke off (net::ERR_CONTENT_LENGTH_MISMATCH)"
