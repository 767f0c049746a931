"""Print which Chrome domsieve uses here; status 3 and the reasons on stderr when there is none.

Set-up runs it with the environment's own Python.
"""

import asyncio
import sys

from playwright.async_api import async_playwright

from renderer._discovery import Browser, find_browser
from snapshot import BrowserNotFoundError
from tools.setup_env import NO_BROWSER


async def _find() -> Browser:
    async with async_playwright() as playwright:
        return await find_browser(playwright)


if __name__ == "__main__":
    try:
        print(asyncio.run(_find()))
    except BrowserNotFoundError as error:
        print(error, file=sys.stderr)
        sys.exit(NO_BROWSER)
