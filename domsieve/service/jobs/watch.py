"""Watching a worker from outside: how long it is at something, how much memory it holds, and whose job it is.

A worker may hang where nothing inside it can notice: in a regular expression, or in C code that keeps Python's lock.
So the pool looks from its own process, at what the worker said last (see `pulse`) and at ``/proc``.

Time counts by looks: a pause of the pool itself, as of a machine that sleeps, makes nobody late.
"""

import contextlib
import os
import signal
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from domsieve.renderer.browser.machine import family, held_memory
from domsieve.service.jobs.problems import overrun
from domsieve.service.jobs.pulse import Begun, Ended, Line

LOOK_S = 0.25
_LONGEST_GAP_S = 5.0
Reason = Literal["time", "memory"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a worker may use.

    Parameters
    ----------
    silence_s : seconds without a word of its event loop.
    memory_bytes : held by its process, without those that it has started.
    """

    silence_s: float
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Overrun:
    """Why a worker has to end.

    Parameters
    ----------
    reason : what it has too much of.
    problems : why jobs of it fail, by their ids; empty when nobody can tell which of them it was.
    """

    reason: Reason
    problems: Mapping[str, Mapping[str, Any]]


@dataclass(slots=True)
class _Part:
    """A job, or what a thread does for it."""

    begun: Begun
    cpu_s: float  # of the thread, when it began
    age_s: float = 0.0

    @property
    def is_late(self) -> bool:
        return self.age_s > self.begun.limit_s


@dataclass(slots=True)
class Watch:
    """What is known of one worker.

    Parameters
    ----------
    pid : its number.
    limits : see there.
    cpu_of : returns the seconds that a thread of a process has run for, by the numbers of both.
    memory_of : returns the bytes that a process holds.
    """

    pid: int
    limits: Limits
    cpu_of: Callable[[int, int], float] = field(default_factory=lambda: thread_cpu_s)
    memory_of: Callable[[int], int] = field(default_factory=lambda: held_memory)
    _parts: dict[int, _Part] = field(default_factory=dict)
    _silence_s: float = 0.0

    def hear(self, line: Line) -> None:
        """Take note of what the worker said."""
        self._silence_s = 0.0
        if isinstance(line, Begun):
            ran = self.cpu_of(self.pid, line.thread) if line.thread is not None else 0.0
            self._parts[line.number] = _Part(line, ran)
        elif isinstance(line, Ended):
            self._parts.pop(line.number, None)

    def look(self, elapsed_s: float) -> Overrun | None:
        """Return why the worker has to end; None when it may go on.

        Parameters
        ----------
        elapsed_s : since the last look.
        """
        passed = min(elapsed_s, _LONGEST_GAP_S)
        self._silence_s += passed
        for part in self._parts.values():
            part.age_s += passed
        if self.memory_of(self.pid) > self.limits.memory_bytes:
            return self._overrun("memory", self._alone())
        late = [part.begun for part in self._parts.values() if part.is_late]
        if late:
            slowest = min(part.limit_s for part in late)
            return self._overrun("time", self._busiest(slowest) or {part.job for part in late})
        if self._silence_s > self.limits.silence_s:
            return self._overrun("time", self._busiest(self.limits.silence_s) or self._alone())
        return None

    def _overrun(self, reason: Reason, jobs: Collection[str]) -> Overrun:
        return Overrun(reason, {job: overrun(reason) for job in sorted(jobs)})

    def _busiest(self, limit_s: float) -> set[str]:
        """Return the job whose thread has run for most of the time, if one has.

        Where one holds Python's lock, the others of the worker are late without any fault of theirs.
        """
        ran = [
            (self.cpu_of(self.pid, part.begun.thread) - part.cpu_s, part.begun.job)
            for part in self._parts.values()
            if part.begun.thread is not None
        ]
        seconds, busiest = max(ran, default=(0.0, ""))
        return {busiest} if seconds > limit_s / 2 else set()

    def _alone(self) -> set[str]:
        """Return the one job that is in a thread, or else the one job there is; none when it could be several."""
        parts = [part.begun for part in self._parts.values()]
        for jobs in ({part.job for part in parts if part.thread is not None}, {part.job for part in parts}):
            if jobs:
                return jobs if len(jobs) == 1 else set()
        return set()


def thread_cpu_s(pid: int, thread: int) -> float:
    """Return the seconds that a thread of a process has run for; 0 when it has ended or cannot be seen."""
    try:
        text = Path(f"/proc/{pid}/task/{thread}/stat").read_text("ascii", errors="replace")
        user, system = text.rpartition(")")[2].split()[11:13]
    except (OSError, ValueError):
        return 0.0
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def end_family(pid: int) -> None:
    """Kill a process with all that it has started, and what these have."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)  # so that it starts no more
    for number in [*family(pid)][::-1]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
