"""What the bytes of a file hold, by how they begin: an HTML page, or something else that is named by its type.

Only what cannot be the beginning of a page counts as something else. Imports nothing of the project.
"""

import msgspec

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
