"""Scripts that never end, navigate for ever, grow without end or hog the machine; the browser serves on."""

import asyncio
import contextlib
import threading
from collections.abc import Iterable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from domsieve.options import Budget
from domsieve.renderer.browser.connection import CommandError
from domsieve.renderer.protocol import Rendering
from domsieve.snapshot.page import Snapshot
from tests.renderer.bad_server import REPORT, send
from tests.renderer.conftest import BUDGET, LONG, Studio, ask_browser, open_pages
from tests.renderer.reading import node, visible_text

pytestmark = pytest.mark.browser

PATIENT = Budget(time=LONG)


def script(code: str, *, before: str = "<p>words</p>") -> str:
    return f"{before}<script>{code}</script>"


def watching(what: str) -> str:
    """Return a page that does `what` whenever anything changes after it has come to rest."""
    everything = "{childList:true,subtree:true,characterData:true,attributes:true}"
    return script(
        f"const wake=()=>{{{what}}};addEventListener('load',()=>setTimeout(()=>"
        f"new MutationObserver(wake).observe(document,{everything}),0))"
    )


@pytest.fixture(scope="module", autouse=True)
def good_to_the_last(studio: Studio) -> Any:
    """Render a page of good manners with the browser that all others of this module had."""
    yield
    page = studio.render("/good").snapshot
    assert page.provenance.complete
    assert visible_text(page) == "Good page It behaves."


class TestObservers:
    """What a capture takes away from a page first must wake nothing of it."""

    def test_one_that_never_ends(self, studio: Studio) -> None:
        page = studio.show(watching("while(true);")).snapshot
        assert page.provenance.complete
        assert visible_text(page) == "words"

    def test_one_that_changes_the_page(self, studio: Studio) -> None:
        page = studio.show(watching("document.body.append('woken')")).snapshot
        assert page.provenance.complete
        assert visible_text(page) == "words"

    def test_those_of_what_is_cut_off(self, studio: Studio) -> None:
        page = studio.show(
            "<p>words</p><div id=d></div><script>customElements.define('x-y', class extends HTMLElement {"
            "disconnectedCallback() { while (true); } }); d.innerHTML = '<x-y></x-y>'.repeat(2000);"
            "d.insertAdjacentHTML('afterend', '<iframe></iframe>');"
            "frames[0].onpagehide = frames[0].onunload = () => { while (true); }</script>",
            budget=replace(BUDGET, nodes=1000),
        ).snapshot
        assert 990 < len(page) <= 1000
        assert page.provenance.reasons[0].startswith("nodes: ")
        assert visible_text(page).startswith("words")

    def test_scripts_are_on_again_for_the_capture(self, studio: Studio) -> None:
        page = studio.show(
            "<style>@media (scripting: enabled) { p { font-size: 40px } }</style><p>words</p>"
            "<noscript><b>other words</b></noscript>"
        ).snapshot
        assert page.computed_style(node(page, "p"))["font-size"] == "40px"
        assert visible_text(page) == "words"


UNSTEADY = {
    "hash": script("setInterval(() => { location.hash = Math.random() }, 5)"),
    "history": script("setInterval(() => { for (let i = 0; i < 20; i++) history.pushState(0, '', '?' + i) }, 20)"),
    "flicker": script("(function f() { document.body.style.paddingTop = Math.random() + 'px';"
                      "requestAnimationFrame(f) })()"),
    "animation": "<style>@keyframes k { to { margin-left: 9px; width: 90px } }"
                 "i { animation: k .1s infinite alternate; display: block }</style><p>words</p>" + "<i></i>" * 500,
    "rewritten": script("onload = () => setTimeout(() => { document.open(); document.write('<p>words'); }, 50)",
                        before="<p>old</p>"),
    "gone when hidden": script(
        "const go = () => { document.body.innerHTML = 'gone' }; if (document.hidden) go();"
        "addEventListener('visibilitychange', go); addEventListener('blur', go); addEventListener('freeze', go)"),
    "hijacked scrolling": script(
        "addEventListener('scroll', () => { document.documentElement.scrollTop = 0 });"
        "scrollTo = scrollBy = () => { throw 1 }", before="<p>words</p><div style='height:9000px'></div>"),
    "throwing elements": script(
        "customElements.define('x-t', class extends HTMLElement { constructor() { super(); throw 1 }"
        "connectedCallback() { throw 2 } })") + "<x-t></x-t><portal src=/good></portal><fencedframe></fencedframe>",
    "questions": script(
        "alert(1); confirm(2); prompt(3); print(); onbeforeunload = (e) => { e.preventDefault(); return 'stay' };"
        "document.body.requestFullscreen().catch(() => 0); document.body.requestPointerLock();"
        "f.click(); navigator.geolocation.getCurrentPosition(() => document.body.append('told where'));"
        "Notification.requestPermission().then((r) => r === 'granted' && document.body.append('may notify'));"
        "navigator.mediaDevices?.getUserMedia({audio: true}).then(() => document.body.append('listens'), () => 0)",
        before="<p>words</p><input type=file id=f style='display:none'>"),
}  # fmt: skip


