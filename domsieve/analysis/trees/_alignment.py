"""Align pages with a style tree: the key of each element node, and the path of each node of a page."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Batch, Bools, Ints
from domsieve.analysis.columns.hash import U64, combine, hash_of, mix
from domsieve.analysis.columns.tables import Table, grouping, stable_order, stretch_sums
from domsieve.analysis.trees._forest import Forest, LeafTexts

Runs = Literal["exact", "collapse"]
Siblings = Literal["style", "label"]

WHOLE = 1 << 32
"""The weight of one page; weights are integers, so that sums do not depend on their order."""
LEAF_STYLE = hash_of("#leaf")
"""The child sequence of leaves."""
ROOT = hash_of("#root")
"""The path of virtual roots."""
_LONGEST_PERIOD = 3


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """The place of each of the M forest nodes in a style tree.

    Parameters
    ----------
    path : uint64 (M,), key of the element node.
    style : uint64 (M,), key of the node's child sequence; `LEAF_STYLE` for leaves.
    base : uint64 (M,), the part of `style` that the paths of children depend on: `style` itself, or 0 if element
        nodes are identified by label.
    position : int64 (M,), position below the parent: index of the run, or ordinal of the label.
    weight : int64 (M,), share of the page in units of 1/`WHOLE`; the instances of a run share their parent's weight.
    """

    path: U64
    style: U64
    base: U64
    position: Ints
    weight: Ints


def locate(forest: Forest, *, runs: Runs, siblings: Siblings, aliases: Table | None = None) -> Paths:
    """Return the place of every forest node, in O(M log M).

    Parameters
    ----------
    runs : ``"exact"`` keeps sequences as they are; ``"collapse"`` joins equal neighbours and repeats of period 2 and
        3.
    siblings : what identifies an element node: the ``"style"`` node around it and its position, or its ``"label"``.
    aliases : from `merge_similar`: the ``path`` that replaces each merged path.
    """
    roots, count = int(forest.levels[1]), forest.parent.size
    parent, label = forest.parent[roots:], forest.label[roots:]
    run = _collapsed(parent, label) if runs == "collapse" else np.arange(parent.size)
    first = _firsts(parent)
    place = run - np.repeat(run[first[:-1]], np.diff(first))
    lead = _leads(run)
    powers = mix(np.arange(1, int(place.max(initial=0)) + 2, dtype=np.uint64)) | np.uint64(1)
    sequence = np.zeros(count, np.uint64)
    sequence[parent[first[:-1]]] = stretch_sums(mix(label[lead]) * powers[place[lead]], _firsts(parent[lead]))
    sequence = mix(sequence)
    sequence[forest.leaf] = LEAF_STYLE
    if siblings == "label":
        place = _ordinals(parent[lead], label[lead])[run]
    base = np.zeros(count, np.uint64) if siblings == "label" else sequence
    position = np.concatenate((np.zeros(roots, np.int64), place))
    share = np.concatenate((np.ones(roots, np.int64), np.bincount(run)[run]))
    path, weight = _descend(forest, base, position, share, aliases)
    return Paths(path, sequence, base, position, weight)


def step(label: U64, position: NDArray[Any]) -> U64:
    """Return the part of a path that each node adds to its parent's."""
    return combine(label, position.astype(np.uint64))


def _descend(
    forest: Forest, base: U64, position: Ints, share: Ints, aliases: Table | None
) -> tuple[U64, Ints]:
    """Return path and weight of every node, from the roots down."""
    steps = step(forest.label, position)
    path = np.full(base.size, ROOT, np.uint64)
    weight = np.full(base.size, WHOLE, np.int64)
    for a, b in pairwise(forest.levels[1:].tolist()):
        above = forest.parent[a:b]
        here = combine(combine(path[above], base[above]), steps[a:b])
        if aliases is not None and len(aliases):
            row = aliases.find(here)
            here = np.where(row >= 0, aliases.fixed["path"][row], here)
        path[a:b] = here
        np.floor_divide(weight[above], share[a:b], out=weight[a:b])
    return path, weight


def _collapsed(parent: Ints, label: U64) -> Ints:
    """Return the run of each sibling: equal neighbours share one, and repeats of period 2 and 3 share their first."""
    run = np.cumsum(_differs(parent) | _differs(label)) - 1
    for period in range(2, _LONGEST_PERIOD + 1):
        lead = _leads(run)
        run = _folded(parent[lead], label[lead], period)[run]
    return run


def _folded(parent: Ints, label: U64, period: int) -> Ints:
    """Return new run numbers in which sequences that repeat with `period` share the numbers of the first period."""
    new = np.arange(parent.size)
    again = np.zeros(parent.size + 2, np.bool_)
    again[1 : -1 - period] = (parent[period:] == parent[:-period]) & (label[period:] == label[:-period])
    start, stop = np.flatnonzero(again[1:] != again[:-1]).reshape(-1, 2).T
    long = stop - start >= period
    taken = 0
    for a, b in zip(start[long].tolist(), stop[long].tolist(), strict=True):
        a = max(a, taken)
        if b - a >= period:
            taken = b + period
            new[a:taken] = a + np.arange(taken - a) % period
    kept = new == np.arange(new.size)
    return (np.cumsum(kept) - 1)[new]


def _ordinals(parent: Ints, label: U64) -> Ints:
    """Return how many runs with the same label come before each run below the same parent."""
    groups = grouping(combine(parent.astype(np.uint64), label))
    ordinal = np.empty(parent.size, np.int64)
    ordinal[stable_order(groups.code)] = np.arange(parent.size) - np.repeat(
        groups.first[:-1], np.diff(groups.first)
    )
    return ordinal


def _differs(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which entries differ from the one before; True for the first."""
    differs = np.ones(column.size, np.bool_)
    np.not_equal(column[1:], column[:-1], out=differs[1:])
    return differs


def _firsts(parent: Ints) -> Ints:
    """Return where the children of each parent start, then the number of all children."""
    return np.append(np.flatnonzero(_differs(parent)), parent.size)


def _leads(run: Ints) -> Ints:
    """Return the first sibling of each run; runs are numbered in the order in which they start."""
    return np.flatnonzero(_differs(np.maximum.accumulate(run)))


@dataclass(frozen=True, slots=True, eq=False)
class AlignedPages:
    """A batch of pages with its forest, paths and texts, the input of every step of SST and CST."""

    batch: Batch
    forest: Forest
    paths: Paths
    texts: LeafTexts


def known_shares(aligned: AlignedPages, known: Bools) -> list[float | None]:
    """Return the share of each page's words, in [0, 1], that is in `known` (M,) leaves; None without words."""
    words, page, pages = aligned.texts.word_count, aligned.forest.page, len(aligned.batch.pages)
    whole = np.bincount(page, words, pages)
    part = np.bincount(page, words * known, pages)
    return [p / w if w else None for p, w in zip(part.tolist(), whole.tolist(), strict=True)]
