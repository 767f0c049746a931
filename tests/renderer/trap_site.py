"""A site of traps for replay, on loopback by https: each says what it found in a list item of its own."""

import gzip
import itertools
import json
import struct
import threading
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from domsieve.renderer.network.certificate import new_certificate

HOST, OTHER = "shop.localhost", "cdn.localhost"
PASSING = ("date", "random")
"""The traps that no archive can be right about, unless time is fixed."""
TRAPS: dict[str, str] = {
    "date": "new Date().toISOString()",
    "random": "Math.random()",
    "redirect": "fetch('/moved').then(r => r.text())",
    "post a": "fetch('/echo', {method: 'POST', body: 'a'}).then(r => r.text())",
    "post b": "fetch('/echo', {method: 'POST', body: 'b'}).then(r => r.text())",
    "post form": "(() => { const form = new FormData(); form.append('x', new Blob(['in a form']), 'n.txt');"
    " return fetch('/length', {method: 'POST', body: form}).then(r => r.text()) })()",
    "post large": "fetch('/length', {method: 'POST', body: 'x'.repeat(200000)}).then(r => r.text())",
    "time in address": "fetch('/say/late?_=' + Date.now()).then(r => r.text())",
    "random in address": "fetch('/say/dice?n=' + Math.random()).then(r => r.text())",
    "repeats": "(async () => { let said = ''; for (let i = 0; i < 4; i++)"
    " said += await fetch('/count/repeats', {cache: 'no-store'}).then(r => r.text()) + ' '; return said })()",
    "cached": "(async () => { let said = ''; for (let i = 0; i < 3; i++)"
    " said += await fetch('/cached/count').then(r => r.text()) + ' '; return said })()",
    "worker": "new Promise(done => { new Worker('/worker.js').onmessage = event => done(event.data) })",
    "blob worker": "new Promise(done => { const code = `fetch('${location.origin}/say/blob-worker')"
    ".then(r => r.text()).then(t => postMessage(t))`; new Worker(URL.createObjectURL(new Blob([code])))"
    ".onmessage = event => done(event.data) })",
    "shared worker": "new Promise(done => { new SharedWorker('/shared.js').port.onmessage = e => done(e.data) })",
    "module": "import('/module.js').then(m => m.said)",
    "frame": "framed('/frame')",
    "frame elsewhere": "framed(OTHER + '/frame')",
    "cors": "fetch(OTHER + '/say/cors', {headers: {'x-asked': '1'}}).then(r => r.text())",
    "cors refused": "fetch(OTHER + '/closed').then(r => r.text(), () => 'refused')",
    "range 0": "fetch('/range', {headers: {Range: 'bytes=0-3'}}).then(r => r.text())",
    "range 4": "fetch('/range', {headers: {Range: 'bytes=4-7'}}).then(r => r.text())",
    "cookie": "fetch('/bake').then(() => fetch('/cookies')).then(r => r.text()).then(t => t + document.cookie)",
    "blob": "fetch('/say/blob').then(r => r.blob()).then(b => b.text())",
    "array": "fetch('/bytes').then(r => r.arrayBuffer()).then(b => [...new Uint8Array(b)].join())",
    "xhr": "new Promise(done => { const ask = new XMLHttpRequest(); ask.open('GET', '/say/xhr');"
    " ask.onload = () => done(ask.responseText + ask.getResponseHeader('X-Said')); ask.send() })",
    "xhr that waits": "(() => { const ask = new XMLHttpRequest(); ask.open('GET', '/say/sync', false);"
    " ask.send(); return ask.responseText })()",
    "head": "fetch('/say/head', {method: 'HEAD'}).then(r => r.status + (r.headers.get('X-Said') || ''))",
    "nothing": "fetch('/nothing').then(r => r.status)",
    "not found": "fetch('/missing').then(r => r.status + r.statusText).catch(e => 'failed')",
    "no such host": "fetch('https://nowhere.invalid/').then(r => r.text(), () => 'no such host')",
    "broken off": "fetch('/broken').then(r => r.text()).catch(() => 'broken off')",
    "stream": "fetch('/stream').then(async r => new TextDecoder().decode((await r.body.getReader().read()).value))",
    "events": "new Promise(done => { new EventSource('/events').onmessage = event => done(event.data) })",
    "no answer": "(fetch('/never').then(() => note('no answer', 'yes'), () => note('no answer', 'no')), 'none')",
    "packed": "fetch('/packed').then(r => r.text())",
    "latin": "new Promise(done => { const script = document.createElement('script'); script.charset = 'latin1';"
    " script.src = '/latin.js'; script.onload = () => done(LATIN); document.head.append(script) })",
    "image": "new Promise(done => { const image = new Image(); image.onload = () => done(image.naturalWidth);"
    " image.src = '/image.png' })",
    "style": "new Promise(done => { const link = document.createElement('link'); link.rel = 'stylesheet';"
    " link.href = '/style.css'; link.onload = () => done(getComputedStyle(document.body).textIndent);"
    " document.head.append(link) })",
    "json": "fetch('/data.json').then(r => r.json()).then(d => d.words)",
}

