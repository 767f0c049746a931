"""Where the texts of an open page are now, in boxes that are scrolled or stay where they are meanwhile."""

from collections.abc import Sequence

import numpy as np

from domsieve.renderer.page.pixels._parts import CHANCE, F64, Bools, Ints, Scroller, common
from domsieve.renderer.page.pixels._tree import Tree
from domsieve.renderer.page.pixels.pixel_capture import PixelCapture

# Where sticky boxes may lie over the edge of a box that scrolls, parts are pictured at this share of its room.
_BELOW_STICKY = 0.4
# Else they are near the edge, where no page can know.
_BELOW_EDGE = 0.01, 0.15
# Two plain pictures of what is scrolled have so much of its size in common, see `_STEP` of glance.py.
IN_COMMON = 0.3


class Places(Tree):
    """The parts of texts, and what they are scrolled in.

    Attributes
    ----------
    box : the edges of each part in CSS px of the page before anything is scrolled (B, 4).
    owner : the node of each part (B,).
    scrollers : the boxes that scroll.
    scroller : (B,), the number of the innermost of `scrollers` around each part, -1 for none.
    floats : the elements that stay where they are while something is scrolled, see `let_float`.
    shifts : (F + 1, 2), how far each of `floats` is from where it would be if it did not, in px; and 0.
    window_wide : the width of the window in px.
    ways : (F + 1, 2), how far each may go to the right and down in what it is in, in px; and 0.
    """

    box: F64
    owner: Ints
    scroller: Ints
    scrollers: list[Scroller]
    window_wide: float
    _scroller_of: Ints

    def __init__(self, capture: PixelCapture) -> None:
        super().__init__(capture)
        self.let_float((), np.zeros(self.kind.size, np.bool_))

    def let_float(self, nodes: Sequence[int], is_fixed: Bools) -> None:
        """Tell which elements stay where they are while something is scrolled, in the order of the page.

        Parameters
        ----------
        is_fixed : (N,), the elements that do so apart from these, and from what they are in.
        """
        self.floats = np.array(nodes, np.intp)
        numbers = np.where(is_fixed, len(nodes), -1)
        numbers[self.floats] = np.arange(len(nodes))
        self._float_of = self.inherited(numbers)
        self.shifts, self.ways = np.zeros((2, len(nodes) + 1, 2))

    def shift(self, far: F64) -> None:
        """Tell how far floats are from where they were at first in the documents that they are in, in px (F, 2).

        `Scroller.at` must be up to date.
        """
        moved, scroller_of = self._moved(), self.inherited(self._scroller_of)
        around = self._around_floats()
        self.shifts[:-1] = far + moved[around]
        documents = self.document_of[self.floats]
        for document in np.unique(documents).tolist():  # those in a frame come after those around it
            own, start = np.flatnonzero(documents == document), int(self.starts[document])
            root = int(np.flatnonzero(self.parent == start)[-1])
            self.shifts[own] -= moved[scroller_of[root]]
            if start:  # what the frame is in
                self.shifts[own] += self.shifts[self._float_of[self.parent[start]]]

    def floats_with_page(self) -> Bools:
        """Return the floats (F,) that stay in the window: others stay in a box when the page is scrolled."""
        return self._around_floats() < 0

    def floating_parts(self) -> Bools:
        """Return the parts (B,) that are in these floats."""
        with_page = np.append(self.floats_with_page(), [False, False])
        return np.asarray(with_page[np.minimum(self._float_of[self.owner], self.floats.size)])

    def ends(self) -> F64:
        """Return how far parts go to the right and down with floats, where the ways of these end, in px (B, 2)."""
        return np.asarray(self.ways[self._float_of[self.owner]])

    def places_of(self, reach: F64) -> F64:
        """Return where floats are now (F, 4), of which `reach` (F, 4) says where they were at first."""
        return np.asarray(reach + np.tile(self.shifts[:-1] - self._moved()[self._around_floats()], 2))

    def scrolled_by(self) -> Ints:
        """Return the number of the box that scrolls each node (N,), -1 for none."""
        return self.inherited(self._scroller_of)

    def _around_floats(self) -> Ints:
        """Return the scroller around each float (F,), -1 for none."""
        return self.scrolled_by()[self.parent[self.floats]]

    def in_view(self) -> tuple[F64, F64]:
        """Return where all boxes are now (B, 4), and how much of each is in the boxes that it scrolls in (B,).

        The share is of what fits into these at once.
        """
        port = self.ports()
        box = self.box - np.tile(self.moved(), 2)
        share = np.ones(len(box))
        inside = np.flatnonzero(self.scroller >= 0)
        own, around = box[inside], self.scroller[inside]
        box[inside] = part = common(own, port[around])
        whole, seen = own[:, 2:] - own[:, :2], np.maximum(part[:, 2:] - part[:, :2], 0)
        fits = np.minimum(whole, self.room()[around])
        with np.errstate(invalid="ignore", divide="ignore"):
            share[inside] = np.nan_to_num((seen / fits).prod(axis=1), nan=1.0, posinf=1.0)
        return box, share

    def ports(self) -> F64:
        """Return what each scroller shows of the page now (S + 1, 4); the last is for what does not scroll."""
        moved = self._moved()
        port = np.tile([-np.inf, -np.inf, np.inf, np.inf], (len(self.scrollers) + 1, 1))
        for number, one in enumerate(self.scrollers):
            own = one.port - np.tile(moved[one.outer] - self.shifts[self._float_of[one.node]], 2)
            port[number] = common(own, port[one.outer])
        return port

    def common_room(self) -> F64:
        """Return how far others may end so that a plain picture shows each part with them (B, 2), in px.

        How high the window is says nothing of those that are near.
        """
        is_wide = bool((self.box[:, 2] > self.window_wide).any())
        page = IN_COMMON * self.window_wide if is_wide else np.inf, np.inf
        room = np.tile(page, (len(self.scrollers) + 1, 1))
        for number, one in enumerate(self.scrollers):
            own = np.where(one.axes, IN_COMMON * (one.port[2:] - one.port[:2]), np.inf)
            room[number] = np.minimum(own, room[one.outer])
        return np.asarray(room[self.scroller])

    def corners(self) -> F64:
        """Return the upper left corner of each scroller now (S, 2), also where nothing around shows it."""
        moved, found = self._moved(), np.zeros((len(self.scrollers), 2))
        for number, one in enumerate(self.scrollers):
            found[number] = one.port[:2] - moved[one.outer] + self.shifts[self._float_of[one.node]]
        return found

    def sticks(self, number: int) -> Bools:
        """Return along which axes each part (B, 2) stays where it is while a scroller is scrolled."""
        inside = np.append(self._around_floats() == number, [False])
        floats = np.minimum(self._float_of[self.owner], self.floats.size)
        return np.asarray((self.ways[floats] > 0) & inside[floats][:, None])

    def has_floats(self, number: int) -> bool:
        """Return whether anything stays where it is while a scroller is scrolled."""
        return bool((self._around_floats() == number).any())

    def room(self) -> F64:
        """Return what each scroller shows of its content at once (S + 1, 2); the last is for what does not scroll."""
        found = np.full((len(self.scrollers) + 1, 2), np.inf)
        for number, one in enumerate(self.scrollers):
            found[number] = np.minimum(one.port[2:] - one.port[:2], found[one.outer])
        return found

    def moved(self) -> F64:
        """Return how far each part has moved to the left and up (B, 2)."""
        found, number = np.zeros((self.owner.size, 2)), self._float_of[self.owner]
        inside, floating = np.flatnonzero(self.scroller >= 0), np.flatnonzero(number >= 0)
        found[inside] = self._moved()[self.scroller[inside]]
        found[floating] -= self.shifts[number[floating]]
        return found

    def _moved(self) -> F64:
        """Return how far the content of each scroller is scrolled; the last is for what does not scroll."""
        moved = np.zeros((len(self.scrollers) + 1, 2))
        for number, one in enumerate(self.scrollers):
            moved[number] = moved[one.outer] + (one.at - one.start) * one.scale
        return moved

    def chain(self, box: int) -> list[int]:
        """Return the scrollers that a part is in, the innermost first."""
        number, found = int(self.scroller[box]), []
        while number >= 0:
            found.append(number)
            number = self.scrollers[number].outer
        return found

    def target(self, box: int, number: int) -> F64:
        """Return where the upper left corner of a part is if a scroller is not scrolled, but those in it are."""
        found = self.box[box, :2].copy()
        for inner in self.chain(box):
            if inner == number:
                break
            one = self.scrollers[inner]
            found -= (one.at - one.start) * one.scale
        return np.asarray(found)

    def offsets_for(self, box: int, number: int, share: float) -> F64:
        """Return the offsets of a scroller, given those in it, that show a part, with a share of the room before."""
        target = self.target(box, number)
        if share:  # what is longer than the box may be in it only where its way ends
            target += self.ways[self._float_of[self.owner[box]]]
        one = self.scrollers[number]
        least = _BELOW_STICKY if self.has_floats(number) else CHANCE.uniform(*_BELOW_EDGE)
        share = max(share, least)
        room = np.maximum(share * (one.port[2:] - one.port[:2] - self.box[box, 2:] + self.box[box, :2]), 1)
        return np.where(one.axes, one.start + (target - one.port[:2] - room) / one.scale, one.start)

    def port_of(self, box: int) -> F64:
        """Return what the outermost box shows that a box scrolls in."""
        number = int(self.scroller[box])
        while self.scrollers[number].outer >= 0:
            number = self.scrollers[number].outer
        return self.scrollers[number].port


def same_parts(before: Sequence[Ints], after: Sequence[Ints]) -> Ints:
    """Return the number of each part (B,) among later ones, -1 for parts of texts that have others then.

    Parameters
    ----------
    before, after : the node of each part, and two columns that tell whether those of a node are the same.
    """
    if all(map(np.array_equal, before, after)):
        return np.arange(before[0].size)
    found, known = np.full(before[0].size, -1), dict[int, tuple[Ints, list[list[int]]]]()
    for columns in (before, after):
        order = np.argsort(columns[0], kind="stable")
        nodes, begin = np.unique(columns[0][order], return_index=True)
        for node, parts in zip(nodes.tolist(), np.split(order, begin)[1:], strict=True):
            said = [column[parts].tolist() for column in columns[1:]]
            if columns is before:
                known[node] = parts, said
            elif node in known and known[node][1] == said:
                found[known[node][0]] = parts
    return found
