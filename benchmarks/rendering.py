"""What rendering costs over the least it can cost, in processor time of browser, driver and Python together.

    python -m benchmarks.rendering FOLDER [--pages 60] [--rounds 3] [--own-hosts] [--concurrency 1 2 4 8]
        [--peer crawlee=PYTHON] [--peer crawl4ai=PYTHON]

FOLDER holds saved pages (``*.html`` or ``*.html.gz``). They are served on loopback; all other hosts have no
name; with ``--own-hosts`` each page has an address of its own (127.0.0.2 and so on). Each round runs these, each in a
process of its own, start-up and imports included:

limit       Playwright, one page used again and again, goto until load, one at a time, nothing captured
bare        Playwright as people use it: a context and a page each, goto until load, a DOM snapshot, nothing stored
playwright  Renderer with its defaults, every page captured, converted and stored with its source
pipe        the same by the other driver
pictures    that with ``--hidden pixels``: pictures of every page say which of its texts can be seen
crawlee     its PlaywrightCrawler, which opens a page each; the page's HTML, nothing stored
crawl4ai    its AsyncWebCrawler, which opens a page each; the page's HTML and Markdown, nothing stored

The last two run by Pythons that have them, which ``--peer`` names; those need nothing of ours. Their time is taken
while the browser lives, for what Chrome's processes used is lost when they are killed.

The ratio of a round is each over limit; the result is the median over the rounds. With ``--concurrency`` the two
drivers are run with so many pages at once, for pages per minute and the most memory that all processes held together.
Linux only: times and memory come from /proc.
"""

import argparse
import asyncio
import contextlib
import gzip
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any, cast

LOOPBACK_ONLY = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.*"
GOTO_LIMIT_MS = 20_000


@dataclass(frozen=True)
class Job:
    """What a run is given; `launch` are the arguments of Playwright's launch."""

    urls: list[str]
    executable: str
    launch: dict[str, object]
    driver: str = "playwright"
    concurrency: int | None = None


