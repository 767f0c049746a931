"""Simple tree matching (Yang 1991) between groups of sibling subtrees of one page, as a kind of MDR uses it.

The most nodes that two ordered trees can share when equal roots are matched and children only in order. Memoised on
pairs of distinct subtrees, so that a list of like records costs one matching. Imports the tag tree.
"""

import numpy as np

from domsieve.analysis.records.tag_tree import Range, TagTree
from domsieve.budget import check

_MANY = 2000  # pairs of children from which on whole rows at once are quicker


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
        """Return how many nodes of two groups, given as ranges of nodes, match."""
        left, right, gain = self._trimmed(self._roots(*one), self._roots(*other))
        self._learn(left, right)
        return gain + self._best(left, right)

    def _roots(self, start: int, stop: int) -> list[int]:
        """Return the numbers of the subtrees that follow each other in a range of nodes."""
        roots = []
        while start < stop:
            roots.append(self._number[start])
            start = self._end[start]
        return roots

    def _trimmed(self, left: list[int], right: list[int]) -> tuple[list[int], list[int], int]:
        """Return both without the equal subtrees at their ends, which some best matching pairs, and their size."""
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
        """Match every pair of subtrees that the matching of two groups asks for, the lowest first.

        No recursion, because pages may be nested as deep as they like.
        """
        asked: dict[Range, tuple[list[int], list[int], int]] = {}
        waiting = [(left, right)]
        while waiting:
            check()
            lefts, rights = waiting.pop()
            for a in dict.fromkeys(lefts):
                for b in dict.fromkeys(rights):
                    if a == b or self._tag[a] != self._tag[b] or (a, b) in asked or (a, b) in self._known:
                        continue
                    asked[a, b] = parts = self._trimmed(self._children(a), self._children(b))
                    waiting.append(parts[:2])
        for a, b in sorted(asked, key=lambda pair: (self._height[pair[0]], pair)):
            check()
            lefts, rights, gain = asked[a, b]
            self._known[a, b] = 1 + gain + self._best(lefts, rights)

    def _match(self, a: int, b: int) -> int:
        if a == b:
            return self._size[a]
        if self._tag[a] != self._tag[b]:
            return 0
        return self._known[a, b]

    def _best(self, left: list[int], right: list[int]) -> int:
        """Return the weight of the best matching in order of two lists of subtrees, all pairs known."""
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
