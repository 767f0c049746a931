"""Build the wheel and the source archive, and try them as users get them.

    python tools/release_check.py

Run by ``make release-check`` with any Python 3.11 or newer. The wheel is installed into a new environment outside the
checkout, which runs ``domsieve --version``, ``domsieve clean`` on a file and ``domsieve doctor``. Messages go to
stderr; the status is 0 when all of it works.
"""

import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ["build>=1.3", "twine>=6.2"]
PAGE = "<title>Swifts</title><h1>Swifts</h1><p>They arrive when the hawthorn flowers.</p>"
NO_BROWSER = 4  # exit code of `domsieve doctor` where no Chrome starts
_LIMIT_S = 1_800


class ReleaseError(Exception):
    """A release would not work; the message says why."""


def check() -> None:
    """Build a release and try it.

    Raises
    ------
    ReleaseError : it does not work.
    """
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    with TemporaryDirectory(prefix="domsieve-release-") as name:
        folder = Path(name)
        tools = _environment(folder / "tools", TOOLS)
        _run([tools, "-m", "build", "--outdir", folder / "dist", ROOT])
        files = sorted((folder / "dist").iterdir())
        _run([tools, "-m", "twine", "check", "--strict", *files])
        (wheel,) = (file for file in files if file.suffix == ".whl")
        program = _environment(folder / "user", [str(wheel)]).with_name("domsieve")
        if (said := _run([program, "--version"], folder)) != f"domsieve {version}\n":
            raise ReleaseError(f"`domsieve --version` says {said!r} instead of {version}.")
        (folder / "page.html").write_text(PAGE, encoding="utf-8")
        text = _run([program, "clean", "page.html", "--format", "markdown"], folder)
        if "# Swifts" not in text or "hawthorn" not in text:
            raise ReleaseError(f"`domsieve clean` keeps {text!r} of a page with a heading and a sentence.")
        _run([program, "doctor"], folder, allowed=(0, NO_BROWSER))
        print("[release] " + ", ".join(file.name for file in files) + ": they work", file=sys.stderr)


def _environment(place: Path, packages: Sequence[str]) -> Path:
    """Return the Python of a new environment with these packages."""
    _run([sys.executable, "-m", "venv", place])
    python = place / "bin" / "python"
    _run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages])
    return python


def _run(command: Sequence[str | Path], folder: Path | None = None, allowed: Sequence[int] = (0,)) -> str:
    """Return what a command prints to stdout; run it outside the checkout, so that nothing of that is imported."""
    done = subprocess.run(
        command, cwd=folder or ROOT.anchor, stdout=subprocess.PIPE, text=True, timeout=_LIMIT_S, check=False
    )
    if done.returncode not in allowed:
        print(done.stdout, file=sys.stderr)
        raise ReleaseError(f"{' '.join(map(str, command))} ended with status {done.returncode}.")
    return done.stdout


def main() -> int:
    """Check a release and say what is wrong; return the status."""
    try:
        check()
    except (ReleaseError, OSError, subprocess.SubprocessError) as error:
        print(f"[release] {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
