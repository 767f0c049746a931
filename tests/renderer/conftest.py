"""A browser and a server of bad manners, shared by the tests of a module."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import pytest

from domsieve.errors import DomsieveError
from domsieve.renderer import Browser, Budget, CaptureOptions, Renderer, Rendering, offline
from tests.renderer.bad_server import Server, serving

CONCURRENCY = 5
BUDGET = Budget(time=timedelta(seconds=3), nodes=60_000, requests=300, frames=30)


class Studio:
    """Renders pages of the bad server, synchronously; one browser per choice of options."""

    def __init__(self, server: Server, runner: asyncio.Runner) -> None:
        self.server = server
        self.runner = runner
        self._stack = AsyncExitStack()
        self._renderers: dict[Any, Renderer] = {}
        self._identity: Browser | None = None

    def renderer(self, options: CaptureOptions | None = None, budget: Budget = BUDGET) -> Renderer:
        """Return a running renderer."""
        if (options, budget) not in self._renderers:
            renderer = Renderer(options, budget, concurrency=CONCURRENCY, egress=offline())
            renderer._identity = self._identity  # looked for once
            self.runner.run(self._stack.enter_async_context(renderer))
            self._renderers[options, budget] = renderer
            self._identity = renderer._identity
        return self._renderers[options, budget]

    def render(
        self, path: str, options: CaptureOptions | None = None, budget: Budget = BUDGET, **pages: Any
    ) -> Rendering:
        """Return one page of the server; `pages` are added to it first, by path without the slash."""
        self.server.pages.update({f"/{name.replace('_', '-')}": page for name, page in pages.items()})
        return self.runner.run(self.renderer(options, budget).render(self.server.url(path)))

    def render_all(self, paths: list[str], budget: Budget = BUDGET) -> dict[str, Rendering | DomsieveError]:
        """Return several pages of the server by path, rendered at the same time."""
        renderer, urls = self.renderer(budget=budget), {self.server.url(path): path for path in paths}

        async def run() -> dict[str, Rendering | DomsieveError]:
            return {urls[url]: outcome async for url, outcome in renderer.render_many(urls)}

        return self.runner.run(run())

    def show(self, html: str, options: CaptureOptions | None = None, budget: Budget = BUDGET) -> Rendering:
        """Return the page of this source."""
        return self.render("/shown", options, budget, shown=html)

    def close(self) -> None:
        """End all browsers."""
        self.runner.run(self._stack.aclose())


@pytest.fixture(scope="module")
def studio() -> Iterator[Studio]:
    with serving() as server, asyncio.Runner() as runner:
        studio = Studio(server, runner)
        try:
            yield studio
        finally:
            studio.close()
