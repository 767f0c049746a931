"""The driver without Playwright: talk to Chrome over two pipes.

Chrome reads commands from file descriptor 3 and writes responses and events to 4, as JSON texts that end with NUL.
All targets share the pipes (flat sessions). When the pipe is closed, which happens however this process ends, Chrome
exits.
"""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import msgspec

from domsieve.renderer.browser import _process as process
from domsieve.renderer.browser._process import BrowserProcess
from domsieve.renderer.browser.connection import (
    CommandError,
    Connection,
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
    OWN,
    SILENT,
    Browser,
    LaunchError,
    Location,
    first_that_starts,
    has_sandbox,
    identified,
)

_CLOSE_LIMIT_S = 3.0
_SHELLS = ("chrome-*/headless_shell*", "chrome-headless-shell-*/chrome-headless-shell*")
# The paths where Google Chrome is installed.
_CHROMES = ("/opt/google/chrome/chrome", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


class _PipeSession(MessageSession):
    """One of the sessions that share the pipe."""

    def __init__(self, connection: "PipeConnection", session_id: str = "") -> None:
        super().__init__(session_id)
        self._connection = connection

    async def write(self, message: Params) -> None:
        """Send a message without waiting."""
        if self.session_id:
            message["sessionId"] = self.session_id
        self._connection.write(message)


class PipeConnection(Connection, asyncio.Protocol):
    """A browser that we started."""

    driver = "pipe"
    is_flat = True

    def __init__(self, process: BrowserProcess) -> None:
        self.process = process
        self.pid = process.pid
        self.root: _PipeSession = _PipeSession(self)
        self._sessions = {"": self.root}
        self._begun: list[bytes] = []
        self._to: asyncio.WriteTransport | None = None
        self._from: asyncio.BaseTransport | None = None
        self.root.on("Target.detachedFromTarget", self._detach)

    async def open(self) -> None:
        """Connect to our ends of the pipes."""
        loop = asyncio.get_running_loop()
        self._to, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, self.process.to_browser)
        self._from, _ = await loop.connect_read_pipe(lambda: self, self.process.from_browser)

    def write(self, message: Params) -> None:
        """Send a message to the browser.

        Raises
        ------
        CommandError : it is gone.
        """
        if self._to is None or self._to.is_closing():
            raise CommandError("the browser is gone.")
        self._to.write(json.dumps(message).encode() + b"\0")

    async def attach(self, target_id: str) -> Session:
        """Open a new session with a page; see `Connection.attach`."""
        attached = await self.root.send("Target.attachToTarget", {"targetId": target_id, "flatten": True})
        return self._child(self.root, attached["sessionId"])

    def _child(self, parent: Session, session_id: str) -> Session:  # noqa: ARG002
        session = self._sessions[session_id] = _PipeSession(self, session_id)
        return session

    async def close(self) -> None:
        """Close the browser and all processes that it started."""
        if self.is_open:
            with contextlib.suppress(CommandError, TimeoutError):
                async with asyncio.timeout(_CLOSE_LIMIT_S):
                    await self.root.send("Browser.close")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_LIMIT_S):
                    await self.process.ended.wait()
        await self.process.end()
        for transport in (self._to, self._from):
            if transport:
                transport.close()
        self._lose()

    def data_received(self, data: bytes) -> None:
        """Handle the output of the browser."""
        *whole, rest = data.split(b"\0")
        for text in whole:
            self._begun.append(text)
            message = decode(b"".join(self._begun), Message)
            self._begun.clear()
            if session := self._sessions.get(message.session_id):
                session.receive(message)
        if rest:
            self._begun.append(rest)

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        """Handle the end of the browser."""
        self._lose()

    def _carry(self, event: Params) -> None:
        """Do nothing, because sessions are flat."""

    def _detach(self, event: Params) -> None:
        if session := self._sessions.pop(event["sessionId"], None):
            session.lose()

    def _lose(self) -> None:
        sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            session.lose()


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

    async def connect(location: Location) -> tuple[Connection, Browser]:
        return await _launch(location, flags)

    return await (connect(known) if known else first_that_starts(connect, _shell(), explicit))


async def _launch(location: Location, flags: Sequence[str]) -> tuple[Connection, Browser]:
    program = location.executable or _program(location.channel or "")
    if program is None:
        raise LaunchError("not installed")
    sandbox = () if has_sandbox() else ("--no-sandbox",)
    try:
        started = process.start_process(str(program), [*OWN, *sandbox, *ARGUMENTS, *flags])
    except OSError as error:
        raise LaunchError(f"it does not start: {error.strerror}") from error
    connection = PipeConnection(started)
    try:
        await connection.open()
        async with asyncio.timeout(LAUNCH_LIMIT_S):
            answer = await connection.root.send("Browser.getVersion")
        async with asyncio.timeout(ANSWER_LIMIT_S):
            connection.pid = await browser_pid(connection.root)
    except (CommandError, TimeoutError) as error:
        await connection.close()
        if not isinstance(error, CommandError):
            raise LaunchError(SILENT) from error
        raise LaunchError(
            f"it ended at once ({started.how})", started.last_words(), "\n".join(started.last_words())
        ) from error
    except BaseException:
        await connection.close()
        raise
    return connection, identified(location, answer["product"])


def _shell() -> Location | str:
    """Return Playwright's headless shell at the path where Playwright installs it."""
    found = _program("chromium-headless-shell")
    return Location(executable=found) if found else "not installed"


def _program(channel: str) -> Path | None:
    """Return the program of a channel of Playwright; None if it is not installed."""
    if channel == "chrome":
        return next((path for path in map(Path, _CHROMES) if path.exists()), None)
    package = playwright_package()
    try:
        listed = msgspec.json.decode((package / "browsers.json").read_bytes())["browsers"]
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return None
    revisions = {entry["name"]: entry["revision"] for entry in listed}
    folder = _browsers(package) / f"{channel.replace('-', '_')}-{revisions.get(channel, '')}"
    return next((path for pattern in _SHELLS for path in sorted(folder.glob(pattern)) if _runs(path)), None)


def playwright_package() -> Path:
    """Return the folder of Playwright's driver program."""
    spec = find_spec("playwright")
    return Path(spec.origin).parent / "driver" / "package" if spec and spec.origin else Path()


def _browsers(package: Path) -> Path:
    """Return the folder where Playwright installs browsers."""
    named = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    if named == "0":
        return package / ".local-browsers"
    if named:
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/ms-playwright"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ms-playwright"


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
