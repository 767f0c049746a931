"""Process shards on a Ray cluster, with tasks, or with actors for jobs that keep a resource such as a browser.

Ray's own retries are off, because `scheduling` decides what to repeat, as on one machine. Ray is imported when an
engine is created.
"""

import os
import time
from contextlib import suppress
from typing import Any

from domsieve.bulk.job import Done, Job, perform
from domsieve.bulk.plan import Shard
from domsieve.bulk.scheduling import LOOK_S, Died, Outcome
from domsieve.errors import UsageError

_AUTH_MODE = "RAY_AUTH_MODE"
_TELL_S = 1.0  # a guess: each message takes a worker about a millisecond
_STARTS = 3  # Ray gives its processes 30 s to start, which is too short on a busy machine


class RayEngine:
    """Tasks and actors of a cluster.

    Parameters
    ----------
    address : address of the cluster; None starts one on this machine.
    workers : number of shards processed at the same time; None means one per processor of the cluster.
    """

    def __init__(self, address: str | None, workers: int | None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage reports
        try:
            import ray
        except ImportError as error:
            raise UsageError(
                "This runner needs Ray; install domsieve with the extra ray.", parameter="runner"
            ) from error
        self._ray = ray
        if address is None:
            _start(ray, workers)
        else:
            _init(ray, address)
        self.slots = workers or max(int(ray.cluster_resources().get("CPU", 1)), 1)
        self._task = ray.remote(num_cpus=1, max_retries=0)(_perform)
        self._actor = ray.remote(num_cpus=1, max_restarts=0)(_Actor)
        # If its machine is lost, it is restarted, and only the progress goes back.
        self._new_counts = ray.remote(num_cpus=0, max_restarts=-1)(_PageCounts)
        self._counts: Any = None
        self._ended_pages = 0
        self._idle: list[Any] = []
        self._flying: dict[Any, tuple[Shard, Any]] = {}

    def start(self, job: Job, shard: Shard) -> None:
        """Start to process a shard."""
        if self._counts is None:
            self._counts = self._new_counts.remote()
        if not job.keeps_worker:
            self._flying[self._task.remote(job, shard, self._counts)] = shard, None
            return
        actor = self._idle.pop() if self._idle else self._actor.remote()
        self._flying[actor.perform.remote(job, shard, self._counts)] = shard, actor

    def finished(self) -> list[tuple[Shard, Outcome]]:
        """Wait for a shard; see `Engine.finished`."""
        ready, _ = self._ray.wait([*self._flying], num_returns=1, timeout=LOOK_S)
        found: list[tuple[Shard, Outcome]] = []
        for reference in ready:
            shard, actor = self._flying.pop(reference)
            outcome = self._outcome(reference)
            if actor is not None and not isinstance(outcome, Died):
                self._idle.append(actor)
            found.append((shard, outcome))
        return found

    def ended_pages(self) -> int:
        """Return the number of pages of running shards that have ended, as far as their workers have told."""
        names = [shard.name for shard, _ in self._flying.values()]
        with suppress(self._ray.exceptions.RayError):  # it is late, or being restarted
            self._ended_pages = self._ray.get(self._counts.ended.remote(names), timeout=LOOK_S)
        return self._ended_pages

    def close(self, *, now: bool) -> None:
        """Disconnect from the cluster; `now` does not wait for running shards."""
        if not now:
            for actor in self._idle:
                self._ray.get(actor.close.remote())
        self._ray.shutdown()

    def _outcome(self, reference: Any) -> Outcome:
        errors = self._ray.exceptions
        try:
            done: Done = self._ray.get(reference)
        except errors.RayTaskError as error:
            cause = error.cause
            return Died("there was not enough memory") if isinstance(cause, MemoryError) else cause
        except errors.RayError as error:
            return Died(f"its worker died ({type(error).__name__})")
        return done


class _PageCounts:
    """Holds the number of pages that have ended of each running shard."""

    def __init__(self) -> None:
        self._pages: dict[str, int] = {}

    def tell(self, shard: str, pages: int) -> None:
        """Set the number of a shard."""
        self._pages[shard] = pages

    def ended(self, running: list[str]) -> int:
        """Return the number of all running shards, and forget the others."""
        self._pages = {name: self._pages.get(name, 0) for name in running}
        return sum(self._pages.values())


def _perform(job: Job, shard: Shard, counts: Any) -> Done:
    """Process a shard, and tell `_PageCounts` now and then how many pages have ended."""
    pages, told_at = 0, time.monotonic()
    counts.tell.remote(shard.name, 0)  # an earlier attempt may have told more

    def page_ended() -> None:
        nonlocal pages, told_at
        pages += 1
        if time.monotonic() - told_at >= _TELL_S:
            told_at = time.monotonic()
            counts.tell.remote(shard.name, pages)

    return perform(job, shard, page_ended)


class _Actor:
    """A worker that processes many shards."""

    def perform(self, job: Job, shard: Shard, counts: Any) -> Done:
        """Process a shard."""
        return _perform(job, shard, counts)

    def close(self) -> None:
        """Close the resources of the worker."""
        from domsieve.bulk.render_job import close_browser

        close_browser()


def _start(ray: Any, workers: int | None) -> None:
    """Start Ray on this machine."""
    # Ray listens on all addresses and runs whatever it gets. Here it must not; clusters are up to their operators.
    if _AUTH_MODE not in os.environ:
        os.environ[_AUTH_MODE] = "token"
        ray._raylet.Config.initialize("")  # Ray reads the environment only once, when it is imported
    for tries_left in reversed(range(_STARTS)):
        try:
            _init(ray, "local", num_cpus=workers, include_dashboard=False)
        except UsageError as error:
            if not tries_left or "timed out" not in error.message.lower():
                raise
        else:
            return


def _init(ray: Any, address: str, **more: Any) -> None:
    try:
        ray.init(address=address, logging_level="warning", log_to_driver=False, **more)
    except Exception as error:  # Ray has no class of its own for this error
        raise UsageError(f"Ray cannot be used: {error}", parameter="ray_address") from error
