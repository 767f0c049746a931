"""Dates of pages on htmldate's own benchmark, ours beside those of htmldate."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from domsieve.analysis.metadata.page_metadata import read_metadata
from domsieve.renderer.html_parser.parser import parse_html
from experiments.corpora.annotated_pages import DatedPage, count_notes, dated_pages
from experiments.frame.experiment import Experiment, Inputs, Row, Task
from experiments.frame.tables import Cell, Table, with_interval
from experiments.measures.metadata_scores import same_day
from experiments.measures.papers import ratio_with_interval
from experiments.systems.metadata_readers import Reader, htmldate_reader, read_labels_with, readers

CHUNK = 100
SEED = 0
_DAY = len("2026-01-31")
PREFACE = """\
494 of the 1,000 pages of htmldate's own benchmark (the corpus holds one half of them), each with one date: that of
publication where it is known. The count is that of its authors: the right day is a true positive, another one a false
positive, none a false negative. Three pages have no date in the notes, so that any is wrong there.

- domsieve gives the date of publication, else that of the last change.
- htmldate is called as in its evaluation: for the original date, and without the address of the page, with which its
  dates of these pages were the same. *Extensive* is its default.
- Intervals are 95 %, bootstrap over domains.
"""
_READERS: Mapping[str, tuple[Reader, bool]] = {
    "domsieve": (readers()["domsieve"], True),
    "domsieve, without an address": (readers()["domsieve"], False),
    "htmldate, extensive": (htmldate_reader(extensive=True), False),
    "htmldate, fast": (htmldate_reader(extensive=False), False),
}
"""Each system, and whether it gets the address of a page."""

_Ratio = Callable[[Sequence[bool]], tuple[float, float]]
# Of a page: whether there is a date, and whether it is right.
_FIGURES: Mapping[str, _Ratio] = {
    "precision": lambda page: (page[1], page[0]),
    "recall": lambda page: (page[1], page[1] or not page[0]),
    "F1": lambda page: (2 * page[1], 2 * page[1] + (not page[1])),
    "right": lambda page: (page[1], 1),
}


def tasks(inputs: Inputs) -> list[Task]:
    """Return a task per chunk of pages."""
    folder = inputs.data / "dates"
    return [
        Task(str(start), partial(measure, inputs, start), (folder,))
        for start in range(0, count_notes(folder / "dates.json"), CHUNK)
    ]


def measure(inputs: Inputs, start: int) -> list[Row]:
    """Return a row per page."""
    return [measure_page(page) for page in dated_pages(inputs.data, start, start + CHUNK)]


def measure_page(page: DatedPage) -> Row:
    """Return for each system whether it gives a date and whether that is right, and which systems failed."""
    source = page.html.encode()
    dates, failures = {}, []
    for name, (reader, with_address) in _READERS.items():
        labels, failed = read_labels_with(reader, source, page.url if with_address else "")
        dates[name] = [bool(labels.date), same_day(labels.date or "", page.date)]
        failures += [name] * failed
    row: Row = {"page": page.name, "domain": page.domain, "dates": dates, "failures": failures}
    if page.modified is not None:
        found = read_metadata(parse_html(source, url=page.url, encoding="utf-8")).modified or ""
        row["modified"] = [found[:_DAY], page.modified]
    return row


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return the table of the rows that are there."""
    if not rows:
        return []
    lines: list[list[Cell]] = []
    for system in rows[0]["dates"]:
        cells: list[Cell] = [system]
        for ratio in _FIGURES.values():
            parts, wholes = zip(*(ratio(row["dates"][system]) for row in rows), strict=True)
            domains = [row["domain"] for row in rows]
            cells.append(with_interval(*ratio_with_interval(parts, wholes, domains, seed=SEED)))
        lines.append([*cells, sum(system in row["failures"] for row in rows)])
    found = [
        Table(
            f"Dates of {len(rows)} pages of {len({row['domain'] for row in rows})} domains",
            ("system", *_FIGURES, "failures"),
            lines,
            "*Right*: the share of all pages whose date is right.",
        )
    ]
    if changed := [row["modified"] for row in rows if "modified" in row]:
        found.append(_changes(changed))
    return found


def _changes(pairs: Sequence[tuple[str, str]]) -> Table:
    """Return how often the date of the last change is right, of those that the page says."""
    right = sum(bool(said) and said == true for said, true in pairs)
    wrong = sum(bool(said) and said != true for said, true in pairs)
    missing = sum(bool(true) and not said for said, true in pairs)
    return Table(
        f"Dates of the last change, {len(pairs)} pages, domsieve",
        ("right", "wrong or of none", "missing", "rightly none"),
        [[right, wrong, missing, sum(not said and not true for said, true in pairs)]],
        "We read these dates on the pages, most of them in structured data, and knew what domsieve said.",
    )


HTMLDATE = Experiment(
    "htmldate",
    "Dates of pages (htmldate's benchmark)",
    ("dates",),
    tasks,
    tables,
    None,
    PREFACE,
    packages=("htmldate",),
)
