"""What several steps of the analysis read of one page, made once. Imports nothing but the Snapshot.

A page passes through a dozen steps, from its blocks to its text, and most ask for the same columns first. A function
marked with `once_per_page` keeps its result for as long as the same page is asked about, by this thread: steps stay
functions of a page, in any order, and no more than one page's columns are held.
"""

from collections.abc import Callable
from functools import wraps
from threading import local
from typing import Any, TypeVar
from weakref import ref

import numpy as np

from domsieve.snapshot.page import Snapshot

T = TypeVar("T")


class _AtHand(local):
    """The page that was asked about last, and what was made of it."""

    def __init__(self) -> None:
        self.page: Callable[[], Snapshot | None] = lambda: None
        self.made: dict[Callable[[Snapshot], Any], Any] = {}


_AT_HAND = _AtHand()


def once_per_page(make: Callable[[Snapshot], T]) -> Callable[[Snapshot], T]:
    """Return `make`, a function of nothing but the page, so that it is called once for one page after the other.

    An array it returns is read-only from then on. What it raises is raised on each call.
    """

    @wraps(make)
    def shared(page: Snapshot) -> T:
        if _AT_HAND.page() is not page:
            made: dict[Callable[[Snapshot], Any], Any] = {}
            _AT_HAND.made = made
            # Nothing is held of a page that is gone.
            _AT_HAND.page = ref(page, lambda _: made.clear())
        held = _AT_HAND.made
        if make not in held:
            value = make(page)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            held[make] = value
        found: T = held[make]
        return found

    return shared
