"""Capture a page at several moments of its animations: those of tickers, and of sections that are scrolled past.

Animations that follow the scrolling or go on for ever bring texts in view that are not when the page is captured.
``moments.js`` finds such moments. At each, the boxes of all nodes are captured once more, and what the animations
change of their styles. What differs from the capture becomes the property `MOMENTS` of each node.
"""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from itertools import product
from math import floor
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from domsieve.renderer.browser.connection import CommandError
from domsieve.renderer.browser.tab import Tab
from domsieve.renderer.page._convert import Capture
from domsieve.renderer.page._page_events import PageEvents
from domsieve.snapshot.moments import Change
from domsieve.snapshot.page import MOMENTS, Kind

_SCRIPT = Path(__file__).with_name("moments.js").read_text("utf-8")
# A moment that changes more boxes changes the whole page; this bounds the size of a capture. A guess.
_MOST_CHANGES = 20_000
# How far the places of texts that captures and the page itself tell are from each other, in px.
_NEAR_PX = 0.3


class _Nodes(msgspec.Struct, rename="camel"):
    parent_index: list[int]
    node_type: list[int]


class _Layout(msgspec.Struct, rename="camel"):
    node_index: list[int]
    styles: list[msgspec.Raw]
    bounds: list[list[float]]
    paint_orders: list[int] = []


class _Document(msgspec.Struct):
    nodes: _Nodes
    layout: _Layout


class _Moment(msgspec.Struct):
    """What a capture says of boxes and styles."""

    documents: list[_Document]
    strings: list[str]


class Moments:
    """The moments of an open page.

    Attributes
    ----------
    whens : of each, how far down the page is scrolled then, in px, and how many ms later it is. The former is None if
        it does not depend on that, and -1 if it depends on how far something else is scrolled, or to the side.
    held_at : when animations were held, in ms since 1970.
    changes : what differs of boxes at each, by the number of their document and their own; None for nothing.
    """

    def __init__(self, tab: Tab, watch: PageEvents) -> None:
        self._tab, self._watch = tab, watch
        self.whens: list[tuple[float | None, float]] = []
        self._names: list[str] = []
        self.held_at = 0.0
        self.changes: dict[tuple[int, int], list[Change | None]] = {}

    @property
    def hold_some(self) -> bool:
        """Whether animations are held since moments were sought."""
        return bool(self._names)

    async def find(self, *, limit_s: float) -> None:
        """Let the page find its moments; what it is captured at next is no moment of its own.

        Raises
        ------
        TimeoutError, CommandError : the page does not answer as it should.
        """
        self._names, self.whens, self.held_at = await self._call("moments()", limit_s)

    async def take(self, capture: Capture, names: Sequence[str], *, limit_s: float) -> None:
        """Capture the page at its moments, and bring it back.

        There are none if too much differs, or the page does not answer: text that is in view only then is lost.

        Parameters
        ----------
        capture : the capture of the page, taken since they were found.
        names : its computed properties.
        limit_s : the seconds that this may take.
        """
        changing = [name for name in names if name in self._names]
        params: dict[str, Any] = {"computedStyles": changing, "includePaintOrder": "z-index" in changing}
        taken: list[_Moment] = []
        places: list[list[list[float]]] = []
        try:
            async with asyncio.timeout(limit_s):
                for number in range(len(self.whens)):
                    places.append(await self.go_to(number, limit_s=limit_s))
                    taken.append(
                        await self._tab.ask("DOMSnapshot.captureSnapshot", params, _Moment, limit_s=limit_s)
                    )
        except (TimeoutError, CommandError):
            taken.clear()
        with contextlib.suppress(TimeoutError, CommandError):
            await self.go_to(-1, limit_s=limit_s)
        columns = [names.index(name) for name in changing]
        if all(_is_same(capture, one) for one in taken):
            for number, moment in enumerate(taken):
                for box, change in _changes(capture, moment, columns, changing, places[number]):
                    self.changes.setdefault(box, [None] * len(taken))[number] = change
        if len(self.changes) * len(taken) > _MOST_CHANGES:
            self.changes.clear()
        if not taken or not self.changes:
            self.whens = []

    async def go_to(self, number: int, *, limit_s: float) -> list[list[float]]:
        """Bring the page to one of its moments, or with -1 back.

        Returns left, top, width and height of the texts that a reader sees then, in px of the page.

        Raises
        ------
        TimeoutError, CommandError : the page does not answer as it should.
        """
        found: list[list[float]] = await self._call(f"goTo({number})", limit_s)
        return found

    def seen(self, capture: Capture, number: int) -> list[tuple[int, int]]:
        """Return which texts count at a moment: the numbers of their documents, and their own in these."""
        return [
            (document, capture.documents[document].layout.node_index[box])
            for (document, box), changes in self.changes.items()
            if (change := changes[number]) and change.seen
        ]

    def put(self, capture: Capture) -> None:
        """Add the property `MOMENTS` to a capture of this page, if there are any."""
        sizes = [len(document.layout.styles) for document in capture.documents]
        if not self.whens or any(
            number >= len(sizes) or entry >= sizes[number] for number, entry in self.changes
        ):
            return
        numbers = {"": len(capture.strings)}
        for number, document in enumerate(capture.documents):
            rows = []
            for entry, row in enumerate(document.layout.styles):
                if (plain := bytes(row)) != b"[]":
                    change = self.changes.get((number, entry))
                    text = msgspec.json.encode(change).decode() if change else ""
                    plain = plain[:-1] + b",%d]" % numbers.setdefault(
                        text, len(capture.strings) + len(numbers)
                    )
                rows.append(msgspec.Raw(plain))
            document.layout.styles = rows
        capture.strings += numbers
        capture.added = (*capture.added, MOMENTS)

    async def _call(self, function: str, limit_s: float) -> Any:
        return await self._tab.call(
            self._watch.frame_id, self._watch.loader_id, function, limit_s=limit_s, script=_SCRIPT
        )


