"""Which Chrome is taken, why one is not, and how it is started."""

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from playwright.async_api import Browser as PlaywrightBrowser
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright, Route, async_playwright

from domsieve.errors import BrowserNotFoundError
from domsieve.renderer.browser import playwright_driver
from domsieve.renderer.browser.discovery import Browser, Location
from domsieve.renderer.browser.playwright_driver import find_browser, launch_options

SHELLS = ["chromium-headless-shell", "chrome-headless-shell", "headless_shell"]
FULL = ["google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "microsoft-edge"]


class FakeBrowser:
    def __init__(self, product: str, *, silent: bool = False) -> None:
        self.product = product
        self.silent = silent
        self.closed = False

    async def new_browser_cdp_session(self) -> "FakeBrowser":
        return self

    async def send(self, method: str) -> dict[str, str]:
        assert method == "Browser.getVersion"
        if self.silent:
            await asyncio.Event().wait()
        return {"product": self.product}

    async def close(self) -> None:
        self.closed = True


class FakePlaywright:
    """Starts the browsers it was given, by the name of their program or channel; all others fail."""

    def __init__(self, **starts: FakeBrowser) -> None:
        self.starts = {name.replace("_", "-"): browser for name, browser in starts.items()}
        self.tried: list[str] = []
        self.reason = "BrowserType.launch: it does not start\nCall log:\n"
        self.chromium = self
        self.executable_path = "/opt/chrome"

    async def launch(self, **options: Any) -> FakeBrowser:
        program = options["executable_path"]
        self.tried.append(program.name if program else options["channel"])
        assert options == launch_options(Location(executable=program, channel=options["channel"]))
        if browser := self.starts.get(self.tried[-1]):
            return browser
        raise PlaywrightError(self.reason)

    def find(self, explicit: str | None = None) -> Browser:
        return asyncio.run(find_browser(cast(Playwright, self), explicit))


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Make programs of the given names the only ones on PATH; no browser is asked for."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("DOMSIEVE_BROWSER", raising=False)

    def make(*names: str, script: str = "exit 1") -> Path:
        for name in names:
            (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
            (tmp_path / name).chmod(0o755)
        return tmp_path

    return make


def test_headless_shells_are_tried_before_full_builds_and_channels_frame_the_path(
    programs: Callable[..., Path],
) -> None:
    programs(*reversed(FULL), *reversed(SHELLS))
    playwright = FakePlaywright()
    with pytest.raises(BrowserNotFoundError):
        playwright.find()
    assert playwright.tried == ["chromium-headless-shell", *SHELLS, *FULL, "chrome"]


@pytest.mark.parametrize("installed", [True, False])
def test_the_shell_of_playwright_is_tried_where_it_is(
    programs: Callable[..., Path],
    tmp_path: Path,
    installed: bool,
) -> None:
    programs()
    playwright = FakePlaywright()
    playwright.executable_path = str(tmp_path / "chromium-1200" / "chrome-linux" / "chrome")
    if installed:
        (tmp_path / "chromium_headless_shell-1200").mkdir()
    with pytest.raises(BrowserNotFoundError, match="does not start" if installed else "shell: not installed"):
        playwright.find()
    assert ("chromium-headless-shell" in playwright.tried) is installed


def test_the_first_that_starts_is_taken_and_closed(programs: Callable[..., Path]) -> None:
    folder = programs("chrome-headless-shell", "chromium", "microsoft-edge")
    running = FakeBrowser("Chrome/156.0.8078.79")
    assert FakePlaywright(chromium=running).find() == Browser(
        executable=folder / "chromium", product="Chrome", version="156.0.8078.79", build="full"
    )
    assert running.closed


def test_a_channel_has_no_path(programs: Callable[..., Path]) -> None:
    programs()
    browser = FakePlaywright(chromium_headless_shell=FakeBrowser("HeadlessChrome/159.0.1.2")).find()
    assert (browser.executable, browser.channel) == (None, "chromium-headless-shell")
    assert str(browser) == "HeadlessChrome 159.0.1.2 (headless-shell, chromium-headless-shell)"


def test_argument_goes_before_variable_goes_before_search(
    programs: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = programs("mine", "yours", "chromium")
    everything = FakePlaywright(
        mine=FakeBrowser("Chrome/1"), yours=FakeBrowser("Chrome/2"), chromium=FakeBrowser("Chrome/3")
    )
    monkeypatch.setenv("DOMSIEVE_BROWSER", str(folder / "yours"))
    assert everything.find("mine").version == "1"
    assert everything.find().version == "2"
    monkeypatch.setenv("DOMSIEVE_BROWSER", "")
    assert everything.find().version == "3"


@pytest.mark.parametrize("by_variable", [True, False])
def test_one_that_was_asked_for_and_fails_is_never_passed_over(
    programs: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, by_variable: bool
) -> None:
    asked = str(programs("mine", "chromium") / "mine")
    playwright = FakePlaywright(chromium=FakeBrowser("Chrome/3"))
    if by_variable:
        monkeypatch.setenv("DOMSIEVE_BROWSER", asked)
    with pytest.raises(BrowserNotFoundError, match=r"The browser .*/mine cannot be used: it does not start"):
        playwright.find(None if by_variable else asked)
    assert playwright.tried == ["mine"]


def test_one_that_was_asked_for_and_is_missing_is_said_so(programs: Callable[..., Path]) -> None:
    programs("chromium")
    with pytest.raises(
        BrowserNotFoundError, match="/no/such cannot be used: no executable file of that name"
    ):
        FakePlaywright().find("/no/such")


def test_the_error_lists_every_reason_and_every_fix(programs: Callable[..., Path]) -> None:
    programs("chromium")
    with pytest.raises(BrowserNotFoundError) as caught:
        FakePlaywright().find()
    assert str(caught.value).splitlines() == [
        "No usable Chromium found. Tried:",
        "  - Playwright's headless shell: it does not start",
        *(f"  - {name}: not on PATH" for name in [*SHELLS, "google-chrome-stable", "google-chrome"]),
        "  - chromium: it does not start",
        "  - chromium-browser: not on PATH",
        "  - microsoft-edge: not on PATH",
        "  - Google Chrome: it does not start",
        "Fix one of:",
        f"  (1) {sys.executable} -m playwright install --only-shell chromium",
        "  (2) apt-get install chromium-headless-shell (Debian, as root)",
        "  (3) set DOMSIEVE_BROWSER=/path/to/chrome",
    ]


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("[pid=7][err] zygote: Running as root without --no-sandbox is not supported.", "ordinary user"),
        ("Chromium sandboxing failed!\n[pid=7][err] No usable sandbox!", "user namespaces"),
        (
            "Chromium sandboxing failed!\n[pid=7][err] Running as root without --no-sandbox is ...",
            "ordinary user",
        ),
        ("[pid=7][err] chrome: error while loading shared libraries: libnss3.so", "install-deps"),
        ("Host system is missing dependencies to run browsers.", "install-deps"),
    ],
)
def test_what_the_browser_said_leads_to_one_hint(programs: Callable[..., Path], said: str, hint: str) -> None:
    programs("mine")
    playwright = FakePlaywright()
    log = "  - [pid=7] <process did exit: exitCode=1, signal=null>\n"
    playwright.reason = f"BrowserType.launch: Target closed\nBrowser logs:\n{said}\nCall log:\n{said}\n{log}"
    with pytest.raises(BrowserNotFoundError) as caught:
        playwright.find("mine")
    lines = [line.strip() for line in str(caught.value).splitlines()]
    assert lines[0].endswith("it ended at once (exit code 1)")
    assert [line for line in lines if line.startswith("it said: ")] == [
        f"it said: {line.partition('[err] ')[2]}" for line in said.splitlines() if "[err]" in line
    ]
    (found,) = [line for line in lines if line.startswith("hint: ")]
    assert hint in found


def test_one_that_starts_and_stays_silent_is_closed_and_passed_over(
    programs: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    programs("chromium", "microsoft-edge")
    monkeypatch.setattr(playwright_driver, "ANSWER_LIMIT_S", 0.01)
    silent = FakeBrowser("", silent=True)
    playwright = FakePlaywright(chromium=silent, microsoft_edge=FakeBrowser("Edg/9"))
    assert playwright.find().product == "Edg"
    assert silent.closed
    with pytest.raises(BrowserNotFoundError, match="it started but did not answer"):
        playwright.find("chromium")


@pytest.mark.parametrize("user", [0, 1000])
def test_the_sandbox_is_off_only_for_root_who_is_warned(
    programs: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    user: int,
) -> None:
    programs("chromium")
    monkeypatch.setattr(os, "geteuid", lambda: user)
    browser = FakePlaywright(chromium=FakeBrowser("Chrome/1")).find()
    assert launch_options(browser)["chromium_sandbox"] is (user != 0)
    assert [record.levelno for record in caplog.records] == ([] if user else [logging.WARNING])


T = TypeVar("T")


def with_playwright(work: Callable[[Playwright], Coroutine[Any, Any, T]]) -> T:
    async def run() -> T:
        async with async_playwright() as playwright:
            return await work(playwright)

    return asyncio.run(asyncio.wait_for(run(), 300))


async def start(playwright: Playwright, *more: str) -> PlaywrightBrowser:
    options = launch_options(await find_browser(playwright))
    options["args"] += more
    return await playwright.chromium.launch(**options)


@pytest.mark.browser
def test_a_program_that_is_no_browser_is_quoted(programs: Callable[..., Path]) -> None:
    script = "echo 'Running as root without --no-sandbox is not supported' >&2; exit 7"
    asked = str(programs("broken", script=script) / "broken")
    with pytest.raises(BrowserNotFoundError) as caught:
        with_playwright(lambda playwright: find_browser(playwright, asked))
    lines = [line.strip() for line in str(caught.value).splitlines()]
    assert lines[0].endswith("it ended at once (exit code 7)")
    assert lines[1] == "it said: Running as root without --no-sandbox is not supported"
    assert lines[2].startswith("hint: ")


@pytest.mark.browser
def test_a_real_browser_is_found_and_shows_every_frame_in_one_snapshot() -> None:
    async def look(playwright: Playwright) -> tuple[Browser, str, int]:
        browser = await start(playwright)
        page = await browser.new_page()
        frames = '<iframe src="https://b.test/"></iframe><iframe sandbox src="https://a.test/in"></iframe>'

        async def serve(route: Route) -> None:
            body = frames if route.request.url == "https://a.test/" else "inner"
            await route.fulfill(body=body, content_type="text/html", headers={"Origin-Agent-Cluster": "?1"})

        await page.route("**/*", serve)
        await page.goto("https://a.test/")
        session = await page.context.new_cdp_session(page)
        answer = await session.send("DOMSnapshot.captureSnapshot", {"computedStyles": []})
        version = browser.version
        await browser.close()
        return await find_browser(playwright), version, len(answer["documents"])

    found, version, documents = with_playwright(look)
    assert found.version == version
    assert documents == 3


@pytest.mark.browser
def test_a_started_browser_asks_no_server_of_its_own(tmp_path: Path) -> None:
    log = tmp_path / "net.json"

    async def idle(playwright: Playwright) -> None:
        # Should it ask all the same, no name resolves.
        browser = await start(playwright, f"--log-net-log={log}", "--host-resolver-rules=MAP * ~NOTFOUND")
        page = await browser.new_page()
        await page.goto("data:text/html,quiet")
        await asyncio.sleep(1)
        await browser.close()

    with_playwright(idle)
    events = json.loads(log.read_text(encoding="utf-8"))["events"]
    asked = {event["params"]["url"] for event in events if "url" in event.get("params", {})}
    assert not [url for url in asked if not url.startswith(("http://127.0.0.1:9/", "data:"))]
