"""The document of all results: a section per experiment that has been run, made of its JSON lines."""

from collections.abc import Sequence
from pathlib import Path

from domsieve.evaluation.frame.experiment import Experiment, Inputs
from domsieve.evaluation.frame.figures import save_figure
from domsieve.evaluation.frame.journal import Journal, Line
from domsieve.evaluation.frame.tables import Table, write_table
from domsieve.files import write_file

PREFACE = """\
# Results

What domsieve's methods do on public data, beside the figures of the papers and beside other extractors. This file
is made from the lines that the experiments wrote; `make evaluate DATA=DIR` repeats all of it. How to run a single
experiment, and what its rows hold, is said in [evaluation.md](evaluation.md).
"""


def write_document(experiments: Sequence[Experiment], inputs: Inputs, file: Path) -> None:
    """Write the results of all experiments that have any as Markdown, with their figures in a folder beside it."""
    sections = [PREFACE]
    for experiment in experiments:
        lines = Journal(inputs.output, experiment.name).read()
        # Without the npm packages there are no tasks, but there may be results.
        names = [task.name for task in experiment.tasks(inputs)] or sorted(lines)
        rows = [row for name in names if name in lines for row in lines[name].rows]
        if not rows:
            continue
        parts = [f"## {experiment.title}", experiment.preface.strip()]
        if experiment.figure is not None:
            folder = file.parent / f"{file.stem}_figures"
            image = save_figure(experiment.figure(rows), folder, experiment.name, forms=("svg",))[0]
            parts.append(f"![{experiment.title}]({folder.name}/{image.name})")
        parts += [write_table(table).strip() for table in experiment.tables(rows)]
        parts.append(_made_by(experiment, list(lines.values())))
        sections.append("\n\n".join(parts) + "\n")
    write_file(file, "\n".join(sections).encode(), what="The document")


def print_tables(tables: Sequence[Table]) -> str:
    """Return tables one below the other."""
    return "\n".join(map(write_table, tables))


def _made_by(experiment: Experiment, lines: Sequence[Line]) -> str:
    """Return with what a section was made: the command and the versions, which are those of its last line."""
    versions = ", ".join(f"{name} {number}" for name, number in lines[-1].facts["versions"].items())
    needs = f" --data DIR{' --node-modules DIR' if experiment.node_modules else ''}"
    return f"Made by `domsieve evaluate {experiment.name}{needs}` with {versions}."
