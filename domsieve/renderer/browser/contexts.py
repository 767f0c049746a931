"""Browser contexts: a throw-away one per site and options, so that sites share nothing and pages a warm cache.

Imports Playwright and, of the project, the options and the browser.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import BrowserContext
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


class _Site:
    """One context and who uses it."""

    def __init__(self) -> None:
        self.opening = asyncio.Lock()
        self.context: BrowserContext | None = None
        self.pages = 0
        self.users = 0


@dataclass(slots=True)
class Lease:
    """A context lent for one page.

    Parameters
    ----------
    context : where the page is opened.
    broken : set by the borrower when a page does not close; the context is then closed with its last page.
    """

    context: BrowserContext
    broken: bool = False


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
            lease = Lease(entry.context)
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
        if entry.context is None:
            return
        try:
            async with asyncio.timeout(self._limits.context_close_s):
                await entry.context.close()
        except TimeoutError:
            self._running.kill()
        except PlaywrightError:
            pass  # gone with its browser
