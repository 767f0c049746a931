"""Look for the texts of an open page: in the window while the page is scrolled, and at moments of its animations."""

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from domsieve.renderer.page._moments import Moments
from domsieve.renderer.page.pixels._boxes import around_all
from domsieve.renderer.page.pixels._count import Count
from domsieve.renderer.page.pixels._free import Rooms
from domsieve.renderer.page.pixels._parts import CHANCE, F64, Bools, common, meet
from domsieve.renderer.page.pixels._scene import LOOKING, SHOWING, Scene
from domsieve.renderer.page.pixels._viewer import AT_END, Viewer
from domsieve.renderer.page.pixels._window import Shot, over_fixed, under_floats, with_grounds

# Where in the window texts are pictured: the middle of a band and its height, as shares of the window's height. After
# the first, only what was not seen before.
_BANDS = (0.5, 0.9), (0.5, 0.4), (0.84, 0.25), (0.16, 0.25)
# So many windows are pictured without letters, then with them: each change of all letters has the page drawn anew.
_AT_ONCE = 16
# And where those are that stay in the window, as far as it is scrolled to where they were at first.
_PLACES = 0.5, 0.95, 0.05
# A bound of the work on one page. Texts beyond it are unsure.
_MOST_WINDOWS = 400
# What was not seen in one place of the window is looked for in so many more windows. A guess.
_MOST_MORE = 60
# To bring the page to another moment. A guess: more than this is a page that does not answer.
_MOMENT_S = 10.0
# So many pictures are taken of what boxes scroll to, and of what was not seen then.
_MOST_VIEWS, _MOST_SECOND = 200, 40
# Parts that are nearer to one in the middle of the box that they scroll in, as a share of it, are not at its edge.
_NEAR = 0.3
# What goes at another pace than the box that it scrolls in is scrolled to again.
_MOST_TRIES = 5
# What is not seen where it is not known whether anything is, is looked for in so many places of its box.
_MOST_PLACES = 3
# Whether a box can be scrolled is asked again where it is scrolled by up to such a share of its way and so many px.
_LOOKS_ON = (0.0, 200.0), (0.1, 200.0), (1.0, 0.0)
# A box that cannot be scrolled so far is scrolled elsewhere: as often as it has ends that are not known.
_MOST_ENDS = 5


