"""Pages laid over a style tree: their forest, the path of each node there, and the texts of their leaves."""

from dataclasses import dataclass

import numpy as np

from domsieve.analysis.columns.batch import Batch, Bools
from domsieve.analysis.trees.forest import Forest
from domsieve.analysis.trees.leaf_features import LeafTexts
from domsieve.analysis.trees.paths import Paths


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """A batch of pages as every step of SST and CST reads it."""

    batch: Batch
    forest: Forest
    paths: Paths
    texts: LeafTexts


def known_shares(laid: Laid, known: Bools) -> list[float | None]:
    """Return which share of the words of each page stands in leaves that are `known` (M,); None without words."""
    words, page, pages = laid.texts.word_count, laid.forest.page, len(laid.batch.pages)
    whole = np.bincount(page, words, pages)
    part = np.bincount(page, words * known, pages)
    return [p / w if w else None for p, w in zip(part.tolist(), whole.tolist(), strict=True)]
