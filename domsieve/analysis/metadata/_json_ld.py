"""Metadata from JSON-LD: the choice of the item that the page is about."""

from collections.abc import Iterator
from typing import Any

from domsieve.analysis.columns.batch import cached_per_page
from domsieve.analysis.metadata._elements import Elements, elements_of
from domsieve.analysis.metadata.json_values import read_json
from domsieve.analysis.metadata.values import Claims, clean_value
from domsieve.budget import check
from domsieve.snapshot.page import JSON_LD, Snapshot

Thing = dict[str, Any]

# Limits that bound the time for hostile pages.
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


def claim_json_ld(elements: Elements, claims: Claims, address: str) -> None:
    """Add the statements of the JSON-LD of a page to `claims`.

    Parameters
    ----------
    elements : elements of the page.
    claims : the claims to add to.
    address : `plain_address` of the page, to tell its own description from those of other pages.
    """
    graph = graph_of(elements.page)
    for thing in graph.main_things(address):
        _claim_thing(graph, thing, claims)
    for thing in graph.things:
        kind = _kind(thing)
        if kind == "website":
            claims.add("site_name", _text(thing.get("name")), "json-ld WebSite name")
            claims.add("site_language", _text(thing.get("inLanguage")), "json-ld inLanguage")
        elif kind in _PUBLISHERS:
            claims.add("organization", _text(thing.get("name")), "json-ld Organization name")


@cached_per_page
def graph_of(page: Snapshot) -> "Graph":
    """Return the JSON-LD of a page."""
    elements = elements_of(page)
    return Graph([value for _, text in elements.with_attribute(JSON_LD) for value in read_json(text)])


def _claim_thing(graph: "Graph", thing: Thing, claims: Claims) -> None:
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


class Graph:
    """The things in all JSON-LD scripts of a page, with references resolved by ``@id``."""

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
        """Return at most one thing of each rank that the page is about: an article, another work, the page."""
        ranked = [(_RANKS[kind], thing) for thing in self.things if (kind := _kind(thing)) in _RANKS]
        things = []
        for rank in (1, 2, 3):
            same = [thing for own, thing in ranked if own == rank]
            if len(same) > 1:
                own = [thing for thing in same if address and address in self.own_addresses(thing)]
                # Four or more things, none with the address of the page, are a list of other pages.
                same = own or (same[:1] if len(same) < 4 or rank == 3 else [])
            things += same[:1]
        return things

    def products(self, kinds: frozenset[str]) -> list[Thing]:
        """Return the things of some types, in order, with the names in lower case; not those inside other things."""
        return [thing for thing in self.things if _kind(thing) in kinds]

    def own_addresses(self, thing: Thing) -> list[str]:
        """Return the addresses that a thing calls its own, plain."""
        values = [thing.get(key) for key in ("@id", "url", "mainEntityOfPage")]
        return [plain_address(text) for value in values for text in self.addresses(value)]

    def resolved(self, value: Any) -> Any:
        """Return the thing that a reference refers to, or the value itself if it is not a reference."""
        if isinstance(value, dict) and len(value) <= 2 and "name" not in value:
            name = value.get("@id")
            if isinstance(name, str):
                return self._by_id.get(name, value)
        return value

    def names(self, value: Any) -> tuple[list[str], list[str]]:
        """Return the names of people in a value, and the names of organizations."""
        people: list[str] = []
        organizations: list[str] = []
        for item in _listed(value, split=False):
            item = self.resolved(item)
            if isinstance(item, str):
                people.append(clean_value(item, 400))
            elif isinstance(item, dict):
                name = _text(_first(item.get("name")), 400)
                if not name and isinstance(item.get("name"), dict):
                    name = _text(item["name"].get("name"), 400)
                if not name:
                    parts = (
                        _text(item.get(key), 200) for key in ("givenName", "additionalName", "familyName")
                    )
                    name = " ".join(part for part in parts if part)
                listed = [_text(inner, 400) for inner in _listed(item.get("name"))] if not name else [name]
                kind = _kind(item)
                (organizations if kind in _PUBLISHERS or kind == "website" else people).extend(listed)
        return [name for name in people if name], [name for name in organizations if name]

    def addresses(self, value: Any) -> list[str]:
        """Return the addresses in a value: texts, and addresses of things."""
        addresses = []
        for item in _listed(value, split=False):
            item = self.resolved(item)
            if isinstance(item, str):
                addresses.append(item.strip())
            elif isinstance(item, dict):
                values = (item.get(key) for key in ("url", "contentUrl", "@id"))
                addresses += [text.strip() for text in map(_first, values) if isinstance(text, str)][:1]
        return [address for address in addresses if 0 < len(address) <= 2_000]


def rank_of(kind: str) -> int:
    """Return the rank of a schema.org type in lower case: 1 for articles, 2 other works, 3 pages, 9 all others."""
    return _RANKS.get(kind, 9)


def plain_address(address: str) -> str:
    """Return an address for comparisons: lower case, without scheme, ``www.``, fragment and trailing slash."""
    return address.partition("#")[0].partition("://")[2].removeprefix("www.").rstrip("/").lower()


def _kind(thing: Thing) -> str:
    """Return the first known type of a thing, or else its first type, in lower case and without its vocabulary."""
    kinds = [
        kind.rpartition("/")[2].rpartition(":")[2].lower()
        for kind in _listed(thing.get("@type"), split=False)[:10]
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


def _listed(value: Any, *, split: bool = True) -> list[Any]:
    """Return a value as a list; a text is divided at commas if `split`."""
    if isinstance(value, list):
        return value[:_MOST_OF_A_LIST]
    if isinstance(value, str) and split:
        return value[:20_000].split(",")[:_MOST_OF_A_LIST]
    return [] if value is None else [value]
