"""Sampling a site: which pages are drawn, that it is always the same ones, and what does not count."""

import asyncio
import hashlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any, ClassVar

import pytest

from domsieve.errors import ContentError, NavigationError, PolicyError, TargetError, UsageError
from domsieve.options import Scope
from domsieve.renderer._limits import Clock
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.protocol import Outcome, Rendering
from domsieve.renderer.sampling import visits
from domsieve.renderer.sampling._fetch import Answer as Fetched
from domsieve.renderer.sampling._page_urls import Site
from domsieve.renderer.sampling.events import (
    PageAgain,
    PageDone,
    PageFailed,
    PageRepeated,
    SampleEnded,
    SampleEvent,
    SitemapsRead,
    SiteOpened,
)
from domsieve.renderer.sampling.robots import Robots
from tests.renderer.bad_server import Server, send, serving
from tests.renderer.fake_site import Answer, FakeSite, Page, done, linking, web


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


def end(events: list[SampleEvent]) -> SampleEnded:
    assert isinstance(events[-1], SampleEnded)
    return events[-1]


def failures(events: list[SampleEvent], root: str) -> dict[str, type[Exception]]:
    return {e.url.removeprefix(root): type(e.error) for e in events if isinstance(e, PageFailed)}


class TestWhichPages:
    def test_all_pages_of_a_small_site_are_found_and_none_twice(self, server: Server) -> None:
        site = FakeSite(server, web(40))
        events = site.sample(pages=100)
        assert sorted(done(events, site.root)) == sorted(web(40))
        assert sorted(site.rendered) == sorted(web(40))
        assert end(events) == SampleEnded(pages=40, reason="exhausted")

    @pytest.mark.parametrize("wanted", [7, 100, None])
    def test_counts_never_exceed_what_is_known_and_end_at_what_was_found(
        self, server: Server, wanted: int | None
    ) -> None:
        events = FakeSite(server, web(40)).sample(pages=wanted)
        pages = [event for event in events if isinstance(event, PageDone)]
        assert all(event.number <= event.expected <= (wanted or 40) for event in pages)
        assert pages[-1].number == pages[-1].expected == min(wanted or 40, 40)
        assert pages[0].expected > 1, "the links of the first page are known"

    def test_as_many_as_wanted_the_start_first(self, server: Server) -> None:
        site = FakeSite(server, web(40))
        events = site.sample("/page/3", pages=12)
        names = done(events, site.root)
        assert names[0] == "/page/3"
        assert len(set(names)) == len(site.rendered) == 12
        assert [event.number for event in events if isinstance(event, PageDone)] == [*range(1, 13)]
        assert end(events) == SampleEnded(pages=12, reason="complete")

    def test_one_page_is_the_start_alone(self, server: Server) -> None:
        site = FakeSite(server, web(5))
        kinds = [type(event) for event in site.sample(pages=1)]
        assert kinds == [SiteOpened, PageDone, SampleEnded]
        assert site.rendered == ["/"]

    def test_links_that_lead_nowhere_new(self, server: Server) -> None:
        root = server.url("")
        links = (
            f"{root}/a",
            "/a#part",
            "/b?utm_source=mail",
            "/b/../b",
            "https://example.org/elsewhere",
            "//example.org/elsewhere",
            "/file.pdf",
            "mailto:me@example.org",
            "javascript:void(0)",
            "data:text/html,x",
            f"http://me@127.0.0.1:{server.port}/c",
            "#",
            "",
        )
        pages = {"/": linking(*links), "/a": "<p>a</p>", "/b": "<p>b</p>"}
        assert sorted(FakeSite(server, pages).names(pages=9)) == ["/", "/a", "/b"]

    def test_routes_behind_one_address(self, server: Server) -> None:
        shop = "/shop", "/shop#/product/1", "/shop#!/product/2", "/shop#!product=3"
        pages = {"/": linking("/shop#/", *shop[1:]), **{name: f"<p>{name}</p>" for name in shop}}
        assert sorted(FakeSite(server, pages).names(pages=9)) == sorted(pages)

    def test_traps_end(self, server: Server) -> None:
        def pages(name: str) -> Page:
            kind, _, number = name.strip("/").partition("/")
            if kind == "calendar":
                return linking(f"/calendar/{int(number) + 1}", text=name)
            if kind == "longer":
                return linking(name + "x" * 300, text=name)
            return linking("/calendar/1", "/longer/", f"{name}deeper/", text=name)

        site = FakeSite(server, pages)
        events = site.sample(pages=5_000)
        assert end(events) == SampleEnded(pages=27, reason="exhausted")
        assert {"/calendar/16", "/deeper/deeper/deeper/"} <= {*site.rendered}
        assert 1_500 < max(map(len, site.rendered)) <= 2_000

    def test_a_site_that_gives_the_same_for_all_addresses_ends(self, server: Server) -> None:
        def pages(name: str) -> Page:
            return linking(*(f"/{number}" for number in range(1000)))

        events = FakeSite(server, pages).sample(pages=50)
        repeated = [event for event in events if isinstance(event, PageRepeated)]
        assert {event.first for event in repeated} == {server.url("/")}
        assert end(events) == SampleEnded(pages=1, reason="fruitless")
        assert 20 <= len(repeated) < 30


