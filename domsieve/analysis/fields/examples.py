"""Examples: a page, and the values of its fields that a person sees on it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from domsieve.analysis.fields.fields_model import MOST_FIELDS
from domsieve.analysis.fields.value_kinds import LONGEST_VALUE, flat
from domsieve.analysis.selection.element_matching import check_selector
from domsieve.errors import UsageError

MOST_EXAMPLES = 100
"""Maximum number of example pages."""
MOST_RECORDS = 1_000
_LONGEST_NAME = 100
_HOW = '{"url": "…", "fields": {"title": "…", "authors": ["…", "…"]}}'


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an example says of a field.

    Parameters
    ----------
    values : the values; empty if the page does not have the field, or if only `css` is known.
    many : whether the field is a list.
    css : a CSS selector of the elements with the values; empty without one.
    """

    values: tuple[str, ...]
    many: bool = False
    css: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """The values of one page.

    Parameters
    ----------
    label : how messages name the example, such as ``"line 2"``.
    fields : the fields by name; empty for a list of records.
    records : the fields of each record; empty for a page with one of each field.
    page : its URL or file, empty if it was given otherwise; `is_file` says which.
    """

    label: str
    fields: Mapping[str, Wanted]
    records: tuple[Mapping[str, Wanted], ...] = ()
    page: str = ""
    is_file: bool = False


def parse_examples(text: str, *, name: str) -> list[Example]:
    """Return the examples in JSON lines; blank lines do not count.

    Parameters
    ----------
    text : one object per line, with ``"url"`` or ``"file"`` and with ``"fields"`` or ``"records"``.
    name : name of the file, for messages.

    Raises
    ------
    UsageError : a line is wrong, or there is none; the message says which line.
    """
    examples: list[Example] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        label = f"{name}, line {number}"
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            why = (
                f"{error.msg} at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
            )
            raise _wrong(
                f"{label} is not JSON{f' ({why})' if why else ''}; write one object per line: {_HOW}."
            ) from error
        if not isinstance(value, dict):
            raise _wrong(f"{label} is not an object; write {_HOW}.")
        pages = [key for key in ("url", "file") if isinstance(value.get(key), str) and value[key]]
        if len(pages) != 1:
            raise _wrong(f'{label} needs either "url" or "file", as text; write {_HOW}.')
        if unknown := sorted(value.keys() - {"url", "file", "fields", "records"}):
            raise _wrong(
                f'{label} has {unknown[0]!r}, which is none of "url", "file", "fields" and "records".'
            )
        examples.append(example_of(value, label=label, page=value[pages[0]], is_file=pages[0] == "file"))
    check_examples(examples, name=name)
    return examples


def check_examples(examples: Sequence[Example], *, name: str) -> None:
    """Raise an error unless these examples can be learned from together.

    Raises
    ------
    UsageError : there are none or too many, or pages with fields and pages with records are mixed.
    """
    if not examples:
        raise _wrong(f"{name} has no example; write one object per line: {_HOW}.")
    if len(examples) > MOST_EXAMPLES:
        raise _wrong(
            f"{name} has {len(examples)} examples; {MOST_EXAMPLES} are the most, and three are enough."
        )
    lists = [bool(example.records) for example in examples]
    if any(lists) != all(lists):
        other = examples[lists.index(not lists[0])]
        raise _wrong(
            f"{other.label} has {'records' if other.records else 'fields'}, and {examples[0].label} does not; "
            'use either "fields" or "records" in all examples.'
        )


def example_of(value: Mapping[str, Any], *, label: str, page: str = "", is_file: bool = False) -> Example:
    """Return the example in a mapping with ``"fields"`` or ``"records"``.

    Raises
    ------
    UsageError : it has both or neither, or a value is wrong.
    """
    fields, records = value.get("fields"), value.get("records")
    if (fields is None) == (records is None):
        raise _wrong(f'{label} needs either "fields" or "records"; write {_HOW}.')
    if records is None:
        wanted = _fields(fields, label)
        if not any(one.values or one.css for one in wanted.values()):
            raise _wrong(f"{label} has no value.")
        return Example(label, wanted, (), page, is_file)
    if not isinstance(records, Sequence) or isinstance(records, str) or not 0 < len(records) <= MOST_RECORDS:
        raise _wrong(f'"records" of {label} must be a list of 1 to {MOST_RECORDS} objects.')
    rows = tuple(_fields(row, f"{label}, record {number}") for number, row in enumerate(records, 1))
    for number, row in enumerate(rows, 1):
        for name, one in row.items():
            if one.many or one.css:
                what = "a list" if one.many else "a selector"
                raise _wrong(
                    f"{label}, record {number}: {name!r} is {what}; fields of records are single values."
                )
    return Example(label, {}, rows, page, is_file)


def _fields(value: object, label: str) -> dict[str, Wanted]:
    if not isinstance(value, Mapping) or not 0 < len(value) <= MOST_FIELDS:
        raise _wrong(f'{label}: give 1 to {MOST_FIELDS} fields as an object, such as {{"title": "…"}}.')
    fields: dict[str, Wanted] = {}
    for name, each in value.items():
        if (
            not isinstance(name, str)
            or not name.strip()
            or len(name) > _LONGEST_NAME
            or not name.isprintable()
        ):
            raise _wrong(f"{label}: {name!r} is not a name of a field; use 1 to {_LONGEST_NAME} characters.")
        fields[name] = _wanted(each, f"{label}: {name!r}")
    return fields


def _wanted(value: object, label: str) -> Wanted:
    if value is None:
        return Wanted(())
    if isinstance(value, Mapping):
        css, many = value.get("css"), value.get("many", False)
        if not isinstance(css, str) or not isinstance(many, bool) or value.keys() - {"css", "many"}:
            raise _wrong(f'{label}: write a selector as {{"css": ".price"}}, with "many": true for a list.')
        try:
            check_selector(css)
        except UsageError as error:
            raise _wrong(f"{label}: {error.message}") from error
        return Wanted((), many, css)
    many = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    given = list(value) if isinstance(value, Sequence) and many else [value]
    values: list[str] = []
    for each in given:
        if not isinstance(each, str | int | float) or isinstance(each, bool):
            raise _wrong(f"{label} must be text, a number, null, a list of texts, or a selector.")
        text = flat(str(each))
        if not text or len(text) > LONGEST_VALUE:
            raise _wrong(
                f"{label} must have 1 to {LONGEST_VALUE:,} characters; write null for a page without the field."
            )
        values.append(text)
    return Wanted(tuple(values), many)


def _wrong(message: str) -> UsageError:
    return UsageError(message, parameter="examples")
