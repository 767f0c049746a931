"""Pages as a forest of element nodes with presentation styles, and the features of its leaves."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import (
    F64,
    AttributeIs,
    Batch,
    Bools,
    Ints,
    TagIs,
    below,
    distinct,
    nearest,
    painted,
)
from domsieve.analysis.columns.hash import U64, combine, hash_of, hashes_of
from domsieve.analysis.columns.links import file_name, link_references
from domsieve.analysis.columns.styles import presentation_styles
from domsieve.analysis.columns.tables import stable_order
from domsieve.analysis.columns.visible import visible_nodes
from domsieve.analysis.columns.words import Words, words_of
from domsieve.snapshot.page import Kind
from domsieve.types import StyleLevel

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


def build_forest(batch: Batch, *, level: StyleLevel, flatten_inline: bool, leaf_height: int) -> Forest:
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


_WORD, _IMAGE, _LINK, _CONTROL = (hash_of(n) for n in ("w:", "i:", "h:", "f:"))
_FRAME = combine(_CONTROL, hash_of("iframe"))
_FEATURES = AttributeIs.HREF | AttributeIs.SRC | AttributeIs.TYPE | AttributeIs.NAME
_CARRIERS = TagIs.LINK | TagIs.IMAGE | TagIs.CONTROL | TagIs.FRAME


@dataclass(frozen=True, slots=True, eq=False)
class LeafTexts:
    """The K texts in leaves, without generated content.

    Parameters
    ----------
    node : int64 (K,), the text nodes of the batch.
    words : the words of their strings.
    word_count, link_word_count : int64 (M,), the number of words in each forest leaf, and of those in links.
    """

    node: Ints
    words: Words
    word_count: Ints
    link_word_count: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """F occurrences of features in the leaves of a batch.

    Parameters
    ----------
    node : int64 (F,), the node of the batch that has the feature.
    feature : uint64 (F,), hash of the feature, which includes its type (word, image, link or control).
    """

    node: Ints
    feature: U64


def leaf_texts(batch: Batch, forest: Forest) -> LeafTexts:
    """Return the texts of all leaves and their word counts, in O(N + bytes of text)."""
    node = np.flatnonzero((batch.kind == Kind.TEXT) & (forest.owner >= 0))
    node = node[batch.kind[batch.parent[node]] != Kind.PSEUDO]
    string = batch.text[node]
    words = words_of(batch, _marked(string, len(batch.strings)))
    count = (words.stop - words.start)[string]
    linked = below((batch.tag_is & TagIs.ANCHOR) != 0, batch.end)[node]
    leaf, leaves = forest.owner[node], forest.label.size
    return LeafTexts(
        node,
        words,
        np.bincount(leaf, count, leaves).astype(np.int64),
        np.bincount(leaf, count * linked, leaves).astype(np.int64),
    )


def occurrences(batch: Batch, forest: Forest, texts: LeafTexts) -> Occurrences:
    """Return the features of all shown nodes in leaves, in O(N + bytes of text + attributes)."""
    everywhere = np.ones(forest.shown.size, np.bool_)
    words = text_features(batch, texts, everywhere)
    others = other_features(batch, forest, everywhere)
    return Occurrences(
        np.concatenate((words.node, others.node)), np.concatenate((words.feature, others.feature))
    )


def word_occurrences(batch: Batch, forest: Forest, texts: LeafTexts) -> Occurrences:
    """Return the words of all shown nodes in leaves, including those of ``alt`` and ``title`` attributes."""
    everywhere = np.ones(forest.shown.size, np.bool_)
    written, titles = text_features(batch, texts, everywhere), _titles(batch, forest, everywhere)
    return Occurrences(
        np.concatenate((written.node, titles.node)), np.concatenate((written.feature, titles.feature))
    )


def word_names(batch: Batch, forest: Forest, texts: LeafTexts) -> tuple[str, ...]:
    """Return the distinct words that `word_occurrences` finds, in ascending order."""
    titles = _title_texts(batch, forest, np.ones(forest.shown.size, np.bool_))[2]
    return tuple(sorted({*texts.words.distinct()[0], *titles.distinct()[0]}))


def text_features(batch: Batch, texts: LeafTexts, among: Bools) -> Occurrences:
    """Return the words of the texts in leaves whose nodes are `among` (N,) the chosen ones."""
    node = texts.node[among[texts.node]]
    return _words(texts.words, node, batch.text[node])


def other_features(batch: Batch, forest: Forest, among: Bools) -> Occurrences:
    """Return the features in leaves that are not text nodes, of the nodes that are `among` (N,) the chosen ones."""
    live = np.flatnonzero(batch.attr_is & _FEATURES)
    live = live[(among & (forest.owner >= 0))[batch.attr_owner[live]]]
    owner, value = batch.attr_owner[live], batch.attr_value[live]
    attr_is, tag_is = batch.attr_is[live], batch.tag_is[owner]

    def select(attributes: int, tags: int) -> Ints:
        return np.flatnonzero(((attr_is & attributes) != 0) & ((tag_is & tags) != 0))

    links = select(AttributeIs.HREF, TagIs.LINK)
    images = select(AttributeIs.SRC, TagIs.IMAGE)
    controls = select(AttributeIs.TYPE | AttributeIs.NAME, TagIs.CONTROL)
    frames = np.flatnonzero(batch.tag_is & TagIs.FRAME)
    frames = frames[(among & (forest.owner >= 0))[frames]]
    titles = _titles(batch, forest, among)
    return Occurrences(
        np.concatenate((titles.node, owner[links], owner[images], owner[controls], frames)),
        np.concatenate(
            (
                titles.feature,
                combine(_LINK, link_references(batch, owner[links], value[links])),
                combine(_IMAGE, _image_files(batch, value[images])),
                combine(_CONTROL, batch.hashes(value[controls])),
                np.full(frames.size, _FRAME),
            )
        ),
    )


def feature_counts(batch: Batch, forest: Forest, texts: LeafTexts) -> Ints:
    """Return the approximate number of features of each of the M forest nodes: words, and elements with a feature."""
    carries = np.flatnonzero((batch.tag_is & _CARRIERS) != 0)
    leaf = forest.owner[carries]
    elements: Ints = np.bincount(leaf[leaf >= 0], minlength=forest.leaf.size)
    return texts.word_count + elements


def word_features(words: Sequence[str]) -> U64:
    """Return the hash of each word's feature, equal to that of `occurrences`."""
    return combine(_WORD, hashes_of(words))


