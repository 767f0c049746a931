"""Workers that hang or grow: the pool sees it from outside, ends them, and says why; nobody else loses anything."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from domsieve.service.jobs import _heartbeat as heartbeat
from domsieve.service.jobs import pool
from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.job_values import Job, QueueLimits, UsedPage, overrun
from domsieve.service.jobs.pool import WorkerPool, owned
from domsieve.service.jobs.requests import CleanRequest
from domsieve.service.jobs.worker import WorkerSettings
from domsieve.snapshot.store import PageStore
from tests.service.jobs.captures import captured
from tests.service.jobs.opened import opened
from tests.service.jobs.test_pool import alive, until

SITE = "127.0.0.1:8123"
LIMITS = QueueLimits(queued=1_000, per_client=1_000)


class Clock:
    """Runs only while `is_running` says so, five seconds for each look."""

    def __init__(self) -> None:
        self.is_running: Callable[[], bool] = lambda: False
        self._now = 0.0

    def __call__(self) -> float:
        self._now += 5.0 if self.is_running() else 0.0
        return self._now


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder whose cache has the pages that misbehave, for a client; workers that are started misbehave."""
    said = tmp_path / "said"
    said.mkdir()
    (said / "sitecustomize.py").write_text("import tests.service.jobs.misdoing\n", "ascii")
    monkeypatch.setenv("PYTHONPATH", str(said))
    monkeypatch.setenv("MISDOING", str(said))
    data = tmp_path / "data"
    data.mkdir()
    with PageStore(data / "cache") as cache, opened(data / "jobs.sqlite") as (store, queue):
        used = []
        for name in ("hang", "eat", "wait", "page"):
            record = cache.put(captured(url_of(name)).snapshot, site=SITE)
            used.append(
                UsedPage(
                    page_id=record.page_id,
                    url=record.url,
                    site=record.site,
                    captured_at="",
                    nodes=1,
                    complete=True,
                    job="",
                )
            )
        ask(store, "page")
        before = queue.claim("before", lease_s=60)
        assert before is not None
        queue.finish(before, {}, [], pages=used)
    return data


def url_of(name: str) -> str:
    return f"http://{SITE}/{name}"


def ask(store: JobStore, name: str) -> Job:
    return store.add(CleanRequest(url=url_of(name), method="none"), client="ann", limits=LIMITS)[0]


def said(data: Path, name: str) -> list[int]:
    """Return the numbers of processes that a misbehaving page told of; none when it has not begun."""
    with contextlib.suppress(FileNotFoundError):
        return [int(word) for word in (data.parent / "said" / name).read_text("ascii").split()]
    return []


@contextlib.asynccontextmanager
async def pool_of(
    data: Path, *, clock: Clock | None = None, megabytes: int = 10_000
) -> AsyncIterator[tuple[WorkerPool, JobStore]]:
    """Run one worker that does two jobs at once, without a browser."""
    settings = WorkerSettings(
        data=str(data),
        concurrency=2,
        private_hosts=(("127.0.0.1", 8123),),
        browser="/nonexistent/chrome",
        memory_bytes=megabytes * 1_000_000,
        grace_s=0.0,
    )
    with owned(data), Database(data / "jobs.sqlite") as database:
        async with WorkerPool(settings, database, workers=1, clock=clock or Clock()) as pool:
            yield pool, JobStore(database)


async def ended(store: JobStore, job: Job) -> Job:
    await until(lambda: store.get(job.id, "ann").has_ended)
    return store.get(job.id, "ann")


def test_a_worker_that_hangs_is_ended_and_the_next_job_is_done(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The hands of the clock are moved, so what threads run for has to keep up with them.
    ran = heartbeat.thread_cpu_s
    monkeypatch.setattr(heartbeat, "thread_cpu_s", lambda pid, thread: 100_000 * ran(pid, thread))
    monkeypatch.setattr(pool, "LOOK_S", 0.02)
    clock = Clock()

    async def main() -> None:
        async with pool_of(data, clock=clock) as (workers, store):
            neighbour = ask(store, "wait")
            await until(lambda: bool(said(data, "wait")))
            hanging = ask(store, "hang")
            following = ask(store, "page")
            await until(lambda: bool(said(data, "hang")))
            worker, child = said(data, "hang")
            assert [worker] == workers.pids == said(data, "wait")
            clock.is_running = lambda: alive(worker)
            failed = await ended(store, hanging)
            assert (failed.state, failed.attempts) == ("failed", 1)
            assert failed.problem == overrun("time")
            await until(lambda: not alive(worker) and not alive(child))
            (data.parent / "said" / "gate").touch()
            for job in (neighbour, following):
                done = await ended(store, job)
                assert (done.state, done.attempts) == ("done", 1)
            assert workers.restarts == 1

    asyncio.run(main())


def test_a_worker_that_grows_is_ended_and_the_next_job_is_done(data: Path) -> None:
    async def main() -> None:
        async with pool_of(data, megabytes=1_000) as (workers, store):
            eating = ask(store, "eat")
            await until(lambda: bool(said(data, "eat")))
            worker, child = said(data, "eat")
            following = ask(store, "page")
            failed = await ended(store, eating)
            assert failed.state == "failed"
            assert failed.problem == overrun("memory")
            await until(lambda: not alive(worker) and not alive(child))
            assert (await ended(store, following)).state == "done"
            assert workers.restarts >= 1

    asyncio.run(main())


def test_jobs_that_end_their_workers_again_and_again_are_given_up(data: Path) -> None:
    async def main() -> None:
        async with pool_of(data, megabytes=1_000) as (_, store):
            # Together, so that nobody can tell which of them it was until each has run alone.
            jobs = [ask(store, "eat") for _ in range(2)]
            following = ask(store, "page")
            for job in jobs:
                failed = await ended(store, job)
                assert failed.problem == overrun("memory")
                assert failed.attempts <= 3
            assert (await ended(store, following)).state == "done"

    asyncio.run(main())
