"""What boxes that scroll leave free of what lies over them: heads of tables, bars and panes.

No style tells that. So it is learned from the pictures: where texts were seen in a box, and where none was.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page.pixels._count import Count
from domsieve.renderer.page.pixels._parts import F64, Bools
from domsieve.renderer.page.pixels._scene import Scene

# A box is divided into cells of this size, but no more than so many each way.
_CELL_PX, _MOST_CELLS = 6.0, 60
# A text that changes less than this share of what others do may be covered in part. Guesses.
_WHOLE = 0.6
# If nothing sticks in a box, it takes so many pictures to know that a place is covered: texts may be hidden, too.
_SURELY = 3
# A part lies in what is free if so much of it was seen there before.
_KNOWN = 0.5


@dataclass
class _Grid:
    """Where texts were seen in a box that scrolls, and where they were not.

    Attributes
    ----------
    cell : the width and the height of a cell in px.
    seen, unseen : in how many pictures each cell had texts that were seen, and others that were not (rows, columns).
    """

    cell: F64
    seen: NDArray[np.int32]
    unseen: NDArray[np.int32]

    @classmethod
    def of(cls, size: F64) -> "_Grid":
        cell = np.maximum(size / _MOST_CELLS, _CELL_PX)
        columns, rows = np.maximum(np.ceil(size / cell), 1).astype(np.intp).tolist()
        return cls(cell, *np.zeros((2, rows, columns), np.int32))

    def cells(self, boxes: F64) -> NDArray[np.intp]:
        """Return the first column and row of boxes in px (n, 4), and those after the last."""
        most = np.tile(self.seen.shape[::-1], 2)
        found = np.clip(np.rint(boxes / np.tile(self.cell, 2)), 0, most).astype(np.intp)
        found[:, 2:] = np.maximum(found[:, 2:], found[:, :2] + 1)
        return found

    def learn(self, boxes: F64, is_seen: Bools) -> None:
        """Note which of some boxes were seen in a picture (n, 4), and which were not."""
        for which, counts in ((is_seen, self.seen), (~is_seen, self.unseen)):
            mask = np.zeros(counts.shape, np.bool_)
            for left, top, right, bottom in self.cells(boxes[which]).tolist():
                mask[top:bottom, left:right] = True
            counts += mask

    def room(self, size: F64, low: F64, high: F64, *, after: Bools, surely: int) -> tuple[F64, F64] | None:
        """Return the upper left corner for a part, and the largest free rectangle that has it in a corner.

        Returns None if nothing is known to be covered, or nothing is known to be free where the part may be. The
        rectangle is empty if the part is covered in part everywhere.

        Parameters
        ----------
        size : the width and the height of the part in px.
        low, high : the first and the last place of its upper left corner.
        after : whether the part is to be at the left, and at the upper side of what is free.
        surely : in so many pictures more a cell was not seen if it is covered.
        """
        is_covered = self.unseen - self.seen >= surely
        if not (is_covered.any() and self.seen.any()):
            return None
        flip = (slice(None, None, 1 if after[1] else -1), slice(None, None, 1 if after[0] else -1))
        is_covered = is_covered[flip]
        whole = np.array(is_covered.shape[::-1]) * self.cell
        first, last = np.where(after, low, whole - high - size), np.where(after, high, whole - low - size)
        corners, edges = [], []
        for axis in (0, 1):
            begin, end = max(first[axis], 0.0), min(last[axis], max(whole[axis] - size[axis], 0.0))
            places = self.cell[axis] * np.arange(np.ceil(begin / self.cell[axis]), end / self.cell[axis])
            places = places if places.size else np.array([np.clip(begin, 0.0, whole[axis] - 1)])
            most = is_covered.shape[1 - axis]
            begins = np.minimum(np.floor(places / self.cell[axis] + 0.01).astype(np.intp), most - 1)
            ends = np.ceil((places + size[axis]) / self.cell[axis] - 0.01).astype(np.intp)
            corners.append(places)
            edges.append((begins, np.clip(ends, begins + 1, most)))
        (left, right), (top, bottom) = edges
        sums = np.pad(is_covered.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
        rows = sums[bottom] - sums[top]
        covered = rows[:, right] - rows[:, left]
        if (least := covered.min()) and (covered == np.outer(bottom - top, right - left)).all():
            return None
        wide, tall = _largest(~is_covered)
        areas = np.where(covered == least, (wide * tall)[np.ix_(top, left)], -1)
        row, column = np.unravel_index(int(areas.argmax()), areas.shape)
        corner = np.array([corners[0][column], corners[1][row]])
        at = np.array([left[column], top[row]])
        free = np.array([wide[at[1], at[0]], tall[at[1], at[0]]]) * self.cell * (not least)
        begin = at * self.cell
        # What is covered in part may have been taken for free, so the part is not quite at the edge.
        corner += np.clip(
            np.minimum((begin + free - corner - size) / 2, size[1]), 0, np.maximum(last - corner, 0)
        )
        rectangle = np.concatenate((begin, begin + free))
        mirrored = np.concatenate((whole - begin - free, whole - begin))
        return (
            np.where(after, corner, whole - corner - size),
            np.where(np.tile(after, 2), rectangle, mirrored),
        )

    def knows(self, boxes: F64) -> Bools:
        """Return in which boxes (n, 4) texts were seen mostly."""
        is_free = self.seen > self.unseen
        return np.array(
            [
                is_free[top:bottom, left:right].mean() >= _KNOWN if top < bottom and left < right else False
                for left, top, right, bottom in self.cells(boxes).tolist()
            ],
            np.bool_,
        )


def _largest(free: Bools) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the width and the height of the largest rectangle of free cells to the right of and below each."""
    rows, columns = free.shape
    run = np.zeros((rows, columns + 1), np.intp)
    for column in range(columns - 1, -1, -1):
        run[:, column] = np.where(free[:, column], run[:, column + 1] + 1, 0)
    run = run[:, :-1]
    wide, high, least = run.copy(), (run > 0).astype(np.intp), run.copy()
    for height in range(2, rows + 1):
        least = np.minimum(least[:-1], run[height - 1 :])
        better = least * height > wide[: len(least)] * high[: len(least)]
        wide[: len(least)][better], high[: len(least)][better] = least[better], height
    return wide, high


