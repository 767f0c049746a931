"""Entropy of tf-idf weights: blocks of few or only common terms are noise (Nyein)."""

from collections.abc import Sequence
from dataclasses import dataclass
from posixpath import splitext
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from Stemmer import Stemmer
from stopwordsiso import langs, stopwords

from domsieve.analysis.columns.batch import (
    F64,
    AttributeIs,
    Batch,
    Bools,
    Ints,
    TagIs,
    distinct,
    nearest,
    page_batch,
    painted,
    surrounded,
)
from domsieve.analysis.columns.hash import U64, combine, hashes_of
from domsieve.analysis.columns.links import file_name
from domsieve.analysis.columns.tables import Table, TableForm, grouped, grouping, merged, ranges, sorted_set
from domsieve.analysis.columns.visible import visible_nodes
from domsieve.analysis.columns.words import fold, words_of
from domsieve.analysis.estimator import Bounds, Known
from domsieve.analysis.site_model import SiteModel, verdicts_of
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Kind, Snapshot

LANGUAGES = langs() | {"ne", "sr", "ta", "yi"}
"""ISO 639-1 codes of the languages that have stop words or a stemmer."""

_ALIASES = {"nb": "no", "nn": "no"}
_UNKNOWN = ""
_NO_TERM = np.uint64(0)


@dataclass(frozen=True, slots=True, eq=False)
class ElementNodes:
    """The I element nodes of a batch in document order, and the C pairs of an element node and a term in it.

    Parameters
    ----------
    node : int64 (I,), the link, text or image.
    of_text : int64 (N,), the element node of each visible text with words; -1 for other nodes.
    item, term, tf : (C,), the element node, the hash of the term, and how often it occurs there.
    """

    node: Ints
    of_text: Ints
    item: Ints
    term: U64
    tf: Ints


def element_nodes(batch: Batch, shown: Bools, *, language: str) -> ElementNodes:
    """Return the element nodes of the pages of a batch, in O(N + bytes of text).

    Parameters
    ----------
    shown : bool (N,), the visible nodes.
    language : one of `LANGUAGES`; ``"auto"`` for the ``lang`` attribute of each page, ``"none"`` for unchanged words.
    """
    link = _outermost_links(batch, shown)
    text = np.flatnonzero((batch.kind == Kind.TEXT) & shown)
    text = text[batch.kind[batch.parent[text]] != Kind.PSEUDO]
    of_link = painted(link, batch.end[link], link, size=shown.size, ground=-1)
    holder = np.where(of_link[text] >= 0, of_link[text], text)
    image = np.flatnonzero(shown & ((batch.tag_is & TagIs.IMAGE) != 0))
    owner, string, attr_is = _image_strings(batch, image)

    titled = (attr_is & AttributeIs.ALT) != 0
    strings = np.concatenate((batch.text[text], string[titled]))
    wanted = np.zeros(len(batch.strings), np.bool_)
    wanted[strings] = True
    words = words_of(batch, wanted)
    names, code = words.distinct()
    which, word = words.within(strings)
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
    """Return the node, the value and the `AttributeIs` bits of the ``alt`` and ``src`` attributes of images."""
    wanted = np.zeros(batch.kind.size, np.bool_)
    wanted[image] = True
    live = np.flatnonzero(batch.attr_is & (AttributeIs.ALT | AttributeIs.SRC))
    live = live[wanted[batch.attr_owner[live]]]
    return batch.attr_owner[live], batch.attr_value[live], batch.attr_is[live].astype(np.int64)


def _file_words(batch: Batch, node: Ints, string: Ints) -> tuple[Ints, Ints, list[str]]:
    """Return the words of the file names of images: the node and the number of each word, and the distinct words."""
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
    """Return the words of a file name without its extension; none for a data URL."""
    return [] if src.startswith("data:") else fold(splitext(file_name(src))[0]).split()


