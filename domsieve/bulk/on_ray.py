"""Process shards on a Ray cluster, with tasks, or with actors for jobs that keep a resource such as a browser.

Ray's own retries are off, because `scheduling` decides what to repeat, as on one machine. Ray is imported when an
engine is created.
"""

import os
from typing import Any

from domsieve.bulk.job import Done, Job, perform
from domsieve.bulk.plan import Shard
from domsieve.bulk.scheduling import Died, Outcome
from domsieve.errors import UsageError

_AUTH_MODE = "RAY_AUTH_MODE"
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
        self._task = ray.remote(num_cpus=1, max_retries=0)(perform)
        self._actor = ray.remote(num_cpus=1, max_restarts=0)(_Actor)
        self._idle: list[Any] = []
        self._flying: dict[Any, tuple[Shard, Any]] = {}

    def start(self, job: Job, shard: Shard) -> None:
        """Start to process a shard."""
        if not job.keeps_worker:
            self._flying[self._task.remote(job, shard)] = shard, None
            return
        actor = self._idle.pop() if self._idle else self._actor.remote()
        self._flying[actor.perform.remote(job, shard)] = shard, actor

    def finished(self) -> list[tuple[Shard, Outcome]]:
        """Wait for a shard."""
        ready, _ = self._ray.wait([*self._flying], num_returns=1)
        found: list[tuple[Shard, Outcome]] = []
        for reference in ready:
            shard, actor = self._flying.pop(reference)
            outcome = self._outcome(reference)
            if actor is not None and not isinstance(outcome, Died):
                self._idle.append(actor)
            found.append((shard, outcome))
        return found

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


class _Actor:
    """A worker that processes many shards."""

    def perform(self, job: Job, shard: Shard) -> Done:
        """Process a shard."""
        return perform(job, shard)

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
