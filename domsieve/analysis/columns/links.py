"""Where links and images lead: host and path as hashes, without session ids; file names.

Imports the batch and the hashes.
"""

import posixpath
from functools import cache
from urllib.parse import SplitResult, unquote

from domsieve.analysis.columns.batch import Batch, Ints
from domsieve.analysis.columns.hash import U64, combine, hashes_of
from domsieve.analysis.columns.tables import grouping
from domsieve.urls import split_url

_SESSION = ("jsessionid", "phpsessid", "sid=")


def link_references(batch: Batch, node: Ints, value: Ints, *, query: bool = False) -> U64:
    """Return the hash of host and path that each link leads to, from the nodes and the strings of the links.

    With `query` the part behind the question mark counts too: it tells pages apart where paths do not.
    """
    page = batch.page[node]
    bases = [_parts(p.provenance.final_url) for p in batch.pages]
    folders = [(b.netloc.lower(), posixpath.dirname(b.path)) for b in bases]
    folder_codes = hashes_of([f"{host}{path}" for host, path in folders])
    links = grouping(combine(batch.hashes(value), folder_codes[page]))
    texts = batch.texts(value[links.sample])
    resolved = cache(_resolved)
    found = []
    for text, p in zip(texts, page[links.sample].tolist(), strict=True):
        href = text.strip()
        address, _, fragment = href.partition("#")
        path, mark, terms = address.partition("?")
        target = resolved(path, *folders[p])
        found.append(href if target is None else target + (mark + terms if query else "") + _route(fragment))
    return hashes_of(found)[links.code]


def page_references(batch: Batch) -> U64:
    """Return the hash of the address of each of P pages: that which a link there has, its query counted."""
    found = []
    for page in batch.pages:
        parts = _parts(page.provenance.final_url)
        target = parts.netloc.lower() + _plain(parts.path or "/")
        found.append(target + ("?" + parts.query if parts.query else "") + _route(parts.fragment))
    return hashes_of(found)


def _parts(url: str) -> SplitResult:
    """Return the parts of the address of a page; one that cannot be taken apart is a path."""
    return split_url(url) or SplitResult("", "", url, "", "")


def _route(fragment: str) -> str:
    """Return the part of an address behind the number sign if it is a route of a scripted site."""
    return f"#{fragment}" if fragment.startswith(("/", "!/")) else ""


def _resolved(path: str, host: str, folder: str) -> str | None:
    """Return host and path of a link without its session id; None when it leads to no page."""
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
    """Return a path without its session id and its detours."""
    if ";" in path and any(mark in path.lower() for mark in _SESSION):
        path = path.partition(";")[0]
    return posixpath.normpath(path)


def file_name(src: str) -> str:
    """Return the name of the file that an address leads to, lower-case; the start of the data of a data URL."""
    if src.startswith("data:"):
        return src[:64]
    return unquote(posixpath.basename(src.partition("#")[0].partition("?")[0])).lower()