class Searcher(Viewer):
    """An open page that is searched for texts."""

    async def view(self, count: Count, boxes: Bools, clip: F64) -> None:
        """Picture some boxes as readers see them, and count what changes of them.

        Parameters
        ----------
        clip : the part of the page that readers can scroll to, or to which it is scrolled in boxes.
        """
        is_fixed = count.scene.fixed_box >= 0
        if (fixed := boxes & is_fixed).any():
            await self.view_here(count, fixed, clip)
        place, _ = count.scene.in_view()
        is_beyond = ~self.moving & ~meet(place, clip)
        count.add(boxes & ~is_fixed & is_beyond, [])  # where no reader can scroll to
        if (boxes := boxes & ~is_fixed & ~is_beyond).any():
            await _Search(self, count, boxes).through(clip)

    async def scroll(self, count: Count, fixed: dict[int, Any], whole: F64) -> None:
        """Scroll what scrolls until all its texts were in view."""
        await self._close(count, fixed)
        rooms = Rooms()
        rooms.learn(count, count.in_view_before())
        await self._scroll_through(count, fixed, whole, rooms, _MOST_VIEWS)
        # What is under a bar or an arrow at the edge of its box may be seen in the middle.
        count.wait_for_unseen()
        await self._scroll_through(count, fixed, whole, rooms, _MOST_SECOND, share=0.5)

    async def scroll_once(self, count: Count, fixed: dict[int, Any], whole: F64) -> None:
        """Scroll boxes until all texts in them that are to be counted once more were in view."""
        await self._scroll_through(count, fixed, whole, Rooms(), _MOST_SECOND)

    async def _scroll_through(
        self,
        count: Count,
        fixed: dict[int, Any],
        whole: F64,
        rooms: Rooms,
        most: int,
        *,
        share: float = 0.0,
    ) -> None:
        """Scroll to the texts that wait; boxes apart from each other at once.

        Parameters
        ----------
        rooms : what is known of what the boxes leave free.
        most : so many pictures are taken; what waits longer is unknown.
        share : see `Scene.offsets_for`. If it is not 0, only what was scrolled to is pictured.
        """
        scene = count.scene
        moves = bool(scene.is_deep.any())
        contents = await self.frame_places(scene) if moves else {}
        tries: Counter[int] = Counter()
        for _ in range(most):
            waiting = count.waiting()
            if not waiting.size:
                return
            turned: set[int] = set()
            sought: list[int] = []
            root = int(scene.fixed_box[waiting[0]])
            for box in waiting.tolist():
                chain = scene.chain(box)
                if int(scene.fixed_box[box]) == root and turned.isdisjoint(chain):
                    turned.update(chain)
                    sought.append(box)
            for box in sought:
                for number in scene.chain(box):
                    await self._bring(count, box, number, rooms, share)
            await self.wake()
            await (
                self.replace(count, await self.capture(SHOWING), contents) if moves else self.follow(count)
            )
            boxes = count.in_view(is_fixed=root >= 0, sought=sought)
            is_sought = np.isin(np.arange(boxes.size), sought)
            if share:
                boxes &= np.isin(scene.scroller, scene.scroller[sought])
            for box in sought:
                number = int(scene.scroller[box])
                free = rooms.free(scene, number)
                if free is not None:
                    boxes &= (scene.scroller != number) | free | is_sought
                elif share:
                    boxes &= (scene.scroller != number) | _near(scene, box)
            ports = [scene.port_of(box) for box in sought if boxes[box]]
            if ports:
                clip = np.array([*np.min(ports, axis=0)[:2], *np.max(ports, axis=0)[2:]])
                async with self.showing(with_grounds(scene, fixed, root)):
                    await self.view(count, boxes, common(clip, whole))
                rooms.learn(count, boxes)
                if share:
                    self._wait_again(count, boxes, rooms, sought)
            for box in {*sought, *(np.flatnonzero(boxes).tolist() if share else ())}:
                tries[box] += 1
                is_pictured = share and boxes[box]
                if tries[box] >= (_MOST_PLACES if is_pictured else _MOST_TRIES if moves else 1):
                    count.give_up(box)
        count.leave(count.waiting())

    async def _bring(self, count: Count, box: int, number: int, rooms: Rooms, share: float) -> None:
        """Scroll a box so that a part comes where nothing covers it; `share` is as for `Scene.offsets_for`."""
        scene = count.scene
        one = scene.scrollers[number]
        document, handle = await self.box(scene, one.node)
        waiting = np.isin(np.arange(scene.owner.size), count.waiting())
        for _ in range(_MOST_ENDS):
            at = rooms.offsets_for(scene, box, number, share, waiting)
            one.at = np.array(await self.call(document, "scroll", handle, *at.tolist()), np.float64)
            if not rooms.limit(scene, number, at):
                return

    def _wait_again(self, count: Count, boxes: Bools, rooms: Rooms, sought: Sequence[int]) -> None:
        """Wait again for those of some parts that were not seen, where it is not known whether anything is."""
        scene, unseen = count.scene, count.unseen(boxes)
        for box in sought:
            number = int(scene.scroller[box])
            if rooms.free(scene, number) is not None:
                own = unseen & (scene.scroller == number)
                count.recount(own & ~rooms.knows(scene, number, own))

    async def _close(self, count: Count, fixed: dict[int, Any]) -> None:
        """Take from readers the boxes that something covers, so that they cannot scroll them."""
        scene, waiting = count.scene, count.waiting()
        roots = scene.fixed_box[waiting]
        for root in np.unique(roots).tolist():
            numbers = sorted(
                {number for box in waiting[roots == root].tolist() for number in scene.chain(box)}
            )
            async with self.showing(with_grounds(scene, fixed, root)):
                for one in (scene.scrollers[number] for number in numbers):
                    one.axes &= await self._can_scroll(scene, one.node)

    async def _can_scroll(self, scene: Scene, node: int) -> Bools:
        """Return whether a reader can scroll a box to the side and down (2,), by its styles and with a wheel.

        When it is scrolled, something may come over it.
        """
        document, handle = await self.box(scene, node)
        first = np.array(await self.call(document, "isScroller", handle))
        styles = scene.style(node, "overflow-x", "overflow-y")
        was_open = np.array([one in {"auto", "scroll"} for one in styles])  # at the end of an animation
        found = await self._is_scrolled(scene, node) & ((first > 0) | ~was_open)
        for share, px in _LOOKS_ON if found.any() else ():
            on = CHANCE.uniform(0.0, share), CHANCE.uniform(0.0, px)
            await self.call(document, "bringOn", handle, *on)
            await self.wake()
            found &= np.array(await self.call(document, "isScroller", handle)) >= first
            found &= await self._is_scrolled(scene, node)
            await self.call(document, "bringBack")
            await self.wake()
        return np.asarray(found)

    async def _is_scrolled(self, scene: Scene, node: int) -> Bools:
        """Return along which axes (2,) a reader scrolls a box, by its styles and with a wheel, see `turns`."""
        if not await self.is_reached(scene, node):
            return np.zeros(2, np.bool_)
        return await self.turns(scene, node)

    async def ask_at_moments(self, moments: Moments) -> None:
        """Let the page ask for what it shows at its moments."""
        for number in range(len(moments.whens)):
            await moments.go_to(number, limit_s=_MOMENT_S)
            await self.wake()
        await moments.go_to(-1, limit_s=_MOMENT_S)

    async def view_over(self, count: Count, boxes: Bools, fixed: dict[int, Any], whole: F64) -> None:
        """Picture what was seen of some parts once more, with the fixed boxes that may be behind it."""
        for parts, before in over_fixed(count.scene, np.array([*fixed], np.intp)):
            over = count.seen(boxes & parts)
            if over.any():
                self.in_window |= over
                count.recount(over)
                async with self.showing([fixed[node] for node in before]):
                    await self.view(count, over & count.in_view(is_fixed=False), whole)
                    await self.scroll_once(count, fixed, whole)

    async def view_moments(self, count: Count, moments: Moments, fixed: dict[int, Any], whole: F64) -> None:
        """Picture what was not seen at the moments at which it may be; this must be the last step."""
        scene = count.scene

        def seen(number: int) -> Bools:
            nodes = [scene.starts[document] + node for document, node in moments.seen(scene.capture, number)]
            return np.isin(scene.owner, nodes)

        # What cannot be read for its shape may have another one at a moment.
        unread, misshapen = scene.unread, scene.misshapen
        scene.absent = absent = np.zeros_like(unread)
        contents, before = await self.frame_places(scene), await self.capture(LOOKING)
        for number, (_, delay_ms) in enumerate(moments.whens):
            scene.unread, scene.absent, scene.misshapen = unread, absent, np.zeros_like(misshapen)
            if not (missing := count.missing(seen(number))).any():
                continue
            self.at_moment = True
            await moments.go_to(number, limit_s=_MOMENT_S)
            await self.ask_all("advance", delay_ms)
            if any(await self.ask_all("isMoving")):  # what has begun or goes on has done so for longer
                continue
            try:
                await self.show(count, contents)
            except ValueError:  # lines of larger letters may break elsewhere
                continue
            place, _ = scene.in_view()
            missing &= meet(place, whole)
            count.recount(missing)
            on_page, in_fixed = (missing & count.in_view(is_fixed=one) for one in (False, True))
            if on_page.any():
                await self.view(count, on_page, whole)
                await self.view_over(count, on_page, fixed, whole)
            if in_fixed.any():
                async with self.showing([*fixed.values()]):
                    await self.view_here(count, in_fixed, common(around_all(place[in_fixed]), whole))
            shown = scene.owner[count.seen(missing)]
            misshapen[shown] &= scene.misshapen[shown]
        await self.ask_all("advance", 0.0)
        await moments.go_to(-1, limit_s=_MOMENT_S)
        scene.unread, scene.absent = unread, absent
        await self.reshape(count, before, contents)
        scene.misshapen = misshapen


