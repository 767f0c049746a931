"""Rendered pages against their raw source: page by page, and what to do about a site and its parts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from urllib.parse import urlsplit

import msgspec

from domsieve.analysis.compare.comparison import Comparison, Overlap, compare_page
from domsieve.errors import BudgetError, ContentError, DomsieveError, PageError
from domsieve.renderer.protocol import DATA
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_cleaning import Cleaned, clean
from domsieve.tasks.pages import Page, from_record, unscripted

ENOUGH = 0.95
"""The share of a page's content that its raw source must show for a browser not to be needed."""

_NO_WORDS = Overlap(wanted=0, found_in=0, both=0)
_NO_LOADS: Mapping[str, PageRecord] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ComparedPage:
    """A page of the cache, and its comparison or why there is none."""

    record: PageRecord
    result: Comparison | DomsieveError


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """What to do about pages of a site whose addresses begin alike.

    Parameters
    ----------
    prefix : the first step of the path, or of the route behind ``#``; ``"*"`` for the whole site.
    pages : number of pages compared.
    browser_needed : whether the raw source shows less than `ENOUGH` of the words of the content.
    recall : share of the words of the cleaned rendered pages that can be seen in the raw source.
    content : the counts behind it, added up.
    visible : the same of all words that can be seen.
    """

    prefix: str
    pages: int
    browser_needed: bool
    recall: float
    content: Overlap
    visible: Overlap


def compare(
    records: Sequence[PageRecord],
    store: PageStore,
    *,
    siblings: Callable[[str], Sequence[PageRecord]] = lambda _: (),
    keep_errors: bool = False,
    loads: Mapping[str, PageRecord] = _NO_LOADS,
) -> Iterator[ComparedPage]:
    """Yield each page with its comparison, site after site.

    Both versions are cleaned as `clean` does by default. The raw version is the page captured without scripts;
    where a page of the site has none, its source is parsed, and style sheets hide nothing.

    Parameters
    ----------
    siblings : returns further known pages of a site, which are learned from and not compared.
    keep_errors : whether pages that count as failed are compared all the same.
    loads : another load of each page by its URL, which the page is compared with too; one that counts as failed
        fails the page.
    """

    def page_of(record: PageRecord) -> Page:
        return replace(from_record(record, store), keep_errors=keep_errors)

    by_site: dict[str, list[PageRecord]] = {}
    for record in records:
        by_site.setdefault(record.site, []).append(record)
    for site in sorted(by_site):
        members = by_site[site]
        styled = all(unscripted(record, store) for record in members if record.producer == "rendered")
        others = [other for other in siblings(site) if not styled or unscripted(other, store)]
        rendered = _cleaned(members, others, page_of)
        raw = _cleaned(members, others, lambda record: _raw(record, store, styled=styled))  # noqa: B023
        for record, (rendered_one, page), (_, source) in zip(members, rendered, raw, strict=True):
            if isinstance(page, DomsieveError):
                yield ComparedPage(record, page)
                continue
            if isinstance(source, DomsieveError):
                yield ComparedPage(record, source)
                continue
            result: Comparison | DomsieveError
            try:
                with rendered_one.at_work("compare"):
                    data = store.extra(record, DATA)
                    (rendered_page, verdict), (raw_page, raw_verdict) = page, source
                    load = loads.get(record.url)
                    result = compare_page(
                        raw_page,
                        rendered_page,
                        raw_verdict=raw_verdict,
                        verdict=verdict,
                        data=msgspec.json.decode(data) if data else (),
                        other=None if load is None else page_of(load).read(),
                    )
            except (BudgetError, PageError) as error:
                result = error
            yield ComparedPage(record, result)


def advise(pages: Sequence[tuple[str, Comparison]]) -> list[Advice]:
    """Return advice on the pages of one site, by their URLs: on the whole, then by prefix, sorted."""
    groups: dict[str, list[Comparison]] = {"*": []}
    for url, result in sorted(pages, key=lambda entry: prefix_of(entry[0])):
        groups["*"].append(result)
        groups.setdefault(prefix_of(url), []).append(result)
    return [_advice(prefix, results) for prefix, results in groups.items() if results]


def prefix_of(url: str) -> str:
    """Return the first step of a URL's path, or of its route behind ``#``: ``/news``, ``#/news``, ``/``."""
    parts = urlsplit(url)
    route = parts.fragment.removeprefix("!")
    if "/" in route:
        return "#" + _first_step(route)
    return _first_step(parts.path)


def _first_step(path: str) -> str:
    first, more, _ = path.partition("?")[0].removeprefix("/").partition("/")
    # A file right below the top has the top in common with its neighbours.
    return f"/{first}" if more or "." not in first else "/"


def _advice(prefix: str, results: Sequence[Comparison]) -> Advice:
    content = sum((result.content for result in results), _NO_WORDS)
    return Advice(
        prefix=prefix,
        pages=len(results),
        browser_needed=content.recall < ENOUGH,
        recall=content.recall,
        content=content,
        visible=sum((result.visible for result in results), _NO_WORDS),
    )


def _cleaned(
    members: Sequence[PageRecord], others: Sequence[PageRecord], page_of: Callable[[PageRecord], Page]
) -> Iterator[Cleaned]:
    return clean([page_of(r) for r in members], siblings=lambda _: [page_of(r) for r in others])


def _raw(record: PageRecord, store: PageStore, *, styled: bool) -> Page:
    if record.producer != "rendered":

        def refuse() -> Snapshot:
            raise ContentError(
                "Only a rendered page has two versions to compare.", url=record.url, stage="read"
            )

        return replace(from_record(record, store), load=refuse)
    twin = unscripted(record, store) if styled else None
    page = from_record(record, store, raw=True) if twin is None else from_record(twin, store)
    return replace(page, keep_errors=True)  # scripts may have to bring all that the page holds
