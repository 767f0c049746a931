"""The files of changes in a folder: ``changes.jsonl``, and the pages for people made from it."""

import re
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from domsieve.tasks.file_names import GONE, MANIFEST, fault_of_name
from domsieve.tasks.page_folder import PageFolder
from domsieve.tasks.site_sync.changes_feed import feed_of
from domsieve.tasks.site_sync.changes_page import page_of
from domsieve.tasks.site_sync.values import PageChange

CHANGES, PAGE, FEED = "changes.jsonl", "changes.html", "changes.atom"
MOST_BYTES = 10_000_000
"""Size of ``changes.jsonl`` above which older runs go to a file of their own, ``changes.RUN.jsonl``."""
_OLDER = re.compile(r"changes\.[0-9]{1,10}\.jsonl", re.ASCII)
_MOST_OLD_FILES = 9
_MOST_SHOWN = 500
"""Changes in the page for people and in the feed, the latest ones."""


def is_file_for_users(name: str) -> bool:
    """Return whether a name below the folder is that of a page's file, of the manifest or of a list of changes."""
    page = name.removeprefix(f"{GONE}/")
    return name in {MANIFEST, CHANGES, PAGE, FEED} or bool(_OLDER.fullmatch(name)) or not fault_of_name(page)


class ChangeLog:
    """Writes the changes of a run to a folder.

    Parameters
    ----------
    folder : the folder, open.
    most_bytes : see `MOST_BYTES`.
    """

    def __init__(self, folder: PageFolder, *, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes

    def add(self, changes: Sequence[PageChange], *, source: str, finished_run: int) -> None:
        """Add the changes of a run.

        Parameters
        ----------
        changes : of the run; may be empty.
        source : address of the site.
        finished_run : number of the last finished run: what later ones wrote was not finished, and is dropped.
        """
        data = self._folder.read(CHANGES) or b""
        lines = [
            line for line in data.splitlines(keepends=True) if _run_of(line) <= finished_run and line.strip()
        ]
        new = [msgspec.json.encode(change) + b"\n" for change in changes]
        if lines and sum(map(len, lines)) + sum(map(len, new)) > self._most_bytes:
            self._folder.write_own(f"changes.{_run_of(lines[-1])}.jsonl", b"".join(lines))
            self._drop_old()
            shown, lines = lines, []
        else:
            shown = lines
        self._folder.write_own(CHANGES, b"".join([*lines, *new]))
        latest = [*_decoded(shown[-_MOST_SHOWN:]), *changes][-_MOST_SHOWN:]
        self._folder.write_own(PAGE, page_of(latest, source=source).encode())
        self._folder.write_own(FEED, feed_of(latest, source=source))

    def _drop_old(self) -> None:
        old = sorted(
            (int(number), path)
            for path in self._folder.root.glob("changes.*.jsonl")
            if (number := path.name.split(".")[1]).isdecimal() and not path.is_symlink()
        )
        for _, path in old[:-_MOST_OLD_FILES]:
            path.unlink(missing_ok=True)


def _decoded(lines: Sequence[bytes]) -> list[PageChange]:
    found: list[PageChange] = []
    for line in lines:
        with suppress(msgspec.DecodeError):
            found.append(msgspec.json.decode(line, type=PageChange))
    return found


class _Run(msgspec.Struct):
    run: int = 0


def _run_of(line: bytes) -> int:
    """Return the number of the run of a line; 0 if a user has changed it."""
    try:
        return msgspec.json.decode(line, type=_Run).run
    except (msgspec.DecodeError, RecursionError):
        return 0
