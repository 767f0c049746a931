"""Keeps or drops kinds of blocks by name: one step behind every method. Imports the finding and the Verdict."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from domsieve.analysis.columns.batch import prune
from domsieve.analysis.columns.visible import shown_nodes
from domsieve.analysis.kinds.finding import NUMBERS, node_kinds
from domsieve.analysis.verdict import Verdict
from domsieve.errors import UsageError
from domsieve.snapshot.page import Scalar, Snapshot
from domsieve.vocabulary import BLOCK_KINDS, BlockKind

DROPPED_BY_KIND = "dropped by kind: "
"""How the reasons begin of what is dropped for its kind."""

_KEPT_BY_KIND = "kept by kind: "
_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class KindChoice:
    """The kinds of blocks that are kept, and those that are dropped, whatever a method says; false where none is."""

    keep: tuple[BlockKind, ...] = ()
    drop: tuple[BlockKind, ...] = ()

    @classmethod
    def of(cls, keep: object, drop: object) -> "KindChoice":
        """Return the choice of two lists of names, each name once, in the order of the vocabulary.

        What is kept goes first: a kind in both is kept.

        Raises
        ------
        UsageError : one is no list of kinds.
        """
        kept = _kinds("keep_kinds", keep)
        return cls(kept, tuple(kind for kind in _kinds("drop_kinds", drop) if kind not in kept))

    def __bool__(self) -> bool:
        return bool(self.keep or self.drop)


EVERY_METHOD_DECIDES = KindChoice()
"""No kind is kept or dropped for its name."""


def judge_kinds(page: Snapshot, verdict: Verdict, choice: KindChoice) -> Verdict:
    """Return the verdict with all that is shown of some kinds kept, and with others dropped, each for its own reason.

    What is kept by kind is so whatever it was dropped for. Without a kind the verdict is returned as it is.
    """
    if not choice:
        return verdict
    kinds = node_kinds(page)
    kept, reason, score = verdict.kept.copy(), verdict.reason.copy(), verdict.score.copy()
    reasons = list(verdict.reasons)
    shown = shown_nodes(page)
    for kind in choice.keep:
        back = (kinds == NUMBERS[kind]) & shown & ~kept
        kept[back], score[back], reason[back] = True, 1, len(reasons)
        reasons.append(_KEPT_BY_KIND + kind)
    for kind in choice.drop:
        gone = (kinds == NUMBERS[kind]) & kept
        kept[gone], score[gone], reason[gone] = False, 0, len(reasons)
        reasons.append(DROPPED_BY_KIND + kind)
    named: dict[str, Scalar] = {"keep_kinds": " ".join(choice.keep), "drop_kinds": " ".join(choice.drop)}
    return replace(
        verdict,
        kept=np.asarray(prune(kept, page.end)),
        score=score,
        reason=reason,
        reasons=tuple(reasons),
        parameters={**verdict.parameters, **named},
    )


def _kinds(parameter: str, given: Any) -> tuple[BlockKind, ...]:
    names = None if isinstance(given, str | bytes) or not isinstance(given, Iterable) else [*given]
    if names is None or not all(isinstance(name, str) and name in BLOCK_KINDS for name in names):
        shown = repr(given if names is None else names)
        shown = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[: _LONGEST_SHOWN - 1]}…"
        raise UsageError(
            f"{parameter} is {shown}; give a list of {', '.join(BLOCK_KINDS)}.", parameter=parameter
        )
    return tuple(kind for kind in BLOCK_KINDS if kind in names)
