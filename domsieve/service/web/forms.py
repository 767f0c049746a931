"""The form of the web page: its fields and choices with labels, and the conversion to requests and back."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, get_args
from urllib.parse import parse_qsl, urlsplit

from pydantic import ValidationError

from domsieve.analysis.registry import DEFAULT_METHOD, METHODS, MINERS, entry_of
from domsieve.analysis.writers.chunks import MAX_WORDS
from domsieve.analysis.writers.formats import PAGE_FORMATS, RECORD_FORMATS
from domsieve.declaration import DeclaredOption, Served, declared
from domsieve.errors import ParameterError
from domsieve.options import CaptureOptions, NetworkOptions, Scope
from domsieve.sanitize import plain
from domsieve.service.jobs.job_request import JobKind, JobRequest
from domsieve.service.jobs.requests import REQUESTS
from domsieve.types import BLOCK_KINDS, FIELD_NAMES, BlockKind, SyncFormat


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice: its value in the form, its label, and a short note."""

    value: str
    label: str
    note: str = ""


KINDS = (
    Choice("clean", "Content", "the text without menus, adverts and footers"),
    Choice("records", "Records", "what repeats on the page, as a table"),
    Choice("fields", "Fields", "name, price and more of a product, or what you have taught"),
    Choice("compare", "Compare", "does this page need a browser?"),
    Choice("report", "Report", "what each method keeps, and why"),
    Choice("site", "Whole site", "sample many pages and clean them"),
    Choice("sync", "Follow a site", "what changed in its content since the last time?"),
)
_METHODS = tuple(Choice(entry.name, entry.title, entry.summary) for entry in METHODS.values())
_MINERS = tuple(Choice(entry.name, entry.title, entry.summary) for entry in MINERS.values())
# The format that reads best comes first.
_CLEAN_FORMATS = tuple(
    Choice(entry.name, entry.title)
    for entry in sorted(PAGE_FORMATS.values(), key=lambda entry: entry.name != "markdown")
)
_RECORD_FORMATS = tuple(
    Choice(entry.name, entry.title)
    for entry in sorted(RECORD_FORMATS.values(), key=lambda entry: entry.name != "jsonl")
)
_SYNC_FORMATS = (
    Choice("", "As the first time, or Markdown"),
    *(choice for choice in _CLEAN_FORMATS if choice.value in get_args(SyncFormat)),
)
_KIND_NAMES: Mapping[BlockKind, str] = {
    "comments": "Comments",
    "related": "Related pages",
    "tables": "Tables",
    "captions": "Captions",
    "bylines": "Bylines",
    "share": "Share buttons",
    "breadcrumbs": "Breadcrumbs",
    "navigation": "Navigation",
    "consent": "Consent banners",
}
KIND_FIELDS = tuple(Choice(f"block_{kind}", _KIND_NAMES[kind]) for kind in BLOCK_KINDS)
"""The fields that keep and drop kinds of blocks, by name."""

