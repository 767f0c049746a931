"""What the job of a site may take: it ends with what it has, says which limit ended it, and never looks whole."""

import asyncio
import io
import json
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from domsieve.errors import DomsieveError, NavigationError, PolicyError
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.protocol import Rendering
from domsieve.renderer.sampling._fetch import Answer
from domsieve.service.jobs._job_context import Result, WorkerContext
from domsieve.service.jobs._job_results import SitePages, site_result
from domsieve.service.jobs._job_work import do
from domsieve.service.jobs.job_values import QueueLimits, SiteQuota, problem_of
from domsieve.service.jobs.requests import SiteRequest
from domsieve.service.web.labels import remarks_of
from domsieve.snapshot.store import PageStore
from tests.service.jobs.captures import captured
from tests.service.jobs.opened import opened
from tests.service.jobs.stand_in import Load, StandIn

URL = "http://site.example/"
REQUEST = SiteRequest(url=URL, method="none", format="text", pages=9)
PAGE_BYTES = 100_000


class Site(StandIn):
    """A site whose pages come from memory, each of which links to the next, and costs bytes of the job's proxy."""

    def __init__(
        self, on_page: Callable[[int], None] = lambda _: None, *, pages: int = 50, concurrency: int = 2
    ) -> None:
        super().__init__()
        self.on_page = on_page
        self.pages = pages
        self.concurrency = concurrency

    @property
    def opened(self) -> list[str]:
        return [load.url for load in self.loads]

    async def load(self, asked: Load) -> Rendering:
        assert asked.proxy is not None
        self.on_page(len(self.loads))
        await asyncio.sleep(0)
        asked.proxy.count(PAGE_BYTES)
        links = "".join(f"<a href=/{number}>{number}</a>" for number in range(self.pages))
        return captured(asked.url, f"<title>{asked.url}</title><p>Words of {asked.url}.</p>{links}")


def doing(folder: Path, site: Site, quota: SiteQuota, request: SiteRequest = REQUEST) -> Result:
    with (
        opened(folder / "jobs.sqlite") as (jobs, queue),
        PageStore(folder / "cache") as store,
        ThreadPoolExecutor(1) as threads,
    ):
        job, _ = jobs.add(request, client="ann", limits=QueueLimits())
        claim = queue.claim("w", lease_s=60)
        assert claim is not None

        async def run(work: Callable[[], Any]) -> Any:
            return work()

        bench = WorkerContext(site, queue, threads, lambda: store, site=quota)
        result = asyncio.run(do(claim, bench, run=run, stopped=threading.Event()))
        said = [event.data["said"] for event in jobs.events(job.id, "ann") if event.kind == "site"]
        if not result.summary["complete"]:
            assert said[-1] == result.summary["reasons"][0].partition(": ")[2], "who follows the job is told"
        queue.finish(claim, result.summary, result.files, pages=result.pages)
        assert (
            remarks_of(jobs.get(job.id, "ann"))[: len(result.summary["remarks"])] == result.summary["remarks"]
        )
        return result


