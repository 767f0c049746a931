"""Tables of the learned cleaner: single pages, whole sites, how sure it is, and the model that is shipped."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.auto.cleaner import TREE_MIDDLE, TREE_ODDS
from domsieve.analysis.auto.model import Calibration
from experiments.corpora.magic_pages import KINDS
from experiments.experiments.auto_documents import document_tables, unseen_table
from experiments.experiments.texts import LANGUAGE_NOTE, LANGUAGES
from experiments.experiments.wcxb_tables import TYPES
from experiments.frame.experiment import Row
from experiments.frame.tables import Cell, Table, with_interval
from experiments.systems.auto_learning import SEED, calibration_of

GRID = tuple(product((2.0, 3.0, 4.0, 5.0), (0.4, 0.5, 0.55, 0.6, 0.65)))
"""What the score of the style tree may add to the log-odds of a block, and from what score on."""
_CHOSEN = f"{TREE_ODDS:g} {TREE_MIDDLE:g}"
_SAMPLES = 2_000
_ENOUGH = 30
"""Pages of a language, from which its confidence is shown."""

PREFACE = """\
The cleaner `auto` gives each visible block of a page a probability of content and keeps the blocks that together are
expected to have the highest F1. Every page and site is judged by what was learned without it: single pages in five
parts by domain (the SHA-256 of its name), whole sites one by one. Scores of tokens that the trees learn with come
from other domains and sites than the page. A figure is word F1 (lower case, `\\w+`, multiset; Chinese, Japanese,
Thai, Lao, Khmer and Burmese by characters), mean over pages; intervals are 95 %, bootstrap over pages.

- The model learns only from corpora whose licences permit that: WCXB, magic-html, trafilatura's own benchmark, and
  the sites `api-*` and `docs-*`. News and `uci-*` sites only measure.
- Blocks are labelled by the choice that gives the page the highest word F1; that choice is *best*. Pages of
  trafilatura's have labels only for blocks with a segment that must be kept or dropped. Such a page counts twice.
- The address of a page is unknown to the trees for half of the domains.
- A page is scored by the words of its blocks, before furniture is taken out and titles are put back; the tables of
  documents score what users get.
- Of a site, 24 pages are learned from and measured; its style tree knows all its pages, or the first eight. What its
  score adds to the log-odds of a page, and from what score on, are two numbers. They were chosen on the sites of this
  table, each left out of the trees: a mild leak, so the grid below shows what others would give.
- By default precision is favoured the more, the more of the likely content stands in long blocks. How far is one
  number, and it was chosen on the pages of the first table, as was the number of trees and of their leaves.
- The expected F1 is calibrated by the pages of the other parts: a curve, and one number that raises it on pages in
  scripts without spaces, learned from 47 pages.
"""


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return the tables of the rows that are there."""
    pages = [row for row in rows if "page" in row]
    sites = [row for row in rows if "site" in row]
    model = [row for row in rows if "model" in row]
    found: list[Table] = []
    if pages:
        wcxb = [row for row in pages if row["corpus"] == "wcxb"]
        whole = [row for row in wcxb if not row["empty"]]
        groups = {"all pages": wcxb, **{kind: [r for r in wcxb if r["kind"] == kind] for kind in TYPES}}
        languages = {
            f"{corpus}, {language}": [
                row for row in pages if (row["corpus"], row["language"]) == (corpus, language)
            ]
            for corpus, language in product(("wcxb", "magic"), LANGUAGES)
        }
        magic: dict[str, list[Row]] = {
            kind: [row for row in pages if (row["corpus"], row["kind"]) == ("magic", kind)] for kind in KINDS
        }
        found += [
            _f1("Word F1 of single pages of WCXB by type", groups),
            _f1(
                "The same without the empty references",
                {name: [row for row in held if not row["empty"]] for name, held in groups.items()},
            ),
            _f1("Word F1 of single pages by language", languages, LANGUAGE_NOTE),
            *([_f1("Word F1 of articles and forums (magic)", magic)] if any(magic.values()) else []),
            _dial("Precision and recall by what is favoured, WCXB without the empty references", whole),
            _dial("The same, articles", [row for row in whole if row["kind"] == "article"]),
            _confidence(wcxb),
            _confidence_by_language(pages),
        ]
    documents = [row for row in rows if "left_out" not in row]
    found += document_tables(documents)
    if unseen := [row for row in rows if "left_out" in row]:
        found.append(unseen_table(unseen, [row for row in documents if "document" in row]))
    if sites:
        found += [_sites(sites), _grid(sites)]
    if ablated := [row for row in rows if "ablated" in row]:
        found.append(_ablations(ablated))
    if rendered := [row for row in rows if "rendered" in row]:
        found.append(_rendered(rendered))
    if model:
        found.append(
            Table(
                "The model",
                ("SHA-256", "bytes", "is the one that is shipped"),
                [[row["model"], row["bytes"], "yes" if row["shipped"] else "no"] for row in model],
            )
        )
    return found


