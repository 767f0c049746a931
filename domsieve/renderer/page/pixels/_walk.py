"""Scroll an open page with nothing but a wheel, as a reader does, and look what it shows."""

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from domsieve.renderer.page.pixels._boxes import around_all
from domsieve.renderer.page.pixels._count import Count
from domsieve.renderer.page.pixels._parts import CHANCE, F64, Bools, common
from domsieve.renderer.page.pixels._reader import notches, spots_in
from domsieve.renderer.page.pixels._scene import LOOKING
from domsieve.renderer.page.pixels._search import Searcher
from domsieve.renderer.page.pixels._viewer import AT_END
from domsieve.renderer.page.pixels._window import under_grounds

# By how much a page or a box is scrolled between two pictures, as shares of what it shows, the first and the second
# time that it is walked through. What is at an edge or under a bar the first time is elsewhere the second time.
_STEPS = (0.65, 0.75), (0.4, 0.6)
# A wheel is turned along an axis, forwards or back: a box may begin at its end.
_WAYS = (1, 1), (0, 1), (0, -1), (1, -1)
# How far a page is scrolled, in px, to know which boxes stay where they are. So many windows of a box are looked at.
_FAR_PX, _MOST_WINDOWS = (2.0, 400.0), 48
# In a low box, each notch goes so far at most, as a share of what it shows, so that it meets what comes over it.
_NOTCH = 0.3
# So far it is scrolled at most to what is missing next, in px.
_MOST_PX = 1_000.0
# So many times at most a box is walked through each time: it may be at an edge of the window at first.
_MOST_TIMES = 2
# So many pictures are taken each time.
_MOST_PICTURES = 100


