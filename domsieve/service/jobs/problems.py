"""Why a job failed, told by whose fault it was."""

import asyncio
from typing import Any

from domsieve.errors import (
    BrowserError,
    BrowserNotFoundError,
    BusyError,
    DomsieveError,
    NavigationError,
    PageError,
    PolicyError,
    UsageError,
)
from domsieve.plain import plain
from domsieve.service.jobs.values import Fault

_NO_BROWSER = "No browser can be started."
_FAULTS: tuple[tuple[type[DomsieveError], Fault, str], ...] = (
    (UsageError, "caller", "The request asks for something that cannot be."),
    (PolicyError, "policy", "The page may not be opened."),
    (PageError, "page", "The page cannot be had."),
    (BrowserNotFoundError, "browser", _NO_BROWSER),
    (BrowserError, "browser", "The browser failed."),
    (BusyError, "service", "The service has no room."),
)
TOO_LONG = "The page took too long."
_LONGEST = 2_000
# Files of ours and faults of the program are told in the log; their messages name paths.
_OURS = "Something went wrong in the service; its log says what."
_OUR_BROWSER = "The browser of the service does not start; its log says why."


def problem_of(error: BaseException) -> dict[str, Any]:
    """Return the problem that an error is: title, detail, fault, retry and stage.

    A page that took too long has a title of its own, which says so.
    """
    for kind, fault, title in _FAULTS:
        if isinstance(error, kind):
            timed_out = isinstance(error, NavigationError) and error.timed_out
            # What is said of a start names paths, too.
            is_ours = kind is BrowserNotFoundError or (kind is BrowserError and error.stage == "launch")
            detail = _OUR_BROWSER if is_ours else error.message
            return _problem(TOO_LONG if timed_out else title, detail, fault, error.retry, error.stage)
    retry = isinstance(error, DomsieveError | asyncio.TimeoutError | OSError)
    return _problem("The service failed.", _OURS, "service", retry, getattr(error, "stage", None))


def _problem(title: str, detail: str, fault: Fault, retry: bool, stage: str | None) -> dict[str, Any]:
    # What a page or server said may hold anything, half surrogates too, which no answer can carry.
    told = plain(detail).encode("utf-8", "replace").decode()[:_LONGEST]
    return {"title": title, "detail": told, "fault": fault, "retry": retry, "stage": stage}
