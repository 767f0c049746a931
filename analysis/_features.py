"""Features of leaf element nodes: words, image files, link references, form controls (SST section 9.14)."""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from analysis._batch import Batch, below
from analysis._forest import Forest
from analysis._hash import U64, combine, hash_of, hashes_of
from analysis._words import Words, words_of
from snapshot import Kind

_ALT, _TITLE, _SRC, _HREF, _TYPE, _NAME = (
    hash_of(n) for n in ("alt", "title", "src", "href", "type", "name")
)
_IMG, _A, _AREA, _IFRAME = (hash_of(n) for n in ("img", "a", "area", "iframe"))
_CONTROLS = hashes_of(["input", "select", "textarea", "button"])
_WORD, _IMAGE, _LINK, _CONTROL = (hash_of(n) for n in ("w:", "i:", "h:", "f:"))
_SESSION = ("jsessionid", "phpsessid", "sid=")


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """F occurrences of features in the leaves of a batch.

    Parameters
    ----------
    node : int64 (F,), node of the batch that carries the feature.
    feature : uint64 (F,), hash of the namespaced feature.
    text_words, link_words : int64 (M,), words of the texts of each forest leaf, and how many lie in links.
    """

    node: NDArray[np.int64]
    feature: U64
    text_words: NDArray[np.int64]
    link_words: NDArray[np.int64]


def occurrences(batch: Batch, forest: Forest) -> Occurrences:
    """Return the features of all shown nodes that lie in a leaf; O(bytes of text + attributes)."""
    inside = forest.owner >= 0
    text = np.flatnonzero((batch.kind == Kind.TEXT) & inside)
    text = text[batch.kind[batch.parent[text]] != Kind.PSEUDO]
    name = batch.string_hash[batch.attr_name]
    owner = batch.attr_owner
    live = inside[owner]
    worded = np.flatnonzero(((name == _ALT) | (name == _TITLE)) & live)
    wanted = np.zeros(batch.string_hash.size, np.bool_)
    wanted[batch.text[text]] = True
    wanted[batch.attr_value[worded]] = True
    words = words_of(batch, wanted)
    node, word = _expand(
        words,
        np.concatenate((text, owner[worded])),
        np.concatenate((batch.text[text], batch.attr_value[worded])),
    )
    tag = batch.tag_hash[batch.tag]
    links = np.flatnonzero((name == _HREF) & live & ((tag[owner] == _A) | (tag[owner] == _AREA)))
    images = np.flatnonzero((name == _SRC) & live & (tag[owner] == _IMG))
    controls = np.flatnonzero(live & np.isin(tag[owner], _CONTROLS) & ((name == _TYPE) | (name == _NAME)))
    frames = np.flatnonzero(inside & (tag == _IFRAME) & batch.elements())
    count = (words.stop - words.start)[batch.text[text]]
    linked = below((tag == _A) & batch.elements(), batch.end)[text]
    leaf = forest.owner[text]
    return Occurrences(
        np.concatenate((node, owner[links], owner[images], owner[controls], frames)),
        np.concatenate(
            (
                combine(_WORD, word),
                combine(_LINK, link_references(batch, links)),
                combine(_IMAGE, _image_files(batch, images)),
                combine(_CONTROL, batch.string_hash[batch.attr_value[controls]]),
                np.full(frames.size, combine(_CONTROL, _IFRAME), np.uint64),
            )
        ),
        np.bincount(leaf, count, forest.label.size).astype(np.int64),
        np.bincount(leaf, count * linked, forest.label.size).astype(np.int64),
    )


def word_features(words: Sequence[str]) -> U64:
    """Return the feature of each word, as `occurrences` gives it."""
    return combine(_WORD, hashes_of(list(words)))


def _expand(
    words: Words, node: NDArray[np.int64], string: NDArray[np.int64]
) -> tuple[NDArray[np.int64], U64]:
    first, count = words.start[string], words.stop[string] - words.start[string]
    before = np.cumsum(count) - count
    at = np.arange(int(count.sum())) - np.repeat(before - first, count)
    return np.repeat(node, count), words.word[at]


def link_references(batch: Batch, attributes: NDArray[np.int64]) -> U64:
    """Return the hash of the resolved path of each href, shape as `attributes` (indices of attributes)."""
    page = batch.page[batch.attr_owner[attributes]]
    bases = [urlsplit(p.provenance.final_url) for p in batch.pages]
    folders = [(b.netloc.lower(), posixpath.dirname(b.path)) for b in bases]
    folder_codes = hashes_of([f"{host}{path}" for host, path in folders])
    key = combine(batch.string_hash[batch.attr_value[attributes]], folder_codes[page])
    _, sample, which = np.unique(key, return_index=True, return_inverse=True)
    texts = batch.strings.take(batch.attr_value[attributes[sample]].tolist())
    found = [_resolved(text, *folders[p]) for text, p in zip(texts, page[sample].tolist(), strict=True)]
    return hashes_of(found)[which]


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


def _image_files(batch: Batch, attributes: NDArray[np.int64]) -> U64:
    values, which = np.unique(batch.attr_value[attributes], return_inverse=True)
    names = [_file_name(text) for text in batch.strings.take(values.tolist())]
    return hashes_of(names)[which] if names else np.zeros(0, np.uint64)


def _file_name(src: str) -> str:
    if src.startswith("data:"):
        return src[:64]
    return unquote(posixpath.basename(src.partition("#")[0].partition("?")[0])).lower()
