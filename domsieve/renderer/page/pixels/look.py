"""Find out from pictures of an open page which of its texts can be seen.

A page is scrolled through its window, and what this shows is pictured twice: as it is, and with all letters
transparent. What differs inside the boxes of a text is what a reader sees of it. A few letters of a text are seen if
a tenth of the pixels differ that would if they were black on white. A text is seen if any of its letters are, and it
is cut to these. No picture shows more than the window: for such a picture, the browser lays the page out for another
window, in which animations begin anew, boxes forget how far they are scrolled, and other pictures are chosen.

Before the pictures, animations are paused, a locked page is released, and fixed boxes are made transparent, so
that only boxes that scroll with the page can cover text. The texts of fixed boxes are pictured apart. What is under
or over something that stays in the window is pictured in several places of the window, until it is seen, and what is
painted after fixed boxes is pictured once more with these, which may be behind it. Boxes that scroll are scrolled, as
a reader can, until their texts were in view. Texts that overlap others are made transparent one after the other.

The page cannot act against this. Its scripts are off, nothing arrives from the net, and no style sheet of it sees
what is changed: style sheets are adopted and not inserted, elements are changed by animations, and letters are
made transparent by a highlight with a random name. All changes are undone. What pictures cannot judge is
`Sight.UNSURE`, and counts as hidden, since a page could be made so on purpose: texts that change with the
pictures, that move, that cannot be made transparent alone, or that are too many.

Pictures have half the size of the page, so they are four times as cheap.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Sequence, Set
from functools import partial
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.browser.connection import CommandError
from domsieve.renderer.browser.tab import Tab
from domsieve.renderer.page._moments import Moments
from domsieve.renderer.page._page_events import PageEvents
from domsieve.renderer.page.pixels._boxes import around_all
from domsieve.renderer.page.pixels._count import Count, Sight
from domsieve.renderer.page.pixels._fonts import Written, letters_of_fonts
from domsieve.renderer.page.pixels._oddities import doubt_about
from domsieve.renderer.page.pixels._page import MOST_FRAMES
from domsieve.renderer.page.pixels._parts import F64, Ints, common
from domsieve.renderer.page.pixels._scene import SHOWING, Scene
from domsieve.renderer.page.pixels._scripts import revealed, with_scripts
from domsieve.renderer.page.pixels._search import Searcher
from domsieve.renderer.page.pixels._sheets import PICTURED_PARTS, SCRIPTING_QUERIES, mentioned
from domsieve.renderer.page.pixels._tree import paint_order_of
from domsieve.renderer.page.pixels._viewer import AT_END, MOST_UNCLEAR
from domsieve.renderer.page.pixels._window import grounds_of, in_window, with_grounds
from domsieve.renderer.page.pixels.changes import (
    Missing,
    mark_changed,
    mark_missing,
    mark_painted,
    mark_under,
    skip_invisible,
)
from domsieve.renderer.page.pixels.glance import Held
from domsieve.renderer.page.pixels.pixel_capture import PixelCapture, leave_unpictured, put_sights
from domsieve.renderer.page.pixels.plain import Glance
from domsieve.snapshot.page import Kind

# Bounds of the work on one page. Texts beyond them are unsure.
_TALLEST_PX, _WIDEST_PX = 1_000_000, 16_384
# What it asks for while it is prepared has this time to arrive. A guess.
_LOAD_S = 2.0
# What a page can have loaded only when a reader comes near.
_LAZY = frozenset({"img", "video", "iframe"})
# Elements that show others by their names.
_DRAWING = frozenset({"feimage", "mpath"})
# To put the page back. A guess: more than this is a page that does not answer.
_RESTORE_S = 10.0
# The property with which boxes have no content until they are near the window.
_SKIPPING = "content-visibility"
# With this, first lines may have another font, which captures do not have.
_FIRST_LINE = "first-line"
# With these, what is scrolled changes styles or places, or begins animations.
_FOLLOWING = (
    *("scroll-state", "::scroll-button", ":target-current", ":target-before", ":target-after"),
    *("animation-trigger", "anchored(", "anchor(", "position-area", "position-anchor", "anchor-center"),
)


async def look(
    tab: Tab,
    watch: PageEvents,
    capture: PixelCapture,
    style_names: Sequence[str],
    *,
    missing: Missing,
    moments: Moments,
    restless: Sequence[str],
    glance: Glance,
    held: Held,
    scripts: bool,
    limit_s: float,
) -> tuple[PixelCapture, str]:
    """Return a capture that was just taken, with what pictures say of its texts in place of `PIXEL_STYLES`.

    It is the name of a `Sight` in lower case; after "seen" may follow the ranges of letters that are, if not all.
    Also return what keeps pictures from being sure of all texts, "" if nothing does. The scripts of the page must
    be off, and it must not be scrolled.

    Parameters
    ----------
    tab : the open page.
    watch : what it loads.
    capture : its capture.
    style_names : the computed properties of the capture.
    missing : what readers may see, although it is missing now; what `watch` still awaits is added.
    moments : the moments of animations at which texts may be in view that are not in the capture.
    restless : what ``restless`` of ``tab.js`` said before animations were brought to where they are.
    glance : plain pictures of the page, from before anything of it was changed.
    held : its requests, which wait as long as it is pictured, or what comes in view changes it.
    scripts : whether scripts were on until now. If styles depend on that, the page is captured again as it was then,
        and not pictured.

    Raises
    ------
    TimeoutError : there is no picture within `limit_s` seconds, or the page is not put back soon after.
    CommandError : the page has changed its structure, or the browser does not answer as it should.
    """
    page, trouble = _Page(tab, glance), ""
    page.moments = moments if moments.whens else None
    try:
        try:
            async with asyncio.timeout(limit_s):
                await page.open(capture)
                await page.complete(capture)
                is_silenced = scripts and any(await page.ask_all("silence"))
                answers = await page.ask_all("isUnlike")
                unlike = [one for one, is_unlike in zip(page.worlds, answers, strict=True) if is_unlike]
                unlike_frames = {capture.strings[capture.documents[one].frame_id] for one in unlike}
                has_canvas = scripts and any(await page.ask_all("hasCanvas"))
                sought = (_SKIPPING, _FIRST_LINE, *_FOLLOWING)
                otherwise = (_SKIPPING, _FIRST_LINE, PICTURED_PARTS, SCRIPTING_QUERIES)
                words, rare = await mentioned(page, capture, sought, otherwise, watch.lost_sheets)
                if scripts and SCRIPTING_QUERIES in words:
                    capture = await with_scripts(page, style_names)
                    leave_unpictured(capture)
                    return capture, "no pictures of the page: style sheets ask whether scripts are on"
                if not words.isdisjoint(_FOLLOWING) or any(await page.ask_all("isFollowing")):
                    leave_unpictured(capture)
                    return capture, "no pictures of the page: styles or animations may follow the scrolling"
                if _SKIPPING in words or page.has_closed_roots or is_silenced:
                    capture = await revealed(page, style_names, has_canvas=has_canvas)
                page.has_first_lines = _FIRST_LINE in words
                if page.moments:
                    await page.ask_at_moments(page.moments)
                if not await watch.arrive(_LOAD_S):
                    page.miss()
                missing = await page.missing(watch, missing, unlike_frames)
                missing = missing._replace(is_anywhere=PICTURED_PARTS in words)
                held.is_on, held.notice = True, page.miss
                restless = [*restless, *(["pictures"] if watch.has_late_pictures else [])]
                sights, ranges = await page.look(capture, style_names, missing, restless, scripts=scripts)
        except TimeoutError:
            if page.count is None:
                raise
            trouble = f"no pictures of some texts: not done within {limit_s:.0f} s"
            sights, ranges = page.so_far(page.count)
        finally:
            held.notice = None
            async with asyncio.timeout(min(limit_s, _RESTORE_S)):
                await page.restore()
    except (ValueError, LookupError, ArithmeticError, msgspec.MsgspecError) as error:
        # The numbers that a hostile page brings about make no sense.
        raise CommandError(f"The page cannot be pictured: {error}") from error
    if watch.has_late_frames:
        page.doubt = page.doubt or "frames have come after the scripts of the page were stopped"
    doubt = rare or page.doubt
    trouble = trouble or doubt or page.trouble
    if missing.is_cut or doubt:
        seen = np.flatnonzero(sights == Sight.SEEN)
        sights[np.setdiff1d(seen, [*ranges])] = Sight.UNPICTURED
    said = [Sight(sight).name.lower() if sight else "" for sight in sights.tolist()]
    for node, parts in ranges.items():
        said[node] += "".join(f" {first}-{end}" for first, end in parts)
    put_sights(capture, said)
    return capture, trouble


class _Page(Searcher):
    """The look at one page.

    Attributes
    ----------
    has_first_lines : whether style sheets may give first lines another font.
    moments : moments at which animations bring texts in view that are not, if there are any.
    is_unsteady : whether something is missing for which the page asks at another moment.
    count : what is counted, once there may be a picture.
    """

    has_first_lines = is_unsteady = False
    _unlike = 0  # letters that fonts draw in other ways than those for reading
    moments: Moments | None = None
    count: Count | None = None

    async def look(
        self,
        capture: PixelCapture,
        names: Sequence[str],
        missing: Missing,
        restless: Sequence[str],
        *,
        scripts: bool,
    ) -> tuple[NDArray[np.uint8], dict[int, list[tuple[int, int]]]]:
        """Return the `Sight` of all nodes, one document after another, and what is seen of those seen in part.

        Raises
        ------
        ValueError : the page has changed its structure.
        """
        if [capture.strings[one.frame_id] for one in capture.documents] != self._frame_ids:
            raise ValueError("The page has changed its frames.")
        scene = Scene(capture, names)
        scene.has_first_lines = self.has_first_lines
        if mark_missing(scene, missing):
            self.doubt = "pictures are missing that may cover or move texts"
        answers = await self.ask_all("oddities", scripts)
        has = {
            "inner": len(capture.documents) > 1,
            "moments": self.moments is not None,
            "young": self.glance.is_uneven,
            "lacks": self.glance.lacks,
            "backdrops": scene.has_drawn_backdrops,
            "draws": not _DRAWING.isdisjoint(scene.names),
        }
        doubt = doubt_about(restless, answers, *(name for name, is_so in has.items() if is_so))
        self.doubt = self.doubt or doubt
        if len(capture.documents) > MOST_FRAMES:
            self.doubt = self.doubt or "there are more frames than are looked at"
        metrics = await self.session.send("Page.getLayoutMetrics")
        window = metrics["cssLayoutViewport"]
        window_px = np.array([window["clientWidth"], window["clientHeight"]], np.float64)
        scrolled, *_ = await self.call(0, "places")
        self.origin = np.array([window["pageX"], window["pageY"]], np.float64) - scrolled
        scene.window_wide = float(window_px[0])
        fixed, grounds = await self._settle(scene, capture, names)
        await self.let_float(scene, grounds)
        await self.cut(scene)
        await self._read_fonts(scene)
        await self.check_blank(scene)
        mark_painted(scene)
        mark_under(scene, (await self._contents(scene, await self._uncertain(scene, missing.media))).values())
        metrics = await self.session.send("Page.getLayoutMetrics")
        await self.hide(fixed.values())
        for is_last in (False, True):
            size, window = metrics["cssContentSize"], metrics["cssLayoutViewport"]
            width = window["clientWidth"] if scene.is_cut_at_side else size["width"]
            whole = np.array([0, 0, min(width, _WIDEST_PX), min(size["height"], _TALLEST_PX)], np.float64)
            if not scene.is_cut_at_side:
                whole -= np.tile(self.origin, 2)
            letters = await self.measure(scene)
            self.count = count = Count(scene, np.array([*self.worlds]), letters, self.glance.count)
            count.others |= await self.resized(letters)
            self.in_window, self.moving = in_window(scene, window_px, grounds), scene.floating_parts()
            await self.view(count, count.in_view(is_fixed=False), whole)
            metrics = await self.session.send("Page.getLayoutMetrics")
            if is_last or metrics["cssContentSize"] == size:
                break
            # What came in view may have another size now.
            scene.place(await self.capture(SHOWING), await self.frame_places(scene))
            await self.begin(scene)
        first = np.array([0, 0, window["clientWidth"], window["clientHeight"]], np.float64)
        await self._view_fixed(count, fixed, first)
        await self.scroll(count, fixed, whole)
        await self.view_over(count, np.ones(scene.owner.size, np.bool_), fixed, whole)
        if self.moments:
            await self.view_moments(count, self.moments, fixed, whole)
        seen = count.seen(~scene.is_sign)
        unshown = self.unshown(count, count.seen(~scene.is_sign | count.are_digits))
        self.doubt = self.doubt or self.doubt_about_letters(count, seen, self._unlike, window_px)
        if self.is_unsteady:
            count.leave(np.ones(scene.owner.size, np.bool_))
        is_cut = np.array([size["width"] > _WIDEST_PX, size["height"] > _TALLEST_PX])
        sights, ranges = count.sights(((scene.box[:, :2] >= whole[2:]) & is_cut).any(axis=1))
        unsure = (sights == Sight.UNSURE)[scene.owner] & ~scene.absent[scene.owner]
        if scene.letters[unsure].sum() >= MOST_UNCLEAR:
            self.doubt = (
                self.doubt or "some texts are left out, as pictures cannot tell whether they are seen"
            )
        left = unshown[sights[unshown] == Sight.SEEN]
        sights[left] = Sight.UNPICTURED
        return sights, {node: found for node, found in ranges.items() if node not in {*left.tolist()}}

    def so_far(self, count: Count) -> tuple[NDArray[np.uint8], dict[int, list[tuple[int, int]]]]:
        """Return what `look` does, although its time has ended: what is not settled is not pictured."""
        scene = count.scene
        scene.absent &= not self.moments  # they may come
        sights, ranges = count.sights(np.zeros(scene.owner.size, np.bool_))
        is_open = (
            ~count.settled
            | (self.is_unsteady or bool(self.moments))
            | (count.seen(~scene.is_sign) & ~count.shown)
        )
        left = np.unique(scene.owner[is_open])
        left = left[~scene.unreadable[left] & ~scene.unsure[left]]
        sights[left] = Sight.UNPICTURED
        return sights, {node: found for node, found in ranges.items() if node not in {*left.tolist()}}

    async def missing(self, watch: PageEvents, known: Missing, unlike: Set[str]) -> Missing:
        """Return what is missing now, beside what is `known` and the frames that are `unlike` what readers see."""
        shown = {*itertools.chain(*await self.ask_all("shown"))}
        idle = {*itertools.chain(*await self.ask_all("idleSheets"))}
        unsized = {*itertools.chain(*await self.ask_all("unsized"))}
        pictures, media = watch.awaited_pictures, watch.awaited_media
        late = {*pictures, *media}
        if pictures:  # else nobody gets the lazy ones that were not asked for
            late.add("")
        framing = set()
        for frame in watch.awaited_frames:
            with contextlib.suppress(CommandError):  # it is gone
                owner = await self.session.send("DOM.getFrameOwner", {"frameId": frame})
                framing.add(int(owner["backendNodeId"]))
        return known._replace(
            awaited={url: sure or url in shown for url, sure in pictures.items()},
            framing=frozenset(framing),
            media=media,
            is_loose=not unsized.isdisjoint(late),
            unknown=known.unknown
            | watch.unpainted
            | {frame for url, frame in watch.idle_sheets if url not in idle}
            | unlike,
        )

    def miss(self) -> None:
        """Note that something has not come for which the page asks, maybe at another moment."""
        self.is_unsteady |= self.moments is not None

    async def still(self) -> int:
        """Pause what moves by itself; return how many animations there are."""
        counts = np.array(
            await self.ask_all("still", self.moments.held_at if self.moments else 0), np.intp
        ).reshape(-1, 3)
        every, left_out, covering = map(int, counts.sum(axis=0))
        if left_out:
            self.doubt = self.doubt or f"{left_out} animations too many, which may move texts"
        if covering:
            self.doubt = self.doubt or "what animations throw about may cover texts"
        return every

    async def _settle(
        self,
        scene: Scene,
        capture: PixelCapture,
        names: Sequence[str],
    ) -> tuple[dict[int, Any], Ints]:
        """Bring the page into the state to be pictured, and place the scene.

        Returns handles of the fixed boxes that are pictured apart, and those that stay in the window behind text.
        """
        await self.enter(*range(len(self._frame_ids)))  # a frame without text may cover some
        nodes = scene.fixed.tolist()
        fixed = dict(zip(nodes, await self._handles(scene, nodes), strict=True))
        animations = await self.still()
        if animations:  # they may have been at their ends in the capture
            scene.is_cut_at_side |= not (await self.call(0, "openAxes"))[0]
            scene.paint_order = paint_order_of(scene, await self.capture(SHOWING))
        stays, scene.on_top = await self.staying(fixed, to_side=not scene.is_cut_at_side)
        is_ground = grounds_of(scene)
        grounds = scene.fixed[stays & is_ground]
        scene.keep_fixed(stays & ~is_ground)
        if not scene.on_top.issubset(scene.fixed.tolist()):
            await self.call(0, "keepBackdrops")
        before = None
        is_locked = await self.call(0, "isLocked")
        self.is_locked = is_held = is_locked or await self.call(0, "isFreed")
        if is_held and await self.call(0, "hasSizes"):
            self.doubt = self.doubt or "styles follow the size of a page that is locked"
        if is_locked:
            before = await self.capture(names)
            await self.call(0, "release")
        if animations or before or scene.frames:
            capture, names = await self.capture(names if before else SHOWING), names if before else SHOWING
            scene.place(capture, await self.frame_places(scene))
            if before and mark_changed(scene, before, capture, names):
                self.doubt = self.doubt or "what moves as the page is released may cover texts"
        skip_invisible(scene, capture, names)
        return {node: fixed[node] for node in scene.fixed.tolist()}, grounds

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
                shown = [*fixed.values()] if root < 0 else with_grounds(scene, fixed, root)
                async with self.showing(shown):
                    await self.view_here(count, boxes, common(around_all(place[boxes]), window))
        contents = await self.frame_places(scene)
        async with self.showing([*fixed.values()]):
            await self.view_again(count, everything, contents, AT_END)

    async def _uncertain(self, scene: Scene, media: Set[str]) -> list[int]:
        """Return what readers may see otherwise.

        These are the canvases and videos that a worker may draw, which goes on while the scripts of the page are off,
        lazy pictures, videos and frames that have not come, and that nobody could scroll to or ask before, and videos
        of which the media with these addresses have not come.
        """
        found, is_closed = [], scene.in_closed()
        for node, name in enumerate(scene.names):
            document, inside = int(scene.document_of[node]), bool(is_closed[node])
            is_lazy = name in _LAZY and (document or inside)
            if is_lazy and scene.attributes(node).get("loading", "").lower() == "lazy":
                question: tuple[Any, ...] = "isLate", inside
            elif name in {"canvas", "video"}:
                question = "isLive", [*media]
            else:
                continue
            await self.enter(document)
            answer: Any = True
            if document in self.worlds:
                answer = await self.call(document, *question, await self._handle(scene, node))
            if answer:
                found.append(node)
                if answer == "live":
                    self.doubt = self.doubt or "a canvas or a video may show something else at any time"
        return found

    async def _read_fonts(self, scene: Scene) -> None:
        """Find the texts in fonts of the page that draw all letters alike, or other ones."""
        unlike, backwards, unknown = 0, 0, dict[str, float]()
        for document in self.worlds:
            if await self.call(document, "hasFonts"):
                groups, others = letters_of_fonts(scene, document)
                alike = await self.call(document, "alike", *groups)
                wrong = [font for group, same in zip(groups, alike, strict=True) if same for font, _ in group]
                own = scene.document_of == document
                scene.unread |= np.isin(scene.fonts, wrong)[scene.font_of] & own
                scene.unsure |= np.isin(scene.fonts, [*others])[scene.font_of] & own
                texts = Written(scene, document, others, await self._first_lines(scene, document))
                misread, doubtful = await texts.misread(partial(self.call, document), unknown)
                scene.misread |= misread
                if texts.has_odd_signs:
                    self.doubt = self.doubt or "a font of the page may draw words in place of signs"
                scene.in_own_font[[*texts.of_page]] = True
                unlike += doubtful.sum()
                backwards += scene.letters[own[scene.owner] & (scene.against != 0)].sum()
        self._unlike = max(unlike, backwards)

    async def _first_lines(self, scene: Scene, document: int) -> dict[int, Sequence[str]]:
        """Return what ``firstLines`` says of the texts of a document whose block has a style for its first line."""
        if not self.has_first_lines:
            return {}
        texts = np.unique(scene.owner[(scene.document_of == document)[scene.owner]])
        texts = texts[scene.kind[texts] == Kind.TEXT]
        handles = await self._handles(scene, texts.tolist())
        if await self.call(document, "haveOwnFeatures", *handles):
            self.doubt = self.doubt or "first lines have other features of their font"
        said = await self.call(document, "firstLines", *handles)
        return {text: one for text, one in zip(texts.tolist(), said, strict=True) if one}

    async def restore(self) -> None:
        """Undo all changes of the page."""
        was_scrolled = False
        for document in self.worlds:
            await self.call(document, "unblank")
            await self.call(document, "reline")
            was_scrolled |= await self.call(document, "restore")
        if was_scrolled:  # the page is told with its next frame, while its scripts are off
            await self.wake()
