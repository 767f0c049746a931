"""Pages of URLs for a call: rendered in one browser, or taken from the cache that the caller named.

A URL may be a stranger's, so every one passes the guard, be it cached or not: what is private is refused unless the
caller opened it. Without a cache, nothing is written: pages stay in memory.
"""

import os
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Self, cast, get_args

from domsieve.budget import USUAL, AnalysisBudget
from domsieve.errors import DomsieveError, PolicyError
from domsieve.library.checks import (
    check_choice,
    check_count,
    check_flag,
    check_time,
    path_of,
    places_of,
    wrong,
)
from domsieve.renderer.browser.connection import DriverName
from domsieve.renderer.options import Budget, CaptureOptions
from domsieve.renderer.protocol import Outcome, Rendering
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_getter import Kept, get_pages
from domsieve.tasks.pages import cached, keep
from domsieve.tasks.renderer_factory import RendererFactory

Captured = Snapshot | PageRecord | DomsieveError
"""A page in memory, a page of the cache, or why there is none."""

_WAY_OUT = 'To open a private host that you trust, pass private_hosts=["HOST:PORT"].'


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetching:
    """How URLs become pages.

    Parameters
    ----------
    cache : folder in which captures are kept and looked for; None keeps nothing.
    options : what is captured.
    timeout : time that one page may take.
    concurrency : pages open at the same time.
    private_hosts : hosts and ports that may be private; a port of None stands for any.
    allow_private : whether pages may reach all of this machine and of private networks.
    driver : what carries messages to the browser.
    keep_errors : whether pages that count as failed are worked on.
    analysis : what the analysis of one page may cost then.
    """

    cache: Path | None
    options: CaptureOptions
    timeout: timedelta
    concurrency: int
    private_hosts: tuple[tuple[str, int | None], ...]
    allow_private: bool
    driver: DriverName
    keep_errors: bool
    analysis: AnalysisBudget

    @classmethod
    def checked(
        cls,
        *,
        cache: object,
        options: object,
        timeout: object,
        concurrency: int | None,
        private_hosts: object,
        allow_private: bool,
        driver: object = "playwright",
        keep_errors: bool = False,
        analysis_budget: object = None,
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
        check_choice("driver", driver, get_args(DriverName))
        check_flag("keep_errors", keep_errors)
        if analysis_budget is None:
            analysis_budget = USUAL
        if not isinstance(analysis_budget, AnalysisBudget):
            raise wrong("analysis_budget", analysis_budget, "give AnalysisBudget")
        return cls(
            cache=None if cache is None else path_of("cache", cache),
            options=options,
            timeout=timeout,
            concurrency=concurrency or os.cpu_count() or 1,
            private_hosts=places_of("private_hosts", private_hosts),
            allow_private=allow_private,
            driver=cast(DriverName, driver),
            keep_errors=keep_errors,
            analysis=analysis_budget,
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
        wanted = list(urls)
        if not wanted:
            return {}
        with self.store() as store:
            if store:
                return {**await self.recorded(wanted, store)}
        return {**await self._pages(wanted, lambda _: None, lambda rendering, _: rendering.snapshot)}

    async def recorded(
        self, urls: Iterable[str], store: PageStore, *, afresh: bool = False
    ) -> dict[str, PageRecord | DomsieveError]:
        """Return a page of the store, or why there is none, of every URL; render what it does not hold, or all."""
        since = datetime.now(UTC) if afresh else None
        find = partial(cached, store=store, options=self.options, since=since)
        return await self._pages(urls, find, partial(keep, store=store))

    async def _pages(
        self,
        urls: Iterable[str],
        find: Callable[[str], PageRecord | None],
        keep: Callable[[Rendering, str], Kept],
    ) -> dict[str, PageRecord | Kept | DomsieveError]:
        factory = RendererFactory(
            options=self.options,
            budget=Budget(time=self.timeout),
            concurrency=self.concurrency,
            driver=self.driver,
            private_hosts=self.private_hosts,
            allow_private=self.allow_private,
        )

        async def render(missing: list[str]) -> AsyncGenerator[Outcome]:
            async with factory.renderer() as renderer:
                async for outcome in renderer.render_many(missing):
                    yield outcome

        outcomes = await get_pages(urls, render, find=find, keep=keep, guard=factory.egress)
        for outcome in outcomes.values():
            if isinstance(outcome, PolicyError) and outcome.reason == "private":
                outcome.add_note(_WAY_OUT)
        return outcomes
