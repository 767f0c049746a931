"""Where results go: standard output, one file, or a file per page."""

import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from service._pages import Page
from snapshot import StorageError


class Results:
    """Takes one text per page; files appear whole or not at all.

    Parameters
    ----------
    output : one file for all results; None with no folder is standard output.
    folder : a file per page in this folder instead, named after the page.
    ending : of the files in the folder.
    heads : whether a line names the page in front of its text.
    """

    def __init__(self, output: Path | None, folder: Path | None, ending: str, *, heads: bool) -> None:
        self._output = output
        self._folder = folder
        self._ending = ending
        self._heads = heads
        self._parts: list[str] = []
        self._taken: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._output:
            _write(self._output, "".join(self._parts))

    def write(self, page: Page, text: str) -> None:
        """Take the result of one page.

        Raises
        ------
        StorageError : its file cannot be written.
        """
        if self._folder:
            name = page.name + self._ending
            # Pages that differ in their ending only, such as a.htm and a.html.
            if name in self._taken:
                name = str(Path(page.name).with_name(Path(page.label).name)) + self._ending
            self._taken.add(name)
            _write(self._folder / name, text)
            return
        whole = f"==> {page.label} <==\n{text}\n" if self._heads else text
        if self._output:
            self._parts.append(whole)
        else:
            sys.stdout.write(whole)


def _write(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8", newline="\n")
        part.replace(path)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}.") from error
