"""All errors that domsieve raises on purpose, as one tree; each branch says whose fault the error is.

    DomsieveError
    ├── UsageError              the caller's arguments are wrong
    │   ├── TargetError         a target is not a URL, file, folder or cached page
    │   │   └── UnknownPageError  the page is not in the cache
    │   ├── ModelError          a site model does not fit the call
    │   ├── UnknownJobError     the service has no such job for this client
    │   ├── KeyConflictError    an idempotency key was used for another request
    │   ├── UnknownStoreError   the service has no such store for this client
    │   └── StoreConflictError  a store is in use, or there are too many
    ├── PolicyError             a rule forbids the request: scheme, private address, robots.txt
    ├── PageError               the page or its server
    │   ├── NavigationError     no document arrived
    │   ├── ContentError        the document is not a page that can be analysed
    │   └── BudgetError         the analysis exceeded its budget of time or memory
    ├── BrowserError            the browser
    │   ├── BrowserNotFoundError  no usable Chrome
    │   └── BrowserLostError    the browser crashed or stopped responding
    ├── BusyError               the service accepts no more jobs at the moment
    │   ├── QueueFullError      from any client
    │   └── ClientLimitError    from this client
    └── StorageError            files that domsieve wrote
        ├── CacheIndexError     the index of a cache is damaged; it can be rebuilt
        ├── DamagedFileError    the content of a file has changed or is missing
        ├── FormatVersionError  a file has an unknown format version
        └── InvalidSnapshotError  columns do not describe a page

Every error carries the page, the stage, the elapsed time, and whether a retry can help.
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
"""The rule that forbids a request; see `PolicyError`."""
BusyReason = Literal["client", "disk", "load", "memory", "queue"]
"""Why the service accepts no job; see `BusyError`."""
FaultReason = Literal["status", "type", "binary", "empty", "cut"]
"""What is wrong with a failed page; see `PageError`."""


class DomsieveError(Exception):
    """Base class of all errors that domsieve raises on purpose.

    Parameters
    ----------
    message : what went wrong, where, and what to do about it.
    url : address of the page concerned, if any.
    stage : the work that failed: ``"launch"``, ``"navigate"``, ``"settle"``, ``"capture"``, ``"read"``, …
    elapsed : time spent before the error.
    retry : the same call may succeed later.
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
        return self.told()

    def told(self, *, after: str = "") -> str:
        """Return the message with the stage and the page, unless `after`, what stands before it, is that page."""
        url = "" if self.url == after else self.url
        where = [f"{name} {value}" for name, value in (("at", self.stage), ("of", url)) if value]
        return f"{self.message} ({' '.join(where)})" if where else self.message


class UsageError(DomsieveError):
    """An argument is wrong, or arguments contradict each other.

    Parameters
    ----------
    message, context : see `DomsieveError`.
    parameter : name of the wrong parameter in Python, such as ``"has_text"``; the command line replaces it by the
        name of its option.
    """

    def __init__(self, message: str, *, parameter: str | None = None, **context: Any) -> None:
        super().__init__(message, **context)
        self.parameter = parameter


class ParameterError(UsageError):
    """A parameter of a method is unknown or has a wrong value; the message has the valid names or values."""


class TargetError(UsageError):
    """A target is not a URL, a file, a folder or a cached page."""


class UnknownPageError(TargetError):
    """The page is not in the cache."""


class ModelError(UsageError):
    """A site model does not fit the call: it is not fitted, or has other parameters or pages of another producer."""


class UnknownJobError(UsageError):
    """The service has no such job, or the job belongs to another client."""


class KeyConflictError(UsageError):
    """An idempotency key was used before, with another request."""


class UnknownStoreError(UsageError):
    """The service has no such store, or the store belongs to another client."""


class StoreConflictError(UsageError):
    """A store is in use, or the client may have no more stores."""


