"""What becomes of shards whose worker dies: they are suspect, done again alone, and condemned at the third death."""

import os
import random
import signal
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from domsieve.bulk.job import Job
from domsieve.bulk.local import LocalEngine
from domsieve.bulk.plan import Shard
from domsieve.bulk.scheduling import Died, Event, Outcome, run
from domsieve.errors import StorageError
from tests.bulk.made import Inline, Nothing, Waiting, cleaned, digest_of, rows_of, write_sites


@dataclass(slots=True)
class Staged(Inline):
    """Plays what becomes of shards: by name, one outcome for each time."""

    slots: int = 2
    play: dict[str, list[str]] = field(default_factory=dict)
    flying: list[tuple[Job, Shard]] = field(default_factory=list)
    most: int = 0
    seen: list[tuple[str, int]] = field(default_factory=list)
    closed: list[bool] = field(default_factory=list)

    def start(self, job: Job, shard: Shard) -> None:
        self.flying.append((job, shard))
        self.seen.append((shard.name, len(self.flying)))
        self.most = max(self.most, len(self.flying))

    def _part(self, shard: Shard) -> str:
        return next(iter(self.play.get(shard.name, ())), "")

    def finished(self) -> list[tuple[Shard, Outcome]]:
        dies = [shard for _, shard in self.flying if self._part(shard) == "dies"]
        if dies:
            found: list[tuple[Shard, Outcome]] = [(shard, Died("a worker died")) for _, shard in self.flying]
            for shard in dies:
                self.play[shard.name].pop(0)
            self.flying = []
            return found
        job, shard = self.flying.pop(0)
        what = self._part(shard)
        return [
            (
                shard,
                ValueError("bad") if what == "raises" else StorageError("full") if what else job.on(shard),
            )
        ]


def ran(tmp_path: Path, engine: Staged | LocalEngine, count: int = 5, poison: str = "") -> list[Event]:
    events: list[Event] = []
    shards = [Shard.of(f"s{number}", [number], ["x"]) for number in range(count)]
    run(Nothing(str(tmp_path), poison), shards, engine, events.append)
    return events


def ends(events: list[Event]) -> dict[str, str]:
    return {event.shard.name: event.what for event in events if event.what in {"done", "condemned"}}


def test_what_was_in_flight_is_done_again_alone(tmp_path: Path) -> None:
    engine = Staged(play={"s1": ["dies"]})
    events = ran(tmp_path, engine)
    assert ends(events) == {f"s{number}": "done" for number in range(5)}
    assert [event.shard.name for event in events if event.what == "alone"] == ["s0", "s1"]
    assert engine.seen[-2:] == [("s0", 1), ("s1", 1)]


def test_dying_alone_three_times_condemns(tmp_path: Path) -> None:
    events = ran(tmp_path, Staged(play={"s1": ["dies"] * 4}))
    assert ends(events) == {"s0": "done", "s1": "condemned", "s2": "done", "s3": "done", "s4": "done"}
    assert sum(event.what == "alone" and event.shard.name == "s1" for event in events) == 3
    (tmp_path / "other").mkdir()
    two = ran(tmp_path / "other", Staged(play={"s1": ["dies"] * 3}))
    assert ends(two)["s1"] == "done"


def test_dying_beside_others_never_condemns(tmp_path: Path) -> None:
    events = ran(tmp_path, Staged(slots=5, play={f"s{number}": ["dies"] for number in range(5)}))
    assert set(ends(events).values()) == {"done"}


def test_a_part_that_its_worker_left_before_it_died_is_not_made_again(tmp_path: Path) -> None:
    (tmp_path / "s1.parquet").touch()
    events = ran(tmp_path, Staged(play={"s1": ["dies"] * 9}))
    assert ends(events)["s1"] == "done"


