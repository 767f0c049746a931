"""The letters of a page as they are if nothing hides them: drawn apart, in their own fonts and places.

What a picture of the page shows of a text must look like its letters, or nobody reads it there: strips of them, dots,
and what other texts or filters draw in their place are no letters.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from domsieve.renderer.page._pixel_parts import F64, Bools, Ints, px
from domsieve.renderer.page._pixel_scene import Scene
from domsieve.renderer.page._pixel_turns import turned_lines

# Letters are at most so many pixels from where they should be: the boxes of buttons are a little off. Around a part
# is a margin, for the box of a narrow letter may have no ground.
_FARTHEST, _MARGIN = (3, 2), 1
# What makes letters go to the left or to the right against the rules of their script.
_CONTROLS = {-1: "\u202e", 0: "", 1: "\u202d"}
INKS = 3
"""Letters are drawn in the three colours, so that those on top of each other can be told apart."""
# So many lines that begin above are looked at for this.
_NEIGHBOURS = 300
# Large letters are compared in fewer pixels, of at least so many rows.
_MOST_ROWS = 40
_FONT = ("font-style", "font-weight", "font-family", "font-variant-caps", "font-stretch", "text-rendering")
# In lines that go down, the letters of Chinese, Japanese and Korean, and all that come after, stay upright.
_UPRIGHT = "\u1100"
# A pixel with less ink than this, of 255, is none.
_LEAST_INK = 6
# Correlation of what differs with the letters. Measured on 84,000 parts of 60 pages: .95 and more for nearly all,
# below .5 for 2 of 10,000, most of them under other texts; .2 to .48 for letters in strips, dots and bands.
_LEAST_LIKENESS = 0.5
# If half of the parts of a text are below the first limit, those below the second do not look like their letters.
_LEAST_OF_TEXT, _LEAST_IF_STRANGE = 0.55, 0.8
# Letters in outlines are seen by these, or by their filling. Measured: .68 and more for those that can be read, up to
# .63 for those under 8 shadows.
_LEAST_OF_OUTLINE = 0.65
# Letters that need so much less room than in their font are on top of each other, and letters that are less high than
# this (px) too small; in lines of so many.
_MOST_SQUEEZED, _LEAST_HEIGHT, _FEWEST_LETTERS = 0.6, 2.5, 6


class Letters:
    """The lines of a scene whose letters can be drawn apart: all but those along paths.

    Parameters
    ----------
    scene : where the lines are.
    documents : the documents that can be asked to draw.

    Attributes
    ----------
    fonts : the style and weight of each font, its size in px, its family, its kind of capitals, its width and
        how precise it is drawn.
    by_document : the lines that each document draws.
    lines : of each such line, what ``pixels.js`` needs: its text, the number of its font, the space between letters
        and words, its direction, its edges in CSS px of the page, what its transforms make of it (4,) or None, and
        where in the text its parts begin and end, whether its font is varied, and from which code point on its
        letters are upright in a line that goes down, None for none.
    is_drawn : (B,), the parts of such lines.
    ink : (B,), the ink that the line of each part was drawn with: lines on top of each other have different ones.
    """

    def __init__(self, scene: Scene, documents: Iterable[int]) -> None:
        self._scene = scene
        self.fonts: list[tuple[str | float, ...]] = []
        self.by_document: dict[int, list[int]] = {document: [] for document in documents}
        self.lines: dict[int, dict[str, Any]] = {}
        self._parts: dict[int, Ints] = {}
        font: tuple[str | float, ...]
        fonts: dict[tuple[str | float, ...], int] = {}
        order = np.argsort(scene.line, kind="stable")
        lines, begin = np.unique(scene.line[order], return_index=True)
        for line, parts in zip(lines.tolist(), np.split(order, begin)[1:], strict=True):
            node = int(scene.owner[parts[0]])
            document = int(scene.document_of[node])
            if line >= len(scene.pieces) or document not in self.by_document or not scene.is_plain[node]:
                continue
            style, weight, family, caps, *others, direction = scene.style(node, *_FONT, "direction")
            size = float(scene.font_px(parts[:1])[0])
            font = (f"{style} {weight}", size, family, caps or "normal", *others)
            number = fonts.setdefault(font, len(fonts))
            between = [
                max(px(value), -1000.0) for value in scene.style(node, "letter-spacing", "word-spacing")
            ]
            text = scene.pieces[line].replace("\n", " ").replace("\t", " ")
            control = _CONTROLS[int(scene.against[parts[0]])]
            ends = [[_units(control + text[:end]) for end in pair] for pair in scene.chars[parts].tolist()]
            self.lines[line] = {
                "text": control + text,
                "font": number,
                "letterSpacing": between[0],
                "wordSpacing": between[1],
                "direction": direction or "ltr",
                "box": scene.line_box[line].tolist(),
                "map": _turned(scene, node),
                "ends": ends,
                "isVaried": _is_varied(scene, node),
                "upright": _upright(scene, node, text),
            }
            self.by_document[document].append(line)
            self._parts[line] = parts
        self.fonts = [*fonts]
        self.is_drawn = np.isin(scene.line, [*self.lines])
        self.ink = np.zeros(scene.line.size, np.intp)

    def owners(self, parts: Bools) -> Ints:
        """Return the texts that some parts (B,) are of."""
        return np.unique(self._scene.owner[parts])

    def in_clip(
        self, clip: F64, owners: Ints | None = None, *, keep_inks: bool = False
    ) -> dict[int, list[dict[str, Any]]]:
        """Return what each document draws in a part of the page; with `owners`, only the lines of these texts.

        It is as in `lines`, but for the place, and with the number of an ink.
        """
        scene = self._scene
        _, first = np.unique(scene.line, return_index=True)
        first = first[self.is_drawn[first]]
        if owners is not None:
            first = first[np.isin(scene.owner[first], owners)]
        lines = scene.line[first]
        boxes = scene.line_box[lines] - np.tile(scene.moved()[first], 2)
        inside = (boxes[:, :2] < clip[2:]).all(axis=1) & (boxes[:, 2:] > clip[:2]).all(axis=1)
        lines, first = lines[inside], first[inside]
        if not keep_inks:
            ink = scene.ink_box[lines] - np.tile(scene.moved()[first], 2)
            for line, number in zip(lines.tolist(), _apart(ink), strict=True):
                self.ink[self._parts[line]] = number
        inks = dict(zip(lines.tolist(), self.ink[first].tolist(), strict=True))
        boxes = boxes[inside] - np.tile(clip[:2], 2)
        places = dict(zip(lines.tolist(), boxes.tolist(), strict=True))
        return {
            document: [
                {**self.lines[line], "box": places[line], "ink": inks[line]} for line in own if line in places
            ]
            for document, own in self.by_document.items()
            if not places.keys().isdisjoint(own)
        }

    def place(self, document: int, measured: Sequence[Mapping[str, Any] | None]) -> None:
        """Tell the scene where the parts and the ink of the lines of a document are.

        Parameters
        ----------
        document : its number.
        measured : of each line the answer of ``measured`` in ``pixels.js``; None for one that it cannot draw.
        """
        scene = self._scene
        for line, found in zip(self.by_document[document], measured, strict=True):
            parts = self._parts[line]
            if found is None:
                self.is_drawn[parts] = False
                continue
            scene.ink_box[line] = found["ink"]
            is_low = found["high"] is not None and found["high"] < _LEAST_HEIGHT
            if scene.letters[parts].sum() >= _FEWEST_LETTERS and (is_low or found["room"] < _MOST_SQUEEZED):
                scene.unread[scene.owner[parts]] = True
            if found["boxes"]:
                scene.box[parts] = found["boxes"]
            elif parts.size > 1 and (self.lines[line]["map"] or [1, 0, 0, 1])[1:3] == [0, 0]:
                left, _, right, _ = scene.line_box[line]
                ends = np.array(found["ends"], np.float64)
                if scene.box[parts[0], 0] > scene.box[parts[-1], 0]:  # read to the left
                    ends = 1 - ends[:, ::-1]
                scene.box[parts[:, None], [0, 2]] = left + (right - left) * ends


def _is_varied(scene: Scene, node: int) -> bool:
    """Return whether a text may be in a variation of its font, or in another font."""
    styles = scene.style(node, "font-variation-settings", "font-stretch")
    return scene.has_first_lines or styles != ["normal", "100%"]


def _turned(scene: Scene, node: int) -> list[float] | None:
    """Return how transforms and writing modes turn a text, as a canvas takes it; None if they do not."""
    lines = turned_lines(*scene.style(node, "writing-mode"))
    first, second, third, last = (scene.maps[node] @ lines).ravel().tolist()
    if (first, second, third, last) == (1, 0, 0, 1):
        return None
    return [first, third, second, last]


def _upright(scene: Scene, node: int, text: str) -> int | None:
    """Return from which code point on the letters of a text are upright in a line that goes down, None for none."""
    mode, orientation = scene.style(node, "writing-mode", "text-orientation")
    if scene.is_level[node] or mode.startswith("sideways") or orientation == "sideways":
        return None
    first = "\0" if orientation == "upright" else _UPRIGHT
    return ord(first) if max(text) >= first else None


def _units(text: str) -> int:
    """Return the length of a text in code units of UTF-16, which browsers count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _apart(boxes: F64) -> list[int]:
    """Return an ink for each of some boxes (n, 4); neighbours that overlap have different ones if they can."""
    inks = np.zeros(len(boxes), np.intp)
    order = np.argsort(boxes[:, 1], kind="stable")
    sorted_ = boxes[order]
    for number, one in enumerate(sorted_):
        begin = max(number - _NEIGHBOURS, 0)
        before = sorted_[begin:number]
        meets = ((before[:, :2] < one[2:]) & (before[:, 2:] > one[:2])).all(axis=1)
        taken = np.bincount(inks[order[begin:number]][meets], minlength=INKS)
        inks[order[number]] = int(taken.argmin())
    return inks.tolist()


