"""API routes that create and show jobs, and send their results."""

import re
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Header, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BeforeValidator, ValidationError

from domsieve.service.jobs.field_requests import PAGE_FILE
from domsieve.service.jobs.job_request import JobRequest
from domsieve.service.jobs.job_values import Job, JobState
from domsieve.service.jobs.request_fields import Url
from domsieve.service.jobs.requests import (
    CleanRequest,
    CompareRequest,
    FieldsRequest,
    LearnFieldsRequest,
    RecordsRequest,
    ReportRequest,
    SiteRequest,
)
from domsieve.service.web.downloads import (
    JSON,
    TEXTS,
    Download,
    EventStream,
    agreed,
    headers_of,
    in_format,
    offered_by,
    offered_of,
)
from domsieve.service.web.gateway import Gateway
from domsieve.service.web.guard import with_policy
from domsieve.service.web.openapi import CLEAN, COMPARE, FIELDS, LEARN_FIELDS, RECORDS, REPORT, SITE, problems
from domsieve.service.web.problems import Invalid, ProblemError, job_problem, problem_response
from domsieve.service.web.schemas import (
    JobList,
    JobResult,
    JobView,
    LimitsView,
    PageList,
    SiteLimits,
    job_path,
    page_view_of,
    result_of,
    text_file,
    view_of,
)
from domsieve.tasks.site_sync.change_log import PAGE

_WHOLE = re.compile("[0-9]{1,16}")


def _digits(value: object) -> object:
    """Refuse texts with other characters than digits, such as signs and underscores, which `int` accepts."""
    if isinstance(value, str) and not _WHOLE.fullmatch(value):
        raise ValueError("Write a whole number in digits")
    return value


JobId = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="id of a job")]
FileName = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", description="name of a file")]
Limit = Annotated[int, Query(ge=1, le=200, description="how many at most"), BeforeValidator(_digits)]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern="^[!-~]{1,255}$",
        description="The same key with the same request gives the same job, so that a request may be repeated.",
    ),
]
Prefer = Annotated[
    str | None,
    Header(description="`wait=N`: seconds to wait for the result, 0 to 60; `respond-async`: do not wait."),
]
_LONGEST_WAIT_S = 60
_WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,4})\"?(?=$|[,;\s])", re.ASCII)
_ASYNC = re.compile(r"(?:^|[,;\s])respond-async(?=$|[,;\s])")
_RESULT: dict[str, Any] = {
    "model": JobResult,
    "description": "The job is done; `content` holds its result.",
}
_RESULT_OR_TEXT: dict[str, Any] = {
    **_RESULT,
    "description": "The job is done. As JSON it is described and `content` holds its result; where the Accept header "
    "asks for text or Markdown, the answer is the result itself, without a limit of its length.",
    "content": {kind: {"schema": {"type": "string"}} for kind in TEXTS},
}
_CALL: dict[int | str, dict[str, Any]] = {
    200: _RESULT,
    202: {"model": JobView, "description": "The job is not done yet; Location says where it is."},
    **problems(400, 401, 403, 404, 406, 408, 409, 413, 414, 421, 422, 429, 500, 502, 503, 504),
}
_CLEAN = {**_CALL, 200: _RESULT_OR_TEXT}
_READ = problems(401, 403, 404, 414, 421, 422, 429, 500, 503)
_CHANGE = problems(400, 401, 403, 404, 408, 413, 414, 421, 422, 429, 500, 503)


def only_known(request: Request) -> None:
    """Refuse query parameters that a route does not have, because they would be ignored.

    Raises
    ------
    ProblemError : there is an unknown one.
    """
    known = {parameter.alias for parameter in request.scope["route"].dependant.query_params}
    if unknown := sorted(set(request.query_params) - known):
        errors = [
            Invalid(where=f"query.{name}"[:200], what="This is not known here") for name in unknown[:20]
        ]
        hint = ""
        if "url" in known:
            hint = (
                " Options go by POST, the format by Accept."
                " If they belong to url, write & in it as %26; curl -G --data-urlencode does."
            )
        raise ProblemError(422, f"The address has unknown parameters.{hint}", errors=errors)


def wait_of(prefer: str | None, *, default: int) -> int:
    """Return the seconds to wait from a Prefer header (RFC 7240); unknown preferences are ignored."""
    if prefer is None:
        return default
    if found := _WAIT.search(prefer):
        return min(int(found[1]), _LONGEST_WAIT_S)
    return 0 if _ASYNC.search(prefer) else default


