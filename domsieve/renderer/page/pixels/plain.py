"""Which texts of a page plain pictures show, that were taken before anything of it was changed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page.pixels._cases import pieces_of
from domsieve.renderer.page.pixels._images import picture_of
from domsieve.renderer.page.pixels._parts import F64, Bools, Ints, edges_of, meet, px
from domsieve.renderer.page.pixels._reading import LEAST_OPACITY, alpha_of
from domsieve.renderer.page.pixels._scene import Scene
from domsieve.renderer.page.pixels.pixel_capture import PixelCapture, PixelLayout
from domsieve.snapshot.page import Kind

if TYPE_CHECKING:
    from PIL.Image import Image

# Bounds of the work on one page: pictures, and all of them as the browser encodes them.
_MOST_PICTURES, _MOST_BYTES = 250, 150_000_000
# Less than this, of 255, is no change, nor is less than this share of what letters change. Measured: no letter of 21
# real pages changes by more.
_NOTHING, _SHARE = 3, 0.2
_BY_FILL = "-webkit-text-fill-color", "text-shadow", "-webkit-text-stroke-width"
STYLES = "padding-left", "padding-top", "opacity", "visibility", "background-clip", *_BY_FILL
"""What moves the content of frames, and what hides texts."""
# A line is compared with so many that begin below it, and lies on one if so much of their height does. Guesses.
_NEIGHBOURS, _OVERLAP = 400, 0.5
# Shorter words do not say that two lines are alike.
_FEWEST_SHARED = 3
# So many pictures are kept decoded.
_MOST_KEPT = 12

Pixels = NDArray[np.int16]
Line = tuple[int, str, int]
"""A line of a text: the browser's id of its node, what it says, and how many lines of the text said so before."""
_NOWHERE: Line = -1, "", 0


