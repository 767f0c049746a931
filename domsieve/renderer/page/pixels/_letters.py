"""The letters of a page as they are if nothing hides them: drawn apart, in their own fonts and places."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any
from unicodedata import bidirectional

import numpy as np

from domsieve.renderer.page.pixels._cases import begins_in, in_case, units
from domsieve.renderer.page.pixels._crowds import LEAST_ROOM
from domsieve.renderer.page.pixels._parts import F64, OUTWARDS, Bools, Ints, language_of, px
from domsieve.renderer.page.pixels._scene import Scene
from domsieve.renderer.page.pixels._turns import turned_lines
from domsieve.snapshot.page import Kind

# What makes letters go to the left or to the right against the rules of their script.
_CONTROLS = {-1: "\u202e", 0: "", 1: "\u202d"}
INKS = 3
"""Letters are drawn in the three colours, so that those on top of each other can be told apart."""
# So many lines that begin above are looked at for this.
_NEIGHBOURS = 300
_FONT = (
    *("font-style", "font-weight", "font-family", "font-variant-caps"),
    *("font-stretch", "text-rendering", "font-kerning"),
)
# In lines that go down, the letters of Chinese, Japanese and Korean, and all that come after, stay upright.
_UPRIGHT = "\u1100"
# Where only its share of a line tells where a part is, one that is not seen says little alone: so many letters in a
# row must be unseen, more of them in lines that are tilted or curved. Guesses.
_FEWEST_UNSEEN, _FEWEST_IF_CURVED = 3, 9
# Letters that are less high than this (px), or on top of each other, cannot be read in lines of so many.
_LEAST_HEIGHT, _FEWEST_LETTERS = 2.5, 6
# More letters than these that stand side by side in a line that goes down are pressed together.
_MOST_BESIDE = 2
# Text boxes are no higher than the first, and no wider than the second for each letter, in sizes of these, unless a
# font or a space between letters makes them so to cover others.
_HIGHEST, _WIDEST = 2.0, 1.5
# Of the ink of a line, as an area. Measured: .9 and more on lines of 27 fonts, also of handwriting.
_LEAST_WITHIN = 0.7


class Letters:
    """The lines of a scene whose letters can be drawn apart: all but those along some paths.

    Parameters
    ----------
    scene : where the lines are.
    documents : the documents that can be asked to draw.
    glyphs : of texts along paths, each letter, and what turns and moves it (6,), in CSS px of the page. They are
        unsure if these are not those of their text boxes.

    Attributes
    ----------
    by_document : the lines that each document draws.
    lines : of each such line, what ``lines.js`` needs: its text, the number of its font, the space between letters
        and words, its direction, its language, its edges in CSS px of the page, what its transforms make of it (4,)
        or None, whether its letters are pressed into its box (``text-combine-upright``), where in the text its parts
        begin and end, whether its font is varied, whether it is in a drawing or in a ruby, how that is aligned, from
        which code point on its letters are upright in a line that goes down, None for none, and what turns a letter
        along a path and moves it from the left and the top of its box (6,), None for others.
    is_drawn : (B,), the parts of such lines.
    is_within : (B,), those of which most of the ink is in the text box, where letters are looked for, and that are
        not too low or too close to be read.
    ink : (B,), the ink that the line of each part was drawn with: lines on top of each other have different ones.
    """

    def __init__(
        self,
        scene: Scene,
        documents: Iterable[int],
        glyphs: Mapping[int, Sequence[tuple[str, Sequence[float]]]] = MappingProxyType({}),
    ) -> None:
        self._scene = scene
        self._fonts: dict[tuple[str | float, ...], int] = {}
        self.by_document: dict[int, list[int]] = {document: [] for document in documents}
        self.lines: dict[int, dict[str, Any]] = {}
        self._parts: dict[int, Ints] = {}
        places: dict[int, list[float]] = {}
        for node, said in glyphs.items():
            own = _placed(scene, node, said)
            scene.unsure[node] |= own is None
            places |= own or {}
        order = np.argsort(scene.line, kind="stable")
        lines, begin = np.unique(scene.line[order], return_index=True)
        for line, parts in zip(lines.tolist(), np.split(order, begin)[1:], strict=True):
            node = int(scene.owner[parts[0]])
            document = int(scene.document_of[node])
            if line >= len(scene.pieces) or document not in self.by_document:
                continue
            if not scene.is_plain[node] and line not in places:
                continue
            *font, direction = scene.style(node, *_FONT, "direction")
            between = scene.style(node, "letter-spacing", "word-spacing")
            text = scene.pieces[line].replace("\n", " ").replace("\t", " ")
            control = _CONTROLS[int(scene.against[parts[0]])]
            ends = [[units(control + text[:end]) for end in pair] for pair in scene.chars[parts].tolist()]
            self.lines[line] = {
                "number": line,
                "text": control + text,
                **self._styled(font, px(*scene.style(node, "font-size")), between, float(scene.zoom[node])),
                "direction": direction or "ltr",
                "language": language_of(*scene.style(node, "-webkit-locale")),
                "box": scene.line_box[line].tolist(),
                "map": None if scene.is_combined[node] else _turned(scene, node),
                "isCombined": bool(scene.is_combined[node]),
                "ends": ends,
                "isVaried": _is_varied(scene, node, text),
                "isDrawing": bool(scene.is_drawing[node]),
                "ruby": (ruby := scene.ruby_of(node)),
                "align": scene.style(node, "ruby-align")[0] if ruby else "",
                "upright": _upright(scene, node, text),
                "place": places.get(line),
                "isLined": bool(scene.is_lined[node] and not scene.in_own_font[node]),
                "stroke": px(*scene.style(node, "-webkit-text-stroke-width")) * float(scene.zoom[node]),
            }
            self.by_document[document].append(line)
            self._parts[line] = parts
        self.is_drawn = np.isin(scene.line, [*self.lines])
        self.is_within = np.ones_like(self.is_drawn)
        self.ink = np.zeros(scene.line.size, np.intp)
        self._cells = np.tile([np.inf, np.inf, -np.inf, -np.inf], (scene.line.size, 1))
        self._cut = dict[int, set[int]]()
        self._sizes = dict[int, float]()  # of lines, in px

    @property
    def fonts(self) -> list[tuple[str | float, ...]]:
        """The fonts: style and weight, size in px, family, capitals, width, how precise it is drawn, and kerning."""
        return [*self._fonts]

    def _styled(
        self, font: Sequence[str], size_px: float, between: Sequence[str], zoom: float = 1.0
    ) -> dict[str, Any]:
        """Return what a line has of a font, see `_FONT`, of its size, and of the space between letters and words.

        The sizes are multiplied by `zoom`.
        """
        style, weight, family, caps, *others = font
        named: tuple[str | float, ...] = (
            f"{style} {weight}",
            size_px * zoom,
            family,
            caps or "normal",
            *others,
        )
        letter, word = (max(px(value) * zoom, -1000.0) for value in between)
        number = self._fonts.setdefault(named, len(self._fonts))
        return {"font": number, "letterSpacing": letter, "wordSpacing": word}

    @property
    def is_cut(self) -> Bools:
        """Which parts (B,) have letters that no picture has shown in which others of them were."""
        return np.isin(np.arange(self.ink.size), [part for part, beyond in self._cut.items() if beyond])

    def cut(self, part: Ints, unit: Ints, is_beyond: Bools) -> None:
        """Note which letters (n,) a picture does not show: of each the part, and where it is in its line."""
        beyond = dict[int, set[int]]()
        for one, at, is_so in zip(part.tolist(), unit.tolist(), is_beyond.tolist(), strict=True):
            beyond.setdefault(one, set()).update([at] if is_so else [])
        self._cut |= {one: own & self._cut.get(one, own) for one, own in beyond.items()}

    @property
    def beyond(self) -> F64:
        """How far the letters of each part are beyond its box, in px, to its left, top, right and bottom (B, 4).

        It is 0 for those that were not compared one by one.
        """
        return np.concatenate((np.minimum(self._cells[:, :2], 0), np.maximum(self._cells[:, 2:], 0)), axis=1)

    @property
    def are_compared(self) -> Bools:
        """Which parts (B,) have letters that were compared one by one."""
        return np.asarray(np.isfinite(self._cells[:, 0]))

    def tight(self, place: F64) -> F64:
        """Return the boxes of parts (B, 4), or those of the letters of them that were compared."""
        return np.where(self.are_compared[:, None], place + self._cells, place)

    def are_in(self, lines: Sequence[Mapping[str, Any]]) -> Bools:
        """Return which parts (B,) are in some lines, see `in_clip`."""
        return np.isin(self._scene.line, [one["number"] for one in lines])

    def cut_to(self, lines: Sequence[Mapping[str, Any]], parts: Bools) -> list[dict[str, Any]]:
        """Return those of some lines, see `in_clip`, that have any of these parts (B,), with what they have of them.

        These are the places in the text at which the letters of the other parts begin and end.
        """
        found = []
        for one in lines:
            is_other = ~parts[self._parts[one["number"]]]
            if not is_other.all():
                others = [ends for ends, is_so in zip(one["ends"], is_other, strict=True) if is_so]
                found.append({**one, "left": others})
        return found

    def places(self, parts: Bools, around: float = 0.0) -> F64:
        """Return the boxes of some parts (n, 4) in px of the page, but for those that are larger than their letters.

        They have so much `around` them, in sizes.
        """
        place, _ = self._scene.in_view()
        found, sizes = place[parts], self._scene.drawn_px(np.flatnonzero(parts))
        along, across = _WIDEST * self._scene.letters[parts] + 1, np.full(sizes.size, _HIGHEST)
        is_level = self._scene.is_level[self._scene.owner[parts]]
        most = np.stack((np.where(is_level, along, across), np.where(is_level, across, along)), axis=1)
        is_tight = (found[:, 2:] - found[:, :2] <= most * sizes[:, None]).all(axis=1)
        return np.asarray((found + np.outer(around * sizes, OUTWARDS))[is_tight])

    def reach(self, part: Ints, boxes: F64) -> None:
        """Note which boxes (n, 4), in px of the page, the letters of some parts (n,) have."""
        place, _ = self._scene.in_view()
        apart = boxes - place[part]
        np.minimum.at(self._cells[:, :2], part, apart[:, :2])
        np.maximum.at(self._cells[:, 2:], part, apart[:, 2:])

    def texts(self, lines: Iterable[int]) -> dict[int, int]:
        """Return the text of each of some lines, but for generated ones."""
        owners = {line: int(self._scene.owner[self._parts[line][0]]) for line in lines}
        return {line: owner for line, owner in owners.items() if self._scene.kind[owner] == Kind.TEXT}

    def restyle(self, line: int, styles: Sequence[str]) -> dict[str, Any]:
        """Draw a line as the first one of a block: in its font, and with its size, spaces and case.

        Returns what the line was before.
        """
        before = self.lines[line]
        *font, size, letter, word, case = styles
        text = in_case(before["text"], case)
        zoom = float(self._scene.zoom[self._scene.owner[self._parts[line][0]]])
        places, ends = begins_in(before["text"], text), before["ends"]
        if places:
            ends = [[places[end] for end in pair] for pair in ends]
        styled = self._styled(font, px(size), (letter, word), zoom)
        self.lines[line] = {**before, **styled, "text": text, "ends": ends}
        return before

    @property
    def fewest_unseen(self) -> Ints:
        """How many letters in a row must be unseen where each part (B,) is, so that they count as that."""
        is_plain = self._scene.is_plain[self._scene.owner]
        return np.where(self.is_drawn, 0, np.where(is_plain, _FEWEST_UNSEEN, _FEWEST_IF_CURVED))

    def owners(self, parts: Bools | Ints) -> Ints:
        """Return the texts that some parts, (B,) or their numbers, are of."""
        return np.unique(self._scene.owner[parts])

    @cached_property
    def all_said(self) -> list[str]:
        """The text of each part (B,)."""
        return [*map(self.said, range(self._scene.line.size))]

    @cached_property
    def digits(self) -> Ints:
        """How many digits, or letters that flags are made of (Regional Indicator Symbols), each part (B,) has."""
        return np.array(
            [
                sum(one.isdecimal() or "\U0001f1e6" <= one <= "\U0001f1ff" for one in said)
                for said in self.all_said
            ],
            np.intp,
        )

    @cached_property
    def have_marks(self) -> Bools:
        """Which parts (B,) have letters with marks that are characters of their own."""
        return np.array(
            ["M" in {unicodedata.category(one)[0] for one in said} for said in self.all_said], np.bool_
        )

    def parts_of(self, lines: Iterable[int]) -> Iterator[int]:
        """Yield the parts of some lines."""
        for line in lines:
            yield from self._parts[line].tolist()

    def said(self, part: int) -> str:
        """Return the text of a part."""
        line = int(self._scene.line[part])
        if line >= len(self._scene.pieces):
            return ""
        return self._scene.pieces[line][slice(*self._scene.chars[part].tolist())]

    def by_size(self, document: int) -> dict[tuple[Any, ...], list[int]]:
        """Return the lines of a document by their font, as ``fonts.js`` takes it, in the size that is drawn."""
        found: dict[tuple[Any, ...], list[int]] = {}
        for line in self.by_document[document]:
            one = self.lines[line]
            style, size, *others = self.fonts[one["font"]]
            size = self._sizes.get(line, size)
            font = style, size, *others, one["letterSpacing"] != 0, one["language"]
            found.setdefault(font, []).append(line)
        return found

    def parts_at(self, lines: Sequence[Mapping[str, Any]], line: Ints, unit: Ints) -> Ints:
        """Return the part in which each of some letters (n,) is, -1 for none.

        Parameters
        ----------
        lines : some lines, see `in_clip`.
        line, unit : of each letter the number of its line among these, and where it is in that, in code units.
        """
        found = np.full(line.size, -1)
        for number, one in enumerate(lines):
            own = np.flatnonzero(line == number)
            for part, (begin, end) in zip(self._parts[one["number"]].tolist(), one["ends"], strict=True):
                found[own[(unit[own] >= begin) & (unit[own] < end)]] = part
        return found

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
            owners, curved = scene.owner[first], dict[int, int]()
            for line, owner, number in zip(lines.tolist(), owners.tolist(), _apart(ink), strict=True):
                one = curved.setdefault(owner, number) if scene.is_curved[owner] else number
                self.ink[self._parts[line]] = one
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
        measured : of each line the answer of ``measured`` in ``lines.js``; None for one that it cannot draw.
        """
        scene = self._scene
        for line, found in zip(self.by_document[document], measured, strict=True):
            parts = self._parts[line]
            if found is None:
                self.is_drawn[parts] = False
                continue
            scene.ink_box[line] = found["ink"]
            self._sizes[line] = found["size"]
            self.is_within[parts] = found["within"] >= _LEAST_WITHIN
            is_low = found["high"] is not None and found["high"] < _LEAST_HEIGHT
            is_pressed = self.lines[line]["isCombined"] and scene.letters[parts].sum() > _MOST_BESIDE
            if is_low or is_pressed or found["room"] < LEAST_ROOM:
                self.is_within[parts] = False
                if not is_pressed and scene.letters[parts].sum() >= _FEWEST_LETTERS:
                    scene.misshapen[scene.owner[parts]] = True
            if found["boxes"]:
                scene.box[parts] = found["boxes"]
            elif found["ends"] and (self.lines[line]["map"] or [1, 0, 0, 1])[1:3] == [0, 0]:
                left, _, right, _ = scene.line_box[line]
                ends = np.array(found["ends"], np.float64)
                if scene.box[parts[0], 0] > scene.box[parts[-1], 0]:  # read to the left
                    ends = 1 - ends[:, ::-1]
                scene.box[parts[:, None], [0, 2]] = left + (right - left) * ends


