"""Errors as the API tells them: problem details (RFC 9457) that say whose fault it was and whether to try again.

| fault | status | whose |
|---|---|---|
| caller | 4xx | the request |
| policy | 403 | a rule forbids the page: a private address, a scheme |
| page | 502, 504 | the page or its server; 504 when it took too long |
| browser | 503 | Chrome, also after another try |
| service | 500, 503 | ours |
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any, get_args

from fastapi import Response
from pydantic import BaseModel, ConfigDict, Field

from domsieve.errors import FaultReason
from domsieve.service.jobs.values import Fault, is_timeout

REASON_HELP = (
    "why the page counts as failed: an error of its server (status), no HTML (type), no text (binary), "
    "nothing (empty), cut before any text stood there (cut); null for other errors"
)
REASONS: tuple[FaultReason, ...] = get_args(FaultReason)
FAULTS: tuple[Fault, ...] = get_args(Fault)
PROBLEM_JSON = "application/problem+json"
_STATUS: Mapping[str, int] = {"caller": 422, "policy": 403, "page": 502, "browser": 503, "service": 500}
_RETRY_S = 5


class Invalid(BaseModel):
    """One thing that is wrong with a request."""

    model_config = ConfigDict(extra="forbid")

    where: Annotated[
        str, Field(description="body, query, path or header, and the name", examples=["body.url"])
    ]
    what: Annotated[str, Field(examples=["Field required"])]


class Problem(BaseModel):
    """Why a request was refused or a page has no result (RFC 9457)."""

    model_config = ConfigDict(extra="forbid")

    type: Annotated[str, Field(description="always about:blank: the status says the kind")] = "about:blank"
    title: Annotated[str, Field(examples=["Not Found"])]
    status: Annotated[int, Field(ge=400, le=599, examples=[404])]
    detail: Annotated[str, Field(examples=["There is no such job."])]
    fault: Annotated[Fault, Field(description="whose fault it was")]
    retry: Annotated[bool, Field(description="whether the same request may succeed later")]
    stage: Annotated[str | None, Field(description="what was being done to the page")] = None
    reason: Annotated[FaultReason | None, Field(description=REASON_HELP)] = None
    job: Annotated[str | None, Field(description="id of the job that failed")] = None
    errors: Annotated[list[Invalid] | None, Field(description="what is wrong with the request")] = None


class ProblemError(Exception):
    """Ends a request with a problem.

    Parameters
    ----------
    status : of HTTP.
    detail : what was wrong and what to do, without anything secret.
    retry_s : seconds after which the same request may succeed; None if it never will.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        fault: Fault = "caller",
        retry_s: int | None = None,
        headers: Mapping[str, str] | None = None,
        errors: list[Invalid] | None = None,
    ) -> None:
        super().__init__(detail)
        self.problem = Problem(
            title=HTTPStatus(status).phrase,
            status=status,
            detail=detail,
            fault=fault,
            retry=retry_s is not None,
            errors=errors,
        )
        self.headers = {**(headers or {}), **({"Retry-After": str(retry_s)} if retry_s is not None else {})}


def problem_response(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Return a problem as an answer."""
    return Response(
        problem.model_dump_json(exclude_none=True),
        status_code=problem.status,
        media_type=PROBLEM_JSON,
        headers=dict(headers or {}),
    )


def job_problem(job: str, problem: Mapping[str, Any]) -> tuple[Problem, dict[str, str]]:
    """Return why a job failed as an answer: the problem and its further headers."""
    fault = fault_of(problem)
    retry = bool(problem.get("retry"))
    status = _STATUS[fault]
    if fault == "page" and is_timeout(problem):
        status = HTTPStatus.GATEWAY_TIMEOUT
    if fault == "service" and retry:
        status = HTTPStatus.SERVICE_UNAVAILABLE
    answer = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=str(problem.get("detail") or problem.get("title") or "The job failed."),
        fault=fault,
        retry=retry,
        stage=problem.get("stage"),
        reason=reason_of(problem),
        job=job,
    )
    return answer, {"Retry-After": str(_RETRY_S)} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}


def reason_of(problem: Mapping[str, Any]) -> FaultReason | None:
    """Return why the page of a job counts as failed, None where it does not."""
    return next((reason for reason in REASONS if reason == problem.get("reason")), None)


def fault_of(problem: Mapping[str, Any]) -> Fault:
    """Return whose fault a job's problem was; ours where that is not said."""
    return next((fault for fault in FAULTS if fault == problem.get("fault")), "service")
