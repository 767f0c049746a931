"""The job store as clients and the operator use it: accept, list, cancel and delete jobs, and read their results.

An accepted job is on the disk before its client gets the id. It is kept until the client deletes it or, once it has
ended, until it expires. For a client the jobs of other clients do not exist.
"""

import json
import logging
import os
import shutil
from collections.abc import Sequence
from typing import BinaryIO
from uuid import uuid4

from domsieve.errors import (
    ClientLimitError,
    KeyConflictError,
    QueueFullError,
    StorageError,
    UnknownJobError,
)
from domsieve.service._logs import log
from domsieve.service.jobs._result_files import RESULTS, ResultFiles, attempt_of
from domsieve.service.jobs.captures import Captures
from domsieve.service.jobs.database import Database, now, packed
from domsieve.service.jobs.job_request import JobRequest
from domsieve.service.jobs.job_values import STATES, Event, Job, JobFile, JobState, QueueLimits, UsedPage
from domsieve.service.jobs.stores import Stores
from domsieve.service.jobs.sync_request import SyncRequest

_PAGE = "number, page_id, url, site, captured_at, nodes, complete, job"


class JobStore:
    """The operations of clients and the operator on jobs.

    All methods raise `StorageError` if the database or a result file cannot be used.

    Parameters
    ----------
    database : the database of the jobs, in whose folder are the results and captures.

    Attributes
    ----------
    captures : the captures that jobs hold in the cache.
    stores : where sites are kept between runs.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.captures = Captures(database)
        self.stores = Stores(database)
        self._results = ResultFiles(database.folder / RESULTS)

    def add(
        self, request: JobRequest, *, client: str, key: str | None = None, limits: QueueLimits
    ) -> tuple[Job, bool]:
        """Add a job for a request; return the job and whether it is new.

        Parameters
        ----------
        request : the request.
        client : the name of the client.
        key : the client's idempotency key: repeating a request with the same key returns the same job.
        limits : the limits for new jobs.

        Raises
        ------
        KeyConflictError : the client used the key for a different request.
        ClientLimitError : the client has too many waiting and running jobs.
        QueueFullError : the queue or the disk is full, or the machine is overloaded.
        UnknownStoreError, StoreConflictError : see `Stores.complete` and `Stores.reserve`.
        """
        with self.database.transaction(durable=True):
            if isinstance(request, SyncRequest):
                request = self.stores.complete(request, client)
            values = packed(request.model_dump(mode="json"))
            known = self.database.run(
                "SELECT id, kind, request FROM jobs WHERE client = ? AND key IS NOT NULL AND key = ?",
                (client, key),
            )
            if known:
                number, *earlier = known[0]
                if earlier != [request.kind, values]:
                    raise KeyConflictError("This idempotency key was used for another request.")
                return self._one(number, client), False
            # Naming the states makes SQLite use their index; a client may have many jobs that have ended.
            of_client = "SELECT COUNT(*) FROM jobs WHERE state IN ('queued', 'running') AND client = ?"
            if self.database.run(of_client, (client,))[0][0] >= limits.per_client:
                raise ClientLimitError(
                    f"This client has {limits.per_client} jobs waiting or running; wait for one to end.",
                    reason="client",
                    retry=True,
                )
            if limits.overload:
                raise QueueFullError(limits.overload.told, reason=limits.overload.reason, retry=True)
            if shutil.disk_usage(self.database.folder).free < limits.free_bytes:
                raise QueueFullError(
                    "The disk of the service is nearly full; no jobs are accepted now.",
                    reason="disk",
                    retry=True,
                )
            if self.database.run("SELECT COUNT(*) FROM jobs WHERE state = 'queued'")[0][0] >= limits.queued:
                raise QueueFullError(
                    f"{limits.queued} jobs are waiting; no more are accepted now.", reason="queue", retry=True
                )
            if isinstance(request, SyncRequest):
                self.stores.reserve(request, client, most=limits.stores)
            number = uuid4().hex
            self.database.run(
                "INSERT INTO jobs (id, kind, client, key, request, state, created_at, row_bytes) "
                "VALUES (?, ?, ?, ?, ?, 'queued', ?, ?)",
                (number, request.kind, client, key, values, now(), len(values)),
            )
            self.database.add_event(number, "state", {"state": "queued"})
            job = self._one(number, client)
        self.database.announce()
        return job, True

    def get(self, job_id: str, client: str) -> Job:
        """Return a job by its id.

        Raises
        ------
        UnknownJobError : the client has no job with this id.
        """
        return self._one(job_id, client)

    def list(
        self, client: str, *, state: JobState | None = None, before: str | None = None, limit: int = 50
    ) -> Sequence[Job]:
        """Return jobs of a client, newest first.

        Parameters
        ----------
        client : the name of the client.
        state : return only jobs in this state.
        before : return only jobs older than the one with this id.
        limit : the maximum number of jobs.

        Raises
        ------
        UnknownJobError : the client has no job with the id `before`.
        """
        conditions, values = ["client = ?"], [client]
        if state is not None:
            conditions.append("state = ?")
            values.append(state)
        if before is not None:
            self._one(before, client)
            conditions.append("number < (SELECT number FROM jobs WHERE id = ?)")
            values.append(before)
        return self.database.jobs(
            f"{' AND '.join(conditions)} ORDER BY number DESC LIMIT ?", [*values, limit]
        )

    def events(self, job_id: str, client: str, *, after: int = 0) -> Sequence[Event]:
        """Return the events of a job with numbers above `after`, in order.

        Raises
        ------
        UnknownJobError : the client has no job with this id.
        """
        self._one(job_id, client)
        return self._events(job_id, after)

    def file(self, job_id: str, client: str, name: str) -> JobFile:
        """Return the content type and size of a result file.

        Raises
        ------
        UnknownJobError : the client has no job with this id, or the job has no file of this name.
        """
        return self._result(job_id, client, name)[0]

    def open(self, job_id: str, client: str, name: str) -> tuple[JobFile, BinaryIO]:
        """Open a result file for reading. It stays readable if it is deleted meanwhile.

        Raises
        ------
        UnknownJobError : the client has no job with this id, or the job has no file of this name.
        StorageError : the file is missing or has another size than it should.
        """
        for _ in range(2):  # if the job is being deleted, the second try finds no row
            facts, number, place = self._result(job_id, client, name)
            try:
                opened = self._results.open(job_id, place or self._move(number))
            except FileNotFoundError:
                continue
            if os.fstat(opened.fileno()).st_size == facts.size_bytes:
                return facts, opened
            opened.close()
        raise StorageError(f"The result {name} of the job {job_id} is missing or damaged.")

    def read(self, job_id: str, client: str, name: str) -> bytes:
        """Read a small result file into memory; raises the errors of `open`."""
        _, opened = self.open(job_id, client, name)
        with opened:
            return opened.read()

    def cancel(self, job_id: str, client: str) -> Job:
        """Cancel a job unless it has ended, and return it. A worker that runs it stops.

        Raises
        ------
        UnknownJobError : the client has no job with this id.
        """
        with self.database.transaction(durable=True):
            job = self._one(job_id, client)
            if job.has_ended:
                return job
            self.database.run(
                "UPDATE jobs SET state = 'cancelled', worker = NULL, ended_at = ? WHERE id = ?",
                (now(), job_id),
            )
            self.database.add_event(job_id, "state", {"state": "cancelled"})
            job = self._one(job_id, client)
        self.database.announce()
        return job

    def delete(self, job_id: str, client: str) -> None:
        """Delete a job, its results, and its captures unless other jobs hold them. A worker that runs it stops.

        Raises
        ------
        UnknownJobError : the client has no job with this id.
        """
        with self.database.transaction(durable=True):
            self._one(job_id, client)
            self._forget([job_id])
        self._clear([job_id])
        self.database.announce()

    def pages(self, client: str, *, before: int | None = None, limit: int = 50) -> Sequence[UsedPage]:
        """Return the captures that jobs of a client made or used, latest used first.

        Parameters
        ----------
        client : the name of the client.
        before : return only captures with a lower number.
        limit : the maximum number of captures.
        """
        rows = self.database.run(
            f"SELECT {_PAGE} FROM pages WHERE client = ? AND (? IS NULL OR number < ?) AND NOT EXISTS "
            "(SELECT 1 FROM pages AS later WHERE later.client = pages.client AND later.page_id = pages.page_id "
            "AND later.number > pages.number) ORDER BY number DESC LIMIT ?",
            (client, before, before, limit),
        )
        names = ("number", "page_id", "url", "site", "captured_at", "nodes", "complete", "job")
        used = [dict(zip(names, row, strict=True)) for row in rows]
        return [UsedPage(**{**values, "complete": bool(values["complete"])}) for values in used]

    def counts(self) -> dict[JobState, int]:
        """Return the number of jobs in each state."""
        rows = self.database.run("SELECT state, COUNT(*) FROM jobs GROUP BY state")
        return dict.fromkeys(STATES, 0) | dict(rows)

    def outcomes(self) -> dict[tuple[str, str, str], int]:
        """Return the number of jobs by kind, state and fault; the fault is empty unless they failed."""
        rows = self.database.run(
            "SELECT kind, state, COALESCE(json_extract(problem, '$.fault'), ''), COUNT(*) FROM jobs GROUP BY 1, 2, 3"
        )
        return {(kind, state, fault): count for kind, state, fault, count in rows}

    def oldest_queued(self) -> str | None:
        """Return when the oldest waiting job was accepted, UTC in ISO 8601; None if no job waits."""
        oldest: str | None
        ((oldest,),) = self.database.run("SELECT MIN(created_at) FROM jobs WHERE state = 'queued'")
        return oldest

    def expire(self, before: str) -> int:
        """Delete jobs that ended before a time, UTC in ISO 8601, with their results and captures; return how many."""
        with self.database.transaction():
            old = [row[0] for row in self.database.run("SELECT id FROM jobs WHERE ended_at < ?", (before,))]
            self._forget(old)
        self._clear(old)
        return len(old)

    def trim(self, *, jobs: int, size_bytes: int) -> int:
        """Delete each client's oldest ended jobs above a number or a total size; return how many.

        The newest ended job of a client is always kept.

        Parameters
        ----------
        jobs : the number of ended jobs that a client keeps.
        size_bytes : the maximum size of all jobs of a client: their rows, results and captures. A capture counts
            once, with the newest job of the client that holds it.
        """
        old = self.database.run(
            "WITH newest AS (SELECT jobs.id AS job, captures.size_bytes AS size, ROW_NUMBER() OVER "
            "(PARTITION BY jobs.client, page_id ORDER BY jobs.number DESC) AS place "
            "FROM captures JOIN jobs ON jobs.id = captures.job), "
            "sizes AS (SELECT job, SUM(size) AS size FROM (SELECT job, size_bytes AS size FROM results "
            "UNION ALL SELECT job, COALESCE(size, 0) FROM newest WHERE place = 1) GROUP BY job), "
            # Jobs that have not ended count first, because they are never deleted here.
            "held AS (SELECT id, ended_at, SUM(ended_at IS NOT NULL) OVER of_client AS place, "
            "SUM(row_bytes + COALESCE(size, 0)) OVER of_client AS held FROM jobs LEFT JOIN sizes ON job = id "
            "WINDOW of_client AS (PARTITION BY client ORDER BY ended_at IS NOT NULL, number DESC)) "
            "SELECT id FROM held WHERE ended_at IS NOT NULL AND place > 1 AND (place > ? OR held > ?)",
            (jobs, size_bytes),
        )
        ids = [row[0] for row in old]
        with self.database.transaction():
            self._forget(ids)
        self._clear(ids)
        return len(ids)

    def move_results(self, *, spare_bytes: int) -> int:
        """Move results that version 1 stored in the database to files; return how many.

        Stops when the disk is nearly full. A result that stays in the database is moved when it is opened.

        Parameters
        ----------
        spare_bytes : the free disk space to leave.

        Raises
        ------
        StorageError : a result cannot be moved. It stays in the database.
        """
        left = self.database.run("SELECT number, size_bytes FROM results WHERE place IS NULL ORDER BY number")
        for moved, (number, size) in enumerate(left):
            if shutil.disk_usage(self.database.folder).free - size < spare_bytes:
                return moved
            self._move(number)
        self.database.renew()
        return len(left)

    def sweep(self, *, alone: bool = False) -> int:
        """Remove result files that a crash left without a row; return how many.

        Parameters
        ----------
        alone : no worker can be writing results now, so remove recent partly written files as well.
        """
        self._results.remove_parts(alone=alone)
        removed = 0
        # List files before reading rows, so that a file that gets its row meanwhile is not taken for a leftover.
        for job, places in self._results.listed():
            known = self.database.run("SELECT state, token FROM jobs WHERE id = ?", (job,))
            state, token = known[0] if known else (None, 0)
            rows = self.database.run("SELECT number, place FROM results WHERE job = ?", (job,))
            named = {place or _moved(number) for number, place in rows}
            is_live = state == "running"
            left = [
                place
                for place in places
                if place not in named and not (is_live and attempt_of(place) >= token)
            ]
            removed += len(left)
            if left or not (named or is_live):
                self._results.discard(job, left)
        return removed

    def _forget(self, job_ids: Sequence[str]) -> None:
        """Delete all rows of jobs. Call it inside a transaction, and `_clear` after it."""
        for number in job_ids:
            self.captures.release(number)
            for table in ("results", "files", "events", "pages"):
                self.database.run(f"DELETE FROM {table} WHERE job = ?", (number,))
            self.database.run("DELETE FROM jobs WHERE id = ?", (number,))

    def _clear(self, job_ids: Sequence[str]) -> None:
        """Free the disk space of deleted jobs. Errors are only logged, because the next upkeep tries again."""
        for number in job_ids:
            self._results.remove(number)
        try:
            self.captures.remove_unused()
            self.database.shrink()
        except StorageError as error:
            log("store_failed", level=logging.ERROR, detail=error.message)

    def _result(self, job_id: str, client: str, name: str) -> tuple[JobFile, int, str | None]:
        """Return the facts of a result file, its number and its place."""
        rows = self.database.run(
            "SELECT name, content_type, size_bytes, number, place FROM results WHERE name = ? AND job = "
            "(SELECT id FROM jobs WHERE id = ? AND client = ?)",
            (name, job_id, client),
        )
        if not rows:
            raise UnknownJobError("There is no such job or file.")
        *facts, number, place = rows[0]
        return JobFile(*facts), number, place

    def _move(self, number: int) -> str:
        """Move a result of version 1 from the database to a file, unless that was done; return its place."""
        place = _moved(number)
        rows = self.database.run(
            "SELECT job, name, data FROM results JOIN files USING (job, name) WHERE number = ?", (number,)
        )
        for job, name, data in rows:
            self._results.put(job, place, bytes(data))
            with self.database.transaction(durable=True):
                self.database.run("UPDATE results SET place = ? WHERE number = ?", (place, number))
                self.database.run("DELETE FROM files WHERE job = ? AND name = ?", (job, name))
                is_kept = self.database.run("SELECT 1 FROM results WHERE number = ?", (number,))
            if not is_kept:  # deleted meanwhile
                self._results.discard(job, [place])
        return place

    def _one(self, job_id: str, client: str) -> Job:
        jobs = self.database.jobs("id = ? AND client = ?", (job_id, client))
        if not jobs:
            raise UnknownJobError("There is no such job.")
        return jobs[0]

    def _events(self, job_id: str, after: int) -> Sequence[Event]:
        rows = self.database.run(
            "SELECT number, at, kind, data FROM events WHERE job = ? AND number > ? ORDER BY number",
            (job_id, after),
        )
        return [Event(number, at, kind, json.loads(data)) for number, at, kind, data in rows]


def _moved(number: int) -> str:
    """Return the place of a result that was moved from the database. No claim has the token 0."""
    return f"0-{number}"