class Comparison:
    """How much what differs in a picture looks like the letters of some parts.

    Parameters
    ----------
    levels : how much each pixel of the picture differs without letters (height, width).
    drawn : the letters in each ink, in the same places (height, width, INKS).
    scene, inks, edges : the scene, and the ink of each of its parts (B,), and their left, top, right and bottom in
        pixels (B, 4).
    parts : the numbers of some.
    origin : if `levels` are only a part of the picture, the place of its first pixel, to the right and down (2,).

    Attributes
    ----------
    levels, origin : as given.
    edges : (B, 4), where the parts are in `levels`.
    most : (B,), how many pixels may count as changed.
    """

    def __init__(
        self,
        levels: NDArray[np.uint8],
        drawn: NDArray[np.uint8],
        scene: Scene,
        inks: Ints,
        edges: Ints,
        parts: Ints,
        origin: Ints | None = None,
    ) -> None:
        self.levels, self._drawn, self._parts = levels, [drawn], parts
        self.origin = np.zeros(2, np.intp) if origin is None else origin
        self.edges = np.clip(edges - np.tile(self.origin, 2), 0, np.tile(levels.shape[::-1], 2))
        self.most = np.full(len(edges), np.inf)
        self._inks, self._text = inks[parts], scene.owner[parts]
        self._is_level, self._outlined = scene.is_level[self._text], scene.outlined[self._text]
        self._likeness = np.zeros(parts.size)
        self._see(drawn)

    @property
    def low(self) -> Bools:
        """The parts (B,) that do not quite look like their letters, of texts of which some do not at all."""
        return self._all(self._is_low())

    @property
    def doubtful(self) -> Bools:
        """Those of them that have shadows or strokes: a picture without the filling of the letters must tell."""
        return self._all(self._is_low() & self._outlined)

    def draw(self, drawn: NDArray[np.uint8]) -> None:
        """Compare what is still low with letters that were drawn in another way."""
        self._drawn.append(drawn)
        self._see(drawn)

    def fill(self, levels: NDArray[np.uint8], count: F64) -> None:
        """Compare the doubtful parts with what differs without the filling of letters.

        Parameters
        ----------
        levels : how much each pixel differs then (height, width).
        count : how many of each part do (B,).
        """
        doubtful = self._is_low() & self._outlined
        for drawn in self._drawn:
            found = self._with_letters(levels, drawn, doubtful)
            wins = (found > self._likeness) & (found >= _LEAST_OF_OUTLINE)
            self._likeness[wins] = found[wins]
            self.most[self._parts[wins]] = count[self._parts[wins]]

    def unlike(self) -> Bools:
        """Return which parts (B,) do not look like their letters."""
        return self._all(self._is_unlike())

    def _is_low(self) -> Bools:
        texts = self._text[self._is_unlike()]
        return (self._likeness < _LEAST_IF_STRANGE) & np.isin(self._text, texts)

    def _is_unlike(self) -> Bools:
        text = np.unique(self._text, return_inverse=True)[1]
        order = np.lexsort((self._likeness, text))
        count = np.bincount(text)
        middle = self._likeness[order][np.cumsum(count) - count + count // 2]
        is_strange = middle < _LEAST_OF_TEXT
        return np.asarray(self._likeness < np.where(is_strange, _LEAST_IF_STRANGE, _LEAST_LIKENESS)[text])

    def _see(self, drawn: NDArray[np.uint8]) -> None:
        """Compare what is low with letters and their edges."""
        found = self._with_letters(self.levels, drawn, self._is_low())
        self._likeness = np.maximum(self._likeness, found)
        doubtful = self._is_low() & self._outlined
        if doubtful.any():
            edges = self._with_letters(self.levels, _edges_of(drawn), doubtful)
            is_outline = edges >= _LEAST_OF_OUTLINE
            self._likeness[is_outline] = np.maximum(self._likeness, edges)[is_outline]

    def _with_letters(self, levels: NDArray[np.uint8], drawn: NDArray[np.uint8], chosen: Bools) -> F64:
        """Return the likeness of each part with its letters; 0 for those that are not chosen."""
        found = np.zeros(self._parts.size)
        for ink in range(INKS):
            at = np.flatnonzero(chosen & (self._inks == ink))
            if at.size:
                own, others = drawn[..., ink], np.delete(drawn, ink, axis=2).max(axis=2)
                edges = self.edges[self._parts[at]]
                found[at] = _likenesses(levels, own, others, edges, self._is_level[at])
        return found

    def _all(self, chosen: Bools) -> Bools:
        """Return which parts of the scene (B,) some of those compared are."""
        found = np.zeros(len(self.edges), np.bool_)
        found[self._parts[chosen]] = True
        return found


def _edges_of(drawn: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the edges of letters, in all inks."""
    from PIL import Image, ImageChops  # loaded on use: only this mode needs it

    letters = Image.fromarray(drawn)
    return np.asarray(ImageChops.multiply(letters, ImageChops.invert(letters)))


def _likenesses(
    levels: NDArray[np.uint8],
    drawn: NDArray[np.uint8],
    others: NDArray[np.uint8],
    edges: Ints,
    is_level: Bools,
) -> F64:
    """Return the likeness of what differs in each of some boxes (n, 4) with the letters in it, apart from others.

    Lines that are not level go down or up.
    """
    down, aside = _FARTHEST
    begin = np.maximum(edges[:, :2] - _MARGIN, 0)
    end = np.minimum(edges[:, 2:] + _MARGIN, levels.shape[::-1])
    found = np.zeros(len(edges))
    boxes = zip(begin.tolist(), end.tolist(), is_level.tolist(), strict=True)
    for at, ((x, y), (x_end, y_end), level) in enumerate(boxes):
        step = max(min(y_end - y, x_end - x) // _MOST_ROWS, 1)
        inside = np.s_[y:y_end:step, x:x_end:step]
        own, other = (np.pad(ink[inside], ((down, down), (aside, aside))) for ink in (drawn, others))
        pictures = levels[inside], own, other
        found[at] = _likeness(*pictures) if level else _likeness(*(one.T for one in pictures))
    return found


def _likeness(levels: NDArray[np.uint8], drawn: NDArray[np.uint8], others: NDArray[np.uint8]) -> float:
    """Return the largest correlation of what differs with drawn letters, of all places that these may have.

    It is computed once more without the pixels where other letters are, for these may be seen or not.
    """
    shown = levels.astype(np.float32)
    windows = sliding_window_view(drawn, shown.shape).astype(np.float32)
    free = np.ones((1, 1, *shown.shape), np.float32)
    best = _correlation(windows, shown, free)
    if others.any():
        free = (sliding_window_view(others, shown.shape) <= _LEAST_INK).astype(np.float32)
        best = max(best, _correlation(windows * free, shown, free))
    return best


def _correlation(
    windows: NDArray[np.float32], shown: NDArray[np.float32], free: NDArray[np.float32]
) -> float:
    """Return the largest correlation of a picture (h, w) with any of others (.., .., h, w), where these are free.

    Each row has its own mean: lines and bars along the letters say nothing about these, but cover them.
    """
    count = np.maximum(free.sum(axis=3), 1)
    there = np.einsum("ijkl,kl->ijk", free, shown)
    total = windows.sum(axis=3)
    power = np.einsum("ijkl,kl->ij", free, np.square(shown)) - (there**2 / count).sum(axis=2)
    cross = np.einsum("ijkl,kl->ij", windows, shown) - (total * there / count).sum(axis=2)
    spread = np.einsum("ijkl,ijkl->ij", windows, windows) - (total**2 / count).sum(axis=2)
    size = np.sqrt(np.maximum(spread, 0) * np.maximum(power, 0))
    return float(np.abs(np.divide(cross, size, out=np.zeros_like(cross), where=size > 1)).max())