def _placed(
    scene: Scene, node: int, glyphs: Sequence[tuple[str, Sequence[float]]]
) -> dict[int, list[float]] | None:
    """Return what turns and moves the letter of each text box of a text along a path; None if that is not clear.

    Letters that are not drawn have no text box. Those of scripts that go to the left are left out: they have other
    forms beside each other.
    """
    found: dict[int, list[float]] = {}
    letters = np.array([said.casefold() for said, _ in glyphs], np.str_)
    matrices = np.array([matrix for _, matrix in glyphs], np.float64).reshape(-1, 6)
    begin = 0
    for line in np.unique(scene.line[scene.owner == node]).tolist():
        box, letter = scene.line_box[line], scene.pieces[line][:1]
        if bidirectional(letter or " ") in {"R", "AL"}:
            continue
        far = np.abs(matrices[:, 4:] - (box[:2] + box[2:]) / 2).max(axis=1)
        # Browsers have these boxes half a letter farther on.
        near = (letters == letter.casefold()) & (far <= (box[2:] - box[:2]).max() * 1.5)
        # Equal letters may be as near; both the boxes and the letters are in order.
        later = np.flatnonzero(near[begin:])
        if not later.size:
            return None
        at = begin + int(later[0])
        found[line] = [*matrices[at, :4].tolist(), *(matrices[at, 4:] - box[:2]).tolist()]
        begin = at + 1
    return found


