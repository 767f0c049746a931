"""Tables: which hold data, and their rows as GitHub writes them. Imports the Snapshot and the flow of text.

A table that lays out a page is text: one without columns or with a single row and no heads, one that says so, one
with a table or a block of code inside, one without heads whose cells hold several paragraphs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.attributes import AttributeIndex
from domsieve.analysis.columns.batch import Ints, counted_before
from domsieve.analysis.columns.flow import BLOCK, Flow
from domsieve.budget import check
from domsieve.snapshot.page import Kind, Snapshot

_MOST_COLUMNS = 200
_MOST_SPAN = 100
_MOST_LINES = 40
_TAGS = ("table", "tr", "td", "th", "thead", "pre")
_LAYOUT_ROLES = frozenset(["none", "presentation"])


def data_tables(page: Snapshot, flow: Flow, attributes: AttributeIndex) -> frozenset[int]:
    """Return the tables that hold data; no two stand in one another."""
    is_tag = {name: page.tag == i for i, name in enumerate(page.tags) if name in _TAGS}
    nothing = np.zeros(len(page), np.bool_)
    table, row, td, th, head, pre = (
        is_tag.get(name, nothing) & (page.kind == Kind.ELEMENT) for name in _TAGS
    )
    tables = np.flatnonzero(table)
    if not tables.size:
        return frozenset()
    texts = page.strings.take(page.text[flow.node].tolist())
    blank = np.array([not text.strip() for text in texts], np.bool_)
    words = flow.node[~blank]
    says = nothing.copy()
    says[words] = True
    said = counted_before(says)
    full = said[page.end] > said[:-1]
    ends = page.end
    line = np.cumsum(flow.gap == BLOCK)[~blank]

    def lines(nodes: Ints) -> Ints:
        """Return how many lines each node holds."""
        if not words.size:
            return np.zeros(nodes.size, np.int64)
        first, last = np.searchsorted(words, nodes), np.searchsorted(words, ends[nodes]) - 1
        count = line[np.clip(last, 0, None)] - line[np.clip(first, 0, words.size - 1)] + 1
        return np.where(last >= first, count, 0)

    def inside(marked: NDArray[np.bool_]) -> Ints:
        before = counted_before(marked)
        return before[ends[tables]] - before[tables]

    cells = (td | th) & full
    long, endless, broken, code = (nothing.copy() for _ in range(4))
    where = np.flatnonzero(cells)
    long[where], endless[where] = lines(where) > 1, lines(where) > _MOST_LINES
    broken[flow.node[flow.pre & np.array(["\n" in text.strip("\n") for text in texts], np.bool_)]] = True
    blocks = np.flatnonzero(pre & full)
    breaks = counted_before(broken)
    code[blocks] = (lines(blocks) > 1) | (breaks[ends[blocks]] > breaks[blocks])
    heads = (inside(th & full) > 0) | (inside(head & full) > 0)
    rows = inside(row & full)
    data = (inside(cells) > rows) & (heads | ((rows > 1) & (inside(long) == 0)))
    data &= (inside(table & full) - full[tables] == 0) & (inside(code) == 0) & (inside(endless) == 0)
    layout = attributes.found("role", lambda value: True if value.strip().lower() in _LAYOUT_ROLES else None)
    return frozenset(node for node in tables[data].tolist() if node not in layout)


@dataclass(slots=True)
class _Row:
    head: bool
    cells: list[tuple[str, int, int]] = field(default_factory=list)  # text, columns, rows
    heads: int = 0


@dataclass(slots=True)
class TableRows:
    """The rows of a table in the making."""

    _rows: list[_Row] = field(default_factory=list)

    @property
    def begun(self) -> bool:
        """Whether there is a cell in it."""
        return any(row.cells for row in self._rows[:1]) or len(self._rows) > 1

    def add_row(self, *, head: bool) -> None:
        """Begin a row; `head` says that it stands in the head of the table."""
        self._rows.append(_Row(head))

    def add_cell(self, text: str, given: Mapping[str, str], *, head: bool) -> None:
        """Add a cell with the attributes `given` to the last row."""
        if not self._rows:
            self.add_row(head=False)
        row = self._rows[-1]
        row.cells.append(
            (text.replace("|", "\\|"), _span(given.get("colspan", "")), _span(given.get("rowspan", "")))
        )
        row.heads += head

    def lines(self) -> list[str]:
        """Return the rows as lines: a row of heads first, an empty one if the table has none.

        A cell that spans several columns or rows has its text in the first; the others are empty. What stands
        beyond the last column that is written goes into that one.
        """
        written = []
        held: dict[int, int] = {}  # rows that a cell above goes on in a column
        for row in self._rows:
            check()
            line: list[str] = []
            after: dict[int, int] = {}
            column = 0
            for text, columns, rows in row.cells:
                while held.get(column, 0):
                    column += 1
                if column >= _MOST_COLUMNS and line:
                    line[-1] = f"{line[-1]} {text}".strip()
                    continue
                line += [""] * (column - len(line))
                line.append(text)
                for spanned in range(column, min(column + columns, _MOST_COLUMNS)):
                    after[spanned] = rows
                column += columns
            width = min(column, _MOST_COLUMNS)
            line += [""] * (width - len(line))
            held = {c: n - 1 for c, n in {**held, **after}.items() if n > 1}
            if any(line):
                written.append((row, line))
        if not written:
            return []
        width = max(len(line) for _, line in written)
        top = written[0][0]
        heads = top.head or top.heads == len(top.cells)
        lines = [] if heads else [_line([""] * width)]
        lines += [_line(line) for _, line in written]
        if heads:
            lines[0] = _line([*written[0][1], *[""] * (width - len(written[0][1]))])
        lines.insert(1, _line(["---"] * width))
        return lines


def _line(cells: list[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell else "  |" for cell in cells)


def _span(text: str) -> int:
    """Return how many columns or rows a cell spans."""
    text = text.strip()
    if not (text.isascii() and text.isdigit()) or len(text) > 6:
        return 1
    return min(max(int(text), 1), _MOST_SPAN)
