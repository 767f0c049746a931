"""The service as its users run it: a process of its own, with Chrome, on loopback."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.running_service import RunningService, running_service

WHEREVER = ("--free-memory-percent", "0", "--max-load", "0")
"""Options with which jobs are accepted on busy machines, too."""


@contextmanager
def running(folder: Path, *private: str) -> Iterator[RunningService]:
    """Run it while the block runs; it has to end well and may not have been surprised.

    Parameters
    ----------
    folder : of its data and its log.
    private : hosts and ports that it may render although they are private.
    """
    words = [word for host in private for word in ("--private-host", host)]
    words += ["--workers", "1", *WHEREVER]
    with running_service(folder / "data", *words, log=folder / "log") as service:
        yield service
        assert service.stop() == 0
    assert "Traceback" not in service.log.read_text(encoding="utf-8")
