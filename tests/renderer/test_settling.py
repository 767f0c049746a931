"""When a page counts as complete."""

from datetime import timedelta

import pytest

from domsieve.renderer import Budget, CaptureOptions
from tests.renderer.bad_server import start
from tests.renderer.conftest import Studio
from tests.renderer.reading import nodes, visible_text

pytestmark = pytest.mark.browser

SLOW = Budget(time=timedelta(seconds=15))
ADD = "const add = text => document.body.append(Object.assign(document.createElement('p'), {textContent: text}));"

# Content comes with a signal: a request under way, or a change of structure less than 300 ms ago.
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


@pytest.mark.parametrize("app", APPS)
def test_content_that_comes_with_a_signal_is_waited_for(studio: Studio, app: str) -> None:
    def late(handler: object) -> None:
        studio.server.stopped.wait(0.4)
        start(handler, {"Content-Type": "text/javascript"})  # type: ignore[arg-type]
        handler.wfile.write(b"add('done')")  # type: ignore[attr-defined]

    studio.server.pages["/late.js"] = late
    page = studio.show(f"<p>start</p><script>{ADD}{APPS[app]}</script>", budget=SLOW).snapshot
    assert page.provenance.complete
    assert visible_text(page).endswith("done")


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


@pytest.mark.parametrize("app", ENDLESS)
def test_what_never_ends_is_not_waited_for(studio: Studio, app: str) -> None:
    page = studio.show(f"<p>start</p><script>{ADD}{ENDLESS[app]}</script>", budget=SLOW).snapshot
    assert page.provenance.complete
    assert page.provenance.timings_ms["settle"] < 7000
    assert visible_text(page).startswith("start")


def test_streamed_document_is_read_to_its_end(studio: Studio) -> None:
    def stream(handler: object) -> None:
        start(handler, {"Content-Type": "text/html"})  # type: ignore[arg-type]
        for part in range(8):
            handler.wfile.write(b"<p>%d</p>" % part)  # type: ignore[attr-defined]
            studio.server.stopped.wait(0.8)

    studio.server.pages["/stream"] = stream
    page = studio.render("/stream", budget=SLOW).snapshot
    assert visible_text(page) == "0 1 2 3 4 5 6 7"


def test_load_does_not_wait_for_data(studio: Studio) -> None:
    html = f"<p>start</p><script>{ADD}{APPS['fetch']}</script>"
    assert visible_text(studio.show(html, CaptureOptions(settle="load")).snapshot) == "start"


def test_network_idle_waits_for_data_and_never_for_polls_beyond_the_budget(studio: Studio) -> None:
    idle = CaptureOptions(settle="networkidle")
    page = studio.show(f"<p>start</p><script>{ADD}{APPS['fetch']}</script>", idle).snapshot
    assert visible_text(page) == "start done"
    page = studio.show(f"<p>start</p><script>{ENDLESS['poll']}</script>", idle).snapshot
    assert page.provenance.reasons == ("time: 3 s are used up while loading",)
    assert visible_text(page) == "start"


def test_timer_without_signal_needs_extra_time(studio: Studio) -> None:
    html = f"<p>start</p><script>{ADD}setTimeout(() => add('done'), 2500)</script>"
    budget = Budget(time=timedelta(seconds=20))
    assert visible_text(studio.show(html, budget=budget).snapshot) == "start"
    patient = CaptureOptions(settle_extra=timedelta(seconds=3))
    assert visible_text(studio.show(html, patient, budget).snapshot) == "start done"


SCROLLED = {
    "lazy images": "for (let i = 0; i < 20; i++) document.body.insertAdjacentHTML('beforeend', "
    "'<p style=\"height:600px\"><img loading=lazy width=9 height=9 src=/data?' + i + '>')",
    "batches": "let n = 0; const batch = () => { if (n++ < 4) fetch('/slow-data').then(() => { "
    "for (let i = 0; i < 10; i++) add('item ' + n); end.remove(); document.body.append(end); eye.unobserve(end);"
    "eye.observe(end) }) }; const end = document.createElement('hr'); document.body.append(end);"
    "const eye = new IntersectionObserver(e => e[0].isIntersecting && batch()); eye.observe(end);"
    "document.body.insertAdjacentHTML('afterbegin', '<p style=\"height:900px\">')",
}


def test_scrolling_brings_lazy_images(studio: Studio) -> None:
    scroll = CaptureOptions(scroll=True)
    page = studio.show(
        f"<!doctype html><body><script>{ADD}{SCROLLED['lazy images']}</script>", scroll, SLOW
    ).snapshot
    assert page.provenance.requests == 21
    assert page.box[nodes(page, "p")[0], 1] >= 0  # back at the top


def test_scrolling_brings_further_batches(studio: Studio) -> None:
    html = f"<!doctype html><body><script>{ADD}{SCROLLED['batches']}</script>"
    assert "item" not in visible_text(studio.show(html).snapshot)
    page = studio.show(html, CaptureOptions(scroll=True), SLOW).snapshot
    assert visible_text(page).count("item 4") == 10
