"""Rate limits per client, and load shedding when the machine is too busy for another job."""

import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from domsieve.renderer.browser.resources import FreeMemory, this_machine
from domsieve.service.jobs.job_values import Overload
from domsieve.service.web.problems import ProblemError

_T = TypeVar("_T")


class Requests:
    """A token bucket for each client, with the capacity of one minute.

    Parameters
    ----------
    per_minute : number of requests, at least 1.
    clock : returns seconds that never decrease.
    """

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = float(per_minute)
        self._per_s = per_minute / 60
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, client: str) -> None:
        """Count one request. Clients come from the token file, so the table cannot grow.

        Raises
        ------
        ProblemError : too many requests; the error says when to try again.
        """
        now = self._clock()
        left, since = self._left.get(client, (self._size, now))
        left = min(self._size, left + (now - since) * self._per_s)
        if left < 1:
            self._left[client] = (left, now)
            wait = max(1, math.ceil((1 - left) / self._per_s))
            raise ProblemError(429, f"Too many requests; the next one may come in {wait} s.", retry_s=wait)
        self._left[client] = (left - 1, now)


class Streams:
    """Counts the open event streams, or downloads, of each client.

    Parameters
    ----------
    most : maximum number for one client.
    what : the name of the streams in messages.
    """

    def __init__(self, most: int, *, what: str = "event streams") -> None:
        self._most = most
        self._what = what
        self._open: dict[str, int] = {}

    def __len__(self) -> int:
        return sum(self._open.values())

    @contextmanager
    def one(self, client: str) -> Iterator[None]:
        """Count a stream while the block runs.

        Raises
        ------
        ProblemError : the client has reached its limit.
        """
        held = self._open.get(client, 0)
        if held >= self._most:
            raise ProblemError(
                429, f"{held} {self._what} are open, the most that one client may have.", retry_s=5
            )
        self._open[client] = held + 1
        try:
            yield
        finally:
            self._open[client] -= 1


class Held(Generic[_T]):
    """A value that is computed again only after some time, even if many threads ask for it.

    Parameters
    ----------
    make : computes the value; its errors are raised to the caller.
    seconds : how long a value is reused.
    clock : returns seconds that never decrease.
    """

    def __init__(
        self, make: Callable[[], _T], *, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._make = make
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._held: tuple[float, _T] | None = None

    def __call__(self) -> _T:
        """Return the value."""
        with self._lock:
            if self._held is None or self._clock() - self._held[0] >= self._seconds:
                self._held = self._clock(), self._make()
            return self._held[1]


class LoadShedding:
    """Decides whether the machine is too busy for another job. A call takes about 0.1 ms.

    Parameters
    ----------
    free_ratio : share of the memory that must be free; 0 for no limit.
    load : maximum load average of the last minute per processor; 0 for no limit.
    free_memory : returns the share of free memory, without swap; None measures the machine or its control group.
    load_average : returns the load average per processor; None measures the machine, because control groups have
        none.
    """

    def __init__(
        self,
        *,
        free_ratio: float,
        load: float,
        free_memory: Callable[[], float] | None = None,
        load_average: Callable[[], float] | None = None,
    ) -> None:
        self._free_ratio = free_ratio
        self._load = load
        self._free_memory = free_memory or _free_memory()
        self._load_average = load_average or _load_average

    def __call__(self) -> Overload | None:
        """Return why the machine is too busy; None if it is not."""
        if self._free_ratio and self._free_memory() < self._free_ratio:
            return Overload(
                "memory",
                f"Less than {self._free_ratio:.0%} of the memory of the service is free; no jobs are accepted now.",
            )
        if self._load and self._load_average() > self._load:
            return Overload(
                "load",
                f"The load of the service is above {self._load:g} per processor; no jobs are accepted now.",
            )
        return None


def _free_memory() -> Callable[[], float]:
    free, whole = FreeMemory(swap=False), this_machine().memory_bytes
    return lambda: free() / whole


def _load_average() -> float:
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except OSError:  # not available on this system
        return 0.0
