"""Picture parts of an open page with letters and without, and count what changes of some texts."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from domsieve.renderer.browser.tab import Tab
from domsieve.renderer.page._moments import Moments
from domsieve.renderer.page._pixel_capture import PixelCapture
from domsieve.renderer.page._pixel_changes import skip_invisible
from domsieve.renderer.page._pixel_count import IN_VIEW, Count
from domsieve.renderer.page._pixel_letters import Letters
from domsieve.renderer.page._pixel_likeness import Comparison
from domsieve.renderer.page._pixel_parts import CHANCE, F64, Bools, Ints, common, meet
from domsieve.renderer.page._pixel_pictures import Pictures, area, around_all
from domsieve.renderer.page._pixel_reader import Reader
from domsieve.renderer.page._pixel_scene import LOOKING, SHOWING, Scene
from domsieve.renderer.page._pixel_window import Shot, cutting, reach_of, under_floats, way_of

if TYPE_CHECKING:
    from PIL.Image import Image

# Where in the window texts are pictured: the middle of a band and its height, as shares of the window's height. After
# the first, only what was not seen before.
_BANDS = (0.5, 0.9), (0.5, 0.4), (0.84, 0.25), (0.16, 0.25)
# So many windows are pictured without letters, then with them: each change of all letters has the page drawn anew.
_AT_ONCE = 16
# And where those are that stay in the window, as far as it is scrolled to where they were at first.
_PLACES = 0.5, 0.95, 0.05
# A bound of the work on one page. Texts beyond it are unsure.
_MOST_WINDOWS = 400
# So many sticky boxes are followed; texts in others may be looked for where they are not.
_MOST_STICKY = 500
# To so many elements the page is scrolled because of fixed boxes that they cut.
_MOST_CUTS = 60
# What was not seen in one place of the window is looked for in so many more windows. A guess.
_MOST_MORE = 60
# If so many parts of texts are not seen in a picture, it is taken again; if fewer are not, what is around them, if it
# is no more than this share of the picture. Guesses: layers of many parts are taken again, but not for a few words.
_MOST_MISSING, _LITTLE = 12, 0.125
AT_END = float(np.iinfo(np.int32).max)
"""The end of a page, where what lies under it is often revealed."""
# To bring the page to another moment. A guess: more than this is a page that does not answer.
_MOMENT_S = 10.0
# What flickers is taken for letters if it is as dark as these in all pictures: once in 500 times with so many more.
_MOST_AGAIN = 4


class Viewer(Reader):
    """An open page of which parts are pictured in the window, to which it is scrolled.

    Attributes
    ----------
    in_window : (B,), the parts of texts that may be seen in some places of the window only.
    moving : (B,), those that are in other places when the page is scrolled.
    follows : whether these follow the scrolling, and do not only stay in the window.
    cuts : the middle of each element that cuts a fixed box, in px from the top of the page.
    at_moment : whether the page is at another moment than before.
    reach : left, top, right and bottom of each float with all below it, when the scene was placed (F, 4).
    """

    def __init__(self, tab: Tab) -> None:
        super().__init__(tab)
        self.in_window, self.moving = np.zeros((2, 0), np.bool_)
        self.reach = np.zeros((0, 4))
        self.cuts: list[float] = []
        self.follows = self.at_moment = False
        self._sticky: dict[int, dict[int, Any]] = {}
        self._fixed: list[int] = []
        self._at_first = np.zeros((0, 2))

    async def let_float(self, scene: Scene, grounds: Ints) -> None:
        """Tell a scene what stays in the window, or in a box that scrolls, while that is scrolled.

        Parameters
        ----------
        grounds : the fixed boxes behind the texts.
        """
        sticky = scene.sticky[np.isin(scene.document_of[scene.sticky], [*self.worlds])][:_MOST_STICKY]
        fixed = scene.floating[
            [scene.style(node, "position") == ["fixed"] for node in scene.floating.tolist()]
        ]
        floats = np.unique(np.concatenate((sticky, grounds, fixed)))
        scene.let_float(floats.tolist(), np.isin(np.arange(scene.ids.size), scene.fixed))
        self._sticky = {}
        numbers = np.flatnonzero(np.isin(floats, sticky))
        handles = await self._handles(scene, floats[numbers].tolist())
        documents = scene.document_of[floats[numbers]].tolist()
        for number, document, handle in zip(numbers.tolist(), documents, handles, strict=True):
            self._sticky.setdefault(document, {})[number] = handle
        self._fixed = np.flatnonzero(~np.isin(floats, sticky)).tolist()
        scene.ways[:-1] = np.array([way_of(scene, node) for node in floats.tolist()]).reshape(-1, 2)
        scene.ways[self._fixed] = 0
        around = [cutting(scene, node) for node in grounds.tolist()]
        middles = scene.bounds[[node for node in around if node >= 0]][:, 1::2].mean(axis=1)
        self.cuts = np.unique(middles).tolist()[:_MOST_CUTS]
        await self.begin(scene)

    async def begin(self, scene: Scene) -> None:
        """Note where floats are when a scene has just been placed."""
        self.reach = reach_of(scene)[scene.floats]
        self._at_first = await self._where()

    async def _where(self) -> F64:
        """Return where the upper left corners of all floats are now, in px of their documents (F, 2)."""
        found = np.zeros((len(self.reach), 2))
        for document in dict.fromkeys((0, *self._sticky)):
            floats = self._sticky.get(document, {})
            scrolled, *places = await self.call(document, "places", *floats.values())
            found[[*floats]] = np.array(places, np.float64).reshape(-1, 2)
            if not document:
                found[self._fixed] = scrolled
        return found

    async def follow(self, count: Count, contents: Mapping[int, F64], *, everything: bool) -> None:
        """Read where things are after something was scrolled: all of them, or only floats.

        Parameters
        ----------
        contents : where the contents of frames are, see `Scene.place`.
        """
        if everything:
            await self._replace(count, await self.capture(SHOWING), contents)
        elif count.scene.floats.size:
            count.scene.shift(await self._where() - self._at_first)

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
            contents = await self.frame_places(count.scene) if self.follows else {}
            await _Search(self, count, boxes, contents).through(clip)

    async def view_again(self, count: Count, boxes: Bools, contents: Mapping[int, F64], top: float) -> None:
        """Picture boxes that stay in the window and were not seen yet once more, in another place of the page.

        Parameters
        ----------
        contents : where the contents of frames are, see `Scene.place`.
        top : where the window begins then, in px.
        """
        missing = count.missing(boxes)
        if not missing.any():
            return
        scene = count.scene
        before, unread, misshapen = await self.capture(LOOKING), scene.unread, scene.misshapen
        window = await self.go(top)
        await self._show(count, contents)
        place, share = scene.in_view()
        missing &= meet(place, window) & (share >= IN_VIEW) & ~scene.unreadable[scene.owner]
        if missing.any():
            count.recount(missing)
            await self.view_here(count, missing, common(around_all(place[missing]), window))
        await self.aim(0.0, 0.0)
        scene.unread = unread
        await self._reshape(count, before, contents)
        scene.misshapen = misshapen

    async def view_moments(self, count: Count, moments: Moments, fixed: dict[int, Any], whole: F64) -> None:
        """Picture what was not seen at the moments at which it may be; this must be the last step."""
        scene = count.scene

        def seen(number: int) -> Bools:
            nodes = [scene.starts[document] + node for document, node in moments.seen(scene.capture, number)]
            return np.isin(scene.owner, nodes)

        # What cannot be read for its shape may have another one at a moment.
        unread, misshapen = scene.unread, scene.misshapen
        for number, (offset, _) in enumerate(moments.whens):
            if offset is not None and offset >= 0:
                scene.misshapen = np.zeros_like(misshapen)
                missing = count.missing(seen(number))
                await self._view_scrolled(count, missing, fixed, offset)
                misshapen[scene.owner[count.seen(missing)]] = False
        scene.misshapen = misshapen
        if self.follows:  # what follows the scrolling stands still now
            self.in_window[:], self.moving, self.follows = False, scene.floating_parts(), False
        contents, before = await self.frame_places(scene), await self.capture(LOOKING)
        for number, (offset, delay_ms) in enumerate(moments.whens):
            scene.unread, scene.misshapen = unread, np.zeros_like(misshapen)
            if offset is not None or not (missing := count.missing(seen(number))).any():
                continue
            self.at_moment = True
            await moments.go_to(number, limit_s=_MOMENT_S)
            await self.ask_all("advance", delay_ms)
            try:
                await self._show(count, contents)
            except ValueError:  # lines of larger letters may break elsewhere
                continue
            place, _ = scene.in_view()
            missing &= meet(place, whole)
            count.recount(missing)
            on_page, in_fixed = (missing & count.in_view(is_fixed=one) for one in (False, True))
            if on_page.any():
                await self.view(count, on_page, whole)
            if in_fixed.any():
                async with self.showing([*fixed.values()]):
                    await self.view_here(count, in_fixed, common(around_all(place[in_fixed]), whole))
            shown = scene.owner[count.seen(missing)]
            misshapen[shown] &= scene.misshapen[shown]
        await self.ask_all("advance", 0.0)
        await moments.go_to(-1, limit_s=_MOMENT_S)
        scene.unread = unread
        await self._reshape(count, before, contents)
        scene.misshapen = misshapen

    async def _view_scrolled(self, count: Count, boxes: Bools, fixed: dict[int, Any], top: float) -> None:
        """Picture what was not seen of some boxes where the page is scrolled down by `top` px."""
        contents, is_fixed = await self.frame_places(count.scene), count.scene.fixed_box >= 0
        await self.view_again(count, boxes & ~is_fixed, contents, top)
        async with self.showing([*fixed.values()]):
            await self.view_again(count, boxes & is_fixed, contents, top)

    async def hide(self, fixed: Iterable[Any]) -> None:
        """Make fixed boxes transparent; either property may be fixed by the page as important."""
        for handle in fixed:
            await self.call(0, "put", handle, {"value": {"opacity": "0", "clipPath": "inset(50%)"}})

    @contextlib.asynccontextmanager
    async def showing(self, fixed: Sequence[Any]) -> AsyncIterator[None]:
        """Show fixed boxes, which are transparent, for a block of code."""
        for handle in fixed:
            await self.call(0, "undo", handle)
        yield
        await self.hide(fixed)

    async def _show(self, count: Count, contents: Mapping[int, F64]) -> None:
        """Read once more where everything is and of which shape, without what is invisible now."""
        scene, unread, capture = count.scene, count.scene.unread, await self.capture(LOOKING)
        scene.unread = unread.copy()
        skip_invisible(scene, capture, LOOKING)
        scene.unread &= unread | (scene.fixed_of < 0)  # fixed boxes are transparent now anyway
        await self._reshape(count, capture, contents)

    async def _reshape(self, count: Count, capture: PixelCapture, contents: Mapping[int, F64]) -> None:
        """Read once more where everything is and of which shape, from a capture with `LOOKING`."""
        count.scene.reshape(capture, LOOKING)
        await self._replace(count, capture, contents)

    async def _replace(self, count: Count, capture: PixelCapture, contents: Mapping[int, F64]) -> None:
        """Read once more where everything is, see `Scene.replace`."""
        count.scene.replace(capture, contents)
        await self.begin(count.scene)
        count.letters = await self.measure(count.scene)

    async def view_here(
        self, count: Count, boxes: Bools, clip: F64, without: "asyncio.Task[Image] | None" = None
    ) -> None:
        """Picture a part of the page, and count what changes of some boxes.

        Parameters
        ----------
        without : an earlier picture of the part without letters.
        """
        left, top, right, bottom = clip.tolist()
        if right - left < 1 or bottom - top < 1:
            count.add(boxes, [])
            return
        part = await self._compare(count, boxes, clip, without)
        # A browser that is very busy may have pictured what was there before, in some layers or in all.
        missing = part.missing(boxes)
        if missing.any() and not part.are_many:
            place, _ = count.scene.in_view()
            around = common(around_all(place[missing]), clip)
            is_much = np.count_nonzero(missing & ~part.smeared) >= _MOST_MISSING
            if is_much or area(around[None])[0] <= _LITTLE * area(clip[None])[0]:
                around = clip if is_much else around
                part.correct(missing, await self._compare(count, missing, around))
        if not self.is_fine and (pale := await asyncio.to_thread(part.pale, boxes)).any():
            place, _ = count.scene.in_view()
            self.is_fine = True
            part.replace(pale, await self._compare(count, pale, common(around_all(place[pale]), clip)))
            self.is_fine = False
        count.add(boxes, [part])

    async def _compare(
        self, count: Count, boxes: Bools, clip: F64, without: "asyncio.Task[Image] | None" = None
    ) -> Pictures:
        """Picture a part of the page without and with letters, see `view_here`.

        In this order, because a layer may be missing in the first picture after a change.
        """
        first, second = without or await self.without(clip), await self.shoot(clip)
        part = await asyncio.to_thread(Pictures, count.scene, clip, await first, await second)
        moves = await asyncio.to_thread(part.moves)
        if moves and without:  # maybe only in the time between both
            return await self._compare(count, boxes, clip)
        if moves or await self._moves(part, part.may_move(boxes)):
            await asyncio.to_thread(part.take_out, *await self.again(clip, _MOST_AGAIN))
        drawn = await self.draw(count.letters, clip, part.size)
        comparison = await asyncio.to_thread(part.compared, count.letters, drawn)
        await self._look_closer(part, comparison, count.letters, dict.fromkeys(self.worlds))
        await asyncio.to_thread(part.match, comparison)
        asked = boxes
        if self.at_moment:  # what was seen before may be on top of these, and may not be seen now
            asked = boxes | meet(count.scene.in_view()[0], part.around(boxes))
        for group in await asyncio.to_thread(part.crowds, asked, count.can_be_alone):
            around = part.around(np.isin(np.arange(boxes.size), group))
            nodes = await self.nodes(count.scene, group)
            picture = await self.without_some(around, nodes)
            drawn = await self.draw(count.letters, around, picture.size, count.scene.owner[group])
            comparison = await asyncio.to_thread(
                part.compared_alone, group, around, picture, count.letters, drawn
            )
            await self._look_closer(part, comparison, count.letters, nodes)
            await asyncio.to_thread(part.count_alone, group, comparison)
        heaps = await asyncio.to_thread(part.bury)
        if heaps.texts.size:
            around = part.around(heaps.mixing)
            drawn = await self.draw(count.letters, around, part.size_of(around), heaps.texts)
            await asyncio.to_thread(part.mix, heaps, around, count.letters, drawn)
        return part

    async def _look_closer(
        self, part: "Pictures", comparison: Comparison, letters: Letters, nodes: dict[int, Any]
    ) -> None:
        """Compare parts of some texts, see `blank`, that do not quite look like their letters in other ways."""
        if (low := comparison.low).any():
            around, owners = part.around(low), letters.owners(low)
            drawn = await self.draw_large(letters, around, part.size_of(around), owners)
            await asyncio.to_thread(part.see_large, comparison, around, drawn)
        if (doubtful := comparison.doubtful).any():
            around = part.around(doubtful)
            picture = await self.without_some(around, nodes, filling=True)
            await asyncio.to_thread(part.fill, comparison, around, picture)

    async def _moves(self, part: "Pictures", boxes: Bools) -> bool:
        """Return whether anything moves by itself where some parts are."""
        if not boxes.any():
            return False
        around = part.around(boxes)
        return await asyncio.to_thread(part.differs_from, around, *await self.again(around, 2))


class _Search:
    """A search of the window for some parts of texts while the page is scrolled through it.

    Parameters
    ----------
    viewer : the open page.
    count : what is counted of its parts.
    boxes : the parts (B,).
    contents : where the contents of frames are, see `Scene.place`.
    """

    def __init__(self, viewer: Viewer, count: Count, boxes: Bools, contents: Mapping[int, F64]) -> None:
        self._viewer, self._count, self._contents = viewer, count, contents
        self._boxes, self._waiting = boxes, boxes.copy()
        self._again = boxes & viewer.in_window
        self._place = np.zeros((boxes.size, 4))
        # What follows the scrolling must be pictured both times after the same way.
        self._is_still = not (viewer.follows or viewer.is_lively)
        self._at_once = _AT_ONCE if self._is_still else 1

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
            self._wait_for(self._again if viewer.follows else self._again & ~viewer.moving)
            await self._in_band(clip, window, at, share)
        if not viewer.follows:
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
        for number in range(0, len(begins), self._at_once):
            due = [one for one in begins[number : number + self._at_once] if self._is_due(one, one + step)][
                :left
            ]
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
        viewer = self._viewer
        return bool((self._waiting if viewer.follows else self._inside(begin, end) & ~viewer.moving).any())

    async def _shots(self, begins: Sequence[F64], step: F64, middle: F64) -> list[Shot]:
        """Return what there is to picture of parts of the page, and pictures of it without letters, if it is still.

        Parameters
        ----------
        begins, step : the upper left corner of each, and their size.
        middle : where in the window the middle of each comes.
        """
        viewer, shots = self._viewer, []
        if self._is_still:
            await viewer.blank(dict.fromkeys(viewer.worlds))
        for begin in begins:
            window = await self._aim(*(begin + step / 2 - middle).tolist())
            here = self._inside(begin, begin + step)
            here |= self._inside(window[:2], window[2:]) & viewer.moving
            if here.any():
                shot = self._shot(here, window)
                shot.without = await viewer.shoot(shot.clip) if self._is_still else None
                shots.append(shot)
        if self._is_still:
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
        if viewer.follows or viewer.is_lively or viewer.has_canvas:
            await viewer.arrive(*window[:2].tolist())
        await viewer.follow(self._count, self._contents, everything=viewer.follows)
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
