"""Addresses from pages taken apart and put together, whatever they hold. Imports nothing of the project."""

import re
from urllib.parse import SplitResult, urljoin, urlsplit

# Python brings a host beyond ASCII into a normal form, in time quadratic in its combining marks.
_LONG_HOST = re.compile(r"//[^/?#]{1001}")
_WEB = ("http://", "https://")


def has_web_scheme(url: str) -> bool:
    """Return whether an address begins as those of web pages do, whatever follows."""
    return url[:8].lower().startswith(_WEB)


def split_url(url: str) -> SplitResult | None:
    """Return the parts of an address, None when it is none that can be taken apart."""
    if _has_long_host(url):
        return None
    try:
        return urlsplit(url)
    except ValueError:
        return None


def join_url(base: str, link: str) -> str | None:
    """Return the address that `link` means on a page at `base`, None when there is none."""
    if _has_long_host(base) or _has_long_host(link):
        return None
    try:
        return urljoin(base, link)
    except ValueError:
        return None


def _has_long_host(url: str) -> bool:
    return not url.isascii() and _LONG_HOST.search(url) is not None


def without_credentials(url: str) -> str:
    """Return an address without user name and password; others as they are."""
    parts = split_url(url)
    if parts is None or "@" not in parts.netloc:
        return url
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
