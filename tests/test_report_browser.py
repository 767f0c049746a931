"""A report in Chrome: what a person does with it works, and nothing of the pages in it runs, loads or leaves it."""

import asyncio
import json
import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, async_playwright

from domsieve.analysis.registry import METHODS
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.browser.playwright_driver import find_browser, launch_options
from domsieve.renderer.network.egress import offline
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.store import PageStore
from examples.serve import serve_demo
from tests.axe import AXE, FIND, WITHOUT_AXE
from tests.command import run
from tests.keyboard import not_reached
from tests.renderer.bad_server import serving

pytestmark = pytest.mark.browser

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da63fccff0bf1e00067f0280"
    "f0a1c5a40000000049454e44ae426082"
)
LIMIT_MS = 300_000
HOSTILE = Path(__file__).with_name("hostile_report_page.html")
QUERY = "?q=</script><script>window.hostile_ran=1</script>"


class Reader:
    """Opens reports and notes whatever they do besides showing themselves."""

    def __init__(self) -> None:
        self.runner = asyncio.Runner()
        self.browser: Browser = self.run(self._start())

    async def _start(self) -> Browser:
        self.playwright = await async_playwright().start()
        options = launch_options(await find_browser(self.playwright))
        options["args"] = [
            *options.get("args", ()),
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        ]
        return await self.playwright.chromium.launch(**options)

    def run(self, work: Any) -> Any:
        return self.runner.run(work)

    def close(self) -> None:
        self.run(self.browser.close())
        self.run(self.playwright.stop())
        self.runner.close()


class Opened:
    """A report that is open in a window."""

    def __init__(self, reader: Reader, file: Path, *, width: int = 1200, theme: Any = "light") -> None:
        self.reader, self.events = reader, list[str]()
        self.url = file.as_uri()
        self.page: Page = reader.run(self._open(width, theme))

    async def _open(self, width: int, theme: Any) -> Page:
        context = await self.reader.browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=theme
        )
        await context.add_init_script(
            "window.violations = []; addEventListener('securitypolicyviolation', (event) => "
            "violations.push(event.violatedDirective + ' ' + event.blockedURI))"
        )
        context.set_default_timeout(LIMIT_MS)
        page = await context.new_page()
        context.on("request", lambda request: self._request(request.url))
        context.on("page", lambda other: self.events.append(f"window {other.url}"))
        page.on("console", lambda message: self.events.append(f"console {message.text}"))
        page.on("pageerror", lambda error: self.events.append(f"error {error}"))
        page.on("dialog", lambda dialog: self.events.append(f"dialog {dialog.message}"))
        await page.goto(self.url)
        return page

    def _request(self, url: str) -> None:
        if url != self.url and not url.startswith("data:image/"):
            self.events.append(f"request {url[:80]}")

    def js(self, code: str) -> Any:
        return self.reader.run(self.page.evaluate(code))

    def click(self, selector: str) -> None:
        self.reader.run(self.page.click(selector))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.reader.run(self.page.keyboard.press(key))

    def text(self, selector: str) -> str:
        return str(self.reader.run(self.page.inner_text(selector)))

    def count(self, selector: str) -> int:
        return int(self.reader.run(self.page.locator(selector).count()))

    def close(self) -> None:
        self.js("new Promise((done) => setTimeout(done, 50))")
        assert self.events == []
        assert self.js("violations") == []
        assert self.js("typeof hostile_ran") == "undefined"
        assert self.count("a, iframe, object, embed, form, svg, link:not([href='data:,'])") == 0
        assert self.count("img:not([src^='data:image/'])") == self.count("img:not([src])")
        assert self.count("[onclick], [onerror], [onload], [href]:not(link), [srcset]") == 0
        self.reader.run(self.page.context.close())


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    reader = Reader()
    yield reader
    reader.close()


