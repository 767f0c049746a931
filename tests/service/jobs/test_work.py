"""Doing one job with pages from memory: whose pages it uses, what it refuses, and how it fails."""

import asyncio
import threading
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from renderer import STYLE_NAMES, Budget, CaptureOptions, Egress, Rendering
from renderer._convert import document_only
from service._jobs.problems import problem_of
from service._jobs.requests import CleanRequest, PageRequest
from service._jobs.store import JobStore
from service._jobs.values import QueueLimits
from service._jobs.work import Bench, Result, do
from snapshot import (
    BrowserLostError,
    ContentError,
    DomsieveError,
    PageStore,
    PolicyError,
    Provenance,
    Snapshot,
    StorageError,
    UsageError,
)

URL = "http://site.example/"


async def resolve(host: str, port: int) -> Collection[str]:
    return ["10.0.0.1"] if host.startswith("private") else ["93.184.216.34"]


class Pages:
    """Renders pages from memory."""

    def __init__(self, outcome: Rendering | DomsieveError) -> None:
        self.egress = Egress(resolver=resolve)
        self.concurrency = 1
        self.outcome = outcome
        self.sites: list[str | None] = []

    async def render(
        self,
        url: str,  # noqa: ARG002
        *,
        site: str | None = None,
        options: CaptureOptions | None = None,  # noqa: ARG002
        budget: Budget | None = None,  # noqa: ARG002
    ) -> Rendering:
        self.sites.append(site)
        if isinstance(self.outcome, DomsieveError):
            raise self.outcome
        return self.outcome


def doing(tmp_path: Path, pages: Pages, request: PageRequest, *, client: str = "ann") -> Result:
    with (
        JobStore(tmp_path / "jobs.sqlite") as jobs,
        PageStore(tmp_path / "cache") as store,
        ThreadPoolExecutor(1) as desk,
    ):
        jobs.add(request, client=client, limits=QueueLimits())
        claim = jobs.claim("w", lease_s=60)
        assert claim is not None

        async def run(work: Callable[[], Any]) -> Any:
            return work()

        bench = Bench(pages, jobs, desk, lambda: store)
        return asyncio.run(do(claim, bench, run=run, stopped=threading.Event()))


def test_contexts_are_of_one_client(tmp_path: Path) -> None:
    pages = Pages(ContentError("none"))
    for client in ("ann", "bob"):
        with pytest.raises(ContentError):
            doing(tmp_path, pages, CleanRequest(url=URL), client=client)
    assert pages.sites == ["ann site.example", "bob site.example"]


def test_private_addresses_are_refused_before_anything_else(tmp_path: Path) -> None:
    pages = Pages(ContentError("none"))
    with pytest.raises(PolicyError):
        doing(tmp_path, pages, CleanRequest(url="http://private.example/"))
    assert pages.sites == []


def test_a_page_of_which_nothing_came_is_no_result(tmp_path: Path) -> None:

    reasons = ("time: 1 s are used up while waiting for the server",)
    provenance = Provenance(
        url=URL, final_url=URL, producer="rendered", captured_at="", complete=False, reasons=reasons
    )
    empty = Snapshot(**document_only(STYLE_NAMES), provenance=provenance)
    with pytest.raises(DomsieveError) as raised:
        doing(tmp_path, Pages(Rendering(snapshot=empty, source=None)), CleanRequest(url=URL))
    problem = problem_of(raised.value)
    assert (problem["fault"], problem["title"], problem["retry"]) == ("page", "The page took too long.", True)


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (UsageError("x"), "caller"),
        (PolicyError("x"), "policy"),
        (ContentError("x"), "page"),
        (BrowserLostError("x", retry=True), "browser"),
        (StorageError("/secret/path is full"), "service"),
        (ValueError("/secret/path"), "service"),
    ],
)
def test_problems_by_whose_fault(error: Exception, fault: str) -> None:
    problem = problem_of(error)
    assert problem["fault"] == fault
    assert "secret" not in str(problem)


def test_what_a_page_says_stays_on_its_line() -> None:
    assert problem_of(ContentError("a\r\nb\x1b[31m\u202ec"))["detail"] == "a  b [31m c"
