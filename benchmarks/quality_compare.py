"""Where `compare` says that a browser is needed, on sites whose answer is known, and what it costs over one render.

    python -m benchmarks.quality_compare --node-modules FOLDER/node_modules [--data DATA] [--pages 40]

DATA holds the folders js/ (every site needs a browser) and sites/ (zips of static pages, none
needs one). Cost: on the first pages of each site, wall time of a plain render against one that keeps what compare
needs, medians of three rounds by turns, with the comparison; and the most memory that comparing one page allocates
in this process.
"""

import asyncio
import contextlib
import json
import sys
import tempfile
import time
import tracemalloc
import zipfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.printing import command_line, print_check, print_table
from domsieve.options import CaptureOptions
from domsieve.renderer.network.egress import offline
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_comparison import advise, compare
from domsieve.tasks.page_getter import get_pages
from domsieve.tasks.pages import keep
from examples.loopback import folder_served
from experiments.corpora.javascript_sites import serve_corpus

STATIC = ("docs-rustbook", "docs-postgresql", "uci-www_cs_uci_edu")
TIMED, ROUNDS = 8, 3


@contextlib.contextmanager
def serve_zip(archive: Path) -> Iterator[list[str]]:
    """Serve the pages of a site on loopback; the value is their addresses."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(archive) as packed:
        names = sorted(
            name for name in packed.namelist() if name.startswith("pages/") and name.endswith(".html")
        )
        packed.extractall(folder, names)
        with folder_served(Path(folder, "pages")) as base:
            yield [f"{base}/{name.removeprefix('pages/')}" for name in names]


def render(urls: Sequence[str], store: PageStore, options: CaptureOptions) -> tuple[list[PageRecord], float]:
    """Return the captures of pages rendered one after the other, and seconds per page."""

    async def run() -> tuple[list[PageRecord], float]:
        async with Renderer(options, concurrency=1, egress=offline()) as renderer:
            start = time.perf_counter()
            outcomes = await get_pages(
                urls, renderer.render_many, find=lambda _: None, keep=partial(keep, store=store)
            )
            spent = time.perf_counter() - start
        return [record for record in outcomes.values() if isinstance(record, PageRecord)], spent / len(urls)

    return asyncio.run(run())


def measure(urls: Sequence[str]) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return the advice on a site by prefix, and what it costs."""
    with tempfile.TemporaryDirectory() as folder, PageStore(Path(folder)) as store:
        timed = urls[:TIMED]
        rounds = [
            [render(timed, store, CaptureOptions(both_versions=both))[1] for both in (False, True)]
            for _ in range(ROUNDS)
        ]
        plain, whole = (median(seconds) for seconds in zip(*rounds, strict=True))
        records, _ = render(urls, store, CaptureOptions(both_versions=True))
        start = time.perf_counter()
        pages = [(page.record.url, page.result) for page in compare(records, store)]
        compared = (time.perf_counter() - start) / len(records)
        tracemalloc.start()
        list(compare(records[:1], store))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    rows = {
        entry.prefix: {
            "pages": entry.pages,
            "browser needed": entry.browser_needed,
            "recall": entry.recall,
            "words": entry.content.wanted,
        }
        for entry in advise([(url, result) for url, result in pages if not isinstance(result, Exception)])
    }
    cost = {
        "render s": plain,
        "with all kept s": whole,
        "compare s": compared,
        "ratio": (whole + compared) / plain,
        "peak MB": peak / 1e6,
    }
    return rows, cost


def main() -> None:
    parser = command_line(__doc__, data="")
    parser.add_argument("--node-modules", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=40, help="at most, of each site")
    parser.add_argument("--sites", nargs="+", metavar="NAME", help="only these")
    arguments = parser.parse_args()
    arguments.node_modules = arguments.node_modules.resolve()
    drawn = sorted(path.parent.name for path in arguments.data.glob("js/*/routes.json"))
    advice: dict[str, dict[str, float]] = {}
    costs: dict[str, dict[str, float]] = {}
    wrong = []
    for name in arguments.sites or [*drawn, *STATIC]:
        if name in drawn:
            corpus = arguments.data / "js" / name
            paths = [entry["route"] for entry in json.loads((corpus / "routes.json").read_text("utf-8"))]
            with serve_corpus(corpus, arguments.node_modules) as address:
                rows, costs[name] = measure([address + path for path in paths][: arguments.pages])
        else:
            with serve_zip(arguments.data / "sites" / f"{name}.zip") as addresses:
                step = max(1, len(addresses) // arguments.pages)
                rows, costs[name] = measure(addresses[::step][: arguments.pages])
        for prefix, row in rows.items():
            advice[f"{name} {prefix}"] = row
            if row["browser needed"] != (name in drawn):
                wrong.append(f"{name} {prefix}")
        print(f"{name} done", file=sys.stderr)
    for table in (advice, costs):
        print_table(["site", *next(iter(table.values()))], table.items())
        print()
    print_check("the right advice for every prefix", wrong)
    print_check("at most 2.2 times one render", [name for name, row in costs.items() if row["ratio"] > 2.2])


if __name__ == "__main__":
    main()
