"""Metadata from JSON-LD: tolerant parsing, and the choice of the item that the page is about."""

import json
import re
from collections.abc import Iterator
from typing import Any

from domsieve.analysis.metadata.elements import Elements
from domsieve.analysis.metadata.values import TypeRules, clean_value
from domsieve.budget import check
from domsieve.snapshot.page import JSON_LD

DEEPEST = 64
"""Levels of nesting; Python's own limit depends on who calls."""

# A string that does not end goes to the end of the text, so that no part of it is read twice.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
_COMMA_AT_END = re.compile(r",(?=\s{0,200}[\]}])")
_BAD_ESCAPE = re.compile(r'\\(?:u(?![0-9a-fA-F]{4})|[^"\\/bfnrtu])')
_WRAPPERS = ("<!--", "//<![CDATA[", "/*<![CDATA[*/", "<![CDATA[", "//]]>", "/*]]>*/", "]]>", "-->", ";")
_DECODER = json.JSONDecoder(strict=False)
_MOST_VALUES = 50


def read_json(text: str) -> list[Any]:
    """Return the values in a text, one behind the other; of one that cannot be mended those before the fault."""
    text = _unwrapped(text)
    values, rest = _values(text)
    if rest:
        again, _ = _values(_mended(rest))
        values += again
    return values


def _values(text: str) -> tuple[list[Any], str]:
    """Return the values at the beginning of a text, and the text from the first fault on."""
    if _depth(text) > DEEPEST:
        return [], ""
    found: list[Any] = []
    at = 0
    while len(found) < _MOST_VALUES:
        check()
        while at < len(text) and text[at] in " \t\r\n,;\ufeff\xa0":
            at += 1
        if at == len(text):
            return found, ""
        try:
            value, at = _DECODER.raw_decode(text, at)
        except ValueError:
            return found, text[at:]
        found.append(value)
    return found, ""


def _depth(text: str) -> int:
    """Return how deep brackets stand in one another; those in strings do not count."""
    depth = deepest = 0
    for match in _TOKEN.finditer(text):
        mark = match[0][0]
        if mark in "[{":
            depth += 1
            if depth > deepest:
                deepest = depth
        elif mark != '"':
            depth = max(depth - 1, 0)
    return deepest


def _unwrapped(text: str) -> str:
    """Return a text without the marks of comments that once hid scripts from old browsers."""
    text = text.strip(" \t\r\n\ufeff")
    for _ in range(4):
        for mark in _WRAPPERS:
            text = text.removeprefix(mark).removesuffix(mark).strip()
    return text


def _mended(text: str) -> str:
    """Return a text without commas before closing brackets and without escapes that JSON does not know."""
    parts: list[str] = []
    last = 0
    for match in _STRING.finditer(text):
        parts.append(_COMMA_AT_END.sub("", text[last : match.start()]))
        inner = match[0]
        parts.append(_BAD_ESCAPE.sub(lambda bad: "\\\\" + bad[0][1:], inner) if "\\" in inner else inner)
        last = match.end()
    parts.append(_COMMA_AT_END.sub("", text[last:]))
    return "".join(parts)


Thing = dict[str, Any]

_MOST_THINGS = 5_000
_MOST_OF_A_LIST = 100
_ARTICLE_NAMES = """
advertisercontentarticle analysisnewsarticle article askpublicnewsarticle backgroundnewsarticle blogposting
discussionforumposting liveblogposting medicalscholarlyarticle newsarticle opinionnewsarticle report
reportagenewsarticle reviewnewsarticle satiricalarticle scholarlyarticle socialmediaposting techarticle
"""
_WORK_NAMES = """
apireference audioobject book course creativework dataset event faqpage howto jobposting movie musicalbum
musicrecording podcastepisode product productgroup qapage question recipe review softwareapplication
softwaresourcecode videoobject webapplication
"""
_PAGE_NAMES = """
aboutpage checkoutpage collectionpage contactpage itempage medicalwebpage profilepage searchresultspage webpage
"""
_RANKS = {
    **dict.fromkeys(_PAGE_NAMES.split(), 3),
    **dict.fromkeys(_WORK_NAMES.split(), 2),
    **dict.fromkeys(_ARTICLE_NAMES.split(), 1),
}
_PUBLISHERS = frozenset(("organization", "newsmediaorganization", "corporation"))


