"""Heartbeats of workers, and the watchdog in the pool that notices workers that hang or use too much memory."""

import contextlib
import itertools
import os
import signal
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from domsieve.renderer.browser.resources import family, held_memory
from domsieve.service.jobs.job_values import overrun

BEAT_S = 1.0
"""Seconds between two heartbeats of the event loop of a worker. A guess."""


class Begun(msgspec.Struct, frozen=True, tag=True):
    """A job, or a part of one that runs in a thread, has begun.

    Parameters
    ----------
    number : unique within the worker.
    job : the id of the job.
    limit_s : the time limit in seconds.
    thread : the native id of the thread; None for a whole job.
    """

    number: int
    job: str
    limit_s: float
    thread: int | None


class Ended(msgspec.Struct, frozen=True, tag=True):
    """The job or part with this number has ended."""

    number: int


class Beat(msgspec.Struct, frozen=True, tag=True):
    """The event loop of the worker is running."""


Line = Begun | Ended | Beat
_decoder: "msgspec.json.Decoder[Line]" = msgspec.json.Decoder(Line)


def read_line(line: bytes) -> Line:
    """Parse a line that a worker wrote.

    Raises
    ------
    msgspec.DecodeError : the line is not valid.
    """
    return _decoder.decode(line)


class HeartbeatWriter:
    """Writes the heartbeat of a worker. Threads may share it.

    Parameters
    ----------
    pipe : the file descriptor to write to; None writes nothing.
    """

    def __init__(self, pipe: int | None = None) -> None:
        self._pipe = pipe
        self._numbers = itertools.count(1)

    def beat(self) -> None:
        """Report that the event loop is running."""
        self._write(Beat())

    @contextlib.contextmanager
    def job(self, job: str, *, limit_s: float) -> Iterator[None]:
        """Report a job for the duration of the block."""
        with self._reported(Begun(next(self._numbers), job, limit_s, None)):
            yield

    @contextlib.contextmanager
    def step(self, job: str, *, limit_s: float) -> Iterator[None]:
        """Report a part of a job that runs in this thread, for the duration of the block."""
        with self._reported(Begun(next(self._numbers), job, limit_s, threading.get_native_id())):
            yield

    @contextlib.contextmanager
    def _reported(self, begun: Begun) -> Iterator[None]:
        self._write(begun)
        try:
            yield
        finally:
            self._write(Ended(begun.number))

    def _write(self, line: Line) -> None:
        if self._pipe is not None:
            # Lines are shorter than PIPE_BUF, so those of several threads do not mix. The pipe breaks when the
            # service ends; the worker is then about to end as well.
            with contextlib.suppress(BrokenPipeError):
                os.write(self._pipe, msgspec.json.encode(line) + b"\n")


LOOK_S = 0.25
"""Seconds between two checks of a worker by the pool. A guess."""
# A longer time between two checks counts as this long, because the machine was probably suspended. A guess.
_LONGEST_GAP_S = 5.0
Reason = Literal["time", "memory"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a worker.

    Parameters
    ----------
    silence_s : the maximum time without a line from the worker, in seconds.
    memory_bytes : the maximum memory of its process, without its child processes.
    """

    silence_s: float
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class LimitExceeded:
    """A limit that a worker exceeded, so that it must be killed.

    Parameters
    ----------
    reason : the limit.
    problems : the problems of the jobs that caused it, by job id; empty if it is not clear which job it was.
    """

    reason: Reason
    problems: Mapping[str, Mapping[str, Any]]


@dataclass(slots=True)
class _Part:
    """A running job, or a part of one in a thread."""

    begun: Begun
    cpu_s: float  # processor time of the thread when the part began
    age_s: float = 0.0

    @property
    def is_late(self) -> bool:
        return self.age_s > self.begun.limit_s


@dataclass(slots=True)
class Watchdog:
    """The watchdog of one worker.

    Parameters
    ----------
    pid : the process id of the worker.
    limits : the limits of the worker.
    cpu_of : returns the processor time of a thread in seconds, given process id and native thread id.
    memory_of : returns the memory of a process in bytes, given its id.
    """

    pid: int
    limits: Limits
    cpu_of: Callable[[int, int], float] = field(default_factory=lambda: thread_cpu_s)
    memory_of: Callable[[int], int] = field(default_factory=lambda: held_memory)
    _parts: dict[int, _Part] = field(default_factory=dict)
    _silence_s: float = 0.0

    def hear(self, line: Line) -> None:
        """Record a line from the worker."""
        self._silence_s = 0.0
        if isinstance(line, Begun):
            ran = self.cpu_of(self.pid, line.thread) if line.thread is not None else 0.0
            self._parts[line.number] = _Part(line, ran)
        elif isinstance(line, Ended):
            self._parts.pop(line.number, None)

    def look(self, elapsed_s: float) -> LimitExceeded | None:
        """Check the limits; return the one that the worker exceeded, None if it is within all of them.

        Parameters
        ----------
        elapsed_s : seconds since the last check.
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

    def _overrun(self, reason: Reason, jobs: Collection[str]) -> LimitExceeded:
        return LimitExceeded(reason, {job: overrun(reason) for job in sorted(jobs)})

    def _busiest(self, limit_s: float) -> set[str]:
        """Return the job whose thread used the most processor time, if that is more than half of the limit.

        A thread that holds the GIL makes the other jobs of the worker late through no fault of their own.
        """
        ran = [
            (self.cpu_of(self.pid, part.begun.thread) - part.cpu_s, part.begun.job)
            for part in self._parts.values()
            if part.begun.thread is not None
        ]
        seconds, busiest = max(ran, default=(0.0, ""))
        return {busiest} if seconds > limit_s / 2 else set()

    def _alone(self) -> set[str]:
        """Return the only job that runs in a thread, else the only job; an empty set if there are several."""
        parts = [part.begun for part in self._parts.values()]
        for jobs in ({part.job for part in parts if part.thread is not None}, {part.job for part in parts}):
            if jobs:
                return jobs if len(jobs) == 1 else set()
        return set()


def thread_cpu_s(pid: int, thread: int) -> float:
    """Return the processor time of a thread in seconds; 0 if it has ended or cannot be read."""
    try:
        text = Path(f"/proc/{pid}/task/{thread}/stat").read_text("ascii", errors="replace")
        user, system = text.rpartition(")")[2].split()[11:13]
    except (OSError, ValueError):
        return 0.0
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def end_family(pid: int) -> None:
    """Kill a process and all of its descendants."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)  # keep it from starting more processes
    for number in [*family(pid)][::-1]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