FIELD_FIELDS = tuple(Choice(f"field_{name}", name.capitalize()) for name in FIELD_NAMES)
"""The fields that pick fields of records, by name."""


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of the form for a declared option.

    Parameters
    ----------
    name : the name in the form and in requests.
    kind : what the user writes or chooses.
    default : the text of the empty form.
    is_optional : whether the field may be empty.
    served : the label, the limits and the example.
    """

    name: str
    kind: Literal["select", "number", "whole", "text", "lines", "check"]
    default: str
    is_optional: bool
    served: Served


def _form_field(one: DeclaredOption, served: Served) -> FormField:
    kinds: dict[Any, Any] = {timedelta: "number", float: "number", int: "whole", bool: "check", str: "text"}
    default = one.default.total_seconds() if one.kind is timedelta else one.default
    return FormField(
        one.served_name,
        "lines" if one.is_list else "select" if one.choices else kinds[one.kind],
        "" if one.is_list or one.kind is bool else _text(default),
        one.is_optional,
        served,
    )


def _form_fields(*groups: type) -> tuple[FormField, ...]:
    options = [one for group in groups for one in declared(group).values()]
    return tuple(_form_field(one, one.option.served) for one in options if one.option.served)


def _text(value: object) -> str:
    """Return the text of a field for a value: 20 for 20.0, an empty text for None."""
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


RENDERING_FIELDS = _form_fields(CaptureOptions, NetworkOptions)
"""The fields of how a page is rendered."""

SCOPE_FIELDS = _form_fields(Scope)
"""The fields of which pages of a site are visited."""

_DECLARED = {field.name: field for field in (*RENDERING_FIELDS, *SCOPE_FIELDS)}

_OF_KIND = (Choice("", "As the method says"), Choice("keep", "Keep"), Choice("drop", "Leave out"))
CHOICES: Mapping[str, tuple[Choice, ...]] = {
    "clean_method": _METHODS,
    "clean_format": _CLEAN_FORMATS,
    **{field.value: _OF_KIND for field in KIND_FIELDS},
    "records_method": _MINERS,
    "records_format": _RECORD_FORMATS,
    "site_method": _METHODS,
    "fields_format": _RECORD_FORMATS,
    "favor": (
        Choice("balance", "Balanced"),
        Choice("precision", "Less, but surer"),
        Choice("recall", "More, rather than lose some"),
    ),
    "site_format": _CLEAN_FORMATS,
    "sync_format": _SYNC_FORMATS,
    "hidden": (
        Choice("layout", "Drop it, judged by layout"),
        Choice("pixels", "Drop it, judged also by pictures; takes longer"),
        Choice("keep", "Keep it among kept text"),
    ),
    "window": (
        Choice("1280x800", "Desktop, 1280 × 800"),
        Choice("1920x1080", "Large, 1920 × 1080"),
        Choice("820x1180", "Tablet, 820 × 1180"),
        Choice("390x844", "Phone, 390 × 844"),
    ),
    **{
        field.name: tuple(Choice(value, label) for value, label in field.served.choices.items())
        for field in _DECLARED.values()
        if field.kind == "select"
    },
}
DEFAULTS: Mapping[str, str] = {
    "url": "",
    "kind": "clean",
    "clean_method": DEFAULT_METHOD,
    "clean_format": "markdown",
    "records_method": "wobm",
    "records_format": "jsonl",
    "site_method": DEFAULT_METHOD,
    "favor": "balance",
    "site_format": "markdown",
    "fields_format": "jsonl",
    "fields_urls": "",
    "fields_known_pages": "0",
    "fields_model": "",
    "site_pages": "20",
    "site_seed": "0",
    "sync_store": "",
    "sync_format": "",
    "sync_pages": "",
    "window": "1280x800",
    "max_words": str(MAX_WORDS),
    "params": "",
    "hidden": "layout",
    "metadata": "",
    "max_age_days": "",
    "select": "",
    "drop": "",
    "twice": "",
    "refresh": "",
    **{field.name: field.default for field in _DECLARED.values()},
    **{field.value: "" for field in (*KIND_FIELDS, *FIELD_FIELDS)},
}
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "clean": {"method": "clean_method", "format": "clean_format"},
    "records": {"method": "records_method", "format": "records_format"},
    "compare": {},
    "report": {},
    "site": {
        "method": "site_method",
        "format": "site_format",
        "pages": "site_pages",
        "seed": "site_seed",
    },
    "fields": {"format": "fields_format", "known_pages": "fields_known_pages", "model": "fields_model"},
    "sync": {"store": "sync_store", "format": "sync_format", "pages": "sync_pages"},
}
_OF_PASSAGES = frozenset(name for name, entry in PAGE_FORMATS.items() if "max_words" in entry.options)
_THAT_CLEAN = frozenset(("clean", "site"))
_THAT_SELECT = frozenset(("clean", "records", "fields", "site"))
_SELECTORS = ("select", "drop")
_NUMBERS = frozenset({"pages", "seed", "known_pages"})
# Followed sites are rendered where they need it, which is not the default of the other kinds.
_LEFT_OUT: Mapping[str, frozenset[str]] = {"sync": frozenset({"render"})}
_LONGEST_STORE = 64
_LABELS = {
    "url": "Address",
    "pages": "Pages",
    "store": "Store",
    "known_pages": "Known pages of the site",
    "model": "Model",
    "urls": "More addresses",
    "seed": "Sample",
    "max_words": "Words of a passage",
    "params": "Parameters of the method",
    "hidden": "Hidden text",
    "select": "Only these parts",
    "drop": "Without these parts",
    "max_age_days": "Maximum age of a cached capture",
    "viewport_width": "Window",
    "viewport_height": "Window",
    **{field.name: field.served.label for field in _DECLARED.values()},
}
# What to write instead of values that do not match a pattern.
_TAKES = {
    "viewport_width": "choose one from the list",
    "viewport_height": "choose one from the list",
    "store": "write up to 64 letters, digits, '.', '_' and '-', beginning with a letter or a digit",
    **{field.name: field.served.takes for field in _DECLARED.values() if field.served.takes},
}
_LONGEST_URL = 8_192
_EXAMPLE = "https://example.org/news"
_MOST_FIELDS = 100
# Numbers as browsers send them; `int` and `float` also accept underscores and `nan`.
_NUMBER = re.compile(r"-?[0-9]{1,10}(\.[0-9]{1,10})?")
_END_OF_HOST = re.compile(r"[/?#\\]")
_WINDOW = re.compile(r"[0-9]{1,5}x[0-9]{1,5}")
_KNOWN: Mapping[str, JobKind] = {str(name): name for name in REQUESTS}
_SHOWN = 100  # characters of an address in a message


class FormError(ValueError):
    """A form is invalid; the message is for people.

    Parameters
    ----------
    message : what is wrong, and what to write instead.
    field : the name of the wrong field; empty if no single field is wrong.
    """

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


def read_form(body: bytes) -> dict[str, str]:
    """Parse a form as browsers send it; the last value of each name counts.

    Raises
    ------
    FormError : the body is not a form.
    """
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict"
        )
    except ValueError as error:
        raise FormError("This is not a form of this service.") from error
    return dict(pairs)


def request_from(fields: Mapping[str, str]) -> JobRequest:
    """Convert a form to a request; fields that belong to other kinds of jobs are ignored.

    Raises
    ------
    FormError : a field is wrong.
    """
    given = {name: fields.get(name, default).strip() for name, default in DEFAULTS.items()}
    kind = given["kind"]
    if kind not in _FIELDS:
        raise FormError("Choose what you want of the page.", field="kind")
    width, _, height = given["window"].partition("x")
    values: dict[str, Any] = {
        "url": address_in(given["url"]),
        "viewport_width": number_in(width),
        "viewport_height": number_in(height),
        **{field.name: _value(field, given[field.name]) for field in _fields_of(kind)},
    }
    if kind in _THAT_SELECT:
        values |= {name: lines_in(given[name]) for name in _SELECTORS}
    for name, field in _FIELDS[kind].items():
        values[name] = number_in(given[field]) if name in _NUMBERS and given[field] else given[field] or None
    if kind == "sync":
        values["store"] = values["store"] or (urlsplit(values["url"]).hostname or "")[:_LONGEST_STORE]
    else:
        values["max_age_days"] = number_in(given["max_age_days"]) if given["max_age_days"] else None
        values["refresh"] = bool(given["refresh"])
    if kind in _THAT_CLEAN:
        values["favor"] = given["favor"] if values["method"] == DEFAULT_METHOD else None
        values["metadata"] = bool(given["metadata"])
        values["hidden"] = given["hidden"]
        if values["format"] in _OF_PASSAGES:
            values["max_words"] = number_in(given["max_words"])
        values |= {f"{what}_kinds": _blocks(given, what) for what in ("keep", "drop")}
    if kind == "compare":
        values["twice"] = bool(given["twice"])
    if kind == "fields":
        values["urls"] = [address_in(line) for line in lines_in(given["fields_urls"])]
    if kind == "records":
        values["fields"] = [name for name in FIELD_NAMES if given[f"field_{name}"]]
    model = REQUESTS[_KNOWN[kind]]
    if "method" in values and given["params"]:
        values["params"] = _params(values["method"], given["params"])
    try:
        return model(**values)
    except ValidationError as error:
        wrong = error.errors()
        first = str(wrong[0]["loc"][0]) if wrong[0]["loc"] else ""
        sentences = dict.fromkeys(sentence_about(model, one, given["url"]) for one in wrong)
        raise FormError(" ".join(sentences), field=_field_of(kind, first)) from error


def fields_from(kind: str, request: Mapping[str, Any]) -> dict[str, str]:
    """Convert the request of a job to a form; empty if there is no form for it.

    Parameters
    ----------
    kind : the kind of the job.
    request : the stored request of the job; names that this version does not know are ignored.
    """
    if kind not in _FIELDS:
        return {}
    width, height = request.get("viewport_width"), request.get("viewport_height")
    fields = {
        "kind": kind,
        "url": _text(request.get("url")),
        **{field.name: _written(field, request) for field in _fields_of(kind)},
        **{name: _text(request.get(name)) or DEFAULTS[name] for name in ("favor", "hidden")},
        "window": f"{width}x{height}" if width and height else DEFAULTS["window"],
    }
    if kind in _THAT_SELECT:
        fields |= {name: "\n".join(map(str, request.get(name) or ())) for name in _SELECTORS}
    for name in ("max_words", "max_age_days"):
        fields[name] = _text(request.get(name, DEFAULTS[name]))
    for name in ("refresh", "metadata", "twice"):
        fields[name] = "1" if request.get(name) else ""
    for name, field in _FIELDS[kind].items():
        fields[field] = _text(request.get(name)) or DEFAULTS[field]
    fields["params"] = "\n".join(
        f"{name}={_word(value)}" for name, value in (request.get("params") or {}).items()
    )
    for what in ("keep", "drop"):
        fields |= {f"block_{block}": what for block in request.get(f"{what}_kinds") or ()}
    if kind == "fields":
        fields["fields_urls"] = "\n".join(map(str, request.get("urls") or ()))
    if kind == "records":
        fields |= {f"field_{name}": "1" for name in request.get("fields") or ()}
    return {name: text for name, text in fields.items() if name in DEFAULTS}


def choices_of(fields: Mapping[str, str]) -> dict[str, tuple[Choice, ...]]:
    """Return the choices of each list of the form, including the window in `fields` if it is not a usual one."""
    window = fields.get("window", "")
    if any(choice.value == window for choice in CHOICES["window"]) or not _WINDOW.fullmatch(window):
        return dict(CHOICES)
    return {**CHOICES, "window": (*CHOICES["window"], Choice(window, window.replace("x", " × ")))}


def _fields_of(kind: str) -> tuple[FormField, ...]:
    fields = REQUESTS[_KNOWN[kind]].model_fields.keys() - _LEFT_OUT.get(kind, frozenset())
    return tuple(field for field in _DECLARED.values() if field.name in fields)


def _value(field: FormField, text: str) -> Any:
    """Return the value of a field for a request, which checks it."""
    if field.kind == "check":
        return bool(text)
    if field.kind == "lines":
        return lines_in(text)
    if not text and field.is_optional:
        return None
    return number_in(text) if field.kind in {"number", "whole"} else text


def _written(field: FormField, request: Mapping[str, Any]) -> str:
    """Return the text of a field for a value in a request."""
    value = request.get(field.name, field.default)
    if field.kind == "check":
        return "1" if value else ""
    return "\n".join(map(str, value or ())) if field.kind == "lines" else _text(value)


def lines_in(text: str) -> list[str]:
    """Return the lines of a text that are not blank."""
    return [line for line in map(str.strip, text.splitlines()) if line]


def _blocks(given: Mapping[str, str], what: str) -> list[BlockKind]:
    for field in KIND_FIELDS:
        if given[field.value] not in {choice.value for choice in _OF_KIND}:
            raise FormError("Choose what to do with each kind of blocks.", field=field.value)
    return [kind for kind in BLOCK_KINDS if given[f"block_{kind}"] == what]


def _params(method: str | None, text: str) -> dict[str, Any]:
    """Return the parameters of a method, written as ``NAME=VALUE``, one per line.

    Raises
    ------
    FormError : the method has no such parameter, or the value is not valid.
    """
    try:
        entry = entry_of(method or DEFAULT_METHOD)  # type: ignore[arg-type]
        return {**entry.read(lines_in(text))}
    except KeyError as error:
        raise FormError("Choose a method from the list.") from error
    except ParameterError as error:
        raise FormError(error.message, field="params") from error


def _word(value: object) -> str:
    """Return the value of a parameter as text."""
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def address_in(text: str) -> str:
    """Return a web address; add the scheme if it is missing.

    Raises
    ------
    FormError : it is not a web address; the message has the reason.
    """
    if not text:
        raise FormError(f"Give the address of a page, such as {_EXAMPLE}.", field="url")
    scheme, has_scheme, rest = text.partition("://")
    if has_scheme and scheme.lower() not in {"http", "https"}:
        only = "Give the address of a web page: one that begins with http:// or https://"
        raise FormError(f"{only}. Nothing else is opened.", field="url")
    if len(text) > _LONGEST_URL:
        raise FormError(f"This address is longer than {_LONGEST_URL:,} characters.", field="url")
    if any(character.isspace() for character in text):
        raise FormError(
            "This is more than an address: it has spaces. Give one address at a time.", field="url"
        )
    if "@" in _END_OF_HOST.split(rest if has_scheme else text, maxsplit=1)[0]:
        raise FormError("Leave the user name and password out of the address.", field="url")
    return text if has_scheme else f"https://{text}"


def number_in(text: str) -> int | float | str:
    """Return a text as a number, or unchanged if it is none; the request then refuses it with its name."""
    if not _NUMBER.fullmatch(text):
        return text
    return float(text) if "." in text else int(text)


def _field_of(kind: str, name: str) -> str:
    """Return the field of the form for a field of a request."""
    if name == "urls":
        return "fields_urls"
    if name.startswith("viewport"):
        return "window"
    return _FIELDS[kind].get(name, name)


def sentence_about(model: type[JobRequest], error: Any, address: str) -> str:
    """Return a sentence that says what is wrong with a field, and what to write instead."""
    name = str(error["loc"][0]) if error["loc"] else ""
    if name == "url":
        shown = address if len(address) <= _SHOWN else f"{address[:_SHOWN]}…"
        return f"“{plain(shown)}” is not the address of a web page. Write one such as {_EXAMPLE}."
    what = str(error["msg"]).removeprefix("Value error, ").rstrip(".")
    if not name:
        return f"{what}."
    label = _LABELS.get(name, name.replace("_", " ").capitalize())
    if name in _TAKES:
        return f"{label}: {_TAKES[name]}."
    if error["type"] == "literal_error":
        return f"{label}: choose one from the list."
    bounds = [
        getattr(rule, side, None) for side in ("ge", "le") for rule in model.model_fields[name].metadata
    ]
    low_high = [f"{bound:,}" for bound in bounds if bound is not None]
    if len(low_high) == len(("low", "high")):
        known = _DECLARED.get(name)
        is_whole = known.kind == "whole" if known else name in {*_NUMBERS, "max_words"}
        whole = "whole number" if is_whole else "number"
        return f"{label}: write a {whole} from {' to '.join(low_high)}."
    return f"{label}: {what}."
