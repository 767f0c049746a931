"""The store of captured pages in one folder: files named by hashes, and an index of them.

    index.sqlite3   the index
    …/              the files, see `domsieve.snapshot.stored_files`

Every file is written before the row that refers to it. A process that is killed at any moment therefore leaves no
half-written page visible, at most a file that `PageStore.verify` reports. If a raw source or another file of a page
is lost or damaged, it is written again when an equal page is stored, or `PageStore.verify` removes the reference.
"""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self
from urllib.parse import urlsplit

from domsieve.errors import CacheIndexError, DamagedFileError, StorageError, TargetError, UnknownPageError
from domsieve.files import (
    CACHE_FILE,
    digest_of,
    read_packed,
    remove_file,
    write_file,
    write_packed,
)
from domsieve.snapshot._verifying import Problem, Verifier
from domsieve.snapshot.format import Base, encode, payload_of
from domsieve.snapshot.index import Index, PageRecord, remove_index
from domsieve.snapshot.page import Producer, Scalar, Snapshot
from domsieve.snapshot.stored_files import (
    BASES,
    EXTRAS,
    PAGES,
    RAW,
    StoredFiles,
    capture_key,
    fault_of_file,
    mode_of,
    record_of,
    with_provenance,
)

_INDEX = "index.sqlite3"
_NO_EXTRAS: Mapping[str, bytes] = MappingProxyType({})
# Above 1 MiB, loading the base would take longer than reading the pages that were written against it.
_LARGEST_BASE = 1 << 20


