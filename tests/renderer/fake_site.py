"""A site in memory: pages that need no browser, and robots.txt and sitemaps that really come from loopback."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from domsieve.errors import DomsieveError, NavigationError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.renderer.network.egress import offline
from domsieve.renderer.protocol import Outcome, Rendering
from domsieve.renderer.sampling.events import PageDone, SampleEvent
from domsieve.renderer.sampling.sample import sample_site
from tests.renderer.bad_server import Server


@dataclass(frozen=True)
class Answer:
    """What a page is if it is not just HTML with status 200."""

    html: str = "<p>page</p>"
    status: int = 200
    final: str = ""  # name or address of the page that is reached in the end


Page = str | Answer | DomsieveError
Pages = Mapping[str, Page] | Callable[[str], Page]


def linking(*links: str, text: str = "") -> str:
    """Return a page with these links."""
    return f"<p>{text}</p>" + "".join(f'<a href="{link}">to {link}</a>' for link in links)


@dataclass
class FakeSite:
    """A source of pages of one site.

    Parameters
    ----------
    server : its address is that of the site, and its pages ``/robots.txt`` and sitemaps are those of the site.
    pages : by name: path, query and route.
    jitter : seed of how long each page takes; None for no time at all.
    """

    server: Server
    pages: Pages
    jitter: int | None = None
    rendered: list[str] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    @property
    def root(self) -> str:
        return self.server.url("")

    def page(self, url: str) -> Rendering:
        """Return the page at `url`."""
        name = url.removeprefix(self.root)
        if callable(self.pages):
            page = self.pages(name)
        else:
            page = self.pages.get(name, NavigationError("No such page.", url=url))
        if isinstance(page, DomsieveError):
            raise page
        answer = page if isinstance(page, Answer) else Answer(page)
        final = answer.final if "://" in answer.final else self.root + (answer.final or name)
        snapshot = parse_html(answer.html.encode(), url=url)
        provenance = msgspec.structs.replace(snapshot.provenance, final_url=final, status=answer.status)
        return Rendering(snapshot=replace(snapshot, provenance=provenance), source=None)

    async def render(self, url: str, *, site: str | None = None) -> Rendering:  # noqa: ARG002
        self.rendered.append(url.removeprefix(self.root))
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            if self.jitter is not None:
                await asyncio.sleep(random.Random(f"{self.jitter} {url}").random() / 200)
            return self.page(url)
        finally:
            self.at_once -= 1

    async def render_many(self, urls: Iterable[str]) -> AsyncIterator[Outcome]:
        for url in urls:
            try:
                yield url, await self.render(url)
            except DomsieveError as error:
                yield url, error

    def sample(self, start: str = "/", *, stop_after: int | None = None, **options: Any) -> list[SampleEvent]:
        """Return the events of sampling, all or the first ones; `start` may be a name."""
        start = self.root + start if start.startswith("/") else start

        events: list[SampleEvent] = []

        async def run() -> None:
            async with aclosing(sample_site(self, start, egress=offline(), **options)) as happening:
                async for event in happening:
                    events.append(event)
                    if len(events) == stop_after:
                        break

        asyncio.run(run())
        return events

    def names(self, **options: Any) -> list[str]:
        """Return the names of the pages of a sample."""
        return done(self.sample(**options), self.root)


def done(events: Iterable[SampleEvent], root: str) -> list[str]:
    """Return the names of the pages that were done."""
    return [event.url.removeprefix(root) for event in events if isinstance(event, PageDone)]


def web(pages: int, *, seed: int = 0, links: int = 3) -> dict[str, Page]:
    """Return a site of `pages` pages that can all be reached; each links to a few others at random."""
    chance = random.Random(seed)
    names = ["/", *(f"/page/{number}" for number in range(1, pages))]
    below = {name: names[2 * number + 1 : 2 * number + 3] for number, name in enumerate(names)}
    return {
        name: linking(*below[name], *chance.sample(names, links), text=f"This is {name}.") for name in names
    }
