"""What jobs take on the disk: results in files, captures, rows; and that deleting them gives it back."""

import multiprocessing
import os
import shutil
import sqlite3
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from domsieve.errors import StorageError, UnknownJobError
from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.job_values import Claim, Job, NewFile, QueueLimits, UsedPage
from domsieve.service.jobs.requests import CleanRequest
from domsieve.service.jobs.work_queue import WorkQueue
from domsieve.snapshot.store import PageStore
from tests.service.jobs.captures import captured
from tests.service.jobs.opened import opened
from tests.service.jobs.version_1 import make_version_1

LIMITS = QueueLimits(queued=10_000, per_client=10_000)
FILE = NewFile("page.md", "text/markdown", b"words")
MB = 1_000_000
Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "jobs.sqlite") as database:
        yield database


@pytest.fixture
def store(database: Database) -> JobStore:
    return JobStore(database)


@pytest.fixture
def queue(database: Database) -> WorkQueue:
    return WorkQueue(database)


def add(store: JobStore, *, client: str = "ann", limits: QueueLimits = LIMITS) -> Job:
    return store.add(CleanRequest(url="http://site.example/"), client=client, limits=limits)[0]


def claim(queue: WorkQueue, worker: str = "w") -> Claim:
    found = queue.claim(worker, lease_s=60)
    assert found is not None
    return found


def done(store: JobStore, queue: WorkQueue, *files: NewFile, client: str = "ann") -> Job:
    job = add(store, client=client)
    assert queue.finish(claim(queue), {}, files or [FILE])
    return job


