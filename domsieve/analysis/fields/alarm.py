"""Notice fields that break: found on fewer pages than at the learning, of another kind, or of another length."""

from collections import Counter
from dataclasses import dataclass, field
from statistics import median

from domsieve.analysis.fields.extraction import PageFields
from domsieve.analysis.fields.fields_model import FieldsModel, LearnedField
from domsieve.analysis.fields.places import PagePlaces, Place, page_places
from domsieve.analysis.fields.value_kinds import has_digit, kind_of
from domsieve.snapshot.page import Snapshot

LEAST_PAGES = 3
"""Minimum number of pages that say whether a field is broken."""
# A field breaks if it is found less than half as often as before, or if half as many values are of its kind.
_LEAST_SHARE = 0.5
_LONGER = 4.0
_MOST_LENGTHS = 10_000
_MOST_LOOKED_AT = 20
_LEAST_ALIKE = 3


@dataclass(frozen=True, slots=True)
class FieldAlarm:
    """A field that breaks on a batch of pages.

    Parameters
    ----------
    name : the field.
    found, pages : on how many of the pages (or records) it was found.
    usual_found, usual_pages : the same at the learning.
    reason : what has changed, as half a sentence.
    """

    name: str
    found: int
    pages: int
    usual_found: int
    usual_pages: int
    reason: str

    def __str__(self) -> str:
        usual = f"was {self.usual_found:,} of {self.usual_pages:,}"
        return f"{self.name}: found on {self.found:,} of {self.pages:,} pages, {usual}; {self.reason}"


@dataclass(eq=False)
class FieldWatch:
    """Counts what a model finds on a batch of pages.

    Parameters
    ----------
    model : the model.
    """

    model: FieldsModel
    pages: int = 0
    _records: int = 0
    _found: Counter[str] = field(default_factory=Counter)
    _of_kind: Counter[str] = field(default_factory=Counter)
    _values: Counter[str] = field(default_factory=Counter)
    _lengths: dict[str, list[int]] = field(default_factory=dict)
    _alike: dict[str, Counter[str]] = field(default_factory=dict)
    _looked_at: Counter[str] = field(default_factory=Counter)

    def add(self, page: Snapshot, found: PageFields) -> None:
        """Count the fields of a page."""
        self.pages += 1
        rows = found.records or (found.fields,)
        self._records += len(rows)
        missing: list[str] = []
        for name, learned in self.model.fields.items():
            given = [row[name].value for row in rows if name in row and row[name].value is not None]
            self._found[name] += len(given)
            for value in given:
                for each in (value,) if isinstance(value, str) else value or ():
                    self._values[name] += 1
                    self._of_kind[name] += kind_of(each) == learned.kind
                    lengths = self._lengths.setdefault(name, [])
                    if len(lengths) < _MOST_LENGTHS:
                        lengths.append(len(each))
            if not given and self._looked_at[name] < _MOST_LOOKED_AT:
                missing.append(name)
        if missing:
            places = page_places(page)
            places.describe(frozenset(self.model.labels))
            for name in missing:
                self._looked_at[name] += 1
                if alike := _alike(places, self.model.fields[name]):
                    self._alike.setdefault(name, Counter())[alike] += 1

    def alarms(self) -> list[FieldAlarm]:
        """Return the fields that break; none before there are three pages."""
        if self.pages < LEAST_PAGES:
            return []
        alarms: list[FieldAlarm] = []
        for name, learned in self.model.fields.items():
            if reason := self._reason(name, learned):
                alarms.append(
                    FieldAlarm(name, self._found[name], self._records, learned.found, learned.pages, reason)
                )
        return alarms

    def _reason(self, name: str, learned: LearnedField) -> str:
        """Return what has changed about a field; empty for a field that does not break."""
        share = self._found[name] / max(self._records, 1)
        if learned.found and share < _LEAST_SHARE * learned.share:
            alike = self._alike.get(name, Counter()).most_common(1)
            near = f", {alike[0][0]!r} nearby looks alike" if alike and alike[0][1] >= _LEAST_ALIKE else ""
            return f"the place is gone{near}"
        values = self._values[name]
        of_kind = self._of_kind[name] / values if values else 1.0
        if learned.kind != "text" and of_kind < _LEAST_SHARE * learned.of_kind:
            return f"{of_kind:.0%} of its values are of the kind {learned.kind}, were {learned.of_kind:.0%}"
        length = median(self._lengths[name]) if self._lengths.get(name) else 0.0
        if learned.length and length and not 1 / _LONGER <= (length + 5) / (learned.length + 5) <= _LONGER:
            return f"its values have {length:.0f} characters, had {learned.length}"
        return ""


def _alike(places: PagePlaces, learned: LearnedField) -> str:
    """Return the element whose text most looks like a missing field, as a selector; empty if none does."""
    wanted = Counter(feature for one in learned.descriptions for feature in one.where)
    best, alike = 0.0, None
    for place in places.places:
        if place.source != "text" or not _fits(place, learned):
            continue
        score = float(sum(wanted[feature] for feature in place.features))
        if learned.kind != "text":
            score += 1
        if score > best:
            best, alike = score, place
    if alike is None:
        return ""
    element = int(places.page.parent[alike.node])
    names = places.page.attributes(element).get("class", "").split()
    return f"{places.page.tag_name(element)}{''.join(f'.{name}' for name in names[:2])}"


def _fits(place: Place, learned: LearnedField) -> bool:
    if learned.kind == "text":
        return len(place.text) <= 4 * learned.length + 20
    return has_digit(place.text) and any(
        kind_of(word) == learned.kind for word in (place.text, *place.text.split())
    )
