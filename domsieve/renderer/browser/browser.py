"""Start a browser with its proxy, and end it reliably."""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncIterator
from importlib import import_module

from domsieve.errors import BrowserLostError, UsageError
from domsieve.options import CaptureOptions
from domsieve.renderer.browser.connection import CommandError, Connection
from domsieve.renderer.browser.discovery import NO_IMAGES, Browser, LaunchError, guarded
from domsieve.renderer.browser.resources import MemoryGuard
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.network.proxy import Proxy
from domsieve.types import DriverName

# Starting from a cold disk took 1.3 s.
_ANSWER_LIMIT_S = 10.0
# Imported on use: Playwright takes 0.4 s.
_DRIVERS = {name: f"domsieve.renderer.browser.{name}_driver" for name in ("playwright", "pipe")}

logger = logging.getLogger(__name__)


class RunningBrowser:
    """A running browser; `start_browser` creates it.

    Parameters
    ----------
    connection : the connection of its driver, closed with the browser.
    identity : its name, version and build.
    proxy : the proxy for all its traffic, closed with the browser.

    Attributes
    ----------
    memory : limits the memory of its processes.
    killed_for : why it was killed; empty if it was not.
    """

    def __init__(self, connection: Connection, identity: Browser, proxy: Proxy) -> None:
        self.connection = connection
        self.identity = identity
        self.proxy = proxy
        self.pid = connection.pid
        self.memory = MemoryGuard(self.pid, end_browser=self.kill)
        self.killed_for = ""
        self._lives: set[asyncio.Timeout] = set()
        connection.root.on_lost(self._lose)

    @property
    def is_alive(self) -> bool:
        """Whether pages can be opened in it."""
        return self.connection.is_open and not self.killed_for

    def kill(self, why: str = "stopped answering") -> None:
        """Kill its processes; pending commands fail. Only the first reason is kept."""
        if self.killed_for:
            return
        self.killed_for = why
        logger.warning("The browser (process %d) %s and is killed.", self.pid, why)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            group = os.getpgid(self.pid)
            if group == os.getpgid(0):
                os.kill(self.pid, signal.SIGKILL)
            else:
                os.killpg(group, signal.SIGKILL)
        self._lose()

    @contextlib.asynccontextmanager
    async def while_alive(self) -> AsyncIterator[None]:
        """Cancel a block of code if the browser is lost, because a dead browser may never respond.

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
        for life in self._lives:
            life.reschedule(0.0)
        self._lives.clear()

    async def close(self) -> None:
        """Close the browser and its driver; kill them if they do not respond."""
        try:
            await self.connection.close()
        finally:
            await self.proxy.close()


async def start_browser(
    options: CaptureOptions,
    *,
    driver: DriverName,
    executable: str | None,
    arguments: tuple[str, ...],
    known: Browser | None,
    egress: Egress,
) -> RunningBrowser:
    """Start a browser with its own driver and proxy.

    Parameters
    ----------
    options : only those that apply to the whole browser are used.
    driver : how to talk to the browser.
    executable : see `first_that_starts`.
    arguments : more command-line flags.
    known : a browser that was found before, so that no search is needed.
    egress : where its connections may go.

    Raises
    ------
    UsageError : the driver does not work on this system.
    BrowserNotFoundError : there is no usable browser.
    BrowserLostError : it started, but does not respond.
    """
    if driver == "pipe" and not hasattr(os, "posix_spawn"):
        raise UsageError("The driver pipe needs Linux or macOS; use the driver playwright.")
    proxy = Proxy(egress)
    await proxy.open()
    try:
        # The flags of the guard come last, because Chrome uses the last of repeated flags.
        flags = [*arguments, *(() if options.images else (NO_IMAGES,)), *guarded(proxy.url)]
        connection, identity = await import_module(_DRIVERS[driver]).start(known, executable, flags)
        try:
            async with asyncio.timeout(_ANSWER_LIMIT_S):
                kinds = {"discover": True, "filter": [{"type": "page"}, {"type": "shared_worker"}]}
                await connection.root.send("Target.setDiscoverTargets", kinds)
        except BaseException:
            await connection.close()
            raise
    except (LaunchError, CommandError, TimeoutError) as error:
        await proxy.close()
        raise BrowserLostError(
            f"The browser started but does not answer: {error}", stage="launch", retry=True
        ) from error
    except BaseException:
        await proxy.close()
        raise
    return RunningBrowser(connection, identity, proxy)
