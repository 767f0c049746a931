"""Scroll an open page as a reader does, and let its styles, animations and canvases follow."""

import itertools
import math
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from domsieve.renderer._limits import ENDS_MS
from domsieve.renderer.browser.tab import Tab
from domsieve.renderer.page.pixels._camera import Camera
from domsieve.renderer.page.pixels._parts import CHANCE, F64, Bools
from domsieve.renderer.page.pixels._scene import Scene
from domsieve.renderer.page.pixels._scripts import relaid

# A page is scrolled through in steps of this share of the window, no more than so many.
_STEP, _MOST_STEPS = 0.8, 400
# A wheel scrolls so far by each notch. For the first px, a page or a box is looked at after each, then after more and
# more, and no more often than so. Beyond so many px, these come at once. A box of whose way less is left is at its
# end.
_WHEEL_PX, _FIRST_PX, _MORE, _MOST_WHEELS, _FAR_PX, _AT_END_PX = 100.0, 3_000.0, 1.15, 80, 50_000.0, 2.0
# A wheel is turned so for boxes in a box, which come first.
_INNER_PX = (_WHEEL_PX, *(5_000.0,) * 6)
# So many elements of a box have the focus in turn while keys are pressed that scroll along each axis, with codes.
_MOST_FOCUSED, _KEYS = 5, ((("ArrowRight", 39), ("ArrowLeft", 37)), (("PageDown", 34), ("PageUp", 33)))
# A key is pressed so often at most on the way of a box. What it scrolls moves for some frames, and is seen to move
# after a few.
_MOST_PRESSED, _MOST_LOOKS, _FEWEST_LOOKS = 30, 20, 2
# A wheel is turned at so many places of the window, between two shares of its sides, and if nothing moves, so many
# times as far.
_MOST_SPOTS, _SPOTS, _ONCE_MORE = 3, (0.05, 0.95), (1, 4)
# A pointer that moves by so many px may turn another box: Chrome takes 10.
_ASIDE_PX = 15.0
# Boxes are scrolled to these shares of their way, so that the page asks for what it shows there.
_LOAD_SHARES = 0.02, 0.1, 0.25, 0.5, 0.75, 1.0


