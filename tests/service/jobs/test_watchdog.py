"""What the watch makes of what a worker said, and whom it blames."""

import os
import subprocess
import sys
import threading

import pytest

from domsieve.service.jobs._heartbeat import (
    Beat,
    Begun,
    Ended,
    HeartbeatWriter,
    LimitExceeded,
    Limits,
    Watchdog,
    end_family,
    read_line,
    thread_cpu_s,
)
from domsieve.service.jobs.job_values import overrun, problem_of

HUNG, OTHER = 7, 8
TIME, MEMORY = overrun("time"), overrun("memory")


class Seen:
    """A worker as the system shows it."""

    def __init__(self) -> None:
        self.cpu_s = {HUNG: 5.0, OTHER: 5.0}
        self.held = 0
        self.watch = Watchdog(
            1,
            Limits(silence_s=10.0, memory_bytes=100),
            cpu_of=lambda _, thread: self.cpu_s[thread],
            memory_of=lambda _: self.held,
        )

    def begin(self, number: int, job: str, thread: int | None = None, *, limit_s: float = 10.0) -> None:
        self.watch.hear(Begun(number, job, limit_s, thread))

    def passes(self, seconds: int, *, beats: bool = True) -> LimitExceeded | None:
        """Look once a second."""
        found = None
        for _ in range(seconds):
            found = found or self.watch.look(1.0)
            if beats:
                self.watch.hear(Beat())
        return found


def test_what_ends_in_time_is_nobodys_business() -> None:
    seen = Seen()
    for number in range(5):
        seen.begin(number, "a", HUNG)
        assert seen.passes(10) is None
        seen.watch.hear(Ended(number))


def test_a_part_that_is_late_is_its_jobs_fault() -> None:
    seen = Seen()
    seen.begin(1, "a", None, limit_s=100.0)
    seen.begin(2, "a", HUNG)
    seen.begin(3, "b", OTHER, limit_s=50.0)
    assert seen.passes(11) == LimitExceeded("time", {"a": TIME})


def test_who_is_late_because_another_keeps_the_lock_is_not_blamed() -> None:
    seen = Seen()
    seen.begin(1, "late", OTHER)
    seen.passes(1)
    seen.begin(2, "hung", HUNG)
    seen.cpu_s[HUNG] += 9.0
    assert seen.passes(10, beats=False) == LimitExceeded("time", {"hung": TIME})


def test_a_worker_without_a_beat_is_stuck() -> None:
    seen = Seen()
    assert seen.passes(11, beats=False) == LimitExceeded("time", {})
    seen.begin(1, "a", None, limit_s=100.0)
    assert seen.passes(11, beats=False) == LimitExceeded("time", {"a": TIME})
    seen.begin(2, "b", None, limit_s=100.0)
    assert seen.passes(11, beats=False) == LimitExceeded("time", {})


def test_memory_is_blamed_on_who_is_alone_in_a_thread() -> None:
    seen = Seen()
    seen.begin(1, "a", None)
    seen.begin(2, "b", None)
    seen.held = 100
    assert seen.passes(1) is None
    seen.held = 101
    assert seen.passes(1) == LimitExceeded("memory", {})
    seen.begin(3, "b", OTHER)
    assert seen.passes(1) == LimitExceeded("memory", {"b": MEMORY})
    seen.begin(4, "a", HUNG)
    assert seen.passes(1) == LimitExceeded("memory", {})


def test_a_pause_of_the_pool_makes_nobody_late() -> None:
    seen = Seen()
    seen.begin(1, "a", HUNG)
    assert seen.watch.look(3_600.0) is None


def test_problems_are_of_the_form_that_errors_have() -> None:
    assert TIME.keys() == MEMORY.keys() == problem_of(ValueError()).keys()
    assert TIME != MEMORY


def test_the_pulse_says_what_the_watch_hears() -> None:
    end, pipe = os.pipe()
    pulse = HeartbeatWriter(pipe)
    pulse.beat()
    with pulse.job("a", limit_s=1.5), pytest.raises(ValueError, match="x"), pulse.step("a", limit_s=0.5):
        raise ValueError("x")
    os.close(pipe)
    with os.fdopen(end, "rb") as lines:
        said = [read_line(line) for line in lines]
    own = threading.get_native_id()
    assert said == [Beat(), Begun(1, "a", 1.5, None), Begun(2, "a", 0.5, own), Ended(2), Ended(1)]


def test_a_worker_whose_service_is_gone_is_not_disturbed() -> None:
    end, pipe = os.pipe()
    os.close(end)
    HeartbeatWriter(pipe).beat()
    os.close(pipe)


def test_what_a_thread_runs_for_is_seen() -> None:
    own = threading.get_native_id()
    before = thread_cpu_s(os.getpid(), own)
    while thread_cpu_s(os.getpid(), own) <= before:
        sum(range(100_000))
    assert thread_cpu_s(os.getpid(), 2**22 + 1) == 0.0


def test_a_family_ends_whatever_groups_it_has_made() -> None:
    grandchild = "import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)"
    line = f"{grandchild}; print(1, flush=True); input()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", line], stdin=pipe, stdout=pipe) as child:
        assert child.stdout
        assert child.stdout.readline()
        end_family(child.pid)
        # The grandchild holds the pipe, too: its end comes with the last of them.
        assert child.stdout.read() == b""
        assert child.wait() == -9