class Walker(Searcher):
    """An open page that is walked through with a wheel.

    Where styles follow the scrolling, a page may show other things when it is brought to a place at once, and when
    what is fixed is lifted. So readers see for sure only what such a walk shows; see `Count.walked`.
    """

    async def staying(self, fixed: Sequence[Any], *, to_side: bool) -> Bools:
        """Return which fixed elements stay as they are when the page is scrolled, as far as it can be.

        If they may follow boxes, these are scrolled, too, and with `to_side`, the page is scrolled to the side.
        """
        if not fixed:
            return np.zeros(0, np.bool_)
        looks, roots = [], self._roots[0]

        async def see() -> None:
            looks.append(await self.call(0, "stays", self.is_lively, len(fixed), *fixed, *roots))

        # What leaves its place only later, or changes on the way, is no fixed box.
        window = await self.go(AT_END)
        end, size = float(window[1]), window[2:] - window[:2]
        sides = [float((await self.go(0.0, far))[0]) for far in (-AT_END, AT_END)] if to_side else []
        places = [(top, 0.0) for top in (0.0, 1.0, CHANCE.uniform(*_FAR_PX), *self.stops(end, size[1]), end)]
        places += [(0.0, left) for side in sides if side for left in (*self.stops(side, size[0]), side)]
        for place in places:
            await self.go(*place)
            await see()
        await self.go(0.0)
        if self.is_lively and (windows := await self.scroll_boxes(1.0, 0)):
            for share in (*self.stops(1.0, 1 / min(windows, _MOST_WINDOWS)), 1.0):
                await self.scroll_boxes(share, 0)
                await self.arrive()
                await see()
            await self.call(0, "scrollBoxesBack")
            await self.arrive()
        driven = await self.call(0, "areDriven", *fixed)
        stays = (
            not any(held for _, held in own) and len({look for look, _ in own}) == 1 and not is_driven
            for *own, is_driven in zip(*looks, driven, strict=True)
        )
        return np.fromiter(stays, np.bool_)

    async def view_under(
        self, count: Count, behind: dict[int, Any], fixed: dict[int, Any], whole: F64
    ) -> None:
        """Picture texts that were not seen without the fixed boxes over them that are behind other texts."""
        for parts, nodes in under_grounds(count.scene, np.array([*behind], np.intp)):
            under = count.unseen(parts)
            if under.any():
                handles = [behind[node] for node in nodes]
                await self.hide(handles)
                count.recount(under)
                await self.view(count, under & count.in_view(is_fixed=False), whole)
                await self.scroll_once(count, fixed, whole)
                await self.call(0, "uncover", *handles)

    async def walk(self, count: Count, fixed: dict[int, Any], window_px: F64, whole: F64) -> F64:
        """Picture what a walk through the page and its boxes shows.

        Returns left, top, right and bottom of the part of the page that readers come to, as styles may lock it.

        Parameters
        ----------
        fixed : the fixed boxes, which are transparent.
        window_px : the width and the height of the window.
        whole : what there is to scroll to.
        """
        whole, every = whole.copy(), np.ones(count.scene.owner.size, np.bool_)
        async with self._walking(count, fixed, window_px, count.missing(every)) as walk:
            for axis in (1, 0):
                begin, end = whole[axis::2].tolist()
                seen = await walk.through(CHANCE.uniform(*_STEPS[0]), axis, -1 if begin < 0 else 1)
                if begin < 0:
                    whole[axis] = max(begin, end - seen)
                else:
                    whole[2 + axis] = min(end, seen)
        return whole

    async def walk_again(self, count: Count, fixed: dict[int, Any], window_px: F64) -> None:
        """Walk once more through the page, if anything was seen that the first walk did not show."""
        if count.walked is None or self.is_unsteady:
            return
        missing = count.seen(~count.walked)
        if missing.any():
            async with self._walking(count, fixed, window_px, missing) as walk:
                for axis, toward in _WAYS[:-1]:
                    await walk.through(CHANCE.uniform(*_STEPS[1]), axis, toward)

    @contextlib.asynccontextmanager
    async def _walking(
        self, count: Count, fixed: dict[int, Any], window_px: F64, missing: Bools
    ) -> AsyncIterator["_Walk"]:
        """Make a walk to some parts (B,), and bring the page back; add what it shows to `Count.walked`."""
        scene = count.scene
        before = await self.capture(LOOKING)
        absent, unread, misshapen = scene.absent, scene.unread, scene.misshapen
        own = Count(scene, np.array([*self.worlds]), count.letters)
        walk = _Walk(self, own, missing, await self.frame_places(scene), window_px)
        try:
            async with self.showing([*fixed.values()]):
                yield walk
            await self.go_back()
            await self.reshape(count, before, walk.contents)
        finally:  # also if time runs out
            scene.absent, scene.unread, scene.misshapen = absent, unread, misshapen
            count.take(own, walk.found)
            count.walked = walk.found if count.walked is None else count.walked | walk.found

    async def go_back(self) -> None:
        """Scroll the page and its boxes to where they were at first."""
        await self.loosen()
        for document in self.worlds:
            await self.call(document, "goBack")
        await self.arrive()


