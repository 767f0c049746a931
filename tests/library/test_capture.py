"""A Snapshot of a page that the caller opened."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.async_api import async_playwright
from playwright.sync_api import sync_playwright

import domsieve
from domsieve.renderer.browser.playwright_driver import find_browser, launch_options
from domsieve.renderer.network.egress import offline
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.page import Snapshot
from tests.renderer.bad_server import Server, serving
from tests.renderer.reading import visible_text

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><title>t</title><style>p { color: red }</style><p id=p>words</p><iframe src=/inner></iframe>
<script>
    p.textContent = "words \\ud83d drawn";
    new MutationObserver(() => p.append(" noticed"))
        .observe(document.scripts[0], {childList: true, subtree: true});
</script>"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as server:
        server.pages |= {"/opened": PAGE, "/inner": "<p>inner</p>"}
        yield server


async def _launch() -> dict[str, Any]:
    async with async_playwright() as playwright:
        return {**launch_options(await find_browser(playwright))}


@pytest.fixture(scope="module")
def launch() -> dict[str, Any]:
    return asyncio.run(_launch())


async def _captured(server: Server, launch: dict[str, Any]) -> tuple[Snapshot, str]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch)
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        await page.goto(server.url("/opened"))
        snapshot = await domsieve.capture(page)
        after = await page.inner_text("p")
        await page.close()
        with pytest.raises(domsieve.BrowserError, match="cannot be captured"):
            await domsieve.capture(page)
        await browser.close()
    return snapshot, after


def test_it_is_captured_as_when_we_open_it(server: Server, launch: dict[str, Any]) -> None:
    async def render() -> Snapshot:
        async with Renderer(egress=offline()) as renderer:
            return (await renderer.render(server.url("/opened"))).snapshot

    opened, after = asyncio.run(_captured(server, launch))
    rendered = asyncio.run(render())
    assert opened.digest() == rendered.digest()
    assert visible_text(opened) == "words \ufffd drawn inner"
    assert "noticed" not in after, "the page is left as it was"
    origin = opened.provenance
    assert (origin.complete, origin.producer, origin.browser) == (
        True,
        "rendered",
        rendered.provenance.browser,
    )
    assert origin.final_url == server.url("/opened")
    assert origin.options != rendered.provenance.options
    assert domsieve.clean(opened, method="sst").text is not None


def test_it_is_captured_without_awaiting(server: Server, launch: dict[str, Any]) -> None:
    awaited, _ = asyncio.run(_captured(server, launch))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launch)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(server.url("/opened"))
        snapshot = domsieve.capture(page)
        browser.close()
        with pytest.raises(domsieve.BrowserError, match="cannot be captured"):
            domsieve.capture(page)
    assert snapshot.digest() == awaited.digest()


@pytest.mark.parametrize("page", [None, "http://a.example/", object()])
def test_what_is_no_page_is_refused(page: Any) -> None:
    with pytest.raises(domsieve.UsageError, match="give a page of Playwright") as caught:
        domsieve.capture(page)
    assert caught.value.parameter == "page"
