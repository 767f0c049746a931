"""Fields learned from one to three examples: attributes of a book shop, and records of the WIEN sites."""

import json
import random
import time
import zipfile
from collections.abc import Mapping, Sequence
from functools import partial
from html import unescape
from pathlib import Path

from domsieve.analysis.fields.alarm import FieldWatch
from domsieve.analysis.fields.examples import Example, Wanted
from domsieve.analysis.fields.extraction import extract
from domsieve.analysis.fields.fields_model import FieldsModel
from domsieve.analysis.fields.learning import learn_fields
from domsieve.analysis.fields.value_kinds import folded
from domsieve.analysis.selection.element_matching import selected_elements
from domsieve.errors import DomsieveError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from experiments.corpora.wien_values import WienPage, read_wien_values
from experiments.experiments.fields_rendered import shop_tables, shop_task
from experiments.frame.experiment import Experiment, Inputs, Row, Task
from experiments.frame.tables import Table
from experiments.measures.field_values import f1, said, value_counts
from experiments.measures.redesigns import redesigned, without_values
from experiments.systems.autoscraper_fields import autoscraper_versions, learn_with_autoscraper

SITE = "swde-book-christianbook"
LISTS = frozenset(("author",))
"""Attributes that an example gives as a list."""
SEEDS = range(3)
OTHERS = 20
SHOWN = 2
PREFACE = """\
*Attributes*: a site of SWDE (Hao and others, SIGIR 2011). Examples are drawn by a seed from the pages that have all
attributes; 20 other pages are learned from without labels, and all pages but the examples are the test. F1 is that of
values (equal after lower case and single spaces), micro over the pages, mean over the attributes; authors are a list.
A *redesign* is made by a seeded script: every class and id is renamed, a wrapper is put around the page, two siblings
are inserted into the main block, and two of its blocks are swapped. *Removed*: one attribute is removed from all
texts of the pages, and the alarm must name it, and no other. *CSS selector*: the classes of the element with the
value in the first example; where the element has none, those of the nearest one around it and the tags below that.
*AutoScraper* is here where it was installed when this was made, and its exact results count. With Beautiful Soup 4.15
its rules match nothing, with 4.12 they do. It takes the whole text of an element; here, ISBNs and dates of
publication are in one cell with other facts.

The methods were developed on this site and on WIEN, so these figures say little about other sites.

*Records*: the flat sites of WIEN (Kushmerick 1998). The first two records of a site are shown, and the rest of its
pages is the test. A value is right if it is in the right record.

*A shop*: the made-up shop of `examples/seed_shop.py`, served from loopback and rendered. Fields are learned on its
first design and read from three redesigns that look the same, but all classes and most tags are others, CSS puts
blocks and labels in their places, and three amounts share tag and class: the price, a struck-out one and a small one.
The same is done with the sources of these pages, without layout. The redesigns were looked at while the method was
made, so these figures are of development, too.
"""


def tasks(inputs: Inputs) -> list[Task]:
    """Return a task per number of examples, one for the records and one for a shop."""
    site, wien = inputs.data / "sites" / f"{SITE}.zip", inputs.data / "records" / "wien"
    return [
        *(
            Task(
                f"attributes-{count}",
                partial(measure_attributes, site, count),
                (site,),
                {"examples": count, "draws": len(SEEDS)},
            )
            for count in (1, 3)
        ),
        Task("records", partial(measure_records, wien), (wien,), {"shown": SHOWN}),
        shop_task(),
    ]


def measure_attributes(file: Path, count: int) -> list[Row]:
    """Return a row per seed."""
    sources, values = _read_swde(file)
    pages = [_parsed(source, number) for number, source in enumerate(sources)]
    new_sources = [redesigned(source, 0) for source in sources]
    changed = [_parsed(source, number) for number, source in enumerate(new_sources)]
    versions = autoscraper_versions()
    names = sorted({name for own in values for name in own})
    rows: list[Row] = []
    for seed in SEEDS:
        order = list(range(len(pages)))
        random.Random(seed).shuffle(order)
        full = [number for number in order if all(values[number].get(name) for name in names)]
        shown = full[:count]
        test = [number for number in order if number not in shown]
        examples = [(_example(values[number], names, str(number)), pages[number]) for number in shown]
        begun = time.process_time()
        model = learn_fields(examples, [pages[number] for number in test[:OTHERS]])
        learned = time.process_time() - begun
        begun = time.process_time()
        found = {number: extract(pages[number], model) for number in test}
        read = (time.process_time() - begun) / len(test)
        again = {number: extract(changed[number], model) for number in test}
        selectors = {name: _selector(pages[shown[0]], values[shown[0]][name][0]) for name in names}
        rows.append(
            {
                "examples": count,
                "seed": seed,
                "plain": {name: value_counts(name, found, values) for name in names},
                "redesign": {name: value_counts(name, again, values) for name in names},
                "css": {name: _css_counts(selectors[name], name, pages, test, values) for name in names},
                "css redesign": {
                    name: _css_counts(selectors[name], name, changed, test, values) for name in names
                },
                **(
                    {
                        "peer": versions,
                        "peer plain": peer_counts(sources, sources, shown, test, values),
                        "peer redesign": peer_counts(sources, new_sources, shown, test, values),
                    }
                    if versions
                    else {}
                ),
                "alarms": _alarms(model, names, sources, pages, changed, values, test[:30]),
                "cost": {"learn_s": learned, "page_s": read},
            }
        )
    return rows


