"""Records of pages by a named method, as tables or lines."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from domsieve.analysis import (
    DataRegionMiner,
    Records,
    RecordSheet,
    RepeatedPatterns,
    TagPathFilter,
    WebObjectBlocks,
    write_records_csv,
    write_records_jsonl,
    write_records_parquet,
)
from domsieve.errors import DomsieveError
from domsieve.snapshot import Snapshot
from domsieve.tasks.pages import Page

MiningMethod = Literal["wobm", "mdr", "iepad", "tps+mdr"]
RecordFormat = Literal["csv", "jsonl", "parquet"]


def _mdr_behind_tps(page: Snapshot) -> Records:
    miner = DataRegionMiner(similarity="tree")
    found = miner.on(page, kept=TagPathFilter().transform(page).kept)
    return replace(found, method="tps+mdr")


MINERS: Mapping[MiningMethod, Callable[[Snapshot], Records]] = {
    "wobm": lambda page: WebObjectBlocks().transform(page),
    "mdr": lambda page: DataRegionMiner().transform(page),
    "iepad": lambda page: RepeatedPatterns().transform(page),
    "tps+mdr": _mdr_behind_tps,
}
RECORD_WRITERS: Mapping[RecordFormat, Callable[[Sequence[RecordSheet]], bytes]] = {
    "csv": write_records_csv,
    "jsonl": write_records_jsonl,
    "parquet": write_records_parquet,
}


def mine(
    pages: Sequence[Page], *, method: MiningMethod = "wobm"
) -> Iterator[tuple[Page, RecordSheet | DomsieveError]]:
    """Yield each page with its records or the error of reading it, in the order of `pages`.

    ``"tps+mdr"`` looks for data records by tree matching in what the tag path filter keeps, as its paper does.
    """
    for page in pages:
        try:
            snapshot = page.load()
            yield page, RecordSheet.of(snapshot, MINERS[method](snapshot))
        except DomsieveError as error:
            yield page, error
