"""When a page counts as complete."""

import threading
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from domsieve.errors import UsageError
from domsieve.options import CaptureOptions
from domsieve.renderer._limits import Timeouts
from domsieve.renderer.protocol import Rendering
from tests.renderer.bad_server import send, start
from tests.renderer.conftest import LONG, Studio
from tests.renderer.reading import nodes, visible_text

pytestmark = pytest.mark.browser

ADD = "const add = text => document.body.append(Object.assign(document.createElement('p'), {textContent: text}));"

# A second more than a step of these applications takes, so that a busy machine may stop for as long.
PATIENT = Timeouts(cap_s=120, interactive_s=60, in_flight_s=60, still_s=1.2)

# Content comes with a signal: a request under way, or a change of structure a moment ago.
APPS = {
    "fetch": "fetch('/slow-data').then(() => add('done'))",
    "fetch-timer-fetch": "fetch('/slow-data').then(() => setTimeout(() => fetch('/slow-data')"
    ".then(() => add('done')), 200))",
    "xhr": "const x = new XMLHttpRequest(); x.onload = () => add('done'); x.open('GET', '/slow-data'); x.send()",
    "steps": "let n = 0; const t = setInterval(() => "
    "{ add(n++ < 5 ? n : 'done'); if (n > 5) clearInterval(t) }, 200)",
    "script": "document.body.append(Object.assign(document.createElement('script'), {src: '/late.js'}))",
    "shadow": "const r = document.body.appendChild(document.createElement('div')).attachShadow({mode: 'closed'});"
    "let n = 0; const t = setInterval(() => { r.append(Object.assign(document.createElement('p'), "
    "{textContent: n++ < 5 ? n : 'done'})); if (n > 5) clearInterval(t) }, 200)",
    "new-page": "if (location.search) fetch('/slow-data').then(() => add('done')); "
    "else setTimeout(() => location.search = 'x', 150)",
}


def shown(studio: Studio, apps: dict[str, str], timeouts: Timeouts | None = None) -> dict[str, Rendering]:
    """Return pages with these scripts by name, rendered side by side."""
    paths = {f"/app-{number}": name for number, name in enumerate(apps)}
    pages = {path: f"<p>start</p><script>{ADD}{apps[name]}</script>" for path, name in paths.items()}
    studio.server.pages.update(pages)
    renderings = {}
    for path, outcome in studio.render_all(paths, timeouts=timeouts).items():
        assert isinstance(outcome, Rendering)
        renderings[paths[path]] = outcome
    return renderings


def test_content_that_comes_with_a_signal_is_waited_for(studio: Studio) -> None:
    def late(handler: object) -> None:
        studio.server.stopped.wait(0.4)
        start(handler, {"Content-Type": "text/javascript"})  # type: ignore[arg-type]
        handler.wfile.write(b"add('done')")  # type: ignore[attr-defined]

    studio.server.pages["/late.js"] = late
    for app, rendering in shown(studio, APPS, PATIENT).items():
        assert rendering.snapshot.provenance.complete, app
        assert visible_text(rendering.snapshot).endswith("done"), app


@pytest.mark.parametrize("ends", [True, False])
def test_a_page_whose_scripts_are_coming_at_the_cap_is_not_taken_for_complete(
    studio: Studio, ends: bool
) -> None:
    passed = threading.Event()

    def slow(handler: Any) -> None:
        start(handler, {"Content-Type": "text/javascript"})
        handler.wfile.write(b"/* begun */")
        handler.wfile.flush()
        (passed if ends else studio.server.stopped).wait(120)
        handler.wfile.write(b"document.body.append('drawn')")

    def after_the_cap(handler: Any) -> None:
        passed.set()
        start(handler, {"Content-Type": "text/plain"})

    studio.server.pages |= {
        "/slow.js": slow,
        "/after-the-cap": after_the_cap,
        "/undrawn": "<p>early</p><script async src=/slow.js></script>"
        "<script>setTimeout(() => new Image().src = '/after-the-cap', 1500)</script>",
    }
    hasty = Timeouts(cap_s=0.2, interactive_s=0.1, in_flight_s=60, still_s=0.05)
    until = [] if ends else ["/after-the-cap"]
    page = studio.render_all(["/undrawn"], until=until, timeouts=hasty)["/undrawn"]
    assert isinstance(page, Rendering)
    assert page.snapshot.provenance.complete is ends
    assert visible_text(page.snapshot) == ("early drawn" if ends else "early")
    assert page.snapshot.provenance.was_cut_by("time") is not ends


