"""Pages that mean harm end within their deadline, say why, and leave the browser in working order."""

import asyncio
import os
import re
import signal
import threading
from collections.abc import Iterable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler

import pytest

from domsieve.errors import ContentError, NavigationError, PolicyError
from domsieve.options import Budget
from domsieve.renderer.protocol import Rendering
from domsieve.snapshot.page import Snapshot
from tests.renderer.bad_server import send
from tests.renderer.conftest import BUDGET, LONG, Studio, ask_browser, no_page_is_open
from tests.renderer.reading import visible_text

pytestmark = pytest.mark.browser


def render_hostile(
    studio: Studio, path: str, budget: Budget = BUDGET, *, until: Iterable[str] = ()
) -> Snapshot:
    """Return the incomplete page, after a good page of the same run was rendered."""
    page = studio.render(path, budget=budget, until=until).snapshot
    assert not page.provenance.complete
    good = studio.render("/good", budget=budget)
    assert good.snapshot.provenance.complete
    assert visible_text(good.snapshot) == "Good page It behaves."
    return page


def reason(page: Snapshot) -> str:
    return page.provenance.reasons[0].partition(":")[0]


def test_pages_without_end_are_stopped_side_by_side(studio: Studio) -> None:
    kept = {
        "/endless-script": "before",
        "/endless-timer": "before",
        "/endless-alert": "before",
        "/drip": "drip . .",
        "/silent": "",
    }
    outcomes = studio.render_all(kept, until=["/reached"] * 4 + ["/silent"])
    for path, text in kept.items():
        outcome = outcomes[path]
        assert isinstance(outcome, Rendering)
        assert reason(outcome.snapshot) == "time"
        assert visible_text(outcome.snapshot).startswith(text)
    assert studio.render("/good").snapshot.provenance.complete


def test_server_that_never_answers_gives_a_lone_document(studio: Studio) -> None:
    page = render_hostile(studio, "/silent", until=["/silent"])
    assert page.provenance.reasons == (f"time: {LONG.seconds} s are used up while waiting for the server",)
    assert len(page) == 1
    assert page.provenance.status is None


def test_endless_redirect(studio: Studio) -> None:
    assert reason(render_hostile(studio, "/redirect")) == "redirects"


def test_half_a_million_nodes(studio: Studio) -> None:
    assert reason(render_hostile(studio, "/many-nodes")) == "nodes"


def test_nodes_over_the_budget_are_cut_in_reading_order(studio: Studio) -> None:
    page = studio.show(
        "<p>first</p><script>document.body.insertAdjacentHTML('beforeend', '<p>x</p>'.repeat(2000))</script>",
        budget=(small := replace(BUDGET, nodes=1000)),
    ).snapshot
    assert small.nodes - 3 <= len(page) <= small.nodes
    assert page.provenance.reasons[0].startswith("nodes: ")
    assert visible_text(page).startswith("first x x x")


@pytest.mark.parametrize("path", ["/large", "/bomb"])
def test_body_of_200_megabytes(studio: Studio, path: str) -> None:
    page = render_hostile(studio, path, replace(BUDGET, received_bytes=1_000_000))
    assert page.provenance.reasons[0] == "bytes: the budget of 1,000,000 is used up"
    assert visible_text(page).startswith("large large")


def test_reload_loop_is_called_unstable(studio: Studio) -> None:
    page = render_hostile(studio, "/reload")
    assert reason(page) == "unstable"
    (times,) = re.findall(r"loaded itself anew (\d+) times", page.provenance.reasons[0])
    assert int(times) >= 4
    # The capture may fall between two documents, of which the next is still empty.
    assert visible_text(page) in {"", "again"}


def test_crash_of_the_renderer(studio: Studio) -> None:
    renderer = studio.renderer()

    async def crash_while_loading() -> Snapshot:
        loading = asyncio.create_task(renderer.render(studio.server.url("/held")))
        await studio.asked("/reached")
        processes = (await ask_browser(renderer, "SystemInfo.getProcessInfo"))["processInfo"]
        for process in processes:
            if process["type"] == "renderer":
                os.kill(process["id"], signal.SIGKILL)
        return (await loading).snapshot

    page = studio.runner.run(crash_while_loading())
    assert page.provenance.reasons == ("crash: the page's process ended",)
    assert studio.render("/good").snapshot.provenance.complete


