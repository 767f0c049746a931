"""Read the pages that sitemaps and feeds list."""

import contextlib
import re
import zlib
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import cast

from lxml import etree

from domsieve.budget import check, spending
from domsieve.errors import NavigationError, PolicyError
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.sampling._fetch import fetch
from domsieve.renderer.sampling._page_urls import Site, joined, normalized

MAX_BYTES = 10_000_000
_MAX_UNPACKED_BYTES = 50_000_000  # of one file, as the protocol says
MAX_ADDRESSES = 100_000
_LONGEST_TIME = 64
_WORD = re.compile(r"\S+")
_ABOUT = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"
_WIDE_MARKUP = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16, which lists of addresses do not use
_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31  # zlib's value for the largest window with a gzip header


async def read_sitemaps(
    fetch: Callable[[str], Awaitable[bytes]],
    addresses: Iterable[str],
    *,
    site: Site,
    rank: Callable[[str], bytes],
    most: int = 10,
) -> dict[str, str]:
    """Return the pages in sitemaps, also those on other sites, with the times of their last change as written there.

    The time of a page is empty if no sitemap has it. Feeds are read like sitemaps.

    At most `most` files are read, and none after 100,000 addresses.

    Parameters
    ----------
    fetch : returns the file at an address; empty if there is none.
    addresses : sitemaps, indexes of sitemaps, and feeds; those on other hosts are left out.
    site : the site of the sitemaps.
    rank : of the known files, the one with the lowest rank is read next.
    """
    waiting, read = _on_site(addresses, site), set[str]()
    found: dict[str, str] = {}
    while waiting and len(read) < most and len(found) < MAX_ADDRESSES:
        address = min(waiting, key=rank)
        read.add(address)
        with spending("sitemap"):
            sitemaps, pages, times = _parsed(await fetch(address))
        waiting = (waiting | _on_site(sitemaps, site)) - read
        for page, time in zip(pages, times, strict=True):
            found[page] = time or found.get(page, "")
    return dict(islice(found.items(), MAX_ADDRESSES))


def parse_sitemap(data: bytes, url: str = "") -> tuple[list[str], list[str]]:
    """Return the addresses of sitemaps, and those of pages, in a sitemap or a feed, as far as it can be read.

    Relative addresses are resolved with `url`, the address of the file, if it is known.
    """
    with spending("sitemap"):
        sitemaps, pages, _ = _parsed(data)
    if not url:
        return sitemaps, pages
    return [joined(url, one) or one for one in sitemaps], [joined(url, one) or one for one in pages]


def _parsed(data: bytes) -> tuple[list[str], list[str], list[str]]:
    """Return the addresses of sitemaps, those of pages, and the times of the pages' last changes."""
    sitemaps: list[str] = []
    pages: list[str] = []
    times: list[str] = []
    data = unzipped(data, _MAX_UNPACKED_BYTES)
    if not data.lstrip(b"\xef\xbb\xbf\t\n\r ").startswith((b"<", *_WIDE_MARKUP)):
        words = _WORD.finditer(data.decode("utf-8-sig", "replace"))
        pages = [word[0] for word in islice(words, MAX_ADDRESSES)]
        return sitemaps, pages, [""] * len(pages)
    entries = etree.iterparse(
        BytesIO(data),
        tag=[f"{{*}}{name}" for name in _ENTRIES],
        recover=True,
        resolve_entities=False,
        no_network=True,
    )
    with contextlib.suppress(etree.XMLSyntaxError):
        for _, entry in entries:
            check()
            name = etree.QName(entry).localname
            above = entry.getparent()
            if above is None or etree.QName(above).localname in _ENTRIES:
                continue
            address = _ENTRIES[name](entry).strip()
            if address and name == "sitemap":
                sitemaps.append(address)
            elif address:
                pages.append(address)
                times.append(_changed_at(entry))
            del above[: above.index(entry) + 1]
    return sitemaps, pages, times


