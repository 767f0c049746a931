"""Capture an open page, whole or truncated: DOM snapshot, raw source, screenshot and data responses."""

import asyncio
import base64
import contextlib
import json
import re
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from math import inf
from typing import Any

from domsieve.renderer._limits import ENDS_MS, OLD_MS
from domsieve.renderer.browser.connection import CommandError
from domsieve.renderer.browser.tab import Tab, frames_of
from domsieve.renderer.page._convert import Capture
from domsieve.renderer.page._moments import Moments
from domsieve.renderer.page._page_events import PageEvents
from domsieve.renderer.page.pixels.changes import Missing
from domsieve.renderer.page.pixels.glance import Held, glance_at, holding
from domsieve.renderer.page.pixels.look import look
from domsieve.renderer.page.pixels.pixel_capture import PIXEL_STYLES, PixelCapture, leave_unpictured
from domsieve.renderer.page.pixels.plain import Glance
from domsieve.renderer.protocol import DATA, SCREENSHOT
from domsieve.snapshot.cut import Cut

_TILE_PX = 4096
_TALLEST_PX = 16 * _TILE_PX
_WIDEST_PX = 4096
# Dense text takes 0.35 bytes per pixel, photographs less, so a report stays below 5 MB.
_PIXELS = 8_000_000
_BYTES = 2_800_000
_QUALITY = 60
_SMALLER = 0.6
_LONGEST_TEXT = 1_000_000
_MOST_RESPONSES = 32


async def take_extras(tab: Tab, watch: PageEvents, *, screenshot: bool, limit_s: float) -> dict[str, bytes]:
    """Return data responses and the screenshot by name, as far as available within `limit_s` seconds."""
    data: list[dict[str, Any]] = []
    tiles: dict[str, bytes] = {}
    facts = no_screenshot("")
    try:
        async with asyncio.timeout(limit_s):
            await _add_data(data, tab, watch, limit_s=limit_s)
            if screenshot:
                layout = await tab.send("Page.getLayoutMetrics", limit_s=limit_s)
                size = layout["cssContentSize"]
                facts = await _screenshot(
                    tab, tiles, int(size["width"]), int(size["height"]), limit_s=limit_s
                )
    except TimeoutError:
        facts = no_screenshot(f"no answer within {limit_s:.0f} s")
    except CommandError as error:
        facts = no_screenshot(error.message)
    if not screenshot:
        return {DATA: to_json(data)}
    return {SCREENSHOT: to_json(facts), **(tiles if facts["tiles"] else {}), DATA: to_json(data)}


def no_screenshot(reason: str) -> dict[str, Any]:
    """Return the description of a missing screenshot."""
    return {"width": 0, "height": 0, "scale": 1.0, "tiles": [], "reason": reason}


