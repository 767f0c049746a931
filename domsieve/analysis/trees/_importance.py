"""Importance of element nodes by entropy (Yi, Liu, Li; KDD 2003), and lists of links that are content."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import F64, Bools, Ints, TagIs, below
from domsieve.analysis.columns.hash import combine
from domsieve.analysis.columns.tables import Table, grouping
from domsieve.analysis.trees._alignment import AlignedPages
from domsieve.analysis.trees.style_tree import LOG_UNIT, StyleTree, remainders
from domsieve.budget import check

_MOST = 0.5  # a list of links has more than half of its words in links
_NEARLY_ALL = (
    0.9  # a child with so many of the linked words of an element node is the list that it holds; a guess
)


@dataclass(frozen=True, slots=True, eq=False)
class LinkLists:
    """Which of the E element nodes of a site are lists of links, and which are rare.

    Parameters
    ----------
    listed : bool (E,), most words at or below the node are in links.
    rare : bool (E,), few of the pages that have the node's parent have the node, or have the list in it with nearly
        all of its linked words: boxes of code and lists of links may share an element node.
    in_rare : bool (E,), the node or one of its ancestors is rare.
    """

    listed: Bools
    rare: Bools
    in_rare: Bools

    @classmethod
    def of(cls, tree: StyleTree, list_share: float) -> "LinkLists":
        """Return the lists of links of a site; a node is rare on less than `list_share` of its parent's pages."""
        elements = tree.elements
        depth, above = elements.fixed["depth"], elements.find(elements.fixed["parent"])
        above = np.where((above < 0) | (depth == 0), np.arange(above.size), above)
        order = np.argsort(depth, kind="stable")
        cuts = np.searchsorted(depth[order], np.arange(int(depth.max(initial=0)) + 2)).tolist()
        levels = [order[a:b] for a, b in pairwise(cuts)]
        words, linked = (elements.sums[name].astype(np.float64) for name in ("words", "link_words"))
        for level in reversed(levels[1:]):
            check()
            np.add.at(words, above[level], words[level])
            np.add.at(linked, above[level], linked[level])
        units = elements.sums["units"]
        holding = units.copy()
        for level in reversed(levels[1:]):
            inner = level[linked[level] >= np.maximum(_NEARLY_ALL * linked[above[level]], 1)]
            holding[above[inner]] = holding[inner]
        rare = holding < list_share * units[above]
        in_rare = rare.copy()
        for level in levels[1:]:
            in_rare[level] |= in_rare[above[level]]
        return cls(linked > _MOST * words, rare, in_rare)


def navigation(aligned: AlignedPages, lists: LinkLists, row: Ints, known: Bools) -> Bools:
    """Return in which of the M forest nodes links are navigation, in O(N + M log M).

    Parameters
    ----------
    row : (M,), the element node of each forest node.
    known : (M,), whether it has one. A node without one counts as rare if its parent is known.
    """
    forest = aligned.forest
    parent = np.maximum(forest.parent, 0)
    words, linked = (
        _sum_below(aligned, count) for count in (aligned.texts.word_count, aligned.texts.link_word_count)
    )
    mostly = linked > _MOST * words
    listed = np.where(known, lists.listed[row], mostly)
    rare = np.where(known, lists.rare[row], known[parent])
    guides = ~(rare & mostly[parent])
    for a, b in pairwise(forest.levels[1:].tolist()):
        check()
        above = parent[a:b]
        guides[a:b] = np.where(listed[above], guides[above], guides[a:b])
    titles = _teaser_titles(aligned, mostly)
    guides[titles] &= known[titles] & ~lists.in_rare[row[titles]]
    return guides


