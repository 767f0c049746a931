"""Pages kept between learning and cleaning, so that what fits in memory is read and parsed once.

Imports its neighbours and the Snapshot.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, cast

from domsieve.analysis.registry import MIN_SITE_PAGES, SITE_METHODS, Method
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.verdict import Verdict
from domsieve.errors import DomsieveError
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.pages import Page
from domsieve.tasks.site_learning import NODES_AT_ONCE

MOST_BYTES = 200_000_000
"""What kept pages may hold together; what is read beyond that is read again."""

Judge = Callable[[Snapshot], Verdict]
Reading = Callable[[], tuple[Snapshot, Judge]]


class Shelf:
    """Holds pages from when they are first read until they are read again.

    Parameters
    ----------
    most_bytes : what it may hold.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._room = most_bytes
        self._held: dict[int, Snapshot] = {}

    def keeping(self, pages: Iterable[Page]) -> list[Page]:
        """Return pages that are read once for the first two times."""
        return [replace(page, load=self._loader(number, page.load)) for number, page in enumerate(pages)]

    def _loader(self, number: int, load: Callable[[], Snapshot]) -> Callable[[], Snapshot]:
        def read() -> Snapshot:
            held = self._held.pop(number, None)
            if held is not None:
                self._room += held.nbytes
                return held
            page = load()
            if page.nbytes <= self._room:
                self._room -= page.nbytes
                self._held[number] = page
            return page

        return read


def judged_together(pages: Iterable[Page], judge: Judge) -> Iterator[tuple[Page, Reading]]:
    """Yield each page with what reads it, or raises why it cannot be read, and says what judges it then; in order.

    A site model judges as many pages at once as make a batch of nodes, which costs half; where that costs too much,
    each alone when it is its turn. What judges every page by itself, as one does that has learned too little of the
    site, reads each when it is its turn.
    """
    model = getattr(judge, "__self__", None)
    if not isinstance(model, SiteModel) or _judges_alone(model):
        for page in pages:
            yield page, partial(_alone, page, judge)
        return
    held: list[tuple[Page, Snapshot | DomsieveError]] = []
    nodes = 0
    for page in pages:
        found: Snapshot | DomsieveError
        try:
            with page.at_work("clean"):
                found = page.read()
            nodes += len(found)
        except DomsieveError as error:
            found = error
        held.append((page, found))
        if nodes >= NODES_AT_ONCE:
            yield from _batch(held, model)
            held, nodes = [], 0
    yield from _batch(held, model)


def _judges_alone(model: SiteModel[Any]) -> bool:
    return SITE_METHODS[cast(Method, model.name)].works_alone and model.learned < MIN_SITE_PAGES


def _alone(page: Page, judge: Judge) -> tuple[Snapshot, Judge]:
    return page.read(), judge


def _batch(
    held: list[tuple[Page, Snapshot | DomsieveError]], model: SiteModel[Any]
) -> Iterator[tuple[Page, Reading]]:
    there = [found for _, found in held if not isinstance(found, DomsieveError)]
    verdicts: Iterator[Verdict] | None = None
    if len(there) > 1:
        # Where one costs too much or is of another kind, which it was is seen when each is judged alone.
        with suppress(DomsieveError):
            verdicts = iter(model.transform(there))
    for page, found in held:
        if isinstance(found, DomsieveError):
            yield page, partial(_raise, found)
        else:
            judge = model.transform if verdicts is None else partial(_said, next(verdicts))
            yield page, partial(_given, found, judge)


def _raise(error: DomsieveError) -> tuple[Snapshot, Judge]:
    raise error


def _given(page: Snapshot, judge: Judge) -> tuple[Snapshot, Judge]:
    return page, judge


def _said(verdict: Verdict, _: Snapshot) -> Verdict:
    return verdict
