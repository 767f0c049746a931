"""The house rules that a program can check: which room imports which, how long modules are, what is named."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Set
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "domsieve"


def modules(package: Path) -> Mapping[str, Path]:
    """Return the files of a package by the full names of their modules."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted(package.rglob("*.py"))
    }


MODULES = modules(PACKAGE)
EXPERIMENT_MODULES = modules(ROOT / "experiments")
COMMON = {"budget", "declaration", "errors", "files", "notebook", "options", "sanitize", "types", "urls"}
# What each room of the package may import, besides what is common to all.
ROOMS: Mapping[str, Set[str]] = {
    "options": {"budget", "declaration", "errors", "types"},
    "declaration": {"errors"},
    "sanitize": set(),
    "urls": set(),
    "types": set(),
    "errors": set(),
    "budget": {"errors"},
    "files": {"errors"},
    "notebook": {"sanitize"},
    "snapshot": COMMON,
    "archive": {"snapshot"} | COMMON,
    "renderer": {"snapshot", "archive"} | COMMON,
    "analysis": {"snapshot"} | COMMON,
    "tasks": {"snapshot", "archive", "renderer", "analysis"} | COMMON,
    "bulk": {"snapshot", "archive", "renderer", "analysis", "tasks"} | COMMON,
    "library": {"snapshot", "archive", "renderer", "analysis", "tasks"} | COMMON,
    # A module for each framework, which alone loads it; over the library, as its users are.
    "integrations": {"renderer", "tasks", "library"} | COMMON,
    "service": {"snapshot", "renderer", "analysis", "tasks"} | COMMON,
    "commands": {"snapshot", "archive", "renderer", "analysis", "tasks", "bulk", "service"} | COMMON,
    "cli": {"commands"},
}
# What each room inside a room may import of its neighbours.
INNER: Mapping[str, Mapping[str, Set[str]]] = {
    "renderer": {
        "network": set(),
        "browser": {"network"},
        "page": {"browser"},
        "html_parser": set(),
        "fetching": {"network", "browser", "html_parser"},
        "sampling": {"network"},
    },
    "analysis": {
        "columns": set(),
        "trees": {"columns"},
        "block_types": {"columns", "page_flags"},
        "document": {"columns", "block_types"},
        "cleaning": {"columns", "block_types"},
        "auto": {"columns", "trees", "cleaning"},
        "metadata": {"columns", "cleaning", "block_types"},
        "records": {"columns"},
        "fields": {"columns", "metadata", "selection"},
        "page_flags": {"columns"},
        "selection": {"columns"},
        "writers": {"columns", "block_types", "page_flags", "metadata", "records", "fields"},
        "report": {"columns", "block_types", "trees", "fields", "metadata", "records", "writers"},
        "compare": {"columns", "cleaning", "records", "writers"},
        "changes": {"columns", "writers"},
        "browser_need": {"columns", "compare", "selection", "writers"},
    },
    # The web part knows the jobs; jobs know nothing of HTTP.
    "service": {"jobs": set(), "web": {"jobs"}, "mcp": {"jobs", "web"}},
}
# What each folder of the experiments may import of the others.
EXPERIMENTS: Mapping[str, Set[str]] = {
    "frame": set(),
    "measures": set(),
    "corpora": {"measures"},
    "systems": {"corpora", "measures"},
    "page_classes": {"corpora", "frame", "measures", "systems"},
    "error_diary": {"corpora", "frame", "measures"},
    "experiments": {"corpora", "error_diary", "frame", "measures", "page_classes", "systems"},
}
LONGEST = 500
# Written in pieces, so that this file does not hold them itself.
REGISTRIES = ("pypi" + ".org", "python" + "hosted.org", "registry." + "npmjs", "deb." + "debian.org")
WORKPLACE = ("/" + "work/", "/tmp/" + "cli")


