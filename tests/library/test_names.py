"""What `import domsieve` offers, and that it costs nothing."""

import ast
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import domsieve
from domsieve.library.parameters import (
    CleanKeywords,
    CompareKeywords,
    FetchKeywords,
    RecordsKeywords,
    SiteKeywords,
)

PAIRS = ["clean", "records", "compare", "render", "site"]


def alone(code: str, cwd: Path) -> Any:
    """Return what a fresh Python prints as JSON."""
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, capture_output=True, timeout=60, check=False
    )
    assert result.returncode == 0, result.stderr.decode()
    return json.loads(result.stdout)


def test_importing_loads_nothing_else(tmp_path: Path) -> None:
    code = "import sys; before = {*sys.modules}; import domsieve, json; print(json.dumps([*{*sys.modules} - before]))"
    loaded = alone(code, tmp_path)
    assert {name.partition(".")[0] for name in loaded} <= {"domsieve", "json", "_json"}
    assert [name for name in loaded if name.startswith("domsieve")] == ["domsieve"]


def test_folders_of_the_caller_are_not_in_the_way(tmp_path: Path) -> None:
    for name in ("analysis", "service", "snapshot", "renderer", "commands", "experiments", "tasks"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('not ours')", encoding="utf-8")
    for name in ("cli.py", "errors.py", "files.py", "sanitize.py", "notebook.py"):
        (tmp_path / name).write_text("raise ImportError('not ours')", encoding="utf-8")
    code = "import domsieve, json; print(json.dumps(domsieve.clean('<h1>Swifts</h1><p>A hundred days.').markdown))"
    assert alone(code, tmp_path) == "# Swifts\n\nA hundred days.\n"


def test_names_are_sorted_and_there() -> None:
    assert domsieve.__all__ == sorted(domsieve.__all__, key=lambda name: (name != "__version__", name))
    assert dir(domsieve) == sorted(domsieve.__all__)
    for name in domsieve.__all__:
        assert getattr(domsieve, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'sst'"):
        _ = domsieve.sst  # type: ignore[attr-defined]


def test_type_checkers_see_the_same_names() -> None:
    assert domsieve.__file__
    tree = ast.parse(Path(domsieve.__file__).read_text(encoding="utf-8"))
    shown = {
        alias.name: statement.module
        for statement in ast.walk(tree)
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("domsieve.")
        for alias in statement.names
        if alias.asname == alias.name
    }
    assert shown == {name: f"domsieve.{module}" for name, module in domsieve._MODULE_OF.items()}


def test_calls_have_async_twins() -> None:
    for name in PAIRS:
        assert inspect.isfunction(getattr(domsieve, name))
        assert inspect.iscoroutinefunction(getattr(domsieve, f"{name}_async"))


@pytest.mark.parametrize("name", PAIRS)
def test_twins_take_the_same(name: str) -> None:
    twins = getattr(domsieve, name), getattr(domsieve, f"{name}_async")
    ours, theirs = (inspect.signature(call) for call in twins)
    assert ours == theirs
    kinds = [each.kind for each in ours.parameters.values()]
    assert kinds[1:] == [inspect.Parameter.KEYWORD_ONLY] * (len(kinds) - 1)


@pytest.mark.parametrize(
    ("name", "keywords"),
    [
        ("clean", CleanKeywords),
        ("records", RecordsKeywords),
        ("compare", CompareKeywords),
        ("render", FetchKeywords),
        ("site", SiteKeywords),
    ],
)
def test_signatures_show_what_the_calls_take(name: str, keywords: Any) -> None:
    parameters = inspect.signature(getattr(domsieve, name)).parameters.values()
    assert {each.name for each in parameters} - {"page", "url"} == {*keywords.__optional_keys__} - {"url"}
    assert all(
        each.default is not each.empty for each in parameters if each.name in keywords.__optional_keys__
    )
    text = inspect.getdoc(getattr(domsieve, name)) or ""
    described = {
        word for line in re.findall(r"^(\w[\w, ]*) : ", text, re.MULTILINE) for word in line.split(", ")
    }
    assert {each.name for each in parameters} <= described
    assert len(parameters) <= 14
