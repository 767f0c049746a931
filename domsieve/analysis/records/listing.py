"""From a chain of like groups to a list of one record each: what today's lists need beyond the paper on WOBM.

A chain of groups that cover most siblings tells where a list is, but not its rhythm: groups of two records are
about as alike as groups of one, and an advert or a missing rule ends the chain. So the siblings of the chain are
compared one by one over growing lags, like an autocorrelation; the shortest lag about as good as the best one is
the length of a record. The most typical group then stands for the list, and all siblings near the chain that look
like it are records. Imports the tag tree and the measures.
"""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
from rapidfuzz.distance import Levenshtein

from domsieve.analysis.columns.batch import F64
from domsieve.analysis.columns.hash import hashes_of
from domsieve.analysis.columns.names import TAGS, TagIs
from domsieve.analysis.records.leaves import Content
from domsieve.analysis.records.regions import Block, Measure, node_range, singles
from domsieve.analysis.records.tag_tree import Range, TagTree
from domsieve.snapshot.page import Snapshot

_MOST_COMPARED = 100  # siblings of a chain that are enough to hear its rhythm
_MARGIN = 0.1  # of a distance in 0 to 1: lags this close to the best one are as good
_TELLING = 4  # tags that two siblings need besides marks, to be alike without these
_UNMARKED = 0.15  # largest distance of two such
_ENTRIES = 2  # of a definition list
_REST = 0.3  # share of the text of a whole record that the last one needs to have when it lacks siblings