@pytest.mark.parametrize(
    "how", ["location = URL", "location.replace(URL)", "setTimeout(() => location = URL, 50)"]
)
def test_a_page_that_leaves_for_an_empty_one_is_an_error(studio: Studio, how: str) -> None:
    with pytest.raises(NavigationError, match="redirected to about:blank, which is an empty page"):
        studio.show(f"<p>words</p><script>{how.replace('URL', repr('about:blank'))}</script>")


def test_a_page_that_a_page_made_is_kept_as_cut(studio: Studio) -> None:
    page = studio.show(
        "<p>words</p><script>location = URL.createObjectURL(new Blob(['<p>made</p>'], {type: 'text/html'}))</script>"
    ).snapshot
    assert page.provenance.reasons == ("document: the page redirected to a blob: address of its own",)
    assert visible_text(page) == "made"


@pytest.mark.parametrize(
    ("url", "text"),
    [("data:text/html,<p>data</p>", "words"), ("javascript:void 0", "words"), ("javascript:'<p>new'", "new")],
)
def test_a_page_that_stays_where_it_is_is_whole(studio: Studio, url: str, text: str) -> None:
    page = studio.show(f'<p>words</p><script>location = "{url}"</script>').snapshot
    assert page.provenance.complete
    assert (visible_text(page), page.provenance.final_url) == (text, studio.server.url("/shown"))


def test_download_link(studio: Studio) -> None:
    page = render_hostile(studio, "/download")
    assert page.provenance.reasons == ("download: a file of type application/zip, not loaded",)


def test_requests_and_frames_have_a_budget(studio: Studio) -> None:
    assert reason(render_hostile(studio, "/requests")) == "requests"
    assert reason(render_hostile(studio, "/frames")) == "frames"


def test_popups_do_not_open(studio: Studio) -> None:
    page = studio.render("/popups").snapshot
    assert page.provenance.complete
    studio.runner.run(no_page_is_open(studio.renderer()))


def test_browser_that_is_killed_is_started_anew_for_the_page_under_way(studio: Studio) -> None:
    renderer, killed = studio.renderer(), threading.Event()

    def once_killed(handler: BaseHTTPRequestHandler) -> None:
        killed.wait(60)
        send(handler, b"")

    async def kill_while_loading() -> Snapshot:
        loading = asyncio.create_task(renderer.render(studio.server.url("/half-way")))
        await studio.asked("/once-killed.js")
        assert renderer._running
        os.kill(renderer._running[0].pid, signal.SIGKILL)
        killed.set()
        return (await loading).snapshot

    studio.server.pages["/half-way"] = "<p id=p>wait</p><script src=/once-killed.js></script>"
    studio.server.pages["/once-killed.js"] = once_killed
    page = studio.runner.run(kill_while_loading())
    assert visible_text(page) == "wait"
    assert page.provenance.complete


def test_a_bad_page_does_not_end_the_run(studio: Studio) -> None:
    paths = ["/good", "/image", "/no-content", "/hang-up", "/endless-script", "/good?2"]

    urls = [*map(studio.server.url, paths), "http://127.0.0.1:9/", "file:///etc/passwd", "http://["]
    renderer = studio.renderer()

    async def run() -> dict[str, object]:
        outcomes: dict[str, object] = {}
        async for url, outcome in renderer.render_many(urls):
            outcomes[url] = outcome
            if len(outcomes) == len(urls) - 1:  # all but the script without end
                studio.clock.run_out()
        return outcomes

    outcomes = studio.runner.run(run())
    kinds = [type(outcome).__name__ for _, outcome in sorted(outcomes.items())]
    assert sorted(kinds) == sorted(
        ["Rendering"] * 3 + ["ContentError"] * 2 + ["NavigationError"] * 3 + ["PolicyError"]
    )
    assert isinstance(outcomes["file:///etc/passwd"], PolicyError)
    assert isinstance(outcomes["http://["], NavigationError)
    assert isinstance(outcomes[studio.server.url("/image")], ContentError)
