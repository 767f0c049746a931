"""Take plain pictures of a page before anything of it is changed.

The pictures that tell texts apart need a page that stands still, with animations brought to where they are after a
while, boxes opened, locks released and fixed boxes taken away. Any of this may show what no reader sees. So the page
is scrolled through before, as it is, while it goes on. What is seen later must look like that in one of these
pictures, unless it is known why it cannot.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from domsieve.renderer._limits import OLD_MS
from domsieve.renderer.browser.connection import CommandError
from domsieve.renderer.browser.tab import Tab
from domsieve.renderer.page._page_events import PageEvents
from domsieve.renderer.page.pixels.pixel_capture import PixelCapture
from domsieve.renderer.page.pixels.plain import STYLES, Glance

_SCRIPT = Path(__file__).with_name("glance.js").read_text("utf-8")
# By so much of its size a window or box is scrolled each time: what bars cover in one place shows in the next.
_STEP = 0.7
# Fixed boxes on top of the page that take so much of the height of the window may cover a text wherever it is.
_MUCH = 0.25
# What comes near the window has this time to load. A guess.
_LOAD_S = 2.0
# So many frames the browser draws when it is left.
_FRAMES = 2


class Held:
    """Requests of a page that wait while it is looked at, as nobody may see what they bring.

    Attributes
    ----------
    is_on : whether those that begin now wait, until all are let go.
    asked : the addresses of those that do.
    notice : called if one has to.
    """

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._answers = set[asyncio.Task[Any]]()
        self.is_on = False
        self.asked = set[str]()
        self.notice: Callable[[], None] | None = None

    def pause(self, event: dict[str, Any]) -> None:
        """Let a request wait, or go on."""
        if not self.is_on:
            answer = asyncio.create_task(self._go_on(event["requestId"]))
            self._answers.add(answer)
            answer.add_done_callback(self._answers.discard)
            return
        self.asked.add(event["request"]["url"])
        if self.notice:
            self.notice()

    async def _go_on(self, number: str) -> None:
        with contextlib.suppress(CommandError):  # the page is gone
            await self._tab.session.send("Fetch.continueRequest", {"requestId": number})


@contextlib.asynccontextmanager
async def holding(tab: Tab, *, limit_s: float) -> AsyncIterator[Held]:
    """Have requests of a page wait as wanted in a block of code; at its end, all are let go."""
    held = Held(tab)
    tab.session.on("Fetch.requestPaused", held.pause)
    try:
        await tab.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}, limit_s=limit_s)
        yield held
    finally:
        tab.session.off("Fetch.requestPaused", held.pause)
        with contextlib.suppress(TimeoutError, CommandError):  # the page is gone
            await tab.send("Fetch.disable", limit_s=limit_s)


async def glance_at(tab: Tab, watch: PageEvents, held: Held, *, scripts: bool, limit_s: float) -> Glance:
    """Take plain pictures of a page; what it asks for meanwhile waits, and does not count.

    Parameters
    ----------
    tab, watch, held : the page, what it loads, and its requests.
    scripts : whether its scripts were on until now.
    limit_s : the seconds that this may take.

    Raises
    ------
    TimeoutError, CommandError : the page does not answer as it should.
    """
    look = _Look(tab, watch, limit_s, scripts=scripts)
    try:
        await look.unskip()
        held.is_on = watch.is_left_out = True
        held.asked.clear()
        return await look.taken(held.asked)
    except (ValueError, LookupError, ArithmeticError, msgspec.MsgspecError) as error:
        # The numbers that a hostile page brings about make no sense.
        raise CommandError(f"The page cannot be pictured: {error}") from error
    finally:
        held.is_on = watch.is_left_out = False


class _Look:
    """One look at a page."""

    def __init__(self, tab: Tab, watch: PageEvents, limit_s: float, *, scripts: bool) -> None:
        self._tab, self._watch, self._limit_s, self._scripts = tab, watch, limit_s, scripts
        self._deepest = -1
        self._has_layers = False

    async def unskip(self) -> None:
        """Show what the browser skips far from the window, and wait for what that brings.

        Else boxes have other sizes when they come near, and what they bring then would never come.
        """
        await self._call("unskipAll()")
        await self._watch.arrive(_LOAD_S)

    async def taken(self, asked: set[str]) -> Glance:
        """Scroll through the page and all that scrolls in it, and back; return what it shows.

        Parameters
        ----------
        asked : the addresses of what the page asks for meanwhile, and does not get.
        """
        many, page, self._deepest = await self._call(f"findBoxes({str(self._scripts).lower()})")
        boxes = [await self._id(number) for number in range(many)]
        starts, _ = await self._call("state()")
        found = self._found = Glance(boxes, page, starts)
        has_young = await self._call(f"holdYoung({OLD_MS})")
        moves = await self._call("isMoving()")
        found.is_uneven = has_young and moves
        fixed, is_covered = await self._call(f"findFixed({_MUCH})")
        self._has_layers = many > (page >= 0)
        with contextlib.suppress(TimeoutError):  # what it has not come to is not seen
            async with asyncio.timeout(self._limit_s):
                if is_covered:
                    await self._show_fixed(-1)
                await self._through(0)
                for number in range(fixed):
                    await self._show_fixed(number)
                    await self._picture()
        await self._call("showFixed(null)")
        found.lacks = bool(asked.difference(await self._call("lazyAddresses()")))
        await self._call("leaveBoxes()")
        for _ in range(_FRAMES):  # with which the browser leaves out again what is far from the window
            await self._wake()
        await self._call("layOut()")  # as it was before
        await self._call("spell()")  # or a capture may have no end
        params = {"computedStyles": STYLES, "includePaintOrder": True, "includeDOMRects": True}
        capture = await self._tab.ask(
            "DOMSnapshot.captureSnapshot", params, PixelCapture, limit_s=self._limit_s
        )
        found.place(capture, moves=moves or has_young)
        return found

    async def _through(self, depth: int) -> None:
        """Picture all that the boxes that are so deep in others can show in the window, and those in them."""
        if depth > self._deepest:
            await self._picture()
        elif numbers := await self._call(f"boxesInView({depth})"):
            # Most of what is wide has its texts where it begins.
            async for _ in self._along(0, numbers):
                async for _ in self._along(1, numbers):
                    await self._through(depth + 1)
        else:
            await self._through(depth + 1)

    async def _along(self, axis: int, numbers: Sequence[int]) -> AsyncIterator[None]:
        """Scroll some boxes to the side (0) or down (1) in steps, until none goes on, and back."""
        for step in count():
            moved = await self._call(f"scrollBoxes({numbers}, {axis}, {step * _STEP})")
            if self._found.is_full or (step and not moved):
                break
            yield
        await self._call(f"scrollBoxes({numbers}, {axis}, 0)")

    async def _picture(self) -> None:
        """Picture the window."""
        if self._has_layers:  # a busy browser may draw some of these where they were before
            await self._wake()
        picture = await self._shot()
        self._found.add(picture, *await self._call("state()"))

    async def _show_fixed(self, which: int) -> None:
        """Show one of the fixed boxes only, or none of them (-1)."""
        await self._call(f"showFixed({which})")
        await self._wake()

    async def _wake(self) -> None:
        """Let the browser draw a frame."""
        left, top = await self._call("corner()")
        await self._shot({"x": left, "y": top, "width": 2, "height": 2, "scale": 1})

    async def _shot(self, clip: dict[str, float] | None = None) -> str:
        """Return a picture of the window, or of a part of the page, as the browser encodes it."""
        params = {"format": "png", "optimizeForSpeed": True, "captureBeyondViewport": False}
        params |= {"clip": clip} if clip else {}
        answer = await self._tab.send("Page.captureScreenshot", params, limit_s=self._limit_s)
        return str(answer["data"])

    async def _id(self, number: int) -> int:
        return await self._tab.node_id(
            self._watch.frame_id, self._watch.loader_id, f"box({number})", limit_s=self._limit_s
        )

    async def _call(self, function: str) -> Any:
        return await self._tab.call(
            self._watch.frame_id, self._watch.loader_id, function, limit_s=self._limit_s, script=_SCRIPT
        )
