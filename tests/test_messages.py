"""The messages of wrong calls, word by word: each file of tests/golden has calls of one command and their output.

Other tests check the kind of an error, its subject and the exit code. To change words, or to add a call, write the
files again and read the difference:

    python -m tests.test_messages
"""

import os
import shlex
import tempfile
from contextlib import chdir
from pathlib import Path

import pytest

from tests.command import run, write_pages

FILES = sorted((Path(__file__).parent / "golden").glob("*.txt"))
_CALL = "$ domsieve"


def printed(file: Path) -> str:
    """Return the calls of a file, each with what it prints and its exit code."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return "\n".join(_printed_by(line.removeprefix(_CALL)) for line in lines if line.startswith(_CALL))


def _printed_by(words: str) -> str:
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        write_pages(Path(), 1)[0].rename("p.html")
        Path("empty").mkdir()
        Path("bad.toml").write_text("[clean]\nmetod = 'sst'\n", encoding="utf-8")
        result = run(*shlex.split(words), cache=Path("cache"))
        assert result.stdout == ""
        said = result.stderr.replace(os.path.realpath(folder), "FOLDER")
    return f"{_CALL}{words}\n{said}exit {result.exit_code}\n"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_wrong_calls_are_refused_in_these_words(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("DOMSIEVE_BROWSER", raising=False)
    assert printed(file) == file.read_text(encoding="utf-8")


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    for file in FILES:
        file.write_text(printed(file), encoding="utf-8")
