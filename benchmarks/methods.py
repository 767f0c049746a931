"""What each method costs on one page, as a multiple of parsing the page with lxml, and how that grows.

    python -m benchmarks.methods [--data FOLDER] [--methods NAME ...] [--quick]

Generated pages of about 1,000 to 50,000 nodes; a site method learns four pages of the size and cleans them, and the
cost is a fourth of that. CPU time of one process, best of several rounds. The figure of growth is the exponent of
CPU time over nodes: 1 is linear. FOLDER is that of the TPS pages: the largest of them is measured too.
"""

import argparse
import gc
import os
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import lxml.html
import numpy as np

from benchmarks.analysis import machine
from benchmarks.generated_site import generated_page
from benchmarks.printing import print_table
from domsieve.analysis import registry
from domsieve.analysis.records.mdr import DataRegionMiner
from domsieve.analysis.registry import MINERS, variants
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot

SECTIONS = (10, 30, 100, 300, 500)
PAGES_OF_SITE = 4
ROUNDS, SPENT_S = 2, 0.3

SITE_METHODS: Mapping[str, Callable[[], Any]] = variants(registry.SITE_METHODS)
PAGE_METHODS: Mapping[str, Callable[[], Any]] = {
    **variants(registry.PAGE_METHODS),
    **variants(MINERS),
    "mdr tree": lambda: DataRegionMiner(similarity="tree"),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    above = os.environ.get("DOMSIEVE_DATA")
    parser.add_argument("--data", type=Path, default=Path(above, "tps") if above else None)
    parser.add_argument("--methods", nargs="+", choices=[*SITE_METHODS, *PAGE_METHODS])
    parser.add_argument("--quick", action="store_true", help="pages of up to 10,000 nodes only")
    arguments = parser.parse_args()
    names = arguments.methods or [*SITE_METHODS, *PAGE_METHODS]
    print(machine())
    growth(names, SECTIONS[:3] if arguments.quick else SECTIONS)
    if arguments.data:
        largest_page(names, arguments.data / "pages.zip")


def growth(names: list[str], sizes: tuple[int, ...]) -> None:
    """Print the cost of each method at each size over that of parsing, and its exponent."""
    sites = [
        [generated_page(size, seed=seed).html.encode() for seed in range(PAGES_OF_SITE)] for size in sizes
    ]
    pages = [[parse_html(source, url="https://site.example/") for source in site] for site in sites]
    nodes = [float(np.mean([len(page) for page in site])) for site in pages]
    parsing = [parsing_cost(site) for site in sites]
    rows = [("lxml ms", {f"{n:,.0f} nodes": s * 1e3 for n, s in zip(nodes, parsing, strict=True)})]
    rows[0][1]["exponent"] = exponent(nodes, parsing)
    for name in names:
        costs = [cost(name, site) for site in pages]
        ratios = [c / p for c, p in zip(costs, parsing, strict=True)]
        figures = {f"{n:,.0f} nodes": ratio for n, ratio in zip(nodes, ratios, strict=True)}
        rows.append((name, figures | {"exponent": exponent(nodes, costs)}))
    print("CPU time per page over parsing it with lxml\n")
    print_table(["method", *rows[0][1]], rows)
    print(flush=True)


def largest_page(names: list[str], file: Path) -> None:
    """Print the cost of each method on the largest page of `file` over that of parsing."""
    with zipfile.ZipFile(file) as archive:
        entry = max((e for e in archive.infolist() if not e.is_dir()), key=lambda e: e.file_size)
        source = archive.read(entry)
    page = parse_html(source, url="https://site.example/")
    parsing = parsing_cost([source])
    print(f"CPU time over parsing {entry.filename} with lxml, {len(source):,} bytes, {len(page):,} nodes\n")
    rows = [(name, {"ratio": cost(name, [page] * PAGES_OF_SITE) / parsing}) for name in names]
    print_table(["method", "ratio"], rows)


def parsing_cost(sources: list[bytes]) -> float:
    """Return CPU seconds of lxml per page."""
    return seconds(lambda: list(map(lxml.html.fromstring, sources))) / len(sources)


def cost(name: str, site: list[Snapshot]) -> float:
    """Return CPU seconds of a method per page."""
    if name in SITE_METHODS:
        return seconds(lambda: SITE_METHODS[name]().fit(site).transform(site)) / len(site)
    return seconds(lambda: PAGE_METHODS[name]().transform(site[0]))


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds of `work`, best of `ROUNDS` or of as many as `SPENT_S` holds."""
    taken: list[float] = []
    while len(taken) < ROUNDS or sum(taken) < SPENT_S:
        gc.collect()
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def exponent(nodes: list[float], costs: list[float]) -> float:
    """Return the slope of log cost over log nodes."""
    return float(np.polyfit(np.log(nodes), np.log(costs), 1)[0])


if __name__ == "__main__":
    main()
