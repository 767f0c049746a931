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
    Batch,
    Bools,
    Ints,
    distinct,
    nearest,
    page_batch,
    painted,
    surrounded,
)
from domsieve.analysis.columns.hash import U64, combine, hashes_of
from domsieve.analysis.columns.links import file_name
from domsieve.analysis.columns.names import AttributeIs, TagIs
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
    """On how many of `pages` pages each term stands: ``terms.sums["pages"]``."""

    pages: int
    terms: Table

    @property
    def nbytes(self) -> int:
        """Bytes held by the table."""
        return self.terms.nbytes

    def check(self) -> None:
        """Do nothing where these are counts of terms; raises ValueError or TypeError elsewhere."""
        _TERMS.check("terms", self.terms)
        pages = self.terms.sums["pages"]
        if ((pages < 1) | (pages > self.pages)).any():
            raise ValueError("terms that stand on more pages than there are, or on none")


def merge_terms(parts: Sequence[TermCounts]) -> TermCounts:
    """Return the counts of all pages together."""
    return TermCounts(sum(part.pages for part in parts), merged([part.terms for part in parts]))


@dataclass(frozen=True, slots=True, eq=False)
class BlockEntropies:
    """The B content blocks of a page that hold element nodes, in document order.

    Parameters
    ----------
    node : int64 (B,), the ``div``, ``table`` or ``body``.
    nodes : int64 (B,), k, number of element nodes that count.
    total, entropy : float64 (B,), sum and mean of H over them, in the unit of the estimator.
    noise : bool (B,).
    """

    node: Ints
    nodes: Ints
    total: F64
    entropy: F64
    noise: Bools


@dataclass(frozen=True, slots=True)
class NoiseScores:
    """How well blocks were found to be noise; shares of 0 blocks are 1.

    Parameters
    ----------
    precision : correctly detected over all detected.
    recall : correctly detected over all noise.
    """

    precision: float
    recall: float


def noise_scores(detected: Bools, noise: Bools) -> NoiseScores:
    """Return precision and recall of blocks `detected` (B,) as noise against labels `noise` (B,)."""
    correct = int((detected & noise).sum())
    return NoiseScores(
        *(correct / count if (count := int(flags.sum())) else 1.0 for flags in (detected, noise))
    )


def entropies(item: Ints, weight: F64, items: int) -> tuple[F64, F64]:
    """Return H of the weights of each of `items` element nodes, in bits and over the log2 of their number.

    Parameters
    ----------
    item : int64 (C,), element node of each weight.
    weight : float64 (C,), at least 0. Zeros add nothing; a node without others has entropy 0.
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
    """Drops the blocks of a page whose element nodes have little entropy; learns a site, or the page alone.

    Parameters
    ----------
    threshold : blocks below it are noise, at least 0; the paper's 0.5.
    h_norm : entropy in ``"bits"``, or ``"unit"``: over log2 of the number of weights.
    idf_docs : documents of idf are ``"pages"``, the ``"blocks"`` of one page, or ``"auto"``: pages when at least two
        were learned.
    language : of stop words and stems, an ISO 639-1 code; ``"auto"`` is what each page says of itself, ``"none"``
        takes words as they are.
    aggregate : a block is judged by its ``"own"`` element nodes, nearer to it than to any other block, or by all in
        its ``"subtree"``.
    count_empty : whether element nodes without terms count, as 0.
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
        """Return the entropies of the blocks of one page, with the flag noise or not."""
        self._check()
        batch = page_batch(page)
        read = self._read(batch, visible_nodes(batch))
        block = np.flatnonzero(read.judged)
        nodes, total = read.count[block], read.total[block]
        return BlockEntropies(block, nodes, total, read.mean[block], read.mean[block] < self.threshold)

    def facts(self) -> dict[str, int]:
        """Return the number of terms."""
        return {"terms": len(self.counts_.terms)}

    def _count(self, batch: Batch) -> TermCounts:
        found = element_nodes(batch, visible_nodes(batch), language=self.language)
        page = batch.page[found.node[found.item]].astype(np.uint64)
        once = grouping(combine(page, found.term)).sample
        term = found.term[once]
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
            """Return the sum of `values` (I,) over the element nodes that count of each block."""
            whole = np.zeros(shown.size + 1)
            if self.aggregate == "own":
                np.add.at(whole, of_item, values * counted)
                return whole[:-1]
            whole[found.node + 1] = values * counted
            before = np.cumsum(whole)
            return before[batch.end] - before[:-1]

        count = np.rint(sums(np.ones(items)))
        count[block != np.arange(shown.size)] = 0
        # The document is a block only for what lies in no body.
        bare = np.bincount(of_item, minlength=shown.size) == 0
        count[batch.first[:-1][bare[batch.first[:-1]]]] = 0
        judged = count > 0
        total = np.where(judged, sums(entropy), 0.0)
        least = np.maximum(count, 1)
        mean_unit = np.where(judged, sums(unit), 0.0) / least
        return _Read(found, entropy, block, judged, count.astype(np.int64), total, total / least, mean_unit)

    def _idf(self, batch: Batch, found: ElementNodes, of_item: Ints) -> F64:
        """Return ln(N / df) of the term of each cell."""
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
    """What there is to say of the N nodes of a batch.

    `block` is the block that each node lies in or is; figures of blocks stand at their own node: whether one is
    `judged`, the `count` of its element nodes, `total` and `mean` of their entropies, and the mean in `unit` form.
    """

    found: ElementNodes
    node_entropy: F64  # of each element node
    block: Ints
    judged: Bools
    count: Ints
    total: F64
    mean: F64
    unit: F64


def _blocks(batch: Batch) -> Ints:
    """Return the block that each node lies in or is: the nearest container, else body, else document."""
    holds = batch.elements() & ((batch.tag_is & (TagIs.CONTAINER | TagIs.BODY)) != 0)
    holds[batch.first[:-1]] = True
    return np.where(holds, np.arange(holds.size), nearest(batch, holds))
