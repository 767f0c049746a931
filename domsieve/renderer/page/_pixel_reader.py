"""Scroll an open page as a reader does, and let its styles, animations and canvases follow."""

import asyncio
import contextlib
from typing import Any

from domsieve.renderer._limits import ENDS_MS
from domsieve.renderer.browser.tab import Tab
from domsieve.renderer.page._pixel_camera import Camera
from domsieve.renderer.page._pixel_parts import F64
from domsieve.renderer.page._pixel_scripts import relaid

# A page is scrolled through in steps of this share of the window, no more than so many.
_STEP, _MOST_STEPS = 0.8, 400
# What a page asks for when it is scrolled has this time to arrive. A guess.
_LOAD_S = 2.0


class Reader(Camera):
    """An open page that is scrolled.

    Attributes
    ----------
    is_lively : whether transitions or animations may begin when something is scrolled.
    is_unsteady : whether any have begun that follow the scrolling.
    has_canvas : whether there are canvases, which are laid out anew if the scrolling changes their display.
    """

    def __init__(self, tab: Tab) -> None:
        super().__init__(tab)
        self.is_lively = self.is_unsteady = self.has_canvas = False
        self._canvas_styles: list[list[str]] = []

    async def aim(self, left: float, top: float) -> F64:
        await self.loosen()
        return await super().aim(left, top)

    async def loosen(self) -> None:
        """Let transitions begin that scrolling brings about, until `arrive`."""
        if self.is_lively:
            await self.ask_all("loosen")

    async def arrive(self, left: float = 0.0, top: float = 0.0) -> None:
        """Let styles, animations and canvases follow what was scrolled; a place is in the window."""
        await self.wake(left, top)
        if self.is_lively:
            self.is_unsteady |= any(await self.ask_all("settle", ENDS_MS))
        if self.has_canvas and (styles := await self.ask_all("canvasStyles")) != self._canvas_styles:
            if self._canvas_styles:
                await relaid(self, ())
            self._canvas_styles = styles

    async def go(self, top: float) -> F64:
        """Scroll the page and let it follow, see `arrive`; return what the window shows, see `aim`."""
        window = await self.aim(0.0, top)
        await self.arrive(*window[:2].tolist())
        return window

    async def load_by_scrolling(self) -> None:
        """Let the page load what its styles ask for when it is scrolled."""
        asked: set[str] = set()

        def ask(event: dict[str, Any]) -> None:
            asked.add(event["requestId"])

        def end(event: dict[str, Any]) -> None:
            asked.discard(event["requestId"])

        handlers = (
            ("Network.requestWillBeSent", ask),
            ("Network.loadingFinished", end),
            ("Network.loadingFailed", end),
        )
        for name, handler in handlers:
            self.session.on(name, handler)
        try:
            await self.pass_by()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOAD_S):
                    while asked:  # noqa: ASYNC110 (of a few requests)
                        await asyncio.sleep(_LOAD_S / 20)
        finally:
            for name, handler in handlers:
                self.session.off(name, handler)

    async def pass_by(self) -> None:
        """Scroll through the page once, so that animations begin that wait until a reader comes to them."""
        window = await self.go(0.0)
        for _ in range(_MOST_STEPS):
            top, step = float(window[1]), float(window[3] - window[1])
            window = await self.go(top + _STEP * step)
            if window[1] <= top:
                break
        await self.go(0.0)
