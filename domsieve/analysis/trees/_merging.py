"""Merge element nodes of a style tree that have similar content (SST section 5.6.1, and CST).

Two element nodes with equal tag and attributes below one parent, in different style nodes, are merged if their
characteristic features overlap. The tree becomes an acyclic graph, because a merged node is a member of several style
nodes. Merging runs on the finished tree, from the root down, with pairs ordered by style and position, so the order
in which pages were learned does not matter. The CST also merges nodes of one style node, and repeats until nothing
more merges.

    paper                       here
    gamma, lambda               frequency, similarity
    I_j                         characteristic features of a cluster: in `frequency` of its units or more
    |I_1 & I_2| / |I_1 | I_2|   computed only for pairs that share one of their rarest features

If a set of n features overlaps another by `similarity`, at most ``n - similarity * n`` of its features are not in the
other. So at least one of any ``n - similarity * n + 1`` of them is. We take the rarest ones: features common to all
pages are then never looked up, and few pairs are compared.
"""

from bisect import insort
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import groupby, pairwise
from math import ceil

import numpy as np

from domsieve.analysis.columns.batch import Ints
from domsieve.analysis.columns.hash import U64, combine
from domsieve.analysis.columns.tables import Table, grouped, grouping, ranges, stable_order
from domsieve.analysis.trees._alignment import step
from domsieve.analysis.trees.style_tree import StyleTree
from domsieve.budget import check


def merge_similar(
    tree: StyleTree, *, frequency: float, similarity: float, within_styles: bool = False
) -> tuple[StyleTree, Table]:
    """Return the merged tree without contents, and a table of aliases from merged paths to the paths that remain.

    Parameters
    ----------
    tree : a tree that was counted with contents.
    frequency : gamma, the share of a node's units in which a characteristic feature occurs, in (0, 1].
    similarity : lambda, the Jaccard overlap of characteristic features from which nodes merge, in (0, 1].
    within_styles : merge nodes of one style node as well, as the CST does.

    Raises
    ------
    ValueError : the tree has no contents.
    """
    if tree.contents is None:
        raise ValueError("Merging needs a tree with contents; count the pages with contents.")
    elements = tree.elements
    contents = _Contents.of(elements, tree.contents)
    depth, label, sequence, position = (
        elements.fixed[name] for name in ("depth", "label", "sequence", "position")
    )
    steps = step(label, position)
    above = elements.find(elements.fixed["parent"])
    path = elements.key.copy()
    old, new = [path[:0]], [path[:0]]
    by_depth = stable_order(depth)
    for a, b in pairwise(np.cumsum(np.bincount(depth)).tolist()[1:]):
        check()
        rows = by_depth[a:b]
        parent = path[above[rows]]
        path[rows] = combine(combine(parent, sequence[rows]), steps[rows])
        families = grouping(combine(parent, label[rows]))
        family, styles = families.code, sequence[rows[families.order]]
        start = families.first[:-1]
        mixed = np.minimum.reduceat(styles, start) != np.maximum.reduceat(styles, start)
        if within_styles:
            mixed = np.diff(families.first) > 1
        chosen = np.flatnonzero(mixed[family])
        if chosen.size:
            order = np.lexsort((position[rows[chosen]], sequence[rows[chosen]], family[chosen]))
            chosen = chosen[order]
            units = _Units.of(rows[chosen], family[chosen], path, elements, contents, frequency)
            pairs = _closed_pairs if within_styles else _pairs
            gone, kept = pairs(units, frequency=frequency, similarity=similarity)
            names = units.path.copy()
            names[gone] = units.path[kept]
            path[rows[chosen]] = names[units.of_row]
            old.append(units.path[gone])
            new.append(units.path[kept])
    aliases = grouped(np.concatenate(old), {"path": np.concatenate(new)}, {})
    return _renamed(tree, path), aliases


@dataclass(frozen=True, slots=True, eq=False)
class _Contents:
    """Features below the E element nodes: row e has ``feature[first[e]:first[e + 1]]``, in `count` units each."""

    first: Ints
    feature: Ints
    count: Ints

    @classmethod
    def of(cls, elements: Table, contents: Table) -> "_Contents":
        row = elements.find(contents.fixed["path"])
        order = stable_order(row)
        first = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(elements)))))
        return cls(first, grouping(contents.fixed["feature"]).code[order], contents.sums["units"][order])


