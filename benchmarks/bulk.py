"""What `domsieve bulk` costs and bears: overhead over the same functions in one process, growth, killed workers.

    python -m benchmarks.bulk overhead [--pages 3000]
    python -m benchmarks.bulk files --data FOLDER [--pages 2000]
    python -m benchmarks.bulk growth [--pages 50000] [--sites 500] [--least 5000]
    python -m benchmarks.bulk kills [--runs 20] [--every 20]

Pages are those of generated sites, in one web archive for each ten of them; ``files`` compares with a loop over real
pages in files that calls `domsieve.clean`, start-up included. Processor time and memory are those of
all processes of a run, looked at ten times a second; memory is what they hold together (PSS). It ends with 1 where a
limit is not kept.
"""

import argparse
import gzip
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from math import log
from pathlib import Path
from typing import NamedTuple

from pyarrow import parquet

import domsieve
from benchmarks.analysis import machine
from benchmarks.generated_site import generated_site
from benchmarks.printing import print_table
from benchmarks.processes import stat_of
from domsieve.bulk.clean_job import CleanJob
from domsieve.bulk.job import Job
from domsieve.bulk.local import LocalEngine
from domsieve.bulk.plan import Shard
from domsieve.bulk.runs import Progress, clean_pages
from domsieve.bulk.scheduling import Outcome
from domsieve.commands.console import EXIT_SOME_FAILED
from experiments.corpora.wcxb_pages import page_files, read_page

MOST_OVERHEAD, MOST_AT_TWO, MOST_EXPONENT = 0.05, 0.6, 1.05
MOST_OVER_LOOP = 1.15
_SITES_PER_ARCHIVE = 10
_TICKS = os.sysconf("SC_CLK_TCK")
BULK = [sys.executable, "-m", "domsieve.cli", "bulk"]


