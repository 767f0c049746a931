"""Read encoding, content type, address and title from the bytes of a page before it is parsed."""

import codecs
import re
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import msgspec
from lxml import etree

from domsieve.archive.packed import PACKED_SUFFIXES, unpacked
from domsieve.budget import spending
from domsieve.errors import DomsieveError, UsageError
from domsieve.urls import split_url

PRESCAN_BYTES = 1024

# The Encoding standard's names and labels: name, codec of Python, labels besides the name. Left out are the
# "replacement" encodings, which no browser decodes any more.
_TABLE = """
utf-8 utf_8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8
ibm866 cp866 866 cp866 csibm866
iso-8859-2 iso8859_2 csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
iso-8859-3 iso8859_3 csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3
iso-8859-4 iso8859_4 csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4
iso-8859-5 iso8859_5 csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988
iso-8859-6 iso8859_6 arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e \
iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
iso-8859-7 iso8859_7 csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 \
iso_8859-7:1987 sun_eu_greek
iso-8859-8 iso8859_8 csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 \
iso_8859-8 iso_8859-8:1988 visual
iso-8859-8-i iso8859_8 csiso88598i logical
iso-8859-10 iso8859_10 csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6
iso-8859-13 iso8859_13 iso8859-13 iso885913
iso-8859-14 iso8859_14 iso8859-14 iso885914
iso-8859-15 iso8859_15 csisolatin9 iso8859-15 iso885915 iso_8859-15 l9
iso-8859-16 iso8859_16
koi8-r koi8_r cskoi8r koi koi8 koi8_r
koi8-u koi8_u koi8-ru
macintosh mac_roman csmacintosh mac x-mac-roman
windows-874 cp874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620
windows-1250 cp1250 cp1250 x-cp1250
windows-1251 cp1251 cp1251 x-cp1251
windows-1252 cp1252 ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 \
iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252
windows-1253 cp1253 cp1253 x-cp1253
windows-1254 cp1254 cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 \
l5 latin5 x-cp1254
windows-1255 cp1255 cp1255 x-cp1255
windows-1256 cp1256 cp1256 x-cp1256
windows-1257 cp1257 cp1257 x-cp1257
windows-1258 cp1258 cp1258 x-cp1258
x-mac-cyrillic mac_cyrillic x-mac-ukrainian
gbk gb18030 chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk
gb18030 gb18030
big5 big5hkscs big5-hkscs cn-big5 csbig5 x-x-big5
euc-jp euc_jp cseucpkdfmtjapanese x-euc-jp
iso-2022-jp iso2022_jp csiso2022jp
shift_jis cp932 csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis
euc-kr cp949 cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 \
windows-949
utf-16be utf_16_be unicodefffe
utf-16le utf_16_le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16
"""
_ROWS = [line.split() for line in _TABLE.splitlines() if line]
_CODECS = {row[0]: row[1] for row in _ROWS}
_NAMES = {label: row[0] for row in _ROWS for label in (row[0], *row[2:])}

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_CHARSET = re.compile(r"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;\"']+))")
_XML_DECLARATION = re.compile(r"<\?xml[^>]*?\bencoding\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_MARKUP = re.compile(
    r"<(?:!--.*?(?:-->|\Z)"
    r"|(?P<name>/?[a-z][^\s/>]*)(?P<attributes>(?:[^>\"']++|\"[^\"]*\"|'[^']*')*)"
    r"|[!/?][^>]*>)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([^\s/>=]++)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']*)))?")


def encoding_name(label: str) -> str | None:
    """Return the name of the encoding with this label in the Encoding standard; None if it is unknown."""
    return _NAMES.get(label.strip("\t\n\f\r ").lower())


def html_as_utf8(source: bytes, *, content_type: str = "", encoding: str | None = None) -> tuple[bytes, str]:
    """Convert an HTML document to UTF-8; also return the name of its encoding in the Encoding standard.

    Any bytes are accepted: invalid ones become U+FFFD. A document that is valid UTF-8 and has a few characters beyond
    ASCII is read as UTF-8 even if it or its server declares another encoding: other encodings give such bytes only by
    accident, and pages that were converted often keep their old declaration.

    Parameters
    ----------
    source : the document as received, decompressed.
    content_type : the Content-Type header, or empty; an unknown charset in it is ignored.
    encoding : a label that the caller is certain of; only a byte order mark overrides it.

    Raises
    ------
    UsageError : `encoding` is not a label of the Encoding standard.
    """
    if encoding is not None and encoding_name(encoding) is None:
        raise UsageError(f"'{encoding}' is not a character encoding; use a label such as 'utf-8'.")
    for mark, name in _MARKS:
        if source.startswith(mark):
            return _as_utf8(source[len(mark) :], name), name
    known = encoding_name(encoding) if encoding else None
    if known is None:
        known = _charset(content_type.lower()) or declared_encoding(source)
        if known is None:
            known = "utf-8" if _is_utf8(source) else "windows-1252"
        elif known != "utf-8" and _is_surely_utf8(source):
            known = "utf-8"
    return _as_utf8(source, known), known


def _as_utf8(source: bytes, name: str) -> bytes:
    if name == "utf-8" and _is_utf8(source):
        return source
    return source.decode(_CODECS[name], "replace").encode("utf-8", "replace")


def _is_utf8(source: bytes) -> bool:
    try:
        source.decode()
    except UnicodeDecodeError:
        return False
    return True


