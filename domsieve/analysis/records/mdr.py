"""MDR: data regions and data records of one page, by edit distance of tag strings or by simple tree matching."""

from collections.abc import Sequence
from itertools import compress
from types import MappingProxyType
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import F64, Bools, Ints
from domsieve.analysis.estimator import Bounds, PageEstimator
from domsieve.analysis.records.regions import (
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
from domsieve.analysis.records.result import Records
from domsieve.analysis.records.tag_tree import Range, TagTree
from domsieve.budget import spending
from domsieve.errors import ParameterError
from domsieve.snapshot.page import Snapshot

Pieces = list[Range]


class DataRecords:
    """Tells the records of the regions of one page.

    Parameters
    ----------
    page, tree : the page in two views.
    near : distance of each subtree from its next sibling, infinite where they are not alike.
    measure : the measure behind `near`.
    covered : (M,), positions of ``tree.child`` that lie in a region.
    """

    def __init__(self, page: Snapshot, tree: TagTree, *, near: F64, measure: Measure, covered: Bools) -> None:
        self._page, self._tree, self._measure = page, tree, measure
        self._far_before = np.concatenate(([0], np.cumsum(~np.isfinite(near))))
        self._is_row = np.array([name == "tr" for name in page.tags])[page.tag[tree.node]]
        self._free = ~covered

    def of(self, block: Block) -> list[Pieces]:
        """Return the records of a region as their node ranges; all groups are treated as most of them ask.

        Siblings in no region are given to the first region beside them that finds records in them.
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
            # Non-contiguous records: the q-th children of all components belong together.
            count = parts[0][1] - parts[0][0] if columns else 0
            records += [[self._nodes((p + q, p + q + 1)) for p, _ in parts] for q in range(count)]
            records += [] if columns else [[self._nodes(group)]]
        return records

    def _of_single_nodes(self, block: Block) -> list[Pieces]:
        """Return the children of the groups, with those of free siblings that are like one of them."""
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
        """Return the siblings from a position on that are in no region, up to the next one that is."""
        found = []
        low, high = self._children_of(int(self._tree.parent[self._tree.child[position - step]]))
        while low <= position < high and self._free[position]:
            found.append(position)
            position += step
        return found

    def _cells(self, position: int) -> list[Range]:
        """Return the children of a group of one node, or the group where it has none."""
        return [(p, p + 1) for p in range(*self._children(position))] or [(position, position + 1)]

    def _are_columns(self, components: list[Range]) -> bool:
        counts = {stop - start for start, stop in components}
        return len(counts) == 1 and all(map(self._are_alike, components))

    def _are_alike(self, siblings: Range) -> bool:
        """Return whether there are two or more siblings and all neighbours among them are alike."""
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
    """Finds data regions, two or more adjacent like groups of siblings, and the records in them.

    Figure of a region: ``distance``, the mean of its neighbouring groups.

    Parameters
    ----------
    similarity : ``"edit"``: edit distance of tag strings over their mean length; ``"tree"``: matching nodes over
        the nodes of the larger group.
    threshold : largest distance for ``"edit"``, least similarity in (0, 1] for ``"tree"``. None: 0.3 and 0.8.
    max_length : most siblings of a group, at least 1. Long groups absorb odd neighbours; 1 or 2 do not.
    min_depth : fewest levels of a subtree that can hold a region.
    include_text : whether text that is not blank makes nodes; Table I counts them.
    records : ``"parts"``: by the paper's rules the children of groups can be records, several pieces one record, and
        siblings beside a region hold more. ``"whole"``: groups are records, cut into shorter groups where one of
        them is a region of these, and nodes without children are none; so Table I counts them.
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
        """Return the records among the nodes `kept` (N,) of a page, such as a `Verdict` names; None for all.

        Raises
        ------
        UsageError : a parameter is not what it may be.
        """
        self.check()
        with spending(self.name, page.provenance.url):
            return self._found(page, kept)

    def _found(self, page: Snapshot, kept: NDArray[np.bool_] | None) -> Records:
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
    """IdentDRs on the distances of one page, as `neighbours` gives them by length."""

    def __init__(self, near: Sequence[F64]) -> None:
        self._next = [_next_like(distance, j).tolist() for j, distance in enumerate(near, 1)]
        self._stop = [_chain_stops(distance, j).tolist() for j, distance in enumerate(near, 1)]

    def among(self, low: int, high: int) -> list[Block]:
        """Return the regions of the siblings at positions `low` to `high`."""
        found: list[Block] = []
        while low < high:
            length = first = covered = 0
            for i, (following, stops) in enumerate(zip(self._next, self._stop, strict=True), 1):
                for phase in range(low, min(low + i, high)):
                    start = following[phase]
                    if start >= high or (covered and start > first):
                        continue
                    size = min(
                        stops[start] - start, (high - start) // i * i
                    )  # where groups go on behind `high`
                    if size >= 2 * i and size > covered:
                        length, first, covered = i, start, size
            if not covered:
                break
            found.append(Block.adjacent(length, first, covered))
            low = first + covered
        return found

    def regrouped(self, block: Block) -> Block:
        """Return a region in shorter groups where a group of it is a region of these and holds no other one."""
        for low, high in block.groups if block.length > 1 else ():
            inner = self.among(low, high)
            if len(inner) == 1 and inner[0].length < block.length:
                covered = block.stop - block.first
                return Block.adjacent(inner[0].length, block.first, covered - covered % inner[0].length)
        return block


def _next_like(distance: F64, step: int) -> Ints:
    """Return for each position the first one of its phase, itself included, whose group is like its next one."""
    none = distance.size
    at = np.where(np.isfinite(distance), np.arange(none), none)
    for phase in range(min(step, none)):
        at[phase::step] = np.minimum.accumulate(at[phase::step][::-1])[::-1]
    return at


def _chain_stops(distance: F64, step: int) -> Ints:
    """Return for each position where the chain that starts there stops; its own position where none does."""
    runs = chain_lengths(np.isfinite(distance), step)
    return np.arange(distance.size) + np.where(runs > 0, (runs + 1) * step, 0)


def _mean_distance(near: Sequence[F64], block: Block) -> float:
    return float(near[block.length - 1][[start for start, _ in block.groups[:-1]]].mean())
