"""Draws the pictures of the method cards: a page of the demo site with what each method makes of it.

``python -m examples.pictures [METHOD ...] [-o FOLDER]`` samples the demo site, lets site methods clean an article and
page methods find the list on another page, and paints the result over the page in Chrome: green is kept, red is
dropped; each record has an outline.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from playwright.async_api import FloatRect, Page, async_playwright

from domsieve.analysis.records.result import Records
from domsieve.analysis.registry import METHODS, MINERS, SITE_METHODS, MethodEntry
from domsieve.analysis.verdict import Verdict
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.browser.playwright_driver import find_browser, launch_options
from domsieve.renderer.network.egress import offline
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.sampling import sample
from examples.serve import serve_demo

ARTICLE, LIST = "/articles/owl-pellets", "/shop"
WIDTH_PX, HEIGHT_PX = 900, 1200
_QUALITY = 50
_KEPT, _DROPPED = "rgba(20, 140, 60, .28)", "rgba(200, 30, 30, .28)"
_PAINT = """(areas) => { for (const [x, y, w, h, style] of areas) {
  const mark = document.body.appendChild(document.createElement('div'))
  mark.style.cssText = `position:absolute;z-index:2147483647;pointer-events:none;box-sizing:border-box;` +
    `left:${x}px;top:${y}px;width:${w}px;height:${h}px;${style}` } }"""

Area = tuple[float, float, float, float, str]

ENTRIES: Sequence[MethodEntry[Any]] = [*METHODS.values(), *MINERS.values()]
DRAWN: Mapping[str, Callable[[], Any]] = {
    entry.name: entry.estimator for entry in ENTRIES if entry.name != "none" and not entry.combined
}


def main() -> None:
    """Draw the pictures that were asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("methods", nargs="*", metavar="METHOD", help=", ".join(DRAWN))
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/methods/pictures"))
    asked = parser.parse_args()
    names = asked.methods or list(DRAWN)
    asked.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, serve_demo() as base, PageStore(Path(folder)) as store:
        options = CaptureOptions(scroll=True, viewport_px=(WIDTH_PX, 800))
        records = asyncio.run(sample_demo(base + ARTICLE, store, options, pages=30))
        pages = {record.url: store.get(record.page_id) for record in records}
        drawn: dict[str, tuple[str, list[Area]]] = {}
        for name in names:
            method = DRAWN[name]()
            if name in SITE_METHODS:
                method.fit(pages.values())
            page = pages[base + (ARTICLE if name in SITE_METHODS else LIST)]
            result = method.transform(page)
            drawn[name] = page.provenance.url, areas(page, result)
        asyncio.run(draw(drawn, asked.output))


async def sample_demo(
    start: str, store: PageStore, options: CaptureOptions, *, pages: int
) -> list[PageRecord]:
    """Render up to `pages` pages of the demo site; the first is `start`."""
    async with Renderer(options, Budget(), concurrency=2, egress=offline()) as renderer:
        events = sample(
            renderer,
            start,
            store,
            options=options,
            pages=pages,
            seed=0,
            delay=None,
            concurrency=2,
            since=None,
            egress=renderer.egress,
        )
        return [record async for _, record in events if record is not None]


def areas(page: Snapshot, result: Verdict | Records) -> list[Area]:
    """Return what to paint over a page: its texts by verdict, or its records."""
    if isinstance(result, Verdict):
        texts = np.flatnonzero((page.kind == Kind.TEXT) & ~np.isnan(page.box[:, 0]))
        found: list[Area] = []
        for node in texts.tolist():
            x, y, width, height = page.box[node].tolist()
            found.append((x, y, width, height, f"background:{_KEPT if result.kept[node] else _DROPPED}"))
        return found
    found = []
    for record in range(len(result)):
        boxes = np.concatenate([page.box[a:b] for a, b in result.pieces_of(record)])
        boxes = boxes[~np.isnan(boxes[:, 0]) & (boxes[:, 2] > 0) & (boxes[:, 3] > 0)]
        if len(boxes):
            left, top = boxes[:, 0].min(), boxes[:, 1].min()
            right, bottom = (boxes[:, 0] + boxes[:, 2]).max(), (boxes[:, 1] + boxes[:, 3]).max()
            hue = int(result.region[record]) * 77 % 360
            style = f"border:3px solid hsl({hue} 80% 40%);background:hsl({hue} 80% 50% / .12)"
            found.append((float(left), float(top), float(right - left), float(bottom - top), style))
    return found


async def draw(drawn: Mapping[str, tuple[str, Sequence[Area]]], folder: Path) -> None:
    """Open each page anew, paint over it and keep the picture of its upper part."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch_options(await find_browser(playwright)))
        page = await browser.new_page(viewport={"width": WIDTH_PX, "height": 800})
        for name, (url, marks) in drawn.items():
            await _picture(page, url, marks, folder / f"{name.replace(' ', '-')}.jpg")
        await browser.close()


async def _picture(page: Page, url: str, marks: Sequence[Area], file: Path) -> None:
    await page.goto(url, wait_until="networkidle")
    await page.mouse.wheel(0, 20_000)  # what loads late moves what stands below it
    await page.wait_for_load_state("networkidle")
    await page.evaluate("scrollTo(0, 0)")
    await page.evaluate(_PAINT, [list(mark) for mark in marks])
    height = min(HEIGHT_PX, await page.evaluate("document.documentElement.scrollHeight"))
    clip: FloatRect = {"x": 0, "y": 0, "width": WIDTH_PX, "height": height}
    await page.screenshot(path=file, type="jpeg", quality=_QUALITY, full_page=True, clip=clip)


if __name__ == "__main__":
    main()
