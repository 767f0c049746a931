"""Draw a random sample of the pages of a site, for methods that learn from it (500 pages in the SST paper).

Pages become known by links in rendered pages and by sitemaps, and by feeds if all pages are wanted; robots.txt is
obeyed. The pages drawn depend only on the site and the seed: links of the last seven pages are not used yet, whether
these pages are rendered or not, so timing makes no difference. Therefore an interrupted run can be repeated: it draws
the same pages, and those that the caller has are not rendered again.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from typing import Literal

from domsieve.budget import check, spending
from domsieve.errors import DomsieveError, PolicyError, UsageError
from domsieve.options import Scope
from domsieve.renderer._limits import Clock
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.protocol import PageSource, Reconsidering
from domsieve.renderer.sampling._page_links import PageLinks, Routing, feeds_of
from domsieve.renderer.sampling._page_urls import Site, normalized, start_page
from domsieve.renderer.sampling.events import (
    MissingSeen,
    PageAgain,
    PageDone,
    PageFailed,
    PageRepeated,
    SampleEnded,
    SampleEvent,
    SitemapsRead,
    SiteOpened,
)
from domsieve.renderer.sampling.frontier import Frontier, missing_address, rank
from domsieve.renderer.sampling.robots import Robots
from domsieve.renderer.sampling.sitemap import read_sitemaps
from domsieve.renderer.sampling.visits import Known, Visit, Visitor
from domsieve.snapshot.page import Snapshot

_WINDOW = 8
_FRUITLESS_LIMIT, _FRUITLESS_LIMIT_OF_ALL = 20, 200
_SITEMAPS, _SITEMAPS_OF_ALL = 10, 500
_FRONTIER_CAPACITY = 100_000
_ADMITTED_KEPT = 50_000
_MOST_FORBIDDEN = 100_000


async def sample_site(
    source: PageSource,
    start: str,
    *,
    pages: int | None,
    seed: int = 0,
    scope: Scope | None = None,
    delay: timedelta | None = None,
    concurrency: int = 2,
    known: Known = lambda _: None,
    egress: Egress | None = None,
    clock: Clock | None = None,
    ask_for_missing: bool = False,
) -> AsyncGenerator[SampleEvent]:
    """Draw different pages of a site at random, render them, and yield events.

    Events come in the order in which pages were drawn. A smaller sample is the beginning of a larger one. Close the
    iterator (``contextlib.aclosing``) to stop early.

    Parameters
    ----------
    source : renders the pages.
    start : http or https address of the first page. The site is its host and port; if it redirects to the same host
        with or without ``www.``, that is the site.
    pages : number of different pages, 1 or more; None for all that are found.
    seed : each seed gives another sample, or another order of all pages.
    scope : which pages may be in the sample; None means all, up to 16 clicks from the start.
    delay : time between the starts of two pages; None means 0.5 s, or no delay for this machine. A longer delay in
        robots.txt has priority.
    concurrency : number of pages that are rendered at the same time, at most 8; it changes only the time.
    known : returns the rendering of a page that was captured before, or None; called before rendering.
    egress : where connections for robots.txt and sitemaps may go; None means public addresses only. `source` decides
        about pages.
    clock : measures the delay; None means the time of the event loop.
    ask_for_missing : whether to request one made-up address, unless robots.txt forbids it.

    Raises
    ------
    UsageError : fewer than one page, a concurrency out of range, or an invalid start address.
    PolicyError : robots.txt forbids the start page or is not available, or the start redirects to another site.
    NavigationError : the site does not respond.
    DomsieveError : the start page cannot be rendered.
    """
    if (pages is not None and pages < 1) or not 1 <= concurrency <= _WINDOW:
        raise UsageError(f"A sample needs at least 1 page, and renders 1 to {_WINDOW} of them at a time.")
    visitor = Visitor(source, known, concurrency=concurrency, delay=delay, egress=egress, clock=clock)
    asked = start_page(start)
    robots = await visitor.rules(Site.of(asked))
    robots.check(asked)
    visit = await visitor.page(asked)
    if visit.fault:
        yield _failed(asked, visit)
        raise visit.fault
    site = _site_reached(visit, asked)
    if site != Site.of(asked):
        robots = await visitor.rules(site)
    snapshot = visit.rendering.snapshot
    routing = Routing.of(PageLinks.of(snapshot), snapshot.provenance.final_url, site)
    run = _Run(visitor, site, robots, routing, pages=pages, seed=seed, scope=scope or Scope())
    event = run.start(asked, visit)
    yield SiteOpened(root=site.root, delay=visitor.delay)
    yield event
    try:
        if pages != 1 and ask_for_missing and (seen := await run.missing(asked, snapshot)):
            yield seen
        if pages != 1:
            yield await run.read_sitemaps(feeds_of(snapshot) if pages is None else ())
        while True:
            while run.draw():
                yield await run.settle()
            # Only where nothing is running, so that timing cannot change which links are known when.
            reconsidered = [event async for event in run.again(source)]
            if not reconsidered:
                break
            for event in reconsidered:
                yield event
    finally:
        await run.stop()
    yield run.end()


def _failed(url: str, visit: Visit) -> PageFailed:
    assert visit.fault
    return PageFailed(url=url, error=visit.fault, rendering=visit.rendering, was_known=visit.was_known)


def _site_reached(visit: Visit, asked: str) -> Site:
    final_url = visit.rendering.snapshot.provenance.final_url
    final = normalized(final_url)
    if final is None or not Site.of(final).is_twin(Site.of(asked)):
        raise PolicyError(
            f"It redirects to another site; to sample that one, give {final_url}",
            reason="off_site",
            url=asked,
        )
    return Site.of(final)


@dataclass(frozen=True, slots=True)
class _Lesson:
    """What was learned from a page: links to pages, and their clicks from the start."""

    pages: Iterable[str] = ()
    clicks: int = 0
    reached: str | None = None


class _Run:
    """A running sample: pages are drawn, finished and learned from, always in the same order."""

    def __init__(
        self,
        visitor: Visitor,
        site: Site,
        robots: Robots,
        routing: Routing,
        *,
        pages: int | None,
        seed: int,
        scope: Scope,
    ) -> None:
        self._visitor = visitor
        self._site = site
        self._robots = robots
        self._routing = routing
        self._pages = pages
        self._seed = seed
        self._scope = scope
        self._fruitless_limit = _FRUITLESS_LIMIT if pages else _FRUITLESS_LIMIT_OF_ALL
        # Menus come with every page.
        self._admitted = lru_cache(_ADMITTED_KEPT)(self._admit)
        self._frontier = Frontier(seed, capacity=_FRONTIER_CAPACITY)
        self._drawn: deque[tuple[str, int, asyncio.Task[Visit]]] = deque()  # pages and their clicks
        self._lessons: deque[_Lesson] = deque()
        self._clicks: dict[str, int] = {}  # of the pages of the sample, from the start
        self._firsts: dict[str, str] = {}  # from a final address or a digest to the first page with it
        self._forbidden: set[str] = set()  # known pages that robots.txt forbids
        self._done = 0
        self._fruitless = 0

    async def missing(self, asked: str, start: Snapshot) -> SampleEvent | None:
        """Return the page that the site shows at a made-up address; None if that is an error."""
        pages = self._routing.pages(PageLinks.of(start), self._admitted)
        url = missing_address(self._site.root, asked, pages)
        if not self._robots.allows(url):
            return None
        try:
            visit = await self._visitor.page(url)
        except DomsieveError:
            return None
        if visit.fault:
            return None
        return MissingSeen(url=url, rendering=visit.rendering, was_known=visit.was_known)

    async def read_sitemaps(self, feeds: Iterable[str]) -> SampleEvent:
        """Read the pages of the sitemaps, and of feeds."""
        sitemaps = self._robots.sitemaps or (f"{self._site.root}/sitemap.xml",)
        found = await read_sitemaps(
            self._visitor.file,
            (*sitemaps, *filter(self._robots.allows, feeds)),
            site=self._site,
            rank=lambda url: rank(url, seed=self._seed),
            most=_SITEMAPS if self._pages else _SITEMAPS_OF_ALL,
        )
        listed: dict[str, str] = {}
        with spending("sitemap", self._site.root):
            for address, changed_at in found.items():
                if page := self._admit(address):
                    listed[self._routing.page(page)] = changed_at
        self._learn(_Lesson(sorted(listed), clicks=1))
        return SitemapsRead(pages=len(listed), changed_at=listed)

    def start(self, asked: str, visit: Visit) -> SampleEvent:
        """Add the start page, which is not drawn.

        Raises
        ------
        PolicyError : it redirects to an address that robots may not visit.
        """
        page = self._site.page(asked)
        if page:
            self._frontier.visit(self._site.name(self._routing.page(page)))
        event = self._judge(asked, 0, visit)
        self._learn(self._lessons.popleft())
        # Its links are known by now.
        return replace(event, waiting=len(self._frontier)) if isinstance(event, PageDone) else event

    def draw(self) -> bool:
        """Start as many pages as are needed and possible; return whether any is running."""
        while (
            len(self._drawn) < _WINDOW
            and (self._pages is None or self._done + len(self._drawn) < self._pages)
            and self._fruitless < self._fruitless_limit
        ):
            while self._lessons and (len(self._lessons) + len(self._drawn) >= _WINDOW or not self._frontier):
                self._learn(self._lessons.popleft())
            if not self._frontier:
                break
            name, clicks = self._frontier.draw()
            page = self._site.root + name
            self._drawn.append((page, clicks, asyncio.create_task(self._visitor.page(page))))
        return bool(self._drawn)

    async def settle(self) -> SampleEvent:
        """Wait for the running page that was drawn first; return its event."""
        page, clicks, task = self._drawn[0]
        event: SampleEvent
        try:
            visit = await task
            if visit.fault:
                event = _failed(page, visit)
                self._lessons.append(_Lesson())
            else:
                event = self._judge(page, clicks, visit)
            self._fruitless = 0 if isinstance(event, PageDone) else self._fruitless + 1
        except DomsieveError as error:
            event = PageFailed(url=page, error=error)
            self._lessons.append(_Lesson())
            self._fruitless += 1
        self._drawn.popleft()
        return event

    def _judge(self, page: str, clicks: int, visit: Visit) -> SampleEvent:
        """Return the event for a page, and learn its links."""
        with spending("links", page):
            return self._judged(page, clicks, visit)

    def _judged(self, page: str, clicks: int, visit: Visit) -> SampleEvent:
        snapshot = visit.rendering.snapshot
        reached = self._site.page(snapshot.provenance.final_url)
        if reached is None:
            final_url = snapshot.provenance.final_url
            raise PolicyError(
                f"It redirects to {final_url}, which is not a page of the site.", reason="off_site", url=page
            )
        self._robots.check(reached)
        links = PageLinks.of(snapshot)
        reached = self._routing.page(reached, links.places)
        self._lessons.append(_Lesson(self._routing.pages(links, self._admitted), clicks + 1, reached))
        marks = (reached, page, snapshot.digest())
        first = next((self._firsts[mark] for mark in marks if mark in self._firsts), None)
        if first:
            return PageRepeated(url=page, first=first, rendering=visit.rendering, was_known=visit.was_known)
        self._firsts.update(dict.fromkeys(marks, page))
        self._done += 1
        self._clicks[page] = clicks
        return PageDone(
            url=page,
            number=self._done,
            pages=self._pages,
            waiting=len(self._frontier) + max(len(self._drawn) - 1, 0),  # without this page
            rendering=visit.rendering,
            was_known=visit.was_known,
        )

    def _admit(self, url: str) -> str | None:
        """Return the normalized address of a page if it is on the site, in scope, and allowed by robots.txt."""
        check()
        page = self._site.page(url)
        if page is None or not self._scope.has(self._site.name(page)):
            return None
        if self._robots.allows(page):
            return page
        if len(self._forbidden) < _MOST_FORBIDDEN:
            self._forbidden.add(page)
        return None

    def _learn(self, lesson: _Lesson) -> None:
        if lesson.reached:
            self._frontier.visit(self._site.name(lesson.reached))
        if lesson.clicks <= self._scope.depth:
            for page in lesson.pages:
                self._frontier.add(self._site.name(page), clicks=lesson.clicks)

    async def again(self, source: PageSource) -> AsyncGenerator[PageAgain]:
        """Render pages that were fetched and are doubtful now, and learn the links that scripts have added."""
        if not isinstance(source, Reconsidering):
            return
        async for url, outcome in source.again():
            if not isinstance(outcome, DomsieveError):
                with spending("links", url):
                    pages = self._routing.pages(PageLinks.of(outcome.snapshot), self._admitted)
                    self._learn(_Lesson(pages, self._clicks.get(url, 0) + 1))
            yield PageAgain(url=url, outcome=outcome)

    async def stop(self) -> None:
        """Stop the running pages."""
        tasks = [task for _, _, task in self._drawn]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def end(self) -> SampleEnded:
        """Return the final event."""
        reason: Literal["complete", "exhausted", "fruitless"] = "exhausted"
        if self._pages and self._done >= self._pages:
            reason = "complete"
        elif self._fruitless >= self._fruitless_limit:
            reason = "fruitless"
        return SampleEnded(
            pages=self._done,
            reason=reason,
            forbidden=len(self._forbidden),
            has_scope=self._scope != Scope(),
        )
