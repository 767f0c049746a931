"""Start the whole service: the HTTP server, the workers, and the job store between them.

It needs the packages of the extra `serve`, so other modules import it only on use.
"""

import asyncio
import itertools
import logging
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from domsieve.budget import DEFAULT_BUDGET, AnalysisBudget
from domsieve.errors import DomsieveError
from domsieve.renderer.browser.playwright_driver import browser_in_use
from domsieve.renderer.network.addresses import HostRules
from domsieve.renderer.network.egress import private_host
from domsieve.service._logs import log, logging_to_stderr
from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.job_values import SiteQuota
from domsieve.service.jobs.pool import WorkerPool, owned
from domsieve.service.jobs.work_queue import WorkQueue, clock
from domsieve.service.jobs.worker import WorkerSettings
from domsieve.service.web.app import create_app
from domsieve.service.web.gateway import Gateway
from domsieve.service.web.load_shedding import LoadShedding
from domsieve.service.web.metrics import Figures
from domsieve.service.web.server import Server, listen
from domsieve.service.web.settings import OPERATOR, Settings, read_tokens
from domsieve.types import DriverName

__all__ = ["Settings", "SiteQuota", "Work", "read_tokens", "serve", "serve_stdio"]

_MINUTE_S = 60.0
_MINUTES = 60
_BEGINNING_S = 60.0
# A younger capture without a job may belong to a command that is running.
_UNDER_WAY = timedelta(hours=1)
# Workers send a heartbeat every five seconds; after this time without one, a worker is stuck.
_SILENT_S = 45.0
# The client is gone and would kill a process that lingers.
_GRACE_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How jobs are processed.

    Parameters
    ----------
    workers : number of processes, each with its own browser.
    concurrency : number of jobs that a worker processes at once.
    job_s, step_s : seconds for a job, and for each of its steps in a thread; see `WorkerSettings`.
    memory_bytes : memory of a worker, without its browser.
    browser : path or name of Chrome; None searches for one.
    browser_arguments : more flags of the browser.
    driver : how to talk to the browser.
    analysis : the budget of the analysis of one page.
    """

    workers: int
    concurrency: int
    job_s: float = 1_800.0
    step_s: float = 900.0
    memory_bytes: int = 5_000_000_000
    browser: str | None = None
    browser_arguments: tuple[str, ...] = ()
    driver: DriverName = "playwright"
    analysis: AnalysisBudget = DEFAULT_BUDGET


def serve(
    settings: Settings,
    data: Path,
    *,
    work: Work,
    ready: Callable[[str], None],
    new_token: Callable[[str], None],
) -> None:
    """Serve until SIGTERM or SIGINT.

    Parameters
    ----------
    settings : the settings of the service.
    data : folder of jobs and captures, created if necessary.
    work : how jobs are processed.
    ready : called with the URL when the service accepts connections.
    new_token : called before that with a random token, if the service needs a token and none was set. The token is
        not stored.

    Raises
    ------
    UsageError : the service cannot listen at the address, or a setting is wrong.
    BrowserNotFoundError : there is no Chrome.
    StorageError : another service uses the folder, or the folder is not usable.
    """
    settings.check()
    for_workers = _worker_settings(settings, data, work)
    is_closed = bool(settings.tokens)
    settings = settings.closed()
    with (
        logging_to_stderr(),
        owned(data),
        listen(settings.host, settings.port) as listener,
        Database(data / "jobs.sqlite") as database,
        Database(data / "jobs.sqlite") as watched,
        Database(data / "jobs.sqlite") as upkept,  # so that no request waits while many jobs are deleted
    ):
        store, queue = JobStore(database), WorkQueue(database)
        log("browser", found=str(browser_in_use(work.browser)))
        port = listener.getsockname()[1]
        shown = f"[{settings.host}]" if ":" in settings.host else settings.host

        async def run() -> None:
            async with AsyncExitStack() as stack:
                pool = await stack.enter_async_context(
                    WorkerPool(for_workers, database, workers=work.workers)
                )
                began = time.monotonic()

                def is_well() -> bool:
                    said = queue.workers().values()
                    if not said:
                        return time.monotonic() - began < _BEGINNING_S
                    return any(
                        facts["healthy"] and clock() - facts["said_at_s"] < _SILENT_S for facts in said
                    )

                app = create_app(
                    settings,
                    store,
                    figures=lambda: _figures(pool, queue),
                    is_well=is_well,
                    watched=watched.version,
                    overload=_headroom(settings),
                )
                upkeep = asyncio.create_task(_upkeep(JobStore(upkept), settings))
                stack.callback(upkeep.cancel)
                if settings.tokens and not is_closed:
                    new_token(settings.tokens[OPERATOR])
                ready(f"http://{shown}:{port}/")
                log("serving", host=settings.host, port=port, workers=work.workers)
                if settings.mcp:
                    from domsieve.service.mcp.mcp_server import over_http
                    from domsieve.service.mcp.tool_calls import ToolCalls

                    calls = ToolCalls(app.state.gateway)
                    await stack.enter_async_context(over_http(app, calls, body_bytes=settings.mcp_body_bytes))
                server = Server(app, stopping=app.state.gateway.stop, proxies=settings.proxies)
                await server.serve([listener])
                log("stopping")

        asyncio.run(run())
        log("stopped")


def serve_stdio(settings: Settings, data: Path, *, work: Work) -> None:
    """Serve one MCP client over standard input and output until it ends, or until SIGTERM or SIGINT.

    The first call of a tool starts workers and browsers, because clients start all of their servers at once.

    Parameters
    ----------
    settings : the limits of jobs, and the private hosts that pages may be rendered from.
    data : folder of jobs and captures, created if necessary.
    work : how jobs are processed.

    Raises
    ------
    BrowserNotFoundError : there is no Chrome.
    StorageError : another service uses the folder, or the folder is not usable.
    """
    from domsieve.service.mcp.mcp_server import over_stdio
    from domsieve.service.mcp.tool_calls import ToolCalls

    for_workers = replace(_worker_settings(settings, data, work), grace_s=_GRACE_S)
    with (
        logging_to_stderr(),
        owned(data),
        Database(data / "jobs.sqlite") as database,
        Database(data / "jobs.sqlite") as upkept,
    ):
        log("browser", found=str(browser_in_use(work.browser)))
        store = JobStore(database)
        gateway = Gateway(settings, store, version=database.version, overload=_headroom(settings))

        async def run() -> None:
            async with AsyncExitStack() as stack:

                async def start() -> None:
                    await stack.enter_async_context(WorkerPool(for_workers, database, workers=work.workers))
                    stack.callback(asyncio.create_task(_upkeep(JobStore(upkept), settings)).cancel)

                started: list[asyncio.Task[None]] = []

                async def ready() -> None:
                    if not started:
                        started.append(asyncio.create_task(start()))
                    await asyncio.shield(started[0])

                serving = asyncio.create_task(over_stdio(ToolCalls(gateway, ready=ready)))
                loop = asyncio.get_running_loop()
                for number in (signal.SIGTERM, signal.SIGINT):
                    loop.add_signal_handler(number, serving.cancel)
                log("serving", transport="stdio")
                await asyncio.wait([serving])
                gateway.stop()
                if not serving.cancelled():
                    serving.result()

        asyncio.run(run())
        log("stopped")


def _headroom(settings: Settings) -> LoadShedding:
    return LoadShedding(free_ratio=settings.free_memory_ratio, load=settings.max_load)


def _worker_settings(settings: Settings, data: Path, work: Work) -> WorkerSettings:
    HostRules.of(settings.deny_hosts, settings.allow_hosts)  # errors appear before anything starts
    return WorkerSettings(
        data=str(data.resolve()),
        concurrency=work.concurrency,
        private_hosts=tuple(private_host(text) for text in settings.private_hosts),
        deny_hosts=settings.deny_hosts,
        allow_hosts=settings.allow_hosts,
        site=settings.site,
        job_s=work.job_s,
        step_s=work.step_s,
        memory_bytes=work.memory_bytes,
        browser=work.browser,
        browser_arguments=work.browser_arguments,
        driver=work.driver,
        analysis_s=work.analysis.time.total_seconds(),
        analysis_bytes=work.analysis.memory_bytes,
    )


def _figures(pool: WorkerPool, queue: WorkQueue) -> Figures:
    said = queue.workers().values()
    return Figures(
        workers=len(pool.pids),
        worker_restarts=pool.restarts,
        pages=sum(facts["pages"] for facts in said),
        loads=_loads(said),
        browser_starts=sum(facts["browsers"] for facts in said),
        browser_memory_bytes=sum(facts["memory_bytes"] for facts in said),
    )


def _loads(said: Iterable[Mapping[str, Any]]) -> Mapping[tuple[str, str], int]:
    loads: Counter[tuple[str, str]] = Counter()
    for facts in said:
        for how, reason, number in facts["loads"]:
            loads[how, reason] += number
    return loads


async def _upkeep(store: JobStore, settings: Settings) -> None:
    """Delete old jobs now and every hour, and jobs beyond the limits every minute; free their disk space."""
    every_hour = (_forget_much, _forget_old, _sweep, _move_results)
    for minute in itertools.count():
        for work in every_hour if minute % _MINUTES == 0 else every_hour[:1]:
            try:
                await asyncio.to_thread(work, store, settings)
            except (DomsieveError, OSError) as error:
                log("store_failed", level=logging.ERROR, detail=str(error))
        await asyncio.sleep(_MINUTE_S)


def _forget_much(store: JobStore, settings: Settings) -> None:
    store.captures.measure()
    jobs = store.trim(jobs=settings.keep_jobs, size_bytes=settings.keep_bytes)
    pages = store.captures.remove_unused()
    while store.database.shrink():
        pass
    if jobs or pages:
        log("trimmed", jobs=jobs, pages=pages)


def _forget_old(store: JobStore, settings: Settings) -> None:
    if jobs := store.expire(_ago(timedelta(days=settings.keep_days))):
        log("expired", jobs=jobs)


def _sweep(store: JobStore, settings: Settings) -> None:  # noqa: ARG001 (called like its neighbours)
    files, pages = store.sweep(), store.captures.remove_strays(_ago(_UNDER_WAY))
    stores = store.stores.sweep()
    if files or pages or stores:
        log("swept", files=files, pages=pages, stores=stores)


def _move_results(store: JobStore, settings: Settings) -> None:
    if moved := store.move_results(spare_bytes=settings.free_bytes):
        log("results_moved", files=moved)


def _ago(age: timedelta) -> str:
    return (datetime.now(UTC) - age).isoformat(timespec="milliseconds")