@pytest.fixture(scope="module")
def unsteady(studio: Studio) -> dict[str, Any]:
    """Return all of these pages, rendered side by side."""
    paths = {f"/unsteady-{number}": name for number, name in enumerate(UNSTEADY)}
    studio.server.pages.update({path: UNSTEADY[name] for path, name in paths.items()})
    return {paths[path]: outcome for path, outcome in studio.render_all([*paths], PATIENT).items()}


@pytest.mark.parametrize("name", UNSTEADY)
def test_pages_that_give_no_rest_are_captured_whole(unsteady: dict[str, Any], name: str) -> None:
    outcome = unsteady[name]
    assert isinstance(outcome, Rendering)
    assert outcome.snapshot.provenance.reasons == ()
    assert visible_text(outcome.snapshot) == "words"


def cut(studio: Studio, html: str, budget: Budget = BUDGET, *, until: Iterable[str] = ()) -> Snapshot:
    """Return a page of which the browser may make nothing within the budget; it must not hang."""
    return studio.show(html, budget=budget, until=until).snapshot


def reasons(page: Snapshot) -> set[str]:
    return {reason.partition(":")[0] for reason in page.provenance.reasons}


def test_a_loop_when_the_document_is_parsed(studio: Studio) -> None:
    code = f"addEventListener('DOMContentLoaded', () => {{ {REPORT} while (true); }})"
    page = cut(studio, script(code) + "<p>more", until=["/reached"])
    assert reasons(page) == {"time"}
    assert visible_text(page) == "words more"


def test_thousands_of_steps_of_history(studio: Studio) -> None:
    code = "for (let i = 0; i < 3000; i++) try { history.pushState(0, '', '?' + i) } catch { }"
    page = cut(studio, script(code))
    assert page.provenance.complete
    steps = int(page.provenance.final_url.rpartition("?")[2])
    assert 0 < steps < 2_999, "the browser protects itself, and with it all other pages"


def test_growth_without_end(studio: Studio) -> None:
    code = (
        "let n = 0; setInterval(() => { for (let i = 0; i < 500; i++)"
        "document.body.append(document.createElement('i'));"
        "if (++n == 20) fetch('/reached') }, 5)"
    )
    page = cut(studio, script(code), replace(BUDGET, nodes=5_000), until=["/reached"])
    assert reasons(page) == {"time", "nodes"}
    assert len(page) <= 5_000
    assert visible_text(page) == "words"


def test_a_million_nodes(studio: Studio) -> None:
    code = f"{REPORT} document.body.insertAdjacentHTML('beforeend', '<i></i>'.repeat(1e6))"
    page = cut(studio, script(code), PATIENT, until=["/reached"])
    assert reasons(page) & {"time", "nodes", "capture"}


def test_fifty_thousand_levels_of_source(studio: Studio) -> None:
    page = cut(studio, "<div>" * 50_000 + "<p>deep words", PATIENT)
    assert len(page) == 50_006
    assert page.provenance.complete
    assert visible_text(page) == "deep words"


def test_fifty_thousand_levels_made_by_script(studio: Studio) -> None:
    code = (
        "let at = document.body; for (let i = 0; i < 50000; i++) {"
        "const e = document.createElement('div'); at.append(e); at = e } at.append('bottom')"
    )
    page = cut(studio, script(code))
    assert page.provenance.reasons == ("crash: the page's process ended",)


HEAVY = {
    "rules": ("<style>" + "".join(f".c{i} .d{i}>p:nth-child({i}){{color:red}}" for i in range(100_000))
              + "</style><p>words</p>", 7),
    "properties": ("<style>:root{" + "".join(f"--v{i}:{i}px;" for i in range(10_000)) + "}</style><p>words</p>", 7),
    "has": ("<style>" + "".join(f"*:has(*:has(*) ~ * .x{i}) *{{color:red}}" for i in range(100))
            + "</style><p>words</p>" + "<div><i></i></div>" * 1000, 2007),
    "one word": (script("w.textContent = 'w'.repeat(5e6)", before="<p id=w></p>"), 7),
    "text": (script("w.textContent = 'word '.repeat(2e6)", before="<p id=w></p>"), 7),
    "attribute": (script("w.title = 'w'.repeat(1e7)", before="<p id=w>words</p>"), 7),
    "attributes": ("<p " + " ".join(f"a{i}" for i in range(100_000)) + ">words", 6),
}  # fmt: skip


