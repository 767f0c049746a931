"""The job database: one SQLite file that the service and its workers use at the same time.

This module has the schema, rows and transactions. `JobStore` has the operations of clients and the operator,
`WorkQueue` those of workers; both use a `Database` and may share one.
"""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from domsieve.errors import StorageError
from domsieve.files import create_database
from domsieve.service.jobs.job_values import Job, JobFile

_VERSION = 3
_BUSY_SECONDS = 30.0
# SQLite truncates its write-ahead log to this size.
_LOG_BYTES = 4_000_000
# Shrink the file only from this many free pages on, and by this many at a time. Guesses.
_FREE_PAGES, _PAGES_AT_ONCE = 64, 2_048
# Bytes that an event or a capture takes besides its data, for keys, times and indexes. An estimate.
_ROW_BYTES = 200
# `domsieve.service.jobs.work_queue` explains `lease_until` and `boot`.
_SCHEMA = """
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, client TEXT NOT NULL, key TEXT, request TEXT NOT NULL,
    state TEXT NOT NULL, created_at TEXT NOT NULL, started_at TEXT, ended_at TEXT,
    attempts INTEGER NOT NULL DEFAULT 0, done_pages INTEGER NOT NULL DEFAULT 0, total_pages INTEGER,
    problem TEXT, summary TEXT,
    worker TEXT, token INTEGER NOT NULL DEFAULT 0, boot TEXT, lease_until REAL
);
CREATE UNIQUE INDEX jobs_by_key ON jobs (client, key) WHERE key IS NOT NULL;
CREATE INDEX jobs_by_client ON jobs (client, number);
CREATE INDEX jobs_by_state ON jobs (state, client);
CREATE TABLE files (
    job TEXT NOT NULL, name TEXT NOT NULL, content_type TEXT NOT NULL, size_bytes INTEGER NOT NULL,
    data BLOB NOT NULL, PRIMARY KEY (job, name)
);
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, job TEXT NOT NULL, at TEXT NOT NULL, kind TEXT NOT NULL,
    data TEXT NOT NULL
);
CREATE INDEX events_by_job ON events (job, number);
CREATE TABLE pages (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    client TEXT NOT NULL, job TEXT NOT NULL, page_id TEXT NOT NULL, url TEXT NOT NULL, site TEXT NOT NULL,
    captured_at TEXT NOT NULL, nodes INTEGER NOT NULL, complete INTEGER NOT NULL, UNIQUE (job, page_id)
);
CREATE INDEX pages_by_client ON pages (client, page_id, number);
CREATE INDEX pages_by_site ON pages (client, site, page_id);
CREATE INDEX pages_by_use ON pages (client);
CREATE INDEX pages_by_id ON pages (page_id);
CREATE TABLE workers (name TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
"""
# Since version 2 results are files: `place` names the file in the folder of the job. Results of version 1 have no
# place and stay in `files` until they are moved; nothing is added there. `captures` are the captures that jobs hold
# in the cache, also those of pages without scripts; `pages` are the captures that clients see; `unused` are captures
# that no job holds any more and that will be removed. `row_bytes` is the size of the rows of a job.
_VERSION_2 = (
    "CREATE TABLE results ("
    "number INTEGER PRIMARY KEY AUTOINCREMENT, job TEXT NOT NULL, name TEXT NOT NULL, content_type TEXT NOT NULL, "
    "size_bytes INTEGER NOT NULL, place TEXT, UNIQUE (job, name))",
    "CREATE INDEX results_to_move ON results (number) WHERE place IS NULL",
    "CREATE TABLE captures ("
    "job TEXT NOT NULL, page_id TEXT NOT NULL, size_bytes INTEGER, PRIMARY KEY (job, page_id)) WITHOUT ROWID",
    "CREATE INDEX captures_by_page ON captures (page_id)",
    "CREATE INDEX captures_to_measure ON captures (page_id) WHERE size_bytes IS NULL",
    "CREATE TABLE unused (page_id TEXT PRIMARY KEY) WITHOUT ROWID",
    "ALTER TABLE jobs ADD COLUMN row_bytes INTEGER NOT NULL DEFAULT 0",
    "INSERT INTO results (job, name, content_type, size_bytes) "
    "SELECT job, name, content_type, size_bytes FROM files ORDER BY rowid",
    "INSERT INTO captures (job, page_id) SELECT DISTINCT job, page_id FROM pages",
    "UPDATE jobs SET row_bytes = LENGTH(request) + (SELECT COALESCE(SUM(LENGTH(data)), 0) + "
    f"{_ROW_BYTES} * COUNT(*) FROM events WHERE job = jobs.id)",
    "PRAGMA user_version = 2",
)
# Version 3 has the stores; `place` names the folder of each.
_VERSION_3 = (
    "CREATE TABLE stores ("
    "number INTEGER PRIMARY KEY AUTOINCREMENT, client TEXT NOT NULL, name TEXT NOT NULL, place TEXT NOT NULL UNIQUE, "
    "url TEXT NOT NULL, created_at TEXT NOT NULL, runs INTEGER NOT NULL DEFAULT 0, synced_at TEXT, "
    "pages INTEGER NOT NULL DEFAULT 0, size_bytes INTEGER NOT NULL DEFAULT 0, UNIQUE (client, name))",
    "PRAGMA user_version = 3",
)
_UPGRADES = {1: _VERSION_2, 2: _VERSION_3}
_JOB = (
    "id, kind, client, request, state, created_at, started_at, ended_at, attempts, done_pages, total_pages, "
    "problem, summary"
)
_JSON = ("request", "problem", "summary")


