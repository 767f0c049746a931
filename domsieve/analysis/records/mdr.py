"""MDR: data regions and data records of one page, by edit distance of tag strings or by simple tree matching."""

from collections.abc import Sequence
from itertools import compress
from types import MappingProxyType
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import F64, Bools, Ints
from domsieve.analysis.estimator import Bounds, PageEstimator
from domsieve.analysis.records._regions import (
    Block,
    Measure,
    chain_lengths,
    edit_measure,
    group_pairs,
    neighbours,
    node_range,
    to_records,
    tree_measure,
    walk,
)
from domsieve.analysis.records._tag_tree import Range, TagTree
from domsieve.analysis.records.result import Records
from domsieve.budget import spending
from domsieve.errors import ParameterError
from domsieve.snapshot.page import Snapshot

Pieces = list[Range]


class DataRecords:
    """Finds the records in the regions of one page.

    Parameters
    ----------
    page, tree : the page and its tag tree of M nodes.
    near : (M,), distance of each subtree from its next sibling, infinite if they are not similar.
    measure : the measure that `near` was computed with.
    covered : bool (M,), positions of ``tree.child`` in a region.
    """

    def __init__(self, page: Snapshot, tree: TagTree, *, near: F64, measure: Measure, covered: Bools) -> None:
        self._page, self._tree, self._measure = page, tree, measure
        self._far_before = np.concatenate(([0], np.cumsum(~np.isfinite(near))))
        self._is_row = np.array([name == "tr" for name in page.tags])[page.tag[tree.node]]
        self._free = ~covered

    def of(self, block: Block) -> list[Pieces]:
        """Return the records of a region as lists of node ranges; the majority of groups decides how all are split.

        Adjacent siblings outside of any region are added to the first region that finds records in them.
        """
        inner = [[self._children(p) for p in range(*group)] for group in block.groups]
        if block.length == 1:
            rows = self._is_row[self._tree.child[block.first : block.stop]].tolist()
            split = [self._are_alike(part) and not row for (part,), row in zip(inner, rows, strict=True)]
        else:
            split = [self._are_columns(parts) for parts in inner]
        if 2 * sum(split) <= len(split):
            return [[self._nodes(group)] for group in block.groups]
        if block.length == 1:
            return self._of_single_nodes(block)
        records: list[Pieces] = []
        for group, parts, columns in zip(block.groups, inner, split, strict=True):
            # Non-contiguous records of the paper: the q-th children of all components belong together.
            count = parts[0][1] - parts[0][0] if columns else 0
            records += [[self._nodes((p + q, p + q + 1)) for p, _ in parts] for q in range(count)]
            records += [] if columns else [[self._nodes(group)]]
        return records

    def _of_single_nodes(self, block: Block) -> list[Pieces]:
        """Return the children of the groups, and those children of free siblings that are similar to one of them."""
        cells = [cell for p in range(block.first, block.stop) for cell in self._cells(p)]
        free = [*self._free_stretch(block.first - 1, -1), *self._free_stretch(block.stop, 1)]
        outside = [(p, (q, q + 1)) for p in free for q in range(*self._children(p))]
        if outside:
            pairs = group_pairs(self._tree, [cell for _, cell in outside], cells[:1] * len(outside))
            for (p, cell), distance in zip(outside, self._measure(pairs).tolist(), strict=True):
                if np.isfinite(distance):
                    cells.append(cell)
                    self._free[p] = False
        return [[piece] for piece in sorted(map(self._nodes, cells))]

    def _free_stretch(self, position: int, step: int) -> list[int]:
        """Return the siblings from `position` up to the next one in a region, in steps of 1 or -1."""
        stretch = []
        low, high = self._children_of(int(self._tree.parent[self._tree.child[position - step]]))
        while low <= position < high and self._free[position]:
            stretch.append(position)
            position += step
        return stretch

    def _cells(self, position: int) -> list[Range]:
        """Return the children of a group of one node, or the group itself if there are none."""
        return [(p, p + 1) for p in range(*self._children(position))] or [(position, position + 1)]

    def _are_columns(self, components: list[Range]) -> bool:
        counts = {stop - start for start, stop in components}
        return len(counts) == 1 and all(map(self._are_alike, components))

    def _are_alike(self, siblings: Range) -> bool:
        """Return whether there are at least two siblings and all neighbours among them are similar."""
        start, stop = siblings
        return stop - start > 1 and bool(self._far_before[stop - 1] == self._far_before[start])

    def _children(self, position: int) -> Range:
        return self._children_of(int(self._tree.child[position]))

    def _children_of(self, parent: int) -> Range:
        first = self._tree.first
        return (int(first[parent]), int(first[parent + 1])) if parent >= 0 else (0, int(first[0]))

    def _nodes(self, group: Range) -> Range:
        return node_range(self._page, self._tree, group)


