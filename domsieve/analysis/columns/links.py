"""Addresses of links and images: made absolute for results, or hashed by host and path for comparison."""

import posixpath
import re
from functools import cache
from urllib.parse import SplitResult, unquote

import numpy as np

from domsieve.analysis.columns.batch import Batch, Ints
from domsieve.analysis.columns.hash import U64, combine, hashes_of
from domsieve.analysis.columns.invisible import visible_address
from domsieve.analysis.columns.page_columns import document_of, has_tag, of_html
from domsieve.analysis.columns.tables import grouping
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.urls import has_web_scheme, join_url, split_url

_LOADED = frozenset(["", "http", "https"])  # empty: relative, since the page has no address itself
_LINKED = _LOADED | {"mailto"}
_NO_URL_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f]+")
# Most addresses are so plain that joining them to the page's address only adds the host. This is much faster.
_PLAIN = re.compile(
    r"(?P<host>https?://[a-z0-9.-]+)?(?:/[\w~%-][\w.~%-]*+)*+/?(?:\?[\w=&.%+-]+)?(?:#[\w-]+)?", re.ASCII
)
_NOWHERE = ("", "#")
_UNSAFE_IN_URL = re.compile('[ "<>\\\\^`{|}\xa0]')


class Addresses:
    """Resolves the relative addresses of a page against its own address, its ``base`` elements and its frames."""

    def __init__(self, page: Snapshot) -> None:
        documents = np.flatnonzero(page.kind == Kind.DOCUMENT).tolist()
        self._document = document = document_of(page)
        self._hosts: dict[int, str] = {}
        address = page.provenance.final_url
        # Links of a page from disk stay as they are: the path of its file depends on where a command runs.
        self._bases = {0: address if has_web_scheme(address) else ""}
        settled: set[int] = set()  # documents whose first `base` element was read; later ones do not count
        bases = np.flatnonzero(has_tag(page, "base") & of_html(page)).tolist()
        for node in sorted([*documents[1:], *bases]):
            if page.kind[node] == Kind.DOCUMENT:
                frame = int(page.parent[node])
                above = self._bases[int(document[frame])]
                given = page.attributes(frame)
                source = "" if "srcdoc" in given else given.get("src", "")
                self._bases[node] = _absolute(source, above, _LOADED) or above
                continue
            own, href = int(document[node]), page.attributes(node).get("href")
            if own not in settled and href:
                self._bases[own] = _absolute(href, self._bases[own], _LOADED) or self._bases[own]
                settled.add(own)

    def absolute(self, node: int, value: str, *, linked: bool) -> str | None:
        """Return the absolute form of an address, or None if results must not contain it.

        Parameters
        ----------
        node : the element with the attribute; its document decides what the address is relative to.
        value : the attribute's value.
        linked : True for links that a reader follows, which may be http, https or mailto; False for resources that
            are loaded, which may be http or https. Links to the page itself, which scripts use as buttons, are none.
        """
        document = int(self._document[node])
        if (host := self._host(document)) and (plain := _PLAIN.fullmatch(value)):
            if plain["host"]:
                return value
            if value[:1] == "/" and len(value) > 1 and value[1] not in "/?#":
                return f"{host}{value}"
        return _absolute(value, self._bases[document], _LINKED if linked else _LOADED)

    def _host(self, document: int) -> str:
        """Return scheme and host of a document, such as ``https://a.example``; empty if it is not from the web."""
        if document not in self._hosts:
            parts = split_url(self._bases[document])
            is_web = parts is not None and parts.scheme in {"http", "https"} and parts.netloc
            self._hosts[document] = f"{parts.scheme}://{parts.netloc}" if parts is not None and is_web else ""
        return self._hosts[document]


def _absolute(value: str, base: str, schemes: frozenset[str]) -> str | None:
    value = _NO_URL_CHARACTERS.sub("", value).strip(" ")
    if schemes is _LINKED and value in _NOWHERE:
        return None
    address = join_url(base, value)
    parts = None if address is None else split_url(address)
    if address is None or parts is None or parts.scheme not in schemes:
        return None
    return _UNSAFE_IN_URL.sub(lambda match: f"%{ord(match[0]):02X}", visible_address(address))


_SESSION = ("jsessionid", "phpsessid", "sid=")


def link_references(batch: Batch, node: Ints, value: Ints, *, query: bool = False) -> U64:
    """Return a hash of the host and path that each link leads to.

    Parameters
    ----------
    node, value : the node of each link, and the string id of its address.
    query : include the query string, for sites whose pages differ only there.
    """
    page = batch.page[node]
    bases = [_parts(p.provenance.final_url) for p in batch.pages]
    folders = [(b.netloc.lower(), posixpath.dirname(b.path)) for b in bases]
    folder_codes = hashes_of([f"{host}{path}" for host, path in folders])
    links = grouping(combine(batch.hashes(value), folder_codes[page]))
    texts = batch.texts(value[links.sample])
    resolved = cache(_resolved)
    targets = []
    for text, p in zip(texts, page[links.sample].tolist(), strict=True):
        href = text.strip()
        address, _, fragment = href.partition("#")
        path, mark, terms = address.partition("?")
        target = resolved(path, *folders[p])
        targets.append(
            href if target is None else target + (mark + terms if query else "") + _route(fragment)
        )
    return hashes_of(targets)[links.code]


def page_references(batch: Batch) -> U64:
    """Return a hash of the address of each of P pages, equal to `link_references` with `query` of a link to it."""
    targets = []
    for page in batch.pages:
        parts = _parts(page.provenance.final_url)
        target = parts.netloc.lower() + _plain(parts.path or "/")
        targets.append(target + ("?" + parts.query if parts.query else "") + _route(parts.fragment))
    return hashes_of(targets)


def _parts(url: str) -> SplitResult:
    """Return the parts of a page's address; an address that cannot be parsed counts as a path."""
    return split_url(url) or SplitResult("", "", url, "", "")


def _route(fragment: str) -> str:
    """Return ``#fragment`` if it is a route of a single-page application, such as ``#/shop``; otherwise nothing."""
    return f"#{fragment}" if fragment.startswith(("/", "!/")) else ""


def _resolved(path: str, host: str, folder: str) -> str | None:
    """Return host and path of a link without its session id; None if it does not lead to a web page."""
    scheme, colon, rest = path.partition(":")
    if colon and "/" not in scheme:
        if scheme.lower() not in {"http", "https"}:
            return None
        path = rest
    if path.startswith("//"):
        host, _, tail = path[2:].partition("/")
        path = "/" + tail
    elif not path:
        path = folder
    elif not path.startswith("/"):
        path = f"{folder}/{path}"
    return host.lower() + _plain(path)


def _plain(path: str) -> str:
    """Return a path without session id, ``.`` and ``..``."""
    if ";" in path and any(mark in path.lower() for mark in _SESSION):
        path = path.partition(";")[0]
    return posixpath.normpath(path)


def file_name(src: str) -> str:
    """Return the file name in an address, in lower case; for a data URL its first 64 characters."""
    if src.startswith("data:"):
        return src[:64]
    return unquote(posixpath.basename(src.partition("#")[0].partition("?")[0])).lower()
