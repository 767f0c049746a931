"""The oldest and the newest Python are the ones that really start."""

from pathlib import Path

import pytest

from tools import pythons


def install(path: Path, script: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_shims_that_do_not_start_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, shims, pyenv = tmp_path / "path", tmp_path / "shims", tmp_path / "home/.pyenv/versions"
    monkeypatch.setenv("PATH", f"{shims}:{path}")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert pythons.oldest_and_newest() == []
    for version in ("3.11", "3.12", "3.13", "3.14"):
        install(shims / f"python{version}", "echo command not found >&2; exit 127")
    middle = install(path / "python3.12", "echo 3.12")
    assert pythons.oldest_and_newest() == [("3.12", middle)]
    oldest = install(path / "python3.11", "echo 3.11")
    newest = install(pyenv / "3.13.0/bin/python3.13", "echo 3.13")
    install(pyenv / "3.14.0/bin/python3.14", "echo 3.13")
    assert pythons.oldest_and_newest() == [("3.11", oldest), ("3.13", newest)]
