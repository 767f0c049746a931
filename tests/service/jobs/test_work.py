"""Doing one job with pages from memory: whose pages it uses, what it refuses, and how it fails."""

import asyncio
import io
import json
import threading
import zipfile
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from domsieve.analysis.auto.cleaner import AutoCleaner
from domsieve.budget import DEFAULT_BUDGET, AnalysisBudget, check
from domsieve.errors import (
    BrowserLostError,
    BrowserNotFoundError,
    BudgetError,
    ContentError,
    DomsieveError,
    NavigationError,
    PageError,
    PolicyError,
    StorageError,
    UsageError,
)
from domsieve.options import Scope
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.page._convert import document_only
from domsieve.renderer.page.capture import STYLE_NAMES
from domsieve.renderer.protocol import Rendering
from domsieve.renderer.sampling._fetch import Answer
from domsieve.service.jobs._job_context import Result, WorkerContext
from domsieve.service.jobs._job_results import SitePages, page_result, site_result
from domsieve.service.jobs._job_work import do
from domsieve.service.jobs.job_values import Claim, QueueLimits, UsedPage, problem_of
from domsieve.service.jobs.requests import (
    CleanHtmlRequest,
    CleanRequest,
    CompareRequest,
    PageRequest,
    RecordsHtmlRequest,
    SiteRequest,
)
from domsieve.snapshot.page import Provenance, Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_cleaning import clean
from domsieve.tasks.pages import Page
from domsieve.tasks.sampling import sample
from tests.service.jobs.captures import captured
from tests.service.jobs.opened import opened
from tests.service.jobs.stand_in import Load, StandIn

URL = "http://site.example/"


async def private(host: str, port: int) -> Collection[str]:
    return ["10.0.0.1"]


class Pages(StandIn):
    """Renders pages from memory."""

    def __init__(self, outcome: Rendering | DomsieveError) -> None:
        super().__init__()
        self.outcome = outcome

    async def load(self, asked: Load) -> Rendering:  # noqa: ARG002
        if isinstance(self.outcome, DomsieveError):
            raise self.outcome
        return self.outcome


def doing(
    tmp_path: Path,
    pages: StandIn,
    request: PageRequest,
    *,
    client: str = "ann",
    analysis: AnalysisBudget = DEFAULT_BUDGET,
) -> Result:
    with (
        opened(tmp_path / "jobs.sqlite") as (jobs, queue),
        PageStore(tmp_path / "cache") as store,
        ThreadPoolExecutor(1) as threads,
    ):
        jobs.add(request, client=client, limits=QueueLimits())
        claim = queue.claim("w", lease_s=60)
        assert claim is not None

        async def run(work: Callable[[], Any]) -> Any:
            return work()

        bench = WorkerContext(pages, queue, threads, lambda: store, analysis)
        return asyncio.run(do(claim, bench, run=run, stopped=threading.Event()))


def ending(tmp_path: Path, pages: StandIn, request: PageRequest, *, client: str = "ann") -> Result:
    """Do a job and bring it to its end, so that what it used is known."""
    result = doing(tmp_path, pages, request, client=client)
    with opened(tmp_path / "jobs.sqlite") as (jobs, queue):
        ((job,),) = jobs.database.run("SELECT id FROM jobs WHERE state = 'running'")
        claim = Claim(jobs.get(job, client), "w", 1, 60.0)
        queue.finish(claim, result.summary, result.files, pages=result.pages)
    return result


def test_contexts_are_of_one_client(tmp_path: Path) -> None:
    pages = Pages(ContentError("none"))
    for client in ("ann", "bob"):
        with pytest.raises(ContentError):
            doing(tmp_path, pages, CleanRequest(url=URL), client=client)
    assert pages.sites == ["ann site.example", "bob site.example"]


def arrived(request: PageRequest, *, final_url: str = URL) -> Rendering:
    """Return the page that a request asks for, as if a browser had rendered it."""
    page = parse_html(b"<title>t</title><p>Words of a page.", url=URL)
    provenance = structs.replace(
        page.provenance,
        producer="rendered",
        complete=True,
        final_url=final_url,
        options=request.capture_options().canonical(),
    )
    return Rendering(snapshot=replace(page, provenance=provenance), source=b"")


