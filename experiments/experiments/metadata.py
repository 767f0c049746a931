"""Title, author and date of single pages (WCXB), beside what others find, with and without structured data."""

from collections.abc import Sequence
from pathlib import Path

from experiments.corpora.wcxb_metadata import LabelledPage, read_labels, without_structured_data
from experiments.corpora.wcxb_pages import page_files
from experiments.frame.experiment import Experiment, Inputs, Row, Task, chunk_tasks
from experiments.frame.tables import Cell, Table
from experiments.measures.metadata_scores import plain_names, plain_title, same_day
from experiments.systems.metadata_readers import PACKAGES, Labels, read_labels_with, readers

CHUNK = 200
VARIANTS = ("as it came", "without JSON-LD and OpenGraph")
FIELDS = ("title", "author", "date")

PREFACE = """\
Title, author and publication date in the notes of WCXB's development split, compared with what each system reads
from the same HTML and address. Titles are compared by their letters and figures in lower case; authors as sets of
names, each without "By" and degrees; dates by the day, or the month where the notes have no day. Every page has a
title, about half of them an author, about half a date; the notes say little about which other pages have one, so what
a system gives there is counted apart.

- The figures are those of the test half of the domains. Ours was made on the other half, whose figures stand below.
- *without JSON-LD and OpenGraph*: these are taken out of the source for every system (scripts of the type
  `application/ld+json`, and `meta` elements whose name begins with `og:`, `article:` and the like).
- trafilatura and htmldate give one date, the original one where they can tell; domsieve gives that of publication,
  else that of the last change, which is what the notes have for many pages that show no other.
- htmldate reads dates only. newspaper4k is here where it was installed when this was made: it needs an older
  python-dateutil than the others.
- Where a system raises an error, it has found nothing.
"""


def tasks(inputs: Inputs) -> list[Task]:
    """Return a task per chunk of pages."""
    return chunk_tasks(page_files(inputs.data), CHUNK, measure, {"systems": " ".join(readers())})


def measure(files: tuple[tuple[Path, Path], ...]) -> list[Row]:
    """Return a row per page."""
    return [measure_page(read_labels(*pair)) for pair in files]


def measure_page(page: LabelledPage) -> Row:
    """Return for each variant and system, field by field: None, or whether it gives one and whether that is right."""
    variants = dict(zip(VARIANTS, (page.source, without_structured_data(page.source)), strict=True))
    said: dict[str, dict[str, list[list[bool] | None]]] = {}
    failures: list[str] = []
    for variant, source in variants.items():
        said[variant] = {}
        for name, reader in readers().items():
            labels, failed = read_labels_with(reader, source, page.url)
            said[variant][name] = judged(page, labels)
            failures += [name] * failed
    has = {"title": bool(page.title), "author": bool(page.author), "date": bool(page.published)}
    return {
        "page": page.name,
        "type": page.type,
        "half": page.half,
        "has": has,
        "said": said,
        "failures": failures,
    }


def judged(page: LabelledPage, labels: Labels) -> list[list[bool] | None]:
    """Return for title, author and date whether there is one and whether it is right; None where there never is."""
    found: list[list[bool] | None] = [None, None, None]
    if labels.title is not None:
        title = plain_title(labels.title)
        found[0] = [bool(title), bool(title) and title == plain_title(page.title)]
    if labels.authors is not None:
        names = plain_names(labels.authors)
        found[1] = [bool(names), bool(names) and names == plain_names([page.author])]
    if labels.date is not None:
        found[2] = [bool(labels.date), same_day(labels.date, page.published)]
    return found


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return the tables of the rows that are there."""
    test = [row for row in rows if row["half"] == "test"]
    development = [row for row in rows if row["half"] == "development"]
    made = []
    for half, group in (("the half that nothing was chosen on", test), ("the development half", development)):
        made += [_table(group, variant, half) for variant in VARIANTS if group]
    return made


def _table(rows: Sequence[Row], variant: str, half: str) -> Table:
    counts = [sum(row["has"][field] for row in rows) for field in FIELDS]
    lines: list[list[Cell]] = []
    for system in rows[0]["said"][variant]:
        cells: list[Cell] = [system]
        for number, field in enumerate(FIELDS):
            cells += _cells([(row["has"][field], row["said"][variant][system][number]) for row in rows])
        lines.append([*cells, sum(row["failures"].count(system) for row in rows)])
    head = [name for field in FIELDS for name in (field, f"{field}, of given", f"{field}, elsewhere")]
    return Table(
        f"Pages {variant}, {half}",
        ("system", *head, "failures"),
        lines,
        f"Shares of the {counts[0]} pages with a title, {counts[1]} with an author and {counts[2]} with a date that "
        "are right; *of given*: of those of them where the system gives one; *elsewhere*: how many it gives on pages "
        "whose notes have none.",
    )


def _cells(found: Sequence[tuple[bool, list[bool] | None]]) -> list[Cell]:
    here = [one for has, one in found if has]
    if not here or here[0] is None:
        return [None, None, None]
    told = [one for one in here if one is not None]
    right, given = sum(one[1] for one in told), sum(one[0] for one in told)
    return [right / len(told), right / max(given, 1), sum(one[0] for has, one in found if one and not has)]


METADATA = Experiment(
    "metadata",
    "Title, author and date of single pages (WCXB)",
    ("wcxb",),
    tasks,
    tables,
    None,
    PREFACE,
    packages=PACKAGES,
)
"""Title, author and date of single pages."""
