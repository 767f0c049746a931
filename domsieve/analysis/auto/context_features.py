"""What features of blocks are computed from: the visible blocks and their ancestor elements."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools, Ints, counted_before
from domsieve.analysis.columns.hash import U64, combine
from domsieve.analysis.columns.page_blocks import PageBlocks
from domsieve.analysis.columns.words import Characters, CharIs
from domsieve.snapshot.page import Kind, Snapshot

_WORDS_PER_SINGLE = 0.625  # a word has about 1.6 characters in scripts without blanks; sums stay exact
LONG_BLOCK, MOST_LINKED = 15, 0.33


class Elements:
    """The elements of a page by their tags; what is asked of a tag costs no more than it has elements."""

    def __init__(self, page: Snapshot) -> None:
        self._number = {name: number for number, name in enumerate(page.tags.to_list())}
        node = np.flatnonzero(page.kind == Kind.ELEMENT)
        tag = page.tag[node]
        self._node = node[np.argsort(tag, kind="stable")]
        self._end = page.end
        self._first = counted_before(np.bincount(tag, minlength=len(self._number))).tolist()

    def number(self, tag: str) -> int:
        """Return the number of a tag in the page, -1 where it has none."""
        return self._number.get(tag, -1)

    def of(self, tag: str) -> Ints:
        """Return the elements of a tag, ascending."""
        number = self._number.get(tag)
        return self._node[:0] if number is None else self._node[self._first[number] : self._first[number + 1]]

    def around(self, tag: str, nodes: Ints) -> Ints:
        """Return in how many elements of a tag each of the nodes, ascending, lies."""
        held = self.of(tag)
        if not held.size:
            return np.zeros(nodes.size, np.int64)
        closed = np.sort(self._end[held])
        return np.searchsorted(held, nodes, side="right") - np.searchsorted(closed, nodes, side="right")


@dataclass(frozen=True, eq=False)
class MeasuredBlocks:
    """The B visible blocks of a page of N nodes, in document order, of M visible texts.

    Parameters
    ----------
    page : the page.
    elements : its elements by their tags.
    text : their words.
    start, end : int64 (B,), their nodes.
    around : int64 (B,), the innermost element around all of each block.
    key : uint64 (B,), equal for blocks that say the same, 0 without a letter.
    voice : int64 (B,), the longest text of each.
    path_code : int64 (B,), equal for blocks with the same tags around them, from 0 on.
    piece : int64 (M,), the text nodes.
    block : int64 (M,), the block of each.
    characters : those of the M texts.
    words : float64 (B,), words of each block, in eighths; an ideograph is 0.625 of one.
    linked : float64 (B,), how many of them stand in links.
    size : float64 (B,), characters of each block, white space left out.
    """

    page: Snapshot
    elements: "Elements"
    text: list[str]
    start: Ints
    end: Ints
    around: Ints
    key: U64
    voice: Ints
    path_code: Ints
    piece: Ints
    block: Ints
    characters: Characters
    words: F64
    linked: F64
    size: F64

    def __len__(self) -> int:
        return self.start.size

    @classmethod
    def of(cls, page: Snapshot, blocks: PageBlocks) -> "MeasuredBlocks":
        """Return the blocks of a page that can be seen; O(N + characters)."""
        number = np.flatnonzero(blocks.hidden == 0)
        rank = np.full(len(blocks), -1, np.int64)
        rank[number] = np.arange(number.size)
        block = rank[blocks.block]
        shown = block >= 0
        piece, block = blocks.node[shown], block[shown]
        characters = Characters.of(page.strings.take(page.text[piece].tolist()))
        words = characters.words - (1 - _WORDS_PER_SINGLE) * characters.having(CharIs.SINGLE)
        size = np.diff(characters.first) - characters.having(CharIs.BLANK)
        elements = Elements(page)
        inside = elements.around("a", piece) > 0
        start, end = blocks.start[number], blocks.end[number]
        return cls(
            page=page,
            elements=elements,
            text=[blocks.text[b] for b in number.tolist()],
            start=start,
            end=end,
            around=_around(page, start, end),
            key=blocks.key[number],
            voice=blocks.voice[number],
            path_code=blocks.path_codes(number),
            piece=piece,
            block=block,
            characters=characters,
            words=_summed(block, words, number.size),
            linked=_summed(block, words * inside, number.size),
            size=_summed(block, size, number.size),
        )

    def total(self, per_piece: Ints) -> F64:
        """Return the sum of what was counted in each text (M,) over each block, shape (B,)."""
        return _summed(self.block, per_piece, len(self))

    @cached_property
    def plain(self) -> F64:
        """Words outside links, shape (B,)."""
        return self.words - self.linked

    @cached_property
    def before(self) -> F64:
        """Words outside links before each block, and all of them, shape (B + 1,)."""
        return np.concatenate(([0.0], np.cumsum(self.plain)))

    @cached_property
    def long(self) -> Bools:
        """Which blocks are long and not mostly links, shape (B,)."""
        return (self.words >= LONG_BLOCK) & (self.linked <= MOST_LINKED * self.words)

    @property
    def running(self) -> Bools:
        """Which blocks are long paragraphs, shape (B,)."""
        return np.asarray(self.long & (self.page.tag[self.around] == self.elements.number("p")))

    @cached_property
    def word_hashes(self) -> tuple[Ints, U64]:
        """The block of each word, and the hash of that in lower case."""
        chars = self.characters
        return self.block[np.searchsorted(chars.first, chars.begin, side="right") - 1], chars.hashes()

    @cached_property
    def pairs(self) -> tuple[Ints, U64]:
        """The block of each two neighbouring words of a block, and a hash of both."""
        block, hashes = self.word_hashes
        same = block[1:] == block[:-1]
        return block[1:][same], combine(hashes[:-1], hashes[1:])[same]


def _summed(block: Ints, per_piece: Ints | F64, number: int) -> F64:
    return np.bincount(block, per_piece, number).astype(np.float64)


def _around(page: Snapshot, start: Ints, end: Ints) -> Ints:
    node = page.parent[start].astype(np.int64)
    while (todo := (page.end[node] < end) & (node > 0)).any():
        node[todo] = page.parent[node[todo]]
    return node


MOST_LEVELS = 48


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """The L levels of elements around B blocks; the root stands for all levels above it.

    Parameters
    ----------
    node : int64 (L, B), ``node[0]`` is the innermost element around all of each block, the rest their parents.
    first, last : int64 (L, B), those elements hold the blocks ``first .. last - 1``.
    depth : int64 (B,), how many elements stand above the innermost one, at most L.
    """

    node: Ints
    first: Ints
    last: Ints
    depth: Ints

    @classmethod
    def of(cls, blocks: MeasuredBlocks) -> "Around":
        """Return the elements around the blocks of a page, `MOST_LEVELS` of them at most; O(L * B)."""
        parent = blocks.page.parent
        levels = [blocks.around]
        while len(levels) < MOST_LEVELS and levels[-1].any():
            levels.append(np.maximum(parent[levels[-1]], 0).astype(np.int64))
        node = np.stack(levels)
        first = np.searchsorted(blocks.start, node)
        last = np.searchsorted(blocks.start, blocks.page.end[node])
        return cls(node, first, last, np.count_nonzero(node, axis=0))

    def any_of(self, nodes: int) -> Bools:
        """Return which of the `nodes` of the page are among them."""
        found = np.zeros(nodes, np.bool_)
        found[self.node.ravel()] = True
        return found

    def level(self, wanted: int) -> int:
        """Return the level, or the last there is."""
        return min(wanted, len(self.node) - 1)

    def held(self, before: F64, level: int) -> F64:
        """Return the sum over what the elements of a level hold, from sums (B + 1,) over the blocks before each."""
        level = self.level(level)
        return np.asarray(before[self.last[level]] - before[self.first[level]])

    def levels_to(self, other: Ints) -> Ints:
        """Return how many levels above each block the element lies that holds the block `other` (B,) as well."""
        holds = (self.first <= other) & (self.last > other)
        return np.where(holds.any(axis=0), holds.argmax(axis=0), len(self.node))
