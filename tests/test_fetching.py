"""From targets to captures: listings become the pages that they list, however they lie in each other."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from domsieve.errors import ContentError
from domsieve.options import CaptureOptions
from domsieve.renderer.network.egress import offline
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.store import PageStore
from domsieve.tasks.target_fetching import fetch_targets
from domsieve.tasks.targets import Fetched, UrlTarget
from tests.renderer.bad_server import Server, serving
from tests.renderer.fake_site import FakeSite, Page
from tests.renderer.test_listings import sends


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


class Heard:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def waiting(self, pages: int) -> None:
        self.lines.append(f"waiting {pages}")

    def rendered(self, url: str, outcome: object) -> None:
        self.lines.append(f"{url.rpartition('/')[2]} {type(outcome).__name__}")

    def listed(self, url: str, listing: object) -> None:
        self.lines.append(f"{url.rpartition('/')[2]} {type(listing).__name__}")


def fetched(site: FakeSite, folder: Path, heard: Heard, *names: str) -> Fetched:
    @asynccontextmanager
    async def opened() -> AsyncIterator[FakeSite]:
        yield site

    with PageStore(folder) as store:
        return asyncio.run(
            fetch_targets(
                opened,
                [UrlTarget(site.root + name, may_be_private=True) for name in names],
                store,
                heard,
                options=CaptureOptions(),
                since=None,
                egress=offline(),
                concurrency=2,
                delay=None,
            )
        )


def lists(server: Server, name: str, *pages: str) -> None:
    items = "".join(f"<item><link>{server.url(page)}</link></item>" for page in pages)
    server.pages[name] = sends(f"<rss><channel>{items}</channel></rss>".encode(), "application/rss+xml")


def test_listings_in_listings_end(server: Server, tmp_path: Path) -> None:
    pages: dict[str, Page] = {"/page": "<p>page</p>"}
    for number in range(5):
        lists(server, f"/feed{number}", "/page" if number == 1 else "/none", f"/feed{number + 1}")
        pages[f"/feed{number}"] = ContentError("The address holds XML.", reason="type")
    heard = Heard()
    found = fetched(FakeSite(server, pages), tmp_path, heard, "/feed0")
    names = {url.removeprefix(server.url("")): type(outcome) for url, outcome in found.outcomes.items()}
    assert {t.url for t in found.targets if isinstance(t, UrlTarget)} == set(found.outcomes)
    assert names["/page"] is PageRecord
    assert names["/feed2"] is ContentError
    assert heard.lines[:2] == ["waiting 1", "feed0 Listing"]


def test_what_is_named_is_not_listed_again(server: Server, tmp_path: Path) -> None:
    lists(server, "/feed", "/b", "/a", "/b")
    pages: dict[str, Page] = {"/a": "<p>a</p>", "/b": "<p>b</p>"}
    pages["/feed"] = ContentError("The address holds XML.", reason="type")
    site = FakeSite(server, pages)
    found = fetched(site, tmp_path, Heard(), "/feed", "/a")
    urls = [t.url.removeprefix(site.root) for t in found.targets if isinstance(t, UrlTarget)]
    assert urls == ["/b", "/a"]
    assert sorted(site.rendered) == ["/a", "/b", "/feed"]
