"""The texts of an open page and where they are: what `domsieve.renderer.page.pixels.look` pictures and counts."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from domsieve.renderer.page.pixels._cases import letter_sources, letters_before, pieces_of
from domsieve.renderer.page.pixels._filters import Filters
from domsieve.renderer.page.pixels._parts import (
    F64,
    FAR_SHADOW,
    LINE_HEIGHT,
    MOST_ENLARGED,
    STROKE_SHADOW,
    Bools,
    Ints,
    Scroller,
    drawn_px,
    drawn_scale,
    edges_of,
    frame_place,
    has_other_digits,
    is_sign,
    parts_of,
    px,
    rgb,
    shadow_px,
    sharp_shadow,
    squeezed,
)
from domsieve.renderer.page.pixels._patterns import may_move, painted_by_script
from domsieve.renderer.page.pixels._places import same_parts
from domsieve.renderer.page.pixels._reading import clear, unread
from domsieve.renderer.page.pixels._shapes import SHAPING, Shapes
from domsieve.renderer.page.pixels._tree import nodes_of
from domsieve.renderer.page.pixels._turns import overrides
from domsieve.renderer.page.pixels.pixel_capture import PixelCapture, PixelDocument
from domsieve.snapshot.heads import moved_heads
from domsieve.snapshot.page import Kind
from domsieve.snapshot.pixels import LEAST_SLOT

_NOT_SCROLLING = frozenset({"no", "off", "noscroll"})  # of the attribute of a frame
# Bounds of the work on one page: fixed boxes with texts, and boxes that scroll.
_MOST_FIXED, _MOST_SCROLLERS = 40, 300
# More letters than these that are combined to one cannot be read; operators of formulas have at most so many signs.
_MOST_COMBINED, _MOST_SIGNS = 4, 2
# Boxes that are smaller have no size.
_LEAST_PX = 0.01
SHOWING = ("opacity", "visibility")
"""Properties that make text invisible without a doubt."""
LOOKING = (*SHOWING, *SHAPING)
"""Properties of the text that may be others at another moment."""
# What these draw is no text of the page, but has its shadows.
_WITH_OWN_TEXT = ("details", "input", "textarea", "select", "img", "object", "video", "audio", "meter")
_SVG_TEXT = frozenset({"text", "tspan", "textpath"})
# The pixels of a letter, in parts of the square of its size, are about .035 + .55 px / size in a picture of half the
# size: measured on black letters on white in three fonts and ten sizes. Ordinary words are within a third of it.
_INK, _INK_OF_EDGES = 0.035, 0.55
# Nothing makes the markers of lists transparent, so the longer ones are unsure: numbers of lines are shorter.
_LONGEST_MARKER = 12

# What is known of each part of a text, see `Scene`.
_OF_PARTS = ("owner", "line", "box", "first", "letters", "chars", "against", "is_sign", "ink", "misread")


class Scene(Shapes):
    """The texts of a page and what is around them.

    Parameters
    ----------
    capture : the capture of the page.
    names : its computed properties.

    Attributes
    ----------
    unsure : (N,), the nodes that pictures cannot judge.
    outlined : (N,), the texts that may show by what is around their letters.
    smeared : (N,), the nodes that may be blurred, so that pictures must tell whether they can be read.
    inks : the colours of the letters, by the number of their font: red, green and blue of 255, NaN for others (n, 3).
    fonts : the fonts, as a canvas takes them.
    cut : the elements with backgrounds that are cut to letters.
    is_boxed : (N,), the nodes that captures have a box of.
    alone : (N,), the texts that can be made transparent apart from all others.
    shaded : (N,), the texts whose letters no highlight makes transparent: with shadows, and in SVG.
    is_drawn_again, has_strokes, is_lined : (N,), the nodes with a reflection or a sharp shadow elsewhere, with one
        beside letters, and with lines, such as underlines.
    reach_px : (N,), how far the shadows and blurs of texts are seen outside of their boxes.
    painted : the nodes of which a script paints the background or the like.
    attached : the nodes of the page with a background that stays in the window.
    fixed : the fixed elements of the page; after `keep_fixed` those that are pictured apart from it.
    sticky, floating : the sticky elements, and the pseudo-elements of the page that are fixed or sticky.
    bounds : left, top, right and bottom of the box of each node in CSS px of the page (N, 4), NaN if it has none.
    fixed_of : (N,), the fixed box around a node, -1 for none.
    place_of : where each document begins on the page, and how large it is drawn (2,); see `frame_place`.
    is_cut_at_side : whether readers cannot scroll the page to the side.
    on_top : the fixed elements that are on top of all else, such as modal dialogs.
    shows, has_letters : (N,), the nodes with a box that is not invisible, and the texts with letters that have one.
    had_letters : (N,), those that had one at first.
    scrolls : (N,), the nodes in boxes that scroll.
    owner, line, first, letters : of each part of a text (B,) its node, its text box, the number of its first letter
        in the text, and how many letters it has.
    pieces, line_box, ink_box, told_box : of each text box its text, edges, those of its ink, and as told (L, 4).
    chars, against : where in the text of its text box each part begins and ends (B, 2), and whether its letters go
        to the left (-1) or to the right (1) against the rules of their script (B,).
    is_displaced : (N,), the nodes whose lines captures have elsewhere: vertical ones, in columns, buttons, drawings.
    is_combined : (N,), the nodes whose letters stand side by side in a line that goes down.
    has_other_digits : (N,), the nodes whose styles choose other digits of their font.
    misread : (B,), the parts of texts for which a font of the page draws other letters.
    has_drawn_backdrops : whether filters may draw what is behind them in another place.
    in_own_font : (N,), the texts that may be in fonts of the page.
    letters_of : (N,), how many letters each text has.
    sources : which letters of a text those on the page come from, where a style changes them; see `letter_sources`.
    ink : how many pixels of a picture would differ if the letters of each part were black on white (B,).
    has_first_lines : whether style sheets may give first lines another font.
    moving : (M, 4), where what may move by itself is, in CSS px of the page.
    """

    def __init__(self, capture: PixelCapture, names: Sequence[str]) -> None:
        super().__init__(capture)
        self._is_marker = np.array([name == "::marker" for name in self.names])
        self._read_styles(names)
        self.misread, self.in_own_font = np.zeros(0, np.bool_), np.zeros(self.ids.size, np.bool_)
        self.place(capture)
        self.had_letters = self.has_letters

    def _read_styles(self, names: Sequence[str]) -> None:
        strings = self.capture.strings
        column, row = self.styles_of(self.capture, tuple(names))

        def has(name: str, *values: str) -> Bools:
            return np.asarray(np.array([value in values for value in column[name]])[row])

        self.is_boxed = row >= 0
        self._axes = np.stack([has(f"overflow-{axis}", "auto", "scroll") for axis in "xy"], axis=1)
        self._cuts_across = has("overflow-x", "hidden")
        self._heads, self._cells = (
            np.flatnonzero(np.isin(self.names, [tag]) & self.is_boxed) for tag in ("th", "td")
        )
        on_page = self.document_of == 0
        is_element = (self.kind == Kind.ELEMENT) & ~self.is_generated
        is_fixed, is_sticky = has("position", "fixed") & on_page, has("position", "sticky")
        self.fixed = np.flatnonzero(is_fixed & is_element)
        self.fixed_of = np.full(row.size, -1)
        self.sticky = np.flatnonzero(is_sticky & is_element)
        is_clear = clear(column, row) & (self.kind == Kind.ELEMENT)
        self.shows = has("visibility", "visible") & ~is_clear & ~self.below(is_clear)
        self.floating = np.flatnonzero((is_fixed | (is_sticky & on_page)) & self.is_generated)
        self.painted = np.flatnonzero(painted_by_script(column, row))
        attached = np.array(["fixed" in value for value in column["background-attachment"]])[row]
        attached &= ~has("background-image", "none", "")
        self.attached = np.flatnonzero(attached & on_page & self.shows)
        # If the root has an overflow of its own, that of the body is not the window's.
        is_open = has("overflow-x", "visible", "") & has("overflow-y", "visible", "")
        self._own_window = np.zeros(len(self.capture.documents), np.bool_)
        self._free = np.ones((len(self.capture.documents), 2), np.bool_)
        for name in ("body", "html"):
            for node in np.flatnonzero(
                np.array([one == name for one in self.names]) & self.is_boxed
            ).tolist():
                number = int(self.document_of[node])
                if name == "html":
                    self._own_window[number] = not is_open[node]
                if name == "body" or not is_open[node]:
                    self._free[number] = [
                        column[f"overflow-{axis}"][row[node]] in {"visible", "auto", "scroll"}
                        for axis in "xy"
                    ]
        self.is_cut_at_side, self.window_wide = not self._free[0, 0], np.inf
        self.on_top: frozenset[int] = frozenset()
        is_cut = np.array(["text" in value for value in column["background-clip"]])[row] & is_element
        self.cut = np.flatnonzero(is_cut)
        self.unsure = self.is_cdata.copy()
        self.shaded = ~has("text-shadow", "none", "")
        self.shaded |= self.below(np.isin([name.rpartition(":")[2] for name in self.names], [*_SVG_TEXT]))
        self.alone = ~self.below(is_cut) & ~self.is_generated
        self.reach_px = np.array([shadow_px(value) for value in column["text-shadow"]])[row]
        far = np.array([*map(drawn_px, column["filter"], column["-webkit-box-reflect"])])[row]
        for level in self.levels[1:]:
            far[level] += far[self.parent[level]]
        self.reach_px += far
        looks = (column[name] for name in ("text-shadow", "filter", "-webkit-box-reflect"))
        again = np.array([*map(sharp_shadow, *looks, map(px, column["font-size"]))])[row]
        self.is_drawn_again = self.below(again > FAR_SHADOW)
        self.has_strokes = self.below((again > STROKE_SHADOW) & (again < np.inf))
        self._shades = (self.shaded | (far > 0)) & (self._is_marker | np.isin(self.names, _WITH_OWN_TEXT))
        is_drawing = np.array([one == "svg" for one in self.names])
        self.is_drawing = self.below(is_drawing)
        variants = zip(column["font-variant-numeric"], column["font-feature-settings"], strict=True)
        self.has_other_digits = np.array([has_other_digits(*one) for one in variants])[row]
        is_text = self.kind == Kind.TEXT
        self.absent = np.zeros(self.kind.size, np.bool_)
        self.unread = unread(column, row, self.levels, self.parent, is_drawing, is_text)
        effects, backdrops = column["filter"], "".join(column["backdrop-filter"])
        if "url(" in "".join(effects):
            filters = Filters(self.capture.documents, strings, self.names)
            self.unsure |= self.below(np.array([*map(filters.is_unclear, effects)])[row])
            apart_px = np.array([*map(filters.distance_px, effects)])[row]
            for level in self.levels[1:]:
                apart_px[level] = np.maximum(apart_px[level], apart_px[self.parent[level]])
            self.is_drawn_again |= apart_px > FAR_SHADOW * np.array([*map(px, column["font-size"])])[row]
        self.smeared = self.below(np.array(["blur(" in one or "url(" in one for one in effects])[row])
        self.has_drawn_backdrops = "url(" in backdrops
        self.smeared |= self.has_drawn_backdrops or "blur(" in backdrops
        self.is_lined = self.below(~has("text-decoration-line", "none", ""))
        self.outlined = self.shaded | ~has("-webkit-text-stroke-width", "0px", "")
        self.smeared |= self.outlined
        self.outlined |= self.below(is_cut)
        parts = zip(*(column[f"font-{part}"] for part in ("style", "weight", "family")), strict=True)
        self._may_move = may_move(column, row, self.names)
        self.has_first_lines = False
        self.fonts = ["{} {} 32px {}".format(*one) for one in parts]
        self.font_of = row
        self.inks = np.array([*map(rgb, column["-webkit-text-fill-color"])])
        is_deaf = has("pointer-events", "none") & self.is_boxed
        self._is_deaf = (is_deaf & ~self.around(self.is_boxed & ~is_deaf)) | self.below(
            is_deaf & np.isin(self.names, ("iframe", "frame"))
        )
        self._can_turn = ~is_text & (self.is_drawing | ~has("display", "inline"))
        self._keeps = has("transform-style", "preserve-3d") & has("overflow-x", "visible") & self._can_turn
        self._keeps &= has("filter", "none") & has("clip-path", "none") & has("mix-blend-mode", "normal")
        self.is_deep = self.below(~has("perspective", "none", ""))
        self.is_level = has("writing-mode", "horizontal-tb", "")
        self.column = column
        split = ~(has("column-count", "auto", "") & has("column-width", "auto", ""))
        self._is_ruby, self._is_annotation = (
            self.below(has("display", one)) for one in ("ruby", "ruby-text")
        )
        self.is_displaced = self.is_drawing | ~self.is_level
        is_sideways = has("writing-mode", "sideways-rl", "sideways-lr")
        self.is_combined = has("text-combine-upright", "all") & ~self.is_level & ~is_sideways & is_text
        self.is_level |= self.is_combined
        self.is_split = self.below(split)
        self.is_displaced |= self.below(split | np.isin(self.names, ("button",)))
        self.is_curved = self.below(np.isin(self.names, ("textpath",))) & self.is_drawing & is_text
        self.shape(column, row)
        self._is_operator = self.below(np.isin(self.names, ("mo",)))
        self._override = overrides(column, row, is_text, self.levels, self.parent)

    def keep_fixed(self, chosen: Bools) -> None:
        """Tell which of the `fixed` boxes are pictured apart from the page; the outermost of these are kept."""
        is_fixed = np.zeros(self.ids.size, np.bool_)
        is_fixed[self.fixed[chosen]] = True
        is_fixed &= ~self.below(is_fixed)
        self.fixed = np.flatnonzero(is_fixed)
        self.fixed_of = self.inherited(np.where(is_fixed, np.arange(is_fixed.size), -1))
        self.unsure |= np.isin(self.fixed_of, self.fixed[_MOST_FIXED:])

    def place(self, capture: PixelCapture, contents: Mapping[int, F64] = MappingProxyType({})) -> None:
        """Read where everything is from a capture; from a later one, after the page was stilled.

        Parameters
        ----------
        capture : the capture.
        contents : where the contents of frame elements are: their corners (4, 2) in CSS px, by node.

        Raises
        ------
        ValueError : the page has changed its structure.
        """
        for before, after in zip(self.capture.documents, capture.documents, strict=True):
            if nodes_of(before) != nodes_of(after):
                raise ValueError("The page has changed its structure.")
        self.scrollers = []
        self.place_of: dict[int, tuple[F64, F64]] = {}
        self.shifts[:] = 0
        self._scroller_of = np.full(self.kind.size, -1)
        bounds = np.full((self.kind.size, 4), np.nan)
        columns: list[tuple[Ints, Ints, F64, Ints, Ints, Ints]] = []
        signs: list[Bools] = []
        self.pieces: list[str] = []
        line_boxes = [np.zeros((0, 4))]
        lines = 0
        self.has_letters = np.zeros(self.kind.size, np.bool_)
        self.letters_of = np.zeros(self.kind.size, np.intp)
        self.sources: dict[int, list[int]] = {}
        for number, document in enumerate(capture.documents):
            start, layout, text = int(self.starts[number]), document.layout, document.text_boxes
            frame = int(self.parent[start])
            if not layout.bounds or (frame >= 0 and not self.is_boxed[frame]):
                continue
            own = np.array(layout.bounds)
            offset, scale = np.zeros(2), np.ones(2)
            if frame >= 0:
                offset, scale = frame_place(bounds[frame], own[0], contents.get(frame))
                offset = offset - scale * [document.scroll_offset_x, document.scroll_offset_y]
            self.place_of[number] = offset, scale
            own = own * np.tile(scale, 2) + np.append(offset, [0, 0])
            node = np.array(layout.node_index, np.intp) + start
            bounds[node[::-1]] = own[::-1]
            moved = moved_heads(
                self.parent, bounds, self._heads, self._cells, self._cuts_across, self._axes[:, 0]
            )
            self._axes[moved, 0] = True
            self._add_scrollers(document, node, own, frame, scale)
            if text.bounds:
                places = np.array(text.bounds) * np.tile(scale, 2) + np.append(offset, [0, 0])
                strings = [capture.strings[at] if at >= 0 else "" for at in layout.text]
                values = [document.nodes.node_value[at] for at in layout.node_index]
                originals = [capture.strings[at] if at >= 0 else "" for at in values]
                pieces = pieces_of(strings, originals, text.layout_index, text.start, text.length)
                entry, line, box, first, letters, chars = parts_of(
                    pieces, text.layout_index, edges_of(places), self.reading[node], self._override[node]
                )
                letters_begin, counts = letters_before(node, strings)
                first += letters_begin[entry]
                self.letters_of[[*counts]] = [*counts.values()]
                self.sources |= letter_sources(node, strings, originals)
                parts = (
                    pieces[at][1][begin:end]
                    for at, (begin, end) in zip(line.tolist(), chars[:, :2].tolist(), strict=True)
                )
                others = self.has_other_digits[node[entry]].tolist()
                are_signs = [
                    is_sign(one, has_other_digits=other) for one, other in zip(parts, others, strict=True)
                ]
                # First letters may float, and have other shapes than the letters after them.
                signs.append(np.array(are_signs, np.bool_) | self.is_first_letter[node[entry]])
                columns.append((node[entry], line + lines, box, first, letters, chars))
                self.pieces += (piece for _, piece in pieces)
                line_boxes.append(edges_of(places))
                lines += len(text.bounds)
            for one, entry_text in zip(node.tolist(), layout.text, strict=True):
                fewest = _LONGEST_MARKER if self._is_marker[one] else 0
                self.has_letters[one] |= entry_text >= 0 and len(capture.strings[entry_text].strip()) > fewest
        self.bounds = edges_of(bounds)
        self.moving = edges_of(bounds[self._may_move & ~np.isnan(bounds[:, 0])])
        shades = np.flatnonzero(self._shades & ~np.isnan(bounds[:, 0]))
        self.unread[shades] = True
        none = np.zeros((3, shades.size, 3), np.intp)
        shade_lines = lines + np.arange(shades.size)
        columns.append((shades, shade_lines, edges_of(bounds[shades]), none[0, :, 0], none[1, :, 0], none[2]))
        owner, line, box, first, letters, chars = (
            np.concatenate(column) for column in zip(*columns, strict=True)
        )
        self.line_box = np.concatenate([*line_boxes, edges_of(bounds[shades])])
        self.ink_box, self.told_box = self.line_box.copy(), self.line_box.copy()
        is_text = (self.kind[owner] == Kind.TEXT) | self.is_generated[owner]
        is_text = is_text & ~self._is_marker[owner] | self._shades[owner]
        self.has_letters &= (self.kind == Kind.TEXT) | self.is_generated
        self.owner, self.line, self.box = owner[is_text], line[is_text], box[is_text]
        self.first, self.letters = first[is_text], letters[is_text]
        self.chars, self.against = chars[is_text, :2], chars[is_text, 2]
        self.is_sign = np.concatenate([*signs, self._shades[shades]])[is_text]
        if self.misread.size != self.line.size:
            self.misread = np.zeros(self.line.size, np.bool_)
        # Browsers draw these signs larger, or put them together from pieces, where their font has no such letters.
        is_operator = self._is_operator[self.owner] & (self.letters_of[self.owner] <= _MOST_SIGNS)
        signs_only = np.setdiff1d(self.owner[is_operator], self.owner[~self.is_sign])
        self.is_plain[signs_only] = False
        self.ink = self._ink_of(np.arange(self.owner.size))
        inner = self.inherited(self._scroller_of)
        self.scroller, self.scrolls = inner[self.owner], inner >= 0
        self.unread[self.owner[self.is_combined[self.owner] & (self.letters > _MOST_COMBINED)]] = True
        self.unread[self.owner[self._is_in_slot()]] = True
        self.squeeze(~self.is_split)

    def squeeze(self, nodes: Bools) -> None:
        """Find the letters that are too small, too flat or too narrow to be read in some nodes (N,)."""
        level = np.flatnonzero((~self.is_turned & self._in_px & nodes)[self.owner])
        group, line, letters = self.owner[level], self.line[level], self.letters[level]
        thin = squeezed(group, line, self.box[level], letters, self.font_px(level))
        self.misshapen[self.owner[level[thin]]] = True

    def replace(self, capture: PixelCapture, contents: Mapping[int, F64]) -> None:
        """Read once more where everything is; see `place`. Texts that are in other parts now are unsure."""
        before = {name: getattr(self, name) for name in (*_OF_PARTS, "line_box", "ink_box", "told_box")}
        axes = {one.node: one.axes for one in self.scrollers}
        self.place(capture, contents)
        for one in self.scrollers:
            one.axes &= axes.get(one.node, False)
        names = ("owner", "first", "letters")
        places = same_parts([before[name] for name in names], [getattr(self, name) for name in names])
        is_lost = places < 0
        if not is_lost.any() and places.size == self.owner.size:
            return
        for name in _OF_PARTS:
            column = before[name].copy()
            if name != "misread":
                column[~is_lost] = getattr(self, name)[places[~is_lost]]
            setattr(self, name, column)
        lines, number = np.unique(before["line"][is_lost], return_inverse=True)
        self.line[is_lost] = len(self.line_box) + number
        for name in ("line_box", "ink_box", "told_box"):
            setattr(self, name, np.concatenate((getattr(self, name), before[name][lines])))
        self.scroller = self.inherited(self._scroller_of)[self.owner]
        self.unsure[self.owner[is_lost]] = True

    def put_lines(self, node: int, boxes: F64) -> None:
        """Tell where the text boxes of a node are (n, 4); if they are not as many, it is unsure or not plain."""
        lines = np.unique(self.line[parts := np.flatnonzero(self.owner == node)])
        if 0 < len(boxes) < lines.size:
            boxes = self._split(lines, boxes, level=bool(self.is_level[node]))
        if len(boxes) != lines.size:
            self.unsure[node] |= not self.is_drawing[node]
            self.is_plain[node] = False
            return
        line = np.searchsorted(lines, self.line[parts])
        before, after = self.line_box[lines][line], boxes[line]
        self.line_box[lines] = boxes
        self.box[parts] += np.tile(after[:, :2] - before[:, :2], 2)
        if self.is_drawing[node] and not self.is_turned[node]:
            # Sizes are in units of the drawing.
            times = (after[:, 2:] - after[:, :2]) / np.maximum(before[:, 2:] - before[:, :2], _LEAST_PX)
            begin = np.tile(after[:, :2], 2)
            self.box[parts] = begin + (self.box[parts] - begin) * np.tile(times, 2)
            across = 3 if self.is_level[node] else 2
            self._font_px[node] = (boxes[:, across] - boxes[:, across - 2]).max() / LINE_HEIGHT
            self.ink[parts] = self._ink_of(parts)

    def _split(self, lines: Ints, boxes: F64, *, level: bool) -> F64:
        """Return boxes (n, 4) as those of the `lines` that captures have; as they are if these are others.

        Captures have two boxes of a line where white space between two words is left out.
        """
        own = self.line_box[lines]
        aside, along = ([1, 3], [0, 2]) if level else ([0, 2], [1, 3])
        goes_on = (np.abs(own[1:, aside] - own[:-1, aside]) < 1).all(axis=1)
        goes_on &= np.abs(own[1:, along] - own[:-1, along[::-1]]).min(axis=1) < 1
        run = np.append(0, np.cumsum(~goes_on))
        if run[-1] + 1 != len(boxes):
            return boxes
        corners = np.minimum.reduceat(own[:, :2], np.flatnonzero(np.append(True, ~goes_on)))
        return np.asarray(own + np.tile((boxes[:, :2] - corners)[run], 2))

    def _ink_of(self, parts: Ints) -> F64:
        """Return how many pixels of a picture some parts would change in black on white, about."""
        size = (self.box[parts, 3] - self.box[parts, 1]) / LINE_HEIGHT
        size = np.clip(size, 0, MOST_ENLARGED * self._font_px[self.owner[parts]])
        return np.asarray(self.letters[parts] * (_INK * size**2 + _INK_OF_EDGES * size))

    def ruby_of(self, node: int) -> str:
        """Return whether a text is the "base" or an "annotation" of a ruby, whose letters are spread, or ""."""
        return "annotation" if self._is_annotation[node] else "base" if self._is_ruby[node] else ""

    @property
    def fixed_box(self) -> Ints:
        """The fixed box around each box (B,), -1 for none."""
        return np.asarray(self.fixed_of[self.owner])

    @property
    def frames(self) -> list[int]:
        """The elements with the frames of this page, but not those of frames in it."""
        return [int(self.parent[start]) for start in self.starts[1:-1] if self.parent[start] >= 0]

    def _is_in_slot(self) -> Bools:
        """Return which parts (B,) are in boxes that scroll and show no whole letter of them at once."""
        size = self.font_px(np.arange(self.owner.size))[:, None]
        return np.asarray((self.room()[self.scroller] < size * LEAST_SLOT).any(axis=1))

    def _add_scrollers(
        self, document: PixelDocument, node: Ints, bounds: F64, frame: int, scale: F64
    ) -> None:
        """Add the boxes of a document that scroll and show at least a letter; a frame scrolls its document."""
        layout = document.layout
        number = int(self.document_of[node[0]])
        roots = [one for one in node.tolist() if self.names[one] == "html"]
        if frame >= 0 and roots:
            scrolled = document.scroll_offset_x, document.scroll_offset_y
            bounds[0, :2] += scale * scrolled  # the frame itself does not move
            whole = [*scrolled, document.content_width, document.content_height]
            axes = (
                self._free[number]
                & (self.attributes(frame).get("scrolling", "").lower() not in _NOT_SCROLLING)
                & ~self._is_deaf[roots[0]]
            )
            self._add_scroller(roots[0], frame, bounds[0], whole, axes, scale)
        windows = {"html"} if self._own_window[number] else {"html", "body"}
        for entry in np.flatnonzero(self._axes[node].any(axis=1)).tolist():
            one, client, whole = int(node[entry]), layout.client_rects[entry], layout.scroll_rects[entry]
            if client and whole and self.names[one] not in windows:
                own_scale = scale
                if not self.is_turned[one]:
                    own_scale = drawn_scale(bounds[entry], layout.offset_rects[entry])
                inner = np.array(client) * np.tile(own_scale, 2)
                if self.names[one] == "body":  # without a doctype, the size of the window is told
                    inner[2:] = bounds[entry, 2:] - 2 * inner[:2]
                port = np.array([*(bounds[entry, :2] + inner[:2]), *inner[2:]])
                axes = self._axes[one] & ~self._is_deaf[one]
                self._add_scroller(one, int(self.parent[one]), port, whole, axes, own_scale)

    def _add_scroller(
        self, node: int, above: int, port: F64, whole: Sequence[float], axes: Bools, scale: F64
    ) -> None:
        """Add a scroller if anything of it does not fit: `port` and `whole` are x, y, width and height."""
        offset, size = np.array(whole[:2]), np.array(whole[2:]) * scale
        if (size <= port[2:] + 1).all() or port[2:].min() < max(self._font_px[node], 1.0):
            return
        if self._scroller_of[node] >= 0:
            return
        if len(self.scrollers) == _MOST_SCROLLERS:
            self.unsure[self.below_one(node)] = True
            return
        while above >= 0 and self._scroller_of[above] < 0:
            above = int(self.parent[above])
        outer = int(self._scroller_of[above]) if above >= 0 else -1
        self._scroller_of[node] = len(self.scrollers)
        edges = edges_of(port[None])[0]
        self.scrollers.append(Scroller(node, outer, edges, np.array(axes), scale, offset, offset.copy()))
