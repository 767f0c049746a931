"""Where a box that scrolls is free of what covers it."""

import numpy as np

from domsieve.renderer.page.pixels._free import _Grid

_SIZE, _ALL = np.array([100.0, 40.0]), np.array([True, True])
_FAR = np.array([500.0, 500.0])


def _grid() -> _Grid:
    """Return what is known of a box of 300 by 300 px, whose upper 60 px and left 120 px are covered."""
    grid = _Grid.of(np.array([300.0, 300.0]))
    boxes = np.array(
        [[x, y, x + 60, y + 30] for x in range(0, 300, 60) for y in range(0, 300, 30)], np.float64
    )
    grid.learn(boxes, (boxes[:, 0] >= 120) & (boxes[:, 1] >= 60))
    return grid


def test_a_part_comes_to_the_corner_of_what_is_free() -> None:
    found = _grid().room(_SIZE, -_FAR, _FAR, after=_ALL, surely=1)
    assert found
    corner, free = found
    assert free.tolist() == [120, 60, 300, 300]
    assert ((corner >= [120, 60]) & (corner <= [160, 100])).all()


def test_a_part_comes_to_the_other_corner_if_what_waits_is_before_it() -> None:
    found = _grid().room(_SIZE, -_FAR, _FAR, after=~_ALL, surely=1)
    assert found
    corner, free = found
    assert free.tolist() == [120, 60, 300, 300]
    assert ((corner + _SIZE <= 300) & (corner + _SIZE >= 260)).all()


def test_a_part_that_cannot_come_to_what_is_free_has_no_place() -> None:
    assert _grid().room(_SIZE, -_FAR, np.array([10.0, 500.0]), after=_ALL, surely=1) is None


def test_a_box_of_which_nothing_is_known_to_be_covered_has_no_place() -> None:
    assert _Grid.of(np.array([300.0, 300.0])).room(_SIZE, -_FAR, _FAR, after=_ALL, surely=1) is None
    assert _grid().room(_SIZE, -_FAR, _FAR, after=_ALL, surely=2) is None
