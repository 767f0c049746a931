"""Pages that mean harm, for the benchmark of the service: each would stop a renderer that trusts it."""

import gzip
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from examples.loopback import LoopbackServer, QuietHandler, running

_HTML = b"<!doctype html><title>hostile</title><p>This page means harm.</p>"
_BOMB = gzip.compress(b"<p>" + bytes(100_000_000))

PAGES = {
    "/loop": _HTML + b"<script>while (true) {}</script>",
    "/timer-loop": _HTML + b"<script>setTimeout(() => { while (true) {} }, 50)</script>",
    "/reload": _HTML + b"<script>setTimeout(() => location.reload(), 50)</script>",
    "/alerts": _HTML + b"<script>while (true) alert(1)</script>",
    "/growth": _HTML + b"<script>setInterval(() => { for (let i = 0; i < 5000; i++) "
    b"document.body.append(document.createElement('p')) }, 0)</script>",
    "/memory": _HTML
    + b"<script>const kept = []; setInterval(() => kept.push(new Uint8Array(2e7).fill(7)), 50)"
    b"</script>",
    "/popups": _HTML + b"<script>for (let i = 0; i < 100; i++) open('/loop')</script>",
    "/frames": _HTML + b"<iframe src=/loop></iframe>" * 300,
    "/deep": _HTML + b"<div>" * 50_000,
    "/private": _HTML
    + b"<script>for (const port of [1, 9, 79]) fetch('http://127.0.0.1:' + (65000 + port))</script>",
}


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        with suppress(ConnectionError):
            self._answer()

    def _answer(self) -> None:
        self.send_response(302 if self.path == "/redirect" else 200)
        self.send_header("Content-Type", "application/pdf" if self.path == "/pdf" else "text/html")
        if self.path == "/redirect":
            self.send_header("Location", "http://127.0.0.1:65001/")
        if self.path == "/bomb":
            self.send_header("Content-Encoding", "gzip")
        body = _BOMB if self.path == "/bomb" else PAGES.get(self.path, _HTML)
        self.send_header("Content-Length", "100000" if self.path == "/drip" else str(len(body)))
        self.end_headers()
        if self.path != "/drip":
            self.wfile.write(body)
            return
        for _ in range(30):
            self.wfile.write(b"<")
            time.sleep(1)
        self.close_connection = True


PATHS = (*PAGES, "/redirect", "/bomb", "/drip", "/pdf")


@contextmanager
def serve_hostile() -> Iterator[str]:
    """Serve the pages on a free port of loopback; the value is the address without a slash at the end."""
    with running(LoopbackServer(_Handler)) as server:
        yield server.base
