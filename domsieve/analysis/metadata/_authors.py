"""Authors: names in the text around them (``By Ann Lee, MD | 2 May 2025``), and the bylines that a page shows."""

import re
from typing import NamedTuple

from domsieve.analysis.columns.flow import word_set
from domsieve.analysis.metadata._dates import MONTHS
from domsieve.analysis.metadata._elements import Elements, Places
from domsieve.analysis.metadata.values import LONGEST_NAME, MOST_NAMES, distinct_texts
from domsieve.budget import check

_LONGEST = 1_000
_MOST_WORDS = 7
# Introductions of names, such as "Originally posted by".
_PREFIX = re.compile(
    r"(?:(?:article|blog|content|guest|medically|fact|originally|this|story|post|posted|published|written|reviewed|"
    r"created|contributed|submitted|edited|authored|reported|review|words?|text|photos?|author|authors|editor|writer|"
    r"staff|contributor|started|was|is|entry|last|updated|modified|and|shared|asked|added|originally)\s{1,3}){0,6}"
    r"(?:by|von|par|por|di|da|door|av|af|od|автор|written|author|authors|autor|auteur|autore|作者|posted)"
    r"(?:\s*[:：]\s*|\s+)",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[,;|•·⋅/\n、，；]|&|\+|\s(?:and|und|et|y|e|og|och|with)\s", re.IGNORECASE)
# The rest of a line from here on is not a name.
_BEHIND = re.compile(
    r"\s(?:[-–—⋅]\s|(?:on|in|at|for|from|published|updated|posted|last|reviewed|is|was|has|read|min)\b)|"
    r"[»|•·(\[{]|\d{1,4}[\s/.,:-]",
    re.IGNORECASE,
)
_MARKS = " \t,;:.|-–—•·⋅»\"'“”‘’*#()[]"
# Titles that follow a name after a comma.
_TITLES = word_set("""
phd md rn ma mba msc bsc ms ba bs jd esq esquire cfp cpa cfa rd rdn ldn pt dpt dds dmd do np pa lcsw lmft lpc psyd
edd mph mpp mfa cscs cissp pmp jr sr ii iii iv rnd rph pharmd facs faap dvm cnp fnp msn bsn llm ceo cto coo cmo
""")
_ROLES = word_set(
    "editor writer reporter author contributor staff correspondent columnist journalist founder director manager "
    "president officer head chief senior associate assistant freelance professor specialist consultant analyst "
    "attorney expert hardware"
)
_NOBODY = word_set("""
admin administrator author authors anonymous by editor editors editorial guest staff unknown user webmaster team
contributor contributors more none null undefined posted published updated share follow home blog about contact
comments subscribe read date menu search login register view profile here website root wordpress on in at sat sun
mon tue wed thu fri saturday sunday monday tuesday wednesday thursday friday today yesterday
""")


def author_names(text: str, *, is_value: bool = False) -> tuple[str, ...]:
    """Return the names in a text about authors; none if the text seems to be something else.

    Parameters
    ----------
    text : the text, of which the first 1,000 characters are read.
    is_value : the text is an attribute or from JSON, and contains only names.
    """
    text = text[:_LONGEST].strip()
    if match := _PREFIX.match(text):
        text = text[match.end() :]
    if "://" in text:
        return ()
    if not is_value:
        text = _before_other_words(text)
    names = [name for part in _PARTS.split(text)[:MOST_NAMES] if (name := _name(part))]
    # The parts after the first name may be the person's roles.
    names = [*names[:1], *(name for name in names[1:] if name.split(" ")[-1].casefold() not in _ROLES)]
    return distinct_texts(names, most=MOST_NAMES)


def turned_name(text: str) -> str:
    """Return a name of a library catalogue in natural order: ``Ann Lee`` for ``Lee, Ann``."""
    last, comma, first = text.partition(",")
    return f"{first.strip()} {last.strip()}" if comma and "," not in first and first.strip() else text


def is_byline(text: str) -> bool:
    """Return whether a line begins with an introduction such as ``By``."""
    match = _PREFIX.match(text[:_LONGEST])
    return match is not None and match.end() < len(text)


def _before_other_words(text: str) -> str:
    match = _BEHIND.search(text)
    return text[: match.start()] if match else text


def _name(part: str) -> str:
    """Return the name in a part of a text without titles and punctuation, empty if it is not a name."""
    name = " ".join(part.split()).strip(_MARKS)
    if not name or len(name) > LONGEST_NAME or "@" in name or "://" in name or name.startswith("www."):
        return ""
    words = name.split(" ")
    folded = [word.strip(_MARKS).replace(".", "").casefold() for word in words]
    if len(words) > _MOST_WORDS or all(word in _TITLES or word in _ROLES for word in folded):
        return ""
    while len(words) > 1 and folded[-1] in _TITLES:
        words.pop()
        folded.pop()
    name = " ".join(words).strip(_MARKS)
    if name.casefold() in _NOBODY or not any(character.isalpha() for character in name):
        return ""
    if len(words) > 2 and name[0].islower():  # words of a sentence
        return ""
    if folded[0] in MONTHS and (len(folded) == 1 or folded[1].isdigit()):
        return ""
    return name


# Guesses that worked on the development sites.
_BEFORE, _AFTER = 20, 60  # shown texts before and after the title whose lines are read
_LONGEST_LINE = 120  # characters
_FURTHEST = 120  # largest cost
_MOST_CANDIDATES = 300
_NEAR_THE_TITLE = "text near the title"
_AUTHOR = word_set("author authors byline byl autor auteur autore writer contributor")
_POSTER = word_set("username poster postauthor nickname screenname")
_NO_NAME = word_set(
    "bio biography avatar image img photo picture description desc about box card social links link follow list page "
    "title role job more icon thumb email twitter website info wrapper container section grid date time archive "
    "read count posts number joined rank details"
)


class Byline(NamedTuple):
    """Names in the page.

    Parameters
    ----------
    cost : the lower, the likelier they are the authors of the page.
    node : where they are.
    names : the names.
    source : name of the place, for `Metadata.sources`.
    """

    cost: float
    node: int
    names: tuple[str, ...]
    source: str


def bylines(elements: Elements, places: Places) -> list[Byline]:
    """Return the names of authors in a page, sorted by cost."""
    found: list[Byline] = []

    def add(node: int, text: str, source: str, bonus: float) -> None:
        names = author_names(text) if 1 < len(text) <= _LONGEST_LINE else ()
        # A line in lower case, such as "By subject", names nobody.
        if names and not (source == _NEAR_THE_TITLE and all(map(str.islower, names))):
            cost = places.cost(node) - bonus - (20 if is_byline(text) else 0)
            found.append(Byline(cost, node, names, source))

    for node, value in elements.with_attribute("rel")[:_MOST_CANDIDATES]:
        if "author" in value[:200].lower().split():
            add(node, elements.shown_text(node, _LONGEST_LINE + 1), "rel=author", 30)
    for name in ("class", "id", "data-testid", "itemprop"):
        naming = [(node, bonus) for node, _, words in elements.named(name) if (bonus := _bonus(words))]
        for node, bonus in naming[:_MOST_CANDIDATES]:
            check()
            add(node, elements.shown_text(node, _LONGEST_LINE + 1), f"{name} of an author", bonus)
    for node, line in places.lines(_BEFORE, _AFTER):
        if len(line) <= _LONGEST_LINE and is_byline(line):
            add(node, line, _NEAR_THE_TITLE, 10)
    return sorted(found)


def choose_authors(found: list[Byline]) -> tuple[tuple[str, ...], str]:
    """Return the names of the likeliest byline and its source; empty if none is likely enough."""
    for one in found:
        if one.cost <= _FURTHEST:
            return one.names, one.source
    return (), ""


def _bonus(words: frozenset[str]) -> float:
    """Return how strongly the words of a class suggest a name inside, 0 for not at all."""
    if not words.isdisjoint(_AUTHOR):
        if not words.isdisjoint(_NO_NAME):
            return 1
        return 25 if "name" in words else 20
    return 5 if not words.isdisjoint(_POSTER) else 0
