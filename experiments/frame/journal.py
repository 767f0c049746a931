"""The results of an experiment as JSON lines: one line per task, with all that its figures depend on."""

import hashlib
import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from domsieve.errors import DamagedFileError
from experiments.frame.experiment import Experiment, Row, Task

ROOT = Path(__file__).resolve().parents[2]
_CODE = (
    "domsieve/analysis",
    "domsieve/budget.py",
    "domsieve/errors.py",
    "domsieve/files.py",
    "domsieve/library",
    "domsieve/options.py",
    "domsieve/sanitize.py",
    "domsieve/renderer",
    "domsieve/snapshot",
    "domsieve/tasks",
    "domsieve/types.py",
    "domsieve/urls.py",
    "experiments",
)
_PACKAGES = ("lxml", "numpy", "scikit-learn", "scipy")


@dataclass(frozen=True, slots=True)
class Line:
    """What is written of a task.

    Parameters
    ----------
    key : digest of everything that shapes the rows; a task with the same key need not be measured again.
    facts : what the key is made of, and what the run cost, for readers.
    rows : the measurements.
    """

    key: str
    facts: Mapping[str, Any]
    rows: Sequence[Row]


class Journal:
    """The file of an experiment's results in a folder; lines are added, and the last one of a task counts."""

    def __init__(self, folder: Path, experiment: str) -> None:
        self.path = folder / f"{experiment}.jsonl"

    def read(self) -> dict[str, Line]:
        """Return the last line of each task by its name; a last line that was cut off is not there.

        Raises
        ------
        DamagedFileError : another line is no JSON.
        """
        lines: dict[str, Line] = {}
        texts = self.path.read_text("utf-8").split("\n") if self.path.exists() else []
        for number, text in enumerate(texts, 1):
            if not text:
                continue
            try:
                read = json.loads(text)
                line = Line(read.pop("key"), read, read.pop("rows"))
            except (ValueError, LookupError) as error:
                if number == len(texts):
                    break
                raise DamagedFileError(f"{self.path}, line {number} is damaged; remove it.") from error
            lines[line.facts["task"]] = line
        return lines

    def rows(self, tasks: Iterable[str]) -> Iterator[Row]:
        """Yield the rows of the named tasks that are there, in this order."""
        lines = self.read()
        for name in tasks:
            if name in lines:
                yield from lines[name].rows

    def add(self, line: Line) -> None:
        """Append a line; what an interruption cut off is ended first."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"key": line.key, **line.facts, "rows": line.rows}, ensure_ascii=False)
        with self.path.open("a+b") as file:
            if file.tell():
                file.seek(-1, 2)
                if file.read() != b"\n":
                    _drop_last_line(self.path)
            file.write(text.encode() + b"\n")


def _drop_last_line(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(file.read().rfind(b"\n") + 1)


def facts_of(experiment: Experiment, task: Task) -> dict[str, Any]:
    """Return all that shapes the rows of a task, as JSON."""
    packages = sorted({*_PACKAGES, *experiment.packages})
    return {
        "experiment": experiment.name,
        "task": task.name,
        "parameters": dict(task.parameters),
        "corpus": digest_of(task.files),
        "program": program_digest(),
        "versions": {
            "python": platform.python_version(),
            "domsieve": version("domsieve"),
            **{name: version(name) for name in packages},
        },
    }


def key_of(facts: Mapping[str, Any]) -> str:
    """Return the digest of the facts."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


@cache
def program_digest() -> str:
    """Return the digest of the modules that figures come from, and of the model that is shipped."""
    return digest_of(tuple(sorted(ROOT / name for name in _CODE)), suffixes=(".py", ".js", ".zst"))


def digest_of(paths: tuple[Path, ...], *, suffixes: tuple[str, ...] = ()) -> str:
    """Return the SHA-256 of the files at and below the paths, names included, places left out."""
    whole = hashlib.sha256()
    for path in paths:
        inside = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
        for file in inside:
            if not suffixes or file.suffix in suffixes:
                whole.update(file.relative_to(path.parent).as_posix().encode() + b"\0")
                whole.update(_file_digest(file))
    return whole.hexdigest()


@cache
def _file_digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
