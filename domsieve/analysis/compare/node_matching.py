"""Match the nodes of a rendered page with those of its raw source.

A greedy matching in three steps, after GumTree (Falleri et al., ASE 2014): equal subtrees, the largest first; then
elements that contain most of the matched nodes; then, from the document down, children of matched elements by tag and
id. Deviations: subtrees are compared by hashes of tags and texts, so the first step is O(N log N) for N nodes of both
pages; equal subtrees are paired in document order; and no edit script is made. The second and third steps are array
operations, one round per level of the page.
"""

import numpy as np

from domsieve.analysis.columns.batch import Batch, Bools, Ints
from domsieve.analysis.columns.hash import U64, combine, hash_of, mix
from domsieve.budget import check
from domsieve.snapshot.page import Kind, Snapshot

NOT_MATCHED = -1
# Smaller subtrees, such as a link "More", can be equal by chance, and match only if they are unique.
_LEAST_NODES = 3
_ID = hash_of("id")


def match_nodes(raw: Snapshot, rendered: Snapshot) -> Ints:
    """Return the matching node in `raw` for each of the N nodes of `rendered`.

    Takes O(N log N) time and O(N) memory for N nodes of both pages.

    Returns
    -------
    int64 (N,), `NOT_MATCHED` for nodes without a match. No node of `raw` occurs twice; the documents always match.
    """
    batch = Batch.of([raw, rendered])
    pairs = _Pairs(batch, len(raw))
    pairs.add(np.array([0]), np.array([0]))
    _equal_subtrees(pairs, _subtree_hashes(batch))
    _holders(pairs)
    _children(pairs)
    return pairs.raw_of


class _Pairs:
    """The nodes matched so far. Pairs of columns are for the raw and the rendered page, with nodes counted from 0."""

    def __init__(self, batch: Batch, size: int) -> None:
        self.size = size
        self.parent = batch.parent[:size], batch.parent[size:] - size
        self.end = batch.end[:size], batch.end[size:] - size
        self.parent[1][0] = -1
        self.label = _labels(batch)
        self.raw_of = np.full(batch.kind.size - size, NOT_MATCHED, np.int64)
        self.rendered_of = np.full(size, NOT_MATCHED, np.int64)
        self.is_text = batch.kind[:size] == Kind.TEXT, batch.kind[size:] == Kind.TEXT

    def add(self, raw: Ints, rendered: Ints) -> None:
        self.raw_of[rendered] = raw
        self.rendered_of[raw] = rendered


def _labels(batch: Batch) -> U64:
    """Return a hash of tag and id of each node."""
    label = batch.tag_hash[batch.tag]
    named = np.flatnonzero(batch.hashes(batch.attr_name) == _ID)
    owner = batch.attr_owner[named]
    label[owner] = combine(label[owner], batch.hashes(batch.attr_value[named]))
    return label


def _subtree_hashes(batch: Batch) -> U64:
    """Return, for each node, the hash of the tags and texts in its subtree, in document order."""
    own = batch.tag_hash[batch.tag]
    text = np.flatnonzero(batch.kind == Kind.TEXT)
    own[text] = combine(own[text], batch.hashes(batch.text[text]))
    # A subtree is hashed as the sum over its nodes, weighted by depth below its root. One cumulative sum gives the
    # sums of all ranges. The weights are powers, so one product per subtree makes the depths relative to its root.
    depth = _depths(batch.parent)
    step = np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)
    order = np.uint64(0xD6E8FEB86659FD93) | np.uint64(1)
    with np.errstate(over="ignore"):
        weight = _powers(step, depth) * _powers(order, np.arange(depth.size))
        total = np.concatenate((np.zeros(1, np.uint64), np.cumsum(mix(own) * weight)))
        inside = total[batch.end] - total[:-1]
        # Odd numbers have inverses modulo 2**64.
        whole = inside * _powers(_inverse(step), depth) * _powers(_inverse(order), np.arange(depth.size))
    return combine(whole, (batch.end - np.arange(depth.size)).astype(np.uint64))


def _depths(parent: Ints) -> Ints:
    """Return the depth of each node, by pointer doubling."""
    up = np.where(parent < 0, np.arange(parent.size), parent)
    depth = (parent >= 0).astype(np.int64)
    while True:
        further = depth[up]
        if not further.any():
            return depth
        depth, up = depth + further, up[up]


def _powers(base: np.uint64, exponent: Ints) -> U64:
    """Return base ** exponent modulo 2**64."""
    result = np.ones(exponent.size, np.uint64)
    rest, square = exponent.copy(), base
    with np.errstate(over="ignore"):
        while rest.any():
            odd = (rest & 1).astype(np.bool_)
            result[odd] *= square
            rest >>= 1
            square = np.uint64(square * square)
    return result


def _inverse(odd: np.uint64) -> np.uint64:
    return np.uint64(pow(int(odd), -1, 1 << 64))


