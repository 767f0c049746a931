r"""How much of a site drawn by JavaScript is seen, and how well it is cleaned.

    npm install --ignore-scripts --prefix FOLDER PACKAGE@VERSION ...    (as the manifests of the corpora say)
    python -m benchmarks.quality_javascript --node-modules FOLDER/node_modules [--data DATA] [--cache CACHE]

DATA holds one folder per corpus (``manifest.json``, ``routes.json``, ``truth/``, ``site/``) and serve.py, which
serves it on loopback; all other hosts have no name. A site that is not shipped is built in a temporary folder.
Words are ``\w{2,}`` in lower case, counted as multisets. Recall is over all words of a corpus, F1 is the mean over
its routes; where a corpus brings a rendered truth, precision is against that. Trafilatura gets the whole rendered
page as HTML. Bytes per node are those of the page store, raw sources left out.
"""

import argparse
import asyncio
import contextlib
import html
import json
import logging
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal, get_args

import trafilatura

from analysis import NoCleaning, SiteStyleTree, StyleLevel, TagPathFilter, Verdict, write_text
from benchmarks.scoring import command_line, count_words, mean_score, print_check, print_table, score
from renderer import Renderer, Rendering, parse_html
from snapshot import Kind, PageStore, Snapshot

LOOPBACK_ONLY = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
BUILD_LIMIT_S = 120
VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)

CLAIMS: dict[str, Callable[[dict[str, float]], bool]] = {
    "every route rendered whole": lambda row: row["rendered whole"] == row["routes"],
    "at least 0.99 of the truth in the rendered text": lambda row: row["recall"] >= 0.99,
    "at most 0.01 of it in the visible text of the raw source": lambda row: row["of raw source"] <= 0.01,
}

Cleaner = Callable[[Sequence[Snapshot]], Sequence[Verdict]]


@dataclass(frozen=True, slots=True)
class Route:
    """One page of a corpus as rendered, the source it came from, and the words it must and may hold."""

    page: Snapshot
    source: bytes
    truth: Counter[str]
    complete_truth: Counter[str]


