"""Running the jobs of fields: learn them from examples, or return those of many pages."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from domsieve.analysis.fields.alarm import FieldWatch
from domsieve.analysis.fields.fields_model import (
    FieldsModel,
    fields_model_from_bytes,
    fields_model_to_bytes,
    model_facts,
)
from domsieve.analysis.fields.picking_page import picking_page
from domsieve.analysis.writers.field_tables import FieldSheet
from domsieve.analysis.writers.formats import RECORD_FORMATS, write_fields
from domsieve.budget import spending_on_site
from domsieve.errors import DomsieveError, PageError
from domsieve.renderer.network.proxy import Proxy
from domsieve.renderer.protocol import Outcome
from domsieve.service.jobs._job_context import (
    Result,
    WorkerContext,
    keep_capture,
    known_capture,
    used_page,
)
from domsieve.service.jobs._page_loads import job_pages
from domsieve.service.jobs.field_requests import MODEL_FILE, PAGE_FILE
from domsieve.service.jobs.job_values import Claim, NewFile, UsedPage, problem_of
from domsieve.service.jobs.requests import FieldsRequest, LearnFieldsRequest
from domsieve.snapshot.index import PageRecord
from domsieve.tasks.field_extraction import PRODUCT_FIELDS, extract_fields, learn_from
from domsieve.tasks.page_getter import get_pages
from domsieve.tasks.pages import Page, from_record, numbered, site_records, with_selection
from domsieve.tasks.targets import site_of

FieldJob = FieldsRequest | LearnFieldsRequest
_TABLE_FILE = "fields.jsonl"
_LONGEST = 2_000  # characters of an event's text
_MOST_FAILURES = 50


class FieldWork:
    """A job that learns fields or returns them.

    Parameters
    ----------
    request : the request of the job.
    claim, bench : the claim of the job, and what it needs.
    run : calls a function without arguments in a thread and awaits its result.
    stopped : set when the job is cancelled.
    """

    def __init__(
        self,
        request: FieldJob,
        claim: Claim,
        bench: WorkerContext,
        *,
        run: Callable[..., Any],
        stopped: threading.Event,
    ) -> None:
        self._request, self._claim, self._bench = request, claim, bench
        self._run, self._stopped = run, stopped
        self._done, self._total = 0, len(request.pages())
        self._failures: list[dict[str, Any]] = []
        self._limit = ""

    async def run(self) -> Result:
        """Return the model and what it finds on its pages, or the fields of the pages.

        Raises
        ------
        UsageError : the examples are wrong.
        DomsieveError : no page can be read, or the page of an example cannot.
        """
        known = await self._run(self._known_pages)
        outcomes = await self._loaded()
        result: Result = await self._run(partial(self._worked, outcomes, known))
        return result

    async def _loaded(self) -> dict[str, PageRecord | DomsieveError]:
        request, bench = self._request, self._bench
        options, quota = request.capture_options(), bench.site
        egress = bench.browsing.egress.metered(quota.size_bytes)
        client = self._claim.job.client
        async with (
            Proxy(egress) as proxy,
            job_pages(
                bench.browsing,
                bench.loads,
                options,
                request.budget(),
                client=client,
                context=f"{client} {self._claim.job.id}",
                pages=bench.pages,
                since=request.since(),
                proxy=proxy,
                quota=quota,
            ) as source,
        ):

            async def render(urls: list[str]) -> AsyncGenerator[Outcome]:
                self._done = self._total - len(urls)
                try:
                    async with asyncio.timeout(quota.time_s) as limit:
                        async for url, outcome in source.render_many(urls):
                            if isinstance(outcome, DomsieveError):
                                await self._run(partial(self._event, url, outcome))
                            yield url, outcome
                except TimeoutError:
                    if not limit.expired():
                        raise
                    self._limit = quota.sentence("time")
                else:
                    if egress.is_used_up:
                        self._limit = quota.sentence("bytes")

            return await get_pages(
                request.pages(),
                render,
                find=lambda url: known_capture(request, url, options, self._claim, bench),
                keep=self._kept,
                guard=bench.browsing.egress,
                must_resolve=True,
                run=self._run,
            )

    def _kept(self, rendering: Any, site: str) -> PageRecord:
        record = keep_capture(rendering, site, self._claim, self._bench)
        self._event(record.url, record)
        return record

    def _event(self, url: str, outcome: PageRecord | DomsieveError) -> None:
        self._done += 1
        facts: dict[str, Any] = {"url": url[:_LONGEST], "done": self._done, "total": self._total}
        pages: list[UsedPage] = []
        if isinstance(outcome, PageRecord):
            kind, said = "page", url
            facts["nodes"] = outcome.nodes
            pages.append(used_page(outcome, self._claim))
        else:
            kind, said = "page_failed", f"{url} failed: {problem_of(outcome)['detail']}"
        facts["said"] = said[:_LONGEST]
        self._bench.queue.event(self._claim, kind, facts, done=self._done, total=self._total, pages=pages)

    def _known_pages(self) -> list[PageRecord]:
        """Return the captures of the site that earlier jobs of the client used, the newest first.

        A page that was redirected to another site is left out, because that site may be forbidden now.
        """
        request, bench, claim = self._request, self._bench, self._claim
        if not request.known_pages:
            return []
        site, named = site_of(request.url), {*request.pages()}
        own = bench.queue.page_ids(claim.job.client, site)
        records = [
            record
            for record in site_records(site, bench.pages(), request.capture_options())
            if record.page_id in own and record.url not in named and site_of(record.final_url) == site
        ]
        records.sort(key=lambda record: (record.captured_at, record.page_id), reverse=True)
        held: list[PageRecord] = []
        for record in records:
            if len(held) == request.known_pages:
                break
            if bench.queue.captures.hold_again(claim, record.page_id):
                held.append(record)
        return held

    def _worked(self, outcomes: dict[str, PageRecord | DomsieveError], known: list[PageRecord]) -> Result:
        request, store = self._request, self._bench.pages()
        self._bench.queue.event(
            self._claim, "stage", {"stage": "analyse"}, done=self._done, total=self._total
        )
        found = [*outcomes.values()]
        records = [one for one in found if isinstance(one, PageRecord)] + known
        for url, outcome in outcomes.items():
            if isinstance(outcome, DomsieveError):
                self._failed(url, outcome)
        pages: dict[str, Page] = {}
        selection = request.selection() if isinstance(request, FieldsRequest) else None
        for page in numbered(from_record(record, store) for record in records):
            whole = replace(page, keep_errors=request.keep_errors)
            pages.setdefault(page.label, with_selection(whole, selection))
        if isinstance(request, LearnFieldsRequest):
            summary, files = self._learned(request, pages, outcomes)
        else:
            summary, files = self._extracted(request, [*pages.values()])
        summary = {
            "url": request.url,
            **summary,
            "failed": len(self._failures),
            "failures": self._failures[:_MOST_FAILURES],
            "complete": not self._limit,
            "reasons": [self._limit] if self._limit else [],
            "remarks": [*([self._limit] if self._limit else []), *summary["remarks"]],
        }
        return Result(summary, files, [used_page(record, self._claim) for record in records])

    def _failed(self, url: str, error: DomsieveError) -> None:
        self._failures.append({"url": url[:_LONGEST], **problem_of(error)})

    def _learned(
        self,
        request: LearnFieldsRequest,
        pages: dict[str, Page],
        outcomes: dict[str, PageRecord | DomsieveError],
    ) -> tuple[dict[str, Any], list[NewFile]]:
        """Return the model and the values that it finds on the pages it was learned from, those of examples first."""
        examples = request.parsed()
        for example in examples:
            error = outcomes.get(example.page)
            if isinstance(error, DomsieveError):
                raise error
        own = {number: pages[one.page] for number, one in enumerate(examples) if one.page in pages}
        theirs = {one.page for one in examples}
        others = [page for label, page in pages.items() if label not in theirs]
        model = learn_from(examples, own, others, failed=lambda page, error: self._failed(page.label, error))
        sheets = [*self._sheets([*pages.values()], model, None)]
        facts = model_facts(model)
        return {
            "examples": model.examples,
            "learned_from": model.pages,
            "fields": {
                name: f"found in {one['found']} of {one['of']}" for name, one in facts["fields"].items()
            },
            "remarks": [],
        }, [
            NewFile(MODEL_FILE, "application/json", fields_model_to_bytes(model)),
            NewFile(_TABLE_FILE, "application/jsonl", write_fields(sheets, "jsonl")),
        ]

    def _extracted(self, request: FieldsRequest, pages: list[Page]) -> tuple[dict[str, Any], list[NewFile]]:
        model = None if request.model is None else fields_model_from_bytes(request.model.encode())
        watch = None if model is None else FieldWatch(model)
        sheets = [*self._sheets(pages, model, watch)]
        if not sheets:
            only = (
                self._failures[0]["detail"]
                if len(self._failures) == 1
                else "None of the pages could be read."
            )
            raise PageError(only, url=request.url)
        with spending_on_site("write", pages=len(sheets)):
            data = write_fields(sheets, request.format)
        rows = [row for sheet in sheets for row in sheet.rows]
        entry = RECORD_FORMATS[request.format]
        found = {
            name: f"found in {sum(name in row and row[name].value is not None for row in rows)} of {len(rows)}"
            for name in (PRODUCT_FIELDS if model is None else model.fields)
        }
        alarms = [] if watch is None else [f"{alarm}. Learn the fields again." for alarm in watch.alarms()]
        summary = {"format": request.format, "records": len(rows), "fields": found, "remarks": alarms}
        return summary, [
            NewFile(f"fields{entry.ending}", entry.media_type, data),
            *self._shown(request, pages),
        ]

    def _shown(self, request: FieldsRequest, pages: list[Page]) -> Iterator[NewFile]:
        """Yield the page of the request as a document in which a person can click values, if it could be read."""
        for page in pages:
            if page.label == request.url and all(one["url"] != page.label for one in self._failures):
                with page.at_work("fields"):
                    yield NewFile(PAGE_FILE, "text/html; charset=utf-8", picking_page(page.read()))

    def _sheets(
        self, pages: list[Page], model: FieldsModel | None, watch: FieldWatch | None
    ) -> Iterator[FieldSheet]:
        for page, result in extract_fields(pages, model, watch):
            if self._stopped.is_set():
                return
            if isinstance(result, DomsieveError):
                if all(one["url"] != page.label for one in self._failures):
                    self._failed(page.label, result)
            else:
                yield result