_PAGE = """<!doctype html><meta charset="utf-8"><title>Traps</title><h1>Traps</h1><ul id="list"></ul>
<script>
const OTHER = %(other)s;
const note = (name, said) => { document.getElementById(name).textContent = name + ': ' + said; };
const framed = address => new Promise(done => {
  const frame = document.createElement('iframe');
  addEventListener('message', event => { if (event.source === frame.contentWindow) done('framed'); });
  frame.src = address;
  document.body.append(frame);
});
const TRAPS = { %(traps)s };
for (const name of Object.keys(TRAPS)) {
  const item = document.createElement('li');
  item.id = name;
  item.textContent = name + ': …';
  document.getElementById('list').append(item);
}
const caught = [];
for (const [name, trap] of Object.entries(TRAPS)) {
  try {
    const said = Promise.resolve(trap());
    caught.push(said.then(said => note(name, said), error => note(name, 'error ' + error.name)));
  } catch (error) { note(name, 'error ' + error.name); }
}
Promise.all(caught).then(() => { document.body.className = 'done'; });
</script>"""


def _png(width: int) -> bytes:
    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" + b"\x80" * width)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", rows) + part(b"IEND", b"")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def log_message(self, *_: object) -> None:
        pass

    def out(
        self, body: bytes | str, kind: str = "text/plain", *fields: tuple[str, str], status: int = 200
    ) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        names = {name for name, _ in fields}
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(data))),
            *((("Cache-Control", "no-store"),) if "Cache-Control" not in names else ()),
            ("Strict-Transport-Security", "max-age=1000"),
            ("Alt-Svc", 'h3=":443"'),
            *fields,
        ):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def begin(self, kind: str, *parts: bytes) -> None:
        """Answer without an end, until the test is over."""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in parts:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.flush()
        self.server.over.wait(600)
        self.close_connection = True

    def do_OPTIONS(self) -> None:
        fields = (("Access-Control-Allow-Origin", "*"), ("Access-Control-Allow-Headers", "x-asked"))
        self.out("", "text/plain", *fields, status=204)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.out(f"got {body.decode()}" if self.path == "/echo" else f"got {len(body)} bytes")

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.server.asked.append(path)
        other = f"https://{OTHER}:{self.server.server_port}"
        if path in self.server.pages:
            self.out(self.server.pages[path], "text/html; charset=utf-8")
        elif path == "/start":
            self.out("", "text/plain", ("Location", "/traps"), status=302)
        elif path == "/traps":
            traps = ", ".join(f"{json.dumps(name)}: () => {code}" for name, code in TRAPS.items())
            self.out(
                _PAGE % {"traps": traps, "other": json.dumps(other)}, "text/html", ("Set-Cookie", "first=1")
            )
        elif path == "/moved":
            self.out("", "text/plain", ("Location", "/say/moved"), status=301)
        elif path.startswith("/say/"):
            allowed = (("Access-Control-Allow-Origin", "*"), ("X-Said", "said"))
            self.out(f"{path[5:]} {self.server.number(path)}", "text/plain", *allowed)
        elif path.startswith("/count/"):
            self.out(str(self.server.number(path)))
        elif path.startswith("/cached/"):
            self.out(str(self.server.number(path)), "text/plain", ("Cache-Control", "max-age=600"))
        elif path == "/closed":
            self.out("nobody may read this")
        elif path == "/range":
            first, last = self.headers["Range"].removeprefix("bytes=").split("-")
            part = b"abcdefgh"[int(first) : int(last) + 1]
            self.out(part, "text/plain", ("Content-Range", f"bytes {first}-{last}/8"), status=206)
        elif path == "/bake":
            self.out("", "text/plain", ("Set-Cookie", "baked=yes"), ("Set-Cookie", "hidden=yes; HttpOnly"))
        elif path == "/cookies":
            self.out(" ".join(sorted(self.headers.get("Cookie", "").split("; "))) + " ")
        elif path == "/bytes":
            self.out(bytes(range(250, 256)), "application/octet-stream")
        elif path == "/nothing":
            self.out("", status=204)
        elif path == "/broken":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"the beginning")
            self.close_connection = True
        elif path == "/stream":
            self.begin("text/plain", b"first of a stream")
        elif path == "/events":
            self.begin("text/event-stream", b"data: first event\n\n")
        elif path == "/never":
            self.server.over.wait(600)
            self.close_connection = True
        elif path in _FILES:
            kind, body, *fields = _FILES[path]
            self.out(body, kind, *fields)
        else:
            self.out("not found", status=404)


