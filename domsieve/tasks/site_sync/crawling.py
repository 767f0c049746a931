"""Visit the pages of a site in a run: those that may have changed are loaded."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from domsieve.errors import DomsieveError, PageError, PolicyError
from domsieve.renderer.protocol import Outcome, PageSource, Reconsidering, Rendering
from domsieve.renderer.sampling.events import (
    PageDone,
    PageFailed,
    PageRepeated,
    SampleEnded,
    SampleEvent,
    SitemapsRead,
    SiteOpened,
)
from domsieve.renderer.sampling.sample import sample_site
from domsieve.renderer.sampling.visits import visit_politely
from domsieve.snapshot.fault import check_fault, fault_of
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.store import PageStore
from domsieve.tasks.pages import keep
from domsieve.tasks.render_modes import page_source
from domsieve.tasks.renderer_factory import CaptureSetup
from domsieve.tasks.site_sync.state import State
from domsieve.tasks.site_sync.visiting import CheckingSource, LazyRenderer, RunLimits, SameWaySource
from domsieve.tasks.targets import site_of

_MISSING = (404, 410)
_RESUMED_WITHIN = timedelta(days=1)
"""Captures of a run that was ended are used by the next one if they are not older."""
_MOST_AT_ONCE = 8


class Reporter(Protocol):
    """Is told how a run goes on."""

    def visited(self, event: SampleEvent) -> None:
        """Take an event of the visit of the site."""
        ...

    def said(self, sentence: str) -> None:
        """Take a sentence that users should read."""
        ...

    def stage(self, what: str, pages: int) -> None:
        """Begin a stage with this number of pages."""
        ...

    def advanced(self) -> None:
        """Count a page of the stage as done."""
        ...


@dataclass(slots=True)
class Crawl:
    """What the visit of a site has shown.

    Parameters
    ----------
    site : the site.
    loaded : pages that were loaded.
    failed : pages that could not be.
    repeated : pages that are others under another address.
    is_complete : whether all known pages of the site were visited.
    limit : which limit of the run was reached, in a sentence; empty for none.
    """

    site: str = ""
    loaded: dict[str, PageRecord] = field(default_factory=dict)
    failed: dict[str, DomsieveError] = field(default_factory=dict)
    repeated: set[str] = field(default_factory=set)
    is_complete: bool = False
    limit: str = ""
    count: int = 0


class SiteVisit:
    """Visits a site, and keeps what was loaded.

    Parameters
    ----------
    state : what the folder remembers.
    store : the captures.
    factory : makes the renderer, and has the guard of all connections.
    delay : time between two pages; None means the usual one.
    concurrency : number of pages that are loaded at the same time.
    report : is told how the run goes on.
    limits : what the run may load.
    """

    def __init__(
        self,
        state: State,
        store: PageStore,
        factory: CaptureSetup,
        *,
        delay: timedelta | None,
        concurrency: int,
        report: Reporter,
        limits: RunLimits,
    ) -> None:
        self._state, self._store, self._factory, self._limits = state, store, factory, limits
        self._delay, self._concurrency = delay, min(concurrency, _MOST_AT_ONCE)
        self._report = report
        self._resumed = self._unfinished()

    @asynccontextmanager
    async def sources(self) -> AsyncIterator[tuple[PageSource, CheckingSource, PageSource]]:
        """Open what loads pages a second time, what loads only those that may have changed, and what decides how."""
        from domsieve.renderer.fetching.fetcher import Fetcher

        factory = self._factory
        mode = factory.options.render
        async with AsyncExitStack() as stack:
            renderer = LazyRenderer(factory.renderer)
            stack.push_async_callback(renderer.close)
            fetcher = await stack.enter_async_context(
                Fetcher(
                    factory.options,
                    factory.budget,
                    egress=factory.egress,
                    concurrency=max(8, self._concurrency),
                )
            )
            source = await stack.enter_async_context(
                page_source(
                    factory,
                    store=self._store,
                    report=lambda site, prefix, sentence: self._report.said(f"{site}{prefix}: {sentence}"),
                    open_renderer=lambda: renderer,
                )
            )
            pages = self._state.pages
            same_way = source if mode == "never" else renderer
            loader = SameWaySource(source, same_way, pages, self._limits)
            # Two loads share nothing: a page from the browser's cache would show again what rotates.
            again = SameWaySource(source, same_way, pages, self._limits, visitor="again")
            yield (
                again,
                CheckingSource(
                    loader,
                    fetcher,
                    pages,
                    self._store.get,
                    run=self._state.run + 1,
                    trusts_validators=self._state.trusts_validators,
                    always=mode == "always",
                    limits=self._limits,
                ),
                source,
            )

    def _unfinished(self) -> dict[str, PageRecord]:
        """Return the captures that a run made which did not finish."""
        used = {page.capture for page in self._state.pages.values()}
        since = datetime.now(UTC) - _RESUMED_WITHIN
        return {
            record.url: record
            for record in self._store.each_record()
            if record.page_id not in used
            and record.producer != "unscripted"
            and record.site
            and record.complete
            and since <= datetime.fromisoformat(record.captured_at)
            and record.captured_at > self._state.finished
        }

    async def crawl(self, checking: CheckingSource, source: PageSource) -> Crawl:
        """Visit the site.

        Raises
        ------
        DomsieveError : the first page cannot be loaded.
        """
        crawl = Crawl()

        def known(url: str) -> Rendering | None:
            if url in self._resumed:
                with suppress(DomsieveError):
                    page = self._store.get(self._resumed[url].page_id)
                    if not fault_of(page):
                        return Rendering(snapshot=page, source=None, source_reason="from the run before")
            return checking.known(url)

        events = sample_site(
            checking,
            self._state.settings.source,
            pages=None,
            scope=self._state.settings.scope,
            delay=self._delay,
            concurrency=self._concurrency,
            known=known,
            egress=self._factory.egress,
        )
        async with aclosing(events):
            async for event in events:
                self._report.visited(event)
                if isinstance(event, SiteOpened):
                    crawl.site = site_of(event.root)
                elif isinstance(event, SitemapsRead):
                    checking.changed_at = event.changed_at
                elif isinstance(event, PageDone):
                    self._seen(event.url, event.rendering, checking, crawl)
                elif isinstance(event, PageRepeated):
                    crawl.repeated.add(event.url)
                elif isinstance(event, PageFailed):
                    self.failed(event.url, event.error, event.rendering, checking, crawl)
                elif isinstance(event, SampleEnded):
                    crawl.is_complete = event.reason == "exhausted"
                if crawl.limit or crawl.count >= self._state.settings.pages:
                    break
        if isinstance(source, Reconsidering):
            async for url, outcome in source.again():
                if isinstance(outcome, DomsieveError):
                    crawl.failed[url] = outcome
                else:
                    crawl.loaded[url] = keep(outcome, crawl.site, self._store)
                    checking.note_files(url, outcome)
        return crawl

    async def visit_rest(self, checking: CheckingSource, crawl: Crawl) -> None:
        """Visit known pages that the visit of the site did not reach before its end."""
        if crawl.is_complete:
            return
        done = {
            *crawl.loaded,
            *crawl.failed,
            *crawl.repeated,
            *checking.visits.unchanged,
            *checking.visits.missing,
        }
        await self.visit(checking, crawl, [url for url in self._state.pages if url not in done])

    async def visit(self, checking: CheckingSource, crawl: Crawl, urls: Iterable[str]) -> None:
        """Visit known pages."""
        wanted = [*urls]
        for url in wanted:
            checking.visits.unchanged.pop(url, None)
        async with aclosing(self.politely(checking, wanted)) as outcomes:
            async for url, outcome in outcomes:
                if isinstance(outcome, DomsieveError):
                    self.failed(url, outcome, None, checking, crawl)
                    if crawl.limit:
                        return
                else:
                    try:
                        check_fault(outcome.snapshot)
                    except PageError as error:
                        self.failed(url, error, outcome, checking, crawl)
                    else:
                        self._seen(url, outcome, checking, crawl)

    def politely(self, source: PageSource, urls: list[str]) -> AsyncGenerator[Outcome]:
        """Return pages, loaded with the delay of the site."""
        return visit_politely(
            source,
            urls,
            concurrency=self._concurrency,
            delay=self._delay,
            egress=self._factory.egress,
        )

    def _seen(self, url: str, rendering: Rendering, checking: CheckingSource, crawl: Crawl) -> None:
        crawl.count += 1
        if url in checking.visits.unchanged:
            return
        resumed = self._resumed.get(url)
        if resumed and rendering.source is None:
            crawl.loaded[url] = resumed
        else:
            crawl.loaded[url] = keep(rendering, crawl.site, self._store)
            checking.note_files(url, rendering)

    def failed(
        self,
        url: str,
        error: DomsieveError,
        rendering: Rendering | None,
        checking: CheckingSource,
        crawl: Crawl,
    ) -> None:
        """Note a page that failed, is missing, or was not loaded because of a limit of the run."""
        if isinstance(error, PolicyError) and error.reason == "quota":
            crawl.limit, crawl.is_complete = error.message, False
            return
        if rendering and rendering.snapshot.provenance.status in _MISSING:
            checking.visits.missing.add(url)
        if url not in checking.visits.missing:
            crawl.failed[url] = error
