"""Errors as problems (RFC 9457), and their explanations for people."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, get_args

from fastapi import Response
from pydantic import BaseModel, ConfigDict, Field

from domsieve.errors import FaultReason
from domsieve.renderer.net_errors import CODE, meaning_of
from domsieve.sanitize import plain
from domsieve.service.jobs.job_values import Fault, Title, is_timeout

# How the detail of a capture says that redirects led nowhere.
_IN_CIRCLES = "redirects: "
_LONGEST = 2_000

_SPELLING = "Check the spelling of the address. If it is right, the site may have moved or closed."
_LATER = "Try again in a few minutes. If other people can open the page, the site may block bots."
_CERTIFICATE = "Only the site can fix this. Try again later, or look for another address of the page."
# What to do, by the beginning of the error name; all others may be gone after a while.
_DO_BY_CODE: tuple[tuple[str, str], ...] = (
    ("ERR_NAME_NOT_RESOLVED", _SPELLING),
    ("ERR_NETWORK_CHANGED", "Try again."),
    ("ERR_PROXY_CONNECTION_FAILED", "Ask whoever runs this service."),
    ("ERR_TOO_MANY_REDIRECTS", "Look for the page's final address, and use that."),
    ("ERR_CERT_", _CERTIFICATE),
    ("ERR_SSL_", "Try the address with http:// in front."),
    ("ERR_INVALID_HTTP_RESPONSE", "Check the port in the address."),
    ("ERR_UNSAFE_PORT", "Check the port in the address."),
    ("ERR_ABORTED", "Give the address of a page instead."),
    ("ERR_BLOCKED_BY_", "Give the address of a page instead."),
)

_MORE_TIME = "Try again, with more seconds for the page under “How the page is rendered”."
# By the title of a problem, or else by its fault.
_DO_BY_TITLE: Mapping[str, str] = {
    Title.TIMEOUT: _MORE_TIME,
    Title.COST: "The page is too large or too deep. Try a page that shows a part of it.",
    Title.TIME: "The page is too large or too deep. Try a page that shows a part of it.",
    Title.MEMORY: "The page is too large or too deep. Try a page that shows a part of it.",
}
_DO_BY_REASON: Mapping[str, str] = {
    "status": "Check the address. To work on the error page itself, choose “Again” and tick “Work on error pages all "
    "the same”.",
    "type": "Give the address of a web page; other documents are not read.",
    "binary": "Give the address of a web page; other documents are not read.",
    "empty": "The page may need more time or a click. Choose “Again”, and give it either under “How the page is "
    "rendered”.",
}
_DO_BY_FAULT: Mapping[str, str] = {
    "caller": "Choose “Again”, and change what was asked for.",
    "policy": "A rule of this service forbids it. Whoever runs the service can change its rules.",
    "page": "Check the address, and that it opens in your own browser.",
    "browser": "Try again. If it fails again, ask whoever runs this service.",
    "service": "Try again later. If it fails again, ask whoever runs this service.",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of a problem for people.

    Parameters
    ----------
    what : what happened, one sentence.
    do : what to do about it, one or two sentences.
    detail : the message of the error; empty if `what` says as much.
    code : the browser's name of the error; empty without one.
    """

    what: str
    do: str
    detail: str
    code: str


def explanation_of(problem: Mapping[str, Any]) -> Explanation:
    """Return the explanation of a job's problem."""
    detail = plain(str(problem.get("detail") or ""))[:_LONGEST]
    found = CODE.search(detail)
    is_cut = problem.get("reason") == "cut"
    code = found[1] if found else "ERR_TOO_MANY_REDIRECTS" if is_cut and _IN_CIRCLES in detail else ""
    if code:
        what, do = _meaning(code)
        return Explanation(f"The page could not be opened: {what}.", do, "", f"net::{code}")
    reason, title = str(problem.get("reason") or ""), str(problem.get("title") or "The job failed.")
    fault = str(problem.get("fault") or "service")
    do = _DO_BY_REASON.get(reason) or _DO_BY_TITLE.get(title) or _DO_BY_FAULT.get(fault, "")
    return Explanation("This page counts as failed." if reason else title, do, detail, "")


def _meaning(code: str) -> tuple[str, str]:
    return meaning_of(code), next((do for known, do in _DO_BY_CODE if code.startswith(known)), _LATER)


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
    """An error that is sent as a problem.

    Parameters
    ----------
    status : the HTTP status.
    detail : what is wrong and what to do, without secrets.
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
    """Return a problem as a response."""
    return Response(
        problem.model_dump_json(exclude_none=True),
        status_code=problem.status,
        media_type=PROBLEM_JSON,
        headers=dict(headers or {}),
    )


def job_problem(job: str, problem: Mapping[str, Any]) -> tuple[Problem, dict[str, str]]:
    """Return the problem of a failed job for a response, and additional headers."""
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
    """Return why the page of a job counts as failed; None if it does not."""
    return next((reason for reason in REASONS if reason == problem.get("reason")), None)


def fault_of(problem: Mapping[str, Any]) -> Fault:
    """Return whose fault a job's problem is; ours if it is unknown."""
    return next((fault for fault in FAULTS if fault == problem.get("fault")), "service")
