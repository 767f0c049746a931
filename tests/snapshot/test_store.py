"""The store: what is put is found, whatever is killed, damaged or lost."""

import errno
import multiprocessing
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from domsieve.errors import (
    CacheIndexError,
    DamagedFileError,
    FormatVersionError,
    StorageError,
    TargetError,
)
from domsieve.files import create_database, default_cache_dir, digest_of, write_file
from domsieve.snapshot.index import Index, PageRecord, remove_index
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.snapshot.stored_files import with_provenance
from tests.snapshot.pages import made_up

PAGE = made_up(1, 200, url="http://a.example/1")


@pytest.fixture
def store(tmp_path: Path):  # type: ignore[no-untyped-def]
    with PageStore(tmp_path / "cache") as store:
        yield store


def put_some(store: PageStore, number: int = 4) -> list[PageRecord]:
    return [
        store.put(made_up(i, 200, url=f"http://a.example/{i}"), source=b"<p>source %d" % (i % 2))
        for i in range(number)
    ]


def file_of(store: PageStore, record: PageRecord) -> Path:
    return store.root / "pages" / record.page_id[:2] / f"{record.page_id}.dsnap"


def later(page: Snapshot, **changes: object) -> Snapshot:
    return replace(page, provenance=msgspec.structs.replace(page.provenance, **changes))


def test_what_is_put_is_there(store: PageStore) -> None:
    record = store.put(PAGE, source=b"<p>source", site="mine")
    page = store.get(record.page_id)
    assert page.digest() == PAGE.digest()
    assert page.provenance == msgspec.structs.replace(
        PAGE.provenance, site="mine", source_digest=record.source_digest
    )
    assert store.source(record) == b"<p>source"
    assert store.records() == store.records(site="mine") == store.records(url_prefix="http://a.") == [record]
    assert store.records(site="other") == store.records(url_prefix="https://") == []
    assert (record.nodes, record.bytes) == (200, file_of(store, record).stat().st_size)
    assert store.verify() == []


def test_pages_of_a_site_are_written_against_the_first(store: PageStore) -> None:
    records = put_some(store, 5)
    assert {record.site for record in records} == {"a.example"}
    assert len(list(store.root.glob("bases/*/*"))) == 1
    for i, record in enumerate(records):
        assert store.get(record.page_id).digest() == made_up(i, 200).digest()
    with PageStore(store.root) as again:
        assert again.get(records[4].page_id).digest() == made_up(4, 200).digest()


def test_pages_that_are_removed_give_their_room_back(tmp_path: Path) -> None:
    with PageStore(tmp_path / "cache") as store:
        index = store.root / "index.sqlite3"
        before = index.stat().st_size
        records = [store.put(made_up(i, 1, url=f"http://a/{'long' * 200}{i}")) for i in range(60)]
        held = sum(file.stat().st_size for file in store.root.glob("index.sqlite3*"))
        assert held > 2 * before
        store.remove(record.page_id for record in records)
    assert index.stat().st_size <= before + 8_192


def test_equal_sources_are_kept_once_and_as_long_as_a_page_names_them(store: PageStore) -> None:
    records = put_some(store, 4)
    raw = store.root / "raw"
    assert len(list(raw.glob("*/*"))) == 2
    store.remove([records[0].page_id])
    assert len(list(raw.glob("*/*"))) == 2
    store.remove([records[2].page_id, "no such page"])
    assert len(list(raw.glob("*/*"))) == 1
    assert [record.url for record in store.records()] == ["http://a.example/1", "http://a.example/3"]
    with pytest.raises(TargetError, match=records[0].page_id):
        store.get(records[0].page_id)


def test_a_page_without_source_says_so(store: PageStore) -> None:
    with pytest.raises(TargetError, match="No raw source"):
        store.source(store.put(PAGE))


