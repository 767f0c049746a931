"""Make a site of docs/ below build/site, in an environment of its own.

    python tools/build_docs.py

Run by ``make docs`` with any Python 3.11 or newer. The environment lies in ``build/docs`` and is made of
``requirements-docs.lock``, anew when that or the Python has changed. A warning is an error. All there is to say goes
to stderr; the status is 0 when the site is there.
"""

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements-docs.lock"
ENVIRONMENT = ROOT / "build" / "docs"
SITE = ROOT / "build" / "site"
STAMP = "domsieve-docs"
_LIMIT_S = 1_800


def key() -> str:
    """Return what the environment depends on, as a digest."""
    return hashlib.sha256(f"{sys.version_info[:3]} {ROOT}\n".encode() + LOCK.read_bytes()).hexdigest()


def make() -> Path:
    """Return the folder of the environment's programs; make the environment if there is none.

    Raises
    ------
    subprocess.CalledProcessError : it cannot be made; what failed has said why.
    """
    programs, stamp = ENVIRONMENT / "bin", ENVIRONMENT / STAMP
    if stamp.is_file() and stamp.read_text() == key() and (programs / "sphinx-build").exists():
        return programs
    print(f"[docs] making {ENVIRONMENT.relative_to(ROOT)}", file=sys.stderr, flush=True)
    _run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT])
    pip: list[str | Path] = [programs / "python", "-m", "pip", "--no-input", "--disable-pip-version-check"]
    _run([*pip, "install", "-q", "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", LOCK])
    stamp.write_text(key())
    return programs


def build(programs: Path) -> None:
    """Write the site; a warning is an error.

    Raises
    ------
    subprocess.CalledProcessError : there was a warning or an error, which stands on stderr.
    """
    words: list[str | Path] = ["-W", "--keep-going", "-q", "--fresh-env", "-b", "html"]
    folders: list[str | Path] = ["-c", ROOT / "tools" / "docs_site", "-d", ENVIRONMENT / "doctrees"]
    _run([programs / "sphinx-build", *words, *folders, ROOT, SITE])


def _run(command: Sequence[str | Path]) -> None:
    subprocess.run(
        command, cwd=ROOT, check=True, timeout=_LIMIT_S, stdin=subprocess.DEVNULL, stdout=sys.stderr
    )


def main() -> int:
    """Make the site and say where it is; return the status."""
    try:
        build(make())
    except subprocess.SubprocessError as error:
        print(f"[docs] there is no site: {error}", file=sys.stderr)
        return 1
    print(f"[docs] open {SITE / 'index.html'}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