class Glance:
    """Plain pictures of the windows of a page, and of the boxes that scroll in it.

    Parameters
    ----------
    boxes : the browser's ids of the elements that were scrolled.
    page : the number of the one that scrolls the page, -1 for none.
    starts : of each, how far it was scrolled before, and where it was in the window, see ``state``.

    Attributes
    ----------
    is_uneven : whether some animations were held meanwhile, while others went on.
    lacks : whether the page asked for anything meanwhile that no picture, video or frame of it waits for.
    """

    def __init__(self, boxes: Sequence[int], page: int, starts: Sequence[Sequence[float]]) -> None:
        self._boxes = {node: number for number, node in enumerate(boxes)}
        self._page = [page] if page >= 0 else []
        self._starts = np.array(starts, np.float64).reshape(-1, 6)[:, :2]
        self._starts[self._page] = 0  # places are in px of the page
        self._states: list[F64] = []
        self._missing: list[F64] = []
        self._pictures: list[str] = []
        self._kept: dict[int, NDArray[np.uint8]] = {}
        self._window, self._bytes = np.zeros(2), 0
        self._lines: dict[Line, F64] = {}
        self._twins: dict[Line, set[int]] = {}
        self._moves = True
        self.is_uneven = self.lacks = False

    def add(self, encoded: str, state: Sequence[Sequence[float]], missing: Sequence[Sequence[float]]) -> None:
        """Add a picture of the window, see ``state``."""
        self._pictures.append(encoded)
        self._bytes += 3 * len(encoded) // 4
        self._states.append(np.array(state, np.float64).reshape(-1, 6))
        self._missing.append(np.array(missing, np.float64).reshape(-1, 4))
        if not self._window.any():
            self._window = np.array(self._decoded(0).shape[1::-1], np.float64)

    def place(self, capture: PixelCapture, *, moves: bool) -> None:
        """Tell where the texts are: a capture with `STYLES`, and whether anything moves by itself, or may do so."""
        lines = dict(_lines_of(capture, self._boxes))
        self._lines, self._twins = {line: box[:2] for line, (box, _) in lines.items()}, _twins_of(lines)
        self._moves = moves

    @property
    def count(self) -> int:
        """How many pictures there are."""
        return len(self._pictures)

    @property
    def is_full(self) -> bool:
        """Whether there are as many pictures as there may be."""
        return len(self._pictures) >= _MOST_PICTURES or self._bytes >= _MOST_BYTES

    def shows(
        self, scene: Scene, parts: Ints, beyond: F64, clip: F64, pictures: "tuple[Image, Image]"
    ) -> Bools:
        """Return in which plain pictures some parts of texts looked like this (n, P).

        Parameters
        ----------
        beyond : see `Letters`, of these parts (n, 4).
        clip : a part of the page, in px of it.
        pictures : it without letters and with them.
        """
        ground, whole = map(np.asarray, pictures)
        place, _ = scene.in_view()
        edges = np.rint(place[parts] + beyond - np.tile(clip[:2], 2)).astype(np.intp)
        edges = np.clip(edges, 0, np.tile(whole.shape[1::-1], 2))
        sizes = edges[:, 2:] - edges[:, :2]
        within = edges[:, :2] + clip[:2] - scene.box[parts, :2] + scene.moved()[parts]
        corners = self._corners(scene, parts) + within[:, None]
        found = np.zeros((parts.size, len(self._pictures)), np.bool_)
        found[(sizes <= 0).any(axis=1)] = True
        for number in range(len(self._pictures)):
            inside = sizes.copy()
            if not self._moves and not self._page:  # if the page is locked, nobody sees more of these
                inside[:, 1] = np.clip(self._window[1] - np.nan_to_num(corners[:, number, 1]), 1, sizes[:, 1])
            due = np.flatnonzero(~found[:, number] & self._is_in_window(corners[:, number], inside))
            seen = self._decoded(number) if due.size else whole
            for one in due.tolist():
                x, y = np.rint(corners[one, number]).astype(int).tolist()
                wide, high = inside[one].tolist()
                left, top, right, _ = edges[one].tolist()
                own = np.s_[top : top + high, left:right]
                shown = whole[own], ground[own], seen[y : y + high, x : x + wide]
                letters, behind, now = (part.astype(np.int16) for part in shown)
                found[one, number] = _shows(letters, behind, now)
        return found

    def are_cut_off(self, scene: Scene, parts: Ints) -> Bools:
        """Return which parts of texts (n,) are below the window, where nothing of a locked page moves.

        Nobody can scroll to them, so no plain picture can show them.
        """
        if self._moves or not self._pictures:
            return np.zeros(parts.size, np.bool_)
        every, sizes = self._corners(scene, parts), scene.box[parts, 2:] - scene.box[parts, :2]
        is_any = np.isnan(every).any(axis=(1, 2))
        for number in range(len(self._pictures)):
            is_any |= self._is_in_window(every[:, number], sizes)
        corners = every[:, 0]
        with np.errstate(invalid="ignore"):
            begin = scene.ink_box[scene.line[parts], 1]
            is_below = corners[:, 1] + np.maximum(begin - scene.box[parts, 1], 0) >= self._window[1] - 1
            is_below &= (corners[:, 0] >= 0) & (corners[:, 0] + sizes[:, 0] <= self._window[0])
        return np.asarray(is_below & ~is_any)

    def have_twins(self, scene: Scene, seen: Bools) -> Bools:
        """Return which parts of texts (B,) lay on another text with the same words that is seen, too."""
        ids = {*scene.ids[scene.owner[seen]].tolist()}
        lines = [
            line for line, name in _names_of(scene).items() if not ids.isdisjoint(self._twins.get(name, ()))
        ]
        return np.isin(scene.line, lines)

    def _is_in_window(self, corners: F64, sizes: NDArray[Any]) -> Bools:
        """Return which boxes are in the window as a whole: their upper left corners (n, 2), and sizes (n, 2)."""
        begin = np.nan_to_num(np.rint(corners), nan=-1.0)
        return np.asarray(((begin >= 0) & (begin + sizes <= self._window)).all(axis=1))

    def _corners(self, scene: Scene, parts: Ints) -> F64:
        """Return where some parts begin in the window of each picture (n, P, 2), NaN if that is not known."""
        found = np.full((parts.size, len(self._pictures), 2), np.nan)
        names = _names_of(scene)
        states = np.array(self._states).reshape(len(self._pictures), len(self._boxes), 6)
        moved, ports = states[:, :, :2] - self._starts, states[:, :, 2:]
        has_moved = (moved != 0).any(axis=2)
        has_moved[:, self._page] = False
        late = [number for number, one in enumerate(self._missing) if one.size]
        is_fixed, by_page = scene.fixed_box >= 0, moved[:, self._page].sum(axis=1)
        for at, part in enumerate(parts.tolist()):
            line = int(scene.line[part])
            if (place := self._lines.get(names.get(line, _NOWHERE))) is None:
                continue
            scrollers = [scene.scrollers[number] for number in scene.chain(part)]
            numbers = [self._boxes.get(int(scene.ids[one.node]), -1) for one in scrollers]
            corners = place + scene.box[part, :2] - scene.told_box[line, :2] - by_page * (not is_fixed[part])
            for one, number in zip(scrollers, numbers, strict=True):
                if number >= 0:
                    corners = corners - scene.zoom[one.node] * moved[:, number] @ scene.maps[one.node].T
            # What only a script can scroll may be where no reader finds it, or what covers a text may be.
            is_free = [
                number for one, number in zip(scrollers, numbers, strict=True) if (one.at != one.start).any()
            ]
            size = scene.box[part, 2:] - scene.box[part, :2]
            boxes = np.concatenate((corners, corners + size), axis=1)
            is_wrong = has_moved & meet(boxes[:, None], ports)
            is_wrong[:, [number for number in is_free if number >= 0]] = False
            is_lost = is_wrong.any(axis=1)
            for number in late:
                is_lost[number] |= meet(self._missing[number], boxes[number]).any()
            found[at] = np.where(is_lost[:, None], np.nan, corners)
        return found

    def _decoded(self, number: int) -> NDArray[np.uint8]:
        """Return a picture (height, width, 3); neighbours are asked for one after another."""
        if number not in self._kept:
            self._kept[number] = np.asarray(picture_of(self._pictures[number]))
            while len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return self._kept[number]


