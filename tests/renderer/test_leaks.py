"""Nothing is left behind: pages, contexts, processes and file descriptors before and after many pages."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from domsieve.errors import PageError
from domsieve.renderer._limits import Limits, Timeouts
from domsieve.renderer.network.egress import offline
from domsieve.renderer.renderer import Renderer
from tests.renderer.conftest import DRIVER, Studio, ask_browser, no_page_is_open

# What a page still does when it is captured is of no account here.
IMPATIENT = Limits(timeouts=Timeouts(cap_s=0.5, interactive_s=0.1, in_flight_s=0.1, still_s=0.01))

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts by /proc, which only Linux has"),
]


@dataclass(frozen=True)
class Count:
    browsers: int
    contexts: int
    processes: int
    descriptors: int


async def count(renderer: Renderer) -> Count:
    contexts = (await ask_browser(renderer, "Target.getBrowserContexts"))["browserContextIds"]
    return Count(
        browsers=renderer.starts,
        contexts=len(contexts),
        processes=len(descendants()),
        descriptors=descriptors(),
    )


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def descendants() -> set[int]:
    """Return the processes below this one that have not ended."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents[int(folder.name)] = int(parent)
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def test_many_pages_leave_nothing_behind(studio: Studio) -> None:
    pages = 150  # three contexts of one site and fifteen of others
    renderer = Renderer(concurrency=2, egress=offline(), driver=DRIVER, limits=IMPATIENT)
    # Every tenth page is of a site of its own, and a few mean harm.
    paths = [
        "/good",
        "/popups",
        "/reload",
        "/download",
        "/image",
        "/good",
        "/few-frames",
        "/good",
        "/redirect",
        "/good",
    ]

    async def render(numbers: range) -> None:
        for number in numbers:
            site = f"site {number}" if number % 10 == 0 else "site"
            with contextlib.suppress(PageError):
                await renderer.render(studio.server.url(paths[number % len(paths)]), site=site)

    studio.server.pages["/few-frames"] = "<p>frames</p>" + "<iframe src=/good></iframe>" * 5
    processes = len(descendants())
    open_before = descriptors()
    studio.runner.run(renderer.__aenter__())
    try:
        studio.runner.run(render(range(10)))
        studio.runner.run(no_page_is_open(renderer))
        before = studio.runner.run(count(renderer))
        studio.runner.run(render(range(10, 10 + pages)))
        studio.runner.run(no_page_is_open(renderer))
        after = studio.runner.run(count(renderer))
    finally:
        studio.runner.run(renderer.__aexit__(None, None, None))
    assert after.browsers == 1
    assert after.contexts <= 5
    assert after.processes <= before.processes + 1  # Chrome keeps a spare renderer now and then
    assert after.descriptors <= before.descriptors + 2
    assert len(descendants()) == processes
    assert descriptors() <= open_before


def test_renderer_that_is_cancelled_leaves_nothing_behind(studio: Studio) -> None:
    async def take_one() -> None:
        async with Renderer(concurrency=3, egress=offline(), driver=DRIVER) as renderer:
            outcomes = renderer.render_many(studio.server.url(path) for path in ("/good", "/silent", "/drip"))
            async for _ in outcomes:
                break
            await outcomes.aclose()

    processes = len(descendants())
    studio.runner.run(take_one())
    assert len(descendants()) == processes
