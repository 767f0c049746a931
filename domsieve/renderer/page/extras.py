"""What is kept beside a page for people to look at: its screenshot, and the responses that carried its data.

    screenshot.json      {"width", "height", "scale", "tiles": [{"name", "y", "height"}], "reason"}, in CSS px
    screenshot-0.webp    the page's first 4,096 px from above, and so on
    data.json            [{"url", "status", "bytes", "text"}] in order of arrival

Both are taken after the page's own capture, which they cannot change. Imports, of the project, the
page's tab and watch.
"""

import asyncio
import base64
import json
from typing import Any

from domsieve.renderer.browser.connection import CommandError
from domsieve.renderer.browser.tab import Tab
from domsieve.renderer.page.extra_names import DATA, SCREENSHOT
from domsieve.renderer.page.watch import Watch

_TILE_PX = 4096
_TALLEST_PX = 16 * _TILE_PX
_WIDEST_PX = 4096
# Dense text takes 0.35 bytes a pixel, photographs less: a report with all of it stays below 5 MB.
_PIXELS = 8_000_000
_BYTES = 2_800_000
_QUALITY = 60
_SMALLER = 0.6
_LONGEST_TEXT = 1_000_000
_MOST_RESPONSES = 32


async def take_extras(tab: Tab, watch: Watch, *, screenshot: bool, limit_s: float) -> dict[str, bytes]:
    """Return data responses and screenshot by name, as far as the page gives them within `limit_s` seconds."""
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
    """Return what is written when there is none."""
    return {"width": 0, "height": 0, "scale": 1.0, "tiles": [], "reason": reason}


def to_json(value: Any) -> bytes:
    """Return JSON in UTF-8; half surrogate pairs, which pages may contain, become question marks."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


async def _screenshot(
    tab: Tab, tiles: dict[str, bytes], width: int, height: int, *, limit_s: float
) -> dict[str, Any]:
    """Fill `tiles`, smaller ones when they are too many bytes, and return what there is to know of them."""
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


async def _add_data(data: list[dict[str, Any]], tab: Tab, watch: Watch, *, limit_s: float) -> None:
    for number, response in [*watch.data.items()][:_MOST_RESPONSES]:
        try:
            answer = await tab.send("Network.getResponseBody", {"requestId": number}, limit_s=limit_s)
        except CommandError:  # it was not kept, or is still coming
            continue
        text = answer["body"]
        if answer["base64Encoded"]:
            text = base64.b64decode(text).decode("utf-8", "replace")
        size = len(text.encode("utf-8", "replace"))
        data.append(
            {"url": response.url, "status": response.status, "bytes": size, "text": text[:_LONGEST_TEXT]}
        )