def _languages(batch: Batch, language: str) -> tuple[Ints, list[str]]:
    """Return the index of each page's language, and the languages."""
    codes = [_UNKNOWN if language in {"auto", "none"} else language] * len(batch.pages)
    if language == "auto":
        declared = np.flatnonzero(
            ((batch.attr_is & AttributeIs.LANG) != 0) & ((batch.tag_is[batch.attr_owner] & TagIs.HTML) != 0)
        )
        pages = batch.page[batch.attr_owner[declared]].tolist()
        texts = batch.texts(batch.attr_value[declared])
        # Reversed, so that the first declaration of a page wins.
        for page, text in zip(reversed(pages), reversed(texts), strict=True):
            code = text.strip().lower().partition("-")[0]
            code = _ALIASES.get(code, code)
            codes[page] = code if code in LANGUAGES else _UNKNOWN
    languages = sorted(set(codes))
    return np.array([languages.index(code) for code in codes]), languages


def _stems(words: Sequence[str], language: str) -> U64:
    """Return the hash of the stem of each word; 0 for stop words."""
    stop = {fold(word).strip() for word in stopwords(language)}
    try:
        stemmed = Stemmer(language).stemWords(words)
    except KeyError:  # no stemmer for this language
        stemmed = words
    hashes = hashes_of(stemmed)
    hashes[np.array([word in stop for word in words], np.bool_)] = _NO_TERM
    return hashes


_REASONS = (
    "not visible",
    "few or common words",
    "varied words",
    "no words to judge by",
    "above kept content",
)
_HIDDEN, _NOISE, _VARIED, _UNJUDGED, _ABOVE = range(len(_REASONS))
_TERMS = TableForm({}, ("pages",))
_LANGUAGE = Known(
    frozenset({*LANGUAGES, "auto", "none"}), "'auto', 'none' or a known ISO 639-1 code such as 'en'"
)


@dataclass(frozen=True, slots=True, eq=False)
class TermCounts:
    """The number of pages that have each term.

    Parameters
    ----------
    pages : number of pages.
    terms : one row per term; ``terms.sums["pages"]`` is the number of pages that have it.
    """

    pages: int
    terms: Table

    @property
    def nbytes(self) -> int:
        """Number of bytes in the table."""
        return self.terms.nbytes

    def check(self) -> None:
        """Raise an error unless these are consistent counts of terms.

        Raises
        ------
        ValueError, TypeError : they are not.
        """
        _TERMS.check("terms", self.terms)
        pages = self.terms.sums["pages"]
        if ((pages < 1) | (pages > self.pages)).any():
            raise ValueError("terms has rows for more pages than there are, or for none")


def merge_terms(parts: Sequence[TermCounts]) -> TermCounts:
    """Return the sum of one or more counts."""
    return TermCounts(sum(part.pages for part in parts), merged([part.terms for part in parts]))


@dataclass(frozen=True, slots=True, eq=False)
class BlockEntropies:
    """The B content blocks of a page that have element nodes, in document order.

    Parameters
    ----------
    node : int64 (B,), the ``div``, ``table`` or ``body``.
    nodes : int64 (B,), k, the number of element nodes that count.
    total, entropy : float64 (B,), sum and mean of their H, normalised as the estimator's `h_norm` says.
    noise : bool (B,), whether the block is noise.
    """

    node: Ints
    nodes: Ints
    total: F64
    entropy: F64
    noise: Bools


@dataclass(frozen=True, slots=True)
class NoiseScores:
    """Quality of the detection of noise blocks. A share of 0 blocks counts as 1.

    Parameters
    ----------
    precision : share of the detected blocks that are noise, in [0, 1].
    recall : share of the noise blocks that were detected, in [0, 1].
    """

    precision: float
    recall: float


def noise_scores(detected: Bools, noise: Bools) -> NoiseScores:
    """Return precision and recall of a detection of noise.

    Parameters
    ----------
    detected : bool (B,), the blocks detected as noise.
    noise : bool (B,), the true noise blocks.
    """
    correct = int((detected & noise).sum())
    return NoiseScores(
        *(correct / count if (count := int(flags.sum())) else 1.0 for flags in (detected, noise))
    )


