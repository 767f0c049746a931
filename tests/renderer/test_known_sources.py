"""Pages that were captured before are transferred again only if they have changed, and servers that lie are found."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from itertools import count, islice
from pathlib import Path

import msgspec
import pytest

from domsieve.errors import DomsieveError, PolicyError
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.fetching.known_sources import KnownSource, KnownSources
from domsieve.renderer.network.egress import Egress, offline
from domsieve.renderer.protocol import PageSource, Reconsidering, Rendering
from domsieve.snapshot.page import Snapshot, validator
from domsieve.snapshot.store import PageStore
from domsieve.tasks.pages import cached, keep, known_source
from domsieve.tasks.render_modes import NOT_JUDGED, source_through
from tests.renderer.bad_server import Server, send, serving
from tests.service.test_adaptive import article, with_boxes

NEVER = CaptureOptions(render="never")
AUTO = CaptureOptions(render="auto")
LONG_AGO = "2026-01-02T03:04:05+00:00"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@dataclass
class Document:
    """A page with validators.

    Parameters
    ----------
    source : what is sent.
    tag : its ETag, empty for none.
    changed : its Last-Modified, empty for none.
    lies : whether the server calls it unchanged whatever is asked for.
    asked : the conditions of the requests: ETag or time, ``""`` for none.
    statuses : the statuses of the responses.
    """

    source: str
    tag: str = ""
    changed: str = ""
    lies: bool = False
    asked: list[str] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        tag, time = handler.headers["If-None-Match"], handler.headers["If-Modified-Since"]
        self.asked.append(tag or time or "")
        is_same = tag == self.tag if tag else time is not None and time == self.changed
        status = 304 if (tag or time) and (is_same or self.lies) else 200
        self.statuses.append(status)
        headers = {"ETag": self.tag, "Last-Modified": self.changed}
        body = b"" if status == 304 else self.source.encode()
        send(handler, body, status=status, headers={name: one for name, one in headers.items() if one})


class Browser:
    """Renders what the server sends."""

    def __init__(self, documents: dict[str, Document]) -> None:
        self.documents, self.rendered = documents, list[str]()

    async def render(self, url: str, *, site: str | None = None) -> Rendering:  # noqa: ARG002
        from domsieve.renderer.html_parser.parser import parse_html

        document = self.documents[url]
        self.rendered.append(url)
        page = with_boxes(parse_html(document.source.encode(), url=url))
        origin = msgspec.structs.replace(
            page.provenance,
            options=AUTO.canonical(),
            etag=document.tag,
            status=200,
            captured_at=LONG_AGO,
        )
        return Rendering(snapshot=replace(page, provenance=origin), source=document.source.encode())

    @contextlib.asynccontextmanager
    async def opened(self) -> "AsyncIterator[PageSource]":
        yield self  # type: ignore[misc]


def load(
    urls: list[str],
    store: PageStore,
    *,
    options: CaptureOptions = NEVER,
    egress: Egress | None = None,
    renews: bool = True,
    browser: Browser | None = None,
) -> dict[str, Snapshot | DomsieveError]:
    """Load pages into the cache, as with ``--max-age`` if `renews`, and return them."""

    async def run() -> dict[str, Snapshot | DomsieveError]:
        found: dict[str, Snapshot | DomsieveError] = {}
        opened = source_through(
            egress or offline(),
            options,
            Budget(),
            open_renderer=(browser or Browser({})).opened,
            concurrency=1,
            store=store,
            renews=renews,
        )
        async with opened as source:
            assert isinstance(source, Reconsidering)
            for outcomes in (source.render_many(urls), source.again(urls)):
                async for url, outcome in outcomes:
                    if not isinstance(outcome, DomsieveError):
                        keep(outcome, "site", store)
                    found[url] = outcome if isinstance(outcome, DomsieveError) else outcome.snapshot
        return found

    return asyncio.run(run())


def make_old(store: PageStore) -> None:
    """Let all pages of the cache be captured long ago."""
    for record in store.records():
        page = store.get(record.page_id)
        origin = msgspec.structs.replace(page.provenance, captured_at=LONG_AGO)
        store.put(replace(page, provenance=origin), site=record.site)


def known(captured_at: str) -> KnownSource:
    """Return what is known of a page that was captured at a time."""
    return KnownSource(
        source=b"",
        final_url="",
        status=200,
        content_type="",
        etag="a",
        last_modified="",
        captured_at=captured_at,
    )


def paths(server: Server, *, due: bool) -> Iterator[str]:
    """Yield paths whose pages are transferred to check the server, or not, if they were captured long ago."""
    for number in count():
        path = f"/page/{number}"
        if KnownSources().is_due(server.url(path), known(LONG_AGO)) == due:
            yield path


def text_of(page: Snapshot | DomsieveError) -> str:
    assert isinstance(page, Snapshot)
    return " ".join(page.strings)


class TestConditions:
    @pytest.mark.parametrize(("tag", "changed"), [('"one"', ""), ("", "Fri, 20 Nov 2026 10:00:00 GMT")])
    def test_an_unchanged_page_is_not_sent_and_its_capture_is_new(
        self, server: Server, tmp_path: Path, tag: str, changed: str
    ) -> None:
        path = next(paths(server, due=False))
        document = server.pages[path] = Document(article(1), tag, changed)
        url = server.url(path)
        with PageStore(tmp_path) as store:
            first = load([url], store)[url]
            make_old(store)
            second = load([url], store)[url]
            assert document.statuses == [200, 304]
            assert document.asked[1] == (document.tag or document.changed)
            assert text_of(second) == text_of(first)
            assert isinstance(second, Snapshot)
            assert second.provenance.status == 200
            assert second.provenance.reason == f"{NOT_JUDGED}; unchanged since {LONG_AGO}, as the server says"
            [record] = store.records()
            assert record.captured_at > LONG_AGO
            assert store.source(record) == document.source.encode()

    def test_it_can_be_asked_for_again_and_again(self, server: Server, tmp_path: Path) -> None:
        path = next(paths(server, due=False))
        document = server.pages[path] = Document(article(1), tag='"one"')
        url = server.url(path)
        with PageStore(tmp_path) as store:
            for _ in range(4):
                load([url], store)
                make_old(store)
        assert document.statuses == [200, 304, 304, 304]

    def test_a_changed_page_is_taken(self, server: Server, tmp_path: Path) -> None:
        document = server.pages["/page"] = Document(article(1), tag='"one"')
        url = server.url("/page")
        with PageStore(tmp_path) as store:
            load([url], store)
            document.source, document.tag = article(2), '"two"'
            page = load([url], store)[url]
            assert "Bees 2" in text_of(page)
            assert isinstance(page, Snapshot)
            assert (page.provenance.etag, page.provenance.reason) == ('"two"', NOT_JUDGED)
            assert document.statuses == [200, 200]

    def test_without_validators_nothing_is_conditional(self, server: Server, tmp_path: Path) -> None:
        document = server.pages["/page"] = Document(article(1))
        url = server.url("/page")
        with PageStore(tmp_path) as store:
            load([url], store)
            load([url], store)
        assert document.asked == ["", ""]

    def test_only_captures_that_are_too_old_are_renewed(self, server: Server, tmp_path: Path) -> None:
        document = server.pages["/page"] = Document(article(1), tag='"one"')
        with PageStore(tmp_path) as store:
            load([server.url("/page")], store)
            load([server.url("/page")], store, renews=False)
        assert document.asked == ["", ""]

    def test_validators_are_for_the_address_that_they_came_from(self, server: Server, tmp_path: Path) -> None:
        here = server.pages["/here"] = Document(article(1), tag='"one"')
        there = server.pages["/there"] = Document(article(2), tag='"one"')
        goal = ["/here"]
        path = next(paths(server, due=False))
        server.pages[path] = lambda handler: send(
            handler, b"", status=302, headers={"Location": server.url(goal[0])}
        )
        url = server.url(path)
        with PageStore(tmp_path) as store:
            load([url], store)
            make_old(store)
            load([url], store)
            goal[0] = "/there"
            assert "Bees 2" in text_of(load([url], store)[url])
        assert here.asked == ["", '"one"']
        assert there.asked == [""]

    def test_a_private_address_stays_refused(self, server: Server, tmp_path: Path) -> None:
        document = server.pages["/page"] = Document(article(1), tag='"one"')
        url = server.url("/page")
        with PageStore(tmp_path) as store:
            load([url], store)
            outcome = load([url], store, egress=Egress())[url]
        assert isinstance(outcome, PolicyError)
        assert outcome.reason == "private"
        assert len(document.asked) == 1

    def test_a_redirect_to_a_private_address_stays_refused(self, server: Server, tmp_path: Path) -> None:
        document = server.pages["/page"] = Document(article(1), tag='"one"')
        url = server.url("/page")
        with PageStore(tmp_path) as store, serving() as other:
            load([url], store)
            server.pages["/page"] = lambda handler: send(
                handler, b"", status=302, headers={"Location": other.url("/good")}
            )
            outcome = load([url], store, egress=Egress(named=[("127.0.0.1", server.port)]))[url]
        assert isinstance(outcome, PolicyError)
        assert len(document.asked) == 1

    @pytest.mark.parametrize("value", ["a" * 1_001, '"\u00e9"', '"a\r\nCookie: b"', '"\x7f"'])
    def test_validators_that_cannot_be_sent_back_are_none(self, value: str) -> None:
        assert validator(value) == ""
        assert validator(' W/"a b" ') == 'W/"a b"'


class TestLies:
    def test_they_are_found_and_all_pages_of_the_server_are_loaded(
        self, server: Server, tmp_path: Path
    ) -> None:
        names = [*islice(paths(server, due=False), 8), next(paths(server, due=True))]
        pages = {server.url(name): Document(article(n), tag='"one"') for n, name in enumerate(names)}
        server.pages |= {url.removeprefix(server.url("")): page for url, page in pages.items()}
        with PageStore(tmp_path) as store:
            load([*pages], store)
            make_old(store)
            for number, page in enumerate(pages.values()):
                page.source, page.lies = article(number + 100), True
            outcomes = load([*pages], store)
            stored = {
                url: store.get(record.page_id) for url in pages if (record := cached(url, store, NEVER))
            }
        for number, (url, outcome) in enumerate(outcomes.items()):
            assert f"Bees {number + 100}" in text_of(outcome)
            assert f"Bees {number + 100}" in text_of(stored[url])

    def test_pages_are_transferred_by_turns(self) -> None:
        urls = [f"http://a.example/{number}" for number in range(2_000)]
        days = [
            {url for url in urls if KnownSources().is_due(url, known(f"2026-11-{day}"))} for day in (1, 2)
        ]
        assert all(60 < len(due) < 140 for due in days)
        assert len(days[0] & days[1]) < 30


class TestAuto:
    def test_fetched_pages_are_renewed_and_drawn_ones_rendered_again(
        self, server: Server, tmp_path: Path
    ) -> None:
        docs = {server.url(f"/docs/{number}"): Document(article(number), tag='"a"') for number in range(12)}
        shell = "<p>Please wait.</p><script src=/app.js></script>"
        drawn = {server.url(f"/app/{number}"): Document(shell, tag='"b"') for number in range(4)}
        pages = {**docs, **drawn}
        server.pages |= {url.removeprefix(server.url("")): page for url, page in pages.items()}
        browser = Browser(pages)
        with PageStore(tmp_path) as store:
            first = load([*pages], store, options=AUTO, browser=browser)
            fetched = [
                url for url, page in first.items() if isinstance(page, Snapshot) and not page.has_layout
            ]
            assert len(fetched) > 5
            make_old(store)
            browser.rendered.clear()
            second = load([*pages], store, options=AUTO, browser=browser)
        # That its source has not changed says nothing about what its script draws.
        assert {*drawn} <= {*browser.rendered}
        assert not [one for url in drawn for one in pages[url].asked if one]
        for url in fetched:
            page = second[url]
            assert isinstance(page, Snapshot)
            why, _, unchanged = page.provenance.reason.partition("; ")
            if page.has_layout:
                assert why.startswith("audited: ")
                continue
            assert why.startswith("static: ")
            assert text_of(page) == text_of(first[url])
            assert bool(unchanged) == (docs[url].statuses[-1] == 304)
        assert [url for url in fetched if docs[url].statuses == [200, 304]]


def test_captures_without_validators_are_read(server: Server, tmp_path: Path) -> None:
    url = server.url("/good")
    with PageStore(tmp_path) as store:
        load([url], store)
        # Pages of older programs have no validators.
        assert known_source(url, store, NEVER) is None
