"""Fields learned on rendered pages and followed through redesigns that a reader does not see."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import examples.seed_shop
from domsieve.analysis.fields.examples import Example, Wanted
from domsieve.analysis.fields.extraction import extract
from domsieve.analysis.fields.learning import learn_fields
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from examples.seed_shop import SEEDS, values
from experiments.corpora.shop_redesigns import REDESIGNS, rendered_shop
from experiments.frame.experiment import Row, Task
from experiments.frame.tables import Table
from experiments.measures.field_values import f1, value_counts

DRAWS = range(3)
_FIELDS = {
    number: {name: (one,) if isinstance(one, str) else tuple(one) for name, one in values(seed).items()}
    for number, seed in enumerate(SEEDS)
}
_LISTS = frozenset(name for name, one in values(SEEDS[0]).items() if isinstance(one, list))
_EVIDENCE = {True: "rendered page", False: "its source"}


def shop_task() -> Task:
    """Return the task that renders the shop and measures it."""
    return Task(
        "shop",
        partial(measure_shop, REDESIGNS),
        (Path(examples.seed_shop.__file__),),
        {"draws": len(DRAWS), "redesigns": len(REDESIGNS)},
    )


def measure_shop(redesigns: Sequence[int]) -> list[Row]:
    """Return a row per kind of evidence, number of examples and redesign; counts are sums over the draws."""
    shop = rendered_shop((0, *redesigns))
    rows: list[Row] = []
    for layout in _EVIDENCE:
        pages: dict[int, list[Snapshot]] = {
            design: [
                page if layout else parse_html(source, url=f"http://shop.example/{number}")
                for number, (page, source) in enumerate(own)
            ]
            for design, own in shop.items()
        }
        for count in (1, 3):
            totals = {design: {name: [0, 0, 0] for name in _FIELDS[0]} for design in redesigns}
            for draw in DRAWS:
                shown = [(4 * draw + step) % len(SEEDS) for step in range(count)]
                given = [(_example(number), pages[0][number]) for number in shown]
                model = learn_fields(given, [one for n, one in enumerate(pages[0]) if n not in shown])
                for design, total in totals.items():
                    found = {number: extract(page, model) for number, page in enumerate(pages[design])}
                    for name, before in total.items():
                        counts = value_counts(name, found, [*_FIELDS.values()])
                        total[name] = [a + b for a, b in zip(before, counts, strict=True)]
            rows += [
                {"redesign": design, "layout": layout, "shown": count, "fields": total}
                for design, total in totals.items()
            ]
    return rows


def _example(number: int) -> Example:
    return Example(str(number), {name: Wanted(own, name in _LISTS) for name, own in _FIELDS[number].items()})


def shop_tables(rows: Sequence[Row]) -> list[Table]:
    """Return the table of the shop; none if it was not measured."""
    own = [row for row in rows if "layout" in row]
    if not own:
        return []
    names = list(own[0]["fields"])
    cells = []
    for row in own:
        by_name = [f1(row["fields"][name]) for name in names]
        cells.append(
            [_EVIDENCE[row["layout"]], row["shown"], row["redesign"], sum(by_name) / len(by_name), *by_name]
        )
    head = ("learned from", "examples", "redesign", "mean", *names)
    note = f"F1 over {len(SEEDS)} pages and {len(DRAWS)} draws of the examples."
    return [Table("A shop, rendered, after redesigns that a reader does not see", head, cells, note)]
