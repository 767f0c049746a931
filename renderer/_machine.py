"""What this process may use: processors and memory, as far as control groups limit them, and what a browser uses.

Imports nothing of the project.
"""

import contextlib
import os
from dataclasses import dataclass
from math import ceil
from pathlib import Path

_MEGABYTE = 1 << 20
# Measured: 269 to 328 MB for four pages at once, and a page of 200,000 nodes alone.
_BYTES_PER_PAGE = 400 * _MEGABYTE
_ROOT = Path("/")


@dataclass(frozen=True, slots=True)
class Machine:
    """What there is to use.

    Parameters
    ----------
    cores : processors, fractions included.
    memory_bytes : of which the browser, this process and others live.
    """

    cores: float
    memory_bytes: int

    @property
    def concurrency(self) -> int:
        """How many pages can be open at once: one per processor, as far as memory goes, and one at least."""
        return max(1, min(ceil(self.cores), self.memory_bytes // _BYTES_PER_PAGE))


def this_machine(root: Path = _ROOT) -> Machine:
    """Return what this process may use: of the machine, or of its control groups (version 1 or 2) where that is less.

    Parameters
    ----------
    root : where ``proc`` and ``sys`` lie.
    """
    cores: list[float] = [len(os.sched_getaffinity(0)) if root == _ROOT else os.cpu_count() or 1]
    memory = [_total_memory(root)]
    for folder in _groups(root):
        cores += _quota(folder)
        memory += [
            value for name in ("memory.max", "memory.limit_in_bytes") for value in _numbers(folder / name)[:1]
        ]
    return Machine(min(cores), min(memory))


def memory_of(pid: int, root: Path = _ROOT) -> int:
    """Return the bytes of memory that a process and all below it use, shared ones divided by their users.

    Processes that end meanwhile count nothing.
    """
    total, waiting, seen = 0, [pid], set[int]()
    while waiting:
        number = waiting.pop()
        if number in seen:
            continue
        seen.add(number)
        folder = root / "proc" / str(number)
        with contextlib.suppress(OSError):
            for line in (folder / "smaps_rollup").read_text("ascii").splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
        for children in folder.glob("task/*/children"):
            waiting += _numbers(children)
    return total


def _groups(root: Path) -> list[Path]:
    """Return the folders of the process's control groups and of those above them."""
    found: list[Path] = []
    with contextlib.suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text("utf-8").splitlines():
            _, controllers, path = (line.split(":", 2) + [""] * 3)[:3]
            # Inside a container the path may be that of the host, which is not there: then the top is ours.
            mounts = [root / "sys/fs/cgroup" / name for name in ({controllers, *controllers.split(",")})]
            for mount in mounts:
                own = mount / path.lstrip("/")
                found += [folder for folder in (own, *own.parents) if folder.is_relative_to(mount)]
    return found


def _quota(folder: Path) -> list[float]:
    limit = _numbers(folder / "cpu.max") or [
        *_numbers(folder / "cpu.cfs_quota_us"),
        *_numbers(folder / "cpu.cfs_period_us"),
    ]
    return [limit[0] / limit[1]] if len(limit) == 2 and limit[0] > 0 and limit[1] > 0 else []


def _numbers(file: Path) -> list[int]:
    """Return the whole numbers in a file; none when there is no such file or it says ``max``."""
    try:
        words = file.read_text("ascii").split()
    except (OSError, UnicodeDecodeError):
        return []
    return [] if "max" in words else [int(word) for word in words if word.lstrip("-").isdecimal()]


def _total_memory(root: Path) -> int:
    with contextlib.suppress(OSError):
        for line in (root / "proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemTotal:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
