"""Which answer of an archive a request gets, in archives of ours, of others, and in damaged ones."""

import gzip
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from domsieve.archive.http_exchange import Exchange, Recorded
from domsieve.archive.recording import Recording
from domsieve.archive.responses import Answers, host_of
from domsieve.errors import TargetError
from tests.archive.made import answer, packed, record, written

DATE = "2026-11-22T10:20:30.456Z"
SITE = "https://moss.example"
UUIDS = "2f1f7c1e-9a53-4e5c-8d5a-0d5d3f9b2a11", "7d0a9c40-1b1e-4f0e-9c8b-3f2f6a7b8c9d"


def asked(path: str, body: bytes, *, method: str = "GET", post: bytes = b"", wanted: str = "") -> Exchange:
    return Exchange(
        url=f"{SITE}{path}",
        method=method,
        kind="Fetch",
        asked_at=DATE,
        request_headers=(("Range", wanted),) if wanted else (),
        request_body=post,
        status=200,
        headers=(("Content-Type", "text/plain"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")),
        body=body,
    )


def made(path: Path, *pages: tuple[Exchange, ...]) -> Answers:
    """Return the answers of an archive with these pages."""
    with Recording(path / "a.wacz") as recording:
        for number, exchanges in enumerate(pages):
            recorded = Recorded(exchanges=exchanges)
            recording.add(f"{SITE}/{number}", recorded, captured_at=DATE, title="", status=200)
        recording.finish()
    return Answers(path / "a.wacz")


def said(answers: Answers, page: int, *requests: tuple[str, str, bytes]) -> list[bytes | None]:
    """Return the bodies that requests of a page get, one after the other."""
    known = answers.page(f"{SITE}/{page}")
    assert known
    turns = answers.turns(known.page_id)
    found = [turns.next(method, f"{SITE}{path}", body, "") for method, path, body in requests]
    return [one.body if one else None for one in found]


def get(path: str) -> tuple[str, str, bytes]:
    return "GET", path, b""


def test_the_nth_request_gets_the_nth_answer_and_then_the_last(tmp_path: Path) -> None:
    answers = made(tmp_path, (asked("/n", b"1"), asked("/other", b"o"), asked("/n", b"2")))
    assert said(answers, 0, *[get("/n")] * 3, get("/other"), get("/n#part")) == [b"1", b"2", b"2", b"o", b"2"]


def test_each_page_has_its_own_turns(tmp_path: Path) -> None:
    answers = made(tmp_path, (asked("/n", b"1"),), (asked("/n", b"2"), asked("/n", b"3")))
    assert said(answers, 1, get("/n"), get("/n")) == [b"2", b"3"]
    assert said(answers, 0, get("/n"), get("/n")) == [b"1", b"1"]
    assert said(answers, 0, get("/n")) == [b"1"]


def test_what_a_page_lacks_comes_from_another_page(tmp_path: Path) -> None:
    answers = made(tmp_path, (asked("/a", b"a"),), (asked("/b", b"b"),))
    assert said(answers, 0, get("/b"), get("/c")) == [b"b", None]


def test_requests_are_told_apart_by_method_and_body(tmp_path: Path) -> None:
    large = b"x" * 200_000
    answers = made(
        tmp_path,
        (
            asked("/q", b"got"),
            asked("/q", b"one", method="POST", post=b"1"),
            asked("/q", b"two", method="POST", post=b"2"),
            asked("/q", b"long", method="POST", post=large),
        ),
    )
    requests = [("POST", "/q", body) for body in (b"2", b"1", large, b"3", large + b"y")]
    assert said(answers, 0, *requests, get("/q")) == [b"two", b"one", b"long", None, None, b"got"]


def test_ranges_are_told_apart(tmp_path: Path) -> None:
    answers = made(tmp_path, (asked("/v", b"ab", wanted="bytes=0-1"), asked("/v", b"cd", wanted="bytes=2-3")))
    turns = answers.turns(answers.pages[0].page_id)
    found = [turns.next("GET", f"{SITE}/v", b"", wanted) for wanted in ("bytes=2-3", "bytes=0-1")]
    assert [one.body for one in found if one] == [b"cd", b"ab"]


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ("/a?_=1763806830456", "/a?_=1763806999999"),
        ("/a?n=0.6180339887", "/a?n=0.2718281828459"),
        ("/a?cb=k3j9&x=1", "/a?cb=zz&x=1"),
        (f"/a?id={UUIDS[0]}", f"/a?id={UUIDS[1]}"),
    ],
)
def test_times_and_random_numbers_do_not_count(tmp_path: Path, then: str, now: str) -> None:
    answers = made(tmp_path, (asked(then, b"found"),))
    assert said(answers, 0, get(now)) == [b"found"]


@pytest.mark.parametrize(
    ("then", "now"), [("/a?page=1", "/a?page=2"), ("/a?q=bees", "/a?q=ants"), ("/a?x=1", "/a"), ("/a", "/b")]
)
def test_nothing_else_is_guessed(tmp_path: Path, then: str, now: str) -> None:
    assert said(made(tmp_path, (asked(then, b"found"),)), 0, get(now)) == [None]