@pytest.fixture(autouse=True)
def no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer for robots.txt and sitemaps, and let no time pass between two pages."""

    async def fetch(*_: object, **__: object) -> Answer:
        return Answer(404, b"")

    async def sleep(_: object, __: float) -> None:
        pass

    monkeypatch.setattr("domsieve.renderer.sampling.robots.fetch", fetch)
    monkeypatch.setattr("domsieve.renderer.sampling.visits.fetch", fetch)
    monkeypatch.setattr("domsieve.renderer._limits.Clock.sleep", sleep)


def is_part(result: Result, limit: str, most: str, *, pages: int) -> None:
    """See that a result says everywhere that it is a part, and why."""
    why = f"This service gives the job of a site {most}, which are used up."
    summary = result.summary
    assert (summary["pages"], summary["ended"], summary["complete"]) == (pages, limit, False)
    assert summary["reasons"] == [f"{limit}: {why}"]
    assert summary["remarks"] == [f"This is a part of the sample. {why}"]
    packed, index = result.files
    told = json.loads(index.data)
    assert (told["ended"], told["complete"], told["reasons"]) == (limit, False, summary["reasons"])
    assert len(told["pages"]) == pages
    with zipfile.ZipFile(io.BytesIO(packed.data)) as archive:
        assert len(archive.namelist()) == pages


def test_a_sample_within_its_limits_is_whole(tmp_path: Path) -> None:
    result = doing(tmp_path, Site(), SiteQuota(pages=10, size_bytes=10 * PAGE_BYTES, time_s=600))
    assert (result.summary["pages"], result.summary["ended"]) == (9, "complete")
    assert (result.summary["complete"], result.summary["reasons"], result.summary["remarks"]) == (
        True,
        [],
        [],
    )
    index = json.loads(result.files[1].data)
    assert (index["complete"], index["reasons"]) == (True, [])


def test_no_more_pages_are_opened_than_a_job_may(tmp_path: Path) -> None:
    site = Site()
    result = doing(tmp_path, site, SiteQuota(pages=4))
    assert len(site.opened) == 4
    # One of them is the address that the site cannot have.
    is_part(result, "pages", "4 pages", pages=3)


def test_pages_that_fail_count_and_those_of_the_cache_do_not(tmp_path: Path) -> None:
    def fail(number: int) -> None:
        if number in {3, 4}:
            raise NavigationError("No answer.")

    site = Site(fail)
    first = doing(tmp_path, site, SiteQuota(pages=5))
    is_part(first, "pages", "5 pages", pages=2)
    assert first.summary["failed"] == 2
    again = Site()
    more = doing(tmp_path, again, SiteQuota(pages=5))
    # One of the five is the address that the site cannot have, which is no page that was used.
    is_part(more, "pages", "5 pages", pages=2 + 4)
    assert not {*again.opened} & {site.opened[0], site.opened[4]}


def test_a_page_that_the_limit_of_bytes_cut_off_is_left_out(tmp_path: Path) -> None:
    site = Site(concurrency=1)
    result = doing(tmp_path, site, SiteQuota(size_bytes=4 * PAGE_BYTES))
    assert len(site.opened) == 5
    is_part(result, "bytes", "400,000 bytes", pages=3)


def test_what_fails_because_of_the_limit_is_not_told_as_a_fault_of_the_page(tmp_path: Path) -> None:
    class Broken(Site):
        async def load(self, asked: Load) -> Rendering:
            if len(self.loads) > 4:
                assert asked.proxy is not None
                asked.proxy.count(PAGE_BYTES * 10)
                raise NavigationError("net::ERR_CONNECTION_RESET")
            return await super().load(asked)

    result = doing(tmp_path, Broken(), SiteQuota(size_bytes=5 * PAGE_BYTES))
    assert result.summary["ended"] == "bytes"
    assert result.summary["failed"] == 0


def test_the_job_ends_in_time_with_what_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[asyncio.Timeout] = []
    timeout = asyncio.timeout

    def noted(seconds: float | None) -> asyncio.Timeout:
        if seconds == 123_456.0:
            limits.append(timeout(None))
            return limits[-1]
        return timeout(seconds)

    def run_out(number: int) -> None:
        if number == 4:
            limits[0].reschedule(asyncio.get_running_loop().time())

    monkeypatch.setattr(asyncio, "timeout", noted)
    result = doing(tmp_path, Site(run_out, concurrency=1), SiteQuota(time_s=123_456.0))
    is_part(result, "time", "123,456 s", pages=2)


@pytest.mark.parametrize(
    ("quota", "most"),
    [
        (SiteQuota(size_bytes=PAGE_BYTES - 1), "99,999 bytes"),
        (SiteQuota(time_s=0.0), "0 s"),
    ],
)
def test_a_job_without_a_page_fails_and_names_the_limit(tmp_path: Path, quota: SiteQuota, most: str) -> None:
    with pytest.raises(PolicyError) as raised:
        doing(tmp_path, Site(), quota)
    problem = problem_of(raised.value)
    assert problem["detail"] == (
        f"There is no page yet. This service gives the job of a site {most}, which are used up."
    )
    assert (problem["fault"], problem["retry"]) == ("policy", False)


def test_a_robots_file_that_uses_up_the_bytes_is_not_told_as_one_that_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fetch(*_: object, egress: Egress, **__: object) -> Answer:
        egress.passed_bytes += 10
        raise NavigationError("It cannot be fetched: reset.")

    monkeypatch.setattr("domsieve.renderer.sampling.robots.fetch", fetch)
    with pytest.raises(PolicyError, match="There is no page yet"):
        doing(tmp_path, Site(), SiteQuota(size_bytes=9))
    with pytest.raises(DomsieveError, match="cannot be fetched"):
        doing(tmp_path, Site(), SiteQuota(size_bytes=10))


def test_a_sitemap_that_was_cut_off_makes_no_whole_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fetch(*_: object, egress: Egress, **__: object) -> Answer:
        egress.passed_bytes += 10 * PAGE_BYTES
        return Answer(404, b"")

    monkeypatch.setattr("domsieve.renderer.sampling.visits.fetch", fetch)
    result = doing(tmp_path, Site(pages=0), SiteQuota(size_bytes=5 * PAGE_BYTES))
    is_part(result, "bytes", "500,000 bytes", pages=1)


def test_what_a_job_takes_is_not_counted_for_others(tmp_path: Path) -> None:
    site = Site()
    for number in range(2):
        result = doing(tmp_path / str(number), site, SiteQuota(size_bytes=11 * PAGE_BYTES))
        assert result.summary["complete"]
    assert site.egress.passed_bytes == 0


def test_a_sample_whose_last_pages_all_failed_is_a_part_too(tmp_path: Path) -> None:
    with PageStore(tmp_path) as store:
        record = store.put(captured(URL).snapshot, site="site.example")
        summary, _ = site_result(REQUEST, SitePages([record], [], "fruitless"), store, threading.Event())
    assert not summary["complete"]
    assert summary["reasons"] == [
        "fruitless: The last pages all failed or repeated others, so no more were opened."
    ]
