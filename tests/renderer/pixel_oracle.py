"""Judge by pixels which text runs of a page a reader can see: the truth that rules about layout are held against.

A text run is a text node with words. One page is drawn three times: as it is, with the letters of runs transparent
(a custom highlight, which changes no layout), and with them swapped for letters of the same advance. What differs
inside the boxes of a run is what a reader gets of it. The same letters, black on white above everything else, say how
much there would be to see at full contrast:

    share = pixels of the run that differ by more than T / the same, of its letters black on white

Differences of red and blue count less than those of green, as they do for eyes.

A run can be seen if its share is at least `LEAST_SHARE` (N) with T = `LEAST_CONTRAST`, in both ways of changing it,
and its font is at least `LEAST_LETTER_PX` high on the screen. One way alone is not enough: a blur leaves a smear, and
``-webkit-text-security`` leaves dots, which vanish with the letters and are the same for all letters. Else the ways
differ on one of a thousand texts: where few letters show or have partners of their width, or a neighbour is blurred.

Before the pictures the page is stilled: scripts and with them timers are off, animations are ended, those without an
end are paused, and scroll-in effects are ended. Sticky boxes are put in their place. ``overflow: hidden`` on html
and body is released. Fixed boxes are lifted, and their own text is judged in the first window. Boxes that scroll,
and show at least one line, are scrolled to each of their runs. Where runs overlap, they are changed one after
another, all others at once, so that a page needs about four pictures per window.

Not judged: text that only a control shows (fields, closed selects), no-break spaces, generated text, and frames of
other origins.
"""

import asyncio
import base64
import contextlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from domsieve.options import CaptureOptions
from domsieve.renderer.browser.browser import RunningBrowser
from domsieve.renderer.browser.connection import Session
from domsieve.renderer.browser.opening import create_page, open_context, prepare_page
from domsieve.snapshot.contrast import WEIGHTS

# Chosen from what could be read of the texts in `readable_texts`.
LEAST_SHARE = 0.10
LEAST_CONTRAST = 8
LEAST_LETTER_PX = 4.0
# Half the limits, and half as much again.
_LENIENT, _STRICT = (0.05, 4, 3.0), (0.15, 12, 5.0)

_SCRIPT = Path(__file__).with_suffix(".js").read_text("utf-8")
_LEVELS = 256
# A page of this many windows is stranger than any that is worth the time; the rest of it is not judged.
_MOST_WINDOWS = 400
_MOST_TRIES = 3
# Pages come from loopback; what takes longer is the machine.
LOAD_LIMIT, _COMMAND_LIMIT_S, _LOOK_LIMIT_S = timedelta(minutes=3), 60.0, 600.0