def size_of(folder: Path) -> int:
    """Return how many bytes the files below a folder take."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def files_of(tmp_path: Path) -> list[Path]:
    """Return the files below the folder of results."""
    return [path for path in (tmp_path / "results").rglob("*") if path.is_file()]


class TestResults:
    def test_are_files_with_names_of_ours(self, store: JobStore, queue: WorkQueue, tmp_path: Path) -> None:
        job = done(store, queue, NewFile("../../page.md", "text/markdown", b"one"), FILE)
        assert {path.relative_to(tmp_path).parts for path in files_of(tmp_path)} == {
            ("results", job.id, "1-0"),
            ("results", job.id, "1-1"),
        }
        assert store.read(job.id, "ann", "../../page.md") == b"one"
        assert store.read(job.id, "ann", "page.md") == b"words"
        assert [file.name for file in store.get(job.id, "ann").files] == ["../../page.md", "page.md"]

    @pytest.mark.parametrize("how", ["delete", "expire", "trim"])
    def test_go_with_their_job(self, store: JobStore, queue: WorkQueue, tmp_path: Path, how: str) -> None:
        job, newer = done(store, queue), done(store, queue)
        store.database.run("UPDATE jobs SET ended_at = '2020-01-01' WHERE id = ?", (job.id,))
        if how == "delete":
            store.delete(job.id, "ann")
        elif how == "expire":
            assert store.expire("2021-01-01") == 1
        else:
            assert store.trim(jobs=1, size_bytes=MB) == 1
        assert [path.name for path in (tmp_path / "results").iterdir()] == [newer.id]

    def test_of_one_who_has_lost_the_job_are_not_kept(
        self, store: JobStore, queue: WorkQueue, tmp_path: Path
    ) -> None:
        job = add(store)
        old = claim(queue, "old")
        queue.take_back("old")
        new = claim(queue, "new")
        assert queue.finish(new, {}, [NewFile("page.md", "text/markdown", b"new")])
        assert not queue.finish(old, {}, [NewFile("page.md", "text/markdown", b"old")])
        assert store.read(job.id, "ann", "page.md") == b"new"
        assert len(files_of(tmp_path)) == 1

    def test_can_be_read_to_their_end_while_they_are_deleted(self, store: JobStore, queue: WorkQueue) -> None:
        job = done(store, queue)
        _, file = store.open(job.id, "ann", "page.md")
        with file:
            store.delete(job.id, "ann")
            assert file.read() == b"words"
        with pytest.raises(UnknownJobError):
            store.open(job.id, "ann", "page.md")

    @pytest.mark.parametrize("harm", [lambda path: path.unlink(), lambda path: path.write_bytes(b"word")])
    def test_that_are_damaged_are_told_of(
        self, store: JobStore, queue: WorkQueue, tmp_path: Path, harm: Callable[[Path], object]
    ) -> None:
        job = done(store, queue)
        (path,) = files_of(tmp_path)
        harm(path)
        with pytest.raises(StorageError, match="missing or damaged"):
            store.open(job.id, "ann", "page.md")


def _die_between_file_and_row(path: Path) -> None:
    with opened(path) as (_, queue):
        held = claim(queue, "dying")
        queue.database.transaction = lambda **_: os._exit(9)  # type: ignore[method-assign]
        queue.finish(held, {}, [FILE, FILE])


class TestCrashes:
    def die(self, store: JobStore) -> None:
        context = multiprocessing.get_context("fork")
        process = context.Process(target=_die_between_file_and_row, args=(store.database.path,))
        process.start()
        process.join()
        assert process.exitcode == 9

    def test_between_file_and_row_lose_nothing_and_leave_nothing(self, tmp_path: Path) -> None:
        with opened(tmp_path / "jobs.sqlite") as (store, _):
            job = add(store)
        self.die(store)
        assert len(files_of(tmp_path)) == 2
        with opened(tmp_path / "jobs.sqlite") as (store, queue):
            queue.take_back()
            assert queue.finish(claim(queue), {}, [FILE])
            assert store.read(job.id, "ann", "page.md") == b"words"
        assert [path.name for path in files_of(tmp_path)] == ["2-0"]

    @pytest.mark.parametrize("end", ["queued", "failed", "deleted"])
    def test_leave_nothing_behind_the_next_start(self, tmp_path: Path, end: str) -> None:
        with opened(tmp_path / "jobs.sqlite") as (store, queue):
            kept = done(store, queue)
            job = add(store)
        self.die(store)
        with opened(tmp_path / "jobs.sqlite") as (store, queue):
            (tmp_path / "results" / job.id / f".domsieve.{os.getpid()}-x.part").write_bytes(b"half")
            queue.take_back()
            if end == "failed":
                queue.database.run("UPDATE jobs SET state = 'failed' WHERE id = ?", (job.id,))
            elif end == "deleted":
                queue.database.run("DELETE FROM jobs WHERE id = ?", (job.id,))
            assert store.sweep(alone=True) == 2
            assert [path.name for path in (tmp_path / "results").iterdir()] == [kept.id]
            assert store.read(kept.id, "ann", "page.md") == b"words"

    def test_are_not_mistaken_for_work_under_way(
        self, store: JobStore, queue: WorkQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        job = add(store)
        held = claim(queue)
        swept: list[int] = []
        end = queue._end

        def sweeping(*told: Any) -> bool:
            """Sweep between file and row, as another process may."""
            with opened(tmp_path / "jobs.sqlite") as (other, _):
                swept.append(other.sweep())
            return end(*told)

        monkeypatch.setattr(queue, "_end", sweeping)
        assert queue.finish(held, {}, [FILE])
        assert swept == [0]
        assert store.read(job.id, "ann", "page.md") == b"words"

    def test_a_deletion_that_was_cut_short_is_made_whole(
        self, store: JobStore, queue: WorkQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        job = done(store, queue)
        with monkeypatch.context() as cut:
            cut.setattr(store, "_clear", lambda _: None)
            store.delete(job.id, "ann")
        assert len(files_of(tmp_path)) == 1
        assert store.sweep() == 1
        assert list((tmp_path / "results").iterdir()) == []


class TestVersion1:
    """Databases of the version before, which held results as blobs and could not shrink."""

    def test_results_are_served_and_moved_to_files(self, tmp_path: Path) -> None:
        ids = make_version_1(tmp_path / "jobs.sqlite", results=[b"one" * 100_000, b"two"])
        with opened(tmp_path / "jobs.sqlite") as (store, _):
            assert [store.get(number, "ann").files[0].size_bytes for number in ids] == [300_000, 3]
            assert store.read(ids[1], "ann", "page.md") == b"two", "moved when it is asked for"
            assert len(files_of(tmp_path)) == 1
            assert store.move_results(spare_bytes=0) == 1
            assert store.move_results(spare_bytes=0) == 0
            assert [store.read(number, "ann", "page.md") for number in ids] == [b"one" * 100_000, b"two"]
            assert store.database.run("SELECT COUNT(*) FROM files") == [(0,)]
            assert store.sweep() == 0
            assert store.database.run("PRAGMA integrity_check") == [("ok",)]

    def test_the_file_gives_its_room_back(self, tmp_path: Path) -> None:
        path = tmp_path / "jobs.sqlite"
        ids = make_version_1(path, results=[os.urandom(MB) for _ in range(20)])
        with closing(sqlite3.connect(path, isolation_level=None)) as of_before:
            for table, name in (("files", "job"), ("events", "job"), ("jobs", "id")):
                of_before.execute(f"DELETE FROM {table} WHERE {name} <> ?", (ids[0],))
        assert path.stat().st_size > 20 * MB
        with opened(path) as (store, _), opened(path):
            assert store.move_results(spare_bytes=0) == 1
            assert MB < size_of(tmp_path) < 3 * MB
            store.delete(ids[0], "ann")
            assert path.stat().st_size < MB / 2
            assert size_of(tmp_path) < 5 * MB, "the log of writes keeps 4 MB at most"

    def test_without_room_results_stay_where_they_are(self, tmp_path: Path) -> None:
        (job,) = make_version_1(tmp_path / "jobs.sqlite", results=[b"one"])
        with opened(tmp_path / "jobs.sqlite") as (store, _):
            assert store.move_results(spare_bytes=1 << 62) == 0
            assert files_of(tmp_path) == []
            assert store.trim(jobs=10, size_bytes=MB) == 0
            assert store.read(job, "ann", "page.md") == b"one"

    def test_what_is_deleted_goes_unmoved(self, tmp_path: Path) -> None:
        ids = make_version_1(tmp_path / "jobs.sqlite", results=[b"one", b"two"])
        with opened(tmp_path / "jobs.sqlite") as (store, _):
            store.delete(ids[0], "ann")
            assert store.database.run("SELECT job FROM files") == [(ids[1],)]
            assert files_of(tmp_path) == []

    def test_a_crash_while_one_is_moved_loses_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (job,) = make_version_1(tmp_path / "jobs.sqlite", results=[b"one"])
        with opened(tmp_path / "jobs.sqlite") as (store, _):
            with monkeypatch.context() as cut:
                cut.setattr(store.database, "transaction", lambda **_: 1 / 0)
                with pytest.raises(ZeroDivisionError):
                    store.read(job, "ann", "page.md")
            assert len(files_of(tmp_path)) == 1
            assert store.sweep() == 0, "another thread may be about to name it"
            assert store.read(job, "ann", "page.md") == b"one"
            store.delete(job, "ann")
            assert files_of(tmp_path) == []

    def test_several_may_open_it_at_once(self, tmp_path: Path) -> None:
        make_version_1(tmp_path / "jobs.sqlite", results=[b"one"])
        context = multiprocessing.get_context("fork")
        openers = [context.Process(target=_open, args=(tmp_path / "jobs.sqlite",)) for _ in range(4)]
        for opener in openers:
            opener.start()
        for opener in openers:
            opener.join()
        assert [opener.exitcode for opener in openers] == [0] * 4

    def test_what_its_jobs_hold_is_counted(self, tmp_path: Path) -> None:
        (job,) = make_version_1(tmp_path / "jobs.sqlite", results=[b"one"])
        with PageStore(tmp_path / "cache") as cache:
            page = cache.put(captured("http://site.example/").snapshot)
        with closing(sqlite3.connect(tmp_path / "jobs.sqlite", isolation_level=None)) as of_before:
            of_before.execute(
                "INSERT INTO pages (client, job, page_id, url, site, captured_at, nodes, complete) "
                "VALUES ('ann', ?, ?, '', '', '', 1, 1)",
                (job, page.page_id),
            )
        with opened(tmp_path / "jobs.sqlite") as (store, _):
            store.captures.measure()
            ((size,),) = store.database.run("SELECT size_bytes FROM captures")
            assert size >= page.bytes > 0
            ((rows,),) = store.database.run("SELECT row_bytes FROM jobs")
            assert rows > 0
            store.delete(job, "ann")
        with PageStore(tmp_path / "cache") as cache:
            assert cache.records() == []


def _open(path: Path) -> None:
    Database(path).close()


class TestCaptures:
    @pytest.fixture
    def cache(self, tmp_path: Path) -> Iterator[PageStore]:
        with PageStore(tmp_path / "cache") as cache:
            yield cache

    def capture(self, cache: PageStore, queue: WorkQueue, held: Claim, number: int = 0) -> str:
        """Keep a page for a job, as workers do; return its id."""
        rendering = captured(f"http://site.example/{number}", f"<p>The words of {number}.")
        record = cache.put(rendering.snapshot, source=rendering.source, site="site.example")
        queue.captures.hold(held, [record.page_id])
        queue.captures.made(held, {record.page_id: cache.size(record.page_id)})
        return record.page_id

    def used(self, page_id: str) -> UsedPage:
        return UsedPage(page_id=page_id, url="", site="", captured_at="", nodes=1, complete=True, job="")

    def kept(self, cache: PageStore) -> set[str]:
        return {record.page_id for record in cache.records()}

    @pytest.mark.parametrize("state", ["running", "done", "failed", "cancelled"])
    def test_leave_with_their_job(
        self, store: JobStore, queue: WorkQueue, cache: PageStore, tmp_path: Path, state: str
    ) -> None:
        job = add(store)
        held = claim(queue)
        self.capture(cache, queue, held)
        if state == "done":
            queue.finish(held, {}, [FILE])
        elif state == "failed":
            queue.fail(held, {"fault": "page"})
        elif state == "cancelled":
            store.cancel(job.id, "ann")
        store.delete(job.id, "ann")
        assert self.kept(cache) == set()
        kinds = (tmp_path / "cache" / kind for kind in ("pages", "raw", "bases", "extras"))
        assert [path for kind in kinds for path in kind.rglob("*.*")] == []

    @pytest.mark.parametrize("client", ["ann", "bob"])
    def test_stay_while_another_job_uses_them(
        self, store: JobStore, queue: WorkQueue, cache: PageStore, client: str
    ) -> None:
        first, second = add(store), add(store, client=client)
        page_ids = {self.capture(cache, queue, claim(queue)) for _ in range(2)}
        assert len(page_ids) == 1
        store.delete(first.id, "ann")
        assert self.kept(cache) == page_ids
        store.delete(second.id, client)
        assert self.kept(cache) == set()

    def test_that_are_used_again_are_held_before_they_are_read(
        self, store: JobStore, queue: WorkQueue, cache: PageStore
    ) -> None:
        first = add(store)
        held = claim(queue)
        page_id = self.capture(cache, queue, held)
        queue.finish(held, {}, [], pages=[self.used(page_id)])
        add(store)
        add(store, client="bob")
        own, theirs = claim(queue), claim(queue)
        assert not queue.captures.hold_again(theirs, page_id)
        assert queue.captures.hold_again(own, page_id)
        holding = store.database.run("SELECT job FROM captures WHERE page_id = ?", (page_id,))
        assert {job for (job,) in holding} == {first.id, own.job.id}
        store.delete(first.id, "ann")
        assert self.kept(cache) == {page_id}
        add(store)
        assert not queue.captures.hold_again(claim(queue), page_id), "it is no longer of a job that ended"

    def test_of_a_job_that_was_deleted_meanwhile_go_too(
        self, store: JobStore, queue: WorkQueue, cache: PageStore
    ) -> None:
        job = add(store)
        held = claim(queue)
        store.delete(job.id, "ann")
        self.capture(cache, queue, held)
        assert store.captures.remove_unused() == 1
        assert self.kept(cache) == set()

    def test_of_which_no_job_knows_go_when_they_are_old(
        self, store: JobStore, queue: WorkQueue, cache: PageStore, tmp_path: Path
    ) -> None:
        add(store)
        held = self.capture(cache, queue, claim(queue))
        cache.put(captured("http://other.example/").snapshot)
        left = tmp_path / "cache" / "pages" / ".domsieve.999999999-x.part"  # by no process that lives
        left.write_bytes(b"half a page")
        assert store.captures.remove_strays("2000-01-01") == 0
        assert store.captures.remove_strays("2999-01-01") == 1
        assert self.kept(cache) == {held}
        assert not left.exists()

    def test_count_in_the_quota_of_their_client(
        self, store: JobStore, queue: WorkQueue, cache: PageStore
    ) -> None:
        jobs = []
        for number in range(4):
            jobs.append(add(store))
            held = claim(queue)
            # The second and third use the same.
            self.capture(cache, queue, held, number=1 if number == 2 else number)
            queue.finish(held, {}, [])
        store.database.run("UPDATE captures SET size_bytes = 1000000")
        assert store.trim(jobs=100, size_bytes=3_500_000) == 0, "three captures, one of them used twice"
        assert store.trim(jobs=100, size_bytes=2_500_000) == 1
        assert len(self.kept(cache)) == 2
        assert [job.id for job in store.list("ann")] == [job.id for job in reversed(jobs[1:])]

    def test_of_jobs_that_run_count_too(self, store: JobStore, queue: WorkQueue, cache: PageStore) -> None:
        add(store)
        self.capture(cache, queue, claim(queue))
        old, _ = done(store, queue), done(store, queue)
        store.database.run("UPDATE captures SET size_bytes = 1000000")
        assert store.trim(jobs=100, size_bytes=MB) == 1
        with pytest.raises(UnknownJobError):
            store.get(old.id, "ann")

    def test_a_cache_that_cannot_be_used_is_cleared_later(
        self, store: JobStore, queue: WorkQueue, cache: PageStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        job = add(store)
        page_id = self.capture(cache, queue, claim(queue))

        def full(*_: object) -> None:
            raise StorageError("The disk is full.")

        with monkeypatch.context() as broken:
            broken.setattr(PageStore, "remove", full)
            store.delete(job.id, "ann")
        assert store.list("ann") == []
        assert self.kept(cache) == {page_id}
        assert store.captures.remove_unused() == 1
        assert self.kept(cache) == set()


def test_rows_that_are_deleted_give_their_room_back(store: JobStore, queue: WorkQueue) -> None:
    job = add(store)
    held = claim(queue)
    for _ in range(100):
        queue.event(held, "site", {"said": "x" * 50_000})
    queue.fail(held, {"fault": "page"})
    store.database.run("PRAGMA wal_checkpoint(PASSIVE)")
    assert store.database.path.stat().st_size > 5 * MB
    store.delete(job.id, "ann")
    assert store.database.path.stat().st_size < MB


def test_rows_count_in_the_quota(store: JobStore, queue: WorkQueue) -> None:
    old = done(store, queue)
    add(store)
    held = claim(queue)
    for _ in range(10):
        queue.event(held, "site", {"said": "x" * 2_000})
    queue.finish(held, {}, [])
    assert store.trim(jobs=100, size_bytes=30_000) == 0
    assert store.trim(jobs=100, size_bytes=20_000) == 1
    with pytest.raises(UnknownJobError):
        store.get(old.id, "ann")


def test_a_thousand_jobs_of_a_megabyte_leave_nothing(
    store: JobStore, queue: WorkQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(store, queue)
    beginning = size_of(tmp_path)

    def usage(_: Path) -> Usage:
        """Tell of a disk on which a tenth of it all has room."""
        room, used = 200 * MB, size_of(tmp_path) - beginning
        return Usage(room, used, room - used)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    monkeypatch.setattr(
        os, "fsync", lambda _: None
    )  # a thousand times three of it take minutes on some disks
    limits = QueueLimits(free_bytes=50 * MB)
    data = bytes(MB)
    for _ in range(20):
        made = []
        for _ in range(50):
            made.append(add(store, limits=limits).id)
            assert queue.finish(claim(queue), {"words": 3}, [NewFile("page.md", "text/markdown", data)])
        other = add(store, client="bob", limits=limits)
        assert queue.finish(claim(queue), {}, [FILE])
        for number in made:
            store.delete(number, "ann")
        store.delete(other.id, "bob")
    assert store.list("ann", limit=2_000)[1:] == []
    assert size_of(tmp_path) - beginning < 20 * MB
