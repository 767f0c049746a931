"""The pages of the web page as they are answered: what they show, and what they do when somebody presses a button."""

import io
import json
import re
import threading
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from domsieve.renderer.net_errors import without_names
from domsieve.service.jobs.job_values import Claim, NewFile
from domsieve.service.jobs.work_queue import WorkQueue
from domsieve.service.web.problems import explanation_of
from domsieve.service.web.shown_records import (
    PART,
    RecordTable,
    ShownRecords,
    record_number,
    shown_records,
)
from domsieve.service.web.shown_results import comparison_tables
from tests.service.web.stage import PAGE, Stage, instant, stage

HTML = {"Accept": "text/html"}
EVIL = "<script>alert(1)</script>"


def work(queue: WorkQueue, claim: Claim) -> None:
    """Do a site with two pages, and everything else at once."""
    if claim.job.kind != "site":
        instant(queue, claim)
        return
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("one.md", f"# One\n\n{EVIL}")
        packed.writestr("two.md", "# Two")
    pages: list[dict[str, Any]] = [
        {
            "url": f"{PAGE}/1",
            "file": "one.md",
            "complete": True,
            "expected_f1": 0.931,
            "site_pages": 6,
            "remarks": [],
        },
        {"url": f"{PAGE}/2", "file": "two.md", "complete": False, "expected_f1": 0.4, "remarks": [EVIL]},
        {"url": f"{PAGE}/3", "file": "../jobs.sqlite", "complete": True, "expected_f1": None, "remarks": []},
    ]
    pages[0]["metadata"] = {"title": f"First {EVIL}", "authors": ["Ann"]}
    failed = [{"url": f"{PAGE}/4?a=1&b=2", "detail": "No document arrived: net::ERR_CONNECTION_REFUSED."}]
    index = json.dumps({"site": "example.org", "pages": pages, "failed": failed}).encode()
    files = [
        NewFile("pages.zip", "application/zip", archive.getvalue()),
        NewFile("pages.json", "application/json", index),
    ]
    queue.finish(claim, {"pages": 3, "failed": 1}, files, pages=[])


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("pages"), work=work, wait_s=30) as made:
        yield made


def ended(service: Stage, kind: str, **fields: Any) -> str:
    """Return the path of the page of a job that has ended, well or not."""
    path = "/v1/sites" if kind == "site" else f"/v1/{kind}"
    answer = service.client.post(path, json={"url": PAGE, **fields}, headers={"Prefer": "wait=30"})
    place = answer.headers["Location"]
    while service.client.get(place).json()["state"] in {"queued", "running"}:
        pass
    return str(place).removeprefix("/v1")


def text_of(service: Stage, path: str, status: int = 200) -> str:
    answer = service.client.get(path, headers=HTML)
    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith("text/html")
    assert EVIL not in answer.text
    return answer.text


def test_pages_of_a_site_are_listed_and_shown_one_by_one(service: Stage) -> None:
    job = ended(service, "site", pages=3)
    listed = text_of(service, job)
    assert f'href="{job}/pages/1"' in listed
    assert "93 %" in listed
    assert "the site&#39;s server takes no connections" in listed
    assert f"url={PAGE.replace(':', '%3A')}/4%3Fa%3D1%26b%3D2" in listed
    first = text_of(service, f"{job}/pages/1")
    assert "Page 1 of 3" in first
    assert "judged with 6 pages of this site" in first
    assert "# One" in first
    assert "Ann" in first
    assert f'href="{job}/pages/2"' in first
    assert "Page before" not in first
    assert "cut short" in text_of(service, f"{job}/pages/2")


def test_a_page_is_read_from_the_archive_alone(service: Stage) -> None:
    job = ended(service, "site", pages=3)
    assert "The archive does not hold this page." in text_of(service, f"{job}/pages/3")
    text_of(service, f"{job}/pages/3/preview", 404)


@pytest.mark.parametrize("number", ["0", "4", "-1", "1e1", "%D9%A1", "9" * 7, "x"])
def test_a_page_that_is_not_there_is_told_as_a_page(service: Stage, number: str) -> None:
    job = ended(service, "site", pages=3)
    assert "There is no such page" in text_of(service, f"{job}/pages/{number}", 404)


