"""Learning a site from pages that are read when needed, so that one page that costs too much is left out alone."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from domsieve.analysis.site_model import SiteModel
from domsieve.errors import BudgetError, DomsieveError
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.pages import Page

NODES_AT_ONCE = 60_000
"""Nodes of pages that are held and learned together, at least."""

T = TypeVar("T")
Batch = list[tuple[Page, Snapshot]]
Failed = Callable[[Page, DomsieveError], None]
"""Is told of a page that cannot be read, counts as failed, or costs too much."""


def fit(model: SiteModel[Any], pages: Iterable[Page], failed: Failed) -> None:
    """Learn a site from its pages, forgetting what was learned before, without those that `failed` is told of."""
    model.fit(())
    for held in batches(snapshots(pages, failed)):
        learn_batch(model, held, failed)


def learn_batch(model: SiteModel[Any], held: Batch, failed: Failed) -> None:
    """Learn pages together; where that costs too much, one by one, without those that do."""
    for _ in in_parts(held, model.partial_fit, "learn", failed):
        pass


def in_parts(
    held: Batch, work: Callable[[list[Snapshot]], T], stage: str, failed: Failed
) -> Iterator[tuple[Batch, T]]:
    """Yield what comes of work on pages together; where that costs too much, of each, without those that do."""
    if len(held) > 1:
        try:
            result = work([snapshot for _, snapshot in held])
        except BudgetError:
            pass  # which of them it was is seen below
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
    """Cut pages into batches as the methods do, which work on one at a time."""
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
    """Yield pages with what they hold; those that cannot be read are told to `failed` and left out."""
    for page in pages:
        try:
            with page.at_work("read"):
                snapshot = page.read()
        except DomsieveError as error:
            failed(page, error)
        else:
            yield page, snapshot
