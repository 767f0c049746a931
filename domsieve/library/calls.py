"""The calls of the library: clean pages, find records, compare and render, each with an async twin."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Unpack, overload

from domsieve.analysis.registry import DEFAULT_METHOD, MINERS, MethodParams
from domsieve.library._checks import checked_choices, selection_of
from domsieve.library._fetch_options import FetchOptions
from domsieve.library._running import ComparingCall, PagesCall, in_thread, run_coroutine
from domsieve.library._work import Cleaning, cleaned, method_of, mined, snapshot_of
from domsieve.library.inputs import PageInput, is_list, sources_of, url_of
from domsieve.library.parameters import (
    CleanKeywords,
    CompareKeywords,
    FetchKeywords,
    RecordsKeywords,
    given,
    takes,
)
from domsieve.library.results import CleanResult, CompareResult, RecordsResult
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.pages import no_pixels
from domsieve.tasks.render_modes import cleaning_needs
from domsieve.types import FIELD_NAMES


@overload
def clean(  # type: ignore[overload-overlap]  # a str is one page, although it is also an iterable of str
    page: PageInput, *, url: str | None = None, **how: Unpack[CleanKeywords]
) -> CleanResult: ...
@overload
def clean(
    page: Iterable[PageInput], *, url: Sequence[str | None] | None = None, **how: Unpack[CleanKeywords]
) -> list[CleanResult]: ...
@takes(CleanKeywords)
def clean(
    page: PageInput | Iterable[PageInput],
    *,
    url: str | Sequence[str | None] | None = None,
    **how: Unpack[CleanKeywords],
) -> CleanResult | list[CleanResult]:
    """Return the content of a page without menus, adverts and footers; for several pages, a list in their order.

    Several pages are grouped into sites by host or folder, and the pages of a site are learned from together. If one
    of several pages fails, its result has `error` set.

    Parameters
    ----------
    page : a str that begins with ``http://`` or ``https://`` is a URL; any other str, and bytes, are HTML; a Path is
        a file. It may also be a Snapshot, a page that `pages` yields, or an iterable of these.
    url : the address that HTML or a file came from, for links and for the site. For several pages, a list of equal
        length with None for pages without an address.
    cache : folder for captures of URLs. Cached pages are not rendered again, and other cached pages of the same site
        are learned from. None stores nothing on disk.
    capture : `CaptureOptions`: how the browser captures URLs. None means a window of 1280 x 800 px.
    network : `NetworkOptions`: how URLs are fetched, and the budget of a page.
    select : CSS selectors of the parts to use, besides the head of the page, which contains metadata. A page without
        a match counts as failed.
    drop : CSS selectors of parts to remove before any method sees the page, also inside selected parts.
    method : the name of a cleaning method, or a method with parameters, such as ``SiteStyleTree(threshold=0.2)``.
        None means the method of the model or, without a model, ``"auto"``, which also learns from the site if at
        least 5 of its pages are known.
    model : a site model, or its file. `method` can then change its `favor` and its `threshold`.
    models : folder of site models, such as `bulk learn` writes; each page is cleaned by the model of its site, pages
        of other sites as without models.
    hidden : what happens to hidden text. ``"layout"``: it is dropped, judged by computed styles and boxes.
        ``"pixels"``: judged also by pictures of the page, which are taken while it is rendered; only URLs and
        Snapshots that were rendered so can be cleaned. ``"keep"``: it is kept if the text around it is.
    keep_kinds, drop_kinds : types of blocks to keep, or to drop, whatever the method decides: ``"comments"``,
        ``"related"``, ``"tables"``, ``"captions"``, ``"bylines"``, ``"share"``, ``"breadcrumbs"``, ``"navigation"``,
        ``"consent"``.
    alone : each page is judged by itself, so that the result does not depend on which other pages are known.

    Raises
    ------
    UsageError : a parameter is wrong; its `parameter` names it.
    StorageError : the cache or the model cannot be used.
    BrowserNotFoundError : there are URLs to render, but no Chrome.
    DomsieveError : the only page failed.
    """
    return _clean("clean", page, url, how).run()


@overload
async def clean_async(  # type: ignore[overload-overlap]
    page: PageInput, *, url: str | None = None, **how: Unpack[CleanKeywords]
) -> CleanResult: ...
@overload
async def clean_async(
    page: Iterable[PageInput], *, url: Sequence[str | None] | None = None, **how: Unpack[CleanKeywords]
) -> list[CleanResult]: ...
@takes(CleanKeywords)
async def clean_async(
    page: PageInput | Iterable[PageInput],
    *,
    url: str | Sequence[str | None] | None = None,
    **how: Unpack[CleanKeywords],
) -> CleanResult | list[CleanResult]:
    """Do the same as `clean`, with the same parameters, without blocking the event loop."""
    return await _clean("clean_async", page, url, how).run_async()


@overload
def records(  # type: ignore[overload-overlap]
    page: PageInput, *, url: str | None = None, **how: Unpack[RecordsKeywords]
) -> RecordsResult: ...
@overload
def records(
    page: Iterable[PageInput], *, url: Sequence[str | None] | None = None, **how: Unpack[RecordsKeywords]
) -> list[RecordsResult]: ...
@takes(RecordsKeywords)
def records(
    page: PageInput | Iterable[PageInput],
    *,
    url: str | Sequence[str | None] | None = None,
    **how: Unpack[RecordsKeywords],
) -> RecordsResult | list[RecordsResult]:
    """Return the records of a page, such as products, search results or entries; for several pages, a list.

    If one of several pages fails, its result has `error` set.

    Parameters
    ----------
    page, url, cache, capture, network, select, drop : see `clean`.
    method : the name of a method that finds records, or such a method with parameters, such as
        ``WebObjectBlocks(max_length=20)``.
    fields : the fields of each record, in this order: ``"title"``, ``"description"``, ``"price"``, ``"number"``,
        ``"date"``, ``"link"``, ``"image"``. Empty for all fields, with the names that the page gives them, if any.

    Raises
    ------
    UsageError, StorageError, BrowserNotFoundError, DomsieveError : see `clean`.
    """
    return _records("records", page, url, how).run()


@overload
async def records_async(  # type: ignore[overload-overlap]
    page: PageInput, *, url: str | None = None, **how: Unpack[RecordsKeywords]
) -> RecordsResult: ...
@overload
async def records_async(
    page: Iterable[PageInput], *, url: Sequence[str | None] | None = None, **how: Unpack[RecordsKeywords]
) -> list[RecordsResult]: ...
@takes(RecordsKeywords)
async def records_async(
    page: PageInput | Iterable[PageInput],
    *,
    url: str | Sequence[str | None] | None = None,
    **how: Unpack[RecordsKeywords],
) -> RecordsResult | list[RecordsResult]:
    """Do the same as `records`, with the same parameters, without blocking the event loop."""
    return await _records("records_async", page, url, how).run_async()


@overload
def compare(  # type: ignore[overload-overlap]
    url: str, **how: Unpack[CompareKeywords]
) -> CompareResult: ...
@overload
def compare(url: Iterable[str], **how: Unpack[CompareKeywords]) -> list[CompareResult]: ...
@takes(CompareKeywords)
def compare(url: str | Iterable[str], **how: Unpack[CompareKeywords]) -> CompareResult | list[CompareResult]:
    """Compare a rendered page with its raw source; for several URLs, return a list.

    The result says whether the page needs a browser. If one of several URLs fails, its result has `error` set.

    Parameters
    ----------
    url : a URL, or an iterable of URLs.
    cache, capture, network : see `clean`. Without a cache, captures are in a temporary folder during the call.
    twice : whether to load each page twice, even if it is cached. ``comparison.loads`` then shows what differs
        between two loads, such as adverts, times and tokens.

    Raises
    ------
    UsageError, StorageError, BrowserNotFoundError, DomsieveError : see `clean`.
    """
    return _compare("compare", url, how).run()


@overload
async def compare_async(  # type: ignore[overload-overlap]
    url: str, **how: Unpack[CompareKeywords]
) -> CompareResult: ...
@overload
async def compare_async(url: Iterable[str], **how: Unpack[CompareKeywords]) -> list[CompareResult]: ...
@takes(CompareKeywords)
async def compare_async(
    url: str | Iterable[str], **how: Unpack[CompareKeywords]
) -> CompareResult | list[CompareResult]:
    """Do the same as `compare`, with the same parameters, without blocking the event loop."""
    return await _compare("compare_async", url, how).run_async()


@takes(FetchKeywords)
def render(url: str, **how: Unpack[FetchKeywords]) -> Snapshot:
    """Render a page and return its Snapshot.

    Parameters
    ----------
    url : the URL, with ``http://`` or ``https://``. For several URLs, call `clean`: its results have a `snapshot`.
    cache, capture, network : see `clean`.

    Raises
    ------
    UsageError, StorageError, BrowserNotFoundError : see `clean`.
    PolicyError : the address may not be reached.
    PageError : no document arrived, or the page counts as failed.
    """
    url = url_of(url)
    fetching = FetchOptions.of(**given("render", FetchKeywords, how)).rendering()
    return snapshot_of(run_coroutine(fetching.captured([url]))[url], fetching)


@takes(FetchKeywords)
async def render_async(url: str, **how: Unpack[FetchKeywords]) -> Snapshot:
    """Do the same as `render`, with the same parameters, without blocking the event loop."""
    url = url_of(url)
    fetching = FetchOptions.of(**given("render_async", FetchKeywords, how)).rendering()
    outcomes = await fetching.captured([url])
    return await in_thread(partial(snapshot_of, outcomes[url], fetching))


def _clean(call: str, page: object, url: object, how: CleanKeywords) -> PagesCall[CleanResult]:
    values = given(call, CleanKeywords, how)
    fetching, values = _fetching(values)
    values["selection"] = selection_of(values.pop("select"), values.pop("drop"))
    cleaning = Cleaning.checked(**values)
    sources = sources_of(page, url)
    if cleaning.hidden == "pixels":
        fetching = fetching.with_pixels()
        for source in sources:
            if source.load and not source.has_pixels:
                raise no_pixels(source.label)
    name = cleaning.model.name if cleaning.model else cleaning.method
    needs = cleaning_needs(
        fetching.options,
        uses_default_method=name in (None, DEFAULT_METHOD),
        hidden=cleaning.hidden,
        style=cleaning.params.given.get("style"),
    )
    fetching = fetching.adapted(**needs)
    return PagesCall(sources, is_list(page), fetching, partial(cleaned, cleaning=cleaning))


def _records(call: str, page: object, url: object, how: RecordsKeywords) -> PagesCall[RecordsResult]:
    fetching, values = _fetching(given(call, RecordsKeywords, how))
    method, params = method_of(values["method"], MINERS)
    fields = checked_choices("fields", values["fields"], FIELD_NAMES)
    selection = selection_of(values["select"], values["drop"])
    fetching = fetching.adapted()
    work = partial(mined, method=method, params=params or MethodParams(), fields=fields, selection=selection)
    return PagesCall(sources_of(page, url), is_list(page), fetching, work)


def _compare(call: str, url: object, how: CompareKeywords) -> ComparingCall:
    fetching, values = _fetching(given(call, CompareKeywords, how))
    return ComparingCall.of(url, fetching.rendering(), twice=values["twice"])


def _fetching(values: dict[str, Any]) -> tuple[FetchOptions, dict[str, Any]]:
    """Return the options of fetching, and the other parameters."""
    names = FetchKeywords.__annotations__.keys()
    others = {name: value for name, value in values.items() if name not in names}
    return FetchOptions.of(**{name: values[name] for name in names}), others
