"""An outline of the simplified site style tree for reports, and the place of each page's nodes in it."""

from dataclasses import dataclass

import numpy as np

from domsieve.analysis.columns.batch import F64, Ints, page_batch
from domsieve.analysis.trees._forest import spread
from domsieve.analysis.trees._importance import simplified
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.trees.style_tree import StyleTree
from domsieve.snapshot.page import Snapshot

_LONGEST_HINT = 40


@dataclass(frozen=True, slots=True, eq=False)
class SiteOutline:
    """K element nodes of a simplified site style tree, parents before their children.

    Parameters
    ----------
    row : int64 (K,), rows of the tree's `elements`.
    parent : int64 (K,), index into these arrays; -1 for the root.
    importance : float64 (K,) in [0, 1], composite importance of the node and its descendants.
    pages : int64 (K,), number of pages that have the node.
    words : int64 (K,), number of words in its leaf form.
    below : int64 (K,), number of its descendants in the tree that the outline leaves out.
    mark : int64 (K,), 1 noisy, 2 meaningful, 0 neither.
    label : tag of each node with the first id or class seen; empty until `Outliner.place` has met the node.
    tree_pages, tree_nodes : number of learned pages, and of element nodes in the whole tree.
    threshold : nodes up to this importance are noise.
    """

    row: Ints
    parent: Ints
    importance: F64
    pages: Ints
    words: Ints
    below: Ints
    mark: Ints
    label: list[str]
    tree_pages: int
    tree_nodes: int
    threshold: float


class Outliner:
    """Builds the outline of a learned site style tree and places pages on it.

    Parameters
    ----------
    model : a site style tree that has learned pages.
    limit : maximum number of element nodes in the outline; those nearest to the root are kept.
    """

    def __init__(self, model: SiteStyleTree, *, limit: int = 3000) -> None:
        self._model = model
        used = model._ready()
        self._aliases = used.aliases
        self._tree = tree = used.tree
        figures, elements = used.figures, tree.elements
        above, children = _edges(tree)
        shown = np.flatnonzero(simplified(tree, figures) & (above >= -1))
        shown = shown[np.lexsort((elements.fixed["position"][shown], elements.fixed["depth"][shown]))][:limit]
        place = np.full(len(elements), -1, np.int64)
        place[shown] = np.arange(shown.size)
        nearest = place.copy()
        below = np.zeros(shown.size, np.int64)
        for row in np.argsort(elements.fixed["depth"], kind="stable").tolist():
            if place[row] < 0 and above[row] >= 0:
                nearest[row] = nearest[above[row]]
                below[nearest[row]] += 1
        self._nearest = nearest
        leaf = children[shown] == 0
        value = np.where(leaf & ~np.isnan(figures.leaf_form[shown]), figures.leaf_form[shown], np.nan)
        value = np.where(np.isnan(value), figures.composite[shown], value)
        self.outline = SiteOutline(
            row=shown,
            parent=np.where(above[shown] >= 0, place[above[shown]], -1),
            importance=value,
            pages=elements.sums["units"][shown].astype(np.int64),
            words=elements.sums["words"][shown].astype(np.int64),
            below=below,
            mark=np.select((figures.noisy[shown], figures.meaningful[shown]), (1, 2), 0),
            label=[""] * shown.size,
            tree_pages=tree.pages,
            tree_nodes=len(elements),
            threshold=used.threshold,
        )

    def place(self, page: Snapshot) -> Ints:
        """Return the nearest outline node of each of the page's N nodes, -1 for none; fills in missing labels."""
        batch = page_batch(page)
        aligned = self._model._read(batch, self._aliases)
        forest, row = aligned.forest, self._tree.elements.find(aligned.paths.path)
        place = np.where(row >= 0, self._nearest[row], -1)
        label = self.outline.label
        exact = np.flatnonzero(place >= 0)
        exact = exact[self.outline.row[place[exact]] == row[exact]]
        known, first = np.unique(place[exact], return_index=True)
        for number, node in zip(known.tolist(), forest.node[exact[first]].tolist(), strict=True):
            if not label[number]:
                label[number] = _label(page, node) if number else "page"
        places: Ints = spread(place, forest.places(), -1, np.int64)
        return places


def _edges(tree: StyleTree) -> tuple[Ints, Ints]:
    """Return the parent row of each element node, -1 for none, and its number of children."""
    elements = tree.elements
    above = elements.find(elements.fixed["parent"])
    above[elements.fixed["depth"] == 0] = -1
    return above, np.bincount(above[above >= 0], minlength=len(elements))


def _label(page: Snapshot, node: int) -> str:
    tag = page.tag_name(node)
    attributes = page.attributes(node)
    if attributes.get("id"):
        hint = "#" + attributes["id"].split(" ")[0]
    else:
        words = attributes.get("class", "").split()
        hint = "." + words[0] if words else ""
    return tag + hint[:_LONGEST_HINT]
