"""Decide when a page is complete.

A page is complete for the adaptive policy when all of these hold:

- It is loaded, or has been interactive for 3 s.
- No request for a document, script, style sheet or data is pending that is younger than 2 s.
- No data have arrived for 300 ms, not counting the fourth and later requests of the same URL.
- Its structure has not changed for 300 ms.

It waits at most 5 s from the first byte, but at least for the end of the document, and of scripts and style sheets
that delay the load event. `Timeouts` has these times, which were measured. The policy misses changes without a
signal, such as those of timers.
"""

import asyncio
import json
import logging
from datetime import timedelta
from math import inf
from typing import Any

from domsieve.errors import UsageError
from domsieve.options import CaptureOptions
from domsieve.renderer._limits import ENDS_MS, ENDS_SOON_S, OLD_MS
from domsieve.renderer.browser.connection import CommandError
from domsieve.renderer.browser.tab import Tab
from domsieve.renderer.page._page_events import PageEvents

_IDLE_S = 0.5
_SCROLL_LIMIT_MS = 8000
_SCROLL_STEPS = 200
_LOOK_S = 0.1
# The next lazy picture has so long to arrive.
_LAZY_S, _REST_STEP_S = 2.0, 0.05
# A page normally answers within this time, with the pause before the next question.
_ANSWER_S = 0.1
_LAZY, _MOST_LAZY = "img[loading=lazy i], video[loading=lazy i], iframe[loading=lazy i]", 300

logger = logging.getLogger(__name__)


async def settle(
    tab: Tab, watch: PageEvents, options: CaptureOptions, *, limit_s: float, scripts: bool = True
) -> None:
    """Wait until the page is complete according to the options.

    Without scripts, a page is complete when it is loaded, because nothing changes afterwards.

    Raises
    ------
    TimeoutError : it is not complete within `limit_s` seconds.
    CommandError : the page is gone.
    UsageError : an option is not a valid CSS selector.
    """
    policy = _POLICIES[options.settle]
    async with asyncio.timeout(limit_s):
        if not scripts:
            await _arrived(watch)
            if options.pixels:
                await _rest(tab, watch, limit_s)
            return
        await policy(tab, watch, limit_s)
        if options.scroll and watch.has_scripts:
            await _call(tab, watch, f"scrollThrough({_SCROLL_LIMIT_MS}, {_SCROLL_STEPS})", limit_s)
            await policy(tab, watch, limit_s)
        for selector in options.click:
            if await _click(tab, watch, selector, limit_s):
                await policy(tab, watch, limit_s)
        if options.wait_for is not None:
            error = UsageError(f"{options.wait_for!r} is not a valid CSS selector.", parameter="wait_for")
            await _until(tab, watch, f"shows({json.dumps(options.wait_for)})", limit_s, error)
            await policy(tab, watch, limit_s)
        await asyncio.sleep(options.settle_extra / timedelta(seconds=1))
        if options.pixels:
            await _rest(tab, watch, limit_s)


async def _rest(tab: Tab, watch: PageEvents, limit_s: float) -> None:
    """Wait until the page shows what it shows from then on, so that pictures show nothing else."""
    now = asyncio.get_running_loop().time
    is_loading = await _call(tab, watch, "layOut()", limit_s)
    if places := await _unreached(tab, watch, limit_s):
        await _call(tab, watch, f"visit({json.dumps(places)})", limit_s)
    start, limit = now(), inf
    latest = start + ENDS_SOON_S
    while (left := ENDS_SOON_S + start - (asked := now())) > 0:
        function = f"rests({round(left * 1000)}, {round(_LAZY_S * 1000)}, {ENDS_MS}, {OLD_MS})"
        found = await _ask(tab, watch, function, limit_s, absent="rests")
        if found == "rests":
            # Of what is at these places, and of backgrounds, only requests tell whether it has come.
            limit = min(limit, now() + _LAZY_S)
            if not (places or is_loading) or watch.idle_s() or now() >= limit:
                return
        await asyncio.sleep(_REST_STEP_S)
        # What begins has its time from the next frame on, which a busy machine may paint much later. Such a machine
        # also answers late.
        passed = now() - asked
        start = min(start + (passed if found == "begins" else max(passed - _ANSWER_S, 0.0)), latest)


