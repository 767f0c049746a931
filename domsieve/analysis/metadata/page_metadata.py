"""Read the metadata of a page: its title, then every other field."""

from domsieve.analysis.columns.batch import cached_per_page
from domsieve.analysis.metadata._authors import author_names, bylines, choose_authors, turned_name
from domsieve.analysis.metadata._elements import Places, elements_of
from domsieve.analysis.metadata._page_dates import choose_dates
from domsieve.analysis.metadata.product import read_product
from domsieve.analysis.metadata.title import claims_of, places_of, title_of
from domsieve.analysis.metadata.values import (
    LONGEST_NAME,
    LONGEST_TEXT,
    LONGEST_URL,
    MOST_KEYWORDS,
    MOST_NAMES,
    Claim,
    Metadata,
    clean_language,
    clean_text,
    distinct_texts,
)
from domsieve.budget import spending
from domsieve.snapshot.page import Snapshot

_AUTHOR_SOURCES = (
    *("json-ld author", "microdata author", "rdfa author", "citation_author", "author", "dc.creator"),
    *(
        "dcterms.creator",
        "parsely-author",
        "sailthru.author",
        "byl",
        "authors",
        "article:author",
        "og:author",
    ),
    *("json-ld WebPage author", "json-ld creator", "json-ld WebPage creator"),
)
"""The most reliable source first."""
_CATALOGUES = frozenset(("citation_author", "dc.creator"))
_IN_PAGE = frozenset(("microdata author", "rdfa author"))
_MOST_IN_PAGE = 5  # more authors in the text of a page are those of comments. A guess


@cached_per_page
def read_metadata(page: Snapshot) -> Metadata:
    """Return the metadata of a page, in time linear in its nodes.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    with spending("metadata", page.provenance.url):
        return _Reader(page).metadata()


class _Reader:
    """Reads the metadata of one page."""

    def __init__(self, page: Snapshot) -> None:
        self._page = page
        self._origin = page.provenance
        self._elements = elements_of(page)
        self._claims = claims_of(page)
        self._sources: dict[str, str] = {}

    def metadata(self) -> Metadata:
        """Return the metadata."""
        title = self.title()
        places = places_of(self._page)
        language = self._language()
        authors = self._authors(places)
        published, modified = self._dates(places, language)
        return Metadata(
            title=title,
            authors=authors,
            published=published,
            modified=modified,
            language=language,
            description=self._first("description", LONGEST_TEXT),
            site_name=self._first("site_name", LONGEST_NAME, others=("publisher", "organization")),
            canonical_url=self._address("canonical_url"),
            image=self._address("image"),
            page_type=self._first("page_type", LONGEST_NAME),
            keywords=self._keywords(),
            licence=self._licence(),
            product=read_product(self._page),
            url=clean_text(self._origin.final_url, LONGEST_URL),
            status=self._origin.status,
            captured_at=self._origin.captured_at,
            sources={
                name: self._sources[name] for name in Metadata.__struct_fields__ if name in self._sources
            },
        )

    def title(self) -> str:
        """Return the title."""
        return self._noted("title", title_of(self._page))

    def _first(self, field: str, longest: int, *, others: tuple[str, ...] = ()) -> str:
        """Return the first non-empty statement about a field, or else about one of `others`."""
        for name in (field, *others):
            for text, source in self._claims.of(name):
                if value := clean_text(text, longest):
                    return self._noted(field, (value, source))
        return ""

    def _address(self, field: str) -> str:
        for text, source in self._claims.of(field):
            if address := self._elements.url(0, text):
                return self._noted(field, (address, source))
        return ""

    def _licence(self) -> str:
        """Return the address of the licence, or else its name."""
        named = self._first("licence", LONGEST_URL)
        if named.startswith(("http://", "https://")):
            return self._elements.url(0, named)
        return clean_text(named, LONGEST_NAME)

    def _keywords(self) -> tuple[str, ...]:
        """Return the keywords of the first source that has any."""
        claims = self._claims.of("keywords")
        if not claims:
            return ()
        source = claims[0][1]
        parts = (part for text, own in claims if own == source for part in text.split(","))
        words = distinct_texts((clean_text(part, LONGEST_NAME) for part in parts), most=MOST_KEYWORDS)
        if words:
            self._sources["keywords"] = source
        return words

    def _noted(self, field: str, claim: Claim) -> str:
        text, source = claim
        if text:
            self._sources[field] = source
        return text

    def _language(self) -> str:
        for text, source in [*self._claims.of("language"), *self._claims.of("site_language")]:
            if language := clean_language(text):
                return self._noted("language", (language, source))
        return ""

    def _authors(self, places: Places) -> tuple[str, ...]:
        claims = self._claims
        for source in _AUTHOR_SOURCES:
            texts = [text for text, _ in claims.from_source("authors", source)]
            if source in _CATALOGUES:
                texts = [turned_name(text) for text in texts]
            names = distinct_texts(
                (name for text in texts for name in author_names(text, is_value=True)), most=MOST_NAMES
            )
            if source in _IN_PAGE and len(names) > _MOST_IN_PAGE:
                names = names[:1]  # the others wrote comments
            if names:
                self._sources["authors"] = source
                return names
        names, source = choose_authors(bylines(self._elements, places))
        if not names:  # a company or a team
            texts = [text for text, _ in claims.of("organization_authors")]
            names, source = distinct_texts(texts, most=MOST_NAMES), "json-ld author"
        if names:
            self._sources["authors"] = source
        return names

    def _dates(self, places: Places, language: str) -> tuple[str, str]:
        published, modified = choose_dates(
            self._claims,
            self._elements,
            places,
            address=self._origin.final_url,
            language=language,
            latest=self._origin.captured_at,
        )
        return self._noted("published", published), self._noted("modified", modified)