_THRESHOLDS = {"edit": 0.3, "tree": 0.8}


class DataRegionMiner(PageEstimator[Records]):
    """Finds data regions (two or more similar, adjacent groups of siblings) and the records in them.

    The `numbers` of a region have ``distance``, the mean distance of its neighbouring groups.

    Parameters
    ----------
    similarity : ``"edit"``: edit distance of tag strings over their mean length. ``"tree"``: matching nodes over
        the nodes of the larger group.
    threshold : maximum distance for ``"edit"``, minimum similarity in (0, 1] for ``"tree"``. None is 0.3 or 0.8.
    max_length : maximum number of siblings in a group, at least 1. Long groups absorb siblings that differ; groups
        of 1 or 2 do not.
    min_depth : minimum number of levels of a subtree that can contain a region.
    include_text : text that is not blank makes nodes of the tree, as in Table I.
    records : ``"parts"``: the rules of the paper, by which the children of groups can be records, a record can have
        several pieces, and adjacent siblings can belong to a region. ``"whole"``: groups are records, as in Table I;
        a group that is itself a region of shorter groups is divided, and nodes without children are not records.
    """

    name = "mdr"

    schema_rules = MappingProxyType(
        {
            "if": {"properties": {"similarity": {"const": "tree"}}, "required": ["similarity"]},
            "then": {"properties": {"threshold": {"exclusiveMinimum": 0, "maximum": 1}}},
        }
    )

    def __init__(
        self,
        *,
        similarity: Literal["edit", "tree"] = "edit",
        threshold: Annotated[float, Bounds(0)] | None = None,
        max_length: Annotated[int, Bounds(1)] = 10,
        min_depth: Annotated[int, Bounds(0)] = 3,
        include_text: bool = False,
        records: Literal["parts", "whole"] = "parts",
    ) -> None:
        self.similarity = similarity
        self.threshold = threshold
        self.max_length = max_length
        self.min_depth = min_depth
        self.include_text = include_text
        self.records = records

    def on(self, page: Snapshot, *, kept: NDArray[np.bool_] | None = None) -> Records:
        """Return the records of a page.

        Parameters
        ----------
        page : a page of N nodes.
        kept : bool (N,), the nodes to consider, such as those a `Verdict` keeps; None for all.

        Raises
        ------
        UsageError : a parameter has an invalid value.
        BudgetError : the page exceeded its budget.
        """
        self.check()
        with spending(self.name, page.provenance.url):
            return self._find(page, kept)

    def _find(self, page: Snapshot, kept: NDArray[np.bool_] | None) -> Records:
        threshold = _THRESHOLDS[self.similarity] if self.threshold is None else self.threshold
        tree = TagTree.of(page, kept=kept, with_text=self.include_text)
        if self.similarity == "edit":
            measure = edit_measure(tree, threshold=threshold, mean=True)
        else:
            measure = tree_measure(tree, threshold=threshold)
        deep = tree.height >= self.min_depth
        near = neighbours(tree, measure, self.max_length, wanted=deep)
        above = tree.parent[tree.child]
        searched = [np.where((above < 0) | deep[above], distance, np.inf) for distance in near]
        regions = Regions(searched)
        blocks = walk(tree, searched, regions.among)
        distances = [_mean_distance(near, block) for block in blocks]
        if self.records == "parts":
            covered = np.zeros(len(tree), np.bool_)
            for block in blocks:
                covered[block.first : block.stop] = True
            parts = DataRecords(page, tree, near=near[0], measure=measure, covered=covered)
            pieces = [parts.of(block) for block in blocks]
        else:
            blocks = [regions.regrouped(block) for block in blocks]
            whole = [b.length > 1 or tree.height[tree.child[b.first]] > 1 for b in blocks]
            blocks, distances = list(compress(blocks, whole)), list(compress(distances, whole))
            pieces = [[[node_range(page, tree, group)] for group in block.groups] for block in blocks]
        numbers = {"distance": distances}
        parameters = self.scalars()
        return to_records(
            self.name, page, tree, blocks, pieces=pieces, numbers=numbers, parameters=parameters
        )

    def _result(self, page: Snapshot) -> Records:
        return self.on(page)

    def check(self) -> None:
        """Check the values of all parameters, by themselves and together; see `Estimator.check`."""
        super().check()
        if self.similarity == "tree" and self.threshold is not None and not 0 < self.threshold <= 1:
            raise ParameterError(
                f'{type(self).__name__}: threshold is {self.threshold}; with similarity="tree" it may be a number '
                "above 0 and at most 1 or None.",
                parameter="threshold",
            )


