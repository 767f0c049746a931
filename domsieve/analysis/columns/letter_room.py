"""How large the letters of texts are on the screen, and which are on top of each other; captures have only boxes."""

import re
import unicodedata
from collections.abc import Callable
from functools import cache

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools, Ints, below
from domsieve.analysis.columns.css_values import number, shadows
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.columns.paint_styles import LEAST_OPACITY, LEAST_PX, USUAL_LINE
from domsieve.analysis.columns.scattered import placed_lists
from domsieve.analysis.columns.scene import Scene
from domsieve.analysis.columns.stacks import SPACED
from domsieve.budget import check
from domsieve.snapshot.contrast import contrast
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.snapshot.symbol_fonts import is_symbols

# Lines closer than this share of a letter are on top of each other.
_LEAST_LINE = 0.4
# Lines of so many letters are as high as these.
_FEWEST_IN_LINE = 4
# So many elements around a text are asked for the height of its lines.
_MOST_LEFT = 16
# Letters are on top of each other if each has less room than this share of the square of its size, in the mean of at
# least so many, of which at least so many of all are wide in every font.
_MOST_PILED, _FEWEST_PILED, _LEAST_WIDE = 0.2, 8, 0.5
_WIDE_LETTER = re.compile("[A-HK-Za-eghkm-qsu-z0-9]")
# The area of a letter in parts of the square of its size, the least one of narrow letters, and its width likewise.
_LETTER_AREA, _LEAST_LETTER_AREA, _LETTER_WIDTH = 0.5, 0.2, 0.4
# Nobody reads letters that are so many sizes apart, in the mean; nor fewer, if they go on for so many windows in one
# row, as high as at most so many letters; or as wide, with one or two of them in each line. Nor does anybody read so
# many that are higher or wider than the window.
_MOST_APART, _MOST_IN_ROW, _MOST_WINDOWS, _ROW, _COLUMN, _FEWEST_LARGE = 30, 6, 2, 1.9, 2.5, 6
# Nor so many that are larger than this share of the window.
_MORE_LARGE, _LARGE_SHARE = 12, 0.65
_MOST_ZOOM = 20.0  # the logarithm; a guess
# Nor so many lines that are shorter than so many sizes of letters, and this share of the window apart.
_FEWEST_LINES, _SHORT_LINE, _MOST_OF_WINDOW = 4, 10, 0.4
_LEAST_GAP = 3  # from line to line, in sizes of the letters: more than a font for reading has by itself
# Nor letters between two or more sharp shadows of almost their colour that are so many sizes beside them, and so many
# below or above. Found by eye, as for `least_contrast`.
_BESIDE, _BELOW, _SHARP_PX, _FEWEST_COPIES, _ALMOST, _LEAST_INK = (0.2, 0.6), 0.15, 1.0, 2, 64.0, 0.5
_MOST_CASTERS, _MOST_DRAWN = 4, 16  # of shadows by filters
# So much ``letter-spacing`` in sizes takes letters apart, also in several lines, if there are so many.
_MOST_SPACING, _FEWEST_SPACED = 12, 10
# Small capitals, which browsers make of letters, have this share of their size. With a negative ``letter-spacing``,
# letters of half of their size in width have so many of these shares less room, but at least the last, for others are
# wider.
_OF_CAPITALS, _OF_SPACING, _LEAST_ROOM = 0.7, 2.0, 0.5
_ALL_SMALL, _SOME_SMALL = (
    frozenset({"all-small-caps", "all-petite-caps"}),
    frozenset({"small-caps", "petite-caps"}),
)
_TAB = 8  # letters
# Nor letters of a drawing that turn by so many degrees from one to the next, in the mean of so many of them, which
# begin at each of so many. One that is turned over alone counts no more than one that lies.
_MOST_TURN, _RUN, _RUN_STEP, _FEWEST_TURNED, _FULL_TURN = 60, 20, 5, 5, 90
# Nor letters on a line of which more than this share, and less than all but this share, stand before the last one.
_LEAST_BACK, _FEWEST_STEPS = 0.1, 6
# Fonts of symbols have no other letters.
_SYMBOL_LETTER = re.compile("[A-Za-z\u00c0-\u00ff]")
# Letters with several marks; and so many marks that nobody reads the letter: of those that lie on it, and of those
# above and below, of which scripts such as Tibetan have up to eight. So many such letters, or this share, make
# a text that nobody reads. Found by eye.
_MARKED = re.compile(r"([^\W\d_])([^\w\s\x00-\u02ff]{4,})")
_MOST_OVER, _MOST_ASIDE, _FEWEST_MARKED, _SOME_MARKED, _MOST_MARKED = 4, 12, 3, 20, 0.25