Way = Literal["blank", "swap"]
WAYS: tuple[Way, ...] = ("blank", "swap")
Rect = Sequence[float]
Bytes = NDArray[np.uint8]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What pixels say of a text run.

    Parameters
    ----------
    text : the text of the node.
    letter_px : height of its font on the screen, after zoom and transforms; 0 if nothing of it has a box.
    changed, ink : how many pixels differ by each number of levels (256,), in the page and of the letters black on
        white, by the way of changing them. A way that cannot be used for this run is missing.
    is_judged : whether it was looked at; if not, nothing is known.
    """

    text: str
    letter_px: float
    changed: dict[Way, Counts]
    ink: dict[Way, NDArray[np.float64]]
    is_judged: bool

    def share(self, way: Way, contrast: int = LEAST_CONTRAST) -> float | None:
        """Return the share of the letters' pixels that differ by more than `contrast`; None if the way is missing.

        The swap is also missing if even black on white it changes nothing: no font has the letters.
        """
        if way not in self.changed:
            return None
        whole = float(self.ink[way][contrast + 1 :].sum())
        if not whole:
            return None if way == "swap" else 0.0
        return min(1.0, float(self.changed[way][contrast + 1 :].sum()) / whole)

    def shows(self, way: Way) -> bool | None:
        """Return whether the run can be seen, judged in one way only; None if the way is missing."""
        share = self.share(way)
        return None if share is None else share >= LEAST_SHARE and self.letter_px >= LEAST_LETTER_PX

    @property
    def is_seen(self) -> bool:
        """Whether a reader can see the run: both ways say so."""
        return self._passes(LEAST_SHARE, LEAST_CONTRAST, LEAST_LETTER_PX)

    @property
    def ways_agree(self) -> bool | None:
        """Whether both ways say the same; None if one is missing."""
        blank, swap = (self.shows(way) for way in WAYS)
        return None if blank is None or swap is None else blank == swap

    @property
    def is_doubtful(self) -> bool:
        """Whether the verdict depends on the exact limits, so that nothing should be concluded from it."""
        return self._passes(*_LENIENT) != self._passes(*_STRICT)

    def _passes(self, share: float, contrast: int, letter_px: float) -> bool:
        shares = [found for way in WAYS if (found := self.share(way, contrast)) is not None]
        return self.letter_px >= letter_px and bool(shares) and min(shares) >= share


class Oracle:
    """Looks at pages in tabs of a running browser.

    Parameters
    ----------
    running : the browser.
    options : of which the size of the window counts.
    """

    def __init__(self, running: RunningBrowser, options: CaptureOptions) -> None:
        self._running = running
        self._options = options

    async def look(self, url: str) -> list[Sight]:
        """Return what can be seen of each text run of a page, in document order.

        Takes a few pictures of each window that has text; see the module.
        """
        connection = self._running.connection
        context = await open_context(connection, self._options, self._running.proxy.url)
        try:
            target = await create_page(connection, context, self._options)
            tab = await prepare_page(connection, target, self._options)
            async with asyncio.timeout(_LOOK_LIMIT_S):
                return await _Look(tab.session, self._options.viewport_px).take(url)
        finally:
            await connection.root.send("Target.disposeBrowserContext", {"browserContextId": context})


class _Look:
    """The look at one page."""

    def __init__(self, session: Session, window_px: tuple[int, int]) -> None:
        self._session = session
        self._width, self._height = window_px
        self._ways: list[list[Way]] = []
        self.changed: dict[Way, Counts] = {}
        self.ink: dict[Way, Counts] = {}
        self.shots = 0

    async def take(self, url: str) -> list[Sight]:
        await self._open(url)
        roots = await self._closed_roots()
        answer = await self._session.send("Runtime.evaluate", {"expression": f"({_SCRIPT})"})
        made = await self._session.send(
            "Runtime.callFunctionOn",
            {
                "objectId": answer["result"]["objectId"],
                "functionDeclaration": "function (...roots) { return this(roots) }",
                "arguments": [{"objectId": root} for root in roots],
                "returnByValue": True,
            },
        )
        _raise_fault(made)
        runs: list[dict[str, Any]] = await self._call("runs()")
        for way in WAYS:
            self.changed[way] = np.zeros((len(runs), _LEVELS), np.int64)
            self.ink[way] = np.zeros((len(runs), _LEVELS), np.int64)
        self._ways = [run["ways"] for run in runs]
        for station in range(await self._call("stations()")):
            boxes: list[list[Rect]] = await self._call(f"station({station})")
            loose = [at for at, run in enumerate(runs) if boxes[at] and not run["fixed"]]
            fixed = [at for at, run in enumerate(runs) if boxes[at] and run["fixed"]]
            if loose:
                await self._call("liftFixed(true)")
                for column, row in self._cells(boxes, loose):
                    await self._window(column, row, loose)
                await self._call("scroll(0, 0, [])")
                await self._call("liftFixed(false)")
            if fixed:
                await self._window(0, 0, fixed)
        await self._measure_ink()
        return [
            Sight(
                text=run["text"],
                letter_px=run["letter_px"] if run["boxes"] else 0.0,
                changed={way: self.changed[way][at] for way in run["ways"]},
                ink={way: self.ink[way][at] * run["room"] for way in run["ways"]},
                is_judged=run["station"] >= 0 and bool(run["ways"] or not run["boxes"]),
            )
            for at, run in enumerate(runs)
        ]

    async def _open(self, url: str) -> None:
        """Load the page, scroll through it once so that what waits for that appears, and switch its scripts off."""
        loaded = asyncio.Event()
        self._session.on("Page.loadEventFired", lambda _: loaded.set())
        await self._session.send("Page.navigate", {"url": url})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOAD_LIMIT.total_seconds()):
                await loaded.wait()
        await self._evaluate(
            "(async () => { await document.fonts.ready; const frame = () => new Promise(requestAnimationFrame);"
            "const late = () => new Promise(r => setTimeout(r, 1000));"
            "const pause = () => Promise.race([frame().then(frame).then(frame), late()]);"
            "for (let y = 0; y < Math.min(document.documentElement.scrollHeight, 20000); y += innerHeight)"
            "{ scrollTo(0, y); await pause() } scrollTo(0, 0); await pause() })()"
        )
        await self._session.send("Emulation.setScriptExecutionDisabled", {"value": True})

    async def _closed_roots(self) -> list[str]:
        """Return handles of the closed shadow roots of the page."""
        tree = await self._session.send("DOM.getDocument", {"depth": -1, "pierce": True})
        waiting, found = [tree["root"]], []
        while waiting:
            node = waiting.pop()
            found += [
                r["backendNodeId"] for r in node.get("shadowRoots", ()) if r["shadowRootType"] == "closed"
            ]
            waiting += [*node.get("children", ()), *node.get("shadowRoots", ())]
            if "contentDocument" in node:
                waiting.append(node["contentDocument"])
        handles = []
        for number in sorted(found):
            answer = await self._session.send("DOM.resolveNode", {"backendNodeId": number})
            handles.append(answer["object"]["objectId"])
        return handles

    def _cells(self, boxes: list[list[Rect]], chosen: Sequence[int]) -> list[tuple[int, int]]:
        """Return the windows, as columns and rows of a grid over the page, that boxes of the chosen runs lie in."""
        cells: set[tuple[int, int]] = set()
        for at in chosen:
            for left, top, right, bottom in boxes[at]:
                columns = range(int(left // self._width), min(int(right // self._width), 1000) + 1)
                rows = range(int(top // self._height), min(int(bottom // self._height), 100_000) + 1)
                cells.update((c, r) for c in columns[:20] for r in rows[:60])
        return sorted(cells, key=lambda cell: cell[::-1])[:_MOST_WINDOWS]

    async def _window(self, column: int, row: int, chosen: Sequence[int]) -> None:
        """Count what changes of the chosen runs in one window of the page."""
        left, top = column * self._width, row * self._height
        x, y, boxes = await self._call(f"scroll({left}, {top}, {json.dumps(list(chosen))})")
        # The last window of a page overlaps the one before.
        cell = (left - x, top - y, left - x + self._width, top - y + self._height)
        if cell[0] >= self._width or cell[1] >= self._height or cell[2] <= 0 or cell[3] <= 0:
            return
        places = {at: found for at, found in zip(chosen, boxes, strict=True) if found}
        if not places:
            return
        await self._call("show('plain', [])")
        plain = await self._complete()
        differences: list[tuple[Way, dict[int, Bytes]]] = []
        for way in WAYS:
            if not (those := [at for at in places if way in self._ways[at]]):
                continue
            apart = await self._difference(plain, way, those)
            parts = {at: part for at in those if (part := _inside(apart, places[at], cell)).any()}
            crowds = _crowds({at: places[at] for at in parts})
            alone = {at: part for at, part in parts.items() if at not in set().union(*crowds, set())}
            differences.append((way, alone))
            for crowd in crowds:
                apart = await self._difference(plain, way, sorted(crowd))
                differences.append((way, {at: _inside(apart, places[at], cell) for at in crowd}))
        await self._call("show('plain', [])")
        still = (_apart(plain, await self._shoot()) == 0).astype(np.uint8)  # nothing moves there by itself
        for way, parts in differences:
            for at, part in parts.items():
                values = part * _inside(still, places[at], cell)
                self.changed[way][at] += np.bincount(values.ravel(), minlength=_LEVELS)

    async def _difference(self, plain: Bytes, way: Way, those: Sequence[int]) -> Bytes:
        await self._call(f"show('{way}', {json.dumps(those)})")
        return _apart(plain, await self._shoot())

    async def _measure_ink(self) -> None:
        """Count the pixels of all letters, black on white and above the page."""
        height = await self._call("openSheet()")
        for top in range(0, height, self._height):
            _, y, boxes = await self._call(f"scrollSheet({top})")
            cell = (0.0, top - y, self._width, self._height)
            plain = await self._shoot()
            await self._call("showSheet(true)")
            swapped = _apart(plain, await self._shoot())
            await self._call("showSheet(false)")
            dark = _apart(plain, np.full_like(plain, 255))
            pictures: dict[Way, Bytes] = {"blank": dark, "swap": swapped}
            for at, ways in enumerate(self._ways):
                for way in ways if boxes[at] else ():
                    values = _inside(pictures[way], boxes[at], cell)
                    self.ink[way][at] += np.bincount(values.ravel(), minlength=_LEVELS)

    async def _complete(self) -> Bytes:
        """Return a picture that is like the one before: after scrolling, a layer may be missing in the first."""
        last = await self._shoot()
        for _ in range(_MOST_TRIES):
            picture = await self._shoot()
            if np.array_equal(picture, last):
                break
            last = picture
        return last

    async def _shoot(self) -> Bytes:
        self.shots += 1
        answer = await self._session.send(
            "Page.captureScreenshot",
            {"format": "png", "optimizeForSpeed": True, "captureBeyondViewport": False},
        )
        with Image.open(io.BytesIO(base64.b64decode(answer["data"]))) as image:
            return np.asarray(image.convert("RGB"))

    async def _call(self, function: str) -> Any:
        return await self._evaluate(f"oracle.{function}")

    async def _evaluate(self, expression: str) -> Any:
        async with asyncio.timeout(_COMMAND_LIMIT_S):
            answer = await self._session.send(
                "Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True}
            )
        _raise_fault(answer)
        return answer["result"].get("value")


def _raise_fault(answer: dict[str, Any]) -> None:
    if fault := answer.get("exceptionDetails"):
        raise AssertionError(fault.get("exception", {}).get("description") or fault["text"])


def _apart(first: Bytes, second: Bytes) -> Bytes:
    """Return how far apart each pixel of two pictures (height, width, 3) is for the eyes of readers."""
    levels: Bytes = np.maximum(first, second) - np.minimum(first, second)
    largest: Bytes = np.rint(levels * np.array(WEIGHTS)).max(axis=2).astype(np.uint8)
    return largest


def _inside(levels: Bytes, boxes: Sequence[Rect], cell: Rect) -> Bytes:
    """Return the levels inside any of the boxes and the cell, and 0 elsewhere in the rectangle around them."""
    height, width = levels.shape
    edges = [
        (
            int(max(0, cell[0], np.floor(left))),
            int(max(0, cell[1], np.floor(top))),
            int(min(width, cell[2], np.ceil(right))),
            int(min(height, cell[3], np.ceil(bottom))),
        )
        for left, top, right, bottom in boxes
    ]
    edges = [edge for edge in edges if edge[2] > edge[0] and edge[3] > edge[1]]
    if not edges:
        return np.zeros((0, 0), np.uint8)
    left, top = min(e[0] for e in edges), min(e[1] for e in edges)
    right, bottom = max(e[2] for e in edges), max(e[3] for e in edges)
    mask = np.zeros((bottom - top, right - left), np.bool_)
    for x, y, x_end, y_end in edges:
        mask[y - top : y_end - top, x - left : x_end - left] = True
    return np.where(mask, levels[top:bottom, left:right], np.uint8(0))


def _crowds(places: dict[int, list[Rect]]) -> list[set[int]]:
    """Return groups of runs that overlap others, none of which overlaps one of its own group."""
    ids = list(places)
    if len(ids) < 2:
        return []
    rects = np.array([rect for at in ids for rect in places[at]])
    owner = np.array([at for at in ids for _ in places[at]])
    meets = (rects[:, None, :2] < rects[None, :, 2:]).all(axis=2)
    meets &= meets.T & (owner[:, None] != owner[None])
    neighbours: dict[int, set[int]] = {}
    for one, other in np.argwhere(meets).tolist():
        neighbours.setdefault(int(owner[one]), set()).add(int(owner[other]))
    groups: list[set[int]] = []
    for at in sorted(neighbours):
        group = next((group for group in groups if not group & neighbours[at]), None)
        if group is None:
            groups.append({at})
        else:
            group.add(at)
    return groups
