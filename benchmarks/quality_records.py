"""How well records are mined: labelled search result pages, and Table I of the paper on tag path sequences.

    python -m benchmarks.quality_records [--data FOLDER] [--half test] [--misses] [--table-1]

FOLDER holds ``records/`` (zhao1, zhao2, yamada) and ``tps/``. Parameters were chosen on the pages of half of the page
folders of each collection (seed 0); the figures are those of the other half. All records of all reported regions
count. ``--misses`` names the pages that the first method does not get right. ``--table-1`` prints instead what MDR
finds before and after the tag path filter, beside what the paper prints in brackets.
"""

import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from analysis import DataRegionMiner, Records, RepeatedPatterns, TagPathFilter, WebObjectBlocks, noise_removed
from benchmarks.scoring import command_line, print_table
from evaluation._corpora.records import (
    LabelledPage,
    correct_records,
    halves,
    read_collection,
    score_records,
)
from evaluation._corpora.selecting import select_nodes
from renderer import parse_html
from snapshot import Snapshot

METHODS: Mapping[str, Callable[[Snapshot], Records]] = {
    "WOBM": WebObjectBlocks().transform,
    "WOBM, all regions": WebObjectBlocks(main_share=0).transform,
    "WOBM paper": WebObjectBlocks.of_mode("paper").transform,
    "MDR (edit)": DataRegionMiner().transform,
    "MDR (edit), tuned": DataRegionMiner(threshold=0.4, max_length=3).transform,
    "MDR (tree)": DataRegionMiner(similarity="tree").transform,
    "IEPAD": RepeatedPatterns().transform,
    "IEPAD, tuned": RepeatedPatterns(least_length=5, least_count=5).transform,
    "IEPAD, all patterns": RepeatedPatterns(choose="all").transform,
}
COLLECTIONS = ("zhao1", "yamada", "zhao2")


@dataclass(frozen=True, slots=True)
class Row:
    """One site of Table I: records and targets found on the raw and on the pruned page; the paper's own."""

    site: str
    raw: int
    raw_targets: int
    pruned: int
    pruned_targets: int
    targets: int
    paper: dict[str, Any]

    @property
    def noise(self) -> float:
        """The share of wrong records that pruning removed, in percent (equation 4)."""
        return 100 * noise_removed(self.raw, self.raw_targets, self.pruned, self.pruned_targets)


def table_1(folder: Path) -> list[Row]:
    """Return the rows of Table I, by the conventions of the program that made it."""
    miner = DataRegionMiner(similarity="tree", include_text=True, records="whole")
    prune = TagPathFilter(mode="paper")
    sites = [site for site in json.loads((folder / "targets.json").read_text("utf-8")) if "table_i" in site]
    rows = []
    with zipfile.ZipFile(folder / "pages.zip") as pages:
        for site in sites:
            page = parse_html(pages.read(site["file"]), url=site["file"])
            truth = select_nodes(page, site["record_xpath"])
            found = [miner.on(page), miner.on(page, kept=prune.transform(page).kept)]
            (raw, raw_targets), (pruned, pruned_targets) = (
                (len(records), sum(correct_records(records, truth))) for records in found
            )
            rows.append(
                Row(site["site"], raw, raw_targets, pruned, pruned_targets, site["targets"], site["table_i"])
            )
    return rows


def print_table_1(rows: list[Row]) -> None:
    print("| site | raw | targets | pruned | targets | there are | noise removed % |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        p = row.paper
        cells = [
            row.site,
            f"{row.raw} ({p['mdr_total_raw']})",
            f"{row.raw_targets} ({p['targets_raw']})",
            f"{row.pruned} ({p['mdr_total_pruned']})",
            f"{row.pruned_targets} ({p['targets_pruned']})",
            str(row.targets),
            f"{row.noise:.2f}" if p["content_present"] else "N/A",
        ]
        print("| " + " | ".join(cells) + " |")
    present = [row.noise for row in rows if row.paper["content_present"]]
    print(f"\nmean noise removed over {len(present)} sites: {fmean(present):.2f} (77.03)")


def print_misses(pages: list[LabelledPage], mine: Callable[[Snapshot], Records]) -> None:
    for page in pages:
        flags = correct_records(mine(page.snapshot), page.truth)
        if not sum(flags) == len(flags) == page.truth.size:
            print(f"{page.name}: {sum(flags)} correct of {len(flags)} found, {page.truth.size} true")


def main() -> None:
    parser = command_line(__doc__, data="")
    parser.add_argument("--half", choices=("development", "test"), default="test")
    parser.add_argument("--misses", action="store_true", help="name the pages that WOBM does not get right")
    parser.add_argument("--table-1", action="store_true", help="MDR before and after the tag path filter")
    arguments = parser.parse_args()
    if arguments.table_1:
        print_table_1(table_1(arguments.data / "tps"))
        return
    for name in COLLECTIONS:
        pages = halves(read_collection(arguments.data / "records" / name))[arguments.half == "test"]
        print(
            f"\n{name}, {arguments.half} half, {len(pages)} pages, {sum(p.truth.size for p in pages)} records\n"
        )
        rows = [(method, score_records(pages, mine).figures()) for method, mine in METHODS.items()]
        print_table(["method", "P", "R", "F1", "perfect"], rows)
        if arguments.misses:
            print_misses(pages, METHODS["WOBM"])


if __name__ == "__main__":
    main()
