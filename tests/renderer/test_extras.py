"""What is kept beside a page for people: screenshot, data responses, and the source without scripts."""

import base64
import json
from typing import Any

import pytest

from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.page._page_events import carries_data
from domsieve.renderer.protocol import DATA, SCREENSHOT, Rendering
from tests.renderer.bad_server import send
from tests.renderer.conftest import LONG, Studio
from tests.renderer.reading import visible_text

pytestmark = pytest.mark.browser

KEPT = CaptureOptions(screenshot=True)
PATIENT = Budget(time=LONG)
TALL = "<body style='margin:0'><p>first</p><div style='height:9000px;background:#def'></div><p>last</p>"


def screenshot(rendering: Rendering) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(rendering.extras[SCREENSHOT])
    return facts


def webp_size(data: bytes) -> tuple[int, int]:
    assert (data[:4], data[8:16]) == (b"RIFF", b"WEBPVP8 ")
    return int.from_bytes(data[26:28], "little"), int.from_bytes(data[28:30], "little")


def test_a_screenshot_is_tiles_from_the_top_to_the_end(studio: Studio) -> None:
    rendering = studio.show(TALL, KEPT, PATIENT)
    facts = screenshot(rendering)
    assert facts["reason"] == ""
    assert facts["width"] == 1280
    assert [tile["name"] for tile in facts["tiles"]] == [f"screenshot-{i}.webp" for i in range(3)]
    assert [tile["y"] for tile in facts["tiles"]] == [0, 4096, 8192]
    assert sum(tile["height"] for tile in facts["tiles"]) == facts["height"] > 9000
    assert 0.5 < facts["scale"] < 1
    for tile in facts["tiles"]:
        width, height = webp_size(rendering.extras[tile["name"]])
        assert width == pytest.approx(1280 * facts["scale"], abs=1)
        assert height == pytest.approx(tile["height"] * facts["scale"], abs=1)


def test_the_capture_is_the_same_with_and_without_a_screenshot(studio: Studio) -> None:
    with_one, without = studio.show(TALL, KEPT, PATIENT), studio.show(TALL, budget=PATIENT)
    assert with_one.snapshot.digest() == without.snapshot.digest()
    assert with_one.snapshot.provenance.options == without.snapshot.provenance.options
    assert without.extras == {}
    assert without.unscripted is None


def test_both_versions_are_stored_without_a_screenshot(studio: Studio) -> None:
    rendering = studio.show(TALL, CaptureOptions(both_versions=True), PATIENT)
    assert [*rendering.extras] == [DATA]
    assert rendering.unscripted is not None


def test_a_tall_page_full_of_text_stays_small(studio: Studio) -> None:
    line = "<p style='margin:0;height:20px;overflow:hidden'>{} " + "lorem ipsum dolor sit amet " * 7
    page = studio.show("<body style='margin:0'>" + "".join(map(line.format, range(1500))), KEPT, PATIENT)
    facts = screenshot(page)
    assert (facts["reason"], facts["height"]) == ("", 30_000)
    assert sum(len(page.extras[tile["name"]]) for tile in facts["tiles"]) < 3_000_000


def test_an_endless_page_has_a_picture_of_its_beginning(studio: Studio) -> None:
    facts = screenshot(studio.show("<div style='height:900000px'>x</div>", KEPT, PATIENT))
    assert facts["height"] == 65_536
    assert facts["reason"].startswith("the first 65,536 of 900,0")


@pytest.mark.parametrize(
    ("path", "until"),
    [("/endless-script", "/reached"), ("/silent", "/silent"), ("/endless-alert", "/reached")],
)
def test_a_page_that_does_not_answer_costs_no_more_than_its_limits(
    studio: Studio, path: str, until: str
) -> None:
    rendering = studio.render(path, KEPT, until=[until])
    facts = screenshot(rendering)
    assert facts["tiles"] or facts["reason"]
    assert not rendering.snapshot.provenance.complete


