"""Escape untrusted text for terminals and logs, where control characters act as commands."""

import unicodedata

# Unicode categories: control, format (direction marks, invisible characters), line and paragraph separators.
_UNSAFE = frozenset({"Cc", "Cf", "Zl", "Zp"})


def plain(text: str) -> str:
    r"""Return `text` as one line without control characters.

    Line breaks become spaces, other control and format characters their escape, such as ``\x1b``. Lone surrogates
    are kept, because they stand for undecodable bytes of file names.
    """
    if text.isprintable():
        return text
    flat = " ".join(text.splitlines())
    return "".join(ascii(c)[1:-1] if unicodedata.category(c) in _UNSAFE else c for c in flat)


def utf8(text: str) -> str:
    """Return `text` with lone surrogates, such as undecodable bytes of a file name, replaced by U+FFFD."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:  # lone surrogates that do not come from a file name
        return text.encode("utf-8", "replace").decode()
