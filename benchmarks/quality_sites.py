r"""How well sites of raw HTML are cleaned, beside extractors that look at one page at a time.

    python -m benchmarks.quality_sites [--data FOLDER] [--sites NAME ...] [--methods none tps site paper]

FOLDER holds one zip per site (``pages/``, ``main_text/``, ``labels.json``) and PEERS.md with the figures of the
peers. Every site is learned from its own pages without the truth; news sites changed their template between the
eras of the corpus, so each era is a site of its own. A figure is word F1 (lower case, ``\w+``, multiset), mean over
the pages that have a truth. Words of elements that a corpus calls neutral (titles and bylines beside the content)
are taken out before scoring.
"""

import io
import json
import sys
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from analysis import NoCleaning, SiteStyleTree, TagPathFilter, Verdict, write_text
from benchmarks.scoring import (
    Score,
    command_line,
    count_words,
    mean_score,
    print_check,
    print_table,
    score,
    select,
    without,
)
from renderer import parse_html
from snapshot import Snapshot

Cleaner = Callable[[Sequence[Snapshot]], list[Verdict]]

METHODS: dict[str, Cleaner] = {
    "none": lambda pages: NoCleaning().transform(pages),
    "tps": lambda pages: TagPathFilter().transform(pages),
    "site": lambda pages: SiteStyleTree.of_mode("site").fit(pages).transform(pages),
    "paper": lambda pages: SiteStyleTree.of_mode("paper").fit(pages).transform(pages),
}
NAMES = {"none": "no cleaning", "tps": "TPS", "site": "SST site", "paper": "SST paper"}
NOISY_SITES = ("uci-", "news-", "api-cppreference", "docs-rustbook")
NOISY_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Page:
    """One page, the words of its truth if it has one, and its neutral nodes (N,)."""

    snapshot: Snapshot
    truth: Counter[str] | None
    neutral: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Corpus:
    """One zip: groups of pages that are learned together, and the share of main words in all words."""

    groups: dict[str, list[Page]]
    main_share: float


def read_corpus(file: Path) -> Corpus:
    """Return the corpus in the zip `file`.

    Neutral elements lie beside the content by definition, so none inside a container of content counts.
    """
    groups: dict[str, list[Page]] = defaultdict(list)
    with zipfile.ZipFile(file) as archive:
        labels = json.loads(archive.read("labels.json"))
        for entry in labels["pages"]:
            name = entry["page"]
            page = parse_html(archive.read(name), url=entry.get("url", name), encoding="utf-8")
            truth = entry.get("main_text")
            words = count_words(archive.read(truth).decode("utf-8")) if truth else None
            neutral = select(page, labels.get("neutral") or ()) & ~select(page, labels["keep"] or ())
            groups[entry.get("era", "")].append(Page(page, words, neutral))
    main, whole = (sum(e.get(key, 0) for e in labels["pages"]) for key in ("main_words", "all_words"))
    return Corpus(groups, main / whole)


def score_method(corpus: Corpus, clean: Cleaner) -> Score:
    """Return the mean score of a method over the pages that have a truth."""
    scores = []
    for group in corpus.groups.values():
        for page, verdict in zip(group, clean([page.snapshot for page in group]), strict=True):
            if page.truth is not None:
                text = write_text(page.snapshot, without(verdict, page.neutral))
                scores.append(score(count_words(text), page.truth))
    return mean_score(scores)


def read_peers(file: Path) -> dict[str, dict[str, float]]:
    """Return the figures in the second table of PEERS.md by site and system."""
    peers: dict[str, dict[str, float]] = {}
    head: list[str] = []
    for line in io.StringIO(file.read_text("utf-8")):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells[0] == "site":
            head = cells[1:]
        elif head and (file.parent / f"{cells[0]}.zip").exists():
            peers[cells[0]] = dict(zip(head, map(float, cells[1:]), strict=True))
    return peers


def main() -> None:
    parser = command_line(__doc__, data="sites")
    parser.add_argument("--sites", nargs="+", metavar="NAME", help="only these sites")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    arguments = parser.parse_args()
    peers = read_peers(arguments.data / "PEERS.md")
    rows: dict[str, dict[str, float]] = {}
    for site in arguments.sites or peers:
        corpus = read_corpus(arguments.data / f"{site}.zip")
        rows[site] = {"main share": corpus.main_share}
        for method in arguments.methods:
            found = score_method(corpus, METHODS[method])
            rows[site][NAMES[method]] = found.f1
            if method == "site":
                rows[site] |= {"(precision)": found.precision, "(recall)": found.recall}
        rows[site] |= peers[site]
        print(f"{site} done", file=sys.stderr)
    head = ["site", *dict.fromkeys(column for row in rows.values() for column in row)]
    noisy = [row for site, row in rows.items() if site.startswith(NOISY_SITES)]
    means = [
        (f"mean of {len(group)} {kind}", {column: fmean(row[column] for row in group) for column in head[1:]})
        for kind, group in (("sites", list(rows.values())), ("noisy sites", noisy))
        if group
    ]
    print_table(head, [*rows.items(), *means])
    if {"none", "site"} <= set(arguments.methods):
        losers = [
            site
            for site, row in rows.items()
            if row["main share"] < NOISY_SHARE and row["SST site"] <= row["no cleaning"]
        ]
        print()
        print_check(
            f"SST site above no cleaning on every site whose main share is below {NOISY_SHARE}", losers
        )


if __name__ == "__main__":
    main()
