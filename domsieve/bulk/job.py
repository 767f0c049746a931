"""The interface of jobs that process shards: their options, their results, and their failures."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol

import msgspec

from domsieve.budget import DEFAULT_BUDGET, AnalysisBudget, budgeted
from domsieve.bulk._places import Place, place_at, write
from domsieve.bulk.plan import Shard
from domsieve.errors import DomsieveError
from domsieve.sanitize import utf8
from domsieve.snapshot.store import PageStore
from domsieve.tasks.pages import Page

FAILED = "_failed"
"""The folder of failures. Readers of Parquet folders ignore names that begin with an underscore."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The result of a shard.

    Parameters
    ----------
    shard : its name.
    pages, failed : number of pages, and of those that failed.
    rows : number of rows written.
    known : by site, for its last pages in order, the share of their words at places that its model knows.
    """

    shard: str
    pages: int
    failed: int
    rows: int = 0
    known: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


PageEnded = Callable[[], None]
"""Called when a page has ended, whether it failed or not."""


def ignore() -> None:
    """Do nothing when a page has ended."""


class Job(Protocol):
    """A job that processes shards. It is sent to other processes, so it contains only values."""

    @property
    def output(self) -> str:
        """The place of the results."""
        ...

    @property
    def keeps_worker(self) -> bool:
        """Whether a worker keeps a resource, such as a browser, from one shard to the next."""
        ...

    def part(self, shard: str) -> str:
        """Return the name of the file that exists when the shard is done."""
        ...

    def on(self, shard: Shard, page_ended: PageEnded = ignore) -> Done:
        """Process a shard. The results depend only on the shard and the job, however often this is repeated.

        Parameters
        ----------
        shard : the shard.
        page_ended : called after each page, for the progress; jobs whose pages do not end one by one never call it.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The options of jobs that read pages.

    Parameters
    ----------
    output : a folder, or an address that fsspec supports.
    keep_errors : whether to use pages that count as failed.
    budget : the budget of the analysis of one page.
    """

    output: str
    keep_errors: bool = False
    budget: AnalysisBudget = DEFAULT_BUDGET

    keeps_worker: ClassVar[bool] = False

    def note(self) -> dict[str, Any]:
        """Return the options that shape the results."""
        shaping = [each.name for each in fields(self) if each.name not in {"output", "budget"}]
        return {name: msgspec.to_builtins(getattr(self, name)) for name in shaping}


class Failures:
    """The failed pages of a shard, one line each."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, label: str, site: str, error: DomsieveError) -> None:
        """Add a failed page."""
        line = {
            "page": utf8(label),
            "site": utf8(site),
            "error": type(error).__name__,
            "reason": utf8(error.message),
            "stage": error.stage or "",
        }
        self._lines.append(msgspec.json.encode(line) + b"\n")

    def write(self, place: Place, shard: str) -> None:
        """Write the lines, or remove those of an earlier attempt if nothing failed."""
        name = f"{FAILED}/{shard}.jsonl"
        if self._lines:
            write(place, name, b"".join(self._lines), replace=True)
        elif f"{shard}.jsonl" in place.names(FAILED):
            place.remove(name)


@contextmanager
def pages_of(shard: Shard, reading: Reading, failures: Failures) -> Iterator[list[Page]]:
    """Provide the pages of a shard, with their budget set; damaged parts of archives are added to the failures."""
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


def perform(job: Job, shard: Shard, page_ended: PageEnded = ignore) -> Done:
    """Process a shard in the current process."""
    return job.on(shard, page_ended)


def place_of(reading: Reading) -> Place:
    """Return the place of the results."""
    return place_at(reading.output)
