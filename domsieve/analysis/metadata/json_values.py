"""Tolerant parsing of the JSON that pages embed."""

import json
import re
from typing import Any

from domsieve.budget import check

DEEPEST = 64
"""Maximum levels of nesting. Python's own recursion limit depends on the caller."""

# An unterminated string extends to the end of the text, so that no part of it is read twice.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
_COMMA_AT_END = re.compile(r",(?=\s{0,200}[\]}])")
_BAD_ESCAPE = re.compile(r'\\(?:u(?![0-9a-fA-F]{4})|[^"\\/bfnrtu])')
_WRAPPERS = ("<!--", "//<![CDATA[", "/*<![CDATA[*/", "<![CDATA[", "//]]>", "/*]]>*/", "]]>", "-->", ";")
_DECODER = json.JSONDecoder(strict=False)
_MOST_VALUES = 50


def read_json(text: str) -> list[Any]:
    """Return all consecutive JSON values in a text, up to the first error that cannot be repaired."""
    text = _unwrapped(text)
    values, rest = _values(text)
    if rest:
        repaired, _ = _values(_repaired(rest))
        values += repaired
    return values


def _values(text: str) -> tuple[list[Any], str]:
    """Return the values at the beginning of a text, and the text from the first error on."""
    if _depth(text) > DEEPEST:
        return [], ""
    values: list[Any] = []
    at = 0
    while len(values) < _MOST_VALUES:
        check()
        while at < len(text) and text[at] in " \t\r\n,;\ufeff\xa0":
            at += 1
        if at == len(text):
            return values, ""
        try:
            value, at = _DECODER.raw_decode(text, at)
        except ValueError:
            return values, text[at:]
        values.append(value)
    return values, ""


def _depth(text: str) -> int:
    """Return the depth of nested brackets outside of strings."""
    depth = deepest = 0
    for match in _TOKEN.finditer(text):
        mark = match[0][0]
        if mark in "[{":
            depth += 1
            if depth > deepest:
                deepest = depth
        elif mark != '"':
            depth = max(depth - 1, 0)
    return deepest


def _unwrapped(text: str) -> str:
    """Return a text without the comment marks that used to hide scripts from old browsers."""
    text = text.strip(" \t\r\n\ufeff")
    for _ in range(4):
        for mark in _WRAPPERS:
            text = text.removeprefix(mark).removesuffix(mark).strip()
    return text


def _repaired(text: str) -> str:
    """Return a text without commas before closing brackets and without invalid escapes."""
    parts: list[str] = []
    last = 0
    for match in _STRING.finditer(text):
        parts.append(_COMMA_AT_END.sub("", text[last : match.start()]))
        inner = match[0]
        parts.append(_BAD_ESCAPE.sub(lambda bad: "\\\\" + bad[0][1:], inner) if "\\" in inner else inner)
        last = match.end()
    parts.append(_COMMA_AT_END.sub("", text[last:]))
    return "".join(parts)
