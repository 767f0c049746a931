"""Blocks of pages on a compressed structure tree: weights of their words (CST equation 5), and the mask they make.

The mask is not in the paper: kept are the blocks whose mean weight per word is above the median of the page's blocks,
and where half of them or more share the highest mean, those that have it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import F64, Ints
from domsieve.analysis.columns.hash import U64, combine
from domsieve.analysis.site_model import verdicts_of
from domsieve.analysis.trees.cst_importance import StructureImportances
from domsieve.analysis.trees.forest import Forest, around, spread
from domsieve.analysis.trees.laid import Laid, known_shares
from domsieve.analysis.trees.leaf_features import Occurrences
from domsieve.analysis.trees.paths import Paths
from domsieve.analysis.trees.style_tree import StyleTree
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Scalar

_EVENLY = 1e-9
HIDDEN, LIGHT, HEAVY, WORDLESS, ABOVE = range(5)
REASONS = (
    "not visible",
    "weighs no more than most of the page",
    "weighs more than most of the page",
    "holds no words",
    "stands above kept content",
)


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The B blocks of a batch that hold words, in document order, and the C words in them.

    Parameters
    ----------
    leaf, node, page : int64 (B,), leaf of the forest, node of the batch, page of the batch.
    frequency : int64 (B,), number of words, all of their occurrences counted.
    weight, entropy : float64 (B,), sums over the words of the block.
    block, feature, unit_weight : (C,), block, hash and weight of each occurrence of a word: W / f.
    """

    leaf: Ints
    node: Ints
    page: Ints
    frequency: Ints
    weight: F64
    entropy: F64
    block: Ints
    feature: U64
    unit_weight: F64

    @classmethod
    def of(
        cls, laid: Laid, found: Occurrences, *, tree: StyleTree, figures: StructureImportances
    ) -> "Blocks":
        """Return the blocks of pages whose words were `found`."""
        forest, paths = laid.forest, laid.paths
        leaf = forest.owner[found.node]
        number = np.bincount(leaf, minlength=forest.leaf.size)
        held = np.flatnonzero(number)
        held = held[np.argsort(forest.node[held], kind="stable")]
        rank = np.empty(number.size, np.int64)
        rank[held] = np.arange(held.size)
        block = rank[leaf]
        row = tree.features.find(combine(paths.path[leaf], found.feature))
        h = np.append(figures.feature, 0.0)[row]  # what is new here is on one tag node alone
        weight = word_weight(leaf_path(forest, paths, tree, figures)[leaf], h)
        return cls(
            leaf=held,
            node=forest.node[held],
            page=forest.page[held].astype(np.int64),
            frequency=number[held],
            weight=np.bincount(block, weight, held.size).astype(np.float64),
            entropy=np.bincount(block, h, held.size).astype(np.float64),
            block=block,
            feature=found.feature,
            unit_weight=weight,
        )


def word_weight(path: F64, h: F64) -> F64:
    """Return W / f: the weight of one occurrence of a word, from PathImp of its leaf and its H there (equation 5)."""
    # H comes from sums in units of 2**-32, so a word that is spread evenly may miss 1 by a few 1e-10.
    return np.where(1 - h < _EVENLY, 0.0, path * (1 - h))


def leaf_path(forest: Forest, paths: Paths, tree: StyleTree, figures: StructureImportances) -> F64:
    """Return PathImp of each of the M forest nodes, as a leaf where it is one; 1 for places that are new."""
    row = tree.elements.find(paths.path)
    value = np.where(forest.leaf, figures.leaf_path[row], figures.path[row])
    return np.where((row < 0) | np.isnan(value), 1.0, value)


def verdicts(
    laid: Laid,
    blocks: Blocks,
    *,
    tree: StyleTree,
    figures: StructureImportances,
    parameters: dict[str, Scalar],
) -> list[Verdict]:
    """Return one verdict per page: the mask of its blocks, scored by weight over (frequency * page maximum)."""
    batch, forest, paths = laid.batch, laid.forest, laid.paths
    mean = blocks.weight / blocks.frequency
    kept, score = np.zeros(mean.size, np.bool_), np.zeros(mean.size)
    cuts = np.searchsorted(blocks.page, np.arange(len(batch.pages) + 1))
    for a, b in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        if a < b and (most := float(mean[a:b].max())) > 0:
            score[a:b] = mean[a:b] / most
            middle = float(np.median(mean[a:b]))
            kept[a:b] = mean[a:b] > middle if middle < most else mean[a:b] == most
    place, size = forest.places(), forest.leaf.size

    def of_leaves(values: NDArray[np.generic], default: float) -> NDArray[np.float64]:
        column = np.full(size, default)
        column[blocks.leaf] = values
        return column

    reason = np.where(forest.leaf, of_leaves(np.where(kept, HEAVY, LIGHT), WORDLESS), WORDLESS)
    reasons = spread(reason, place, WORDLESS, np.uint8)
    reasons[~forest.shown] = HIDDEN
    whole, above = around(batch, forest, (reasons == HEAVY) & (forest.owner >= 0), reasons == WORDLESS)
    reasons[above] = ABOVE
    scores = spread(of_leaves(score, 0), place, 0, np.float32)
    scores[~forest.shown] = 0
    row = tree.elements.find(paths.path)
    node = np.where(forest.leaf, figures.leaf_node[row], figures.node[row])
    numbers = {
        "node_importance": np.where((row < 0) | np.isnan(node), 1.0, node),
        "path_importance": leaf_path(forest, paths, tree, figures),
        "entropy": of_leaves(blocks.entropy / blocks.frequency, np.nan),
        "weight": of_leaves(blocks.weight, np.nan),
    }
    columns = {name: spread(values, place, np.nan, np.float32) for name, values in numbers.items()}
    return verdicts_of(
        batch,
        "cst",
        kept=whole,
        score=scores,
        reason=reasons,
        reasons=REASONS,
        numbers=columns,
        parameters=parameters,
        known_shares=known_shares(laid, row >= 0),
    )