def _names_of(scene: Scene) -> dict[int, Line]:
    """Return the lines of a scene, by their numbers."""
    known = np.flatnonzero(scene.line < len(scene.pieces))
    lines, first = np.unique(scene.line[known], return_index=True)
    ids = scene.ids[scene.owner[known[first]]].tolist()
    said = ((node, scene.pieces[line]) for node, line in zip(ids, lines.tolist(), strict=True))
    return dict(zip(lines.tolist(), _numbered(said), strict=True))


def _shows(letters: Pixels, behind: Pixels, seen: Pixels) -> bool:
    """Return whether a plain picture shows some letters as they are later.

    Parameters
    ----------
    letters, behind, seen : what is there with and without them, and what is seen (height, width, 3).
    """
    change = int(np.abs(letters - behind).max(initial=0))
    return change > _NOTHING and int(np.abs(letters - seen).max()) <= min(_NOTHING, _SHARE * change)


def _twins_of(lines: Mapping[Line, tuple[F64, int]]) -> dict[Line, set[int]]:
    """Return the ids of the other texts that lines lie on and share words with: one might show for another.

    Parameters
    ----------
    lines : of each its box (4,), and the number of the box that it scrolls in: what that cuts off lies on nothing.
    """
    found: dict[Line, set[int]] = {}
    names, edges, inner = (
        [*lines],
        [box.tolist() for box, _ in lines.values()],
        [one for _, one in lines.values()],
    )
    said = ["".join(one if one.isalnum() else " " for one in piece).casefold() for _, piece, _ in names]
    order = sorted(range(len(names)), key=lambda at: edges[at][1])
    for place, one in enumerate(order):
        x, y, right, bottom = edges[one]
        for other in order[place + 1 : place + 1 + _NEIGHBOURS]:
            begin, top, end, low = edges[other]
            if top >= bottom:
                break
            # Captures have lines of a text that goes on in another column in the first one.
            is_on = names[one][0] != names[other][0] and inner[one] == inner[other]
            is_on &= min(bottom, low) - top > _OVERLAP * min(bottom - y, low - top)
            if is_on and min(right, end) - max(x, begin) > 1 and _share_words(said[one], said[other]):
                found.setdefault(names[one], set()).add(names[other][0])
                found.setdefault(names[other], set()).add(names[one][0])
    return found