@dataclass(frozen=True, slots=True, eq=False)
class _Units:
    """The U element nodes of one level that may merge, by family, style and position.

    The nodes of a family have the same parent and label. Features are numbered by rarity, the rarest first. Unit u
    has the features ``feature[first[u]:first[u + 1]]``, each in ``count`` of its ``size`` pages or tag nodes. Its
    characteristic features are ``telling[first_telling[u]:first_telling[u + 1]]``, the rarest first.
    """

    of_row: Ints  # the unit of each row
    path: U64
    family: list[int]
    sequence: list[int]
    size: list[int]
    first: list[int]
    feature: Ints
    count: Ints
    first_telling: list[int]
    telling: Ints

    @classmethod
    def of(
        cls, rows: Ints, family: Ints, path: U64, elements: Table, contents: _Contents, frequency: float
    ) -> "_Units":
        """Return the units of `rows`; rows have become one unit if their paths are equal after merging above them."""
        start = np.flatnonzero(np.diff(path[rows], prepend=~path[rows[:1]]))
        of_row = np.repeat(np.arange(start.size), np.diff(start, append=rows.size))
        size = np.add.reduceat(elements.sums["units"][rows], start)

        at, holder = ranges(contents.first[rows], contents.first[rows + 1] - contents.first[rows])
        feature = contents.feature[at]
        bits = int(feature.max(initial=0)).bit_length()
        cells = grouping(((of_row[holder] << bits) | feature).astype(np.uint64))
        cell = cells.key.astype(np.int64)
        unit, feature, count = cell >> bits, cell & ((1 << bits) - 1), cells.sum(contents.count[at])
        telling = count >= frequency * size[unit]
        kinds = grouping(feature[telling].astype(np.uint64))
        known, spread = kinds.key.astype(np.int64), np.diff(kinds.first)
        rank = np.empty(known.size, np.int64)
        rank[stable_order(spread)] = np.arange(known.size)
        # A feature that is not characteristic of any unit cannot become characteristic of a cluster.
        place = np.minimum(np.searchsorted(known, feature), known.size - 1)
        counts = known[place] == feature if known.size else telling
        unit, feature, count, telling = unit[counts], rank[place[counts]], count[counts], telling[counts]
        bits = known.size.bit_length()
        marks = np.sort((unit[telling] << bits) | feature[telling])
        every = np.arange(start.size + 1)
        return cls(
            of_row,
            path[rows[start]],
            family[start].tolist(),
            elements.fixed["sequence"][rows[start]].tolist(),
            size.tolist(),
            np.searchsorted(unit, every).tolist(),
            feature,
            count,
            np.searchsorted(marks, every << bits).tolist(),
            marks & ((1 << bits) - 1),
        )

    def counts(self, unit: int) -> dict[int, int]:
        """Return the count of each feature of `unit`."""
        span = slice(self.first[unit], self.first[unit + 1])
        return dict(zip(self.feature[span].tolist(), self.count[span].tolist(), strict=True))

    def characteristic(self, unit: int) -> list[int]:
        """Return the characteristic features of `unit`, the rarest first."""
        span = slice(self.first_telling[unit], self.first_telling[unit + 1])
        return list(self.telling[span].tolist())


class _Cluster:
    """Units merged into one element node, which gets the path of the first."""

    def __init__(self, units: _Units, head: int) -> None:
        self.members, self.features = [head], set(units.characteristic(head))
        self._units, self._size = units, units.size[head]
        self._own: dict[int, int] | None = None

    @property
    def _counts(self) -> dict[int, int]:
        # Computed on demand: most clusters never grow and do not need the counts of their features.
        if self._own is None:
            self._own = self._units.counts(self.members[0])
        return self._own

    def join(self, other: "_Cluster", frequency: float) -> None:
        """Add all units of `other` to this cluster."""
        counts, more = self._counts, other._counts
        for feature, count in more.items():
            counts[feature] = counts.get(feature, 0) + count
        self.members += other.members
        self._size += other._size
        least = frequency * self._size
        self.features = {f for f in {*self.features, *more} if counts[f] >= least}


def _pairs(units: _Units, *, frequency: float, similarity: float) -> tuple[Ints, Ints]:
    """Return the units that are merged into others, and for each the unit that remains."""
    all_clusters: list[_Cluster] = []
    for _, family in groupby(range(len(units.family)), units.family.__getitem__):
        clusters: list[_Cluster] = []
        # Clusters by the features that are among their rarest.
        holders: defaultdict[int, list[int]] = defaultdict(list)
        for _, style in groupby(family, units.sequence.__getitem__):
            # Nodes of one style node never merge, so changes by one of them only apply to the next style.
            search = _Search(clusters, holders, similarity)
            fresh = [unit for unit in style if not search.finds_cluster(unit, units.characteristic(unit))]
            for number, unit in search.joined.items():
                clusters[number].join(_Cluster(units, unit), frequency)
            changed = [*search.joined, *range(len(clusters), len(clusters) + len(fresh))]
            clusters += [_Cluster(units, unit) for unit in fresh]
            for number in changed:
                for feature in _rarest(sorted(clusters[number].features), similarity):
                    insort(holders[feature], number)
        all_clusters += clusters
    return _replacements(all_clusters)


