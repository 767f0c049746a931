"""Pages are recorded as they load, and look from their archive as they did: for both drivers, with nothing asked."""

import asyncio
import json
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

import pytest

from domsieve.archive.http_exchange import Exchange, Recorded
from domsieve.archive.recording import Recording
from domsieve.errors import NavigationError
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer._limits import Limits
from domsieve.renderer.browser import browser
from domsieve.renderer.network.egress import offline
from domsieve.renderer.network.proxy import Proxy
from domsieve.renderer.network.replay import Replay
from domsieve.renderer.protocol import Rendering
from domsieve.renderer.renderer import Renderer
from domsieve.types import DriverName
from tests.archive.made import answer, record, written
from tests.renderer.trap_site import PASSING, TRAPS, TrapSite, trap_site

pytestmark = pytest.mark.browser

BUDGET = Budget(time=timedelta(minutes=3))
LIMITS = Limits(open_s=60, stop_s=20, capture_s=20, record_s=120, close_s=30, context_close_s=30)
RECORDING = CaptureOptions(record=True)
DONE = "body.done"
"""What pages show that know when they are, however busy the machine is."""
# It listens before the style sheet, for scripts wait for those, and the frame does not.
PLAIN = """<!doctype html><meta charset=utf-8><title>Plain</title>
<script>const framed = new Promise(done => addEventListener('message', done));</script>
<link rel=stylesheet href=/style.css>
<h1>Plain</h1><p id=said></p><img src=/image.png><iframe src=/frame></iframe>
<script>
const words = fetch('/data.json').then(r => r.json()).then(d => { said.textContent = d.words; });
const loaded = new Promise(done => addEventListener('load', done));
Promise.all([framed, words, loaded]).then(() => { document.body.className = 'done'; });
</script>"""
DATE = "2026-11-22T10:20:30.000Z"


def render(
    url: str,
    options: CaptureOptions = RECORDING,
    *,
    driver: DriverName = "pipe",
    site: TrapSite | None = None,
    replay: Replay | None = None,
) -> Rendering:
    """Return a page of a site, or of an archive."""
    if urlsplit(url).path in {"/start", "/plain"}:
        options = replace(options, wait_for=DONE)

    async def run() -> Rendering:
        flags = site.flags if site else ()
        egress = None if replay else offline()
        async with Renderer(
            options,
            BUDGET,
            driver=driver,
            egress=egress,
            arguments=flags,
            replay=replay,
            limits=LIMITS,
        ) as renderer:
            return await renderer.render(url)

    return asyncio.run(run())


def packed(path: Path, *pages: Rendering) -> Path:
    """Return an archive of pages that were recorded."""
    with Recording(path) as recording:
        for page in pages:
            assert page.recorded
            origin = page.snapshot.provenance
            recording.add(
                origin.url,
                page.recorded,
                captured_at=origin.captured_at,
                title="",
                status=origin.status,
            )
        recording.finish()
    return path


def made(path: Path, url: str, *exchanges: Exchange) -> Replay:
    """Return an archive of one page that nobody has rendered."""
    with Recording(path) as recording:
        recorded = Recorded(exchanges=exchanges)
        recording.add(url, recorded, captured_at=DATE, title="", status=200)
        recording.finish()
    return Replay.of(path)


def answered(url: str, body: str, kind: str = "text/html; charset=utf-8") -> Exchange:
    headers = (("Content-Type", kind),)
    return Exchange(
        url=url, method="GET", kind="Document", asked_at=DATE, status=200, headers=headers, body=body.encode()
    )


def texts(page: Rendering) -> list[str]:
    """Return all texts of a page, frames among them."""
    snapshot = page.snapshot
    return [text for node in range(len(snapshot)) if (text := snapshot.text_of(node)).strip()]


def items(page: Rendering) -> dict[str, str]:
    """Return what each trap says."""
    found = (text.partition(": ") for text in texts(page))
    return {name: said for name, colon, said in found if colon}


@contextmanager
def connections() -> Iterator[list[tuple[str, int]]]:
    """Yield where this process connects to, over networks, until the block ends; names that it looks up, too."""
    seen: list[tuple[str, int]] = []
    is_over = False

    def hear(event: str, values: tuple[Any, ...]) -> None:
        if is_over:
            return
        if event == "socket.connect" and isinstance(values[1], tuple):
            seen.append(values[1][:2])
        elif event == "socket.getaddrinfo":
            seen.append(values[:2])

    sys.addaudithook(hear)  # which stays until the process ends
    try:
        yield seen
    finally:
        is_over = True


