"""Take the DOM snapshot and the source of a page that is open, whole or cut.

Imports the Snapshot, the conversion, the page's tab and its watch.
"""

import asyncio
import base64
import re
from dataclasses import dataclass
from typing import Any

from domsieve.renderer.browser.connection import CommandError
from domsieve.renderer.browser.tab import Tab
from domsieve.renderer.page.convert import Capture
from domsieve.renderer.page.watch import Watch
from domsieve.snapshot.cut import Cut

# What the analysis reads for presentation styles and hidden text, as few as say it: each costs on every node.
# Shorthands stand for their parts, such as "1px solid rgb(0, 0, 0)" for a side's border.
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
)

_SCRIPTS = "Emulation.setScriptExecutionDisabled"
# What a capture that has only its minimum of time can hold, at 20 us per node.
_HURRIED_NODES = 100_000
# Byte order marks are what the browser drops when it decodes, and what makes the bytes decodable again.
_UTF8_MARK = b"\xef\xbb\xbf"
_DECLARED_UTF8 = re.compile(rb"charset\s*=\s*[\"']?utf-?8", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Body:
    """A response as the browser hands it out: text when it could decode it, else bytes."""

    text: str
    is_base64: bool

    def to_bytes(self, encoding: str, content_type: str) -> bytes:
        """Return the bytes that came, as far as they can be told.

        Parameters
        ----------
        encoding : the browser's name for the document's encoding. Text that Python cannot encode so comes
            as UTF-8 with a byte order mark, which a reader of HTML obeys first.
        content_type : the header. A mark is also set where nothing else would say that it is UTF-8.
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
    """End loading and scripts of a page, so that it can be captured as it is; a lost page stays lost."""
    commands: dict[str, dict[str, Any]] = {
        "Page.stopLoading": {},
        _SCRIPTS: {"value": True},
        "Runtime.terminateExecution": {},
    }
    # All at once: some are answered only when a script under way has ended, which another one sees to.
    waiting = [tab.send(method, params, limit_s=limit_s) for method, params in commands.items()]
    await asyncio.gather(*waiting, return_exceptions=True)


async def capture_document(
    tab: Tab, watch: Watch, *, max_nodes: int, left_s: float, least_s: float, scripts: bool
) -> tuple[Capture | None, Cut | None]:
    """Return the DOM snapshot, and what was cut from it or why there is none.

    Parameters
    ----------
    max_nodes : of a larger document the rest is removed first, since a capture of it would take minutes.
    left_s : seconds left of the page's time.
    least_s : seconds that the capture has when less is left.
    scripts : whether scripts of the page may still run.
    """
    limit_s = max(left_s, least_s)
    if left_s < least_s:
        max_nodes = min(max_nodes, _HURRIED_NODES)
    try:
        async with asyncio.timeout(limit_s):
            count = await _trim(tab, watch, max_nodes, scripts=scripts, limit_s=limit_s)
            capture = await tab.ask(
                "DOMSnapshot.captureSnapshot",
                {"computedStyles": STYLE_NAMES, "includePaintOrder": True},
                Capture,
                limit_s=limit_s,
            )
    except TimeoutError:
        return None, Cut("capture", f"no answer within {limit_s:.0f} s")
    except CommandError as error:
        return None, Cut("capture", error.message)
    if count <= max_nodes:
        return capture, None
    return capture, Cut("nodes", f"{count:,}, of which the first {max_nodes:,} were kept")


async def _trim(tab: Tab, watch: Watch, max_nodes: int, *, scripts: bool, limit_s: float) -> int:
    """Make the document ready for its capture and return how many nodes it had; its scripts do not notice.

    What is taken away wakes the observers and custom elements of a page, which could run for ever or put it back.
    While scripts are off nothing wakes them, and they are never told later. Styles may ask whether scripts are on.
    """
    function = f"trim({max_nodes})"
    if not scripts:
        return int(await tab.call(watch.frame_id, watch.loader_id, function, limit_s=limit_s))
    await tab.send(_SCRIPTS, {"value": True}, limit_s=limit_s)
    try:
        count = int(await tab.call(watch.frame_id, watch.loader_id, function, limit_s=limit_s))
    except CommandError:  # it has navigated, and where it arrives needs its scripts
        await tab.send(_SCRIPTS, {"value": False}, limit_s=limit_s)
        raise
    await tab.send(_SCRIPTS, {"value": False}, limit_s=limit_s)
    return count


async def fetch_source(tab: Tab, watch: Watch, *, limit_s: float) -> tuple[Body | None, str]:
    """Return the body of the main response, or None and why there is none."""
    try:
        answer = await tab.send("Network.getResponseBody", {"requestId": watch.loader_id}, limit_s=limit_s)
    except TimeoutError:
        return None, f"no answer within {limit_s:.0f} s"
    except CommandError:
        return None, "the browser has no whole body"
    return Body(answer["body"], answer["base64Encoded"]), ""
