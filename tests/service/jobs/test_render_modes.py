"""Jobs that do not render all pages: what they say, whose evidence counts, and the guard and limits of fetches."""

import asyncio
import gzip
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from domsieve.analysis.browser_need.site_evidence import COMPARED, url_rank
from domsieve.errors import ContentError, DomsieveError, PolicyError
from domsieve.renderer.network.addresses import HostRules
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.protocol import Rendering
from domsieve.service.jobs._job_context import Result, WorkerContext
from domsieve.service.jobs._job_work import do
from domsieve.service.jobs._page_loads import LoadCounts
from domsieve.service.jobs.job_values import QueueLimits, SiteQuota, problem_of
from domsieve.service.jobs.requests import (
    CleanHtmlRequest,
    CleanRequest,
    CompareRequest,
    PageRequest,
    RecordsRequest,
    ReportRequest,
    SiteRequest,
)
from domsieve.service.web.metrics import Figures, Traffic
from domsieve.snapshot.store import PageStore
from domsieve.tasks.render_modes import load_reason
from tests.renderer.bad_server import Server, send, serving
from tests.service.jobs.opened import opened
from tests.service.jobs.stand_in import Load, StandIn
from tests.service.test_adaptive import Site, article, docs

NOT_JUDGED = "not rendered: hidden text cannot be judged"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


class Browsers(StandIn):
    """Renders the pages of a site on loopback from memory."""

    def __init__(self, site: Site, egress: Egress | None = None) -> None:
        super().__init__()
        self.site = site
        self.egress = egress or Egress(named=[("127.0.0.1", site.server.port)])

    async def load(self, asked: Load) -> Rendering:
        await self.egress.decide_url(asked.url)
        if "no-such-page" in asked.url:
            raise ContentError("There is none.", reason="status")
        return await self.site.render(asked.url)


class Service:
    """Does jobs one after another with one store."""

    def __init__(self, folder: Path, browsers: Browsers, quota: SiteQuota | None = None) -> None:
        self.folder, self.browsers, self.quota = folder, browsers, quota or SiteQuota()
        self.loads = LoadCounts()

    def do(self, request: PageRequest, *, client: str = "ann") -> Result:
        with (
            opened(self.folder / "jobs.sqlite") as (jobs, queue),
            PageStore(self.folder / "cache") as store,
            ThreadPoolExecutor(1) as threads,
        ):
            jobs.add(request, client=client, limits=QueueLimits())
            claim = queue.claim("w", lease_s=60)
            assert claim is not None

            async def run(work: Any) -> Any:
                return work()

            bench = WorkerContext(
                self.browsers, queue, threads, lambda: store, site=self.quota, loads=self.loads
            )
            try:
                result = asyncio.run(do(claim, bench, run=run, stopped=threading.Event()))
            except DomsieveError as error:
                queue.fail(claim, problem_of(error))
                raise
            queue.finish(claim, result.summary, result.files, pages=result.pages)
            return result

    def clean(self, path: str, *, client: str = "ann", **how: Any) -> dict[str, Any]:
        url = self.browsers.site.server.url(path)
        return self.do(CleanRequest(url=url, **how), client=client).summary


@pytest.fixture
def service(server: Server, tmp_path: Path) -> Service:
    return Service(tmp_path, Browsers(Site(server, docs())))


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    async def sleep(_: object, __: float) -> None:
        pass

    monkeypatch.setattr("domsieve.renderer._limits.Clock.sleep", sleep)


