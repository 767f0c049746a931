"""Bytes by their offset: of a file, or of a stretch of one, as archives lie in zip files.

No file is held open, so that any number of pages can wait to be read. Imports the errors of the project.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from domsieve.errors import TargetError

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
    """The block of a source that was read last, and how much was read in all.

    Parameters
    ----------
    source : what is read.
    most_bytes : what may be read; None has no limit.
    """

    __slots__ = ("_block", "_most_bytes", "_start", "read_bytes", "source")

    def __init__(self, source: Source, most_bytes: int | None = None) -> None:
        self.source = source
        self.read_bytes = 0
        self._most_bytes = most_bytes
        self._start = 0
        self._block = b""

    def at(self, place: int, *, least: int = 1) -> bytes:
        """Return some bytes from `place` on, not fewer than `least` unless the source ends there; none at its end.

        Raises
        ------
        ReadOverError : the limit was met.
        """
        behind = place - self._start
        if not 0 <= behind <= len(self._block) - least:
            self._start, self._block = place, self.source.read_at(place, _BLOCK)
            self.read_bytes += len(self._block)
            if self._most_bytes is not None and self.read_bytes > self._most_bytes:
                raise ReadOverError
            return self._block
        return self._block[behind:] if behind else self._block