def _read_swde(file: Path) -> tuple[list[bytes], list[dict[str, list[str]]]]:
    with zipfile.ZipFile(file) as archive:
        labels = json.loads(archive.read("labels.json"))["pages"]
        sources = [archive.read(page["page"]) for page in labels]
    values = [
        {name: [unescape(value) for value in own] for name, own in page["values"].items()} for page in labels
    ]
    return sources, values


def _parsed(source: bytes, number: int) -> Snapshot:
    return parse_html(source, url=f"https://swde.example/{number}")


def _example(values: Mapping[str, Sequence[str]], names: Sequence[str], label: str) -> Example:
    return Example(label, {name: Wanted(tuple(values.get(name, ())), name in LISTS) for name in names})


def _selector(page: Snapshot, value: str) -> str:
    """Return the classes and tags of the first element in the body whose text is a value; empty if there is none."""
    texts = [node for node in range(len(page)) if folded(page.text_of(node)) == folded(value)]
    for node in texts:
        steps: list[str] = []
        above = int(page.parent[node])
        while above > 0 and page.tag_name(above) not in {"html", "head", "body", "title"}:
            names = page.attributes(above).get("class", "").split()
            steps.insert(0, "".join([page.tag_name(above), *(f".{name}" for name in names)]))
            if names:
                return " > ".join(steps)
            above = int(page.parent[above])
    return ""


def _css_counts(
    selector: str,
    name: str,
    pages: Sequence[Snapshot],
    test: Sequence[int],
    values: Sequence[Mapping[str, Sequence[str]]],
) -> list[int]:
    right = wrong = missed = 0
    for number in test:
        page, got = pages[number], set[str]()
        try:
            elements = selected_elements(page, selector) if selector else []
        except DomsieveError:
            elements = []
        for element in elements if name in LISTS else elements[:1]:
            got.add(folded("".join(page.text_of(node) for node in range(element, int(page.end[element])))))
        want = said(tuple(values[number].get(name, ())))
        right, wrong, missed = right + len(got & want), wrong + len(got - want), missed + len(want - got)
    return [right, wrong, missed]


def peer_counts(
    sources: Sequence[bytes],
    tested: Sequence[bytes],
    shown: Sequence[int],
    test: Sequence[int],
    values: Sequence[Mapping[str, Sequence[str]]],
) -> dict[str, list[int]]:
    """Return by attribute the numbers of right, wrong and missed values of AutoScraper.

    Parameters
    ----------
    sources, tested : the pages to learn from, and those to read.
    shown, test : the numbers of the examples and of the pages that count.
    values : the true values of each page.
    """
    names = sorted({name for own in values for name in own})
    find = learn_with_autoscraper([(sources[number], values[number]) for number in shown])
    total = {name: [0, 0, 0] for name in names}
    for number in test:
        found = find(tested[number])
        for name, counts in total.items():
            got, want = said(found.get(name, ())), said(tuple(values[number].get(name, ())))
            more = len(got & want), len(got - want), len(want - got)
            total[name] = [a + b for a, b in zip(counts, more, strict=True)]
    return total


def _alarms(
    model: FieldsModel,
    names: Sequence[str],
    sources: Sequence[bytes],
    pages: Sequence[Snapshot],
    changed: Sequence[Snapshot],
    values: Sequence[Mapping[str, Sequence[str]]],
    batch: Sequence[int],
) -> dict[str, list[str]]:
    """Return the fields that raise an alarm on a batch, by what was done to its pages."""
    raised = {
        "nothing": _raised(model, [pages[number] for number in batch]),
        "redesign": _raised(model, [changed[number] for number in batch]),
    }
    for name in names:
        removed = [
            _parsed(without_values(sources[number], values[number].get(name, ())), number) for number in batch
        ]
        raised[name] = _raised(model, removed)
    return raised


def _raised(model: FieldsModel, pages: Sequence[Snapshot]) -> list[str]:
    watch = FieldWatch(model)
    for page in pages:
        watch.add(page, extract(page, model))
    return [alarm.name for alarm in watch.alarms()]


def measure_records(folder: Path) -> list[Row]:
    """Return a row per flat site."""
    return [measure_site(name, pages) for name, pages in read_wien_values(folder).items()]


