"""Decide what changed on the pages that were loaded in a run."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

from domsieve.analysis.changes.comparison import Compared, compare_texts, compare_versions
from domsieve.analysis.changes.passages import Passage
from domsieve.analysis.changes.volatile import line_key
from domsieve.analysis.changes.words import lines_in
from domsieve.tasks.site_sync.content import Content
from domsieve.tasks.site_sync.state import SyncPage

NUMBER_RUNS = 3
"""Numbers at one place that change in so many successive runs change by themselves."""
NUMBER_PAGES = 3
"""Lines of so many pages that are equal except for numbers, and change in one run, change by themselves..."""
NUMBER_SHARE = 0.5
"""...if they are this share of all pages that have the line. A guess."""
LEAST_KNOWN = 0.5
"""If the site's tree knows fewer of a page's words, the page has a new layout; as for alarms of drift."""
_FEWEST_NEW, _NEW_OF_LOADED, _NEW_OF_ALL = 2, 0.5, 0.2
"""Pages with a new layout from which the site has one: their number, and shares of the pages loaded and of all."""


@dataclass(slots=True)
class Version:
    """A known page that was loaded again.

    Parameters
    ----------
    url : address of the page.
    page : what is known about it.
    old : its passages as they were kept.
    content : its content now.
    share : how much of it is at places that are known, in [0, 1].
    texts : all visible text of both versions, if they can only be compared as texts; else None.
    second : the passages of the second load; None without one.
    second_text : all visible text of the second load, if the versions are compared as texts.
    compared : the result.
    """

    url: str
    page: SyncPage
    old: tuple[Passage, ...]
    content: Content
    share: float = 1.0
    texts: tuple[str, str] | None = None
    second: tuple[Passage, ...] | None = None
    second_text: str | None = None
    compared: Compared = field(default_factory=lambda: Compared(()))

    def compare(self, known: Iterable[str]) -> None:
        """Compare the versions.

        Parameters
        ----------
        known : hashes of texts of the site that change by themselves.

        Raises
        ------
        BudgetError : the page exceeded its budget.
        """
        if self.texts is not None:
            self.compared = compare_texts(
                self.old,
                self.content.passages,
                old_text=self.texts[0],
                new_text=self.texts[1],
                second_text=self.second_text,
                address=self.url,
            )
        else:
            self.compared = compare_versions(
                self.old,
                self.content.passages,
                self.second,
                address=self.url,
                known={*known, *self.page.known},
            )


def has_new_layout(shares: Iterable[float], *, pages: int) -> bool:
    """Return whether a site has a new layout.

    Parameters
    ----------
    shares : `Version.share` of the known pages that were loaded.
    pages : number of all known pages.
    """
    loaded = [*shares]
    new = [share for share in loaded if share < LEAST_KNOWN]
    return (
        len(new) >= max(_FEWEST_NEW, _NEW_OF_LOADED * len(loaded), _NEW_OF_ALL * pages)
        and median(loaded) < LEAST_KNOWN
    )


def numbers_of_site(
    versions: Iterable[Version], passages: Callable[[], Iterable[Iterable[Passage]]]
) -> set[str]:
    """Return the hashes of lines whose numbers change by themselves, because they did so on several pages.

    Parameters
    ----------
    versions : the pages that changed.
    passages : returns those of every page of the site; called only if there are candidates.
    """
    pages_of: dict[str, set[str]] = defaultdict(set)
    for version in versions:
        for edit in version.compared.numbers:
            if edit.on_site:
                pages_of[edit.on_site].add(version.url)
    candidates = {key for key, urls in pages_of.items() if len(urls) >= NUMBER_PAGES}
    if not candidates:
        return set()
    having: dict[str, int] = dict.fromkeys(candidates, 0)
    for page in passages():
        keys = {line_key(line) for passage in page for line in lines_in(passage.text)}
        for key in keys & candidates:
            having[key] += 1
    return {key for key in candidates if len(pages_of[key]) >= NUMBER_SHARE * having[key]}


def numbers_of_page(
    page: SyncPage, compared: Compared, *, run: int
) -> tuple[dict[str, tuple[int, int]], set[str]]:
    """Return in how many successive runs numbers of a page changed, by place, and the places where they always do.

    Parameters
    ----------
    page : what is known about the page.
    compared : its versions, compared.
    run : number of the run.
    """
    counted: dict[str, tuple[int, int]] = {}
    for edit in compared.numbers:
        times, last = page.numbers.get(edit.on_page, (0, 0))
        counted[edit.on_page] = (times + 1 if last == run - 1 else 1, run)
    return counted, {key for key, (times, _) in counted.items() if times >= NUMBER_RUNS}


def moved_pages(
    missing: Mapping[str, tuple[Passage, ...]], added: Mapping[str, tuple[Passage, ...]]
) -> dict[str, str]:
    """Return the old address of each added page that has the content of a page which is missing now.

    Parameters
    ----------
    missing, added : passages of pages, by address.
    """
    old: dict[str, str] = {}
    for url in sorted(missing):
        if text := _whole(missing[url]):
            old.setdefault(text, url)
    found: dict[str, str] = {}
    for url in sorted(added):
        if before := old.pop(_whole(added[url]), None):
            found[url] = before
    return found


def _whole(passages: Iterable[Passage]) -> str:
    return "\n".join(" ".join(line) for passage in passages for line in lines_in(passage.text) if line)
