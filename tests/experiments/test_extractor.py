"""Extractors that are commands: a process per page with a limit, on all corpora of text, resumable."""

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from domsieve.errors import UsageError
from experiments.__main__ import app
from experiments.corpora.text_corpora import CORPORA, parts_of
from experiments.experiments.extractor import extractor_experiment
from experiments.systems.commands import command_words, extract_with
from tests.command import ROOT
from tests.experiments.annotated import write_segments
from tests.experiments.small_sites import write_site
from tests.experiments.test_peers import PAGE
from tests.experiments.test_wcxb import write_page

ECHO = (sys.executable, "-c", "import sys; sys.stdout.write(sys.stdin.read())")
CHILD = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep({})'])"
INTERRUPTED = """
import signal, sys
from experiments.systems.commands import extract_with
signal.signal(signal.SIGINT, signal.SIG_DFL)

extract_with(("sh", "-c", "echo $$ >" + sys.argv[1] + "; exec sleep 600"), b"")
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with all corpora, a page of each."""
    write_page(tmp_path, "0001", main_content="A post.")
    (tmp_path / "magic").mkdir()
    for kind in ("article", "forum"):
        with zipfile.ZipFile(tmp_path / "magic" / f"{kind}.zip", "w") as archive:
            archive.writestr("pages/a.html", "<html><p>漢字")
            truth = {"url": "https://e.example/", "content": "漢字", "language": "zh"}
            archive.writestr("truth/a.json", json.dumps(truth))
    write_segments(tmp_path, {"https://e.example/": PAGE})
    (tmp_path / "sites").mkdir()
    pages = {"a": (None, "<html lang=de><p class=by>By Ann</p><p id=content>Some words.", "Some words.")}
    write_site(tmp_path / "sites" / "docs-x.zip", pages, neutral=[".by"])
    return tmp_path


def measure(*words: str | Path, folder: Path) -> Result:
    given = [*words, "--processes", "1", "-o", folder]
    return CliRunner().invoke(app, [str(word) for word in given])


def test_a_command_reads_html_and_writes_text() -> None:
    found = extract_with(ECHO, "Öl".encode())
    assert (found.text, found.failed, found.late) == ("Öl", False, False)
    assert found.seconds > 0


@pytest.mark.parametrize("code", ["print('x'); raise SystemExit(3)", "import os; os.abort()"])
def test_a_command_that_fails_gives_no_text(code: str) -> None:
    found = extract_with((sys.executable, "-c", code), b"x" * 1_000_000)
    assert (found.text, found.failed, found.late) == ("", True, False)


def test_a_command_that_is_late_is_ended_with_its_children() -> None:
    start = time.monotonic()
    found = extract_with((sys.executable, "-c", CHILD.format(600)), b"", limit=timedelta(seconds=1))
    assert (found.text, found.failed, found.late) == ("", True, True)
    assert time.monotonic() - start < 60


@pytest.mark.skipif(os.name == "nt", reason="an interruption comes as a signal")
def test_an_interruption_ends_the_command(tmp_path: Path) -> None:
    script, number = tmp_path / "run.py", tmp_path / "number"
    script.write_text(INTERRUPTED, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, script, number], env=environment) as process:
        while not (number.exists() and number.read_text("utf-8").endswith("\n")):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT
    with pytest.raises(ProcessLookupError):  # noqa: PT012
        for _ in range(600):
            os.killpg(int(number.read_text("utf-8")), 0)
            time.sleep(0.05)


@pytest.mark.parametrize("command", ["", "'open", "no-such-program-here -x"])
def test_what_is_no_command_is_refused_before_any_work(command: str) -> None:
    with pytest.raises(UsageError):
        command_words(command)


def test_all_corpora_are_measured_and_a_second_run_measures_nothing(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    echo = "cat"
    first = measure("--extractor", echo, "--data", data, folder=folder)
    assert first.exit_code == 0, first.stderr
    assert first.stdout.startswith("Text of single pages by `cat`\n")
    head = "| system | wcxb (1) | magic (2) | trafilatura (1) | sites (1) |"
    assert head in first.stdout
    assert "| sites | German | 1 | 1 | " in first.stdout
    assert "| magic | Chinese | 2 | 1 | " in first.stdout
    again = measure("--extractor", echo, "--data", data, folder=folder)
    assert again.stdout == first.stdout
    assert "5 of 5 tasks are in" in again.stderr
    other = measure("--extractor", "false", "--extractor", echo, "--data", data, "--json", folder=folder)
    rows = [json.loads(line) for line in other.stdout.splitlines()]
    assert [row["failures"] for row in rows] == [["false"]] * 5 + [[]] * 5
    assert other.stderr.count("5 of 5 tasks") == 1, "the results of another command are still there"


def test_the_command_is_part_of_what_shapes_the_rows(data: Path, tmp_path: Path) -> None:
    from experiments.frame.experiment import Inputs

    tasks = extractor_experiment("cat -u").tasks(Inputs(data, tmp_path))
    assert {task.parameters["command"] for task in tasks} == {"cat -u"}
    assert all(task.name.startswith("cat -u: ") for task in tasks)


def test_a_missing_corpus_is_told(data: Path, tmp_path: Path) -> None:
    (data / "magic").rename(data / "gone")
    result = measure("--extractor", "cat", "--data", data, folder=tmp_path / "out")
    assert result.exit_code == 2
    assert "magic, which is not there" in result.stderr


def test_neutral_words_count_neither_for_nor_against_a_text(data: Path) -> None:
    (page,) = (page for part in parts_of("sites", data) for page in part.read())
    assert page.judge("By Ann Some words.") == [1.0, 1.0, 1.0]
    assert page.judge("By Ann By Some words.") == [0.8, 0.6667, 1.0]


def test_the_parts_of_all_corpora_have_names_of_their_own(data: Path) -> None:
    names = [part.name for corpus in CORPORA for part in parts_of(corpus, data)]
    assert len(set(names)) == len(names) == 5
