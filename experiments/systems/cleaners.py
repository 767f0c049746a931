"""The cleaning methods under their names in the tables, each as a function of the pages of one site."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from domsieve.analysis.estimator import PageEstimator
from domsieve.analysis.registry import PAGE_METHODS, SITE_METHODS, variants
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Snapshot

Cleaner = Callable[[Sequence[Snapshot]], list[Verdict]]


def _cleaned(
    make: Callable[[], SiteModel[Any] | PageEstimator[Verdict]], pages: Sequence[Snapshot]
) -> list[Verdict]:
    return make().fit_transform(pages)


_PAGE_VARIANTS = variants(PAGE_METHODS)
PAGE_CLEANERS: Mapping[str, Cleaner] = {
    name: partial(_cleaned, _PAGE_VARIANTS[name])
    for name in sorted(_PAGE_VARIANTS, key=lambda n: n != "none")
}
"""Methods that look at one page at a time; ``"none"``, which keeps all visible text, stands first."""

SITE_CLEANERS: Mapping[str, Cleaner] = {
    name: partial(_cleaned, make) for name, make in variants(SITE_METHODS).items()
}
"""Methods that learn from the pages given, and clean these."""

CLEANERS: Mapping[str, Cleaner] = {**PAGE_CLEANERS, **SITE_CLEANERS}
