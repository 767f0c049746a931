"""Make the results of a job, a summary and files, from captures. Runs in threads and waits only for the disk."""

import io
import json
import logging
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from domsieve.analysis.block_types.detection import KindChoice
from domsieve.analysis.cleaning.hidden_text import hidden_words
from domsieve.analysis.columns.invisible import invisible_characters
from domsieve.analysis.fields.fields_model import fields_model_from_bytes
from domsieve.analysis.page_flags.flags import page_marks
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.formats import PAGE_FORMATS, RECORD_FORMATS, write_records
from domsieve.errors import BudgetError, DomsieveError, PageError
from domsieve.service._logs import log
from domsieve.service.jobs.job_values import NewFile, problem_of
from domsieve.service.jobs.requests import (
    CleanHtmlRequest,
    CleaningRequest,
    CleanRequest,
    CompareRequest,
    HtmlRequest,
    PageRequest,
    RecordsRequest,
    ReportRequest,
    SelectingRequest,
    SiteRequest,
)
from domsieve.snapshot.fault import fault_of
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.pixels import unsure_texts
from domsieve.snapshot.store import PageStore
from domsieve.tasks.file_names import file_names
from domsieve.tasks.page_cleaning import Cleaned, clean, metadata_of, written
from domsieve.tasks.page_comparison import advise, compare
from domsieve.tasks.page_report import of_record, report
from domsieve.tasks.pages import (
    Page,
    from_html,
    from_record,
    numbered,
    pages_like,
    site_records,
    with_selection,
)
from domsieve.tasks.postprocess import remarks
from domsieve.tasks.record_mining import mine
from domsieve.tasks.render_modes import NOT_JUDGED

# Pages that a site method learns from in a job about one page. A guess: more pages improve a method little, and every
# job reads and learns them again.
_SIBLINGS = 50
# Limit of the archive of a site, which is built in memory. A guess.
_LARGEST_BYTES = 200_000_000
# Characters of a URL in a summary, as many as in a request; a page can redirect to one of two million characters.
_LONGEST_URL = 8_192
_NOT_RENDERED = f"{NOT_JUDGED.capitalize()}."
# Reasons of a sample to end early although no limit was reached.
_CUT_SHORT = {"fruitless": "The last pages all failed or repeated others, so no more were opened."}
# A fixed date, so that archives of equal pages are equal.
_NO_DATE = (1980, 1, 1, 0, 0, 0)

Results = tuple[dict[str, Any], list[NewFile]]


@dataclass(frozen=True, slots=True)
class SitePages:
    """The sample of a site.

    Parameters
    ----------
    records : the captures.
    failures : the URL and problem of each page that failed.
    ended : why the sample ended: a reason of `SampleEnded` or the name of the limit that was reached.
    limit : a sentence about that limit; empty if none was reached.
    extent : how many pages the sample has and why it ended, for people; empty if a limit ended it.
    forbidden : number of known pages that robots.txt forbids.
    """

    records: list[PageRecord]
    failures: list[dict[str, Any]]
    ended: str
    limit: str = ""
    extent: str = ""
    forbidden: int = 0


def page_result(
    request: PageRequest,
    record: PageRecord,
    store: PageStore,
    known: AbstractSet[str],
    load: PageRecord | None = None,
) -> Results:
    """Return the summary and files of a job about one page.

    Parameters
    ----------
    request : the request of the job.
    record : the capture of the page.
    store : the store of the capture.
    known : the ids of captures of the site that this client's jobs used. Captures of other clients are not used.
    load : an earlier load of the page to compare with; None compares only with the raw version.

    Raises
    ------
    DomsieveError : the page cannot be read or has no content to work on.
    """
    facts = _facts(request, record, store)

    def siblings(_: str) -> list[PageRecord]:
        records = site_records(record.site, store, request.capture_options())
        others = [other for other in records if other.page_id in known and other.url != record.url]
        return sorted(others, key=lambda other: (other.captured_at, other.page_id))[-_SIBLINGS:]

    if isinstance(request, CleanRequest):

        def others(site: str) -> list[Page]:
            selection = request.selection()
            return [with_selection(page, selection) for page in pages_like(siblings(site), site, store)]

        said, files = _cleaned(request, _page_of(request, record, store), others)
    elif isinstance(request, RecordsRequest):
        said, files = _mined(request, _page_of(request, record, store))
    elif isinstance(request, CompareRequest):
        said, files = _compared(request, record, store, load)
    elif isinstance(request, ReportRequest):
        said, files = _reported(request, record, store, siblings)
    else:
        raise TypeError(f"A request of the kind {request.kind} is not about a single page.")
    found = {**facts, **said}
    return {**found, "remarks": [*_about_loading(request, facts["reason"]), *found["remarks"]]}, files


