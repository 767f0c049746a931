"""The pages that the sitemaps of a site name (sitemaps.org protocol 0.9: XML, index, text, gzip).

Imports nothing of the project but its neighbour `_urls`.
"""

import contextlib
import re
import zlib
from collections.abc import Awaitable, Callable, Iterable
from io import BytesIO
from itertools import islice

from lxml import etree

from domsieve.budget import check, spending
from domsieve.renderer.sampling.urls import Site, normalized

MAX_BYTES = 10_000_000
_MAX_UNPACKED_BYTES = 50_000_000  # of one file, as the protocol says
_MAX_FILES = 10
_MAX_ADDRESSES = 100_000
_WORD = re.compile(r"\S+")
_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31  # zlib's sign for its largest window and the gzip header


async def read_sitemaps(
    fetch: Callable[[str], Awaitable[bytes]],
    addresses: Iterable[str],
    *,
    site: Site,
    rank: Callable[[str], bytes],
) -> list[str]:
    """Return the addresses of pages that the sitemaps name, as they stand there.

    At most ten files are read, and no further one after 100,000 addresses; what they name elsewhere is left
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
    while waiting and len(read) < _MAX_FILES and len(found) < _MAX_ADDRESSES:
        address = min(waiting, key=rank)
        read.add(address)
        sitemaps, pages = parse_sitemap(await fetch(address))
        waiting = (waiting | _on_site(sitemaps, site)) - read
        found += pages
    return found[:_MAX_ADDRESSES]


def parse_sitemap(data: bytes) -> tuple[list[str], list[str]]:
    """Return the addresses of further sitemaps and those of pages in a file; as many as can be read."""
    with spending("sitemap"):
        return _parsed(data)


def _parsed(data: bytes) -> tuple[list[str], list[str]]:
    sitemaps: list[str] = []
    pages: list[str] = []
    if data.startswith(_GZIP):
        data = _unpacked(data)
    if not data.lstrip(b"\xef\xbb\xbf\t\n\r ").startswith(b"<"):
        words = _WORD.finditer(data.decode("utf-8-sig", "replace"))
        return sitemaps, [word[0] for word in islice(words, _MAX_ADDRESSES)]
    entries = etree.iterparse(
        BytesIO(data), tag=("{*}url", "{*}sitemap"), recover=True, resolve_entities=False, no_network=True
    )
    with contextlib.suppress(etree.XMLSyntaxError):
        for _, entry in entries:
            check()
            if address := (entry.findtext("{*}loc") or "").strip():
                (pages if etree.QName(entry).localname == "url" else sitemaps).append(address)
            above = entry.getparent()
            if above is not None:
                del above[: above.index(entry) + 1]
    return sitemaps, pages


def _unpacked(data: bytes) -> bytes:
    with contextlib.suppress(zlib.error):
        return zlib.decompressobj(_GZIP_WINDOW).decompress(data, _MAX_UNPACKED_BYTES)
    return b""


def _on_site(addresses: Iterable[str], site: Site) -> set[str]:
    pages = map(normalized, addresses)
    return {page for page in pages if page and Site.of(page).is_twin(site)}
