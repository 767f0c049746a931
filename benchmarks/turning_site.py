"""A site that turns from static to drawn half-way: how soon that is found, and whether it is mended.

The second half of the pages shows a menu of 150 words in its source, which no sign of a single page gives away, and a
script writes the content. Pages are requested one after the other.
"""

import asyncio
import contextlib
import json
from collections.abc import Iterator, Sequence
from http import HTTPStatus

from benchmarks.loopback_factory import LoopbackFactory
from domsieve.errors import DomsieveError
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.protocol import Reconsidering
from domsieve.tasks.render_modes import page_source
from domsieve.types import DriverName
from examples.loopback import LoopbackServer, QuietHandler, running

_MENU = (
    "<ul>"
    + "".join(f"<li><a href='/{number}'>Part {number} of it</a></li>" for number in range(30))
    + "</ul>"
)
_TEXT = "".join(
    f"<p>The keeper weighed hive {number} in the morning and once more at night, and wrote both weights down.</p>"
    for number in range(30)
)


def _page(number: int, *, is_drawn: bool) -> bytes:
    content = f"<h1>Day {number}</h1>{_TEXT.replace('hive', f'the hive of day {number}, ')}"
    if is_drawn:
        script = json.dumps(content).replace("</", "<\\/")
        content = f"<script>document.querySelector('main').innerHTML = {script}</script>"
    page = f"<!doctype html><title>Day {number}</title><nav>{_MENU}</nav><main>{content}</main>"
    return page.encode()


class _Server(LoopbackServer):
    def __init__(self, pages: int) -> None:
        super().__init__(_Handler)
        self.files = {
            f"/log/{number}": _page(number, is_drawn=number >= pages // 2) for number in range(pages)
        }


class _Handler(QuietHandler):
    server: _Server

    def do_GET(self) -> None:
        body = self.server.files.get(self.path)
        if body is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextlib.contextmanager
def serve_turning(pages: int) -> Iterator[list[str]]:
    """Serve the site on loopback; the value is the addresses of its pages, the static half first."""
    with running(_Server(pages)) as server:
        yield [server.base + name for name in server.files]


def turn(urls: Sequence[str], budget: Budget, driver: DriverName) -> dict[str, int]:
    """Load the pages of the site with ``auto``.

    Returns
    -------
    ``fetched``: static pages that were only fetched; ``found``: drawn pages up to and including the first one that
    was rendered; ``left``: drawn pages that were never rendered.
    """
    factory = LoopbackFactory(
        options=CaptureOptions(render="auto"), budget=budget, driver=driver, concurrency=2
    )

    async def run() -> list[bool]:
        rendered = dict.fromkeys(urls, False)
        async with page_source(factory, store=None) as source:
            first = []
            for url in urls:
                rendered[url] = (await source.render(url)).snapshot.has_layout
                first.append(rendered[url])
            assert isinstance(source, Reconsidering)
            async for url, outcome in source.again():
                if isinstance(outcome, DomsieveError):
                    raise outcome
                rendered[url] = True
        return [*first, *rendered.values()]

    flags = asyncio.run(run())
    half = len(urls) // 2
    first, last = flags[half : len(urls)], flags[len(urls) + half :]
    return {
        "fetched": flags[:half].count(False),
        "found": first.index(True) + 1 if True in first else len(first),
        "left": last.count(False),
    }
