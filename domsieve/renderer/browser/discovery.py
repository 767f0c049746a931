"""Find a Chrome that works, and say how it is started.

The order is: the one asked for (argument, then ``DOMSIEVE_BROWSER``); Playwright's own headless shell; a
headless shell on PATH; a full Chrome, Chromium or Edge on PATH; Google Chrome where its installer puts it.
Headless shells come first because a page costs them about a third of the processor time. A candidate counts
only after it was started and has told its version. One that was asked for is never passed over.

Imports Playwright and, of the project, only ``snapshot``.
"""

import asyncio
import logging
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright, async_playwright

from domsieve.errors import BrowserNotFoundError

BROWSER_VARIABLE = "DOMSIEVE_BROWSER"

_SHELL_NAMES = ("chromium-headless-shell", "chrome-headless-shell", "headless_shell")
_FULL_NAMES = ("google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "microsoft-edge")

# A first start from a cold disk took 1.3 s on a busy machine.
_LAUNCH_LIMIT_MS = 20_000.0
_ANSWER_LIMIT_S = 10.0

# Playwright itself turns off background networking, component updates, sync and extensions.
_ARGUMENTS = (
    # All frames of a page in one process, so that one DOM snapshot sees them: else the full build lacks all
    # cross-origin and sandboxed frames, the headless shell those sent with Origin-Agent-Cluster. The price is
    # a security boundary: contexts must not be shared between sites. Not by --disable-features, which would
    # replace Playwright's own list.
    "--disable-site-isolation-trials",
    # When it starts, the full build asks Google for component updates and accounts, in spite of all that
    # Playwright turns off. Chrome refuses to connect to port 9 at all.
    "--component-updater=url-source=http://127.0.0.1:9/",
    "--gaia-url=http://127.0.0.1:9/",
)

# What Playwright gives of itself and must not: without this protection of Chrome's, one page that goes through its
# history without end holds up the browser's process and with it all other pages, for 20 s and more.
_UNWANTED = ("--disable-ipc-flooding-protection",)

# The environment of an installed application is not on PATH, its Python is known.
_PLAYWRIGHT = f"{sys.executable} -m playwright"
_ADD_LIBRARIES = (
    f"libraries of the system are missing: as root, {_PLAYWRIGHT} install-deps chromium-headless-shell"
)

# What a browser that does not start says, and what helps. The first that matches counts.
_HINTS = (
    (
        "Running as root without --no-sandbox",
        "Chrome's sandbox does not work for root: run domsieve as an ordinary user",
    ),
    (
        "sandboxing failed",
        "the system does not let Chrome build its sandbox: allow unprivileged user namespaces (on Ubuntu "
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0, in a container a fitting seccomp profile) "
        "or install Chrome's own helper (Debian: apt-get install chromium-sandbox)",
    ),
    ("error while loading shared libraries", _ADD_LIBRARIES),
    ("missing dependencies", _ADD_LIBRARIES),
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where a browser is: exactly one of the two is given.

    Parameters
    ----------
    executable : path of the program.
    channel : Playwright's name for a browser that it knows where to look for.
    """

    executable: Path | None = None
    channel: str | None = None

    def __str__(self) -> str:
        return str(self.executable or self.channel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Browser(Location):
    """A browser that has started here and told what it is.

    Parameters
    ----------
    product : its name for itself, such as ``"HeadlessChrome"``, ``"Chrome"`` or ``"Edg"``.
    version : such as ``"156.0.8078.79"``.
    build : the two builds round text widths differently, so their boxes differ too.
    """

    product: str
    version: str
    build: Literal["headless-shell", "full"]

    def __str__(self) -> str:
        return f"{self.product} {self.version} ({self.build}, {Location.__str__(self)})"


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
    """Return how the browser at `location` is started, both to verify it and to render with it.

    Chrome's sandbox is on unless the effective user is root, for whom Chrome refuses it.
    """
    return LaunchOptions(
        executable_path=location.executable,
        channel=location.channel,
        headless=True,
        chromium_sandbox=os.geteuid() != 0,
        args=list(_ARGUMENTS),
        ignore_default_args=list(_UNWANTED),
        timeout=_LAUNCH_LIMIT_MS,
    )


def guarded(proxy: str) -> list[str]:
    """Return the flags that leave a browser no way to the network but the proxy at the address `proxy`."""
    return [
        f"--proxy-server={proxy}",
        # Chrome goes around a proxy to loopback and link-local addresses unless told otherwise.
        "--proxy-bypass-list=<-loopback>",
        # WebRTC goes around any proxy. The headless shell obeys only the first, the full build the second.
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        # Names are resolved at the proxy. Whatever Chrome would ask for itself (hints for its cache, STUN
        # servers) tells the world what is being rendered.
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        "--dns-prefetch-disable",
        "--disable-quic",
    ]


async def find_browser(playwright: Playwright, explicit: str | None = None) -> Browser:
    """Return the first browser that starts, in the order the module gives.

    Starting, asking and closing one takes about 0.15 s; a candidate that hangs takes up to 30 s.

    Parameters
    ----------
    playwright : a running Playwright.
    explicit : path or name of the only browser to try; by default ``DOMSIEVE_BROWSER`` says, if it is set.

    Raises
    ------
    BrowserNotFoundError
        None starts, or the one that was asked for does not; the message has each reason and what to do.
    """
    asked = explicit or os.environ.get(BROWSER_VARIABLE)
    browser = await (_asked_for(playwright, asked) if asked else _first_that_starts(playwright))
    if not launch_options(browser)["chromium_sandbox"]:
        logger.warning("Chrome runs without its sandbox, because it has none for root; use an ordinary user.")
    return browser


def browser_in_use(explicit: str | None = None) -> Browser:
    """Return the browser that renderings would run in, found as by `find_browser`; for use outside of a loop."""

    async def find() -> Browser:
        async with async_playwright() as playwright:
            return await find_browser(playwright, explicit)

    return asyncio.run(find())


async def _asked_for(playwright: Playwright, asked: str) -> Browser:
    executable = shutil.which(asked)
    reason = "no executable file of that name"
    if executable:
        try:
            return await _verify(playwright, Location(executable=Path(executable)))
        except (PlaywrightError, TimeoutError) as error:
            reason = _reason(error)
    raise BrowserNotFoundError(
        f"The browser that was asked for, {asked}, cannot be used: {reason.rstrip('.')}.\n"
        f"Name a Chrome or Chromium that starts, or none (unset {BROWSER_VARIABLE}) to have one looked for."
    )


async def _first_that_starts(playwright: Playwright) -> Browser:
    tried = []
    for name, location in _candidates(Path(playwright.chromium.executable_path)):
        if isinstance(location, str):
            tried.append(f"{name}: {location}")
            continue
        try:
            return await _verify(playwright, location)
        except (PlaywrightError, TimeoutError) as error:
            tried.append(f"{name}: {_reason(error)}")
    raise BrowserNotFoundError(
        "No usable Chromium found. Tried:\n" + "".join(f"  - {line}\n" for line in tried) + "Fix one of:\n"
        f"  (1) {_PLAYWRIGHT} install --only-shell chromium\n"
        "  (2) apt-get install chromium-headless-shell (Debian, as root)\n"
        f"  (3) set {BROWSER_VARIABLE}=/path/to/chrome"
    )


def _candidates(full_build: Path) -> Iterator[tuple[str, Location | str]]:
    """Yield what may be started, or why it cannot be."""
    shell = Location(channel="chromium-headless-shell")
    yield "Playwright's headless shell", shell if _may_have_shell(full_build) else "not installed"
    for name in (*_SHELL_NAMES, *_FULL_NAMES):
        found = shutil.which(name)
        yield name, Location(executable=Path(found)) if found else "not on PATH"
    yield "Google Chrome", Location(channel="chrome")


def _may_have_shell(full_build: Path) -> bool:
    """Return whether Playwright's headless shell may be installed; it tells the path of its full build only.

    Without one it must not be asked to start it, since it leaves temporary folders behind when it fails.
    """
    for folder in full_build.parents:
        if folder.name.startswith("chromium-"):
            return any(folder.parent.glob("chromium_headless_shell-*"))
    return True


async def _verify(playwright: Playwright, location: Location) -> Browser:
    running = await playwright.chromium.launch(**launch_options(location))
    try:
        async with asyncio.timeout(_ANSWER_LIMIT_S):
            session = await running.new_browser_cdp_session()
            answer = await session.send("Browser.getVersion")
    finally:
        async with asyncio.timeout(_ANSWER_LIMIT_S):
            await running.close()
    product, _, version = answer["product"].partition("/")
    return Browser(
        executable=location.executable,
        channel=location.channel,
        product=product,
        version=version,
        build="headless-shell" if product.startswith("Headless") else "full",
    )


def _reason(error: Exception) -> str:
    """Return why a launch failed, line by line: Playwright's sentence, the browser's last words, a hint."""
    text = str(error)
    if not isinstance(error, PlaywrightError):
        return "it started but did not answer"
    sentence = text.partition("\n")[0].removeprefix("BrowserType.launch: ")
    if ended := re.search(r"process did exit: exitCode=(\w+), signal=(\w+)", text):
        code, killed_by = ended.groups()
        sentence = f"it ended at once ({f'exit code {code}' if code != 'null' else killed_by})"
    # Playwright repeats the log, hence the dictionary.
    words = list(dict.fromkeys(re.findall(r"\[err\] (.+)", text)))[-3:]
    lines = [sentence, *(f"it said: {line}" for line in words)]
    lines += [f"hint: {hint}" for mark, hint in _HINTS if mark in text][:1]
    return "\n      ".join(lines)
