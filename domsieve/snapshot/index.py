"""The index of a page store: one SQLite file that several processes read and write at once.

Files are the truth and the index only points at them: a row is written after its file has its final name, and a
lost or damaged index is made anew from the files.

Damage does not go unnoticed. SQLite compares its trees when the index is opened, in 10 us a page, which tells of all
that stands in two of them; what stands in the rows of pages alone is told by a checksum in each of them.
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

_VERSION = 3
_BUSY_SECONDS = 30.0
_AT_ONCE = 1_000  # records that are held
# What SQLite says when the file is as it was written, but cannot be used now. The lowest byte is the kind.
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
# A disk without room fails the file that processes share, too.
_NO_ROOM = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})
# What reading a damaged database raises: words that are no UTF-8, sizes that are none.
_FAULTS = (sqlite3.Error, UnicodeError, MemoryError, OverflowError)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """What the index knows of one captured page.

    Parameters
    ----------
    page_id : 32 hex digits, made from the page's content and from how it was asked for.
    url, final_url : address asked for, address reached.
    site : name the page was stored under.
    producer : ``"rendered"``, ``"raw"`` or ``"unscripted"``.
    capture : hash of the options and of the version of the code that shaped the capture.
    build : kind of the browser, empty for raw pages.
    captured_at : UTC, ISO 8601.
    complete : whether the page was captured whole.
    reasons : what was cut and why.
    nodes : number of nodes.
    bytes : size of the stored file.
    source_digest : of the raw source in the store, empty when none was kept.
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
# `stored` tells the newest capture even when the clock went backwards.
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
# What each version added. A new index is made by the same steps, so that all have the same schema, to the letter.
_STEPS = {
    2: """
CREATE TABLE extras (
    page_id TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (page_id, name)
) WITHOUT ROWID;
CREATE INDEX extras_by_digest ON extras (digest);
""",
    # The checksum is empty in rows of older programs. The tree of bases is there to be compared with their table.
    3: """
ALTER TABLE pages ADD COLUMN checksum TEXT NOT NULL DEFAULT '';
CREATE INDEX bases_by_digest ON bases (digest);
""",
}


