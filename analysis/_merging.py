"""Merging element nodes of a style tree that hold much the same content (SST section 5.6.1).

Two element nodes of equal tag and attributes below one parent, in different style nodes, become one when their
characteristic features overlap. The tree turns into a graph without cycles: a merged node is a member of several
style nodes. Merging runs on the finished tree, top-down, pairs in order of (style, position), so the order in which
pages were learned changes nothing (section 7).
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from analysis._hash import U64, combine
from analysis._paths import step
from analysis._style_tree import StyleTree
from analysis._tables import Table, grouped


def merge_similar(tree: StyleTree, *, frequency: float, similarity: float) -> tuple[StyleTree, Table]:
    """Return the merged tree, and the aliases from each merged node's path to the path that replaces it.

    Parameters
    ----------
    frequency : gamma, share of the pages of a node on which a characteristic feature occurs, in (0, 1].
    similarity : lambda, Jaccard overlap of characteristic features from which nodes merge, in (0, 1].
    """
    contents = tree.contents
    if contents is None:
        raise ValueError("Merging needs the contents of element nodes; count the pages with contents=True.")
    aliases = Table(np.zeros(0, np.uint64), {"path": np.zeros(0, np.uint64)}, {})
    deepest = int(tree.elements.fixed["depth"].max(initial=0))
    for depth in range(2, deepest + 1):
        old, new = _similar(tree, depth, frequency=frequency, similarity=similarity)
        if old.size:
            aliases = grouped(
                np.concatenate((aliases.key, old)), {"path": np.concatenate((aliases.fixed["path"], new))}, {}
            )
            tree = _renamed(tree, grouped(old, {"path": new}, {}), depth)
    return tree, aliases


def _similar(tree: StyleTree, depth: int, *, frequency: float, similarity: float) -> tuple[U64, U64]:
    """Return the paths of one level that merge away, and the paths they merge into."""
    elements = tree.elements
    at = np.flatnonzero(elements.fixed["depth"] == depth)
    fixed = {name: elements.fixed[name][at] for name in ("parent", "label", "sequence", "position")}
    order = np.lexsort((fixed["position"], fixed["sequence"], fixed["label"], fixed["parent"]))
    at = at[order]
    parent, label, sequence = (fixed[name][order] for name in ("parent", "label", "sequence"))
    fresh = np.ones(at.size, np.bool_)
    fresh[1:] = (parent[1:] != parent[:-1]) | (label[1:] != label[:-1])
    starts = np.append(np.flatnonzero(fresh), at.size)
    old: list[int] = []
    new: list[int] = []
    for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        if b - a > 1 and (sequence[a:b] != sequence[a]).any():
            for gone, kept in _clusters(tree, at[a:b], frequency=frequency, similarity=similarity):
                old.append(int(elements.key[gone]))
                new.append(int(elements.key[kept]))
    return np.array(old, np.uint64), np.array(new, np.uint64)


def _clusters(
    tree: StyleTree, rows: NDArray[np.int64], *, frequency: float, similarity: float
) -> list[tuple[int, int]]:
    """Return (merged row, row it joins) of element nodes of equal label below one parent, in their order."""
    contents = tree.contents
    assert contents is not None
    elements = tree.elements
    pages = elements.sums["pages"]
    heads: list[int] = []
    styles: list[set[int]] = []
    counts: list[dict[int, int]] = []
    totals: list[int] = []
    holders: dict[int, set[int]] = {}  # characteristic feature -> clusters that have it
    joined: list[tuple[int, int]] = []
    by_path = np.argsort(contents.fixed["path"], kind="stable")
    paths = contents.fixed["path"][by_path]
    for row in rows.tolist():
        a, b = (
            np.searchsorted(paths, elements.key[row]),
            np.searchsorted(paths, elements.key[row], side="right"),
        )
        mine = dict(
            zip(
                contents.fixed["feature"][by_path[a:b]].tolist(),
                contents.sums["pages"][by_path[a:b]].tolist(),
                strict=True,
            )
        )
        chosen = _characteristic(mine, int(pages[row]), frequency)
        sequence = int(elements.fixed["sequence"][row])
        near = sorted(set().union(*(holders.get(feature, ()) for feature in chosen)))
        for cluster in near:
            theirs = _characteristic(counts[cluster], totals[cluster], frequency)
            if sequence in styles[cluster] or len(chosen & theirs) < similarity * len(chosen | theirs):
                continue
            joined.append((row, heads[cluster]))
            break
        else:
            cluster = len(heads)
            heads.append(row)
            styles.append(set())
            counts.append({})
            totals.append(0)
        styles[cluster].add(sequence)
        totals[cluster] += int(pages[row])
        for feature, count in mine.items():
            counts[cluster][feature] = counts[cluster].get(feature, 0) + count
        for feature in chosen:
            holders.setdefault(feature, set()).add(cluster)
    return joined


def _characteristic(counts: dict[int, int], pages: int, frequency: float) -> set[int]:
    return {feature for feature, count in counts.items() if count >= frequency * pages}


def _renamed(tree: StyleTree, names: Table, depth: int) -> StyleTree:
    """Return the tree with paths of one level replaced, and the paths of everything below them made anew."""
    elements = tree.elements
    level = elements.fixed["depth"]
    deepest = int(level.max(initial=0))
    path = elements.key.copy()
    moved = level == depth
    path[moved] = _through(names, path[moved])
    for below in range(depth + 1, deepest + 1):
        rows = np.flatnonzero(level == below)
        parent = elements.find(elements.fixed["parent"][rows])
        above = path[parent]
        rows, above = (
            rows[above != elements.fixed["parent"][rows]],
            above[above != elements.fixed["parent"][rows]],
        )
        steps = step(elements.fixed["label"][rows], elements.fixed["position"][rows])
        path[rows] = combine(combine(above, elements.fixed["sequence"][rows]), steps)
    new = Table(elements.key, {"path": path}, {})
    fixed = dict(elements.fixed, parent=_through(new, elements.fixed["parent"]))
    styles = tree.styles
    style_path = _through(new, styles.fixed["path"])
    style_key = combine(style_path, styles.fixed["sequence"])
    style_names = Table(styles.key, {"path": style_key}, {})
    members = {
        "style": _through(style_names, tree.members.fixed["style"]),
        "path": _through(new, tree.members.fixed["path"]),
    }
    return replace(
        tree,
        elements=grouped(path, fixed, elements.sums),
        styles=grouped(style_key, dict(styles.fixed, path=style_path), styles.sums),
        members=grouped(combine(members["style"], members["path"]), members, {}),
        features=_repathed(tree.features, new),
        contents=None if tree.contents is None else _repathed(tree.contents, new),
    )


def _repathed(table: Table, names: Table) -> Table:
    path = _through(names, table.fixed["path"])
    return grouped(combine(path, table.fixed["feature"]), dict(table.fixed, path=path), table.sums)


def _through(names: Table, paths: U64) -> U64:
    """Return each path under its new name, unchanged where it has none."""
    row = names.find(paths)
    return np.where(row >= 0, names.fixed["path"][row], paths) if len(names) else paths
