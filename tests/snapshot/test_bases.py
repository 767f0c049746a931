"""What the pages of a site are written against leaves with the last of them."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from domsieve.snapshot.index import Index, PageRecord
from domsieve.snapshot.store import PageStore
from domsieve.snapshot.stored_files import page_id_of
from tests.snapshot.pages import made_up


@pytest.fixture
def store(tmp_path: Path) -> Iterator[PageStore]:
    with PageStore(tmp_path / "cache") as store:
        yield store


def put(store: PageStore, number: int, *, site: str) -> PageRecord:
    return store.put(made_up(number, 200, url=f"http://{site}/{number}"), site=site)


def bases(store: PageStore) -> list[Path]:
    return sorted((store.root / "bases").rglob("*.zst"))


def test_bases_leave_with_the_last_page_of_their_site(store: PageStore) -> None:
    first, second, other = put(store, 1, site="a"), put(store, 2, site="a"), put(store, 3, site="b")
    assert len(bases(store)) == 2
    store.remove([first.page_id])
    store.drop_bases()
    assert len(bases(store)) == 2
    assert len(store.get(second.page_id)) == 200
    store.remove([second.page_id])
    store.drop_bases()
    assert len(bases(store)) == 1
    assert len(store.get(other.page_id)) == 200
    again = put(store, 1, site="a")
    assert len(store.get(again.page_id)) == 200
    assert store.verify() == []


def test_a_base_of_two_sites_stays_for_the_other(store: PageStore) -> None:
    page = made_up(1, 200, url="http://a/1")
    one = store.put(page, site="a")
    # As it is when a page is put again under another name.
    store._index.set_base("b", bases(store)[0].stem)
    store._index.put(one, {})
    two = put(store, 2, site="b")
    store.remove([one.page_id])
    store.drop_bases()
    assert len(store.get(two.page_id)) == 200


def test_a_base_that_goes_while_a_page_is_written_is_there_again(
    store: PageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    only = put(store, 1, site="a")
    put_row = Index.put

    def put_after_another(index: Index, record: PageRecord, extras: Mapping[str, str]) -> list[str]:
        """Put a row when somebody else has just removed the pages that there were."""
        with PageStore(store.root) as other:
            other.remove([only.page_id])
            other.drop_bases()
        assert bases(store) == []
        return put_row(index, record, extras)

    with monkeypatch.context() as changed:
        changed.setattr(Index, "put", put_after_another)
        record = put(store, 2, site="a")
    with PageStore(store.root) as other:
        assert len(other.get(record.page_id)) == 200
        assert other.verify() == []
        other.remove([record.page_id])
        other.drop_bases()
    assert bases(store) == []


def test_the_id_of_a_page_is_known_before_it_is_put(store: PageStore) -> None:
    page = made_up(1, 200, url="http://a/1")
    record = store.put(page, source=b"<p>", site="elsewhere", extras={"screenshot": b"picture"})
    assert page_id_of(page) == page_id_of(store.get(record.page_id)) == record.page_id


def test_the_size_of_a_page_is_that_of_all_its_files(store: PageStore) -> None:
    page = made_up(1, 200, url="http://a/1")
    record = store.put(page, source=b"<p>source", extras={"screenshot": b"picture"})
    files = [
        path
        for kind in ("pages", "raw", "extras")
        for path in (store.root / kind).rglob("*")
        if path.is_file()
    ]
    assert len(files) == 3
    assert store.size(record.page_id) == sum(path.stat().st_size for path in files)
    assert store.size("0" * 32) == 0
