"""Which kind of block each node of a page belongs to.

Imports the columns, the claims, the structure and the vocabulary.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Ints
from domsieve.analysis.columns.shared import once_per_page
from domsieve.analysis.columns.tables import sorted_set
from domsieve.analysis.kinds.claims import Claims
from domsieve.analysis.kinds.columns import Columns
from domsieve.analysis.kinds.structure import Structure
from domsieve.budget import spending
from domsieve.snapshot.page import Snapshot
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
