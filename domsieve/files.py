"""Files that are whole or absent: written under a temporary name, flushed to disk, renamed.

Imports the errors of the project only.
"""

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from uuid import uuid4

import zstandard

from domsieve.errors import DamagedFileError, StorageError

CACHE_FILE = "The cache file"
"""What messages call a file of the cache."""
_PART = ".part"
_USUAL_MODE = 0o666


def default_cache_dir() -> Path:
    """Return `DOMSIEVE_CACHE`, or ``pages_cache`` under the working directory."""
    return Path(os.environ.get("DOMSIEVE_CACHE") or "pages_cache")


def digest_of(data: bytes) -> str:
    """Return 32 hex digits that name these bytes."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def write_file(path: Path, data: bytes, *, what: str, mode: int = _USUAL_MODE) -> None:
    """Write or replace a file; whoever reads it sees the old bytes or the new ones, also after a loss of power.

    Parameters
    ----------
    path : the file; its folder is made if need be.
    data : what it holds from now on.
    what : what the message of an error calls the file, such as ``"The model"``.
    mode : who may read and write it, less what the process' own mask forbids.

    Raises
    ------
    StorageError : it cannot be written; nothing of it is left behind.
    """
    with writing_file(path, what=what, mode=mode) as part:
        part.write_bytes(data)


@contextmanager
def writing_file(path: Path, *, what: str, mode: int = _USUAL_MODE) -> Iterator[Path]:
    """Give a new place to write a file to, which gets its name `path` when the block ends without an error.

    Parameters and what is raised are those of `write_file`; errors of the system in the block are taken for its own.
    """
    part = _part_of(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
            yield part
            with part.open("rb+") as file:
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{what} {path} cannot be written: {error.strerror}.") from error


def sync_folder(folder: Path, *, what: str) -> None:
    """Make sure that the files in a folder bear their names also after a loss of power.

    Parameters
    ----------
    folder : the folder.
    what : what the message of an error calls a file in it.

    Raises
    ------
    StorageError : it cannot be done.
    """
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
    except OSError as error:
        raise StorageError(f"{what} in {folder} cannot be written: {error.strerror}.") from error


def create_database(
    path: Path, schema: str, *, version: int, shrinks: Literal["full", "incremental"]
) -> None:
    """Make an SQLite database in WAL mode, unless another process was quicker.

    It is made beside its place and linked there, because SQLite itself cannot be made by two at once.

    Parameters
    ----------
    path : the file; its folder is made if need be.
    schema : SQL that makes the tables.
    version : kept as ``user_version``.
    shrinks : when it gives room back to the disk: at the end of each transaction, or bit by bit when it is asked to.

    Raises
    ------
    OSError, sqlite3.Error : it cannot be made; nothing of it is left behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = _part_of(path)
    try:
        database = sqlite3.connect(part)
        try:
            database.execute(f"PRAGMA auto_vacuum = {shrinks}")  # heeded before anything else is written
            database.executescript(
                f"PRAGMA journal_mode = WAL; BEGIN; {schema} PRAGMA user_version = {version}; COMMIT;"
            )
        finally:
            database.close()
        path.hardlink_to(part)
    except FileExistsError:
        pass
    finally:
        part.unlink(missing_ok=True)


def read_file(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises
    ------
    DamagedFileError : there is no such file.
    StorageError : it cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise DamagedFileError(f"{CACHE_FILE} {path} is missing; capture the page again.") from error
    except OSError as error:
        raise StorageError(f"{CACHE_FILE} {path} cannot be read: {error.strerror}.") from error


def write_packed(path: Path, data: bytes, *, level: int = 3) -> None:
    """Write a compressed file of the cache, named by the digest of what it holds; raises as `write_file`."""
    write_file(path, zstandard.compress(data, level), what=CACHE_FILE)


def read_packed(path: Path) -> bytes:
    """Return what was written by `write_packed`.

    Raises
    ------
    DamagedFileError : the file is missing, or not as it was written.
    StorageError : it cannot be read.
    """
    try:
        data = zstandard.decompress(read_file(path))
    except (zstandard.ZstdError, MemoryError) as error:
        raise DamagedFileError(f"{CACHE_FILE} {path} is damaged ({error}).") from error
    if digest_of(data) != path.stem:
        raise DamagedFileError(f"{CACHE_FILE} {path} is damaged.")
    return data


def remove_file(path: Path) -> None:
    """Remove a file if it is there.

    Raises
    ------
    StorageError : it cannot be removed.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{CACHE_FILE} {path} cannot be removed: {error.strerror}.") from error


def leftovers(folder: Path) -> Iterator[Path]:
    """Yield what writers that were killed have left in and below `folder`."""
    for path in sorted(folder.rglob(f"*{_PART}")):
        writer = path.name.removesuffix(_PART).rpartition(".")[2].partition("-")[0]
        if not (writer.isdecimal() and _is_alive(int(writer))):
            yield path


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is somebody else's
        return True
    return True


def _part_of(path: Path) -> Path:
    """Return a new name in the folder of a file, to write it there before it gets its own.

    Not made of the file's own name, which may be as long as names can be.
    """
    return path.with_name(f".domsieve.{os.getpid()}-{uuid4().hex}{_PART}")