# Live connections and endless changes must not hold a page up for longer than the cap.
ENDLESS = {
    "poll": "setInterval(() => fetch('/data'), 100)",
    "long-poll": "fetch('/silent')",
    "clock": "const p = document.createElement('p'); document.body.append(p);"
    "setInterval(() => p.textContent = Date.now(), 20)",
    "changes": "setInterval(() => add('more'), 100)",
    "image": "document.body.append(Object.assign(new Image(), {src: '/silent'}))",
    "event-source": "new EventSource('/silent')",
}


def test_what_never_ends_is_not_waited_for(studio: Studio) -> None:
    for app, rendering in shown(studio, ENDLESS).items():
        assert rendering.snapshot.provenance.complete, app
        assert visible_text(rendering.snapshot).startswith("start"), app


def test_a_page_in_a_sandbox_is_not_asked_for_time(studio: Studio) -> None:
    body = b"<!doctype html><p>start</p>"
    headers = {
        "Content-Type": "text/html",
        "Content-Security-Policy": "default-src 'none', img-src *; Sandbox",
    }
    studio.server.pages["/sandbox"] = partial(send, body=body, headers=headers)
    page = studio.render("/sandbox", CaptureOptions(scroll=True)).snapshot
    assert page.provenance.complete
    assert visible_text(page) == "start"


def test_streamed_document_is_read_to_its_end(studio: Studio) -> None:
    def stream(handler: object) -> None:
        start(handler, {"Content-Type": "text/html"})  # type: ignore[arg-type]
        for part in range(8):
            handler.wfile.write(b"<p>%d</p>" % part)  # type: ignore[attr-defined]
            studio.server.stopped.wait(0.5)

    studio.server.pages["/stream"] = stream
    page = studio.render("/stream").snapshot
    assert visible_text(page) == "0 1 2 3 4 5 6 7"


def test_load_does_not_wait_for_data(studio: Studio) -> None:
    html = f"<p>start</p><script>{ADD}fetch('/silent').then(() => add('done'))</script>"
    page = studio.show(html, CaptureOptions(settle="load")).snapshot
    assert page.provenance.complete
    assert visible_text(page) == "start"


def test_network_idle_waits_for_data_and_never_for_polls_beyond_the_budget(studio: Studio) -> None:
    idle = CaptureOptions(settle="networkidle")
    page = studio.show(f"<p>start</p><script>{ADD}{APPS['fetch']}</script>", idle).snapshot
    assert visible_text(page) == "start done"
    page = studio.show(f"<p>start</p><script>{ENDLESS['poll']}</script>", idle, until=["/data"] * 3).snapshot
    assert page.provenance.reasons == (f"time: {LONG.seconds} s are used up while loading",)
    assert visible_text(page) == "start"


def test_timer_without_signal_needs_extra_time(studio: Studio) -> None:
    html = f"<p>start</p><script>{ADD}setTimeout(() => add('done'), %d)</script>"
    assert visible_text(studio.show(html % 60_000).snapshot) == "start"
    patient = CaptureOptions(settle_extra=timedelta(seconds=2))
    assert visible_text(studio.show(html % 1_000, patient).snapshot) == "start done"


SCROLLED = {
    "lazy images": "for (let i = 0; i < 20; i++) document.body.insertAdjacentHTML('beforeend', "
    "'<p style=\"height:600px\"><img loading=lazy width=9 height=9 src=/data?' + i + '>')",
    "batches": "let n = 0; const batch = () => { if (n++ < 4) setTimeout(() => { "
    "for (let i = 0; i < 10; i++) add('item ' + n); end.remove(); document.body.append(end); eye.unobserve(end);"
    "eye.observe(end) }, 200) }; const end = document.createElement('hr'); document.body.append(end);"
    "const eye = new IntersectionObserver(e => e[0].isIntersecting && batch()); eye.observe(end);"
    "document.body.insertAdjacentHTML('afterbegin', '<p style=\"height:900px\">')",
}


