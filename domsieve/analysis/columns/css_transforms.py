"""Computed transforms: how thin they make letters, and whether they show the back of a box or nothing of it."""

import re
from math import cos, hypot, radians, sin

import numpy as np

from domsieve.analysis.columns.css_values import F64, number

_NUMBERS = re.compile(r"-?\d*\.?\d+(?:e[-+]?\d+)?")
_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def matrix_of(rotate: str, scale: str, transform: str) -> F64:
    """Return the matrix (4, 4), for columns, of computed ``rotate``, ``scale`` and ``transform``.

    See CSS Transforms Module Level 2, section 6. What is not known changes nothing.
    """
    matrix: F64 = np.eye(4)
    if rotate != "none":
        matrix = matrix @ _turn(rotate)
    if scale != "none":
        parts = [float(part) for part in _NUMBERS.findall(scale)][:3]
        sizes = parts * 2 if len(parts) == 1 else parts
        matrix = matrix @ np.diag([*sizes, *[1.0] * (4 - len(sizes))])
    if transform != "none":
        name, _, said = transform.partition("(")
        numbers = [float(part) for part in _NUMBERS.findall(said)]
        if name == "matrix" and len(numbers) == 6:
            own = np.eye(4)
            own[:2, :2], own[:2, 3] = np.reshape(numbers[:4], (2, 2)).T, numbers[4:]
            matrix = matrix @ own
        elif name == "matrix3d" and len(numbers) == 16:
            matrix = matrix @ np.reshape(numbers, (4, 4)).T
    return np.nan_to_num(matrix, nan=0.0, posinf=1e9, neginf=-1e9)


def perspective(value: str) -> F64:
    """Return the matrix of the property ``perspective``."""
    matrix: F64 = np.eye(4)
    if value != "none":
        matrix[3, 2] = -1 / max(number(value, 1.0), 1.0)
    return matrix


def _turn(rotate: str) -> F64:
    words = rotate.split()
    axis = _AXES.get(words[0]) if len(words) == 2 else None
    if len(words) == 4:
        numbers = [number(word, 0.0) for word in words[:3]]
        size = max(hypot(*numbers), 1e-9)
        axis = (numbers[0] / size, numbers[1] / size, numbers[2] / size)
    x, y, z = axis or _AXES["z"]
    turn = radians(number(words[-1], 0.0))
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    matrix: F64 = np.eye(4)
    matrix[:3, :3] += sin(turn) * cross + (1 - cos(turn)) * (cross @ cross)
    return matrix


def slant(matrices: F64) -> F64:
    """Return the sine of the angle that each matrix (n, 2, 2) leaves between the axes of a box; 1 without skewing."""
    determinant = np.abs(matrices[:, 0, 0] * matrices[:, 1, 1] - matrices[:, 0, 1] * matrices[:, 1, 0])
    sides = np.hypot(matrices[:, 0, 0], matrices[:, 1, 0]) * np.hypot(matrices[:, 0, 1], matrices[:, 1, 1])
    return np.asarray(determinant / np.maximum(sides, 1e-300))


def thinness(matrices: F64) -> F64:
    """Return the smaller singular value of each matrix (n, 2, 2) as a share of the larger one; 0 for lines."""
    a, b, c, d = matrices[:, 0, 0], matrices[:, 0, 1], matrices[:, 1, 0], matrices[:, 1, 1]
    total, area = a * a + b * b + c * c + d * d, np.abs(a * d - b * c)
    root = np.sqrt(np.maximum(total * total - 4 * area * area, 0.0))
    return np.asarray(np.sqrt(np.maximum(total - root, 0.0) / np.maximum(total + root, 1e-300)))
