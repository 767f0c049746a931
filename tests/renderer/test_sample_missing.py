"""One made-up address of a site tells what it shows where there is no page; pages that failed are kept."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from domsieve.analysis.page_flags.flags import missing_mark
from domsieve.errors import ContentError
from domsieve.options import CaptureOptions
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.renderer.network.egress import offline
from domsieve.renderer.sampling.events import MissingSeen, PageDone, PageFailed
from domsieve.renderer.sampling.frontier import missing_address, missing_addresses, missing_name
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_cleaning import clean
from domsieve.tasks.pages import from_record
from domsieve.tasks.sampling import PageMarked, describe, sample
from tests.renderer.bad_server import Server, serving
from tests.renderer.fake_site import Answer, FakeSite, Page, linking

LOST = "<title>Shop</title><h2>Lost?</h2><p>We looked everywhere for it. 17 people are here.</p>"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def soft(name: str) -> Page:
    """Return a page of a site that has no errors."""
    pages = {
        "/": linking("/a", "/b", "/gone", text="Start."),
        "/a": "<h1>A</h1><p>All about a.</p>",
        "/b": "<h1>B</h1><p>All about b.</p>",
    }
    return pages.get(name, LOST.replace("17", str(len(name))))


def hard(name: str) -> Page:
    return soft(name) if name in {"/", "/a", "/b"} else Answer("<p>none</p>", status=404)


def test_it_is_asked_for_once_and_counts_for_no_page(server: Server) -> None:
    site = FakeSite(server, soft)
    events = site.sample(pages=3, ask_for_missing=True)
    [seen] = [event for event in events if isinstance(event, MissingSeen)]
    assert seen.url == f"{site.root}/{missing_name(site.root)}"
    assert len([event for event in events if isinstance(event, PageDone)]) == 3
    assert site.rendered.count(seen.url.removeprefix(site.root)) == 1
    assert site.rendered[1] == seen.url.removeprefix(site.root)


@pytest.mark.parametrize("pages", [hard, soft])
def test_an_error_there_is_as_it_should_be(server: Server, pages: Any) -> None:
    events = FakeSite(server, pages).sample(pages=3, ask_for_missing=True)
    assert any(isinstance(event, MissingSeen) for event in events) is (pages is soft)


def test_it_is_not_asked_for_where_nobody_wants_it(server: Server) -> None:
    choices: tuple[dict[str, Any], ...] = ({}, {"ask_for_missing": True, "pages": 1})
    for options in choices:
        site = FakeSite(server, soft)
        site.sample(**{"pages": 3, **options})
        assert not any("no-such-page" in name for name in site.rendered)


def test_robots_txt_is_obeyed(server: Server) -> None:
    server.pages["/robots.txt"] = "User-agent: *\nDisallow: /no-such-page"
    try:
        site = FakeSite(server, soft)
        site.sample(pages=3, ask_for_missing=True)
        assert not any("no-such-page" in name for name in site.rendered)
    finally:
        del server.pages["/robots.txt"]


@pytest.mark.parametrize(
    ("pages", "address"),
    [
        (["http://a.example/x", "http://a.example/y"], "http://a.example/NAME"),
        (
            ["http://a.example/i#/x", "http://a.example/i#/y", "http://a.example/z"],
            "http://a.example/i#/NAME",
        ),
        (["http://a.example/i#!/x"], "http://a.example/i#!/NAME"),
        (["http://a.example/i#Some Title"], "http://a.example/i#NAME"),
        ([], "http://a.example/NAME"),
    ],
)
def test_where_pages_are_routes_it_is_one(pages: list[str], address: str) -> None:
    name = missing_name("http://a.example")
    made_up = missing_address("http://a.example", "http://a.example/i#/start", pages)
    assert made_up == address.replace("NAME", name)
    for page in pages[:1]:
        assert made_up in missing_addresses(page)


def test_start_pages_are_never_it() -> None:
    assert missing_addresses("http://a.example/") == []
    assert missing_addresses("http://a.example") == []


ASIDE = "<p>The club has met since 1908 and is open to anybody who looks at things twice.</p>" * 4
TITLED = f"<title>Club</title><h1>Lost?</h1><p>There is none.</p><a href=/a>Owls</a>{ASIDE}"
ADVERT = "<p>Thick jerseys, knitted within sight of the sheep.</p>"


@pytest.mark.parametrize(
    ("html", "is_missing"),
    [
        (TITLED.replace("Owls", "Swifts and rain") + ADVERT, True),
        (TITLED.replace("Lost?", "Mosses"), False),
        (TITLED.replace("Club", "Mosses") + ADVERT, False),
        (TITLED + ADVERT * 3, False),
        (TITLED.replace("h1>", "h4>") + ADVERT, False),
    ],
)
def test_links_and_adverts_may_rotate(html: str, is_missing: bool) -> None:
    model = parse_html(TITLED.encode(), url="http://a.example/no-such-page")
    page = parse_html(html.encode(), url="http://a.example/moss")
    assert (missing_mark(page, model) is not None) is is_missing


@pytest.mark.parametrize(
    ("html", "is_missing"),
    [
        (LOST, True),
        (LOST.replace("17", "3"), True),
        (f"{LOST}<p>You asked for gone thing.</p>", True),
        (LOST.replace("Lost?", "Found"), False),
        (f"{LOST}<p>And more of it.</p>", False),
    ],
)
def test_pages_that_say_the_same_are_marked(html: str, is_missing: bool) -> None:
    model = parse_html(LOST.encode(), url="http://a.example/no-such-page")
    page = parse_html(html.encode(), url="http://a.example/gone-thing")
    mark = missing_mark(page, model)
    assert (mark is not None) is is_missing
    nothing = parse_html(b"<p>x", url="http://a.example/none")
    assert missing_mark(nothing, nothing) is None


def sampled(site: FakeSite, cache: Path) -> list[Any]:
    """Return what happens when the site is sampled into a cache."""

    async def run() -> list[Any]:
        with PageStore(cache) as store:
            events = sample(
                site,
                site.root + "/",
                store,
                options=CaptureOptions(),
                pages=9,
                seed=0,
                delay=None,
                concurrency=1,
                since=None,
                egress=offline(),
            )
            return [event async for event, _ in events]

    return asyncio.run(run())


def test_soft_404s_of_a_sample_are_kept_and_marked(server: Server, tmp_path: Path) -> None:
    site = FakeSite(server, soft)
    events = sampled(site, tmp_path)
    [marked] = [event for event in events if isinstance(event, PageMarked)]
    assert marked.url == f"{site.root}/gone"
    assert "made-up address" in describe(marked)
    assert all(describe(event) for event in events)


def test_pages_that_failed_are_told_and_kept(server: Server, tmp_path: Path) -> None:
    site = FakeSite(server, hard)
    events = sampled(site, tmp_path)
    [failed] = [event for event in events if isinstance(event, PageFailed)]
    assert isinstance(failed.error, ContentError)
    assert failed.error.reason == "status"
    with PageStore(tmp_path) as store:
        assert [record.site for record in store.records() if record.url == failed.url] == [""]


def test_a_start_page_that_failed_ends_the_sample_and_is_kept(server: Server, tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="HTTP 500"):
        sampled(FakeSite(server, lambda _: Answer("<p>broken</p>", status=500)), tmp_path)
    with PageStore(tmp_path) as store:
        assert len(store.records()) == 1


def test_they_are_marked_when_they_are_cleaned_later(tmp_path: Path) -> None:
    root = "http://a.example"
    with PageStore(tmp_path) as store:
        records = []
        for url, html in ((f"{root}/gone", LOST), (f"{root}/a", "<h1>A</h1><p>All about a.</p>")):
            records.append(put(store, url, html, site="a.example"))
        put(store, f"{root}/{missing_name(root)}", LOST, site="")
        pages = [from_record(record, store) for record in records]
        marks = {}
        for page, result in clean(pages, method="none", siblings=lambda _: ()):
            assert isinstance(result, tuple)
            marks[page.label] = [mark.kind for mark in result[1].marks]
    assert marks == {f"{root}/gone": ["soft_404"], f"{root}/a": []}


def put(store: PageStore, url: str, html: str, *, site: str) -> Any:
    """Put a page into a store as if it had been rendered."""
    page = parse_html(html.encode(), url=url)
    n = len(page)
    provenance = msgspec.structs.replace(
        page.provenance, producer="rendered", status=200, options=CaptureOptions().canonical()
    )
    laid_out = replace(
        page,
        style=np.zeros(n, np.int32),
        box=np.array([(0, 30 * number, 600, 25) for number in range(n)], np.float32),
        paint=np.zeros(n, np.int32),
        styles=np.zeros((1, 0), np.int32),
        provenance=provenance,
    )
    return store.put(laid_out, site=site)
