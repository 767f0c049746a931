"""The demo site: every page renders completely from an empty shell, and asks nobody but its own server."""

import asyncio
import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, async_playwright

from domsieve.renderer.browser.playwright_driver import find_browser, launch_options
from examples.serve import DEMO, serve_demo
from examples.truth import files

ROUTES: list[dict[str, str]] = json.loads((DEMO / "routes.json").read_text(encoding="utf-8"))
EACH_ROUTE = pytest.mark.parametrize("entry", ROUTES, ids=[entry["route"] for entry in ROUTES])


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w{2,}", text.lower()))


def truth_of(entry: dict[str, str]) -> Counter[str]:
    return words((DEMO / entry["truth"]).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with serve_demo() as url:
        yield url


def get(url: str) -> tuple[str, str]:
    with urllib.request.urlopen(url, timeout=60) as response:
        return response.headers["Content-Type"], response.read().decode()


class TestFiles:
    def test_the_truth_agrees_with_the_json(self) -> None:
        on_disk = [DEMO / "routes.json", *DEMO.glob("truth/*")]
        assert files() == {
            path.relative_to(DEMO).as_posix(): path.read_text(encoding="utf-8") for path in on_disk
        }

    def test_there_are_enough_pages_of_each_kind(self) -> None:
        kinds = Counter(entry["kind"] for entry in ROUTES)
        assert kinds == {"home": 1, "list": 3, "article": 9, "product": 8}
        articles = [sum(truth_of(entry).values()) for entry in ROUTES if entry["kind"] == "article"]
        assert min(articles) >= 350
        assert max(articles) <= 700


class TestServer:
    @pytest.mark.parametrize(
        ("path", "content_type"),
        [
            ("/", "text/html; charset=utf-8"),
            ("/articles/swifts?from=menu", "text/html; charset=utf-8"),
            ("/assets/app.js", "text/javascript; charset=utf-8"),
            ("/assets/site.css", "text/css; charset=utf-8"),
            ("/api/site.json", "application/json; charset=utf-8"),
            ("/pictures/swifts.svg", "image/svg+xml"),
        ],
    )
    def test_types(self, base: str, path: str, content_type: str) -> None:
        assert get(base + path)[0] == content_type

    def test_unknown_paths_get_the_shell(self, base: str) -> None:
        assert get(f"{base}/no/such/page") == get(f"{base}/")

    @pytest.mark.parametrize(
        "path", ["/missing.js", "/..%2froutes.json", "/../routes.json", "/truth/home.txt"]
    )
    def test_only_the_site_is_served(self, base: str, path: str) -> None:
        with pytest.raises(urllib.error.HTTPError) as caught:
            get(base + path)
        caught.value.close()
        assert caught.value.code == 404

    def test_head_has_no_body(self, base: str) -> None:
        request = urllib.request.Request(f"{base}/sitemap.xml", method="HEAD")
        with urllib.request.urlopen(request, timeout=60) as response:
            assert int(response.headers["Content-Length"]) > 0
            assert response.read() == b""

    def test_the_sitemap_lists_the_history_routes(self, base: str) -> None:
        content_type, sitemap = get(f"{base}/sitemap.xml")
        assert content_type == "application/xml; charset=utf-8"
        history = [base + entry["route"] for entry in ROUTES if "#" not in entry["route"]]
        assert re.findall("<loc>(.*?)</loc>", sitemap) == history

    def test_robots_names_the_sitemap(self, base: str) -> None:
        assert f"Sitemap: {base}/sitemap.xml\n" in get(f"{base}/robots.txt")[1]

    def test_the_command_prints_its_address(self) -> None:
        command = [sys.executable, "-m", "examples.serve"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                assert "<div" in get(server.stdout.readline().strip())[1]
                server.send_signal(signal.SIGINT)
                assert server.communicate(timeout=60) == ("", "")
            finally:
                server.kill()
        assert server.returncode == 0


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


@EACH_ROUTE
def test_the_shell_holds_none_of_the_content(base: str, entry: dict[str, str]) -> None:
    parser = _Text()
    parser.feed(get(base + entry["route"].partition("#")[0])[1])
    truth = truth_of(entry)
    assert (truth & words(" ".join(parser.parts))).total() <= 0.01 * truth.total()


@dataclass(frozen=True, slots=True)
class Rendered:
    text: dict[str, Counter[str]]
    adverts: dict[str, tuple[str, ...]]
    hosts: Counter[str | None]
    errors: list[str]


async def _draw(page: Page, url: str) -> None:
    await page.goto(url)
    await page.locator(".consent").wait_for()  # the last thing that the script adds by itself
    await page.evaluate("scrollTo(0, document.body.scrollHeight)")
    await page.locator(".more").wait_for(state="detached")
    if await page.locator("iframe").count():
        await page.frame_locator("iframe").locator(".hint").wait_for()


async def _laid_out_text(page: Page) -> str:
    """Return the text that has a place on the page, in frames and closed shadow roots too."""
    session = await page.context.new_cdp_session(page)
    snapshot: dict[str, Any] = await session.send("DOMSnapshot.captureSnapshot", {"computedStyles": []})
    text_node = 3
    return " ".join(
        snapshot["strings"][nodes["nodeValue"][node]]
        for nodes, layout in ((document["nodes"], document["layout"]) for document in snapshot["documents"])
        for node in sorted(set(layout["nodeIndex"]))
        if nodes["nodeType"][node] == text_node
    )


async def _render_all(base: str) -> Rendered:
    rendered = Rendered(text={}, adverts={}, hosts=Counter(), errors=[])
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch_options(await find_browser(playwright)))
        context = await browser.new_context()
        context.on("request", lambda request: rendered.hosts.update([urlsplit(request.url).hostname]))
        context.on("weberror", lambda error: rendered.errors.append(str(error.error)))
        free = asyncio.Semaphore(4)

        async def render(route: str) -> None:
            async with free, await context.new_page() as page:
                await _draw(page, base + route)
                rendered.text[route] = words(await _laid_out_text(page))
                rendered.adverts[route] = tuple(await page.locator(".advert strong").all_inner_texts())

        await asyncio.gather(*(render(entry["route"]) for entry in ROUTES))
        await browser.close()
    return rendered


@pytest.fixture(scope="module")
def rendered(base: str) -> Rendered:
    async def bounded() -> Rendered:
        async with asyncio.timeout(600):
            return await _render_all(base)

    return asyncio.run(bounded())


@pytest.mark.browser
class TestRendered:
    @EACH_ROUTE
    def test_the_page_shows_its_truth(self, rendered: Rendered, entry: dict[str, str]) -> None:
        assert truth_of(entry) - rendered.text[entry["route"]] == Counter()

    @EACH_ROUTE
    def test_the_page_shows_more_than_its_truth(self, rendered: Rendered, entry: dict[str, str]) -> None:
        around = rendered.text[entry["route"]] - truth_of(entry)
        assert around >= words("Readers also liked. One letter a month. Crumbs on the desk. Reading room.")

    def test_adverts_differ_from_page_to_page(self, rendered: Rendered) -> None:
        assert {len(adverts) for adverts in rendered.adverts.values()} == {0, 1, 2}
        assert len({name for adverts in rendered.adverts.values() for name in adverts}) == 5

    def test_only_loopback_is_asked(self, rendered: Rendered) -> None:
        assert set(rendered.hosts) == {"127.0.0.1"}

    def test_no_script_fails(self, rendered: Rendered) -> None:
        assert rendered.errors == []
