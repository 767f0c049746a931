"""The text of a block of code, character by character, with a line for each line a reader sees.

Highlighters part lines by newlines, by ``br``, or by an element for each line. Imports the reader of nodes.
"""

from collections.abc import Iterable, Mapping

from domsieve.analysis.columns.flow import BREAK, CELL, SPACE, word_set
from domsieve.analysis.writers.html import Written
from domsieve.analysis.writers.reader import Reader
from domsieve.budget import check

_LINE_CLASSES = word_set(
    "ace_line blob-code-inner cl-line cm-line code-line codemirror-line ec-line hljs-ln-line line token-line "
    "view-line"
)
_SPACES = str.maketrans("\v\f\r", "  \n")


def is_line_class(value: str) -> bool | None:
    """Return True where a class says that its element is a line of code, else None."""
    return True if not _LINE_CLASSES.isdisjoint(value.lower().split()) else None


def code_lines(
    reader: Reader, node: int, *, texts: Mapping[int, Written], around: list[int], lines: Mapping[int, bool]
) -> list[str]:
    """Return the lines of the block `node`, without blank ones at its ends.

    Parameters
    ----------
    texts : what is written of the page.
    around : what each node puts around itself, NONE to BLOCK.
    lines : nodes whose class says that they are a line.
    """
    code = _Code()
    within: list[tuple[int, int]] = []
    for inner in range(node + 1, reader.end[node]):
        check()
        while within and within[-1][0] <= inner:
            code.end(within.pop()[1])
        if inner in texts:
            if texts[inner].gap in {SPACE, CELL}:
                code.space()
            code.add(texts[inner].text)
        elif around[inner] == BREAK:
            code.newline()
        elif inner in lines or around[inner] > BREAK:
            code.begin()
            within.append((reader.end[inner], len(code.parts) if inner in lines else -1))
    return _trimmed("".join(code.parts).replace("\r\n", "\n").translate(_SPACES).split("\n"))


class _Code:
    """Text in the making; a line that has ended begins another only with what follows."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._ended = False

    def add(self, text: str) -> None:
        if self._ended and not text.startswith(("\n", "\r")):
            self.parts.append("\n")
        self._ended = False
        self.parts.append(text)

    def newline(self) -> None:
        self.parts.append("\n\n" if self._ended else "\n")
        self._ended = False

    def begin(self) -> None:
        """Begin a line of its own."""
        if self._ended or not self._at_start():
            self.parts.append("\n")
        self._ended = False

    def end(self, begun: int) -> None:
        """End such a line, which began with so many parts; -1: it is none without text."""
        self._ended = self._ended or begun == len(self.parts) or not self._at_start()

    def space(self) -> None:
        if self.parts and not self._ended and not self.parts[-1][-1:].isspace():
            self.parts.append(" ")

    def _at_start(self) -> bool:
        return not self.parts or self.parts[-1].endswith("\n")


def _trimmed(lines: Iterable[str]) -> list[str]:
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    first = next((i for i, line in enumerate(kept) if line.strip()), 0)
    return kept[first:]
