"""A browser and a server of bad manners, shared by the tests of a module; time runs out when a test says so."""

import asyncio
import contextlib
import itertools
import os
from collections import Counter
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

from domsieve.errors import DomsieveError
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer._limits import Clock, Limits, Timeouts
from domsieve.renderer.browser.discovery import Browser
from domsieve.renderer.network.egress import offline
from domsieve.renderer.page import page_run
from domsieve.renderer.page._page_events import PageEvents
from domsieve.renderer.protocol import Rendering
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.page import Snapshot
from domsieve.types import DriverName
from tests.parts import following
from tests.renderer.bad_server import Server, serving

# The drivers have one contract, which is tested for both; all else for one, and in make test-all for the other.
_OTHER = os.environ.get("DOMSIEVE_TEST_DRIVER") == "other"
DRIVER: DriverName = "pipe" if _OTHER else "playwright"
# Of hidden text there are thousands of pages, of which it is tested what they look like: what comes first for them is
# the driver that takes less processor time.
_MANY_PAGES = "test_hidden_text", "test_moments", "test_pixels"
_DRIVER_OF_MANY: DriverName = "playwright" if _OTHER else "pipe"
CONCURRENCY = 5
# As many pages as keep the processors busy while others wait, with the other workers; more are late with everything.
AT_ONCE = 3
# No page of a test needs as long, whatever else the machine does.
LONG = timedelta(minutes=10)
BUDGET = Budget(time=LONG, nodes=60_000, requests=300, frames=30)


class HandClock(Clock):
    """The loop's time, which `run_out` puts forward beyond the end of all budgets."""

    def __init__(self) -> None:
        self._ahead_s = 0.0
        self._deadlines: list[asyncio.Timeout] = []

    def time(self) -> float:
        return super().time() + self._ahead_s

    def deadline(self, when: float) -> asyncio.Timeout:
        self._loop = asyncio.get_running_loop()
        self._deadlines.append(super().deadline(when - self._ahead_s))
        return self._deadlines[-1]

    def run_out(self) -> None:
        """Use up the time of every page that is open."""
        self._ahead_s += LONG.total_seconds()
        for deadline in self._deadlines:
            with contextlib.suppress(RuntimeError):  # its page has ended
                deadline.reschedule(super().time())
        self._deadlines.clear()

    def run_out_elsewhere(self) -> None:
        """Do so from another thread, such as that of a server."""
        self._loop.call_soon_threadsafe(self.run_out)


class Studio:
    """Renders pages of the bad server, synchronously, in one browser with images and one without.

    A page tells how far it has come by what it asks of the server. Nothing but that ends its time, so that it gets
    there however busy the machine is.
    """

    def __init__(self, server: Server, runner: asyncio.Runner, driver: DriverName = DRIVER) -> None:
        self.server = server
        self.runner = runner
        self.clock = HandClock()
        self.driver: DriverName = driver
        self._until: Counter[str] = Counter()
        self._asked: dict[str, asyncio.Event] = {}
        self._stack = AsyncExitStack()
        self._renderers: dict[bool, Renderer] = {}
        self._identity: Browser | None = None
        self._starting = asyncio.Lock()
        self._numbers = itertools.count()
        self._found: dict[str, Any] = {}

    def renderer(self, options: CaptureOptions | None = None) -> Renderer:
        """Return the running renderer that can render with such options."""
        return self.runner.run(self.started(options))

    async def started(self, options: CaptureOptions | None = None) -> Renderer:
        """Return the same; a coroutine, for jobs."""
        async with self._starting:
            return await self._start(images=options is None or options.images)

    async def _start(self, *, images: bool) -> Renderer:
        if images not in self._renderers:
            renderer = Renderer(
                CaptureOptions(images=images),
                BUDGET,
                concurrency=CONCURRENCY,
                egress=offline(),
                driver=self.driver,
                limits=Limits(
                    open_s=60, stop_s=20, capture_s=20, close_s=30, context_close_s=30, clock=self.clock
                ),
            )
            renderer._identity = self._identity  # looked for once
            await self._stack.enter_async_context(renderer)
            self._renderers[images] = renderer
            self._identity = renderer._identity
        return self._renderers[images]

    def render(
        self,
        path: str,
        options: CaptureOptions | None = None,
        budget: Budget = BUDGET,
        *,
        until: Iterable[str] = (),
        **pages: Any,
    ) -> Rendering:
        """Return one page of the server; `pages` are added to it first, by path without the slash.

        Parameters
        ----------
        until : paths of what it asks for; when it has asked for all of them, its time is used up.
        """
        self.server.pages.update({f"/{name.replace('_', '-')}": page for name, page in pages.items()})
        self._until = Counter(until)
        renderer = self.renderer(options)
        return self.runner.run(renderer.render(self.server.url(path), options=options, budget=budget))

    def render_all(
        self,
        paths: Iterable[str],
        budget: Budget = BUDGET,
        *,
        until: Iterable[str] = (),
        timeouts: Timeouts | None = None,
    ) -> dict[str, Rendering | DomsieveError]:
        """Return several pages of the server by path, rendered at the same time; see `render`."""
        renderer, urls = self.renderer(), {self.server.url(path): path for path in paths}
        self._until = Counter(until)
        limits = renderer._limits
        renderer._budget, renderer._limits = budget, replace(limits, timeouts=timeouts or limits.timeouts)

        async def run() -> dict[str, Rendering | DomsieveError]:
            return {urls[url]: outcome async for url, outcome in renderer.render_many(urls)}

        try:
            return self.runner.run(run())
        finally:
            renderer._budget, renderer._limits = BUDGET, limits

    def show(
        self,
        html: str,
        options: CaptureOptions | None = None,
        budget: Budget = BUDGET,
        *,
        until: Iterable[str] = (),
    ) -> Rendering:
        """Return the page of this source; see `render`."""
        return self.render("/shown", options, budget, until=until, shown=html)

    async def shown(self, html: str, options: CaptureOptions | None = None) -> Snapshot:
        """Return the page of this source, which may be rendered while others are."""
        path = f"/shown-{next(self._numbers)}"
        self.server.pages[path] = html
        try:
            renderer = await self.started(options)
            return (await renderer.render(self.server.url(path), options=options, budget=BUDGET)).snapshot
        finally:
            del self.server.pages[path]

    def show_all(self, pages: Iterable[str], options: CaptureOptions | None = None) -> list[Snapshot]:
        """Return the pages of these sources in their order; `AT_ONCE` are rendered at the same time.

        Most of the time of a page is spent waiting for it to be still, which pages can do together.
        """
        found = self.runner.run(_several([self.shown(page, options) for page in pages]))
        for outcome in found:
            if isinstance(outcome, BaseException):
                raise outcome
        return found

    def found_ahead(self, test: pytest.Item) -> Any:
        """Return what the job of a test returns, or raise what it raises; the jobs of the next tests run with it."""
        if test.nodeid not in self._found:
            tests = [test, *itertools.islice(following(test, "ahead"), AT_ONCE - 1)]
            jobs = [_job(self, one) for one in tests]
            found = self.runner.run(_several(jobs))
            self._found.update(zip((one.nodeid for one in tests), found, strict=True))
        outcome = self._found.pop(test.nodeid)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def asked(self, path: str) -> None:
        """Wait until a page asks the server for `path`."""
        await self._asked.setdefault(path, asyncio.Event()).wait()

    def see(self, url: str) -> None:
        """Note what a page asks for."""
        path = urlsplit(url).path
        if event := self._asked.pop(path, None):
            event.set()
        if path in self._until:
            self._until -= Counter([path])
            if not self._until:
                self.clock.run_out()

    def close(self) -> None:
        """End all browsers."""
        self.runner.run(self._stack.aclose())


