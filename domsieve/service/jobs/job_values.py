"""The values that jobs are made of, and why a job failed and whose fault it was."""

import asyncio
import errno
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from domsieve.errors import (
    BrowserError,
    BrowserNotFoundError,
    BudgetError,
    BusyReason,
    DomsieveError,
    NavigationError,
    PageError,
    PolicyError,
    UsageError,
)
from domsieve.sanitize import plain

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


class Title(StrEnum):
    """What kind of problem it is. Jobs keep the title, so the texts of members may not change."""

    REQUEST = "The request asks for something that cannot be."
    POLICY = "The page may not be opened."
    PAGE = "The page cannot be had."
    TIMEOUT = "The page took too long."
    COST = "The page costs too much to analyse."
    TIME = "The work on the page took too long."
    MEMORY = "The work on the page took too much memory."
    NO_BROWSER = "No browser can be started."
    BROWSER = "The browser failed."
    SERVICE = "The service failed."


_FAULTS: tuple[tuple[type[DomsieveError], Fault, Title], ...] = (
    (UsageError, "caller", Title.REQUEST),
    (PolicyError, "policy", Title.POLICY),
    (PageError, "page", Title.PAGE),
    (BrowserNotFoundError, "browser", Title.NO_BROWSER),
    (BrowserError, "browser", Title.BROWSER),
)
_LONGEST = 2_000
# Messages about our own files and faults of the program name paths, so only the log has them.
_OURS = "Something went wrong in the service; its log says what."
_FULL = "The disk of the service is full."
_OUR_BROWSER = "The browser of the service does not start; its log says why."


def problem_of(error: BaseException) -> dict[str, Any]:
    """Return an error as the problem that a job keeps: title, detail, fault, retry, stage, reason if it has one."""
    for kind, fault, title in _FAULTS:
        if isinstance(error, kind):
            timed_out = isinstance(error, NavigationError) and error.timed_out
            title = Title.COST if isinstance(error, BudgetError) else title
            # Messages about the start of a browser name paths, too.
            is_ours = kind is BrowserNotFoundError or (kind is BrowserError and error.stage == "launch")
            detail = _OUR_BROWSER if is_ours else error.message
            problem = _problem(Title.TIMEOUT if timed_out else title, detail, fault, error.retry, error.stage)
            reason = error.reason if isinstance(error, PageError) else None
            return {**problem, "reason": reason} if reason else problem
    retry = isinstance(error, DomsieveError | asyncio.TimeoutError | OSError)
    detail = _FULL if _is_for_want_of_room(error) else _OURS
    return _problem(Title.SERVICE, detail, "service", retry, getattr(error, "stage", None))


def _is_for_want_of_room(error: BaseException) -> bool:
    cause = error.__cause__ or error
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    return isinstance(cause, OSError) and cause.errno in {errno.ENOSPC, errno.EDQUOT}


def overrun(reason: Literal["time", "memory"]) -> dict[str, Any]:
    """Return the problem, in the form of `problem_of`, of a job that was ended since it took too much."""
    title, what = (Title.TIME, "longer") if reason == "time" else (Title.MEMORY, "more memory")
    return _problem(
        title, f"The work on it took {what} than a job may, and was ended.", "page", False, "work"
    )


def is_timeout(problem: Mapping[str, Any]) -> bool:
    """Return whether a page, or the work on it, took too long."""
    return problem.get("title") in {Title.TIMEOUT, Title.TIME}


def _problem(title: Title, detail: str, fault: Fault, retry: bool, stage: str | None) -> dict[str, Any]:
    # What a page or server said may hold anything, half surrogates too, which no answer can carry.
    told = plain(detail).encode("utf-8", "replace").decode()[:_LONGEST]
    return {"title": title.value, "detail": told, "fault": fault, "retry": retry, "stage": stage}