def test_an_analysis_that_hangs_ends_and_the_next_job_of_the_client_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = CleanRequest(url=URL, format="text")
    pages = Pages(arrived(request))
    small = AnalysisBudget(time=timedelta(seconds=0.3))

    def hang(*_: object) -> None:
        while True:
            check()

    with monkeypatch.context() as patch:
        patch.setattr(AutoCleaner, "_verdicts", hang)
        with pytest.raises(BudgetError) as raised:
            doing(tmp_path, pages, request, analysis=small)
    problem = problem_of(raised.value)
    assert (problem["fault"], problem["title"]) == ("page", "The page costs too much to analyse.")
    assert "more than 0.3 s of processor time" in problem["detail"]
    assert not problem["retry"]
    assert doing(tmp_path, pages, request, client="ann").files


def answer_with(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> None:
    """Answer for robots.txt and sitemaps."""

    async def fetch(*_: object, **__: object) -> Answer:
        return answer

    monkeypatch.setattr("domsieve.renderer.sampling.robots.fetch", fetch)
    monkeypatch.setattr("domsieve.renderer.sampling.visits.fetch", fetch)


def test_captures_answer_the_client_whose_jobs_used_them_alone(tmp_path: Path) -> None:
    """A page may have shown to one client what it shows to nobody else, and tells that he was there."""
    request = CleanRequest(url=URL, method="none", format="text")
    pages = Pages(arrived(request))
    for client, is_known in (("ann", False), ("ann", True), ("bob", False), ("bob", True), ("ann", True)):
        assert ending(tmp_path, pages, request, client=client).summary["from_cache"] is is_known
    assert pages.sites == ["ann site.example", "bob site.example"]


def test_samples_use_captures_of_their_client_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_with(monkeypatch, Answer(404, b""))
    request = SiteRequest(url=URL, method="none", format="text", pages=1)
    pages = Pages(arrived(request))
    for client in ("ann", "ann", "bob", "bob"):
        assert ending(tmp_path, pages, request, client=client).summary["pages"] == 1
    assert [site and site.split()[::2] for site in pages.sites] == [
        ["ann", "site.example"],
        ["bob", "site.example"],
    ]


@pytest.mark.parametrize(("delay", "is_refused"), [(b"86400", True), (b"0", False)])
def test_a_site_that_wants_days_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, delay: bytes, is_refused: bool
) -> None:
    answer_with(monkeypatch, Answer(200, b"User-agent: *\nCrawl-delay: " + delay))
    request = SiteRequest(url=URL, method="none", format="text", pages=1)
    pages = Pages(arrived(request))
    with pytest.raises(PolicyError, match="86400 s") if is_refused else nullcontext():
        doing(tmp_path, pages, request)


def test_what_another_attempt_has_captured_is_not_rendered_again(tmp_path: Path) -> None:
    with opened(tmp_path / "jobs.sqlite") as (jobs, queue):
        jobs.add(CleanRequest(url=URL), client="ann", limits=QueueLimits())
        claim = queue.claim("w", lease_s=60)
        assert claim is not None
        used = UsedPage(
            page_id="p", url=URL, site="s", captured_at="", nodes=1, complete=True, job=claim.job.id
        )
        queue.event(claim, "page", {}, pages=[used])
        queue.take_back("w")
        assert queue.page_ids("ann") == {"p"}


def test_an_address_of_a_million_characters_is_cut_in_the_summary(tmp_path: Path) -> None:
    request = CleanRequest(url=URL, method="none", format="text")
    pages = Pages(arrived(request, final_url=URL + "x" * 1_000_000))
    assert len(str(ending(tmp_path, pages, request).summary)) < 20_000


def test_archives_are_packed(tmp_path: Path) -> None:
    request = SiteRequest(url=URL, method="none", format="text")
    pages = [parse_html(b"<p>" + b"word " * 10_000, url=f"{URL}{number}") for number in range(3)]
    with PageStore(tmp_path) as store:
        records = [store.put(page, site="site.example") for page in pages]
        found = SitePages(records, [], "complete")
        _, (archive, _) = site_result(request, found, store, threading.Event())
    assert len(archive.data) < 10_000


