"""Mapping a page onto a site style tree: which subtrees are content."""

from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.hash import combine
from domsieve.analysis.trees.forest import Forest
from domsieve.analysis.trees.importance import Importances
from domsieve.analysis.trees.paths import Paths, Siblings
from domsieve.analysis.trees.style_tree import StyleTree


class Rule(IntEnum):
    """Which step of MapSST decided a node."""

    DESCEND = 0  # neither noisy nor meaningful: its children decide
    NOISY = 1
    MEANINGFUL = 2
    UNKNOWN = 3  # no equal style: possibly meaningful, kept
    LEAF_NOISY = 4  # leaf form of an element node that has other forms too
    LEAF_KEPT = 5


@dataclass(frozen=True, slots=True, eq=False)
class Mapping:
    """For each of the M forest nodes the rule that decided it and its row in the tree (-1 off the tree)."""

    rule: NDArray[np.uint8]
    row: NDArray[np.int64]


def map_pages(
    tree: StyleTree,
    figures: Importances,
    forest: Forest,
    paths: Paths,
    *,
    threshold: float,
    siblings: Siblings,
) -> Mapping:
    """Return the rule for every forest node, top-down, one step per level."""
    row = tree.elements.find(paths.path)
    known = row >= 0
    at = np.maximum(row, 0)
    own = np.full(row.size, Rule.DESCEND, np.uint8)
    leaf_value = figures.leaf_form[at]
    leaf_rule = np.where(leaf_value <= threshold, Rule.LEAF_NOISY, Rule.LEAF_KEPT)
    own[forest.leaf] = np.where(np.isnan(leaf_value), Rule.UNKNOWN, leaf_rule)[forest.leaf]
    if siblings == "style":
        own[~forest.leaf & (tree.styles.find(combine(paths.path, paths.style)) < 0)] = Rule.UNKNOWN
    own[known & figures.meaningful[at]] = Rule.MEANINGFUL
    own[known & figures.noisy[at]] = Rule.NOISY
    own[~known] = Rule.UNKNOWN
    rule = own.copy()
    for a, b in pairwise(forest.levels[1:].tolist()):
        above = rule[forest.parent[a:b]]
        rule[a:b] = np.where(above == Rule.DESCEND, own[a:b], above)
    return Mapping(rule, row)
