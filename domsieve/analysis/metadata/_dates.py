"""Dates in untrusted text as ISO 8601."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

# Names in the forms that dates use, and abbreviations, in the languages of Europe and some others.
_NAMES = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari tammikuuta stycznia sty ledna "
    "января янв січня січ ocak oca január januára ianuarie ian januarja janúar jaanuar janvāris sausio siječnja "
    "gener януари јануари јануар ιανουαρίου ιαν janar يناير yanvar ינואר בינואר",
    "february feb februar feber február févr fevrier février fév febrero febbraio fevereiro fev februari "
    "helmikuuta lutego lut února февраля фев лютого лют şubat şub februarie febr februára februarja febrúar "
    "veebruar februāris vasario veljače febrer февруари фебруари фебруар φεβρουαρίου φεβ shkurt فبراير fevral "
    "פברואר בפברואר",
    "march mar märz mrz mär mars marzo março maart mrt marts maaliskuuta marca března марта мар березня бер "
    "mart maret március márc martie märts kovo ožujka març март μαρτίου μαρ مارس מרץ במרץ",
    "april apr avril avr abril abr aprile huhtikuuta kwietnia kwi dubna апреля апр квітня квіт nisan nis "
    "április ápr aprilie apríla aprila apríl aprill aprīlis balandžio travnja април απριλίου απρ prill أبريل "
    "ابريل aprel אפריל באפריל",
    "may mai mayo maggio mag maio mei maj toukokuuta maja května мая май травня трав mayıs május máj mája maí "
    "maijs gegužės svibnja maig мај μαΐου μαΐ مايو מאי במאי",
    "june jun juni juin junio giugno giu junho kesäkuuta czerwca cze června июня июн червня черв haziran haz "
    "június jún iunie júna junija júní juuni jūnijs birželio lipnja juny юни јуни јун ιουνίου ιουν qershor "
    "يونيو iyun יוני ביוני",
    "july jul juli juillet juil julio luglio lug julho heinäkuuta lipca lip července июля июл липня лип temmuz "
    "tem július júl iulie iul júla julija júlí juuli jūlijs liepos srpnja juliol юли јули јул ιουλίου ιουλ "
    "korrik يوليو iyul julai יולי ביולי",
    "august aug août aout agosto ago augustus augusti elokuuta sierpnia sie srpna августа авг серпня серп "
    "ağustos ağu agustus augusztus augusta avgusta avgust ágúst augusts rugpjūčio kolovoza agost август "
    "αυγούστου αυγ gusht أغسطس avqust ogos agu אוגוסט באוגוסט",
    "september sep sept septembre septiembre setiembre settembre sett set setembro syyskuuta września wrz září "
    "сентября сен сент вересня вер eylül eyl szeptember szept septembrie septembra septembris rugsėjo rujna "
    "септември септембар σεπτεμβρίου σεπ shtator سبتمبر sentyabr sentabr ספטמבר בספטמבר",
    "october oct oktober okt octobre octubre ottobre ott outubro out lokakuuta października paź října октября "
    "окт жовтня жовт ekim eki október octombrie októbra oktobra oktoober oktobris spalio октомври октобар "
    "οκτωβρίου οκτ tetor أكتوبر oktyabr oktabr אוקטובר באוקטובר",
    "november nov novembre noviembre novembro marraskuuta listopada lis listopadu ноября ноя листопада kasım "
    "kas noiembrie nóvember novembra novembris lapkričio studenoga studenog ноември новембар νοεμβρίου νοε "
    "nëntor نوفمبر noyabr נובמבר בנובמבר",
    "december dec dezember dez décembre déc decembre diciembre dic dicembre dezembro joulukuuta grudnia gru "
    "prosince декабря дек грудня груд aralık ara desember des decembrie decembra detsember decembris gruodžio "
    "prosinca desembre декември децембар δεκεμβρίου δεκ dhjetor ديسمبر dekabr disember דצמבר בדצמבר",
)

MONTHS: dict[str, str] = {
    name.casefold(): str(number) for number, names in enumerate(_NAMES, 1) for name in names.split()
}
"""Numbers of the months, as text, by name after ``casefold``."""
_CROATIAN = {"listopada": "10"}  # November in Polish and Czech


FIRST_YEAR, LAST_YEAR = 1990, 2100
_LONGEST = 300
_ISO = re.compile(
    r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)"
    r"(?:[Tt ]{1,2}(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?\s?(Z|z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
)
_COMPACT = re.compile(r"(?<!\d)((?:19|20)\d{2})(\d{2})(\d{2})(?:T?\d{4,6}Z?)?(?!\d)")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4}) ?[/.年년] ?(\d{1,2}) ?[/.月월] ?(\d{1,2})(?!\d)")
_YEAR_LAST = re.compile(r"(?<![\d./-])(\d{1,2}) ?([/.|-]) ?(\d{1,2}) ?\2 ?(\d{4})(?!\d)")
_SHORT_YEAR = re.compile(r"(?<![\w./:-])(\d{1,2})([/.]) ?(\d{1,2})\2 ?(\d{2})(?![\d:]|[./]\d| ?[%€$£])")
_VIETNAMESE = re.compile(r"(?<!\d)(\d{1,2}) tháng (\d{1,2}),? (?:năm )?(\d{4})(?!\d)", re.IGNORECASE)
_TIME = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?(?: (?:[A-Z]{3,4}|[AaPp][Mm]))?\b")
_YEAR = re.compile("199[0-9]|20[0-9]{2}|2100")
_WORDS = re.compile(r"\d+|[^\W\d_]+")
_EPOCH = re.compile(r"\d{10}(?:\d{3})?")
_JOINING_WORDS = "st nd rd th of d de del do e er the ᵗʰ º m gada"
_JOINING = frozenset(_JOINING_WORDS.split())
_OTHER_FIGURES = {
    first + value: str(value) for first in (0x660, 0x6F0, 0x966, 0x9E6, 0xE50) for value in range(10)
}  # Arabic, Persian, Hindi, Bengali and Thai


class Found(NamedTuple):
    """A date as ISO 8601, and its position in a text."""

    date: str
    start: int
    end: int


def find_dates(text: str, *, language: str = "", latest: str = "", short_years: bool = False) -> list[Found]:
    """Return the dates in the first 300 characters of a text, in their order.

    Parameters
    ----------
    text : the text.
    language : language tag of the page, which decides whether ``1/2/2025`` is in January or February.
    latest : time of the capture, ISO 8601; dates more than a day later are ignored. Empty allows all dates.
    short_years : also read ``31.1.25``. Use it only where a date is certain: versions and prices look the same.
    """
    text = text[:_LONGEST]
    if not text.isascii():
        text = text.translate(_OTHER_FIGURES)
    short = [
        Found(_day_of(first, second, f"20{year}", language, mark), *match.span())
        for match in (_SHORT_YEAR.finditer(text) if short_years else ())
        for first, mark, second, year in [match.groups()]
    ]
    if not short and not _YEAR.search(text):
        return []
    found = [*_iso(text), *_figures(text, language), *_words(text, language), *short]
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
        yield Found(_day_of(first, second, year, language, mark), *match.span())
    for match in _VIETNAMESE.finditer(text):
        yield Found(_day(*reversed(match.groups())), *match.span())


def _day_of(first: str, second: str, year: str, language: str, mark: str) -> str:
    """Return the day of figures with the year at the end; the month can be first only in American English."""
    month_first = mark in "/-" and language.lower() in {"", "en", "en-ph", "en-us"}
    if int(first) > 12:
        month_first = False
    elif int(second) > 12:
        month_first = True
    return _day(year, first, second) if month_first else _day(year, second, first)


def _words(text: str, language: str) -> Iterator[Found]:
    """Yield the days whose month is a word: ``Jan. 2nd, 2025``, ``2 de janeiro de 2025``, ``Jan 02 10:11 2025``."""
    if ":" in text:
        text = _TIME.sub(lambda time: " " * len(time[0]), text)
    matches = [match for match in _WORDS.finditer(text) if match[0].lower() not in _JOINING]
    own = _CROATIAN if language.lower().startswith("hr") else {}
    for place, match in enumerate(matches):
        name = match[0].casefold()
        month = own.get(name) or MONTHS.get(name)
        if month is None:
            continue
        before = matches[place - 1] if place else None
        earlier = matches[place - 2] if place > 1 else None
        one, two = ([*matches[place + 1 : place + 3], None, None])[:2]
        if one and two and len(one[0]) <= 2 and _is_year(two[0]):
            yield Found(_day(two[0], month, one[0]), match.start(), two.end())
        if before and one and len(before[0]) <= 2 and _is_year(one[0]):
            yield Found(_day(one[0], month, before[0]), before.start(), one.end())
        if before and one and _is_year(before[0]) and len(one[0]) <= 2:
            yield Found(_day(before[0], month, one[0]), before.start(), one.end())
        ends = one is None or not _is_year(one[0])
        if ends and earlier and before and _is_year(earlier[0]) and len(before[0]) <= 2:
            yield Found(_day(earlier[0], month, before[0]), earlier.start(), match.end())


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
