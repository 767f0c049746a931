"""What the analysis of one page may cost, and the meter that all work on the page runs by.

Work is done inside `Meter.running`; what takes long calls `check` as it goes. A page that has used its budget ends
as a `BudgetError`, and other pages go on. Where no meter runs yet, `spending` starts one, so that no page is read
without a budget. Imports the errors of the project.
"""

import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from domsieve.errors import BudgetError, UsageError

_PAGES_PER_BUDGET = 100
_STATM = Path("/proc/self/statm")
_BYTES_PER_UNIT = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisBudget:
    """What the analysis of one page may cost, from reading its source to writing its results.

    Results do not depend on it: a page gives the same result, or an error.

    Parameters
    ----------
    time : processor time of the thread that works on the page, so that a busy machine changes nothing. A batch of
        pages that a site is learned from has as much, and what is derived from a whole site as much per 100 pages.
    memory_bytes : by how much the process may grow meanwhile; what other threads take counts too. Without ``/proc``
        it is not kept. A single step may pass both for as long as it takes.
    """

    time: timedelta = timedelta(seconds=300)
    memory_bytes: int = 4_000_000_000

    def __post_init__(self) -> None:
        if self.time <= timedelta() or self.memory_bytes <= 0:
            raise UsageError("A budget must allow something: give positive amounts.")


USUAL = AnalysisBudget()
"""What no honest page meets."""


class Gauge:
    """Reads time and memory; another one can be moved by hand, so that nothing need be waited for.

    Attributes
    ----------
    pause_s : seconds between two looks, so that a check in a loop costs next to nothing.
    """

    pause_s = 0.02

    def now_s(self) -> float:
        """Return the seconds that pauses are measured by."""
        return time.monotonic()

    def spent_s(self) -> float:
        """Return the seconds of processor time that this thread has had."""
        return time.thread_time()

    def held_bytes(self) -> int:
        """Return the memory that this process holds, 0 where it cannot be seen."""
        try:
            with _STATM.open("rb", buffering=0) as file:
                return int(file.read().split()[1]) * _BYTES_PER_UNIT
        except OSError:
            return 0


_GAUGE = Gauge()
_allowed: ContextVar[tuple[AnalysisBudget, Gauge]] = ContextVar("allowed")
_work: ContextVar["_Work | None"] = ContextVar("work", default=None)


@contextmanager
def budgeted(budget: AnalysisBudget | None, *, gauge: Gauge = _GAUGE) -> Iterator[None]:
    """Give every page whose meter is made in this block a budget; None is the usual one."""
    token = _allowed.set((budget or USUAL, gauge))
    try:
        yield
    finally:
        _allowed.reset(token)


class Meter:
    """What the analysis of a page has cost so far; its budget is that of the block in which it is made.

    Parameters
    ----------
    url : the page, for messages.
    budgets : how many budgets it has.
    """

    __slots__ = ("_budget", "_gauge", "_limit_s", "_spent_s", "url")

    def __init__(self, url: str = "", *, budgets: int = 1) -> None:
        self.url = url
        self._budget, self._gauge = _allowed.get((USUAL, _GAUGE))
        self._limit_s = self._budget.time.total_seconds() * budgets
        self._spent_s = 0.0

    @contextmanager
    def running(self, stage: str) -> Iterator[None]:
        """Count what is done in this block; what is part of the work on another page or site counts there alone.

        Parameters
        ----------
        stage : what is done, for messages: ``"clean"``, ``"learn"``.

        Raises
        ------
        BudgetError : the page has used its budget.
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
            raise work.error("memory", "more memory than there is") from error
        finally:
            _work.reset(token)
            self._spent_s = work.spent_s


def spending(stage: str, url: str = "") -> AbstractContextManager[None]:
    """Return a block that runs by the meter of the page at hand, by one of its own where there is none."""
    return Meter(url).running(stage)


@contextmanager
def spending_on_site(stage: str, *, pages: int) -> Iterator[None]:
    """Run a block by a meter of its own, which has a budget for every 100 of the pages that it is about.

    The page at hand, if there is one, does not pay for it.
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
    """Do nothing while the page at hand is within its budget; 0.2 µs, but a look at the clock now and then.

    Raises
    ------
    BudgetError : it has used its budget.
    """
    work = _work.get()
    if work is not None:
        work.look_now_and_then()


class _Work:
    """Work on a page under way."""

    __slots__ = ("_begun_s", "_gauge", "_held_bytes", "_looked_s", "_meter", "_stage")

    def __init__(self, meter: Meter, stage: str) -> None:
        self._meter, self._stage, self._gauge = meter, stage, meter._gauge
        self._begun_s = self._gauge.spent_s() - meter._spent_s
        self._held_bytes = self._gauge.held_bytes()
        self._looked_s = self._gauge.now_s()

    @property
    def spent_s(self) -> float:
        """Seconds that the page has cost so far."""
        return self._gauge.spent_s() - self._begun_s

    def meter_s(self) -> float:
        """Return what the clock of the work shows."""
        return self._gauge.spent_s()

    def leave_out(self, seconds: float) -> None:
        """Do not count some seconds."""
        self._begun_s += seconds

    def look_now_and_then(self) -> None:
        now_s = self._gauge.now_s()
        if now_s - self._looked_s >= self._gauge.pause_s:
            self._looked_s = now_s
            self.look()

    def look(self) -> None:
        """Refuse to go on when the budget is used."""
        if self.spent_s > self._meter._limit_s:
            raise self.error("time", f"more than {self._meter._limit_s:g} s of processor time")
        most = self._meter._budget.memory_bytes
        if self._gauge.held_bytes() - self._held_bytes > most:
            raise self.error("memory", f"more than {most / 1e6:,.0f} MB of memory")

    def error(self, resource: str, what: str) -> BudgetError:
        """Return what is raised when a budget is used."""
        return BudgetError(
            f"Its analysis took {what}, and was given up.",
            resource="memory" if resource == "memory" else "time",
            url=self._meter.url or None,
            stage=self._stage,
            elapsed=timedelta(seconds=self.spent_s),
        )
