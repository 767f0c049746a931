"""Jobs are accepted once, done once, kept until they are old, and shown to nobody else."""

import multiprocessing
import os
import signal
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
)

from domsieve.errors import ClientLimitError, KeyConflictError, QueueFullError, StorageError, UnknownJobError
from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.job_values import ATTEMPTS, Claim, Job, NewFile, QueueLimits, UsedPage
from domsieve.service.jobs.requests import CleanRequest, SiteRequest
from domsieve.service.jobs.work_queue import WorkQueue
from tests.service.jobs.opened import opened

LIMITS = QueueLimits(queued=100, per_client=100)
FILE = NewFile("page.md", "text/markdown", b"words")
LEASE_S = 60.0


def asked(number: int = 0) -> CleanRequest:
    return CleanRequest(url=f"http://site.example/{number}")


def used(page_id: str, job: str = "") -> UsedPage:
    return UsedPage(
        page_id=page_id,
        url="http://site.example/",
        site="site.example",
        captured_at="",
        nodes=1,
        complete=True,
        job=job,
    )


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


def add(store: JobStore, number: int = 0, *, client: str = "ann") -> Job:
    return store.add(asked(number), client=client, limits=LIMITS)[0]


def claim(queue: WorkQueue, worker: str = "w", *, lease_s: float = LEASE_S) -> Claim:
    found = queue.claim(worker, lease_s=lease_s)
    assert found is not None
    return found


def lose(queue: WorkQueue, times: int) -> None:
    """Claim the only job and lose it with its worker."""
    for number in range(times):
        claim(queue, f"lost{number}")
        queue.take_back(f"lost{number}")


class TestAccepting:
    def test_a_job_is_as_it_was_asked_for(self, store: JobStore) -> None:
        job = add(store)
        assert (job.kind, job.client, job.state, job.attempts) == ("clean", "ann", "queued", 0)
        assert job.request == asked().model_dump(mode="json")
        assert store.get(job.id, "ann") == job
        assert len(job.id) == 32

    def test_it_is_there_for_another_process_at_once(self, store: JobStore) -> None:
        job = add(store)
        with opened(store.database.path) as (other, _):
            assert other.get(job.id, "ann") == job

    def test_a_key_gives_the_same_job_again(self, store: JobStore) -> None:
        first, is_new = store.add(asked(), client="ann", key="k", limits=LIMITS)
        again, is_newer = store.add(
            asked(), client="ann", key="k", limits=QueueLimits(queued=0, per_client=0)
        )
        assert (first.id, is_new, is_newer) == (again.id, True, False)

    def test_a_key_belongs_to_its_client(self, store: JobStore) -> None:
        first, _ = store.add(asked(), client="ann", key="k", limits=LIMITS)
        other, is_new = store.add(asked(1), client="bob", key="k", limits=LIMITS)
        assert is_new
        assert first.id != other.id

    @pytest.mark.parametrize("other", [asked(1), SiteRequest(url=asked().url)])
    def test_a_key_is_of_one_request(self, store: JobStore, other: Any) -> None:
        store.add(asked(), client="ann", key="k", limits=LIMITS)
        with pytest.raises(KeyConflictError):
            store.add(other, client="ann", key="k", limits=LIMITS)
        assert store.counts()["queued"] == 1

    def test_no_key_is_no_key(self, store: JobStore) -> None:
        assert add(store).id != add(store).id

    def test_the_queue_is_bounded(self, store: JobStore, queue: WorkQueue) -> None:
        limits = QueueLimits(queued=2, per_client=9)
        for client in ("ann", "bob"):
            store.add(asked(), client=client, limits=limits)
        with pytest.raises(QueueFullError) as raised:
            store.add(asked(), client="eve", limits=limits)
        assert raised.value.retry
        claim(queue)  # one less waits
        assert store.add(asked(), client="eve", limits=limits)[1]

    def test_a_client_is_bounded_by_what_waits_and_runs(self, store: JobStore, queue: WorkQueue) -> None:
        limits = QueueLimits(queued=9, per_client=2)
        store.add(asked(), client="ann", limits=limits)
        store.add(asked(), client="ann", limits=limits)
        held = claim(queue)
        with pytest.raises(ClientLimitError):
            store.add(asked(), client="ann", limits=limits)
        assert store.add(asked(), client="bob", limits=limits)[1]
        queue.finish(held, {}, [])
        assert store.add(asked(), client="ann", limits=limits)[1]


