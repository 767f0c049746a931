"""The web page in Chrome, with the real service and the demo site: what a person does works, nothing else runs."""

import asyncio
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Frame, Page, async_playwright

from benchmarks.running_service import RunningService
from domsieve.renderer.browser.playwright_driver import find_browser, launch_options
from examples.serve import serve_demo
from tests.axe import AXE, FIND, WITHOUT_AXE
from tests.command import run
from tests.renderer.bad_server import Server, serving
from tests.service.web.running import running

pytestmark = pytest.mark.browser

# Nothing but loopback has a name.
LOOPBACK_ONLY = ("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",)
ENDED = "#status .badge:is(.done, .failed, .cancelled)"
HOSTILE = "<img src=x onerror=hostile_ran=1><script>hostile_ran=1</script>\"'><svg onload=hostile_ran=1>"
LIMIT_MS = 300_000


class Person:
    """Uses the page in a window and notes whatever it does besides what it should."""

    def __init__(self, runner: asyncio.Runner, browser: Browser, base: str) -> None:
        self.runner, self.browser, self.base = runner, browser, base
        self.events: list[str] = []
        self.page: Page = runner.run(self._open())

    async def _open(self) -> Page:
        context = await self.browser.new_context(viewport={"width": 1100, "height": 900})
        context.set_default_timeout(LIMIT_MS)
        await context.add_init_script(
            "addEventListener('securitypolicyviolation', "
            "(event) => console.log(event.violatedDirective + ' ' + event.blockedURI))"
        )
        page = await context.new_page()
        page.on("console", lambda message: self.events.append(f"console {message.text}"))
        page.on("pageerror", lambda error: self.events.append(f"error {error}"))
        page.on("dialog", lambda dialog: self.events.append(f"dialog {dialog.message}"))
        context.on("request", lambda request: self._request(request.url))
        return page

    def _request(self, url: str) -> None:
        if not url.startswith((self.base, "data:image/")):
            self.events.append(f"request {url[:100]}")

    def do(self, work: Any) -> Any:
        return self.runner.run(work)

    def go(self, path: str) -> None:
        self.do(self.page.goto(self.base + path))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.do(self.page.keyboard.press(key))

    def see(self, selector: str) -> None:
        self.do(self.page.wait_for_selector(selector))

    def text(self, selector: str) -> str:
        return str(self.do(self.page.inner_text(selector)))

    def js(self, code: str) -> Any:
        return self.do(self.page.evaluate(code))

    def ask(self, kind: str, url: str) -> None:
        """Fill in the form and send it."""
        self.go("/")
        self.do(self.page.fill("#url", url))
        self.do(self.page.check(f"input[value={kind}]"))
        self.do(self.page.click("button.main"))
        self.do(self.page.wait_for_url("**/jobs/*"))

    def close(self) -> None:
        assert self.js("() => typeof hostile_ran") == "undefined"
        assert self.events == []
        self.do(self.page.context.close())


@pytest.fixture(scope="module")
def demo() -> Iterator[str]:
    with serve_demo() as base:
        yield base


@pytest.fixture(scope="module")
def bad() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, demo: str, bad: Server) -> Iterator[RunningService]:
    allowed = demo.removeprefix("http://"), f"127.0.0.1:{bad.port}"
    with running(tmp_path_factory.mktemp("service"), *allowed) as service:
        yield service


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def browser(runner: asyncio.Runner) -> Iterator[Browser]:
    async def start() -> tuple[Any, Browser]:
        playwright = await async_playwright().start()
        options = launch_options(await find_browser(playwright))
        options["args"] = [*options.get("args", ()), *LOOPBACK_ONLY]
        return playwright, await playwright.chromium.launch(**options)

    playwright, browser = runner.run(start())
    yield browser
    runner.run(browser.close())
    runner.run(playwright.stop())


@pytest.fixture
def person(runner: asyncio.Runner, browser: Browser, service: RunningService) -> Iterator[Person]:
    person = Person(runner, browser, service.url)
    yield person
    person.close()


def test_a_page_is_cleaned_and_its_text_shown(person: Person, demo: str) -> None:
    person.ask("clean", demo + "/articles/owl-pellets")
    person.see(".badge.done")
    assert "A barn owl swallows its dinner whole" in person.text("pre.result")
    assert "Crumbs on the desk" not in person.text("pre.result")

    async def download() -> Path:
        async with person.page.expect_download() as waiting:
            await person.page.click("text=Download page.md")
        return await (await waiting.value).path()

    assert "An owl" in person.do(download()).read_text(encoding="utf-8")


