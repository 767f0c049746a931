"""Simplifying a style tree: what remains above and at its maximal noisy and meaningful nodes."""

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.trees.importance import Importances
from domsieve.analysis.trees.style_tree import StyleTree


def simplified(tree: StyleTree, figures: Importances) -> NDArray[np.bool_]:
    """Return which of the E element nodes stay when the tree is cut below every maximal marked node.

    A maximal node has no ancestor with the same mark; nothing below it changes what MapSST answers. One step per
    level of the tree.
    """
    elements, styles, members = tree.elements, tree.styles, tree.members
    depth = elements.fixed["depth"]
    holder = elements.find(styles.fixed["path"])[styles.find(members.fixed["style"])]
    child = elements.find(members.fixed["path"])
    kept = np.asarray(depth == 0)
    marked = figures.noisy | figures.meaningful
    for level in range(1, int(depth.max(initial=0)) + 1):
        here = depth[child] == level
        open_above = kept[holder[here]] & ~marked[holder[here]]
        kept[child[here][open_above]] = True
    return kept
