"""The job queue as workers use it: claim a job, report progress, and end the job exactly once.

Each claim of a job has a higher fencing token than the one before. All updates require that the job is running under
the claim's token, so a worker that was presumed dead, or whose job was cancelled, cannot change anything.

Leases use the clock that counts from the boot of the machine, because nobody can set it. The boot id tells whether
the machine was restarted.
"""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from domsieve.service.jobs._result_files import RESULTS, ResultFiles
from domsieve.service.jobs.captures import Captures
from domsieve.service.jobs.database import Database, now, packed
from domsieve.service.jobs.job_values import ATTEMPTS, OF_SITES, Claim, NewFile, UsedPage
from domsieve.service.jobs.stores import Stores

_HELD = "id = :id AND state = 'running' AND token = :token"
_LOST = {
    "title": "The job was given up.",
    "detail": f"Its worker ended {ATTEMPTS} times while the job ran.",
    "fault": "service",
    "retry": False,
    "stage": "work",
}
NO_PROBLEMS: Mapping[str, Mapping[str, Any]] = MappingProxyType({})


class WorkQueue:
    """The operations of workers on jobs. All methods raise `StorageError` if the database cannot be used.

    Parameters
    ----------
    database : the database of the jobs.

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

    def claim(self, worker: str, *, lease_s: float, sites: bool = True) -> Claim | None:
        """Claim a waiting job, or one whose lease has expired; return None if there is none.

        The next job is the oldest one of the client with the fewest running jobs. A job on its last attempt runs
        alone, because it may kill its worker: a busy worker gets no job while such a job is next.

        Parameters
        ----------
        worker : the name of the worker, unique among all living workers.
        lease_s : seconds until the lease expires; see `Claim`.
        sites : allow a site job.
        """
        kinds = ", ".join(f"'{kind}'" for kind in sorted(OF_SITES))
        wanted = "state = 'queued'" if sites else f"state = 'queued' AND kind NOT IN ({kinds})"
        boot, at = _lease_end(0.0)
        if not self.database.run(
            f"SELECT 1 FROM jobs WHERE {wanted} OR (state = 'running' AND (boot <> ? OR lease_until < ?)) LIMIT 1",
            (boot, at),
        ):
            return None
        with self.database.transaction():
            self._take_back_expired()
            own = self.database.run(
                "SELECT COUNT(*), MAX(attempts) FROM jobs WHERE state = 'running' AND worker = ?", (worker,)
            )[0]
            rows = self.database.run(
                f"SELECT id, attempts, token FROM jobs WHERE {wanted} ORDER BY (SELECT COUNT(*) FROM jobs AS other "
                "WHERE other.state = 'running' AND other.client = jobs.client), number LIMIT 1"
            )
            if not rows or (own[0] and max(rows[0][1] + 1, own[1]) >= ATTEMPTS):
                return None
            number, attempts, token = rows[0]
            boot, until = _lease_end(lease_s)
            self.database.run(
                "UPDATE jobs SET state = 'running', worker = ?, token = ?, attempts = ?, started_at = ?, boot = ?, "
                "lease_until = ? WHERE id = ?",
                (worker, token + 1, attempts + 1, now(), boot, until, number),
            )
            self.database.add_event(number, "state", {"state": "running", "attempt": attempts + 1})
            (job,) = self.database.jobs("id = ?", (number,))
        return Claim(job, worker, token + 1, lease_s)

    def holds(self, claim: Claim) -> bool:
        """Return whether the claim is still valid: the job was neither cancelled nor taken back. Writes nothing."""
        return bool(self.database.run(f"SELECT 1 FROM jobs WHERE {_HELD}", _of(claim)))

    def renew(self, claim: Claim) -> bool:
        """Restart the lease; return whether the claim is still valid."""
        boot, until = _lease_end(claim.lease_s)
        with self.database.transaction():
            return self._change(claim, "boot = :boot, lease_until = :until", {"boot": boot, "until": until})

    def event(
        self,
        claim: Claim,
        kind: str,
        data: Mapping[str, Any],
        *,
        done: int | None = None,
        total: int | None = None,
        pages: Sequence[UsedPage] = (),
    ) -> bool:
        """Add an event; return False and add nothing if the claim is no longer valid.

        Events of further attempts carry the number of the attempt. The number of finished pages never decreases: it
        stays the same until a new attempt has passed it.

        Parameters
        ----------
        claim : the claim of the job.
        kind : the kind of the event.
        data : facts about the event, as JSON values.
        done, total : the number of finished pages and of all pages; None leaves the stored number as it is.
        pages : captures that the job used since its last event. A further attempt finds them in the cache.
        """
        counts = (
            "done_pages = MAX(done_pages, COALESCE(:done, 0)), total_pages = COALESCE(:total, total_pages)"
        )
        if claim.job.attempts > 1:
            data = {**data, "attempt": claim.job.attempts}
        with self.database.transaction():
            held = self._change(claim, counts, {"done": done, "total": total})
            if held:
                self._use(claim, pages)
                self.database.add_event(claim.job.id, kind, data)
        return held

    def finish(
        self,
        claim: Claim,
        summary: Mapping[str, Any],
        files: Sequence[NewFile],
        *,
        pages: Sequence[UsedPage] = (),
    ) -> bool:
        """Mark a job as done; return False and change nothing if the claim is no longer valid.

        Parameters
        ----------
        claim : the claim of the job.
        summary : facts about the result, as JSON values.
        files : the result files.
        pages : captures that the job used since its last event.
        """
        number, token, text = claim.job.id, claim.token, packed(summary)
        places = self._results.write(number, token, [file.data for file in files])
        held = False
        try:
            with self.database.transaction(durable=True):
                held = self._end(claim, "done", {"summary": text})
                if held:
                    for file, place in zip(files, places, strict=True):
                        self.database.run(
                            "INSERT INTO results (job, name, content_type, size_bytes, place) "
                            "VALUES (?, ?, ?, ?, ?)",
                            (number, file.name, file.content_type, len(file.data), place),
                        )
                    self._use(claim, pages)
                    self.database.add_size(number, len(text))
                    self.database.add_event(number, "state", {"state": "done"})
        finally:
            if not held:
                self._results.discard(number, places)
        if held and token > 1:
            self._results.discard_before(number, token)
        return held

    def fail(self, claim: Claim, problem: Mapping[str, Any]) -> bool:
        """Mark a job as failed; return False and change nothing if the claim is no longer valid."""
        with self.database.transaction(durable=True):
            held = self._end(claim, "failed", {"problem": packed(problem)})
            if held:
                self.database.add_event(claim.job.id, "state", {"state": "failed", "problem": problem})
        if held:
            self._results.remove(claim.job.id)  # killed attempts may have left files
        return held

    def release(self, claim: Claim) -> bool:
        """Return a job to its place in the queue. The attempt does not count; False if the claim is not valid."""
        with self.database.transaction(durable=True):
            held = self._change(
                claim, "state = 'queued', worker = NULL, started_at = NULL, attempts = attempts - 1", {}
            )
            if held:
                self.database.add_event(claim.job.id, "state", {"state": "queued"})
        return held

    def take_back(
        self, worker: str | None = None, *, problems: Mapping[str, Mapping[str, Any]] = NO_PROBLEMS
    ) -> int:
        """Return the jobs of a dead worker to the queue, or fail those on their last attempt; return their number.

        Parameters
        ----------
        worker : the name of the worker; None for all workers, when none can be alive.
        problems : for jobs that the worker was killed for, the problem of each by job id. If there are any, the
            attempt does not count for the worker's other jobs.
        """
        with self.database.transaction(durable=True):
            self.database.run("DELETE FROM workers WHERE ? IS NULL OR name = ?", (worker, worker))
            return self._take_back("(? IS NULL OR worker = ?)", (worker, worker), problems)

    def report_worker(self, worker: str, facts: Mapping[str, Any]) -> None:
        """Store what a worker reports about itself until its jobs are taken back."""
        with self.database.transaction():
            self.database.run("INSERT OR REPLACE INTO workers VALUES (?, ?)", (worker, packed(facts)))

    def workers(self) -> dict[str, dict[str, Any]]:
        """Return the latest report of each worker, by its name."""
        return {
            name: json.loads(facts)
            for name, facts in self.database.run("SELECT * FROM workers ORDER BY name")
        }

    def page_ids(self, client: str, site: str | None = None) -> frozenset[str]:
        """Return the ids of the captures that jobs of a client made or used, of one site or of all."""
        condition, values = (
            ("client = ?", [client]) if site is None else ("client = ? AND site = ?", [client, site])
        )
        rows = self.database.run(f"SELECT DISTINCT page_id FROM pages WHERE {condition}", values)
        return frozenset(row[0] for row in rows)

    def _take_back_expired(self) -> None:
        self._take_back("(boot <> ? OR lease_until < ?)", _lease_end(0.0))

    def _take_back(
        self,
        condition: str,
        values: Sequence[object],
        problems: Mapping[str, Mapping[str, Any]] = NO_PROBLEMS,
    ) -> int:
        lost = self.database.run(
            f"SELECT id, attempts FROM jobs WHERE state = 'running' AND {condition}", values
        )
        for number, attempts in lost:
            problem = problems.get(number, _LOST if attempts >= ATTEMPTS and not problems else None)
            if problem is not None:
                self.database.run(
                    "UPDATE jobs SET state = 'failed', worker = NULL, ended_at = ?, problem = ? WHERE id = ?",
                    (now(), packed(problem), number),
                )
                self.database.add_event(number, "state", {"state": "failed", "problem": problem})
            else:
                self.database.run(
                    "UPDATE jobs SET state = 'queued', worker = NULL, started_at = NULL, attempts = attempts - ? "
                    "WHERE id = ?",
                    (bool(problems), number),
                )
                self.database.add_event(number, "state", {"state": "queued", "lost": attempts})
        return len(lost)

    def _end(self, claim: Claim, state: str, values: Mapping[str, str]) -> bool:
        changes = [f"{name} = :{name}" for name in values]
        return self._change(
            claim,
            ", ".join([f"state = '{state}'", "worker = NULL", "ended_at = :ended", *changes]),
            {"ended": now(), **values},
        )

    def _change(self, claim: Claim, changes: str, values: Mapping[str, object]) -> bool:
        rows = self.database.run(
            f"UPDATE jobs SET {changes} WHERE {_HELD} RETURNING number", {**_of(claim), **values}
        )
        return bool(rows)

    def _use(self, claim: Claim, pages: Sequence[UsedPage]) -> None:
        for page in pages:
            self.database.run(
                "INSERT OR REPLACE INTO pages (client, job, page_id, url, site, captured_at, nodes, complete) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    claim.job.client,
                    claim.job.id,
                    page.page_id,
                    page.url,
                    page.site,
                    page.captured_at,
                    page.nodes,
                    page.complete,
                ),
            )
            self.database.run(
                "INSERT OR IGNORE INTO captures (job, page_id) VALUES (?, ?)", (claim.job.id, page.page_id)
            )
            self.database.add_size(claim.job.id, len(page.url))


def _of(claim: Claim) -> dict[str, object]:
    return {"id": claim.job.id, "token": claim.token}


def clock() -> float:
    """Return seconds since the machine was booted, the same in all processes."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _lease_end(seconds: float) -> tuple[str, float]:
    """Return the boot id and the time by `clock` at which a lease that starts now expires."""
    return _boot_id(), clock() + seconds


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""
