"""Turn a chain of similar groups into a list of single records, an extension of WOBM for modern sites.

A chain that covers most siblings tells where a list is, but not the length of a record: groups of two records are
about as similar as groups of one, and an advert or a missing rule ends the chain. So the siblings of the chain are
compared one by one at growing lags, as in an autocorrelation; the shortest lag about as good as the best one is the
length of a record. The most typical group then represents the list, and all siblings near the chain that are similar
to it are records.
"""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
from rapidfuzz.distance import Levenshtein

from domsieve.analysis.columns.batch import F64, TAGS, TagIs
from domsieve.analysis.columns.hash import hashes_of
from domsieve.analysis.records._regions import Block, Measure, node_range, singles
from domsieve.analysis.records._tag_tree import Range, TagTree
from domsieve.analysis.records.leaves import Content
from domsieve.snapshot.page import Snapshot

# Guesses that worked on the development sites.
_MOST_COMPARED = 100  # siblings of a chain that are compared to find the length of a record
_MARGIN = 0.1  # lags whose distance, in [0, 1], is this close to the best one are as good
_TELLING = 4  # fewest tags of a group without inline tags, for a comparison without them
_UNMARKED = 0.15  # largest distance without inline tags, as the paper's threshold
_ENTRIES = 2  # fewest entries of a definition list
_REST = 0.3  # share of the text of a typical record that an incomplete last record needs


class Lists:
    """Turns the chains of one page into lists of records.

    Parameters
    ----------
    page, tree, content : the page, its tag tree and its content.
    far : measure without a threshold, with distances in [0, 1].
    threshold : maximum distance of neighbouring records: edit distance over the sum of lengths.
    record_threshold : maximum distance of a record from the typical one.
    longest : maximum number of siblings of a record.
    gap : maximum number of siblings between two records of a list.
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
        self._inline = _inline_characters(page, tree)
        self._is_term, self._is_list = (
            np.array([name == tag for name in page.tags.to_list()])[page.tag[tree.node]]
            for tag in ("dt", "dl")
        )

    def of(self, chain: Block, low: int, high: int) -> Block:
        """Return the list that a chain belongs to, among the siblings at positions ``low .. high``."""
        length = self._record_length(chain)
        groups = [(p, p + length) for p in range(chain.first, chain.stop - length + 1, length)]
        typical = self._typical(groups)
        records = self._similar(typical, max(low, chain.first - self._gap), high)
        for rest in range(min(length - 1, high - records[-1][1]), 0, -1):
            last = (records[-1][1], records[-1][1] + rest)
            head = (typical[0], typical[0] + rest)
            enough = _REST * self._characters(typical)
            if self._near(last, head, self._record_threshold) and self._characters(last) >= enough:
                records.append(last)
                break
        return Block(length, tuple(records))

    @property
    def entry_starts(self) -> F64:
        """Distances (M,) that are 0 at the terms of definition lists and infinite elsewhere, for `walk`."""
        return np.where(self._is_term[self._tree.child], 0.0, np.inf)

    def definitions(self, low: int, high: int) -> Block | None:
        """Return the entries of a definition list, each with its terms and all siblings up to the next term.

        Returns None if the siblings at positions ``low .. high`` are not a definition list of at least two entries.
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
        """Return the list with the children of its groups as records, if most groups are rows of similar children.

        Parameters
        ----------
        block : a list of groups of one sibling.
        near : (M,), distances of neighbouring single siblings.

        Returns
        -------
        The list, None if the groups are not rows.
        """
        cells: list[Range] = []
        rows = 0
        for start, _ in block.groups:
            first, last = self._tree.first[self._tree.child[start] : self._tree.child[start] + 2].tolist()
            rows += last - first > 1 and bool(np.isfinite(near[first : last - 1]).all())
            cells += [(p, p + 1) for p in range(first, last) if self._characters((p, p + 1))]
        return replace(block, cells=tuple(cells)) if 2 * rows > len(block.groups) and cells else None

    def _record_length(self, chain: Block) -> int:
        """Return the number of siblings per record: the shortest lag at which single siblings are most similar."""
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
        """Return a group with the most frequent tag string; among several tag strings, that of median length."""
        counts = Counter(map(self._text, groups))
        most = max(counts.values())
        common = sorted(
            (g for g in groups if counts[self._text(g)] == most), key=lambda g: len(self._text(g))
        )
        return common[len(common) // 2]

    def _similar(self, typical: Range, low: int, high: int) -> list[Range]:
        """Return, from left to right, the groups similar to the typical one or very similar to the previous one."""
        length = typical[1] - typical[0]
        groups: list[Range] = []
        p = low
        while p + length <= high and (not groups or p <= groups[-1][1] + self._gap):
            group = (p, p + length)
            if self._near(group, typical, self._record_threshold) or (
                groups and self._near(group, groups[-1], self._threshold)
            ):
                groups.append(group)
                p += length
            else:
                p += 1
        return groups

    def _near(self, one: Range, other: Range, threshold: float) -> bool:
        left, right = self._text(one), self._text(other)
        return _are_near(left, right, threshold) or self._are_near_without_inline(left, right)

    def _are_near_without_inline(self, left: str, right: str) -> bool:
        """Return whether two tag strings are similar without inline tags, which mark words in a text."""
        left, right = left.translate(self._inline), right.translate(self._inline)
        return min(len(left), len(right)) >= _TELLING and _are_near(left, right, _UNMARKED)

    def _text(self, group: Range) -> str:
        return self._tree.text[self._start[group[0]] : self._stop[group[1] - 1]]

    def _characters(self, group: Range) -> int:
        start, stop = node_range(self._page, self._tree, group)
        return int(self._content.characters[stop] - self._content.characters[start])


def _are_near(left: str, right: str, threshold: float) -> bool:
    most = int(threshold * (len(left) + len(right)) + 1e-9)
    return Levenshtein.distance(left, right, score_cutoff=most) <= most


def _inline_characters(page: Snapshot, tree: TagTree) -> dict[int, None]:
    """Return a table for `str.translate` that removes the characters of inline tags from tag strings."""
    inline = (TAGS.look_up(hashes_of(page.tags.to_list())) & TagIs.INLINE) != 0
    return dict.fromkeys(
        map(ord, {tree.text[i] for i in np.flatnonzero(inline[page.tag[tree.node]]).tolist()})
    )
