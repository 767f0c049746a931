"""Get pages by URL: ask the egress guard, look in the cache, render missing pages and store them."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from copy import copy
from functools import partial
from typing import Any, TypeVar

from domsieve.errors import DomsieveError, NavigationError, PolicyError
from domsieve.renderer.network.egress import NO_PLACE, Egress, place_of
from domsieve.renderer.protocol import Outcome, Rendering
from domsieve.snapshot.index import PageRecord
from domsieve.tasks.targets import site_of

Kept = TypeVar("Kept")


async def _run_here(work: Callable[[], Any]) -> Any:
    return work()


async def get_pages(
    urls: Iterable[str],
    render: Callable[[list[str]], AsyncGenerator[Outcome]],
    *,
    find: Callable[[str], PageRecord | None],
    keep: Callable[[Rendering, str], Kept],
    guard: Egress | None = None,
    must_resolve: bool = False,
    report: Callable[[str, Kept | DomsieveError], None] = lambda *_: None,
    run: Callable[[Callable[[], Any]], Awaitable[Any]] = _run_here,
) -> dict[str, PageRecord | Kept | DomsieveError]:
    """Return a page or an error for every URL.

    Parameters
    ----------
    urls : the URLs; each is fetched once.
    render : renders the URLs that are not in the cache, and yields each with its page or its error. It is called at
        most once, and decides on the renderer, its options and the delays.
    find : returns a capture to use instead of rendering the page, or None.
    keep : stores a rendered page under the name of its site, and returns its record.
    guard : decides which URLs may be opened. None leaves that to the guard of the renderer, for callers who may see
        everything in their cache.
    must_resolve : also refuse hosts that have no address; else their captures can be used without a network.
    report : called with each page that was rendered and stored, or with its error, as soon as it is finished.
    run : runs calls of `find` and `keep`, for example in a thread.

    Raises
    ------
    StorageError : the cache cannot be used.
    """
    wanted = list(dict.fromkeys(urls))
    outcomes: dict[str, PageRecord | Kept | DomsieveError] = {}
    # The guard comes first: the cache may hold pages that are no longer allowed.
    if guard:
        outcomes |= await refused(wanted, guard, must_resolve=must_resolve)
    allowed = [url for url in wanted if url not in outcomes]
    found = await run(lambda: {url: record for url in allowed if (record := find(url))})
    final_urls = [record.final_url for record in found.values()]
    off_limits = await refused(final_urls, guard, must_resolve=must_resolve) if guard else {}
    outcomes |= {url: record for url, record in found.items() if record.final_url not in off_limits}
    missing = [url for url in allowed if url not in outcomes]
    if not missing:
        return outcomes
    async with aclosing(render(missing)) as rendered:
        async for url, outcome in rendered:
            kept: Kept | DomsieveError
            if isinstance(outcome, DomsieveError):
                kept = outcome
            else:
                kept = await run(partial(keep, outcome, site_of(url)))
            outcomes[url] = kept
            report(url, kept)
    return outcomes


async def refused(
    urls: Sequence[str], guard: Egress, *, must_resolve: bool = False
) -> dict[str, DomsieveError]:
    """Return the URLs that may not be opened, with the reasons; each host is looked up once.

    Parameters
    ----------
    urls : the URLs.
    guard : decides which URLs may be opened.
    must_resolve : also refuse hosts that have no address.
    """
    hosts = {url: (url.partition(":")[0], *place) for url in urls if (place := place_of(url))}

    async def why(host: tuple[str, str, int]) -> DomsieveError | None:
        try:
            await guard.decide(*host)
        except (NavigationError, PolicyError) as error:
            # The cache may have the page of a host without an address. Otherwise the renderer reports what is wrong.
            return error if must_resolve or isinstance(error, PolicyError) else None
        return None

    unique = list(dict.fromkeys(hosts.values()))
    errors = dict(zip(unique, await asyncio.gather(*map(why, unique)), strict=True))
    found = {url: copy(error) for url, host in hosts.items() if (error := errors[host])}
    found |= {url: NavigationError(NO_PLACE) for url in urls if url not in hosts}
    for url, error in found.items():
        error.url = url
    return found
