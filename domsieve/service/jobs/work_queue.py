"""The workers' side of the jobs: claim one, report its progress, and end it exactly once.

A claim has a token that rises with every claim of its job. Every statement here changes the row only where the job
runs under that very token, so a worker that was taken for dead, or whose job was cancelled, changes nothing.

Leases count on the machine's clock since its start, which nobody sets; a boot id tells one start from another.
"""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from domsieve.service.jobs.captures import Captures
from domsieve.service.jobs.database import Database, now, packed
from domsieve.service.jobs.job_values import ATTEMPTS, Claim, NewFile, UsedPage
from domsieve.service.jobs.result_files import RESULTS, ResultFiles

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
    """What workers do with jobs, and what they may see of their clients' captures.

    Parameters
    ----------
    database : where the jobs are.

    Attributes
    ----------
    captures : what their jobs hold in the cache.

    Raises
    ------
    StorageError : of all methods, when the database cannot be used.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.captures = Captures(database)
        self._results = ResultFiles(database.folder / RESULTS)

    def claim(self, worker: str, *, lease_s: float, sites: bool = True) -> Claim | None:
        """Claim a job that waits, or whose worker let its lease end; None when there is none.

        The next job is the oldest of the client with the fewest running jobs. A job on its last attempt runs alone,
        so that it takes no neighbours with it: until the worker has nothing else to do, it gets nothing.

        Parameters
        ----------
        worker : name of the worker, unique among all that live.
        lease_s : see `Claim`.
        sites : whether it may be a site job.
        """
        wanted = "state = 'queued'" if sites else "state = 'queued' AND kind <> 'site'"
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
            found = self.database.run(
                f"SELECT id, attempts, token FROM jobs WHERE {wanted} ORDER BY (SELECT COUNT(*) FROM jobs AS other "
                "WHERE other.state = 'running' AND other.client = jobs.client), number LIMIT 1"
            )
            if not found or (own[0] and max(found[0][1] + 1, own[1]) >= ATTEMPTS):
                return None
            number, attempts, token = found[0]
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
        """Return whether the job is still the worker's: neither cancelled nor taken back. Writes nothing."""
        return bool(self.database.run(f"SELECT 1 FROM jobs WHERE {_HELD}", _of(claim)))

    def renew(self, claim: Claim) -> bool:
        """Start the lease again; return whether the job is still the worker's."""
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
        """Add an event; return False, and add nothing, where the job is no longer the worker's.

        A second attempt starts over: its events carry its number, and the count of pages stays where it was until
        the new attempt gets further.

        Parameters
        ----------
        done, total : number of its pages; None changes nothing.
        pages : captures that it has used so far, so that another attempt finds them.
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
        """End a job as done; return False, and change nothing, where it is no longer the worker's.

        Parameters
        ----------
        pages : the captures it used.
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
        """End a job as failed; return False, and change nothing, where it is no longer the worker's."""
        with self.database.transaction(durable=True):
            held = self._end(claim, "failed", {"problem": packed(problem)})
            if held:
                self.database.add_event(claim.job.id, "state", {"state": "failed", "problem": problem})
        if held:
            self._results.remove(claim.job.id)  # what an attempt that was killed has left
        return held

    def release(self, claim: Claim) -> bool:
        """Put a job back in its place in the queue; the attempt does not count."""
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
        """Put the jobs of a dead worker back in the queue, or end those lost too often; return their number.

        Parameters
        ----------
        worker : name of the worker; None means all of them, when none can be alive.
        problems : why jobs fail that the worker was ended for, by their ids. Where there are any, the attempt of its
            other jobs does not count.
        """
        with self.database.transaction(durable=True):
            self.database.run("DELETE FROM workers WHERE ? IS NULL OR name = ?", (worker, worker))
            return self._take_back("(? IS NULL OR worker = ?)", (worker, worker), problems)

    def report_worker(self, worker: str, facts: Mapping[str, Any]) -> None:
        """Keep what a worker reports about itself, until its jobs are taken back."""
        with self.database.transaction():
            self.database.run("INSERT OR REPLACE INTO workers VALUES (?, ?)", (worker, packed(facts)))

    def workers(self) -> dict[str, dict[str, Any]]:
        """Return what the workers last reported about themselves, by their names."""
        return {
            name: json.loads(facts)
            for name, facts in self.database.run("SELECT * FROM workers ORDER BY name")
        }

    def page_ids(self, client: str, site: str | None = None) -> frozenset[str]:
        """Return the ids of the captures, of a site or of all, that jobs of a client made or used."""
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
    """Return seconds since the machine was started, the same for all its processes."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _lease_end(seconds: float) -> tuple[str, float]:
    """Return the boot id, and when a lease that begins now ends on the clock."""
    return _boot_id(), clock() + seconds


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""
