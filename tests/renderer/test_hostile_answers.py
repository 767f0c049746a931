"""Servers that redirect, drip, lie about what they send or send too much: each page says how far it came and why."""

import base64
import gzip
import ssl
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
import zstandard

from domsieve.errors import ContentError, DomsieveError, NavigationError
from domsieve.renderer.protocol import Rendering
from examples.loopback import LoopbackServer, QuietHandler, running
from tests.renderer.bad_server import REPORT, send, start
from tests.renderer.conftest import BUDGET, Studio
from tests.renderer.reading import visible_text

pytestmark = pytest.mark.browser

Answer = Callable[[BaseHTTPRequestHandler], None]
SMALL = replace(BUDGET, received_bytes=1_000_000)
SELF_MADE = Path(__file__).with_name("fixtures") / "self_made.pem"
FLOOD = (b"<p>" + b"large " * 10_000 + b"</p>\n") * 500
BOMBS: dict[str, Callable[[], bytes]] = {
    "gzip": lambda: gzip.compress(FLOOD),
    "gzip, gzip": lambda: gzip.compress(gzip.compress(FLOOD)),
    # The same flood, so that no package is needed that only packs it.
    "br": lambda: base64.b64decode(
        "z///f/idCTYuqHfHeMnDBlcgcuUTVmVnKchhv+UBN+F0CnEA63AjJtXwX1DzYzoZvwRAHBYAaCsnAw=="
    ),
    "zstd": lambda: zstandard.compress(FLOOD),
}


