"""What is recorded can be read back: by our reader and by warcio; tests/integrations asks the validator of WACZ."""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from domsieve.archive._writing import sort_key
from domsieve.archive.http_exchange import Exchange, Recorded
from domsieve.archive.recording import Recording
from domsieve.errors import UsageError
from tests.archive.made import read
from tests.command import page

DATE = "2026-11-22T10:20:30.456Z"
URL = "https://moss.example/p/1?b=2&a=1"


def asked(url: str = URL, **more: Any) -> Exchange:
    """Return an exchange about a page."""
    known: dict[str, Any] = {
        "url": url,
        "method": "GET",
        "kind": "Document",
        "asked_at": DATE,
        "request_headers": (("User-Agent", "Tester"),),
        "status": 200,
        "reason": "OK",
        "headers": (
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Encoding", "gzip"),
            ("Content-Length", "17"),
            ("Set-Cookie", "a=1"),
            ("Set-Cookie", "b=2"),
        ),
        "body": page(1).encode(),
    }
    return Exchange(**(known | more))


PICTURE = asked(
    "https://moss.example/a.png",
    kind="Image",
    headers=(("Content-Type", "image/png"),),
    body=b"\x89PNG\0\r\n\r\n",
)
POSTED = asked(
    "https://moss.example/api",
    method="POST",
    kind="Fetch",
    request_body=b'{"page": 1}\r\n\r\n',
    headers=(("Content-Type", "application/json"),),
    body=b"[]",
)
REFUSED = asked(
    "https://other.example/x", status=0, outcome="failed", fault="net::ERR_NAME_NOT_RESOLVED", body=b""
)


def add(
    recording: Recording,
    *exchanges: Exchange,
    url: str = URL,
    missing: tuple[tuple[str, int], ...] = (),
) -> None:
    """Add a page to a recording."""
    recorded = Recorded(exchanges=exchanges, missing=missing)
    recording.add(url, recorded, captured_at=DATE, title="Page 1", status=200)


def made(path: Path, *exchanges: Exchange) -> Path:
    """Return a finished archive of one page."""
    with Recording(path) as recording:
        add(recording, *exchanges)
        recording.finish()
    return path


def warcio_records(path: Path) -> Iterator[tuple[Any, bytes]]:
    """Yield the records of an archive with their content, as warcio reads them; wrong digests raise."""
    with zipfile.ZipFile(path) as file, file.open("archive/data.warc.gz") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            yield record, record.content_stream().read()


def test_a_page_is_read_back_as_it_came(tmp_path: Path) -> None:
    (found,), damaged = read(made(tmp_path / "a.wacz", asked(), PICTURE, POSTED, REFUSED))
    assert (damaged, found.url, found.status, found.source) == ([], URL, 200, page(1).encode())
    assert (found.captured_at, found.content_type) == (
        "2026-11-22T10:20:30+00:00",
        "text/html; charset=utf-8",
    )
    assert found.load().cuts == ()


def test_another_reader_finds_each_record_with_the_right_digests(tmp_path: Path) -> None:
    records = list(warcio_records(made(tmp_path / "a.wacz", asked(), PICTURE, POSTED, REFUSED)))
    kinds = [record.rec_type for record, _ in records]
    pair = ["response", "request"]
    assert kinds == ["warcinfo", *pair, *pair, *pair, "request", "metadata"]
    assert {record.format for record, _ in records} == {"warc"}
    answers = {r.rec_headers["WARC-Target-URI"]: (r, body) for r, body in records if r.rec_type == "response"}
    head, body = answers[URL]
    assert body == page(1).encode()
    assert head.http_headers.get_header("X-Orig-Content-Encoding") == "gzip"
    assert head.http_headers.get_header("Content-Length") == str(len(body))
    assert [value for name, value in head.http_headers.headers if name == "Set-Cookie"] == ["a=1", "b=2"]
    assert answers[PICTURE.url][1] == PICTURE.body
    requests = {r.rec_headers["WARC-Target-URI"]: (r, body) for r, body in records if r.rec_type == "request"}
    request, body = requests[POSTED.url]
    assert (request.http_headers.protocol, request.http_headers.statusline) == ("POST", "/api HTTP/1.1")
    assert body == POSTED.request_body
    assert request.rec_headers["WARC-Concurrent-To"] == answers[POSTED.url][0].rec_headers["WARC-Record-ID"]
    assert b"outcome: failed\r\nfault: net::ERR_NAME_NOT_RESOLVED" in records[-1][1]


def test_the_index_says_where_each_answer_stands(tmp_path: Path) -> None:
    path = made(tmp_path / "a.wacz", asked(), PICTURE, POSTED)
    with zipfile.ZipFile(path) as file:
        lines = file.read("indexes/index.cdxj").decode().splitlines()
        warc = file.read("archive/data.warc.gz")
    assert lines == sorted(lines)
    assert len(lines) == 3
    key, date, fields = lines[-1].split(" ", 2)
    entry = json.loads(fields)
    assert (key, date, entry["url"]) == ("example,moss)/p/1?a=1&b=2", "20261122102030", URL)
    member = warc[int(entry["offset"]) :][: int(entry["length"])]
    record = next(ArchiveIterator(io.BytesIO(member)))
    assert record.rec_headers["WARC-Target-URI"] == URL


