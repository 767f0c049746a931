"""Process shards in a pool of local processes; the pool is replaced when a worker dies."""

import os
import signal
import threading
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from ctypes import Array, c_uint64
from multiprocessing import connection, get_context, parent_process
from queue import Empty, SimpleQueue

from domsieve.bulk.job import Done, Job, perform
from domsieve.bulk.plan import Shard
from domsieve.bulk.scheduling import LOOK_S, Died, Outcome

# Imported once and shared by all workers, so that a new pool starts quickly.
_LOADED = ["domsieve.bulk.preloaded"]
# A forked process would copy the locks, but not the threads that hold them.
_CONTEXT = get_context("forkserver")


class LocalEngine:
    """A pool of processes.

    Parameters
    ----------
    workers : number of processes.
    """

    def __init__(self, workers: int) -> None:
        self.slots = workers
        self._pool: ProcessPoolExecutor | None = None
        self._flying: dict[Future[Done], tuple[Shard, int]] = {}
        # `concurrent.futures.wait` locks futures in Python code, and an interrupt at that moment leaves them locked.
        self._over: SimpleQueue[Future[Done]] = SimpleQueue()
        # A cell for each running shard, which only its worker writes: a lock would stay locked if a worker died.
        self._counts = _CONTEXT.RawArray(c_uint64, workers)

    def start(self, job: Job, shard: Shard) -> None:
        """Start to process a shard."""
        cell = min({*range(self.slots)} - {cell for _, cell in self._flying.values()})
        self._counts[cell] = 0
        try:
            future = self._workers().submit(_perform, job, shard, cell)
        except BrokenProcessPool:  # an idle worker died
            self._end()
            future = self._workers().submit(_perform, job, shard, cell)
        self._flying[future] = shard, cell
        future.add_done_callback(self._over.put)

    def finished(self) -> list[tuple[Shard, Outcome]]:
        """Wait for a shard or, if a worker died, for all running shards; see `Engine.finished`."""
        done = self._done()
        if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
            while len(done) < len(self._flying):
                done.append(self._over.get())
            self._end()
        return [
            (self._flying.pop(future)[0], _outcome(future)) for future in list(self._flying) if future in done
        ]

    def _done(self) -> list[Future[Done]]:
        """Return the shards that have ended; if there is none, wait a while for the first."""
        done = []
        try:
            done.append(self._over.get(timeout=LOOK_S))
            while True:
                done.append(self._over.get_nowait())
        except Empty:
            return done

    def ended_pages(self) -> int:
        """Return the number of pages of running shards that have ended."""
        return sum(self._counts[cell] for _, cell in self._flying.values())

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
            _CONTEXT.set_forkserver_preload(_LOADED)
            self._pool = ProcessPoolExecutor(
                self.slots, mp_context=_CONTEXT, initializer=_begin, initargs=(self._counts,)
            )
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


_cells: "list[Array[c_uint64]]" = []


def _perform(job: Job, shard: Shard, cell: int) -> Done:
    """Process a shard in a worker process, which counts its pages in a cell of the array of the engine."""
    (counts,) = _cells

    def page_ended() -> None:
        counts[cell] += 1

    return perform(job, shard, page_ended)


def _begin(counts: "Array[c_uint64]") -> None:
    """Prepare a worker process: it ignores interrupts, and ends when its parent does.

    Parameters
    ----------
    counts : the array of the engine, with a cell for each shard that runs at the same time.
    """
    _cells.append(counts)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
