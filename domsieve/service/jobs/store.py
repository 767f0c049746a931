"""The store of jobs: what clients asked for, how far it is, and what came out.

An accepted job is on the disk before its id is told, and stays until it has ended and its client deletes it or it
has become old. Whoever asks for a job of another client is told that there is none.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from uuid import uuid4

from domsieve.errors import ClientLimitError, KeyConflictError, QueueFullError, UnknownJobError
from domsieve.service.jobs.claims import Claims
from domsieve.service.jobs.database import now, packed
from domsieve.service.jobs.requests import PageRequest
from domsieve.service.jobs.values import STATES, Event, Job, JobFile, JobState, QueueLimits, UsedPage

_PAGE = "number, page_id, url, site, captured_at, nodes, complete, job"


class JobStore(Claims):
    """Jobs in one SQLite file; several processes and threads may use it at once. A context manager.

    Parameters
    ----------
    path : the file, made when it does not exist.

    Raises
    ------
    StorageError : of all methods, when the file cannot be used.
    """

    on_news: Callable[[], None] | None = None
    """Called in the thread of the caller after a job was accepted, cancelled or deleted by this very object."""

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
        with self.transaction(durable=True):
            known = self.run(
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
            if self.run(of_client, (client,))[0][0] >= limits.per_client:
                raise ClientLimitError(
                    f"{limits.per_client} jobs of this client wait or run; let one end first.", retry=True
                )
            if shutil.disk_usage(self.path.parent).free < limits.free_bytes:
                raise QueueFullError(
                    "The disk of the service is nearly full; no jobs are accepted now.", retry=True
                )
            if self.run("SELECT COUNT(*) FROM jobs WHERE state = 'queued'")[0][0] >= limits.queued:
                raise QueueFullError(f"{limits.queued} jobs wait; no more are accepted now.", retry=True)
            number = uuid4().hex
            self.run(
                "INSERT INTO jobs (id, kind, client, key, request, state, created_at) "
                "VALUES (?, ?, ?, ?, ?, 'queued', ?)",
                (number, request.kind, client, key, values, now()),
            )
            self.tell(number, "state", {"state": "queued"})
            job = self._one(number, client)
        self._news()
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
        state : only those that stand there.
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
        return self.jobs(f"{' AND '.join(conditions)} ORDER BY number DESC LIMIT ?", [*values, limit])

    def events(self, job_id: str, client: str, *, after: int = 0) -> Sequence[Event]:
        """Return what happened to a job, behind the event of a number; order is that of the numbers.

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
        rows = self.run(
            "SELECT name, content_type, size_bytes, data FROM files WHERE name = ? AND job = "
            "(SELECT id FROM jobs WHERE id = ? AND client = ?)",
            (name, job_id, client),
        )
        if not rows:
            raise UnknownJobError("There is no such job or file.")
        *facts, data = rows[0]
        return JobFile(*facts), bytes(data)

    def cancel(self, job_id: str, client: str) -> Job:
        """End a job that has not ended; return it as it then is. Its worker notices.

        Raises
        ------
        UnknownJobError : this client has no such job.
        """
        with self.transaction(durable=True):
            job = self._one(job_id, client)
            if job.has_ended:
                return job
            self.run(
                "UPDATE jobs SET state = 'cancelled', worker = NULL, ended_at = ? WHERE id = ?",
                (now(), job_id),
            )
            self.tell(job_id, "state", {"state": "cancelled"})
            job = self._one(job_id, client)
        self._news()
        return job

    def delete(self, job_id: str, client: str) -> None:
        """Forget a job and its results, wherever it stands.

        Raises
        ------
        UnknownJobError : this client has no such job.
        """
        with self.transaction(durable=True):
            self._one(job_id, client)
            self._forget([job_id])
        self._news()

    def pages(self, client: str, *, before: int | None = None, limit: int = 50) -> Sequence[UsedPage]:
        """Return the captures that jobs of a client made or used, the latest used first.

        Parameters
        ----------
        before : only those with a lower number.
        limit : how many at most.
        """
        rows = self.run(
            f"SELECT {_PAGE} FROM pages WHERE client = ? AND (? IS NULL OR number < ?) AND NOT EXISTS "
            "(SELECT 1 FROM pages AS later WHERE later.client = pages.client AND later.page_id = pages.page_id "
            "AND later.number > pages.number) ORDER BY number DESC LIMIT ?",
            (client, before, before, limit),
        )
        names = ("number", "page_id", "url", "site", "captured_at", "nodes", "complete", "job")
        used = [dict(zip(names, row, strict=True)) for row in rows]
        return [UsedPage(**{**values, "complete": bool(values["complete"])}) for values in used]

    def page_ids(self, client: str, site: str | None = None) -> frozenset[str]:
        """Return the ids of the captures, of a site or of all, that jobs of a client made or used."""
        condition, values = (
            ("client = ?", [client]) if site is None else ("client = ? AND site = ?", [client, site])
        )
        rows = self.run(f"SELECT DISTINCT page_id FROM pages WHERE {condition}", values)
        return frozenset(row[0] for row in rows)

    def has_used(self, client: str, page_id: str) -> bool:
        """Return whether a job of a client made or used a capture."""
        return bool(
            self.run("SELECT 1 FROM pages WHERE client = ? AND page_id = ? LIMIT 1", (client, page_id))
        )

    def used_pages(self) -> frozenset[str]:
        """Return the ids of all captures that jobs made or used."""
        return frozenset(row[0] for row in self.run("SELECT DISTINCT page_id FROM pages"))

    def counts(self) -> dict[JobState, int]:
        """Return how many jobs stand where."""
        rows = self.run("SELECT state, COUNT(*) FROM jobs GROUP BY state")
        return dict.fromkeys(STATES, 0) | dict(rows)

    def outcomes(self) -> dict[tuple[str, str, str], int]:
        """Return how many jobs there are by kind, state and whose fault it was, empty where nothing failed."""
        rows = self.run(
            "SELECT kind, state, COALESCE(json_extract(problem, '$.fault'), ''), COUNT(*) FROM jobs GROUP BY 1, 2, 3"
        )
        return {(kind, state, fault): count for kind, state, fault, count in rows}

    def oldest_queued(self) -> str | None:
        """Return when the job was accepted that has waited longest; None when none waits."""
        found: str | None = self.run("SELECT MIN(created_at) FROM jobs WHERE state = 'queued'")[0][0]
        return found

    def expire(self, before: str) -> int:
        """Forget the jobs that ended before a time, UTC in ISO 8601, and their results; return how many."""
        with self.transaction():
            old = [row[0] for row in self.run("SELECT id FROM jobs WHERE ended_at < ?", (before,))]
            self._forget(old)
        return len(old)

    def trim(self, *, jobs: int, size_bytes: int) -> int:
        """Forget each client's oldest ended jobs, never the newest, beyond a number or a size; return how many.

        Parameters
        ----------
        jobs : that have ended and are kept.
        size_bytes : of their results together.
        """
        old = self.run(
            "SELECT id FROM (SELECT id, ended_at, "
            "ROW_NUMBER() OVER (PARTITION BY client ORDER BY number DESC) AS place, "
            "SUM(COALESCE(size, 0)) OVER (PARTITION BY client ORDER BY number DESC) AS held FROM jobs "
            "LEFT JOIN (SELECT job, SUM(size_bytes) AS size FROM files GROUP BY job) ON job = id "
            "WHERE ended_at IS NOT NULL) WHERE place > 1 AND (place > ? OR held > ?)",
            (jobs, size_bytes),
        )
        with self.transaction():
            self._forget([row[0] for row in old])
        return len(old)

    def _news(self) -> None:
        if self.on_news is not None:
            self.on_news()

    def _forget(self, job_ids: Sequence[str]) -> None:
        """Delete all rows of jobs."""
        for number in job_ids:
            for table in ("files", "events", "pages"):
                self.run(f"DELETE FROM {table} WHERE job = ?", (number,))
            self.run("DELETE FROM jobs WHERE id = ?", (number,))

    def _one(self, job_id: str, client: str) -> Job:
        found = self.jobs("id = ? AND client = ?", (job_id, client))
        if not found:
            raise UnknownJobError("There is no such job.")
        return found[0]

    def _events(self, job_id: str, after: int) -> Sequence[Event]:
        rows = self.run(
            "SELECT number, at, kind, data FROM events WHERE job = ? AND number > ? ORDER BY number",
            (job_id, after),
        )
        return [Event(number, at, kind, json.loads(data)) for number, at, kind, data in rows]
