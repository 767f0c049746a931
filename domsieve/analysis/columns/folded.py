"""Rows and columns of tables with ``visibility: collapse``: what in them is not painted."""

from collections import Counter

import numpy as np

from domsieve.analysis.columns.batch import Bools, Ints
from domsieve.analysis.columns.scene import Scene
from domsieve.budget import check

_ROWS = ("table-row", "table-row-group", "table-header-group", "table-footer-group")
_COLUMNS = ("table-column", "table-column-group")
_TABLES = ("table", "inline-table")
# So many columns of a page are looked at.
_MOST_COLUMNS = 200
_LEAST_PX = 0.01  # the size of a cell in a collapsed column


def are_folded(scene: Scene, text: Ints) -> Bools:
    """Return which texts are in collapsed rows or columns, which paint nothing, whatever is visible in them.

    Boxes that are painted apart, such as those that are placed, float or have an opacity, are painted even there.
    """
    page, found = scene.page, np.zeros(text.size, np.bool_)
    folds = _folded_boxes(scene)
    depth = np.cumsum(np.bincount(folds, minlength=len(page) + 1))
    depth -= np.cumsum(np.bincount(page.end[folds], minlength=len(page) + 1))
    waiting = np.flatnonzero(depth[text] > 0)
    if not waiting.size:
        return found
    node, is_fold = scene.node, np.zeros(len(page), np.bool_)
    is_fold[folds] = True
    apart = node.each("position", "static", lambda value: value != "static") | node.cuts | node.scrolls
    apart |= node.each("float", "none", lambda value: value != "none")
    apart |= scene.context_of == np.arange(len(page))
    at = page.parent[text].astype(np.int64)
    while waiting.size:
        check()
        waiting = waiting[~apart[at[waiting]] & (depth[at[waiting]] > 0)]
        done = is_fold[at[waiting]]
        # Whatever else makes a box that is painted apart has a number of its own in the order of painting.
        found[waiting[done]] = (page.paint[text] == page.paint[at])[waiting[done]]
        waiting = waiting[~done]
        at[waiting] = page.parent[at[waiting]]
    return found


def _folded_boxes(scene: Scene) -> Ints:
    """Return the rows and groups of rows that are collapsed, and the cells of collapsed columns."""
    node, page = scene.node, scene.page
    collapses = node.each("visibility", "visible", lambda value: value == "collapse")
    boxes = np.flatnonzero(collapses & node.each("display", "inline", lambda value: value in _ROWS))
    columns = np.flatnonzero(collapses & node.each("display", "inline", lambda value: value in _COLUMNS))
    columns = columns[~np.isin(columns, page.parent[columns])][:_MOST_COLUMNS]
    if not columns.size:
        return boxes
    is_table = node.each("display", "inline", lambda value: value in _TABLES)
    is_cell = node.each("display", "inline", lambda value: value == "table-cell") & (page.text < 0)
    size = scene.rect[:, 2:] - scene.rect[:, :2]
    places: Counter[tuple[int, int, int]] = Counter()
    for column in columns.tolist():
        table = int(page.parent[column])
        while table > 0 and not is_table[table]:
            table = int(page.parent[table])
        for axis in np.flatnonzero(size[column] <= _LEAST_PX).tolist():
            places[table, axis, round(scene.rect[column, axis])] += 1
    found = [boxes]
    for (table, axis, place), count in places.items():
        check()
        cells = table + np.flatnonzero(is_cell[table : page.end[table]])
        # A cell of several columns is folded only if all of them are: then it has no size.
        cells = cells[(size[cells, axis] <= _LEAST_PX) & (np.abs(scene.rect[cells, axis] - place) <= 1)]
        # Of more cells in one place, it is not known which are in the columns.
        rows, number, cells_in = np.unique(page.parent[cells], return_inverse=True, return_counts=True)
        found.append(cells[(cells_in <= count)[number]] if rows.size else cells)
    return np.unique(np.concatenate(found))