def to_json(value: Any) -> bytes:
    """Encode JSON as UTF-8; lone surrogates, which pages may contain, become question marks."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


async def _screenshot(
    tab: Tab, tiles: dict[str, bytes], width: int, height: int, *, limit_s: float
) -> dict[str, Any]:
    """Add the tiles of a screenshot to `tiles`, with fewer pixels if they have too many bytes; describe them."""
    width, seen = max(1, min(width, _WIDEST_PX)), max(1, min(height, _TALLEST_PX))
    scale = min(1.0, (_PIXELS / (width * seen)) ** 0.5)
    while True:
        tiles.clear()
        listed = []
        for number, y in enumerate(range(0, seen, _TILE_PX)):
            name, part = f"screenshot-{number}.webp", min(_TILE_PX, seen - y)
            answer = await tab.send(
                "Page.captureScreenshot",
                {
                    "format": "webp",
                    "quality": _QUALITY,
                    "captureBeyondViewport": True,
                    "optimizeForSpeed": True,
                    "clip": {"x": 0, "y": y, "width": width, "height": part, "scale": scale},
                },
                limit_s=limit_s,
            )
            tiles[name] = base64.b64decode(answer["data"])
            listed.append({"name": name, "y": y, "height": part})
            if sum(map(len, tiles.values())) > _BYTES:
                break
        else:
            reason = f"the first {seen:,} of {height:,} px" if seen < height else ""
            return {"width": width, "height": seen, "scale": scale, "tiles": listed, "reason": reason}
        scale *= _SMALLER


async def _add_data(data: list[dict[str, Any]], tab: Tab, watch: PageEvents, *, limit_s: float) -> None:
    for number, response in [*watch.data.items()][:_MOST_RESPONSES]:
        try:
            answer = await tab.send("Network.getResponseBody", {"requestId": number}, limit_s=limit_s)
        except CommandError:  # not kept, or still loading
            continue
        text = answer["body"]
        if answer["base64Encoded"]:
            text = base64.b64decode(text).decode("utf-8", "replace")
        size = len(text.encode("utf-8", "replace"))
        data.append(
            {"url": response.url, "status": response.status, "bytes": size, "text": text[:_LONGEST_TEXT]}
        )


# The properties that presentation styles and hidden text need, and no more, because each costs time for every node.
# Shorthands contain their parts, such as "1px solid rgb(0, 0, 0)" for the border of a side.
STYLE_NAMES = (
    "display",
    "position",
    "float",
    "flex-direction",
    "text-align",
    "list-style-type",
    "font-size",
    "font-weight",
    "background-color",
    "background-image",
    "border-top",
    "border-right",
    "border-bottom",
    "border-left",
    "white-space",
    "visibility",
    "color",
    "font-family",
    "font-style",
    "text-transform",
    "text-decoration-line",
    "border-radius",
    "box-shadow",
    "opacity",
    "overflow-x",
    "overflow-y",
    "clip",
    "clip-path",
    "background-clip",
    "background-size",
    "line-height",
    "-webkit-text-fill-color",
    "-webkit-text-stroke-width",
    "-webkit-text-stroke-color",
    "text-shadow",
    "filter",
    "mix-blend-mode",
    "isolation",
    "mask-image",
    "mask-size",
    "contain",
    "transform",
    "backface-visibility",
    "z-index",
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "paint-order",
    "background-position",
    "background-repeat",
    "background-blend-mode",
    "mask-position",
    "mask-repeat",
    "mask-mode",
    "mask-composite",
    "-webkit-mask-box-image-source",
    "border-image",
    "outline",
    "outline-offset",
    "text-decoration",
    "-webkit-text-security",
    "backdrop-filter",
    "color-scheme",
    "direction",
    "writing-mode",
    "empty-cells",
    "perspective",
    "transform-style",
    "rotate",
    "scale",
    "translate",
    "will-change",
    "text-underline-offset",
    "text-decoration-skip-ink",
    "font-variant-caps",
    "letter-spacing",
    "zoom",
    "column-count",
    "column-width",
    "text-emphasis",
    "text-emphasis-position",
    "pointer-events",
    "interactivity",
)

_SCRIPTS = "Emulation.setScriptExecutionDisabled"
# Plain pictures may take this share of the time of the page.
_GLANCE = 0.3
_FRAME_S = 0.05  # more than a frame takes
# The number of nodes that can be captured in the minimum time, at 20 us per node.
_HURRIED_NODES = 100_000
# The browser drops byte order marks when it decodes; with one, the bytes can be decoded again.
_UTF8_MARK = b"\xef\xbb\xbf"
_DECLARED_UTF8 = re.compile(rb"charset\s*=\s*[\"']?utf-?8", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a response as the browser returns it: text if it could be decoded, else bytes."""

    text: str
    is_base64: bool

    def to_bytes(self, encoding: str, content_type: str) -> bytes:
        """Return the original bytes, as far as they can be restored.

        Parameters
        ----------
        encoding : the browser's name of the encoding of the document. Text that Python cannot encode in it becomes
            UTF-8 with a byte order mark, which has priority in HTML.
        content_type : the header. A byte order mark is also added if nothing else says that the text is UTF-8.
        """
        if self.is_base64:
            return base64.b64decode(self.text)
        if encoding != "UTF-8":
            try:
                return (("\ufeff" if encoding.startswith("UTF-16") else "") + self.text).encode(encoding)
            except (LookupError, UnicodeEncodeError):
                return _UTF8_MARK + self.text.encode()
        data = self.text.encode()
        is_declared = _DECLARED_UTF8.search(content_type.encode()) or _DECLARED_UTF8.search(data[:1024])
        return data if is_declared or data.isascii() else _UTF8_MARK + data


async def stop(tab: Tab, *, limit_s: float) -> None:
    """Stop loading and scripts of a page, so that it can be captured as it is; does nothing for a lost page."""
    commands: dict[str, dict[str, Any]] = {
        "Page.stopLoading": {},
        _SCRIPTS: {"value": True},
        "Runtime.terminateExecution": {},
    }
    # All at once, because some get a response only when the running script ends, and another command ends it.
    waiting = [tab.send(method, params, limit_s=limit_s) for method, params in commands.items()]
    await asyncio.gather(*waiting, return_exceptions=True)


