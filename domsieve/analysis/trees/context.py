"""What stands around an element node says how to read the little it holds itself.

Not in the paper. A leaf of three words shows hardly whether it is content: "Method summary" repeats over a site and
"3 hours ago" varies, the first amid content, the second amid teasers. So every figure of a node is drawn towards the
mean around it, strongly when the node carries few features and hardly when it carries many: the posterior mean
under a prior that is worth a fixed number of features and centred on the node's parent. A page as a whole is no
context, since it holds content and noise: the blocks of its body stand for themselves.
"""

from itertools import pairwise

import numpy as np

from domsieve.analysis.columns.batch import F64, Ints
from domsieve.analysis.trees.forest import Forest

_FREE_LEVELS = 3  # document, body and the blocks of the body


def in_context(value: F64, count: Ints, forest: Forest, *, strength: float) -> F64:
    """Return the `value` of each of the M forest nodes in the light of the nodes around it, O(M).

    Parameters
    ----------
    value : (M,), figures of the leaves; those of other nodes are not looked at.
    count : (M,), number of features of each leaf.
    forest : the pages; none has an influence on another.
    strength : number of features that the context of a node is worth, at least 0.
    """
    if strength == 0:
        return value
    weight = np.where(forest.leaf, count, 0.0)
    total = weight * value
    levels = list(pairwise(forest.levels.tolist()))
    for (a, b), (c, d) in reversed(list(pairwise(levels))):
        above = forest.parent[c:d] - a
        weight[a:b] += np.bincount(above, weight[c:d], b - a)
        total[a:b] += np.bincount(above, total[c:d], b - a)
    found = total / np.maximum(weight, 1.0)
    for a, b in levels[_FREE_LEVELS:]:
        found[a:b] = (total[a:b] + strength * found[forest.parent[a:b]]) / (weight[a:b] + strength)
    return found