def _teaser_titles(aligned: AlignedPages, mostly: Bools) -> Ints:
    """Return the leaves that are titles of teasers; `mostly` (M,) are the nodes with most of their words in links."""
    batch, forest, texts = aligned.batch, aligned.forest, aligned.texts
    headings = np.concatenate(([0], np.cumsum((batch.tag_is & TagIs.HEADING) != 0, dtype=np.int32)))
    titles = np.flatnonzero(
        forest.leaf
        & (headings[batch.end[forest.node]] > headings[forest.node])
        & (texts.word_count > 0)
        & (texts.link_word_count == texts.word_count)
    )
    if titles.size < 2:
        return titles[:0]
    count = _sum_below(aligned, np.bincount(titles, minlength=forest.leaf.size))
    teasers = np.flatnonzero((count == 1) & ~mostly & (count[forest.parent] > 1) & (forest.parent >= 0))
    tag = batch.tag[forest.node[teasers]].astype(np.uint64)
    rows = grouping(combine(forest.parent[teasers].astype(np.uint64), tag))
    teasers = teasers[np.diff(rows.first)[rows.code] > 1]
    roots = np.zeros(batch.kind.size, np.bool_)
    roots[forest.node[teasers]] = True
    return titles[below(roots, batch.end)[forest.node[titles]]]


def _sum_below(aligned: AlignedPages, count: Ints) -> Ints:
    """Return the sum of the `count` (M,) of all leaves at and below each of the M forest nodes."""
    node = aligned.forest.node
    before = np.zeros(aligned.batch.kind.size + 1, np.int64)
    before[node + 1] = np.where(aligned.forest.leaf, count, 0)
    np.cumsum(before, out=before)
    sums: Ints = before[aligned.batch.end[node]] - before[node]
    return sums


@dataclass(frozen=True, slots=True, eq=False)
class Importances:
    """Importances of the E element nodes and entropies of the F feature rows of a tree, all in [0, 1].

    Parameters
    ----------
    node : float64 (E,), NodeImp.
    composite : float64 (E,), CompImp.
    leaf_form : float64 (E,), CompImp of the leaf form of the node; NaN if no page has one.
    feature : float64 (F,), H_E(a), the entropy of each feature over the pages of its leaf, multiplied by the trust in
        the leaf.
    noisy, meaningful : bool (E,), the marks of the paper; a node may have neither.
    """

    node: F64
    composite: F64
    leaf_form: F64
    feature: F64
    noisy: Bools
    meaningful: Bools


