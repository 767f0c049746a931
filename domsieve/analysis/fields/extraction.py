"""Read the fields of a page with a learned model.

All descriptions of a field vote, and their agreement is its confidence.

A description that finds nothing votes against a value only if descriptions of its family find other fields of the
page: classes say nothing about a page on which all classes were renamed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from domsieve.analysis.fields.fields_model import Description, FieldsModel, LearnedField
from domsieve.analysis.fields.places import PagePlaces, Place, page_places
from domsieve.analysis.fields.value_kinds import flat, folded, has_digit, without_digits
from domsieve.analysis.selection.element_matching import selected_elements
from domsieve.budget import check, spending
from domsieve.errors import UsageError
from domsieve.snapshot.page import Snapshot

LEAST_CONFIDENCE = 0.34
"""Values with less confidence are not given: more than about two of three votes are against them."""
_LEAST_ALIVE = 0.3
_LEAST_VOTES = 0.55
_MOST_RECORDS = 20_000
_LABEL_KINDS = frozenset(("left", "before", "below", "first"))


@dataclass(frozen=True, slots=True)
class FieldValue:
    """The value of a field on a page.

    Parameters
    ----------
    value : the value, a tuple for lists, or None if the page does not have the field.
    confidence : share of the votes for the value, or for its absence, from 0 to 1.
    node : the node of the page with the value, -1 without one. For lists, the node of the first value.
    description : the best description that found the value; empty without a value.
    """

    value: str | tuple[str, ...] | None
    confidence: float
    node: int
    description: str


@dataclass(frozen=True, slots=True)
class PageFields:
    """The fields of one page.

    Parameters
    ----------
    fields : the fields by name; empty for a list of records.
    records : the fields of each record, in document order; empty for a page with one of each field.
    alive : families of descriptions that found something on the page.
    """

    fields: Mapping[str, FieldValue]
    records: tuple[Mapping[str, FieldValue], ...] = ()
    alive: frozenset[str] = frozenset()


class Answer(NamedTuple):
    """What a description reads at one place."""

    number: int  # of the place on its page
    values: list[str]


def extract(page: Snapshot, model: FieldsModel) -> PageFields:
    """Return the fields of a page.

    Raises
    ------
    BudgetError : the page has exceeded its budget.
    """
    with spending("fields", page.provenance.url):
        places = page_places(page)
        places.describe(frozenset(model.labels))
        return extract_from(places, model)


def extract_from(places: PagePlaces, model: FieldsModel) -> PageFields:
    """Return the fields of a page whose places are described with the labels of the model."""
    by_source: dict[str, list[int]] = {}
    for number, place in enumerate(places.places):
        by_source.setdefault(place.source, []).append(number)
    answers: dict[str, list[list[Answer]]] = {}
    titles = _titles(model)
    for name, learned in model.fields.items():
        check()
        answers[name] = [
            _without_titles(answers_of(one, places, by_source, digits=learned.digits), titles)
            for one in learned.descriptions
        ]
    alive = _alive(model, answers)
    if model.records:
        return PageFields({}, tuple(_records(places, model, answers, alive)), alive)
    fields = {
        name: (_listed if learned.many else _single)(places, learned, answers[name], alive)
        for name, learned in model.fields.items()
    }
    return PageFields(fields, (), alive)


def _titles(model: FieldsModel) -> frozenset[str]:
    """Return the labels that are surely no values: with a colon, or such as descriptions begin from.

    If a value is gone, what follows its label is often the next label. Other texts that several pages say may be
    values, such as the name of a publisher.
    """
    named = {
        label
        for learned in model.fields.values()
        for one in learned.descriptions
        for feature in one.where
        for kind, _, label in [feature.partition(" ")]
        if kind in _LABEL_KINDS
    }
    return frozenset(label for label in model.labels if label.endswith(":") or label in named)


def _without_titles(answers: Sequence[Answer], titles: frozenset[str]) -> list[Answer]:
    left = [
        Answer(one.number, [value for value in one.values if without_digits(folded(value)) not in titles])
        for one in answers
    ]
    return [one for one in left if one.values]


def answers_of(
    one: Description, places: PagePlaces, by_source: Mapping[str, Sequence[int]], *, digits: bool
) -> list[Answer]:
    """Return what a description reads on a page, in document order, before one of several is picked."""
    if one.css:
        return _selected(one, places)
    wanted, found = one.wanted, []
    for number in by_source.get(one.source, ()):
        place = places.places[number]
        if wanted <= place.features and (values := values_at(one, places, place, digits=digits)):
            found.append(Answer(number, values))
    return found


def values_at(one: Description, places: PagePlaces, place: Place, *, digits: bool) -> list[str]:
    """Return the values that a description reads at a place; empty if the text has no such part."""
    text = places.absolute(place) if one.part.absolute else place.text
    values = one.part.values(text) if text else []
    return [value for value in values if has_digit(value)] if digits else values


def picked(one: Description, answers: Sequence[Answer]) -> Sequence[Answer]:
    """Return the answers that a description means."""
    if one.pick == "all" or not answers:
        return answers
    return answers[:1] if one.pick == "first" else answers[-1:]


def _selected(one: Description, places: PagePlaces) -> list[Answer]:
    try:
        elements = selected_elements(places.page, one.css)
    except UsageError:  # checked when the model was read
        return []
    found: list[Answer] = []
    numbers = {place.node: number for number, place in enumerate(places.places) if place.source == "text"}
    page = places.page
    for element in elements:
        texts = [node for node in range(element, int(page.end[element])) if node in numbers]
        text = flat(" ".join(places.places[numbers[node]].text for node in texts))
        if texts and (values := one.part.values(text)):
            found.append(Answer(numbers[texts[0]], values))
    return found


def _alive(model: FieldsModel, answers: Mapping[str, Sequence[Sequence[Answer]]]) -> frozenset[str]:
    """Return the families that find something on the page for enough of the fields that they describe."""
    described: dict[str, int] = {}
    found: dict[str, int] = {}
    for name, learned in model.fields.items():
        families: dict[str, bool] = {}
        for one, answer in zip(learned.descriptions, answers[name], strict=True):
            if len(one.families) == 1:
                (family,) = one.families
                families[family] = families.get(family, False) or bool(answer)
        for family, has_found in families.items():
            described[family] = described.get(family, 0) + 1
            found[family] = found.get(family, 0) + has_found
    return frozenset(name for name, count in described.items() if found[name] > _LEAST_ALIVE * count)


def is_alive(one: Description, alive: frozenset[str]) -> bool:
    """Return whether it counts that a description finds nothing."""
    return one.families <= alive


def _single(
    places: PagePlaces, learned: LearnedField, answers: Sequence[Sequence[Answer]], alive: frozenset[str]
) -> FieldValue:
    votes: dict[str, float] = {}
    firsts: dict[str, tuple[str, int, Description]] = {}
    total = against = 0.0
    for one, found in zip(learned.descriptions, answers, strict=True):
        if chosen := picked(one, found):
            value = chosen[0].values[0]
            key = folded(value)
            votes[key] = votes.get(key, 0.0) + one.weight
            firsts.setdefault(key, (value, places.places[chosen[0].number].node, one))
            total += one.weight
        elif is_alive(one, alive):
            against += one.weight
            total += one.weight
    if not votes:
        return FieldValue(None, 1.0 if total else 0.0, -1, "")
    best = max(votes, key=lambda key: votes[key])
    confidence = votes[best] / total if total else 0.0
    if confidence < LEAST_CONFIDENCE or against > 2 * votes[best]:
        return FieldValue(None, round(against / total if total else 0.0, 3), -1, "")
    value, node, one = firsts[best]
    return FieldValue(value, round(confidence, 3), node, str(one))


def _listed(
    places: PagePlaces, learned: LearnedField, answers: Sequence[Sequence[Answer]], alive: frozenset[str]
) -> FieldValue:
    """Return the list that has most in common with those of all descriptions."""
    lists: list[tuple[dict[str, str], int, Description]] = []
    total = against = 0.0
    for one, found in zip(learned.descriptions, answers, strict=True):
        if chosen := picked(one, found):
            values = {folded(value): value for answer in chosen for value in answer.values}
            lists.append((values, places.places[chosen[0].number].node, one))
            total += one.weight
        elif is_alive(one, alive):
            against += one.weight
            total += one.weight
    if not lists:
        return FieldValue(None, 1.0 if total else 0.0, -1, "")
    support = [
        sum(other.weight * likeness(values, others) for others, _, other in lists) for values, _, _ in lists
    ]
    best = max(range(len(lists)), key=lambda number: support[number])
    confidence = support[best] / total if total else 0.0
    if confidence < LEAST_CONFIDENCE or against > 2 * support[best]:
        return FieldValue(None, round(against / total if total else 0.0, 3), -1, "")
    values, node, one = lists[best]
    return FieldValue(tuple(values.values()), round(confidence, 3), node, str(one))


def likeness(own: Collection[str], other: Collection[str]) -> float:
    """Return the share of values that two lists have in common, from 0 to 1 (Dice); 1 for two empty lists."""
    first, second = set(own), set(other)
    return 2 * len(first & second) / (len(first) + len(second)) if first or second else 1.0


class _Found(NamedTuple):
    """A value of a field of a record."""

    at: tuple[int, int]  # place, and place in its text
    rank: int
    name: str
    value: FieldValue
    owner: int  # element of its record, -1 if records have none


def _records(
    places: PagePlaces,
    model: FieldsModel,
    answers: Mapping[str, Sequence[Sequence[Answer]]],
    alive: frozenset[str],
) -> Iterable[Mapping[str, FieldValue]]:
    """Yield the records: a new one begins where a field is repeated or comes too early, or an element ends."""
    found: list[_Found] = []
    owners = _Owners(places.page, model.record_tag)
    for rank, (name, learned) in enumerate(model.fields.items()):
        for number, value in record_values(places, learned, answers[name], alive):
            owner = owners.of(value.node, learned.levels) if model.record_tag else -1
            text = places.places[number].text
            shown = value.value if isinstance(value.value, str) else ""
            found.append(_Found((number, max(text.find(shown), 0)), rank, name, value, owner))
    found.sort(key=lambda one: (one.at[0], one.rank))
    usual = sum(learned.share >= 0.5 for learned in model.fields.values())
    least = usual // 2 + 1 if usual > 1 else 1
    record: dict[str, FieldValue] = {}
    rank, owner, count = -1, -1, 0
    for one in [*found, None]:
        if one is None or one.rank <= rank or (one.owner != owner and one.owner >= 0 and owner >= 0):
            if len(record) >= least and count < _MOST_RECORDS:
                count += 1
                yield record
            record, owner = {}, -1
        if one is not None:
            record[one.name] = one.value
            rank, owner = one.rank, one.owner if one.owner >= 0 else owner


def record_values(
    places: PagePlaces, learned: LearnedField, answers: Sequence[Sequence[Answer]], alive: frozenset[str]
) -> list[tuple[int, FieldValue]]:
    """Return the values of a field in all records, each with the number of its place.

    A place counts if more than half of the votes of the descriptions that find anything on the page have it.
    """
    votes: dict[int, float] = {}
    firsts: dict[int, tuple[str, Description]] = {}
    total = 0.0
    for one, found in zip(learned.descriptions, answers, strict=True):
        if not found and not is_alive(one, alive):
            continue
        total += one.weight
        for number, values in found:
            votes[number] = votes.get(number, 0.0) + one.weight
            firsts.setdefault(number, (values[0], one))
    return [
        (
            number,
            FieldValue(
                firsts[number][0],
                round(votes[number] / total, 3),
                places.places[number].node,
                str(firsts[number][1]),
            ),
        )
        for number in sorted(votes)
        if votes[number] >= _LEAST_VOTES * total
    ]


class _Owners:
    """Finds the element of the record that a node is in."""

    def __init__(self, page: Snapshot, tag: str) -> None:
        self._parent = page.parent.tolist()
        names = page.tags.to_list()
        self._is_tag = [names[number] == tag for number in page.tag.tolist()]

    def of(self, node: int, levels: int) -> int:
        """Return the ancestor with the tag of records that has `levels` others of this tag between it and `node`."""
        while node >= 0:
            if self._is_tag[node]:
                if levels == 0:
                    return node
                levels -= 1
            node = self._parent[node]
        return -1
