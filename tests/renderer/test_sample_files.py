"""robots.txt and sitemaps: what is read, from where, and how far."""

import asyncio
import contextlib
import gzip
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler

import pytest

from domsieve.errors import NavigationError, PolicyError
from domsieve.renderer.network.egress import Egress, Factory, offline
from domsieve.renderer.sampling import _fetch as fetching
from domsieve.renderer.sampling._fetch import Answer, fetch, is_this_machine
from domsieve.renderer.sampling._page_urls import Site
from domsieve.renderer.sampling.robots import Robots, fetch_robots
from domsieve.renderer.sampling.sitemap import parse_sitemap, read_sitemaps
from tests.renderer.bad_server import Server, send, serving

SITE = Site("https://example.org")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


def get(url: str, *, max_bytes: int = 1_000) -> Answer:
    return asyncio.run(fetch(url, max_bytes=max_bytes, egress=offline()))


def rules(server: Server) -> Robots:
    return asyncio.run(fetch_robots(Site(server.url("")), egress=offline()))


def moved(to: str) -> Callable[[BaseHTTPRequestHandler], None]:
    return lambda handler: send(handler, b"", status=302, headers={"Location": to})


class TestFetch:
    def test_a_file(self, server: Server) -> None:
        seen: list[str | None] = []

        def page(handler: BaseHTTPRequestHandler) -> None:
            seen.append(handler.headers["User-Agent"])
            send(handler, b"file")

        server.pages["/file"] = page
        assert get(server.url("/file")) == Answer(200, b"file")
        assert seen == ["domsieve"]

    def test_a_missing_one(self, server: Server) -> None:
        assert get(server.url("/missing")) == Answer(404, b"")

    def test_no_more_than_asked_for(self, server: Server) -> None:
        assert get(server.url("/large"), max_bytes=50) == Answer(200, b"<p>" + (b"large " * 8)[:47])

    def test_no_more_of_a_chunk_that_is_less_than_nothing(self, server: Server) -> None:
        sent = 0

        def endless(handler: BaseHTTPRequestHandler) -> None:
            nonlocal sent
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n")
            while not server.stopped.is_set():
                handler.wfile.write(b"x" * 1_000_000)
                sent += 1_000_000

        server.pages["/endless"] = endless
        with contextlib.suppress(NavigationError):
            assert len(get(server.url("/endless"), max_bytes=50).body) <= 50
        assert sent < 100_000_000

    def test_redirects_on_the_same_site_are_followed(self, server: Server) -> None:
        server.pages |= {"/a": moved("/b"), "/b": moved(server.url("/file")), "/file": "file"}
        assert get(server.url("/a")).body == b"file"

    def test_redirects_to_another_host_or_port_are_not(self, server: Server) -> None:
        with serving() as other:
            asked: list[str] = []
            other.pages["/file"] = lambda handler: asked.append(handler.path)
            for to in (other.url("/file"), f"http://localhost:{server.port}/file", "file:///etc/passwd"):
                server.pages["/a"] = moved(to)
                assert get(server.url("/a")) == Answer(302, b"")
            assert not asked

    def test_endless_redirects_end(self, server: Server) -> None:
        assert get(server.url("/redirect")).status == 302

    def test_no_server(self) -> None:
        with serving() as gone:
            url = gone.url("/file")
        with pytest.raises(NavigationError, match="REFUSED") as caught:
            get(url)
        assert caught.value.url == url
        assert caught.value.retry

    @pytest.mark.parametrize("path", ["/drip", "/silent", "/slow-header"])
    def test_slow_servers_are_left(self, server: Server, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
        def slow_header(handler: BaseHTTPRequestHandler) -> None:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not server.stopped.wait(0.05):
                handler.wfile.write(b"X-Drip: 1\r\n")

        server.pages["/slow-header"] = slow_header
        monkeypatch.setattr(fetching, "_LIMIT_S", 0.3)
        with pytest.raises(NavigationError, match=r"more than 0\.3 s"):
            get(server.url(path), max_bytes=100_000)
        server.stopped.set()
        for thread in threading.enumerate():
            if thread.name.startswith("fetch "):
                thread.join(120)

    def test_a_proxy_of_the_environment_is_not_used_for_this_machine(
        self, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        assert get(server.url("/good")).status == 200

    @pytest.mark.parametrize(
        ("host", "expected"),
        [
            ("127.0.0.1", True),
            ("127.1.2.3", True),
            ("::1", True),
            ("localhost", True),
            ("a.localhost", True),
            ("10.0.0.1", False),
            ("localhost.example.org", False),
        ],
    )
    def test_this_machine(self, host: str, expected: bool) -> None:
        assert is_this_machine(host) == expected


class TestReasons:
    @pytest.mark.parametrize(("fault", "timed_out"), [(TimeoutError, True), (ConnectionRefusedError, False)])
    def test_no_answer_in_time_is_told_from_no_answer(self, fault: type[OSError], *, timed_out: bool) -> None:
        async def dial(factory: Factory, address: str, port: int) -> asyncio.Transport:
            raise fault

        with pytest.raises(NavigationError) as raised:
            asyncio.run(fetch_robots(Site("http://127.0.0.1:8123"), egress=offline(dialer=dial)))
        assert raised.value.timed_out is timed_out

    def test_a_private_address(self) -> None:
        with pytest.raises(PolicyError) as raised:
            asyncio.run(fetch("http://10.0.0.7/", max_bytes=1, egress=Egress()))
        assert raised.value.reason == "private"


class TestRobots:
    @pytest.mark.parametrize(
        ("text", "delay_s"),
        [
            ("", 0),
            ("User-agent: *\nCrawl-delay: 2.5", 2.5),
            ("User-agent: *\nCrawl-delay: 9\n\nUser-agent: Domsieve\nCrawl-delay: 1", 1),
            ("User-agent: *\nRequest-rate: 1/5\nCrawl-delay: 2", 5),
            ("User-agent: *\nCrawl-delay: 1e300", 86_400),
            ("User-agent: *\nCrawl-delay: nan", 0),
            ("User-agent: *\nCrawl-delay: -3", 0),
            ("User-agent: *\nCrawl-delay: +3", 0),
            ("User-agent: *\nCrawl-delay: 1_0", 0),
            ("User-agent: *\nCrawl-delay: \u0663", 0),
            ("User-agent: *\nCrawl-delay: .5 # half", 0.5),
            ("User-agent: *\ncrawl delay 7", 7),
            ("User-agent: *\nCrawl-delay: 1_0\nUser-agent: other\nCrawl-delay: 9", 0),
            ("User-agent: *\nRequest-rate: 1/1_0", 0),
            ("User-agent: *\nRequest-rate: 1/+9", 0),
            ("User-agent: *\nRequest-rate: \u0661/9", 0),
            ("User-agent: *\nRequest-rate: 1/2m 0800-1700", 120),
            ("User-agent: *\nRequest-rate: 1/" + "9" * 400, 86_400),
            ("User-agent: *\nRequest-rate: " + "9" * 400 + "/1", 0),
            ("User-agent: other\nCrawl-delay: 3", 0),
        ],
    )
    def test_the_delay(self, text: str, delay_s: float) -> None:
        assert Robots.parse(text).delay == timedelta(seconds=delay_s)

    def test_queries_and_routes(self) -> None:
        robots = Robots.parse("User-agent: *\nDisallow: /articles?\nDisallow: /shop#/x\nDisallow: /*.php$\n")
        assert not robots.allows("https://example.org/articles?tag=a")
        assert not robots.allows("https://example.org/a/b.php#/route")
        assert robots.allows("https://example.org/articles")
        with pytest.raises(PolicyError, match="articles") as raised:
            robots.check("https://example.org/articles?q=b")
        assert raised.value.reason == "robots"

    def test_what_follows_a_hash_sign_is_a_comment(self) -> None:
        robots = Robots.parse("User-agent: *\nDisallow: /shop#/x\n")
        assert not robots.allows("https://example.org/shop#/y")

    @pytest.mark.parametrize("status", [401, 403, 404, 410])
    def test_none_allows_everything(self, server: Server, status: int) -> None:
        server.pages["/robots.txt"] = lambda handler: send(handler, b"Disallow: /", status=status)
        assert rules(server).allows(server.url("/a"))

    def test_one_on_another_host_is_none(self, server: Server) -> None:
        server.pages["/robots.txt"] = moved("https://example.org/robots.txt")
        assert rules(server).allows(server.url("/a"))

    def test_a_server_error_allows_nothing(self, server: Server) -> None:
        server.pages["/robots.txt"] = lambda handler: send(handler, b"", status=500)
        with pytest.raises(PolicyError, match="HTTP 500"):
            rules(server)

    def test_no_answer_allows_nothing(self, server: Server) -> None:
        server.pages["/robots.txt"] = server.hang_up
        with pytest.raises(NavigationError, match="no page of the site is visited"):
            rules(server)

    def test_odd_bytes(self, server: Server) -> None:
        text = b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /\xff\r\nDisallow: /b\r\n"
        server.pages["/robots.txt"] = lambda handler: send(handler, text)
        robots = rules(server)
        assert not robots.allows(server.url("/b"))
        assert robots.allows(server.url("/a"))

    def test_a_page_that_is_served_for_every_path(self, server: Server) -> None:
        server.pages["/robots.txt"] = "<!doctype html><title>App</title><script>'Disallow: /'</script>"
        assert rules(server).allows(server.url("/a"))


def urlset(*urls: str) -> bytes:
    entries = "".join(f"<url><loc>\n{url} </loc><lastmod>2024-01-01</lastmod></url>" for url in urls)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'.encode()


def index(*urls: str) -> bytes:
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f'<?xml version="1.0"?><sitemapindex>{entries}</sitemapindex>'.encode()


class TestSitemapFiles:
    @pytest.mark.parametrize("packed", [False, True])
    def test_pages(self, packed: bool) -> None:
        data = urlset("https://example.org/a?b=1&amp;c=2", "https://example.org/é")
        expected = ["https://example.org/a?b=1&c=2", "https://example.org/é"]
        assert parse_sitemap(gzip.compress(data) if packed else data) == ([], expected)

    def test_further_sitemaps(self) -> None:
        assert parse_sitemap(index("https://example.org/1.xml")) == (["https://example.org/1.xml"], [])

    def test_lines_of_text(self) -> None:
        assert parse_sitemap(b"\xef\xbb\xbfhttps://example.org/a\r\nhttps://example.org/b\n")[1] == [
            "https://example.org/a",
            "https://example.org/b",
        ]

    def test_pictures_are_no_pages(self) -> None:
        data = (
            b'<urlset xmlns="s" xmlns:image="i"><url><loc>/a</loc><image:image><image:loc>/a.jpg</image:loc>'
            b"</image:image></url></urlset>"
        )
        assert parse_sitemap(data) == ([], ["/a"])

    @pytest.mark.parametrize(
        "data", [b"", b"\x1f\x8b broken", b"<", b"<html><p>App</p>", b"<urlset><url>", b"\0"]
    )
    def test_none(self, data: bytes) -> None:
        sitemaps, pages = parse_sitemap(data)
        assert not sitemaps
        assert pages in ([], ["\0"])

    def test_broken_ones_are_read_as_far_as_they_go(self) -> None:
        data = urlset("/a", "/b")
        assert parse_sitemap(data[:-40])[1][0] == "/a"
        assert parse_sitemap(gzip.compress(data * 50)[:-20])[1][0] == "/a"

    def test_entities_are_not_expanded(self) -> None:
        bomb = (
            b'<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
            b'<!ENTITY c SYSTEM "file:///etc/passwd">]>'
            b"<urlset><url><loc>/x&b;</loc></url><url><loc>/y&c;</loc></url></urlset>"
        )
        assert parse_sitemap(bomb)[1] == ["/x", "/y"]

    def test_a_bomb_is_unpacked_only_so_far(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("domsieve.renderer.sampling.sitemap._MAX_UNPACKED_BYTES", 1_000)
        data = gzip.compress(urlset(*(f"/{number}" for number in range(100_000))))
        assert 5 < len(parse_sitemap(data)[1]) < 20


class TestSitemaps:
    def read(self, files: dict[str, bytes], *addresses: str) -> tuple[list[str], list[str]]:
        asked: list[str] = []

        async def get(url: str) -> bytes:
            asked.append(url.removeprefix(SITE.root))
            return files.get(asked[-1], b"")

        found = asyncio.run(read_sitemaps(get, addresses, site=SITE, rank=str.encode))
        return list(found), asked

    def test_those_of_indexes_of_indexes(self) -> None:
        root = SITE.root
        files = {
            "/index": index(f"{root}/more", f"{root}/1", f"{root}/index", "https://example.com/2"),
            "/more": index(f"{root}/3"),
            "/1": urlset("/a"),
            "/3": urlset("/c"),
        }
        found, asked = self.read(files, f"{root}/index", f"{root}/index", "https://other.example/sitemap.xml")
        assert asked == ["/index", "/1", "/more", "/3"]
        assert found == ["/a", "/c"]

    def test_not_without_end(self) -> None:
        files = {f"/{n}": index(f"{SITE.root}/{n + 1}") for n in range(100)}
        assert len(self.read(files, f"{SITE.root}/0")[1]) == 10

    def test_not_too_many_addresses(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("domsieve.renderer.sampling.sitemap.MAX_ADDRESSES", 5)
        files = {f"/{n}": urlset(*(f"{n}{name}" for name in "abc")) for n in range(4)}
        found, asked = self.read(files, *(f"{SITE.root}/{n}" for n in range(4)))
        assert found == ["0a", "0b", "0c", "1a", "1b"]
        assert len(asked) == 2
