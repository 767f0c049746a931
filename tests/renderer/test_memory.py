"""Pages that fill the memory lose their own process, and nobody else loses anything."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from domsieve.errors import BrowserLostError
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.browser.resources import MemoryGuard
from domsieve.renderer.network.egress import offline
from domsieve.renderer.network.proxy import Proxy
from domsieve.renderer.page.page_run import PageJob
from domsieve.renderer.protocol import Outcome, Rendering
from domsieve.renderer.renderer import Renderer
from tests.renderer.conftest import DRIVER, LONG, Studio
from tests.renderer.reading import visible_text

MEGABYTE = 1_000_000
BROWSER, ZYGOTE, GPU, PAGE, OTHER = 100, 101, 102, 103, 104
BELOW = {BROWSER: [ZYGOTE, GPU], ZYGOTE: [PAGE, OTHER], GPU: [], PAGE: [], OTHER: []}
KINDS = {ZYGOTE: "zygote", GPU: "gpu-process", PAGE: "renderer", OTHER: "renderer"}


class System:
    """Files that tell of a browser with two pages, and who was killed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.killed: list[int | str] = []
        for pid, children in BELOW.items():
            self._write(f"proc/{pid}/task/{pid}/children", " ".join(map(str, children)))
            # Some processes join their words with spaces when they name themselves.
            self._write(f"proc/{pid}/cmdline", f"/chrome\0--type={KINDS.get(pid, '')} --x=1")
            self.hold(pid, 50)
        self.leave(4_000)

    def hold(self, pid: int, megabytes: int) -> None:
        """Let a process hold so much, a part of it swapped out."""
        half = megabytes * MEGABYTE // 2048
        self._write(
            f"proc/{pid}/status",
            f"Name:\tchrome\nVmRSS:\t{99 * half} kB\nRssAnon:\t{half} kB\nRssFile:\t{99 * half} kB\n"
            f"RssShmem:\t{half // 2} kB\nVmSwap:\t{half - half // 2} kB\n",
        )

    def leave(self, megabytes: int) -> None:
        """Let the machine have so much left."""
        self._write(
            "proc/meminfo",
            f"MemTotal: {4_096_000} kB\nMemAvailable: {megabytes * 1000 - 1} kB\nSwapFree: 1 kB\n",
        )

    def guard(self) -> MemoryGuard:
        return MemoryGuard(
            BROWSER,
            end_browser=lambda _: self.killed.append("browser"),
            kill=lambda pid, _: self.killed.append(pid),
            root=self.root,
        )

    def _write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "ascii")


@pytest.fixture
def system(tmp_path: Path) -> System:
    return System(tmp_path)


def look(guard: MemoryGuard, *budgets: int, times: int = 1) -> None:
    """Look at the browser while pages of these budgets, in MB, are open."""
    guard._budgets[:] = [budget * MEGABYTE for budget in budgets]
    for _ in range(times):
        guard.look(guard.processes())


class TestGuard:
    def test_who_keeps_within_the_budget_is_left_alone(self, system: System) -> None:
        system.hold(PAGE, 290)
        guard = system.guard()
        look(guard, 300)
        assert system.killed == []
        assert guard.verdict() is None

    def test_the_process_of_a_page_is_killed_alone(self, system: System) -> None:
        system.hold(PAGE, 310)
        guard = system.guard()
        look(guard, 300)
        assert system.killed == [PAGE]
        assert str(guard.verdict()) == "memory: the page's process held more than 300 MB"

    def test_it_is_killed_once_although_it_takes_time_to_end(self, system: System) -> None:
        system.hold(PAGE, 310)
        system.leave(1)
        guard = system.guard()
        look(guard, 300, times=3)
        assert system.killed == [PAGE]

    def test_of_several_budgets_the_largest_counts(self, system: System) -> None:
        system.hold(PAGE, 310)
        look(system.guard(), 300, 320)
        assert system.killed == []

    def test_another_process_has_no_page_to_blame(self, system: System) -> None:
        system.hold(GPU, 310)
        guard = system.guard()
        look(guard, 300)
        assert system.killed == [GPU]
        assert guard.verdict() is None

    def test_the_browser_itself_is_ended_whole(self, system: System) -> None:
        system.hold(BROWSER, 310)
        look(system.guard(), 300)
        assert system.killed == ["browser"]

    def test_no_page_may_hold_most_of_the_machine(self, system: System) -> None:
        system.hold(PAGE, 3_000)
        look(system.guard(), 100_000)
        assert system.killed == [PAGE]

    def test_the_largest_makes_room_when_the_machine_has_hardly_any_left(self, system: System) -> None:
        system.hold(PAGE, 900)
        system.hold(OTHER, 600)
        system.leave(300)
        guard = system.guard()
        look(guard, 1_500)
        assert system.killed == [PAGE]
        assert str(guard.verdict()).startswith("memory: the page's process held 9")

    def test_small_ones_are_not_why_a_machine_has_none_left(self, system: System) -> None:
        system.hold(PAGE, 150)
        system.leave(300)
        look(system.guard(), 1_500)
        assert system.killed == []

    def test_nothing_is_looked_at_when_no_page_is_open(self, system: System) -> None:
        guard = system.guard()

        async def run() -> None:
            with guard.page(300 * MEGABYTE):
                pass
            system.hold(PAGE, 310)
            assert len(asyncio.all_tasks()) <= 2
            await asyncio.sleep(0)
            assert len(asyncio.all_tasks()) == 1

        asyncio.run(run())
        assert system.killed == []

    def test_without_proc_nothing_happens(self, tmp_path: Path) -> None:
        killed: list[Any] = []
        guard = MemoryGuard(
            1, end_browser=killed.append, kill=lambda *told: killed.append(told), root=tmp_path
        )
        look(guard, 1)
        assert killed == []


