"""Regions of similar sibling groups, found from the top of a page down: similarity, chains and the result."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq, Levenshtein

from domsieve.analysis.columns.batch import F64, Bools, Ints
from domsieve.analysis.columns.hash import U64, combine
from domsieve.analysis.records._tag_tree import Range, TagTree, TreeMatcher
from domsieve.analysis.records.result import Records
from domsieve.budget import check
from domsieve.snapshot.page import Scalar, Snapshot

_BUCKETS = 16
_ROUNDING = 1e-9  # so that 0.15 * 20 counts as 3


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Q pairs of groups: ranges of nodes ``a .. b`` and ``c .. d`` with the hashes of both, each (Q,)."""

    a: Ints
    b: Ints
    c: Ints
    d: Ints
    left: U64
    right: U64

    def take(self, which: Ints) -> "Pairs":
        """Return the pairs with the indices `which`."""
        return Pairs(*(getattr(self, name)[which] for name in self.__slots__))


class Measure(Protocol):
    """Computes the distances of pairs of groups."""

    def __call__(self, pairs: Pairs) -> F64:
        """Return the distances (Q,); those above the threshold are infinite."""
        ...


def edit_measure(tree: TagTree, *, threshold: float, mean: bool = False) -> Measure:
    """Return the measure: edit distance of tag strings over the sum of their lengths, or over their mean.

    Parameters
    ----------
    tree : the tag tree.
    threshold : maximum distance.
    mean : divide by the mean of the lengths instead of the sum.
    """
    counts = _tag_counts(tree)
    factor = 2.0 if mean else 1.0
    text = tree.text

    def distance(one: str, other: str, limit: int) -> int:
        check()
        return Levenshtein.distance(one, other, score_cutoff=limit)

    def measure(pairs: Pairs) -> F64:
        total = (pairs.b - pairs.a) + (pairs.d - pairs.c)
        most = np.floor(threshold / factor * total + _ROUNDING).astype(np.int64)

        def bounded(q: Pairs, most: Ints) -> Bools:
            more = (counts[q.b] - counts[q.a]) - (counts[q.d] - counts[q.c])
            at_least = np.maximum(np.maximum(more, 0).sum(1), np.maximum(-more, 0).sum(1))
            return np.asarray(at_least <= most)

        def exact(q: Pairs, most: Ints) -> list[int]:
            rows = zip(q.a.tolist(), q.b.tolist(), q.c.tolist(), q.d.tolist(), most.tolist(), strict=True)
            return [distance(text[a:b], text[c:d], limit) for a, b, c, d, limit in rows]

        distances: F64 = _settled(pairs, most, bounded, exact) * (factor / total)
        return distances

    return measure


def tree_measure(tree: TagTree, *, threshold: float) -> Measure:
    """Return the measure: 1 minus the ratio of matching nodes to the nodes of the larger group.

    Parameters
    ----------
    tree : the tag tree.
    threshold : minimum similarity, in (0, 1].
    """
    counts = _tag_counts(tree)
    matcher = TreeMatcher(tree)
    text = tree.text

    def differences(one: Range, other: Range, most: int) -> int:
        check()
        larger = max(one[1] - one[0], other[1] - other[0])
        # Matching nodes are in the same order in both groups, so they are a common subsequence of the tags.
        if (
            LCSseq.similarity(text[slice(*one)], text[slice(*other)], score_cutoff=larger - most)
            < larger - most
        ):
            return most + 1
        return larger - matcher.matches(one, other)

    def measure(pairs: Pairs) -> F64:
        left, right = pairs.b - pairs.a, pairs.d - pairs.c
        larger = np.maximum(left, right)
        most = np.floor((1 - threshold) * larger + _ROUNDING).astype(np.int64)

        def bounded(q: Pairs, most: Ints) -> Bools:
            shared = np.minimum(counts[q.b] - counts[q.a], counts[q.d] - counts[q.c]).sum(1)
            return np.asarray(np.maximum(q.b - q.a, q.d - q.c) - shared <= most)

        def exact(q: Pairs, most: Ints) -> list[int]:
            rows = zip(q.a.tolist(), q.b.tolist(), q.c.tolist(), q.d.tolist(), most.tolist(), strict=True)
            return [differences((a, b), (c, d), limit) for a, b, c, d, limit in rows]

        distances: F64 = _settled(pairs, most, bounded, exact) / larger
        return distances

    return measure


