"""Where results of many pages go: a folder, or a place on an object store; files in it are whole or absent.

What is written is first a file of this machine. In a folder it gets its name when it is whole; an object store gets
it in one piece, under a name that is not there yet. Imports files and errors of the project.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Protocol

from domsieve.errors import StorageError, UsageError
from domsieve.files import leftovers, writing_file

OUTPUT = "The output file"


class Place(Protocol):
    """A place for files of results; their names are paths below it."""

    def names(self, folder: str = "") -> set[str]:
        """Return the names of the files directly in a folder of it, without the folder."""
        ...

    def writing(self, name: str, *, replace: bool = False) -> AbstractContextManager[Path]:
        """Return a block that gives a path to write a file to, which is at its name when the block ends well.

        Nobody meets half of it. A file that is there already holds the same, unless it is to be replaced.
        """
        ...

    def read(self, name: str) -> bytes:
        """Return what a file holds; raises a `StorageError` where there is none."""
        ...

    def opened(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """Return a block that gives a file to read some of; raises as `read`."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
        ...


def place_at(text: str) -> Place:
    """Return the place that a path, or an address such as ``s3://bucket/path``, names.

    Raises
    ------
    UsageError : the library for this kind of address is not installed, or there is none.
    """
    if "://" not in text:
        return _Folder(Path(text))
    try:
        import fsspec
    except ImportError as error:
        raise UsageError(f"{text} needs fsspec; install domsieve with the extra bulk.") from error
    try:
        system, root = fsspec.core.url_to_fs(text)
    except (ImportError, ValueError) as error:
        raise UsageError(f"{text} cannot be used: {error}.") from error
    return _Store(system, root, text)


def write(place: Place, name: str, data: bytes, *, replace: bool = False) -> None:
    """Write a file of these bytes."""
    with place.writing(name, replace=replace) as path:
        path.write_bytes(data)


class _Folder:
    """A folder of this machine."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def names(self, folder: str = "") -> set[str]:
        try:
            with os.scandir(self.root / folder) as entries:
                return {entry.name for entry in entries if entry.is_file() and not entry.name.startswith(".")}
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise StorageError(
                f"The folder {self.root / folder} cannot be listed: {error.strerror}."
            ) from error

    @contextmanager
    def writing(self, name: str, *, replace: bool = False) -> Iterator[Path]:  # noqa: ARG002
        # Who was quicker has written the same, so that it may be replaced.
        with writing_file(self.root / name, what=OUTPUT) as part:
            yield part

    def read(self, name: str) -> bytes:
        try:
            return (self.root / name).read_bytes()
        except OSError as error:
            raise StorageError(f"The file {self.root / name} cannot be read: {error.strerror}.") from error

    @contextmanager
    def opened(self, name: str) -> Iterator[IO[bytes]]:
        try:
            with (self.root / name).open("rb") as file:
                yield file
        except OSError as error:
            raise StorageError(f"The file {self.root / name} cannot be read: {error.strerror}.") from error

    def remove(self, name: str) -> None:
        try:
            (self.root / name).unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(f"The file {self.root / name} cannot be removed: {error.strerror}.") from error


class _Store:
    """A place that fsspec knows."""

    def __init__(self, system: Any, root: str, label: str) -> None:
        self._system, self._root, self._label = system, root.rstrip("/"), label.rstrip("/")

    def names(self, folder: str = "") -> set[str]:
        self._system.invalidate_cache()
        try:
            found = self._system.ls(self._path(folder), detail=True)
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise StorageError(f"{self._label}/{folder} cannot be listed: {error}.") from error
        return {str(entry["name"]).rpartition("/")[2] for entry in found if entry["type"] == "file"}

    @contextmanager
    def writing(self, name: str, *, replace: bool = False) -> Iterator[Path]:
        with TemporaryDirectory(prefix="domsieve-") as folder:
            part = Path(folder, "part")
            part.touch()
            yield part
            mode = {} if replace else {"mode": "create"}
            try:
                # Who was quicker has written the same.
                with suppress(FileExistsError):
                    self._system.put_file(str(part), self._path(name), **mode)
            except OSError as error:
                raise StorageError(f"{self._label}/{name} cannot be written: {error}.") from error

    def read(self, name: str) -> bytes:
        try:
            return bytes(self._system.cat_file(self._path(name)))
        except OSError as error:
            raise StorageError(f"{self._label}/{name} cannot be read: {error}.") from error

    @contextmanager
    def opened(self, name: str) -> Iterator[IO[bytes]]:
        try:
            with self._system.open(self._path(name), "rb") as file:
                yield file
        except OSError as error:
            raise StorageError(f"{self._label}/{name} cannot be read: {error}.") from error

    def remove(self, name: str) -> None:
        try:
            with suppress(FileNotFoundError):
                self._system.rm_file(self._path(name))
        except OSError as error:
            raise StorageError(f"{self._label}/{name} cannot be removed: {error}.") from error

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root


def tidy(text: str) -> None:
    """Remove what killed writers of this machine have left in a folder; nothing on object stores."""
    if "://" not in text:
        for path in list(leftovers(Path(text))):
            path.unlink(missing_ok=True)
