"""The words that say which pages a command works on: from its arguments, a file of them, or standard input."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from domsieve.tasks.targets import ListedWord, Word

_STDIN = "-"
_MOST_BYTES = 50_000_000  # of a page; no page that a browser shows is as large


def words_of(words: Sequence[str] | None, input_file: Path | None) -> "list[Word]":
    """Return what the arguments name, and what the lines of the file do; both may read standard input, but one only.

    Raises
    ------
    UsageError : nothing is named, standard input is named twice, or the file cannot be read.
    """
    from domsieve.errors import UsageError
    from domsieve.tasks.targets import PipedTarget

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
    return [*named, *(lines_of(input_file) if input_file else ())]


def lines_of(input_file: Path) -> "Iterator[ListedWord]":
    """Yield what the lines of a file name, - being standard input.

    Raises
    ------
    UsageError : it cannot be read.
    """
    from domsieve.errors import UsageError

    try:
        if str(input_file) == _STDIN:
            yield from _words_in(sys.stdin, "standard input")
            return
        with input_file.open(encoding="utf-8-sig", errors="surrogateescape") as lines:
            yield from _words_in(lines, str(input_file))
    except OSError as error:
        raise UsageError(f"--input-file {input_file}: {error.strerror}.") from error


def _words_in(lines: TextIO, name: str) -> "Iterator[ListedWord]":
    """Yield a word for each line that is not empty and does not begin with #."""
    from domsieve.tasks.targets import ListedWord

    words = ((number, line.strip()) for number, line in enumerate(lines, 1))
    for number, word in words:
        if word and not word.startswith("#"):
            yield ListedWord(word, f"{name}, line {number}")
