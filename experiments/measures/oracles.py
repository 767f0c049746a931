"""Choices that know the truth: which blocks or which element of a page give the best word F1.

F1 = 2 * overlap / (found + true) is raised by a block exactly when more than half of F1 of its words are among the
true words that no chosen block holds yet, so the best choice is a fixed point of that rule (Dinkelbach).
"""

import heapq
from collections import Counter
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class WordBlocks:
    """The words of B blocks and those of the truth, as numbers below V.

    Parameters
    ----------
    block, word, count : int64 (C,), how often each word occurs in each block; blocks ascend.
    size : int64 (B,), words of each block.
    truth : int64 (V,), how often each word occurs in the truth.
    """

    block: Ints
    word: Ints
    count: Ints
    size: Ints
    truth: Ints

    @classmethod
    def of(cls, blocks: list[Counter[str]], truth: Counter[str]) -> "WordBlocks":
        """Return the blocks and the truth with numbers for words."""
        number = {word: i for i, word in enumerate(sorted({*truth, *chain.from_iterable(blocks)}))}
        true = np.zeros(len(number), np.int64)
        for word, count in truth.items():
            true[number[word]] = count
        return cls(
            np.repeat(np.arange(len(blocks)), [len(block) for block in blocks]),
            np.array([number[word] for block in blocks for word in block], np.int64),
            np.array([count for block in blocks for count in block.values()], np.int64),
            np.array([block.total() for block in blocks], np.int64),
            true,
        )

    def f1(self, chosen: Bools) -> float:
        """Return the word F1 of the blocks `chosen` (B,); two empty texts agree."""
        words = int(self.size[chosen].sum()) + int(self.truth.sum())
        return 2 * int(np.minimum(self.held(chosen), self.truth).sum()) / words if words else 1.0

    def held(self, chosen: Bools) -> Ints:
        """Return how often each of the V words occurs in the blocks `chosen` (B,)."""
        inside = chosen[self.block]
        return np.bincount(self.word[inside], self.count[inside], self.truth.size).astype(np.int64)


def best_choice(blocks: WordBlocks, *, always: Bools, perhaps: Bools) -> Bools:
    """Return a choice of blocks (B,) with as high an F1 as is found: all of `always`, and some of `perhaps`.

    Greedy by net gain at each cut-off, hence a lower bound of the best; it is the best where no two blocks compete
    for the same words of the truth.
    """
    best, f = always, blocks.f1(always)
    every = always | perhaps
    if (whole := blocks.f1(every)) > f:
        best, f = every, whole
    while True:
        tried = _gaining(blocks, always, perhaps & ~always, least=f / 2)
        found = blocks.f1(tried)
        if found <= f:
            return best
        best, f = tried, found


def _gaining(blocks: WordBlocks, always: Bools, perhaps: Bools, *, least: float) -> Bools:
    """Return `always` and the blocks whose share of still missing words is above `least`, the largest gain first."""
    chosen = always.copy()
    left = np.maximum(blocks.truth - blocks.held(always), 0)
    edges = np.searchsorted(blocks.block, np.arange(blocks.size.size + 1)).tolist()
    missing = np.bincount(blocks.block, np.minimum(blocks.count, left[blocks.word]), blocks.size.size)
    gains = missing - least * blocks.size
    hopeful = np.flatnonzero(perhaps & (gains > 0))
    queue = list(zip((-gains[hopeful]).tolist(), hopeful.tolist(), strict=True))
    heapq.heapify(queue)
    # Gains only fall while blocks are added, so an old one that is still the largest need not be the largest now.
    while queue:
        _, block = heapq.heappop(queue)
        piece = slice(edges[block], edges[block + 1])
        words, count = blocks.word[piece], blocks.count[piece]
        gain = float(np.minimum(count, left[words]).sum()) - least * int(blocks.size[block])
        if queue and -gain > queue[0][0]:
            heapq.heappush(queue, (-gain, block))
        elif gain > 0:
            chosen[block] = True
            left[words] = np.maximum(left[words] - count, 0)
        else:
            break
    return chosen


@dataclass(frozen=True, slots=True)
class ElementScores:
    """F1 of the words of single elements.

    Parameters
    ----------
    best : of the element that has the highest.
    holder : of the smallest one that holds at least `HELD` of the truth, 0 where none does.
    """

    best: float
    holder: float


HELD = 0.9


def best_elements(blocks: WordBlocks, first: Ints, last: Ints) -> ElementScores:
    """Return the scores of elements that hold the blocks ``first[i] .. last[i] - 1`` each."""
    before = np.concatenate(([0], np.cumsum(blocks.size)))
    stretches = np.unique(np.stack((first, last), axis=1), axis=0)
    size, true = before[stretches[:, 1]] - before[stretches[:, 0]], int(blocks.truth.sum())
    edges = np.searchsorted(blocks.block, np.arange(blocks.size.size + 1))

    def overlap(stretch: int) -> int:
        piece = slice(edges[stretches[stretch, 0]], edges[stretches[stretch, 1]])
        held = np.bincount(blocks.word[piece], blocks.count[piece], blocks.truth.size)
        return int(np.minimum(held, blocks.truth).sum())

    bound = 2 * np.minimum(size, true) / np.maximum(size + true, 1)
    best = 0.0
    for i in np.argsort(-bound, kind="stable").tolist():
        if bound[i] <= best:
            break
        best = max(best, 2 * overlap(i) / (int(size[i]) + true))
    for i in np.argsort(size, kind="stable").tolist():
        if size[i] >= HELD * true and (found := overlap(i)) >= HELD * true:
            return ElementScores(best, 2 * found / (int(size[i]) + true))
    return ElementScores(best, 0.0)
