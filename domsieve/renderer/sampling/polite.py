"""Visit pages that nobody named one by one: as slowly as their sites like, and only where robots may go.

Imports its neighbours in this package and the error tree.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator
from datetime import timedelta

from domsieve.errors import DomsieveError, TargetError
from domsieve.renderer.limits import Clock
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.protocol import Outcome, PageSource
from domsieve.renderer.sampling.robots import Robots
from domsieve.renderer.sampling.urls import Site, normalized
from domsieve.renderer.sampling.visits import Visitor

_SITES_PER_PAGE = 4  # open for each page at once, since most of the time of a site is waiting


async def visit_politely(
    source: PageSource,
    urls: Iterable[str],
    *,
    concurrency: int,
    delay: timedelta | None = None,
    egress: Egress | None = None,
    clock: Clock | None = None,
) -> AsyncGenerator[Outcome]:
    """Yield each of `urls` with its page or its error, as they are finished.

    Between two pages of one site passes at least the delay; pages that its robots.txt forbids are not visited.
    Close the iterator (``contextlib.aclosing``) to stop early.

    Parameters
    ----------
    source : renders the pages.
    urls : http or https, each once.
    concurrency : pages of one site that are rendered at the same time.
    delay : time between the starts of two pages of a site, by default 0.5 s, or none on this machine. The delay that
        robots.txt asks for is kept when it is longer.
    egress : where connections for robots.txt may go; by default to public addresses only.
    clock : what the delay is measured by; by default the event loop's time.
    """
    sites: dict[Site, list[str]] = {}
    for url in urls:
        address = normalized(url)
        if address is None:
            yield url, TargetError("This is no address of a page.", url=url)
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
    """Visit pages until none is waiting."""
    for url in waiting:
        try:
            robots.check(url)
            visit = await visitor.page(url)
        except DomsieveError as error:
            done.put_nowait((url, error))
        else:
            done.put_nowait((url, visit.rendering))
