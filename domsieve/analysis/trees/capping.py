"""Smaller trees: of the features that one page alone has at a place, only their number is kept.

These are most rows of a tree. Their entropy is 0 whatever they are, so the importance of a leaf needs but how many
there are: each element node gets one row for the remainder, whose ``units`` are that number. A page is judged as
before, to the last rounding. What is learned afterwards of a feature that was counted there is taken for new, so a
tree is best capped when all of it is learned. Imports the tables and the style tree.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from domsieve.analysis.columns.hash import combine
from domsieve.analysis.columns.tables import grouped
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.trees.style_tree import REMAINDER, StyleTree, remainders


def capped_tree(tree: StyleTree) -> StyleTree:
    """Return a tree without the features that one page alone has, but for their number at each element node."""
    features = tree.features
    alone = (features.sums["units"] == 1) & ~remainders(features)
    feature = np.where(alone, REMAINDER, features.fixed["feature"])
    path = features.fixed["path"]
    key = np.where(alone, combine(path, feature), features.key)
    return replace(tree, features=grouped(key, {"path": path, "feature": feature}, features.sums))


def capped(model: SiteModel[Any]) -> SiteModel[Any]:
    """Return a smaller model that judges as this one does.

    The model itself is returned where it has no tree, or one whose features have names, as that of CST.
    """
    if not isinstance(model.counts_, StyleTree) or model.counts_.words:
        return model
    smaller = type(model)(**model.get_params())
    smaller.restore(capped_tree(model.counts_), style=model.style_)
    return smaller


def is_capped(counts: object) -> bool:
    """Return whether counts are those of a capped tree, which older programs would misread."""
    return isinstance(counts, StyleTree) and bool(remainders(counts.features).any())
