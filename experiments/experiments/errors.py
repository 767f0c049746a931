"""Errors: what every method loses and leaks by kind of block, and what perfect choices among them would bring."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from domsieve.analysis.verdict import Verdict
from domsieve.renderer.html_parser.parser import parse_html
from experiments.corpora.wcxb_pages import page_files, read_page
from experiments.corpora.whole_sites import LabelledPage, read_site, site_files
from experiments.error_diary.kind_tables import cure_tables, kind_tables
from experiments.error_diary.method_tables import (
    PAGES,
    PEER,
    START,
    choice_tables,
    complement_tables,
    worst_table,
)
from experiments.error_diary.page_errors import Account, JudgedPage
from experiments.error_diary.rules import PAGE_RULES, SITE_RULES
from experiments.error_diary.worst_pages import WorstPages
from experiments.frame.experiment import Experiment, Inputs, Row, Task
from experiments.frame.tables import Table
from experiments.systems.cleaners import CLEANERS, PAGE_CLEANERS, SITE_CLEANERS, Cleaner
from experiments.systems.peers import PEERS, extract

Read = Iterator[tuple[str, LabelledPage, dict[str, Verdict]]]

PREFACE = """\
Truth: on `sites` the main texts, and the selectors where there are any; on `wcxb` the reviewed texts. Pages without a
true word are left out. Blocks are the lines of text that a reader can see in the raw page. Where selectors say what
is content, a block is content when its longest text is; where the truth is a text, the blocks of the best choice
are. Neutral text counts nowhere. Site methods learn each site, or era of a site, that they clean; on single pages
entropy learns from the page alone. The shipped model of auto has learned from the pages of WCXB and from the sites
`api-*` and `docs-*`, so its figures on these flatter it.

Oracles know the truth, so they are ceilings and not results. The best choice of blocks is found greedily: adding a
block raises F1 when more than half of F1 of its words are true words that no chosen block holds yet. What a cure
would bring is F1 with all lost blocks of one kind put back, or all leaked ones taken away, and nothing else changed.
A kind is told by tags, roles, class and id (`experiments/error_diary/block_kinds.py`), so it is only as
right as these names.
"""


def tasks(inputs: Inputs) -> list[Task]:
    """Return a task per family of corpora, since the worst pages are those of a family."""
    worst = inputs.output / "worst"
    sites = site_files(inputs.data)
    by_family = {
        name: tuple(f for f in sites if f.stem.startswith(f"{name}-")) for name in START if name != PAGES
    }
    return [
        *(
            Task(
                f"{PAGES}-{part}",
                partial(measure_pages, inputs.data, worst, part=part),
                (inputs.data / "wcxb" / "dev",),
            )
            for part in ("articles", "others")
        ),
        *(
            Task(name, partial(measure_sites, name, files, worst), files)
            for name, files in by_family.items()
            if files
        ),
    ]


def measure_sites(family: str, files: Iterable[Path], worst: Path) -> list[Row]:
    """Return rows of pages and of methods for the sites of a family, and write its worst pages below a folder."""
    return _measure(family, _read_sites(files), worst / family)


def measure_pages(data: Path, worst: Path, *, part: str) -> list[Row]:
    """Return the rows of single pages, ``"articles"`` or ``"others"``, by type."""
    return _measure(PAGES, _read_pages(data, articles=part == "articles"), worst / f"{PAGES}-{part}")


def _read_sites(files: Iterable[Path]) -> Read:
    for file in files:
        site = read_site(file)
        for group in site.groups():
            pages = [page.snapshot for page in group]
            verdicts = {name: clean(pages) for name, clean in CLEANERS.items()}
            for i, page in enumerate(group):
                yield site.name, page, {name: found[i] for name, found in verdicts.items()}


SINGLE_PAGE_CLEANERS: Mapping[str, Cleaner] = {
    **PAGE_CLEANERS,
    **{name: SITE_CLEANERS[name] for name in ("auto", "entropy")},
}
"""The methods that can do with a page of which no other of its site is known."""


def _read_pages(data: Path, *, articles: bool) -> Read:
    for html, truth in page_files(data):
        read = read_page(html, truth)
        if (read.type == "article") != articles:
            continue
        page = parse_html(read.source, url=read.name, encoding="utf-8")
        nowhere = np.zeros(len(page), np.bool_)
        yield (
            read.type,
            LabelledPage(read.name, read.source, page, read.truth, None, nowhere, read.type, ""),
            {name: clean([page])[0] for name, clean in SINGLE_PAGE_CLEANERS.items()},
        )


def _measure(family: str, pages: Read, worst: Path) -> list[Row]:
    """Return a row per page that has a truth, then one per group and method."""
    rules = PAGE_RULES if family == PAGES else SITE_RULES
    start = START[family]
    accounts: dict[tuple[str, str], Account] = defaultdict(Account)
    rows: list[Row] = []
    reports = WorstPages(worst, start=start)
    for group, page, verdicts in pages:
        if not page.truth:
            continue
        judged = JudgedPage.of(page)
        text = extract(PEERS[PEER], page.html).text
        kept = {name: judged.kept(verdict) for name, verdict in verdicts.items()}
        peer = judged.like(text)
        f = {name: judged.f1(verdict) for name, verdict in verdicts.items()}
        lost, leaked, error = judged.main_error(kept[start])
        rows.append(
            {
                "family": family,
                "group": group,
                "page": page.name,
                "words": int(judged.words.truth.sum()),
                "f": _short({**f, PEER: judged.text_f1(text)}),
                "choices": _short(judged.choices(kept, peer)),
                "rules": _short({name: judged.words.f1(rule(kept, judged)) for name, rule in rules.items()}),
                "lost": lost,
                "leaked": leaked,
                "error": error,
            }
        )
        for name, flags in {**kept, PEER: peer}.items():
            judged.account(flags, accounts[group, name])
        reports.add(rows[-1]["f"][start], judged, verdicts)
    reports.write()
    for (group, name), account in accounts.items():
        rows.append({"family": family, "group": group, "method": name, **account.figures()})
    return rows


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return tables of choices, of complements, of kinds and cures, and of the worst pages."""
    pages, methods = [row for row in rows if "page" in row], [row for row in rows if "method" in row]
    return [
        *choice_tables(pages),
        *complement_tables(pages),
        *cure_tables(methods),
        *kind_tables(methods),
        worst_table(pages),
    ]


def _short(figures: dict[str, float]) -> dict[str, float]:
    return {name: round(figure, 4) for name, figure in figures.items()}


ERRORS = Experiment(
    "errors",
    "Errors: what is lost and leaked, and what perfect choices would bring",
    ("sites", "wcxb"),
    tasks,
    tables,
    None,
    PREFACE,
    packages=("trafilatura",),
)
