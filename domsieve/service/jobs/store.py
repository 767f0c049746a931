"""The side of clients and the operator: accept jobs, show them and their results, delete them, forget old ones.

An accepted job is on the disk before its client learns its id. It stays until the client deletes it, or until it has
ended and grown old. A client that asks for another client's job learns only that there is no such job.
"""

import json
import shutil
from collections.abc import Sequence
from uuid import uuid4

from domsieve.errors import ClientLimitError, KeyConflictError, QueueFullError, UnknownJobError
from domsieve.service.jobs.database import Database, now, packed
from domsieve.service.jobs.requests import PageRequest
from domsieve.service.jobs.values import STATES, Event, Job, JobFile, JobState, QueueLimits, UsedPage

_PAGE = "number, page_id, url, site, captured_at, nodes, complete, job"


class JobStore:
    """What clients and the operator do with jobs.

    Parameters
    ----------
    database : where the jobs are.

    Raises
    ------
    StorageError : of all methods, when the database cannot be used.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def add(
        self, request: PageRequest, *, client: str, key: str | None = None, limits: QueueLimits
    ) -> tuple[Job, bool]:
        """Accept a request; return its job and whether it is a new one.

        Parameters
        ----------
        request : what is to be done.
        client : who asks.
        key : the client's idempotency key: the same key with the same request gives the same job.
        limits : how much is accepted.

        Raises
        ------
        KeyConflictError : the client used the key for another request.
        QueueFullError, ClientLimitError : no more jobs are accepted now.
        """
        values = packed(request.model_dump(mode="json"))
        with self.database.transaction(durable=True):
            known = self.database.run(
                "SELECT id, kind, request FROM jobs WHERE client = ? AND key IS NOT NULL AND key = ?",
                (client, key),
            )
            if known:
                number, *asked = known[0]
                if asked != [request.kind, values]:
                    raise KeyConflictError("This idempotency key was used for another request.")
                return self._one(number, client), False
            # Counted by the index of states, since a client may have many jobs that have ended.
            of_client = "SELECT COUNT(*) FROM jobs WHERE state IN ('queued', 'running') AND client = ?"
            if self.database.run(of_client, (client,))[0][0] >= limits.per_client:
                raise ClientLimitError(
                    f"This client has {limits.per_client} jobs waiting or running; wait for one to end.",
                    retry=True,
                )
            if shutil.disk_usage(self.database.path.parent).free < limits.free_bytes:
                raise QueueFullError(
                    "The disk of the service is nearly full; no jobs are accepted now.", retry=True
                )
            if self.database.run("SELECT COUNT(*) FROM jobs WHERE state = 'queued'")[0][0] >= limits.queued:
                raise QueueFullError(
                    f"{limits.queued} jobs are waiting; no more are accepted now.", retry=True
                )
            number = uuid4().hex
            self.database.run(
                "INSERT INTO jobs (id, kind, client, key, request, state, created_at) "
                "VALUES (?, ?, ?, ?, ?, 'queued', ?)",
                (number, request.kind, client, key, values, now()),
            )
            self.database.add_event(number, "state", {"state": "queued"})
            job = self._one(number, client)
        self.database.announce()
        return job, True

    def get(self, job_id: str, client: str) -> Job:
        """Return a job.

        Raises
        ------
        UnknownJobError : this client has no such job.
        """
        return self._one(job_id, client)

    def list(
        self, client: str, *, state: JobState | None = None, before: str | None = None, limit: int = 50
    ) -> Sequence[Job]:
        """Return jobs of a client, the newest first.

        Parameters
        ----------
        state : only jobs in this state.
        before : id of a job; only older ones.
        limit : how many at most.

        Raises
        ------
        UnknownJobError : `before` is no job of this client.
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
        """Return the events of a job after the one with this number, in order.

        Raises
        ------
        UnknownJobError : this client has no such job.
        """
        self._one(job_id, client)
        return self._events(job_id, after)

    def file(self, job_id: str, client: str, name: str) -> tuple[JobFile, bytes]:
        """Return a result of a job.

        Raises
        ------
        UnknownJobError : this client has no such job, or the job has no such file.
        """
        rows = self.database.run(
            "SELECT name, content_type, size_bytes, data FROM files WHERE name = ? AND job = "
            "(SELECT id FROM jobs WHERE id = ? AND client = ?)",
            (name, job_id, client),
        )
        if not rows:
            raise UnknownJobError("There is no such job or file.")
        *facts, data = rows[0]
        return JobFile(*facts), bytes(data)

    def cancel(self, job_id: str, client: str) -> Job:
        """Cancel a job unless it has ended, and return it. Its worker notices.

        Raises
        ------
        UnknownJobError : this client has no such job.
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
        """Delete a job and its results, whatever its state.

        Raises
        ------
        UnknownJobError : this client has no such job.
        """
        with self.database.transaction(durable=True):
            self._one(job_id, client)
            self._forget([job_id])
        self.database.announce()

    def pages(self, client: str, *, before: int | None = None, limit: int = 50) -> Sequence[UsedPage]:
        """Return the captures that jobs of a client made or used, the latest used first.

        Parameters
        ----------
        before : only those with a lower number.
        limit : how many at most.
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

    def used_pages(self) -> frozenset[str]:
        """Return the ids of all captures that jobs made or used."""
        return frozenset(row[0] for row in self.database.run("SELECT DISTINCT page_id FROM pages"))

    def counts(self) -> dict[JobState, int]:
        """Return how many jobs are in each state."""
        rows = self.database.run("SELECT state, COUNT(*) FROM jobs GROUP BY state")
        return dict.fromkeys(STATES, 0) | dict(rows)

    def outcomes(self) -> dict[tuple[str, str, str], int]:
        """Return how many jobs there are by kind, state and fault; the fault is empty where nothing failed."""
        rows = self.database.run(
            "SELECT kind, state, COALESCE(json_extract(problem, '$.fault'), ''), COUNT(*) FROM jobs GROUP BY 1, 2, 3"
        )
        return {(kind, state, fault): count for kind, state, fault, count in rows}

    def oldest_queued(self) -> str | None:
        """Return when the job that has waited longest was accepted; None when none waits."""
        found: str | None = self.database.run("SELECT MIN(created_at) FROM jobs WHERE state = 'queued'")[0][0]
        return found

    def expire(self, before: str) -> int:
        """Delete jobs that ended before a time, UTC in ISO 8601, and their results; return how many."""
        with self.database.transaction():
            old = [row[0] for row in self.database.run("SELECT id FROM jobs WHERE ended_at < ?", (before,))]
            self._forget(old)
        return len(old)

    def trim(self, *, jobs: int, size_bytes: int) -> int:
        """Delete each client's oldest ended jobs beyond a number or a size, never the newest; return how many.

        Parameters
        ----------
        jobs : how many ended jobs a client keeps.
        size_bytes : how much their results may hold together.
        """
        old = self.database.run(
            "SELECT id FROM (SELECT id, ended_at, "
            "ROW_NUMBER() OVER (PARTITION BY client ORDER BY number DESC) AS place, "
            "SUM(COALESCE(size, 0)) OVER (PARTITION BY client ORDER BY number DESC) AS held FROM jobs "
            "LEFT JOIN (SELECT job, SUM(size_bytes) AS size FROM files GROUP BY job) ON job = id "
            "WHERE ended_at IS NOT NULL) WHERE place > 1 AND (place > ? OR held > ?)",
            (jobs, size_bytes),
        )
        with self.database.transaction():
            self._forget([row[0] for row in old])
        return len(old)

    def _forget(self, job_ids: Sequence[str]) -> None:
        """Delete all rows of jobs."""
        for number in job_ids:
            for table in ("files", "events", "pages"):
                self.database.run(f"DELETE FROM {table} WHERE job = ?", (number,))
            self.database.run("DELETE FROM jobs WHERE id = ?", (number,))

    def _one(self, job_id: str, client: str) -> Job:
        found = self.database.jobs("id = ? AND client = ?", (job_id, client))
        if not found:
            raise UnknownJobError("There is no such job.")
        return found[0]

    def _events(self, job_id: str, after: int) -> Sequence[Event]:
        rows = self.database.run(
            "SELECT number, at, kind, data FROM events WHERE job = ? AND number > ? ORDER BY number",
            (job_id, after),
        )
        return [Event(number, at, kind, json.loads(data)) for number, at, kind, data in rows]
