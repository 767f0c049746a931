"""The command `evaluate`."""

import json
from pathlib import Path

import pytest
from typer.testing import Result

from domsieve.evaluation import registry
from domsieve.evaluation.registry import EXPERIMENTS
from tests import command
from tests.evaluation.made import calls, made, write_numbers


@pytest.fixture(autouse=True)
def only_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOMSIEVE_DATA", raising=False)
    monkeypatch.setattr(registry, "EXPERIMENTS", {"made": made()})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_numbers(tmp_path / "data", a="1", b="2")
    return tmp_path / "data"


def evaluate(*words: str | Path, cache: Path) -> Result:
    return command.run("evaluate", *words, "--processes", "1", "-o", cache / "out", cache=cache)


def test_all_experiments_are_listed_with_what_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "EXPERIMENTS", EXPERIMENTS)
    listed = evaluate("--list", cache=tmp_path)
    assert listed.exit_code == 0
    assert all(name in listed.stdout for name in EXPERIMENTS)
    lines = [json.loads(line) for line in evaluate("--list", "--json", cache=tmp_path).stdout.splitlines()]
    assert [line["name"] for line in lines] == list(EXPERIMENTS)
    assert {line["name"]: line["needs"] for line in lines}["javascript"] == ["DATA/js", "--node-modules"]


def test_tables_are_printed_and_rows_as_json(data: Path, tmp_path: Path) -> None:
    result = evaluate("made", "--data", data, cache=tmp_path)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("Numbers\n\n**Values**")
    assert "[2/2] made b" in result.stderr
    again = evaluate("made", "--data", data, "--json", cache=tmp_path)
    assert [json.loads(line)["value"] for line in again.stdout.splitlines()] == [1, 2]
    assert calls(tmp_path / "out") == ["a", "b"]


def test_an_unknown_name_is_told_with_the_names_there_are(data: Path, tmp_path: Path) -> None:
    result = evaluate("mode", "--data", data, cache=tmp_path)
    assert result.exit_code == 2
    assert "There is no experiment 'mode'; there are: made." in result.stderr
    assert evaluate("--data", data, cache=tmp_path).exit_code == 2


def test_missing_data_are_told(data: Path, tmp_path: Path) -> None:
    nowhere = evaluate("made", cache=tmp_path)
    assert (nowhere.exit_code, nowhere.stderr.count("\n")) == (2, 1)
    assert "--data: Where are the corpora? Give their folder, or set DOMSIEVE_DATA." in nowhere.stderr
    gone = evaluate("made", "--data", tmp_path / "gone", cache=tmp_path)
    assert (gone.exit_code, gone.stderr.count("\n")) == (2, 1)
    other = evaluate("made", "--data", tmp_path, cache=tmp_path)
    assert other.exit_code == 2
    assert f"made reads {tmp_path.resolve() / 'numbers'}, which is not there." in other.stderr
    assert evaluate("all", "--data", tmp_path, cache=tmp_path).exit_code == 1


def test_a_task_that_fails_makes_exit_1_and_keeps_the_others(data: Path, tmp_path: Path) -> None:
    write_numbers(data, b="odd")
    result = evaluate("made", "--data", data, cache=tmp_path)
    assert result.exit_code == 1
    assert "made b failed: The number is odd." in result.stderr
    assert "| a | 1 |" in result.stdout


def test_the_document_holds_preface_and_tables(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "out/results.md"
    assert evaluate("made", "--data", data, "--document", file, cache=tmp_path).exit_code == 0
    text = file.read_text("utf-8")
    assert "## Numbers\n\nHow numbers are read.\n\n**Values**" in text
    assert "Made by `domsieve evaluate made --data DIR` with python " in text
    file.unlink()
    assert evaluate("--data", data, "--document", file, cache=tmp_path).exit_code == 0
    assert file.read_text("utf-8") == text
    assert calls(tmp_path / "out") == ["a", "b"]