class TestAlwaysTheSame:
    def test_whatever_the_time_and_the_concurrency(self, server: Server) -> None:
        orders = {
            tuple(FakeSite(server, web(60), jitter=jitter).names(pages=25, seed=7, concurrency=concurrency))
            for jitter, concurrency in ((None, 1), (1, 2), (2, 5), (3, 8), (4, 8))
        }
        assert len(orders) == 1

    def test_another_seed_gives_another_sample(self, server: Server) -> None:
        samples = {tuple(FakeSite(server, web(60)).names(pages=25, seed=seed)) for seed in range(5)}
        assert len(samples) == 5

    def test_a_smaller_sample_is_the_beginning_of_a_larger_one(self, server: Server) -> None:
        pages = web(60)
        for name in [*pages][::3]:
            pages[name] = NavigationError("It is away.") if name != "/" else pages[name]
        largest = FakeSite(server, pages).names(pages=30)
        assert len(largest) > 20
        for count in range(1, len(largest), 4):
            assert FakeSite(server, pages, jitter=count).names(pages=count) == largest[:count]

    def test_the_port_does_not_matter(self, server: Server) -> None:
        with serving() as other:
            first, second = FakeSite(server, web(60)), FakeSite(other, web(60))
            assert first.names(pages=20) == second.names(pages=20)

    def test_a_page_that_is_gone_changes_little(self, server: Server) -> None:
        pages = web(60)
        before = FakeSite(server, pages).names(pages=20)
        pages[before[4]] = NavigationError("It is away.")
        after = FakeSite(server, pages).names(pages=20)
        assert len({*before} & {*after}) >= 15

    def test_in_processes_of_other_hash_seeds(self) -> None:
        program = (
            "import json\n"
            "from tests.renderer.bad_server import serving\n"
            "from tests.renderer.fake_site import FakeSite, web\n"
            "with serving() as server:\n"
            "    print(json.dumps(FakeSite(server, web(50)).names(pages=20)))\n"
        )
        outputs = [
            subprocess.run(
                [sys.executable, "-c", program],
                check=True,
                capture_output=True,
                env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))},
                timeout=600,
            ).stdout
            for seed in ("1", "2")
        ]
        assert outputs[0] == outputs[1]
        assert len(json.loads(outputs[0])) == 20


