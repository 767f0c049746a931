"""Find a working Chrome, and the flags to start it with."""

import logging
import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from domsieve.errors import BrowserNotFoundError

# Playwright itself turns off background networking, component updates, sync and extensions.
ARGUMENTS = (
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
UNWANTED = ("--disable-ipc-flooding-protection",)

NO_IMAGES = "--blink-settings=imagesEnabled=false"

# What Playwright gives besides and what matters here, for a browser that we start ourselves. Left out are its flags
# for Edge, Windows and Android, and for windows that somebody looks at.
OWN = (
    "--headless",
    # One look for all machines.
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
    "--mute-audio",
    # Pages run as if they were looked at, however many are open.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    # No page waits for somebody, or tells of itself. A page that hangs is ended by us.
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--disable-popup-blocking",
    "--password-store=basic",
    "--use-mock-keychain",
    # Nothing of a page is kept when it is left.
    "--disable-back-forward-cache",
    # Chrome asks nobody for anything of its own, and changes nothing of itself by trials.
    "--disable-field-trial-config",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--disable-breakpad",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-service-autorun",
    "--disable-search-engine-choice-screen",
    # /dev/shm of containers is small: what is drawn lies in files instead, else pages crash.
    "--disable-dev-shm-usage",
    # Pictures that a page draws itself, where there is no graphics processor.
    "--enable-unsafe-swiftshader",
    "--disable-features="
    # An address with http stays one, and no list of hosts changes it.
    "HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,"
    # Frames of other origins find their cookies and storage as before.
    "ThirdPartyStoragePartitioning,"
    # Pages are drawn at once when another takes their place; a profile outlives its context no longer than it.
    "PaintHolding,DestroyProfileOnBrowserClose,AvoidUnnecessaryBeforeUnloadCheckSync,"
    # Requests of a source that is shown without scripts are answered by us, and may then be redirected.
    "AvoidCorsURLLoaderRestartOnRedirect,"
    # Each of these asks the network, or the machine's, for something.
    "MediaRouter,OptimizationHints,NetworkTimeServiceQuerying,PreconnectToSearch,AimEnabled,LensOverlay",
    "--enable-features=CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies",
    "--allow-pre-commit-input",
    "--no-startup-window",
    "--remote-debugging-pipe",
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


T = TypeVar("T")

BROWSER_VARIABLE = "DOMSIEVE_BROWSER"

_SHELL_NAMES = ("chromium-headless-shell", "chrome-headless-shell", "headless_shell")
FULL_NAMES = ("google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "microsoft-edge")

# A first start from a cold disk took 1.3 s on a busy machine.
LAUNCH_LIMIT_S = 20.0
ANSWER_LIMIT_S = 10.0

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


class LaunchError(Exception):
    """A browser did not start, or started and did not answer.

    Parameters
    ----------
    sentence : why.
    said : its last lines.
    log : all that is known, in which hints are looked for.
    """

    def __init__(self, sentence: str, said: Sequence[str] = (), log: str = "") -> None:
        super().__init__(sentence)
        lines = [sentence, *(f"it said: {line}" for line in said)]
        lines += [f"hint: {hint}" for mark, hint in _HINTS if mark in log][:1]
        self.reason = "\n      ".join(lines)


SILENT = "it started but did not answer"


async def first_that_starts(
    start: Callable[[Location], Awaitable[T]], shell: Location | str, explicit: str | None = None
) -> T:
    """Return what `start` makes of the first browser that starts, in the order the module gives.

    Parameters
    ----------
    start : starts a browser, or raises a `LaunchError`; 30 s are enough for it.
    shell : Playwright's own headless shell, or why it cannot be started.
    explicit : path or name of the only browser to try; by default ``DOMSIEVE_BROWSER`` says, if it is set.

    Raises
    ------
    BrowserNotFoundError
        None starts, or the one that was asked for does not; the message has each reason and what to do.
    """
    asked = explicit or os.environ.get(BROWSER_VARIABLE)
    started = await (_named(start, asked) if asked else _first_of_all(start, shell))
    if not has_sandbox():
        logger.warning("Chrome runs without its sandbox, because you are root; use an ordinary user.")
    return started


def has_sandbox() -> bool:
    """Return whether Chrome's sandbox is on; it is off for root, for whom Chrome refuses it."""
    return os.geteuid() != 0


def identified(location: Location, product: str) -> Browser:
    """Return the browser at `location`, which calls itself `product`, such as ``"HeadlessChrome/156.0.8078.79"``."""
    name, _, version = product.partition("/")
    logger.debug("browser: %s (%s)", product, location.executable)
    return Browser(
        executable=location.executable,
        channel=location.channel,
        product=name,
        version=version,
        build="headless-shell" if name.startswith("Headless") else "full",
    )


async def _named(start: Callable[[Location], Awaitable[T]], name: str) -> T:
    executable = shutil.which(name)
    reason = "no executable file of that name"
    if executable:
        try:
            return await start(Location(executable=Path(executable)))
        except LaunchError as error:
            reason = error.reason
    raise BrowserNotFoundError(
        f"The browser {name} cannot be used: {reason.rstrip('.')}.\n"
        f"Choose a Chrome or Chromium that starts, or unset {BROWSER_VARIABLE} so that domsieve looks for one."
    )


async def _first_of_all(start: Callable[[Location], Awaitable[T]], shell: Location | str) -> T:
    tried = []
    for name, location in _candidates(shell):
        if isinstance(location, str):
            tried.append(f"{name}: {location}")
            continue
        try:
            return await start(location)
        except LaunchError as error:
            tried.append(f"{name}: {error.reason}")
    raise BrowserNotFoundError(
        "No usable Chromium found. Tried:\n" + "".join(f"  - {line}\n" for line in tried) + "Fix one of:\n"
        f"  (1) {_PLAYWRIGHT} install --only-shell chromium\n"
        "  (2) apt-get install chromium-headless-shell (Debian, as root)\n"
        f"  (3) set {BROWSER_VARIABLE}=/path/to/chrome"
    )


def _candidates(shell: Location | str) -> Iterator[tuple[str, Location | str]]:
    """Yield what may be started, or why it cannot be."""
    yield "Playwright's headless shell", shell
    for name in (*_SHELL_NAMES, *FULL_NAMES):
        found = shutil.which(name)
        yield name, Location(executable=Path(found)) if found else "not on PATH"
    yield "Google Chrome", Location(channel="chrome")