def _f1(title: str, groups: Mapping[str, Sequence[Row]], note: str = "") -> Table:
    groups = {name: rows for name, rows in groups.items() if rows}
    first = next(iter(groups.values()))
    systems: dict[str, Callable[[Row], float]] = {
        "auto": lambda row: float(row["f1"]["balance"]),
        **{name: lambda row, name=name: float(row["peers"][name]) for name in first[0]["peers"]},  # type: ignore[misc]
        "best": lambda row: float(row["best"]),
    }
    return Table(
        title,
        ("system", *(f"{name} ({len(rows):,})" for name, rows in groups.items())),
        [
            [name, *(_interval([of(row) for row in rows]) for rows in groups.values())]
            for name, of in systems.items()
        ],
        f"*Best*: the choice of our blocks that knows the truth. {note}".rstrip(),
    )


def _ablations(rows: Sequence[Row]) -> Table:
    groups = {"all pages": rows, **{kind: [row for row in rows if row["kind"] == kind] for kind in TYPES}}
    groups = {name: held for name, held in groups.items() if held}
    return Table(
        "What groups of figures bring: word F1 of single pages of WCXB",
        ("trees", *(f"{name} ({len(held):,})" for name, held in groups.items())),
        [
            [said, *(fmean(row["without"][name] for row in held) for held in groups.values())]
            for name, said in _GROUPS.items()
            if name in rows[0]["without"]
        ],
        "What the site and the layout bring is in the tables of whole and of rendered sites.",
    )


_GROUPS = {
    "": "all figures",
    "names": "without names",
    "words": "without tokens of texts",
    "head": "without what the head says",
}


def _rendered(rows: Sequence[Row]) -> Table:
    names = list(rows[0]["systems"])
    return Table(
        "Word F1 of rendered sites by the shipped model",
        ("corpus", "pages", *names, "precision of auto", "recall of auto"),
        [
            [
                row["rendered"],
                row["routes"],
                *(row["systems"][name][0] for name in names),
                *row["systems"]["auto"][1:],
            ]
            for row in rows
        ],
        "*Without layout* knows no computed style in its tree, and not what floats.",
    )


def _interval(values: Sequence[float]) -> str:
    chance = np.random.default_rng(SEED)
    drawn = np.array(values)[chance.integers(len(values), size=(_SAMPLES, len(values)))].mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return with_interval(fmean(values), low, high)


def _dial(title: str, rows: Sequence[Row]) -> Table:
    return Table(
        title,
        ("favoured", "precision", "recall", "F1"),
        [
            [name, *(fmean(row[figure][name] for row in rows) for figure in ("precision", "recall", "f1"))]
            for name in rows[0]["f1"]
        ],
    )