class Database:
    """A connection to the job database; a context manager that closes it.

    Threads may share a connection; each process opens its own. All methods raise `StorageError` if the database
    cannot be used, for example because it is damaged or the disk is full.

    Parameters
    ----------
    path : the database file; created if it does not exist.

    Attributes
    ----------
    on_news : called after a job was accepted, cancelled or deleted through this object, in the thread that did it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.on_news: Callable[[], None] | None = None
        self._lock = threading.RLock()
        with ExitStack() as opened:
            try:
                if not path.exists():
                    schema = "; ".join([_SCHEMA, *_VERSION_2[:-1], *_VERSION_3[:-1], ""])
                    create_database(path, schema, version=_VERSION, shrinks="incremental")
                self._db = sqlite3.connect(
                    path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
                )
                opened.callback(self._db.close)  # if the database turns out to be unusable
                self._db.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
                version = self._version()
                if version in _UPGRADES:
                    version = self._upgrade()
            except (sqlite3.Error, OSError) as error:
                raise self._unusable(error) from error
            if version != _VERSION:
                raise StorageError(
                    f"The job database {path} has version {version}; this program supports version {_VERSION}."
                )
            opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database file."""
        with self._lock:
            self._db.close()

    @property
    def folder(self) -> Path:
        """The folder of the service, which also contains the results and captures."""
        return self.path.parent

    def version(self) -> tuple[int, int]:
        """Return a value that changes with every change by any process. Takes microseconds."""
        with self._lock:
            return self.run("PRAGMA data_version")[0][0], self._db.total_changes

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[None]:
        """Run a block as a transaction: all of its changes take effect, or none.

        Parameters
        ----------
        durable : wait until the changes are on the disk, so that they survive a power failure and not only the end
            of the process.
        """
        with self._lock:
            self.run(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self.run("BEGIN IMMEDIATE")
            try:
                yield
                self.run("COMMIT")
            except BaseException:
                # SQLite rolls back by itself after some errors, such as a full disk.
                if self._db.in_transaction:
                    self._db.rollback()
                raise

    def run(
        self, statement: str, values: Sequence[object] | Mapping[str, object] = ()
    ) -> list[tuple[Any, ...]]:
        """Execute an SQL statement and return its rows."""
        with self._lock:
            try:
                return self._db.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise self._unusable(error) from error

    def jobs(self, condition: str, values: Sequence[object]) -> list[Job]:
        """Return the jobs that satisfy an SQL condition, which must not contain text of clients, with their files."""
        with self._lock:
            rows = self.run(f"SELECT {_JOB} FROM jobs WHERE {condition}", values)
            return [self._job(row) for row in rows]

    def add_event(self, job: str, kind: str, data: Mapping[str, Any]) -> None:
        """Add an event to a job. Call it inside a transaction."""
        text = packed(data)
        self.run("INSERT INTO events (job, at, kind, data) VALUES (?, ?, ?, ?)", (job, now(), kind, text))
        self.add_size(job, len(text))

    def add_size(self, job: str, size_bytes: int) -> None:
        """Add a row with `size_bytes` of data to the size of a job. Call it inside a transaction."""
        self.run("UPDATE jobs SET row_bytes = row_bytes + ? WHERE id = ?", (_ROW_BYTES + size_bytes, job))

    def shrink(self) -> bool:
        """Return some free pages of the file to the disk; return whether there are more.

        Raises
        ------
        StorageError : the file cannot be changed now. No data is lost.
        """
        with self._lock:
            ((free,),) = self.run("PRAGMA freelist_count")
            if free < _FREE_PAGES or self.run("PRAGMA auto_vacuum") == [(0,)]:
                return False
            # As a script, because `execute` runs only one step of this pragma, which frees a single page.
            self._script(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})")
            return bool(free > _PAGES_AT_ONCE)

    def renew(self) -> None:
        """Rewrite a database that was created with version 1, so that it can shrink; does nothing for later ones.

        Raises
        ------
        StorageError : the file cannot be rewritten now, for example because the disk is full. No data is lost.
        """
        with self._lock:
            if self.run("PRAGMA auto_vacuum") == [(0,)]:
                self._script("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")

    def announce(self) -> None:
        """Call `on_news`. Call it after the transaction."""
        if self.on_news is not None:
            self.on_news()

    def _job(self, row: tuple[Any, ...]) -> Job:
        values = dict(zip(_JOB.split(", "), row, strict=True))
        for name in _JSON:
            values[name] = None if values[name] is None else json.loads(values[name])
        files = self.run(
            "SELECT name, content_type, size_bytes FROM results WHERE job = ? ORDER BY number",
            (values["id"],),
        )
        return Job(**values, files=tuple(JobFile(*file) for file in files))

    def _script(self, script: str) -> None:
        """Run an SQL script outside of transactions, and write its changes to the database file."""
        try:
            self._db.executescript(script)
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        self.run("PRAGMA wal_checkpoint(PASSIVE)")

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def _upgrade(self) -> int:
        """Upgrade the database from an earlier version, unless another process did; return its version."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            while statements := _UPGRADES.get(self._version()):
                for statement in statements:
                    self._db.execute(statement)
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.rollback()
            raise
        return self._version()

    def _unusable(self, error: Exception) -> StorageError:
        return StorageError(
            f"The job database {self.path} cannot be used: {error}.", stage="store", retry=True
        )


def packed(data: Mapping[str, Any]) -> str:
    """Return data as canonical JSON: equal data give equal text. Lone surrogates stay escaped."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def now() -> str:
    """Return the current time, UTC in ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
