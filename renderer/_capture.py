"""Take the DOM snapshot and the source of a page that is open, whole or cut.

Imports the Snapshot, the conversion, the wire and the page's watch.
"""

import asyncio
import base64
import contextlib

import msgspec

from renderer._convert import Capture
from renderer._settle import in_own_world
from renderer._watch import Watch
from renderer._wire import CommandError, Session, TargetLostError, decode

# What the analysis compares (presentation styles of two levels), as few as say it: each costs on every node.
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
)

_STOP_LIMIT_S = 2.0
_CAPTURE_LIMIT_S = 3.0
_PAGE_FAULTS = (CommandError, TargetLostError, TimeoutError)


class _Counters(msgspec.Struct):
    nodes: int


class _Body(msgspec.Struct, rename="camel"):
    body: str
    base64_encoded: bool


async def stop(session: Session) -> None:
    """End loading and scripts of a page, so that it can be captured as it is; a lost page stays lost."""
    commands = {
        "Page.stopLoading": {},
        "Emulation.setScriptExecutionDisabled": {"value": True},
        "Runtime.terminateExecution": {},
    }
    with contextlib.suppress(*_PAGE_FAULTS):
        for method, params in commands.items():
            await session.send(method, params, limit_s=_STOP_LIMIT_S / len(commands))


async def capture_document(
    session: Session, frame_id: str, *, max_nodes: int, limit_s: float
) -> tuple[Capture | None, str]:
    """Return the DOM snapshot, and what was cut from it or why there is none.

    Parameters
    ----------
    max_nodes : of a larger document the rest is removed first, since a capture of it would take minutes.
    """
    limit_s = max(limit_s, _CAPTURE_LIMIT_S)
    cut = ""
    try:
        async with asyncio.timeout(limit_s):
            # Nodes of the whole process: usually this page alone, and cheap to ask for.
            counters = decode(await session.send("Memory.getDOMCounters", limit_s=limit_s), _Counters)
            if counters.nodes > max_nodes:
                count = await in_own_world(session, frame_id, f"prune({max_nodes})", limit_s=limit_s)
                if isinstance(count, int) and count > max_nodes:
                    cut = f"nodes: {count:,} in the page, the first {max_nodes:,} were kept"
            answer = await session.send(
                "DOMSnapshot.captureSnapshot",
                {"computedStyles": STYLE_NAMES, "includePaintOrder": True},
                limit_s=limit_s,
            )
    except TimeoutError:
        return None, f"capture: no answer within {limit_s:.0f} s"
    except (CommandError, TargetLostError) as error:
        return None, f"capture: {error}"
    return decode(answer, Capture), cut


async def fetch_source(session: Session, watch: Watch, *, limit_s: float) -> tuple[bytes | None, str]:
    """Return the body of the main response, or None and why there is none."""
    limit_s = max(limit_s, _CAPTURE_LIMIT_S)
    try:
        answer = await session.send(
            "Network.getResponseBody", {"requestId": watch.loader_id}, limit_s=limit_s
        )
    except TimeoutError:
        return None, f"no answer within {limit_s:.0f} s"
    except (CommandError, TargetLostError) as error:
        return None, str(error)
    body = decode(answer, _Body)
    return base64.b64decode(body.body) if body.base64_encoded else body.body.encode(), ""
