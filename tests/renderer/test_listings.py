"""Feeds and sitemaps stand for the pages that they list, and these are visited politely."""

import asyncio
import gzip
from collections.abc import Callable, Iterator
from contextlib import aclosing
from datetime import timedelta
from http.server import BaseHTTPRequestHandler

import pytest

from domsieve.errors import DomsieveError, PolicyError, TargetError
from domsieve.renderer._limits import Clock
from domsieve.renderer.network.egress import offline
from domsieve.renderer.protocol import Rendering
from domsieve.renderer.sampling import sitemap as listings
from domsieve.renderer.sampling import visits
from domsieve.renderer.sampling.sitemap import Listing, listing_at, listing_in
from domsieve.renderer.sampling.visits import visit_politely
from tests.renderer.bad_server import Server, send, serving
from tests.renderer.fake_site import FakeSite, Page

RSS = b"""<?xml version="1.0"?><rss version="2.0"><channel><link>https://example.org/</link>
<image><url>https://example.org/logo.png</url><link>https://example.org/</link></image>
<item><title>One</title><link> https://example.org/1 </link><guid>https://example.org/?p=1</guid></item>
<item><guid>https://example.org/2</guid></item>
<item><guid isPermaLink="false">tag:3</guid></item>
<item><link>/4</link></item><item><link>https://example.org/1</link></item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><link href="https://example.org/"/>
<entry><link rel="enclosure" href="https://example.org/1.mp3"/><link href="1"/></entry>
<entry><link rel="alternate" type="application/json" href="2.json"/>
<link rel="alternate" type="text/html" href="2"/></entry><entry><title>None</title></entry></feed>"""
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel rdf:about="https://example.org/rss"><link>https://example.org/</link></channel>
<item rdf:about="https://example.org/1"><link>https://example.org/1</link></item>
<item rdf:about="https://example.org/2"/></rdf:RDF>"""
SITEMAP = b"<urlset><url><loc>https://example.org/1</loc></url><url><loc>/2</loc></url></urlset>"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


def sends(body: bytes, kind: str = "application/xml") -> Callable[[BaseHTTPRequestHandler], None]:
    return lambda handler: send(handler, body, headers={"Content-Type": kind})


def pages(data: bytes) -> list[str] | None:
    listing = listing_in(data, "https://example.org/a/feed")
    return None if listing is None else [page.removeprefix("https://example.org/") for page in listing.pages]


class TestWhatIsListed:
    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            pytest.param(RSS, ["1", "2", "4"], id="rss"),
            pytest.param(ATOM, ["a/1", "a/2"], id="atom"),
            pytest.param(RDF, ["1", "2"], id="rss 1.0"),
            pytest.param(SITEMAP, ["1", "2"], id="sitemap"),
        ],
    )
    def test_each_format_packed_or_not(self, data: bytes, expected: list[str]) -> None:
        assert pages(data) == pages(gzip.compress(data)) == expected
        head = b"" if data.startswith(b"<?xml") else b'<?xml version="1.0"?><!-- made -->\n'
        assert pages(b"\xef\xbb\xbf" + head + data) == expected
        assert pages((head + data).decode().encode("utf-16")) == expected

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"https://example.org/",
            b"<!doctype html><html><body><a href=/>",
            b"<svg xmlns='x'/>",
            b"\x89PNG\r\n",
            b"\x1f\x8b broken",
            b'{"version": "1"}',
        ],
    )
    def test_others_are_no_listings(self, data: bytes) -> None:
        assert listing_in(data) is None

    def test_an_index_names_sitemaps(self) -> None:
        index = b"<sitemapindex><sitemap><loc>https://example.org/1.xml</loc></sitemap></sitemapindex>"
        assert listing_in(index) == Listing((), ("https://example.org/1.xml",))


class TestAtAnAddress:
    def test_sitemaps_beyond_the_limit_are_counted(
        self, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(listings, "_MAX_FILES", 2)
        entries = "".join(f"<sitemap><loc>{server.url(f'/{n}.xml')}</loc></sitemap>" for n in range(5))
        server.pages["/index.xml"] = sends(f"<sitemapindex>{entries}</sitemapindex>".encode())
        for number in range(5):
            server.pages[f"/{number}.xml"] = sends(SITEMAP)
        found = asyncio.run(listing_at(server.url("/index.xml"), egress=offline()))
        assert found is not None
        assert found.unread == 3

    def test_the_sitemaps_of_an_index_are_read_and_what_is_lost_is_said(self, server: Server) -> None:
        names = ["/1.xml", "/2.xml.gz", "/gone.xml", "/1.xml", "https://elsewhere.example/3.xml"]
        entries = "".join(f"<sitemap><loc>{name}</loc></sitemap>" for name in names)
        server.pages["/index.xml"] = sends(f"<sitemapindex>{entries}</sitemapindex>".encode())
        server.pages["/1.xml"] = sends(SITEMAP)
        server.pages["/2.xml.gz"] = sends(gzip.compress(RSS), "application/gzip")
        found = asyncio.run(listing_at(server.url("/index.xml"), egress=offline()))
        assert found is not None
        root = server.url("")
        assert found.pages == ("https://example.org/1", f"{root}/2", "https://example.org/2", f"{root}/4")
        assert found.lost == (f"{root}/gone.xml",)

    def test_a_page_is_none(self, server: Server) -> None:
        assert asyncio.run(listing_at(server.url("/large"), egress=offline())) is None
        assert asyncio.run(listing_at(server.url("/nothing"), egress=offline())) is None


class FastClock(Clock):
    """Goes on by itself when somebody sleeps, and keeps for how long."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def time(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def visited(site: FakeSite, *names: str, **options: object) -> dict[str, Rendering | DomsieveError]:
    urls = [name if "://" in name else site.root + name for name in names]

    async def run() -> dict[str, Rendering | DomsieveError]:
        events = visit_politely(site, urls, egress=offline(), **{"concurrency": 2, **options})  # type: ignore[arg-type]
        async with aclosing(events):
            return {url.removeprefix(site.root): outcome async for url, outcome in events}

    return asyncio.run(run())