class PolicyError(DomsieveError):
    """A rule forbids the request.

    Parameters
    ----------
    message, context : see `DomsieveError`.
    reason : the rule.

        - ``"scheme"``, ``"host"``, ``"port"``: the address is not that of a web page.
        - ``"private"``: the address is not public, and has not been allowed.
        - ``"elsewhere"``: only this machine may be reached, and the address is of another one.
        - ``"mixed"``: the name resolves to public and to private addresses, at once or by turns.
        - ``"denied"``, ``"not_allowed"``: a list of hosts forbids it.
        - ``"guard"``: the address is that of our own proxy.
        - ``"robots"``, ``"delay"``: robots.txt disallows the page, or asks for too long a delay.
        - ``"off_site"``: the address is outside the site that is sampled.
        - ``"quota"``: the job has used up its quota.
    """

    def __init__(self, message: str, *, reason: PolicyReason | None = None, **context: Any) -> None:
        super().__init__(message, **context)
        self.reason = reason


class PageError(DomsieveError):
    """The page or its server is at fault.

    Parameters
    ----------
    message, context : see `DomsieveError`.
    reason : what is wrong with the page, None for anything else.

        - ``"status"``: the server answered with HTTP 400 or above.
        - ``"type"``: the content type is not HTML.
        - ``"binary"``: the content is not text.
        - ``"empty"``: the document has no text and no picture.
        - ``"cut"``: loading stopped before any text arrived.
    """

    def __init__(self, message: str, *, reason: FaultReason | None = None, **context: Any) -> None:
        super().__init__(message, **context)
        self.reason = reason


class NavigationError(PageError):
    """No document arrived: refused connection, redirect loop, no response.

    Parameters
    ----------
    message, context : see `DomsieveError`.
    timed_out : the server took too long.
    """

    def __init__(self, message: str, *, timed_out: bool = False, **context: Any) -> None:
        super().__init__(message, **context)
        self.timed_out = timed_out


class ContentError(PageError):
    """The response is not a page that can be analysed: a server error, a download, an image, an empty document."""


class BudgetError(PageError):
    """The analysis of a page exceeded its budget; see `domsieve.AnalysisBudget`.

    Parameters
    ----------
    message, context : see `DomsieveError`.
    resource : the limit that was exceeded, ``"time"`` or ``"memory"``.
    """

    def __init__(self, message: str, *, resource: Literal["time", "memory"] = "time", **context: Any) -> None:
        super().__init__(message, **context)
        self.resource = resource


class BrowserError(DomsieveError):
    """The browser is at fault."""


class BrowserNotFoundError(BrowserError):
    """No usable Chrome was found, or the requested one does not work."""


class BrowserLostError(BrowserError):
    """The browser crashed or stopped responding."""


class BusyError(DomsieveError):
    """The service accepts no more jobs at the moment; try again later.

    Parameters
    ----------
    message, context : see `DomsieveError`.
    reason : ``"queue"``: the queue is full. ``"disk"``, ``"memory"``, ``"load"``: the machine is short of disk space,
        memory or processor time. ``"client"``: this client has reached its limit of jobs.
    """

    def __init__(self, message: str, *, reason: BusyReason = "queue", **context: Any) -> None:
        super().__init__(message, **context)
        self.reason = reason


class QueueFullError(BusyError):
    """The queue is full, or the machine is overloaded."""


class ClientLimitError(BusyError):
    """The client has reached its limit of waiting and running jobs."""


class StorageError(DomsieveError):
    """A file or folder of domsieve cannot be read or written."""


class CacheIndexError(StorageError):
    """The index of a cache is damaged; ``PageStore(root, repair=True)`` rebuilds it from the stored pages."""


class DamagedFileError(StorageError):
    """A file is missing, or its content is not what was written."""


class FormatVersionError(StorageError):
    """A file has a format version that this program cannot read."""


class InvalidSnapshotError(StorageError):
    """Columns do not describe a page; the message names the invalid column."""