def entropies(item: Ints, weight: F64, items: int) -> tuple[F64, F64]:
    """Return the entropy H of the weights of each element node, in bits and normalised to [0, 1].

    Parameters
    ----------
    item : int64 (C,), the element node of each weight.
    weight : float64 (C,), at least 0. Zeros are ignored; a node with no other weights has entropy 0.
    items : the number of element nodes.

    Returns
    -------
    bits, unit : float64 (items,) each; `unit` is `bits` divided by log2 of the number of weights.
    """
    counted = weight > 0
    item, weight = item[counted], weight[counted]
    total = np.bincount(item, weight, items).astype(np.float64)
    q = weight / total[item]
    bits = np.bincount(item, -q * np.log2(q), items).astype(np.float64)
    bits[bits < 1e-12] = 0.0
    most = np.log2(np.maximum(np.bincount(item, minlength=items), 1))
    return bits, np.divide(bits, most, out=np.zeros(items), where=most > 0).clip(max=1.0)


class EntropyFilter(SiteModel[TermCounts]):
    """Entropy filter: drops the blocks of a page whose element nodes have low entropy.

    Parameters
    ----------
    threshold : blocks with a mean entropy below this are noise, at least 0; the default, 0.5, is the paper's.
    h_norm : the unit of entropy: ``"bits"``, or ``"unit"`` for bits divided by log2 of the number of weights.
    idf_docs : the documents of idf: ``"pages"``, the ``"blocks"`` of one page, or ``"auto"`` for pages if at least
        two were learned, and blocks otherwise.
    language : the language of stop words and stems, an ISO 639-1 code; ``"auto"`` uses the ``lang`` attribute of each
        page, ``"none"`` uses words unchanged.
    aggregate : the element nodes that a block is judged by: its ``"own"``, which are in no block inside it, or all in
        its ``"subtree"``.
    count_empty : count element nodes without terms as well, with an entropy of 0.
    """

    name = "entropy"
    counts = TermCounts
    joined = merge_terms

    def __init__(
        self,
        *,
        threshold: Annotated[float, Bounds(0)] = 0.5,
        h_norm: Literal["bits", "unit"] = "bits",
        idf_docs: Literal["auto", "pages", "blocks"] = "auto",
        language: Annotated[str, _LANGUAGE] = "auto",
        aggregate: Literal["own", "subtree"] = "own",
        count_empty: bool = False,
    ) -> None:
        self.threshold = threshold
        self.h_norm = h_norm
        self.idf_docs = idf_docs
        self.language = language
        self.aggregate = aggregate
        self.count_empty = count_empty

    def blocks(self, page: Snapshot) -> BlockEntropies:
        """Return the entropies of the blocks of one page, and which blocks are noise.

        Raises
        ------
        ModelError : the model has not learned any page.
        UsageError : a parameter has an invalid value.
        """
        self.check()
        batch = page_batch(page)
        read = self._read(batch, visible_nodes(batch))
        block = np.flatnonzero(read.judged)
        nodes, total = read.count[block], read.total[block]
        return BlockEntropies(block, nodes, total, read.mean[block], read.mean[block] < self.threshold)

    def facts(self) -> dict[str, int]:
        """Return the number of terms."""
        return {"terms": len(self.counts_.terms)}

    def _count(self, batch: Batch) -> TermCounts:
        nodes = element_nodes(batch, visible_nodes(batch), language=self.language)
        page = batch.page[nodes.node[nodes.item]].astype(np.uint64)
        once = grouping(combine(page, nodes.term)).sample
        term = nodes.term[once]
        return TermCounts(len(batch.pages), grouped(term, {}, {"pages": np.ones(term.size, np.int64)}))

    def _verdicts(self, batch: Batch) -> list[Verdict]:
        shown = visible_nodes(batch)
        read = self._read(batch, shown)
        noise = (read.judged & (read.mean < self.threshold))[read.block]
        judged = read.judged[read.block]
        childless = batch.end == np.arange(1, shown.size + 1)
        content = shown & ~noise & ((read.found.of_text >= 0) | ((batch.tag_is & TagIs.IMAGE) != 0))
        kept = surrounded(batch, content, shown & ~noise & ~content & childless)
        reasons = np.select((noise, content & judged, kept & ~content), (_NOISE, _VARIED, _ABOVE), _UNJUDGED)
        reasons[~shown & ~kept] = _HIDDEN
        own = np.full(shown.size + 1, np.nan)
        own[read.found.node] = read.node_entropy
        carrier = np.where(read.found.of_text >= 0, read.found.of_text, np.arange(shown.size))
        numbers = {
            "block_entropy": np.where(judged, read.mean[read.block], np.nan),
            "node_entropy": own[carrier],
            "block_nodes": read.count[read.block],
        }
        score = np.where(shown & judged, read.unit[read.block], 0).astype(np.float32)
        parameters = {**self.scalars(), "pages": self.learned}
        return verdicts_of(
            batch,
            self.name,
            kept=kept,
            score=score,
            reason=reasons,
            reasons=_REASONS,
            numbers=numbers,
            parameters=parameters,
        )

    def _read(self, batch: Batch, shown: Bools) -> "_Read":
        found = element_nodes(batch, shown, language=self.language)
        block = _blocks(batch)
        items, of_item = found.node.size, block[found.node]
        bits, unit = entropies(found.item, found.tf * self._idf(batch, found, of_item), items)
        entropy = bits if self.h_norm == "bits" else unit
        counted = np.ones(items, np.bool_)
        if not self.count_empty:
            counted = np.bincount(found.item, minlength=items) > 0

        def sums(values: NDArray[np.generic]) -> F64:
            """Return the sum of `values` (I,) over the counted element nodes of each block, at its node."""
            whole = np.zeros(shown.size + 1)
            if self.aggregate == "own":
                np.add.at(whole, of_item, values * counted)
                return whole[:-1]
            whole[found.node + 1] = values * counted
            before = np.cumsum(whole)
            return before[batch.end] - before[:-1]

        count = np.rint(sums(np.ones(items)))
        count[block != np.arange(shown.size)] = 0
        # The document is a block only for element nodes outside of the body.
        bare = np.bincount(of_item, minlength=shown.size) == 0
        count[batch.first[:-1][bare[batch.first[:-1]]]] = 0
        judged = count > 0
        total = np.where(judged, sums(entropy), 0.0)
        least = np.maximum(count, 1)
        mean_unit = np.where(judged, sums(unit), 0.0) / least
        return _Read(found, entropy, block, judged, count.astype(np.int64), total, total / least, mean_unit)

    def _idf(self, batch: Batch, found: ElementNodes, of_item: Ints) -> F64:
        """Return ln(N / df) of each term of each element node."""
        counts = self.counts_
        if self.idf_docs == "pages" or (self.idf_docs == "auto" and counts.pages >= 2):
            row = counts.terms.find(found.term)
            df = np.where(row >= 0, np.append(counts.terms.sums["pages"], 1)[row], 1)
            return np.log(counts.pages / df)
        block, page = of_item[found.item], batch.page[found.node[found.item]].astype(np.int64)
        held = np.flatnonzero(np.bincount(block, minlength=batch.kind.size))
        documents = np.bincount(batch.page[held], minlength=len(batch.pages))
        terms = grouping(combine(page.astype(np.uint64), found.term))
        df = np.diff(terms.cells(block, batch.kind.size)[1])[terms.code]
        return np.log(documents[page] / df)


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """The entropies of a batch of N nodes.

    `block` (N,) is the block that each node is or is in. The other columns (N,) have their values at the nodes of
    blocks: whether the block is `judged`, the `count` of its element nodes, `total` and `mean` of their entropies,
    and the mean normalised to [0, 1], `unit`. `node_entropy` has one value per element node of `found`.
    """

    found: ElementNodes
    node_entropy: F64
    block: Ints
    judged: Bools
    count: Ints
    total: F64
    mean: F64
    unit: F64


def _blocks(batch: Batch) -> Ints:
    """Return the block that each node is or is in: the nearest container, otherwise the body or the document."""
    holds = batch.elements() & ((batch.tag_is & (TagIs.CONTAINER | TagIs.BODY)) != 0)
    holds[batch.first[:-1]] = True
    return np.where(holds, np.arange(holds.size), nearest(batch, holds))