def _is_varied(scene: Scene, node: int, line: str) -> bool:
    """Return whether a line of a text may be in a variation of its font, in another font, or have other digits."""
    styles = scene.style(node, "font-variation-settings", "font-stretch")
    has_others = bool(scene.has_other_digits[node]) and any(map(str.isdecimal, line))
    return scene.has_first_lines or has_others or styles != ["normal", "100%"]


def _turned(scene: Scene, node: int) -> list[float] | None:
    """Return how transforms and writing modes turn a text, as a canvas takes it; None if they do not."""
    lines = turned_lines(*scene.style(node, "writing-mode"))
    first, second, third, last = (scene.maps[node] @ lines).ravel().tolist()
    # Of what is deep, or in a drawing that may have other units than px, only the box tells the size.
    is_of_box = scene.is_deep[node] or scene.is_drawing[node]
    is_scaled = (second, third) == (0, 0) and first > 0 < last
    if (is_of_box and is_scaled) or (first, second, third, last) == (1, 0, 0, 1):
        return None
    return [first, third, second, last]


def _upright(scene: Scene, node: int, text: str) -> int | None:
    """Return from which code point on the letters of a text are upright in a line that goes down, None for none."""
    mode, orientation = scene.style(node, "writing-mode", "text-orientation")
    if scene.is_level[node] or mode.startswith("sideways") or orientation == "sideways":
        return None
    first = "\0" if orientation == "upright" else _UPRIGHT
    return ord(first) if max(text) >= first else None


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
