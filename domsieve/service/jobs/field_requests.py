"""Examples and models of fields in requests: strangers' data, checked before a job is made."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError, WithJsonSchema

from domsieve.analysis.fields.examples import MOST_RECORDS, Example, check_examples, example_of
from domsieve.analysis.fields.fields_model import MOST_FIELDS, fields_model_from_bytes
from domsieve.analysis.fields.learning import MOST_PAGES
from domsieve.analysis.fields.value_kinds import LONGEST_VALUE
from domsieve.errors import DomsieveError, UsageError
from domsieve.renderer.network.egress import place_of
from domsieve.service.jobs.request_fields import Url

MOST_EXAMPLE_PAGES = 20
"""Maximum number of examples in a request."""
MOST_LEARNED_PAGES = MOST_PAGES
"""Maximum number of other pages in a request to learn fields."""
MOST_FIELD_PAGES = 200
"""Maximum number of pages in a request for fields."""
MODEL_FILE = "model.json"
"""Name of the model among the results of a job that learns fields."""
PAGE_FILE = "page.html"
"""Name of the document with the page, in which values are clicked, among the results of a job for fields."""
_MODEL_CHARACTERS = 50_000  # a request has 64 kB; models have some thousand
_LONGEST_ADDRESS = 8_192
_ADDRESS: TypeAdapter[str] = TypeAdapter(Url)

_NAME = {"type": "string", "minLength": 1, "maxLength": 100, "format": "field-name"}
_TEXT = {"type": "string", "minLength": 1, "maxLength": LONGEST_VALUE, "format": "field-value"}
_SELECTOR = {
    "type": "object",
    "properties": {
        "css": {"type": "string", "minLength": 1, "maxLength": 500, "format": "css-selector"},
        "many": {"type": "boolean"},
    },
    "required": ["css"],
    "additionalProperties": False,
}


def _named(value: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "propertyNames": _NAME,
        "additionalProperties": value,
        "minProperties": 1,
        "maxProperties": MOST_FIELDS,
    }


def _examples_schema(name: str, value: Mapping[str, Any]) -> dict[str, Any]:
    address = {"type": "string", "format": "iri", "maxLength": _LONGEST_ADDRESS}
    return {
        "type": "array",
        "minItems": 1,
        "maxItems": MOST_EXAMPLE_PAGES,
        "items": {
            "type": "object",
            "properties": {"url": address, name: value},
            "required": ["url", name],
            "additionalProperties": False,
        },
    }


_LIST = {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": 1_000}
_FIELDS = _named({"anyOf": [_TEXT, _LIST, _SELECTOR, {"type": "null"}]})
_FIELDS["not"] = {"additionalProperties": {"type": "null"}}  # at least one value is given
_RECORDS = {
    "type": "array",
    "items": _named({"anyOf": [_TEXT, {"type": "null"}]}),
    "minItems": 1,
    "maxItems": MOST_RECORDS,
}


def _addresses(urls: Sequence[str]) -> tuple[str, ...]:
    for url in urls:
        if place_of(url) is None:
            raise ValueError("The address has no valid host")
    return tuple(urls)


PageUrls = Annotated[
    tuple[Url, ...], Field(max_length=MOST_FIELD_PAGES, strict=False), AfterValidator(_addresses)
]


def _checked_examples(examples: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    try:
        parsed_examples(examples)
    except UsageError as error:
        raise ValueError(error.message) from error
    return tuple(examples)


def parsed_examples(examples: Sequence[Mapping[str, Any]]) -> Sequence[Example]:
    """Return the examples of a request, whose pages are addresses.

    Raises
    ------
    UsageError : an example is wrong; the message says which.
    """
    parsed: list[Example] = []
    for number, value in enumerate(examples, 1):
        label = f"example {number}"
        url = value.get("url")
        try:
            url = _ADDRESS.validate_python(url, strict=True)
        except ValidationError as error:
            raise UsageError(f"{label}: url must be an address with http:// or https://.") from error
        if place_of(url) is None:
            raise UsageError(f"{label}: the address has no valid host.")
        if unknown := sorted(map(str, value.keys() - {"url", "fields", "records"})):
            raise UsageError(f"{label} has {unknown[0]!r}, which is none of url, fields and records.")
        parsed.append(example_of(value, label=label, page=url))
    check_examples(parsed, name="examples")
    return parsed


FieldExamples = Annotated[
    tuple[dict[str, Any], ...],
    Field(max_length=MOST_EXAMPLE_PAGES, strict=False),
    AfterValidator(_checked_examples),
    WithJsonSchema({"anyOf": [_examples_schema("fields", _FIELDS), _examples_schema("records", _RECORDS)]}),
]


def _text_of(model: object) -> object:
    """Return the text of a model that is given as an object."""
    return json.dumps(model) if isinstance(model, dict) else model


def _checked_model(text: str) -> str:
    try:
        fields_model_from_bytes(text.encode("utf-8", "replace"))
    except DomsieveError as error:
        raise ValueError(error.message) from error
    return text


FieldsModelText = Annotated[
    str,
    Field(min_length=1, max_length=_MODEL_CHARACTERS, json_schema_extra={"format": "fields-model"}),
    BeforeValidator(_text_of),
    AfterValidator(_checked_model),
]
