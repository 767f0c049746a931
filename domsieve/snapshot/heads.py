"""Heads of tables whose body scrolls in a box beside them, such as those of DataTables: a script moves them along."""

import numpy as np
from numpy.typing import NDArray

# Edges of columns are so near each other in px, and the boxes differ in their width by no more than a scroll bar.
_SAME_PX, _BAR_PX, _FEWEST_COLUMNS = 2.0, 20.0, 2
_MOST_STEPS = 16  # from a cell to the box around its table


def moved_heads(
    parent: NDArray[np.signedinteger],
    box: NDArray[np.floating],
    heads: NDArray[np.intp],
    cells: NDArray[np.intp],
    cuts: NDArray[np.bool_],
    scrolls: NDArray[np.bool_],
) -> NDArray[np.intp]:
    """Return the boxes that cut the head of a table whose columns are those of a box beside them that scrolls.

    Parameters
    ----------
    parent : the parent of each of N nodes.
    box : their x, y, width and height (N, 4), in px; NaN or 0 for those without a box.
    heads, cells : the ``th`` and ``td`` elements.
    cuts, scrolls : (N,), the boxes that cut to the side (``overflow-x: hidden``), and those that scroll to it.
    """
    if not (heads.size and cells.size and scrolls.any()):
        return np.zeros(0, np.intp)
    head_box, cell_box = _around(parent, heads, cuts), _around(parent, cells, scrolls)
    beside: dict[int, list[int]] = {}
    for node in np.unique(cell_box[cell_box >= 0]).tolist():
        beside.setdefault(int(parent[node]), []).append(node)
    found = []
    for node in np.unique(head_box[head_box >= 0]).tolist():
        own = box[heads[head_box == node], 0]
        for other in beside.get(int(parent[node]), ()) if own.size >= _FEWEST_COLUMNS else ():
            apart = np.abs(box[node] - box[other])
            is_same = apart[0] <= _SAME_PX and apart[2] <= _BAR_PX
            if is_same and _are_among(own, box[cells[cell_box == other], 0]):
                found.append(node)
    return np.unique(np.array(found, np.intp))


def _around(
    parent: NDArray[np.signedinteger], nodes: NDArray[np.intp], marked: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Return the nearest marked node around each of some, -1 for none that is near."""
    at = parent[nodes].astype(np.intp)
    for _ in range(_MOST_STEPS):
        at = np.where((at >= 0) & ~marked[at], parent[at], at)
    return np.where((at >= 0) & marked[at], at, -1)


def _are_among(edges: NDArray[np.floating], others: NDArray[np.floating]) -> bool:
    """Return whether each edge is one of the others."""
    some = np.unique(others)
    after = np.searchsorted(some, edges)
    near = (np.abs(edges - some[np.clip(at, 0, some.size - 1)]) <= _SAME_PX for at in (after - 1, after))
    return bool(np.logical_or(*near).all())
