"""How many values of a field are right, wrong and missed on the pages of a site, and F1 of these numbers."""

from collections.abc import Mapping, Sequence

from domsieve.analysis.fields.extraction import PageFields
from domsieve.analysis.fields.value_kinds import folded


def said(value: object) -> set[str]:
    """Return the values of a field, in lower case and with single spaces."""
    if value is None:
        return set()
    return {folded(value)} if isinstance(value, str) else {folded(str(one)) for one in value}  # type: ignore[attr-defined]


def value_counts(
    name: str, found: Mapping[int, PageFields], values: Sequence[Mapping[str, Sequence[str]]]
) -> list[int]:
    """Return the numbers of right, wrong and missed values of a field.

    Parameters
    ----------
    name : of the field.
    found : what was found, by number of the page.
    values : the true values of each page, by field.
    """
    right = wrong = missed = 0
    for number, one in found.items():
        got, want = said(one.fields[name].value), said(tuple(values[number].get(name, ())))
        right, wrong, missed = right + len(got & want), wrong + len(got - want), missed + len(want - got)
    return [right, wrong, missed]


def f1(counts: Sequence[int]) -> float:
    """Return F1 of the numbers of right, wrong and missed values."""
    right, wrong, missed = counts
    return 2 * right / (2 * right + wrong + missed) if right else 0.0
