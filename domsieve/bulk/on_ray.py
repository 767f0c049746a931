"""Shards on a Ray cluster: tasks, and actors for jobs whose workers keep something, such as a browser.

Ray's own retries are off: what is done again, and how often, is the business of the running, here as on one machine.
Imports the job and the running. Ray is loaded when an engine is made.
"""

import os
from typing import Any

from domsieve.bulk.job import Done, Job, perform
from domsieve.bulk.plan import Shard
from domsieve.bulk.scheduling import Died, Outcome
from domsieve.errors import UsageError

_AUTH_MODE = "RAY_AUTH_MODE"
_STARTS = 3  # Ray gives its own processes 30 s to start, which a machine under load may not keep


class RayEngine:
    """Tasks and actors of a cluster.

    Parameters
    ----------
    address : of the cluster; None starts one on this machine.
    workers : shards in flight at the same time; None is one per processor of the cluster.
    """

    def __init__(self, address: str | None, workers: int | None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would tell its makers
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
        """Begin with a shard."""
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
        """Let go of the cluster; `now` without waiting for what is in flight."""
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
    """A worker that is there for many shards."""

    def perform(self, job: Job, shard: Shard) -> Done:
        """Work on a shard."""
        return perform(job, shard)

    def close(self) -> None:
        """End what the worker keeps."""
        from domsieve.bulk.render_job import close_browser

        close_browser()


def _start(ray: Any, workers: int | None) -> None:
    """Start a Ray on this machine."""
    # It listens on all addresses of the machine, and runs what it is sent; how a cluster is kept is not ours.
    if _AUTH_MODE not in os.environ:
        os.environ[_AUTH_MODE] = "token"
        ray._raylet.Config.initialize("")  # it has read the environment already, maybe long before
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
    except Exception as error:  # of a start that takes too long it raises no kind of its own
        raise UsageError(f"Ray cannot be used: {error}", parameter="ray_address") from error
