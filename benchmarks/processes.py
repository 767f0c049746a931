"""Processes below one, and what they hold. Linux only (/proc)."""

import os
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from domsieve.renderer.browser.resources import memory_of

_MEGABYTE = 1 << 20
_TICKS = os.sysconf("SC_CLK_TCK")
_PROFILES = ("domsieve-chrome-", "playwright")


@dataclass(frozen=True)
class Process:
    """A process by its number and its command line."""

    pid: int
    command: str

    @property
    def is_browser(self) -> bool:
        """Whether it is the main process of a browser."""
        return "--headless" in self.command and "--type=" not in self.command

    @property
    def is_worker(self) -> bool:
        """Whether it is a worker of the service."""
        return " domsieve.service.jobs.worker " in self.command


def stat_of(pid: int) -> list[str]:
    """Return what the system tells of a process behind its name, from its state on: proc(5).

    Raises
    ------
    OSError : there is none.
    """
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def living_stat_of(pid: int) -> list[str]:
    """Return the same; nothing of one that has ended, even where its parent has not taken note of that."""
    try:
        fields = stat_of(pid)
    except OSError:
        return []
    return [] if fields[0] in "ZX" else fields


def processes_below(pid: int) -> list[Process]:
    """Return the descendants of a process, parents first."""
    children: dict[int, list[Process]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int(stat_of(int(folder.name))[1])
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        children.setdefault(parent, []).append(Process(int(folder.name), command))
    found = list(children.get(pid, ()))
    for process in found:
        found += children.get(process.pid, ())
    return found


def processor_seconds(command: Sequence[str]) -> tuple[float, str, int]:
    """Run a command; return its processor time with that of all processes below it, its output, and its browsers.

    Processes are looked at twenty times a second, so short ones, and the ends of long ones, count a little less. The
    last number is that of the main processes of browsers that were seen.

    Raises
    ------
    CalledProcessError : the command failed.
    """
    seconds: dict[int, float] = {}
    browsers: set[int] = set()
    with TemporaryFile() as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        while process.poll() is None:
            below = processes_below(process.pid)
            browsers |= {one.pid for one in below if one.is_browser}
            for pid in (process.pid, *(one.pid for one in below)):
                with suppress(OSError):
                    fields = stat_of(pid)
                    seconds[pid] = (int(fields[11]) + int(fields[12])) / _TICKS
            time.sleep(0.05)
        output.seek(0)
        said = output.read().decode(errors="replace")
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command, said)
    return sum(seconds.values()), said, len(browsers)


def counted(pid: int, folder: Path) -> dict[str, float]:
    """Return what a process and all below it hold, and how many files there are in the folder for temporary ones."""
    pids = [pid, *(process.pid for process in processes_below(pid))]
    links: list[str] = []
    for one in pids:
        for link in Path(f"/proc/{one}/fd").glob("*"):
            with suppress(OSError):
                links.append(str(link.readlink()))
    return {
        "processes": len(pids),
        "descriptors": len(links),
        "sockets": sum(link.startswith("socket:") for link in links),
        "temporary files": _files(folder),
        "MB": memory_of(pid) / _MEGABYTE,
    }


def _files(folder: Path) -> int:
    """Return the number of files in a folder, but for those in browsers' profiles, which come and go as they like."""
    count = 0
    for _, below, files in os.walk(folder):
        count += len(below) + len(files)
        below[:] = [name for name in below if not name.startswith(_PROFILES)]
    return count
