"""A worker: one process with one browser that claims jobs and runs several at a time.

The pool starts it and writes its settings to its standard input as a line of JSON. The input stays open; each further
line means that there are new or changed jobs. When it closes, the service has ended, and the worker stops. On SIGTERM
the worker finishes what it can within its grace period and returns the other jobs to the queue. On its standard
output it reports what it is doing; see `domsieve.service.jobs._heartbeat`.
"""

import asyncio
import contextlib
import functools
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from domsieve.budget import DEFAULT_BUDGET, AnalysisBudget
from domsieve.errors import BrowserError, BrowserLostError, DomsieveError
from domsieve.renderer.network.addresses import HostRules
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.renderer import Renderer
from domsieve.renderer.supervisor import RecyclePolicy, Supervisor
from domsieve.service._logs import log, logging_to_stderr
from domsieve.service.jobs._heartbeat import BEAT_S, HeartbeatWriter
from domsieve.service.jobs._job_context import WorkerContext
from domsieve.service.jobs._job_work import do
from domsieve.service.jobs.captures import CACHE
from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_values import (
    DEFAULT_SITE_QUOTA,
    OF_SITES,
    Claim,
    SiteQuota,
    overrun,
    problem_of,
)
from domsieve.service.jobs.work_queue import WorkQueue, clock
from domsieve.snapshot.store import PageStore
from domsieve.types import DriverName

