"""Where results go: standard output, one file, or a folder with a file per page and a manifest."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from domsieve.analysis.writers.formats import FormatEntry
from domsieve.files import digest_of, write_file
from domsieve.sanitize import plain
from domsieve.snapshot.page import Provenance
from domsieve.tasks.file_names import PageKey
from domsieve.tasks.manifest import PageEntry
from domsieve.tasks.page_folder import PageFolder
from domsieve.tasks.pages import Page

OUTPUT_FILE = "The output file"
"""How messages name a file of results."""


class Results:
    """Write the texts of pages one after the other, to one file or standard output.

    Parameters
    ----------
    output : the file. It is written at the end, unless there are no results or an error ends the work. None means
        standard output.
    heads : whether to write the name of each page on a line before its text.
    write : a function that writes to standard output; None prints directly.
    """

    def __init__(
        self, output: Path | None, *, heads: bool, write: Callable[[str], object] | None = None
    ) -> None:
        self._output = output
        self._heads = heads
        self._write = write
        self._parts: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._output and self._parts and kind is None:
            write_file(self._output, encoded("".join(self._parts)), what=OUTPUT_FILE)

    def write(self, page: Page, text: str) -> None:
        """Write the result of one page."""
        whole = f"==> {plain(page.label)} <==\n{text}\n" if self._heads else text
        if self._output:
            self._parts.append(whole)
        else:
            (self._write or sys.stdout.write)(whole)


class ResultFolder:
    """Write a file per page into a folder, and at the end a manifest of them; see `PageFolder`.

    The manifest keeps the pages of earlier runs. It is also written if an error ends the work, with the files so far.

    Parameters
    ----------
    root : the folder.
    entry : the format of the files.

    Raises
    ------
    StorageError : on entering: the folder cannot be used, or has a manifest that is not one of domsieve.
    """

    def __init__(self, root: Path, entry: FormatEntry) -> None:
        self.root = root
        self._folder = PageFolder(root)
        self._entry = entry
        self._names: dict[PageKey, str] = {}
        self._written: dict[str, PageEntry] = {}

    def __enter__(self) -> Self:
        self._folder.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._written:
                self._folder.finish({**self._folder.entries, **self._written}.values())
        finally:
            self._folder.__exit__(kind, error, trace)

    def summary(self) -> str:
        """Return how many files were written and where, in a sentence."""
        number = len(self._written)
        return f"{self.root}: {number:,} file{'s' * (number != 1)}."

    def expect(self, pages: Iterable[PageKey]) -> None:
        """Name the files of all pages, before the first is written."""
        self._names = self._folder.names(pages, self._entry)

    def write(
        self, page: PageKey, data: bytes, origin: Provenance, *, expected_f1: float | None = None
    ) -> Path | None:
        """Write the file of a page; return its path if it was kept because a user has edited or added it.

        Raises
        ------
        StorageError : it cannot be written.
        """
        name = self._names[page]
        known = self._folder.entries.get(name)
        if self._folder.write(name, data, content_hash=known.content_hash if known else None) == "kept":
            return self.root / name
        digest = digest_of(data)
        self._written[name] = PageEntry(
            url=page[0],
            file=name,
            format=self._entry.name,
            first_seen=known.first_seen if known else origin.captured_at,
            last_changed=known.last_changed if known and known.content_hash == digest else origin.captured_at,
            source_hash=origin.source_digest or None,
            content_hash=digest,
            # A page that was only fetched although it could have been rendered.
            needs_browser=False if origin.producer == "raw" and origin.reason else None,
            expected_f1=expected_f1,
            capture=page[1],
        )
        return None


def encoded(text: str) -> bytes:
    """Return a text as UTF-8. Heads name files, whose names need not be UTF-8."""
    return text.encode("utf-8", "surrogateescape")
