"""A site that tries every way out of a page to a private server, and that server's stand-in, both on loopback.

Each probe asks the stand-in for a path with its name, so that `Standin.reached` tells which ones came through.
"""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote, urlsplit

from examples.loopback import LoopbackServer, QuietHandler, running

# Of 127.0.0.1, as browsers read them; and of this machine. {} is the port.
SPELLINGS = (
    "localhost:{}",
    "any.localhost:{}",
    "localhost.:{}",
    "127.1:{}",
    "2130706433:{}",
    "0x7f.1:{}",
    "0177.0.0.1:{}",
    "127.0.0.1.:{}",
    "１２７。0。0。１:{}",
    "%31%32%37.0.0.1:{}",
    "0.0.0.0:{}",
    "[::]:{}",
    "[::1]:{}",
    "[::ffff:127.0.0.1]:{}",
    "ok@127.0.0.1:{}",
)
# Documents that the main frame or a frame leaves for the stand-in.
LEAVING = {
    "meta-refresh": "<meta http-equiv=refresh content='0;url={u}'><p>one</p>",
    "location": "<p>two</p><script>location = '{u}'</script>",
    "location-late": "<p>two</p><script>setTimeout(() => location.replace('{u}'), 100)</script>",
    "form": "<form action='{u}' method=post><input name=a></form><script>document.forms[0].submit()</script>",
    "base": "<base href='{u}/'><a id=a href=x>x</a><script>a.click()</script>",
    "open-self": "<p>It stays.</p><script>open('{u}', '_self')</script>",
}
REDIRECTS = (301, 302, 303, 307, 308)
_PAGE = """<!doctype html><title>Hostile</title><h1>Probes</h1>
<link rel=icon href="{b}icon"><link rel=prefetch href="{b}prefetch"><link rel=prerender href="{b}prerender">
<link rel=preconnect href="{o}"><link rel=dns-prefetch href="{o}"><link rel=preload as=image href="{b}preload">
<link rel=modulepreload href="{b}modulepreload"><link rel=stylesheet href="{b}stylesheet">
<link rel=manifest href="{b}manifest">
<script type=speculationrules>{{"prefetch": [{{"source": "list", "urls": ["{b}rules-prefetch"]}}],
"prerender": [{{"source": "list", "urls": ["{b}rules-prerender"]}}]}}</script>
<style>@import url({b}css-import); @font-face {{ font-family: f; src: url({b}font) }}
p {{ font-family: f; background: url({b}css-url); list-style: url({b}css-list) }}</style>
<p>text</p><img src="{b}img"><img srcset="{b}srcset 1x"><iframe src="{b}iframe"></iframe>
<iframe srcdoc="<img src={b}srcdoc-img>"></iframe><object data="{b}object"></object><embed src="{b}embed">
<video src="{b}video" poster="{b}poster"></video><audio src="{b}audio"></audio><script src="{b}script"></script>
<input type=image src="{b}input-image"><svg><image href="{b}svg-image" /></svg>
<a id=ping href="#x" ping="{b}ping">x</a><a id=blank target=_blank href="{b}blank">x</a>
<form id=f target=inner method=post action="{b}form-in-frame"></form><iframe name=inner></iframe>
{frames}{redirects}{spellings}
<script>
const b = "{b}", o = "{o}", w = o.replace("http", "ws");
const attempt = (work) => {{
  try {{ const done = work(); if (done && done.catch) done.catch(() => 0); }} catch {{ }}
}};
attempt(() => fetch(b + "fetch", {{ mode: "no-cors" }}));
attempt(() => fetch(b + "post", {{ mode: "no-cors", method: "POST", body: "x" }}));
attempt(() => {{ const x = new XMLHttpRequest(); x.open("GET", b + "xhr"); x.send(); }});
attempt(() => navigator.sendBeacon(b + "beacon", "x"));
attempt(() => new EventSource(b + "eventsource"));
attempt(() => new WebSocket(w + "/p/websocket"));
attempt(() => import(b + "import"));
attempt(() => open(b + "popup"));
attempt(() => ping.click()); attempt(() => blank.click()); attempt(() => f.submit());
attempt(() => navigator.serviceWorker.register("/service.js"));
attempt(() => new Worker(URL.createObjectURL(new Blob([`fetch("${{b}}blob-worker", {{ mode: "no-cors" }})`]))));
attempt(() => new WebTransport("https://127.0.0.1:{udp}/"));
attempt(() => {{
  const peer = new RTCPeerConnection({{ iceServers: [{{ urls: "stun:127.0.0.1:{udp}" }},
    {{ urls: "turn:127.0.0.1:{port}?transport=tcp", username: "a", credential: "b" }}] }});
  peer.createDataChannel("d"); peer.createOffer().then((offer) => peer.setLocalDescription(offer));
}});
for (const scheme of ["file:///etc/passwd", "view-source:file:///etc/passwd", "chrome://version", "ftp://127.0.0.1:{port}/",
  "filesystem:" + o + "/temporary/a", "custom://127.0.0.1:{port}/"])
  attempt(() => {{
    const frame = document.createElement("iframe"); frame.src = scheme; document.body.append(frame);
  }});
for (const place of {spelled})
  attempt(() => {{ fetch(`http://${{place}}/p/spelled-fetch`, {{ mode: "no-cors" }}).catch(() => 0);
    new WebSocket(`ws://${{place}}/p/spelled-socket`); }});
</script>"""
# On a page of their own, because Chrome lets sockets wait whose host has turned others down.
_WORKERS = "<p>workers</p><script>new Worker('/worker.js'); new SharedWorker('/shared.js')</script>"
_WORKER = 'fetch("{b}{n}", {{ mode: "no-cors" }}).catch(() => 0); new WebSocket("{w}/p/{n}-socket");'
# Ways that count as reached although they bring no path.
CONNECTIONS = "connection"