def _confidence(rows: Sequence[Row]) -> Table:
    """Return the expected and the true F1 by fifths; the calibration of a part is made from the other parts."""
    said = sorted((expected, row["f1"]["balance"]) for expected, row in _expected(rows))
    lines = [[number, *_expected_and_true(part)] for number, part in enumerate(np.array_split(said, 5), 1)]
    head = ("fifth", "pages", "expected", "true", "difference")
    return Table("Expected F1 against true F1, by fifths", head, lines)


def _confidence_by_language(rows: Sequence[Row]) -> Table:
    """Return the same by corpus and language, where there are enough pages."""
    held: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for expected, row in _expected(rows):
        held.setdefault((row["corpus"], row["language"]), []).append((expected, row["f1"]["balance"]))
    lines: list[list[Cell]] = []
    for names, pairs in sorted(held.items(), key=lambda item: -len(item[1])):
        if len(pairs) >= _ENOUGH:
            errors = np.subtract(*np.array(pairs).T)
            lines.append(
                [*names, *_expected_and_true(pairs), 2 * float(errors.std(ddof=1)) / len(pairs) ** 0.5]
            )
    head = ("corpus", "language", "pages", "expected", "true", "difference", "two standard errors")
    note = f"Languages with {_ENOUGH} pages and more."
    return Table("Expected F1 against true F1, by language", head, lines, note)


def calibration_by(rows: Sequence[Row]) -> Calibration:
    """Return the calibration of the expected F1 by rows of single pages."""
    columns = zip(
        *((row["expected"], row["single_share"], row["f1"]["balance"]) for row in rows), strict=True
    )
    return calibration_of(*columns)


def _expected(rows: Sequence[Row]) -> Iterator[tuple[float, Row]]:
    for fold in sorted({row["fold"] for row in rows}):
        rest = [row for row in rows if row["fold"] != fold]
        calibration = calibration_by(rest)
        for row in rows:
            if row["fold"] == fold:
                yield calibration.f1(row["expected"], single_share=row["single_share"]), row


def _expected_and_true(pairs: Sequence[tuple[float, float]] | NDArray[np.float64]) -> list[Cell]:
    expected, true = (float(column.mean()) for column in np.array(pairs).T)
    return [len(pairs), expected, true, expected - true]


_BESIDE = ("page alone", "sst", "of few pages", "sst of few pages", "best")


def _sites(rows: Sequence[Row]) -> Table:
    lines: list[list[Cell]] = []
    for row in sorted(rows, key=lambda row: row["site"]):
        systems = row["systems"]
        lines.append(
            [
                row["site"],
                "yes" if row["permitted"] else "no",
                *systems[_CHOSEN],
                *(systems[name][0] for name in _BESIDE),
                systems[_CHOSEN][0] - systems["sst"][0],
            ]
        )
    lines.append(["mean", "", *(fmean(line[n] for line in lines) for n in range(2, len(lines[0])))])  # type: ignore[misc]
    head = (
        "site",
        "learned from",
        "auto",
        "precision",
        "recall",
        *_BESIDE,
        "auto less sst",
    )
    return Table(
        "Word F1 of whole sites, each left out",
        head,
        lines,
        "*sst* is its verdict by block; *page alone* knows nothing of the site, and *of few pages* eight pages.",
    )


def _grid(rows: Sequence[Row]) -> Table:
    def mean(held: Sequence[Row], name: str) -> float | None:
        return fmean(row["systems"][name][0] for row in held) if held else None

    permitted, others = ([row for row in rows if row["permitted"] == kind] for kind in (True, False))
    names = [" ".join(f"{step:g}" for step in steps) for steps in GRID]
    return Table(
        "What the score of the style tree adds",
        ("what the score adds", "from", "api and docs", "news and uci", "all"),
        [[*name.split(), mean(permitted, name), mean(others, name), mean(rows, name)] for name in names],
        f"Shipped: {_CHOSEN.replace(' ', ', ')}.",
    )
