"""An experiment of the tests: tasks that count how often they were measured, fail, or wait."""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from domsieve.errors import DomsieveError
from experiments.frame.experiment import Experiment, Inputs, Row, Task
from experiments.frame.tables import Table

FACTOR = "factor"


def measure(file: Path, calls: Path, factor: int) -> list[Row]:
    """Return the number in a file times a factor; a word in it is a failure."""
    with calls.open("a", encoding="utf-8") as log:
        log.write(file.stem + "\n")
    text = file.read_text("utf-8")
    if text == "wait":
        time.sleep(600)
    if text == "odd":
        raise DomsieveError("The number is odd.")
    return [{"name": file.stem, "value": int(text) * factor, "cost": {"seconds": 1}}]


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return the values by name."""
    return [Table("Values", ("name", "value"), [[row["name"], row["value"]] for row in rows])]


def made(factor: int = 1) -> Experiment:
    """Return an experiment that reads DATA/numbers, a task per file."""

    def tasks(inputs: Inputs) -> list[Task]:
        calls = inputs.output / "calls"
        inputs.output.mkdir(parents=True, exist_ok=True)
        return [
            Task(file.stem, partial(measure, file, calls, factor), (file,), {FACTOR: factor})
            for file in sorted((inputs.data / "numbers").glob("*.txt"))
        ]

    return Experiment("made", "Numbers", ("numbers",), tasks, tables, None, "How numbers are read.")


def write_numbers(data: Path, **numbers: str) -> None:
    """Write files below DATA/numbers."""
    (data / "numbers").mkdir(parents=True, exist_ok=True)
    for name, text in numbers.items():
        (data / "numbers" / f"{name}.txt").write_text(text, encoding="utf-8")


def calls(output: Path) -> list[str]:
    """Return the names of the tasks that were measured, in order."""
    file = output / "calls"
    return file.read_text("utf-8").split() if file.exists() else []