def test_the_newest_capture_is_found_even_when_the_clock_goes_backwards(store: PageStore) -> None:
    url, options = PAGE.provenance.url, PAGE.provenance.options
    old = store.put(PAGE)
    new = store.put(later(made_up(2, 200, url=url), captured_at="1999-01-01T00:00:00+00:00"))
    assert store.find(url, producer="rendered", options=options) == new
    assert store.records() == [old, new]
    assert store.find(url, producer="raw", options=options) is None
    assert store.find(url, producer="rendered", options={**options, "images": False}) is None
    assert store.find(url, producer="rendered", options=options, build="full") is None
    assert store.find(url, producer="rendered", options=options, build="headless-shell") == new
    assert store.find("http://a.example/2", producer="rendered", options=options) is None


def test_captures_of_another_version_are_not_found(store: PageStore) -> None:
    store.put(later(PAGE, capture_version=0))
    assert store.find(PAGE.provenance.url, producer="rendered", options=PAGE.provenance.options) is None


def test_an_unchanged_page_is_kept_once(store: PageStore) -> None:
    first = store.put(PAGE)
    second = store.put(later(PAGE, captured_at="2027-01-01T00:00:00+00:00"))
    assert second.page_id == first.page_id
    assert store.records() == [second]
    assert store.get(first.page_id).provenance.captured_at.startswith("2027")
    assert store.put(later(PAGE, url="http://a.example/twin")).page_id != first.page_id


def test_the_beginning_of_an_id_names_a_page(store: PageStore) -> None:
    record = put_some(store)[2]
    assert store.resolve(record.page_id[:10].upper()) == record
    with pytest.raises(TargetError, match="4 page ids"):
        store.resolve("")
    with pytest.raises(TargetError, match="No page ids"):
        store.resolve("xyz")


def test_a_damaged_file_is_named_and_the_rest_goes_on(store: PageStore) -> None:
    records = put_some(store)
    path = file_of(store, records[1])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DamagedFileError, match=path.name):
        store.get(records[1].page_id)
    assert all(store.get(record.page_id) for record in records if record != records[1])
    problems = store.verify()
    assert [(problem.path, problem.mended) for problem in problems] == [(str(path), False)]
    store.verify(repair=True)
    assert path.exists()
    assert len(store.records()) == 3
    assert store.put(made_up(1, 200, url="http://a.example/1")) in store.records()
    assert store.verify() == []


def test_a_file_of_a_newer_version_is_named(store: PageStore) -> None:
    path = file_of(store, store.put(PAGE))
    path.write_bytes(path.read_bytes()[:6] + b"\x09" + path.read_bytes()[7:])
    with pytest.raises(FormatVersionError, match=path.name):
        store.get(path.stem)
    assert "version 9" in str(store.verify()[0])


def test_a_lost_page_file_is_named_and_its_row_dropped(store: PageStore) -> None:
    records = put_some(store)
    file_of(store, records[0]).unlink()
    with pytest.raises(DamagedFileError, match=records[0].page_id):
        store.get(records[0].page_id)
    assert [problem.what for problem in store.verify(repair=True)] == ["is missing"]
    assert store.verify() == []
    assert store.records() == sorted(records[1:], key=lambda record: record.url)


def test_a_page_under_the_name_of_another_is_noticed(store: PageStore) -> None:
    one, other = put_some(store, 2)
    shutil.copy(file_of(store, one), file_of(store, other))
    assert [problem.what for problem in store.verify()] == [f"holds the page {one.page_id}"]


def test_a_damaged_source_or_base_is_named(store: PageStore) -> None:
    record = put_some(store)[0]
    raw = next(store.root.glob(f"raw/*/{record.source_digest}.zst"))
    raw.write_bytes(raw.read_bytes()[:-1])
    with pytest.raises(DamagedFileError, match=raw.name):
        store.source(record)
    base = next(store.root.glob("bases/*/*"))
    base.write_bytes(b"")
    with PageStore(store.root) as again:
        with pytest.raises(DamagedFileError, match=base.name):
            again.get(record.page_id)
        assert str(base) in {problem.path for problem in again.verify()}
        # The site gets a new base, so that pages can be put again.
        new = again.put(PAGE)
        assert again.get(new.page_id).digest() == PAGE.digest()


