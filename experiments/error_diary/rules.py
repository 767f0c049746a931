"""Simple rules that put the decisions of methods and the kinds of blocks together, to see what they would bring."""

from collections.abc import Callable, Mapping

import numpy as np

from experiments.error_diary.block_kinds import FURNITURE
from experiments.error_diary.page_errors import Bools, JudgedPage, Kept

Rule = Callable[[Kept, JudgedPage], Bools]

_VOTERS = ("sst", "cst", "template", "entropy", "tps")
_MOST = 3
_TALK = ("comments", "related", "share")
_SMALL = 0.2
_MAIN = 0.7


def _most(kept: Kept, _: JudgedPage) -> Bools:
    flags: Bools = np.sum([kept[name] for name in _VOTERS], axis=0) >= _MOST
    return flags


def _unless_small(kept: Kept, page: JudgedPage) -> Bools:
    size = page.words.size
    return kept["tps"] if size[kept["tps"]].sum() >= _SMALL * size.sum() else np.ones_like(kept["tps"])


def _main_element(_: Kept, page: JudgedPage) -> Bools:
    """Return the blocks of the smallest element that holds most words outside furniture, link lists and forms."""
    size = page.words.size
    first, last = page.elements()
    good = np.concatenate(([0], np.cumsum(size * ~page.of_kinds((*FURNITURE, "link list", "form")))))
    whole = np.concatenate(([0], np.cumsum(size)))
    holds = np.flatnonzero(good[last] - good[first] >= _MAIN * good[-1])
    inside = np.zeros(size.size, np.bool_)
    if holds.size:
        smallest = holds[np.argmin((whole[last] - whole[first])[holds])]
        inside[first[smallest] : last[smallest]] = True
    return inside


def _without(name: str, kinds: tuple[str, ...] = tuple(FURNITURE)) -> Rule:
    """Return the rule that follows a method but for blocks of some kinds."""
    return lambda kept, page: kept[name] & ~page.of_kinds(kinds)


_NO_FURNITURE: Mapping[str, Rule] = {
    "no furniture": _without("none"),
    "tps, no furniture": _without("tps"),
    "auto, no furniture": _without("auto"),
    "entropy, no furniture": _without("entropy"),
    "tps, or all where it keeps less than a fifth": _unless_small,
    "the last, no furniture": lambda kept, page: _unless_small(kept, page) & ~page.of_kinds(FURNITURE),
    "smallest element with 70 % of unlinked words outside furniture": _main_element,
}
SITE_RULES: Mapping[str, Rule] = {
    **_NO_FURNITURE,
    "sst, no furniture": _without("sst"),
    "sst, no comments, related, share": _without("sst", _TALK),
    "sst and template": lambda kept, _: kept["sst"] & kept["template"],
    "sst or template": lambda kept, _: kept["sst"] | kept["template"],
    "sst and tps": lambda kept, _: kept["sst"] & kept["tps"],
    "most of sst, cst, template, entropy, tps": _most,
}
PAGE_RULES: Mapping[str, Rule] = {
    **_NO_FURNITURE,
    "tps and entropy": lambda kept, _: kept["tps"] & kept["entropy"],
    "tps or entropy": lambda kept, _: kept["tps"] | kept["entropy"],
}
