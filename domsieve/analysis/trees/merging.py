"""Merging element nodes of a style tree that hold much the same content, as SST and CST do.

Two element nodes of equal tag and attributes below one parent, in different style nodes, become one when their
characteristic features overlap. The tree turns into a graph without cycles: a merged node is a member of several
style nodes. Merging runs on the finished tree, top-down, pairs in order of (style, position), so the order in which
pages were learned changes nothing. The CST merges nodes of one style node too, and again until nothing
more merges.

    paper                       here
    gamma, lambda               frequency, similarity
    I_j                         characteristic features of a cluster: in `frequency` of its units or more
    |I_1 & I_2| / |I_1 | I_2|   tried for the pairs only that share one of their rarest features

A set of n features that overlaps another by `similarity` has at most ``n - similarity * n`` features outside it, so
it shares one of its ``n - similarity * n + 1`` rarest with it, and with these, whatever "rarest" is. What
is common to all pages is therefore never looked up, and the pairs that are tried are few.
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
from domsieve.analysis.trees.alignment import step
from domsieve.analysis.trees.style_tree import StyleTree
from domsieve.budget import check


def merge_similar(
    tree: StyleTree, *, frequency: float, similarity: float, within_styles: bool = False
) -> tuple[StyleTree, Table]:
    """Return the merged tree without contents, and the aliases from merged paths to those that replace them.

    Parameters
    ----------
    frequency : gamma, share of the units of a node in which a characteristic feature occurs, in (0, 1].
    similarity : lambda, Jaccard overlap of characteristic features from which nodes merge, in (0, 1].
    within_styles : whether nodes of one style node merge too.
    """
    if tree.contents is None:
        raise ValueError("Merging needs the contents of element nodes; count the pages with contents=True.")
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
    """Features anywhere below the E element nodes: those of row e are ``feature[first[e]:first[e + 1]]``."""

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
    """The U element nodes of one level that may merge, in order of family, style and position.

    A family has one parent and one label. Features are numbered from the rarest on. Those of unit u are
    ``feature[first[u]:first[u + 1]]``, in ``count`` of its ``size`` pages or tag nodes each; its characteristic ones
    are ``telling[first_telling[u]:first_telling[u + 1]]``, rarest first.
    """

    of_row: Ints  # the unit of each row that it was made from
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
        """Return the units of `rows`: rows of equal path are one since nodes above them have merged."""
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
        # What is characteristic of no unit becomes so of no cluster.
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
        """Return the characteristic features of `unit`, rarest first."""
        span = slice(self.first_telling[unit], self.first_telling[unit + 1])
        return list(self.telling[span].tolist())


class _Cluster:
    """Units that are one element node, under the path of the first."""

    def __init__(self, units: _Units, head: int) -> None:
        self.members, self.features = [head], set(units.characteristic(head))
        self._units, self._size = units, units.size[head]
        self._own: dict[int, int] | None = None

    @property
    def _counts(self) -> dict[int, int]:
        # Most clusters never grow, and need no counts of their features.
        if self._own is None:
            self._own = self._units.counts(self.members[0])
        return self._own

    def join(self, other: "_Cluster", frequency: float) -> None:
        """Take all units of `other` in."""
        counts, more = self._counts, other._counts
        for feature, count in more.items():
            counts[feature] = counts.get(feature, 0) + count
        self.members += other.members
        self._size += other._size
        least = frequency * self._size
        self.features = {f for f in {*self.features, *more} if counts[f] >= least}


def _pairs(units: _Units, *, frequency: float, similarity: float) -> tuple[Ints, Ints]:
    """Return the units that merge away, and the units that they merge into."""
    found: list[_Cluster] = []
    for _, family in groupby(range(len(units.family)), units.family.__getitem__):
        clusters: list[_Cluster] = []
        holders: defaultdict[int, list[int]] = defaultdict(
            list
        )  # clusters that have a feature among their rarest
        for _, style in groupby(family, units.sequence.__getitem__):
            # Nodes of one style node never merge, so what one of them changes is for the next style.
            search = _Search(clusters, holders, similarity)
            fresh = [unit for unit in style if not search.finds_home(unit, units.characteristic(unit))]
            for number, unit in search.joined.items():
                clusters[number].join(_Cluster(units, unit), frequency)
            changed = [*search.joined, *range(len(clusters), len(clusters) + len(fresh))]
            clusters += [_Cluster(units, unit) for unit in fresh]
            for number in changed:
                for feature in _rarest(sorted(clusters[number].features), similarity):
                    insort(holders[feature], number)
        found += clusters
    return _named(found)


def _closed_pairs(units: _Units, *, frequency: float, similarity: float) -> tuple[Ints, Ints]:
    """Return the same when units of one style merge as well, and clusters with each other until none is alike.

    In a round each cluster joins the first one before it that is alike, as that one is by then.
    """
    found: list[_Cluster] = []
    for _, family in groupby(range(len(units.family)), units.family.__getitem__):
        clusters, last = [_Cluster(units, unit) for unit in family], -1
        while len(clusters) not in {1, last}:
            last = len(clusters)
            clusters = _round(clusters, frequency, similarity)
        found += clusters
    return _named(found)


def _round(clusters: list[_Cluster], frequency: float, similarity: float) -> list[_Cluster]:
    """Return the clusters that remain of `clusters` after each was tried once."""
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


def _named(clusters: Sequence[_Cluster]) -> tuple[Ints, Ints]:
    """Return the units that are not the first of their cluster, and for each the first."""
    gone = [unit for cluster in clusters for unit in cluster.members[1:]]
    kept = [cluster.members[0] for cluster in clusters for _ in cluster.members[1:]]
    return np.array(gone, np.int64), np.array(kept, np.int64)


class _Search:
    """Looks for the first cluster that each unit of one style may join; each cluster takes one of them."""

    def __init__(self, clusters: list[_Cluster], holders: Mapping[int, list[int]], similarity: float) -> None:
        self.joined: dict[int, int] = {}  # unit by cluster
        self._clusters, self._holders, self._similarity = clusters, holders, similarity
        self._skipped: dict[int, int] = {}

    def finds_home(self, unit: int, features: list[int]) -> bool:
        """Return whether a cluster takes `unit`, whose characteristic `features` come rarest first."""
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
        """Yield the clusters that have `feature`; those at the start that are taken are passed once and for all."""
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
    """Return as many of `features`, rarest first, as a set that is similar cannot do without."""
    needed = ceil(similarity * len(features) - 1e-9)
    return features[: len(features) - max(needed, 1) + 1]


def _renamed(tree: StyleTree, path: U64) -> StyleTree:
    """Return the tree, without contents, whose element nodes have a new `path` (E,) each."""
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
