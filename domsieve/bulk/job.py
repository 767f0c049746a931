"""What all work on shards shares: what it is told, what it answers, and where failures are written.

Imports the members, places and the budget.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol

import msgspec

from domsieve.budget import USUAL, AnalysisBudget, budgeted
from domsieve.bulk.places import Place, place_at, write
from domsieve.bulk.plan import Shard
from domsieve.errors import DomsieveError
from domsieve.sanitize import utf8
from domsieve.snapshot.store import PageStore
from domsieve.tasks.pages import Page

FAILED = "_failed"
"""The folder of what failed. Readers of tables pass over names that begin like this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What became of a shard.

    Parameters
    ----------
    shard : its name.
    pages, failed : pages that were worked on, and those of them that failed.
    rows : that were written.
    known : by site, the shares of the words of its last pages that stand at places which its model knows, in order.
    """

    shard: str
    pages: int
    failed: int
    rows: int = 0
    known: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


class Job(Protocol):
    """What is done with each shard of a run; it is sent to where that happens, so it holds but values."""

    @property
    def output(self) -> str:
        """The place of the results."""
        ...

    @property
    def keeps_worker(self) -> bool:
        """Whether a worker keeps something from one shard to the next, such as a browser."""
        ...

    def part(self, shard: str) -> str:
        """Return the name of the file that is there when the shard is done."""
        ...

    def on(self, shard: Shard) -> Done:
        """Work on a shard: its results depend on nothing else, however often it is done."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How pages are read, for jobs that do.

    Parameters
    ----------
    output : a folder, or an address that fsspec knows.
    keep_errors : whether pages that count as failed are worked on all the same.
    budget : what the analysis of one page may cost.
    """

    output: str
    keep_errors: bool = False
    budget: AnalysisBudget = USUAL

    keeps_worker: ClassVar[bool] = False

    def note(self) -> dict[str, Any]:
        """Return what shapes the results."""
        shaping = [each.name for each in fields(self) if each.name not in {"output", "budget"}]
        return {name: msgspec.to_builtins(getattr(self, name)) for name in shaping}


class Failures:
    """The pages of a shard that failed, a line each."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, label: str, site: str, error: DomsieveError) -> None:
        """Take note of a page."""
        line = {
            "page": utf8(label),
            "site": utf8(site),
            "error": type(error).__name__,
            "reason": utf8(error.message),
            "stage": error.stage or "",
        }
        self._lines.append(msgspec.json.encode(line) + b"\n")

    def write(self, place: Place, shard: str) -> None:
        """Write the lines, or see that there are none of a former attempt."""
        name = f"{FAILED}/{shard}.jsonl"
        if self._lines:
            write(place, name, b"".join(self._lines), replace=True)
        elif f"{shard}.jsonl" in place.names(FAILED):
            place.remove(name)


@contextmanager
def pages_of(shard: Shard, reading: Reading, failures: Failures) -> Iterator[list[Page]]:
    """Give the pages of a shard in a block that has their budget; damaged parts of archives have failed."""
    with ExitStack() as open_stores, budgeted(reading.budget):
        stores: dict[Path, PageStore] = {}

        def store_at(root: Path) -> PageStore:
            if root not in stores:
                stores[root] = open_stores.enter_context(PageStore(root))
            return stores[root]

        pages: list[Page] = []
        for member in shard.content():
            if member.damage:
                failures.add(member.label, member.site, member.damage)
            else:
                pages.append(member.page(store_at, keep_errors=reading.keep_errors))
        yield pages


def perform(job: Job, shard: Shard) -> Done:
    """Work on a shard, wherever this is called."""
    return job.on(shard)


def place_of(reading: Reading) -> Place:
    """Return the place of the results."""
    return place_at(reading.output)
