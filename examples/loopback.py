"""HTTP servers on 127.0.0.1 that run while a block runs: for the demo site, tests and benchmarks.

Imports nothing of the project.
"""

import contextlib
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseRequestHandler
from typing import Any, TypeVar

S = TypeVar("S", bound="LoopbackServer")


class LoopbackServer(ThreadingHTTPServer):
    """A server that waits for no connection when it ends, and knows its own address.

    Parameters
    ----------
    handler : answers requests.
    port : 0 takes a free one.

    Raises
    ------
    OSError : the port is taken.
    """

    daemon_threads = True
    request_queue_size = 64  # a browser opens many connections at once

    def __init__(self, handler: "type[BaseRequestHandler] | partial[Any]", *, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), handler)
        self.base = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a browser that went away before its answer was complete."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class QuietHandler(BaseHTTPRequestHandler):
    """Writes no line for each request."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name is the base class's)
        """Keep quiet."""


class _Files(QuietHandler, SimpleHTTPRequestHandler):
    pass


@contextlib.contextmanager
def running(server: S) -> Iterator[S]:
    """Let a server answer while the block runs."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def serve_until_interrupted(server: LoopbackServer) -> None:
    """Print the address of a server, and let it answer until somebody interrupts."""
    with server, contextlib.suppress(KeyboardInterrupt):
        print(server.base + "/", flush=True)
        server.serve_forever()


@contextlib.contextmanager
def folder_served(folder: Path) -> Iterator[str]:
    """Serve the files of a folder; the value is the address without a slash at the end."""
    with running(LoopbackServer(partial(_Files, directory=str(folder)))) as server:
        yield server.base
