"""What it costs to learn a site and to clean its pages: time beside trafilatura, growth, and memory.

    python -m benchmarks.analysis [--data FOLDER] [--quick] [--parts speed growth memory]

speed    Each site of FOLDER is learned and cleaned from stored pages: decode and learn, decode, clean and write the
         text, against `trafilatura.extract` on the same pages as strings. One process, CPU time, the two by turns.
growth   Generated sites of 100 to 4,000 pages are learned and cleaned. The figure is the exponent of CPU time
         over pages: 1 is linear.
memory   500 pages of a generated site are learned once, and eight times under new addresses, in processes of
         their own: bytes of its tables, bytes that the model holds, most bytes in use on the way.

`--quick` takes every tenth page for trafilatura and sites of up to 1,000 pages.
"""

import argparse
import gc
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import tracemalloc
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.generated_site import generated_site
from benchmarks.printing import print_table
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.writers.text import write_text
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.format import decode, encode
from domsieve.snapshot.page import Snapshot
from domsieve.types import Mode

PAGES_PER_CALL = 200
GROWTH = (100, 400, 1_000, 4_000)
GROWTH_ROUNDS = 3
MEMORY_PAGES, MEMORY_COPIES = 500, 8


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    above = os.environ.get("DOMSIEVE_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(above, "sites") if above else None,
        help="folder with one zip per site; by default $DOMSIEVE_DATA/sites",
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--mode", choices=("site", "paper"), default="site")
    parser.add_argument("--sites", nargs="+", metavar="NAME", help="only these sites")
    parser.add_argument("--parts", nargs="+", choices=("speed", "growth", "memory"))
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(learn_in_memory(Path(arguments.child[0]), int(arguments.child[1]))))
        return
    print(machine())
    parts = arguments.parts or ("speed", "growth", "memory")
    if "speed" in parts:
        if arguments.data is None:
            parser.error("speed needs --data, or DOMSIEVE_DATA in the environment")
        speed(arguments.data, arguments.sites, mode=arguments.mode, every=10 if arguments.quick else 1)
    if "growth" in parts:
        growth(GROWTH[:-1] if arguments.quick else GROWTH, mode=arguments.mode)
    if "memory" in parts:
        memory()


def machine() -> str:
    names = [
        line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")
    ]
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "trafilatura", "lxml"))
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    processor = names[0] if names else platform.processor()
    return (
        f"{time.strftime('%Y-%m-%d')}, {len(names) or os.cpu_count()} x {processor}, load {load}; "
        f"Python {platform.python_version()}, {versions}\n"
    )


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


class Clock:
    """CPU seconds of this process by name of the work."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Add the time of what is done inside to that of `name`."""
        start = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - start

    @property
    def total(self) -> float:
        """Seconds of all work together."""
        return sum(self.seconds.values())


def learn_and_clean(stored: Sequence[bytes], clock: Clock, *, mode: Mode) -> SiteStyleTree:
    """Learn a site from its stored pages and write the clean text of each; return the model."""
    model = SiteStyleTree.of_mode(mode)
    calls = [stored[a : a + PAGES_PER_CALL] for a in range(0, len(stored), PAGES_PER_CALL)]
    for part in calls:
        with clock("decode"):
            pages = list(map(decode, part))
        with clock("learn"):
            model.partial_fit(pages)
    with clock("derive"):
        _ = model.figures_
    for part in calls:
        with clock("decode"):
            pages = list(map(decode, part))
        with clock("clean"):
            found = model.transform(pages)
        with clock("write"):
            for page, verdict in zip(pages, found, strict=True):
                write_text(page, verdict)
    return model


# Speed -----------------------------------------------------------------------------------------------------------


def read_site(file: Path) -> tuple[list[bytes], list[str]]:
    """Return the pages of a corpus as stored Snapshots and as strings."""
    stored, sources = [], []
    with zipfile.ZipFile(file) as archive:
        for entry in json.loads(archive.read("labels.json"))["pages"]:
            source = archive.read(entry["page"])
            stored.append(encode(parse_html(source, url=entry.get("url", entry["page"]))))
            sources.append(source.decode("utf-8", "replace"))
    return stored, sources


