"""The one error tree of the project; its branches answer whose fault it was.

    DomsieveError
    ├── UsageError              the caller asked for something that cannot be
    │   ├── TargetError         a target is no URL, file, folder or cached page
    │   │   └── UnknownPageError  the cache holds no such page
    │   ├── ModelError          a site model does not fit the call
    │   ├── UnknownJobError     the service has no such job, or it is another client's
    │   └── KeyConflictError    an idempotency key was used for another request
    ├── PolicyError             a rule forbids it: scheme, private address, robots.txt
    ├── PageError               the page or its server
    │   ├── NavigationError     no document arrived
    │   ├── ContentError        what arrived is no page to work on
    │   └── BudgetError         its analysis cost more than it may
    ├── BrowserError            the browser
    │   ├── BrowserNotFoundError
    │   └── BrowserLostError    it crashed or stopped answering
    ├── BusyError               the service has no room now
    │   ├── QueueFullError      for anybody
    │   └── ClientLimitError    for this client
    └── StorageError            files of ours
        ├── CacheIndexError     the index of a cache is damaged; it can be made anew
        ├── DamagedFileError    a file does not hold what was written
        ├── FormatVersionError  a file of a version this program does not know
        └── InvalidSnapshotError  columns that are no page

This module imports nothing of the project, so every package may use it.
"""

from datetime import timedelta
from typing import Any, Literal

PolicyReason = Literal[
    "delay",
    "denied",
    "elsewhere",
    "guard",
    "host",
    "mixed",
    "not_allowed",
    "off_site",
    "port",
    "private",
    "quota",
    "robots",
    "scheme",
]
"""Which rule forbids it; see `PolicyError`."""
BusyReason = Literal["client", "disk", "load", "memory", "queue"]
"""Why no job is taken now; see `BusyError`."""
FaultReason = Literal["status", "type", "binary", "empty", "cut"]
"""What is certainly wrong with a page; see `PageError`."""


class DomsieveError(Exception):
    """Root of every error the project raises on purpose.

    Parameters
    ----------
    message : what was wrong, where, and what to do.
    url : the page concerned, if one was.
    stage : what was being done: ``"launch"``, ``"navigate"``, ``"settle"``, ``"capture"``, ``"read"``, ...
    elapsed : time spent before the error.
    retry : whether the same call may succeed later.
    """

    def __init__(
        self,
        message: str,
        *,
        url: str | None = None,
        stage: str | None = None,
        elapsed: timedelta | None = None,
        retry: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.url = url
        self.stage = stage
        self.elapsed = elapsed
        self.retry = retry

    def __str__(self) -> str:
        where = [f"{name} {value}" for name, value in (("at", self.stage), ("of", self.url)) if value]
        return f"{self.message} ({' '.join(where)})" if where else self.message


class UsageError(DomsieveError):
    """The caller asked for something that cannot be done.

    Parameters
    ----------
    message, context : as of every error of the project.
    parameter : name of the parameter that is wrong, as in Python: ``"has_text"``. A command line names its option.
    """

    def __init__(self, message: str, *, parameter: str | None = None, **context: Any) -> None:
        super().__init__(message, **context)
        self.parameter = parameter


class ParameterError(UsageError):
    """A parameter of a method is unknown or has a wrong value; the message has the valid names or values."""


class TargetError(UsageError):
    """A target names no page: not a URL, a file, a folder or a cached page."""


class UnknownPageError(TargetError):
    """The cache holds no such page."""


class ModelError(UsageError):
    """A site model does not fit the call: other parameters, another producer, or not fitted."""


class UnknownJobError(UsageError):
    """The service has no such job, or it is another client's."""


class KeyConflictError(UsageError):
    """An idempotency key was used before, for another request."""


class PolicyError(DomsieveError):
    """A rule forbids it.

    Parameters
    ----------
    message, context : as of every error of the project.
    reason : the rule. ``"scheme"``, ``"host"`` and ``"port"``: what the address names is not of the web.
        ``"private"``: it is not public, and nobody has allowed it. ``"elsewhere"``: only this machine may be reached,
        and it is not there. ``"mixed"``: it is public and private, at once or by turns. ``"denied"`` and
        ``"not_allowed"``: a list of hosts says so. ``"guard"``: it is our own proxy. ``"robots"`` and ``"delay"``:
        the site asks robots to stay away, or to wait too long. ``"off_site"``: it leads to another site than the one
        that is sampled. ``"quota"``: the job has used up what it may.
    """

    def __init__(self, message: str, *, reason: PolicyReason | None = None, **context: Any) -> None:
        super().__init__(message, **context)
        self.reason = reason


class PageError(DomsieveError):
    """The page or its server is at fault.

    Parameters
    ----------
    message, context : as of every error of the project.
    reason : what is certainly wrong. ``"status"``: the server answered with an error, HTTP 400 or above. ``"type"``:
        it is no HTML. ``"binary"``: it is no text. ``"empty"``: it holds nothing. ``"cut"``: it was cut before any
        text stood there. None for all else.
    """

    def __init__(self, message: str, *, reason: FaultReason | None = None, **context: Any) -> None:
        super().__init__(message, **context)
        self.reason = reason


class NavigationError(PageError):
    """No document arrived: refused connection, endless redirect, no answer.

    Parameters
    ----------
    message, context : as of every error of the project.
    timed_out : whether the server took too long.
    """

    def __init__(self, message: str, *, timed_out: bool = False, **context: Any) -> None:
        super().__init__(message, **context)
        self.timed_out = timed_out


class ContentError(PageError):
    """What arrived is not a page to work on: an error of the server, a download, an image, an empty answer."""


class BudgetError(PageError):
    """The analysis of a page cost more than it may; see `domsieve.budget.AnalysisBudget`.

    Parameters
    ----------
    message, context : as of every error of the project.
    resource : what was used up, ``"time"`` or ``"memory"``.
    """

    def __init__(self, message: str, *, resource: Literal["time", "memory"] = "time", **context: Any) -> None:
        super().__init__(message, **context)
        self.resource = resource


class BrowserError(DomsieveError):
    """The browser is at fault."""


class BrowserNotFoundError(BrowserError):
    """No usable Chrome was found, or the one that was asked for does not work."""


class BrowserLostError(BrowserError):
    """The browser crashed or stopped answering."""


class BusyError(DomsieveError):
    """The service takes no further job now.

    Parameters
    ----------
    message, context : as of every error of the project.
    reason : what is used up. ``"queue"``: no more jobs may wait. ``"disk"``, ``"memory"``, ``"load"``: the machine
        has too little left. ``"client"``: this client has as many jobs as it may.
    """

    def __init__(self, message: str, *, reason: BusyReason = "queue", **context: Any) -> None:
        super().__init__(message, **context)
        self.reason = reason


class QueueFullError(BusyError):
    """No more jobs may wait, or the machine has no room for them."""


class ClientLimitError(BusyError):
    """No more jobs of this client may wait or run."""


class StorageError(DomsieveError):
    """A file of ours cannot be used."""


class CacheIndexError(StorageError):
    """The index of a cache is damaged; a `PageStore` that repairs makes it anew from the pages."""


class DamagedFileError(StorageError):
    """A file does not hold what was written to it."""


class FormatVersionError(StorageError):
    """A file has a format version that this program does not know."""


class InvalidSnapshotError(StorageError):
    """Columns that do not describe a page; the message names the bad column."""
