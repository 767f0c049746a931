"""What rendering only where it adds content saves, and what it loses against rendering all pages.

    python -m benchmarks.adaptive [--data DATA] --node-modules FOLDER/node_modules [--pages 60] [--crawlee PYTHON]

Static sites are the zips of DATA/sites, sites drawn by scripts those of DATA/js, and `--folder` adds folders of
static pages with their style sheets. The sites ``demo`` and ``manual`` are those of `examples`; they are crawled. The
pages of each site are loaded into a cache of their own, once with `always` and once with `auto`, each in a process of
its own, in rounds by turns, and cleaned by `auto` with what is known of their site. A row per site:

- the share of pages that `auto` renders;
- processor time of loading over that of `always`, median of the rounds, with the browser;
- of the words that are kept with `always`, the share that is kept with `auto` (recall), and F1 of the two;
- the number of hidden words, by the rendered page, that `always` drops and `auto` keeps;
- of corpora with ground truth, the mean F1 of what each mode keeps;
- of crawled sites, the share of the pages that `always` finds which `auto` finds;
- with `--crawlee`, the interpreter of an environment with ``crawlee[adaptive-crawler]``: the share that Crawlee's
  predictor renders of the same pages, with recall and F1 of the words that would be kept so.

``turning`` is a site that turns from static to drawn half-way, see `benchmarks.turning_site`.

Says where the mean F1 is below 0.995, a site's is below 0.98 or its recall below 0.995, where hidden text is kept,
where a static site of 60 pages takes more than half of the time, one of 200 more than a quarter, and where a site
drawn by scripts takes more than 1.05 times.
"""

import asyncio
import contextlib
import json
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any, Literal
from urllib.parse import quote, unquote, urlsplit

from benchmarks.crawlee_predictor import rendered_by_crawlee
from benchmarks.loopback_factory import LoopbackFactory
from benchmarks.printing import command_line, print_check, print_table
from benchmarks.rendering import processor_seconds
from benchmarks.turning_site import serve_turning, turn
from domsieve.analysis.columns.hiding import hidden_texts
from domsieve.analysis.writers.text import write_text
from domsieve.errors import DomsieveError
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.protocol import Outcome, PageSource
from domsieve.renderer.sampling.events import PageDone
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_cleaning import clean
from domsieve.tasks.page_getter import get_pages
from domsieve.tasks.pages import cached, from_record, keep, known_pages
from domsieve.tasks.render_modes import page_source
from domsieve.tasks.sampling import sample
from domsieve.types import DriverName
from examples.loopback import folder_served
from examples.manual import manual_served
from examples.serve import serve_demo
from experiments.corpora.javascript_sites import serve_corpus
from experiments.measures.word_scores import count_words

_SUFFIXES = (".html", ".htm")
# What is measured is the page, however busy the machine is.
_PATIENT = Budget(time=timedelta(seconds=60))
Mode = Literal["always", "auto"]
_CRAWLED = ("demo", "manual")
_TURNING = "turning"


