"""The files around the code that other people rely on: version, citation, workflow, installs that exist."""

import re
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def tracked() -> list[Path]:
    """Return the text files of the checkout."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    paths = [ROOT / name for name in names.decode().split("\0") if name]
    return [
        path
        for path in paths
        if path.is_file() and path.suffix in {".md", ".py", ".toml", ".yml", ".html", ""}
    ]


def test_the_citation_has_the_version_of_the_package() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == PROJECT["version"] == version("domsieve")
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()


def test_the_changelog_has_the_version_and_the_usual_sections() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(rf"^## {re.escape(PROJECT['version'])}\b", text, re.MULTILINE)
    assert {*re.findall(r"^### (.+)$", text, re.MULTILINE)} <= {"Added", "Changed", "Fixed", "Removed"}


def test_the_workflow_runs_the_check_on_the_oldest_python() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    tests = workflow["jobs"]["tests"]
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert oldest in tests["strategy"]["matrix"]["python"]
    assert ".ci/run" in [step.get("run") for step in tests["steps"]]
    assert workflow["permissions"] == {"contents": "read"}
    for file in (ROOT / ".github").rglob("*.yml"):
        assert yaml.safe_load(file.read_text("utf-8")), file


def test_hooks_before_a_commit_run_the_tools_of_the_checkout() -> None:
    (repo,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert repo["repo"] == "local"
    assert all(hook["entry"].startswith(".venv/bin/") for hook in repo["hooks"])


# Words before the name may be options and other packages. The file of a wheel, or a path, is not the bare name.
OF_AN_INDEX = re.compile(
    r"\b((pip|pipx|uv)( pip| tool)? (install|inject|add)|pipx run|uvx)( +[^\s`;|&]+)*? +['\"]?domsieve(?![\w./-])"
)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("pip install {}", True),
        ("python -m pip install -U --quiet '{}[serve]'", True),
        ("pip install datatrove {}", True),
        ("pipx install {}==0.2.0", True),
        ("pipx run {} clean page.html", True),
        ("uv add {}", True),
        ("uv tool install {}", True),
        ("uvx {} clean page.html", True),
        ("pip install '.[serve]'", False),
        ("pip install dist/{}-0.2.0-py3-none-any.whl", False),
        ("pip install {}-0.2.0-py3-none-any.whl", False),
        ("pip install . && {} doctor", False),
    ],
)
def test_installs_from_an_index_are_recognized(words: str, found: bool) -> None:
    assert bool(OF_AN_INDEX.search(words.format("domsieve"))) is found


def test_only_installs_that_exist_are_named() -> None:
    """There is no release on an index: installs are of a checkout or of a wheel."""
    assert [path for path in tracked() if OF_AN_INDEX.search(path.read_text("utf-8"))] == []
