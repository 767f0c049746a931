"""Element nodes of pages and their terms, stemmed and without stop words (Nyein).

An element node is a link with the words of all texts in it, a text outside links, or an image with the words of its
alternative text and of its file name. Stemmers and stop words come from libraries; a language they do not have keeps
all its words as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from posixpath import splitext

import numpy as np
from Stemmer import Stemmer
from stopwordsiso import langs, stopwords

from domsieve.analysis.columns.batch import Batch, Bools, Ints, distinct, painted
from domsieve.analysis.columns.hash import U64, combine, hashes_of
from domsieve.analysis.columns.links import file_name
from domsieve.analysis.columns.names import AttributeIs, TagIs
from domsieve.analysis.columns.tables import grouping, ranges, sorted_set
from domsieve.analysis.columns.words import fold, words_of
from domsieve.snapshot.page import Kind

LANGUAGES = langs() | {"ne", "sr", "ta", "yi"}
"""ISO 639-1 codes of the languages that have stop words or a stemmer."""

_ALIASES = {"nb": "no", "nn": "no"}
_UNKNOWN = ""
_NO_TERM = np.uint64(0)


@dataclass(frozen=True, slots=True, eq=False)
class ElementNodes:
    """The I element nodes of a batch in document order, and the C terms in them.

    Parameters
    ----------
    node : int64 (I,), link, text or image.
    of_text : int64 (N,), for each shown text that holds words its element node, -1 elsewhere.
    item, term, tf : (C,), element node, hash of the term, how often it occurs there; each pair once.
    """

    node: Ints
    of_text: Ints
    item: Ints
    term: U64
    tf: Ints


def element_nodes(batch: Batch, shown: Bools, *, language: str) -> ElementNodes:
    """Return the element nodes of the pages of a batch; O(N + bytes of text).

    Parameters
    ----------
    language : one of `LANGUAGES`, ``"auto"`` for what each page says of itself, ``"none"`` for words as they are.
    """
    link = _outermost_links(batch, shown)
    text = np.flatnonzero((batch.kind == Kind.TEXT) & shown)
    text = text[batch.kind[batch.parent[text]] != Kind.PSEUDO]
    of_link = painted(link, batch.end[link], link, size=shown.size, ground=-1)
    holder = np.where(of_link[text] >= 0, of_link[text], text)
    image = np.flatnonzero(shown & ((batch.tag_is & TagIs.IMAGE) != 0))
    owner, string, attr_is = _image_strings(batch, image)

    titled = (attr_is & AttributeIs.ALT) != 0
    asked = np.concatenate((batch.text[text], string[titled]))
    wanted = np.zeros(len(batch.strings), np.bool_)
    wanted[asked] = True
    words = words_of(batch, wanted)
    names, code = words.distinct()
    which, word = words.within(asked)
    node, name = np.concatenate((holder, owner[titled]))[which], code[word]
    file_node, file_name, file_names = _file_words(batch, owner[~titled], string[~titled])
    node, name = np.concatenate((node, file_node)), np.concatenate((name, file_name + len(names)))

    of_text = np.full(shown.size, -1, np.int64)
    worded = which[which < text.size]
    of_text[text[worded]] = holder[worded]
    page_language, languages = _languages(batch, language)
    stems = np.stack([_stems([*names, *file_names], code) for code in languages])
    term = stems[page_language[batch.page[node]], name]
    items = sorted_set(np.concatenate((link, image, holder[worded])))
    rank = np.zeros(shown.size, np.int64)
    rank[items] = np.arange(items.size)
    item, term = rank[node[term != _NO_TERM]], term[term != _NO_TERM]
    cells = grouping(combine(item.astype(np.uint64), term))
    sample = cells.sample
    return ElementNodes(items, of_text, item[sample], term[sample], np.diff(cells.first))


def _outermost_links(batch: Batch, shown: Bools) -> Ints:
    link = np.flatnonzero(shown & ((batch.tag_is & TagIs.ANCHOR) != 0))
    reach = np.maximum.accumulate(np.append(0, batch.end[link]))[:-1]
    return link[link >= reach]


def _image_strings(batch: Batch, image: Ints) -> tuple[Ints, Ints, Ints]:
    """Return node and value of the attributes of images that give words, and what the attributes are."""
    wanted = np.zeros(batch.kind.size, np.bool_)
    wanted[image] = True
    live = np.flatnonzero(batch.attr_is & (AttributeIs.ALT | AttributeIs.SRC))
    live = live[wanted[batch.attr_owner[live]]]
    return batch.attr_owner[live], batch.attr_value[live], batch.attr_is[live].astype(np.int64)


def _file_words(batch: Batch, node: Ints, string: Ints) -> tuple[Ints, Ints, list[str]]:
    """Return the words of the file names of images: node and name of each word, and the names."""
    values, which = distinct(string, len(batch.strings))
    split = [_words_of_name(text) for text in batch.texts(values)]
    names = sorted({word for words in split for word in words})
    number = {word: i for i, word in enumerate(names)}
    holder = np.repeat(np.arange(len(split)), [len(words) for words in split])
    words = np.array([number[word] for words in split for word in words], np.int64)
    first = np.searchsorted(holder, np.arange(len(split) + 1))
    at, image = ranges(first[:-1][which], np.diff(first)[which])
    return node[image], words[at], names


def _words_of_name(src: str) -> list[str]:
    """Return the words of the name of a file, its ending left out."""
    return [] if src.startswith("data:") else fold(splitext(file_name(src))[0]).split()


def _languages(batch: Batch, language: str) -> tuple[Ints, list[str]]:
    """Return the language of each page as a number, and the languages."""
    codes = [_UNKNOWN if language in {"auto", "none"} else language] * len(batch.pages)
    if language == "auto":
        said = np.flatnonzero(
            ((batch.attr_is & AttributeIs.LANG) != 0) & ((batch.tag_is[batch.attr_owner] & TagIs.HTML) != 0)
        )
        pages = batch.page[batch.attr_owner[said]].tolist()
        for page, text in zip(reversed(pages), reversed(batch.texts(batch.attr_value[said])), strict=True):
            code = text.strip().lower().partition("-")[0]
            code = _ALIASES.get(code, code)
            codes[page] = code if code in LANGUAGES else _UNKNOWN
    languages = sorted(set(codes))
    return np.array([languages.index(code) for code in codes]), languages


def _stems(words: Sequence[str], language: str) -> U64:
    """Return the hash of the stem of each word, 0 for stop words."""
    stop = {fold(word).strip() for word in stopwords(language)}
    try:
        stemmed = Stemmer(language).stemWords(words)
    except KeyError:  # no stemmer for this language
        stemmed = words
    hashes = hashes_of(stemmed)
    hashes[np.array([word in stop for word in words], np.bool_)] = _NO_TERM
    return hashes