def _titles(batch: Batch, forest: Forest, among: Bools) -> Occurrences:
    """Return the words of ``alt`` and ``title`` attributes in leaves, of the nodes that are `among` (N,)."""
    owner, string, words = _title_texts(batch, forest, among)
    return _words(words, owner, string)


def _title_texts(batch: Batch, forest: Forest, among: Bools) -> tuple[Ints, Ints, Words]:
    """Return the nodes with ``alt`` and ``title`` attributes, the strings of these, and the words of the strings."""
    worded = np.flatnonzero(batch.attr_is & AttributeIs.WORDS)
    worded = worded[(among & (forest.owner >= 0))[batch.attr_owner[worded]]]
    string = batch.attr_value[worded]
    return batch.attr_owner[worded], string, words_of(batch, _marked(string, len(batch.strings)))


def _marked(ids: Ints, size: int) -> Bools:
    marked = np.zeros(size, np.bool_)
    marked[ids] = True
    return marked


def _words(words: Words, node: Ints, string: Ints) -> Occurrences:
    """Return the occurrences of words in the string of each node."""
    which, word = words.within(string)
    used, place = distinct(word, words.begin.size)
    return Occurrences(node[which], combine(_WORD, words.hashes(used))[place])


def _image_files(batch: Batch, value: Ints) -> U64:
    values, which = distinct(value, len(batch.strings))
    return hashes_of([file_name(text) for text in batch.texts(values)])[which]
