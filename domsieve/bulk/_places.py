"""Places for results: a folder, or a path on an object store. Files appear whole or not at all.

Files are first written on this machine. In a folder, a file gets its name when it is complete; an object store
receives it in one piece, under a name that does not exist yet.
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
    """A place for files of results; their names are paths in it."""

    def names(self, folder: str = "") -> set[str]:
        """Return the names of the files in a folder of the place, without the folder and its subfolders."""
        ...

    def writing(self, name: str, *, replace: bool = False) -> AbstractContextManager[Path]:
        """Provide a path to write a file to; it gets its name if the block ends without an error.

        No reader sees a partial file. An existing file has the same content, unless `replace` is set.
        """
        ...

    def read(self, name: str) -> bytes:
        """Return the content of a file; raise a `StorageError` if it does not exist."""
        ...

    def opened(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """Open a file for reading parts of it; raises the errors of `read`."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""
        ...


def place_at(text: str) -> Place:
    """Return the place at a path, or at an address such as ``s3://bucket/path``.

    Raises
    ------
    UsageError : the address is not supported, or its library is not installed.
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
    """Write a file."""
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
        # A faster process has written the same content, so it may be replaced.
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
    """A place on a file system of fsspec."""

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
                # A faster process has written the same content.
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
    """Remove temporary files of killed processes of this machine from a folder; do nothing on object stores."""
    if "://" not in text:
        for path in list(leftovers(Path(text))):
            path.unlink(missing_ok=True)
