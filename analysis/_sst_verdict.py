"""From the mapping of a batch onto a style tree to one Verdict per page (SST sections 5.5 and 5.6.3)."""

import numpy as np
from numpy.typing import NDArray

from analysis._batch import Batch
from analysis._features import Occurrences
from analysis._forest import Forest
from analysis._hash import combine
from analysis._importance import Importances
from analysis._mapping import Mapping, Rule
from analysis._paths import Paths
from analysis._style_tree import StyleTree
from analysis._verdict import Verdict
from snapshot import Kind, Scalar

HIDDEN, REPEATS, VARIES, UNKNOWN, LINKS, LOCAL, ABOVE, EMPTY = range(8)
REASONS = (
    "not visible",
    "repeats on the site",
    "varies over the site",
    "not on the site's style tree",
    "mostly links",
    "locally noisy words",
    "stands above kept content",
    "holds no content",
)


def verdicts(
    batch: Batch,
    forest: Forest,
    paths: Paths,
    found: Occurrences,
    mapping: Mapping,
    *,
    tree: StyleTree,
    figures: Importances,
    threshold: float,
    link_discount: float,
    local_noise: float,
    parameters: dict[str, Scalar],
) -> list[Verdict]:
    """Return one verdict per page of the batch.

    A leaf is kept when MapSST keeps it and its importance, discounted by the share of its words that stand in links
    (mean of this page and all pages learned), is above `threshold`; without a discount MapSST decides alone. Texts
    of kept leaves whose words are all locally noisy are dropped.
    """
    row, known = np.maximum(mapping.row, 0), mapping.row >= 0
    composite = np.where(forest.leaf, figures.leaf_form[row], figures.composite[row])
    importance = np.where(known & ~np.isnan(composite), composite, 1.0)
    links = _link_share(found, tree, row, known)
    value = importance * (1 - link_discount * links)
    reason = _RULE_REASONS[mapping.rule]
    if link_discount > 0:
        reason[(reason != REPEATS) & (value <= threshold)] = LINKS
    node = _forest_node(forest)
    here = np.maximum(node, 0)
    reasons = np.where(node >= 0, reason[here], EMPTY).astype(np.uint8)
    local = _locally_noisy(batch, forest, paths, found, tree, figures, local_noise)
    reasons[local & np.isin(reasons, (VARIES, UNKNOWN))] = LOCAL
    reasons[~forest.shown] = HIDDEN
    kept = np.isin(reasons, (VARIES, UNKNOWN)) & (forest.owner >= 0)
    before = np.concatenate(([0], np.cumsum(kept & (batch.kind != Kind.DOCUMENT))))
    above = ~kept & (forest.owner < 0) & (before[batch.end] > before[:-1])
    reasons[above] = ABOVE
    # What has no content of its own, such as a line break between texts, goes with the element around it.
    alone = (reasons == EMPTY) & (batch.end == np.arange(node.size) + 1) & (batch.parent >= 0)
    kept |= above
    kept |= alone & kept[np.maximum(batch.parent, 0)]
    scores = np.where(forest.shown & (node >= 0), value[here], 0).astype(np.float32)
    numbers = {
        "importance": np.where(node >= 0, importance[here], np.nan).astype(np.float32),
        "link_share": np.where((node >= 0) & forest.leaf[here], links[here], np.nan).astype(np.float32),
        "pages": np.where(
            (node >= 0) & known[here], tree.elements.sums["pages"][row[here]], np.where(node >= 0, 0, np.nan)
        ).astype(np.float32),
    }
    return [
        Verdict(
            "sst",
            kept[a:b],
            scores[a:b],
            reasons[a:b],
            REASONS,
            {name: column[a:b] for name, column in numbers.items()},
            parameters,
        )
        for a, b in zip(batch.first[:-1], batch.first[1:], strict=True)
    ]


_RULE_REASONS = np.zeros(len(Rule), np.uint8)
_RULE_REASONS[[Rule.DESCEND, Rule.UNKNOWN]] = EMPTY, UNKNOWN
_RULE_REASONS[[Rule.NOISY, Rule.LEAF_NOISY]] = REPEATS
_RULE_REASONS[[Rule.MEANINGFUL, Rule.LEAF_KEPT]] = VARIES


def _link_share(
    found: Occurrences, tree: StyleTree, row: NDArray[np.int64], known: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the share of linked words of each leaf, mean of its share here and over the pages learned."""
    here = found.link_words / np.maximum(found.text_words, 1)
    words = tree.elements.sums["words"][row]
    site = tree.elements.sums["link_words"][row] / np.maximum(words, 1)
    return np.asarray(np.where(known & (words > 0), (here + site) / 2, here))


def _forest_node(forest: Forest) -> NDArray[np.int64]:
    """Return for each of the N nodes the leaf it lies in, or the forest node it is; -1 for neither."""
    node = forest.owner.copy()
    inner = np.flatnonzero((forest.node >= 0) & ~forest.leaf)
    node[forest.node[inner]] = inner
    return node


def _locally_noisy(
    batch: Batch,
    forest: Forest,
    paths: Paths,
    found: Occurrences,
    tree: StyleTree,
    figures: Importances,
    local_noise: float,
) -> NDArray[np.bool_]:
    """Return which texts stand in an element whose features are all spread evenly over the pages.

    Such a feature has 1 - H < epsilon. The paper drops single features; a sentence keeps its common words here.
    """
    row = tree.features.find(combine(paths.path[forest.owner[found.node]], found.feature))
    noisy = (row >= 0) & (1 - figures.feature[row] < local_noise)
    texts = np.flatnonzero(batch.kind == Kind.TEXT)
    telling = np.zeros(forest.owner.size, np.bool_)
    telling[forest.holder[found.node[~noisy]]] = True
    carrying = np.zeros(forest.owner.size, np.bool_)
    carrying[forest.holder[found.node]] = True
    local = np.zeros(forest.owner.size, np.bool_)
    local[texts] = (carrying & ~telling)[forest.holder[texts]]
    return local
