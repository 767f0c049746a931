"""Why a job failed, by whose fault it was."""

import asyncio
import errno
import sqlite3
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

from domsieve.errors import (
    BrowserError,
    BrowserNotFoundError,
    BudgetError,
    DomsieveError,
    NavigationError,
    PageError,
    PolicyError,
    UsageError,
)
from domsieve.plain import plain
from domsieve.service.jobs.values import Fault


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
