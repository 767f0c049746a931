"""Sites drawn by JavaScript: how much of them is seen with and without a browser, and how well they are cleaned."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from domsieve.analysis.writers.text import write_text
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from experiments.corpora.javascript_sites import SHORTEST, Route, read_routes, serialise
from experiments.frame.experiment import Experiment, Inputs, Row, Task
from experiments.frame.figures import new_figure
from experiments.frame.journal import ROOT, digest_of
from experiments.frame.tables import Cell, Table
from experiments.measures.word_scores import count_words, mean_score, score
from experiments.systems.cleaners import CLEANERS, Cleaner
from experiments.systems.peers import PEER_PACKAGES, PEERS, extract

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Words = list[Counter[str]]

RAW, RENDERED = "raw", "rendered"
NONE = "none"

PREFACE = r"""
Six sites whose content appears after scripts ran, served on loopback with their npm packages; no other host has a
name. Every route is rendered once and kept, so that a run that resumes does not render again. Words are `\w{2,}` in
lower case, counted as multisets, against the Markdown, specification or store that the content was made from. For
redoc and swagger that is a lower bound, and precision is against the text of the main part as rendered. The raw
version is what the same navigation answered, parsed without scripts. Rendering again may move a figure in the fourth
digit: a logo that cannot be loaded was there in one run and gone in another, one node of 172,952. Site methods learn
from the routes that they clean. The extractors of others get the whole rendered page as HTML, visible or not, as a
browser would save it.
"""


def tasks(inputs: Inputs) -> list[Task]:
    """Return a task per corpus."""
    modules = inputs.node_modules
    if modules is None:
        return []
    return [
        Task(corpus.name, partial(measure, corpus, modules, kept), files)
        for corpus, files, kept in rendered_corpora(inputs)
    ]


def rendered_corpora(inputs: Inputs) -> list[tuple[Path, tuple[Path, ...], Path]]:
    """Return for each corpus its folder, what is read of it, and the folder of its rendered pages."""
    folder = inputs.data / "js"
    capture = digest_of((ROOT / "domsieve/renderer", ROOT / "domsieve/snapshot"), suffixes=(".py", ".js"))
    found: list[tuple[Path, tuple[Path, ...], Path]] = []
    for corpus in sorted(file.parent for file in folder.glob("*/routes.json")):
        files = (corpus, folder / "serve.py")
        kept = inputs.output / "rendered" / f"{corpus.name}-{digest_of(files)[:8]}{capture[:8]}"
        found.append((corpus, files, kept))
    return found


def measure(corpus: Path, node_modules: Path, kept: Path) -> list[Row]:
    """Return a row on what is seen of a corpus, and a row per system and side.

    Parameters
    ----------
    kept : folder of the page store of the corpus.
    """
    routes = read_routes(corpus, node_modules, kept)
    sources = [parse_html(route.source, url=f"http://{corpus.name}/{route.name}") for route in routes]
    rows: list[Row] = []
    visible: dict[str, Words] = {}
    for side, pages in ((RAW, sources), (RENDERED, [route.page for route in routes])):
        for name, clean in CLEANERS.items():
            clean(pages[:1])  # everything is imported before the time is taken
            words, seconds = _cleaned(clean, pages)
            rows.append(_row(corpus.name, name, side, routes, words, seconds))
            if name == NONE:
                visible[side] = words
    written = [serialise(route.page) for route in routes]
    for name, peer in PEERS.items():
        extract(peer, written[0])
        found = [extract(peer, page) for page in written]
        words = [count_words(one.text, shortest=SHORTEST) for one in found]
        rows.append(_row(corpus.name, name, RENDERED, routes, words, sum(one.seconds for one in found)))
    return [_seen(corpus.name, routes, visible), *rows]


def _cleaned(clean: Cleaner, pages: Sequence[Snapshot]) -> tuple[Words, float]:
    start = time.process_time()
    texts = [write_text(page, verdict) for page, verdict in zip(pages, clean(pages), strict=True)]
    seconds = time.process_time() - start
    return [count_words(text, shortest=SHORTEST) for text in texts], seconds


def _row(corpus: str, system: str, side: str, routes: Sequence[Route], words: Words, seconds: float) -> Row:
    pairs = zip(routes, words, strict=True)
    mean = mean_score([score(found, r.truth, complete_truth=r.complete_truth) for r, found in pairs])
    return {
        "corpus": corpus,
        "system": system,
        "side": side,
        "precision": mean.precision,
        "recall": mean.recall,
        "f1": mean.f1,
        "cost": {"cpu_ms": round(1e3 * seconds / len(routes), 2)},
    }


def _seen(corpus: str, routes: Sequence[Route], visible: Mapping[str, Words]) -> Row:
    truth = [route.truth for route in routes]
    shares = [_recall([found], [wanted]) for found, wanted in zip(visible[RENDERED], truth, strict=True)]
    return {
        "corpus": corpus,
        "routes": len(routes),
        "truth_words": sum(words.total() for words in truth),
        "nodes": sum(len(route.page) for route in routes),
        "browser": routes[0].page.provenance.browser,
        "seen_rendered": _recall(visible[RENDERED], truth),
        "seen_worst": min(shares),
        "seen_raw": _recall(visible[RAW], truth),
    }


def _recall(found: Words, truth: Words) -> float:
    """Return the share of all words of the truth that were found, route by route."""
    hits = sum((f & t).total() for f, t in zip(found, truth, strict=True))
    return hits / max(sum(t.total() for t in truth), 1)


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return what is seen, F1 by system for both versions, and what each system costs."""
    return [
        _seen_table([row for row in rows if "routes" in row]),
        _f1_table(rows, RENDERED),
        _f1_table(rows, RAW),
        _cost_table(rows),
    ]


