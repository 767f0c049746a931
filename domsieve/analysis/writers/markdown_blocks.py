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


MOST_LEVELS = 18
"""Nesting that readers follow: the strictest preset of markdown-it ends at 20. A list counts twice."""


class Block(Enum):
    """What a block is, for what may stand before and behind it."""

    NOTHING = auto()
    PARAGRAPH = auto()
    OTHER = auto()
    LIST = auto()
    ITEM = auto()
    QUOTE = auto()


class Role(Enum):
    """What a block is to those who cut a document into passages."""

    TEXT = auto()
    HEADING = auto()
    WHOLE = auto()  # code, a table, a formula: of no use when it is cut


class Piece(NamedTuple):
    """A block of a document.

    Parameters
    ----------
    first : its first line.
    level : of a heading, from 1 to 6, else 0.
    node : of a heading, else -1.
    """

    first: int
    role: Role = Role.TEXT
    level: int = 0
    node: int = -1


@dataclass(slots=True, eq=False)
class _Frame:
    kind: Block
    first: str = ""  # before the first line inside
    rest: str = ""  # before the others
    begun: bool = False
    last: Block = Block.NOTHING  # the last block inside
    # Of a list:
    numbered: bool = False
    marker: str = ""
    loose: bool = False  # a blank line stands between its items
    # Of what holds lists:
    last_marker: str = ""
    head: str = ""  # of a quote: its first line
    width: int = 0  # of a list: of the mark of its last item
    shared: bool = False  # it ends with the item around it, which was ended before


@dataclass(slots=True)
class Blocks:
    """A document in the making."""

    _lines: list[str] = field(default_factory=list)
    _frames: list[_Frame] = field(default_factory=lambda: [_Frame(Block.NOTHING, begun=True)])
    pieces: list[Piece] = field(default_factory=list)

    @property
    def has_room(self) -> bool:
        """Whether readers follow another list in here."""
        return len(self._frames) + 2 < MOST_LEVELS

    @property
    def in_list(self) -> bool:
        """Whether an item may be opened here."""
        return self._frames[-1].kind == Block.LIST

    @property
    def at_start(self) -> bool:
        """Whether nothing has been written yet."""
        return not self._lines

    def open_list(self, *, numbered: bool) -> None:
        """Begin a list; one that stands in another list, between its items, belongs to the item before."""
        above = self._frames[-1]
        shared = above.kind == Block.LIST and above.last == Block.ITEM
        if shared:
            indent = " " * above.width
            self._push(_Frame(Block.ITEM, indent, indent, begun=True, last=Block.PARAGRAPH))
        self._push(_Frame(Block.LIST, numbered=numbered, shared=shared))

    def open_item(self, number: int = 0) -> None:
        """Begin an item of the list at hand, with this number if the list is numbered."""
        above = self._frames[-1]
        if not above.marker:
            holder = self._frames[-2]
            signs = (".", ")") if above.numbered else ("-", "*")
            above.marker = signs[holder.last == Block.LIST and holder.last_marker == signs[0]]
        first = f"{number}{above.marker} " if above.numbered else f"{above.marker} "
        above.width = len(first)
        self._push(_Frame(Block.ITEM, first, " " * len(first)))

    def open_quote(self, head: str = "") -> None:
        """Begin a quote, whose first line is `head`."""
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
        """Add a line across, unless nothing stands above it."""
        inner = self._frames[-1]
        if self._lines:
            # Three dashes behind the mark of an item would be one line across themselves.
            self.add(["___" if inner.kind == Block.ITEM and not inner.begun else "---"])

    def add_heading(self, line: str, *, level: int, node: int) -> None:
        """Add the line of a heading."""
        self.add([line], role=Role.HEADING)
        self.pieces[-1] = self.pieces[-1]._replace(level=level, node=node)

    def add(self, lines: list[str], kind: Block = Block.OTHER, *, role: Role = Role.TEXT) -> None:
        """Add a block of some lines.

        Parameters
        ----------
        lines : without the marks of what it stands in.
        kind : PARAGRAPH or OTHER.
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
        self._part(new, kind)
        first, rest = "", ""
        for i, frame in enumerate(self._frames):
            first += frame.first if i >= new else frame.rest
            rest += frame.rest
            frame.begun = True
            frame.last = self._frames[i + 1].kind if i + 1 < len(self._frames) else kind
            if frame.last == Block.LIST:
                frame.last_marker = self._frames[i + 1].marker
        self.pieces.append(Piece(len(self._lines), role))
        self._lines.append(f"{first}{lines[0]}")
        blank = rest.rstrip(" ")
        self._lines += [f"{rest}{line}" if line else blank for line in lines[1:]]

    def _part(self, new: int, kind: Block) -> None:
        """Write a blank line between the block before and the one that begins, where one must stand."""
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
        """Return the lines of each of the pieces, without blank ones around them."""
        cuts = [*(piece.first for piece in self.pieces), len(self._lines)]
        parts = [self._lines[first:end] for first, end in pairwise(cuts)]
        for part in parts:
            while part and not part[-1].strip(" >"):
                part.pop()
        return parts

    def document(self) -> str:
        """Return what was written, ending in a newline unless empty."""
        return "".join(f"{line}\n" for line in self._lines)
