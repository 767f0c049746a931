"""Signing in by hand: what is kept of it, and what is said where there is no window to sign in at."""

import asyncio
import json
import os
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from domsieve.commands.signing_in import login
from domsieve.errors import StorageError
from domsieve.files import write_file
from domsieve.renderer.browser.discovery import FULL_NAMES
from domsieve.renderer.browser.sign_in import kept
from tests.command import COMMAND, process, run
from tests.renderer.bad_server import Server, send, serving

CHROME = next((path for name in FULL_NAMES if (path := shutil.which(name))), None)
XVFB = shutil.which("Xvfb")
needs_window = pytest.mark.skipif(
    not (CHROME and XVFB), reason="needs a full Chrome and Xvfb, a display without a screen, on PATH"
)
TOKEN = "let-me-in"
SIGN_IN = (
    "<title>Sign in</title><script>"
    "localStorage.setItem('token', 'stored-for-later'); fetch('/signed-in')"
    "</script><img src='{other}'>"
)


class TestErrors:
    """What is refused before any window opens; these need neither browser nor display."""

    @pytest.fixture(autouse=True)
    def no_display(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("DISPLAY", raising=False)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        monkeypatch.setattr("sys.platform", "linux")

    def test_without_a_display_it_says_what_to_do(self, tmp_path: Path) -> None:
        done = run("login", "http://127.0.0.1:9/", "-o", tmp_path / "state.json", cache=tmp_path)
        assert done.exit_code == 4
        assert done.stderr.startswith("domsieve: Signing in opens a window, and there is no display")
        assert "copy the file" in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("url", ["example.org", "file:///etc/passwd", "http://", "ftp://example.org/"])
    def test_what_is_no_address_is_refused(self, tmp_path: Path, url: str) -> None:
        done = run("login", url, "-o", tmp_path / "state.json", cache=tmp_path)
        assert (done.exit_code, "is not an address" in done.stderr) == (2, True)

    def test_a_place_that_cannot_be_written_is_refused_before_anybody_signs_in(self, tmp_path: Path) -> None:
        done = run("login", "http://127.0.0.1:9/", "-o", tmp_path / "none/state.json", cache=tmp_path)
        assert done.exit_code == 2
        assert "does not exist; create it first" in done.stderr

    @pytest.mark.skipif(XVFB is None, reason="needs Xvfb; nothing is shown on it")
    def test_without_a_full_chrome_it_says_what_to_do(self, tmp_path: Path, shell: str) -> None:
        place = {"DISPLAY": ":77", "DOMSIEVE_BROWSER": shell}
        done = process(
            "login", "http://127.0.0.1:9/", "-o", tmp_path / "s", cache=tmp_path, environment=place
        )
        assert (done.returncode, b"cannot be used to sign in" in done.stderr) == (4, True)

    @pytest.fixture
    def shell(self) -> str:
        found = shutil.which("chromium-headless-shell") or shutil.which("chrome-headless-shell")
        if found is None:
            pytest.skip("there is no headless shell on PATH")
        return found

    @pytest.mark.parametrize("named", [True, False])
    def test_no_browser_with_windows_is_an_error_with_what_to_do(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool
    ) -> None:
        monkeypatch.setenv("DISPLAY", ":77")
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
        monkeypatch.delenv("DOMSIEVE_BROWSER", raising=False)
        words = ["--browser", "/no/such/chrome"] if named else []
        done = run("login", "http://127.0.0.1:9/", "-o", tmp_path / "s.json", *words, cache=tmp_path)
        assert done.exit_code == 4
        assert ("/no/such/chrome" if named else "Signing in needs a full Chrome") in done.stderr
        assert ("Choose a full Chrome" if named else "Install Google Chrome") in done.stderr
        assert not (tmp_path / "s.json").exists()


class TestTheFile:
    def test_it_is_for_its_owner_alone_from_the_first_byte(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "state.json"
        path.write_text("old")
        path.chmod(0o644)
        modes = []
        write_bytes = Path.write_bytes

        def spy(part: Path, data: bytes) -> int:
            modes.append(stat.S_IMODE(part.stat().st_mode))
            return write_bytes(part, data)

        monkeypatch.setattr(Path, "write_bytes", spy)
        write_file(path, b"new", what="The file", mode=0o600)
        assert modes == [0o600]
        assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o600)

    def test_one_that_cannot_be_written_whole_leaves_the_old_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "state.json"
        path.write_text("old")

        def fail(_: Path, __: bytes) -> int:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "write_bytes", fail)
        with pytest.raises(StorageError, match="No space left"):
            write_file(path, b"new", what="The file", mode=0o600)
        assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("state.json", "old")]


