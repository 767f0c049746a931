"""The pool of worker processes: starts, watches, restarts and stops them.

The jobs of a dead worker return to the queue at once. If workers keep dying, each restart waits longer than the last.
A worker that exceeds its time or memory limit is killed together with its browser, and the job that caused it fails.
"""

import asyncio
import contextlib
import fcntl
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import msgspec

import domsieve
from domsieve.errors import DomsieveError, StorageError
from domsieve.service._logs import log
from domsieve.service.jobs._heartbeat import LOOK_S, LimitExceeded, Limits, Watchdog, end_family, read_line
from domsieve.service.jobs._result_files import RESULTS
from domsieve.service.jobs.captures import CACHE
from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.work_queue import NO_PROBLEMS, WorkQueue
from domsieve.service.jobs.worker import WorkerSettings

_FIRST_WAIT_S = 0.1
_LONGEST_WAIT_S = 10.0
# All waits are guesses. A worker that lived this long resets the wait before the next restart.
_STEADY_S = 30.0
_KILL_AFTER_S = 10.0
# Pause before trying again to take back the jobs of a dead worker.
_AGAIN_S = 1.0
_OTHERS = 0o077  # permission bits of other accounts


class WorkerPool:
    """A pool of worker processes; use it as an asynchronous context manager.

    Parameters
    ----------
    settings : the settings that each worker gets.
    database : the database of the jobs, in the folder of the settings. Its changes wake the workers.
    workers : the number of processes.
    clock : a monotonic clock in seconds, by which the time limits of workers are measured.

    Attributes
    ----------
    restarts : the number of workers that died.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        database: Database,
        *,
        workers: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.restarts = 0
        self._settings = settings
        self._database = database
        self._queue = WorkQueue(database)
        self._count = workers
        self._clock = clock
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._slots: list[asyncio.Task[None]] = []
        self._ending = asyncio.Event()

    async def __aenter__(self) -> Self:
        # Only one service owns the folder, so all earlier workers are dead or about to end.
        taken = await asyncio.to_thread(self._queue.take_back)
        if taken:
            log("jobs_taken_back", jobs=taken)
        # Only now no earlier worker can finish a job, so files that no row names are leftovers.
        if left := await asyncio.to_thread(JobStore(self._database).sweep, alone=True):
            log("results_swept", files=left)
        loop = asyncio.get_running_loop()

        def notify() -> None:
            loop.call_soon_threadsafe(self._nudge)

        self._database.on_news = notify
        self._slots = [asyncio.create_task(self._slot()) for _ in range(self._count)]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.on_news = None
        self._ending.set()
        for process in self._processes.values():
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        waiting = [asyncio.create_task(process.wait()) for process in self._processes.values()]
        if waiting:
            await asyncio.wait(waiting, timeout=self._settings.grace_s + _KILL_AFTER_S)
        for process in self._processes.values():
            _end(process)
        for slot in self._slots:
            slot.cancel()
        await asyncio.gather(*self._slots, *waiting, return_exceptions=True)
        await asyncio.to_thread(self._queue.take_back)

    @property
    def pids(self) -> list[int]:
        """The process ids of the living workers."""
        return [process.pid for process in self._processes.values() if process.returncode is None]

    def _nudge(self) -> None:
        """Make the workers look for jobs at once instead of at their next poll, each second."""
        for process in self._processes.values():
            pipe = process.stdin
            # If the pipe is not empty, the worker has yet to read the last notification, so it needs no other.
            if pipe and not pipe.is_closing() and not pipe.transport.get_write_buffer_size():
                pipe.write(b"\n")

    async def _slot(self) -> None:
        """Keep one worker running: start a new one when it has died."""
        loop = asyncio.get_running_loop()
        wait_s = _FIRST_WAIT_S
        while not self._ending.is_set():
            name, start = uuid4().hex[:12], loop.time()
            code, overrun = await self._live(name)
            problems = overrun.problems if overrun else NO_PROBLEMS
            if not self._ending.is_set():
                self.restarts += 1
                log("worker_died", level=logging.WARNING, worker=name, code=code)
            await self._take_back(name, problems)
            wait_s = _FIRST_WAIT_S if loop.time() - start > _STEADY_S else min(2 * wait_s, _LONGEST_WAIT_S)
            await asyncio.sleep(wait_s)

    async def _take_back(self, name: str, problems: Mapping[str, Mapping[str, Any]]) -> None:
        """Return the jobs of a dead worker to the queue, as soon as the store is writable."""
        while not self._ending.is_set() or problems:
            try:
                taken = await asyncio.to_thread(partial(self._queue.take_back, name, problems=problems))
            except DomsieveError as error:
                log("store_failed", level=logging.ERROR, detail=error.message)
                await asyncio.sleep(_AGAIN_S)
            else:
                log("jobs_taken_back", worker=name, jobs=taken)
                self._nudge()
                return

    async def _live(self, name: str) -> tuple[int | None, LimitExceeded | None]:
        """Start a worker and wait for its end.

        Return its exit code, or None if it could not start, and the limit it exceeded if it was killed for that.
        """
        root = str(Path(domsieve.__file__).parents[1])
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "domsieve.service.jobs.worker",
                name,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": path},
                # Ctrl-C at the terminal must reach only the service, which then stops its workers.
                start_new_session=True,
            )
        except OSError as error:
            log("worker_not_started", level=logging.ERROR, detail=str(error))
            return None, None
        self._processes[name] = process
        settings = self._settings
        watch = Watchdog(process.pid, Limits(settings.step_s, settings.memory_bytes))
        listening = asyncio.create_task(_listen(process, watch))
        looking = asyncio.create_task(self._look(name, process, watch))
        try:
            if process.stdin:
                with contextlib.suppress(ConnectionError):
                    process.stdin.write(msgspec.json.encode(settings) + b"\n")
                    await process.stdin.drain()
            if self._ending.is_set():
                process.terminate()
            code = await process.wait()
            looking.cancel()
            (overrun,) = await asyncio.gather(looking, return_exceptions=True)
            return code, overrun if isinstance(overrun, LimitExceeded) else None
        finally:
            listening.cancel()
            looking.cancel()
            _end(process)
            del self._processes[name]

    async def _look(self, name: str, process: asyncio.subprocess.Process, watch: Watchdog) -> LimitExceeded:
        """Kill a worker once it exceeds a limit, and return which one."""
        last = self._clock()
        while True:
            await asyncio.sleep(LOOK_S)
            now = self._clock()
            overrun = watch.look(now - last)
            last = now
            if overrun is not None and process.returncode is None:
                jobs = ", ".join(overrun.problems)
                log("worker_overrun", level=logging.ERROR, worker=name, reason=overrun.reason, jobs=jobs)
                _end(process)
                return overrun


async def _listen(process: asyncio.subprocess.Process, watch: Watchdog) -> None:
    """Read the heartbeat of a worker until it ends."""
    assert process.stdout
    while line := await process.stdout.readline():
        watch.hear(read_line(line))


def _end(process: asyncio.subprocess.Process) -> None:
    """Kill a worker and all processes it started, unless it has ended."""
    if process.returncode is None:
        end_family(process.pid)


@contextlib.contextmanager
def owned(data: Path) -> Iterator[None]:
    """Hold the lock on the folder of a service. The system releases it however the process ends.

    What this process and its workers write in this block is for their owner only, and so is what is in the folder. A
    folder that was there and that other accounts may read is reported; it may be theirs, too.

    Raises
    ------
    StorageError : another service holds the lock, or the folder cannot be created.
    """
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)  # other accounts must not read the jobs
        lock = (data / "lock").open("w")
        _close_to_others(data)
    except OSError as error:
        raise StorageError(f"The folder {data} cannot be used: {error.strerror}.") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StorageError(f"The folder {data} is in use by another service.") from error
        before = os.umask(_OTHERS)
        try:
            yield
        finally:
            os.umask(before)


def _close_to_others(data: Path) -> None:
    if data.stat().st_mode & _OTHERS:
        log(
            "folder_open_to_others",
            level=logging.WARNING,
            detail=f"Other accounts may read {data}: chmod 700 it.",
        )
    for path in (data / CACHE, data / RESULTS, data / "lock", *data.glob("jobs.sqlite*")):
        with contextlib.suppress(FileNotFoundError, PermissionError):  # not there yet, or of another account
            path.chmod(path.stat().st_mode & ~_OTHERS)
