"""Environments of integrations: what they depend on, and that their tests are of no other environment."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools import integrations


def test_every_list_has_its_tests_and_every_test_its_list() -> None:
    tests = {path.stem.removeprefix("test_") for path in integrations.LISTS.glob("test_*.py")}
    assert {*integrations.names()} == tests
    assert {"mcp", "datatrove"} <= tests


def test_locked_versions_hold_without_hashes() -> None:
    lines = integrations.constraints().splitlines()
    assert len(lines) > 30
    assert all("==" in line and "hash" not in line and " " not in line for line in lines)


def test_a_change_of_the_list_makes_another_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(integrations, "LISTS", tmp_path)
    (tmp_path / "a.txt").write_text("one")
    before = integrations.key("a")
    assert integrations.key("a") == before
    (tmp_path / "a.txt").write_text("two")
    assert integrations.key("a") != before


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert integrations.main(["nothing"]) == 2
    assert "there is no nothing" in capsys.readouterr().err


def test_the_suite_collects_none_of_their_tests() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "tests/integrations"]
    done = subprocess.run(
        command, cwd=integrations.ROOT, capture_output=True, check=False, text=True, timeout=600
    )
    assert done.returncode == 5, done.stdout
    assert "test_mcp" not in done.stdout
