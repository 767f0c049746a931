"""The text of CSS without its comments and escapes."""

import re

# https://www.w3.org/TR/css-syntax-3/#consume-escaped-code-point
_ESCAPE = re.compile(r"\\(?:([0-9A-Fa-f]{1,6})(?:\r\n|\s)?|([^\r\n\f]))")
_LAST_CHARACTER = 0x10FFFF
# Comments, and in group 1 strings, addresses and escapes, which have none.
_COMMENT = re.compile(
    r"""("(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?|[uU][rR][lL]\((?:\\[\s\S]|[^)"'\\])*|\\[\s\S])"""
    r"|/\*[\s\S]*?(?:\*/|\Z)"
)


def uncommented(text: str) -> str:
    """Return CSS without its comments."""
    return _COMMENT.sub(r"\1", text) if "/*" in text else text


def unescaped(text: str) -> str:
    """Return CSS with its escapes replaced by what they stand for."""
    return _ESCAPE.sub(_meant, text) if "\\" in text else text


def _meant(escape: re.Match[str]) -> str:
    digits, character = escape.groups()
    return chr(min(int(digits, 16), _LAST_CHARACTER)) if digits else character
