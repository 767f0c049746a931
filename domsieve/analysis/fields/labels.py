"""The labels of a site: what its pages or records say again and again, such as ``"Publisher:"``."""

from collections import Counter
from collections.abc import Iterable

from domsieve.analysis.fields.places import PagePlaces
from domsieve.analysis.fields.value_kinds import folded, without_digits


def site_labels(pages: Iterable[PagePlaces], values: Iterable[str]) -> frozenset[str]:
    """Return the labels of a site: short texts that several of its pages say, which are no values.

    Parameters
    ----------
    pages : the pages; if there are fewer than three, what looks like a label counts, too.
    values : the values of the examples.
    """
    pages = list(pages)
    counts = Counter(label for page in pages for label in {*page.labels} if label)
    least = max(2, len(pages) // 5)
    labels = {label for label, count in counts.items() if count >= least}
    if len(pages) < 3:
        labels |= set[str]().union(*(page.likely_labels() for page in pages))
    return frozenset(labels - {without_digits(folded(value)) for value in values})


def record_labels(pages: Iterable[PagePlaces], values: Iterable[str]) -> frozenset[str]:
    """Return the labels of records: short texts that a page says about as often as any other.

    Labels around the list do not count, because they say nothing about where a value is in its record.
    """
    labels: set[str] = set()
    for page in pages:
        counts = Counter(label for label in page.labels if label)
        most = max(counts.values(), default=0)
        labels |= {label for label, count in counts.items() if count >= max(2, most // 2)}
    return frozenset(labels - {without_digits(folded(value)) for value in values})
