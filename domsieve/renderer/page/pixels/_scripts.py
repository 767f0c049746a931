"""Lay out the parts of an open page that need scripts to be on, although none of its scripts runs.

A page that is frozen runs no script, whether scripts are on or not. It can only be frozen while it is not visible,
and is not frozen any more when a picture is taken, so there are no pictures of it in this state.
See https://wicg.github.io/page-lifecycle/#frozen.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

from domsieve.renderer._limits import ENDS_MS
from domsieve.renderer.browser.connection import CommandError
from domsieve.renderer.page.pixels._page import OpenPage
from domsieve.renderer.page.pixels.pixel_capture import PixelCapture

_SCRIPTS = "Emulation.setScriptExecutionDisabled"
_BREAK_S = 0.005
# To put the page back. A guess: more than this is a page that does not answer.
_RESTORE_S = 10.0


async def revealed(page: OpenPage, style_names: Sequence[str], *, has_canvas: bool) -> PixelCapture:
    """Show the content of boxes that have none far from the window, and capture the page with these properties.

    Parameters
    ----------
    has_canvas : whether there are canvases that were laid out while scripts were on.

    Raises
    ------
    ValueError : a script has run.
    """
    if any(await page.ask_all("reveal")):  # others were shown before the plain pictures
        page.doubt = (
            page.doubt or "frames or closed trees have boxes that the browser skips far from the window"
        )
    if has_canvas:
        return await relaid(page, style_names)
    return await page.capture(style_names)


async def with_scripts(page: OpenPage, style_names: Sequence[str]) -> PixelCapture:
    """Capture a page whose scripts are off as it is while they are on, with these properties.

    Raises
    ------
    ValueError : a script has run.
    """
    async with _frozen(page), _scripts_on(page):
        return await page.capture(style_names)


async def relaid(page: OpenPage, style_names: Sequence[str]) -> PixelCapture:
    """Lay the canvases of a page out anew, and capture it with these properties.

    A canvas that is laid out while scripts are off has no picture, so it is laid out with scripts; none of them runs.

    Raises
    ------
    ValueError : a script has run.
    """
    async with _frozen(page), _scripts_on(page):
        await page.ask_all("relay", ENDS_MS)
        return await page.capture(style_names)


@contextlib.asynccontextmanager
async def _scripts_on(page: OpenPage) -> AsyncIterator[None]:
    """Turn the scripts of a frozen page on, so that none of them runs in a block of code."""
    await page.call(0, "count")
    await page.session.send(_SCRIPTS, {"value": False})
    yield
    if await page.call(0, "counted"):
        raise ValueError("The page could not be frozen.")


@contextlib.asynccontextmanager
async def _frozen(page: OpenPage) -> AsyncIterator[None]:
    """Freeze a page for a block of code, at the end of which its scripts are off."""
    try:
        await page.session.send("Emulation.setFocusEmulationEnabled", {"enabled": False})
        await page.session.send("Page.setWebLifecycleState", {"state": "frozen"})
        while not await page.call(0, "isHidden"):  # noqa: ASYNC110 (the browser tells nobody)
            await asyncio.sleep(_BREAK_S)
        yield
    finally:
        with contextlib.suppress(TimeoutError, CommandError):  # the page is gone, or does not answer
            async with asyncio.timeout(_RESTORE_S):
                await page.session.send(_SCRIPTS, {"value": True})
                await page.session.send("Page.setWebLifecycleState", {"state": "active"})
                await page.session.send("Emulation.setFocusEmulationEnabled", {"enabled": True})
