"""The element tree of one page for record mining: tags as one string, and simple tree matching."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from domsieve.analysis.columns.batch import Batch, Bools, Ints, TagIs, below, counted_before, page_batch
from domsieve.analysis.columns.hash import U64, combine, mix
from domsieve.analysis.columns.page_columns import attributes_of
from domsieve.analysis.columns.tables import stable_order
from domsieve.analysis.columns.visible import in_body, shown_nodes, worded
from domsieve.budget import check
from domsieve.snapshot.page import Kind, Snapshot


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """Body, visible nodes and texts of one page of N nodes.

    Parameters
    ----------
    batch : a batch of this page only.
    body : bool (N,), nodes in the body.
    visible : bool (N,), nodes that a reader can see.
    text : bool (N,), text nodes that are not blank.
    """

    batch: Batch
    body: Bools
    visible: Bools
    text: Bools

    @classmethod
    def of(cls, page: Snapshot) -> "Shown":
        """Compute the columns of a page."""
        batch = page_batch(page)
        return cls(batch, in_body(batch), shown_nodes(page), worded(page))


Range = tuple[int, int]
_RANK = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class TagTree:
    """Tree of M nodes of one page in document order. Ids are indices into these nodes, except in `node`.

    Parameters
    ----------
    node : (M,), the nodes in the Snapshot, ascending.
    parent : (M,), -1 for top nodes.
    end : (M,), the subtree of node i is ``i .. end[i]``.
    tag : (M,), number of the tag, 0 for text.
    text : M characters, one per node; nodes with equal tags have equal characters.
    height : (M,), levels of the subtree, 1 for a leaf.
    hash : (M,), equal for subtrees of equal shape with equal tags.
    path : (M,), equal for nodes with equal tags from the top down to the node.
    child : (M,), all nodes sorted by parent, siblings in document order, top nodes first.
    first : (M + 1,), the children of node i are ``child[first[i]:first[i + 1]]``.
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
        """Build the tree of a page, in O(N) with one numpy call per level.

        Parameters
        ----------
        page : a page of N nodes; invisible nodes of rendered pages are excluded.
        kept : bool (N,), include these nodes only, such as those a `Verdict` keeps; None for all.
        with_text : include text nodes that are not blank.
        shown : `Shown.of` ``(page)`` if it was computed before.
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
    """Return, for each of the N nodes, its nearest ancestor that is a `member` (N,), or -1."""
    above = page.parent.astype(np.int64)
    while (through := (above >= 0) & ~member[above]).any():
        above[through] = above[above[through]]
    return above


def _characters(tag: Ints) -> str:
    # Characters below U+D800 are enough for all ordinary pages; further tags share the last one.
    codes = np.minimum(tag + 1, 0xD7FF).astype("<u4")
    return codes.tobytes().decode("utf-32-le")


def _by_level(parent: Ints, end: Ints, child: Ints, first: Ints, tag: U64) -> tuple[Ints, U64, U64]:
    """Return `height`, `hash` and `path` of all nodes, computed level by level."""
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


_MANY = 2000  # pairs of children above which numpy is faster than a loop


class TreeMatcher:
    """Counts matching nodes between groups of siblings of one tree."""

    def __init__(self, tree: TagTree) -> None:
        _, sample, number = np.unique(tree.hash, return_index=True, return_inverse=True)
        self._end = tree.end.tolist()
        self._number = number.tolist()
        self._sample = sample.tolist()
        self._tag = tree.tag[sample].tolist()
        self._size: list[int] = (tree.end - np.arange(len(tree)))[sample].tolist()
        self._height: list[int] = tree.height[sample].tolist()
        self._known: dict[Range, int] = {}

    def matches(self, one: Range, other: Range) -> int:
        """Return the number of matching nodes of two groups, given as ranges of nodes of the tree."""
        left, right, gain = self._trimmed(self._roots(*one), self._roots(*other))
        self._learn(left, right)
        return gain + self._best(left, right)

    def _roots(self, start: int, stop: int) -> list[int]:
        """Return the numbers of the consecutive subtrees in a range of nodes."""
        roots = []
        while start < stop:
            roots.append(self._number[start])
            start = self._end[start]
        return roots

    def _trimmed(self, left: list[int], right: list[int]) -> tuple[list[int], list[int], int]:
        """Return both lists without equal subtrees at their ends, and the size of those.

        There is always a best matching that pairs them.
        """
        head, most, gain = 0, min(len(left), len(right)), 0
        while head < most and left[head] == right[head]:
            gain += self._size[left[head]]
            head += 1
        tail = 0
        while tail < most - head and left[-1 - tail] == right[-1 - tail]:
            gain += self._size[left[-1 - tail]]
            tail += 1
        return left[head : len(left) - tail], right[head : len(right) - tail], gain

    def _children(self, tree: int) -> list[int]:
        node = self._sample[tree]
        return self._roots(node + 1, self._end[node])

    def _learn(self, left: list[int], right: list[int]) -> None:
        """Match every pair of subtrees that the matching of two groups needs, from the leaves up.

        Without recursion, because pages may be nested deeply.
        """
        needed: dict[Range, tuple[list[int], list[int], int]] = {}
        waiting = [(left, right)]
        while waiting:
            check()
            lefts, rights = waiting.pop()
            for a in dict.fromkeys(lefts):
                for b in dict.fromkeys(rights):
                    if a == b or self._tag[a] != self._tag[b] or (a, b) in needed or (a, b) in self._known:
                        continue
                    needed[a, b] = parts = self._trimmed(self._children(a), self._children(b))
                    waiting.append(parts[:2])
        for a, b in sorted(needed, key=lambda pair: (self._height[pair[0]], pair)):
            check()
            lefts, rights, gain = needed[a, b]
            self._known[a, b] = 1 + gain + self._best(lefts, rights)

    def _match(self, a: int, b: int) -> int:
        if a == b:
            return self._size[a]
        if self._tag[a] != self._tag[b]:
            return 0
        return self._known[a, b]

    def _best(self, left: list[int], right: list[int]) -> int:
        """Return the weight of the best ordered matching of two lists of subtrees; all pairs must be known."""
        if len(left) * len(right) > _MANY:
            return self._best_of_many(left, right)
        weights = {a: [self._match(a, b) for b in right] for a in dict.fromkeys(left)}
        best = [0] * (len(right) + 1)
        for a in left:
            corner, before = 0, 0
            for j, weight in enumerate(weights[a], 1):
                above = best[j]
                value = corner + weight
                if above > value:
                    value = above
                if before > value:
                    value = before
                best[j] = before = value
                corner = above
        return best[-1]

    def _best_of_many(self, left: list[int], right: list[int]) -> int:
        kinds, kind = np.unique(right, return_inverse=True)
        best = np.zeros(len(right) + 1, np.int64)
        for a in left:
            check()
            weights = np.array([self._match(a, b) for b in kinds.tolist()])[kind]
            best[1:] = np.maximum.accumulate(np.maximum(best[1:], best[:-1] + weights))
        return int(best[-1])


_MENUS = frozenset(["menu", "nav"])
_EDGES = frozenset(["footer", "header"])
_ROLES = frozenset(["banner", "contentinfo", "menu", "menubar", "navigation"])
_MAIN = frozenset(["main"])
_PARTS = frozenset(["article", "blockquote", "dd", "li", "td"])
"""A header, footer or menu in these belongs to a record, not to the page."""
_SECTIONS = frozenset(["aside", "main", "section"])
"""A header or footer in these belongs to the section, unless it contains a menu."""
_FEET = frozenset(["contentinfo", "footer"])
_LINE = 40  # bytes; shorter texts are labels. A guess
_MOST_TEXT = 0.5  # a menu or header with more of the text of the page was never closed. A guess


def menu_nodes(shown: Shown) -> Bools:
    """Return bool (N,): the node is in a menu, the header or the footer of the page.

    Elements that contain the main part of the page do not count. A menu or header with more than half of the text
    outside of links does not count either, because it was probably never closed and contains all that follows.
    """
    batch = shown.batch
    page = batch.pages[0]
    tags = page.tags.to_list()
    element = batch.elements()

    def are(names: frozenset[str]) -> Bools:
        return np.array([name in names for name in tags], np.bool_)[page.tag] & element

    end = batch.end
    named, feet, main = are(_MENUS), are(_FEET), are(_MAIN)
    for node, role in attributes_of(page).found("role", _role).items():
        check()
        named[node] |= role in _ROLES
        feet[node] |= role in _FEET
        main[node] |= role == "main"
    menus = counted_before(named)
    named |= are(_EDGES) & (~below(are(_SECTIONS), end) | (menus[end] > menus[:-1]))
    named &= ~below(are(_PARTS), end)
    if not named.any():
        return named
    mains = counted_before(main)
    named &= mains[end] == mains[:-1]
    size = np.zeros(end.size, np.int64)
    alone = shown.text & shown.body & shown.visible & ~below((batch.tag_is & TagIs.ANCHOR) != 0, end)
    size[alone] = np.diff(batch.strings.offsets)[batch.text[alone]]
    lines = np.where(size >= _LINE, size, 0)
    sizes = counted_before(lines if lines.any() else size)
    named &= feet | (sizes[end] - sizes[:-1] <= _MOST_TEXT * sizes[-1])
    return below(named, end)


def _role(value: str) -> str | None:
    role = value.strip().lower()
    return role if role in _ROLES or role == "main" else None
