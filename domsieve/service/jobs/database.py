"""The database of jobs: one SQLite file that the service and its workers read and write at once.

It knows rows and transactions. What they mean is known to `JobStore`, the side of clients and the operator, and to
`WorkQueue`, the side of workers; both hold a `Database`, and may share one.
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

_VERSION = 2
_BUSY_SECONDS = 30.0
# What is beyond it of the log that SQLite writes ahead is given back.
_LOG_BYTES = 4_000_000
# At least as many free pages are worth the work of giving them back, and as many are given back at once.
_FREE_PAGES, _PAGES_AT_ONCE = 64, 2_048
# Besides its data, what an event or a capture takes: keys, times and indexes.
_ROW_BYTES = 200
# `lease_until` and `boot`: see `WorkQueue`.
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
# Results lie in files now: `place` names the file in the folder of the job. Those of version 1, where it is null, are
# in `files` until they are moved; nothing is added there. `captures` are what jobs hold in the cache, twins without
# scripts too, while `pages` are what clients are shown of it; `unused` are captures that no job holds any more and
# that are to be removed. `row_bytes` is what a job takes in here.
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
_JOB = (
    "id, kind, client, request, state, created_at, started_at, ended_at, attempts, done_pages, total_pages, "
    "problem, summary"
)
_JSON = ("request", "problem", "summary")


class Database:
    """Rows of jobs and what belongs to them; a context manager. Threads may share one, processes one file.

    Parameters
    ----------
    path : the file, made when it does not exist.

    Attributes
    ----------
    on_news : called after a job was accepted, cancelled or deleted through this object, in the thread that did it.

    Raises
    ------
    StorageError : of all methods, when the database cannot be used: damaged, not writable, disk full.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.on_news: Callable[[], None] | None = None
        self._lock = threading.RLock()
        with ExitStack() as opened:
            try:
                if not path.exists():
                    schema = "; ".join([_SCHEMA, *_VERSION_2[:-1], ""])
                    create_database(path, schema, version=_VERSION, shrinks="incremental")
                self._db = sqlite3.connect(
                    path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
                )
                opened.callback(self._db.close)  # unless it can be used
                self._db.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
                version = self._version()
                if version == 1:
                    version = self._upgrade()
            except (sqlite3.Error, OSError) as error:
                raise self._unusable(error) from error
            if version != _VERSION:
                raise StorageError(
                    f"The jobs in {path} have version {version}, this program knows {_VERSION}."
                )
            opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._db.close()

    @property
    def folder(self) -> Path:
        """The folder of the service: results and captures lie beside the database."""
        return self.path.parent

    def version(self) -> tuple[int, int]:
        """Return a value that changes whenever any process changes anything; costs microseconds."""
        with self._lock:
            return self.run("PRAGMA data_version")[0][0], self._db.total_changes

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[None]:
        """Make all changes of the block visible together, or none of them.

        Parameters
        ----------
        durable : whether they must survive a loss of power, not only the end of the process; costs a write to the
            disk.
        """
        with self._lock:
            self.run(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self.run("BEGIN IMMEDIATE")
            try:
                yield
                self.run("COMMIT")
            except BaseException:
                # SQLite itself has rolled back after some errors, such as that of a full disk.
                if self._db.in_transaction:
                    self._db.rollback()
                raise

    def run(
        self, statement: str, values: Sequence[object] | Mapping[str, object] = ()
    ) -> list[tuple[Any, ...]]:
        """Return the rows of a statement."""
        with self._lock:
            try:
                return self._db.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise self._unusable(error) from error

    def jobs(self, condition: str, values: Sequence[object]) -> list[Job]:
        """Return the jobs that satisfy an SQL condition of ours, with the names of their files."""
        with self._lock:
            rows = self.run(f"SELECT {_JOB} FROM jobs WHERE {condition}", values)
            return [self._job(row) for row in rows]

    def add_event(self, job: str, kind: str, data: Mapping[str, Any]) -> None:
        """Add an event of a job; in a transaction of the caller's."""
        text = packed(data)
        self.run("INSERT INTO events (job, at, kind, data) VALUES (?, ?, ?, ?)", (job, now(), kind, text))
        self.add_size(job, len(text))

    def add_size(self, job: str, size_bytes: int) -> None:
        """Count what a row more of a job holds; in a transaction of the caller's."""
        self.run("UPDATE jobs SET row_bytes = row_bytes + ? WHERE id = ?", (_ROW_BYTES + size_bytes, job))

    def shrink(self) -> bool:
        """Give a part of the room that is free back to the disk; return whether there is more.

        Raises
        ------
        StorageError : it cannot be done now; nothing is lost.
        """
        with self._lock:
            ((free,),) = self.run("PRAGMA freelist_count")
            if free < _FREE_PAGES or self.run("PRAGMA auto_vacuum") == [(0,)]:
                return False
            # As a script, since the module otherwise takes one step of it: a page.
            self._script(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})")
            return bool(free > _PAGES_AT_ONCE)

    def renew(self) -> None:
        """Write a database of version 1 anew, once, so that it can shrink; its results have been moved out.

        Raises
        ------
        StorageError : it cannot be done now, such as for lack of room; nothing is lost.
        """
        with self._lock:
            if self.run("PRAGMA auto_vacuum") == [(0,)]:
                self._script("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")

    def announce(self) -> None:
        """Tell who listens that there is something new for workers; after the transaction."""
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
        """Run a script outside of transactions, and let the file follow it."""
        try:
            self._db.executescript(script)
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        self.run("PRAGMA wal_checkpoint(PASSIVE)")

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def _upgrade(self) -> int:
        """Make version 2 of version 1, unless another process was quicker; return the version."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            if self._version() == 1:
                for statement in _VERSION_2:
                    self._db.execute(statement)
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.rollback()
            raise
        return self._version()

    def _unusable(self, error: Exception) -> StorageError:
        return StorageError(f"The jobs in {self.path} cannot be used: {error}.", stage="store", retry=True)


def packed(data: Mapping[str, Any]) -> str:
    """Return JSON that is equal for equal data; lone surrogates stay escaped."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def now() -> str:
    """Return the time for people, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
