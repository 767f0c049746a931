"""The address of a page that a site cannot have, by which it is seen what the site shows where there is none.

Imports its neighbour `urls`.
"""

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
