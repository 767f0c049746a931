"""Sample a site into the cache, without rendering pages that were captured before."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta

from domsieve.analysis.page_flags.flags import Mark, described
from domsieve.errors import DamagedFileError, DomsieveError
from domsieve.options import CaptureOptions, Scope
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.protocol import PageSource, Rendering
from domsieve.renderer.sampling.events import (
    MissingSeen,
    PageAgain,
    PageDone,
    PageFailed,
    PageRepeated,
    SampleEnded,
    SampleEvent,
    SitemapsRead,
    SiteOpened,
)
from domsieve.renderer.sampling.frontier import missing_addresses
from domsieve.renderer.sampling.sample import sample_site
from domsieve.snapshot.fault import fault_of
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.pages import cached, keep
from domsieve.tasks.postprocess import marks_of
from domsieve.tasks.targets import site_of


@dataclass(frozen=True, slots=True)
class PageMarked:
    """What the page of the previous event probably is instead of content."""

    url: str
    marks: tuple[Mark, ...]


async def sample(
    source: PageSource,
    start: str,
    store: PageStore,
    *,
    options: CaptureOptions,
    pages: int | None,
    seed: int,
    scope: Scope | None = None,
    delay: timedelta | None,
    concurrency: int,
    since: datetime | None,
    may_use: Callable[[PageRecord], bool] = lambda _: True,
    kept: Callable[[Rendering, str], Awaitable[PageRecord]] | None = None,
    egress: Egress | None = None,
) -> AsyncGenerator[tuple[SampleEvent | PageMarked, PageRecord | None]]:
    """Yield events, and with those of pages of the sample, also of `PageAgain`, their records.

    An interrupted sample continues when it is started again: it draws the same pages, and finds them in the cache.

    Parameters
    ----------
    since : captures made before this time are not used.
    may_use : decides whether a capture of the cache may be used.
    egress : the guard for robots.txt and sitemaps; give that of the renderer.
    kept : stores a page under the name of its site; None stores it in `store`.
    """

    async def kept_here(rendering: Rendering, site: str) -> PageRecord:
        return keep(rendering, site, store)

    kept = kept or kept_here

    def known(url: str) -> Rendering | None:
        record = cached(url, store, options, since=since, may_use=may_use)
        if record is None:
            return None
        try:
            page = store.get(record.page_id)
        except DamagedFileError:
            return None  # render it again
        if fault_of(page):
            return None  # it may be there now
        return Rendering(snapshot=page, source=None, source_reason="from the cache")

    events = sample_site(
        source,
        start,
        pages=pages,
        seed=seed,
        scope=scope,
        delay=delay,
        concurrency=concurrency,
        known=known,
        egress=egress,
        ask_for_missing=True,
    )
    site = ""
    missing: Snapshot | None = None
    async with aclosing(events):
        async for event in events:
            record: PageRecord | None = None
            if isinstance(event, SiteOpened):
                site = site_of(
                    event.root
                )  # the start page may have redirected to the same name with or without www.
            if isinstance(event, PageRepeated) and not event.was_known:
                # Stored so that it is not rendered again, but not as a page of the site, where it would count twice.
                await kept(event.rendering, "")
            if isinstance(event, PageFailed) and event.rendering and not event.was_known:
                await kept(event.rendering, "")
            if isinstance(event, MissingSeen):
                missing = event.rendering.snapshot
                if not event.was_known:
                    await kept(event.rendering, "")
            if isinstance(event, PageAgain) and not isinstance(event.outcome, DomsieveError):
                record = await kept(event.outcome, site)
            if isinstance(event, PageDone):
                known_record = cached(event.url, store, options) if event.was_known else None
                record = known_record or await kept(event.rendering, site)
            yield event, record
            if isinstance(event, PageDone):
                page = event.rendering.snapshot
                marks = marks_of(page, lambda _: missing if missing_addresses(event.url) else None)  # noqa: B023
                if marks:
                    yield PageMarked(event.url, marks), None


def describe(event: SampleEvent | PageMarked) -> str:
    """Return one line about an event, for people."""
    if isinstance(event, PageAgain):
        failed = f"; failed: {event.outcome.message}" if isinstance(event.outcome, DomsieveError) else ""
        return f"rendered again: {event.url}{failed}"
    if isinstance(event, PageMarked):
        return f"{event.url}: It looks like {'; '.join(map(described, event.marks))}."
    if isinstance(event, MissingSeen):
        return "the site answers with a page where there is none; others that are like it are marked"
    if isinstance(event, PageDone):
        origin = "from the cache" if event.was_known else _count(len(event.rendering.snapshot), "node")
        page = event.rendering.snapshot
        cut = "".join(f"; cut: {reason}" for reason in page.provenance.reasons)
        cut += "; fetched" if page.provenance.reason and not (page.has_layout or event.was_known) else ""
        return f"[{event.number}/{event.expected}] {event.url} {origin}{cut}"
    if isinstance(event, PageRepeated):
        return f"repeats {event.first}: {event.url}"
    if isinstance(event, PageFailed):
        return f"failed: {event.url}: {event.error.message}"
    if isinstance(event, SiteOpened):
        return f"{event.root}: {event.delay.total_seconds():g} s between two pages"
    if isinstance(event, SitemapsRead):
        return f"sitemaps name {_count(event.pages, 'page')}"
    return ended(event)


def ended(event: SampleEnded) -> str:
    """Return how many pages a sample has and why it ended, for people."""
    end = "all of that part" if event.reason == "exhausted" and event.has_scope else _ENDS[event.reason]
    skipped = f"; {event.forbidden:,} skipped by robots.txt" if event.forbidden else ""
    return f"{_count(event.pages, 'page')}, {end}{skipped}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


_ENDS = {
    "complete": "as many as wanted",
    "exhausted": "the whole site",
    "fruitless": "the last pages all failed or repeated others",
}
