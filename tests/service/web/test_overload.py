"""A machine that is short of memory or busy takes no new jobs, says when to come back, and counts what it refused."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from domsieve.renderer.browser.resources import FreeMemory, this_machine
from domsieve.service.jobs.job_values import Overload
from domsieve.service.web.load_shedding import LoadShedding
from tests.service.web.stage import PAGE, Stage, stage

SHORT = Overload("memory", "Less than 5% of the memory of the service is free; no jobs are accepted now.")


def headroom(
    *, free: float = 0.5, load: float = 1.0, free_ratio: float = 0.05, most: float = 20
) -> LoadShedding:
    return LoadShedding(free_ratio=free_ratio, load=most, free_memory=lambda: free, load_average=lambda: load)


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (headroom(), None),
        (headroom(free=0.05, load=20), None),
        (headroom(free=0.049), "memory"),
        (headroom(load=20.01), "load"),
        (headroom(free=0.0, load=99, free_ratio=0), "load"),
        (headroom(free=0.0, load=99, most=0), "memory"),
        (headroom(free=0.0, load=99, free_ratio=0, most=0), None),
    ],
)
def test_there_is_no_room_below_a_share_of_memory_or_above_a_load(
    made: LoadShedding, reason: str | None
) -> None:
    overload = made()
    assert (overload and overload.reason) == reason
    if overload:
        assert overload.told.endswith("no jobs are accepted now.")


def test_what_this_machine_has_is_read() -> None:
    assert 0 < FreeMemory(swap=False)() < this_machine().memory_bytes
    # Some of the memory is in use whenever a test runs, and no processor is waited for so long.
    assert (overload := LoadShedding(free_ratio=1.0, load=0)())
    assert overload.reason == "memory"
    assert LoadShedding(free_ratio=0, load=1e9)() is None


class Machine:
    """A machine that is short of something, or not."""

    overload: Overload | None = None


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def service(tmp_path: Path, machine: Machine) -> Iterator[Stage]:
    """Return a service in which nobody works, so that jobs stay as they are."""
    with stage(tmp_path, work=None, wait_s=0, queue=4, told={"overload": lambda: machine.overload}) as made:
        yield made


def refused(service: Stage) -> dict[str, float]:
    text = service.client.get("/metrics").text
    found = re.findall(r'^domsieve_jobs_refused_total\{reason="(\w+)"\} ([0-9.]+)$', text, re.MULTILINE)
    return {reason: float(count) for reason, count in found}


def test_new_jobs_are_refused_and_told_when_to_come_back(service: Stage, machine: Machine) -> None:
    machine.overload = SHORT
    for kind in ("clean", "records", "compare", "report", "sites"):
        answer = service.client.post(f"/v1/{kind}", json={"url": PAGE})
        body = answer.json()
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")
        assert (body["fault"], body["retry"], body["detail"]) == ("service", True, SHORT.told)
    assert service.client.get("/v1/jobs").json()["jobs"] == []
    page = service.client.post("/", data={"kind": "clean", "url": PAGE}, headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["retry-after"]) == (503, "30")
    assert "Less than 5%" in page.text
    machine.overload = None
    assert service.client.post("/v1/clean", json={"url": PAGE}).status_code == 202
    assert refused(service) == {"client": 0, "disk": 0, "load": 0, "memory": 6, "queue": 0}


def test_jobs_that_were_accepted_go_on_and_are_told_to_who_asks_again(
    service: Stage, machine: Machine
) -> None:
    key = {"Idempotency-Key": "one"}
    job = service.client.post("/v1/clean", json={"url": PAGE}, headers=key).json()
    machine.overload = Overload("load", "Busy.")
    again = service.client.post("/v1/clean", json={"url": PAGE}, headers=key)
    assert (again.status_code, again.json()["id"]) == (202, job["id"])
    assert service.client.get(job["url"]).json()["state"] == "queued"
    assert service.client.post("/v1/clean", json={"url": PAGE}).json()["detail"] == "Busy."
    assert refused(service)["load"] == 1


def test_refusals_of_a_full_queue_are_counted_by_their_own_name(service: Stage) -> None:
    for _ in range(4):
        assert service.client.post("/v1/clean", json={"url": PAGE}).status_code == 202
    answer = service.client.post("/v1/clean", json={"url": PAGE})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert refused(service)["queue"] == 1


def test_the_limits_are_told(tmp_path: Path) -> None:
    with stage(tmp_path, work=None, client_queue=3, requests_per_minute=70) as made:
        limits = made.client.get("/v1/limits").json()
    assert limits == {
        "requests_per_minute": 70,
        "jobs": 3,
        "stores": 20,
        "store_bytes": 1_000_000_000,
        "site": {"pages": 500, "bytes": 2_000_000_000, "seconds": 3600.0},
    }