def test_scrolling_brings_lazy_images(studio: Studio) -> None:
    scroll = CaptureOptions(scroll=True)
    page = studio.show(
        f"<!doctype html><body><script>{ADD}{SCROLLED['lazy images']}</script>", scroll
    ).snapshot
    assert page.provenance.requests == 21
    assert page.box[nodes(page, "p")[0], 1] >= 0  # back at the top


def test_scrolling_brings_further_batches(studio: Studio) -> None:
    html = f"<!doctype html><body><script>{ADD}{SCROLLED['batches']}</script>"
    assert "item" not in visible_text(studio.show(html).snapshot)
    page = studio.show(html, CaptureOptions(scroll=True)).snapshot
    assert visible_text(page).count("item 4") == 10


LATER = (
    "<!doctype html><style>dialog { position: fixed; inset: 0 }</style><body><p>start</p>"
    "<button class=more hidden>hidden</button><button class=more>more</button><div id=host></div>"
    f"<script>{ADD}"
    "document.querySelectorAll('.more')[1].onpointerdown = e => add('trusted ' + e.isTrusted);"
    "document.querySelectorAll('.more')[1].onclick = () => setTimeout(() => add('more'), 100);"
    "const tree = document.getElementById('host').attachShadow({ mode: 'open' });"
    "tree.innerHTML = '<button id=agree>agree</button>';"
    "tree.getElementById('agree').onclick = () => { add('agreed'); tree.innerHTML = '' };"
    "</script>"
)


class TestClicks:
    def test_what_a_click_brings_is_captured_in_order(self, studio: Studio) -> None:
        options = CaptureOptions(click=("#agree", ".more", ".more"))
        page = studio.show(LATER, options).snapshot
        assert page.provenance.complete
        shown = visible_text(page).split()
        assert shown.index("agreed") < shown.index("trusted")
        assert shown.count("more") == 3  # the button, and twice what it brings
        assert "true" in shown
        assert page.provenance.options["click"] == '["#agree", ".more", ".more"]'

    def test_what_is_covered_is_clicked_all_the_same(self, studio: Studio) -> None:
        html = LATER + "<dialog open>in front</dialog>"
        assert (
            visible_text(studio.show(html, CaptureOptions(click=("#agree",))).snapshot).count("agreed") == 1
        )

    def test_what_is_not_there_is_reported_and_no_failure(
        self, studio: Studio, caplog: pytest.LogCaptureFixture
    ) -> None:
        html = LATER + "<details><summary>more</summary><b>folded away</b></details>"
        page = studio.show(html, CaptureOptions(click=("#none", "button[hidden]", "b"))).snapshot
        assert page.provenance.complete
        assert caplog.text.count("so nothing was clicked") == 3
        assert "folded" not in visible_text(page)

    def test_a_click_may_lead_to_another_page(self, studio: Studio) -> None:
        html = "<!doctype html><body><a href=/second>on</a>"
        page = studio.render("/first", CaptureOptions(click=("a",)), first=html, second="<p>arrived").snapshot
        assert visible_text(page) == "arrived"

    @pytest.mark.parametrize("wrong", [{"click": ("a[",)}, {"wait_for": "::"}])
    def test_what_is_no_selector_is_refused(self, studio: Studio, wrong: dict[str, Any]) -> None:
        with pytest.raises(UsageError, match="is not a valid CSS selector"):
            studio.show(LATER, CaptureOptions(**wrong))


class TestWaiting:
    def test_for_what_comes_late(self, studio: Studio) -> None:
        add = "document.body.insertAdjacentHTML('beforeend', '<i>done</i>')"
        html = f"<p>start</p><script>setTimeout(() => {add}, 1500)</script>"
        page = studio.show(html, CaptureOptions(wait_for="i")).snapshot
        assert page.provenance.complete
        assert visible_text(page) == "start done"

    def test_what_never_comes_cuts_the_page(self, studio: Studio) -> None:
        html = f"<p>start</p><i hidden>hidden</i><script>{ENDLESS['poll']}</script>"
        page = studio.show(html, CaptureOptions(wait_for="i"), until=["/data"] * 60).snapshot
        assert page.provenance.reasons == (f"time: {LONG.seconds} s are used up while loading",)
        assert visible_text(page) == "start"