def test_the_progress_of_a_site_is_followed_without_loading_the_page_anew(person: Person, demo: str) -> None:
    person.ask("site", demo + "/")
    person.js("() => { document.body.dataset.same = 'yes' }")
    person.see(ENDED)
    assert person.js("() => document.body.dataset.same") == "yes"
    assert person.text("#status").split()[0] == "done"
    assert person.js("() => document.title").startswith("done")
    assert person.do(person.page.locator("#live-log li").count()) > 10
    assert person.do(person.page.locator("#live-result tbody tr").count()) > 5


def test_the_report_opens_in_a_sandbox_of_its_own(person: Person, demo: str) -> None:
    person.ask("report", demo + "/articles/swifts")
    person.see(".badge.done")

    async def opened() -> tuple[str, ...]:
        async with person.page.context.expect_page() as waiting:
            await person.page.click("text=Open the report")
        report = await waiting.value
        await report.wait_for_load_state()
        # What a script in it could try, its own policies aside.
        read = "() => fetch('/v1/jobs').then(() => 'read', (error) => error.name)"
        tried = [await report.evaluate(code) for code in (read, "() => String(opener)", "() => origin")]
        report.on("console", lambda message: person.events.append(f"report {message.text}"))
        await report.click("#methods button >> nth=2")
        assert await report.locator("[role=tab]").count() == 4
        said = await report.evaluate("() => { try { return document.cookie } catch (e) { return e.name } }")
        return *tried, said

    assert person.do(opened()) == ("TypeError", "null", "null", "SecurityError")


def test_a_job_is_cancelled_and_deleted(person: Person, bad: Server) -> None:
    person.ask("clean", bad.url("/silent"))
    person.see(".badge.running")
    person.do(person.page.click("text=Cancel"))
    person.see(".badge.cancelled")
    here = person.page.url
    person.do(person.page.click("text=Delete"))
    person.do(person.page.wait_for_url("**/jobs"))
    answer = person.do(person.page.request.get(here))
    assert answer.status == 404


