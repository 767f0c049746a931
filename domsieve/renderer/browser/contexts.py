"""Browser contexts: a throw-away one per site and options, so that sites share nothing and pages a warm cache.

Imports Playwright and, of the project, the options and the browser.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

from domsieve.renderer.browser.browser import RunningBrowser
from domsieve.renderer.limits import Limits
from domsieve.renderer.options import CaptureOptions

# Caches and what pages leave behind grow with every page of a context.
_PAGES_PER_CONTEXT = 50
# Idle contexts cost memory; a crawl goes through sites one after another.
_IDLE_CONTEXTS = 4
_Key = tuple[str, CaptureOptions]
_GUARD = Path(__file__).with_name("guard.js").read_text("utf-8")


@dataclass(eq=False)
class _Site:
    """One context, who uses it, and the pages that we opened in it."""

    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    context: BrowserContext | None = None
    ours: set[Page] = field(default_factory=set)
    pages: int = 0
    users: int = 0

    def forget(self, page: Page) -> None:
        """Keep no page of ours that is closed."""
        self.ours.discard(page)

    async def keep_out(self, page: Page) -> None:
        """Close a page that another has opened; that one may be gone already."""
        async with self.opening:  # one of ours is known when it is open
            if page in self.ours:
                return
        with contextlib.suppress(PlaywrightError):
            await page.close()


class Lease:
    """A context lent for one page.

    Attributes
    ----------
    context : where the page is opened.
    broken : set by the borrower when a page does not close; the context is then closed with its last page.
    """

    def __init__(self, context: BrowserContext, site: _Site) -> None:
        self.context = context
        self.broken = False
        self._site = site

    async def open_page(self) -> Page:
        """Return a new page; what it opens itself is closed."""
        async with self._site.opening:
            page = await self.context.new_page()
            self._site.ours.add(page)
        page.on("close", self._site.forget)
        return page


class SitePool:
    """The contexts of one browser, by site and by the options they are opened with."""

    def __init__(self, running: RunningBrowser, limits: Limits) -> None:
        self._running = running
        self._limits = limits
        self._sites: OrderedDict[_Key, _Site] = OrderedDict()

    @contextlib.asynccontextmanager
    async def lease(self, site: str, options: CaptureOptions) -> AsyncIterator[Lease]:
        """Lend the context of a site for one page.

        Raises
        ------
        TimeoutError, playwright.async_api.Error : the browser does not open one.
        """
        key = site, options
        entry = self._sites.setdefault(key, _Site())
        self._sites.move_to_end(key)
        entry.users += 1
        entry.pages += 1
        lease = None
        try:
            async with entry.opening:
                if entry.context is None:
                    entry.context = await self._open(options)
                    entry.context.on("page", entry.keep_out)
            lease = Lease(entry.context, entry)
            yield lease
        finally:
            entry.users -= 1
            is_used_up = entry.pages >= _PAGES_PER_CONTEXT or lease is None or lease.broken
            if is_used_up and self._sites.get(key) is entry:
                del self._sites[key]
            await self._tidy(key, entry)

    async def _open(self, options: CaptureOptions) -> BrowserContext:
        width, height = options.viewport_px
        async with asyncio.timeout(self._limits.open_s):
            context = await self._running.browser.new_context(
                viewport={"width": width, "height": height},
                user_agent=options.user_agent,
                extra_http_headers=dict(options.headers),
                storage_state=options.storage_state,
                locale=options.locale,
                accept_downloads=False,
                service_workers="block",
            )
            await context.add_init_script(_GUARD)
        return context

    async def _tidy(self, key: _Key, entry: _Site) -> None:
        if self._sites.get(key) is not entry and not entry.users:
            await self._close(entry)
        idle = [name for name, other in self._sites.items() if not other.users]
        for name in idle[:-_IDLE_CONTEXTS]:
            await self._close(self._sites.pop(name))

    async def _close(self, entry: _Site) -> None:
        if entry.context is None or not self._running.is_alive:
            return
        try:
            async with asyncio.timeout(self._limits.context_close_s):
                await entry.context.close()
        except TimeoutError:
            self._running.kill()
        except PlaywrightError:
            pass  # gone with its browser