class TestRequests:
    @pytest.mark.parametrize(
        ("how", "named"),
        [
            ({"scroll": True}, "scroll"),
            ({"click": (".more",)}, "click"),
            ({"wait_for": "main"}, "wait_for"),
            ({"viewport_height": 801}, "a window of another size"),
            ({"method": "sst"}, "this method"),
            ({"params": {"style": "layout"}}, "this style"),
            ({"hidden": "pixels"}, "this choice about hidden text"),
        ],
    )
    def test_what_needs_a_browser_is_refused_with_never_and_renders_with_auto(
        self, how: dict[str, Any], named: str
    ) -> None:
        with pytest.raises(ValidationError, match=f"{named} needs a browser, and render is never"):
            CleanRequest(url="http://site.example/", render="never", **how)
        auto = CleanRequest(url="http://site.example/", render="auto", **how)
        assert (auto.capture_options().render, auto.needing_browser()) == ("always", named)

    def test_hidden_text_is_kept_of_rendered_pages_unless_none_is_rendered(self) -> None:
        def mode(render: Any) -> str:
            request = CleanRequest(url="http://site.example/", render=render, hidden="keep")
            return request.capture_options().render

        assert [mode(render) for render in ("always", "auto", "never")] == ["always", "always", "never"]

    def test_all_pages_are_rendered_by_default(self) -> None:
        for model in (CleanRequest, RecordsRequest, SiteRequest):
            assert model(url="http://site.example/").capture_options().render == "always"

    @pytest.mark.parametrize("model", [CompareRequest, ReportRequest])
    def test_comparisons_and_reports_have_no_choice(self, model: type[PageRequest]) -> None:
        with pytest.raises(ValidationError, match="render"):
            model(url="http://site.example/", render="always")  # type: ignore[call-arg]
        assert model(url="http://site.example/").capture_options().render == "always"


class TestOnePage:
    def test_later_pages_are_fetched_where_earlier_ones_needed_no_browser(self, service: Service) -> None:
        results = [service.clean(f"/docs/{n}", render="auto") for n in range(12)]
        assert [one["rendered"] for one in results[:3]] == [True] * 3
        assert "compared: 1 of 3" in results[0]["reason"]
        fetched = [one for one in results if not one["rendered"]]
        assert len(fetched) > 5
        assert all(one["reason"].startswith("static: ") for one in fetched)
        assert all(NOT_JUDGED.capitalize() + "." not in one["remarks"] for one in fetched)
        assert len(service.browsers.loads) == 12 - len(fetched)
        counts = {(how, reason): number for how, reason, number in service.loads.rows()}
        assert counts["fetched", "static"] == len(fetched)
        assert counts["rendered", "compared"] == 3
        assert sum(counts.values()) == 12

    def test_pages_of_other_clients_prove_nothing(self, service: Service) -> None:
        for n in range(6):
            service.clean(f"/docs/{n}", render="auto")
        assert "compared: 1 of 3" in service.clean("/docs/7", render="auto", client="bob")["reason"]

    def test_a_fetched_page_serves_no_job_that_renders(self, service: Service) -> None:
        first = service.clean("/docs/1", render="never")
        assert service.clean("/docs/1", render="never")["from_cache"]
        again = service.clean("/docs/1")
        assert (first["rendered"], again["rendered"], again["from_cache"]) == (False, True, False)
        assert again["reason"] is None

    def test_never_renders_nothing_and_says_what_that_means(self, service: Service) -> None:
        result = service.clean("/docs/1", render="never", format="text")
        assert (result["rendered"], result["reason"]) == (False, NOT_JUDGED)
        assert "Not rendered: hidden text cannot be judged." in result["remarks"]
        assert not service.browsers.loads
        assert service.loads.rows() == [("fetched", "never", 1)]

    def test_records_are_found_in_fetched_pages(self, service: Service) -> None:
        url = service.browsers.site.server.url("/docs/1")
        summary = service.do(RecordsRequest(url=url, render="never")).summary
        assert not summary["rendered"]
        assert not service.browsers.loads

    def test_what_needs_a_browser_is_rendered_with_auto_and_says_so(self, service: Service) -> None:
        for n in range(6):
            service.clean(f"/docs/{n}", render="auto")
        result = service.clean("/docs/7", render="auto", scroll=True)
        assert result["rendered"]
        assert "Rendered, because scroll needs a browser." in result["remarks"]

    def test_html_in_the_request_was_never_rendered(self, service: Service) -> None:
        summary = service.do(CleanHtmlRequest(html=article(1))).summary
        assert (summary["rendered"], summary["reason"]) == (False, NOT_JUDGED)
        assert summary["remarks"].count("Not rendered: hidden text cannot be judged.") == 1


