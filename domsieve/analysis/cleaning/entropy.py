"""Entropy of tf-idf weights: blocks of few or only common terms are noise (Nyein).

    paper                      here
    element node               `terms.ElementNodes`
    content block              `div` or `table`; what lies in none is in the block of the body
    tf, idf, w                 tf * ln(N / df)
    H(node), H(block)          `entropies`; mean over the nodes of a block, in bits
    H < 0.5                    threshold, strictly below

Documents of df are the pages learned, or the blocks of the page where fewer than two were. A term that no
learned page has counts as on one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.cleaning.terms import LANGUAGES, ElementNodes, element_nodes
from domsieve.analysis.columns.batch import F64, Batch, Bools, Ints, nearest, page_batch, surrounded
from domsieve.analysis.columns.hash import combine
from domsieve.analysis.columns.names import TagIs
from domsieve.analysis.columns.table_forms import TableForm
from domsieve.analysis.columns.tables import Table, grouped, grouping, merged
from domsieve.analysis.columns.visible import visible_nodes
from domsieve.analysis.estimator import Bounds, Known
from domsieve.analysis.site_model import SiteModel, verdicts_of
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Snapshot

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
