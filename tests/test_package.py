"""What is installed is one package; the links beside it are for people only."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINKS = {"analysis": "domsieve/analysis", "renderer": "domsieve/renderer", "cli.py": "domsieve/cli.py"}
# Runs the command line as `python cli.py --help` does, then compares the files of all modules of the package.
ONCE = """
import contextlib, os, runpy, sys
sys.argv = [sys.argv[1], "--help"]
with contextlib.suppress(SystemExit):
    runpy.run_path(sys.argv[0], run_name="__main__")
import domsieve.commands
folder = os.path.dirname(os.path.realpath(domsieve.__file__))
files = [os.path.realpath(m.__file__) for m in set(sys.modules.values()) if getattr(m, "__file__", None)]
ours = sorted(file for file in files if file.startswith(folder))
sys.exit(f"loaded twice: {ours}" if len(ours) != len(set(ours)) or not ours else 0)
"""


def test_the_links_lead_into_the_package() -> None:
    found = {name: (ROOT / name).readlink().as_posix() for name in LINKS if (ROOT / name).is_symlink()}
    assert found in ({}, LINKS)


@pytest.mark.skipif(not (ROOT / "cli.py").exists(), reason="the links were deleted")
def test_the_command_line_by_its_link_loads_no_module_twice() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ONCE, str(ROOT / "cli.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert "clean" in done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder into which a wheel of the checkout was unpacked, as pip does."""
    folder = tmp_path_factory.mktemp("wheel")
    build = "from setuptools.build_meta import build_wheel; import sys; print(build_wheel(sys.argv[1]))"
    source = folder / "source"
    copied = [ROOT / name for name in ("domsieve", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in")]
    source.mkdir()
    subprocess.run(["cp", "-r", *copied, source], check=True)
    for name, target in LINKS.items():
        (source / name).symlink_to(target)
    subprocess.run([sys.executable, "-c", build, folder], cwd=source, check=True, capture_output=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_holds_the_package_and_nothing_else(installed: Path) -> None:
    assert {path.name.partition("-")[0].partition(".")[0] for path in installed.iterdir()} == {"domsieve"}
    data = {"*.js", "*.css", "*.html", "*.svg", "*.zst", "py.typed"}
    for pattern in data:
        here = {path.relative_to(ROOT / "domsieve") for path in (ROOT / "domsieve").rglob(pattern)}
        assert here
        assert here == {
            path.relative_to(installed / "domsieve") for path in (installed / "domsieve").rglob(pattern)
        }


def test_it_works_beside_folders_and_scripts_of_the_same_names(installed: Path, tmp_path: Path) -> None:
    for name in ("analysis", "renderer", "service", "snapshot", "tasks", "commands"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('somebody else’s')\n", "utf-8")
    (tmp_path / "cli.py").write_text("raise RuntimeError('somebody else’s')\n", "utf-8")
    (tmp_path / "page.html").write_text(
        "<h1>Moss</h1><p>Moss grows on walls, and on stones in the shade.</p>"
    )
    program = (
        f"import sys; sys.path.insert(1, {str(installed)!r}); import domsieve; "
        f"assert domsieve.__file__.startswith({str(installed)!r}), domsieve.__file__; "
        "from domsieve.cli import app; app(['clean', '--method', 'none', 'page.html'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (
        0,
        "Moss\nMoss grows on walls, and on stones in the shade.\n",
    ), done.stderr
