"""Exchanges as records of WARC 1.1, each a gzip member of its own.

Bodies are kept without codings, as browsers hand them out. The fields that spoke of the codings are renamed as other
recorders do it (``X-Orig-Content-Encoding``), and the length is that of what is there.

FastWARC could write records, too, but not say where each one stands, nor digest in SHA-256. Imports the values.
"""

import gzip
import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import BinaryIO, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

from domsieve.archive.exchange import Exchange, Fields

OUTCOME_TYPE = "application/vnd.domsieve.outcome"
"""Type of the metadata records that say how an exchange ended that has no whole answer."""

_CODED = frozenset({"content-encoding", "transfer-encoding", "content-length"})
_LEVEL = 6
_TRUNCATED = frozenset({"cut", "lost", "failed"})


class Written(NamedTuple):
    """Where a record stands, and what an index says of it.

    Parameters
    ----------
    offset, length : bytes of the archive.
    entry : fields of the index; empty for records that are not looked up.
    """

    offset: int
    length: int
    entry: Mapping[str, str]


def now() -> str:
    """Return the time, as records give it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def sha256(data: bytes) -> str:
    """Return a digest, as records and packages give it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


class WarcWriter:
    """Writes records behind each other.

    Parameters
    ----------
    file : open for writing, at its end.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def info(self, facts: Mapping[str, str]) -> Written:
        """Write what the archive is."""
        content = _lines(facts.items())
        fields = (
            ("WARC-Type", "warcinfo"),
            ("WARC-Date", now()),
            ("Content-Type", "application/warc-fields"),
        )
        return self._write(fields, content, {})

    def exchange(self, exchange: Exchange, page_id: str) -> list[Written]:
        """Write a request, its answer if there is one, and how it ended if that is not with a whole answer.

        Parameters
        ----------
        page_id : the page that asked; empty for what no page did.
        """
        common = (
            ("WARC-Target-URI", exchange.url),
            ("WARC-Date", exchange.asked_at),
            *((("WARC-Page-ID", page_id),) if page_id else ()),
            ("WARC-Resource-Type", exchange.kind.lower()),
        )
        written: list[Written] = []
        answer_id, request_id = uuid4().urn, uuid4().urn
        if exchange.status:
            fields, content = _answer(exchange)
            cut = (("WARC-Truncated", "unspecified"),) if exchange.outcome in _TRUNCATED else ()
            payload = sha256(exchange.body)
            head = (
                ("WARC-Type", "response"),
                *common,
                ("WARC-Payload-Digest", payload),
                *cut,
                ("Content-Type", "application/http; msgtype=response"),
            )
            entry = {
                "url": exchange.url,
                "mime": _mime(fields),
                "status": str(exchange.status),
                "digest": payload,
                **({} if exchange.method == "GET" else {"method": exchange.method}),
            }
            written.append(self._write(head, content, entry, record_id=answer_id))
        concurrent = (("WARC-Concurrent-To", f"<{answer_id}>"),) if exchange.status else ()
        head = (
            ("WARC-Type", "request"),
            *common,
            *concurrent,
            ("Content-Type", "application/http; msgtype=request"),
        )
        written.append(self._write(head, _request(exchange), {}, record_id=request_id))
        if exchange.outcome != "whole":
            head = (
                ("WARC-Type", "metadata"),
                *common,
                ("WARC-Concurrent-To", f"<{request_id}>"),
                ("Content-Type", OUTCOME_TYPE),
            )
            said = {"outcome": exchange.outcome, **({"fault": exchange.fault} if exchange.fault else {})}
            written.append(self._write(head, _lines(said.items()), {}))
        return written

    def _write(
        self, head: Fields, content: bytes, entry: Mapping[str, str], *, record_id: str = ""
    ) -> Written:
        fields = (
            *head,
            ("WARC-Record-ID", f"<{record_id or uuid4().urn}>"),
            ("WARC-Block-Digest", sha256(content)),
            ("Content-Length", str(len(content))),
        )
        record = b"WARC/1.1\r\n" + _lines(fields) + b"\r\n" + content + b"\r\n\r\n"
        packed = gzip.compress(record, _LEVEL, mtime=0)
        offset = self._file.tell()
        self._file.write(packed)
        return Written(offset, len(packed), {**entry, "recordDigest": sha256(record)} if entry else {})


def _answer(exchange: Exchange) -> tuple[Fields, bytes]:
    has_body = exchange.method != "HEAD" and exchange.status not in {204, 304}
    fields = (
        *(
            (f"X-Orig-{name}" if name.lower() in _CODED and has_body else name, value)
            for name, value in exchange.headers
        ),
        *((("Content-Length", str(len(exchange.body))),) if has_body else ()),
    )
    first = f"HTTP/1.1 {exchange.status} {exchange.reason}".rstrip()
    return fields, f"{_plain(first)}\r\n".encode() + _lines(fields) + b"\r\n" + exchange.body


def _request(exchange: Exchange) -> bytes:
    parts = urlsplit(exchange.url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    names = {name.lower() for name, _ in exchange.request_headers}
    fields = (
        *((("Host", parts.netloc.rpartition("@")[2]),) if "host" not in names else ()),
        *(field for field in exchange.request_headers if field[0].lower() not in {"content-length"}),
        *((("Content-Length", str(len(exchange.request_body))),) if exchange.request_body else ()),
    )
    first = _plain(f"{exchange.method} {target} HTTP/1.1")
    return f"{first}\r\n".encode() + _lines(fields) + b"\r\n" + exchange.request_body


def _mime(fields: Fields) -> str:
    found = next((value for name, value in fields if name.lower() == "content-type"), "")
    return found.partition(";")[0].strip().lower() or "application/octet-stream"


def _lines(fields: Iterable[tuple[str, str]]) -> bytes:
    return "".join(f"{_plain(name)}: {_plain(value)}\r\n" for name, value in fields).encode(
        "utf-8", "replace"
    )


def _plain(text: str) -> str:
    """Return text without what would end its line."""
    return text.replace("\r", " ").replace("\n", " ").replace("\0", " ")
