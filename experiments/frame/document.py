"""The document of all results: a section per experiment that has been run, made of its JSON lines."""

from collections.abc import Sequence
from pathlib import Path

from domsieve.files import write_file
from experiments.frame.experiment import Experiment, Inputs
from experiments.frame.figures import save_figure
from experiments.frame.journal import Journal, Line
from experiments.frame.summary import Answer, summarize
from experiments.frame.tables import Table, write_table

PREFACE = """\
# Results

What domsieve's methods do on public data, beside the figures of the papers and beside other extractors. This file
is made from the lines that the experiments wrote; `make evaluate DATA=DIR` repeats all of it. How to run a single
experiment, and what its rows hold, is said in [evaluation.md](evaluation.md).
"""

SUMMARY = """\
## Is it any good?

{table}
All figures are those of the tables below, where each column comes from the same pages for all systems. An empty cell
was not measured. More is better, except for errors and time.

- *Text*: word F1, mean over the 1,491 pages of WCXB. domsieve judges each page with a model that has not learned from
  the page's domain.
- *Headings* and *tables*: F1 in Markdown against what people wrote for half of these pages. No rule of the writer was
  chosen on that half, but domsieve's model has learned from the pages. *Code*: F1 in Markdown against the main
  element of 99 pages, some of them from sites that the model has learned from.
- *Pages with an error* and *time*: 22 whole sites of raw HTML. Time is processor time per page, parsing included.

domsieve is weakest on shops and collections, where its F1 is below 0.7 too. [What goes
wrong](evaluation.md#what-goes-wrong) says more, and [which tool when](which-tool.md) where another tool is the better
choice.
"""


def write_document(experiments: Sequence[Experiment], inputs: Inputs, file: Path) -> None:
    """Write the results of all experiments that have any as Markdown, with their figures in a folder beside it."""
    sections: list[str] = []
    answers: list[tuple[Answer, Sequence[Table]]] = []
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
        tables = experiment.tables(rows)
        answers += [(answer, tables) for answer in experiment.answers]
        parts += [write_table(table).strip() for table in tables]
        parts.append(_made_by(experiment, list(lines.values())))
        sections.append("\n\n".join(parts) + "\n")
    short = summarize(answers)
    head = [PREFACE, SUMMARY.format(table=short)] if short else [PREFACE]
    write_file(file, "\n".join([*head, *sections]).encode(), what="The document")


def print_tables(tables: Sequence[Table]) -> str:
    """Return tables one below the other."""
    return "\n".join(map(write_table, tables))


def _made_by(experiment: Experiment, lines: Sequence[Line]) -> str:
    """Return with what a section was made: the command and the versions, which are those of its last line."""
    versions = ", ".join(f"{name} {number}" for name, number in lines[-1].facts["versions"].items())
    needs = f" --data DIR{' --node-modules DIR' if experiment.node_modules else ''}"
    return f"Made by `python -m experiments {experiment.name}{needs}` with {versions}."
