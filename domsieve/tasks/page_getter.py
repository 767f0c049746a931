"""Get pages by URL: the one place that asks the guard, looks into the cache, renders what is missing and keeps it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Protocol, TypeVar

from domsieve.errors import DomsieveError, NavigationError, PolicyError
from domsieve.renderer.network.egress import NO_PLACE, Egress, place_of
from domsieve.renderer.options import CaptureOptions
from domsieve.renderer.protocol import Outcome, Rendering
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.store import PageStore
from domsieve.tasks.pages import cached, keep
from domsieve.tasks.targets import site_of

Kept = TypeVar("Kept")
Kept_co = TypeVar("Kept_co", covariant=True)
Render = Callable[[list[str]], AsyncGenerator[Outcome]]
Run = Callable[[Callable[[], Any]], Awaitable[Any]]


class PageCache(Protocol[Kept_co]):
    """Where a getter looks for captures, and where it keeps new ones."""

    def find(self, url: str) -> PageRecord | None:
        """Return a capture that may be used instead of rendering the page; None without one."""
        ...

    def keep(self, rendering: Rendering, site: str) -> Kept_co:
        """Keep a page that was rendered; return what stands for it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPages:
    """The captures of a store.

    Parameters
    ----------
    store : where captures are looked for and kept.
    options : only captures that were made with these options are used.
    since : only captures that were made at or after this time, with its zone, are used; None uses all.
    may_use : returns whether a capture may be used.
    """

    store: PageStore
    options: CaptureOptions
    since: datetime | None = None
    may_use: Callable[[PageRecord], bool] = lambda _: True

    def find(self, url: str) -> PageRecord | None:
        """Return the newest capture that may be used; None without one."""
        record = cached(url, self.store, self.options, since=self.since)
        return record if record and self.may_use(record) else None

    def keep(self, rendering: Rendering, site: str) -> PageRecord:
        """Put a page into the store."""
        return keep(rendering, site, self.store)


async def _run_here(work: Callable[[], Any]) -> Any:
    return work()


async def get_pages(
    urls: Iterable[str],
    cache: PageCache[Kept],
    render: Render,
    *,
    guard: Egress | None = None,
    must_resolve: bool = False,
    report: Callable[[str, Kept | DomsieveError], None] = lambda *_: None,
    run: Run = _run_here,
) -> dict[str, PageRecord | Kept | DomsieveError]:
    """Return a page, or why there is none, of every URL.

    Parameters
    ----------
    urls : each is got once.
    cache : has captures that may be used, and keeps those that are made.
    render : yields each URL that the cache does not have with its page or its error. It is called at most once, and
        decides who renders, with which options, and how politely.
    guard : decides which URLs may be opened; None where only the renderer's own guard decides, for callers who may
        see all that their cache has.
    must_resolve : also refuse hosts that have no address; else their captures can be used without a network.
    report : is called with each page that was rendered and kept, or with the error, as they are finished.
    run : awaits calls to the cache, such as in a thread.

    Raises
    ------
    StorageError : the cache cannot be used.
    """
    wanted = list(dict.fromkeys(urls))
    outcomes: dict[str, PageRecord | Kept | DomsieveError] = {}
    # The guard comes first: the cache may hold pages that are no longer allowed.
    if guard:
        outcomes |= await _refused(wanted, guard, must_resolve=must_resolve)
    allowed = [url for url in wanted if url not in outcomes]
    found: Mapping[str, PageRecord] = await run(partial(_found, allowed, cache))
    final_urls = [record.final_url for record in found.values()]
    led_astray = await _refused(final_urls, guard, must_resolve=must_resolve) if guard else {}
    outcomes |= {url: record for url, record in found.items() if record.final_url not in led_astray}
    missing = [url for url in allowed if url not in outcomes]
    if not missing:
        return outcomes
    async with aclosing(render(missing)) as rendered:
        async for url, outcome in rendered:
            kept: Kept | DomsieveError = (
                outcome
                if isinstance(outcome, DomsieveError)
                else await run(partial(cache.keep, outcome, site_of(url)))
            )
            outcomes[url] = kept
            report(url, kept)
    return outcomes


def _found(urls: list[str], cache: PageCache[object]) -> dict[str, PageRecord]:
    return {url: record for url in urls if (record := cache.find(url))}


async def _refused(urls: Iterable[str], guard: Egress, *, must_resolve: bool) -> dict[str, DomsieveError]:
    """Return those of the URLs that may not be opened, with the reason; each host is asked for once."""
    places = {url: place_of(url) for url in urls}
    hosts = {url: (url.partition(":")[0], *place) for url, place in places.items() if place}

    async def why(host: tuple[str, str, int]) -> PolicyError | NavigationError | None:
        try:
            await guard.decide(*host)
        except PolicyError as error:
            return error
        except NavigationError as error:
            # Otherwise the cache has the page, or the renderer says why it cannot be opened.
            return error if must_resolve else None
        return None

    unique = list(dict.fromkeys(hosts.values()))
    reasons = dict(zip(unique, await asyncio.gather(*map(why, unique)), strict=True))
    refused: dict[str, DomsieveError] = {}
    for url in places:
        error = reasons[hosts[url]] if url in hosts else NavigationError(NO_PLACE)
        if isinstance(error, PolicyError):
            refused[url] = PolicyError(error.message, reason=error.reason, url=url)
        elif error:
            refused[url] = NavigationError(error.message, retry=error.retry, url=url)
    return refused