@contextlib.contextmanager
def serve(corpus: Path, arguments: argparse.Namespace) -> Iterator[None]:
    """Serve a corpus while the context is open."""
    with tempfile.TemporaryDirectory() as temporary:
        manifest = json.loads((corpus / "manifest.json").read_text("utf-8"))
        if not (corpus / manifest["site"]).exists():
            build = next(step for step in manifest["steps"] if step.startswith("node "))
            Path(temporary, "node_modules").symlink_to(arguments.node_modules)
            built = Path(temporary, corpus.name)
            built.mkdir()
            corpus = Path(shutil.copyfile(corpus / "manifest.json", built / "manifest.json")).parent
            subprocess.run(
                shlex.split(build),
                cwd=temporary,
                check=True,
                timeout=BUILD_LIMIT_S,
                stdout=subprocess.DEVNULL,
            )
        command = [sys.executable, str(arguments.data / "serve.py"), str(corpus)]
        command += ["--node-modules", str(arguments.node_modules), "--port", str(arguments.port)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            assert server.stdout
            if not server.stdout.readline():
                sys.exit(f"{corpus.name} cannot be served; is port {arguments.port} in use?")
            try:
                yield
            finally:
                server.terminate()


async def render(urls: list[str], store: PageStore, *, concurrency: int) -> None:
    """Render pages into the store; failures are told on stderr."""
    async with Renderer(arguments=(LOOPBACK_ONLY,), concurrency=concurrency) as renderer:
        async for url, outcome in renderer.render_many(urls):
            if isinstance(outcome, Rendering):
                store.put(outcome.snapshot, source=outcome.source)
            else:
                print(f"{url} failed: {outcome}", file=sys.stderr)


def load(
    corpus: Path, store: PageStore, arguments: argparse.Namespace
) -> tuple[list[Route], dict[str, float]]:
    """Return all routes that could be rendered, and figures on the capture; what the store lacks is rendered."""
    entries = {
        f"http://127.0.0.1:{arguments.port}/{entry['route']}": corpus / entry["truth"]
        for entry in json.loads((corpus / "routes.json").read_text("utf-8"))
    }
    complete = {record.url for record in store.records() if record.complete}
    if missing := [url for url in entries if url not in complete]:
        with serve(corpus, arguments):
            asyncio.run(render(missing, store, concurrency=arguments.concurrency))
    newest = {record.url: record for record in store.records()}
    routes = []
    for url, truth in entries.items():
        if url in newest:
            record, better = newest[url], corpus / "truth_rendered" / truth.name
            words = _words(truth)
            complete_words = _words(better) if better.exists() else words
            source = store.source(record) if record.source_digest else b""
            routes.append(Route(store.get(record.page_id), source, words, complete_words))
    stored = sum(f.stat().st_size for kind in ("pages", "bases") for f in (store.root / kind).rglob("*.*"))
    return routes, {
        "routes": len(entries),
        "rendered whole": sum(route.page.provenance.complete for route in routes),
        "bytes per node": stored / sum(record.nodes for record in store.records()),
    }


def _words(file: Path) -> Counter[str]:
    return count_words(file.read_text("utf-8"), shortest=2)


def text_words(page: Snapshot, verdict: Verdict) -> Counter[str]:
    """Return the words of the kept text."""
    return count_words(write_text(page, verdict), shortest=2)


def recall(found: list[Counter[str]], truth: list[Counter[str]]) -> float:
    """Return the share of all words of the truth that were found, route by route."""
    hits = sum((f & t).total() for f, t in zip(found, truth, strict=True))
    return hits / sum(t.total() for t in truth)


def visibility(routes: list[Route]) -> dict[str, float]:
    """Return the recall of the truth in all visible text, rendered and raw."""
    clean = NoCleaning().transform
    rendered = [text_words(route.page, clean(route.page)) for route in routes]
    sources = [parse_html(route.source, url=route.page.provenance.final_url) for route in routes]
    raw = [text_words(source, clean(source)) for source in sources]
    truth = [route.truth for route in routes]
    worst = min(recall([f], [t]) for f, t in zip(rendered, truth, strict=True))
    return {"recall": recall(rendered, truth), "of worst route": worst, "of raw source": recall(raw, truth)}


def serialise(page: Snapshot) -> str:
    """Return the whole page as HTML with all attributes, visible or not, as a browser's ``outerHTML`` does.

    Shadow roots and frames are written in place, scripts and style sheets are empty.
    """
    written = ["<!DOCTYPE html>"]
    open_until: list[tuple[int, str]] = []
    for node in range(len(page)):
        while open_until and open_until[-1][0] <= node:
            written.append(open_until.pop()[1])
        kind = page.kind[node]
        if kind == Kind.TEXT:
            written.append(html.escape(page.text_of(node), quote=False))
        elif kind == Kind.ELEMENT:
            tag = page.tag_name(node)
            attributes = "".join(f' {n}="{html.escape(v)}"' for n, v in page.attributes(node).items())
            written.append(f"<{tag}{attributes}>")
            open_until.append((int(page.end[node]), "" if tag in VOID else f"</{tag}>"))
    written.extend(close for _, close in reversed(open_until))
    return "".join(written)


def f1_of(routes: list[Route], words: Sequence[Counter[str]]) -> float:
    """Return the mean F1 over the routes."""
    return mean_score(
        [score(w, r.truth, complete_truth=r.complete_truth) for r, w in zip(routes, words, strict=True)]
    ).f1


def f1_of_method(routes: list[Route], clean: Cleaner) -> float:
    """Return the mean F1 of the text that a method keeps."""
    pages = [route.page for route in routes]
    return f1_of(routes, [text_words(p, v) for p, v in zip(pages, clean(pages), strict=True)])


def site_cleaner(style: StyleLevel | Literal["auto"]) -> Cleaner:
    """Return a function that learns a site from its pages and cleans them."""
    return lambda pages: SiteStyleTree(style=style).fit(pages).transform(pages)


def methods_table(routes: list[Route]) -> dict[str, float]:
    """Return the F1 of every method and of trafilatura on the same rendered HTML."""
    extracted = [trafilatura.extract(serialise(route.page)) or "" for route in routes]
    return {
        "no cleaning": f1_of_method(routes, NoCleaning().transform),
        "SST site": f1_of_method(routes, site_cleaner("auto")),
        "TPS": f1_of_method(routes, TagPathFilter().transform),
        "trafilatura": f1_of(routes, [count_words(text, shortest=2) for text in extracted]),
    }


def style_table(routes: list[Route]) -> dict[str, float]:
    """Return the F1 of SST and TPS by level of style."""
    figures = {}
    for level in get_args(StyleLevel):
        figures[f"SST {level}"] = f1_of_method(routes, site_cleaner(level))
        figures[f"TPS {level}"] = f1_of_method(routes, TagPathFilter(style=level).transform)
    return figures


def main() -> None:
    parser = command_line(__doc__, data="js")
    parser.add_argument("--node-modules", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="keep renderings here, and use those that are there")
    parser.add_argument("--corpora", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--concurrency", type=int, default=2)
    parser.add_argument("--port", type=int, default=8801)
    arguments = parser.parse_args()
    arguments.node_modules = arguments.node_modules.resolve()
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    tables: tuple[dict[str, dict[str, float]], ...] = ({}, {}, {})
    captures, methods, styles = tables
    with tempfile.TemporaryDirectory() as temporary:
        for name in arguments.corpora or sorted(
            path.parent.name for path in arguments.data.glob("*/routes.json")
        ):
            with PageStore((arguments.cache or Path(temporary)) / name) as store:
                routes, captures[name] = load(arguments.data / name, store, arguments)
            captures[name] |= visibility(routes)
            methods[name] = methods_table(routes)
            styles[name] = style_table(routes)
            print(f"{name} done", file=sys.stderr)
    for table in tables:
        head = list(next(iter(table.values())))
        mean = {column: fmean(row[column] for row in table.values()) for column in head}
        print_table(["corpus", *head], [*table.items(), ("mean", mean)])
        print()
    for claim, holds in CLAIMS.items():
        print_check(claim, [name for name, row in captures.items() if not holds(row)])


if __name__ == "__main__":
    main()
