"""Main content of single pages of seven types (WCXB), beside the extractors of others."""

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.records.wobm import WebObjectBlocks
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.text import write_text
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from experiments.corpora.wcxb_pages import ReviewedPage, page_files, read_page
from experiments.experiments.wcxb_tables import PREFACE, figure, tables
from experiments.frame.experiment import Experiment, Inputs, Row, Task, chunk_tasks
from experiments.frame.summary import Answer
from experiments.measures.word_scores import count_words, folded, score
from experiments.systems.cleaners import PAGE_CLEANERS, SITE_CLEANERS, Cleaner
from experiments.systems.peers import PEER_PACKAGES, PEERS, Extracted, extract

CHUNK = 200


def keep_records(page: Snapshot) -> Verdict:
    """Return the verdict that keeps the text of the main list of web objects."""
    inside = np.zeros(len(page), np.bool_)
    for first, end in WebObjectBlocks().transform(page).pieces:
        inside[first:end] = True
    visible = NoCleaning().transform(page)
    return replace(visible, kept=visible.kept & inside)


CLEANERS: Mapping[str, Cleaner] = {
    **PAGE_CLEANERS,
    "entropy": SITE_CLEANERS["entropy"],
    "wobm": lambda pages: [keep_records(page) for page in pages],
}
"""The methods that can do with one page; the entropy filter takes its blocks for the documents then."""
EXTRACTORS = {name: peer for name, peer in PEERS.items() if name != "readability-lxml"}
"""The notes of the corpus take the text of what readability-lxml finds from html_text."""


def tasks(inputs: Inputs) -> list[Task]:
    """Return a task per chunk of pages."""
    return chunk_tasks(page_files(inputs.data), CHUNK, measure)


def measure(files: tuple[tuple[Path, Path], ...]) -> list[Row]:
    """Return a row per page with the figures of all systems, rounded to four digits."""
    run_systems(read_page(*files[0]))  # everything is imported before the time is taken
    return [measure_page(read_page(*pair)) for pair in files]


def measure_page(page: ReviewedPage) -> Row:
    """Return the figures of all systems: F1, precision, recall, and how many wanted and unwanted pieces they have."""
    found = run_systems(page)
    return {
        "page": page.name,
        "type": page.type,
        "half": page.half,
        "empty": not count_words(page.truth),
        "wanted": len(page.wanted),
        "unwanted": len(page.unwanted),
        "systems": {name: score_text(page, one.text) for name, one in found.items()},
        "failures": [name for name, one in found.items() if one.failed],
        "cost": {"cpu_ms": {name: round(1e3 * one.seconds, 3) for name, one in found.items()}},
    }


def run_systems(page: ReviewedPage) -> dict[str, Extracted]:
    """Return what every system makes of a page, on the same HTML in this process.

    The time of our methods is that of parsing, cleaning and writing the text.
    """
    start = time.process_time()
    snapshot = parse_html(page.source, url=page.name, encoding="utf-8")
    parsing = time.process_time() - start
    found = {}
    for name, clean in CLEANERS.items():
        start = time.process_time()
        text = write_text(snapshot, clean([snapshot])[0])
        found[name] = Extracted(text, False, parsing + time.process_time() - start)
    return found | {name: extract(extractor, page.html) for name, extractor in EXTRACTORS.items()}


def score_text(page: ReviewedPage, text: str) -> list[float]:
    """Return F1, precision and recall of the words of a text, and the numbers of wanted and unwanted pieces in it.

    A piece is in the text when case and white space make the only difference.
    """
    words = score(count_words(text), count_words(page.truth))
    whole = folded(text)
    pieces = (sum(folded(piece) in whole for piece in group) for group in (page.wanted, page.unwanted))
    return [round(words.f1, 4), round(words.precision, 4), round(words.recall, 4), *pieces]


WCXB = Experiment(
    "wcxb",
    "Single pages of seven types (WCXB)",
    ("wcxb",),
    tasks,
    tables,
    figure,
    PREFACE,
    packages=PEER_PACKAGES,
    answers=(
        Answer("text", "Word F1 by page type", "all pages"),
        Answer("text, articles", "Word F1 by page type", "article"),
    ),
)
