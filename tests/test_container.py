"""The container: its recipe is sound by the linter, and what the recipe copies is what the package is made of."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_linter_finds_nothing() -> None:
    linter = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([linter, ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_the_package_goes_into_the_image() -> None:
    kept = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    }
    assert "domsieve" in kept
    assert all((ROOT / name).exists() for name in kept)


def test_the_image_gets_the_tested_versions() -> None:
    def pins(name: str) -> set[str]:
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        return {line.rstrip(" \\") for line in lines if "==" in line}

    assert pins("requirements-serve.lock") <= pins("requirements.lock")
