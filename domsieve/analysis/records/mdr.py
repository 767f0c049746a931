"""MDR: data regions and data records of one page, by edit distance of tag strings or by simple tree matching.

Liu, Grossman, Zhai: KDD 2003. The tree-matching kind is the one whose totals stand in Table I of the paper on tag
path sequences (Velloso, Dorneles: JIDM 4(3), 2013).

==========================  =============================================================
paper                       here
==========================  =============================================================
K, longest generalized node `max_length`
T, threshold of distance    `threshold`: of the distance over the mean length, or of the
                            similarity of trees
depth of a sub-tree         ``TagTree.height``, the node itself being level 1
==========================  =============================================================

All elements count, not only those of tables and forms; that children are alike is tested on neighbours; the test of
records has the threshold of regions. Imports the parts of record mining.
"""

from collections.abc import Sequence
from itertools import compress
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import F64, Ints
from domsieve.analysis.estimator import Bounds, PageEstimator
from domsieve.analysis.records.data_records import DataRecords
from domsieve.analysis.records.likeness import edit_measure, neighbours, tree_measure
from domsieve.analysis.records.regions import Block, chain_lengths, node_range, to_records, walk
from domsieve.analysis.records.result import Records
from domsieve.analysis.records.tag_tree import TagTree
from domsieve.budget import spending
from domsieve.errors import UsageError
from domsieve.snapshot.page import Snapshot

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
        self._check()
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

    def _check(self) -> None:
        super()._check()
        if self.similarity == "tree" and self.threshold is not None and not 0 < self.threshold <= 1:
            raise UsageError(
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
