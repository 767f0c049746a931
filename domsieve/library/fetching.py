"""Pages of URLs for a call: rendered in one browser, or taken from the cache that the caller named.

Without a cache, nothing is written: pages stay in memory. Imports the renderer, the store and tasks.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Self

from domsieve.errors import DomsieveError
from domsieve.library.checks import check_count, check_flag, check_time, path_of, wrong
from domsieve.renderer import Budget, CaptureOptions, Egress, Renderer, Rendering, environment_proxies
from domsieve.snapshot import PageRecord, PageStore, Snapshot
from domsieve.tasks import cached, render_pages

Captured = Snapshot | PageRecord | DomsieveError
"""A page in memory, a page of the cache, or why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetching:
    """How URLs become pages.

    Parameters
    ----------
    cache : folder in which captures are kept and looked for; None keeps nothing.
    options : what is captured.
    timeout : time that one page may take.
    concurrency : pages open at the same time.
    allow_private : whether pages may reach this machine and private networks, besides the hosts and ports given.
    """

    cache: Path | None
    options: CaptureOptions
    timeout: timedelta
    concurrency: int
    allow_private: bool

    @classmethod
    def checked(
        cls,
        *,
        cache: object,
        options: object,
        timeout: object,
        concurrency: int | None,
        allow_private: bool,
    ) -> Self:
        """Return these, where each is what it must be.

        Raises
        ------
        UsageError : one is not.
        """
        if options is None:
            options = CaptureOptions()
        if not isinstance(options, CaptureOptions):
            raise wrong("options", options, "give CaptureOptions")
        check_time("timeout", timeout)
        assert isinstance(timeout, timedelta)
        check_count("concurrency", concurrency)
        check_flag("allow_private", allow_private)
        return cls(
            cache=None if cache is None else path_of("cache", cache),
            options=options,
            timeout=timeout,
            concurrency=concurrency or os.cpu_count() or 1,
            allow_private=allow_private,
        )

    @contextmanager
    def store(self) -> Iterator[PageStore | None]:
        """Open the cache for a block, in the thread that uses it; the value is None without one."""
        if self.cache is None:
            yield None
            return
        with PageStore(self.cache) as store:
            yield store

    async def captured(self, urls: Iterable[str]) -> dict[str, Captured]:
        """Return a page, or why there is none, of every URL."""
        wanted = list(dict.fromkeys(urls))
        if not wanted:
            return {}
        with self.store() as store:
            if store:
                return {**await self.recorded(wanted, store)}
            outcomes: dict[str, Captured] = {}
            async with self._renderer(wanted) as renderer:
                async for url, outcome in renderer.render_many(wanted):
                    outcomes[url] = outcome.snapshot if isinstance(outcome, Rendering) else outcome
            return outcomes

    async def recorded(self, urls: Sequence[str], store: PageStore) -> dict[str, PageRecord | DomsieveError]:
        """Return a page of the store, or why there is none, of every URL; render what it does not hold."""
        found = {url: cached(url, store, self.options) for url in urls}
        outcomes: dict[str, PageRecord | DomsieveError] = {u: r for u, r in found.items() if r is not None}
        missing = [url for url, record in found.items() if record is None]
        if missing:
            async with self._renderer(urls) as renderer:
                outcomes |= await render_pages(renderer, missing, store, lambda *_: None)
        return outcomes

    def _renderer(self, urls: Iterable[str]) -> Renderer:
        egress = Egress(allow_private=self.allow_private, upstreams=environment_proxies())
        for url in urls:
            # What the caller asks for may be private; what it leads to may not.
            egress.name(url)
        budget = Budget(time=self.timeout)
        return Renderer(self.options, budget, concurrency=self.concurrency, egress=egress)
