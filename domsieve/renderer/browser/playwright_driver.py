"""The default driver: Playwright starts the browser and transports our messages.

Playwright's own pages and contexts are not used. It processes every event in them, which needs more processor time
than some pages. Messages of a page are sent as single strings (``Target.sendMessageToTarget``), because Playwright
searches every value of a decoded response for handles, in Python, which takes four times as long as decoding a DOM
snapshot.

Playwright is imported on use, because that takes 0.4 s.
"""

import asyncio
import contextlib
import json
import os
import re
import signal
from collections.abc import Sequence
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, TypeVar

import msgspec

from domsieve.renderer.browser.connection import (
    CommandError,
    Connection,
    Handler,
    Message,
    MessageSession,
    Params,
    Session,
    browser_pid,
    decode,
)
from domsieve.renderer.browser.discovery import (
    ANSWER_LIMIT_S,
    ARGUMENTS,
    LAUNCH_LIMIT_S,
    SILENT,
    UNWANTED,
    Browser,
    LaunchError,
    Location,
    first_that_starts,
    has_sandbox,
    identified,
)
from domsieve.renderer.browser.resources import children, family

if TYPE_CHECKING:
    from playwright.async_api import Browser as PlaywrightBrowser
    from playwright.async_api import CDPSession, Playwright

T = TypeVar("T")

_CLOSE_LIMIT_S = 3.0
# After a browser was killed, the driver may wait up to 30 s for its response.
_DRIVER_LIMIT_S = 60.0
_SIGNATURE = Signature([Parameter("params", Parameter.POSITIONAL_OR_KEYWORD)])


class LaunchOptions(TypedDict):
    """Keyword arguments of Playwright's ``chromium.launch``."""

    executable_path: Path | None
    channel: str | None
    headless: bool
    chromium_sandbox: bool
    args: list[str]
    ignore_default_args: list[str]
    timeout: float


def launch_options(location: Location) -> LaunchOptions:
    """Return how Playwright starts the browser at `location`, both to verify it and to render with it."""
    return LaunchOptions(
        executable_path=location.executable,
        channel=location.channel,
        headless=True,
        chromium_sandbox=has_sandbox(),
        args=list(ARGUMENTS),
        ignore_default_args=list(UNWANTED),
        timeout=LAUNCH_LIMIT_S * 1000,
    )


