"""What happens while a site is sampled.

Imports the error tree and its neighbour `_protocol`.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from domsieve.errors import DomsieveError
from domsieve.renderer.protocol import Rendering


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteOpened:
    """The start page was reached and the rules of its site are read.

    Parameters
    ----------
    root : scheme, host and port of the site that is sampled, without a slash at the end.
    delay : time between the starts of two pages.
    """

    root: str
    delay: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingSeen:
    """What the site shows at an address that it cannot have, where that is no error: what its soft 404 looks like."""

    url: str
    rendering: Rendering
    was_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapsRead:
    """The sitemaps of the site are read; `pages` is how many pages they name that robots may visit."""

    pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDone:
    """One more page of the sample.

    Parameters
    ----------
    url : the page; the first one is the start page.
    number : 1 for the first page.
    pages : how many are wanted; None for all that are found.
    waiting : pages known and not visited.
    rendering : what was captured.
    was_known : whether the caller had it already.
    """

    url: str
    number: int
    pages: int | None
    waiting: int
    rendering: Rendering
    was_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRepeated:
    """A page that counts no more, because it is the same as an earlier one: `first`.

    It led to the same address, or its Snapshot has the same digest.
    """

    url: str
    first: str
    rendering: Rendering
    was_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFailed:
    """A page that cannot be had, that counts as failed, or that the site does not want robots to have.

    Parameters
    ----------
    url : the page.
    error : why.
    rendering : what was captured of a page that counts as failed, None of others.
    was_known : whether the caller had it already.
    """

    url: str
    error: DomsieveError
    rendering: Rendering | None = None
    was_known: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleEnded:
    """The end of the sample.

    Parameters
    ----------
    pages : how many pages the sample has.
    reason : ``"complete"``: as many as wanted; ``"exhausted"``: no further page is known; ``"fruitless"``: the
        last twenty pages (200 where all are wanted) failed or repeated others.
    """

    pages: int
    reason: Literal["complete", "exhausted", "fruitless"]


SampleEvent = SiteOpened | MissingSeen | SitemapsRead | PageDone | PageRepeated | PageFailed | SampleEnded
