"""The element tree of one page for record mining: tags as one string, so that sibling groups are slices of it.

A node here is an element (or, on request, a text) of the body; shadow roots, frames and whatever else is left out
are looked through. Nodes stand in document order, so the tag string of a subtree, and of any adjacent siblings with
their subtrees, is one slice of `text`: the generalized node of MDR and WOBM. Imports the columns.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from domsieve.analysis.columns.batch import Bools, Ints
from domsieve.analysis.columns.hash import U64, combine, mix
from domsieve.analysis.columns.tables import stable_order
from domsieve.analysis.records.shown import Shown
from domsieve.snapshot.page import Kind, Snapshot

Range = tuple[int, int]
_RANK = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class TagTree:
    """M nodes of one page in document order; all ids below are indices into them unless said otherwise.

    Parameters
    ----------
    node : (M,), the node of the Snapshot, ascending.
    parent : (M,), -1 for the top nodes.
    end : (M,), the subtree of i is ``i .. end[i]``.
    tag : (M,), number of the tag, 0 for text.
    text : str of M characters, one per node, equal where the tags are.
    height : (M,), levels of the subtree, 1 for a leaf.
    hash : (M,), equal where the subtrees have equal tags in equal shape.
    path : (M,), equal where the tags from the top down to the node are.
    child : (M,), all nodes sorted by parent, siblings in document order, top nodes first.
    first : (M + 1,), the children of i are ``child[first[i]:first[i + 1]]``.
    """

    node: Ints
    parent: Ints
    end: Ints
    tag: Ints
    text: str
    height: Ints
    hash: U64
    path: U64
    child: Ints
    first: Ints

    @classmethod
    def of(
        cls,
        page: Snapshot,
        *,
        kept: Bools | None = None,
        with_text: bool = False,
        shown: Shown | None = None,
    ) -> "TagTree":
        """Return the tree of a page, in O(N) and one numpy call per level.

        Parameters
        ----------
        page : of N nodes; what a rendered page does not show is left out.
        kept : (N,), look only at these nodes, such as the verdict of a filter keeps.
        with_text : whether text that is not blank makes nodes too.
        shown : of the page, where it is known already.
        """
        shown = shown or Shown.of(page)
        batch = shown.batch
        member = batch.elements()
        if with_text:
            member |= shown.text
        member &= shown.body
        if page.has_layout:
            member &= shown.visible
        if kept is not None:
            member &= kept
        node = np.flatnonzero(member)
        rank = np.cumsum(member) - 1
        above = member_above(page, member)[node]
        parent = np.where(above >= 0, rank[above], -1)
        end = np.append(rank + 1, node.size)[page.end[node] - 1]
        _, number = np.unique(page.tag[node], return_inverse=True)
        tag = np.where(page.kind[node] == Kind.ELEMENT, number + 1, 0)
        order = stable_order(parent + 1)
        first = np.searchsorted(parent[order], np.arange(node.size + 1))
        columns = _by_level(parent, end, order, first, batch.tag_hash[page.tag[node]])
        return cls(node, parent, end, tag, _characters(tag), *columns, order, first)

    def __len__(self) -> int:
        return self.node.size


def member_above(page: Snapshot, member: Bools) -> Ints:
    """Return for each of N nodes its nearest ancestor that is a member, -1 where there is none."""
    above = page.parent.astype(np.int64)
    while (through := (above >= 0) & ~member[above]).any():
        above[through] = above[above[through]]
    return above


def _characters(tag: Ints) -> str:
    # Characters below U+D800 are enough for any page that is not made to break this; others share the last one.
    codes = np.minimum(tag + 1, 0xD7FF).astype("<u4")
    return codes.tobytes().decode("utf-32-le")


def _by_level(parent: Ints, end: Ints, child: Ints, first: Ints, tag: U64) -> tuple[Ints, U64, U64]:
    """Return the height, the hash and the path of each node, level by level."""
    n = parent.size
    place = np.empty(n, np.int64)
    place[child] = np.arange(n)
    rank = place - np.where(parent >= 0, first[parent], 0) + 1
    weight, tag = rank.astype(np.uint64) * _RANK, mix(tag)
    steps = np.ones(n + 1, np.int64)
    np.subtract.at(steps, end, 1)
    depth = np.cumsum(steps[:n])
    order = stable_order(depth - depth.min(initial=n)) if n else child
    cuts = np.flatnonzero(np.diff(depth[order], prepend=-1, append=-1))
    levels = [order[a:b] for a, b in pairwise(cuts)]
    height, inner, hashes, path = np.ones(n, np.int64), np.zeros(n, np.uint64), tag.copy(), tag.copy()
    for here in levels[1:]:
        path[here] = combine(path[parent[here]], tag[here])
    for here in reversed(levels):
        hashes[here] = mix(tag[here] + inner[here])
        if parent[here[0]] >= 0:
            np.add.at(inner, parent[here], mix(hashes[here] + weight[here]))
            np.maximum.at(height, parent[here], height[here] + 1)
    return height, hashes, path
