"""WACZ 1.1.1: records, their index, the list of pages and the digests of all that, in one zip file.

Imports how records are written, and files that are whole or absent.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import parse_qsl, urlencode, urlsplit

from domsieve.archive.warc_writing import now, sha256
from domsieve.files import sync_folder, writing_file

if TYPE_CHECKING:
    from zipfile import ZipFile  # loaded by those who write such files

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
    """Write an archive; whoever reads it sees all of it or nothing.

    Parameters
    ----------
    path : the file.
    warc : holds its records.
    index : lines of the index, in any order; see `index_line`.
    pages : what is known of each page: id, url, ts, title, and more.
    facts : what the package says of itself besides.

    Raises
    ------
    StorageError : it cannot be written.
    """
    with writing_file(path, what=_THE_ARCHIVE) as part, part.open("wb") as file:
        _write(file, warc, sorted(index), pages, facts)
    sync_folder(path.parent, what=_THE_ARCHIVE)


def index_line(entry: Mapping[str, str], date: str, place: tuple[int, int]) -> str:
    """Return the line of CDXJ for a record.

    Parameters
    ----------
    entry : the fields that are known of it, url among them.
    date : of the record, ISO 8601.
    place : offset and length.
    """
    offset, length = place
    fields = {**entry, "length": str(length), "offset": str(offset), "filename": WARC_NAME}
    digits = "".join(character for character in date if character.isdecimal())
    return f"{sort_key(entry['url'], entry.get('method', 'GET'))} {digits[:14]} {json.dumps(fields)}\n"


def sort_key(url: str, method: str = "GET") -> str:
    """Return an address with its host turned around, so that what belongs together stands together."""
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
    entry.file_size = path.stat().st_size  # else one beyond 2 GB is refused
    with path.open("rb") as source, packed.open(entry, "w") as into:
        while data := source.read(_AT_ONCE):
            digest.update(data)
            size += len(data)
            into.write(data)
    return _resource(name, f"sha256:{digest.hexdigest()}", size)


def _resource(path: str, digest: str, size: int) -> dict[str, Any]:
    return {"name": path.rpartition("/")[2], "path": path, "hash": digest, "bytes": size}
