"""SciPy and scikit-learn, which take seconds to load, are loaded only by what makes matrices."""

import subprocess
import sys
from pathlib import Path

import pytest

from domsieve.analysis.registry import METHODS, MINERS
from examples.serve import serve_demo
from tests.command import TIMEOUT_S, page

OF_MATRICES = {"joblib", "scipy", "sklearn"}
COMMANDS = "from domsieve.cli import app\nfor words in {words!r}:\n    app(words, standalone_mode=False)\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    for number in range(6):
        rows = "".join(f"<li><a href=/{n}>Thing {n}</a> costs {n} EUR</li>" for n in range(9))
        (folder / f"{number}.html").write_text(page(number).replace("</body>", f"<ul>{rows}</ul></body>"))
    return folder


def loaded_by(code: str, place: Path) -> set[str]:
    """Return which packages of matrices a program loads."""
    code += f"\nimport sys\nprint(*sorted({OF_MATRICES!r} & sys.modules.keys()), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=place,
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stderr
    return OF_MATRICES.intersection(done.stderr.splitlines()[-1].split())


@pytest.mark.slow
@pytest.mark.parametrize(("command", "methods"), [("clean", [*METHODS]), ("records", [*MINERS])])
def test_pages_are_cleaned_and_mined_without_packages_of_matrices(
    command: str, methods: list[str], site: Path
) -> None:
    files = [str(path) for path in sorted(site.iterdir())]
    words = [[command, *files, "--method", name, "-o", f"{site.parent}/{command}"] for name in methods]
    assert loaded_by(COMMANDS.format(words=words), site.parent) == set()


def test_the_python_call_loads_no_packages_of_matrices(site: Path) -> None:
    code = "import domsieve, pathlib\npages = domsieve.clean(sorted(pathlib.Path('.').glob('*.html')))\n"
    assert loaded_by(code + "assert all(page.text for page in pages)", site) == set()


@pytest.mark.browser
@pytest.mark.slow
def test_sites_are_sampled_without_packages_of_matrices(tmp_path: Path) -> None:
    with serve_demo() as url:
        words = [["site", f"{url}/", "--pages", "2", "--cache", str(tmp_path / "cache")]]
        assert loaded_by(COMMANDS.format(words=words), tmp_path) == set()
