"""The gateway from routes to the job store: call it in threads, wait for jobs, and convert its errors."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import ParamSpec, TypeVar

from domsieve.errors import (
    BusyError,
    BusyReason,
    ClientLimitError,
    KeyConflictError,
    StoreConflictError,
    UnknownJobError,
    UnknownStoreError,
)
from domsieve.service.jobs.job_request import JobRequest
from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.job_values import Job, Overload, QueueLimits
from domsieve.service.web.load_shedding import Streams
from domsieve.service.web.problems import ProblemError
from domsieve.service.web.settings import Settings

_P = ParamSpec("_P")
_T = TypeVar("_T")
_QUEUE_RETRY_S = 5
# Memory and load change slowly.
_STRAIN_RETRY_S = 30
_POLL_S = (0.02, 0.2)


class Gateway:
    """Gives routes access to the job store.

    Parameters
    ----------
    settings : the settings of the service.
    store : the jobs.
    version : returns a value that changes whenever any process writes to the store; cheap enough to poll.
    overload : returns why the machine is too busy for another job; None if it is not.

    Attributes
    ----------
    refused : number of jobs refused since the start, by reason.
    """

    def __init__(
        self,
        settings: Settings,
        store: JobStore,
        *,
        version: Callable[[], object],
        overload: Callable[[], Overload | None] = lambda: None,
    ) -> None:
        self.settings = settings
        self.store = store
        self.streams = Streams(settings.streams)
        self.downloads = Streams(settings.downloads, what="downloads")
        self.refused: Counter[BusyReason] = Counter()
        self._version = version
        self._overload = overload
        self._limits = QueueLimits(
            queued=settings.queue,
            per_client=settings.client_queue,
            stores=settings.stores,
            free_bytes=settings.free_bytes,
        )
        self.is_stopping = False

    def stop(self) -> None:
        """End the waiting of all requests, because the service stops."""
        self.is_stopping = True

    async def add(self, request: JobRequest, *, client: str, key: str | None) -> Job:
        """Return the job of a request: a new one, or the existing one with the same idempotency key.

        Raises
        ------
        ProblemError : too many jobs are waiting, the machine is too busy, the key was used for another request, or
            the store of the request cannot be used.
        """

        def added() -> Job:
            limits = replace(self._limits, overload=self._overload())
            return self.store.add(request, client=client, key=key, limits=limits)[0]

        with refusals():
            try:
                return await asyncio.to_thread(added)
            except BusyError as error:
                self.refused[error.reason] += 1
                raise

    async def ask(self, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Call a method of the store without blocking other requests.

        Raises
        ------
        ProblemError : this client has no such job.
        """
        with refusals():
            return await asyncio.to_thread(call, *args, **kwargs)

    async def ended(self, job: Job, *, seconds: float, is_gone: Callable[[], Awaitable[bool]]) -> Job | None:
        """Wait for a job; return it when it has ended or the time is up, or None if the client is gone."""
        until = time.monotonic() + seconds
        while True:
            seen = self._version()
            job = await self.ask(self.store.get, job.id, job.client)
            left = until - time.monotonic()
            if job.has_ended or left <= 0 or self.is_stopping:
                return job
            if await is_gone():
                return None
            await self.change(seen, seconds=min(left, 1.0))

    def now(self) -> object:
        """Return the version of the store; get it before you read."""
        return self._version()

    async def change(self, seen: object, *, seconds: float) -> bool:
        """Wait until the version of the store differs from `seen`; return False if the time is up first."""
        until, pause = time.monotonic() + seconds, _POLL_S[0]
        while self._version() == seen:
            left = until - time.monotonic()
            if left <= 0 or self.is_stopping:
                return False
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 1.3, _POLL_S[1])
        return True


@contextmanager
def refusals() -> Iterator[None]:
    """Convert errors of the store to problem responses."""
    try:
        yield
    except UnknownJobError as error:
        raise ProblemError(404, "There is no such job or file.") from error
    except UnknownStoreError as error:
        raise ProblemError(404, error.message) from error
    except ClientLimitError as error:
        raise ProblemError(429, error.message, retry_s=_QUEUE_RETRY_S) from error
    except BusyError as error:
        retry_s = _STRAIN_RETRY_S if error.reason in {"memory", "load"} else _QUEUE_RETRY_S
        raise ProblemError(503, error.message, fault="service", retry_s=retry_s) from error
    except (KeyConflictError, StoreConflictError) as error:
        raise ProblemError(409, error.message) from error