def _equal_subtrees(pairs: _Pairs, subtree: U64) -> None:
    """Match equal subtrees, the largest first, and those with equal content in document order."""
    sizes = [np.asarray(end - np.arange(end.size)) for end in pairs.end]
    hashes = subtree[: pairs.size], subtree[pairs.size :]
    large = [np.unique(h[s >= _LEAST_NODES]) for h, s in zip(hashes, sizes, strict=True)]
    single = [_single(h[_holds_text(t, e)]) for h, t, e in zip(hashes, pairs.is_text, pairs.end, strict=True)]
    shared = np.union1d(np.intersect1d(large[0], large[1]), np.intersect1d(single[0], single[1]))
    places: dict[int, list[int]] = {key: [] for key in shared.tolist()}
    candidates = np.flatnonzero(_isin_sorted(hashes[0], shared))
    for node, key in zip(candidates[::-1].tolist(), hashes[0][candidates[::-1]].tolist(), strict=True):
        places[key].append(node)
    wanted = np.flatnonzero(_isin_sorted(hashes[1], shared))
    wanted = wanted[np.argsort(-sizes[1][wanted], kind="stable")]
    covered = pairs.raw_of, pairs.rendered_of
    for node, key in zip(wanted.tolist(), hashes[1][wanted].tolist(), strict=True):
        check()
        if covered[0][node] != NOT_MATCHED:
            continue
        rest = places[key]
        while rest and covered[1][rest[-1]] != NOT_MATCHED:
            rest.pop()
        if rest:
            size, first = int(sizes[1][node]), rest.pop()
            pairs.add(np.arange(first, first + size), np.arange(node, node + size))


def _single(values: U64) -> U64:
    distinct, count = np.unique(values, return_counts=True)
    return np.asarray(distinct[count == 1])


def _holds_text(is_text: Bools, end: Ints) -> Bools:
    before = np.concatenate(([0], np.cumsum(is_text)))
    return np.asarray(before[end] > before[:-1])


def _isin_sorted(values: U64, known: U64) -> Bools:
    if not known.size:
        return np.zeros(values.size, np.bool_)
    place = np.minimum(np.searchsorted(known, values), known.size - 1)
    return np.asarray(known[place] == values)


def _holders(pairs: _Pairs) -> None:
    """Match elements by a majority of their matched children, level by level upwards."""
    below = np.flatnonzero(pairs.raw_of > 0)
    while below.size:
        check()
        raw_up, up = pairs.parent[0][pairs.raw_of[below]], pairs.parent[1][below]
        is_open = (pairs.raw_of[up] == NOT_MATCHED) & (pairs.rendered_of[raw_up] == NOT_MATCHED)
        is_open &= pairs.label[raw_up] == pairs.label[pairs.size + up]
        raw_up, up = raw_up[is_open], up[is_open]
        if not up.size:
            return
        pair, votes = np.unique(up * np.int64(pairs.size) + raw_up, return_counts=True)
        up, raw_up = np.divmod(pair, pairs.size)
        best = np.lexsort((raw_up, up, -votes))
        up, raw_up = up[best], raw_up[best]
        first = np.zeros(up.size, np.bool_)
        first[np.unique(up, return_index=True)[1]] = True
        up, raw_up = up[first], raw_up[first]
        single = np.unique(raw_up, return_index=True)[1]
        pairs.add(raw_up[single], up[single])
        below = up[single]


def _children(pairs: _Pairs) -> None:
    """Match the remaining children of matched elements: the k-th with equal tag and id, level by level downwards."""
    parents = np.flatnonzero((pairs.raw_of != NOT_MATCHED) & ~pairs.is_text[1])
    left = [
        np.flatnonzero((matched == NOT_MATCHED) & (parent >= 0))
        for matched, parent in zip((pairs.rendered_of, pairs.raw_of), pairs.parent, strict=True)
    ]
    while parents.size:
        check()
        fresh = np.zeros(pairs.raw_of.size, np.bool_)
        fresh[parents] = True
        rendered = left[1][fresh[pairs.parent[1][left[1]]]]
        fresh_raw = np.zeros(pairs.size, np.bool_)
        fresh_raw[pairs.raw_of[parents]] = True
        raw = left[0][fresh_raw[pairs.parent[0][left[0]]]]
        keys = [
            combine(pairs.parent[0][raw].astype(np.uint64), pairs.label[raw]),
            combine(
                pairs.raw_of[pairs.parent[1][rendered]].astype(np.uint64),
                pairs.label[pairs.size + rendered],
            ),
        ]
        first, second = (combine(key, _ranks(key)) for key in keys)
        _, of_raw, of_rendered = np.intersect1d(first, second, assume_unique=True, return_indices=True)
        pairs.add(raw[of_raw], rendered[of_rendered])
        parents = rendered[of_rendered][~pairs.is_text[1][rendered[of_rendered]]]


def _ranks(key: U64) -> U64:
    """Return the number of equal keys before each key."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    start = np.concatenate(([True], ordered[1:] != ordered[:-1])) if key.size else np.zeros(0, np.bool_)
    first = np.maximum.accumulate(np.where(start, np.arange(key.size), 0))
    ranks = np.empty(key.size, np.uint64)
    ranks[order] = np.arange(key.size) - first
    return ranks
