"""Metadata in the markup of a page: ``meta`` and ``link`` elements, microdata and RDFa Lite."""

import re
from collections import Counter

from domsieve.analysis.metadata._elements import Elements
from domsieve.analysis.metadata._json_ld import rank_of
from domsieve.analysis.metadata.values import LONGEST_TEXT, Claims, clean_value
from domsieve.budget import check

# Names by field, the most reliable first.
NAMES: dict[str, tuple[str, ...]] = {
    "title": (
        *("og:title", "citation_title", "dc.title", "dcterms.title", "parsely-title", "sailthru.title"),
        *("twitter:title", "headline", "title"),
    ),
    "authors": (
        *("citation_author", "author", "article:author", "dc.creator", "dcterms.creator", "parsely-author"),
        *(
            "sailthru.author",
            "byl",
            "article:author_name",
            "shareaholic:article_author_name",
            "authors",
            "og:author",
        ),
    ),
    "published": (
        *("article:published_time", "citation_publication_date", "citation_online_date", "citation_date"),
        *("og:published_time", "datepublished", "date_published", "article.published", "parsely-pub-date"),
        *("sailthru.date", "publish-date", "publish_date", "published_time", "pubdate", "publication_date"),
        *(
            "publicationdate",
            "published",
            "dc.date.issued",
            "dcterms.issued",
            "dcterms.created",
            "dc.date.created",
        ),
        *(
            "dc.created",
            "dc.date",
            "dcterms.date",
            "article:published",
            "video:release_date",
            "book:release_date",
        ),
        *("release_date", "originalpublicationdate", "article_date_original", "cxenseparse:recs:publishtime"),
        *(
            "shareaholic:article_published_time",
            "ptime",
            "displaydate",
            "created",
            "og:article:published_time",
        ),
        *("date", "rnews:datepublished"),
    ),
    "modified": (
        *("article:modified_time", "og:updated_time", "dcterms.modified", "dc.date.modified", "datemodified"),
        *("last-modified", "lastmod", "modified_time", "article:modified", "revised", "last_modified"),
        *("shareaholic:article_modified_time",),
    ),
    "language": (
        "content-language",
        "dc.language",
        "dcterms.language",
        "citation_language",
        "language",
        "og:locale",
    ),
    "description": (
        *("og:description", "description", "dc.description", "dcterms.description", "dcterms.abstract"),
        *("sailthru.description", "twitter:description"),
    ),
    "site_name": (
        "og:site_name",
        "application-name",
        "citation_journal_title",
        "dc.publisher",
        "dcterms.publisher",
    ),
    "canonical_url": ("og:url", "citation_public_url", "twitter:url"),
    "image": (
        "og:image:secure_url",
        "og:image",
        "og:image:url",
        "twitter:image",
        "twitter:image:src",
        "thumbnail",
    ),
    "page_type": ("og:type", "dc.type", "dcterms.type"),
    "keywords": (
        "keywords",
        "news_keywords",
        "citation_keywords",
        "article:tag",
        "parsely-tags",
        "dc.subject",
        "dcterms.subject",
    ),
    "licence": ("dcterms.license", "dc.rights.license", "dcterms.rights", "dc.rights"),
}
_FIELDS = {name: field for field, names in NAMES.items() for name in names}
_ADDRESSES = frozenset(("canonical_url", "image"))
_LINKS = {"canonical": "canonical_url", "license": "licence", "image_src": "image"}


def claim_meta_tags(elements: Elements, claims: Claims) -> None:
    """Add the content of ``meta`` elements to `claims`; the source is the name of the element in lower case."""
    for node in elements.tagged("meta"):
        attributes = elements.attributes(node)
        content = attributes.get("content", "")
        if not content:
            continue
        for key in ("property", "name", "http-equiv", "itemprop"):
            name = (
                attributes.get(key, "")[:100]
                .strip()
                .lower()
                .replace("dc:", "dc.")
                .replace("dcterms:", "dcterms.")
            )
            field = _FIELDS.get(name) or _field_of_unknown(name)
            if field is None or (key == "itemprop" and field != "published"):
                continue
            text = elements.url(node, content) if field in _ADDRESSES else clean_value(content)
            claims.add(field, text, name)
            break


def claim_links(elements: Elements, claims: Claims) -> None:
    """Add the statements of ``link`` elements, licence links and ``lang`` attributes to `claims`."""
    for node, value in elements.with_attribute("rel"):
        attributes = elements.attributes(node)
        for relation in value[:200].lower().split():
            field = _LINKS.get(relation)
            if field is None or (relation != "license" and elements.tag(node) != "link"):
                continue
            claims.add(
                field, elements.url(node, attributes.get("href", "")), f"{elements.tag(node)} rel={relation}"
            )
    for node in elements.tagged("html"):
        language = elements.attributes(node)
        claims.add("language", language.get("lang", "") or language.get("xml:lang", ""), "html lang")