def test_a_lost_index_is_made_anew(store: PageStore) -> None:
    records = [*put_some(store), store.put(later(PAGE, url="file.html"), site="by hand")]
    store.close()
    for path in store.root.glob("index.sqlite3*"):
        path.unlink()
    with PageStore(store.root) as again:
        assert again.records() == []
        assert len(again.verify()) == 5
        assert again.records() == []
        assert all(problem.mended for problem in again.verify(repair=True))
        assert again.verify() == []
        assert sorted(again.records(), key=str) == sorted(records, key=str)
        again.put(made_up(9, 200, url="http://a.example/9"))
        assert len(list(again.root.glob("bases/*/*"))) == 2


def test_a_damaged_index_is_named(tmp_path: Path) -> None:
    (tmp_path / "index.sqlite3").write_bytes(b"This is no database at all. " * 100)
    with pytest.raises(CacheIndexError, match=r"index\.sqlite3 is damaged.*repair the cache"):
        PageStore(tmp_path)


def test_an_index_of_a_newer_version_is_refused(store: PageStore) -> None:
    store._index._run("PRAGMA user_version = 99", ())
    with pytest.raises(StorageError, match="version 99"):
        PageStore(store.root)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be created"):
        PageStore(tmp_path / "file" / "cache")


def test_a_full_disk_is_named_and_leaves_nothing(store: PageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageError, match="cannot be written: No space left on device"):
        store.put(PAGE, source=b"<p>")
    monkeypatch.undo()
    assert store.records() == []
    assert store.verify() == []
    assert [path for path in store.root.rglob("*") if path.is_file() and "index" not in path.name] == []


