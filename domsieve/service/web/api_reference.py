"""The description of the API for people: what the OpenAPI document says, as values for a template.

Imports nothing of the project.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_METHODS = ("get", "post", "delete")
_AT = "#/components/schemas/"
_BODY_STEP = "application/json"
_PLURAL_TAGS = {"pages": "Pages", "sites": "Sites", "jobs": "Jobs", "cache": "Cache", "service": "Service"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A parameter or a field: its name, what it takes, whether it has to be there, its default, and words on it."""

    name: str
    takes: str
    is_required: bool
    default: str
    text: str


@dataclass(frozen=True, slots=True)
class Operation:
    """A request: how it is sent, what it takes, and what it is answered with.

    Parameters
    ----------
    anchor : its name within the page.
    call : a command that sends it, empty where it takes no body.
    answers : status and description of each answer.
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
    """An object of an answer with its fields."""

    name: str
    text: str
    fields: Sequence[Entry]


@dataclass(frozen=True, slots=True)
class Reference:
    """The whole description: groups of requests by name, and the objects of answers."""

    version: str
    text: Sequence[str]
    groups: Mapping[str, Sequence[Operation]]
    models: Sequence[Model]


def reference(document: Mapping[str, Any]) -> Reference:
    """Return what an OpenAPI document of this service says."""
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
    """Return what a value has to be, in few words."""
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
