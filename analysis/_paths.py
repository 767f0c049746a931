"""Identity of element nodes: the key of the style-tree node that each node of a page falls on.

Paper mode: a node's place is its style node (the exact child sequence of its parent) and its position there (SST
section 5.1). Site mode: runs of equal siblings are one node ``x+`` (section 9.11), and a node's place is its label
and ordinal among its siblings, whatever stands between, so that one optional advert does not split a site.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis._forest import Forest
from analysis._hash import U64, combine, hash_of, mix

Runs = Literal["exact", "collapse"]
Siblings = Literal["style", "label"]

WHOLE = 1 << 32  # the weight of one page: weights are fixed point, so that sums do not depend on their order
LEAF_STYLE = hash_of("#leaf")
ROOT = hash_of("#root")
_LONGEST_PERIOD = 3


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Where each of the M forest nodes falls on a style tree.

    Parameters
    ----------
    path : uint64 (M,), key of the element node.
    style : uint64 (M,), key of the child sequence of the node, `LEAF_STYLE` for leaves.
    position : int64 (M,), place in the sequence of the parent: index of the run.
    weight : int64 (M,), share of the page in 1/`WHOLE`: instances of one run share their parent's weight.
    depth : int32 (M,), 0 for virtual roots.
    """

    path: U64
    style: U64
    position: NDArray[np.int64]
    weight: NDArray[np.int64]
    depth: NDArray[np.int32]


def locate(forest: Forest, *, runs: Runs, siblings: Siblings) -> Paths:
    """Return the place of every forest node; O(M log M) and one step per level."""
    count = forest.parent.size
    roots = int((forest.parent < 0).sum())
    order = roots + np.argsort(forest.parent[roots:], kind="stable")
    parent, label = forest.parent[order], forest.label[order]
    run = _collapsed(parent, label) if runs == "collapse" else np.arange(order.size)
    size = np.bincount(run, minlength=order.size)[run] if order.size else run
    first_run = np.zeros(count + 1, np.int64)
    is_new = np.ones(order.size, np.bool_)
    is_new[1:] = parent[1:] != parent[:-1]
    first_run[parent[is_new]] = run[is_new]
    place = run - first_run[parent]
    leads = np.zeros(order.size, np.bool_)
    leads[np.unique(run, return_index=True)[1]] = True
    style = np.full(count, ROOT, np.uint64)
    style[:] = 0
    powers = mix(np.arange(1, (int(place.max()) if place.size else 0) + 2, dtype=np.uint64)) | np.uint64(1)
    np.add.at(style, parent[leads], mix(label[leads]) * powers[place[leads]])
    style = mix(style)
    style[forest.leaf] = LEAF_STYLE
    if siblings == "label":
        place = _ordinals(parent, label, run, leads)
    position = np.zeros(count, np.int64)
    position[order] = place
    share = np.ones(count, np.int64)
    share[order] = size
    return _descend(forest, style, position, share, order, parent, siblings)


def _descend(
    forest: Forest,
    style: U64,
    position: NDArray[np.int64],
    share: NDArray[np.int64],
    order: NDArray[np.int64],
    parent: NDArray[np.int64],
    siblings: Siblings,
) -> Paths:
    count = style.size
    step = combine(forest.label, position.astype(np.uint64))
    path = np.full(count, ROOT, np.uint64)
    weight = np.full(count, WHOLE, np.int64)
    depth = np.zeros(count, np.int32)
    first = np.searchsorted(parent, np.arange(count))
    stop = np.searchsorted(parent, np.arange(count), side="right")
    level = np.flatnonzero(forest.parent < 0)
    below = 0
    while level.size:
        sizes = stop[level] - first[level]
        level, sizes = level[sizes > 0], sizes[sizes > 0]
        if not level.size:
            break
        below += 1
        above = np.repeat(level, sizes)
        offset = np.arange(above.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        level = order[first[above] + offset]
        base = path[above] if siblings == "label" else combine(path[above], style[above])
        path[level] = combine(base, step[level])
        weight[level] = weight[above] // share[level]
        depth[level] = below
    return Paths(path, style, position, weight, depth)


def _collapsed(parent: NDArray[np.int64], label: U64) -> NDArray[np.int64]:
    """Return the run of each sibling: equal neighbours share one, then repeats of period 2 and 3 fold onto one period."""
    run = np.zeros(parent.size, np.int64)
    if not parent.size:
        return run
    run[1:] = np.cumsum((parent[1:] != parent[:-1]) | (label[1:] != label[:-1]))
    for period in range(2, _LONGEST_PERIOD + 1):
        leads = np.unique(run, return_index=True)[1]
        folded = _folded(parent[leads], label[leads], period)
        run = folded[run]
    return run


def _folded(parent: NDArray[np.int64], label: U64, period: int) -> NDArray[np.int64]:
    """Return new run numbers in which a stretch that repeats with `period` at least twice keeps its first period."""
    count = parent.size
    new = np.arange(count)
    if count < 2 * period:
        return new
    again = (parent[period:] == parent[:-period]) & (label[period:] == label[:-period])
    edges = np.flatnonzero(np.diff(np.concatenate(([0], again.view(np.int8), [0]))))
    taken = 0
    for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        start = max(start, taken)
        if stop - start < period:
            continue
        taken = stop + period
        new[start:taken] = start + (np.arange(taken - start) % period)
    return np.unique(new, return_inverse=True)[1]


def _ordinals(
    parent: NDArray[np.int64], label: U64, run: NDArray[np.int64], leads: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return for each sibling how many runs of its label stand before its run below the same parent."""
    at = np.flatnonzero(leads)
    order = np.lexsort((at, label[at], parent[at]))
    p, q = parent[at][order], label[at][order]
    fresh = np.ones(at.size, np.bool_)
    fresh[1:] = (p[1:] != p[:-1]) | (q[1:] != q[:-1])
    start = np.maximum.accumulate(np.where(fresh, np.arange(at.size), 0))
    ordinal = np.empty(at.size, np.int64)
    ordinal[order] = np.arange(at.size) - start
    return ordinal[run]
