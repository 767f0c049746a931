"""Find the values of an example in its page: every place that has them, as its whole text or as a part."""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from rapidfuzz.distance import Indel

from domsieve.analysis.fields.places import PagePlaces
from domsieve.analysis.fields.text_parts import Span
from domsieve.analysis.fields.value_kinds import folded
from domsieve.budget import check
from domsieve.errors import UsageError

_MOST_HITS = 300
_MOST_IN_TEXT = 3
_SOURCE_COST = {"text": 0.0, "line": 0.3, "block": 0.6, "json": 0.2, "href": 0.4, "src": 0.4}


class Hit(NamedTuple):
    """A place of an example page that has a value.

    Parameters
    ----------
    number : number of the place on its page.
    span : the value in the text of the place.
    absolute : the value is the absolute address of the place, and `span` is all of it.
    """

    number: int
    span: Span
    absolute: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the value is the whole text of the place."""
        return self.span.stop - self.span.start == len(self.span.text)


class ValueFinder:
    """Finds values in one page."""

    def __init__(self, places: PagePlaces) -> None:
        self._places = places

    @cached_property
    def _folded(self) -> list[str]:
        # Folding keeps the length, so that positions fit; a text where it does not is compared as it is.
        return [
            text if len(text := folded(place.text)) == len(place.text) else place.text
            for place in self._places.places
        ]

    def hits(self, value: str) -> list[Hit]:
        """Return the places with a value, those first that have little else; at most 300."""
        check()
        wanted = folded(value)
        is_address = " " not in value and any(map(value.__contains__, "/.?=#"))
        found: list[Hit] = []
        for number, (place, text) in enumerate(zip(self._places.places, self._folded, strict=True)):
            if place.source in {"href", "src"} and not is_address:
                continue
            is_absolute = place.source in {"href", "src"} and value.startswith(("http:", "https:"))
            if is_absolute and text != wanted and self._places.absolute(place) == value:
                found.append(Hit(number, Span(value, 0, len(value)), absolute=True))
                continue
            at = text.find(wanted)
            for _ in range(_MOST_IN_TEXT):
                if at < 0:
                    break
                stop = at + len(wanted)
                if _is_apart(text, at, stop):
                    found.append(Hit(number, Span(place.text, at, stop)))
                at = text.find(wanted, at + 1)
        found.sort(key=lambda hit: (self.cost(hit), hit.number))
        return found[:_MOST_HITS]

    def cost(self, hit: Hit) -> float:
        """Return how little a hit says: 0 for a text node with nothing else."""
        source = self._places.places[hit.number].source
        share = (hit.span.stop - hit.span.start) / len(hit.span.text)
        return _SOURCE_COST.get(source, 0.3) + (0.0 if hit.is_whole else 1.2 - share)

    def closest(self, value: str) -> str:
        """Return the text of the page that is most like a value, empty if none is like it."""
        wanted = folded(value)
        best, closest = 0.5, ""
        for place, text in zip(self._places.places, self._folded, strict=True):
            if place.source in {"href", "src"} or len(text) > 4 * len(wanted) + 40:
                continue
            check()
            likeness = Indel.normalized_similarity(wanted, text, score_cutoff=best)
            if likeness > best:
                best, closest = likeness, place.text
        return closest


def _is_apart(text: str, start: int, stop: int) -> bool:
    """Return whether a part of a text does not begin or end inside of a word or number."""
    before = text[start - 1 : start] + text[start] if start else " "
    after = text[stop - 1] + text[stop : stop + 1] if stop < len(text) else " "
    return not (_joins(before) or _joins(after))


def _joins(pair: str) -> bool:
    return len(pair) == 2 and pair.isalnum() and pair[0].isdigit() == pair[1].isdigit()


def listed_hits(values: Iterable[str], finder: ValueFinder) -> tuple[Hit, tuple[str, ...]] | None:
    """Return a text that has all values of a list one after another, and the separators between them."""
    values = list(values)
    if len(values) < 2:
        return None
    for first in finder.hits(values[0]):
        text, start, stop = first.span
        plain = folded(text) if len(folded(text)) == len(text) else text
        separators: list[str] = []
        for value in values[1:]:
            at = plain.find(folded(value), stop)
            if at < 0 or at - stop > 12:
                break
            separators.append(text[stop:at])
            stop = at + len(value)
        else:
            if all(0 < len(separator) <= 12 for separator in separators):
                return Hit(first.number, Span(text, start, stop)), tuple(dict.fromkeys(separators))
    return None


def not_found(name: str, value: str, label: str, finder: ValueFinder) -> UsageError:
    """Return the error of a value that is nowhere on its page."""
    closest = finder.closest(value)
    hint = f" The closest text is {short(closest)!r}." if closest else ""
    return UsageError(
        f"{label}: {name!r} is {short(value)!r}, which is nowhere on its page.{hint} Copy the value as the page "
        "shows it.",
        parameter="examples",
    )


def short(text: str) -> str:
    """Return a text, cut to 80 characters."""
    return text if len(text) <= 80 else f"{text[:79]}…"
