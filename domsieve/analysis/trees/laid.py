"""Pages laid over a style tree: their forest, the path of each node there, and the texts of their leaves."""

from dataclasses import dataclass

from domsieve.analysis.columns.batch import Batch
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
