"""Learn a site from its pages, and notice when it drifts from its model."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from statistics import median
from typing import Any, TypeVar

from domsieve.analysis.site_model import SiteModel
from domsieve.errors import BudgetError, DomsieveError
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.pages import Page

NODES_AT_ONCE = 60_000
"""Pages are held in memory and learned from together until they have at least this many nodes."""

T = TypeVar("T")
Batch = list[tuple[Page, Snapshot]]
Failed = Callable[[Page, DomsieveError], None]
"""Called for a page that cannot be read, counts as failed, or costs too much."""


def fit(model: SiteModel[Any], pages: Iterable[Page], failed: Failed) -> None:
    """Learn a site from scratch from its pages; `failed` is called for pages that cannot be used."""
    model.fit(())
    for held in batches(snapshots(pages, failed)):
        learn_batch(model, held, failed)


def learn_batch(model: SiteModel[Any], held: Batch, failed: Failed) -> None:
    """Learn from pages together; if that costs too much, one by one, without those that cost too much."""
    for _ in in_parts(held, model.partial_fit, "learn", failed):
        pass


def in_parts(
    held: Batch, work: Callable[[list[Snapshot]], T], stage: str, failed: Failed
) -> Iterator[tuple[Batch, T]]:
    """Yield the result of work on all pages; if it costs too much, the results page by page without those that do."""
    if len(held) > 1:
        try:
            result = work([snapshot for _, snapshot in held])
        except BudgetError:
            pass  # the loop below finds out which of them it was
        else:
            yield held, result
            return
    for page, snapshot in held:
        try:
            with page.at_work(stage):
                result = work([snapshot])
        except BudgetError as error:
            failed(page, error)
        else:
            yield [(page, snapshot)], result


def batches(pages: Iterable[tuple[Page, Snapshot]]) -> Iterator[Batch]:
    """Divide pages into batches, as the methods do."""
    held: Batch = []
    nodes = 0
    for page, snapshot in pages:
        held.append((page, snapshot))
        nodes += len(snapshot)
        if nodes >= NODES_AT_ONCE:
            yield held
            held, nodes = [], 0
    if held:
        yield held


def snapshots(pages: Iterable[Page], failed: Failed) -> Iterator[tuple[Page, Snapshot]]:
    """Yield pages with their Snapshots; `failed` is called for those that cannot be read."""
    for page in pages:
        try:
            with page.at_work("read"):
                snapshot = page.read()
        except DomsieveError as error:
            failed(page, error)
        else:
            yield page, snapshot


RECENT_PAGES = 20
"""The number of pages, the latest ones, by which drift is measured."""
LEAST_KNOWN = 0.5
"""The median share below which a model should be learned again."""


class Drift:
    """The drift of a site from its model, measured over the latest pages.

    Parameters
    ----------
    shares : the shares of known words of earlier pages; None for pages without words.
    """

    def __init__(self, shares: Iterable[float | None] = ()) -> None:
        self._shares = deque[float](maxlen=RECENT_PAGES)
        self.add(*shares)

    def add(self, *shares: float | None) -> None:
        """Add the shares of further pages."""
        self._shares.extend(share for share in shares if share is not None)

    @property
    def known_share(self) -> float | None:
        """The median share of the latest pages; None before the first."""
        return median(self._shares) if self._shares else None

    @property
    def is_over(self) -> bool:
        """Whether the model should be learned again; always False before there are enough pages."""
        share = self.known_share
        return share is not None and len(self._shares) == RECENT_PAGES and share < LEAST_KNOWN

    def __str__(self) -> str:
        share = self.known_share
        if share is None:
            return "none of the pages has words that a tree could know"
        advice = "; learn the model again" if self.is_over else ""
        return f"the model knows the places of {share:.0%} of the words (median of the last pages){advice}"