def claim_json_ld(elements: Elements, claims: TypeRules, address: str) -> None:
    """Note what the JSON-LD of a page says.

    Parameters
    ----------
    address : the page's own address, which tells its description from those of other pages.
    """
    roots = [value for _, text in elements.with_attribute(JSON_LD) for value in read_json(text)]
    graph = _Graph(roots)
    for thing in graph.main_things(address):
        _claim_thing(graph, thing, claims)
    for thing in graph.things:
        kind = _kind(thing)
        if kind == "website":
            claims.add("site_name", _text(thing.get("name")), "json-ld WebSite name")
            claims.add("site_language", _text(thing.get("inLanguage")), "json-ld inLanguage")
        elif kind in _PUBLISHERS:
            claims.add("organization", _text(thing.get("name")), "json-ld Organization name")


def _claim_thing(graph: "_Graph", thing: Thing, claims: TypeRules) -> None:
    rank = rank_of(_kind(thing))
    claims.add("page_type", _text(_first(thing.get("@type"))), "json-ld @type")
    for key, field in (
        ("headline", "title"),
        ("name", "title"),
        ("description", "description"),
        ("inLanguage", "language"),
        ("datePublished", "published"),
        ("dateModified", "modified"),
        ("uploadDate", "published"),
        ("dateCreated", "published"),
    ):
        source = f"json-ld {key}" if rank < 3 else f"json-ld {_text(_first(thing.get('@type')))} {key}"
        claims.add(field, _text(_first(thing.get(key))), source)
    for key in ("author", "creator"):
        people, others = graph.names(thing.get(key))
        source = f"json-ld {key}" if rank < 3 else f"json-ld WebPage {key}"
        for name in people:
            claims.add("authors", name, source)
        for name in others:
            claims.add("organization_authors", name, source)
    people, others = graph.names(thing.get("publisher"))
    for name in [*people, *others]:
        claims.add("publisher", name, "json-ld publisher")
    for text in graph.addresses(thing.get("image")):
        claims.add("image", text, "json-ld image")
    for text in graph.addresses(thing.get("license")) or [_text(thing.get("license"))]:
        claims.add("licence", text, "json-ld license")
    for value in (thing.get("url"), thing.get("mainEntityOfPage")):
        for address in graph.addresses(value)[:1]:
            claims.add("canonical_url", address, "json-ld url")
    for word in _listed(thing.get("keywords")):
        claims.add("keywords", _text(word), "json-ld keywords")