async def captured(urls: list[str], store: PageStore) -> None:
    """Render pages into the store, with a picture beside each that stands for its screenshot."""
    options = CaptureOptions()
    async with Renderer(options, Budget(), concurrency=2, egress=offline()) as renderer:
        async for url, done in renderer.render_many(urls):
            assert not isinstance(done, Exception), url
            facts = {
                "tiles": [{"name": "screenshot-0.webp", "y": 0, "height": 1200}],
                "scale": 1,
                "width": 1280,
            }
            extras = {"screenshot-0.webp": PIXEL, "screenshot.json": json.dumps(facts).encode()}
            store.put(done.snapshot, source=done.source, extras=extras)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a report on six hostile pages."""
    folder = tmp_path_factory.mktemp("hostile")
    with serving() as server, PageStore(folder / "cache") as store:
        urls = []
        source = HOSTILE.read_text(encoding="utf-8").replace("ATTRIBUTE", "A" * 1_000_000)
        for number in range(6):
            page = source.replace("NUMBER", str(number)).replace("LONG", "long " * 2000)
            server.pages[f"/h{number}"] = page
            urls.append(server.url(f"/h{number}") + QUERY * (number == 1))
        asyncio.run(captured(urls, store))
        (site,) = {record.site for record in store.records()}
    result = run("report", site, "-o", folder / "report.html", cache=folder / "cache")
    assert result.exit_code == 0, result.output
    return folder / "report.html"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a report on the demo site, and the cache it was made of."""
    folder = tmp_path_factory.mktemp("demo")
    with serve_demo() as base:
        result = run("site", f"{base}/", "--pages", "6", "--seed", "3", cache=folder / "cache")
        assert result.exit_code == 0
    result = run("report", base.partition("://")[2], "-o", folder / "report.html", cache=folder / "cache")
    assert result.exit_code == 0, result.output
    return folder / "report.html", folder / "cache"


def test_nothing_of_hostile_pages_runs_or_loads(reader: Reader, hostile: Path) -> None:
    report = Opened(reader, hostile)
    for edition in ("rendered", "raw"):
        report.click(f"#editions [value={edition}]")
        for method in METHODS:
            report.click(f"#methods [value={method}]")
        for name in ("all", "kept", "dropped", "hidden", "all"):
            report.click(f"#filters [value={name}]")
        report.press(*"jjjjkjjjjjjjj")
        report.press("Home")
        assert report.count(".block") > 5
        report.js("document.querySelectorAll('.block').forEach((node) => node.click())")
        for tab in ("plots", "tree", "pages", "block"):
            report.click(f"#tab-{tab}")
        report.press("]", "]", "[", "t", "t", "t", "f", "r", "r", "ArrowRight", "End", "Home", "n")
    report.js(
        "document.querySelectorAll('#panel-tree summary, #panel-tree button').forEach((node) => node.click())"
    )
    report.close()


def test_hostile_text_is_shown_as_text(reader: Reader, hostile: Path) -> None:
    report = Opened(reader, hostile)
    report.click("#search")
    report.press(*"override", "Enter")
    shown = report.text("#panel-block blockquote")
    assert "U+202E" in shown
    assert "U+2066" in shown
    assert "U+E0041" in shown
    assert "{{script}} {{data}}" in shown
    everything = report.js("document.querySelector('main').textContent")
    assert not set("\u202e\u2066\u200b\U000e0041") & set(everything)
    assert report.js("getComputedStyle(document.querySelector('blockquote')).unicodeBidi") == "isolate"
    report.js("document.getElementById('search').value = ''")
    report.click("#search")
    report.press(*"unlike", "Enter")
    assert "</script><script>window.hostile_ran=1" in report.text("#panel-block blockquote")
    report.click("#tab-pages")
    assert QUERY in report.text("#panel-pages")
    report.close()


def test_hidden_text_of_hostile_pages_has_its_own_colour(reader: Reader, hostile: Path) -> None:
    report = Opened(reader, hostile)
    report.click("#filters [value=hidden]")
    assert report.count(".block:not(.hidden)") == 0
    report.press("j")
    names = report.js(
        "[...document.querySelectorAll('.block.hidden')].map((node) => node.getAttribute('aria-label'))"
    )
    assert "hidden: planted instruction" in names
    assert "hidden" in report.text("#panel-block .block-head")
    report.close()