def raw(answer: bytes) -> Answer:
    """Return an answer of these bytes, head and all."""

    def write(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(answer)
        handler.close_connection = True

    return write


def typed(content_type: str, body: bytes, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler: send(handler, body, headers={"Content-Type": content_type, **named})


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
KEPT: dict[str, tuple[Answer, str, str]] = {
    "/length-too-long": (
        raw(HEAD + b"Content-Length: 5000\r\n\r\n<p>short"),
        "short",
        "document: it broke off",
    ),
    "/length-too-short": (raw(HEAD + b"Content-Length: 8\r\n\r\n<p>short and more"), "short", ""),
    "/length-negative": (raw(HEAD + b"Content-Length: -1\r\n\r\n<p>short"), "short", ""),
    "/chunk-broken": (
        raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n8\r\n<p>short\r\nzz\r\n"),
        "",
        "document: it broke off",
    ),
    "/no-gzip": (
        typed("text/html", b"<p>plain", Content_Encoding="gzip"),
        "",
        "document: it broke off",
    ),
    "/zip": (typed("application/zip", b"PK\3\4"), "", "download: a file of type application/zip, not loaded"),
    "/pdf": (typed("application/pdf", b"%PDF-1.4\n%%EOF"), "", "download: a file of type application/pdf"),
    "/octets": (
        typed("application/octet-stream", b"<p>x"),
        "",
        "download: a file of type application/octet-str",
    ),
    "/attached": (
        typed("text/html", b"<p>x", Content_Disposition='attachment; filename="../../x.html"'),
        "",
        "download: a file of type text/html, not loaded",
    ),
    "/pdf-as-html": (typed("text/html", b"%PDF-1.4\n%%EOF"), "%PDF-1.4 %%EOF", ""),
    "/odd-type": (typed('text/html; charset="\xff', b"<p>odd"), "odd", ""),
    "/no-type": (raw(b"HTTP/1.1 200 OK\r\n\r\n<!doctype html><p>sniffed"), "sniffed", ""),
    "/wants-a-name": (
        lambda h: send(h, b"<p>who", status=401, headers={"WWW-Authenticate": 'Basic realm="x"'}),
        "who",
        "",
    ),
}
REFUSED: dict[str, tuple[Answer, type[DomsieveError]]] = {
    "/length-twice": (
        raw(HEAD + b"Content-Length: 8\r\nContent-Length: 12\r\n\r\n<p>short"),
        NavigationError,
    ),
    "/giant-head": (raw(HEAD + b"X-A: " + b"a" * 2_000_000 + b"\r\n\r\n<p>x"), NavigationError),
    "/no-http": (raw(b"\x00\x01garbage\r\n\r\n"), NavigationError),
    "/mp4": (typed("video/mp4", b"\0\0\0\x18ftypmp42"), ContentError),
    "/html-as-png": (typed("image/png", b"<p>html"), ContentError),
    "/html-as-text": (typed("text/plain", b"<p>html", X_Content_Type_Options="nosniff"), ContentError),
}
FLOATING = "<p>" + "\u200b" * 100_000 + "end"
ENCODED = {
    "/none": (b"<p>caf\xe9", "text/html", "café"),
    "/utf-16": (b"\xff\xfe" + "<p>café".encode("utf-16-le"), "text/html", "café"),
    "/mark-against-header": (b"\xef\xbb\xbf<p>caf\xc3\xa9", "text/html; charset=windows-1251", "café"),
    "/wrong": (b"<p>caf\xe9", "text/html; charset=utf-8", "caf\ufffd"),
    "/unknown": (b"<p>caf\xe9", "text/html; charset=klingon", "café"),
    "/utf-7": (b"<p>+ADw-script+AD4-", "text/html; charset=utf-7", "+ADw-script+AD4-"),
    "/nul": (b"<p>a\0b<i title='x\0y'>c", "text/html; charset=utf-8", "ab c"),
    "/bidi": ("<p>\u202eabc\u2066def".encode(), "text/html; charset=utf-8", "\u202eabc\u2066def"),
    "/zero-width": (FLOATING.encode(), "text/html; charset=utf-8", FLOATING[3:]),
}


@pytest.fixture(scope="module")
def outcomes(studio: Studio) -> dict[str, Rendering | DomsieveError]:
    """Return what became of every page that ends by itself; they were rendered side by side."""
    answers = {path: answer for path, (answer, _, _) in KEPT.items()}
    answers |= {path: answer for path, (answer, _) in REFUSED.items()}
    answers |= {path: typed(kind, body) for path, (body, kind, _) in ENCODED.items()}
    studio.server.pages.update(answers)
    return studio.render_all([*answers])


@pytest.mark.parametrize("path", KEPT)
def test_what_came_is_kept_with_the_reason(outcomes: dict[str, Rendering | DomsieveError], path: str) -> None:
    outcome = outcomes[path]
    assert isinstance(outcome, Rendering)
    _, text, reason = KEPT[path]
    assert visible_text(outcome.snapshot) == text
    provenance = outcome.snapshot.provenance
    assert provenance.complete == (not reason)
    assert "; ".join(provenance.reasons).startswith(reason)


@pytest.mark.parametrize("path", REFUSED)
def test_what_is_no_page_is_an_error(outcomes: dict[str, Rendering | DomsieveError], path: str) -> None:
    assert type(outcomes[path]) is REFUSED[path][1]


@pytest.mark.parametrize("path", ENCODED)
def test_words_of_every_encoding(outcomes: dict[str, Rendering | DomsieveError], path: str) -> None:
    outcome = outcomes[path]
    assert isinstance(outcome, Rendering)
    assert visible_text(outcome.snapshot) == ENCODED[path][2]


def test_a_name_and_a_password_are_never_asked_for(outcomes: dict[str, Rendering | DomsieveError]) -> None:
    outcome = outcomes["/wants-a-name"]
    assert isinstance(outcome, Rendering)
    assert outcome.snapshot.provenance.status == 401


@pytest.mark.parametrize("encoding", BOMBS)
def test_compressed_floods_are_counted_unpacked(studio: Studio, encoding: str) -> None:
    bomb = BOMBS[encoding]()
    assert len(bomb) < len(FLOOD) / 100
    page = studio.render("/packed", budget=SMALL, packed=typed("text/html", bomb, Content_Encoding=encoding))
    assert page.snapshot.provenance.reasons[0] == "bytes: the budget of 1,000,000 is used up"
    assert visible_text(page.snapshot).startswith("large large")


def test_servers_that_never_end_are_left_side_by_side(studio: Studio) -> None:
    def half_a_head(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(HEAD)
        while not studio.server.stopped.wait(0.2):
            handler.wfile.write(b"X-A: b\r\n")
            handler.wfile.flush()

    def byte_by_byte(handler: BaseHTTPRequestHandler) -> None:
        start(handler, {"Content-Type": "text/html"})
        for byte in f"<p>slow words<script>{REPORT}</script>".encode() + b" " * 10_000:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            studio.server.stopped.wait(0.01)

    def endless(handler: BaseHTTPRequestHandler) -> None:
        start(handler, {"Content-Type": "text/html"})
        handler.wfile.write(b"<p>endless words " * 2 + f"<script>{REPORT}</script>".encode())
        while not studio.server.stopped.wait(0.01):
            handler.wfile.write(b"<p>endless words ")

    pages: dict[str, Answer] = {
        "/half-a-head": half_a_head,
        "/byte-by-byte": byte_by_byte,
        "/endless": endless,
    }
    studio.server.pages.update(pages)
    texts = {"/half-a-head": "", "/byte-by-byte": "slow words", "/endless": "endless words endless words"}
    until = ["/half-a-head", "/reached", "/reached"]
    for path, outcome in studio.render_all(pages, until=until).items():
        assert isinstance(outcome, Rendering)
        assert outcome.snapshot.provenance.reasons[0].startswith("time: ")
        assert visible_text(outcome.snapshot).startswith(texts[path])


def test_a_chain_of_a_hundred_redirects(studio: Studio) -> None:
    asked = []

    def step(handler: BaseHTTPRequestHandler) -> None:
        number = int(handler.path.rpartition("?")[2])
        asked.append(number)
        send(
            handler, b"", status=302, headers={"Location": f"/step?{number + 1}" if number < 100 else "/good"}
        )

    studio.server.pages["/step"] = step
    page = studio.render("/step?1").snapshot
    assert page.provenance.reasons == ("redirects: the server redirects without end",)
    assert len(asked) < 30, "a browser follows about twenty"


@pytest.fixture
def secure(studio: Studio) -> Iterator[tuple[str, list[str]]]:
    """Return the address of a server with a certificate of its own making, and what it was asked for."""
    asked = []

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            send(self, b"", status=302, headers={"Location": studio.server.url("/to-secure")})

    class Server(LoopbackServer):
        def handle_error(self, *_: object) -> None:
            pass  # the browser hangs up

    http = Server(Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(SELF_MADE)
    http.socket = context.wrap_socket(http.socket, server_side=True)
    with running(http):
        yield f"https://127.0.0.1:{http.server_port}/", asked


def test_redirects_between_http_and_https_end_at_a_certificate_that_nobody_knows(
    studio: Studio, secure: tuple[str, list[str]]
) -> None:
    url, asked = secure
    studio.server.pages["/to-secure"] = lambda h: send(h, b"", status=302, headers={"Location": url})
    with pytest.raises(NavigationError, match="ERR_CERT_AUTHORITY_INVALID"):
        studio.render("/to-secure")
    assert asked == []


def test_what_is_no_page_closes_at_once_and_leaves_its_site_usable(studio: Studio) -> None:
    renderer = studio.renderer()
    for path in ("/html-as-png", "/mp4", "/html-as-text") * 4:
        studio.server.pages[path] = REFUSED[path][0]
        with pytest.raises(ContentError):
            studio.runner.run(renderer.render(studio.server.url(path), site="kept"))
        assert renderer._running
        assert "kept" in {site for site, _ in renderer._running[1]._sites}, (
            "a page that does not close costs its context"
        )
