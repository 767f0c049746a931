"""What both drivers promise: conversations with the browser, its end, and captures that do not tell who made them."""

import asyncio
import gc
import json
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Set
from pathlib import Path
from typing import Any, get_args

import msgspec
import numpy as np
import pytest

from domsieve.errors import BrowserNotFoundError, UsageError
from domsieve.options import CaptureOptions
from domsieve.renderer._limits import Limits
from domsieve.renderer.browser import pipe_driver
from domsieve.renderer.browser._process import new_profile, start_process
from domsieve.renderer.browser.browser import RunningBrowser
from domsieve.renderer.browser.connection import CommandError, Session
from domsieve.renderer.browser.discovery import Location
from domsieve.renderer.network.egress import offline
from domsieve.renderer.protocol import Rendering
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.pages import cached
from domsieve.types import DriverName
from tests.command import run
from tests.renderer.bad_server import Server, serving
from tests.renderer.reading import visible_text
from tests.renderer.test_leaks import descendants, descriptors

pytestmark = pytest.mark.browser

DRIVERS: tuple[DriverName, ...] = get_args(DriverName)
# What a page is told of the outer size of its window is left out: until its process knows, Chrome says 0 x 0.
# Each shows something that a driver could lose: what the page is told of its window, frames, shadow trees, dialogs.
PAGES = {
    "/window": """<p id=p></p><script>
        const features = ["(hover: hover)", "(pointer: fine)", "(prefers-color-scheme: light)",
            "(prefers-reduced-motion: no-preference)", "(forced-colors: none)"];
        p.textContent = JSON.stringify([innerWidth, innerHeight, screen.width, screen.height,
            devicePixelRatio, navigator.language, navigator.languages, navigator.userAgent, navigator.platform,
            document.hasFocus(), document.visibilityState, document.cookie, localStorage.getItem("key"),
            Intl.DateTimeFormat().resolvedOptions().locale, navigator.userAgentData?.platform,
            features.map(each => matchMedia(each).matches), typeof open("/good"), history.length, window.name])
        </script>""",
    "/fonts": "<p>serif<pre>fixed</pre><p style='font-family:sans-serif'>sans<p style='font-family:fantasy'>f",
    "/frames": "<p>top<iframe src=/inner></iframe><iframe src=//127.0.0.2:1></iframe><iframe srcdoc='<b>s'></iframe>",
    "/inner": "<p>inner</p><script>document.body.append(confirm('stay?') ? 'yes' : 'no')</script>",
    "/shadow": """<div id=h><b slot=s>slotted</b></div><script>
        h.attachShadow({mode: "closed"}).innerHTML = "<p>closed <slot name=s></slot></p>"</script>""",
    "/late": "<p id=p>early</p><script>setTimeout(() => p.append(' late'), 100)</script>",
    "/dialogs": "<p id=p></p><script>alert(1); p.textContent = [confirm(1), prompt(1)]</script>",
    "/half": "<p id=p></p><script>p.textContent = 'half \\ud83d of a pair'</script>",
    "/long": "<p>" + "many words " * 100_000,
    "/worker": """<p id=p>no worker</p><script>
        navigator.serviceWorker.register("/worker.js").then(w => p.textContent = String(w))</script>""",
    "/popup": "<p>words</p><form action=/good target=_blank></form><script>document.forms[0].submit()</script>",
}
LOOKS = {
    "usual": CaptureOptions(),
    "other": CaptureOptions(
        viewport_px=(700, 500),
        user_agent="Mozilla/5.0 (Windows NT 10.0; Win64; x64) Reader",
        locale="de-DE",
        headers=(("X-Reader", "me"),),
        cookies=(("session", "begun"),),
    ),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as server:
        server.pages.update(PAGES)
        yield server


@pytest.fixture(scope="module")
def another() -> Iterator[Server]:
    with serving() as another:
        yield another


@pytest.fixture(params=DRIVERS, scope="module")
def driver(request: pytest.FixtureRequest) -> DriverName:
    name: DriverName = request.param
    return name


@pytest.fixture(scope="module")
def captures(server: Server) -> dict[str, dict[tuple[str, str], Rendering]]:
    """Return each page by each driver, in two looks."""
    return {name: asyncio.run(_captures(server, name)) for name in DRIVERS}


async def _captures(server: Server, driver: DriverName) -> dict[tuple[str, str], Rendering]:
    done = {}
    async with Renderer(concurrency=2, egress=offline(), driver=driver) as renderer:
        for look, options in LOOKS.items():
            for path in (*PAGES, "/good", "/few-frames"):
                done[look, path] = await renderer.render(server.url(path), options=options)
        assert renderer.starts == 1
    return done


def renderer_of(driver: DriverName, **options: Any) -> Renderer:
    return Renderer(egress=offline(), driver=driver, **options)


def test_captures_are_equal(captures: dict[str, dict[tuple[str, str], Rendering]]) -> None:
    ours, others = (captures[name] for name in DRIVERS)
    for key, page in ours.items():
        assert _facts(page) == _facts(others[key]), key
        assert page.snapshot.provenance.driver == DRIVERS[0]
        assert others[key].snapshot.provenance.driver == DRIVERS[1]


def _facts(page: Rendering) -> dict[str, object]:
    snapshot = page.snapshot
    names = [name for name in Snapshot.__slots__ if isinstance(getattr(snapshot, name), np.ndarray)]
    origin = snapshot.provenance
    return {name: getattr(snapshot, name).tobytes() for name in names} | {
        "text": visible_text(snapshot),
        "options": origin.options,
        "facts": (
            origin.complete,
            origin.reasons,
            origin.status,
            origin.encoding,
            origin.browser,
            origin.build,
        ),
        "source": page.source,
    }


def test_a_page_is_shown_what_was_asked_for(captures: dict[str, dict[tuple[str, str], Rendering]]) -> None:
    for pages in captures.values():
        usual = json.loads(visible_text(pages["usual", "/window"].snapshot))
        assert usual[:5] == [1280, 800, 1280, 800, 1]
        assert usual[9:13] == [True, "visible", "", None]
        assert usual[15:] == [[True] * 5, "object", 2, ""]
        other = json.loads(visible_text(pages["other", "/window"].snapshot))
        assert other[:7] == [700, 500, 700, 500, 1, "de-DE", ["de-DE"]]
        assert other[7] == LOOKS["other"].user_agent
        assert other[11] == "session=begun"
        assert other[13:15] == ["de-DE", "Windows"]
        assert visible_text(pages["usual", "/dialogs"].snapshot) == "false,"
        assert "no worker" not in visible_text(pages["usual", "/worker"].snapshot), (
            "it is answered with nothing"
        )
        assert "inner" in visible_text(pages["usual", "/frames"].snapshot)
        assert visible_text(pages["usual", "/half"].snapshot) == "half \ufffd of a pair"


LEAVES_MUCH = """<p id=p></p><script>
    const left = () => { sessionStorage.setItem("left", "by a page"); name = "left"; };
    p.textContent = JSON.stringify([name, history.length, sessionStorage.length, document.referrer,
        document.visibilityState, document.hasFocus()]);
    requestAnimationFrame(() => requestAnimationFrame(() => p.append(" drawn")));
    left();
    history.pushState(1, "", "#on");
    addEventListener("pagehide", left);
    addEventListener("beforeunload", event => { left(); event.preventDefault(); });
    setInterval(left, 5);
    fetch("/never", {keepalive: true});
    </script><iframe src=/leaves-too></iframe>"""


@pytest.mark.parametrize("elsewhere", [False, True])
def test_the_first_and_the_last_page_of_a_tab_are_captured_alike(
    driver: DriverName, server: Server, another: Server, elsewhere: bool
) -> None:
    server.pages["/leaves-much"] = LEAVES_MUCH
    server.pages["/leaves-too"] = "<p>frame</p><script>sessionStorage.setItem('left', 'by a frame')</script>"
    # What frames of another origin leave is out of reach when they are gone.
    other = another.url("/leaves-too")
    another.pages["/leaves-too"] = server.pages["/leaves-too"]
    removing = "onload = () => document.querySelector('iframe').remove()</script>"
    server.pages["/leaves-elsewhere"] = LEAVES_MUCH.replace("/leaves-too", other).replace(
        "</script>", removing
    )
    url = server.url("/leaves-elsewhere" if elsewhere else "/leaves-much")

    async def render() -> tuple[list[Rendering], set[int], bool]:
        async with renderer_of(driver, limits=Limits(close_s=60)) as renderer:
            pages = [await renderer.render(url, site="site") for _ in range(5)]
            other = await renderer.render(url, site="another site")
            assert renderer._running
            tabs = {tab.pages for site in renderer._running[1]._sites.values() for tab in site.idle}
            return [*pages, other], tabs, renderer.starts == 1

    pages, tabs, _ = asyncio.run(render())
    for page in pages[1:]:
        assert _facts(page) == _facts(pages[0])
    assert visible_text(pages[0].snapshot).startswith('["",2,0,"","visible",true] drawn')
    assert tabs == (set() if elsewhere else {4}), "the first page of a site does not leave its tab"


def test_there_are_no_more_tabs_than_places(driver: DriverName, server: Server) -> None:
    async def render() -> list[int]:
        opened, tabs = set[str](), list[int]()

        def open_one(event: Any) -> None:
            opened.add(event["targetInfo"]["targetId"])
            tabs.append(len(opened))

        async with renderer_of(driver, concurrency=2) as renderer:
            assert renderer._running
            root = renderer._running[0].connection.root
            root.on("Target.targetCreated", open_one)
            root.on("Target.targetDestroyed", lambda event: opened.discard(event["targetId"]))
            for site in "abcd":
                pages = (renderer.render(server.url("/good"), site=site) for _ in range(5))
                await asyncio.gather(*pages)
        return tabs

    assert max(asyncio.run(render())) == 2


def test_a_tab_does_not_hold_what_its_last_page_left(driver: DriverName, server: Server) -> None:
    held_bytes = 100_000_000
    server.pages["/full"] = f"""<p>words</p><script>
        kept = Array.from({{length: {held_bytes // 80}}}, (_, number) => [number])</script>"""

    async def render() -> float:
        async with renderer_of(driver, limits=Limits(close_s=60)) as renderer:
            for _ in range(2):
                await renderer.render(server.url("/full"))
            assert renderer._running
            (tab,) = [tab for site in renderer._running[1]._sites.values() for tab in site.idle]
            return float((await tab.session.send("Runtime.getHeapUsage"))["usedSize"])

    assert asyncio.run(render()) < held_bytes / 4


def test_addresses_that_differ_after_the_hash_are_pages_of_their_own(
    driver: DriverName, server: Server
) -> None:
    server.pages["/app"] = "<p id=p></p><script>setTimeout(() => p.textContent = location.hash, 100)</script>"

    async def render() -> list[Rendering]:
        async with renderer_of(driver) as renderer:
            return [await renderer.render(server.url(f"/app#/{name}")) for name in "abcd"]

    pages = asyncio.run(render())
    assert [visible_text(page.snapshot) for page in pages] == ["#/a", "#/b", "#/c", "#/d"]
    assert all(page.snapshot.provenance.complete and page.source for page in pages)


def test_headers_go_with_every_request(server: Server, driver: DriverName) -> None:
    seen: list[str | None] = []

    def echo(handler: Any) -> None:
        seen.append(handler.headers["X-Reader"])
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    server.pages["/echo"] = echo
    server.pages["/asks"] = "<iframe src=/echo></iframe>"

    async def render() -> None:
        async with renderer_of(driver) as renderer:
            await renderer.render(server.url("/asks"), options=LOOKS["other"])

    asyncio.run(render())
    assert seen == ["me"]


def test_a_storage_state_is_there_from_the_beginning(
    server: Server, driver: DriverName, tmp_path: Path
) -> None:
    state = {
        "cookies": [
            {
                "name": "kept",
                "value": "1",
                "domain": "127.0.0.1",
                "path": "/",
                "expires": -1,
                "sameSite": "Lax",
            }
        ],
        "origins": [
            {"origin": server.url("/").rstrip("/"), "localStorage": [{"name": "key", "value": 'a"\\é<'}]}
        ],
    }
    file = tmp_path / "state.json"
    file.write_text(json.dumps(state), encoding="utf-8")

    async def render(options: CaptureOptions) -> Rendering:
        async with renderer_of(driver) as renderer:
            return await renderer.render(server.url("/window"), options=options)

    page = asyncio.run(render(CaptureOptions(storage_state=file)))
    assert json.loads(visible_text(page.snapshot))[11:13] == ["kept=1", 'a"\\é<']
    file.write_text('["nothing of the kind"]', encoding="utf-8")
    with pytest.raises(UsageError, match="is not a storage-state file"):
        asyncio.run(render(CaptureOptions(storage_state=file)))
    cookie = {"name": "a", "value": "b", "domain": "127.0.0.1"}
    item = {"name": "a", "value": "b"}
    for refused in (
        {"cookies": [{**cookie, "name": "a;b"}]},
        {"origins": [{"origin": "http://[", "localStorage": [item]}]},
    ):
        file.write_text(json.dumps(refused), encoding="utf-8")
        with pytest.raises(UsageError, match=r"The browser refuses what is in .*state\.json"):
            asyncio.run(render(CaptureOptions(storage_state=file)))


def test_a_capture_of_one_driver_serves_the_other(
    server: Server, captures: dict[str, dict[tuple[str, str], Rendering]], tmp_path: Path
) -> None:
    url = server.url("/good")
    with PageStore(tmp_path) as store:
        for name in DRIVERS:
            page = captures[name]["usual", "/good"]
            store.put(page.snapshot, source=page.source)
            record = cached(url, store, CaptureOptions())
            assert record
            assert store.get(record.page_id).provenance.driver == name


async def with_browser(driver: DriverName, work: Callable[[RunningBrowser], Any]) -> Any:
    async with renderer_of(driver) as renderer:
        assert renderer._running
        return await work(renderer._running[0])


async def open_page(running: RunningBrowser) -> Session:
    root = running.connection.root
    target = await root.send("Target.createTarget", {"url": "about:blank"})
    return await running.connection.attach(target["targetId"])


def test_commands_are_answered_and_events_told(driver: DriverName) -> None:
    class Result(msgspec.Struct):
        value: str

    class Evaluated(msgspec.Struct):
        result: Result

    async def talk(running: RunningBrowser) -> None:
        page = await open_page(running)
        events: list[Any] = []
        page.on("Runtime.consoleAPICalled", events.append)
        await page.send("Runtime.enable")
        answers = await asyncio.gather(
            *(page.send("Runtime.evaluate", {"expression": f"console.log({i}); {i}"}) for i in range(50))
        )
        assert [answer["result"]["value"] for answer in answers] == list(range(50))
        assert [event["args"][0]["value"] for event in events] == list(range(50))
        page.off("Runtime.consoleAPICalled", events.append)
        long = await page.ask("Runtime.evaluate", {"expression": "'\\ud83d' + 'é'.repeat(1e6)"}, Evaluated)
        assert long.result.value == "\ufffd" + "é" * 1_000_000
        await page.send("Runtime.evaluate", {"expression": "console.log('again')"})
        assert len(events) == 50
        with pytest.raises(CommandError, match="wasn't found"):
            await page.send("Nonsense.command")
        with pytest.raises(CommandError, match="wasn't found"):
            await running.connection.root.send("Nonsense.command")
        with pytest.raises(CommandError):
            await running.connection.attach("no such page")

    asyncio.run(with_browser(driver, talk))


def test_events_of_the_browser_are_told_until_nobody_wants_them(driver: DriverName) -> None:
    async def talk(running: RunningBrowser) -> None:
        root = running.connection.root
        created: list[Any] = []
        root.on("Target.targetCreated", created.append)
        await open_page(running)
        told = len(created)
        assert told
        root.off("Target.targetCreated", created.append)
        await open_page(running)
        assert len(created) == told

    asyncio.run(with_browser(driver, talk))


def test_what_is_asked_of_a_page_that_goes_fails(driver: DriverName) -> None:
    async def talk(running: RunningBrowser) -> None:
        root = running.connection.root
        target = await root.send("Target.createTarget", {"url": "about:blank"})
        page = await running.connection.attach(target["targetId"])
        gone = asyncio.Event()
        page.on_lost(gone.set)
        waiting = asyncio.create_task(
            page.send("Runtime.evaluate", {"expression": "new Promise(() => 0)", "awaitPromise": True})
        )
        await page.send("Runtime.evaluate", {"expression": "1"})
        await root.send("Target.closeTarget", {"targetId": target["targetId"]})
        async with asyncio.timeout(60):
            await gone.wait()
            with pytest.raises(CommandError):
                await waiting
        assert not page.is_open
        with pytest.raises(CommandError, match="gone"):
            await page.send("Page.enable")
        page.on_lost(gone.clear)
        assert not gone.is_set(), "told at once"
        assert running.is_alive

    asyncio.run(with_browser(driver, talk))


def test_a_crash_is_told_and_the_browser_lives_on(driver: DriverName) -> None:
    async def talk(running: RunningBrowser) -> None:
        page, crashed = await open_page(running), asyncio.Event()
        page.on("Inspector.targetCrashed", lambda _: crashed.set())
        await page.send("Inspector.enable")
        crash = asyncio.create_task(page.send("Page.crash"))
        async with asyncio.timeout(60):
            await crashed.wait()
        crash.cancel()
        await asyncio.gather(crash, return_exceptions=True)
        assert running.is_alive
        other = await open_page(running)
        assert (await other.send("Runtime.evaluate", {"expression": "2"}))["result"]["value"] == 2

    asyncio.run(with_browser(driver, talk))


@pytest.mark.parametrize("how", ["killed from outside", "killed by us", "closed"])
def test_an_end_is_noticed_and_leaves_nothing(
    driver: DriverName, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other programs of this machine have profiles in the usual folder.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def is_used(folder: Path) -> bool:
        return any(folder.iterdir())

    async def end(running: RunningBrowser) -> None:
        async with running.while_alive():
            if how == "killed by us":
                running.kill()
            elif how == "closed":
                await running.close()
            else:
                os.kill(running.pid, signal.SIGKILL)
            await asyncio.Event().wait()

    async def talk(running: RunningBrowser) -> Set[int]:
        page, lost = await open_page(running), asyncio.Event()
        page.on_lost(lost.set)
        processes = descendants()
        assert running.pid in processes
        assert driver != "pipe" or is_used(tmp_path)
        with pytest.raises(TimeoutError):
            await end(running)
        assert not running.is_alive
        async with asyncio.timeout(60):
            await lost.wait()
        with pytest.raises(CommandError):
            await page.send("Page.enable")
        return processes

    before = descendants()
    gc.collect()
    open_before = descriptors()
    began = asyncio.run(with_browser(driver, talk))
    assert began - before
    assert not descendants() - before
    assert not is_used(tmp_path)
    gc.collect()
    assert descriptors() <= open_before


def test_an_end_that_was_cancelled_closes_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = _program(tmp_path, "sleep 60")
    began, go_on = threading.Event(), threading.Event()
    close, closed = os.close, []

    async def end_twice() -> None:
        started = start_process(program, ())

        def close_slowly(descriptor: int) -> None:
            if descriptor == started._lock:
                closed.append(descriptor)
                began.set()
                go_on.wait(60)
            close(descriptor)

        monkeypatch.setattr(os, "close", close_slowly)
        first = asyncio.create_task(started.end())
        await asyncio.to_thread(began.wait, 60)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        second = asyncio.create_task(started.end())
        await asyncio.sleep(0.2)
        go_on.set()
        await second
        started.to_browser.close()
        started.from_browser.close()

    asyncio.run(end_twice())
    assert len(closed) == 1


def _program(folder: Path, script: str) -> str:
    program = folder / "browser"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return str(program)


def test_what_others_left_behind_is_removed(server: Server) -> None:
    async def render() -> None:
        async with renderer_of("pipe") as renderer:
            await renderer.render(server.url("/good"))
            assert in_use.exists()

    left = Path(tempfile.mkdtemp(prefix="domsieve-chrome-"))
    (left / "domsieve.lock").touch()
    empty, young = (Path(tempfile.mkdtemp(prefix="domsieve-chrome-")) for _ in range(2))
    os.utime(empty, (0, 0))
    in_use, lock = new_profile()
    try:
        asyncio.run(render())
        assert not left.exists()
        assert not empty.exists()
        assert young.exists()
    finally:
        young.rmdir()
        os.close(lock)
        (in_use / "domsieve.lock").unlink()
        in_use.rmdir()


def test_popups_are_closed_and_leave_the_context(driver: DriverName, server: Server) -> None:
    async def render() -> list[str]:
        async with renderer_of(driver) as renderer:
            await renderer.render(server.url("/popup"))
            assert renderer._running
            root = renderer._running[0].connection.root
            async with asyncio.timeout(60):
                while targets := (await root.send("Target.getTargets"))["targetInfos"]:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            return [target["url"] for target in targets]

    assert asyncio.run(render()) == []


def test_one_that_was_asked_for_and_fails_is_quoted(driver: DriverName, tmp_path: Path) -> None:
    program = _program(tmp_path, "echo 'No usable sandbox!' >&2\nexit 7")

    async def enter(executable: str) -> None:
        async with renderer_of(driver, executable=executable):
            pass

    with pytest.raises(
        BrowserNotFoundError, match=r"it ended at once \(exit code 7\)\s+it said: No usable sandbox!"
    ):
        asyncio.run(enter(program))
    with pytest.raises(
        BrowserNotFoundError, match="/no/such cannot be used: no executable file of that name"
    ):
        asyncio.run(enter("/no/such"))


def test_a_shell_of_playwright_is_found_where_its_installer_puts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert pipe_driver._shell() == "not installed"
    listed = json.loads((pipe_driver.playwright_package() / "browsers.json").read_bytes())["browsers"]
    revision = next(entry["revision"] for entry in listed if entry["name"] == "chromium-headless-shell")
    for folder, name in (("chrome-linux", "headless_shell"), ("other", "headless_shell")):
        program = tmp_path / f"chromium_headless_shell-{revision}" / folder / name
        program.parent.mkdir(parents=True)
        program.touch(0o755)
    found = tmp_path / f"chromium_headless_shell-{revision}" / "chrome-linux" / "headless_shell"
    assert pipe_driver._shell() == Location(executable=found)


def test_where_no_pipe_can_be_handed_on_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    async def enter() -> None:
        async with renderer_of("pipe"):
            pass

    monkeypatch.delattr(os, "posix_spawn")
    with pytest.raises(UsageError, match="needs Linux or macOS"):
        asyncio.run(enter())


def test_the_command_line_chooses_the_driver(server: Server, tmp_path: Path) -> None:
    done = run("render", "--driver", "pipe", server.url("/good"), cache=tmp_path)
    assert done.exit_code == 0, done.output
    with PageStore(tmp_path) as store:
        (record,) = store.records()
        assert store.get(record.page_id).provenance.driver == "pipe"
    assert run("render", "--driver", "pipes", server.url("/good"), cache=tmp_path).exit_code == 2
