"""What is wrong with a page store: its files against the rows of its index, one share of them at a time.

A share is a two-hundred-and-fifty-sixth of the store, so that a store of any size is verified in little memory.
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
    record_of,
    with_provenance,
)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that `PageStore.verify` found: which file, what is wrong, and whether it was put right."""

    path: str
    what: str
    mended: bool

    def __str__(self) -> str:
        return f"{self.path}: {self.what}" + (" (mended)" if self.mended else "")


class Verifier:
    """Compares the files of a store with its index, and puts right what can be.

    Parameters
    ----------
    index, files : the store.
    repair : whether something is put right, see `PageStore.verify`.
    """

    def __init__(self, index: Index, files: StoredFiles, *, repair: bool) -> None:
        self._index, self._files, self._repair = index, files, repair

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong."""
        for path in leftovers(self._files.root):
            if self._repair:
                remove_file(path)
            yield Problem(str(path), "was left by a writer that was stopped", self._repair)
        for share in self._files.shares(BASES):
            for path in self._files.listed(BASES, share):
                if fault := fault_of_file(path):
                    yield Problem(str(path), fault, mended=False)
        # Rows are made in the order of the captures, so that the newest is the last.
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
        """Yield what is wrong with the files of pages and the rows that belong to them; add to what has no row."""
        readable = set()
        known = {record.page_id: record for record in self._index.share("page_id", share)}
        unsigned = {record.page_id for record in self._index.unsigned(share)}
        for path in self._files.listed(PAGES, share):
            try:
                record = self._in_file(path)
            except OSError:  # removed just now
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
                with contextlib.suppress(StorageError):  # there is room for it another time
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
        """Return whether the row of a page still says something else than its file, which may just have changed."""
        rows = self._index.find("page_id = ?", (record.page_id,), order="stored")
        return self._in_file(path) == record and rows != [record]

    def _lost_parts(self, kind: str, share: str) -> Iterator[Problem]:
        """Yield the raw sources or extras that are damaged or missing."""
        what = "the raw source" if kind == RAW else "an extra"
        naming: dict[str, list[str]] = {}
        if kind == RAW:
            for record in self._index.share("source_digest", share):
                naming.setdefault(record.source_digest, []).append(record.page_id)
        else:
            for digest, page_id in self._index.extras_in(share):
                naming.setdefault(digest, []).append(page_id)
        for digest in sorted(naming.keys() | {path.stem for path in self._files.listed(kind, share)}):
            path = self._files.path(kind, digest)
            is_there = path.exists()
            fault = fault_of_file(path) if is_there else ""
            if fault:
                yield Problem(str(path), fault, self._repair)
            elif not is_there:
                yield from (
                    Problem(str(path), f"is missing, {what} of {page_id}", self._repair)
                    for page_id in naming.get(digest, ())
                )
            if self._repair and (fault or not is_there):
                for page_id in naming.get(digest, ()):
                    self._forget(page_id, digest)
                remove_file(path)

    def _forget(self, page_id: str, digest: str) -> None:
        """Let a page no longer name a raw source or extra that is lost."""
        path = self._files.path(PAGES, page_id)
        page = self._files.read(path)
        origin = page.provenance
        extras = {name: named for name, named in origin.extras.items() if named != digest}
        source = "" if origin.source_digest == digest else origin.source_digest
        page = with_provenance(page, source_digest=source, extras=extras)
        base = base_of(read_file(path))
        data = encode(page, base=self._files.base(base) if base else None)
        write_file(path, data, what=CACHE_FILE)
        self._index.change(record_of(page, len(data)), extras)
