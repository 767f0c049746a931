"""What the nodes of a page are called and how much they hold: letters, letters in links, links, headings.

Imports the columns and the names.
"""

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Bools, Ints, below, counted_before, distinct
from domsieve.analysis.kinds.name_words import Says
from domsieve.analysis.kinds.names import Names
from domsieve.analysis.kinds.phrases import LONGEST_BEGINNING, begins_of
from domsieve.analysis.kinds.pieces import Pieces
from domsieve.snapshot.page import Snapshot

_SHORT = 80  # bytes of a label
_LONGEST = 4_096


class Columns:
    """A page of N nodes with what its nodes are called and hold.

    Attributes
    ----------
    page : the page.
    names : what its attributes and tags call its elements.
    end : int64 (N,), one past the last node of each subtree.
    text : int64 (M,), the text nodes that are read: those outside scripts, styles, the head and lists to choose from.
    size : int64 (N,), characters of each of these that are not blank, 0 for other nodes.
    letters, linked, links, titles : int64 (N + 1,), before each node: such characters, those of them in links, links,
        and headings of the first level that say something.
    total : all letters.
    """

    def __init__(self, page: Snapshot) -> None:
        self.page = page
        self.end: Ints = page.end.astype(np.int64)
        self.names = Names(page)
        unread = self._inside(self.names.called(Says.UNREAD))
        self.text: Ints = np.flatnonzero((page.text >= 0) & ~unread)
        ids, which = distinct(page.text[self.text].astype(np.int64), len(page.strings))
        letters = Pieces(page.strings, ids, longest=_LONGEST).letters()
        self.size = np.zeros(len(page), np.int64)
        self.size[self.text] = letters[which]
        self.letters = counted_before(self.size)
        self.total = int(self.letters[-1])
        link = self.names.called(Says.LINK)
        self.in_link = self._inside(link)
        self.links = self.counted(link)
        self.linked = counted_before(self.size * self.in_link)
        title = self.names.called(Says.TITLE)
        self.titles = self.counted(title[self.of(self.letters, title) > 0])
        self._labels, self._begins = self._find_labels()

    def _find_labels(self) -> tuple[Ints, NDArray[np.uint8]]:
        strings = self.page.text[self.text].astype(np.int64)
        short = (np.diff(self.page.strings.offsets)[strings] <= _SHORT) & (self.size[self.text] > 1)
        ids, which = distinct(strings[short], len(self.page.strings))
        begins = begins_of(Pieces(self.page.strings, ids, longest=_SHORT).beginnings(LONGEST_BEGINNING))[
            which
        ]
        return self.text[short][begins > 0], begins[begins > 0]

    def _inside(self, nodes: Ints) -> Bools:
        return below(self.marks(nodes), self.end) if nodes.size else np.zeros(len(self.page), np.bool_)

    def marks(self, nodes: Ints) -> Bools:
        """Return the nodes as marks (N,)."""
        marked = np.zeros(len(self.page), np.bool_)
        marked[nodes] = True
        return marked

    def counted(self, nodes: Ints) -> Ints:
        """Return how many of the nodes stand before each of N + 1."""
        return counted_before(self.marks(nodes))

    def of(self, counts: Ints, nodes: Ints) -> Ints:
        """Return what the nodes hold of something counted before each node."""
        return counts[self.end[nodes]] - counts[nodes]

    def among(self, nodes: Ints, roots: Ints) -> Bools:
        """Return which of the nodes lie in one of the roots, or are one; both ascend."""
        roots = self.tops(roots)
        if not roots.size:
            return np.zeros(nodes.size, np.bool_)
        last = np.searchsorted(roots, nodes, side="right") - 1
        return (last >= 0) & (nodes < self.end[roots[last]])

    def tops(self, nodes: Ints) -> Ints:
        """Return those of the nodes that lie in no other one; they ascend."""
        if nodes.size < 2:
            return nodes
        until = np.maximum.accumulate(self.end[nodes])
        return np.asarray(nodes[np.append(True, nodes[1:] >= until[:-1])])

    def labels(self, bit: int) -> list[int]:
        """Return the short texts that begin like one of the phrases of this bit of `Begins`."""
        nodes: list[int] = self._labels[(self._begins & bit) != 0].tolist()
        return nodes

    def words(self, node: int, *, most: int) -> str:
        """Return the text in a node, texts parted by blanks; nothing where it has more than `most` letters."""
        if self.letters[self.end[node]] - self.letters[node] > most:
            return ""
        a, b = self.text.searchsorted((node, self.end[node])).tolist()
        ids = self.page.text[self.text[a:b]].tolist()
        return " ".join(text for text in self.page.strings.take(ids) if not text.isspace())
