"""From targets to pages that can be read."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from domsieve.errors import DamagedFileError, DomsieveError
from domsieve.options import CaptureOptions
from domsieve.renderer.protocol import DATA, SCREENSHOT, Rendering
from domsieve.snapshot.page import Producer, Scalar, Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_cleaning import clean
from domsieve.tasks.pages import cached, from_record, keep, readable, site_records, unscripted
from domsieve.tasks.targets import CacheTarget, Fetched, find_targets
from tests.command import damage, fill, write_pages
from tests.snapshot.pages import made_up


def test_keys_differ_whatever_the_targets(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        write_pages(folder, 2)
    with PageStore(tmp_path / "cache") as store:
        captures = fill(store.root, ["http://example.org/"] * 3)
        words = [str(folders[0]), str(folders[1] / "p1.html"), str(folders[1])]
        targets = [*find_targets(words, store), *map(CacheTarget, captures)]
        pages = readable(Fetched(targets), store, raw=False)
    names = [page.name for page in pages]
    assert names[:5] == ["one/p1.html", "one/p2.html", "two/p1.html", "two/p1.html", "two/p2.html"]
    assert len({page.key for page in pages}) == 8


def test_a_raw_page_is_its_own_raw_source(tmp_path: Path) -> None:
    with PageStore(tmp_path) as store:
        (record,) = fill(tmp_path, ["http://example.org/"])
        page = from_record(record, store, raw=True)
        assert page.load().digest() == store.get(record.page_id).digest()


def test_only_captures_with_the_same_options_are_known_pages_of_a_site(tmp_path: Path) -> None:
    with PageStore(tmp_path) as store:
        fill(tmp_path, ["http://example.org/"])
        assert site_records("example.org", store, CaptureOptions()) == []


@pytest.mark.parametrize("method", [None, "sst", "tps", "none"])
def test_a_page_that_cannot_be_read_harms_no_other(tmp_path: Path, method: str | None) -> None:
    with PageStore(tmp_path) as store:
        bad = fill(tmp_path, ["http://bad.example/"], site="bad.example")
        good = fill(tmp_path, [f"http://example.org/{number}" for number in range(6)])
        damage(tmp_path, bad[0])
        damage(tmp_path, good[2])
        pages = [from_record(record, store) for record in (*bad, *good)]
        results = list(
            clean(
                pages,
                method=method,  # type: ignore[arg-type]
                siblings=lambda _: [],
            )
        )
    failed = [page.label for page, result in results if isinstance(result, DomsieveError)]
    assert failed == ["http://bad.example/", "http://example.org/2"]
    assert all(isinstance(r, DamagedFileError) for _, r in results if isinstance(r, DomsieveError))
    assert len(results) == 7


def test_a_capture_with_its_extras_answers_both_requests(tmp_path: Path) -> None:
    url = "http://127.0.0.1/page"
    plain, sides = CaptureOptions(), CaptureOptions(both_versions=True)
    asked = CaptureOptions(screenshot=True)

    def captured(producer: Producer, **options: Scalar) -> Snapshot:
        page = made_up(1, 50, url=url)
        origin = msgspec.structs.replace(
            page.provenance, producer=producer, options=plain.canonical() | options
        )
        return replace(page, provenance=origin)

    with PageStore(tmp_path) as store:
        first = Rendering(snapshot=captured("rendered"), source=b"<p>")
        record = keep(first, "127.0.0.1", store)
        assert cached(url, store, plain) == record
        assert cached(url, store, asked) is cached(url, store, sides) is None
        assert unscripted(record, store) is None
        twin = Rendering(snapshot=captured("unscripted", scripts=False), source=None)
        record = keep(
            Rendering(
                snapshot=first.snapshot,
                source=b"<p>",
                extras={SCREENSHOT: b"{}", DATA: b"[]"},
                unscripted=twin,
            ),
            "127.0.0.1",
            store,
        )
        assert [cached(url, store, options) for options in (plain, sides, asked)] == [record] * 3
        assert find_targets(["127.0.0.1"], store) == [CacheTarget(record)]
        other = unscripted(record, store)
        assert other is not None
        assert store.get(other.page_id).provenance.producer == "unscripted"
        store.put(first.snapshot, source=b"<p>", site="127.0.0.1", extras={DATA: b"[]"})
        assert cached(url, store, asked) is None
        assert cached(url, store, sides) is not None
