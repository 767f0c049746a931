"""The supervisor: start a renderer when it is needed, and replace it when it has become too old or too large.

Browsers grow over time, and some break. So a browser serves a limited number of pages, and is replaced earlier if it
uses too much memory or has crashed too often. New pages go to the new browser; the old one closes after its last
page. If a browser does not start, the page that needed it fails, and the next page tries again.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from domsieve.errors import DomsieveError
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.browser.resources import BYTES_PER_PAGE, FreeMemory, memory_of
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.network.proxy import Proxy
from domsieve.renderer.protocol import Rendering
from domsieve.renderer.renderer import Renderer

_MEGABYTE = 1 << 20
_PAGES_BETWEEN_LOOKS = 10
_HEALTHY_S = 5.0
_ROOM_LOOK_S = 0.25
# A reserved name: the page comes from memory, so no server is asked.
_HEALTH_URL = "http://health.invalid/"
_HEALTH_PAGE = b"<!doctype html><title>health</title><p>A page from memory."

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecyclePolicy:
    """When a browser is replaced.

    Parameters
    ----------
    pages : after this number of pages.
    megabytes : if its processes use more memory than this.
    crashes : after this number of crashes of the browser or of page processes.
    """

    pages: int = 1_000
    megabytes: int = 1_500
    crashes: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Counts of a supervisor.

    Parameters
    ----------
    pages : number of pages requested.
    browsers : number of browsers started.
    crashes : number of crashes of browsers and pages.
    memory_bytes : memory of the browser at the last measurement.
    """

    pages: int
    browsers: int
    crashes: int
    memory_bytes: int


@dataclass(slots=True)
class _Generation:
    """A renderer with the counts that decide when it is replaced."""

    renderer: Renderer
    pages: int = 0
    users: int = 0
    page_crashes: int = 0
    looks_at: int = 1
    is_retired: bool = False
    unused: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def crashes(self) -> int:
        return self.page_crashes + max(0, self.renderer.starts - 1)


class Supervisor:
    """Renders pages with browsers that it starts and ends; an asynchronous context manager.

    Parameters
    ----------
    make : returns a new renderer, not entered. The options of calls must agree with its options on `images`.
    egress : the guard of the renderers, for callers that also fetch other files of a site.
    concurrency : number of pages that are open at the same time in all browsers together.
    recycle : when a browser is replaced.
    free_memory : returns the free memory in bytes; None measures that of the machine or the control group.
    """

    def __init__(
        self,
        make: Callable[[], Renderer],
        *,
        egress: Egress,
        concurrency: int,
        recycle: RecyclePolicy | None = None,
        free_memory: Callable[[], int] | None = None,
    ) -> None:
        self.egress = egress
        self.concurrency = concurrency
        self._make = make
        self._recycle = recycle or RecyclePolicy()
        self._slots = asyncio.Semaphore(concurrency)
        self._free_memory = free_memory or FreeMemory()
        self._open = 0
        self._starting = asyncio.Lock()
        self._current: _Generation | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._past = Served(pages=0, browsers=0, crashes=0, memory_bytes=0)
        self._memory = 0
        self._healthy_until = 0.0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._current:
            self._retire(self._current)
        await asyncio.gather(*self._ending, return_exceptions=True)

    @property
    def served(self) -> Served:
        """The counts so far."""
        past, now = self._past, self._current
        return Served(
            pages=past.pages + (now.pages if now else 0),
            browsers=past.browsers + (now.renderer.starts if now else 0),
            crashes=past.crashes + (now.crashes if now else 0),
            memory_bytes=self._memory,
        )

    @property
    def is_running(self) -> bool:
        """Whether a browser is running."""
        return self._current is not None

    async def render(
        self,
        url: str,
        *,
        site: str | None = None,
        options: CaptureOptions | None = None,
        budget: Budget | None = None,
        proxy: Proxy | None = None,
    ) -> Rendering:
        """Render a page; see `Renderer.render`. While memory is short, only one page is open at a time.

        Raises
        ------
        BrowserNotFoundError : no usable browser; the next call looks again.
        DomsieveError : see `Renderer.render`.
        """
        async with self._slots, self._room(), self._lend() as lent:
            lent.pages += 1
            page = await lent.renderer.render(url, site=site, options=options, budget=budget, proxy=proxy)
            lent.page_crashes += page.snapshot.provenance.was_cut_by("crash")
            self._healthy_until = asyncio.get_running_loop().time() + _HEALTHY_S
            return page

    async def health(self) -> bool:
        """Return whether pages can be rendered, by rendering one from memory.

        A positive result is reused for five seconds, a negative one never.
        """
        if asyncio.get_running_loop().time() < self._healthy_until:
            return True
        try:
            async with self._lend() as lent:
                page = await lent.renderer.render_source(_HEALTH_URL, _HEALTH_PAGE, site=_HEALTH_URL)
        except DomsieveError as error:
            logger.warning("No page can be rendered: %s", error)
            return False
        if not page.snapshot.provenance.complete:
            return False
        self._healthy_until = asyncio.get_running_loop().time() + _HEALTHY_S
        return True

    @contextlib.asynccontextmanager
    async def _room(self) -> AsyncIterator[None]:
        """Wait until there is memory for a page, or until no other page is open that could free some."""
        while self._open and self._free_memory() < BYTES_PER_PAGE:  # noqa: ASYNC110 (the system tells nobody)
            await asyncio.sleep(_ROOM_LOOK_S)
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    @contextlib.asynccontextmanager
    async def _lend(self) -> AsyncIterator[_Generation]:
        lent = await self._fresh()
        try:
            yield lent
        finally:
            lent.users -= 1
            try:
                await self._look(lent)
            finally:
                if lent.is_retired and not lent.users:
                    lent.unused.set()

    async def _fresh(self) -> _Generation:
        """Return the current renderer, and count the caller among its users."""
        async with self._starting:
            if self._current is None:
                renderer = self._make()
                await renderer.__aenter__()
                self._current = _Generation(renderer)
            self._current.users += 1
            return self._current

    async def _look(self, lent: _Generation) -> None:
        """Replace the renderer if its limits are reached."""
        if lent.is_retired:
            return
        pid = lent.renderer.browser_pid
        if pid is not None and lent.pages >= lent.looks_at:
            lent.looks_at = lent.pages + _PAGES_BETWEEN_LOOKS
            self._memory = await asyncio.to_thread(memory_of, pid)
        reasons = {
            "pages": lent.pages >= self._recycle.pages,
            "memory": self._memory >= self._recycle.megabytes * _MEGABYTE,
            "crashes": lent.crashes >= self._recycle.crashes,
        }
        if any(reasons.values()) and not lent.is_retired:
            why = ", ".join(reason for reason, holds in reasons.items() if holds)
            logger.info("The browser is replaced after %d pages (%s).", lent.pages, why)
            self._retire(lent)

    def _retire(self, lent: _Generation) -> None:
        lent.is_retired = True
        past = self.served
        if self._current is lent:
            self._current, self._memory = None, 0
            self._past = past
        if not lent.users:
            lent.unused.set()
        task = asyncio.create_task(_end(lent))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


async def _end(lent: _Generation) -> None:
    await lent.unused.wait()
    await lent.renderer.__aexit__(None, None, None)