class Window:
    """A browser with one page that is closed at the third look, and what its site keeps meanwhile."""

    def __init__(self, url: str, stored: Any) -> None:
        self.url, self.stored = url, stored
        self.looks = 0

    @property
    def pages(self) -> list["Window"]:
        return [self] if self.looks < 3 else []

    @property
    def frames(self) -> list["Window"]:
        return [self]

    def is_connected(self) -> bool:
        return True

    async def evaluate(self, _: str) -> Any:
        return self.stored(self.looks)

    async def cookies(self) -> list[dict[str, Any]]:
        self.looks += 1
        return [{"name": "session", "value": str(self.looks), "domain": "a.example", "path": "/"}]


class TestEnd:
    async def never(self) -> None:
        await asyncio.Event().wait()

    def state(self, window: Any) -> Any:
        return asyncio.run(kept(window, window, self.never))

    def test_closing_the_window_keeps_what_was_seen_last(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("domsieve.renderer.browser.sign_in._LOOK_S", 0.0)
        window = Window("http://user@a.example:81/in?x#y", lambda look: [["token", f"{look}"], ["a", "b"]])
        state = self.state(window)
        assert state["cookies"][0]["value"] == "3"
        items = [{"name": "a", "value": "b"}, {"name": "token", "value": "2"}]
        assert state["origins"] == [{"origin": "http://a.example:81", "localStorage": items}]

    @pytest.mark.parametrize(
        "stored", ["text", None, [["a", 3]], [["a"]], [[["a"], "b"]], {"a": "b"}, [["a", "x" * 21_000_000]]]
    )
    def test_what_is_no_storage_is_not_kept(self, monkeypatch: pytest.MonkeyPatch, stored: Any) -> None:
        monkeypatch.setattr("domsieve.renderer.browser.sign_in._LOOK_S", 0.0)
        assert self.state(Window("http://a.example/", lambda _: stored))["origins"] == []


@pytest.fixture(scope="module")
def display(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a display without a screen and return its name."""
    assert XVFB
    read, write = os.pipe()
    log = (tmp_path_factory.mktemp("xvfb") / "log").open("wb")
    words = [XVFB, "-displayfd", str(write), "-screen", "0", "1024x768x24", "-nolisten", "tcp"]
    with log, subprocess.Popen(words, pass_fds=[write], stdout=log, stderr=log) as server:
        os.close(write)
        with os.fdopen(read) as answer:
            number = answer.readline().strip()
        try:
            if not number:
                pytest.skip("Xvfb does not start here")
            yield f":{number}"
        finally:
            server.terminate()


@needs_window
@pytest.mark.browser
@pytest.mark.slow
class TestWindow:
    @pytest.fixture
    def site(self) -> Iterator[Server]:
        with serving() as server:
            server.seen = []  # type: ignore[attr-defined]

            def sign_in(handler: BaseHTTPRequestHandler) -> None:
                page = SIGN_IN.format(other=server.other)  # type: ignore[attr-defined]
                cookie = f"session={TOKEN}; Max-Age=3600; HttpOnly; Path=/"
                send(handler, page.encode(), headers={"Set-Cookie": cookie})

            def signed_in(handler: BaseHTTPRequestHandler) -> None:
                send(handler, b"")
                server.seen.append("signed-in")  # type: ignore[attr-defined]

            def account(handler: BaseHTTPRequestHandler) -> None:
                known = f"session={TOKEN}" in handler.headers.get("Cookie", "")
                body = (
                    "<h1>Account</h1><p>Your orders and letters.</p>"
                    if known
                    else "<h1>Stranger</h1><p>Who?</p>"
                )
                stored = "<p id=s></p><script>s.textContent = localStorage.getItem('token')</script>"
                send(handler, (body + stored).encode())

            server.pages |= {"/sign-in": sign_in, "/signed-in": signed_in, "/account": account}
            yield server

    @pytest.fixture
    def secret(self, site: Server) -> Iterator[list[str]]:
        """Run another server of this machine, which pages must not reach; return what it was asked for."""
        asked: list[str] = []
        with serving() as other:

            def answer(handler: BaseHTTPRequestHandler) -> None:
                asked.append(handler.path)
                send(handler, b"")

            other.pages["/secret"] = answer
            site.other = other.url("/secret")  # type: ignore[attr-defined]
            yield asked

    def signing_in(self, site: Server, path: Path, display: str) -> "subprocess.Popen[bytes]":
        assert CHROME
        given = {name: value for name, value in os.environ.items() if name != "WAYLAND_DISPLAY"}
        words = ["login", site.url("/sign-in"), "-o", str(path), "--browser", CHROME]
        return subprocess.Popen(
            [*COMMAND, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**given, "DISPLAY": display},
        )

    def wait_for(self, site: Server, running: "subprocess.Popen[bytes]") -> None:
        while not site.seen:  # type: ignore[attr-defined]
            assert running.poll() is None, running.communicate()
            time.sleep(0.1)

    def check(self, path: Path, site: Server, cache: Path) -> None:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        state = json.loads(path.read_bytes())
        assert [(one["name"], one["value"], one["httpOnly"]) for one in state["cookies"]] == [
            ("session", TOKEN, True)
        ]
        [origin] = state["origins"]
        assert origin["origin"] == site.url("")
        assert {"name": "token", "value": "stored-for-later"} in origin["localStorage"]
        words = ("clean", "--method", "none", site.url("/account"))
        done = process(*words, "--storage-state", path, cache=cache)
        assert b"Your orders and letters." in done.stdout, done.stderr
        assert b"stored-for-later" in done.stdout
        assert b"Stranger" in process(*words, cache=cache).stdout

    def test_enter_keeps_what_rendering_needs_to_be_signed_in(
        self, site: Server, secret: list[str], display: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "state.json"
        with self.signing_in(site, path, display) as running:
            self.wait_for(site, running)
            assert not path.exists()
            _, said = running.communicate(b"\n")
        assert running.returncode == 0, said
        assert b"1 cookie, local storage of 1 site" in said
        self.check(path, site, tmp_path / "cache")
        assert secret == []

    def test_ending_the_browser_keeps_it_too(
        self, site: Server, secret: list[str], display: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "state.json"
        with self.signing_in(site, path, display) as running:
            self.wait_for(site, running)
            time.sleep(3)  # somebody who closes a window has looked at it
            os.kill(browser_of(running.pid), signal.SIGTERM)
            assert running.wait(120) == 0
        self.check(path, site, tmp_path / "cache")
        assert secret == []

    def test_an_interruption_writes_nothing(
        self, site: Server, secret: list[str], display: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "state.json"
        with self.signing_in(site, path, display) as running:
            self.wait_for(site, running)
            running.send_signal(signal.SIGINT)
            _, said = running.communicate()
        assert running.returncode == 130, said
        assert list(tmp_path.iterdir()) == []
        assert secret == []

    def test_what_no_server_answers_is_one_error(self, display: str, tmp_path: Path) -> None:
        with serving() as gone:
            url = gone.url("/")
        place = {"DISPLAY": display, "DOMSIEVE_BROWSER": str(CHROME)}
        done = process("login", url, "-o", tmp_path / "s.json", cache=tmp_path, environment=place)
        assert done.returncode == 3, done.stderr
        assert b"The page does not open" in done.stderr
        assert list(tmp_path.iterdir()) == []


def browser_of(pid: int) -> int:
    """Return the process of the browser that a command has started, by way of its driver."""
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        for task in Path(f"/proc/{one}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
                if b"chrom" in words[0] and any(word.startswith(b"--user-data-dir") for word in words):
                    return child
                waiting.append(child)
    raise AssertionError("no browser runs")


def test_its_help_says_how_it_ends() -> None:
    assert "press Enter" in (login.__doc__ or "")
