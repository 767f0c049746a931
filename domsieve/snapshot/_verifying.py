"""Verify and repair a page store: compare its files with the rows of its index.

The store is read in 256 shares, so that a store of any size is verified in little memory.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from domsieve.errors import StorageError
from domsieve.files import CACHE_FILE, leftovers, read_file, remove_file, write_file
from domsieve.snapshot.format import base_of, encode
from domsieve.snapshot.index import Index, PageRecord
from domsieve.snapshot.stored_files import (
    BASES,
    EXTRAS,
    PAGES,
    RAW,
    StoredFiles,
    fault_of_file,
    mode_of,
    record_of,
    with_provenance,
)


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem that `PageStore.verify` found.

    Parameters
    ----------
    path : the file.
    what : what is wrong with it.
    mended : the problem was repaired.
    harmless : no page is affected; such problems are always repaired.
    """

    path: str
    what: str
    mended: bool
    harmless: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {self.what}" + (" (mended)" if self.mended else "")


class Verifier:
    """Compares the files of a store with its index, and repairs what can be repaired.

    Parameters
    ----------
    index, files : index and files of the store.
    repair : repair problems, see `PageStore.verify`.
    """

    def __init__(self, index: Index, files: StoredFiles, *, repair: bool) -> None:
        self._index, self._files, self._repair = index, files, repair

    def problems(self) -> Iterator[Problem]:
        """Yield all problems."""
        for path in leftovers(self._files.root):
            remove_file(path)
            yield Problem(str(path), "was left by a killed run", mended=True, harmless=True)
        for share in self._files.shares(BASES):
            for path in self._files.listed(BASES, share):
                if fault := fault_of_file(path):
                    yield Problem(str(path), fault, mended=False)
        # Missing rows are added by time of capture, so that the newest capture gets the last row.
        unknown: list[tuple[str, str]] = []
        for share in self._files.shares(PAGES):
            yield from self._wrong_rows(share, unknown)
        if self._repair:
            for _, page_id in sorted(unknown):
                self._add_row(self._files.path(PAGES, page_id))
        for kind in (RAW, EXTRAS):
            for share in self._files.shares(kind):
                yield from self._lost_parts(kind, share)

    def _wrong_rows(self, share: str, unknown: list[tuple[str, str]]) -> Iterator[Problem]:
        """Yield problems of page files and their rows; append ``(captured_at, page_id)`` of files without a row."""
        readable = set()
        known = {record.page_id: record for record in self._index.share("page_id", share)}
        unsigned = {record.page_id for record in self._index.unsigned(share)}
        for path in self._files.listed(PAGES, share):
            try:
                record = self._in_file(path)
            except OSError:  # removed in the meantime
                continue
            except StorageError as error:
                yield Problem(str(path), error.message, mended=False)
                continue
            if record.page_id != path.stem:
                yield Problem(str(path), f"holds the page {record.page_id}", mended=False)
                continue
            readable.add(record.page_id)
            if record.page_id not in known:
                unknown.append((record.captured_at, record.page_id))
                yield Problem(str(path), "is not in the index", self._repair)
            elif known[record.page_id] != record and self._differs(record, path):
                if self._repair:
                    self._index.change(record, self._index.extras(record.page_id))
                yield Problem(str(path), "is not as the index says", self._repair)
            elif record.page_id in unsigned:
                with contextlib.suppress(StorageError):  # on a full disk, a later run adds the checksum
                    self._index.sign(record)
        for page_id in known.keys() - readable:
            if self._repair:
                self._index.remove([page_id], make_room=lambda: None)
            path = self._files.path(PAGES, page_id)
            if not path.exists():
                yield Problem(str(path), "is missing", self._repair)

    def _in_file(self, path: Path) -> PageRecord:
        return record_of(self._files.read(path), path.stat().st_size)

    def _add_row(self, path: Path) -> None:
        page = self._files.read(path)
        record = record_of(page, path.stat().st_size)
        self._index.put(record, page.provenance.extras)
        if base := base_of(read_file(path)):
            self._index.set_base(record.site, base)

    def _differs(self, record: PageRecord, path: Path) -> bool:
        """Return whether row and file of a page still differ when read again; the file may have just changed."""
        rows = self._index.find("page_id = ?", (record.page_id,), order="stored")
        return self._in_file(path) == record and rows != [record]

    def _lost_parts(self, kind: str, share: str) -> Iterator[Problem]:
        """Yield raw sources or extras that are damaged or missing."""
        what = "the raw source" if kind == RAW else "an extra"
        users: dict[str, list[str]] = {}
        if kind == RAW:
            for record in self._index.share("source_digest", share):
                users.setdefault(record.source_digest, []).append(record.page_id)
        else:
            for digest, page_id in self._index.extras_in(share):
                users.setdefault(digest, []).append(page_id)
        for digest in sorted(users.keys() | {path.stem for path in self._files.listed(kind, share)}):
            path = self._files.path(kind, digest)
            exists = path.exists()
            fault = fault_of_file(path) if exists else ""
            if fault:
                yield Problem(str(path), fault, self._repair)
            elif not exists:
                yield from (
                    Problem(str(path), f"is missing, {what} of {page_id}", self._repair)
                    for page_id in users.get(digest, ())
                )
            if self._repair and (fault or not exists):
                for page_id in users.get(digest, ()):
                    self._forget(page_id, digest)
                remove_file(path)

    def _forget(self, page_id: str, digest: str) -> None:
        """Remove the reference of a page to a lost raw source or extra."""
        path = self._files.path(PAGES, page_id)
        page = self._files.read(path)
        origin = page.provenance
        extras = {name: other for name, other in origin.extras.items() if other != digest}
        source = "" if origin.source_digest == digest else origin.source_digest
        page = with_provenance(page, source_digest=source, extras=extras)
        base = base_of(read_file(path))
        data = encode(page, base=self._files.base(base) if base else None)
        write_file(path, data, what=CACHE_FILE, mode=mode_of(page))
        self._index.change(record_of(page, len(data)), extras)
