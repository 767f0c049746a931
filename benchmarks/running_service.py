"""A service of its own for the benchmarks: started, asked, watched, killed and started again. Linux only (/proc)."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import httpx

Part = Literal["browser", "worker", "service"]
_START_LIMIT_S = 60.0


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class RunningService:
    """`domsieve serve` as a process.

    Parameters
    ----------
    data : its folder; a second start with the same one goes on with its jobs.
    arguments : further options of the command.
    port : where it listens.
    log : file that gets what it prints.
    """

    data: Path
    arguments: tuple[str, ...]
    log: Path
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        """Where it is called."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it is healthy."""
        command = [sys.executable, "-m", "cli", "serve", "--data", str(self.data), "--port", str(self.port)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen([*command, *self.arguments], stdout=log, stderr=log)
        end = time.monotonic() + _START_LIMIT_S
        while True:
            try:
                if httpx.get(f"{self.url}/v1/health", timeout=20).is_success:
                    return
            except httpx.TransportError:
                pass
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError(f"The service does not start; see {self.log}.")
            time.sleep(0.1)

    def stop(self) -> int:
        """End it as an operator would; return its exit code."""
        assert self.process
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def kill(self, part: Part) -> int:
        """Kill -9 a part of it; return the number of the process killed."""
        assert self.process
        tree = processes_below(self.process.pid)
        if part == "service":
            pid = self.process.pid
        elif part == "worker":
            pid = next(
                process.pid for process in tree if process.parent == self.process.pid and process.is_worker
            )
        else:
            pid = next(process.pid for process in tree if process.is_browser)
        os.kill(pid, signal.SIGKILL)
        if part == "service":
            self.process.wait()
        return pid

    def memory_mb(self) -> float:
        """Return what it and all processes below it hold, shared pages counted once."""
        assert self.process
        pids = [self.process.pid, *(process.pid for process in processes_below(self.process.pid))]
        return sum(map(_proportional_mb, pids))


@dataclass(frozen=True)
class Process:
    """A process by its number, its parent's and its command line."""

    pid: int
    parent: int
    command: str

    @property
    def is_browser(self) -> bool:
        """Whether it is the main process of a browser."""
        return "--headless" in self.command and "--type=" not in self.command

    @property
    def is_worker(self) -> bool:
        """Whether it is a worker, not a helper of multiprocessing."""
        return "resource_tracker" not in self.command


def processes_below(pid: int) -> list[Process]:
    """Return the descendants of a process, parents first."""
    children: dict[int, list[Process]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        children.setdefault(parent, []).append(Process(int(folder.name), parent, command))
    found = list(children.get(pid, ()))
    for process in found:
        found += children.get(process.pid, ())
    return found


def _proportional_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


@contextmanager
def running_service(data: Path, *arguments: str, log: Path) -> Iterator[RunningService]:
    """Run a service for the block and end it afterwards, whatever became of it."""
    service = RunningService(data, arguments, log)
    service.start()
    try:
        yield service
    finally:
        if service.process and service.process.poll() is None:
            service.stop()