def measure_site(name: str, pages: Sequence[WienPage]) -> Row:
    """Return the numbers of right, wrong and missed values of a site, two of whose records were shown."""
    examples: list[tuple[Example, Snapshot]] = []
    shown: list[int] = []
    for page in pages:
        rest = SHOWN - sum(shown)
        rows = [{key: Wanted((value,)) for key, value in row.items()} for row in page.records[:rest]]
        if not rows:
            break
        examples.append((Example(page.name, {}, tuple(rows)), page.snapshot))
        shown.append(len(rows))
    row: Row = {"site": name, "records": sum(len(page.records) for page in pages)}
    try:
        model = learn_fields(examples, [page.snapshot for page in pages])
    except DomsieveError as error:
        return {
            **row,
            "counts": [0, 0, sum(len(r) for p in pages for r in p.records)],
            "error": error.message,
        }
    total = [0, 0, 0]
    for number, page in enumerate(pages):
        found = [
            {key: one.value for key, one in record.items() if isinstance(one.value, str)}
            for record in extract(page.snapshot, model).records
        ]
        known = shown[number] if number < len(shown) else 0
        counts = score_records(found, page.records, known)
        total = [a + b for a, b in zip(total, counts, strict=True)]
    return {**row, "counts": total}


def score_records(
    found: Sequence[Mapping[str, str]], true: Sequence[Mapping[str, str]], known: int = 0
) -> tuple[int, int, int]:
    """Return the numbers of right, wrong and missed values.

    Each true record is compared with the found one that shares most values with it, each found one once.

    Parameters
    ----------
    found, true : the records of a page.
    known : how many of the true records, the first ones, do not count.
    """
    free = dict(enumerate(found))
    right = wrong = missed = 0
    for number, want in enumerate(true):
        same = {
            key: sum(folded(got.get(name, "")) == folded(value) for name, value in want.items())
            for key, got in free.items()
        }
        best = max(same, key=lambda key: same[key], default=-1)
        if best < 0 or not same[best]:
            missed += len(want) if number >= known else 0
            continue
        got = free.pop(best)
        if number >= known:
            right += same[best]
            wrong += len(got) - same[best]
            missed += len(want) - same[best]
    return right, wrong + sum(map(len, free.values())), missed


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return the tables of attributes, of alarms, of records and of a shop."""
    books = [row for row in rows if "examples" in row]
    wien = [row for row in rows if "site" in row]
    found: list[Table] = []
    if books:
        names = list(books[0]["plain"])
        cells = []
        peer = books[0].get("peer")
        for system, key in (
            ("domsieve", "plain"),
            ("domsieve, after the redesign", "redesign"),
            ("CSS selector", "css"),
            ("CSS selector, after the redesign", "css redesign"),
            *(
                (("AutoScraper", "peer plain"), ("AutoScraper, after the redesign", "peer redesign"))
                if peer
                else ()
            ),
        ):
            for count in sorted({row["examples"] for row in books}):
                own = [row for row in books if row["examples"] == count]
                by_name = [sum(f1(row[key][name]) for row in own) / len(own) for name in names]
                cells.append([system, count, sum(by_name) / len(by_name), *by_name])
        note = f"F1, mean over {len({row['seed'] for row in books})} draws of the examples."
        note += f" AutoScraper: {peer}." if peer else ""
        found.append(Table("Attributes", ("system", "examples", "mean", *names), cells, note))
        alarms = []
        for count in sorted({row["examples"] for row in books}):
            own = [row for row in books if row["examples"] == count]
            removed = [name in row["alarms"][name] for row in own for name in names]
            others = [len(set(raised) - {what}) for row in own for what, raised in row["alarms"].items()]
            alarms.append([count, f"{sum(removed)} of {len(removed)}", sum(others)])
        head = ("examples", "removed fields with an alarm", "alarms of other fields")
        found.append(Table("Alarms over 30 pages", head, alarms))
        costs = [
            [row["examples"], row["cost"]["learn_s"], 1000 * row["cost"]["page_s"]]
            for row in books[:: len(SEEDS)]
        ]
        found.append(Table("Processor time", ("examples", "learning, s", "a page, ms"), costs, varies=True))
    if wien:
        cells = [[row["site"], row["records"], f1(row["counts"])] for row in wien]
        total = [sum(row["counts"][i] for row in wien) for i in range(3)]
        cells.append(["all values", sum(row["records"] for row in wien), f1(total)])
        cells.append(["mean over sites", None, sum(f1(row["counts"]) for row in wien) / len(wien)])
        found.append(Table("Fields of records", ("site", "records", "F1"), cells))
    return [*found, *shop_tables(rows)]


LEARNED_FIELDS = Experiment(
    "fields",
    "Fields from one to three examples",
    (f"sites/{SITE}.zip", "records/wien"),
    tasks,
    tables,
    None,
    PREFACE,
)
