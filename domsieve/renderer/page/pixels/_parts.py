"""The parts of texts that pictures judge: a few letters each, so that a text of which readers see a bit is cut."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from random import SystemRandom
from typing import Any

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

OUTWARDS = np.array([-1, -1, 1, 1])
"""By which way each edge of a box goes outwards: left, top, right and bottom."""
CHANCE = SystemRandom()
"""What no page can know: where and when it is pictured."""
MOST_ENLARGED = 1.5
"""Boxes of letters that are turned, enlarged or in odd lines count as no higher than so many sizes of the font."""
FAR_SHADOW = 0.4
"""A shadow that is farther away than this share of the size of letters, and less blurred, is a copy of them."""
STROKE_SHADOW = 0.2
"""One that is farther away than this may be a stroke of them: it makes an m of an n."""
SPREAD_PX = 40.0
"""How far blurs reach beyond the box of a text at most. A guess: larger ones are too faint to be read."""
LINE_HEIGHT = 1.15
"""How high lines are, in sizes of their letters."""
FEWEST_LETTERS = 4
"""Fewer letters than these may be higher than wide."""
ANYWHERE_PX = 100_000.0

# The parts of a line have places of their own if it is as long as its letters make it, which boxes of turned letters
# are not: so many sizes.
_LEAST_ADVANCE = 0.2
# The parts of a line are its words, but longer ones are divided.
_MOST_LETTERS = 9
# Nor are letters that are narrower for their size, or smaller, ever read; on a line with a few letters.
_LEAST_READ, _FEWEST_IN_LINE, _LEAST_LETTER_PX = 0.2, 6, 3.5
# Where more than this share of the letters is unseen in parts that were not compared with their letters, none of them
# counts as seen. So few letters that are seen do not show a text.
_UNSEEN_SHARE, _FEWEST_SEEN = 0.35, 3
# So few letters without a box, such as joiners, are seen as those around them.
_FEWEST_BETWEEN = 4
# Scroll bars take room from the content of a frame.
_FRAME_PX = 20.0
# Controls of direction: those that force one, those that begin a part of the text, and those that end one.
_FORCING = {"\u202d": 1, "\u202e": -1}
_OPENING, _CLOSING = frozenset("\u202a\u202b\u202d\u202e\u2066\u2067\u2068"), frozenset("\u202c\u2069")
# Pictographs are parts of their own: they have their own colours.
_PICTOGRAPHS = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_WORD = re.compile(
    rf"(?:[{_PICTOGRAPHS}][\ufe0f\u200d\u20e3]*+){{1,{_MOST_LETTERS}}}|[^\s{_PICTOGRAPHS}]{{1,{_MOST_LETTERS}}}"
)
_NARROW, _WIDE = frozenset(" ijlftrI.,:;'!|()[]"), frozenset("mwMW@%")

# Colours that are more transparent say little of how letters look.
_LEAST_OPAQUE = 0.5
# The features of fonts that choose other digits.
_OF_DIGITS = frozenset({"lnum", "onum", "pnum", "tnum", "zero", "frac", "afrc", "ordn"})


@dataclass(slots=True)
class Scroller:
    """A box that scrolls.

    Parameters
    ----------
    node : the element to scroll.
    outer : number of the scroller around it, -1 for none.
    port : left, top, right and bottom of what it shows, in CSS px of the page before anything is scrolled.
    axes : whether a reader can scroll it to the side, and down.
    scale : size of its CSS px in those of the page (2,).
    start, at : left and top offset before anything is scrolled, and now.
    """

    node: int
    outer: int
    port: F64
    axes: Bools
    scale: F64
    start: F64
    at: F64


def parts_of(
    pieces: Sequence[tuple[str, str]],
    layout_index: Sequence[int],
    box: F64,
    reading: F64,
    override: Ints,
) -> tuple[Ints, Ints, F64, Ints, Ints, Ints]:
    """Return of each part its entry, its text box, its edges (B, 4), its first letter and its number of letters.

    The last column (B, 3) is where in the text of the text box it begins and ends, and whether its letters go to the
    left against the rules of their script (-1), to the right against them (1), or as they do (0).

    Parameters
    ----------
    pieces, layout_index, box : of each text box, what `pieces_of` returns, its entry of the layout and its edges.
    reading, override : where the letters of each entry go, to the right and down (n, 2), if they are written to the
        right; and whether styles force that (1), or the other direction (-1).
    """
    found: list[tuple[int, int, int, int, int, int, int]] = []
    edges: list[tuple[float, float, float, float]] = []
    for line, (entry, (text, piece), place) in enumerate(
        zip(layout_index, pieces, box.tolist(), strict=True)
    ):
        letters = count_letters(piece)
        if not letters:
            continue
        before = count_letters(text)
        forced = _forced(text + piece[: len(piece) // 2]) or int(override[entry])
        goes_left = _reads_to_the_left(piece)
        is_left = forced < 0 or (not forced and goes_left)
        against = 0 if is_left == goes_left else -1 if is_left else 1
        way = -reading[entry] if is_left else reading[entry]
        for first, count, chars, part in _divided(piece, letters, place, way.tolist()):
            found.append((entry, line, before + first, count, *chars, against))
            edges.append(part)
    columns = np.array(found, np.intp).reshape(-1, 7)
    return (
        columns[:, 0],
        columns[:, 1],
        np.array(edges, np.float64).reshape(-1, 4),
        columns[:, 2],
        columns[:, 3],
        columns[:, 4:],
    )


_Edges = tuple[float, float, float, float]


def _divided(
    piece: str, letters: int, place: Sequence[float], way: Sequence[float]
) -> Iterator[tuple[int, int, tuple[int, int], _Edges]]:
    """Yield the first letter, the number of letters, the characters and the edges of each part of a line."""
    left, top, right, bottom = place
    wide, high = right - left, bottom - top
    words = _words(piece)
    if len(words) < 2 or max(wide, high) < _LEAST_ADVANCE * letters * min(wide, high):
        for first, count, *chars in words:
            yield first, count, (chars[0], chars[1]), (left, top, right, bottom)
        return
    advance = np.array([0.5 if one in _NARROW else 1.6 if one in _WIDE else 1.0 for one in piece])
    ends = np.append(0.0, advance.cumsum() / advance.sum()).tolist()
    is_reversed = way[0 if wide >= high else 1] < 0
    for first, count, *chars in words:
        begin, end = (ends[at] for at in chars)
        if is_reversed:
            begin, end = 1 - end, 1 - begin
        if wide >= high:
            edges = left + wide * begin, top, left + wide * end, bottom
        else:
            edges = left, top + high * begin, right, top + high * end
        yield first, count, (chars[0], chars[1]), edges


def _words(piece: str) -> list[list[int]]:
    """Return the parts of a line: the first letter, the number of letters, and where each begins and ends in it."""
    words: list[list[int]] = []
    count = 0
    for word in _WORD.finditer(piece):
        words.append([count, word.end() - word.start(), *word.span()])
        count += words[-1][1]
    return words


def _reads_to_the_left(piece: str) -> bool:
    return any(unicodedata.bidirectional(one) in {"R", "AL"} for one in piece[:20])


def _forced(text: str) -> int:
    """Return what control characters in a text force on the rest: -1 to the left, 1 to the right, or 0."""
    if _FORCING.keys().isdisjoint(text):
        return 0
    open_: list[int] = []
    for one in text:
        if one in _OPENING:
            open_.append(_FORCING.get(one, 0))
        elif one in _CLOSING and open_:
            open_.pop()
    return open_[-1] if open_ else 0


def count_letters(text: str) -> int:
    """Return how many letters a text has: all but white space."""
    return len("".join(text.split()))


def seen_ranges(first: Ints, letters: Ints, is_seen: Bools, fewest_unseen: Ints) -> list[tuple[int, int]]:
    """Return which letters of a text are seen, as ranges from a letter to one after the last, in order.

    Short parts between others count as these do. Letters between parts have no box, so they are not seen.

    Parameters
    ----------
    first, letters, is_seen, fewest_unseen : of each part of the text, in the order of the letters; the last is how
        many letters in a row must be unseen there, see `Letters`.
    """
    runs: list[list[Any]] = []
    columns = zip(first.tolist(), letters.tolist(), is_seen.tolist(), fewest_unseen.tolist(), strict=True)
    reached = 0
    for begin, count, seen, least in columns:
        if runs and begin > reached:
            runs.append([reached, begin, False, _FEWEST_BETWEEN])
        reached = max(reached, begin + count)
        if runs and runs[-1][2] == seen:
            runs[-1][1] = max(runs[-1][1], begin + count)
            runs[-1][3] = min(runs[-1][3], least)
        else:
            runs.append([begin, begin + count, seen, least])
    total = sum(end - begin for begin, end, *_ in runs)
    unseen = sum(end - begin for begin, end, seen, least in runs if not seen and least)
    is_much = unseen > _UNSEEN_SHARE * total
    for run in runs if len(runs) > 1 else ():
        fewest = _FEWEST_SEEN if run[2] else 0 if is_much else run[3]
        run[2] ^= run[1] - run[0] < min(fewest, total)
    found: list[tuple[int, int]] = []
    for begin, end, seen, _ in runs:
        if seen and found and found[-1][1] == begin:
            found[-1] = found[-1][0], end
        elif seen:
            found.append((begin, end))
    return found


def squeezed(owner: Ints, line: Ints, box: F64, letters: Ints, font_px: F64) -> Bools:
    """Return which parts (B,) are drawn so thin, so flat or so much on top of each other that nobody can read them.

    Parameters
    ----------
    owner, line, box, letters, font_px : the text and the text box of each part, which is not turned, its edges, its
        number of letters and the size of its font.
    """
    number, sizes, count = _unions(line, box, letters)
    short, long = np.sort(sizes, axis=1).T
    # A line of few letters may be narrower than it is high.
    size = np.where(count < _FEWEST_IN_LINE, long, short) / LINE_HEIGHT
    small = size < _LEAST_LETTER_PX
    # Fonts may say that their lines are much higher than their letters.
    np.minimum.at(size, number, MOST_ENLARGED * font_px)
    thin = (count >= _FEWEST_IN_LINE) & (long / np.maximum(count, 1) < _LEAST_READ * size)
    text, wholes, total = _unions(owner, box, letters)
    least = np.full(total.size, np.inf)
    np.minimum.at(least, text, size[number])
    piled = (total >= _FEWEST_IN_LINE) & (wholes.prod(axis=1) < _LEAST_READ * total * least**2)
    return np.asarray((thin | small)[number] | piled[text])


def _unions(group: Ints, box: F64, letters: Ints) -> tuple[Ints, F64, F64]:
    """Return the number of the group of each part, and the size (n, 2) and the letters (n,) of each group."""
    groups, number = np.unique(group, return_inverse=True)
    begin, end = np.full((groups.size, 2), np.inf), np.full((groups.size, 2), -np.inf)
    np.minimum.at(begin, number, box[:, :2])
    np.maximum.at(end, number, box[:, 2:])
    return number, end - begin, np.bincount(number, letters, groups.size).astype(np.float64)


def rgb(colour: str) -> tuple[float, float, float]:
    """Return red, green and blue of 255 of a computed colour; NaN in other notations, or if it is transparent."""
    name, _, values = colour.partition("(")
    found = [float(value) for value in values.rstrip(")").split(",")] if name in {"rgb", "rgba"} else []
    if not found or (len(found) == 4 and found[3] < _LEAST_OPAQUE):
        return np.nan, np.nan, np.nan
    return found[0], found[1], found[2]


def is_upright(transform: str) -> bool:
    """Return whether a transform leaves horizontal lines horizontal, and vertical ones vertical."""
    if not transform.startswith("matrix("):
        return transform in {"none", ""}
    return [float(one) for one in transform[7:-1].split(",")[1:3]] == [0.0, 0.0]


def shadow_px(value: str, count: int = 3) -> float:
    """Return how far shadows reach: each has an offset to the side, one down, and a blur, in px.

    With a `count` of 4, they are those of boxes, which also have a spread.
    """
    lengths = [abs(float(one[:-2])) for one in value.replace(",", "").split() if one.endswith("px")]
    reach = [
        max(lengths[at : at + 2]) + sum(lengths[at + 2 : at + count]) for at in range(0, len(lengths), count)
    ]
    return max(reach, default=0.0)


def sharp_shadow(shadows: str, effect: str, reflection: str, size_px: float) -> float:
    """Return how far shadows, a filter or a reflection draw letters once more, as a share of their size.

    Shadows that are blurred by more than they are away do not count.

    Parameters
    ----------
    shadows, effect, reflection : computed ``text-shadow``, ``filter`` and ``-webkit-box-reflect``.
    size_px : the size of the letters.
    """
    if reflection not in {"none", ""}:
        return np.inf
    each = (shadows, *effect.split("drop-shadow(")[1:])
    return max((far / max(size_px, 1e-9) for value in each for far in _sharp_px(value)), default=0.0)


def count_sharp(shadows: str, size_px: float) -> int:
    """Return how many shadows of a computed ``text-shadow`` draw letters once more, see `sharp_shadow`."""
    return sum(far > STROKE_SHADOW * size_px for far in _sharp_px(shadows))


def _sharp_px(shadows: str) -> Iterator[float]:
    """Yield how far the sharp ones of some shadows are away, in px."""
    lengths = [
        float(one[:-2]) for one in shadows.replace(",", "").replace(")", "").split() if one.endswith("px")
    ]
    for right, down, blur in zip(*(lengths[at::3] for at in range(3)), strict=False):
        if (far := max(abs(right), abs(down))) > blur:
            yield far


def drawn_px(effect: str, reflection: str) -> float:
    """Return how far from its box a computed ``filter`` or ``-webkit-box-reflect`` draws a text, in px."""
    if "url(" in effect or reflection not in {"none", ""}:
        return ANYWHERE_PX
    words = effect.replace("(", " ").replace(")", " ").split()
    lengths = sum(abs(float(word[:-2])) for word in words if word.endswith("px"))
    return SPREAD_PX + lengths if lengths else 0.0


def blur_px(value: str) -> float:
    """Return the radius of the first blur of a filter."""
    return float(value.split("blur(", 2)[1].split("px", 1)[0]) if "blur(" in value else 0.0


def frame_place(element: F64, own: F64, corners: F64 | None) -> tuple[F64, F64]:
    """Return where the document of a frame begins, and how large it is drawn (2,).

    Parameters
    ----------
    element, own : x, y, width and height of the element, and of the document in its own CSS px.
    corners : where the content of the element is (4, 2); None if this is not known.
    """
    if corners is None:  # in the middle of its element, as in other captures
        return element[:2] + (element[2:] - own[2:]) / 2, np.ones(2)
    size = np.ptp(corners, axis=0)
    scale = np.ones(2) if np.abs(size - own[2:]).max() <= _FRAME_PX else size / np.maximum(own[2:], 1)
    return corners.min(axis=0), scale


def edges_of(boxes: F64) -> F64:
    """Return left, top, right and bottom of boxes (B, 4), given by x, y, width and height."""
    return np.concatenate((boxes[:, :2], boxes[:, :2] + boxes[:, 2:]), axis=1)


def drawn_scale(bounds: F64, offset: Sequence[float]) -> F64:
    """Return how large the CSS px of an element are drawn, to the right and down (2,).

    Parameters
    ----------
    bounds, offset : x, y, width and height of the element on the page, and in its own CSS px, rounded.
    """
    own = np.array(offset[2:] or (0.0, 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = bounds[2:] / own
    return np.where((own > 0) & (np.abs(bounds[2:] - own) > 1), found, 1.0)


def px(value: str) -> float:
    """Return a computed length in px, 0 for other values."""
    return float(value[:-2]) if value.endswith("px") else 0.0


def number(value: str) -> float:
    """Return a computed number, 1 for other values."""
    try:
        return float(value)
    except ValueError:
        return 1.0


def has_other_digits(numeric: str, features: str) -> bool:
    """Return whether `font-variant-numeric` and `font-feature-settings` choose other digits, and nothing else."""
    tags = {one.split('"')[1] for one in features.split(",") if one.count('"') == 2}
    return tags <= _OF_DIGITS and (numeric not in {"normal", ""} or bool(tags))


def is_sign(text: str, *, has_other_digits: bool) -> bool:
    """Return whether a text has no letters and digits, or only other digits, which no canvas draws."""
    return not any(is_letter(one) and not (has_other_digits and one.isdecimal()) for one in text)


@lru_cache(5_000)
def is_letter(sign: str) -> bool:
    """Return whether readers take a sign for a letter or digit: also in circles and squares, and those of Braille."""
    name = unicodedata.name(sign, "")
    return (
        any(map(str.isalnum, unicodedata.normalize("NFKC", sign)))
        or name.startswith("BRAILLE PATTERN")
        or "LATIN CAPITAL LETTER" in name
    )


def levels_of(parent: Ints) -> list[Ints]:
    """Return the nodes of each depth; a parent may come after its child, as a frame does before its document."""
    level = np.flatnonzero(parent < 0)
    levels = []
    order = np.argsort(parent, kind="stable")
    first = np.searchsorted(parent[order], np.arange(parent.size + 1))
    while level.size:
        levels.append(level)
        spans = [order[first[node] : first[node + 1]] for node in level.tolist()]
        level = np.concatenate(spans) if spans else level[:0]
    return levels


def joined(columns: Any) -> Ints:
    return np.fromiter(chain.from_iterable(columns), np.intp)


def meet(boxes: F64 | Ints, others: F64 | Ints) -> Bools:
    """Return which boxes (..., 4) have a part in common with others (..., 4)."""
    return np.asarray(((boxes[..., :2] < others[..., 2:]) & (boxes[..., 2:] > others[..., :2])).all(axis=-1))


def common(first: F64, second: F64) -> F64:
    """Return what rectangles (..., 4) have in common, given by left, top, right and bottom."""
    begin, end = np.maximum(first[..., :2], second[..., :2]), np.minimum(first[..., 2:], second[..., 2:])
    return np.concatenate((begin, end), axis=-1)


def language_of(locale: str) -> str:
    """Return the language that a computed ``-webkit-locale`` says, as a canvas takes it."""
    said = locale.strip('"')
    return "" if said.lower() in {"auto", "inherit"} else said  # a canvas takes the latter from its document
