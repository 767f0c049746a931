"""Tables and figure of the main content of single pages."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from experiments.frame.experiment import Row
from experiments.frame.figures import COLOURS, new_figure
from experiments.frame.tables import Cell, Table
from experiments.systems.peers import BY_HTML_TEXT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TYPES = ("article", "documentation", "service", "forum", "collection", "listing", "product")
NOTED: Mapping[str, float] = {
    "trafilatura": 0.818,
    "resiliparse": 0.776,
    BY_HTML_TEXT: 0.702,
    "jusText": 0.691,
    "boilerpy3": 0.669,
    "none": 0.690,
}
BEST_PUBLISHED = (0.859, 0.932, 0.932, 0.844, 0.808, 0.716, 0.710, 0.641)
_F1, _PRECISION, _RECALL, _WANTED, _UNWANTED = range(5)

PREFACE = """\
The development split of WCXB: 1,491 pages (of 1,497; six that name package registries are left out) of seven types
with reviewed main content. A figure is word F1 (lower case, `\\w+`, multiset; 1 when both texts are empty, 0 when one
is), mean over pages.

- The pages come from some 1,290 hosts, so only methods that can do with one page are here; what we do best, learning
  a site, cannot be shown.
- *auto* was learned on these pages, so it is not here: the experiment on the learned cleaner judges pages of domains
  that it has not learned from. No parameter of the methods here was chosen on these pages.
- *tps*, *tps paper* and *wobm* look for the main list of like things, which most of these pages have not: they are
  here as a measure, not as a recommendation. *wobm* is the text of the records of the main list; *entropy* takes the
  blocks of the page for its documents.
- 21 references are empty, those of all single-page applications among them: saying nothing scores 1 there and good
  extraction 0, so there is a table without them.
- 25 forum pages have no visible static text.
- The same page labelled twice agreed at 0.982 on average.
- readability-lxml gives HTML; its text here is made by html_text, as in the notes of the corpus.
- A page on which an extractor raises an error counts as empty text.
"""


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return the tables of the rows that are there."""
    if not rows:
        return []
    whole = [row for row in rows if not row["empty"]]
    return [
        _by_type(rows, "Word F1 by page type", published=True),
        _by_type(whole, "Word F1 by page type without the empty references", published=False),
        _sides(rows, whole),
        _reproduced(rows),
        _cost(rows),
    ]


def _by_type(rows: Sequence[Row], title: str, *, published: bool) -> Table:
    groups = [rows, *([row for row in rows if row["type"] == name] for name in TYPES)]
    lines: list[list[Cell]] = [
        [system, *(_mean(group, system) if group else None for group in groups)]
        for system in rows[0]["systems"]
    ]
    if published:
        lines.append(["best published", *BEST_PUBLISHED])
    head = (f"{name} ({len(group):,})" for name, group in zip(("all pages", *TYPES), groups, strict=True))
    note = "*Best published*: rs-trafilatura overall, the best of any system per type, on all 1,497 pages."
    return Table(title, ("system", *head), lines, note if published else "")


def _sides(rows: Sequence[Row], whole: Sequence[Row]) -> Table:
    wanted, unwanted = (sum(int(row[kind]) for row in rows) for kind in ("wanted", "unwanted"))
    lines: list[list[Cell]] = [
        [
            system,
            _mean(whole, system, _PRECISION),
            _mean(whole, system, _RECALL),
            sum(row["systems"][system][_WANTED] for row in rows) / max(wanted, 1),
            sum(row["systems"][system][_UNWANTED] for row in rows) / max(unwanted, 1),
            sum(system in row["failures"] for row in rows),
        ]
        for system in rows[0]["systems"]
    ]
    return Table(
        "Precision and recall without the empty references; pieces of text that belong to the content or do not",
        ("system", "precision", "recall", "with", "without", "failures"),
        lines,
        f"Shares of all {wanted:,} pieces that should be there (*with*) and of all {unwanted:,} that should not "
        "(*without*), where case and white space make no difference. Empty output has precision 1.",
    )


def _reproduced(rows: Sequence[Row]) -> Table:
    return Table(
        "Figures in the notes of the corpus, repeated",
        ("system", "theirs", "ours", "difference"),
        [
            [system, noted, _mean(rows, system), _mean(rows, system) - noted]
            for system, noted in NOTED.items()
            if system in rows[0]["systems"]
        ],
        "Theirs are of all 1,497 pages, ours of the 1,491 that remain. *none* stands beside their figure of "
        "all visible text, for which no call is given.",
    )


def _cost(rows: Sequence[Row]) -> Table:
    per_page = {name: fmean(row["cost"]["cpu_ms"][name] for row in rows) for name in rows[0]["systems"]}
    return Table(
        "Processor time per page",
        ("system", "ms", "over trafilatura"),
        [[name, figure, figure / per_page["trafilatura"]] for name, figure in per_page.items()],
        "Of our methods: parsing, cleaning and writing the text.",
        varies=True,
    )


def _mean(rows: Sequence[Row], system: str, figure: int = _F1) -> float:
    return fmean(float(row["systems"][system][figure]) for row in rows)


def figure(rows: Sequence[Row]) -> "Figure":
    """Draw the F1 of each system by page type."""
    drawn, axes = new_figure(8.0, 5.0)
    groups = {name: [row for row in rows if row["type"] == name] for name in TYPES}
    groups = {name: group for name, group in groups.items() if group}
    systems = list(rows[0]["systems"])
    markers = "osD^vP*Xd<>h"
    for number, system in enumerate(systems):
        offset = 0.6 * (number / (len(systems) - 1) - 0.5)
        axes.scatter(
            [place + offset for place in range(len(groups))],
            [_mean(group, system) for group in groups.values()],
            s=22,
            marker=markers[number % len(markers)],
            color=COLOURS[number % len(COLOURS)],
            label=system,
        )
    axes.set_xticks(
        range(len(groups)), [f"{name}\n({len(group)})" for name, group in groups.items()], fontsize=8
    )
    axes.set_ylabel("word F1, mean over pages")
    axes.set_ylim(0, 1)
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)
    drawn.legend(loc="outside right upper", frameon=False, fontsize=8)
    return drawn
