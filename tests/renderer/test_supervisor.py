"""One renderer after another, none before it is needed, each ended with its last page."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType
from typing import Any, ClassVar, Self

import pytest

from domsieve.errors import BrowserNotFoundError, DomsieveError, NavigationError
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.network.egress import offline
from domsieve.renderer.network.proxy import Proxy
from domsieve.renderer.page._convert import document_only
from domsieve.renderer.page.capture import STYLE_NAMES
from domsieve.renderer.protocol import Rendering
from domsieve.renderer.renderer import Renderer
from domsieve.renderer.supervisor import RecyclePolicy, Supervisor
from domsieve.snapshot.page import Provenance, Snapshot
from tests.renderer.conftest import Studio

URL = "http://site.example/"


def page(*reasons: str) -> Rendering:
    provenance = Provenance(
        url=URL, final_url=URL, producer="rendered", captured_at="", complete=not reasons, reasons=reasons
    )
    return Rendering(snapshot=Snapshot(**document_only(STYLE_NAMES), provenance=provenance), source=None)


class Fake(Renderer):
    """A renderer that needs no browser."""

    made: "ClassVar[list[Fake]]"
    fails_to_start = 0
    outcome: Rendering | DomsieveError = page()
    memory = 0

    def __init__(self) -> None:
        super().__init__(egress=offline())
        self.made.append(self)
        self.open = False
        self.gate = asyncio.Event()
        self.gate.set()
        self.calls: list[tuple[Any, ...]] = []

    async def __aenter__(self) -> Self:
        if type(self).fails_to_start:
            type(self).fails_to_start -= 1
            raise BrowserNotFoundError("none")
        self.starts += 1
        self.open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.open = False

    @property
    def browser_pid(self) -> int | None:
        return 1

    async def render(
        self,
        url: str,
        *,
        site: str | None = None,
        options: CaptureOptions | None = None,
        budget: Budget | None = None,
        proxy: Proxy | None = None,  # noqa: ARG002
    ) -> Rendering:
        self.calls.append((url, site, options, budget))
        await self.gate.wait()
        assert self.open
        if isinstance(self.outcome, DomsieveError):
            raise self.outcome
        return self.outcome

    async def render_source(
        self,
        url: str,
        source: bytes,  # noqa: ARG002
        *,
        content_type: str = "",  # noqa: ARG002
        site: str | None = None,
    ) -> Rendering:
        return await self.render(url, site=site)


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 (the conditions are many)
        await asyncio.sleep(0)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[Fake]:
    class Own(Fake):
        made: ClassVar[list[Fake]] = []

    monkeypatch.setattr("domsieve.renderer.supervisor.memory_of", lambda _: Own.memory)
    return Own


def supervised(
    fake: type[Fake],
    run: Callable[[Supervisor], Any],
    *,
    recycle: RecyclePolicy | None = None,
    concurrency: int = 2,
    free_memory: Callable[[], int] = lambda: 1 << 40,
) -> Supervisor:
    """Run with a supervisor; afterwards nothing may be open."""

    async def main() -> Supervisor:
        async with Supervisor(
            fake, egress=offline(), concurrency=concurrency, recycle=recycle, free_memory=free_memory
        ) as supervisor:
            await run(supervisor)
        return supervisor

    supervisor = asyncio.run(main())
    assert not any(renderer.open for renderer in fake.made)
    return supervisor


def test_nothing_is_started_before_it_is_needed(fake: type[Fake]) -> None:
    async def run(supervisor: Supervisor) -> None:
        assert not supervisor.is_running

    supervised(fake, run)
    assert fake.made == []


def test_several_at_once_share_one_start(fake: type[Fake]) -> None:
    async def run(supervisor: Supervisor) -> None:
        await asyncio.gather(*(supervisor.render(URL) for _ in range(5)))

    assert supervised(fake, run).served.pages == 5
    assert len(fake.made) == 1


def test_a_start_that_failed_is_tried_again(fake: type[Fake]) -> None:
    fake.fails_to_start = 1

    async def run(supervisor: Supervisor) -> None:
        with pytest.raises(BrowserNotFoundError):
            await supervisor.render(URL)
        await supervisor.render(URL)

    supervised(fake, run)
    assert len(fake.made) == 2


def test_options_go_through(fake: type[Fake]) -> None:
    options, budget = CaptureOptions(scroll=True), Budget(time=timedelta(seconds=1))

    async def run(supervisor: Supervisor) -> None:
        await supervisor.render(URL, site="s", options=options, budget=budget)

    supervised(fake, run)
    assert fake.made[0].calls == [(URL, "s", options, budget)]


def test_places_are_bounded(fake: type[Fake]) -> None:
    async def run(supervisor: Supervisor) -> None:
        await supervisor.render(URL)
        renderer = fake.made[0]
        renderer.gate.clear()
        pages = [asyncio.create_task(supervisor.render(URL)) for _ in range(5)]
        await until(lambda: len(renderer.calls) == 3)
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(renderer.calls) == 3
        renderer.gate.set()
        await asyncio.gather(*pages)

    supervised(fake, run)


def test_while_memory_is_short_one_page_is_open_at_a_time(
    fake: type[Fake], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("domsieve.renderer.supervisor._ROOM_LOOK_S", 0)
    free = 0

    async def run(supervisor: Supervisor) -> None:
        nonlocal free
        await supervisor.render(URL)
        renderer = fake.made[0]
        renderer.gate.clear()
        pages = [asyncio.create_task(supervisor.render(URL)) for _ in range(3)]
        await until(lambda: len(renderer.calls) == 2)
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(renderer.calls) == 2
        free = 1 << 40
        await until(lambda: len(renderer.calls) == 4)
        renderer.gate.set()
        await asyncio.gather(*pages)

    supervised(fake, run, concurrency=3, free_memory=lambda: free)


def test_after_its_pages_another_takes_over_and_the_old_one_is_drained(fake: type[Fake]) -> None:
    async def run(supervisor: Supervisor) -> None:
        await supervisor.render(URL)
        old = fake.made[0]
        old.gate.clear()
        slow = asyncio.create_task(supervisor.render(URL))
        await until(lambda: len(old.calls) == 2)
        await_other = asyncio.create_task(supervisor.render(URL))
        await until(lambda: len(old.calls) == 3)
        await_other.cancel()  # leaves; the limit of three pages is reached
        await asyncio.gather(await_other, return_exceptions=True)
        await supervisor.render(URL)
        assert [renderer.open for renderer in fake.made] == [True, True]
        old.gate.set()
        await slow
        await until(lambda: not old.open)
        assert fake.made[1].open

    supervisor = supervised(fake, run, recycle=RecyclePolicy(pages=3))
    assert supervisor.served.browsers == 2
    assert supervisor.served.pages == 4


def test_one_that_has_grown_is_replaced(fake: type[Fake]) -> None:
    fake.memory = 600 << 20

    async def run(supervisor: Supervisor) -> None:
        await supervisor.render(URL)
        fake.memory = 1 << 20
        await supervisor.render(URL)
        await supervisor.render(URL)

    supervised(fake, run, recycle=RecyclePolicy(megabytes=500))
    assert [len(renderer.calls) for renderer in fake.made] == [1, 2]


def test_crashes_of_browsers_and_pages_count(fake: type[Fake]) -> None:
    async def run(supervisor: Supervisor) -> None:
        await supervisor.render(URL)
        fake.made[0].starts += 1  # it was lost, and the renderer started another
        fake.outcome = page("crash: the page's process ended")
        await supervisor.render(URL)
        fake.outcome = page()
        await supervisor.render(URL)

    supervisor = supervised(fake, run, recycle=RecyclePolicy(crashes=2))
    assert [len(renderer.calls) for renderer in fake.made] == [2, 1]
    assert supervisor.served.crashes == 2


def test_errors_of_pages_are_no_wear(fake: type[Fake]) -> None:
    fake.outcome = NavigationError("none")

    async def run(supervisor: Supervisor) -> None:
        for _ in range(5):
            with pytest.raises(NavigationError):
                await supervisor.render(URL)

    supervised(fake, run, recycle=RecyclePolicy(crashes=1))
    assert len(fake.made) == 1


class TestHealth:
    def test_a_good_answer_holds_for_a_while(self, fake: type[Fake]) -> None:
        async def run(supervisor: Supervisor) -> None:
            assert await supervisor.health()
            assert await supervisor.health()
            assert len(fake.made[0].calls) == 1

        supervised(fake, run)

    def test_a_bad_one_does_not(self, fake: type[Fake]) -> None:
        fake.fails_to_start = 1

        async def run(supervisor: Supervisor) -> None:
            assert not await supervisor.health()
            assert await supervisor.health()

        supervised(fake, run)

    @pytest.mark.parametrize("outcome", [page("time: over"), NavigationError("none")])
    def test_half_a_page_is_no_health(self, fake: type[Fake], outcome: Any) -> None:
        fake.outcome = outcome

        async def run(supervisor: Supervisor) -> None:
            assert not await supervisor.health()

        supervised(fake, run)


@pytest.mark.browser
def test_a_real_browser_is_replaced_and_none_is_left(studio: Studio) -> None:
    studio.server.pages["/p"] = "<!doctype html><p>text"
    pids: list[int | None] = []
    made: list[Renderer] = []

    def make() -> Renderer:
        made.append(Renderer(egress=offline()))
        return made[-1]

    async def run() -> None:
        async with Supervisor(
            make, egress=offline(), concurrency=2, recycle=RecyclePolicy(pages=2)
        ) as supervisor:
            assert await supervisor.health()
            for _ in range(3):
                await supervisor.render(studio.server.url("/p"))
                pids.append(made[0].browser_pid)
            assert supervisor.served.memory_bytes > 0

    studio.runner.run(run())
    assert pids[0] is not None
    assert len(made) == 2
    assert [renderer.browser_pid for renderer in made] == [None, None]