class TestPrivacy:
    def test_the_job_of_another_is_as_no_job(self, store: JobStore, queue: WorkQueue) -> None:
        job = add(store)
        queue.finish(claim(queue), {}, [FILE], pages=[used("p")])
        for call in (
            lambda: store.get(job.id, "bob"),
            lambda: store.events(job.id, "bob"),
            lambda: store.file(job.id, "bob", FILE.name),
            lambda: store.open(job.id, "bob", FILE.name),
            lambda: store.cancel(job.id, "bob"),
            lambda: store.delete(job.id, "bob"),
            lambda: store.list("bob", before=job.id),
            lambda: store.get("0" * 32, "ann"),
            lambda: store.file(job.id, "ann", "other.md"),
        ):
            with pytest.raises(UnknownJobError):
                call()
        assert (store.list("bob"), store.pages("bob")) == ([], [])
        assert queue.page_ids("bob", "site.example") == frozenset()


class TestWorking:
    def test_from_claim_to_end(self, store: JobStore, queue: WorkQueue) -> None:
        job = add(store)
        held = claim(queue)
        assert (held.job.id, held.job.state, held.job.attempts) == (job.id, "running", 1)
        assert queue.event(held, "page", {"url": "u"}, done=1, total=2)
        assert queue.finish(held, {"words": 3}, [FILE], pages=[used("p")])
        done = store.get(job.id, "ann")
        assert (done.state, done.summary, done.done_pages, done.total_pages) == ("done", {"words": 3}, 1, 2)
        assert [(file.name, file.size_bytes) for file in done.files] == [("page.md", 5)]
        assert store.read(job.id, "ann", "page.md") == b"words"
        events = store.events(job.id, "ann")
        assert [event.kind for event in events] == ["state", "state", "page", "state"]
        assert [event.data.get("state") for event in events] == ["queued", "running", None, "done"]
        assert store.events(job.id, "ann", after=events[2].number) == events[3:]
        assert [page.page_id for page in store.pages("ann")] == ["p"]

    def test_a_job_is_claimed_once(self, store: JobStore, queue: WorkQueue) -> None:
        add(store)
        with opened(store.database.path) as (_, other):
            assert claim(queue)
            assert other.claim("other", lease_s=LEASE_S) is None

    def test_clients_take_turns(self, store: JobStore, queue: WorkQueue) -> None:
        for number in range(3):
            add(store, number, client="ann")
        add(store, 9, client="bob")
        assert [claim(queue).job.client for _ in range(4)] == ["ann", "bob", "ann", "ann"]

    def test_site_jobs_can_be_passed_over(self, store: JobStore, queue: WorkQueue) -> None:
        store.add(SiteRequest(url="http://site.example/"), client="ann", limits=LIMITS)
        assert queue.claim("w", lease_s=LEASE_S, sites=False) is None
        single = add(store)
        found = queue.claim("w", lease_s=LEASE_S, sites=False)
        assert found is not None
        assert found.job.id == single.id

    def test_what_was_released_does_not_count_as_an_attempt(self, store: JobStore, queue: WorkQueue) -> None:
        job = add(store)
        for _ in range(ATTEMPTS + 2):
            assert queue.release(claim(queue))
        assert (store.get(job.id, "ann").state, store.get(job.id, "ann").attempts) == ("queued", 0)


