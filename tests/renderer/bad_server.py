"""A web server of bad manners on loopback: pages that never end, never come, grow, crash or lie."""

import contextlib
import gzip
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from examples.loopback import LoopbackServer, QuietHandler, running

LARGE_BYTES = 200_000_000
# A script that goes no further before the server has heard of it.
REPORT = "{ const x = new XMLHttpRequest(); x.open('GET', '/reached', false); x.send() }"
_CHUNK = b"<p>" + b"large " * 10_000 + b"</p>\n"

PAGES = {
    "/good": "<!doctype html><title>Good</title><h1>Good page</h1><p>It behaves.</p>",
    "/endless-script": f"<p>before</p><script>{REPORT} while (true) {{}}</script><p>after</p>",
    "/endless-timer": f"<p>before</p><script>setTimeout(() => {{ {REPORT} while (true) {{}} }}, 100)</script>",
    "/endless-alert": f"<p>before</p><script>{REPORT} while (true) alert(1)</script>",
    "/many-nodes": "<p>first</p><script>document.body.insertAdjacentHTML('beforeend', "
    "'<i>x</i>'.repeat(250000))</script>",
    "/reload": "<p>again</p><script>setTimeout(() => location.reload(), 50)</script>",
    "/busy": "<p>busy</p><script>setInterval(() => document.body.append(document.createElement('i')), 20)"
    "</script>",
    "/held": "<p>held</p><script>fetch('/reached')</script><script src=/silent></script>",
    "/popups": "<p>popups</p><script>for (let i = 0; i < 30; i++) window.open('/good')</script>"
    "<a id=a target=_blank href=/good>x</a><script>a.click()</script>",
    "/frames": "<p>frames</p>" + "<iframe src=/good></iframe>" * 50,
    "/requests": "<p>requests</p><script>for (let i = 0; i < 500; i++) fetch('/data?' + i)</script>",
}

DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002"
    "00000500017a5eab3f0000000049454e44ae426082"
)
"""A picture of one transparent pixel."""


@dataclass
class Server:
    """The running server; `pages` may be added to."""

    port: int
    pages: dict[str, str | bytes | Callable[[BaseHTTPRequestHandler], None]]
    stopped: threading.Event = field(default_factory=threading.Event)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        path = urlsplit(handler.path).path
        if path == "/pixel.png":
            send(handler, DOT, headers={"Content-Type": "image/png"})
            return
        page = self.pages.get(path) or getattr(self, path.strip("/").replace("-", "_"), None)
        if callable(page):
            page(handler)
        elif page is None:
            send(handler, b"<p>nothing here</p>", status=404)
        else:
            send(handler, page.encode() if isinstance(page, str) else page)

    def reached(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer a page that tells how far it has come."""
        send(handler, b"")

    def silent(self, _: BaseHTTPRequestHandler) -> None:
        self.stopped.wait(60)

    def redirect(self, handler: BaseHTTPRequestHandler) -> None:
        send(handler, b"", status=302, headers={"Location": f"/redirect?{time.monotonic_ns()}"})

    def drip(self, handler: BaseHTTPRequestHandler) -> None:
        start(handler, {"Content-Type": "text/html"})
        handler.wfile.write(b"<p>drip</p>" + b" " * 2000)
        for _ in range(2):
            handler.wfile.write(b"<b>.</b>")
        handler.wfile.write(f"<script>{REPORT}</script>".encode())
        handler.wfile.flush()
        while not self.stopped.wait(0.2):
            handler.wfile.write(b"<b>.</b>")
            handler.wfile.flush()

    def large(self, handler: BaseHTTPRequestHandler) -> None:
        start(handler, {"Content-Type": "text/html", "Content-Length": str(LARGE_BYTES)})
        for _ in range(LARGE_BYTES // len(_CHUNK)):
            handler.wfile.write(_CHUNK)

    def bomb(self, handler: BaseHTTPRequestHandler) -> None:
        send(handler, gzip.compress(_CHUNK * 1000), headers={"Content-Encoding": "gzip"})

    def download(self, handler: BaseHTTPRequestHandler) -> None:
        kind = {"Content-Type": "application/zip", "Content-Disposition": "attachment; filename=a.zip"}
        send(handler, b"PK" * 1000, headers=kind)

    def no_content(self, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(204)
        handler.end_headers()

    def image(self, handler: BaseHTTPRequestHandler) -> None:
        send(handler, b"GIF89a", headers={"Content-Type": "image/gif"})

    def hang_up(self, handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True

    def data(self, handler: BaseHTTPRequestHandler) -> None:
        send(handler, b'{"text": "data"}', headers={"Content-Type": "application/json"})

    def slow_data(self, handler: BaseHTTPRequestHandler) -> None:
        self.stopped.wait(0.3)
        self.data(handler)


def start(handler: BaseHTTPRequestHandler, headers: dict[str, str], *, status: int = 200) -> None:
    """Send status and headers."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()


def send(
    handler: BaseHTTPRequestHandler, body: bytes, *, status: int = 200, headers: dict[str, str] | None = None
) -> None:
    """Send a whole answer, HTML unless the headers say otherwise."""
    known = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body))}
    start(handler, known | (headers or {}), status=status)
    handler.wfile.write(body)


@contextlib.contextmanager
def serving() -> Iterator[Server]:
    """Run the server on a free port of 127.0.0.1."""

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            with contextlib.suppress(ConnectionError):
                server.answer(self)

    with running(LoopbackServer(Handler)) as http:
        server = Server(http.server_port, {**PAGES})
        try:
            yield server
        finally:
            server.stopped.set()
