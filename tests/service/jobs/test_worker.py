"""One worker without a process of its own: what a full disk, an end and news do to it."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from domsieve.analysis.selection._selectors import Matcher
from domsieve.budget import check
from domsieve.errors import StorageError
from domsieve.renderer.protocol import Rendering
from domsieve.service.jobs._heartbeat import HeartbeatWriter
from domsieve.service.jobs._job_context import WorkerContext
from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.job_values import Claim, Job, NewFile, QueueLimits, UsedPage, overrun
from domsieve.service.jobs.requests import CleanRequest
from domsieve.service.jobs.work_queue import WorkQueue
from domsieve.service.jobs.worker import Worker, WorkerSettings
from domsieve.snapshot.store import PageStore
from tests.service.jobs.captures import captured
from tests.service.jobs.stand_in import Load, StandIn

LIMIT_S = 300.0


class Pages(StandIn):
    """Renders pages of many words from memory."""

    async def load(self, asked: Load) -> Rendering:
        if asked.url.endswith("/never"):
            await asyncio.Event().wait()
        return captured(asked.url, "".join(f"<p>word{number} of it" for number in range(10_000)))


class Queue(WorkQueue):
    """A queue that may wait before it keeps results, and whose disk may be full."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.finishing, self.gate = threading.Event(), threading.Event()
        self.gate.set()
        self.is_full = False
        self.tries = 0

    def finish(
        self,
        claim: Claim,
        summary: Mapping[str, Any],
        files: Sequence[NewFile],
        *,
        pages: Sequence[UsedPage] = (),
    ) -> bool:
        self.finishing.set()
        assert self.gate.wait(LIMIT_S)
        self._check()
        return super().finish(claim, summary, files, pages=pages)

    def fail(self, claim: Claim, problem: Mapping[str, Any]) -> bool:
        self._check()
        return super().fail(claim, problem)

    def _check(self) -> None:
        if self.is_full:
            self.tries += 1
            raise StorageError("The disk is full.")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "jobs.sqlite") as database:
        yield database


@pytest.fixture
def jobs(database: Database) -> JobStore:
    return JobStore(database)


@pytest.fixture
def queue(database: Database) -> Queue:
    return Queue(database)


