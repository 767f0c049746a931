"""The container: its recipe is sound by the linter, and what the recipe copies is what the package is made of."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

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


def pins(name: str) -> set[str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return {line.rstrip(" \\") for line in lines if "==" in line}


def test_the_image_gets_the_tested_versions() -> None:
    assert pins("requirements.lock") < pins("requirements-dev.lock")


def test_what_builds_the_package_is_locked() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    names = {re.split("[^A-Za-z0-9._-]", name)[0] for name in needed}
    assert names == {"setuptools"}, "the recipe of the image takes this one out of the lock"
    assert names <= {pin.partition("==")[0] for pin in pins("requirements-dev.lock")}


def test_nothing_is_installed_but_by_its_hash() -> None:
    """What pip does in the image asks no index, or takes but files with a hash, none of which fetches others."""
    recipe = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    calls = [call for call in re.split(r"&&|\n", recipe) if re.search(r"\bpip (install|wheel)\b", call)]
    assert len(calls) == 4
    for call in calls:
        words = call.split()
        assert "--no-deps" in words, call
        if "--no-index" not in words:
            assert "--require-hashes" in words, call
            assert words[words.index("--only-binary") + 1] == ":all:", call
        if "wheel" in words:
            assert "--no-build-isolation" in words, call
        elif "--no-index" in words:
            assert words[-1].endswith(".whl"), call


@pytest.mark.slow
def test_the_package_is_built_of_what_goes_into_the_image_without_any_index(tmp_path: Path) -> None:
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        if line.startswith("!"):
            kept = ROOT / line.removeprefix("!")
            if kept.is_dir():
                shutil.copytree(
                    kept, tmp_path / "src" / kept.name, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                (tmp_path / "src").mkdir(exist_ok=True)
                shutil.copy(kept, tmp_path / "src")
    (call,) = re.findall(r"pip (wheel [^&]*?) --wheel-dir", (ROOT / "Dockerfile").read_text("utf-8"))
    done = subprocess.run(
        [sys.executable, "-m", "pip", *call.split(), "--wheel-dir", tmp_path / "wheels", "."],
        cwd=tmp_path / "src",
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "wheels").iterdir()
    assert wheel.name.startswith("domsieve-")
    with zipfile.ZipFile(wheel) as packed:
        assert "domsieve/analysis/report/report.html" in packed.namelist()
