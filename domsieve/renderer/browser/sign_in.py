"""Open a visible browser in which the user signs in, and return its cookies and local storage.

This needs a full Chrome and a display. Its traffic goes through the egress guard, too. Unlike in captures, its pages
run in separate processes.
"""

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from domsieve.errors import BrowserError, BrowserLostError, BrowserNotFoundError, NavigationError, PolicyError
from domsieve.renderer.browser.discovery import (
    ARGUMENTS,
    BROWSER_VARIABLE,
    FULL_NAMES,
    LAUNCH_LIMIT_S,
    Location,
    guarded,
    has_sandbox,
)
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.network.proxy import Proxy

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page, Playwright

_ARRIVAL_LIMIT_S = 60.0
_ANSWER_LIMIT_S = 5.0
_LOOK_S = 0.5
_CLOSE_LIMIT_S = 10.0
_MOST_CHARACTERS = 20_000_000  # for the local storage of one origin; browsers allow 10 MB
# No DOM snapshots are taken in this browser, so frames need not share a process.
_ARGUMENTS = [flag for flag in ARGUMENTS if flag != "--disable-site-isolation-trials"]
_NO_DISPLAY = (
    "Signing in opens a window, and there is no display: DISPLAY and WAYLAND_DISPLAY are not set. Sign in on a "
    "computer with a desktop and copy the file, or run this under a virtual display."
)
_NO_BROWSER = (
    "Signing in needs a full Chrome, and none was found: a headless shell has no window. Install Google Chrome, the "
    f"package chromium or Microsoft Edge, or name one by {BROWSER_VARIABLE}."
)
_STORED = "() => Object.entries(localStorage)"

State = dict[str, list[dict[str, Any]]]
"""Cookies and origins, in the form of Playwright's storage-state file."""


async def sign_in(
    url: str,
    *,
    egress: Egress,
    done: Callable[[], Awaitable[object]],
    ready: Callable[[], object],
    executable: str | None = None,
) -> State:
    """Open a window with a page, and return the cookies and local storage when the user is done.

    Parameters
    ----------
    url : the page to open.
    egress : where connections may go.
    done : returns when the user is done; closing the window ends the call as well.
    ready : called when the page has loaded.
    executable : path or name of a full Chrome; None means ``DOMSIEVE_BROWSER`` or else a search.

    Raises
    ------
    BrowserNotFoundError : there is no display, or no Chrome with windows.
    PolicyError : the address may not be reached.
    NavigationError : no page arrived.
    BrowserLostError : the browser ended before the page had loaded.
    """
    if not _has_display():
        raise BrowserNotFoundError(_NO_DISPLAY, stage="launch")
    from playwright.async_api import Error, async_playwright

    async with Proxy(egress) as proxy, async_playwright() as playwright:
        browser = await _launched(playwright, executable, proxy)
        try:
            context = await browser.new_context(no_viewport=True, accept_downloads=False)
            page = await context.new_page()
            await _open(page, url, proxy)
            ready()
            return await kept(browser, context, done)
        except Error as error:
            raise BrowserLostError(f"The browser was closed: {error.message}", stage="launch") from error
        finally:
            with contextlib.suppress(Error, TimeoutError):
                async with asyncio.timeout(_CLOSE_LIMIT_S):
                    await browser.close()


def _has_display() -> bool:
    is_shown = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(is_shown) or sys.platform in {"darwin", "win32"}


async def _launched(playwright: "Playwright", executable: str | None, proxy: Proxy) -> "Browser":
    """Start a full Chrome, without a window yet.

    Raises
    ------
    BrowserNotFoundError : none starts, or the requested one has no windows.
    """
    from playwright.async_api import Error

    asked = executable or os.environ.get(BROWSER_VARIABLE)
    tried = []
    for location in _candidates(playwright, asked):
        try:
            browser = await playwright.chromium.launch(
                executable_path=location.executable,
                channel=location.channel,
                headless=False,
                chromium_sandbox=has_sandbox(),
                args=[*_ARGUMENTS, *guarded(proxy.url)],
                timeout=LAUNCH_LIMIT_S * 1000,
            )
        except Error as error:
            tried.append(f"{location}: {error.message.splitlines()[0].removeprefix('BrowserType.launch: ')}")
            continue
        try:
            async with asyncio.timeout(_ANSWER_LIMIT_S):
                session = await browser.new_browser_cdp_session()
                product = (await session.send("Browser.getVersion"))["product"]
        except (Error, TimeoutError):
            product = ""
        if product and not product.startswith("Headless"):
            return browser
        tried.append(f"{location}: it is a headless shell" if product else f"{location}: it does not answer")
        await browser.close()
    lines = "".join(f"\n  - {line}" for line in tried)
    if asked:
        reason = tried[0].partition(": ")[2] if tried else "no executable file of that name"
        raise BrowserNotFoundError(
            f"The browser {asked} cannot be used to sign in: {reason.rstrip('.')}. "
            "Choose a full Chrome or Chromium, which has windows.",
            stage="launch",
        )
    raise BrowserNotFoundError(_NO_BROWSER + (f" Tried:{lines}" if tried else ""), stage="launch")


