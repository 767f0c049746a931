"""Folders of small sites, what runs over them, and what stands in the parts."""

import hashlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pyarrow import parquet

from domsieve.bulk.clean_job import CleanJob
from domsieve.bulk.job import Done, Job, PageEnded, ignore
from domsieve.bulk.plan import Shard
from domsieve.bulk.runs import Progress, Summary, clean_pages
from domsieve.bulk.scheduling import Outcome
from domsieve.tasks.targets import ListedWord
from tests.command import page


def write_sites(folder: Path, *, sites: int = 4, pages: int = 7) -> Path:
    """Write so many pages of each of so many sites, each into a folder of its own."""
    for site in range(sites):
        place = folder / f"s{site}"
        place.mkdir(parents=True)
        for number in range(pages):
            source = (
                page(100 * site + number)
                .replace("About us", f"About {site}")
                .replace("Imprint", f"Legal {site}")
            )
            (place / f"p{number}.html").write_text(source, encoding="utf-8")
    return folder


class Inline:
    """Does shards here, one after another, in place of processes."""

    def __init__(self, slots: int = 1) -> None:
        self.slots = slots
        self.closed: list[bool] = []
        self._waiting: list[tuple[Job, Shard]] = []

    def start(self, job: Job, shard: Shard) -> None:
        self._waiting.append((job, shard))

    def finished(self) -> list[tuple[Shard, Outcome]]:
        job, shard = self._waiting.pop()
        try:
            return [(shard, job.on(shard))]
        except Exception as error:
            return [(shard, error)]

    def ended_pages(self) -> int:
        return 0

    def close(self, *, now: bool) -> None:
        self.closed.append(now)


def cleaned(
    output: Path | str,
    targets: Sequence[Path | str | ListedWord],
    *,
    per_shard: int | None = 10,
    workers: int | None = None,
    engine: Callable[[], Any] = Inline,
    tell: Callable[[Progress], None] = lambda _: None,
    **how: Any,
) -> Summary:
    """Run `clean_pages` and return its summary."""
    job = CleanJob(output=str(output), **how)
    words = [str(target) if isinstance(target, Path) else target for target in targets]
    return clean_pages(job, words, engine, tell, per_shard=per_shard, workers=workers)


def rows_of(output: Path) -> list[dict[str, Any]]:
    """Return the rows of all parts, sorted by site and page."""
    rows = [row for path in output.glob("part-*.parquet") for row in parquet.read_table(path).to_pylist()]
    return sorted(rows, key=lambda row: (row["site"], row["page"], row.get("block", 0), row.get("record", 0)))


def digest_of(output: Path) -> str:
    """Return the digest of the rows of all parts, sorted by site and page."""
    return hashlib.sha256(repr(rows_of(output)).encode()).hexdigest()


def stamps(folder: Path) -> dict[str, int]:
    """Return when each file below a folder was written."""
    return {
        str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()
    }


def nothing(shard: Shard) -> Done:
    """Return that a shard is done."""
    return Done(shard=shard.name, pages=shard.pages, failed=0)


@dataclass(frozen=True, slots=True)
class Nothing:
    """Makes empty parts, but of what kills its worker."""

    output: str
    poison: str = ""
    keeps_worker: ClassVar[bool] = False

    def part(self, shard: str) -> str:
        return f"{shard}.parquet"

    def on(self, shard: Shard, page_ended: PageEnded = ignore) -> Done:  # noqa: ARG002
        if shard.name == self.poison:
            os.kill(os.getpid(), signal.SIGKILL)
        (Path(self.output) / self.part(shard.name)).touch()
        return nothing(shard)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Ends all pages of a shard but the last one, and then waits until the file ``go`` is there."""

    output: str
    keeps_worker: ClassVar[bool] = False

    def part(self, shard: str) -> str:
        return f"{shard}.parquet"

    def on(self, shard: Shard, page_ended: PageEnded = ignore) -> Done:
        for _ in range(shard.pages - 1):
            page_ended()
        while not (Path(self.output) / "go").exists():
            time.sleep(0.01)
        page_ended()
        return nothing(shard)
