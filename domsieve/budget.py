"""Limits on the processor time and memory that the analysis of one page may use.

Work runs inside `Meter.running` (or `spending`, which reuses the meter of the current page or starts one), and long
loops call `check`. A page that exceeds its budget fails with a `BudgetError`; other pages are not affected.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

from domsieve.errors import BudgetError, UsageError

# A guess: small sites have one budget, and large ones do not fail for their size.
_PAGES_PER_BUDGET = 100
_STATM = Path("/proc/self/statm")
_BYTES_PER_UNIT = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisBudget:
    """Processor time and memory that the analysis of one page may use, from parsing to writing its results.

    A budget never changes a result: a page gives either the same result or an error. Both limits are checked between
    steps, so a single step may briefly exceed them.

    Parameters
    ----------
    time : processor time of the thread that works on the page, so a busy machine makes no difference. Learning a
        site has one such budget per batch of pages, and one per 100 pages for steps over the whole site.
    memory_bytes : by how many bytes the process may grow during the analysis; memory that other threads allocate
        counts as well. Not enforced on systems without ``/proc``.

    Raises
    ------
    UsageError : `time` or `memory_bytes` is not positive.
    """

    time: timedelta = timedelta(seconds=300)
    memory_bytes: int = 4_000_000_000

    def __post_init__(self) -> None:
        if self.time <= timedelta() or self.memory_bytes <= 0:
            raise UsageError("The time and the memory of an analysis budget must be greater than 0.")


# 300 s and 4 GB were chosen by hand: far above what ordinary pages need, low enough for a server.
DEFAULT_BUDGET = AnalysisBudget()
"""The default budget, far above what ordinary pages need."""


class Gauge:
    """Reads the clocks and the memory of the process; tests pass one that they set by hand.

    Attributes
    ----------
    pause_s : seconds between two measurements, so that `check` costs almost nothing in a loop.
    """

    pause_s = 0.02

    def now_s(self) -> float:
        """Return the seconds on a clock that never goes back, for measuring pauses."""
        return time.monotonic()

    def spent_s(self) -> float:
        """Return the processor time of this thread, in seconds."""
        return time.thread_time()

    def held_bytes(self) -> int:
        """Return the resident memory of this process in bytes, 0 on systems without ``/proc``."""
        try:
            with _STATM.open("rb", buffering=0) as file:
                return int(file.read().split()[1]) * _BYTES_PER_UNIT
        except OSError:
            return 0


_GAUGE = Gauge()
_allowed: ContextVar["_Allowed"] = ContextVar("allowed")
_work: ContextVar["_Work | None"] = ContextVar("work", default=None)


@dataclass(frozen=True, slots=True)
class _Allowed:
    """What `budgeted` sets for new meters."""

    budget: AnalysisBudget = DEFAULT_BUDGET
    gauge: Gauge = _GAUGE
    stopped: threading.Event | None = None


@contextmanager
def budgeted(
    budget: AnalysisBudget | None, *, gauge: Gauge = _GAUGE, stopped: threading.Event | None = None
) -> Iterator[None]:
    """Set the budget of every `Meter` that is created inside this ``with`` block.

    Parameters
    ----------
    budget : the limits per page; None is the default, `DEFAULT_BUDGET`.
    gauge : what measures time and memory.
    stopped : once it is set, work that checks its budget raises `asyncio.CancelledError`; None for work that nobody
        cancels.
    """
    token = _allowed.set(_Allowed(budget or DEFAULT_BUDGET, gauge, stopped))
    try:
        yield
    finally:
        _allowed.reset(token)


class Meter:
    """Counts the time and memory that the analysis of one page uses.

    The budget is that of the enclosing `budgeted` block, otherwise the default.

    Parameters
    ----------
    url : address of the page, for error messages.
    budgets : how often the time of the budget may be used, for work on many pages.
    """

    __slots__ = ("_budget", "_gauge", "_limit_s", "_spent_s", "_stopped", "url")

    def __init__(self, url: str = "", *, budgets: int = 1) -> None:
        self.url = url
        allowed = _allowed.get(_Allowed())
        self._budget, self._gauge, self._stopped = allowed.budget, allowed.gauge, allowed.stopped
        self._limit_s = self._budget.time.total_seconds() * budgets
        self._spent_s = 0.0

    @contextmanager
    def running(self, stage: str) -> Iterator[None]:
        """Charge the work of this ``with`` block to the page.

        Inside the block of another meter, that meter alone is charged.

        Parameters
        ----------
        stage : name of the work, for error messages: ``"clean"``, ``"learn"``.

        Raises
        ------
        BudgetError : the page has exceeded its budget.
        """
        if _work.get() is None:
            with self._counted(stage):
                yield
        else:
            check()
            yield

    @contextmanager
    def _counted(self, stage: str) -> Iterator[None]:
        work = _Work(self, stage)
        token = _work.set(work)
        try:
            work.look()
            yield
            work.look()
        except MemoryError as error:
            raise work.error("memory", "more memory than the system has") from error
        finally:
            _work.reset(token)
            self._spent_s = work.spent_s


def spending(stage: str, url: str = "") -> AbstractContextManager[None]:
    """Return a context manager that charges its block to the meter of the current page, or to a new meter.

    Parameters
    ----------
    stage : name of the work, for error messages.
    url : address of the page, for error messages of a new meter.
    """
    return Meter(url).running(stage)


@contextmanager
def spending_on_site(stage: str, *, pages: int) -> Iterator[None]:
    """Charge a ``with`` block to a meter of its own instead of the current page, for work on a whole site.

    Parameters
    ----------
    stage : name of the work, for error messages.
    pages : number of pages of the site; every 100 started pages have the time of one budget.

    Raises
    ------
    BudgetError : the work has exceeded its budget.
    """
    outer = _work.get()
    token = _work.set(None)
    before_s = outer.meter_s() if outer else 0.0
    try:
        with Meter(budgets=1 + pages // _PAGES_PER_BUDGET).running(stage):
            yield
    finally:
        _work.reset(token)
        if outer:
            outer.leave_out(outer.meter_s() - before_s)


def check() -> None:
    """Raise if the current page has exceeded its budget; takes 0.2 µs, so call it in every long loop.

    Raises
    ------
    BudgetError : the page has exceeded its budget.
    """
    work = _work.get()
    if work is not None:
        work.look_now_and_then()


class _Work:
    """The current block of work of a `Meter`."""

    __slots__ = ("_begun_s", "_gauge", "_held_bytes", "_looked_s", "_meter", "_stage")

    def __init__(self, meter: Meter, stage: str) -> None:
        self._meter, self._stage, self._gauge = meter, stage, meter._gauge
        self._begun_s = self._gauge.spent_s() - meter._spent_s
        self._held_bytes = self._gauge.held_bytes()
        self._looked_s = self._gauge.now_s()

    @property
    def spent_s(self) -> float:
        """Seconds of processor time that the page has used so far."""
        return self._gauge.spent_s() - self._begun_s

    def meter_s(self) -> float:
        """Return the current reading of the processor clock, in seconds."""
        return self._gauge.spent_s()

    def leave_out(self, seconds: float) -> None:
        """Do not charge `seconds` to the page."""
        self._begun_s += seconds

    def look_now_and_then(self) -> None:
        now_s = self._gauge.now_s()
        if now_s - self._looked_s >= self._gauge.pause_s:
            self._looked_s = now_s
            self.look()

    def look(self) -> None:
        """Measure time and memory and raise `BudgetError` if one is above its limit; end cancelled work."""
        if self._meter._stopped and self._meter._stopped.is_set():
            from asyncio import CancelledError  # imported late: only the service cancels work

            raise CancelledError
        if self.spent_s > self._meter._limit_s:
            raise self.error("time", f"more than {self._meter._limit_s:g} s of processor time")
        limit = self._meter._budget.memory_bytes
        if self._gauge.held_bytes() - self._held_bytes > limit:
            raise self.error("memory", f"more than {limit / 1e6:,.0f} MB of memory")

    def error(self, resource: Literal["time", "memory"], what: str) -> BudgetError:
        """Return the error of a page that took `what`, such as ``"more than 10 s of processor time"``."""
        return BudgetError(
            f"The analysis of the page took {what} and was stopped.",
            resource=resource,
            url=self._meter.url or None,
            stage=self._stage,
            elapsed=timedelta(seconds=self.spent_s),
        )
