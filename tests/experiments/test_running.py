"""Tasks run in processes of their own, and a run resumes where another ended."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from experiments.frame.experiment import Inputs
from experiments.frame.journal import Journal, _file_digest
from experiments.frame.running import Ran, run
from tests.experiments.made import calls, made, write_numbers

ROOT = Path(__file__).parents[2]
INTERRUPTED = """
import sys
from pathlib import Path
from experiments.frame.experiment import Inputs
from experiments.frame.running import run
from tests.experiments.made import made

if __name__ == "__main__":
    data, output = map(Path, sys.argv[1:])
    run(made(), Inputs(data, output), processes=1, report=lambda text: print(text, flush=True))
"""


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    write_numbers(tmp_path / "data", a="1", b="2", c="3")
    return Inputs(tmp_path / "data", tmp_path / "out")


def values(ran: Ran) -> dict[str, int]:
    return {row["name"]: row["value"] for row in ran.rows}


def test_a_second_run_measures_nothing(inputs: Inputs) -> None:
    told: list[str] = []
    first = run(made(), inputs, processes=2, report=told.append)
    assert values(first) == {"a": 1, "b": 2, "c": 3}
    assert list(values(first)) == ["a", "b", "c"]
    assert sorted(calls(inputs.output)) == ["a", "b", "c"]
    assert [text[:5] for text in told] == ["[1/3]", "[2/3]", "[3/3]"]
    told.clear()
    assert run(made(), inputs, report=told.append) == first
    assert len(calls(inputs.output)) == 3
    assert told == [f"made: 3 of 3 tasks are in {inputs.output / 'made.jsonl'} already"]


def test_another_parameter_or_another_file_is_measured_again(inputs: Inputs) -> None:
    run(made(), inputs, processes=1)
    write_numbers(inputs.data, b="5")
    # The digest of a file is kept for a run, and this is another one.
    _file_digest.cache_clear()
    assert values(run(made(), inputs, processes=1)) == {"a": 1, "b": 5, "c": 3}
    assert calls(inputs.output) == ["a", "b", "c", "b"]
    assert values(run(made(2), inputs, processes=1)) == {"a": 2, "b": 10, "c": 6}
    assert len(calls(inputs.output)) == 7


def test_a_line_that_was_cut_off_is_measured_again(inputs: Inputs) -> None:
    run(made(), inputs, processes=1)
    file = inputs.output / "made.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole[: -len(whole.splitlines()[-1]) // 2])
    assert values(run(made(), inputs, processes=1)) == {"a": 1, "b": 2, "c": 3}
    assert calls(inputs.output) == ["a", "b", "c", "c"]
    assert list(Journal(inputs.output, "made").read()) == ["a", "b", "c"]


def test_a_task_that_fails_is_told_and_the_others_are_kept(inputs: Inputs) -> None:
    write_numbers(inputs.data, b="odd", d="no number")
    ran = run(made(), inputs, processes=1)
    assert values(ran) == {"a": 1, "c": 3}
    assert ran.failed["b"] == "The number is odd."
    assert ran.failed["d"].startswith("ValueError: ")
    write_numbers(inputs.data, b="4", d="6")
    _file_digest.cache_clear()
    assert values(run(made(), inputs, processes=1)) == {"a": 1, "b": 4, "c": 3, "d": 6}
    assert calls(inputs.output) == ["a", "b", "c", "d", "b", "d"]


def test_costs_are_beside_the_figures(inputs: Inputs) -> None:
    run(made(), inputs, processes=1)
    line = Journal(inputs.output, "made").read()["a"]
    assert line.facts["cost"].keys() == {"seconds", "cpu_seconds", "peak_mb"}
    assert line.facts["parameters"] == {"factor": 1}
    assert {"python", "domsieve", "numpy"} <= line.facts["versions"].keys()


@contextmanager
def running(inputs: Inputs, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Give a process group that measures, at the moment when its second task has begun and waits."""
    write_numbers(inputs.data, b="wait")
    script = folder / "interrupted.py"
    script.write_text(INTERRUPTED, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, str(script), str(inputs.data), str(inputs.output)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline().startswith("[1/3] made a")
        while calls(inputs.output) != ["a", "b"]:
            time.sleep(0.05)
        yield process


@pytest.mark.skipif(os.name == "nt", reason="an interruption comes as a signal")
class TestInterruption:
    def test_keeps_what_is_done(self, inputs: Inputs, tmp_path: Path) -> None:
        with running(inputs, tmp_path) as process:
            os.killpg(process.pid, signal.SIGINT)
            _, told = process.communicate(timeout=120)
        assert process.returncode != 0
        assert told.count("KeyboardInterrupt") == 1
        write_numbers(inputs.data, b="2")
        assert values(run(made(), inputs, processes=1)) == {"a": 1, "b": 2, "c": 3}
        assert calls(inputs.output)[2:] == ["b", "c"]

    def test_leaves_no_process_behind(self, inputs: Inputs, tmp_path: Path) -> None:
        with running(inputs, tmp_path) as process:
            process.kill()
            process.wait(timeout=120)
            with pytest.raises(ProcessLookupError):  # noqa: PT012
                for _ in range(600):
                    os.killpg(process.pid, 0)
                    time.sleep(0.05)