async def capture_document(
    tab: Tab,
    watch: PageEvents,
    *,
    max_nodes: int,
    left_s: float,
    least_s: float,
    scripts: bool,
    pixels: bool = False,
    withheld: frozenset[str] = frozenset(),
) -> tuple[Capture | None, Cut | None]:
    """Return the DOM snapshot, and what was cut from it or why there is none.

    Parameters
    ----------
    max_nodes : nodes beyond this number are removed first, because their capture could take minutes.
    left_s : seconds that are left of the time of the page.
    least_s : minimum of seconds for the capture.
    scripts : whether scripts of the page may still run, if its headers allow them.
    pixels : whether to add what pictures say of each text, as the property `PIXELS`. If no pictures can be taken, it
        says so, and the capture counts as cut.
    withheld : the frames of which a style sheet was refused that readers may have.
    """
    scripts = scripts and watch.has_scripts
    limit_s = max(left_s, least_s)
    end = asyncio.get_running_loop().time() + limit_s

    def rest_s() -> float:
        """Return how long a step may take, so that pictures do not use the time of the page several times."""
        return max(end - asyncio.get_running_loop().time(), least_s)

    if left_s < least_s:
        max_nodes = min(max_nodes, _HURRIED_NODES)
    kind = PixelCapture if pixels else Capture
    names = (*STYLE_NAMES, *PIXEL_STYLES) if pixels else STYLE_NAMES
    moments = Moments(tab, watch)
    params = {"computedStyles": names, "includePaintOrder": True, "includeDOMRects": pixels}

    try:
        # Pictures show what was captured only if no script runs in between, and nothing arrives.
        still: contextlib.AbstractAsyncContextManager[None] = contextlib.nullcontext()
        if pixels:
            watch.give_up()
            still = _at_rest(tab, watch, scripts=scripts, limit_s=least_s)
        trouble = ""
        async with still, contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(limit_s):
                restless: list[str] = []
                if pixels:
                    asked = f"restless({json.dumps(watch.refreshes)})"
                    restless = await tab.call(watch.frame_id, watch.loader_id, asked, limit_s=limit_s)
                    restless += await tab.call(watch.frame_id, watch.loader_id, "leftOut()", limit_s=limit_s)
                    if scripts:
                        await _hide_noscript(tab, watch, True, limit_s=limit_s)
                    held = await stack.enter_async_context(holding(tab, limit_s=least_s))
                    glance = await _glance(tab, watch, held, scripts=scripts, limit_s=limit_s)
                count = await _trim(tab, watch, max_nodes, scripts=scripts, pixels=pixels, limit_s=limit_s)
                await moments.find(limit_s=limit_s)
                if pixels:
                    # Now only, as the page is laid out anew where boxes were skipped that are far from the window.
                    lost = await tab.call(watch.frame_id, watch.loader_id, "lostPictures()", limit_s=limit_s)
                tree = await tab.send("Page.getFrameTree", limit_s=limit_s)
                capture = await tab.ask("DOMSnapshot.captureSnapshot", params, kind, limit_s=limit_s)
                capture.xml = xml_frames(tree["frameTree"])
            if moments.whens:
                await moments.take(capture, names, limit_s=rest_s())
            if isinstance(capture, PixelCapture):
                places = [[-inf, -inf, inf, inf]] if lost is None else lost
                is_cut = count > max_nodes or watch.cut_by is not None
                missing = Missing(places, is_cut=is_cut, unknown=withheld)
                try:
                    restless += await tab.call(watch.frame_id, watch.loader_id, "resume()", limit_s=rest_s())
                    if isinstance(glance, str):
                        raise CommandError(glance)
                    capture, trouble = await look(
                        tab,
                        watch,
                        capture,
                        names,
                        missing=missing,
                        moments=moments,
                        restless=restless,
                        glance=glance,
                        held=held,
                        scripts=scripts,
                        limit_s=rest_s(),
                    )
                except (TimeoutError, CommandError) as error:
                    # The page is not lost: its hidden text is found by layout.
                    leave_unpictured(capture)
                    moments.put(capture)
                    reason = str(error) or f"not done within {limit_s:.0f} s"
                    return capture, Cut("capture", f"pixels: unsure, no pictures of the page: {reason}")
            with contextlib.suppress(TimeoutError, CommandError):  # it matters for screenshots only
                if moments.hold_some:
                    await tab.call(watch.frame_id, watch.loader_id, "letGo()", limit_s=least_s)
                if pixels and scripts:
                    await _hide_noscript(tab, watch, False, limit_s=least_s)
            moments.put(capture)
            if trouble:
                return capture, Cut("capture", f"pixels: unsure, {trouble}")
    except TimeoutError:
        return None, Cut("capture", f"no answer within {limit_s:.0f} s")
    except CommandError as error:
        return None, Cut("capture", error.message)
    if count <= max_nodes:
        return capture, None
    return capture, Cut("nodes", f"{count:,}, of which the first {max_nodes:,} were kept")


