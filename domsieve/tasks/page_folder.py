"""A folder with a file per page and a manifest, which people may edit and other programs may read.

Files appear whole or not at all, and the manifest is written last. What a user has edited or added is never
overwritten or removed. Links below the folder are not followed, so nothing outside it is read or written. Before a
file is written, its hash is noted in a journal: a run that follows a killed one knows the files that it left.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal, Self

import msgspec

from domsieve.analysis.writers.formats import FormatEntry
from domsieve.errors import StorageError
from domsieve.files import USUAL_MODE, digest_of, leftovers, part_name, sync_folder
from domsieve.tasks.file_names import MANIFEST, PageKey, fault_of_name, file_names
from domsieve.tasks.manifest import PageEntry, decoded, encoded

JOURNAL = ".domsieve-journal"
"""Hashes of files that were written since the manifest; it exists only during a run or after a killed one."""
MOST_BYTES = 1_000_000_000
"""The largest file that is read; files of pages are far smaller."""

Outcome = Literal["written", "unchanged", "kept"]
"""What happened to a file: it was written, already had this content, or was kept as a user edited or added it."""
State = Literal["missing", "ours", "edited"]
"""Whether a file is as domsieve wrote it; ``"edited"`` also means a link or a folder in its place."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A FIFO would block without O_NONBLOCK.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# Errors of opening a path with a link, or with a file instead of a folder.
_IN_THE_WAY = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO})
_Notes = dict[str, set[str]]


