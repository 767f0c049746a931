"""What a method says of each block of a page, and how large the page is that they are shown on.

Imports the columns, the blocks and the Verdict.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import F64, Ints
from domsieve.analysis.columns.page_blocks import PageBlocks, box_around
from domsieve.analysis.records.result import Records
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Snapshot

DROPPED, KEPT, PARTLY = range(3)
# What a page puts beyond is shown at its edge.
_WIDEST_PX, _TALLEST_PX = 10_000.0, 300_000.0


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """What a method says of B blocks.

    Parameters
    ----------
    state : int64 (B,), DROPPED, KEPT, or PARTLY when it keeps some of the texts only.
    score : float32 (B,), that of the voice of the block, as are the others.
    reason : int64 (B,), indices into the reasons of the verdict.
    numbers : float32 (B,) each, by name, NaN where they do not apply.
    """

    state: Ints
    score: NDArray[np.float32]
    reason: Ints
    numbers: dict[str, NDArray[np.float32]]


def judge(blocks: PageBlocks, verdict: Verdict) -> Judgement:
    """Return what `verdict`, of the same page, says of each block."""
    kept = verdict.kept[blocks.node]
    count = np.bincount(blocks.block, minlength=len(blocks))
    share = np.bincount(blocks.block, kept, len(blocks))
    return Judgement(
        state=np.select((share == 0, share == count), (DROPPED, KEPT), PARTLY),
        score=verdict.score[blocks.voice],
        reason=verdict.reason[blocks.voice].astype(np.int64),
        numbers={name: column[blocks.voice] for name, column in verdict.numbers.items()},
    )


def record_boxes(page: Snapshot, records: Records) -> tuple[F64, Ints]:
    """Return the boxes (R, 4) of the records that have one, and the region of each."""
    boxes, regions = [np.zeros((0, 4))], list[int]()
    for record in range(len(records)):
        rows = np.concatenate([page.box[a:b] for a, b in records.pieces_of(record)]).astype(np.float64)
        rows = rows[~np.isnan(rows[:, 0]) & (rows[:, 2] > 0) & (rows[:, 3] > 0)]
        if len(rows):
            boxes.append(box_around(rows, np.array([0, len(rows)])))
            regions.append(int(records.region[record]))
    return np.concatenate(boxes), np.array(regions, np.int64)


def page_extent(page: Snapshot, blocks: PageBlocks) -> tuple[float, float]:
    """Return width and height in CSS px of what is drawn of a page; 0, 0 without layout."""
    if not page.has_layout or not len(page):
        return 0.0, 0.0
    roots = page.box[:8][~np.isnan(page.box[:8, 0])].astype(np.float64)
    width = float(roots[:, 2].max(initial=0)) or 1280.0
    seen = blocks.box[(blocks.hidden == 0) & ~np.isnan(blocks.box[:, 0])]
    bottom = float((seen[:, 1] + seen[:, 3]).max(initial=0))
    height = max(bottom, float((roots[:, 1] + roots[:, 3]).max(initial=0)))
    return min(width, _WIDEST_PX), min(height, _TALLEST_PX)
