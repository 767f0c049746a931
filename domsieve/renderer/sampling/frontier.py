"""The known pages of a site that are not yet visited: their random order from a seed, and a missing page."""

import hashlib
import heapq
from collections.abc import Collection
from hashlib import blake2b
from urllib.parse import urlsplit

_MOST_ROUTES = 0.5


def missing_name(root: str) -> str:
    """Return the made-up name on the site at `root`, the same each time, so that a cache can hold the page."""
    return f"no-such-page-{blake2b(root.encode(), digest_size=8).hexdigest()}"


def missing_address(root: str, start: str, pages: Collection[str]) -> str:
    """Return an address that leads nowhere on a site.

    Parameters
    ----------
    root : scheme, host and port.
    start : the start page.
    pages : pages that it links to. Where most of them are routes behind ``#``, the address is one, too.
    """
    routes = [page for page in pages if "#" in page]
    if len(routes) <= _MOST_ROUTES * len(pages):
        return f"{root}/{missing_name(root)}"
    mark = next((mark for mark in ("!/", "/") if any(f"#{mark}" in page for page in routes)), "")
    return f"{start.partition('#')[0]}#{mark}{missing_name(root)}"


def missing_addresses(url: str) -> list[str]:
    """Return where the made-up page of the site of a page may be; nothing for a start page."""
    parts = urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}"
    name = missing_name(root)
    own = url.partition("#")[0]
    routes = [f"{own}#{mark}{name}" for mark in ("/", "!/", "")] if parts.fragment else []
    return [*routes, *([f"{root}/{name}"] if parts.path.strip("/") else [])]


def rank(name: str, *, seed: int) -> bytes:
    """Return 8 random bytes that are always the same for a name and a seed."""
    return hashlib.blake2b(f"{seed}\0{name}".encode(), digest_size=8).digest()


class Frontier:
    """Known pages; the one of the lowest rank is drawn first.

    Ranks depend on nothing but a page's name and the seed. So the pages drawn tend to the lowest ranks of all
    that are ever known, a uniform sample without replacement, even though most pages become known late; and
    when a few pages of the site change, the sample changes in few places.

    Parameters
    ----------
    seed : each one gives another order.
    capacity : pages kept; when there are twice as many, those of the highest ranks are forgotten.
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
        """Add a page that is this many clicks away from the start, unless it was visited or is known as nearer."""
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
        """Return the next page and its clicks from the start, and count it as visited.

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
        """Count a page as visited that was reached in another way."""
        self._waiting.pop(name, None)
        self._visited.add(name)
