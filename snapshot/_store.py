"""The store of captured pages under one folder: files named by their content, and an index beside them.

    pages/ab/<digest>.dsnap    one page in the format of `_format`
    raw/ab/<digest>.zst        raw source of a navigation, once per content
    index.sqlite3              what is there

A file is written under a temporary name, flushed to disk and renamed; only then a row names it. A process that is
killed at any moment therefore leaves no half-written page visible, at most a file that `verify` finds.
"""

import dataclasses
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
import zstandard

from snapshot._errors import DamagedFileError, StorageError, TargetError
from snapshot._format import decode, encode
from snapshot._index import Index, PageRecord
from snapshot._page import Producer, Scalar, Snapshot

_PAGE, _RAW = ".dsnap", ".zst"
_PART = ".part"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that `PageStore.verify` found: which file, what is wrong, and what was done about it."""

    path: str
    what: str
    mended: bool

    def __str__(self) -> str:
        return f"{self.path}: {self.what}" + (" (mended)" if self.mended else "")


class PageStore:
    """Captured pages on disk; a context manager. Several processes may use one folder at once.

    Parameters
    ----------
    root : folder, made when it does not exist.

    Raises
    ------
    StorageError : the folder or the index in it cannot be used.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"The cache {root} cannot be made: {error.strerror}.") from error
        self._index = Index(root / "index.sqlite3")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index."""
        self._index.close()

    def put(self, page: Snapshot, *, source: bytes | None = None, site: str = "") -> PageRecord:
        """Keep a page, and the raw source of its navigation; return its record.

        Raises
        ------
        StorageError : a file cannot be written; nothing of the page is visible then.
        """
        if source is not None:
            digest = _digest(source)
            self._write(self._path("raw", digest, _RAW), zstandard.compress(source))
            provenance = msgspec.structs.replace(page.provenance, source_digest=digest)
            page = dataclasses.replace(page, provenance=provenance)
        data = encode(page)
        page_id = _digest(data)
        self._write(self._path("pages", page_id, _PAGE), data)
        record = _record(page_id, page, len(data), site)
        self._index.put(record)
        return record

    def get(self, page_id: str) -> Snapshot:
        """Return a page by its whole id.

        Raises
        ------
        TargetError : there is no such page.
        DamagedFileError : its file is not as it was written; the message names it.
        FormatVersionError : its file was written by a newer version.
        """
        path = self._path("pages", page_id, _PAGE)
        return decode(_read(path, page_id), source=str(path))

    def source(self, record: PageRecord) -> bytes:
        """Return the raw source that was kept with a page.

        Raises
        ------
        TargetError : none was kept.
        DamagedFileError : its file is not as it was written.
        """
        if not record.source_digest:
            raise TargetError("No raw source was kept with this page.", url=record.url)
        return _unpacked(self._path("raw", record.source_digest, _RAW), record.source_digest)

    def find(self, url: str, *, producer: Producer, options: Mapping[str, Scalar]) -> PageRecord | None:
        """Return the newest capture of `url` that these capture options shaped."""
        found = self._index.find(
            "url = ? AND producer = ? AND capture = ?",
            (url, producer, _capture_key(options)),
            order="captured_at DESC, page_id",
        )
        return found[0] if found else None

    def records(self, *, site: str | None = None) -> list[PageRecord]:
        """Return what is known of all pages, or of those of one site, by URL and time."""
        order = "url, captured_at, page_id"
        if site is None:
            return self._index.find("1", (), order=order)
        return self._index.find("site = ?", (site,), order=order)

    def resolve(self, beginning: str) -> PageRecord:
        """Return the one page whose id begins so.

        Raises
        ------
        TargetError : there is none, or more than one.
        """
        found = self._index.find("substr(page_id, 1, length(?1)) = ?1", (beginning.lower(),), order="page_id")
        if len(found) != 1:
            which = "No page" if not found else f"{len(found)} pages"
            raise TargetError(
                f"{which} of the cache begin with {beginning}; `domsieve cache list` shows all ids."
            )
        return found[0]

    def remove(self, page_ids: Iterable[str]) -> None:
        """Forget pages and delete their files, and raw sources that no other page names."""
        for page_id in page_ids:
            for record in self._index.find("page_id = ?", (page_id,), order="page_id"):
                self._index.remove(page_id)
                self._path("pages", page_id, _PAGE).unlink(missing_ok=True)
                digest = record.source_digest
                if digest and not self._index.find("source_digest = ?", (digest,), order="page_id"):
                    self._path("raw", digest, _RAW).unlink(missing_ok=True)

    def verify(self, *, repair: bool = False) -> list[Problem]:
        """Read every file and compare with the index; return what is wrong, in order of the paths.

        `repair` drops rows without a readable file, makes rows for pages without one and deletes leftovers of
        writers that were killed. Damaged files stay where they are.
        """
        return sorted(self._problems(repair=repair), key=lambda problem: problem.path)

    def _problems(self, *, repair: bool) -> Iterator[Problem]:
        records = {record.page_id: record for record in self.records()}
        for path in self.root.glob(f"*/??/*{_PART}"):
            if repair:
                path.unlink(missing_ok=True)
            yield Problem(str(path), "was left by a writer that was stopped", repair)
        for path in self.root.glob(f"pages/??/*{_PAGE}"):
            page_id = path.name.removesuffix(_PAGE)
            try:
                page = decode(_read(path, page_id), source=str(path))
            except StorageError as error:
                if records.pop(page_id, None) is not None and repair:
                    self._index.remove(page_id)
                yield Problem(str(path), error.message, False)
                continue
            if records.pop(page_id, None) is None:
                if repair:
                    size = path.stat().st_size
                    self._index.put(_record(page_id, page, size, _site_of(page.provenance.url)))
                yield Problem(str(path), "is not in the index", repair)
        for record in records.values():
            if repair:
                self._index.remove(record.page_id)
            yield Problem(str(self._path("pages", record.page_id, _PAGE)), "is missing", repair)
        for path in self.root.glob(f"raw/??/*{_RAW}"):
            try:
                _unpacked(path, path.name.removesuffix(_RAW))
            except StorageError as error:
                yield Problem(str(path), error.message, False)

    def _path(self, kind: str, digest: str, ending: str) -> Path:
        return self.root / kind / digest[:2] / f"{digest}{ending}"

    def _write(self, path: Path, data: bytes) -> None:
        if path.exists():
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, suffix=_PART)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                Path(name).replace(path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise StorageError(f"The cache file {path} cannot be written: {error.strerror}.") from error


def default_cache_dir() -> Path:
    """Return `DOMSIEVE_CACHE`, or ``pages_cache`` under the working directory."""
    return Path(os.environ.get("DOMSIEVE_CACHE") or "pages_cache")


def _record(page_id: str, page: Snapshot, size: int, site: str) -> PageRecord:
    origin = page.provenance
    return PageRecord(
        page_id=page_id,
        url=origin.url,
        final_url=origin.final_url,
        site=site,
        producer=origin.producer,
        capture=_capture_key(origin.options),
        captured_at=origin.captured_at,
        complete=origin.complete,
        reasons=origin.reasons,
        nodes=len(page),
        bytes=size,
        source_digest=origin.source_digest,
    )


def _capture_key(options: Mapping[str, Scalar]) -> str:
    return _digest(json.dumps(dict(options), sort_keys=True).encode())


def _site_of(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].rpartition("@")[2].lower()


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _read(path: Path, digest: str) -> bytes:
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise TargetError(f"The cache holds no file {path}.") from error
    except OSError as error:
        raise StorageError(f"The cache file {path} cannot be read: {error.strerror}.") from error
    if _digest(data) != digest:
        raise DamagedFileError(f"The cache file {path} is damaged; remove it and render the page anew.")
    return data


def _unpacked(path: Path, digest: str) -> bytes:
    try:
        data = zstandard.decompress(path.read_bytes())
    except FileNotFoundError as error:
        raise TargetError(f"The cache holds no file {path}.") from error
    except (OSError, zstandard.ZstdError) as error:
        raise DamagedFileError(f"The cache file {path} is damaged: {error}; render the page anew.") from error
    if _digest(data) != digest:
        raise DamagedFileError(f"The cache file {path} is damaged; render the page anew.")
    return data