async def _several(jobs: Sequence[Awaitable[Any]]) -> list[Any]:
    """Return what all jobs return or raise, in their order; `AT_ONCE` of them run at the same time."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(job: Awaitable[Any]) -> Any:
        async with places:
            return await job

    return await asyncio.gather(*map(one, jobs), return_exceptions=True)


def _job(studio: Studio, test: pytest.Item) -> Awaitable[Any]:
    mark = test.get_closest_marker("ahead")
    assert mark
    assert isinstance(test, pytest.Function)
    job: Awaitable[Any] = mark.kwargs["job"](studio, **test.callspec.params)
    return job


async def no_page_is_open(renderer: Renderer) -> None:
    """Return when the browser has no page; those that pages open are closed as it tells of them."""
    async with asyncio.timeout(120):
        while await open_pages(renderer):  # noqa: ASYNC110 (nothing tells of the last)
            await asyncio.sleep(0.01)


async def open_pages(renderer: Renderer) -> list[str]:
    """Return the browser's names of the pages that are open in it, but for tabs that were emptied."""
    targets = await ask_browser(renderer, "Target.getTargets")
    pages = [target["targetId"] for target in targets["targetInfos"] if target["type"] == "page"]
    assert renderer._running
    idle = {tab.target_id for site in renderer._running[1]._sites.values() for tab in site.idle}
    assert len(idle) <= renderer._concurrency
    return [page for page in pages if page not in idle]


async def ask_browser(renderer: Renderer, command: str) -> Any:
    """Return the answer of a renderer's browser to a command."""
    assert renderer._running
    async with asyncio.timeout(120):
        return await renderer._running[0].connection.root.send(command)


@pytest.fixture(scope="module")
def studio(request: pytest.FixtureRequest) -> Iterator[Studio]:
    driver = _DRIVER_OF_MANY if request.path.name.startswith(_MANY_PAGES) else DRIVER
    with serving() as server, asyncio.Runner() as runner, pytest.MonkeyPatch.context() as patch:
        studio = Studio(server, runner, driver)

        class SeenWatch(PageEvents):
            def _request(self, event: dict[str, Any]) -> None:
                super()._request(event)
                studio.see(event["request"]["url"])

        patch.setattr(page_run, "PageEvents", SeenWatch)
        try:
            yield studio
        finally:
            studio.close()


@pytest.fixture
def ahead(request: pytest.FixtureRequest, studio: Studio) -> Any:
    """Return what the job of a test found, which is marked with ``pytest.mark.ahead(job=...)``.

    A job is a coroutine function of the studio and the parameters of the test. Those of several tests of a module run
    at the same time, so it must not depend on what only its test sets up.
    """
    return studio.found_ahead(request.node)