class TestResuming:
    def test_after_an_interruption_at_every_event(self, server: Server) -> None:
        pages = web(30)
        pages["/page/5"] = NavigationError("It is away.")
        pages["/page/6"] = pages["/page/7"]
        whole = FakeSite(server, pages).sample(pages=14)
        for stop_after in range(1, len(whole)):
            store: dict[str, Rendering] = {}
            first, second = FakeSite(server, pages, jitter=1), FakeSite(server, pages, jitter=2)
            for event in first.sample(pages=14, stop_after=stop_after):
                if isinstance(event, PageDone):
                    store[event.url] = event.rendering
            events = second.sample(pages=14, known=store.get)
            assert done(events, server.url("")) == done(whole, server.url(""))
            assert not {*second.rendered} & {url.removeprefix(server.url("")) for url in store}
            known = [event.url for event in events if isinstance(event, PageDone) and event.was_known]
            assert known == [*store]

    def test_a_finished_sample_goes_on_where_it_ended(self, server: Server) -> None:
        pages = web(40)
        first = FakeSite(server, pages)
        store = {e.url: e.rendering for e in first.sample(pages=10) if isinstance(e, PageDone)}
        second = FakeSite(server, pages)
        names = second.names(pages=25, known=store.get)
        assert names[:10] == done(first.sample(pages=10), server.url(""))
        assert sorted(second.rendered) == sorted(names[10:])

    def test_stopping_early_leaves_nothing_running(self, server: Server) -> None:
        site = FakeSite(server, web(40), jitter=1)
        site.sample(pages=30, stop_after=6, concurrency=8)
        assert site.at_once == 0
        assert len(site.rendered) < 20


class TestRules:
    def test_robots_txt_is_obeyed(self, server: Server) -> None:
        server.pages["/robots.txt"] = (
            "User-agent: *\nDisallow: /\n\nUser-agent: domsieve\nDisallow: /private\nAllow: /private/open\n"
        )
        pages: dict[str, Page] = {
            "/": linking("/private/a", "/private/d", "/private/open", "/b", "/moved"),
            "/private/open": "<p>open</p>",
            "/b": "<p>b</p>",
            "/moved": Answer(final="/private/c"),
        }
        site = FakeSite(server, pages)
        events = site.sample(pages=9)
        assert sorted(done(events, site.root)) == ["/", "/b", "/private/open"]
        assert failures(events, site.root) == {"/moved": PolicyError}
        assert "/private/a" not in site.rendered
        assert end(events) == SampleEnded(pages=3, reason="exhausted", forbidden=2)

    def test_pages_outside_the_scope_are_not_counted_as_forbidden(self, server: Server) -> None:
        server.pages["/robots.txt"] = "User-agent: *\nDisallow: /private\n"
        pages = {"/": linking("/private/a", "/b", "/private/c"), "/b": linking("/private/a", "/")}
        events = FakeSite(server, pages).sample(pages=9, scope=Scope(exclude=("*c",)))
        assert end(events) == SampleEnded(pages=2, reason="exhausted", forbidden=1, has_scope=True)

    def test_the_start_page_may_be_forbidden(self, server: Server) -> None:
        server.pages["/robots.txt"] = "User-agent: *\nDisallow: /\n"
        site = FakeSite(server, web(3))
        with pytest.raises(PolicyError, match="does not allow it"):
            site.sample(pages=3)
        assert not site.rendered

    def test_nothing_is_allowed_while_robots_txt_cannot_be_had(self, server: Server) -> None:
        server.pages["/robots.txt"] = lambda handler: handler.send_error(503)
        site = FakeSite(server, web(3))
        with pytest.raises(PolicyError, match="HTTP 503") as caught:
            site.sample(pages=3)
        assert caught.value.retry
        assert not site.rendered

    def test_links_that_robots_are_asked_not_to_follow(self, server: Server) -> None:
        pages: dict[str, Page] = {
            "/": '<a rel="external nofollow" href=/a>a</a><a download href=/b>b</a><a href=/c>c</a>',
            "/c": '<meta name=Robots content="noindex, NoFollow"><a href=/d>d</a>',
        }
        assert FakeSite(server, pages).names(pages=9) == ["/", "/c"]


class FakeClock(Clock):
    """Shows how long was slept, and nothing else."""

    def __init__(self) -> None:
        self.slept_s = 0.0

    def time(self) -> float:
        return self.slept_s

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        self.slept_s += seconds


