"""Render the pages of a site into a store of its own. A worker keeps its browser for the next site.

Each shard is one site, so that delays between pages need no communication between workers. Pages that are in the
store are not rendered again.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from domsieve.budget import DEFAULT_BUDGET, AnalysisBudget, budgeted
from domsieve.bulk._places import place_at, write
from domsieve.bulk.job import Done, Failures, PageEnded, ignore
from domsieve.bulk.plan import Shard
from domsieve.errors import DomsieveError
from domsieve.files import digest_of
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.network.addresses import HostRules
from domsieve.renderer.protocol import Outcome, PageSource, Reconsidering
from domsieve.renderer.renderer import Renderer
from domsieve.renderer.sampling.events import PageDone, PageFailed
from domsieve.renderer.sampling.visits import visit_politely
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_getter import get_pages
from domsieve.tasks.pages import cached, fault_in, keep
from domsieve.tasks.render_modes import page_source
from domsieve.tasks.renderer_factory import RendererFactory
from domsieve.tasks.sampling import sample
from domsieve.tasks.targets import output_name
from domsieve.types import DriverName

MARKER = ".json"
"""The ending of the file that marks a site as done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderJob:
    """Render the pages of a site; a shard of this job contains one site and its URLs.

    Parameters
    ----------
    output : a folder of this machine, for the stores of the sites.
    budget : the budget of the analysis of one page.
    options, page_budget, driver, browser : how pages are rendered.
    allow_private : whether pages may reach this machine and private networks, and not only the hosts in `named`.
    rules : hosts that may not be reached, or the only ones that may; None for no rules.
    delay : time between two pages of a site; None means 0.5 s, or no delay for this machine.
    concurrency : number of pages of a site that are rendered at the same time.
    pages : size of the sample of each site, beginning at its first URL; 0 renders exactly the URLs.
    seed : the seed of the samples.
    named : the URLs that the caller typed; their hosts may be private, but not addresses that they redirect to.
    """

    output: str
    budget: AnalysisBudget = DEFAULT_BUDGET
    options: CaptureOptions = CaptureOptions()  # noqa: RUF009 (frozen)
    page_budget: Budget = Budget()  # noqa: RUF009 (frozen)
    driver: DriverName = "playwright"
    browser: str | None = None
    allow_private: bool = False
    rules: HostRules | None = None
    delay: timedelta | None = None
    concurrency: int = 1
    pages: int = 0
    seed: int = 0
    named: tuple[str, ...] = ()

    keeps_worker: ClassVar[bool] = True

    def note(self) -> dict[str, Any]:
        """Return what shapes the results; the options as a digest, because they may contain secrets."""
        options = digest_of(msgspec.json.encode(self.options.canonical(), order="sorted"))
        mode = {} if self.options.render == "always" else {"render": self.options.render}
        return {"options": options, "pages": self.pages, "seed": self.seed, **mode}

    def part(self, shard: str) -> str:
        """Return the name of the file that marks a site as done."""
        return f"{shard}{MARKER}"

    def on(self, shard: Shard, page_ended: PageEnded = ignore) -> Done:
        """Render a site."""
        place, failures, site, urls = place_at(self.output), Failures(), shard.sites[0], shard.content()
        with PageStore(Path(self.output) / store_name(site)) as store, budgeted(self.budget):
            work = (
                self._sampled(urls[0], site, store, failures)
                if self.pages
                else self._named(urls, site, store, failures, page_ended)
            )
            there = _worker_of(self).run(work)
        failures.write(place, shard.name)
        done = {"site": site, "pages": there, "failed": len(failures), "store": store_name(site)}
        write(place, self.part(shard.name), msgspec.json.encode(done) + b"\n")
        return Done(shard=shard.name, pages=there + len(failures), failed=len(failures), rows=there)

    async def _named(
        self,
        urls: tuple[str, ...],
        site: str,
        store: PageStore,
        failures: Failures,
        page_ended: PageEnded,
    ) -> int:
        open_urls = {*urls}

        def report(url: str, _: object) -> None:
            if url in open_urls:  # pages that were fetched may be rendered again
                open_urls.remove(url)
                page_ended()

        async def render(missing: list[str]) -> AsyncGenerator[Outcome]:
            egress = _worker_of(self).factory.egress
            async with self._source(store) as source:
                visits = visit_politely(
                    source, missing, concurrency=self.concurrency, delay=self.delay, egress=egress
                )
                async with aclosing(visits):
                    async for outcome in visits:
                        yield outcome
                if isinstance(source, Reconsidering):
                    async for outcome in source.again():
                        yield outcome

        find = partial(cached, store=store, options=self.options)
        outcomes = await get_pages(urls, render, find=find, keep=partial(keep, store=store), report=report)
        for url in urls:
            outcome = outcomes[url]
            error = outcome if isinstance(outcome, DomsieveError) else fault_in(outcome, store)
            if error:
                failures.add(url, site, error)
        return len(urls) - len(failures)

    async def _sampled(self, start: str, site: str, store: PageStore, failures: Failures) -> int:
        pages = 0
        async with self._source(store) as source:
            events = sample(
                source,
                start,
                store,
                options=self.options,
                pages=self.pages,
                seed=self.seed,
                delay=self.delay,
                concurrency=min(self.concurrency, 8),
                since=None,
                egress=_worker_of(self).factory.egress,
            )
            async with aclosing(events):
                async for event, record in events:
                    pages += record is not None and isinstance(event, PageDone)
                    if isinstance(event, PageFailed):
                        failures.add(event.url, site, event.error)
        return pages

    @asynccontextmanager
    async def _source(self, store: PageStore) -> AsyncIterator[PageSource]:
        """Open the source of the pages of a site; the browser stays open for the next site."""
        worker = _worker_of(self)

        @asynccontextmanager
        async def opened() -> AsyncIterator[PageSource]:
            yield await worker.renderer()

        modes = page_source(worker.factory, store=store, seed=self.seed, open_renderer=opened)
        async with modes as source:
            yield source


def store_name(site: str) -> str:
    """Return the name of the folder of a site's store."""
    return output_name(f"://{site}")


class _Worker:
    """The browser of a worker, and its event loop."""

    def __init__(self, job: RenderJob) -> None:
        self.job = job
        self.loop = asyncio.Runner()
        self.factory = RendererFactory(
            options=job.options,
            budget=job.page_budget,
            concurrency=job.concurrency,
            browser=job.browser,
            driver=job.driver,
            allow_private=job.allow_private,
            rules=job.rules,
        )
        for url in job.named:
            self.factory.egress.name(url)
        self._renderer: Renderer | None = None

    def run(self, work: Any) -> int:
        """Run a coroutine and return its result."""
        return int(self.loop.run(work))

    async def renderer(self) -> Renderer:
        """Return the renderer, which may reach the hosts that the caller named."""
        if self._renderer is None:
            self._renderer = await self.factory.renderer().__aenter__()
        return self._renderer

    def close(self) -> None:
        """Close the browser."""
        if self._renderer:
            self.loop.run(self._renderer.__aexit__(None, None, None))
        self.loop.close()


_workers: list[_Worker] = []


def _worker_of(job: RenderJob) -> _Worker:
    """Return the browser of this process; it is kept until another job comes or the process ends."""
    if not _workers or _workers[0].job != job:
        close_browser()
        _workers.append(_Worker(job))
        Finalize(None, close_browser, exitpriority=10)
    return _workers[0]


def close_browser() -> None:
    """Close the browser of this process, if there is one."""
    while _workers:
        _workers.pop().close()
