"""Kinds: what is found of the kinds of blocks that the markup of a page names, when that markup is taken away."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

import numpy as np

from domsieve.analysis.block_types.detection import node_kinds
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from domsieve.types import BLOCK_KINDS
from experiments.corpora.marked_kinds import named_texts, readable, without_markup
from experiments.corpora.wcxb_pages import page_files, read_page
from experiments.corpora.whole_sites import read_site, site_files, text_site_halves
from experiments.frame.experiment import Experiment, Inputs, Row, Task, chunk_tasks
from experiments.frame.tables import Cell, Table

CHUNK = 100
VARIANTS = {"without the markup": False, "and without classes and ids": True}

PREFACE = """\
Truth is what the markup of a page names: comments, authors, related links and paths by schema.org types and
properties, roles and labels of ARIA and `rel`; navigation, captions and tables by their tags (`nav`, `figcaption`,
a `table` with `th` or `caption`); what shares a page by the addresses that it leads to. Then that markup is taken out
of the page, for one kind at a time: attributes go, tags become `div`, `td` and `tbody`. What is left is judged, once
with classes and ids, which site builders choose by themselves, and once without them, by structure and text alone.

Figures are means over the pages that name the kind, of shares of characters: *recall*, of what is named, how much is
told to be of the kind; *precision*, of what is told to be of the kind, how much is named, over the pages where
anything is. What the rules were made on is the development half of the domains; every second site by name is in it.

- Precision is a lower bound. A page that says `nav` once has more navigation in its footer, one author is named (the
  first that is no longer than a name) and not the line with the date, one list of comments of two has types. What is
  found and not named counts as wrong.
- Forums type their posts as comments. They are the content of their pages, so those pages name no comments here.
- Pages that name their parts are those of builders who care about names, so recall elsewhere may be lower.
- Nothing in the markup names banners of consent, and hardly anything what is related: of the first there is no
  figure here, and that of the second rests on few pages.
- A part inside of a stronger one, such as an author inside a comment, counts as the stronger one's, so as lost.
"""


def tasks(inputs: Inputs) -> list[Task]:
    """Return a task per chunk of single pages, and one per site."""
    halves = text_site_halves(inputs.data)
    sites = [
        Task(file.stem, partial(measure_site, file, halves.get(file, "test")), (file,))
        for file in site_files(inputs.data)
    ]
    return [*chunk_tasks(page_files(inputs.data), CHUNK, measure_pages), *sites]


def measure_pages(files: tuple[tuple[Path, Path], ...]) -> list[Row]:
    """Return a row per single page that names a kind."""
    rows: list[Row] = []
    for pair in files:
        read = read_page(*pair)
        page = parse_html(read.source, url=read.name, encoding="utf-8")
        rows += rows_of(page, {"page": read.name, "group": "single pages", "half": read.half})
    return rows


def measure_site(file: Path, half: str) -> list[Row]:
    """Return a row per page of a site that names a kind."""
    site = read_site(file)
    rows: list[Row] = []
    for page in site.pages:
        rows += rows_of(page.snapshot, {"page": f"{site.name}/{page.name}", "group": "sites", "half": half})
    return rows


def rows_of(page: Snapshot, about: Row) -> Iterator[Row]:
    """Yield the row of a page, if it names a kind: characters named, found, and both, by kind and variant."""
    named = named_texts(page)
    if not named:
        return
    size = np.zeros(len(page), np.int64)
    for node in np.flatnonzero(page.text >= 0).tolist():
        size[node] = len("".join(page.text_of(node).split()))
    shown = readable(page)
    said: dict[str, dict[str, list[int]]] = {}
    for kind, truth in named.items():
        said[kind] = {}
        for variant, names in VARIANTS.items():
            kinds = node_kinds(without_markup(page, kind, names=names))
            found = (kinds == BLOCK_KINDS.index(kind) + 1) & shown
            said[kind][variant] = [int(size[which].sum()) for which in (truth, found, truth & found)]
    yield {**about, "kinds": said}


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return a table per half."""
    return [_table([row for row in rows if row["half"] == half], half) for half in ("test", "development")]


def _table(rows: Sequence[Row], half: str) -> Table:
    lines: list[list[Cell]] = []
    for kind in BLOCK_KINDS:
        of_kind = [row["kinds"][kind] for row in rows if kind in row["kinds"]]
        if not of_kind:
            continue
        cells: list[Cell] = [kind, len(of_kind)]
        for variant in VARIANTS:
            figures = [one[variant] for one in of_kind]
            precise = [both / found for _, found, both in figures if found]
            cells += [fmean(both / named for named, _, both in figures), fmean(precise) if precise else None]
        lines.append(cells)
    what = [f"{figure}, {variant}" for variant in VARIANTS for figure in ("recall", "precision")]
    title = "the half that nothing was chosen on" if half == "test" else "the development half"
    return Table(f"Kinds that the markup names, {title}", ("kind", "pages", *what), lines)


KINDS = Experiment(
    "kinds",
    "Kinds of blocks that the markup names",
    ("sites", "wcxb"),
    tasks,
    tables,
    None,
    PREFACE,
)
"""Kinds of blocks that the markup names."""