def _ordered(offered: list[str], *, text_first: bool) -> list[str]:
    """Return media types with JSON last, if text comes first."""
    return [*(kind for kind in offered if kind != JSON), JSON] if text_first else offered


def accepted(job: Job) -> Response:
    """Return the response for a job that goes on."""
    return JSONResponse(view_of(job).model_dump(), status_code=202, headers={"Location": job_path(job)})


def api(gateway: Gateway) -> APIRouter:
    """Return the routes under ``/v1`` for jobs."""
    router = APIRouter(prefix="/v1", dependencies=[Depends(only_known)])

    async def call(
        request: Request, asked: JobRequest, key: str | None, seconds: int, *, text_first: bool = False
    ) -> Response:
        kind = agreed(request.headers.get("accept"), _ordered(offered_by(asked), text_first=text_first))
        job = await gateway.add(in_format(asked, kind), client=request.state.client, key=key)
        return await answer(request, job, seconds, text_first=text_first)

    async def answer(request: Request, job: Job, seconds: int, *, text_first: bool = False) -> Response:
        """Wait for a job up to a number of seconds, and return the response."""
        ended = await gateway.ended(job, seconds=seconds, is_gone=request.is_disconnected)
        if ended is None:
            return Response(status_code=499)  # the client is gone; the job continues
        location = {"Location": job_path(ended)}
        if not ended.has_ended:
            return accepted(ended)
        if ended.state == "cancelled":
            raise ProblemError(409, "The job was cancelled.", headers=location)
        if ended.problem is not None:
            problem, headers = job_problem(ended.id, ended.problem)
            return problem_response(problem, {**headers, **location})
        kind = agreed(request.headers.get("accept"), _ordered(offered_of(ended), text_first=text_first))
        if kind != JSON:
            file = ended.files[0]
            headers = {**headers_of(file), **location}
            if request.state.head:
                return Response(media_type=file.content_type, headers=headers)
            return Download(
                gateway,
                lambda: gateway.store.open(ended.id, ended.client, file.name)[1],
                client=ended.client,
                media_type=file.content_type,
                headers=headers,
            )
        shown = text_file(ended)
        content = None
        if shown is not None:
            content = await gateway.ask(gateway.store.read, ended.id, ended.client, shown.name)
        return JSONResponse(result_of(ended, content).model_dump(), headers=location)

    def seconds_of(prefer: str | None) -> int:
        return wait_of(prefer, default=gateway.settings.wait_s)

    @router.post("/clean", summary="Clean a page", tags=["pages"], responses=_CLEAN)
    async def clean(
        request: Request,
        asked: Annotated[CleanRequest, Body(openapi_examples=CLEAN)],
        key: Key = None,
        prefer: Prefer = None,
    ) -> Response:
        """Render a page and return its content without menus, adverts and footers.

        With `Accept: text/plain` or `text/markdown`, the response is the text itself instead of JSON. It also selects
        the format if `format` is not given.
        """
        return await call(request, asked, key, seconds_of(prefer))

    @router.get(
        "/clean",
        summary="Clean a page from the command line",
        tags=["pages"],
        responses={k: v for k, v in _CLEAN.items() if k not in {408, 413}},  # 400: its address fills the head
    )
    async def clean_address(
        request: Request, url: Annotated[Url, Query()], prefer: Prefer = None
    ) -> Response:
        """Render a page and return its content as Markdown: `curl -G SERVICE/v1/clean --data-urlencode url=ADDRESS`.

        Everything else has its default. `Accept: text/plain` and `application/json` choose another answer. For
        commands only: requests of browsers are refused, and a token counts only in the Authorization header.
        """
        try:
            asked = CleanRequest(url=url)
        except ValidationError as error:
            raise RequestValidationError(
                [{**one, "loc": ("query", *one["loc"])} for one in error.errors()]
            ) from error
        return await call(request, asked, None, seconds_of(prefer), text_first=True)

    @router.post("/records", summary="Find the records of a page", tags=["pages"], responses=_CALL)
    async def records(
        request: Request,
        asked: Annotated[RecordsRequest, Body(openapi_examples=RECORDS)],
        key: Key = None,
        prefer: Prefer = None,
    ) -> Response:
        """Render a page and return its records, such as products or search results."""
        return await call(request, asked, key, seconds_of(prefer))

    @router.post("/fields", summary="Find the fields of pages", tags=["pages"], responses=_CALL)
    async def fields(
        request: Request,
        asked: Annotated[FieldsRequest, Body(openapi_examples=FIELDS)],
        key: Key = None,
        prefer: Prefer = None,
    ) -> Response:
        """Render pages and return their fields by a model, or without one those of the product of each page."""
        return await call(request, asked, key, seconds_of(prefer))

    @router.post("/fields/learn", summary="Learn fields from examples", tags=["pages"], responses=_CALL)
    async def learn_fields(
        request: Request,
        asked: Annotated[LearnFieldsRequest, Body(openapi_examples=LEARN_FIELDS)],
        key: Key = None,
        prefer: Prefer = None,
    ) -> Response:
        """Learn fields from one to three example pages and other pages of the site, and return the model.

        The second file has what the model finds on these pages.
        """
        return await call(request, asked, key, seconds_of(prefer))

    @router.post("/compare", summary="Compare a page with its source", tags=["pages"], responses=_CALL)
    async def compare(
        request: Request,
        asked: Annotated[CompareRequest, Body(openapi_examples=COMPARE)],
        key: Key = None,
        prefer: Prefer = None,
    ) -> Response:
        """Compare a rendered page with its raw source, and say whether a browser is needed."""
        return await call(request, asked, key, seconds_of(prefer))

    @router.post("/report", summary="Report on a page", tags=["pages"], responses=_CALL)
    async def report(
        request: Request,
        asked: Annotated[ReportRequest, Body(openapi_examples=REPORT)],
        key: Key = None,
        prefer: Prefer = None,
    ) -> Response:
        """Create an HTML report that shows what each method keeps of a page, and why."""
        return await call(request, asked, key, seconds_of(prefer))

    @router.post(
        "/sites",
        summary="Sample and clean a site",
        tags=["sites"],
        status_code=202,
        response_model=JobView,
        responses={k: v for k, v in _CALL.items() if k not in {200, 502, 504}},
    )
    async def sites(
        request: Request,
        asked: Annotated[SiteRequest, Body(openapi_examples=SITE)],
        key: Key = None,
    ) -> Response:
        """Render a random sample of the pages of a site and clean all of them. Returns the job at once."""
        job = await gateway.add(asked, client=request.state.client, key=key)
        return accepted(job)

    @router.get("/jobs", summary="List jobs", tags=["jobs"], responses=_READ)
    async def jobs(
        request: Request,
        state: Annotated[JobState | None, Query(description="only those that stand there")] = None,
        before: Annotated[
            str | None, Query(pattern="^[0-9a-f]{32}$", description="id of a job; only older ones")
        ] = None,
        limit: Limit = 50,
    ) -> JobList:
        """Return the jobs of this client, newest first."""
        found = await gateway.ask(
            gateway.store.list, request.state.client, state=state, before=before, limit=limit
        )
        more = f"/v1/jobs?before={found[-1].id}&limit={limit}" if len(found) == limit else None
        if more and state:
            more += f"&state={state}"
        return JobList(jobs=[view_of(job) for job in found], next=more)

    @router.get("/jobs/{job}", summary="Show a job", tags=["jobs"], responses=_READ)
    async def one(request: Request, job: JobId) -> JobView:
        """Return a job."""
        return view_of(await gateway.ask(gateway.store.get, job, request.state.client))

    @router.get(
        "/jobs/{job}/result",
        summary="Fetch the result of a job",
        tags=["jobs"],
        responses={
            200: _RESULT_OR_TEXT,
            202: _CALL[202],
            **problems(401, 403, 404, 406, 409, 414, 421, 422, 429, 500, 502, 503, 504),
        },
    )
    async def result(request: Request, job: JobId, prefer: Prefer = None) -> Response:
        """Return the result of a job: JSON, or text or Markdown if the Accept header asks for it."""
        found = await gateway.ask(gateway.store.get, job, request.state.client)
        return await answer(request, found, wait_of(prefer, default=0))

    @router.get(
        "/jobs/{job}/events",
        summary="Follow a job",
        tags=["jobs"],
        response_class=StreamingResponse,
        responses={
            200: {
                "content": {"text/event-stream": {}},
                "description": "Server-sent events: each has the number of the event as id and as data a JSON "
                "object of `number`, `at`, `kind` and `data`. The stream ends with the job.",
            },
            204: {"description": "The job has ended and all its events were seen: do not connect again."},
            **_READ,
        },
    )
    async def events(
        request: Request,
        job: JobId,
        last: Annotated[
            str | None,
            Header(
                alias="Last-Event-ID",
                pattern="^[0-9]{1,18}$",
                description="number of the last event that was seen",
            ),
        ] = None,
    ) -> Response:
        """Stream the events of a job, from the beginning or after the event in `Last-Event-ID`."""
        client = request.state.client
        after = int(last or 0)
        found = await gateway.ask(gateway.store.get, job, client)
        if found.has_ended and last and not await gateway.ask(gateway.store.events, job, client, after=after):
            return Response(status_code=204)
        if request.state.head:
            return Response(media_type="text/event-stream")
        return EventStream(gateway, job, client=client, after=after)

    @router.post("/jobs/{job}/cancel", summary="Cancel a job", tags=["jobs"], responses=_CHANGE)
    async def cancel(request: Request, job: JobId) -> JobView:
        """Cancel a job. A job that has ended does not change."""
        return view_of(await gateway.ask(gateway.store.cancel, job, request.state.client))

    @router.delete(
        "/jobs/{job}",
        summary="Delete a job",
        tags=["jobs"],
        status_code=204,
        response_class=Response,
        responses=_CHANGE,
    )
    async def delete(request: Request, job: JobId) -> Response:
        """Delete a job and its results. A running job is cancelled."""
        await gateway.ask(gateway.store.delete, job, request.state.client)
        return Response(status_code=204)

    @router.get("/limits", summary="Show the limits", tags=["service"], responses=_READ)
    async def limits() -> LimitsView:
        """Return the limits that the operator of this service has set."""
        settings = gateway.settings
        quota = settings.site
        return LimitsView(
            requests_per_minute=settings.requests_per_minute,
            jobs=settings.client_queue,
            stores=settings.stores,
            store_bytes=quota.store_bytes,
            site=SiteLimits(pages=quota.pages, bytes=quota.size_bytes, seconds=quota.time_s),
        )

    @router.get("/pages", summary="List captures", tags=["cache"], responses=_READ)
    async def pages(
        request: Request,
        before: Annotated[
            int | None,
            Query(ge=1, le=2**53, description="only those used before this number"),
            BeforeValidator(_digits),
        ] = None,
        limit: Limit = 50,
    ) -> PageList:
        """Return the captures that jobs of this client created or used, latest use first."""
        found = await gateway.ask(gateway.store.pages, request.state.client, before=before, limit=limit)
        more = f"/v1/pages?before={found[-1].number}&limit={limit}" if len(found) == limit else None
        return PageList(pages=[page_view_of(page) for page in found], next=more)

    return router


