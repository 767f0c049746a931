"""Fetch targets: take captures from the cache, render the others, and follow feeds and sitemaps."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from domsieve.errors import ContentError, DomsieveError, NavigationError, PageError, PolicyError
from domsieve.options import CaptureOptions
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.protocol import Outcome, PageSource, Reconsidering
from domsieve.renderer.sampling.sitemap import Listing, listing_at
from domsieve.renderer.sampling.visits import visit_politely
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_getter import get_pages, refused
from domsieve.tasks.pages import cached, fault_in, keep
from domsieve.tasks.targets import DamagedTarget, Fetched, Outcomes, Target, UrlTarget

_LOST = "This sitemap, which another one names, cannot be read."
_ROUNDS = 3  # an index of sitemaps, its sitemaps, their pages


class Listener(Protocol):
    """Receives events while targets are fetched."""

    def waiting(self, pages: int) -> None:
        """Receive the number of pages that will be rendered now."""

    def rendered(self, url: str, outcome: PageRecord | DomsieveError) -> None:
        """Receive a page that was rendered, or its error."""

    def listed(self, url: str, listing: Listing) -> None:
        """Receive the feed or sitemap at an address."""


async def fetch_targets(
    open_source: Callable[[], AbstractAsyncContextManager[PageSource]],
    targets: Sequence[Target],
    store: PageStore,
    listener: Listener,
    *,
    options: CaptureOptions,
    since: datetime | None,
    egress: Egress,
    concurrency: int,
    delay: timedelta | None,
    is_polite: bool = True,
    may_use: Callable[[PageRecord], bool] = lambda _: True,
) -> Fetched:
    """Return a capture of every page that the targets name or list; render and store those that are not cached.

    Pages that the caller named are rendered at once. Pages that only a feed or a sitemap lists are visited politely:
    robots.txt is obeyed, and there is a delay between two pages. Addresses that the caller did not type are refused
    if `egress` refuses them, even if the cache has them.

    Parameters
    ----------
    open_source : opens the renderer; called only if there is a page to render.
    options : the options of captures, to find them in the cache.
    since : render pages again whose captures are older than this; None uses all captures.
    egress : the guard for robots.txt and listings; give that of the renderer.
    concurrency : number of pages of one site that are rendered at the same time.
    delay : time between two listed pages of a site; None means 0.5 s, or no delay for this machine.
    is_polite : whether to obey robots.txt and to wait; False for pages of an archive.
    may_use : decides whether a capture of the cache may be used.
    """
    found = list(targets)
    outcomes: Outcomes = {}
    find = partial(cached, store=store, options=options, since=since, may_use=may_use)
    async with AsyncExitStack() as stack:
        source: PageSource | None = None
        for rounds_left in reversed(range(_ROUNDS)):
            wanted = {target.url: target for target in found if isinstance(target, UrlTarget)}
            unsure: Outcomes = {}

            async def render(
                missing: list[str], wanted: Mapping[str, UrlTarget] = wanted
            ) -> AsyncGenerator[Outcome]:
                nonlocal source
                listener.waiting(len(missing))
                done: set[str] = set()
                if source is None:
                    source = await stack.enter_async_context(open_source())
                spared = {url for url in missing if wanted[url].listed_by and is_polite}
                async for outcome in source.render_many([url for url in missing if url not in spared]):
                    if outcome[0] in done:  # rendered after all
                        listener.waiting(1)
                    done.add(outcome[0])
                    yield outcome
                listed = [url for url in missing if url in spared]
                visits = visit_politely(source, listed, concurrency=concurrency, delay=delay, egress=egress)
                async with aclosing(visits):
                    async for outcome in visits:
                        yield outcome
                if isinstance(source, Reconsidering):
                    async for outcome in source.again(missing):
                        listener.waiting(1)
                        yield outcome

            def report(url: str, outcome: PageRecord | DomsieveError, unsure: Outcomes = unsure) -> None:
                if _is_no_page(outcome, store):
                    unsure[url] = outcome
                else:
                    listener.rendered(url, outcome)

            new = [url for url in wanted if url not in outcomes]
            listed = [url for url in new if not wanted[url].may_be_private]
            off_limits = await _refused_captures(listed, find, egress)
            if off_limits:
                listener.waiting(len(off_limits))
            for url, error in off_limits.items():
                listener.rendered(url, error)
            outcomes |= off_limits
            allowed = [url for url in new if url not in outcomes]
            outcomes |= await get_pages(
                allowed, render, find=find, keep=partial(keep, store=store), report=report
            )
            if not unsure:
                break
            listings: dict[str, Listing] = {}
            for url, outcome in unsure.items():
                with suppress(NavigationError, PolicyError):
                    # Feeds and sitemaps that list each other without end are given up.
                    listing = await listing_at(url, egress=egress) if rounds_left else None
                    if listing and listing.pages:
                        listings[url] = listing
                        listener.listed(url, listing)
                        continue
                listener.rendered(url, outcome)
            found = _without(found, listings)
    urls = dict.fromkeys(target.url for target in found if isinstance(target, UrlTarget))
    return Fetched(found, {url: outcomes[url] for url in urls})


async def _refused_captures(
    urls: Sequence[str], find: Callable[[str], PageRecord | None], egress: Egress
) -> Outcomes:
    """Return the URLs whose captures in the cache may not be used, with the reasons."""
    final = {url: record.final_url for url in urls if (record := find(url))}
    errors = await refused([*final, *final.values()], egress)
    return {url: error for url, end in final.items() if (error := errors.get(url) or errors.get(end))}


def _is_no_page(outcome: PageRecord | DomsieveError, store: PageStore) -> bool:
    """Return whether there is something else than a page at an address, such as a download."""
    if isinstance(outcome, PageRecord):
        fault = None if outcome.complete else fault_in(outcome, store)
    else:
        fault = outcome if isinstance(outcome, PageError) else None
    return fault is not None and fault.reason == "type"


def _without(targets: Sequence[Target], listings: dict[str, Listing]) -> list[Target]:
    """Return the targets with feeds and sitemaps replaced by their pages, each once, and the unreadable ones."""
    seen = {target.url for target in targets if isinstance(target, UrlTarget)}
    found: list[Target] = []
    for target in targets:
        if not isinstance(target, UrlTarget) or target.url not in listings:
            found.append(target)
            continue
        listing = listings[target.url]
        found += (UrlTarget(page, target.url) for page in listing.pages if page not in seen)
        found += (
            DamagedTarget(lost, ContentError(_LOST, url=lost)) for lost in listing.lost if lost not in seen
        )
        seen.update(listing.pages, listing.lost)
    return found
