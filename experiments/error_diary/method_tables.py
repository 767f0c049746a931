"""Tables of errors: which method is best where, what choices that know the truth would bring, and the worst pages."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

from experiments.frame.experiment import Row
from experiments.frame.tables import Cell, Table

PEER = "trafilatura"
PAGES = "wcxb"
SITES = "sites"
START: Mapping[str, str] = {"api": "sst", "docs": "sst", "uci": "sst", "news": "sst", PAGES: "auto"}
"""The families, and the method that `clean` uses on each unless told otherwise."""

_BETTER = 0.05
_WORST = 10

Value = Callable[[Row], float]


def at(*keys: str) -> Value:
    """Return what reads a figure that stands below these keys of a row."""

    def read(row: Row) -> float:
        found: Any = row
        for key in keys:
            found = found[key]
        return float(found)

    return read


def means(rows: Sequence[Row], value: Value) -> dict[str, float]:
    """Return the mean of a figure for each family of sites, all sites, each type of single pages and all of these.

    Every page of a site has the same weight, and every site of a family; of single pages every page. A row of a
    method stands for its pages.
    """
    found: dict[str, float] = {}
    by_group: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_group.setdefault((row["family"], row["group"]), []).append(row)
    of_group = {key: _weighted(group, value) for key, group in by_group.items()}
    for family in START:
        inside = {group: mean for (name, group), mean in of_group.items() if name == family}
        if family == PAGES:
            found |= {group: inside[group] for group in sorted(inside)}
        if inside:
            single = [row for row in rows if row["family"] == PAGES]
            found[family] = _weighted(single, value) if family == PAGES else fmean(inside.values())
    sites = [mean for (family, _), mean in of_group.items() if family != PAGES]
    return {**found, **({SITES: fmean(sites)} if sites else {})}


def by_family(title: str, rows: Sequence[Row], values: Mapping[str, Value], *, note: str = "") -> list[Table]:
    """Return a table with a line per figure and a column per mean; one for sites and one for single pages."""
    tables = []
    for single in (False, True):
        some = [row for row in rows if (row["family"] == PAGES) == single]
        lines = {name: means(some, value) for name, value in values.items()} if some else {}
        if lines:
            columns = list(next(iter(lines.values())))
            name = f"{title}: {'single pages by type' if single else 'sites by family'}"
            body: list[list[Cell]] = [
                [label, *(line[column] for column in columns)] for label, line in lines.items()
            ]
            tables.append(Table(name, ("", *columns), body, note))
    return tables


def choice_tables(rows: Sequence[Row]) -> list[Table]:
    """Return F1 of the methods, of rules and of choices that know the truth."""
    tables = []
    for single in (False, True):
        some = [row for row in rows if (row["family"] == PAGES) == single]
        if not some:
            continue
        methods = [name for name in some[0]["f"] if name != PEER]
        values: dict[str, Value] = {name: at("f", name) for name in (*methods, PEER)}
        values |= {f"rule: {name}": at("rules", name) for name in some[0]["rules"]}
        values["oracle: best method per page"] = partial(_best, but=PEER)
        values[f"oracle: the same with {PEER}"] = _best
        values |= {f"oracle: {label}": at("choices", name) for name, label in _CHOICES.items()}
        tables += by_family("Word F1", some, values, note=_CHOICE_NOTE if single else "")
    return tables


def complement_tables(rows: Sequence[Row]) -> list[Table]:
    """Return for each pair of methods how often one is better, and the mean of the better of both."""
    tables = []
    for single in (False, True):
        some = [row for row in rows if (row["family"] == PAGES) == single]
        if not some:
            continue
        names, where = list(some[0]["f"]), PAGES if single else SITES
        ahead: list[list[Cell]] = [
            [a, *(None if a == b else means(some, partial(_is_ahead, a, b))[where] for b in names)]
            for a in names
        ]
        both: list[list[Cell]] = [
            [a, *(means(some, partial(_better, a, b))[where] for b in names)] for a in names
        ]
        label = "single pages" if single else "sites"
        tables += [
            Table(
                f"Share of pages on which the row beats the column by more than {_BETTER}: {label}",
                ("", *names),
                ahead,
            ),
            Table(f"Word F1 of the better of two per page: {label}", ("", *names), both),
        ]
    return tables


def worst_table(rows: Sequence[Row]) -> Table:
    """Return the pages with the lowest F1 of the method that is used by default."""
    lines: list[list[Cell]] = []
    parts = {family: [row for row in rows if row["family"] == family] for family in START if family != PAGES}
    single = [row for row in rows if row["family"] == PAGES]
    parts[f"{PAGES}-articles"] = [row for row in single if row["group"] == "article"]
    parts[f"{PAGES}-others"] = [row for row in single if row["group"] != "article"]
    for part, pages in parts.items():
        ranked = sorted(pages, key=lambda row: (row["f"][START[row["family"]]], -row["words"]))
        lines += [
            [
                part,
                r["group"],
                r["page"],
                r["f"][START[r["family"]]],
                r["f"][PEER],
                r["words"],
                r["lost"],
                r["leaked"],
                r["error"],
            ]
            for r in ranked[:_WORST]
        ]
    head = ("part", "site or type", "page", "F1", PEER, "true words", "lost", "leaked", "most words")
    return Table(
        "The ten worst pages of each part, by F1 of the default method (sst on sites, auto on single pages)",
        head,
        lines,
        "Lost and leaked are words in blocks. A report on each page lies in the folder of results, below `worst`.",
    )


def _best(row: Row, *, but: str = "") -> float:
    return max(float(f) for name, f in row["f"].items() if name != but)


def _is_ahead(a: str, b: str, row: Row) -> float:
    return float(row["f"][a] - row["f"][b] > _BETTER)


def _better(a: str, b: str, row: Row) -> float:
    return float(max(row["f"][a], row["f"][b]))


def _weighted(rows: Sequence[Row], value: Value) -> float:
    weights: list[int] = [row.get("pages", 1) for row in rows]
    return sum(value(row) * weight for row, weight in zip(rows, weights, strict=True)) / sum(weights)


_CHOICES = {
    "by block": "best method per block",
    "by block, peer": f"best method per block, with {PEER}",
    "element": "best single element",
    "holder": "smallest element with 90 % of the truth",
    "blocks": "best choice of blocks (ceiling)",
}
_CHOICE_NOTE = """\
Rules and oracles choose whole blocks, the lines above them text as it is written. *No furniture* keeps all that does
not lie in what is called menu, header, footer, sidebar, share, comments, related, or consent by tag, role, class or
id (`experiments/error_diary/rules.py`)."""
