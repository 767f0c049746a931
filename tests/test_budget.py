"""One budget for the analysis of a page, from reading it to writing its results, in time and in memory."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import domsieve
from domsieve.analysis.columns.batch import Batch
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.compare.comparison import compare_page
from domsieve.analysis.records.fields import field_tables
from domsieve.analysis.registry import METHODS, MINERS, SITE_METHODS, Method
from domsieve.analysis.report.thresholds import threshold_help
from domsieve.analysis.selection.selection import Selection
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.evidence import write_json
from domsieve.analysis.writers.html import write_html
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.analysis.writers.record_tables import RecordSheet
from domsieve.analysis.writers.text import write_text
from domsieve.budget import (
    DEFAULT_BUDGET,
    AnalysisBudget,
    Gauge,
    Meter,
    budgeted,
    check,
    spending,
    spending_on_site,
)
from domsieve.errors import BudgetError, DomsieveError, UsageError
from domsieve.library.results import CleanResult
from domsieve.renderer.html_parser.parser import parse_html, read_html_file
from domsieve.renderer.sampling._page_links import PageLinks
from domsieve.renderer.sampling.sitemap import parse_sitemap
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.page_cleaning import clean, learn
from domsieve.tasks.page_matrix import vectorize
from domsieve.tasks.pages import Page
from domsieve.tasks.record_mining import mine
from tests.analysis.pages import page as laid_out
from tests.command import page as source_of
from tests.command import result_files, run, write_pages

TEN = AnalysisBudget(time=timedelta(seconds=10), memory_bytes=1_000)


class Hand(Gauge):
    """A gauge that is moved by hand, and each look at it by a step."""

    pause_s = 0.0

    def __init__(self, step_s: float = 0.0) -> None:
        self.seconds = self.bytes = 0.0
        self.step_s = step_s
        self.looks = 0

    def now_s(self) -> float:
        return 0.0

    def spent_s(self) -> float:
        return self.seconds

    def held_bytes(self) -> int:
        self.looks += 1
        self.seconds += self.step_s
        return int(self.bytes)


@pytest.fixture
def hand() -> Iterator[Hand]:
    gauge = Hand()
    with budgeted(TEN, gauge=gauge):
        yield gauge


class TestMeter:
    def test_nothing_happens_within_the_budget(self, hand: Hand) -> None:
        with Meter("a").running("clean"):
            hand.seconds += 10
            hand.bytes += 1_000
            check()

    @pytest.mark.parametrize("is_checked", [True, False])
    def test_work_that_takes_too_long_ends(self, hand: Hand, is_checked: bool) -> None:
        def work() -> None:
            with Meter("https://a.example/").running("clean"):
                hand.seconds += 11
                if is_checked:
                    check()
                    pytest.fail("it went on")

        with pytest.raises(BudgetError) as raised:
            work()
        error = raised.value
        assert (error.resource, error.stage, error.url) == ("time", "clean", "https://a.example/")
        assert error.elapsed == timedelta(seconds=11)
        assert "more than 10 s of processor time" in error.message
        assert not error.retry

    def test_work_that_takes_too_much_memory_ends(self, hand: Hand) -> None:
        hand.bytes = 5_000  # what was there before does not count
        with pytest.raises(BudgetError) as raised, Meter().running("clean"):
            hand.bytes += 1_001
        assert raised.value.resource == "memory"

    def test_memory_that_is_refused_is_the_pages(self, hand: Hand) -> None:  # noqa: ARG002
        with pytest.raises(BudgetError) as raised, Meter().running("clean"):
            raise MemoryError
        assert raised.value.resource == "memory"

    def test_the_steps_of_a_page_add_up_and_what_lies_between_costs_nothing(self, hand: Hand) -> None:
        meter = Meter()
        for _ in range(2):
            with meter.running("clean"):
                hand.seconds += 5
            hand.seconds += 100
        with pytest.raises(BudgetError), meter.running("write"):
            hand.seconds += 1

    def test_a_page_that_has_used_its_budget_begins_nothing(self, hand: Hand) -> None:
        meter = Meter()
        with pytest.raises(BudgetError), meter.running("clean"):
            hand.seconds += 11
        with pytest.raises(BudgetError), meter.running("write"):
            pytest.fail("it began")

    def test_what_is_part_of_the_work_on_a_page_counts_there_alone(self, hand: Hand) -> None:
        inner = Meter()
        with Meter().running("clean"), inner.running("write"):
            hand.seconds += 9
        with inner.running("write"):
            hand.seconds += 9

    def test_a_site_has_a_budget_of_its_own(self, hand: Hand) -> None:
        with Meter().running("clean"):
            hand.seconds += 5
            with spending_on_site("learn", pages=99):
                hand.seconds += 9
            hand.seconds += 5
        with pytest.raises(BudgetError), Meter().running("clean"), spending_on_site("learn", pages=99):
            hand.seconds += 11
        with spending_on_site("learn", pages=200):
            hand.seconds += 29

    def test_a_meter_keeps_the_budget_that_it_was_made_with(self, hand: Hand) -> None:
        meter = Meter()
        with (
            budgeted(AnalysisBudget(time=timedelta(seconds=1)), gauge=Hand()),
            pytest.raises(BudgetError),
            meter.running("write"),
        ):
            hand.seconds += 11

    def test_looks_are_taken_now_and_then(self) -> None:
        class Slow(Hand):
            pause_s = 1.0

            def now_s(self) -> float:
                return self.seconds

        gauge = Slow()
        with budgeted(TEN, gauge=gauge), Meter().running("clean"):
            before = gauge.looks
            for _ in range(100):
                check()
            assert gauge.looks == before
            gauge.seconds += 1
            check()
            assert gauge.looks == before + 1

    def test_work_that_is_cancelled_ends(self, hand: Hand) -> None:
        stopped = threading.Event()
        with budgeted(TEN, gauge=hand, stopped=stopped), Meter().running("clean"):
            check()
            stopped.set()
            with pytest.raises(asyncio.CancelledError):
                check()
            stopped.clear()

    def test_without_a_page_nothing_is_looked_at(self) -> None:
        check()

    def test_budgets_allow_something(self) -> None:
        for wrong in ({"time": timedelta()}, {"memory_bytes": 0}):
            with pytest.raises(UsageError):
                AnalysisBudget(**wrong)

    def test_the_gauge_reads_what_this_thread_and_this_process_use(self) -> None:
        gauge = Gauge()
        before = gauge.spent_s()
        while gauge.spent_s() <= before:
            sum(range(1_000))
        if Path("/proc/self/statm").exists():
            assert gauge.held_bytes() > 10_000_000


def rich(number: int = 0, *, producer: str = "raw") -> Snapshot:
    """Return a page with blocks, a list of records, a table and links."""
    rows = "".join(
        f"<li><a href='/p{number}/{i}'>Title {number} {i}</a> <b>Price: {i}</b> <i>text {number * i}</i></li>"
        for i in range(12)
    )
    cells = "".join(f"<tr><td>{number} {i}</td><td><i>{i}</i>x</td></tr>" for i in range(6))
    html = (
        f"<html><body><div><a href='/'>Home</a></div><div><h1>Heading {number}</h1><p>Some words {number}.</p>"
        f"<p>More words, <b>bold {number}</b>.</p></div><ul>{rows}</ul><table>{cells}</table></body></html>"
    )
    return laid_out(html, producer=producer, url=f"https://example.org/{number}")  # type: ignore[arg-type]


def _site() -> list[Snapshot]:
    return [rich(number) for number in range(6)]


def _records() -> list[RecordSheet]:
    page = rich(producer="rendered")
    return [RecordSheet.of(page, MINERS["iepad"].make().transform(page))]


def _verdict(page: Snapshot) -> Verdict:
    return METHODS["none"].make().transform(page)


def _fitted(name: str) -> Callable[[], object]:
    def work() -> object:
        return SITE_METHODS[name].make().fit(_site()).transform(rich(1))  # type: ignore[index]

    return work


WORK: dict[str, Callable[[], object]] = {
    **{f"method {name}": _fitted(name) for name in SITE_METHODS},
    **{
        f"method {name}": lambda entry=entry: entry.make().transform(rich())  # type: ignore[misc]
        for name, entry in METHODS.items()
        if name not in SITE_METHODS
    },
    **{
        f"miner {name}": lambda entry=entry: entry.make().transform(rich(producer="rendered"))  # type: ignore[misc]
        for name, entry in MINERS.items()
    },
    **{
        f"writer {write.__name__}": lambda write=write: write(rich(), _verdict(rich()))  # type: ignore[misc]
        for write in (write_text, write_markdown, write_html, write_json)
    },
    "sst as published": lambda: SiteStyleTree.of_mode("paper").fit(_site()).transform(rich(1)),
    "fields": lambda: field_tables(rich(), MINERS["iepad"].make().transform(rich())),
    "blocks": lambda: page_blocks(rich()),
    "comparison": lambda: compare_page(
        rich(), rich(1), raw_verdict=_verdict(rich()), verdict=_verdict(rich(1)), data=[]
    ),
    "thresholds": lambda: threshold_help(SiteStyleTree().fit(_site()), _site()),
    "source": lambda: parse_html(source_of(1).encode(), url=""),
    "selection": lambda: Selection(("p",), ("b",)).of(rich()),
    "links": lambda: PageLinks.of(rich()),
    "sitemap": lambda: parse_sitemap(b"<urlset><url><loc>https://a.example/</loc></url></urlset>"),
}


@pytest.mark.parametrize("name", WORK)
def test_all_work_on_pages_runs_by_a_meter(name: str) -> None:
    gauge = Hand(step_s=11)
    with budgeted(TEN, gauge=gauge), pytest.raises(BudgetError):
        WORK[name]()


@pytest.mark.parametrize("name", [name for name in WORK if name.split()[0] in {"method", "miner", "writer"}])
def test_looks_change_no_result(name: str) -> None:
    with budgeted(None, gauge=Hand()):
        assert repr(WORK[name]()) == repr(WORK[name]())


# Look between their steps only, since each takes time linear in the page and no loop of Python.
_IN_ONE_GO = {"method none", "writer write_text"}


@pytest.mark.parametrize("name", [name for name in WORK if name not in _IN_ONE_GO])
def test_long_work_looks_while_it_goes_on(name: str) -> None:
    gauge = Hand()
    with budgeted(None, gauge=gauge), spending("test"):
        begun = gauge.looks
        WORK[name]()
        assert gauge.looks > begun + 1


def pages_of(hand: Hand, costs: dict[int, float], count: int = 6) -> list[Page]:
    """Return pages of one site; reading the one of a number takes some seconds."""

    def load(number: int) -> Snapshot:
        hand.seconds += costs.get(number, 0.0)
        return rich(number)

    return [
        Page(f"p{number}", f"p{number}", "example.org", lambda number=number: load(number))  # type: ignore[misc]
        for number in range(count)
    ]


class TestBatches:
    @pytest.mark.parametrize("method", [*METHODS])
    def test_cleaning_goes_on_after_a_page_that_costs_too_much(self, hand: Hand, method: Method) -> None:
        results = dict(clean(pages_of(hand, {2: 11}), method=method, siblings=lambda _: []))
        failed = {page.label for page, result in results.items() if isinstance(result, DomsieveError)}
        assert failed == {"p2"}
        error = next(result for page, result in results.items() if page.label == "p2")
        assert isinstance(error, BudgetError)

    def test_mining_goes_on(self, hand: Hand) -> None:
        results = dict(mine(pages_of(hand, {0: 11})))
        assert {page.label for page, found in results.items() if isinstance(found, BudgetError)} == {"p0"}

    def test_learning_goes_on_and_tells_of_the_page(self, hand: Hand) -> None:
        told: list[str] = []
        model = learn(pages_of(hand, {1: 11}), failed=lambda page, _: told.append(page.label))
        assert (model.learned, told) == (5, ["p1"])

    def test_weighing_goes_on_and_tells_of_the_page(self, hand: Hand) -> None:
        told: list[str] = []
        weights = vectorize(pages_of(hand, {1: 11}), failed=lambda page, _: told.append(page.label))
        assert weights.pages == ("p0", "p2", "p3", "p4", "p5")
        assert told == ["p1"]

    def test_many_pages_cost_more_than_one_may(self, hand: Hand) -> None:
        results = [*clean(pages_of(hand, dict.fromkeys(range(6), 4.0)), method="sst", siblings=lambda _: [])]
        assert not any(isinstance(result, DomsieveError) for _, result in results)
        assert hand.seconds > 10

    def test_of_a_batch_that_costs_too_much_only_the_costly_page_is_left_out(
        self, hand: Hand, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        count = SiteStyleTree._count

        def costly(model: SiteStyleTree, batch: Batch) -> object:
            if any(page.provenance.url.endswith("/3") for page in batch.pages):
                hand.seconds += 11
                check()
            return count(model, batch)

        others = [page for page in pages_of(hand, {}) if page.label != "p3"]
        plain = learn(others, failed=lambda page, _: pytest.fail(page.label))
        monkeypatch.setattr(SiteStyleTree, "_count", costly)
        told: list[str] = []
        model = learn(pages_of(hand, {}), failed=lambda page, _: told.append(page.label))
        assert told == ["p3"]
        assert model.facts() == plain.facts()
        assert model.transform(rich(1)).score.tobytes() == plain.transform(rich(1)).score.tobytes()


LONG = "<p>Some words of a long page.</p>" * 5_000


def _greedy(read: Callable[..., Snapshot]) -> Callable[..., Snapshot]:
    """Return what reads pages, but for one that needs more memory than there is."""

    def greedy(path: Path, **words: object) -> Snapshot:
        if path.name == "p2.html":
            raise MemoryError
        return read(path, **words)

    return greedy


class TestCommandLine:
    def test_a_page_that_costs_too_much_fails_and_says_what_to_do(self, tmp_path: Path) -> None:
        file = tmp_path / "long.html"
        file.write_text(LONG)
        done = run("clean", file, "--analysis-timeout", "0.001", cache=tmp_path / "cache")
        assert done.exit_code == 3
        assert "took more than 0.001 s of processor time" in done.stderr
        assert "--analysis-timeout allows more." in done.stderr
        assert not done.stdout

    def test_other_pages_are_done(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("domsieve.tasks.pages.read_html_file", _greedy(read_html_file))
        write_pages(tmp_path / "site", 3)
        words = ("--method", "none", "--output-dir", tmp_path / "out")
        done = run("clean", tmp_path / "site", *words, cache=tmp_path / "cache")
        assert done.exit_code == 1
        assert "p2.html" in done.stderr
        assert "memory" in done.stderr
        assert "--analysis-megabytes allows more." in done.stderr
        assert "1 of 3 pages failed." in done.stderr
        assert result_files(tmp_path / "out") == ["p1.txt", "p3.txt"]

    @pytest.mark.parametrize("seconds", ["0", "-1", "nan", "1e9"])
    def test_times_that_cannot_be(self, seconds: str, tmp_path: Path) -> None:
        done = run("clean", tmp_path, f"--analysis-timeout={seconds}", cache=tmp_path / "cache")
        assert done.exit_code == 2
        assert "--analysis-timeout" in done.stderr

    def test_the_usual_budget_is_that_of_the_library(self) -> None:
        from domsieve.commands.capture_options import analysis_budget, capture_options

        defaults = capture_options.__kwdefaults__ or {}
        assert analysis_budget(defaults["analysis_timeout"], defaults["analysis_megabytes"]) == DEFAULT_BUDGET


class TestLibrary:
    SMALL = AnalysisBudget(time=timedelta(milliseconds=1))

    def test_the_only_page_raises(self) -> None:
        for call in (domsieve.clean, domsieve.records):
            with pytest.raises(domsieve.BudgetError):
                call(LONG, network=domsieve.NetworkOptions(analysis_budget=self.SMALL))

    def test_of_several_pages_one_fails_alone(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("domsieve.library.inputs.read_html_file", _greedy(read_html_file))
        results = domsieve.clean(write_pages(tmp_path, 3))
        assert [type(result.error) for result in results] == [type(None), BudgetError, type(None)]

    @pytest.mark.parametrize("call", [domsieve.clean, domsieve.records])
    def test_an_analysis_that_hangs_ends(
        self, call: Callable[..., object], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def hang(*_: object) -> None:
            while True:
                check()

        monkeypatch.setattr(METHODS["auto"].estimator, "_verdicts", hang)
        monkeypatch.setattr(MINERS["wobm"].estimator, "_result", hang)
        with pytest.raises(BudgetError):
            call(
                LONG,
                network=domsieve.NetworkOptions(analysis_budget=AnalysisBudget(time=timedelta(seconds=0.3))),
            )

    def test_what_is_asked_for_later_costs_the_same_page(self, hand: Hand) -> None:
        result = CleanResult("", (rich(), _verdict(rich())), meter=Meter())
        assert result.text
        hand.step_s = 11
        for name in ("markdown", "html", "blocks"):
            with pytest.raises(BudgetError):
                getattr(result, name)

    def test_it_is_checked(self) -> None:
        with pytest.raises(domsieve.UsageError) as raised:
            domsieve.NetworkOptions(analysis_budget=5)  # type: ignore[arg-type]
        assert raised.value.parameter == "analysis_budget"
