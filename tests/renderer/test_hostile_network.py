"""A page that tries every way to a private server reaches it not once."""

import asyncio
import contextlib
from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest
from playwright.async_api import Error, async_playwright

from domsieve.errors import DomsieveError, NavigationError, PolicyError
from domsieve.options import Budget
from domsieve.renderer.browser.playwright_driver import find_browser, launch_options
from domsieve.renderer.network.egress import Egress, Factory, offline
from domsieve.renderer.protocol import Rendering
from domsieve.renderer.renderer import Renderer
from domsieve.types import DriverName
from tests.command import process
from tests.renderer.conftest import DRIVER
from tests.renderer.hostile_site import LEAVING, REDIRECTS, HostileSite, hostile_site

pytestmark = pytest.mark.browser

# Names that no test asks anybody for: the resolver is ours, and so is the dialer.
_ANSWERS = {
    "mixed.test": (("93.184.216.34", "127.0.0.1"),),
    "private.test": (("127.0.0.1",),),
    "mapped.test": (("::ffff:127.0.0.1",),),
    "cloud.test": (("169.254.169.254",),),
    # Public at first, then this machine.
    "rebinding.test": (("93.184.216.34",), ("127.0.0.1",)),
}
# Pages that the main frame does not leave: windows are not opened at all.
_STAYING = ("/", "/workers", "/leave/open-self")
# What certainly comes through where nothing hinders it; the spec leaves others to the browser's mood.
_WAYS = """
    img iframe css-url css-import stylesheet font script fetch post xhr beacon eventsource websocket import
    worker worker-socket shared shared-socket service popup blank ping form-in-frame
    prefetch preload modulepreload link-header video poster audio object embed srcdoc-img svg-image
    spelled-img spelled-fetch spelled-socket
"""


class Network:
    """Answers for names, and notes what is dialed; nothing but this machine is."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}
        self.dialed: set[tuple[str, int]] = set()

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:  # noqa: ARG002
        turns = _ANSWERS.get(host)
        if not turns:
            raise OSError("no such name")
        turn = self.asked[host] = self.asked.get(host, -1) + 1
        return turns[min(turn, len(turns) - 1)]

    async def dial(self, factory: Factory, address: str, port: int) -> asyncio.Transport:
        self.dialed.add((address, port))
        if address != "127.0.0.1":
            raise ConnectionRefusedError
        transport, _ = await asyncio.get_running_loop().create_connection(factory, address, port)
        return transport


async def render_all(
    site: HostileSite, egress: Egress, driver: DriverName
) -> dict[str, Rendering | DomsieveError]:
    async with Renderer(
        budget=Budget(time=timedelta(minutes=2)), concurrency=3, egress=egress, driver=driver
    ) as renderer:
        urls = {site.url(path): path for path in site.paths}
        return {urls[url]: outcome async for url, outcome in renderer.render_many(urls)}


@pytest.mark.parametrize("driver", get_args(DriverName))
def test_the_renderer_reaches_nothing_private(driver: DriverName) -> None:
    network = Network()
    with hostile_site(*_ANSWERS) as site:
        egress = Egress(named=[("127.0.0.1", site.port)], resolver=network.resolve, dialer=network.dial)
        outcomes = asyncio.run(render_all(site, egress, driver))
        standin = site.standin
    assert (standin.connections, standin.datagrams, standin.reached) == (0, 0, set())
    assert network.dialed <= {("127.0.0.1", site.port), ("93.184.216.34", standin.port)}
    assert {*network.asked} == {*_ANSWERS}
    page = outcomes["/"]
    assert isinstance(page, Rendering)
    refused = page.snapshot.provenance.refused
    assert (
        f"127.0.0.1:{standin.port}: 127.0.0.1 is this machine, and only public addresses are opened."
        in refused
    )
    assert any(line.startswith(f"mixed.test:{standin.port}: ") for line in refused)
    assert list(refused) == sorted(refused)
    for name in (*LEAVING, *(f"redirect/{code}/main" for code in REDIRECTS)):
        path = f"/{name}" if name.startswith("redirect") else f"/leave/{name}"
        outcome = outcomes[path]
        if path in _STAYING:
            continue
        assert isinstance(outcome, PolicyError), (name, outcome)
        assert f"127.0.0.1:{standin.port}" in outcome.message


def test_the_command_line_reaches_nothing_private(tmp_path: Path) -> None:
    with hostile_site() as site:
        done = process("render", *map(site.url, site.paths), cache=tmp_path)
        standin = site.standin
    assert (standin.connections, standin.datagrams, standin.reached) == (0, 0, set())
    captured = {line.split()[1].decode() for line in done.stdout.splitlines()}
    assert captured == {*map(site.url, _STAYING)}, done
    refused = len(site.paths) - len(_STAYING)
    assert done.stderr.count(b"is this machine, and only public addresses are opened") >= refused
    assert done.stderr.count(b"--allow-private opens others") >= refused
    assert f"{refused} of {len(site.paths)} pages failed".encode() in done.stderr


def test_they_do_where_the_command_line_allows_it(tmp_path: Path) -> None:
    with hostile_site() as site:
        done = process(
            "render", "--allow-private", site.url("/"), site.url("/leave/location"), cache=tmp_path
        )
        standin = site.standin
    assert {"img", "iframe", "fetch", "websocket", "redirect-302-img", "location"} <= standin.reached, done
    assert not standin.datagrams, "but never past the proxy"


def test_the_probes_reach_it_without_the_guard() -> None:
    with hostile_site() as site:
        asyncio.run(_open_unguarded(site))
    assert not missed(site)
    assert site.standin.datagrams


def missed(site: HostileSite) -> set[str]:
    """Return the ways that have not led to the stand-in."""
    documents = {name if name != "base" else "base/x" for name in LEAVING}
    redirects = {f"redirect-{code}-{how}" for code in REDIRECTS for how in ("img", "frame", "main")}
    return ({*_WAYS.split()} | documents | redirects) - site.standin.reached


async def _open_unguarded(site: HostileSite) -> None:
    async with async_playwright() as playwright:
        options = launch_options(await find_browser(playwright))
        # Whatever a probe asks for, it is this machine or nothing.
        options["args"].append("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1, EXCLUDE localhost")
        browser = await playwright.chromium.launch(**options)
        for path in site.paths:
            page = await browser.new_page()
            with contextlib.suppress(Error):
                await page.goto(site.url(path), wait_until="load", timeout=30_000)
        for _ in range(600):
            if not missed(site) and site.standin.datagrams:
                break
            await asyncio.sleep(0.1)
        await browser.close()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_page_whose_server_takes_too_long_says_so(scheme: str) -> None:
    async def dial(factory: Factory, address: str, port: int) -> asyncio.Transport:
        raise TimeoutError

    async def render() -> Rendering:
        async with Renderer(egress=offline(dialer=dial), driver=DRIVER) as renderer:
            return await renderer.render(f"{scheme}://127.0.0.1:8123/")

    with pytest.raises(NavigationError) as raised:
        asyncio.run(render())
    assert raised.value.timed_out
    assert raised.value.retry
