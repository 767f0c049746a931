"""The tables of the security documentation name tests that exist: for every attacker, caller and hostile input."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "security.md").read_text("utf-8")
FUZZ = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / "fuzz").glob("test_*.py"))

Row = tuple[str, ...]


def tables(heading: str) -> list[list[Row]]:
    """Return the rows of each table of a section, without their heads."""
    section = TEXT.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    found = re.findall(r"^\| .+ \|\n\|[-|]+\|\n((?:\|.+\|\n?)+)", section, re.MULTILINE)
    return [
        [tuple(cell.strip() for cell in line[1:-1].split(" |")) for line in table.strip().split("\n")]
        for table in found
    ]


ATTACKERS, ATTACKERS_TESTS = tables("Who may attack")
(CALLERS,) = tables("Callers of the service")
(INPUTS,) = tables("Hostile inputs")
NUMBERS = [int(row[0]) for row in INPUTS]
NAMED = [
    *((f"{row[0]}: {row[1]}", row[-1]) for row in INPUTS),
    *((row[0], row[-1]) for row in CALLERS),
    *((row[0], row[-1]) for row in ATTACKERS_TESTS),
]


@cache
def functions(path: Path) -> frozenset[str]:
    """Return the names of all tests of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_there_is_a_row_for_every_kind_of_input() -> None:
    assert [*range(1, 55)] == NUMBERS


def test_every_attacker_has_tests() -> None:
    assert [row[0] for row in ATTACKERS_TESTS] == [row[0] for row in ATTACKERS]
    assert len(ATTACKERS) == 9


def test_rows_that_stand_for_attackers_exist() -> None:
    for _, tests in ATTACKERS_TESTS:
        numbers = re.findall(r"\d+", tests.partition("`")[0])
        assert {*map(int, numbers)} <= {*NUMBERS}, tests


@pytest.mark.parametrize("row", [*CALLERS, *(row[1:] for row in INPUTS)], ids=lambda row: row[0][:40])
def test_a_row_says_what_happens(row: Row) -> None:
    what, happens, _ = row
    assert what
    assert happens.endswith(".")


@pytest.mark.parametrize(("what", "tests"), NAMED, ids=[what[:40] for what, _ in NAMED])
def test_a_row_names_tests_that_exist(what: str, tests: str) -> None:
    named = re.findall(r"`([^`]+)`", tests)
    assert named, what
    assert len({*named}) == len(named)
    for name in named:
        path, _, function = name.partition("::")
        assert path.startswith("tests/"), name
        assert (ROOT / path).is_file(), name
        assert not function or (function.startswith("test_") and function in functions(ROOT / path)), name


@pytest.mark.parametrize("path", FUZZ)
def test_every_group_of_fuzz_tests_stands_in_a_row(path: str) -> None:
    assert any(f"`{path}::" in tests for _, tests in NAMED)
