"""Columns of cells and header rows of the tables in a page.

A header row names the columns and is not a record. Header rows are all rows of ``thead`` and the first rows of ``th``
cells; if there are none, the first row if it is the only bold one. Further rows of ``th`` cells with other texts are
headings of groups of rows, and are not header rows. ARIA roles of tables, rows and cells count like tags.
"""

from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

from domsieve.analysis.columns.batch import Bools, Ints, below, counted_before
from domsieve.analysis.columns.page_columns import attributes_of, has_tag
from domsieve.analysis.columns.visible import worded
from domsieve.budget import check
from domsieve.snapshot.page import Snapshot

_TAGS = {
    "table": frozenset(["table"]),
    "group": frozenset(["tbody", "tfoot", "thead"]),
    "row": frozenset(["tr"]),
    "cell": frozenset(["td", "th"]),
    "head": frozenset(["th"]),
}
_ROLES = {
    "table": frozenset(["grid", "table", "treegrid"]),
    "group": frozenset(["rowgroup"]),
    "row": frozenset(["row"]),
    "cell": frozenset(["cell", "columnheader", "gridcell", "rowheader"]),
    "head": frozenset(["columnheader"]),
}
_BOLD = frozenset(["b", "strong"])
_BOLD_WEIGHT = 600
_ROWS_BELOW = 2  # fewest rows below a bold header row: two rows in all may be a heading and its text
_MOST_COLUMNS = 1000  # limit of the HTML standard for spans
_MOST_SPANS = 200  # cells of one row that extend into the next; bounds the time for hostile tables


@dataclass(frozen=True, slots=True, eq=False)
class TableGrid:
    """The table cells of a page of N nodes.

    Parameters
    ----------
    column : (N,), number of the column of each cell, counted from 1; 0 for other nodes.
    table : (N,), node of the table of each cell; -1 for other nodes.
    heads : nodes of the header rows by node of the table, in document order.
    """

    column: Ints
    table: Ints
    heads: dict[int, list[int]]

    @classmethod
    def of(cls, page: Snapshot, *, text: Bools | None = None) -> "TableGrid":
        """Read the tables of a page.

        Parameters
        ----------
        page : the page.
        text : bool (N,), text nodes that are not blank, if they were computed before.
        """
        return _Reader(page, text).grid()

    def head_nodes(self, page: Snapshot) -> Bools:
        """Return bool (N,): the node is in a header row."""
        roots = np.zeros(len(page), np.bool_)
        roots[[row for rows in self.heads.values() for row in rows]] = True
        return below(roots, page.end.astype(np.int64))