def _share_words(one: str, other: str) -> bool:
    """Return whether a line has words of another one, or some that have these in them."""
    return any(
        len(word) >= _FEWEST_SHARED and word in text
        for line, text in ((one, other), (other, one))
        for word in line.split()
    )


def _lines_of(capture: PixelCapture, boxes: Mapping[int, int]) -> Iterator[tuple[Line, tuple[F64, int]]]:
    """Yield the lines of texts that are not clear: each with its box in px of the page (4,), and where it scrolls.

    Parameters
    ----------
    boxes : the numbers of the boxes that scroll, by the browser's ids.
    """
    offsets, outer = {0: np.zeros(2)}, {0: (1.0, -1, False)}

    def styles_of(layout: PixelLayout, entry: int) -> list[str]:
        said = msgspec.json.decode(layout.styles[entry], type=list[int])
        return [capture.strings[at] for at in said] or [""] * len(STYLES)

    for number, document in enumerate(capture.documents):
        if number not in offsets:
            continue
        nodes, layout, text = document.nodes, document.layout, document.text_boxes
        boxed = {node: entry for entry, node in enumerate(layout.node_index)}
        inner = dict(zip(nodes.content_document_index.index, nodes.content_document_index.value, strict=True))
        # The opacity of each node, with that of all around it, the box that it scrolls in, and whether a background
        # that is cut to letters is around it.
        known: list[tuple[float, int, bool]] = []
        for node, (above, kind) in enumerate(zip(nodes.parent_index, nodes.node_type, strict=True)):
            clarity, box, is_cut = known[above] if above >= 0 else outer[number]
            box = boxes.get(nodes.backend_node_id[node], box)
            known.append((clarity, box, is_cut))
            if (entry := boxed.get(node)) is None or kind != Kind.ELEMENT:
                continue
            left, top, opacity, _, clip, *_ = styles_of(layout, entry)
            known[node] = outer_of = clarity * float(opacity or 1), box, is_cut or "text" in clip
            if (to := inner.get(node)) is not None:
                other = capture.documents[to]
                inset = np.array([px(left), px(top)]) + (layout.client_rects[entry] or [0.0, 0.0])[:2]
                scrolled = np.array([other.scroll_offset_x, other.scroll_offset_y])
                offsets[to] = offsets[number] + layout.bounds[entry][:2] + inset - scrolled
                outer[to] = outer_of
        strings = [capture.strings[at] if at >= 0 else "" for at in layout.text]
        values = [nodes.node_value[node] for node in layout.node_index]
        originals = [capture.strings[at] if at >= 0 else "" for at in values]
        pieces = pieces_of(strings, originals, text.layout_index, text.start, text.length)
        said = (
            (nodes.backend_node_id[layout.node_index[entry]], piece)
            for entry, (_, piece) in zip(text.layout_index, pieces, strict=True)
        )
        for line, entry, bounds in zip(_numbered(said), text.layout_index, text.bounds, strict=True):
            clarity, box, is_cut = known[layout.node_index[entry]]
            _, _, _, visibility, _, fill, shadow, stroke = styles_of(layout, entry)
            is_filled = alpha_of(fill) >= LEAST_OPACITY or is_cut or shadow != "none" or stroke != "0px"
            if clarity >= LEAST_OPACITY and is_filled and visibility in {"visible", ""}:
                yield line, (edges_of(np.array([bounds]))[0] + np.tile(offsets[number], 2), box)


def _numbered(said: Iterable[tuple[int, str]]) -> Iterator[Line]:
    """Yield lines of texts: the ids of their nodes and what they say, numbered where they say the same."""
    count = Counter[tuple[int, str]]()
    for node, piece in said:
        one = node, piece.strip()
        yield *one, count[one]
        count[one] += 1
