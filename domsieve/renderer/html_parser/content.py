"""What the bytes of a page say before they are parsed: content type, address and title."""

import re
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import msgspec
from lxml import etree

from domsieve.archive.packed import unpacked
from domsieve.budget import spending
from domsieve.errors import DomsieveError
from domsieve.urls import split_url

# The first bytes of kinds of files, and where they stand.
_SIGNS: tuple[tuple[int, bytes, str], ...] = (
    (0, b"%PDF-", "application/pdf"),
    (0, b"%!PS-Adobe", "application/postscript"),
    (0, b"{\\rtf", "application/rtf"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVEfmt", "audio/wav"),
    (8, b"AVI LIST", "video/x-msvideo"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"\0\0\x01\0", "image/x-icon"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"OggS\0", "application/ogg"),
    (0, b"ID3\x02", "audio/mpeg"),
    (0, b"ID3\x03", "audio/mpeg"),
    (0, b"ID3\x04", "audio/mpeg"),
    (0, b"fLaC\0", "audio/flac"),
    (0, b"\x1f\x8b\x08", "application/gzip"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"),
    (0, b"BZh91AY&SY", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"PK\x05\x06", "application/zip"),
    (257, b"ustar", "application/x-tar"),
    (0, b"\x7fELF", "application/x-executable"),
    (0, b"MZ\x90\0", "application/x-executable"),
    (0, b"\0asm", "application/wasm"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"OTTO\0", "font/otf"),
    (0, b"\0\x01\0\0\0", "font/ttf"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"),
)
# Roots of documents that readers of feeds and maps read, and people do not.
_XML_ROOTS = (b"<rss", b"<feed", b"<urlset", b"<sitemapindex", b"<rdf:rdf", b"<opml", b"<svg", b"<kml")
_LOOKED_AT = 1_445  # bytes in which the standard on sniffing looks for what no text has
_CONTROLS = bytes((*range(9), 11, *range(14, 27), *range(28, 32)))
_MOST_CONTROLS_RATIO = 0.02
_TAGS = (
    b"<!doctype",
    b"<!--",
    b"<html",
    b"<head",
    b"<body",
    b"<meta",
    b"<title",
    b"<div",
    b"<p>",
    b"<script",
)
_BLANKS = b" \t\r\n\f"
_PROLOGUE_STEPS = 20
_LARGEST_JSON = 20_000_000


def type_of(source: bytes, text: bytes) -> str:
    """Return the type of what is certainly no HTML page, empty for what may be one.

    Parameters
    ----------
    source : the bytes as they came.
    text : the same as UTF-8, by whatever encoding they are in.
    """
    for place, sign, kind in _SIGNS:
        if source.startswith(sign, place):
            return kind
    head = text[:_LOOKED_AT]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    marked_up = any(tag in head.lower() for tag in _TAGS)
    if controls > _MOST_CONTROLS_RATIO * len(head) and not marked_up:
        return "application/octet-stream"
    if _is_feed(head):
        return "application/xml"
    return "application/json" if _is_json(text) else ""


def _is_feed(head: bytes) -> bool:
    """Return whether the first element behind what may stand in front of it is one of `_XML_ROOTS`."""
    rest = head.lstrip(_BLANKS)
    for _ in range(_PROLOGUE_STEPS):
        mark = b"-->" if rest.startswith(b"<!--") else b">" if rest.startswith((b"<?", b"<!")) else b""
        if not mark:
            break
        rest = rest.partition(mark)[2].lstrip(_BLANKS)
    return rest[:16].lower().startswith(_XML_ROOTS)


def _is_json(text: bytes) -> bool:
    """Return whether it is one value of JSON that holds others."""
    text = text.strip(_BLANKS)
    if text[:1] + text[-1:] not in {b"{}", b"[]"} or len(text) > _LARGEST_JSON:
        return False
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


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
