"""Heartbeats of workers, and the watchdog that sees from outside that a worker hangs or uses too much memory."""

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


class Begun(msgspec.Struct, frozen=True, tag=True):
    """Something has begun.

    Parameters
    ----------
    number : unique in the worker.
    job : id of the job that it is part of.
    limit_s : seconds that it may take.
    thread : the system's number of the thread that does it; None for the job as a whole.
    """

    number: int
    job: str
    limit_s: float
    thread: int | None


class Ended(msgspec.Struct, frozen=True, tag=True):
    """What had begun under this number has ended."""

    number: int


class Beat(msgspec.Struct, frozen=True, tag=True):
    """The event loop of the worker turns."""


Line = Begun | Ended | Beat
_decoder: "msgspec.json.Decoder[Line]" = msgspec.json.Decoder(Line)


def read_line(line: bytes) -> Line:
    """Return what a line says.

    Raises
    ------
    msgspec.DecodeError : it is none.
    """
    return _decoder.decode(line)


class Pulse:
    """The worker's end. Threads may share it.

    Parameters
    ----------
    pipe : descriptor that lines are written to; None where nobody listens.
    """

    def __init__(self, pipe: int | None = None) -> None:
        self._pipe = pipe
        self._numbers = itertools.count(1)

    def beat(self) -> None:
        """Say that the event loop turns."""
        self._tell(Beat())

    @contextlib.contextmanager
    def job(self, job: str, *, limit_s: float) -> Iterator[None]:
        """Tell of a job while the block runs."""
        with self._reported(Begun(next(self._numbers), job, limit_s, None)):
            yield

    @contextlib.contextmanager
    def step(self, job: str, *, limit_s: float) -> Iterator[None]:
        """Tell of a part of a job that this thread does, while the block runs."""
        with self._reported(Begun(next(self._numbers), job, limit_s, threading.get_native_id())):
            yield

    @contextlib.contextmanager
    def _reported(self, begun: Begun) -> Iterator[None]:
        self._tell(begun)
        try:
            yield
        finally:
            self._tell(Ended(begun.number))

    def _tell(self, line: Line) -> None:
        if self._pipe is not None:
            # Shorter than what a pipe takes in one piece, so lines of several threads do not mix. Without a service
            # nobody reads, and the worker is about to end.
            with contextlib.suppress(BrokenPipeError):
                os.write(self._pipe, msgspec.json.encode(line) + b"\n")


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
