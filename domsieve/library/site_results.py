"""What a visit to a site returns, and what it reports on the way."""

from dataclasses import dataclass

from domsieve.errors import DomsieveError
from domsieve.snapshot.page import Snapshot


@dataclass(frozen=True, slots=True)
class SiteProgress:
    """A step of `domsieve.site`.

    Parameters
    ----------
    message : what happened, as one line for people.
    url : the page that was visited; empty for other steps.
    pages : number of pages so far.
    expected : how many pages there will be, as far as is known now.
    error : why the page failed; None if it did not.
    """

    message: str
    url: str
    pages: int
    expected: int
    error: DomsieveError | None = None


@dataclass(frozen=True, slots=True)
class SiteResult:
    """The pages of a site, returned by `domsieve.site`.

    Parameters
    ----------
    pages : Snapshots of different pages in the order of the visit, for `domsieve.clean` and `domsieve.records`.
    failed : the errors of the pages that failed, by address.
    ended : why the visit ended. ``"complete"``: as many pages as wanted. ``"exhausted"``: no further page is known.
        ``"fruitless"``: the last pages all failed or repeated others.
    """

    pages: list[Snapshot]
    failed: dict[str, DomsieveError]
    ended: str

    def __repr__(self) -> str:
        return f"<SiteResult {len(self.pages):,} pages, {len(self.failed):,} failed, {self.ended}>"