class TestPace:
    def starts(self, site: FakeSite, **options: Any) -> list[float]:
        """Return the seconds between two pages and the next."""
        clock, times = FakeClock(), list[float]()
        pages = site.pages
        assert not callable(pages)

        def timed(name: str) -> Page:
            times.append(clock.time())
            return pages[name]

        site.pages = timed
        site.sample(clock=clock, **options)
        return [late - early for early, late in pairwise(times)]

    def test_pages_start_one_delay_apart_even_side_by_side(self, server: Server) -> None:
        site = FakeSite(server, web(20))
        gaps = self.starts(site, pages=6, delay=timedelta(milliseconds=40), concurrency=8)
        assert len(gaps) == 5
        # The sitemap was asked for between the first and the second.
        assert gaps == pytest.approx([0.08, 0.04, 0.04, 0.04, 0.04])

    def test_a_longer_delay_of_robots_txt_counts(self, server: Server) -> None:
        server.pages["/robots.txt"] = "User-agent: *\nCrawl-delay: 0.05\n"
        site = FakeSite(server, web(20))
        opened = site.sample(pages=1)[0]
        assert opened == SiteOpened(root=site.root, delay=timedelta(seconds=0.05))
        assert min(self.starts(site, pages=5, delay=timedelta(milliseconds=1))) >= 0.0499

    def test_known_pages_do_not_wait(self, server: Server) -> None:
        store = {
            e.url: e.rendering for e in FakeSite(server, web(20)).sample(pages=9) if isinstance(e, PageDone)
        }
        site = FakeSite(server, web(20))
        clock = FakeClock()
        names = site.names(pages=9, known=store.get, delay=timedelta(seconds=1), clock=clock)
        assert len(names) == 9
        assert clock.slept_s <= 1  # one file was asked for, the sitemap

    def test_a_busy_server_is_asked_less_often(self, server: Server) -> None:
        pages: dict[str, Page] = {"/": linking("/busy", "/a"), "/busy": Answer(status=429), "/a": "<p>a</p>"}
        gaps = self.starts(FakeSite(server, pages), pages=3, delay=timedelta(), concurrency=1)
        assert len(gaps) == 2
        assert sum(gaps) >= 0.5

    def test_no_more_pages_at_once_than_asked_for(self, server: Server) -> None:
        site = FakeSite(server, web(40), jitter=0)
        site.sample(pages=30, concurrency=3)
        assert site.most_at_once == 3


