"""Compare rendered pages with their raw source, and advise for which parts of a site a browser is needed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from urllib.parse import urlsplit

import msgspec

from domsieve.analysis.browser_need.hiding_rules import UNKNOWN_SHEETS
from domsieve.analysis.browser_need.sufficiency import compare_source
from domsieve.analysis.columns.visible import in_closed_panels
from domsieve.analysis.compare.comparison import BrowserNeed, Comparison, Overlap, compare_page
from domsieve.analysis.verdict import Verdict
from domsieve.errors import BudgetError, ContentError, DomsieveError, PageError
from domsieve.renderer.protocol import DATA, Rendering
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.fetched_source import looked_at
from domsieve.tasks.page_cleaning import Cleaned, clean
from domsieve.tasks.pages import Page, from_record, unscripted
from domsieve.tasks.style_context import StyleContext

ENOUGH = 0.95
"""If the raw source shows at least this share of the words of the content, no browser is needed."""

_NO_WORDS = Overlap(wanted=0, found_in=0, both=0)
_NO_LOADS: Mapping[str, PageRecord] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ComparedPage:
    """A page of the cache with its comparison, or with the error."""

    record: PageRecord
    result: Comparison | DomsieveError


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """Advice for the pages of a site whose addresses have the same prefix.

    Parameters
    ----------
    prefix : the first segment of the path, or of the route after ``#``; ``"*"`` for the whole site.
    pages : number of pages compared.
    browser_needed : whether the raw source shows less than `ENOUGH` of the words of the content.
    recall : share of the words of the cleaned rendered pages that are visible in the raw source.
    content : the total counts of words of the content.
    visible : the total counts of all visible words.
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

    Both versions are cleaned like `clean` does by default. The raw version is the page captured without scripts. If
    one page of the site has no such capture, the sources are parsed instead, and style sheets hide nothing.

    Parameters
    ----------
    siblings : returns other known pages of a site; they are learned from, but not compared.
    keep_errors : whether to compare pages that count as failed.
    loads : a second load of each page, by its URL, to compare with as well. If it counts as failed, so does the page.
    """

    def page_of(record: PageRecord) -> Page:
        return replace(from_record(record, store), keep_errors=keep_errors)

    by_site: dict[str, list[PageRecord]] = {}
    for record in records:
        if record.producer == "rendered":
            by_site.setdefault(record.site, []).append(record)
        else:
            # Apart from the others, because fetched pages are cleaned as pages of another site.
            message = "Only a rendered page has two versions to compare."
            yield ComparedPage(record, ContentError(message, url=record.url, stage="read"))
    for site in sorted(by_site):
        members = by_site[site]
        styled = all(unscripted(record, store) for record in members)
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
                    need = _need(record, store, source, page)
                    result = msgspec.structs.replace(result, need=need)
            except (BudgetError, PageError) as error:
                result = error
            yield ComparedPage(record, result)


def advise(pages: Sequence[tuple[str, Comparison]]) -> list[Advice]:
    """Return advice for the pages of one site, given with their URLs: for the whole site, then by prefix, sorted."""
    groups: dict[str, list[Comparison]] = {"*": []}
    for url, result in sorted(pages, key=lambda entry: prefix_of(entry[0])):
        groups["*"].append(result)
        groups.setdefault(prefix_of(url), []).append(result)
    return [_advice(prefix, results) for prefix, results in groups.items() if results]


def prefix_of(url: str) -> str:
    """Return the first segment of the path of a URL, or of its route after ``#``: ``/news``, ``#/news``, ``/``."""
    parts = urlsplit(url)
    route = parts.fragment.removeprefix("!")
    if "/" in route:
        return "#" + _first_step(route)
    return _first_step(parts.path)


def _first_step(path: str) -> str:
    first, more, _ = path.partition("?")[0].removeprefix("/").partition("/")
    # The prefix of a file at the top is the top, which it shares with the other files there.
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
    twin = unscripted(record, store) if styled else None
    page = from_record(record, store, raw=True) if twin is None else from_record(twin, store)
    return replace(page, keep_errors=True)  # scripts may have to bring all that the page holds


def _need(
    record: PageRecord,
    store: PageStore,
    source: tuple[Snapshot, Verdict],
    page: tuple[Snapshot, Verdict],
) -> BrowserNeed | None:
    """Return how ``render="auto"`` judges one load of a page; its style sheets are not read again for this."""
    if not record.source_digest:
        return None
    (raw, raw_verdict), (rendered, verdict) = source, page
    parsed = from_record(record, store, raw=True).read() if raw.has_layout else raw
    context = StyleContext("", UNKNOWN_SHEETS)
    fetched = looked_at(Rendering(snapshot=parsed, source=store.source(record)), context)
    if fetched.depends:
        fetched.look_closer()
    # What is folded away was seen to be, so it is left out of what is fetched.
    raw_verdict = replace(raw_verdict, kept=raw_verdict.kept & ~in_closed_panels(raw))
    found = compare_source(raw, rendered, raw_verdict=raw_verdict, verdict=verdict)
    return BrowserNeed(outcome=found.outcome, why=found.why, signs=fetched.signs)