def neighbours(tree: TagTree, measure: Measure, longest: int, *, wanted: Bools | None = None) -> list[F64]:
    """Return the distances of all neighbouring groups of up to `longest` siblings.

    Parameters
    ----------
    tree : tag tree of M nodes.
    measure : the measure.
    longest : maximum number of siblings in a group, at least 1.
    wanted : bool (M,), compare groups of several siblings below these parents only; None for all.

    Returns
    -------
    A list of columns (M,), for groups of 1, 2, … siblings. Entry p of column j - 1 is the distance between the j
    siblings at positions ``p .. p + j`` of ``tree.child`` and the next j; infinite if they do not all have the same
    parent or are not similar.
    """
    parent = tree.parent[tree.child]
    last = np.append(tree.first[1:], 0)[parent]
    last[parent < 0] = tree.first[0]
    begin, end, hashes = tree.child, tree.end[tree.child], tree.hash[tree.child]
    every = np.ones(len(tree), np.bool_) if wanted is None else (parent < 0) | wanted[parent]
    group = hashes
    result = []
    for j in range(1, longest + 1):
        if j > 1:
            group = group.copy()
            group[: 1 - j] = combine(group[: 1 - j], hashes[j - 1 :])
        fits = np.arange(len(tree)) + 2 * j <= last
        p = np.flatnonzero(fits if j == 1 else fits & every)
        pairs = Pairs(begin[p], end[p + j - 1], begin[p + j], end[p + 2 * j - 1], group[p], group[p + j])
        distance = np.full(len(tree), np.inf)
        if p.size:
            distance[p] = measure(pairs)
        result.append(distance)
    return result


def singles(tree: TagTree, left: Ints, right: Ints) -> Pairs:
    """Return pairs of the subtrees of the nodes `left` and `right`, (Q,) each."""
    return Pairs(left, tree.end[left], right, tree.end[right], tree.hash[left], tree.hash[right])


def group_pairs(tree: TagTree, left: Sequence[Range], right: Sequence[Range]) -> Pairs:
    """Return pairs of groups, given as Q ranges of positions in ``tree.child`` on each side."""
    first, last = np.array([*left, *right]).reshape(2, -1, 2).transpose(2, 0, 1)
    start, stop = tree.child[first], tree.end[tree.child[last - 1]]
    hashes = np.zeros((2, len(left)), np.uint64)
    for step in range(int((last - first).max(initial=0))):
        inside = first + step < last
        hashes[inside] = combine(hashes[inside], tree.hash[tree.child[(first + step)[inside]]])
    return Pairs(start[0], stop[0], start[1], stop[1], hashes[0], hashes[1])


def _settled(
    pairs: Pairs,
    most: Ints,
    bounded: Callable[[Pairs, Ints], Bools],
    exact: Callable[[Pairs, Ints], list[int]],
) -> F64:
    """Return the number of differences (Q,) of each pair, infinite above `most`.

    Equal hashes give 0; then the lower bounds of `bounded` apply; `exact` measures the rest once per distinct pair.
    """
    differences = np.full(most.size, np.inf)
    same = pairs.left == pairs.right
    differences[same] = 0
    apart = np.abs((pairs.b - pairs.a) - (pairs.d - pairs.c))
    unsettled = np.flatnonzero(~same & (apart <= most))
    if unsettled.size:
        _, sample, which = np.unique(
            combine(pairs.left[unsettled], pairs.right[unsettled]), return_index=True, return_inverse=True
        )
        sample = unsettled[sample]
        values = np.full(sample.size, np.inf)
        rest = np.flatnonzero(bounded(pairs.take(sample), most[sample]))
        values[rest] = exact(pairs.take(sample[rest]), most[sample[rest]])
        values[values > most[sample]] = np.inf
        differences[unsettled] = values[which]
    return differences


