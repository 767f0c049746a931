"""Cleaning pages by a named method, site by site, in two passes over pages that are read when needed."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Literal, cast

from domsieve.analysis import (
    EVERY_METHOD_DECIDES,
    FEWEST_PAGES,
    PAGE_METHODS,
    SITE_METHODS,
    KindChoice,
    Metadata,
    Method,
    Mode,
    NoCleaning,
    Options,
    SiteModel,
    StyleLevel,
    Verdict,
    check_fixed,
    check_options,
    judge_title,
    new_site_model,
    page_cleaner,
    read_metadata,
    write_front_matter,
    write_html,
    write_json,
    write_markdown,
    write_text,
)
from domsieve.errors import DomsieveError, PageError, UsageError
from domsieve.snapshot import Snapshot
from domsieve.tasks.judging import judged, with_condition
from domsieve.tasks.learning import fit
from domsieve.tasks.pages import Page
from domsieve.tasks.sites import once

Format = Literal["text", "markdown", "html", "json"]
Writer = Callable[[Snapshot, Verdict], str]

WRITERS: Mapping[Format, Writer] = {
    "text": write_text,
    "markdown": write_markdown,
    "html": write_html,
    "json": write_json,
}
ENDINGS: Mapping[Format, str] = {"text": ".txt", "markdown": ".md", "html": ".html", "json": ".json"}

Cleaned = tuple[Page, tuple[Snapshot, Verdict] | DomsieveError]

# What cleans pages of sites that are not known well enough to learn from.
_PAGE_METHOD: Method = "features"

FEW_PAGES = "few_pages"
"""The attribute ``reason`` of the log record that warns of too few pages to learn from."""

logger = logging.getLogger("domsieve")


def learn(
    pages: Sequence[Page],
    *,
    method: Method = "sst",
    mode: Mode = "site",
    threshold: float | None = None,
    style: StyleLevel | None = None,
    failed: Callable[[Page, DomsieveError], None],
) -> SiteModel[Any]:
    """Return a site model of `pages`; pages that cannot be read are told to `failed` and left out.

    Raises
    ------
    UsageError : the method learns nothing, or an option is not its own.
    PageError : no page could be read.
    """
    model = new_site_model(method, Options(mode, threshold, style))
    fit(model, once(pages, _keys), failed)
    if not model.learned:
        raise PageError("None of the pages could be read, so there is nothing to learn from.")
    return model


def clean(
    pages: Sequence[Page],
    *,
    method: Method | None,
    mode: Mode = "site",
    threshold: float | None = None,
    style: StyleLevel | None = None,
    regions: int | None = None,
    complement: bool | None = None,
    has_text: str | None = None,
    model: SiteModel[Any] | None = None,
    keep_hidden: bool = False,
    kinds: KindChoice = EVERY_METHOD_DECIDES,
    siblings: Callable[[str], Sequence[Page]],
) -> Iterator[Cleaned]:
    """Yield each page with its verdict or the error of reading it, site after site.

    Parameters
    ----------
    method : None is that of the model; without a model, the site style tree where at least `FEWEST_PAGES` pages of a
        site are known, else the block features.
    mode, threshold, style, regions, complement : parameters of the method; None is its default.
    has_text : for the tag path sequence: where the main region lacks this text, the rest of the page is kept.
    model : a site model learned before, which takes over the threshold; otherwise one is learned per site.
    keep_hidden : whether text that nobody can see may stay.
    kinds : the kinds of blocks that are kept or dropped whatever the method says.
    siblings : returns further known pages of a site, which are learned from and not cleaned.

    Raises
    ------
    UsageError : the model is one of another method, or an option is none of the method's or fixed by the model.
    """
    options = Options(mode, threshold, style, regions, complement, has_text)
    if model is not None and method not in {None, model.name}:
        raise UsageError(f"This model is of the method {model.name}, not {method}.")
    if model is None:
        check_options(method or "sst", options)
    else:
        check_options(cast(Method, model.name), options)
        check_fixed(options)
        if options.threshold is not None:
            model.set_params(threshold=options.threshold)
    as_published = mode == "paper" or (model is not None and _is_of_paper(model))
    for site, group in groupby(sorted(pages, key=lambda page: page.site), key=lambda page: page.site):
        members = list(group)
        known = once(members, _keys)
        if model is None and method not in PAGE_METHODS:
            known = once([*known, *siblings(site)], _keys)
        chosen = method or ("sst" if len(known) >= FEWEST_PAGES else _PAGE_METHOD)
        own = options
        if method is None and model is None:
            logger.info("%s: %d pages known, method %s", site, len(known), chosen)
            own = options if chosen == "sst" else _of_page_method(site, options)
        judge = _judge(site, chosen, known, own) if model is None else model.transform
        for page in members:
            result: tuple[Snapshot, Verdict] | DomsieveError
            try:
                with page.at_work("clean"):
                    snapshot = page.read()
                    verdict = judged(
                        snapshot, judge, keep_hidden=keep_hidden, may_change=not as_published, kinds=kinds
                    )
                    verdict = judge_title(snapshot, verdict)
                    result = snapshot, with_condition(snapshot, verdict, page.missing)
            except DomsieveError as error:
                result = error
            yield page, result


def written(page: Page, result: tuple[Snapshot, Verdict], form: Format, *, metadata: bool = False) -> str:
    """Return what was kept of a page in a format.

    Parameters
    ----------
    metadata : whether text and Markdown begin with the metadata of the page, as YAML front matter, and HTML has it in
        its head. JSON always has it.

    Raises
    ------
    BudgetError : the page has used its budget.
    """
    with page.at_work("write"):
        if not metadata or form == "json":
            return WRITERS[form](*result)
        said = read_metadata(result[0])
        if form == "html":
            return write_html(*result, metadata=said)
        return write_front_matter(said) + WRITERS[form](*result)


def metadata_of(page: Page, result: tuple[Snapshot, Verdict]) -> Metadata:
    """Return what a page says of itself.

    Raises
    ------
    BudgetError : the page has used its budget.
    """
    with page.at_work("write"):
        return read_metadata(result[0])


def _is_of_paper(model: SiteModel[Any]) -> bool:
    """Return whether a model has the published parameters, where those are others than ours."""
    ours = type(model)().get_params()
    # The threshold alone may be chosen when it is used.
    fixed = {name: value for name, value in (model.paper or {}).items() if name != "threshold"}
    published = {name: value for name, value in fixed.items() if ours[name] != value}
    return bool(published) and published.items() <= model.get_params().items()


def _of_page_method(site: str, options: Options) -> Options:
    """Return the options without those that were meant for the site style tree."""
    if options.threshold is not None or options.style is not None or options.mode == "paper":
        logger.warning(
            "%s: too few pages for the method sst, and %s knows none of its options.", site, _PAGE_METHOD
        )
    return replace(options, mode="site", threshold=None, style=None)


def _judge(
    site: str, method: Method, known: Sequence[Page], options: Options
) -> Callable[[Snapshot], Verdict]:
    if method in PAGE_METHODS:
        return page_cleaner(method, options)
    if len(known) < SITE_METHODS[method].fewest:
        logger.warning(
            "%s: only %d page(s) to learn from, so little can be seen to repeat.",
            site,
            len(known),
            extra={"reason": FEW_PAGES},
        )
    model = SITE_METHODS[method].make(options)
    # A page that cannot be read is reported when its turn to be cleaned comes.
    fit(model, known, lambda *_: None)
    return model.transform if model.learned else NoCleaning().transform


def _keys(page: Page) -> Sequence[str]:
    return page.keys or ((page.label,) if page.label else ())
