"""Keep pages in memory between learning and cleaning, so that they are read and parsed only once."""

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
"""The maximum memory for kept pages, in bytes; pages beyond it are read again."""

Judge = Callable[[Snapshot], Verdict]
Reading = Callable[[], tuple[Snapshot, Judge]]


class PageCache:
    """Holds pages between their first and their second reading.

    Parameters
    ----------
    most_bytes : the maximum memory for pages.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._room = most_bytes
        self._held: dict[int, Snapshot] = {}

    def keeping(self, pages: Iterable[Page]) -> list[Page]:
        """Return the pages in a form that is read only once for the first two uses."""
        return [replace(page, load=self._loader(number, page.load)) for number, page in enumerate(pages)]

    def close(self) -> None:
        """Hold no further page."""
        self._room = 0

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
    """Yield each page, in order, with a function that reads it and returns the method to clean it with.

    The function raises the error of a page that cannot be read. A site model cleans a batch of pages at once, which
    takes half the time. If the batch exceeds the budget, its pages are cleaned one by one, each in its turn. Methods
    that work on single pages, and models that have learned too little of the site, always do so.
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
        # If one page costs too much or is of another kind, cleaning them one by one shows which.
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