def test_a_folder_that_only_can_be_read_serves_what_it_holds(
    store: PageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = store.put(PAGE, source=b"<p>")
    real = os.open

    def fail(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, "Read-only file system")
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", fail)
    with pytest.raises(StorageError, match="cannot be written: Read-only file system"):
        store.put(made_up(2, 200, url="http://a.example/2"), source=b"<p>2")
    assert store.get(record.page_id).digest() == PAGE.digest()
    assert store.source(record) == b"<p>"
    assert store.records() == [record]


def test_a_folder_in_the_way_is_named(store: PageStore) -> None:
    (store.root / "pages").write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        store.put(PAGE)


def test_the_default_folder_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOMSIEVE_CACHE", raising=False)
    assert default_cache_dir() == Path("pages_cache")
    monkeypatch.setenv("DOMSIEVE_CACHE", "/elsewhere")
    assert default_cache_dir() == Path("/elsewhere")


def test_several_processes_may_open_a_new_store_at_once(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        for turn in range(10):
            assert pool.map(open_store, [tmp_path / str(turn)] * 4, chunksize=1) == [0] * 4
            assert [path.name for path in (tmp_path / str(turn)).glob("*.part")] == []


def open_store(root: Path) -> int:
    with PageStore(root) as store:
        return len(store.records())


def start_writer(root: Path, first: int, number: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.snapshot.writer", str(root), str(first), str(number)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_writer_killed_at_any_moment_leaves_nothing_half_written(tmp_path: Path) -> None:
    moments = random.Random(7)
    finished = []
    for turn in range(6):
        with start_writer(tmp_path, 1_000 * turn, 1_000) as writer:
            assert writer.stdout is not None
            finished.append(writer.stdout.readline().strip())
            time.sleep(moments.uniform(0, 0.2))
            writer.kill()
            finished += writer.stdout.read().split()[:-1]
        with PageStore(tmp_path) as store:
            assert all(store.get(record.page_id) for record in store.records())
    with PageStore(tmp_path) as store:
        assert all(problem.mended for problem in store.verify(repair=True))
        assert store.verify() == []
        assert not list(tmp_path.rglob("*.part"))
        for page_id in finished:
            record = store.resolve(page_id)
            seed = int(record.url.rpartition("/")[2])
            assert store.get(page_id).digest() == made_up(seed, 150).digest()
            assert store.source(record) == b"<p>source %d" % (seed % 5)


def test_captures_with_credentials_are_for_their_owner(tmp_path: Path) -> None:
    def modes(page: Snapshot, name: str) -> set[int]:
        with PageStore(tmp_path / name) as store:
            store.put(page, source=b"<p>source", extras={"screenshot.png": b"x"})
            files = [path for path in store.root.rglob("*/*/*") if path.is_file()]
            assert len(files) == 4
            return {stat.S_IMODE(path.stat().st_mode) for path in files}

    before = os.umask(0o022)
    try:
        assert modes(made_up(1, 50), "public") == {0o644}
        for name in ("cookies", "headers", "storage_state"):
            assert modes(with_provenance(made_up(1, 50), options={name: "0a1b"}), name) == {0o600}
    finally:
        os.umask(before)


def test_what_a_living_writer_is_writing_is_left_alone(store: PageStore) -> None:
    pages = store.root / "pages"
    pages.mkdir()
    parts = [pages / f"x.dsnap.{os.getpid()}.part", pages / f".domsieve.{os.getpid()}-0a.part"]
    for part in parts:
        part.write_bytes(b"")
    assert store.verify(repair=True) == []
    assert all(part.exists() for part in parts)


def test_several_processes_write_and_read_at_once(tmp_path: Path) -> None:
    writers = [start_writer(tmp_path, first, 25) for first in (0, 15, 100)]
    seen = 0
    with PageStore(tmp_path) as store:
        while any(writer.poll() is None for writer in writers):
            records = store.records()
            assert len(records) >= seen
            seen = len(records)
            for record in records[-3:]:
                store.get(record.page_id)
        for writer in writers:
            writer.communicate()
            assert writer.returncode == 0
        assert len(store.records()) == 65
        assert len(list(tmp_path.glob("raw/*/*"))) == 5
        assert store.verify() == []


def test_stores_made_from_the_same_pages_hold_the_same_files(tmp_path: Path) -> None:
    for name, seed in (("a", "1"), ("b", "2")):
        program = [sys.executable, "-m", "tests.snapshot.writer", str(tmp_path / name), "0", "5"]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run(program, env=environment, check=True, capture_output=True)
    files = [
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).glob("*/*/*")}
        for name in ("a", "b")
    ]
    assert files[0] == files[1]
    assert len(files[0]) == 11


EXTRAS = {"screenshot-0.webp": b"picture", "data.json": b"[]"}


def test_extras_are_kept_beside_a_page(store: PageStore) -> None:
    record = store.put(PAGE, extras=EXTRAS)
    assert {name: store.extra(record, name) for name in store.extra_names(record)} == EXTRAS
    assert store.extra(record, "other") is None
    plain = store.put(later(PAGE, url="http://a.example/plain"))
    assert store.extra_names(plain) == []
    assert store.extra(plain, "data.json") is None
    assert store.get(record.page_id).digest() == store.get(plain.page_id).digest()
    assert store.verify() == []


def test_extras_are_kept_as_long_as_a_page_names_them(store: PageStore) -> None:
    one = store.put(PAGE, extras=EXTRAS)
    other = store.put(later(PAGE, url="http://a.example/other"), extras={"data.json": b"[]"})
    assert len(list(store.root.glob("extras/*/*"))) == 2
    assert store.put(PAGE, extras={"data.json": b"[1]"}).page_id == one.page_id
    assert len(list(store.root.glob("extras/*/*"))) == 2
    assert store.extra(one, "data.json") == b"[1]"
    store.remove([one.page_id])
    assert store.extra(one, "data.json") is None
    assert store.extra(other, "data.json") == b"[]"
    store.remove([other.page_id])
    assert list(store.root.glob("extras/*/*")) == []


def test_extras_stay_when_an_equal_page_is_kept_without(store: PageStore) -> None:
    record = store.put(PAGE, extras=EXTRAS)
    assert store.put(later(PAGE)).page_id == record.page_id
    assert store.extra(record, "data.json") == b"[]"
    assert {*store.get(record.page_id).provenance.extras} == {*EXTRAS}
    assert store.verify() == []


def test_extras_stay_when_an_equal_page_is_kept_at_the_same_instant(
    store: PageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with PageStore(store.root) as other:

        def write_after_another(path: Path, data: bytes, *, what: str, mode: int) -> None:
            monkeypatch.setattr("domsieve.snapshot.store.write_file", write_file)
            other.put(PAGE, extras=EXTRAS)
            write_file(path, data, what=what, mode=mode)

        monkeypatch.setattr("domsieve.snapshot.store.write_file", write_after_another)
        record = store.put(PAGE)
    assert store.extra(record, "data.json") == b"[]"
    assert store.verify() == []


def test_a_damaged_or_lost_extra_is_named(store: PageStore) -> None:
    record = store.put(PAGE, extras={"data.json": b"[]"})
    path = next(store.root.glob("extras/*/*"))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedFileError, match=path.name):
        store.extra(record, "data.json")
    assert [problem.path for problem in store.verify()] == [str(path)]
    path.unlink()
    with pytest.raises(DamagedFileError, match="missing"):
        store.extra(record, "data.json")
    assert [str(problem) for problem in store.verify()] == [
        f"{path}: is missing, an extra of {record.page_id}"
    ]
    assert store.put(PAGE, extras={"data.json": b"[]"}).page_id == record.page_id
    assert store.verify() == []


def test_extras_are_found_again_when_the_index_is_lost(store: PageStore) -> None:
    record = store.put(PAGE, extras=EXTRAS)
    store.close()
    for path in store.root.glob("index.sqlite3*"):
        path.unlink()
    with PageStore(store.root) as again:
        again.verify(repair=True)
        assert again.extra(record, "screenshot-0.webp") == b"picture"


def spoil(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def test_a_damaged_source_or_extra_is_mended_by_an_equal_capture(store: PageStore) -> None:
    record = store.put(PAGE, source=b"<p>", extras=EXTRAS)
    lost = [*store.root.glob("raw/*/*"), *store.root.glob("extras/*/*")]
    for path in lost:
        spoil(path)
    assert len(store.verify()) == len(lost) == 3
    assert store.put(PAGE, source=b"<p>", extras=EXTRAS).page_id == record.page_id
    assert store.source(record) == b"<p>"
    assert {name: store.extra(record, name) for name in store.extra_names(record)} == EXTRAS
    assert store.verify() == []


@pytest.mark.parametrize("gone", [True, False])
def test_a_repair_lets_pages_forget_what_is_lost(store: PageStore, *, gone: bool) -> None:
    record = store.put(PAGE, source=b"<p>", extras=EXTRAS)
    twin = store.put(later(PAGE, url="http://a.example/twin"), source=b"<p>", extras={"data.json": b"[1]"})
    lost = [*store.root.glob("raw/*/*"), next(store.root.glob(f"extras/*/{digest_of(b'picture')}.zst"))]
    for path in lost:
        if gone:
            path.unlink()
        else:
            spoil(path)
    assert all(problem.mended for problem in store.verify(repair=True))
    assert not any(path.exists() for path in lost)
    assert store.verify() == []
    for page_id, extras in ((record.page_id, ["data.json"]), (twin.page_id, ["data.json"])):
        kept = store.resolve(page_id)
        with pytest.raises(TargetError, match="No raw source"):
            store.source(kept)
        assert store.extra_names(kept) == extras
        assert store.get(page_id).digest() == PAGE.digest()
    # It stays so when the index is lost, too, and which capture is the newest does not change.
    assert [one.url for one in store.records()] == [record.url, twin.url]
    assert [one.page_id for one in store._index.find("1", (), order="stored")] == [
        record.page_id,
        twin.page_id,
    ]
    store.close()
    remove_index(store.root / "index.sqlite3")
    with PageStore(store.root) as again:
        again.verify(repair=True)
        assert again.verify() == []
        assert {one.source_digest for one in again.records()} == {""}


def test_a_row_that_says_something_else_than_its_file_is_put_right(store: PageStore) -> None:
    record, newest = put_some(store, 2)
    store._index._run("UPDATE pages SET nodes = 7, checksum = '' WHERE page_id = ?", (record.page_id,))
    assert [problem.what for problem in store.verify()] == ["is not as the index says"]
    assert [problem.mended for problem in store.verify(repair=True)] == [True]
    assert store.verify() == []
    assert store._index.find("1", (), order="stored") == [record, newest]


def answers(store: PageStore) -> list[object]:
    """Return all that a store tells of what it holds."""
    options = PAGE.provenance.options
    records = store.records()
    told: list[object] = [records]
    for record in records:
        told += [
            store.find(record.url, producer="rendered", options=options),
            store.resolve(record.page_id[:12]),
            store.records(site=record.site),
            {name: store.extra(record, name) for name in store.extra_names(record)},
            store.source(record),
            store.get(record.page_id).digest(),
        ]
    return told


def test_a_flipped_bit_of_the_index_changes_no_answer(tmp_path: Path) -> None:
    """It is harmless, or it is named and the index is made anew."""
    with PageStore(tmp_path) as store:
        for i, (seed, url) in enumerate([(1, "1"), (2, "2"), (3, "1")]):
            page = made_up(seed, 40, url=f"http://a.example/{url}")
            store.put(page, source=b"<p>%d" % (i % 2), extras={"data.json": b"[]"} if i else {})
        told = answers(store)
        newest = [record.page_id for record in store.records()]
    index = tmp_path / "index.sqlite3"
    sound = index.read_bytes()
    used = [place for place, byte in enumerate(sound) if byte]
    chance = random.Random(600)
    named = 0
    lines: list[str] = []
    for turn in range(600):
        place = chance.choice(used) if turn % 6 else chance.randrange(len(sound))
        spoiled = bytearray(sound)
        spoiled[place] ^= 1 << chance.randrange(8)
        remove_index(index)
        index.write_bytes(spoiled)
        try:
            with PageStore(tmp_path) as store:
                store.drop_bases()  # which deletes what the index says that no site needs
                assert answers(store) == told, place
        except CacheIndexError as error:
            named += 1
            lines.append(error.message)
            if named % 20 == 1:
                with PageStore(tmp_path, repair=True) as store:
                    assert all(problem.mended for problem in store.verify(repair=True))
                    assert store.verify() == []
                    assert sorted(newest) == sorted(record.page_id for record in store.records())
    assert named > 300, "most bits say something"
    assert not any("\n" in line for line in lines)


def test_a_repair_makes_a_damaged_index_anew(store: PageStore) -> None:
    records = put_some(store)
    store.close()
    index = store.root / "index.sqlite3"
    for content in (b"This is no database at all. " * 100, b"", index.read_bytes()[:5000]):
        index.write_bytes(content)
        with pytest.raises(CacheIndexError):
            PageStore(store.root)
        with PageStore(store.root, repair=True) as again:
            problems = again.verify(repair=True)
            assert all(problem.mended for problem in problems)
            assert str(index) in {problem.path for problem in problems}
            assert again.verify() == []
            assert sorted(again.records(), key=str) == sorted(records, key=str)


def test_an_index_that_is_in_use_is_not_taken_for_a_damaged_one(
    store: PageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = store.put(PAGE)
    monkeypatch.setattr("domsieve.snapshot.index._BUSY_SECONDS", 0.0)
    with PageStore(store.root) as other:
        store._index._run("BEGIN IMMEDIATE", ())
        with pytest.raises(StorageError, match="cannot be used: database is locked") as caught:
            other.remove([record.page_id])
        assert not isinstance(caught.value, CacheIndexError)
        store._index._run("ROLLBACK", ())
    with PageStore(store.root, repair=True) as again:
        assert again.verify(repair=True) == []
        assert again.records() == [record]


class FullDisk:
    """Stands before the database of an index, and has room for changes only once the files of pages are gone."""

    def __init__(self, store: PageStore) -> None:
        self._database = store._index._db
        self._pages = store.root / "pages"

    def execute(self, statement: str, values: object = ()) -> sqlite3.Cursor:
        if statement == "COMMIT" and any(self._pages.glob("*/*")):
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        return self._database.execute(statement, values)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


def test_a_full_cache_can_be_emptied(store: PageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    records = put_some(store, 3)
    store.put(later(PAGE, url="http://a.example/extra"), extras=EXTRAS)
    monkeypatch.setattr(store._index, "_db", FullDisk(store))
    with pytest.raises(StorageError, match="disk is full"):
        store.put(made_up(9, 200, url="http://a.example/9"))
    for path in store.root.glob("pages/*/*"):
        if path.stem not in {record.page_id for record in store.records()}:
            path.unlink()
    with pytest.raises(StorageError, match="disk is full"):  # the room of one is not enough here
        store.remove([records[0].page_id])
    store.remove([record.page_id for record in store.records()])
    assert store.records() == []
    assert [path for folder in ("pages", "raw", "extras") for path in store.root.glob(f"{folder}/*/*")] == []


def test_a_full_disk_has_no_file_to_share_an_index(store: PageStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite makes one beside it for every index that is opened; without room it is opened for one process alone."""
    record = store.put(PAGE)
    store.close()
    real, statements = sqlite3.connect, []

    class Connection(sqlite3.Connection):
        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            statements.append(statement)
            if statement == "PRAGMA user_version" and "PRAGMA locking_mode = EXCLUSIVE" not in statements:
                error = sqlite3.OperationalError("disk I/O error")
                error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
                raise error
            return super().execute(statement, *values)

    monkeypatch.setattr(sqlite3, "connect", lambda *args, **how: real(*args, **how, factory=Connection))
    with PageStore(store.root) as again:
        again.remove([record.page_id])
        assert again.records() == []
    assert "PRAGMA locking_mode = EXCLUSIVE" in statements


SECOND_VERSION = """
CREATE TABLE pages (
    stored INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id TEXT NOT NULL UNIQUE, url TEXT NOT NULL, final_url TEXT NOT NULL, site TEXT NOT NULL,
    producer TEXT NOT NULL, capture TEXT NOT NULL, build TEXT NOT NULL, captured_at TEXT NOT NULL,
    complete INTEGER NOT NULL, reasons TEXT NOT NULL, nodes INTEGER NOT NULL, bytes INTEGER NOT NULL,
    source_digest TEXT NOT NULL
);
CREATE INDEX pages_by_url ON pages (url, producer, capture);
CREATE INDEX pages_by_site ON pages (site, url);
CREATE INDEX pages_by_source ON pages (source_digest);
CREATE TABLE bases (site TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS extras (
    page_id TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (page_id, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS extras_by_digest ON extras (digest);
"""


def test_an_index_of_the_second_version_is_read_and_gets_its_checksums(tmp_path: Path) -> None:
    with PageStore(tmp_path) as store:
        told = [put_some(store), store.put(later(PAGE, url="file.html"), source=b"<p>", extras=EXTRAS)]
        (rows, bases, extras) = (
            store._index._run(f"SELECT * FROM {table}", ()) for table in ("pages", "bases", "extras")
        )
    index = tmp_path / "index.sqlite3"
    remove_index(index)
    create_database(index, SECOND_VERSION, version=2, shrinks="full")
    database = sqlite3.connect(index)
    for table, values in (("pages", [row[:-1] for row in rows]), ("bases", bases), ("extras", extras)):
        marks = ", ".join("?" * len(values[0]))
        database.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
    database.commit()
    database.close()
    with PageStore(tmp_path) as store, PageStore(tmp_path) as other:
        assert sorted(other.records(), key=str) == sorted([*told[0], told[1]], key=str)  # type: ignore[misc]
        assert len(store._index.unsigned()) == 5
        store.put(made_up(0, 200, url="http://a.example/0"), source=b"<p>source 0")
        assert len(store._index.unsigned()) == 4
        assert store.verify() == []
        assert other._index.unsigned() == []


def test_an_index_of_the_first_version_is_brought_up(store: PageStore) -> None:
    record = store.put(PAGE)
    statements = (
        "DROP TABLE evidence",
        "DROP TABLE extras",
        "DROP INDEX bases_by_digest",
        "ALTER TABLE pages DROP COLUMN checksum",
        "PRAGMA user_version = 1",
    )
    for statement in statements:
        store._index._run(statement, ())
    with PageStore(store.root) as one, PageStore(store.root) as other:
        assert one.records() == other.records() == [record]
        one.put(PAGE, extras=EXTRAS)
        assert other.extra(record, "data.json") == b"[]"


def test_evidence_on_a_site_comes_back_in_its_order(store: PageStore) -> None:
    store.put(PAGE, site="a.example")
    for entry in (b"2", b"1", b"\0"):
        store.add_evidence("a.example", "kind", entry)
    store.add_evidence("a.example", "other", b"3")
    store.add_evidence("b.example", "kind", b"4")
    with PageStore(store.root) as again:
        assert again.evidence("a.example", "kind") == [b"2", b"1", b"\0"]
        assert again.evidence("a.example", "kind", since=datetime.now(UTC) + timedelta(days=1)) == []
        assert again.evidence("a.example", "kind", since=datetime.now(UTC) - timedelta(days=1))
        again.drop_bases()
        assert again.evidence("b.example", "kind") == []
        assert len(again.evidence("a.example", "kind")) == 3


def test_damaged_evidence_is_none(store: PageStore) -> None:
    store.add_evidence("a.example", "kind", b"one")
    store.add_evidence("a.example", "kind", b"two")
    store._index._run("UPDATE evidence SET entry = ? WHERE number = 1", (b"short",))
    assert store.evidence("a.example", "kind") == [b"two"]


def test_names_that_are_no_text_name_nothing(store: PageStore) -> None:
    store.put(PAGE)
    assert store.records(site="\udcff") == store.records(url_prefix="\udcff") == []
    with pytest.raises(TargetError, match="No page ids"):
        store.resolve("\udcff")


def test_each_record_is_what_records_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("domsieve.snapshot.index._CHUNK_ROWS", 2)
    with PageStore(tmp_path) as store:
        assert [*store.each_record()] == [*store.oldest_first()] == []
        for seed, number in enumerate((3, 1, 2, 5, 4, 1, 1, 3)):
            page = made_up(seed, 20, url=f"http://a.example/{number}")
            store.put(page, site="ab"[number % 2])
        assert [*store.each_record()] == store.records()
        assert len({record.url for record in store.each_record()}) == 5
        for site in ("a", "b", "c", "\udcff"):
            assert [*store.each_record(site=site)] == store.records(site=site)
        assert store.count() == 8


def test_the_oldest_come_first_and_may_be_removed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("domsieve.snapshot.index._CHUNK_ROWS", 2)
    days = (3, 1, 2, 2, 5, 4, 1)
    with PageStore(tmp_path) as store:
        for seed, day in enumerate(days):
            page = made_up(seed, 20)
            origin = msgspec.structs.replace(
                page.provenance, captured_at=f"2026-01-{day:02d}T00:00:00.000+00:00"
            )
            store.put(replace(page, provenance=origin))
        seen = []
        for record in store.oldest_first():
            seen.append(int(record.captured_at[8:10]))
            store.remove([record.page_id])
        assert seen == sorted(days)
        assert store.count() == 0


def test_a_store_is_verified_a_share_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the memory it takes does not grow with the store."""
    pages = 60
    with PageStore(tmp_path) as store:
        for seed in range(pages):
            store.put(made_up(seed, 5), source=b"%d" % seed, extras={"x": b"x%d" % seed})
        most = 0
        find, extras_in = Index.find, Index.extras_in

        def counted(found: list[Any]) -> list[Any]:
            nonlocal most
            most = max(most, len(found))
            return found

        monkeypatch.setattr(Index, "find", lambda *given, **named: counted(find(*given, **named)))
        monkeypatch.setattr(Index, "extras_in", lambda *given: counted(extras_in(*given)))
        assert store.verify() == []
        assert 0 < most < pages / 5
        for path in (tmp_path / "pages").rglob("*.dsnap"):
            path.rename(path.with_suffix(".away"))
        assert len(store.verify()) == pages, "each row is looked at"
        for path in (tmp_path / "pages").rglob("*.away"):
            path.rename(path.with_suffix(".dsnap"))
        store._index._run("DELETE FROM pages", ())
        assert [problem.what for problem in store.verify(repair=True)] == ["is not in the index"] * pages
        assert store.count() == pages
        assert store.verify() == []
