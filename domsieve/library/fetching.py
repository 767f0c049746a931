"""Pages of URLs for a call: rendered in one browser, or taken from the cache that the caller named.

A URL may be a stranger's, so every one passes the guard, be it cached or not: what is private is refused unless the
caller opened it. Without a cache, nothing is written: pages stay in memory.
Imports the renderer, the store and tasks.
"""

import asyncio
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from domsieve.errors import DomsieveError, NavigationError, PolicyError
from domsieve.library.checks import path_of, wrong
from domsieve.library.options import NetworkOptions
from domsieve.renderer.network.egress import NO_PLACE, Egress, place_of
from domsieve.renderer.network.upstream import environment_proxies
from domsieve.renderer.options import Budget, CaptureOptions
from domsieve.renderer.protocol import Rendering
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.pages import cached, render_pages

Captured = Snapshot | PageRecord | DomsieveError
"""A page in memory, a page of the cache, or why there is none."""
Outcome = TypeVar("Outcome")

_WAY_OUT = 'To open a private host that you trust, pass network=NetworkOptions(private_hosts=["HOST:PORT"]).'


@dataclass(frozen=True, slots=True)
class Fetching:
    """How URLs become pages.

    Parameters
    ----------
    cache : folder in which captures are kept and looked for; None keeps nothing.
    options : what is captured.
    network : where connections may go, and what a page may cost.
    """

    cache: Path | None
    options: CaptureOptions
    network: NetworkOptions

    @classmethod
    def of(cls, *, cache: object, capture: object, network: object) -> Self:
        """Return what the parameters of a call say.

        Raises
        ------
        UsageError : one is wrong.
        """
        capture = CaptureOptions() if capture is None else capture
        if not isinstance(capture, CaptureOptions):
            raise wrong("capture", capture, "give CaptureOptions")
        network = NetworkOptions() if network is None else network
        if not isinstance(network, NetworkOptions):
            raise wrong("network", network, "give NetworkOptions")
        return cls(None if cache is None else path_of("cache", cache), capture, network)

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
        egress = self._egress()
        outcomes: dict[str, Captured] = {**await _refused(wanted, egress)}
        missing = [url for url in wanted if url not in outcomes]
        if missing:
            async with self._renderer(egress) as renderer:
                async for url, outcome in renderer.render_many(missing):
                    outcomes[url] = outcome.snapshot if isinstance(outcome, Rendering) else outcome
        return _with_way_out(outcomes)

    async def recorded(
        self, urls: Collection[str], store: PageStore, *, afresh: bool = False
    ) -> dict[str, PageRecord | DomsieveError]:
        """Return a page of the store, or why there is none, of every URL; render what it does not hold, or all."""
        egress = self._egress()
        # Before the store is looked into: it may hold what was allowed once.
        outcomes: dict[str, PageRecord | DomsieveError] = {**await _refused(urls, egress)}
        known = (url for url in urls if url not in outcomes)
        found = {url: None if afresh else cached(url, store, self.options) for url in known}
        led_to = await _refused([record.final_url for record in found.values() if record], egress)
        outcomes |= {
            url: record for url, record in found.items() if record and record.final_url not in led_to
        }
        missing = [url for url in found if url not in outcomes]
        if missing:
            async with self._renderer(egress) as renderer:
                outcomes |= await render_pages(renderer, missing, store, lambda *_: None)
        return _with_way_out(outcomes)

    def _egress(self) -> Egress:
        return Egress(
            named=self.network.places(),
            allow_private=self.network.allow_private,
            rules=self.network.rules(),
            upstreams=environment_proxies(),
        )

    def _renderer(self, egress: Egress) -> Renderer:
        network = self.network
        return Renderer(
            self.options,
            Budget(time=network.timeout),
            concurrency=network.concurrency or os.cpu_count() or 1,
            executable=network.browser,
            egress=egress,
            driver=network.driver,
        )


async def _refused(urls: Iterable[str], egress: Egress) -> dict[str, PolicyError | NavigationError]:
    """Return those of the URLs that may not or cannot be opened, with the reason; each host is asked for once.

    What has no address here is left to the renderer, which says so, or to the cache.
    """
    found = {url: place_of(url) for url in urls}
    places = {url: (url.partition(":")[0], *place) for url, place in found.items() if place}

    async def why(place: tuple[str, str, int]) -> PolicyError | None:
        try:
            await egress.decide(*place)
        except PolicyError as error:
            return error
        except NavigationError:
            pass
        return None

    hosts = dict.fromkeys(places.values())
    reasons = dict(zip(hosts, await asyncio.gather(*map(why, hosts)), strict=True))
    refused: dict[str, PolicyError | NavigationError] = {
        url: PolicyError(error.message, reason=error.reason, url=url)
        for url, place in places.items()
        if (error := reasons[place])
    }
    nowhere = (url for url, place in found.items() if place is None)
    return refused | {url: NavigationError(NO_PLACE, url=url) for url in nowhere}


def _with_way_out(outcomes: dict[str, Outcome]) -> dict[str, Outcome]:
    """Return the same; errors of private addresses now say how the caller opens one."""
    for outcome in outcomes.values():
        if isinstance(outcome, PolicyError) and outcome.reason == "private":
            outcome.add_note(_WAY_OUT)
    return outcomes
