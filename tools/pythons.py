"""Print the oldest and the newest supported Python of this machine, one ``version path`` per line."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SUPPORTED = ("3.11", "3.12", "3.13", "3.14")


def candidates(version: str) -> Iterator[str]:
    """Yield the places where Python `version` may be: every folder of PATH, then pyenv's versions."""
    name = f"python{version}"
    for folder in os.get_exec_path():
        if found := shutil.which(name, path=folder):
            yield found
    yield from sorted(str(path) for path in Path.home().glob(f".pyenv/versions/*/bin/{name}"))


def works(python: str, version: str) -> bool:
    """Return whether `python` is of `version` and can make environments; pyenv's shims may not even start."""
    check = "import ensurepip, sys; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.run([python, "-c", check], check=True, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return False
    return answer.stdout.strip() == version


def oldest_and_newest() -> list[tuple[str, str]]:
    """Return version and path of the oldest and the newest Python found, once if they are the same."""
    found = [
        (version, python)
        for version in SUPPORTED
        if (python := next((path for path in candidates(version) if works(path, version)), None))
    ]
    return found[:1] + found[1:][-1:]  # the last of the others


if __name__ == "__main__":
    rows = oldest_and_newest()
    if not rows:
        sys.exit(f"found no Python of {', '.join(SUPPORTED)} on PATH or under ~/.pyenv/versions")
    for row in rows:
        print(*row)