class Rooms:
    """What each box that scrolls leaves free, and how far it can be scrolled, as far as that was seen."""

    def __init__(self) -> None:
        self._grids: dict[tuple[int, bool, bool], _Grid] = {}
        self._limits: dict[int, F64] = {}
        self._free: dict[int, F64] = {}
        self._placed: set[int] = set()

    def learn(self, count: Count, boxes: Bools) -> None:
        """Note where in the boxes that scroll some parts (B,) are now that were pictured just now."""
        scene = count.scene
        seen, missing = count.seen(boxes), count.missing(boxes)
        known = np.flatnonzero((seen & count.are_whole(seen, _WHOLE)) | missing)
        known = known[scene.scroller[known] >= 0]
        if not known.size:
            return
        place, _ = scene.in_view()
        corners = scene.corners()
        inner = scene.scroller[known]
        for innermost in np.unique(inner).tolist():
            own = known[inner == innermost]
            number = innermost
            while number >= 0:
                one, sticks = scene.scrollers[number], scene.sticks(number)[own]
                for kind in np.unique(sticks, axis=0).tolist():
                    parts = own[(sticks == kind).all(axis=1)]
                    grid = self._grid(scene, number, kind)
                    grid.learn(place[parts] - np.tile(corners[number], 2), seen[parts])
                number = one.outer

    def _grid(self, scene: Scene, number: int, kind: list[bool]) -> _Grid:
        """Return the grid of a scroller for parts that stay where they are along some axes."""
        one = scene.scrollers[number]
        key = one.node, bool(kind[0]), bool(kind[1])
        if key not in self._grids:
            self._grids[key] = _Grid.of(one.port[2:] - one.port[:2])
        return self._grids[key]

    def offsets_for(self, scene: Scene, box: int, number: int, share: float, waiting: Bools) -> F64:
        """Return the offsets of a scroller, given those in it, that bring a part to where it is free.

        Parameters
        ----------
        share : see `Scene.offsets_for`.
        waiting : (B,), the parts that wait, to know which of them come after this one.
        """
        plain, one = scene.offsets_for(box, number, share), scene.scrollers[number]
        self._free.pop(one.node, None)
        self._placed.discard(one.node)
        sticks = scene.sticks(number)[box]
        here = scene.in_view()[0][box, :2] - scene.corners()[number]
        base = np.where(sticks, here, scene.target(box, number) - one.port[:2])
        limits = self._limits.get(one.node, np.array([[-np.inf] * 2, [np.inf] * 2]))
        moves = one.axes & ~sticks
        ends = [np.where(moves, base - (limit - one.start) * one.scale, base) for limit in limits[::-1]]
        others = waiting & (scene.scroller == scene.scroller[box])
        middle = np.median(scene.box[others, :2], axis=0) if others.any() else scene.box[box, :2]
        surely = 1 if share or scene.has_floats(number) else _SURELY
        found = self._grid(scene, number, sticks.tolist()).room(
            scene.box[box, 2:] - scene.box[box, :2],
            *ends,
            after=np.asarray(scene.box[box, :2] <= middle),
            surely=surely,
        )
        if not found:
            return plain
        corner, free = found
        self._placed.add(one.node)
        if (free[2:] > free[:2]).all():
            self._free[one.node] = free
        return np.where(moves, one.start + (base - corner) / one.scale, plain)

    def limit(self, scene: Scene, number: int, asked: F64) -> bool:
        """Note how far a scroller went that was asked to go somewhere; return whether it was not so far."""
        one = scene.scrollers[number]
        limits = self._limits.setdefault(one.node, np.array([[-np.inf] * 2, [np.inf] * 2]))
        late, early = asked > one.at + 1, asked < one.at - 1
        limits[1][late], limits[0][early] = one.at[late], one.at[early]
        return bool((late | early).any()) and one.node in self._placed

    def free(self, scene: Scene, number: int) -> Bools | None:
        """Return which parts (B,) of a scroller are in what is free of it now; None if nothing is known of it."""
        one = scene.scrollers[number]
        if one.node not in self._free:
            return None
        place = scene.in_view()[0] - np.tile(scene.corners()[number], 2)
        edges = self._free[one.node]
        inside = (place[:, :2] >= edges[:2] - 1) & (place[:, 2:] <= edges[2:] + 1)
        return np.asarray((scene.scroller == number) & inside.all(axis=1))

    def knows(self, scene: Scene, number: int, parts: Bools) -> Bools:
        """Return which parts (B,) of some of a scroller are where others were seen."""
        found, sticks = np.zeros_like(parts), scene.sticks(number)
        place = scene.in_view()[0] - np.tile(scene.corners()[number], 2)
        for kind in np.unique(sticks[parts], axis=0).tolist():
            own = parts & (sticks == kind).all(axis=1)
            found[own] = self._grid(scene, number, kind).knows(place[own])
        return found
