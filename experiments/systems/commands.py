"""Extractors that are commands: HTML on standard input, text on standard output, a process for each page."""

import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from domsieve.errors import UsageError
from experiments.systems.peers import Extracted

TIME_LIMIT = timedelta(seconds=30)
"""How long a command may take for a page: far above what extractors need, start of the process included."""


def command_words(command: str) -> tuple[str, ...]:
    """Return the words of a command, as a shell parts them.

    Raises
    ------
    UsageError : the command is empty or has an open quote, or its program is not there.
    """
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(f"'{command}' is no command: {error}.", parameter="extractor") from error
    if not words or shutil.which(words[0]) is None:
        program = words[0] if words else ""
        raise UsageError(f"There is no program '{program}'.", parameter="extractor")
    return words


def extract_with(words: Sequence[str], source: bytes, *, limit: timedelta = TIME_LIMIT) -> Extracted:
    """Return what a command makes of a page; an exit code other than 0 is a failure.

    Parameters
    ----------
    words : the program and its arguments.
    source : the HTML.
    limit : the command and its children are killed after this time.
    """
    start = time.perf_counter()
    output, late = b"", False
    with (
        _ended_when_interrupted() as running,
        subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a group of its own, so that its children end with it
        ) as process,
    ):
        running(process)
        try:
            output, _ = process.communicate(source, timeout=limit.total_seconds())
        except subprocess.TimeoutExpired:
            late = True
        finally:
            _kill(process)
    failed = late or process.returncode != 0
    text = "" if failed else output.decode("utf-8", "replace")
    return Extracted(text, failed, time.perf_counter() - start, late=late)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    if process.returncode is not None:
        return
    if os.name == "posix":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


@contextmanager
def _ended_when_interrupted() -> "Iterator[Callable[[subprocess.Popen[bytes]], None]]":
    """Let an interrupt kill the command before this process; give what is told the process once it runs.

    An interrupt would otherwise leave a command that hangs, since it is in another group.
    """
    processes: list[subprocess.Popen[bytes]] = []
    interrupted = False

    def interrupt(*_: object) -> None:
        nonlocal interrupted
        interrupted = True
        for process in processes:
            _kill(process)

    def running(process: "subprocess.Popen[bytes]") -> None:
        processes.append(process)
        if interrupted:
            _kill(process)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield running
    finally:
        signal.signal(signal.SIGINT, before)
        if interrupted:
            signal.raise_signal(signal.SIGINT)
