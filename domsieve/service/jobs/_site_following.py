"""Running a job that follows a site: bring its store in step with the site, and return what changed.

The run has a thread and an event loop of its own, because it cleans and compares pages between requests, and the
worker must go on with other jobs meanwhile. Its pages are rendered by the browsers of the worker, in the loop of the
worker.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from domsieve.errors import DomsieveError, PolicyError, StorageError
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.network.proxy import Proxy
from domsieve.renderer.protocol import Outcome, PageSource, Rendering
from domsieve.renderer.sampling.events import PageDone, PageFailed, SampleEvent, SiteOpened
from domsieve.service.jobs._page_loads import JobBrowsers, LoadCounts, PageRenderer, check_delay
from domsieve.service.jobs.job_values import Claim, NewFile, SiteLimit, SiteQuota, problem_of
from domsieve.service.jobs.stores import folder_bytes
from domsieve.service.jobs.sync_request import SyncRequest
from domsieve.service.jobs.work_queue import WorkQueue
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.file_names import MANIFEST
from domsieve.tasks.page_folder import PageFolder
from domsieve.tasks.sampling import describe
from domsieve.tasks.site_sync.change_log import CHANGES, FEED, PAGE
from domsieve.tasks.site_sync.state import SyncSettings
from domsieve.tasks.site_sync.syncing import sync_folder
from domsieve.tasks.site_sync.values import SyncResult
from domsieve.tasks.site_sync.visiting import RunLimits
from domsieve.tasks.targets import site_of

# A job that was cancelled may hold the store until its thread has noticed.
_LOCK_TRIES, _LOCK_S = 30, 1.0
_MEASURED_S = 5.0  # between two measurements of the store; it may grow past its limit meanwhile
_EVENT_S = 1.0  # between two events about pages, of which a site may have thousands
_MOST_FAILURES = 50
_LONGEST = 2_000  # characters of an event's text
_STAGES = {"comparing": "Comparing pages with the last run", "confirming": "Loading changed pages again"}

Results = tuple[dict[str, Any], list[NewFile]]


class SiteFollowing:
    """A run of a job that follows a site.

    Parameters
    ----------
    request : the request of the job.
    claim : the claim of the job.
    browsing : renders pages, and has the guard of all connections.
    queue : the job queue.
    quota : the limits of the run and of the store.
    loads : counts the pages that were loaded.
    stopped : set when the job is cancelled.
    """

    def __init__(
        self,
        request: SyncRequest,
        claim: Claim,
        *,
        browsing: PageRenderer,
        queue: WorkQueue,
        quota: SiteQuota,
        loads: LoadCounts,
        stopped: threading.Event,
    ) -> None:
        self._request, self._claim, self._browsing, self._queue = request, claim, browsing, queue
        self._quota, self._loads, self._stopped = quota, loads, stopped
        self._folder = queue.stores.folder(claim)

    async def run(self, threads: Executor) -> Results:
        """Do the run in a thread, and return its summary and files.

        Raises
        ------
        UsageError : the request contradicts the first run.
        PolicyError : a rule forbids the site, or a limit was reached before there was a page.
        DomsieveError : the first page of the site cannot be loaded.
        """
        request, claim = self._request, self._claim
        # The guard comes first: the store may hold pages that are no longer allowed.
        await self._browsing.egress.decide_url(request.url)
        egress = self._browsing.egress.metered(self._quota.size_bytes)
        loop = asyncio.get_running_loop()
        options, budget = request.capture_options(), request.budget()
        async with Proxy(egress) as proxy:
            browsers = JobBrowsers(
                self._browsing, f"{claim.job.client} {claim.job.id}", options, budget, proxy
            )
            setup = _Setup(options, budget, self._browsing.concurrency, egress, _Elsewhere(browsers, loop))
            limits = _Limits(self._quota, egress, self._folder, self._loads, loop)
            thread = _Thread(lambda: self._work(setup, limits), self._stopped)
            running = loop.run_in_executor(threads, copy_context().run, thread.run)
            try:
                return await asyncio.shield(running)
            except asyncio.CancelledError:
                self._stopped.set()
                thread.cancel()
                # The next run must find the store free, and nothing that is closed here may still be in use.
                while not running.done():
                    with contextlib.suppress(asyncio.CancelledError):
                        await asyncio.wait([running])
                running.exception()
                raise

    async def _work(self, setup: "_Setup", limits: "_Limits") -> Results:
        chosen = self._request.chosen()
        given = SyncSettings.of(self._request.url, **chosen)
        report = _Events(self._queue, self._claim)
        names = ["source", *(name for name, value in chosen.items() if value is not None)]
        for left in reversed(range(_LOCK_TRIES)):
            try:
                result = await sync_folder(
                    self._folder,
                    given,
                    lambda _: setup,
                    chosen=names,
                    concurrency=min(2, setup.concurrency),
                    report=report,
                    limits=limits,
                    shown=f"The store {self._request.store}",
                )
            except StorageError as error:
                if not (error.retry and left):
                    raise
                await asyncio.sleep(_LOCK_S)
            else:
                break
        with PageFolder(self._folder, is_read_only=True) as folder:
            manifest, page, feed = (folder.read(name) or b"" for name in (MANIFEST, PAGE, FEED))
        self._queue.stores.finished(self._folder, runs=result.run, pages=len(manifest.splitlines()))
        changes = b"".join(msgspec.json.encode(change) + b"\n" for change in result.changes)
        return self._summary(result), [
            NewFile(CHANGES, "application/jsonl", changes),
            NewFile(PAGE, "text/html; charset=utf-8", page),
            NewFile(FEED, "application/atom+xml", feed),
        ]

    def _summary(self, result: SyncResult) -> dict[str, Any]:
        remarks = []
        if result.layout_changed:
            remarks.append("The layout of the site changed: pages were compared as texts.")
        if not result.is_complete:
            remarks.append(f"Not all pages were visited. {result.limit}".strip())
        return {
            "url": self._request.url,
            "store": self._request.store,
            "run": result.run,
            "added": len(result.added),
            "changed": len(result.changed),
            "moved": len(result.moved),
            "gone": len(result.gone),
            "unchanged": len(result.unchanged),
            "failed": len(result.failed),
            "failures": [
                {"url": page.url[:_LONGEST], **problem_of(page.error)}
                for page in result.failed[:_MOST_FAILURES]
            ],
            "layout_changed": result.layout_changed,
            "complete": result.is_complete,
            "reasons": [] if result.is_complete else [result.limit or "pages: the most pages were visited"],
            "remarks": remarks,
        }


class _Thread:
    """Runs a coroutine in an event loop of its own, in the thread that calls `run`."""

    def __init__(self, work: Callable[[], Any], stopped: threading.Event) -> None:
        self._work, self._stopped = work, stopped
        self._cancel: Callable[[], object] = lambda: None

    def run(self) -> Any:
        with asyncio.Runner() as runner:
            return runner.run(self._main())

    async def _main(self) -> Any:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task
        self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        if self._stopped.is_set():  # before there was anything to cancel
            raise asyncio.CancelledError
        return await self._work()

    def cancel(self) -> None:
        """Cancel it, from another thread. Set `stopped` before."""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._cancel()


class _Elsewhere:
    """Renders pages in another event loop."""

    def __init__(self, source: PageSource, loop: asyncio.AbstractEventLoop) -> None:
        self._source, self._loop = source, loop

    async def render(self, url: str, *, site: str | None = None) -> Rendering:
        rendering = asyncio.run_coroutine_threadsafe(self._rendered(url, site), self._loop)
        return await asyncio.wrap_future(rendering)

    async def _rendered(self, url: str, site: str | None) -> Rendering:
        return await self._source.render(url, site=site or site_of(url))

    async def render_many(self, urls: Iterable[str]) -> AsyncGenerator[Outcome]:
        for url in urls:
            try:
                yield url, await self.render(url)
            except DomsieveError as error:
                yield url, error


@dataclass(frozen=True, slots=True)
class _Setup:
    """See `CaptureSetup`."""

    options: CaptureOptions
    budget: Budget
    concurrency: int
    egress: Egress
    source: PageSource

    @asynccontextmanager
    async def renderer(self) -> AsyncIterator[PageSource]:
        yield self.source


class _Limits(RunLimits):
    """The quota of a run: pages that are loaded, bytes, time, and the size of the store."""

    def __init__(
        self,
        quota: SiteQuota,
        egress: Egress,
        folder: Path,
        loads: LoadCounts,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._quota, self._egress, self._folder, self._loads, self._loop = quota, egress, folder, loads, loop
        self._opened = 0
        self._ends = time.monotonic() + quota.time_s
        self._measured, self._is_full = 0.0, False

    def request(self) -> None:
        if self._egress.is_used_up:
            raise self._refusal("bytes")
        if time.monotonic() > self._ends:
            raise self._refusal("time")

    def load(self) -> None:
        self.request()
        if time.monotonic() - self._measured > _MEASURED_S:
            self._is_full = folder_bytes(self._folder) > self._quota.store_bytes
            self._measured = time.monotonic()
        if self._is_full:
            raise self._refusal("store")
        if self._opened >= self._quota.pages:
            raise self._refusal("pages")
        self._opened += 1

    def loaded(self, page: Snapshot) -> None:
        if self._egress.is_used_up:
            # What had not arrived is missing, and what was captured may look whole.
            raise self._refusal("bytes")
        self._loop.call_soon_threadsafe(self._loads.add, page)

    def _refusal(self, limit: SiteLimit) -> PolicyError:
        return PolicyError(self._quota.sentence(limit), reason="quota")


class _Events:
    """Reports the run as events of the job."""

    def __init__(self, queue: WorkQueue, claim: Claim) -> None:
        self._queue, self._claim = queue, claim
        self._last, self._failed = -_EVENT_S, 0

    def visited(self, event: SampleEvent) -> None:
        said = describe(event)[:_LONGEST]
        if isinstance(event, SiteOpened):
            check_delay(event, str(self._claim.job.request["url"]))
        if isinstance(event, PageDone):
            if time.monotonic() - self._last < _EVENT_S:
                return
            self._last = time.monotonic()
            total = event.number + event.waiting
            facts = {"said": said, "url": event.url[:_LONGEST], "done": event.number, "total": total}
            self._queue.event(self._claim, "page", facts, done=event.number, total=total)
        elif isinstance(event, PageFailed):
            self._failed += 1
            if self._failed <= _MOST_FAILURES:
                problem = problem_of(event.error)
                facts = {"said": said, "url": event.url[:_LONGEST]}
                facts |= {name: problem[name] for name in ("detail", "fault")}
                self._queue.event(self._claim, "page_failed", facts)
        else:
            self._queue.event(self._claim, "site", {"said": said})

    def said(self, sentence: str) -> None:
        self._queue.event(self._claim, "site", {"said": sentence[:_LONGEST]})

    def stage(self, what: str, pages: int) -> None:
        if pages:
            self.said(f"{_STAGES.get(what, what)}: {pages:,}")

    def advanced(self) -> None:
        pass
