"""The events of a sample."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from domsieve.errors import DomsieveError
from domsieve.renderer.protocol import Rendering


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteOpened:
    """The start page was reached, and robots.txt was read.

    Parameters
    ----------
    root : scheme, host and port of the sampled site, without a slash at the end.
    delay : time between the starts of two pages.
    """

    root: str
    delay: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingSeen:
    """The page that the site shows at a made-up address, unless that is an error: its soft 404."""

    url: str
    rendering: Rendering
    was_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapsRead:
    """The sitemaps were read.

    Parameters
    ----------
    pages : the number of their pages that robots may visit.
    changed_at : these pages, with the times of their last changes as written there; empty if they are not.
    """

    pages: int
    changed_at: Mapping[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDone:
    """A page of the sample is finished.

    Parameters
    ----------
    url : the page; the first one is the start page.
    number : its number, from 1.
    pages : number of pages wanted; None for all that are found.
    waiting : number of pages that are known and allowed, but not finished.
    rendering : the rendered page.
    was_known : whether the caller had it already.
    """

    url: str
    number: int
    pages: int | None
    waiting: int
    rendering: Rendering
    was_known: bool

    @property
    def expected(self) -> int:
        """How many pages the sample will have, as far as is known now."""
        known = self.number + self.waiting
        return known if self.pages is None else min(self.pages, known)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRepeated:
    """A page is the same as an earlier one, `first`, and does not count.

    It redirected to the same address, or its Snapshot has the same digest.
    """

    url: str
    first: str
    rendering: Rendering
    was_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFailed:
    """A page could not be rendered, counts as failed, or is forbidden by robots.txt.

    Parameters
    ----------
    url : the page.
    error : why it failed.
    rendering : the rendered page if it counts as failed; None for other errors.
    was_known : whether the caller had it already.
    """

    url: str
    error: DomsieveError
    rendering: Rendering | None = None
    was_known: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAgain:
    """A page that was fetched at first, and is rendered after all, because another page has shown that it must be."""

    url: str
    outcome: Rendering | DomsieveError


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleEnded:
    """The end of the sample.

    Parameters
    ----------
    pages : how many pages the sample has.
    reason : ``"complete"``: as many as wanted; ``"exhausted"``: no further page is known; ``"fruitless"``: the
        last twenty pages (200 where all are wanted) failed or repeated others.
    forbidden : number of further pages that are known, but that robots.txt forbids; counted up to 100,000.
    has_scope : only a part of the site was wanted.
    """

    pages: int
    reason: Literal["complete", "exhausted", "fruitless"]
    forbidden: int = 0
    has_scope: bool = False


SampleEvent = (
    SiteOpened | MissingSeen | SitemapsRead | PageDone | PageRepeated | PageFailed | PageAgain | SampleEnded
)
