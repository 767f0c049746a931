"""Pages fetched without a browser: the same guard, the same limits, and what a navigation sends."""

import asyncio
import gzip
import ssl
import zlib
from collections.abc import Callable, Iterator
from datetime import timedelta
from email.message import Message
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import ClassVar

import brotli
import pytest

from domsieve.errors import ContentError, DomsieveError, NavigationError, PolicyError, UsageError
from domsieve.options import FETCHED, Budget, CaptureOptions
from domsieve.renderer.fetching.fetcher import Fetcher
from domsieve.renderer.fetching.navigation_headers import browser_agent
from domsieve.renderer.network.addresses import HostRules
from domsieve.renderer.network.certificate import new_certificate
from domsieve.renderer.network.egress import Egress, offline
from domsieve.renderer.protocol import Rendering
from domsieve.snapshot.fault import fault_of
from domsieve.snapshot.store import PageStore
from domsieve.tasks.pages import cached, keep
from examples.loopback import LoopbackServer, QuietHandler, running
from tests.renderer.bad_server import Server, send, serving

LOOPBACK = HostRules.of((), ("127.0.0.1",))


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


def fetch(
    *urls: str,
    egress: Egress | None = None,
    budget: Budget | None = None,
    options: CaptureOptions | None = None,
) -> list[Rendering | DomsieveError]:
    async def run() -> list[Rendering | DomsieveError]:
        async with Fetcher(options, budget, egress=egress or offline(), concurrency=1) as fetcher:
            return [outcome async for _, outcome in fetcher.render_many(urls)]

    return asyncio.run(run())


def fetch_one(
    url: str,
    *,
    egress: Egress | None = None,
    budget: Budget | None = None,
    options: CaptureOptions | None = None,
) -> Rendering:
    [outcome] = fetch(url, egress=egress, budget=budget, options=options)
    if isinstance(outcome, DomsieveError):
        raise outcome
    return outcome


def text_of(rendering: Rendering) -> str:
    page = rendering.snapshot
    return " ".join(" ".join(page.text_of(node) for node in range(len(page))).split())


def moved(to: str) -> Callable[[BaseHTTPRequestHandler], None]:
    return lambda handler: send(handler, b"", status=302, headers={"Location": to})


