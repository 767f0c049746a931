"""Visit a site politely: with a delay, and only pages that robots.txt allows."""

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from domsieve.errors import DomsieveError, NavigationError, PageError, PolicyError, TargetError
from domsieve.renderer._limits import Clock
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.protocol import Outcome, PageSource, Reconsidering, Rendering
from domsieve.renderer.sampling._fetch import fetch, is_this_machine
from domsieve.renderer.sampling._page_urls import Site, normalized
from domsieve.renderer.sampling.robots import Robots, fetch_robots
from domsieve.renderer.sampling.sitemap import MAX_BYTES
from domsieve.snapshot.fault import fault_of

Known = Callable[[str], Rendering | None]

_DELAY = timedelta(seconds=0.5)
_LONGEST_DELAY = timedelta(seconds=30)  # that a busy server brings about
_BUSY = (429, 503)


@dataclass(frozen=True, slots=True)
class Visit:
    """A page, whether the caller had it already, and why it counts as failed, if it does."""

    rendering: Rendering
    was_known: bool
    fault: PageError | None = None


class Visitor:
    """Visits the pages of one site.

    Parameters
    ----------
    source : renders pages.
    known : returns the rendering of a page that was captured before, or None.
    concurrency : number of pages that are rendered at the same time.
    delay : time between two requests; None means 0.5 s, or no delay for this machine. A longer delay in robots.txt
        has priority, and the delay doubles whenever the server says that it is busy.
    egress : where connections for files may go; None means public addresses only.
    clock : measures the delay.
    """

    def __init__(
        self,
        source: PageSource,
        known: Known,
        *,
        concurrency: int,
        delay: timedelta | None,
        egress: Egress | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._source = source
        self._known = known
        self._places = asyncio.Semaphore(concurrency)
        self._delay = delay
        self._egress = egress
        self._clock = clock or Clock()
        self._turn = asyncio.Lock()
        self._last_turn = -math.inf
        self.delay = timedelta()

    async def rules(self, site: Site) -> Robots:
        """Fetch the rules of a site, and obey its delay from now on.

        Raises
        ------
        NavigationError, PolicyError : the rules are not available.
        """
        robots = await fetch_robots(site, egress=self._egress)
        usual = timedelta() if is_this_machine(site.host) else _DELAY
        self.delay = max(robots.delay, usual if self._delay is None else self._delay)
        return robots

    async def file(self, url: str) -> bytes:
        """Fetch a small file of the site; empty if there is none."""
        await self._wait()
        try:
            answer = await fetch(url, max_bytes=MAX_BYTES, egress=self._egress)
        except (NavigationError, PolicyError):
            return b""
        return answer.body if answer.status < 300 else b""

    async def page(self, url: str) -> Visit:
        """Render a page.

        Raises
        ------
        DomsieveError : it cannot be rendered.
        """
        async with self._places:
            rendering = self._known(url)
            visit = Visit(rendering, True) if rendering else Visit(await self._render(url), False)
        snapshot = visit.rendering.snapshot
        if snapshot.provenance.status in _BUSY:
            self.delay = min(max(2 * self.delay, _DELAY), max(self.delay, _LONGEST_DELAY))
        fault = fault_of(snapshot)
        return replace(visit, fault=fault.error(url)) if fault else visit

    async def _render(self, url: str) -> Rendering:
        await self._wait()
        if isinstance(self._source, Reconsidering):
            return await self._source.render(url)  # what it reconsiders is asked for in the end
        [(_, outcome)] = [pair async for pair in self._source.render_many((url,))]
        if isinstance(outcome, DomsieveError):
            raise outcome
        return outcome

    async def _wait(self) -> None:
        async with self._turn:
            due = self._last_turn + self.delay.total_seconds()
            await self._clock.sleep(max(0.0, due - self._clock.time()))
            self._last_turn = self._clock.time()


_SITES_PER_PAGE = 4  # opened for each page separately, because a site is mostly waiting


async def visit_politely(
    source: PageSource,
    urls: Iterable[str],
    *,
    concurrency: int,
    delay: timedelta | None = None,
    egress: Egress | None = None,
    clock: Clock | None = None,
) -> AsyncGenerator[Outcome]:
    """Render pages politely; yield each URL with its page or its error as soon as it is finished.

    There is a delay between two pages of one site, and pages that its robots.txt forbids are not visited. Close the
    iterator (``contextlib.aclosing``) to stop early.

    Parameters
    ----------
    source : renders the pages.
    urls : http or https URLs, each once.
    concurrency : number of pages of one site that are rendered at the same time.
    delay : time between the starts of two pages of a site; None means 0.5 s, or no delay for this machine. A longer
        delay in robots.txt has priority.
    egress : where connections for robots.txt may go; None means public addresses only.
    clock : measures the delay; None means the time of the event loop.
    """
    sites: dict[Site, list[str]] = {}
    for url in urls:
        address = normalized(url)
        if address is None:
            yield url, TargetError("This is not the address of a page.", url=url)
        else:
            sites.setdefault(Site.of(address), []).append(url)
    done: asyncio.Queue[Outcome | None] = asyncio.Queue()
    places = asyncio.Semaphore(_SITES_PER_PAGE * concurrency)

    async def visit(site: Site, pages: list[str]) -> None:
        async with places:
            visitor = Visitor(
                source, lambda _: None, concurrency=concurrency, delay=delay, egress=egress, clock=clock
            )
            try:
                robots = await visitor.rules(site)
            except DomsieveError as error:
                for page in pages:
                    done.put_nowait((page, error))
                return
            waiting = iter(pages)
            await asyncio.gather(*(_take(visitor, robots, waiting, done) for _ in range(concurrency)))

    async def visit_all() -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for site, pages in sites.items():
                    group.create_task(visit(site, pages))
        finally:
            done.put_nowait(None)

    work = asyncio.create_task(visit_all())
    try:
        while (outcome := await done.get()) is not None:
            yield outcome
        await work
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def _take(
    visitor: Visitor, robots: Robots, waiting: Iterator[str], done: "asyncio.Queue[Outcome | None]"
) -> None:
    """Visit pages until none are waiting."""
    for url in waiting:
        try:
            robots.check(url)
            visit = await visitor.page(url)
        except DomsieveError as error:
            done.put_nowait((url, error))
        else:
            done.put_nowait((url, visit.rendering))
