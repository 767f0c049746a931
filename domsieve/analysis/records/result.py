"""The result of all record miners: regions of a page, and the records in them as node ranges."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Ints
from domsieve.snapshot.page import Scalar


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """R records in G regions of one page of N nodes. All arrays are int64 and read-only.

    A record has one or more pieces, each a range of nodes ``first .. stop`` in document order; a subtree is the range
    ``node .. end[node]``. The records of a region are in document order of their first piece.

    Parameters
    ----------
    method : name of the method, such as ``"wobm"``.
    parent : (G,), node whose children (or, for token patterns, whose subtree) contain the region.
    span : (G, 2), node range of the whole region.
    length : (G,), siblings per generalized node; for token patterns, tokens per occurrence.
    region : (R,), the region of each record, ascending.
    start : (R + 1,), record i has the pieces ``start[i] .. start[i + 1]``.
    pieces : (K, 2), node ranges; those of one record are ascending and do not overlap.
    numbers : figures of the regions by name, float64 (G,) each, such as their mean distance.
    parameters : parameters of the method that shaped the result.

    Raises
    ------
    ValueError : the shapes do not fit together.
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
            raise ValueError("The columns of the regions must have one entry per region.")
        if any(column.shape != (regions,) for column in self.numbers.values()):
            raise ValueError("The numbers of the regions must have one entry per region.")
        if self.start.shape != (records + 1,) or self.start[-1] != len(self.pieces):
            raise ValueError("The column start does not match the numbers of records and pieces.")
        for column in (self.parent, self.span, self.length, self.region, self.start, self.pieces):
            column.flags.writeable = False
        for figure in self.numbers.values():
            figure.flags.writeable = False

    def __len__(self) -> int:
        return int(self.region.size)

    def pieces_of(self, record: int) -> list[tuple[int, int]]:
        """Return the node ranges of record number `record`."""
        return [(int(a), int(b)) for a, b in self.pieces[self.start[record] : self.start[record + 1]]]