@pytest.fixture(autouse=True)
def told_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers do nothing of their own accord, and try again at once."""
    monkeypatch.setattr("domsieve.service.jobs.worker._LOOK_S", LIMIT_S)
    monkeypatch.setattr("domsieve.service.jobs.worker._AGAIN_S", 0.0)


@asynccontextmanager
async def working(
    tmp_path: Path,
    queue: WorkQueue,
    *,
    grace_s: float = LIMIT_S,
    job_s: float = LIMIT_S,
    is_deserted: bool = False,
) -> AsyncIterator[tuple[Worker, asyncio.Event]]:
    """Run a worker, and let it end in order; one that is deserted ends as where its service was killed."""
    own = threading.local()

    def pages() -> PageStore:
        if not hasattr(own, "store"):
            own.store = PageStore(tmp_path / "cache")
        return own.store  # type: ignore[no-any-return]

    def close() -> None:
        if hasattr(own, "store"):
            own.store.close()

    news = asyncio.Event()
    settings = WorkerSettings(data=str(tmp_path), concurrency=1, grace_s=grace_s, job_s=job_s)
    with ThreadPoolExecutor(1) as ledger, ThreadPoolExecutor(1) as threads:
        bench = WorkerContext(Pages(), queue, threads, pages)
        worker = Worker("w", settings, bench, ledger=ledger, news=news, pulse=HeartbeatWriter())
        task = asyncio.create_task(worker.run())
        try:
            yield worker, news
        finally:
            if is_deserted:
                task.cancel()
            worker.draining.set()
            news.set()
            try:
                await task
            except asyncio.CancelledError:
                assert is_deserted
            threads.submit(close).result()  # in its own thread, as SQLite wants it


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not condition():  # noqa: ASYNC110 (threads make it come true)
            await asyncio.sleep(0.005)


def ask(jobs: JobStore, url: str = "http://site.example/") -> Job:
    return jobs.add(CleanRequest(url=url, method="none", format="json"), client="ann", limits=QueueLimits())[
        0
    ]


def ends(jobs: JobStore, job: Job) -> list[Any]:
    """Return the last states that the events of a job tell of."""
    states = [event.data["state"] for event in jobs.events(job.id, "ann") if event.kind == "state"]
    return [state for state in states if state in {"done", "failed", "cancelled"}]


def test_a_worker_takes_a_job_when_it_is_told(tmp_path: Path, jobs: JobStore, queue: Queue) -> None:
    async def main() -> None:
        async with working(tmp_path, queue) as (_, news):
            first = ask(jobs)
            await until(lambda: jobs.get(first.id, "ann").has_ended)
            second = ask(jobs)
            news.set()
            await until(lambda: jobs.get(second.id, "ann").has_ended)
            assert [ends(jobs, job) for job in (first, second)] == [["done"], ["done"]]

    asyncio.run(main())


def test_work_on_a_page_ends_when_its_job_is_cancelled(
    tmp_path: Path, jobs: JobStore, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, cancelled = threading.Event(), threading.Event()

    def endless(*_: object) -> object:
        begun.set()
        until_s = time.monotonic() + 20
        try:
            while time.monotonic() < until_s:
                check()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return pytest.fail("it went on")

    monkeypatch.setattr(Matcher, "matches", endless)

    async def main() -> None:
        async with working(tmp_path, queue) as (_, news):
            request = CleanRequest(url="http://site.example/", method="none", select=("p",))
            job = jobs.add(request, client="ann", limits=QueueLimits())[0]
            await until(begun.is_set)
            jobs.cancel(job.id, "ann")
            news.set()
            begun_s = time.monotonic()
            await until(cancelled.is_set)
            assert time.monotonic() - begun_s < 10  # far below a second on an idle machine
            assert ends(jobs, job) == ["cancelled"]

    asyncio.run(main())


@pytest.mark.parametrize("grace_s", [0.0, LIMIT_S])
def test_an_end_in_the_middle_of_writing_results_lets_them_be_written(
    tmp_path: Path, jobs: JobStore, queue: Queue, grace_s: float
) -> None:
    queue.gate.clear()

    async def main() -> Job:
        async with working(tmp_path, queue, grace_s=grace_s) as (worker, news):
            job = ask(jobs)
            await until(queue.finishing.is_set)
            worker.draining.set()
            news.set()
            # The worker has come to wait for what is written, or to hand it back behind that.
            for _ in range(50):
                await asyncio.sleep(0)
            queue.gate.set()
        return job

    job = asyncio.run(main())
    done = jobs.get(job.id, "ann")
    assert (done.state, done.attempts, len(done.files)) == ("done", 1, 1)
    assert ends(jobs, job) == ["done"]


def test_a_job_ends_when_the_disk_has_room_again(tmp_path: Path, jobs: JobStore, queue: Queue) -> None:
    queue.is_full = True

    async def main() -> None:
        async with working(tmp_path, queue) as (_, news):
            job = ask(jobs)
            await until(lambda: queue.tries > 3)
            assert jobs.get(job.id, "ann").state == "running"
            queue.is_full = False
            await until(lambda: jobs.get(job.id, "ann").has_ended)
            assert ends(jobs, job) == ["failed"]
            problem = jobs.get(job.id, "ann").problem
            assert problem is not None
            assert (problem["fault"], problem["retry"]) == ("service", True)
            other = ask(jobs, "http://site.example/other")
            news.set()
            await until(lambda: jobs.get(other.id, "ann").has_ended)
            assert ends(jobs, other) == ["done"]

    asyncio.run(main())


def test_results_without_room_are_a_fault_of_the_service(
    tmp_path: Path, jobs: JobStore, queue: Queue
) -> None:
    queue.gate.clear()

    async def main() -> None:
        async with working(tmp_path, queue):
            job = ask(jobs)
            await until(queue.finishing.is_set)
            # Results cannot be written any more, as on a full disk, while a row still can.
            (tmp_path / "results").write_bytes(b"")
            queue.gate.set()
            await until(lambda: jobs.get(job.id, "ann").has_ended)
            problem = jobs.get(job.id, "ann").problem
            assert problem is not None
            assert problem["fault"] == "service"
            assert jobs.get(job.id, "ann").files == ()
            assert jobs.database.run("PRAGMA integrity_check") == [("ok",)]

    asyncio.run(main())


def test_a_job_that_takes_too_long_fails_and_its_worker_goes_on(
    tmp_path: Path, jobs: JobStore, queue: Queue
) -> None:
    async def main() -> None:
        async with working(tmp_path, queue, job_s=0.0) as (_, news):
            for _ in range(2):
                job = ask(jobs, "http://site.example/never")
                news.set()
                await until(lambda: jobs.get(job.id, "ann").has_ended)  # noqa: B023
                assert ends(jobs, job) == ["failed"]
                assert jobs.get(job.id, "ann").problem == overrun("time")

    asyncio.run(main())


def test_an_end_while_the_disk_is_full_is_an_end(tmp_path: Path, jobs: JobStore, queue: Queue) -> None:
    queue.is_full = True

    async def main() -> Job:
        async with working(tmp_path, queue, grace_s=0.0):
            job = ask(jobs)
            await until(lambda: queue.tries > 3)
        return job

    job = asyncio.run(main())
    assert jobs.get(job.id, "ann").state == "queued"


def test_a_worker_whose_service_is_gone_ends_its_jobs_and_leaves_them_to_the_next(
    tmp_path: Path, jobs: JobStore, queue: Queue
) -> None:
    async def main() -> Job:
        async with working(tmp_path, queue, is_deserted=True):
            job = ask(jobs, "http://site.example/never")
            await until(lambda: jobs.get(job.id, "ann").state == "running")
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return job

    job = asyncio.run(main())
    assert jobs.get(job.id, "ann").state == "running"
    assert ends(jobs, job) == []
