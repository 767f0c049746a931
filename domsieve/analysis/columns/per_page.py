"""Cache columns that several steps of the analysis compute from the same page.

A page goes through a dozen steps, and most start with the same columns. A function decorated with `once_per_page`
keeps its result until this thread works on another page. The steps stay plain functions of a page, in any order, and
the columns of only one page are held per thread.
"""

from collections.abc import Callable
from functools import wraps
from threading import local
from typing import Any, TypeVar
from weakref import ref

import numpy as np

from domsieve.snapshot.page import Snapshot

T = TypeVar("T")


class _LastPage(local):
    """The page that this thread worked on last, and the results by function."""

    def __init__(self) -> None:
        self.page: Callable[[], Snapshot | None] = lambda: None
        self.results: dict[Callable[[Snapshot], Any], Any] = {}


_LAST_PAGE = _LastPage()


def once_per_page(make: Callable[[Snapshot], T]) -> Callable[[Snapshot], T]:
    """Cache the result of a function of a page until it is called with another page.

    An array that the function returns becomes read-only. Exceptions are not cached.
    """

    @wraps(make)
    def shared(page: Snapshot) -> T:
        if _LAST_PAGE.page() is not page:
            fresh: dict[Callable[[Snapshot], Any], Any] = {}
            _LAST_PAGE.results = fresh
            # Drop the columns together with the page.
            _LAST_PAGE.page = ref(page, lambda _: fresh.clear())
        results = _LAST_PAGE.results
        if make not in results:
            value = make(page)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            results[make] = value
        result: T = results[make]
        return result

    return shared
