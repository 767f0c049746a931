"""Which parts of the generalized nodes of a data region are its records (Liu, Grossman, Zhai: KDD 2003).

Imports the tag tree and the measures.
"""

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools
from domsieve.analysis.records.likeness import Measure, group_pairs
from domsieve.analysis.records.regions import Block, node_range
from domsieve.analysis.records.tag_tree import Range, TagTree
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
