"""Open contexts and pages and apply the options to them.

Cookies, storage and downloads are settings of a context; viewport, locale and the like are settings of a page.
"""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from domsieve.errors import UsageError
from domsieve.options import CaptureOptions
from domsieve.renderer.browser.connection import CommandError, Connection, Params, Session
from domsieve.renderer.browser.tab import BLANK, Tab, blank_is_there

_GUARD = Path(__file__).with_name("guard.js").read_text("utf-8")
# A headless browser has no default fonts, so pages that name no font would look unusual.
_FONTS = {
    "linux": ("Times New Roman", "Monospace", "Times New Roman", "Arial", "Comic Sans MS", "Impact"),
    "darwin": ("Times", "Courier", "Times", "Helvetica", "Apple Chancery", "Papyrus"),
    "win32": ("Times New Roman", "Consolas", "Times New Roman", "Arial", "Comic Sans MS", "Impact"),
}
_FAMILIES = ("standard", "fixed", "serif", "sansSerif", "cursive", "fantasy")
_MEDIA = {
    "prefers-color-scheme": "light",
    "prefers-reduced-motion": "no-preference",
    "forced-colors": "none",
    "prefers-contrast": "no-preference",
}
# The operating system in a User-Agent header of the user.
_ANDROID = re.compile(r"Android (\d+(?:\.\d+){0,2})")
_IOS = re.compile(r"(?:iPhone|iPad; CPU) OS (\d+(?:_\d+){0,2})")
_MACOS = re.compile(r"Mac OS X (\d+(?:_\d+){0,2})")
_WINDOWS = re.compile(r"Windows NT (\d+(?:\.\d+){0,2})")


async def open_context(connection: Connection, options: CaptureOptions, proxy: str) -> str:
    """Open a temporary context and return its ID; it is closed with the connection at the latest.

    Parameters
    ----------
    proxy : address of the proxy for all its traffic; the browser was started with it, too.

    Raises
    ------
    UsageError : the storage-state file has wrong content, or the browser refuses it.
    CommandError : the browser does not open a context.
    """
    root = connection.root
    state = storage_state(options)
    answer = await root.send(
        "Target.createBrowserContext",
        {"disposeOnDetach": True, "proxyServer": proxy, "proxyBypassList": "<-loopback>"},
    )
    context_id: str = answer["browserContextId"]
    await root.send("Browser.setDownloadBehavior", {"behavior": "deny", "browserContextId": context_id})
    async with _blaming(connection, f"what is in {options.storage_state}"):
        if cookies := state.get("cookies"):
            await root.send("Storage.setCookies", {"cookies": cookies, "browserContextId": context_id})
        if origins := state.get("origins"):
            await _fill_storage(connection, context_id, origins)
    return context_id


async def set_cookies(
    connection: Connection, context_id: str, url: str, cookies: tuple[tuple[str, str], ...]
) -> None:
    """Set cookies of a context for the address of a page.

    Raises
    ------
    UsageError : the browser refuses them.
    CommandError : the browser is gone.
    """
    parts = urlsplit(url)
    place = {
        "url": url,
        "domain": parts.hostname or "",
        "path": parts.path.rpartition("/")[0] + "/",
        "secure": parts.scheme == "https",
    }
    given = [{"name": name, "value": value, **place} for name, value in cookies]
    async with _blaming(connection, "a cookie of the options"):
        await connection.root.send("Storage.setCookies", {"cookies": given, "browserContextId": context_id})


async def create_page(connection: Connection, context_id: str, options: CaptureOptions) -> str:
    """Open an empty page and return its target ID."""
    width, height = options.viewport_px
    answer = await connection.root.send(
        "Target.createTarget",
        {"url": BLANK, "browserContextId": context_id, "width": width, "height": height},
    )
    target_id: str = answer["targetId"]
    return target_id


async def prepare_page(connection: Connection, target_id: str, options: CaptureOptions) -> Tab:
    """Prepare an empty page for navigation and return its tab.

    Raises
    ------
    CommandError : the page is gone.
    """
    session = await connection.attach(target_id)
    tab = Tab(session, target_id)
    # Sent without waiting, because the browser processes them in order.
    await asyncio.gather(
        _empty(session), *(session.send(method, params) for method, params in _looks(options))
    )
    return tab


def _looks(options: CaptureOptions) -> list[tuple[str, Params]]:
    """Return the commands that apply the options to a page."""
    width, height = options.viewport_px
    commands: list[tuple[str, Params]] = [
        ("Inspector.enable", {}),
        ("Network.enable", {}),
        ("Network.setBypassServiceWorker", {"bypass": True}),
        ("Page.addScriptToEvaluateOnNewDocument", {"source": _GUARD}),
        ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
        (
            "Emulation.setEmulatedMedia",
            {"media": "", "features": [{"name": name, "value": value} for name, value in _MEDIA.items()]},
        ),
        (
            "Emulation.setDeviceMetricsOverride",
            {
                "mobile": False,
                "width": width,
                "height": height,
                "screenWidth": width,
                "screenHeight": height,
                "deviceScaleFactor": 1,
                "screenOrientation": {"angle": 0, "type": "landscapePrimary"},
            },
        ),
    ]
    if sys.platform in _FONTS:
        families = dict(zip(_FAMILIES, _FONTS[sys.platform], strict=True))
        commands.append(("Page.setFontFamilies", {"fontFamilies": families}))
    if options.headers:
        commands.append(("Network.setExtraHTTPHeaders", {"headers": dict(options.headers)}))
    if options.user_agent or options.locale:
        commands.append(("Emulation.setUserAgentOverride", _user_agent(options)))
    if options.locale:
        commands.append(("Emulation.setLocaleOverride", {"locale": options.locale}))
    return commands


