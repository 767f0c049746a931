"""Dates in untrusted text as ISO 8601, and the dates that a page shows."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from domsieve.analysis.columns.flow import word_set
from domsieve.analysis.metadata._elements import Elements, Places
from domsieve.analysis.metadata.values import Claim
from domsieve.budget import check
from domsieve.urls import split_url

_NAMES = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari tammikuuta stycznia "
    "ledna января січня ocak január ianuarie",
    "february feb februar feber février févr fevrier febrero febbraio fevereiro fev februari helmikuuta "
    "lutego února февраля лютого şubat február februarie",
    "march mar märz mär mars marzo março maart mrt marts maaliskuuta marca března марта березня mart "
    "maret március martie",
    "april apr avril avr abril abr aprile huhtikuuta kwietnia dubna апреля квітня nisan április aprilie",
    "may mai mayo maggio mag maio mei maj toukokuuta maja května мая травня mayıs május",
    "june jun juni juin junio giugno giu junho kesäkuuta czerwca června июня червня haziran június iunie",
    "july jul juli juillet juil julio luglio lug julho heinäkuuta lipca července июля липня temmuz július "
    "iulie",
    "august aug août aout agosto ago augustus augusti elokuuta sierpnia srpna августа серпня ağustos "
    "agustus augusztus",
    "september sep sept septembre septiembre setiembre settembre set setembro syyskuuta września září "
    "сентября вересня eylül szeptember septembrie",
    "october oct oktober okt octobre octubre ottobre ott outubro out lokakuuta października října октября "
    "жовтня ekim október octombrie",
    "november nov novembre noviembre novembro marraskuuta listopada listopadu ноября листопада kasım "
    "noiembrie",
    "december dec dezember dez décembre déc decembre diciembre dic dicembre dezembro joulukuuta grudnia "
    "prosince декабря грудня aralık desember decembrie",
)

MONTHS: dict[str, str] = {
    name: str(number) for number, names in enumerate(_NAMES, 1) for name in names.split()
}
"""Numbers of the months, as text, by name."""


FIRST_YEAR, LAST_YEAR = 1990, 2100
_LONGEST = 300
_ISO = re.compile(
    r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)"
    r"(?:[Tt ]{1,2}(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?\s?(Z|z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
)
_COMPACT = re.compile(r"(?<!\d)((?:19|20)\d{2})(\d{2})(\d{2})(?:T?\d{4,6}Z?)?(?!\d)")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4}) ?[/.年년] ?(\d{1,2}) ?[/.月월] ?(\d{1,2})(?!\d)")
_YEAR_LAST = re.compile(r"(?<![\d./-])(\d{1,2})([/.-]) ?(\d{1,2})\2 ?(\d{4})(?!\d)")
_WORDS = re.compile(r"\d+|[^\W\d_]+")
_EPOCH = re.compile(r"\d{10}(?:\d{3})?")
_JOINING = frozenset(("st", "nd", "rd", "th", "of", "de", "del", "do", "e", "er", "the", "ᵗʰ", "º"))


class Found(NamedTuple):
    """A date as ISO 8601, and its position in a text."""

    date: str
    start: int
    end: int


def find_dates(text: str, *, language: str = "", latest: str = "") -> list[Found]:
    """Return the dates in the first 300 characters of a text, in their order.

    Parameters
    ----------
    text : the text.
    language : language tag of the page, which decides whether ``1/2/2025`` is in January or February.
    latest : time of the capture, ISO 8601; dates more than a day later are ignored. Empty allows all dates.
    """
    text = text[:_LONGEST]
    if not any("0" <= character <= "9" for character in text):
        return []
    found = [*_iso(text), *_figures(text, language), *_words(text)]
    found = sorted((one for one in found if one.date), key=lambda one: (one.start, -one.end))
    apart: list[Found] = []
    for one in found:
        if (not apart or one.start >= apart[-1].end) and _is_plausible(one.date, latest):
            apart.append(one)
    return apart


def find_exact_date(text: str, *, language: str = "", latest: str = "") -> str:
    """Return the date in an attribute or JSON value, which can be a Unix time; empty if there is none.

    Parameters
    ----------
    text : the value.
    language, latest : see `find_dates`.
    """
    whole = text[:_LONGEST].strip()
    if _EPOCH.fullmatch(whole):
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(whole[:10]))
        return moment.isoformat() if _is_plausible(moment.isoformat(), latest) else ""
    found = find_dates(whole, language=language, latest=latest)
    return found[0].date if found else ""


def _iso(text: str) -> Iterator[Found]:
    for match in _COMPACT.finditer(text):
        yield Found(_day(*match.groups()), *match.span())
    for match in _ISO.finditer(text):
        year, month, day, hour, minute, second, zone = match.groups()
        whole = _day(year, month, day)
        if whole and hour is not None and int(hour) < 24 and int(minute) < 60 and int(second or 0) < 60:
            whole += f"T{int(hour):02}:{minute}:{second or '00'}{_zone(zone)}"
        yield Found(whole, *match.span())


def _zone(zone: str | None) -> str:
    if zone is None:
        return ""
    if zone[0] not in "+-":
        return "+00:00"
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    return f"{zone[0]}{hours:02}:{minutes:02}" if hours < 15 and minutes < 60 else ""


def _figures(text: str, language: str) -> Iterator[Found]:
    for match in _YEAR_FIRST.finditer(text):
        yield Found(_day(*match.groups()), *match.span())
    for match in _YEAR_LAST.finditer(text):
        first, mark, second, year = match.groups()
        month_first = mark != "." and language.lower() in {"", "en", "en-us", "en-ph"}
        if int(first) > 12:
            month_first = False
        elif int(second) > 12:
            month_first = True
        found = _day(year, first, second) if month_first else _day(year, second, first)
        yield Found(found, *match.span())


def _words(text: str) -> Iterator[Found]:
    """Yield the days whose month is a word: ``Jan. 2nd, 2025``, ``2 de janeiro de 2025``."""
    matches = [match for match in _WORDS.finditer(text) if match[0].lower() not in _JOINING]
    for place, match in enumerate(matches):
        month = MONTHS.get(match[0].casefold())
        if month is None:
            continue
        before = matches[place - 1] if place else None
        one, two = ([*matches[place + 1 : place + 3], None, None])[:2]
        if one and two and len(one[0]) <= 2 and _is_year(two[0]):
            yield Found(_day(two[0], month, one[0]), match.start(), two.end())
        if before and one and len(before[0]) <= 2 and _is_year(one[0]):
            yield Found(_day(one[0], month, before[0]), before.start(), one.end())
        if before and one and _is_year(before[0]) and len(one[0]) <= 2:
            yield Found(_day(before[0], month, one[0]), before.start(), one.end())


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isascii() and word.isdigit()


def _day(year: str, month: str, day: str) -> str:
    """Return a valid day as ISO 8601, otherwise an empty string."""
    if not (year + month + day).isascii() or not (year.isdigit() and month.isdigit() and day.isdigit()):
        return ""
    try:
        found = datetime(int(year), int(month), int(day), tzinfo=UTC)
    except ValueError:
        return ""
    return f"{found:%Y-%m-%d}" if FIRST_YEAR <= found.year <= LAST_YEAR else ""


def _is_plausible(found: str, latest: str) -> bool:
    try:
        limit = datetime.fromisoformat(latest[:10]) + timedelta(days=1)
    except ValueError:
        return True
    return found[:10] <= f"{limit:%Y-%m-%d}"


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
