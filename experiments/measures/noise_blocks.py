"""Precision and recall of noise blocks: what a method drops, against what lies outside the main content.

A block is a set of texts that a reader can see; texts that are neither content nor noise count nowhere. Blocks are
taken in two ways, none of which depends on a method: ``"line"``, a line of text as the report shows it, and
``"box"``, the texts that are nearer to one ``div``, ``table`` or ``body`` than to any other, the content blocks of
the entropy method.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Snapshot

BlockUnit = Literal["line", "box"]
UNITS: tuple[BlockUnit, ...] = ("line", "box")
_BOXES = frozenset(("div", "table", "body"))

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """The M texts of a page that count.

    Parameters
    ----------
    node : int64 (M,), the text nodes.
    words : int64 (M,), the number of words of each, parted by white space.
    block : int64 (M,), the block of each by its unit, from 0.
    """

    node: Ints
    words: Ints
    block: dict[BlockUnit, Ints]


@dataclass(frozen=True, slots=True)
class NoiseCounts:
    """Numbers of blocks, or of words in them.

    Parameters
    ----------
    all, noise, mixed : of all blocks, of noise, and of those with some words inside the content and some outside.
    detected, correct : of those found to be noise, and of those that are.
    """

    all: int = 0
    noise: int = 0
    mixed: int = 0
    detected: int = 0
    correct: int = 0

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.all + other.all,
            self.noise + other.noise,
            self.mixed + other.mixed,
            self.detected + other.detected,
            self.correct + other.correct,
        )

    @property
    def precision(self) -> float | None:
        """Correctly detected over all detected; None when there are none."""
        return self.correct / self.detected if self.detected else None

    @property
    def recall(self) -> float | None:
        """Correctly detected over all noise; None when there is none."""
        return self.correct / self.noise if self.noise else None

    @property
    def f(self) -> float | None:
        """Harmonic mean of precision and recall; None when there is no noise."""
        return 2 * self.correct / (self.detected + self.noise) if self.noise else None


def seen_texts(page: Snapshot, neutral: Bools) -> Texts:
    """Return the texts of a page that can be seen, those in `neutral` (N,) nodes left out."""
    lines = page_blocks(page)
    counts = (lines.hidden[lines.block] == 0) & ~neutral[lines.node]
    node = lines.node[counts]
    words = [len(text.split()) for text in page.strings.take(page.text[node].tolist())]
    blocks: dict[BlockUnit, Ints] = {"line": lines.block[counts], "box": _nearest(page, _BOXES)[node]}
    return Texts(
        node,
        np.array(words, np.int64),
        {unit: np.unique(block, return_inverse=True)[1].astype(np.int64) for unit, block in blocks.items()},
    )


def count_noise(
    texts: Texts, main: Bools, verdict: Verdict, *, unit: BlockUnit
) -> tuple[NoiseCounts, NoiseCounts]:
    """Return how a verdict finds the noise of a page, in blocks and in their words.

    A block is noise when most of its words lie outside `main` (N,), and detected when most are not kept; half of
    them is not most.
    """
    block = texts.block[unit]
    words = np.bincount(block, texts.words)
    outside = np.bincount(block, texts.words * ~main[texts.node])
    dropped = np.bincount(block, texts.words * ~verdict.kept[texts.node])
    noise, detected, mixed = outside > words / 2, dropped > words / 2, (outside > 0) & (outside < words)

    def counted(weight: NDArray[np.generic]) -> NoiseCounts:
        chosen = (np.ones_like(noise), noise, mixed, detected, noise & detected)
        return NoiseCounts(*(int(weight[flags].sum()) for flags in chosen))

    return counted(np.ones(words.size)), counted(words)


def _nearest(page: Snapshot, tags: Collection[str]) -> Ints:
    """Return the nearest element of one of these tags that each of the N nodes lies in or is, else the document."""
    holds = np.array([name in tags for name in page.tags.to_list()])[page.tag]
    found = np.zeros(len(page), np.int64)
    for node, above in enumerate(page.parent.tolist()):
        found[node] = node if holds[node] or node == 0 else found[above]
    return found
