"""The responses of the API, besides problems."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from domsieve.errors import FaultReason
from domsieve.service.jobs.job_request import JobKind
from domsieve.service.jobs.job_values import Fault, Job, JobFile, JobState, UsedPage
from domsieve.service.jobs.requests import shown
from domsieve.service.jobs.stores import SiteStore
from domsieve.service.web.problems import REASON_HELP, fault_of, reason_of
from domsieve.tasks.file_names import MANIFEST
from domsieve.tasks.site_sync.change_log import CHANGES, FEED, PAGE

TEXT_LIMIT_BYTES = 1_000_000


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FileView(_Answer):
    """A result that can be downloaded."""

    name: Annotated[str, Field(examples=["page.md"])]
    content_type: Annotated[str, Field(examples=["text/markdown; charset=utf-8"])]
    size_bytes: Annotated[int, Field(ge=0)]
    url: Annotated[str, Field(description="path on this service")]


class ProblemOfJob(_Answer):
    """Why a job failed."""

    title: str
    detail: str
    fault: Annotated[Fault, Field(description="whose fault it was")]
    retry: Annotated[bool, Field(description="whether the same request may succeed later")]
    stage: Annotated[str | None, Field(description="what was being done to the page")] = None
    reason: Annotated[FaultReason | None, Field(description=REASON_HELP)] = None


class JobView(_Answer):
    """A job. Times are in UTC, in ISO 8601."""

    id: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    kind: JobKind
    state: JobState
    request: Annotated[dict[str, Any], Field(description="what was asked, defaults included")]
    created_at: str
    started_at: str | None
    ended_at: str | None
    attempts: Annotated[int, Field(ge=0, description="how often a worker started it")]
    done_pages: Annotated[int, Field(ge=0)]
    total_pages: Annotated[int | None, Field(ge=0, description="null while it is not known")]
    problem: ProblemOfJob | None
    summary: Annotated[
        dict[str, Any] | None,
        Field(
            description="what was found, in numbers; of a clean job also the `metadata` of the page; `fault`, "
            "`marks` and `remarks` say what is wrong with it"
        ),
    ]
    files: list[FileView]
    url: Annotated[str, Field(description="path of this job on this service")]


class JobResult(JobView):
    """A finished job, with its result if that is text of up to 1 MB."""

    content: Annotated[str | None, Field(description="the first file; null for reports and large results")]


class JobList(_Answer):
    """Jobs, newest first."""

    jobs: list[JobView]
    next: Annotated[str | None, Field(description="path of the next part of the list")]


class PageView(_Answer):
    """A capture that a job of this client used."""

    page_id: str
    url: str
    site: str
    captured_at: str
    nodes: Annotated[int, Field(ge=0)]
    complete: Annotated[bool, Field(description="false where the page ran out of its budget")]
    job: Annotated[str, Field(description="id of the job that last used it")]


class PageList(_Answer):
    """Captures, newest first."""

    pages: list[PageView]
    next: Annotated[str | None, Field(description="path of the next part of the list")]


class StoreView(_Answer):
    """A store: the pages of a site that is followed. Times are in UTC, in ISO 8601."""

    name: str
    site: Annotated[str, Field(description="address of the site")]
    created_at: str
    synced_at: Annotated[str | None, Field(description="end of the last finished run; null before the first")]
    runs: Annotated[int, Field(ge=0, description="number of finished runs")]
    pages: Annotated[int, Field(ge=0)]
    size_bytes: Annotated[int, Field(ge=0, description="after the last finished run")]
    job: Annotated[str | None, Field(description="id of the job that waits for it or uses it")]
    url: Annotated[str, Field(description="path of this store on this service")]
    files: Annotated[list[str], Field(description="paths of its list of pages, and of its changes")]


class StoreList(_Answer):
    """Stores, by name."""

    stores: list[StoreView]


class SiteLimits(_Answer):
    """The limits of a job for a site. A job that reaches one ends with the pages that it has."""

    pages: Annotated[
        int, Field(ge=1, description="pages that it may open, failed and repeated ones included")
    ]
    bytes: Annotated[int, Field(ge=1, description="what may pass for it, both ways together")]
    seconds: Annotated[float, Field(gt=0, description="how long it may open pages")]


class LimitsView(_Answer):
    """The limits of this service for a client."""

    requests_per_minute: Annotated[int, Field(ge=1)]
    jobs: Annotated[int, Field(ge=1, description="jobs of one client that may wait or run")]
    stores: Annotated[int, Field(ge=0, description="stores of one client")]
    store_bytes: Annotated[int, Field(ge=1, description="how large a store may become")]
    site: SiteLimits


class Health(_Answer):
    """Whether the service works."""

    status: Literal["ok", "failing"]


def job_path(job: Job) -> str:
    """Return the path of a job in the API."""
    return f"/v1/jobs/{job.id}"


def view_of(job: Job) -> JobView:
    """Return the response for a job."""
    return JobView(**_facts(job))


def result_of(job: Job, content: bytes | None) -> JobResult:
    """Return the response for a finished job with its text, if it has one."""
    return JobResult(**_facts(job), content=None if content is None else content.decode("utf-8", "replace"))


def page_view_of(page: UsedPage) -> PageView:
    """Return the response for a capture."""
    return PageView.model_validate(page, from_attributes=True)


def store_view_of(store: SiteStore) -> StoreView:
    """Return the response for a store."""
    path = f"/v1/stores/{store.name}"
    return StoreView(
        name=store.name,
        site=store.url,
        created_at=store.created_at,
        synced_at=store.synced_at,
        runs=store.runs,
        pages=store.pages,
        size_bytes=store.size_bytes,
        job=store.job,
        url=path,
        files=[f"{path}/files/{name}" for name in (MANIFEST, CHANGES, PAGE, FEED)] if store.runs else [],
    )


def text_file(job: Job) -> JobFile | None:
    """Return the first file of a job if it is a short text and not a document; else None."""
    first = first_text(job)
    return first if first is not None and first.size_bytes <= TEXT_LIMIT_BYTES else None


def first_text(job: Job) -> JobFile | None:
    """Return the first file of a job if it is a text of any length and not a document; else None."""
    if not job.files or job.kind == "report":
        return None
    first = job.files[0]
    kind = first.content_type.partition(";")[0].strip()
    is_text = kind.startswith("text/") or kind in {
        "application/json",
        "application/x-ndjson",
        "application/jsonl",
    }
    return first if is_text else None


def _facts(job: Job) -> dict[str, Any]:
    problem = job.problem
    return {
        "id": job.id,
        "kind": job.kind,
        "state": job.state,
        "request": shown(job.request),
        "created_at": job.created_at,
        "started_at": job.started_at,
        "ended_at": job.ended_at,
        "attempts": job.attempts,
        "done_pages": job.done_pages,
        "total_pages": job.total_pages,
        "problem": None
        if problem is None
        else ProblemOfJob(
            title=str(problem.get("title", "")),
            detail=str(problem.get("detail", "")),
            fault=fault_of(problem),
            retry=bool(problem.get("retry")),
            stage=problem.get("stage"),
            reason=reason_of(problem),
        ),
        "summary": None if job.summary is None else dict(job.summary),
        "files": [
            FileView(
                name=file.name,
                content_type=file.content_type,
                size_bytes=file.size_bytes,
                url=f"{job_path(job)}/files/{file.name}",
            )
            for file in job.files
        ],
        "url": job_path(job),
    }
