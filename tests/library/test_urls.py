"""Calls on URLs: one browser, the guard, the cache, and nothing on disk without one."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

import domsieve
from domsieve.options import CaptureOptions
from domsieve.renderer import renderer
from domsieve.renderer._limits import Limits
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.store import PageStore
from examples.loopback import LoopbackServer, QuietHandler, folder_served, running
from examples.serve import serve_demo
from tests.command import ROOT, page, run
from tests.renderer.conftest import HandClock
from tests.service import rotating_site

pytestmark = pytest.mark.browser

ROUTES = (
    "/articles/swifts",
    "/articles/dawn-chorus",
    "/articles/glow-worms",
    "/shop#/product/hand-lens",
    "/",
)
REFUSING = "http://127.0.0.1:9/"  # a port that no page is served at
HERE = domsieve.NetworkOptions(private_hosts=["127.0.0.1"])


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with serve_demo() as base:
        yield base


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the empty folder that is the working directory and the parent of temporary folders."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def browsers(monkeypatch: pytest.MonkeyPatch) -> list[Renderer]:
    """Return the renderers that are started from now on."""
    started: list[Renderer] = []

    class Counted(Renderer):
        async def __aenter__(self) -> "Counted":
            started.append(self)
            return await super().__aenter__()

    monkeypatch.setattr("domsieve.renderer.renderer.Renderer", Counted)
    return started


def test_a_list_is_rendered_in_one_browser_and_learned_from(
    base: str, here: Path, browsers: list[Renderer]
) -> None:
    urls = [base + route for route in ROUTES]
    given = [*urls, REFUSING, "<p>And some HTML.</p>", urls[0]]
    results = domsieve.clean(given, network=HERE)
    assert [result.url for result in results] == [*urls, REFUSING, "", urls[0]]
    assert [result.error is None for result in results] == [True] * 5 + [False, True, True]
    assert all("by_site" in result.verdict.numbers for result in results[:5])
    assert "A hundred days of swifts" in results[0].text
    assert "Folding hand lens" in results[3].markdown
    assert "Marrowby Field Club · number forty-one" not in results[0].text
    assert results[7].text == results[0].text
    assert isinstance(results[5].error, domsieve.PolicyError | domsieve.PageError)
    assert (len(browsers), browsers[0].starts) == (1, 1)
    assert [*here.iterdir()] == []


def test_the_only_page_raises() -> None:
    with pytest.raises(domsieve.DomsieveError):
        domsieve.render(REFUSING, network=HERE)


def test_a_cache_is_used_as_by_the_command_line(base: str, tmp_path: Path, browsers: list[Renderer]) -> None:
    cache, urls = tmp_path / "cache", [base + route for route in ROUTES]
    first = domsieve.clean(urls, cache=cache, network=HERE)
    assert len(browsers) == 1
    again = domsieve.clean(urls, cache=str(cache), network=HERE)
    assert [result.text for result in again] == [result.text for result in first]
    # What the cache holds of the site is learned from.
    alone = domsieve.clean(urls[0], cache=cache, network=HERE)
    assert ("by_site" in alone.verdict.numbers, alone.text) == (True, first[0].text)
    assert domsieve.render(urls[0], cache=cache, network=HERE).digest() == first[0].snapshot.digest()
    assert domsieve.records(urls[3], cache=cache, network=HERE).url == urls[3]
    assert len(browsers) == 1
    result = run("clean", urls[0], "--cache", cache, cache=cache)
    assert result.stdout == alone.text
    assert "from the cache" not in result.stderr
    with PageStore(cache) as store:
        assert len(store.records()) == len(urls)


def test_compare_tells_what_differs_between_two_loads() -> None:
    with rotating_site.serving() as site:
        result = domsieve.compare(f"{site.base}/", twice=True, network=HERE)
        once = domsieve.compare(f"{site.base}/", network=HERE)
        assert site.loads == 3
    assert once.comparison.loads is None
    assert result.comparison.loads is not None
    assert [block.text for block in result.comparison.loads.blocks] == [
        rotating_site.ADVERTS[0],
        f"{rotating_site.FOOT} 0002",
    ]
    with pytest.raises(domsieve.UsageError, match="twice"):
        domsieve.compare("http://127.0.0.1/", twice=1)  # type: ignore[call-overload]


def test_compare_says_where_a_browser_is_needed(base: str, here: Path, tmp_path: Path) -> None:
    (tmp_path / "static").mkdir()
    (tmp_path / "static/index.html").write_text(page(1), encoding="utf-8")
    with folder_served(tmp_path / "static") as static:
        urls = [base + ROUTES[0], f"{static}/index.html", base + ROUTES[1], REFUSING]
        drawn, plain, other, refused = domsieve.compare(urls, network=HERE)
        cached = domsieve.compare(urls[0], cache=tmp_path / "cache", network=HERE)
    assert [result.url for result in (drawn, plain, other, refused)] == urls
    assert (drawn.browser_needed, plain.browser_needed) == (True, False)
    assert drawn.recall < 0.2 < plain.recall
    assert refused.error
    advice = {entry.prefix: entry for entry in drawn.advice}
    assert (advice["*"].pages, advice["/articles"].browser_needed) == (2, True)
    assert drawn.advice == other.advice
    assert [entry.pages for entry in plain.advice] == [1, 1]
    assert repr(drawn).startswith(f"<CompareResult '{urls[0]}' browser needed, ")
    assert "<small>created</small>" in drawn._repr_html_()
    assert [*here.iterdir()] == []
    line = run("compare", urls[0], "--json", cache=tmp_path / "cache").stdout.splitlines()[0]
    assert json.loads(line)["content"]["both"] == cached.comparison.content.both
    assert json.loads(line)["visible"]["wanted"] == cached.comparison.visible.wanted


def test_everything_works_inside_a_running_loop_and_awaited(base: str, here: Path) -> None:
    url = base + ROUTES[0]

    async def notebook() -> None:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.02)

        snapshot = domsieve.render(url, network=HERE)
        ticking = asyncio.create_task(tick())
        awaited = await asyncio.gather(
            domsieve.render_async(url, network=HERE),
            domsieve.clean_async([url], network=HERE),
            domsieve.compare_async(url, network=HERE),
        )
        ticking.cancel()
        rendered, (cleaned,), compared = awaited
        assert snapshot.digest() == rendered.digest() == cleaned.snapshot.digest()
        assert compared.browser_needed
        assert ticks > 10, "the loop went on meanwhile"
        (found,) = await domsieve.records_async([base + "/shop"], network=HERE)
        assert len(found.rows) > 10

    asyncio.run(notebook())
    assert [*here.iterdir()] == []


def test_options_and_time_of_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    ended, clock = threading.Event(), HandClock()
    monkeypatch.setattr(renderer, "Limits", partial(Limits, clock=clock))

    class Slow(QuietHandler):
        def do_GET(self) -> None:
            if self.path == "/late.js":
                clock.run_out_elsewhere()
                ended.wait(120)
            body = b"<p>here at once</p><script src=/late.js></script>" if self.path == "/" else b""
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with running(LoopbackServer(Slow)) as server:
        snapshot = domsieve.render(
            f"{server.base}/",
            network=domsieve.NetworkOptions(private_hosts=["127.0.0.1"], timeout=timedelta(seconds=99)),
            capture=CaptureOptions(viewport_px=(640, 480), settle="load"),
        )
        ended.set()
    # The script may be asked for before the driver has told that the page is there.
    (reason,) = snapshot.provenance.reasons
    assert re.fullmatch("time: 99 s are used up while (loading|waiting for the server)", reason)
    assert snapshot.provenance.options["viewport_px"] == "640x480"
    assert "incomplete" in repr(snapshot)


@pytest.mark.parametrize("inside", [False, True])
def test_an_interrupt_ends_the_browser(inside: bool) -> None:
    network = "domsieve.NetworkOptions(private_hosts=['127.0.0.1'], timeout=timedelta(seconds=60))"
    call = f"domsieve.render(sys.argv[1], network={network})"
    if inside:  # as in a notebook: a loop runs, and it leaves interrupts to the cell
        call = f"asyncio.new_event_loop().run_until_complete(cell(lambda: {call}))"
    code = (
        "import asyncio, sys, domsieve\nfrom datetime import timedelta\nasync def cell(call): call()\n"
        f"try:\n    {call}\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
    )
    asked: list[str] = []

    class Never(QuietHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            time.sleep(60)

    with (
        running(LoopbackServer(Never)) as server,
        subprocess.Popen(
            [sys.executable, "-c", code, f"{server.base}/"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            start_new_session=True,
        ) as process,
    ):
        deadline = time.monotonic() + 60
        while not asked and time.monotonic() < deadline:
            time.sleep(0.05)
        assert asked, "the browser has begun"
        assert len(members(process.pid)) > 1
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        assert output == b"interrupted\n"
        assert members(process.pid) == []


def members(session: int) -> list[int]:
    """Return the processes of a session that still run."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
                state, _, _, of = fields.split()[:4]
                if int(of) == session and state != "Z" and os.getsid(int(folder.name)) == session:
                    found.append(int(folder.name))
            except OSError:
                continue
    return found
