"""What is read of a page's metadata, and strangers' words brought into a form that may leave the page.

Imports the Snapshot's addresses and messages only.
"""

import re
from collections.abc import Iterable
from html import unescape

import msgspec

from domsieve.plain import utf8

LONGEST_TITLE = 500
LONGEST_TEXT = 2_000
LONGEST_NAME = 100
LONGEST_URL = 2_000
MOST_NAMES = 50
MOST_KEYWORDS = 50

_READ = 20_000  # characters of a value that are looked at, so that a megabyte costs nothing
_CONTROLS = {
    **dict.fromkeys((*range(32), *range(127, 160), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF), " "),
    0xAD: None,
    0x200B: None,
}
# Tags of text in attributes and JSON; others may be what the text is about.
_TAG = re.compile(
    r"</?(?:a|b|br|em|font|i|mark|p|small|span|strong|sub|sup|u)(?:\s[^<>]{0,500})?/?>", re.IGNORECASE
)
_LANGUAGE = re.compile(r"[a-zA-Z]{2,3}(?:[-_][a-zA-Z0-9]{2,8}){0,3}")


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """What a page says of itself, and what is known of its capture; strings are empty where nothing is known.

    No text has control characters or ends of lines, lengths are bounded, addresses are absolute http or https.

    Parameters
    ----------
    title : title of what the page shows, without the name of the site; at most 500 characters.
    authors : names, at most 50 of 100 characters.
    published, modified : ISO 8601: a day, or a time as exact as the page gives it.
    language : tag of the language, such as ``"en"`` or ``"pt-BR"``.
    description : at most 2,000 characters.
    site_name : name of the site or its publisher.
    canonical_url : address that the page calls its own.
    image : address of the picture that stands for the page.
    page_type : type as the page names it, such as ``"NewsArticle"`` or ``"website"``.
    keywords : at most 50 of 100 characters.
    licence : address of the licence, or its name.
    url : address of the capture, or its file.
    status : HTTP status; None where there was no answer, as for files.
    captured_at : time of the capture, ISO 8601; empty for files.
    sources : for each field that was found on the page, in the order above, what said so: ``"og:title"``, ``"h1"``.
    """

    title: str = ""
    authors: tuple[str, ...] = ()
    published: str = ""
    modified: str = ""
    language: str = ""
    description: str = ""
    site_name: str = ""
    canonical_url: str = ""
    image: str = ""
    page_type: str = ""
    keywords: tuple[str, ...] = ()
    licence: str = ""
    url: str = ""
    status: int | None = None
    captured_at: str = ""
    sources: dict[str, str] = {}


Claim = tuple[str, str]
"""A text, and what said so."""


class TypeRules:
    """What the sources of a page say, by field; what comes first stays first."""

    def __init__(self) -> None:
        self._texts: dict[str, list[Claim]] = {}

    def add(self, field: str, text: str, source: str) -> None:
        """Note what a source says of a field."""
        if text:
            self._texts.setdefault(field, []).append((text, source))

    def of(self, field: str) -> list[Claim]:
        """Return what was said of a field, as claims in order."""
        return self._texts.get(field, [])

    def from_source(self, field: str, *sources: str) -> list[Claim]:
        """Return what these sources said of a field, source by source."""
        said = self.of(field)
        return [claim for source in sources for claim in said if claim[1] == source]


def clean_text(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return a stranger's text as one line without control characters, cut at `longest`."""
    flat = utf8(text[:_READ]).translate(_CONTROLS)
    return " ".join(flat.split())[:longest].rstrip()


def clean_value(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return the text of an attribute or of JSON, where entities and tags often stand for the second time."""
    text = text[:_READ]
    if "&" in text:
        text = unescape(text)
    if "<" in text:
        text = _TAG.sub(" ", text)
    return clean_text(text, longest)


def clean_language(text: str) -> str:
    """Return a tag of a language as BCP 47 writes it, empty when it is none."""
    first = text[:100].strip().partition(",")[0].strip()
    if not _LANGUAGE.fullmatch(first):
        return ""
    head, *rest = first.replace("_", "-").split("-")
    return "-".join([head.lower(), *(part.upper() if len(part) == 2 else part for part in rest)])


def distinct_texts(texts: Iterable[str], *, most: int) -> tuple[str, ...]:
    """Return the texts that say something, each once whatever its case, at most so many."""
    found: dict[str, str] = {}
    for text in texts:
        if text and len(found) < most:
            found.setdefault(text.casefold(), text)
    return tuple(found.values())
