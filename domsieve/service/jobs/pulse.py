"""What a worker tells the pool while it works, so that one that hangs is seen from outside.

Before a job and before each of its calls in a thread the worker writes a line, and another one behind it. A line that
was written holds even when the worker then hangs with Python's lock in its hands, and neither the disk nor the event
loop has a part in it. From the loop comes a beat, again and again.

Imports nothing of the project.
"""

import contextlib
import itertools
import os
import threading
from collections.abc import Iterator

import msgspec

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