@pytest.mark.parametrize("driver", get_args(DriverName))
def test_a_page_of_traps_looks_as_it_did_with_its_servers_gone(driver: DriverName, tmp_path: Path) -> None:
    # A shared worker may make its first request before domsieve can attach to it, and so unrecorded.
    for _ in range(5):
        with trap_site() as site:
            url = site.url("/start")
            live = render(url, driver=driver, site=site)
        assert live.recorded
        if any(one.url.endswith("/say/shared") for one in live.recorded.exchanges):
            break
    said = items(live)
    assert said.keys() == TRAPS.keys()
    assert not [one for one in said.values() if one.startswith(("error", "…"))]
    replay = Replay.of(packed(tmp_path / "a.wacz", live))
    with connections() as seen:
        again = render(url, CaptureOptions(), driver=driver, replay=replay)
    passing = dict.fromkeys(PASSING, "")
    assert items(again) | passing == said | passing
    assert len(items(again)) >= 18 + len(PASSING)
    assert texts(again)[-2:] == texts(live)[-2:]  # of the frames
    assert len(again.snapshot) == len(live.snapshot)
    assert replay.unknown == 0
    assert {host for host, _ in seen} == {"127.0.0.1"}
    assert again.snapshot.provenance.refused == ()
    assert again.snapshot.provenance.options["archive"] == replay.answers.digest


def test_an_archive_of_traps_says_what_it_lacks(tmp_path: Path) -> None:
    with trap_site() as site:
        live = render(site.url("/start"), site=site)
    with zipfile.ZipFile(packed(tmp_path / "a.wacz", live)) as file:
        facts = json.loads(file.read("datapackage.json"))["domsieve"]
    assert not facts["complete"]
    assert facts["missing"]["workers that pages share"] == 1
    assert facts["missing"]["streams that had not ended"] >= 2
    assert "bodies that were lost" not in facts["missing"]


@pytest.mark.parametrize("driver", get_args(DriverName))
def test_a_page_that_is_recorded_is_captured_the_same_and_comes_back_the_same(
    driver: DriverName, tmp_path: Path
) -> None:
    with trap_site({"/plain": PLAIN}) as site:
        url = site.url("/plain")
        unrecorded = render(url, CaptureOptions(), driver=driver, site=site)
        site.server.forget()  # so that the frame counts as before
        recorded = render(url, driver=driver, site=site)
    assert unrecorded.recorded is None
    assert unrecorded.snapshot.digest() == recorded.snapshot.digest()
    assert recorded.recorded is not None
    assert recorded.recorded.missing == ()
    replay = Replay.of(packed(tmp_path / "a.wacz", recorded))
    again = render(url, CaptureOptions(), driver=driver, replay=replay)
    assert again.snapshot.digest() == recorded.snapshot.digest()
    assert again.source == recorded.source


def test_time_and_random_numbers_can_be_those_of_the_archive(tmp_path: Path) -> None:
    with trap_site() as site:
        url = site.url("/start")
        live = render(url, site=site)
    replay = Replay.of(packed(tmp_path / "a.wacz", live))
    fixed = CaptureOptions(fixed_time=True)
    first, second = (render(url, fixed, replay=replay) for _ in range(2))
    assert texts(first) == texts(second)
    assert items(first)["date"][:19] == live.snapshot.provenance.captured_at[:19]
    assert first.snapshot.provenance.options["fixed_time"] is True
    assert "fixed_time" not in live.snapshot.provenance.options


def test_pages_of_an_archive_meet_nothing_of_each_other(tmp_path: Path) -> None:
    body = "<p id=p></p><script>p.textContent = (document.cookie || 'none') + (localStorage.a || 'none');"
    body += "document.cookie = 'a=1'; localStorage.a = '1'</script>"
    urls = [f"https://moss.example/{number}" for number in (1, 2)]
    exchanges = [answered(url, f"<!doctype html>{body}") for url in urls]
    with Recording(tmp_path / "a.wacz") as recording:
        for url in urls:
            recorded = Recorded(exchanges=tuple(exchanges))
            recording.add(url, recorded, captured_at=DATE, title="", status=200)
        recording.finish()
    replay = Replay.of(tmp_path / "a.wacz")

    async def run() -> list[Rendering]:
        async with Renderer(replay=replay, driver="pipe", limits=LIMITS) as renderer:
            return [await renderer.render(url) for url in urls]

    assert [texts(page) for page in asyncio.run(run())] == [["nonenone"]] * 2


