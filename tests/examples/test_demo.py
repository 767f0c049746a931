"""The demo, and the commands that it names at its end."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from examples import demo
from examples.serve import serve_demo

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Run the demo in a folder of its own on a few pages; return the folder and what was printed."""
    folder = tmp_path_factory.mktemp("demo")
    repository = str(Path(demo.__file__).parents[1])
    with serve_demo() as base:  # a free port, since several tests may run at once
        command = ["-m", "examples.demo", "--site", f"{base}/articles/owl-pellets", "--pages", "6"]
        done = subprocess.run(
            [sys.executable, *command],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": repository},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_it_shows_the_article_and_not_what_stands_around_it(run: tuple[Path, str]) -> None:
    _, printed = run
    clean = printed.partition("Clean one of them")[2].partition("What was dropped")[0]
    assert "# An owl’s account book" in clean
    assert "Advertisement" not in clean
    assert "Home" not in clean


def test_it_says_why_blocks_were_dropped(run: tuple[Path, str]) -> None:
    _, printed = run
    dropped = printed.partition("What was dropped")[2]
    assert "hidden: off screen\n" in dropped
    assert re.search(r"looks like boilerplate, score 0\.\d\d \(kept from 0\.\d\d\)\n", dropped)
    assert "browser needed" in printed


def test_the_report_stays(run: tuple[Path, str]) -> None:
    folder, printed = run
    assert "The report is build/demo/report.html" in printed
    assert (folder / "build/demo/report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_next_commands_work_without_the_site(run: tuple[Path, str]) -> None:
    folder, printed = run
    commands = [shlex.split(line) for line in printed.partition("\nNext\n")[2].splitlines()[1:]]
    assert [command[1] for command in commands] == ["clean", "records", "cache"]
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "domsieve.cli", *command[1:]],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert list((folder / "build/demo/clean").rglob("*.md"))
    assert (folder / "build/demo/records.csv").stat().st_size > 0


def test_only_addresses_of_the_web_are_sites(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["demo", "--site", "example.org"])
    with pytest.raises(SystemExit):
        demo.main()
    assert "http://" in capsys.readouterr().err
