"""The renderer: turn URLs into pages, whatever the pages do."""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from dataclasses import replace
from itertools import islice
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from domsieve.errors import (
    BrowserError,
    BrowserLostError,
    DomsieveError,
    NavigationError,
    PolicyError,
    UsageError,
)
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer._limits import Limits
from domsieve.renderer.browser.browser import RunningBrowser, start_browser
from domsieve.renderer.browser.connection import CommandError
from domsieve.renderer.browser.contexts import SitePool
from domsieve.renderer.browser.discovery import Browser
from domsieve.renderer.network.egress import NO_PLACE, Egress, place_of
from domsieve.renderer.network.proxy import Proxy
from domsieve.renderer.network.replay import Replay
from domsieve.renderer.page.page_run import Original, PageJob, render_page
from domsieve.renderer.page.recorder import with_more
from domsieve.renderer.protocol import Outcome, Rendering
from domsieve.types import DriverName

_SCHEMES = ("http", "https")

logger = logging.getLogger(__name__)


class Renderer:
    """A browser that turns URLs into Snapshots; an asynchronous context manager.

    One browser runs at a time; a new one is started when it is lost. Pages of one site share a temporary context
    (cookies, cache); pages of different sites share nothing.

    Parameters
    ----------
    options : how pages are captured.
    budget : the limits of one page.
    concurrency : number of pages that are open at the same time; None means one per processor.
    executable : path or name of the browser; None searches for one.
    arguments : more command-line flags of the browser.
    egress : where connections may go; None means public addresses only.
    driver : how to talk to the browser: ``"playwright"``, or ``"pipe"``, which needs less processor time for each
        page and works on Linux and macOS. Captures are the same.
    limits : the time of steps that the budget does not cover.
    replay : an archive to use instead of the network; `egress` is then ignored.

    Attributes
    ----------
    starts : number of browsers started; each after the first replaced one that was lost.

    Raises
    ------
    BrowserNotFoundError : on entering: no usable browser is found.
    UsageError : on entering: the storage-state file cannot be read.
    """

    def __init__(
        self,
        options: CaptureOptions | None = None,
        budget: Budget | None = None,
        *,
        concurrency: int | None = None,
        executable: str | None = None,
        arguments: tuple[str, ...] = (),
        egress: Egress | None = None,
        driver: DriverName = "playwright",
        limits: Limits | None = None,
        replay: Replay | None = None,
    ) -> None:
        self.egress = replay.nowhere() if replay else egress or Egress()
        self._replay = replay
        self._pages = 0
        self._options = self._settled(options or CaptureOptions())
        self._budget = budget or Budget()
        self._limits = limits or Limits()
        self._concurrency = concurrency or os.cpu_count() or 1
        self._driver: DriverName = driver
        self._executable = executable
        self._arguments = (*arguments, *(replay.flags if replay else ()))
        self._slots = asyncio.Semaphore(self._concurrency)
        self._starting = asyncio.Lock()
        self._again = asyncio.Lock()
        self._identity: Browser | None = None
        self._running: tuple[RunningBrowser, SitePool] | None = None
        self.starts = 0

    @property
    def browser_pid(self) -> int | None:
        """Process ID of the browser; None while no browser runs."""
        return self._running[0].pid if self._running and self._running[0].is_alive else None

    async def __aenter__(self) -> Self:
        await self._browser()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._running:
            await self._running[0].close()
            self._running = None

    async def render(
        self,
        url: str,
        *,
        site: str | None = None,
        options: CaptureOptions | None = None,
        budget: Budget | None = None,
        proxy: Proxy | None = None,
    ) -> Rendering:
        """Render a page. If it exceeds its budget, it is cut, and the Snapshot has the reasons.

        Parameters
        ----------
        url : http or https. URLs that differ only after ``#`` are different pages.
        site : pages with equal sites and options share cookies and cache; None means the host and port.
        options : replace those of the renderer. They must agree on `images`, which is set when the browser starts.
        budget : replaces that of the renderer.
        proxy : replaces the proxy of the browser, which applies `egress`; pages of one site must use the same one.

        Raises
        ------
        UsageError : the options do not agree with the renderer on `images`.
        PolicyError : the scheme is not http or https, or the address may not be reached.
        NavigationError : no document arrived: unknown host, refused connection, bad address.
        ContentError : the response is not HTML.
        BrowserLostError : the browser ended twice while the page was open.
        """
        _check(url)
        options, budget = self._settled(options) if options else self._options, budget or self._budget
        if options.images != self._options.images:
            raise UsageError("Whether images load is fixed when the browser starts.", url=url)
        job = PageJob(url=url, site=site or urlsplit(url).netloc, options=options, budget=budget)
        rendering = await self._render(job, proxy)
        source = rendering.source
        if options.extras and source is not None:
            content_type = rendering.snapshot.provenance.content_type
            original = Original(url=rendering.source_url, source=source, content_type=content_type)
            try:
                twin = await self._render(replace(job, original=original), proxy)
                recorded = with_more(rendering.recorded, twin.recorded)
                rendering = replace(rendering, unscripted=replace(twin, recorded=None), recorded=recorded)
            except DomsieveError as error:
                logger.warning("%s could not be shown without scripts: %s", url, error.message)
        return rendering

    async def render_source(
        self, url: str, source: bytes, *, content_type: str = "text/html", site: str | None = None
    ) -> Rendering:
        """Render the given source of a page without scripts.

        The source is not requested again, but its style sheets, images and frames are. The producer of the Snapshot
        is ``"unscripted"``, and its options say that no scripts ran, so it cannot be taken for the rendered page.

        Parameters
        ----------
        url : http or https; addresses in the source are relative to it.
        source : body of the main response.
        content_type : Content-Type header of the main response.
        site : see `render`.

        Raises
        ------
        PolicyError, NavigationError, ContentError, BrowserLostError : see `render`.
        """
        _check(url)
        job = PageJob(
            url=url,
            site=site or urlsplit(url).netloc,
            options=self._options,
            budget=self._budget,
            original=Original(url=url, source=source, content_type=content_type),
        )
        return await self._render(job)

    async def _render(self, job: PageJob, proxy: Proxy | None = None) -> Rendering:
        async with self._slots:
            done = await self._attempt(job, proxy)
            if isinstance(done, str):
                # One page at a time, so that a page that crashes browsers does not hit a page that has lost one
                # before.
                async with self._again:
                    done = await self._attempt(job, proxy)
        if isinstance(done, str):
            why = f"; at last it {done}" if done else ""
            raise BrowserLostError(
                f"The browser ended twice while the page was open{why}.", url=job.url, retry=True
            )
        return done

    async def _attempt(self, job: PageJob, given: Proxy | None) -> Rendering | str:
        """Return the page, or why its browser was killed; an empty str if the browser ended by itself."""
        running, pool = await self._browser()
        try:
            async with (
                running.while_alive(),
                self._staged(job, given) as (staged, proxy),
                pool.lease(staged.site, staged.options, proxy) as lease,
            ):
                lease.broken = self._replay is not None
                with running.memory.page(staged.budget.memory_bytes):
                    return await render_page(running, lease, staged, limits=self._limits)
        except TimeoutError:
            running.kill()
        except CommandError as error:
            logger.warning("The browser lost %s: %s", job.url, error)
        return running.killed_for

    def _settled(self, options: CaptureOptions) -> CaptureOptions:
        """Return the options with the archive that pages come from, if any."""
        return replace(options, archive=self._replay.answers.digest) if self._replay else options

    @contextlib.asynccontextmanager
    async def _staged(self, job: PageJob, proxy: Proxy | None) -> AsyncIterator[tuple[PageJob, Proxy | None]]:
        """Provide a page from an archive with a proxy and so a context of its own, isolated from other pages."""
        if self._replay is None:
            yield job, proxy
            return
        async with self._replay.page(job.url) as staged:
            self._pages += 1
            time = staged.captured_at if job.options.fixed_time else ""
            yield replace(job, site=f"{job.site} {self._pages}", time=time), staged.proxy

    async def render_many(self, urls: Iterable[str]) -> AsyncGenerator[Outcome]:
        """Render pages; yield each URL with its page or its error as soon as it is finished.

        `urls` is read when there is room for another page, so it may be endless.
        """
        waiting = iter(urls)
        tasks: set[asyncio.Task[Outcome]] = set()
        try:
            while True:
                room = self._concurrency - len(tasks)
                tasks |= {asyncio.create_task(self._outcome(url)) for url in islice(waiting, room)}
                if not tasks:
                    return
                done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    yield task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _outcome(self, url: str) -> Outcome:
        try:
            return url, await self.render(url)
        except DomsieveError as error:
            return url, error
        except Exception as error:
            logger.exception("Rendering %s failed with an unexpected error", url)
            return url, BrowserError(f"Rendering failed with an unexpected error: {error!r}", url=url)

    async def _browser(self) -> tuple[RunningBrowser, SitePool]:
        async with self._starting:
            if self._running and not self._running[0].is_alive:
                await self._running[0].close()
                self._running = None
            if not self._running:
                running = await start_browser(
                    self._options,
                    driver=self._driver,
                    executable=self._executable,
                    arguments=self._arguments,
                    known=self._identity,
                    egress=self.egress,
                )
                self._identity = running.identity
                self._running = running, SitePool(running, self._limits, places=self._concurrency)
                self.starts += 1
            return self._running


def _check(url: str) -> None:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise NavigationError(f"Not a valid address: {error}.", url=url) from error
    if parts.scheme not in _SCHEMES:
        raise PolicyError(
            f"Only http and https are opened, not {parts.scheme or 'an address without one'}.",
            reason="scheme",
            url=url,
        )
    if not parts.hostname:
        raise NavigationError("The address has no valid host.", url=url)
    if place_of(url) is None:  # otherwise the proxy would respond with an error page
        raise NavigationError(NO_PLACE, url=url)
