"""Process shards in a pool of local processes; the pool is replaced when a worker dies."""

import os
import signal
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, get_context, parent_process

from domsieve.bulk.job import Done, Job, perform
from domsieve.bulk.plan import Shard
from domsieve.bulk.scheduling import Died, Outcome

# Imported once and shared by all workers, so that a new pool starts quickly.
_LOADED = ["domsieve.bulk.preloaded"]


class LocalEngine:
    """A pool of processes.

    Parameters
    ----------
    workers : number of processes.
    """

    def __init__(self, workers: int) -> None:
        self.slots = workers
        self._pool: ProcessPoolExecutor | None = None
        self._flying: dict[Future[Done], Shard] = {}

    def start(self, job: Job, shard: Shard) -> None:
        """Start to process a shard."""
        try:
            future = self._workers().submit(perform, job, shard)
        except BrokenProcessPool:  # an idle worker died
            self._end()
            future = self._workers().submit(perform, job, shard)
        self._flying[future] = shard

    def finished(self) -> list[tuple[Shard, Outcome]]:
        """Wait for a shard or, if a worker died, for all running shards."""
        done = wait(self._flying, return_when=FIRST_COMPLETED).done
        if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
            done = wait(self._flying).done
            self._end()
        return [
            (self._flying.pop(future), _outcome(future)) for future in list(self._flying) if future in done
        ]

    def close(self, *, now: bool) -> None:
        """End the processes; `now` kills them even if they are working."""
        if now and self._pool:
            for process in [
                *(self._pool._processes or {}).values()
            ]:  # there is no other way before Python 3.14
                process.terminate()
        self._end()

    def _workers(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # A forked process would copy the locks, but not the threads that hold them.
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
    """Prepare a worker process: it ignores interrupts, and ends when its parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
