"""The column of what a page looks like at other moments: which pages it gives, and that it is checked."""

from dataclasses import replace

import numpy as np
import pytest

from domsieve.errors import InvalidSnapshotError
from domsieve.snapshot.moments import moments
from domsieve.snapshot.page import MOMENTS, Snapshot
from domsieve.snapshot.strings import StringTable
from tests.snapshot.pages import made_up


def _with(page: Snapshot, node: int, said: str) -> Snapshot:
    """Return the page with what is said of the moments of a node, which gets a row of styles of its own."""
    strings = page.strings.to_list()
    styles = np.column_stack((page.styles, np.full(len(page.styles), len(strings), np.int32)))
    row = styles[page.style[node]].copy()
    row[-1] = len(strings) + 1
    style = page.style.copy()
    style[node] = len(styles)
    return replace(
        page,
        style=style,
        styles=np.concatenate((styles, [row])),
        style_names=(*page.style_names, MOMENTS),
        strings=StringTable.from_strings([*strings, "", said]),
    )


def test_a_page_has_no_moments_but_those_that_it_says() -> None:
    page = made_up(1, 50)
    assert not [*moments(page)]
    node = int(np.flatnonzero(page.style >= 0)[3])
    said = '[[5,-2.5,1,0,{"display":"grid","other":"1"},true],null]'
    found, counts = zip(*moments(_with(page, node, said)), strict=True)
    assert [np.flatnonzero(one).tolist() for one in counts] == [[node], []]
    moved = np.zeros((len(page), 4))
    moved[node] = 5, -2.5, 1, 0
    assert np.array_equal(found[0].box, (page.box + moved).astype(np.float32), equal_nan=True)
    assert np.array_equal(found[1].box, page.box, equal_nan=True)
    assert [one.computed_style(node)["display"] for one in found] == [
        "grid",
        page.computed_style(node)["display"],
    ]
    assert found[0].computed_style(0) == found[1].computed_style(0)


@pytest.mark.parametrize("said", ["no", '{"x":1}', "[[1,2,3,4]]", '[["a",2,3,4,{}]]', "[[1,2,3,4,{}]"])
def test_moments_that_make_no_sense_are_refused(said: str) -> None:
    page = made_up(2, 50)
    node = int(np.flatnonzero(page.style >= 0)[0])
    with pytest.raises(InvalidSnapshotError, match="moments"):
        [*moments(_with(page, node, said))]


def test_no_moment_moves_a_box_beyond_all_numbers() -> None:
    page = made_up(3, 50)
    node = int(np.flatnonzero(page.style >= 0)[0])
    ((found, _),) = moments(_with(page, node, "[[1e300,-1e300,0,0,{}]]"))
    assert np.isfinite(found.box[node]).all()