class PlaywrightSession(Session):
    """A session of Playwright's own, for small answers."""

    def __init__(self, session: "CDPSession") -> None:
        super().__init__()
        self._session = session
        self._heard: dict[tuple[str, Handler], Handler] = {}

    async def ask(self, method: str, params: Params | None, kind: type[T]) -> T:
        """Send a command and return the response; see `Session.ask`."""
        if not self.is_open:
            raise CommandError(f"{method}: the target is gone.")
        try:
            answer = await self._session.send(method, params)
        except _error() as error:
            raise CommandError(str(error)) from error
        return msgspec.convert(answer, kind)

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` with the parameters of each event of this name."""

        def hear(params: Params) -> None:
            handler(params)

        # Otherwise Playwright inspects the signature for each event, which takes longer than everything else.
        hear.__signature__ = _SIGNATURE  # type: ignore[attr-defined]
        self._heard[event, handler] = hear
        self._session.on(event, hear)

    def off(self, event: str, handler: Handler) -> None:
        """Remove a handler."""
        self._session.remove_listener(event, self._heard.pop((event, handler)))


class _PageSession(MessageSession):
    """A session with a page or a worker, inside the session with the browser or with the page."""

    def __init__(self, session_id: str, parent: Session) -> None:
        super().__init__(session_id)
        self._parent = parent

    async def write(self, message: Params) -> None:
        """Send a message to the page."""
        await self._parent.send(
            "Target.sendMessageToTarget", {"sessionId": self.session_id, "message": json.dumps(message)}
        )


class PlaywrightConnection(Connection):
    """A connection to a browser that Playwright started."""

    driver = "playwright"
    is_flat = False

    def __init__(
        self, playwright: "Playwright", browser: "PlaywrightBrowser", session: PlaywrightSession, pid: int
    ) -> None:
        self.root = session
        self.pid = pid
        self._playwright = playwright
        self._browser = browser
        self._pages: dict[str, _PageSession] = {}
        # Found while it lives. Without /proc, nothing is killed, and it ends by itself.
        self._node = next((child for child in children(os.getpid()) if pid in family(child)), None)
        self.root.on("Target.receivedMessageFromTarget", self._carry)
        self.root.on("Target.detachedFromTarget", self._detach)
        browser.on("disconnected", lambda _: self._lose())

    async def attach(self, target_id: str) -> Session:
        """Open a new session with a page; see `Connection.attach`."""
        attached = await self.root.send("Target.attachToTarget", {"targetId": target_id, "flatten": False})
        return self._child(self.root, attached["sessionId"])

    def _child(self, parent: Session, session_id: str) -> Session:
        session = self._pages[session_id] = _PageSession(session_id, parent)
        return session

    async def close(self) -> None:
        """Close the browser and the driver."""
        with contextlib.suppress(_error(), TimeoutError):
            async with asyncio.timeout(_CLOSE_LIMIT_S):
                await self._browser.close()
        await _stop(self._playwright, self._node)

    def _carry(self, event: Params) -> None:
        if page := self._pages.get(event["sessionId"]):
            page.receive(decode(event["message"], Message))

    def _detach(self, event: Params) -> None:
        if page := self._pages.pop(event["sessionId"], None):
            page.lose()

    def _lose(self) -> None:
        for page in [*self._pages.values()]:
            page.lose()
        self._pages.clear()
        self.root.lose()


async def _stop(playwright: "Playwright", node: int | None) -> None:
    """Stop the driver, which must not outlive the event loop."""
    stopping = asyncio.ensure_future(playwright.stop())
    await asyncio.wait([stopping], timeout=_CLOSE_LIMIT_S)
    if not stopping.done() and node is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(node, signal.SIGKILL)
    with contextlib.suppress(_error(), TimeoutError):
        async with asyncio.timeout(_DRIVER_LIMIT_S):
            await stopping


async def start(
    known: Location | None, explicit: str | None, flags: Sequence[str]
) -> tuple[Connection, Browser]:
    """Start a browser with additional `flags`; return its connection and identity.

    Parameters
    ----------
    known : the browser to start; None searches for one.
    explicit : see `first_that_starts`.

    Raises
    ------
    BrowserNotFoundError : there is no usable browser.
    LaunchError : the known browser does not start.
    """
    from playwright.async_api import async_playwright

    playwright = await async_playwright().start()
    try:

        async def connect(location: Location) -> tuple[Connection, Browser]:
            browser, product = await _launch(playwright, location, flags)
            try:
                async with asyncio.timeout(ANSWER_LIMIT_S):
                    root = PlaywrightSession(await browser.new_browser_cdp_session())
                    pid = await browser_pid(root)
            except (CommandError, _error(), TimeoutError) as error:
                await _close(browser)
                raise LaunchError(SILENT) from error
            return PlaywrightConnection(playwright, browser, root, pid), identified(location, product)

        return await (connect(known) if known else first_that_starts(connect, _shell(playwright), explicit))
    except BaseException:
        await _stop(playwright, None)
        raise


async def find_browser(playwright: "Playwright", explicit: str | None = None) -> Browser:
    """Return the first browser that starts, in the order of `first_that_starts`.

    A test takes about 0.15 s, and up to 30 s for a browser that hangs.

    Parameters
    ----------
    playwright : a running Playwright.
    explicit : see `first_that_starts`.

    Raises
    ------
    BrowserNotFoundError : there is no usable browser.
    """

    async def verify(location: Location) -> Browser:
        browser, product = await _launch(playwright, location, ())
        await _close(browser)
        return identified(location, product)

    return await first_that_starts(verify, _shell(playwright), explicit)


def browser_in_use(explicit: str | None = None) -> Browser:
    """Return the browser that would be used for rendering; see `find_browser`. Call it outside of an event loop."""
    from playwright.async_api import async_playwright

    async def find() -> Browser:
        async with async_playwright() as playwright:
            return await find_browser(playwright, explicit)

    return asyncio.run(find())


def _shell(playwright: "Playwright") -> Location | str:
    """Return Playwright's headless shell, or why it cannot be started.

    Playwright knows only the path of its full build. It must not try to start a missing shell, because it leaves
    temporary folders behind when that fails.
    """
    shell = Location(channel="chromium-headless-shell")
    for folder in Path(playwright.chromium.executable_path).parents:
        if folder.name.startswith("chromium-"):
            return shell if any(folder.parent.glob("chromium_headless_shell-*")) else "not installed"
    return shell


async def _launch(
    playwright: "Playwright", location: Location, flags: Sequence[str]
) -> "tuple[PlaywrightBrowser, str]":
    """Return a browser and its product string; a browser that does not respond is closed."""
    options = launch_options(location)
    options["args"] += flags
    try:
        browser = await playwright.chromium.launch(**options)
    except _error() as error:
        raise _explained(str(error)) from error
    except TimeoutError as error:
        raise LaunchError(SILENT) from error
    try:
        async with asyncio.timeout(ANSWER_LIMIT_S):
            session = await browser.new_browser_cdp_session()
            answer = await session.send("Browser.getVersion")
    except (_error(), TimeoutError) as error:
        await _close(browser)
        raise LaunchError(SILENT) from error
    return browser, answer["product"]


async def _close(browser: "PlaywrightBrowser") -> None:
    with contextlib.suppress(_error(), TimeoutError):
        async with asyncio.timeout(ANSWER_LIMIT_S):
            await browser.close()


def _explained(text: str) -> LaunchError:
    """Return the error of a failed launch: Playwright's message, the last lines of the browser, and a hint."""
    sentence = text.partition("\n")[0].removeprefix("BrowserType.launch: ")
    if ended := re.search(r"process did exit: exitCode=(\w+), signal=(\w+)", text):
        code, killed_by = ended.groups()
        sentence = f"it ended at once ({f'exit code {code}' if code != 'null' else killed_by})"
    # Playwright repeats the log, hence the dictionary.
    words = list(dict.fromkeys(re.findall(r"\[err\] (.+)", text)))[-3:]
    return LaunchError(sentence, words, text)


def _error() -> type[Exception]:
    """Return the class of Playwright's errors."""
    from playwright.async_api import Error

    return Error
