"""Features of leaf element nodes: words, image files, link references, form controls (SST section 9.14)."""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

import numpy as np

from analysis._batch import Batch, Bools, Ints, below, distinct
from analysis._forest import Forest
from analysis._hash import U64, combine, hash_of, hashes_of
from analysis._names import AttributeIs, TagIs
from analysis._tables import grouping
from analysis._words import Words, words_of
from snapshot import Kind

_WORD, _IMAGE, _LINK, _CONTROL = (hash_of(n) for n in ("w:", "i:", "h:", "f:"))
_FRAME = combine(_CONTROL, hash_of("iframe"))
_SESSION = ("jsessionid", "phpsessid", "sid=")


@dataclass(frozen=True, slots=True, eq=False)
class LeafTexts:
    """The K texts that stand in leaves, generated ones left out.

    Parameters
    ----------
    node : int64 (K,), nodes of the batch.
    words : the words of their strings.
    word_count, link_word_count : int64 (M,), words of the texts of each forest leaf, and how many lie in links.
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
    node : int64 (F,), node of the batch that carries the feature.
    feature : uint64 (F,), hash of the namespaced feature.
    """

    node: Ints
    feature: U64


def leaf_texts(batch: Batch, forest: Forest) -> LeafTexts:
    """Return the texts of all leaves and the numbers of their words; O(N + bytes of text)."""
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


def occurrences(batch: Batch, forest: Forest, texts: LeafTexts, *, among: Bools | None = None) -> Occurrences:
    """Return the features of all shown nodes that lie in a leaf; O(bytes of text + attributes).

    `among` (N,) says which nodes are asked for, by default all.
    """
    inside = forest.owner >= 0
    if among is not None:
        inside &= among
    text = texts.node[inside[texts.node]]
    live = inside[batch.attr_owner]
    tag_is = batch.tag_is[batch.attr_owner]

    def attributes(names: int, tags: int) -> Ints:
        return np.flatnonzero(live & ((batch.attr_is & names) != 0) & ((tag_is & tags) != 0))

    worded = np.flatnonzero(live & ((batch.attr_is & AttributeIs.WORDS) != 0))
    links = attributes(AttributeIs.HREF, TagIs.LINK)
    images = attributes(AttributeIs.SRC, TagIs.IMAGE)
    controls = attributes(AttributeIs.TYPE | AttributeIs.NAME, TagIs.CONTROL)
    frames = np.flatnonzero(inside & ((batch.tag_is & TagIs.FRAME) != 0))
    titles = words_of(batch, _marked(batch.attr_value[worded], len(batch.strings)))
    parts = [
        _word_features(texts.words, text, batch.text[text]),
        _word_features(titles, batch.attr_owner[worded], batch.attr_value[worded]),
        (batch.attr_owner[links], combine(_LINK, link_references(batch, links))),
        (batch.attr_owner[images], combine(_IMAGE, _image_files(batch, images))),
        (batch.attr_owner[controls], combine(_CONTROL, batch.hashes(batch.attr_value[controls]))),
        (frames, np.full(frames.size, _FRAME)),
    ]
    return Occurrences(*map(np.concatenate, zip(*parts, strict=True)))


def word_features(words: Sequence[str]) -> U64:
    """Return the feature of each word, as `occurrences` gives it."""
    return combine(_WORD, hashes_of(words))


def _marked(ids: Ints, size: int) -> Bools:
    marked = np.zeros(size, np.bool_)
    marked[ids] = True
    return marked


def _word_features(words: Words, node: Ints, string: Ints) -> tuple[Ints, U64]:
    """Return the words of the string of each node: the node and the feature of each."""
    start, count = words.start[string], words.stop[string] - words.start[string]
    before = np.cumsum(count) - count
    word = np.arange(int(count.sum())) + np.repeat(start - before, count)
    used, which = distinct(word, words.begin.size)
    return np.repeat(node, count), combine(_WORD, words.hashes(used))[which]


def link_references(batch: Batch, attributes: Ints) -> U64:
    """Return the hash of the resolved path of each href, shape as `attributes` (indices of attributes)."""
    page = batch.page[batch.attr_owner[attributes]]
    bases = [urlsplit(p.provenance.final_url) for p in batch.pages]
    folders = [(b.netloc.lower(), posixpath.dirname(b.path)) for b in bases]
    folder_codes = hashes_of([f"{host}{path}" for host, path in folders])
    value = batch.attr_value[attributes]
    links = grouping(combine(batch.hashes(value), folder_codes[page]))
    texts = batch.texts(value[links.sample])
    found = [_resolved(text, *folders[p]) for text, p in zip(texts, page[links.sample].tolist(), strict=True)]
    return hashes_of(found)[links.code]


def _resolved(href: str, host: str, folder: str) -> str:
    """Return host and path of a link without query, fragment and session ids; routes behind ``#/`` stay."""
    href = href.strip()
    path, _, fragment = href.partition("#")
    route = f"#{fragment}" if fragment.startswith(("/", "!/")) else ""
    path = path.partition("?")[0]
    scheme, colon, rest = path.partition(":")
    if colon and "/" not in scheme:
        if scheme.lower() not in {"http", "https"}:
            return href
        path = rest
    if path.startswith("//"):
        host, _, tail = path[2:].partition("/")
        path = "/" + tail
    elif not path:
        path = folder
    elif not path.startswith("/"):
        path = f"{folder}/{path}"
    if ";" in path and any(mark in path.lower() for mark in _SESSION):
        path = path.partition(";")[0]
    return f"{host.lower()}{posixpath.normpath(path)}{route}"


def _image_files(batch: Batch, attributes: Ints) -> U64:
    values, which = distinct(batch.attr_value[attributes], len(batch.strings))
    return hashes_of([_file_name(text) for text in batch.texts(values)])[which]


def _file_name(src: str) -> str:
    if src.startswith("data:"):
        return src[:64]
    return unquote(posixpath.basename(src.partition("#")[0].partition("?")[0])).lower()