def speed(folder: Path, names: Sequence[str] | None, *, mode: Mode, every: int) -> None:
    from trafilatura import extract

    files = [file for file in sorted(folder.glob("*.zip")) if not names or file.stem in names]
    rows: list[tuple[str, dict[str, float]]] = []
    pages = 0
    whole: dict[str, float] = {}
    for file in files:
        stored, sources = read_site(file)
        peer, ours = Clock(), Clock()
        chosen = sources[::every]
        if not rows:  # what is set up on first use is nobody's cost
            extract(sources[0])
            learn_and_clean(stored[:3], Clock(), mode=mode)
        gc.collect()
        with peer("trafilatura"):
            for source in chosen[::2]:
                extract(source)
        model = learn_and_clean(stored, ours, mode=mode)
        with peer("trafilatura"):
            for source in chosen[1::2]:
                extract(source)
        seconds = {"trafilatura": peer.total * len(sources) / len(chosen), **ours.seconds, "sum": ours.total}
        size = {"kB per page": model.tree_.nbytes / len(stored) / 1e3}
        rows.append((file.stem, _per_page(seconds, len(stored)) | size))
        whole = {name: whole.get(name, 0.0) + value for name, value in seconds.items()}
        pages += len(stored)
        print(f"{file.stem} done", file=sys.stderr)
    rows.append((f"all {pages} pages", _per_page(whole, pages)))
    print(f"CPU milliseconds per page, mode {mode}; kB of model per page\n")
    print_table(
        ["site", "trafilatura", "decode", "learn", "derive", "clean", "write", "sum", "ratio", "kB per page"],
        rows,
    )
    print(f"\nours over trafilatura, sums over all pages: {rows[-1][1]['ratio']:.3f}\n", flush=True)


def _per_page(seconds: Mapping[str, float], pages: int) -> dict[str, float]:
    figures = {name: value / pages * 1e3 for name, value in seconds.items()}
    return figures | {"ratio": seconds["sum"] / seconds["trafilatura"]}


# Growth ----------------------------------------------------------------------------------------------------------


def generated(pages: int) -> list[bytes]:
    return [encode(parse_html(page.html.encode(), url=page.url)) for page in generated_site(pages)]


def growth(sizes: Sequence[int], *, mode: Mode) -> None:
    stored = generated(sizes[-1])
    best: dict[int, Clock] = {}
    for _ in range(GROWTH_ROUNDS):
        for size in sizes:
            # Small sites are repeated, so that all sizes have like chances of a quiet moment.
            for _ in range(max(1, sizes[-1] // size // 4)):
                clock = Clock()
                gc.collect()
                learn_and_clean(stored[:size], clock, mode=mode)
                if size not in best or clock.total < best[size].total:
                    best[size] = clock
    print(
        f"CPU milliseconds per page of generated sites, mode {mode}, best of {GROWTH_ROUNDS} rounds or more\n"
    )
    rows = []
    for size in sizes:
        seconds = best[size].seconds | {"sum": best[size].total}
        rows.append((str(size), {name: value / size * 1e3 for name, value in seconds.items()}))
    print_table(["pages", "decode", "learn", "derive", "clean", "write", "sum"], rows)
    totals = [best[size].total for size in sizes]
    exponent = np.polyfit(np.log(sizes), np.log(totals), 1)[0]
    print(f"\nexponent of CPU time over pages: {exponent:.3f}\n", flush=True)


# Memory ----------------------------------------------------------------------------------------------------------


def memory() -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(msgspec.msgpack.encode(generated(MEMORY_PAGES)))
        file.flush()
        found = {}
        for copies in (1, MEMORY_COPIES):
            command = [sys.executable, "-m", "benchmarks.analysis", "--child", file.name, str(copies)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found[copies] = json.loads(done.stdout)
    print(f"MB after learning {MEMORY_PAGES} pages of a generated site once, and {MEMORY_COPIES} times\n")
    print_table(["times", *found[1]], [(str(copies), figures) for copies, figures in found.items()])
    held, more = found[1]["held"], found[MEMORY_COPIES]["held"]
    print(f"\nheld {more / held - 1:+.1%}, {held * 1e3 / MEMORY_PAGES:.1f} kB per page", flush=True)


def learn_in_memory(file: Path, copies: int) -> dict[str, float]:
    """Return MB held by a model of the pages in `file`, learned `copies` times; run in a process of its own."""
    stored = msgspec.msgpack.decode(file.read_bytes(), type=list[bytes])
    SiteStyleTree().fit([decode(stored[0])])  # imports and tables that are made on first use
    tracemalloc.start()
    model = SiteStyleTree().fit(_renamed(stored, copies))
    gc.collect()
    held, most = tracemalloc.get_traced_memory()
    return {"tables": model.tree_.nbytes / 1e6, "held": held / 1e6, "most in use": most / 1e6}


def _renamed(stored: Sequence[bytes], copies: int) -> Iterator[Snapshot]:
    for copy in range(copies):
        for page in map(decode, stored):
            url = f"{page.provenance.url}?copy={copy}"
            yield replace(page, provenance=msgspec.structs.replace(page.provenance, url=url, final_url=url))


if __name__ == "__main__":
    main()
