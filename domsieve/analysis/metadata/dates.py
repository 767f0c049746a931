"""Find dates in untrusted text and return them as ISO 8601."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

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