def xml_frames(tree: dict[str, Any]) -> frozenset[str]:
    """Return the ids of the frames whose documents are XML, from a result of ``Page.getFrameTree``."""
    return frozenset(frame["id"] for frame in frames_of(tree) if "xml" in frame.get("mimeType", ""))


@contextlib.asynccontextmanager
async def _scripts_off(
    tab: Tab, *at_once: Awaitable[Any], scripts: bool = True, limit_s: float
) -> AsyncIterator[None]:
    """Switch the scripts of a page off for a block of code, with other commands `at_once`.

    They are on again afterwards, if the page may run `scripts` at all.
    """
    await asyncio.gather(tab.send(_SCRIPTS, {"value": True}, limit_s=limit_s), *at_once)
    try:
        yield
    finally:
        if scripts:
            with contextlib.suppress(TimeoutError, CommandError):  # the page is gone, or does not answer
                await tab.send(_SCRIPTS, {"value": False}, limit_s=limit_s)


@contextlib.asynccontextmanager
async def _at_rest(tab: Tab, watch: PageEvents, *, scripts: bool, limit_s: float) -> AsyncIterator[None]:
    """Switch the scripts of a page off for a block of code, and stop what it is loading."""
    # At once: a server may notice that the page does nothing more, and answer then.
    note = tab.call(watch.frame_id, watch.loader_id, "notePictures()", limit_s=limit_s)
    stop_loading = tab.send("Page.stopLoading", limit_s=limit_s)
    async with _scripts_off(tab, note, stop_loading, scripts=scripts, limit_s=limit_s):
        yield


async def _trim(
    tab: Tab, watch: PageEvents, max_nodes: int, *, scripts: bool, pixels: bool, limit_s: float
) -> int:
    """Prepare the document for its capture, unnoticed by its scripts; return how many nodes it had.

    Removing nodes would call observers and custom elements of the page, which could run for ever or put the nodes
    back. While scripts are off, they are not called, and not later either. But styles can depend on whether scripts
    are on, so they are on again for the capture, except where pictures follow: then only ``noscript`` is hidden.
    """
    async with _scripts_off(tab, limit_s=limit_s) if scripts and not pixels else contextlib.nullcontext():
        unscroll = f"unscroll({str(pixels).lower()}, {ENDS_MS}, {json.dumps(watch.refreshes)})"
        if await tab.call(watch.frame_id, watch.loader_id, unscroll, limit_s=limit_s):
            await asyncio.sleep(_FRAME_S)  # else scripts would be told of it afterwards
        function = f"trim({max_nodes}, {ENDS_MS}, {OLD_MS if pixels else 0})"
        return int(await tab.call(watch.frame_id, watch.loader_id, function, limit_s=limit_s))


async def _glance(tab: Tab, watch: PageEvents, held: Held, *, scripts: bool, limit_s: float) -> Glance | str:
    """Take plain pictures of a page; return why there are none, if it does not answer as it should."""
    try:
        return await glance_at(tab, watch, held, scripts=scripts, limit_s=limit_s * _GLANCE)
    except TimeoutError:
        return f"not done within {limit_s * _GLANCE:.0f} s"
    except CommandError as error:
        return error.message


async def _hide_noscript(tab: Tab, watch: PageEvents, is_hidden: bool, *, limit_s: float) -> None:
    function = f"hideNoscript({str(is_hidden).lower()})"
    await tab.call(watch.frame_id, watch.loader_id, function, limit_s=limit_s)


async def fetch_source(tab: Tab, watch: PageEvents, *, limit_s: float) -> tuple[Body | None, str]:
    """Return the body of the main response, or None and the reason."""
    try:
        answer = await tab.send("Network.getResponseBody", {"requestId": watch.loader_id}, limit_s=limit_s)
    except TimeoutError:
        return None, f"no answer within {limit_s:.0f} s"
    except CommandError:
        return None, "the browser has no whole body"
    return Body(answer["body"], answer["base64Encoded"]), ""