def test_a_large_attribute_is_no_part_of_the_report(hostile: Path) -> None:
    assert hostile.stat().st_size < 1_000_000


def test_the_block_that_is_clicked_is_explained(reader: Reader, demo: tuple[Path, Path]) -> None:
    report = Opened(reader, demo[0])
    report.js("document.querySelectorAll('.block.kept')[2].click()")
    panel = report.text("#panel-block")
    for words in (
        "What each method says",
        "varies over the site",
        "importance of its place",
        "entropy of its words",
    ):
        assert words in panel
    assert "tag path code" in panel
    assert "region" in panel
    assert report.count("#panel-block .verdicts tbody tr") == len(METHODS)
    assert report.count(".block.selected") == 1
    before = report.text("#panel-block blockquote")
    report.press("j")
    assert report.text("#panel-block blockquote") != before
    report.press("k")
    assert report.text("#panel-block blockquote") == before
    report.close()


def test_a_value_that_is_named_becomes_the_line_of_an_example(
    reader: Reader, demo: tuple[Path, Path]
) -> None:
    opened = Opened(reader, demo[0])
    opened.press("j")
    text = opened.text("#panel-block blockquote")
    for name, value in (("title", None), ("notes", "two words"), ("notes", "three words")):
        reader.run(opened.page.fill("#field-name", name))
        if value is not None:
            reader.run(opened.page.fill("#field-value", value))
        reader.run(opened.page.press("#field-value", "Enter"))
    line = json.loads(reader.run(opened.page.input_value("#example-line")))
    assert line.keys() == {"url", "fields"}
    assert line["fields"] == {"title": " ".join(text.split()), "notes": ["two words", "three words"]}
    (example,) = [line["url"]]
    assert example in opened.text("#page-name")
    opened.click("text=remove")
    assert list(json.loads(reader.run(opened.page.input_value("#example-line")))["fields"]) == ["notes"]
    opened.close()


def test_methods_filters_and_editions_change_what_is_outlined(
    reader: Reader, demo: tuple[Path, Path]
) -> None:
    report = Opened(reader, demo[0])
    assert report.text("#methods [aria-pressed=true]") == "auto"
    assert report.count(".block.dropped") > 3
    report.click("#methods [value=none]")
    assert report.count(".block.dropped:not(.hidden)") == 0
    report.press("ArrowLeft")
    assert report.text("#methods [aria-pressed=true]") == "tps"
    report.click("#filters [value=kept]")
    assert report.count(".block") == report.count(".block.kept, .block.partly") > 0
    rendered = report.count(".block")
    report.click("#editions [value=raw]")
    assert report.count(".block") < rendered
    report.press("r")
    assert report.text("#editions [aria-pressed=true]") == "Rendered"
    report.close()


def test_recurring_text_leads_to_the_other_page(reader: Reader, demo: tuple[Path, Path]) -> None:
    report = Opened(reader, demo[0])
    report.press("j", "j", "j")
    text = report.text("#panel-block blockquote")
    first = report.text("#page-name")
    assert "other pages" in report.text("#panel-block")
    report.click("#panel-block .pages-of button")
    assert report.text("#panel-block blockquote") == text
    assert report.text("#page-name") != first
    report.close()


def test_the_tree_and_the_plots_lead_to_blocks(reader: Reader, demo: tuple[Path, Path]) -> None:
    report = Opened(reader, demo[0])
    report.click("#tab-tree")
    assert "body" in report.text("#panel-tree")
    places = report.count("#panel-tree .tree-row")
    report.js(
        "document.querySelectorAll('#panel-tree details:not([open]) summary').forEach((node) => node.click())"
    )
    # Rows are made when the browser says that they are opened, which is later.
    report.reader.run(report.page.locator("#panel-tree .tree-row").nth(places).wait_for(state="attached"))
    report.click("#panel-tree details details button.link")
    assert report.count(".block.hit") > 3
    report.click("#tab-plots")
    report.click("#panel-plots canvas")
    assert report.count(".block.selected") == 1
    report.click("#tab-block")
    report.click("#panel-block button:has-text('Show in the site tree')")
    assert report.count("#panel-tree .current") == 1
    report.close()