def html_result(request: HtmlRequest) -> Results:
    """Return the summary and files of a job about HTML in the request. Nothing else is kept of the page.

    Raises
    ------
    DomsieveError : the HTML cannot be read or has no content to work on.
    """
    whole = from_html(request.html, url=request.url, keep_errors=request.keep_errors)
    page = with_selection(whole, request.selection())
    with page.at_work("read"):
        snapshot = whole.read()
        facts = {
            "url": request.url,
            "status": None,  # no server sent it
            "fault": msgspec.to_builtins(fault_of(snapshot)),
            "marks": msgspec.to_builtins([*page_marks(snapshot)]),
            "remarks": remarks(snapshot),
            **_how_loaded(snapshot),
            "reason": NOT_JUDGED,
            "nodes": len(snapshot),
            "complete": snapshot.provenance.complete,
            "reasons": list(snapshot.provenance.reasons),
        }
    if isinstance(request, CleanHtmlRequest):
        said, files = _cleaned(request, page, lambda _: [])
    else:
        said, files = _mined(request, page)
    found = {**facts, **said}
    return {**found, "remarks": [_NOT_RENDERED, *found["remarks"]]}, files


def site_result(
    request: SiteRequest, pages: SitePages, store: PageStore, stopped: threading.Event
) -> Results:
    """Return the summary and files of a site job: an archive with one file per page, and a list of all pages.

    Parameters
    ----------
    request : the request of the job.
    pages : the sample of the site.
    store : the store of its captures.
    stopped : set when the job is cancelled; checked between two pages.

    Raises
    ------
    PageError : none of the pages could be cleaned.
    """
    by_label = {record.url: record for record in pages.records}
    listed: list[dict[str, Any]] = []
    failures = list(pages.failures)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        members = numbered(_page_of(request, record, store) for record in pages.records)
        names = file_names((page.key for page in members), ending=PAGE_FORMATS[request.format].ending)
        for page, result in _clean(request, members, lambda _: []):
            if stopped.is_set():
                break
            if isinstance(result, DomsieveError):
                failures.append({"url": page.label, **_problem(page.label, result)})
                continue
            name = names[page.key]
            if archive.tell() > _LARGEST_BYTES:
                detail = "It was left out: the archive is full."
                failures.append({"url": page.label, "detail": detail, "fault": "service"})
                continue
            try:
                text = _utf8(
                    written(
                        page, result, request.format, metadata=request.metadata, max_words=request.max_words
                    )
                )
                about = msgspec.to_builtins(metadata_of(page, result))
                with page.at_work("write"):
                    said = [
                        *_about_loading(request, result[0].provenance.reason),
                        *remarks(*result),
                    ]
            except BudgetError as error:
                failures.append({"url": page.label, **_problem(page.label, error)})
                continue
            packed.writestr(zipfile.ZipInfo(name, _NO_DATE), text, zipfile.ZIP_DEFLATED)
            record = by_label[page.label]
            listed.append(
                {
                    "url": page.label,
                    "file": name,
                    "complete": record.complete,
                    "page_id": record.page_id,
                    **_how_loaded(result[0]),
                    "expected_f1": _rounded(result[1].expected_f1),
                    "site_pages": result[1].site_pages,
                    "metadata": about,
                    "marks": msgspec.to_builtins([*result[1].marks]),
                    "warnings": msgspec.to_builtins([*result[1].warnings]),
                    "remarks": said,
                }
            )
    if not listed:
        raise PageError("None of the pages could be cleaned.")
    why = pages.limit or _CUT_SHORT.get(pages.ended, "")
    whole = {"complete": not why, "reasons": [f"{pages.ended}: {why}"] if why else []}
    index = {
        "site": pages.records[0].site,
        "ended": pages.ended,
        "extent": pages.extent,
        "skipped_by_robots": pages.forbidden,
        **whole,
        "pages": listed,
        "failed": failures,
    }
    files = [
        NewFile("pages.zip", "application/zip", archive.getvalue()),
        NewFile("pages.json", "application/json", _json(index)),
    ]
    return {
        "url": request.url,
        "site": pages.records[0].site,
        "pages": len(listed),
        "failed": len(failures),
        "marked": sum(bool(page["marks"]) for page in listed),
        "ended": pages.ended,
        "extent": pages.extent,
        "skipped_by_robots": pages.forbidden,
        **whole,
        "remarks": [f"This is a part of the sample. {why}"] if why else [],
    }, files


def _facts(request: PageRequest, record: PageRecord, store: PageStore) -> dict[str, Any]:
    snapshot = store.get(record.page_id)
    fault = fault_of(snapshot)
    if fault and not request.keep_errors:
        raise fault.error(record.url)
    return {
        "url": record.url,
        "final_url": record.final_url[:_LONGEST_URL],
        "status": snapshot.provenance.status,
        "fault": msgspec.to_builtins(fault),
        "marks": msgspec.to_builtins([*page_marks(snapshot)]),
        "remarks": remarks(snapshot),
        **_how_loaded(snapshot),
        "page_id": record.page_id,
        "captured_at": record.captured_at,
        "nodes": record.nodes,
        "complete": record.complete,
        "reasons": list(record.reasons),
    }