def _tag_counts(tree: TagTree) -> NDArray[np.int32]:
    """Return cumulative counts of the nodes by bucket of tags, (M + 1, buckets)."""
    counts = np.zeros((len(tree) + 1, _BUCKETS), np.int32)
    counts[np.arange(1, len(tree) + 1), tree.tag % _BUCKETS] = 1
    return np.cumsum(counts, axis=0, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Block:
    """A region below one parent.

    Parameters
    ----------
    length : number of siblings in a group. The last group may have fewer, and in a definition list it is the median.
    groups : ranges of positions in ``TagTree.child``, ascending. In the algorithms of the papers they are adjacent.
    cells : ranges of children of the groups, if those are the records; otherwise empty.
    """

    length: int
    groups: tuple[Range, ...]
    cells: tuple[Range, ...] = ()

    @property
    def records(self) -> tuple[Range, ...]:
        """The records: `cells` if there are any, otherwise `groups`."""
        return self.cells or self.groups

    @classmethod
    def adjacent(cls, length: int, first: int, covered: int) -> "Block":
        """Return the region of adjacent groups of `length` siblings that cover `covered` siblings from `first` on."""
        return cls(length, tuple((p, p + length) for p in range(first, first + covered, length)))

    @property
    def first(self) -> int:
        """Position of the first sibling."""
        return self.groups[0][0]

    @property
    def stop(self) -> int:
        """Position after the last sibling."""
        return self.groups[-1][1]


def chain_lengths(alike: Bools, step: int) -> Ints:
    """Return the lengths of chains of similar groups.

    Parameters
    ----------
    alike : bool (M,), the group of `step` siblings at this position is similar to the next group.
    step : number of siblings in a group.

    Returns
    -------
    int64 (M,), the number of consecutive groups from each position on that are similar to their next one.
    """
    lengths = np.zeros(alike.size, np.int64)
    for phase in range(min(step, alike.size)):
        part = alike[phase::step]
        here = np.arange(part.size)
        stop = np.where(part, part.size, here)
        lengths[phase::step] = np.minimum.accumulate(stop[::-1])[::-1] - here
    return lengths


def walk(tree: TagTree, near: Sequence[F64], find: Callable[[int, int], Sequence[Block]]) -> list[Block]:
    """Return the regions of a page, with their parents in document order.

    Parameters
    ----------
    tree : tag tree of M nodes.
    near : distances (M,) of neighbouring groups, see `neighbours`; parents without any finite one are skipped.
    find : returns the regions among the siblings at positions ``low .. high``. What is below their groups is not
        searched again (the overlap principle of WOBM, and FindDRs in MDR).
    """
    some = np.any([np.isfinite(distance) for distance in near], axis=0)
    covered = np.zeros(len(tree) + 1, np.bool_)  # the last entry is for the parent -1
    regions: list[Block] = []
    for parent in np.unique(tree.parent[tree.child[some]]).tolist():
        check()
        if covered[parent]:
            continue
        low, high = (tree.first[parent], tree.first[parent + 1]) if parent >= 0 else (0, tree.first[0])
        for block in find(int(low), int(high)):
            regions.append(block)
            for start, stop in block.groups:
                covered[tree.child[start] : tree.end[tree.child[stop - 1]]] = True
    return regions


def node_range(page: Snapshot, tree: TagTree, group: Range) -> Range:
    """Return the range of Snapshot nodes of a group of siblings and everything below them."""
    return int(tree.node[tree.child[group[0]]]), int(page.end[tree.node[tree.child[group[1] - 1]]])


def to_records(
    method: str,
    page: Snapshot,
    tree: TagTree,
    blocks: Sequence[Block],
    *,
    pieces: Sequence[Sequence[Sequence[Range]]],
    numbers: Mapping[str, Sequence[float]],
    parameters: Mapping[str, Scalar],
) -> Records:
    """Return the result of a method.

    Parameters
    ----------
    method : name of the method.
    page, tree : the page and its tag tree.
    blocks : the G regions.
    pieces : for each region its records, each as a list of node ranges.
    numbers : figures of the regions by name, G values each.
    parameters : parameters of the method.
    """
    parents = [int(tree.parent[tree.child[block.first]]) for block in blocks]
    spans = [node_range(page, tree, (block.first, block.stop)) for block in blocks]
    records = [record for region in pieces for record in region]
    return Records(
        method,
        parent=np.array([tree.node[parent] if parent >= 0 else 0 for parent in parents], np.int64),
        span=np.array(spans, np.int64).reshape(-1, 2),
        length=np.array([block.length for block in blocks], np.int64),
        region=np.repeat(np.arange(len(blocks)), [len(region) for region in pieces]).astype(np.int64),
        start=np.concatenate(([0], np.cumsum([len(record) for record in records], dtype=np.int64))),
        pieces=np.array([piece for record in records for piece in record], np.int64).reshape(-1, 2),
        numbers={name: np.array(values, np.float64) for name, values in numbers.items()},
        parameters=dict(parameters),
    )


class Chains:
    """The chains of similar groups of one page.

    Parameters
    ----------
    near : distances (M,) of neighbouring groups by length, see `neighbours`.
    """

    def __init__(self, near: Sequence[F64]) -> None:
        runs = np.stack([chain_lengths(np.isfinite(distance), j) for j, distance in enumerate(near, 1)])
        covered = np.where(runs > 0, (runs + 1) * np.arange(1, len(near) + 1)[:, None], 0)
        best = covered.argmax(0)  # shortest groups first if equal: principle 2 of the paper
        self._covered = covered[best, np.arange(best.size)]
        self._length = best + 1
        self._rank = self._covered * (len(near) + 1) - self._length

    def among(self, low: int, high: int) -> Callable[[int], Block | None]:
        """Return a function that finds the longest chain among the siblings at positions ``low .. high``.

        The function takes a position and returns the chain that covers most siblings from there on, or None. Ties are
        broken by shorter groups, then by the smaller start.
        """
        backwards = self._rank[low:high][::-1]
        best = np.maximum.accumulate(backwards)
        at = np.maximum.accumulate(np.where(backwards == best, np.arange(best.size), 0))
        chosen = (high - 1 - at)[::-1]

        def longest(position: int) -> Block | None:
            if position >= high or not self._covered[start := int(chosen[position - low])]:
                return None
            return Block.adjacent(int(self._length[start]), start, int(self._covered[start]))

        return longest
