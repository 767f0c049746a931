"""What becomes of code, tables, lists, headings and links: Markdown read back, beside the page and a reference."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

import domsieve
from domsieve.analysis.auto.cleaner import AutoCleaner
from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from experiments.corpora.javascript_sites import serialise
from experiments.corpora.main_elements import MainPage, draw_from_sites, draw_from_wcxb, inside_main
from experiments.corpora.rendered_elements import draw_routes
from experiments.corpora.wcxb_pages import ReviewedPage, page_files, read_page
from experiments.experiments.javascript import rendered_corpora
from experiments.frame.experiment import Experiment, Inputs, Row, Task, chunk_tasks
from experiments.frame.summary import Answer
from experiments.frame.tables import Cell, Table
from experiments.measures.structures import (
    Structures,
    f1_of,
    glued,
    read_elements,
    read_markdown,
    share_found,
)
from experiments.systems.markdown_peers import MARKDOWN_PACKAGES, MARKDOWN_PEERS
from experiments.systems.peers import extract

CHUNK = 100
_PARTS = ("code", "cells", "items", "headings", "links")
_REFERENCE_PARTS = ("words", "headings", "rows", "links", "code")
_OURS = AutoCleaner.name
_RENDERED = "rendered routes"
_UNCHOSEN = "Beside a reference, the half that no rule was chosen on"

PREFACE = """\
Markdown is read back by a parser of CommonMark with GitHub's tables, and what it holds is laid beside what the page
holds. Three questions, three kinds of tables:

- *With the main element as verdict*: pages of whole sites and of WCXB that have one `main`, `article` or
  `role=main`, and rendered routes of sites drawn by scripts with the element that their notes name, drawn by a seeded
  rule for code, tables, lists, headings, links and formulas. Everything visible in that element is kept but buttons
  in code, which copy it, so what is missing was lost in writing. The truth is read off the element by other code
  than that which is measured: code with all its white space, cells by row and column, list items by depth and kind
  of list, headings by level, links by address. Of rendered routes it is the element as another browser shows it,
  and the words are its `innerText`.
  *Glued words* are words that the page does not have, but that are two neighbours in it without the space between
  them.
- *With a cleaner*: the same pages and the same truth, as `domsieve.clean` writes them, beside
  others. Figures are F1, so what is kept beside the main element counts against a system.
- *Beside a reference*: the Markdown that people wrote or checked for the pages of WCXB. It is text of the page with
  typographic marks made plain, and knows few links, so a figure of links is low for all who keep them. The model of
  *auto* was learned on these pages; rules of the writer were chosen on one half of their domains.
