"""The house rules that a program can check: which package imports which, how long modules are, what is named."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = {"analysis", "commands", "evaluation", "renderer", "service", "snapshot", "cli"}
MAY_IMPORT: dict[str, set[str]] = {
    "snapshot": set(),
    "renderer": {"snapshot"},
    "analysis": {"snapshot"},
    "evaluation": {"snapshot", "renderer", "analysis"},
    "service": {"snapshot", "renderer", "analysis"},
    "commands": {"snapshot", "renderer", "analysis", "service", "evaluation"},
    "cli": {"commands"},
}
PARTS: dict[str, set[str]] = {
    "_columns": set(),
    "_trees": {"_columns"},
    "_cleaning": {"_columns"},
    "_records": {"_columns"},
    "_writers": {"_columns", "_records"},
    "_report": {"_columns", "_trees", "_records", "_writers"},
    "_compare": {"_columns", "_cleaning", "_records", "_writers", "_report"},
}
# The web part knows the jobs; jobs know nothing of HTTP.
PARTS_OF_SERVICE: dict[str, set[str]] = {"_jobs": set(), "_web": {"_jobs"}}
MODULES = [path for name in MAY_IMPORT for path in sorted(ROOT.glob(f"{name}/**/*.py"))] + [ROOT / "cli.py"]
LONGEST = 350
# Written in pieces, so that this file does not hold them itself.
REGISTRIES = ("pypi" + ".org", "python" + "hosted.org", "registry." + "npmjs", "deb." + "debian.org")
WORKPLACE = ("/" + "work/", "/tmp/" + "cli")


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield node.module or ""


def tracked() -> list[Path]:
    """Return the files of the project: those git knows, or all where this is no checkout."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listing.returncode == 0:
        paths = [ROOT / name for name in listing.stdout.decode().split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if ".venv" not in path.parts]
    return [path for path in paths if path.is_file()]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
class TestModule:
    def test_dependencies_point_one_way(self, path: Path) -> None:
        own = path.relative_to(ROOT).parts[0].removesuffix(".py")
        others = {name.partition(".")[0] for name in imports(path)} & PROJECT - {own}
        assert others <= MAY_IMPORT[own]

    def test_parts_of_the_analysis_build_on_lower_ones(self, path: Path) -> None:
        own = path.parent.name
        parts = [name.split(".")[1] for name in imports(path) if name.startswith("analysis._")]
        assert {part for part in parts if part in PARTS} - {own} <= PARTS.get(own, set(PARTS))

    def test_jobs_of_the_service_know_no_http(self, path: Path) -> None:
        own = path.parent.name
        parts = {name.split(".")[1] for name in imports(path) if name.startswith("service._")}
        assert parts & PARTS_OF_SERVICE.keys() - {own} <= PARTS_OF_SERVICE.get(own, set(PARTS_OF_SERVICE))

    def test_private_modules_stay_in_their_package(self, path: Path) -> None:
        own = path.relative_to(ROOT).parts[0]
        names = [name for name in imports(path) if name.partition(".")[0] in PROJECT and "._" in name]
        assert [name for name in names if name.partition(".")[0] != own] == []

    def test_modules_are_short(self, path: Path) -> None:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        assert lines <= LONGEST


def test_only_the_renderer_knows_the_browser() -> None:
    users = {path.parent.name for path in MODULES if any(n.startswith("playwright") for n in imports(path))}
    assert users == {"renderer"}


def test_analysis_loads_neither_a_browser_nor_scikit_learn() -> None:
    heavy = {"playwright", "renderer", "sklearn"}
    code = f"import analysis, snapshot, sys; sys.exit(not sys.modules.keys().isdisjoint({heavy}))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, timeout=60).returncode == 0


def test_no_registry_and_no_workplace_is_named() -> None:
    found = re.compile("|".join(map(re.escape, (*REGISTRIES, *WORKPLACE))).encode())
    named = [path for path in tracked() if path.suffix != ".pyc" and found.search(path.read_bytes())]
    assert named == []
