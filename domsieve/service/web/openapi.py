"""The description of the API: every answer of every route, problems included."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from domsieve.service.web.problems import PROBLEM_JSON, Problem

_REFERENCE = "#/components/schemas/{model}"
_WHY = {
    400: "The connection closed early, or this is not a request.",
    401: "No token, or not a known one.",
    403: "A rule forbids the page (fault `policy`), or the request comes from a page of another site.",
    404: "This client has no such job or file.",
    406: "The Accept header asks for none of the types that this result has; `detail` names them.",
    408: "The body of the request did not arrive in time.",
    409: "The key was used for another request, or the job was cancelled while it was waited for.",
    413: "The body of the request is too long.",
    414: "The address of the request is too long.",
    421: "The Host is not one of this service.",
    422: "The request asks for what cannot be; `errors` says where.",
    429: "Too many requests, jobs or streams of this client; see Retry-After.",
    500: "The service made a mistake.",
    502: "The page or its server is at fault.",
    503: "The queue is full, the machine has no room, or Chrome or the store did not work; see Retry-After.",
    504: "The page took too long.",
}
_ABOUT = """Renders pages with headless Chrome and keeps their content.

A request for one page waits for its result; `Prefer: wait=0` gives a job at once. All that is asked for is kept as a
job of the client until it is deleted or becomes old. Whatever fails is told as a problem (RFC 9457) that says whose
fault it was and whether to try again."""


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the descriptions of answers that are problems."""
    return {status: _problem(status) for status in statuses}


def _problem(status: int) -> dict[str, Any]:
    schema = {"$ref": _REFERENCE.format(model="Problem")}
    headers = {"Retry-After": {"schema": {"type": "string"}, "description": "seconds"}}
    return {
        "description": f"{HTTPStatus(status).phrase}: {_WHY[status]}",
        "content": {PROBLEM_JSON: {"schema": schema}},
        **({"headers": headers} if status in {429, 503} else {}),
    }


def describe(app: FastAPI, *, version: str, tokens: bool) -> dict[str, Any]:
    """Return the OpenAPI document of the application."""
    document = get_openapi(title="domsieve", version=version, description=_ABOUT, routes=app.routes)
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    made = Problem.model_json_schema(ref_template=_REFERENCE)
    schemas.update(made.pop("$defs", {}))
    schemas["Problem"] = made
    for path in document["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", ()):
                _leave_out_null(parameter["schema"])
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    if tokens:
        document["components"]["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"bearer": []}]
        document["paths"]["/v1/health"]["get"]["security"] = []
    return document


def _leave_out_null(schema: dict[str, Any]) -> None:
    """Say of a parameter what it is when it is there: none is the text `null`."""
    kinds = [kind for kind in schema.pop("anyOf", ()) if kind != {"type": "null"}]
    for kind in kinds:
        schema.update(kind)
