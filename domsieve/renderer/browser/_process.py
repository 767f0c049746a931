"""A browser process with two pipes and its own folder; it is ended together with all of its child processes."""

import asyncio
import contextlib
import fcntl
import os
import shutil
import signal
import tempfile
import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO

_PREFIX = "domsieve-chrome-"
_LOCK = "domsieve.lock"
_YOUNG_S = 3_600.0  # a guess
# Above the numbers of the browser's own file descriptors.
_FIRST_NUMBER = 10
_WORDS = 20
_LONGEST_WORD = 1_000
_END_LIMIT_S = 10.0
_PIPE_BYTES = 1 << 20


class BrowserProcess:
    """A browser process, which leads its own process group; `start_process` creates it.

    Attributes
    ----------
    pid : process ID, which is also the ID of the group.
    to_browser, from_browser : our ends of the pipes.
    ended : set when the process has ended.
    how : how it ended; empty before.
    """

    def __init__(
        self, pid: int, to_browser: int, from_browser: int, errors: int, profile: Path, lock: int
    ) -> None:
        self.pid = pid
        self.to_browser = _file(to_browser, "wb")
        self.from_browser = _file(from_browser, "rb")
        self.ended = asyncio.Event()
        self.how = ""
        self._profile = profile
        self._lock = lock
        self._cleaning = threading.Lock()
        self._words: deque[str] = deque(maxlen=_WORDS)
        loop = asyncio.get_running_loop()
        self._threads = [
            threading.Thread(target=self._listen, args=(errors,), daemon=True),
            threading.Thread(target=self._wait, args=(loop,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def last_words(self) -> list[str]:
        """Return the last lines of its stderr."""
        return list(self._words)[-3:]

    async def end(self) -> None:
        """Wait for the end of the process group, kill it if necessary, and remove its files."""
        if not self.ended.is_set():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_LIMIT_S):
                await self.ended.wait()
        await asyncio.to_thread(self._clean)

    def _clean(self) -> None:
        for thread in self._threads:
            thread.join(_END_LIMIT_S)
        # Other processes of the group may still write for a moment.
        shutil.rmtree(self._profile, ignore_errors=True)
        # A cancelled call continues in its thread. The descriptor that it closed may belong to another file now.
        with self._cleaning:
            if self._lock >= 0:
                os.close(self._lock)
                self._lock = -1

    def _listen(self, errors: int) -> None:
        with open(errors, encoding="utf-8", errors="replace") as file:
            while line := file.readline(_LONGEST_WORD):
                if line.strip():
                    self._words.append(line.strip())

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        if hasattr(os, "waitid"):
            # Its process ID is not reused before we wait for it.
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        try:
            code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        except ChildProcessError:
            code = 0
        self.how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        with contextlib.suppress(RuntimeError):  # the event loop has ended before
            loop.call_soon_threadsafe(self.ended.set)


def start_process(program: str, flags: Sequence[str]) -> BrowserProcess:
    """Start a browser in its own process group.

    Raises
    ------
    OSError : the program does not exist or may not be run.
    """
    _sweep()
    profile, lock = new_profile()
    ours: list[int] = []
    theirs: list[int] = []
    try:
        for _ in range(3):
            for end, ends in zip(os.pipe(), (theirs, ours), strict=True):
                ends.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _FIRST_NUMBER))
                os.close(end)
        # The browser reads from the first pipe and writes to the others.
        for number in (1, 2):
            ours[number], theirs[number] = theirs[number], ours[number]
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with contextlib.suppress(OSError):
                fcntl.fcntl(ours[1], fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        pid = os.posix_spawn(
            program,
            [program, *flags, f"--user-data-dir={profile}"],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, theirs[2], 2),
                (os.POSIX_SPAWN_DUP2, theirs[0], 3),
                (os.POSIX_SPAWN_DUP2, theirs[1], 4),
            ],
            setpgroup=0,
        )
    except BaseException:
        for end in (*ours, lock):
            os.close(end)
        shutil.rmtree(profile, ignore_errors=True)
        raise
    finally:
        for end in theirs:
            os.close(end)
    return BrowserProcess(pid, ours[0], ours[1], ours[2], profile, lock)


def _file(descriptor: int, mode: str) -> IO[bytes]:
    return os.fdopen(descriptor, mode, buffering=0)


def new_profile() -> tuple[Path, int]:
    """Create a folder; return it with a file descriptor that locks it while it is in use."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return folder, lock


def _sweep() -> None:
    """Remove the folders of processes that ended without removing them."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        # Killed before it had a lock. Those of processes that start now are young.
        with contextlib.suppress(OSError):  # not empty
            if time.time() - folder.stat().st_mtime > _YOUNG_S:
                folder.rmdir()
    for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        with contextlib.suppress(OSError):  # in use, or owned by another user
            descriptor = os.open(lock, os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent, ignore_errors=True)
            finally:
                os.close(descriptor)