class _Walk:
    """A walk through a page to some parts of texts.

    Attributes
    ----------
    count : what is counted of its parts.
    missing : the parts (B,) that are looked for.
    found : those of them that were seen.
    contents : where the contents of frames are, see `Scene.place`.
    """

    def __init__(
        self, walker: Walker, count: Count, missing: Bools, contents: Mapping[int, F64], window_px: F64
    ) -> None:
        self._walker, self._scene, self._window_px = walker, count.scene, window_px
        self._left, self._times = _MOST_PICTURES, Counter[tuple[int, float]]()
        self._window, self._absent, self._unread = np.zeros(4), count.scene.absent, count.scene.unread
        self.count, self.contents = count, contents
        self.missing, self.found = missing.copy(), np.zeros_like(missing)

    async def through(self, share: float, axis: int, toward: int) -> float:
        """Walk through the page from where it begins, and through the boxes on the way.

        Returns how far it goes in px if styles keep it from going on, else infinity.

        Parameters
        ----------
        share : by how much it is scrolled between two pictures, as a share of the window.
        axis, toward : see `Walker.wheeled`.
        """
        walker, size = self._walker, float(self._window_px[axis])
        await walker.go_back()
        steps = self._steps(share * size, axis, toward)
        async for done, has_moved in walker.wheeled(spots_in(self._window_px), steps, axis, toward):
            if not has_moved:
                return done + size
            if not await self._look():
                break
            for node in self._boxes():
                self._times[node, share] += 1
                if self._times[node, share] <= _MOST_TIMES:
                    await self._through_box(node, share)
        return np.inf

    def _steps(
        self, least_px: float, axis: int, toward: int, node: int = -1, notch_px: float = np.inf
    ) -> Iterator[list[float]]:
        """Yield by how much a wheel scrolls the page, or a box, each time: to what is missing next."""
        while np.isfinite(gap := self._gap(axis, toward, node)):
            yield notches(min(max(least_px, gap + least_px / 2), max(least_px, _MOST_PX)), notch_px)

    def _gap(self, axis: int, toward: int, node: int) -> float:
        """Return how far what is missing next is beyond the window, or a box, in px; infinity if nothing is."""
        scene, port, parts = self._scene, self._window, self.missing
        if node >= 0:
            port, _ = self._port_of(node)
            parts = parts & scene.below_one(node)[scene.owner]
        middle = scene.box[parts][:, axis::2].mean(axis=1)
        gaps = middle - port[2 + axis] if toward > 0 else port[axis] - middle
        return float(gaps[gaps > 0].min(initial=np.inf))

    async def _through_box(self, node: int, share: float) -> None:
        """Walk through a box that is in the window, to all sides to which it goes on."""
        walker, scene = self._walker, self._scene
        document, handle = await walker.box(scene, node)
        first = await walker.call(document, "scrolledTo", handle)
        await walker.call(document, "scroll", handle, *first)  # to which it goes back
        for axis, toward in _WAYS:
            port, axes = self._port_of(node)
            size, corner = port[2:] - port[:2], port[:2] - self._window[:2]
            if not axes[axis] or (size < 1).any():
                continue
            steps = self._steps(share * float(size[axis]), axis, toward, node, _NOTCH * float(size[axis]))
            spots = [corner + spot for spot in spots_in(size)]
            async for done, has_moved in walker.wheeled(spots, steps, axis, toward, document, handle):
                if not has_moved or (done and not await self._look()):
                    break
            await walker.call(document, "scroll", handle, *first)
            await walker.arrive()

    def _port_of(self, node: int) -> tuple[F64, Bools]:
        """Return what the window shows of a box (4,), and along which axes it is scrolled now (2,)."""
        scene = self._scene
        for number, one in enumerate(scene.scrollers):
            if one.node == node:
                return common(scene.ports()[number], self._window), one.axes
        return self._window, np.zeros(2, np.bool_)

    def _boxes(self) -> list[int]:
        """Return the elements in the window that scroll and hold what is missing, inner ones first."""
        scene, ports = self._scene, common(self._scene.ports(), self._window)
        sought: set[int] = set()
        for number in np.unique(scene.scroller[self.missing]).tolist():
            while number >= 0:
                sought.add(number)
                number = scene.scrollers[number].outer
        shown = np.all(ports[:, 2:] - ports[:, :2] >= 1, axis=1)
        return [scene.scrollers[number].node for number in sorted(sought, reverse=True) if shown[number]]

    async def _look(self) -> bool:
        """Picture what is missing and in the window; return whether to go on."""
        walker, scene = self._walker, self._scene
        scene.absent, scene.unread = self._absent, self._unread
        await walker.show(self.count, self.contents)
        scrolled, *_ = await walker.call(0, "places")
        self._window = np.array([scrolled, scrolled + self._window_px]).ravel()
        place, _ = scene.in_view()
        middle = (place[:, :2] + place[:, 2:]) / 2
        here = self.missing & ((middle >= self._window[:2]) & (middle <= self._window[2:])).all(axis=1)
        here &= (place[:, 2:] > place[:, :2]).all(axis=1) & ~scene.unreadable[scene.owner]
        if here.any():
            self.count.recount(here)
            await walker.view_here(self.count, here, common(around_all(place[here]), self._window))
            seen = self.count.seen(here)
            self.found |= seen
            self.missing &= ~seen
        self._left -= 1
        return self._left > 0 and bool(self.missing.any())
