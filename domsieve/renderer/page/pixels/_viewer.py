"""Picture parts of an open page with letters and without, and count what changes of some texts."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from domsieve.renderer.browser.tab import Tab
from domsieve.renderer.page.pixels._boxes import area, around_all, words_of
from domsieve.renderer.page.pixels._count import IN_VIEW, Count
from domsieve.renderer.page.pixels._images import levels_of
from domsieve.renderer.page.pixels._letters import Letters
from domsieve.renderer.page.pixels._likeness import Comparison
from domsieve.renderer.page.pixels._parts import CHANCE, F64, Bools, Ints, common, meet
from domsieve.renderer.page.pixels._pictures import Pictures
from domsieve.renderer.page.pixels._read_as import read_otherwise
from domsieve.renderer.page.pixels._reader import Reader
from domsieve.renderer.page.pixels._scene import LOOKING, Scene
from domsieve.renderer.page.pixels._signs import under_signs
from domsieve.renderer.page.pixels._window import cutting, reach_of, way_of
from domsieve.renderer.page.pixels.changes import skip_invisible
from domsieve.renderer.page.pixels.pixel_capture import PixelCapture
from domsieve.renderer.page.pixels.plain import Glance
from domsieve.snapshot.symbol_fonts import is_symbols

if TYPE_CHECKING:
    from PIL.Image import Image

# So many sticky boxes are followed; texts in others may be looked for where they are not.
_MOST_STICKY = 500
# To so many elements the page is scrolled because of fixed boxes that they cut.
_MOST_CUTS = 60
# If so many parts of texts are not seen in a picture, it is taken again; if fewer are not, what is around them, if it
# is no more than this share of the picture. Guesses: layers of many parts are taken again, but not for a few words.
_MOST_MISSING, _LITTLE = 12, 0.125
# How far a page is scrolled, in px, to know which boxes stay where they are.
_FAR_PX = 2.0, 400.0
# So many letters make a few words, which may say something.
MOST_UNCLEAR = 15
# And so do fewer that plain pictures do not show, although they are seen later.
_MOST_UNSHOWN = 5
AT_END = float(np.iinfo(np.int32).max)
"""The end of a page, where what lies under it is often revealed."""
# What flickers is taken for letters if it is as dark as these in all pictures: once in 500 times with so many more.
_MOST_AGAIN = 4
# Marks are above or below letters, shadows may be all around: left, top, right and bottom, in the height of boxes.
_MARKS, _SHADOWS = np.array([[0, 0.6, 0, 0.6], [0.2] * 4])
# Letters have at least so many pixels of ink. Of ink that no letter explains, 40 real pages have up to 40 pixels, and
# those where letters of 10 px are added to words or left out of the text have 80 and more.
_INK_OF_LETTER = 4.0
_UNLIKE = "fonts draw letters in other ways than those for reading"


class Viewer(Reader):
    """An open page of which parts are pictured in the window, to which it is scrolled.

    Parameters
    ----------
    tab : the page.
    glance : plain pictures of it.

    Attributes
    ----------
    in_window : (B,), the parts of texts that may be seen in some places of the window only.
    moving : (B,), those that are in other places when the page is scrolled.
    cuts : the middle of each element that cuts a fixed box, in px from the top of the page.
    at_moment : whether the page is at another moment than before.
    is_locked : whether the page was locked before it was changed.
    trouble : why some texts are not surely seen, "" if all others are.
    reach : left, top, right and bottom of each float with all below it, when the scene was placed (F, 4).
    """

    def __init__(self, tab: Tab, glance: Glance) -> None:
        super().__init__(tab)
        self.in_window, self.moving = np.zeros((2, 0), np.bool_)
        self.reach = np.zeros((0, 4))
        self.cuts: list[float] = []
        self.at_moment = False
        self.glance, self.trouble = glance, ""
        self.is_locked = False
        self._sticky: dict[int, dict[int, Any]] = {}
        self._fixed: list[int] = []
        self._at_first = np.zeros((0, 2))

    async def staying(self, fixed: Mapping[int, Any], *, to_side: bool) -> tuple[Bools, frozenset[int]]:
        """Return which fixed elements stay in their place when the page is scrolled, and those on top of all else.

        With `to_side`, it is scrolled to the side, too.
        """
        if not fixed:
            return np.zeros(0, np.bool_), frozenset()
        # What leaves its place only later, or changes on the way, is no fixed box.
        end, looks = float((await self.go(AT_END))[1]), []
        sides = [float((await self.go(0.0, far))[0]) for far in (-AT_END, AT_END)] if to_side else []
        places = [(top, 0.0) for top in (0.0, 1.0, CHANCE.uniform(*_FAR_PX), CHANCE.uniform(0.0, end), end)]
        places += [(0.0, left) for side in sides if side for left in (CHANCE.uniform(0.0, side), side)]
        for place in places:
            await self.go(*place)
            looks.append(await self.call(0, "stays", len(fixed), *fixed.values(), *self._roots[0]))
        await self.go(0.0)
        stays = (
            not any(is_held for _, is_held, _ in own) and len({place for place, _, _ in own}) == 1
            for own in zip(*looks, strict=True)
        )
        on_top = frozenset(node for node, (_, _, is_top) in zip(fixed, looks[0], strict=True) if is_top)
        return np.fromiter(stays, np.bool_), on_top

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
        for document, own in self._sticky.items():
            scene.ways[[*own]] *= await self.call(document, "sticks", *own.values())
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

    async def follow(self, count: Count) -> None:
        """Read where floats are after something was scrolled."""
        if count.scene.floats.size:
            count.scene.shift(await self._where() - self._at_first)

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
        before, absent = await self.capture(LOOKING), scene.absent
        unread, misshapen = scene.unread, scene.misshapen
        window = await self.go(top)
        await self.show(count, contents)
        place, share = scene.in_view()
        missing &= meet(place, window) & (share >= IN_VIEW) & ~scene.unreadable[scene.owner]
        if missing.any():
            count.recount(missing)
            await self.view_here(count, missing, common(around_all(place[missing]), window))
        await self.aim(0.0, 0.0)
        scene.unread, scene.absent = unread, absent
        await self.reshape(count, before, contents)
        scene.misshapen = misshapen

    async def hide(self, fixed: Iterable[Any]) -> None:
        """Make fixed boxes transparent."""
        await self.call(0, "cover", *fixed)

    @contextlib.asynccontextmanager
    async def showing(self, fixed: Sequence[Any]) -> AsyncIterator[None]:
        """Show fixed boxes, which are transparent, for a block of code."""
        await self.call(0, "uncover", *fixed)
        yield
        await self.hide(fixed)

    async def show(self, count: Count, contents: Mapping[int, F64]) -> None:
        """Read once more where everything is and of which shape, without what is invisible now."""
        scene, absent, capture = count.scene, count.scene.absent, await self.capture(LOOKING)
        scene.unread = scene.unread.copy()
        skip_invisible(scene, capture, LOOKING)
        scene.absent = absent | (
            scene.absent & (scene.fixed_of < 0)
        )  # fixed boxes are transparent now anyway
        await self.reshape(count, capture, contents)

    async def reshape(self, count: Count, capture: PixelCapture, contents: Mapping[int, F64]) -> None:
        """Read once more where everything is and of which shape, from a capture with `LOOKING`."""
        count.scene.reshape(capture, LOOKING)
        await self.replace(count, capture, contents)

    async def replace(self, count: Count, capture: PixelCapture, contents: Mapping[int, F64]) -> None:
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
        if (struck := part.may_be_struck(boxes)).any():
            around, owners = part.around(struck), count.letters.owners(struck)
            drawn = await self.draw(count.letters, around, part.size_of(around), owners, keep_inks=True)
            await asyncio.to_thread(part.strike, struck, around, count.letters, drawn)
        count.add(boxes, [part])
        is_new = count.seen(boxes) & ~count.scene.is_sign & ~count.compared
        in_fixed = boxes & (count.scene.fixed_box >= 0)  # no other picture shows the ink of fixed boxes
        if (is_new | in_fixed).any():
            count.compared |= is_new
            await self._read_letters(count, part, is_new, clip)
        seen = np.flatnonzero(count.seen(boxes) & ~count.shown)
        shows, beyond = self.glance.shows, count.letters.beyond[seen]
        count.shown_in[seen] = await asyncio.to_thread(shows, count.scene, seen, beyond, clip, part.whole)

    async def _read_letters(self, count: Count, part: Pictures, parts: Bools, clip: F64) -> None:
        """Note which parts do not show their own letters, or strokes beside these, which may make others of them."""
        scene, word, letters = count.scene, self._word(count), count.letters
        seen = count.seen(np.ones_like(parts)) | (scene.is_sign & (part.changed > 0))
        assumed = count.assume(parts, ~seen & part.is_near, part.changed > 0, part.is_cut_off)
        odd, known = await self.shows_others(letters, clip, parts, seen, assumed, part.fine)
        may_be_lined, no_part = (seen | assumed) & scene.is_lined[scene.owner], np.zeros_like(parts)
        words, whole = part.words_in(parts, word, letters)
        strokes = await asyncio.to_thread(words.among_strokes, np.asarray(part.whole[0]), whole)
        odd |= await asyncio.to_thread(words.among_other_ink, part.fine, known, may_be_lined)
        beside = np.where((seen | assumed)[:, None], _beside(scene), np.nan)
        ink = await asyncio.to_thread(words.count_other_ink, part.steady, known, may_be_lined, beside)
        if ink >= _INK_OF_LETTER:  # a browser that is very busy may have pictured what was there before
            first, second = await self.without(clip), await self.shoot(clip)
            levels = np.minimum(part.steady, levels_of(await first, await second))
            ink = await asyncio.to_thread(words.count_other_ink, levels, known, may_be_lined, beside)
        count.other_ink += ink
        groups, left = await asyncio.to_thread(under_signs, scene, letters, parts, word, part.is_near)
        strokes |= left
        for group in groups:
            around = part.around(group)
            picture = await self.without(around, await self.nodes(scene, np.flatnonzero(group)))
            ground = np.asarray(await picture)
            words, whole = part.words_in(group, word, letters, around)
            strokes |= await asyncio.to_thread(words.among_strokes, ground, whole)
        if (lined := odd & may_be_lined).any():
            lined = await self.lined(scene, lined)
        if lined.any():
            around = part.around(lined)
            async with self.without_lines():
                first, second = await self.without(around), await self.shoot(around)
                pictures = await first, await second
            odd &= ~lined
            levels = levels_of(*pictures)
            again, known = await self.shows_others(letters, around, lined, seen, assumed, levels, whole=True)
            words, whole = part.words_in(lined, word, letters, around)
            odd |= again | await asyncio.to_thread(words.among_other_ink, levels, known, no_part)
            # Through a whole word a line is one; at some of its letters it may be a stroke of these.
            unlined, plain = (np.asarray(one).astype(np.int16) for one in pictures)
            strokes |= await asyncio.to_thread(words.among_strokes, unlined + whole - plain, whole)
        count.others |= odd
        count.among_strokes |= strokes

    def doubt_about_letters(self, count: Count, seen: Bools, unlike: float, window_px: F64) -> str:
        """Return why letters may say something else than the text, "" if there is no reason.

        Parameters
        ----------
        seen : the parts (B,) that are seen.
        unlike : how many letters fonts draw in other ways than those for reading.
        window_px : width and height of the window (2,).
        """
        scene, letters = count.scene, count.letters
        every, font = np.arange(scene.owner.size), scene.font_of[scene.owner]
        emphasized = _are_emphasized(scene)
        signs = count.seen(scene.is_sign & emphasized)
        are_symbols = np.array([*map(is_symbols, scene.column["font-family"])])[font]
        doubts = {
            "letters look like others, or like none": count.others,
            "letters have strokes beside them, which may make others of them": count.among_strokes
            | count.beside_unseen(),
            "letters cannot be compared with those of their font": ~letters.is_drawn
            | ~letters.is_within
            | letters.is_cut,
            "letters are larger than the window": scene.font_px(every) > window_px.min(),
            "letters are mirrored": (np.linalg.det(scene.maps) < 0)[scene.owner],
            "letters have sharp shadows beside them": scene.has_strokes[scene.owner],
            "letters have marks of emphasis, which may add others": emphasized
            & (letters.are_compared | _have_lettered_marks(scene)),
            "a font of the page has the name of one of symbols": scene.in_own_font[scene.owner] & are_symbols,
        }
        in_doubt = seen & self.words(count, seen & np.logical_or.reduce([*doubts.values()]))
        others = {
            _UNLIKE: unlike,
            "letters show that belong to no text that is seen": count.other_ink / _INK_OF_LETTER,
            "letters cannot be made transparent": float(self.unblanked),
            "signs have marks of emphasis, which may be letters": float(MOST_UNCLEAR * signs.sum()),
            "letters show by their shadows alone": float(scene.letters[count.shades(seen)].sum()),
            **read_otherwise(scene, letters, seen),
        }
        if scene.letters[in_doubt].sum() + sum(others.values()) < MOST_UNCLEAR:
            return ""
        counts = {why: scene.letters[seen & parts].sum() for why, parts in doubts.items()} | others
        return max(counts, key=lambda why: float(counts[why]))

    def words(self, count: Count, parts: Bools) -> Bools:
        """Return some parts (B,) and those of other texts that are of the same words."""
        word = self._word(count)
        return np.isin(word, word[parts])

    def _word(self, count: Count) -> Ints:
        """Return the number of the word that each part (B,) is of."""
        scene = count.scene
        sizes = scene.drawn_px(np.arange(scene.owner.size))
        return words_of(scene.box, sizes, count.letters.all_said, scene.owner)

    def unshown(self, count: Count, seen: Bools) -> Ints:
        """Return the texts with seen parts that no plain picture shows.

        If these have few letters, those of texts of which nothing is shown are unsure. What the lock of a page cuts
        off is left out: readers get there.
        """
        scene = count.scene
        left_out = ~count.shown | count.parted(seen) | self.glance.have_twins(scene, seen)
        parts = np.flatnonzero(seen & count.is_known & left_out)
        if self.is_locked:
            parts = parts[~self.glance.are_cut_off(scene, parts)]
        if scene.letters[parts].sum() < _MOST_UNSHOWN:
            shown = np.unique(scene.owner[seen & count.shown])
            count.leave(parts[~np.isin(scene.owner[parts], shown)])
            return np.zeros(0, np.intp)
        self.trouble = (
            "some texts are not seen on the page as it is, without what is changed for the pictures"
        )
        return np.unique(scene.owner[parts])

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
        shown = np.flatnonzero(~count.scene.absent)  # the letters of many others in their place would mix
        drawn = await self.draw(count.letters, clip, part.size, shown)
        comparison = await asyncio.to_thread(part.compared, count.letters, drawn)
        await self._look_closer(part, comparison, count.letters, dict.fromkeys(self.worlds))
        await asyncio.to_thread(part.match, comparison)
        await self._unline(count, part, boxes)
        # What was seen at another moment may be on top of these, and may not be seen now.
        asked = count.with_others(boxes, part.around(boxes)) if self.at_moment else boxes
        for group in await asyncio.to_thread(part.crowds, asked, count.can_be_alone):
            around = part.around(np.isin(np.arange(boxes.size), group))
            nodes = await self.nodes(count.scene, part.with_equal(group))
            picture = await self.without_some(around, nodes)
            drawn = await self.draw(count.letters, around, picture.size, count.scene.owner[group])
            comparison = await asyncio.to_thread(
                part.compared_alone, group, around, picture, count.letters, drawn
            )
            await self._look_closer(part, comparison, count.letters, nodes)
            await asyncio.to_thread(part.count_alone, group, comparison)
            await self._unline(count, part, np.isin(np.arange(boxes.size), group), nodes)
        heaps = await asyncio.to_thread(part.bury)
        if heaps.texts.size:
            around = part.around(heaps.mixing)
            drawn = await self.draw(count.letters, around, part.size_of(around), heaps.texts)
            await asyncio.to_thread(part.mix, heaps, around, count.letters, drawn)
        return part

    async def _unline(
        self, count: Count, part: "Pictures", boxes: Bools, nodes: dict[int, Any] | None = None
    ) -> None:
        """Count nothing of some parts that are not compared with their letters but what is no line or mark of these.

        With `nodes`, pictures are taken without the letters of these texts only, see `blank`.
        """
        uncompared = part.uncompared(boxes, count.letters)
        lined = await self.lined(count.scene, uncompared)
        if not lined.any():
            return
        around = part.around(lined)
        async with self.without_lines():
            stuck = await self.lined(count.scene, lined)
            pictures = await self.again(around, _MOST_AGAIN if part.are_many else 1, nodes)
        await asyncio.to_thread(part.unline, lined, stuck, around, pictures, is_alone=nodes is not None)

    async def _look_closer(
        self, part: "Pictures", comparison: Comparison, letters: Letters, nodes: dict[int, Any]
    ) -> None:
        """Compare parts of some texts, see `blank`, that do not quite look like their letters in other ways."""
        if (low := comparison.low).any():
            around, owners = part.around(low), letters.owners(low)
            drawn = await self.draw(letters, around, part.size_of(around), owners, keep_inks=True)
            await asyncio.to_thread(part.see_shifted, comparison, around, drawn)
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


def _are_emphasized(scene: Scene) -> Bools:
    """Return which parts (B,) have marks of emphasis."""
    said = scene.column["text-emphasis"]
    are = np.array([bool(value) and not value.startswith("none") for value in said])
    return np.asarray(are[scene.font_of[scene.owner]])


def _have_lettered_marks(scene: Scene) -> Bools:
    """Return which parts (B,) have letters as marks of emphasis, in place of dots."""
    are = np.array([any(map(str.isalpha, value.split('"')[1::2])) for value in scene.column["text-emphasis"]])
    return np.asarray(are[scene.font_of[scene.owner]])


def _beside(scene: Scene) -> F64:
    """Return how far around each part (B, 4) its marks and shadows may be, in its height; NaN without any."""
    found = np.full((scene.owner.size, 4), np.nan)
    for parts, around in (
        (_are_emphasized(scene), _MARKS),
        (scene.reach_px[scene.owner] > 0, _SHADOWS),
    ):
        found[parts] = np.fmax(found[parts], around)
    return found
