"""The index of a page store: one SQLite file that several processes read and write at once.

The files are authoritative and the index only points at them: a row is written after its file has its final name, and
a lost or damaged index is rebuilt from the files.

Damage is detected. When the index is opened, SQLite compares its tables with their indices, which takes 10 µs a page
and covers everything that is stored twice. Values that are only in a row of a page are covered by the row's checksum.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from domsieve.errors import CacheIndexError, StorageError
from domsieve.files import create_database, digest_of, remove_file

_VERSION = 4
_BUSY_SECONDS = 30.0
_CHUNK_ROWS = 1_000  # bounds the memory of `Index.each`
# Errors of SQLite about a sound file that cannot be used at the moment. The lowest byte of a code is its kind.
_NOT_DAMAGED = frozenset(
    {
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
    }
)
# On a full disk the shared-memory file of the WAL fails with IOERR.
_NO_ROOM = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})
# Errors from reading a damaged database: text that is not UTF-8, impossible sizes.
_FAULTS = (sqlite3.Error, UnicodeError, MemoryError, OverflowError)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """What the index stores about one captured page.

    Parameters
    ----------
    page_id : 32 hex digits: a hash of the page's content, address and capture options.
    url, final_url : requested address, address after redirects.
    site : name of the site that the page is stored under.
    producer : ``"rendered"``, ``"raw"`` or ``"unscripted"``, see `Provenance`.
    capture : hash of the capture options and the capture version.
    build : build of the browser, empty for raw pages.
    captured_at : UTC time, ISO 8601.
    complete : the page was captured completely.
    reasons : what was cut and why.
    nodes : number of nodes.
    bytes : size of the stored file.
    source_digest : hash of the raw source in the store, empty if it was not stored.
    """

    page_id: str
    url: str
    final_url: str
    site: str
    producer: str
    capture: str
    build: str
    captured_at: str
    complete: bool
    reasons: tuple[str, ...]
    nodes: int
    bytes: int
    source_digest: str


_NAMES = [column.name for column in fields(PageRecord)]
# `stored` orders captures even if the clock went backwards.
_SCHEMA = """
CREATE TABLE pages (
    stored INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id TEXT NOT NULL UNIQUE, url TEXT NOT NULL, final_url TEXT NOT NULL, site TEXT NOT NULL,
    producer TEXT NOT NULL, capture TEXT NOT NULL, build TEXT NOT NULL, captured_at TEXT NOT NULL,
    complete INTEGER NOT NULL, reasons TEXT NOT NULL, nodes INTEGER NOT NULL, bytes INTEGER NOT NULL,
    source_digest TEXT NOT NULL
);
CREATE INDEX pages_by_url ON pages (url, producer, capture);
CREATE INDEX pages_by_site ON pages (site, url);
CREATE INDEX pages_by_source ON pages (source_digest);
CREATE TABLE bases (site TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID;
"""
# Changes of the schema by version. A new index runs the same steps, so that all have exactly the same schema.
_STEPS = {
    2: """
CREATE TABLE extras (
    page_id TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (page_id, name)
) WITHOUT ROWID;
CREATE INDEX extras_by_digest ON extras (digest);
""",
    # Rows of older programs have no checksum. `bases_by_digest` lets the integrity check compare the table with it.
    3: """
ALTER TABLE pages ADD COLUMN checksum TEXT NOT NULL DEFAULT '';
CREATE INDEX bases_by_digest ON bases (digest);
""",
    4: """
CREATE TABLE evidence (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    site TEXT NOT NULL, kind TEXT NOT NULL, added_at TEXT NOT NULL, entry BLOB NOT NULL
);
CREATE INDEX evidence_by_site ON evidence (site, kind);
""",
}


class Index:
    """Index of the pages in a store, by id, URL and site; every call is one transaction.

    Parameters
    ----------
    path : the file.
    create : create the file if it does not exist. Otherwise such an index is empty, and must not be written to.

    Raises
    ------
    CacheIndexError : the database is damaged; raised by all methods.
    StorageError : the database cannot be used at the moment (disk full, no permission, locked for more than 30 s);
        raised by all methods.
    """

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self._path = path
        self.is_absent = not create and not path.exists()
        try:
            if create and not path.exists():
                create_database(path, _SCHEMA + "".join(_STEPS.values()), version=_VERSION, shrinks="full")
        except (*_FAULTS, OSError) as error:
            raise self._unusable(error) from error
        try:
            self._db = self._connect()
        except StorageError as error:
            if _kind(error.__cause__) not in _NO_ROOM:
                raise
            # Exclusive mode needs no shared-memory file, for which a full disk has no room.
            self._db = self._connect(exclusive=True)

    def _connect(self, *, exclusive: bool = False) -> sqlite3.Connection:
        """Return a connection to the database after checking it; `exclusive` locks out other connections."""
        with ExitStack() as on_error:
            try:
                place = ":memory:" if self.is_absent else self._path
                self._db = sqlite3.connect(place, timeout=_BUSY_SECONDS, isolation_level=None)
                on_error.callback(self._db.close)
                if self.is_absent:
                    self._db.executescript(
                        f"{_SCHEMA}{''.join(_STEPS.values())}PRAGMA user_version = {_VERSION}"
                    )
                if exclusive:
                    self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
                self._db.execute("PRAGMA temp_store = MEMORY")
                version = self._version()
                self._db.execute("PRAGMA synchronous = NORMAL")
                if 0 < version < _VERSION:
                    version = self._upgrade()
                fault = self._fault() if version == _VERSION else ""
            except _FAULTS as error:
                raise self._unusable(error) from error
            if version != _VERSION:
                raise CacheIndexError(
                    f"The index {self._path} has version {version}, but this program reads {_VERSION}; "
                    "use the program that wrote it, or repair the cache."
                )
            if fault:
                raise CacheIndexError(f"The index {self._path} is damaged: {fault}; repair the cache.")
            on_error.pop_all()
        return self._db

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def _upgrade(self) -> int:
        """Upgrade an index of an older program to the current schema; return its version."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            # The version is read again, because another process may have upgraded in the meantime.
            for version in range(self._version() + 1, _VERSION + 1):
                for statement in _STEPS[version].split(";"):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {version}")
        except BaseException:
            self._db.rollback()
            raise
        self._db.execute("COMMIT")
        return self._version()

    def _fault(self) -> str:
        """Return what is wrong with the database; empty if nothing is."""
        if self._db.execute(_SELECT_SCHEMA).fetchall() != _expected_schema():
            return "its tables do not have the expected schema"
        (message,) = self._db.execute("PRAGMA integrity_check (1)").fetchone()  # stops at the first problem
        return "" if message == "ok" else " ".join(str(message).split())

    def put(self, record: PageRecord, extras: Mapping[str, str]) -> list[str]:
        """Add a record and its extras, or replace the record with the same id.

        Parameters
        ----------
        record : the record.
        extras : digests of the extras of the page, by name. If empty, existing extras stay: pages with equal ids have
            equal content, and another process may have just added them.

        Returns
        -------
        Digests of the extras that were replaced.
        """
        values = {**asdict(record), "reasons": json.dumps(record.reasons)}
        placeholders = ", ".join(f":{name}" for name in _NAMES)
        replaced: list[str] = []
        with self._transaction():
            self._run(f"INSERT OR REPLACE INTO pages ({', '.join(_NAMES)}) VALUES ({placeholders})", values)
            self._sign(record.page_id)
            if extras:
                replaced = [*self.extras(record.page_id).values()]
                self._set_extras(record.page_id, extras)
        return replaced

    def change(self, record: PageRecord, extras: Mapping[str, str]) -> None:
        """Update the row of a page and replace its extras; its place in the order of captures stays."""
        values = {**asdict(record), "reasons": json.dumps(record.reasons)}
        with self._transaction():
            self._run(
                f"UPDATE pages SET {', '.join(f'{n} = :{n}' for n in _NAMES)} WHERE page_id = :page_id",
                values,
            )
            self._sign(record.page_id)
            self._set_extras(record.page_id, extras)

    def _set_extras(self, page_id: str, extras: Mapping[str, str]) -> None:
        self._run("DELETE FROM extras WHERE page_id = ?", (page_id,))
        for name, digest in extras.items():
            self._run("INSERT INTO extras VALUES (?, ?, ?)", (page_id, name, digest))

    def sign(self, record: PageRecord) -> None:
        """Add the checksum to the row of a record if it has none and still matches the record."""
        with self._transaction():
            if self.find("page_id = ? AND checksum = ''", (record.page_id,), order="stored") == [record]:
                self._sign(record.page_id)

    def _sign(self, page_id: str) -> None:
        ((*row, _),) = self._run(f"SELECT {_COLUMNS} FROM pages WHERE page_id = ?", (page_id,))
        self._run("UPDATE pages SET checksum = ? WHERE page_id = ?", (_checksum(row), page_id))

    def unsigned(self, start: str = "") -> list[PageRecord]:
        """Return the records of older programs, whose rows have no checksum, with ids that begin with `start`."""
        condition = "checksum = '' AND page_id >= ? AND page_id < ?"
        return self.find(condition, (start, _after_prefix(start)), order="stored")

    def find(self, condition: str, values: Sequence[str], *, order: str) -> list[PageRecord]:
        """Return the records that match a condition.

        Parameters
        ----------
        condition : SQL expression; never contains untrusted text.
        values : values of the placeholders in `condition`, which may be untrusted.
        order : SQL ``ORDER BY`` terms; never contains untrusted text.
        """
        if not all(map(_is_storable, values)):
            return []
        rows = self._run(f"SELECT {_COLUMNS} FROM pages WHERE {condition} ORDER BY {order}", values)
        return [self._record(row) for row in rows]

    def each(
        self, key: tuple[str, str], condition: str = "1", values: Sequence[str] = ()
    ) -> Iterator[PageRecord]:
        """Yield the records that match a condition, reading a limited number at a time.

        Parameters
        ----------
        key : two columns that together are unique, by which the records are sorted.
        condition, values : see `find`.
        """
        if not all(map(_is_storable, values)):
            return
        names = ["stored", *_NAMES]
        after, last = "1", list[Any]()
        while True:
            rows = self._run(
                f"SELECT {_COLUMNS} FROM pages WHERE {condition} AND {after} "
                f"ORDER BY {', '.join(key)} LIMIT {_CHUNK_ROWS:d}",
                (*values, *last),
            )
            yield from map(self._record, rows)
            if len(rows) < _CHUNK_ROWS:
                return
            after = f"({', '.join(key)}) > (?, ?)"
            last = [rows[-1][names.index(name)] for name in key]

    def share(self, column: str, start: str) -> list[PageRecord]:
        """Return the records whose value of `column`, hex digits, begins with `start`; by URL, oldest first."""
        return self.find(
            f"{column} >= ? AND {column} < ?", (start, _after_prefix(start)), order="url, stored"
        )

    def count(self) -> int:
        """Return the number of records."""
        return int(self._run("SELECT count(*) FROM pages", ())[0][0])

    def _record(self, row: Sequence[Any]) -> PageRecord:
        stored, *values, checksum = row
        if checksum not in {"", _checksum([stored, *values])}:
            raise CacheIndexError(
                f"The index {self._path} is damaged: a row does not match its checksum; repair the cache."
            )
        named = dict(zip(_NAMES, values, strict=True))
        try:
            changes = {"complete": bool(named["complete"]), "reasons": tuple(json.loads(named["reasons"]))}
        except (TypeError, ValueError) as error:  # possible in rows without a checksum
            raise self._unusable(error) from error
        return PageRecord(**{**named, **changes})

    def remove(self, page_ids: Collection[str], *, make_room: Callable[[], None]) -> list[str]:
        """Remove records; return the digests of their extras.

        Parameters
        ----------
        page_ids : ids of the records.
        make_room : called if the disk is too full to write the change, before it is tried once more.
        """
        try:
            return self._remove(page_ids)
        except StorageError as error:
            if _kind(error.__cause__) not in _NO_ROOM:
                raise
        make_room()
        return self._remove(page_ids)

    def _remove(self, page_ids: Collection[str]) -> list[str]:
        extras: list[str] = []
        # One transaction for all, because each one needs disk space of its own.
        with self._transaction():
            for page_id in page_ids:
                extras += self.extras(page_id).values()
                self._run("DELETE FROM pages WHERE page_id = ?", (page_id,))
                self._run("DELETE FROM extras WHERE page_id = ?", (page_id,))
        return extras

    def extras(self, page_id: str) -> dict[str, str]:
        """Return the digests of the extras of a page, by name."""
        return dict(self._run("SELECT name, digest FROM extras WHERE page_id = ? ORDER BY name", (page_id,)))

    def extras_in(self, start: str) -> list[tuple[str, str]]:
        """Return pairs of digest and page id for all extras whose digest begins with `start`, sorted."""
        return self._run(
            "SELECT digest, page_id FROM extras WHERE digest >= ? AND digest < ? ORDER BY digest, page_id",
            (start, _after_prefix(start)),
        )

    def pages_with(self, digest: str) -> list[str]:
        """Return the ids of the pages that use an extra, sorted."""
        rows = self._run("SELECT page_id FROM extras WHERE digest = ? ORDER BY page_id", (digest,))
        return [page_id for (page_id,) in rows]

    def base(self, site: str) -> str:
        """Return the digest of the base of a site, empty if it has none yet."""
        rows = self._run("SELECT digest FROM bases WHERE site = ?", (site,))
        return str(rows[0][0]) if rows else ""

    def set_base(self, site: str, digest: str) -> None:
        """Set the base of a site unless it already has one."""
        self._run("INSERT OR IGNORE INTO bases VALUES (?, ?)", (site, digest))

    def drop_base(self, digest: str) -> None:
        """Remove a base; the next page of its site becomes the new one."""
        self._run("DELETE FROM bases WHERE digest = ?", (digest,))

    def add_evidence(self, site: str, kind: str, added_at: str, entry: bytes) -> None:
        """Add an entry to the evidence on a site; see `PageStore.add_evidence`."""
        values = (site, kind, added_at, entry)
        self._run("INSERT INTO evidence (site, kind, added_at, entry) VALUES (?, ?, ?, ?)", values)

    def evidence(self, site: str, kind: str, since: str) -> list[bytes]:
        """Return the entries of a site in their order; see `PageStore.evidence`."""
        condition = "site = ? AND kind = ? AND added_at >= ?"
        return [
            entry
            for (entry,) in self._run(
                f"SELECT entry FROM evidence WHERE {condition} ORDER BY number", (site, kind, since)
            )
        ]

    def drop_unused_bases(self, remove: Callable[[str], None]) -> None:
        """Remove the bases of sites without pages, and the evidence on them.

        The index is locked meanwhile. A process that is about to add a page then notices that its base is missing,
        and writes it again.

        Parameters
        ----------
        remove : called with the digest of each base that no other site uses.
        """
        orphaned = "site NOT IN (SELECT site FROM pages)"
        if self._run(f"SELECT 1 FROM evidence WHERE {orphaned} LIMIT 1", ()):
            self._run(f"DELETE FROM evidence WHERE {orphaned}", ())
        unused = "SELECT site, digest FROM bases WHERE NOT EXISTS (SELECT 1 FROM pages WHERE pages.site = bases.site)"
        if not self._run(f"{unused} LIMIT 1", ()):
            return
        with self._transaction():
            for site, digest in self._run(unused, ()):
                self._run("DELETE FROM bases WHERE site = ?", (site,))
                if not self._run("SELECT 1 FROM bases WHERE digest = ? LIMIT 1", (digest,)):
                    remove(digest)

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._run("BEGIN IMMEDIATE", ())
        try:
            yield
            self._run("COMMIT", ())
        except BaseException:
            if self._db.in_transaction:  # SQLite itself rolls back on a full disk
                self._db.rollback()
            raise

    def _run(self, statement: str, values: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(statement, values).fetchall()
        except _FAULTS as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> StorageError:
        # A file that SQLite calls read-only although the system lets us write it is damaged as well.
        is_sound = _kind(error) in _NOT_DAMAGED and not (
            _kind(error) == sqlite3.SQLITE_READONLY and os.access(self._path, os.W_OK)
        )
        if isinstance(error, OSError) or is_sound:
            message = error.strerror if isinstance(error, OSError) else error
            return StorageError(f"The index {self._path} cannot be used: {message}.")
        # Messages of SQLite may contain parts of the file, in any encoding.
        message = (
            "it contains invalid text" if isinstance(error, UnicodeError) else " ".join(str(error).split())
        )
        return CacheIndexError(f"The index {self._path} is damaged: {message}; repair the cache.")


def remove_index(path: Path) -> None:
    """Remove the files of an index, which no other process may have open.

    Raises
    ------
    StorageError : a file cannot be removed.
    """
    # The side files first, because SQLite would take them for a part of the next index.
    for ending in ("-wal", "-shm", ""):
        remove_file(path.with_name(path.name + ending))


_COLUMNS = ", ".join(["stored", *_NAMES, "checksum"])
_SELECT_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"


@cache
def _expected_schema() -> list[tuple[str, ...]]:
    """Return the schema of a sound index, as SQLite describes it."""
    database = sqlite3.connect(":memory:")
    try:
        database.executescript(_SCHEMA + "".join(_STEPS.values()))
        return database.execute(_SELECT_SCHEMA).fetchall()
    finally:
        database.close()


def _after_prefix(start: str) -> str:
    """Return a text that sorts directly after all hex digits that begin with `start`."""
    return f"{start}g"


def _checksum(row: Sequence[Any]) -> str:
    """Return the checksum of the values of a row, beginning with `stored`."""
    return digest_of(repr([*row]).encode("utf-8", "replace"))


def _kind(error: BaseException | None) -> int:
    """Return the primary SQLite error code of an error, 0 if it has none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_storable(text: str) -> bool:
    """Return whether the index can contain `text`, which it cannot if there are lone surrogates in it."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
