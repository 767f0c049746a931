"""What it costs to make text of pages, over parsing them with lxml and walking their elements.

    python -m benchmarks.text [--data FOLDER] [--pages 100] [--rounds 3] [--site docs-python]

Each page passes, one after the other and by turns: lxml, our parser, each method from the source to text, from a
stored Snapshot to text, the documented call, the writers, resiliparse, trafilatura and readability; then all pages as
files pass the command ``clean``. CPU time of one process, each figure the median of the rounds. A second table gives
our figures over trafilatura's: of all pages together, and of the median page, because a few pages cost trafilatura
ten times as much as the others. Below that stands the site style tree over pages of a whole site, learned and cleaned
as the command does it from files.

Absolute limits hold where lxml takes 3.6 ms a page, so the last column says what a figure would be there.
"""

import argparse
import contextlib
import io
import os
import statistics
import tempfile
import time
import zipfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import lxml.html

import domsieve
from benchmarks.analysis import machine
from benchmarks.printing import print_table
from domsieve.analysis.auto.cleaner import AutoCleaner
from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.metadata.page_metadata import read_metadata
from domsieve.analysis.writers.evidence import write_json
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.analysis.writers.text import write_text
from domsieve.cli import app
from domsieve.renderer.html_parser.parser import parse_html, read_html_file
from domsieve.snapshot.format import decode, encode
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.page_cleaning import clean, written
from domsieve.tasks.pages import Page
from experiments.corpora.wcxb_pages import page_files, read_page

LXML_MS = 3.6
URL = "https://page.example/article"
FIRST_PAGES = 10
"""Pages that pass before the first round: what is set up on first use is nobody's cost."""
PEER = "trafilatura"
OVER_PEER = ("source to text, auto", "domsieve.clean", "clean FILES")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    above = os.environ.get("DOMSIEVE_DATA")
    parser.add_argument("--data", type=Path, default=Path(above) if above else None, required=not above)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--site", default="docs-python")
    arguments = parser.parse_args()
    print(machine())
    pages(development_sources(arguments.data, arguments.pages), arguments.rounds)
    site(arguments.data / "sites" / f"{arguments.site}.zip", arguments.pages, arguments.rounds)


