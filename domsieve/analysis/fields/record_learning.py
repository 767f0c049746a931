"""Learn the fields of records from a few records of list pages.

A record is found by its values: they are near each other, and in every record at like places. A description of a
field then gives all its values on a page. Between the first and the last shown record of a page, every other place is
wrong; before the first one, other places are unlikely; and all fields should have about as many places as there are
records on the page.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.fields.candidates import Hit, ValueFinder, not_found
from domsieve.analysis.fields.choice import Chooser, Hypothesis, Positives, chosen
from domsieve.analysis.fields.examples import Example, Wanted
from domsieve.analysis.fields.extraction import extract_from
from domsieve.analysis.fields.fields_model import FieldsModel, LearnedField
from domsieve.analysis.fields.figures import near_labels, with_figures
from domsieve.analysis.fields.places import PagePlaces
from domsieve.analysis.fields.site_places import SitePlaces
from domsieve.analysis.fields.value_kinds import DIGIT_KINDS, ValueKind, kind_of
from domsieve.budget import check
from domsieve.errors import UsageError

_FAR = 400  # places between a value and the others of its record
_MOST_SEEDS = 6
_MOST_BEFORE = 10

Row = dict[str, list[tuple[int, Hit]]]
"""For each field of a record, the places that have its value, as bits, the nearest to the others first."""


def learn_records(
    examples: Sequence[Example], read: Sequence[PagePlaces], labels: frozenset[str]
) -> FieldsModel:
    """Return a model of the fields of records.

    Parameters
    ----------
    examples : the examples with their records, in the order of the page.
    read : the places of all pages, those of the examples first; described with `labels`.
    labels : the labels of the site.

    Raises
    ------
    UsageError : a value is not on its page, or no places fit all records.
    """
    site = SitePlaces(read)
    finders = [ValueFinder(places) for places in read[: len(examples)]]
    rows: list[Row] = []
    for number, example in enumerate(examples):
        finder = finders[number]
        after = -1
        for record in example.records:
            row, after = _located(record, finder, site.first[number], after, example.label)
            rows.append(row)
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if name != _ANCHOR]
    groups = {name: _groups(site, name, rows) for name in names}
    costs = {
        name: [
            sum(finders[site.page_of(bit)].cost(hit) for bit, hit in group.hits) / len(group.hits)
            for group in found
        ]
        for name, found in groups.items()
    }
    spans = _spans(site, rows)
    kinds = {
        name: [
            kind_of(value)
            for example in examples
            for record in example.records
            for value in record.get(name, _NOTHING).values
        ]
        for name in names
    }
    first = {name: _best(site, spans, groups[name], costs[name], kinds[name], name, {}) for name in names}
    counts = {
        page: median(_count(site, found, page) for found in first.values()) for page in range(len(read))
    }
    best = {name: _best(site, spans, groups[name], costs[name], kinds[name], name, counts) for name in names}
    fields: dict[str, LearnedField] = {}
    used: list[int] = []
    order: dict[str, tuple[int, int]] = {}
    spots: dict[str, list[int]] = {}
    for name in names:
        found, group = best[name]
        ranked = sorted(((1.0 / (1.0 + 2.0 * one.cost), one) for one in found), key=lambda one: -one[0])
        descriptions = chosen(ranked, many=True, least=0.5)
        kind: ValueKind = Counter(kinds[name]).most_common(1)[0][0]
        fields[name] = LearnedField(
            kind=kind,
            digits=all(one in DIGIT_KINDS for one in kinds[name]),
            descriptions=tuple(descriptions),
        )
        used += [bit for one in descriptions for bit in site.places_of(one.source, one.where)]
        bit, hit = group.hits[0]
        order[name] = bit, hit.span.start
        spots[name] = [bit for bit, _ in group.hits]
    fields = {name: fields[name] for name in sorted(fields, key=lambda name: order[name])}
    tag, levels = _record_element(site, spots)
    model = FieldsModel(
        records=True,
        record_tag=tag,
        examples=len(examples),
        pages=len(read),
        labels=near_labels(site, labels, used),
        fields={
            name: LearnedField(
                kind=one.kind, digits=one.digits, descriptions=one.descriptions, levels=levels.get(name, 0)
            )
            for name, one in fields.items()
        },
    )
    return with_figures(model, [extract_from(places, model) for places in read])


_NOTHING = Wanted(())


def _located(
    record: Mapping[str, Wanted], finder: ValueFinder, first: int, after: int, label: str
) -> tuple[Row, int]:
    """Return the places of a record whose values are nearest to each other, and the last place of the record."""
    hits: dict[str, list[Hit]] = {}
    for name, wanted in record.items():
        for value in wanted.values:
            hits[name] = finder.hits(value)
            if not hits[name]:
                raise not_found(name, value, label, finder)
    rarest = min(hits, key=lambda name: len(hits[name]))

    def spread(anchor: Hit) -> tuple[float, int]:
        near = [
            min(
                abs(hit.number - anchor.number) + 2 * finder.cost(hit) + 50 * (hit.number <= after)
                for hit in found
            )
            for name, found in hits.items()
            if name != rarest
        ]
        return sum(near) + 2 * finder.cost(anchor) + 200 * (anchor.number <= after), anchor.number

    anchor = min(hits[rarest], key=spread)
    row: Row = {}
    last = anchor.number
    for name, found in hits.items():
        near = (
            sorted(
                (hit for hit in found if abs(hit.number - anchor.number) <= _FAR),
                key=lambda hit: (
                    abs(hit.number - anchor.number) + 2 * finder.cost(hit) + 50 * (hit.number <= after),
                    hit.number,
                ),
            )
            or found
        )
        row[name] = [(first + hit.number, hit) for hit in ([anchor] if name == rarest else near[:20])]
        last = max(last, near[0].number)
    _tell_apart(row, record)
    row[_ANCHOR] = [(first + anchor.number, anchor)]
    return row, last


def _tell_apart(row: Row, record: Mapping[str, Wanted]) -> None:
    """Give fields with the same value different places, in the order of the example."""
    same: dict[str, list[str]] = {}
    for name in row:
        same.setdefault(record[name].values[0], []).append(name)
    for names in same.values():
        if len(names) > 1 and len(row[names[0]]) >= len(names):
            nearest = sorted(row[names[0]][: len(names)], key=lambda one: one[0])
            for name, own in zip(names, nearest, strict=True):
                row[name] = [own, *(one for one in row[name] if one not in nearest)]


_ANCHOR = ""


def _spans(site: SitePlaces, rows: Sequence[Row]) -> dict[int, tuple[int, int]]:
    """Return the first place of the shown records of each page, and one past the last."""
    spans: dict[int, tuple[int, int]] = {}
    for row in rows:
        bits = [hits[0][0] for hits in row.values()]
        page = site.page_of(bits[0])
        start, stop = spans.get(page, (site.size, 0))
        spans[page] = min(start, *bits), max(stop, max(bits) + 1)
    return spans


def _groups(site: SitePlaces, name: str, rows: Sequence[Row]) -> list[Positives]:
    """Return the places of a field in all records for each place that it may have in the first one."""
    have = [row for row in rows if row.get(name)]
    if name == _ANCHOR or not have:
        return []
    found: list[Positives] = []
    for seed_bit, seed in have[0][name][:_MOST_SEEDS]:
        place = site.place(seed_bit)
        offset = seed_bit - have[0][_ANCHOR][0][0]
        hits = [(seed_bit, seed)]
        for row in have[1:]:
            anchor = row[_ANCHOR][0][0]
            same = [
                (bit, hit)
                for bit, hit in row[name]
                if site.place(bit).source == place.source and hit.absolute == seed.absolute
            ]
            if not same:
                break
            hits.append(
                max(
                    same,
                    key=lambda one, anchor=anchor: (  # type: ignore[misc]
                        len(site.place(one[0]).features & place.features)
                        - abs(one[0] - anchor - offset)
                        - 4 * (one[1].is_whole != seed.is_whole)
                    ),
                )
            )
        else:
            found.append(Positives(hits, site.of_numbers(bit for bit, _ in hits)))
    return found


def _best(
    site: SitePlaces,
    spans: Mapping[int, tuple[int, int]],
    groups: Sequence[Positives],
    seed_costs: Sequence[float],
    kinds: Sequence[ValueKind],
    name: str,
    counts: Mapping[int, float],
) -> tuple[list[Hypothesis], Positives]:
    """Return the descriptions for the best places of a field.

    Parameters
    ----------
    spans : the places from the first to the last shown record, by page.
    groups, seed_costs : the places of the field that are possible, and what they cost; see `ValueFinder.cost`.
    counts : the number of records of each page, if it is known.
    """
    best: tuple[float, list[Hypothesis], Positives] | None = None
    for group, seed_cost in zip(groups, seed_costs, strict=True):
        check()
        judged = before = 0
        for page, (start, stop) in spans.items():
            judged |= _between(start, stop)
            before |= _between(site.first[page], start)

        def extra(places: int, before: int = before) -> float:
            cost = 0.05 * min((places & before).bit_count(), _MOST_BEFORE)
            for page, count in counts.items():
                if count:
                    here = (places & site.page_masks[page]).bit_count()
                    cost += min(abs(here - count) / count, 2.0) / len(counts)
            return cost

        chooser = Chooser(site, judged, (), True, all(kind in DIGIT_KINDS for kind in kinds), extra)
        if found := chooser.hypotheses([group], [0.0]):
            cost = min(one.cost for one in found) + 0.2 * seed_cost
            if best is None or cost < best[0] - 1e-9:
                best = cost, found, group
    if best is None:
        raise UsageError(
            f"The examples contradict each other: no description fits {name!r} of all records; check these values.",
            parameter="examples",
        )
    return best[1], best[2]


def _between(first: int, stop: int) -> int:
    return ((1 << (stop - first)) - 1) << first


def _count(site: SitePlaces, best: tuple[list[Hypothesis], Positives], page: int) -> int:
    found = min(best[0], key=lambda one: one.cost).description
    bits = site.places_of(found.source, found.where)
    return sum(site.first[page] <= bit < site.first[page + 1] for bit in bits)


def _record_element(site: SitePlaces, spots: Mapping[str, Sequence[int]]) -> tuple[str, dict[str, int]]:
    """Return the tag of the elements that hold a record each, and how many others are between it and each field.

    The tag is empty if the shown records do not have elements of their own with the same tag.
    """
    lengths = {len(bits) for bits in spots.values()}
    if lengths == {1} or len(lengths) != 1:
        return "", {}
    above: list[tuple[int, int]] = []  # page and element of each record
    for number in range(lengths.pop()):
        bits = [found[number] for found in spots.values()]
        page = site.page_of(bits[0])
        parent = site.pages[page].page.parent
        chains = [_chain(parent, site.place(bit).node) for bit in bits]
        common = set(chains[0]).intersection(*chains[1:])
        above.append((page, max(common)))
    names = {site.pages[page].page.tag_name(node) for page, node in above}
    if len(set(above)) != len(above) or len(names) != 1 or names & {"html", "body", "#document"}:
        return "", {}
    for page, node in above:
        snapshot = site.pages[page].page
        if any(other != node and node <= other < int(snapshot.end[node]) for p, other in above if p == page):
            return "", {}
    (tag,) = names
    levels: dict[str, int] = {}
    for name, own in spots.items():
        depths = set()
        for (page, node), bit in zip(above, own, strict=True):
            snapshot = site.pages[page].page
            chain = _chain(snapshot.parent, site.place(bit).node)
            depths.add(sum(snapshot.tag_name(each) == tag for each in chain[: chain.index(node)]))
        if len(depths) != 1:
            return "", {}
        levels[name] = depths.pop()
    return tag, levels


def _chain(parent: NDArray[np.int32], node: int) -> list[int]:
    """Return a node and its ancestors, the nearest first."""
    chain = [node]
    while (node := int(parent[node])) >= 0:
        chain.append(node)
    return chain
