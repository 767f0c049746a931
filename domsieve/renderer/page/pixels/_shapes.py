"""How large the letters of an open page are now, and how transforms turn, mirror and flatten them."""

import msgspec
import numpy as np

from domsieve.renderer.page.pixels._parts import (
    F64,
    FEWEST_LETTERS,
    LINE_HEIGHT,
    Bools,
    Ints,
    is_upright,
    number,
    px,
)
from domsieve.renderer.page.pixels._places import Places
from domsieve.renderer.page.pixels._turns import TURNING, linear_maps, reading, tilted, too_flat
from domsieve.renderer.page.pixels.pixel_capture import PixelCapture
from domsieve.snapshot.page import Kind

SHAPING = (*TURNING, "font-size", "letter-spacing", "word-spacing", "zoom")
"""Properties that change the shape of letters, and how far they are apart."""
_Column = dict[str, list[str]]


class Shapes(Places):
    """The shapes of the letters of a page.

    Attributes
    ----------
    column, font_of : the distinct values of each property, and which of them each node has (N,): also the number of
        its font.
    is_drawing, is_curved : (N,), the nodes of drawings, and the texts with letters along a path.
    is_level : (N,), the nodes whose lines are written to the side, not down or up.
    is_deep : (N,), the nodes that may be nearer or farther than the page, so that they scroll at another pace.
    is_turned : (N,), the nodes whose lines may be neither level nor upright.
    zoom : (N,), how many times larger than its styles say each node is (``zoom``), 1 in drawings.
    maps : what transforms make of each node (N, 2, 2).
    is_plain : (N,), the texts whose letters are in lines as in their font.
    unread : (N,), the nodes with letters that are painted but cannot be read.
    absent : (N,), the nodes whose letters are invisible now, as far as styles say so.
    misshapen : (N,), the nodes whose letters are too small, too flat or too narrow now to be read.
    """

    column: _Column
    font_of: Ints
    is_drawing: Bools
    is_curved: Bools
    is_level: Bools
    is_deep: Bools
    letters: Ints
    unread: Bools
    absent: Bools
    _can_turn: Bools
    _keeps: Bools

    def styles_of(self, capture: PixelCapture, names: tuple[str, ...]) -> tuple[_Column, Ints]:
        """Return the distinct values of some computed properties, and which of them each node has (N,), -1 for none.

        Parameters
        ----------
        capture : a capture of the page.
        names : all of its computed properties.
        """
        strings, rows = capture.strings, dict[bytes, int]()
        row = np.full(self.kind.size, -1)
        for document, start in zip(capture.documents, self.starts, strict=False):
            layout = document.layout
            # Of several entries of a node, the first counts.
            for node, raw in zip(reversed(layout.node_index), reversed(layout.styles), strict=True):
                row[start + node] = rows.setdefault(bytes(raw), len(rows))
        table = [msgspec.json.decode(raw) or [-1] * len(names) for raw in rows]
        column = {
            name: [strings[values[number]] if values[number] >= 0 else "" for values in table] + [""]
            for number, name in enumerate(names)
        }
        return column, row

    def reshape(self, capture: PixelCapture, names: tuple[str, ...]) -> None:
        """Read the shapes of letters from a later capture with some computed properties, among them `SHAPING`.

        The scene must be placed and measured then.
        """
        self.shape(*self.styles_of(capture, names))

    def shape(self, column: _Column, row: Ints) -> None:
        """Read the shapes of letters from computed properties, see `styles_of`."""
        self._now = {name: column[name] for name in SHAPING}, row
        is_element = self.kind == Kind.ELEMENT
        self.zoom = np.where(is_element, np.array([number(value) for value in column["zoom"]])[row], 1.0)
        for level in self.levels[1:]:
            self.zoom[level] *= self.zoom[self.parent[level]]
        self.zoom[~self._in_px] = 1.0  # what makes px of their units has it
        self._css_px = np.array([px(value) for value in column["font-size"]])[row] * self.zoom
        turns = np.array([value not in {"none", ""} for value in column["rotate"]])
        self.is_turned = self.below((turns | ~np.array([*map(is_upright, column["transform"])]))[row])
        self.maps = linear_maps(column, row, self._can_turn, self._keeps, self.levels, self.parent)
        is_mapped = (self.maps != np.eye(2)).any(axis=(1, 2))
        self.misshapen = self._in_px & too_flat(self.maps, self._css_px, ~self.is_turned) & is_mapped
        self._font_px = self._css_px.copy()
        turns, near = np.array([*map(tilted, column["rotate"], column["transform"])])[row].T
        self.is_plain = ~(self.is_curved | (self.below(turns) & (self.is_deep | self.below(near))))
        self.reading = reading(self.maps, self.column, self.font_of)

    @property
    def _in_px(self) -> Bools:
        """The nodes whose sizes are in px; others are in units of their drawing (N,)."""
        return np.asarray(~self.is_drawing | (self.document_of != 0))

    @property
    def unreadable(self) -> Bools:
        """The nodes with letters that cannot be read, whatever the reason (N,)."""
        return np.asarray(self.unread | self.absent | self.misshapen)

    def put_map(self, node: int, matrix: F64) -> None:
        """Tell what makes px of the page (2, 2) of the units of a drawing that a text is in."""
        is_upright = matrix[0, 1] == matrix[1, 0] == 0 and (matrix.diagonal() > 0).all()
        self.is_turned[node] = not is_upright
        # How large upright lines are, their boxes tell.
        self.maps[node] = np.eye(2) if is_upright and self.is_level[node] else matrix
        flat = too_flat(matrix[None], self._css_px[[node]], ~self.is_turned[[node]])
        self.misshapen[node] |= bool(flat[0])
        self._font_px[node] = self._css_px[node] * np.sqrt(abs(np.linalg.det(matrix)))

    def map_in_drawing(self, node: int) -> F64:
        """Return what transforms make of HTML in a drawing (2, 2), without those of the drawing and around it."""
        one = node
        while one >= 0 and self.names[one] != "foreignobject":
            one = int(self.parent[one])
        outer = self.maps[one] if one >= 0 else np.eye(2)
        return np.asarray(np.linalg.pinv(outer) @ self.maps[node])

    def font_px(self, parts: Ints) -> F64:
        """Return the size of the letters of each of some parts, in px."""
        return np.asarray(self._font_px[self.owner[parts]])

    def letter_px(self, parts: Ints) -> F64:
        """Return the same after transforms, by their font or their box, whichever says less."""
        return np.minimum(self._scaled_px(parts), self._boxed_px(parts))

    def drawn_px(self, parts: Ints) -> F64:
        """Return the same by their font, whatever box that says; only boxes tell of depth."""
        scaled = self._scaled_px(parts)
        return np.where(np.isinf(scaled), self._boxed_px(parts), scaled)

    def _scaled_px(self, parts: Ints) -> F64:
        owner = self.owner[parts]
        scaled = self._font_px[owner] * np.sqrt(np.abs(np.linalg.det(self.maps[owner])))
        return np.where(self.is_deep[owner], np.inf, scaled)

    def _boxed_px(self, parts: Ints) -> F64:
        wide, high = (self.box[parts, 2:] - self.box[parts, :2]).T
        is_level = (wide >= high) | (self.letters[parts] < FEWEST_LETTERS)
        return np.asarray(np.where(is_level, high, wide) / LINE_HEIGHT)

    def style(self, node: int, *names: str) -> list[str]:
        """Return computed properties of a node."""
        now, row = self._now
        return [
            now[name][row[node]] if name in now else self.column[name][self.font_of[node]] for name in names
        ]
