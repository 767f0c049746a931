"""The npm packages of the JavaScript corpora: which are wanted, and which are missing."""

import json
from pathlib import Path

import pytest

from tools.node_packages import main, missing, wanted


def write(file: Path, content: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content), encoding="utf-8")


def test_all_manifests_together_say_what_is_wanted(tmp_path: Path) -> None:
    write(tmp_path / "js/one/manifest.json", {"npm": {"a": "1.0.0", "@b/c": "2.0.0"}})
    write(tmp_path / "js/two/manifest.json", {"npm": {"a": "1.0.0"}})
    assert wanted(tmp_path) == {"a": "1.0.0", "@b/c": "2.0.0"}
    write(tmp_path / "js/two/manifest.json", {"npm": {"a": "1.0.1"}})
    with pytest.raises(ValueError, match="names a 1"):
        wanted(tmp_path)


def test_a_package_of_another_version_is_missing(tmp_path: Path) -> None:
    write(tmp_path / "node_modules/a/package.json", {"version": "1.0.0"})
    write(tmp_path / "node_modules/@b/c/package.json", {"version": "2.0.1"})
    assert missing({"a": "1.0.0", "@b/c": "2.0.0", "d": "1"}, tmp_path) == {"@b/c": "2.0.0", "d": "1"}


def test_nothing_is_done_where_all_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    write(tmp_path / "js/one/manifest.json", {"npm": {"a": "1.0.0"}})
    write(tmp_path / "npm/node_modules/a/package.json", {"version": "1.0.0"})
    assert main(tmp_path, tmp_path / "npm") == 0