@cache
def imports(path: Path) -> Set[str]:
    """Return the modules that a module imports, wherever in it."""
    return frozenset(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module or ""


@cache
def names_imported(path: Path) -> Set[tuple[str, str]]:
    """Return the modules and names of each `from MODULE import NAME`."""
    return frozenset(
        (node.module or "", alias.name)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    )


def definitions(path: Path) -> Set[str]:
    """Return the names that a module defines rather than imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(
        node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    )


def of_package(name: str, path: Path) -> list[tuple[str, ...]]:
    """Return the modules of the package that the module imports, each as the steps below the package."""
    found = {other for other in imports(path) if other.split(".")[0] == "domsieve"} - {name}
    return [tuple(other.split(".")[1:]) for other in sorted(found)]


def tracked() -> list[Path]:
    """Return the files of the project: those git knows, or all where this is no checkout."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listing.returncode == 0:
        paths = [ROOT / name for name in listing.stdout.decode().split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if ".venv" not in path.parts]
    return [path for path in paths if path.is_file()]


def test_every_room_has_its_rule() -> None:
    assert {name.split(".")[1] for name in MODULES if "." in name} == ROOMS.keys()
    for room, inner in INNER.items():
        assert {path.parent.name for path in PACKAGE.glob(f"{room}/*/*.py")} == inner.keys()


def test_dependencies_point_one_way() -> None:
    for name, path in MODULES.items():
        own, *inside = name.split(".")[1:] or [""]
        for other in of_package(name, path):
            assert not own or not other or other[0] == own or other[0] in ROOMS[own], f"{name}: {other}"
            rules = INNER.get(own)
            if rules and inside and inside[0] in rules and len(other) > 1 and other[0] == own:
                assert other[1] == inside[0] or other[1] not in rules or other[1] in rules[inside[0]], (
                    f"{name}: {other}"
                )


def test_nothing_installed_imports_the_experiments_and_their_folders_point_one_way() -> None:
    for name, path in MODULES.items():
        assert not {other for other in imports(path) if other.split(".")[0] == "experiments"}, name
    assert {path.parent.name for path in (ROOT / "experiments").glob("*/*.py")} == EXPERIMENTS.keys()
    for name, path in EXPERIMENT_MODULES.items():
        own = name.split(".")[1:2]
        for other in imports(path):
            top, *inside = other.split(".")
            if top == "experiments" and own and own[0] in EXPERIMENTS and inside[0] in EXPERIMENTS:
                assert inside[0] == own[0] or inside[0] in EXPERIMENTS[own[0]], f"{name}: {other}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {name: imports(path) & MODULES.keys() - {name} for name, path in MODULES.items()}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(MODULES)


def test_packages_hand_on_nothing() -> None:
    # A name is imported from the module that defines it, so that "go to definition" and a search find it.
    for name, path in MODULES.items():
        if path.name == "__init__.py" and name != "domsieve":
            assert [type(node) for node in ast.parse(path.read_text(encoding="utf-8")).body] in (
                [ast.Expr],
                [],
            ), name


def test_names_are_imported_from_the_modules_that_define_them() -> None:
    defined = {name: definitions(path) for name, path in MODULES.items()}
    for path in [*MODULES.values(), *(ROOT / "tests").rglob("*.py")]:
        for module, name in names_imported(path):
            if module in MODULES and module != "domsieve":
                assert name in defined[module] or f"{module}.{name}" in MODULES, f"{path}: {module}.{name}"


def test_private_modules_are_imported_in_their_own_package_only() -> None:
    for name, path in MODULES.items():
        for other in imports(path):
            package, _, module = other.rpartition(".")
            if package and module.startswith("_"):
                assert name.startswith(f"{package}.") or name == package, f"{name}: {other}"


def test_the_package_imports_nothing_by_the_links_beside_it() -> None:
    links = {"analysis", "renderer", "cli"}
    for path in tracked():
        if path.suffix == ".py" and not path.is_symlink():
            assert not links & {other.split(".")[0] for other in imports(path)}, path


def test_modules_are_short() -> None:
    paths = {**MODULES, **EXPERIMENT_MODULES}
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in paths.items()}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_only_the_renderer_knows_the_browser() -> None:
    users = {name for name, path in MODULES.items() if "playwright.async_api" in imports(path)}
    assert {name.split(".")[1] for name in users} == {"renderer"}


def test_analysis_loads_neither_a_browser_nor_scikit_learn() -> None:
    heavy = {"playwright", "domsieve.renderer", "sklearn"}
    modules = ", ".join(name for name in MODULES if name.startswith("domsieve.analysis"))
    code = f"import sys, {modules}; sys.exit(not sys.modules.keys().isdisjoint({heavy}))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, timeout=600).returncode == 0


def test_cleaning_a_file_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<h1>Bees</h1>" + "<p>The hive was weighed in the morning, and again at night.</p>" * 40)
    heavy = {
        *("playwright", "rapidfuzz", "scipy", "sklearn", "numpy.ma", "bs4", "pyarrow"),
        *(
            f"domsieve.{name}"
            for name in ("renderer.renderer", "analysis.records", "analysis.compare", "tasks.mining")
        ),
    }
    code = (
        "import contextlib, sys; from domsieve.cli import app\n"
        f"with contextlib.suppress(SystemExit): app(['clean', '--method', 'auto', {str(page)!r}])\n"
        f"sys.exit(', '.join(sorted({heavy} & sys.modules.keys())) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=False, timeout=600, capture_output=True, text=True
    )
    assert "The hive" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


def test_no_registry_and_no_workplace_is_named() -> None:
    found = re.compile("|".join(map(re.escape, (*REGISTRIES, *WORKPLACE))).encode())
    named = [path for path in tracked() if path.suffix != ".pyc" and found.search(path.read_bytes())]
    assert named == []
