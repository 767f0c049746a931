"""Table I of the tag path sequence paper, on the pages of its authors."""

import json
import os
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis._cleaning.tps import TagPathFilter, paper_sequence
from analysis._columns.batch import Batch
from evaluation._corpora.selecting import select_nodes
from renderer import parse_html

pytestmark = pytest.mark.data


@dataclass(frozen=True, slots=True)
class Row:
    """One site: what we get and what the paper prints; sizes in nodes, reductions in percent."""

    site: str
    raw: int
    pruned: int
    present: bool
    paper_raw: int
    paper_pruned: int
    paper_present: bool

    @property
    def reduction(self) -> float:
        return 100 * (1 - self.pruned / self.raw)

    @property
    def paper_reduction(self) -> float:
        return 100 * (1 - self.paper_pruned / self.paper_raw)


@cache
def table() -> tuple[Row, ...]:
    folder = Path(os.environ.get("DOMSIEVE_DATA", "")) / "tps"
    if not (folder / "pages.zip").is_file():
        pytest.skip("DOMSIEVE_DATA names no folder with tps/pages.zip")
    sites = [s for s in json.loads((folder / "targets.json").read_text("utf-8")) if "table_i" in s]
    with zipfile.ZipFile(folder / "pages.zip") as pages:
        return tuple(measured(site, pages.read(site["file"])) for site in sites)


def measured(site: dict[str, Any], source: bytes) -> Row:
    page = parse_html(source, url=site["file"])
    counted = np.zeros(len(page), np.bool_)
    counted[paper_sequence(Batch.of([page]))[0]] = True
    kept = TagPathFilter(mode="paper").transform(page).kept & counted
    total, remaining = (np.concatenate(([0], np.cumsum(mask))) for mask in (counted, kept))
    stay = [
        2 * (remaining[page.end[t]] - remaining[t]) > total[page.end[t]] - total[t]
        for t in select_nodes(page, site["record_xpath"])
    ]
    assert len(stay) == site["count_lxml"]
    return Row(
        site["site"],
        int(counted.sum()) + 1,  # the paper counts `html` too
        int(kept.sum()) + 1,
        sum(stay) >= 0.9 * len(stay),
        site["table_i"]["dom_raw"],
        site["table_i"]["dom_pruned"],
        site["table_i"]["content_present"],
    )


def test_reduction_is_within_5_points_on_22_of_23_sites() -> None:
    rows = table()
    for row in rows:
        print(
            f"{row.site:14} raw {row.raw:5} ({row.paper_raw:5})  pruned {row.pruned:5} ({row.paper_pruned:5})"
            f"  reduction {row.reduction:5.2f} ({row.paper_reduction:5.2f})"
            f"  present {row.present} ({row.paper_present})"
        )
    near = [row for row in rows if abs(row.reduction - row.paper_reduction) <= 5]
    mean = sum(row.reduction for row in rows) / len(rows)
    print(f"within 5 points: {len(near)} of {len(rows)}; mean reduction {mean:.2f} (46.22)")
    assert len(rows) == 23
    assert len(near) >= 22


def test_sizes_equal_the_printed_ones_on_15_sites() -> None:
    assert sum(row.pruned == row.paper_pruned for row in table()) >= 15


def test_content_is_present_where_the_paper_says_so() -> None:
    assert [(row.site, row.present) for row in table()] == [(row.site, row.paper_present) for row in table()]
