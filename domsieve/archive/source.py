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
