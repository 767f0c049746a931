"""The index of a page store: one SQLite file that several processes read and write at once.

Files are the truth and the index only points at them: a row is written after its file has its final name, and a
lost index is made anew from the files.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from domsieve.errors import CacheIndexError
from domsieve.files import create_database

_VERSION = 2
_BUSY_SECONDS = 30.0


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
_SCHEMA_2 = """
CREATE TABLE IF NOT EXISTS extras (
    page_id TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (page_id, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS extras_by_digest ON extras (digest);
"""


class Index:
    """Rows of a page store, by id, URL and site; every call is one transaction.

    Raises
    ------
    CacheIndexError : of all methods, when the database cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with ExitStack() as opened:
            try:
                if not path.exists():
                    create_database(path, f"{_SCHEMA} {_SCHEMA_2}", version=_VERSION)
                self._db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
                opened.callback(self._db.close)  # unless it can be used
                version = self._db.execute("PRAGMA user_version").fetchone()[0]
                self._db.execute("PRAGMA synchronous = NORMAL")
                if version == 1:  # an older program's, which knew no extras
                    self._db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA_2} PRAGMA user_version = 2; COMMIT;")
                    version = 2
            except (sqlite3.Error, OSError) as error:
                raise self._unusable(error) from error
            if version != _VERSION:
                raise CacheIndexError(
                    f"The index {path} has version {version}, this program knows {_VERSION}; use the program that "
                    "wrote it, or remove the index and repair the cache."
                )
            opened.pop_all()

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
            if extras:
                replaced = [*self.extras(record.page_id).values()]
                self._run("DELETE FROM extras WHERE page_id = ?", (record.page_id,))
            for name, digest in extras.items():
                self._run("INSERT INTO extras VALUES (?, ?, ?)", (record.page_id, name, digest))
        return replaced

    def find(self, condition: str, values: Sequence[str], *, order: str) -> list[PageRecord]:
        """Return the records that satisfy an SQL condition of ours, in an order of ours."""
        rows = self._run(f"SELECT {', '.join(_NAMES)} FROM pages WHERE {condition} ORDER BY {order}", values)
        return [_record(dict(zip(_NAMES, row, strict=True))) for row in rows]

    def remove(self, page_id: str) -> list[str]:
        """Forget one record; return the digests of its extras."""
        with self._transaction():
            extras = [*self.extras(page_id).values()]
            self._run("DELETE FROM pages WHERE page_id = ?", (page_id,))
            self._run("DELETE FROM extras WHERE page_id = ?", (page_id,))
        return extras

    def extras(self, page_id: str) -> dict[str, str]:
        """Return the digests of the extras of a page, by name."""
        return dict(self._run("SELECT name, digest FROM extras WHERE page_id = ? ORDER BY name", (page_id,)))

    def has_extra(self, digest: str) -> bool:
        """Return whether a page names this extra."""
        return bool(self._run("SELECT 1 FROM extras WHERE digest = ? LIMIT 1", (digest,)))

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
        except BaseException:
            self._db.rollback()
            raise
        self._run("COMMIT", ())

    def _run(self, statement: str, values: Sequence[str] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> CacheIndexError:
        return CacheIndexError(
            f"The index {self._path} cannot be used: {error}. If it is damaged, remove it and repair the cache."
        )


def _record(row: dict[str, Any]) -> PageRecord:
    return PageRecord(
        **{**row, "complete": bool(row["complete"]), "reasons": tuple(json.loads(row["reasons"]))}
    )
