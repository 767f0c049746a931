"""Sampling sites that are drawn in the browser."""

import asyncio
import json
from contextlib import aclosing

import pytest

from domsieve.renderer.network.egress import offline
from domsieve.renderer.protocol import Rendering
from domsieve.renderer.renderer import Renderer
from domsieve.renderer.sampling.events import PageDone, SampleEnded, SampleEvent, SitemapsRead
from domsieve.renderer.sampling.sample import sample_site
from examples.serve import DEMO, serve_demo
from tests.renderer.bad_server import serving
from tests.renderer.fake_site import done

pytestmark = pytest.mark.browser

# A wiki in one file: each route shows one entry.
WIKI = """<!doctype html><title>Wiki</title><main></main><script>
const show = () => {
  const entry = decodeURIComponent(location.hash.slice(1)) || "Entry 0", number = Number(entry.slice(6));
  document.querySelector("main").innerHTML = `<h1>${entry}</h1>` + [1, 2, 3, 4, 5].map(
    step => `<a href="#Entry%20${(number * 3 + step) % 12}">next</a>`).join(" ");
};
addEventListener("hashchange", show);
show();
</script>"""


def sample(root: str, *, pages: int, known: dict[str, Rendering] | None = None) -> list[SampleEvent]:
    events: list[SampleEvent] = []

    async def run() -> None:
        async with Renderer(concurrency=2, egress=offline()) as renderer:
            happening = sample_site(
                renderer, root, pages=pages, known=(known or {}).get, egress=renderer.egress
            )
            async with aclosing(happening):
                async for event in happening:
                    events.append(event)

    asyncio.run(run())
    return events


@pytest.mark.slow
def test_the_demo_site_is_found_whole_and_its_robots_txt_obeyed() -> None:
    routes = {entry["route"] for entry in json.loads((DEMO / "routes.json").read_text(encoding="utf-8"))}
    with serve_demo() as root:
        first = sample(root, pages=8)
        known = {event.url: event.rendering for event in first if isinstance(event, PageDone)}
        events = sample(root, pages=100, known=known)
    assert {*done(events, root)} == routes
    assert done(events, root)[:8] == done(first, root)
    assert [e.was_known for e in events if isinstance(e, PageDone)] == [True] * 8 + [False] * 13
    assert SitemapsRead(pages=13) in events
    assert events[-1] == SampleEnded(pages=21, reason="exhausted", forbidden=9)
    assert len(events) == 24, "nothing was rendered that the site does not want or that was there already"


def test_a_wiki_in_one_file() -> None:
    with serving() as server:
        server.pages["/"] = WIKI
        events = sample(server.url("/"), pages=6)
    assert len(done(events, server.url("/"))) == 6
    assert all("#Entry%20" in name for name in done(events, server.url("/"))[1:])