@contextlib.contextmanager
def serve_folder(folder: Path, pages: int) -> Iterator[list[str]]:
    """Serve a folder on loopback; the value is the addresses of so many of its pages, evenly drawn."""
    names = sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.suffix in _SUFFIXES
    )
    step = max(1, len(names) // pages)
    with folder_served(folder) as base:
        yield [f"{base}/{quote(name)}" for name in names[::step][:pages]]


@contextlib.contextmanager
def serve_site(name: str, data: Path, node_modules: Path | None, pages: int) -> Iterator[list[str]]:
    """Serve a site by its name; the value is the addresses of its pages, of a site to crawl only the first one."""
    if name in _CRAWLED:
        with serve_demo() if name == "demo" else manual_served() as base:
            yield [f"{base}/"]
        return
    corpus = data / "js" / name
    if corpus.is_dir() and node_modules:
        routes = [entry["route"] for entry in json.loads((corpus / "routes.json").read_text("utf-8"))]
        with serve_corpus(corpus, node_modules) as address:
            yield [address + route for route in routes][:pages]
        return
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(data / "sites" / f"{name}.zip") as packed:
            packed.extractall(folder, [entry for entry in packed.namelist() if entry.startswith("pages/")])
        with serve_folder(Path(folder, "pages"), pages) as urls:
            yield urls


def read_truth(name: str, data: Path, urls: Sequence[str]) -> dict[str, str]:
    """Return the ground truth of the pages of a corpus that have one, by address."""
    packed = data / "sites" / f"{name}.zip"
    if not packed.is_file():
        return {}
    with zipfile.ZipFile(packed) as site:
        there = {*site.namelist()}
        files = {url: f"main_text/{unquote(urlsplit(url).path[1:]).rpartition('.')[0]}.txt" for url in urls}
        return {url: site.read(file).decode() for url, file in files.items() if file in there}


def load(urls: list[str], mode: Mode, driver: DriverName, *, crawl: bool) -> dict[str, Any]:
    """Load pages into a new cache and clean them; return times, and what is kept and hidden by address.

    With `crawl`, the site of the first page is crawled.
    """
    options = CaptureOptions(render=mode)
    factory = LoopbackFactory(options=options, budget=_PATIENT, driver=driver, concurrency=2)
    reports: list[str] = []
    with tempfile.TemporaryDirectory() as folder, PageStore(folder) as store:

        def rendering(source: PageSource) -> Callable[[list[str]], AsyncGenerator[Outcome]]:
            async def render(missing: list[str]) -> AsyncGenerator[Outcome]:
                async for outcome in source.render_many(missing):
                    yield outcome

            return render

        async def run() -> float:
            start = processor_seconds()
            source = page_source(factory, store=store, report=lambda *words: reports.append(" ".join(words)))
            async with source as opened:
                if crawl:
                    urls[:] = await _crawled(urls[0], opened, store, factory)
                    return processor_seconds() - start
                await get_pages(urls, rendering(opened), find=lambda _: None, keep=partial(keep, store=store))
                return processor_seconds() - start

        spent_s = asyncio.run(run())
        found: dict[str, Any] = {}
        records = [record for url in urls if (record := cached(url, store, options))]
        pages = [from_record(record, store) for record in records]
        raw_texts = {}
        if mode == "always":
            raws = [from_record(record, store, raw=True) for record in records]
            for page, result in clean(
                raws, siblings=lambda site: known_pages(site, store, options, raw=True)
            ):
                raw_texts[page.label] = "" if isinstance(result, DomsieveError) else write_text(*result)
        for page, result in clean(pages, siblings=lambda site: known_pages(site, store, options)):
            if isinstance(result, DomsieveError):
                continue
            snapshot, verdict = result
            origin = snapshot.provenance
            found[page.label] = {
                "rendered": snapshot.has_layout,
                "reason": origin.reason,
                "kept": write_text(snapshot, verdict),
                "kept of raw": raw_texts.get(page.label, ""),
                "hidden": _texts(snapshot, hidden=True),
                "visible": _texts(snapshot, hidden=False),
            }
    return {"s": spent_s, "pages": found, "reports": reports}


async def _crawled(start: str, source: PageSource, store: PageStore, factory: LoopbackFactory) -> list[str]:
    events = sample(
        source,
        start,
        store,
        options=factory.options,
        pages=None,
        seed=0,
        delay=timedelta(),
        concurrency=2,
        since=None,
        egress=factory.egress,
    )
    async with contextlib.aclosing(events):
        return [event.url async for event, _ in events if isinstance(event, PageDone)]


def _texts(page: Snapshot, *, hidden: bool) -> str:
    hiding = hidden_texts(page)
    chosen = (page.kind == Kind.TEXT) & ((hiding > 0) if hidden else (hiding == 0))
    return " ".join(page.strings.take(page.text[chosen].tolist()))


def in_process(urls: Sequence[str], mode: Mode, driver: DriverName, *, crawl: bool) -> dict[str, Any]:
    """Do the same as `load` in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.adaptive",
        "--worker",
        mode,
        "--driver",
        driver,
        "--data",
        ".",
    ]
    done = subprocess.run(
        [*command, *(["--crawl"] if crawl else [])],
        input=json.dumps(list(urls)),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2_000:])
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def measure(
    urls: Sequence[str],
    rounds: int,
    driver: DriverName,
    *,
    crawl: bool,
    crawlee: Path | None,
    truth: dict[str, str],
) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the row of a site, and what `auto` did with its pages."""
    ratios = []
    first: dict[Mode, dict[str, Any]] = {}
    for _ in range(rounds):
        done: dict[Mode, dict[str, Any]] = {
            mode: in_process(urls, mode, driver, crawl=crawl) for mode in ("always", "auto")
        }
        ratios.append(done["auto"]["s"] / done["always"]["s"])
        first = first or done
    always, auto = first["always"]["pages"], first["auto"]["pages"]
    recall, f1 = _scores(always, {url: page["kept"] for url, page in auto.items()})
    row = {
        "pages": len(always),
        "rendered": sum(page["rendered"] for page in auto.values()) / max(len(auto), 1),
        "time": median(ratios),
        "always ms": 1000 * first["always"]["s"] / max(len(always), 1),
        "recall": recall,
        "F1": f1,
        "hidden words": sum(_leaked(page, auto[url]["kept"]) for url, page in always.items() if url in auto),
    }
    if truth:
        wanted = {url: {"kept": text} for url, text in truth.items() if url in always}
        for mode, pages in first.items():
            row[f"{mode}, by truth"] = _scores(
                wanted, {url: page["kept"] for url, page in pages["pages"].items()}
            )[1]
    if crawl:
        row["found"] = len(always.keys() & auto.keys()) / max(len(always), 1)
    if crawlee:
        same = {url: page["kept"] == page["kept of raw"] for url, page in always.items()}
        chosen = rendered_by_crawlee([*always], same, crawlee)
        kept = {url: page["kept" if url in chosen else "kept of raw"] for url, page in always.items()}
        row["Crawlee rendered"] = len(chosen) / max(len(always), 1)
        row["Crawlee recall"], row["Crawlee F1"] = _scores(always, kept)
    return row, first["auto"]


def _scores(always: dict[str, Any], kept: dict[str, str]) -> tuple[float, float]:
    """Return the recall of all words of ``"kept"`` in the first argument, and the mean F1 of the pages."""
    wanted_words = both = 0
    scores = []
    for url, page in always.items():
        wanted, got = count_words(page["kept"]), count_words(kept.get(url, ""))
        common, total = (wanted & got).total(), wanted.total() + got.total()
        wanted_words, both = wanted_words + wanted.total(), both + common
        scores.append(2 * common / total if total else 1.0)
    return both / wanted_words if wanted_words else 1.0, fmean(scores) if scores else 1.0


def _leaked(page: dict[str, Any], kept: str) -> int:
    """Return the number of kept words that the rendered page has in hidden text only, and `always` drops."""
    visible, hidden, got = (count_words(text) for text in (page["visible"], page["hidden"], kept))
    return ((got - (visible | count_words(page["kept"]))) & hidden).total()


def main() -> None:
    """Print a row for each site, and whether the figures hold."""
    parser = command_line(__doc__, data="")
    parser.add_argument("--node-modules", type=Path)
    parser.add_argument("--pages", type=int, default=60, help="at most, of each site")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sites", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--folder", nargs="+", type=Path, default=[], help="more static sites")
    parser.add_argument("--driver", choices=("playwright", "pipe"), default="pipe")
    parser.add_argument("--reasons", action="store_true", help="also say why pages were rendered")
    parser.add_argument(
        "--worker", choices=("always", "auto"), help="for the processes of the benchmark itself"
    )
    parser.add_argument("--crawl", action="store_true", help="likewise")
    parser.add_argument("--crawlee", type=Path, metavar="PYTHON", help="compare with Crawlee's predictor")
    arguments = parser.parse_args()
    if arguments.worker:
        urls = json.loads(sys.stdin.read())
        print(json.dumps(load(urls, arguments.worker, arguments.driver, crawl=arguments.crawl)))
        return
    if arguments.crawlee is None:
        print("Crawlee is left out; --crawlee names an interpreter that has it.", file=sys.stderr)
    data: Path = arguments.data
    modules = arguments.node_modules.resolve() if arguments.node_modules else None
    drawn = sorted(path.parent.name for path in data.glob("js/*/routes.json")) if modules else []
    static = sorted(path.stem for path in (data / "sites").glob("*.zip"))
    rows: dict[str, dict[str, float]] = {}
    names: list[Path | str] = [
        *arguments.folder,
        *(arguments.sites or [*static, *drawn, *_CRAWLED, _TURNING]),
    ]
    drawn += _CRAWLED
    turned: dict[str, int] = {}
    for name in names:
        if name == _TURNING:
            with serve_turning(arguments.pages) as urls:
                turned = turn(urls, _PATIENT, arguments.driver)
            print(f"{name}: {json.dumps(turned)}", file=sys.stderr)
            continue
        serving = (
            serve_folder(name.resolve(), arguments.pages)
            if isinstance(name, Path)
            else serve_site(name, data, modules, arguments.pages)
        )
        with serving as urls:
            row, auto = measure(
                urls,
                arguments.rounds,
                arguments.driver,
                crawl=name in _CRAWLED,
                crawlee=arguments.crawlee,
                truth=read_truth(str(name), data, urls),
            )
        rows[str(name)] = row
        print(f"{name}: {json.dumps({key: round(value, 3) for key, value in row.items()})}", file=sys.stderr)
        if arguments.reasons:
            reasons = Counter(page["reason"] for page in auto["pages"].values())
            for reason, number in reasons.most_common():
                print(f"    {number:4} {reason}", file=sys.stderr)
            for report in auto["reports"]:
                print(f"    {report}", file=sys.stderr)
    print_table(["site", *dict.fromkeys(column for row in rows.values() for column in row)], rows.items())
    print()
    statics = {name: row for name, row in rows.items() if name not in drawn}
    mean_f1 = fmean(row["F1"] for row in rows.values()) if rows else 1.0
    print_check("mean F1 at least 0.995", [] if mean_f1 >= 0.995 else [f"{mean_f1:.3f}"])
    print_check("F1 at least 0.98", [name for name, row in rows.items() if row["F1"] < 0.98])
    print_check("recall at least 0.995", [name for name, row in rows.items() if row["recall"] < 0.995])
    print_check("no hidden text is kept", [name for name, row in rows.items() if row["hidden words"]])
    limits = [(200, 0.25), (60, 0.5)]
    slow = []
    for name, row in statics.items():
        limit = next((most for least, most in limits if row["pages"] >= least), 1.0)
        if row["time"] > limit:
            slow.append(name)
    print_check("static sites take at most 0.5 of the time (60 pages), 0.25 (200)", slow)
    print_check(
        "drawn ones at most 1.05", [name for name in drawn if name in rows and rows[name]["time"] > 1.05]
    )
    print_check(
        "crawls find at least 0.995 of the pages",
        [name for name, row in rows.items() if row.get("found", 1) < 0.995],
    )
    if turned:
        print_check(
            "a turn is found within 20 pages, and mended",
            []
            if turned["found"] <= 20 and not turned["left"] and turned["fetched"]
            else [json.dumps(turned)],
        )


if __name__ == "__main__":
    main()
