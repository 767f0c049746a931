"""What features of blocks are computed from: the visible blocks and their ancestor elements."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools, Ints, counted_before
from domsieve.analysis.columns.hash import U64, combine
from domsieve.analysis.columns.page_blocks import PageBlocks
from domsieve.analysis.columns.words import WORDS_PER_SINGLE, Characters, CharIs
from domsieve.snapshot.page import Kind, Snapshot

LONG_BLOCK, MOST_LINKED = 15, 0.33
"""A block is long from 15 words on, unless more than a third of them are in links; features of the model use this."""


class Elements:
    """The elements of a page by tag. A question about a tag takes time linear in the number of its elements."""

    def __init__(self, page: Snapshot) -> None:
        self._number = {name: number for number, name in enumerate(page.tags.to_list())}
        node = np.flatnonzero(page.kind == Kind.ELEMENT)
        tag = page.tag[node]
        self._node = node[np.argsort(tag, kind="stable")]
        self._end = page.end
        self._first = counted_before(np.bincount(tag, minlength=len(self._number))).tolist()

    def number(self, tag: str) -> int:
        """Return the page's id of a tag, -1 if the page does not have it."""
        return self._number.get(tag, -1)

    def of(self, tag: str) -> Ints:
        """Return the elements with a tag, ascending."""
        number = self._number.get(tag)
        return self._node[:0] if number is None else self._node[self._first[number] : self._first[number + 1]]

    def around(self, tag: str, nodes: Ints) -> Ints:
        """Return how many elements with a tag contain each of the ascending `nodes`, or are the node."""
        elements = self.of(tag)
        if not elements.size:
            return np.zeros(nodes.size, np.int64)
        closed = np.sort(self._end[elements])
        return np.searchsorted(elements, nodes, side="right") - np.searchsorted(closed, nodes, side="right")


@dataclass(frozen=True, eq=False)
class MeasuredBlocks:
    """The B visible blocks of a page of N nodes, in document order, with M visible text nodes.

    Parameters
    ----------
    page : the page.
    elements : its elements by tag.
    text : the text of each block.
    start, end : int64 (B,), the text is in the nodes ``start .. end - 1``.
    around : int64 (B,), the innermost element around all of each block.
    key : uint64 (B,), equal for blocks with the same words; 0 without a letter.
    voice : int64 (B,), the longest text node of each block.
    path_code : int64 (B,), from 0 on, equal for blocks with the same path of tags.
    piece : int64 (M,), the text nodes.
    block : int64 (M,), the block of each text node.
    characters : the characters of the M texts.
    words : float64 (B,), number of words, a multiple of 1/8; a character of a script without spaces counts 0.625.
    linked : float64 (B,), number of words in links.
    size : float64 (B,), number of characters other than white space.
    single_share : share of the page's words that are characters of scripts without spaces, in [0, 1].
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
    single_share: float

    def __len__(self) -> int:
        return self.start.size

    @classmethod
    def of(cls, page: Snapshot, blocks: PageBlocks) -> "MeasuredBlocks":
        """Return the visible ones of the blocks of a page, in O(N + characters)."""
        number = np.flatnonzero(blocks.hidden == 0)
        rank = np.full(len(blocks), -1, np.int64)
        rank[number] = np.arange(number.size)
        block = rank[blocks.block]
        shown = block >= 0
        piece, block = blocks.node[shown], block[shown]
        characters = Characters.of(page.strings.take(page.text[piece].tolist()))
        singles = characters.having(CharIs.SINGLE)
        words = characters.words - (1 - WORDS_PER_SINGLE) * singles
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
            # Words are at least an eighth if there are any, and eighths add up exactly.
            single_share=WORDS_PER_SINGLE * int(singles.sum()) / max(float(words.sum()), 1 / 8),
        )

    def total(self, per_piece: Ints) -> F64:
        """Return the sum of a count per text node (M,) over each block, shape (B,)."""
        return _summed(self.block, per_piece, len(self))

    @cached_property
    def plain(self) -> F64:
        """Number of words outside of links, shape (B,)."""
        return self.words - self.linked

    @cached_property
    def before(self) -> F64:
        """Number of words outside of links before each block, then the total; shape (B + 1,)."""
        return np.concatenate(([0.0], np.cumsum(self.plain)))

    @cached_property
    def long(self) -> Bools:
        """Which blocks are long and have few words in links, shape (B,); see `LONG_BLOCK`."""
        return (self.words >= LONG_BLOCK) & (self.linked <= MOST_LINKED * self.words)

    @cached_property
    def word_hashes(self) -> tuple[Ints, U64]:
        """The block of each word, and the hash of the word in lower case."""
        chars = self.characters
        return self.block[np.searchsorted(chars.first, chars.begin, side="right") - 1], chars.hashes()

    @cached_property
    def pairs(self) -> tuple[Ints, U64]:
        """The block of each pair of neighbouring words in a block, and the hash of the pair."""
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
"""Ancestors further up are ignored: a guess, deeper than ordinary pages."""


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """L levels of ancestors of B blocks; above the root the levels repeat it.

    Parameters
    ----------
    node : int64 (L, B), ``node[0]`` is the innermost element around all of each block, ``node[1]`` its parent, and
        so on.
    first, last : int64 (L, B), these elements contain the blocks ``first .. last - 1``.
    depth : int64 (B,), the number of ancestors below the root, at most L.
    """

    node: Ints
    first: Ints
    last: Ints
    depth: Ints

    @classmethod
    def of(cls, blocks: MeasuredBlocks) -> "Around":
        """Return at most `MOST_LEVELS` levels of ancestors of the blocks of a page, in O(L * B)."""
        parent = blocks.page.parent
        levels = [blocks.around]
        while len(levels) < MOST_LEVELS and levels[-1].any():
            levels.append(np.maximum(parent[levels[-1]], 0).astype(np.int64))
        node = np.stack(levels)
        first = np.searchsorted(blocks.start, node)
        last = np.searchsorted(blocks.start, blocks.page.end[node])
        return cls(node, first, last, np.count_nonzero(node, axis=0))

    def any_of(self, nodes: int) -> Bools:
        """Return which nodes of a page of `nodes` nodes are ancestors of a block."""
        marks = np.zeros(nodes, np.bool_)
        marks[self.node.ravel()] = True
        return marks

    def level(self, wanted: int) -> int:
        """Return `wanted`, or the last level if there are fewer."""
        return min(wanted, len(self.node) - 1)

    def held(self, before: F64, level: int) -> F64:
        """Return the sum over the blocks in each element of a level, shape (B,).

        Parameters
        ----------
        before : (B + 1,), the sum over all blocks before each block, then the total.
        level : the level; the last one if there are fewer.
        """
        level = self.level(level)
        return np.asarray(before[self.last[level]] - before[self.first[level]])

    def levels_to(self, other: Ints) -> Ints:
        """Return the level of the innermost ancestor of each block that also contains the block `other` (B,)."""
        holds = (self.first <= other) & (self.last > other)
        return np.where(holds.any(axis=0), holds.argmax(axis=0), len(self.node))