class PageStore:
    """Store of captured pages on disk. A context manager; several processes may use one folder at once.

    Opening a store takes about 10 µs per page, for an integrity check of the index.

    Parameters
    ----------
    root : the folder.
    create : create the folder if it does not exist. Otherwise it is created when something is stored or by `create`.
    repair : replace a damaged index by an empty one, which `verify` then fills from the files. No other process may
        use the folder meanwhile.

    Raises
    ------
    CacheIndexError : the index in the folder is damaged.
    StorageError : the folder or its index cannot be used.
    """

    def __init__(self, root: Path | str, *, create: bool = True, repair: bool = False) -> None:
        self.root = root = Path(root)
        if create or repair or root.exists():
            self._make_folder()
        self._repaired: list[Problem] = []
        self._index = self._sound_index() if repair else Index(root / _INDEX, create=create)
        self._files = StoredFiles(root)

    def create(self) -> None:
        """Create the folder and its index if they do not exist yet.

        Raises
        ------
        StorageError : they cannot be created.
        """
        if self._index.is_absent:
            self._make_folder()
            self._index.close()
            self._index = Index(self.root / _INDEX)

    def _make_folder(self) -> None:
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"The cache {self.root} cannot be created: {error.strerror}.") from error

    def _sound_index(self) -> Index:
        """Return the index, after replacing it by an empty one if it is damaged."""
        path, index = self.root / _INDEX, None
        try:
            index = Index(path)
            for _ in index.each(("url", "stored")):  # reading a row checks its checksum
                pass
        except CacheIndexError as error:
            if index:
                index.close()
            remove_index(path)
            index = Index(path)
            self._repaired.append(Problem(str(path), error.message, mended=True))
        return index

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the index."""
        self._index.close()

    def put(
        self,
        page: Snapshot,
        *,
        source: bytes | None = None,
        site: str | None = None,
        extras: Mapping[str, bytes] = _NO_EXTRAS,
    ) -> PageRecord:
        """Store a page, its raw source and further files; return its record.

        A page with the same content, address and capture options is replaced.

        Parameters
        ----------
        page : the page. The stored provenance has `site` and the digests of `source` and `extras` filled in.
        source : raw source of the page, the body of the main response.
        site : name of the site to store the page under, by default host and port of its URL; empty for no site.
        extras : further files of the page, by name, which `extra` returns. If empty, those of a page that is replaced
            stay.

        Raises
        ------
        StorageError : a file cannot be written; the page is not visible then.
        """
        self.create()
        digests = {name: digest_of(extras[name]) for name in sorted(extras)}
        files = {(EXTRAS, digest): extras[name] for name, digest in digests.items()}
        page = with_provenance(page, site=urlsplit(page.provenance.url).netloc if site is None else site)
        if source is not None:
            page = with_provenance(page, source_digest=digest_of(source))
            files[RAW, page.provenance.source_digest] = source
        record = record_of(page, 0)
        page = with_provenance(page, extras=digests or self._index.extras(record.page_id))
        mode = mode_of(page)
        self._write_missing(files, mode=mode)
        base = self._base_for(page)
        data = encode(page, base=base)
        record = dataclasses.replace(record, bytes=len(data))
        write_file(self._files.path(PAGES, record.page_id), data, what=CACHE_FILE, mode=mode)
        replaced = self._index.put(record, digests)
        # Another process may have removed them together with the last page that used them.
        self._write_missing(
            {place: data for place, data in files.items() if not self._files.path(*place).exists()}, mode=mode
        )
        self._drop_extras(replaced, of=())
        if base is not None:
            self._restore_base(record.site, base, mode=mode)
        return record

    def get(self, page_id: str) -> Snapshot:
        """Return the page with an id, which must be complete; see `resolve` for prefixes.

        Raises
        ------
        UnknownPageError : there is no such page.
        DamagedFileError : the file of the page, or its base, is missing or damaged; the message names the file.
        FormatVersionError : the file has an unknown format version.
        """
        if not self._index.find("page_id = ?", (page_id,), order="stored"):
            raise UnknownPageError(f"The cache {self.root} has no page {page_id}.")
        return self._files.read(self._files.path(PAGES, page_id))

    def source(self, record: PageRecord) -> bytes:
        """Return the raw source of a page.

        Raises
        ------
        TargetError : the page was stored without its raw source.
        DamagedFileError : the file of the raw source is missing or damaged.
        """
        if not record.source_digest:
            raise TargetError("No raw source is stored for this page.", url=record.url)
        return read_packed(self._files.path(RAW, record.source_digest))

    def extra(self, record: PageRecord, name: str) -> bytes | None:
        """Return the further file that was stored with a page under `name`, or None if there is none.

        Raises
        ------
        DamagedFileError : the file is missing or damaged.
        """
        digest = self._index.extras(record.page_id).get(name)
        return None if digest is None else read_packed(self._files.path(EXTRAS, digest))

    def extra_names(self, record: PageRecord) -> list[str]:
        """Return the names of the further files that were stored with a page, sorted."""
        return [*self._index.extras(record.page_id)]

    def size(self, page_id: str) -> int:
        """Return the total size of the files of a page in bytes, including raw source and extras; 0 if not stored."""
        total = 0
        for record in self._index.find("page_id = ?", (page_id,), order="stored"):
            files = [self._files.path(EXTRAS, digest) for digest in self._index.extras(page_id).values()]
            if record.source_digest:
                files.append(self._files.path(RAW, record.source_digest))
            total += record.bytes + sum(path.stat().st_size for path in files if path.exists())
        return total

    def find(
        self, url: str, *, producer: Producer, options: Mapping[str, Scalar], build: str | None = None
    ) -> PageRecord | None:
        """Return the newest capture of `url` with the same capture options and version, or None.

        Parameters
        ----------
        url : requested address.
        producer : how the page was captured, see `Provenance`.
        options : capture options, as in the provenance of the page.
        build : build of the browser; None accepts any, although their text widths differ.
        """
        condition, values = "url = ? AND producer = ? AND capture = ?", [url, producer, capture_key(options)]
        if build is not None:
            condition, values = f"{condition} AND build = ?", [*values, build]
        found = self._index.find(condition, values, order="stored DESC LIMIT 1")
        return found[0] if found else None

    def records(self, *, site: str | None = None, url_prefix: str | None = None) -> list[PageRecord]:
        """Return the records of all pages, sorted by URL, oldest first.

        Parameters
        ----------
        site : only pages of this site.
        url_prefix : only pages whose requested address begins with this text.
        """
        conditions, values = ["1"], []
        if site is not None:
            conditions.append("site = ?")
            values.append(site)
        if url_prefix is not None:
            conditions.append("substr(url, 1, length(?)) = ?")
            values += [url_prefix, url_prefix]
        return self._index.find(" AND ".join(conditions), values, order="url, stored")

    def count(self) -> int:
        """Return the number of pages."""
        return self._index.count()

    def each_record(self, *, site: str | None = None) -> Iterator[PageRecord]:
        """Yield the same records as `records`, reading a limited number at a time."""
        if site is None:
            return self._index.each(("url", "stored"))
        return self._index.each(("url", "stored"), "site = ?", [site])

    def oldest_first(self) -> Iterator[PageRecord]:
        """Yield all records by time of capture; you may remove pages that were already yielded."""
        return self._index.each(("captured_at", "page_id"))

    def resolve(self, text: str) -> PageRecord:
        """Return the record of the only page whose id begins with `text`, in any case.

        Raises
        ------
        UnknownPageError : no page, or more than one, has such an id.
        """
        start = text.lower()
        found = self._index.find("substr(page_id, 1, length(?)) = ?", (start, start), order="page_id")
        if len(found) != 1:
            number = len(found) or "No"
            raise UnknownPageError(f"{number} page ids of the cache {self.root} begin with '{text}'.")
        return found[0]

    def remove(self, page_ids: Iterable[str]) -> None:
        """Remove pages with their files, and raw sources and extras that no other page uses.

        Parameters
        ----------
        page_ids : complete ids; unknown ones are ignored.

        Raises
        ------
        StorageError : a file cannot be removed, or the index cannot be written.
        """
        rows = [self._index.find("page_id = ?", (page_id,), order="stored") for page_id in page_ids]
        records = {record.page_id: record for row in rows for record in row}
        digests = {record.source_digest for record in records.values() if record.source_digest}

        # On a full disk even a removal from the index can fail; then the files are deleted first.
        def make_room() -> None:
            extras = {digest for page_id in records for digest in self._index.extras(page_id).values()}
            self._remove_files(records, digests, extras)

        extras = self._index.remove(records, make_room=make_room)
        self._remove_files(records, digests, extras)

    def _remove_files(self, page_ids: Collection[str], sources: Iterable[str], extras: Iterable[str]) -> None:
        """Delete the files of pages, and raw sources and extras that no other page uses."""
        for page_id in page_ids:
            remove_file(self._files.path(PAGES, page_id))
        for digest in sources:
            users = self._index.find("source_digest = ?", (digest,), order="stored")
            if {record.page_id for record in users} <= {*page_ids}:
                remove_file(self._files.path(RAW, digest))
        self._drop_extras(extras, of=page_ids)

    def add_evidence(self, site: str, kind: str, entry: bytes) -> None:
        """Add an entry to what is known about a site, such as how its pages were compared.

        Parameters
        ----------
        site : name of the site.
        kind : entries of different kinds have nothing to do with each other.
        entry : any bytes; `evidence` returns what was written, or nothing if it was damaged since.
        """
        self.create()
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        self._index.add_evidence(site, kind, now, digest_of(entry).encode() + entry)

    def evidence(self, site: str, kind: str, *, since: datetime | None = None) -> list[bytes]:
        """Return the entries of a site in the order in which they were added, without damaged ones.

        Parameters
        ----------
        site, kind : see `add_evidence`.
        since : only entries that were added at or after this time; None for all.
        """
        start = since.astimezone(UTC).isoformat(timespec="microseconds") if since else ""
        size = len(digest_of(b""))
        found = self._index.evidence(site, kind, start)
        return [entry[size:] for entry in found if digest_of(entry[size:]).encode() == entry[:size]]

    def drop_bases(self) -> None:
        """Remove the bases of sites that have no pages left, and what is known about them."""
        self._index.drop_unused_bases(lambda digest: remove_file(self._files.path(BASES, digest)))

    def verify(self, *, repair: bool = False) -> list[Problem]:
        """Read every file, compare it with the index, and return all problems, sorted by path.

        Leftovers of killed writers are deleted, and correct rows of older programs get a checksum in any case.

        Parameters
        ----------
        repair : repair what is possible. Missing rows are added, rows without a readable page are removed, and rows
            that differ from their file are corrected. Damaged raw sources and extras are deleted together with the
            references to them. Damaged files of pages are left in place.
        """
        problems = [*self._repaired, *Verifier(self._index, self._files, repair=repair).problems()]
        self._repaired = []
        return sorted(problems, key=lambda problem: problem.path)

    def _write_missing(self, files: Mapping[tuple[str, str], bytes], *, mode: int) -> None:
        for (kind, digest), data in files.items():
            path = self._files.path(kind, digest)
            if not path.exists() or fault_of_file(path):
                write_packed(path, data, mode=mode)

    def _drop_extras(self, digests: Iterable[str], *, of: Collection[str]) -> None:
        """Delete those extras that no page uses except the pages `of`."""
        for digest in digests:
            if {*self._index.pages_with(digest)} <= {*of}:
                remove_file(self._files.path(EXTRAS, digest))

    def _base_for(self, page: Snapshot) -> Base | None:
        """Return the base of the page's site; if there is none or it is lost, this page becomes the base."""
        site = page.provenance.site
        digest = self._index.base(site)
        if digest:
            try:
                return self._files.base(digest)
            except DamagedFileError:
                self._index.drop_base(digest)
        payload = payload_of(page)
        if len(payload) > _LARGEST_BASE:
            return None
        digest = digest_of(payload)
        write_packed(self._files.path(BASES, digest), payload, level=9, mode=mode_of(page))
        self._index.set_base(site, digest)
        return self._files.base(self._index.base(site))  # another process may have set one first

    def _restore_base(self, site: str, base: Base, *, mode: int) -> None:
        """Write a base again if it was removed before the page that needs it was in the index."""
        path = self._files.path(BASES, base.digest)
        if not path.exists():
            write_packed(path, base.dictionary.as_bytes(), level=9, mode=mode)
            self._index.set_base(site, base.digest)