def letter_sizes(scene: Scene, text: Ints, letters: F64) -> F64:
    """Return the size of letters on the screen: that of the style, unless ``zoom`` or a transform changes it."""
    rect = scene.rect[text]
    width, height = np.maximum(rect[:, 2:] - rect[:, :2], 0).T
    area = width * height / letters
    # Lines of different lengths make the area of a text up to twice that of its letters.
    least, most = np.sqrt(area / _LETTER_AREA) / 2, np.sqrt(area / _LEAST_LETTER_AREA)
    # Small letters in high lines have more room than their size says.
    least = np.minimum(least, area / (2 * _LETTER_AREA * _line_heights(scene, text)))
    # A line is as high as its letters, whichever way it is turned.
    most = np.where(letters >= _FEWEST_IN_LINE, np.minimum(most, np.minimum(width, height)), most)
    return np.asarray(np.clip(scene.node.letter_px[text], np.minimum(least, most), most))


def drawn_shares(scene: Scene, text: Ints) -> F64:
    """Return in which share of their size letters are drawn: small capitals are smaller, close letters narrower."""
    node, page = scene.node, scene.page
    caps = node.numbers("font-variant-caps", "normal")
    is_all, is_some = (
        np.array([value in names for value in caps[1]])[caps[0][text]] for names in (_ALL_SMALL, _SOME_SMALL)
    )
    is_some &= node.each("text-transform", "none", lambda value: value != "uppercase")[text]
    at = np.flatnonzero(is_some)
    for place, said in zip(at.tolist(), page_texts(page).of(text[at]), strict=True):
        small = sum(map(str.islower, said))
        is_all[place] = small > sum(map(str.isalnum, said)) / 2
    spacing = np.minimum(node.spacing_px[text], 0.0)
    room = 1 + _OF_SPACING * spacing / np.maximum(node.letter_px[text], LEAST_PX)
    return np.asarray(np.where(is_all, _OF_CAPITALS, 1.0) * np.clip(room, _LEAST_ROOM, 1))


def _line_heights(scene: Scene, text: Ints) -> F64:
    """Return how high the lines of texts are at least, in px before ``zoom`` and transforms."""
    node, at = scene.node, scene.page.parent[text].astype(np.int64)
    is_inline = node.each("display", "inline", lambda value: value == "inline")
    usual = USUAL_LINE * node.letter_px
    own = np.where(np.isfinite(node.line_px), node.line_px, usual)
    found = np.full(text.size, LEAST_PX)
    waiting = np.arange(text.size)
    for _ in range(_MOST_LEFT):
        found[waiting] = np.maximum(found[waiting], own[at[waiting]])
        waiting = waiting[is_inline[at[waiting]] & (at[waiting] > 0)]
        at[waiting] = scene.page.parent[at[waiting]]
    return found


def lengths(page: Snapshot, text: Ints) -> F64:
    """Return the number of characters of each text that are not white space."""
    texts = page_texts(page).of(text)
    return np.array([max(1, len("".join(one.split()))) for one in texts], np.float64)


def overlaps(scene: Scene, text: Ints, letters: F64) -> Bools:
    """Return which texts have several lines that are painted on top of each other."""
    node, rect = scene.node, scene.rect[text]
    close = node.line_px[text] < _LEAST_LINE * node.letter_px[text]
    spacing = np.maximum(node.spacing_px[text[close]], 0.0)
    texts = page_texts(scene.page)
    spaces = texts.words[texts.rank[text[close]]] - 1
    wide = letters[close] * _LETTER_WIDTH * node.letter_px[text[close]] + (letters[close] + spaces) * spacing
    close[close] = wide > 1.5 * (rect[close, 2] - rect[close, 0])
    return np.asarray(close)


