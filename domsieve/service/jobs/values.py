"""The values that jobs are made of. Imports nothing of the project but its errors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from domsieve.errors import BusyReason

JobState = Literal["queued", "running", "done", "failed", "cancelled"]
Fault = Literal["caller", "policy", "page", "browser", "service"]
SiteLimit = Literal["pages", "bytes", "time"]
"""What can end the job of a site before its sample is whole; see `SiteQuota`."""

STATES: tuple[JobState, ...] = ("queued", "running", "done", "failed", "cancelled")
ATTEMPTS = 3
"""How often a job may be lost with its worker before it is given up."""


@dataclass(frozen=True, slots=True)
class JobFile:
    """A result of a job: its name, type and size."""

    name: str
    content_type: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class NewFile:
    """A result of a job with what it holds."""

    name: str
    content_type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Something the service was asked to do.

    Parameters
    ----------
    id : 32 hex digits that nobody can guess.
    kind : of the request.
    client : who asked.
    request : the request's fields, see `requests`.
    state : where it stands; the last three are final.
    created_at, started_at, ended_at : UTC, ISO 8601; None for what has not come. `started_at` is of the last attempt.
    attempts : how often a worker began it, without those that were handed back in order.
    done_pages, total_pages : of its pages, None while their number is not known.
    problem : why it failed, see `problem_of`; None when it did not.
    summary : what came out, in few words; None while it is not done.
    files : what came out.
    """

    id: str
    kind: str
    client: str
    request: Mapping[str, Any]
    state: JobState
    created_at: str
    started_at: str | None = None
    ended_at: str | None = None
    attempts: int = 0
    done_pages: int = 0
    total_pages: int | None = None
    problem: Mapping[str, Any] | None = None
    summary: Mapping[str, Any] | None = None
    files: tuple[JobFile, ...] = ()

    @property
    def has_ended(self) -> bool:
        """Whether nothing will change any more."""
        return self.state in {"done", "failed", "cancelled"}


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a job; numbers rise within a job."""

    number: int
    at: str
    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Claim:
    """A job in the hands of a worker.

    Parameters
    ----------
    job : as it was when it was claimed.
    worker : name of the worker.
    token : rises with every claim of the job; what is done with an old one changes nothing.
    lease_s : seconds after which the job is given to another worker, counted from the last renewal.
    """

    job: Job
    worker: str
    token: int
    lease_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteQuota:
    """What the job of a site may take from the network; it ends with what it has.

    Parameters
    ----------
    pages : pages that it may open, failed and repeated ones among them; those of the cache count nothing.
    size_bytes : what may pass the guard for it, both ways together: its pages, robots.txt and sitemaps.
    time_s : seconds for opening pages.
    """

    pages: int = 500
    size_bytes: int = 2_000_000_000
    time_s: float = 3_600.0

    def sentence(self, limit: SiteLimit) -> str:
        """Return a sentence about a limit that was reached."""
        most = {
            "pages": f"{self.pages:,} pages",
            "bytes": f"{self.size_bytes:,} bytes",
            "time": f"{self.time_s:,g} s",
        }
        return f"This service gives the job of a site {most[limit]}, which are used up."


USUAL_SITE = SiteQuota()


@dataclass(frozen=True, slots=True)
class Strain:
    """Why the machine has no room for another job: what is short, and a sentence about it."""

    reason: BusyReason
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimits:
    """How much is accepted.

    Parameters
    ----------
    queued : jobs that may wait.
    per_client : jobs of one client that may wait or run.
    free_bytes : room on the disk, below which none is accepted: a job has results.
    strain : why none is accepted now; None if the machine has room.
    """

    queued: int = 200
    per_client: int = 50
    free_bytes: int = 0
    strain: Strain | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedPage:
    """A capture that a client's jobs made or used.

    Parameters
    ----------
    number : rises with its latest use.
    page_id, url, site, captured_at, nodes, complete : see `PageRecord`.
    job : id of the latest job that used it.
    """

    number: int = 0
    page_id: str
    url: str
    site: str
    captured_at: str
    nodes: int
    complete: bool
    job: str
