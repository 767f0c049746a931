"""A small disk that can be filled to the last byte: a file system in memory. Linux; mounting needs root."""

import errno
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_BALLAST = "ballast"
_AGAIN_S = 0.2


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """Let a folder lie on a disk of its own while the block runs.

    Raises
    ------
    PermissionError : whoever runs this may not mount.
    """
    options = f"size={megabytes}m,mode=700"
    try:
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "none", folder], check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise PermissionError("A small disk cannot be mounted; run this as root, on Linux.") from error
    try:
        yield folder
    finally:
        # Lazily: a process of a browser that was killed may not have let go yet.
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path, seconds: float) -> None:
    """Keep the disk of a folder full for so long: what others free is taken at once."""
    path, end = folder / _BALLAST, time.monotonic() + seconds
    try:
        with path.open("wb", buffering=0) as ballast:
            while time.monotonic() < end:
                _write_all(ballast.fileno())
                time.sleep(_AGAIN_S)
    finally:
        path.unlink()


def used_bytes(folder: Path) -> int:
    """Return what is held on the disk of a folder, without what fills it."""
    disk = os.statvfs(folder)
    try:
        ballast = (folder / _BALLAST).stat().st_blocks * 512
    except FileNotFoundError:
        ballast = 0
    return (disk.f_blocks - disk.f_bfree) * disk.f_frsize - ballast


def _write_all(file: int) -> None:
    for size in (1 << 20, 1 << 12, 1):
        try:
            while os.write(file, bytes(size)):
                pass
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
