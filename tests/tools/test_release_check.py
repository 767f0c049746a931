"""The check of a release: what is tried, and what stops it. Nothing is built or installed here."""

import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from tools import release_check
from tools.release_check import ROOT, ReleaseError

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


class Commands:
    """Takes the place of commands that run: builds empty files and answers as a working domsieve does."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.allowed: dict[str, Sequence[int]] = {}
        self.version = f"domsieve {VERSION}\n"
        self.cleaned = "# Swifts\n\nThey arrive when the hawthorn flowers.\n"

    def __call__(
        self, command: Sequence[str | Path], folder: Path | None = None, allowed: Sequence[int] = (0,)
    ) -> str:
        words = [str(word) for word in command]
        self.ran.append(" ".join(words))
        self.allowed[words[1]] = allowed
        if "build" in words:
            dist = Path(words[words.index("--outdir") + 1])
            dist.mkdir()
            for ending in ("-py3-none-any.whl", ".tar.gz"):
                (dist / f"domsieve-{VERSION}{ending}").touch()
        if folder is not None:
            assert not folder.is_relative_to(ROOT), "domsieve runs outside the checkout"
        return {"--version": self.version, "clean": self.cleaned}.get(words[1], "")


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Commands:
    commands = Commands()
    monkeypatch.setattr(release_check, "_run", commands)
    return commands


def test_both_files_are_checked_and_the_wheel_is_tried(commands: Commands) -> None:
    release_check.check()
    (twine,) = (line for line in commands.ran if "twine check" in line)
    assert f"domsieve-{VERSION}.tar.gz" in twine
    assert f"domsieve-{VERSION}-py3-none-any.whl" in twine
    assert sum("install" in line and line.endswith(".whl") for line in commands.ran) == 1
    tried = [
        line.partition("bin/domsieve ")[2].split()[0] for line in commands.ran if "bin/domsieve " in line
    ]
    assert tried == ["--version", "clean", "doctor"]
    assert {word for word in tried if commands.allowed[word] != (0,)} == {"doctor"}, (
        "only Chrome may be missing"
    )


def test_another_version_is_refused(commands: Commands) -> None:
    commands.version = "domsieve 0.0.1\n"
    with pytest.raises(ReleaseError, match=VERSION):
        release_check.check()


def test_lost_content_is_refused(commands: Commands) -> None:
    commands.cleaned = "# Swifts\n"
    with pytest.raises(ReleaseError, match="clean"):
        release_check.check()


def test_a_status_that_is_not_allowed_is_an_error() -> None:
    fail = [sys.executable, "-c", "raise SystemExit(4)"]
    assert release_check._run(fail, allowed=(0, release_check.NO_BROWSER)) == ""
    with pytest.raises(ReleaseError, match="status 4"):
        release_check._run(fail)
