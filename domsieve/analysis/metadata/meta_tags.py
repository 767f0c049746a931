"""Read ``meta`` and ``link`` elements: Open Graph, Dublin Core, citation tags, plain names."""

from domsieve.analysis.metadata.elements import Elements
from domsieve.analysis.metadata.values import Claims, clean_value

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


def _field_of_unknown(name: str) -> str | None:
    """Return the field for a non-standard name such as ``w-published-date`` or ``article-modified_time``."""
    if "publish" in name and ("date" in name or "time" in name):
        return "published"
    if "modified" in name and ("date" in name or "time" in name or "last" in name):
        return "modified"
    return None
