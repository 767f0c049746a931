"""Detect the type of each block, such as comments or navigation, and keep or drop blocks by type."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.block_types.block_columns import Columns
from domsieve.analysis.block_types.name_rules import Claims
from domsieve.analysis.block_types.structure import Structure
from domsieve.analysis.columns.batch import Ints, prune
from domsieve.analysis.columns.per_page import once_per_page
from domsieve.analysis.columns.tables import sorted_set
from domsieve.analysis.columns.visible import shown_nodes
from domsieve.analysis.verdict import Verdict
from domsieve.budget import spending
from domsieve.errors import UsageError
from domsieve.snapshot.page import Scalar, Snapshot
from domsieve.vocabulary import BLOCK_KINDS, BlockKind

NUMBERS: Mapping[BlockKind, int] = {kind: number for number, kind in enumerate(BLOCK_KINDS, 1)}
"""The number of each kind; 0 is none."""


@once_per_page
def node_kinds(page: Snapshot) -> NDArray[np.uint8]:
    """Return for each of the N nodes of a page the number of its kind, 0 for none; O(N + bytes of texts and names).

    A node is of one kind, and so is all that it holds where nothing in it is of a stronger one: consent before
    comments and related, of which the outer counts; these before share and breadcrumbs; then navigation, tables,
    captions and bylines. So the buttons and names inside a comment belong to it.
    """
    with spending("kinds", page.provenance.url):
        return _finder(page).kinds()


@once_per_page
def paths_and_shares(page: Snapshot) -> tuple[Ints, Ints]:
    """Return the roots of breadcrumbs, and of what shares the page, ascending, whatever is around them."""
    with spending("kinds", page.provenance.url):
        finder = _finder(page)
        return finder.paths(), finder.shares()


@once_per_page
def _finder(page: Snapshot) -> "_Finder":
    return _Finder(page)


class _Finder:
    """The parts of a page of each kind."""

    def __init__(self, page: Snapshot) -> None:
        self._columns = Columns(page)
        self._claims = Claims(self._columns)
        self._structure = Structure(self._columns)

    def paths(self) -> Ints:
        """Return breadcrumbs."""
        return self._tops(self._claims.paths(), self._structure.paths())

    def shares(self) -> Ints:
        """Return what shares the page."""
        structure = self._structure
        return self._tops(structure.bars(_joined(self._claims.shares(), structure.shares())))

    def kinds(self) -> NDArray[np.uint8]:
        """Return the kind of each node."""
        claims, structure, tops = self._claims, self._structure, self._tops
        comments = tops(claims.comments(), structure.comments())
        related = tops(claims.related(), structure.related())
        related = related[~np.isin(related, comments)]
        # Of the two the outer counts, so that neither the number of comments nor an advert among them is cut out.
        outer = ~self._columns.among(related, comments), ~self._columns.among(comments, related)
        weakest_first: tuple[tuple[BlockKind, Ints], ...] = (
            ("bylines", tops(structure.lines_of(claims.bylines()), structure.bylines())),
            ("captions", tops(claims.captions())),
            ("tables", tops(claims.tables())),
            ("navigation", tops(claims.navigation())),
            ("breadcrumbs", self.paths()),
            ("share", self.shares()),
            ("related", related[outer[0]]),
            ("comments", comments[outer[1]]),
            ("consent", structure.consent(claims.may_be_consent())),
        )
        found = np.zeros(self._columns.end.size, np.uint8)
        for kind, roots in weakest_first:
            number = NUMBERS[kind]
            for root, end in zip(roots.tolist(), self._columns.end[roots].tolist(), strict=True):
                found[root:end] = number
        return found

    def _tops(self, *nodes: Ints) -> Ints:
        return self._columns.tops(_joined(*nodes))


def _joined(*nodes: Ints) -> Ints:
    return sorted_set(np.concatenate(nodes))


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