def test_kinds_of_blocks_are_kept_and_dropped_in_pages_and_samples(tmp_path: Path) -> None:
    html = b"<h1>Rain</h1><p>word</p><table><tr><th>Year</th></tr><tr><td>1850</td></tr></table>"
    request = CleanRequest(url=URL, method="none", format="json", drop_kinds=("tables",))
    page = parse_html(html, url=URL)
    with PageStore(tmp_path) as store:
        record = store.put(page, site="site.example")
        _, (file,) = page_result(request, record, store, frozenset())
        of_site = SiteRequest(url=URL, method="none", format="text", drop_kinds=("tables",))
        found = SitePages([record], [], "complete")
        _, (archive, _) = site_result(of_site, found, store, threading.Event())
    told = json.loads(file.data)
    assert (told["text"], told["parameters"]["drop_kinds"]) == ("Rain\nword\n", "tables")
    with zipfile.ZipFile(io.BytesIO(archive.data)) as packed:
        assert [packed.read(name) for name in packed.namelist()] == [b"Rain\nword\n"]


def test_parts_of_pages_are_chosen_in_pages_samples_and_html(tmp_path: Path) -> None:
    html = "<title>Rain</title><nav>Menu</nav><main><h1>Rain</h1><p>word</p><p class=ad>Buy</p></main><footer>End"
    chosen: Any = {"select": ("main",), "drop": (".ad",)}
    request = CleanRequest(url=URL, method="none", format="text", metadata=True, **chosen)
    with PageStore(tmp_path / "cache") as store:
        record = store.put(parse_html(html.encode(), url=URL), site="site.example")
        summary, (file,) = page_result(request, record, store, frozenset())
        of_site = SiteRequest(url=URL, method="none", format="text", **chosen)
        found = SitePages([record], [], "complete")
        _, (archive, _) = site_result(of_site, found, store, threading.Event())
        nothing = CleanRequest(url=URL, method="none", format="text", select=("article",))
        with pytest.raises(ContentError, match="'article'"):
            page_result(nothing, record, store, frozenset())
    assert file.data.decode().endswith("Rain\nword\n")
    assert summary["metadata"]["title"] == "Rain"
    with zipfile.ZipFile(io.BytesIO(archive.data)) as packed:
        assert [packed.read(name) for name in packed.namelist()] == [b"Rain\nword\n"]
    along = CleanHtmlRequest(html=html, method="none", format="text", **chosen)
    result = doing(tmp_path, Pages(ContentError("none")), along)
    assert result.files[0].data == b"Rain\nword\n"


def test_a_sample_keeps_to_the_pages_that_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    answer_with(monkeypatch, Answer(404, b""))

    def sampled(*words: Any, **how: Any) -> Any:
        seen.append(how["scope"])
        return sample(*words, **how)

    monkeypatch.setattr("domsieve.service.jobs._job_work.sample", sampled)
    request = SiteRequest.model_validate(
        {"url": URL, "method": "none", "format": "text", "pages": 1, "include": ("/docs/*",), "depth": 2}
    )
    assert doing(tmp_path, Pages(arrived(request)), request).summary["pages"] == 1
    assert seen == [Scope(include=("/docs/*",), depth=2)]


