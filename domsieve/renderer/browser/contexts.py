"""Browser contexts: a temporary one for each site and options. Sites share nothing; pages of a site share a cache."""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Set
from dataclasses import dataclass, field

from domsieve.options import CaptureOptions
from domsieve.renderer._limits import Limits
from domsieve.renderer.browser.browser import RunningBrowser
from domsieve.renderer.browser.connection import CommandError, Params
from domsieve.renderer.browser.opening import create_page, open_context, prepare_page, set_cookies
from domsieve.renderer.browser.tab import Tab, empty
from domsieve.renderer.network.proxy import Proxy

# Caches and the remains of pages grow with every page of a context.
_PAGES_PER_CONTEXT = 50
# Idle contexts cost memory; a crawl goes through sites one after another.
_IDLE_CONTEXTS = 4
# The process of a tab grows with its pages, in spite of garbage collection.
_PAGES_PER_TAB = 10
_Key = tuple[str, CaptureOptions]


@dataclass(eq=False)
class _Site:
    """A context with the number of its users, its tabs, and those tabs that are empty again."""

    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    context_id: str = ""
    ours: set[str] = field(default_factory=set)
    idle: list[Tab] = field(default_factory=list)
    pages: int = 0
    users: int = 0


class Lease:
    """A context in use for one page.

    Attributes
    ----------
    broken : set by the user if a page does not close; the context is then closed after its last page.
    proxy : the proxy for all traffic of the context.
    """

    def __init__(self, pool: "SitePool", site: _Site, options: CaptureOptions, proxy: Proxy) -> None:
        self.broken = False
        self.proxy = proxy
        self._pool = pool
        self._site = site
        self._options = options

    async def set_cookies(self, url: str) -> None:
        """Set the cookies of the options for the address of a page."""
        running = self._pool.running
        await set_cookies(running.connection, self._site.context_id, url, self._options.cookies)

    async def open_tab(self) -> Tab:
        """Return an empty tab. Windows that its page opens are closed.

        If there is no room, an empty tab of another site is closed.
        """
        running = self._pool.running
        while self._site.idle:
            tab = self._site.idle.pop()
            if tab.is_open:
                tab.pages += 1
                return tab
            self._site.ours.discard(tab.target_id)
        async with self._pool.room(), self._site.opening:
            target_id = await create_page(running.connection, self._site.context_id, self._options)
            self._site.ours.add(target_id)
        tab = await prepare_page(running.connection, target_id, self._options)
        tab.pages = 1
        return tab

    async def take_back(self, tab: Tab, origins: Set[str] | None) -> None:
        """Close a tab, or empty it for the next page of its site.

        Parameters
        ----------
        origins : origins of all documents that were in it; None to close it.
        """
        # Only from its second page on is a site known to have more pages.
        if origins is not None and self._site.pages > 1 and tab.pages < _PAGES_PER_TAB and tab.is_open:
            with contextlib.suppress(CommandError, TimeoutError):
                async with asyncio.timeout(self._pool.limits.close_s / 2):
                    is_empty = await empty(tab, origins)
                if is_empty:
                    self._site.idle.append(tab)
                    return
        await self._pool.close_tab(self._site, tab)


class SitePool:
    """The contexts of one browser, by site and options.

    Parameters
    ----------
    running : the browser.
    limits : the time of steps that no budget covers.
    places : the maximum number of tabs, including empty ones.
    """

    def __init__(self, running: RunningBrowser, limits: Limits, *, places: int) -> None:
        self.running = running
        self.places = places
        self.limits = limits
        self._sites: OrderedDict[_Key, _Site] = OrderedDict()
        self._contexts: dict[str, _Site] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._opening = 0
        running.connection.root.on("Target.targetCreated", self._see)

    @contextlib.asynccontextmanager
    async def lease(
        self, site: str, options: CaptureOptions, proxy: Proxy | None = None
    ) -> AsyncIterator[Lease]:
        """Provide the context of a site for one page.

        Parameters
        ----------
        proxy : replaces the proxy of the browser; all pages of a site must use the same one.

        Raises
        ------
        TimeoutError, CommandError : the browser does not open a context.
        UsageError : the storage-state file has wrong content.
        """
        key = site, options
        entry = self._sites.setdefault(key, _Site())
        self._sites.move_to_end(key)
        entry.users += 1
        entry.pages += 1
        lease = None
        proxy = proxy or self.running.proxy
        try:
            async with entry.opening:
                if not entry.context_id:
                    async with asyncio.timeout(self.limits.open_s):
                        entry.context_id = await open_context(self.running.connection, options, proxy.url)
                    self._contexts[entry.context_id] = entry
            lease = Lease(self, entry, options, proxy)
            yield lease
        finally:
            entry.users -= 1
            is_used_up = entry.pages >= _PAGES_PER_CONTEXT or lease is None or lease.broken
            if is_used_up and self._sites.get(key) is entry:
                del self._sites[key]
            await self._tidy(key, entry)

    @contextlib.asynccontextmanager
    async def room(self) -> AsyncIterator[None]:
        """Wait for room for another tab; close empty ones, those of the oldest context first."""
        self._opening += 1
        try:
            for site in [*self._contexts.values()]:
                while site.idle and self._opening + self._tabs() > self.places:
                    await self.close_tab(site, site.idle.pop(0))
            yield
        finally:
            self._opening -= 1

    def _tabs(self) -> int:
        return sum(len(site.ours) for site in self._contexts.values())

    async def close_tab(self, site: _Site, tab: Tab) -> None:
        """Close a tab."""
        gone = asyncio.Event()
        tab.session.on_lost(gone.set)
        with contextlib.suppress(CommandError):  # it is closed already
            await self.running.connection.root.send("Target.closeTarget", {"targetId": tab.target_id})
            await gone.wait()
        site.ours.discard(tab.target_id)

    def _see(self, event: Params) -> None:
        """Close a window that a page opened."""
        target = event["targetInfo"]
        entry = self._contexts.get(target.get("browserContextId", ""))
        if entry and target["type"] == "page" and target["targetId"] not in entry.ours:
            closing = asyncio.create_task(self._keep_out(entry, target["targetId"]))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def _keep_out(self, entry: _Site, target_id: str) -> None:
        async with entry.opening:  # our own tabs are registered once they are open
            if target_id in entry.ours:
                return
        with contextlib.suppress(CommandError):  # it may be gone already
            await self.running.connection.root.send("Target.closeTarget", {"targetId": target_id})

    async def _tidy(self, key: _Key, entry: _Site) -> None:
        if self._sites.get(key) is not entry and not entry.users:
            await self._close(entry)
        idle = [name for name, other in self._sites.items() if not other.users]
        for name in idle[:-_IDLE_CONTEXTS]:
            await self._close(self._sites.pop(name))

    async def _close(self, entry: _Site) -> None:
        if not entry.context_id or not self.running.is_alive:
            return
        self._contexts.pop(entry.context_id, None)
        try:
            async with asyncio.timeout(self.limits.context_close_s):
                await self.running.connection.root.send(
                    "Target.disposeBrowserContext", {"browserContextId": entry.context_id}
                )
        except TimeoutError:
            self.running.kill()
        except CommandError:
            pass  # gone with its browser
