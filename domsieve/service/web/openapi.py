"""The OpenAPI document of the service, and its description for people."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.models import Example
from fastapi.openapi.utils import get_openapi

from domsieve.service.web.problems import PROBLEM_JSON, Problem

_PAGE = "https://example.org/news/1"


def _of(summary: str, **value: str | int | float | bool | None) -> Example:
    return Example(summary=summary, value=value)


CLEAN = {
    "shortest": _of("As Markdown, by the method that suits", url=_PAGE),
    "text": _of("As text, of a page that loads more as one scrolls", url=_PAGE, format="text", scroll=True),
}
RECORDS = {
    "shortest": _of("One line of JSON for each record", url="https://example.org/shop"),
    "csv": _of("As a table", url="https://example.org/shop", method="mdr", format="csv"),
}
_SHOP = "https://example.org/shop"
FIELDS = {
    "product": _of("The product of a page, without a model", url=f"{_SHOP}/1"),
    "table": _of("As a table, with known pages of the site", url=f"{_SHOP}/1", known_pages=50, format="csv"),
}
LEARN_FIELDS = {
    "page": Example(
        summary="From one page",
        value={"examples": [{"url": f"{_SHOP}/1", "fields": {"title": "Kettle", "price": "€ 24.00"}}]},
    )
}
COMPARE = {"shortest": _of("Is a browser needed for this page?", url=_PAGE)}
REPORT = {"phone": _of("As a phone shows it", url=_PAGE, viewport_width=390, viewport_height=844)}
SITE = {"thirty": _of("Thirty pages of a site", url="https://example.org/", pages=30, seed=1)}
SYNC = {
    "first": _of("For the first time: all pages of a site", store="docs", url="https://example.org/docs/"),
    "again": _of("What changed since?", store="docs"),
}

_REFERENCE = "#/components/schemas/{model}"
_WHY = {
    400: "The connection closed early, or this is not a request.",
    401: "No token, or not a known one.",
    403: "A rule forbids the page (fault `policy`), or the request comes from a page of another site.",
    404: "This client has no such job, store or file.",
    406: "The Accept header asks for none of the types that this result has; `detail` names them.",
    408: "The body of the request did not arrive in time.",
    409: "The key was used for another request, the job was cancelled while it was waited for, another job uses the "
    "store, or there may be no more stores.",
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

A request for one page waits for its result; `Prefer: wait=0` gives a job at once. Each request is kept as a
job of the client until it is deleted or expires. Errors are problem documents (RFC 9457) that say whose fault it was
and whether to try again."""


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the descriptions of problem responses."""
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
    """Remove null from the schema of a parameter, because parameters in URLs cannot be null."""
    kinds = [kind for kind in schema.pop("anyOf", ()) if kind != {"type": "null"}]
    for kind in kinds:
        schema.update(kind)


_METHODS = ("get", "post", "delete")
_AT = "#/components/schemas/"
_BODY_STEP = "application/json"
_PLURAL_TAGS = {
    "pages": "Pages",
    "sites": "Sites",
    "stores": "Stores",
    "jobs": "Jobs",
    "cache": "Cache",
    "service": "Service",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A parameter or a field: its name, its type, whether it is required, its default, and its description."""

    name: str
    takes: str
    is_required: bool
    default: str
    text: str


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the API: its request and its responses.

    Parameters
    ----------
    anchor : its anchor on the page.
    call : a command that sends the request; empty if it has no body.
    answers : status and description of each response.
    """

    anchor: str
    method: str
    path: str
    summary: str
    text: str
    parameters: Sequence[Entry]
    fields: Sequence[Entry]
    call: str
    answers: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Model:
    """An object in a response, with its fields."""

    name: str
    text: str
    fields: Sequence[Entry]


@dataclass(frozen=True, slots=True)
class Reference:
    """The whole description: groups of operations by name, and the objects of responses."""

    version: str
    text: Sequence[str]
    groups: Mapping[str, Sequence[Operation]]
    models: Sequence[Model]


def reference(document: Mapping[str, Any]) -> Reference:
    """Return the description for people, made from the OpenAPI document of this service."""
    schemas: Mapping[str, Any] = document.get("components", {}).get("schemas", {})
    groups: dict[str, list[Operation]] = {}
    bodies: set[str] = set()
    for path, operations in document["paths"].items():
        for method in (name for name in _METHODS if name in operations):
            operation = operations[method]
            tag = (operation.get("tags") or ["service"])[0]
            group = groups.setdefault(_PLURAL_TAGS.get(tag, tag.capitalize()), [])
            body = operation.get("requestBody", {}).get("content", {}).get(_BODY_STEP, {})
            bodies.add(body.get("schema", {}).get("$ref", "").removeprefix(_AT))
            group.append(_operation(method, path, operation, body, schemas))
    models = [
        Model(name, schema.get("description", ""), list(_fields(schema)))
        for name, schema in schemas.items()
        if name not in bodies and "properties" in schema
    ]
    info = document["info"]
    return Reference(info["version"], info.get("description", "").split("\n\n"), groups, models)


def _operation(
    method: str, path: str, operation: Mapping[str, Any], body: Mapping[str, Any], schemas: Mapping[str, Any]
) -> Operation:
    schema = _resolved(body.get("schema", {}), schemas)
    examples = [example.get("value") for example in body.get("examples", {}).values()]
    return Operation(
        anchor=f"{method}{path.replace('{', '').replace('}', '').replace('/', '-')}",
        method=method.upper(),
        path=path,
        summary=operation.get("summary", ""),
        text=operation.get("description", ""),
        parameters=[
            Entry(
                one["name"],
                f"{_type(one['schema'])}, in the {one['in']}",
                bool(one.get("required")),
                _default(one["schema"]),
                one.get("description", "") or one["schema"].get("description", ""),
            )
            for one in operation.get("parameters", ())
        ],
        fields=list(_fields(schema)),
        call=f"curl --json '{json.dumps(examples[0])}' SERVICE{path}" if examples else "",
        answers=[
            (status, answer.get("description", "")) for status, answer in operation["responses"].items()
        ],
    )


def _fields(schema: Mapping[str, Any]) -> Iterator[Entry]:
    required = schema.get("required", ())
    for name, one in schema.get("properties", {}).items():
        yield Entry(name, _type(one), name in required, _default(one), one.get("description", ""))


def _resolved(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = schemas.get(schema.get("$ref", "").removeprefix(_AT), schema)
    return found


def _default(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema["default"]) if "default" in schema else ""


def _type(schema: Mapping[str, Any]) -> str:
    """Return a short description of the type in a schema."""
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(_AT)
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    if parts := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(dict.fromkeys(map(_type, parts)))
    kind = str(schema.get("type", "any"))
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{kind}, {low:g} to {high:g}" if high < 1e6 else f"{kind}, from {low:g}"
    return kind
