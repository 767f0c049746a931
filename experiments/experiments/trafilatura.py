"""trafilatura's own benchmark: segments of text to keep and to drop, for ours as users get it and for others."""

from collections.abc import Callable, Iterable, Sequence

from experiments.corpora.text_corpora import TextPage
from experiments.experiments.texts import (
    LANGUAGE_NOTE,
    LANGUAGES,
    failures_of,
    figure_cell,
    measure_texts,
    text_tasks,
)
from experiments.frame.experiment import Experiment, Inputs, Row, Task
from experiments.frame.tables import Cell, Table
from experiments.systems.peers import PEER_PACKAGES
from experiments.systems.text_systems import TEXT_SYSTEMS

PREFACE = """\
491 of the 990 pages of trafilatura's own benchmark (the corpus holds one half of them), most of them German. Its
authors chose up to six segments of each page that must be kept and up to six that must be dropped. The count is that
of their evaluation: white space is made single; a segment to keep that is in the text is a true positive, one to drop
that is in the text a false positive, and figures are pooled over all segments.

- *auto* is what users get: `domsieve.clean` on the HTML with the address of the page (22 pages have none), with all
  steps, as text. The shipped model has learned from these pages: the experiment on the learned cleaner judges them by
  models that have not seen their domain, and that is the figure to compare.
- The other extractors get no address and are called as everywhere in this document: jusText with English stop words,
  so it loses pages in other languages. *trafilatura, without comments* is called as in its own evaluation.
- All get the same text of a page, decoded by our parser: 13 pages are not in UTF-8.
- readability-lxml gives HTML; its text here is made by html_text.
- Intervals are 95 %, bootstrap over domains.
"""


def tasks(inputs: Inputs) -> list[Task]:
    """Return a task per part of the corpus."""
    return text_tasks(inputs, ("trafilatura",), measure)


def measure(read: Callable[[], Iterable[TextPage]]) -> list[Row]:
    """Return a row per page."""
    return measure_texts(TEXT_SYSTEMS, read())


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return the tables of the rows that are there."""
    if not rows:
        return []
    names = ("precision", "recall", "accuracy", "F1")
    lines: list[list[Cell]] = [
        [system, *(figure_cell(rows, system, name) for name in names), failures_of(rows, system)]
        for system in rows[0]["systems"]
    ]
    kept, leaked, lost, dropped = (sum(column) for column in zip(*_counts(rows), strict=True))
    groups = {name: [row for row in rows if row["language"] == name] for name in LANGUAGES}
    groups = {name: group for name, group in groups.items() if group}
    return [
        Table(
            f"Segments of {len(rows)} pages of {len({row['domain'] for row in rows})} domains",
            ("system", *names, "failures"),
            lines,
            f"{kept + lost:,} segments to keep and {leaked + dropped:,} to drop.",
        ),
        Table(
            "F1 by language",
            ("system", *(f"{name} ({len(group)})" for name, group in groups.items())),
            [
                [system, *(figure_cell(group, system, "F1") for group in groups.values())]
                for system in rows[0]["systems"]
            ],
            LANGUAGE_NOTE,
        ),
    ]


def _counts(rows: Sequence[Row]) -> list[Sequence[int]]:
    return [next(iter(row["systems"].values())) for row in rows]


TRAFILATURA = Experiment(
    "trafilatura",
    "Segments to keep and to drop (trafilatura's benchmark)",
    ("trafilatura",),
    tasks,
    tables,
    None,
    PREFACE,
    packages=PEER_PACKAGES,
)
