"""Scroll an open page, and find out which of its boxes a reader can scroll, with a wheel or with keys."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from domsieve.renderer.page.pixels._camera import Camera
from domsieve.renderer.page.pixels._parts import CHANCE, F64, Bools
from domsieve.renderer.page.pixels._scene import Scene

# By how much a wheel is turned, in px: by one notch, then far, for boxes in a box, which come first.
_WHEEL_PX = 100.0, *(5_000.0,) * 6
# So many elements of a box have the focus in turn while keys are pressed that scroll along each axis, with codes.
_MOST_FOCUSED, _KEYS = 5, ((("ArrowRight", 39), ("ArrowLeft", 37)), (("PageDown", 34), ("PageUp", 33)))
# What a key scrolls moves for some frames, and is seen to move after a few.
_MOST_LOOKS, _FEWEST_LOOKS = 20, 2


class Reader(Camera):
    """An open page that is scrolled."""

    async def go(self, top: float, left: float = 0.0) -> F64:
        """Scroll the page and let it follow; return what the window shows, see `aim`."""
        window = await self.aim(left, top)
        await self.wake(*window[:2].tolist())
        return window

    async def turns(self, scene: Scene, node: int) -> Bools:
        """Return whether a wheel, or keys, scroll a box to the side and down (2,), where they should, see `_turn`."""
        document, frames = int(scene.document_of[node]), scene.frames_around(node)
        if not {document, *(around := scene.document_of[frames].tolist())} <= self.worlds.keys():
            return np.ones(2, np.bool_)
        _, grips = await self._ask_over(scene, node, "grips")
        found = ~np.array(grips["axes"]) | (not grips["places"] and not grips["keys"])
        place = next(iter(grips["places"]), None)
        for number, frame in zip(reversed(around), reversed(frames), strict=True):
            place = await self.call(number, "hold", await self._handle(scene, frame), place)
        inside = await self._in_window(scene, frames, grips["places"])
        for axis in np.flatnonzero(~found).tolist():
            found[axis] = await self._turn((document, *around), inside, axis)
        if not found.all() and grips["keys"]:
            for number in (document, *around):
                await self.call(number, "holdAgain")
            await self._press(scene, node, int(grips["keys"]), found)
        for number in (document, *around):
            await self.call(number, "letGo")
        await self.wake()
        return found

    async def _press(self, scene: Scene, node: int, count: int, found: Bools) -> None:
        """Find whether keys scroll a box to the side and down, if one of `count` elements has the focus.

        Parameters
        ----------
        found : (2,), along which axes it is known to be scrolled; those along which keys do so are added.
        """
        document, handle = await self.box(scene, node)
        closed = self._roots.get(document, ())
        if any(await self.ask_all("hasCanvas")):  # styles may follow the focus, and lay it out anew
            self.doubt = self.doubt or "a canvas may lose its picture as keys are tried"
        if any(await self.ask_all("hasKeyEvents")):
            self.doubt = self.doubt or "animations of drawings wait for keys or the focus"
        await self.ask_all("noteFocus")
        for number in sorted(CHANCE.sample(range(count), min(count, _MOST_FOCUSED))):
            is_taken = await self.call(document, "focus", handle, number, *closed)
            for axis, key in itertools.product(np.flatnonzero(~found).tolist(), (0, 1)) if is_taken else ():
                found[axis] = found[axis] or await self._key(document, axis, key)
            await self.call(document, "unfocus")
            if any(await self.ask_all("hasMovedFocus")):
                self.doubt = self.doubt or "the focus cannot be put back to where it was"
            if any(await self.ask_all("isMoving")):
                self.doubt = self.doubt or "animations begin as keys are tried"
            if found.all():
                break

    async def _key(self, document: int, axis: int, number: int) -> bool:
        """Return whether a key scrolls a box, see `_press`."""
        key, code = _KEYS[axis][number]
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        for kind in ("rawKeyDown", "keyUp"):
            await self.session.send("Input.dispatchKeyEvent", {"type": kind, **event})
        state = await self.call(document, "turned", 0)
        for look in range(_MOST_LOOKS):
            await self.wake()
            before, state = state, await self.call(document, "turned", 0)
            if state == before and look >= _FEWEST_LOOKS:
                break
        return bool(state["moved"][axis])

    async def _in_window(
        self, scene: Scene, frames: Sequence[int], places: Sequence[tuple[float, float]]
    ) -> dict[int, F64]:
        """Return where in the window of the page some places are, by their numbers, if they are in it.

        Parameters
        ----------
        frames : the elements with the frames around the places.
        places : to the right and down, as shares of the window of the innermost frame.
        """
        metrics = await self.session.send("Page.getLayoutMetrics")
        window = metrics["cssLayoutViewport"]
        size = np.array([window["clientWidth"], window["clientHeight"]], np.float64)
        corner, sides = np.zeros(2), np.diag(size)
        for content in (await self._contents(scene, frames[-1:])).values():
            corner, sides = content[0], content[[1, 3]] - content[0]
        found = corner + np.array(places).reshape(-1, 2) @ sides
        return {number: place for number, place in enumerate(found) if ((place > 0) & (place < size)).all()}

    async def _turn(self, documents: Sequence[int], places: Mapping[int, F64], axis: int) -> bool:
        """Return whether a wheel scrolls a box along an axis at one of some places of the window, see ``grips``.

        Boxes in it come first, as far as they go.

        Parameters
        ----------
        documents : that of the box, and those around it.
        """
        document = documents[0]
        for number, (x, y) in ((number, place.tolist()) for number, place in places.items()):
            for way in (1, -1):
                for one in documents:
                    await self.call(one, "holdAgain")
                before = ""
                for px in _WHEEL_PX:
                    state = await self._wheel(document, number, (x, y), axis, way * px)
                    if state["moved"][axis]:
                        return True
                    if state["places"] == before:
                        break
                    before = state["places"] or before
        return False

    async def _wheel(
        self, document: int, number: int, at: tuple[float, float], axis: int, px: float
    ) -> dict[str, Any]:
        """Turn a wheel by some px, and return what ``turned`` says then."""
        x, y = at
        way = {"deltaX": 0.0, "deltaY": 0.0, "deltaY" if axis else "deltaX": px}
        await self.session.send("Input.dispatchMouseEvent", {"type": "mouseWheel", "x": x, "y": y, **way})
        await self.wake()
        state: dict[str, Any] = await self.call(document, "turned", number)
        return state
