"""What renderings of a site have shown, and what follows for its other pages.

The evidence is a list of lessons, one for each page that was loaded both ways, and of the pages that were fetched
only, in the order in which pages were decided. Everything else follows from this list, so the same pages in the same
order are decided alike, whatever the timing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

import msgspec

from domsieve.analysis.browser_need.style_chains import SeenChains
from domsieve.analysis.compare.comparison import Outcome

COMPARED = 3
"""Number of pages of a prefix that are loaded both ways before others are fetched only."""
ENOUGH_OF_SITE = 5
"""Number of pages of a site whose source must be enough, while no page needs a browser, to compare one per prefix."""
NEEDED = 3
"""If so many pages of a prefix needed a browser, and for none the source was enough, the prefix is rendered."""
AUDITED_RATIO = 0.05
LONGEST_RUN = 19
"""At most so many pages of a prefix are fetched between two that are rendered."""
_MOST_SURPRISES = 3
_MOST_CONTEXTS, _MOST_CHAINS = (
    200,
    20_000,
)  # of a site, and of each kind with the same style sheets; bound the memory
MOST_IN_VAIN = 12
"""If so many pages of a prefix in a row had to be rendered, it is not worth fetching more of them first; a guess."""
MOST_IN_VAIN_OF_SITE = 6
"""The same for pages of the whole site that only new style sheets kept from being fetched; a guess."""
_PROBED_RATIO = 0.05


class Lesson(msgspec.Struct, frozen=True, kw_only=True):
    """What the two versions of one page have shown.

    Parameters
    ----------
    url, prefix : the page, and the part of the site that it belongs to.
    outcome : see `Sufficiency`.
    why : what was missing.
    had_signs : whether the source alone already said that the page needs a browser.
    context : the style sheets of the page; chains are only comparable within one context.
    visible, hidden, surely_hidden, pairs, broken : see `seen_chains`.
    boxes : see `StyleChains`.
    scripts : see `scripts_of`.
    browser : product and version of the browser.
    in_vain : whether only its style sheets, which were new, kept the page from being fetched.
    """

    url: str
    prefix: str
    outcome: Outcome
    why: str = ""
    had_signs: bool = False
    context: str = ""
    visible: tuple[int, ...] = ()
    hidden: tuple[int, ...] = ()
    surely_hidden: tuple[int, ...] = ()
    pairs: tuple[int, ...] = ()
    broken: tuple[int, ...] = ()
    boxes: tuple[int, ...] = ()
    scripts: tuple[int, ...] = ()
    browser: str = ""
    in_vain: bool = False

    @property
    def is_surprise(self) -> bool:
        """Whether the page needs a browser, and its source does not say so."""
        return self.outcome == "needed" and not self.had_signs


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """A page that was fetched and not rendered.

    Parameters
    ----------
    url, prefix : the page, and the part of the site that it belongs to.
    """

    url: str
    prefix: str


Entry = Lesson | Fetched


@dataclass(slots=True)
class PrefixEvidence:
    """The evidence on the pages of one prefix since the last surprise.

    Parameters
    ----------
    enough, needed : number of pages without signs for which the source was enough, and of all pages that needed a
        browser.
    enough_with_signs : number of pages for which the source was enough in spite of signs.
    surprises : number of pages that needed a browser without any sign, since the first page.
    in_vain : number of pages that were rendered since the last one that was only fetched.
    unchecked : the pages that were fetched since the source was last found to be enough, in their order.
    """

    enough: int = 0
    needed: int = 0
    enough_with_signs: int = 0
    surprises: int = 0
    in_vain: int = 0
    unchecked: list[str] = field(default_factory=list)

    @property
    def is_drawn(self) -> bool:
        """Whether enough pages needed a browser, and for none the source was enough."""
        return self.needed >= NEEDED and not (self.enough or self.enough_with_signs)

    @property
    def needs_browser(self) -> bool:
        """Whether all pages of the prefix are rendered without fetching them."""
        return self.is_drawn or self.surprises >= _MOST_SURPRISES


@dataclass(slots=True)
class _Seen:
    """What was seen with the same style sheets."""

    visible: set[int] = field(default_factory=set)
    hidden: set[int] = field(default_factory=set)
    surely_hidden: set[int] = field(default_factory=set)
    pairs: set[int] = field(default_factory=set)
    broken: set[int] = field(default_factory=set)
    boxes: set[int] = field(default_factory=set)
    is_full: bool = False

    def add(self, lesson: Lesson, *, is_new: bool) -> bool:
        """Add a lesson; return whether its page shows what hides text that is not its own.

        Texts with chains of visible texts can only be hidden by something else. If the page has a box that may lie
        over others, or a script (`is_new`), that was on no page before, that is it: it stays unknown, and the chains
        stay visible. Otherwise nobody knows what it is, and the chains count as hidden.
        """
        mixed = {*lesson.surely_hidden} & (self.visible | {*lesson.visible})
        is_blamed = bool(mixed) and (is_new or not self.boxes.issuperset(lesson.boxes))
        self.visible.update(lesson.visible)
        self.pairs.update(lesson.pairs)
        self.broken.update(lesson.broken)
        self.hidden |= {*lesson.hidden} - mixed if is_blamed else {*lesson.hidden}
        self.surely_hidden |= {*lesson.surely_hidden} - mixed if is_blamed else {*lesson.surely_hidden}
        if not is_blamed:
            self.boxes.update(lesson.boxes)
        sets = (self.visible, self.hidden, self.pairs, self.broken, self.boxes)
        self.is_full |= any(len(known) > _MOST_CHAINS for known in sets)
        return is_blamed


class SiteEvidence:
    """The evidence on a site: all that follows from what was decided so far, in its order.

    Attributes
    ----------
    browser : see `Lesson`.
    scripts : what has run on the pages of the site that were rendered; see `scripts_of`.
    in_vain : number of pages that only new style sheets kept from being fetched, since one was only fetched.
    """

    def __init__(self) -> None:
        self.browser = ""
        self.scripts: set[int] = set()
        self._prefixes: dict[str, PrefixEvidence] = {}
        self._seen: dict[str, _Seen] = {}
        self.in_vain = 0
        self._enough = 0
        self._needed = 0

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> "SiteEvidence":
        """Return the evidence of stored entries."""
        evidence = cls()
        for entry in entries:
            evidence.add(entry)
        return evidence

    def add(self, entry: Entry) -> list[str]:
        """Add what was decided about a page; return the fetched pages that have to be rendered after all.

        These are the pages of the prefix since the source was last found to be enough, if the page is a surprise: it
        needs a browser, and its source does not say so.
        """
        known = self.prefix(entry.prefix)
        if isinstance(entry, Fetched):
            known.unchecked.append(entry.url)
            known.in_vain = self.in_vain = 0
            return []
        known.in_vain += 1
        self.in_vain += entry.in_vain
        self.browser = entry.browser or self.browser
        self._see(entry)
        if entry.outcome == "enough":
            self._enough += 1
            if entry.had_signs:
                known.enough_with_signs += 1
            else:
                known.enough += 1
                known.unchecked = []
        elif entry.outcome == "needed":
            self._needed += 1
            if entry.is_surprise:
                known.surprises += 1
                known.needed = known.needed if known.enough == 0 else 0
                known.enough = known.enough_with_signs = 0
                known.needed += 1
                suspects, known.unchecked = known.unchecked, []
                return suspects
            known.needed += 1
        return []

    def prefix(self, prefix: str) -> PrefixEvidence:
        """Return the evidence on a prefix."""
        return self._prefixes.setdefault(prefix, PrefixEvidence())

    @property
    def compared(self) -> int:
        """How many pages of a prefix must have been enough before others are fetched only."""
        return 1 if self._enough >= ENOUGH_OF_SITE and not self._needed else COMPARED

    def is_rendered(self, url: str, prefix: str, *, seed: int) -> bool:
        """Return whether a page is rendered without fetching it.

        If the reason is only that fetching was in vain, 5 % of the pages are fetched nevertheless.
        """
        is_probed = url_rank(f"probe {url}", seed=seed) < _PROBED_RATIO * 2**64
        return self.prefix(prefix).needs_browser or (self.is_varied(prefix) and not is_probed)

    def is_varied(self, prefix: str) -> bool:
        """Return whether it was in vain too often that pages of the prefix, or of the site, were fetched."""
        return self.prefix(prefix).in_vain >= MOST_IN_VAIN or self.in_vain >= MOST_IN_VAIN_OF_SITE

    def is_static(self, prefix: str) -> bool:
        """Return whether pages of a prefix without signs may be fetched only."""
        known = self.prefix(prefix)
        return known.enough >= self.compared and not known.needs_browser

    def is_due(self, url: str, prefix: str, *, seed: int) -> bool:
        """Return whether a page that could be fetched is rendered to check the evidence."""
        return is_audited(url, seed=seed) or len(self.prefix(prefix).unchecked) >= LONGEST_RUN

    def seen(self, context: str) -> SeenChains | None:
        """Return what was seen with these style sheets; None if no page that has them was rendered."""
        known = self._seen.get(context)
        if known is None:
            return None
        return SeenChains(
            visible=known.visible - known.hidden,
            hidden=known.hidden - known.visible,
            mixed=known.visible & known.surely_hidden,
            pairs=known.pairs - known.broken,
            boxes=known.boxes,
        )

    def _see(self, lesson: Lesson) -> None:
        if not (lesson.visible or lesson.hidden):
            return
        is_new = not self.scripts.issuperset(lesson.scripts)
        # Without the oldest or the fullest, pages are rendered as if nothing were known of their style sheets.
        if lesson.context not in self._seen and len(self._seen) >= _MOST_CONTEXTS:
            del self._seen[next(iter(self._seen))]
        known = self._seen.setdefault(lesson.context, _Seen())
        is_blamed = known.add(lesson, is_new=is_new)
        if not is_blamed and len(self.scripts) < _MOST_CHAINS:
            self.scripts.update(lesson.scripts)
        if known.is_full:
            del self._seen[lesson.context]


def url_rank(url: str, *, seed: int) -> int:
    """Return a pseudo-random number of 64 bits that depends only on the URL and the seed."""
    return int.from_bytes(blake2b(f"{seed}\0{url}".encode(errors="replace"), digest_size=8).digest())


def is_audited(url: str, *, seed: int) -> bool:
    """Return whether a page is among the `AUDITED_RATIO` that are rendered to check the evidence."""
    return url_rank(url, seed=seed) < AUDITED_RATIO * 2**64
