"""Cleaning of whole sites of raw HTML, beside extractors that look at one page at a time."""

import io
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

from domsieve.analysis.writers.text import write_text
from domsieve.renderer.html_parser.parser import parse_html
from experiments.corpora.whole_sites import (
    LabelledPage,
    LabelledSite,
    Truth,
    read_site,
    text_site_halves,
    truth_of,
    without_neutral,
)
from experiments.experiments.sites_tables import PREFACE, QUOTED, SEED, figure, tables
from experiments.frame.experiment import Experiment, Inputs, Row, Task
from experiments.frame.summary import Answer
from experiments.measures.word_scores import Score, count_words, folded, mean_score, score
from experiments.systems.cleaners import CLEANERS, Cleaner
from experiments.systems.peers import ALL_TEXT, BY_HTML_TEXT, PEER_PACKAGES, PEERS, Extractor, extract

VALUE_SITE = "swde-book-christianbook"
EXTRACTORS = {name: peer for name, peer in PEERS.items() if name != BY_HTML_TEXT}
"""The notes of the corpus take lxml's text of what readability-lxml finds."""
_PUBLISHED = {"all_text": ALL_TEXT, "rs-trafilatura": QUOTED}


@dataclass(frozen=True, slots=True)
class Output:
    """What a system made of the pages of a site.

    Parameters
    ----------
    texts : of each page.
    scored : the same without what the corpus calls neutral, where the system says which node a word comes from.
    failures : pages on which it raised an error.
    seconds : processor time for all pages, from HTML to `texts`.
    """

    texts: Sequence[str]
    scored: Sequence[str]
    failures: int
    seconds: float


def tasks(inputs: Inputs) -> list[Task]:
    """Return a task per site with a truth, and one for the site with attribute values."""
    folder = inputs.data / "sites"
    peers, values = folder / "PEERS.md", folder / f"{VALUE_SITE}.zip"
    return [
        *(
            Task(file.stem, partial(measure, file, peers, half), (file, peers), {"half": half, "seed": SEED})
            for file, half in text_site_halves(inputs.data).items()
        ),
        Task(VALUE_SITE, partial(measure_values, values), (values,)),
    ]


def measure(file: Path, peers: Path, half: str) -> list[Row]:
    """Return a row per system on a site, with the figure that the notes of the corpora give where they do."""
    site = read_site(file)
    published = read_published(peers).get(site.name, {})
    common = {"site": site.name, "half": half, "main_share": site.main_share}
    truths = [truth_of(page) for page in site.pages]
    rows = []
    for system, output in run_systems(site).items():
        found, alike = score_output(truths, output)
        rows.append(
            {
                **common,
                "system": system,
                "pages": len(truths) - truths.count(None),
                "f1": found.f1,
                "precision": found.precision,
                "recall": found.recall,
                "alike_f1": alike.f1,
                "failures": output.failures,
                "published": published.get(system),
                "cost": {"cpu_ms": 1e3 * output.seconds / len(site.pages)},
            }
        )
    if QUOTED in published:
        rows.append({**common, "system": QUOTED, "f1": published[QUOTED]})
    return rows


def measure_values(file: Path) -> list[Row]:
    """Return a row per system with the share of attribute values that survive, by attribute."""
    site = read_site(file)
    return [
        {
            "values_of": site.name,
            "system": system,
            "survived": survived_values(site.pages, output.texts),
            "words": fmean(count_words(text).total() for text in output.texts),
            "failures": output.failures,
        }
        for system, output in run_systems(site).items()
    ]


def run_systems(site: LabelledSite) -> dict[str, Output]:
    """Return the output of every system on the pages of a site, on the same HTML in this process."""
    _warm_up(site.pages[:2])
    start = time.process_time()
    for page in site.pages:
        parse_html(page.source, url=page.name, encoding="utf-8")
    parsing = time.process_time() - start
    return {name: run_cleaner(site, clean, parsing) for name, clean in CLEANERS.items()} | {
        name: run_peer(site, extractor) for name, extractor in EXTRACTORS.items()
    }


def run_cleaner(site: LabelledSite, clean: Cleaner, parsing: float) -> Output:
    """Return the output of a method that learns each group of pages without the truth, if it learns.

    Its processor time is that of parsing, which was measured in advance, learning, cleaning and writing the text.
    """
    texts, scored = {}, {}
    seconds = parsing
    for group in site.groups():
        start = time.process_time()
        verdicts = clean([page.snapshot for page in group])
        for page, verdict in zip(group, verdicts, strict=True):
            texts[page.name] = write_text(page.snapshot, verdict)
        seconds += time.process_time() - start
        for page, verdict in zip(group, verdicts, strict=True):
            scored[page.name] = (
                write_text(page.snapshot, without_neutral(page, verdict))
                if page.neutral.any()
                else texts[page.name]
            )
    order = [page.name for page in site.pages]
    return Output([texts[name] for name in order], [scored[name] for name in order], 0, seconds)


def run_peer(site: LabelledSite, extractor: Extractor) -> Output:
    """Return the output of an extractor that sees one page at a time."""
    found = [extract(extractor, page.html) for page in site.pages]
    texts = [one.text for one in found]
    return Output(texts, texts, sum(one.failed for one in found), sum(one.seconds for one in found))


def score_output(truths: Sequence[Truth | None], output: Output) -> tuple[Score, Score]:
    """Return the mean scores over the pages with a truth, and those without the neutral words of any text."""
    scores, alike = [], []
    for truth, text, scored in zip(truths, output.texts, output.scored, strict=True):
        if truth is None:
            continue
        scores.append(score(count_words(scored), truth.words))
        alike.append(truth.score_alike(text) if truth.neutral else scores[-1])
    return mean_score(scores), mean_score(alike)


def survived_values(pages: Sequence[LabelledPage], texts: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return for each attribute how many of its values stand in the text of their page, and how many there are.

    Case and white space make no difference; a part of a word is no value.
    """
    counts: dict[str, tuple[int, int]] = {}
    for page, text in zip(pages, texts, strict=True):
        whole = folded(text)
        for attribute, values in page.values.items():
            found, all_ = counts.get(attribute, (0, 0))
            found += sum(
                re.search(rf"(?<!\w){re.escape(folded(value))}(?!\w)", whole) is not None for value in values
            )
            counts[attribute] = found, all_ + len(values)
    return counts


def read_published(file: Path) -> dict[str, dict[str, float]]:
    """Return the figures of the second table of PEERS.md by site, and by our names of the systems."""
    published: dict[str, dict[str, float]] = {}
    head: list[str] = []
    for line in io.StringIO(file.read_text("utf-8")):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells[0] == "site":
            head = [_PUBLISHED.get(cell, cell) for cell in cells[1:]]
        elif head and len(cells) == len(head) + 1 and set(cells[0]) != {"-"}:
            published[cells[0]] = dict(zip(head, map(float, cells[1:]), strict=True))
    return published


def _warm_up(pages: Sequence[LabelledPage]) -> None:
    """Let everything be imported before the time is taken."""
    for clean in CLEANERS.values():
        clean([page.snapshot for page in pages])
    for extractor in EXTRACTORS.values():
        extract(extractor, pages[0].html)


SITES = Experiment(
    "sites",
    "Whole sites of raw HTML, beside page-by-page extractors",
    ("sites",),
    tasks,
    tables,
    figure,
    PREFACE,
    packages=PEER_PACKAGES,
    answers=(
        Answer("pages with an error", "Precision and recall", "failures", digits=0, place=1),
        Answer("time, ms", "Processor time per page", "ms", digits=0, place=1),
    ),
)
