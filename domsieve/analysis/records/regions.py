"""Regions of like sibling groups, found from the top of a page down, and their way into `Records`.

What WOBM and MDR share: chains of neighbouring groups, the walk that leaves what a
region covers alone, and the result. Imports the tag tree and the result type.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools, Ints
from domsieve.analysis.records.result import Records
from domsieve.analysis.records.tag_tree import Range, TagTree
from domsieve.budget import check
from domsieve.snapshot.page import Scalar, Snapshot


@dataclass(frozen=True, slots=True)
class Block:
    """A region of one parent: its groups as ranges of positions of ``TagTree.child``, ascending.

    A group has `length` siblings, but the last one may have fewer, and those of a definition list have about as
    many. Behind the groups of the papers no sibling is left out; elsewhere some may.
    """

    length: int
    groups: tuple[Range, ...]
    cells: tuple[Range, ...] = ()

    @property
    def records(self) -> tuple[Range, ...]:
        """The groups, or their `cells`: children of the groups that are the records instead."""
        return self.cells or self.groups

    @classmethod
    def adjacent(cls, length: int, first: int, covered: int) -> "Block":
        """Return the region of groups of equal length without gaps, `covered` siblings from `first` on."""
        return cls(length, tuple((p, p + length) for p in range(first, first + covered, length)))

    @property
    def first(self) -> int:
        """Position of the first sibling."""
        return self.groups[0][0]

    @property
    def stop(self) -> int:
        """Position behind the last sibling."""
        return self.groups[-1][1]


def chain_lengths(alike: Bools, step: int) -> Ints:
    """Return how many groups of `step` siblings in a row are like their next one, from each position on."""
    lengths = np.zeros(alike.size, np.int64)
    for phase in range(min(step, alike.size)):
        part = alike[phase::step]
        here = np.arange(part.size)
        stop = np.where(part, part.size, here)
        lengths[phase::step] = np.minimum.accumulate(stop[::-1])[::-1] - here
    return lengths


def walk(tree: TagTree, near: Sequence[F64], find: Callable[[int, int], Sequence[Block]]) -> list[Block]:
    """Return the regions of a page, parents in document order.

    `find` gets the range of positions of the children of one parent and returns its regions in order; what their
    groups hold is not searched again (overlap principle of WOBM; FindDRs of MDR does the same).
    """
    some = np.any([np.isfinite(distance) for distance in near], axis=0)
    covered = np.zeros(len(tree) + 1, np.bool_)  # the last entry stands for the parent -1
    found: list[Block] = []
    for parent in np.unique(tree.parent[tree.child[some]]).tolist():
        check()
        if covered[parent]:
            continue
        low, high = (tree.first[parent], tree.first[parent + 1]) if parent >= 0 else (0, tree.first[0])
        for block in find(int(low), int(high)):
            found.append(block)
            for start, stop in block.groups:
                covered[tree.child[start] : tree.end[tree.child[stop - 1]]] = True
    return found


def node_range(page: Snapshot, tree: TagTree, group: Range) -> Range:
    """Return the nodes of the Snapshot that a group of siblings holds, with all below them."""
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
    """Return the result of a method; ``pieces[g]`` holds the records of region g, each as its node ranges."""
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