async def _unreached(tab: Tab, watch: PageEvents, limit_s: float) -> list[list[float]]:
    """Return where lazy pictures, videos and frames are, if ``tab_pictures.js`` does not reach all of them.

    Some are in closed shadow trees, or in frames of other origins. The places have left, top, right and bottom of
    each, in px of the window.
    """
    places: list[list[float]] = []
    try:
        await tab.send("DOM.enable", limit_s=limit_s)
        await tab.send("DOM.getDocument", {"depth": 0}, limit_s=limit_s)
        found = await tab.send("DOM.performSearch", {"query": _LAZY}, limit_s=limit_s)
        count = found["resultCount"]
        if count > await _ask(tab, watch, f"reached({json.dumps(_LAZY)})", limit_s, absent=inf):
            some = {"searchId": found["searchId"], "fromIndex": 0, "toIndex": min(count, _MOST_LAZY)}
            nodes = (await tab.send("DOM.getSearchResults", some, limit_s=limit_s))["nodeIds"]
            asked = [tab.send("DOM.getBoxModel", {"nodeId": node}, limit_s=limit_s) for node in nodes]
            for box in await asyncio.gather(*asked, return_exceptions=True):
                if isinstance(box, dict):  # others have no box
                    x, y = box["model"]["border"][::2], box["model"]["border"][1::2]
                    places.append([min(x), min(y), max(x), max(y)])
    except CommandError:  # the page has navigated
        if not tab.is_open:
            raise
    await tab.send("DOM.disable", limit_s=limit_s)
    return places


async def _until(tab: Tab, watch: PageEvents, condition: str, limit_s: float, error: UsageError) -> None:
    """Wait until a call of ``tab.js`` returns true; raise `error` if it returns null."""
    while not (answer := await _ask(tab, watch, condition, limit_s, absent=False)):
        if answer is None:
            raise error
        await watch.news(_LOOK_S)


async def _click(tab: Tab, watch: PageEvents, selector: str, limit_s: float) -> bool:
    """Click the first visible element that matches; return whether there is one."""
    place = await _ask(tab, watch, f"aim({json.dumps(selector)})", limit_s, absent=False)
    if place is None:
        raise UsageError(f"{selector!r} is not a valid CSS selector.", parameter="click")
    if place is False:
        logger.warning(
            "%s: No visible element matches %r, so nothing was clicked.", watch.document_url, selector
        )
        return False
    if place:
        x, y = place
        mouse = {"x": x, "y": y, "button": "left", "clickCount": 1}
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            await tab.send("Input.dispatchMouseEvent", {"type": kind, **mouse}, limit_s=limit_s)
    await _ask(tab, watch, "goUp()", limit_s, absent=None)
    return True


async def _adaptive(tab: Tab, watch: PageEvents, limit_s: float) -> None:
    now = asyncio.get_running_loop().time
    start, still_ms = now(), round(watch.timeouts.still_s * 1000)
    while True:
        navigation = watch.navigations
        timeouts = watch.timeouts
        end = max(start, watch.committed_at) + timeouts.cap_s
        left = max(end, watch.drawing_at + timeouts.drawing_s) - now()
        busy = watch.busy_for()
        if watch.interactive and watch.is_undrawn():
            await watch.news(timeouts.still_s)
            continue
        if left <= 0 and watch.interactive:
            return
        if busy > 0:
            await watch.news(min(busy, left) if watch.interactive else busy)
            continue
        # Without scripts, only requests change a page.
        quiet = f"quiet({still_ms}, {round(left * 1000)})"
        still = not watch.has_scripts or await _call(tab, watch, quiet, limit_s)
        if still and watch.navigations == navigation and watch.busy_for() == 0:
            return


async def _arrived(watch: PageEvents) -> None:
    now = asyncio.get_running_loop().time
    while (busy := watch.busy_for()) > 0:
        left = watch.committed_at + watch.timeouts.cap_s - now()
        if watch.interactive and left <= 0:
            return
        await watch.news(min(busy, left) if watch.interactive else busy)


async def _call(tab: Tab, watch: PageEvents, function: str, limit_s: float) -> bool:
    """Return whether a call returns true; False if the page has navigated meanwhile."""
    return bool(await _ask(tab, watch, function, limit_s, absent=False))


async def _ask(tab: Tab, watch: PageEvents, function: str, limit_s: float, *, absent: object) -> Any:
    """Return the result of a call; `absent` if the page has navigated meanwhile."""
    try:
        return await tab.call(watch.frame_id, watch.loader_id, function, limit_s=limit_s)
    except CommandError:
        if not tab.is_open:
            raise
        await watch.news(watch.timeouts.still_s)
        return absent


async def _load(_tab: Tab, watch: PageEvents, _limit_s: float) -> None:
    while not watch.loaded:
        await watch.news(inf)


async def _network_idle(_tab: Tab, watch: PageEvents, _limit_s: float) -> None:
    while not watch.loaded or watch.idle_s() < _IDLE_S:
        await watch.news(_IDLE_S / 4)


_POLICIES = {"adaptive": _adaptive, "load": _load, "networkidle": _network_idle}