def are_piled(scene: Scene, text: Ints, letters: F64) -> Bools:
    """Return of which texts the letters are on top of each other, such as with a negative ``letter-spacing``."""
    rect, above = scene.rect[text], scene.page.parent[text].astype(np.int64)
    plane = scene.plane[above]
    size = np.maximum(rect[:, 2:] - rect[:, :2], 0)
    size = size / np.maximum(np.abs(plane[:, [0, 1], [0, 1]]), LEAST_OPACITY)
    # Zoom changes the boxes, but not the size of the style.
    letter = np.minimum(scene.node.letter_px[text], size.min(axis=1))
    room = size.prod(axis=1) / np.maximum(letter, LEAST_PX) ** 2
    room *= _columns(scene, above, size[:, 0])
    close = np.flatnonzero(~scene.is_turned(above) & (room < 2 * _MOST_PILED * letters))
    piled = np.zeros(text.size, np.bool_)
    for at, one in zip(close.tolist(), page_texts(scene.page).of(text[close]), strict=True):
        line = " ".join(one.split())
        is_clear = len(_WIDE_LETTER.findall(line)) >= max(_FEWEST_PILED, _LEAST_WIDE * len(line))
        piled[at] = is_clear and room[at] < _MOST_PILED * len(line)
    return piled


def _columns(scene: Scene, above: Ints, width: F64) -> F64:
    """Return how many times as wide as texts the columns are in which these go on: captures have only the first."""
    found, node = np.ones(above.size), scene.node
    if not node.has_columns.any():
        return found
    inside = below(node.has_columns, scene.page.end.astype(np.int64))
    for at in np.flatnonzero(inside[above]).tolist():
        one = int(above[at])
        while not node.has_columns[one]:
            one = int(scene.page.parent[one])
        found[at] = max((scene.rect[one, 2] - scene.rect[one, 0]) / max(width[at], LEAST_PX), 1.0)
    return found


def are_copied(scene: Scene, text: Ints, owner: Ints) -> Bools:
    """Return which texts stand among sharp shadows of their own that are beside the letters.

    `owner` are the elements that paint their grounds; around one that casts the shadow with them, they have none.
    """
    node, page, found = scene.node, scene.page, np.zeros(text.size, np.bool_)
    casts = scene.shade_of[page.parent[text]]
    spacing = node.spacing_px[text]
    wide = scene.rect[text, 2] - scene.rect[text, 0]
    for at in np.flatnonzero((node.shadow_number[text] > 0) | (casts >= 0)).tolist():
        size, ink = float(node.letter_px[text[at]]), node.ink[text[at]]
        layers = shadows(node.shadow_values[node.shadow_number[text[at]]])
        if ink[3] < _LEAST_INK and layers:  # then one of them is the text
            ink = np.array(layers[0][0])
        drawn = [(colour, *_offset(lengths)) for colour, lengths, _ in layers]
        caster = int(casts[at])
        for _ in range(_MOST_CASTERS):
            if caster < 0 or caster <= owner[at] < page.end[caster]:
                break
            for colour, lengths in node.drop_shadows[node.filter_number[caster]]:
                by = _offset(lengths)
                moved = [tuple(map(sum, zip(one[1:], by, strict=True))) for one in drawn[:_MOST_DRAWN]]
                drawn += [(colour, *by), *((colour, *one) for one in moved)]
            caster = int(scene.shade_of[page.parent[caster]]) if caster > 0 else -1
        copies, is_spaced = 0, spacing[at] >= SPACED * size
        farthest = wide[at] / 2 if is_spaced else _BESIDE[1] * size
        for colour, right, down, blur in drawn:
            is_near = _BESIDE[0] * size <= abs(right) <= farthest and abs(down) <= _BELOW * size
            is_sharp = blur <= _SHARP_PX and colour[3] >= _LEAST_INK
            copies += bool(is_near and is_sharp and contrast(ink[:3], np.array(colour[:3])) <= _ALMOST)
        found[at] = copies >= (1 if is_spaced else _FEWEST_COPIES)  # which stand in the gaps then
    return found


def _offset(lengths: list[float]) -> tuple[float, float, float]:
    """Return how far a shadow is to the right and below, and its blur."""
    right, down, blur = (*lengths, 0.0, 0.0, 0.0)[:3]
    return right, down, blur


def are_symbols(scene: Scene, text: Ints) -> Bools:
    """Return which texts are in fonts of symbols and have letters, which such a font draws as others.

    Whether this computer has the font makes no difference.
    """
    found = scene.node.each("font-family", "", is_symbols)[text].astype(np.bool_)
    at = np.flatnonzero(found)
    for place, words in zip(at.tolist(), page_texts(scene.page).of(text[at]), strict=True):
        found[place] = bool(_SYMBOL_LETTER.search(words))
    return found