class TestPoliteVisits:
    def test_robots_txt_is_obeyed_and_one_bad_page_stops_no_other(self, server: Server) -> None:
        server.pages["/robots.txt"] = sends(b"User-agent: *\nDisallow: /private", "text/plain")
        made: dict[str, Page] = {"/1": "<p>1</p>", "/private/2": "<p>2</p>", "/4": "<p>4</p>"}
        site = FakeSite(server, made)
        outcomes = visited(site, "/1", "/private/2", "/3", "/4", "mailto:nobody")
        assert {name for name, outcome in outcomes.items() if isinstance(outcome, Rendering)} == {"/1", "/4"}
        assert sorted(site.rendered) == ["/1", "/3", "/4"]
        refused = outcomes["/private/2"]
        assert isinstance(refused, PolicyError)
        assert refused.reason == "robots"
        assert isinstance(outcomes["mailto:nobody"], TargetError)

    def test_time_passes_between_two_pages_of_a_site(
        self, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site, clock = FakeSite(server, lambda _: "<p>page</p>"), FastClock()
        visited(site, "/1", "/2", "/3", clock=clock)
        assert not any(clock.slept), "this machine need not be spared"
        monkeypatch.setattr(visits, "is_this_machine", lambda _: False)
        clock = FastClock()
        visited(site, "/1", "/2", "/3", clock=clock)
        assert [second for second in clock.slept if second] == [0.5, 0.5]
        clock = FastClock()
        visited(site, "/1", "/2", clock=clock, delay=timedelta(seconds=3))
        assert [second for second in clock.slept if second] == [3.0]

    def test_a_site_without_rules_is_not_visited(self, server: Server) -> None:
        server.pages["/robots.txt"] = lambda handler: send(handler, b"", status=500)
        site = FakeSite(server, lambda _: "<p>page</p>")
        outcomes = visited(site, "/1", "/2")
        assert all(isinstance(outcome, PolicyError) for outcome in outcomes.values())
        assert not site.rendered

    def test_stopping_early_leaves_nothing_behind(self, server: Server) -> None:
        site = FakeSite(server, lambda _: "<p>page</p>", jitter=1)

        async def run() -> int:
            events = visit_politely(
                site, [f"{site.root}/{n}" for n in range(50)], concurrency=2, egress=offline()
            )
            async with aclosing(events):
                async for _ in events:
                    break
            return len(asyncio.all_tasks())

        assert asyncio.run(run()) == 1
        assert len(site.rendered) < 50
