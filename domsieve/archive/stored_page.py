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
    """Bytes that can be read at any offset, repeatedly."""

    @property
    def size(self) -> int:
        """Size on disk, in bytes."""
        ...

    def read_at(self, place: int, count: int) -> bytes:
        """Return up to `count` bytes from offset `place`; empty only at the end."""
        ...


@dataclass(frozen=True, slots=True)
class FileSource:
    """A stretch of a file.

    Parameters
    ----------
    path : the file.
    start, size : offset and length of the stretch, in bytes.
    """

    path: Path
    start: int
    size: int

    @classmethod
    def of(cls, path: Path) -> "FileSource":
        """Return the source for a whole file.

        Raises
        ------
        TargetError : the file cannot be read.
        """
        try:
            return cls(path, 0, path.stat().st_size)
        except OSError as error:
            raise unreadable(path, error) from error

    def read_at(self, place: int, count: int) -> bytes:
        """Return up to `count` bytes from offset `place`; empty only at the end.

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
    """Return the error for an archive that cannot be read."""
    return TargetError(f"Cannot read the archive '{path}': {error.strerror}.", stage="read")


class ReadOverError(Exception):
    """More was read or unpacked than the limits of a `Window` allow."""


class Window:
    """Reads a source in blocks, holds the last block, and counts the bytes that were read and unpacked.

    Parameters
    ----------
    source : the bytes.
    most_bytes : maximum numbers of bytes to read and to unpack; None for no limits.
    """

    __slots__ = ("_block", "_most", "_read", "_start", "_unpacked", "source")

    def __init__(self, source: Source, most_bytes: tuple[int, int] | None = None) -> None:
        self.source = source
        self._most = most_bytes
        self._read = self._unpacked = 0
        self._start = 0
        self._block = b""

    def at(self, place: int, *, least: int = 1) -> bytes:
        """Return at least `least` bytes from offset `place`; fewer only if the source ends there.

        Raises
        ------
        ReadOverError : a limit was exceeded.
        """
        offset = place - self._start
        if not 0 <= offset <= len(self._block) - least:
            self._start, self._block = place, self.source.read_at(place, _BLOCK)
            self._read += len(self._block)
            self._check()
            return self._block
        return self._block[offset:] if offset else self._block

    def count_unpacked(self, count: int) -> None:
        """Add `count` unpacked bytes.

        Raises
        ------
        ReadOverError : a limit was exceeded.
        """
        self._unpacked += count
        self._check()

    def _check(self) -> None:
        if self._most and (self._read > self._most[0] or self._unpacked > self._most[1]):
            raise ReadOverError


ARCHIVE_SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".wacz")
"""Suffixes of archives."""


class Body(NamedTuple):
    """Content of a stored page.

    Parameters
    ----------
    source : the page in its original character encoding, without transfer and content codings.
    headers : headers of the response, by name in lower case; empty for files.
    cuts : why the content is incomplete; empty if it is complete.
    """

    source: bytes
    headers: dict[str, str]
    cuts: tuple[Cut, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page in a file or an archive, whose content is read on demand.

    Parameters
    ----------
    url : address of the page, empty if unknown.
    label : name of the page in messages: its address or its file.
    status : HTTP status, None if there was none.
    content_type : Content-Type header, empty without one.
    captured_at : UTC time of the capture, ISO 8601 with seconds; empty if unknown.
    load : reads the content.
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
        ContentError : the archive has changed and no longer contains the page.
        TargetError : the file cannot be read.
        """
        return self.load().source

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the response, by name in lower case.

        Raises
        ------
        ContentError, TargetError : see `source`.
        """
        return self.load().headers


@dataclass(frozen=True, slots=True)
class DamagedPart:
    """A part of an archive that was skipped.

    Parameters
    ----------
    label : the archive, and the place in it.
    message : what is wrong, as a sentence.
    """

    label: str
    message: str


def is_archive(path: Path) -> bool:
    """Return whether the name of a file is that of an archive."""
    return path.name.lower().endswith(ARCHIVE_SUFFIXES)


def archives_below(folder: Path) -> list[Path]:
    """Return the archives in a folder and its subfolders, sorted by path; links to folders are not followed.

    Raises
    ------
    TargetError : the folder or a subfolder cannot be listed.
    """

    def fail(error: OSError) -> None:
        raise unreadable(folder, error) from error

    found = (Path(parent, name) for parent, _, names in os.walk(folder, onerror=fail) for name in names)
    return sorted(path for path in found if is_archive(path))
