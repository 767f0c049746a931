"""Pages as forests of element nodes: the normalised trees that style trees are built from."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import F64, Batch, Bools, Ints, distinct, nearest, painted
from domsieve.analysis.columns.hash import U64, combine, hash_of
from domsieve.analysis.columns.names import TagIs
from domsieve.analysis.columns.styles import presentation_styles
from domsieve.analysis.columns.tables import stable_order
from domsieve.analysis.columns.visible import visible_nodes
from domsieve.snapshot.page import Kind
from domsieve.vocabulary import StyleLevel

TEXT_LABEL = hash_of("#text")


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """The M element nodes of P pages, level by level in document order, so that siblings are adjacent.

    Parameters
    ----------
    levels : int64 (D + 1,), the nodes of depth d are ``levels[d] .. levels[d + 1] - 1``; depth 0 are virtual roots.
    node : int64 (M,), node of the batch; the document for virtual roots.
    page : int32 (M,), page of the batch.
    parent : int64 (M,), forest node; -1 for virtual roots.
    label : uint64 (M,), hash of tag and display attributes; 0 for virtual roots.
    leaf : bool (M,), whether the node has features instead of children.
    owner : int64 (N,), the leaf that contains each shown node of the batch; -1 if there is none.
    shown : bool (N,), which nodes of the batch are shown.
    holder : int64 (N,), the nearest ancestor of each node of the batch that was not unwrapped; -1 for documents.
    """

    levels: Ints
    node: Ints
    page: NDArray[np.int32]
    parent: Ints
    label: U64
    leaf: Bools
    owner: Ints
    shown: Bools
    holder: Ints

    def depths(self) -> NDArray[np.int32]:
        """Return the depth of each of the M nodes; 0 for virtual roots."""
        return np.repeat(np.arange(self.levels.size - 1, dtype=np.int32), np.diff(self.levels))

    def places(self) -> Ints:
        """Return the forest node that each of the N nodes of the batch is, or the leaf it is in; -1 for neither."""
        node = self.owner.copy()
        inner = self.levels[1] + np.flatnonzero(~self.leaf[self.levels[1] :])
        node[self.node[inner]] = inner
        return node


def spread(values: NDArray[Any], place: Ints, default: float, dtype: type[np.generic]) -> NDArray[Any]:
    """Return the value of each of N nodes of a batch, from those of the forest.

    Parameters
    ----------
    values : (M,), one per forest node.
    place : (N,), the forest node of each node, -1 for none; see `Forest.places`.
    default : the value of nodes without a place.
    dtype : type of the result.
    """
    return np.append(values.astype(dtype), np.array(default, dtype))[place]


def around(batch: Batch, forest: Forest, kept: Bools, empty: Bools) -> tuple[Bools, Bools]:
    """Extend kept content with its ancestors and with empty nodes inside it.

    Parameters
    ----------
    kept : (N,), the nodes with kept content.
    empty : (N,), nodes without content. Those that have no children, such as line breaks, are kept with their parent.

    Returns
    -------
    kept, above : (N,) each, all nodes to keep, and those that are ancestors of kept content.
    """
    before = np.concatenate(([0], np.cumsum(kept & (batch.kind != Kind.DOCUMENT), dtype=np.int32)))
    above = ~kept & (forest.owner < 0) & (before[batch.end] > before[:-1])
    kept = kept | above
    childless = batch.end == np.arange(1, kept.size + 1)
    alone = np.flatnonzero(empty & childless & (batch.parent >= 0))
    kept[alone] = kept[batch.parent[alone]]
    return kept, above


def plant(batch: Batch, *, level: StyleLevel, flatten_inline: bool, leaf_height: int) -> Forest:
    """Return the forest of a batch, in O(N log D) for a depth of D.

    Parameters
    ----------
    level : presentation style that, with the tag, is the label of an element node.
    flatten_inline : unwrap inline markup without block content and drop line breaks; off in paper mode.
    leaf_height : elements whose subtree is at most this high are leaves; 1 for SST, 2 for CST.
    """
    shown = visible_nodes(batch)
    roots = batch.first[:-1]
    left_out = TagIs.HTML | TagIs.BREAK if flatten_inline else TagIs.HTML
    kept = batch.elements() & shown & ((batch.tag_is & left_out) == 0)
    if flatten_inline:
        kept[_unwrapped(batch, kept)] = False
    element = np.flatnonzero(kept)
    kept[roots] = True
    up = nearest(batch, kept)
    internal = _internal(up, element, roots, leaf_height)

    planted = kept & internal[up]
    planted[roots] = True
    text = _inked_texts(batch, shown)
    text = text[internal[up[text]]]
    planted[text] = True
    candidates = np.flatnonzero(planted)
    # Adjacent texts of one parent are one run, which counts as one child.
    loose = batch.kind[candidates] == Kind.TEXT
    continues = np.zeros(candidates.size, np.bool_)
    continues[1:] = loose[1:] & loose[:-1] & (up[candidates[1:]] == up[candidates[:-1]])
    node = candidates[~continues]

    so_far = np.zeros(batch.kind.size, np.int64)
    so_far[node] = 1
    np.cumsum(so_far, out=so_far)
    depth = _depths(so_far[batch.end[node] - 1])
    order = stable_order(depth)
    node = node[order]
    index = np.empty(node.size + 1, np.int64)
    index[order + 1] = np.arange(node.size)
    index = index[so_far]  # the forest node of each planted node of the batch
    leaves = candidates[~internal[candidates]]
    owner = painted(leaves, batch.end[leaves], index[leaves], size=shown.size, ground=-1)
    owner[~shown] = -1
    return Forest(
        levels=np.concatenate(([0], np.cumsum(np.bincount(depth)))),
        node=node,
        page=batch.page[node],
        parent=np.where(up[node] < 0, -1, index[up[node]]),
        label=_labels(batch, node, presentation_styles(batch, level, of=planted)),
        leaf=~internal[node],
        owner=owner,
        shown=shown,
        holder=up,
    )


def _unwrapped(batch: Batch, element: Bools) -> Ints:
    """Return the inline elements without block content."""
    inline = np.flatnonzero(element & ((batch.tag_is & TagIs.INLINE) != 0))
    blocks = np.cumsum((batch.tag_is & TagIs.BLOCK) != 0, dtype=np.int32)
    plain: Ints = inline[blocks[batch.end[inline] - 1] == blocks[inline]]
    return plain


def _inked_texts(batch: Batch, shown: Bools) -> Ints:
    """Return the shown text nodes that are neither generated nor blank."""
    node = np.flatnonzero((batch.kind == Kind.TEXT) & shown)
    node = node[batch.kind[batch.parent[node]] != Kind.PSEUDO]
    strings, which = distinct(batch.text[node], len(batch.strings))
    start, stop = batch.strings.offsets[strings], batch.strings.offsets[strings + 1]
    dark = np.append(batch.strings.blob > ord(" "), np.False_)
    ink = dark[start] & (start < stop)
    doubtful = np.flatnonzero(~ink & (start < stop))
    if doubtful.size:
        cuts = np.stack((start[doubtful], stop[doubtful]), axis=1).ravel()
        ink[doubtful] = np.logical_or.reduceat(dark, cuts)[::2]
    inked: Ints = node[ink[which]]
    return inked


def _internal(up: Ints, element: Ints, roots: Ints, leaf_height: int) -> Bools:
    """Return which nodes are roots or have an element more than `leaf_height` levels below them."""
    above = element
    for _ in range(leaf_height + 1):
        internal = np.zeros(up.size, np.bool_)
        internal[up[above]] = True
        internal[roots] = False
        above = np.flatnonzero(internal)
    internal[roots] = True
    return internal


def _depths(end: Ints) -> Ints:
    """Return the number of ancestors of each node, from the ends of the subtrees ``i .. end[i] - 1``."""
    return np.arange(end.size) - np.cumsum(np.bincount(end, minlength=end.size + 1)[:-1])


def _labels(batch: Batch, node: Ints, styles: U64) -> U64:
    style = np.where(batch.tag_is[node] & TagIs.BODY, np.uint64(0), styles[node])
    labels = combine(batch.tag_hash[batch.tag[node]], style)
    labels[batch.kind[node] == Kind.TEXT] = TEXT_LABEL
    labels[batch.kind[node] == Kind.DOCUMENT] = 0
    return labels


_FREE_LEVELS = 3  # document, body and the blocks of the body


def in_context(value: F64, count: Ints, forest: Forest, *, strength: float) -> F64:
    """Return the smoothed value of each of the M forest nodes, in O(M).

    Parameters
    ----------
    value : (M,), the values of leaves; other nodes are ignored.
    count : (M,), the number of features of each leaf.
    forest : one or more pages, which do not influence each other.
    strength : the number of features that the surroundings of a node are worth, at least 0; 0 returns `value`.
    """
    if strength == 0:
        return value
    weight = np.where(forest.leaf, count, 0.0)
    total = weight * value
    levels = list(pairwise(forest.levels.tolist()))
    for (a, b), (c, d) in reversed(list(pairwise(levels))):
        above = forest.parent[c:d] - a
        weight[a:b] += np.bincount(above, weight[c:d], b - a)
        total[a:b] += np.bincount(above, total[c:d], b - a)
    smooth = total / np.maximum(weight, 1.0)
    for a, b in levels[_FREE_LEVELS:]:
        smooth[a:b] = (total[a:b] + strength * smooth[forest.parent[a:b]]) / (weight[a:b] + strength)
    return smooth
