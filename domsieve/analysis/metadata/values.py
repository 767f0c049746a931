"""The `Metadata` of a page, and functions that clean untrusted texts for it."""

import re
from collections.abc import Iterable
from html import unescape
from typing import Annotated, get_origin, get_type_hints

import msgspec

from domsieve.analysis.columns.invisible import visible_text
from domsieve.sanitize import utf8

LONGEST_TITLE = 500
LONGEST_TEXT = 2_000
LONGEST_NAME = 100
LONGEST_URL = 2_000
MOST_NAMES = 50
MOST_KEYWORDS = 50

_READ = 20_000  # characters of a value that are read; bounds the time for huge values
_CONTROLS = {
    **dict.fromkeys((*range(32), *range(127, 160), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF), " "),
    0xAD: None,
    0x200B: None,
}
# Text markup in attributes and JSON. Other tags may be what the text is about.
_TAG = re.compile(
    r"</?(?:a|b|br|em|font|i|mark|p|small|span|strong|sub|sup|u)(?:\s[^<>]{0,500})?/?>", re.IGNORECASE
)
_LANGUAGE = re.compile(r"[a-zA-Z]{2,3}(?:[-_][a-zA-Z0-9]{2,8}){0,3}")


class Product(msgspec.Struct, frozen=True, kw_only=True):
    """The product of a page in the terms of schema.org. Texts are empty if unknown.

    Parameters
    ----------
    name : its name; at most 500 characters.
    price : a decimal number with a point, such as ``"1299.00"``: what it costs now, on its own.
    currency : ISO 4217 code, such as ``"EUR"``.
    availability : a term of ItemAvailability, such as ``"InStock"`` or ``"OutOfStock"``.
    sku : the code that the shop itself uses for it.
    gtin : 8, 12, 13 or 14 digits with a valid check digit.
    brand : at most 100 characters.
    rating : the average rating, a decimal number.
    best_rating : the best possible rating if the page states it; 5 in schema.org otherwise.
    rating_count : number of ratings or reviews.
    sources : where each field comes from, such as ``"json-ld sku"`` or ``"page"``, by name of the field.
    nodes : the node of the page with the value, for fields with one.
    """

    name: str = ""
    price: str = ""
    currency: str = ""
    availability: str = ""
    sku: str = ""
    gtin: str = ""
    brand: str = ""
    rating: str = ""
    best_rating: str = ""
    rating_count: str = ""
    sources: dict[str, str] = {}
    nodes: dict[str, int] = {}


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """Metadata of a page and of its capture. Texts are empty if unknown.

    Texts have no control characters and no line breaks, and their lengths are bounded. Addresses are absolute, with
    http or https. What a page states of itself has a label for people.

    Parameters
    ----------
    title : title of the content, without the name of the site; at most 500 characters.
    authors : at most 50 names of at most 100 characters.
    published, modified : ISO 8601; a day, or a time if the page gives one.
    language : language tag, such as ``"en"`` or ``"pt-BR"``.
    description : at most 2,000 characters.
    site_name : name of the site or its publisher.
    canonical_url : the page's own address, according to the page.
    image : address of the image that represents the page.
    page_type : type as the page names it, such as ``"NewsArticle"`` or ``"website"``.
    keywords : at most 50 keywords of at most 100 characters.
    licence : address or name of the licence.
    product : the product that the page is about; None for all other pages.
    url : address of the capture, or name of the file.
    status : HTTP status; None without a response, as for files.
    captured_at : time of the capture, ISO 8601; empty for files.
    sources : where each field of the page comes from, such as ``"og:title"`` or ``"h1"``, by name of the field.
    """

    title: Annotated[str, msgspec.Meta(title="Title")] = ""
    authors: Annotated[tuple[str, ...], msgspec.Meta(title="By")] = ()
    published: Annotated[str, msgspec.Meta(title="Published")] = ""
    modified: Annotated[str, msgspec.Meta(title="Changed")] = ""
    language: Annotated[str, msgspec.Meta(title="Language")] = ""
    description: Annotated[str, msgspec.Meta(title="Description")] = ""
    site_name: Annotated[str, msgspec.Meta(title="Site")] = ""
    canonical_url: Annotated[str, msgspec.Meta(title="Canonical address")] = ""
    image: Annotated[str, msgspec.Meta(title="Picture")] = ""
    page_type: Annotated[str, msgspec.Meta(title="Kind of page")] = ""
    keywords: Annotated[tuple[str, ...], msgspec.Meta(title="Keywords")] = ()
    licence: Annotated[str, msgspec.Meta(title="Licence")] = ""
    product: Annotated[Product | None, msgspec.Meta(title="Product")] = None
    url: str = ""
    status: int | None = None
    captured_at: str = ""
    sources: dict[str, str] = {}


def metadata_labels() -> dict[str, str]:
    """Return the labels of the fields that the page itself states, by name."""
    hints = get_type_hints(Metadata, include_extras=True)
    return {name: hint.__metadata__[0].title for name, hint in hints.items() if get_origin(hint) is Annotated}


Claim = tuple[str, str]
"""A text and its source."""


class Claims:
    """Statements about the page by field, in the order they were added."""

    def __init__(self) -> None:
        self._texts: dict[str, list[Claim]] = {}

    def add(self, field: str, text: str, source: str) -> None:
        """Add the statement of a source about a field, unless the text is empty."""
        if text:
            self._texts.setdefault(field, []).append((text, source))

    def of(self, field: str) -> list[Claim]:
        """Return all statements about a field, in order."""
        return self._texts.get(field, [])

    def from_source(self, field: str, *sources: str) -> list[Claim]:
        """Return the statements of some sources about a field, source by source."""
        claims = self.of(field)
        return [claim for source in sources for claim in claims if claim[1] == source]


def clean_text(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return untrusted text as one line of at most `longest` characters.

    Control characters, and invisible characters that can carry text, are removed.
    """
    flat = visible_text(text[:_READ])
    if not flat.isprintable():  # faster than to look each character up
        flat = utf8(flat).translate(_CONTROLS)
    return " ".join(flat.split())[:longest].rstrip()


def clean_value(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return the clean text of an attribute or JSON value, without its entities and tags; see `clean_text`."""
    text = text[:_READ]
    if "&" in text:
        text = unescape(text)
    if "<" in text:
        text = _TAG.sub(" ", text)
    return clean_text(text, longest)


def clean_language(text: str) -> str:
    """Return a language tag in the form of BCP 47, or an empty string if it is not valid."""
    first = text[:100].strip().partition(",")[0].strip()
    if not _LANGUAGE.fullmatch(first):
        return ""
    head, *rest = first.replace("_", "-").split("-")
    return "-".join([head.lower(), *(part.upper() if len(part) == 2 else part for part in rest)])


def distinct_texts(texts: Iterable[str], *, most: int) -> tuple[str, ...]:
    """Return the first `most` non-empty texts that differ in more than case."""
    distinct: dict[str, str] = {}
    for text in texts:
        if text and len(distinct) < most:
            distinct.setdefault(text.casefold(), text)
    return tuple(distinct.values())
