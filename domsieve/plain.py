"""Words of strangers in a line of a terminal or a log, where control characters are commands.

Imports nothing of the project.
"""

import unicodedata

# Controls, marks that turn the direction of writing or cannot be seen, and ends of lines.
_STEERING = frozenset({"Cc", "Cf", "Zl", "Zp"})


def plain(text: str) -> str:
    r"""Return `text` as one line that steers nothing: ``\x1b`` stands where an escape character was.

    Ends of lines become spaces. Half surrogates stay, for they stand for the bytes of file names.
    """
    if text.isprintable():
        return text
    flat = " ".join(text.splitlines())
    return "".join(ascii(c)[1:-1] if unicodedata.category(c) in _STEERING else c for c in flat)


def utf8(text: str) -> str:
    """Return `text` as UTF-8 can hold it: U+FFFD stands where a file name has bytes that are no UTF-8."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:  # half surrogates that no file name brought
        return text.encode("utf-8", "replace").decode()