"""


def tasks(inputs: Inputs) -> list[Task]:
    """Return a task per chunk of pages, drawn ones first; rendered ones only where there are npm packages."""
    sites = tuple(sorted((inputs.data / "sites").glob("*.zip")))
    pairs = [pair for pair in page_files(inputs.data) if pair[1].exists()]
    reviewed = tuple(file for pair in pairs for file in pair)
    return [
        Task("drawn from sites", partial(measure_drawn, inputs.data, "sites"), sites),
        Task("drawn from wcxb", partial(measure_drawn, inputs.data, "wcxb"), reviewed),
        *_rendered_tasks(inputs),
        *chunk_tasks(pairs, CHUNK, measure_reviewed),
    ]


def _rendered_tasks(inputs: Inputs) -> list[Task]:
    if inputs.node_modules is None:
        return []
    found = []
    for corpus, files, kept in rendered_corpora(inputs):
        measured = partial(measure_rendered, corpus, inputs.node_modules, kept)
        found.append(Task(f"drawn from {corpus.name}", measured, files))
    return found


def measure_drawn(data: Path, corpus: str) -> list[Row]:
    """Return a row per drawn page of a corpus."""
    pages = draw_from_sites(data) if corpus == "sites" else draw_from_wcxb(data)
    return [row for page in pages if (row := measure_main(page, corpus))]


def measure_main(page: MainPage, corpus: str) -> Row | None:
    """Return what of the main element of a page is in Markdown, None where the two parsers see different elements."""
    snapshot = parse_html(page.source, url=page.url, encoding="utf-8")
    truth = read_elements(page.main(), page.base)
    figures = _figures(snapshot, inside_main(snapshot), truth, page.html)
    return {"page": page.name, "corpus": corpus, "kinds": list(page.kinds), **figures}


def measure_rendered(corpus: Path, node_modules: Path, kept: Path) -> list[Row]:
    """Return a row per route drawn from a corpus that scripts draw; `kept` is the folder of its page store."""
    rows: list[Row] = []
    for page in draw_routes(corpus, node_modules, kept):
        truth = read_elements(page.main(), page.page.provenance.url)
        truth.take_words(page.text)
        figures = _figures(page.page, page.inside, truth, serialise(page.page))
        rows.append({"page": page.name, "corpus": _RENDERED, "kinds": list(page.kinds), **figures})
    return rows


def _figures(page: Snapshot, inside: NDArray[np.bool_], truth: Structures, html: str) -> Row:
    visible = NoCleaning().transform(page)
    kept = visible.kept & inside & ~_buttons_in_code(page)
    whole = read_markdown(write_markdown(page, replace(visible, kept=kept)))
    return {
        "main": {part: share_found(*_of(part, whole, truth)) for part in _PARTS},
        "relative": whole.relative,
        "glued": glued(whole, truth),
        "systems": _of_systems(page, html, truth, _PARTS),
    }


def _buttons_in_code(page: Snapshot) -> NDArray[np.bool_]:
    """Return which nodes lie in a button that stands in a block of code, such as one that copies it."""
    code, button = (
        np.flatnonzero(np.array([name == wanted for name in page.tags], np.bool_)[page.tag])
        for wanted in ("pre", "button")
    )
    found = np.zeros(len(page), np.bool_)
    for node in button:
        if ((code < node) & (node < page.end[code])).any():
            found[node : page.end[node]] = True
    return found


def measure_reviewed(files: tuple[tuple[Path, Path], ...]) -> list[Row]:
    """Return a row per page whose main content is known as Markdown."""
    pages = (read_page(*pair) for pair in files)
    return [measure_reference(page) for page in pages if page.markdown]


def measure_reference(page: ReviewedPage) -> Row:
    """Return how well the Markdown of each system agrees with the reference."""
    truth = read_markdown(page.markdown)
    snapshot = parse_html(page.source, url=f"http://{page.domain}/", encoding="utf-8")
    return {
        "page": page.name,
        "corpus": "reference",
        "half": page.half,
        "systems": _of_systems(snapshot, page.html, truth, _REFERENCE_PARTS),
    }


def _of_systems(page: Snapshot, html: str, truth: Structures, parts: Sequence[str]) -> Row:
    """Return F1 by system and part, of ours on the page and of the others on its HTML."""
    written = {_OURS: _cleaned(page)} | {
        name: extract(peer, html).text for name, peer in MARKDOWN_PEERS.items()
    }
    return {name: _f1s(read_markdown(text), truth, parts) for name, text in written.items()}


def _cleaned(page: Snapshot) -> str:
    return domsieve.clean(page).markdown


def _of(part: str, *pages: Structures) -> list[Counter[Any]]:
    return [getattr(page, part) for page in pages]


def _f1s(found: Structures, truth: Structures, parts: Sequence[str]) -> dict[str, float | None]:
    return {part: f1_of(*_of(part, found, truth)) for part in parts}


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return the tables of the rows that are there."""
    drawn = [row for row in rows if row["corpus"] != "reference"]
    reference = [row for row in rows if row["corpus"] == "reference"]
    found = []
    if drawn:
        found += [_main_table(drawn), _system_table(drawn, _PARTS, f"With a cleaner, {len(drawn)} pages: F1")]
    for title, group in (
        ("Beside a reference", reference),
        (
            _UNCHOSEN,
            [r for r in reference if r["half"] == "test"],
        ),
    ):
        if group:
            found.append(_system_table(group, _REFERENCE_PARTS, f"{title}, {len(group):,} pages: F1"))
    return found


def _main_table(rows: Sequence[Row]) -> Table:
    groups = {
        "all": rows,
        **{name: [row for row in rows if row["corpus"] == name] for name in ("sites", "wcxb", _RENDERED)},
    }
    lines: list[list[Cell]] = [
        [
            name,
            len(group),
            *(_mean([row["main"][part] for row in group]) for part in _PARTS),
            sum(row["relative"] for row in group),
            sum(row["glued"] for row in group),
        ]
        for name, group in groups.items()
        if group
    ]
    return Table(
        "With the main element as verdict: share of what stands there that is in Markdown",
        (
            "pages of",
            "pages",
            "code",
            "table cells",
            "list items",
            "headings",
            "links",
            "relative links",
            "glued words",
        ),
        lines,
        "Means over the pages that have any; relative links and glued words are counts.",
    )


def _system_table(rows: Sequence[Row], parts: Sequence[str], title: str) -> Table:
    lines: list[list[Cell]] = [
        [name, *(_mean([row["systems"][name][part] for row in rows]) for part in parts)]
        for name in rows[0]["systems"]
    ]
    counts = (sum(row["systems"][_OURS][part] is not None for row in rows) for part in parts)
    names: Mapping[str, str] = {"cells": "table cells", "items": "list items", "rows": "table rows"}
    head = (f"{names.get(part, part)} ({count})" for part, count in zip(parts, counts, strict=True))
    return Table(
        title, ("system", *head), lines, "In brackets: the pages that have any, over which the mean goes."
    )


def _mean(figures: Sequence[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return fmean(known) if known else None


FIDELITY = Experiment(
    "fidelity",
    "Code, tables, lists, headings and links in Markdown",
    ("sites", "wcxb"),
    tasks,
    tables,
    None,
    PREFACE,
    packages=MARKDOWN_PACKAGES,
    answers=(
        Answer("headings", _UNCHOSEN, "headings"),
        Answer("tables", _UNCHOSEN, "table rows"),
        Answer("code", "With a cleaner", "code"),
    ),
)
