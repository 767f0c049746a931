"""How transforms turn, mirror and flatten the letters of a page, and in which direction each text is read."""

from collections.abc import Mapping, Sequence
from math import cos, radians, sin

import numpy as np

from domsieve.renderer.page.pixels._parts import F64, Bools, Ints

# Letters that are drawn flatter than this, or less high in px, are never read. Those in level lines may be flatter.
_LEAST_THINNESS, _LEAST_LEVEL_THINNESS, _LEAST_LETTER_PX = 0.2, 0.1, 3.5
_DEGREES = {"deg": 1.0, "grad": 0.9, "turn": 360.0, "rad": 180 / np.pi}
_NONE = frozenset({"none", ""})
TURNING = ("rotate", "scale", "transform")
"""The computed properties that turn, mirror and flatten boxes."""
# The sine of the smallest angle at which letters in perspective look different.
_LEAST_TILT = 0.05
# Where the letters of a line go, to the right and down.
_WAYS = {
    **dict.fromkeys(("vertical-rl", "vertical-lr", "sideways-rl", "tb", "tb-rl"), (0, 1)),
    "sideways-lr": (0, -1),
}


def linear_maps(
    column: Mapping[str, Sequence[str]],
    row: Ints,
    turns: Bools,
    keeps: Bools,
    levels: Sequence[Ints],
    parent: Ints,
) -> F64:
    """Return what the transforms of each node and of all above it make of lengths to the right and down (N, 2, 2).

    Parameters
    ----------
    column, row : the distinct values of each property, and which of them each node has (N,).
    turns : (N,), the nodes that are transformed: not text, nor inline elements of HTML.
    keeps : (N,), the nodes that share their three dimensions with what is in them.
    levels, parent : the nodes of each depth, and the node above each.
    """
    plain = [all(column[name][at] in _NONE for name in TURNING) for at in range(len(column["transform"]))]
    own = {
        at: _solid_of(*(column[name][at] for name in TURNING))
        for at, is_plain in enumerate(plain)
        if not is_plain
    }
    found = np.tile(np.eye(2), (row.size, 1, 1))
    if not own:
        return found
    turned = turns & ~np.array(plain)[row]
    # How all around a node in its room turn it, and what is around the room makes of it.
    rooms: dict[int, tuple[F64, F64]] = {}
    for nodes in levels:
        above = parent[nodes]
        found[nodes] = np.where((above >= 0)[:, None, None], found[above], np.eye(2))
        for node in nodes[(turned | keeps)[nodes]].tolist():
            turn, around = rooms.get(int(parent[node]), (np.eye(3), found[node].copy()))
            if turned[node]:
                turn = turn @ own[int(row[node])]
                found[node] = around @ turn[:2, :2]
            if keeps[node]:
                rooms[node] = turn, around
    return found


def _solid_of(rotate: str, scale: str, transform: str) -> F64:
    """Return what a computed ``rotate``, ``scale`` and ``transform`` turn and stretch (3, 3), without perspective."""
    matrix = np.eye(3)
    if rotate not in _NONE:
        *axis, angle = rotate.split()
        turn = radians(_degrees(angle))
        ways = {"x": (1, 2), "y": (2, 0)}
        first, second = ways.get(axis[0] if axis else "z", (0, 1))
        if len(axis) == 3:  # around any other axis: of half a turn, one side is mirrored
            matrix[0, 0] = cos(turn)
        else:
            matrix[[first, second], [first, second]] = cos(turn)
            matrix[first, second], matrix[second, first] = -sin(turn), sin(turn)
    if scale not in _NONE:
        sizes = [float(one) for one in scale.split()]
        sizes = sizes * 2 if len(sizes) == 1 else sizes
        matrix = matrix @ np.diag([*sizes, 1.0][:3])
    if transform not in _NONE:
        numbers, own = _numbers(transform), np.eye(3)
        if len(numbers) > 6:
            own = np.reshape(numbers, (4, 4)).T[:3, :3]
        else:
            own[:2, :2] = np.reshape(numbers[:4], (2, 2)).T
        matrix = matrix @ own
    return np.asarray(np.nan_to_num(matrix))


def tilted(rotate: str, transform: str) -> tuple[bool, bool]:
    """Return whether a computed ``rotate`` or ``transform`` turns a box out of the plane of the page by some degrees.

    The second value says whether the transform draws what is farther smaller.
    """
    *axis, angle = rotate.split() or [""]
    turns = bool(axis) and axis[0] != "z" and abs(sin(radians(_degrees(angle)))) > _LEAST_TILT
    if len(numbers := _numbers(transform)) <= 6:
        return turns, False
    turns |= max(abs(numbers[2]), abs(numbers[6])) > _LEAST_TILT
    return turns, (numbers[3], numbers[7], numbers[11]) != (0, 0, 0)


def _numbers(transform: str) -> list[float]:
    return (
        [float(one) for one in transform.partition("(")[2].rstrip(")").split(",")] if "(" in transform else []
    )


def _degrees(angle: str) -> float:
    for unit, degrees in _DEGREES.items():
        if angle.endswith(unit):
            return float(angle[: -len(unit)]) * degrees
    return 0.0


def too_flat(maps: F64, font_px: F64, is_level: Bools) -> Bools:
    """Return which nodes (N,) have letters that are drawn so flat or so narrow that nobody can read them.

    Parameters
    ----------
    maps : (N, 2, 2), see `linear_maps`.
    font_px : (N,), the size of the letters before they are transformed.
    is_level : (N,), the nodes whose lines are level or upright.
    """
    total = (maps**2).sum(axis=(1, 2))
    flat = np.abs(np.linalg.det(maps))
    root = np.sqrt(np.maximum(total**2 - 4 * flat**2, 0.0))
    long, short = np.sqrt((total + root) / 2), np.sqrt(np.maximum(total - root, 0.0) / 2)
    least = np.where(is_level, _LEAST_LEVEL_THINNESS, _LEAST_THINNESS)
    return np.asarray((short < least * long) | (short * font_px < _LEAST_LETTER_PX))


def reading(maps: F64, column: Mapping[str, Sequence[str]], row: Ints) -> F64:
    """Return where the letters of each node (N, 2) go, to the right and down, for scripts written to the right.

    Parameters
    ----------
    maps : (N, 2, 2), see `linear_maps`.
    column, row : as for `linear_maps`.
    """
    ways = np.array([_WAYS.get(value, (1, 0)) for value in column["writing-mode"]], np.float64)
    return np.asarray(np.einsum("nij,nj->ni", maps, ways[row]))


def turned_lines(writing_mode: str) -> F64:
    """Return how a writing mode turns the lines of letters that are not upright (2, 2)."""
    right, down = _WAYS.get(writing_mode, (1, 0))
    return np.array([[right, -down], [down, right]], np.float64)


def overrides(
    column: Mapping[str, Sequence[str]], row: Ints, is_text: Bools, levels: Sequence[Ints], parent: Ints
) -> Ints:
    """Return the direction that styles force on the letters of each node (N,), see `parts_of`.

    See CSS Writing Modes Level 4, section 2.2.
    """
    forced = np.array(
        [
            (-1 if direction == "rtl" else 1) * ("override" in value)
            for value, direction in zip(column["unicode-bidi"], column["direction"], strict=True)
        ]
    )[row]
    passes = np.array([value in {"normal", ""} for value in column["unicode-bidi"]])[row]
    passes &= np.array([value == "inline" for value in column["display"]])[row]
    for nodes in levels[1:]:
        inherits = is_text[nodes] | passes[nodes]
        forced[nodes] = np.where(inherits, forced[parent[nodes]], forced[nodes])
    return forced
