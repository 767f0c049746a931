"""Letters of drawings that are placed one by one, so that the eye does not find them in the order of the text."""

import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools, Ints, cached_per_page
from domsieve.analysis.columns.css_values import number
from domsieve.analysis.columns.page_columns import attributes_of, has_tag
from domsieve.analysis.columns.scene import Scene
from domsieve.budget import check
from domsieve.snapshot.page import Kind, Snapshot

# So many numbers of a list count, none beyond the second.
_MOST_NUMBERS, _MOST_NUMBER = 10_000, 1e6
_LISTS = ("x", "y", "dx", "dy")
# A letter without a place of its own stands so many sizes behind the one before. A guess.
_ADVANCE = 0.5
# The eye does not go from a letter to the next one if another is nearer by so much; or stands in the row and is
# about as near, while the next one stands elsewhere. Rows are so many sizes high.
_NEARER, _AS_NEAR, _ROW, _OWN_ROW, _ASIDE = 1.8, 1.2, 0.5, 1.0, 0.25
# Nobody reads letters of which the eye loses this share, or of which so many and this share stand before the one
# before on a line, and likewise behind it; in runs of so many letters, which begin at each of so many.
_MOST_LOST, _LEAST_BACK, _FEWEST_BACK = 0.4, 0.25, 2
_RUN, _RUN_STEP, _FEWEST = 20, 5, 6
# Animations that begin later, in s, or that are more than so many, do not count.
_LATEST_S, _MOST_CHANGERS = 60.0, 2000
_UNITS = {"ms": 1e-3, "min": 60.0, "h": 3600.0}
_MOST_ABOVE = 64  # elements around a text whose lists count
# Each letter is compared with those of as many letters around it.
_AROUND = 256


def number_list(said: str) -> list[float]:
    """Return the numbers of a list in an attribute of SVG."""
    values = said.replace(",", " ").split()[:_MOST_NUMBERS]
    return [min(max(number(value, 0.0), -_MOST_NUMBER), _MOST_NUMBER) for value in values]


@cached_per_page
def placed_lists(page: Snapshot) -> dict[str, dict[int, list[float]]]:
    """Return the lists for the letters of drawings by attribute and element, as animations leave them.

    Those that a reader has to start, that end where they began, or that begin after readers leave do not count.
    """
    attributes = attributes_of(page)
    found = {name: attributes.found(name, number_list) for name in (*_LISTS, "rotate")}
    changers = np.flatnonzero(has_tag(page, "animate", "set"))[:_MOST_CHANGERS]
    names: dict[str, int] = {}
    if changers.size:
        names = {f"#{name}": one for one, name in reversed([*zip(*attributes.values("id"), strict=True)])}
    for one in changers.tolist():
        said = {name.lower(): value.strip() for name, value in page.attributes(one).items()}
        name, last = (
            said.get("attributename", ""),
            said.get("to") or said.get("values", "").rpartition(";")[2],
        )
        target = names.get(said.get("href") or said.get("xlink:href") or "", int(page.parent[one]))
        is_kept = said.get("fill") == "freeze" or said.get("dur", "indefinite") == "indefinite"
        if name in found and last and is_kept and _begins(said.get("begin", "0")):
            found[name][target] = number_list(last)
    return found


def _begins(said: str) -> bool:
    """Return whether an animation begins by itself: soon, or when another one does or ends."""
    for begin in said.split(";"):
        if ".begin" in begin or ".end" in begin:
            return True
        *longer, last = begin.strip().split(":")
        unit = next((length for name, length in _UNITS.items() if last.endswith(name)), 1.0)
        if number(last, np.inf) * unit <= _LATEST_S and not any(number(one, 1.0) for one in longer):
            return True
    return False


class _Letter(NamedTuple):
    """A letter, the text that it is in, where it stands, and whether its place is its own."""

    text: int
    said: str
    x: float
    y: float
    is_placed: bool


def are_scattered(scene: Scene, text: Ints) -> Bools:
    """Return which texts of drawings have letters that are scattered, in columns or shuffled within words."""
    page, node = scene.page, scene.node
    every = placed_lists(page)
    lists = {name: every[name] for name in _LISTS}
    has_list = np.zeros(len(page), np.int64)
    for places in lists.values():
        for one, given in places.items():
            has_list[one] += len(given)
    sums = np.append(0, np.cumsum(has_list))
    roots = np.flatnonzero(has_tag(page, "text") & node.in_drawing)
    found = np.zeros(len(page), np.bool_)
    for root in roots[sums[page.end[roots]] - sums[roots] > _FEWEST].tolist():
        check()
        letters = [*_letters(page, root, lists, node.letter_px, node.seen)]
        for first, last in _lost(letters, node.letter_px[[one.text for one in letters]]):
            found[[one.text for one in letters[first:last]]] = True
    return found[text]


