"""Result files of jobs: one folder per job, named after its id, with one file per result.

A file is named after the token of the claim that wrote it and a number, never after text of a page or a caller. Rows
of the database name the files. A file is written before its row and removed after it, so a file that no row names is
a leftover of a crash.
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
"""The name of the folder of results in the folder of the service."""
_JOB = re.compile(r"[0-9a-f]{32}")
_PLACE = re.compile(r"([0-9]+)-[0-9]+")
_WHAT = "The result"


class ResultFiles:
    """The result files below a folder. Processes and threads may share the folder.

    Parameters
    ----------
    root : the folder; created with the first result.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, job: str, token: int, files: Sequence[bytes]) -> list[str]:
        """Write the results of a job and wait until they are on the disk; return their file names, in order.

        Parameters
        ----------
        job : the id of the job.
        token : the token of the claim under which the results were made.
        files : the content of each file.

        Raises
        ------
        StorageError : a file cannot be written. None of the files is left behind.
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
        """Write one result file and wait until it is on the disk.

        Raises
        ------
        StorageError : the file cannot be written.
        """
        folder = self._root / job
        write_file(folder / place, data, what=_WHAT)
        for changed in (folder, self._root):
            sync_folder(changed, what=_WHAT)

    def open(self, job: str, place: str) -> BinaryIO:
        """Open a result file for reading. It stays readable if it is removed meanwhile.

        Raises
        ------
        FileNotFoundError : the file does not exist.
        StorageError : the file cannot be opened.
        """
        path = self._root / job / place
        try:
            return path.open("rb")
        except FileNotFoundError:
            raise
        except OSError as error:
            raise StorageError(f"{_WHAT} {path} cannot be read: {error.strerror}.") from error

    def discard(self, job: str, places: Iterable[str]) -> None:
        """Remove files of a job, and its folder if it is then empty. Errors are ignored."""
        folder = self._root / job
        for place in places:
            with contextlib.suppress(OSError):
                (folder / place).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            folder.rmdir()

    def discard_before(self, job: str, token: int) -> None:
        """Remove the files of earlier attempts of a job. Errors are ignored."""
        with contextlib.suppress(OSError):
            self.discard(job, [place for place in self._places(job) if attempt_of(place) < token])

    def remove(self, job: str) -> None:
        """Remove all files of a job. Errors are ignored."""
        shutil.rmtree(self._root / job, ignore_errors=True)

    def listed(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the id of each job that has a folder, with the names of its result files."""
        for job in self._jobs():
            with contextlib.suppress(OSError):  # removed meanwhile
                yield job, self._places(job)

    def remove_parts(self, *, alone: bool) -> None:
        """Remove partly written files of killed writers.

        Parameters
        ----------
        alone : no other process can be writing now, so remove recent ones as well.
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
    """Return the token of the claim that wrote the file of this name."""
    match = _PLACE.fullmatch(place)
    return int(match[1]) if match else 0