def are_marked(page: Snapshot, text: Ints) -> Bools:
    """Return of which texts the letters are under many marks each, such as circles and strokes."""
    found = np.zeros(text.size, np.bool_)
    for place, words in enumerate(page_texts(page).of(text)):
        if words.isascii() or not (runs := _MARKED.findall(words)):
            continue
        check()
        count = sum(_is_buried(letter, marks) for letter, marks in runs)
        least = min(_SOME_MARKED, _MOST_MARKED * sum(map(str.isalpha, words)))
        found[place] = count >= max(_FEWEST_MARKED, least)
    return found


def _is_buried(letter: str, marks: str) -> bool:
    """Return whether a letter is under so many marks that nobody can read it."""
    script = unicodedata.name(letter, "").split(" ", 1)[0]
    over = aside = 0
    for mark in marks[: _MOST_OVER * _MOST_ASIDE]:
        kind, name = unicodedata.category(mark), unicodedata.name(mark, "").split(" ", 1)[0]
        # Marks of another script do not find their place at the letter.
        is_over = kind == "Me" or unicodedata.combining(mark) == 1 or name not in {script, "COMBINING"}
        over += kind[0] == "M" and is_over and name != "VARIATION"
        aside += kind[0] == "M" and not is_over
    return over / _MOST_OVER + aside / _MOST_ASIDE >= 1


def are_apart(scene: Scene, text: Ints, letters: F64, letter: F64) -> Bools:
    """Return of which texts the letters are very far apart, along the line or from line to line.

    Those that are higher or wider than the window are, too.
    """
    rect, node = scene.rect[text], scene.node
    zoom = np.where(node.in_drawing[text], 1.0, _zoom(scene)[text])  # of styles, but not of boxes
    letter = letter * zoom
    size = np.maximum(rect[:, 2:] - rect[:, :2], 0)
    found = np.asarray(size[:, 0] > _MOST_APART * letter * letters)
    found |= _are_huge(scene, text, letters, letter, zoom)
    spacing = node.spacing_px[text]
    found |= (spacing > _MOST_SPACING * node.letter_px[text]) & (letters >= _FEWEST_SPACED)
    level = node.is_level[text]
    found |= _are_far_lines(scene, text, level, zoom)
    for axis, window in enumerate(node.window_px):
        is_line, room = level == (axis == 0), size[:, axis] / np.maximum(_MOST_IN_ROW * letter, LEAST_PX)
        is_row = size[:, 1 - axis] <= np.where(is_line, _ROW, _COLUMN) * letter
        those = np.flatnonzero(is_row & (size[:, axis] > _MOST_WINDOWS * window) & (room > letters))
        found[those] = room[those] > _with_space(scene, text[those], is_line[those])
    return found


def _are_far_lines(scene: Scene, text: Ints, level: Bools, zoom: F64) -> Bools:
    """Return which texts have many short lines, level or upright, of which a window shows few at once."""
    node, rect = scene.node, scene.rect[text]
    across, along = np.where(level, 1, 0), np.where(level, 0, 1)
    at, line = np.arange(text.size), node.line_px[text] * zoom
    length, height = (rect[at, 2 + axis] - rect[at, axis] for axis in (along, across))
    # How high lines are by their font is not known; but there are not more of them than words.
    least = _LEAST_GAP * node.letter_px[text] * zoom
    for one in np.flatnonzero(np.isinf(line) & (height > _FEWEST_LINES * least)).tolist():
        own = height[one] / max(len(scene.page.text_of(text[one]).split()), 1)
        line[one] = own if own > least[one] else np.inf
    is_far = line > np.array(node.window_px)[across] * _MOST_OF_WINDOW
    return np.asarray(
        is_far
        & (height > (_FEWEST_LINES - 1.5) * line)
        & (length < _SHORT_LINE * node.letter_px[text] * zoom)
    )


def _are_huge(scene: Scene, text: Ints, letters: F64, letter: F64, zoom: F64) -> Bools:
    """Return of which texts the letters are higher or wider than the window, after transforms."""
    node, rect = scene.node, scene.rect[text]
    plane = np.abs(scene.plane[scene.page.parent[text]])
    area = np.maximum(rect[:, 2:] - rect[:, :2], 0).prod(axis=1) / letters
    most = np.sqrt(area / _LEAST_LETTER_AREA)
    large = (node.letter_px[text] * zoom)[:, None] * (plane @ np.array([_LETTER_WIDTH, 1.0]))
    large = np.minimum(large, most[:, None])
    large[node.in_drawing[text]] = 0  # which have units of their own
    large[:, 1] = np.maximum(large[:, 1], np.minimum(letter, most))
    share = (large / node.window_px).max(axis=1)
    return np.asarray(
        ((share > 1) & (letters >= _FEWEST_LARGE)) | ((share > _LARGE_SHARE) & (letters >= _MORE_LARGE))
    )


