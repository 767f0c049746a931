"""The table of hostile inputs names tests that exist, for every row."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_ROW = re.compile(r"^\| (\d+) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
ROWS = {
    int(number): (what, happens, tests)
    for number, what, happens, tests in _ROW.findall((ROOT / "docs" / "security.md").read_text("utf-8"))
}


@cache
def functions(path: Path) -> frozenset[str]:
    """Return the names of all tests of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_there_is_a_row_for_every_kind_of_input() -> None:
    assert [*ROWS] == [*range(1, 50)]


@pytest.mark.parametrize("number", ROWS)
def test_a_row_names_tests_that_exist(number: int) -> None:
    what, happens, tests = ROWS[number]
    assert what.strip()
    assert happens.strip().endswith(".")
    named = re.findall(r"`([^`]+)`", tests)
    assert named
    for name in named:
        path, _, function = name.partition("::")
        assert (ROOT / path).is_file(), name
        assert not function or function in functions(ROOT / path), name
