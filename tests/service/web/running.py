"""The service as its users run it: a process of its own, with Chrome, on loopback."""

import os
import signal
import subprocess
from pathlib import Path

from tests.command import COMMAND, ROOT


class Running:
    """The service as a process."""

    def __init__(self, folder: Path, *private: str) -> None:
        words = [word for host in private for word in ("--private-host", host)]
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*COMMAND, "serve", "--port", "0", "--data", str(folder / "data"), "--workers", "1", *words],
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=ROOT,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        assert self.process.stdout
        self.base = self.process.stdout.readline().decode().strip().rstrip("/")
        assert self.base.startswith("http://127.0.0.1:"), self.log.read_text()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.stdout
        self.process.stdout.close()
        return self.process.wait(60)