def test_the_package_has_the_digest_of_every_part(tmp_path: Path) -> None:
    with zipfile.ZipFile(made(tmp_path / "a.wacz", asked())) as file:
        parts = {name: file.read(name) for name in file.namelist()}
        assert {info.compress_type for info in file.infolist()} == {zipfile.ZIP_STORED}
    package = json.loads(parts["datapackage.json"])
    listed = {one["path"]: (one["hash"], one["bytes"]) for one in package["resources"]}
    held = {name: data for name, data in parts.items() if not name.startswith("datapackage")}
    assert listed == {name: (digest(data), len(data)) for name, data in held.items()}
    assert json.loads(parts["datapackage-digest.json"]) == {
        "path": "datapackage.json",
        "hash": digest(parts["datapackage.json"]),
    }
    assert (package["wacz_version"], package["mainPageUrl"]) == ("1.1.1", URL)
    assert package["domsieve"] == {"complete": True, "missing": {}}
    _, first = parts["pages/pages.jsonl"].decode().splitlines()
    assert json.loads(first).items() >= {"url": URL, "ts": DATE, "title": "Page 1"}.items()


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def test_an_archive_says_what_it_lacks(tmp_path: Path) -> None:
    with Recording(tmp_path / "a.wacz") as recording:
        add(
            recording,
            asked(outcome="lost", body=b""),
            replace(PICTURE, outcome="cut"),
            missing=(("web sockets", 2),),
        )
        recording.finish()
    with zipfile.ZipFile(tmp_path / "a.wacz") as file:
        said = json.loads(file.read("datapackage.json"))["domsieve"]
    missing = {"web sockets": 2, "bodies that were lost": 1, "streams that had not ended": 1}
    assert said == {"complete": False, "missing": missing}
    (found,), _ = read(tmp_path / "a.wacz")
    assert [cut.kind for cut in found.load().cuts] == ["document"]


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    path, url = tmp_path / "a.wacz", "https://moss.example/p/2"
    with Recording(path) as recording:
        add(recording, asked())
    records = tmp_path / "a.wacz.unfinished" / "data.warc.gz"
    whole = records.read_bytes()
    # A page of which not all was written when the process was killed, and its line.
    records.write_bytes(whole + b"\x1f\x8b\x08half a record")
    with (records.parent / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"page": {"url"')
    assert not path.exists()
    with Recording(path) as recording:
        assert (recording.has(URL, DATE), recording.has(URL, ""), recording.has(url, DATE)) == (
            True,
            False,
            False,
        )
        assert records.read_bytes() == whole
        add(recording, asked(url, body=page(2).encode()), url=url)
        recording.finish()
    found, damaged = read(path)
    assert ([one.url for one in found], damaged) == ([URL, url], [])
    assert sum(1 for _ in warcio_records(path)) == 5
    assert not records.parent.exists()


def test_a_page_that_is_recorded_again_stands_in_the_list_once(tmp_path: Path) -> None:
    path = tmp_path / "a.wacz"
    with Recording(path) as recording:
        add(recording, asked(), missing=(("sockets", 1),))
        add(recording, asked())
        assert (recording.pages, recording.missing) == (1, {})
        recording.finish()
    with zipfile.ZipFile(path) as file:
        assert len(file.read("pages/pages.jsonl").splitlines()) == 2
        assert len(file.read("indexes/index.cdxj").splitlines()) == 1


def test_an_archive_is_not_written_over_and_has_one_writer(tmp_path: Path) -> None:
    path = made(tmp_path / "a.wacz", asked())
    with pytest.raises(UsageError, match="not overwritten"), Recording(path):
        pass
    with pytest.raises(UsageError, match=r"ends with \.wacz"), Recording(tmp_path / "a.warc"):
        pass
    with (
        Recording(tmp_path / "b.wacz"),
        pytest.raises(UsageError, match="another process"),
        Recording(tmp_path / "b.wacz"),
    ):
        pass


def test_a_run_without_a_page_leaves_nothing(tmp_path: Path) -> None:
    with Recording(tmp_path / "a.wacz") as recording:
        recording.finish()
    assert list(tmp_path.iterdir()) == []


lines = st.text(max_size=20)


@given(
    body=st.binary(max_size=200),
    headers=st.lists(st.tuples(st.sampled_from(["X-A", "Set-Cookie", "Content-Length"]), lines), max_size=4),
    reason=lines,
    url=st.sampled_from([URL, "https://moss.example/ä b", "http://[::1]:8080/?q=\r\nX: y"]),
)
def test_no_header_ends_its_line(
    tmp_path_factory: pytest.TempPathFactory,
    body: bytes,
    headers: list[tuple[str, str]],
    reason: str,
    url: str,
) -> None:
    exchange = asked(url, body=body, headers=tuple(headers), reason=reason)
    records = list(warcio_records(made(tmp_path_factory.mktemp("a") / "a.wacz", exchange)))
    assert [record.rec_type for record, _ in records] == ["warcinfo", "response", "request"]
    assert records[1][1] == body


def test_addresses_are_sorted_by_their_hosts() -> None:
    assert sort_key("https://www.a.example:8443/B?y=2&x=1") == "example,a:8443)/b?x=1&y=2"
    assert sort_key("http://127.0.0.1:80/") == "127.0.0.1:80)/"
    assert sort_key("https://a.example", "POST") == "example,a)/?__wb_method=post"
