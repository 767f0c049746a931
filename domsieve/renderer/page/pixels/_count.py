"""How much of each part of a text was seen in pictures of a page, and what follows for the texts."""

import itertools
from collections.abc import Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page.pixels._boxes import area
from domsieve.renderer.page.pixels._letters import Letters
from domsieve.renderer.page.pixels._parts import F64, OUTWARDS, Bools, Ints, meet, seen_ranges
from domsieve.renderer.page.pixels._pictures import LEAST_SHARE, Pictures
from domsieve.renderer.page.pixels._places import IN_COMMON
from domsieve.renderer.page.pixels._scene import Scene
from domsieve.renderer.page.pixels._strokes import BESIDE

IN_VIEW = 0.99
"""A part counts as in view if so much of what fits is."""
# If it was scrolled to and no more of it comes, so much will do.
_LEAST_IN_VIEW = 0.4
# Texts with so few signs, and without letters and digits, are seen if anything of them is.
_FEW_SIGNS = 2
# Words in a row have so much of their height in common, and so much room between them, in sizes of letters. Guesses.
_SAME_ROW, _BESIDE = 0.5, 2.0
# Those of a text are nearer than this, and if two of so many pairs in a row are parted, that is no chance. Guesses.
_NEIGHBOURS, _DENSE = 15.0, 5
# Of the usual ink of digits, .75 and more shows in many sizes and weights, and .45 and less under strips and dots.
_LEAST_OF_DIGITS = 0.5
# So many words must be in one picture, if they are in a row, or in rows in less room than two plain pictures share.
_TOGETHER, _ROWS_PX, _SILENT = 5, 200.0, ("script", "style")


class Sight(IntEnum):
    """What pictures say of a node."""

    NONE = 0  # it is no text, or has no letters with a box
    SEEN = 1
    UNSEEN = 2
    UNSURE = 3
    UNPICTURED = 4  # the time ended before, or what may cover it was cut off