def _is_same(capture: Capture, moment: _Moment) -> bool:
    """Return whether a page has the same nodes and boxes at another moment."""
    return len(capture.documents) == len(moment.documents) and all(
        one.nodes.parent_index == other.nodes.parent_index
        and one.nodes.node_type == other.nodes.node_type
        and one.layout.node_index == other.layout.node_index
        for one, other in zip(capture.documents, moment.documents, strict=True)
    )


def _changes(
    capture: Capture,
    moment: _Moment,
    columns: Sequence[int],
    of: Sequence[str],
    places: Sequence[Sequence[float]],
) -> Iterator[tuple[tuple[int, int], Change]]:
    """Yield what differs of each box, by the number of its document and its own, and which texts are in `places`."""
    seen = {
        key
        for place in places
        for key in product(*({floor(one - _NEAR_PX), floor(one + _NEAR_PX)} for one in place))
    }
    for number, (one, other) in enumerate(zip(capture.documents, moment.documents, strict=True)):
        moved = np.round(np.array(other.layout.bounds) - np.array(one.layout.bounds), 2).reshape(-1, 4)
        paint = np.array(one.layout.paint_orders)
        turns = (np.array(other.layout.paint_orders or paint) - paint).tolist()
        known: dict[tuple[bytes, bytes], dict[str, str]] = {}
        for entry, (row, later) in enumerate(zip(one.layout.styles, other.layout.styles, strict=True)):
            key = bytes(row), bytes(later)
            if key not in known:
                before, after = msgspec.json.decode(row), msgspec.json.decode(later)
                values = zip(of, [before[at] for at in columns] if before else (), after, strict=False)
                known[key] = {
                    name: moment.strings[now]
                    for name, then, now in values
                    if then >= 0 and now >= 0 and capture.strings[then] != moment.strings[now]
                }
            is_text = one.nodes.node_type[one.layout.node_index[entry]] == Kind.TEXT and number == 0
            counts = is_text and tuple(map(floor, other.layout.bounds[entry])) in seen
            if known[key] or moved[entry].any() or counts or turns[entry]:
                x, y, width, height = moved[entry].tolist()
                yield (number, entry), Change(x, y, width, height, known[key], counts, turns[entry])
