"""Archives made byte by byte, so that each may be wrong in its own way."""

import gzip
import random
from collections.abc import Sequence
from pathlib import Path

from domsieve.archive._decompression import DEFAULT_LIMITS, ArchiveLimits
from domsieve.archive.reading import read_archive
from domsieve.archive.stored_page import DamagedPart, StoredPage
from tests.command import page

HOST = "http://moss.example"


def url_of(number: int) -> str:
    """Return the address of a page."""
    return f"{HOST}/p/{number}"


def answer(body: bytes, *fields: str, status: str = "200 OK", kind: str = "text/html") -> bytes:
    """Return an answer of HTTP with these fields besides its type."""
    lines = [f"HTTP/1.1 {status}", *([f"Content-Type: {kind}"] if kind else []), *fields, "", ""]
    return "\r\n".join(lines).encode() + body


def record(
    content: bytes,
    *fields: str,
    url: str = url_of(1),
    kind: str = "response",
    form: str = "application/http; msgtype=response",
    length: int | str | None = None,
    number: int = 1,
) -> bytes:
    """Return a record; `length` is the one that it says it has."""
    lines = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Target-URI: {url}",
        "WARC-Date: 2026-11-22T10:20:30Z",
        f"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-{number:012}>",
        f"Content-Type: {form}",
        f"Content-Length: {len(content) if length is None else length}",
        *fields,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + content + b"\r\n\r\n"


def page_record(number: int, *fields: str, length: int | str | None = None) -> bytes:
    """Return the record of a page that has words of its own."""
    body = page(number).encode()
    return record(answer(body), *fields, url=url_of(number), length=length, number=number)


def packed(records: Sequence[bytes]) -> bytes:
    """Return records with a gzip member for each."""
    return b"".join(gzip.compress(one, mtime=0) for one in records)


def written(folder: Path, data: bytes, name: str = "crawl.warc") -> Path:
    """Return a file with these bytes."""
    path = folder / name
    path.write_bytes(data)
    return path


def read(path: Path, limits: ArchiveLimits = DEFAULT_LIMITS) -> tuple[list[StoredPage], list[DamagedPart]]:
    """Return the pages of an archive and its damaged parts."""
    found = list(read_archive(path, limits))
    pages = [one for one in found if isinstance(one, StoredPage)]
    return pages, [one for one in found if isinstance(one, DamagedPart)]


def numbers(pages: Sequence[StoredPage]) -> list[int]:
    """Return which pages these are, and see that each is whole."""
    found = [int(one.url.rpartition("/")[2]) for one in pages]
    for number, one in zip(found, pages, strict=True):
        assert one.source == page(number).encode()
    return found


def noise(seed: int, size: int) -> bytes:
    """Return bytes that do not compress."""
    return random.Random(seed).randbytes(size)