def _candidates(playwright: "Playwright", asked: str | None) -> Iterator[Location]:
    """Yield the browsers to try: the requested one alone, or all that are known to have windows."""
    if asked:
        if found := shutil.which(asked):
            yield Location(executable=Path(found))
        return
    if Path(playwright.chromium.executable_path).is_file():
        yield Location(executable=Path(playwright.chromium.executable_path))
    for name in FULL_NAMES:
        if found := shutil.which(name):
            yield Location(executable=Path(found))
    if sys.platform == "darwin":
        yield Location(channel="chrome")


async def _open(page: "Page", url: str, proxy: Proxy) -> None:
    from playwright.async_api import Error

    fault = ""
    try:
        response = await page.goto(url, wait_until="commit", timeout=_ARRIVAL_LIMIT_S * 1000)
        arrived = response is None or response.status < 400
    except Error as error:
        arrived, fault = False, error.message.splitlines()[0].removeprefix("Page.goto: ")
    if arrived:
        return
    if refusal := proxy.refusal(url):
        raise PolicyError(refusal.message, reason=refusal.reason, url=url, stage="navigate")
    if fault:
        why = proxy.failure(url) or fault
        raise NavigationError(f"The page does not open: {why}.", url=url, stage="navigate", retry=True)


async def kept(browser: "Browser", context: "BrowserContext", done: Callable[[], Awaitable[object]]) -> State:
    """Return the final state. It is read repeatedly, because a window can be closed at any time."""
    from playwright.async_api import Error

    waiting = asyncio.ensure_future(done())
    seen = _Seen()
    try:
        while True:
            with contextlib.suppress(Error):
                await seen.look(context)
            if waiting.done() or not context.pages or not browser.is_connected():
                if waiting.done() and not waiting.cancelled() and (error := waiting.exception()) is not None:
                    raise error
                return seen.state()
            await asyncio.wait([waiting], timeout=_LOOK_S)
    finally:
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError, BrowserError):
            await waiting


class _Seen:
    """The latest cookies, and the latest local storage of every origin that was shown."""

    def __init__(self) -> None:
        self._cookies: list[dict[str, Any]] = []
        self._stored: dict[str, list[dict[str, Any]]] = {}

    async def look(self, context: "BrowserContext") -> None:
        """Read the current state.

        Raises
        ------
        playwright.async_api.Error : the browser is gone; the earlier state is kept.
        """
        from playwright.async_api import Error

        for page in context.pages:
            for frame in page.frames:
                parts = urlsplit(frame.url)
                if parts.scheme not in {"http", "https"}:
                    continue
                # A frame may be gone, may have no storage, or may be busy.
                with contextlib.suppress(Error, TimeoutError):
                    async with asyncio.timeout(_ANSWER_LIMIT_S):
                        items = await frame.evaluate(_STORED)
                    self._take(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", items)
        cookies = await context.cookies()
        self._cookies = [dict(cookie) for cookie in cookies]

    def _take(self, origin: str, items: Any) -> None:
        """Store the local storage of an origin if it has a valid form."""
        pairs = items if isinstance(items, list) else []
        texts = [pair for pair in pairs if isinstance(pair, list) and len(pair) == 2]
        if not all(isinstance(text, str) for pair in texts for text in pair):
            return
        if sum(len(name) + len(value) for name, value in texts) <= _MOST_CHARACTERS:
            self._stored[origin] = [{"name": name, "value": value} for name, value in texts]

    def state(self) -> State:
        """Return the latest state, in a fixed order."""
        cookies = sorted(self._cookies, key=lambda one: (one["domain"], one["path"], one["name"]))
        origins: list[dict[str, Any]] = [
            {"origin": origin, "localStorage": sorted(items, key=lambda item: str(item["name"]))}
            for origin, items in sorted(self._stored.items())
            if items
        ]
        return {"cookies": cookies, "origins": origins}
