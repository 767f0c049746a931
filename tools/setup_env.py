"""Make the locked environment of a checkout and see that a Chrome starts; do nothing where that is done.

    python tools/setup_env.py [--without-browser] [VENV]

Run by ``make`` with any Python 3.11 or newer before the environment exists, so it uses the standard library
only. The environment is complete when its stamp says so. The stamp is written last, so an environment without
one was interrupted and is made anew. A note beside it holds the Chrome that started, for as long as that file
and what led to it stay the same. All there is to say goes to stderr; the status is 0 when all is well.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = "requirements-dev.lock"
STAMP = "domsieve-setup.json"
BROWSER_NOTE = "domsieve-browser.json"
NO_BROWSER = 3  # exit status of find_browser.py
WITHOUT_BROWSER = "--without-browser"

# Far above what a slow but living connection needs.
_LIMIT_S = 1800.0
_DOWNLOAD_LIMIT_S = 600.0

# No questions from apt-get; Playwright tries five times, so its 30 s for each silent try are too patient.
_QUIET = {"DEBIAN_FRONTEND": "noninteractive", "PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "10000"}


class SetupError(Exception):
    """Set-up cannot go on; the message says what to do."""


def say(message: str) -> None:
    """Tell the user on stderr what is being done."""
    print(f"[set-up] {message}", file=sys.stderr, flush=True)


def run(command: Sequence[str | Path], *, limit_s: float = _LIMIT_S) -> int:
    """Return the exit status of `command`, or 124 after ending it with its children at the time limit.

    It gets no stdin, and its stdout goes to our stderr.
    """
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        env={**_QUIET, **os.environ},
        close_fds=False,  # the lock of main() lives as long as a child that outlives us
        start_new_session=True,  # a group of its own, so that a download's grandchildren end with it
    ) as process:
        try:
            return process.wait(limit_s)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            say(f"gave up after {limit_s:.0f} s")
            return 124


def keys(root: Path, venv: Path) -> dict[str, str]:
    """Return what the environment depends on, as digests: the locked packages and the project itself."""
    lock = (root / LOCK).read_bytes()
    made_by = f"{sys.implementation.name} {sys.version_info[:2]} {platform.machine()} {venv}\n"
    return {
        "locked": hashlib.sha256(made_by.encode() + lock).hexdigest(),
        "project": hashlib.sha256((root / "pyproject.toml").read_bytes()).hexdigest(),
    }


def stamped(venv: Path) -> dict[str, str]:
    """Return the digests of the finished environment, empty if it is not finished or does not run."""
    try:
        stamp = json.loads((venv / STAMP).read_bytes())
        subprocess.run([venv / "bin/python", "-c", ""], check=True, capture_output=True, timeout=60)
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def ensure_environment(root: Path, venv: Path) -> None:
    """Make or mend the environment at `venv`; without any change this starts one short process and no pip."""
    want, have = keys(root, venv), stamped(venv)
    if want == have:
        return
    stamp = venv / STAMP
    stamp.unlink(missing_ok=True)
    python = str(venv / "bin/python")
    pip = [python, "-m", "pip", "--no-input", "--disable-pip-version-check", "install", "-qq"]
    if want["locked"] != have.get("locked"):
        if importlib.util.find_spec("ensurepip") is None:
            raise SetupError(
                f"{sys.executable} cannot make environments: its ensurepip module is missing. "
                "On Debian and Ubuntu: apt-get install python3-venv"
            )
        say(f"making {venv} with Python {platform.python_version()}: {_why(venv, have)}")
        if run([sys.executable, "-m", "venv", "--clear", venv]):
            raise SetupError(f"{venv} could not be made; the reason stands above.")
        say(f"installing the packages of {LOCK}")
        # Compiling every module of every package took a third of the time; most are never imported.
        # The lock is complete, so nothing is left to resolve; older pips fail at it where two packages ask for
        # the same extra.
        lock: list[str | Path] = ["--no-deps", "--require-hashes", "-r", root / LOCK]
        if run([*pip, "--no-compile", *lock]):
            raise SetupError(
                "pip could not install the locked packages; its reason stands above. "
                "Behind a mirror, set PIP_INDEX_URL or pip's own configuration."
            )
    say("installing the project itself, editable")
    if run([*pip, "--no-deps", "--no-build-isolation", "--editable", root]):
        raise SetupError("pip could not install the project; its reason stands above.")
    write(stamp, want)


def write(path: Path, value: object) -> None:
    """Write `value` as JSON in one step, so that no reader meets half of it."""
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(value), encoding="utf-8")
    temporary.replace(path)


def _why(venv: Path, have: dict[str, str]) -> str:
    if have:
        return "the lock file or the Python changed"
    return "the one there is not complete" if venv.exists() else "there is none yet"


def ensure_browser(root: Path, venv: Path) -> None:
    """See that a Chrome starts; where none does, install one by the first way that works.

    A browser named by ``DOMSIEVE_BROWSER`` is used or refused, never replaced.
    """
    note = venv / BROWSER_NOTE
    try:
        noted = json.loads(note.read_bytes())
        if noted == _note(noted["program"]):
            return
    except (OSError, ValueError, LookupError, TypeError):
        pass  # there is no usable note yet, or the program is gone
    found, answer = _look(root, venv)
    if not (found or os.environ.get("DOMSIEVE_BROWSER")):
        say("no Chrome starts on this machine, so one is installed")
        for why, commands in _ways_to_install(venv):
            say(f"{why}: {' '.join(commands[-1])}")
            for command in commands:
                run(command, limit_s=_DOWNLOAD_LIMIT_S)
            found, answer = _look(root, venv)
            if found:
                break
    if not found:
        raise SetupError(answer)
    description, program = answer.splitlines()
    say(f"Chrome is {description}")
    with contextlib.suppress(OSError):  # a packaged browser may see its file under a path of its own
        write(note, _note(program))


def _note(program: str) -> dict[str, object]:
    """Return what decides whether the same Chrome would be found and would start again."""
    names = ("DOMSIEVE_BROWSER", "PATH", "PLAYWRIGHT_BROWSERS_PATH")
    status = Path(program).stat()
    return {
        "program": program,
        "version": [status.st_size, status.st_mtime_ns],
        "search": [os.geteuid(), *(os.environ.get(name) for name in names)],
    }


def _ways_to_install(venv: Path) -> Iterator[tuple[str, list[list[str]]]]:
    playwright = str(venv / "bin/playwright")
    yield "downloading Playwright's own", [[playwright, "install", "--only-shell", "chromium"]]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        apt = ["apt-get", "-o", "Acquire::http::Timeout=30", "-o", "DPkg::Lock::Timeout=120"]
        package = ["install", "-y", "--no-install-recommends", "chromium-headless-shell"]
        yield "that did not help; taking the system's package", [[*apt, "update"], [*apt, *package]]
        # Ubuntu has no such package; what a bare Ubuntu lacks is the libraries of the downloaded Chrome.
        libraries = [playwright, "install-deps", "chromium-headless-shell"]
        yield "that did not help; adding the libraries that Playwright's own needs", [libraries]


def _look(root: Path, venv: Path) -> tuple[bool, str]:
    """Return whether a Chrome starts, and which one or why none."""
    command = [str(venv / "bin/python"), "-m", "tools.find_browser"]
    done = subprocess.run(
        command, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, NO_BROWSER):
        raise SetupError(f"looking for Chrome failed:\n{done.stderr}")
    return not done.returncode, (done.stderr if done.returncode else done.stdout).strip()


def main(arguments: Sequence[str]) -> int:
    """Set up the environment at the path given, by default the checkout's ``.venv``; return the status."""
    paths = [word for word in arguments if word != WITHOUT_BROWSER]
    venv = Path(paths[0] if paths else ROOT / ".venv").absolute()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    with Path(__file__).open(encoding="utf-8") as lock:
        os.set_inheritable(lock.fileno(), True)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another set-up of this checkout")
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            ensure_environment(ROOT, venv)
            if WITHOUT_BROWSER not in arguments:
                ensure_browser(ROOT, venv)
        except SetupError as error:
            say(f"error: {error}")
            return 1
        except KeyboardInterrupt:
            say("interrupted; the next run mends what is half made")
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