class Lists:
    """Makes lists of records of the chains of one page.

    Parameters
    ----------
    page, tree, content : the page in three views.
    far : measure without a threshold, in 0 to 1, for the rhythm.
    threshold : largest distance of neighbouring records, edit distance over the sum of lengths.
    record_threshold : largest such distance of a record from the typical one.
    longest : most siblings of a record.
    gap : most siblings between two records of a list.
    """

    def __init__(
        self,
        page: Snapshot,
        tree: TagTree,
        content: Content,
        *,
        far: Measure,
        threshold: float,
        record_threshold: float,
        longest: int,
        gap: int,
    ) -> None:
        self._page, self._tree, self._content = page, tree, content
        self._far = far
        self._threshold, self._record_threshold = threshold, record_threshold
        self._longest, self._gap = longest, gap
        self._start, self._stop = tree.child, tree.end[tree.child]
        self._marks = _marks(page, tree)
        self._is_term, self._is_list = (
            np.array([name == tag for name in page.tags.to_list()])[page.tag[tree.node]]
            for tag in ("dt", "dl")
        )

    def of(self, chain: Block, low: int, high: int) -> Block:
        """Return the list that a chain belongs to, among the siblings at positions `low` to `high`."""
        length = self._rhythm(chain)
        groups = [(p, p + length) for p in range(chain.first, chain.stop - length + 1, length)]
        typical = self._typical(groups)
        found = self._alike(typical, max(low, chain.first - self._gap), high)
        for rest in range(min(length - 1, high - found[-1][1]), 0, -1):
            last = (found[-1][1], found[-1][1] + rest)
            head = (typical[0], typical[0] + rest)
            enough = _REST * self._characters(typical)
            if self._near(last, head, self._record_threshold) and self._characters(last) >= enough:
                found.append(last)
                break
        return Block(length, tuple(found))

    @property
    def entry_starts(self) -> F64:
        """Return 0 at the positions of terms of definition lists and infinity elsewhere, as distances are given."""
        return np.where(self._is_term[self._tree.child], 0.0, np.inf)

    def definitions(self, low: int, high: int) -> Block | None:
        """Return the entries of a definition list, each from its terms to the next, with as many siblings as it has.

        None where the siblings at positions `low` to `high` are no such list, or have no two entries.
        """
        parent = int(self._tree.parent[self._tree.child[low]])
        if parent < 0 or not self._is_list[parent]:
            return None
        terms = self._is_term[self._tree.child[low:high]]
        before = np.concatenate(([False], terms[:-1]))
        starts = [*(np.flatnonzero(terms & ~before) + low).tolist(), high]
        groups = tuple(pairwise(starts))
        if len(groups) < _ENTRIES:
            return None
        return Block(int(np.median([stop - start for start, stop in groups])), groups)

    def cells(self, block: Block, near: F64) -> Block | None:
        """Return the list with the children of its groups as records, where most groups are rows of like children.

        `near` are the distances of single neighbours.
        """
        cells: list[Range] = []
        rows = 0
        for start, _ in block.groups:
            first, last = self._tree.first[self._tree.child[start] : self._tree.child[start] + 2].tolist()
            rows += last - first > 1 and bool(np.isfinite(near[first : last - 1]).all())
            cells += [(p, p + 1) for p in range(first, last) if self._characters((p, p + 1))]
        return replace(block, cells=tuple(cells)) if 2 * rows > len(block.groups) and cells else None

    def _rhythm(self, chain: Block) -> int:
        """Return the siblings per record of a chain: the shortest lag at which single siblings are most alike."""
        if chain.length == 1:
            return 1
        nodes = self._tree.child[chain.first : min(chain.stop, chain.first + _MOST_COMPARED)]
        distances = []
        for lag in range(1, min(self._longest, nodes.size // 2) + 1):
            pairs = singles(self._tree, nodes[:-lag], nodes[lag:])
            weight = (pairs.b - pairs.a) + (pairs.d - pairs.c)
            distances.append(float((self._far(pairs) * weight).sum() / weight.sum()))
        best = min(distances)
        return next(lag for lag, distance in enumerate(distances, 1) if distance <= best + _MARGIN)

    def _typical(self, groups: list[Range]) -> Range:
        """Return a group whose tags are the most frequent, of these the middle one by length."""
        counts = Counter(map(self._text, groups))
        most = max(counts.values())
        common = sorted(
            (g for g in groups if counts[self._text(g)] == most), key=lambda g: len(self._text(g))
        )
        return common[len(common) // 2]

    def _alike(self, typical: Range, low: int, high: int) -> list[Range]:
        """Return from left to right the groups that are like the typical one, or much like the record before."""
        length = typical[1] - typical[0]
        found: list[Range] = []
        p = low
        while p + length <= high and (not found or p <= found[-1][1] + self._gap):
            group = (p, p + length)
            if self._near(group, typical, self._record_threshold) or (
                found and self._near(group, found[-1], self._threshold)
            ):
                found.append(group)
                p += length
            else:
                p += 1
        return found

    def _near(self, one: Range, other: Range, threshold: float) -> bool:
        left, right = self._text(one), self._text(other)
        return _are_near(left, right, threshold) or self._are_near_without_marks(left, right)

    def _are_near_without_marks(self, left: str, right: str) -> bool:
        """Return whether two tag strings are alike but for marks in their text, of which some have more."""
        left, right = left.translate(self._marks), right.translate(self._marks)
        return min(len(left), len(right)) >= _TELLING and _are_near(left, right, _UNMARKED)

    def _text(self, group: Range) -> str:
        return self._tree.text[self._start[group[0]] : self._stop[group[1] - 1]]

    def _characters(self, group: Range) -> int:
        start, stop = node_range(self._page, self._tree, group)
        return int(self._content.characters[stop] - self._content.characters[start])


def _are_near(left: str, right: str, threshold: float) -> bool:
    most = int(threshold * (len(left) + len(right)) + 1e-9)
    return Levenshtein.distance(left, right, score_cutoff=most) <= most


def _marks(page: Snapshot, tree: TagTree) -> dict[int, None]:
    """Return the characters of inline tags in the tag string, as `str.translate` takes them."""
    inline = (TAGS.look_up(hashes_of(page.tags.to_list())) & TagIs.INLINE) != 0
    return dict.fromkeys(
        map(ord, {tree.text[i] for i in np.flatnonzero(inline[page.tag[tree.node]]).tolist()})
    )
