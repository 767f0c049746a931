"""Print which Chrome domsieve uses here and, on a second line, its program file.

Status 3 and the reasons on stderr when there is none. Set-up runs it with the environment's own Python.
"""

import asyncio
import sys

from playwright.async_api import async_playwright

from domsieve.errors import BrowserNotFoundError
from domsieve.renderer.browser.playwright_driver import find_browser, launch_options
from tools.setup_env import NO_BROWSER


async def _find() -> str:
    async with async_playwright() as playwright:
        browser = await find_browser(playwright)
        async with asyncio.timeout(60):
            running = await playwright.chromium.launch(**launch_options(browser))
            session = await running.new_browser_cdp_session()
            system = await session.send("SystemInfo.getInfo")
            await running.close()
    # Only the browser itself knows: a channel has no path, and a path may be a launcher script.
    program = system["commandLine"].partition(" --")[0]
    return f"{browser}\n{program}"


if __name__ == "__main__":
    try:
        print(asyncio.run(_find()))
    except BrowserNotFoundError as error:
        print(error, file=sys.stderr)
        sys.exit(NO_BROWSER)