def _near(scene: Scene, box: int) -> Bools:
    """Return the parts (B,) that are near another one in the box that it scrolls in."""
    place, _ = scene.in_view()
    middle = (place[:, :2] + place[:, 2:]) / 2
    one = scene.scrollers[int(scene.scroller[box])]
    is_near = np.abs(middle - middle[box]) <= _NEAR * (one.port[2:] - one.port[:2])
    return np.asarray((scene.scroller == scene.scroller[box]) & (is_near | ~one.axes).all(axis=1))


class _Search:
    """A search of the window for some parts of texts while the page is scrolled through it.

    Parameters
    ----------
    viewer : the open page.
    count : what is counted of its parts.
    boxes : the parts (B,).
    """

    def __init__(self, viewer: Viewer, count: Count, boxes: Bools) -> None:
        self._viewer, self._count = viewer, count
        self._boxes, self._waiting = boxes, boxes.copy()
        self._again = boxes & viewer.in_window
        self._place = np.zeros((boxes.size, 4))

    async def through(self, clip: F64) -> None:
        """Picture the parts that are in a part of the page, until they were seen or were looked for everywhere."""
        viewer, count = self._viewer, self._count
        window = await self._aim(0.0, 0.0)
        begins = self._place[:, :2].copy()
        # What is longer than the window may be in it only where its way ends.
        ends = begins + count.scene.ends()
        if not await self._in_band(clip, window, *_BANDS[0], is_first=True):
            count.leave(self._waiting)
        for places in (begins, ends) if count.scene.ways.any() else (begins,):
            await self._in_places(places, window, _PLACES[0])
        # What may be covered in one place of the window, may be seen in another.
        for at, share in _BANDS[1:]:
            self._wait_for(self._again & ~viewer.moving)
            await self._in_band(clip, window, at, share)
        for at in _PLACES[1:]:
            self._wait_for(self._boxes & viewer.moving)
            await self._in_places(begins, window, at)
        high = float(window[3] - window[1])
        for top in (*(middle - high / 2 for middle in viewer.cuts), AT_END):
            self._waiting = count.unseen(self._boxes & viewer.moving)
            if self._waiting.any():
                window = await self._aim(0.0, top)
                here = self._inside(window[:2], window[2:])
                count.recount(here)
                if here.any():
                    await self._picture(self._shot(here, window))
        await self._aim(0.0, 0.0)

    def _wait_for(self, boxes: Bools) -> None:
        """Look again for those of some parts that were not seen."""
        self._waiting = self._count.unseen(boxes)
        self._count.recount(self._waiting)

    async def _in_band(
        self, clip: F64, window: F64, at: float, share: float, *, is_first: bool = False
    ) -> bool:
        """Scroll so that all parts of a page come to a band of the window; return whether there was room for all.

        Parameters
        ----------
        at, share : see `_BANDS`.
        """
        size = window[2:] - window[:2]
        is_narrow = clip[0] >= 0 and clip[2] <= window[2]
        step = size * [1.0 if is_narrow or is_first else 0.5, share]
        # No page can know where in the window a text is pictured.
        top = float(clip[1]) - CHANCE.uniform(0.0, float(step[1]) / 2)
        rows, columns = np.arange(top, clip[3], step[1]), np.arange(min(clip[0], 0.0), clip[2], step[0])
        begins = [np.array([x, y]) for y, x in itertools.product(rows, columns)]
        left = _MOST_WINDOWS if is_first else _MOST_MORE
        for number in range(0, len(begins), _AT_ONCE):
            some = begins[number : number + _AT_ONCE]
            due = [one for one in some if self._is_due(one, one + step)][:left]
            left -= len(due)
            shots = await self._shots(due, step, size * [0.5, at]) if due else []
            # Backwards: the browser has just drawn the last window.
            for shot in reversed(shots):
                if len(shots) > 1:
                    await self._aim(*shot.window[:2].tolist())
                await self._picture(shot)
        return left > 0

    def _is_due(self, begin: F64, end: F64) -> bool:
        """Return whether parts wait that may be between two corners of a part of the page."""
        return bool((self._inside(begin, end) & ~self._viewer.moving).any())

    async def _shots(self, begins: Sequence[F64], step: F64, middle: F64) -> list[Shot]:
        """Return what there is to picture of parts of the page, and pictures of it without letters.

        Parameters
        ----------
        begins, step : the upper left corner of each, and their size.
        middle : where in the window the middle of each comes.
        """
        viewer, shots = self._viewer, []
        await viewer.blank(dict.fromkeys(viewer.worlds))
        for begin in begins:
            window = await self._aim(*(begin + step / 2 - middle).tolist())
            here = self._inside(begin, begin + step)
            here |= self._inside(window[:2], window[2:]) & viewer.moving
            if here.any():
                shot = self._shot(here, window)
                shot.without = await viewer.shoot(shot.clip)
                shots.append(shot)
        await viewer.unblank(viewer.worlds)
        return shots

    async def _in_places(self, begins: F64, window: F64, at: float) -> None:
        """Scroll each part, from where it was at first (B, 2), to a place of the window: it may stay elsewhere."""
        size = window[2:] - window[:2]
        for part in np.flatnonzero(self._waiting).tolist()[:_MOST_WINDOWS]:
            if self._waiting[part]:
                window = await self._aim(*(begins[part] - size * [0.5, at]).tolist())
                if (here := self._inside(window[:2], window[2:])).any():
                    await self._picture(self._shot(here, window))

    async def _aim(self, left: float, top: float) -> F64:
        """Scroll the page and read where everything is; return what the window shows, see `Camera.aim`."""
        viewer = self._viewer
        window = await viewer.aim(left, top)
        await viewer.follow(self._count)
        self._place, _ = self._count.scene.in_view()
        return window

    def _inside(self, begin: F64, end: F64) -> Bools:
        """Return the waiting parts whose middle is between two corners of a part of the page."""
        middle = (self._place[:, :2] + self._place[:, 2:]) / 2
        return np.asarray(self._waiting & ((middle >= begin) & (middle < end)).all(axis=1))

    def _shot(self, here: Bools, window: F64) -> Shot:
        """Return what there is to picture in the window, and take it off what waits."""
        self._waiting[here] = False
        return Shot(here, window, common(around_all(self._place[here]), window))

    async def _picture(self, shot: Shot) -> None:
        """Picture some parts, and note which of them something may cover that is somewhere else later."""
        viewer, scene = self._viewer, self._count.scene
        await viewer.view_here(self._count, shot.here, shot.clip, shot.without)
        unseen = np.flatnonzero(self._count.unseen(shot.here & ~viewer.moving))
        self._again[under_floats(scene, viewer.reach, unseen)] = True
        self._count.settle(shot.here & ~viewer.moving, self._again)
