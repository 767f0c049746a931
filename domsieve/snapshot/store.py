"""The store of captured pages under one folder: files named by hashes, and an index beside them.

    index.sqlite3   what is there
    …/              the files, see `stored_files`

Every file is written before the row that names it. A process that is killed at any moment therefore leaves no
half-written page visible, at most a file that `PageStore.verify` finds. What a page names can be lost or damaged: it
is written anew when an equal page is put, and `PageStore.verify` can make a page forget it.
"""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
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
    record_of,
    with_provenance,
)
from domsieve.snapshot.verifying import Problem, Verifier

_INDEX = "index.sqlite3"
_NOTHING: Mapping[str, bytes] = MappingProxyType({})
# A larger page makes a bad base: it would take longer to load than the pages written against it.
_LARGEST_BASE = 1 << 20


class PageStore:
    """Captured pages on disk; a context manager. Several processes may use one folder at once.

    To open it takes 10 us a page, for which the index is compared with itself.

    Parameters
    ----------
    root : folder, made when it does not exist.
    repair : whether a damaged index gives way to an empty one, which `verify` fills from the files. No other process
        may use the folder then.

    Raises
    ------
    CacheIndexError : the index in the folder is damaged.
    StorageError : the folder or the index in it cannot be used.
    """

    def __init__(self, root: Path | str, *, repair: bool = False) -> None:
        self.root = root = Path(root)
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"The cache {root} cannot be made: {error.strerror}.") from error
        self._replaced: list[Problem] = []
        self._index = self._mended_index() if repair else Index(root / _INDEX)
        self._files = StoredFiles(root)

    def _mended_index(self) -> Index:
        """Return the index, or an empty one in the place of one that is damaged."""
        path, index = self.root / _INDEX, None
        try:
            index = Index(path)
            for _ in index.each(("url", "stored")):  # every row
                pass
        except CacheIndexError as error:
            if index:
                index.close()
            remove_index(path)
            index = Index(path)
            self._replaced.append(Problem(str(path), error.message, mended=True))
        return index

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index."""
        self._index.close()

    def put(
        self,
        page: Snapshot,
        *,
        source: bytes | None = None,
        site: str | None = None,
        extras: Mapping[str, bytes] = _NOTHING,
    ) -> PageRecord:
        """Keep a page, the raw source of its navigation and extras by name; return its record.

        A page of equal content that was asked for in the same way is replaced.

        Parameters
        ----------
        page : the page; its provenance is kept with `site` and the digests of `source` and `extras` filled in.
        source : body of the main response.
        site : name the page is stored under, by default the host and port of its URL; empty for a page of no
            site.
        extras : byte strings that `extra` returns by their names; without any, those of a page that is replaced stay.

        Raises
        ------
        StorageError : a file cannot be written; nothing of the page is visible then.
        """
        digests = {name: digest_of(extras[name]) for name in sorted(extras)}
        files = {(EXTRAS, digest): extras[name] for name, digest in digests.items()}
        page = with_provenance(page, site=urlsplit(page.provenance.url).netloc if site is None else site)
        if source is not None:
            page = with_provenance(page, source_digest=digest_of(source))
            files[RAW, page.provenance.source_digest] = source
        record = record_of(page, 0)
        page = with_provenance(page, extras=digests or self._index.extras(record.page_id))
        self._keep(files)
        base = self._base_for(page)
        data = encode(page, base=base)
        record = dataclasses.replace(record, bytes=len(data))
        write_file(self._files.path(PAGES, record.page_id), data, what=CACHE_FILE)
        replaced = self._index.put(record, digests)
        # In case somebody removed them with the last page that named them.
        self._keep({place: data for place, data in files.items() if not self._files.path(*place).exists()})
        self._drop_extras(replaced, of=())
        if base is not None:
            self._keep_base(record.site, base)
        return record

    def get(self, page_id: str) -> Snapshot:
        """Return a page by its whole id.

        Raises
        ------
        UnknownPageError : there is no such page.
        DamagedFileError : its file, or the base it needs, is not as it was written; the message names it.
        FormatVersionError : its file has a version that this program does not know.
        """
        if not self._index.find("page_id = ?", (page_id,), order="stored"):
            raise UnknownPageError(f"The cache {self.root} holds no page {page_id}.")
        return self._files.read(self._files.path(PAGES, page_id))

    def source(self, record: PageRecord) -> bytes:
        """Return the raw source that was kept with a page.

        Raises
        ------
        TargetError : none was kept.
        DamagedFileError : its file is not as it was written.
        """
        if not record.source_digest:
            raise TargetError("No raw source was kept with this page.", url=record.url)
        return read_packed(self._files.path(RAW, record.source_digest))

    def extra(self, record: PageRecord, name: str) -> bytes | None:
        """Return what was kept beside a page under a name, None when nothing was.

        Raises
        ------
        DamagedFileError : its file is not as it was written.
        """
        digest = self._index.extras(record.page_id).get(name)
        return None if digest is None else read_packed(self._files.path(EXTRAS, digest))

    def extra_names(self, record: PageRecord) -> list[str]:
        """Return the names of what was kept beside a page, sorted."""
        return [*self._index.extras(record.page_id)]

    def size(self, page_id: str) -> int:
        """Return how many bytes the files of a page take, raw source and extras among them; 0 without such a page."""
        held = 0
        for record in self._index.find("page_id = ?", (page_id,), order="stored"):
            files = [self._files.path(EXTRAS, digest) for digest in self._index.extras(page_id).values()]
            if record.source_digest:
                files.append(self._files.path(RAW, record.source_digest))
            held += record.bytes + sum(path.stat().st_size for path in files if path.exists())
        return held

    def find(
        self, url: str, *, producer: Producer, options: Mapping[str, Scalar], build: str | None = None
    ) -> PageRecord | None:
        """Return the newest capture of `url` that this program would make in the same way, None without one.

        Parameters
        ----------
        url : address asked for.
        producer : how the page was made, see `Provenance`.
        options : those that shaped the capture, as in its provenance.
        build : kind of the browser; None takes any, although their text widths differ.
        """
        condition, values = "url = ? AND producer = ? AND capture = ?", [url, producer, capture_key(options)]
        if build is not None:
            condition, values = f"{condition} AND build = ?", [*values, build]
        found = self._index.find(condition, values, order="stored DESC LIMIT 1")
        return found[0] if found else None

    def records(self, *, site: str | None = None, url_prefix: str | None = None) -> list[PageRecord]:
        """Return what is known of all pages, those of one site or below one address, sorted by URL, oldest first."""
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
        """Yield what `records` returns of all pages or of one site, holding few of them at a time."""
        if site is None:
            return self._index.each(("url", "stored"))
        return self._index.each(("url", "stored"), "site = ?", [site])

    def oldest_first(self) -> Iterator[PageRecord]:
        """Yield what is known of all pages by the time of their capture; those yielded may be removed meanwhile."""
        return self._index.each(("captured_at", "page_id"))

    def resolve(self, text: str) -> PageRecord:
        """Return the one page whose id begins with `text`.

        Raises
        ------
        UnknownPageError : there is none, or more than one.
        """
        start = text.lower()
        found = self._index.find("substr(page_id, 1, length(?)) = ?", (start, start), order="page_id")
        if len(found) != 1:
            number = len(found) or "No"
            raise UnknownPageError(f"{number} page ids of the cache {self.root} begin with '{text}'.")
        return found[0]

    def remove(self, page_ids: Iterable[str]) -> None:
        """Forget pages and delete their files, and raw sources and extras that no other page names.

        When the disk has not even room to forget them, their files go first.

        Raises
        ------
        StorageError : a file cannot be removed, or the index cannot be written.
        """
        found = [self._index.find("page_id = ?", (page_id,), order="stored") for page_id in page_ids]
        records = {record.page_id: record for one in found for record in one}
        digests = {record.source_digest for record in records.values() if record.source_digest}

        def make_room() -> None:
            extras = {digest for page_id in records for digest in self._index.extras(page_id).values()}
            self._remove_files(records, digests, extras)

        extras = self._index.remove(records, make_room=make_room)
        self._remove_files(records, digests, extras)

    def _remove_files(self, page_ids: Collection[str], sources: Iterable[str], extras: Iterable[str]) -> None:
        """Delete the files of pages, and of raw sources and extras what no other page names."""
        for page_id in page_ids:
            remove_file(self._files.path(PAGES, page_id))
        for digest in sources:
            naming = self._index.find("source_digest = ?", (digest,), order="stored")
            if {record.page_id for record in naming} <= {*page_ids}:
                remove_file(self._files.path(RAW, digest))
        self._drop_extras(extras, of=page_ids)

    def drop_bases(self) -> None:
        """Remove what the pages of sites were written against of which no page is left."""
        self._index.drop_unused_bases(lambda digest: remove_file(self._files.path(BASES, digest)))

    def verify(self, *, repair: bool = False) -> list[Problem]:
        """Read every file and compare with the index; return what is wrong, in order of the paths.

        `repair` makes rows for pages without one, drops rows without a readable page, puts right those that say
        something else than the file, and deletes what writers that were killed have left. It deletes damaged raw
        sources and extras, and their pages forget those; damaged files of pages stay where they are. Rows of older
        programs get a checksum when they are right, with and without `repair`.
        """
        problems = [*self._replaced, *Verifier(self._index, self._files, repair=repair).problems()]
        self._replaced = []
        return sorted(problems, key=lambda problem: problem.path)

    def _keep(self, files: Mapping[tuple[str, str], bytes]) -> None:
        for (kind, digest), data in files.items():
            path = self._files.path(kind, digest)
            if not path.exists() or fault_of_file(path):
                write_packed(path, data)

    def _drop_extras(self, digests: Iterable[str], *, of: Collection[str]) -> None:
        """Delete extras that no page names but those that they were of."""
        for digest in digests:
            if {*self._index.pages_with(digest)} <= {*of}:
                remove_file(self._files.path(EXTRAS, digest))

    def _base_for(self, page: Snapshot) -> Base | None:
        """Return the base of the page's site, which is this page when the site has none or has lost it."""
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
        write_packed(self._files.path(BASES, digest), payload, level=9)
        self._index.set_base(site, digest)
        return self._files.base(self._index.base(site))  # another process may have been quicker

    def _keep_base(self, site: str, base: Base) -> None:
        """Write a base again if it was removed before the page that needs it was in the index."""
        path = self._files.path(BASES, base.digest)
        if not path.exists():
            write_packed(path, base.dictionary.as_bytes(), level=9)
            self._index.set_base(site, base.digest)