def test_all_is_done_by_keyboard(person: Person, demo: str) -> None:
    person.go("/")
    person.see("#url:focus")
    person.do(person.page.keyboard.type(demo + "/shop"))
    person.press("Tab", "Tab", "ArrowRight")
    assert person.js("() => document.activeElement.value") == "records"
    person.press("Tab")
    assert person.js("() => document.activeElement.name") == "records_method"
    person.do(person.page.focus("#url"))
    person.press("Enter")
    person.do(person.page.wait_for_url("**/jobs/*"))
    person.see(".badge.done")
    person.press("Tab")
    assert person.text(":focus") == "Skip to the content"
    person.press("Enter")
    person.see("#content:focus")
    person.press("Tab", "Tab")
    assert person.text(":focus").startswith("Download")
    outline = "() => getComputedStyle(document.activeElement).outlineStyle"
    assert person.js(outline) == "solid"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_shows_all_of_the_width(person: Person, demo: str, theme: Any) -> None:
    person.do(person.page.set_viewport_size({"width": 390, "height": 844}))
    person.do(person.page.emulate_media(color_scheme=theme))
    person.ask("compare", demo + "/articles/" + "a-long-name" * 30)
    person.see(ENDED)
    paths = [
        "/",
        "/?kind=site",
        "/jobs",
        "/jobs?state=done",
        "/cache",
        person.page.url.removeprefix(person.base),
    ]
    for path in paths:
        person.go(path)
        wide = person.js("() => document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, path
        assert person.js("() => getComputedStyle(document.body).backgroundColor") == (
            "rgb(246, 245, 242)" if theme == "light" else "rgb(22, 24, 28)"
        )


def test_what_a_page_says_is_only_ever_text(person: Person, bad: Server) -> None:
    bad.pages["/hostile"] = f"<title>{HOSTILE}</title><main><h1>Heading</h1><p>{'word ' * 80}" + (
        HOSTILE.replace("&", "&amp;").replace("<", "&lt;") + "</p></main>"
    )
    url = bad.url("/hostile") + "?q=" + HOSTILE.replace(" ", "/")
    person.ask("clean", url)
    person.see(".badge.done")
    assert "<script>hostile_ran=1</script>" in person.text("h1.url")
    assert "<svg onload=hostile_ran=1>" in person.text("pre.result")
    for path in ("/", "/jobs", "/cache", "/?url=" + HOSTILE.replace(" ", "/").replace("#", "")):
        person.go(path)
        assert person.do(person.page.locator("main img, main svg, main script").count()) == 0


def test_markdown_of_a_hostile_page_is_previewed_and_does_nothing(person: Person, bad: Server) -> None:
    words = "word " * 80
    markdown = (
        "[click me](javascript:hostile_ran=1) ![p](http://evil.example/p.png) "
        "&lt;img src=x onerror=hostile_ran=1&gt;&lt;style&gt;@import 'http://evil.example/'&lt;/style&gt;"
    )
    links = "<a href='http://evil.example/away'>away</a> <img src='http://127.0.0.1:1/x.png' alt='a picture'>"
    prose = "Herons stand in the shallows before sunrise and watch for eels that leave the reeds; they strike once."
    body = f"<p>{prose} Then they fly {links} over the weir to the wood.</p><p>{words}{markdown}</p>"
    bad.pages["/preview"] = f"<main><h1>Heading</h1>{body}</main>"
    person.ask("clean", bad.url("/preview"))
    person.see(".badge.done")
    frame = person.page.frame_locator("iframe.result")
    assert person.do(frame.locator("h1").inner_text()) == "Heading"
    assert "hostile_ran=1" in person.do(frame.locator("main").inner_text())
    for element in ("script", "img", "a", "main style", "[onerror]", "[href]", "[src]"):
        assert person.do(frame.locator(element).count()) == 0, element
    person.do(frame.locator("text=away").click())
    assert person.do(frame.locator("h1").inner_text()) == "Heading"
    # What a script in it could reach, and that it reads no style but ours.
    inside = person.page.frames[1]
    assert inside.url.startswith(person.base)
    assert person.js("() => document.querySelector('iframe').contentDocument") is None


def test_results_are_tables(person: Person, demo: str) -> None:
    person.ask("records", demo + "/shop")
    person.see(".badge.done")
    assert person.do(person.page.locator("#live-result tbody tr").count()) == 12
    assert "12 records" in person.text("#live-result")
    heads = person.do(person.page.locator("#live-result thead th").all_inner_texts())
    assert heads[:3] == ["Title", "Price", "Image"]
    assert "Put in the basket" not in person.text("#live-result tbody")
    person.do(person.page.click("text=The same in all records"))
    assert "Put in the basket" in person.text(".same")
    link = person.page.locator("#live-result tbody a").first
    assert person.do(link.get_attribute("href")) == demo + "/shop#/product/hand-lens"
    assert person.do(link.get_attribute("rel")) == "noopener noreferrer"
    assert "Folding hand lens, ten times" in person.text("#live-result tbody")
    person.ask("compare", demo + "/shop")
    person.see(".badge.done")
    said = person.text("#live-result")
    assert "This page needs a browser." in said
    assert "/api/products.json" in said
    assert "Added by a script" in said


def test_pictures_of_records_load_when_they_are_asked_for(person: Person, demo: str) -> None:
    person.ask("records", demo + "/shop")
    person.see(".badge.done")
    assert person.do(person.page.locator("#live-result img").count()) == 0
    assert person.events == []
    person.do(person.page.click("text=Show pictures"))
    person.see("#live-result img")
    # The page's policy forbids the `eval` with which `wait_for_function` asks again.
    person.js("() => document.querySelector('#live-result img').decode()")
    assert {event.partition(demo)[0] for event in person.events} == {"request "}
    person.do(person.page.click("text=Hide pictures"))
    person.see("text=Show pictures")
    assert person.do(person.page.locator("#live-result img").count()) == 0
    person.events.clear()


def test_a_phone_shows_title_and_price_of_a_record_first(person: Person, demo: str) -> None:
    person.do(person.page.set_viewport_size({"width": 390, "height": 844}))
    person.ask("records", demo + "/shop")
    person.see(".badge.done")
    title, price = (
        person.do(person.page.locator(f".records td:nth-child({at})").first.bounding_box()) for at in (1, 2)
    )
    assert title["x"] + title["width"] <= 390
    assert price["x"] + price["width"] <= 390
    rows = person.js(
        "() => [...document.querySelectorAll('.records tbody tr')].map((row) => row.scrollWidth)"
    )
    assert max(rows) <= 390
    assert person.do(person.page.get_by_role("columnheader").count()) >= 3


_LISTEN = """() => {
    globalThis.heard = []
    const listen = ([{ target }]) => heard.push(target.textContent)
    new MutationObserver(listen).observe(document.querySelector('[data-copied]'), { childList: true })
}"""


def test_a_result_is_copied(person: Person, demo: str) -> None:
    person.do(person.page.context.grant_permissions(["clipboard-read", "clipboard-write"]))
    person.ask("clean", demo + "/articles/swifts")
    person.see(".badge.done")

    async def copy() -> None:
        # It is said for some seconds only, in which a busy browser may paint nothing.
        await person.page.evaluate(_LISTEN)
        await person.page.click("text=Copy")
        await person.page.wait_for_function("() => heard.length > 0")

    person.do(copy())
    assert person.js("() => heard[0]") == "Copied."
    assert person.js("() => navigator.clipboard.readText()") == person.js(
        "() => document.getElementById('source').textContent"
    )


def test_times_are_those_of_the_place(person: Person, demo: str) -> None:
    person.ask("clean", demo + "/articles/swifts")

    async def visit() -> tuple[str, str]:
        context = await person.browser.new_context(timezone_id="Asia/Kathmandu")
        context.set_default_timeout(LIMIT_MS)
        page = await context.new_page()
        await page.goto(person.base + "/jobs")
        time = page.locator("time").first
        shown, iso = await time.inner_text(), await time.get_attribute("datetime")
        await context.close()
        return shown, iso or ""

    shown, iso = person.do(visit())
    place = datetime.fromisoformat(iso) + timedelta(hours=5, minutes=45)
    assert shown == f"{place.day} {place:%b %H:%M:%S}"


def test_pages_of_a_site_are_read_one_after_the_other(person: Person, demo: str) -> None:
    person.ask("site", demo + "/")
    person.see(".badge.done")
    person.do(person.page.click("#live-result tbody a"))
    person.see("iframe.result")
    first = person.text("h1")
    person.do(person.page.click("text=Next page"))
    person.do(person.page.wait_for_url("**/pages/2"))
    assert person.text("h1") != first
    assert "Confidence" in person.text(".confidence")


def test_a_job_that_failed_is_explained_tried_again_and_changed(person: Person) -> None:
    person.ask("clean", "http://nowhere.invalid/")
    person.see(".badge.failed")
    assert "there is no site of this name" in person.text("#live-result")
    here = person.page.url
    person.do(person.page.click("text=Retry"))
    person.do(person.page.wait_for_url(lambda url: url != here))
    person.see(".badge.failed")
    person.do(person.page.click("text=Again"))
    person.see("form.ask")
    assert person.do(person.page.input_value("#url")) == "http://nowhere.invalid/"


@pytest.mark.skipif(not AXE.is_file(), reason=WITHOUT_AXE)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_screen_readers_and_weak_eyes_are_served(person: Person, demo: str, theme: Any) -> None:
    person.do(person.page.emulate_media(color_scheme=theme))
    paths = ["/", "/jobs", "/cache", "/docs", "/nowhere"]
    for kind, url in (
        ("clean", demo + "/articles/swifts"),
        ("records", demo + "/shop"),
        ("fields", demo + "/articles/swifts"),
        ("compare", demo + "/shop"),
        ("site", demo + "/"),
        ("clean", "http://nowhere.invalid/"),
    ):
        person.ask(kind, url)
        person.see(ENDED)
        paths.append(person.page.url.removeprefix(person.base))
        if kind == "site":
            paths.append(paths[-1] + "/pages/1")
    for path in paths:
        person.go(path)
        person.js(AXE.read_text(encoding="utf-8"))
        assert person.js(FIND) == [], path
    person.events = [event for event in person.events if "404" not in event]


def test_values_are_chosen_by_keyboard_in_a_sandbox_and_found_on_other_pages(
    person: Person, demo: str
) -> None:
    person.ask("fields", demo + "/articles/swifts")
    person.see(ENDED)
    title = person.page.frame_locator("#picked-from").locator("button.large").first

    def loaded() -> Frame:
        """Return the frame when it has the document and its script, which is the last of it."""
        person.do(title.wait_for())
        frame = person.page.frames[1]
        person.do(frame.wait_for_load_state())
        return frame

    loaded()
    said = str(person.do(title.inner_text()))
    person.do(title.focus())
    person.press("Enter")
    person.see("[name=name_0]:focus")
    person.do(person.page.keyboard.type("headline"))
    assert person.do(person.page.input_value("[name=value_0]")) == said
    assert "Give it a name" in person.text("[data-picked]")
    person.do(person.page.fill("[name=urls]", f"{demo}/articles/owl-pellets\n{demo}/articles/robins"))
    person.do(person.page.click("button:text-is('Learn')"))
    person.see("text=Find these fields on more pages")
    table = person.text("table")
    assert said in table
    assert "An owl" in table
    # The document has no origin: it reads nothing of the service, and messages of others are not taken.
    reads = """async () => {
        try { return document.cookie } catch (error) { return error.name }
    }"""
    person.do(person.page.go_back())
    inner = loaded()
    assert person.do(inner.evaluate("() => origin")) == "null"
    assert person.do(inner.evaluate(reads)) == "SecurityError"
    person.js(
        "() => new Promise((done) => { addEventListener('message', () => done()); "
        "postMessage({ picked: 'forged' }, '*') })"
    )
    values = person.js("() => [...document.querySelectorAll('[name^=value_]')].map((one) => one.value)")
    assert len(values) > 1
    assert "forged" not in values


def test_a_page_that_may_not_be_opened_says_so(person: Person) -> None:
    person.ask("clean", "http://127.0.0.1:1/")
    person.see(".badge.failed")
    assert "A rule of this service forbids it." in person.text("#live-result")
    assert person.do(person.page.locator("#live-actions .main").count()) == 0


def test_redirects_in_circles_are_explained_as_such(person: Person, bad: Server) -> None:
    person.ask("clean", bad.url("/redirect"))
    person.see(".badge.failed")
    assert "the page leads on in circles" in person.text("#live-result")
    assert "seconds" not in person.text("#live-result")
    assert person.do(person.page.locator("#live-actions .main").count()) == 0


def test_a_bad_form_is_shown_again_with_what_was_in_it(person: Person) -> None:
    person.go("/")
    person.do(person.page.fill("#url", "http://"))
    person.do(person.page.check("input[value=records]"))
    person.do(person.page.click("button.main"))
    person.see("[role=alert]")
    assert person.do(person.page.input_value("#url")) == "http://"
    assert person.do(person.page.is_checked("input[value=records]"))
    # Chrome itself notes the status of the answer.
    person.events = [event for event in person.events if "422" not in event]


def test_without_scripts_the_page_loads_itself_anew(
    runner: asyncio.Runner, browser: Browser, service: RunningService, demo: str
) -> None:
    async def visit() -> str:
        context = await browser.new_context(java_script_enabled=False)
        context.set_default_timeout(LIMIT_MS)
        page = await context.new_page()
        await page.goto(service.url + "/")
        await page.fill("#url", demo + "/articles/lichens")
        await page.click("button.main")
        await page.wait_for_selector(".badge.done")
        text = await page.inner_text("pre.result")
        await context.close()
        return text

    assert "lichen" in runner.run(visit())


class TestCommand:
    """What the command says when it cannot serve: one line and an exit code."""

    def run(self, folder: Path, *words: str) -> tuple[int, str]:
        done = run("serve", "--port", "0", "--data", folder / "data", *words, cache=folder / "cache")
        lines = [line for line in done.stderr.splitlines() if line.startswith("domsieve:")]
        assert len(lines) == 1, done.stderr
        return done.exit_code, lines[0]

    def test_the_port_is_taken(self, tmp_path: Path, service: RunningService) -> None:
        code, said = self.run(tmp_path, "--port", str(service.port))
        assert code == 2
        assert "--port" in said

    def test_the_folder_is_in_use(self, service: RunningService) -> None:
        code, said = self.run(service.log.parent)
        assert code == 5
        assert "in use" in said

    def test_there_are_no_tokens(self, tmp_path: Path) -> None:
        code, said = self.run(tmp_path, "--token-file", str(tmp_path / "none"))
        assert code == 2
        assert "cannot be read" in said

    def test_there_is_no_chrome(self, tmp_path: Path) -> None:
        code, _ = self.run(tmp_path, "--browser", str(tmp_path / "none"))
        assert code == 4
