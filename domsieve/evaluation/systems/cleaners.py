"""The cleaning methods under their names in the tables, each as a function of the pages of one site."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from domsieve.analysis import (
    BlockFeatures,
    CompressedStructureTree,
    EntropyFilter,
    NoCleaning,
    SiteModel,
    SiteStyleTree,
    TagPathFilter,
    TemplateFilter,
    Verdict,
)
from domsieve.snapshot import Snapshot

Cleaner = Callable[[Sequence[Snapshot]], list[Verdict]]


def _learned(model: Callable[[], SiteModel[Any]], pages: Sequence[Snapshot]) -> list[Verdict]:
    return model().fit(pages).transform(pages)


PAGE_CLEANERS: Mapping[str, Cleaner] = {
    "none": NoCleaning().transform,
    "features": BlockFeatures().transform,
    "tps": TagPathFilter().transform,
    "tps paper": TagPathFilter(mode="paper").transform,
}
"""Methods that look at one page at a time; ``"none"`` keeps all visible text."""

SITE_CLEANERS: Mapping[str, Cleaner] = {
    "sst": partial(_learned, SiteStyleTree),
    "sst paper": partial(_learned, partial(SiteStyleTree.of_mode, "paper")),
    "cst": partial(_learned, CompressedStructureTree),
    "cst paper": partial(_learned, partial(CompressedStructureTree.of_mode, "paper")),
    "entropy": partial(_learned, EntropyFilter),
    "template": partial(_learned, TemplateFilter),
}
"""Methods that learn from the pages given, and clean these."""

CLEANERS: Mapping[str, Cleaner] = {**PAGE_CLEANERS, **SITE_CLEANERS}