@dataclass
class Standin:
    """What the private server saw."""

    port: int
    udp_port: int
    reached: set[str] = field(default_factory=set)
    connections: int = 0
    datagrams: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@dataclass
class HostileSite:
    """A running hostile site.

    Parameters
    ----------
    port : of 127.0.0.1, where it is.
    standin : what it tries to reach.
    names : further hosts that its main page tries at the stand-in's port.
    """

    port: int
    standin: Standin
    names: tuple[str, ...] = ()

    @property
    def paths(self) -> list[str]:
        """All its pages: the one full of probes, those that leave, and those that redirect."""
        return [
            "/",
            "/workers",
            *(f"/leave/{name}" for name in LEAVING),
            *(f"/redirect/{code}/main" for code in REDIRECTS),
        ]

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def places(self) -> list[str]:
        """Return spellings of the stand-in's host and port."""
        return [
            text.format(self.standin.port) for text in (*SPELLINGS, *(f"{name}:{{}}" for name in self.names))
        ]

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        path = urlsplit(handler.path).path
        base, root = f"{self.standin.url}/p/", self.standin.url
        kind, body = "text/html; charset=utf-8", ""
        if path.startswith("/redirect/"):
            _, _, code, name = path.split("/")
            handler.send_response(int(code))
            handler.send_header("Location", f"{base}redirect-{code}-{name}")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        if path.startswith("/leave/"):
            name = path.removeprefix("/leave/")
            body = LEAVING[name].format(u=base + name)
        elif path.endswith(".js"):
            kind = "text/javascript"
            body = _WORKER.format(b=base, w=root.replace("http", "ws"), n=path.strip("/").removesuffix(".js"))
        elif path == "/workers":
            body = _WORKERS
        elif path == "/":
            body = _PAGE.format(
                b=base,
                o=root,
                port=self.standin.port,
                udp=self.standin.udp_port,
                frames="".join(f"<iframe src=/leave/{name}></iframe>" for name in LEAVING),
                redirects="".join(f"<img src=/redirect/{code}/img>" for code in REDIRECTS)
                + "".join(f"<iframe src=/redirect/{code}/frame></iframe>" for code in REDIRECTS),
                spellings="".join(f'<img src="http://{place}/p/spelled-img">' for place in self.places()),
                spelled=json.dumps(self.places()),
            )
        data = body.encode()
        handler.send_response(200 if body else 404)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(data)))
        handler.send_header("Link", f"<{base}link-header>; rel=preload; as=image")
        handler.send_header(
            "Content-Security-Policy-Report-Only", f"img-src 'none'; report-uri {base}csp-report"
        )
        handler.end_headers()
        handler.wfile.write(data)


@contextlib.contextmanager
def hostile_site(*names: str) -> Iterator[HostileSite]:
    """Run the site and the stand-in on free ports of 127.0.0.1."""
    with contextlib.ExitStack() as stack:
        standin = stack.enter_context(_standin())
        site = HostileSite(0, standin, names)

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                with contextlib.suppress(ConnectionError):
                    site.answer(self)

        site.port = stack.enter_context(running(LoopbackServer(Handler))).server_port
        yield site


@contextlib.contextmanager
def _standin() -> Iterator[Standin]:
    standin = Standin(0, 0)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    udp.settimeout(0.1)
    stopped = threading.Event()

    class Handler(QuietHandler):
        def setup(self) -> None:
            standin.connections += 1
            super().setup()

        def do_GET(self) -> None:
            standin.reached.add(unquote(self.path).removeprefix("/p/"))
            with contextlib.suppress(ConnectionError):
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

        do_POST = do_HEAD = do_OPTIONS = do_GET  # noqa: N815

    def listen() -> None:
        while not stopped.is_set():
            with contextlib.suppress(TimeoutError):
                udp.recvfrom(2048)
                standin.datagrams += 1

    thread = threading.Thread(target=listen)
    thread.start()
    try:
        with running(LoopbackServer(Handler)) as server:
            standin.port, standin.udp_port = server.server_port, udp.getsockname()[1]
            yield standin
    finally:
        stopped.set()
        thread.join()
        udp.close()
