"""JSON of strangers as values of Python: mended where it is broken in a usual way, never deeper than it may be.

Imports the budget only.
"""

import json
import re
from typing import Any

from domsieve.budget import check

DEEPEST = 64
"""Levels of nesting; Python's own limit depends on who calls."""

# A string that does not end goes to the end of the text, so that no part of it is read twice.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
_COMMA_AT_END = re.compile(r",(?=\s{0,200}[\]}])")
_BAD_ESCAPE = re.compile(r'\\(?:u(?![0-9a-fA-F]{4})|[^"\\/bfnrtu])')
_WRAPPERS = ("<!--", "//<![CDATA[", "/*<![CDATA[*/", "<![CDATA[", "//]]>", "/*]]>*/", "]]>", "-->", ";")
_DECODER = json.JSONDecoder(strict=False)
_MOST_VALUES = 50


def read_json(text: str) -> list[Any]:
    """Return the values in a text, one behind the other; of one that cannot be mended those before the fault."""
    text = _unwrapped(text)
    values, rest = _values(text)
    if rest:
        again, _ = _values(_mended(rest))
        values += again
    return values


def _values(text: str) -> tuple[list[Any], str]:
    """Return the values at the beginning of a text, and the text from the first fault on."""
    if _depth(text) > DEEPEST:
        return [], ""
    found: list[Any] = []
    at = 0
    while len(found) < _MOST_VALUES:
        check()
        while at < len(text) and text[at] in " \t\r\n,;\ufeff\xa0":
            at += 1
        if at == len(text):
            return found, ""
        try:
            value, at = _DECODER.raw_decode(text, at)
        except ValueError:
            return found, text[at:]
        found.append(value)
    return found, ""


def _depth(text: str) -> int:
    """Return how deep brackets stand in one another; those in strings do not count."""
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
    """Return a text without the marks of comments that once hid scripts from old browsers."""
    text = text.strip(" \t\r\n\ufeff")
    for _ in range(4):
        for mark in _WRAPPERS:
            text = text.removeprefix(mark).removesuffix(mark).strip()
    return text


def _mended(text: str) -> str:
    """Return a text without commas before closing brackets and without escapes that JSON does not know."""
    parts: list[str] = []
    last = 0
    for match in _STRING.finditer(text):
        parts.append(_COMMA_AT_END.sub("", text[last : match.start()]))
        inner = match[0]
        parts.append(_BAD_ESCAPE.sub(lambda bad: "\\\\" + bad[0][1:], inner) if "\\" in inner else inner)
        last = match.end()
    parts.append(_COMMA_AT_END.sub("", text[last:]))
    return "".join(parts)
