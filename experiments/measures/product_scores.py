"""The count of the product extraction benchmark: an attribute has at most one value, and several can be right.

Source: the description and the rules of evaluation in the repository scrapinghub/product-extraction-benchmark.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple


class Counts(NamedTuple):
    """True positives, false positives and false negatives. A wrong value where there is a right one is both."""

    right: int
    wrong: int
    missed: int


def judged(given: str | None, right: Iterable[str], *, numbers: bool) -> Counts:
    """Return the counts of one value.

    Parameters
    ----------
    given : the value; None or empty for none.
    right : the right values; none if the page has none.
    numbers : compare as decimal numbers, as prices are; other values are compared as they are.
    """
    truths = {_plain(value, numbers=numbers) for value in right}
    if not given:
        return Counts(0, 0, int(bool(truths)))
    if _plain(given, numbers=numbers) in truths:
        return Counts(1, 0, 0)
    return Counts(0, 1, int(bool(truths)))


def _plain(text: str, *, numbers: bool) -> str | Decimal:
    if not numbers:
        return text
    try:
        return Decimal(text.strip())
    except InvalidOperation:
        return text


def f1_parts(counts: Sequence[Counts]) -> tuple[list[float], list[float]]:
    """Return numerator and denominator of F1 for each page; the F1 of all pages is the ratio of their sums."""
    return [2 * one.right for one in counts], [2 * one.right + one.wrong + one.missed for one in counts]