class Regions:
    """Algorithm IdentDRs of the paper for one page.

    Parameters
    ----------
    near : distances (M,) of neighbouring groups by length, see `neighbours`.
    """

    def __init__(self, near: Sequence[F64]) -> None:
        self._next = [_next_like(distance, j).tolist() for j, distance in enumerate(near, 1)]
        self._stop = [_chain_stops(distance, j).tolist() for j, distance in enumerate(near, 1)]

    def among(self, low: int, high: int) -> list[Block]:
        """Return the regions among the siblings at positions ``low .. high``."""
        regions: list[Block] = []
        while low < high:
            length = first = covered = 0
            for i, (following, stops) in enumerate(zip(self._next, self._stop, strict=True), 1):
                for phase in range(low, min(low + i, high)):
                    start = following[phase]
                    if start >= high or (covered and start > first):
                        continue
                    size = min(
                        stops[start] - start, (high - start) // i * i
                    )  # groups may continue after `high`
                    if size >= 2 * i and size > covered:
                        length, first, covered = i, start, size
            if not covered:
                break
            regions.append(Block.adjacent(length, first, covered))
            low = first + covered
        return regions

    def regrouped(self, block: Block) -> Block:
        """Return the region in shorter groups, if one of its groups is exactly one region of shorter groups."""
        for low, high in block.groups if block.length > 1 else ():
            inner = self.among(low, high)
            if len(inner) == 1 and inner[0].length < block.length:
                covered = block.stop - block.first
                return Block.adjacent(inner[0].length, block.first, covered - covered % inner[0].length)
        return block


def _next_like(distance: F64, step: int) -> Ints:
    """Return, for each position p, the first of p, p + step, … whose group is similar to the next group."""
    none = distance.size
    at = np.where(np.isfinite(distance), np.arange(none), none)
    for phase in range(min(step, none)):
        at[phase::step] = np.minimum.accumulate(at[phase::step][::-1])[::-1]
    return at


def _chain_stops(distance: F64, step: int) -> Ints:
    """Return, for each position, where the chain that starts there stops; the position itself if there is none."""
    runs = chain_lengths(np.isfinite(distance), step)
    return np.arange(distance.size) + np.where(runs > 0, (runs + 1) * step, 0)


def _mean_distance(near: Sequence[F64], block: Block) -> float:
    return float(near[block.length - 1][[start for start, _ in block.groups[:-1]]].mean())
