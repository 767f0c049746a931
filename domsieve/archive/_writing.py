"""Write exchanges as WARC 1.1 records, and pack them with their indexes as WACZ 1.1.1."""

import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import uuid4

from domsieve.archive.http_exchange import Exchange, Fields
from domsieve.files import sync_folder, writing_file

if TYPE_CHECKING:
    from zipfile import ZipFile

OUTCOME_TYPE = "application/vnd.domsieve.outcome"
"""Content type of the metadata records that tell how an exchange without a complete response ended."""

_CODED = frozenset({"content-encoding", "transfer-encoding", "content-length"})
_LEVEL = 6
_TRUNCATED = frozenset({"cut", "lost", "failed"})


class Written(NamedTuple):
    """Place of a written record, and its fields in the index.

    Parameters
    ----------
    offset, length : position and size in the archive, in bytes.
    entry : fields of the index entry; empty for records that are not indexed.
    """

    offset: int
    length: int
    entry: Mapping[str, str]


def now() -> str:
    """Return the current UTC time as in WARC records: ISO 8601 with milliseconds and ``Z``."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def sha256(data: bytes) -> str:
    """Return the SHA-256 digest of `data` as in WARC records and WACZ packages: ``sha256:`` and hex digits."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


class WarcWriter:
    """Appends records to a file.

    Parameters
    ----------
    file : file that is open for writing, positioned at its end.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def info(self, facts: Mapping[str, str]) -> Written:
        """Write the ``warcinfo`` record, which describes the archive."""
        content = _lines(facts.items())
        fields = (
            ("WARC-Type", "warcinfo"),
            ("WARC-Date", now()),
            ("Content-Type", "application/warc-fields"),
        )
        return self._write(fields, content, {})

    def exchange(self, exchange: Exchange, page_id: str) -> list[Written]:
        """Write the records of an exchange: response (if any), request, and the outcome unless it is ``"whole"``.

        Parameters
        ----------
        exchange : the exchange.
        page_id : id of the page that sent the request; empty for requests of no page.
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
            outcome = {"outcome": exchange.outcome, **({"fault": exchange.fault} if exchange.fault else {})}
            written.append(self._write(head, _lines(outcome.items()), {}))
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
    content_type = next((value for name, value in fields if name.lower() == "content-type"), "")
    return content_type.partition(";")[0].strip().lower() or "application/octet-stream"


def _lines(fields: Iterable[tuple[str, str]]) -> bytes:
    return "".join(f"{_plain(name)}: {_plain(value)}\r\n" for name, value in fields).encode(
        "utf-8", "replace"
    )


def _plain(text: str) -> str:
    """Return `text` without line breaks and NUL characters, which could inject further headers."""
    return text.replace("\r", " ").replace("\n", " ").replace("\0", " ")


PAGES_FORMAT = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
WARC_NAME = "data.warc.gz"
_SOFTWARE = "domsieve"
_THE_ARCHIVE = "The archive"
_AT_ONCE = 1 << 20
_WWW = re.compile(r"www\d{0,3}\.")
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_wacz(
    path: Path,
    warc: Path,
    *,
    index: Iterable[str],
    pages: Sequence[Mapping[str, Any]],
    facts: Mapping[str, Any],
) -> None:
    """Write a WACZ file atomically.

    Parameters
    ----------
    path : the file to write.
    warc : file with the records.
    index : lines of the index, in any order; see `index_line`.
    pages : entries of the list of pages, with ``id``, ``url``, ``ts``, ``title`` and further fields.
    facts : further fields of ``datapackage.json``.

    Raises
    ------
    StorageError : the file cannot be written.
    """
    with writing_file(path, what=_THE_ARCHIVE) as part, part.open("wb") as file:
        _write(file, warc, sorted(index), pages, facts)
    sync_folder(path.parent, what=_THE_ARCHIVE)


def index_line(entry: Mapping[str, str], date: str, place: tuple[int, int]) -> str:
    """Return the CDXJ line of a record.

    Parameters
    ----------
    entry : fields of the record; ``url`` is required.
    date : date of the record, ISO 8601.
    place : offset and length of the record in bytes.
    """
    offset, length = place
    fields = {**entry, "length": str(length), "offset": str(offset), "filename": WARC_NAME}
    digits = "".join(character for character in date if character.isdecimal())
    return f"{sort_key(entry['url'], entry.get('method', 'GET'))} {digits[:14]} {json.dumps(fields)}\n"


def sort_key(url: str, method: str = "GET") -> str:
    """Return the SURT form of an address, with reversed host (``org,example)/path``), so that sites sort together."""
    parts = urlsplit(url)
    try:
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    is_address = ":" in host or host.replace(".", "").isdecimal()
    name = host if is_address else ",".join(reversed(_WWW.sub("", host, count=1).split(".")))
    place = f"{name}:{port}" if port else name
    query = sorted(parse_qsl(parts.query, keep_blank_values=True))
    if method != "GET":
        query.append(("__wb_method", method))
    return f"{place}){parts.path or '/'}{f'?{urlencode(query)}' if query else ''}".lower().replace(" ", "%20")


def _write(
    file: BinaryIO,
    warc: Path,
    index: list[str],
    pages: Sequence[Mapping[str, Any]],
    facts: Mapping[str, Any],
) -> None:
    from zipfile import ZipFile, ZipInfo

    listed = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in (PAGES_FORMAT, *pages))
    parts = {
        "indexes/index.cdxj": "".join(index).encode("utf-8", "replace"),
        "pages/pages.jsonl": listed.encode("utf-8", "replace"),
    }
    with ZipFile(file, "w") as packed:
        resources = [_add_file(packed, f"archive/{WARC_NAME}", warc)]
        for name, data in parts.items():
            packed.writestr(ZipInfo(name, _EPOCH), data)
            resources.append(_resource(name, sha256(data), len(data)))
        first = pages[0] if pages else {}
        package = {
            "profile": "data-package",
            "wacz_version": "1.1.1",
            "software": _SOFTWARE,
            "created": now()[:19] + "Z",
            **({"mainPageUrl": first["url"], "mainPageDate": first["ts"]} if first else {}),
            **facts,
            "resources": resources,
        }
        data = json.dumps(package, indent=2).encode()
        packed.writestr(ZipInfo("datapackage.json", _EPOCH), data)
        digest = json.dumps({"path": "datapackage.json", "hash": sha256(data)}).encode()
        packed.writestr(ZipInfo("datapackage-digest.json", _EPOCH), digest)


def _add_file(packed: "ZipFile", name: str, path: Path) -> dict[str, Any]:
    from zipfile import ZipInfo

    digest, size = hashlib.sha256(), 0
    entry = ZipInfo(name, _EPOCH)
    entry.file_size = path.stat().st_size  # without it, zipfile refuses files above 2 GB
    with path.open("rb") as source, packed.open(entry, "w") as into:
        while data := source.read(_AT_ONCE):
            digest.update(data)
            size += len(data)
            into.write(data)
    return _resource(name, f"sha256:{digest.hexdigest()}", size)


def _resource(path: str, digest: str, size: int) -> dict[str, Any]:
    return {"name": path.rpartition("/")[2], "path": path, "hash": digest, "bytes": size}