class Index:
    """Rows of a page store, by id, URL and site; every call is one transaction.

    Parameters
    ----------
    path : the file, made when it does not exist.

    Raises
    ------
    CacheIndexError : of all methods, when the database is damaged.
    StorageError : of all methods, when it cannot be used now: no room, no right, in use for too long.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            if not path.exists():
                create_database(path, _SCHEMA + "".join(_STEPS.values()), version=_VERSION, shrinks="full")
        except (*_FAULTS, OSError) as error:
            raise self._unusable(error) from error
        try:
            self._db = self._opened()
        except StorageError as error:
            if _kind(error.__cause__) not in _NO_ROOM:
                raise
            # Alone it needs no file to share with others, for which a full disk has no room.
            self._db = self._opened(alone=True)

    def _opened(self, *, alone: bool = False) -> sqlite3.Connection:
        """Return a connection to a database that is sound; if it is `alone`, no other is let in."""
        with ExitStack() as opened:
            try:
                self._db = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
                opened.callback(self._db.close)  # unless it can be used
                if alone:
                    self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
                self._db.execute("PRAGMA temp_store = MEMORY")
                version = self._version()
                self._db.execute("PRAGMA synchronous = NORMAL")
                if 0 < version < _VERSION:
                    version = self._bring_up()
                fault = self._fault() if version == _VERSION else ""
            except _FAULTS as error:
                raise self._unusable(error) from error
            if version != _VERSION:
                raise CacheIndexError(
                    f"The index {self._path} has version {version}, this program knows {_VERSION}; "
                    "use the program that wrote it, or repair the cache."
                )
            if fault:
                raise CacheIndexError(f"The index {self._path} is damaged: {fault}; repair the cache.")
            opened.pop_all()
        return self._db

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def _bring_up(self) -> int:
        """Bring an index of an older program up to this one; return its version."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            for version in range(self._version() + 1, _VERSION + 1):  # another process may have been quicker
                for statement in _STEPS[version].split(";"):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {version}")
        except BaseException:
            self._db.rollback()
            raise
        self._db.execute("COMMIT")
        return self._version()

    def _fault(self) -> str:
        """Return what is wrong with the database, empty when nothing is."""
        if self._db.execute(_DESCRIPTION).fetchall() != _description():
            return "its tables are not those that were made"
        # One line is enough.
        (said,) = self._db.execute("PRAGMA integrity_check (1)").fetchone()
        return "" if said == "ok" else " ".join(str(said).split())

    def put(self, record: PageRecord, extras: Mapping[str, str]) -> list[str]:
        """Add a record and the digests of its extras by name, or replace those of equal id; return the ones replaced.

        Without extras those that are there stay: a page of equal id is as they show it, and another job may have just
        added them.
        """
        values = {**asdict(record), "reasons": json.dumps(record.reasons)}
        marks = ", ".join(f":{name}" for name in _NAMES)
        replaced: list[str] = []
        with self._transaction():
            self._run(f"INSERT OR REPLACE INTO pages ({', '.join(_NAMES)}) VALUES ({marks})", values)
            self._sign(record.page_id)
            if extras:
                replaced = [*self.extras(record.page_id).values()]
                self._set_extras(record.page_id, extras)
        return replaced

    def change(self, record: PageRecord, extras: Mapping[str, str]) -> None:
        """Let the row of a page say what a record says, and name these extras and no others; its age stays."""
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
        """Give the row of a record its checksum, if an older program wrote it without and it is still as it was."""
        with self._transaction():
            if self.find("page_id = ? AND checksum = ''", (record.page_id,), order="stored") == [record]:
                self._sign(record.page_id)

    def _sign(self, page_id: str) -> None:
        ((*row, _),) = self._run(f"SELECT {_COLUMNS} FROM pages WHERE page_id = ?", (page_id,))
        self._run("UPDATE pages SET checksum = ? WHERE page_id = ?", (_checksum(row), page_id))

    def unsigned(self, start: str = "") -> list[PageRecord]:
        """Return the records whose rows have no checksum, as older programs wrote them, of ids that begin so."""
        condition = "checksum = '' AND page_id >= ? AND page_id < ?"
        return self.find(condition, (start, _behind(start)), order="stored")

    def find(self, condition: str, values: Sequence[str], *, order: str) -> list[PageRecord]:
        """Return the records that satisfy an SQL condition of ours, in an order of ours."""
        if not all(map(_can_be_kept, values)):
            return []
        rows = self._run(f"SELECT {_COLUMNS} FROM pages WHERE {condition} ORDER BY {order}", values)
        return [self._record(row) for row in rows]

    def each(
        self, key: tuple[str, str], condition: str = "1", values: Sequence[str] = ()
    ) -> Iterator[PageRecord]:
        """Yield the records that satisfy an SQL condition of ours by a key of two columns, holding few at a time."""
        if not all(map(_can_be_kept, values)):
            return
        names = ["stored", *_NAMES]
        behind, last = "1", list[Any]()
        while True:
            rows = self._run(
                f"SELECT {_COLUMNS} FROM pages WHERE {condition} AND {behind} "
                f"ORDER BY {', '.join(key)} LIMIT {_AT_ONCE:d}",
                (*values, *last),
            )
            yield from map(self._record, rows)
            if len(rows) < _AT_ONCE:
                return
            behind = f"({', '.join(key)}) > (?, ?)"
            last = [rows[-1][names.index(name)] for name in key]

    def share(self, column: str, start: str) -> list[PageRecord]:
        """Return the records with a column of hex digits that begins with these, by URL, oldest first."""
        return self.find(f"{column} >= ? AND {column} < ?", (start, _behind(start)), order="url, stored")

    def count(self) -> int:
        """Return the number of records."""
        return int(self._run("SELECT count(*) FROM pages", ())[0][0])

    def _record(self, row: Sequence[Any]) -> PageRecord:
        stored, *values, checksum = row
        if checksum not in {"", _checksum([stored, *values])}:
            raise CacheIndexError(
                f"The index {self._path} is damaged: a row is not as it was written; repair the cache."
            )
        named = dict(zip(_NAMES, values, strict=True))
        try:
            changes = {"complete": bool(named["complete"]), "reasons": tuple(json.loads(named["reasons"]))}
        except (TypeError, ValueError) as error:  # of a row without a checksum
            raise self._unusable(error) from error
        return PageRecord(**{**named, **changes})

    def remove(self, page_ids: Collection[str], *, make_room: Callable[[], None]) -> list[str]:
        """Forget records; return the digests of their extras.

        When the disk has no room for that, it is tried once more behind `make_room`.
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
        # At once, since each transaction takes room of its own.
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
        """Return the digests of extras that begin so, each with the id of a page that names it; sorted."""
        return self._run(
            "SELECT digest, page_id FROM extras WHERE digest >= ? AND digest < ? ORDER BY digest, page_id",
            (start, _behind(start)),
        )

    def pages_with(self, digest: str) -> list[str]:
        """Return the ids of the pages that name an extra, sorted."""
        rows = self._run("SELECT page_id FROM extras WHERE digest = ? ORDER BY page_id", (digest,))
        return [page_id for (page_id,) in rows]

    def base(self, site: str) -> str:
        """Return the digest of the base of a site, empty when it has none yet."""
        rows = self._run("SELECT digest FROM bases WHERE site = ?", (site,))
        return str(rows[0][0]) if rows else ""

    def set_base(self, site: str, digest: str) -> None:
        """Give a site its base unless it has one."""
        self._run("INSERT OR IGNORE INTO bases VALUES (?, ?)", (site, digest))

    def drop_base(self, digest: str) -> None:
        """Forget a base; the next page of its site becomes another."""
        self._run("DELETE FROM bases WHERE digest = ?", (digest,))

    def drop_unused_bases(self, remove: Callable[[str], None]) -> None:
        """Forget the bases of sites without pages; `remove` is told of those that no other site has.

        Nobody puts a page meanwhile. Who was about to finds that its base is gone, and writes it again.
        """
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
            if self._db.in_transaction:  # a full disk ends it by itself
                self._db.rollback()
            raise

    def _run(self, statement: str, values: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(statement, values).fetchall()
        except _FAULTS as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> StorageError:
        # One that may be written and still says that it may not is damaged, too.
        is_sound = _kind(error) in _NOT_DAMAGED and not (
            _kind(error) == sqlite3.SQLITE_READONLY and os.access(self._path, os.W_OK)
        )
        if isinstance(error, OSError) or is_sound:
            said = error.strerror if isinstance(error, OSError) else error
            return StorageError(f"The index {self._path} cannot be used: {said}.")
        # What SQLite says may hold pieces of the file, in any encoding.
        said = "it holds what is no text" if isinstance(error, UnicodeError) else " ".join(str(error).split())
        return CacheIndexError(f"The index {self._path} is damaged: {said}; repair the cache.")


def remove_index(path: Path) -> None:
    """Remove the files of an index, which no other process should have open.

    Raises
    ------
    StorageError : one cannot be removed.
    """
    # First what belongs to it, which SQLite would else take for a part of the next index.
    for ending in ("-wal", "-shm", ""):
        remove_file(path.with_name(path.name + ending))


_COLUMNS = ", ".join(["stored", *_NAMES, "checksum"])
_DESCRIPTION = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"


@cache
def _description() -> list[tuple[str, ...]]:
    """Return what SQLite knows of the tables and trees of a sound index."""
    database = sqlite3.connect(":memory:")
    try:
        database.executescript(_SCHEMA + "".join(_STEPS.values()))
        return database.execute(_DESCRIPTION).fetchall()
    finally:
        database.close()


def _behind(start: str) -> str:
    """Return what stands behind all hex digits that begin so."""
    return f"{start}g"


def _checksum(row: Sequence[Any]) -> str:
    """Return the checksum of the values of a row, from its number on."""
    return digest_of(repr([*row]).encode("utf-8", "replace"))


def _kind(error: BaseException | None) -> int:
    """Return SQLite's number for the kind of an error, 0 when it has none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _can_be_kept(text: str) -> bool:
    """Return whether a text can be in the index at all: not one with the bytes of a file name that is no UTF-8."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
