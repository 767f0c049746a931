"""Record an archive; an interrupted run is continued by the next one.

Until ``out.wacz`` is complete, its parts are in the folder ``out.wacz.unfinished``: the records, and a journal with
one line per page, which is written once all records of the page are on disk. Records after the last page in the
journal belong to an unfinished page and are dropped.
"""

import fcntl
import os
import shutil
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self
from uuid import uuid4

import msgspec

from domsieve.archive._writing import WarcWriter, index_line, now, write_wacz
from domsieve.archive.http_exchange import Exchange, Recorded
from domsieve.errors import StorageError, UsageError
from domsieve.urls import without_credentials

_UNFINISHED = ".unfinished"
_RECORDS, _JOURNAL = "data.warc.gz", "journal.jsonl"
_SUFFIX = ".wacz"
_ABOUT = {"software": "domsieve", "format": "WARC File Format 1.1"}
_LOST, _CUT = "bodies that were lost", "streams that had not ended"


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the journal: a page or a file.

    Parameters
    ----------
    page : entry in the list of pages; None for a file such as robots.txt.
    end : offset of the end of its last record.
    index : its lines of the index.
    missing : number of things that could not be recorded, by name.
    """

    page: dict[str, Any] | None
    end: int
    index: list[str]
    missing: dict[str, int]


class Recording:
    """Records the pages of a run in an archive; a context manager.

    Leaving the context keeps what was recorded for a later run. `finish` writes the archive.

    Parameters
    ----------
    path : the archive to write; its name must end with ``.wacz``.

    Raises
    ------
    UsageError : on entering: the name has another suffix, the file exists, or another process is recording it.
    StorageError : on entering: the folder cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._folder = path.with_name(path.name + _UNFINISHED)
        self._lines: dict[str, _Line] = {}
        self._files: list[_Line] = []
        self._records: BinaryIO | None = None
        self._journal: BinaryIO | None = None

    def __enter__(self) -> Self:
        if self.path.suffix.lower() != _SUFFIX:
            raise UsageError(f"{self.path}: give a name that ends with {_SUFFIX}.", parameter="archive")
        if self.path.exists():
            raise UsageError(
                f"{self.path} already exists, and archives are not overwritten; give another name."
            )
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._records = (self._folder / _RECORDS).open("ab")
            self._journal = (self._folder / _JOURNAL).open("ab")
            try:
                fcntl.flock(self._journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise UsageError(f"{self.path} is being recorded by another process.") from error
            self._resume(self._records, self._journal)
        except OSError as error:
            self.close()
            raise StorageError(f"{self._folder} cannot be written: {error.strerror}.") from error
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pages(self) -> int:
        """Number of recorded pages."""
        return len(self._lines)

    @property
    def missing(self) -> dict[str, int]:
        """Number of things that could not be recorded, by name; empty if the recording is complete."""
        return dict(sum((Counter(line.missing) for line in self._lines.values()), Counter()))

    def has(self, url: str, captured_at: str) -> bool:
        """Return whether the capture of `url` at time `captured_at` is already recorded."""
        known = self._lines.get(without_credentials(url))
        return known is not None and known.page is not None and known.page["ts"] == captured_at

    def add(self, url: str, recorded: Recorded, *, captured_at: str, title: str, status: int | None) -> None:
        """Record the exchanges of a page; they replace an earlier capture of the same page.

        Parameters
        ----------
        url : address of the page.
        recorded : its exchanges.
        captured_at : UTC time of the capture, ISO 8601.
        title : title of the page.
        status : HTTP status of the page, None if there was none.

        Raises
        ------
        StorageError : the records cannot be written.
        """
        page_id = uuid4().hex
        page = {
            "id": page_id,
            "url": without_credentials(url),
            "ts": captured_at,
            "title": title,
            "status": status,
        }
        self._write(recorded, page_id, page)

    def add_file(self, url: str, status: int, body: bytes) -> None:
        """Record a file that was fetched for no page in particular, such as robots.txt; raises like `add`."""
        exchange = Exchange(
            url=without_credentials(url), method="GET", kind="Other", asked_at=now(), status=status, body=body
        )
        self._write(Recorded(exchanges=(exchange,)), "", None)

    def _write(self, recorded: Recorded, page_id: str, page: dict[str, Any] | None) -> None:
        if self._records is None or self._journal is None:
            raise RuntimeError("the recording is not open")
        index: list[str] = []
        missing = Counter(dict(recorded.missing))
        try:
            writer = WarcWriter(self._records)
            for exchange in recorded.exchanges:
                for offset, length, entry in writer.exchange(exchange, page_id):
                    if entry:
                        index.append(index_line(entry, exchange.asked_at, (offset, length)))
                missing.update({"lost": [_LOST], "cut": [_CUT]}.get(exchange.outcome, []))
            self._records.flush()
            os.fsync(self._records.fileno())
            line = _Line(
                page={**page, **({"missing": dict(missing)} if missing else {})} if page else None,
                end=self._records.tell(),
                index=index,
                missing=dict(missing),
            )
            self._journal.write(msgspec.json.encode(line) + b"\n")
            self._journal.flush()
            os.fsync(self._journal.fileno())
        except OSError as error:
            raise StorageError(f"{self._folder} cannot be written: {error.strerror}.") from error
        self._take(line)

    def finish(self) -> None:
        """Write the archive and remove the temporary folder; without any page no archive is written.

        Raises
        ------
        StorageError : the archive cannot be written.
        """
        self.close()
        if self._lines:
            missing = self.missing
            write_wacz(
                self.path,
                self._folder / _RECORDS,
                index=[entry for line in (*self._files, *self._lines.values()) for entry in line.index],
                pages=[line.page for line in self._lines.values() if line.page],
                facts={"title": self.path.stem, "domsieve": {"complete": not missing, "missing": missing}},
            )
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """Close the files."""
        for file in filter(None, (self._records, self._journal)):
            file.close()
        self._records = self._journal = None

    def _take(self, line: _Line) -> None:
        if line.page:
            self._lines[line.page["url"]] = line
        else:
            self._files.append(line)

    def _resume(self, records: BinaryIO, journal: BinaryIO) -> None:
        """Read the journal of an earlier run, and truncate what belongs to an unfinished page."""
        end = whole = 0
        size = (self._folder / _RECORDS).stat().st_size
        for text in (self._folder / _JOURNAL).read_bytes().splitlines(keepends=True):
            try:
                line = msgspec.json.decode(text, type=_Line)
            except (msgspec.DecodeError, msgspec.ValidationError):
                break
            if not text.endswith(b"\n") or line.end > size:
                break
            end, whole = line.end, whole + len(text)
            self._take(line)
        for file, size in ((records, end), (journal, whole)):
            file.truncate(size)
            file.seek(size)
        if not end:
            WarcWriter(records).info({**_ABOUT, "isPartOf": self.path.stem})
            records.flush()
