"""Tables of errors by kind of block: what is lost and leaked, and what a perfect cure of one kind would bring."""

from collections.abc import Sequence

from experiments.error_diary.block_kinds import KINDS
from experiments.error_diary.method_tables import PAGES, PEER, SITES, START, at, means
from experiments.frame.experiment import Row
from experiments.frame.tables import Cell, Table

_SHOWN = 8


def kind_tables(rows: Sequence[Row]) -> list[Table]:
    """Return per family what each method loses and leaks by kind, and the same of one method by type of page."""
    tables = []
    for family, start in START.items():
        some = [row for row in rows if row["family"] == family]
        names = list(dict.fromkeys(str(row["method"]) for row in some))
        by_method = {name: [row for row in some if row["method"] == name] for name in names}
        if some:
            tables.append(_kind_table(f"Lost / leaked by kind: {family}", by_method))
        if family == PAGES and some:
            for name in (start, "none"):
                mine = by_method[name]
                by_type = {row["group"]: [row] for row in sorted(mine, key=lambda row: str(row["group"]))}
                tables.append(_kind_table(f"Lost / leaked by kind and type of page: {name}", by_type))
    return tables


def cure_tables(rows: Sequence[Row]) -> list[Table]:
    """Return what F1 would gain if all errors of one kind were cured: of the default method, then of every method."""
    tables = []
    for single in (False, True):
        some = [row for row in rows if (row["family"] == PAGES) == single]
        if not some:
            continue
        where, label = (PAGES, "single pages") if single else (SITES, "sites")
        start = START[str(some[0]["family"])]
        ranked = _ranked([row for row in some if row["method"] == start], where)
        columns = list(ranked[0][1])
        tables.append(
            Table(
                f"What a perfect cure of one kind of error would bring: {start} on {label}, gain in mean F1",
                ("cure", *columns),
                [[cure, *(gain[column] for column in columns)] for cure, gain in ranked],
            )
        )
        lines: list[list[Cell]] = []
        for name in dict.fromkeys(str(row["method"]) for row in some):
            best = _ranked([row for row in some if row["method"] == name], where)
            alone = [(cure, gain[where]) for cure, gain in best if not cure.endswith(" all")]
            lines.append([name, *(f"{cure} +{gain:.3f}" for cure, gain in alone[:3])])
        tables.append(
            Table(
                f"The three best cures of each method: {label}", ("method", "first", "second", "third"), lines
            )
        )
    return tables


def _ranked(rows: Sequence[Row], where: str) -> list[tuple[str, dict[str, float]]]:
    """Return the cures with their gains, the `_SHOWN` best first."""
    before = means(rows, at("mean"))
    cures = {}
    for verb, figure in (("restore", "restored"), ("remove", "removed")):
        for kind in ("all", *KINDS):
            after = means(rows, at(figure, kind))
            cures[f"{verb} {kind}"] = {column: after[column] - before[column] for column in before}
    return sorted(cures.items(), key=lambda cure: -cure[1][where])[: _SHOWN + 2]


def _kind_table(title: str, columns: dict[str, list[Row]]) -> Table:
    """Return a line per kind and a column per set of rows."""
    words = {name: sum(row["words"] for row in rows) for name, rows in columns.items()}

    def shares(name: str, kind: str) -> str:
        lost, leaked = (
            sum(
                sum(row[figure].values()) if kind == "all" else row[figure].get(kind, 0)
                for row in columns[name]
            )
            for figure in ("lost", "leaked")
        )
        return f"{100 * lost / words[name]:.1f} / {100 * leaked / words[name]:.1f}"

    return Table(
        title,
        ("kind", *columns),
        [[kind, *(shares(name, kind) for name in columns)] for kind in ("all", *KINDS)],
        "Words lost and leaked in per cent of the words of content. "
        f"What {PEER} keeps is inferred: the blocks that give its text best."
        if PEER in columns
        else "Words lost and leaked in per cent of the words of content.",
    )
