"""The frontier of a sample: known pages that were not visited yet, in random order."""

import hashlib
import heapq
from collections.abc import Collection
from hashlib import blake2b
from urllib.parse import urlsplit

_MOST_ROUTES = 0.5


def missing_name(root: str) -> str:
    """Return a made-up page name on the site at `root`; always the same, so that the page can be cached."""
    return f"no-such-page-{blake2b(root.encode(), digest_size=8).hexdigest()}"


def missing_address(root: str, start: str, pages: Collection[str]) -> str:
    """Return an address that does not exist on a site.

    Parameters
    ----------
    root : scheme, host and port.
    start : the start page.
    pages : pages that it links to. If most of them are routes after ``#``, the address is a route, too.
    """
    routes = [page for page in pages if "#" in page]
    if len(routes) <= _MOST_ROUTES * len(pages):
        return f"{root}/{missing_name(root)}"
    mark = next((mark for mark in ("!/", "/") if any(f"#{mark}" in page for page in routes)), "")
    return f"{start.partition('#')[0]}#{mark}{missing_name(root)}"


def missing_addresses(url: str) -> list[str]:
    """Return the possible made-up addresses on the site of a page; empty for a start page."""
    parts = urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}"
    name = missing_name(root)
    own = url.partition("#")[0]
    routes = [f"{own}#{mark}{name}" for mark in ("/", "!/", "")] if parts.fragment else []
    return [*routes, *([f"{root}/{name}"] if parts.path.strip("/") else [])]


def rank(name: str, *, seed: int) -> bytes:
    """Return 8 pseudo-random bytes that depend only on the name and the seed."""
    return hashlib.blake2b(f"{seed}\0{name}".encode(), digest_size=8).digest()


class Frontier:
    """Known pages; the page with the lowest rank is drawn first.

    Ranks depend only on the name of the page and on the seed. So the pages drawn approach the lowest ranks of all
    pages that become known, which is a uniform sample without replacement, although most pages become known late. If
    few pages of the site change, few pages of the sample change.

    Parameters
    ----------
    seed : each seed gives another order.
    capacity : number of pages to keep; if there are twice as many, those with the highest ranks are dropped.
    """

    def __init__(self, seed: int, *, capacity: int) -> None:
        self._seed = seed
        self._capacity = capacity
        self._visited: set[str] = set()
        self._waiting: dict[str, int] = {}
        self._order: list[tuple[bytes, str]] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, name: str, *, clicks: int) -> None:
        """Add a page with its clicks from the start, unless it was visited or is known with fewer clicks."""
        if name in self._visited:
            return
        if name in self._waiting:
            self._waiting[name] = min(clicks, self._waiting[name])
            return
        self._waiting[name] = clicks
        heapq.heappush(self._order, (rank(name, seed=self._seed), name))
        if len(self._waiting) >= 2 * self._capacity:
            self._order = heapq.nsmallest(self._capacity, self._order)
            self._waiting = {name: self._waiting[name] for _, name in self._order if name in self._waiting}

    def draw(self) -> tuple[str, int]:
        """Return the next page with its clicks from the start, and mark it as visited.

        Raises
        ------
        LookupError : there is none.
        """
        while self._order:
            _, name = heapq.heappop(self._order)
            if name in self._waiting:
                clicks = self._waiting.pop(name)
                self._visited.add(name)
                return name, clicks
        raise LookupError("No page is left.")

    def visit(self, name: str) -> None:
        """Mark a page as visited that was reached in another way."""
        self._waiting.pop(name, None)
        self._visited.add(name)
