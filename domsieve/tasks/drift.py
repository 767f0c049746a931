"""Whether a site has drifted away from its model: how many words of its last pages stand at places that it knows.

Pages that were made as those that were learned have shares of 0.85 to 1; after a redesign the middle one is near 0.
Imports nothing of the project.
"""

from collections import deque
from collections.abc import Iterable
from statistics import median

RECENT_PAGES = 20
"""Pages that are looked at, the last ones."""
LEAST_KNOWN = 0.5
"""The median share below which a model should be learned anew."""


class Drift:
    """Takes the shares of the pages of one site, in order, and remembers the last ones.

    Parameters
    ----------
    shares : of pages that were there before; None of pages that have none.
    """

    def __init__(self, shares: Iterable[float | None] = ()) -> None:
        self._shares = deque[float](maxlen=RECENT_PAGES)
        self.add(*shares)

    def add(self, *shares: float | None) -> None:
        """Take the shares of further pages."""
        self._shares.extend(share for share in shares if share is not None)

    @property
    def known_share(self) -> float | None:
        """The median share of the last pages, None before the first."""
        return median(self._shares) if self._shares else None

    @property
    def is_over(self) -> bool:
        """Whether the model should be learned anew; told of a full row of pages only."""
        share = self.known_share
        return share is not None and len(self._shares) == RECENT_PAGES and share < LEAST_KNOWN

    def __str__(self) -> str:
        share = self.known_share
        if share is None:
            return "none of the pages has words that a tree could know"
        advice = "; learn the model again" if self.is_over else ""
        return f"the model knows the places of {share:.0%} of the words (median of the last pages){advice}"
