"""Find dates in a page: ``time`` elements, elements named after dates, lines near the title, the address."""

import re
from typing import NamedTuple

from domsieve.analysis.columns.flow import word_set
from domsieve.analysis.metadata.dates import find_dates, find_exact_date
from domsieve.analysis.metadata.elements import Elements, Places
from domsieve.analysis.metadata.values import Claim
from domsieve.budget import check
from domsieve.urls import split_url

_UPDATED = re.compile(
    r"(?:updat|modif|revis|edited|review|aktualis|geändert|actualiz|mis(?:e)? à jour|aggiornat|atualiz|bijgewerkt)",
    re.IGNORECASE,
)
_PUBLISHED = re.compile(
    r"(?:publish|posted|written|created|released|issued|first|veröffentlicht|publi|pubbl|geplaatst|erstellt)",
    re.IGNORECASE,
)
_DATE_WORDS = word_set(
    "date dates datetime time timestamp published publish posted pubdate created datum fecha"
)
# Guesses that worked on the development sites.
_BEFORE, _AFTER = 30, 120  # shown texts before and after the title whose lines are read
_LONGEST_LINE = 160  # characters
_FURTHEST = 1_000  # largest cost
_TIME_ATTRIBUTES = ("datetime", "data-datetime", "data-date", "data-timestamp", "created-timestamp", "ts")
_MOST_CANDIDATES = 400


class ShownDate(NamedTuple):
    """A date in the page.

    Parameters
    ----------
    cost : the lower, the likelier it is the date of the page.
    node : where it is.
    date : ISO 8601.
    is_update : the date of a change, not of publication.
    source : name of the place, for `Metadata.sources`.
    """

    cost: float
    node: int
    date: str
    is_update: bool
    source: str


def dates_shown(elements: Elements, places: Places, *, language: str, latest: str) -> list[ShownDate]:
    """Return the dates in a page, sorted by cost.

    Parameters
    ----------
    elements, places : the page.
    language, latest : see `find_dates`.
    """
    found: list[ShownDate] = []

    def add(node: int, text: str, label: str, source: str, bonus: float) -> None:
        end = 0
        for one in find_dates(text, language=language, latest=latest)[:3]:
            before = label + text[max(end, one.start - 40) : one.start]
            end = one.end
            updated, published = _UPDATED.search(before), _PUBLISHED.search(before)
            is_update = updated is not None and (published is None or published.start() < updated.start())
            cost = places.cost(node) - bonus - (20 if published and not is_update else 0)
            found.append(ShownDate(cost, node, one.date, is_update, source))

    def label_of(node: int) -> str:
        attributes = elements.attributes(node)
        around = elements.shown_text(int(elements.parent[node]), _LONGEST_LINE)
        own = elements.shown_text(node, _LONGEST_LINE)
        before = around.partition(own)[0][-40:] if own else ""
        return f"{attributes.get('class', '')[:200]} {attributes.get('itemprop', '')[:200]} {before}"

    for name in _TIME_ATTRIBUTES:
        for node, value in elements.with_attribute(name)[:_MOST_CANDIDATES]:
            check()
            if elements.tag(node) not in {"ins", "del"}:
                add(node, find_exact_date(value, language=language, latest=latest), label_of(node), name, 15)
    for node in elements.tagged("time")[:_MOST_CANDIDATES]:
        add(node, elements.shown_text(node, _LONGEST_LINE), label_of(node), "time", 15)
    for node, line in places.lines(_BEFORE, _AFTER):
        if len(line) <= _LONGEST_LINE:
            add(node, line, "", "text near the title", 0)
    for name in ("class", "id", "data-testid"):
        naming = [one for one in elements.named(name) if not _DATE_WORDS.isdisjoint(one[2])]
        for node, value, _ in naming[:_MOST_CANDIDATES]:
            check()
            title = elements.attributes(node).get("title", "")
            for text in (elements.shown_text(node, _LONGEST_LINE + 1), title):
                if len(text) <= _LONGEST_LINE:
                    add(node, text, value[:200] + " ", f"{name} of a date", 10)
    return sorted(found)


def choose_dates(found: list[ShownDate]) -> tuple[Claim, Claim]:
    """Return the likeliest dates of publication and of the last change, as claims; empty if there is none."""
    near = [one for one in found if one.cost <= _FURTHEST]
    fresh = next((one for one in near if not one.is_update), None)
    changed = next((one for one in near if one.is_update), None)
    published = (fresh.date, fresh.source) if fresh else ("", "")
    return published, (changed.date, changed.source) if changed else ("", "")


def date_of_address(address: str, *, latest: str) -> str:
    """Return the day in the path of an address, such as ``/2025/01/31/`` or ``/2025-01-31-``; empty without one."""
    parts = split_url(address[:2_000])
    found = find_dates(parts.path[:300], latest=latest) if parts else []
    return found[0].date[:10] if found else ""
