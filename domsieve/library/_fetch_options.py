"""Fetch the pages of URLs for a call, from the cache or by one browser.

URLs may come from strangers. So the egress guard checks every URL, cached or not, and private addresses are refused
unless the caller allows them. Without a cache, nothing is written to disk.
"""

import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Self

from domsieve.declaration import wrong
from domsieve.errors import DomsieveError, PolicyError
from domsieve.library._checks import path_of
from domsieve.options import CaptureOptions, NetworkOptions
from domsieve.renderer.protocol import Outcome, Rendering
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_getter import Kept, get_pages
from domsieve.tasks.pages import cached, keep
from domsieve.tasks.render_modes import page_source, with_render_mode
from domsieve.tasks.renderer_factory import RendererFactory

Captured = Snapshot | PageRecord | DomsieveError
"""A page in memory, a page of the cache, or the error of a page."""

logger = logging.getLogger("domsieve")

_WAY_OUT = (
    ' If you trust it, pass network=NetworkOptions(private_hosts=["HOST:PORT"]) for this host, or allow_private=True '
    "for all private addresses."
)


def with_way_out(error: DomsieveError) -> None:
    """Let the error of a private address name the options that allow it."""
    if isinstance(error, PolicyError) and error.reason == "private":
        error.message += _WAY_OUT


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """How pages are fetched.

    Parameters
    ----------
    cache : folder for captures; None stores nothing.
    options : how pages are captured.
    network : where connections may go, and the budget of a page.
    """

    cache: Path | None
    options: CaptureOptions
    network: NetworkOptions

    @classmethod
    def of(cls, *, cache: object, capture: object, network: object) -> Self:
        """Return the options for the parameters of a call.

        Raises
        ------
        UsageError : a parameter is wrong.
        """
        capture = CaptureOptions() if capture is None else capture
        if not isinstance(capture, CaptureOptions):
            raise wrong("capture", capture, "give CaptureOptions")
        network = NetworkOptions() if network is None else network
        if not isinstance(network, NetworkOptions):
            raise wrong("network", network, "give NetworkOptions")
        RendererFactory.of(capture, network)  # checks the hosts before any work
        return cls(None if cache is None else path_of("cache", cache), capture, network)

    def with_pixels(self) -> Self:
        """Return the same options for captures with pictures that say which texts can be seen."""
        return replace(self, options=replace(self.options, pixels=True))

    @contextmanager
    def store(self) -> Iterator[PageStore | None]:
        """Open the cache in the current thread; the value is None without a cache."""
        if self.cache is None:
            yield None
            return
        with PageStore(self.cache) as store:
            yield store

    async def captured(self, urls: Iterable[str]) -> dict[str, Captured]:
        """Return a page or an error for every URL."""
        wanted = list(urls)
        if not wanted:
            return {}
        with self.store() as store:
            if store:
                return {**await self.recorded(wanted, store)}
        return {**await self._pages(wanted, lambda _: None, lambda rendering, _: rendering.snapshot, None)}

    def adapted(self, **others: bool) -> Self:
        """Return the options with the mode of rendering that the other options allow; warns if it changes.

        Parameters
        ----------
        others : other options that need a browser, by name, each with whether it is used.

        Raises
        ------
        UsageError : an option needs a browser, and the mode is ``"never"``.
        """
        options, why = with_render_mode(self.options, others=others)
        if why:
            logger.warning("%s needs a browser, so all pages are rendered.", why)
        return replace(self, options=options)

    def rendering(self) -> Self:
        """Return the options for a call that always renders."""
        return replace(self, options=replace(self.options, render="always"))

    async def recorded(
        self, urls: Iterable[str], store: PageStore, *, afresh: bool = False
    ) -> dict[str, PageRecord | DomsieveError]:
        """Return a stored page or an error for every URL; `afresh` renders all again, not only missing ones."""
        since = datetime.now(UTC) if afresh else None
        find = partial(cached, store=store, options=self.options, since=since)
        return await self._pages(urls, find, partial(keep, store=store), store)

    async def _pages(
        self,
        urls: Iterable[str],
        find: Callable[[str], PageRecord | None],
        keep: Callable[[Rendering, str], Kept],
        store: PageStore | None,
    ) -> dict[str, PageRecord | Kept | DomsieveError]:
        factory = RendererFactory.of(self.options, self.network)

        async def render(missing: list[str]) -> AsyncGenerator[Outcome]:
            async with page_source(factory, store=store) as source:
                async for outcome in source.render_many(missing):
                    yield outcome

        outcomes = await get_pages(urls, render, find=find, keep=keep, guard=factory.egress)
        for outcome in outcomes.values():
            if isinstance(outcome, DomsieveError):
                with_way_out(outcome)
        return outcomes