def test_boundaries_of_forms_do_not_count(tmp_path: Path) -> None:
    form = b"------WebKitFormBoundary%b\r\n\r\n%b\r\n"
    known = asked("/f", b"form", method="POST", post=form % (b"r73Yfd9JzeiUvSuj", b"bees"))
    requests = [("POST", "/f", form % (b"09HmIgoS5ogJvaHQ", what)) for what in (b"bees", b"ants")]
    assert said(made(tmp_path, (known,)), 0, *requests) == [b"form", None]


def test_an_answer_comes_back_with_its_head_and_its_end(tmp_path: Path) -> None:
    coded = (("Content-Encoding", "gzip"), ("Content-Length", "9"), ("X-A", "b"))
    plain = Exchange(url=f"{SITE}/a", method="GET", kind="Fetch", asked_at=DATE)
    exchanges = (
        replace(plain, status=404, reason="Gone", headers=coded),
        replace(plain, url=f"{SITE}/b", outcome="failed", fault="net::ERR"),
        replace(plain, url=f"{SITE}/c", outcome="unanswered"),
        replace(plain, url=f"{SITE}/d", outcome="cut", status=200, body=b"be"),
    )
    answers = made(tmp_path, exchanges)
    turns = answers.turns(answers.pages[0].page_id)
    found = [turns.next("GET", one.url, b"", "") for one in exchanges]
    a, b, c, d = (one for one in found if one)
    assert (a.status, a.reason, a.headers, a.outcome) == (404, "Gone", (("X-A", "b"),), "whole")
    assert ((b.status, b.outcome), (c.status, c.outcome)) == ((0, "failed"), (0, "unanswered"))
    assert (d.outcome, d.body) == ("cut", b"be")


def test_archives_of_others_are_read(tmp_path: Path) -> None:
    style = gzip.compress(b"p { color: red }")
    records = [
        record(answer(b"<p>page"), url=f"{SITE}/", number=1),
        record(answer(style, "Content-Encoding: gzip", kind="text/css"), url=f"{SITE}/s.css", number=2),
        record(
            b"GET /s.css HTTP/1.1\r\nHost: moss.example\r\n\r\n",
            "WARC-Concurrent-To: <urn:uuid:00000000-0000-0000-0000-000000000002>",
            url=f"{SITE}/s.css",
            kind="request",
            form="application/http; msgtype=request",
            number=3,
        ),
        record(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/css\r\n\r\n",
            "WARC-Refers-To: <urn:uuid:00000000-0000-0000-0000-000000000002>",
            "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
            url=f"{SITE}/again.css",
            kind="revisit",
            number=4,
        ),
    ]
    answers = Answers(written(tmp_path, packed(records), "a.warc.gz"))
    assert [(page.page_id, page.url) for page in answers.pages] == [("", f"{SITE}/")]
    turns = answers.turns("")
    bodies = [turns.next("GET", f"{SITE}{path}", b"", "") for path in ("/", "/s.css", "/again.css")]
    assert [one.body for one in bodies if one] == [b"<p>page", b"p { color: red }", b"p { color: red }"]
    assert answers.hosts == {"moss.example"}


def test_damage_is_told_and_the_rest_is_served(tmp_path: Path) -> None:
    good = [record(answer(b"<p>page"), url=f"{SITE}/{number}", number=number) for number in (1, 2, 3)]
    data = good[0] + good[1][:-40] + good[2]
    answers = Answers(written(tmp_path, data))
    assert [page.url for page in answers.pages] == [f"{SITE}/1", f"{SITE}/3"]
    assert len(answers.damages) == 1


def test_what_holds_no_page_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="contains no page"):
        Answers(written(tmp_path, record(answer(b"{}", kind="application/json"))))
    with pytest.raises(TargetError, match="cannot be read"):
        Answers(tmp_path / "none.wacz")


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    one = written(tmp_path, record(answer(b"<p>1")), "1.warc")
    other = written(tmp_path, record(answer(b"<p>2")), "2.warc")
    assert Answers(one).digest != Answers(other).digest
    assert Answers(one).digest.startswith("sha256:")


def test_hosts_are_read_off_addresses() -> None:
    urls = [
        "https://A.example:8443/x",
        "http://a.example?q",
        "http://[::1]:80/",
        "http://[::1]/",
        "https://u:p@b.example/",
    ]
    assert [host_of(url) for url in urls] == ["a.example", "a.example", "[::1]", "[::1]", "b.example"]


@pytest.mark.parametrize(
    "line", [b"[" * 100_000, b'{"url": "https://moss.example/p/1", "ts": "0001-01-01T00:00:00+14:00"}']
)
def test_a_list_of_pages_that_makes_no_sense_is_read_as_far_as_it_does(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.warc", record(answer(b"<p>Words."), url=f"{SITE}/p/1"))
        file.writestr("pages/pages.jsonl", b'{"format": "json-pages-1.0"}\n' + line)
    (one,) = Answers(path).pages
    assert one.url == f"{SITE}/p/1"
