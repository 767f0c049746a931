"""Write files atomically: under a temporary name, flushed to disk, then renamed."""

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
"""Name of a cache file in error messages."""
_PART = ".part"
_PART_ENDINGS = ("", "-journal", "-shm", "-wal")  # SQLite's files of a database
USUAL_MODE = 0o666
"""Permission bits of most files, reduced by the umask of the process."""

OWNER_ONLY = 0o600
"""Permission bits of files that other accounts of the machine may not read."""


def default_cache_dir() -> Path:
    """Return the folder in the environment variable ``DOMSIEVE_CACHE``, by default ``pages_cache``."""
    return Path(os.environ.get("DOMSIEVE_CACHE") or "pages_cache")


def digest_of(data: bytes) -> str:
    """Return the BLAKE2b hash of `data` as 32 hex digits."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def write_file(path: Path, data: bytes, *, what: str, mode: int = USUAL_MODE) -> None:
    """Write or replace a file atomically: readers see the old content or the new, even after a power failure.

    Parameters
    ----------
    path : the file; missing parent folders are created.
    data : the new content.
    what : name of the file in error messages, such as ``"The model"``.
    mode : permission bits, reduced by the umask of the process.

    Raises
    ------
    StorageError : the file cannot be written; no partial file is left.
    """
    with writing_file(path, what=what, mode=mode) as part:
        part.write_bytes(data)


@contextmanager
def writing_file(path: Path, *, what: str, mode: int = USUAL_MODE) -> Iterator[Path]:
    """Yield a temporary file, which is renamed to `path` when the ``with`` block ends without an error.

    Parameters
    ----------
    path, what, mode : see `write_file`.

    Raises
    ------
    StorageError : the file cannot be written, or the block raised an `OSError`; no partial file is left.
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
    """Flush a folder to disk, so that the names of its files survive a power failure.

    Parameters
    ----------
    folder : the folder.
    what : name of a file in the folder in error messages.

    Raises
    ------
    StorageError : the folder cannot be flushed.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StorageError(f"{what} in {folder} cannot be written: {error.strerror}.") from error


def create_database(
    path: Path, schema: str, *, version: int, shrinks: Literal["full", "incremental"]
) -> None:
    """Create an SQLite database in WAL mode, unless another process has just created it.

    The file is created under a temporary name and then linked, because two processes cannot safely create an SQLite
    database at the same path.

    Parameters
    ----------
    path : the file; missing parent folders are created.
    schema : SQL statements that create the tables.
    version : stored as ``PRAGMA user_version``.
    shrinks : value of ``PRAGMA auto_vacuum``: free pages are returned after each transaction (``"full"``), or by
        ``PRAGMA incremental_vacuum`` only (``"incremental"``).

    Raises
    ------
    OSError, sqlite3.Error : the database cannot be created; no partial file is left.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = _part_of(path)
    try:
        database = sqlite3.connect(part)
        try:
            # SQLite ignores this setting once anything has been written.
            database.execute(f"PRAGMA auto_vacuum = {shrinks}")
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
    """Return the content of a cache file.

    Raises
    ------
    DamagedFileError : the file is missing.
    StorageError : the file cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise DamagedFileError(f"{CACHE_FILE} {path} is missing; capture the page again.") from error
    except OSError as error:
        raise StorageError(f"{CACHE_FILE} {path} cannot be read: {error.strerror}.") from error


def write_packed(path: Path, data: bytes, *, level: int = 3, mode: int = USUAL_MODE) -> None:
    """Write a compressed cache file.

    Parameters
    ----------
    path : the file; its stem must be `digest_of` ``(data)``.
    data : the content before compression.
    level : zstd compression level.
    mode : permission bits, reduced by the umask of the process.

    Raises
    ------
    StorageError : the file cannot be written; no partial file is left.
    """
    write_file(path, zstandard.compress(data, level), what=CACHE_FILE, mode=mode)


def read_packed(path: Path) -> bytes:
    """Return the content of a file that `write_packed` wrote, before compression.

    Raises
    ------
    DamagedFileError : the file is missing, or its content does not match its name.
    StorageError : the file cannot be read.
    """
    try:
        data = zstandard.decompress(read_file(path))
    except (zstandard.ZstdError, MemoryError) as error:
        raise DamagedFileError(f"{CACHE_FILE} {path} is damaged ({error}).") from error
    if digest_of(data) != path.stem:
        raise DamagedFileError(f"{CACHE_FILE} {path} is damaged.")
    return data


def remove_file(path: Path) -> None:
    """Remove a cache file if it exists.

    Raises
    ------
    StorageError : the file cannot be removed.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{CACHE_FILE} {path} cannot be removed: {error.strerror}.") from error


def leftovers(folder: Path) -> Iterator[Path]:
    """Yield the temporary files below `folder` whose writing process no longer runs."""
    for path in sorted(folder.rglob(f"*{_PART}*")):
        name, part, rest = path.name.rpartition(_PART)
        if not part or rest not in _PART_ENDINGS:
            continue
        writer = name.rpartition(".")[2].partition("-")[0]
        if not (writer.isdecimal() and _is_alive(int(writer))):
            yield path


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # no permission: the process belongs to another user
        return True
    return True


def part_name() -> str:
    """Return a new name for a temporary file, which `leftovers` finds once this process has ended.

    It does not contain the name of the file, which may already have the maximum length.
    """
    return f".domsieve.{os.getpid()}-{uuid4().hex}{_PART}"


def _part_of(path: Path) -> Path:
    """Return a temporary name in the folder of `path`."""
    return path.with_name(part_name())
