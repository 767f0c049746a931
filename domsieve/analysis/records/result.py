"""The one result of every record miner: regions of a page, and the records in them as node ranges.

Writers, field alignment and scores are written once against this type. Imports the Snapshot and the columns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Ints
from domsieve.snapshot.page import Scalar


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """R records in G regions of one page of N nodes. All arrays are int64 and read-only.

    A record is one or more pieces, each a range of nodes ``first .. last + 1`` in document order; a subtree is the
    range ``node .. end[node]``. Records of one region follow each other in document order of their first piece.

    Parameters
    ----------
    method : the method's name, such as ``"wobm"``.
    parent : (G,), node whose children (or, for token patterns, whose subtree) hold the region.
    span : (G, 2), the node range from the first node of the region to behind its last.
    length : (G,), sibling nodes per generalized node; for token patterns, tokens per occurrence.
    region : (R,), the region of each record, ascending.
    start : (R + 1,), record i has the pieces ``start[i] .. start[i + 1]``.
    pieces : (K, 2), node ranges; those of one record ascend and do not overlap.
    numbers : float64 (G,) each, by name: figures of the regions, such as their mean distance.
    parameters : every option that shaped the result.
    """

    method: str
    parent: Ints
    span: Ints
    length: Ints
    region: Ints
    start: Ints
    pieces: Ints
    numbers: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    parameters: Mapping[str, Scalar] = field(default_factory=dict)

    def __post_init__(self) -> None:
        regions, records = self.parent.size, self.region.size
        if self.span.shape != (regions, 2) or self.length.shape != (regions,):
            raise ValueError("Every column of the regions has one entry per region.")
        if any(column.shape != (regions,) for column in self.numbers.values()):
            raise ValueError("Every figure of the regions has one entry per region.")
        if self.start.shape != (records + 1,) or self.start[-1] != len(self.pieces):
            raise ValueError("The record starts do not fit the records and their pieces.")
        for column in (self.parent, self.span, self.length, self.region, self.start, self.pieces):
            column.flags.writeable = False
        for figure in self.numbers.values():
            figure.flags.writeable = False

    def __len__(self) -> int:
        return int(self.region.size)

    def pieces_of(self, record: int) -> list[tuple[int, int]]:
        """Return the node ranges of a record."""
        return [(int(a), int(b)) for a, b in self.pieces[self.start[record] : self.start[record + 1]]]