def _changed_at(entry: etree._Element) -> str:
    """Return when a page was last changed, as its entry says; empty if it does not."""
    for name in ("lastmod", "updated"):
        if found := (entry.findtext(f"{{*}}{name}") or "").strip():
            return found[:_LONGEST_TIME]
    return ""


def _of_sitemap(entry: etree._Element) -> str:
    return entry.findtext("{*}loc") or ""


def _of_rss(item: etree._Element) -> str:
    """Return the page of an item: its link, or else its guid if that is an address (RSS 2.0), or ``rdf:about``."""
    link = item.findtext("{*}link") or ""
    if link.strip():
        return link
    guid = item.find("{*}guid")
    if guid is not None and guid.get("isPermaLink", "true") != "false":
        return guid.text or ""
    return item.get(_ABOUT, "")


def _of_atom(entry: etree._Element) -> str:
    """Return the page of an entry, its first ``alternate`` link (RFC 4287, 4.2.7.2), HTML before other types."""
    links = [link for link in entry.iterfind("{*}link") if link.get("rel", "alternate") == "alternate"]
    links.sort(key=lambda link: "html" not in link.get("type", "html"))
    return links[0].get("href", "") if links else ""


_ENTRIES: dict[str, Callable[[etree._Element], str]] = {
    "url": _of_sitemap,
    "sitemap": _of_sitemap,
    "item": _of_rss,
    "entry": _of_atom,
}


def unzipped(data: bytes, most_bytes: int) -> bytes:
    """Decompress a gzip file as far as it can be read; other files are returned unchanged."""
    if not data.startswith(_GZIP):
        return data
    with contextlib.suppress(zlib.error):
        return zlib.decompressobj(_GZIP_WINDOW).decompress(data, most_bytes)
    return b""


def _on_site(addresses: Iterable[str], site: Site) -> set[str]:
    pages = map(normalized, addresses)
    return {page for page in pages if page and Site.of(page).is_twin(site)}


_HEAD_BYTES = 4_000
_MAX_FILES = 500
_ROOTS = frozenset({"RDF", "feed", "rss", "sitemapindex", "urlset"})


@dataclass(frozen=True, slots=True)
class Listing:
    """The content of a feed or a sitemap.

    Parameters
    ----------
    pages : addresses of pages, each once, in the order of the file; at most 100,000.
    sitemaps : the sitemaps of an index.
    lost : those of `sitemaps` that were requested but could not be read.
    unread : the number of `sitemaps` that were not read because a limit was reached.
    """

    pages: tuple[str, ...]
    sitemaps: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    unread: int = 0


def listing_in(data: bytes, url: str = "") -> Listing | None:
    """Parse a feed or a sitemap; return None if the file is neither.

    Parameters
    ----------
    data : the file, possibly compressed with gzip.
    url : its address, for relative addresses in it.
    """
    with spending("sitemap", url):
        if not _is_listing(data[:_HEAD_BYTES]):
            return None
        sitemaps, pages = parse_sitemap(data, url)
    return Listing(_once(pages), _once(sitemaps))


async def listing_at(url: str, *, egress: Egress | None = None) -> Listing | None:
    """Fetch and parse the feed or sitemap at an address; return None if it is neither.

    The sitemaps of an index on the same site are read as well, one after another: at most 500, and none after 100,000
    addresses.

    Parameters
    ----------
    url : http or https.
    egress : where connections may go; None means public addresses only.

    Raises
    ------
    PolicyError : the server may not be reached.
    NavigationError : there is no response within thirty seconds.
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
    """Return whether a file is a sitemap or a feed, by its root element."""
    reader = etree.XMLPullParser(events=("start",), recover=True, resolve_entities=False, no_network=True)
    with contextlib.suppress(etree.XMLSyntaxError):
        reader.feed(unzipped(head, _HEAD_BYTES))
        for _, element in reader.read_events():
            return etree.QName(cast("etree._Element", element)).localname in _ROOTS
    return False


def _once(addresses: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(addresses))[:MAX_ADDRESSES]
