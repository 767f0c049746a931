"""Detect the type of each block, such as comments or navigation, and keep or drop blocks by type."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.block_types._block_columns import Columns, union
from domsieve.analysis.block_types._name_rules import TypeRules
from domsieve.analysis.block_types._structure import Structure
from domsieve.analysis.columns.batch import Bools, Ints, cached_per_page, prune
from domsieve.analysis.columns.visible import shown_nodes
from domsieve.analysis.verdict import Verdict
from domsieve.budget import spending
from domsieve.errors import UsageError
from domsieve.snapshot.page import Scalar, Snapshot
from domsieve.types import BLOCK_KINDS, BlockKind

NUMBERS: Mapping[BlockKind, int] = {kind: number for number, kind in enumerate(BLOCK_KINDS, 1)}
"""The number of each block type, from 1; 0 is none."""


@cached_per_page
def node_kinds(page: Snapshot) -> NDArray[np.uint8]:
    """Return the number of the block type of each of the N nodes, 0 for none, in O(N + bytes of texts and names).

    Each node has one type, also inside of several blocks. The priority is: consent; comments and related, of which
    the outer one counts; share and breadcrumbs; navigation; tables; captions; bylines. So buttons and names inside a
    comment have the type of the comment.
    """
    with spending("kinds", page.provenance.url):
        return _finder(page).kinds()


@cached_per_page
def related_and_comments(page: Snapshot) -> tuple[Bools, Bools]:
    """Return which of the N nodes are in blocks of related pages, and which in comments, without the other types."""
    with spending("kinds", page.provenance.url):
        return _finder(page).related_and_comments()


@cached_per_page
def nodes_aside(page: Snapshot) -> Bools:
    """Return which of the N nodes are in comments, related pages, menus, breadcrumbs and share buttons."""
    related, comments = related_and_comments(page)
    with spending("kinds", page.provenance.url):
        return related | comments | _finder(page).links_aside(*paths_and_shares(page))


@cached_per_page
def paths_and_shares(page: Snapshot) -> tuple[Ints, Ints]:
    """Return the root nodes of breadcrumbs, and those of share buttons, each ascending, inside of any block."""
    with spending("kinds", page.provenance.url):
        finder = _finder(page)
        return finder.paths(), finder.shares()


@cached_per_page
def _finder(page: Snapshot) -> "_Finder":
    return _Finder(page)


class _Finder:
    """Combines the blocks found by name with those found by structure."""

    def __init__(self, page: Snapshot) -> None:
        self._columns = Columns(page)
        self._claims = TypeRules(self._columns)
        self._structure = Structure(self._columns)

    def paths(self) -> Ints:
        """Return breadcrumbs."""
        return self._tops(self._claims.paths(), self._structure.paths())

    def shares(self) -> Ints:
        """Return share buttons and bars."""
        structure = self._structure
        return self._tops(structure.bars(union(self._claims.shares(), structure.shares())))

    def kinds(self) -> NDArray[np.uint8]:
        """Return the number of each node's type."""
        claims, structure, tops = self._claims, self._structure, self._tops
        related, comments = self._related_and_comments()
        weakest_first: tuple[tuple[BlockKind, Ints], ...] = (
            ("bylines", tops(structure.lines_of(claims.bylines()), structure.bylines())),
            ("captions", tops(claims.captions())),
            ("tables", tops(claims.tables())),
            ("navigation", tops(claims.navigation())),
            ("breadcrumbs", self.paths()),
            ("share", self.shares()),
            ("related", related),
            ("comments", comments),
            ("consent", structure.consent(claims.may_be_consent())),
        )
        numbers = np.zeros(self._columns.end.size, np.uint8)
        for kind, roots in weakest_first:
            number = NUMBERS[kind]
            for root, end in zip(roots.tolist(), self._columns.end[roots].tolist(), strict=True):
                numbers[root:end] = number
        return numbers

    def related_and_comments(self) -> tuple[Bools, Bools]:
        """Return which nodes are in blocks of related pages, and which in comments."""
        related, comments = self._related_and_comments()
        return self._columns.inside(related), self._columns.inside(comments)

    def links_aside(self, paths: Ints, shares: Ints) -> Bools:
        """Return which nodes are in menus, in the breadcrumbs `paths` or in the share buttons `shares`."""
        return self._columns.inside(union(self._claims.navigation(), paths, shares))

    def _related_and_comments(self) -> tuple[Ints, Ints]:
        comments = self._tops(self._claims.comments(), self._structure.comments())
        related = self._tops(self._claims.related(), self._structure.related())
        related = related[~np.isin(related, comments)]
        # The outer one counts, so that an advert among comments, or a number of comments in a teaser, is not cut out.
        within = self._columns.among(related, comments), self._columns.among(comments, related)
        return related[~within[0]], comments[~within[1]]

    def _tops(self, *nodes: Ints) -> Ints:
        return self._columns.tops(union(*nodes))


DROPPED_BY_KIND = "dropped by kind: "
"""Prefix of the reasons of blocks that are dropped by type."""

_KEPT_BY_KIND = "kept by kind: "
_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class KindChoice:
    """The block types to keep and to drop, whatever the method decides. False if there are none.

    Parameters
    ----------
    keep, drop : block types, in the order of `BLOCK_KINDS`.
    """

    keep: tuple[BlockKind, ...] = ()
    drop: tuple[BlockKind, ...] = ()

    @classmethod
    def of(cls, keep: object, drop: object) -> "KindChoice":
        """Validate two lists of block types. A type in both is kept.

        Parameters
        ----------
        keep, drop : the lists, in any order; duplicates are ignored.

        Raises
        ------
        UsageError : one of them is not a list of block types.
        """
        kept = _kinds("keep_kinds", keep)
        return cls(kept, tuple(kind for kind in _kinds("drop_kinds", drop) if kind not in kept))

    def __bool__(self) -> bool:
        return bool(self.keep or self.drop)


EVERY_METHOD_DECIDES = KindChoice()
"""The choice that keeps and drops no block types."""


def apply_kinds(page: Snapshot, verdict: Verdict, choice: KindChoice) -> Verdict:
    """Return the verdict with visible blocks kept or dropped by type, each with a reason that names the type.

    Keeping a type overrides any reason for which a block was dropped. If the choice is empty, the verdict is returned
    unchanged.
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