class Count:
    """How much was seen to change of each part of a scene, and how much would if its letters were black on white.

    Attributes
    ----------
    letters : the lines whose letters can be drawn apart.
    is_known : (B,), the parts of which pictures can say something.
    can_be_alone : (B,), whether the letters of a part can be made transparent while those of all others are seen.
    settled : (B,), the parts of which no later picture says more.
    shown_in : (B, P), the plain pictures that show them as they were seen.
    compared : (B,), those of which each letter was compared with others of its font.
    others : (B,), those that do not look like theirs.
    among_strokes : (B,), those with strokes in their ground.
    other_ink : how many pixels have ink of letters that belong to no text that is seen.
    """

    def __init__(self, scene: Scene, documents: Ints, letters: Letters, pictures: int) -> None:
        self.scene = scene
        count = scene.owner.size
        self._changed, self._ink = np.zeros(count), np.zeros(count)
        self.is_known = np.isin(scene.document_of[scene.owner], documents) & ~scene.unsure[scene.owner]
        self._is_counted = np.zeros(count, np.bool_)
        self._is_given_up, self.settled = np.zeros((2, count), np.bool_)
        self.compared, self.others, self.among_strokes = np.zeros((3, count), np.bool_)
        self.other_ink = 0
        self._beside = dict[int, set[int]]()
        self.shown_in = np.zeros((count, pictures), np.bool_)
        self.can_be_alone = scene.alone[scene.owner]
        self.letters = letters

    @property
    def shown(self) -> Bools:
        """Which parts (B,) plain pictures show as they were seen."""
        return np.asarray(self.shown_in.any(axis=1))

    def assume(self, parts: Bools, unseen: Bools, differs: Bools, is_cut_off: Bools) -> Bools:
        """Return which of some parts (B,) that are not seen yet are taken for seen where words beside them are.

        Another picture tells of these: the edges of this one may cut them. See `beside_unseen`.

        Parameters
        ----------
        parts : those whose words are looked at.
        unseen, differs, is_cut_off : these parts, those that a picture seems to show, and those that its edges cut.
        """
        scene = self.scene
        found = unseen & (is_cut_off | (differs & self.is_known & ~self._is_counted))
        found &= ~scene.unreadable[scene.owner]
        some, (place, _) = np.flatnonzero(found), scene.in_view()
        boxes = place[some] + np.outer(BESIDE * scene.drawn_px(some), OUTWARDS)
        ink = scene.ink_box[scene.line[some]] + (place - scene.box)[some]
        boxes[:, 1], boxes[:, 3] = np.minimum(boxes[:, 1], ink[:, 1]), np.maximum(boxes[:, 3], ink[:, 3])
        for one, box in zip(some.tolist(), boxes, strict=True):
            if (beside := np.flatnonzero(parts & meet(place, box))).size:
                self._beside.setdefault(one, set()).update(beside.tolist())
        return np.asarray(found)

    def beside_unseen(self) -> Bools:
        """Return which parts (B,) are beside others that were taken for seen, and are not."""
        gone = np.flatnonzero(~self.seen(np.ones_like(self._is_counted))).tolist()
        beside = itertools.chain.from_iterable(self._beside.get(one, ()) for one in gone)
        return np.isin(np.arange(self._is_counted.size), [*beside])

    def shades(self, seen: Bools) -> Bools:
        """Return the parts (B,) that are not `seen`, but paint letters elsewhere, maybe where no picture is taken."""
        scene, owner = self.scene, self.scene.owner
        return np.asarray(~seen & scene.is_drawn_again[owner] & ~scene.absent[owner])

    def parted(self, seen: Bools) -> Bools:
        """Return the parts (B,) that are shown, but in no picture with the next ones.

        Pictures of other words could stand where each is, at different times or places. Where texts are in several
        rows or far apart, a bar or the edge of the window may part some; so there, one pair says nothing alone, and
        more words only if it parts no two of them. Two rows of a text are near enough, but for boxes that scroll and
        show only one at once, of which nothing is known.

        Parameters
        ----------
        seen : the parts that are seen (B,).
        """
        scene, found = self.scene, np.zeros_like(seen)
        # Style sheets can put words between those of a text, also such that are never written.
        is_other = scene.is_generated | np.isin(scene.names, _SILENT)[np.maximum(scene.parent, 0)]
        parts = np.flatnonzero(seen & self.shown & ~is_other[scene.owner])
        shown, one, other = self.shown_in[parts], parts[:-1], parts[1:]
        apart = np.maximum(
            scene.box[other, :2] - scene.box[one, 2:], scene.box[one, :2] - scene.box[other, 2:]
        )
        apart /= np.maximum(scene.drawn_px(one), 1)[:, None]
        is_near = (apart < _NEIGHBOURS).all(axis=1) & (scene.fixed_box[one] == scene.fixed_box[other])
        in_row = is_near & (apart[:, 0] < _BESIDE) & (apart[:, 1] < -_SAME_ROW)
        are_paired = is_near & (shown[:-1] & shown[1:]).any(axis=1)
        are_near, are_linked = np.ones((2, parts.size), np.bool_)
        together, room = shown, scene.common_room()
        for more in range(1, _TOGETHER):
            together, are_near = together[:-1] & shown[more:], are_near[:-1] & in_row[more - 1 :]
            are_linked = are_linked[:-1] & are_paired[more - 1 :]
            first, last = parts[: len(together)], parts[more:]
            fit = (more == 1) | (scene.box[last, 2] - scene.box[first, 0] < room[first, 0])
            wide = np.maximum(*scene.box[[first, last], 2]) - np.minimum(*scene.box[[first, last], 0])
            is_low = np.abs(scene.box[last, 1] - scene.box[first, 1]) < np.fmin(room[first, 1], _ROWS_PX)
            fit_in_rows = is_low & (wide < room[first, 0])
            are_asked = (are_near & fit) | (are_linked & fit_in_rows)
            begins = np.flatnonzero(are_asked & ~together.any(axis=1))
            found[parts[np.add.outer(begins, np.arange(more + 1))]] = True
        fit = (scene.box[other, 2:] - scene.box[one, :2] < room[one]).all(axis=1)
        is_parted = fit & is_near & ~are_paired
        is_of_one = scene.owner[one] == scene.owner[other]
        is_low = np.abs(scene.box[other, 1] - scene.box[one, 1]) < _ROWS_PX
        is_cramped = scene.box[other, 3] - scene.box[one, 1] > room[one, 1] / IN_COMMON
        parts_text = ~are_paired & is_near & is_of_one & is_low & (fit | is_cramped)
        found[one[parts_text]] = found[other[parts_text]] = True
        pairs = np.flatnonzero(is_parted)
        are_dense = np.diff(pairs, prepend=-_DENSE) < _DENSE
        are_dense[:-1] |= np.diff(pairs) < _DENSE
        found[one[pairs[are_dense]]] = found[other[pairs[are_dense]]] = True
        return found

    def in_view(self, *, is_fixed: bool, sought: Sequence[int] = ()) -> Bools:
        """Return the parts (B,) that are in view now, in fixed boxes or on the page, and not counted yet.

        Parameters
        ----------
        is_fixed : whether those in fixed boxes or those on the page are wanted.
        sought : the parts that were scrolled to.
        """
        _, share = self.scene.in_view()
        is_near = share >= IN_VIEW
        is_near[[*sought]] = share[[*sought]] >= _LEAST_IN_VIEW
        waiting = self.is_known & ~self._is_counted & ~self.scene.unreadable[self.scene.owner]
        return np.asarray(waiting & ((self.scene.fixed_box >= 0) == is_fixed) & is_near)

    def in_view_before(self) -> Bools:
        """Return the parts (B,) in boxes that scroll that were counted where everything is now."""
        _, share = self.scene.in_view()
        return np.asarray(self._is_counted & (self.scene.scroller >= 0) & (share >= IN_VIEW))

    def waiting(self) -> Ints:
        """Return the parts that scroll and have not been in view."""
        scrolls = (self.scene.scroller >= 0) & ~self.scene.unreadable[self.scene.owner]
        return np.flatnonzero(self.is_known & ~self._is_counted & ~self._is_given_up & scrolls)

    def wait_for_unseen(self) -> None:
        """Forget what is known of the parts that scroll and were not seen, so that they wait again."""
        missing = self.missing(self.scene.scroller >= 0)
        self.recount(missing)
        self._is_given_up[:] = ~missing

    def give_up(self, box: int) -> None:
        """Do not try again to bring a part in view."""
        self._is_given_up[box] = True

    def leave(self, boxes: Ints | Bools) -> None:
        """Count some parts as unknown."""
        self.is_known[boxes] = False

    def unseen(self, boxes: Bools) -> Bools:
        """Return which of some parts have been counted, but did not change."""
        return np.asarray(boxes & self._is_counted & (self._changed < LEAST_SHARE * self._ink))

    def seen(self, boxes: Bools) -> Bools:
        """Return which of some parts have been counted and changed."""
        return np.asarray(boxes & self._is_counted & (self._changed > 0) & ~self.unseen(boxes))

    def are_whole(self, boxes: Bools, least: float) -> Bools:
        """Return which of some parts changed at least by a share of what these do in the middle, for their ink."""
        rate = np.divide(self._changed, self._ink, out=np.zeros_like(self._ink), where=self._ink > 0)
        return np.asarray(boxes & (rate >= least * np.median(rate[boxes]))) if boxes.any() else boxes

    def missing(self, boxes: Bools) -> Bools:
        """Return which of some parts can be judged, but have not been seen yet."""
        left = boxes & self.is_known & ~self.scene.unreadable[self.scene.owner]
        return np.asarray(left & (~self._is_counted | self.unseen(boxes)))

    def with_others(self, boxes: Bools, place: F64) -> Bools:
        """Return some parts, and all others in a place of the page that can be read."""
        scene = self.scene
        return np.asarray(boxes | (meet(scene.in_view()[0], place) & ~scene.unreadable[scene.owner]))

    def recount(self, boxes: Bools) -> None:
        """Forget what is known of some parts."""
        self._is_counted &= ~boxes
        self._changed[boxes] = 0

    def add(self, boxes: Bools, parts: "Sequence[Pictures]") -> None:
        """Add what pictures say of some parts, which are in view."""
        self._is_counted |= boxes
        place, _ = self.scene.in_view()
        whole = area(self.scene.box)
        share = np.divide(area(place), whole, out=np.ones_like(whole), where=whole > 0)
        self._ink[boxes] = (self.scene.ink * share)[boxes]
        for part in parts:
            self._changed[boxes] += part.changed[boxes]
            self.is_known[boxes & part.unsure] = False

    def settle(self, boxes: Bools, again: Bools) -> None:
        """Count some parts of the page as settled, but for those that are looked for `again`."""
        scene = self.scene
        self.settled |= boxes & (scene.scroller < 0) & (scene.fixed_box < 0)
        self.settled &= ~again

    @property
    def are_digits(self) -> Bools:
        """Which parts (B,) are digits that no canvas draws, or letters of flags, which have no shape to compare."""
        return np.asarray(self.scene.is_sign & (self.letters.digits > 0))

    def sights(self, is_beyond: Bools) -> tuple[NDArray[np.uint8], dict[int, list[tuple[int, int]]]]:
        """Return the `Sight` of all nodes (N,), and the letters that are seen of those of which not all are.

        Parameters
        ----------
        is_beyond : the parts (B,) beyond the largest picture, of which nothing is known.
        """
        scene = self.scene
        is_known = self.is_known & ~is_beyond
        is_seen = is_known & self._is_counted & (self._changed > 0)
        # The ink of a few signs, such as a full stop, may be far below the mean.
        is_few = scene.is_sign & (scene.letters <= _FEW_SIGNS) & ~scene.is_first_letter[scene.owner]
        are_digits, share = self.are_digits, self.letters.digits / np.maximum(scene.letters, 1)
        least = np.where(are_digits, _LEAST_OF_DIGITS * share, LEAST_SHARE)
        is_seen &= (self._changed >= least * self._ink) | (is_few & ~are_digits)
        sights = np.where(scene.has_letters | scene.had_letters, Sight.UNSURE, Sight.NONE).astype(np.uint8)
        ranges, unreadable, fewest = {}, scene.unreadable, self.letters.fewest_unseen
        order = np.lexsort((scene.first, scene.owner))
        owners, begin = np.unique(scene.owner[order], return_index=True)
        for owner, parts in zip(owners.tolist(), np.split(order, begin)[1:], strict=True):
            letters = scene.letters[parts]
            found = seen_ranges(scene.first[parts], letters, is_seen[parts], fewest[parts])
            if not scene.has_letters[owner]:
                continue
            if found and not unreadable[owner]:
                sights[owner] = Sight.SEEN
                if found != [(0, scene.letters_of[owner])]:
                    sources = scene.sources.get(owner)
                    if sources == []:
                        sights[owner] = Sight.UNSURE
                    elif sources:
                        ranges[owner] = [_at_sources(sources, *one) for one in found]
                    else:
                        ranges[owner] = found
            else:
                is_hidden = unreadable[owner] or is_known[parts].all()
                sights[owner] = Sight.UNSEEN if is_hidden else Sight.UNSURE
        self._cut_first_letters(sights, ranges)
        return sights, ranges

    def _cut_first_letters(self, sights: NDArray[np.uint8], ranges: dict[int, list[tuple[int, int]]]) -> None:
        """Drop from texts their first letters that are not seen, where these have a style of their own."""
        scene = self.scene
        letters = {int(scene.parent[node]): node for node in np.flatnonzero(scene.is_first_letter).tolist()}
        for text, sources in sorted(scene.sources.items()) if letters else ():
            if sources and not sources[0]:
                continue
            around = int(scene.parent[text])
            while around >= 0 and around not in letters:
                around = int(scene.parent[around])
            # It is that of the first text.
            letter = letters.pop(around, -1)
            if letter < 0 and not sources:
                continue
            sight = Sight(sights[letter]) if letter >= 0 else Sight.UNSEEN
            if not scene.has_letters[text]:
                sights[text] = sight
            elif sight == Sight.SEEN or sights[text] != Sight.SEEN:
                continue
            elif not sources:
                sights[text] = Sight.UNSURE
            else:
                seen = ranges.get(text, [(0, sources[-1] + 1)])
                ranges[text] = [(max(first, sources[0]), end) for first, end in seen]


def _at_sources(sources: Sequence[int], first: int, end: int) -> tuple[int, int]:
    """Return the letters of a text, before a style changed their number, that some come from."""
    return (sources[first] if first else 0), sources[min(end, len(sources)) - 1] + 1