_FILES: dict[str, Any] = {
    "/worker.js": (
        "text/javascript",
        "importScripts('/imported.js');"
        " fetch('/say/worker').then(r => r.text()).then(t => postMessage(t + IMPORTED))",
    ),
    "/imported.js": ("text/javascript", "IMPORTED = ' with a script'"),
    "/shared.js": (
        "text/javascript",
        "onconnect = e => fetch('/say/shared').then(r => r.text()).then(t => e.ports[0].postMessage(t))",
    ),
    "/module.js": ("text/javascript", "import { deep } from './deep.js'; export const said = 'module ' + deep"),
    "/deep.js": ("text/javascript", "export const deep = 'in a module'"),
    "/frame": ("text/html", "<p id=p>frame</p><script>fetch('/say/frame', {cache: 'no-store'}).then(r => r.text())"
               ".then(t => { document.getElementById('p').textContent = t; parent.postMessage('', '*') })</script>"),
    "/packed": ("text/plain", gzip.compress("packed ä".encode()), ("Content-Encoding", "gzip")),
    "/latin.js": ("text/javascript", "LATIN = 'ä'".encode("latin-1")),
    "/image.png": ("image/png", _png(7)),
    "/style.css": ("text/css", "@import '/more.css'; body { color: red }"),
    "/more.css": ("text/css", "body { text-indent: 3px }"),
    "/data.json": ("application/json", json.dumps({"words": "some words ä"})),
}  # fmt: skip


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.over = threading.Event()
        self.pages: dict[str, str] = {}
        self.asked: list[str] = []
        self._numbers: dict[str, Iterator[int]] = defaultdict(lambda: itertools.count(1))

    def number(self, path: str) -> int:
        """Return how often a path was asked for."""
        return next(self._numbers[path])

    def forget(self) -> None:
        """Begin to count anew."""
        self._numbers.clear()

    def handle_error(self, *_: object) -> None:
        """Say nothing of browsers that leave."""


class TrapSite:
    """The running site.

    Attributes
    ----------
    flags : what a browser is started with to know its certificate.
    """

    def __init__(self, server: _Server, pin: str) -> None:
        self.server = server
        self.flags = (f"--ignore-certificate-errors-spki-list={pin}",)

    def url(self, path: str, host: str = HOST) -> str:
        """Return the address of a path."""
        return f"https://{host}:{self.server.server_port}{path}"


@contextmanager
def trap_site(pages: dict[str, str] | None = None) -> Iterator[TrapSite]:
    """Serve the site, with further pages by their paths, until the block ends."""
    certificate = new_certificate()
    server = _Server()
    server.pages.update(pages or {})
    context = certificate.server_context()
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield TrapSite(server, certificate.pin)
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
