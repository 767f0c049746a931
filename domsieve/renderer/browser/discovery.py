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
    # All frames of a page run in one process, so that one DOM snapshot contains them. Otherwise the full build omits
    # all cross-origin and sandboxed frames, and the headless shell those sent with Origin-Agent-Cluster. This gives
    # up a security boundary, so contexts must not be shared between sites. --disable-features would replace
    # Playwright's list.
    "--disable-site-isolation-trials",
    # When it starts, the full build asks Google for component updates and accounts, although Playwright turns off
    # much. Chrome never connects to port 9.
    "--component-updater=url-source=http://127.0.0.1:9/",
    "--gaia-url=http://127.0.0.1:9/",
    # Pictures show a page as its main thread has it. Otherwise an animation that we hold may go on in the compositor
    # of a busy browser, and large pictures may be left out until they are decoded.
    "--disable-threaded-animation",
    "--disable-checker-imaging",
)

# A flag of Playwright that we remove. It turns off a protection of Chrome, without which a page that navigates
# through its history in a loop blocks the browser process, and so all other pages, for 20 s and more.
UNWANTED = ("--disable-ipc-flooding-protection",)

NO_IMAGES = "--blink-settings=imagesEnabled=false"

# Flags of Playwright that matter here, for browsers that we start ourselves; without those for Edge, Windows, Android
# and visible windows.
OWN = (
    "--headless",
    # Pages look the same on all machines.
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
    "--mute-audio",
    # Pages run as if they were in the foreground.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    # No dialogs and no reports. We end pages that hang.
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--disable-popup-blocking",
    "--password-store=basic",
    "--use-mock-keychain",
    # Nothing is kept of a page after it is left.
    "--disable-back-forward-cache",
    # Chrome sends no requests of its own, and takes part in no field trials.
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
    # /dev/shm of containers is too small, which crashes pages; use files instead.
    "--disable-dev-shm-usage",
    # Canvas and WebGL without a graphics processor.
    "--enable-unsafe-swiftshader",
    "--disable-features="
    # URLs with http are not upgraded to https.
    "HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,"
    # Frames of other origins have their cookies and storage.
    "ThirdPartyStoragePartitioning,"
    # Pages are painted at once after a navigation; profiles are removed with their contexts.
    "PaintHolding,DestroyProfileOnBrowserClose,AvoidUnnecessaryBeforeUnloadCheckSync,"
    # We respond to requests of a source that is shown without scripts; the responses may redirect.
    "AvoidCorsURLLoaderRestartOnRedirect,"
    # Each of these sends requests to the network or the local network.
    "MediaRouter,OptimizationHints,NetworkTimeServiceQuerying,PreconnectToSearch,AimEnabled,LensOverlay",
    "--enable-features=CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies",
    "--allow-pre-commit-input",
    "--no-startup-window",
    "--remote-debugging-pipe",
)


def guarded(proxy: str) -> list[str]:
    """Return the flags that make a browser reach the network only through a proxy."""
    return [
        f"--proxy-server={proxy}",
        # By default, Chrome bypasses proxies for loopback and link-local addresses.
        "--proxy-bypass-list=<-loopback>",
        # WebRTC bypasses proxies. The headless shell obeys only the first flag, the full build only the second.
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        # The proxy resolves names. Lookups by Chrome itself (prefetch hints, STUN servers) would reveal which pages
        # are rendered.
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

# The environment of an installed application is not on PATH, so use the path of its Python.
_PLAYWRIGHT = f"{sys.executable} -m playwright"
_ADD_LIBRARIES = (
    f"libraries of the system are missing: as root, {_PLAYWRIGHT} install-deps chromium-headless-shell"
)

# Output of browsers that do not start, and what helps. The first match counts.
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
    """Where a browser is; exactly one parameter is given.

    Parameters
    ----------
    executable : path of the program.
    channel : Playwright's name for a browser whose path it knows.
    """

    executable: Path | None = None
    channel: str | None = None

    def __str__(self) -> str:
        return str(self.executable or self.channel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Browser(Location):
    """A browser that was started here and identified itself.

    Parameters
    ----------
    product : its name, such as ``"HeadlessChrome"``, ``"Chrome"`` or ``"Edg"``.
    version : its version, such as ``"156.0.8078.79"``.
    build : the headless shell or the full build; they round text widths differently, so their boxes differ.
    """

    product: str
    version: str
    build: Literal["headless-shell", "full"]

    def __str__(self) -> str:
        return f"{self.product} {self.version} ({self.build}, {Location.__str__(self)})"


class LaunchError(Exception):
    """A browser did not start, or does not respond.

    Parameters
    ----------
    sentence : the reason.
    said : the last lines of its output.
    log : everything known, to search for hints.
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
    """Try browsers in a fixed order, and return the result of `start` for the first one that starts.

    Parameters
    ----------
    start : starts a browser, or raises a `LaunchError`, within 30 s.
    shell : Playwright's own headless shell, or why it cannot be started.
    explicit : path or name of the only browser to try; None means that in ``DOMSIEVE_BROWSER``, if it is set.

    Raises
    ------
    BrowserNotFoundError
        No browser starts, or the requested one does not. The message has the reasons and what to do.
    """
    asked = explicit or os.environ.get(BROWSER_VARIABLE)
    started = await (_named(start, asked) if asked else _first_of_all(start, shell))
    if not has_sandbox():
        logger.warning("Chrome runs without its sandbox, because you are root; use an ordinary user.")
    return started


def has_sandbox() -> bool:
    """Return whether Chrome uses its sandbox; it refuses to do so for root."""
    return os.geteuid() != 0


def identified(location: Location, product: str) -> Browser:
    """Return the browser at `location` with the product string ``"HeadlessChrome/156.0.8078.79"`` or similar."""
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
    """Yield the browsers to try, in order, or why one cannot be started."""
    yield "Playwright's headless shell", shell
    for name in (*_SHELL_NAMES, *FULL_NAMES):
        found = shutil.which(name)
        yield name, Location(executable=Path(found)) if found else "not on PATH"
    yield "Google Chrome", Location(channel="chrome")
