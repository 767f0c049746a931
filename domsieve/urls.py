"""Parse and join untrusted URLs without exceptions and in linear time."""

import re
from urllib.parse import SplitResult, urljoin, urlsplit

# `urlsplit` normalises a non-ASCII host, which takes time quadratic in its combining marks. The limit is far above
# the 253 characters of a valid host name.
_LONG_HOST = re.compile(r"//[^/?#]{1001}")
_WEB = ("http://", "https://")
_FILE_ENDINGS = (
    ".atom", ".br", ".gz", ".htm", ".html", ".json", ".jsonl", ".md", ".rdf", ".rss", ".txt", ".wacz", ".warc",
    ".xhtml", ".xml", ".zst",
)  # fmt: skip


def has_web_scheme(url: str) -> bool:
    """Return whether `url` starts with ``http://`` or ``https://``, in any case."""
    return url[:8].lower().startswith(_WEB)


def split_url(url: str) -> SplitResult | None:
    """Return the parts of `url`, or None if it cannot be parsed."""
    if _has_long_host(url):
        return None
    try:
        return urlsplit(url)
    except ValueError:
        return None


def join_url(base: str, link: str) -> str | None:
    """Return the absolute URL of `link` on a page at `base`, or None if it cannot be resolved."""
    if _has_long_host(base) or _has_long_host(link):
        return None
    try:
        return urljoin(base, link)
    except ValueError:
        return None


def meant(word: str) -> str:
    """Return a question with the address that a word without ``http://`` probably means, or nothing.

    Words that look like names of files mean no address.
    """
    parts = split_url(f"//{word}")
    if parts is None or not word.isprintable() or " " in word or not parts.hostname:
        return ""
    host = parts.hostname
    is_local = host == "localhost" or host.replace(".", "").isdecimal() or ":" in host
    if not is_local and "." not in host.strip("."):
        return ""
    if word == parts.netloc and host.endswith(_FILE_ENDINGS):
        return ""
    return f" Did you mean {'http' if is_local else 'https'}://{word}?"


def _has_long_host(url: str) -> bool:
    return not url.isascii() and _LONG_HOST.search(url) is not None


def without_credentials(url: str) -> str:
    """Return `url` without user name and password; a URL that cannot be parsed is returned unchanged."""
    parts = split_url(url)
    if parts is None or "@" not in parts.netloc:
        return url
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
