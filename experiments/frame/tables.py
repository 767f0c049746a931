"""Tables of figures, as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table; a float is printed with `digits` decimals, None as an empty cell.

    Parameters
    ----------
    title : one line.
    head : the columns.
    rows : one cell per column each.
    note : Markdown below the table.
    varies : whether two runs differ, because it tells times.
    """

    title: str
    head: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    digits: int = 3
    varies: bool = False

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.head):
                raise ValueError(f"{self.title}: a row of {len(row)} cells below {len(self.head)} columns.")


def write_table(table: Table) -> str:
    """Return a table as Markdown with its title and note; figures stand at the right of their column."""
    numeric = [any(isinstance(row[i], int | float) for row in table.rows) for i in range(len(table.head))]
    lines = [
        "| " + " | ".join(_cell(name, 0) for name in table.head) + " |",
        "|" + "|".join("---:" if right else "---" for right in numeric) + "|",
        *("| " + " | ".join(_cell(cell, table.digits) for cell in row) + " |" for row in table.rows),
    ]
    parts = [f"**{table.title}**", "\n".join(lines), table.note]
    return "\n\n".join(part for part in parts if part) + "\n"


def with_interval(figure: float, low: float, high: float) -> str:
    """Return a figure and its interval as they stand in one cell."""
    return f"{figure:.3f} [{low:.3f}, {high:.3f}]"


def _cell(cell: Cell, digits: int) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell.replace("|", "\\|")
    return f"{cell:,.{digits}f}" if isinstance(cell, float) else f"{cell:,}"
