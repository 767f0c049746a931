"""Decide when a page is complete.

The adaptive policy was measured on 13 kinds of applications and 67 real pages: from the first byte of the
document, wait until it is loaded (or, for at most 3 s, interactive), no document, script, style sheet or data
request younger than 2 s is under way, no data came for 300 ms (a URL's fourth call and later ones do not
count), and nothing of structure changed for 300 ms; at most 5 s, but never less than the document's own end.
It misses what gives no signal, such as a timer.
"""

import asyncio
import contextlib
from datetime import timedelta
from math import inf
from pathlib import Path

import msgspec

from renderer._options import CaptureOptions
from renderer._watch import Watch
from renderer._wire import CommandError, Session, decode

_CAP_S = 5.0
_STILL_MS = 300
_IDLE_S = 0.5
_SCROLL_LIMIT_MS = 8000
_SCROLL_STEPS = 200
_SCRIPT = Path(__file__).with_name("_settle.js").read_text("utf-8")


class _World(msgspec.Struct, rename="camel"):
    execution_context_id: int


class _Value(msgspec.Struct):
    value: bool | int | None = None


class _Evaluation(msgspec.Struct):
    result: _Value


async def in_own_world(session: Session, frame_id: str, call: str, *, limit_s: float) -> bool | int | None:
    """Return the value of a call of ``_settle.js``, made where the page's scripts cannot interfere.

    Raises
    ------
    TimeoutError : the page does not answer.
    CommandError : the page navigated away.
    TargetLostError : the page is gone.
    """
    async with asyncio.timeout(limit_s):
        world = await session.send(
            "Page.createIsolatedWorld", {"frameId": frame_id, "worldName": "domsieve"}, limit_s=limit_s
        )
        answer = await session.send(
            "Runtime.evaluate",
            {
                "expression": f"{_SCRIPT}domsieve.{call}",
                "contextId": decode(world, _World).execution_context_id,
                "awaitPromise": True,
                "returnByValue": True,
            },
            limit_s=limit_s,
        )
    return decode(answer, _Evaluation).result.value


async def settle(
    session: Session, frame_id: str, watch: Watch, options: CaptureOptions, limit_s: float
) -> None:
    """Return when the page is complete in the sense of the options; the caller sets the deadline."""
    await _POLICIES[options.settle](session, frame_id, watch, limit_s)
    if options.scroll:
        call = f"scrollThrough({_SCROLL_LIMIT_MS}, {_SCROLL_STEPS})"
        with contextlib.suppress(CommandError):  # it navigated meanwhile
            await in_own_world(session, frame_id, call, limit_s=limit_s)
        await _POLICIES[options.settle](session, frame_id, watch, limit_s)
    await asyncio.sleep(options.settle_extra / timedelta(seconds=1))


async def _adaptive(session: Session, frame_id: str, watch: Watch, limit_s: float) -> None:
    now = asyncio.get_running_loop().time
    start = now()
    while True:
        navigation = watch.navigations
        left = max(start, watch.committed_at) + _CAP_S - now()
        if left <= 0 and watch.interactive:
            return
        busy = watch.busy_for()
        if busy > 0:
            await watch.change(min(busy, left) if watch.interactive else busy)
            continue
        call = f"quiet({_STILL_MS}, {round(left * 1000)})"
        try:
            still = await in_own_world(session, frame_id, call, limit_s=limit_s)
        except CommandError:  # it navigated meanwhile
            await watch.change(_STILL_MS / 1000)
            continue
        if still and watch.navigations == navigation and watch.busy_for() == 0:
            return


async def _load(_session: Session, _frame_id: str, watch: Watch, _limit_s: float) -> None:
    while not watch.loaded:
        await watch.change(inf)


async def _network_idle(_session: Session, _frame_id: str, watch: Watch, _limit_s: float) -> None:
    while not watch.loaded or watch.idle_s() < _IDLE_S:
        await watch.change(_IDLE_S)


_POLICIES = {"adaptive": _adaptive, "load": _load, "networkidle": _network_idle}
