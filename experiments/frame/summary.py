"""The table at the head of the document: a line per system, with figures out of the tables below it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.frame.tables import Cell, Table, write_table

# The cleaner by its method here, by the name of the program in the summary.
_OURS, _OUR_NAME = "auto", "domsieve"
_PEERS = ("trafilatura", "resiliparse", "readability-lxml", "jusText", "boilerpy3")


@dataclass(frozen=True, slots=True)
class Answer:
    """A figure of each system that one table of an experiment has, for the summary.

    Parameters
    ----------
    heading : of the column in the summary. Experiments may share one: the first that knows a system counts.
    table : how the title of the table begins.
    column : how the head of its column begins.
    digits : decimals in the summary.
    place : columns of a higher one stand further to the right.
    """

    heading: str
    table: str
    column: str
    digits: int = 3
    place: int = 0


def summarize(answers: Sequence[tuple[Answer, Sequence[Table]]]) -> str:
    """Return the summary as Markdown; nothing where no table has a figure of ours.

    Parameters
    ----------
    answers : each with the tables of its experiment; columns of one place stand in this order.
    """
    columns: dict[str, dict[str, str]] = {}
    for answer, tables in sorted(answers, key=lambda pair: pair[0].place):
        column = columns.setdefault(answer.heading, {})
        for system, figure in _figures(answer, tables).items():
            column.setdefault(system, figure)
    columns = {heading: column for heading, column in columns.items() if _OUR_NAME in column}
    if not columns:
        return ""
    rows: list[list[Cell]] = [
        [name, *(column.get(name, "") for column in columns.values())]
        for name in (_OUR_NAME, *_PEERS)
        if any(name in column for column in columns.values())
    ]
    return write_table(Table("In short", ("system", *columns), rows))


def _figures(answer: Answer, tables: Sequence[Table]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for table in tables:
        if not table.title.startswith(answer.table):
            continue
        place = next(number for number, name in enumerate(table.head) if name.startswith(answer.column))
        for row in table.rows:
            system = str(row[0]).partition(",")[0]
            system = _OUR_NAME if system == _OURS else system
            if (figure := _first_number(row[place])) is not None and not str(row[0]).startswith("all text"):
                found.setdefault(system, f"{figure:,.{answer.digits}f}")
    return found


def _first_number(cell: Cell) -> float | None:
    """Return the figure of a cell, without the interval that may stand behind it."""
    words = str(cell).split() if cell is not None else []
    return float(words[0]) if words else None
