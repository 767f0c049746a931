"""What a page in a file or an archive is to those who work on it, and which files are archives.

Apart from the reading, so that a command that meets no archive does not load it.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from domsieve.archive.source import unreadable
from domsieve.snapshot.cut import Cut

ARCHIVE_SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".wacz")
"""Endings of the names of archives."""


class Body(NamedTuple):
    """What a stored page holds.

    Parameters
    ----------
    source : the page without transfer and content codings, in its own character encoding.
    headers : of the answer, by their names in lower case; none of a file.
    cuts : why it is not whole.
    """

    source: bytes
    headers: dict[str, str]
    cuts: tuple[Cut, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page in a file or an archive; what it holds is read when it is asked for.

    Parameters
    ----------
    url : its address, empty where that is not known.
    label : names it in messages: its address, or its file.
    status : of HTTP, None where there was none.
    content_type : the header of that name, empty without one.
    captured_at : UTC time of the capture, ISO 8601 with seconds, empty where that is not known.
    load : reads it.
    """

    url: str
    label: str
    status: int | None
    content_type: str
    captured_at: str
    load: Callable[[], Body] = field(repr=False, compare=False)

    @property
    def source(self) -> bytes:
        """The bytes of the page, unpacked.

        Raises
        ------
        ContentError : the archive does not hold it any more.
        TargetError : the file cannot be read.
        """
        return self.load().source

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer, by their names in lower case; raises as `source`."""
        return self.load().headers


@dataclass(frozen=True, slots=True)
class DamagedPart:
    """A part of an archive that was skipped.

    Parameters
    ----------
    label : the archive and where in it.
    message : what is wrong, as a sentence.
    """

    label: str
    message: str


def is_archive(path: Path) -> bool:
    """Return whether a file is an archive by its name."""
    return path.name.lower().endswith(ARCHIVE_SUFFIXES)


def archives_below(folder: Path) -> list[Path]:
    """Return the archives in and below a folder, sorted by path; links to folders are not followed.

    Raises
    ------
    TargetError : it cannot be listed.
    """

    def fail(error: OSError) -> None:
        raise unreadable(folder, error) from error

    found = (Path(parent, name) for parent, _, names in os.walk(folder, onerror=fail) for name in names)
    return sorted(path for path in found if is_archive(path))
