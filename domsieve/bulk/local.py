"""Shards in processes of this machine, by the standard library's pool: a fresh one when a worker has died.

Imports the job and the running.
"""

import os
import signal
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, get_context, parent_process

from domsieve.bulk.job import Done, Job, perform
from domsieve.bulk.plan import Shard
from domsieve.bulk.scheduling import Died, Outcome

# Loaded once and shared by all workers, so that a fresh pool starts at once.
_LOADED = ["domsieve.bulk.preloaded"]


class LocalEngine:
    """A pool of processes.

    Parameters
    ----------
    workers : how many.
    """

    def __init__(self, workers: int) -> None:
        self.slots = workers
        self._pool: ProcessPoolExecutor | None = None
        self._flying: dict[Future[Done], Shard] = {}

    def start(self, job: Job, shard: Shard) -> None:
        """Begin with a shard."""
        try:
            future = self._workers().submit(perform, job, shard)
        except BrokenProcessPool:  # one died that had nothing to do
            self._end()
            future = self._workers().submit(perform, job, shard)
        self._flying[future] = shard

    def finished(self) -> list[tuple[Shard, Outcome]]:
        """Wait for a shard; where a worker has died, for all that were in flight."""
        done = wait(self._flying, return_when=FIRST_COMPLETED).done
        if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
            done = wait(self._flying).done
            self._end()
        return [
            (self._flying.pop(future), _outcome(future)) for future in list(self._flying) if future in done
        ]

    def close(self, *, now: bool) -> None:
        """End the processes; `now` whatever they are doing."""
        if now and self._pool:
            for process in [
                *(self._pool._processes or {}).values()
            ]:  # before Python 3.14 there is no other way
                process.terminate()
        self._end()

    def _workers(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # A fork of this process would have its locks, but not the threads that hold them.
            context = get_context("forkserver")
            context.set_forkserver_preload(_LOADED)
            self._pool = ProcessPoolExecutor(self.slots, mp_context=context, initializer=_begin)
        return self._pool

    def _end(self) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def _outcome(future: "Future[Done]") -> Outcome:
    error = future.exception()
    if isinstance(error, BrokenProcessPool):
        return Died("a worker died")
    if isinstance(error, MemoryError):
        return Died("there was not enough memory")
    if error is None:
        return future.result()
    if isinstance(error, Exception):
        return error
    raise error


def _begin() -> None:
    """Make a process a worker: an interrupt is for the one that it works for, and it ends with that one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
