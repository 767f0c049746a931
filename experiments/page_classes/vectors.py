"""Pages as vectors of words, cleaned site by site: the vectors that the papers cluster and classify.

Words are runs of letters and digits in lower case after NFKC, as the compressed structure tree reads them. English
stop words are left out and nothing is stemmed.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from stopwordsiso import stopwords

from domsieve.analysis.trees.cst import CompressedStructureTree
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.text import write_text
from domsieve.types import Mode
from experiments.corpora.class_grids import Grid, GridPage
from experiments.measures.word_scores import count_words, mean_score, score
from experiments.systems.cleaners import CLEANERS, Cleaner

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4)
_SHOWN_PAGES = 10
_WORD = re.compile(r"[^\W_]+")


def words_in(text: str) -> list[str]:
    """Return the words of a text in order, stop words left out."""
    return [word for word in _words(text) if word not in _stop_words()]


def counted(texts: Sequence[str]) -> "csr_matrix":
    """Return the counts of words, a row per text; words that no text has are no columns."""
    from sklearn.feature_extraction.text import CountVectorizer

    counts: csr_matrix = CountVectorizer(analyzer=words_in, dtype=np.float64).fit_transform(texts)
    return counts


def counts_of(grid: Grid, cleaner: Cleaner) -> "csr_matrix":
    """Return the counts of the words that a cleaner keeps of each page; it learns and cleans site by site."""
    return counted(
        [
            text
            for pages in grid.sites.values()
            for text in _kept(pages, cleaner([page.snapshot for page in pages]))
        ]
    )


def counts_at_best_threshold(grid: Grid) -> "csr_matrix | None":
    """Return the counts of what the style tree of the paper keeps, its threshold chosen per site by ten pages.

    The authors chose by eye on a few pages. Here it is the one of `THRESHOLDS` whose mean F1 of kept words is highest
    on pages evenly spread over the site, the lowest of equally good ones; None where true texts are not known.
    """
    if grid.truths is None:
        return None

    def clean(pages: Sequence[GridPage]) -> list[Verdict]:
        tree = SiteStyleTree.of_mode("paper").fit([page.snapshot for page in pages])
        shown = [page for page in pages if page.truth is not None]
        shown = shown[:: -(-len(shown) // _SHOWN_PAGES)]
        truths = [count_words(page.truth or "") for page in shown]

        def quality(threshold: float) -> float:
            kept = tree.set_params(threshold=threshold).transform([page.snapshot for page in shown])
            texts = [write_text(page.snapshot, v) for page, v in zip(shown, kept, strict=True)]
            return mean_score(
                [score(count_words(t), truth) for t, truth in zip(texts, truths, strict=True)]
            ).f1

        tree.set_params(threshold=max(THRESHOLDS, key=quality))
        return tree.transform([page.snapshot for page in pages])

    return counted([text for pages in grid.sites.values() for text in _kept(pages, clean(pages))])


def weights_of(grid: Grid, mode: Mode) -> "csr_matrix":
    """Return the summed weights of words by the compressed structure tree of each site (CST, equation 5)."""
    from scipy.sparse import csr_matrix, vstack

    parts, words = [], []
    for pages in grid.sites.values():
        tree = CompressedStructureTree.of_mode(mode).fit([page.snapshot for page in pages])
        parts.append(tree.weigh([page.snapshot for page in pages if page.label is not None]))
        words.append(tree.get_feature_names_out().tolist())
    column = {word: i for i, word in enumerate(sorted(set().union(*words) - _stop_words()))}
    return csr_matrix(
        vstack([part @ _placed(known, column) for part, known in zip(parts, words, strict=True)])
    )


def true_counts(grid: Grid) -> "csr_matrix | None":
    """Return the counts of the words of the true texts, which is perfect cleaning; None where one is not known."""
    return None if grid.truths is None else counted(grid.truths)


NO_CLEANING, WEIGHTS = "no cleaning", "CST paper"
VECTORS: Mapping[str, Callable[[Grid], "csr_matrix | None"]] = {
    NO_CLEANING: partial(counts_of, cleaner=CLEANERS["none"]),
    "template, k = 3": partial(counts_of, cleaner=CLEANERS["template"]),
    "SST": partial(counts_of, cleaner=CLEANERS["sst"]),
    "SST paper": partial(counts_of, cleaner=CLEANERS["sst paper"]),
    "SST paper, t per site": counts_at_best_threshold,
    "CST": partial(weights_of, mode="site"),
    WEIGHTS: partial(weights_of, mode="paper"),
    "entropy": partial(counts_of, cleaner=CLEANERS["entropy"]),
    "auto": partial(counts_of, cleaner=CLEANERS["auto"]),
    "TPS": partial(counts_of, cleaner=CLEANERS["tps"]),
    "perfect cleaner": true_counts,
}
"""How the pages of a grid become vectors, by the name of the cleaner; all but CST count the words that are kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """The pages of a grid as a cleaner leaves them.

    Parameters
    ----------
    name : the cleaner, and how its vectors are scaled where they are not of unit length.
    vectors : (P, T), counts or weights of words.
    gram : (P, P), inner products of the scaled vectors: all that k-means and a linear machine need to know.
    """

    name: str
    vectors: "csr_matrix"
    gram: NDArray[np.float64]


def spaces(grid: Grid) -> Iterator[Space]:
    """Yield the grid as every cleaner leaves it; weights also as they are, as the CST paper may have used them."""
    for name, vectors_of in VECTORS.items():
        vectors = vectors_of(grid)
        if vectors is not None:
            yield Space(name, vectors, gram(unit_rows(vectors)))
            if name == WEIGHTS:
                yield Space(f"{name}, any length", vectors, gram(vectors))


def unit_rows(vectors: "csr_matrix") -> "csr_matrix":
    """Return the rows at unit length; a row of zeros stays one."""
    from scipy.sparse import csr_matrix

    length = np.sqrt(np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel())
    scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    return csr_matrix(vectors.multiply(scale[:, None]))


def gram(vectors: "csr_matrix") -> NDArray[np.float64]:
    """Return the inner products of all P rows, (P, P)."""
    products: NDArray[np.float64] = (vectors @ vectors.T).toarray()
    return products


def _kept(pages: Sequence[GridPage], verdicts: Sequence[Verdict]) -> list[str]:
    """Return the kept text of the pages that have a class."""
    labelled = [
        (page, verdict) for page, verdict in zip(pages, verdicts, strict=True) if page.label is not None
    ]
    return [write_text(page.snapshot, verdict) for page, verdict in labelled]


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower())


@cache
def _stop_words() -> frozenset[str]:
    """Return the English stop words; one like "don't" stands for its parts, as it does in pages."""
    return frozenset(part for word in stopwords("en") for part in _words(word))


def _placed(words: Sequence[str], column: Mapping[str, int]) -> "csr_matrix":
    """Return the matrix that takes the columns of `words` to those of `column`, and drops the others."""
    from scipy.sparse import csr_matrix

    here = [i for i, word in enumerate(words) if word in column]
    there = [column[words[i]] for i in here]
    return csr_matrix((np.ones(len(here)), (here, there)), (len(words), len(column)))