def development_sources(data: Path, number: int) -> list[bytes]:
    """Return sources of development pages, evenly over all of them."""
    found = [page for page in (read_page(*file) for file in page_files(data)) if page.half == "development"]
    sources = [page.source for page in found if page.source.strip()]
    return sources[:: max(1, len(sources) // number)][:number]


def walk(source: bytes) -> int:
    return sum(1 for _ in lxml.html.document_fromstring(source.decode("utf-8", "replace")).iter())


class Turns:
    """CPU seconds of a round by name of the work, one after the other."""

    def __init__(self) -> None:
        self.each: defaultdict[str, list[float]] = defaultdict(list)

    def __call__(self, name: str, work: Callable[..., Any], *given: Any) -> Any:
        """Do some work and count its time to that of `name`."""
        start = time.process_time()
        result = work(*given)
        self.each[name].append(time.process_time() - start)
        return result

    def over(self, name: str, other: str) -> float:
        """Return the time of one work over that of another."""
        return sum(self.each[name]) / sum(self.each[other])

    def of_median_page(self, name: str, other: str) -> float:
        """Return the same for the median page."""
        pairs = zip(self.each[name], self.each[other], strict=True)
        return statistics.median(own / others for own, others in pairs)


def pages(sources: Sequence[bytes], rounds: int) -> None:
    import trafilatura
    from readability import Document
    from resiliparse.extract.html2text import extract_plain_text

    judge, keeps_all = AutoCleaner().transform, NoCleaning().transform
    nodes = 0

    def parsed(source: bytes) -> Snapshot:
        return parse_html(source, url=URL, encoding="utf-8")

    def from_source(source: bytes) -> str:
        page = parsed(source)
        return write_text(page, judge(page))

    def from_store(stored: bytes) -> str:
        page = decode(stored)
        return write_text(page, judge(page))

    def call(source: bytes) -> str:
        return domsieve.clean(source.decode("utf-8", "replace"), url=URL).text

    def readability(source: bytes) -> object:
        return Document(source.decode("utf-8", "replace")).summary()

    def one_round(sources: Sequence[bytes]) -> Turns:
        nonlocal nodes
        turns, nodes = Turns(), 0
        for source in sources:
            turns("lxml parse and walk", walk, source)
            turns("parse", parsed, source)
            turns("source to text, auto", from_source, source)
            turns("domsieve.clean", call, source)
            turns("stored page to text, auto", from_store, encode(parsed(source)))
            page = parsed(source)
            nodes += len(page)
            verdict = keeps_all(page)
            turns("text of all", write_text, page, verdict)
            for name, write in (("Markdown", write_markdown), ("JSON", write_json)):
                page = parsed(source)
                turns(f"{name} of all", write, page, keeps_all(page))
            turns("metadata", read_metadata, parsed(source))
            turns("resiliparse", extract_plain_text, source.decode("utf-8", "replace"))
            turns(PEER, trafilatura.extract, source.decode("utf-8", "replace"))
            turns("readability", readability, source)
        with tempfile.TemporaryDirectory() as folder:
            turns("clean FILES", command_line, as_files(sources, Path(folder)), Path(folder, "cleaned"))
        return turns

    one_round(sources[:FIRST_PAGES])
    done = [one_round(sources) for _ in range(rounds)]
    print(f"{len(sources)} pages of {nodes / len(sources):,.0f} nodes; CPU time, median of {rounds} rounds\n")
    print_rows(done, len(sources))
    print_over_peer(done)
    markdown = statistics.median(turns.over("Markdown of all", "lxml parse and walk") for turns in done)
    print(
        f"Markdown at {LXML_MS} ms: {markdown * LXML_MS * 1e3 * len(sources) / nodes:.1f} us a node\n",
        flush=True,
    )


def print_over_peer(done: Sequence[Turns]) -> None:
    whole, middle = "of all pages", "of the median page"
    rows = []
    for name in OVER_PEER:
        figures = {whole: statistics.median(turns.over(name, PEER) for turns in done)}
        if all(len(turns.each[name]) == len(turns.each[PEER]) for turns in done):
            figures[middle] = statistics.median(turns.of_median_page(name, PEER) for turns in done)
        rows.append((name, figures))
    print_table([f"over {PEER}", whole, middle], rows)
    print()


def print_rows(done: Sequence[Turns], number: int) -> None:
    rows = []
    for name in done[0].each:
        ratio = statistics.median(turns.over(name, "lxml parse and walk") for turns in done)
        own = statistics.median(sum(turns.each[name]) for turns in done) / number
        figures = {"ms": own * 1e3, "over lxml": ratio, f"ms at {LXML_MS}": ratio * LXML_MS}
        rows.append((name, figures | {"pages/s": 1e3 / (ratio * LXML_MS)}))
    print_table(["work", "ms", "over lxml", f"ms at {LXML_MS}", "pages/s"], rows)
    print()


def site(file: Path, number: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if name.endswith((".html", ".htm"))][:number]
        sources = [archive.read(name) for name in names]
        files = as_files(sources, Path(folder))
        done = []
        for _ in range(rounds):
            turns = Turns()
            turns("lxml parse and walk", lambda: [*map(walk, sources)])
            turns("parse", lambda: [*map(read_html_file, files)])
            for method in ("sst", "auto"):
                turns(f"files to text, {method}", command, files, method)
            done.append(turns)
    nodes = sum(len(parse_html(source, url=URL)) for source in sources) / len(sources)
    print(
        f"{len(files)} pages of {file.stem}, {nodes:,.0f} nodes a page; learned and cleaned as by the command\n"
    )
    print_rows(done, len(files))


def as_files(sources: Sequence[bytes], folder: Path) -> list[Path]:
    files = [folder / f"{number}.html" for number in range(len(sources))]
    for file, source in zip(files, sources, strict=True):
        file.write_bytes(source)
    return files


def command_line(files: Sequence[Path], output: Path) -> None:
    """Run ``domsieve clean`` in this process."""
    with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()):
        app(["clean", *map(str, files), "-o", str(output)])


def command(files: Sequence[Path], method: Any) -> None:
    listed = [Page(str(path), path.stem, "site", partial(read_html_file, path)) for path in files]
    for page, result in clean(listed, method=method, siblings=lambda _: []):
        if isinstance(result, Exception):
            raise result
        written(page, result, "text")


if __name__ == "__main__":
    main()
