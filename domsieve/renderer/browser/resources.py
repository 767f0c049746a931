"""Processors and memory that this process may use, and the memory limit of browser processes."""

import asyncio
import contextlib
import logging
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from domsieve.snapshot.cut import Cut

_MEGABYTE = 1 << 20
# Measured: 269 to 328 MB for four pages at once, and a page of 200,000 nodes alone.
BYTES_PER_PAGE = 400 * _MEGABYTE
_ROOT = Path("/")
_PIECE_BYTES = 16_384
# Anonymous and shared memory, in use or swapped out. The rest of a process are files, which others share.
_HELD = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Machine:
    """The processors and the memory of this machine.

    Parameters
    ----------
    cores : number of processors, possibly a fraction.
    memory_bytes : memory for the browser, this process and others.
    """

    cores: float
    memory_bytes: int

    @property
    def concurrency(self) -> int:
        """How many pages can be open at once: one per processor, fewer if memory is short, and at least one."""
        return max(1, min(ceil(self.cores), self.memory_bytes // BYTES_PER_PAGE))


def this_machine(root: Path = _ROOT) -> Machine:
    """Return what this process may use: the machine, limited by its control groups (version 1 or 2).

    Parameters
    ----------
    root : folder that contains ``proc`` and ``sys``.
    """
    cores: list[float] = [len(os.sched_getaffinity(0)) if root == _ROOT else os.cpu_count() or 1]
    memory = [_total_memory(root)]
    for folder in _groups(root):
        cores += _quota(folder)
        memory += [
            value for name in ("memory.max", "memory.limit_in_bytes") for value in _numbers(folder / name)[:1]
        ]
    return Machine(min(cores), min(memory))


class FreeMemory:
    """Measures how much memory is left before the system kills processes. A call takes about 0.1 ms.

    Parameters
    ----------
    root : folder that contains ``proc`` and ``sys``.
    swap : whether free swap counts as free memory.
    """

    def __init__(self, root: Path = _ROOT, *, swap: bool = True) -> None:
        self._machine = root / "proc/meminfo"
        self._swap = (b"MemAvailable:", b"SwapFree:") if swap else (b"MemAvailable:",)
        self._groups: list[tuple[int, Path, Path, bytes]] = []
        for folder in _groups(root):
            for most, now, droppable in (
                ("memory.max", "memory.current", b"inactive_file"),
                ("memory.limit_in_bytes", "memory.usage_in_bytes", b"total_inactive_file"),
            ):
                # A group of version 1 without a limit has one of almost 2**63.
                if (limit := _numbers(folder / most)) and limit[0] < 1 << 60:
                    self._groups.append((limit[0], folder / now, folder / "memory.stat", droppable))

    def __call__(self) -> int:
        """Return the free memory in bytes, including caches that the system can drop."""
        machine = {b"MemAvailable:": 1 << 52} | _fields(self._machine)
        free = [1024 * sum(machine.get(name, 0) for name in self._swap)]
        for limit, usage, stat, droppable in self._groups:
            free += [limit - used + _fields(stat).get(droppable, 0) for used in _numbers(usage)]
        return max(0, min(free))


def memory_of(pid: int, root: Path = _ROOT) -> int:
    """Return the memory of a process and its descendants in bytes; shared memory is divided by its users.

    Processes that end meanwhile do not count.
    """
    return sum(
        1024 * _fields(root / "proc" / str(number) / "smaps_rollup").get(b"Pss:", 0)
        for number in family(pid, root)
    )


def held_memory(pid: int, root: Path = _ROOT) -> int:
    """Return the bytes that only this process uses, and would free if it ended; 0 if it has ended or is not visible.

    Takes about 0.03 ms; the exact figure would take a hundred times as long.
    """
    return 1024 * sum(map(int, _HELD.findall(read_system(f"{root}/proc/{pid}/status"))))


def family(pid: int, root: Path = _ROOT) -> Iterator[int]:
    """Yield the IDs of a process and its descendants; processes that end meanwhile may be missing."""
    waiting, seen = [pid], set[int]()
    while waiting:
        number = waiting.pop()
        if number in seen:
            continue
        seen.add(number)
        yield number
        waiting += children(number, root)


def children(pid: int, root: Path = _ROOT) -> list[int]:
    """Return the IDs of the child processes of a process. Takes about 0.01 ms for each of its threads."""
    tasks = f"{root}/proc/{pid}/task"
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(tasks):  # noqa: PTH208 (a quarter of the time)
            found += _numbers(f"{tasks}/{task}/children")
    return found


def read_system(file: Path | str) -> bytes:
    """Return the content of a file in ``/proc`` or ``/sys``; empty if it cannot be read.

    Takes a third of the time of a file object; such files are read about a hundred times per second.
    """
    pieces = []
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        try:
            while piece := os.read(descriptor, _PIECE_BYTES):
                pieces.append(piece)
        finally:
            os.close(descriptor)
    except OSError:
        return b""
    return b"".join(pieces)


def _fields(file: Path) -> dict[bytes, int]:
    """Return the first number of each line of a file by the word before it; empty if it cannot be read."""
    pairs = [line.split()[:2] for line in read_system(file).splitlines()]
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _groups(root: Path) -> list[Path]:
    """Return the folders of the control groups of this process, and their parents."""
    found: list[Path] = []
    with contextlib.suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text("utf-8").splitlines():
            _, controllers, path = (line.split(":", 2) + [""] * 3)[:3]
            # In a container the path may be that of the host, which does not exist here. Then the top folder is ours.
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


def _numbers(file: Path | str) -> list[int]:
    """Return the whole numbers in a file; empty if there is no such file or it contains ``max``."""
    words = read_system(file).split()
    return [] if b"max" in words else [int(word) for word in words if word.lstrip(b"-").isdigit()]


def _total_memory(root: Path) -> int:
    total = _fields(root / "proc/meminfo").get(b"MemTotal:")
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if total is None else total * 1024


_LOOK_S = 0.25
# A script can fill a gigabyte in less than a second, so processes near the limit are measured more often.
_CLOSE_LOOK_S = 0.05
_NEAR = 1 / 3
# Shares of all memory: the maximum for one page, and the reserve for others.
_LARGEST_SHARE = 0.7
_RESERVED_SHARE = 0.1
_RESERVED_BYTES = 512_000_000
# A smaller process is not the reason that memory is short. A page of a large site uses half of this.
_INNOCENT_BYTES = 200_000_000
# After a kill, the events arrive within milliseconds, or within seconds on a busy machine.
_NEWS_S = 5.0
# In a command line. Its words end with NUL, but Chrome rewrites that of a renderer with spaces.
_TYPE = re.compile(rb"(?:^|[\0 ])--type=([^\0 ]*)")

logger = logging.getLogger(__name__)


class MemoryGuard:
    """Measures the processes of a browser while pages are open, and kills those that use too much memory.

    Parameters
    ----------
    pid : ID of the main process of the browser.
    end_browser : called with a reason to end the browser if its main process uses too much memory.
    kill : kills another process by its ID.
    root : folder that contains ``proc`` and ``sys``.
    """

    def __init__(
        self,
        pid: int,
        *,
        end_browser: Callable[[str], None],
        kill: Callable[[int, int], None] = os.kill,
        root: Path = _ROOT,
    ) -> None:
        self._pid = pid
        self._end_browser = end_browser
        self._kill = kill
        self._root = root
        self._free = FreeMemory(root)
        machine = this_machine(root).memory_bytes
        self._most = int(machine * _LARGEST_SHARE)
        self._reserve = min(int(machine * _RESERVED_SHARE), _RESERVED_BYTES)
        self._budgets: list[int] = []
        self._looking: asyncio.Task[None] | None = None
        self._dying: set[int] = set()
        self._verdict: tuple[Cut | None, float] = (None, 0.0)

    @contextlib.contextmanager
    def page(self, memory_bytes: int) -> Iterator[None]:
        """Guard the memory of the browser while a page is open in it.

        Parameters
        ----------
        memory_bytes : the limit for the process of the page. It is unknown which process that is, so the largest
            limit of all open pages applies to all of them.
        """
        self._budgets.append(memory_bytes)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_on())
        try:
            yield
        finally:
            self._budgets.remove(memory_bytes)
            if not self._budgets:
                self._looking.cancel()
                self._looking = None

    def verdict(self) -> Cut | None:
        """Return why the process of a page was killed just now; None if none was."""
        why, at = self._verdict
        return why if time.monotonic() - at < _NEWS_S else None

    async def _look_on(self) -> None:
        while True:
            processes = self.processes()
            for _ in range(round(_LOOK_S / _CLOSE_LOOK_S)):
                pause_s = self.look(processes)
                await asyncio.sleep(pause_s)
                if pause_s == _LOOK_S:
                    break

    def processes(self) -> list[int]:
        """Return the IDs of the processes of the browser. Of its child processes, only zygotes start others."""
        found, waiting = [self._pid], [self._pid]
        while waiting:
            started = children(waiting.pop(), self._root)
            found += started
            waiting += [pid for pid in started if self._kind(pid) == "zygote"]
        return found

    def look(self, processes: list[int]) -> float:
        """Kill processes that use too much memory; return the seconds until the next check.

        Takes about 0.05 ms per process.
        """
        limit = min(max(self._budgets), self._most)
        held = {pid: held_memory(pid, self._root) for pid in processes}
        # Killed processes take a moment to end, and until then their memory is not free.
        self._dying = {pid for pid in self._dying if held.get(pid)}
        living = {pid: size for pid, size in held.items() if pid not in self._dying}
        for pid, size in living.items():
            if size > limit:
                self._end(pid, f"held more than {limit / 1e6:,.0f} MB")
        free = self._free()
        pages = {pid: size for pid, size in living.items() if pid != self._pid}
        largest = max(pages, key=pages.__getitem__, default=0)
        if free < self._reserve and not self._dying and pages.get(largest, 0) > _INNOCENT_BYTES:
            self._end(largest, f"held {pages[largest] / 1e6:,.0f} MB when the machine had hardly any left")
        is_near = max(living.values(), default=0) > _NEAR * limit or free < 4 * self._reserve
        return _CLOSE_LOOK_S if is_near else _LOOK_S

    def _end(self, pid: int, why: str) -> None:
        self._dying.add(pid)
        if pid == self._pid:
            self._end_browser(why)
            return
        kind = self._kind(pid)
        logger.warning("A process of the browser (%s, %d) %s and is killed.", kind, pid, why)
        if kind == "renderer":
            self._verdict = Cut("memory", f"the page's process {why}"), time.monotonic()
        with contextlib.suppress(ProcessLookupError):
            self._kill(pid, signal.SIGKILL)

    def _kind(self, pid: int) -> str:
        """Return Chrome's name for the kind of a process, such as ``"renderer"`` or ``"gpu-process"``."""
        found = _TYPE.search(read_system(f"{self._root}/proc/{pid}/cmdline"))
        return found[1].decode("ascii", "replace") if found else ""
