"""Each package lists what it re-exports, once and sorted."""

import ast
import importlib
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "analysis",
        "analysis.report",
        "archive",
        "bulk",
        "commands",
        "evaluation",
        "library",
        "renderer",
        "snapshot",
        "tasks",
    ],
)
def test_all_names_what_is_imported(name: str) -> None:
    package = importlib.import_module(f"domsieve.{name}")
    assert package.__file__
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    found = [(s.module, a.asname or a.name) for s in _handed_on(tree) for a in s.names]
    imported = [name for _, name in found]
    assert sorted(package.__all__) == sorted(imported)
    assert not [each for each in imported if each.startswith("_")]
    places = getattr(package, "_PLACES", None)
    if places is not None:  # what is loaded on use, as type checkers know it
        there = [(f"domsieve.{module}", each) for module, names in places.items() for each in names.split()]
        assert sorted(there) == sorted(found)
    by_kind = sorted(package.__all__, key=lambda each: (not each.isupper(), not each[0].isupper(), each))
    assert package.__all__ == by_kind, "constants, then classes, then functions"


def _handed_on(tree: ast.Module) -> list[ast.ImportFrom]:
    checked = [s for s in tree.body if isinstance(s, ast.If) and ast.unparse(s.test) == "TYPE_CHECKING"]
    body = checked[0].body if checked else tree.body
    return [s for s in body if isinstance(s, ast.ImportFrom)]


@pytest.mark.parametrize("name", ["analysis", "bulk", "renderer", "tasks"])
def test_doors_hand_on_all_that_they_name_and_nothing_else(name: str) -> None:
    package = importlib.import_module(f"domsieve.{name}")
    assert all(getattr(package, each) is not None for each in package.__all__)
    assert {*package.__all__} <= {*dir(package)}
    with pytest.raises(AttributeError, match=f"module 'domsieve.{name}' has no attribute 'nothing'"):
        _ = package.nothing
