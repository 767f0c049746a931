"""Normalize the addresses of pages, and decide which belong to a site and which are worth a visit."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from domsieve.errors import PolicyError, TargetError
from domsieve.renderer.network.addresses import parse_host
from domsieve.renderer.network.egress import place_of
from domsieve.urls import join_url, split_url

_PORTS = {"http": 80, "https": 443}
_LENGTH_LIMIT = 2_000
_SEGMENT_LIMIT = 20
_REPEAT_LIMIT = 3  # repetitions of a path segment; endlessly nested relative links exceed this
_PARAMETER_LIMIT = 12
# Characters after a bare percent sign stay escaped, because unescaped they could form another escape with it.
_ESCAPE = re.compile("(?<!%)(?<!%[0-9A-Fa-f])%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH_SESSION = re.compile(r";jsessionid=[^/;]*", re.IGNORECASE)
# Parameters that identify visitors or where they came from, and not pages.
_TRACKING = re.compile(
    "(utm_[^=]*+|gclid|gclsrc|dclid|fbclid|msclkid|yclid|igshid|mc_[ce]id|_ga|_gl|_hsenc|_hsmi"
    "|phpsessid|jsessionid|aspsessionid[^=]*+|cftoken|cfid)=.*",
    re.IGNORECASE,
)
# Short values of these identify pages on some sites.
_SESSION = re.compile("(s|sid|session|sessionid|session_id)=[0-9a-z-]{16,}", re.IGNORECASE)
# Wikis have pages about files: File:Oak.jpg.
_FILE = re.compile(
    r"[^:]*\.(?:"
    "7z|apk|atom|avi|avif|bin|bmp|bz2|css|csv|deb|dmg|doc|docx|eot|epub|exe|flac|gif|gz|ico"
    "|ics|iso|jar|jpeg|jpg|js|json|m4a|m4v|map|mjs|mkv|mobi|mov|mp3|mp4|mpeg|mpg|msi|odp|ods"
    "|odt|ogg|ogv|otf|pdf|png|ppt|pptx|ps|rar|rdf|rpm|rss|rtf|svg|swf|tar|tgz|tif|tiff|torrent"
    "|tsv|ttf|txt|vcf|wasm|wav|webm|webp|wmv|woff|woff2|xls|xlsx|xml|xz|zip"
    ")",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Site:
    """A site: one host and port.

    Parameters
    ----------
    root : scheme, host and port without a slash at the end: ``"https://example.org"``.
    """

    root: str

    @classmethod
    def of(cls, url: str) -> Self:
        """Return the site of a normalized address."""
        parts = urlsplit(url)
        return cls(f"{parts.scheme}://{parts.netloc}")

    @property
    def host(self) -> str:
        """The name of the host, without the port."""
        return urlsplit(self.root).hostname or ""

    def is_twin(self, other: Self) -> bool:
        """Return whether two sites differ at most in http or https with default ports, and in a leading ``www.``."""
        return _bare_host(self.root) == _bare_host(other.root)

    def page(self, url: str) -> str | None:
        """Return the normalized address of a page on this site; None if it is on another site or not a page.

        http and https count as the same. Not pages are files, by their extension, and addresses that only crawler
        traps have: very long, very deep, or with repeated segments.
        """
        found = normalized(url) if len(url) <= _LENGTH_LIMIT else None
        if found is None:
            return None
        there, here = urlsplit(found), urlsplit(self.root)
        if (
            there.netloc != here.netloc
            or _FILE.fullmatch(unquote(there.path.rpartition("/")[2]))
            or _is_trap(found)
        ):
            return None
        return urlunsplit(there._replace(scheme=here.scheme))

    def name(self, page: str) -> str:
        """Return the name of a page on this site: path, query and route."""
        return page.removeprefix(self.root)


def start_page(url: str) -> str:
    """Return the normalized address of a start page.

    Raises
    ------
    PolicyError : the scheme is not http or https.
    TargetError : the address has no host.
    """
    found = normalized(url)
    if found is not None and place_of(found):
        return found
    scheme, colon, _ = url.partition("://")
    if colon and scheme.lower() not in _PORTS:
        raise PolicyError(f"Only http and https are opened, not {scheme}.", reason="scheme", url=url)
    raise TargetError("Not the address of a site; give one such as https://example.org/.", url=url)


def joined(base: str, link: str) -> str:
    """Resolve a link on a page with the given base; return an empty str for an invalid link.

    As in browsers, surrounding white space is ignored, and a backslash before the query is a slash.
    """
    pieces: list[str] = re.split("(?=[?#])", link.strip(), maxsplit=1)
    pieces[0] = pieces[0].replace("\\", "/")
    return join_url(base, "".join(pieces)) or ""


def normalized(url: str) -> str | None:
    """Normalize an absolute address; return None for other schemes, credentials and invalid addresses.

    The scheme becomes lower case, and the host is written as browsers write it, see `parse_host`. Default ports,
    dot segments, empty queries, and parameters of trackers and sessions are removed. Characters are escaped only
    where necessary. The fragment stays.
    """
    parts = split_url(url.strip())
    if parts is None:
        return None
    try:
        port = parts.port
        host = str(parse_host(parts.hostname or ""))
    except ValueError:
        return None
    if parts.scheme not in _PORTS or "@" in parts.netloc:
        return None
    netloc = f"[{host}]" if ":" in host else host
    if port not in (None, _PORTS[parts.scheme]):
        netloc += f":{port}"
    path = _without_dots(_PATH_SESSION.sub("", _escaped(parts.path)))
    kept = (
        pair
        for pair in _escaped(parts.query).split("&")
        if pair and not _TRACKING.fullmatch(pair) and not _SESSION.fullmatch(pair)
    )
    return urlunsplit((parts.scheme, netloc, path, "&".join(kept), _escaped(parts.fragment)))


def _escaped(text: str) -> str:
    def tidy(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return character if character in _UNRESERVED else match[0].upper()

    return quote(_ESCAPE.sub(tidy, text), safe="%/:?#[]@!$&'()*+,;=", errors="backslashreplace")


def _without_dots(path: str) -> str:
    """Return `path` without dot segments (RFC 3986, 5.2.4)."""
    kept: list[str] = []
    segments = path.split("/")[1:] or [""]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _bare_host(root: str) -> tuple[str, int | None]:
    parts = urlsplit(root)
    return (parts.hostname or "").removeprefix("www."), parts.port


def _is_trap(url: str) -> bool:
    parts = urlsplit(url)
    segments = [segment for segment in f"{parts.path}/{parts.fragment}".split("/") if segment]
    return (
        len(segments) > _SEGMENT_LIMIT
        or parts.query.count("&") >= _PARAMETER_LIMIT
        or max(Counter(segments).values(), default=0) > _REPEAT_LIMIT
    )
