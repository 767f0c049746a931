"""The file of results: lines are added, the last of a task counts, and a digest tells what they depend on."""

import json
from pathlib import Path

import pytest

from domsieve.errors import DamagedFileError
from experiments.frame import journal
from experiments.frame.experiment import Inputs
from experiments.frame.journal import Journal, Line, digest_of, facts_of, key_of, program_digest
from tests.experiments.made import made, write_numbers


def line(task: str, value: int) -> Line:
    return Line(f"key {value}", {"task": task}, [{"value": value}])


def test_the_last_line_of_a_task_counts(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "new", "made")
    assert journal.read() == {}
    for one in (line("a", 1), line("b", 2), line("a", 3)):
        journal.add(one)
    assert journal.read() == {"a": line("a", 3), "b": line("b", 2)}
    assert list(journal.rows(["b", "none", "a"])) == [{"value": 2}, {"value": 3}]


def test_a_line_that_was_cut_off_is_dropped_by_the_next(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "made")
    journal.add(line("a", 1))
    with journal.path.open("a", encoding="utf-8") as file:
        file.write('{"key": "x", "task": "b", "ro')
    assert list(journal.read()) == ["a"]
    journal.add(line("c", 3))
    assert journal.read() == {"a": line("a", 1), "c": line("c", 3)}
    assert len(journal.path.read_text("utf-8").splitlines()) == 2


def test_a_damaged_line_in_the_middle_is_told(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "made")
    journal.path.write_text("{broken\n", encoding="utf-8")
    journal.add(line("a", 1))
    with pytest.raises(DamagedFileError, match="line 1 is damaged"):
        journal.read()


def test_a_digest_knows_names_and_contents_but_no_places(tmp_path: Path) -> None:
    write_numbers(tmp_path / "one", a="1", b="2")
    write_numbers(tmp_path / "two", a="1", b="2")
    write_numbers(tmp_path / "three", a="1", b="3")
    write_numbers(tmp_path / "four", a="1", c="2")
    one, two, three, four = (digest_of((tmp_path / n / "numbers",)) for n in ("one", "two", "three", "four"))
    assert one == two
    assert len({one, three, four}) == 3


def test_the_digest_of_the_program_knows_modules_and_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "ROOT", tmp_path)
    monkeypatch.setattr(journal, "_CODE", ("analysis",))
    (tmp_path / "analysis").mkdir()
    digests = set()
    for name, content in (
        ("a.py", "1"),
        ("a.py", "2"),
        ("model.zst", "1"),
        ("model.zst", "2"),
        ("notes.md", "1"),
    ):
        (tmp_path / "analysis" / name).write_text(content, encoding="utf-8")
        program_digest.cache_clear()
        journal._file_digest.cache_clear()
        digests.add(program_digest())
    program_digest.cache_clear()
    journal._file_digest.cache_clear()
    assert len(digests) == 4


def test_all_code_that_the_digest_of_the_program_is_made_of_exists() -> None:
    assert [name for name in journal._CODE if not (journal.ROOT / name).exists()] == []
    assert {"domsieve/analysis", "domsieve/renderer", "experiments"} <= {*journal._CODE}


def test_a_result_of_an_older_program_is_still_read(tmp_path: Path) -> None:
    older = {"key": "0" * 64, "task": "a", "program": "of domsieve/evaluation", "rows": [{"value": 1}]}
    (tmp_path / "made.jsonl").write_text(json.dumps(older) + "\n", encoding="utf-8")
    assert list(Journal(tmp_path, "made").rows(["a"])) == [{"value": 1}]


def test_the_key_depends_on_all_that_shapes_the_rows(tmp_path: Path) -> None:
    write_numbers(tmp_path / "data", a="1")
    inputs = Inputs(tmp_path / "data", tmp_path / "out")
    facts = [facts_of(made(factor), made(factor).tasks(inputs)[0]) for factor in (1, 1, 2)]
    assert key_of(facts[0]) == key_of(facts[1]) != key_of(facts[2])
    for name, value in (("corpus", "x"), ("program", "x"), ("versions", {})):
        assert key_of({**facts[0], name: value}) != key_of(facts[0])