# Of each a good deal more than the budget, should nobody end it.
HOGS = {
    "typed arrays": "const a = []; for (let i = 0; i < 40; i++) a.push(new Float64Array(5e6).fill(1))",
    "bytes": "const a = []; setInterval(() => { if (a.length < 99) a.push(new Uint8Array(2e7).fill(1)) }, 20)",
    "objects": "const a = []; setInterval(() => { for (let i = 0; i < 1e5 && a.length < 3e7; i++) a.push({i}) }, 5)",
    "canvases": "const a = []; setInterval(() => { if (a.length > 99) return;"
                "const c = document.createElement('canvas');"
                "c.width = c.height = 2000; const d = c.getContext('2d', {willReadFrequently: true});"
                "d.fillRect(0, 0, 2000, 2000); d.getImageData(0, 0, 1, 1); a.push(c) }, 10)",
    "memory of WebAssembly": "const a = []; setInterval(() => { if (a.length > 29) return;"
                             "const m = new WebAssembly.Memory({initial: 800}); new Uint8Array(m.buffer).fill(1);"
                             "a.push(m) }, 20)",
    "nodes": "let n = 0; setInterval(() => { for (let i = 0; i < 50 && n < 20000; i++, n++) { const e ="
             "document.createElement('p'); e.title = 'x'.repeat(50000) + n; document.body.append(e) } }, 5)",
    "a worker": "const w = new Worker(URL.createObjectURL(new Blob(['const a = []; for (let i = 0; i < 60; i++) '"
                "+ 'a.push(new Float64Array(3e6).fill(1)); setInterval(() => a, 9)']))); setInterval(() => w, 9)",
}  # fmt: skip
SMALL = Budget(time=LONG, memory_bytes=300 * MEGABYTE, nodes=60_000)
TOLD = "memory: the page's process held more than 300 MB"


@pytest.mark.browser
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("name", HOGS)
def test_a_hog_is_lost_and_nobody_else(studio: Studio, name: str) -> None:
    renderer = studio.renderer()
    studio.server.pages["/hog"] = (
        f"<p>words</p><script>{HOGS[name]};setInterval(() => fetch('/good'), 100)</script>"
    )
    options = CaptureOptions(settle_extra=LONG / 2)

    async def render() -> tuple[Rendering, list[Rendering]]:
        hog = asyncio.create_task(
            renderer.render(studio.server.url("/hog"), site="hog", options=options, budget=SMALL)
        )
        others, good = [], studio.server.url("/good")
        while not hog.done():
            others.append(await renderer.render(good, site="other", budget=SMALL))
        return await hog, others

    starts = renderer.starts
    hog, others = studio.runner.run(render())
    assert hog.snapshot.provenance.reasons[0] == TOLD
    assert not hog.snapshot.provenance.complete
    assert others
    for other in others:
        assert other.snapshot.provenance.complete
        assert visible_text(other.snapshot) == "Good page It behaves."
    assert renderer.starts == starts


@pytest.mark.browser
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_what_the_browser_holds_for_a_page_costs_the_browser_and_no_other_page(studio: Studio) -> None:
    renderer = studio.renderer()
    # One array, and each blob has to be with the browser: its process may hold more before the browser does.
    code = "const b = new Uint8Array(5e6), a = []; "
    code += "(async () => { for (;;) { a.push(new Blob([b])); await a.at(-1).slice(0, 1).text() } })()"
    studio.server.pages["/hog"] = f"<p>words</p><script>{code}</script>"
    options = CaptureOptions(settle_extra=LONG / 2)

    async def render() -> tuple[str, list[Rendering]]:
        hog = asyncio.create_task(
            renderer.render(studio.server.url("/hog"), site="hog", options=options, budget=SMALL)
        )
        others, good = [], studio.server.url("/good")
        while not hog.done():
            others.append(await renderer.render(good, site="other", budget=SMALL))
        with pytest.raises(BrowserLostError) as raised:
            await hog
        return raised.value.message, others

    starts = renderer.starts
    message, others = studio.runner.run(render())
    assert message.endswith("at last it held more than 300 MB.")
    assert all(other.snapshot.provenance.complete for other in others)
    assert renderer.starts <= starts + 2


@pytest.mark.browser
def test_pages_of_manners_stay_far_below(studio: Studio) -> None:
    page = studio.render("/good", budget=SMALL).snapshot
    assert page.provenance.complete


def test_pages_that_lost_their_browser_are_opened_again_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    open_now: list[str] = []
    seen: list[list[str]] = []
    tried: set[str] = set()

    async def attempt(self: Renderer, job: PageJob, _: Proxy | None) -> str:
        url = job.url
        open_now.append(url)
        await asyncio.sleep(0)
        if url in tried:
            seen.append([*open_now])
        tried.add(url)
        await asyncio.sleep(0)
        open_now.remove(url)
        return "held more than it may"

    async def render() -> list[Outcome]:
        renderer = Renderer(concurrency=3, egress=offline(), driver=DRIVER)
        return [outcome async for outcome in renderer.render_many(f"http://a.example/{i}" for i in range(3))]

    monkeypatch.setattr(Renderer, "_attempt", attempt)
    outcomes = asyncio.run(render())
    assert sorted(seen) == [[f"http://a.example/{i}"] for i in range(3)]
    assert [str(error) for _, error in outcomes if not isinstance(error, BrowserLostError)] == []