def serve(files: list[Path], address: str) -> ThreadingHTTPServer:
    """Serve the files as ``/0.html``, ``/1.html``, ... on a free port; everything else is missing."""
    pages = {f"/{number}.html": _read(file) for number, file in enumerate(files)}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = pages.get(self.path, b"")
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def handle(self) -> None:
            with contextlib.suppress(ConnectionError):  # a page that was closed before it had all
                super().handle()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer((address, 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def _read(file: Path) -> bytes:
    data = file.read_bytes()
    return gzip.decompress(data) if file.suffix == ".gz" else data


def processor_seconds() -> float:
    """Return the time used by this process and all below it, ended ones included."""
    seconds: dict[int, float] = {}
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has just ended
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = int(fields[1])
            seconds[int(folder.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    mine = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(seconds[pid] for pid in mine)


# The runs import late: each pays for what it needs.
async def limit(job: Job) -> dict[str, float]:
    from playwright.async_api import Error, async_playwright

    failed = 0
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**job.launch)  # type: ignore[arg-type]
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        for url in job.urls:
            try:
                await page.goto(url, wait_until="load", timeout=GOTO_LIMIT_MS)
            except Error:
                failed += 1
        seconds = processor_seconds()
        await browser.close()
    return {"cpu_s": seconds, "failed": failed}


async def bare(job: Job) -> dict[str, float]:
    from playwright.async_api import Error, async_playwright

    from domsieve.renderer.page.capture import STYLE_NAMES

    failed = 0
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**job.launch)  # type: ignore[arg-type]
        places = asyncio.Semaphore(os.cpu_count() or 1)

        async def visit(url: str) -> None:
            nonlocal failed
            async with places:
                context = await browser.new_context(viewport={"width": 1280, "height": 800})
                page = await context.new_page()
                try:
                    await page.goto(url, wait_until="load", timeout=GOTO_LIMIT_MS)
                    session = await context.new_cdp_session(page)
                    await session.send(
                        "DOMSnapshot.captureSnapshot",
                        {"computedStyles": list(STYLE_NAMES), "includePaintOrder": True},
                    )
                except Error:
                    failed += 1
                await context.close()

        await asyncio.gather(*map(visit, job.urls))
        seconds = processor_seconds()
        await browser.close()
    return {"cpu_s": seconds, "failed": failed}


async def ours(job: Job, *, pixels: bool = False) -> dict[str, float]:
    from domsieve.options import CaptureOptions
    from domsieve.renderer.network.egress import offline
    from domsieve.renderer.protocol import Rendering
    from domsieve.renderer.renderer import Renderer
    from domsieve.snapshot.store import PageStore

    nodes = incomplete = failed = 0
    with tempfile.TemporaryDirectory() as folder, PageStore(Path(folder)) as store:
        async with (
            Renderer(
                CaptureOptions(pixels=pixels),
                executable=job.executable,
                egress=offline(),
                driver=job.driver,  # type: ignore[arg-type]
                concurrency=job.concurrency,
            ) as renderer,
            most_memory() as memory,
        ):
            begun = time.monotonic()
            async for _, outcome in renderer.render_many(job.urls):
                if not isinstance(outcome, Rendering):
                    failed += 1
                    continue
                store.put(outcome.snapshot, source=outcome.source)
                incomplete += not outcome.snapshot.provenance.complete
                nodes += len(outcome.snapshot)
            seconds = processor_seconds()
            minutes = (time.monotonic() - begun) / 60
        stored = stored_bytes(Path(folder))
    return {
        "cpu_s": seconds,
        "pages_per_minute": round(len(job.urls) / minutes),
        "most_mb": round(max(memory) / 1e6),
        "failed": failed,
        "incomplete": incomplete,
        "nodes": nodes,
        "bytes_per_node": round(stored / max(nodes, 1), 1),
    }


async def pictures(job: Job) -> dict[str, float]:
    return await ours(job, pixels=True)


def stored_bytes(store: Path) -> int:
    """Return what the pages of a store take, with the first ones of their sites, which the others are told from."""
    files = (file for kind in ("pages", "bases") for file in (store / kind).rglob("*") if file.is_file())
    return sum(file.stat().st_size for file in files)


@contextlib.asynccontextmanager
async def most_memory() -> AsyncIterator[list[int]]:
    """Note what this process and all below it hold, five times a second."""
    from domsieve.renderer.browser.resources import family, held_memory

    seen: list[int] = [0]

    async def look() -> None:
        while True:
            seen.append(sum(map(held_memory, family(os.getpid()))))
            await asyncio.sleep(0.2)

    looking = asyncio.create_task(look())
    try:
        yield seen
    finally:
        looking.cancel()


async def crawlee(job: Job) -> dict[str, float]:
    from crawlee import ConcurrencySettings
    from crawlee.crawlers import PlaywrightCrawler, PlaywrightCrawlingContext
    from crawlee.storage_clients import MemoryStorageClient

    at_once = os.cpu_count() or 1
    crawler = PlaywrightCrawler(
        browser_launch_options=job.launch,
        browser_new_context_options={"viewport": {"width": 1280, "height": 800}},
        concurrency_settings=ConcurrencySettings(desired_concurrency=at_once, max_concurrency=at_once),
        configure_logging=False,
        max_request_retries=0,
        storage_client=MemoryStorageClient(),
    )

    seconds = 0.0
    handled = 0

    @crawler.router.default_handler  # type: ignore[untyped-decorator]
    async def handle(context: PlaywrightCrawlingContext) -> None:
        nonlocal seconds, handled
        await context.page.content()
        handled += 1
        if handled > len(job.urls) * 0.9:  # looking costs some milliseconds
            seconds = processor_seconds()

    done = await crawler.run(job.urls)
    return {"cpu_s": seconds, "failed": len(job.urls) - done.requests_finished}


async def crawl4ai(job: Job) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CRAWL4_AI_BASE_DIRECTORY"] = folder
        from crawl4ai import AsyncWebCrawler, BrowserConfig, CacheMode, CrawlerRunConfig
        from crawl4ai.async_dispatcher import SemaphoreDispatcher
        from playwright.async_api import Browser, BrowserType

        its_launch = BrowserType.launch

        async def launch(self: BrowserType, **options: Any) -> Browser:
            arguments = [*options.pop("args"), *cast(list[str], job.launch["args"])]
            return await its_launch(self, **{**options, **job.launch, "args": arguments})

        # It has no setting for the path of a browser.
        BrowserType.launch = launch  # type: ignore[method-assign]
        run = CrawlerRunConfig(
            cache_mode=CacheMode.BYPASS, wait_until="load", page_timeout=GOTO_LIMIT_MS, verbose=False
        )
        browser = BrowserConfig(viewport_width=1280, viewport_height=800, verbose=False)
        async with AsyncWebCrawler(config=browser) as crawler:
            at_once = SemaphoreDispatcher(semaphore_count=os.cpu_count() or 1)
            results = await crawler.arun_many(job.urls, config=run, dispatcher=at_once)
            seconds = processor_seconds()
            return {"cpu_s": seconds, "failed": sum(not result.success for result in results)}


OURS = {"limit": limit, "bare": bare, "playwright": ours, "pipe": ours, "pictures": pictures}
DRIVERS = {"playwright": "playwright", "pipe": "pipe", "pictures": "pipe"}
RUNS = OURS | {"crawlee": crawlee, "crawl4ai": crawl4ai}


async def find_launch() -> dict[str, object]:
    from playwright.async_api import async_playwright

    from domsieve.renderer.browser.playwright_driver import find_browser, launch_options

    async with async_playwright() as playwright:
        launch = launch_options(await find_browser(playwright))
    return {
        **launch,
        "executable_path": str(launch["executable_path"]),
        "args": [*launch["args"], LOOPBACK_ONLY],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--own-hosts", action="store_true")
    parser.add_argument("--concurrency", type=int, nargs="*")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--run", choices=RUNS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        print(json.dumps(asyncio.run(RUNS[arguments.run](Job(**json.load(sys.stdin))))))
        return
    pythons = dict.fromkeys(OURS, sys.executable) | dict(word.split("=", 1) for word in arguments.peer)
    files = sorted([*arguments.folder.rglob("*.html"), *arguments.folder.rglob("*.html.gz")])
    files = files[:: max(1, len(files) // arguments.pages)][: arguments.pages]
    server = serve(files, "0.0.0.0" if arguments.own_hosts else "127.0.0.1")
    launch = asyncio.run(find_launch())
    urls = [
        f"http://127.0.0.{1 + number % 250 if arguments.own_hosts else 1}:{server.server_port}/{number}.html"
        for number in range(len(files))
    ]
    job = {"urls": urls, "executable": launch["executable_path"], "launch": launch}

    def run(name: str, **more: object) -> dict[str, float]:
        command = [pythons[name], "-m", "benchmarks.rendering", str(arguments.folder), "--run", name]
        told = json.dumps({**job, **({"driver": DRIVERS[name]} if name in DRIVERS else {}), **more})
        done = subprocess.run(command, input=told, stdout=subprocess.PIPE, text=True, check=True)
        result: dict[str, float] = json.loads(done.stdout)
        return result

    ratios: dict[str, list[float]] = {name: [] for name in pythons}
    for number in range(1, arguments.rounds + 1):
        seconds = {}
        for name in pythons:
            result = run(name)
            if name == "limit" and result["failed"] > len(urls) / 2:
                sys.exit(f"Loading alone failed for {result['failed']:.0f} of {len(urls)} pages.")
            seconds[name] = result.pop("cpu_s")
            ratios[name].append(seconds[name] / seconds["limit"])
            per_page_ms = seconds[name] / len(urls) * 1000
            print(
                f"round {number}  {name:10}  {per_page_ms:5.0f} ms per page  "
                f"{ratios[name][-1]:.2f} of limit  {result}",
                flush=True,
            )
    for name, found in ratios.items():
        if found:
            print(f"{name} over limit, median of {len(found)} rounds: {median(found):.2f}")
    over = [one / other for one, other in zip(ratios["pictures"], ratios["pipe"], strict=True)]
    print(f"pictures over pipe, median: {median(over):.2f}")
    for at_once in arguments.concurrency or ():
        for name in ("playwright", "pipe"):
            print(f"{at_once} at once  {name:10}  {run(name, concurrency=at_once)}", flush=True)


if __name__ == "__main__":
    main()
