"""The calls of the library: what is done with pages, for callers who await and for those who do not.

Both of a pair take the same and return the same. Imports its neighbours.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Unpack, overload

from domsieve.analysis.registry import MINERS, Options
from domsieve.analysis.selection.selection import Selection
from domsieve.analysis.site_model import SiteModel
from domsieve.budget import AnalysisBudget
from domsieve.library.checks import check_choice, checked_choices, selection_of
from domsieve.library.fetching import Fetching
from domsieve.library.inputs import PageInput, is_list, sources_of, url_of
from domsieve.library.keywords import AnyPath, CleanKeywords, CompareKeywords, RecordsKeywords
from domsieve.library.loops import in_thread, run
from domsieve.library.results import CleanResult, CompareResult, RecordsResult
from domsieve.library.running import ComparingCall, PagesCall
from domsieve.library.work import Cleaning, cleaned, mined, snapshot_of
from domsieve.renderer.browser.connection import DriverName
from domsieve.renderer.options import Budget, CaptureOptions
from domsieve.snapshot.page import Snapshot
from domsieve.vocabulary import (
    FIELD_NAMES,
    BlockKind,
    Favor,
    FieldName,
    Method,
    MiningMethod,
    Mode,
    StyleLevel,
)

_TIMEOUT = Budget().time


@overload
def clean(  # type: ignore[overload-overlap]  # a str is one page, though it is a list of str, too
    page: PageInput, *, url: str | None = None, **how: Unpack[CleanKeywords]
) -> CleanResult: ...
@overload
def clean(
    page: Iterable[PageInput], *, url: Sequence[str | None] | None = None, **how: Unpack[CleanKeywords]
) -> list[CleanResult]: ...
def clean(
    page: PageInput | Iterable[PageInput],
    *,
    url: str | Sequence[str | None] | None = None,
    method: Method | None = None,
    favor: Favor | None = None,
    mode: Mode = "site",
    threshold: float | None = None,
    style: StyleLevel | None = None,
    regions: int | None = None,
    complement: bool | None = None,
    has_text: str | None = None,
    model: SiteModel[Any] | AnyPath | None = None,
    keep_hidden: bool = False,
    keep_kinds: Iterable[BlockKind] = (),
    drop_kinds: Iterable[BlockKind] = (),
    select: Iterable[str] = (),
    drop: Iterable[str] = (),
    cache: AnyPath | None = None,
    options: CaptureOptions | None = None,
    timeout: timedelta = _TIMEOUT,
    concurrency: int | None = None,
    private_hosts: Iterable[str] = (),
    allow_private: bool = False,
    driver: DriverName = "playwright",
    keep_errors: bool = False,
    analysis_budget: AnalysisBudget | None = None,
) -> CleanResult | list[CleanResult]:
    """Return what remains of a page without menus, adverts and footers; for several pages a list in their order.

    Several pages are grouped into sites, by host or folder, and those of one site are learned from together. Of
    several pages one that fails is a result with `error` set.

    Parameters
    ----------
    page : a str that begins with ``http://`` or ``https://`` is a URL, any other str and bytes are HTML, a Path is a
        file; or a Snapshot, or a page that `pages` yields. Or an iterable of these.
    url : the address that HTML or a file came from, for links and for the site; for several pages a list of equal
        length, None for those that have no address.
    method : None takes the model's; without a model ``"auto"``, which weighs all evidence, that of the site too
        where at least 5 of its pages are known.
    favor : auto: ``"precision"`` keeps less and surer text, ``"recall"`` more; None is ``"balance"``.
    mode : ``"site"`` suits sites of today, ``"paper"`` is as published.
    threshold : sst: importance from 0 to 1 up to which a node is noise; entropy: bits below which a block is. None is
        the method's own.
    style : auto, sst, cst, tps: what tells elements apart. None takes the layout of rendered pages, the HTML of
        others.
    regions : tps: parts of the page that make up the main region; None is 1.
    complement : tps: keep everything except the main region.
    has_text : tps: if the main region lacks this text, keep the rest instead.
    model : a site model learned before, or its file.
    keep_hidden : whether text that nobody can see may stay.
    keep_kinds, drop_kinds : kinds of blocks that are kept, or dropped, whatever the method says: ``"comments"``,
        ``"related"``, ``"tables"``, ``"captions"``, ``"bylines"``, ``"share"``, ``"breadcrumbs"``, ``"navigation"``,
        ``"consent"``.
    select : CSS selectors of the parts that are worked on, beside the head of the page, which metadata come from. A
        page on which none matches counts as failed.
    drop : CSS selectors of parts that are dropped before any method sees the page, selected ones too.
    cache : folder in which captures of URLs are kept and looked for; pages of a site that it holds are learned from,
        too. None keeps nothing on disk.
    options : how URLs are captured; None is as a browser of 1280 x 800 px shows them.
    timeout : time that one URL may take; what is late is cut, and the result says so.
    concurrency : URLs open at the same time; None is one per processor.
    private_hosts : hosts that URLs and what they lead to may be on although they are private, such as this machine:
        ``HOST`` or ``HOST:PORT``. Without, every URL must be public, for a stranger may have chosen it.
    allow_private : whether pages may reach all of this machine and of private networks.
    driver : what carries messages to the browser: ``"playwright"``, or ``"pipe"``, which needs less processor time
        and works on Linux and macOS. Captures are the same.
    keep_errors : whether pages that count as failed are worked on all the same: errors of their server (HTTP 400 and
        above), what is no HTML or no text, empty documents, and what was cut before any text stood there.
    analysis_budget : what the analysis of one page may cost: processor time and memory. None is what no honest page
        meets. One that costs more fails with a `BudgetError`.

    Raises
    ------
    UsageError : a parameter is wrong; its `parameter` names it.
    StorageError : the cache or the model cannot be used.
    BrowserNotFoundError : there are URLs, and no Chrome.
    DomsieveError : the only page failed.
    """
    return _clean(
        page,
        url,
        Cleaning.checked(
            method=method,
            options=Options(
                mode=mode,
                favor=favor,
                threshold=threshold,
                style=style,
                regions=regions,
                complement=complement,
                has_text=has_text,
            ),
            model=model,
            keep_hidden=keep_hidden,
            keep_kinds=keep_kinds,
            drop_kinds=drop_kinds,
            selection=selection_of(select, drop),
        ),
        Fetching.checked(
            cache=cache,
            options=options,
            timeout=timeout,
            concurrency=concurrency,
            private_hosts=private_hosts,
            allow_private=allow_private,
            driver=driver,
            keep_errors=keep_errors,
            analysis_budget=analysis_budget,
        ),
    ).now()


@overload
async def clean_async(  # type: ignore[overload-overlap]
    page: PageInput, *, url: str | None = None, **how: Unpack[CleanKeywords]
) -> CleanResult: ...
@overload
async def clean_async(
    page: Iterable[PageInput], *, url: Sequence[str | None] | None = None, **how: Unpack[CleanKeywords]
) -> list[CleanResult]: ...
async def clean_async(
    page: PageInput | Iterable[PageInput],
    *,
    url: str | Sequence[str | None] | None = None,
    method: Method | None = None,
    favor: Favor | None = None,
    mode: Mode = "site",
    threshold: float | None = None,
    style: StyleLevel | None = None,
    regions: int | None = None,
    complement: bool | None = None,
    has_text: str | None = None,
    model: SiteModel[Any] | AnyPath | None = None,
    keep_hidden: bool = False,
    keep_kinds: Iterable[BlockKind] = (),
    drop_kinds: Iterable[BlockKind] = (),
    select: Iterable[str] = (),
    drop: Iterable[str] = (),
    cache: AnyPath | None = None,
    options: CaptureOptions | None = None,
    timeout: timedelta = _TIMEOUT,  # noqa: ASYNC109 (of one page; it is cut, not cancelled)
    concurrency: int | None = None,
    private_hosts: Iterable[str] = (),
    allow_private: bool = False,
    driver: DriverName = "playwright",
    keep_errors: bool = False,
    analysis_budget: AnalysisBudget | None = None,
) -> CleanResult | list[CleanResult]:
    """Do as `clean`, which says what the parameters are, without holding up the event loop."""
    return await _clean(
        page,
        url,
        Cleaning.checked(
            method=method,
            options=Options(
                mode=mode,
                favor=favor,
                threshold=threshold,
                style=style,
                regions=regions,
                complement=complement,
                has_text=has_text,
            ),
            model=model,
            keep_hidden=keep_hidden,
            keep_kinds=keep_kinds,
            drop_kinds=drop_kinds,
            selection=selection_of(select, drop),
        ),
        Fetching.checked(
            cache=cache,
            options=options,
            timeout=timeout,
            concurrency=concurrency,
            private_hosts=private_hosts,
            allow_private=allow_private,
            driver=driver,
            keep_errors=keep_errors,
            analysis_budget=analysis_budget,
        ),
    ).later()


@overload
def records(  # type: ignore[overload-overlap]
    page: PageInput, *, url: str | None = None, **how: Unpack[RecordsKeywords]
) -> RecordsResult: ...
@overload
def records(
    page: Iterable[PageInput], *, url: Sequence[str | None] | None = None, **how: Unpack[RecordsKeywords]
) -> list[RecordsResult]: ...
def records(
    page: PageInput | Iterable[PageInput],
    *,
    url: str | Sequence[str | None] | None = None,
    method: MiningMethod = "wobm",
    fields: Iterable[FieldName] = (),
    select: Iterable[str] = (),
    drop: Iterable[str] = (),
    cache: AnyPath | None = None,
    options: CaptureOptions | None = None,
    timeout: timedelta = _TIMEOUT,
    concurrency: int | None = None,
    private_hosts: Iterable[str] = (),
    allow_private: bool = False,
    driver: DriverName = "playwright",
    keep_errors: bool = False,
    analysis_budget: AnalysisBudget | None = None,
) -> RecordsResult | list[RecordsResult]:
    """Return the records of a page, such as products, results or entries; for several pages a list in their order.

    Of several pages one that fails is a result with `error` set.

    Parameters
    ----------
    page, url : see `clean`.
    method : how records are found.
    fields : those that each record has, in this order, by what they hold: ``"title"``, ``"description"``,
        ``"price"``, ``"number"``, ``"date"``, ``"link"``, ``"image"``. Without any, all that the page has, by its
        own names where it has some.
    select, drop : see `clean`.
    cache, options, timeout, concurrency, private_hosts, allow_private, driver, keep_errors, analysis_budget : see
        `clean`.

    Raises
    ------
    UsageError, StorageError, BrowserNotFoundError, DomsieveError : see `clean`.
    """
    fetching = Fetching.checked(
        cache=cache,
        options=options,
        timeout=timeout,
        concurrency=concurrency,
        private_hosts=private_hosts,
        allow_private=allow_private,
        driver=driver,
        keep_errors=keep_errors,
        analysis_budget=analysis_budget,
    )
    return _records(page, url, method, fields, selection_of(select, drop), fetching).now()


@overload
async def records_async(  # type: ignore[overload-overlap]
    page: PageInput, *, url: str | None = None, **how: Unpack[RecordsKeywords]
) -> RecordsResult: ...
@overload
async def records_async(
    page: Iterable[PageInput], *, url: Sequence[str | None] | None = None, **how: Unpack[RecordsKeywords]
) -> list[RecordsResult]: ...
async def records_async(
    page: PageInput | Iterable[PageInput],
    *,
    url: str | Sequence[str | None] | None = None,
    method: MiningMethod = "wobm",
    fields: Iterable[FieldName] = (),
    select: Iterable[str] = (),
    drop: Iterable[str] = (),
    cache: AnyPath | None = None,
    options: CaptureOptions | None = None,
    timeout: timedelta = _TIMEOUT,  # noqa: ASYNC109
    concurrency: int | None = None,
    private_hosts: Iterable[str] = (),
    allow_private: bool = False,
    driver: DriverName = "playwright",
    keep_errors: bool = False,
    analysis_budget: AnalysisBudget | None = None,
) -> RecordsResult | list[RecordsResult]:
    """Do as `records`, which says what the parameters are, without holding up the event loop."""
    fetching = Fetching.checked(
        cache=cache,
        options=options,
        timeout=timeout,
        concurrency=concurrency,
        private_hosts=private_hosts,
        allow_private=allow_private,
        driver=driver,
        keep_errors=keep_errors,
        analysis_budget=analysis_budget,
    )
    return await _records(page, url, method, fields, selection_of(select, drop), fetching).later()


@overload
def compare(  # type: ignore[overload-overlap]
    url: str, **how: Unpack[CompareKeywords]
) -> CompareResult: ...
@overload
def compare(url: Iterable[str], **how: Unpack[CompareKeywords]) -> list[CompareResult]: ...
def compare(
    url: str | Iterable[str],
    *,
    twice: bool = False,
    cache: AnyPath | None = None,
    options: CaptureOptions | None = None,
    timeout: timedelta = _TIMEOUT,
    concurrency: int | None = None,
    private_hosts: Iterable[str] = (),
    allow_private: bool = False,
    driver: DriverName = "playwright",
    keep_errors: bool = False,
    analysis_budget: AnalysisBudget | None = None,
) -> CompareResult | list[CompareResult]:
    """Return what the browser makes of the raw source at a URL, and whether it is needed; for several a list.

    Of several URLs one that fails is a result with `error` set.

    Parameters
    ----------
    url : a URL, or an iterable of URLs.
    twice : whether each page is loaded twice, whatever the cache has, so that ``comparison.loads`` says what differs
        between two loads: adverts, times, tokens.
    cache, options, timeout, concurrency, private_hosts, allow_private, driver, keep_errors, analysis_budget : see
        `clean`. Without a cache, captures lie in a temporary folder until this returns.

    Raises
    ------
    UsageError, StorageError, BrowserNotFoundError, DomsieveError : see `clean`.
    """
    fetching = Fetching.checked(
        cache=cache,
        options=options,
        timeout=timeout,
        concurrency=concurrency,
        private_hosts=private_hosts,
        allow_private=allow_private,
        driver=driver,
        keep_errors=keep_errors,
        analysis_budget=analysis_budget,
    )
    return ComparingCall.of(url, fetching, twice=twice).now()


@overload
async def compare_async(  # type: ignore[overload-overlap]
    url: str, **how: Unpack[CompareKeywords]
) -> CompareResult: ...
@overload
async def compare_async(url: Iterable[str], **how: Unpack[CompareKeywords]) -> list[CompareResult]: ...
async def compare_async(
    url: str | Iterable[str],
    *,
    twice: bool = False,
    cache: AnyPath | None = None,
    options: CaptureOptions | None = None,
    timeout: timedelta = _TIMEOUT,  # noqa: ASYNC109
    concurrency: int | None = None,
    private_hosts: Iterable[str] = (),
    allow_private: bool = False,
    driver: DriverName = "playwright",
    keep_errors: bool = False,
    analysis_budget: AnalysisBudget | None = None,
) -> CompareResult | list[CompareResult]:
    """Do as `compare`, which says what the parameters are, without holding up the event loop."""
    fetching = Fetching.checked(
        cache=cache,
        options=options,
        timeout=timeout,
        concurrency=concurrency,
        private_hosts=private_hosts,
        allow_private=allow_private,
        driver=driver,
        keep_errors=keep_errors,
        analysis_budget=analysis_budget,
    )
    return await ComparingCall.of(url, fetching, twice=twice).later()


def render(
    url: str,
    *,
    cache: AnyPath | None = None,
    options: CaptureOptions | None = None,
    timeout: timedelta = _TIMEOUT,
    private_hosts: Iterable[str] = (),
    allow_private: bool = False,
    driver: DriverName = "playwright",
    keep_errors: bool = False,
) -> Snapshot:
    """Return the page at a URL as the browser shows it.

    Parameters
    ----------
    url : begins with ``http://`` or ``https://``. For several URLs call `clean`; its results have a `snapshot`.
    cache, options, timeout, private_hosts, allow_private, driver, keep_errors : see `clean`.

    Raises
    ------
    UsageError, StorageError, BrowserNotFoundError : see `clean`.
    PolicyError : the address may not be reached.
    PageError : no document arrived, or the page counts as failed.
    """
    url = url_of(url)
    fetching = Fetching.checked(
        cache=cache,
        options=options,
        timeout=timeout,
        concurrency=1,
        private_hosts=private_hosts,
        allow_private=allow_private,
        driver=driver,
        keep_errors=keep_errors,
    )
    return snapshot_of(run(fetching.captured([url]))[url], fetching)


async def render_async(
    url: str,
    *,
    cache: AnyPath | None = None,
    options: CaptureOptions | None = None,
    timeout: timedelta = _TIMEOUT,  # noqa: ASYNC109
    private_hosts: Iterable[str] = (),
    allow_private: bool = False,
    driver: DriverName = "playwright",
    keep_errors: bool = False,
) -> Snapshot:
    """Do as `render`, which says what the parameters are, without holding up the event loop."""
    url = url_of(url)
    fetching = Fetching.checked(
        cache=cache,
        options=options,
        timeout=timeout,
        concurrency=1,
        private_hosts=private_hosts,
        allow_private=allow_private,
        driver=driver,
        keep_errors=keep_errors,
    )
    outcomes = await fetching.captured([url])
    return await in_thread(partial(snapshot_of, outcomes[url], fetching))


def _clean(page: object, url: object, cleaning: Cleaning, fetching: Fetching) -> PagesCall[CleanResult]:
    return PagesCall(sources_of(page, url), is_list(page), fetching, partial(cleaned, cleaning=cleaning))


def _records(
    page: object,
    url: object,
    method: MiningMethod,
    fields: Iterable[FieldName],
    selection: Selection | None,
    fetching: Fetching,
) -> PagesCall[RecordsResult]:
    check_choice("method", method, MINERS)
    wanted = checked_choices("fields", fields, FIELD_NAMES)
    work = partial(mined, method=method, fields=wanted, selection=selection)
    return PagesCall(sources_of(page, url), is_list(page), fetching, work)