def test_nothing_outside_of_the_archive_is_reached(tmp_path: Path) -> None:
    """A page from an archive that asks for this machine, for other hosts and by other protocols."""
    with trap_site() as other:
        there = other.server.server_port
        url = "https://moss.example/"
        probes = (
            f"https://127.0.0.1:{there}/say/reached",
            f"https://localhost:{there}/say/reached",
            f"https://[::1]:{there}/say/reached",
            "https://elsewhere.example/",
            "http://169.254.169.254/",
            "https://moss.example/not-recorded",
        )
        body = (
            f"<!doctype html><ul id=list></ul><iframe src='{probes[0]}'></iframe><img src='{probes[1]}'>"
            f"<link rel=preconnect href='https://elsewhere.example'><script>for (const probe of {[*probes]}) "
            "fetch(probe, {mode: 'no-cors'}).then(() => 'reached', () => 'failed').then(said => "
            "{ list.innerHTML += `<li>${said}</li>` });"
            f"new WebSocket('wss://localhost:{there}/');"
            "new RTCPeerConnection({iceServers: [{urls: 'stun:elsewhere.example:3478'}]})</script>"
        )
        replay = made(tmp_path / "a.wacz", url, answered(url, body))
        with connections() as seen:
            page = render(url, CaptureOptions(), replay=replay)
        assert [text for text in texts(page) if text in {"reached", "failed"}] == ["failed"] * len(probes)
        assert other.server.asked == []
    assert {host for host, _ in seen} == {"127.0.0.1"}
    assert there not in {port for _, port in seen}


def test_answers_say_nothing_about_later_visits_and_no_header_ends_its_line(tmp_path: Path) -> None:
    fields = (
        "Strict-Transport-Security: max-age=1000",
        'Alt-Svc: h3=":443"',
        'Report-To: {"group": "a"}',
        'NEL: {"report_to": "a"}',
        'Reporting-Endpoints: a="https://elsewhere.example/"',
        "X-A: b\rX-Forged: c",
        "X-Kept: d",
    )
    path = written(tmp_path, record(answer(b"<p>here", *fields), url="http://moss.example/"))

    async def asked() -> bytes:
        async with Replay.of(path).page("http://moss.example/") as staged:
            reader, writer = await asyncio.open_connection("127.0.0.1", staged.proxy.port)
            writer.write(
                b"GET http://moss.example/ HTTP/1.1\r\nHost: moss.example\r\nConnection: close\r\n\r\n"
            )
            head = await reader.readuntil(b"\r\n\r\n")
            writer.close()
            return head

    status, *lines = asyncio.run(asked()).rstrip().split(b"\r\n")
    assert status == b"HTTP/1.1 200 OK"
    names = {line.partition(b":")[0].lower() for line in lines}
    assert names == {b"content-type", b"content-length", b"x-a", b"x-kept"}
    assert b"\r" not in b"".join(lines)


def test_a_page_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    replay = made(tmp_path / "a.wacz", "https://moss.example/", answered("https://moss.example/", "<p>here"))
    with pytest.raises(NavigationError, match="does not contain this page"):
        render("https://moss.example/other", CaptureOptions(), replay=replay)


