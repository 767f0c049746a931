"""Names of authors out of what stands where authors are named: ``By Ann Lee, MD | 2 May 2025``. Imports months."""

import re

from domsieve.analysis.columns.flow import word_set
from domsieve.analysis.metadata.months import MONTHS
from domsieve.analysis.metadata.values import LONGEST_NAME, MOST_NAMES, distinct_texts

_LONGEST = 1_000
_MOST_WORDS = 7
# What stands before a name. The last word may be one that only introduces.
_PREFIX = re.compile(
    r"(?:(?:article|blog|content|guest|medically|fact|originally|this|story|post|posted|published|written|reviewed|"
    r"created|contributed|submitted|edited|authored|reported|review|words?|text|photos?|author|authors|editor|writer|"
    r"staff|contributor|started|was|is|entry|last|updated|modified|and|shared|asked|added|originally)\s{1,3}){0,6}"
    r"(?:by|von|par|por|di|da|door|av|af|od|автор|written|author|authors|autor|auteur|autore|作者|posted)"
    r"(?:\s*[:：]\s*|\s+)",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[,;|•·⋅/\n、，；]|&|\+|\s(?:and|und|et|y|e|og|och|with)\s", re.IGNORECASE)
# From here on a line says something else than names.
_BEHIND = re.compile(
    r"\s(?:[-–—⋅]\s|(?:on|in|at|for|from|published|updated|posted|last|reviewed|is|was|has|read|min)\b)|"
    r"[»|•·(\[{]|\d{1,4}[\s/.,:-]",
    re.IGNORECASE,
)
_MARKS = " \t,;:.|-–—•·⋅»\"'“”‘’*#()[]"
# What follows a name behind a comma and is none of its own.
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
    """Return the names in a text that names authors, none when it reads like something else.

    Parameters
    ----------
    is_value : whether the text is an attribute or of JSON, which holds names alone.
    """
    text = text[:_LONGEST].strip()
    if match := _PREFIX.match(text):
        text = text[match.end() :]
    if "://" in text:
        return ()
    if not is_value:
        text = _until_behind(text)
    names = [name for part in _PARTS.split(text)[:MOST_NAMES] if (name := _name(part))]
    # What follows the first name may be what the person does.
    names = [*names[:1], *(name for name in names[1:] if name.split(" ")[-1].casefold() not in _ROLES)]
    return distinct_texts(names, most=MOST_NAMES)


def turned_name(text: str) -> str:
    """Return a name of a library's catalogue as it is said: ``Ann Lee`` of ``Lee, Ann``."""
    last, comma, first = text.partition(",")
    return f"{first.strip()} {last.strip()}" if comma and "," not in first and first.strip() else text


def is_byline(text: str) -> bool:
    """Return whether a line begins as one that names authors."""
    match = _PREFIX.match(text[:_LONGEST])
    return match is not None and match.end() < len(text)


def _until_behind(text: str) -> str:
    match = _BEHIND.search(text)
    return text[: match.start()] if match else text


def _name(part: str) -> str:
    """Return a name without what surrounds it, empty when it is none."""
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