def test_the_report_says_what_clean_says(reader: Reader, demo: tuple[Path, Path]) -> None:
    report = Opened(reader, demo[0])
    index = report.js("JSON.parse(document.getElementById('index').textContent)")
    with PageStore(demo[1]) as store:
        site = store.records()[0].site
    for method in METHODS:
        cleaned = run("clean", site, "--method", method, "--json", cache=demo[1])
        words = {line["url"]: line["words"]["kept"] for line in map(json.loads, cleaned.stdout.splitlines())}
        for page in index["pages"]:
            kept, _ = page["words"]["rendered"][method]
            assert kept == pytest.approx(words[index["labels"][page["number"]]], rel=0.02, abs=4)
    report.close()


def test_a_page_is_seen_in_the_light_of_its_cached_site(demo: tuple[Path, Path], tmp_path: Path) -> None:
    with PageStore(demo[1]) as store:
        page_id = store.records()[0].page_id
    result = run("report", page_id, "-o", tmp_path / "r.html", cache=demo[1])
    assert result.exit_code == 0
    found = re.search(r'id="index">(.*?)</script>', (tmp_path / "r.html").read_text(encoding="utf-8"))
    assert found
    index = json.loads(found[1])
    assert (len(index["pages"]), index["sites"][0]["known"], index["start"]) == (1, 6, "auto")