def test_a_shard_that_raises_is_given_up_with_its_reason(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    events = ran(tmp_path, Staged(play={"s3": ["raises"]}))
    (condemned,) = [event for event in events if event.what == "condemned"]
    assert (condemned.shard.name, condemned.reason) == ("s3", "ValueError: bad")
    assert "s3" in caplog.text


def test_a_full_disk_ends_the_run(tmp_path: Path) -> None:
    engine = Staged(play={"s1": ["full"]})
    with pytest.raises(StorageError, match="full"):
        ran(tmp_path, engine)


def test_a_shard_that_kills_its_worker_is_listed_and_the_others_are_done(tmp_path: Path) -> None:
    events = ran(tmp_path, LocalEngine(2), poison="s2")
    assert ends(events) == {"s0": "done", "s1": "done", "s2": "condemned", "s3": "done", "s4": "done"}
    assert sorted(path.name for path in tmp_path.glob("*.parquet")) == [f"s{n}.parquet" for n in (0, 1, 3, 4)]


def test_pages_of_running_shards_count_before_their_shards_end(tmp_path: Path) -> None:
    seen: list[int] = []

    def working(pages: int) -> None:
        seen.append(pages)
        if pages == 9 + 4:
            (tmp_path / "go").touch()

    shards = [Shard.of(f"s{number}", range(size), ["x"]) for number, size in enumerate((10, 5, 3))]
    events: list[Event] = []
    run(Waiting(str(tmp_path)), shards, LocalEngine(2), events.append, working)
    assert 9 + 4 in seen, "two of the shards run at the same time, and each ends all pages but one"
    assert ends(events) == {"s0": "done", "s1": "done", "s2": "done"}


def test_every_page_of_a_shard_counts_once_also_those_that_fail(tmp_path: Path) -> None:
    sites = write_sites(tmp_path / "in")
    (sites / "broken.html").write_bytes(b"")
    counted: list[int] = []

    class Counting(Inline):
        def finished(self) -> list[tuple[Shard, Outcome]]:
            job, shard = self._waiting.pop()
            pages: list[None] = []
            done = job.on(shard, lambda: pages.append(None))
            counted.append(len(pages) - shard.pages)
            return [(shard, done)]

    summary = cleaned(tmp_path / "out", [sites], engine=Counting)
    assert summary.failed == 1
    assert counted
    assert not any(counted)


class Killed(LocalEngine):
    """Has a worker killed now and then, at a moment that chance chooses."""

    def __init__(self, workers: int, seed: int) -> None:
        super().__init__(workers)
        self._random, self.kills = random.Random(seed), 0

    def start(self, job: Job, shard: Shard) -> None:
        super().start(job, shard)
        if self.kills < 4 and self._random.random() < 0.5 and self._pool:
            self.kills += 1
            victim = self._random.choice([*self._pool._processes])
            threading.Timer(self._random.random() * 0.5, _kill, [victim]).start()


def _kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return


@pytest.mark.parametrize("seed", range(2))
def test_workers_killed_at_any_moment_lose_and_double_nothing(tmp_path: Path, seed: int) -> None:
    sites = write_sites(tmp_path / "in")
    cleaned(tmp_path / "one", [sites], per_shard=100)
    engines: list[Killed] = []

    def make() -> Killed:
        engines.append(Killed(2, seed))
        return engines[-1]

    summary = cleaned(tmp_path / "out", [sites], per_shard=2, engine=make)
    assert engines[0].kills
    assert not summary.condemned
    assert digest_of(tmp_path / "out") == digest_of(tmp_path / "one")
    assert len({row["page"] for row in rows_of(tmp_path / "out")}) == 28


def test_condemned_shards_are_written_down(tmp_path: Path) -> None:
    sites = write_sites(tmp_path / "in")

    class Poisoned(Inline):
        def finished(self) -> list[tuple[Shard, Outcome]]:
            if self._waiting[-1][1].name.startswith("part-000001"):
                return [(self._waiting.pop()[1], Died("a worker died"))]
            return super().finished()

    summary = cleaned(tmp_path / "out", [sites], engine=Poisoned)
    assert [name[:11] for name in summary.condemned] == ["part-000001"]
    assert summary.pages == 18
    assert "part-000001" in (tmp_path / "out" / "_condemned.jsonl").read_text()
    healed = cleaned(tmp_path / "out", [sites])
    assert (healed.made, healed.pages) == (1, 28)
    assert not (tmp_path / "out" / "_condemned.jsonl").exists()
