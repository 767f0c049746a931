"""Identity of element nodes: the key of the style-tree node that each node of a page falls on.

Paper mode: a node's place is its style node (the exact child sequence of its parent) and its position there
(SST section 5.1). Site mode: runs of equal siblings are one node ``x+`` (section 9.11), and a node's place is its
label and ordinal among its siblings, whatever stands between, so one optional advert does not split a site.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis._forest import Forest
from analysis._hash import U64, combine, hash_of, mix
from analysis._tables import Table

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
    base : uint64 (M,), what of `style` enters the paths of the children: all of it or, by label, nothing.
    position : int64 (M,), place below the parent: index of the run, or ordinal of the label.
    weight : int64 (M,), share of the page in 1/`WHOLE`: instances of one run share their parent's weight.
    depth : int32 (M,), 0 for virtual roots.
    """

    path: U64
    style: U64
    base: U64
    position: NDArray[np.int64]
    weight: NDArray[np.int64]
    depth: NDArray[np.int32]


def locate(forest: Forest, *, runs: Runs, siblings: Siblings, aliases: Table | None = None) -> Paths:
    """Return the place of every forest node; O(M log M) and one step per level.

    Parameters
    ----------
    runs : ``"exact"`` sequences, or ``"collapse"`` equal neighbours and repeats of period 2 and 3.
    siblings : element nodes are told apart by the ``"style"`` node that holds them, or by ``"label"``.
    aliases : merged element nodes: rows from a path to the ``path`` that replaces it (section 5.6.1).
    """
    count = forest.parent.size
    roots = int((forest.parent < 0).sum())
    order = roots + np.argsort(forest.parent[roots:], kind="stable")
    parent, label = forest.parent[order], forest.label[order]
    run = _collapsed(parent, label) if runs == "collapse" else np.arange(order.size)
    lead = np.unique(run, return_index=True)[1]
    first_run = np.zeros(count, np.int64)
    first_run[parent[::-1]] = run[::-1]
    place = run - first_run[parent]
    style = np.zeros(count, np.uint64)
    powers = mix(np.arange(1, int(place.max(initial=0)) + 2, dtype=np.uint64)) | np.uint64(1)
    np.add.at(style, parent[lead], mix(label[lead]) * powers[place[lead]])
    style = mix(style)
    style[forest.leaf] = LEAF_STYLE
    if siblings == "label":
        place = _ordinals(parent[lead], label[lead])[run]
    position, share = np.zeros(count, np.int64), np.ones(count, np.int64)
    position[order] = place
    share[order] = np.bincount(run)[run] if run.size else run
    base = np.zeros(count, np.uint64) if siblings == "label" else style
    children = _Children(order, np.searchsorted(parent, np.arange(count + 1)))
    path, weight, depth = _descend(forest, base, position, share, children=children, aliases=aliases)
    return Paths(path, style, base, position, weight, depth)


def step(label: U64, position: NDArray[Any]) -> U64:
    """Return the part of a path that a node adds below its parent."""
    return combine(label, position.astype(np.uint64))


@dataclass(frozen=True, slots=True, eq=False)
class _Children:
    """Children of node i are ``order[first[i]:first[i + 1]]``."""

    order: NDArray[np.int64]
    first: NDArray[np.int64]

    def below(self, level: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return all children of the nodes of `level`, and the parent of each."""
        sizes = self.first[level + 1] - self.first[level]
        above = np.repeat(level, sizes)
        offset = np.arange(above.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.order[self.first[above] + offset], above


def _descend(
    forest: Forest,
    base: U64,
    position: NDArray[np.int64],
    share: NDArray[np.int64],
    *,
    children: _Children,
    aliases: Table | None,
) -> tuple[U64, NDArray[np.int64], NDArray[np.int32]]:
    """Return path, weight and depth of every node, from the roots down."""
    steps = step(forest.label, position)
    path = np.full(base.size, ROOT, np.uint64)
    weight = np.full(base.size, WHOLE, np.int64)
    depth = np.zeros(base.size, np.int32)
    level, above = children.below(np.flatnonzero(forest.parent < 0))
    below = 1
    while level.size:
        here = combine(combine(path[above], base[above]), steps[level])
        if aliases is not None:
            row = aliases.find(here)
            here = np.where(row >= 0, aliases.fixed["path"][row], here) if len(aliases) else here
        path[level] = here
        weight[level] = weight[above] // share[level]
        depth[level] = below
        level, above = children.below(level)
        below += 1
    return path, weight, depth


def _collapsed(parent: NDArray[np.int64], label: U64) -> NDArray[np.int64]:
    """Return the run of each sibling: equal neighbours share one, repeats of period 2 and 3 fold onto the first."""
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


def _ordinals(parent: NDArray[np.int64], label: U64) -> NDArray[np.int64]:
    """Return for each run how many runs of its label stand before it below the same parent."""
    order = np.lexsort((label, parent))
    p, q = parent[order], label[order]
    fresh = np.ones(order.size, np.bool_)
    fresh[1:] = (p[1:] != p[:-1]) | (q[1:] != q[:-1])
    start = np.maximum.accumulate(np.where(fresh, np.arange(order.size), 0))
    ordinal = np.empty(order.size, np.int64)
    ordinal[order] = np.arange(order.size) - start
    return ordinal