def test_a_browser_that_meets_the_network_checks_every_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The flag by which the key of a run is accepted goes to the browsers of that archive alone."""
    started: list[tuple[tuple[str, ...], Any]] = []
    start = browser.start_browser

    async def hear(options: CaptureOptions, **values: Any) -> Any:
        started.append((values["arguments"], values["egress"]))
        return await start(options, **values)

    monkeypatch.setattr("domsieve.renderer.renderer.start_browser", hear)
    replay = made(tmp_path / "a.wacz", "https://moss.example/", answered("https://moss.example/", "<p>here"))
    render("https://moss.example/", CaptureOptions(), replay=replay)
    with trap_site() as site, pytest.raises(NavigationError, match="CERT"):
        render(site.url("/traps"), CaptureOptions())
    (pinned, closed), (plain, _) = started
    assert any("spki" in flag for flag in pinned)
    assert not any("spki" in flag for flag in plain)

    async def reach() -> None:
        async with Proxy(closed) as proxy:
            with pytest.raises(NavigationError):
                await proxy.egress.connect(
                    await proxy.egress.decide("https", "127.0.0.1", 443), asyncio.Protocol
                )
            with pytest.raises(NavigationError):
                await proxy.egress.decide("https", "moss.example", 443)

    asyncio.run(reach())
    assert Replay(replay.answers).flags != replay.flags


SECRET = "s3cret-of-mine"


def test_what_the_user_gave_is_not_written_unless_asked_for(tmp_path: Path) -> None:
    page = "<!doctype html><p>page<script>fetch(origin + '/bake').then(() => fetch(origin + '/cookies'))</script>"
    with trap_site({"/page": page}) as site:
        state = {
            "cookies": [{"name": "kept", "value": SECRET, "domain": "shop.localhost", "path": "/"}],
            "origins": [{"origin": site.url(""), "localStorage": [{"name": "token", "value": SECRET}]}],
        }
        (tmp_path / "state.json").write_text(json.dumps(state))
        options = CaptureOptions(
            record=True,
            headers=(("X-Token", SECRET), ("Authorization", f"Bearer {SECRET}")),
            cookies=(("given", SECRET),),
            storage_state=tmp_path / "state.json",
        )
        silent = render(site.url("/page").replace("https://", f"https://me:{SECRET}@"), options, site=site)
        telling = render(site.url("/page"), replace(options, record_credentials=True), site=site)
    assert silent.recorded
    assert telling.recorded
    # What the server says of them is its own word.
    sent = [replace(one, body=b"") for one in silent.recorded.exchanges]
    assert len(sent) == 3
    assert SECRET not in repr(sent)
    names = {name.lower() for one in sent for name, _ in one.request_headers}
    assert "user-agent" in names
    assert names.isdisjoint({"x-token", "authorization", "cookie"})
    told = dict(telling.recorded.exchanges[0].request_headers)
    assert SECRET in told["X-Token"]
    assert f"kept={SECRET}" in told["Cookie"]
    data = packed(tmp_path / "a.wacz", replace(silent, recorded=Recorded(exchanges=tuple(sent)))).read_bytes()
    with zipfile.ZipFile(tmp_path / "a.wacz") as file:
        assert not any(SECRET.encode() in file.read(name) for name in file.namelist() if "warc" not in name)
    assert SECRET.encode() not in data


def test_a_page_that_was_left_is_recorded_whole(tmp_path: Path) -> None:
    """The browser forgets bodies of a page when another takes its place."""
    pages = {
        "/first": "<!doctype html><p>ä<script>const ask = path => fetch(path).then(r => r.text());"
        "ask('/data.json').then(() => ask('/cookies')).then(() => { location = '/second' })</script>",
        "/second": "<!doctype html><p>second",
    }
    with trap_site(pages) as site:
        url = site.url("/first")
        live = render(url, site=site)
    assert live.recorded
    bodies = {one.url.rpartition("/")[2]: (one.outcome, len(one.body)) for one in live.recorded.exchanges}
    assert {outcome for outcome, _ in bodies.values()} == {"whole"}
    assert bodies["first"][1] == len(pages["/first"].encode())
    again = render(url, CaptureOptions(), replay=Replay.of(packed(tmp_path / "a.wacz", live)))
    assert (texts(again), again.snapshot.provenance.final_url) == (["second"], site.url("/second"))


def test_an_older_browser_loses_bodies_and_the_archive_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from domsieve.renderer.page import recorder

    made_by = recorder.Recorder.__init__

    def make(self: recorder.Recorder, *values: Any) -> None:
        made_by(self, *values)
        del self._buffers["enableDurableMessages"]

    monkeypatch.setattr(recorder.Recorder, "__init__", make)
    page = "<!doctype html><p id=p><script>fetch('/say/x').then(r => r.blob()).then(b => b.text())"
    page += ".then(t => { p.textContent = t })</script>"
    with trap_site({"/page": page}) as site:
        live = render(site.url("/page"), site=site)
    assert live.recorded
    outcomes = {one.url.rpartition("/")[2]: one.outcome for one in live.recorded.exchanges}
    assert outcomes == {"page": "whole", "x": "lost"}