def entropy(total: F64, log_total: F64, pages: F64) -> F64:
    """Return H = (ln A - B/A) / ln m in [0, 1]; 0 for m = 1.

    Parameters
    ----------
    total : A = SUM f.
    log_total : B = SUM f ln f.
    pages : m.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (np.log(total) - log_total / total) / np.log(pages)
    return np.where(pages > 1, unit_interval(value), 0.0)


def feature_entropies(features: Table, pages: F64) -> tuple[F64, Ints]:
    """Return the entropy H of each feature row, and how many features the row represents.

    Parameters
    ----------
    features : the table of features, possibly capped.
    pages : (F,), the number of pages that have the leaf of each row.
    """
    total = features.sums["total"].astype(np.float64)
    h = entropy(total, features.sums["log_total"] / LOG_UNIT, pages)
    rest = remainders(features)
    h[rest] = 0.0  # features of a single page
    return h, np.where(rest, features.sums["units"], 1)


def node_importance(weight: F64, whole: F64, owner: Ints, pages: F64) -> F64:
    """Return NodeImp = -SUM p log_m p of each of the E element nodes.

    Parameters
    ----------
    weight : (S,), the number of pages with each style node, possibly fractional.
    whole : (E,), the sum of these for each element node.
    owner : (S,), the element node of each style node.
    pages : (E,), m; an element node on one page has importance 1.
    """
    p = shares(weight, whole[owner])
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, -p * np.log(p), 0.0)
        value = np.bincount(owner, terms, pages.size) / np.log(pages)
    return np.where(pages > 1, unit_interval(value), 1.0)


def importances(
    tree: StyleTree, *, attenuation: float, threshold: float, rare_share: float = 0.0
) -> Importances:
    """Return the importances and marks of a tree, in O(rows of the tables).

    Parameters
    ----------
    attenuation : g in [0, 1], the weight of the descendants compared with the node's own styles.
    threshold : t in [0, 1]; nodes up to this importance are noise.
    rare_share : in [0, 1]. What two of a hundred pages share says little about the site, so the entropies of a leaf
        on a share x of all pages are multiplied by (1 + `rare_share`) * x / (x + `rare_share`), which is 1 for x = 1.
        This is not in the paper; 0 turns it off.
    """
    elements, styles, members = tree.elements, tree.styles, tree.members
    pages = elements.sums["units"].astype(np.float64)
    owner = elements.find(styles.fixed["path"])
    weight = styles.sums["weight"].astype(np.float64)
    whole = np.bincount(owner, weight, pages.size).astype(np.float64)
    node = node_importance(weight, whole, owner, pages)
    count = np.bincount(owner, minlength=pages.size).astype(np.float64)
    share = shares(weight, whole[owner])
    feature, leaf_form = _leaves(tree, owner, rare_share)
    is_leaf = styles.fixed["leaf"]
    keep = attenuation**count

    # Style nodes by depth, and their members in the same order.
    depth = elements.fixed["depth"]
    by_depth = np.argsort(depth[owner], kind="stable")
    rank = np.empty(by_depth.size, np.int64)
    rank[by_depth] = np.arange(by_depth.size)
    member_style = rank[styles.find(members.fixed["style"])]
    by_style = np.argsort(member_style, kind="stable")
    member_style, child = member_style[by_style], elements.find(members.fixed["path"])[by_style]
    cut_styles = np.searchsorted(depth[owner][by_depth], np.arange(int(depth.max(initial=0)) + 2))
    cut_members = np.searchsorted(member_style, cut_styles)

    composite = np.zeros(pages.size)
    all_noisy = np.ones(pages.size, np.bool_)
    any_noisy = np.zeros(pages.size, np.bool_)
    for level in range(cut_styles.size - 2, -1, -1):
        rows = by_depth[cut_styles[level] : cut_styles[level + 1]]
        if not rows.size:
            continue
        span = slice(cut_members[level], cut_members[level + 1])
        position, below = member_style[span] - cut_styles[level], child[span]
        size = np.bincount(position, minlength=rows.size)
        mean = np.bincount(position, composite[below], rows.size) / np.maximum(size, 1)
        value = np.where(is_leaf[rows], leaf_form[owner[rows]], mean)
        here, index = np.unique(owner[rows], return_inverse=True)
        inner = np.bincount(index, share[rows] * value, here.size)
        mixed = (1 - keep[here]) * node[here] + keep[here] * inner
        only_leaf = np.bincount(index, ~is_leaf[rows], here.size) == 0
        composite[here] = np.where(only_leaf, leaf_form[here], mixed)
        calm = np.bincount(index[position], ~all_noisy[below], here.size) == 0
        all_noisy[here] = calm & (composite[here] <= threshold)
        any_noisy[here] = all_noisy[here] | (np.bincount(index[position], any_noisy[below], here.size) > 0)
    return Importances(node, composite, leaf_form, feature, all_noisy, ~any_noisy)


def _leaves(tree: StyleTree, owner: Ints, rare_share: float) -> tuple[F64, F64]:
    """Return the trusted H of each feature row, and CompImp of the leaf form of each element node."""
    elements, styles, features = tree.elements, tree.styles, tree.features
    is_leaf = styles.fixed["leaf"]
    pages = np.zeros(len(elements))
    pages[owner[is_leaf]] = styles.sums["units"][is_leaf]
    row = elements.find(features.fixed["path"])
    known = pages / tree.pages
    trust = known * (1 + rare_share) / np.maximum(known + rare_share, 1e-12)
    h, number = feature_entropies(features, pages[row])
    h *= trust[row]
    count = np.bincount(row, number, len(elements))
    mean = np.bincount(row, h, len(elements)) / np.maximum(count, 1)
    value = np.where(count > 0, unit_interval(1 - mean), 1 - trust)
    value[pages == 1] = 1.0
    value[pages == 0] = np.nan
    return h, value


def shares(part: F64, whole: F64) -> F64:
    """Return ``part / whole``, 0 where `whole` is 0: the weight of nested runs may round down to 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def unit_interval(values: F64) -> F64:
    """Return the values clamped to [0, 1]; values below 1e-12 are rounding errors and become 0."""
    values = np.clip(values, 0.0, 1.0)
    values[values < 1e-12] = 0.0
    return values


def simplified(tree: StyleTree, figures: Importances) -> NDArray[np.bool_]:
    """Return which of the E element nodes remain when the tree is cut below every maximal marked node.

    A maximal node has no marked ancestor. Nothing below it changes the result of MapSST.
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