def test_responses_that_carried_data_are_kept(studio: Studio) -> None:
    def answer(kind: str, text: str) -> Any:
        return lambda handler: send(handler, text.encode(), headers={"Content-Type": kind})

    long = json.dumps(["word"] * 300_000)
    page = "<p>start</p><script>" + "".join(
        f"fetch('/{name}').then(r => r.text()).then(t => document.body.append(t.slice(0, 99)));"
        for name in ("one.json", "part.html", "code.js", "long.json")
    )
    rendering = studio.render(
        "/app",
        KEPT,
        PATIENT,
        **{
            "app": page + "fetch('/missing')</script>",
            "one.json": answer("application/json", '{"a": "żółw"}'),
            "part.html": answer("text/html", "<p>part"),
            "code.js": answer("text/javascript", "1"),
            "long.json": answer("application/ld+json; charset=utf-8", long),
        },
    )
    data = {entry["url"].rpartition("/")[2]: entry for entry in json.loads(rendering.extras[DATA])}
    assert set(data) == {"one.json", "part.html", "long.json", "missing"}
    assert data["one.json"] == {
        "url": studio.server.url("/one.json"),
        "status": 200,
        "bytes": 16,
        "text": '{"a": "żółw"}',
    }
    assert data["missing"]["status"] == 404
    assert data["long.json"]["bytes"] == len(long)
    assert data["long.json"]["text"] == long[:1_000_000]


@pytest.mark.parametrize(
    ("kind", "mime_type", "expected"),
    [
        ("Fetch", "application/json", True),
        ("Script", "application/json", True),
        ("Image", "application/json", False),
        ("XHR", "application/rss+xml", True),
        ("Fetch", "application/yaml", True),
        ("XHR", "text/css", False),
        ("Fetch", "image/png", False),
        ("Script", "text/javascript", False),
    ],
)
def test_which_responses_carry_data(kind: str, mime_type: str, *, expected: bool) -> None:
    assert carries_data(kind, mime_type) is expected


APP = """<!doctype html><link rel=stylesheet href=style.css><h1>Title</h1><p class=raw>in source</p>
<script>document.querySelector('h1').textContent = 'Drawn'; document.body.append('by script')</script>
<noscript><meta http-equiv=refresh content="0;url=/good"><b>no script</b></noscript>
<iframe srcdoc="<p>framed</p><script>document.body.append('never')</script>"></iframe>
<p onclick="x()" hidden>hidden</p>"""


def test_the_source_is_shown_styled_and_without_scripts(studio: Studio) -> None:
    styles = {"Content-Type": "text/css"}
    asked = []

    def page(handler: Any) -> None:
        asked.append(handler.path)
        send(handler, APP.encode())

    studio.server.pages["/deep/style.css"] = lambda handler: send(
        handler, b".raw { color: rgb(1, 2, 3) }", headers=styles
    )
    studio.server.pages["/deep/app"] = page
    rendering = studio.render("/deep/app?x=1#here", KEPT, PATIENT)
    assert len(asked) == 1
    assert visible_text(rendering.snapshot).startswith("Drawn in source by script")
    assert rendering.unscripted is not None
    twin = rendering.unscripted.snapshot
    assert visible_text(twin) == "Title in source no script framed"
    origin = twin.provenance
    assert origin.producer == "unscripted"
    assert origin.options == rendering.snapshot.provenance.options | {"scripts": False}
    assert (origin.url, origin.complete) == (studio.server.url("/deep/app?x=1#here"), True)
    [raw] = [i for i in range(len(twin)) if twin.attributes(i).get("class") == "raw"]
    assert twin.computed_style(raw)["color"] == "rgb(1, 2, 3)"
    assert twin.box[raw, 3] > 10


@pytest.mark.parametrize(
    ("source", "content_type", "text"),
    [
        ("<p>żółw".encode("iso-8859-2"), "text/html; charset=iso-8859-2", "żółw"),
        ("\ufeff<p>żółw".encode(), "text/html", "żółw"),
        (b"<p>plain", "", "plain"),
    ],
)
def test_a_source_may_come_from_anywhere(studio: Studio, source: bytes, content_type: str, text: str) -> None:
    url = studio.server.url("/not/there")
    page = studio.runner.run(studio.renderer().render_source(url, source, content_type=content_type))
    assert visible_text(page.snapshot) == text
    assert base64.b64encode(page.source or b"") != b""
