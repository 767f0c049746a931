"""What an experiment is: tasks that each measure a part of the data, and tables and figures made of their rows."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domsieve.errors import TargetError, UsageError
from domsieve.snapshot.page import Scalar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from experiments.frame.summary import Answer
    from experiments.frame.tables import Table

Row = dict[str, Any]
"""One measurement as JSON. What two runs need not have in common, times and memory, stands under ``"cost"``."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Where an experiment reads and writes.

    Parameters
    ----------
    data : folder of the corpora.
    output : folder of the results; a task may keep files of its own in a folder below it.
    node_modules : folder of the npm packages that the JavaScript corpora name, if there is one.
    """

    data: Path
    output: Path
    node_modules: Path | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A part of an experiment that is measured in one go, and not again when a run resumes.

    Parameters
    ----------
    name : unique in the experiment.
    measure : what returns the rows; it is called in another process, so it must be picklable. It is a function of
        its own arguments, of `files` and of `parameters`, and seeds every random choice.
    files : what is read, files or folders; their content goes into the digest of the corpus.
    parameters : all that shapes the rows beside the files and the program, seeds included.
    """

    name: str
    measure: Callable[[], list[Row]]
    files: tuple[Path, ...]
    parameters: Mapping[str, Scalar] = field(default_factory=dict)


def chunk_tasks(
    pages: Sequence[tuple[Path, Path]],
    size: int,
    measure: Callable[[tuple[tuple[Path, Path], ...]], list[Row]],
    parameters: Mapping[str, Scalar] | None = None,
) -> list[Task]:
    """Return a task per `size` pages, each page a file and another file with what is true of it."""
    chunks = [tuple(pages[start : start + size]) for start in range(0, len(pages), size)]
    return [
        Task(
            f"{chunk[0][1].stem}-{chunk[-1][1].stem}",
            partial(measure, chunk),
            tuple(file for pair in chunk for file in pair),
            parameters or {},
        )
        for chunk in chunks
    ]


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment by name.

    Parameters
    ----------
    name : what it is called on the command line.
    title : what it measures, in one line.
    needs : what it reads, as paths below the folder of the corpora.
    tasks : its tasks, in the order of the tables.
    tables : the tables made of the rows of all tasks that are done.
    figure : draws the rows; None where there is nothing to draw.
    preface : Markdown: protocol, source, and first of all what differs from it in the data.
    packages : distributions beside domsieve's own whose versions shape the rows.
    node_modules : whether npm packages are needed.
    answers : figures of its tables that open the document.
    """

    name: str
    title: str
    needs: tuple[str, ...]
    tasks: Callable[[Inputs], Sequence[Task]]
    tables: Callable[[Sequence[Row]], Sequence["Table"]]
    figure: Callable[[Sequence[Row]], "Figure"] | None
    preface: str
    packages: tuple[str, ...] = ()
    node_modules: bool = False
    answers: "Sequence[Answer]" = ()

    def missing(self, inputs: Inputs) -> str | None:
        """Return what it needs and does not find, as a sentence; None when it can run."""
        for path in self.needs:
            if not (inputs.data / path).exists():
                return f"{self.name} reads {inputs.data / path}, which is not there."
        if self.node_modules and inputs.node_modules is None:
            return f"{self.name} needs npm packages, and no folder of them is given."
        return None


def data_folder(given: Path | None) -> Path:
    """Return the folder of the corpora: the given one, else the one that DOMSIEVE_DATA names.

    Raises
    ------
    UsageError : neither is given.
    TargetError : it is no folder.
    """
    named = given or (Path(os.environ["DOMSIEVE_DATA"]) if os.environ.get("DOMSIEVE_DATA") else None)
    if named is None:
        raise UsageError("Where are the corpora? Give their folder, or set DOMSIEVE_DATA.", parameter="data")
    if not named.is_dir():
        raise TargetError(f"The folder of the corpora '{named}' is not there.")
    return named.resolve()