def test_the_preview_is_sandboxed_and_alone_may_be_framed(service: Stage) -> None:
    job = ended(service, "clean")
    page = service.client.get(job)
    assert f'<iframe class="result" sandbox title="Preview of the Markdown" src="{job}/preview">' in page.text
    assert "frame-src 'self'" in page.headers["Content-Security-Policy"]
    assert page.headers["X-Frame-Options"] == "DENY"
    answer = service.client.get(f"{job}/preview")
    assert answer.headers["Content-Security-Policy"].startswith(
        "sandbox; default-src 'none'; style-src 'sha256-"
    )
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert EVIL not in answer.text
    assert "<h1>Title</h1>" in answer.text


def test_one_preview_is_made_at_a_time(service: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    entered, gate = threading.Semaphore(0), threading.Semaphore(0)

    def slow(_: str) -> str:
        entered.release()
        assert gate.acquire(timeout=300)
        return "<p>made"

    monkeypatch.setattr("domsieve.service.web.html_pages.preview", slow)
    job = ended(service, "clean")
    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(service.as_client(None).get, f"{job}/preview") for _ in range(2)]
        try:
            assert entered.acquire(timeout=300)
            while len(service.server.server_state.tasks) < 2:
                time.sleep(0.01)
            # Who asks for something else is answered; while he is, the second one does not begin.
            for _ in range(5):
                assert service.client.get("/v1/health").status_code == 200
            assert not entered.acquire(blocking=False)
        finally:
            gate.release(2)
        assert [one.result().status_code for one in asked] == [200, 200]
    assert entered.acquire(blocking=False)


@pytest.mark.parametrize("kind", ["clean", "records", "compare", "report", "site"])
def test_jobs_of_every_kind_have_a_page(service: Stage, kind: str) -> None:
    assert PAGE in text_of(service, ended(service, kind))


def test_what_is_no_markdown_has_no_preview(service: Stage) -> None:
    text_of(service, f"{ended(service, 'compare')}/preview", 404)


def test_a_job_is_asked_for_again_by_the_form(service: Stage) -> None:
    job = ended(service, "records", method="mdr", format="csv", viewport_width=1000, viewport_height=700)
    assert f'href="/?again={job.removeprefix("/jobs/")}"' in text_of(service, job)
    form = text_of(service, f"/?again={job.removeprefix('/jobs/')}")
    assert f'value="{PAGE}"' in form
    assert '<option value="mdr" selected>' in form
    assert '<option value="1000x700" selected>' in form
    assert re.search('value="records" checked', form)


def test_the_form_of_a_job_of_nobody_is_not_filled_in(service: Stage) -> None:
    assert "There is no such job" in text_of(service, "/?again=" + "0" * 32, 404)


def test_a_job_that_failed_is_tried_again(service: Stage) -> None:
    job = ended(service, "clean", url=f"{PAGE}/bad-page", metadata=True)
    assert f'action="{job}/retry"' in text_of(service, job)
    answer = service.client.post(f"{job}/retry")
    assert answer.status_code == 303
    made = answer.headers["Location"]
    assert made != job
    one, other = (service.client.get(f"/v1{path}").json()["request"] for path in (job, made))
    assert one == other


def test_a_job_that_is_done_is_not_tried_again(service: Stage) -> None:
    job = ended(service, "clean")
    assert "/retry" not in text_of(service, job)
    assert service.client.post(f"{job}/retry").status_code == 409


