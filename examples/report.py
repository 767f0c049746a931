"""Writes a report on the demo site, and pictures of the report for the documentation.

``python -m examples.report -o report.html`` samples the demo site with screenshots and writes the report;
``--pictures FOLDER`` opens it in Chrome, light on a desk and dark on a phone, and keeps two pictures.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Page, ViewportSize, async_playwright

from domsieve.files import write_file
from domsieve.options import CaptureOptions
from domsieve.renderer.browser.playwright_driver import find_browser, launch_options
from domsieve.snapshot.store import PageStore
from domsieve.tasks.output import OUTPUT_FILE
from domsieve.tasks.page_report import report, reported
from domsieve.tasks.targets import Fetched, find_targets
from examples.pictures import sample_demo
from examples.serve import serve_demo

ARTICLE = "/articles/barometer"
_PAGES = 16
_DESK: ViewportSize = {"width": 1360, "height": 850}
_PHONE: ViewportSize = {"width": 390, "height": 844}


def main() -> None:
    """Write the report, and the pictures where they are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("report.html"))
    parser.add_argument("--pictures", type=Path, metavar="FOLDER")
    parser.add_argument("--port", type=int, default=0, help="of the demo site; 0 takes a free one")
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        serve_demo(port=asked.port) as base,
        PageStore(Path(folder)) as store,
    ):
        asyncio.run(
            sample_demo(base + ARTICLE, store, CaptureOptions(scroll=True, screenshot=True), pages=_PAGES)
        )
        pages = reported(Fetched(find_targets([base.partition("://")[2]], store)), store)
        data, _ = report(
            pages,
            siblings=lambda _: [],
            failed=lambda page, error: print(f"{page.label}: {error}", file=sys.stderr),
        )
    write_file(asked.output, data, what=OUTPUT_FILE)
    if asked.pictures:
        asyncio.run(_draw(asked.output.resolve(), asked.pictures))


async def _draw(file: Path, folder: Path) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch_options(await find_browser(playwright)))
        desk = await browser.new_page(viewport=_DESK)
        await _open(desk, file)
        await desk.click("[aria-label='dropped: A hundred days of swifts']")
        await _keep(desk, folder / "report.jpg")
        phone = await browser.new_page(viewport=_PHONE, color_scheme="dark", device_scale_factor=1.5)
        await _open(phone, file)
        await phone.click("#tab-plots")
        await _keep(phone, folder / "report-phone.jpg")
        await browser.close()


async def _open(page: Page, file: Path) -> None:
    await page.goto(file.as_uri())
    await page.click("#page-name")
    await page.click(f"#panel-pages button:has-text('{ARTICLE}')")
    await page.click("#tab-block")


async def _keep(page: Page, file: Path) -> None:
    await page.wait_for_timeout(500)
    await page.screenshot(path=file, type="jpeg", quality=62)


if __name__ == "__main__":
    main()
