"""Following a site whose content is drawn by scripts, with a browser."""

import asyncio
from pathlib import Path

import pytest

from benchmarks.changing_site import ChangingSite
from domsieve.options import Budget, CaptureOptions
from domsieve.tasks.renderer_factory import RendererFactory
from domsieve.tasks.site_sync.syncing import place_of, sync_folder
from domsieve.tasks.site_sync.values import SyncResult
from domsieve.tasks.site_sync.visiting import is_audited
from examples.loopback import running
from tests.test_site_sync import Silent, urls

pytestmark = pytest.mark.browser


def sync(site: ChangingSite, folder: Path) -> SyncResult:
    path, given, names = place_of(f"{site.base}/", folder)
    factory = RendererFactory(
        options=CaptureOptions(render="auto"), budget=Budget(), private_hosts=(("127.0.0.1", None),)
    )
    return asyncio.run(sync_folder(path, given, lambda _: factory, chosen=names, report=Silent()))


@pytest.mark.parametrize("etags", [True, False])
def test_a_drawn_page_is_rendered_again_only_if_what_its_scripts_fetch_may_have_changed(
    tmp_path: Path, etags: bool
) -> None:
    names = ["ash", "birch", "cedar", "fir", "larch", "oak"]
    with running(ChangingSite(names)) as site:
        site.drawn, site.etags = True, etags
        assert len(sync(site, tmp_path / "site").added) == len(names) + 1
        assert (
            sync(site, tmp_path / "site").changes == []
        )  # where there are no validators, hashes are known now
        site.requests.clear()
        assert sync(site, tmp_path / "site").changes == []
        audited = [path for path in site.articles if is_audited(f"{site.base}{path}", run=3)]
        loads = [path for path, _ in site.requests if path == "/app.js"]
        assert len(loads) <= 2 + len(audited)  # asked for once, and loaded by a browser for audits
        site.articles["/oak"].first[0] += " And one more sentence."
        result = sync(site, tmp_path / "site")
        assert urls(site, result.changed) == ["/oak"]


def test_a_page_in_the_cache_of_the_browser_does_not_hide_what_rotates(tmp_path: Path) -> None:
    with running(ChangingSite(["ash", "birch", "cedar", "fir"])) as site:
        site.drawn = site.adverts = True
        sync(site, tmp_path / "site")
        for _ in range(2):
            assert urls(site, sync(site, tmp_path / "site").changed) == []
