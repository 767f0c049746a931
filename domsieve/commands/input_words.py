"""The words that say which pages a command works on: from its arguments, a file of them, or standard input."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from domsieve.tasks import ListedWord, Word

_STDIN = "-"
_MOST_BYTES = 50_000_000  # of a page; no page that a browser shows is as large


def words_of(words: Sequence[str] | None, input_file: Path | None) -> "list[Word]":
    """Return what the arguments name, and what the lines of the file do; both may read standard input, but one only.

    Raises
    ------
    UsageError : nothing is named, standard input is named twice, or the file cannot be read.
    """
    from domsieve.errors import UsageError
    from domsieve.tasks import PipedTarget

    named: list[Word] = list(words or ())
    if named.count(_STDIN) + (str(input_file) == _STDIN) > 1:
        raise UsageError("Standard input can be read only once.")
    if not named and input_file is None:
        raise UsageError("Say which pages: give URLs, files or other targets, or --input-file.")
    if _STDIN in named:
        source = sys.stdin.buffer.read(_MOST_BYTES + 1)
        if len(source) > _MOST_BYTES:
            raise UsageError(f"Standard input holds more than {_MOST_BYTES:,} bytes; that is no page.")
        named[named.index(_STDIN)] = PipedTarget(source)
    return [*named, *(_lines(input_file) if input_file else ())]


def _lines(input_file: Path) -> "list[ListedWord]":
    from domsieve.errors import UsageError

    try:
        if str(input_file) == _STDIN:
            return _words_in(sys.stdin, "standard input")
        with input_file.open(encoding="utf-8-sig", errors="surrogateescape") as lines:
            return _words_in(lines, str(input_file))
    except OSError as error:
        raise UsageError(f"--input-file {input_file}: {error.strerror}.") from error


def _words_in(lines: TextIO, name: str) -> "list[ListedWord]":
    """Return a word for each line that is not empty and does not begin with #."""
    from domsieve.tasks import ListedWord

    words = ((number, line.strip()) for number, line in enumerate(lines, 1))
    return [
        ListedWord(word, f"{name}, line {number}")
        for number, word in words
        if word and not word.startswith("#")
    ]
