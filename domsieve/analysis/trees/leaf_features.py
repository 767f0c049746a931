"""Features of leaf element nodes: words, image files, link targets and form controls."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from domsieve.analysis.columns.batch import Batch, Bools, Ints, below, distinct
from domsieve.analysis.columns.hash import U64, combine, hash_of, hashes_of
from domsieve.analysis.columns.links import file_name, link_references
from domsieve.analysis.columns.names import AttributeIs, TagIs
from domsieve.analysis.columns.words import Words, words_of
from domsieve.analysis.trees.forest import Forest
from domsieve.snapshot.page import Kind

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
