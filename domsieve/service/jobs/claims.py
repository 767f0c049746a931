"""The workers' side of the store of jobs: take one, tell how it goes, bring it to its end exactly once.

A claim has a token that rises with every claim of its job. Every statement here changes the row only where the job
runs under that very token, so that a worker that was thought dead, or whose job was cancelled, changes nothing.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from domsieve.service.jobs.database import Database, lease_end, now, packed
from domsieve.service.jobs.values import ATTEMPTS, Claim, NewFile, UsedPage

_HELD = "id = :id AND state = 'running' AND token = :token"
_LOST = {
    "title": "The job was given up.",
    "detail": f"Its worker ended {ATTEMPTS} times while the job ran.",
    "fault": "service",
    "retry": False,
    "stage": "work",
}


class Claims(Database):
    """What workers do with jobs."""

    def claim(self, worker: str, *, lease_s: float, sites: bool = True) -> Claim | None:
        """Take a job that waits, or whose worker let its lease end; None when there is none to be had.

        The next job is the oldest one of the client with the fewest running jobs. One that may not be lost again is
        done alone, so that it takes no neighbours with it: until the worker has nothing else to do, it gets nothing.

        Parameters
        ----------
        worker : name of the worker, unique among all that live.
        lease_s : see `Claim`.
        sites : whether it may be a site job.
        """
        wanted = "state = 'queued'" if sites else "state = 'queued' AND kind <> 'site'"
        boot, time = lease_end(0.0)
        if not self.run(
            f"SELECT 1 FROM jobs WHERE {wanted} OR (state = 'running' AND (boot <> ? OR lease_until < ?)) LIMIT 1",
            (boot, time),
        ):
            return None
        with self.transaction():
            self._take_back_expired()
            own = self.run(
                "SELECT COUNT(*), MAX(attempts) FROM jobs WHERE state = 'running' AND worker = ?", (worker,)
            )[0]
            found = self.run(
                f"SELECT id, attempts, token FROM jobs WHERE {wanted} ORDER BY (SELECT COUNT(*) FROM jobs AS other "
                "WHERE other.state = 'running' AND other.client = jobs.client), number LIMIT 1"
            )
            if not found or (own[0] and max(found[0][1] + 1, own[1]) >= ATTEMPTS):
                return None
            number, attempts, token = found[0]
            boot, until = lease_end(lease_s)
            self.run(
                "UPDATE jobs SET state = 'running', worker = ?, token = ?, attempts = ?, started_at = ?, boot = ?, "
                "lease_until = ? WHERE id = ?",
                (worker, token + 1, attempts + 1, now(), boot, until, number),
            )
            self.tell(number, "state", {"state": "running", "attempt": attempts + 1})
            (job,) = self.jobs("id = ?", (number,))
        return Claim(job, worker, token + 1, lease_s)

    def holds(self, claim: Claim) -> bool:
        """Return whether the job still is the worker's: neither cancelled nor taken back. Writes nothing."""
        return bool(self.run(f"SELECT 1 FROM jobs WHERE {_HELD}", _of(claim)))

    def renew(self, claim: Claim) -> bool:
        """Begin the lease anew; return whether the job still is the worker's."""
        boot, until = lease_end(claim.lease_s)
        with self.transaction():
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
        """Tell what happened; return whether the job still is the worker's, else nothing is told.

        A job that is tried again begins anew: what is told then says which attempt it is of, and its count of pages
        stays where it was until the new attempt has come further.

        Parameters
        ----------
        done, total : of its pages; None changes nothing.
        pages : captures that it used by then, so that another attempt finds them.
        """
        counts = (
            "done_pages = MAX(done_pages, COALESCE(:done, 0)), total_pages = COALESCE(:total, total_pages)"
        )
        if claim.job.attempts > 1:
            data = {**data, "attempt": claim.job.attempts}
        with self.transaction():
            held = self._change(claim, counts, {"done": done, "total": total})
            if held:
                self._use(claim, pages)
                self.tell(claim.job.id, kind, data)
        return held

    def finish(
        self,
        claim: Claim,
        summary: Mapping[str, Any],
        files: Sequence[NewFile],
        *,
        pages: Sequence[UsedPage] = (),
    ) -> bool:
        """End a job well; return False, and change nothing, where it no longer is the worker's.

        Parameters
        ----------
        pages : the captures it used.
        """
        with self.transaction(durable=True):
            held = self._end(claim, "done", {"summary": packed(summary)})
            if held:
                for file in files:
                    self.run(
                        "INSERT INTO files VALUES (?, ?, ?, ?, ?)",
                        (claim.job.id, file.name, file.content_type, len(file.data), file.data),
                    )
                self._use(claim, pages)
                self.tell(claim.job.id, "state", {"state": "done"})
        return held

    def fail(self, claim: Claim, problem: Mapping[str, Any]) -> bool:
        """End a job badly; return False, and change nothing, where it no longer is the worker's."""
        with self.transaction(durable=True):
            held = self._end(claim, "failed", {"problem": packed(problem)})
            if held:
                self.tell(claim.job.id, "state", {"state": "failed", "problem": problem})
        return held

    def release(self, claim: Claim) -> bool:
        """Put a job back in its place in the queue; this attempt does not count."""
        with self.transaction(durable=True):
            held = self._change(
                claim, "state = 'queued', worker = NULL, started_at = NULL, attempts = attempts - 1", {}
            )
            if held:
                self.tell(claim.job.id, "state", {"state": "queued"})
        return held

    def take_back(self, worker: str | None = None) -> int:
        """Put the jobs of a dead worker back in their places in the queue, or end those lost too often.

        Parameters
        ----------
        worker : None takes those of all workers, when none can be alive.

        Returns the number of jobs.
        """
        with self.transaction(durable=True):
            self.run("DELETE FROM workers WHERE ? IS NULL OR name = ?", (worker, worker))
            return self._take_back("(? IS NULL OR worker = ?)", (worker, worker))

    def report_worker(self, worker: str, facts: Mapping[str, Any]) -> None:
        """Keep what a worker says of itself, until its jobs are taken back."""
        with self.transaction():
            self.run("INSERT OR REPLACE INTO workers VALUES (?, ?)", (worker, packed(facts)))

    def workers(self) -> dict[str, dict[str, Any]]:
        """Return what the workers last said of themselves, by their names."""
        return {name: json.loads(facts) for name, facts in self.run("SELECT * FROM workers ORDER BY name")}

    def _take_back_expired(self) -> None:
        boot, time = lease_end(0.0)
        self._take_back("(boot <> ? OR lease_until < ?)", (boot, time))

    def _take_back(self, condition: str, values: Sequence[object]) -> int:
        lost = self.run(f"SELECT id, attempts FROM jobs WHERE state = 'running' AND {condition}", values)
        for number, attempts in lost:
            if attempts >= ATTEMPTS:
                self.run(
                    "UPDATE jobs SET state = 'failed', worker = NULL, ended_at = ?, problem = ? WHERE id = ?",
                    (now(), packed(_LOST), number),
                )
                self.tell(number, "state", {"state": "failed", "problem": _LOST})
            else:
                self.run(
                    "UPDATE jobs SET state = 'queued', worker = NULL, started_at = NULL WHERE id = ?",
                    (number,),
                )
                self.tell(number, "state", {"state": "queued", "lost": attempts})
        return len(lost)

    def _end(self, claim: Claim, state: str, values: Mapping[str, str]) -> bool:
        changes = [f"{name} = :{name}" for name in values]
        return self._change(
            claim,
            ", ".join([f"state = '{state}'", "worker = NULL", "ended_at = :ended", *changes]),
            {"ended": now(), **values},
        )

    def _change(self, claim: Claim, changes: str, values: Mapping[str, object]) -> bool:
        rows = self.run(f"UPDATE jobs SET {changes} WHERE {_HELD} RETURNING number", {**_of(claim), **values})
        return bool(rows)

    def _use(self, claim: Claim, pages: Sequence[UsedPage]) -> None:
        for page in pages:
            self.run(
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


def _of(claim: Claim) -> dict[str, object]:
    return {"id": claim.job.id, "token": claim.token}