class PageFolder:
    """A folder of files of pages, as a context manager: a second run on the same folder is refused meanwhile.

    Parameters
    ----------
    root : the folder; it may be a link itself. It is created, and removed again if it stays empty.
    is_read_only : only read files, beside a run that may be writing; nothing is locked, and `entries` stays empty.

    Attributes
    ----------
    entries : what the manifest says, by file; empty without a manifest.
    """

    def __init__(self, root: Path, *, is_read_only: bool = False) -> None:
        self.root = root
        self._is_read_only = is_read_only
        self.entries: dict[str, PageEntry] = {}
        self._noted: _Notes = {}
        self._touched: set[str] = set()
        self._descriptor = -1

    def __enter__(self) -> Self:
        """Lock the folder and read its manifest.

        Raises
        ------
        StorageError : the folder or its manifest cannot be read, the manifest is not one of domsieve, or another run
            uses the folder.
        """
        with self._failing("", "used"):
            if not self._is_read_only:
                self.root.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        if self._is_read_only:
            return self
        try:
            self._lock()
            manifest = self.read(MANIFEST)
            if manifest is None and self.state(MANIFEST, None) != "missing":
                raise StorageError(f"{self.root / MANIFEST} is a link or a folder, or too large; remove it.")
            self.entries = decoded(manifest or b"", name=str(self.root / MANIFEST))
            self._noted = _notes_in(self.read(JOURNAL) or b"")
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def names(self, pages: Iterable[PageKey], entry: FormatEntry) -> dict[PageKey, str]:
        """Return the file name of each page in a format; pages in the manifest keep theirs.

        Parameters
        ----------
        pages : addresses without user name and password, or paths below a common folder, each with the number of its
            capture.
        entry : the format.
        """
        known = self.entries.values()
        return file_names(
            pages,
            ending=entry.ending,
            taken={one.key: one.file for one in known if one.format == entry.name},
            others=[one.file for one in known if one.format != entry.name],
        )

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; see `open`."""
        with self._failing(name, "read"):
            file = self.open(name)
            if file is None:
                return None
            with file:
                return file.read()

    def open(self, name: str) -> BinaryIO | None:
        """Open a file for reading; return None if there is none, or something that cannot be a page's file.

        Parameters
        ----------
        name : the path of the file below the folder, with ``/``.

        Raises
        ------
        StorageError : the file cannot be read.
        """
        with self._failing(name, "read"):
            try:
                with self._inside(name) as (folder, last):
                    descriptor = os.open(last, _FILE, dir_fd=folder)
            except FileNotFoundError:
                return None
            except OSError as error:
                if error.errno in _IN_THE_WAY:
                    return None
                raise
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
                os.close(descriptor)
                return None
            return os.fdopen(descriptor, "rb")

    def state(self, name: str, content_hash: str | None) -> State:
        """Return whether a file still has the content that domsieve wrote.

        Parameters
        ----------
        name : the path of the file below the folder.
        content_hash : the hash of the content in the manifest; None if the manifest does not have the file.

        Raises
        ------
        StorageError : the file cannot be read.
        """
        data = self.read(name)
        if data is None:
            return "edited" if self._exists(name) else "missing"
        return "ours" if digest_of(data) in {content_hash, *self._noted.get(name, ())} else "edited"

    def write(self, name: str, data: bytes, *, content_hash: str | None) -> Outcome:
        """Write the file of a page, unless a user has edited or added a file of this name.

        Parameters
        ----------
        name : the path of the file below the folder, as of `file_names`.
        data : the content.
        content_hash : the hash of the content in the manifest; None if the manifest does not have the file.

        Raises
        ------
        StorageError : the file cannot be written, or the name is not allowed; no partial file is left.
        """
        if fault := fault_of_name(name):
            raise StorageError(f"{name!a} cannot be the name of a file in {self.root}: {fault}.")
        if self.read(name) == data:
            return "unchanged"
        if self.state(name, content_hash) == "edited":
            return "kept"
        self._note(name, digest_of(data))
        return "written" if self._put(name, data) else "kept"

    def remove(self, name: str, *, content_hash: str | None) -> bool:
        """Remove a file of a page, and folders that are empty then; return False if a user has edited it.

        Raises
        ------
        StorageError : the file cannot be removed.
        """
        state = self.state(name, content_hash)
        if state == "ours":
            with self._failing(name, "removed"):
                with self._inside(name) as (folder, last):
                    os.unlink(last, dir_fd=folder)
                with suppress(OSError):  # a folder with other files
                    while "/" in name:
                        name = name.rpartition("/")[0]
                        with self._inside(name) as (folder, last):
                            os.rmdir(last, dir_fd=folder)
                        self._touched.discard(name)
        return state != "edited"

    def move(self, name: str, to: str, *, content_hash: str | None) -> Outcome:
        """Move the file of a page below the folder, such as one into the subfolder `file_names.GONE`.

        Returns ``"kept"`` if a user has edited it or another file is at `to`, ``"unchanged"`` if there is no file.

        Raises
        ------
        StorageError : the file cannot be moved.
        """
        state, data = self.state(name, content_hash), self.read(name)
        if state == "missing" or data is None:
            return "unchanged" if state == "missing" else "kept"
        if state == "edited" or (self._exists(to) and self.read(to) != data) or not self._put(to, data):
            return "kept"
        self.remove(name, content_hash=content_hash)
        return "written"

    def write_own(self, name: str, data: bytes) -> None:
        """Write or replace a file that domsieve keeps in the folder for itself, such as a list of changes.

        Raises
        ------
        StorageError : the file cannot be written; no partial file is left.
        """
        if not self._put(name, data):
            raise StorageError(f"The file {self.root / name} cannot be written: a link is in its way.")

    def finish(self, entries: Iterable[PageEntry]) -> None:
        """Write the manifest, after everything else.

        Files of a killed run that the manifest does not have are removed.

        Raises
        ------
        StorageError : the manifest cannot be written.
        """
        self.entries = {entry.file: entry for entry in entries}
        for name in sorted(self._noted.keys() - self.entries.keys()):
            if not fault_of_name(name):
                self.remove(name, content_hash=None)
        for folder in sorted(self._touched):
            sync_folder(self.root / folder, what="The files")
        self.write_own(MANIFEST, encoded(self.entries.values()))
        self._noted = {}
        with self._failing(JOURNAL, "removed"):
            with suppress(FileNotFoundError):
                os.unlink(JOURNAL, dir_fd=self._descriptor)
            for path in list(leftovers(self.root)):
                path.unlink(missing_ok=True)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StorageError(
                f"Another run is writing to {self.root}; wait until it has ended.", retry=True
            ) from error
        except OSError:  # file systems of other machines may have no locks
            pass

    def _close(self) -> None:
        os.close(self._descriptor)
        self._descriptor = -1
        if not self._is_read_only:
            with suppress(OSError):
                self.root.rmdir()

    def _note(self, name: str, digest: str) -> None:
        """Note in the journal that a file of this content is ours."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        with self._failing(JOURNAL, "written"):
            descriptor = os.open(JOURNAL, flags, USUAL_MODE, dir_fd=self._descriptor)
            with os.fdopen(descriptor, "wb", buffering=0) as journal:
                # A killed run may have left the start of a line.
                journal.write(b"\n" + msgspec.json.encode([name, digest]) + b"\n")
                os.fsync(descriptor)
        self._noted.setdefault(name, set()).add(digest)

    def _put(self, name: str, data: bytes) -> bool:
        """Write or replace a file; return False if a link or a folder is in its way."""
        with self._failing(name, "written"):
            try:
                with self._inside(name, make=True) as (folder, last):
                    if _is_other(last, folder):
                        return False
                    part = part_name()
                    try:
                        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                        with os.fdopen(os.open(part, flags, USUAL_MODE, dir_fd=folder), "wb") as file:
                            file.write(data)
                            file.flush()
                            os.fsync(file.fileno())
                        os.replace(part, last, src_dir_fd=folder, dst_dir_fd=folder)
                    finally:
                        with suppress(FileNotFoundError):
                            os.unlink(part, dir_fd=folder)
                    self._touched.add(name.rpartition("/")[0])
            except OSError as error:
                if error.errno in _IN_THE_WAY:
                    return False
                raise
        return True

    def _exists(self, name: str) -> bool:
        """Return whether anything has this name; also if a link or a file is where one of its folders should be."""
        with self._failing(name, "read"):
            try:
                with self._inside(name) as (folder, last):
                    os.stat(last, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                return False
            except OSError as error:
                if error.errno not in _IN_THE_WAY:
                    raise
        return True

    @contextmanager
    def _inside(self, name: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """Yield a descriptor of the folder that a file is in, opened without following links, and the file's name."""
        *folders, last = name.split("/")
        descriptor = os.dup(self._descriptor)
        try:
            for folder in folders:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(folder, dir_fd=descriptor)
                inner = os.open(folder, _FOLDER, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            yield descriptor, last
        finally:
            os.close(descriptor)

    @contextmanager
    def _failing(self, name: str, verb: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            what = f"The file {self.root / name}" if name else f"The folder {self.root}"
            raise StorageError(f"{what} cannot be {verb}: {error.strerror}.") from error


def _is_other(name: str, folder: int) -> bool:
    """Return whether something that is no file has this name."""
    try:
        return not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _notes_in(journal: bytes) -> _Notes:
    """Return the names and hashes in a journal, without lines that are damaged."""
    notes: _Notes = {}
    for line in journal.splitlines():
        with suppress(msgspec.DecodeError):
            name, digest = msgspec.json.decode(line, type=tuple[str, str])
            notes.setdefault(name, set()).add(digest)
    return notes
