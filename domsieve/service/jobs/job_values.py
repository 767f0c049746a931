"""Value types of jobs, and the problem that a failed job keeps: what went wrong and whose fault it was."""

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
SiteLimit = Literal["pages", "bytes", "time", "store"]
"""The quotas that can end a site job before its sample is complete; see `SiteQuota`."""

STATES: tuple[JobState, ...] = ("queued", "running", "done", "failed", "cancelled")
OF_SITES = frozenset({"site", "sync", "fields", "learn_fields"})
"""Kinds of jobs that open many pages of a site, within its quota; they take at most half of a worker."""
ATTEMPTS = 3
"""A job fails after this many attempts that ended with the death of their worker. A guess."""


@dataclass(frozen=True, slots=True)
class JobFile:
    """Name, content type and size of a result file."""

    name: str
    content_type: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class NewFile:
    """A result file with its content, before it is stored."""

    name: str
    content_type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A unit of work that a client requested.

    Parameters
    ----------
    id : 32 random hex digits.
    kind : the kind of the request.
    client : the name of the client that sent the request.
    request : the fields of the request; see `domsieve.service.jobs.requests`.
    state : the current state; ``"done"``, ``"failed"`` and ``"cancelled"`` are final.
    created_at, started_at, ended_at : UTC in ISO 8601; None if it has not happened yet. `started_at` is the start of
        the latest attempt.
    attempts : the number of times a worker started the job. Attempts that a worker returned to the queue when it was
        told to stop do not count.
    done_pages : the number of finished pages.
    total_pages : the number of pages to do; None until it is known.
    problem : why the job failed, as `problem_of` returns it; None unless it failed.
    summary : facts about the result, as JSON values; None until the job is done.
    files : the result files.
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
        """Whether the state is final."""
        return self.state in {"done", "failed", "cancelled"}


@dataclass(frozen=True, slots=True)
class Event:
    """An entry in the history of a job; the numbers of a job's events increase."""

    number: int
    at: str
    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Claim:
    """The temporary right of one worker to run a job.

    Parameters
    ----------
    job : the job as it was when the worker claimed it.
    worker : the name of the worker.
    token : a fencing token, which increases with each claim of the job. Changes made with an old token have no
        effect.
    lease_s : seconds after the last renewal after which another worker may claim the job.
    """

    job: Job
    worker: str
    token: int
    lease_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteQuota:
    """Network quota of a site job. A job that reaches a limit ends with the pages it has.

    The defaults are guesses; the operator can change them.

    Parameters
    ----------
    pages : the number of pages the job may open, including failed and repeated ones. Cached pages are free.
    size_bytes : traffic through the egress guard in both directions, for pages, robots.txt and sitemaps.
    time_s : seconds during which the job may open pages.
    store_bytes : the maximum size of a store; jobs that follow a site open no more pages then.
    """

    pages: int = 500
    size_bytes: int = 2_000_000_000
    time_s: float = 3_600.0
    store_bytes: int = 1_000_000_000

    def sentence(self, limit: SiteLimit) -> str:
        """Return a sentence for users that says which limit was reached."""
        most = {
            "pages": f"{self.pages:,} pages",
            "bytes": f"{self.size_bytes:,} bytes",
            "time": f"{self.time_s:,g} s",
        }
        if limit == "store":
            return f"This service gives a store {self.store_bytes:,} bytes, which are used up."
        return f"This service gives the job of a site {most[limit]}, which are used up."


DEFAULT_SITE_QUOTA = SiteQuota()


@dataclass(frozen=True, slots=True)
class Overload:
    """The reason why the machine cannot take another job, and a sentence for users about it."""

    reason: BusyReason
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimits:
    """Limits for accepting new jobs.

    Parameters
    ----------
    queued : the maximum number of waiting jobs.
    per_client : the maximum number of waiting and running jobs of one client.
    stores : the maximum number of stores of one client.
    free_bytes : accept no job if the disk has less free space than this, because results need space.
    overload : why the machine cannot take another job now; None if it can.
    """

    queued: int = 200
    per_client: int = 50
    stores: int = 20
    free_bytes: int = 0
    overload: Overload | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedPage:
    """A capture that a job of the client made or used.

    Parameters
    ----------
    number : orders captures by their latest use; higher is later.
    page_id, url, site, captured_at, nodes, complete : see `PageRecord`.
    job : the id of the latest job that used the capture.
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
    """Titles of problems. They are stored with jobs, so the texts must not change."""

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
_DETAIL_CHARACTERS = 2_000  # a guess; URLs in messages may have millions of characters
# The original messages contain paths of the service, so only its log has them.
_OURS = "Something went wrong in the service; its log says what."
_FULL = "The disk of the service is full."
_WAY_OUT = " The operator of the service can allow this host: --private-host HOST:PORT."
_OUR_BROWSER = "The browser of the service does not start; its log says why."


def problem_of(error: BaseException) -> dict[str, Any]:
    """Return the problem that a job keeps for an error.

    Its keys are ``title``, ``detail``, ``fault``, ``retry``, ``stage`` and, for pages that count as failed,
    ``reason``. The detail of an error of the service itself is a general sentence.
    """
    for kind, fault, title in _FAULTS:
        if isinstance(error, kind):
            timed_out = isinstance(error, NavigationError) and error.timed_out
            title = Title.COST if isinstance(error, BudgetError) else title
            # Messages about starting a browser contain paths as well.
            is_ours = kind is BrowserNotFoundError or (kind is BrowserError and error.stage == "launch")
            detail = _OUR_BROWSER if is_ours else error.message
            if isinstance(error, PolicyError) and error.reason == "private":
                detail += _WAY_OUT
            problem = _problem(Title.TIMEOUT if timed_out else title, detail, fault, error.retry, error.stage)
            reason = error.reason if isinstance(error, PageError) else None
            return {**problem, "reason": reason} if reason else problem
    retry = isinstance(error, DomsieveError | asyncio.TimeoutError | OSError)
    detail = _FULL if _is_disk_full(error) else _OURS
    return _problem(Title.SERVICE, detail, "service", retry, getattr(error, "stage", None))


def _is_disk_full(error: BaseException) -> bool:
    cause = error.__cause__ or error
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    return isinstance(cause, OSError) and cause.errno in {errno.ENOSPC, errno.EDQUOT}


def overrun(reason: Literal["time", "memory"]) -> dict[str, Any]:
    """Return the problem of a job that was stopped because it took too much time or memory; see `problem_of`."""
    title, what = (Title.TIME, "longer") if reason == "time" else (Title.MEMORY, "more memory")
    return _problem(
        title, f"The work on it took {what} than a job may, and was ended.", "page", False, "work"
    )


def is_timeout(problem: Mapping[str, Any]) -> bool:
    """Return whether loading or processing the page took too long."""
    return problem.get("title") in {Title.TIMEOUT, Title.TIME}


def _problem(title: Title, detail: str, fault: Fault, retry: bool, stage: str | None) -> dict[str, Any]:
    # Messages can quote pages and servers, including lone surrogates, which JSON responses cannot encode.
    safe = plain(detail).encode("utf-8", "replace").decode()[:_DETAIL_CHARACTERS]
    return {"title": title.value, "detail": safe, "fault": fault, "retry": retry, "stage": stage}
