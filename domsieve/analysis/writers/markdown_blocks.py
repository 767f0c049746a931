"""The blocks of a Markdown document: what stands in front of each line, and where blank lines stand.

Lists, items and quotes are opened and closed by the writer; they appear with the first block inside them, so that
none is empty. Imports nothing of the project.
"""

from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import pairwise
from typing import NamedTuple

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
