"""What the source of a page says of itself without being parsed: its address, its title, and what it is made of.

For folders of thousands of pages, which are grouped before they are read. Imports the budget, addresses, and files
that are packed.
"""

import re
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from lxml import etree

from domsieve.archive.packed import unpacked
from domsieve.budget import spending
from domsieve.errors import DomsieveError
from domsieve.urls import split_url

_SEEN_BYTES = 200_000
_LONGEST_URL = 8_192
_TAG = re.compile(rb"<(?:link|meta|base)[\s/][^<>]{1,9000}>", re.IGNORECASE)
_TITLE = re.compile(rb"<title[^<>]{0,200}>([^<]{1,1000})<", re.IGNORECASE)
_MOST_TAGS = 2_000


@dataclass(frozen=True, slots=True)
class PageOrigin:
    """What a source says.

    Parameters
    ----------
    address : http or https, by its canonical link, else ``og:url``, else its ``base``; empty where it says none.
    keys : what tells that two sources are of the same page: what they hold, and address and title together.
    source : the page, unpacked.
    """

    address: str
    keys: tuple[str, ...]
    source: bytes


def file_origin(path: Path, *, url: str = "") -> PageOrigin | None:
    """Return what the page in a file says of itself; None where it cannot be read, which is told when it is parsed.

    `url` is its address if the caller knows it.
    """
    try:
        with spending("read", str(path)):
            return source_origin(unpacked(path.read_bytes(), path)[0], url=url)
    except (OSError, DomsieveError):
        return None


def source_origin(source: bytes, *, url: str = "") -> PageOrigin:
    """Return what the source of a page says of itself; linear in its beginning."""
    head = source[:_SEEN_BYTES]
    address = url or _address(head)
    title = _TITLE.search(head)
    keys = [blake2b(source, digest_size=16).hexdigest()]
    if address and title:
        # Sites that give all pages one canonical address give them titles of their own.
        keys.append(f"{address} {b' '.join(title[1].split()).decode('utf-8', 'replace')}")
    return PageOrigin(address, tuple(keys), source)


def _address(head: bytes) -> str:
    """Return the address that the head of a page gives, the most certain first; empty without one."""
    found: dict[str, str] = {}
    for number, tag in enumerate(_TAG.finditer(head)):
        if number == _MOST_TAGS:
            break
        words = tag[0].lower()
        if b"canonical" not in words and b"og:url" not in words and not words.startswith(b"<base"):
            continue
        for kind, value in _named(tag[0]):
            found.setdefault(kind, value)
    return next((found[kind] for kind in ("canonical", "og:url", "base") if kind in found), "")


def _named(tag: bytes) -> list[tuple[str, str]]:
    """Return what address a tag gives, and of which kind it is."""
    root = etree.fromstring(tag, etree.HTMLParser(encoding="utf-8"))
    element = None if root is None else next(root.iter("link", "meta", "base"), None)
    if element is None:
        return []
    kinds = {
        "link": "canonical" if "canonical" in (element.get("rel") or "").lower().split() else "",
        "meta": "og:url"
        if (element.get("property") or element.get("name") or "").lower() == "og:url"
        else "",
        "base": "base",
    }
    kind = kinds[str(element.tag)]
    value = (element.get("content" if kind == "og:url" else "href") or "").strip()
    if not kind or len(value) > _LONGEST_URL or not value.isprintable():
        return []
    parts = split_url(value)
    return [(kind, value)] if parts and parts.scheme in ("http", "https") and parts.hostname else []
