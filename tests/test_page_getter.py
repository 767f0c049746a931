"""Pages by URL: the guard comes before the cache, the cache before the renderer."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from domsieve.errors import ContentError, DomsieveError, NavigationError, PolicyError
from domsieve.options import CaptureOptions
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.protocol import Outcome, Rendering
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_getter import get_pages
from domsieve.tasks.pages import cached, keep

OPEN, PRIVATE, NOWHERE = "http://open.example/", "http://private.example/", "http://nowhere.example/"
ADDRESSES = {"open.example": "93.184.216.34", "private.example": "10.0.0.7"}


async def resolve(host: str, port: int) -> list[str]:
    if host not in ADDRESSES:
        raise OSError("There is no such name.")
    return [ADDRESSES[host]]


def rendering(url: str, *, final_url: str = "") -> Rendering:
    page = parse_html(b"<p>words", url=url)
    origin = structs.replace(
        page.provenance,
        producer="rendered",
        final_url=final_url or url,
        options=CaptureOptions().canonical(),
    )
    return Rendering(snapshot=replace(page, provenance=origin), source=b"<p>words")


class Getter:
    """Gets pages of a store, and notes what happens in which order."""

    def __init__(self, store: PageStore) -> None:
        self.store = store
        self.steps: list[str] = []

    def find(self, url: str) -> PageRecord | None:
        self.steps.append(f"find {url}")
        return cached(url, self.store, CaptureOptions())

    async def render(self, missing: list[str]) -> AsyncGenerator[Outcome]:
        for url in missing:
            self.steps.append(f"render {url}")
            yield url, ContentError("none", url=url) if "wrong" in url else rendering(url)

    def keep(self, page: Rendering, site: str) -> PageRecord:
        self.steps.append(f"keep {site}")
        return keep(page, site, self.store)

    def get(self, *urls: str, **how: Any) -> dict[str, PageRecord | DomsieveError]:
        self.steps.clear()
        return asyncio.run(get_pages(urls, self.render, find=self.find, keep=self.keep, **how))


@pytest.fixture
def getter(tmp_path: Path) -> Iterator[Getter]:
    with PageStore(tmp_path) as store:
        yield Getter(store)


def test_each_missing_page_is_rendered_once_and_kept(getter: Getter) -> None:
    reported: list[str] = []
    outcomes = getter.get(OPEN, f"{OPEN}wrong", OPEN, report=lambda url, _: reported.append(url))
    assert [type(outcome) for outcome in outcomes.values()] == [PageRecord, ContentError]
    assert reported == [OPEN, f"{OPEN}wrong"]
    assert getter.steps == [
        f"find {OPEN}",
        f"find {OPEN}wrong",
        f"render {OPEN}",
        "keep open.example",
        f"render {OPEN}wrong",
    ]
    assert getter.get(OPEN) == {OPEN: outcomes[OPEN]}
    assert getter.steps == [f"find {OPEN}"]


def test_a_refused_page_is_not_looked_for_in_the_cache(getter: Getter) -> None:
    keep(rendering(PRIVATE), "private.example", getter.store)
    guard = Egress(resolver=resolve)
    for url, kind in ((PRIVATE, PolicyError), ("http://a..b/", NavigationError)):
        error = getter.get(url, guard=guard)[url]
        assert isinstance(error, kind)
        assert error.url == url
        assert getter.steps == []
    assert isinstance(getter.get(PRIVATE)[PRIVATE], PageRecord)


def test_a_capture_that_led_to_a_refused_place_is_rendered_anew(getter: Getter) -> None:
    keep(rendering(OPEN, final_url=PRIVATE), "open.example", getter.store)
    getter.get(OPEN, guard=Egress(resolver=resolve))
    assert getter.steps == [f"find {OPEN}", f"render {OPEN}", "keep open.example"]


def test_captures_of_hosts_without_an_address_are_used_unless_they_must_have_one(getter: Getter) -> None:
    keep(rendering(NOWHERE), "nowhere.example", getter.store)
    guard = Egress(resolver=resolve)
    assert isinstance(getter.get(NOWHERE, guard=guard)[NOWHERE], PageRecord)
    error = getter.get(NOWHERE, guard=guard, must_resolve=True)[NOWHERE]
    assert isinstance(error, NavigationError)
    assert (error.url, error.retry, getter.steps) == (NOWHERE, True, [])


def test_the_cache_is_used_by_what_runs_its_calls(getter: Getter) -> None:
    calls = 0

    async def run(work: Callable[[], Any]) -> Any:
        nonlocal calls
        calls += 1
        return work()

    getter.get(OPEN, run=run)
    assert calls == 2
