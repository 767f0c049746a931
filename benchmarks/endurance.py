"""What 1,000 pages leave behind, and what a cache of 100,000 captures takes to look after. Linux only (/proc).

    python -m benchmarks.endurance pages [--pages 1000]
    python -m benchmarks.endurance cache [--captures 10000 100000]

`pages` renders generated pages on loopback in one process and through the service. Processes, descriptors, sockets,
files in the folder for temporary ones and memory (PSS, of all processes together) are counted before the first page,
after a tenth of the pages, after all, and at the end. It fails where there is more after all pages than after a
tenth, but for what a few more connections take, or where anything is left at the end.

`cache` puts small captures of as many pages into a store and lets the commands `cache list`, `verify` and `prune` run
over it, `prune` to remove all of them. It fails where a command takes more memory over the larger store than over the
smaller one, but for a fifth.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import httpx
import msgspec

from benchmarks.printing import print_check, print_table
from benchmarks.processes import counted, living_stat_of, processes_below
from benchmarks.running_service import running_service
from benchmarks.served_pages import pages_served
from benchmarks.service_clients import ENDED
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_getter import get_pages
from domsieve.tasks.pages import keep

MOST_MORE = {"processes": 2, "descriptors": 20, "sockets": 8, "temporary files": 8}
"""What may be more after all pages than after a tenth; the browser opens and closes connections as it likes."""
MOST_MEMORY, MOST_CACHE_MEMORY = 1.5, 1.2
_AT_ONCE = 20
_SITES = 10
_LAUNCHER = """
import os, resource, sys
status = os.waitpid(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)[1]
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def in_process(urls: Sequence[str], folder: Path) -> list[tuple[str, dict[str, float]]]:
    """Return what is held before, between and after pages that one renderer of this process renders and stores."""
    pid, counts = os.getpid(), [("before", counted(os.getpid(), folder))]

    async def run() -> None:
        egress = Egress()
        for url in urls:
            egress.name(url)
        async with Renderer(concurrency=2, egress=egress) as renderer:
            with PageStore(folder.parent / "cache") as store:
                for name, part in (("a tenth", urls[: len(urls) // 10]), ("all", urls[len(urls) // 10 :])):
                    outcomes = await get_pages(
                        part, renderer.render_many, find=lambda _: None, keep=partial(keep, store=store)
                    )
                    if wrong := [str(one) for one in outcomes.values() if isinstance(one, Exception)]:
                        raise RuntimeError(f"{len(wrong)} pages failed: {wrong[0]}")
                    counts.append((name, counted(pid, folder)))

    asyncio.run(run())
    return [*counts, ("the end", counted(pid, folder))]


def in_service(urls: Sequence[str], folder: Path) -> list[tuple[str, dict[str, float]]]:
    """Return what a service holds before, between and after the pages that it is asked for, and what it leaves."""
    hosts = sorted({url.split("/")[2] for url in urls})
    words = [word for host in hosts for word in ("--private-host", host)]
    words += ["--client-queue", "200", "--requests-per-minute", "600000", "--workers", "2"]
    with running_service(folder.parent / "data", *words, log=folder.parent / "service.log") as service:
        assert service.process
        pid = service.process.pid
        counts = [("before", counted(pid, folder))]
        with httpx.Client(base_url=service.url, timeout=60) as http:
            for name, part in (("a tenth", urls[: len(urls) // 10]), ("all", urls[len(urls) // 10 :])):
                for first in range(0, len(part), _AT_ONCE):
                    _do(http, part[first : first + _AT_ONCE])
                counts.append((name, counted(pid, folder)))
        family = processes_below(pid)
    left = [process for process in family if living_stat_of(process.pid)]
    end = counted(os.getpid(), folder)
    return [*counts, ("the end", {"processes": len(left), "temporary files": end["temporary files"]})]


def _do(http: httpx.Client, urls: Sequence[str]) -> None:
    """Ask for pages and wait for them."""
    jobs = []
    for url in urls:
        answer = http.post("/v1/clean", json={"url": url}, headers={"Prefer": "respond-async"})
        jobs.append(answer.raise_for_status().json())
    for asked in jobs:
        job = asked
        while job["state"] not in ENDED:
            time.sleep(0.05)
            job = http.get(f"/v1/jobs/{job['id']}").json()
        if job["state"] != "done":
            raise RuntimeError(f"{job['request']['url']}: {job.get('problem')}")


def pages(number: int) -> list[str]:
    """Print what is counted; return what is wrong."""
    wrong = []
    with pages_served(number // _SITES, sites=_SITES) as sites:
        urls = [url for together in zip(*sites, strict=True) for url in together]
        for name, measure in (("one process", "process"), ("the service", "service")):
            with tempfile.TemporaryDirectory(prefix="endurance-") as folder:
                (Path(folder) / "tmp").mkdir()
                (Path(folder) / "urls").write_text("\n".join(urls), encoding="utf-8")
                # The server of the pages has connections, too.
                command = [sys.executable, "-m", "benchmarks.endurance", measure, "--input", folder]
                environment = {**os.environ, "TMPDIR": str(Path(folder) / "tmp")}
                done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
            counts = [(each[0], each[1]) for each in json.loads(done.stdout)]
            print(f"\n{name}, {number:,} pages\n")
            print_table(["after", *counts[0][1]], counts)
            wrong += [f"{name}: {what}" for what in _more(dict(counts))]
    return wrong


def _more(counts: dict[str, dict[str, float]]) -> list[str]:
    tenth, after, end = counts["a tenth"], counts["all"], counts["the end"]
    wrong = [what for what, most in MOST_MORE.items() if after[what] > tenth[what] + most]
    wrong += ["MB"] if after["MB"] > MOST_MEMORY * tenth["MB"] else []
    before = counts["before"]
    left = {"processes": before["processes"] if "descriptors" in end else 0, "temporary files": 0}
    return wrong + [f"{what} at the end" for what, most in left.items() if end[what] > most]


def cache(captures: Sequence[int]) -> list[str]:
    """Print what the commands take over stores of so many captures; return what is wrong."""
    rows = []
    peaks: dict[str, list[float]] = {}
    for number in captures:
        with tempfile.TemporaryDirectory(prefix="endurance-") as folder:
            begun_s = time.monotonic()
            put(Path(folder), number)
            spent = time.monotonic() - begun_s
            rows.append((f"put {number:,}", {"s": spent, "ms each": 1000 * spent / number}))
            for words in (["list", "--json"], ["verify"], ["prune", "--keep-megabytes", "0", "--json"]):
                seconds, peak, lines = command_cost(["cache", *words], Path(folder))
                if lines != (0 if words[0] == "verify" else number):
                    raise RuntimeError(f"cache {words[0]} printed {lines} lines of {number}")
                peaks.setdefault(words[0], []).append(peak)
                figures = {"s": seconds, "ms each": 1000 * seconds / number, "peak MB": peak}
                rows.append((f"{words[0]} {number:,}", figures))
    print_table(["command", "s", "ms each", "peak MB"], rows)
    return [name for name, each in peaks.items() if max(each) > MOST_CACHE_MEMORY * each[0]]


def put(folder: Path, number: int) -> None:
    """Put so many small captures of as many addresses of a hundred sites, without waiting for the disk."""
    page = parse_html(b"<title>A page</title><h1>A page</h1><p>Its text.", url="http://site.example/")
    with patch("os.fsync", lambda _: None), PageStore(folder) as store:
        for i in range(number):
            url = f"http://site{i % 100}.example/{i}"
            when = f"2026-{1 + i % 12:02d}-{1 + i % 28:02d}T{i % 24:02d}:00:00.000+00:00"
            origin = msgspec.structs.replace(page.provenance, url=url, final_url=url, captured_at=when)
            store.put(replace(page, provenance=origin), source=b"%d" % (i // 10))


def command_cost(words: Sequence[str], folder: Path) -> tuple[float, float, int]:
    """Return the seconds and the most MB that a command takes, and how many lines it prints."""
    command = [sys.executable, "-m", "domsieve.cli", *words, "--cache", str(folder)]
    begun_s = time.monotonic()
    with (folder / "out").open("wb+") as out:
        # A process begins with the peak of the one that starts it, so that has to be a small one.
        launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, *command]
        done = subprocess.run(launcher, stdout=out, stderr=subprocess.PIPE, check=False)
        out.seek(0)
        lines = sum(1 for _ in out)
    *said, peak = done.stderr.decode().splitlines()
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {said[-1:]}")
    return time.monotonic() - begun_s, int(peak) / 1024, lines


def main() -> int:
    """Measure, and say what is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["pages", "cache", "process", "service"])
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--captures", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--input", type=Path, help="for the processes that `pages` starts")
    asked = parser.parse_args()
    if asked.what in {"process", "service"}:
        urls = (asked.input / "urls").read_text("utf-8").split()
        measure = in_process if asked.what == "process" else in_service
        print(json.dumps(measure(urls, asked.input / "tmp")))
        return 0
    wrong = pages(asked.pages) if asked.what == "pages" else cache(asked.captures)
    print_check("nothing grows, nothing is left" if asked.what == "pages" else "memory stays", wrong)
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
