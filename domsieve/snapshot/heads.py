"""Heads of tables whose body scrolls in a box beside them, such as those of DataTables: a script moves them along."""

from bisect import bisect
from collections.abc import Iterator

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
    """Return the boxes that cut the head of a table whose columns are those of the next or last box that scrolls.

    Parameters
    ----------
    parent : the parent of each of N nodes.
    box : their x, y, width and height (N, 4), in px; NaN or 0 for those without a box.
    heads, cells : the ``th`` and ``td`` elements.
    cuts, scrolls : (N,), the boxes that cut to the side (``overflow-x: hidden``), and those that scroll to it.
    """
    if not (heads.size and cells.size and scrolls.any()):
        return np.zeros(0, np.intp)
    own = dict(_grouped(_around(parent, heads, cuts), box[heads, 0]))
    others = dict(_grouped(_around(parent, cells, scrolls), box[cells, 0]))
    bodies: dict[int, list[int]] = {}
    for node in others:
        bodies.setdefault(int(parent[node]), []).append(node)
    found = []
    for node, edges in own.items():
        beside = bodies.get(int(parent[node]), [])
        place = bisect(beside, node)
        for other in beside[max(place - 1, 0) : place + 1] if edges.size >= _FEWEST_COLUMNS else ():
            apart = np.abs(box[node] - box[other])
            if apart[0] <= _SAME_PX and apart[2] <= _BAR_PX and _are_among(edges, others[other]):
                found.append(node)
    return np.unique(np.array(found, np.intp))


def _grouped(
    around: NDArray[np.intp], edges: NDArray[np.floating]
) -> Iterator[tuple[int, NDArray[np.floating]]]:
    """Yield each box that is around some cells, ascending, with the edges of these."""
    order = np.argsort(around, kind="stable")
    order = order[around[order] >= 0]
    nodes, first = np.unique(around[order], return_index=True)
    yield from zip(nodes.tolist(), np.split(edges[order], first[1:]), strict=False)


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
