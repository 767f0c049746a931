"""The program `python -m experiments`."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from experiments import registry
from experiments.__main__ import app
from experiments.registry import EXPERIMENTS
from tests.command import ROOT
from tests.experiments.made import calls, made, write_numbers


@pytest.fixture(autouse=True)
def only_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOMSIEVE_DATA", raising=False)
    monkeypatch.setattr(registry, "EXPERIMENTS", {"made": made()})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_numbers(tmp_path / "data", a="1", b="2")
    return tmp_path / "data"


def measure(*words: str | Path, folder: Path) -> Result:
    given = [*words, "--processes", "1", "-o", folder / "out"]
    return CliRunner().invoke(app, [str(word) for word in given])


def test_all_experiments_are_listed_with_what_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "EXPERIMENTS", EXPERIMENTS)
    listed = measure("--list", folder=tmp_path)
    assert listed.exit_code == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(EXPERIMENTS)
    lines = [json.loads(line) for line in measure("--list", "--json", folder=tmp_path).stdout.splitlines()]
    assert [line["name"] for line in lines] == list(EXPERIMENTS)
    assert {line["name"]: line["needs"] for line in lines}["javascript"] == ["DATA/js", "--node-modules"]


def test_tables_are_printed_and_rows_as_json(data: Path, tmp_path: Path) -> None:
    result = measure("made", "--data", data, folder=tmp_path)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("Numbers\n\n**Values**")
    assert "[2/2] made b" in result.stderr
    again = measure("made", "--data", data, "--json", folder=tmp_path)
    assert [json.loads(line)["value"] for line in again.stdout.splitlines()] == [1, 2]
    assert calls(tmp_path / "out") == ["a", "b"]


def test_an_unknown_name_is_told_with_the_names_there_are(data: Path, tmp_path: Path) -> None:
    result = measure("mode", "--data", data, folder=tmp_path)
    assert result.exit_code == 2
    assert "There is no experiment 'mode'; there are: made." in result.stderr
    assert measure("--data", data, folder=tmp_path).exit_code == 2


def test_missing_data_are_told(data: Path, tmp_path: Path) -> None:
    nowhere = measure("made", folder=tmp_path)
    assert (nowhere.exit_code, nowhere.stderr.count("\n")) == (2, 1)
    assert "--data: Where are the corpora? Give their folder, or set DOMSIEVE_DATA." in nowhere.stderr
    gone = measure("made", "--data", tmp_path / "gone", folder=tmp_path)
    assert (gone.exit_code, gone.stderr.count("\n")) == (2, 1)
    other = measure("made", "--data", tmp_path, folder=tmp_path)
    assert other.exit_code == 2
    assert f"made reads {tmp_path.resolve() / 'numbers'}, which is not there." in other.stderr
    assert measure("all", "--data", tmp_path, folder=tmp_path).exit_code == 1


def test_a_task_that_fails_makes_exit_1_and_keeps_the_others(data: Path, tmp_path: Path) -> None:
    write_numbers(data, b="odd")
    result = measure("made", "--data", data, folder=tmp_path)
    assert result.exit_code == 1
    assert "made b failed: The number is odd." in result.stderr
    assert "| a | 1 |" in result.stdout


def test_the_document_holds_preface_and_tables(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "out/results.md"
    assert measure("made", "--data", data, "--document", file, folder=tmp_path).exit_code == 0
    text = file.read_text("utf-8")
    assert "## Numbers\n\nHow numbers are read.\n\n**Values**" in text
    assert "Made by `python -m experiments made --data DIR` with python " in text
    file.unlink()
    assert measure("--data", data, "--document", file, folder=tmp_path).exit_code == 0
    assert file.read_text("utf-8") == text
    assert calls(tmp_path / "out") == ["a", "b"]


def test_quiet_prints_errors_only(data: Path, tmp_path: Path) -> None:
    write_numbers(data, b="odd")
    result = measure("made", "--data", data, "--quiet", folder=tmp_path)
    assert result.stderr == "1 tasks or experiments were not done; the same command tries them again.\n"
    assert measure("made", "--data", data, "-q", "-v", folder=tmp_path).exit_code == 2


@pytest.mark.parametrize("option", ["-o", "--document"])
def test_a_place_for_results_that_cannot_be_used_is_refused_before_any_work(
    option: str, data: Path, tmp_path: Path
) -> None:
    for place in (tmp_path / "new" / "deeper", tmp_path / "taken"):
        if place.name == "taken" and option == "-o":
            place.touch()
        elif place.name == "taken":
            place.mkdir()
        result = CliRunner().invoke(app, ["made", "--data", str(data), option, str(place)])
        assert (result.exit_code, result.stdout) == (2, "")
        assert re.search("does not exist; create it first|this is a (file|folder); give ", result.stderr)
    assert not (tmp_path / "new").exists()


def test_it_runs_as_a_module(data: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "experiments", "made", "--data", str(data), "-o", str(tmp_path / "out")],
        capture_output=True,
        check=False,
        cwd=ROOT,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "There is no experiment 'made'; there are: sites, " in done.stderr


def test_help_needs_no_extra_and_a_run_says_what_is_missing() -> None:
    hide = "import importlib.util as u; f = u.find_spec; "
    hide += "u.find_spec = lambda n, p=None: None if n == 'cssselect' else f(n, p); "
    for words, code in ((["--help"], 0), (["all"], 2)):
        program = f"{hide}from experiments.__main__ import app; app({words})"
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=False, cwd=ROOT, text=True
        )
        assert done.returncode == code
        assert ("not installed (cssselect)" in done.stderr) is (code == 2)
        assert "Traceback" not in done.stderr