_PUBLISHED = re.compile(
    r"pub[-_.]?(?:date|time)|creat(?:ed|ion|e)[-_.]?(?:date|time)|date[-_.:]?(?:creat|posted)|[-_.:]uploaded$"
)
_MODIFIED = re.compile(r"last[-_.]?updat|updated?[-_.]?(?:date|time)|revision[-_.]?date")


def _field_of_unknown(name: str) -> str | None:
    """Return the field for a non-standard name such as ``w-published-date`` or ``article-modified_time``."""
    if ("publish" in name and ("date" in name or "time" in name)) or _PUBLISHED.search(name):
        return "published"
    if "modified" in name and ("date" in name or "time" in name or "last" in name):
        return "modified"
    return "modified" if _MODIFIED.search(name) else None


_PROPERTY_FIELDS = {
    "headline": "title",
    "name": "title",
    "author": "authors",
    "creator": "authors",
    "datepublished": "published",
    "uploaddate": "published",
    "datecreated": "published",
    "datemodified": "modified",
    "description": "description",
    "inlanguage": "language",
    "keywords": "keywords",
    "license": "licence",
    "image": "image",
}
_ADDRESS_FIELDS = frozenset(("image", "licence"))
_LINKING = {"a": "href", "link": "href", "area": "href", "img": "src", "source": "src", "iframe": "src"}
_MOST_ALIKE = 4  # so many things of one type are a list of other pages
_POSTS = "discussionforumposting"


def claim_microdata(elements: Elements, claims: Claims) -> None:
    """Add the statements of microdata and RDFa Lite about the main thing of the page to `claims`."""
    properties = [(node, value, "microdata") for node, value in elements.with_attribute("itemprop")]
    properties += [
        (node, value, "rdfa")
        for node, value in elements.with_attribute("property")
        if elements.tag(node) != "meta"
    ]
    if not properties:
        return
    scopes = {node: "" for node, _ in elements.with_attribute("itemscope")}
    kinds = {
        node: _kind(value) for name in ("itemtype", "typeof") for node, value in elements.with_attribute(name)
    }
    scopes |= kinds
    items = _Items(elements, scopes)
    main = _main_scopes(scopes)
    names: dict[int, list[int]] = {}
    for node, value, _ in properties:
        if _names(value):
            names.setdefault(items.around(node), []).append(node)
    for node, value, syntax in sorted(properties):
        check()
        scope = items.around(node)
        if scope and scope not in main:
            continue
        for name in value[:200].lower().split():
            name = name.rpartition("/")[2].rpartition(":")[2]
            field = _PROPERTY_FIELDS.get(name)
            if field is None or (name == "name" and not scope):
                continue
            inner = names.get(node, []) if node in scopes else []
            if inner and field == "authors":
                for own in inner[:20]:
                    claims.add(field, _value(elements, own, field), f"{syntax} {name}")
            elif node not in scopes or field == "authors":
                claims.add(field, _value(elements, node, field), f"{syntax} {name}")


def _main_scopes(scopes: dict[int, str]) -> set[int]:
    """Return the things that the page can be about: works of types with few things, and the first post."""
    counts = Counter(scopes.values())
    main = set()
    posts = [node for node, kind in scopes.items() if kind == _POSTS]
    for node, kind in scopes.items():
        rank = rank_of(kind)
        if (rank < 3 and (counts[kind] < _MOST_ALIKE and kind != _POSTS)) or rank == 3:
            main.add(node)
    return main | set(posts[:1])


class _Items:
    """Finds the thing that a property belongs to."""

    def __init__(self, elements: Elements, scopes: dict[int, str]) -> None:
        self._parent = elements.parent
        self._scopes = scopes
        self._known: dict[int, int] = {}

    def around(self, node: int) -> int:
        """Return the nearest ancestor of a node that begins a thing, 0 if there is none."""
        passed = []
        node = int(self._parent[node])
        while node > 0 and node not in self._scopes and node not in self._known:
            check()
            passed.append(node)
            node = int(self._parent[node])
        scope = self._known.get(node, max(node, 0))
        self._known.update(dict.fromkeys(passed, scope))
        return scope


def _names(value: str) -> bool:
    return "name" in (word.rpartition(":")[2] for word in value[:200].lower().split())


def _kind(value: str) -> str:
    words = value[:500].split()
    return words[0].rpartition("/")[2].rpartition(":")[2].lower() if words else ""


def _value(elements: Elements, node: int, field: str) -> str:
    attributes, tag = elements.attributes(node), elements.tag(node)
    if field in _ADDRESS_FIELDS:
        address = attributes.get("content") or attributes.get(_LINKING.get(tag, "content"), "")
        return elements.url(node, address) if address else elements.text(node, LONGEST_TEXT)
    if content := attributes.get("content", "").strip():
        return clean_value(content)
    if tag == "time" and attributes.get("datetime", "").strip():
        return clean_value(attributes["datetime"])
    return elements.text(node, LONGEST_TEXT)
