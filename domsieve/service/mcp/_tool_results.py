"""Convert jobs to answers of tools: text for models, facts for programs, and errors.

Some clients show models only the text, others only the facts, so both are complete.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Any

from domsieve.service.jobs.job_values import OF_SITES, Job, JobFile
from domsieve.service.jobs.stores import SiteStore
from domsieve.service.web.problems import Problem, job_problem

_CHUNK = 65_536
_LONGEST_URL, _LONGEST_TITLE = 500, 200
_FAILURES = 50
_OF_PAGE = ("rendered", "reason", "expected_f1", "site_pages", "complete", "marks", "warnings", "remarks")
# Ids of captures are useless to callers of tools; the other values are reported in another form.
_UNSHOWN = frozenset(
    {"page_id", "pages", "failed", "marked", "site", "ended", "skipped_by_robots", "blocks", "failures"}
)

_PAGE_COUNTS = ("added", "changed", "moved", "gone", "unchanged")

OUTPUT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "state": {
            "type": "string",
            "enum": ["queued", "running", "done", "failed", "cancelled", "refused"],
            "description": "done: text has the result. queued, running: ask get_result for the job.",
        },
        "job": {"type": "string", "description": "For get_result."},
        "text": {"type": "string", "description": "The result, or a part of it."},
        "next_offset": {
            "type": ["integer", "null"],
            "description": "Where the text goes on, for get_result; null at its end.",
        },
        "url": {"type": "string"},
        "final_url": {"type": "string", "description": "Where the address led to."},
        "status": {
            "type": ["integer", "null"],
            "description": "Of HTTP; null where nobody answered with one.",
        },
        "rendered": {"type": "boolean", "description": "False: the page was only fetched; reason says why."},
        "reason": {
            "type": ["string", "null"],
            "description": "Why the page was rendered or only fetched; null where every page is rendered.",
        },
        "method": {"type": "string"},
        "expected_f1": {
            "type": ["number", "null"],
            "description": "Word F1 that results have on average which look as sure as this one; null: not known.",
        },
        "site_pages": {
            "type": "integer",
            "description": "Pages of the site, this one included, that the result was judged with; 0: alone.",
        },
        "complete": {
            "type": "boolean",
            "description": "False: the page, or the sample of a site, was cut; reasons says why.",
        },
        "extent": {
            "type": "string",
            "description": "How many pages the sample of a site has, why it ended, and what robots.txt forbids.",
        },
        "remarks": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What to know about the result.",
        },
        "metadata": {"type": "object", "description": "What the page says of itself."},
        "records": {"type": "integer"},
        "fields": {"type": "object", "description": "By name: on how many pages each field was found."},
        "run": {"type": "integer", "description": "Of a followed site: the number of the run, from 1."},
        **{kind: {"type": "integer", "description": f"Pages that are {kind}."} for kind in _PAGE_COUNTS},
        "stores": {"type": "array", "items": {"type": "object"}, "description": "Of list_stores."},
        "browser_needed": {"type": "boolean"},
        "recall": {"type": "number", "description": "Share of the content that the source shows."},
        "differing_texts": {
            "type": "integer",
            "description": "Texts that differ between two loads, with twice.",
        },
        "pages": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Of a site, in the order of the text.",
        },
        "failed": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Pages that failed, and why.",
        },
        "problem": {"type": "object", "description": "Why there is no result: detail, fault, retry."},
    },
    "required": ["state"],
}
"""JSON schema of the facts in every answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a tool.

    Parameters
    ----------
    texts : for models: the text of a result, and a line about it.
    facts : for programs: the same and all other values.
    is_error : whether there is no result.
    """

    texts: tuple[str, ...]
    facts: Mapping[str, Any]
    is_error: bool = False


def refused(problem: Problem) -> Answer:
    """Return the answer to a call that was refused before a job was created."""
    return _problem(problem, {"state": "refused"})


def unfinished(job: Job) -> Answer:
    """Return the answer while a job runs."""
    done = (
        f" {job.done_pages} of {job.total_pages} pages are done."
        if job.kind in OF_SITES and job.total_pages
        else ""
    )
    said = f"The job {job.id} is {job.state}.{done} Call get_result with it for the result."
    facts = {"state": job.state, "job": job.id, "done_pages": job.done_pages, "total_pages": job.total_pages}
    return Answer((said,), facts)


def failed(job: Job) -> Answer:
    """Return the answer of a job that failed or was cancelled."""
    facts = {"state": job.state, "job": job.id, "url": job.request.get("url", "")}
    if job.problem is None:
        return Answer(("The job was cancelled.",), facts, is_error=True)
    problem, _ = job_problem(job.id, job.problem)
    return _problem(problem, facts)


def done(job: Job, open_file: Callable[[str], IO[bytes]], *, offset: int, most: int) -> Answer:
    """Return the answer of a finished job: its facts, and its text from an offset on.

    Parameters
    ----------
    job : the job.
    open_file : opens a file of the job by its name.
    offset, most : characters to skip and to return.
    """
    facts: dict[str, Any] = {"state": job.state, "job": job.id}
    facts |= {name: value for name, value in (job.summary or {}).items() if name not in _UNSHOWN}
    text, next_offset = "", None
    with ExitStack() as stack:
        if job.kind in {"sync", "fields", "learn_fields"}:
            summary = job.summary or {}
            facts |= {"failed": summary.get("failures", []), "failed_pages": summary.get("failed", 0)}
        if job.kind == "site":
            index = json.loads(stack.enter_context(open_file("pages.json")).read())
            packed = zipfile.ZipFile(stack.enter_context(open_file("pages.zip")))
            text, next_offset = window(_site_texts(packed, index), offset, most)
            facts |= _site_facts(index)
        elif _is_text(job.files[0]):
            text, next_offset = window(
                _decoded(stack.enter_context(open_file(job.files[0].name))), offset, most
            )
        else:
            text = f"This result is a document for people: {job.files[0].name} of the job {job.id}."
    facts |= {"text": text, "next_offset": next_offset}
    return Answer((text, _about(facts)), facts)


def stores(found: Sequence[SiteStore]) -> Answer:
    """Return the answer that lists stores."""
    lines = [
        f"{store.name}: {store.url}, {store.pages:,} pages, {store.size_bytes:,} bytes, {store.runs} runs"
        + (f", the last ended {store.synced_at}" if store.synced_at else "")
        for store in found
    ]
    facts = [
        {
            "name": store.name,
            "url": store.url,
            "pages": store.pages,
            "size_bytes": store.size_bytes,
            "runs": store.runs,
            "synced_at": store.synced_at,
        }
        for store in found
    ]
    text = "\n".join(lines) or "There are no stores."
    return Answer((text,), {"state": "done", "text": text, "stores": facts})


def _is_text(file: JobFile) -> bool:
    kind = file.content_type.partition(";")[0]
    return file.name != "report.html" and (kind.startswith("text/") or "json" in kind)


def window(pieces: Iterable[str], offset: int, most: int) -> tuple[str, int | None]:
    """Return a part of a text that comes in pieces, and the offset of the next part; None at the end."""
    kept: list[str] = []
    at, end = 0, offset + most
    for piece in pieces:
        if at >= end:
            if piece:
                return "".join(kept), end
            continue
        kept.append(piece[max(0, offset - at) : end - at])
        at += len(piece)
    return "".join(kept), end if at > end else None


def _decoded(opened: IO[bytes]) -> Iterator[str]:
    text = io.TextIOWrapper(opened, encoding="utf-8", errors="replace", newline="")
    try:
        while piece := text.read(_CHUNK):
            yield piece
    finally:
        text.detach()  # the caller closes the file


def _site_texts(packed: zipfile.ZipFile, index: Mapping[str, Any]) -> Iterator[str]:
    pages = index["pages"]
    for number, page in enumerate(pages, 1):
        before = "" if number == 1 else "\n"
        yield f"{before}[page {number} of {len(pages)}: {page['url'][:_LONGEST_URL]}]\n\n"
        with packed.open(page["file"]) as opened:
            yield from _decoded(opened)


def _site_facts(index: Mapping[str, Any]) -> dict[str, Any]:
    pages = [
        {
            "url": page["url"][:_LONGEST_URL],
            "title": str((page.get("metadata") or {}).get("title") or "")[:_LONGEST_TITLE],
            **{name: page.get(name) for name in _OF_PAGE},
        }
        for page in index.get("pages", ())
    ]
    shown = ("url", "detail", "fault", "retry", "reason")
    failures = [{name: page[name] for name in shown if name in page} for page in index.get("failed", ())]
    return {
        "site": index.get("site", ""),
        "ended": index.get("ended", ""),
        "pages": pages,
        "failed": [{**page, "url": page["url"][:_LONGEST_URL]} for page in failures[:_FAILURES]],
        "failed_pages": len(failures),
    }


def _about(facts: Mapping[str, Any]) -> str:
    """Return a line about a result."""
    said = []
    if "browser_needed" in facts:
        said.append(
            "This page needs a browser." if facts["browser_needed"] else "This page needs no browser."
        )
        said.append(f"Its source shows {facts['recall']:.0%} of its content.")
    if "differing_texts" in facts:
        said.append(f"Texts that differ between two loads: {facts['differing_texts']}.")
    if "pages" in facts:
        said.append(f"{len(facts['pages'])} pages of {facts['site']}, {facts['failed_pages']} failed.")
        sure = [page["expected_f1"] for page in facts["pages"] if page["expected_f1"] is not None]
        said += [f"Expected F1 {min(sure)} to {max(sure)}."] if sure else []
    if "unchanged" in facts:
        counts = ", ".join(f"{facts[kind]} {kind}" for kind in _PAGE_COUNTS)
        said.append(
            f"Run {facts['run']} of the store {facts['store']}: {counts}, {facts['failed_pages']} failed."
        )
    if "fields" in facts:
        said.append(", ".join(f"{name}: {found}" for name, found in facts["fields"].items()) + ".")
    if "records" in facts:
        said.append(f"{facts['records']} records.")
    if facts.get("status") is not None:
        said.append(f"HTTP status {facts['status']}.")
    if facts.get("method"):
        said.append(f"Method {facts['method']}.")
    if facts.get("expected_f1") is not None:
        said.append(f"Expected F1 {facts['expected_f1']}.")
    said += [str(remark) for remark in facts.get("remarks") or ()]
    if facts["next_offset"] is not None:
        said.append(
            f"This is a part: get_result with job {facts['job']} and offset {facts['next_offset']} "
            "returns the next one."
        )
    return " ".join(said)


def _problem(problem: Problem, facts: Mapping[str, Any]) -> Answer:
    retry = " The same call may succeed later." if problem.retry else ""
    said = f"{problem.detail} (fault: {problem.fault}){retry}"
    return Answer((said,), {**facts, "problem": problem.model_dump(exclude_none=True)}, is_error=True)