def test_another_site_cannot_have_a_job_tried_again(service: Stage) -> None:
    job = ended(service, "clean", url=f"{PAGE}/bad-page")
    answer = service.client.post(f"{job}/retry", headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403


def test_times_are_marked_up_and_can_be_read_without_scripts(service: Stage) -> None:
    page = text_of(service, ended(service, "clean"))
    found = re.findall('<time datetime="([^"]+)">([^<]+)</time>', page)
    assert len(found) > 2
    assert all(iso.endswith("+00:00") and shown.endswith(" UTC") for iso, shown in found)


def test_the_description_of_the_api_is_a_page_of_ours(service: Stage) -> None:
    answer = service.client.get("/docs", headers=HTML)
    document = service.client.get("/openapi.json").json()
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    assert {*re.findall(r'(?:src|href)="(?!#)([^"]+)"', answer.text)} <= {
        *("/", "/jobs", "/cache", "/docs", "/openapi.json"),
        *("/static/icon.svg", "/static/app.css", "/static/app.js"),
    }
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert f"<b>{method.upper()}</b> {path}" in answer.text
            assert operation["summary"] in answer.text.replace("&#39;", "'")
    for name in document["components"]["schemas"]["CleanRequest"]["properties"]:
        assert f"<code>{name}</code>" in answer.text


def test_people_get_a_page_where_there_is_none_and_programs_a_problem(service: Stage) -> None:
    assert "There is nothing at this address." in text_of(service, "/nowhere", 404)
    assert "does not take this method" in service.client.put("/jobs", headers=HTML).text
    for path, headers in (("/nowhere", {}), ("/v1/nowhere", HTML)):
        answer = service.client.get(path, headers=headers)
        assert answer.headers["Content-Type"] == "application/problem+json"


def test_a_refused_field_is_marked_and_in_sight(service: Stage) -> None:
    fields = {"kind": "clean", "url": "example.org", "time_s": "99"}
    answer = service.client.post("/", data=fields)
    assert answer.status_code == 422
    assert "Seconds a page may take: write a number from 1 to 60." in answer.text
    assert re.search('name="time_s"[^>]*value="99" aria-invalid="true" aria-describedby="error"', answer.text)
    assert '<details class="more" open>' in answer.text
    assert answer.text.count("aria-invalid") == 1


class TestExplanations:
    """What failures mean, for people."""

    @pytest.mark.parametrize(
        ("code", "said"),
        [
            ("ERR_NAME_NOT_RESOLVED", "there is no site of this name"),
            ("ERR_CONNECTION_REFUSED", "takes no connections"),
            ("ERR_CERT_DATE_INVALID", "certificate has expired"),
            ("ERR_CERT_AUTHORITY_INVALID", "certificate cannot be trusted"),
            ("ERR_SSL_PROTOCOL_ERROR", "no secure connection"),
            ("ERR_TOO_MANY_REDIRECTS", "in circles"),
            ("ERR_SOMETHING_NEW", "the browser could not load it"),
        ],
    )
    def test_of_the_browser(self, code: str, said: str) -> None:
        told = explanation_of({"detail": f"No document arrived: net::{code}.", "fault": "page", "title": "T"})
        assert said in told.what
        assert told.do
        assert (told.detail, told.code) == ("", f"net::{code}")
        assert "net::" not in without_names(f"a: net::{code}, b: net::{code}")

    @pytest.mark.parametrize("fault", ["caller", "policy", "page", "browser", "service", "unheard of"])
    def test_of_everybody(self, fault: str) -> None:
        told = explanation_of({"detail": "It \x1b[31mbroke.", "fault": fault, "title": "Title."})
        assert (told.what, told.detail) == ("Title.", "It \\x1b[31mbroke.")
        assert bool(told.do) is (fault != "unheard of")

    @pytest.mark.parametrize("reason", ["status", "type", "binary", "empty", "cut"])
    def test_of_pages_that_count_as_failed(self, reason: str) -> None:
        told = explanation_of({"detail": "It has no text.", "fault": "page", "reason": reason})
        assert told.what == "This page counts as failed."
        assert told.do

    def test_redirects_in_circles_do_not_ask_for_time(self) -> None:
        problem = {"title": "The page cannot be had.", "fault": "page", "reason": "cut", "retry": False}
        detail = "Nothing of the page arrived: redirects: the server redirects without end."
        told = explanation_of({**problem, "detail": detail})
        assert "circles" in told.what
        assert "more seconds" not in told.do
        other = explanation_of(
            {**problem, "detail": "Nothing of the page arrived: bytes: the budget is used up."}
        )
        assert "more seconds" not in other.do

    def test_time_that_was_too_short(self) -> None:
        assert "more seconds" in explanation_of({"title": "The page took too long.", "fault": "page"}).do


def lines_of(rows: list[tuple[int, dict[str, str]]]) -> bytes:
    """Return JSON lines of records, from the number of their region and their fields."""
    lines = [
        {"region": region, "fields": {name: {"kind": "text", "value": text} for name, text in fields.items()}}
        for region, fields in rows
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def records_of(data: bytes, *, first: int = 1) -> ShownRecords:
    shown = shown_records(data, "application/jsonl", is_whole=True, first=first)
    assert shown is not None
    return shown


def texts_of(table: RecordTable) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


class TestTables:
    """Files of jobs as tables."""

    def test_of_records(self) -> None:
        data = lines_of([(1, {"title": "One\u202e"}), (1, {"title": "Two"}), (2, {"title": "Three"})])
        shown = records_of(data)
        first, second = shown.tables
        assert (first.name, first.columns) == ("Region 1: 2 records", ["Title"])
        assert texts_of(first) == [["One\\u202e"], ["Two"]]
        assert texts_of(second) == [["Three"]]
        assert (shown.first, shown.last, shown.total, shown.before, shown.after) == (1, 3, 3, 0, 0)

    def test_of_records_name_what_matters_first_and_what_is_the_same_apart(self) -> None:
        fields = {"image": "http://a.example/1.png", "link": "http://a.example/1", "note": "new"}
        rows = [
            (1, {**fields, "title": f"T{i}", "price": f"£{i}", "text_5": "Put in the basket"})
            for i in range(2)
        ]
        rows[1][1]["note"] = "old"
        rows[1][1]["image"] = "javascript:alert(1)"
        (table,) = records_of(lines_of(rows)).tables
        assert table.columns == ["Title", "Price", "Image", "Note"]
        assert table.same == [("Text 5", "Put in the basket")]
        title, price, image, _ = table.rows[0]
        assert (title.text, title.href) == ("T0", "http://a.example/1")
        assert (price.href, image.picture) == ("", "http://a.example/1.png")
        assert (table.rows[1][2].href, table.rows[1][2].picture) == ("", "")

    @pytest.mark.parametrize(
        "address",
        ["javascript:alert(1)", "data:text/html,x", "//a.example/", "http://a b/", "http://\u202ea/"],
    )
    def test_of_records_link_to_the_web_alone(self, address: str) -> None:
        (table,) = records_of(lines_of([(1, {"title": "T", "link": address})])).tables
        assert all(not cell.href for cell in table.rows[0])

    def test_all_records_are_reached_part_by_part(self) -> None:
        data = lines_of([(1 + i // 70, {"title": f"T{i}"}) for i in range(120)])
        seen: list[str] = []
        first = 1
        while first:
            part = records_of(data, first=first)
            assert part.total == 120
            seen += [row[0] for table in part.tables for row in texts_of(table)]
            assert (part.first, part.last) == (first, len(seen))
            first = part.after
        assert seen == [f"T{i}" for i in range(120)]
        assert records_of(data, first=10**6).last == 120

    def test_of_a_long_file_say_how_many_there_are(self) -> None:
        data = lines_of([(1, {"title": f"T{i}"}) for i in range(3)])
        cut = shown_records(data[:-5], "application/jsonl", is_whole=False, total=3)
        assert cut is not None
        assert (cut.last, cut.readable, cut.total, cut.after) == (2, 2, 3, 0)

    @pytest.mark.parametrize(
        ("text", "number"),
        [("51", 51), (None, 1), ("", 1), ("0", 1), ("-1", 1), ("٣", 1), ("9" * 9, 1), ("x", 1)],
    )
    def test_of_records_begin_with_a_number(self, text: str | None, number: int) -> None:
        assert record_number(text) == number

    def test_of_two_loads(self) -> None:
        sides = dict.fromkeys(("words", "cleaned_words", "links", "images", "records", "nodes"), 1)
        overlap = {"wanted": 1, "found_in": 1, "both": 1}
        facts: dict[str, Any] = {"raw": sides, "rendered": sides, "content": overlap, "visible": overlap}
        facts |= {"blocks": [], "data": []}
        once = comparison_tables(json.dumps(facts).encode())
        differing = {"words": 2, "text": "Request 1\u202e", "other_text": "Request 2"}
        *others, table = comparison_tables(
            json.dumps({**facts, "loads": {"blocks": [differing] * 201}}).encode()
        )
        assert others == once
        assert (table.name, table.left_out) == ("Texts that differ between two loads", 1)
        assert table.rows[0] == ["2", "Request 1\\u202e", "Request 2"]

    def test_of_csv(self) -> None:
        data = b'page,region,record,text_1,price\r\nu,1,1,"a, ""b""\r\nc",\r\nu,1,2,d,'
        shown = shown_records(data, "text/csv; charset=utf-8", is_whole=True)
        assert shown is not None
        (table,) = shown.tables
        assert (table.columns, texts_of(table)) == (["Text 1"], [['a, "b" c'], ["d"]])

    def test_are_bounded(self) -> None:
        head = ",".join(f"f{i}" for i in range(500))
        rows = [",".join([f"{number} {'x' * 1000}"] * 500) for number in range(300)]
        data = "\n".join([head, *rows]).encode()
        shown = shown_records(data, "text/csv", is_whole=True)
        assert shown is not None
        (table,) = shown.tables
        assert (len(table.rows), len(table.columns), shown.after) == (PART, 60, PART + 1)
        assert max(len(text) for row in texts_of(table) for text in row) < 500

    @pytest.mark.parametrize(
        "data", [b"", b"[]", b"{}", b'{"fields": 1}', b"\xff", b"not json", b'{"raw": 1}']
    )
    def test_of_files_of_another_form_there_are_none(self, data: bytes) -> None:
        assert comparison_tables(data) == []
        assert shown_records(data, "application/jsonl", is_whole=True) is None