class Reader(Camera):
    """An open page that is scrolled.

    Attributes
    ----------
    is_lively : whether transitions or animations may begin when something is scrolled.
    doubt : why no text is surely seen, "" if some are.
    is_unsteady : whether any have begun that follow the scrolling, or something is missing that it asks for.
    has_canvas : whether there are canvases, which are laid out anew if the scrolling changes their display.
    """

    def __init__(self, tab: Tab) -> None:
        super().__init__(tab)
        self.is_lively = self.is_unsteady = self.has_canvas = False
        self.doubt = ""
        self._canvas_styles: list[list[str]] = []

    async def aim(self, left: float, top: float) -> F64:
        await self.loosen()
        return await super().aim(left, top)

    async def loosen(self) -> None:
        """Let transitions begin that scrolling brings about, until `arrive`."""
        if self.is_lively:
            await self.ask_all("loosen")

    async def arrive(self, left: float = 0.0, top: float = 0.0) -> None:
        """Let styles, animations and canvases follow what was scrolled; a place is in the window."""
        await self.wake(left, top)
        if self.is_lively:
            self.is_unsteady |= any(await self.ask_all("settle", ENDS_MS))
        if self.has_canvas and (styles := await self.ask_all("canvasStyles")) != self._canvas_styles:
            if self._canvas_styles:
                await relaid(self, ())
            self._canvas_styles = styles

    async def go(self, top: float, left: float = 0.0) -> F64:
        """Scroll the page and let it follow, see `arrive`; return what the window shows, see `aim`."""
        window = await self.aim(left, top)
        await self.arrive(*window[:2].tolist())
        return window

    async def turns(self, scene: Scene, node: int, *, whole_way: bool = False) -> Bools:
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
            found[axis] = await self._turn((document, *around), inside, axis, whole_way=whole_way)
        if not found.all() and grips["keys"]:
            for number in (document, *around):
                await self.call(number, "holdAgain")
            await self._press(scene, node, int(grips["keys"]), found, whole_way=whole_way)
        for number in (document, *around):
            await self.call(number, "letGo")
        await self.wake()
        return found

    async def _press(self, scene: Scene, node: int, count: int, found: Bools, *, whole_way: bool) -> None:
        """Find whether keys scroll a box to the side and down, if one of `count` elements has the focus.

        Parameters
        ----------
        found : (2,), along which axes it is known to be scrolled; those along which keys do so are added.
        """
        document, handle = await self.box(scene, node)
        for number in sorted(CHANCE.sample(range(count), min(count, _MOST_FOCUSED))):
            is_taken = await self.call(document, "focus", handle, number)
            for axis, key in itertools.product(np.flatnonzero(~found).tolist(), (0, 1)) if is_taken else ():
                found[axis] = found[axis] or await self._key(document, axis, key, whole_way=whole_way)
            if not await self.call(document, "unfocus"):
                self.doubt = self.doubt or "the focus cannot be put back to where it was"
            if found.all():
                break

    async def _key(self, document: int, axis: int, number: int, *, whole_way: bool) -> bool:
        """Return whether a key scrolls a box, see `_press`; with `whole_way`, to its end, or far."""
        key, code = _KEYS[axis][number]
        event, left = {"key": key, "code": key, "windowsVirtualKeyCode": code}, np.inf
        for _ in range(_MOST_PRESSED if whole_way else 1):
            for kind in ("rawKeyDown", "keyUp"):
                await self.session.send("Input.dispatchKeyEvent", {"type": kind, **event})
            state = await self.call(document, "turned", 0)
            for look in range(_MOST_LOOKS):
                await self.arrive()
                before, state = state, await self.call(document, "turned", 0)
                if state == before and look >= _FEWEST_LOOKS:
                    break
            if not state["moved"][axis] or state["left"][axis] >= left:
                return False
            left = state["left"][axis]
            if left < _AT_END_PX:
                break
        return True

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

    async def _turn(
        self, documents: Sequence[int], places: Mapping[int, F64], axis: int, *, whole_way: bool
    ) -> bool:
        """Return whether a wheel scrolls a box along an axis at one of some places of the window, see ``grips``.

        Boxes in it come first, as far as they go. With `whole_way`, it must be scrolled to its end, or far.

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
                for px in _INNER_PX:
                    state = await self._wheel(document, number, (x, y), axis, way * px)
                    if state["moved"][axis]:
                        return not whole_way or await self._walk(document, number, (x, y), axis, way)
                    if state["places"] == before:
                        break
                    before = state["places"] or before
        return False

    async def _walk(self, document: int, number: int, at: tuple[float, float], axis: int, way: int) -> bool:
        """Return whether a wheel scrolls a box on until its end, or far."""
        left = np.inf
        for step in _steps():
            state = await self._wheel(document, number, at, axis, *(way * px for px in step))
            if state["left"][axis] < _AT_END_PX:
                return True
            if state["left"][axis] >= left:
                return False
            left = state["left"][axis]
        return True

    async def _wheel(
        self, document: int, number: int, at: tuple[float, float], axis: int, *notches: float
    ) -> dict[str, Any]:
        """Turn a wheel by some px at a time, and return what ``turned`` says then."""
        await self.loosen()
        for px in notches:
            await self._turn_by(at, axis, px)
        await self.arrive()
        state: dict[str, Any] = await self.call(document, "turned", number)
        return state

    async def _turn_by(self, at: Sequence[float] | F64, axis: int, px: float) -> None:
        x, y = map(float, at)
        way = {"deltaX": 0.0, "deltaY": 0.0, "deltaY" if axis else "deltaX": px}
        await self.session.send("Input.dispatchMouseEvent", {"type": "mouseWheel", "x": x, "y": y, **way})

    async def wheeled(
        self, spots: Sequence[F64], steps: Iterable[Sequence[float]], axis: int, toward: int, *box: Any
    ) -> AsyncIterator[tuple[float, bool]]:
        """Scroll with a wheel to an end; yield how far it is each time, in px, and at last False if nothing moves.

        Parameters
        ----------
        spots : pairs of places of the window (2, 2) at one of which the wheel is turned, see `spots_in`.
        steps : by how much the wheel scrolls each time, in px by notch.
        toward : -1 to scroll up or to the left.
        box : the document and the handle of the box that is scrolled; the page if there are none.
        """
        document, *handle = box or (0,)

        async def look() -> tuple[float, float]:
            at, left = await self.call(document, "wayOn", axis, toward, *handle)
            return float(at), float(left)

        done, spots, (first, left) = 0.0, [*spots], await look()
        yield done, True
        for step in steps:
            if left < _AT_END_PX:
                return
            begin, has_moved = done, False
            # What sticks may become smaller, so that the page goes back by as much.
            for times, at in itertools.product(_ONCE_MORE, [*spots]):
                await self.loosen()
                for px, place in zip(step, itertools.cycle(at), strict=False):  # styles follow each notch
                    await self._turn_by(place, axis, toward * times * px)
                    await self.wake()
                    before, (at_last, left) = done, await look()
                    done = abs(at_last - first)
                    if done <= before:
                        break
                await self.arrive()
                if has_moved := done > begin:
                    # Boxes that come under the pointer take the wheel from the page: it is turned elsewhere then.
                    spots = [at] if box else sorted(spots, key=lambda one: one is not at)
                    break
            yield done, has_moved
            if not has_moved:
                return

    def stops(self, end: float, size: float) -> Sequence[float]:
        """Return where to look at a page, or a box, on the way to an end: if it is lively, in each window.

        What covers a text for as long as it is in the window does so at one of these places.

        Parameters
        ----------
        size : the length of a window, in the unit of the end.
        """
        if not self.is_lively:
            return [CHANCE.uniform(0.0, end)]
        steps = min(int(abs(end) / (_STEP * size)) + 1, _MOST_STEPS)
        return np.linspace(0.0, end, steps + 1)[1:-1].tolist() or [end / 2]

    async def ask_by_scrolling(self) -> None:
        """Let the page ask for what it shows when it is scrolled, or boxes are."""
        await self.pass_by()
        for share in _LOAD_SHARES:
            if not any([await self.scroll_boxes(share, document) for document in self.worlds]):
                break
            await self.arrive()
        for document in self.worlds:
            await self.call(document, "scrollBoxesBack")

    async def scroll_boxes(self, share: float, document: int) -> float:
        """Scroll all boxes of a document to a share of their way.

        Returns how many times as long as its box the longest way is, at least 1; 0 if there is none.
        """
        return float(await self.call(document, "scrollBoxes", share, *self._roots.get(document, ())))

    async def pass_by(self) -> None:
        """Scroll through the page once, so that animations begin that wait until a reader comes to them."""
        window = await self.go(0.0)
        for _ in range(_MOST_STEPS):
            top, step = float(window[1]), float(window[3] - window[1])
            window = await self.go(top + _STEP * step)
            if window[1] <= top:
                break
        await self.go(0.0)


def spots_in(size: F64) -> list[F64]:
    """Return pairs of places (2, 2) in a box of some width and height where a wheel may be turned, from its corner.

    A box that is scrolled keeps the wheel, also when something comes over it, until the pointer moves: so both are in
    turn.
    """
    firsts = [size * [CHANCE.uniform(*_SPOTS), CHANCE.uniform(*_SPOTS)] for _ in range(_MOST_SPOTS)]
    return [np.array([one, np.where(one < size / 2, one + _ASIDE_PX, one - _ASIDE_PX)]) for one in firsts]


def notches(px: float, most_px: float = _WHEEL_PX) -> list[float]:
    """Return by how much a wheel scrolls by each notch, in px, at most `most_px`, if all scroll so far."""
    count = math.ceil(px / min(most_px, _WHEEL_PX))
    return [px / count] * count


def _steps() -> Iterator[list[float]]:
    """Yield by how much a wheel scrolls before each look, in px by notch."""
    done, px = 0.0, _WHEEL_PX
    for _ in range(_MOST_WHEELS):
        yield notches(px) if done < _FAR_PX else [px]
        done += px
        px *= _MORE if done >= _FIRST_PX else 1.0