def _letters(
    page: Snapshot, root: int, lists: Mapping[str, Mapping[int, list[float]]], letter_px: F64, seen: Bools
) -> Iterator[_Letter]:
    """Yield the letters of a text element, in order, without white space."""
    begun: dict[int, int] = {}  # how many characters were before each element
    x = y = 0.0
    count, is_after_space = 0, True
    for node in range(root, page.end[root]):
        if page.kind[node] != Kind.TEXT:
            begun[node] = count
            continue
        if page.style[node] < 0:  # it takes no place
            continue
        check()
        above, at = list[int](), int(page.parent[node])
        while at >= root and len(above) < _MOST_ABOVE:
            above.append(at)
            at = int(page.parent[at])
        # The lists that have numbers left, those of inner elements first.
        left = [
            (name, begun[at], places[at])
            for name, places in lists.items()
            for at in above
            if at in places and count - begun[at] < len(places[at])
        ]
        for one in page.text_of(node):
            if is_after_space and one.isspace():
                continue
            own: dict[str, float] = {}
            for name, begin, given in left:
                if name not in own and count - begin < len(given):
                    own[name] = given[count - begin]
            x, y = own.get("x", x) + own.get("dx", 0.0), own.get("y", y) + own.get("dy", 0.0)
            is_after_space = one.isspace()
            if not is_after_space and seen[node]:
                yield _Letter(node, one, x, y, bool(own))
            count += 1
            x += _ADVANCE * letter_px[node]


def _lost(letters: list[_Letter], size: F64) -> Iterator[tuple[int, int]]:
    """Yield runs of letters, by the first and the one past the last, that nobody reads in their order."""
    at = np.array([(one.x, one.y) for one in letters], np.float64).reshape(-1, 2)
    is_placed = np.array([one.is_placed for one in letters], np.bool_)
    # Other scripts are written to the left, or downwards.
    level = np.array([_is_level(one.said) for one in letters], np.bool_)
    step = np.diff(at, axis=0)
    lost = np.zeros(len(step), np.bool_)
    for first in range(0, len(step), _AROUND):
        check()
        last = min(first + _AROUND, len(step))
        begin = max(first - _AROUND // 2, 0)
        lost[first:last] = _are_lost(at, size, level, first, last, begin)
    lost &= is_placed[1:]
    is_in_row = (np.abs(step[:, 1]) < _ROW * size[1:]) & level[1:] & level[:-1] & is_placed[1:]
    back = is_in_row & (step[:, 0] < -_ASIDE * size[1:])
    forth = is_in_row & (step[:, 0] > _ASIDE * size[1:])
    end = max(len(step) - _RUN, 0)
    for first in (*range(0, end, _RUN_STEP), end):
        run = slice(first, first + _RUN)
        count, there = np.count_nonzero(lost[run]), len(lost[run])
        if there < _FEWEST:
            continue
        ways = np.count_nonzero(back[run]), np.count_nonzero(forth[run])
        is_line = np.ptp(at[first : first + _RUN + 1, 1]) <= size[first]
        is_shuffled = is_line and min(ways) >= max(_FEWEST_BACK, _LEAST_BACK * sum(ways))
        if count > _MOST_LOST * there or is_shuffled:
            yield first, first + _RUN + 1


def _are_lost(at: F64, size: F64, level: Bools, first: int, last: int, begin: int) -> Bools:
    """Return after which of the letters from `first` to `last` the eye goes to another one than the next."""
    those, others = np.arange(first, last), np.arange(begin, min(last + _AROUND // 2, len(at)))
    way = at[others][None] - at[those][:, None]
    length = np.hypot(way[..., 0], way[..., 1])
    step = at[those + 1] - at[those]
    far = np.hypot(step[:, 0], step[:, 1])[:, None]
    is_other = np.abs(others[None] - those[:, None]) > 1
    is_nearer = length < far / _NEARER
    px = size[those][:, None]
    in_row = (np.abs(way[..., 1]) < _ROW * px) & (way[..., 0] > _ASIDE * px) & level[those][:, None]
    own = (np.abs(step[:, 1]) < _OWN_ROW * size[those]) & (step[:, 0] > 0)
    is_as_near = in_row & (length <= _AS_NEAR * far) & ~own[:, None]
    return np.asarray(((is_nearer | is_as_near) & is_other).any(axis=1))


def _is_level(letter: str) -> bool:
    return unicodedata.bidirectional(letter) not in {"R", "AL"} and unicodedata.east_asian_width(
        letter
    ) not in {
        "W",
        "F",
    }
