"""The jobs in a file, from both sides."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.work_queue import WorkQueue


@contextmanager
def opened(path: Path) -> Iterator[tuple[JobStore, WorkQueue]]:
    """Open a file of jobs; yield what clients do with it and what workers do, on one database."""
    with Database(path) as database:
        yield JobStore(database), WorkQueue(database)
