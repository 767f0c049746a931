"""Capture an open page with the styles that it has while scripts are on, although none of its scripts runs.

A page that is frozen runs no script, whether scripts are on or not. It can only be frozen while it is not visible,
and is not frozen any more when a picture is taken, so there are no pictures of it in this state.
See https://wicg.github.io/page-lifecycle/#frozen.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence, Set
from itertools import chain
from typing import NamedTuple

from domsieve.renderer._limits import ENDS_MS
from domsieve.renderer.browser.connection import CommandError
from domsieve.renderer.page.pixels._page import OpenPage
from domsieve.renderer.page.pixels.pixel_capture import PixelCapture

SCRIPTING = "scripting"
"""The media feature that asks whether scripts are on."""
_SCRIPTS = "Emulation.setScriptExecutionDisabled"
_BREAK_S = 0.005
# To put the page back. A guess: more than this is a page that does not answer.
_RESTORE_S = 10.0
# The beginnings of computed properties that need not be compared: they paint nothing, or say where boxes are, which
# are compared themselves.
_NOT_PAINTED = (
    *("height", "width", "top", "right", "bottom", "left", "inline-", "block-", "min-", "max-", "inset-"),
    *("margin-", "padding-", "border-block-", "border-inline-", "border-start-", "border-end-"),
    *("corner-start-", "corner-end-", "perspective-origin", "transform-origin", "contain-intrinsic-"),
    *("align-", "justify-", "flex-", "grid-", "order", "orphans", "widows", "break-", "-webkit-box-"),
    *("anchor-", "position-anchor", "position-area", "position-try-", "reading-", "will-change"),
    *("scroll-margin-", "scroll-padding-", "scroll-snap-", "scroll-behavior", "overscroll-", "touch-"),
    *("caret-", "cursor", "interest-", "pointer-", "speak", "transition-", "user-"),
    *("-webkit-locale", "-webkit-rtl-", "-webkit-tap-", "-webkit-user-"),
)
_PAINTED = ("-webkit-box-reflect",)
# What a sheet may mention that changes letters, or what is painted, and that no capture and no computed style has.
_LINES, _HIGHLIGHTS = "first-line", "highlight("
_UNKNOWN = ("@font-feature-values", "@font-palette-values", "paint(")
LIKELY = (SCRIPTING, _LINES, _HIGHLIGHTS)
WORDS = (*LIKELY, *_UNKNOWN)
"""What `with_scripts` needs to know of the style sheets, and what holds of those that cannot be read."""


class WithScripts(NamedTuple):
    """A page as it is while scripts are on.

    Parameters
    ----------
    capture : the capture.
    names : the computed properties of the next two: all that the browser has, but for sizes and places of boxes.
    before, after : captures with scripts on and off.
    is_unlike : whether anything else differs, so that nothing is known of the page.
    """

    capture: PixelCapture
    names: list[str]
    before: PixelCapture
    after: PixelCapture
    is_unlike: bool


async def painted_names(page: OpenPage) -> list[str]:
    """Return all computed properties that may change what is painted, but not where."""
    names = await page.call(0, "properties")
    return [name for name in names if name in _PAINTED or not name.startswith(_NOT_PAINTED)]


async def with_scripts(page: OpenPage, style_names: Sequence[str], words: Set[str]) -> WithScripts:
    """Capture a page whose scripts are off as it is while they are on.

    Parameters
    ----------
    style_names : the computed properties that are wanted of it.
    words : those of `WORDS` that its style sheets mention.

    Raises
    ------
    ValueError : a script has run.
    """
    names = await painted_names(page)
    flags = _LINES in words, _HIGHLIGHTS in words
    async with _frozen(page):
        after, without = await page.capture(names), await _unboxed(page, *flags)
        async with _scripts_on(page):
            before, capture = await page.capture(names), await page.capture(style_names)
            is_unlike = not words.isdisjoint(_UNKNOWN) or _differ(await _unboxed(page, *flags), without)
        return WithScripts(capture, names, before, after, is_unlike)


async def _unboxed(page: OpenPage, *flags: bool) -> list[str]:
    """Return what no capture has of the styles of all documents; see ``fonts.js``."""
    return [*chain.from_iterable(await page.ask_all("unboxed", *flags))]


def _differ(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return whether any two styles differ; what is invisible in one of two captures is told by these."""
    return len(first) != len(second) or any(a != b and a and b for a, b in zip(first, second, strict=True))


async def revealed(page: OpenPage, style_names: Sequence[str], *, has_canvas: bool) -> PixelCapture:
    """Show the content of boxes that have none far from the window, and capture the page with these properties.

    Parameters
    ----------
    has_canvas : whether there are canvases that were laid out while scripts were on.

    Raises
    ------
    ValueError : a script has run.
    """
    await page.ask_all("reveal")
    if has_canvas:
        return await relaid(page, style_names)
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