class TestBadPages:
    def test_the_run_goes_on(self, server: Server) -> None:
        pages: dict[str, Page] = {
            "/": linking("/lost", "/missing", "/empty", "/elsewhere", "/to-file", "/good"),
            "/lost": NavigationError("It is away."),
            "/missing": Answer(status=404),
            "/elsewhere": Answer(final="https://example.org/"),
            "/to-file": Answer(final="/file.pdf"),
            "/good": "<p>good</p>",
        }
        site = FakeSite(server, pages)
        events = site.sample(pages=9)
        assert done(events, site.root) == ["/", "/good"]
        assert failures(events, site.root) == {
            "/lost": NavigationError,
            "/missing": ContentError,
            "/empty": NavigationError,
            "/elsewhere": PolicyError,
            "/to-file": PolicyError,
        }
        assert end(events).reason == "exhausted"

    def test_a_site_that_breaks_down_ends_the_run(self, server: Server) -> None:
        pages = {
            name: page if name == "/" else Answer(status=500) for name, page in web(90, links=80).items()
        }
        site = FakeSite(server, pages)
        assert end(site.sample(pages=50)) == SampleEnded(pages=1, reason="fruitless")
        assert len(site.rendered) < 30

    def test_the_start_page_must_be_there(self, server: Server) -> None:
        with pytest.raises(ContentError, match="HTTP 410"):
            FakeSite(server, {"/": Answer(status=410)}).sample(pages=3)

    def test_the_start_page_may_not_lead_to_another_site(self, server: Server) -> None:
        site = FakeSite(server, {"/": Answer(final="https://example.org/start")})
        with pytest.raises(PolicyError, match=r"give https://example\.org/start"):
            site.sample(pages=3)

    def test_a_start_page_that_leads_to_its_twin_decides_the_site(
        self, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[str] = []

        async def rules(site: Site, *, egress: Egress) -> Robots:
            asked.append(site.root)
            return Robots.parse("User-agent: *\nDisallow: /b\n" if "www." in site.root else "")

        async def nothing(url: str, *, max_bytes: int, egress: Egress) -> Fetched:
            asked.append(url)
            return Fetched(404, b"")

        monkeypatch.setattr(visits, "fetch_robots", rules)
        monkeypatch.setattr(visits, "fetch", nothing)
        monkeypatch.setattr(FakeSite, "root", "https://www.example.org")
        pages: dict[str, Page] = {
            "http://example.org/": Answer(linking("/a", "/b", "/"), final="/"),
            "/a": linking("http://www.example.org/c", "https://example.org/d"),
            "/c": "<p>c</p>",
        }
        site = FakeSite(server, pages)
        events = site.sample("http://example.org", pages=9, delay=timedelta())
        assert done(events, site.root) == ["http://example.org/", "/a", "/c"]
        assert events[0] == SiteOpened(root=site.root, delay=timedelta())
        assert asked == ["http://example.org", site.root, f"{site.root}/sitemap.xml"]

    @pytest.mark.parametrize(
        ("start", "error"),
        [
            ("ftp://127.0.0.1/", PolicyError),
            ("file:///etc/passwd", PolicyError),
            ("example.org", TargetError),
            ("http://", TargetError),
            ("http://me:secret@127.0.0.1/", TargetError),
        ],
    )
    def test_the_start_must_be_the_address_of_a_site(
        self, server: Server, start: str, error: type[Exception]
    ) -> None:
        with pytest.raises(error):
            FakeSite(server, {}).sample(start, pages=3)

    @pytest.mark.parametrize(
        "options", [{"pages": 0}, {"pages": 1, "concurrency": 0}, {"pages": 1, "concurrency": 9}]
    )
    def test_amounts_must_make_sense(self, server: Server, options: dict[str, Any]) -> None:
        with pytest.raises(UsageError):
            FakeSite(server, web(3)).sample(**options)


class TestRepeatedPages:
    def test_equal_content_counts_once(self, server: Server) -> None:
        pages = {
            "/": linking("/index.html", "/a"),
            "/index.html": linking("/index.html", "/a"),
            "/a": "<p>a</p>",
        }
        site = FakeSite(server, pages)
        events = site.sample(pages=9)
        assert done(events, site.root) == ["/", "/a"]
        (repeated,) = [event for event in events if isinstance(event, PageRepeated)]
        assert (repeated.url, repeated.first) == (server.url("/index.html"), server.url("/"))

    def test_equal_addresses_count_once(self, server: Server) -> None:
        pages: dict[str, Page] = {
            "/": Answer(linking("/login?from=1", "/login?from=2", "/home"), final="/home"),
            "/login?from=1": Answer("<p>first</p>", final="/login"),
            "/login?from=2": Answer("<p>second</p>", final="/login"),
        }
        site = FakeSite(server, pages)
        events = site.sample(pages=9)
        names = done(events, site.root)
        assert len(names) == 2
        assert "/home" not in site.rendered
        (repeated,) = [event for event in events if isinstance(event, PageRepeated)]
        assert repeated.first == site.root + names[1]


class TestSitemaps:
    def test_those_of_robots_txt(self, server: Server) -> None:
        server.pages["/robots.txt"] = f"Sitemap: {server.url('/maps/index.xml')}\n"
        server.pages["/maps/index.xml"] = (
            f"<sitemapindex><sitemap><loc>{server.url('/maps/1.xml')}</loc></sitemap>"
            "<sitemap><loc>https://example.org/maps/2.xml</loc></sitemap></sitemapindex>"
        )
        server.pages["/maps/1.xml"] = (
            f"<urlset><url><loc>{server.url('/hidden')}</loc></url>"
            f"<url><loc>{server.url('/shop#/product/1')}</loc></url>"
            "<url><loc>https://example.org/elsewhere</loc></url></urlset>"
        )
        pages = {"/": "<p>start</p>", "/hidden": "<p>hidden</p>", "/shop#/product/1": "<p>product</p>"}
        events = FakeSite(server, pages).sample(pages=9)
        assert sorted(done(events, server.url(""))) == sorted(pages)
        assert SitemapsRead(pages=2) in events

    def test_none(self, server: Server) -> None:
        assert SitemapsRead(pages=0) in FakeSite(server, web(3)).sample(pages=2)


def test_the_order_of_pages_is_pinned(server: Server) -> None:
    names = FakeSite(server, web(60)).names(pages=40, seed=1)
    assert hashlib.blake2b("\n".join(names).encode(), digest_size=8).hexdigest() == "92def6440a20b31d"


class TestScope:
    PAGES: ClassVar[dict[str, Page]] = {
        "/": linking("/docs/1", "/blog/1", "/docs/2?sort=up"),
        "/docs/1": linking("/docs/deep/2", text="first"),
        "/docs/2?sort=up": linking(text="sorted"),
        "/docs/deep/2": linking("/docs/deep/3", text="second"),
        "/docs/deep/3": linking(text="third"),
        "/blog/1": linking("/blog/2", text="news"),
        "/blog/2": linking(text="more news"),
    }

    @pytest.mark.parametrize(
        ("scope", "expected"),
        [
            (Scope(), set(PAGES)),
            (Scope(include=("/docs/*",)), {name for name in PAGES if name.startswith("/docs/")} | {"/"}),
            (Scope(exclude=("/blog/*", "*[?]sort=*")), {"/", "/docs/1", "/docs/deep/2", "/docs/deep/3"}),
            (Scope(include=("/docs/*", "/blog/*"), exclude=("*2*",)), {"/", "/docs/1", "/blog/1"}),
            (Scope(include=("/docs",)), {"/"}),
            (Scope(depth=0), {"/"}),
            (Scope(depth=1), {"/", "/docs/1", "/docs/2?sort=up", "/blog/1"}),
            (Scope(depth=2), set(PAGES) - {"/docs/deep/3"}),
        ],
    )
    @pytest.mark.parametrize("pages", [None, 50])
    def test_what_is_visited(
        self, server: Server, scope: Scope, expected: set[str], pages: int | None
    ) -> None:
        site = FakeSite(server, self.PAGES)
        events = site.sample(pages=pages, scope=scope)
        assert set(done(events, site.root)) == set(site.rendered) == expected
        assert end(events).reason == "exhausted"

    def test_sitemaps_are_in_scope_too(self, server: Server) -> None:
        urls = "".join(f"<url><loc>{server.url(name)}</loc></url>" for name in ("/blog/2", "/docs/deep/3"))
        server.pages["/sitemap.xml"] = lambda handler: send(handler, f"<urlset>{urls}</urlset>".encode())
        site = FakeSite(server, self.PAGES)
        assert set(site.names(pages=None, scope=Scope(include=("/docs/deep/*",), depth=1))) == {
            "/",
            "/docs/deep/3",
        }

    def test_all_pages_go_on_where_a_sample_of_repeated_ones_ends(self, server: Server) -> None:
        repeated = {f"/copy/{number}": linking(text="copy") for number in range(60)}
        pages: dict[str, Page] = {
            "/": linking(*repeated, "/copy/last"),
            **repeated,
            "/copy/last": linking(text="last"),
        }
        site = FakeSite(server, pages)
        assert len(done(site.sample(pages=None), site.root)) == 3
        assert end(site.sample(pages=50)).reason == "fruitless"

    @pytest.mark.parametrize("wrong", [{"include": ("",)}, {"exclude": ("/a", "")}, {"depth": -1}])
    def test_wrong_ones_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(UsageError, match=r"pattern such as|whole number from 0"):
            Scope(**wrong)


class Reconsidered(FakeSite):
    """A site that shows the links of one page only when it is rendered, at the end."""

    async def again(self, among: Sequence[str] | None = None) -> AsyncIterator[Outcome]:
        assert among is None
        if self.rendered.count("/app") == 1:
            yield self.root + "/app", await self.render(self.root + "/app")

    def page(self, url: str) -> Rendering:
        late = self.rendered.count("/app") > 1
        self.pages = {"/": linking("/app"), "/app": linking("/drawn" if late else "/"), "/drawn": "<p>drawn"}
        return super().page(url)


def test_links_of_pages_that_are_rendered_after_all_are_followed(server: Server) -> None:
    site = Reconsidered(server, {})
    events = site.sample(pages=None)
    again = [event for event in events if isinstance(event, PageAgain)]
    assert [event.url for event in again] == [site.root + "/app"]
    assert done(events, site.root) == ["/", "/app", "/drawn"]
    assert isinstance(events[-1], SampleEnded)
