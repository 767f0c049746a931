"""Decide which lists of links are navigation and which are content. This is not in the paper.

Links in menus repeat, so their entropy shows that they are noise. Links to related articles vary from page to page,
and so do the links of an index page, which are content. Words and addresses cannot tell the two apart, but their
places can. Related articles are in the same element on most pages, next to a main text. An index is on few pages, and
there it fills most of an element that contains text on other pages.

A list of links is a topmost element whose words are mostly in links, over all learned pages; everything inside it is
treated alike. It is content if it is rare (few of the pages that have its parent have the list) and fills most of its
parent on this page. Otherwise it is navigation.

By this rule the title of a teaser, a list of one link next to a summary, would always be navigation. So titles of
teasers are content if any element around them is rare. Teasers are siblings that each have one linked heading and
mostly unlinked words.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from domsieve.analysis.columns.batch import Bools, Ints, below
from domsieve.analysis.columns.hash import combine
from domsieve.analysis.columns.names import TagIs
from domsieve.analysis.columns.tables import grouping
from domsieve.analysis.trees.alignment import Laid
from domsieve.analysis.trees.style_tree import StyleTree
from domsieve.budget import check

_MOST = 0.5  # a list of links has more than half of its words in links


@dataclass(frozen=True, slots=True, eq=False)
class LinkLists:
    """Which of the E element nodes of a site are lists of links, and which are rare.

    Parameters
    ----------
    listed : bool (E,), most words at or below the node are in links.
    rare : bool (E,), few of the pages that have the node's parent have the node.
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
        rare = units < list_share * units[above]
        in_rare = rare.copy()
        for level in levels[1:]:
            in_rare[level] |= in_rare[above[level]]
        return cls(linked > _MOST * words, rare, in_rare)


def navigation(laid: Laid, lists: LinkLists, row: Ints, known: Bools) -> Bools:
    """Return in which of the M forest nodes links are navigation, in O(N + M log M).

    Parameters
    ----------
    row : (M,), the element node of each forest node.
    known : (M,), whether it has one. A node without one counts as rare if its parent is known.
    """
    forest = laid.forest
    parent = np.maximum(forest.parent, 0)
    words, linked = (_sum_below(laid, count) for count in (laid.texts.word_count, laid.texts.link_word_count))
    mostly = linked > _MOST * words
    listed = np.where(known, lists.listed[row], mostly)
    rare = np.where(known, lists.rare[row], known[parent])
    guides = ~(rare & mostly[parent])
    for a, b in pairwise(forest.levels[1:].tolist()):
        check()
        above = parent[a:b]
        guides[a:b] = np.where(listed[above], guides[above], guides[a:b])
    titles = _teaser_titles(laid, mostly)
    guides[titles] &= known[titles] & ~lists.in_rare[row[titles]]
    return guides


def _teaser_titles(laid: Laid, mostly: Bools) -> Ints:
    """Return the leaves that are titles of teasers; `mostly` (M,) are the nodes with most of their words in links."""
    batch, forest, texts = laid.batch, laid.forest, laid.texts
    headings = np.concatenate(([0], np.cumsum((batch.tag_is & TagIs.HEADING) != 0, dtype=np.int32)))
    titles = np.flatnonzero(
        forest.leaf
        & (headings[batch.end[forest.node]] > headings[forest.node])
        & (texts.word_count > 0)
        & (texts.link_word_count == texts.word_count)
    )
    if titles.size < 2:
        return titles[:0]
    count = _sum_below(laid, np.bincount(titles, minlength=forest.leaf.size))
    teasers = np.flatnonzero((count == 1) & ~mostly & (count[forest.parent] > 1) & (forest.parent >= 0))
    tag = batch.tag[forest.node[teasers]].astype(np.uint64)
    rows = grouping(combine(forest.parent[teasers].astype(np.uint64), tag))
    teasers = teasers[np.diff(rows.first)[rows.code] > 1]
    roots = np.zeros(batch.kind.size, np.bool_)
    roots[forest.node[teasers]] = True
    return titles[below(roots, batch.end)[forest.node[titles]]]


def _sum_below(laid: Laid, count: Ints) -> Ints:
    """Return the sum of the `count` (M,) of all leaves at and below each of the M forest nodes."""
    node = laid.forest.node
    before = np.zeros(laid.batch.kind.size + 1, np.int64)
    before[node + 1] = np.where(laid.forest.leaf, count, 0)
    np.cumsum(before, out=before)
    sums: Ints = before[laid.batch.end[node]] - before[node]
    return sums