def _user_agent(options: CaptureOptions) -> Params:
    agent = options.user_agent or ""
    override: Params = {"userAgent": agent}
    if options.locale:
        override["acceptLanguage"] = options.locale
    if agent:
        system, version = _system(agent)
        is_mobile_chip = (
            system in {"Android", "iOS"} or "ARM" in agent or (system == "macOS" and "Intel" not in agent)
        )
        override["userAgentMetadata"] = {
            "platform": system,
            "platformVersion": version,
            "architecture": "arm" if is_mobile_chip else "x86",
            "model": "",
            "mobile": False,
        }
    return override


def _system(agent: str) -> tuple[str, str]:
    """Return name and version of the operating system in a User-Agent header; the first match counts."""
    named = {
        "Android": _ANDROID.search(agent),
        "iOS": _IOS.search(agent),
        "macOS": _MACOS.search(agent),
        "Windows": _WINDOWS.search(agent),
    }
    for system, found in named.items():
        if found:
            return system, found[1]
    return ("Linux" if "linux" in agent.lower() else "Windows"), ""


async def _empty(session: Session) -> None:
    """Wait for the empty document that every new page loads first."""
    await session.send("Page.enable")
    await blank_is_there(session)


def storage_state(options: CaptureOptions) -> Mapping[str, Any]:
    """Return the cookies and origins of the storage-state file of the options; empty without a file.

    Cookies are as the browser takes them; each origin is a pair of its name and its items.

    Raises
    ------
    UsageError : the file cannot be read, or is not a storage-state file.
    """
    if not options.storage_state:
        return {}
    try:
        state = msgspec.json.decode(Path(options.storage_state).read_bytes(), type=_StorageState)
    except OSError as error:
        raise UsageError(
            f"The storage-state file {options.storage_state} cannot be read: {error.strerror}."
        ) from error
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise UsageError(f"{options.storage_state} is not a storage-state file: {why}.") from error
    return {
        "cookies": [_cookie(cookie) for cookie in state.cookies],
        "origins": [
            (entry.origin, [(item.name, item.value) for item in entry.localStorage])
            for entry in state.origins
        ],
    }


class _Cookie(msgspec.Struct, omit_defaults=True):
    name: str
    value: str
    domain: str
    path: str = "/"
    expires: float = -1.0
    httpOnly: bool = False  # noqa: N815 (a name of the format)
    secure: bool = False
    sameSite: Literal["Strict", "Lax", "None"] | None = None  # noqa: N815


class _Item(msgspec.Struct):
    name: str
    value: str


class _Origin(msgspec.Struct):
    origin: str
    localStorage: list[_Item] = []  # noqa: N815


class _StorageState(msgspec.Struct):
    cookies: list[_Cookie] = []
    origins: list[_Origin] = []


def _cookie(cookie: _Cookie) -> Params:
    """Return a cookie as the browser takes it; one that expires with the session has no time."""
    return {"path": cookie.path, **msgspec.to_builtins(cookie)}


@asynccontextmanager
async def _blaming(connection: Connection, what: str) -> AsyncIterator[None]:
    """Raise `UsageError` about `what` if the browser refuses a command of this block and still runs."""
    try:
        yield
    except CommandError as error:
        await connection.root.send("Browser.getVersion")  # fails if the browser is gone
        raise UsageError(f"The browser refuses {what}: {error.message}.") from error


async def _fill_storage(
    connection: Connection, context_id: str, origins: list[tuple[str, list[tuple[str, str]]]]
) -> None:
    """Put items into the local storage of origins, without any request to a server."""
    answer = await connection.root.send("Target.createTarget", {"url": BLANK, "browserContextId": context_id})
    session = await connection.attach(answer["targetId"])
    answers: set[asyncio.Task[None]] = set()

    async def answer_request(event: Params) -> None:
        body = {"responseCode": 200, "responseHeaders": [{"name": "Content-Type", "value": "text/html"}]}
        await session.send("Fetch.fulfillRequest", {"requestId": event["requestId"], **body})

    def pause(event: Params) -> None:
        task = asyncio.create_task(answer_request(event))
        answers.add(task)
        task.add_done_callback(answers.discard)

    session.on("Fetch.requestPaused", pause)
    await _empty(session)
    await session.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
    for origin, items in origins:
        arrived = asyncio.Event()

        def load(_: Params, arrived: asyncio.Event = arrived) -> None:
            arrived.set()

        session.on("Page.loadEventFired", load)
        fault = (await session.send("Page.navigate", {"url": origin})).get("errorText")
        if fault:
            raise CommandError(f"{origin}: {fault}")
        await arrived.wait()
        session.off("Page.loadEventFired", load)
        lines = "".join(
            f"localStorage.setItem({json.dumps(name)}, {json.dumps(value)});" for name, value in items
        )
        await session.send("Runtime.evaluate", {"expression": lines})
    await connection.root.send("Target.closeTarget", {"targetId": answer["targetId"]})
