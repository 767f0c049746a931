"""How often one client may ask, and how many streams it may hold; what is not worked out anew for each who asks.

Clocks are given, so tests need not wait.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

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
