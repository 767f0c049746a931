"""What experiments on the text of single pages share: tasks, rows, and tables by corpus and language."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import get_args

from domsieve.snapshot.page import Scalar
from experiments.corpora.origins import Language
from experiments.corpora.text_corpora import CORPORA, Corpus, TextPage, parts_of
from experiments.frame.experiment import Inputs, Row, Task
from experiments.frame.tables import Cell, Table, with_interval
from experiments.measures.papers import ratio_with_interval
from experiments.systems.text_systems import TextSystem

SEED = 0
LANGUAGES: tuple[Language, ...] = get_args(Language)

Ratio = Callable[[Sequence[float]], tuple[float, float]]
"""Takes the figures of a page, and returns what it adds to a figure's numerator and denominator."""

WORD_FIGURES: Mapping[str, Ratio] = {
    "F1": lambda page: (page[0], 1),
    "precision": lambda page: (page[1], 1),
    "recall": lambda page: (page[2], 1),
}
SEGMENT_FIGURES: Mapping[str, Ratio] = {
    "F1": lambda page: (2 * page[0], 2 * page[0] + page[1] + page[2]),
    "precision": lambda page: (page[0], page[0] + page[1]),
    "recall": lambda page: (page[0], page[0] + page[2]),
    "accuracy": lambda page: (page[0] + page[3], sum(page)),
}
LANGUAGE_NOTE = (
    "The language is the one that the `html` element declares, else that of the top-level domain (`.de`, `.at`, "
    "`.ch` and `.li` are German). It is *unknown* where a page says nothing at an address such as `.com`; most pages "
    "of magic were saved without their `html` element."
)


def text_tasks(
    inputs: Inputs,
    corpora: Sequence[Corpus],
    measure: Callable[[Callable[[], Iterable[TextPage]]], list[Row]],
    *,
    prefix: str = "",
    parameters: Mapping[str, Scalar] | None = None,
) -> list[Task]:
    """Return a task per part of the corpora; `measure` takes what reads the pages of a part."""
    return [
        Task(prefix + part.name, partial(measure, part.read), part.files, parameters or {})
        for corpus in corpora
        for part in parts_of(corpus, inputs.data)
    ]


def measure_texts(systems: Mapping[str, TextSystem], pages: Iterable[TextPage]) -> list[Row]:
    """Return a row per page with the figures of all systems, and which of them failed or took too long."""
    rows = []
    for page in pages:
        found = {name: system(page) for name, system in systems.items()}
        rows.append(
            {
                "corpus": page.corpus,
                "page": page.name,
                "domain": page.domain,
                "language": page.language,
                "systems": {name: page.judge(one.text) for name, one in found.items()},
                "failures": [name for name, one in found.items() if one.failed],
                "late": [name for name, one in found.items() if one.late],
            }
        )
    return rows


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return the tables of the rows that are there."""
    return [_by_corpus(rows), by_language(rows), _sides(rows)] if rows else []


def figure_cell(rows: Sequence[Row], system: str, figure: str) -> str:
    """Return a figure of a system over pages of one corpus, with its interval where there are several domains."""
    ratio = (SEGMENT_FIGURES if rows[0]["corpus"] == "trafilatura" else WORD_FIGURES)[figure]
    parts, wholes = zip(*(ratio(row["systems"][system]) for row in rows), strict=True)
    domains = [row["domain"] for row in rows]
    value, low, high = ratio_with_interval(parts, wholes, domains, seed=SEED)
    return with_interval(value, low, high) if len({*domains}) > 1 else f"{value:.3f}"


def failures_of(rows: Sequence[Row], system: str) -> int:
    """Return on how many pages a system failed."""
    return sum(system in row["failures"] for row in rows)


def _by_corpus(rows: Sequence[Row]) -> Table:
    corpora = _groups(rows)
    return Table(
        "F1 by corpus",
        ("system", *(f"{name} ({len(group):,})" for name, group in corpora.items())),
        [
            [system, *(figure_cell(group, system, "F1") for group in corpora.values())]
            for system in rows[0]["systems"]
        ],
        "Of *trafilatura* by segments, pooled; of the others by words, mean over pages.",
    )


def by_language(rows: Sequence[Row]) -> Table:
    """Return F1 of all systems by corpus and language."""
    lines: list[list[Cell]] = []
    for corpus, held in _groups(rows).items():
        for language in LANGUAGES:
            if group := [row for row in held if row["language"] == language]:
                figures = (figure_cell(group, system, "F1") for system in rows[0]["systems"])
                lines.append([corpus, language, len(group), len({row["domain"] for row in group}), *figures])
    return Table(
        "F1 by corpus and language",
        ("corpus", "language", "pages", "domains", *rows[0]["systems"]),
        lines,
        LANGUAGE_NOTE,
    )


def _sides(rows: Sequence[Row]) -> Table:
    lines: list[list[Cell]] = [
        [
            corpus,
            system,
            figure_cell(group, system, "precision"),
            figure_cell(group, system, "recall"),
            failures_of(group, system),
            sum(system in row["late"] for row in group),
        ]
        for corpus, group in _groups(rows).items()
        for system in rows[0]["systems"]
    ]
    return Table(
        "Precision, recall and failures by corpus",
        ("corpus", "system", "precision", "recall", "failures", "of these too late"),
        lines,
        "A page on which a system fails counts as empty text.",
    )


def _groups(rows: Sequence[Row]) -> dict[str, list[Row]]:
    groups = {corpus: [row for row in rows if row["corpus"] == corpus] for corpus in CORPORA}
    return {corpus: group for corpus, group in groups.items() if group}
