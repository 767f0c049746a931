"""Feeds and sitemaps that somebody gives in place of the pages that they list.

Imports its neighbours in this package, the budget and the error tree.
"""

import contextlib
from collections import deque
from dataclasses import dataclass
from typing import cast

from lxml import etree

from domsieve.budget import spending
from domsieve.errors import NavigationError, PolicyError
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.sampling.fetch import fetch
from domsieve.renderer.sampling.sitemap import MAX_ADDRESSES, MAX_BYTES, parse_sitemap, unzipped
from domsieve.renderer.sampling.urls import Site, normalized

_HEAD_BYTES = 4_000
_MAX_FILES = 500
_ROOTS = frozenset({"RDF", "feed", "rss", "sitemapindex", "urlset"})


@dataclass(frozen=True, slots=True)
class Listing:
    """What a feed or a sitemap lists.

    Parameters
    ----------
    pages : addresses, each once, in the order of the file; at most 100,000.
    sitemaps : further sitemaps that an index names.
    lost : those of them that were requested and could not be read.
    unread : how many of them were left when a limit was reached.
    """

    pages: tuple[str, ...]
    sitemaps: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    unread: int = 0


def listing_in(data: bytes, url: str = "") -> Listing | None:
    """Return what the feed or sitemap in a file lists, None where it is neither.

    Parameters
    ----------
    data : the file, or its gzip.
    url : where it came from; relative addresses are joined with it.
    """
    with spending("sitemap", url):
        if not _is_listing(data[:_HEAD_BYTES]):
            return None
        sitemaps, pages = parse_sitemap(data, url)
    return Listing(_once(pages), _once(sitemaps))


async def listing_at(url: str, *, egress: Egress | None = None) -> Listing | None:
    """Return what the feed or sitemap at an address lists, None where there is neither.

    The sitemaps that an index names are read, too, one after another, as far as they lie on its site: at most 500 of
    them, and no further one after 100,000 addresses.

    Parameters
    ----------
    url : http or https.
    egress : where connections may go; by default to public addresses only.

    Raises
    ------
    PolicyError : the server may not be reached.
    NavigationError : no answer, or none within thirty seconds.
    """
    head = await fetch(url, max_bytes=_HEAD_BYTES, egress=egress)
    if head.status >= 300 or not _is_listing(head.body):
        return None
    first = listing_in((await fetch(url, max_bytes=MAX_BYTES, egress=egress)).body, url)
    return first and await _with_sitemaps(first, url, egress)


async def _with_sitemaps(first: Listing, url: str, egress: Egress | None) -> Listing:
    found, waiting = list(first.pages), deque(first.sitemaps)
    read: set[str] = set()
    lost: list[str] = []
    here = normalized(url)
    while waiting and len(read) < _MAX_FILES and len(found) < MAX_ADDRESSES:
        address = normalized(waiting.popleft())
        if address is None or here is None or address in read or not Site.of(address).is_twin(Site.of(here)):
            continue
        read.add(address)
        body = b""
        with contextlib.suppress(NavigationError, PolicyError):
            answer = await fetch(address, max_bytes=MAX_BYTES, egress=egress)
            body = answer.body if answer.status < 300 else b""
        part = listing_in(body, address)
        if part is None:
            lost.append(address)
            continue
        waiting += part.sitemaps
        found += part.pages
    return Listing(_once(found), first.sitemaps, tuple(lost), unread=len(waiting))


def _is_listing(head: bytes) -> bool:
    """Return whether a file that begins like this is a sitemap or a feed, by its first element."""
    reader = etree.XMLPullParser(events=("start",), recover=True, resolve_entities=False, no_network=True)
    with contextlib.suppress(etree.XMLSyntaxError):
        reader.feed(unzipped(head, _HEAD_BYTES))
        for _, element in reader.read_events():
            return etree.QName(cast("etree._Element", element)).localname in _ROOTS
    return False


def _once(addresses: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(addresses))[:MAX_ADDRESSES]