def _zoom(scene: Scene) -> F64:
    """Return by how much nodes are enlarged by their own ``zoom`` and those of the elements around them."""
    page = scene.page
    own = scene.node.each("zoom", "1", lambda value: max(number(value, 1.0), LEAST_OPACITY)).astype(
        np.float64
    )
    at = np.flatnonzero((own != 1) & (page.kind == Kind.ELEMENT))
    change = np.zeros(len(page) + 1)
    np.add.at(change, at, np.log(own[at]))
    np.add.at(change, page.end[at], -np.log(own[at]))
    return np.exp(np.minimum(np.cumsum(change)[:-1], _MOST_ZOOM))


def _with_space(scene: Scene, text: Ints, is_line: Bools) -> F64:
    """Return the number of characters of texts, with the white space that has room in lines, or from line to line."""
    mode = scene.node.each("white-space", "normal", str)[text].tolist()
    counts = []
    for line, said, one in zip(is_line.tolist(), mode, page_texts(scene.page).of(text), strict=True):
        keeps = "break-spaces" in said or ("pre" in said and not (line and "pre-line" in said))
        kept = one.expandtabs(_TAB).count(" " if line else "\n") if keeps else 0
        counts.append(len("".join(one.split())) + kept)
    return np.array(counts, np.float64)


def are_turned(scene: Scene, text: Ints) -> Bools:
    """Return of which texts of drawings the letters are turned one by one, each another way (``rotate``)."""
    return _of_drawings(scene, text, "rotate", lambda angles, *_: _turn(angles) > _MOST_TURN)


def are_shuffled(scene: Scene, text: Ints) -> Bools:
    """Return of which texts of drawings the letters stand in another order than in the text (``x`` and ``dx``)."""
    heights = cache(lambda: [placed_lists(scene.page)[name] for name in ("y", "dy")])

    def is_shuffled(steps: F64, size: float, owner: int) -> bool:
        back = np.count_nonzero(steps < 0) / max(steps.size, 1)
        if steps.size < _FEWEST_STEPS or not _LEAST_BACK < back < 1 - _LEAST_BACK:
            return False
        return all(np.ptp(lists.get(owner) or [0.0]) <= size for lists in heights())

    found = _of_drawings(scene, text, "x", lambda at, size, owner: is_shuffled(np.diff(at), size, owner))
    # Each letter begins behind the one before.
    return found | _of_drawings(
        scene,
        text,
        "dx",
        lambda by, size, owner: is_shuffled(np.array(by[1:]) + _LETTER_WIDTH * size, size, owner),
    )


def _of_drawings(
    scene: Scene, text: Ints, name: str, test: Callable[[list[float], float, int], bool]
) -> Bools:
    """Return which texts of drawings pass a test.

    It is given the numbers of an attribute for the letters, the size of these, and the element with the attribute.
    """
    page, found = scene.page, np.zeros(text.size, np.bool_)
    lists = placed_lists(page)[name]
    if not lists:
        return found
    owner = np.full(len(page), -1)
    for one in sorted(lists):  # the innermost counts
        owner[one : page.end[one]] = one
    used = dict.fromkeys(lists, 0)
    at = np.flatnonzero((owner[text] >= 0) & scene.node.in_drawing[text])
    for place, words in zip(at.tolist(), page_texts(page).of(text[at]), strict=True):
        one, count = int(owner[text[place]]), len(" ".join(words.split()))
        numbers = lists[one][used[one] : used[one] + count]
        found[place] = test(numbers, float(scene.node.letter_px[text[place]]), one)
        used[one] += count
    return found


def _turn(angles: list[float]) -> float:
    """Return by how many degrees letters turn from one to the next where they turn most."""
    turns = np.abs((np.diff(angles) + 180) % 360 - 180)
    if turns.size < _FEWEST_TURNED:
        return 0.0
    sums = np.append(0, np.cumsum(np.minimum(turns, _FULL_TURN)))
    size = min(turns.size, _RUN)
    return float((sums[size:] - sums[:-size])[::_RUN_STEP].max() / size)
