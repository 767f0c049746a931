"""The dates of publication and of the last change of a page, chosen from what it states and what it shows."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from math import inf
from typing import Literal, NamedTuple

from domsieve.analysis.columns.flow import word_set
from domsieve.analysis.metadata._dates import Found, find_dates, find_exact_date
from domsieve.analysis.metadata._elements import Elements, Places
from domsieve.analysis.metadata.values import Claim, Claims
from domsieve.budget import check
from domsieve.urls import split_url

_NOTHING: Claim = ("", "")
# Sources that some systems use for other dates than that of publication.
_VAGUE_METAS = (
    "date",
    "dc.date",
    "dcterms.date",
    "dc.created",
    "dcterms.created",
    "dc.date.created",
    "created",
)
_VAGUE = frozenset((*_VAGUE_METAS, "json-ld uploadDate", "microdata uploaddate"))
_OF_ANYTHING = "datepublished"  # in the text, ``meta itemprop`` can belong to another thing than the page
# Parts of labels in lower case: matching is faster than with any case.
_MODIFIED_LABEL = re.compile(
    r"updat|modif|revis|edited|reviewed|checked|last[ -]?(?:change|edit|saved)|"
    r"aktualis|geändert|änderung|überarbeitet|bearbeitet|zuletzt|\bstand:|\bstand(?: vom| am)?\W*$|"
    r"mis(?:e)? à jour|actualis[ée]|actualiz|aggiorna|ultima modifica|atualiz|última|actualitzat|"
    r"bijgewerkt|gewijzigd|uppdatera|ändrad|opdater|oppdater|endret|ændret|"
    r"aktualiz|zmodyfik|edytowan|upraven|ažuriran|posodobljen|frissít|módosít|"
    r"päivitetty|muokattu|güncelle|обновл|измен|редакт|оновл|змінен|обновен|ενημέρωσ",
)
_PUBLISHED_LABEL = re.compile(
    r"publish|post(?:ed|[ -]?(?:time|date))|\blisted on|written|created|released|issued|first|"
    r"veröffentlicht|erstellt|verfasst|geschrieben|dieser (?:artikel|beitrag|eintrag)|erschienen|eingestellt|"
    r"publi(?:é|ée|cad|caç|cat|cer|ser|ko)|mise? en ligne|\bparu|pubbl|"
    r"geplaatst|gepubl|udgivet|lagt (?:ut|upp)|"
    r"opublik|dodan[oy]|utworzon|zveřejn|vydáno|objavljen|közzé|megjelent|"
    r"julkais|yayın|опублик|размещ|добавлен|публик|δημοσ",
)
# Dates of people, events and rights.
_OTHER_LABEL = re.compile(
    r"\bjoin|member since|mitglied seit|registr|inscrit|\bborn\b|geboren|birth|copyright|©|expir|valid|gültig|"
    r"deadline",
)
_DATE_WORDS = word_set("""
date dates datetime time timestamp dateline published publish posted pubdate pubtime created submitted postdate
entrydate timeago datum artikeldatum newsdatum veroeffentlicht fecha data dato publie pubblicato publicado
""")
_SPAN = re.compile(
    r"\b(?:since|until|till|seit|bis|ab|depuis|jusqu'au|desde|hasta|dal|al|sinds|tot)\W*$", re.IGNORECASE
)
# Place and date at the beginning of a paragraph, and what ends them.
_PLACE = re.compile(r"[\W_]*(?:[^\W\d_]+(?: [^\W\d_]+)?, ?[(\[]?)?")
_DATELINE_END = re.compile(r"\s?(?:[)\]:|–—-]|\. | [\"„“«»])")
_SHORT_AT_END = re.compile(r"[,|·–—-] \d{1,2}\.\d{1,2}\.\d{2}$")
_SENTENCE_END = re.compile(r"\w[.!?]$")
_ADDRESS_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/_]?(0[1-9]|1[0-2])[-/_]?(0[1-9]|[12]\d|3[01])(?!\d)")
_FOLDERS = re.compile(r"/\d{4}/\d{1,2}/\d{1,2}/")
# What web archives put before the address of a page: ``https://web.archive.org/web/20250304050607/``.
_ARCHIVE = re.compile(r"^[^?#]*/\d{14}(?:[a-z]{2}_)?/+(?=https?:/|[\w-]+\.[\w.-]+/)")
_GENERAL_DOMAINS = frozenset(("ai", "cc", "co", "fm", "gg", "io", "ly", "me", "tv"))
# Guesses that worked on the development sites.
_BEFORE, _AFTER = 30, 120  # shown texts before and after the title whose lines are read
_LONGEST_LINE = 160  # characters
_LONGEST_REST = 60  # characters before or after a date in a line that is no sentence
_SHORT_REST = 20  # characters around a date in a line of its own, such as those of a weekday or time
_SHORT_LINE = 30  # characters of a line in which 31.1.25 is a date
_FURTHEST, _FURTHEST_LINE = 400, 50  # largest costs: of all dates, and of those in lines without a label
_TIME_ATTRIBUTES = ("datetime", "data-datetime", "data-date", "data-timestamp", "created-timestamp", "ts")
_MOST_CANDIDATES = 400
_NEAR = 20  # largest cost of a date that decides between statements
_APART = 20  # largest difference in cost between a change and a date of publication without a label
_NEXT = 10  # largest cost of a date that counts instead of all statements

_LINE = "text near the title"

Kind = Literal["", "published", "modified"]


class ShownDate(NamedTuple):
    """A date in the page.

    Parameters
    ----------
    cost : the lower, the likelier it is the date of the page.
    node : where it is.
    date : ISO 8601.
    kind : what its label calls it; empty without one.
    source : name of the place, for `Metadata.sources`.
    """

    cost: float
    node: int
    date: str
    kind: Kind
    source: str


def dates_shown(
    elements: Elements, places: Places, *, language: str, latest: str, is_dated: bool
) -> list[ShownDate]:
    """Return the dates near the title of a page, sorted by cost.

    If there is none, and the page states none, these are the dates in all its lines that have labels, unless equal
    labels have several dates, which are those of other things. In a page without a title, a line of its own counts as
    a label.

    Parameters
    ----------
    elements, places : the page.
    language, latest : see `find_dates`.
    is_dated : whether the page states a date.
    """
    shown = _ShownDates(elements, places, language, latest)
    shown.add_times()
    shown.add_lines()
    shown.add_named()
    near = sorted(one for one in shown.dates if _is_near(one))
    if near or is_dated:
        return near
    shown.dates.clear()
    shown.add_far_lines()
    days: dict[Kind, set[str]] = {}
    for one in shown.dates:
        days.setdefault(one.kind, set()).add(one.date[:10])
    return sorted(one for one in shown.dates if len(days[one.kind]) == 1)


class _ShownDates:
    """Collects the dates in a page."""

    def __init__(self, elements: Elements, places: Places, language: str, latest: str) -> None:
        self.dates: list[ShownDate] = []
        self._elements, self._places = elements, places
        self._language, self._latest = language, latest

    def add_times(self) -> None:
        """Add the dates of ``time`` elements and of attributes for times."""
        elements = self._elements
        for name in _TIME_ATTRIBUTES:
            for node, value in self._near(elements.with_attribute(name)):
                if elements.tag(node) in {"ins", "del"}:
                    continue
                exact = find_exact_date(value, language=self._language, latest=self._latest)
                if exact:
                    self._add(node, exact, [Found(exact, 0, 0)], self._label(node), name, 15)
        for node, _ in self._near([(node, "") for node in elements.tagged("time")]):
            self._add_text(node, elements.shown_text(node, _LONGEST_LINE), self._label(node), "time", 15)

    def add_named(self) -> None:
        """Add the dates in elements whose class or identifier has a word for dates."""
        elements = self._elements
        for name in ("class", "id", "data-testid"):
            for node, value in self._near(elements.named_after(name, _DATE_WORDS)):
                title = elements.attributes(node).get("title", "")
                for text in (elements.shown_text(node, _LONGEST_LINE + 1), title):
                    if len(text) <= _LONGEST_LINE:
                        self._add_text(node, text, _class_label(value), f"{name} of a date", 10)

    def add_lines(self) -> None:
        """Add the dates in lines near the title, except those in sentences."""
        previous = ""
        for node, line in self._places.lines(_BEFORE, _AFTER):
            before = previous if len(previous) <= 40 else ""
            previous = line
            short_years = len(line) <= _SHORT_LINE or bool(_SHORT_AT_END.search(line[-_SHORT_LINE:]))
            found = find_dates(line, language=self._language, latest=self._latest, short_years=short_years)
            if not found:
                continue
            previous = ""  # its label is that of its own date
            is_short = len(line) <= _LONGEST_LINE
            found = [
                one
                for one in found
                if _is_dateline(line, one)
                or (is_short and _kind(line[: one.start]))
                or (is_short and _stands_alone(line, one, _LONGEST_REST) and not _is_in_sentence(line, one))
            ]
            self._add(node, line, found, before + " ", _LINE, 0)

    def add_far_lines(self) -> None:
        """Add from all lines the dates with labels; in pages without a title, also those in lines of their own."""
        previous, is_untitled = "", not self._places.title
        for node, line in self._elements.lines(0, len(self._elements.shown)):
            check()
            before = previous if len(previous) <= 40 else ""
            previous = line
            found = find_dates(line, language=self._language, latest=self._latest)[:1]
            if not found or found[0].start > _LONGEST_REST:
                continue
            label = f"{before} {line[: found[0].start]}"
            if not _kind(label):  # some put the label after the date
                label += line[found[0].end : _LONGEST_LINE]
            if _kind(label):
                self._add(node, "", found, label, "text with a label", 0)
            elif (
                is_untitled
                and _stands_alone(line, found[0], _SHORT_REST)
                and not self._places.is_beside(node)
            ):
                self._add(node, line, found, "", "line of a date", 0)

    def _near(self, nodes: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        """Yield the nodes that are near enough to the title, with their values."""
        for node, value in nodes[:_MOST_CANDIDATES]:
            check()
            if self._places.cost(node) <= _FURTHEST:
                yield node, value

    def _label(self, node: int) -> str:
        elements = self._elements
        attributes = elements.attributes(node)
        around = elements.shown_text(int(elements.parent[node]), _LONGEST_LINE)
        own = elements.shown_text(node, _LONGEST_LINE)
        before = around.partition(own)[0][-40:] if own else ""
        return f"{_class_label(attributes.get('class', ''))}{attributes.get('itemprop', '')[:200]} {before}"

    def _add_text(self, node: int, text: str, label: str, source: str, bonus: float) -> None:
        found = find_dates(text, language=self._language, latest=self._latest, short_years=True)
        self._add(node, text, found, label, source, bonus)

    def _add(self, node: int, text: str, found: list[Found], label: str, source: str, bonus: float) -> None:
        end = 0
        for one in found[:3]:
            before = label + text[max(end, one.start - 40) : one.start]
            end = one.end
            if _OTHER_LABEL.search(before.lower()):
                continue
            kind = _kind(before)
            cost = self._places.cost(node) - bonus - (20 if kind == "published" else 0)
            self.dates.append(ShownDate(cost, node, one.date, kind, source))


def _is_near(shown: ShownDate) -> bool:
    return shown.cost <= (_FURTHEST_LINE if shown.source == _LINE and not shown.kind else _FURTHEST)


def _class_label(value: str) -> str:
    """Return the words of a class for a label; in ``entry-date updated``, themes name any date of an entry."""
    return value[:200].replace("date updated", "date") + " "


def _kind(label: str) -> Kind:
    """Return what the first label in a text calls a date."""
    label = label.lower()
    modified, published = _MODIFIED_LABEL.search(label), _PUBLISHED_LABEL.search(label)
    if modified and (published is None or modified.start() <= published.start()):
        return "modified"
    return "published" if published else ""


def _stands_alone(line: str, found: Found, longest: int) -> bool:
    """Return whether a line has at most so many characters before and after a date, and says no span of time."""
    before = line[: found.start]
    return max(len(before), len(line) - found.end) <= longest and not _SPAN.search(before)


def _is_in_sentence(line: str, found: Found) -> bool:
    """Return whether a line without a label is a sentence that goes on after a date in it."""
    if min(found.start, len(line) - found.end) < _SHORT_REST or not _SENTENCE_END.search(line):
        return False
    return not _kind(line)


def _is_dateline(line: str, found: Found) -> bool:
    """Return whether a paragraph begins with a date, or with a place and a date."""
    return bool(_PLACE.fullmatch(line[: found.start]) and _DATELINE_END.match(line, found.end))


def choose_dates(
    claims: Claims, elements: Elements, places: Places, *, address: str, language: str, latest: str
) -> tuple[Claim, Claim]:
    """Return the dates of publication and of the last change with their sources; empty texts if unknown.

    Parameters
    ----------
    claims, elements, places : the page.
    address : its address.
    language, latest : see `find_dates`.
    """
    language = regional_language(language, address)
    stated = _stated(claims, "published", language, latest)
    stated.sort(key=lambda claim: (claim[1] in _VAGUE, claim[1] == _OF_ANYTHING))
    changed = _stated(claims, "modified", language, latest)
    day, is_folder = _address_day(claims, elements, places, address, language, latest)
    is_dated = bool(stated or changed or day[0])
    seen = dates_shown(elements, places, language=language, latest=latest, is_dated=is_dated)
    update = next((one for one in seen if one.kind == "modified"), None)
    fresh = _first_fresh(seen)
    if update and update.cost <= _NEAR:  # nothing changes before its publication
        stated = [one for one in stated if one[1] not in _VAGUE or one[0][:10] <= update.date[:10]]
    published = _confirmed(stated, changed, fresh) if stated else _claim(fresh)
    if day[0] and (not stated or (is_folder and day[0] < published[0][:10])):
        published = day  # a page that is published again keeps its address
    return published, changed[0] if changed else _claim(update)


def _stated(claims: Claims, field: str, language: str, latest: str) -> list[Claim]:
    dated = [
        (find_exact_date(text, language=language, latest=latest), source) for text, source in claims.of(field)
    ]
    return [claim for claim in dated if claim[0]]


def _address_day(
    claims: Claims, elements: Elements, places: Places, address: str, language: str, latest: str
) -> tuple[Claim, bool]:
    """Return the day in an address of the page, and whether it is a path of folders: names can have other dates.

    The addresses are that of the capture, that which the page calls its own, and the link of its title.
    """
    named = [(address, "address")]
    named += [(text, "canonical address") for text, _ in claims.of("canonical_url")[:3]]
    if places.title:
        named += [(link, "link of the title") for link in elements.links(places.title)[:1]]
    for text, source in named:
        if day := date_of_address(text, language=language, latest=latest):
            return (day, source), bool(_FOLDERS.search(text))
    return _NOTHING, False


def _claim(shown: ShownDate | None) -> Claim:
    return (shown.date, shown.source) if shown else _NOTHING


def _first_fresh(seen: list[ShownDate]) -> ShownDate | None:
    """Return the likeliest date that is not, by its own label or by that of an equal date, one of a change.

    Dates without a label that are much further away than a change are those of other things.
    """
    changes: set[str] = set()
    furthest = inf
    for one in seen:
        if one.kind == "modified":
            changes.add(one.date[:10])
            furthest = min(furthest, one.cost + _APART)
        elif one.kind == "published" or (one.date[:10] not in changes and one.cost <= furthest):
            return one
    return None


def _confirmed(stated: list[Claim], changed: list[Claim], fresh: ShownDate | None) -> Claim:
    """Return the first statement, unless the page shows another day of publication near its title.

    Then it is the first statement of that day, or the shown date itself if the statement is vague or means the same
    day in another time zone.
    """
    first = next((claim for claim in stated if _is_local_form(claim[0], stated[0][0])), stated[0])
    if fresh is None or fresh.cost > _NEAR or _is_same_day(fresh.date, first[0]):
        return first
    if not fresh.kind and any(_is_same_day(fresh.date, one) for one, _ in changed):
        return first
    for claim in stated:
        if _is_same_day(fresh.date, claim[0]):
            return claim
    if first[1] in _VAGUE or _is_local_day(fresh.date, first[0]) or _is_original(fresh, stated):
        return _claim(fresh)
    return first


def _is_original(fresh: ShownDate, stated: list[Claim]) -> bool:
    """Return whether a page that is published again shows next to its title a day before all that it states.

    Scientific papers show other days, such as that of their submission.
    """
    if any(source.startswith("citation_") for _, source in stated):
        return False
    first = min(date for date, _ in stated)
    year, month, day = fresh.date[:10].split("-")
    if fresh.cost > _NEXT or first[:10] == f"{year}-{day}-{month}":  # figures in the other order
        return False
    return datetime.fromisoformat(fresh.date[:10]) + timedelta(days=1) < datetime.fromisoformat(first[:10])


def _is_same_day(one: str, other: str) -> bool:
    return one[:10] == other[:10]


def _is_local_form(one: str, other: str) -> bool:
    """Return whether a text is the same moment as another, in a time zone other than UTC."""
    if min(len(one), len(other)) <= 10:
        return False
    moments = datetime.fromisoformat(one), datetime.fromisoformat(other)
    offsets = [moment.utcoffset() for moment in moments]
    return None not in offsets and moments[0] == moments[1] and bool(offsets[0]) and not offsets[1]


def _is_local_day(day: str, moment: str) -> bool:
    """Return whether a day is that of a moment in UTC somewhere on Earth."""
    told = datetime.fromisoformat(moment)
    if len(moment) <= 10 or told.utcoffset():
        return False
    earliest, latest = told - timedelta(hours=12), told + timedelta(hours=14)
    return f"{earliest:%Y-%m-%d}" <= day[:10] <= f"{latest:%Y-%m-%d}"


def date_of_address(address: str, *, language: str, latest: str) -> str:
    """Return the day in the path of an address, such as ``/2025/01/31/`` or ``/2025-01/31/``; empty without one."""
    parts = split_url(original_address(address))
    if parts is None:
        return ""
    path = _ADDRESS_DAY.sub(r"\1-\2-\3", parts.path[:300])
    last = path.rstrip("/").rpartition("/")[2]
    found = [one for text in (path, last) for one in find_dates(text, language=language, latest=latest)]
    return found[0].date[:10] if found else ""


def original_address(address: str) -> str:
    """Return the address in that of a copy in a web archive; other addresses unchanged, with 2,000 characters."""
    address, copies = _ARCHIVE.subn("", address[:2_000])
    return f"http://{address}" if copies and "://" not in address else address


def regional_language(language: str, address: str) -> str:
    """Return English, or an unknown language, with the country of the address, which decides the order of figures."""
    parts = split_url(original_address(address)) if language in {"", "en"} else None
    country = (parts.hostname or "").rpartition(".")[2] if parts else ""
    return f"en-{country}" if len(country) == 2 and country not in _GENERAL_DOMAINS else language
