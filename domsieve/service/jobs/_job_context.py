"""What a worker gives its jobs, and the captures that they use: found again, kept, and named in their results."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

from domsieve.budget import DEFAULT_BUDGET, AnalysisBudget
from domsieve.errors import DamagedFileError, UnknownPageError
from domsieve.options import CaptureOptions
from domsieve.renderer.protocol import Rendering
from domsieve.service.jobs._page_loads import LoadCounts, PageRenderer
from domsieve.service.jobs.job_values import DEFAULT_SITE_QUOTA, Claim, NewFile, SiteQuota, UsedPage
from domsieve.service.jobs.requests import PageRequest
from domsieve.service.jobs.work_queue import WorkQueue
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.store import PageStore
from domsieve.snapshot.stored_files import page_id_of
from domsieve.tasks.pages import cached, keep, unscripted


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a job; `pages` are the captures it used that none of its events reported."""

    summary: dict[str, Any]
    files: list[NewFile]
    pages: list[UsedPage]


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """What a worker needs to run jobs.

    Parameters
    ----------
    browsing : renders pages.
    queue : the job queue.
    threads : runs the analysis of pages.
    pages : returns the page store of the calling thread; each thread has its own.
    analysis : the budget of the analysis of one page.
    site : the quota of a site job.
    loads : counts the pages that were loaded.
    """

    browsing: PageRenderer
    queue: WorkQueue
    threads: Executor
    pages: Callable[[], PageStore]
    analysis: AnalysisBudget = DEFAULT_BUDGET
    site: SiteQuota = DEFAULT_SITE_QUOTA
    loads: LoadCounts = field(default_factory=LoadCounts)


def known_capture(
    request: PageRequest, url: str, options: CaptureOptions, claim: Claim, bench: WorkerContext
) -> PageRecord | None:
    """Return a capture that an earlier job of the client used and this one holds now; None without one.

    Another client's capture may show what only he was shown, and would tell that he was there.
    """
    store = bench.pages()
    record = cached(url, store, options, since=request.since())
    if record is None:
        return None
    try:
        twin = unscripted(record, store) if options.extras else None
    except (DamagedFileError, UnknownPageError):
        return None  # render it again
    others = [] if twin is None else [twin.page_id]
    return record if bench.queue.captures.hold_again(claim, record.page_id, others) else None


def keep_capture(rendering: Rendering, site: str, claim: Claim, bench: WorkerContext) -> PageRecord:
    """Keep a page in the cache; the job holds it from before it is there."""
    store, captures = bench.pages(), bench.queue.captures
    twin = [] if rendering.unscripted is None else [rendering.unscripted]
    ids = [page_id_of(part.snapshot) for part in (rendering, *twin)]
    captures.hold(claim, ids)
    record = keep(rendering, site, store)
    captures.made(claim, {page_id: store.size(page_id) for page_id in ids})
    return record


def used_page(record: PageRecord, claim: Claim) -> UsedPage:
    return UsedPage(
        page_id=record.page_id,
        url=record.url,
        site=record.site,
        captured_at=record.captured_at,
        nodes=record.nodes,
        complete=record.complete,
        job=claim.job.id,
    )
