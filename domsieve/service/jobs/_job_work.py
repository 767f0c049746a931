"""Running one job: render the pages that are not cached, analyse them in a thread, and return the result.

This module only adds events to the job; the worker marks it as done or failed.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from domsieve.budget import budgeted
from domsieve.errors import DomsieveError, PolicyError
from domsieve.renderer.network.proxy import Proxy
from domsieve.renderer.protocol import Outcome, Rendering
from domsieve.renderer.sampling.events import (
    PageAgain,
    PageDone,
    PageFailed,
    PageRepeated,
    SampleEnded,
    SiteOpened,
)
from domsieve.service.jobs._field_work import FieldWork
from domsieve.service.jobs._job_context import Result, WorkerContext, keep_capture, known_capture, used_page
from domsieve.service.jobs._job_results import SitePages, html_result, page_result, site_result
from domsieve.service.jobs._page_loads import JobPages, check_delay, job_pages
from domsieve.service.jobs._site_following import SiteFollowing
from domsieve.service.jobs.job_values import (
    Claim,
    SiteLimit,
    UsedPage,
    problem_of,
)
from domsieve.service.jobs.requests import (
    CompareRequest,
    FieldsRequest,
    HtmlRequest,
    LearnFieldsRequest,
    PageRequest,
    SiteRequest,
    request_of,
)
from domsieve.service.jobs.sync_request import SyncRequest
from domsieve.snapshot.index import PageRecord
from domsieve.tasks.page_getter import get_pages
from domsieve.tasks.sampling import describe, ended, sample
from domsieve.tasks.targets import site_of

_LONGEST = 2_000  # characters of an event's text; URLs that pages lead to may have two million


async def do(
    claim: Claim, bench: WorkerContext, *, run: Callable[..., Any], stopped: threading.Event
) -> Result:
    """Run a job and return its result.

    Parameters
    ----------
    claim : the claim of the job.
    bench : what the job needs.
    run : calls a function without arguments in a thread and awaits its result.
    stopped : set when the job is cancelled; threads check it with their budget.

    Raises
    ------
    DomsieveError : the job failed; `problem_of` turns the error into the problem of the job.
    """
    request = request_of(claim.job.kind, dict(claim.job.request))

    def run_budgeted(work: Callable[[], Any]) -> Any:
        return run(partial(copy_context().run, work))

    with budgeted(bench.analysis, stopped=stopped):
        if isinstance(request, HtmlRequest):
            return await _html(request, claim, bench, run_budgeted)
        if isinstance(request, SiteRequest):
            return await _site(request, claim, bench, run_budgeted, stopped)
        if isinstance(request, FieldsRequest | LearnFieldsRequest):
            return await FieldWork(request, claim, bench, run=run_budgeted, stopped=stopped).run()
        if isinstance(request, SyncRequest):
            following = SiteFollowing(
                request,
                claim,
                browsing=bench.browsing,
                queue=bench.queue,
                quota=bench.site,
                loads=bench.loads,
                stopped=stopped,
            )
            return Result(*await following.run(bench.threads), [])
        assert isinstance(request, PageRequest)
        return await _page(request, claim, bench, run_budgeted)


async def _html(request: HtmlRequest, claim: Claim, bench: WorkerContext, run: Callable[..., Any]) -> Result:
    def work() -> Result:
        bench.queue.event(claim, "stage", {"stage": "analyse"}, done=0, total=1)
        return Result(*html_result(request), [])

    done: Result = await run(work)
    return done


async def _page(request: PageRequest, claim: Claim, bench: WorkerContext, run: Callable[..., Any]) -> Result:
    options, site, client = request.capture_options(), site_of(request.url), claim.job.client
    twice = isinstance(request, CompareRequest) and request.twice
    loads: list[Rendering] = []
    made: list[PageRecord] = []

    async def render(_: list[str]) -> AsyncGenerator[Outcome]:
        await run(partial(bench.queue.event, claim, "stage", {"stage": "render"}, done=0, total=1))
        # The client is part of the name, so that no cookie of one client's pages meets another's. Two loads share
        # nothing, and what the page is compared with comes last, for its newest capture is the one found again.
        names = {site: options}
        if twice:
            both = (options.without_extras(), options)
            names = {f"{site} {claim.job.id} {n}": how for n, how in enumerate(both)}
        try:
            for name, how in names.items():
                pages = job_pages(
                    bench.browsing,
                    bench.loads,
                    how,
                    request.budget(),
                    client=client,
                    context=client,
                    pages=bench.pages,
                    since=request.since(),
                )
                async with pages as source:
                    loads.append(await source.render(request.url, site=name))
        except DomsieveError as error:
            yield request.url, error
        else:
            yield request.url, loads[-1]

    def keep(*_: object) -> PageRecord:
        made.extend(keep_capture(load, site, claim, bench) for load in loads)
        return made[-1]

    outcomes = await get_pages(
        [request.url],
        render,
        find=lambda _: None if twice else known_capture(request, request.url, options, claim, bench),
        keep=keep,
        guard=bench.browsing.egress,
        must_resolve=True,
        run=run,
    )
    record = outcomes[request.url]
    if isinstance(record, DomsieveError):
        raise record

    def work() -> Result:
        bench.queue.event(claim, "stage", {"stage": "analyse"}, done=1, total=1)
        ids = bench.queue.page_ids(client, site)
        summary, files = page_result(request, record, bench.pages(), ids, made[0] if twice else None)
        used = {one.page_id: used_page(one, claim) for one in made or [record]}
        return Result({**summary, "from_cache": not made}, files, [*used.values()])

    done: Result = await run(work)
    return done


@dataclass(slots=True)
class _Sampled:
    records: list[PageRecord] = field(default_factory=list)
    failures: list[dict[str, Any]] = field(default_factory=list)
    ended: str = ""
    extent: str = ""
    forbidden: int = 0
    expected: int | None = None  # number of pages, as far as is known
    limit: SiteLimit | None = None

    def replace(self, url: str, outcome: Rendering | DomsieveError, *, record: PageRecord | None) -> None:
        """Replace a fetched page by what came of rendering it; without a record, it counts as failed."""
        places = [number for number, one in enumerate(self.records) if one.url == url]
        for place in reversed(places):
            self.records[place : place + 1] = [record] if record else []
        if places and isinstance(outcome, DomsieveError):
            self.failures.append({"url": url, **problem_of(outcome)})


async def _site(
    request: SiteRequest,
    claim: Claim,
    bench: WorkerContext,
    run: Callable[..., Any],
    stopped: threading.Event,
) -> Result:
    # The guard comes first: the cache may hold pages that are no longer allowed.
    await bench.browsing.egress.decide_url(request.url)
    found = _Sampled()
    # With its own proxy, a job's traffic is counted apart from that of other jobs in the same browser.
    egress = bench.browsing.egress.metered(bench.site.size_bytes)
    async with (
        Proxy(egress) as proxy,
        job_pages(
            bench.browsing,
            bench.loads,
            request.capture_options(),
            request.budget(),
            client=claim.job.client,
            context=f"{claim.job.client} {claim.job.id}",
            pages=bench.pages,
            since=request.since(),
            seed=request.seed,
            proxy=proxy,
            quota=bench.site,
        ) as source,
    ):
        try:
            async with asyncio.timeout(bench.site.time_s) as limit:
                await _sample(request, claim, bench, run, source, found)
        except TimeoutError:
            if not limit.expired():
                raise
            found.limit = "time"
        except DomsieveError as error:
            # Without robots.txt and its first page no sample begins; where a limit cut them off, the result says so.
            if not (egress.is_used_up or _is_over_quota(error)):
                raise
            found.limit = "bytes" if egress.is_used_up else "pages"
        if egress.is_used_up and found.ended != "complete":
            found.limit = "bytes"  # a sitemap may have been cut off, too
        if found.limit:
            async for again in source.doubtful(bench.site.sentence(found.limit)):
                found.replace(*again, record=None)
    sentence = bench.site.sentence(found.limit) if found.limit else ""
    if found.limit and not found.records:
        raise PolicyError(f"There is no page yet. {sentence}", reason="quota", url=request.url)

    def work() -> Result:
        if sentence:
            done = len(found.records)
            bench.queue.event(
                claim, "site", {"said": sentence}, done=done, total=found.expected or request.pages
            )
        pages = SitePages(
            found.records,
            found.failures,
            found.limit or found.ended,
            limit=sentence,
            extent=found.extent,
            forbidden=found.forbidden,
        )
        summary, files = site_result(request, pages, bench.pages(), stopped)
        return Result(summary, files, [])  # events reported its pages as they came

    done: Result = await run(work)
    return done


async def _sample(
    request: SiteRequest,
    claim: Claim,
    bench: WorkerContext,
    run: Callable[..., Any],
    source: JobPages,
    found: _Sampled,
) -> None:
    """Sample a site and add the pages to `found`, until the sample ends or the job reaches a limit."""
    own = await run(partial(bench.queue.page_ids, claim.job.client))

    def may_use(record: PageRecord) -> bool:
        # A page that was redirected to another site is rendered again, because that site may be forbidden now.
        is_own = record.page_id in own and site_of(record.final_url) == site_of(record.url)
        return is_own and bench.queue.captures.hold_again(claim, record.page_id)

    async def kept(rendering: Rendering, name: str) -> PageRecord:
        record: PageRecord = await run(partial(keep_capture, rendering, name, claim, bench))
        return record

    events = sample(
        source,
        request.url,
        bench.pages(),
        options=request.capture_options(),
        pages=request.pages,
        seed=request.seed,
        delay=None,
        concurrency=min(2, bench.browsing.concurrency),
        scope=request.scope(),
        since=request.since(),
        may_use=may_use,
        kept=kept,
        egress=source.egress,
    )
    async with aclosing(events):
        async for event, record in events:
            if isinstance(event, PageFailed) and _is_over_quota(event.error):
                found.limit = "bytes" if source.egress.is_used_up else "pages"
                return
            if isinstance(event, PageDone):
                found.expected = event.expected
            elif isinstance(event, SampleEnded):
                found.ended, found.extent, found.forbidden = event.reason, ended(event), event.forbidden
                found.expected = event.pages
            total = found.expected or request.pages
            facts: dict[str, Any] = {"said": describe(event)[:_LONGEST], "total": total}
            pages: list[UsedPage] = []
            kind = "site"
            if isinstance(event, SiteOpened):
                check_delay(event, request.url)
            if isinstance(event, PageDone) and record is not None:
                found.records.append(record)
                pages.append(used_page(record, claim))
                kind = "page"
                facts |= {"url": event.url, "nodes": record.nodes, "from_cache": event.was_known}
            elif isinstance(event, PageFailed):
                problem = problem_of(event.error)
                found.failures.append({"url": event.url, **problem})
                kind = "page_failed"
                facts |= {"url": event.url, "detail": problem["detail"], "fault": problem["fault"]}
            elif isinstance(event, PageRepeated):
                facts |= {"url": event.url}
            elif isinstance(event, PageAgain):
                found.replace(event.url, event.outcome, record=record)
                pages += [used_page(record, claim)] if record else []
            facts["done"] = len(found.records)
            await run(
                partial(
                    bench.queue.event,
                    claim,
                    kind,
                    facts,
                    done=len(found.records),
                    total=total,
                    pages=pages,
                )
            )


def _is_over_quota(error: DomsieveError) -> bool:
    return isinstance(error, PolicyError) and error.reason == "quota"
