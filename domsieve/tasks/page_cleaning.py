"""Clean pages with a named method, site by site, in two passes; pages are read when they are needed."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from typing import Any, cast

from domsieve.analysis.block_types.detection import EVERY_METHOD_DECIDES, KindChoice
from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.metadata.title import restore_title
from domsieve.analysis.metadata.values import Metadata
from domsieve.analysis.registry import (
    DEFAULT_METHOD,
    METHODS,
    MIN_SITE_PAGES,
    PAGE_METHODS,
    SITE_METHODS,
    Method,
    MethodParams,
    check_fixed,
    is_published,
    new_site_model,
    page_cleaner,
)
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.formats import write_page
from domsieve.errors import DomsieveError, PageError, UsageError
from domsieve.snapshot.page import Snapshot
from domsieve.tasks._page_cache import PageCache, judged_together
from domsieve.tasks.pages import Page
from domsieve.tasks.postprocess import judged, with_condition
from domsieve.tasks.site_learning import fit
from domsieve.tasks.sites import once
from domsieve.types import HiddenText, PageFormat

_DEFAULTS = MethodParams()
_NAMED = 3
_MANY_FETCHED = 0.5
"""From so many fetched pages per rendered one on, both are learned from; chosen on the sites of the benchmark."""

Cleaned = tuple[Page, tuple[Snapshot, Verdict] | DomsieveError]

FEW_PAGES = "few_pages"
"""The attribute ``reason`` of the log record that warns of too few pages to learn from."""

logger = logging.getLogger("domsieve")


def learn(
    pages: Sequence[Page],
    *,
    method: Method = DEFAULT_METHOD,
    params: MethodParams = _DEFAULTS,
    failed: Callable[[Page, DomsieveError], None],
) -> SiteModel[Any]:
    """Return a site model learned from `pages`; `failed` is called for pages that cannot be read.

    Raises
    ------
    UsageError : the method does not learn, or does not have one of the parameters.
    PageError : no page could be read.
    """
    model = new_site_model(method, params)
    fit(model, once(pages, _keys), failed)
    if not model.learned:
        raise PageError("None of the pages could be read, so there is nothing to learn from.")
    entry = SITE_METHODS[method]
    if model.learned < (MIN_SITE_PAGES if entry.works_alone else entry.min_pages):
        _warn_of_few({pages[0].site: model.learned})
    return model


def clean(
    pages: Sequence[Page],
    *,
    method: Method | None = None,
    params: MethodParams = _DEFAULTS,
    model: SiteModel[Any] | None = None,
    hidden: HiddenText = "layout",
    kinds: KindChoice = EVERY_METHOD_DECIDES,
    alone: bool = False,
    siblings: Callable[[str], Sequence[Page]],
) -> Iterator[Cleaned]:
    """Yield each page with its verdict or the error of reading it, site after site.

    Parameters
    ----------
    method : the method; None means that of the model or, without a model, `DEFAULT_METHOD`.
    params : the mode and the parameters of the method.
    model : a site model; `favor` and `threshold` are applied to it. Without one, a model is learned for each site.
    hidden : whether hidden text is dropped, and how it is found. With ``"pixels"``, pages captured
        without pictures fail.
    kinds : the types of blocks that are kept or dropped, whatever the method decides.
    alone : each page is judged without the others of its site, also without those of `pages`.
    siblings : returns other known pages of a site; they are learned from, but not cleaned.

    Raises
    ------
    UsageError : the model is one of another method, a parameter is wrong or fixed by the model, or the method or the
        model cannot judge a page alone.
    """
    if model is not None and method not in {None, model.name}:
        raise UsageError(f"This model is for the method {model.name}, not {method}.")
    chosen = cast(Method, model.name) if model else method or DEFAULT_METHOD
    METHODS[chosen].check(params)
    if alone and not (model is None and (chosen in PAGE_METHODS or METHODS[chosen].works_alone)):
        why = (
            f"the method {chosen} compares it with its site" if model is None else "the model knows its site"
        )
        raise UsageError(f"No page is judged alone here: {why}.", parameter="alone")
    if model is not None:
        check_fixed(params)
        model.set_params(**params.given)
    few: dict[str, int] = {}
    as_published = params.mode == "paper" or (model is not None and is_published(model))
    for site, group in groupby(sorted(pages, key=lambda page: page.site), key=lambda page: page.site):
        members = [replace(page, hidden=hidden) for page in group]
        others = [
            replace(page, hidden=hidden)
            for page in (siblings(site) if model is None and chosen not in PAGE_METHODS and not alone else ())
        ]
        others, mixed = _learned_with(others, site, chosen, params)
        cache = PageCache()
        members = cache.keeping(members)
        known = [] if alone else once([*members, *others], _keys)
        site_pages = model.learned if model else 0
        if model is None and _learns(chosen, known):
            site_pages = len(known)
            if site_pages < METHODS[chosen].min_pages:
                few[site] = site_pages
        else:
            cache.close()  # no page is read twice
        judge = _judge(chosen, known, params, mixed=mixed) if model is None else model.transform
        for page, read in judged_together(members, judge):
            result: tuple[Snapshot, Verdict] | DomsieveError
            try:
                with page.at_work("clean"):
                    snapshot, judge_page = read()
                    verdict = judged(
                        snapshot,
                        judge_page,
                        hidden=hidden,
                        may_change=not as_published,
                        kinds=kinds,
                    )
                    verdict = replace(restore_title(snapshot, verdict), site_pages=site_pages)
                    result = snapshot, with_condition(snapshot, verdict, page.missing)
            except DomsieveError as error:
                result = error
            yield page, result
    _warn_of_few(few)


def written(
    page: Page,
    result: tuple[Snapshot, Verdict],
    form: PageFormat,
    *,
    metadata: bool = False,
    max_words: int | None = None,
) -> str:
    """Return what was kept of a page in a format; see `write_page`.

    Raises
    ------
    BudgetError : the page has used its budget.
    """
    with page.at_work("write"):
        return write_page(*result, form, metadata=metadata, max_words=max_words)


def metadata_of(page: Page, result: tuple[Snapshot, Verdict]) -> Metadata:
    """Return the metadata of a page.

    Raises
    ------
    BudgetError : the page has used its budget.
    """
    from domsieve.analysis.metadata.page_metadata import read_metadata

    with page.at_work("write"):
        return read_metadata(result[0])


def _learned_with(
    others: Sequence[Page], site: str, method: Method, params: MethodParams
) -> tuple[list[Page], bool]:
    """Return the known pages that a site is learned from as well, and whether they are of both kinds.

    Where a third of the pages or more were only fetched, the rendered ones, often the unusual ones, say too little of
    the site. Then they are learned from together with the fetched ones, by the attributes of the source, which all of
    them have.
    """
    same = [page for page in others if page.site == site]
    fetched = [page for page in others if page.site != site]
    many = len(fetched) >= max(1, _MANY_FETCHED * len(same))
    mixed = many and method == DEFAULT_METHOD and "style" not in params.given
    return [*same, *(fetched if mixed else ())], mixed


def _judge(
    method: Method, known: Sequence[Page], params: MethodParams, *, mixed: bool
) -> Callable[[Snapshot], Verdict]:
    if not _learns(method, known):
        return page_cleaner(method, params)
    model = SITE_METHODS[method].make(params)
    if mixed:
        model.set_params(style="html")
    # A page that cannot be read is reported when its turn to be cleaned comes.
    fit(model, known, lambda *_: None)
    return model.transform if model.learned else NoCleaning().transform


def _learns(method: Method, known: Sequence[Page]) -> bool:
    """Return whether a method learns from these pages of a site before it cleans them."""
    return method not in PAGE_METHODS and not (METHODS[method].works_alone and len(known) < MIN_SITE_PAGES)


def _warn_of_few(known: Mapping[str, int]) -> None:
    """Warn of sites with too few pages, by the number of pages, in one line."""
    if not known:
        return
    named = [f"{site} ({count})" for site, count in islice(known.items(), _NAMED)]
    if len(known) > _NAMED:
        named.append(f"and {len(known) - _NAMED} more")
    (one, count), *more = known.items()
    where = (
        f"{len(known)} sites have too few pages" if more else f"{one}: only {count} page{'s' * (count > 1)}"
    )
    these = f": {', '.join(named)}" if more else ""
    message = "%s to learn from, so little can be seen to repeat%s."
    logger.warning(message, where, these, extra={"reason": FEW_PAGES})


def _keys(page: Page) -> Sequence[str]:
    return page.keys or ((page.label,) if page.label else ())
