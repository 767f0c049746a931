"""The types of fields in requests: addresses, HTML, selectors and the like, with their limits and descriptions."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from domsieve.types import BLOCK_KINDS, BlockKind, FieldName

HTML_CHARACTERS = 3_000_000
"""Maximum length of HTML in a request. A guess, far above ordinary pages."""

# No user names, because lists and logs show addresses. No backslash, which browsers read as a slash and others do
# not.
_H = "[0-9A-Fa-f]{1,4}"
_V4 = r"(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(\.(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])){3}"
_V6 = (
    f"({_H}:){{7}}{_H}|({_H}:){{1,7}}:|({_H}:){{1,6}}:{_H}|({_H}:){{1,5}}(:{_H}){{1,2}}|({_H}:){{1,4}}(:{_H}){{1,3}}|"
    f"({_H}:){{1,3}}(:{_H}){{1,4}}|({_H}:){{1,2}}(:{_H}){{1,5}}|{_H}:(:{_H}){{1,6}}|:(:{_H}){{1,7}}|::|"
    f"({_H}:){{6}}{_V4}|::({_H}:){{0,5}}{_V4}|({_H}:){{1,5}}:{_V4}"
)
# Full-width and compatibility characters that normalise to one of /?#@: and so would move the end of the host name.
_WIDE = "\u2047-\u2049\u2100\u2101\u2105\u2106\u2a74\ufe13\ufe16\ufe55\ufe56\ufe5f\ufe6b"
_WIDE += "\uff03\uff0f\uff1a\uff1f\uff20"
_URL = (
    rf"^[Hh][Tt][Tt][Pp][Ss]?://(\[({_V6})\]|[^\x00-\x20\x7f/?#@:\[\]\\<>^|{_WIDE}]+)"
    r"(:([0-9]{0,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
    r"([/?#][^\x00-\x20\x7f]*)?$"
)
NO_URL = f"^$|{_URL}"


def wrong_form(name: str) -> str:
    """Return what is wrong with the value of a field that does not match its pattern, for people.

    Parameters
    ----------
    name : name of the field. The pattern itself would not help them.
    """
    return "Give an address with http:// or https://" if name == "url" else "It does not have the right form"


def _whole(value: object) -> object:
    """Return an int for a float without a fraction, because JSON does not distinguish 5 and 5.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
Whole = Annotated[int, WHOLE]
Html = Annotated[
    str,
    Field(
        min_length=1, max_length=HTML_CHARACTERS, description="The HTML itself; nothing is opened or loaded."
    ),
]
HtmlUrl = Annotated[
    str, Field(max_length=8192, pattern=NO_URL, description="Where the HTML came from, for its links.")
]
Url = Annotated[
    str,
    Field(
        max_length=8192,
        pattern=_URL,
        description="Address of the page, http or https, without a user name, with a host as browsers read it.",
        examples=["https://example.org/news/1"],
        json_schema_extra={"format": "iri"},
    ),
]


def _in_order(kinds: tuple[BlockKind, ...]) -> tuple[BlockKind, ...]:
    return tuple(kind for kind in BLOCK_KINDS if kind in kinds)


def _each_once(names: tuple[FieldName, ...]) -> tuple[FieldName, ...]:
    return tuple(dict.fromkeys(names))


Params = Annotated[
    dict[str, Annotated[bool | int | float | str | None, BeforeValidator(_whole)]],
    Field(
        max_length=50,
        json_schema_extra={"additionalProperties": {"type": ["boolean", "number", "string", "null"]}},
    ),
]
Kinds = Annotated[
    tuple[BlockKind, ...], Field(max_length=len(BLOCK_KINDS), strict=False), AfterValidator(_in_order)
]
FieldNames = Annotated[tuple[FieldName, ...], Field(max_length=20, strict=False), AfterValidator(_each_once)]
Selector = Annotated[str, Field(min_length=1, max_length=500, pattern=r"\S")]
# A JSON Schema pattern cannot express which selectors a stored page supports; a validator checks that.
Selectors = Annotated[
    tuple[Annotated[Selector, Field(json_schema_extra={"format": "css-selector"})], ...],
    Field(max_length=20, strict=False),
]
