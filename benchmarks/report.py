"""How a report on a large page opens and scrolls: file size, load event, longest tasks in headless Chrome.

``python -m benchmarks.report [--nodes 20000] [--height 30000]`` renders a made page of that size on loopback with its
screenshot, writes the report on it, opens the file, scrolls from end to end and uses what a person uses.
"""

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, async_playwright

from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.browser.playwright_driver import find_browser, launch_options
from domsieve.renderer.network.egress import offline
from domsieve.renderer.protocol import SCREENSHOT
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_report import report, reported
from domsieve.tasks.pages import keep
from domsieve.tasks.targets import Fetched, find_targets
from examples.loopback import folder_served

_WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heron",
    "islet",
    "jetty",
    "knoll",
    "larch",
    "marsh",
    "north",
    "osier",
    "pearl",
    "quarry",
    "river",
]
_TIMELINE = "disabled-by-default-devtools.timeline"
_WATCH = """window.longTasks = []
new PerformanceObserver((list) => { for (const task of list.getEntries()) longTasks.push(Math.round(task.duration)) })
  .observe({ type: 'longtask', buffered: true })"""
_SCROLL = """async () => {
  const stage = document.getElementById('stage'), end = stage.scrollHeight - stage.clientHeight
  const frames = []
  let last = performance.now()
  for (const from of [0, 1]) for (let k = 0; k <= 240; k++) {
    stage.scrollTop = end * (from ? 1 - k / 240 : k / 240)
    await new Promise(requestAnimationFrame)
    frames.push(performance.now() - last)
    last = performance.now()
  }
  await new Promise((done) => setTimeout(done, 300))
  return frames.sort((a, b) => a - b).map(Math.round)
}"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--height", type=int, default=30_000, help="CSS px of the page")
    parser.add_argument("--keep", type=Path, help="write the report here")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "page.html").write_text(large_page(asked.nodes, asked.height), encoding="utf-8")
        with folder_served(folder) as base:
            asyncio.run(_measure(f"{base}/page.html", folder, asked.keep or folder / "report.html"))


def large_page(nodes: int, height_px: int) -> str:
    """Return the source of a page of about so many nodes and so high: cards of headings, text, links and tables."""
    parts: list[str] = []
    cards = nodes // 20
    row_px = height_px * 4 // cards
    for card in range(cards):
        words = [f"{_WORDS[(card * 7 + k * 3) % len(_WORDS)]}{card * k % 97}" for k in range(24)]
        hue = card * 37 % 360
        parts.append(
            f"<article><h2>{words[0]} {words[1]} {card}</h2><p>{' '.join(words[2:8])} <a href=#{card}>{words[9]}</a> "
            f"{' '.join(words[10:14])}</p><p class=m>{' '.join(words[14:18])} <b style='color:hsl({hue} 60% 35%)'>"
            f"{words[19]}</b></p><ul><li>{words[20]}</li><li>{words[21]}</li></ul></article>"
        )
    return (
        "<!doctype html><meta charset=utf-8><title>Large</title><style>body{margin:0;font:12px/1.3 sans-serif}"
        "main{display:grid;grid-template-columns:repeat(4,1fr)}"
        f"article{{height:{row_px}px;overflow:hidden;box-sizing:border-box;padding:4px;border-bottom:1px solid #ddd}}"
        "h2{font-size:14px;margin:0}p,ul{margin:2px 0}.m{color:#555}li{display:inline;margin-right:6px}</style>"
        f"<main>{''.join(parts)}</main>"
    )


async def _measure(url: str, folder: Path, file: Path) -> None:
    with PageStore(folder / "cache") as store:
        async with Renderer(CaptureOptions(screenshot=True), Budget(), egress=offline()) as renderer:
            rendering = await renderer.render(url)
        record = keep(rendering, "", store)
        begun = time.perf_counter()
        pages = reported(Fetched(find_targets([record.page_id], store)), store)
        data, _ = report(pages, siblings=lambda _: [], failed=lambda page, error: print(page.label, error))
        seconds = time.perf_counter() - begun
    await asyncio.to_thread(file.write_bytes, data)
    height = json.loads(rendering.extras[SCREENSHOT])["height"]
    pictures = sum(len(extra) for name, extra in rendering.extras.items() if name.endswith(".webp"))
    _say("nodes, height of the page", f"{record.nodes:,}, {height:,} px")
    _say("screenshot", f"{pictures / 1e6:.2f} MB")
    _say("report", f"{len(data) / 1e6:.2f} MB, made in {seconds:.1f} s")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch_options(await find_browser(playwright)))
        await _open(browser, file)
        await browser.close()


async def _open(browser: Browser, file: Path) -> None:
    page = await browser.new_page(viewport={"width": 1400, "height": 900})
    await page.add_init_script(_WATCH)
    await page.goto(file.as_uri(), wait_until="load")
    load = await page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    _say("load event", f"{load:.0f} ms")
    await page.wait_for_timeout(1000)
    _say("tasks over 50 ms while opening", await _tasks(page))
    frames: list[int] = await page.evaluate(_SCROLL)
    _say("frames while scrolling", f"median {frames[len(frames) // 2]} ms, longest {frames[-1]} ms")
    _say("tasks over 50 ms while scrolling", await _tasks(page))
    await browser.start_tracing(page=page, categories=["toplevel", _TIMELINE])
    await page.evaluate(_SCROLL)
    _say("longest tasks then, processor time", _processor_times(await browser.stop_tracing()))
    for what, keys in (
        ("200 blocks by key", "j" * 200),
        ("all methods", ["ArrowRight"] * 6),
        ("search", "/amber"),
    ):
        for key in keys:
            await page.keyboard.press(key)
        _say(f"tasks over 50 ms: {what}", await _tasks(page))
    await page.keyboard.press("Escape")
    for tab in ("plots", "tree", "pages"):
        await page.click(f"#tab-{tab}")
        _say(f"tasks over 50 ms: {tab}", await _tasks(page))


def _processor_times(trace: bytes) -> str:
    """Return the longest tasks of the page's main thread, by the time that they had a processor."""
    events = json.loads(trace)["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    took = [
        e.get("tdur", 0) / 1000
        for e in events
        if e["name"].endswith("RunTask") and names.get((e["pid"], e["tid"])) == "CrRendererMain"
    ]
    return ", ".join(f"{ms:.0f}" for ms in sorted(took, reverse=True)[:5]) + " ms"


async def _tasks(page: Any) -> str:
    await page.wait_for_timeout(200)
    found: list[int] = await page.evaluate("longTasks.splice(0)")
    return f"{', '.join(map(str, found))} ms" if found else "none"


def _say(name: str, value: str) -> None:
    print(f"{name:36} {value}")


if __name__ == "__main__":
    main()