# The times in this module are guesses. A lease is longer by this than the pool lets a worker be silent: while the
# pool lives, only it takes jobs back. Otherwise a job that makes workers hang would move from worker to worker.
_LEASE_S = 60.0
_RENEW_S = 15.0
# Poll for changes without a notification: expired leases, and jobs that other programs add.
_LOOK_S = 1.0
_REPORT_S = 5.0
_HEALTH_S = 15.0
# Exit this long after the service has ended, because nobody waits for the running jobs.
_LAST_S = 5.0
# The worker stops a job at its time limit; if that fails, the pool kills the worker this much later.
_LATE_S = 30.0
_TRIES = 2
_AGAIN_S = 1.0


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a worker, which the pool sends it.

    Parameters
    ----------
    data : the folder of the service.
    concurrency : the number of jobs to run at the same time.
    private_hosts : private hosts that pages may be loaded from, with their ports; a port of None means any port.
    deny_hosts, allow_hosts : hosts that are never connected to, and the only ones that are; see `HostRules`.
    site : the quota of a site job.
    browser : the path or name of the browser; None searches for one.
    browser_arguments : further command line flags for the browser.
    driver : the driver that controls the browser.
    grace_s : seconds that jobs may continue after SIGTERM.
    job_s : the time limit of a job in seconds from its claim. Site jobs have the time of their quota in addition.
    step_s : the time limit of each part of a job that runs in a thread, in seconds.
    memory_bytes : the memory limit of the process, without its browser.
    pages, megabytes, crashes : when the browser is replaced; see `RecyclePolicy`.
    analysis_s, analysis_bytes : processor time and memory that the analysis of one page may use.
    """

    data: str
    concurrency: int
    private_hosts: tuple[tuple[str, int | None], ...] = ()
    deny_hosts: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    site: SiteQuota = DEFAULT_SITE_QUOTA
    browser: str | None = None
    browser_arguments: tuple[str, ...] = ()
    driver: DriverName = "playwright"
    grace_s: float = 10.0
    job_s: float = 1_800.0
    step_s: float = 900.0
    memory_bytes: int = 5_000_000_000
    pages: int = 1_000
    megabytes: int = 1_500
    crashes: int = 5
    analysis_s: float = DEFAULT_BUDGET.time.total_seconds()
    analysis_bytes: int = DEFAULT_BUDGET.memory_bytes


@dataclass(slots=True)
class _Running:
    """A running job."""

    claim: Claim
    task: asyncio.Task[None]
    stopped: threading.Event = field(default_factory=threading.Event)


class Worker:
    """Claims and runs jobs until it is told to stop.

    Parameters
    ----------
    name : the name of the worker, unique among all living workers.
    settings : the settings of the worker.
    bench : what the jobs need.
    ledger : an executor with a single thread for the database, because the event loop must not wait for the locks of
        other processes.
    news : set when there are new or changed jobs.
    pulse : reports to the pool what the worker is doing.

    Attributes
    ----------
    draining : set it to stop claiming jobs and end.
    """

    def __init__(
        self,
        name: str,
        settings: WorkerSettings,
        bench: WorkerContext,
        *,
        ledger: ThreadPoolExecutor,
        news: asyncio.Event,
        pulse: HeartbeatWriter,
    ) -> None:
        self._name = name
        self._settings = settings
        self._bench = bench
        self._queue = bench.queue
        self._ledger = ledger
        self._running: dict[tuple[str, int], _Running] = {}
        self._sites = 0
        self._is_in_doubt = False  # whether the browser works
        self._news = news
        self._pulse = pulse
        self.draining = asyncio.Event()

    async def run(self) -> None:
        """Run jobs until `draining` is set; then finish running jobs within the grace period."""
        try:
            await self._take_jobs()
            await self._hand_back()
        finally:
            # If this was cancelled, the service has ended. The next one takes these jobs back.
            for running in self._running.values():
                running.stopped.set()
                running.task.cancel()
            await asyncio.gather(*self._tasks(), return_exceptions=True)

    async def _take_jobs(self) -> None:
        version: object = None
        looked = 0.0
        while not self.draining.is_set():
            now = self._queue.database.version()
            if now != version or self._news.is_set() or time.monotonic() - looked > _REPORT_S:
                version, looked = now, time.monotonic()
                self._news.clear()
                try:
                    await self._drop_lost()
                    await self._take()
                except DomsieveError as error:
                    log("store_failed", level=logging.ERROR, detail=error.message)
                    version = None
                    await asyncio.sleep(_AGAIN_S)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_S):
                    await self._news.wait()

    async def report(self, supervisor: Supervisor) -> None:
        """Report the state of the worker and renew its leases periodically, until cancelled."""
        looked = renewed = -_HEALTH_S
        healthy = False
        while True:
            if time.monotonic() - looked >= _HEALTH_S or self._is_in_doubt or not healthy:
                self._is_in_doubt = False
                looked, healthy = time.monotonic(), await supervisor.health()
            served = supervisor.served
            facts = {
                "pid": os.getpid(),
                "running": len(self._running),
                "concurrency": self._settings.concurrency,
                "healthy": healthy,
                "said_at_s": clock(),
                "pages": served.pages,
                "loads": self._bench.loads.rows(),
                "browsers": served.browsers,
                "crashes": served.crashes,
                "memory_bytes": served.memory_bytes,
            }
            try:
                await self._store(self._queue.report_worker, self._name, facts)
                if time.monotonic() - renewed >= _RENEW_S:
                    renewed = time.monotonic()
                    for running in [*self._running.values()]:
                        await self._store(self._queue.renew, running.claim)
            except DomsieveError as error:
                log("store_failed", level=logging.ERROR, detail=error.message)
            await asyncio.sleep(_REPORT_S)

    async def _take(self) -> None:
        """Claim as many jobs as may run at once. Site jobs take at most half of the places."""
        while len(self._running) < self._settings.concurrency:
            sites = self._sites < max(1, self._settings.concurrency // 2)
            claim = await self._store(
                functools.partial(
                    self._queue.claim, self._name, lease_s=self._settings.step_s + _LEASE_S, sites=sites
                )
            )
            if claim is None:
                return
            stopped = threading.Event()
            task = asyncio.create_task(self._work(claim, stopped))
            self._running[claim.job.id, claim.token] = _Running(claim, task, stopped)
            self._sites += claim.job.kind in OF_SITES

    async def _drop_lost(self) -> None:
        """Stop running jobs that were cancelled or deleted."""
        for running in [*self._running.values()]:
            if not await self._store(self._queue.holds, running.claim) and not running.task.done():
                running.stopped.set()
                running.task.cancel()

    async def _work(self, claim: Claim, stopped: threading.Event) -> None:
        """Run a job and record its end; the boundary that no error passes."""
        start = time.monotonic()
        outcome = "failed"
        limit_s = self._settings.job_s + (self._settings.site.time_s if claim.job.kind in OF_SITES else 0.0)
        limit = asyncio.timeout(limit_s)
        try:
            with self._pulse.job(claim.job.id, limit_s=limit_s + _LATE_S):
                async with limit:
                    outcome = await self._done(claim, stopped)
        except asyncio.CancelledError:
            outcome = "cancelled"
        except Exception as error:
            if isinstance(error, TimeoutError) and limit.expired():
                stopped.set()
                await self._fail(claim, overrun("time"))
            else:
                log("job_broke", level=logging.ERROR, trace=True, job=claim.job.id)
                await self._fail(claim, problem_of(error))
        finally:
            del self._running[claim.job.id, claim.token]
            self._sites -= claim.job.kind in OF_SITES
            self._news.set()
            log(
                "job",
                job=claim.job.id,
                kind=claim.job.kind,
                client=claim.job.client,
                url=str(claim.job.request.get("url")),
                outcome=outcome,
                attempt=claim.job.attempts,
                ms=round((time.monotonic() - start) * 1000),
            )

    async def _done(self, claim: Claim, stopped: threading.Event) -> str:
        run = functools.partial(self._in_thread, claim)
        for left in reversed(range(_TRIES)):
            try:
                result = await do(claim, self._bench, run=run, stopped=stopped)
            except BrowserLostError as error:
                self._is_in_doubt = True
                if left:
                    continue  # the supervisor starts another browser
                log("browser_failed", level=logging.ERROR, job=claim.job.id, detail=error.message)
                held = await self._store(self._queue.fail, claim, problem_of(error))
            except DomsieveError as error:
                if isinstance(error, BrowserError):
                    self._is_in_doubt = True
                    log("browser_failed", level=logging.ERROR, job=claim.job.id, detail=error.message)
                elif problem_of(error)["fault"] == "service":
                    log("job_broke", level=logging.ERROR, trace=True, job=claim.job.id)
                held = await self._store(self._queue.fail, claim, problem_of(error))
            else:
                held = await self._store(
                    functools.partial(
                        self._queue.finish, claim, result.summary, result.files, pages=result.pages
                    )
                )
                return "done" if held else "lost"
            break
        return "failed" if held else "lost"

    async def _fail(self, claim: Claim, problem: dict[str, Any]) -> None:
        """Mark a job as failed, as soon as the store is writable: the disk may be full."""
        while True:
            try:
                await self._store(self._queue.fail, claim, problem)
            except DomsieveError as error:
                log("store_failed", level=logging.ERROR, detail=error.message)
                await asyncio.sleep(_AGAIN_S)
            else:
                return

    async def _hand_back(self) -> None:
        """Wait for running jobs during the grace period, then return the others to the queue."""
        if self._running:
            await asyncio.wait(self._tasks(), timeout=self._settings.grace_s)
        for running in [*self._running.values()]:
            # Release before the tasks are cancelled, so that nothing they still do has an effect.
            try:
                await self._store(self._queue.release, running.claim)
            except DomsieveError as error:  # the pool will take the job back
                log("store_failed", level=logging.ERROR, detail=error.message)

    def _tasks(self) -> list[asyncio.Task[None]]:
        return [running.task for running in self._running.values()]

    async def _in_thread(self, claim: Claim, work: Callable[[], Any]) -> Any:
        def step() -> Any:
            with self._pulse.step(claim.job.id, limit_s=self._settings.step_s):
                return work()

        return await asyncio.get_running_loop().run_in_executor(self._bench.threads, step)

    async def _store(self, work: Callable[..., Any], *values: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._ledger, work, *values)


async def serve(name: str, settings: WorkerSettings, news: asyncio.Event, pulse: HeartbeatWriter) -> None:
    """Run a worker until SIGTERM."""
    data = Path(settings.data)
    rules = HostRules.of(settings.deny_hosts, settings.allow_hosts)
    egress = Egress(named=settings.private_hosts, rules=rules)
    recycle = RecyclePolicy(pages=settings.pages, megabytes=settings.megabytes, crashes=settings.crashes)

    def make() -> Renderer:
        return Renderer(
            concurrency=settings.concurrency + 1,  # one more for the page of the health check
            executable=settings.browser,
            arguments=settings.browser_arguments,
            driver=settings.driver,
            egress=egress,
        )

    own = threading.local()

    def pages() -> PageStore:
        if not hasattr(own, "store"):
            own.store = PageStore(data / CACHE)
        return own.store  # type: ignore[no-any-return]

    with (
        Database(data / "jobs.sqlite") as database,
        ThreadPoolExecutor(1, "ledger") as ledger,
        ThreadPoolExecutor(settings.concurrency, "analysis") as threads,
    ):
        async with Supervisor(
            make, egress=egress, concurrency=settings.concurrency, recycle=recycle
        ) as supervisor:
            analysis = AnalysisBudget(
                time=timedelta(seconds=settings.analysis_s), memory_bytes=settings.analysis_bytes
            )
            bench = WorkerContext(supervisor, WorkQueue(database), threads, pages, analysis, settings.site)
            worker = Worker(name, settings, bench, ledger=ledger, news=news, pulse=pulse)
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGTERM, worker.draining.set)
            log("worker_started", worker=name)
            reports = [asyncio.create_task(worker.report(supervisor)), asyncio.create_task(_beat(pulse))]
            try:
                await worker.run()
            finally:
                for task in reports:
                    task.cancel()
                await asyncio.gather(*reports, return_exceptions=True)
    log("worker_ended", worker=name)


async def _beat(pulse: HeartbeatWriter) -> None:
    while True:
        pulse.beat()
        await asyncio.sleep(BEAT_S)


def _follow_parent(main: "asyncio.Task[None]", loop: asyncio.AbstractEventLoop, news: asyncio.Event) -> None:
    """Set `news` for each line on standard input; stop the worker when the input closes.

    It closes when the service ends, even if the service was killed.
    """
    with contextlib.suppress(RuntimeError):  # the loop has ended
        while os.read(0, 4096):
            loop.call_soon_threadsafe(news.set)
    # The event loop may be busy or stuck, so do not depend on it.
    last = threading.Timer(_LAST_S, os._exit, (1,))
    last.daemon = True
    last.start()
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(main.cancel)


async def _main(name: str, settings: WorkerSettings, pulse: HeartbeatWriter) -> None:
    news = asyncio.Event()
    main = asyncio.create_task(serve(name, settings, news, pulse))
    args = main, asyncio.get_running_loop(), news
    threading.Thread(target=_follow_parent, args=args, name="parent", daemon=True).start()
    with contextlib.suppress(asyncio.CancelledError):
        await main


def run() -> None:
    """Run the worker whose name is the first argument of the command line."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Bypass sys.stdin: at exit, a thread that waits for input would still hold its lock.
    with open(0, "rb", buffering=0, closefd=False) as stdin:
        settings = msgspec.json.decode(stdin.readline(), type=WorkerSettings)
    with logging_to_stderr():
        asyncio.run(_main(sys.argv[1], settings, HeartbeatWriter(_own_output())))


def _own_output() -> int:
    """Return a descriptor of standard output for the heartbeat; whatever else is printed is dropped from now on."""
    own = os.dup(1)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)
    return own


if __name__ == "__main__":
    run()
