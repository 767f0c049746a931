"""Importances of the element nodes of a compressed structure tree, from the root down.

paper            here
l, m, p_i        number of styles, `units` of the element node, share of its tag nodes with style i
NodeImp, (1)     node, internal
NodeImp, (2)     node, leaf: 1 - mean of H over the features
H_E(a_i), (3)    feature
PathImp, (4)     path
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from domsieve.analysis.columns.batch import F64
from domsieve.analysis.columns.tables import stable_order
from domsieve.analysis.trees.importance import entropy, node_importance, unit_interval
from domsieve.analysis.trees.style_tree import LOG_UNIT, StyleTree


@dataclass(frozen=True, slots=True, eq=False)
class StructureImportances:
    """Figures of the E element nodes and F feature rows of a tree; all in [0, 1].

    Parameters
    ----------
    node, path : float64 (E,), NodeImp and PathImp.
    leaf_node, leaf_path : float64 (E,), those of the leaf form, NaN where no page has one. Where a node has internal
        forms too, its leaf form is a virtual child.
    feature : float64 (F,), H_E(a).
    """

    node: F64
    path: F64
    leaf_node: F64
    leaf_path: F64
    feature: F64


def structure_importances(tree: StyleTree) -> StructureImportances:
    """Return all figures of `tree`, whose units are tag nodes; O(rows of the tables)."""
    elements, styles, features = tree.elements, tree.styles, tree.features
    m = elements.sums["units"].astype(np.float64)
    owner = elements.find(styles.fixed["path"])
    of_leaf = styles.fixed["leaf"]
    node = node_importance(styles.sums["units"].astype(np.float64), m, owner, m)

    leaf_m = np.zeros(m.size)
    leaf_m[owner[of_leaf]] = styles.sums["units"][of_leaf]
    row = elements.find(features.fixed["path"])
    total = features.sums["total"].astype(np.float64)
    h = entropy(total, features.sums["log_total"] / LOG_UNIT, leaf_m[row])
    count = np.bincount(row, minlength=m.size)
    # A leaf that never holds a word says nothing, unless it is the only one of its kind.
    mean = np.bincount(row, 1 - h, m.size) / np.maximum(count, 1)
    leaf_node = np.where(leaf_m > 1, unit_interval(mean), 1.0)
    leaf_node[leaf_m == 0] = np.nan
    only_leaf = np.bincount(owner, ~of_leaf, m.size) == 0
    node[only_leaf] = leaf_node[only_leaf]

    path = path_importance(tree, node)
    leaf_path = np.where(only_leaf, path, unit_interval(1 - (1 - path) * (1 - leaf_node)))
    return StructureImportances(node, path, leaf_node, leaf_path, h)


def path_importance(tree: StyleTree, node: F64) -> F64:
    """Return PathImp of the E element nodes from their NodeImp (equation 4)."""
    elements = tree.elements
    rest = 1 - node  # Q, the product of 1 - NodeImp from the root down
    above = elements.find(elements.fixed["parent"])
    depth = elements.fixed["depth"]
    by_depth = stable_order(depth)
    for a, b in pairwise(np.cumsum(np.bincount(depth)).tolist()):
        rows = by_depth[a:b]
        rest[rows] *= rest[above[rows]]
    return unit_interval(1 - rest)
