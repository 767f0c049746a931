"""A service as a process of its own: started, asked, watched, killed and started again. Linux only (/proc)."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import httpx

from benchmarks.processes import processes_below

Part = Literal["browser", "worker", "service"]
_ROOT = Path(__file__).parents[1]
_START_LIMIT_S = 60.0


@dataclass
class RunningService:
    """`domsieve serve` as a process.

    Parameters
    ----------
    data : its folder; a second start with the same one goes on with its jobs.
    arguments : further options of the command.
    log : file that gets what it says on stderr.
    port : where it listens; 0 until the first start, which takes a free one.
    environment : variables that it gets besides ours.
    """

    data: Path
    arguments: tuple[str, ...]
    log: Path
    port: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        """Where it is called."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it is healthy."""
        command = [sys.executable, "-m", "domsieve.cli", "serve", "--port", str(self.port)]
        command += ["--data", str(self.data.resolve())]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *self.arguments],
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=_ROOT,
                env={**os.environ, **self.environment},
            )
        assert self.process.stdout
        with self.process.stdout as said:
            self.port = urlsplit(said.readline().decode().strip()).port or self.port
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
            pid = next(process.pid for process in tree if process.is_worker)
        else:
            # A script that starts the browser stands before it, and may die without harm to anybody.
            pid = [process.pid for process in tree if process.is_browser][-1]
        os.kill(pid, signal.SIGKILL)
        if part == "service":
            self.process.wait()
        return pid


@contextmanager
def running_service(
    data: Path, *arguments: str, log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[RunningService]:
    """Run a service for the block and end it afterwards, whatever became of it."""
    service = RunningService(data, arguments, log, environment=environment or {})
    service.start()
    try:
        yield service
    finally:
        if service.process and service.process.poll() is None:
            service.stop()