class _Reader:
    """Reads the rows of one page: R rows in document order, and their cells."""

    def __init__(self, page: Snapshot, text: Bools | None) -> None:
        self._page, self._text = page, text
        self._end = page.end.astype(np.int64)
        self._attributes = attributes_of(page)
        roles = self._attributes.found("role", lambda value: value.strip().lower() or None)
        is_a = {what: has_tag(self._page, *names) for what, names in _TAGS.items()}
        for node, role in roles.items():
            for what, names in _ROLES.items():
                is_a[what][node] |= role in names
        self._is_a = is_a
        parent = page.parent.astype(np.int64)
        rows = np.flatnonzero(is_a["row"])
        above = parent[rows]
        self._in_thead = has_tag(self._page, "thead")[above]
        above = np.where(is_a["group"][above], parent[above], above)
        good = is_a["table"][above] & (above >= 0)
        self._rows, self._table, self._in_thead = rows[good], above[good], self._in_thead[good]
        cells = np.flatnonzero(is_a["cell"])
        number = np.full(len(page), -1, np.int64)
        number[self._rows] = np.arange(self._rows.size)
        row = number[parent[cells]]
        self._cells, self._row = cells[row >= 0], row[row >= 0]

    def grid(self) -> TableGrid:
        column, table = np.zeros(len(self._page), np.int64), np.full(len(self._page), -1, np.int64)
        if self._cells.size:
            column[self._cells] = self._columns()
            table[self._cells] = self._table[self._row]
        return TableGrid(column, table, self._heads() if self._cells.size else {})

    # Columns.

    def _columns(self) -> Ints:
        """Return the number of the column of each cell, with regard to cells that span columns or rows."""
        order = np.argsort(self._row, kind="stable")
        row = self._row[order]
        across, down = self._spans("colspan"), self._spans("rowspan")
        before = np.concatenate(([0], np.cumsum(across[order])))
        begins = np.concatenate(([True], row[1:] != row[:-1]))
        here = np.maximum.accumulate(np.where(begins, np.arange(row.size), 0))
        column = np.empty(row.size, np.int64)
        column[order] = before[:-1] - before[here] + 1
        for table in np.unique(self._table[self._row[down > 1]]).tolist():
            self._push(column, across, down, np.flatnonzero(self._table[self._row] == table).tolist())
        return column

    def _spans(self, name: str) -> Ints:
        found = self._attributes.found(name, _span)
        if not found:
            return np.ones(self._cells.size, np.int64)
        spans = np.ones(len(self._page), np.int64)
        spans[list(found)] = list(found.values())
        return spans[self._cells]

    def _push(self, column: Ints, across: Ints, down: Ints, cells: list[int]) -> None:
        """Move the cells of one table to the right of cells that extend into their row from above."""
        taken: dict[int, int] = {}  # by column, the number of further rows that a cell extends into
        for _, row in groupby(sorted(cells, key=lambda i: (int(self._row[i]), i)), lambda i: self._row[i]):
            check()
            at = 1
            reaching: dict[int, int] = {}
            for i in row:
                while taken.get(at):
                    at += 1
                column[i] = at
                if down[i] > 1 and len(reaching) < _MOST_SPANS:
                    reaching.update(dict.fromkeys(range(at, at + int(across[i])), int(down[i]) - 1))
                at += int(across[i])
            taken = {place: rest - 1 for place, rest in taken.items() if rest > 1}
            taken.update([*reaching.items()][: _MOST_SPANS - len(taken)])

    # Header rows.

    def _heads(self) -> dict[int, list[int]]:
        rows, end = self._rows, self._end
        text = worded(self._page) if self._text is None else self._text
        texts, bold = (
            counted_before(text),
            counted_before(text & (below(has_tag(self._page, *_BOLD), end) | self._is_heavy())),
        )
        full = texts[end[self._cells]] > texts[self._cells]
        plain = full & ~self._is_a["head"][self._cells]
        all_bold = bold[end[self._cells]] - bold[self._cells] == texts[end[self._cells]] - texts[self._cells]
        count = np.bincount(self._row, minlength=rows.size)
        filled = np.bincount(self._row[full], minlength=rows.size)
        plains = np.bincount(self._row[plain], minlength=rows.size)
        weak = np.bincount(self._row[plain & ~all_bold], minlength=rows.size)
        tables = counted_before(self._is_a["table"])
        holds_none = tables[end[rows]] == tables[rows]
        named = (filled > 0) & holds_none & ((plains == 0) | self._in_thead)
        heavy = (filled > 1) & (filled == count) & holds_none & (weak == 0)
        found = {}
        order = np.argsort(self._table, kind="stable")
        cuts = np.flatnonzero(np.diff(self._table[order], prepend=-1, append=-1))
        first = order[cuts[:-1]]
        some = np.zeros(len(self._page), np.bool_)
        some[self._table[named]] = True
        some[self._table[first[heavy[first]]]] = True
        for a, b in pairwise(cuts.tolist()):
            own = order[a:b]
            if not some[self._table[own[0]]]:
                continue
            check()
            heads = self._named_heads(own, named[own], filled[own], count[own])
            if not heads and not named[own].any() and heavy[own[0]]:
                rest = own[1:][count[own[1:]] == count[own[0]]]
                heads = [int(own[0])] if rest.size >= _ROWS_BELOW and not heavy[own[1:]].any() else []
            if heads:
                found[int(self._table[own[0]])] = [int(rows[i]) for i in heads]
        return found

    def _named_heads(self, own: Ints, named: Bools, filled: Ints, count: Ints) -> list[int]:
        """Return the header rows among the rows `own` of a table; `named` are rows of header cells."""
        if not named.any() or not ((filled > 0) & ~named).any():
            return []
        lead = int(np.argmin(named))  # the first row that is not a row of header cells
        later = (np.flatnonzero(named[lead:]) + lead).tolist()
        thead = self._in_thead[own].tolist()
        heads = [*range(lead)]
        if later:
            words = {i: self._words(int(own[i])) for i in [*heads, *later]}
            first = {words[i] for i in heads}
            others = {int(count[i]) for i in later if not thead[i] and words[i] not in first}
            heads = [i for i in heads if thead[i] or int(count[i]) not in others]
            known = {words[i] for i in heads}
            heads += [i for i in later if thead[i] or words[i] in known]
        return [int(own[i]) for i in heads]

    def _words(self, row: int) -> str:
        node = int(self._rows[row])
        ids = self._page.text[node : int(self._end[node])]
        return " ".join("".join(self._page.strings.take(ids[ids >= 0].tolist())).split())

    def _is_heavy(self) -> Bools:
        """Return bool (N,): the computed style is bold; all False for raw pages."""
        page = self._page
        if "font-weight" not in page.style_names or not page.styles.size:
            return np.zeros(len(page), np.bool_)
        row = page.styles[:, page.style_names.index("font-weight")]
        values, which = np.unique(row, return_inverse=True)
        weights = [page.strings[value] for value in values.tolist()]
        heavy = np.array([weight.isdecimal() and int(weight[:5]) >= _BOLD_WEIGHT for weight in weights])[
            which
        ]
        return np.append(heavy, False)[page.style]


def _span(value: str) -> int | None:
    """Return the number of columns or rows that a cell spans, or None for an invalid value."""
    digits = value.strip()[:5]
    return min(max(int(digits), 1), _MOST_COLUMNS) if digits.isascii() and digits.isdecimal() else None
