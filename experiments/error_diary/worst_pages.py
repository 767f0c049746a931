"""The pages on which a method does worst, each with a report that shows every method and the truth beside them.

Reports hold the texts of the pages, so they go below the folder of the results and nowhere else.
"""

import heapq
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from domsieve.analysis.columns.hiding import HIDING_REASONS
from domsieve.analysis.report.document import ReportPart, write_report
from domsieve.analysis.report.view import Recurrences, page_view
from domsieve.analysis.verdict import Verdict
from experiments.error_diary.page_errors import JudgedPage

MOST = 10
_TRUTH = "truth"


class WorstPages:
    """The `MOST` pages of the lowest F1 of those added.

    Parameters
    ----------
    folder : where their reports go.
    start : the method that F1 is of, and that reports open with.
    """

    def __init__(self, folder: Path, *, start: str) -> None:
        self._folder = folder
        self._start = start
        self._added = 0
        self._worst: list[tuple[float, int, int, JudgedPage, Mapping[str, Verdict]]] = []

    def add(self, f: float, page: JudgedPage, verdicts: Mapping[str, Verdict]) -> None:
        """Hold a page if it is among the worst so far; of equal ones the longest truths."""
        self._added += 1
        heapq.heappush(self._worst, (-f, int(page.words.truth.sum()), -self._added, page, verdicts))
        if len(self._worst) > MOST:
            heapq.heappop(self._worst)

    def write(self) -> None:
        """Write a report per page, named by rank, the worst first."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for old in self._folder.glob("*.html"):
            old.unlink()
        ranked = sorted(self._worst, reverse=True, key=lambda one: one[:3])
        for rank, (_, _, _, page, verdicts) in enumerate(ranked, 1):
            name = page.page.name.replace("/", "_").removesuffix(".html")
            report = write_report([_part(page, verdicts)], partial(self._index, page))
            (self._folder / f"{rank:02d}-{name}.html").write_bytes(b"".join(report))

    def _index(self, page: JudgedPage) -> dict[str, object]:
        entry = {
            "number": 0,
            "site": 0,
            "editions": {"raw": "page"},
            "words": {"raw": {}},
            "problems": list(page.page.snapshot.provenance.reasons),
        }
        return {
            "labels": [page.page.name],
            "pages": [entry],
            "sites": [{"name": page.page.name, "known": 1, "editions": {"raw": {}}}],
            "hiding": HIDING_REASONS,
            "start": self._start,
        }


def _part(page: JudgedPage, verdicts: Mapping[str, Verdict]) -> ReportPart:
    view = page_view(
        page.page.snapshot,
        page.blocks,
        {_TRUTH: _truth(page), **verdicts},
        records={},
        recurrences=Recurrences(),
        number=0,
        places=None,
    )
    return ReportPart(name="page", data=view)


def _truth(page: JudgedPage) -> Verdict:
    """Return the content as if a method had found it."""
    kept = np.zeros(len(page.page.snapshot), np.bool_)
    of_block = np.zeros(len(page.blocks), np.bool_)
    of_block[page.chosen] = page.content
    kept[page.blocks.node] = of_block[page.blocks.block]
    return Verdict(_TRUTH, kept, kept.astype(np.float32), kept.astype(np.uint8), ("noise", "content"))
