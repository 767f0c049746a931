"""The blocks of a Markdown document: line prefixes, blank lines and tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Ints, counted_before
from domsieve.analysis.columns.flow import BLOCK, Flow
from domsieve.analysis.columns.page_columns import AttributeIndex
from domsieve.budget import check
from domsieve.snapshot.page import Kind, Snapshot

# Guesses; real data tables stay below.
_MOST_COLUMNS = 200  # further cells are joined to the last one
_MOST_SPAN = 100
_MOST_LINES = 40  # in a cell; a table with more in one is a layout table
_TAGS = ("table", "tr", "td", "th", "thead", "pre")
_LAYOUT_ROLES = frozenset(["none", "presentation"])


def data_tables(page: Snapshot, flow: Flow, attributes: AttributeIndex) -> frozenset[int]:
    """Return the nodes of the data tables, which are never nested.

    Parameters
    ----------
    page : the page.
    flow : its kept text.
    attributes : its attributes.
    """
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
    has_text = nothing.copy()
    has_text[words] = True
    texts_before = counted_before(has_text)
    full = texts_before[page.end] > texts_before[:-1]
    ends = page.end
    line = np.cumsum(flow.gap == BLOCK)[~blank]

    def lines(nodes: Ints) -> Ints:
        """Return the number of lines in each node."""
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
    foot: bool
    cells: list[tuple[str, int, int]] = field(default_factory=list)  # text, columns, rows
    heads: int = 0


@dataclass(slots=True)
class TableRows:
    """Builder of a table."""

    _rows: list[_Row] = field(default_factory=list)

    @property
    def begun(self) -> bool:
        """Whether the table has a cell."""
        return any(row.cells for row in self._rows[:1]) or len(self._rows) > 1

    def add_row(self, *, head: bool, foot: bool) -> None:
        """Begin a row; `head` if it is in a ``thead``, `foot` if it is in a ``tfoot``."""
        self._rows.append(_Row(head, foot))

    def add_cell(self, text: str, given: Mapping[str, str], *, head: bool) -> None:
        """Add a cell to the last row.

        Parameters
        ----------
        text : Markdown of the cell, in one line.
        given : attributes of the cell.
        head : the cell is a header cell.
        """
        if not self._rows:
            self.add_row(head=False, foot=False)
        row = self._rows[-1]
        row.cells.append(
            (text.replace("|", "\\|"), _span(given.get("colspan", "")), _span(given.get("rowspan", "")))
        )
        row.heads += head

    def lines(self) -> list[str]:
        """Return the lines of the table; the header row is empty if the table has none.

        A cell that spans several columns or rows has its text in the first; the others are empty. Cells beyond the
        maximum number of columns are joined to the last one. The foot is last, as browsers show it, although HTML 4
        has it before the body.
        """
        written = []
        held: dict[int, int] = {}  # by column, the number of further rows that a cell above spans
        for row in sorted(self._rows, key=lambda row: row.foot):
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
    """Return the number of columns or rows that a cell spans, 1 for an invalid value."""
    text = text.strip()
    if not (text.isascii() and text.isdigit()) or len(text) > 6:
        return 1
    return min(max(int(text), 1), _MOST_SPAN)


MOST_LEVELS = 18
"""Maximum nesting: the strictest preset of markdown-it stops at 20. A list counts twice."""


class Block(Enum):
    """Type of a block, which decides what may precede and follow it."""

    NOTHING = auto()
    PARAGRAPH = auto()
    OTHER = auto()
    LIST = auto()
    ITEM = auto()
    QUOTE = auto()


class Role(Enum):
    """Role of a block when a document is cut into passages."""

    TEXT = auto()
    HEADING = auto()
    WHOLE = auto()  # code, a table or a formula, which must not be cut


class Piece(NamedTuple):
    """A block of a document.

    Parameters
    ----------
    first : number of its first line.
    role : its role.
    level : level of a heading, 1 to 6; 0 for other blocks.
    node : node of a heading; -1 for other blocks.
    nodes : range of the nodes that its words come from; empty for a thematic break.
    """

    first: int
    role: Role = Role.TEXT
    level: int = 0
    node: int = -1
    nodes: tuple[int, int] = (0, 0)


@dataclass(slots=True, eq=False)
class _Frame:
    kind: Block
    first: str = ""  # prefix of the first line inside
    rest: str = ""  # prefix of the other lines
    begun: bool = False
    last: Block = Block.NOTHING  # the last block inside
    # Lists:
    numbered: bool = False
    marker: str = ""
    loose: bool = False  # with a blank line between items
    width: int = 0  # of the marker of the last item
    shared: bool = False  # closes together with the item around it, which was reopened for this list
    # Containers of lists:
    last_marker: str = ""
    # Quotes:
    head: str = ""  # the first line


@dataclass(slots=True)
class Blocks:
    """Builder of a Markdown document.

    Attributes
    ----------
    pieces : the blocks written so far.
    """

    _lines: list[str] = field(default_factory=list)
    _frames: list[_Frame] = field(default_factory=lambda: [_Frame(Block.NOTHING, begun=True)])
    pieces: list[Piece] = field(default_factory=list)
    _from: tuple[int, int] | None = None  # the nodes of words that no block has yet

    def take(self, first: int, end: int) -> None:
        """Note that the next block has words of the nodes ``first .. end``."""
        before = self._from or (first, end)
        self._from = (min(before[0], first), max(before[1], end))

    @property
    def has_room(self) -> bool:
        """Whether another list can be opened here without exceeding `MOST_LEVELS`."""
        return len(self._frames) + 2 < MOST_LEVELS

    @property
    def in_list(self) -> bool:
        """Whether an item can be opened here."""
        return self._frames[-1].kind == Block.LIST

    @property
    def at_start(self) -> bool:
        """Whether nothing has been written yet."""
        return not self._lines

    def open_list(self, *, numbered: bool) -> None:
        """Begin a list; a list directly in another list, between two items, becomes part of the previous item."""
        above = self._frames[-1]
        shared = above.kind == Block.LIST and above.last == Block.ITEM
        if shared:
            indent = " " * above.width
            self._push(_Frame(Block.ITEM, indent, indent, begun=True, last=Block.PARAGRAPH))
        self._push(_Frame(Block.LIST, numbered=numbered, shared=shared))

    def open_item(self, number: int = 0) -> None:
        """Begin an item of the current list; `number` is ignored unless the list is numbered."""
        above = self._frames[-1]
        if not above.marker:
            holder = self._frames[-2]
            signs = (".", ")") if above.numbered else ("-", "*")
            above.marker = signs[holder.last == Block.LIST and holder.last_marker == signs[0]]
        first = f"{number}{above.marker} " if above.numbered else f"{above.marker} "
        above.width = len(first)
        self._push(_Frame(Block.ITEM, first, " " * len(first)))

    def open_quote(self, head: str = "") -> None:
        """Begin a quote with the first line `head`, if any."""
        self._push(_Frame(Block.QUOTE, "> ", "> ", head=head))

    def _push(self, frame: _Frame) -> None:
        self._frames.append(frame)

    def close(self) -> None:
        """End the innermost list, item or quote."""
        frame = self._frames[-1]
        if frame.head:
            head, frame.head = frame.head, ""
            if not frame.begun:
                self.add([head], Block.PARAGRAPH)
        self._frames.pop()
        if frame.shared:
            self._frames.pop()

    def add_rule(self) -> None:
        """Add a thematic break, unless the document is empty."""
        inner = self._frames[-1]
        if self._lines:
            # Dashes after the marker of an item would be a thematic break together with it.
            self.add(["___" if inner.kind == Block.ITEM and not inner.begun else "---"])
            self.pieces[-1] = self.pieces[-1]._replace(nodes=(0, 0))

    def add_heading(self, line: str, *, level: int, node: int) -> None:
        """Add a heading; `line` includes the number signs, `level` is 1 to 6, and `node` is its node."""
        self.add([line], role=Role.HEADING)
        self.pieces[-1] = self.pieces[-1]._replace(level=level, node=node)

    def add(self, lines: list[str], kind: Block = Block.OTHER, *, role: Role = Role.TEXT) -> None:
        """Add a block.

        Parameters
        ----------
        lines : lines of the block, without the prefixes of the lists and quotes around it.
        kind : `PARAGRAPH` or `OTHER`.
        role : role of the block.
        """
        if not lines:
            return
        new = next((i for i, frame in enumerate(self._frames) if not frame.begun), len(self._frames))
        inner = self._frames[-1]
        if inner.head:
            head, inner.head = inner.head, ""
            if kind == Block.PARAGRAPH:
                lines = [head, *lines]
            else:
                self.add([head], Block.PARAGRAPH)
                new = len(self._frames)
        self._separate(new, kind)
        first, rest = "", ""
        for i, frame in enumerate(self._frames):
            first += frame.first if i >= new else frame.rest
            rest += frame.rest
            frame.begun = True
            frame.last = self._frames[i + 1].kind if i + 1 < len(self._frames) else kind
            if frame.last == Block.LIST:
                frame.last_marker = self._frames[i + 1].marker
        # Parts of one block, such as the first line of a quote, are of the same nodes.
        nodes = self._from or (self.pieces[-1].nodes if self.pieces else (0, 0))
        self.pieces.append(Piece(len(self._lines), role, nodes=nodes))
        self._from = None
        self._lines.append(f"{first}{lines[0]}")
        blank = rest.rstrip(" ")
        self._lines += [f"{rest}{line}" if line else blank for line in lines[1:]]

    def _separate(self, new: int, kind: Block) -> None:
        """Write a blank line before a new block if one is needed."""
        around = self._frames[new - 1]
        child = self._frames[new].kind if new < len(self._frames) else kind
        if around.last == Block.NOTHING:
            return
        if child == Block.ITEM and around.last == Block.ITEM and not around.loose:
            return
        if child == Block.LIST and around.kind == Block.ITEM and around.last == Block.PARAGRAPH:
            items = self._frames[new]
            number = self._frames[new + 1].first if new + 1 < len(self._frames) else ""
            if not items.numbered or number[:-2] == "1":
                return
        if around.kind == Block.ITEM:
            self._frames[new - 2].loose = True
        self._lines.append("".join(frame.rest for frame in self._frames[:new]).rstrip(" "))

    def parts(self) -> list[list[str]]:
        """Return the lines of each of the `pieces`, without blank lines around them."""
        cuts = [*(piece.first for piece in self.pieces), len(self._lines)]
        parts = [self._lines[first:end] for first, end in pairwise(cuts)]
        for part in parts:
            while part and not part[-1].strip(" >"):
                part.pop()
        return parts

    def document(self) -> str:
        """Return the document, which ends in a newline unless it is empty."""
        return "".join(f"{line}\n" for line in self._lines)
