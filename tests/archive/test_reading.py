"""The pages of archives, however these are packed and whoever has written them."""

import gzip
import io
import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from domsieve.archive import _decompression as decompression
from domsieve.archive.reading import read_archive
from domsieve.errors import ContentError
from domsieve.tasks.sites import read_stored
from tests.archive.made import (
    HOST,
    answer,
    numbers,
    packed,
    page_record,
    read,
    record,
    url_of,
    written,
)
from tests.command import page

RECORDS = [page_record(number) for number in range(1, 7)]
WHOLE = b"".join(RECORDS)


def pieces(data: bytes, size: int) -> bytes:
    """Return bytes in gzip members that know nothing of records, as some tools compress in blocks."""
    return b"".join(gzip.compress(data[start : start + size], mtime=0) for start in range(0, len(data), size))


def zipped(files: Sequence[tuple[str, bytes]], method: int = zipfile.ZIP_STORED) -> bytes:
    """Return a zip file."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as file:
        for name, data in files:
            file.writestr(name, data)
    return held.getvalue()


FORMS = {
    "plain": ("a.warc", WHOLE),
    "a member for each": ("a.warc.gz", packed(RECORDS)),
    "one member": ("a.warc.gz", gzip.compress(WHOLE, mtime=0)),
    "some in one member": ("a.warc.gz", packed(RECORDS[:2]) + gzip.compress(b"".join(RECORDS[2:]), mtime=0)),
    "blocks": ("a.warc.gz", pieces(WHOLE, 300)),
    "zeros and empty members": (
        "a.warc.gz",
        b"".join(gzip.compress(one) + bytes(20) + gzip.compress(b"") for one in RECORDS),
    ),
    "packed, by another name": ("a.warc", packed(RECORDS)),
    "plain, by another name": ("a.WARC.GZ", WHOLE),
    "WACZ": (
        "a.wacz",
        zipped([("archive/b.warc.gz", packed(RECORDS[3:])), ("archive/a.warc", b"".join(RECORDS[:3]))]),
    ),
    "WACZ, packed": ("a.wacz", zipped([("archive/a.warc", WHOLE)], zipfile.ZIP_DEFLATED)),
    "WACZ, packed twice": ("a.wacz", zipped([("archive/a.warc.gz", packed(RECORDS))], zipfile.ZIP_DEFLATED)),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_hold_the_same_pages(form: str, tmp_path: Path) -> None:
    pages, damaged = read(written(tmp_path, FORMS[form][1], FORMS[form][0]))
    assert damaged == []
    assert numbers(pages) == [1, 2, 3, 4, 5, 6]
    assert numbers(pages[::-1]) == [6, 5, 4, 3, 2, 1]  # each by where it stands


def test_a_page_knows_its_answer(tmp_path: Path) -> None:
    content = answer(
        b"<p>\xe4", "X-A: 1", "x-a: 2", status="404 Not Found", kind="text/html; charset=iso-8859-1"
    )
    (only,), _ = read(written(tmp_path, record(content, url=f"<{HOST}/\u00e4?b=c>")))
    assert (only.url, only.status, only.content_type) == (
        f"{HOST}/\u00e4?b=c",
        404,
        "text/html; charset=iso-8859-1",
    )
    assert only.captured_at == "2026-11-22T10:20:30+00:00"
    assert only.headers == {"content-type": "text/html; charset=iso-8859-1", "x-a": "1, 2"}
    assert only.source == b"<p>\xe4"
    origin = read_stored(only).provenance
    assert (origin.url, origin.status, origin.captured_at) == (only.url, 404, only.captured_at)
    assert (origin.encoding, origin.content_type) == ("windows-1252", only.content_type)


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        (answer(b"\x89PNG", kind="image/png"), {}),
        (answer(b"<p>moved", status="301 Moved"), {}),
        (answer(b"<p>not modified", status="304 Not Modified"), {}),
        (answer(b"body {}", kind=""), {}),
        (answer(b"<p>x"), {"kind": "request"}),
        (answer(b"<p>x"), {"kind": "metadata"}),
        (answer(b"<p>x"), {"url": "dns:moss.example"}),
        (answer(b"<p>x"), {"url": "http://[moss/"}),
        (answer(b"<p>x"), {"url": "http://moss.example:x/"}),
        (answer(b"<p>x"), {"url": "http://moss.example/\x1b[2J"}),
        (b"20261122102030\nmoss.example. A 192.0.2.1", {"form": "text/dns"}),
        (b"\x89PNG", {"kind": "resource", "form": "image/png"}),
    ],
)
def test_what_is_no_page_is_passed_over(content: bytes, fields: dict[str, str], tmp_path: Path) -> None:
    pages, damaged = read(written(tmp_path, record(content, **fields) + page_record(2)))  # type: ignore[arg-type]
    assert (numbers(pages), damaged) == ([2], [])


@pytest.mark.parametrize(
    ("content", "fields", "source"),
    [
        (answer(b" <!DOCTYPE html><p>x", kind=""), {}, b" <!DOCTYPE html><p>x"),
        (answer(b"<p>x", status="503 Service Unavailable"), {}, b"<p>x"),
        (answer(b"<p>x", kind="application/xhtml+xml;a=b"), {}, b"<p>x"),
        (b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + answer(b"<p>x"), {}, b"<p>x"),
        (answer(b"<p>x").replace(b"\r\n", b"\n"), {}, b"<p>x"),
        (b"HTTP/2 200\r\ncontent-type: text/html\r\n\r\n<p>x", {}, b"<p>x"),
        (b"HTTP/1.1 200 OK\r\nContent-Type:\r\n text/html\r\n\r\n<p>x", {}, b"<p>x"),
        (b"<p>x", {"kind": "resource", "form": "text/html"}, b"<p>x"),
    ],
)
def test_what_is_a_page_is_read(
    content: bytes, fields: dict[str, str], source: bytes, tmp_path: Path
) -> None:
    (only,), damaged = read(written(tmp_path, record(content, **fields)))  # type: ignore[arg-type]
    assert (only.source, damaged) == (source, [])


def test_the_type_that_was_found_stands_in_for_the_one_that_is_not_said(tmp_path: Path) -> None:
    content = answer(b"text", kind="")
    (only,), _ = read(written(tmp_path, record(content, "WARC-Identified-Payload-Type: text/html")))
    assert (only.source, only.content_type) == (b"text", "text/html")


class TestRevisits:
    """Captures that only name an earlier one."""

    ORIGINAL = record(
        answer(page(1).encode(), "X-A: 1"), "WARC-Payload-Digest: sha1:A", url=url_of(1), number=1
    )
    IDENTICAL = "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
    UNCHANGED = "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/server-not-modified"

    @pytest.mark.parametrize("is_first", [True, False])
    @pytest.mark.parametrize(
        ("content", "fields"),
        [
            (answer(b""), ["WARC-Refers-To: <urn:uuid:00000000-0000-0000-0000-000000000001>"]),
            (
                answer(b""),
                [f"WARC-Refers-To-Target-URI: {url_of(1)}", "WARC-Refers-To-Date: 2026-11-22T10:20:30Z"],
            ),
            (answer(b""), [IDENTICAL, "WARC-Payload-Digest: sha1:A"]),
            (answer(b"", status="304 Not Modified"), [UNCHANGED, f"WARC-Refers-To-Target-URI: {url_of(1)}"]),
            (b"", [UNCHANGED, f"WARC-Refers-To-Target-URI: {url_of(1)}"]),
        ],
    )
    def test_they_hold_what_they_name(
        self, content: bytes, fields: list[str], is_first: bool, tmp_path: Path
    ) -> None:
        revisit = record(content, *fields, url=f"{HOST}/again", kind="revisit", number=2)
        both = [revisit, self.ORIGINAL] if is_first else [self.ORIGINAL, revisit]
        (one, again), damaged = read(written(tmp_path, packed(both), "a.warc.gz"))
        assert (one.url, again.url, damaged) == (url_of(1), f"{HOST}/again", [])
        assert again.source == one.source == page(1).encode()
        assert (again.status, again.content_type, again.headers) == (200, "text/html", one.headers)

    def test_the_most_certain_name_counts(self, tmp_path: Path) -> None:
        other = record(answer(b"<p>other"), "WARC-Payload-Digest: sha1:A", url=url_of(7), number=7)
        named = "WARC-Refers-To: <urn:uuid:00000000-0000-0000-0000-000000000001>"
        revisit = record(answer(b""), named, "WARC-Payload-Digest: sha1:A", kind="revisit", url=url_of(1))
        pages, _ = read(written(tmp_path, other + self.ORIGINAL + revisit))
        assert pages[2].source == page(1).encode()

    def test_one_of_what_is_not_there_is_told(self, tmp_path: Path) -> None:
        revisit = record(answer(b""), "WARC-Payload-Digest: sha1:B", kind="revisit", url=f"{HOST}/again")
        pages, (only,) = read(written(tmp_path, self.ORIGINAL + revisit))
        assert numbers(pages) == [1]
        assert only.label.endswith(f"crawl.warc, byte {len(self.ORIGINAL):,}")
        assert f"{HOST}/again" in only.message

    def test_those_of_pictures_are_passed_over(self, tmp_path: Path) -> None:
        picture = record(
            answer(b"\x89PNG", kind="image/png"), "WARC-Payload-Digest: sha1:P", url=f"{HOST}/p.png"
        )
        of_picture = record(b"", "WARC-Payload-Digest: sha1:P", kind="revisit", url=f"{HOST}/q.png")
        known = record(answer(b"", kind="image/png"), "WARC-Payload-Digest: sha1:X", kind="revisit")
        pages, damaged = read(written(tmp_path, picture + of_picture + known + page_record(2)))
        assert (numbers(pages), damaged) == ([2], [])

    def test_archives_of_one_file_know_each_other(self, tmp_path: Path) -> None:
        revisit = record(answer(b""), "WARC-Payload-Digest: sha1:A", kind="revisit", url=f"{HOST}/again")
        data = zipped([("archive/a.warc.gz", packed([revisit])), ("archive/b.warc", self.ORIGINAL)])
        pages, damaged = read(written(tmp_path, data, "a.wacz"))
        assert ([one.url for one in pages], damaged) == ([url_of(1), f"{HOST}/again"], [])


def test_a_page_in_a_long_member_is_read_from_a_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decompression, "_STEPS", (500,))
    monkeypatch.setattr(decompression, "_FIRST_SPACING", 3_000)
    monkeypatch.setattr(decompression, "_MOST_MARKS", 8)
    records = [page_record(number) for number in range(1, 101)]
    pages, _ = read(written(tmp_path, gzip.compress(b"".join(records), mtime=0), "a.warc.gz"))
    unpacked = 0
    read_on = decompression.Inflating.read

    def counted(self: decompression.Inflating, count: int) -> bytes:
        nonlocal unpacked
        part = read_on(self, count)
        unpacked += len(part)
        return part

    monkeypatch.setattr(decompression.Inflating, "read", counted)
    assert numbers(pages[90:95:2]) == [91, 93, 95]
    assert unpacked < 3 * 3 * len(b"".join(records)) / 8


def test_an_archive_that_changed_is_not_guessed_at(tmp_path: Path) -> None:
    path = written(tmp_path, packed(RECORDS), "a.warc.gz")
    pages, _ = read(path)
    path.write_bytes(packed(RECORDS[:1]))
    assert pages[0].source
    with pytest.raises(ContentError):
        _ = pages[3].source


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # warcio closes no files
def test_what_warcio_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        writer.write_record(writer.create_warcinfo_record("a.warc.gz", {"software": "moss"}))
        head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        for number in (1, 2):
            writer.write_request_response_pair(
                writer.create_warc_record(
                    url_of(number),
                    "request",
                    payload=io.BytesIO(),
                    http_headers=StatusAndHeaders(
                        "GET / HTTP/1.1", [("Host", "moss.example")], is_http_request=True
                    ),
                ),
                writer.create_warc_record(
                    url_of(number), "response", payload=io.BytesIO(page(number).encode()), http_headers=head
                ),
            )
        revisit = writer.create_revisit_record(
            url_of(1), digest="sha1:X", refers_to_uri=url_of(1), refers_to_date="2000-01-01T00:00:00Z"
        )
        writer.write_record(revisit)
    pages, damaged = read(path)
    assert numbers(pages) == [1, 2]
    assert len(damaged) == 1  # the revisit of what nobody has


@pytest.mark.skipif(shutil.which("wget") is None, reason="wget is not installed")
@pytest.mark.parametrize("packing", ["--no-warc-compression", "--no-warc-keep-log"])
def test_what_wget_writes_is_read(packing: str, tmp_path: Path) -> None:
    class Site(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            number = self.path.rpartition("/")[2]
            body = page(int(number)).encode() if number.isdecimal() else b"gone"
            self.send_response(200 if number.isdecimal() else 404)
            self.send_header("Content-Type", "text/html")
            if number == "2":
                self.send_header("Transfer-Encoding", "chunked")
                body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:50], body[50:], b""))
            else:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}/p"
        subprocess.run(
            [
                "wget",
                "--quiet",
                "--no-proxy",
                packing,
                "--warc-file=crawl",
                *(f"{base}/{n}" for n in (1, 2, 3)),
            ],
            cwd=tmp_path,
            check=True,
            timeout=60,
        )
        server.shutdown()
    (path,) = [path for path in tmp_path.iterdir() if path.name.startswith("crawl.warc")]
    pages, damaged = read(path)
    assert (numbers(pages), damaged) == ([1, 2, 3], [])


def test_pages_are_read_one_by_one(tmp_path: Path) -> None:
    found = read_archive(written(tmp_path, WHOLE[:-20]))
    assert next(iter(found))