def coded(coding: str, body: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    return lambda handler: send(handler, body, headers={"Content-Encoding": coding})


class _Seen:
    """Answers with a page, and remembers requests."""

    def __init__(self, **headers: str) -> None:
        self.requests: list[Message] = []
        self.paths: list[str] = []
        self._headers = headers

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        self.requests.append(handler.headers)
        self.paths.append(handler.path)
        send(handler, b"<p>seen</p>", headers=self._headers)


class TestPages:
    def test_the_source_becomes_a_raw_page(self, server: Server) -> None:
        page = fetch_one(server.url("/good"))
        origin = page.snapshot.provenance
        assert "It behaves." in text_of(page)
        assert page.source is not None
        assert page.source.startswith(b"<!doctype html>")
        assert (origin.producer, origin.status, origin.complete) == ("raw", 200, True)
        assert origin.content_type == "text/html; charset=utf-8"
        assert origin.captured_at

    def test_it_never_passes_for_a_rendered_page(self, server: Server, tmp_path: Path) -> None:
        page = fetch_one(server.url("/good"))
        assert page.snapshot.provenance.options[FETCHED] == "never"
        assert not page.snapshot.has_layout
        with PageStore(tmp_path) as store:
            record = keep(page, "site", store)
            assert cached(record.url, store, CaptureOptions()) is None
            found = store.find(record.url, producer="raw", options=CaptureOptions().canonical_fetched())
            assert found == record

    def test_error_pages_are_pages_that_count_as_failed(self, server: Server) -> None:
        page = fetch_one(server.url("/nothing")).snapshot
        fault = fault_of(page)
        assert fault
        assert fault.reason == "status"

    @pytest.mark.parametrize("path", ["/image", "/data", "/download"])
    def test_other_types_are_refused(self, server: Server, path: str) -> None:
        with pytest.raises(ContentError) as caught:
            fetch_one(server.url(path))
        assert caught.value.reason == "type"

    def test_no_content_is_an_error(self, server: Server) -> None:
        with pytest.raises(ContentError):
            fetch_one(server.url("/no-content"))

    def test_a_server_that_hangs_up(self, server: Server) -> None:
        with pytest.raises(NavigationError, match="EMPTY_RESPONSE"):
            fetch_one(server.url("/hang-up"))

    def test_a_server_that_is_not_there(self) -> None:
        with pytest.raises(NavigationError, match="CONNECTION_REFUSED"):
            fetch_one("http://127.0.0.1:49151/")

    @pytest.mark.parametrize(
        ("coding", "pack"),
        [
            ("gzip", gzip.compress),
            ("deflate", zlib.compress),
            ("br", brotli.compress),
            ("X-GZIP", gzip.compress),
        ],
    )
    def test_codings_are_undone(self, server: Server, coding: str, pack: Callable[[bytes], bytes]) -> None:
        server.pages["/coded"] = coded(coding, pack(b"<p>packed words</p>"))
        assert text_of(fetch_one(server.url("/coded"))) == "packed words"

    def test_chunks_are_joined(self, server: Server) -> None:
        def chunks(handler: BaseHTTPRequestHandler) -> None:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            handler.wfile.write(b"7;a=b\r\n<p>one \r\n7\r\ntwo</p>\r\n0\r\nTrailer: x\r\n\r\n")

        server.pages["/chunks"] = chunks
        assert text_of(fetch_one(server.url("/chunks"))) == "one two"

    def test_interim_responses_are_skipped(self, server: Server) -> None:
        def hinted(handler: BaseHTTPRequestHandler) -> None:
            handler.wfile.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n<p>hi</p>\n")

        server.pages["/hinted"] = hinted
        assert text_of(fetch_one(server.url("/hinted"))) == "hi"


class TestGuard:
    def test_a_private_address_is_refused(self, server: Server) -> None:
        seen = _Seen()
        server.pages["/seen"] = seen
        with pytest.raises(PolicyError) as caught:
            fetch_one(server.url("/seen"), egress=Egress())
        assert caught.value.reason == "private"
        assert not seen.requests

    def test_a_denied_host_is_refused(self, server: Server) -> None:
        seen = _Seen()
        server.pages["/seen"] = seen
        egress = Egress(allow_private=True, rules=HostRules.of(("127.0.0.1",), ()))
        with pytest.raises(PolicyError) as caught:
            fetch_one(server.url("/seen"), egress=egress)
        assert caught.value.reason == "denied"
        assert not seen.requests

    @pytest.mark.parametrize(
        "to", ["http://10.0.0.1/", "http://[::ffff:169.254.169.254]/", "//192.168.1.1\\x"]
    )
    def test_a_redirect_to_a_private_address_is_refused(self, server: Server, to: str) -> None:
        server.pages["/away"] = moved(to)
        with pytest.raises(PolicyError) as caught:
            fetch_one(server.url("/away"), egress=Egress(named=[("127.0.0.1", server.port)]))
        assert caught.value.reason == "private"
        assert caught.value.url == server.url("/away")
        assert "It redirected to" in caught.value.message

    def test_a_redirect_to_another_port_of_a_named_host_is_refused(self, server: Server) -> None:
        with serving() as other:
            seen = _Seen()
            other.pages["/seen"] = seen
            server.pages["/away"] = moved(other.url("/seen"))
            with pytest.raises(PolicyError):
                fetch_one(server.url("/away"), egress=Egress(named=[("127.0.0.1", server.port)]))
            assert not seen.requests

    def test_a_name_is_resolved_by_the_guard_alone(self, server: Server) -> None:
        asked: list[str] = []

        async def resolve(host: str, port: int) -> list[str]:
            asked.append(host)
            return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

        egress = Egress(allow_private=True, resolver=resolve)
        url = server.url("/good").replace("127.0.0.1", "site.example")
        assert "It behaves." in text_of(fetch_one(url, egress=egress))
        assert asked == ["site.example"]

    @pytest.mark.parametrize(
        "url", ["file:///etc/passwd", "ftp://127.0.0.1/", "data:text/html,a", "about:blank"]
    )
    def test_other_schemes_are_refused(self, url: str) -> None:
        with pytest.raises(PolicyError):
            fetch_one(url)

    @pytest.mark.parametrize("to", ["file:///etc/passwd", "data:text/html,a", "javascript:alert(1)"])
    def test_a_redirect_to_another_scheme_is_an_error(self, server: Server, to: str) -> None:
        server.pages["/away"] = moved(to)
        with pytest.raises(NavigationError, match="UNSAFE_REDIRECT"):
            fetch_one(server.url("/away"))


class TestLimits:
    def test_a_redirect_loop_is_cut(self, server: Server) -> None:
        page = fetch_one(server.url("/redirect")).snapshot
        assert page.provenance.was_cut_by("redirects")
        assert page.provenance.requests == 21

    def test_a_bomb_is_cut(self, server: Server) -> None:
        page = fetch_one(server.url("/bomb"), budget=Budget(received_bytes=100_000))
        assert page.snapshot.provenance.was_cut_by("bytes")
        assert page.source is not None
        assert len(page.source) == 100_000

    def test_a_bomb_in_a_bomb_is_cut(self, server: Server) -> None:
        inner = gzip.compress(bytes(10_000_000))
        server.pages["/twice"] = coded("gzip, gzip", gzip.compress(inner * 200))
        page = fetch_one(server.url("/twice"), budget=Budget(received_bytes=100_000))
        assert page.snapshot.provenance.was_cut_by("bytes")
        assert len(page.source or b"") <= 100_000

    def test_a_large_page_is_cut_without_reading_the_rest(self, server: Server) -> None:
        egress = offline()
        page = fetch_one(server.url("/large"), egress=egress, budget=Budget(received_bytes=100_000))
        assert page.snapshot.provenance.was_cut_by("bytes")
        assert egress.passed_bytes < 20_000_000

    def test_a_slow_body_is_cut(self, server: Server) -> None:
        page = fetch_one(server.url("/drip"), budget=Budget(time=timedelta(seconds=0.5)))
        assert page.snapshot.provenance.was_cut_by("time")
        assert text_of(page).startswith("drip")

    def test_a_server_that_never_answers_is_cut(self, server: Server) -> None:
        page = fetch_one(server.url("/silent"), budget=Budget(time=timedelta(seconds=0.3)))
        fault = fault_of(page.snapshot)
        assert fault
        assert (fault.reason, fault.timed_out) == ("cut", True)

    def test_a_body_that_breaks_off_is_incomplete(self, server: Server) -> None:
        def short(handler: BaseHTTPRequestHandler) -> None:
            send(handler, b"<p>the beginning</p>", headers={"Content-Length": "1000"})
            handler.close_connection = True

        server.pages["/short"] = short
        page = fetch_one(server.url("/short"))
        assert page.snapshot.provenance.was_cut_by("document")
        assert text_of(page) == "the beginning"

    def test_an_endless_head_is_an_error(self, server: Server) -> None:
        def endless(handler: BaseHTTPRequestHandler) -> None:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not server.stopped.is_set():
                handler.wfile.write(b"X-Header: " + b"x" * 10_000 + b"\r\n")

        server.pages["/endless-head"] = endless
        with pytest.raises(NavigationError, match="HEADERS_TOO_BIG"):
            fetch_one(server.url("/endless-head"))

    @pytest.mark.parametrize("answer", [b"SSH-2.0-OpenSSH\r\n", b"HTTP/9\r\n\r\n", b"\0" * 100 + b"\n"])
    def test_what_is_not_http_is_an_error(self, server: Server, answer: bytes) -> None:
        def odd(handler: BaseHTTPRequestHandler) -> None:
            handler.wfile.write(answer)

        server.pages["/odd"] = odd
        with pytest.raises(NavigationError):
            fetch_one(server.url("/odd"))

    def test_a_negative_chunk_ends_the_page(self, server: Server) -> None:
        def odd(handler: BaseHTTPRequestHandler) -> None:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n")
            while not server.stopped.is_set():
                handler.wfile.write(b"x" * 1_000_000)

        server.pages["/odd"] = odd
        assert not fetch_one(server.url("/odd")).snapshot.provenance.complete


class TestRequests:
    def test_it_asks_as_a_navigation_does(self, server: Server) -> None:
        seen = _Seen()
        server.pages["/seen"] = seen
        options = CaptureOptions(
            headers=(("X-Team", "blue"),),
            cookies=(("a", "1"), ("b", "2")),
            user_agent="Own/1.0",
            locale="de-DE",
        )
        fetch_one(server.url("/seen"), options=options)
        [headers] = seen.requests
        assert headers["User-Agent"] == "Own/1.0"
        assert headers["X-Team"] == "blue"
        assert headers["Cookie"] == "a=1; b=2"
        assert headers["Accept-Language"] == "de-DE"
        assert "text/html" in headers["Accept"]
        assert headers["Host"] == f"127.0.0.1:{server.port}"

    def test_the_user_agent_is_that_of_the_browser(self, server: Server) -> None:
        seen = _Seen()
        server.pages["/seen"] = seen
        fetch_one(server.url("/seen"))
        assert seen.requests[0]["User-Agent"] == browser_agent()
        assert "HeadlessChrome/156.0.0.0 " in browser_agent("Chrome/156.0.8078.79")

    def test_cookies_come_back_on_redirects_and_later_pages_of_the_site(self, server: Server) -> None:
        seen = _Seen()
        server.pages["/seen"] = seen
        server.pages["/door"] = lambda handler: send(
            handler, b"", status=303, headers={"Location": "/seen", "Set-Cookie": "key=7; Path=/; HttpOnly"}
        )
        fetch(server.url("/door"), server.url("/seen"))
        assert [headers["Cookie"] for headers in seen.requests] == ["key=7", "key=7"]

    @pytest.mark.parametrize(
        "cookie",
        ["a=1; Domain=example.org", "a=1; Path=/other", "a=1; Secure", "a=1; Max-Age=0", "a=1; Domain=0.0.1"],
    )
    def test_cookies_for_elsewhere_are_not_sent(self, server: Server, cookie: str) -> None:
        seen = _Seen()
        server.pages |= {
            "/set": lambda handler: send(handler, b"<p>set</p>", headers={"Set-Cookie": cookie}),
            "/seen": seen,
        }
        fetch(server.url("/set"), server.url("/seen"))
        assert seen.requests[0]["Cookie"] is None

    def test_a_storage_state_gives_its_cookies(self, server: Server, tmp_path: Path) -> None:
        state = tmp_path / "state.json"
        state.write_text(
            '{"cookies": [{"name": "in", "value": "yes", "domain": "127.0.0.1"}], "origins": []}'
        )
        seen = _Seen()
        server.pages["/seen"] = seen
        fetch_one(server.url("/seen"), options=CaptureOptions(storage_state=state))
        assert seen.requests[0]["Cookie"] == "in=yes"

    @pytest.mark.parametrize(
        ("written", "sent"),
        [
            ("/a b", "/a%20b"),
            ("\\a\\b", "/a/b"),
            ("/ä?ö", "/%C3%A4?%C3%B6"),
            ("/a/../b/./c", "/b/c"),
            ("/%7Ea%20b#part", "/%7Ea%20b"),
            ("/a\n\tb", "/ab"),
            ('/"<>`{}?"<>\'', "/%22%3C%3E%60%7B%7D?%22%3C%3E%27"),
            ("?", "/?"),
        ],
    )
    def test_addresses_are_read_as_by_a_browser(self, server: Server, written: str, sent: str) -> None:
        seen = _Seen()
        server.answer = seen  # type: ignore[method-assign]
        fetch_one(server.url(written))
        assert seen.paths == [sent]

    def test_a_redirect_with_spaces_is_followed(self, server: Server) -> None:
        seen = _Seen()
        server.pages |= {"/from": moved("to this?a b"), "/to%20this": seen}
        page = fetch_one(server.url("/from#part"))
        assert seen.paths == ["/to%20this?a%20b"]
        assert page.snapshot.provenance.final_url == server.url("/to%20this?a%20b#part")

    @pytest.mark.parametrize("pair", [("X", "a\r\nHost: elsewhere"), ("X Y", "a"), ("", "a")])
    def test_a_header_that_is_two_is_refused(self, server: Server, pair: tuple[str, str]) -> None:
        with pytest.raises(UsageError):
            fetch_one(server.url("/good"), options=CaptureOptions(headers=(pair,)))


class _Keeping(QuietHandler):
    protocol_version = "HTTP/1.1"
    connections: ClassVar[set[object]]

    def do_GET(self) -> None:
        self.connections.add(self.client_address)
        send(self, b"<p>kept</p>")
        if self.path == "/last":
            self.close_connection = True  # without saying so


def _keeping() -> type[_Keeping]:
    """Return a handler that keeps connections, and counts them from zero."""

    class Handler(_Keeping):
        connections: ClassVar[set[object]] = set()

    return Handler


class TestConnections:
    def test_connections_are_kept(self) -> None:
        handler = _keeping()
        with running(LoopbackServer(handler)) as server:

            async def run() -> None:
                async with Fetcher(egress=offline()) as fetcher:
                    for number in range(5):
                        await fetcher.render(f"{server.base}/{number}")

            asyncio.run(run())
        assert len(handler.connections) == 1

    def test_a_request_is_sent_again_if_its_kept_connection_was_closed(self) -> None:
        handler = _keeping()
        with running(LoopbackServer(handler)) as server:

            async def run() -> str:
                async with Fetcher(egress=offline()) as fetcher:
                    await fetcher.render(f"{server.base}/last")
                    return text_of(await fetcher.render(f"{server.base}/next"))

            assert asyncio.run(run()) == "kept"
        assert len(handler.connections) == 2

    def test_certificates_are_checked(self) -> None:
        own = new_certificate()
        handler = _keeping()
        server = LoopbackServer(handler)
        server.socket = own.server_context().wrap_socket(server.socket, server_side=True)
        trusting = ssl.create_default_context(cadata=own.certificate)
        trusting.check_hostname = False
        with running(server):
            url = server.base.replace("http:", "https:")
            trusted, wary = offline(), offline()
            trusted.tls = trusting
            assert text_of(fetch_one(url, egress=trusted)) == "kept"
            with pytest.raises(NavigationError, match="CERT"):
                fetch_one(url, egress=wary)

    def test_files_of_a_page_are_limited(self, server: Server) -> None:
        async def run() -> list[bytes | None]:
            async with Fetcher(egress=offline()) as fetcher:
                paths = ("/good", "/large", "/nothing", "/bomb")
                return [await fetcher.file(server.url(path), most_bytes=1_000, site="site") for path in paths]

        good, *others = asyncio.run(run())
        assert good is not None
        assert others == [None, b"", None]
