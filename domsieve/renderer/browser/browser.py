"""The one browser of a process: started, asked what it is, and ended for certain.

Imports Playwright and, of the project, the discovery and the wire.
"""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncIterator
from typing import Any

from playwright.async_api import Browser as PlaywrightBrowser
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright, async_playwright

from domsieve.errors import BrowserLostError
from domsieve.renderer.browser.discovery import Browser, find_browser, guarded, launch_options
from domsieve.renderer.browser.machine import children, family
from domsieve.renderer.browser.memory import MemoryGuard
from domsieve.renderer.browser.wire import Wire, open_wire
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.network.proxy import Proxy
from domsieve.renderer.options import CaptureOptions

# Starting from a cold disk took 1.3 s, ending 0.2 s.
_ANSWER_LIMIT_S = 10.0
_CLOSE_LIMIT_S = 3.0
# After a browser that was killed, the driver may wait for its answer before it ends by force, for 30 s.
_DRIVER_LIMIT_S = 60.0

logger = logging.getLogger(__name__)


class RunningBrowser:
    """A browser under way; `start_browser` makes it.

    Parameters
    ----------
    playwright : the driver it belongs to, ended with it.
    browser : Playwright's handle.
    wire : our own conversations with it.
    identity : what it is.
    pid : number of its process, by which it can be killed.
    proxy : what all its traffic passes; ended with it.

    Attributes
    ----------
    memory : what bounds the memory of its processes.
    killed_for : why it was killed; empty when it was not.
    """

    def __init__(
        self,
        playwright: Playwright,
        browser: PlaywrightBrowser,
        wire: Wire,
        identity: Browser,
        pid: int,
        proxy: Proxy,
    ) -> None:
        self.playwright = playwright
        self.browser = browser
        self.wire = wire
        self.identity = identity
        self.pid = pid
        self.proxy = proxy
        self.memory = MemoryGuard(pid, end_browser=self.kill)
        self.killed_for = ""
        self._lives: set[asyncio.Timeout] = set()
        # Found while it lives; where there is no /proc, it ends in its own time.
        self._driver = next((child for child in children(os.getpid()) if pid in family(child)), None)
        browser.on("disconnected", lambda _: self._lose())

    @property
    def is_alive(self) -> bool:
        """Whether pages can be opened in it."""
        return self.browser.is_connected() and not self.killed_for

    def kill(self, why: str = "stopped answering") -> None:
        """End the process at once; conversations under way fail. The first reason counts."""
        if self.killed_for:
            return
        self.killed_for = why
        logger.warning("The browser (process %d) %s and is killed.", self.pid, why)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self._lose()

    @contextlib.asynccontextmanager
    async def while_alive(self) -> AsyncIterator[None]:
        """End a block of code with the browser, because of what is asked of a dead one not all is answered.

        Raises
        ------
        TimeoutError : the browser was lost.
        """
        async with asyncio.timeout(None) as life:
            self._lives.add(life)
            try:
                yield
            finally:
                self._lives.discard(life)

    def _lose(self) -> None:
        self.wire.lose()
        for life in self._lives:
            life.reschedule(0.0)
        self._lives.clear()

    async def close(self) -> None:
        """End browser and driver, by force if they do not answer."""
        try:
            async with asyncio.timeout(_CLOSE_LIMIT_S):
                await self.browser.close()
        except (PlaywrightError, TimeoutError):
            self.kill()
        await self._stop_driver()
        await self.proxy.close()

    async def _stop_driver(self) -> None:
        """End the driver, which must not outlive the loop that waits for it."""
        stopping = asyncio.ensure_future(self.playwright.stop())
        await asyncio.wait([stopping], timeout=_CLOSE_LIMIT_S)
        if not stopping.done() and self._driver is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._driver, signal.SIGKILL)
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_DRIVER_LIMIT_S):
                await stopping


async def start_browser(
    options: CaptureOptions,
    *,
    executable: str | None,
    arguments: tuple[str, ...],
    known: Browser | None,
    egress: Egress,
) -> RunningBrowser:
    """Return a browser that has just been started, with a driver of its own.

    Parameters
    ----------
    options : of which those that concern the whole browser are used.
    executable : see `find_browser`.
    arguments : further command line flags.
    known : a browser found before, which need not be looked for again.
    egress : where its connections may go.

    Raises
    ------
    BrowserNotFoundError : no usable browser.
    BrowserLostError : it started and did not answer.
    """
    playwright = await async_playwright().start()
    proxy = Proxy(egress)
    try:
        identity = known or await find_browser(playwright, executable)
        launch = launch_options(identity)
        launch["args"] += arguments
        if not options.images:
            launch["args"].append("--blink-settings=imagesEnabled=false")
        await proxy.open()
        # Last, because of a flag that is given twice Chrome takes the last.
        launch["args"] += guarded(proxy.url)
        browser = await playwright.chromium.launch(**launch)
        wire = await open_wire(browser, limit_s=_ANSWER_LIMIT_S)
        processes = await wire.ask("SystemInfo.getProcessInfo", limit_s=_ANSWER_LIMIT_S)
    except (PlaywrightError, TimeoutError) as error:
        await _give_up(playwright, proxy)
        raise BrowserLostError(
            f"The browser started but does not answer: {error}", stage="launch", retry=True
        ) from error
    except BaseException:
        await _give_up(playwright, proxy)
        raise
    return RunningBrowser(playwright, browser, wire, identity, _pid(processes), proxy)


async def _give_up(playwright: Playwright, proxy: Proxy) -> None:
    await playwright.stop()
    await proxy.close()


def _pid(processes: dict[str, Any]) -> int:
    return next(int(entry["id"]) for entry in processes["processInfo"] if entry["type"] == "browser")