# The report has its own policy in its head, which allows its script and style by their hashes; both apply.
# Without `allow-same-origin` the document has no origin, so it cannot read cookies or data of the service.
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
REPORT_FILE = "report.html"
CHANGES_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
PICKING_POLICY = REPORT_POLICY.replace("img-src data:; ", "").replace("ancestors 'none'", "ancestors 'self'")
DOCUMENT_POLICIES = {
    ("report", REPORT_FILE): REPORT_POLICY,
    ("sync", PAGE): CHANGES_POLICY,
    ("fields", PAGE_FILE): PICKING_POLICY,
}
"""The documents among the results, by the kind of their job and their name, with the policies of their sandboxes."""


def files(gateway: Gateway) -> APIRouter:
    """Return the route of result files."""
    router = APIRouter(prefix="/v1", dependencies=[Depends(only_known)])

    @router.get(
        "/jobs/{job}/files/{name}",
        summary="Download a result",
        tags=["jobs"],
        response_class=Response,
        responses={
            200: {
                "content": {"*/*": {}},
                "description": "The file.",
            },
            **problems(401, 403, 404, 414, 421, 422, 429, 500, 503),
        },
    )
    async def file(
        request: Request,
        job: JobId,
        name: FileName,
        download: Annotated[
            bool, Query(description="whether a report or a page of changes is to be saved, not shown")
        ] = False,
    ) -> Response:
        """Return a result file. Files are downloads, except that documents for people are shown in a sandbox."""
        client = request.state.client
        facts = await gateway.ask(gateway.store.file, job, client, name)
        kind = (await gateway.ask(gateway.store.get, job, client)).kind
        policy = DOCUMENT_POLICIES.get((kind, name)) if not download else None
        headers = headers_of(facts, shown=policy is not None)
        response: Response = (
            Response(media_type=facts.content_type, headers=headers)
            if request.state.head
            else Download(
                gateway,
                lambda: gateway.store.open(job, client, name)[1],
                client=client,
                media_type=facts.content_type,
                headers=headers,
            )
        )
        if policy == PICKING_POLICY:
            response.headers["X-Frame-Options"] = "SAMEORIGIN"
        return with_policy(response, policy) if policy else response

    return router
