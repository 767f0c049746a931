"""A page in a file or an archive, read by offset, and which files are archives."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from domsieve.errors import TargetError
from domsieve.snapshot.cut import Cut

_BLOCK = 65_536


class Source(Protocol):
    """Bytes that can be read at any place, again and again."""

    @property
    def size(self) -> int:
        """What is read of the disk for all of it, in bytes."""
        ...

    def read_at(self, place: int, count: int) -> bytes:
        """Return up to `count` bytes from `place` on; none at the end only."""
        ...


@dataclass(frozen=True, slots=True)
class FileSource:
    """A stretch of a file.

    Parameters
    ----------
    path : the file.
    start, size : the stretch, in bytes.
    """

    path: Path
    start: int
    size: int

    @classmethod
    def of(cls, path: Path) -> "FileSource":
        """Return all of a file.

        Raises
        ------
        TargetError : it cannot be read.
        """
        try:
            return cls(path, 0, path.stat().st_size)
        except OSError as error:
            raise unreadable(path, error) from error

    def read_at(self, place: int, count: int) -> bytes:
        """Return up to `count` bytes from `place` on; none at the end only.

        Raises
        ------
        TargetError : the file cannot be read.
        """
        count = min(count, self.size - place)
        if count <= 0:
            return b""
        try:
            with self.path.open("rb", buffering=0) as file:
                return os.pread(file.fileno(), count, self.start + place)
        except OSError as error:
            raise unreadable(self.path, error) from error


def unreadable(path: Path, error: OSError) -> TargetError:
    """Return what is raised for an archive that cannot be read."""
    return TargetError(f"Cannot read the archive '{path}': {error.strerror}.", stage="read")


class ReadOverError(Exception):
    """So much was read of a source that it is no longer worth it."""


class Window:
    """The block of a source that was read last, and what reading it has cost.

    Parameters
    ----------
    source : what is read.
    most_bytes : what may be read of it, and what may be handed out of that, unpacked; None has no limit.
    """

    __slots__ = ("_block", "_most", "_read", "_start", "_unpacked", "source")

    def __init__(self, source: Source, most_bytes: tuple[int, int] | None = None) -> None:
        self.source = source
        self._most = most_bytes
        self._read = self._unpacked = 0
        self._start = 0
        self._block = b""

    def at(self, place: int, *, least: int = 1) -> bytes:
        """Return some bytes from `place` on, not fewer than `least` unless the source ends there; none at its end.

        Raises
        ------
        ReadOverError : a limit was met.
        """
        behind = place - self._start
        if not 0 <= behind <= len(self._block) - least:
            self._start, self._block = place, self.source.read_at(place, _BLOCK)
            self._read += len(self._block)
            self._check()
            return self._block
        return self._block[behind:] if behind else self._block

    def count_unpacked(self, count: int) -> None:
        """Take note of bytes that were handed out; raises as `at`."""
        self._unpacked += count
        self._check()

    def _check(self) -> None:
        if self._most and (self._read > self._most[0] or self._unpacked > self._most[1]):
            raise ReadOverError


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