class _Graph:
    """The things of all scripts of a page, by what they are and by their names for each other."""

    def __init__(self, roots: list[Any]) -> None:
        self.things: list[Thing] = []
        self._by_id: dict[str, Thing] = {}
        todo = [*reversed(roots)]
        seen = 0
        while todo and seen < _MOST_THINGS:
            check()
            value = todo.pop()
            seen += 1
            if isinstance(value, list):
                todo += reversed(value[:_MOST_OF_A_LIST])
            elif isinstance(value, dict):
                if "@graph" in value:
                    todo.append(value["@graph"])
                if "@type" in value:
                    self.things.append(value)
                for key in ("mainEntity", "mainEntityOfPage"):
                    if isinstance(value.get(key), dict | list):
                        todo.append(value[key])
        for value in self._all(roots):
            name = value.get("@id")
            if isinstance(name, str) and len(value) > 1:
                self._by_id.setdefault(name, value)

    @staticmethod
    def _all(roots: list[Any]) -> Iterator[Thing]:
        todo, seen = [*reversed(roots)], 0
        while todo and seen < _MOST_THINGS:
            check()
            value = todo.pop()
            seen += 1
            if isinstance(value, dict):
                yield value
                todo += [inner for inner in reversed(value.values()) if isinstance(inner, dict | list)]
            elif isinstance(value, list):
                todo += [i for i in reversed(value[:_MOST_OF_A_LIST]) if isinstance(i, dict | list)]

    def main_things(self, address: str) -> list[Thing]:
        """Return what the page is about, the most telling first: articles, other works, the page."""
        ranked = [(_RANKS[kind], thing) for thing in self.things if (kind := _kind(thing)) in _RANKS]
        found = []
        for rank in (1, 2, 3):
            same = [thing for own, thing in ranked if own == rank]
            if len(same) > 1:
                own = [thing for thing in same if address and address in self._own_addresses(thing)]
                # Of many without an address of the page, none is the page's: it lists them.
                same = own or (same[:1] if len(same) < 4 or rank == 3 else [])
            found += same[:1]
        return found

    def _own_addresses(self, thing: Thing) -> list[str]:
        said = [thing.get(key) for key in ("@id", "url", "mainEntityOfPage")]
        return [plain_address(text) for value in said for text in self.addresses(value)]

    def resolved(self, value: Any) -> Any:
        """Return what a reference names, else the value."""
        if isinstance(value, dict) and len(value) <= 2 and "name" not in value:
            name = value.get("@id")
            if isinstance(name, str):
                return self._by_id.get(name, value)
        return value

    def names(self, value: Any) -> tuple[list[str], list[str]]:
        """Return the names of people that a value holds, and those of others."""
        people: list[str] = []
        others: list[str] = []
        for one in _listed(value, parted=False):
            one = self.resolved(one)
            if isinstance(one, str):
                people.append(clean_value(one, 400))
            elif isinstance(one, dict):
                name = _text(_first(one.get("name")), 400)
                if not name and isinstance(one.get("name"), dict):
                    name = _text(one["name"].get("name"), 400)
                if not name:
                    parts = (
                        _text(one.get(key), 200) for key in ("givenName", "additionalName", "familyName")
                    )
                    name = " ".join(part for part in parts if part)
                listed = [_text(inner, 400) for inner in _listed(one.get("name"))] if not name else [name]
                kind = _kind(one)
                (others if kind in _PUBLISHERS or kind == "website" else people).extend(listed)
        return [name for name in people if name], [name for name in others if name]

    def addresses(self, value: Any) -> list[str]:
        """Return the addresses that a value holds: texts, or those of things."""
        found = []
        for one in _listed(value, parted=False):
            one = self.resolved(one)
            if isinstance(one, str):
                found.append(one.strip())
            elif isinstance(one, dict):
                said = (one.get(key) for key in ("url", "contentUrl", "@id"))
                found += [text.strip() for text in map(_first, said) if isinstance(text, str)][:1]
        return [text for text in found if 0 < len(text) <= 2_000]


def rank_of(kind: str) -> int:
    """Return how telling a type of schema.org is, in lower case: 1 articles, 2 other works, 3 pages, 9 all else."""
    return _RANKS.get(kind, 9)


def plain_address(address: str) -> str:
    """Return an address as it is compared with others: without scheme, ``www.``, fragment and last slash."""
    return address.partition("#")[0].partition("://")[2].removeprefix("www.").rstrip("/").lower()


def _kind(thing: Thing) -> str:
    """Return the first type of a thing that is known, else its first, in lower case and without its vocabulary."""
    kinds = [
        kind.rpartition("/")[2].rpartition(":")[2].lower()
        for kind in _listed(thing.get("@type"), parted=False)[:10]
        if isinstance(kind, str)
    ]
    return next((kind for kind in kinds if kind in _RANKS), kinds[0] if kinds else "")


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def _text(value: Any, longest: int = 2_000) -> str:
    if isinstance(value, dict):
        value = value.get("@value", value.get("name"))
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return clean_value(str(value), longest)


def _listed(value: Any, *, parted: bool = True) -> list[Any]:
    """Return a value as a list; a text with commas is one too where it may be `parted`."""
    if isinstance(value, list):
        return value[:_MOST_OF_A_LIST]
    if isinstance(value, str) and parted:
        return value[:20_000].split(",")[:_MOST_OF_A_LIST]
    return [] if value is None else [value]
