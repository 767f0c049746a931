"""The site style tree as additive tables, and what the paper computes from them (SST sections 3 to 5).

paper                       here
E, element node             row of `elements`, key = path
S, style node               row of `styles`, key = (path, child sequence); leaf form has `LEAF_STYLE`
S.Es                        rows of `members`
m(E)                        elements.pages
n(S), p_i                   styles.weight, in 1/WHOLE of a page
a_i, f_ij                   rows of `features`: total = SUM_j f, log_total = SUM_j f ln f, pages
NodeImp, CompImp, H_E       `importances`
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis._batch import Batch
from analysis._features import Occurrences
from analysis._forest import Forest
from analysis._hash import U64, combine
from analysis._paths import Paths
from analysis._tables import Table, grouped, merged

# f ln f is kept in units of 2**-32, so that sums are integers and do not depend on their order.
LOG_UNIT = 1 << 32


@dataclass(frozen=True, slots=True, eq=False)
class StyleTree:
    """Counts over P pages; every figure of the papers is derived from them."""

    pages: int
    elements: Table
    styles: Table
    members: Table
    features: Table

    @property
    def nbytes(self) -> int:
        """Bytes held by the tables."""
        return sum(t.nbytes for t in (self.elements, self.styles, self.members, self.features))


def count_pages(batch: Batch, forest: Forest, paths: Paths, found: Occurrences) -> StyleTree:
    """Return the style tree of the pages of one batch (Algorithm of section 5.1, all pages at once)."""
    page = forest.page.astype(np.uint64)
    above = np.maximum(forest.parent, 0)
    seen = _first_of(combine(paths.path, page))
    elements = grouped(
        paths.path[seen],
        {
            "parent": paths.path[above[seen]],
            "label": forest.label[seen],
            "position": paths.position[seen].astype(np.int32),
            "depth": paths.depth[seen],
        },
        {"pages": np.ones(seen.size, np.int64)},
    )
    style = combine(paths.path, paths.style)
    per_page = grouped(
        combine(style, page),
        {"path": paths.path, "style": style, "leaf": forest.leaf},
        {"weight": paths.weight},
    )
    styles = grouped(
        per_page.fixed["style"],
        {"path": per_page.fixed["path"], "leaf": per_page.fixed["leaf"]},
        {"weight": per_page.sums["weight"], "pages": np.ones(len(per_page), np.int64)},
    )
    child = np.flatnonzero(forest.parent >= 0)
    pair = combine(style[above[child]], paths.path[child])
    members = grouped(pair, {"style": style[above[child]], "path": paths.path[child]}, {})
    return StyleTree(len(batch.pages), elements, styles, members, _count_features(forest, paths, found))


def _count_features(forest: Forest, paths: Paths, found: Occurrences) -> Table:
    leaf = forest.owner[found.node]
    path, page = paths.path[leaf], forest.page[leaf].astype(np.uint64)
    key = combine(path, found.feature)
    per_page = grouped(
        combine(key, page),
        {"key": key, "path": path, "feature": found.feature},
        {"f": np.ones(key.size, np.int64)},
    )
    f = per_page.sums["f"]
    return grouped(
        per_page.fixed["key"],
        {"path": per_page.fixed["path"], "feature": per_page.fixed["feature"]},
        {
            "total": f,
            "log_total": np.rint(f * np.log(f) * LOG_UNIT).astype(np.int64),
            "pages": np.ones(len(per_page), np.int64),
        },
    )


def merge_trees(trees: list[StyleTree]) -> StyleTree:
    """Return the style tree of all pages together; same bytes whatever the order of the parts."""
    return StyleTree(
        sum(t.pages for t in trees),
        merged([t.elements for t in trees]),
        merged([t.styles for t in trees]),
        merged([t.members for t in trees]),
        merged([t.features for t in trees]),
    )


def _first_of(keys: U64) -> NDArray[np.int64]:
    """Return the index of the first occurrence of each distinct key."""
    return np.unique(keys, return_index=True)[1]