def _seen_table(rows: Sequence[Row]) -> Table:
    head = ("corpus", "routes", "words of the truth", "seen rendered", "on the worst route", "seen raw")
    columns = ("corpus", "routes", "truth_words", "seen_rendered", "seen_worst", "seen_raw")
    cells: list[list[Cell]] = [[row[column] for column in columns] for row in rows]
    means = [fmean(row[column] for row in rows) for column in columns[3:]]
    total = [sum(row[column] for row in rows) for column in columns[1:3]]
    note = f"Rendered by {rows[0]['browser']}; the last line has sums and means."
    return Table("Words of the truth in the visible text", head, [*cells, ["all", *total, *means]], note)


def _f1_table(rows: Sequence[Row], side: str) -> Table:
    f1 = {(row["system"], row["corpus"]): row["f1"] for row in rows if row.get("side") == side}
    systems, corpora = (list(dict.fromkeys(names)) for names in zip(*f1, strict=True))
    cells: list[list[Cell]] = [
        [system, *(f1[system, c] for c in corpora), fmean(f1[system, c] for c in corpora)]
        for system in systems
    ]
    return Table(f"Word F1, {side} pages", ("system", *corpora, "mean"), cells)


def _cost_table(rows: Sequence[Row]) -> Table:
    times = {(r["system"], r["side"], r["corpus"]): r["cost"]["cpu_ms"] for r in rows if "side" in r}
    systems = dict.fromkeys((system, side) for system, side, _ in times if side == RENDERED)
    cells: list[list[Cell]] = [
        [system, fmean(ms for key, ms in times.items() if key[:2] == (system, side))]
        for system, side in systems
    ]
    note = "Mean over the corpora; ours from Snapshots to text, learning included, the others' from HTML to text."
    head = ("system", "ms per page")
    return Table("Processor time on rendered pages", head, cells, note, digits=1, varies=True)


def figure(rows: Sequence[Row]) -> "Figure":
    """Return F1 by system and corpus on rendered pages."""
    f1 = {(row["system"], row["corpus"]): row["f1"] for row in rows if row.get("side") == RENDERED}
    systems, corpora = (list(dict.fromkeys(names)) for names in zip(*f1, strict=True))
    figure, axes = new_figure(8.0, 5.0)
    for corpus in corpora:
        axes.plot([f1[system, corpus] for system in systems], np.arange(len(systems)), "o", label=corpus)
    axes.set_yticks(np.arange(len(systems)), systems)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("word F1 on rendered pages")
    axes.grid(axis="y", alpha=0.3)
    axes.legend(ncols=3, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


JAVASCRIPT = Experiment(
    "javascript",
    "Sites drawn by JavaScript, raw and rendered",
    ("js",),
    tasks,
    tables,
    figure,
    PREFACE,
    packages=PEER_PACKAGES,
    node_modules=True,
)