class TestFencing:
    @pytest.mark.parametrize("how", ["cancel", "delete", "take_back", "expired", "done"])
    def test_who_has_lost_a_job_changes_nothing(self, store: JobStore, queue: WorkQueue, how: str) -> None:
        job = add(store)
        held = claim(queue, "old", lease_s=-1.0 if how == "expired" else LEASE_S)
        newer = None
        if how == "cancel":
            assert store.cancel(job.id, "ann").state == "cancelled"
        elif how == "delete":
            store.delete(job.id, "ann")
        elif how == "done":
            assert queue.finish(held, {"first": 1}, [])
        else:
            if how == "take_back":
                assert queue.take_back("old") == 1
            newer = claim(queue, "new")
        before = store.list("ann")
        assert not queue.holds(held)
        assert not queue.renew(held)
        assert not queue.event(held, "page", {})
        assert not queue.finish(held, {"second": 2}, [FILE], pages=[used("p")])
        assert not queue.fail(held, {"fault": "page"})
        assert not queue.release(held)
        assert store.list("ann") == before
        assert store.pages("ann") == []
        if newer:
            assert queue.finish(newer, {}, [FILE])

    def test_a_lease_that_ended_is_renewed_by_nobody_else_in_time(
        self, store: JobStore, queue: WorkQueue
    ) -> None:
        add(store)
        held = claim(queue, lease_s=LEASE_S)
        assert queue.claim("other", lease_s=LEASE_S) is None
        assert queue.renew(held)

    def test_leases_of_an_earlier_start_of_the_machine_have_ended(
        self, store: JobStore, queue: WorkQueue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        add(store)
        claim(queue, "old")
        monkeypatch.setattr("domsieve.service.jobs.work_queue._boot_id", lambda: "another")
        assert claim(queue, "new").job.attempts == 2

    def test_a_clock_that_goes_backwards_changes_no_lease(
        self, store: JobStore, queue: WorkQueue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        add(store)
        claim(queue, "old")
        monkeypatch.setattr("domsieve.service.jobs.work_queue.now", lambda: "1970-01-01T00:00:00+00:00")
        monkeypatch.setattr(time, "time", lambda: 0.0)
        assert queue.claim("new", lease_s=LEASE_S) is None


class TestLosing:
    def test_a_job_that_its_worker_was_ended_for_fails_and_the_others_lose_no_attempt(
        self, store: JobStore, queue: WorkQueue
    ) -> None:
        other = add(store)
        for _ in range(ATTEMPTS + 1):
            guilty = add(store)
            claim(queue), claim(queue)
            assert queue.take_back("w", problems={guilty.id: {"fault": "page"}}) == 2
            failed, waiting = store.get(guilty.id, "ann"), store.get(other.id, "ann")
            assert (failed.state, failed.problem, failed.attempts) == ("failed", {"fault": "page"}, 1)
            assert (waiting.state, waiting.attempts) == ("queued", 0)

    def test_a_job_that_kills_its_workers_is_given_up(self, store: JobStore, queue: WorkQueue) -> None:
        job = add(store)
        for number in range(ATTEMPTS):
            assert store.get(job.id, "ann").state == "queued"
            claim(queue, f"w{number}")
            assert queue.take_back(f"w{number}") == 1
        lost = store.get(job.id, "ann")
        assert lost.state == "failed"
        assert lost.problem is not None
        assert lost.problem["fault"] == "service"

    def test_a_second_attempt_says_so_and_takes_no_pages_back(
        self, store: JobStore, queue: WorkQueue
    ) -> None:
        job = add(store)
        queue.event(claim(queue, "old"), "page", {"done": 3}, done=3, total=5)
        queue.take_back("old")
        assert store.get(job.id, "ann").done_pages == 3
        held = claim(queue, "new")
        for done in (1, 3, 4):
            queue.event(held, "page", {"done": done}, done=done, total=5)
            assert store.get(job.id, "ann").done_pages == max(done, 3)
        told = [event.data for event in store.events(job.id, "ann") if event.kind == "page"]
        assert told == [{"done": 3}, *({"done": done, "attempt": 2} for done in (1, 3, 4))]

    def test_nothing_is_begun_beside_its_last_attempt(self, store: JobStore, queue: WorkQueue) -> None:
        poison = add(store, 1)
        lose(queue, ATTEMPTS - 1)
        held = claim(queue)
        other = add(store, 2)
        assert held.job.id == poison.id
        assert queue.claim("w", lease_s=LEASE_S) is None
        assert claim(queue, "another").job.id == other.id
        queue.finish(held, {}, [])
        add(store, 3)
        assert claim(queue).job.attempts == 1

    def test_its_last_attempt_is_not_begun_beside_others(self, store: JobStore, queue: WorkQueue) -> None:
        poison = add(store, 1)
        lose(queue, ATTEMPTS - 2)
        held_elsewhere = claim(queue, "dying")
        add(store, 2)
        neighbour = claim(queue)
        queue.take_back(held_elsewhere.worker)
        assert queue.claim("w", lease_s=LEASE_S) is None
        queue.finish(neighbour, {}, [])
        assert claim(queue).job.id == poison.id

    def test_only_the_jobs_of_the_dead_are_taken_back(self, store: JobStore, queue: WorkQueue) -> None:
        add(store, 1)
        add(store, 2)
        dead, living = claim(queue, "dead"), claim(queue, "living")
        assert queue.take_back("dead") == 1
        assert not queue.holds(dead)
        assert queue.holds(living)
        assert queue.take_back() == 1


class TestListing:
    def test_newest_first_page_by_page(self, store: JobStore) -> None:
        jobs = [add(store, number) for number in range(5)]
        ids = [job.id for job in reversed(jobs)]
        first = store.list("ann", limit=2)
        rest = store.list("ann", before=first[-1].id, limit=9)
        assert [job.id for job in (*first, *rest)] == ids
        store.cancel(ids[1], "ann")
        assert [job.id for job in store.list("ann", state="cancelled")] == [ids[1]]

    def test_used_pages_once_with_their_latest_job(self, store: JobStore, queue: WorkQueue) -> None:
        for page_ids in (["p", "q"], ["p"]):
            job = add(store)
            queue.finish(claim(queue), {}, [], pages=[used(page_id) for page_id in page_ids])
        first, second = store.pages("ann")
        assert [(first.page_id, first.job), second.page_id] == [("p", job.id), "q"]
        assert [page.page_id for page in store.pages("ann", before=first.number)] == ["q"]
        assert queue.page_ids("ann", "site.example") == {"p", "q"}

    def test_counts_and_the_oldest(self, store: JobStore) -> None:
        assert store.oldest_queued() is None
        job = add(store)
        assert store.oldest_queued() == job.created_at
        assert store.counts() == {"queued": 1, "running": 0, "done": 0, "failed": 0, "cancelled": 0}

    def test_who_asks_for_it_is_told_of_news(self, store: JobStore, queue: WorkQueue) -> None:
        told: list[int] = []
        store.database.on_news = lambda: told.append(store.counts()["queued"])
        one, two = add(store, 1), add(store, 2)
        store.cancel(one.id, "ann")
        store.cancel(one.id, "ann")
        store.delete(two.id, "ann")
        claim_of_nothing = queue.claim("w", lease_s=LEASE_S)
        assert claim_of_nothing is None
        assert told == [1, 2, 1, 0]

    def test_the_version_tells_of_changes_here_and_elsewhere(self, store: JobStore) -> None:
        before = store.database.version()
        assert store.database.version() == before
        add(store)
        here = store.database.version()
        with opened(store.database.path) as (other, _):
            add(other)
        assert len({before, here, store.database.version()}) == 3


class TestMany:
    """What is asked for often costs the same however many jobs have ended."""

    def steps(self, store: JobStore, work: Callable[[], object]) -> int:
        """Return how many hundreds of steps the database takes."""
        taken: list[None] = []
        store.database._db.set_progress_handler(lambda: taken.append(None), 100)
        work()
        store.database._db.set_progress_handler(None, 0)
        return len(taken)

    def fill(self, store: JobStore, count: int) -> None:
        with store.database.transaction():
            for number in range(count):
                store.database.run(
                    "INSERT INTO jobs (id, kind, client, request, state, created_at) "
                    "VALUES (hex(randomblob(16)), 'clean', 'ann', '{}', 'done', '')"
                )
                store.database.run(
                    "INSERT INTO pages (client, job, page_id, url, site, captured_at, nodes, complete) "
                    "VALUES ('ann', ?, ?, '', '', '', 1, 1)",
                    (f"{count}-{number}", f"p{number % (count // 2)}"),
                )

    def test_the_newest_ones_are_found_at_once(self, store: JobStore) -> None:
        works: list[Callable[[], object]] = [
            lambda: store.list("ann"),
            lambda: store.list("ann", state="done"),
            lambda: store.list("ann", state="failed"),
            lambda: store.pages("ann"),
            lambda: add(store),
            lambda: store.delete(add(store).id, "ann"),
        ]
        self.fill(store, 200)
        few = [self.steps(store, work) for work in works]
        self.fill(store, 4_000)
        many = [self.steps(store, work) for work in works]
        assert all(after <= before + 5 for before, after in zip(few, many, strict=True)), (few, many)


class TestForgetting:
    def test_old_jobs_and_their_captures(self, store: JobStore, queue: WorkQueue) -> None:
        old, newer, waiting = (add(store, number) for number in range(3))
        queue.finish(claim(queue), {}, [FILE], pages=[used("p"), used("q")])
        queue.finish(claim(queue), {}, [FILE], pages=[used("q")])
        store.database.run("UPDATE jobs SET ended_at = '2020-01-01' WHERE id = ?", (old.id,))
        assert store.expire("2021-01-01") == 1
        assert store.captures.held() == {"q"}
        assert [job.id for job in store.list("ann")] == [waiting.id, newer.id]
        assert store.database.run("SELECT COUNT(*) FROM results") == [(1,)]

    def test_too_many_jobs_of_one_client(self, store: JobStore, queue: WorkQueue) -> None:
        theirs, *own = add(store, client="bob"), *(add(store, number) for number in range(4))
        for number in range(5):
            queue.finish(claim(queue), {}, [FILE], pages=[used(f"p{number}")])
        waiting = add(store)
        assert store.trim(jobs=2, size_bytes=100_000) == 2
        assert store.captures.held() == {"p0", "p3", "p4"}
        assert [job.id for job in store.list("ann")] == [waiting.id, own[3].id, own[2].id]
        assert [job.id for job in store.list("bob")] == [theirs.id]
        assert store.trim(jobs=2, size_bytes=100_000) == 0

    def test_too_large_results_of_one_client(self, store: JobStore, queue: WorkQueue) -> None:
        for size in (10, 500, 600):
            add(store)
            queue.finish(claim(queue), {}, [NewFile("a", "text/plain", bytes(size))])
        newest = add(store)
        queue.finish(claim(queue), {}, [NewFile("a", "text/plain", bytes(5_000))])
        assert store.trim(jobs=100, size_bytes=1_000) == 3
        assert [job.id for job in store.list("ann")] == [newest.id], "which is there to be fetched"

    def test_a_deleted_job_frees_its_key(self, store: JobStore) -> None:
        job, _ = store.add(asked(), client="ann", key="k", limits=LIMITS)
        store.delete(job.id, "ann")
        assert store.add(asked(1), client="ann", key="k", limits=LIMITS)[1]


class TestFailing:
    def test_no_job_is_accepted_when_the_disk_is_nearly_full(self, store: JobStore) -> None:
        limits = QueueLimits(free_bytes=1 << 62)
        kept, _ = store.add(asked(), client="ann", key="k", limits=LIMITS)
        with pytest.raises(QueueFullError, match="disk"):
            store.add(asked(), client="ann", limits=limits)
        assert store.list("ann") == [kept]
        assert store.add(asked(), client="ann", key="k", limits=limits) == (kept, False)

    def test_a_full_disk_leaves_the_job_as_it_was(
        self, store: JobStore, queue: WorkQueue, tmp_path: Path
    ) -> None:
        job = add(store)
        held = claim(queue)
        ((pages,),) = store.database.run("PRAGMA page_count")
        store.database.run(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StorageError, match="full"):
            queue.finish(held, {"words": "x" * (1 << 20)}, [FILE])
        assert store.get(job.id, "ann").state == "running"
        assert not (tmp_path / "results" / job.id).exists()
        store.database.run("PRAGMA max_page_count = 1000000")
        assert queue.finish(held, {}, [FILE])

    def test_another_version_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "jobs.sqlite"
        Database(path).close()
        database = sqlite3.connect(path)
        database.execute("PRAGMA user_version = 99")
        database.close()
        with pytest.raises(StorageError, match="version 99"):
            Database(path)

    def test_no_database(self, tmp_path: Path) -> None:
        path = tmp_path / "jobs.sqlite"
        path.write_bytes(b"no database at all, but long enough to be taken for one" * 20)
        with pytest.raises(StorageError, match="cannot be used"):
            Database(path)


def _add_until_killed(path: Path, told: Any) -> None:
    with opened(path) as (store, _):
        number = 0
        while True:
            number += 1
            told.send(
                store.add(asked(number), client="ann", limits=QueueLimits(queued=10**6, per_client=10**6))[
                    0
                ].id
            )


def _work(path: Path, name: str) -> None:
    with opened(path) as (_, queue):
        while held := queue.claim(name, lease_s=LEASE_S):
            queue.finish(held, {"by": name}, [NewFile(f"{name}.txt", "text/plain", b"x")])


class TestProcesses:
    def test_what_was_told_before_a_kill_is_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "jobs.sqlite"
        context = multiprocessing.get_context("fork")
        here, there = context.Pipe(duplex=False)
        writer = context.Process(target=_add_until_killed, args=(path, there))
        writer.start()
        there.close()
        told = [here.recv() for _ in range(20)]
        assert writer.pid is not None
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
        while here.poll():
            try:
                told.append(here.recv())
            except EOFError:
                break
        with opened(path) as (store, _):
            assert {job.id for job in store.list("ann", limit=10**6)} >= set(told)
            assert store.database.run("PRAGMA integrity_check") == [("ok",)]

    def test_several_workers_do_each_job_once(self, tmp_path: Path) -> None:
        path = tmp_path / "jobs.sqlite"
        with opened(path) as (store, _):
            jobs = [add(store, number) for number in range(60)]
        context = multiprocessing.get_context("fork")
        workers = [context.Process(target=_work, args=(path, f"w{number}")) for number in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        with opened(path) as (store, _):
            for job in jobs:
                done = store.get(job.id, "ann")
                assert (done.state, done.attempts, len(done.files)) == ("done", 1, 1)


class Machine(RuleBasedStateMachine):
    """Two stores on one file against a dictionary of what every job must be."""

    held = Bundle("held")

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.databases = [Database(Path(self.folder.name) / "jobs.sqlite") for _ in range(2)]
        self.stores = [JobStore(database) for database in self.databases]
        self.queues = [WorkQueue(database) for database in self.databases]
        self.state: dict[str, str] = {}
        self.token: dict[str, int] = {}
        self.lost: dict[str, int] = {}
        self.workers: dict[str, set[str]] = {"a": set(), "b": set()}

    def teardown(self) -> None:
        for database in getattr(self, "databases", []):
            database.close()
        if hasattr(self, "folder"):
            self.folder.cleanup()

    @rule(which=st.integers(0, 1))
    def accept(self, which: int) -> None:
        job = add(self.stores[which])
        self.state[job.id], self.token[job.id], self.lost[job.id] = "queued", 0, 0

    @rule(target=held, which=st.integers(0, 1), worker=st.sampled_from("ab"))
    def take(self, which: int, worker: str) -> Any:
        found = self.queues[which].claim(worker, lease_s=LEASE_S)
        if found is None:
            return multiple()
        assert self.state[found.job.id] == "queued"
        self.state[found.job.id] = "running"
        self.token[found.job.id] += 1
        self.workers[worker].add(found.job.id)
        assert found.token == self.token[found.job.id]
        return found

    def _holds(self, claim: Claim) -> bool:
        return self.state.get(claim.job.id) == "running" and self.token[claim.job.id] == claim.token

    @rule(which=st.integers(0, 1), claim=held, how=st.sampled_from(["done", "failed"]))
    def end(self, which: int, claim: Claim, how: str) -> None:
        queue = self.queues[which]
        held = queue.finish(claim, {}, [FILE]) if how == "done" else queue.fail(claim, {"fault": "page"})
        assert held == self._holds(claim)
        if held:
            self.state[claim.job.id] = how
            self.workers[claim.worker].discard(claim.job.id)

    @rule(which=st.integers(0, 1), claim=consumes(held))
    def give_back(self, which: int, claim: Claim) -> None:
        held = self.queues[which].release(claim)
        assert held == self._holds(claim)
        if held:
            self.state[claim.job.id] = "queued"
            self.workers[claim.worker].discard(claim.job.id)

    @rule(which=st.integers(0, 1), worker=st.sampled_from("ab"))
    def die(self, which: int, worker: str) -> None:
        running = {job for job in self.workers[worker] if self.state.get(job) == "running"}
        assert self.queues[which].take_back(worker) == len(running)
        for job in running:
            self.lost[job] += 1
            self.state[job] = "failed" if self.lost[job] >= ATTEMPTS else "queued"
        self.workers[worker].clear()

    @rule(which=st.integers(0, 1), data=st.data(), forget=st.booleans())
    def stop(self, which: int, data: st.DataObject, forget: bool) -> None:
        if not self.state:
            return
        job = data.draw(st.sampled_from(sorted(self.state)))
        if forget:
            self.stores[which].delete(job, "ann")
            del self.state[job]
        else:
            self.stores[which].cancel(job, "ann")
            if self.state[job] in {"queued", "running"}:
                self.state[job] = "cancelled"

    @invariant()
    def agrees(self) -> None:
        if hasattr(self, "stores"):
            jobs = {job.id: job for job in self.stores[0].list("ann", limit=10**6)}
            assert {number: job.state for number, job in jobs.items()} == self.state
            assert all((job.state == "done") == bool(job.files) for job in jobs.values())
            assert all(job.has_ended == (job.ended_at is not None) for job in jobs.values())


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=8, stateful_step_count=30, deadline=None)
