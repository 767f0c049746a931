"""The pages that sitemaps and feeds name.

Sitemaps are XML, an index, text or gzip (sitemaps.org protocol 0.9). Feeds are RSS 0.9 to 2.0 and Atom (RFC 4287); a
site may give one as its sitemap. Imports the budget, and addresses from beside it.
"""

import contextlib
import re
import zlib
from collections.abc import Awaitable, Callable, Iterable
from io import BytesIO
from itertools import islice

from lxml import etree

from domsieve.budget import check, spending
from domsieve.renderer.sampling.urls import Site, joined, normalized

MAX_BYTES = 10_000_000
_MAX_UNPACKED_BYTES = 50_000_000  # of one file, as the protocol says
MAX_ADDRESSES = 100_000
_WORD = re.compile(r"\S+")
_ABOUT = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"
_WIDE_MARKUP = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16, which is no text of addresses
_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31  # zlib's sign for its largest window and the gzip header


async def read_sitemaps(
    fetch: Callable[[str], Awaitable[bytes]],
    addresses: Iterable[str],
    *,
    site: Site,
    rank: Callable[[str], bytes],
    most: int = 10,
) -> list[str]:
    """Return the addresses of pages that the sitemaps name, as they stand there.

    At most `most` files are read, and no further one after 100,000 addresses; what they name elsewhere is left
    to the caller.

    Parameters
    ----------
    fetch : returns the file at an address, empty when there is none.
    addresses : sitemaps and indexes of sitemaps; those on another host are left out.
    site : whose they are.
    rank : says which of the files that are known is read next: the one of the lowest rank.
    """
    waiting, read = _on_site(addresses, site), set[str]()
    found: list[str] = []
    while waiting and len(read) < most and len(found) < MAX_ADDRESSES:
        address = min(waiting, key=rank)
        read.add(address)
        sitemaps, pages = parse_sitemap(await fetch(address))
        waiting = (waiting | _on_site(sitemaps, site)) - read
        found += pages
    return found[:MAX_ADDRESSES]


def parse_sitemap(data: bytes, url: str = "") -> tuple[list[str], list[str]]:
    """Return the addresses of further sitemaps and those of pages in a sitemap or a feed; as many as can be read.

    Addresses that are relative are joined with `url`, the file's own, where that is known.
    """
    with spending("sitemap"):
        sitemaps, pages = _parsed(data)
    if not url:
        return sitemaps, pages
    return [joined(url, one) or one for one in sitemaps], [joined(url, one) or one for one in pages]


def _parsed(data: bytes) -> tuple[list[str], list[str]]:
    sitemaps: list[str] = []
    pages: list[str] = []
    data = unzipped(data, _MAX_UNPACKED_BYTES)
    if not data.lstrip(b"\xef\xbb\xbf\t\n\r ").startswith((b"<", *_WIDE_MARKUP)):
        words = _WORD.finditer(data.decode("utf-8-sig", "replace"))
        return sitemaps, [word[0] for word in islice(words, MAX_ADDRESSES)]
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
            if address := _ENTRIES[name](entry).strip():
                (sitemaps if name == "sitemap" else pages).append(address)
            del above[: above.index(entry) + 1]
    return sitemaps, pages


def _of_sitemap(entry: etree._Element) -> str:
    return entry.findtext("{*}loc") or ""


def _of_rss(item: etree._Element) -> str:
    """Return the page of an item: its link, else its guid where that is an address (RSS 2.0), or what it is about."""
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
    """Return what a gzip file holds, as far as it can be read; any other as it is."""
    if not data.startswith(_GZIP):
        return data
    with contextlib.suppress(zlib.error):
        return zlib.decompressobj(_GZIP_WINDOW).decompress(data, most_bytes)
    return b""


def _on_site(addresses: Iterable[str], site: Site) -> set[str]:
    pages = map(normalized, addresses)
    return {page for page in pages if page and Site.of(page).is_twin(site)}