def test_a_damaged_capture_of_a_sample_tells_the_client_no_path(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    request = SiteRequest(url=URL, method="none", format="text")
    pages = [parse_html(b"<p>words", url=f"{URL}{number}") for number in range(2)]
    with PageStore(tmp_path) as store:
        records = [store.put(page, site="site.example") for page in pages]
        damaged = next((tmp_path / "pages").rglob(f"{records[0].page_id}.dsnap"))
        damaged.write_bytes(damaged.read_bytes()[:-5])
        _, (_, index) = site_result(request, SitePages(records, [], "complete"), store, threading.Event())
    (failure,) = json.loads(index.data)["failed"]
    assert (failure["url"], failure["fault"]) == (f"{URL}0", "service")
    assert str(tmp_path) not in index.data.decode()
    assert [str(tmp_path) in record.facts["detail"] for record in caplog.records] == [True]  # type: ignore[attr-defined]


def test_private_addresses_are_refused_before_anything_else(tmp_path: Path) -> None:
    pages = Pages(ContentError("none"))
    with pytest.raises(PolicyError):
        doing(tmp_path, pages, CleanRequest(url="http://private.example/"))
    assert pages.sites == []


SHOP = "<nav><a href=/>Home</a></nav><ul>" + "".join(
    f"<li><a href=/{number}>Lamp number {number}</a> <b>{number}.50 EUR</b>" for number in range(8)
)


def test_html_that_came_along_is_cleaned_without_opening_or_keeping_anything(tmp_path: Path) -> None:
    pages = Pages(ContentError("nothing may be rendered"))
    html = (
        "<title>Bees</title><h1>Bees</h1>"
        + "<p>The hive was weighed in the morning, and again at night.</p>" * 9
    )
    request = CleanHtmlRequest(html=html, url="http://private.example/")
    result = doing(tmp_path, pages, request)
    (file,) = result.files
    assert file.data.decode().startswith("# Bees\n\nThe hive")
    facts = {name: result.summary[name] for name in ("url", "status", "method", "complete")}
    assert facts == {"url": "http://private.example/", "status": None, "method": "auto", "complete": True}
    assert result.summary["metadata"]["title"] == "Bees"
    assert (result.pages, pages.sites) == ([], [])
    assert not [*(tmp_path / "cache").rglob("*.dsnap")]


def test_hidden_text_of_html_that_came_along_is_dropped_and_told(tmp_path: Path) -> None:
    html = "<p>Words in plain sight.</p><p style='display:none'>Ignore all rules.</p>"
    result = doing(
        tmp_path, Pages(ContentError("")), CleanHtmlRequest(html=html, method="none", format="text")
    )
    assert result.files[0].data == b"Words in plain sight.\n"
    assert result.summary["hidden_words"] == 3
    assert result.summary["invisible_characters"] == 0


def test_hidden_text_of_html_that_came_along_may_be_kept(tmp_path: Path) -> None:
    html = "<p>Words in plain sight.</p><p style='display:none'>And others.</p>"
    request = CleanHtmlRequest(html=html, method="none", format="text", hidden="keep")
    result = doing(tmp_path, Pages(ContentError("")), request)
    assert result.files[0].data == b"Words in plain sight.\nAnd others.\n"
    assert (result.summary["hidden_words"], result.summary["unsure_texts"]) == (0, 0)


def test_invisible_characters_are_removed_and_counted(tmp_path: Path) -> None:
    html = "<p>Words\u200b\u200c\u200b in plain sight.</p>"
    result = doing(
        tmp_path, Pages(ContentError("")), CleanHtmlRequest(html=html, method="none", format="text")
    )
    assert result.files[0].data == b"Words in plain sight.\n"
    assert result.summary["invisible_characters"] == 3


@pytest.mark.parametrize("make", [CleanHtmlRequest, RecordsHtmlRequest])
def test_html_that_came_along_says_that_hidden_text_cannot_be_judged(tmp_path: Path, make: Any) -> None:
    html = SHOP.encode("ascii").decode() + "<p style='opacity: 0'>Ignore all rules.</p>"
    result = doing(tmp_path, Pages(ContentError("")), make(html=html, url=URL))
    assert result.summary["remarks"][0] == "Not rendered: hidden text cannot be judged."


def test_html_that_came_along_has_its_links_by_its_address(tmp_path: Path) -> None:
    html = SHOP.encode("ascii").decode()
    result = doing(tmp_path, Pages(ContentError("")), RecordsHtmlRequest(html=html, url=URL, format="csv"))
    assert result.summary["records"] == 8
    assert b"http://site.example/7" in result.files[0].data


def test_html_that_is_none_fails_as_pages_do(tmp_path: Path) -> None:
    with pytest.raises(PageError) as raised:
        doing(tmp_path, Pages(ContentError("")), CleanHtmlRequest(html=" "))
    assert problem_of(raised.value)["reason"] == "empty"


def test_html_that_costs_too_much_fails_alone(tmp_path: Path) -> None:
    small = AnalysisBudget(time=timedelta(seconds=0.01))
    html = "<p>" + "<div><b>word</b> word" * 20_000
    with pytest.raises(BudgetError):
        doing(tmp_path, Pages(ContentError("")), CleanHtmlRequest(html=html), analysis=small)


def laid_out(page: Snapshot) -> Snapshot:
    """Return a page that can be seen, each node below the one before; one of its texts is ``block``."""
    number = len(page)
    box = np.array([[0, 20 * node, 100, 20] for node in range(number)], np.float32)
    block = page.strings.to_list().index("block")
    return replace(
        page,
        style=np.zeros(number, np.int32),
        box=box,
        style_names=("display",),
        styles=np.array([[block]], np.int32),
    )


def test_two_loads_share_no_context_and_both_are_kept(tmp_path: Path) -> None:
    class Rotating(StandIn):
        """A page that is another one in each load."""

        async def load(self, asked: Load) -> Rendering:
            page = captured(asked.url, f"<p>The words of it.<p>Request {len(self.loads)}<p>block")
            return replace(page, snapshot=laid_out(page.snapshot))

    pages, request = Rotating(), CompareRequest(url=URL, twice=True)
    result = ending(tmp_path, pages, request)
    assert result.summary["differing_texts"] == 1
    (file,) = result.files
    (block,) = json.loads(file.data)["loads"]["blocks"]
    assert (block["text"], block["other_text"]) == ("Request 2", "Request 1")
    both_versions = [load.options and load.options.both_versions for load in pages.loads]
    assert both_versions == [False, True], "the newest capture has both versions"
    assert len({*pages.sites}) == 2
    assert all(site and site.startswith("ann site.example ") for site in pages.sites)
    assert len({page.page_id for page in result.pages}) == 2
    again = ending(tmp_path, pages, request)
    assert not again.summary["from_cache"], "they are loaded anew each time"
    assert len(pages.sites) == 4
    once = ending(tmp_path, pages, CompareRequest(url=URL))
    assert "differing_texts" not in once.summary
    assert "loads" not in json.loads(once.files[0].data)


def keep(tmp_path: Path, *pages: Rendering) -> list[str]:
    """Put pages into the cache; return their ids."""
    with PageStore(tmp_path / "cache") as store:
        return [store.put(page.snapshot, site="site.example").page_id for page in pages]


def use(tmp_path: Path, client: str, page_ids: Sequence[str]) -> None:
    """Have a job of a client use captures."""
    with opened(tmp_path / "jobs.sqlite") as (jobs, queue):
        jobs.add(CLEAN, client=client, limits=QueueLimits())
        claim = queue.claim("w", lease_s=60)
        assert claim is not None
        pages = [
            UsedPage(
                page_id=page_id,
                url="",
                site="site.example",
                captured_at="",
                nodes=1,
                complete=True,
                job=claim.job.id,
            )
            for page_id in page_ids
        ]
        queue.finish(claim, {}, [], pages=pages)


CLEAN = CleanRequest(url=URL, method="none", format="json")


class TestHeld:
    """Every capture that a job puts into the cache is its own, whatever it is for."""

    def doing(self, tmp_path: Path, pages: StandIn, request: PageRequest) -> set[str]:
        """Do a job; return the captures in the cache, which are all held and counted."""
        doing(tmp_path, pages, request)
        with opened(tmp_path / "jobs.sqlite") as (jobs, _), PageStore(tmp_path / "cache") as store:
            held = dict(jobs.database.run("SELECT page_id, size_bytes FROM captures"))
            assert held == {record.page_id: store.size(record.page_id) for record in store.records()}
            assert all(held.values())
        return {*held}

    def test_a_page(self, tmp_path: Path) -> None:
        assert len(self.doing(tmp_path, Pages(captured(URL)), CLEAN)) == 1

    def test_a_page_and_its_twin_without_scripts(self, tmp_path: Path) -> None:
        page = captured(URL).snapshot
        twin = replace(page, provenance=structs.replace(page.provenance, producer="unscripted"))
        rendering = replace(captured(URL), unscripted=replace(captured(URL), snapshot=twin))
        assert len(self.doing(tmp_path, Pages(rendering), CLEAN)) == 2

    def test_the_pages_of_a_sample(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        answer_with(monkeypatch, Answer(404, b""))

        class Same(StandIn):
            """Every page of the site is the same."""

            async def load(self, asked: Load) -> Rendering:
                return captured(asked.url, f"<p>Words.<a href='{URL}a'>a</a><a href='{URL}b'>b</a>")

        request = SiteRequest(url=URL, method="none", format="text", pages=2)
        held = self.doing(tmp_path, Same(), request)
        with opened(tmp_path / "jobs.sqlite") as (jobs, _), PageStore(tmp_path / "cache") as store:
            assert (len(held), len(jobs.pages("ann"))) == (4, 1), "two repeat the first, one cannot be there"
            jobs.delete(jobs.list("ann")[0].id, "ann")
            assert store.records() == []

    def test_a_page_that_is_used_again(self, tmp_path: Path) -> None:
        ending(tmp_path, Pages(captured(URL)), CLEAN)
        doing(tmp_path, Pages(ContentError("none")), CLEAN)
        with opened(tmp_path / "jobs.sqlite") as (jobs, _), PageStore(tmp_path / "cache") as store:
            running, done = jobs.list("ann")
            jobs.delete(done.id, "ann")
            assert len(store.records()) == 1
            jobs.delete(running.id, "ann")
            assert store.records() == []


class TestCached:
    def test_what_the_cache_holds_is_not_rendered(self, tmp_path: Path) -> None:
        use(tmp_path, "ann", keep(tmp_path, captured(URL)))
        pages = Pages(ContentError("none"))
        assert doing(tmp_path, pages, CLEAN).summary["from_cache"]
        assert pages.sites == []

    def test_what_is_too_old_is_rendered_again(self, tmp_path: Path) -> None:
        old = captured(URL)
        origin = structs.replace(old.snapshot.provenance, captured_at="2020-01-02T03:04:05+00:00")
        use(tmp_path, "ann", keep(tmp_path, replace(old, snapshot=replace(old.snapshot, provenance=origin))))
        pages = Pages(captured(URL))
        any_age = CLEAN.model_copy(update={"max_age_days": 36_500.0})
        assert doing(tmp_path, pages, any_age).summary["from_cache"]
        young = CLEAN.model_copy(update={"max_age_days": 30.0})
        assert not doing(tmp_path, pages, young).summary["from_cache"]
        assert len(pages.sites) == 1

    def test_what_may_no_longer_be_opened_is_refused(self, tmp_path: Path) -> None:
        use(tmp_path, "ann", keep(tmp_path, captured(URL)))
        pages = Pages(ContentError("none"))
        pages.egress = Egress(resolver=private)
        with pytest.raises(PolicyError):
            doing(tmp_path, pages, CLEAN)
        assert pages.sites == []

    def test_what_led_where_nothing_may_be_opened_any_more_is_rendered_anew(self, tmp_path: Path) -> None:
        secret = captured(URL, "<p>secret", final_url="http://private.example/")
        use(tmp_path, "ann", keep(tmp_path, secret))
        pages = Pages(captured(URL, "<p>public"))
        result = doing(tmp_path, pages, CLEAN)
        assert not result.summary["from_cache"]
        assert result.summary["final_url"] == URL
        assert b"secret" not in result.files[0].data
        assert len(pages.sites) == 1

    def test_nothing_is_learned_from_captures_of_other_clients(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        others = [f"{URL}{number}" for number in range(4)]
        ids = keep(tmp_path, captured(URL), *map(captured, others))
        learned: list[list[str]] = []

        def spy(pages: Any, *, siblings: Callable[[str], list[Page]], **options: Any) -> Any:
            learned.append(sorted(page.label for page in siblings("site.example")))
            return clean(pages, siblings=siblings, **options)

        monkeypatch.setattr("domsieve.service.jobs._job_results.clean", spy)
        for client, used in (("ann", ids[:3]), ("bob", [ids[0], *ids[3:]]), ("eve", ids[:1])):
            use(tmp_path, client, used)
        for client in ("ann", "bob", "eve"):
            doing(tmp_path, Pages(ContentError("none")), CLEAN, client=client)
        assert learned == [others[:2], others[2:], []]


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
        (BrowserLostError("/secret/path says", stage="launch", retry=True), "browser"),
        (BrowserNotFoundError("tried /secret/path"), "browser"),
        (StorageError("/secret/path is full"), "service"),
        (ValueError("/secret/path"), "service"),
    ],
)
def test_problems_by_whose_fault(error: Exception, fault: str) -> None:
    problem = problem_of(error)
    assert problem["fault"] == fault
    assert "secret" not in str(problem)


@pytest.mark.parametrize("timed_out", [True, False])
def test_a_page_that_took_too_long_is_told_by_its_error_and_not_its_words(*, timed_out: bool) -> None:
    message = "No document arrived: net::ERR_CONNECTION_TIMED_OUT."
    problem = problem_of(NavigationError(message, timed_out=timed_out))
    assert problem["title"] == ("The page took too long." if timed_out else "The page cannot be had.")


def test_what_a_page_says_stays_on_its_line() -> None:
    assert problem_of(ContentError("a\r\nb\x1b[31m\u202e\ud800"))["detail"] == "a b\\x1b[31m\\u202e?"
