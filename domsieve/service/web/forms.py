"""The form of the web page: what can be chosen, in words for people, and the request that it asks for."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from pydantic import ValidationError

from domsieve.analysis import METHODS, MINERS
from domsieve.service.jobs.requests import REQUESTS, JobKind, PageRequest
from domsieve.vocabulary import BLOCK_KINDS, DEFAULT_METHOD, BlockKind


@dataclass(frozen=True, slots=True)
class Choice:
    """Something to choose: its value in the form, its name, and a few words on it."""

    value: str
    label: str
    note: str = ""


KINDS = (
    Choice("clean", "Content", "the text without menus, adverts and footers"),
    Choice("records", "Records", "what repeats on the page, as a table"),
    Choice("compare", "Compare", "does this page need a browser?"),
    Choice("report", "Report", "what each method keeps, and why"),
    Choice("site", "Whole site", "sample many pages and clean them"),
)
_METHODS = tuple(Choice(entry.name, entry.title, entry.summary) for entry in METHODS.values())
_MINERS = tuple(Choice(entry.name, entry.title, entry.summary) for entry in MINERS.values())
_CLEAN_FORMATS = (
    Choice("markdown", "Markdown"),
    Choice("text", "Plain text"),
    Choice("html", "HTML"),
    Choice("json", "JSON"),
    Choice("chunks", "Passages, as JSON lines"),
)
_RECORD_FORMATS = (
    Choice("jsonl", "JSON lines"),
    Choice("csv", "CSV"),
    Choice("parquet", "Parquet"),
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

_OF_KIND = (Choice("", "As the method says"), Choice("keep", "Keep"), Choice("drop", "Leave out"))
CHOICES: Mapping[str, tuple[Choice, ...]] = {
    "clean_method": _METHODS,
    "clean_format": _CLEAN_FORMATS,
    **{field.value: _OF_KIND for field in KIND_FIELDS},
    "records_method": _MINERS,
    "records_format": _RECORD_FORMATS,
    "site_method": _METHODS,
    "favor": (
        Choice("balance", "Balanced"),
        Choice("precision", "Less, but surer"),
        Choice("recall", "More, rather than lose some"),
    ),
    "site_format": _CLEAN_FORMATS,
    "window": (
        Choice("1280x800", "Desktop, 1280 × 800"),
        Choice("1920x1080", "Large, 1920 × 1080"),
        Choice("820x1180", "Tablet, 820 × 1180"),
        Choice("390x844", "Phone, 390 × 844"),
    ),
    "settle": (
        Choice("adaptive", "It stopped changing"),
        Choice("load", "It is loaded"),
        Choice("networkidle", "The network is quiet"),
    ),
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
    "site_pages": "20",
    "site_seed": "0",
    "window": "1280x800",
    "locale": "",
    "settle": "adaptive",
    "settle_extra_s": "0",
    "time_s": "20",
    "scroll": "",
    "refresh": "",
    **{field.value: "" for field in KIND_FIELDS},
    "keep_errors": "",
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
}
_THAT_CLEAN = frozenset(("clean", "site"))
_LABELS = {
    "url": "Address",
    "locale": "Language",
    "time_s": "Seconds a page may take",
    "settle_extra_s": "Further seconds to wait",
    "pages": "Pages",
    "seed": "Sample",
}
_MOST_FIELDS = 40
# As fields of browsers for numbers give them; `int` and `float` take underscores, too, and `nan`.
_NUMBER = re.compile(r"-?[0-9]{1,10}(\.[0-9]{1,10})?")


class FormError(ValueError):
    """A form asks for what cannot be; the message says what, for people."""


def read_form(body: bytes) -> dict[str, str]:
    """Return the fields of a form as a browser sends it, the last of each name.

    Raises
    ------
    FormError : it is no such form.
    """
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict"
        )
    except ValueError as error:
        raise FormError("This is not a form of this service.") from error
    return dict(pairs)


def request_from(fields: Mapping[str, str]) -> PageRequest:
    """Return what a form asks for; fields that belong to another choice are left out.

    Raises
    ------
    FormError : it cannot be.
    """
    given = {name: fields.get(name, default).strip() for name, default in DEFAULTS.items()}
    kind = given["kind"]
    if kind not in _FIELDS:
        raise FormError("Choose what to do.")
    width, _, height = given["window"].partition("x")
    values: dict[str, Any] = {
        "url": _address(given["url"]),
        "viewport_width": _number(width),
        "viewport_height": _number(height),
        "locale": given["locale"] or None,
        "settle": given["settle"],
        "settle_extra_s": _number(given["settle_extra_s"]),
        "time_s": _number(given["time_s"]),
        "scroll": bool(given["scroll"]),
        "refresh": bool(given["refresh"]),
        "keep_errors": bool(given["keep_errors"]),
    }
    for name, field in _FIELDS[kind].items():
        is_number = name in {"pages", "seed"}
        values[name] = _number(given[field]) if is_number else given[field] or None
    if kind in _THAT_CLEAN:
        values["favor"] = given["favor"] if values["method"] == DEFAULT_METHOD else None
        values |= {f"{what}_kinds": _blocks(given, what) for what in ("keep", "drop")}
    known: dict[str, JobKind] = {str(name): name for name in REQUESTS}
    try:
        return REQUESTS[known[kind]](**values)
    except ValidationError as error:
        raise FormError(" ".join(map(_sentence, error.errors()))) from error


def _blocks(given: Mapping[str, str], what: str) -> list[BlockKind]:
    if any(given[field.value] not in {choice.value for choice in _OF_KIND} for field in KIND_FIELDS):
        raise FormError("Choose what to do with each kind of blocks.")
    return [kind for kind in BLOCK_KINDS if given[f"block_{kind}"] == what]


def _address(text: str) -> str:
    return text if "://" in text or not text else f"https://{text}"


def _number(text: str) -> int | float | str:
    """Return the number that a text is, or the text, which is refused by its name later on."""
    if not _NUMBER.fullmatch(text):
        return text
    return float(text) if "." in text else int(text)


def _sentence(error: Any) -> str:
    name = str(error["loc"][0]) if error["loc"] else ""
    if name == "url":
        return "Give the address of a page, such as https://example.org/news."
    what = str(error["msg"]).removeprefix("Value error, ").rstrip(".")
    return f"{_LABELS.get(name, name.replace('_', ' '))}: {what}." if name else f"{what}."
