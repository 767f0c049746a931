"""Worker processes: started, started anew, ended; whatever dies, jobs are neither lost nor done twice."""

import asyncio
import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from domsieve.errors import StorageError
from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.job_values import Job, QueueLimits, UsedPage
from domsieve.service.jobs.pool import WorkerPool, owned
from domsieve.service.jobs.requests import (
    CleanRequest,
    CompareRequest,
    PageRequest,
    RecordsRequest,
    ReportRequest,
    SiteRequest,
)
from domsieve.service.jobs.work_queue import WorkQueue
from domsieve.service.jobs.worker import WorkerSettings
from domsieve.snapshot.store import PageStore
from tests.service.jobs.captures import captured
from tests.service.jobs.opened import opened

LIMITS = QueueLimits(queued=1_000, per_client=1_000)
LIMIT_S = 300.0
ROOT = Path(__file__).parents[3]


def alive(pid: int) -> bool:
    """Return whether a process lives; one that ended and was not asked for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not condition():  # noqa: ASYNC110 (other processes make it come true)
            await asyncio.sleep(0.02)


def below(pid: int) -> list[int]:
    """Return the numbers of all processes below one."""
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, file.read_text("ascii").split()):
                found += [child, *below(child)]
    return found


def is_browser(pid: int) -> bool:
    """Return whether a process is the browser's own, or a script that started it, not the driver's or a page's."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"--remote-debugging-" in command and b"--type=" not in command


@contextlib.asynccontextmanager
async def pool_of(
    data: Path, *, workers: int = 1, port: int | None = None, grace_s: float = 10.0, browser: bool = True
) -> AsyncIterator[tuple[WorkerPool, JobStore]]:
    """Run workers; without a port nothing may be rendered, and no browser is there."""
    browser = browser and port is not None
    settings = WorkerSettings(
        data=str(data),
        concurrency=2,
        private_hosts=() if port is None else (("127.0.0.1", port),),
        browser=None if browser else "/nonexistent/chrome",
        grace_s=grace_s,
    )
    with owned(data), Database(data / "jobs.sqlite") as database:
        async with WorkerPool(settings, database, workers=workers) as pool:
            yield pool, JobStore(database)


def refused(store: JobStore) -> Job:
    """Ask for what every worker refuses without a browser."""
    return store.add(CleanRequest(url="http://127.0.0.1:8/"), client="ann", limits=LIMITS)[0]


def test_jobs_of_before_are_done(tmp_path: Path) -> None:
    with opened(tmp_path / "jobs.sqlite") as (store, queue):
        waiting, running = refused(store), refused(store)
        assert queue.claim("of a service that was killed", lease_s=1e6)

    async def main() -> None:
        async with pool_of(tmp_path) as (_, store):
            await until(lambda: store.counts()["failed"] == 2)
            for job in (waiting, running):
                problem = store.get(job.id, "ann").problem
                assert problem is not None
                assert problem["fault"] == "policy"

    asyncio.run(main())


def test_a_killed_worker_is_followed_by_another(tmp_path: Path) -> None:
    async def main() -> None:
        async with pool_of(tmp_path) as (pool, store):
            await until(lambda: len(WorkQueue(store.database).workers()) == 1)
            (first,) = pool.pids
            (name,) = WorkQueue(store.database).workers()
            os.kill(first, signal.SIGKILL)
            job = refused(store)
            await until(lambda: store.get(job.id, "ann").has_ended)
            await until(lambda: len(WorkQueue(store.database).workers()) == 1)
            assert pool.restarts == 1
            assert pool.pids != [first]
            assert name not in WorkQueue(store.database).workers()

    asyncio.run(main())


def test_no_worker_outlives_the_pool(tmp_path: Path) -> None:
    pids: list[int] = []

    async def main() -> None:
        async with pool_of(tmp_path, workers=2) as (pool, store):
            await until(lambda: len(WorkQueue(store.database).workers()) == 2)
            pids.extend(pool.pids)

    asyncio.run(main())
    assert len(pids) == 2
    assert not any(map(alive, pids))


