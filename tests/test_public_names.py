"""Each package lists what it re-exports, once and sorted."""

import ast
import importlib
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "name",
    ["analysis", "analysis.report", "commands", "evaluation", "library", "renderer", "snapshot", "tasks"],
)
def test_all_names_what_is_imported(name: str) -> None:
    package = importlib.import_module(f"domsieve.{name}")
    assert package.__file__
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    imported = [a.asname or a.name for s in tree.body if isinstance(s, ast.ImportFrom) for a in s.names]
    assert sorted(package.__all__) == sorted(imported)
    assert not [each for each in imported if each.startswith("_")]
    by_kind = sorted(package.__all__, key=lambda each: (not each.isupper(), not each[0].isupper(), each))
    assert package.__all__ == by_kind, "constants, then classes, then functions"