@pytest.mark.parametrize("render", ["auto", "never"])
class TestGuard:
    """A fetch of the service is refused or cut as a navigation is."""

    def refused(self, service: Service, path: str, render: str) -> dict[str, Any]:
        with pytest.raises(PolicyError) as caught:
            service.clean(path, render=render)
        return problem_of(caught.value)

    def test_a_private_address(self, server: Server, tmp_path: Path, render: str) -> None:
        site = Site(server, docs())
        problem = self.refused(Service(tmp_path, Browsers(site, Egress())), "/docs/1", render)
        assert problem["fault"] == "policy"
        assert not site.asked

    def test_a_denied_host(self, server: Server, tmp_path: Path, render: str) -> None:
        site = Site(server, docs())
        egress = Egress(allow_private=True, rules=HostRules.of(("127.0.0.1",), ()))
        problem = self.refused(Service(tmp_path, Browsers(site, egress)), "/docs/1", render)
        assert problem["fault"] == "policy"
        assert not site.asked

    @pytest.mark.parametrize("to", ["http://10.0.0.1/", "http://[::ffff:169.254.169.254]/"])
    def test_a_redirect_to_a_private_address(
        self, server: Server, tmp_path: Path, to: str, render: str
    ) -> None:
        server.pages["/away"] = lambda handler: send(handler, b"", status=302, headers={"Location": to})
        # Rendering it would end in the same error; these pages cannot be rendered at all.
        site = Site(server, docs())
        site.sources["/away"] = ""
        service = Service(tmp_path, Refusing(site))
        problem = self.refused(service, "/away", render)
        assert problem["fault"] == "policy"
        assert "only public addresses" in problem["detail"]

    def test_a_redirect_to_another_port_of_this_machine(
        self, server: Server, tmp_path: Path, render: str
    ) -> None:
        with serving() as other:
            inside = Site(other, docs())
            to = other.url("/docs/1")
            server.pages["/away"] = lambda handler: send(handler, b"", status=302, headers={"Location": to})
            self.refused(Service(tmp_path, Refusing(Site(server, docs()))), "/away", render)
            assert not inside.asked


class Refusing(Browsers):
    """Browsers that the guard stops at a redirect."""

    async def load(self, asked: Load) -> Rendering:  # noqa: ARG002
        raise PolicyError("10.0.0.1 is private, and only public addresses are opened.", reason="private")


class TestLimits:
    def test_a_bomb_is_cut(self, server: Server, tmp_path: Path) -> None:
        bomb = gzip.compress(b"<p>Words of a page.</p>" + b" " * 40_000_000)
        server.pages["/bomb"] = lambda handler: send(handler, bomb, headers={"Content-Encoding": "gzip"})
        result = Service(tmp_path, Browsers(Site(server, docs()))).clean("/bomb", render="never")
        assert not result["complete"]
        assert "bytes: " in result["reasons"][0]

    def test_a_slow_body_is_cut(self, server: Server, tmp_path: Path) -> None:
        result = Service(tmp_path, Browsers(Site(server, docs()))).clean(
            "/drip", render="never", time_s=1, method=None
        )
        assert not result["complete"]
        assert result["reasons"][0].startswith("time: ")

    def test_the_bytes_of_fetches_count_for_the_quota_of_a_site(self, server: Server, tmp_path: Path) -> None:
        links = "".join(f"<a href=/docs/{n}>Bees of part {n}</a>" for n in range(40))
        site = Site(server, {"/": article(0, more=links), **docs(more="<!-- " + 20_000 * "x" + " -->")})
        service = Service(tmp_path, Browsers(site), SiteQuota(size_bytes=100_000))
        summary = service.do(SiteRequest(url=server.url("/"), render="never", pages=30)).summary
        assert (summary["ended"], summary["complete"]) == ("bytes", False)
        assert summary["pages"] < 6


