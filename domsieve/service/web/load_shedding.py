"""Rate limits per client, and load shedding when the machine has no room for another job."""

import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from domsieve.renderer.browser.resources import FreeMemory, this_machine
from domsieve.service.jobs.job_values import Strain
from domsieve.service.web.problems import ProblemError

_T = TypeVar("_T")


class Requests:
    """A bucket of tokens for each client: it holds a minute's worth and fills evenly.

    Parameters
    ----------
    per_minute : requests; at least 1.
    clock : seconds that never go back.
    """

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = float(per_minute)
        self._per_s = per_minute / 60
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, client: str) -> None:
        """Count one request. Clients are those of the file of tokens, so the table cannot grow.

        Raises
        ------
        ProblemError : too many; says when the next may come.
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
    """Counts the event streams, or other things, that each client holds open.

    Parameters
    ----------
    most : how many one client may hold.
    what : what a client is told that they are.
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
        ProblemError : the client has as many open as it may.
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
    """A value that is worked out at most once in a while, however many threads ask for it.

    Parameters
    ----------
    make : works it out; what it raises is raised to the one who asked.
    seconds : how long a value holds.
    clock : seconds that never go back.
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
    """Return why there is no room for another job. Called, it costs some 0.1 ms.

    Parameters
    ----------
    free_ratio : share of the memory that has to be free; 0 asks for none.
    load : load average of the last minute per processor, above which there is no room; 0 sets no bound.
    free_memory : returns the share of the memory that is free, without swap; by default that of the machine, or of
        the control group that limits it more.
    load_average : returns the load average per processor; by default that of the machine, since that of a control
        group is not known.
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

    def __call__(self) -> Strain | None:
        """Return why there is no room, None if there is."""
        if self._free_ratio and self._free_memory() < self._free_ratio:
            return Strain(
                "memory",
                f"Less than {self._free_ratio:.0%} of the memory of the service is free; no jobs are accepted now.",
            )
        if self._load and self._load_average() > self._load:
            return Strain(
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
    except OSError:  # the system does not say
        return 0.0
