"""The site style tree as additive tables (SST sections 3, 5.1 and 7).

    paper                   here
    E, element node         row of `elements`, key = path
    S, style node           row of `styles`, key = (path, child sequence); a leaf form has `LEAF_STYLE`
    S.Es                    rows of `members`
    m(E)                    elements.pages
    n(S)                    styles.weight, in 1/WHOLE of a page
    a_i, f_ij               rows of `features`: total = SUM_j f, log_total = SUM_j f ln f, pages
    freq in E_j (merging)   rows of `contents`: pages on which a feature occurs anywhere below an element node

Deviations: features keep the sums of section 7 and no page lists; `words` and `link_words` of an element node are
not in the paper and feed the link discount of site mode.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from analysis._batch import Batch
from analysis._features import Occurrences
from analysis._forest import Forest
from analysis._hash import combine
from analysis._paths import Paths
from analysis._tables import Table, grouped, merged

# f ln f is kept in units of 2**-32, so that sums are integers and do not depend on their order.
LOG_UNIT = 1 << 32


@dataclass(frozen=True, slots=True, eq=False)
class StyleTree:
    """Counts over `pages` pages; every figure of the paper is derived from them. `contents` is None unless asked."""

    pages: int
    elements: Table
    styles: Table
    members: Table
    features: Table
    contents: Table | None

    @property
    def nbytes(self) -> int:
        """Bytes held by the tables."""
        tables = (self.elements, self.styles, self.members, self.features, self.contents)
        return sum(table.nbytes for table in tables if table is not None)


def count_pages(
    batch: Batch, forest: Forest, paths: Paths, found: Occurrences, *, contents: bool, presence: bool
) -> StyleTree:
    """Return the style tree of the pages of one batch (section 5.1, all pages at once).

    `contents` counts features for internal element nodes too, which only merging needs: it costs the depth of the
    tree in time and space. `presence` counts a feature once per page (section 9.7).
    """
    page = forest.page.astype(np.uint64)
    above = np.maximum(forest.parent, 0)
    path = paths.path
    per_page = grouped(
        combine(path, page),
        {
            "path": path,
            "parent": path[above],
            "sequence": paths.base[above],
            "label": forest.label,
            "position": paths.position.astype(np.int32),
            "depth": paths.depth,
        },
        {"words": found.text_words, "link_words": found.link_words},
    )
    fixed = {name: column for name, column in per_page.fixed.items() if name != "path"}
    elements = grouped(per_page.fixed["path"], fixed, {"pages": _ones(per_page), **per_page.sums})
    style = combine(path, paths.style)
    shown = grouped(
        combine(style, page),
        {"style": style, "path": path, "sequence": paths.style, "leaf": forest.leaf},
        {"weight": paths.weight},
    )
    fixed = {name: column for name, column in shown.fixed.items() if name != "style"}
    styles = grouped(shown.fixed["style"], fixed, {"pages": _ones(shown), **shown.sums})
    child = np.flatnonzero(forest.parent >= 0)
    holder = style[above[child]]
    members = grouped(combine(holder, path[child]), {"style": holder, "path": path[child]}, {})
    leaf = forest.owner[found.node]
    features = _count_features(path[leaf], found.feature, page[leaf], presence=presence)
    below = _count_contents(forest, paths, found, page) if contents else None
    return StyleTree(len(batch.pages), elements, styles, members, features, below)


def _count_features(
    path: NDArray[np.uint64], feature: NDArray[np.uint64], page: NDArray[np.uint64], *, presence: bool
) -> Table:
    key = combine(path, feature)
    fixed = {"key": key, "path": path, "feature": feature}
    per_page = grouped(combine(key, page), fixed, {"f": np.ones(key.size, np.int64)})
    f = _ones(per_page) if presence else per_page.sums["f"]
    sums = {
        "total": f,
        "log_total": np.rint(f * np.log(f) * LOG_UNIT).astype(np.int64),
        "pages": _ones(per_page),
    }
    fixed = {name: per_page.fixed[name] for name in ("path", "feature")}
    return grouped(per_page.fixed["key"], fixed, sums)


def _count_contents(forest: Forest, paths: Paths, found: Occurrences, page: NDArray[np.uint64]) -> Table:
    """Count, for every element node, the pages on which each feature occurs below it, one level after another."""
    node, feature = forest.owner[found.node], found.feature
    parts: list[Table] = []
    while node.size:
        key = combine(paths.path[node], feature)
        seen = np.unique(combine(key, page[node]), return_index=True)[1]
        node, feature, key = node[seen], feature[seen], key[seen]
        fixed = {"path": paths.path[node], "feature": feature}
        parts.append(Table(combine(key, page[node]), {**fixed, "key": key}, {}))
        inner = forest.parent[node] >= 0
        node, feature = forest.parent[node[inner]], feature[inner]
    if not parts:
        none = np.zeros(0, np.uint64)
        return Table(none, {"path": none, "feature": none}, {"pages": np.zeros(0, np.int64)})
    # An element node may take in a feature on several rounds: from leaves at different depths.
    whole = merged([grouped(part.key, part.fixed, {}) for part in parts])
    fixed = {name: whole.fixed[name] for name in ("path", "feature")}
    return grouped(whole.fixed["key"], fixed, {"pages": _ones(whole)})


def merge_trees(trees: Sequence[StyleTree]) -> StyleTree:
    """Return the style tree of all pages together: the same bytes whatever the order of the parts."""
    first = trees[0]
    tables: dict[str, Table | None] = {}
    for name in [column.name for column in fields(StyleTree) if column.name != "pages"]:
        whole = getattr(first, name)
        tables[name] = None if whole is None else merged([getattr(tree, name) for tree in trees])
    return StyleTree(pages=sum(tree.pages for tree in trees), **tables)  # type: ignore[arg-type]


def _ones(table: Table) -> NDArray[np.int64]:
    return np.ones(len(table), np.int64)