def test_a_damaged_picture_costs_the_picture_only(demo: tuple[Path, Path], tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(demo[1], cache)
    with PageStore(cache) as store:
        record = store.records()[0]
        extras = {
            "screenshot-0.webp": PIXEL,
            "screenshot.json": b'{"tiles":[{"name":"screenshot-0.webp","y":0,"height":9}]}',
        }
        store.put(store.get(record.page_id), source=store.source(record), site=record.site, extras=extras)
    for file in cache.rglob("extras/*/*"):
        file.write_bytes(b"damaged")
    result = run("report", record.page_id, "-o", tmp_path / "r.html", cache=cache)
    assert result.exit_code == 0
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "is damaged" in text
    assert 'id="tile-' not in text


def test_it_fits_a_phone(reader: Reader, demo: tuple[Path, Path]) -> None:
    report = Opened(reader, demo[0], width=390)
    for tab in ("block", "plots", "tree", "pages"):
        report.click(f"#tab-{tab}")
        assert report.js("document.documentElement.scrollWidth") == 390
        assert report.js("stage.scrollWidth <= stage.clientWidth")
    report.press("j")
    assert report.count(".block.selected") == 1
    report.close()


def test_on_a_phone_the_page_has_the_height_until_details_are_asked_for(
    reader: Reader, demo: tuple[Path, Path]
) -> None:
    report = Opened(reader, demo[0], width=390)
    is_open = "document.getElementById('panel-block').clientHeight > 0"
    assert report.js("stage.clientHeight > innerHeight / 2")
    assert not report.js(is_open)
    report.click("#fold")
    assert report.js(is_open)
    report.click("#fold")
    assert not report.js(is_open)
    report.press("j")
    assert report.js(is_open)
    assert report.js("stage.clientHeight > 100")
    report.close()


@pytest.mark.parametrize("width", [1280, 700, 390])
def test_without_a_screenshot_texts_fit_their_boxes(
    reader: Reader, demo: tuple[Path, Path], width: int
) -> None:
    report = Opened(reader, demo[0], width=width)
    sizes = report.js(
        "[...document.querySelectorAll('.block .captured')].map((text) => "
        "[text.scrollHeight - text.clientHeight, "
        "text.getBoundingClientRect().bottom - text.parentNode.getBoundingClientRect().bottom])"
    )
    assert len(sizes) > 20
    assert max(beyond for _, beyond in sizes) <= 1.5
    # What was set upright in a column, or smaller than can be read here, is cut with an ellipsis.
    assert sum(cut > 1.5 for cut, _ in sizes) <= 0.1 * len(sizes)
    letter = "(text) => parseFloat(getComputedStyle(text).fontSize)"
    assert min(report.js(f"[...document.querySelectorAll('.block .captured')].map({letter})")) >= 7
    report.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_everything_is_reached_by_keyboard(reader: Reader, demo: tuple[Path, Path], width: int) -> None:
    report = Opened(reader, demo[0], width=width)
    report.press("j")
    for tab in ("block", "plots", "tree", "pages"):
        report.js(f"document.getElementById('tab-{tab}').focus()")
        report.press("Enter")
        assert report.reader.run(not_reached(report.page)) == []
    report.close()


@pytest.mark.skipif(not AXE.is_file(), reason=WITHOUT_AXE)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_screen_readers_are_served(reader: Reader, demo: tuple[Path, Path], width: int, theme: str) -> None:
    report = Opened(reader, demo[0], width=width, theme=theme)
    for tab in ("block", "plots", "tree", "pages"):
        report.press("j")
        report.click(f"#tab-{tab}")
        report.js(AXE.read_text(encoding="utf-8"))
        assert report.js(FIND) == [], tab
    # What axe itself tries, the policy stops.
    report.reader.run(report.page.context.close())


def test_the_learned_cleaner_comes_first_and_pages_by_their_confidence(
    reader: Reader, demo: tuple[Path, Path]
) -> None:
    report = Opened(reader, demo[0])
    assert report.js("[...document.querySelectorAll('#methods button')][0].value") == "auto"
    assert report.js("document.querySelector('#methods [aria-pressed=true]').value") == "auto"
    report.click("#tab-pages")
    expected = [
        float(number) for number in re.findall(r"expected F1 (\d\.\d\d)", report.text("#panel-pages"))
    ]
    assert len(expected) == 6
    assert expected == sorted(expected)
    report.close()


def test_themes_can_be_chosen(reader: Reader, demo: tuple[Path, Path]) -> None:
    report = Opened(reader, demo[0])
    grounds = []
    for _ in range(2):
        report.press("t")
        grounds.append(report.js("getComputedStyle(document.body).backgroundColor"))
    assert len(set(grounds)) == 2
    report.close()


@pytest.mark.parametrize(
    "attack",
    [
        "new Image().src = ADDRESS",
        "document.body.append(Object.assign(document.createElement('img'), { src: ADDRESS }))",
        "document.body.setAttribute('style', `background: url(${ADDRESS})`)",
        "document.body.innerHTML = `<img src=${ADDRESS} onerror='window.hostile_ran = 1'>`",
        "document.body.append(Object.assign(document.createElement('script'), { text: 'window.hostile_ran = 1' }))",
        "fetch(ADDRESS).catch(() => 0)",
        "navigator.sendBeacon(ADDRESS)",
        "document.body.append(Object.assign(document.createElement('iframe'), { src: ADDRESS }))",
    ],
)
def test_the_policy_stops_what_our_script_would_have_missed(
    reader: Reader, demo: tuple[Path, Path], attack: str
) -> None:
    report = Opened(reader, demo[0])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.3)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        stopped = (
            "new Promise((done) => { addEventListener('securitypolicyviolation', () => done()); "
            f"setTimeout(done, {LIMIT_MS}) }})"
        )
        report.js(
            f"(() => {{ const ADDRESS = '{address}', stopped = {stopped}; "
            f"try {{ {attack} }} catch {{}} return stopped }})()"
        )
        with pytest.raises(TimeoutError):
            listener.accept()
    assert report.js("typeof hostile_ran") == "undefined"
    assert report.js("violations.length") > 0
    reader.run(report.page.context.close())