class Cost(NamedTuple):
    """What a run took: seconds on the clock, of processors, and the most bytes at a time."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


class Inline:
    """The same functions, called in one process."""

    slots = 1

    def __init__(self) -> None:
        self._waiting: list[tuple[Job, Shard]] = []

    def start(self, job: Job, shard: Shard) -> None:
        """Take a shard."""
        self._waiting.append((job, shard))

    def finished(self) -> list[tuple[Shard, Outcome]]:
        """Do it."""
        job, shard = self._waiting.pop()
        return [(shard, job.on(shard))]

    def ended_pages(self) -> int:
        """Return 0: nothing runs meanwhile."""
        return 0

    def close(self, *, now: bool) -> None:
        """Do nothing."""


class Killed(LocalEngine):
    """A pool whose workers are killed by chance; what is done alone for the third time is spared.

    Parameters
    ----------
    workers : of the pool.
    every_s : mean time between two kills.
    seed : of chance.
    """

    def __init__(self, workers: int, every_s: float, seed: int) -> None:
        super().__init__(workers)
        self.kills, self.spares = 0, False
        self._alone: dict[str, int] = {}
        self._random, self._every_s = random.Random(seed), every_s
        self._ended = threading.Event()
        threading.Thread(target=self._kill, daemon=True).start()

    def told(self, progress: Progress) -> None:
        """Take note of who is alone."""
        event = progress.event
        if event is None:
            return
        if event.what == "alone":
            self._alone[event.shard.name] = self._alone.get(event.shard.name, 0) + 1
        self.spares = event.what == "alone" and self._alone[event.shard.name] == 3

    def close(self, *, now: bool) -> None:
        """End the killing, and the processes."""
        self._ended.set()
        super().close(now=now)

    def _kill(self) -> None:
        while not self._ended.wait(self._random.expovariate(1 / self._every_s)):
            pool = self._pool
            if pool and pool._processes and not self.spares:
                with suppress(ProcessLookupError):
                    os.kill(self._random.choice([*pool._processes]), signal.SIGKILL)
                    self.kills += 1


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["overhead", "files", "growth", "kills", "inline", "loop"])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DOMSIEVE_DATA", ".")))
    parser.add_argument("--pages", type=int)
    parser.add_argument("--sites", type=int, default=500)
    parser.add_argument("--least", type=int, default=5_000)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--every", type=float, default=20.0, help="seconds between two kills, on average")
    parser.add_argument("--input", type=Path)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    if options.what == "inline":
        clean_inline(options.input, options.output)
        return
    if options.what == "loop":
        clean_in_loop(options.input)
        return
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.what == "overhead":
            sys.exit(overhead(folder, options.pages or 3_000))
        if options.what == "files":
            sys.exit(files(folder, options.data, options.pages or 2_000))
        if options.what == "growth":
            sys.exit(growth(folder, options.pages or 50_000, options.sites, options.least))
        sys.exit(kills(folder, options.pages or 6_000, options.runs, options.every))


def overhead(folder: Path, pages: int) -> int:
    """Print what processes cost over one, start-up apart, and what two take over one on the clock."""
    write_sites(folder / "in", pages, sites=30)
    write_sites(folder / "few", 1, sites=1)

    def bulk(source: str, workers: int) -> Cost:
        output = folder / f"{source}-{workers}"
        words = ["clean", folder / source, "--output-dir", output, "--workers", workers, "--shard-pages", 100]
        return watched([*BULK, *map(str, words)])

    def inline(source: str) -> Cost:
        words = ["--input", folder / source, "--output", folder / f"{source}-inline"]
        return watched([sys.executable, "-m", "benchmarks.bulk", "inline", *map(str, words)])

    cpu_one = inline("in").cpu_s - inline("few").cpu_s
    start = bulk("few", 1)
    one = bulk("in", 1)
    cpu_bulk = one.cpu_s - start.cpu_s
    start_two, two = bulk("few", 2), bulk("in", 2)
    faster = (two.wall_s - start_two.wall_s) / (one.wall_s - start.wall_s)
    more = cpu_bulk / cpu_one - 1
    same = len({digest_of(folder / name) for name in ("in-inline", "in-1", "in-2")}) == 1
    print(f"{pages:,} pages; processor ms a page: one process {1000 * cpu_one / pages:.1f}, ", end="")
    print(f"bulk with 1 worker {1000 * cpu_bulk / pages:.1f} ({more:+.1%}), start-up {start.cpu_s:.1f} s")
    print(f"2 workers take {faster:.2f} of the time of 1; rows are {'' if same else 'NOT '}the same")
    return int(more > MOST_OVERHEAD or faster > MOST_AT_TWO or not same)


def files(folder: Path, data: Path, pages: int) -> int:
    """Print what a run over files costs, with the defaults, over a loop of calls."""
    source = folder / "in"
    source.mkdir()
    count = 0
    for count, page in enumerate(islice(real_pages(data), pages), 1):
        (source / f"{count:05d}.html").write_bytes(page)
    loop = watched([sys.executable, "-m", "benchmarks.bulk", "loop", "--input", str(source)])
    bulk = watched([*BULK, "clean", str(source), "--output-dir", str(folder / "out")], may_lose=True)
    over, shards = bulk.cpu_s / loop.cpu_s, len([*(folder / "out").glob("part-*.parquet")])
    print(f"{count:,} files; processor ms a page: loop {1000 * loop.cpu_s / count:.1f}, ", end="")
    print(
        f"bulk {1000 * bulk.cpu_s / count:.1f}, {over:.2f} times, in {shards} shards; on the clock ", end=""
    )
    print(f"{loop.wall_s:.0f} and {bulk.wall_s:.0f} s")
    return int(over > MOST_OVER_LOOP)


def real_pages(data: Path) -> Iterator[bytes]:
    """Yield the pages of WCXB, then those of whole sites."""
    for file in page_files(data):
        yield read_page(*file).source
    for archive in sorted((data / "sites").glob("*.zip")):
        with zipfile.ZipFile(archive) as opened:
            for name in opened.namelist():
                if name.startswith("pages/") and name.endswith((".htm", ".html")):
                    yield opened.read(name)


def growth(folder: Path, pages: int, sites: int, least: int) -> int:
    """Print what learning and cleaning cost, and how that grows from fewer pages of fewer sites."""
    rows: list[tuple[str, dict[str, float]]] = []
    costs: dict[tuple[str, int], Cost] = {}
    for count in (least, pages):
        source = folder / f"in-{count}"
        write_sites(source, count, sites=max(sites * count // pages, 1))
        models, output = folder / f"models-{count}", folder / f"out-{count}"
        for what, words in (
            ("learn", ["learn", source, "--output-dir", models, "--cap"]),
            ("clean", ["clean", source, "--output-dir", output, "--models", models]),
        ):
            cost = costs[what, count] = watched([*BULK, *map(str, words), "--workers", "2"])
            place = models if what == "learn" else output
            held = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
            figures = {
                "s": cost.wall_s,
                "CPU s": cost.cpu_s,
                "CPU ms a page": 1000 * cost.cpu_s / count,
                "peak MB": cost.peak_bytes / 1e6,
                "MB written": held / 1e6,
            }
            rows.append((f"{what} {count:,} pages", figures))
    print_table(["run", "s", "CPU s", "CPU ms a page", "peak MB", "MB written"], rows)
    exponents = [
        log(costs[what, pages].cpu_s / costs[what, least].cpu_s) / log(pages / least)
        for what in ("learn", "clean")
    ]
    print(f"exponents of growth: learn {exponents[0]:.2f}, clean {exponents[1]:.2f} (limit {MOST_EXPONENT})")
    return int(max(exponents) > MOST_EXPONENT)


def kills(folder: Path, pages: int, runs: int, every_s: float) -> int:
    """Print how many runs end with each page once, whatever is killed."""
    write_sites(folder / "in", pages, sites=30)
    clean_inline(folder / "in", folder / "one")
    wanted, right = digest_of(folder / "one"), 0
    for seed in range(runs):
        engines: list[Killed] = []

        def make(seed: int = seed, engines: list[Killed] = engines) -> Killed:
            engines.append(Killed(2, every_s, seed))
            return engines[-1]

        def tell(progress: Progress, engines: list[Killed] = engines) -> None:
            engines[-1].told(progress)

        output, begun_s = folder / f"out-{seed}", time.monotonic()
        summary = clean_pages(CleanJob(output=str(output)), [str(folder / "in")], make, tell, per_shard=250)
        good = digest_of(output) == wanted and summary.pages == pages and not summary.condemned
        right += good
        spent_s = time.monotonic() - begun_s
        print(
            f"run {seed + 1}: {engines[0].kills} kills in {spent_s:.0f} s, {'right' if good else 'WRONG'}",
            flush=True,
        )
    print(f"{right} of {runs} runs ended with each page once")
    return int(right < runs)


def clean_inline(source: Path, output: Path) -> None:
    """Clean in this process what lies in a folder."""
    clean_pages(CleanJob(output=str(output)), [str(source)], Inline, lambda _: None, per_shard=100)


def clean_in_loop(source: Path) -> None:
    """Clean the files of a folder one by one, by the documented call."""
    for path in sorted(source.iterdir()):
        with suppress(domsieve.DomsieveError):
            len(domsieve.clean(path).text)


def write_sites(folder: Path, pages: int, *, sites: int) -> None:
    """Write web archives of so many pages in all, each site with as many as the next."""
    folder.mkdir(parents=True)
    each = max(pages // sites, 1)
    for first in range(0, sites, _SITES_PER_ARCHIVE):
        with (folder / f"{first:05d}.warc.gz").open("wb") as file:
            for site in range(first, min(first + _SITES_PER_ARCHIVE, sites)):
                for page in generated_site(each, seed=site):
                    file.write(
                        gzip.compress(_record(page.url.replace("site.", f"site{site}."), page.html), 1)
                    )


def _record(url: str, html: str) -> bytes:
    body = html.encode()
    content = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-11-22T10:20:30Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{hashlib.md5(url.encode(), usedforsecurity=False).hexdigest()}>\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content + b"\r\n\r\n"


def digest_of(output: Path) -> str:
    """Return the digest of the rows of all parts, sorted; a page that stands twice changes it."""
    rows = sorted(
        repr(row) for path in output.glob("part-*.parquet") for row in parquet.read_table(path).to_pylist()
    )
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def watched(command: Sequence[str], *, may_lose: bool = False) -> Cost:
    """Return what a command cost, with all processes that it started; `may_lose` allows failed pages."""
    begun_s, cpu_s, peak = time.monotonic(), dict[int, float](), 0
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL) as process:
        looks = 0
        while process.poll() is None:
            held = 0
            for pid, spent_s in _session(process.pid):
                cpu_s[pid] = spent_s
                held += _held(pid) if looks % 10 == 0 else 0  # looking at memory costs more
            peak, looks = max(peak, held), looks + 1
            time.sleep(0.1)
    if process.returncode and not (may_lose and process.returncode == EXIT_SOME_FAILED):
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Cost(time.monotonic() - begun_s, sum(cpu_s.values()), peak)


def _session(leader: int) -> Iterator[tuple[int, float]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError, IndexError):
                fields = stat_of(int(entry.name))
                if int(fields[3]) == leader:
                    yield int(entry.name), (int(fields[11]) + int(fields[12])) / _TICKS


def _held(pid: int) -> int:
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
    return 0


if __name__ == "__main__":
    main()
