"""The index of a page store: one SQLite table that several processes read and write at once.

Files are the truth and the index only points at them: a row is written after its file has its final name, and a
lost index is made anew from the files.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from snapshot._errors import StorageError

_VERSION = 1
_BUSY_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """What the index knows of one captured page.

    Parameters
    ----------
    page_id : 32 hex digits, the digest of the stored file.
    url, final_url : address asked for, address reached.
    site : name the page was stored under, the host of its URL.
    producer : ``"rendered"`` or ``"raw"``.
    capture : hash of the options, the build of the browser and the version that shaped the capture.
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
    captured_at: str
    complete: bool
    reasons: tuple[str, ...]
    nodes: int
    bytes: int
    source_digest: str


_NAMES = [column.name for column in fields(PageRecord)]
_SCHEMA = """
CREATE TABLE IF NOT EXISTS pages (
    page_id TEXT PRIMARY KEY, url TEXT NOT NULL, final_url TEXT NOT NULL, site TEXT NOT NULL,
    producer TEXT NOT NULL, capture TEXT NOT NULL, captured_at TEXT NOT NULL, complete INTEGER NOT NULL,
    reasons TEXT NOT NULL, nodes INTEGER NOT NULL, bytes INTEGER NOT NULL, source_digest TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS pages_by_url ON pages (url, producer, capture);
CREATE INDEX IF NOT EXISTS pages_by_site ON pages (site);
"""


class Index:
    """Rows of a page store, by id, URL and site; every call is one transaction."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            if version > _VERSION:
                raise StorageError(f"The index {path} has version {version}; update domsieve to read it.")
            self._db.executescript(_SCHEMA)
            self._db.execute(f"PRAGMA user_version={_VERSION}")
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def put(self, record: PageRecord) -> None:
        """Add a record, or replace the one of equal id."""
        values = {**asdict(record), "reasons": "\n".join(record.reasons)}
        marks = ", ".join(f":{name}" for name in _NAMES)
        self._run(f"INSERT OR REPLACE INTO pages ({', '.join(_NAMES)}) VALUES ({marks})", values)

    def find(self, condition: str, values: Sequence[str], *, order: str) -> list[PageRecord]:
        """Return the records that satisfy an SQL condition of ours, in an order of ours."""
        rows = self._run(f"SELECT {', '.join(_NAMES)} FROM pages WHERE {condition} ORDER BY {order}", values)
        return [_record(dict(zip(_NAMES, row, strict=True))) for row in rows]

    def remove(self, page_id: str) -> None:
        """Forget one record."""
        self._run("DELETE FROM pages WHERE page_id = ?", (page_id,))

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def _run(self, statement: str, values: Sequence[str] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _unusable(self, error: sqlite3.Error) -> StorageError:
        return StorageError(
            f"The index {self._path} cannot be used: {error}. If it is damaged, remove it; "
            "`domsieve cache verify --repair` makes it anew from the pages."
        )


def _record(row: dict[str, Any]) -> PageRecord:
    reasons = tuple(row["reasons"].split("\n")) if row["reasons"] else ()
    return PageRecord(**{**row, "complete": bool(row["complete"]), "reasons": reasons})