def _closed_pairs(units: _Units, *, frequency: float, similarity: float) -> tuple[Ints, Ints]:
    """Like `_pairs`, but units of one style merge as well, and clusters merge until no two are similar.

    In each round a cluster joins the first similar one before it, in the state that one has by then.
    """
    all_clusters: list[_Cluster] = []
    for _, family in groupby(range(len(units.family)), units.family.__getitem__):
        clusters, last = [_Cluster(units, unit) for unit in family], -1
        while len(clusters) not in {1, last}:
            last = len(clusters)
            clusters = _round(clusters, frequency, similarity)
        all_clusters += clusters
    return _replacements(all_clusters)


def _round(clusters: list[_Cluster], frequency: float, similarity: float) -> list[_Cluster]:
    """Return the clusters that remain after each was compared once with those before it."""
    kept: list[_Cluster] = []
    holders: defaultdict[int, list[int]] = defaultdict(list)
    for cluster in clusters:
        check()
        telling = _rarest(sorted(cluster.features), similarity)
        tried = sorted({number for feature in telling for number in holders.get(feature, ())})
        number = next((n for n in tried if _alike(kept[n].features, cluster.features, similarity)), len(kept))
        if number < len(kept):
            kept[number].join(cluster, frequency)
            telling = _rarest(sorted(kept[number].features), similarity)
        else:
            kept.append(cluster)
        for feature in telling:
            if number not in holders[feature][-1:]:
                holders[feature].append(number)
    return kept


def _replacements(clusters: Sequence[_Cluster]) -> tuple[Ints, Ints]:
    """Return the units that are not the first of their cluster, and for each the first one."""
    gone = [unit for cluster in clusters for unit in cluster.members[1:]]
    kept = [cluster.members[0] for cluster in clusters for _ in cluster.members[1:]]
    return np.array(gone, np.int64), np.array(kept, np.int64)


class _Search:
    """Finds the first cluster that each unit of one style may join; each cluster accepts one of them."""

    def __init__(self, clusters: list[_Cluster], holders: Mapping[int, list[int]], similarity: float) -> None:
        self.joined: dict[int, int] = {}  # unit by cluster
        self._clusters, self._holders, self._similarity = clusters, holders, similarity
        self._skipped: dict[int, int] = {}

    def finds_cluster(self, unit: int, features: list[int]) -> bool:
        """Return whether a cluster accepts `unit`, whose characteristic `features` are given rarest first."""
        check()
        wanted = set(features)
        last = -1
        for number in merge(*map(self._open, _rarest(features, self._similarity))):
            if number != last and number not in self.joined:
                last = number
                if _alike(self._clusters[number].features, wanted, self._similarity):
                    self.joined[number] = unit
                    return True
        return False

    def _open(self, feature: int) -> Iterator[int]:
        """Yield the clusters that have `feature`, and skip those at the start that have accepted a unit for good."""
        holders = self._holders.get(feature, ())
        start = self._skipped.get(feature, 0)
        while start < len(holders) and holders[start] in self.joined:
            start += 1
        self._skipped[feature] = start
        for at in range(start, len(holders)):
            yield holders[at]


def _alike(first: set[int], second: set[int], similarity: float) -> bool:
    small, large = sorted((len(first), len(second)))
    if small < similarity * large:
        return False
    common = len(first & second)
    return common > 0 and common >= similarity * (small + large - common)


def _rarest(features: Sequence[int], similarity: float) -> Sequence[int]:
    """Return the shortest prefix of `features` of which every similar set has at least one."""
    needed = ceil(similarity * len(features) - 1e-9)
    return features[: len(features) - max(needed, 1) + 1]


def _renamed(tree: StyleTree, path: U64) -> StyleTree:
    """Return the tree without contents, with a new `path` (E,) for each element node."""
    elements, styles, members, features = tree.elements, tree.styles, tree.members, tree.features

    def through(paths: U64) -> U64:
        renamed: U64 = path[elements.find(paths)]
        return renamed

    style_path = through(styles.fixed["path"])
    style_key = combine(style_path, styles.fixed["sequence"])
    member = {
        "style": style_key[styles.find(members.fixed["style"])],
        "path": through(members.fixed["path"]),
    }
    feature_path = through(features.fixed["path"])
    return replace(
        tree,
        elements=grouped(
            path, {**elements.fixed, "parent": through(elements.fixed["parent"])}, elements.sums
        ),
        styles=grouped(style_key, {**styles.fixed, "path": style_path}, styles.sums),
        members=grouped(combine(member["style"], member["path"]), member, {}),
        features=grouped(
            combine(feature_path, features.fixed["feature"]),
            {**features.fixed, "path": feature_path},
            features.sums,
        ),
        contents=None,
    )
