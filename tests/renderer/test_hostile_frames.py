"""Frames in number and depth, walls in front of a page, feeds without end, and what one site may learn of another."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.protocol import Rendering
from tests.renderer.bad_server import REPORT, Server, send, serving
from tests.renderer.conftest import BUDGET, CONCURRENCY, LONG, Studio
from tests.renderer.reading import node, nodes, visible_text

pytestmark = pytest.mark.browser

CALM = Budget(time=LONG, frames=200)
WALLS = {
    "robot check": (403, "<title>Just a moment...</title><h1>Checking your browser</h1><script>while(0);</script>"),
    "captcha": (200, "<h1>Are you a robot?</h1><form><input name=answer><button>Go</button></form>"),
    "consent": (200, "<div style='position:fixed;inset:0;background:#fff'>We value your privacy <button>Accept"
                     "</button></div><article>The article behind it.</article>"),
    "paywall": (402, "<article>First lines <div style='height:20px;overflow:hidden'>and no more</div></article>"),
    "soft 404": (200, "<h1>Page not found</h1>"),
    "too many requests": (429, "<h1>Slow down</h1>"),
}  # fmt: skip


@pytest.fixture(scope="module")
def other(studio: Studio) -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def walls(studio: Studio) -> dict[str, Any]:
    def answer(status: int, html: str) -> Any:
        return lambda handler: send(handler, html.encode(), status=status)

    paths = {f"/wall-{number}": name for number, name in enumerate(WALLS)}
    studio.server.pages.update({path: answer(*WALLS[name]) for path, name in paths.items()})
    return {paths[path]: outcome for path, outcome in studio.render_all([*paths]).items()}


class TestNumbers:
    def test_a_thousand_frames(self, studio: Studio) -> None:
        page = studio.show("<p>top</p>" + "<iframe src=/good></iframe>" * 1000).snapshot
        assert page.provenance.reasons == ("frames: the budget of 30 is used up",)
        assert visible_text(page).startswith("top")
        assert len(nodes(page, "iframe")) > 30

    def test_a_thousand_frames_made_by_script(self, studio: Studio) -> None:
        page = studio.show(
            "<p>top</p><script>for (let i = 0; i < 1000; i++) { const f = document.createElement('iframe');"
            "f.srcdoc = '<p>in'; document.body.append(f) }</script>"
        ).snapshot
        assert page.provenance.reasons[0] == "frames: the budget of 30 is used up"

    def test_a_hundred_frames_in_one_another(self, studio: Studio) -> None:
        html = (
            "<p>level</p><script>const n = +location.search.slice(1); if (n < 100) {"
            "const f = document.createElement('iframe'); f.src = '?' + (n + 1); document.body.append(f) }</script>"
        )
        page = studio.render("/nested", CaptureOptions(settle="load"), CALM, nested=html).snapshot
        depth, at = 0, len(page) - 1
        while at > 0:
            at = int(page.parent[at])
            depth += page.tag_name(at) == "iframe"
        assert depth >= 20
        assert visible_text(page).startswith("level level")

    def test_frames_that_never_come(self, studio: Studio) -> None:
        page = studio.show(
            "<p>top</p><div style='height:20000px'></div><iframe loading=lazy src=/good></iframe><iframe></iframe>"
            "<iframe src=about:blank></iframe><iframe src=/no-content></iframe><iframe src=/hang-up></iframe>"
            "<iframe src='javascript:1'></iframe>",
            budget=CALM,
        ).snapshot
        assert page.provenance.complete
        assert visible_text(page).startswith("top")
        assert "It behaves." not in visible_text(page)
        assert len(nodes(page, "iframe")) == 6

    def test_a_frame_whose_server_is_silent(self, studio: Studio) -> None:
        page = studio.show("<p>top</p><iframe src=/silent></iframe>", budget=CALM).snapshot
        assert page.provenance.complete
        assert visible_text(page) == "top"

    def test_a_frame_of_another_origin_that_never_ends(self, studio: Studio, other: Server) -> None:
        alone = {"Origin-Agent-Cluster": "?1"}
        spins = f"<p>in</p><script>{REPORT} while (true);</script>".encode()
        other.pages["/spins"] = lambda h: send(h, spins, headers=alone)
        html = f"<p>top</p><iframe src='{other.url('/spins')}'></iframe>"
        page = studio.show(html, until=["/reached"]).snapshot
        assert page.provenance.reasons[0].startswith("time: ")
        good = studio.render("/good").snapshot
        assert good.provenance.complete
        assert visible_text(good) == "Good page It behaves."


class TestWalls:
    """No wall is climbed and none is hidden: the page that came is kept, with its status."""

    @pytest.mark.parametrize("name", WALLS)
    def test_status_and_words_are_kept(self, walls: dict[str, Any], name: str) -> None:
        outcome = walls[name]
        assert isinstance(outcome, Rendering)
        status, html = WALLS[name]
        assert outcome.snapshot.provenance.status == status
        assert outcome.source == html.encode()
        first = html.replace("<title>Just a moment...</title>", "").partition(">")[2].partition("<")[0]
        assert visible_text(outcome.snapshot).startswith(first.strip())

    def test_what_stands_behind_a_wall_is_not_left_out(self, walls: dict[str, Any]) -> None:
        assert "The article behind it." in visible_text(walls["consent"].snapshot)


class TestFeeds:
    def test_scrolling_through_one_without_end_ends(self, studio: Studio) -> None:
        html = (
            "<p>feed</p><script>const more = () => { for (let i = 0; i < 50; i++) { const p ="
            "document.createElement('p'); p.textContent = 'post'; document.body.append(p) } "
            "if (document.body.childNodes.length > 1200) fetch('/reached') }; more();"
            "addEventListener('scroll', () => scrollY + innerHeight > document.body.scrollHeight - 900 && more())"
            "</script>"
        )
        budget = replace(BUDGET, nodes=2_000)
        page = studio.show(html, CaptureOptions(scroll=True), budget, until=["/reached"]).snapshot
        assert not page.provenance.complete
        assert 1_000 < len(page) <= 2_000

    def test_scrolling_that_the_page_undoes_ends(self, studio: Studio) -> None:
        html = (
            "<p>words</p><div style='height:9000px'></div><p>end</p><script>"
            "addEventListener('scroll', () => { document.documentElement.scrollTop = 0; fetch('/reached') });"
            "scrollTo = scrollBy = () => { throw 1 }</script>"
        )
        page = studio.show(html, CaptureOptions(scroll=True), until=["/reached"]).snapshot
        assert visible_text(page) == "words end"

    def test_a_list_that_holds_what_is_in_view_only(self, studio: Studio) -> None:
        html = (
            "<div id=l style='height:60000px;position:relative'></div><script>const draw = () => { "
            "l.textContent = '';"
            "for (let i = 0; i < 40; i++) { const p = document.createElement('p'); const n ="
            "Math.floor(scrollY / 30) + i; p.textContent = 'row' + n; p.style = 'position:absolute;margin:0;top:' +"
            "n * 30 + 'px'; l.append(p) } }; draw(); addEventListener('scroll', draw)</script>"
        )
        page = studio.show(html).snapshot
        assert page.provenance.complete
        assert visible_text(page).split() == [f"row{number}" for number in range(40)]

    def test_what_waits_for_a_hand_is_kept_as_hidden(self, studio: Studio) -> None:
        page = studio.show(
            "<style>u { display: none } p:hover u { display: block }</style><p>seen<u>on hover</u></p>"
            "<button onclick=\"document.body.append('clicked')\">more</button>"
        ).snapshot
        assert visible_text(page) == "seen more"
        assert not page.rendered()[node(page, "u")]


class TestMemory:
    """What a page leaves behind reaches pages of its own site at most, and no other run."""

    LEAVE = (
        "<p id=p></p><script>p.textContent = [document.cookie, localStorage.kept, history.length].join('|');"
        "document.cookie = 'kept=1; max-age=9999'; localStorage.kept = 'x'; window.name = 'kept';"
        "caches.open('kept').then((c) => c.put('/good', new Response('planted')));"
        "indexedDB.open('kept'); navigator.serviceWorker?.register('/worker.js')</script>"
    )

    def test_another_site_finds_nothing(self, studio: Studio) -> None:
        renderer = studio.renderer()
        studio.server.pages["/leaves"] = self.LEAVE
        asked = []
        studio.server.pages["/worker.js"] = lambda h: asked.append(h.path)
        url = studio.server.url("/leaves")
        texts = [
            visible_text(studio.runner.run(renderer.render(url, site=site)).snapshot)
            for site in ("one", "one", "two", "two", "three")
        ]
        first, again = "||2", "kept=1|x|2"
        assert texts == [first, again, first, again, first]
        assert asked == [], "no service worker is ever fetched"

    def test_a_cookie_for_the_whole_machine_stays_with_its_site(self, studio: Studio, other: Server) -> None:
        def echo(handler: BaseHTTPRequestHandler) -> None:
            send(
                handler, f"<p>{handler.headers['Cookie']}".encode(), headers={"Set-Cookie": "kept=1; Path=/"}
            )

        studio.server.pages["/echo"] = other.pages["/echo"] = echo
        renderer = studio.renderer()

        def told(server: Server) -> str:
            return visible_text(studio.runner.run(renderer.render(server.url("/echo"))).snapshot)

        # Cookies know no ports, but sites do.
        assert [told(studio.server), told(studio.server), told(other)] == ["None", "kept=1", "None"]

    def test_pages_of_other_options_find_nothing(self, studio: Studio) -> None:
        studio.server.pages["/leaves"] = self.LEAVE
        assert studio.render("/leaves", CaptureOptions(locale="de-DE")).snapshot.provenance.complete
        page = studio.render("/leaves", CaptureOptions(locale="fr-FR")).snapshot
        assert visible_text(page) == "||2"

    def test_pages_side_by_side_do_not_meet(self, studio: Studio) -> None:
        listens = (
            "<p>heard nothing</p><script>const c = new BroadcastChannel('all'); c.onmessage = () =>"
            "{ document.body.textContent = 'heard' }; setInterval(() => c.postMessage(1), 20);"
            "onstorage = () => { document.body.textContent = 'heard' }; localStorage.x = Math.random();"
            "setTimeout(() => document.body.append('.'), 250)</script>"
        )
        studio.server.pages["/listens"] = listens
        renderer, url = studio.renderer(), studio.server.url("/listens")

        async def together() -> list[str]:

            sites = [f"user {number}" for number in range(CONCURRENCY)]
            done = await asyncio.gather(*(renderer.render(url, site=site) for site in sites))
            return [visible_text(rendering.snapshot) for rendering in done]

        assert studio.runner.run(together()) == ["heard nothing ."] * CONCURRENCY
