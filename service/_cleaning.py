"""Cleaning pages by a named method, site by site, in two passes over pages that are read when needed."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal

from analysis import (
    Mode,
    NoCleaning,
    SiteStyleTree,
    StyleLevel,
    TagPathFilter,
    Verdict,
    write_html,
    write_json,
    write_markdown,
    write_text,
)
from service._pages import Page
from snapshot import DomsieveError, PageError, Snapshot

Method = Literal["sst", "tps", "none"]
Format = Literal["text", "markdown", "html", "json"]
Writer = Callable[[Snapshot, Verdict], str]

WRITERS: Mapping[Format, Writer] = {
    "text": write_text,
    "markdown": write_markdown,
    "html": write_html,
    "json": write_json,
}
ENDINGS: Mapping[Format, str] = {"text": ".txt", "markdown": ".md", "html": ".html", "json": ".json"}

# With fewer pages of a site most of what repeats still looks unique, and the page method does better.
FEWEST_PAGES = 5

Cleaned = tuple[Page, tuple[Snapshot, Verdict] | DomsieveError]

logger = logging.getLogger("domsieve")


def learn(
    pages: Sequence[Page],
    *,
    mode: Mode = "site",
    threshold: float | None = None,
    style: StyleLevel | None = None,
    failed: Callable[[Page, DomsieveError], None],
) -> SiteStyleTree:
    """Return a site model of `pages`; pages that cannot be read are told to `failed` and left out.

    Raises
    ------
    PageError : no page could be read.
    """
    changes = {"threshold": threshold, "style": style}
    model = SiteStyleTree.of_mode(
        mode, **{name: value for name, value in changes.items() if value is not None}
    )

    def snapshots() -> Iterator[Snapshot]:
        for page in pages:
            try:
                yield page.load()
            except DomsieveError as error:
                failed(page, error)

    model.fit(snapshots())
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
    model: SiteStyleTree | None = None,
    siblings: Callable[[str], Sequence[Page]],
) -> Iterator[Cleaned]:
    """Yield each page with its verdict or the error of reading it, site after site.

    Parameters
    ----------
    method : None chooses the site style tree where at least `FEWEST_PAGES` pages of a site are known, else the
        tag path sequence.
    mode, threshold, style : parameters of the method; None is its default.
    model : a site model learned before; otherwise one is learned of the pages of each site.
    siblings : returns further known pages of a site, which are learned from and not cleaned.
    """
    for site, group in groupby(sorted(pages, key=lambda page: page.site), key=lambda page: page.site):
        members = list(group)
        known = (
            _with_siblings(members, siblings(site)) if model is None and method in {None, "sst"} else members
        )
        chosen = method or ("sst" if model is not None or len(known) >= FEWEST_PAGES else "tps")
        if method is None:
            logger.info("%s: %d pages known, method %s", site, len(known), chosen)
        if chosen == "sst" and model is None and len(known) < FEWEST_PAGES:
            logger.warning(
                "%s: only %d page(s) to learn from, so little can be seen to repeat; "
                "`domsieve site` fetches more, --method tps needs but one.",
                site,
                len(known),
            )
        try:
            judge = _judge(chosen, known, mode=mode, threshold=threshold, style=style, model=model)
        except PageError:
            judge = NoCleaning().transform  # no page can be read, and each says why when its turn comes
        for page in members:
            try:
                snapshot = page.load()
                yield page, (snapshot, judge(snapshot))
            except DomsieveError as error:
                yield page, error


def _judge(
    method: Method,
    known: Sequence[Page],
    *,
    mode: Mode,
    threshold: float | None,
    style: StyleLevel | None,
    model: SiteStyleTree | None,
) -> Callable[[Snapshot], Verdict]:
    if method == "none":
        return NoCleaning().transform
    if method == "tps":
        return TagPathFilter(mode="paper" if mode == "paper" else "user", style=style or "layout").transform
    # A page that cannot be read is reported when its turn to be cleaned comes.
    return (
        model or learn(known, mode=mode, threshold=threshold, style=style, failed=lambda *_: None)
    ).transform


def _with_siblings(members: Sequence[Page], others: Sequence[Page]) -> list[Page]:
    labels = {page.label for page in members}
    return [*members, *(page for page in others if page.label not in labels)]
