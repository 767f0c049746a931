"""The results of jobs as files: a folder for each job under the id we gave it, and in it a file for each result.

A file is named by the attempt that wrote it and by a number, never by what a page or a caller said. Rows name the
files: a file is written before its row and removed after it, so whatever no row names was left by a crash.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from domsieve.errors import StorageError
from domsieve.files import leftovers, sync_folder, write_file

RESULTS = "results"
"""Name of the folder of results in the folder of the service."""
_JOB = re.compile(r"[0-9a-f]{32}")
_PLACE = re.compile(r"([0-9]+)-[0-9]+")
_WHAT = "The result"


class ResultFiles:
    """The files below one folder; processes and threads may share it.

    Parameters
    ----------
    root : the folder, made with the first result.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, job: str, token: int, files: Sequence[bytes]) -> list[str]:
        """Write what an attempt at a job made, also on the disk itself; return the places, in order.

        Parameters
        ----------
        job : id of the job.
        token : of the claim under which they were made.
        files : what they hold.

        Raises
        ------
        StorageError : they cannot be written; nothing of them is left behind.
        """
        places = [f"{token}-{number}" for number in range(len(files))]
        try:
            for place, data in zip(places, files, strict=True):
                self.put(job, place, data)
        except BaseException:
            self.discard(job, places)
            raise
        return places

    def put(self, job: str, place: str, data: bytes) -> None:
        """Write one result at a place; raises as `write`."""
        folder = self._root / job
        write_file(folder / place, data, what=_WHAT)
        for changed in (folder, self._root):
            sync_folder(changed, what=_WHAT)

    def open(self, job: str, place: str) -> BinaryIO:
        """Open a result to be read; it can be read to its end also when it is removed meanwhile.

        Raises
        ------
        FileNotFoundError : there is none.
        StorageError : it cannot be read.
        """
        path = self._root / job / place
        try:
            return path.open("rb")
        except FileNotFoundError:
            raise
        except OSError as error:
            raise StorageError(f"{_WHAT} {path} cannot be read: {error.strerror}.") from error

    def discard(self, job: str, places: Iterable[str]) -> None:
        """Remove files of a job, and its folder when nothing else is in it; what cannot be removed stays."""
        folder = self._root / job
        for place in places:
            with contextlib.suppress(OSError):
                (folder / place).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            folder.rmdir()

    def discard_before(self, job: str, token: int) -> None:
        """Remove what earlier attempts at a job have left."""
        with contextlib.suppress(OSError):
            self.discard(job, [place for place in self._places(job) if attempt_of(place) < token])

    def remove(self, job: str) -> None:
        """Remove all files of a job; what cannot be removed stays."""
        shutil.rmtree(self._root / job, ignore_errors=True)

    def listed(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the id of each job that has a folder, with the places of the files in it."""
        for job in self._jobs():
            with contextlib.suppress(OSError):  # removed meanwhile
                yield job, self._places(job)

    def remove_parts(self, *, alone: bool) -> None:
        """Remove what writers that were killed have left half-written.

        Parameters
        ----------
        alone : whether no process can be writing now, so that all of it was left.
        """
        for job in self._jobs():
            folder = self._root / job
            with contextlib.suppress(OSError):
                for path in [*(folder.glob("*.part") if alone else leftovers(folder))]:
                    path.unlink(missing_ok=True)

    def _jobs(self) -> list[str]:
        try:
            return sorted(entry.name for entry in os.scandir(self._root) if _JOB.fullmatch(entry.name))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StorageError(f"The results in {self._root} cannot be read: {error.strerror}.") from error

    def _places(self, job: str) -> list[str]:
        return sorted(path.name for path in (self._root / job).iterdir() if _PLACE.fullmatch(path.name))


def attempt_of(place: str) -> int:
    """Return the token of the claim under which the file at a place was written."""
    found = _PLACE.fullmatch(place)
    return int(found[1]) if found else 0
