"""Mining of records: web object blocks against IEPAD and MDR on labelled result pages."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

from analysis import DataRegionMiner, Records, RepeatedPatterns, WebObjectBlocks
from evaluation._corpora.records import halves, read_collection, score_records
from evaluation._experiment import Experiment, Inputs, Row, Task
from evaluation._tables import Table
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
SEED = 0

PREFACE = """\
Search result pages of 2003 to 2005 with labelled records, trees of html5lib. A record is correct when it holds
exactly one true record that none before it held. Parameters were chosen on half of the page folders (seed 0); the
figures are those of the other half.
"""


def tasks(inputs: Inputs) -> list[Task]:
    """Return a task per collection."""
    folder = inputs.data / "records"
    return [
        Task(name, partial(measure, folder / name), (folder / name,), {"seed": SEED, "half": "test"})
        for name in COLLECTIONS
    ]


def measure(folder: Path) -> list[Row]:
    """Return a row per method on the test half of a collection."""
    pages = halves(read_collection(folder), seed=SEED)[1]
    return [
        {"collection": folder.name, "method": method, **score_records(pages, mine).figures()}
        for method, mine in METHODS.items()
    ]


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return a table per collection."""
    return [
        Table(
            name,
            ("method", "P", "R", "F1", "perfect"),
            [[r["method"], r["P"], r["R"], r["F1"], r["perfect"]] for r in group],
        )
        for name, group in groupby(rows, key=lambda row: str(row["collection"]))
    ]


RECORDS = Experiment(
    "records",
    "Records of result pages: WOBM, IEPAD and MDR",
    ("records",),
    tasks,
    tables,
    None,
    PREFACE,
    packages=("html5lib",),
)