LARGEST = {"one word": 5_000_000, "text": 9_999_999, "attribute": 10_000_000}
"""Characters of the largest text or value of a page that was captured whole."""


@pytest.mark.parametrize("name", HEAVY)
def test_heavy_pages_are_captured(studio: Studio, name: str) -> None:
    html, nodes = HEAVY[name]
    page = cut(studio, html, PATIENT)
    assert len(page) == nodes
    assert reasons(page) <= {"time"}
    assert visible_text(page)[:4] in {"word", "wwww"}
    if not reasons(page):
        assert max(map(len, page.strings)) >= LARGEST.get(name, 0)
        assert name != "attributes" or page.attr_name.size == 100_000


def test_a_million_attributes(studio: Studio) -> None:
    code = f"for (let i = 0; i < 1e6; i++) {{ w.setAttribute('a' + i, ''); if (i == 10_000) {REPORT} }}"
    page = cut(studio, script(code, before="<p id=w>words</p>"), until=["/reached"])
    assert reasons(page) <= {"time", "capture"}


def test_a_flood_of_combining_marks(studio: Studio) -> None:
    marks = "\u0301" * 20_000
    page = cut(studio, f"<meta charset=utf-8><p>words</p><p>a{marks}", PATIENT)
    assert reasons(page) <= {"time", "capture"}
    assert visible_text(page) == f"words a{marks}" or reasons(page)


def test_memory_that_is_refused(studio: Studio) -> None:
    page = cut(
        studio,
        script(
            "const said = (e) => document.body.append(' ' + e.name);"
            "try { const a = []; for (;;) a.push(new WebAssembly.Memory({initial: 16000})) } catch (e) { said(e) }"
            "try { new Uint8Array(2 ** 40) } catch (e) { said(e) }"
            "try { let s = 'x'; for (;;) s += s } catch (e) { said(e) }"
        ),
        PATIENT,
    )
    assert visible_text(page) == "words RangeError RangeError RangeError"


def test_arrays_and_canvases_that_fill_the_memory_cost_their_own_page_only(studio: Studio) -> None:
    code = (
        "const a = []; const t = setInterval(() => { if (a.length > 8) clearInterval(t);"
        "a.push(new Float64Array(8e6).fill(1)); const c = document.createElement('canvas');"
        "c.width = c.height = 2000; c.getContext('2d').fillRect(0, 0, 2000, 2000); a.push(c) }, 10)"
    )
    assert visible_text(cut(studio, script(code))) in {"words", ""}


@pytest.mark.parametrize("command", ["Browser.crashGpuProcess", "Browser.crash"])
def test_a_crash_beneath_the_page(studio: Studio, command: str) -> None:
    renderer, crashed = studio.renderer(), threading.Event()
    studio.server.pages["/waits"] = "<p id=p>words</p><script src=/once-crashed.js></script>"

    def once_crashed(handler: BaseHTTPRequestHandler) -> None:
        crashed.wait(60)
        send(handler, b"")

    studio.server.pages["/once-crashed.js"] = once_crashed

    async def crash_while_loading() -> Snapshot:
        loading = asyncio.create_task(renderer.render(studio.server.url("/waits")))
        await studio.asked("/once-crashed.js")
        with contextlib.suppress(CommandError, TimeoutError):  # gone before it can answer
            async with asyncio.timeout(2):
                await ask_browser(renderer, command)
        crashed.set()
        return (await loading).snapshot

    page = studio.runner.run(crash_while_loading())
    assert page.provenance.complete
    assert visible_text(page) == "words"


def test_a_page_that_crashes_its_process(studio: Studio) -> None:
    renderer = studio.renderer()

    async def crash_while_loading() -> Snapshot:
        loading = asyncio.create_task(renderer.render(studio.server.url("/held")))
        await studio.asked("/reached")
        assert renderer._running
        (page,) = await open_pages(renderer)
        session = await renderer._running[0].connection.attach(page)
        crashing = asyncio.create_task(session.send("Page.crash"))
        try:
            return (await loading).snapshot
        finally:
            crashing.cancel()
            await asyncio.gather(crashing, return_exceptions=True)

    page = studio.runner.run(crash_while_loading())
    assert page.provenance.reasons == ("crash: the page's process ended",)