def _how_loaded(page: Snapshot) -> dict[str, Any]:
    """Return whether a page was rendered, and why or why not; null if it always is."""
    return {"rendered": page.has_layout, "reason": page.provenance.reason or None}


def _about_loading(request: PageRequest, reason: str | None) -> list[str]:
    """Return what readers of a result have to know about how the page was loaded, one sentence each.

    Parameters
    ----------
    reason : why the page was rendered or not; None if it always is.
    """
    name = request.needing_browser()
    said = [f"Rendered, because {name} needs a browser."] if name else []
    return [*said, *([_NOT_RENDERED] if reason == NOT_JUDGED else [])]


def _page_of(request: PageRequest, record: PageRecord, store: PageStore) -> Page:
    page = replace(from_record(record, store), keep_errors=request.keep_errors)
    return with_selection(page, request.selection() if isinstance(request, SelectingRequest) else None)


def _clean(
    request: CleaningRequest, pages: list[Page], siblings: Callable[[str], list[Page]]
) -> Iterator[Cleaned]:
    kinds = KindChoice.of(request.keep_kinds, request.drop_kinds)
    return clean(
        pages,
        method=request.method,
        params=request.method_params(),
        hidden=request.hidden,
        kinds=kinds,
        siblings=siblings,
    )


def _cleaned(request: CleanRequest, page: Page, siblings: Callable[[str], list[Page]]) -> Results:
    ((page, result),) = _clean(request, [page], siblings)
    if isinstance(result, DomsieveError):
        raise result
    text = _written(request, page, result)
    verdict = result[1]
    with page.at_work("write"):
        removed = invisible_characters(result[0], verdict.kept)
    said = {
        "method": verdict.method,
        "instead_of": verdict.instead_of or None,
        "expected_f1": _rounded(verdict.expected_f1),
        "site_pages": verdict.site_pages,
        "format": request.format,
        "hidden_words": hidden_words(*result),
        "unsure_texts": unsure_texts(result[0]),
        "invisible_characters": removed,
        "metadata": msgspec.to_builtins(metadata_of(page, result)),
        "marks": msgspec.to_builtins([*verdict.marks]),
        "warnings": msgspec.to_builtins([*verdict.warnings]),
        "remarks": remarks(*result),
    }
    entry = PAGE_FORMATS[request.format]
    return said, [NewFile(f"page{entry.ending}", entry.media_type, _utf8(text))]


def _written(request: CleaningRequest, page: Page, result: tuple[Snapshot, Verdict]) -> str:
    return written(page, result, request.format, metadata=request.metadata, max_words=request.max_words)


def _mined(request: RecordsRequest, page: Page) -> Results:
    ((page, result),) = mine(
        [page], method=request.method, params=request.method_params(), fields=request.fields
    )
    if isinstance(result, DomsieveError):
        raise result
    with page.at_work("write"):
        data = write_records([result], request.format)
    said = {"method": request.method, "format": request.format, "records": len(result.records)}
    entry = RECORD_FORMATS[request.format]
    return said, [NewFile(f"records{entry.ending}", entry.media_type, data)]


def _compared(
    request: CompareRequest, record: PageRecord, store: PageStore, load: PageRecord | None
) -> Results:
    loads = {record.url: load} if load else {}
    pages = compare([record], store, keep_errors=request.keep_errors, loads=loads)
    (result,) = (page.result for page in pages)
    if isinstance(result, DomsieveError):
        raise result
    advice = advise([(record.url, result)])[0]
    said = {"browser_needed": advice.browser_needed, "recall": advice.recall}
    if result.loads is not None:
        said["differing_texts"] = len(result.loads.blocks)
    facts = {"url": record.url, **msgspec.to_builtins(result), **said}
    return said, [NewFile("comparison.json", "application/json", _json(facts))]


def _reported(
    request: ReportRequest, record: PageRecord, store: PageStore, siblings: Callable[[str], list[PageRecord]]
) -> Results:
    problems: list[str] = []

    def others(site: str) -> list[Any]:
        return [of_record(from_record(other, store), other, store) for other in siblings(site)]

    whole, pages = report(
        [of_record(_page_of(request, record, store), record, store)],
        siblings=others,
        failed=lambda page, error: problems.append(_problem(page.label, error)["detail"]),
        model=None if request.model is None else fields_model_from_bytes(request.model.encode()),
    )
    return {"pages": pages, "problems": problems}, [NewFile("report.html", "text/html; charset=utf-8", whole)]


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 3)


def _problem(url: str, error: DomsieveError) -> dict[str, Any]:
    """Return why a page was left out. Details with paths of the service go only to the log."""
    problem = problem_of(error)
    if problem["fault"] == "service":
        log("page_left_out", level=logging.ERROR, url=url, detail=error.message)
    return problem


def _json(facts: Mapping[str, Any]) -> bytes:
    return json.dumps(facts, ensure_ascii=True, indent=1).encode("ascii")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
