"""Words must show together, in one plain picture of the page."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from domsieve.renderer.page.pixels._count import Count


def _counted(boxes: list[list[float]], shown: list[str], *, texts: int = 1, room: float = np.inf) -> Count:
    """Return what is counted of words at some places, each shown in the plain pictures that have a "1"."""
    size = len(boxes)
    scene: Any = SimpleNamespace(
        owner=np.arange(size) * texts // size,
        document_of=np.zeros(texts, np.intp),
        unsure=np.zeros(texts, np.bool_),
        is_generated=np.zeros(texts, np.bool_),
        parent=np.zeros(texts, np.intp),
        names=["p"] * texts,
        alone=np.ones(texts, np.bool_),
        box=np.array(boxes),
        fixed_box=np.full(size, -1),
        drawn_px=lambda parts: np.full(len(parts), 16.0),
        common_room=lambda: np.full((size, 2), room),
    )
    count = Count(scene, np.array([0]), scene, len(shown[0]))
    count.shown_in[:] = [[one == "1" for one in pictures] for pictures in shown]
    return count


ROW = [[50.0 * at, 0.0, 50.0 * at + 40, 20.0] for at in range(6)]
COLUMN = [[0.0, 24.0 * at, 40.0, 24.0 * at + 20] for at in range(6)]
FAR_COLUMN = [[0.0, 150.0 * at, 40.0, 150.0 * at + 20] for at in range(6)]


@pytest.mark.parametrize("boxes", [ROW, COLUMN])
def test_words_that_show_in_one_picture_are_together(boxes: list[list[float]]) -> None:
    assert not _counted(boxes, ["01"] * 6).parted(np.ones(6, np.bool_)).any()


@pytest.mark.parametrize("boxes", [ROW, COLUMN])
def test_pairs_of_words_that_show_together_make_no_sentence(boxes: list[list[float]]) -> None:
    by_pairs = ["10001", "11000", "01100", "00110", "00011", "00001"]
    assert _counted(boxes, by_pairs).parted(np.ones(6, np.bool_)).all()


def test_the_edge_of_a_window_parts_one_pair_of_rows_of_two_texts_or_words_that_are_far_apart() -> None:
    every, once = np.ones(6, np.bool_), ["10", "10", "10", "01", "01", "01"]
    assert not _counted(COLUMN, once, texts=2).parted(every).any()
    assert _counted(COLUMN, once, texts=1).parted(every).any()
    assert _counted(ROW, once, texts=2).parted(every).any()
    assert not _counted(FAR_COLUMN, ["100", "100", "110", "011", "001", "001"]).parted(every).any()


def test_rows_of_which_a_box_shows_one_at_once_are_parted() -> None:
    every, apart = np.ones(6, np.bool_), np.identity(6).astype(int).astype(str)
    shown = ["".join(one) for one in apart.tolist()]
    assert _counted(COLUMN, shown, room=0.3 * 30).parted(every).all()
    assert not _counted(COLUMN, shown, room=0.3 * 60).parted(every).any()
