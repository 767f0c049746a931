"""Find out from pictures of an open page which of its texts can be seen.

A page is pictured twice: as it is, and with all letters transparent. What differs inside the boxes of a text is what
a reader sees of it. A few letters of a text are seen if a tenth of the pixels differ that would if they were black on
white. A text is seen if any of its letters are, and it is cut to these.

Before the pictures, animations are paused, a locked page is released, and fixed boxes are made transparent, so
that only boxes that scroll with the page can cover text. The texts of fixed boxes are pictured apart. Boxes that
scroll are scrolled, as a reader can, until their texts were in view. Texts that overlap others are made
transparent one after the other.

The page cannot act against this. Its scripts are off, nothing arrives from the net, and no style sheet of it sees
what is changed: style sheets are adopted and not inserted, elements are changed by animations, and letters are
made transparent by a highlight with a random name. All changes are undone. What pictures cannot judge is
`Sight.UNSURE`, and counts as hidden, since a page could be made so on purpose: texts that change with the
pictures, that move, that cannot be made transparent alone, or that are too many.

Pictures have half the size of the page, so they are four times as cheap.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Sequence, Set
from itertools import chain
from random import SystemRandom
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.browser.connection import CommandError
from domsieve.renderer.browser.tab import Tab
from domsieve.renderer.page._pixel_capture import PixelCapture, put_sights
from domsieve.renderer.page._pixel_changes import chosen_by, mark_changed, mark_under
from domsieve.renderer.page._pixel_count import Count, Sight
from domsieve.renderer.page._pixel_grounds import grounds_of
from domsieve.renderer.page._pixel_page import MOST_FRAMES, OpenPage
from domsieve.renderer.page._pixel_parts import F64, Bools, Ints, common
from domsieve.renderer.page._pixel_pictures import SCALE, Pictures, area, around_all, picture_of
from domsieve.renderer.page._pixel_reading import letters_of_fonts
from domsieve.renderer.page._pixel_scene import SHOWING, Scene
from domsieve.renderer.page._pixel_scripts import (
    LIKELY,
    SCRIPTING,
    WORDS,
    WithScripts,
    painted_names,
    with_scripts,
)
from domsieve.renderer.page._pixel_sheets import mentioned

if TYPE_CHECKING:
    from PIL.Image import Image

# Chrome pictures large parts faster than many small ones.
_TILE_PX, _WIDTH_PX = 16_384, 1_280
# Bounds of the work on one page. Texts beyond them are unsure.
_TALLEST_PX, _WIDEST_PX = 1_000_000, 16_384
_MOST_VIEWS, _MOST_SHADED, _MOST_CUT, _MOST_ATTACHED = 200, 2_000, 500, 60
# If so many parts of texts are not seen in a picture, it is taken again; if fewer are not, what is around them, if it
# is no more than this share of the picture. Guesses: layers of many parts are taken again, but not for a few words.
_MOST_MISSING, _LITTLE = 12, 0.125
# So many pictures are kept until they are compared.
_MOST_TILES = 4
# To put the page back. A guess: more than this is a page that does not answer.
_RESTORE_S = 10.0
# What flickers is taken for letters if it is as dark as these in all pictures: once in 500 times with so many more.
_MOST_AGAIN = 4
# The property with which boxes have no content until they are near the window.
_SKIPPING = "content-visibility"
# With these, styles depend on how far the page is scrolled. So many places of the page are looked at.
_STATES, _MOST_PLACES = ("scroll-state(", "target-current"), 60
_CHANCE, _LONGEST_BREAK_S = SystemRandom(), 0.05


async def look(
    tab: Tab,
    capture: PixelCapture,
    style_names: Sequence[str],
    *,
    lost: Sequence[Sequence[float]] = (),
    scripts: bool,
    limit_s: float,
) -> PixelCapture:
    """Return a capture that was just taken, with what pictures say of its texts in place of `PIXEL_STYLES`.

    It is the name of a `Sight` in lower case; after "seen" may follow the ranges of letters that are, if not all. The
    scripts of the page must be off, and it must not be scrolled.

    Parameters
    ----------
    tab : the open page.
    capture : its capture.
    style_names : the computed properties of the capture.
    lost : left, top, right and bottom, in px of the page, of places where readers may see what is missing now.
    scripts : whether scripts were on until now. If styles depend on that, the page is captured again as it was then.

    Raises
    ------
    TimeoutError : it is not done within `limit_s` seconds, or the page is not put back soon after.
    CommandError : the page has changed its structure, or the browser does not answer as it should.
    """
    page = _Page(tab)
    try:
        try:
            async with asyncio.timeout(limit_s):
                await page.open(capture)
                scripted = None
                words = await mentioned(page, capture, (_SKIPPING, *_STATES, *WORDS), (_SKIPPING, *LIKELY))
                if _SKIPPING in words:
                    await page.reveal()
                    capture = await page.capture(style_names)
                if scripts and SCRIPTING in words:
                    await page.still()
                    scripted = await with_scripts(page, style_names, words)
                    capture = scripted.capture
                sights, ranges = await page.look(capture, style_names, lost, scripted, words)
        finally:
            async with asyncio.timeout(min(limit_s, _RESTORE_S)):
                await page.restore()
    except (ValueError, LookupError, ArithmeticError, msgspec.MsgspecError) as error:
        # The numbers that a hostile page brings about make no sense.
        raise CommandError(f"The page cannot be pictured: {error}") from error
    said = [Sight(sight).name.lower() if sight else "" for sight in sights.tolist()]
    for node, parts in ranges.items():
        said[node] += "".join(f" {first}-{end}" for first, end in parts)
    put_sights(capture, said)
    return capture


class _Page(OpenPage):
    """The look at one page."""

    async def look(
        self,
        capture: PixelCapture,
        names: Sequence[str],
        lost: Sequence[Sequence[float]],
        scripted: WithScripts | None,
        words: Set[str],
    ) -> tuple[NDArray[np.uint8], dict[int, list[tuple[int, int]]]]:
        """Return the `Sight` of all nodes, one document after another, and what is seen of those seen in part.

        Raises
        ------
        ValueError : the page has changed its structure.
        """
        if [capture.strings[one.frame_id] for one in capture.documents] != self._frame_ids:
            raise ValueError("The page has changed its frames.")
        scene = Scene(capture, names)
        mark_under(scene, (np.array(place, np.float64).reshape(2, 2) for place in lost))
        if scripted:
            scene.unsure |= scripted.is_unlike
            chosen = chosen_by(scene, SCRIPTING)
            mark_changed(scene, scripted.before, scripted.after, scripted.names, chosen)
        metrics = await self.session.send("Page.getLayoutMetrics")
        await self._spread(scene, metrics["cssLayoutViewport"]["clientHeight"])
        fixed = await self._settle(scene, capture, names, moved=scripted is not None)
        await self._cut(scene)
        await self._read_fonts(scene)
        await self._check_blank(scene)
        lazy = not words.isdisjoint((_SKIPPING, *_STATES))
        mark_under(scene, (await self._contents(scene, await self._live(scene, lazy=lazy))).values())
        metrics = await self.session.send("Page.getLayoutMetrics")
        size, window = metrics["cssContentSize"], metrics["cssLayoutViewport"]
        if not words.isdisjoint(_STATES):
            await self._mark_states(scene, size["height"], window["clientHeight"])
        width = window["clientWidth"] if scene.is_cut_at_side else size["width"]
        whole = np.array([0, 0, min(width, _WIDEST_PX), min(size["height"], _TALLEST_PX)], np.float64)
        first = np.array([window["pageX"], window["pageY"]] * 2, np.float64)
        first[2:] += window["clientWidth"], window["clientHeight"]
        count = Count(scene, np.array([*self.worlds]))
        await self._hide(fixed.values())
        if await self.call(0, "isDriven"):
            await self._view_scrolled(count, whole, window["clientHeight"])
        else:
            await self._view(count, count.in_view(is_fixed=False), whole)
        await self._view_fixed(count, fixed, first)
        await self._scroll(count, fixed, whole)
        is_cut = np.array([size["width"] > _WIDEST_PX, size["height"] > _TALLEST_PX])
        return count.sights(((scene.box[:, :2] >= whole[2:]) & is_cut).any(axis=1))

    async def still(self) -> bool:
        """Pause what moves by itself; return whether there are animations."""
        return any([await self.call(document, "still") for document in self.worlds])

    async def _settle(
        self, scene: Scene, capture: PixelCapture, names: Sequence[str], *, moved: bool
    ) -> dict[int, Any]:
        """Bring the page into the state to be pictured, and place the scene; return handles of its fixed boxes."""
        for node in scene.sticky.tolist():
            document = int(scene.document_of[node])
            if document in self.worlds:
                await self.call(document, "unstick", await self._handle(scene, node))
        fixed = {node: await self._handle(scene, node) for node in scene.fixed.tolist()}
        stays = await self.call(0, "staying", *fixed.values()) if fixed else []
        scene.keep_fixed(np.array(stays, np.bool_))
        moved |= await self.still()
        before = None
        if await self.call(0, "isLocked"):
            before = await self.capture(names)
            await self.call(0, "release")
        if moved or before or scene.sticky.size or scene.frames:
            placed = await self.capture(names if before else SHOWING)
            scene.place(placed, await self._contents(scene, scene.frames[:MOST_FRAMES]))
            scene.skip_invisible(placed, names if before else SHOWING)
            if before:
                mark_changed(scene, before, placed, names)
        else:
            scene.skip_invisible(capture, names)
        return {node: fixed[node] for node in scene.fixed.tolist()}

    async def _spread(self, scene: Scene, height: float) -> None:
        """Spread the grounds that stay in the window, of a height in px, over what passes over them."""
        for ground in grounds_of(scene, height):
            handle = await self._handle(scene, ground.node)
            is_fixed = ground.node not in scene.sticky
            if is_fixed and not (await self.call(0, "staying", handle))[0]:
                continue
            scene.fixed = scene.fixed[scene.fixed != ground.node]
            if not await self.call(0, "spread", handle, ground.bottom):
                scene.unsure[scene.owner[ground.parts]] = True
        for number, node in enumerate(scene.attached.tolist()):
            document = int(scene.document_of[node])
            if document in self.worlds and (
                number >= _MOST_ATTACHED
                or not await self.call(document, "detach", await self._handle(scene, node))
            ):
                scene.unsure |= scene.below_one(node)

    async def _hide(self, fixed: Iterable[Any]) -> None:
        """Make fixed boxes transparent; either property may be fixed by the page as important."""
        for handle in fixed:
            await self.call(0, "put", handle, {"value": {"opacity": "0", "clipPath": "inset(50%)"}})

    @contextlib.asynccontextmanager
    async def _showing(self, fixed: Sequence[Any]) -> AsyncIterator[None]:
        """Show fixed boxes, which are transparent, for a block of code."""
        for handle in fixed:
            await self.call(0, "undo", handle)
        yield
        await self._hide(fixed)

    async def _view_scrolled(self, count: Count, whole: F64, height: float) -> None:
        """Picture a page with animations that follow its scrolling: texts in the middle of the window."""
        scene = count.scene
        boxes = count.in_view(is_fixed=False)
        middle = scene.box[:, 1::2].mean(axis=1)
        contents = await self._contents(scene, scene.frames[:MOST_FRAMES])
        last = max(float(whole[3]) - height, 0.0)
        for offset in (*np.arange(0, last, height / 2).tolist(), last):
            here = boxes & ((middle >= offset + height / 4) | (offset == 0))
            here &= (middle < offset + 3 * height / 4) | (offset == last)
            if not here.any():
                continue
            boxes &= ~here
            await self.call(0, "follow", offset)
            scene.replace(await self.capture(SHOWING), contents)
            await self._view(count, here, common(around_all(scene.box[here]), whole))
        await self.call(0, "follow", 0)
        scene.replace(await self.capture(SHOWING), contents)

    async def _mark_states(self, scene: Scene, page_px: float, window_px: float) -> None:
        """Mark the texts as unsure that have other styles when the page is scrolled, or are under what has."""
        names = await painted_names(self)
        before = await self.capture(names)
        last = max(page_px - window_px, 0.0)
        offsets = [*np.arange(0.0, last, window_px / 2).tolist(), last][1:]
        scene.unsure |= len(offsets) > _MOST_PLACES
        for offset in offsets[:_MOST_PLACES]:
            await self.call(0, "scrollPage", offset)
            await self._picture(np.array([0.0, 0.0, 2.0, 2.0]))  # states change with the next frame
            mark_changed(scene, before, await self.capture(names), names, places=False)
        await self.call(0, "scrollPage", 0.0)

    async def _view_fixed(self, count: Count, fixed: dict[int, Any], window: F64) -> None:
        """Picture the texts of fixed boxes: all together, and those that others may cover once more, alone."""
        scene = count.scene
        everything = count.in_view(is_fixed=True)
        for root in (-1, *fixed) if len(fixed) > 1 else fixed:
            boxes = everything if root < 0 else everything & (scene.fixed_box == root)
            if root >= 0 and len(fixed) > 1:
                boxes = count.unseen(boxes)
                count.recount(boxes)
            if boxes.any():
                place, _ = scene.in_view()
                async with self._showing([*fixed.values()] if root < 0 else [fixed[root]]):
                    await self._view(count, boxes, common(around_all(place[boxes]), window))

    async def _live(self, scene: Scene, *, lazy: bool) -> list[int]:
        """Return the canvases that a worker may draw, which goes on while the scripts of the page are off.

        If boxes may appear (`lazy`), all count, and what they are in: without scripts, a new canvas is not painted.
        """
        found = []
        for node in (node for node, name in enumerate(scene.names) if name == "canvas"):
            document = int(scene.document_of[node])
            await self.enter(document)
            if lazy:
                found += [node, int(scene.parent[node])]
            elif document not in self.worlds or await self.call(
                document, "isLive", await self._handle(scene, node)
            ):
                found.append(node)
        return found

    async def _contents(self, scene: Scene, nodes: Sequence[int]) -> dict[int, F64]:
        """Return where the contents of elements are (4, 2), by node."""
        found = {}
        for node in nodes:
            try:
                answer = await self.session.send("DOM.getBoxModel", {"backendNodeId": int(scene.ids[node])})
            except CommandError:  # it has no box
                continue
            found[node] = np.array(answer["model"]["content"], np.float64).reshape(4, 2)
        return found

    async def _cut(self, scene: Scene) -> None:
        """Tell the documents which of their backgrounds are cut to letters."""
        scene.unsure |= scene.below(np.isin(np.arange(scene.ids.size), scene.cut[_MOST_CUT:]))
        for node in scene.cut[:_MOST_CUT].tolist():
            document = int(scene.document_of[node])
            if document in self.worlds:
                await self.call(document, "cut", await self._handle(scene, node))

    async def _read_fonts(self, scene: Scene) -> None:
        """Find the texts in fonts of the page that draw all letters alike."""
        for document in self.worlds:
            if await self.call(document, "hasFonts"):
                fonts = letters_of_fonts(scene.texts_of(document))
                alike = await self.call(document, "alike", *chain.from_iterable(fonts))
                wrong = [font for (font, _), is_alike in zip(fonts, alike, strict=True) if is_alike]
                scene.unread |= np.isin(scene.fonts, wrong)[scene.font_of] & (scene.document_of == document)

    async def _check_blank(self, scene: Scene) -> None:
        """Find the texts that are not transparent without letters, since an inline style forbids it."""
        texts = np.unique(scene.owner[scene.shaded[scene.owner] & ~scene.unsure[scene.owner]])
        scene.unsure[texts[_MOST_SHADED:]] = True
        texts = texts[:_MOST_SHADED]
        for document in np.unique(scene.document_of[texts]).tolist():
            if document not in self.worlds:
                continue
            own = texts[scene.document_of[texts] == document]
            parents = [await self._handle(scene, node) for node in scene.parent[own].tolist()]
            await self._blank({document: None})
            scene.unsure[own] = ~np.array(await self.call(document, "areBlank", *parents), np.bool_)
            await self._unblank([document])

    async def _scroll(self, count: Count, fixed: dict[int, Any], whole: F64) -> None:
        """Scroll what scrolls until all its texts were in view; boxes apart from each other at once."""
        scene = count.scene
        for _ in range(_MOST_VIEWS):
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
                    one = scene.scrollers[number]
                    handle = await self._handle(scene, one.node)
                    at = scene.offsets_for(box, number).tolist()
                    document = int(scene.document_of[one.node])
                    one.at = np.array(await self.call(document, "scroll", handle, *at), np.float64)
            boxes = count.in_view(is_fixed=root >= 0, sought=sought)
            ports = [scene.port_of(box) for box in sought if boxes[box]]
            if ports:
                clip = np.array([*np.min(ports, axis=0)[:2], *np.max(ports, axis=0)[2:]])
                async with self._showing([fixed[root]] if root in fixed else []):
                    await self._view(count, boxes, common(clip, whole))
            for box in sought:
                count.give_up(box)
        count.leave()

    async def restore(self) -> None:
        """Undo all changes of the page."""
        was_scrolled = False
        for document in self.worlds:
            await self.call(document, "unblank")
            was_scrolled |= await self.call(document, "restore")
        if was_scrolled:  # the page is told with its next frame, while its scripts are off
            await self._picture(np.array([0.0, 0.0, 2.0, 2.0]))

    # ---- pictures

    async def _view(self, count: Count, boxes: Bools, clip: F64) -> None:
        """Picture what is in a part of the page, and count what changes of some boxes."""
        left, top, right, bottom = clip.tolist()
        if right - left < 1 or bottom - top < 1:
            count.add(boxes, [])
            return
        place, _ = count.scene.in_view()
        height = max(_TILE_PX * _WIDTH_PX / max(right - left, _WIDTH_PX), 1)
        tiles = [
            np.array([left, y, right, min(y + height, bottom)])
            for y in np.arange(top, bottom, height).tolist()
            if ((place[boxes, 3] > y) & (place[boxes, 1] < y + height)).any()
        ]
        for some in (tiles[at : at + _MOST_TILES] for at in range(0, len(tiles), _MOST_TILES)):
            parts = await self._compare(count, boxes, some)
            # A browser that is very busy may have pictured what was there before, in some layers or in all.
            for part, tile in zip(parts, some, strict=True):
                missing = part.missing(boxes)
                if not missing.any():
                    continue
                around = common(around_all(place[missing]), tile)
                if np.count_nonzero(missing) >= _MOST_MISSING:
                    around = tile
                elif area(around[None])[0] > _LITTLE * area(tile[None])[0]:
                    continue
                part.correct(missing, *await self._compare(count, missing, [around]))
            count.add(boxes, parts)

    async def _compare(self, count: Count, boxes: Bools, tiles: Sequence[F64]) -> "list[Pictures]":
        """Picture parts of the page without and with letters.

        In this order, because a layer may be missing in the first picture after a change.
        """
        without, complete = await self._without(tiles), await self._shoot_all(tiles)
        parts = []
        for tile, first, second in zip(tiles, without, complete, strict=True):
            part = await asyncio.to_thread(Pictures, count.scene, tile, await first, await second)
            if await asyncio.to_thread(part.moves) or await self._moves(part, part.may_move(boxes)):
                await asyncio.to_thread(part.take_out, *await self._again(tile, _MOST_AGAIN))
            for group in await asyncio.to_thread(part.crowds, boxes, count.can_be_alone):
                await self._blank(await self._nodes(count.scene, group))
                picture = await self._shoot(tile)
                await self._unblank(self.worlds)
                await asyncio.to_thread(part.count_alone, group, await picture)
            await asyncio.to_thread(part.bury)
            parts.append(part)
        return parts

    async def _moves(self, part: "Pictures", boxes: Bools) -> bool:
        """Return whether anything moves by itself where some parts are."""
        if not boxes.any():
            return False
        around = part.around(boxes)
        return await asyncio.to_thread(part.differs_from, around, *await self._again(around, 2))

    async def _again(self, clip: F64, count: int) -> "tuple[list[Image], list[Image]]":
        """Take so many pictures each without and with letters, at times and in an order that no page can know."""
        found: tuple[list[asyncio.Task[Image]], list[asyncio.Task[Image]]] = [], []
        for with_letters in _CHANCE.sample([False, True] * count, 2 * count):
            await asyncio.sleep(_CHANCE.uniform(0, _LONGEST_BREAK_S))
            found[with_letters].extend(
                await self._shoot_all([clip]) if with_letters else await self._without([clip])
            )
        return await asyncio.gather(*found[0]), await asyncio.gather(*found[1])

    async def _without(self, tiles: Sequence[F64]) -> "list[asyncio.Task[Image]]":
        """Take pictures of parts of the page without letters."""
        await self._blank(dict.fromkeys(self.worlds))
        pictures = await self._shoot_all(tiles)
        await self._unblank(self.worlds)
        return pictures

    async def _shoot_all(self, tiles: Sequence[F64]) -> "list[asyncio.Task[Image]]":
        return [await self._shoot(tile) for tile in tiles]

    async def _shoot(self, clip: F64) -> "asyncio.Task[Image]":
        """Take a picture of a part of the page; it is decoded while the page goes on."""
        return asyncio.create_task(asyncio.to_thread(picture_of, await self._picture(clip)))

    async def _picture(self, clip: F64) -> str:
        left, top, right, bottom = clip.tolist()
        answer = await self.session.send(
            "Page.captureScreenshot",
            {
                "format": "png",
                "optimizeForSpeed": True,
                "captureBeyondViewport": True,
                "clip": {"x": left, "y": top, "width": right - left, "height": bottom - top, "scale": SCALE},
            },
        )
        return str(answer["data"])

    async def _nodes(self, scene: Scene, group: Ints) -> dict[int, list[Any]]:
        """Return handles of the text nodes of some parts, by document."""
        found: dict[int, list[Any]] = {}
        for node in np.unique(scene.owner[group]).tolist():
            found.setdefault(int(scene.document_of[node]), []).append(await self._handle(scene, node))
        return found

    async def _blank(self, nodes: dict[int, Any]) -> None:
        for document, chosen in nodes.items():
            roots = self._roots.get(document, [])
            await self.call(document, "blank", -1 if chosen is None else len(chosen), *(chosen or ()), *roots)

    async def _unblank(self, documents: Any) -> None:
        for document in documents:
            await self.call(document, "unblank")
