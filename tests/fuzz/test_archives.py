"""Archives: whatever is in one, each record that is whole is read, and no more is unpacked than may be."""

import gzip
import io
import json
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import brotli
import zstandard
from hypothesis import strategies as st

from domsieve.archive._decompression import ArchiveLimits
from domsieve.archive.http_exchange import Exchange, Recorded, body_of, dechunked, fields_of, head_of
from domsieve.archive.reading import read_archive
from domsieve.archive.recording import Recording
from domsieve.archive.responses import ANY_PAGE, Answers
from domsieve.archive.stored_page import DamagedPart, StoredPage
from domsieve.errors import ContentError, TargetError
from domsieve.renderer.network.replay import _chunk, _head
from tests.archive.made import page_record, record, url_of
from tests.command import page
from tests.fuzz.damage import damaged, odd_values
from tests.fuzz.fuzzing import fuzzed

RECORDS = [page_record(number) for number in range(1, 5)]
MEMBERS = [gzip.compress(one, 1, mtime=0) for one in RECORDS]
FRAMES = [zstandard.compress(one) for one in RECORDS]
FORMS = (RECORDS, MEMBERS, FRAMES, [gzip.compress(b"".join(RECORDS), 1, mtime=0)])
SIGNS = (b"WARC/", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08")
MOST_BYTES = 50_000
LIMITS = ArchiveLimits(page_bytes=MOST_BYTES, records=1_000, free_bytes=1_000_000, free_stretches=3)

PIECES = st.binary(max_size=60) | st.sampled_from(
    (
        b"WARC/1.0\r\n",
        b"\r\n\r\n",
        b"\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\nContent-Length: 99999\r\n\r\n",
        b"Content-Length: 10\r\n",
        b"\x1f\x8b\x08\0\0\0\0\0\0\x03",
        b"\0" * 500,
        MEMBERS[0][:40],
        RECORDS[0],
        b"9",
    )
)
DATES = st.sampled_from(
    (
        "2026-11-22T10:20:30Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "2026-11-22",
        "20261122102030",
        "2026-W47-7",
        "0000-00-00T00:00:00Z",
        "",
    )
) | st.text(max_size=30)
CODINGS = st.lists(
    st.sampled_from(("gzip", "x-gzip", "deflate", "br", "zstd", "identity", "rot13")), max_size=3
)
NAMES = st.sampled_from(
    (
        "WARC-Type",
        "WARC-Target-URI",
        "WARC-Date",
        "WARC-Record-ID",
        "WARC-Concurrent-To",
        "WARC-Refers-To",
        "WARC-Refers-To-Target-URI",
        "WARC-Refers-To-Date",
        "WARC-Payload-Digest",
        "WARC-Profile",
        "WARC-Truncated",
        "WARC-Segment-Number",
        "WARC-Page-ID",
        "WARC-Identified-Payload-Type",
        "Content-Type",
        "Content-Length",
    )
) | st.text(max_size=9)
URLS = st.sampled_from(
    (
        url_of(9),
        "http://[::1]/",
        "http://[",
        "http://a:99999/",
        "http://a:0/",
        "<https://b.example/x>",
        "urn:x",
        "",
    )
) | st.text(max_size=30)
VALUES = st.one_of(
    DATES,
    URLS,
    st.sampled_from(("response", "revisit", "resource", "request", "metadata")),
    st.text(max_size=20),
)
HTTP_HEADS = st.lists(
    st.sampled_from(
        (
            b"HTTP/1.1 200 OK",
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK",
            b"HTTP/2 304",
            b"Content-Type: text/html",
            b"Content-Encoding: gzip, br",
            b"Content-Encoding: zstd",
            b"Transfer-Encoding: chunked",
            b"Content-Length: 99999999999999",
            b"Content-Length: -1",
            b" goes on",
            b":",
            b"",
        )
    )
    | st.binary(max_size=20),
    max_size=6,
).map(b"\r\n".join)


@contextmanager
def file_of(data: bytes, name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        yield path


def pages_of(path: Path) -> dict[str, bytes]:
    """Read all of an archive; return the pages that can be read, by their addresses."""
    found: dict[str, bytes] = {}
    for one in read_archive(path, LIMITS):
        if isinstance(one, DamagedPart):
            assert str(path) in one.label
            assert one.message.endswith(".")
            continue
        assert isinstance(one, StoredPage)
        try:
            body = one.load()
        except ContentError:
            continue
        assert len(body.source) <= MOST_BYTES
        found.setdefault(one.url, body.source)
        if body.source == page_of(one.url):
            found[one.url] = body.source
    return found


def page_of(url: str) -> bytes | None:
    number = url.rpartition("/")[2]
    return page(int(number)).encode() if number in {"1", "2", "3", "4"} else None


def ask(path: Path) -> None:
    """Answer from an archive, whatever it holds."""
    try:
        answers = Answers(path, LIMITS)
    except TargetError:
        return
    for listed in answers.pages[:5]:
        assert answers.page(listed.url)
        for page_id in (listed.page_id, ANY_PAGE):
            turns = answers.turns(page_id)
            for key in [*answers.anywhere][:5]:
                for _ in range(2):
                    told = turns.next(key[0], key[1], b"", key[3])
                    if told is not None and told.status:
                        assert len(told.body) <= MOST_BYTES
                        sent(_head(told, "GET"), told.body, is_cut=told.outcome in {"cut", "failed"})


def sent(head: bytes, body: bytes, *, is_cut: bool) -> None:
    """See that an answer of the server of replays is one answer, which ends where its body does."""
    assert head.endswith(b"\r\n\r\n")
    assert head.count(b"\r\n\r\n") == 1
    assert b"\n" not in head.replace(b"\r\n", b"")
    lines = head.lower().split(b"\r\n")
    assert lines[0].startswith(b"http/1.1 ")
    lengths = [line for line in lines if line.startswith((b"content-length:", b"transfer-encoding:"))]
    assert len(lengths) <= 1
    assert not is_cut or lengths == [b"transfer-encoding: chunked"]
    assert is_cut or not lengths or int(lengths[0].split(b":")[1]) == len(body)
    assert _chunk(body) == (b"%x\r\n%s\r\n" % (len(body), body) if body else b"")


@fuzzed(
    10,
    form=st.integers(0, 3),
    start=st.integers(0, 10**6),
    size=st.sampled_from((0, 1, 2, 8, 60, 700)),
    new=PIECES,
    is_end=st.booleans(),
)
def test_records_beside_a_damaged_one_are_read(
    form: int, start: int, size: int, new: bytes, is_end: bool
) -> None:
    data = b"".join(FORMS[form])
    start %= len(data)
    end = len(data) if is_end and not size else min(start + size, len(data))
    place, whole = 0, set[int]()
    for number, part in enumerate(FORMS[form], 1):
        if place + len(part) <= start or place >= end:
            whole.add(number)
        place += len(part)
    data = data[:start] + new + data[end:]
    # What a file begins with says whether it is packed.
    is_other = any(data.lstrip(b"\r\n").startswith(sign) for sign in {*SIGNS} - {SIGNS[form]})
    with file_of(data, "a.warc.gz" if form else "a.warc") as path:
        found = pages_of(path)
        if form < 3 and not is_other:
            for number in whole:
                assert found.get(url_of(number)) == page(number).encode(), number
        ask(path)


@fuzzed(
    10,
    fields=st.lists(st.lists(NAMES | VALUES, min_size=2, max_size=2), max_size=4),
    url=URLS,
    kind=st.sampled_from(("response", "revisit", "resource", "request", "metadata", "warcinfo")),
    form=st.sampled_from(("application/http; msgtype=response", "application/http", "text/html", "")),
    head=HTTP_HEADS,
    body=st.binary(max_size=60),
    is_packed=st.booleans(),
)
def test_records_beside_a_strange_one_are_read(
    fields: list[list[str]], url: str, kind: str, form: str, head: bytes, body: bytes, is_packed: bool
) -> None:
    more = [f"{name}: {value}".replace("\n", " ").replace("\r", " ") for name, value in fields]
    more = [line for line in more if not line.lower().replace(" ", "").startswith("content-length:")]
    content = head + b"\r\n\r\n" + body
    url, form = (text.replace("\n", " ").replace("\r", " ") for text in (url, form))
    try:
        strange = record(content, *more, url=url, kind=kind, form=form)
    except UnicodeEncodeError:
        return
    parts = [RECORDS[0], strange, strange, RECORDS[1]]
    data = b"".join(gzip.compress(one, 1, mtime=0) for one in parts) if is_packed else b"".join(parts)
    with file_of(data, "a.warc") as path:
        found = pages_of(path)
        for number in (1, 2):
            assert found[url_of(number)] == page(number).encode()
        ask(path)


def wacz(names: list[str], listed: bytes, *, deflated: bool = False) -> bytes:
    file = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", kind) as packed:
        for name in names:
            packed.writestr(zipfile.ZipInfo(name), b"".join(MEMBERS[:2]), kind)
        packed.writestr(zipfile.ZipInfo("pages/pages.jsonl"), listed, kind)
    return file.getvalue()


WACZ = wacz(["archive/data.warc.gz"], json.dumps({"url": url_of(1), "id": "x", "ts": "2026-01-01"}).encode())


@fuzzed(10, data=damaged(WACZ) | damaged(WACZ[-300:]).map(lambda end: WACZ[:-300] + end))
def test_packages_that_are_damaged_are_read_as_far_as_they_go(data: bytes) -> None:
    with file_of(data, "a.wacz") as path:
        for url, source in pages_of(path).items():
            assert url != url_of(1) or source
        ask(path)


@fuzzed(
    6,
    lines=st.lists(
        odd_values
        | st.fixed_dictionaries(
            {},
            optional={
                "url": URLS | odd_values,
                "id": odd_values,
                "ts": DATES | odd_values,
                "title": odd_values,
            },
        ),
        max_size=4,
    ),
    raw=st.binary(max_size=30) | st.sampled_from((b"[", b'{"a":', b"9")),
    times=st.sampled_from((1, 1, 1, 50_000)),
    names=st.lists(
        st.sampled_from(("archive/a.warc.gz", "b.warc", "../c.warc", "/d.warc.gz", "e")),
        max_size=3,
        unique=True,
    ),
    deflated=st.booleans(),
)
def test_lists_of_pages_of_any_kind(
    lines: list[Any], raw: bytes, times: int, names: list[str], deflated: bool
) -> None:
    listed = b"\n".join([*(json.dumps(line, default=repr).encode() for line in lines), raw * times])
    with file_of(wacz(["archive/data.warc.gz", *names], listed, deflated=deflated), "a.wacz") as path:
        assert pages_of(path)[url_of(1)] == page(1).encode()
        ask(path)


def encoded(body: bytes, coding: str) -> bytes:
    if coding in {"gzip", "x-gzip"}:
        return gzip.compress(body, 1, mtime=0)
    if coding == "deflate":
        return zlib.compress(body)
    if coding == "br":
        return bytes(brotli.compress(body, quality=1))
    return zstandard.compress(body) if coding == "zstd" else body


def chunked(body: bytes, sizes: list[int], note: bytes) -> bytes:
    parts: list[bytes] = []
    for size in sizes:
        piece, body = body[:size], body[size:]
        parts += [b"%x%s\r\n%s\r\n" % (len(piece), note, piece)] if piece else []
    parts += [b"%x\r\n%s\r\n" % (len(body), body)] if body else []
    return b"".join([*parts, b"0\r\n\r\n"])


@fuzzed(
    30,
    body=st.binary(max_size=300) | st.text(max_size=50).map(lambda text: f"<p>{text}".encode() * 30),
    codings=CODINGS,
    sizes=st.lists(st.integers(1, 40), max_size=6),
    note=st.sampled_from((b"", b";a=b", b" ")),
    is_chunked=st.booleans(),
)
def test_bodies_come_out_of_their_codings(
    body: bytes, codings: list[str], sizes: list[int], note: bytes, is_chunked: bool
) -> None:
    packed = body
    for coding in codings:
        packed = encoded(packed, coding)
    if is_chunked:
        packed = chunked(packed, sizes, note)
    headers = {"content-encoding": ", ".join(codings)} if codings else {}
    headers |= {"transfer-encoding": "chunked"} if is_chunked else {"content-length": str(len(packed))}
    source, cuts = body_of(packed, headers, most_bytes=MOST_BYTES, is_cut=False)
    assert (source, cuts) == (body, [])


@fuzzed(
    40,
    content=HTTP_HEADS | st.binary(max_size=100),
    body=damaged(chunked(encoded(b"<p>" + b"Some words. " * 40, "gzip"), [10, 20], b";x"))
    | st.binary(max_size=80),
    codings=CODINGS,
    most=st.integers(1, 500),
    is_cut=st.booleans(),
)
def test_answers_of_any_kind_are_bounded(
    content: bytes, body: bytes, codings: list[str], most: int, is_cut: bool
) -> None:
    head = head_of(content + b"\r\n\r\n" + body)
    if head is not None:
        assert 200 <= head.status <= 999
        assert 0 < head.end <= len(content) + 4 + len(body)
    fields_of(content)
    assert len(dechunked(body)[0]) <= len(body)
    for said in (
        head.headers if head else {},
        {"content-encoding": ",".join(codings), "transfer-encoding": "chunked"},
    ):
        source, cuts = body_of(body, said, most_bytes=most, is_cut=is_cut)
        assert len(source) <= most
        assert all(cut.detail for cut in cuts)


HEADERS = st.lists(
    st.lists(
        st.sampled_from(("X-A", "Content-Type", "Set-Cookie", "Content-Length", "Transfer-Encoding", "Host"))
        | st.text(max_size=9),
        min_size=1,
        max_size=1,
    ).flatmap(lambda name: st.text(max_size=12).map(lambda value: [name[0], value])),
    max_size=3,
)


@fuzzed(
    4,
    path=st.text(max_size=12),
    method=st.sampled_from(("GET", "POST", "HEAD", "PUT")),
    request_headers=HEADERS,
    request_body=st.binary(max_size=30),
    status=st.sampled_from((0, 200, 204, 206, 301, 304, 404, 599)),
    reason=st.text(max_size=9),
    headers=HEADERS,
    body=st.binary(max_size=90) | st.just(b"HTTP/1.1 200 OK\r\n\r\nWARC/1.0\r\n"),
    title=st.text(max_size=9),
    missing=st.dictionaries(st.text(max_size=9), st.integers(0, 9), max_size=2),
)
def test_what_is_recorded_is_answered(
    path: str,
    method: str,
    request_headers: list[list[str]],
    request_body: bytes,
    status: int,
    reason: str,
    headers: list[list[str]],
    body: bytes,
    title: str,
    missing: dict[str, int],
) -> None:
    url = "https://moss.example/" + "".join(c for c in path if c.isprintable() and c not in "# ")
    exchange = Exchange(
        url=url,
        method=method,
        kind="Document",
        asked_at="2026-11-22T10:20:30.456Z",
        request_headers=tuple((name, value) for name, value in request_headers),
        request_body=request_body,
        outcome="whole" if status else "failed",
        fault=reason,
        status=status,
        reason=reason,
        headers=tuple((name, value) for name, value in headers),
        body=body,
    )
    last = Exchange(
        url=url_of(1),
        method="GET",
        kind="Document",
        asked_at="2026-11-22T10:20:31.000Z",
        status=200,
        body=page(1).encode(),
        headers=(("Content-Type", "text/html"),),
    )
    with tempfile.TemporaryDirectory() as folder, patch("os.fsync"):  # the disk is not what is tried
        place = Path(folder, "a.wacz")
        with Recording(place) as recording:
            recording.add(
                url,
                Recorded(exchanges=(exchange, last), missing=tuple(missing.items())),
                captured_at="2026-11-22T10:20:30+00:00",
                title=title,
                status=status or None,
            )
            recording.finish()
        assert pages_of(place)[url_of(1)] == page(1).encode()
        answers = Answers(place)
        assert not answers.damages
        listed = answers.page(url)
        assert listed is not None
        told = answers.turns(listed.page_id).next(method, url, request_body, "")
        ranged = any(name.strip().lower() == "range" for name, _ in request_headers)
        if told is None:
            assert ranged
            return
        assert (told.status, told.outcome) == (status, exchange.outcome)
        assert told.body == (body if status else b"")
        if status:
            has_body = method != "HEAD" and status not in {204, 304}
            sent(_head(told, method), body if has_body else b"", is_cut=False)
