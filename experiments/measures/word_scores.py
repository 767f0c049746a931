"""Word scores of extracted text: multisets of the words of a text against those of the truth."""

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from statistics import fmean

from domsieve.analysis.columns.words import SINGLES

_SINGLE = "".join(f"{chr(first)}-{chr(last)}" for first, last in SINGLES)
_ALONE = re.compile(rf"[{_SINGLE}]")
_WORD = re.compile(rf"[{_SINGLE}]|[^\W{_SINGLE}]+")


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1 of words, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


def count_words(text: str, *, shortest: int = 1) -> Counter[str]:
    r"""Return the multiset of the words (``\w+``) of a text of at least `shortest` characters, in lower case.

    Scripts that part no words are counted by characters, whatever `shortest` is: each ideograph, kana and letter of
    Thai, Lao, Khmer or Burmese is a word.
    """
    words = _WORD.findall(text.lower())
    return Counter(word for word in words if len(word) >= shortest or _ALONE.match(word))


def folded(text: str) -> str:
    """Return a text without differences of case and white space."""
    return " ".join(text.casefold().split())


def score(found: Counter[str], truth: Counter[str], *, complete_truth: Counter[str] | None = None) -> Score:
    """Return how well `found` gives `truth`; two empty texts agree, one empty text and another do not.

    Where `truth` is known to lack words of the content, precision is against `complete_truth`.
    """
    precision = _share((found & (truth if complete_truth is None else complete_truth)).total(), found.total())
    recall = _share((found & truth).total(), truth.total())
    return Score(
        precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    )


def mean_score(scores: Collection[Score]) -> Score:
    """Return the mean over pages of each figure."""
    return Score(*(fmean(getattr(s, name) for s in scores) for name in ("precision", "recall", "f1")))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
