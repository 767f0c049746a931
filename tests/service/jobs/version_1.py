"""Databases of jobs as version 1 of the program wrote them."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from uuid import uuid4

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


def make_version_1(path: Path, *, results: Sequence[bytes]) -> list[str]:
    """Write a database with a job of `ann` for each result, a file `page.md`; return the ids of the jobs."""
    ids = [uuid4().hex for _ in results]
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.executescript(
            f"PRAGMA journal_mode = WAL; BEGIN; {_SCHEMA} PRAGMA user_version = 1; COMMIT;"
        )
        for job, data in zip(ids, results, strict=True):
            database.execute(
                "INSERT INTO jobs (id, kind, client, request, state, created_at, ended_at, token) "
                "VALUES (?, 'clean', 'ann', '{}', 'done', '2026-01-01', '2026-01-01', 1)",
                (job,),
            )
            database.execute(
                "INSERT INTO files VALUES (?, 'page.md', 'text/markdown', ?, ?)", (job, len(data), data)
            )
            database.execute(
                "INSERT INTO events (job, at, kind, data) VALUES (?, '2026-01-01', 'state', '{}')", (job,)
            )
    return ids