_FIRST_BYTES = bytes(range(0xC2, 0xF5))  # of the characters beyond ASCII
_SURELY = 4  # such characters. In a Chinese encoding, one pair of bytes in seven looks like one


def _is_surely_utf8(source: bytes) -> bool:
    """Return whether a document is valid UTF-8 with characters beyond ASCII that no other encoding explains."""
    beyond = len(source) - len(source.translate(None, _FIRST_BYTES))
    return beyond >= _SURELY and _is_utf8(source)


def declared_encoding(source: bytes) -> str | None:
    """Return the encoding that a document declares in its first 1,024 bytes; None without a declaration.

    A document whose declaration can be read as ASCII is not in UTF-16; if it says so, the standard assumes UTF-8.
    """
    head = source[:PRESCAN_BYTES].decode("latin-1").lower()
    declaration = _XML_DECLARATION.match(head)
    if declaration and (name := encoding_name(declaration[1] or declaration[2] or "")):
        return _ascii_based(name)
    for markup in _MARKUP.finditer(head):
        if markup["name"] == "meta" and (name := _meta(markup["attributes"])):
            return _ascii_based(name)
    return None


def _meta(text: str) -> str | None:
    attributes: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(text):
        attributes.setdefault(name, "".join(values))
    if "charset" in attributes:
        return encoding_name(attributes["charset"])
    if attributes.get("http-equiv") == "content-type":
        return _charset(attributes.get("content", ""))
    return None


def _charset(content_type: str) -> str | None:
    found = _CHARSET.search(content_type)
    return encoding_name(found[1] or found[2] or found[3] or "") if found else None


def _ascii_based(name: str) -> str:
    return "utf-8" if name.startswith("utf-16") else name


# The first bytes of file types, and their offsets.
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
# Root elements of documents for feed readers and map programs.
_XML_ROOTS = (b"<rss", b"<feed", b"<urlset", b"<sitemapindex", b"<rdf:rdf", b"<opml", b"<svg", b"<kml")
_LOOKED_AT = 1_445  # the number of bytes that the MIME Sniffing standard searches for binary data
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
_MARK_BYTES = b"\xef\xbb\xbf\xff\xfe"  # of the byte order
_OTHER_TEXT = (
    ".c", ".css", ".csv", ".ini", ".js", ".json", ".log", ".md", ".py", ".rst", ".sh", ".sql", ".tex",
    ".toml", ".tsv", ".txt", ".yaml", ".yml",
)  # fmt: skip
_ANY_TAG = re.compile(rb"<[a-z!]", re.IGNORECASE)
_PROLOGUE_STEPS = 20
_LARGEST_JSON = 20_000_000


def type_of(source: bytes, text: bytes) -> str:
    """Return the type of content that is certainly not an HTML page; empty for content that may be one.

    Parameters
    ----------
    source : the bytes as received.
    text : the same in UTF-8.
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


def type_of_file(source: bytes, path: Path) -> str:
    """Return ``"text/plain"`` for a file without a tag, which no server would call HTML; else nothing.

    A file whose ending is that of other text, as ``.txt``, must begin with a tag.
    """
    name = path.stem if path.suffix.lower() in PACKED_SUFFIXES else path.name
    content = source.replace(b"\0", b"").strip()  # UTF-16 has zeros in its tags
    if name.lower().endswith(_OTHER_TEXT):
        is_html = content.lstrip(_MARK_BYTES).startswith(b"<")
    else:
        is_html = _ANY_TAG.search(content) is not None
    return "" if is_html or not content else "text/plain"


def _is_feed(head: bytes) -> bool:
    """Return whether the root element is one of `_XML_ROOTS`."""
    rest = head.lstrip(_BLANKS)
    for _ in range(_PROLOGUE_STEPS):
        mark = b"-->" if rest.startswith(b"<!--") else b">" if rest.startswith((b"<?", b"<!")) else b""
        if not mark:
            break
        rest = rest.partition(mark)[2].lstrip(_BLANKS)
    return rest[:16].lower().startswith(_XML_ROOTS)


def _is_json(text: bytes) -> bool:
    """Return whether the text is a JSON object or array."""
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
    """What a source says about its origin.

    Parameters
    ----------
    address : http or https URL from the canonical link, or else ``og:url``, or else ``base``; empty without any.
    keys : two sources with a common key are the same page: a hash of the content, and address with title.
    source : the page, decompressed.
    """

    address: str
    keys: tuple[str, ...]
    source: bytes


def file_origin(path: Path, *, url: str = "") -> PageOrigin | None:
    """Return the origin of the page in a file; None if it cannot be read, which is reported when it is parsed.

    `url` is its address, if the caller knows it.
    """
    try:
        with spending("read", str(path)):
            return source_origin(unpacked(path.read_bytes(), path)[0], url=url)
    except (OSError, DomsieveError):
        return None


def source_origin(source: bytes, *, url: str = "") -> PageOrigin:
    """Return the origin that the source of a page states; takes time linear in its beginning."""
    head = source[:_SEEN_BYTES]
    address = url or _address(head)
    title = _TITLE.search(head)
    keys = [blake2b(source, digest_size=16).hexdigest()]
    if address and title:
        # Some sites give all pages the same canonical address, but different titles.
        keys.append(f"{address} {b' '.join(title[1].split()).decode('utf-8', 'replace')}")
    return PageOrigin(address, tuple(keys), source)


def _address(head: bytes) -> str:
    """Return the address in the head of a page, by the most reliable source; empty without one."""
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
    """Return the addresses in a tag with their kinds."""
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