class TestSites:
    def crawled(self, service: Service, *, pages: int = 30, **how: Any) -> dict[str, Any]:
        url = service.browsers.site.server.url("/")
        seed = service.browsers.site.quiet_seed()
        result = service.do(SiteRequest(url=url, render="auto", pages=pages, seed=seed, **how))
        found: dict[str, Any] = json.loads(result.files[1].data)
        return found

    def site(self, server: Server) -> Site:
        links = "".join(f"<a href=/docs/{n}>Bees of part {n}</a>" for n in range(40))
        return Site(server, {"/": article(0, more=links), **docs()})

    def test_each_page_says_whether_and_why_it_was_rendered(self, server: Server, tmp_path: Path) -> None:
        service = Service(tmp_path, Browsers(self.site(server)))
        pages = self.crawled(service)["pages"]
        assert len(pages) == 30
        fetched = [page for page in pages if not page["rendered"]]
        assert len(fetched) > 15, [page["reason"] for page in pages]
        assert all(page["reason"] for page in pages)
        counts = {(how, reason): number for how, reason, number in service.loads.rows()}
        assert counts["fetched", "static"] >= len(fetched)

    def turning(self, server: Server) -> Site:
        """Return a site whose pages need a browser once three were compared, although their sources do not say so."""
        site = self.site(server)
        site.drawn |= {
            f"/docs/{n}": article(n, more=f"<p>{'Words that a script has added. ' * 30}</p>")
            for n in range(40)
        }
        drawn = dict(site.drawn)
        site.drawn.clear()

        async def render(url: str, *, site: str | None = None, of: Site = site) -> Rendering:
            if sum(path.startswith("/docs/") for path in of.rendered) >= COMPARED:
                of.drawn |= drawn
            return await Site.render(of, url)

        site.render = render  # type: ignore[method-assign]
        return site

    def test_pages_that_a_later_one_makes_doubtful_are_rendered_after_all(
        self, server: Server, tmp_path: Path
    ) -> None:
        service = Service(tmp_path, Browsers(self.turning(server)))
        index = self.crawled(service, pages=35)
        assert len(index["pages"]) == 35
        again = [page for page in index["pages"] if str(page["reason"]).startswith("another page of ")]
        assert again
        assert all(page["rendered"] for page in again)
        assert ("rendered", "doubtful", len(again)) in service.loads.rows()

    def test_a_part_of_a_sample_has_no_doubtful_pages(self, server: Server, tmp_path: Path) -> None:
        full = Service(tmp_path / "full", Browsers(self.turning(server)))
        doubtful = {
            page["url"]
            for page in self.crawled(full, pages=35)["pages"]
            if str(page["reason"]).startswith("another page of ")
        }
        cut = Service(tmp_path / "cut", Browsers(self.turning(server)), SiteQuota(pages=34))
        index = self.crawled(cut, pages=35)
        assert index["ended"] == "pages"
        left = {page["url"] for page in index["pages"]}
        assert doubtful
        assert not doubtful & left
        assert doubtful <= {page["url"] for page in index["failed"]}


class TestMetrics:
    def test_pages_are_counted_by_how_and_why_they_were_loaded(self) -> None:
        loads = {("fetched", "static"): 5, ("rendered", "compared"): 3}
        text = Traffic(lambda: Figures(loads=loads)).text().decode()
        assert 'domsieve_pages_loaded_total{how="fetched",reason="static"} 5.0' in text
        assert 'domsieve_pages_loaded_total{how="rendered",reason="compared"} 3.0' in text

    def test_every_reason_has_a_word(self, server: Server) -> None:
        pages = docs(40)
        pages |= {f"/app/{n}": "<div id=root></div><script src=/a.js></script>" for n in range(6)}
        pages |= {"/docs/new": article(50, head="<style>p { color: red }</style>")}
        site = Site(server, pages, drawn={f"/app/{n}": article(n) for n in range(6)})
        urls = {path: server.url(path) for path in pages}
        # The last page to be decided meets a site that is known.
        seed = next(
            seed
            for seed in range(10_000)
            if max(urls, key=lambda path: url_rank(urls[path], seed=seed)) == "/docs/new"
        )
        words = {
            load_reason(one.snapshot) for one in site.load(seed=seed).values() if isinstance(one, Rendering)
        }
        assert words >= {"compared", "static", "audited", "signs", "drawn", "styles"}
