"""Which links are navigation: those in lists that a site shows beside other text, page after page.

Not in the paper. The links of a menu repeat, and their entropy says so. The links of related articles vary from page
to page, and so do those of an index, which are its content: words and addresses cannot tell the two apart, but their
places can. Related articles stand in the same element on most pages, beside a main text. An index stands on few, and
there it is most of what the element around it holds, which on other pages is text.

A list of links is a topmost element whose words stand mostly in links, over all pages learned; what is in it shares
its fate. It is content where it is rare, shown by few of the pages that show the element around it, and there is most
of what that element holds on the page at hand. Otherwise it is navigation.

The title of a teaser is a list of one link, beside the summary on every page, and would be navigation however rare
the teaser is. So titles of teasers, which come several below one element, each with a linked heading and mostly
unlinked words, are content where anything around them is rare.
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

_MOST = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class LinkLists:
    """What a site tells of its E element nodes as lists of links.

    Parameters
    ----------
    listed : bool (E,), whether most words at or below the node stand in links.
    rare : bool (E,), whether few of the pages that show the parent of the node show the node.
    in_rare : bool (E,), whether the node or one above it is rare.
    """

    listed: Bools
    rare: Bools
    in_rare: Bools

    @classmethod
    def of(cls, tree: StyleTree, list_share: float) -> "LinkLists":
        """Return the lists of a site; less than `list_share` in [0, 1] of the parent's pages are few."""
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
    """Return in which of the M forest nodes links are navigation; O(N + M log M).

    Parameters
    ----------
    row : (M,), element node of each forest node.
    known : (M,), whether it has one. What no page learned shows is rare, in an element that some page shows.
    """
    forest = laid.forest
    parent = np.maximum(forest.parent, 0)
    words, linked = (_sum_below(laid, count) for count in (laid.texts.word_count, laid.texts.link_word_count))
    mostly = linked > _MOST * words
    listed = np.where(known, lists.listed[row], mostly)
    rare = np.where(known, lists.rare[row], known[parent])
    found = ~(rare & mostly[parent])
    for a, b in pairwise(forest.levels[1:].tolist()):
        check()
        above = parent[a:b]
        found[a:b] = np.where(listed[above], found[above], found[a:b])
    titles = _teaser_titles(laid, mostly)
    found[titles] &= known[titles] & ~lists.in_rare[row[titles]]
    return found


def _teaser_titles(laid: Laid, mostly: Bools) -> Ints:
    """Return the leaves that are titles of teasers, where the words of forest nodes stand `mostly` (M,) in links."""
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
    """Return the sum of the `count` (M,) of leaves at and below each of the M forest nodes."""
    node = laid.forest.node
    before = np.zeros(laid.batch.kind.size + 1, np.int64)
    before[node + 1] = np.where(laid.forest.leaf, count, 0)
    np.cumsum(before, out=before)
    found: Ints = before[laid.batch.end[node]] - before[node]
    return found
