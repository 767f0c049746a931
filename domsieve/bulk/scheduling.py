"""Run a job on shards, and repeat those whose worker died.

Output files are whole or absent, and have the names of their shards. So the engine may be lost at any time: shards
without an output file are processed again, and nothing is lost or repeated. If a worker dies, all running shards are
suspects. They are repeated one at a time, and a shard is given up after three workers have died on it alone.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from domsieve.bulk._places import place_at
from domsieve.bulk.job import Done, Job
from domsieve.bulk.plan import Shard
from domsieve.errors import BrowserNotFoundError, DomsieveError, StorageError, UsageError

MOST_DEATHS = 3
"""How many workers may die on a shard that runs alone."""

LOOK_S = 0.5
"""Seconds between two looks at the pages of running shards, for the progress."""

logger = logging.getLogger("domsieve")


@dataclass(frozen=True, slots=True)
class Died:
    """The worker of a shard died, or another worker did while the shard was running."""

    reason: str


Outcome = Done | Died | Exception


class Engine(Protocol):
    """Runs shards: on local processes or on a cluster."""

    slots: int
    """Number of shards that can run at the same time."""

    def start(self, job: Job, shard: Shard) -> None:
        """Start a shard; fewer than `slots` are running."""
        ...

    def finished(self) -> list[tuple[Shard, Outcome]]:
        """Wait until a shard has finished or died, at most about `LOOK_S`; return the outcomes, which may be none."""
        ...

    def ended_pages(self) -> int:
        """Return the number of pages of running shards that have ended, as far as it is known."""
        ...

    def close(self, *, now: bool) -> None:
        """Close the engine; `now` does not wait for running shards."""
        ...


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a shard.

    Parameters
    ----------
    what : ``"started"``; ``"alone"``: it is repeated while nothing else runs; ``"done"``; ``"suspect"``: a worker
        died while it was running; ``"condemned"``: it is given up.
    shard : the shard.
    done : its result, for ``"done"``.
    reason : the reason, for ``"suspect"`` and ``"condemned"``.
    """

    what: Literal["started", "alone", "done", "suspect", "condemned"]
    shard: Shard
    done: Done | None = None
    reason: str = ""


Report = Callable[[Event], None]
Working = Callable[[int], None]


def run(
    job: Job, shards: Iterable[Shard], engine: Engine, report: Report, working: Working = lambda _: None
) -> None:
    """Run a job on shards; the iterable is read one by one.

    Parameters
    ----------
    report : called with each event.
    working : called now and then while shards are running, with the number of their pages that have ended.

    Raises
    ------
    StorageError, UsageError, BrowserNotFoundError : results cannot be written, or the job cannot run at all; finished
        shards are kept.
    """
    for shard in list(_together(job, iter(shards), engine, report, working)):
        _alone(job, shard, engine, report, working)


def _finished(engine: Engine, working: Working) -> list[tuple[Shard, Outcome]]:
    """Wait until at least one shard has finished or died, and return the outcomes."""
    while not (found := engine.finished()):
        working(engine.ended_pages())
    return found


def _together(
    job: Job, shards: Iterator[Shard], engine: Engine, report: Report, working: Working
) -> Iterator[Shard]:
    """Run the job on shards, as many at once as the engine has slots; yield the suspects."""
    flying = 0
    while True:
        while flying < engine.slots and (shard := next(shards, None)) is not None:
            engine.start(job, shard)
            flying += 1
            report(Event("started", shard))
        if not flying:
            return
        for shard, outcome in _finished(engine, working):
            flying -= 1
            if isinstance(outcome, Died):
                report(Event("suspect", shard, reason=outcome.reason))
                yield shard
            else:
                _settle(shard, outcome, report)


def _alone(job: Job, shard: Shard, engine: Engine, report: Report, working: Working) -> None:
    place = place_at(job.output)
    for _ in range(MOST_DEATHS):
        folder, _, name = job.part(shard.name).rpartition("/")
        if name in place.names(folder):  # its worker died after the work
            _settle(shard, Done(shard=shard.name, pages=shard.pages, failed=0), report)
            return
        engine.start(job, shard)
        report(Event("alone", shard))
        ((_, outcome),) = _finished(engine, working)
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
