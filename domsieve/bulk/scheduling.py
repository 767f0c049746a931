"""Running a job over shards: which are worked on, what becomes of those whose worker dies.

"Nothing lost, nothing twice" lies in the parts, which are whole or absent and bear the names of their shards. So
whatever maps the job over shards may be lost at any time, and what has no part is done again. A shard that is in
flight when a worker dies is suspect; it is done again alone, and only dying alone three times condemns it. Imports
the jobs and the errors.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from domsieve.bulk.job import Done, Job
from domsieve.bulk.places import place_at
from domsieve.bulk.plan import Shard
from domsieve.errors import BrowserNotFoundError, DomsieveError, StorageError, UsageError

MOST_DEATHS = 3
"""How often a shard may die alone."""

logger = logging.getLogger("domsieve")


@dataclass(frozen=True, slots=True)
class Died:
    """The worker died, or may have: it had a shard in flight when another one did."""

    reason: str


Outcome = Done | Died | Exception


class Engine(Protocol):
    """What maps a job over shards: processes of this machine, or a cluster."""

    slots: int
    """Shards in flight at the same time."""

    def start(self, job: Job, shard: Shard) -> None:
        """Begin with a shard; fewer than `slots` are in flight."""
        ...

    def finished(self) -> list[tuple[Shard, Outcome]]:
        """Wait until something has become of a shard in flight; return what."""
        ...

    def close(self, *, now: bool) -> None:
        """End; `now` without waiting for what is in flight."""
        ...


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a shard.

    Parameters
    ----------
    what : ``"started"``; ``"alone"``, it is done again with nothing else in flight; ``"done"``; ``"suspect"``, a
        worker died while it was in flight; ``"condemned"``, it is given up.
    shard : which.
    done : what became of it, where it is done.
    reason : why, for suspects and condemned ones.
    """

    what: Literal["started", "alone", "done", "suspect", "condemned"]
    shard: Shard
    done: Done | None = None
    reason: str = ""


Report = Callable[[Event], None]


def run(job: Job, shards: Iterable[Shard], engine: Engine, report: Report) -> None:
    """Do a job on shards, which are asked for one by one.

    Raises
    ------
    StorageError, UsageError, BrowserNotFoundError : results cannot be written, or the job cannot be done at all; what
        is done is kept.
    """
    for shard in list(_together(job, iter(shards), engine, report)):
        _alone(job, shard, engine, report)


def _together(job: Job, shards: Iterator[Shard], engine: Engine, report: Report) -> Iterator[Shard]:
    """Do the job on shards, as many at once as the engine has slots; yield the suspects."""
    flying = 0
    while True:
        while flying < engine.slots and (shard := next(shards, None)) is not None:
            engine.start(job, shard)
            flying += 1
            report(Event("started", shard))
        if not flying:
            return
        for shard, outcome in engine.finished():
            flying -= 1
            if isinstance(outcome, Died):
                report(Event("suspect", shard, reason=outcome.reason))
                yield shard
            else:
                _settle(shard, outcome, report)


def _alone(job: Job, shard: Shard, engine: Engine, report: Report) -> None:
    place = place_at(job.output)
    for _ in range(MOST_DEATHS):
        folder, _, name = job.part(shard.name).rpartition("/")
        if name in place.names(folder):  # its worker died behind its work
            _settle(shard, Done(shard=shard.name, pages=shard.pages, failed=0), report)
            return
        engine.start(job, shard)
        report(Event("alone", shard))
        ((_, outcome),) = engine.finished()
        if not isinstance(outcome, Died):
            _settle(shard, outcome, report)
            return
    report(
        Event("condemned", shard, reason=f"its worker died {MOST_DEATHS} times while nothing else was done")
    )


def _settle(shard: Shard, outcome: Done | Exception, report: Report) -> None:
    if isinstance(outcome, Done):
        report(Event("done", shard, outcome))
    elif isinstance(outcome, StorageError | UsageError | BrowserNotFoundError):
        raise outcome
    else:
        known = isinstance(outcome, DomsieveError)
        logger.error("%s failed", shard.name, exc_info=None if known else outcome)
        report(Event("condemned", shard, reason=f"{type(outcome).__name__}: {outcome}"))
