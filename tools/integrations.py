"""Test what domsieve offers to other packages, each in an environment of its own.

    python tools/integrations.py [NAME ...]

NAME is one of the files ``tests/integrations/NAME.txt``, which list what the environment needs besides domsieve; all
of them by default. Environments lie in ``build/integrations/NAME`` and are made anew when the list, the project's
own or the Python has changed. The tests are ``tests/integrations/test_NAME.py`` and, where there is one,
``tests/fuzz/test_NAME.py``.

Run by ``make integrations`` with the Python of the environment of the checkout. Where both need a package, its locked
version holds here too. All there is to say goes to stderr; the status is 0 when all tests passed.
"""

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LISTS = ROOT / "tests" / "integrations"
FUZZ = ROOT / "tests" / "fuzz"
STAMP = "domsieve-integration"
_LIMIT_S = 1_800
_LOCKED = re.compile(r"^([A-Za-z0-9._-]+==[^\s;\\]+)", re.MULTILINE)


def names() -> list[str]:
    """Return all integrations."""
    return sorted(path.stem for path in LISTS.glob("*.txt"))


def constraints() -> str:
    """Return the locked versions without their hashes, which pip wants of all packages or of none."""
    return "".join(f"{name}\n" for name in _LOCKED.findall((ROOT / "requirements-dev.lock").read_text()))


def key(name: str) -> str:
    """Return what an environment depends on, as a digest."""
    made_by = f"{sys.version_info[:3]} {ROOT}\n"
    parts = [made_by.encode(), (LISTS / f"{name}.txt").read_bytes(), (ROOT / "pyproject.toml").read_bytes()]
    return hashlib.sha256(b"\0".join([*parts, constraints().encode()])).hexdigest()


def make(name: str) -> Path:
    """Return the Python of an environment that has all that is needed; make it if there is none.

    Raises
    ------
    subprocess.CalledProcessError : it cannot be made; what failed has said why.
    """
    folder = ROOT / "build" / "integrations" / name
    python, stamp = folder / "bin" / "python", folder / STAMP
    if stamp.is_file() and stamp.read_text() == key(name) and python.exists():
        return python
    print(f"[integrations] making {folder.relative_to(ROOT)}", file=sys.stderr, flush=True)
    _run([sys.executable, "-m", "venv", "--clear", folder])
    held = folder / "constraints.txt"
    held.write_text(constraints())
    pip: list[str | Path] = [
        python,
        "-m",
        "pip",
        "--no-input",
        "--disable-pip-version-check",
        "install",
        "-q",
        "--no-compile",
    ]
    _run([*pip, "-c", held, "-r", LISTS / f"{name}.txt"])
    stamp.write_text(key(name))
    return python


def test(name: str) -> bool:
    """Run the tests of an integration; return whether they passed."""
    python = make(name)
    print(f"[integrations] testing {name}", file=sys.stderr, flush=True)
    # The suite's own conftest needs packages of the suite, and has nothing for these tests.
    command: list[str | Path] = [
        python,
        "-m",
        "pytest",
        "--confcutdir",
        LISTS,
        "-o",
        "testpaths=",
        LISTS / f"test_{name}.py",
        *FUZZ.glob(f"test_{name}.py"),
    ]
    environment = {**os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0


def _run(command: Sequence[str | Path]) -> None:
    subprocess.run(command, cwd=ROOT, check=True, timeout=_LIMIT_S, stdin=subprocess.DEVNULL)


def main(wanted: Sequence[str]) -> int:
    """Make environments and run their tests; return the status."""
    if unknown := sorted(set(wanted) - set(names())):
        print(
            f"[integrations] there is no {', '.join(unknown)}; there are {', '.join(names())}",
            file=sys.stderr,
        )
        return 2
    failed = []
    for name in wanted or names():
        try:
            passed = test(name)
        except subprocess.SubprocessError as error:
            print(f"[integrations] {name} has no environment: {error}", file=sys.stderr)
            passed = False
        failed += [] if passed else [name]
    print(f"[integrations] failed: {', '.join(failed) or 'none'}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