def test_workers_end_with_a_service_that_was_killed(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.service.jobs.owner", str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        assert process.stdout
        pids = [int(word) for word in process.stdout.readline().split()]
        assert len(pids) == 2
        assert all(map(alive, pids))
        with pytest.raises(StorageError, match="in use by another service"), owned(tmp_path):
            pass
        process.kill()
    asyncio.run(until(lambda: not any(map(alive, pids))))
    with owned(tmp_path):
        pass


def test_workers_are_told_of_news(tmp_path: Path) -> None:
    async def main() -> None:
        async with pool_of(tmp_path, workers=0) as (pool, store):
            pipe = asyncio.subprocess.PIPE
            worker = await asyncio.create_subprocess_exec("cat", stdin=pipe, stdout=pipe)
            pool._processes["worker"] = worker
            assert worker.stdout
            job = refused(store)
            assert await worker.stdout.read(1) == b"\n"
            store.cancel(job.id, "ann")
            assert await worker.stdout.read(1) == b"\n"

    asyncio.run(main())


def test_a_disk_that_is_full_for_a_worker_loses_no_job(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async def main() -> None:
        async with pool_of(tmp_path) as (pool, store):
            await until(lambda: len(WorkQueue(store.database).workers()) == 1)
            (worker,) = pool.pids
            # What the service itself writes comes first, so that the worker's own can only lie behind.
            full = (tmp_path / "jobs.sqlite-wal").stat().st_size
            resource.prlimit(worker, resource.RLIMIT_FSIZE, (full, resource.RLIM_INFINITY))
            job = refused(store)
            said = ""

            def has_failed() -> bool:
                nonlocal said
                said += capfd.readouterr().err
                return "store_failed" in said

            await until(has_failed)
            assert store.get(job.id, "ann").state == "queued"
            resource.prlimit(worker, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            await until(lambda: store.get(job.id, "ann").has_ended)
            assert pool.pids == [worker]
            assert store.get(job.id, "ann").attempts == 1

    asyncio.run(main())


def test_an_end_in_the_middle_of_many_jobs_loses_none_and_does_none_twice(tmp_path: Path) -> None:
    urls = [f"http://127.0.0.1:8123/{number}" for number in range(5)]
    with PageStore(tmp_path / "cache") as cache:
        records = [cache.put(captured(url).snapshot, site="127.0.0.1:8123") for url in urls]
    used = [
        UsedPage(
            page_id=record.page_id,
            url=record.url,
            site=record.site,
            captured_at="",
            nodes=1,
            complete=True,
            job="",
        )
        for record in records
    ]

    async def main() -> None:
        with opened(tmp_path / "jobs.sqlite") as (store, queue):
            store.add(CleanRequest(url=urls[0]), client="ann", limits=LIMITS)
            before = queue.claim("before", lease_s=60)
            assert before is not None
            queue.finish(before, {}, [], pages=used)  # captures are used again by their own client alone
            jobs = [
                store.add(CleanRequest(url=url, method="none"), client="ann", limits=LIMITS)[0]
                for url in urls * 12
            ]
        for enough in (10, len(jobs) + 1):
            async with pool_of(tmp_path, workers=2, port=8123, grace_s=0.0, browser=False) as (_, store):
                await until(lambda: store.counts()["done"] >= enough)  # noqa: B023
            with opened(tmp_path / "jobs.sqlite") as (store, queue):
                assert {state for state, count in store.counts().items() if count} <= {"queued", "done"}
                assert store.database.run("PRAGMA integrity_check") == [("ok",)]
        with opened(tmp_path / "jobs.sqlite") as (store, queue):
            for job in jobs:
                states = [event.data.get("state") for event in store.events(job.id, "ann")]
                assert states.count("done") == 1
                assert len(store.get(job.id, "ann").files) == 1

    asyncio.run(main())


class Site(BaseHTTPRequestHandler):
    """A site whose page ``/slow`` comes when the gate is opened."""

    server: "SiteServer"
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.path.startswith("/slow"):
            self.server.gate.wait(LIMIT_S)
        body = (
            f"<!doctype html><title>T</title><main><p>The words of {self.path} are here.</p></main>".encode()
        )
        found = self.path not in {"/robots.txt", "/sitemap.xml", "/favicon.ico"}
        with contextlib.suppress(ConnectionError):
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


class SiteServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Site)
        self.gate = threading.Event()
        self.asked: list[str] = []

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with SiteServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.gate.set()
            server.shutdown()
            thread.join()


def slow(store: JobStore, site: SiteServer, *, query: str = "") -> Job:
    request = CleanRequest(url=site.url(f"/slow{query}"), format="text", time_s=60)
    return store.add(request, client="ann", limits=LIMITS)[0]


@pytest.mark.browser
def test_every_kind_of_job(tmp_path: Path, site: SiteServer) -> None:
    url = site.url("/page")
    requests: list[tuple[PageRequest, list[str]]] = [
        (CleanRequest(url=url, format="text"), ["page.txt"]),
        (RecordsRequest(url=url), ["records.jsonl"]),
        (CompareRequest(url=url), ["comparison.json"]),
        (ReportRequest(url=url), ["report.html"]),
        (SiteRequest(url=url, pages=2), ["pages.zip", "pages.json"]),
    ]

    async def main() -> None:
        async with pool_of(tmp_path, port=site.server_port) as (_, store):
            for request, names in requests:
                job = store.add(request, client="ann", limits=LIMITS)[0]
                await until(lambda: store.get(job.id, "ann").has_ended)  # noqa: B023
                done = store.get(job.id, "ann")
                assert done.state == "done", done.problem
                assert [file.name for file in done.files] == names
                for file in done.files:
                    assert len(store.read(job.id, "ann", file.name)) == file.size_bytes
            for client in ("ann", "bob"):  # whose captures are his own
                again = store.add(CleanRequest(url=url, format="text"), client=client, limits=LIMITS)[0]
                await until(lambda: store.get(again.id, client).has_ended)  # noqa: B023
                summary = store.get(again.id, client).summary
                assert summary is not None
                assert summary["from_cache"] is (client == "ann")
            assert b"The words of /page are here." in store.read(again.id, "bob", "page.txt")

    asyncio.run(main())


@pytest.mark.browser
@pytest.mark.parametrize("victim", ["browser", "worker"])
def test_a_job_outlives_a_kill(tmp_path: Path, site: SiteServer, victim: str) -> None:
    async def main() -> None:
        async with pool_of(tmp_path, port=site.server_port) as (pool, store):
            job = slow(store, site)
            await until(lambda: "/slow" in site.asked)
            (worker,) = pool.pids
            family = below(worker)
            chrome = [pid for pid in family if is_browser(pid)][-1]
            os.kill(chrome if victim == "browser" else worker, signal.SIGKILL)
            site.gate.set()
            await until(lambda: store.get(job.id, "ann").has_ended)
            done = store.get(job.id, "ann")
            assert (done.state, done.attempts) == ("done", 1 if victim == "browser" else 2)
            states = [event.data["state"] for event in store.events(job.id, "ann") if event.kind == "state"]
            assert states.count("done") == 1
            # Nothing of the dead worker's browser is left either.
            await until(lambda: victim == "browser" or not any(map(alive, family)))

    asyncio.run(main())


@pytest.mark.browser
def test_a_cancelled_job_lets_go_of_its_page(tmp_path: Path, site: SiteServer) -> None:
    async def main() -> None:
        async with pool_of(tmp_path, port=site.server_port) as (_, store):
            # All places; of equal addresses the browser would ask for one at a time.
            jobs = [slow(store, site, query=query) for query in ("?1", "?2")]
            other = store.add(CleanRequest(url=site.url("/page")), client="ann", limits=LIMITS)[0]
            await until(lambda: {"/slow?1", "/slow?2"} <= {*site.asked})
            store.cancel(jobs[0].id, "ann")
            store.delete(jobs[1].id, "ann")
            await until(lambda: store.get(other.id, "ann").has_ended)
            assert store.get(other.id, "ann").state == "done"
            assert store.get(jobs[0].id, "ann").state == "cancelled"

    asyncio.run(main())


@pytest.mark.browser
def test_what_an_ending_service_cannot_finish_waits_for_the_next(tmp_path: Path, site: SiteServer) -> None:
    async def main() -> None:
        async with pool_of(tmp_path, port=site.server_port, grace_s=0.1) as (_, store):
            job = slow(store, site)
            await until(lambda: "/slow" in site.asked)
        with opened(tmp_path / "jobs.sqlite") as (store, _):
            waiting = store.get(job.id, "ann")
            assert (waiting.state, waiting.attempts) == ("queued", 0)
        site.gate.set()
        async with pool_of(tmp_path, port=site.server_port) as (_, store):
            await until(lambda: store.get(job.id, "ann").has_ended)
            assert store.get(job.id, "ann").state == "done"

    asyncio.run(main())
