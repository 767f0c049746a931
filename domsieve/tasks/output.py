"""Where results go: standard output, one file, or a file per page."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from domsieve.files import write_file
from domsieve.sanitize import plain
from domsieve.tasks.pages import Page

OUTPUT_FILE = "The output file"
"""How messages name a file of results."""


class Results:
    """Write the results of pages, one text per page. Files appear whole or not at all.

    Parameters
    ----------
    output : one file for all results. It is written at the end, unless there are no results or an error ends the
        work. None without a folder means standard output.
    folder : write one file per page to this folder instead, named after the page.
    ending : the ending of the files in the folder.
    heads : whether to write the name of each page on a line before its text.
    write : a function that writes to standard output; None prints directly.
    """

    def __init__(
        self,
        output: Path | None,
        folder: Path | None,
        ending: str,
        *,
        heads: bool,
        write: Callable[[str], object] | None = None,
    ) -> None:
        self._output = output
        self._folder = folder
        self._ending = ending
        self._heads = heads
        self._write = write
        self._parts: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._output and self._parts and kind is None:
            write_file(self._output, _bytes("".join(self._parts)), what=OUTPUT_FILE)

    def write(self, page: Page, text: str) -> None:
        """Write the result of one page.

        Raises
        ------
        StorageError : its file cannot be written.
        """
        if self._folder:
            write_file(self._folder / (page.name + self._ending), _bytes(text), what=OUTPUT_FILE)
            return
        whole = f"==> {plain(page.label)} <==\n{text}\n" if self._heads else text
        if self._output:
            self._parts.append(whole)
        else:
            (self._write or sys.stdout.write)(whole)


def _bytes(text: str) -> bytes:
    # Heads name files, whose names need not be UTF-8.
    return text.encode("utf-8", "surrogateescape")
